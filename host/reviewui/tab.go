package reviewui

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewpage"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// Tab is the review page: what is open on it, and what its rows are. It belongs to the session's goroutine; slow
// rendering is done in the background.
type Tab struct {
	config   *Config
	files    *files
	comments *Comments

	open       bool
	send       string         // the key that sends, as the page says
	conflicts  map[string]int // open ones by path, as Lua reported
	unrecorded []string       // paths that were shown only for their conflicts
	page       reviewpage.Page
	rendering  bool
	again      bool                       // something has changed since rendering began
	answers    []func() (editor.Op, bool) // waiting until Neovim has the page
	refresh    func()                     // the record, once Neovim has the page; nil when done
	decisions  []*decided                 // made on this page
}

// longText is how many bytes a file may have to be rendered on the session's goroutine.
const longText = 256 << 10

// Open opens the page if there is something to show, and tells Lua so. The record may lag a little behind the disk
// then: what has changed there is added later.
func (t *Tab) Open(m rpc.ReviewOpen) {
	ready := func() bool {
		if len(t.files.byID)+len(t.comments.list)+len(t.conflicts) == 0 {
			return false
		}
		if !t.open {
			t.open, t.decisions = true, nil
			for _, f := range t.files.byID {
				f.fold = nil
			}
		}
		t.send = m.Send
		t.page.Reset()
		t.config.Editor.Answer(m.Callback, true, "")
		t.render()
		return true
	}
	if ready() {
		t.refresh = func() { t.config.Ledger.Files(func([]review.File) {}) }
		return
	}
	t.config.Ledger.Files(func([]review.File) {
		t.config.Box.Put(func() {
			if !ready() {
				t.config.Editor.Answer(m.Callback, nil, "the agent has changed no file in this session")
			}
		})
	})
}

// Close closes the page.
func (t *Tab) Close() {
	t.open = false
	t.page = reviewpage.Page{}
	t.forget()
	for _, answer := range t.answers {
		if op, ok := answer(); ok {
			t.config.Editor.Post(op)
		}
	}
	t.answers = nil
}

// forget drops what was rendered for a page that is closed.
func (t *Tab) forget() {
	for _, f := range t.files.byID {
		if f.shown.body != nil {
			f.shown.body.Forget()
		}
	}
}

// entry is a file to be rendered, and then what the page shows of it.
type entry struct {
	reviewpage.Entry
	rendered
	version, remarks int // that it has now
	fold             *bool
}

