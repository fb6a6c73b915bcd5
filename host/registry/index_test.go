package registry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestIndex(t *testing.T) {
	w := newWorld(t)
	own, err := w.Index()
	if err != nil || len(own.Agents) < 5 {
		t.Fatalf("the embedded index has %d agents, %v", len(own.Agents), err)
	}
	for _, e := range own.Agents {
		if e.Name == "" || e.Description == "" {
			t.Errorf("%s lacks something", e.ID)
		}
	}
	w.serve("/bad", []byte(`{"agents": [{"id": "../evil", "version": "1"}, {"id": "evil", "version": "../1"}]}`))
	w.serve("/html", []byte(`<html>`))
	for _, path := range []string{"/bad", "/html", "/none"} {
		if err := w.Refresh(context.Background(), w.server.URL+path); err == nil {
			t.Errorf("%s is taken", path)
		}
	}
	if err := w.Refresh(context.Background(), "http://192.0.2.1/index.json"); err == nil || !strings.Contains(err.Error(), "https") {
		t.Errorf("without TLS: %v", err)
	}
	if still, err := w.Index(); err != nil || len(still.Agents) != len(own.Agents) {
		t.Error("the index is another one", err)
	}
	w.index(Entry{ID: "one", Name: "One", Version: "1"})
	if got, _ := w.Index(); len(got.Agents) != 1 || got.Agents[0].ID != "one" || got.Agents[0].Login {
		t.Errorf("got %v", got)
	}
	w.index(Entry{ID: "gemini", Name: "Gemini", Version: "99.0.0"})
	if got, _ := w.Index(); got.Agents[0].Version != "99.0.0" || !got.Agents[0].Login {
		t.Errorf("that it needs a login was known: %v", got)
	}
	w.index(Entry{ID: "one", Name: "One", Version: "1"})
	if _, err := w.install(); err == nil || !strings.Contains(err.Error(), `no agent "tiny"`) {
		t.Errorf("an unknown one: %v", err)
	}
}

// The index has archives for this machine, by the name that the registry gives it.
func TestPlatform(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the registry has no archives for " + runtime.GOARCH)
	}
	index, err := newWorld(t).Index()
	must.Do(t, err)
	if !slices.ContainsFunc(index.Agents, func(e Entry) bool { return e.Distribution.Binary[platform()].Archive != "" }) {
		t.Errorf("nothing is for %s", platform())
	}
}

// Agents are in the order of their names, whatever their case, and those of the index are known.
func TestOrderOfTheIndex(t *testing.T) {
	w := newWorld(t)
	check.Equal(t, w.Knows("gemini"), true, "whether the embedded index has gemini is %v")
	w.index(Entry{ID: "z", Name: "beta", Version: "1"}, Entry{ID: "y", Name: "Gamma", Version: "1"}, Entry{ID: "x", Name: "Alpha", Version: "1"}, Entry{ID: "W", Name: "A", Version: "1"})
	index, err := w.Index()
	must.Do(t, err)
	var ids []string
	for _, e := range index.Agents {
		ids = append(ids, e.ID)
	}
	check.Slice(t, ids, []string{"x", "z", "y"}, "the agents are %q")
	check.Equal(t, w.Knows("z"), true, "whether z is known is %v")
	check.Equal(t, w.Knows("gemini"), false, "whether gemini is known is %v")
	must.Do(t, writeJSON(w.indexFile(), Index{Agents: []Entry{{ID: "old", Version: "1"}}})) // of before the program's own
	check.Equal(t, w.Knows("old"), false, "whether an agent of an older index is known is %v")
}

