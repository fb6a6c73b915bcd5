package review

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// layers are the texts of one file: the baseline, of which the user's decisions make the accepted text, of which the
// agent's pending changes make the present one. A text of its own keeps what was refused, so that an undo of the
// refusal is recognized. What the user types is in all of them.
type layers struct {
	kept    textDiff // from the baseline to the accepted text
	pending textDiff // from the accepted text to the present one
	refused textDiff // from the accepted text plus all that was refused to the accepted text
	made    []string // refusals as they were made, see remember; never changed in place
}

// maxTried bounds how many changes are tried one by one after an edit by the user, which may undo one of them.
const maxTried = 32

func newLayers(text string) layers {
	p := newTextDiff(text)
	return layers{kept: p, pending: p, refused: p}
}

func (l *layers) baseline() string { return l.kept.base }
func (l *layers) accepted() string { return l.pending.base }
func (l *layers) present() string  { return l.pending.present }

// agents returns the lines of the present text that the agent has added, kept or not.
func (l *layers) agents() string {
	var text strings.Builder
	kept := layers{pending: l.kept}
	for i, line := range linediff.Lines(l.present()) {
		if l.isPending(i) || kept.isPending(back(l.pending.edits, i, true)) {
			text.WriteString(line)
		}
	}
	return text.String()
}

// agent replaces the present text with one by the agent.
func (l *layers) agent(now string) {
	l.pending.change(now, true)
	l.rebase(false)
	// What was refused there is out of date.
	var old []linediff.Edit
	var places []place
	for _, e := range slices.Backward(l.refused.edits) {
		if l.pendingAt(e.B0, e.B1) {
			old, places = append(old, e), append(places, place{e.B0, e.B1})
		}
	}
	l.each(places, func(s *stretch, i int) bool {
		e := s.refusedEdit(old[i])
		s.refused.rebase(e, s.acceptedLines(e.B0, e.B1))
		return true
	})
}

// pendingAt reports whether something pending meets lines of the accepted text.
func (l *layers) pendingAt(from, to int) bool {
	list := l.pending.edits
	// Those before it end before from; of the others only the first two can meet it, if the first only touches it.
	first := sort.Search(len(list), func(i int) bool { return list[i].A1 >= from })
	for _, e := range list[first:min(first+2, len(list))] {
		if meet(e.A0, e.A1, from, to) {
			return true
		}
	}
	return false
}

// user replaces the present text with one by the user, who may have undone a change or its refusal.
func (l *layers) user(now string) {
	if now == l.present() {
		return
	}
	l.recognize(now, true)
	again := l.againAbove(now)
	l.pending.change(now, false)
	l.rebase(false)
	for _, lines := range slices.Backward(again) {
		list := l.pending.edits
		i := sort.Search(len(list), func(i int) bool { return list[i].B1 >= lines.from })
		if i < len(list) && list[i].B0 == list[i].B1 && list[i].B0 == lines.from && lines.below <= list[i].A1-list[i].A0 {
			below := list[i]
			below.A0 = below.A1 - lines.below
			l.lower(below, lines.n)
		}
	}
}

// putBack are lines, n of them, that the user brings back though their removal was kept: those of the present text from
// one on. The next lines of the accepted text, of which there are below, are removed too, and pending.
type putBack struct{ from, n, below int }

// againAbove returns the lines that come back with now above others that are removed, where they were.
func (l *layers) againAbove(now string) (again []putBack) {
	type beside struct {
		pending linediff.Edit
		kept    []linediff.Edit // above its end
	}
	removals := map[int]beside{} // by the line of the present text
	for _, p := range l.pending.edits {
		list := l.kept.edits
		i := sort.Search(len(list), func(i int) bool { return list[i].B0 >= p.A0 })
		var kept []linediff.Edit
		for ; p.B0 == p.B1 && i < len(list) && list[i].B1 < p.A1; i++ {
			if list[i].B0 == list[i].B1 {
				kept = append(kept, list[i])
			}
		}
		if len(kept) > 0 {
			removals[p.B0] = beside{p, kept}
		}
	}
	if len(removals) == 0 {
		return nil
	}
	text := linediff.Lines(now)
	for _, e := range linediff.Compare(linediff.Lines(l.present()), text) {
		r := removals[e.A0]
		back := putBack{from: e.B0}
		for _, k := range r.kept {
			if n := amongFirst(text[e.B0:e.B1], lines(l.baseline(), k.A0, k.A1)); n > back.n {
				back.n, back.below = n, r.pending.A1-k.B0
			}
		}
		if back.n > 0 {
			again = append(again, back)
		}
	}
	return again
}

