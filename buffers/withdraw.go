package buffers

import (
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// Withdraw undoes somebody's change from before to after in now, which is what the user has since made of after. It
// works by lines: added lines go, even if the user put lines between them; removed lines come back; the user's lines
// stay. If the user replaced all of the added lines of a place, it stays as it is: conflicts are such lines of the
// result, counted from 1.
func Withdraw(after, now, before string) (text string, conflicts []int) {
	switch {
	case now == after:
		return before, nil
	case after == before:
		return now, nil
	}
	old, mine, wanted := linediff.Lines(Lined(after)), linediff.Lines(Lined(now)), linediff.Lines(Lined(before))
	users, wishes := linediff.Compare(old, mine), linediff.Compare(old, wanted)
	var (
		gone     = make([]bool, len(old)+1)
		replaced = make([]bool, len(old)+1) // by the user
		left     = make([]bool, len(old)+1) // because the user replaced all of it
		typed    = map[int]linediff.Edit{}  // by the line it comes before
		restored = map[int]linediff.Edit{}
	)
	mark := func(lines []bool, e linediff.Edit) {
		for i := e.A0; i < e.A1; i++ {
			lines[i] = true
		}
	}
	for _, u := range users {
		typed[u.A0] = u
		mark(gone, u)
		if u.B0 < u.B1 {
			mark(replaced, u)
		}
	}
	for _, e := range wishes {
		switch u := typed[e.A0]; {
		case !slices.Contains(replaced[e.A0:e.A1], true) || slices.Contains(gone[e.A0:e.A1], false):
			restored[e.A0] = e
			mark(gone, e)
		case u.A1 != e.A1 || !slices.Equal(mine[u.B0:u.B1], wanted[e.B0:e.B1]): // otherwise the user has undone it
			mark(left, e)
		}
	}
	var out []string
	put := func(u linediff.Edit) []string {
		if slices.Contains(left[u.A0:u.A1], true) {
			conflicts = append(conflicts, len(out)+1)
		}
		return mine[u.B0:u.B1]
	}
	from, until := 0, -1 // the lines of out that are of the user's last edit, and where that ends
	for at := 0; at <= len(old); at++ {
		u, edited := typed[at]
		if edited {
			from, until = len(out), u.A1
		}
		lines := put(u)
		if e, comes := restored[at]; comes {
			above := len(lines)
			switch {
			case e.A0 < e.A1:
			case until == at && !edited: // they may be back below what the user has put in the place of the line above
				lines, out = slices.Clone(out[from:]), out[:from]
				above = len(lines)
			default: // lines were only removed there: what is typed goes below them, as in the record
				above = 0
			}
			for at < e.A1 {
				at++
				lines = append(slices.Clip(lines), put(typed[at])...)
			}
			lines = joined(lines, above, wanted[e.B0:e.B1])
		}
		out = append(out, lines...)
		if at < len(old) && !gone[at] {
			out = append(out, old[at])
		}
	}
	text = strings.Join(out, "")
	last := before
	if ended(now) != ended(after) {
		last = now
	}
	if !ended(last) {
		text = strings.TrimSuffix(text, "\n")
	}
	return text, conflicts
}

// joined returns the lines of both lists, common ones once; above is how many of mine are above what comes back.
func joined(mine []string, above int, back []string) (out []string) {
	at := 0 // in mine
	for _, e := range linediff.Compare(mine, back) {
		split := min(max(above, e.A0), e.A1)
		out = slices.Concat(out, mine[at:split], back[e.B0:e.B1], mine[split:e.A1])
		at = e.A1
	}
	return append(out, mine[at:]...)
}

// ended reports whether the last line of a text has its newline.
func ended(text string) bool { return text == "" || strings.HasSuffix(text, "\n") }

// WithdrawUnder undoes a change, like [Withdraw], in what the disk has under a buffer with unsaved text, mine, as far
// as the buffer has not taken the change because it conflicts with that text. What the buffer has of it stays.
func WithdrawUnder(mine, after, disk, before string) string {
	text, _ := Withdraw(after, disk, before)
	had, wanted, shown := linediff.Lines(Lined(disk)), linediff.Lines(Lined(text)), linediff.Lines(Lined(mine))
	hadAt, wantedAt := rowsOf(had, shown), rowsOf(wanted, shown)
	inBuffer := func(row int) bool { return row >= 0 }
	var out []string
	at, moved := 0, 0
	for _, c := range hunksOf(had, wanted) {
		out = append(out, had[at:c.Start]...)
		there, instead := hadAt[c.Start:c.End], wantedAt[c.Start+moved:c.Start+moved+len(c.Lines)]
		if slices.ContainsFunc(instead, inBuffer) || slices.ContainsFunc(there, func(row int) bool { return row < 0 }) {
			out = append(out, c.Lines...)
		} else {
			out = append(out, had[c.Start:c.End]...)
		}
		at, moved = c.End, moved+len(c.Lines)-(c.End-c.Start)
	}
	kept := strings.Join(append(out, had[at:]...), "")
	if !ended(text) {
		kept = strings.TrimSuffix(kept, "\n")
	}
	return kept
}
