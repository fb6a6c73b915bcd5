package host

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewpage"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// decided is a decision made on the page, which can be undone there. The ledger's goroutine appends to it
// while it is made.
type decided struct{ plans *[]review.Plan }

// picked is what of a change is meant: all of it, or some of its lines.
type picked struct {
	review.Change
	whole      bool
	old, new   [2]int // its old and new lines, from and to
	oldN, newN int
}

// decide makes a decision about what rows of the page show: the hunk of one, or with several the very lines;
// all of a file at its head, and of all files at the page's.
func (t *reviewTab) decide(m rpc.ReviewDecide) {
	do := review.Decision(m.Do)
	first, ok := t.page.Follow(m.Row, m.Seq)
	last, known := t.page.Follow(max(m.Row, m.Last), m.Seq)
	if !ok || !known {
		t.session.base.Editor.Notify("warning", "the review has changed: look at it again")
		return
	}
	if m.Lines {
		t.decideLines(do, first, last)
		return
	}
	r, _ := t.page.Row(first, t.page.Seq())
	f := t.files[r.File]
	switch {
	case r.Kind == reviewpage.Title && !t.pending():
		t.session.base.Editor.Notify("info", "all is decided")
	case r.Kind == reviewpage.Title:
		t.make(map[string]ledger.Decision{"": {Do: do}})
		t.session.base.Editor.Notify("info", map[review.Decision]string{review.Keep: "all is kept", review.Reject: "all is refused"}[do]+": u takes that back")
	case r.Kind == reviewpage.Head && f != nil:
		t.make(map[string]ledger.Decision{f.Path: fileDecision(do, f.File)})
	case r.Kind == reviewpage.Text && r.Change >= 0 && f != nil:
		c := f.Changes()[r.Change]
		t.make(map[string]ledger.Decision{f.Path: {Do: do, Path: f.Path, Which: selecting(f.File, []picked{{Change: c, whole: true}})}})
	default:
		t.session.base.Editor.Notify("info", "there is nothing to decide on this line")
	}
}

func (t *reviewTab) pending() bool {
	for _, f := range t.files {
		if f.State == review.Pending {
			return true
		}
	}
	return false
}

// fileDecision is a decision about a file: about what is to be decided there, else about what was.
func fileDecision(do review.Decision, f review.File) ledger.Decision {
	return ledger.Decision{Do: do, Path: f.Path, Which: func(now review.File) (which review.Selection) {
		if now.State != review.Pending {
			for i := range now.Hunks {
				which.Hunks = append(which.Hunks, i)
			}
		}
		return which
	}}
}

// decideLines makes a decision about the lines of changes that rows show, and about closed files among them.
func (t *reviewTab) decideLines(do review.Decision, first, last int) {
	type key struct{ file, change int }
	picks := map[key]*picked{}
	changes := map[int][]review.Change{}
	all := map[string]ledger.Decision{}
	for i, r := range t.page.All() {
		f := t.files[r.File]
		if i < first || i > last || f == nil {
			continue
		}
		if r.Kind == reviewpage.Head && !t.isOpen(r.File) {
			all[f.Path] = fileDecision(do, f.File)
		}
		if r.Kind != reviewpage.Text || r.Change < 0 {
			continue
		}
		if changes[r.File] == nil {
			changes[r.File] = f.Changes()
		}
		c := changes[r.File][r.Change]
		p := picks[key{r.File, r.Change}]
		if p == nil {
			p = &picked{Change: c}
			picks[key{r.File, r.Change}] = p
		}
		p.take(r)
	}
	files := map[int][]picked{}
	for k, p := range picks {
		p.whole = p.oldN == len(p.Old) && p.newN == len(p.New)
		if p.State == review.Pending || p.whole {
			files[k.file] = append(files[k.file], *p)
		}
	}
	for id, list := range files {
		f := t.files[id]
		slices.SortFunc(list, func(a, b picked) int { return a.Line - b.Line })
		all[f.Path] = ledger.Decision{Do: do, Path: f.Path, Which: selecting(f.File, list)}
	}
	if len(all) == 0 {
		t.session.base.Editor.Notify("info", "there is nothing to decide on these lines")
		return
	}
	t.make(all)
}

// take adds the line of a row. Old and new lines are each next to each other.
func (p *picked) take(r reviewpage.Row) {
	of, n := &p.old, &p.oldN
	if r.Side == '+' {
		of, n = &p.new, &p.newN
	}
	if *n == 0 {
		of[0] = r.At
	}
	of[1] = r.At + 1
	*n++
}

// part is what a pick of some lines of a pending change means: where there are none of one side, it is at
// the end of the old ones, or before the new ones.
func (p picked) part(of linediff.Edit) linediff.Edit {
	part := linediff.Edit{A0: of.A1, A1: of.A1, B0: of.B0, B1: of.B0}
	if p.oldN > 0 {
		part.A0, part.A1 = of.A0+p.old[0], of.A0+p.old[1]
	}
	if p.newN > 0 {
		part.B0, part.B1 = of.B0+p.new[0], of.B0+p.new[1]
	}
	return part
}

