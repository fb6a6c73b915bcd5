package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/acp-nvim/acp-nvim/host/failure"
)

// handshakePatience is how long a new agent may take to answer initialize.
var handshakePatience = 10 * time.Second // other in tests

// Wanted says what to install.
type Wanted struct {
	ID         string
	Version    string // "" for the newest
	Unverified bool   // the user agreed to an archive without a checksum
	Progress   func(text string)
}

// UnverifiedError says that an archive has no checksum to verify it by, so the user must be asked.
type UnverifiedError struct{ Name, Host string }

func (e *UnverifiedError) Error() string {
	return fmt.Sprintf("%s has no checksum in the registry: what %s sends is run unchecked", e.Name, e.Host)
}

// Install fetches an agent, tries it, and makes it the one that is started from then on. Until then what was installed
// stays as it is. It ends with the context.
func (r *Registry) Install(ctx context.Context, w Wanted) (Installed, error) {
	index, err := r.Index()
	if err != nil {
		return Installed{}, err
	}
	entry, known := index.entry(w.ID)
	if !known {
		return Installed{}, &failure.Failure{Sentence: fmt.Sprintf("There is no agent %q in the registry.", w.ID), Advice: "See :Acp agents."}
	}
	if w.Version != "" && !rightVersion.MatchString(w.Version) {
		return Installed{}, &failure.Failure{Sentence: fmt.Sprintf("%q is not a version.", w.Version), Advice: "Give one such as 1.2.3."}
	}
	if r.config.Folder == nowhere {
		return Installed{}, &failure.Failure{Sentence: "Nothing can be installed: Neovim's data folder cannot be written.", Advice: ":checkhealth acp says which it is."}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !r.begin(w.ID, cancel) {
		return Installed{}, &failure.Failure{Sentence: entry.Name + " is already being installed.", Advice: "Wait for it, or cancel it in :Acp agents."}
	}
	defer r.end(w.ID)
	unlock, err := r.lock(w.ID)
	if err != nil {
		return Installed{}, err
	}
	defer unlock()
	agent, err := r.install(ctx, entry, w)
	switch {
	case err != nil && ctx.Err() != nil:
		return agent, &failure.Failure{Sentence: "Installing " + entry.Name + " was cancelled.", Advice: "Nothing has changed."}
	case errors.Is(err, syscall.ENOSPC):
		return agent, &failure.Failure{Sentence: "The disk is full: " + entry.Name + " is not installed.", Advice: "Make room in " + r.config.Folder + ", then try again."}
	}
	return agent, err
}

// Cancel cancels installing an agent, and reports whether it was being installed.
func (r *Registry) Cancel(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	cancel, installing := r.installing[id]
	if installing {
		cancel()
	}
	return installing
}

func (r *Registry) begin(id string, cancel context.CancelFunc) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, installing := r.installing[id]; installing {
		return false
	}
	r.installing[id] = cancel
	return true
}

func (r *Registry) end(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.installing, id)
}

// way is one of the ways to get an agent.
type way struct {
	via     string
	inPlace bool // the result cannot be moved
	args    []string
	env     map[string]string

	// get fetches a version into a folder, and returns its exact version and the program in it.
	get func(ctx context.Context, into string) (version, program string, err error)
}

// wayFor chooses how to get an agent: preferably as a package, whose version can be chosen.
func (r *Registry) wayFor(e Entry, w Wanted) (way, error) {
	binary, fits := e.Distribution.Binary[platform()]
	switch {
	case e.Distribution.Npx != nil:
		p := e.Distribution.Npx
		return way{via: "npm", args: p.Args, env: p.Env, get: func(ctx context.Context, into string) (string, string, error) {
			return r.npm(ctx, e, w, into)
		}}, nil
	case fits && (w.Version == "" || w.Version == e.Version):
		return way{via: "archive", args: binary.Args, env: binary.Env, get: func(ctx context.Context, into string) (string, string, error) {
			return r.archive(ctx, e, binary, w, into)
		}}, nil
	case e.Distribution.Uvx != nil:
		p := e.Distribution.Uvx
		return way{via: "uv", inPlace: true, args: p.Args, env: p.Env, get: func(ctx context.Context, into string) (string, string, error) {
			return r.uv(ctx, e, w, into)
		}}, nil
	case fits:
		return way{}, &failure.Failure{
			Sentence: fmt.Sprintf("%s comes as an archive, and only the newest version, %s, is available.", e.Name, e.Version),
			Advice:   "Install that one.",
		}
	}
	return way{}, &failure.Failure{Sentence: fmt.Sprintf("%s is not available for %s.", e.Name, platform()), Advice: "See " + e.Page() + "."}
}

// Page returns where to read about an agent.
func (e Entry) Page() string {
	if e.Repository != "" {
		return e.Repository
	}
	return e.Website
}