// mostMade is how many refusals are remembered as they were when made.
const mostMade = 10_000

// remember records a refusal as it is when made.
func (l *layers) remember(e linediff.Edit) {
	made := refusal(strings.Join(l.acceptedLines(e.B0, e.B1), ""), strings.Join(lines(l.refused.base, e.A0, e.A1), ""))
	l.made = append(slices.Clip(l.made), made)
}

// asMade returns a function that reports whether the lines that stay with a refusal are still those it was made
// about. If the user has changed them since, taking them out does not undo it.
func (l *layers) asMade() func(linediff.Edit) bool {
	made := map[string]bool{}
	for _, m := range l.made {
		made[m] = true
	}
	accepted, refused := rulerOf(l.accepted()), rulerOf(l.refused.base)
	return func(e linediff.Edit) bool {
		return e.B0 == e.B1 || made[refusal(accepted.cut(l.accepted(), e.B0, e.B1), refused.cut(l.refused.base, e.A0, e.A1))]
	}
}

// refusal identifies a refusal by what was refused and what stays.
func refusal(stays, refused string) string { return sum(sum(stays) + refused) }

// retraction is what taking changes back does to lines.
type retraction struct {
	gone  map[int]bool // lines of the accepted text
	fresh []string     // lines of the present text that were not there
}

// retraction returns what replacing the present text with now takes back.
func (l *layers) retraction(now string) retraction {
	r := retraction{gone: map[int]bool{}}
	text := linediff.Lines(now)
	for _, e := range linediff.Compare(linediff.Lines(l.present()), text) {
		r.fresh = append(r.fresh, text[e.B0:e.B1]...)
		for at := e.A0; at < e.A1; at++ {
			if !l.isPending(at) {
				r.gone[back(l.pending.edits, at, true)] = true
			}
		}
	}
	return r
}

// mostBetween is how many lines may stand between where lines were removed and where they are again, see standsAgain.
const mostBetween = 32

// standsAgain has what was removed stand where it is again in a text. The user may have typed right there: whether above or
// below it nobody says, until it is back.
func (l *layers) standsAgain(now string) {
	text := linediff.Lines(now)
	for _, e := range slices.Backward(linediff.Compare(linediff.Lines(l.present()), text)) {
		list := l.pending.edits
		i := sort.Search(len(list), func(i int) bool { return list[i].B1 >= e.A0 })
		if i == 0 || i < len(list) && list[i].B0 <= e.A0 { // something is pending at that very place
			continue
		}
		if gone := list[i-1]; gone.B0 == gone.B1 && e.A0-gone.B1 <= mostBetween && l.was(gone.A0, gone.A1, text[e.B0:e.B1]) {
			l.lower(gone, e.A0-gone.B1)
		}
	}
}

// was reports whether lines of the accepted text had a text in the baseline.
func (l *layers) was(from, to int, text []string) bool {
	return slices.Equal(lines(l.baseline(), back(l.kept.edits, from, true), back(l.kept.edits, to, true)), text)
}

// lower has what was removed by a pending edit stand below the next n lines of the present text, as if the user had taken
// those out and put them in again above it.
func (l *layers) lower(gone linediff.Edit, n int) {
	all := l.pending.lines()
	from := gone.A0 // in all
	for _, e := range l.pending.edits {
		if e.B1 < gone.B0 {
			from += e.B1 - e.B0
		}
	}
	to := from + gone.A1 - gone.A0
	set := func(between []line) {
		all := slices.Concat(all[:from], between, all[from:to], all[to+n:])
		l.pending.present = presentOf(all)
		l.pending.set(all)
		l.rebase(false)
	}
	set(nil)
	set(all[to : to+n])
}

// isPending reports whether a pending change has added a line of the present text.
func (l *layers) isPending(line int) bool {
	list := l.pending.edits
	i := sort.Search(len(list), func(i int) bool { return list[i].B1 > line })
	return i < len(list) && list[i].B0 <= line
}

