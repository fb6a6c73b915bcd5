// Package followalong decides where a window that follows agents jumps, from the places that they read and edit, what
// the user does in that window, and the time. It is pure: it calls nothing, starts nothing, and is told the time.
package followalong

import (
	"slices"
	"time"
)

const (
	// Rest is how long after the last new place a jump is made: of a burst, one place is shown.
	Rest = 150 * time.Millisecond
	// Moment is how long the window stays where it is after the user's last action in it.
	Moment = 2 * time.Second
)

// Kind is what an agent does at a place.
type Kind int

// Kinds of places. In a burst an edit counts more than a read.
const (
	Read Kind = iota
	Edit
)

// Place is where an agent works.
type Place struct {
	Session int    // whose agent it is
	Path    string // absolute
	Line    int    // 1-based; 0 if the agent named none
	Kind    Kind
	// Locate finds the line of the agent's change in the file's text, 0 if it is not there: then Line counts. It may be
	// nil.
	Locate func(text string) int
}

// Jump is a place to be shown now.
type Jump struct {
	Place
	// Seen is the line where an agent last was in the file, for a place without one; 0 if unknown.
	Seen int
}

// Follower is the state of one following window. The zero value follows nothing. It is not safe for concurrent use.
type Follower struct {
	on, paused bool

	turns []int          // sessions with a running turn, the one prompted last at the end
	last  *Place         // the newest place of its burst to show, whether it was shown or not
	since time.Time      // when the newest place of that burst came
	lines map[string]int // by path, where an agent was last

	target *Place // to be shown
	flying bool   // a jump is under way, whose outcome is not known yet

	locked bool      // Neovim allows no jump, until it says so
	quiet  time.Time // until then the window is the user's
}

// Start begins to follow, or resumes after a pause. If an agent is working, the first jump is to where it is.
func (f *Follower) Start() {
	if f.on && !f.paused {
		return
	}
	f.on, f.paused, f.target, f.quiet = true, false, nil, time.Time{}
	if len(f.turns) > 0 && f.last != nil {
		f.target = f.last
	}
}

// Stop ends it.
func (f *Follower) Stop() { f.on, f.paused, f.locked, f.target = false, false, false, nil }

// Follows reports whether the window goes where an agent works.
func (f *Follower) Follows() bool { return f.on && !f.paused }

// Pause says that the user has navigated in the window: it is the user's until Start.
func (f *Follower) Pause() {
	if f.on {
		f.paused, f.target = true, nil
	}
}

// Active says that the user is doing something in the window, without navigating.
func (f *Follower) Active(now time.Time) { f.quiet = now.Add(Moment) }

// Lock says that Neovim is in the middle of something that allows no jump, and Unlock that it may have ended.
func (f *Follower) Lock()   { f.locked = true }
func (f *Follower) Unlock() { f.locked = false }

// Begin and End frame a session's turn.
func (f *Follower) Begin(session int) {
	f.End(session)
	f.turns = append(f.turns, session)
}

func (f *Follower) End(session int) {
	f.turns = slices.DeleteFunc(f.turns, func(s int) bool { return s == session })
}

// See adds a place. While sessions are working, only places of the one prompted last count, otherwise those of any.
func (f *Follower) See(now time.Time, p Place) {
	if n := len(f.turns); n > 0 && f.turns[n-1] != p.Session {
		return
	}
	if p.Line > 0 {
		f.remember(p.Path, p.Line)
	}
	old := f.target
	switch {
	case old != nil && old.Session == p.Session && old.Path == p.Path && old.Kind == p.Kind && p.Line == 0 && p.Locate == nil:
		return // it adds nothing
	case old != nil && old.Path == p.Path && old.Line == p.Line && old.Kind == p.Kind:
		// Reported again, like a growing change: the agent has not moved.
	case old != nil && old.Kind == Edit && p.Kind == Read && now.Sub(f.since) < Rest:
		f.since = now
		return
	default:
		f.since = now
	}
	f.last = &p
	if f.on && !f.paused {
		f.target = &p
	}
}

// Edited says that a file's lines have moved, so that earlier places stay where they are in the text.
func (f *Follower) Edited(path string, moved func(line int) int) {
	if line, known := f.lines[path]; known {
		f.lines[path] = moved(line)
	}
	for _, p := range []**Place{&f.last, &f.target} {
		if *p != nil && (*p).Path == path && (*p).Line > 0 {
			now := **p
			now.Line = moved(now.Line)
			*p = &now
		}
	}
}

// Knows reports whether a line of a file is known that [Follower.Edited] would move.
func (f *Follower) Knows(path string) bool { return f.lines[path] > 0 }

func (f *Follower) remember(path string, line int) {
	if f.lines == nil {
		f.lines = map[string]int{}
	}
	f.lines[path] = line
}

// Next returns when Take may have a jump; false means not before something happens.
func (f *Follower) Next() (time.Time, bool) {
	if f.target == nil || !f.on || f.paused || f.locked || f.flying {
		return time.Time{}, false
	}
	at := f.since.Add(Rest)
	if f.quiet.After(at) {
		at = f.quiet
	}
	return at, true
}

// Take returns the jump whose time has come. The next one comes only after the outcome of this one is reported, by Done
// or Return.
func (f *Follower) Take(now time.Time) (Jump, bool) {
	if at, ok := f.Next(); !ok || now.Before(at) {
		return Jump{}, false
	}
	j := Jump{Place: *f.target, Seen: f.lines[f.target.Path]}
	f.target, f.flying = nil, true
	return j, true
}

// Done says that a jump was made, to a line, or that there was nothing to show.
func (f *Follower) Done(j Jump, line int) {
	f.flying = false
	if line > 0 {
		f.remember(j.Path, line)
	}
}

// Return gives back a jump that was not made because the window is the user's just now, or Neovim allowed none. It is
// made later unless a newer place comes.
func (f *Follower) Return(j Jump) {
	f.flying = false
	if f.on && !f.paused && f.target == nil {
		f.target = &j.Place
	}
}
