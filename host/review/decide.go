package review

import (
	"cmp"
	"errors"
	"slices"
	"sort"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// Decision is what the user thinks of changes.
type Decision string

// The decisions. Keeping what was refused brings it back, refusing what was kept takes it out.
const (
	Keep   Decision = "keep"
	Reject Decision = "reject"
)

// Selection selects changes of a file. The zero value selects all that is pending, and the file's having been added,
// deleted or moved.
type Selection struct {
	Hunks []int           // whole ones, as in File.Hunks
	Parts []linediff.Edit // of what is pending: lines of the accepted text that became lines of the present one
	Lines bool            // not the permissions, also where no line waits any more; and of the form only what differs from Form
	Form  *string         // the form before the agent's last change, if that goes along
	// Made says that the agent's last change made it, and that the user had decided about that beforehand: whoever undoes
	// the change undoes the decision.
	Made bool
}

// Plan is the outcome of a decision.
type Plan struct {
	Path string
	// Now is what is at the path, and Want what should be there. If both are opaque but differ, the contents must come
	// from elsewhere.
	Now, Want Content
	Back      string // where the file is to be moved to, or ""

	of        *file
	was, next file
}

// Edits reports whether the file has to change.
func (p Plan) Edits() bool { return p.Now != p.Want || p.Back != "" }

// Decides reports whether the plan changes anything.
func (p Plan) Decides() bool {
	return p.Edits() || p.next.text != p.was.text || p.next.Accepted != p.was.Accepted ||
		p.next.refused != p.was.refused || p.next.moveKept != p.was.moveKept
}

// ErrNotChanged is of a decision about a file that has nothing of the agent's, and ErrChangedSince of one that cannot be taken
// back.
var (
	ErrNotChanged   = errors.New("the agent has changed nothing there")
	ErrChangedSince = errors.New("it has changed since that decision: decide again")
)

var (
	errTyped      = errors.New("you have changed it too, and a file that is not text has no lines to tell the changes apart by: keep it, or undo yours")
	errNoSuchHunk = errors.New("that change is gone")
)

// Plan returns the outcome of a decision about a file. Nothing changes before Commit. Its errors do not name the file.
func (r *Record) Plan(path string, d Decision, which Selection) (Plan, error) {
	f := r.files[path]
	if f == nil || f.away {
		return Plan{}, ErrNotChanged
	}
	p := Plan{Path: path, Now: f.Present, of: f, was: *f, next: *f}
	n := &p.next
	n.gone = removal{} // a decision about a removal covers what was removed
	if d == Keep && f.refused != "" && (f.refused != Modified || f.text == nil) {
		n.bringBack()
		if n.MovedTo != "" {
			p.Back = n.MovedTo
			n.Path, n.OldPath, n.MovedTo, n.moveKept = p.Back, f.Path, "", true
		}
		p.Want = n.Present
		return p, nil
	}
	if d == Reject && f.typed() {
		return Plan{}, errTyped
	}
	whole := len(which.Hunks)+len(which.Parts) == 0 || f.text == nil || !f.Present.Exists
	if n.text != nil {
		l := *f.text
		changed, err := l.decide(d, which, whole)
		if err != nil {
			return Plan{}, err
		}
		if !f.Present.Exists {
			l.made = f.text.made // no buffer showed that, so no undo in one leads back to it
		}
		if changed {
			n.text, n.Present.Text = &l, l.present()
		}
		if changed && which.Made && f.text == f.agents {
			n.texts, n.agents = append(slices.Clone(f.texts[:len(f.texts)-1]), n.text), n.text
		}
	}
	switch {
	case d == Keep:
		n.Accepted.Exists = n.Present.Exists
		switch {
		case n.text == nil:
			n.Accepted = n.Present
		case whole || len(n.text.pending.edits) == 0 && !which.Lines:
			n.Accepted.Form, n.Accepted.Mode = n.Present.Form, n.Present.Mode
		case which.Form != nil:
			n.Accepted.Form = reformed(n.Accepted.Form, *which.Form, n.Present.Form)
		}
		n.refused = ""
		if whole && n.OldPath != "" {
			n.moveKept = true
		}
	case whole:
		n.Present = n.Accepted
		if f.Present != f.Accepted {
			n.refused, n.taken = f.Status, f.Present
		}
		if n.OldPath != "" && !n.moveKept {
			p.Back = n.OldPath
			n.refused, n.taken = f.Status, f.Present
			n.Path, n.OldPath, n.MovedTo = p.Back, "", f.Path
		}
	case !n.Accepted.Exists && len(n.text.pending.edits) == 0:
		n.Present, n.refused, n.taken = Content{}, Added, f.Present // all that a new file had
	case len(n.text.pending.edits) == 0:
		n.Present.Form, n.Present.Mode = n.Accepted.Form, n.Accepted.Mode // they go with the last hunk
	}
	if mine := n.mine(); d == Reject && !n.Present.Exists && mine != "" {
		// The user's lines in a new file stay, and so does the file.
		n.Present = Text(mine)
		n.Present.Form, n.Present.Mode = f.Present.Form, f.Present.Mode
		n.standsForUser(f.Present)
		n.refused, n.taken = "", Content{}
	}
	p.Want = n.Present
	return p, nil
}

// mine returns the user's part of a file, for when all of the agent's changes are refused.
func (f *file) mine() string {
	if f.text == nil {
		return f.Accepted.Text
	}
	return f.text.present()
}

// bringBack restores a file as it was before all of it was refused, and keeps it.
func (f *file) bringBack() {
	f.Present = f.taken
	if f.text != nil {
		l := *f.text
		if !f.Present.Exists {
			l.pending = newTextDiff(l.accepted())
		}
		l.agent(f.Present.Text)
		waiting := slices.Clone(l.pending.edits)
		slices.Reverse(waiting)
		l.all(waiting, (*layers).keep)
		f.text = &l
	}
	f.Accepted, f.refused, f.taken = f.Present, "", Content{}
}

// Commit puts a plan into effect after the file has got what it wants. It returns false, and does nothing, if the file
// has changed in the record since.
func (r *Record) Commit(p Plan) bool {
	f := r.recorded(p.Path, p.of)
	if f == nil || f.away || f != p.of || f.Present != p.Now {
		return false
	}
	if r.files[p.Path] == f {
		r.bytes -= f.size()
	}
	*f = p.next
	r.bytes += f.size()
	delete(r.files, p.Path)
	switch there := r.files[f.Path]; {
	case there == nil:
	case there.OldPath != "" && r.files[there.OldPath] == nil:
		r.settle(there) // it is gone from where it was
	default:
		r.forget(there)
	}
	r.files[f.Path] = f
	r.settle(f)
	return true
}

// AsLeft reports whether a file that has this content is as the plan, which was committed, has left it.
func (p Plan) AsLeft(now Content) bool { return p.of.has(now) }

// recorded returns a plan's file, also if nothing of the agent's is left of it.
func (r *Record) recorded(path string, of *file) *file {
	f := r.files[path]
	if f == nil && of != nil && of.unchanged() {
		return of
	}
	return f
}

// Undo returns the plan that takes a file back to what it was before a plan was committed, if it has not changed in the
// record since.
func (r *Record) Undo(p Plan) (Plan, error) {
	path := p.next.Path
	f := r.recorded(path, p.of)
	switch {
	case f == nil || f.away || f != p.of:
		return Plan{}, ErrNotChanged
	case f.text != p.next.text || !f.has(p.Want):
		return Plan{}, ErrChangedSince
	}
	back := Plan{Path: path, Now: f.Present, Want: p.was.Present, of: f, was: *f, next: p.was}
	if p.Back != "" {
		back.Back = p.Path
	}
	return back, nil
}

// decide keeps or refuses the selection, and reports whether that changed anything.
func (l *layers) decide(d Decision, which Selection, whole bool) (changed bool, err error) {
	parts := slices.Clone(which.Parts)
	if whole {
		parts = slices.Clone(l.pending.edits)
	}
	for _, e := range parts {
		i := sort.Search(len(l.pending.edits), func(i int) bool { return l.pending.edits[i].A1 >= e.A1 })
		if i == len(l.pending.edits) || !within(e, l.pending.edits[i]) {
			return false, errNoSuchHunk
		}
	}
	changes := l.changes()
	var again []change // that are to be pending first
	for _, i := range which.Hunks {
		if i < 0 || i >= len(changes) {
			return false, errNoSuchHunk
		}
		switch c := changes[i]; {
		case c.State == Pending:
			parts = append(parts, c.parts...)
		case c.State == Kept && d == Reject, c.State == Rejected && d == Keep:
			if whole {
				return false, errNoSuchHunk // the file is gone, and the place of that change
			}
			again = append(again, c)
		}
	}
	changed = len(parts)+len(again) > 0
	// The last one first, so that those before it stay in place.
	parts = l.inOrder(parts)
	slices.SortFunc(again, func(a, b change) int { return b.at - a.at })
	var places []place
	var do []func(s *stretch) bool
	revise := func(c change) {
		places = append(places, place{c.parts[0].B0, c.parts[0].B1})
		do = append(do, func(s *stretch) bool { return s.revise(c) })
	}
	for _, part := range parts {
		for ; len(again) > 0 && again[0].at >= part.A1; again = again[1:] {
			revise(again[0])
		}
		places = append(places, place{part.A0, part.A1})
		do = append(do, func(s *stretch) bool {
			if d == Keep {
				s.keep(s.pendingEdit(part))
			} else {
				s.refuse(s.pendingEdit(part))
			}
			return true
		})
	}
	for _, c := range again {
		revise(c)
	}
	if !l.each(places, func(s *stretch, i int) bool { return do[i](s) }) {
		return false, errNoSuchHunk
	}
	return changed, nil
}

// inOrder returns parts of pending edits with the last one first, in both texts: what two parts remove may be in another
// order than what they add.
func (l *layers) inOrder(parts []linediff.Edit) []linediff.Edit {
	slices.SortFunc(parts, func(a, b linediff.Edit) int { return cmp.Or(b.A0-a.A0, b.B0-a.B0) })
	parts = slices.Compact(parts)
	crossed := func(parts []linediff.Edit) bool {
		for i, below := range parts[:max(len(parts)-1, 0)] {
			if above := parts[i+1]; above.A1 > below.A0 || above.B1 > below.B0 {
				return true
			}
		}
		return false
	}
	if !crossed(parts) {
		return parts
	}
	var all []linediff.Edit
	for _, e := range slices.Backward(l.pending.edits) {
		own := slices.DeleteFunc(slices.Clone(parts), func(p linediff.Edit) bool { return !within(p, e) })
		if crossed(own) {
			gone := func(at int) bool {
				return slices.ContainsFunc(own, func(p linediff.Edit) bool { return p.A0 <= at && at < p.A1 })
			}
			came := func(at int) bool {
				return slices.ContainsFunc(own, func(p linediff.Edit) bool { return p.B0 <= at && at < p.B1 })
			}
			own = partsOf(e, gone, came)
		}
		all = append(all, own...)
	}
	return all
}

// within reports whether an edit is part of another one.
func within(e, whole linediff.Edit) bool {
	return e.A0 >= whole.A0 && e.A1 <= whole.A1 && e.B0 >= whole.B0 && e.B1 <= whole.B1 && e.A0 <= e.A1 && e.B0 <= e.B1
}

// revise reverses a decision.
func (s *stretch) revise(c change) bool {
	if c.State == Kept {
		s.refuse(s.reopen(s.keptEdit(c.parts[0])))
		return true
	}
	part, ok := s.bring(s.refusedEdit(c.parts[0]))
	if ok {
		s.keep(part)
	}
	return ok
}

// change is a hunk with its parts.
type change struct {
	Hunk
	at    int             // in the accepted text
	parts []linediff.Edit // pending ones; or the one that was kept or refused
}

// changes returns all changes of a file, in the order of the present text. What was kept where something is pending
// again is part of the latter.
func (l *layers) changes() []change {
	type region struct {
		change
		a0, a1 int
		kept   []linediff.Edit
	}
	var regions []region
	for _, e := range l.kept.edits {
		regions = append(regions, region{change: change{Hunk: Hunk{State: Kept}}, a0: e.B0, a1: e.B1, kept: []linediff.Edit{e}})
	}
	for _, e := range l.pending.edits {
		regions = append(regions, region{change: change{Hunk: Hunk{State: Pending}, parts: []linediff.Edit{e}}, a0: e.A0, a1: e.A1})
	}
	slices.SortStableFunc(regions, func(a, b region) int { return cmp.Or(a.a0-b.a0, a.a1-b.a1) })
	var joined []region
	for _, r := range regions {
		if last := len(joined) - 1; last >= 0 && (meet(joined[last].a0, joined[last].a1, r.a0, r.a1)) {
			j := &joined[last]
			j.a1 = max(j.a1, r.a1)
			j.State = Pending
			j.parts, j.kept = append(j.parts, r.parts...), append(j.kept, r.kept...)
			continue
		}
		joined = append(joined, r)
	}
	var list []change
	for _, r := range joined {
		old0, old1 := back(l.kept.edits, r.a0, true), back(l.kept.edits, r.a1, false)
		for i, e := range r.kept {
			if i == 0 && e.B0 == r.a0 {
				old0 = e.A0
			}
			if e.B1 == r.a1 {
				old1 = e.A1
			}
		}
		new0, new1 := forth(l.pending.edits, r.a0, true), forth(l.pending.edits, r.a1, false)
		for i, e := range r.parts {
			if i == 0 && e.A0 == r.a0 {
				new0 = e.B0
			}
			if e.A1 == r.a1 {
				new1 = e.B1
			}
		}
		c := r.change
		if c.at = r.a0; c.State == Kept {
			c.parts = r.kept
		}
		c.Hunk.place(old0, old1, new0, new1)
		list = append(list, c)
	}
	for _, e := range l.refused.edits {
		c := change{Hunk: Hunk{State: Rejected}, at: e.B0, parts: []linediff.Edit{e}}
		c.place(back(l.kept.edits, e.B0, true), back(l.kept.edits, e.B1, false), forth(l.pending.edits, e.B0, true), forth(l.pending.edits, e.B1, false))
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b change) int { return cmp.Or(a.NewStart-b.NewStart, a.OldStart-b.OldStart) })
	return list
}

