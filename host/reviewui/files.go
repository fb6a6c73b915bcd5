package reviewui

import (
	"cmp"
	"slices"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewpage"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// files is the record as the session's goroutine knows it.
type files struct {
	byID map[int]*file
	due  transcript.Due // of all
}

// file is a file of the record, and what the page has of it.
type file struct {
	review.File
	version int            // counts its changes
	due     transcript.Due // its part of what is due
	fold    *bool          // opened or closed by the user
	shown   rendered
}

// rendered is what the page shows of a file, and from which state of it.
type rendered struct {
	version, remarks int
	open             bool
	sum              reviewpage.Summary
	body             *reviewpage.Block // nil if closed
}

// text returns the present text as it is now, while the file goes on changing; nil if it is not text.
func (f *file) text() *string {
	if f.Present.Opaque {
		return nil
	}
	text := f.Present.Text
	return &text
}

func newFiles() *files { return &files{byID: map[int]*file{}} }

// set sets a file that is new in the record, or has changed.
func (f *files) set(is review.File) {
	known := f.byID[is.ID]
	if known == nil {
		known = &file{}
		f.byID[is.ID] = known
	}
	known.File = is
	known.version++
	f.count(known)
}

// drop forgets a file that is gone from the record.
func (f *files) drop(id int) {
	if known := f.byID[id]; known != nil {
		known.File = review.File{}
		f.count(known)
		delete(f.byID, id)
	}
}

// count updates the sum for a file. There may be thousands: they are not all counted again.
func (f *files) count(one *file) {
	was := one.due
	if one.due = (transcript.Due{}); one.State == review.Pending {
		one.due.Files = 1
		one.due.Added, one.due.Removed = one.Pending()
	}
	f.due.Files += one.due.Files - was.Files
	f.due.Added += one.due.Added - was.Added
	f.due.Removed += one.due.Removed - was.Removed
}

// at returns the file at a path; nil if the record has none.
func (f *files) at(path string) *file {
	for _, one := range f.byID {
		if one.Path == path {
			return one
		}
	}
	return nil
}

// sorted returns the files sorted by path.
func (f *files) sorted() []review.File {
	list := make([]review.File, 0, len(f.byID))
	for _, one := range f.byID {
		list = append(list, one.File)
	}
	slices.SortFunc(list, func(a, b review.File) int { return cmp.Compare(a.Path, b.Path) })
	return list
}
