// Package review is the record of what an agent has changed in one session: of each file the text
// before the agent first changed it, and the agent's changes since, apart from what the user typed
// in between. It knows neither sessions nor the editor nor the disk.
package review

import (
	"cmp"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// Content is what is at a path at one time. The zero value is no file. An opaque file, one that is large or binary, has
// a mark in Text that distinguishes its contents.
type Content struct {
	Exists bool
	Opaque bool
	Text   string
	Form   string      // how the text stands on the disk (encoding, line ends, byte order mark); "" is plain UTF-8
	Mode   fs.FileMode // permission bits; 0 where they are not known
}

// Status is what the agent has done to a file since its baseline.
type Status string

// The statuses of a [File].
const (
	Added    Status = "added"
	Modified Status = "modified"
	Deleted  Status = "deleted"
	Moved    Status = "moved"
)

// State is what the user has decided about a change.
type State string

// The states of a [Hunk].
const (
	Pending  State = "pending"
	Kept     State = "kept"
	Rejected State = "rejected"
)

// Hunk maps lines of the baseline to lines of the present text. Lines are counted from 1; if there are none, the start
// is the line before, as in a unified diff. What was refused is no longer in the present text: its hunk is where it
// would be.
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
	Baseline Content // with what the user has changed since, apart from the agent's changes
	Accepted Content // the baseline with what the user has kept
	Present  Content
	Hunks    []Hunk // none of an opaque file
	Typed    bool   // the user has changed what is pending in an opaque file: their part cannot be told apart

	text *layers // nil of an opaque one
}

// Folder returns the path in a record that stands for the files of a folder if there are too many to list one by one.
// Its content is opaque, and says how many there are; its baseline is no file if all of them are new.
func Folder(dir string) string { return strings.TrimSuffix(dir, "/") + "/" }

// IsFolder reports whether a path is a [Folder].
func IsFolder(path string) bool { return strings.HasSuffix(path, "/") }

// Record is what an agent has changed. Its zero value is not ready: see [New]. One goroutine owns it.
type Record struct {
	// Forgets hears of the texts that a file was, and that may have to come back, when it is to be known without its text,
	// as it is none any more, or so that the record stays below its limit; nil for nobody.
	Forgets func(Content)

	limit   int
	lastID  int
	files   map[string]*file // by path
	touched recency          // those with texts
	bytes   int              // of all texts
	left    map[string]*file // those that have left a path, by that
	made    map[string]bool  // paths of files that the agent has made and that are gone: perhaps it has moved them
	news    map[int]*file    // changed since Take, by id; nil for what is no change any more
	version int              // how often anything has changed
	groups  map[int]int      // by number, the version of the last change, see Group
}

type file struct {
	File
	away     bool   // the user has removed it: it is not shown until it is back
	left     string // where it was when it was removed, if it had been moved there
	moveKept bool
	refused  Status  // what was refused as a whole
	taken    Content // what was there before that
	gone     removal
	made     Content   // of an opaque file, what the agent has made it, which the user may have changed since
	texts    []*layers // the last ones, of both, without a decision between them, see byUser; the last one is text
	agents   *layers   // the one of them that the agent has made last
}

// removal is the text that the agent has removed or made binary, for when it returns.
type removal struct {
	text   *layers // nil if it is not known
	onDisk *layers // what the disk had of it where text is what a buffer had, for when the agent has moved it; not saved
}

// New returns an empty record, which keeps texts of at most limit bytes together. The files that were
// changed longest ago become opaque first.
func New(limit int) *Record {
	return &Record{limit: limit, files: map[string]*file{}, left: map[string]*file{}, made: map[string]bool{}, news: map[int]*file{}, groups: map[int]int{}}
}

// File returns the file at a path, and false if the agent has not changed it, or the user has removed it.
func (r *Record) File(path string) (File, bool) {
	f := r.files[path]
	if f == nil || f.away {
		return File{}, false
	}
	return f.File, true
}

// Files returns all the files that File would, in the order first changed.
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

// Paths returns the paths of all files, including those that the user has removed.
func (r *Record) Paths() []string { return slices.Sorted(maps.Keys(r.files)) }