// unkeep makes what was kept, and has been taken back since, not kept: that the baseline is back is not a change by the
// agent. If some lines of a replacement are taken back, all of them are pending again.
func (l *layers) unkeep(r retraction) {
	type taken struct {
		linediff.Edit
		gone  []int // its lines, the last one first
		whole bool
	}
	var list []taken
	var places []place
	fresh := map[string]bool{}
	for _, text := range r.fresh {
		fresh[text] = true
	}
	baseline := rulerOf(l.baseline())
	for _, e := range slices.Backward(l.kept.edits) {
		t := taken{Edit: e}
		for at := e.B1 - 1; at >= e.B0; at-- {
			if r.gone[at] {
				t.gone = append(t.gone, at)
			}
		}
		n, old := len(t.gone), linediff.Lines(baseline.cut(l.baseline(), e.A0, e.A1))
		again := func() bool {
			return !slices.ContainsFunc(old, func(text string) bool { return !fresh[text] }) && among(old, r.fresh)
		}
		if t.whole = n > 0 && n == e.B1-e.B0 || len(old) > 0 && (n > 0 || again()); t.whole || n > 0 {
			list, places = append(list, t), append(places, place{e.B0, e.B1})
		}
	}
	l.each(places, func(s *stretch, i int) bool {
		if t := list[i]; t.whole {
			kept := s.keptEdit(t.Edit)
			if parts := s.takenBack(kept, t.gone); parts != nil {
				s.layers.all(parts, (*layers).keep)
			} else {
				s.reopen(kept)
			}
			return true
		}
		for _, at := range list[i].gone {
			at -= s.accepted0()
			there := forth(s.pending.edits, at, true)
			s.pending.rebase(linediff.Edit{A0: at, A1: at + 1, B0: there, B1: there}, nil)
			s.rebase(true)
		}
		return true
	})
}

// takenBack returns the parts that are pending where some lines of a kept edit, counted in the file, were taken back, or
// none but its removal of others, provided that this only brought lines of the baseline back: the remainder of the edit
// stays kept. Otherwise it returns nil.
func (s *stretch) takenBack(kept linediff.Edit, gone []int) (parts []linediff.Edit) {
	if len(gone) == kept.B1-kept.B0 {
		return nil
	}
	left := map[int]bool{}
	for _, at := range gone {
		left[at-s.accepted0()] = true
	}
	old := lines(s.baseline(), kept.A0, kept.A1)
	for _, e := range s.pending.edits {
		adds := e.A0 == e.A1
		if adds != (len(gone) == 0) || e.A0 < kept.B0 || e.A1 > kept.B1 || !adds && !left[e.A0] {
			continue
		}
		for at := e.A0; at < e.A1; at++ {
			if !left[at] {
				return nil
			}
			delete(left, at)
		}
		fresh := lines(s.present(), e.B0, e.B1)
		if len(fresh) == 0 || !among(fresh, old) {
			return nil
		}
		parts = append(parts, e)
	}
	if len(left) > 0 {
		return nil
	}
	return parts
}

// rebase gives the other pairs the accepted text, which the user, or with kept a decision, has changed.
func (l *layers) rebase(kept bool) {
	l.kept.change(l.pending.base, kept)
	l.refused.change(l.pending.base, false)
}

// keep accepts a part of a pending edit.
func (l *layers) keep(part linediff.Edit) {
	l.pending.rebase(part, lines(l.present(), part.B0, part.B1))
	l.rebase(true)
}

// reopen makes a kept edit pending again, and returns it.
func (l *layers) reopen(kept linediff.Edit) (part linediff.Edit) {
	at := linediff.Edit{A0: kept.B0, A1: kept.B1, B0: forth(l.pending.edits, kept.B0, true), B1: forth(l.pending.edits, kept.B1, false)}
	at.B1 = max(at.B0, at.B1)
	l.pending.rebase(at, lines(l.baseline(), kept.A0, kept.A1))
	l.rebase(true)
	return linediff.Edit{A0: at.A0, A1: at.A0 + kept.A1 - kept.A0, B0: at.B0, B1: at.B1}
}

// refuse takes a part of a pending edit out of the present text.
func (l *layers) refuse(part linediff.Edit) {
	fresh, gone := l.acceptedLines(part.A0, part.A1), lines(l.present(), part.B0, part.B1)
	l.pending.replace(part.B0, part.B1, fresh, true)
	l.rebase(false)
	// What was refused there before is forgotten.
	at := linediff.Edit{B0: part.A0, B1: part.A1}
	for _, e := range l.refused.edits {
		if meet(e.B0, e.B1, part.A0, part.A1) {
			at.B0, at.B1 = min(at.B0, e.B0), max(at.B1, e.B1)
		}
	}
	at.A0, at.A1 = back(l.refused.edits, at.B0, false), back(l.refused.edits, at.B1, true)
	at.A1 = max(at.A0, at.A1)
	l.refused.rebase(at, slices.Concat(l.acceptedLines(at.B0, part.A0), gone, l.acceptedLines(part.A1, at.B1)))
	for _, e := range l.refused.edits {
		if e.B0 <= at.B1 && e.B1 >= at.B0 {
			l.remember(e)
		}
	}
}

