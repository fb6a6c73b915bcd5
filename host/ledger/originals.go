package ledger

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// originals are files byte for byte that may have to be put back, of which the record has but texts or
// marks: where in the store they are. They belong to the ledger's goroutine.
type originals struct {
	store *checkpoint.Store // nil where there is none: then nothing is kept
	of    map[version]original
}

// version is a content at a path, by what marks it.
type version struct{ Path, Mark string }

func versionOf(path string, is review.Content) version { return version{path, is.Mark().Text} }

// original is what a file was byte for byte.
type original struct {
	Sum  checkpoint.Sum // in the store
	Mode fs.FileMode    // its permission bits
}

// keepDisk keeps a file as the disk has it, if it has a content.
func (o *originals) keepDisk(path string, is review.Content) {
	at := versionOf(path, is)
	if _, known := o.of[at]; known || o.store == nil || !is.Exists {
		return
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxReviewed {
		return
	}
	data, err := os.ReadFile(path)
	if err != nil || textContent(buffers.Decoded(data)).Mark() != is.Mark() {
		return
	}
	if sum, err := o.store.Put(data); err == nil {
		o.of[at] = original{sum, info.Mode().Perm()}
	}
}

// keepText keeps a text that the record has of a file, which the disk perhaps never had.
func (o *originals) keepText(path string, is review.Content) {
	at := versionOf(path, is)
	if _, known := o.of[at]; known || o.store == nil || !is.Exists || is.Opaque {
		return
	}
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	if sum, err := o.store.Put([]byte(is.Text)); err == nil {
		o.of[at] = original{sum, info.Mode().Perm()}
	}
}

// before is what a snapshot has of a file before a change, as the record has it.
func (o *originals) before(ch checkpoint.Change) review.Content {
	s := ch.Before
	if s.Kind == checkpoint.None {
		return review.Content{}
	}
	if is, ok := o.content(s); ok {
		o.of[versionOf(cmp.Or(ch.OldPath, ch.Path), is)] = original{s.Sum, s.Mode.Perm()}
		return is
	}
	return review.Opaque(fmt.Sprint("not kept: ", s.Size, " ", s.ModTime))
}

// content is what a snapshot has of a file, as the record has it; false where its contents are not kept.
func (o *originals) content(s checkpoint.State) (review.Content, bool) {
	if s.Sum.IsZero() {
		return review.Content{}, false
	}
	data, err := o.store.Content(s.Sum)
	if err != nil {
		return review.Content{}, false
	}
	return textContent(buffers.Decoded(data)), true
}

// keepBeginning keeps what a file with a content was when a turn began.
func (o *originals) keepBeginning(t *turn, path string, was review.Content) {
	at := versionOf(path, was)
	if _, known := o.of[at]; known || o.store == nil {
		return
	}
	for _, snap := range []*checkpoint.Snapshot{t.first, t.before} {
		if snap == nil {
			continue
		}
		s := snap.State(path)
		if s.Kind != checkpoint.File || s.Sum.IsZero() {
			continue
		}
		data, err := o.store.Content(s.Sum)
		if err == nil && textContent(buffers.Decoded(data)).Mark() == was.Mark() {
			o.of[at] = original{s.Sum, s.Mode.Perm()}
			return
		}
	}
}

// exact is a file byte for byte.
type exact struct {
	data []byte
	mode fs.FileMode
}

// find is what a file with a content was byte for byte; nil where that is not known. The last turn, which
// may be nil, can have seen it.
func (o *originals) find(path string, was review.Content, last *turn) *exact {
	old, known := o.known(path, was, last)
	if !known {
		return nil
	}
	data, err := o.store.Content(old.Sum)
	if err != nil {
		return nil
	}
	return &exact{data, old.Mode}
}

// known is find without reading it.
func (o *originals) known(path string, was review.Content, last *turn) (old original, known bool) {
	if o.store == nil {
		return original{}, false
	}
	at := versionOf(path, was)
	old, known = o.of[at]
	if !known && was.Opaque {
		for other, copied := range o.of {
			if other.Mark == at.Mark { // under another name
				old, known = copied, true
			}
		}
	}
	if !known && last != nil {
		o.keepBeginning(last, path, was)
		old, known = o.of[at]
	}
	return old, known
}
