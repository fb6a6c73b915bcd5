package host

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

// held is a write through the client that waits for the user (review = 'before').
// But for what never changes it belongs to the session's goroutine.
type held struct {
	request *fileRequest
	at      rules.Path
	access  policy.Access
	since   time.Time

	prospect
	unsaved bool                 // a buffer had unsaved text of the file, when Lua listed those last
	busy    bool                 // the file is being looked at, as the user has answered
	edited  func(failure string) // hears what has become of a text of the user's; may be nil
	editing bool                 // the user edits the text

	verdict verdict // the user's
	said    string  // what the chat says where they want another text than the agent's
}

// prospect is what a write would make of its file, as it was looked at last.
type prospect struct {
	buffers.Preview
	file  diff.File
	known bool // else the texts are not, and it can only be taken as a whole
}

// ownText is the text that the user wants a file to have in place of the agent's.
type ownText struct {
	shown prospect     // with that text
	said  string       // in the chat
	told  error        // to the agent
	done  func(string) // hears what has become of it, "" for well; or nil
}

// shows has a write be made as what the user has decided about.
func (h *held) shows() {
	shown := h.prospect
	h.request.reviewed = &shown
}

// made tells whether a write has done what the user was shown, and nothing else: in
// a file that has changed in the last moment the same hunks.
func (p *prospect) made(w buffers.Written) bool {
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
	return stands(&p.file, &is)
}

// heldError is what the agent is told of a write that was not made, or not so.
type heldError struct{ text string }

func (e *heldError) Error() string { return e.text }

// Is tells that the user knows of it: the chat says what has become of the write.
func (e *heldError) Is(target error) bool { return target == errNotAllowed }

// look gives what a write would make of its file to done, on any goroutine.
func (s *Session) look(f *fileRequest, real string, done func(prospect)) {
	unknown := func(exists bool) {
		told := session.Diff{Path: f.path, NewText: f.text}
		if !exists {
			told.Operation = session.OperationAdd
		}
		done(prospect{Preview: buffers.Preview{Exists: exists}, file: diff.Told(told)})
	}
	switch info, err := os.Stat(real); {
	case err != nil && !errors.Is(err, fs.ErrNotExist), err == nil && info.Size() > diff.LargestFile, len(*f.text) > diff.LargestFile:
		unknown(err == nil)
		return
	}
	s.base.Files.Preview(f.ctx, buffers.Write{Path: real, Text: *f.text}, func(p buffers.Preview, err error) {
		if err != nil {
			unknown(true)
			return
		}
		op := session.OperationModify
		if !p.Exists {
			op = session.OperationAdd
		}
		s.base.Background(func() { // other files wait for this one
			file := diff.Whole(f.path, op, p.Before, p.After)
			done(prospect{Preview: p, file: file, known: file.Located})
		})
	})
}

// hold has a write wait for the user, unless it changes nothing or is what they
// have accepted before. Any goroutine.
func (s *Session) hold(h *held) {
	s.look(h.request, h.at.Real, func(p prospect) {
		h.prospect = p
		if p.known && p.Exists && p.Before == p.After && p.Conflicts == 0 {
			s.letPass(h) // it changes nothing of what the user has
			return
		}
		s.decideOn(h.request, func() { s.recall(h) })
	})
}

// letPass lets a write pass that needs no review; the policy of paths may still
// ask about it.
func (s *Session) letPass(h *held) {
	if h.access.Free {
		h.request.decided(nil)
		return
	}
	change := []session.ToolCallContent{s.toldOf(h)}
	s.decideOn(h.request, func() { s.askForFile(h.request, h.at, h.access, change) })
}

// accepted is a change that the user has allowed in a request, as they were shown
// it: a write that comes to the same is not asked about again, until it is made or
// the turn ends.
type accepted struct {
	path      string // absolute
	old, text string // of the whole file
}

// accept remembers what the user has allowed, as far as it was found in its file:
// of a change that was not they have not seen what it makes of that.
func (s *Session) accept(p *permission) {
	for _, c := range s.diffs.Changes(&p.call) {
		made := c.File.Operation == session.OperationAdd || c.File.Operation == session.OperationModify
		if c.File.Located && made {
			path, _ := s.base.Absolute(c.File.Path)
			s.permissions.accepted = append(s.permissions.accepted, accepted{path, c.File.Old, c.File.New})
		}
	}
}