func (r *Registry) install(ctx context.Context, e Entry, w Wanted) (agent Installed, err error) {
	by, err := r.wayFor(e, w)
	if err != nil {
		return agent, err
	}
	if err := r.prune(w.ID); err != nil {
		return agent, fmt.Errorf("clean the folder of %s: %w", w.ID, err)
	}
	r.sweep()
	used, there, _ := r.Installed(w.ID) // this repairs what is broken
	if there && used.Pinned && used.Version != wantedVersion(e, w) {
		return used, &failure.Failure{Sentence: fmt.Sprintf("%s is pinned to %s.", e.Name, used.Version), Advice: "Unpin it first: p in :Acp agents."}
	}
	dir, err := os.MkdirTemp(r.folder(w.ID), ".new-*")
	if err != nil {
		return agent, fmt.Errorf("install %s: %w", e.Name, err)
	}
	defer os.RemoveAll(dir)
	at := dir
	if by.inPlace {
		at = filepath.Join(r.folder(w.ID), wantedVersion(e, w))
		if there && used.Version == wantedVersion(e, w) {
			return used, &failure.Failure{Sentence: fmt.Sprintf("%s %s is already installed.", e.Name, used.Version), Advice: "Remove it first to reinstall it."}
		}
		if removed, err := r.remove(w.ID, filepath.Base(at)); err != nil {
			return agent, fmt.Errorf("install %s: %w", e.Name, err)
		} else if !removed {
			return agent, running(e, filepath.Base(at))
		}
		defer func() {
			if err != nil {
				_ = os.RemoveAll(at)
			}
		}()
	}
	version, program, err := by.get(ctx, at)
	if err != nil {
		return agent, err
	}
	program, err = filepath.Rel(at, program)
	if err != nil || !filepath.IsLocal(program) || !rightVersion.MatchString(version) {
		return agent, &failure.Failure{Sentence: fmt.Sprintf("The download of %s %s has no program to start.", e.Name, version), Advice: "See " + e.Page() + "."}
	}
	launch := Launch{Title: e.Name, Command: append([]string{program}, by.args...), Env: by.env, Via: by.via}
	trial := Installed{ID: w.ID, Version: version, Launch: launch}
	trial.Command = append([]string{filepath.Join(at, program)}, by.args...)
	w.Progress("trying to start it")
	if launch.Said, err = r.try(ctx, trial); err != nil {
		return agent, err
	}
	if err := writeJSON(filepath.Join(at, launchFile), launch); err != nil {
		return agent, fmt.Errorf("install %s: %w", e.Name, err)
	}
	final := filepath.Join(r.folder(w.ID), version)
	if at != final {
		if r.runs(w.ID, version) {
			return agent, running(e, version)
		}
		if err := replace(at, final); err != nil {
			return agent, fmt.Errorf("install %s: %w", e.Name, err)
		}
	}
	c := current{Version: version, Previous: used.Previous, Pinned: used.Pinned}
	if there && used.Version != version {
		c.Previous = used.Version
	}
	if err := writeJSON(filepath.Join(r.folder(w.ID), currentFile), c); err != nil {
		return agent, fmt.Errorf("install %s: %w", e.Name, err)
	}
	_ = r.prune(w.ID) // tried again at the next install
	agent, _, err = r.Installed(w.ID)
	return agent, err
}

// running says that a version cannot be reinstalled while it is running.
func running(e Entry, version string) error {
	return &failure.Failure{
		Sentence: fmt.Sprintf("%s %s is running, here or in another Neovim, so it is not reinstalled.", e.Name, version),
		Advice:   "Close its sessions first.",
	}
}

// wantedVersion returns the requested version.
func wantedVersion(e Entry, w Wanted) string {
	if w.Version != "" {
		return w.Version
	}
	return e.Version
}

