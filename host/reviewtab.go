package host

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/diffview"
	"github.com/acp-nvim/acp-nvim/host/draw"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewpage"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// reviewTab is the review as a page of the user's: what is open on it, and what its rows are. It belongs to
// the session's goroutine; what takes long to render is rendered in the background.
type reviewTab struct {
	session   *Session
	open      bool
	send      string // the key that sends, as the page says
	files     map[int]*reviewedFile
	waits     transcript.Due // of all files
	conflicts map[string]int // by path, as Lua tells
	// The files that were shown for their conflicts alone.
	unrecorded []string
	page       reviewpage.Page
	rendering  bool
	again      bool // something has changed since it began
	answers    []func() (editor.Op, bool)
	look       func() // at the files as they are now, when Neovim has the page
	decisions  []decided
}

// longText is how long a file is, in bytes, whose changes the session's goroutine is not to render.
const longText = 256 << 10

// reviewedFile is a file of the record as the page has it.
type reviewedFile struct {
	review.File
	version int   // counts its changes
	fold    *bool // open or closed by the user
	shown   rendered
	due     transcript.Due // its part of what waits
}

// rendered is what the page says of a file, and of what.
type rendered struct {
	version, remarks int
	open             bool
	sum              reviewpage.Summary
	body             *reviewpage.Block // nil where it is closed
}

func newReviewTab(s *Session) *reviewTab {
	return &reviewTab{session: s, files: map[int]*reviewedFile{}, conflicts: map[string]int{}}
}

// changed takes what is new in the record.
func (t *reviewTab) changed(changed []review.File, gone []int) {
	for _, f := range changed {
		known := t.files[f.ID]
		if known == nil {
			known = &reviewedFile{}
			t.files[f.ID] = known
		}
		known.File = f
		known.version++
		t.recount(known)
		t.session.comments.moved(f)
		t.session.host.overlaps.set(t.session, f.ID, f.Path, f.State == review.Pending)
	}
	for _, id := range gone {
		if known := t.files[id]; known != nil {
			known.File = review.File{}
			t.recount(known)
		}
		delete(t.files, id)
		t.session.host.overlaps.set(t.session, id, "", false)
	}
	t.session.keepComments(false)
	t.render()
}

// recount brings what waits in step with a file: a sum, as all files together may be thousands.
func (t *reviewTab) recount(f *reviewedFile) {
	was := f.due
	if f.due = (transcript.Due{}); f.State == review.Pending {
		f.due.Files = 1
		f.due.Added, f.due.Removed = f.Pending()
	}
	t.waits.Files += f.due.Files - was.Files
	t.waits.Added += f.due.Added - was.Added
	t.waits.Removed += f.due.Removed - was.Removed
}

// due is what of the record waits for the user.
func (t *reviewTab) due() transcript.Due {
	due := t.waits
	if key := t.session.host.keepKey.Load(); key != nil {
		due.Key = *key
	}
	return due
}

// show opens the page, when something is on it, and tells Lua so. The record may be a little behind the disk
// then: what has changed there comes after.
func (t *reviewTab) show(m rpc.ReviewOpen) {
	ready := func() bool {
		if len(t.files)+len(t.session.comments.list)+len(t.conflicts) == 0 {
			return false
		}
		if !t.open {
			t.open, t.decisions = true, nil
			for _, f := range t.files {
				f.fold = nil
			}
		}
		t.send = m.Send
		t.page.Reset()
		t.session.base.Editor.Answer(m.Callback, true, "")
		t.render()
		return true
	}
	if ready() {
		t.look = func() { t.session.ledger.Files(func([]review.File) {}) }
		return
	}
	t.session.ledger.Files(func([]review.File) {
		t.session.base.Box.Put(func() {
			if !ready() {
				t.session.base.Editor.Answer(m.Callback, nil, "the agent has changed no file in this session")
			}
		})
	})
}

func (t *reviewTab) close() {
	t.open = false
	t.page = reviewpage.Page{}
	t.forget()
	for _, answer := range t.answers {
		if op, ok := answer(); ok {
			t.session.base.Editor.Post(op)
		}
	}
	t.answers = nil
}

// forget drops what was rendered for a page that is closed.
func (t *reviewTab) forget() {
	for _, f := range t.files {
		if f.shown.body != nil {
			f.shown.body.Forget()
		}
	}
}

// entry is a file on its way to the page, and back with what the page says of it.
type entry struct {
	reviewpage.Entry
	rendered
	version, remarks int // that it has now
	fold             *bool
}