// place sets the lines of a hunk from ranges that are counted from 0.
func (h *Hunk) place(old0, old1, new0, new1 int) {
	h.OldStart, h.OldCount = old0, max(0, old1-old0)
	h.NewStart, h.NewCount = new0, max(0, new1-new0)
	if h.OldCount > 0 {
		h.OldStart++
	}
	if h.NewCount > 0 {
		h.NewStart++
	}
}

func (l *layers) hunks() []Hunk {
	var list []Hunk
	for _, c := range l.changes() {
		list = append(list, c.Hunk)
	}
	return list
}

// Change is a change of a text, as it is shown: the lines before and after it, with their newlines. For a pending
// change they are lines of the accepted and the present text; for a refused one, the lines that are there and those
// that were.
type Change struct {
	State    State
	Hunk     int // in File.Hunks
	Line     int // of the present text, from 1: the first new line, or the one after what is gone
	Old, New []string
	Part     linediff.Edit // for a Selection; of pending changes only
}

// Changes returns the changes of a file in the order of the present text; an opaque file has none.
func (f File) Changes() []Change {
	if f.text == nil {
		return nil
	}
	l := f.text
	accepted, present := linediff.Lines(l.accepted()), linediff.Lines(l.present())
	was, refused := linediff.Lines(l.baseline()), linediff.Lines(l.refused.base)
	var list []Change
	for i, h := range l.changes() {
		for _, e := range h.parts {
			c := Change{State: h.State, Hunk: i}
			switch h.State {
			case Pending:
				c.Line, c.Part = e.B0+1, e
				c.Old, c.New = accepted[e.A0:e.A1], present[e.B0:e.B1]
			case Kept:
				c.Line = forth(l.pending.edits, e.B0, true) + 1
				c.Old, c.New = was[e.A0:e.A1], accepted[e.B0:e.B1]
			default:
				c.Line = forth(l.pending.edits, e.B0, true) + 1
				c.Old, c.New = accepted[e.B0:e.B1], refused[e.A0:e.A1]
			}
			list = append(list, c)
		}
	}
	return list
}

// Lines selects what is pending in lines of the present text, from first to last, counted from 1: the lines
// themselves and those that they replace, one by one, and what was removed between them.
func (f File) Lines(first, last int) Selection {
	var which Selection
	if f.text == nil {
		return which
	}
	from, to := first-1, last // as in an edit
	for _, e := range f.text.pending.edits {
		switch {
		case e.B0 == e.B1:
			if e.B0 >= from && e.B0 <= to {
				which.Parts = append(which.Parts, e)
			}
		case e.B0 < to && e.B1 > from:
			part := linediff.Edit{B0: max(e.B0, from), B1: min(e.B1, to)}
			part.A0, part.A1 = min(e.A0+part.B0-e.B0, e.A1), min(e.A0+part.B1-e.B0, e.A1)
			if part.B1 == e.B1 {
				part.A1 = e.A1
			}
			which.Parts = append(which.Parts, part)
		}
	}
	return which
}