// entries returns the files to show, sorted by name.
func (t *Tab) entries() []*entry {
	var list []*entry
	commented := t.comments.byPath()
	for id, f := range t.files.byID {
		e := &entry{Entry: reviewpage.Entry{ID: id, File: f.File}, rendered: f.shown, version: f.version, fold: f.fold}
		if f.OldPath != "" {
			e.OldName = t.config.Short(f.OldPath)
		}
		if f.MovedTo != "" {
			e.NewName = t.config.Short(f.MovedTo)
		}
		list = append(list, e)
	}
	for path, remarks := range commented {
		at := slices.IndexFunc(list, func(e *entry) bool { return e.File.Path == path })
		if at < 0 {
			at = len(list)
			list = append(list, &entry{Entry: reviewpage.Entry{ID: -remarks[0].ID, File: review.File{Path: path}}})
		}
		list[at].Remarks, list[at].remarks = remarks, t.comments.version
	}
	for path := range t.conflicts {
		// The buffer may have nothing of the agent's, which is on the disk.
		if !slices.ContainsFunc(list, func(e *entry) bool { return e.File.Path == path }) {
			list = append(list, &entry{Entry: reviewpage.Entry{ID: t.conflicting(path), File: review.File{Path: path}}})
		}
	}
	for _, e := range list {
		e.Name = t.config.Short(e.File.Path)
		e.Conflicts = t.conflicts[e.File.Path]
		e.Also = t.config.Overlaps.others(t, e.File.Path)
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// conflicting returns an id for a file that has only conflicts. The ids of files with only comments are negative too,
// and far above.
func (t *Tab) conflicting(path string) int {
	at := slices.Index(t.unrecorded, path)
	if at < 0 {
		at = len(t.unrecorded)
		t.unrecorded = append(t.unrecorded, path)
	}
	return math.MinInt32 + at
}

// render updates the page, soon.
func (t *Tab) render() {
	if t.rendering || !t.open {
		t.again = t.rendering
		return
	}
	t.rendering, t.again = true, false
	header := reviewpage.Header{
		Title: cmp.Or(t.config.ConversationTitle(), t.config.Title), Send: t.send, Refused: t.comments.newRefusals(),
	}
	list := t.entries()
	t.config.Background(func() {
		blocks := renderPage(header, list)
		t.config.Box.Put(func() {
			t.rendering = false
			for _, e := range list {
				if f := t.files.byID[e.ID]; f != nil {
					f.shown = e.rendered
				}
			}
			if t.open {
				t.page.Set(blocks)
				t.config.Hurry()
			} else {
				t.forget()
			}
			if t.again {
				t.render()
			}
		})
	})
}

// renderPage renders the page. Long bodies that have changed are rendered here, the others when they are drawn.
func renderPage(header reviewpage.Header, list []*entry) []*reviewpage.Block {
	entries, sums := make([]reviewpage.Entry, len(list)), make([]reviewpage.Summary, len(list))
	bodies := make([]*reviewpage.Block, len(list))
	for i, e := range list {
		if e.rendered.version != e.version {
			e.sum = reviewpage.Summarize(e.File)
		}
		e.Open = e.File.State == review.Pending && !e.sum.Long || e.ID < 0
		if e.fold != nil {
			e.Open = *e.fold
		}
		if e.rendered.version != e.version || e.rendered.remarks != e.remarks || e.open != e.Open || e.ID < 0 {
			if e.body = reviewpage.Body(e.Entry); e.body != nil && (e.sum.Long || len(e.File.Present.Text) > longText) {
				e.body.Prepare()
			}
		}
		e.rendered.version, e.rendered.remarks, e.open = e.version, e.remarks, e.Open
		entries[i], sums[i], bodies[i] = e.Entry, e.sum, e.body
	}
	page, heads := reviewpage.Heads(header, entries, sums)
	return reviewpage.Blocks(page, heads, bodies)
}

// Edits returns the edits that Neovim gets next, and the answers that can be given once it has them.
func (t *Tab) Edits(budget int) []editor.Op {
	if !t.open {
		return nil
	}
	var ops []editor.Op
	for _, e := range t.page.Take(budget) {
		ops = append(ops, t.config.Draw(&t.page, editor.Do(rpc.ReviewEdit{Edit: t.config.Edit(e)})))
	}
	if !t.page.Dirty() && t.refresh != nil && !t.rendering {
		t.refresh()
		t.refresh = nil
	}
	t.answers = slices.DeleteFunc(t.answers, func(answer func() (editor.Op, bool)) bool {
		op, ok := answer()
		if ok {
			ops = append(ops, op)
		}
		return ok
	})
	return ops
}

// Dirty reports whether Neovim must get more edits.
func (t *Tab) Dirty() bool { return t.open && t.page.Dirty() }

// answer calls back when Neovim has the page's present state, or all of it as long as try has no result.
func (t *Tab) answer(callback int, try func() (result any, ok bool)) {
	t.answers = append(t.answers, func() (editor.Op, bool) {
		result, ok := try()
		if !ok && t.open && (t.rendering || t.page.Dirty()) {
			return editor.Op{}, false
		}
		return editor.Do(rpc.Callback{ID: callback, Result: result}), true
	})
	t.config.Hurry()
}

// SetConflicts sets how many open conflicts the loaded files have, by path.
func (t *Tab) SetConflicts(count map[string]int) {
	if !maps.Equal(t.conflicts, count) {
		t.conflicts = count
		t.render()
	}
}