// An index that does not come, or is too long, is not taken, and the user hears why.
func TestBadIndexes(t *testing.T) {
	w := newWorld(t)
	w.files["/short"] = func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Length", "10000")
		_, _ = rw.Write([]byte("{"))
	}
	w.serve("/long", []byte(`{"agents": [{"id": "a", "version": "1"}]}`+strings.Repeat(" ", maxIndex)))
	w.serve("/empty", []byte(`{"agents": []}`))
	w.serve("/invalid", []byte(`{"agents": [{"id": "../a", "version": "1"}, {"id": "a", "version": "/1"}]}`))
	w.serve("/broken", []byte("{"))
	w.files["/round"] = func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/round", http.StatusFound) }
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	must.Do(t, nobody.Close())
	for from, want := range map[string]string{
		w.server.URL + "/short":            "get the index of agents: unexpected EOF",
		w.server.URL + "/long":             "get the index of agents: it is longer than 8 MB",
		w.server.URL + "/empty":            "read the index of agents: there are none in it",
		w.server.URL + "/invalid":          "read the index of agents: there are none in it",
		w.server.URL + "/broken":           "read the index of agents: unexpected end of JSON input",
		w.server.URL + "/round":            "the server never stops sending",
		":":                                `parse ":": missing protocol scheme`,
		w.server.URL + "/none":             strings.TrimPrefix(w.server.URL, "http://") + " answered 404 Not Found",
		"http://" + nobody.Addr().String(): nobody.Addr().String() + " cannot be reached (connect: connection refused): there may be no network",
	} {
		if err := w.Refresh(context.Background(), from); err == nil || err.Error() != want {
			t.Errorf("%s: %v; want %s", from, err, want)
		}
	}
	if w.Knows("a") {
		t.Error("it is used")
	}
	exact := `{"agents": [{"id": "a", "version": "1"}]}`
	w.serve("/exact", []byte(exact+strings.Repeat(" ", maxIndex-len(exact))))
	must.Do(t, w.Refresh(context.Background(), w.server.URL+"/exact"))
}

// A server may send to others, but not on and on.
func TestRedirects(t *testing.T) {
	w := newWorld(t)
	w.serve("/0", []byte(`{"agents": [{"id": "a", "version": "1"}]}`))
	for i := range 6 {
		w.files[fmt.Sprint("/", i+1)] = func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, fmt.Sprint("/", i), http.StatusFound)
		}
	}
	must.Do(t, w.Refresh(context.Background(), w.server.URL+"/5"))
	err := w.Refresh(context.Background(), w.server.URL+"/6")
	check.Equal(t, fmt.Sprint(err), "the server never stops sending", "after six it says %s")
}

// A server that cannot be reached is named in words.
func TestUnreachable(t *testing.T) {
	as := func(err error) string {
		return unreachable("example.com", &url.Error{Op: "Get", URL: "https://example.com/secret", Err: err}).Error()
	}
	for want, err := range map[string]error{
		"example.com was not found: there may be no network":                &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host"}},
		"example.com cannot be reached (no route): there may be no network": &net.OpError{Op: "dial", Err: errors.New("no route")},
		"read: it was reset":  &net.OpError{Op: "read", Err: errors.New("it was reset")},
		"it speaks otherwise": errors.New("it speaks otherwise"),
	} {
		check.Equal(t, as(err), want, "the user is told %q")
	}
}

// Without TLS nothing but this machine is asked, and never after a server with TLS.
func TestOnlyTLS(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.com/x": true, "http://127.0.0.1:1/x": true, "http://[::1]:1/x": true, "http://localhost/x": true,
		"http://example.com/x": false, "http://127.0.0.1.example.com/x": false, "ftp://127.0.0.1/x": false, "file:///x": false,
	} {
		r, err := http.NewRequest(http.MethodGet, address, nil)
		must.Do(t, err)
		check.Equal(t, safe(r) == nil, want, "whether %s is asked is %v", address)
	}
	index := []byte(`{"agents": [{"id": "a", "version": "1"}]}`)
	plain := newWorld(t)
	plain.serve("/index.json", index)
	routes := http.NewServeMux()
	routes.Handle("/out", http.RedirectHandler(plain.server.URL+"/index.json", http.StatusFound))
	routes.Handle("/on", http.RedirectHandler("/index.json", http.StatusFound))
	routes.HandleFunc("/index.json", func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(index) })
	secure := httptest.NewTLSServer(routes)
	defer secure.Close()
	defer func(was http.RoundTripper) { http.DefaultTransport = was }(http.DefaultTransport)
	http.DefaultTransport = secure.Client().Transport // which trusts its certificate
	must.Do(t, plain.Refresh(context.Background(), secure.URL+"/on"))
	if err := plain.Refresh(context.Background(), secure.URL+"/out"); err == nil || !strings.Contains(err.Error(), "which is not reached over https") {
		t.Errorf("a redirect out of TLS: %v", err)
	}
}