// replace puts a folder where another one may be.
func replace(from, to string) error {
	old, err := os.MkdirTemp(filepath.Dir(to), ".old-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(old)
	if err := os.Rename(to, filepath.Join(old, "was")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Rename(from, to)
}

// try starts an agent to see that it answers.
func (r *Registry) try(ctx context.Context, agent Installed) (said string, err error) {
	patience, cancel := context.WithTimeout(ctx, handshakePatience)
	defer cancel()
	said, err = r.config.Handshake(patience, agent)
	switch {
	case err == nil:
		return said, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case patience.Err() != nil:
		err = fmt.Errorf("it did not answer within %v, perhaps because the machine is busy", handshakePatience)
	}
	return "", &failure.Failure{
		Sentence: fmt.Sprintf("%s %s does not start, so it is not used: %s.", agent.Title, agent.Version, strings.TrimRight(err.Error(), ".")),
		Advice:   "Nothing else has changed.",
	}
}

// readPackage reads the part of a package.json that is needed.
func readPackage(path string) (version string, bins map[string]string, err error) {
	var p struct {
		Version string          `json:"version"`
		Name    string          `json:"name"`
		Bin     json.RawMessage `json:"bin"`
	}
	if err := readJSON(path, &p); err != nil {
		return "", nil, err
	}
	var one string
	if json.Unmarshal(p.Bin, &one) == nil {
		return p.Version, map[string]string{p.Name[strings.LastIndex(p.Name, "/")+1:]: one}, nil
	}
	_ = json.Unmarshal(p.Bin, &bins) // a missing one is reported where the program is looked up
	return p.Version, bins, nil
}

// splitPackage separates a package's name from its version, which may be "".
func splitPackage(p, sep string) (name, version string) {
	if i := strings.LastIndex(p, sep); i > 0 {
		return p[:i], p[i+len(sep):]
	}
	return p, ""
}

// npm installs an npm package. The folder is a project of its own, so that the one in which Neovim works has no
// influence.
func (r *Registry) npm(ctx context.Context, e Entry, w Wanted, into string) (version, program string, err error) {
	name, version := packageOf(e, w)
	if err := writeJSON(filepath.Join(into, "package.json"), map[string]any{"private": true}); err != nil {
		return "", "", err
	}
	if err := r.newEnough(ctx, e, name+"@"+version, into, w.Progress); err != nil {
		return "", "", err
	}
	output, err := r.run(ctx, job{
		argv: []string{"npm", "install", "--prefix", into, "--global=false", "--save-exact", "--package-lock", "--no-audit", "--no-fund", "--loglevel=error", name + "@" + version},
		dir:  into, what: "npm installs " + name + "@" + version, needs: "npm", advice: needsNode,
		progress: w.Progress,
	})
	if err != nil {
		return "", "", npmFailed(e, output, err)
	}
	version, bins, err := readPackage(filepath.Join(into, "node_modules", filepath.FromSlash(name), "package.json"))
	if err != nil {
		return "", "", fmt.Errorf("read what npm has installed: %w", err)
	}
	bin := name[strings.LastIndex(name, "/")+1:]
	if _, named := bins[bin]; !named {
		for _, other := range sorted(bins) {
			bin = other
			break
		}
	}
	return version, filepath.Join(into, "node_modules", ".bin", bin), nil
}

func sorted(m map[string]string) []string {
	var list []string
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// npmFailed says what to do about npm's error.
func npmFailed(e Entry, output string, err error) error {
	var told *failure.Failure
	if errors.As(err, &told) {
		return err
	}
	advice := "npm's output is above; :Acp agents tries again."
	const unreachable = "npm cannot reach its registry: check your network."
	for _, known := range []struct{ sign, what string }{ // the first counts
		{"ENOSPC", "The disk is full: make room, then try again."},
		{"EBADENGINE", "It needs a newer Node.js."},
		{"ETARGET", "npm does not have this version, or your min-release-age keeps it back: choose an earlier one, :Acp agents."},
		{"E404", "npm does not have it: see " + e.Page() + "."},
		{"ENOTFOUND", unreachable}, {"EAI_AGAIN", unreachable}, {"ECONNREFUSED", unreachable},
	} {
		if strings.Contains(output, known.sign) {
			advice = known.what
			break
		}
	}
	return &failure.Failure{Sentence: fmt.Sprintf("npm could not install %s: %s.", e.Name, lastLine(output, err)), Detail: output, Advice: advice}
}

// lastLine returns the most telling line of a program's output: the last error, or else the last line.
func lastLine(output string, err error) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for _, line := range lines {
		if words, is := strings.CutPrefix(line, "npm error "); is && !strings.HasPrefix(words, "code ") && !strings.HasPrefix(words, "errno ") {
			return strings.TrimRight(words, ".")
		}
	}
	if last := strings.TrimRight(lines[len(lines)-1], "."); last != "" {
		return last
	}
	return err.Error()
}

// uv installs a PyPI package with its own Python environment.
func (r *Registry) uv(ctx context.Context, e Entry, w Wanted, into string) (version, program string, err error) {
	name, version := splitPackage(e.Distribution.Uvx.Package, "==")
	if version == "" {
		name, version = splitPackage(name, "@")
	}
	if w.Version != "" || version == "" {
		version = wantedVersion(e, w)
	}
	bin := filepath.Join(into, "bin")
	output, err := r.run(ctx, job{
		argv: []string{"uv", "tool", "install", name + "==" + version},
		env:  []string{"UV_TOOL_DIR=" + filepath.Join(into, "tools"), "UV_TOOL_BIN_DIR=" + bin},
		dir:  r.folder(w.ID), what: "uv installs " + name + " " + version, needs: "uv",
		advice: "Install uv (docs.astral.sh/uv), then try again.", progress: w.Progress,
	})
	if err != nil {
		var told *failure.Failure
		if errors.As(err, &told) {
			return "", "", err
		}
		return "", "", &failure.Failure{
			Sentence: fmt.Sprintf("uv could not install %s: %s.", e.Name, lastLine(output, err)), Detail: output, Advice: "See " + e.Page() + ".",
		}
	}
	name, _, _ = strings.Cut(name, "[")
	program = filepath.Join(bin, name)
	if _, err := os.Stat(program); err != nil {
		if list, err := os.ReadDir(bin); err == nil && len(list) > 0 {
			program = filepath.Join(bin, list[0].Name())
		}
	}
	return version, program, nil
}