// bring puts a refused edit back as a pending one, and returns it; ok is false if other changes are in its place.
func (l *layers) bring(refused linediff.Edit) (part linediff.Edit, ok bool) {
	for _, e := range l.pending.edits {
		if meet(e.A0, e.A1, refused.B0, refused.B1) {
			return part, false
		}
	}
	from, to := forth(l.pending.edits, refused.B0, true), forth(l.pending.edits, refused.B1, false)
	to = max(from, to)
	fresh := lines(l.refused.base, refused.A0, refused.A1)
	l.refused.rebase(refused, l.acceptedLines(refused.B0, refused.B1))
	l.pending.replace(from, to, fresh, true)
	l.rebase(false)
	return linediff.Edit{A0: refused.B0, A1: refused.B1, B0: from, B1: from + len(fresh)}, true
}

// recognize finds in an edit by the user the undo of a refusal or, with undone, of a change by the agent, which is a
// refusal too. It applies these, so that the difference between the present text and now shrinks by just that.
func (l *layers) recognize(now string, undone bool) {
	if len(l.refused.edits) == 0 && (len(l.pending.edits) == 0 || !undone) {
		return
	}
	text := linediff.Lines(now)
	left := linediff.Compare(linediff.Lines(l.present()), text)
	size := sizeOf(left)
	// try has changes of n lines undone, where that leaves an edit that does not touch their place, from, to
	// to of the present text then, or where lines come back only adds to it.
	try := func(n, from, to int, back []string, do func(*layers) bool) {
		trial := *l
		if n == 0 || n > size || !do(&trial) {
			return
		}
		rest := linediff.Compare(linediff.Lines(trial.present()), text)
		if sizeOf(rest) != size-n || slices.ContainsFunc(rest, func(e linediff.Edit) bool {
			return e.A0 <= to && e.A1 >= from && (e.A0 < e.A1 || !slices.ContainsFunc(back, notBlank))
		}) {
			return
		}
		*l, left, size = trial, rest, size-n
	}
	near := func(e linediff.Edit, from, to int) bool {
		room := e.A1 - e.A0 + e.B1 - e.B0
		i := sort.Search(len(left), func(i int) bool { return left[i].A1 >= from-room })
		return i < len(left) && left[i].A0 <= to+room
	}
	refused := func(l *layers) (list []linediff.Edit) {
		made := l.asMade()
		for _, e := range slices.Backward(l.refused.edits) {
			if near(e, forth(l.pending.edits, e.B0, true), forth(l.pending.edits, e.B1, false)) && made(e) {
				list = append(list, e)
			}
		}
		return list
	}
	pending := func(l *layers) (list []linediff.Edit) {
		if !undone {
			return nil
		}
		for _, e := range slices.Backward(l.pending.edits) {
			if near(e, e.B0, e.B1) {
				list = append(list, e)
			}
		}
		return list
	}
	refuse := func(l *layers, parts []linediff.Edit) bool {
		l.all(parts, (*layers).refuse)
		return true
	}
	// All at once first, as when the user undoes the refusal of a file.
	if all := refused(l); len(all) > 1 {
		try(sizeOf(all), 0, math.MaxInt, nil, func(trial *layers) bool { return trial.bringAll(all) })
	}
	if all := pending(l); len(all) > 1 {
		try(sizeOf(all), 0, math.MaxInt, nil, func(trial *layers) bool { return refuse(trial, all) })
	}
	// The last one first: those before it stay where they are.
	for _, e := range first(refused(l), maxTried) {
		from := forth(l.pending.edits, e.B0, true)
		try(sizeOf([]linediff.Edit{e}), from, from+e.A1-e.A0, lines(l.refused.base, e.A0, e.A1), func(trial *layers) bool { return trial.bringAll([]linediff.Edit{e}) })
	}
	for _, e := range first(pending(l), maxTried) {
		try(sizeOf([]linediff.Edit{e}), e.B0, e.B0+e.A1-e.A0, l.acceptedLines(e.A0, e.A1), func(trial *layers) bool { return refuse(trial, []linediff.Edit{e}) })
	}
	l.recognizeAdjacent(text, left, refused)
}

// recognizeAdjacent undoes one of several adjacent refusals if its lines have come back: left is what leads from the
// present text to text, and refused returns the refusals near to that.
func (l *layers) recognizeAdjacent(text []string, left []linediff.Edit, refused func(*layers) []linediff.Edit) {
	made := refused(l)
	for _, u := range slices.Backward(left) {
		fresh := text[u.B0:u.B1]
		if len(fresh) == 0 {
			continue
		}
		var gone []string
		for _, e := range made {
			from, to := forth(l.pending.edits, e.B0, true), forth(l.pending.edits, e.B1, false)
			if u.A0 < from || u.A1 > to {
				continue
			}
			if gone == nil {
				gone = lines(l.present(), u.A0, u.A1)
			}
			if among(fresh, lines(l.refused.base, e.A0, e.A1)) && among(gone, l.acceptedLines(e.B0, e.B1)) {
				l.pending.replace(u.A0, u.A1, fresh, true)
				l.rebase(false)
				l.refused.rebase(e, l.acceptedLines(e.B0, e.B1))
				made = refused(l)
				break
			}
		}
	}
}

