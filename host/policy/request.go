package policy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// onDisk returns a request with its files as they are on the disk. link returns the private file that one of the files
// examined so far is a hard link of, or "".
func (p *Policy) onDisk(req Request) (r rules.Request, link func() string) {
	r = req.onDisk()
	plain, private := r, ""
	roots := resolved(r, append([]string{req.Cwd}, req.Roots...))
	find := func(real string) string {
		found := p.links.private(real, p.rules, plain, roots)
		if found != "" {
			private = found
		}
		return found
	}
	for _, path := range r.Paths {
		if found := find(path.Real); found != "" { // both, as rules may name either
			r.Paths = append(r.Paths, rules.Path{Given: path.Given, Real: found})
		}
	}
	r.Resolve = func(path string) string { // for what a command names
		real := plain.Resolve(path)
		if found := find(real); found != "" {
			return found
		}
		return real
	}
	return r, func() string { return private }
}

// resolved returns folders without links, once each.
func resolved(r rules.Request, dirs []string) (real []string) {
	for _, dir := range dirs {
		if at := r.Resolve(dir); at != "" && !slices.Contains(real, at) {
			real = append(real, at)
		}
	}
	return real
}

// onDisk returns a request with its files as they are on the disk, by the names that it gives them.
func (req Request) onDisk() rules.Request {
	known := map[string]string{}
	for _, dir := range append([]string{req.Cwd}, req.Roots...) {
		if folder.Below(req.File.Real, dir) {
			known[dir] = filepath.Clean(dir) // like its file, it has no links
		}
	}
	real := func(path string) string {
		if found, ok := known[path]; ok {
			return found
		}
		found, err := buffers.RealPath(path)
		if err != nil {
			found = ""
		}
		known[path] = found
		return found
	}
	home, _ := os.UserHomeDir()
	absolute := func(name string) (string, bool) { return session.Absolute(session.LocalPath(name), req.Cwd, home) }
	r := rules.Request{
		Agent: req.Agent, Kind: string(req.Call.Kind), Cwd: real(req.Cwd), Home: home, Fold: folder.FoldsCase(req.Cwd),
		Absolute: absolute, Resolve: real, List: os.ReadDir,
	}
	if req.File.Given != "" {
		r.Paths = []rules.Path{req.File}
		return r
	}
	for _, name := range req.Call.Files().Named {
		p := rules.Path{Given: name}
		if path, ok := absolute(name); ok {
			p = rules.Path{Given: filepath.Clean(path), Real: real(path)}
		}
		if !slices.Contains(r.Paths, p) {
			r.Paths = append(r.Paths, p)
		}
	}
	r.Run = req.Command.Parsed()
	if m, ok := req.Call.MCP(); ok {
		r.MCP, r.Tool, r.Kind = true, m.Name(), string(session.KindOther)
	}
	if dir := req.Command.Dir; r.Run.Given() && dir != "" && !folder.Below(real(dir), r.Cwd) { // nor is anything but a path
		r.Run = r.Run.Doubtful("it runs in " + dir)
	}
	return r
}

const (
	// maxCommand is the longest command that a lasting answer can be about, in bytes.
	maxCommand = 8 << 10
	// MaxShown is how much of a request the user ever sees, in bytes. No lasting answer is about a longer input.
	MaxShown = 128 << 10
)

// question returns what a lasting answer is about, which is what the user is shown: a command to the letter, the files
// of a diff or of the client's own question, an MCP server's tool, or else the same call of the same tool, with the
// same files and the same input. There is none about the end of planning, as each plan is different.
func (req Request) question(r rules.Request) *answers.Question {
	call := &req.Call
	q := answers.Question{Agent: req.Agent, Project: r.Cwd, Kind: string(call.Kind), Tool: call.Name}
	if call.Kind == session.KindSwitchMode || call.Kind == session.KindThink || r.Cwd == "" {
		return nil
	}
	if r.Tool != "" {
		return &answers.Question{Agent: req.Agent, Project: r.Cwd, Kind: r.Kind, MCP: r.Tool}
	}
	for _, p := range r.Paths {
		if onFiles[call.Kind] && p.Real == "" {
			return nil
		}
		q.Paths = append(q.Paths, cmp.Or(p.Real, p.Given))
	}
	slices.Sort(q.Paths)
	q.Paths = slices.Compact(q.Paths)
	if r.Run.Given() {
		if q.Command = req.Command.Line(); req.Command.doubt != "" || q.Command == "" || len(q.Command) > maxCommand {
			return nil
		}
		if q.Dir = r.Resolve(req.Command.Dir); q.Dir == "" {
			return nil
		}
	}
	switch {
	case q.Command != "" && call.Kind == session.KindExecute && !r.MCP:
		q.Paths = nil // they are in the command
		return &q
	case req.File.Given != "":
		return &q
	case req.shownAsDiff() && !r.MCP:
		if q.Tool == "" && !strings.Contains(call.Title, filepath.Base(q.Paths[0])) { // otherwise it may describe the change too
			q.Title = styled.Cut(call.Title, 200)
		}
		return &q
	}
	q.Title = styled.Cut(call.Title, 200)
	if !EmptyInput(call.RawInput) {
		var input any
		d := json.NewDecoder(bytes.NewReader(call.RawInput))
		d.UseNumber() // floats would make large ones equal
		if len(call.RawInput) > MaxShown || d.Decode(&input) != nil {
			return nil
		}
		same, err := json.Marshal(input) // whatever the order of its fields
		if err != nil {
			return nil
		}
		sum := sha256.Sum256(same)
		q.Input = hex.EncodeToString(sum[:])
	}
	if q.Input == "" && (len(q.Paths) == 0 || !onFiles[call.Kind]) && q.Command == "" {
		return nil
	}
	return &q
}

// shownAsDiff reports whether a request would change files, each of which has a diff.
func (req Request) shownAsDiff() bool {
	shown := map[string]bool{}
	for _, item := range req.Call.Content {
		if d, ok := item.(session.Diff); ok {
			shown[d.Path], shown[d.OldPath] = true, true
		}
	}
	named := req.Call.Files().Named
	return onFiles[req.Call.Kind] && len(named) > 0 && !slices.ContainsFunc(named, func(name string) bool { return !shown[name] })
}

// onFiles are the kinds of work on files.
var onFiles = map[session.ToolKind]bool{
	session.KindRead: true, session.KindEdit: true, session.KindDelete: true, session.KindMove: true, session.KindSearch: true,
}

// describe says what a lasting answer is about.
func describe(q answers.Question) string {
	switch {
	case q.Kind == serversKind:
		return "the MCP servers of .mcp.json"
	case q.MCP != "":
		return "tool " + q.MCP
	case q.Command != "" && q.Dir != q.Project:
		return q.Command + "  in " + q.Dir
	case q.Command != "":
		return q.Command
	case q.Title != "":
		return q.Kind + " " + q.Title
	}
	names := make([]string, len(q.Paths))
	for i, path := range q.Paths {
		names[i] = styled.Relative(q.Project, path)
	}
	return q.Kind + " " + strings.Join(names, ", ")
}

// EmptyInput reports whether a raw input is empty.
func EmptyInput(raw json.RawMessage) bool {
	if len(raw) > 64 {
		return false
	}
	switch strings.Join(strings.Fields(string(raw)), "") {
	case "", "{}", "null", "[]":
		return true
	}
	return false
}
