package registry

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// world is a registry with its servers, and what the agents answer when they are tried.
type world struct {
	*Registry
	t         *testing.T
	server    *httptest.Server
	files     map[string]http.HandlerFunc
	handshake func(ctx context.Context, agent Installed) (string, error)
	running   []string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, files: map[string]http.HandlerFunc{}}
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if f := w.files[r.URL.Path]; f != nil {
			f(rw, r)
			return
		}
		http.NotFound(rw, r)
	}))
	t.Cleanup(w.server.Close)
	w.handshake = func(_ context.Context, agent Installed) (string, error) {
		if _, err := os.Stat(agent.Command[0]); err != nil {
			return "", err
		}
		return agent.Title + " " + agent.Version, nil
	}
	w.Registry = New(Config{
		Folder: filepath.Join(t.TempDir(), "agents"), Env: os.Environ(), Now: time.Now, Group: func(int, bool) {},
		Handshake: func(ctx context.Context, agent Installed) (string, error) { return w.handshake(ctx, agent) },
		Running:   func() []string { return w.running },
	})
	return w
}

func (w *world) serve(path string, data []byte) {
	w.files[path] = func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(data) }
}

// publish has the index name a version of the agent tiny that comes as an archive.
func (w *world) publish(version, name string, archive []byte, sum string) {
	w.t.Helper()
	w.serve("/"+name, archive)
	w.index(Entry{ID: "tiny", Name: "Tiny", Version: version, Repository: "https://example.com/tiny", Distribution: Distribution{
		Binary: map[string]Binary{platform(): {Archive: w.server.URL + "/" + name, Cmd: "./bin/tiny", Args: []string{"--acp"}, SHA256: sum}},
	}})
}

func (w *world) index(entries ...Entry) {
	w.t.Helper()
	text, err := json.Marshal(Index{Agents: entries})
	must.Do(w.t, err)
	w.serve("/index.json", text)
	must.Do(w.t, w.Refresh(context.Background(), w.server.URL+"/index.json"))
}

func (w *world) install(opts ...func(*Wanted)) (Installed, error) {
	wanted := Wanted{ID: "tiny", Progress: func(string) {}}
	for _, o := range opts {
		o(&wanted)
	}
	return w.Install(context.Background(), wanted)
}