// entries are the files as they are to be shown, in the order of their names.
func (t *reviewTab) entries() []*entry {
	var list []*entry
	commented := t.session.comments.byPath()
	for id, f := range t.files {
		e := &entry{Entry: reviewpage.Entry{ID: id, File: f.File}, rendered: f.shown, version: f.version, fold: f.fold}
		if f.OldPath != "" {
			e.OldName = t.session.base.Short(f.OldPath)
		}
		if f.MovedTo != "" {
			e.NewName = t.session.base.Short(f.MovedTo)
		}
		list = append(list, e)
	}
	for path, remarks := range commented {
		at := slices.IndexFunc(list, func(e *entry) bool { return e.File.Path == path })
		if at < 0 {
			at = len(list)
			list = append(list, &entry{Entry: reviewpage.Entry{ID: -remarks[0].ID, File: review.File{Path: path}}})
		}
		list[at].Remarks, list[at].remarks = remarks, t.session.comments.version
	}
	for path := range t.conflicts {
		// The buffer may have nothing of the agent's, which is on the disk.
		if !slices.ContainsFunc(list, func(e *entry) bool { return e.File.Path == path }) {
			list = append(list, &entry{Entry: reviewpage.Entry{ID: t.conflicting(path), File: review.File{Path: path}}})
		}
	}
	for _, e := range list {
		e.Name = t.session.base.Short(e.File.Path)
		e.Conflicts = t.conflicts[e.File.Path]
		e.Also = t.session.host.overlaps.others(t.session, e.File.Path)
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// conflicting gives a file an id that has nothing but conflicts; those of comments are above it.
func (t *reviewTab) conflicting(path string) int {
	at := slices.Index(t.unrecorded, path)
	if at < 0 {
		at = len(t.unrecorded)
		t.unrecorded = append(t.unrecorded, path)
	}
	return math.MinInt32 + at
}

// render brings the page up to date, soon.
func (t *reviewTab) render() {
	if t.rendering || !t.open {
		t.again = t.rendering
		return
	}
	t.rendering, t.again = true, false
	header := reviewpage.Header{Title: t.session.conv.Title, Send: t.send, Refused: t.session.comments.untold(t.files)}
	if header.Title == "" {
		header.Title = t.session.spec.Title
	}
	list := t.entries()
	t.session.base.Background(func() {
		blocks := renderPage(header, list)
		t.session.base.Box.Put(func() {
			t.rendering = false
			for _, e := range list {
				if f := t.files[e.ID]; f != nil {
					f.shown = e.rendered
				}
			}
			if t.open {
				t.page.Set(blocks)
				t.hurry()
			} else {
				t.forget()
			}
			if t.again {
				t.render()
			}
		})
	})
}

// renderPage is the page, of which long bodies that have changed are rendered here, and the others when they are drawn.
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

// hurry has Neovim told at once, though the chat may be hidden.
func (t *reviewTab) hurry() {
	t.session.urgent.Store(true)
	t.session.base.Editor.Hurry(t.session)
}

// ops are the edits that Neovim gets next, and the answers that can be given when it has them.
func (t *reviewTab) ops(budget int) []editor.Op {
	if !t.open {
		return nil
	}
	var ops []editor.Op
	for _, e := range t.page.Take(budget) {
		ops = append(ops, t.session.pages.Op(&t.page, editor.Do(rpc.ReviewEdit{Edit: t.session.pages.Edit(e)})))
	}
	if t.page.Dirty() {
		t.session.urgent.Store(true)
	} else if t.look != nil && !t.rendering {
		t.look()
		t.look = nil
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

// dirty tells whether Neovim is to be told more.
func (t *reviewTab) dirty() bool { return t.open && t.page.Dirty() }

// answer calls back when Neovim has what the page has now, or the whole page where it is not known yet.
func (t *reviewTab) answer(callback int, try func() (result any, ok bool)) {
	t.answers = append(t.answers, func() (editor.Op, bool) {
		result, ok := try()
		if !ok && t.open && (t.rendering || t.page.Dirty()) {
			return editor.Op{}, false
		}
		return editor.Do(rpc.Callback{ID: callback, Result: result}), true
	})
	t.hurry()
}

// row is the row that a message of Lua is about.
func (t *reviewTab) row(at rpc.At) (reviewpage.Row, bool) {
	return t.page.Row(at.Row, at.Seq)
}

// isOpen tells whether the page shows what has changed in a file.
func (t *reviewTab) isOpen(id int) bool {
	f := t.files[id]
	if f == nil {
		return true
	}
	if f.fold != nil {
		return *f.fold
	}
	return f.shown.open
}

// fold opens or closes the file at a row, or all.
func (t *reviewTab) fold(m rpc.ReviewFold) {
	how := transcript.Fold(m.Fold)
	r, ok := t.row(m.At)
	for id, f := range t.files {
		open := t.isOpen(id)
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

// next finds the hunk that is to be decided, or the file, before or after a row. One in a closed file is
// opened.
func (t *reviewTab) next(m rpc.ReviewNext) {
	at, ok := t.page.Follow(m.Row, m.Seq)
	hunks, forward := m.Kind == "hunk", m.Forward
	closed := 0 // the file to open
	target := -1
	if ok {
		target, closed = t.find(at, max(1, m.Count), hunks, forward)
	}
	head := target // of the file, should it have nothing when it is open
	if closed != 0 {
		open := true
		t.files[closed].fold = &open
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

// find gives the row of the n-th place before or after a row, or the closed file that has it.
func (t *reviewTab) find(at, n int, hunks, forward bool) (row, closed int) {
	type place struct{ row, closed int }
	var places []place
	for i, r := range t.page.All() {
		f := t.files[r.File]
		switch {
		case r.Kind != reviewpage.Head:
		case !hunks:
			places = append(places, place{i, 0})
		case f == nil || f.State != review.Pending:
		case len(f.Hunks) == 0:
			places = append(places, place{i, 0}) // there is nothing but the file
		case !t.isOpen(r.File):
			places = append(places, place{i, r.File})
		}
	}
	if hunks {
		for i := range t.page.Pending() {
			places = append(places, place{i, 0})
		}
		slices.SortFunc(places, func(a, b place) int { return a.row - b.row })
	}
	if !forward {
		slices.Reverse(places)
	}
	row = -1
	for _, p := range places {
		if forward && p.row > at || !forward && p.row < at {
			if row, closed = p.row, p.closed; n == 1 || closed != 0 {
				return row, closed
			}
			n--
		}
	}
	return row, closed
}

// place is where a row leads to.
func (t *reviewTab) place(m rpc.ReviewPlace) {
	var answer rpc.Place
	if r, ok := t.row(m.At); ok && r.File != 0 {
		path, gone := t.pathOf(r.File)
		if path != "" {
			answer = rpc.Place{Path: path, Line: t.lineFor(r), Gone: gone}
		}
	}
	t.session.base.Editor.Answer(m.Callback, answer, "")
}

func (t *reviewTab) pathOf(id int) (path string, gone bool) {
	if f := t.files[id]; f != nil {
		return f.Path, !f.Present.Exists
	}
	if at := id - math.MinInt32; at >= 0 && at < len(t.unrecorded) {
		return t.unrecorded[at], false
	}
	for _, c := range t.session.comments.list {
		if c.ID == -id {
			return c.path, false
		}
	}
	return "", false
}

// lineFor is the line that a row leads to; the head of a file leads to what is to be decided first.
func (t *reviewTab) lineFor(r reviewpage.Row) int {
	f := t.files[r.File]
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

// beside gives Lua the accepted text of the file at a row, for a view side by side with the file.
func (t *reviewTab) beside(m rpc.ReviewBeside) {
	callback := m.Callback
	r, ok := t.row(m.At)
	f := t.files[r.File]
	if m.Path != "" {
		ok = true
		for _, one := range t.files {
			if one.Path == m.Path {
				f, r = one, reviewpage.Row{Kind: reviewpage.Head, File: one.ID}
			}
		}
	}
	if !ok || f == nil {
		t.session.base.Editor.Answer(callback, nil, "")
		return
	}
	if f.Accepted.Opaque || f.Present.Opaque {
		t.session.base.Editor.Answer(callback, nil, t.session.base.Short(f.Path)+" is no text, or too large to be compared")
		return
	}
	accepted, present := diff.TextLines(f.Accepted.Text), diff.TextLines(f.Present.Text)
	if diffview.TooLarge(max(len(accepted), len(present)), len(f.Hunks)) {
		t.session.base.Editor.Answer(callback, nil, t.session.base.Short(f.Path)+" is too large to be shown side by side")
		return
	}
	t.session.base.Editor.Answer(callback, rpc.BesideFile{
		Path: f.Path, Name: t.session.base.Short(f.Path), Line: t.lineFor(r), Gone: !f.Present.Exists,
	}, "")
	var lines []styled.Line
	for _, text := range accepted {
		lines = append(lines, styled.Line{Text: strings.TrimSuffix(text, "\r")})
	}
	if len(lines) == 0 {
		lines = []styled.Line{{}}
	}
	draw.Fill(t.session.base.Editor, m.Buf, transcript.Given(lines...))
}
