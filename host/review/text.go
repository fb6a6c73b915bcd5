package review

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// textDiff is two texts, of which one was made from the other, and the edits between them. What is in no edit is the same
// in both, line by line. Its edits are never changed in place, so a copy of a textDiff stays as it was.
type textDiff struct {
	base, present string
	edits         []linediff.Edit // base to present
}

func newTextDiff(s string) textDiff { return textDiff{base: s, present: s} }

// owner says in which text a line is, and so whose it is.
type owner byte

const (
	both    owner = iota // nobody's change, or the user's
	removed              // in the base alone: the agent has removed it
	added                // in the present text alone: the agent has added it
)

// line is a line of the base, of the present text, or of both.
type line struct {
	owner owner
	text  string
	typed bool // by the user, in the change that is being made
}

// change replaces the present text with one that the agent or the user has made from it. What the user changes also
// changes in the base, except in the agent's lines: what they make of those stays the agent's.
func (t *textDiff) change(now string, agent bool) {
	if now == t.present {
		return
	}
	if t.changeBetween(now, agent) {
		return
	}
	text := linediff.Lines(now)
	t.apply(linediff.Compare(linediff.Lines(t.present), text), text, agent)
}

// changeBetween is change that looks only at the lines that differ, and at the edits they touch. It returns false, and
// does nothing, if other lines matter too.
func (t *textDiff) changeBetween(now string, agent bool) bool {
	start, end := linediff.Ends(t.present, now)
	from := strings.Count(t.present[:start], "\n")
	to := from + len(linediff.Lines(t.present[start:len(t.present)-end]))
	// One more line after them, as a diff may place what is added or removed there.
	if end > 0 {
		to++
	}
	first, last := 0, len(t.edits) // those that are touched
	for first < last && t.edits[first].B1 < from {
		first++
	}
	for first < last && t.edits[last-1].B0 > to {
		last--
	}
	if first < last {
		from, to = min(from, t.edits[first].B0), max(to, t.edits[last-1].B1)
	}
	shift := func(n int) int { // of the lines after n edits, from the present text to the base
		if n == 0 {
			return 0
		}
		return t.edits[n-1].A1 - t.edits[n-1].B1
	}
	base0, base1 := from+shift(first), to+shift(last)
	baseStart, presentStart := lineAt(t.base, base0), lineAt(t.present, from)
	baseEnd, presentEnd := baseStart+lineAt(t.base[baseStart:], base1-base0), presentStart+lineAt(t.present[presentStart:], to-from)

	part := textDiff{base: t.base[baseStart:baseEnd], present: t.present[presentStart:presentEnd]}
	for _, e := range t.edits[first:last] {
		part.edits = append(part.edits, linediff.Edit{A0: e.A0 - base0, A1: e.A1 - base0, B0: e.B0 - from, B1: e.B1 - from})
	}
	was, text := linediff.Lines(part.present), linediff.Lines(now[presentStart:len(now)-(len(t.present)-presentEnd)])
	edits := linediff.Compare(was, text)
	if e := edits[len(edits)-1]; presentEnd < len(t.present) && e.A1 == len(was) && e.B1 == len(text) {
		return false // a diff may place it further down
	}
	part.apply(edits, text, agent)

	list := append([]linediff.Edit(nil), t.edits[:first]...) // nil where there are none
	for _, e := range part.edits {
		list = append(list, linediff.Edit{A0: e.A0 + base0, A1: e.A1 + base0, B0: e.B0 + from, B1: e.B1 + from})
	}
	moreBase := strings.Count(part.base, "\n") - strings.Count(t.base[baseStart:baseEnd], "\n")
	more := strings.Count(now, "\n") - strings.Count(t.present, "\n")
	for _, e := range t.edits[last:] {
		list = append(list, linediff.Edit{A0: e.A0 + moreBase, A1: e.A1 + moreBase, B0: e.B0 + more, B1: e.B1 + more})
	}
	t.edits = slices.Clip(list)
	if part.base != t.base[baseStart:baseEnd] { // otherwise the text stays stored once
		t.base = t.base[:baseStart] + part.base + t.base[baseEnd:]
	}
	t.present = now
	if t.base == t.present {
		t.base = t.present // stored once
	}
	return true
}

// lineAt returns where line n of a text begins, counted from 0, or where the text ends.
func lineAt(text string, n int) int {
	at := 0
	for ; n > 0; n-- {
		next := strings.IndexByte(text[at:], '\n') + 1
		if next == 0 {
			return len(text)
		}
		at += next
	}
	return at
}

