// Package registry keeps the agents that can be installed: the index of the ACP registry, of which a copy is part of
// the program, and what is installed from it in the data folder. It uses the network only when told to.
//
// The index is that of github.com/agentclientprotocol/registry, under the Apache License 2.0; index.json is the part
// that is used, made by the program in trim.
package registry

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	neturl "net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// maxIndex is how long an index may be, in bytes, and indexPatience how long a server may take for it.
const (
	maxIndex      = 8 << 20
	indexPatience = 20 * time.Second
)

//go:embed index.json
var embedded []byte

// Index is a list of agents at a point in time.
type Index struct {
	Date   time.Time `json:"date"`
	Agents []Entry   `json:"agents"`
}

// Entry is what the index says about an agent.
type Entry struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Version      string       `json:"version"`
	Description  string       `json:"description"`
	Repository   string       `json:"repository,omitempty"`
	Website      string       `json:"website,omitempty"`
	Login        bool         `json:"login,omitempty"` // it has one; only the embedded index says so
	Distribution Distribution `json:"distribution"`
}

// Distribution says how to get an agent; all ways lead to the same agent.
type Distribution struct {
	Npx    *Package          `json:"npx,omitempty"`
	Uvx    *Package          `json:"uvx,omitempty"`
	Binary map[string]Binary `json:"binary,omitempty"` // by platform
}

// Package is a package of npm or PyPI.
type Package struct {
	Package string            `json:"package"` // its name, mostly with a version
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// Binary is an archive with a program.
type Binary struct {
	Archive string            `json:"archive"` // where it is
	Cmd     string            `json:"cmd"`     // the program in it
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	SHA256  string            `json:"sha256,omitempty"`
}

// Both become names of folders.
var (
	rightID      = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	rightVersion = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+_-]*$`)
)

// Parse reads an index, in the order of the agents' names. Invalid entries are left out.
func Parse(text []byte) (Index, error) {
	var index Index
	if err := json.Unmarshal(text, &index); err != nil {
		return index, fmt.Errorf("read the index of agents: %w", err)
	}
	index.Agents = slices.DeleteFunc(index.Agents, func(e Entry) bool {
		return !rightID.MatchString(e.ID) || !rightVersion.MatchString(e.Version)
	})
	if len(index.Agents) == 0 {
		return index, errors.New("read the index of agents: there are none in it")
	}
	slices.SortFunc(index.Agents, func(a, b Entry) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return index, nil
}

// entry finds an agent by its id.
func (x Index) entry(id string) (Entry, bool) {
	i := slices.IndexFunc(x.Agents, func(e Entry) bool { return e.ID == id })
	if i < 0 {
		return Entry{}, false
	}
	return x.Agents[i], true
}

// Knows reports whether the present index has an agent.
func (r *Registry) Knows(id string) bool {
	index, err := r.Index()
	_, known := index.entry(id)
	return known && err == nil
}

// platform returns this machine's name in the index.
func platform() string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	return runtime.GOOS + "-" + arch
}

// Fits reports whether there is a way to install it on this machine.
func (e Entry) Fits() bool {
	_, binary := e.Distribution.Binary[platform()]
	return e.Distribution.Npx != nil || e.Distribution.Uvx != nil || binary
}

// Index returns the newest list of agents known without the network.
func (r *Registry) Index() (Index, error) {
	own, err := Parse(embedded)
	if err != nil {
		return own, err
	}
	text, err := os.ReadFile(r.indexFile())
	if missing(err) {
		return own, nil
	}
	if err != nil {
		return own, fmt.Errorf("read the index of agents: %w", err)
	}
	fetched, err := Parse(text)
	if err != nil || fetched.Date.Before(own.Date) {
		return own, nil // it is fetched again when the user asks
	}
	for i, e := range fetched.Agents {
		known, _ := own.entry(e.ID)
		fetched.Agents[i].Login = known.Login
	}
	return fetched, nil
}

func (r *Registry) indexFile() string { return filepath.Join(r.config.Folder, "index.json") }

// Refresh fetches the index and keeps it.
func (r *Registry) Refresh(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, indexPatience)
	defer cancel()
	answer, err := get(ctx, url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxIndex+1))
	switch {
	case err != nil:
		return fmt.Errorf("get the index of agents: %w", err)
	case len(text) > maxIndex:
		return errors.New("get the index of agents: it is longer than 8 MB")
	}
	index, err := Parse(text)
	if err != nil {
		return err
	}
	index.Date = r.config.Now().UTC()
	return writeJSON(r.indexFile(), index)
}

// get sends a request to a server. Without TLS it only goes to this machine, redirects included.
func get(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if err := safe(request); err != nil {
		return nil, err
	}
	client := http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("the server never stops sending")
		}
		if via[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
			return fmt.Errorf("%s redirects to %s, which is not reached over https", via[0].URL.Host, next.URL.Redacted())
		}
		return safe(next)
	}}
	answer, err := client.Do(request)
	if err != nil {
		return nil, unreachable(request.URL.Host, err)
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("%s answered %s", request.URL.Host, answer.Status)
	}
	return answer, nil
}

// unreachable says in words why a server did not answer, if known.
func unreachable(host string, err error) error {
	var unknown *net.DNSError
	var failed *neturl.Error
	var refused *net.OpError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("%s was not found: there may be no network", host)
	case errors.As(err, &refused) && refused.Op == "dial":
		return fmt.Errorf("%s cannot be reached (%w): there may be no network", host, refused.Err)
	case errors.As(err, &failed):
		return failed.Err // the caller says what was asked for
	}
	return err
}

func safe(r *http.Request) error {
	host := r.URL.Hostname()
	if r.URL.Scheme == "https" || r.URL.Scheme == "http" && (host == "127.0.0.1" || host == "::1" || host == "localhost") {
		return nil
	}
	return fmt.Errorf("%s is not reached over https", r.URL.Redacted())
}

// writeJSON replaces a file as a whole.
func writeJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*.json")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
