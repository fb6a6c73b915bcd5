package review

import "github.com/acp-nvim/acp-nvim/buffers/linediff"

// Written selects the part of what is pending that one change by the agent made: the lines it added and removed, but no
// other pending line next to them. The change was from the text was to the present one, and before is the file right
// before it, the zero value if the record had none.
func (f File) Written(before File, was string) (which Selection) {
	if f.text == nil {
		return which
	}
	gone := map[int]bool{} // lines of the accepted text
	came := map[int]bool{} // lines of the present one
	for _, e := range linediff.Compare(linediff.Lines(was), linediff.Lines(f.text.present())) {
		for at := e.A0; at < e.A1; at++ {
			switch {
			case before.text == nil:
				gone[at] = true
			case !before.text.isPending(at):
				gone[back(before.text.pending.edits, at, true)] = true
			}
		}
		for at := e.B0; at < e.B1; at++ {
			came[at] = true
		}
	}
	for _, e := range f.text.pending.edits {
		which.Parts = append(which.Parts, partsOf(e, func(at int) bool { return gone[at] }, func(at int) bool { return came[at] })...)
	}
	return which
}

// Same is what is pending in a file that does the same as an edit of another of its texts.
type Same struct {
	Edit  linediff.Edit
	Parts []linediff.Edit // for a Selection
	All   bool            // they have all lines of the edit
}

// Like returns what is pending that does what was done to another text of the file, from was to is, edit by edit: it removes
// and adds the same lines, or those of which the user has made others there.
func (f File) Like(was, is string) []Same {
	if f.text == nil {
		return nil
	}
	old, now := linediff.Lines(was), linediff.Lines(is)
	var list []Same
	removes, adds := map[int]int{}, map[int]int{} // by the line of was or is: which edit, from 1
	for _, e := range linediff.Compare(old, now) {
		list = append(list, Same{Edit: e})
		for at := e.A0; at < e.A1; at++ {
			removes[at] = len(list)
		}
		for at := e.B0; at < e.B1; at++ {
			adds[at] = len(list)
		}
	}
	gone, came := map[int]int{}, map[int]int{} // the same by the line of the accepted text, and of the present one
	for at, in := range madeOf(linediff.Lines(f.text.accepted()), old) {
		gone[at] = removes[in]
	}
	for at, in := range madeOf(linediff.Lines(f.text.present()), now) {
		came[at] = adds[in]
	}
	for _, e := range f.text.pending.edits {
		in := map[int]bool{}
		for at := e.A0; at < e.A1; at++ {
			in[gone[at]] = true
		}
		for at := e.B0; at < e.B1; at++ {
			in[came[at]] = true
		}
		delete(in, 0)
		for n := range in {
			parts := partsOf(e, func(at int) bool { return gone[at] == n }, func(at int) bool { return came[at] == n })
			list[n-1].Parts = append(list[n-1].Parts, parts...)
		}
	}
	for i, s := range list {
		list[i].All = sizeOf(s.Parts) == sizeOf([]linediff.Edit{s.Edit})
	}
	return list
}

// madeOf returns which of the lines now the user has made of each of the lines old, if any.
func madeOf(old, now []string) map[int]int {
	in := map[int]int{}
	a, b := 0, 0
	same := func(to int) {
		for ; a < to; a, b = a+1, b+1 {
			in[a] = b
		}
	}
	for _, e := range linediff.Compare(old, now) {
		same(e.A0)
		for i, at := range versions(owned(old[e.A0:e.A1], true), now[e.B0:e.B1]) {
			if at >= 0 {
				in[e.A0+i] = e.B0 + at
			}
		}
		a, b = e.A1, e.B1
	}
	same(len(old))
	return in
}

// partsOf returns the parts of an edit that have just these of the lines it removes and adds, the last one first.
func partsOf(e linediff.Edit, gone, came func(line int) bool) (parts []linediff.Edit) {
	removed, added := runs(e.A0, e.A1, gone), runs(e.B0, e.B1, came)
	below := e.A1
	for len(removed)+len(added) > 0 { // the last ones first: what is new is below what it replaces
		part := linediff.Edit{A0: below, A1: below, B0: e.B0, B1: e.B0}
		if last := len(added) - 1; last >= 0 {
			part.B0, part.B1 = added[last].from, added[last].to
			added = added[:last]
			if part.B0 == e.B0 && part.B1 < e.B1 {
				part.A0, part.A1 = e.A0, e.A0 // right above the other new lines
			}
		}
		if last := len(removed) - 1; last >= 0 {
			part.A0, part.A1 = removed[last].from, removed[last].to
			removed = removed[:last]
		}
		below = part.A0
		parts = append(parts, part)
	}
	return parts
}

// runs returns the runs of lines in [from, to) that are all in a set.
func runs(from, to int, in func(line int) bool) (list []place) {
	for at := from; at < to; at++ {
		switch last := len(list) - 1; {
		case !in(at):
		case last >= 0 && list[last].to == at:
			list[last].to++
		default:
			list = append(list, place{at, at + 1})
		}
	}
	return list
}