// Empty reports whether the record has no file at all, not even one that the user has removed.
func (r *Record) Empty() bool { return len(r.files) == 0 }

// Version returns a number that changes whenever the record does.
func (r *Record) Version() int { return r.version }

// note records that a file has changed, for saving.
func (r *Record) note(f *file) {
	r.version++
	r.groups[f.ID/groupSize] = r.version
}

// Waiting returns how many changes are pending, and in how many files; a file without hunks counts as one change.
func (r *Record) Waiting() (changes, files int) {
	for _, f := range r.files {
		if f.away || f.State != Pending {
			continue
		}
		n := 0
		for _, h := range f.Hunks {
			if h.State == Pending {
				n++
			}
		}
		changes, files = changes+max(n, 1), files+1
	}
	return changes, files
}

// Pending counts the pending lines of a file: those added and those removed.
func (f File) Pending() (added, removed int) {
	if f.text == nil {
		return 0, 0
	}
	for _, e := range f.text.pending.edits {
		added, removed = added+e.B1-e.B0, removed+e.A1-e.A0
	}
	return added, removed
}

// Textless calls f with each content that may have to be restored and of which the record has no text.
func (r *Record) Textless(f func(Content)) {
	for _, one := range r.files {
		for _, c := range []Content{one.Baseline, one.Accepted, one.Present, one.taken} {
			if c.Opaque {
				f(c)
			}
		}
	}
}

// Away calls f with each path from which the agent has removed or moved a file, and the text that was there last.
func (r *Record) Away(f func(path string, was Content)) {
	for _, one := range r.files {
		switch was := one.Accepted; {
		case !one.Present.Exists && one.gone.text != nil:
			was.Text = one.gone.text.present()
			f(one.Path, was)
		case one.OldPath != "" && one.text != nil:
			f(one.OldPath, one.Present)
		}
	}
}

// Present returns what should be at a path of the record (no file, if the user has removed it), and false if the agent
// has not changed it.
func (r *Record) Present(path string) (Content, bool) {
	f := r.files[path]
	if f == nil || f.away {
		return Content{}, f != nil
	}
	return f.Present, true
}

// Left returns where the file of a path was when the agent removed it, if the agent had moved it there; else "".
func (r *Record) Left(path string) string {
	if f := r.files[path]; f != nil {
		return f.left
	}
	return ""
}

// Take returns the files that have changed in the record since the last call, and the ids of those that have left it.
func (r *Record) Take() (changed []File, gone []int) {
	for id, f := range r.news {
		if f == nil {
			gone = append(gone, id)
		} else {
			changed = append(changed, f.File)
		}
	}
	r.news = map[int]*file{} // a map that was once large stays slow
	return changed, gone
}

// Changed records a change by the agent. Where before differs from what the record had last, the user has made it so.
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

// Moved records a move by the agent, with what was at the old path before it and is at the new one now.
func (r *Record) Moved(from, to string, before, after Content) {
	over := r.back(to, Content{})
	typed := after
	if over != nil && !over.Baseline.Exists && !over.Accepted.Exists {
		// What the agent put there is this very file, unless it thinks that gone.
		if over.Present.Exists {
			typed = over.Present
			typed.Mode = after.Mode
		}
		r.forget(over)
		over = nil
	}
	if over != nil {
		// Moved over a file that the agent has changed or removed: two changes, unless it has made the other one too.
		if !r.made[from] {
			r.Changed(from, before, Content{})
		}
		r.Changed(to, over.Present, after)
		return
	}
	f := r.back(from, before)
	if f == nil && r.made[from] {
		r.Changed(to, Content{}, after)
		return
	}
	if f == nil {
		f = r.add(from, before)
	}
	delete(r.files, from)
	f.Path, r.files[to] = to, f
	kept := f.moveKept
	f.moveKept, f.refused, f.taken, f.MovedTo = false, "", Content{}, ""
	switch {
	case !f.Baseline.Exists && !f.Accepted.Exists: // the agent's own file: it has another name
	case f.OldPath == "", kept:
		f.OldPath = from
	case f.OldPath == to:
		f.OldPath = ""
	}
	if l := f.gone.onDisk; l != nil && l.present() == before.Text {
		r.bytes -= f.size()
		f.gone = removal{text: l}
		r.bytes += f.size()
	}
	r.set(f, before, false)
	r.set(f, after, true)
	r.set(f, typed, false)
	r.settle(f)
}

