package host

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// judge answers permission requests in the user's place, by the rules of the
// configuration and then by what the user has answered for good. It reads the
// disk.
type judge struct {
	rules rules.List
	kept  *answers.Store
	links hardLinks
}

// judgement is what the judge makes of a request. Without an option the user is
// asked.
type judgement struct {
	optionID string
	remark   string // of a decision, for the transcript
	why      string // of none, for the user who is asked; or ""
	trouble  error  // with the file of answers

	question *answers.Question // what an answer for good would be about; nil where there is none
}

// matter is a request as the judge sees it.
type matter struct {
	agent   string
	cwd     string
	roots   []string // of the session, besides cwd
	session int
	call    session.ToolCall
	file    rules.Path // what it is about, where that is known; else zero
	run     run
	options []session.PermissionOption
}

func (j *judge) judge(m matter) judgement {
	r, link := j.request(m)
	var result judgement
	verdict := j.rules.Decide(r)
	if !j.rules.IsPrivate(r) && link() == "" {
		result.question = m.question(r)
	}
	if verdict.Action == rules.Allow && link() != "" {
		verdict = rules.Verdict{Action: rules.Ask, Why: "a file that it names may be private under another name"}
	}
	if m.file.Given == "" || len(verdict.Rules) > 0 { // else our question says why it is asked
		result.why = verdict.Why
	}
	switch verdict.Action {
	case rules.Allow, rules.Reject:
		option, ok := choose(m.options, verdict.Action == rules.Allow)
		if !ok {
			result.why = fmt.Sprintf("%s would %s it, but the agent offers no such answer", verdict.By(), verdict.Action)
			return result
		}
		result.optionID = option.ID
		result.remark = styled.VisibleText(fmt.Sprintf("%s by your %s: %s.", said(verdict.Action == rules.Allow), verdict.By(), verdict.Why))
		return result
	case rules.Ask:
		if len(verdict.Rules) > 0 {
			return result // a rule wants the user to be asked
		}
	}
	if result.question == nil {
		return result
	}
	a, found, err := j.kept.Find(*result.question, m.session)
	result.trouble = err
	if !found {
		return result
	}
	if option, ok := alike(m.options, a); ok {
		result.optionID = option.ID
		result.remark = fmt.Sprintf("%s, as you answered %q on %s.\n:Acp permissions takes that back.",
			said(a.Allow), styled.VisibleText(a.Name), a.At.Local().Format(time.DateOnly))
	}
	return result
}

func said(allowed bool) string {
	if allowed {
		return "Allowed"
	}
	return "Rejected"
}

// choose finds the answer that allows or rejects, for a rule and for the user
// who says no more than that: the one that holds for now, else the only kind
// there is. An id that means several things is never chosen.
func choose(options []session.PermissionOption, allow bool) (session.PermissionOption, bool) {
	kinds := []string{"reject_once", "reject_always"}
	if allow {
		kinds = []string{"allow_once", "allow_always"}
	}
	for _, kind := range kinds {
		if o, ok := ofKind(options, kind); ok {
			return o, true
		}
	}
	return session.PermissionOption{}, false
}

// ofKind finds the first answer of a kind.
func ofKind(options []session.PermissionOption, kind string) (session.PermissionOption, bool) {
	for _, o := range options {
		if o.Kind == kind && unambiguous(options, o) {
			return o, true
		}
	}
	return session.PermissionOption{}, false
}

// alike finds the answer that the user gave before, or one that means as much.
func alike(options []session.PermissionOption, a answers.Answer) (session.PermissionOption, bool) {
	for _, o := range options {
		if o.ID == a.OptionID && o.Name == a.Name && lasting(o) && o.Allows() == a.Allow && unambiguous(options, o) {
			return o, true
		}
	}
	return choose(options, a.Allow)
}

