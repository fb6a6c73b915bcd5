package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// permission is an open question, of an agent or of our own about a file (see
// policy.go). It belongs to its session's goroutine, and is answered exactly
// once: when it leaves [Session.asked].
type permission struct {
	id      int64                     // unique in this Neovim, ascending
	request session.PermissionRequest // its Reply is not used
	call    session.ToolCall          // what is asked about, see Session.subject
	file    rules.Path                // of our own question; else zero
	run     run
	stop    func() bool // ends the watch for a withdrawal
	// answer takes an option's id, or "", and who decided, as [Session.resolve].
	answer func(optionID, by string)

	judgement judgement
	open      bool // judged, and before the user

	stale map[string]bool    // by path as in touched: what the agent knows otherwise
	picks map[*change]*picks // nil until the user picks hunks; see Session.picksOf
	held  *held              // of a write that waits, see held.go; else nil
}

func (s *Session) requestPermission(r session.PermissionRequest) {
	if s.phase != ready {
		r.Reply("")
		return
	}
	p := &permission{request: r, call: s.subject(r), answer: func(optionID, _ string) { r.Reply(optionID) }}
	p.run = s.runOf(p)
	s.raise(p)
}

// raise lets a question wait for its answer.
func (s *Session) raise(p *permission) {
	p.id = s.host.permissionIDs.Add(1)
	s.asked = append(s.asked, p)
	if p.held == nil {
		s.askAboutDiffs(p)
	}
	p.stop = context.AfterFunc(p.request.Context, func() {
		s.box.Put(func() { s.resolve(p, "", "agent") })
	})
	s.findStale(p)
	s.judgeNext()
	s.changed()
}

// subject brings what a request says of its tool call into the conversation,
// and returns the call as the request means it: with what earlier updates said
// where the request says nothing. Agents send an empty list of content, or an
// empty input, for what they have told before.
func (s *Session) subject(r session.PermissionRequest) session.ToolCall {
	patch := r.Call
	if patch.ID == "" {
		return session.ToolCall{Title: r.Title, Kind: session.KindOther}
	}
	var before session.ToolCall
	known := s.conv.ToolCall(patch.ID)
	s.askedOnly[patch.ID] = known == nil || s.askedOnly[patch.ID]
	switch says := !patch.Title.IsZero() || !patch.RawInput.IsZero() || !patch.Content.IsZero(); {
	case s.askedOnly[patch.ID] && says:
		// Some agents use one id for all of their requests: nothing of an earlier
		// one is this one's.
		patch = whole(patch)
		delete(s.diffs.asked, patch.ID)
	case known != nil:
		before = *known
	}
	if before.Kind == session.KindSwitchMode && len(patch.Content.Or(nil)) == 0 {
		patch.Content = acp.Opt[[]session.ToolCallContent]{} // the plan stays in the transcript
	}
	if isEmpty(patch.RawInput.Or(nil)) && !isEmpty(before.RawInput) {
		patch.RawInput = acp.Opt[json.RawMessage]{}
	}
	s.apply(patch)
	call := *s.conv.ToolCall(patch.ID)
	if len(call.Content) == 0 {
		call.Content = before.Content
	}
	if len(call.Locations) == 0 {
		call.Locations = before.Locations
	}
	return call
}

// isEmpty tells whether a raw input says nothing.
func isEmpty(raw json.RawMessage) bool {
	if len(raw) > 64 {
		return false
	}
	switch strings.Join(strings.Fields(string(raw)), "") {
	case "", "{}", "null", "[]":
		return true
	}
	return false
}

// whole clears what a patch leaves out.
func whole(p session.ToolCallPatch) session.ToolCallPatch {
	clearing(&p.Title)
	clearing(&p.Name)
	clearing(&p.Kind)
	clearing(&p.Status)
	clearing(&p.Content)
	clearing(&p.Locations)
	clearing(&p.RawInput)
	clearing(&p.RawOutput)
	return p
}

func clearing[T any](o *acp.Opt[T]) {
	if o.IsZero() {
		*o = acp.Null[T]()
	}
}