// used is the version in use, after a look at what lies beside it.
func (w *world) used() string {
	w.t.Helper()
	agent, there, err := w.Installed("tiny")
	must.Do(w.t, err)
	list, _ := os.ReadDir(w.folder("tiny"))
	for _, e := range list {
		if strings.HasPrefix(e.Name(), ".") {
			w.t.Errorf("%s is left behind", e.Name())
		}
	}
	if !there {
		return ""
	}
	if _, err := os.Stat(agent.Command[0]); err != nil {
		w.t.Error(err)
	}
	return agent.Version
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

func tarball(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	out := tar.NewWriter(z)
	for _, h := range headers {
		text := "#!/bin/sh\n"
		if h.Typeflag == 0 || h.Typeflag == tar.TypeReg {
			h.Size = int64(len(text))
		}
		must.Do(t, out.WriteHeader(&h))
		if h.Size > 0 {
			if _, err := out.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	must.Do(t, out.Close(), z.Close())
	return b.Bytes()
}

var program = tar.Header{Name: "bin/tiny", Mode: 0o6755}

func zipped(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, name := range names {
		f, err := out.Create(name)
		if err == nil && !strings.HasSuffix(name, "/") {
			_, err = f.Write([]byte("#!/bin/sh\n"))
		}
		must.Do(t, err)
	}
	must.Do(t, out.Close())
	return b.Bytes()
}

// zippedLink is an archive whose program is a link, and which has a folder.
func zippedLink(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	_, err := out.Create("bin/")
	must.Do(t, err)
	h := zip.FileHeader{Name: "bin/tiny"}
	h.SetMode(fs.ModeSymlink | 0o777)
	f, err := out.CreateHeader(&h)
	must.Do(t, err)
	_, err = f.Write([]byte("/bin/sh"))
	must.Do(t, err, out.Close())
	return b.Bytes()
}

// zippedOddly is an archive whose program is compressed in a way that nobody knows.
func zippedOddly(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	_, err := out.CreateRaw(&zip.FileHeader{Name: "bin/tiny", Method: 99})
	must.Do(t, err, out.Close())
	return b.Bytes()
}

func TestArchives(t *testing.T) {
	for name, data := range map[string][]byte{
		"tiny.tar.gz": tarball(t, tar.Header{Name: "bin/", Typeflag: tar.TypeDir, Mode: 0o755}, program),
		"tiny.zip":    zipped(t, "bin/", "bin/tiny", "lib/more"),
		"tiny.TGZ":    tarball(t, program),
		"tiny.tbz2":   bz2(t),
		"tiny":        []byte("#!/bin/sh\n"), // the program itself
	} {
		w := newWorld(t)
		w.publish("1.0.0", name, data, sum(data))
		agent, err := w.install()
		if err != nil || w.used() != "1.0.0" || agent.Said != "Tiny 1.0.0" || agent.Command[1] != "--acp" {
			t.Errorf("%s: %v, %v", name, agent, err)
			continue
		}
		info, err := os.Stat(agent.Command[0])
		if err != nil || info.Mode() != 0o755 {
			t.Errorf("%s: the program is %v, %v", name, info.Mode(), err)
		}
		text, err := os.ReadFile(agent.Command[0])
		must.Do(t, err)
		check.Equal(t, string(text), "#!/bin/sh\n", "%s: the program is %q", name)
	}
}

// bz2 is a tarball of the program, which Go cannot compress.
func bz2(t *testing.T) []byte {
	data, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWXSKh+kAAHF7gMqQAEBoAPaAAEBwYR4gCAggAFQyp6h6hk0Gh6QekElEHqAHpABpP7AihA1KEIfuVg99rIEQDmJpN/CTCrgEMhCTZt9rEvUvSj/C5y61VKzgSQPxdyRThQkHSKh+kA==")
	must.Do(t, err)
	return data
}

// What an archive says can be executed can be, other files cannot; and the user hears what goes on.
func TestModesAndProgress(t *testing.T) {
	w := newWorld(t)
	data := tarball(t, program, tar.Header{Name: "lib/tool", Mode: 0o710}, tar.Header{Name: "lib/data", Mode: 0o666})
	w.publish("1.0.0", "tiny.tar.gz", data, sum(data))
	var said []string
	agent, err := w.install(func(w *Wanted) { w.Progress = func(text string) { said = append(said, text) } })
	must.Do(t, err)
	for name, want := range map[string]fs.FileMode{"tool": 0o755, "data": 0o644} {
		info, err := os.Stat(filepath.Join(filepath.Dir(agent.Command[0]), "../lib", name))
		must.Do(t, err)
		check.Equal(t, info.Mode(), want, "%s is %v", name)
	}
	check.Slice(t, slices.Compact(said), []string{"downloading · 0 of 1 MB", "unpacking it", "trying to start it"}, "the user is told %q")
	for _, d := range []struct {
		have, of int64
		want     string
	}{{5 << 20, 7<<20 + 1, "downloading · 5 of 8 MB"}, {5 << 20, -1, "downloading · 5 MB"}, {0, 0, "downloading · 0 MB"}} {
		check.Equal(t, downloaded(d.have, d.of), d.want, "of %d of %d it is told %q", d.have, d.of)
	}
}

func TestBadArchives(t *testing.T) {
	defer func(files int, bytes int64) { maxEntries, maxUnpacked = files, bytes }(maxEntries, maxUnpacked)
	maxEntries, maxUnpacked = 10, 1000
	var many []tar.Header
	for range 11 {
		many = append(many, tar.Header{Name: "same/", Typeflag: tar.TypeDir})
	}
	var long []tar.Header
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		long = append(long, tar.Header{Name: name})
	}
	for what, data := range map[string][]byte{
		"leads out":        tarball(t, program, tar.Header{Name: "../out"}),
		"leads out ":       tarball(t, program, tar.Header{Name: "bin/../../out"}),
		"leads out  ":      tarball(t, program, tar.Header{Name: "/etc/out"}),
		"leads out    ":    tarball(t, program, tar.Header{Name: "bin/../out"}), // not out of the folder, yet nobody means well by it
		"leads out   ":     tarball(t, program, tar.Header{Name: `bin\..\out`}),
		"neither a file":   tarball(t, program, tar.Header{Name: "link", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}),
		"neither a file ":  tarball(t, program, tar.Header{Name: "link", Linkname: "bin/tiny", Typeflag: tar.TypeLink}),
		"neither a file  ": tarball(t, program, tar.Header{Name: "pipe", Typeflag: tar.TypeFifo}),
		"more than 10":     tarball(t, many...),
		"exists":           tarball(t, program, program),
		"file exists":      tarball(t, tar.Header{Name: "bin"}, program),
		"install Tiny:":    tarball(t, program, tar.Header{Name: launchFile + "/file"}),
		"no bin/tiny":      tarball(t, tar.Header{Name: "bin/other"}),
		"unexpected":       tarball(t, program)[:60],
		"invalid":          []byte("no archive at all"),
	} {
		w := newWorld(t)
		w.publish("1.0.0", "tiny.tar.gz", data, sum(data))
		_, err := w.install()
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(what)) {
			t.Errorf("%s: %v", what, err)
		} else if !strings.HasPrefix(what, "install") {
			check.Equal(t, strings.HasPrefix(err.Error(), "The archive of Tiny "), true, "%s: it names the agent: %t", what)
			check.Contains(t, err.Error(), " See https://example.com/tiny.", "%s: it says %s", what)
		}
		check.Equal(t, w.used(), "", "%s: it is used: %v", what)
	}
	maxUnpacked = 50
	w := newWorld(t)
	data := tarball(t, long...)
	w.publish("1.0.0", "tiny.tar.gz", data, sum(data))
	if _, err := w.install(); err == nil || !strings.Contains(err.Error(), "more than 0 MB") {
		t.Errorf("a long one: %v", err)
	}
	for _, zip := range []struct {
		name string
		data []byte
		want string
	}{
		{"tiny.zip", zipped(t, "bin/tiny", "../out"), "leads out"},
		{"tiny.zip", zipped(t, "bin/tiny", "/out"), "leads out"},
		{"tiny.zip", zippedLink(t), "it contains bin/tiny, which is neither a file nor a folder"},
		{"tiny.zip", zippedOddly(t), "unsupported compression algorithm"},
		{"tiny.zip", []byte("no archive at all"), "not a valid zip file"},
		{"tiny.tar.xz", data, "archives such as tiny.tar.xz are not supported here"},
	} {
		w := newWorld(t)
		w.publish("1.0.0", zip.name, zip.data, sum(zip.data))
		if _, err := w.install(); err == nil || !strings.Contains(err.Error(), zip.want) {
			t.Errorf("%s: %v; want %q", zip.name, err, zip.want)
		}
	}
}

// An index may name anything: what leads nowhere, or out of the archive, is not fetched or not started.
func TestBadEntries(t *testing.T) {
	for want, from := range map[string]Binary{
		"get Tiny: parse ": {Archive: "http://[", Cmd: "tiny"},
		`get Tiny: "./../tiny" is not a program in its archive`: {Archive: "/tiny", Cmd: "./../tiny"},
		`get Tiny: "/bin/sh" is not a program in its archive`:   {Archive: "/tiny", Cmd: "/bin/sh"},
	} {
		w := newWorld(t)
		w.serve("/tiny", []byte("#!/bin/sh\n"))
		if strings.HasPrefix(from.Archive, "/") {
			from.Archive = w.server.URL + from.Archive
		}
		way := Distribution{Binary: map[string]Binary{platform(): from}}
		w.index(Entry{ID: "tiny", Name: "Tiny", Version: "1.0.0", Distribution: way})
		if _, err := w.install(func(w *Wanted) { w.Unverified = true }); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v; want %s", from, err, want)
		}
		check.Equal(t, w.used(), "", "%s is used")
	}
}

