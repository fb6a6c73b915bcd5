package review

import (
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// stretch is some lines of a file as a file of its own. It ends after a line that nobody has changed, or with the file,
// so a decision there leaves all other lines alone, and costs only by its own length.
type stretch struct {
	layers
	of     [3]part // of kept, pending and refused
	places []int   // to work on
}

// part is some lines of a textDiff, in its base and in its present text, with the edits among them.
type part struct {
	linediff.Edit
	first, last int
}

// from makes an edit's lines relative to the part that has it.
func (p part) from(e linediff.Edit) linediff.Edit { return moved(e, -p.A0, -p.B0) }

func moved(e linediff.Edit, a, b int) linediff.Edit {
	return linediff.Edit{A0: e.A0 + a, A1: e.A1 + a, B0: e.B0 + b, B1: e.B1 + b}
}

func (s *stretch) keptEdit(e linediff.Edit) linediff.Edit    { return s.of[0].from(e) }
func (s *stretch) pendingEdit(e linediff.Edit) linediff.Edit { return s.of[1].from(e) }
func (s *stretch) refusedEdit(e linediff.Edit) linediff.Edit { return s.of[2].from(e) }

// accepted0 returns the line of the accepted text at which a stretch begins.
func (s *stretch) accepted0() int { return s.of[1].A0 }

// pairs returns a file's pairs, in the order of [stretch].
func (l *layers) pairs() [3]*textDiff { return [3]*textDiff{&l.kept, &l.pending, &l.refused} }

// place is a half-open range of lines of the accepted text.
type place struct{ from, to int }

// each calls do for the places by their index, the last first, with the stretch that has it. If do returns false, so
// does each, and nothing has changed.
func (l *layers) each(places []place, do func(s *stretch, i int) bool) bool {
	if len(places) == 0 {
		return true // the texts stay, stored once
	}
	list := l.stretches(places)
	var made []string
	for i := range slices.Backward(list) {
		s := &list[i]
		for _, place := range s.places {
			if !do(s, place) {
				return false
			}
		}
		made = append(made, s.made...)
	}
	made = slices.Concat(l.made, made)
	l.made = made[max(0, len(made)-mostMade):]
	for i, t := range l.pairs() {
		*t = t.with(list, i)
	}
	// Stored once.
	l.kept.present, l.refused.present = l.accepted(), l.accepted()
	for _, text := range []*string{&l.kept.base, &l.refused.base} {
		if *text == l.accepted() {
			*text = l.accepted()
		}
	}
	return true
}

// stretches returns the stretches that have places, in the order of the text.
func (l *layers) stretches(places []place) []stretch {
	type area struct {
		place
		index int // of a place; -1 is a change
	}
	areas := make([]area, 0, len(places)+len(l.kept.edits)+len(l.pending.edits)+len(l.refused.edits))
	for i, p := range places {
		areas = append(areas, area{p, i})
	}
	for i, t := range l.pairs() {
		for _, e := range t.edits {
			areas = append(areas, area{accepted(i, e), -1})
		}
	}
	slices.SortStableFunc(areas, func(a, b area) int { return a.from - b.from })

	var rulers [3][2]ruler
	for i, t := range l.pairs() {
		rulers[i] = [2]ruler{rulerOf(t.base), rulerOf(t.present)}
	}
	var list []stretch
	var behind [3]int // edits
	for len(areas) > 0 {
		here, n := areas[0].place, 1
		for n < len(areas) && areas[n].from <= here.to {
			here.to = max(here.to, areas[n].to)
			n++
		}
		var s stretch
		for _, a := range areas[:n] {
			if a.index >= 0 {
				s.places = append(s.places, a.index)
			}
		}
		areas = areas[n:]
		slices.Sort(s.places)
		for i, t := range l.pairs() {
			p := &s.of[i]
			p.A0, p.B0 = t.at(i, here.from, behind[i])
			p.first = behind[i]
			for behind[i] < len(t.edits) && accepted(i, t.edits[behind[i]]).from <= here.to {
				behind[i]++
			}
			p.last = behind[i]
			if p.A1, p.B1 = t.at(i, here.to+1, behind[i]); here.to >= rulers[1][0].lines() {
				p.A1, p.B1 = rulers[i][0].lines(), rulers[i][1].lines()
			}
		}
		if len(s.places) == 0 {
			continue
		}
		for i, t := range s.pairs() {
			p, of := s.of[i], l.pairs()[i]
			t.base, t.present = rulers[i][0].cut(of.base, p.A0, p.A1), rulers[i][1].cut(of.present, p.B0, p.B1)
			for _, e := range of.edits[p.first:p.last] {
				t.edits = append(t.edits, p.from(e))
			}
		}
		list = append(list, s)
	}
	return list
}

// accepted returns where an edit of one of the pairs is in the accepted text.
func accepted(of int, e linediff.Edit) place {
	if of == 1 {
		return place{e.A0, e.A1}
	}
	return place{e.B0, e.B1}
}

// at returns where a line of the accepted text is in one of the pairs, after behind of its edits.
func (t *textDiff) at(of, line, behind int) (base, present int) {
	by := 0
	if behind > 0 {
		by = t.edits[behind-1].B1 - t.edits[behind-1].A1
	}
	if of == 1 {
		return line, line + by
	}
	return line - by, line
}

// with returns a textDiff with its stretches replaced by those in list.
func (t *textDiff) with(list []stretch, of int) textDiff {
	var edits []linediff.Edit
	var base, present strings.Builder
	was, is := rulerOf(t.base), rulerOf(t.present)
	a, b, done := 0, 0, 0 // lines and edits of t
	moreA, moreB := 0, 0  // lines added so far
	until := func(toA, toB, last int) {
		base.WriteString(was.cut(t.base, a, toA))
		present.WriteString(is.cut(t.present, b, toB))
		for _, e := range t.edits[done:last] {
			edits = append(edits, moved(e, moreA, moreB))
		}
	}
	for i := range list {
		p, now := list[i].of[of], list[i].pairs()[of]
		until(p.A0, p.B0, p.first)
		base.WriteString(now.base)
		present.WriteString(now.present)
		for _, e := range now.edits {
			edits = append(edits, moved(e, p.A0+moreA, p.B0+moreB))
		}
		a, b, done = p.A1, p.B1, p.last
		moreA += countLines(now.base) - (p.A1 - p.A0)
		moreB += countLines(now.present) - (p.B1 - p.B0)
	}
	until(was.lines(), is.lines(), len(t.edits))
	next := textDiff{base.String(), present.String(), slices.Clip(edits)}
	if next.base == next.present {
		next.base = next.present // stored once
	}
	return next
}

// ruler has the offsets at which the lines of a text begin, and at which it ends.
type ruler []int

func rulerOf(text string) ruler {
	r := make(ruler, 1, 2+strings.Count(text, "\n"))
	for at := 0; at < len(text); {
		n := strings.IndexByte(text[at:], '\n') + 1
		if n == 0 {
			n = len(text) - at
		}
		at += n
		r = append(r, at)
	}
	return r
}

// lines returns how many there are.
func (r ruler) lines() int { return len(r) - 1 }

// cut returns some lines of the text, up to but not including to.
func (r ruler) cut(text string, from, to int) string { return text[r[from]:r[to]] }

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if !whole(text) {
		n++
	}
	return n
}