// Had adds a change by the agent of which nothing else is known any more: of a file that was at old, or "" for the same
// path. With typed, the user has changed it since, see [File].
func (r *Record) Had(old, path string, before, after Content, typed bool) {
	f := r.add(path, before)
	f.OldPath = old
	r.set(f, after, true)
	if typed {
		f.made = Content{}
	}
	r.settle(f)
}

// Renamed says that the user has given a file another name: what is pending moves along.
func (r *Record) Renamed(from, to string) {
	f := r.files[from]
	if f == nil || r.files[to] != nil {
		return
	}
	delete(r.files, from)
	f.Path, r.files[to] = to, f
	if f.OldPath == "" {
		f.MovedTo = ""
	}
	r.settle(f)
}

// Remade says that the user has put a file back where it was before the agent moved it: what is pending in its text
// returns, and the agent has added another file.
func (r *Record) Remade(path string, now Content) {
	at := r.files[path]
	if at != nil && !at.Baseline.Exists {
		return // the agent has made it there
	}
	there := at != nil // the agent had removed another one there
	for _, f := range r.files {
		if f.OldPath != path || f.moveKept || f.away {
			continue
		}
		if delete(r.files, f.Path); there {
			r.forget(f)
		}
		added := r.add(f.Path, Content{})
		r.set(added, f.Present, true)
		r.settle(added)
		if !there {
			f.Path, f.OldPath, r.files[path] = path, "", f
			r.bytes -= f.size()
			f.asNearest(now)
			r.bytes += f.size()
			if unlike(f.Present.Text, now.Text) { // another text than the agent has moved away
				r.set(f, Content{}, true)
			}
			r.set(f, now, false)
			r.settle(f)
		}
		return
	}
}

// Now updates a file to what the user sees.
func (r *Record) Now(path string, now Content) {
	if now.Exists {
		delete(r.made, path)
	}
	if f := r.files[path]; f != nil && (f.away && now.Exists || !f.away && !f.has(now)) {
		f.away = false
		r.set(f, now, false)
		r.settle(f)
	}
}

// Held says what a buffer has of a file that the agent has removed under it: what it lacks, the user has taken out, even
// if no line is left.
func (r *Record) Held(path string, now Content) {
	f := r.files[path]
	if f == nil || f.Present.Exists || f.gone.text == nil || f.away || now.Opaque {
		return
	}
	was := now
	was.Text = f.gone.text.present()
	r.set(f, was, false)
	r.set(f, now, false)
	r.settle(f)
}

// Gone says that the agent has removed a file, as was known when the record was saved: if it has none at that path, the
// agent had made it.
func (r *Record) Gone(path string) {
	if r.files[path] == nil {
		r.made[path] = true
	}
}

// NewTurn says that what is gone by now was not moved.
func (r *Record) NewTurn() { clear(r.made) }

// Recall brings back what was refused of a file and is in what the user sees there now, or all that was there when the
// file had that text before, but takes nothing else from it.
func (r *Record) Recall(path string, now Content) {
	if now.Exists {
		delete(r.made, path)
	}
	f := r.files[path]
	if f == nil || f.away || f.text == nil || !f.Present.Exists || !now.Exists || now.Opaque || now.Text == f.Present.Text {
		return
	}
	is := f.earlier(now.Text)
	if is != nil {
		f.became(is)
	} else {
		l := *f.text
		if l.recognize(now.Text, false); l.present() == f.Present.Text {
			return
		}
		is = &l
	}
	r.bytes -= f.size()
	f.text, f.Present.Text = is, is.present()
	r.bytes += f.size()
	r.settle(f)
}

// Removed says that the user has removed a file, and with it what was pending. That returns when the file does.
func (r *Record) Removed(path string) {
	if f := r.files[path]; f != nil && f.Present.Exists && !f.away {
		f.away = true
		r.news[f.ID] = nil
		r.note(f)
	}
}