func TestBadDownloads(t *testing.T) {
	defer func(d time.Duration, n int64) { stall, maxArchive = d, n }(stall, maxArchive)
	patient := stall
	good := tarball(t, program)
	over := make(chan struct{})
	defer close(over)
	for what, serve := range map[string]http.HandlerFunc{
		"checksum": func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = rw.Write(tarball(t, program, tar.Header{Name: "more"}))
		},
		"404": http.NotFound,
		"unexpected": func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Length", "10000")
			_, _ = rw.Write(good)
		},
		"nothing arrived": func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = rw.Write(good[:10])
			rw.(http.Flusher).Flush()
			<-over
		},
		"not reached over https": func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://192.0.2.1/tiny.tar.gz", http.StatusFound)
		},
	} {
		w := newWorld(t)
		w.publish("1.0.0", "tiny.tar.gz", good, sum(good))
		w.files["/tiny.tar.gz"] = serve
		if stall = patient; what == "nothing arrived" {
			stall = 50 * time.Millisecond
		}
		advice := ". Check your network, then try again."
		if what == "checksum" {
			advice = "Refresh the index (r in :Acp agents) and try again; else tell https://example.com/tiny."
		}
		begins := "Tiny could not be downloaded from " + strings.TrimPrefix(w.server.URL, "http://") + ": "
		if what == "checksum" {
			begins = "The archive that " + strings.TrimPrefix(w.server.URL, "http://") + " sent for Tiny does not have the checksum"
		}
		_, err := w.install()
		if said := fmt.Sprint(err); !strings.Contains(said, what) || !strings.HasPrefix(said, begins) || !strings.HasSuffix(said, advice) {
			t.Errorf("%s: %v", what, err)
		}
		check.Equal(t, w.used(), "", "%s: it is used: %v", what)
	}
	stall, maxArchive = patient, int64(len(good))
	w := newWorld(t)
	w.publish("1.0.0", "tiny.tar.gz", good, sum(good))
	_, err := w.install()
	must.Do(t, err)
	maxArchive--
	w = newWorld(t)
	w.publish("1.0.0", "tiny.tar.gz", good, sum(good))
	if _, err := w.install(); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a long one: %v", err)
	}
}

