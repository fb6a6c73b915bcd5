package permission

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/calldiff"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file has the writes that wait for the user (review = 'before').

// pendingWrite is a write that waits for the user. Its mutable fields belong to the session's goroutine.
type pendingWrite struct {
	asked  *fileRequest
	at     rules.Path
	access policy.Access
	since  time.Time

	preview
	unsaved bool                 // a buffer had unsaved text of the file when Lua last listed those
	busy    bool                 // the user has answered, and the file is being checked
	edited  func(failure string) // told what happened to the user's own text; may be nil
	editing bool                 // the user is editing the text

	verdict verdict // the user's
	said    string  // in the chat, if they want a text other than the agent's
}

// preview is what a write would do to its file, as last computed.
type preview struct {
	buffers.Preview
	file  diff.FileDiff
	known bool // the texts are known; otherwise it can only be taken as a whole
}

// ownText is the text that the user wants a file to have instead of the agent's.
type ownText struct {
	shown preview      // with that text
	said  string       // in the chat
	told  error        // to the agent
	done  func(string) // hears why it is not written, or ""; may be nil
}

// reviewed marks the write as the one that the user was shown.
func (pw *pendingWrite) reviewed() {
	shown := pw.preview
	pw.asked.reviewed = &shown
}

// made reports whether a write did exactly what the user was shown: the same hunks, if the file changed at the last
// moment, or the same text, if something else is gone with that; the write then says what they were shown.
func (p *preview) made(w *buffers.Written) bool {
	switch {
	case p == nil:
		return false
	case !p.known:
		return true // they took it as a whole
	case w.After == nil:
		return false
	}
	before := ""
	if w.Before != nil {
		before = *w.Before
	}
	if before == p.Before && *w.After == p.After {
		return true
	}
	is := diff.Whole(w.Path, session.OperationModify, before, *w.After)
	if unchanged(&p.file, &is) {
		return true
	}
	if *w.After != p.After || !p.Exists || w.Unsaved {
		return false
	}
	w.Shown = &p.Before
	return true
}

// writeError is what the agent is told about a write that was not made, or not as it wanted.
type writeError struct{ text string }

func (e *writeError) Error() string { return e.text }

// Is reports that the user knows: the chat says what happened to the write.
func (e *writeError) Is(target error) bool { return target == ErrNotAllowed }

// look passes what a write would do to its file to done, on any goroutine. Any goroutine may call it.
func (rs *Requests) look(f *fileRequest, real string, done func(preview)) {
	unknown := func(exists bool) {
		told := session.Diff{Path: f.path, NewText: f.text}
		if !exists {
			told.Operation = session.OperationAdd
		}
		done(preview{Preview: buffers.Preview{Exists: exists}, file: diff.Told(told)})
	}
	switch info, err := os.Stat(real); {
	case err != nil && !errors.Is(err, fs.ErrNotExist), err == nil && info.Size() > diff.LargestFile, len(*f.text) > diff.LargestFile:
		unknown(err == nil)
		return
	}
	rs.base.Files.Preview(f.ctx, buffers.Write{Path: real, Text: *f.text}, func(p buffers.Preview, err error) {
		if err != nil {
			unknown(true)
			return
		}
		op := session.OperationModify
		if !p.Exists {
			op = session.OperationAdd
		}
		rs.base.Background(func() { // other files are waiting for this goroutine
			file := diff.Whole(f.path, op, p.Before, p.After)
			done(preview{Preview: p, file: file, known: file.Located})
		})
	})
}

// review makes a write wait for the user, unless it changes nothing or they have already accepted it. Any goroutine.
func (rs *Requests) review(pw *pendingWrite) {
	rs.look(pw.asked, pw.at.Real, func(p preview) {
		pw.preview = p
		if p.known && p.Exists && p.Before == p.After && p.Conflicts == 0 {
			rs.letPass(pw) // the user already has that text
			return
		}
		rs.decideOn(pw.asked, func() { rs.recall(pw) })
	})
}

// letPass grants a write that needs no review, unless the policy says to ask.
func (rs *Requests) letPass(pw *pendingWrite) {
	if pw.access.Free {
		pw.asked.decided(nil)
		return
	}
	change := []session.ToolCallContent{rs.toldOf(pw)}
	rs.decideOn(pw.asked, func() { rs.askForFile(pw.asked, pw.at, pw.access, change) })
}

// accepted is a change that the user allowed in a request, as shown to them: a write that does the same is not asked
// about, until it is made or the turn ends.
type accepted struct {
	path      string // absolute
	old, text string // of the whole file
}

