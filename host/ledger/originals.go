package ledger

import (
	"maps"
	"os"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// originals maps contents that may have to be restored byte for byte, and of which the record has no text, to where
// they are in the store. It belongs to the ledger's goroutine.
type originals struct {
	store *checkpoint.Store // may be nil: then nothing is kept
	of    map[version]checkpoint.Sum
}

// version identifies a content by its mark.
type version struct{ Mark, Form string }

func versionOf(is review.Content) version { return version{is.Mark().Text, is.Form} }

// textless returns the contents without a text that may have to be restored, and of which the bytes are known.
func (l *Ledger) textless() map[version]bool {
	found := map[version]bool{}
	note := func(is review.Content) {
		at := versionOf(is)
		if _, known := l.originals.of[at]; known {
			found[at] = true
		}
	}
	files := func(list []turns.FileChange) {
		for _, f := range list {
			for _, is := range []review.Content{f.Before, f.After} {
				if is.Opaque {
					note(is)
				}
			}
		}
	}
	l.record.Textless(note)
	for _, t := range l.history.Turns {
		files(t.Files)
	}
	for _, u := range l.history.Undone {
		files(u.Turn.Files)
		files(u.Files)
	}
	return found
}

// spareOriginals is how many contents are kept beyond those that may have to be restored.
const spareOriginals = 1000

// trim forgets contents that nothing needs, once there are many.
func (l *Ledger) trim() {
	if len(l.originals.of) <= spareOriginals {
		return
	}
	if needed := l.textless(); len(l.originals.of) > len(needed)+spareOriginals {
		maps.DeleteFunc(l.originals.of, func(at version, _ checkpoint.Sum) bool { return !needed[at] })
	}
}

// keep keeps the bytes of a content.
func (o *originals) keep(is review.Content, data []byte) {
	if o.store == nil {
		return
	}
	if sum, err := o.store.Put(data); err == nil {
		o.of[versionOf(is)] = sum
	}
}

// keepDisk keeps a file as the disk has it, if it has a content without a text.
func (o *originals) keepDisk(path string, is review.Content) {
	if _, known := o.of[versionOf(is)]; known || !is.Opaque {
		return
	}
	if info, err := os.Stat(path); err != nil || info.Size() > maxReviewed {
		return
	}
	data, err := os.ReadFile(path)
	if err == nil && decoded(data).SameText(is) {
		o.keep(is, data)
	}
}

// keepText keeps a text that the record is about to forget.
func (o *originals) keepText(is review.Content) {
	o.keepTextOf(is, is)
}

// keepTextOf keeps a content that has this text.
func (o *originals) keepTextOf(is, text review.Content) {
	if _, known := o.of[versionOf(is)]; known || !text.Exists || text.Opaque {
		return
	}
	if data, err := buffers.Encoded(text.Text, text.Form); err == nil {
		o.keep(is, data)
	}
}

// decoded returns the content of a file with these bytes.
func decoded(data []byte) review.Content {
	text := buffers.Decoded(data)
	return contentOf(&text, buffers.Form(data))
}

// isThere reports whether something is at a path itself, rather than where a symbolic link leads.
func isThere(path string) bool {
	real, err := buffers.RealPath(path)
	if err != nil || real != path {
		return false
	}
	_, err = os.Lstat(path)
	return err == nil
}

// onDisk returns what the disk has at a path, whatever a buffer has.
func onDisk(path string) review.Content {
	if !isThere(path) {
		return review.Content{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return review.Content{}
	}
	is := review.Opaque(largeText(buffers.DiskStateOf(info)))
	if info.Size() <= maxReviewed {
		data, err := os.ReadFile(path)
		if err != nil {
			return review.Content{}
		}
		is = decoded(data)
	}
	is.Mode = info.Mode().Perm()
	return is
}

// content returns a snapshot's file in the record's terms; false if its contents are not kept.
func (o *originals) content(s checkpoint.State) (review.Content, bool) {
	if s.Sum.IsZero() {
		return review.Content{}, false
	}
	data, err := o.store.Content(s.Sum)
	if err != nil {
		return review.Content{}, false
	}
	is := decoded(data)
	is.Mode = s.Mode.Perm()
	if is.Opaque {
		o.of[versionOf(is)] = s.Sum
	}
	return is, true
}

// keepBeginning keeps the bytes of a file's content at the beginning of a turn.
func (o *originals) keepBeginning(t *turn, path string, was review.Content) {
	if _, known := o.of[versionOf(was)]; known {
		return
	}
	for _, snap := range []*checkpoint.Snapshot{t.first, t.before} {
		if snap == nil {
			continue
		}
		s := snap.State(path)
		if is, _ := o.content(s); is.SameText(was) {
			o.of[versionOf(was)] = s.Sum
			return
		}
	}
}

// bytes returns a content byte for byte; false if that is not known. The last turn, which may be nil, can have seen it
// at the path.
func (o *originals) bytes(path string, is review.Content, last *turn) ([]byte, bool) {
	if !is.Opaque {
		data, err := buffers.Encoded(is.Text, is.Form)
		return data, err == nil
	}
	if !o.has(path, is, last) {
		return nil, false
	}
	data, err := o.store.Content(o.of[versionOf(is)])
	return data, err == nil
}

// has is bytes without reading them.
func (o *originals) has(path string, is review.Content, last *turn) bool {
	if !is.Opaque {
		return true
	}
	if last != nil {
		o.keepBeginning(last, path, is)
	}
	_, known := o.of[versionOf(is)]
	return known
}