// Without a checksum the user is asked, who sees from where it comes.
func TestUnverified(t *testing.T) {
	w := newWorld(t)
	w.publish("1.0.0", "tiny.tar.gz", tarball(t, program), "")
	_, err := w.install()
	var unverified *UnverifiedError
	if !errors.As(err, &unverified) || !strings.Contains(w.server.URL, unverified.Host) || w.used() != "" {
		t.Fatalf("got %v", err)
	}
	want := "Tiny has no checksum in the registry: what " + unverified.Host + " sends is run unchecked"
	check.Equal(t, err.Error(), want, "it says %s")
	if _, err := w.install(func(w *Wanted) { w.Unverified = true }); err != nil || w.used() != "1.0.0" {
		t.Error(err)
	}
}

// What does not answer is not used, and what was used is as it was.
func TestVersions(t *testing.T) {
	defer func(d time.Duration) { handshakePatience = d }(handshakePatience)
	w := newWorld(t)
	data := tarball(t, program)
	w.publish("1.0.0", "tiny.tar.gz", data, sum(data))
	if _, err := w.install(); err != nil {
		t.Fatal(err)
	}
	w.publish("2.0.0", "tiny.tar.gz", data, sum(data))
	works := w.handshake
	w.handshake = func(context.Context, Installed) (string, error) { return "", errors.New("it wants a newer Node") }
	if _, err := w.install(); err == nil || !strings.Contains(err.Error(), "it wants a newer Node") || w.used() != "1.0.0" {
		t.Errorf("a bad version: %v, %s is used", err, w.used())
	}
	handshakePatience = time.Millisecond
	w.handshake = func(ctx context.Context, _ Installed) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	if _, err := w.install(); err == nil || !strings.Contains(err.Error(), "did not answer within") || w.used() != "1.0.0" {
		t.Errorf("one that hangs: %v, %s is used", err, w.used())
	}
	handshakePatience = time.Minute
	w.handshake = works
	if agent, err := w.install(); err != nil || w.used() != "2.0.0" || agent.Previous != "1.0.0" {
		t.Errorf("the update: %v, %v", agent, err)
	}
	if agent, err := w.Rollback("tiny"); err != nil || w.used() != "1.0.0" || agent.Previous != "2.0.0" {
		t.Errorf("the way back: %v, %v", agent, err)
	}
	if agent, err := w.Pin("tiny", true); err != nil || !agent.Pinned {
		t.Errorf("pinned: %v, %v", agent, err)
	}
	w.publish("2.5.0", "tiny.tar.gz", data, sum(data))
	if _, err := w.install(); err == nil || !strings.Contains(err.Error(), "pinned to 1.0.0") || w.used() != "1.0.0" {
		t.Errorf("one that is pinned: %v, %s is used", err, w.used())
	}
	if agent, err := w.Pin("tiny", false); err != nil || agent.Pinned {
		t.Errorf("unpinned: %v, %v", agent, err)
	}
	w.running = []string{filepath.Join(w.folder("tiny"), "1.0.0", "bin", "tiny")}
	other := New(w.config) // of another Neovim
	release := other.Use(w.running[0])
	for _, version := range []string{"3.0.0", "4.0.0", "5.0.0"} {
		w.publish(version, "tiny.tar.gz", data, sum(data))
		if _, err := w.install(); err != nil {
			t.Fatal(err)
		}
	}
	agent, _, _ := w.Installed("tiny")
	if agent.Version != "5.0.0" || agent.Previous != "4.0.0" || agent.Running != "1.0.0" {
		t.Errorf("it is %+v", agent)
	}
	var kept []string
	list, _ := os.ReadDir(w.folder("tiny"))
	for _, e := range list {
		if e.IsDir() {
			kept = append(kept, e.Name())
		}
	}
	check.Equal(t, strings.Join(kept, " "), "1.0.0 4.0.0 5.0.0",
		"kept are %s, not the one that runs, the one before, and the one in use")
	newest := other.Use(agent.Command[0])
	if _, err := w.install(); err == nil || !strings.Contains(err.Error(), "5.0.0 is running, here or in another Neovim") || w.used() != "5.0.0" {
		t.Errorf("anew while it runs: %v", err)
	}
	release()
	if err := w.Uninstall("tiny"); err != nil || w.used() != "" {
		t.Error(err)
	}
	if _, err := os.Stat(agent.Command[0]); err != nil {
		t.Errorf("what runs was removed: %v", err)
	}
	if _, err := os.Stat(w.running[0]); err == nil {
		t.Error("what runs no more was left")
	}
	newest()
	left := filepath.Join(w.config.Folder, ".new-1.json")
	for path, age := range map[string]time.Duration{left: 2 * stale, filepath.Join(w.config.Folder, ".new-2.json"): 0} {
		must.Do(t, os.WriteFile(path, nil, 0o600))
		must.Do(t, os.Chtimes(path, time.Now(), time.Now().Add(-age)))
	}
	w.sweep()
	if list, _ := filepath.Glob(filepath.Join(w.config.Folder, "*")); len(list) != 3 { // the index, the lock, and what is being written
		t.Errorf("left are %q", list)
	}
	if list, _ := filepath.Glob(filepath.Join(w.config.Folder, ".new-*")); len(list) != 1 || list[0] == left {
		t.Errorf("being written are %q", list)
	}
	if err := w.Uninstall("tiny"); err == nil {
		t.Error("what is not there was removed")
	}
}