// bringAll is bring for several edits, the last one first; it returns false if nothing was done.
func (l *layers) bringAll(refused []linediff.Edit) bool {
	places := make([]place, len(refused))
	for i, e := range refused {
		places[i] = place{e.B0, e.B1}
	}
	return l.each(places, func(s *stretch, i int) bool {
		_, ok := s.bring(s.refusedEdit(refused[i]))
		return ok
	})
}

// all calls do for several parts of pending edits, the last one first.
func (l *layers) all(parts []linediff.Edit, do func(*layers, linediff.Edit)) {
	places := make([]place, len(parts))
	for i, e := range parts {
		places[i] = place{e.A0, e.A1}
	}
	l.each(places, func(s *stretch, i int) bool {
		do(&s.layers, s.pendingEdit(parts[i]))
		return true
	})
}

// notBlank reports whether a line is not blank.
func notBlank(line string) bool { return strings.TrimSpace(line) != "" }

// among reports whether lines are some of others, in their order.
func among(some, all []string) bool { return amongFirst(some, all) == len(some) }

// amongFirst returns how many lines, from the first on, are some of others, in their order.
func amongFirst(some, all []string) (n int) {
	for _, s := range all {
		if n < len(some) && some[n] == s {
			n++
		}
	}
	return n
}

func first[T any](list []T, n int) []T { return list[:min(len(list), n)] }

func (l *layers) acceptedLines(from, to int) []string { return lines(l.accepted(), from, to) }

// replace replaces the lines from to to of the present text.
func (t *textDiff) replace(from, to int, fresh []string, agent bool) {
	now := ended(slices.Concat(lines(t.present, 0, from), fresh, lines(t.present, to, -1)))
	if whole(t.present) && whole(t.base) && (len(now) == 0 || whole(now[len(now)-1])) {
		t.apply([]linediff.Edit{{A0: from, A1: to, B0: from, B1: from + len(fresh)}}, now, agent)
	} else {
		t.change(strings.Join(now, ""), agent)
	}
}

// whole reports whether the last line of a text has its newline.
func whole(text string) bool { return text == "" || strings.HasSuffix(text, "\n") }

// ended makes all lines but the last end with a newline.
func ended(lines []string) []string {
	for i, s := range lines[:max(len(lines)-1, 0)] {
		if !strings.HasSuffix(s, "\n") {
			lines[i] = s + "\n"
		}
	}
	return lines
}

// lines returns the lines of a text from one, counted from 0, up to but not including another; -1 is the end.
func lines(text string, from, to int) []string {
	if from == to {
		return nil
	}
	text = text[lineAt(text, from):]
	if to >= 0 {
		text = text[:lineAt(text, to-from)]
	}
	return linediff.Lines(text)
}

// back returns where a line of the present text, counted from 0, is in the base. With end, that is before what was
// removed or added just before the line.
func back(edits []linediff.Edit, line int, end bool) int {
	n := sort.Search(len(edits), func(i int) bool {
		e := edits[i]
		return e.B1 > line || e.B1 == line && !end && e.B0 == e.B1
	})
	if n == 0 {
		return line
	}
	return line + edits[n-1].A1 - edits[n-1].B1
}

// forth returns where a line of the base is in the present text; with begin, after what was added just before it.
func forth(edits []linediff.Edit, line int, begin bool) int {
	n := sort.Search(len(edits), func(i int) bool {
		e := edits[i]
		return e.A1 > line || e.A1 == line && !begin && e.A0 == e.A1
	})
	if n == 0 {
		return line
	}
	return line + edits[n-1].B1 - edits[n-1].A1
}

// meet reports whether two ranges of lines have some in common, or are empty at the same place, or one is empty within
// the other.
func meet(a0, a1, b0, b1 int) bool {
	if a0 == a1 && b0 == b1 {
		return a0 == b0
	}
	return a0 < b1 && b0 < a1
}

// sizeOf returns how many lines edits remove and add.
func sizeOf(edits []linediff.Edit) int {
	n := 0
	for _, e := range edits {
		n += e.A1 - e.A0 + e.B1 - e.B0
	}
	return n
}
