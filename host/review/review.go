// Package review is the record of what an agent has changed in one session: of each file the text
// before the agent first changed it, and the agent's changes since, apart from what the user typed
// in between. It knows neither sessions nor the editor nor the disk.
package review

import (
	"maps"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// Content is what stands at a path at one time. The zero value is no file. An opaque file, one that is
// large or no text, has something in Text that tells it from its other contents.
type Content struct {
	Exists bool
	Opaque bool
	Text   string
}

// Status says what the agent has made of a file since its baseline.
type Status string

// The statuses of a [File].
const (
	Added    Status = "added"
	Modified Status = "modified"
	Deleted  Status = "deleted"
	Moved    Status = "moved"
)

// State says what the user thinks of a change.
type State string

// The states of a [Hunk].
const (
	Pending  State = "pending"
	Kept     State = "kept"
	Rejected State = "rejected"
)

// Hunk says which lines of the baseline are which of the present text. Lines are counted from 1; where
// there are none, the start is the line before, as in a unified diff. What was rejected is no longer in the
// present text: the hunk is where it would be.
type Hunk struct {
	OldStart, OldCount, NewStart, NewCount int
	State                                  State
}

// File is a file that the agent has changed. Its texts are never changed in place, so a copy may be read by
// any goroutine.
type File struct {
	ID       int // of the file in its record, ascending in the order first changed
	Path     string
	OldPath  string // in the baseline, where the agent has moved it
	MovedTo  string // where the agent had moved it, of a move that was refused
	Status   Status
	State    State   // pending where something is, else kept where something is
	Baseline Content // with what the user has changed since, beside the agent's changes
	Accepted Content // the baseline with what the user has kept
	Present  Content
	Hunks    []Hunk // none of an opaque file

	text *layers // nil of an opaque one
}

// Record is what an agent has changed. Its zero value is not ready: see [New]. One goroutine owns it.
type Record struct {
	limit   int
	lastID  int
	files   map[string]*file // by path
	touched []*file          // those with texts, the one changed last at the end
	bytes   int              // of all texts
	left    map[string]*file // those that have left a path, by that
	news    map[int]*file    // changed since Take, by id; nil for what is no change any more
}

type file struct {
	File
	away     bool   // the user has removed it: it is not shown until it is back
	left     string // where it was when it was removed, if it had been moved there
	moveKept bool
	refused  Status  // what was refused as a whole
	taken    Content // what was there before that
}

// New returns an empty record, which keeps texts of at most limit bytes together. The files that were
// changed longest ago become opaque first.
func New(limit int) *Record {
	return &Record{limit: limit, files: map[string]*file{}, left: map[string]*file{}, news: map[int]*file{}}
}

// File returns the file at a path, and false where the agent has changed none, or the user has removed it.
func (r *Record) File(path string) (File, bool) {
	f := r.files[path]
	if f == nil || f.away {
		return File{}, false
	}
	return f.File, true
}

// Files returns all files that File would, in the order first changed.
func (r *Record) Files() []File {
	list := make([]File, 0, len(r.files))
	for _, f := range r.files {
		if !f.away {
			list = append(list, f.File)
		}
	}
	slices.SortFunc(list, func(a, b File) int { return a.ID - b.ID })
	return list
}

// Paths returns the paths of all files, those that the user has removed among them.
func (r *Record) Paths() []string { return slices.Sorted(maps.Keys(r.files)) }

// Present returns what should be at a path of the record: no file, where the user has removed it; and false
// where the agent has changed none.
func (r *Record) Present(path string) (Content, bool) {
	f := r.files[path]
	if f == nil || f.away {
		return Content{}, f != nil
	}
	return f.Present, true
}

// Take returns the files that have changed in the record since the last call, and the ids of those that are
// no longer in it.
func (r *Record) Take() (changed []File, gone []int) {
	for id, f := range r.news {
		if f == nil {
			gone = append(gone, id)
		} else {
			changed = append(changed, f.File)
		}
	}
	clear(r.news)
	return changed, gone
}

// Changed takes a change of the agent's. What was there before it and is not what the record had last is
// the user's.
func (r *Record) Changed(path string, before, after Content) {
	if before == after {
		r.Now(path, after)
		return
	}
	f := r.back(path, before)
	if f == nil {
		f = r.add(path, before)
	}
	r.set(f, before, false)
	r.set(f, after, true)
	r.settle(f)
}

// Moved takes a move by the agent, with what was at the old path before it and is at the new one now.
func (r *Record) Moved(from, to string, before, after Content) {
	if over := r.back(to, Content{}); over != nil {
		// Moved over a file that the agent has changed or removed: two changes.
		r.Changed(from, before, Content{})
		r.Changed(to, over.Present, after)
		return
	}
	f := r.back(from, before)
	if f == nil {
		f = r.add(from, before)
	}
	delete(r.files, from)
	f.Path, r.files[to] = to, f
	f.moveKept, f.refused, f.taken, f.MovedTo = false, "", Content{}, ""
	switch {
	case !f.Baseline.Exists: // of the agent's own making: it has another name
	case f.OldPath == "":
		f.OldPath = from
	case f.OldPath == to:
		f.OldPath = ""
	}
	r.set(f, before, false)
	r.set(f, after, true)
	r.settle(f)
}

// Now brings a file in step with what the user sees.
func (r *Record) Now(path string, now Content) {
	if f := r.files[path]; f != nil && (f.away && now.Exists || !f.away && !f.has(now)) {
		f.away = false
		r.set(f, now, false)
		r.settle(f)
	}
}

// Removed tells that the user has removed a file, and with it what there was to decide. When it is back that
// is there again.
func (r *Record) Removed(path string) {
	if f := r.files[path]; f != nil && f.Present.Exists && !f.away {
		f.away = true
		r.news[f.ID] = nil
	}
}

// Retracted tells that a change of the agent's was taken back by somebody who has not refused it, with what
// was there before that and is now: it leaves the record, and what the agent had changed earlier is there
// again.
func (r *Record) Retracted(path string, was, now Content) {
	f := r.files[path]
	if f == nil && !was.Exists {
		f = r.returned(path)
	}
	switch {
	case f == nil: // the change had undone an earlier one
		r.Changed(path, was, now)
		return
	case now.Mark() == f.Baseline.Mark() && f.OldPath == "" && (f.text == nil || len(f.text.refused.edits) == 0):
		r.forget(f)
		return
	}
	f.away = false
	if f.text == nil && f.Accepted == was.Mark() {
		f.Accepted = f.Baseline // what was kept is no more, and what was kept before it is not known
	}
	var back retraction
	if f.text != nil && now.Exists && !now.Opaque {
		back = f.text.retraction(now.Text)
	}
	r.set(f, now, true)
	if f.text != nil {
		r.bytes -= f.size()
		l := *f.text
		l.unkeep(back)
		f.text = &l
		r.bytes += f.size()
	}
	r.settle(f)
}

// MoveRetracted is Retracted of a move by the agent, from a path back to another one.
func (r *Record) MoveRetracted(from, to string, was, now Content) {
	if f := r.files[from]; f == nil || f.OldPath != "" || !f.Baseline.Exists {
		r.Moved(from, to, was, was)
		r.Retracted(to, was, now)
		return
	}
	// Its two ends are changes of their own, as other files were there before.
	r.Retracted(from, was, Content{})
	r.Retracted(to, Content{}, now)
}

// back returns the file at a path, which has a content now; nil where the record has none. One that the user
// has removed is no longer known when it was not there.
func (r *Record) back(path string, now Content) *file {
	f := r.files[path]
	if f == nil && now.Exists {
		f = r.returned(path)
	}
	if f != nil && f.away {
		if !now.Exists {
			r.forget(f)
			return nil
		}
		f.away = false
	}
	return f
}

// returned is the file that was moved to a path, and removed there, put back there; nil is none.
func (r *Record) returned(path string) *file {
	f := r.left[path]
	if f == nil || f.left != path || f.Present.Exists {
		return nil
	}
	r.leave(f, "")
	delete(r.files, f.Path)
	f.Path, f.OldPath = path, f.Path
	r.files[path] = f
	return f
}

// leave remembers from which path a file was removed; "" is none.
func (r *Record) leave(f *file, path string) {
	if f.left != "" && r.left[f.left] == f {
		delete(r.left, f.left)
	}
	if f.left = path; path != "" {
		r.left[path] = f
	}
}

// forget takes a file out of the record.
func (r *Record) forget(f *file) {
	r.leave(f, "")
	r.bytes -= f.size()
	delete(r.files, f.Path)
	r.news[f.ID] = nil
	r.touched = slices.DeleteFunc(r.touched, func(t *file) bool { return t == f })
}

func (r *Record) add(path string, baseline Content) *file {
	r.lastID++
	f := &file{File: File{ID: r.lastID, Path: path, Baseline: baseline, Accepted: baseline, Present: baseline}}
	if !baseline.Opaque {
		l := newLayers(baseline.Text)
		f.text = &l
	}
	r.files[path] = f
	r.bytes += f.size()
	return f
}

// set gives a file its present content, by the agent or by the user.
func (r *Record) set(f *file, now Content, agent bool) {
	if f.has(now) {
		return
	}
	if f.text == nil {
		now = now.Mark()
	}
	was := f.Present
	f.Present = now
	if agent {
		f.refused, f.MovedTo = "", ""
	}
	r.bytes -= f.size()
	switch {
	case f.text == nil && !agent && was.Exists && now.Exists:
		// Where nothing waits what the user makes of the file is no change of the agent's.
		for _, c := range []*Content{&f.Accepted, &f.Baseline} {
			if *c == was {
				*c = now
			}
		}
	case f.text == nil:
	case now.Opaque:
		f.text = nil
	default:
		l := *f.text
		switch {
		case was.Exists && !now.Exists, !was.Exists && now.Exists && !agent && f.Accepted.Exists:
			// A file that is gone has no lines that are the user's; one that the user has brought back is
			// compared with what it was.
			l.pending = newPair(l.accepted())
			l.pending.change(now.Text, true)
		case agent:
			l.agent(now.Text)
		default:
			l.user(now.Text)
		}
		f.text = &l
	}
	r.bytes += f.size()
}

// settle ends a change of a file: one that is as before is no change, and the limit is kept.
func (r *Record) settle(f *file) {
	if f.Present.Exists {
		r.leave(f, "")
	}
	if anew := r.files[f.OldPath]; !f.Present.Exists && f.OldPath != "" && (anew == nil || !anew.Baseline.Exists) {
		// Moved and then removed: it is gone from where it was, or another was made there.
		delete(r.files, f.Path)
		r.leave(f, f.Path)
		f.Path, f.OldPath = f.OldPath, ""
		r.files[f.Path] = f
		if anew != nil {
			r.bytes -= anew.size()
			r.news[anew.ID] = nil
			r.touched = slices.DeleteFunc(r.touched, func(t *file) bool { return t == anew })
			r.set(f, anew.Present, true)
		}
	}
	f.settle()
	if f.unchanged() {
		r.forget(f)
		return
	}
	r.news[f.ID] = f
	r.touched = slices.DeleteFunc(r.touched, func(t *file) bool { return t == f })
	if f.text != nil {
		r.touched = append(r.touched, f)
	}
	for r.bytes > r.limit && len(r.touched) > 0 {
		oldest := r.touched[0]
		r.touched = r.touched[1:]
		r.bytes -= oldest.size()
		oldest.text = nil
		oldest.settle()
		if !oldest.away {
			r.news[oldest.ID] = oldest
		}
	}
}

// has tells whether a content is what the record has as the present one.
func (f *file) has(now Content) bool {
	if f.text == nil {
		now = now.Mark()
	}
	return f.Present == now
}

func (f *file) unchanged() bool {
	switch {
	case f.refused != "":
		return false
	case !f.Baseline.Exists && !f.Present.Exists:
		return !f.Accepted.Exists
	}
	return f.Present == f.Baseline && f.Accepted == f.Baseline && f.OldPath == "" && len(f.Hunks) == 0
}

// settle brings the exported fields in step with the texts.
func (f *file) settle() {
	if f.text == nil {
		f.Hunks = nil
		f.Baseline, f.Accepted, f.Present = f.Baseline.Mark(), f.Accepted.Mark(), f.Present.Mark()
	} else {
		f.Baseline.Text, f.Accepted.Text = f.text.baseline(), f.text.accepted()
		f.Hunks = f.text.hunks()
	}
	switch {
	case f.refused != "":
		f.Status = f.refused
	case !f.Present.Exists && !f.Baseline.Exists:
		f.Status = Added
	case !f.Present.Exists:
		f.Status = Deleted
	case !f.Baseline.Exists:
		f.Status = Added
	case f.OldPath != "":
		f.Status = Moved
	default:
		f.Status = Modified
	}
	f.State = f.state()
}

func (f *file) state() State {
	has := func(s State) bool {
		return slices.ContainsFunc(f.Hunks, func(h Hunk) bool { return h.State == s })
	}
	switch {
	case has(Pending), f.Accepted != f.Present, f.OldPath != "" && !f.moveKept:
		return Pending
	case has(Kept), f.Accepted != f.Baseline, f.OldPath != "":
		return Kept
	}
	return Rejected
}

// size is how much a file keeps, in bytes.
func (f *file) size() int {
	if f.text == nil {
		return 0
	}
	n := len(f.text.present())
	for _, p := range []pair{f.text.kept, f.text.pending, f.text.refused} {
		if len(p.edits) > 0 {
			n += len(p.base)
		}
	}
	return n
}

// Opaque returns the content of a file whose text is not to be kept or compared by lines: mark tells it
// from its other contents.
func Opaque(mark string) Content { return Content{Exists: true, Opaque: true, Text: mark} }

// Text returns the content of a file with a text.
func Text(text string) Content {
	if strings.ContainsRune(text, 0) {
		return Opaque(sum(text))
	}
	return Content{Exists: true, Text: text}
}

// Mark returns the content without its text, which tells it from others all the same.
func (c Content) Mark() Content {
	if !c.Exists || c.Opaque {
		return c
	}
	return Opaque(sum(c.Text))
}

// FirstLine returns the first line that a hunk adds, or else removes.
func (f File) FirstLine(h Hunk) string {
	text, at := f.Present.Text, h.NewStart
	if h.NewCount == 0 {
		text, at = f.Baseline.Text, h.OldStart
	}
	if lines := linediff.Lines(text); at >= 1 && at <= len(lines) {
		return strings.TrimSuffix(lines[at-1], "\n")
	}
	return ""
}