// Where nothing can be written nothing is kept, least of all in the folder in which the host was started.
func TestNowhere(t *testing.T) {
	t.Chdir(t.TempDir())
	r := New(Config{Now: time.Now, Running: func() []string { return nil }})
	if index, err := r.Index(); err != nil || len(index.Agents) == 0 {
		t.Errorf("the index is %v, %v", index, err)
	}
	if _, there, err := r.Installed("gemini"); there || err != nil || len(r.IDs()) > 0 {
		t.Errorf("installed is something: %v, %v, %v", there, err, r.IDs())
	}
	must.Do(t, r.Hear("mine", Heard{Said: "hello"}))
	if _, err := r.Install(context.Background(), Wanted{ID: "gemini"}); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("to install: %v", err)
	}
	w := newWorld(t)
	w.serve("/index.json", []byte(`{"agents": [{"id": "a", "version": "1"}]}`))
	if err := r.Refresh(context.Background(), w.server.URL+"/index.json"); err == nil {
		t.Error("an index is kept nowhere")
	}
	if list, _ := os.ReadDir("."); len(list) > 0 {
		t.Errorf("there is %v", list)
	}
}

func TestOldestNode(t *testing.T) {
	for engines, want := range map[string]string{
		">=20": "20.0.0", ">=18.17.1": "18.17.1", "^18.17 || >=20.5.0": "18.17.0", ">=22 || ^20.1": "20.1.0", "v20.x": "20.0.0", ">= 20.0.0 <23": "20.0.0",
		"*": "0.0.0", "<23": "0.0.0", "": "0.0.0",
	} {
		check.Equal(t, oldest(engines).String(), want, "%q takes %s", engines)
	}
}

func TestCancelAndTwoAtOnce(t *testing.T) {
	w := newWorld(t)
	data := tarball(t, program)
	w.publish("1.0.0", "tiny.tar.gz", data, sum(data))
	tried := make(chan struct{})
	w.handshake = func(ctx context.Context, _ Installed) (string, error) {
		close(tried)
		<-ctx.Done()
		return "", ctx.Err()
	}
	failed := make(chan error, 1)
	go func() {
		_, err := w.install()
		failed <- err
	}()
	<-tried
	if _, err := w.install(); err == nil || !strings.Contains(err.Error(), "already being installed") {
		t.Errorf("twice: %v", err)
	}
	other := New(w.config) // of another Neovim
	if _, err := other.Install(context.Background(), Wanted{ID: "tiny", Progress: func(string) {}}); err == nil || !strings.Contains(err.Error(), "Another Neovim") {
		t.Errorf("in another Neovim: %v", err)
	}
	if !w.Cancel("tiny") {
		t.Error("there is nothing to cancel")
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "cancelled") || w.used() != "" {
		t.Errorf("cancelled: %v", err)
	}
}