// told hears of the agent's updates: a call that it tells of is no request's
// alone, and what a request that waits is about may have become clearer.
func (s *Session) told(u session.Update) {
	patch, ok := u.(session.ToolCallPatch)
	if !ok || patch.ID == "" {
		return
	}
	delete(s.askedOnly, patch.ID)
	var one *permission
	for _, p := range s.asked {
		if p.request.Call.ID != patch.ID {
			continue
		}
		if one != nil {
			return // several share the id: each is about what it said itself
		}
		one = p
	}
	call := s.conv.ToolCall(patch.ID)
	if one == nil || call == nil {
		return
	}
	if len(one.call.Content) == 0 {
		one.call.Content = call.Content
	}
	if len(one.call.Locations) == 0 {
		one.call.Locations = call.Locations
	}
	s.askAboutDiffs(one)
	s.findStale(one)
	s.shown.permissions = true
}

// judgeNext has the oldest request judged that is not yet; one after the other,
// so that they come before the user in their order.
func (s *Session) judgeNext() {
	i := slices.IndexFunc(s.asked, func(p *permission) bool { return !p.open })
	if i < 0 || s.judging > 0 {
		return
	}
	p, judge := s.asked[i], s.host.judge.Load()
	if judge == nil || p.held != nil && p.held.place.free { // what rules allow is to be reviewed all the same
		s.judged(p, judgement{})
		s.judgeNext()
		return
	}
	s.judging++
	m := matter{agent: s.spec.Name, cwd: s.cwd, session: s.id, call: p.call, file: p.file, run: p.run, options: p.request.Options}
	s.host.background(func() {
		result := judge.judge(m)
		s.box.Put(func() {
			s.judging--
			s.judged(p, result)
			s.judgeNext()
		})
	})
}

func (s *Session) judged(p *permission, result judgement) {
	if result.trouble != nil {
		s.host.notify("warning", "Your answers for good: "+result.trouble.Error()+".")
	}
	p.judgement = result
	switch {
	case !slices.Contains(s.asked, p): // withdrawn
	case s.outbox.stage == stopping:
		s.resolve(p, "", "cancel") // the agent had not heard of the end yet
	case result.optionID != "" && (p.held == nil || result.optionID == refuse):
		s.apply(session.Waiting{ToolCallID: p.request.Call.ID, Open: true}) // it shows what became of it
		s.resolve(p, result.optionID, "rule")
		if p.file.Given == "" { // our own question says so itself
			s.remark("info", result.remark)
		}
	default:
		s.ask(p)
	}
}

// ask puts a request before the user.
func (s *Session) ask(p *permission) {
	p.open = true
	s.apply(session.Waiting{ToolCallID: p.request.Call.ID, Open: true})
	s.shown.permissions = true
	s.event("AcpPermissionRequest", map[string]any{"id": p.id})
	s.changed()
}

// waitingRequests are those that are before the user, oldest first.
func (s *Session) waitingRequests() []*permission {
	return slices.DeleteFunc(slices.Clone(s.asked), func(p *permission) bool { return !p.open })
}

// respond answers with the user's choice; "" cancels, and with it the turn, as
// that outcome means in protocol version 1.
func (s *Session) respond(id int64, optionID string) {
	p := s.openRequest(int(id))
	if p == nil {
		s.host.notify("info", "This request is answered already.")
		return
	}
	if optionID == "" {
		s.resolve(p, "", "cancel")
		s.cancel()
		return
	}
	i := slices.IndexFunc(p.request.Options, func(o session.PermissionOption) bool { return o.ID == optionID })
	if i < 0 {
		s.host.notify("warning", fmt.Sprintf("The request has no option %q.", optionID))
		return
	}
	chosen := p.request.Options[i]
	if p.held != nil && chosen.Allows() {
		s.writeHeld(p, nil, nil) // resolves it when it has looked at the file
		return
	}
	out := s.outcomeOf(p, chosen)
	if out.accepted && p.file.Given == "" && s.host.reviewBefore.Load() {
		s.accept(p)
	}
	if out.unwanted != nil {
		s.unwanted = append(s.unwanted, *out.unwanted)
	}
	if out.option == chosen {
		s.keepAnswer(p, chosen)
	}
	s.resolve(p, out.option.ID, "user")
	if out.remark != "" {
		s.remark("info", out.remark)
	}
	if out.prompt != "" {
		s.outbox.first([]session.Content{session.Text{Text: out.prompt}})
		s.proceed()
	}
}