// acceptNoMore forgets what the user has allowed before of the files of a request that
// they have now refused, or a part of it.
func (s *Session) acceptNoMore(p *permission) {
	for _, f := range s.diffs.Shared(&p.call) {
		path, _ := s.base.Absolute(f.Path)
		s.permissions.accepted = slices.DeleteFunc(s.permissions.accepted, func(a accepted) bool { return a.path == path })
	}
}

// recall looks whether the user has accepted a write before, and else asks.
func (s *Session) recall(h *held) {
	list := slices.Clone(s.permissions.accepted)
	if len(list) == 0 || !h.known || h.Conflicts > 0 {
		s.askAboutWrite(h)
		return
	}
	s.base.Background(func() {
		list = slices.DeleteFunc(list, func(a accepted) bool {
			real, err := buffers.RealPath(a.path)
			return err != nil || real != h.at.Real
		})
		known := agreed(list, h.Before, h.After)
		done := slices.DeleteFunc(list, func(a accepted) bool { return !a.made(h.After) })
		s.decideOn(h.request, func() {
			if !known {
				s.askAboutWrite(h)
				return
			}
			s.permissions.written(done)
			h.shows()
			s.letPass(h)
		})
	})
}

// agreed tells whether accepted changes of a file, one of them or those so far
// together, make of its text as it is now what it is to have, and nothing else.
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

// apply makes an accepted change in the text that the file has by now; false is
// that it does not fit there.
func (a accepted) apply(now string) (text string, ok bool) {
	text, conflicts := buffers.Merge(a.old, now, a.text)
	return text, len(conflicts) == 0
}

// made tells whether a text has an accepted change, or has none of the place where it was.
func (a accepted) made(text string) bool {
	with, ok := a.apply(text)
	return !ok || with == text
}

// The answers to a held write.
const (
	writeIt = "allow"
	refuse  = "reject"
)

// askAboutWrite puts a held write before the user, as a question of our own.
func (s *Session) askAboutWrite(h *held) {
	name := styled.VisibleText(s.base.Short(h.request.path))
	p := &permission{file: h.at, held: h}
	p.answer = func(optionID, by string) { s.endHeld(p, optionID, by) }
	p.request = session.PermissionRequest{Context: h.request.ctx, Title: "Write " + name, Options: []session.PermissionOption{
		{ID: writeIt, Name: "Write it", Kind: "allow_once"},
		{ID: refuse, Name: "Refuse", Kind: "reject_once"},
	}}
	if d := h.access; d.Outside || d.Private {
		reason := d.Reason(h.request.path, h.at.Real)
		p.request.Description = strings.ToUpper(reason[:1]) + reason[1:] + "."
	}
	p.call = session.ToolCall{Title: name, Kind: h.request.kind}
	h.since = time.Now()
	if s.phase != ready || s.outbox.stage == stopping {
		p.answer("", "cancel")
		return
	}
	s.tellHeld(p)
	s.access.StepAside(h.at.Real)
	s.raise(p)
}

func (s *Session) toldOf(h *held) session.Diff {
	d := session.Diff{Path: h.request.path, NewText: h.request.text}
	if h.known {
		d.NewText = &h.After
	}
	if !h.Exists {
		d.Operation = session.OperationAdd
	} else if h.known {
		d.OldText = &h.Before
	}
	return d
}

// tellHeld has the request of a held write show what it would make of the file.
// What was refused stays refused, as far as it is still there.
func (s *Session) tellHeld(p *permission) {
	d := s.toldOf(p.held)
	p.call.Content = []session.ToolCallContent{d}
	now, before := s.diffs.Replace(&p.call, d, p.held.file)
	k := p.picks[before]
	switch {
	case !p.held.known:
		p.picks = nil // it is written as a whole, or not
	case k != nil:
		p.picks = map[*calldiff.Change]*picks{now: k}
	}
	s.shown.permissions = true
}

// lookAtHeld looks again at what a held write would make of its file, then has
// then called, unless the write is over.
func (s *Session) lookAtHeld(p *permission, then func(prospect)) {
	s.base.Background(func() {
		s.look(p.held.request, p.held.at.Real, func(now prospect) {
			s.base.Box.Put(func() {
				if s.permissions.has(p) && p.held.request.ctx.Err() == nil {
					then(now)
				}
			})
		})
	})
}

