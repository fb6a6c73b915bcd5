package diff

// Run is a run of lines that are replaced by others, with no unchanged line in between.
type Run struct {
	OldAt, NewAt int // numbers of its first lines, from 1; or of the lines that follow, if a side has none
	Old, New     []Line
}

// Runs returns the runs of changed lines in hunks.
func Runs(hunks []Hunk) []Run {
	var runs []Run
	for _, h := range hunks {
		oldAt, newAt, open := h.OldStart, h.NewStart, false
		for _, l := range h.Lines {
			if l.Kind == Equal {
				oldAt, newAt, open = oldAt+1, newAt+1, false
				continue
			}
			if !open {
				runs = append(runs, Run{OldAt: oldAt, NewAt: newAt})
				open = true
			}
			r := &runs[len(runs)-1]
			if l.Kind == Delete {
				r.Old = append(r.Old, l)
				oldAt++
			} else {
				r.New = append(r.New, l)
				newAt++
			}
		}
	}
	return runs
}

// Parts returns what the user can accept or refuse separately in a change: its runs or, for a change without lines such
// as of a binary file or a move, the whole as one empty run.
func (f *FileDiff) Parts() []Run {
	runs := Runs(f.Hunks)
	if len(runs) == 0 && f.Note != nothingChanges {
		return make([]Run, 1)
	}
	return runs
}

// WholeHunk returns a located change as one hunk with all lines of the file.
func (f *FileDiff) WholeHunk() Hunk {
	oldLines := TextLines(f.Old)
	whole := Hunk{OldStart: 1, NewStart: 1}
	old, number := 1, 1
	equal := func(end int) {
		for ; old < end; old, number = old+1, number+1 {
			whole.Lines = append(whole.Lines, Line{Text: oldLines[old-1], Old: old, New: number})
		}
	}
	for _, h := range f.Hunks {
		equal(h.OldStart)
		for _, l := range h.Lines {
			if l.Kind != Insert {
				old++
			}
			if l.Kind != Delete {
				number++
			}
		}
		whole.Lines = append(whole.Lines, h.Lines...)
	}
	equal(len(oldLines) + 1)
	return whole
}