// selecting finds what was picked of a file, as it was shown, in the file as it is. What is not there any
// more is left out; none of it is an error.
func selecting(shown review.File, picks []picked) func(review.File) review.Selection {
	return func(now review.File) (which review.Selection) {
		changes := now.Changes()
		alike := map[string][]int{} // changes that are not taken yet, by what they are
		what := func(c review.Change) string { return fmt.Sprintf("%s %q %q", c.State, c.Old, c.New) }
		for i, c := range changes {
			alike[what(c)] = append(alike[what(c)], i)
		}
		chosen := map[int]bool{} // hunks
		for _, p := range picks {
			best, same := -1, alike[what(p.Change)]
			for _, i := range same {
				if best < 0 || distance(changes[i], p) < distance(changes[best], p) {
					best = i
				}
			}
			alike[what(p.Change)] = slices.DeleteFunc(same, func(i int) bool { return i == best })
			switch {
			case best < 0:
			case p.whole:
				if h := changes[best].Hunk; !chosen[h] {
					chosen[h] = true
					which.Hunks = append(which.Hunks, h)
				}
			default:
				which.Parts = append(which.Parts, p.part(changes[best].Part))
			}
		}
		if len(which.Hunks)+len(which.Parts) == 0 {
			which.Hunks = []int{-1}
		}
		return which
	}
}

func distance(c review.Change, p picked) int { return max(c.Line-p.Line, p.Line-c.Line) }

// make makes decisions, by file, and remembers how to undo them all at once, where they decide anything.
func (t *reviewTab) make(all map[string]ledger.Decision) {
	made := decided{plans: &[]review.Plan{}}
	left := len(all)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		d := all[path]
		d.Made = func(p review.Plan) {
			if p.Decides() {
				*made.plans = append(*made.plans, p)
			}
		}
		t.session.decide(d, func(int, error) {
			if left--; left == 0 && len(*made.plans) > 0 {
				t.decisions = append(t.decisions, made)
			}
		})
	}
}

// undo takes back the decision made last on the page, when those that are being made are made.
func (t *reviewTab) undo() {
	t.session.ledger.Then(func() { t.session.base.Box.Put(t.undoLast) })
}

func (t *reviewTab) undoLast() {
	n := len(t.decisions)
	if n == 0 {
		t.session.base.Editor.Notify("info", "there is no decision to undo")
		return
	}
	last := t.decisions[n-1]
	t.decisions = t.decisions[:n-1]
	for _, p := range slices.Backward(*last.plans) {
		path := p.Path
		if p.Back != "" {
			path = p.Back
		}
		t.session.decide(ledger.Decision{Path: path, Plan: func(r *review.Record) (review.Plan, error) { return r.Undo(p) }}, func(int, error) {})
	}
}

var errNoLine = errors.New("there is no line of a file here to comment on")

// draftAt is what a comment on rows of the page would be about, or the one that is there.
func (t *reviewTab) draftAt(m rpc.CommentAt) (c comment, err error) {
	first, ok := t.page.Follow(m.Row, m.Seq)
	last, known := t.page.Follow(max(m.Row, m.Last), m.Seq)
	if !ok || !known {
		return c, errors.New("the review has changed: look at it again")
	}
	var rows []reviewpage.Row
	for i, r := range t.page.All() {
		switch {
		case i < first || i > last || len(rows) > 0 && r.File != rows[0].File:
		case r.Kind == reviewpage.Text:
			rows = append(rows, r)
		case r.Kind == reviewpage.Comment && first == last:
			for _, one := range t.session.comments.list {
				if one.ID == r.Comment {
					return *one, nil
				}
			}
		case r.Kind == reviewpage.Head && first == last:
			if f := t.files[r.File]; f != nil {
				c.path, c.present = f.Path, &f.Present.Text
				return c, nil
			}
		}
	}
	if len(rows) == 0 {
		return c, errNoLine
	}
	f := t.files[rows[0].File]
	if f == nil {
		return c, errNoLine
	}
	c.path = f.Path
	if !f.Present.Opaque {
		c.present = &f.Present.Text
	}
	for _, r := range rows {
		c.signed = c.signed || r.Change >= 0
	}
	c.First, c.Last = rows[0].Line, rows[len(rows)-1].Line
	for _, r := range rows {
		sign := ""
		if c.signed {
			sign = string(r.Side)
		}
		c.Quoted = append(c.Quoted, sign+strings.TrimSuffix(r.Source, "\r"))
	}
	if r := rows[len(rows)-1]; r.Side == '-' || r.Side == '+' && r.State == review.Rejected {
		c.Beside = r.Source
	}
	return c, nil
}

// hearConflicts takes the places that conflict in the loaded files, by path.
func (h *Host) hearConflicts(m rpc.OpenConflicts) {
	found := map[string]int{}
	for _, f := range m.Files {
		found[f.Path] = f.Count
	}
	h.mu.Lock()
	sessions := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	for _, s := range sessions {
		s.base.Box.Put(func() {
			if !maps.Equal(s.review.conflicts, found) {
				s.review.conflicts = found
				s.review.render()
			}
		})
	}
}