// apply is change, given the edits that lead to the lines now.
func (t *textDiff) apply(edits []linediff.Edit, now []string, agent bool) {
	lines := t.lines()
	var out []line
	at := 0      // in lines
	present := 0 // how many lines of the present text are done
	// copyTo copies up to line n of the present text, without what the agent has removed just before it.
	copyTo := func(n int) {
		for present < n {
			out = append(out, lines[at])
			if lines[at].owner != removed {
				present++
			}
			at++
		}
	}
	for _, e := range edits {
		copyTo(e.A0)
		fresh := now[e.B0:e.B1]
		// If the agent has replaced lines, the new ones come before both; if it has only removed some, after them.
		end := at
		for end < len(lines) && lines[end].owner == removed {
			end++
		}
		if end == len(lines) || lines[end].owner == both {
			out = append(out, lines[at:end]...)
			at = end
		}
		if e.A0 == e.A1 {
			out = append(out, owned(fresh, agent)...)
			continue
		}
		var gone []line // of the present text
		from := at
		for present < e.A1 {
			if lines[at].owner != removed {
				gone = append(gone, lines[at])
				present++
			}
			at++
		}
		out = append(out, replaced(lines[from:at], gone, fresh, agent)...)
	}
	out = append(out, lines[at:]...)
	if !agent {
		out = broughtBack(out)
	}
	t.present = strings.Join(now, "")
	t.set(out)
}

// rebase replaces the lines of an edit, or of part of one, in the base; the present text stays.
func (t *textDiff) rebase(part linediff.Edit, fresh []string) {
	var out []line
	base, present := 0, 0
	put := func() {
		for _, s := range fresh {
			out = append(out, line{owner: removed, text: s})
		}
	}
	done := false
	for _, l := range t.lines() {
		if !done && present >= part.B0 && base >= part.A0 {
			put()
			done = true
		}
		inside := base >= part.A0 && base < part.A1 && l.owner != added
		if l.owner != added {
			base++
		}
		if l.owner != removed {
			present++
		}
		switch {
		case inside && l.owner == removed:
			continue
		case inside:
			l.owner = added
		}
		out = append(out, l)
	}
	if !done {
		put()
	}
	t.set(out)
}

func owned(texts []string, agent bool) []line {
	whose := both
	if agent {
		whose = added
	}
	lines := make([]line, len(texts))
	for i, s := range texts {
		lines[i] = line{owner: whose, text: s, typed: !agent}
	}
	return lines
}

// replaced returns lines with those of the present text among them, gone, replaced by texts.
func replaced(lines, gone []line, texts []string, agent bool) []line {
	if agent {
		var out []line
		for _, l := range lines {
			if l.owner != added {
				out = append(out, line{owner: removed, text: l.text})
			}
		}
		return append(out, owned(texts, true)...)
	}
	var out, old []line // old are those that the agent has removed here
	became := versions(gone, texts)
	n, i := 0, 0 // of texts, of gone
	for _, l := range lines {
		if l.owner == removed {
			old = append(old, l)
			continue
		}
		if at := became[i]; at >= 0 {
			out = append(append(out, owned(texts[n:at], false)...), old...)
			l.text, l.typed = texts[at], l.owner == both
			out, old, n = append(out, l), nil, at+1
		}
		i++
	}
	return append(append(out, owned(texts[n:], false)...), old...)
}

// mostPairs bounds how many pairs of lines are compared where the user has replaced lines by more or fewer.
const mostPairs = 1 << 20

// versions returns which of texts the user has made of each line that is gone, -1 if none: what they make of the agent's
// lines stays the agent's, all else is theirs.
func versions(gone []line, texts []string) []int {
	became := make([]int, len(gone))
	for i := range became {
		became[i] = -1
	}
	if len(gone) == len(texts) { // line by line
		for i, l := range gone {
			if l.owner == both || isVersion(l.text, texts[i]) || !notBlank(texts[i]) {
				became[i] = i
			}
		}
		return became
	}
	if len(gone)*len(texts) > mostPairs {
		return became
	}
	joined := func(text string) bool { // with a line of the user's
		return slices.ContainsFunc(gone, func(l line) bool {
			return l.owner == both && notBlank(l.text) && strings.Contains(text, strings.TrimSpace(l.text))
		})
	}
	next := 0
	for i, l := range gone {
		if l.owner != added {
			continue
		}
		at := slices.IndexFunc(texts[next:], func(text string) bool { return isVersion(l.text, text) && !joined(text) })
		if at >= 0 {
			became[i] = next + at
			next = became[i] + 1
		}
	}
	return became
}

