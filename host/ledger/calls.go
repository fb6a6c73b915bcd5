package ledger

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// callState is what the ledger knows of a call that changes files.
type callState struct {
	read    reading
	touched touched
	asked   map[string]bool // paths that were looked at in this turn
	settled bool            // it has ended, and its files have been looked at
}

// reading tells by where they are in memory whether a call has other fields than when it was read: they are
// replaced, and content is appended to.
type reading struct {
	kind    session.ToolKind
	input   *byte
	content *session.ToolCallContent
	length  int
	places  *session.Location
}

func readingOf(call *session.ToolCall) reading {
	return reading{call.Kind, first(call.RawInput), first(call.Content), len(call.Content), first(call.Locations)}
}

func first[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// Observe looks at the files of a call when the call names them, which is before it changes them unless the agent is
// fast, and when it has ended. While the agent is not working, as in a replay, a new call changes nothing.
func (l *Ledger) Observe(call *session.ToolCall, working bool) {
	f := l.calls[call]
	if f == nil {
		if !working {
			return
		}
		f = &callState{asked: map[string]bool{}}
		l.calls[call] = f
	}
	l.said[call] = f
	if !slices.Contains(harmless, call.Kind) {
		l.worked.Store(true)
	}
	if now := readingOf(call); now != f.read {
		f.read, f.touched = now, touchedBy(call, l.config.Absolute)
	}
	l.look(f)
	switch finished := call.Shown().Finished(); {
	case !finished:
		f.settled = false
	case !f.settled:
		f.settled = true
		l.settle(call, f)
	}
}

// look records the state of a call's files that were not looked at yet, for when nothing else tells what they were. The
// looks are in order with what the agent asks for from now on.
func (l *Ledger) look(f *callState) {
	for _, path := range f.touched.paths {
		if f.asked[path] {
			continue
		}
		f.asked[path] = true
		l.named.Store(path, true)
		l.see(path, false, func(now fileState) {
			if now.path == "" {
				return
			}
			l.named.Store(now.path, true)
			l.whenKnown(now.path, false, func() { l.assumeUnchanged(now) })
		})
	}
}

// assumeUnchanged takes what a file has now for what it had when the turn began, if that is not known.
func (l *Ledger) assumeUnchanged(now fileState) {
	t := l.turn
	if t == nil || t.over {
		return
	}
	switch was, known := l.known(t, now); {
	case !known:
		t.guessed[now.path] = true
		l.originals.keepDisk(now.path, now.Content)
		t.seen[now.path] = now.Content
	case !was.Exists && !now.Exists:
		t.seen[now.path] = now.Content // a later look at the folders may not tell
	}
}

// settle looks at the files of a call that has ended.
func (l *Ledger) settle(call *session.ToolCall, f *callState) {
	named := f.touched
	if len(f.asked) == 0 {
		return // it names none
	}
	completed := call.Status == session.StatusCompleted
	l.job(func(done func()) {
		l.seeAll(named.paths, func(now []fileState) {
			l.whenAllKnown(now, func() {
				if events := l.compare(named, now, completed); len(events) > 0 {
					l.report(events)
				}
				done()
			})
		})
	})
}

// whenAllKnown is whenKnown for several files.
func (l *Ledger) whenAllKnown(files []fileState, f func()) {
	missing := 1
	one := func() {
		if missing--; missing == 0 {
			f()
		}
	}
	for _, seen := range files {
		if seen.path != "" {
			missing++
			l.whenKnown(seen.path, false, one)
		}
	}
	one()
}

// compare records what has become of the files of a call, and returns the events. completed says that the call has
// succeeded.
func (l *Ledger) compare(named touched, now []fileState, completed bool) (events []Event) {
	t := l.turn
	files := map[string]fileState{} // by real path
	real := map[string]string{}     // by path as named
	for i, seen := range now {
		if seen.path != "" {
			files[seen.path], real[named.paths[i]] = seen, seen.path
		}
	}
	diffs := map[string][]session.Diff{} // by real path
	for _, d := range named.diffs {
		diffs[real[d.Path]] = append(diffs[real[d.Path]], d)
	}
	moved := map[string]bool{}
	for _, m := range named.moves {
		from, to := files[real[m[0]]], files[real[m[1]]]
		if from.path == "" || from.Exists || !to.Exists || t == nil || t.over {
			continue
		}
		was, known := l.known(t, from)
		over, overKnown := l.known(t, to)
		if gone, ok := t.gone[from.path]; ok {
			was, known = gone, true
		}
		known = known && !(t.guessed[from.path] && !was.Exists) // it may already have been gone when it was looked at
		late := overKnown && over == to.Content && t.guessed[to.path]
		free := !over.Exists
		switch {
		case was.Exists && (free || late && was.SameText(to.Content)):
		case completed && !known && (free || late):
			was = to.Content // it was moved before it could be looked at
		default:
			continue
		}
		if l.accountMove(t, move{from.path, was, to}) {
			events = append(events, Event{to.path, "disk"})
			moved[from.path], moved[to.path] = true, true
		}
	}
	for _, seen := range now {
		if seen.path == "" || moved[seen.path] {
			continue
		}
		if completed && t != nil && t.guessed[seen.path] && !seen.loaded {
			l.guessAgain(t, diffs[seen.path], named.lines, seen)
		}
		if l.account(t, seen) {
			events = append(events, Event{seen.path, "disk"})
		}
	}
	return events
}

// guessAgain derives what a file was before a call from the call's diffs, if the first look at the file came after the
// agent was done with it, or in the middle of its write. lines are those of the call, by path as named.
func (l *Ledger) guessAgain(t *turn, diffs []session.Diff, lines map[string]int, now fileState) {
	was := t.seen[now.path]
	emptied := was.Text == "" && slices.ContainsFunc(diffs, func(d session.Diff) bool {
		return d.OldText != nil && *d.OldText != ""
	})
	if was != now.Content && !emptied {
		return
	}
	if rebuilt, ok := withoutDiffs(diffs, lines, now.Content); ok {
		t.seen[now.path] = rebuilt
	}
}

// withoutDiffs takes the diffs of a call out of what it has left in a file.
func withoutDiffs(diffs []session.Diff, lines map[string]int, is review.Content) (review.Content, bool) {
	if is.Opaque {
		return is, false
	}
	text, found := is.Text, false
	for _, d := range slices.Backward(diffs) {
		switch {
		case !is.Exists && d.OldText != nil && (d.NewText == nil || *d.NewText == ""):
			return contentOf(d.OldText, is.Form), true
		case !is.Exists || d.NewText == nil:
		case d.OldText != nil:
			if was, ok := review.Undone(text, *d.OldText, *d.NewText, lines[d.Path]); ok {
				text, found = was, true
			}
		case d.Operation == session.OperationAdd:
			return review.Content{}, true
		}
	}
	was := contentOf(&text, is.Form)
	was.Mode = is.Mode
	return was, found
}