// accept remembers what the user allowed, as far as it was located in its file: otherwise they have not seen its
// effect.
func (rs *Requests) accept(p *request) {
	for _, c := range rs.config.Diffs.Changes(&p.call) {
		made := c.File.Operation == session.OperationAdd || c.File.Operation == session.OperationModify
		if c.File.Located && made {
			path, _ := rs.base.Absolute(c.File.Path)
			rs.queue.accepted = append(rs.queue.accepted, accepted{path, c.File.Old, c.File.New})
		}
	}
}

// forgetAccepted forgets what the user allowed earlier in the files of a request that they have now refused, or partly
// refused.
func (rs *Requests) forgetAccepted(p *request) {
	for _, f := range rs.config.Diffs.Shared(&p.call) {
		path, _ := rs.base.Absolute(f.Path)
		rs.queue.accepted = slices.DeleteFunc(rs.queue.accepted, func(a accepted) bool { return a.path == path })
	}
}

// recall asks the user about a write, unless they have already accepted it.
func (rs *Requests) recall(pw *pendingWrite) {
	list := slices.Clone(rs.queue.accepted)
	if len(list) == 0 || !pw.known || pw.Conflicts > 0 {
		rs.askAboutWrite(pw)
		return
	}
	rs.base.Background(func() {
		list = slices.DeleteFunc(list, func(a accepted) bool {
			real, err := buffers.RealPath(a.path)
			return err != nil || real != pw.at.Real
		})
		known := agreed(list, pw.Before, pw.After)
		done := slices.DeleteFunc(list, func(a accepted) bool { return !a.made(pw.After) })
		rs.decideOn(pw.asked, func() {
			if !known {
				rs.askAboutWrite(pw)
				return
			}
			rs.queue.written(done)
			pw.reviewed()
			rs.letPass(pw)
		})
	})
}

// agreed reports whether accepted changes of a file, one of them or the first several together, turn its present text
// into the wanted one.
func agreed(list []accepted, now, text string) bool {
	all, fits := now, true
	for _, a := range list {
		if one, ok := a.apply(now); ok && one == text {
			return true
		}
		if fits {
			all, fits = a.apply(all)
		}
		if fits && all == text {
			return true
		}
	}
	return false
}

// apply applies an accepted change to the present text of the file, if it fits.
func (a accepted) apply(now string) (text string, ok bool) {
	text, conflicts := buffers.Merge(a.old, now, a.text)
	return text, len(conflicts) == 0
}

// made reports whether a text has an accepted change, or no longer the place for it.
func (a accepted) made(text string) bool {
	with, ok := a.apply(text)
	return !ok || with == text
}

// The options of a pending write.
const (
	writeIt = "allow"
	refuse  = "reject"
)

// askAboutWrite asks the user about a pending write, by a request of the client's own.
func (rs *Requests) askAboutWrite(pw *pendingWrite) {
	name := styled.VisibleText(rs.base.Short(pw.asked.path))
	p := &request{file: pw.at, write: pw}
	p.answer = func(optionID, by string) { rs.endWrite(p, optionID, by) }
	p.asked = session.PermissionRequest{Context: pw.asked.ctx, CancelsTurn: true, Title: "Write " + name, Options: []session.PermissionOption{
		{ID: writeIt, Name: "Write it", Kind: "allow_once"},
		{ID: refuse, Name: "Refuse", Kind: "reject_once"},
	}}
	if d := pw.access; d.Outside || d.Private {
		reason := d.Reason(pw.asked.path, pw.at.Real)
		p.asked.Description = strings.ToUpper(reason[:1]) + reason[1:] + "."
	}
	p.call = session.ToolCall{Title: name, Kind: pw.asked.kind}
	pw.since = time.Now()
	if !rs.config.Ready() || rs.config.Stopping() {
		p.answer("", "cancel")
		return
	}
	rs.showWrite(p)
	rs.files.StepAside(pw.at.Real)
	rs.raise(p)
}

func (rs *Requests) toldOf(pw *pendingWrite) session.Diff {
	d := session.Diff{Path: pw.asked.path, NewText: pw.asked.text}
	if pw.known {
		d.NewText = &pw.After
	}
	if !pw.Exists {
		d.Operation = session.OperationAdd
	} else if pw.known {
		d.OldText = &pw.Before
	}
	return d
}

// showWrite makes the request of a pending write show its preview. Refused hunks that are still there stay refused.
func (rs *Requests) showWrite(p *request) {
	d := rs.toldOf(p.write)
	p.call.Content = []session.ToolCallContent{d}
	now, before := rs.config.Diffs.Replace(&p.call, d, p.write.file)
	k := p.selections[before]
	switch {
	case !p.write.known:
		p.selections = nil // it is written as a whole or not at all
	case k != nil:
		p.selections = map[*calldiff.CallDiff]*selection{now: k}
	}
	rs.changed = true
}