func unambiguous(options []session.PermissionOption, o session.PermissionOption) bool {
	return o.ID != "" && !slices.ContainsFunc(options, func(p session.PermissionOption) bool {
		return p.ID == o.ID && p.Kind != o.Kind
	})
}

// lasting tells whether an option holds from now on.
func lasting(o session.PermissionOption) bool {
	return o.Kind == "allow_always" || o.Kind == "reject_always"
}

// passing tells whether an option's own words say that it holds for the session
// only.
func passing(o session.PermissionOption) bool {
	words := strings.FieldsFunc(strings.ToLower(o.Name), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.Contains(words, "session")
}

// request is the matter with its files as they are on the disk; and what tells of the private file that one of them
// is, by a hard link, as far as they have been looked at: its name, or "".
func (j *judge) request(m matter) (r rules.Request, link func() string) {
	r = m.request()
	plain, private := r, ""
	var roots []string
	for _, dir := range append([]string{m.cwd}, m.roots...) {
		if real := r.Resolve(dir); real != "" && !slices.Contains(roots, real) {
			roots = append(roots, real)
		}
	}
	find := func(real string) string {
		found := j.links.private(real, j.rules, plain, roots)
		if found != "" {
			private = found
		}
		return found
	}
	for _, p := range r.Paths {
		if found := find(p.Real); found != "" { // beside it, as rules may speak of either
			r.Paths = append(r.Paths, rules.Path{Given: p.Given, Real: found})
		}
	}
	r.Resolve = func(path string) string { // what a command names
		real := plain.Resolve(path)
		if found := find(real); found != "" {
			return found
		}
		return real
	}
	return r, func() string { return private }
}

// request is the matter with its files as they are on the disk.
func (m matter) request() rules.Request {
	known := map[string]string{}
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
	absolute := func(name string) (string, bool) { return session.Absolute(session.LocalPath(name), m.cwd, home) }
	r := rules.Request{Agent: m.agent, Kind: string(m.call.Kind), Cwd: real(m.cwd), Home: home, Fold: folder.FoldsCase(m.cwd), Absolute: absolute, Resolve: real}
	if m.file.Given != "" {
		r.Paths = []rules.Path{m.file}
		return r
	}
	for _, name := range m.call.Files().Named {
		p := rules.Path{Given: name}
		if path, ok := absolute(name); ok {
			p = rules.Path{Given: filepath.Clean(path), Real: real(path)}
		}
		if !slices.Contains(r.Paths, p) {
			r.Paths = append(r.Paths, p)
		}
	}
	r.Run = m.run.parsed()
	if dir := m.run.dir; r.Run.Given() && dir != "" && !folder.Below(real(dir), r.Cwd) { // of what is no path that is true
		r.Run = r.Run.Doubtful("it runs in " + dir)
	}
	return r
}

// questionLimit is how long a command may be of which an answer is kept.
const questionLimit = 8 << 10

// question is what an answer for good is about, which is what the float shows: a command to the letter, a diff's or our
// own question's files, else the same call of the same tool, with the same files and the same input. Nothing is kept
// about the end of a plan: each plan is another one.
func (m matter) question(r rules.Request) *answers.Question {
	call := &m.call
	q := answers.Question{Agent: m.agent, Project: r.Cwd, Kind: string(call.Kind), Tool: call.Name}
	if call.Kind == session.KindSwitchMode || call.Kind == session.KindThink || r.Cwd == "" {
		return nil
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
		if q.Command = m.run.line(); m.run.doubt != "" || q.Command == "" || len(q.Command) > questionLimit {
			return nil
		}
		if q.Dir = r.Resolve(m.run.dir); q.Dir == "" {
			return nil
		}
	}
	switch {
	case q.Command != "" && call.Kind == session.KindExecute:
		q.Paths = nil // which stand in the command
		return &q
	case m.file.Given != "":
		return &q
	case m.shownAsDiff():
		if q.Tool == "" && !strings.Contains(call.Title, filepath.Base(q.Paths[0])) { // else it may name the change as well
			q.Title = styled.Cut(call.Title, 200)
		}
		return &q
	}
	q.Title = styled.Cut(call.Title, 200)
	if !isEmpty(call.RawInput) {
		var input any
		d := json.NewDecoder(bytes.NewReader(call.RawInput))
		d.UseNumber() // large ones differ in what a float leaves out
		if len(call.RawInput) > floatBytes || d.Decode(&input) != nil {
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

// shownAsDiff tells whether what is asked is to change files, of each of which there is a diff.
func (m matter) shownAsDiff() bool {
	shown := map[string]bool{}
	for _, item := range m.call.Content {
		if d, ok := item.(session.Diff); ok {
			shown[d.Path], shown[d.OldPath] = true, true
		}
	}
	named := m.call.Files().Named
	return onFiles[m.call.Kind] && len(named) > 0 && !slices.ContainsFunc(named, func(name string) bool { return !shown[name] })
}

// onFiles are the kinds of work on files.
var onFiles = map[session.ToolKind]bool{
	session.KindRead: true, session.KindEdit: true, session.KindDelete: true, session.KindMove: true, session.KindSearch: true,
}

// about says what an answer is about.
func about(q answers.Question) string {
	switch {
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

// run is what a request runs, as its agent tells it: a line for a shell, or an
// argv. Doubt says why it may be something else.
type run struct {
	script string
	argv   []string
	dir    string // absolute
	doubt  string
}

// parsed is the command taken apart, or none.
func (c run) parsed() rules.Command {
	switch {
	case c.doubt != "":
		return rules.Unknown(c.script, c.doubt)
	case c.argv != nil:
		return rules.Argv(c.argv)
	case c.script != "":
		return rules.Shell(c.script)
	}
	return rules.Command{}
}

// line is the command as one types it.
func (c run) line() string {
	if c.argv != nil {
		return rules.Quoted(c.argv)
	}
	return c.script
}

// edits are what editing tools have as their command: it says what they do to
// the file, and runs nothing.
var edits = []string{"view", "create", "str_replace", "insert", "undo_edit", "replace", "write", "append", "delete", "move", "rename"}

// runOf finds what a request runs. Agents put the command in the raw input, as a
// string or as a list; version 2 beside the call; the title is the last resort,
// where there is no raw input that could tell.
func (s *Session) runOf(p *permission) run {
	call, r := &p.call, p.request
	var input struct {
		Command json.RawMessage `json:"command"`
		Cmd     json.RawMessage `json:"cmd"`
		Cwd     any             `json:"cwd"`
		Workdir any             `json:"workdir"`
	}
	told := json.Unmarshal(call.RawInput, &input) == nil && !bytes.Equal(bytes.TrimSpace(call.RawInput), []byte("null"))
	c := run{dir: r.Cwd}
	for _, dir := range []any{input.Cwd, input.Workdir} {
		if text, ok := dir.(string); ok && c.dir == "" {
			c.dir = session.LocalPath(text)
		}
	}
	if c.dir == "" {
		c.dir = s.base.Cwd
	}
	c.dir, _ = s.base.Absolute(c.dir)
	if c.script = r.Command; c.script != "" {
		return c
	}
	for _, raw := range []json.RawMessage{input.Command, input.Cmd} {
		if json.Unmarshal(raw, &c.script) == nil && c.script != "" {
			if onFiles[call.Kind] && slices.Contains(edits, c.script) {
				c.script = ""
			}
			return c
		}
		if json.Unmarshal(raw, &c.argv) == nil && len(c.argv) > 0 {
			return c
		}
		c.argv = nil
	}
	if call.Kind == session.KindExecute {
		c.script = strings.Trim(strings.TrimSpace(call.Title), "`")
		if told || c.script == "" {
			c.doubt = "the agent does not say what it runs"
		}
	}
	return c
}