// hearHeld has a held write follow what the user types, of which Lua has listed
// the buffers.
func (s *Session) hearHeld(p *permission, list []modified) {
	h := p.held
	if h == nil {
		return
	}
	before := h.unsaved
	h.unsaved = slices.ContainsFunc(list, func(b modified) bool { return b.name == h.request.path || b.name == h.at.Real })
	if before || h.unsaved {
		s.refreshHeld(p, func() {})
	}
}

// refreshHeld has a held write show what it would make of its file now.
func (s *Session) refreshHeld(p *permission, then func()) {
	s.lookAtHeld(p, func(now prospect) {
		if h := p.held; !h.editing && !h.busy && now.Preview != h.Preview {
			h.prospect = now
			s.tellHeld(p)
			s.changed()
		}
		then()
	})
}

const noLongerWaits = "The agent does not wait for this text any more."

// writeHeld is the user's word that a held write may be made, but for the hunks
// that they have refused; or, with a text, that this is to be written: done then hears whether it was.
func (s *Session) writeHeld(p *permission, edited *string, done func(failure string)) {
	h := p.held
	name := styled.VisibleText(filepath.Base(h.request.path))
	switch {
	case h.busy && edited != nil:
		done(name + " is being written with the text of the :w before this one.")
		return
	case h.busy:
		return
	case h.editing && edited == nil:
		s.base.Editor.Notify("info", "You are editing the text: :w in its window writes it.")
		return
	}
	h.busy = true
	shown, refused := h.prospect, []bool(nil)
	list, n, all := s.picked(p)
	if n > 0 {
		refused = slices.Clone(list[0].refused)
	}
	s.base.Background(func() {
		s.look(h.request, h.at.Real, func(now prospect) {
			d, ok := decideHeld(shown, now, refused, edited)
			s.base.Box.Put(func() {
				if !s.permissions.has(p) || h.request.ctx.Err() != nil {
					if edited != nil {
						done(noLongerWaits)
					}
					return
				}
				h.busy = false
				if ok {
					h.prospect = now
					h.verdict, h.edited = d, done
					h.said = s.saidOf(h, n, all, edited != nil)
					s.resolve(p, d.option, "user")
					return
				}
				h.prospect = now
				if edited != nil {
					done(name + " has changed in the same lines meanwhile: :w once more writes your text over that.")
					return
				}
				s.tellHeld(p)
				s.base.Editor.Notify("warning", name+" has changed meanwhile: look at the hunks again, then answer.")
				s.changed()
			})
		})
	})
}

// saidOf is what the chat says of a write that is not made as the agent wants it.
func (s *Session) saidOf(h *held, refused, all int, edited bool) string {
	name, who := styled.VisibleText(s.base.Short(h.request.path)), s.base.Title
	if refused == 0 && !edited {
		return fmt.Sprintf("%s's text of %s conflicts with your unsaved text: yours stays, the rest is written, and %s was told.", who, name, who)
	}
	if edited {
		return fmt.Sprintf("You changed %s's text of %s: yours is written, and %s was told.", who, name, who)
	}
	return fmt.Sprintf("You refused %d of %s of %s: the rest is written, and %s was told.", refused, styled.Many(all, "hunk"), name, who)
}

// verdict is what the user's answer to a held write comes to.
type verdict struct {
	option  string
	instead *string // the text that the user is to have in place of what the agent's would make; or nil
	told    error   // what the agent is told then
}

// decideHeld makes of the user's answer what is written and what the agent is told.
// They answer what they have been shown: the hunks of that which they refuse, or a
// text of their own. It returns false where the file is now such that the answer
// does not say what is to become of it.
func decideHeld(shown, now prospect, refused []bool, edited *string) (v verdict, ok bool) {
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
	case now.Preview != shown.Preview && !stands(&shown.file, &now.file):
		return verdict{}, false
	case len(refused) > 0 && !slices.Contains(refused, false):
		return verdict{option: refuse}, true
	default:
		target = diff.Without(now.Before, now.After, func(i int) bool { return i < len(refused) && refused[i] })
	}
	// What conflicts is in no hunk, so that nobody has allowed it.
	if target == now.After && now.Conflicts == 0 {
		return write, true
	}
	write.instead = &target
	// The user may have lines that the agent does not know: only what they have decided about is told.
	written, _ := buffers.Merge(now.After, target, now.Text)
	write.told = &heldError{otherwise(now.Text, written, edited != nil, now.Conflicts)}
	return write, true
}