// lookAgain passes a new preview of a pending write to then, unless it is over by then.
func (rs *Requests) lookAgain(p *request, then func(preview)) {
	rs.base.Background(func() {
		rs.look(p.write.asked, p.write.at.Real, func(now preview) {
			rs.base.Box.Put(func() {
				if rs.queue.has(p) {
					then(now)
				}
			})
		})
	})
}

// trackUnsaved has a pending write follow what the user types, when Lua has listed the buffers with unsaved text.
func (rs *Requests) trackUnsaved(p *request, names []string) {
	pw := p.write
	if pw == nil {
		return
	}
	before := pw.unsaved
	pw.unsaved = slices.ContainsFunc(names, func(name string) bool { return name == pw.asked.path || name == pw.at.Real })
	if before || pw.unsaved {
		rs.refreshWrite(p, func() {})
	}
}

// refreshWrite makes a pending write show what it would now do to its file.
func (rs *Requests) refreshWrite(p *request, then func()) {
	rs.lookAgain(p, func(now preview) {
		if pw := p.write; !pw.editing && !pw.busy && now.Preview != pw.Preview {
			pw.preview = now
			rs.showWrite(p)
			rs.base.Changed()
		}
		then()
	})
}

const noLongerWaits = "The agent no longer waits for this text."

// allowWrite carries out a pending write as the user wants it: without the hunks that they refused, or with a text of
// their own. For the latter, done gets why it was not written, or "".
func (rs *Requests) allowWrite(p *request, edited *string, done func(failure string)) {
	pw := p.write
	name := styled.VisibleText(filepath.Base(pw.asked.path))
	switch {
	case pw.busy && edited != nil:
		done(name + " is being written with the text of the :w before this one.")
		return
	case pw.busy:
		return
	case pw.editing && edited == nil:
		rs.base.Editor.Notify("info", "you are editing the text: :w in its window writes it")
		return
	}
	pw.busy = true
	shown, refused := pw.preview, []bool(nil)
	list, n, all := rs.refusals(p)
	if n > 0 {
		refused = slices.Clone(list[0].refused)
	}
	rs.base.Background(func() {
		rs.look(pw.asked, pw.at.Real, func(now preview) {
			d, ok := decideWrite(shown, now, refused, edited)
			rs.base.Box.Put(func() {
				if !rs.queue.has(p) || pw.asked.ctx.Err() != nil {
					if edited != nil {
						done(noLongerWaits)
					}
					return
				}
				pw.busy, pw.preview = false, now
				if ok {
					pw.verdict, pw.edited = d, done
					pw.said = rs.saidOf(pw, n, all, edited != nil)
					rs.resolve(p, d.option, "user")
					return
				}
				if edited != nil {
					done(name + " has changed in the same lines meanwhile: another :w writes your text over that.")
					return
				}
				rs.showWrite(p)
				rs.base.Editor.Notify("warning", name+" has changed meanwhile: look at the hunks again, then answer")
				rs.base.Changed()
			})
		})
	})
}

// saidOf returns what the chat says about a write that is not made as the agent wants it.
func (rs *Requests) saidOf(pw *pendingWrite, refused, all int, edited bool) string {
	name, who := styled.VisibleText(rs.base.Short(pw.asked.path)), rs.base.Title
	if refused == 0 && !edited {
		return fmt.Sprintf("%s's text of %s conflicts with your text: yours stays, the rest is written, and %s was told.", who, name, who)
	}
	if edited {
		return fmt.Sprintf("You changed %s's text of %s: yours is written, and %s was told.", who, name, who)
	}
	return fmt.Sprintf("You refused %d of %s of %s: the rest is written, and %s was told.", refused, styled.Many(all, "hunk"), name, who)
}

// verdict is the result of the user's answer to a pending write.
type verdict struct {
	option  string
	instead *string // the file's text, if not what the agent's write would make
	told    error   // what the agent is then told
}

// decideWrite returns what to write and what to tell the agent, by the user's answer to what they were shown: the hunks
// that they refuse, or a text of their own. ok is false if the file has changed so that the answer no longer fits.
func decideWrite(shown, now preview, refused []bool, edited *string) (v verdict, ok bool) {
	write := verdict{option: writeIt}
	if !shown.known || !now.known {
		return write, shown.known == now.known && edited == nil
	}
	var target string
	switch {
	case edited != nil:
		merged, conflicts := buffers.Merge(shown.Before, now.Before, *edited)
		if len(conflicts) > 0 {
			return verdict{}, false
		}
		target = merged
	case !unchanged(&shown.file, &now.file):
		return verdict{}, false
	case len(refused) > 0 && !slices.Contains(refused, false):
		return verdict{option: refuse}, true
	default:
		target = diff.Without(now.Before, now.After, func(i int) bool { return i < len(refused) && refused[i] })
	}
	// Conflicting lines are in no hunk, so nobody has allowed them.
	if target == now.After && now.Conflicts == 0 {
		return write, true
	}
	write.instead = &target
	// The user may have lines that the agent does not know: it is told only about what they decided on.
	written, _ := buffers.Merge(now.After, target, now.Text)
	write.told = &writeError{otherwise(now.Text, written, edited != nil, now.Conflicts)}
	return write, true
}