// MadeUnder adds a file that the agent has made under the buffer of no file. What that had is the user's, and what it has now
// comes of both.
func (r *Record) MadeUnder(path string, had, now Content) {
	r.Changed(path, Content{}, Content{Exists: true, Mode: now.Mode})
	r.Now(path, had)
	r.Changed(path, had, now)
}

// Retracted says that a change by the agent was taken back, but not refused, with what was there before that and is
// now. The change leaves the record, and what the agent had changed earlier returns.
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
	if f.Accepted == was.Mark() {
		f.Accepted = f.Baseline // what was kept is gone, and what was kept before it is not known
		if f.text != nil {      // what was kept of it is that it is gone
			r.bytes -= f.size()
			f.unkeepRemoval()
			r.bytes += f.size()
		}
	}
	if now.Form == f.Baseline.Form {
		f.Accepted.Form = now.Form
	}
	if now.Mode == f.Baseline.Mode {
		f.Accepted.Mode = now.Mode
	}
	var back retraction
	if f.text != nil && now.Exists && !now.Opaque {
		r.bytes -= f.size()
		l := *f.text
		l.standsAgain(now.Text)
		f.text, back = &l, l.retraction(now.Text)
		r.bytes += f.size()
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

// unkeepRemoval makes the removal of a text, which was kept, a pending one.
func (f *file) unkeepRemoval() {
	l := *f.text
	l.pending = newTextDiff(l.baseline())
	l.pending.change("", true)
	l.rebase(true)
	f.text = &l
}

// MoveRetracted is Retracted for a move by the agent, from a path back to another one.
func (r *Record) MoveRetracted(from, to string, was, now Content) {
	f := r.files[from]
	if f == nil && !was.Exists { // where it was removed
		if f = r.returned(from); f == nil {
			r.Retracted(to, was, now)
			return
		}
	}
	if f != nil && f.State == Kept && f.OldPath == "" && f.Baseline.Exists && r.files[to] == nil { // also this move
		r.Renamed(from, to)
		r.Retracted(to, was, now)
		return
	}
	if f != nil && f.OldPath == to {
		f.moveKept = false // it is this move that was
	}
	if f == nil || f.OldPath != "" || !f.Baseline.Exists {
		r.Moved(from, to, was, was)
		r.Retracted(to, was, now)
		return
	}
	// Its two ends are separate changes, as other files were there before.
	r.Retracted(from, was, Content{})
	r.Retracted(to, Content{}, now)
}

// back returns the file at a path that has a content now; nil if the record has none. One that the user has removed is
// forgotten if it was not there.
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

// returned puts the file that was moved to a path and removed there back, and returns it; nil for none.
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

// forget removes a file from the record.
func (r *Record) forget(f *file) {
	r.leave(f, "")
	r.bytes -= f.size()
	delete(r.files, f.Path)
	r.news[f.ID] = nil
	r.note(f)
	r.touched.drop(f)
}

func (r *Record) add(path string, baseline Content) *file {
	r.lastID++
	delete(r.made, path)
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
	if agent && now.Exists && !now.Opaque && f.Present.SameText(f.made) {
		r.bytes -= f.size()
		f.textAgain()
		r.bytes += f.size()
	}
	if agent && now.Exists && (now.Opaque || f.text == nil) && !f.typed() {
		f.made = now.Mark()
	}
	if f.has(now) {
		return
	}
	if now = f.formed(now); f.text == nil {
		now = now.Mark()
	}
	was := f.Present
	f.Present = now
	if agent {
		f.refused, f.MovedTo = "", ""
	} else if was.Exists && now.Exists {
		for _, c := range []*Content{&f.Accepted, &f.Baseline} {
			if *c = c.Restyled(was, now); was.Mode != now.Mode && was.Mode != 0 && now.Mode != 0 && c.Exists {
				c.Mode = now.Mode // theirs, whatever the agent had given
			}
		}
	}
	r.bytes -= f.size()
	if now.Opaque && f.text != nil && !agent {
		f.made = was.Mark()
	}
	switch {
	case f.text == nil && !agent && was.Exists && now.Exists:
		// If nothing is pending, what the user does to the file is not a change by the agent.
		was = was.Restyled(was, now)
		for _, c := range []*Content{&f.Accepted, &f.Baseline} {
			if *c == was {
				*c = now
			}
		}
	case f.text == nil:
	case now.Opaque:
		f.Baseline.Text, f.Accepted.Text = f.text.baseline(), f.text.accepted()
		r.forgets(f)
		if was.Exists {
			f.gone.text = f.text
		}
		f.text = nil
	case was.Exists && !now.Exists:
		// A file that is gone has no lines by the user.
		l := *f.text
		l.pending = newTextDiff(l.accepted())
		l.pending.change(now.Text, true)
		f.text, f.gone = &l, removal{text: f.text}
		if agent && l.accepted() != "" && !f.Accepted.Exists {
			f.standsForUser(was) // their lines were in a file that the agent had made
		}
	case !agent && was.Exists:
		f.text = f.byUser(now.Text)
	default:
		l := *cmp.Or(f.gone.text, f.text)
		if !agent && f.gone.text != nil && unlike(f.gone.text.present(), now.Text) {
			l = *f.text // another text than the agent has removed, which is still to be decided about
		}
		if agent {
			l.agent(now.Text)
			f.became(&l)
			f.agents = &l
		} else {
			l.user(now.Text)
		}
		f.text, f.gone = &l, removal{}
	}
	if f.refused == Added && !was.Exists {
		f.madeByUser(now)
	}
	if !agent && !was.Exists && !f.Accepted.Exists && f.Baseline.Exists {
		f.Accepted = now // where they had agreed that it is gone
	}
	r.bytes += f.size()
}

// unlike reports whether a text has no line of another one that has some.
func unlike(old, now string) bool {
	had := map[string]bool{}
	for line := range strings.Lines(old) {
		had[line] = true
	}
	for line := range strings.Lines(now) {
		if had[line] {
			return false
		}
	}
	return len(had) > 0
}

const (
	mostTexts = 8        // of a file
	maxText   = 64 << 10 // bytes of each
)

// byUser returns the file's layers with another text by the user. If they undo their own edits, all lines belong to
// whom they did before those; also if they undo changes by the agent, unless these are recognized one by one, or no line
// is back.
func (f *file) byUser(text string) *layers {
	f.became(f.text)
	var now *layers
	users := false
	for _, l := range f.texts {
		users = users || l == f.agents || f.agents == nil
		if l.present() == text {
			now = l
			break
		}
	}
	if now != nil && !users && !linediff.Brings(f.text.present(), text) {
		now = nil
	}
	if now == nil || !users {
		l := *f.text
		if l.recognize(text, true); now == nil || l.present() == text {
			l.user(text)
			now = &l
		}
	}
	f.became(now)
	return now
}

// earlier returns the layers with which a file had a text before, with something by the agent that waited, if nothing was
// decided since; nil if it has not.
func (f *file) earlier(text string) *layers {
	if n := len(f.texts); n == 0 || f.texts[n-1] != f.text {
		return nil
	}
	for _, l := range f.texts[:len(f.texts)-1] {
		if l.present() == text && len(l.pending.edits) > 0 {
			return l
		}
	}
	return nil
}

// Users returns the user's part of a text that a file has, or had, with something by the agent that waits; "" if that is not
// remembered.
func (r *Record) Users(path, text string) string {
	f := r.files[path]
	if f == nil || f.text == nil {
		return ""
	}
	l := f.text
	if l.present() != text {
		l = f.earlier(text)
	}
	if l == nil {
		return ""
	}
	return l.accepted()
}

// asNearest gives a file the layers that it had, without a decision since, with the text most like the one that is there now:
// where the agent has moved it away the old place has not got what it became afterwards.
func (f *file) asNearest(now Content) {
	if n := len(f.texts); n == 0 || f.texts[n-1] != f.text || !now.Exists || now.Opaque {
		return
	}
	nearest := slices.MinFunc(f.texts, func(a, b *layers) int {
		return cmp.Compare(linediff.Distance(a.present(), now.Text), linediff.Distance(b.present(), now.Text))
	})
	f.became(nearest)
	f.text, f.Present.Text = nearest, nearest.present()
}

// became notes the layers that a file gets; others than the last known ones are of a decision.
func (f *file) became(now *layers) {
	if n := len(f.texts); n == 0 || f.texts[n-1] != f.text {
		f.texts, f.agents = []*layers{f.text}, nil
	}
	others := slices.DeleteFunc(slices.Clone(f.texts), func(l *layers) bool { return l == now || len(l.present()) > maxText })
	f.texts = append(others[max(0, len(others)+1-mostTexts):], now)
}

// textAgain gives a file whose text only the agent has taken away its lines back, as they were before, unless something
// was decided since.
func (f *file) textAgain() {
	l := f.gone.text
	if f.text != nil || l == nil || !f.Present.Exists {
		return
	}
	same := func(c Content, text string) bool { return !c.Exists && c.Text == text || c.SameText(Text(text)) }
	if !same(f.Baseline, l.baseline()) || !same(f.Accepted, l.accepted()) {
		return
	}
	f.text, f.gone = l, removal{}
	f.Present.Opaque, f.Present.Text = false, l.present()
	for c, text := range map[*Content]string{&f.Baseline: l.baseline(), &f.Accepted: l.accepted()} {
		c.Opaque, c.Text = false, text
	}
}

// standsForUser makes a file one that there was before the agent's changes, with the user's lines, as it stood.
func (f *file) standsForUser(was Content) {
	for _, c := range []*Content{&f.Baseline, &f.Accepted} {
		c.Exists, c.Form, c.Mode = true, was.Form, was.Mode
	}
}

// madeByUser makes a file the user's that they have created where a new one by the agent was refused, unless it is
// that one again.
func (f *file) madeByUser(now Content) {
	again := now.SameText(f.taken)
	if f.text != nil {
		again = len(f.text.pending.edits) > 0
	}
	if f.refused, f.taken = "", (Content{}); again {
		return
	}
	for _, c := range []*Content{&f.Baseline, &f.Accepted} {
		*c = now
	}
}

// Restyled returns a content with the form and mode of now, as far as its own were those of was. What comes where all was gone
// changes the form of nothing else.
func (c Content) Restyled(was, now Content) Content {
	if !c.Exists {
		return c
	}
	if c.Form == was.Form && (c.Text == "" || !was.formless(now.Form)) {
		c.Form = now.Form
	}
	if c.Mode == was.Mode {
		c.Mode = now.Mode
	}
	return c
}

// StandsAs reports whether a text has the same bytes in another form, as there is none, or all of its letters are ASCII:
// then its own form is a guess.
func (c Content) StandsAs(form string) bool {
	is, other := strings.Fields(cmp.Or(c.Form, Plain)), strings.Fields(cmp.Or(form, Plain))
	if c.Text == "" {
		return slices.Contains(is, "bom") == slices.Contains(other, "bom")
	}
	within := map[string]bool{"utf-8": true, "latin1": true}
	return !c.Opaque && within[is[0]] && within[other[0]] && slices.Equal(is[1:], other[1:]) &&
		strings.IndexFunc(c.Text, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// formless reports whether there is no text, whose bytes are the same in another form.
func (c Content) formless(other string) bool { return c.Text == "" && c.StandsAs(other) }

// Plain is the form that "" stands for, which most files have.
const Plain = "utf-8 unix"

// settle ends a change of a file: it drops a file that is as before, and enforces the limit.
func (r *Record) settle(f *file) {
	if f.Present.Exists {
		r.leave(f, "")
	}
	if anew := r.files[f.OldPath]; !f.Present.Exists && f.OldPath != "" && !f.moveKept && (anew == nil || !anew.Baseline.Exists) {
		// Moved and then removed: it is gone from its old path, or another was created there.
		delete(r.files, f.Path)
		r.leave(f, f.Path)
		f.Path, f.OldPath = f.OldPath, ""
		r.files[f.Path] = f
		if anew != nil {
			r.bytes -= anew.size()
			r.news[anew.ID] = nil
			r.note(anew)
			r.touched.drop(anew)
			agents := anew.Present
			if anew.text != nil {
				agents.Text = anew.text.agents()
			}
			r.set(f, agents, true)
			r.set(f, anew.Present, false)
			if p, err := r.Plan(f.Path, Keep, Selection{}); anew.State == Kept && err == nil {
				r.Commit(p)
				return
			}
		}
	}
	f.settle()
	if f.unchanged() {
		r.forget(f)
		if !f.Present.Exists {
			r.made[f.Path] = true
		}
		return
	}
	r.news[f.ID] = f
	r.note(f)
	if f.text != nil || f.gone.text != nil {
		r.touched.touch(f)
	} else {
		r.touched.drop(f)
	}
	for r.bytes > r.limit && r.touched.oldest() != nil {
		oldest := r.touched.oldest()
		r.touched.drop(oldest)
		r.forgets(oldest)
		r.bytes -= oldest.size()
		oldest.text, oldest.gone, oldest.made = nil, removal{}, oldest.Present.Mark()
		oldest.settle()
		r.note(oldest)
		if !oldest.away {
			r.news[oldest.ID] = oldest
		}
	}
}

// forgets tells of a file's texts before it is to be known without them.
func (r *Record) forgets(f *file) {
	if r.Forgets != nil {
		r.Forgets(f.Baseline)
		r.Forgets(f.Accepted)
	}
}

// has reports whether a content is the record's present one.
func (f *file) has(now Content) bool {
	if now = f.formed(now); f.text == nil {
		now = now.Mark()
	}
	return f.Present == now
}

// formed gives a text whose form is a guess the one that the file has, or had: that it cannot be seen is no change of it.
func (f *file) formed(now Content) Content {
	if !now.Exists || now.Opaque {
		return now
	}
	is := []Content{f.Accepted, f.Present}
	if now.Text == "" && !now.SameText(f.Accepted) {
		is = is[1:] // what comes back in its place stands as it did
	}
	for _, c := range is {
		if c.Exists && !c.Opaque && (now.Form == c.Form || now.StandsAs(c.Form)) { // the former is usual, and not worth a look at the text
			now.Form = c.Form
			break
		}
	}
	return now
}

// typed reports whether the user has changed what is pending in a file whose text is not known by lines, so that their
// part cannot be told apart.
func (f *file) typed() bool {
	waits := f.Present.Exists && !f.Present.SameText(f.Accepted)
	return f.text == nil && waits && !f.Present.SameText(f.made)
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
	case !f.Present.Exists && !f.Baseline.Exists && !f.Accepted.Exists:
		f.Status = Added
	case !f.Present.Exists:
		f.Status = Deleted
	case f.OldPath != "":
		f.Status = Moved
	case !f.Baseline.Exists:
		f.Status = Added
	default:
		f.Status = Modified
	}
	f.State, f.Typed = f.state(), f.typed()
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

// size returns how much a file keeps, in bytes.
func (f *file) size() int {
	n := 0
	for _, l := range []*layers{f.text, f.gone.text, f.gone.onDisk} {
		if l == nil {
			continue
		}
		n += len(l.present())
		for _, p := range []textDiff{l.kept, l.pending, l.refused} {
			if len(p.edits) > 0 {
				n += len(p.base)
			}
		}
	}
	return n
}

// Opaque returns the content of a file whose text is not kept or compared by lines: mark distinguishes its contents.
func Opaque(mark string) Content { return Content{Exists: true, Opaque: true, Text: mark} }

// Text returns the content of a file with a text, or of a binary one, which has a NUL byte.
func Text(text string) Content {
	if strings.ContainsRune(text, 0) {
		return Opaque(sum(text))
	}
	return Content{Exists: true, Text: text}
}

// Mark returns the content with a mark in place of its text, which still distinguishes it from others.
func (c Content) Mark() Content {
	if c.Exists && !c.Opaque {
		c.Opaque, c.Text = true, sum(c.Text)
	}
	return c
}

// SameText reports whether two contents are the same apart from their forms and modes.
func (c Content) SameText(other Content) bool {
	c.Form, c.Mode, other.Form, other.Mode = "", 0, "", 0
	return c == other || c.Mark() == other.Mark()
}

// FirstLine returns the first line that a hunk adds or, if it adds none, removes.
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