// keepAnswer remembers an answer that the user wants to hold from now on.
func (s *Session) keepAnswer(p *permission, o session.PermissionOption) {
	judge := s.host.judge.Load()
	question := p.judgement.rejecting
	if o.Allows() {
		question = p.judgement.allowing
	}
	if judge == nil || question == nil || !lasting(o) || !unambiguous(p.request.Options, o) {
		return
	}
	a := answers.Answer{Question: *question, Allow: o.Allows(), OptionID: o.ID, Name: o.Name, At: time.Now()}
	if passing(o) {
		a.Session = s.id
	}
	s.judging++ // what is asked next may be the same
	s.host.background(func() {
		if err := judge.kept.Add(a); err != nil {
			s.host.notify("warning", fmt.Sprintf("Keeping your answer: %v.", err))
		}
		s.box.Put(func() {
			s.judging--
			s.judgeNext()
		})
	})
}

// resolve answers a request and takes it off the list; by says who decided.
func (s *Session) resolve(p *permission, optionID, by string) {
	i := slices.Index(s.asked, p)
	if i < 0 {
		return
	}
	s.asked = slices.Delete(s.asked, i, i+1)
	p.stop()
	s.forgetDiffs(&p.call)
	s.keepAsked(p)
	refused := slices.ContainsFunc(p.request.Options, func(o session.PermissionOption) bool {
		return o.ID == optionID && !o.Allows()
	})
	p.answer(optionID, by)
	s.apply(session.Waiting{ToolCallID: p.request.Call.ID, Rejected: refused})
	data := map[string]any{"id": p.id, "by": by}
	if optionID != "" {
		data["option_id"] = optionID
	}
	s.shown.permissions = true
	if p.open || by == "rule" {
		s.event("AcpPermissionResolved", data)
	}
	s.changed()
}

func (s *Session) withdrawAll(by string) {
	for len(s.asked) > 0 {
		s.resolve(s.asked[0], "", by)
	}
}

// floatDiffLines is how much of a change the float shows.
const floatDiffLines = 14

// The float has so many lines and bytes at all, most of them on later pages.
const (
	floatLines = 2000
	floatBytes = 128 << 10
)

// snapshot is the request as Lua sees it: the contract's fields, and the lines
// of the float.
func (s *Session) snapshot(p *permission) map[string]any {
	call := &p.call
	command, description, dir := p.run.line(), p.description(), p.run.dir
	options := make([]any, len(p.request.Options))
	for i, o := range p.request.Options {
		options[i] = map[string]any{"id": o.ID, "name": o.Name, "kind": o.Kind, "label": label(o)}
	}
	heading, body := s.question(p, command, dir)
	var said, why []transcript.Line
	if description != "" { // little of it: what is asked must not be pushed out of sight
		said = transcript.Visible(capped(transcript.Colored(cut(description, 500), transcript.More), 4), true)
	}
	if p.judgement.why != "" {
		why = transcript.Colored(transcript.VisibleText(cut(p.judgement.why, 300)), transcript.More)
	}
	if p.file.Given != "" && len(call.Content) == 0 { // what is said is about the path
		body = append(body, said...)
	} else {
		body = append(said[:len(said):len(said)], body...)
	}
	if command != "" || len(s.files(call)) > 0 {
		body = append(aside(call, command), body...)
	}
	body = slices.Concat(s.staleLines(p, ""), s.pickLines(p), body, why) // what an answer does is not on a later page
	lines, marks := flatten(cutLines(capped(body, floatLines)))
	title := call.Title
	if p.request.Title != "" {
		title = p.request.Title
	}
	snap := map[string]any{
		"id": p.id, "session": s.id, "title": title, "tool_call_id": call.ID, "options": options,
		"heading": transcript.VisibleText(cut(heading, 200)), "lines": lines, "marks": marks,
	}
	for key, allow := range map[string]bool{"allow": true, "reject": false} {
		if o, ok := choose(p.request.Options, allow); ok {
			snap[key] = o.ID
		}
	}
	if description != "" {
		snap["description"] = description
	}
	if command != "" {
		snap["command"], snap["cwd"] = command, dir
	}
	s.addFiles(snap, p, said, slices.Concat(s.pickLines(p), why))
	s.addPicks(snap, p)
	if p.held != nil {
		snap["waited"] = p.held.waited()
	}
	return snap
}

