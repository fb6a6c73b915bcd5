package reviewui

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewpage"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// This file folds the page, moves on it, and goes from it to the files.

// row returns the row that a message from Lua is about.
func (t *Tab) row(at rpc.At) (reviewpage.Row, bool) {
	return t.page.Row(at.Row, at.Seq)
}

var errPageChanged = errors.New("the review has changed: look at it again")

// rows returns the rows that a message from Lua is about, in present numbers.
func (t *Tab) rows(at rpc.At, last int) (first, end int, err error) {
	first, ok := t.page.RowNow(at.Row, at.Seq)
	end, known := t.page.RowNow(max(at.Row, last), at.Seq)
	if !ok || !known {
		return 0, 0, errPageChanged
	}
	return first, end, nil
}

// isOpen reports whether the page shows the changes of a file.
func (f *file) isOpen() bool {
	if f.fold != nil {
		return *f.fold
	}
	return f.shown.open
}

// Fold opens or closes the file at a row, or all.
func (t *Tab) Fold(m rpc.ReviewFold) {
	how := transcript.Fold(m.Fold)
	r, ok := t.row(m.At)
	for id, f := range t.files.byID {
		open := f.isOpen()
		switch {
		case how == transcript.OpenAll || how == transcript.CloseAll:
			open = how == transcript.OpenAll
		case !ok || r.File != id:
			continue
		case how == transcript.Toggle:
			open = !open
		default:
			open = how == transcript.Open
		}
		f.fold = &open
	}
	t.render()
}

// Next finds a pending hunk, or a file, before or after a row. A closed file is opened for its hunks.
func (t *Tab) Next(m rpc.ReviewNext) {
	at, ok := t.page.RowNow(m.Row, m.Seq)
	hunks, forward := m.Kind == "hunk", m.Forward
	closed := 0 // the file to open
	target := -1
	if ok {
		target, closed = t.find(at, max(1, m.Count), hunks, forward)
	}
	head := target // of the file, in case it is empty when open
	if closed != 0 {
		open := true
		t.files.byID[closed].fold = &open
		t.render()
		target = -1 // not yet on the page
	}
	t.answer(m.Callback, func() (any, bool) {
		for i, r := range t.page.Pending() {
			if r.File == closed && (forward || !t.rendering && !t.page.Dirty()) {
				if target = i; forward {
					break
				}
			}
		}
		row := target
		if closed != 0 && row < 0 {
			row = head
		}
		return rpc.FoundRow{Row: row, Found: row >= 0}, target >= 0
	})
}

// find returns the row of the n-th stop before or after a row, with the file to open for it, if any.
func (t *Tab) find(at, n int, hunks, forward bool) (row, closed int) {
	type stop struct{ row, closed int }
	var stops []stop
	for i, r := range t.page.All() {
		f := t.files.byID[r.File]
		switch {
		case r.Kind != reviewpage.Head:
		case !hunks:
			stops = append(stops, stop{i, 0})
		case f == nil || f.State != review.Pending:
		case len(f.Hunks) == 0:
			stops = append(stops, stop{i, 0}) // there is nothing but the file
		case !f.isOpen():
			stops = append(stops, stop{i, r.File})
		}
	}
	if hunks {
		for i := range t.page.Pending() {
			stops = append(stops, stop{i, 0})
		}
		slices.SortFunc(stops, func(a, b stop) int { return a.row - b.row })
	}
	if !forward {
		slices.Reverse(stops)
	}
	row = -1
	for _, p := range stops {
		if forward && p.row > at || !forward && p.row < at {
			if row, closed = p.row, p.closed; n == 1 || closed != 0 {
				return row, closed
			}
			n--
		}
	}
	return row, closed
}

// Place sends Lua the file and line that a row is about.
func (t *Tab) Place(m rpc.ReviewPlace) {
	var answer rpc.Place
	if r, ok := t.row(m.At); ok && r.File != 0 {
		path, gone := t.pathOf(r.File)
		if path != "" {
			answer = rpc.Place{Path: path, Line: t.lineFor(r), Gone: gone}
		}
	}
	t.config.Editor.Answer(m.Callback, answer, "")
}

func (t *Tab) pathOf(id int) (path string, gone bool) {
	if f := t.files.byID[id]; f != nil {
		return f.Path, !f.Present.Exists
	}
	if at := id - math.MinInt32; at >= 0 && at < len(t.unrecorded) {
		return t.unrecorded[at], false
	}
	for _, c := range t.comments.list {
		if c.ID == -id {
			return c.path, false
		}
	}
	return "", false
}

// lineFor returns the line that a row is about; for the head of a file the first pending hunk's.
func (t *Tab) lineFor(r reviewpage.Row) int {
	f := t.files.byID[r.File]
	if r.Kind != reviewpage.Head || f == nil {
		return r.Line
	}
	for _, h := range f.Hunks {
		if h.State == review.Pending {
			return max(1, h.NewStart)
		}
	}
	return 1
}

// Beside sends Lua the accepted text of the file at a row, to show side by side with the file.
func (t *Tab) Beside(m rpc.ReviewBeside) {
	callback := m.Callback
	r, _ := t.row(m.At)
	f := t.files.byID[r.File]
	if m.Path != "" {
		if f = t.files.at(m.Path); f != nil {
			r = reviewpage.Row{Kind: reviewpage.Head, File: f.ID}
		}
	}
	if f == nil {
		t.config.Editor.Answer(callback, nil, "")
		return
	}
	if f.Accepted.Opaque || f.Present.Opaque {
		t.config.Editor.Answer(callback, nil, t.config.Short(f.Path)+" is not text, or is too large to compare")
		return
	}
	accepted, present := diff.TextLines(f.Accepted.Text), diff.TextLines(f.Present.Text)
	if t.config.TooLarge(max(len(accepted), len(present)), len(f.Hunks)) {
		t.config.Editor.Answer(callback, nil, t.config.Short(f.Path)+" is too large to show side by side")
		return
	}
	t.config.Editor.Answer(callback, rpc.BesideFile{
		Path: f.Path, Name: t.config.Short(f.Path), Line: t.lineFor(r), Gone: !f.Present.Exists,
	}, "")
	var lines []styled.Line
	for _, text := range accepted {
		lines = append(lines, styled.Line{Text: strings.TrimSuffix(text, "\r")})
	}
	if len(lines) == 0 {
		lines = []styled.Line{{}}
	}
	t.config.Fill(m.Buf, lines)
}