// isVersion reports whether the user has made a line from one of the agent's, rather than put another in its place: at the
// beginning and end, three quarters of the shorter one are in both.
func isVersion(was, is string) bool {
	was, is = strings.TrimSpace(was), strings.TrimSpace(is)
	start, end := linediff.Common(was, is)
	return was != "" && is != "" && 4*(start+end) >= 3*min(len(was), len(is))
}

// broughtBack turns lines that the user has typed, and that the agent had removed at this very place, back into those.
func broughtBack(lines []line) []line {
	var out []line
	for at := 0; at < len(lines); {
		if lines[at].owner == both && !lines[at].typed {
			out = append(out, lines[at])
			at++
			continue
		}
		// All that changed there: what is gone, and what is there now.
		var gone, now []line
		var was, is []string
		typed, from := false, at
		for ; at < len(lines) && (lines[at].owner != both || lines[at].typed); at++ {
			l := lines[at]
			if typed = typed || l.typed; l.owner == removed {
				gone, was = append(gone, l), append(was, strings.TrimSuffix(l.text, "\n"))
			} else {
				now, is = append(now, l), append(is, strings.TrimSuffix(l.text, "\n"))
			}
		}
		if !typed || len(gone) == 0 {
			out = append(out, lines[from:at]...)
			continue
		}
		g, n := 0, 0
		same := func(to int) {
			for ; g < to; g, n = g+1, n+1 {
				if !now[n].typed {
					out = append(out, gone[g])
				}
				out = append(out, now[n])
			}
		}
		edits := linediff.Compare(was, is)
		if len(edits) == 1 && edits[0].A1-edits[0].A0 == len(was) && edits[0].B1-edits[0].B0 == len(is) {
			out = append(out, lines[from:at]...) // nothing is back
			continue
		}
		for _, e := range edits {
			same(e.A0)
			out = append(append(out, gone[e.A0:e.A1]...), now[e.B0:e.B1]...)
			g, n = e.A1, e.B1
		}
		same(len(gone))
	}
	return out
}

// lines returns both texts as one list: in each edit the removed lines, then the added ones.
func (t *textDiff) lines() []line {
	old, now := linediff.Lines(t.base), linediff.Lines(t.present)
	out := make([]line, 0, len(old)+len(now))
	i := 0
	for _, e := range t.edits {
		for ; i < e.A0; i++ {
			out = append(out, line{owner: both, text: old[i]})
		}
		for ; i < e.A1; i++ {
			out = append(out, line{owner: removed, text: old[i]})
		}
		for _, s := range now[e.B0:e.B1] {
			out = append(out, line{owner: added, text: s})
		}
	}
	for ; i < len(old); i++ {
		out = append(out, line{owner: both, text: old[i]})
	}
	return out
}

// presentOf returns the present text of a list of both texts' lines.
func presentOf(all []line) string {
	var text strings.Builder
	for _, l := range all {
		if l.owner != removed {
			text.WriteString(l.text)
		}
	}
	return text.String()
}

// set computes the base and the edits from a list of lines: what the agent has put back is not a change.
func (t *textDiff) set(lines []line) {
	last := -1 // the last line of the base
	for i, l := range lines {
		if l.owner != added {
			last = i
		}
	}
	var base strings.Builder
	t.edits = nil
	old, now := 0, 0 // how many lines came before the edit
	var was, is []string
	end := func() {
		for _, e := range linediff.Compare(was, is) {
			t.edits = append(t.edits, linediff.Edit{A0: old + e.A0, A1: old + e.A1, B0: now + e.B0, B1: now + e.B1})
		}
		old, now = old+len(was), now+len(is)
		was, is = nil, nil
	}
	for i, l := range lines {
		s := l.text
		if l.owner != added {
			if i != last && !strings.HasSuffix(s, "\n") {
				s += "\n" // it is no longer the last one
			}
			base.WriteString(s)
		}
		switch {
		case l.owner == removed:
			was = append(was, s)
		case l.owner == added:
			is = append(is, s)
		case s != l.text:
			was, is = append(was, s), append(is, l.text)
		default:
			if len(was)+len(is) > 0 {
				end()
			}
			old, now = old+1, now+1
		}
	}
	end()
	if t.base = base.String(); t.base == t.present {
		t.base = t.present // stored once
	}
	t.edits = slices.Clip(t.edits)
}

// sum distinguishes texts that are not kept.
func sum(s string) string {
	hash := sha256.Sum256([]byte(s))
	return string(hash[:])
}
