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