// label is an option's name as the float shows it.
func label(o session.PermissionOption) string {
	if name := transcript.VisibleText(cut(o.Name, 500)); name != "" {
		return name
	}
	if o.Kind != "" {
		return "(" + strings.ReplaceAll(transcript.VisibleText(cut(o.Kind, 100)), "_", " ") + ")"
	}
	return "(no name)"
}

// description is what the agent says of the request, beside its title.
func (p *permission) description() string {
	if p.request.Description != "" {
		return p.request.Description
	}
	var input struct {
		Description any `json:"description"`
	}
	if json.Unmarshal(p.call.RawInput, &input) != nil {
		return ""
	}
	text, _ := input.Description.(string)
	return strings.TrimSpace(text)
}

// plan is the plan that leaving the planning mode is about: in the content, or
// in the input.
func plan(call *session.ToolCall, texts []string) string {
	if text := strings.TrimSpace(strings.Join(texts, "\n\n")); text != "" {
		return text
	}
	var input struct {
		Plan     any `json:"plan"`
		Markdown any `json:"markdown"`
	}
	if json.Unmarshal(call.RawInput, &input) != nil {
		return ""
	}
	for _, v := range []any{input.Plan, input.Markdown} {
		if text, ok := v.(string); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// commandLines is a command as the float shows it, behind a prompt, with room for the rest of the float.
func commandLines(command string) []transcript.Line {
	const most = floatLines - 100
	var shown []transcript.Line
	lines := transcript.Shell(command)
	for i := 0; i < len(lines); i++ {
		if len(shown) == most {
			shown = append(shown, transcript.MoreLine(len(lines)-i))
			break
		}
		empty := i
		for empty < len(lines) && strings.TrimSpace(lines[empty].Text) == "" {
			empty++
		}
		if empty-i > 3 {
			shown = append(shown, transcript.Colored(fmt.Sprintf("  <%d empty lines>", empty-i), transcript.More)...)
			i = empty - 1
			continue
		}
		l, prompt := lines[i], "  "
		if i == 0 {
			prompt = "$ "
		}
		l.Text = prompt + l.Text
		for j := range l.Marks {
			l.Marks[j].Col += len(prompt)
			l.Marks[j].EndCol += len(prompt)
		}
		shown = append(shown, l)
	}
	return transcript.Visible(shown, false)
}

// question says in words what the agent wants, and shows it.
func (s *Session) question(p *permission, command, dir string) (heading string, body []transcript.Line) {
	call := &p.call
	var texts []string
	for _, item := range call.Content {
		if item, ok := item.(session.ContentItem); ok {
			if t, ok := item.Content.(session.Text); ok {
				texts = append(texts, t.Text)
			}
		}
	}
	files := s.files(call)
	who := s.spec.Title
	switch {
	case command != "":
		body = append(commandLines(command), transcript.Visible(transcript.Colored("in "+tilde(cut(dir, 300)), transcript.More), true)...)
		return who + " wants to run a command", append(body, transcript.Visible(s.diffLines(files), true)...)
	case len(files) > 0:
		what := s.short(files[0].Path)
		if len(files) > 1 {
			what = transcript.Many(len(files), "file")
		}
		verb := changeVerb(call.Kind)
		if p.held != nil {
			verb = "write"
		}
		return fmt.Sprintf("%s wants to %s %s", who, verb, what), transcript.Visible(s.diffLines(files), true)
	case call.Kind == session.KindSwitchMode:
		if text := plan(call, texts); text != "" {
			return who + " has a plan: " + call.Title, transcript.Visible(transcript.Markdown(text), true)
		}
	}
	verb := map[session.ToolKind]string{
		session.KindEdit: "edit", session.KindDelete: "delete", session.KindMove: "move", session.KindRead: "read",
		session.KindFetch: "fetch", session.KindSearch: "search", session.KindSwitchMode: "change the mode",
		session.KindExecute: "run a command",
	}[call.Kind]
	if verb == "" {
		verb = "go on"
	}
	heading = fmt.Sprintf("%s wants to %s", who, verb)
	if call.Title != "" {
		body = append(body, transcript.Colored(call.Title, transcript.ToolTitle)...)
	}
	for _, l := range call.Locations {
		if rel := s.short(l.Path); !strings.Contains(call.Title, rel) {
			body = append(body, transcript.Line{Text: rel})
		}
	}
	for _, t := range texts {
		body = append(body, capped(transcript.Colored(t, transcript.Output), floatDiffLines)...)
	}
	return heading, transcript.Visible(body, true)
}

// changeVerb is what a call does to the files of its diff, as a verb.
func changeVerb(kind session.ToolKind) string {
	switch kind {
	case session.KindDelete, session.KindMove:
		return string(kind)
	}
	return "edit"
}

// aside is the title of a call that has a diff or a command and is neither an
// edit nor an execution: what is asked may be something else, as whether a
// folder may be entered.
func aside(call *session.ToolCall, command string) []transcript.Line {
	switch call.Kind {
	case session.KindEdit, session.KindDelete, session.KindMove, session.KindExecute:
		return nil
	}
	if call.Title == "" || call.Title == command {
		return nil
	}
	return transcript.Visible(transcript.Colored(cut(call.Title, 500), transcript.ToolTitle), true)
}

// diffLines lists every file with its counts, and the changes as far as they
// fit.
func (s *Session) diffLines(files []diff.File) []transcript.Line {
	var body []transcript.Line
	for i := range files {
		f := &files[i]
		body = append(body, transcript.FileLine(transcript.ChangeName(f, s.short), f.Added, f.Removed))
		lines, more := transcript.DiffLines(f, "  ", max(4, floatDiffLines/len(files)))
		if last := len(lines) - 1; more > 0 {
			lines = append(lines[:last], transcript.MoreLine(more+1))
		}
		body = append(body, lines...)
	}
	return body
}

func capped(lines []transcript.Line, limit int) []transcript.Line {
	if len(lines) <= limit {
		return lines
	}
	return append(lines[:limit-1:limit-1], transcript.MoreLine(len(lines)-limit+1))
}

// cutLines leaves out what is behind floatBytes, and says so.
func cutLines(lines []transcript.Line) []transcript.Line {
	room := floatBytes
	for i, l := range lines {
		if len(l.Text) <= room {
			room -= len(l.Text)
			continue
		}
		rest := 0
		for _, l := range lines[i:] {
			rest += len(l.Text)
		}
		l.Text = cut(l.Text, max(room, 1))
		l.Marks = slices.DeleteFunc(slices.Clone(l.Marks), func(m transcript.Mark) bool { return m.EndCol > len(l.Text) })
		more := fmt.Sprintf("… %d bytes more, which are not shown", rest-len(l.Text))
		return append(append(lines[:i:i], l), transcript.Colored(more, transcript.Warning)...)
	}
	return lines
}

// short is a path as shown.
func (s *Session) short(path string) string { return transcript.Relative(s.cwd, path) }

// tilde is a path as shown: with ~ for the user's home.
func tilde(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "/" || !below(path, home) {
		return path
	}
	return "~" + path[len(home):]
}

// absolute is [session.Absolute] in this session.
func (s *Session) absolute(path string) (string, bool) {
	home, _ := os.UserHomeDir()
	return session.Absolute(path, s.cwd, home)
}

// flatten is lines as Lua takes them: the texts, and the highlights as row,
// column, end column, group.
func flatten(lines []transcript.Line) (texts []string, marks []int) {
	texts, marks = make([]string, len(lines)), []int{}
	for row, l := range lines {
		texts[row] = l.Text
		for _, m := range l.Marks {
			marks = append(marks, row, m.Col, m.EndCol, int(m.Group))
		}
	}
	return texts, marks
}
