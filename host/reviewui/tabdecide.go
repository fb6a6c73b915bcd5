package reviewui

import (
	"maps"
	"slices"

	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewpage"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// decided is a decision made on the page, which can be undone there.
type decided struct{ made []ledger.Made }

// add adds what a decision did, on the ledger's goroutine, which no longer uses it once the decision is made.
func (d *decided) add(m ledger.Made) {
	if m.Plan.Decides() {
		d.made = append(d.made, m)
	}
}

// Decide makes a decision about rows of the page: the hunk at one, or the exact lines of several; a file at its head,
// and all files at the page's.
func (t *Tab) Decide(m rpc.ReviewDecide) {
	do := review.Decision(m.Do)
	first, last, err := t.rows(m.At, m.Last)
	if err != nil {
		t.config.Editor.Notify("warning", err.Error())
		return
	}
	if m.Lines {
		t.decideLines(do, first, last)
		return
	}
	r, _ := t.page.Row(first, t.page.Seq())
	f := t.files.byID[r.File]
	switch {
	case r.Kind == reviewpage.Title && t.files.due.Files == 0:
		t.config.Editor.Notify("info", "everything is decided")
	case r.Kind == reviewpage.Title:
		t.decideAll(do)
	case r.Kind == reviewpage.Head && f != nil:
		t.make(map[string]ledger.Decision{f.Path: fileDecision(do, f.Path)})
	case r.Kind == reviewpage.Text && r.Change >= 0 && f != nil:
		hunk := selected{Change: f.Changes()[r.Change], whole: true}
		t.make(map[string]ledger.Decision{f.Path: {Do: do, Path: f.Path, Which: selecting([]selected{hunk})}})
	default:
		t.config.Editor.Notify("info", "nothing to decide on this line")
	}
}

// fileDecision is a decision about what is pending of a file, or about all of it once everything is decided.
func fileDecision(do review.Decision, path string) ledger.Decision {
	return ledger.Decision{Do: do, Path: path, Which: pendingOrAll}
}

// decideLines makes a decision about the lines of changes that rows show, and about closed files among them.
func (t *Tab) decideLines(do review.Decision, first, last int) {
	type key struct{ file, change int }
	parts := map[key]*selected{}
	changes := map[int][]review.Change{}
	all := map[string]ledger.Decision{}
	for i, r := range t.page.All() {
		f := t.files.byID[r.File]
		if i < first || i > last || f == nil {
			continue
		}
		if r.Kind == reviewpage.Head && !f.isOpen() {
			all[f.Path] = fileDecision(do, f.Path)
		}
		if r.Kind != reviewpage.Text || r.Change < 0 {
			continue
		}
		if changes[r.File] == nil {
			changes[r.File] = f.Changes()
		}
		c := changes[r.File][r.Change]
		p := parts[key{r.File, r.Change}]
		if p == nil {
			p = &selected{Change: c}
			parts[key{r.File, r.Change}] = p
		}
		p.add(r)
	}
	byFile := map[int][]selected{}
	for k, p := range parts {
		if p.State == review.Pending || p.whole {
			byFile[k.file] = append(byFile[k.file], *p)
		}
	}
	for id, list := range byFile {
		f := t.files.byID[id]
		slices.SortFunc(list, func(a, b selected) int { return a.Line - b.Line })
		all[f.Path] = ledger.Decision{Do: do, Path: f.Path, Which: selecting(list)}
	}
	if len(all) == 0 {
		t.config.Editor.Notify("info", "nothing to decide on these lines")
		return
	}
	t.make(all)
}

// make makes decisions, by path, and remembers those that decided anything, to be undone together.
func (t *Tab) make(all map[string]ledger.Decision) {
	made := &decided{}
	left := len(all)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		d := all[path]
		d.Made = made.add
		t.config.decide(d, func(int, error) {
			if left--; left == 0 {
				t.remember(made)
			}
		})
	}
}

// decideAll makes a decision about all files, and says so if nothing prevented it.
func (t *Tab) decideAll(do review.Decision) {
	said := map[review.Decision]string{review.Keep: "all pending changes are kept", review.Reject: "all pending changes are refused"}[do] + ": u undoes that"
	made := &decided{}
	d := ledger.Decision{Do: do, Made: made.add}
	t.config.decide(d, func(_ int, err error) {
		t.remember(made)
		if err == nil {
			t.config.Editor.Notify("info", said)
		}
	})
}

// remember keeps a decision for undoing, if it decided anything.
func (t *Tab) remember(made *decided) {
	if len(made.made) > 0 {
		t.decisions = append(t.decisions, made)
	}
}

// Undo undoes the last decision made on the page, once those in progress are made.
func (t *Tab) Undo() {
	t.config.Ledger.Then(func() { t.config.Box.Put(t.undoLast) })
}

func (t *Tab) undoLast() {
	n := len(t.decisions)
	if n == 0 {
		t.config.Editor.Notify("info", "no decision to undo")
		return
	}
	last := t.decisions[n-1]
	t.decisions = t.decisions[:n-1]
	for _, m := range slices.Backward(last.made) {
		t.config.decide(ledger.Decision{Path: m.Path(), Back: &m}, func(int, error) {})
	}
}