// endWrite ends a pending write: it is made, or the agent gets an error that says what happened to it.
func (rs *Requests) endWrite(p *request, optionID, by string) {
	pw, who := p.write, rs.base.Title
	name := styled.VisibleText(rs.base.Short(pw.asked.path))
	switch {
	case optionID == writeIt && pw.verdict.instead != nil:
		shown := pw.preview
		shown.After = *pw.verdict.instead
		pw.asked.own = &ownText{shown: shown, said: pw.said, told: pw.verdict.told, done: pw.edited}
		pw.asked.decided(nil)
		return
	case optionID == writeIt:
		if pw.edited != nil {
			pw.edited("")
		}
		pw.reviewed()
		pw.asked.decided(nil)
		return
	}
	why := "the user refused this write"
	switch by {
	case "rule":
		why = "the user has decided before to refuse this write"
		rs.config.RemarkOnce(fmt.Sprintf("%s: %s", p.asked.Title, styled.VisibleText(p.decision.Remark)))
	case "user":
		rs.base.Remark("info", fmt.Sprintf("You did not let %s write %s.", who, name))
	case "agent":
		rs.base.Remark("info", fmt.Sprintf("%s has withdrawn its write of %s.", who, name))
	default:
		why = "the user has not decided about this write"
		rs.base.Remark("info", fmt.Sprintf("%s was not allowed to write %s: the question was not answered.", who, name))
	}
	pw.asked.decided(&writeError{why + ", so nothing was written"})
}

// writeOwn writes the user's version of the agent's text, which is an error to the agent.
func (rs *Requests) writeOwn(f *fileRequest, real string, reply func(error)) {
	own := f.own
	own.shown.file = diff.Whole(f.path, session.OperationModify, own.shown.Before, own.shown.After)
	write := buffers.Write{Path: f.path, Real: real, Text: own.shown.After, Base: &own.shown.Before}
	rs.base.Files.Write(f.ctx, write, func(w buffers.Written, err error) {
		if own.done != nil {
			failure := ""
			if err != nil {
				failure = fmt.Sprintf("%s was not written: %v", styled.VisibleText(rs.base.Short(f.path)), buffers.Cause(err))
			}
			own.done(failure)
		}
		if err == nil && w.Changed {
			reviewed := own.shown.made(&w)
			rs.config.Took(w, "fs", reviewed)
		}
		rs.base.Box.Put(func() {
			rs.wrote(f.path, w, err)
			if err == nil {
				rs.base.Remark("info", own.said)
			}
		})
		if err != nil {
			reply(err)
			return
		}
		rs.config.Noted(func() { reply(&buffers.Error{Verb: "write", Path: f.path, Err: own.told}) })
	})
}

// waited returns how long a write has waited, in seconds.
func (pw *pendingWrite) waited() float64 { return time.Since(pw.since).Seconds() }

// EditPending lets the user edit what a pending write would write, which the callback gets, or notes that they have
// stopped.
func (rs *Requests) EditPending(m rpc.EditPending) {
	p := rs.queue.waitingAs(m.Permission)
	if p != nil && p.write != nil && !m.On {
		p.write.editing = false
		rs.lookAgain(p, func(now preview) { // it was not told about changes meanwhile
			p.write.preview = now
			rs.showWrite(p)
			rs.base.Changed()
		})
		return
	}
	if p == nil || p.write == nil || !p.write.known {
		rs.base.Editor.Answer(m.Callback, nil, "")
		return
	}
	pw := p.write
	pw.editing = true
	rs.changed = true
	rs.base.Changed()
	text := pw.After
	if list, n, _ := rs.refusals(p); n > 0 {
		text = diff.Without(pw.Before, pw.After, func(i int) bool { return list[0].refused[i] })
	}
	rs.base.Editor.Answer(m.Callback, rpc.EditedText{Lines: diff.TextLines(text)}, "")
}

// WriteEdited writes the user's version of a pending write.
func (rs *Requests) WriteEdited(m rpc.WriteEdited) {
	p := rs.queue.waitingAs(m.Permission)
	done := func(failure string) { rs.base.Editor.Answer(m.Callback, nil, failure) }
	if p == nil || p.write == nil {
		done(noLongerWaits)
		return
	}
	text := m.Text
	if !strings.HasSuffix(p.write.After, "\n") && p.write.After != "" {
		text = strings.TrimSuffix(text, "\n")
	}
	rs.allowWrite(p, &text, done)
}