// endHeld ends a held write: it is made, or the agent gets an error that says what
// has become of it.
func (s *Session) endHeld(p *permission, optionID, by string) {
	h, who := p.held, s.base.Title
	name := styled.VisibleText(s.base.Short(h.request.path))
	switch {
	case optionID == writeIt && h.verdict.instead != nil:
		shown := h.prospect
		shown.After = *h.verdict.instead
		h.request.own = &ownText{shown: shown, said: h.said, told: h.verdict.told, done: h.edited}
		h.request.decided(nil)
		return
	case optionID == writeIt:
		if h.edited != nil {
			h.edited("")
		}
		h.shows()
		h.request.decided(nil)
		return
	}
	why := "the user refused this write"
	switch by {
	case "rule":
		why = "the user has decided before to refuse this write"
		s.remarkOnce(fmt.Sprintf("%s: %s", p.request.Title, styled.VisibleText(p.decision.Remark)))
	case "user":
		s.remark("info", fmt.Sprintf("You did not let %s write %s.", who, name))
	case "agent":
		s.remark("info", fmt.Sprintf("%s has withdrawn its write of %s.", who, name))
	default:
		why = "the user has not decided about this write"
		s.remark("info", fmt.Sprintf("%s was not allowed to write %s: the question was not answered.", who, name))
	}
	h.request.decided(&heldError{why + ", so nothing was written"})
}

// writeOwn writes what the user has made of the agent's text, which is an error to the agent.
func (s *Session) writeOwn(f *fileRequest, real string, reply func(error)) {
	own := f.own
	own.shown.file = diff.Whole(f.path, session.OperationModify, own.shown.Before, own.shown.After)
	write := buffers.Write{Path: f.path, Real: real, Text: own.shown.After, Base: &own.shown.Before}
	s.base.Files.Write(f.ctx, write, func(w buffers.Written, err error) {
		if own.done != nil {
			failure := ""
			if err != nil {
				failure = fmt.Sprintf("%s is not written: %v", styled.VisibleText(s.base.Short(f.path)), buffers.Cause(err))
			}
			own.done(failure)
		}
		if err == nil && w.Changed {
			s.ledger.Took(w, "fs", own.shown.made(w))
		}
		s.base.Box.Put(func() {
			s.wrote(f.path, w, err)
			if err == nil {
				s.remark("info", own.said)
			}
		})
		if err != nil {
			reply(err)
			return
		}
		reply(&buffers.Error{Verb: "write", Path: f.path, Err: own.told})
	})
}

// waited is for how long a held write has waited, in seconds.
func (h *held) waited() float64 { return time.Since(h.since).Seconds() }

// editHeld lets the user edit what would be written, and gives it to the callback;
// or hears that they do so no more.
func (s *Session) editHeld(m rpc.EditHeld) {
	p := s.permissions.waitingAs(m.Permission)
	if p != nil && p.held != nil && !m.On {
		p.held.editing = false
		s.lookAtHeld(p, func(now prospect) { // it was not told of changes meanwhile
			p.held.prospect = now
			s.tellHeld(p)
			s.changed()
		})
		return
	}
	if p == nil || p.held == nil || !p.held.known {
		s.base.Editor.Answer(m.Callback, nil, "")
		return
	}
	h := p.held
	h.editing = true
	s.shown.permissions = true
	s.changed()
	text := h.After
	if list, n, _ := s.picked(p); n > 0 {
		text = diff.Without(h.Before, h.After, func(i int) bool { return list[0].refused[i] })
	}
	s.base.Editor.Answer(m.Callback, rpc.EditedText{Lines: diff.TextLines(text)}, "")
}

// writeEdited takes the lines that the user has made of a held write.
func (s *Session) writeEdited(m rpc.WriteEdited) {
	p := s.permissions.waitingAs(m.Permission)
	done := func(failure string) { s.base.Editor.Answer(m.Callback, nil, failure) }
	if p == nil || p.held == nil {
		done(noLongerWaits)
		return
	}
	text := m.Text
	if !strings.HasSuffix(p.held.After, "\n") && p.held.After != "" {
		text = strings.TrimSuffix(text, "\n")
	}
	s.writeHeld(p, &text, done)
}
