package buffers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"golang.org/x/sys/unix"
)

// This file makes the edits that the user asks for: refusals and undos.

// Edit asks for a change to the user's present text of a file, on the user's behalf: the agent does not learn of it.
type Edit struct {
	Path string // absolute
	// Change computes the new text from the user's present one at Path, unsaved text included; nil is no file. An error
	// ends the edit with nothing done. It may be called several times, from any goroutine, and must be pure.
	Change func(now *string) (*string, error)
	// Disk computes the new text of the disk under a buffer with unsaved text from its present one, mine being the
	// buffer's text; nil is the same change, by lines. Without Change the buffer stays as it is. It must be pure, too.
	Disk func(disk, mine string) *string
	Mode *fs.FileMode // permission bits to set; nil: leave them
}

// Edit changes the file e.Path, on the disk and in its buffer; done is as with Read. Unsaved text stays unsaved: the
// same change is applied to the disk's text, by lines. If the result is no file, the file is removed; its buffer stays
// if it is shown or has unsaved text.
func (f *Files) Edit(ctx context.Context, e Edit, done func(Written, error)) {
	submit(f, "edit", &job{ctx: ctx, path: e.Path}, func(path string) (Written, error) {
		w := liveWrite{Files: f, path: path, own: true}
		w.goalOf = func(s found) (g goal, err error) {
			if e.Change == nil {
				g = under(s, e.Disk)
			} else if g, err = users(s, e); err != nil {
				return g, err
			}
			if k, known := f.seen.get(path); known && !sameText(g.disk, s.disk) {
				k.lacks = true // what the user has refused is not to come back with a text that the agent has of before
				g.known = &k
			}
			return g, nil
		}
		return f.withMode(ctx, path, e.Mode, func() (Written, error) { return w.run(ctx, nil) })
	}, done)
}

// Restored asks for the bytes and permission bits that a file had, which was deleted or is not text.
type Restored struct {
	Path string
	Data []byte
	Mode fs.FileMode
	// Saved says that the bytes have nothing of what is unsaved in the file's buffer; otherwise that is left out.
	Saved bool
	// Buffer computes the new text of a buffer with unsaved text from its present one, mine; where it cannot, or is nil, the
	// disk's is merged into that. It must be pure.
	Buffer func(mine string) (text string, ok bool)
}

// Restore gives a file what it had. Its buffer syncs as with any other program's write, and the user's unsaved lines
// stay there. done is as with Read.
func (f *Files) Restore(ctx context.Context, r Restored, done func(Written, error)) {
	submit(f, "restore", &job{ctx: ctx, path: r.Path}, func(path string) (Written, error) {
		r.Path = path
		return f.withMode(ctx, path, &r.Mode, func() (Written, error) { return f.restore(ctx, r) })
	}, done)
}

// users returns the goal of an edit.
func users(s found, e Edit) (goal, error) {
	next, err := e.Change(s.mine)
	if err != nil || next == nil {
		return goal{}, err
	}
	g := goal{disk: next, buffer: next, synced: *next, theirs: *next}
	if !s.modified {
		return g, nil
	}
	if g.disk = s.disk; s.disk == nil {
		return g, nil // a file that the user has not saved yet
	}
	var disk *string
	if e.Disk != nil {
		disk = e.Disk(*s.disk, *s.mine)
	}
	if disk == nil {
		disk = new(carried(*s.disk, *s.mine, *next))
	}
	g.disk, g.synced, g.theirs = disk, *disk, *disk
	return g, nil
}

// under returns the goal of an edit to the disk under a buffer with unsaved text; without unsaved text nothing changes.
func under(s found, change func(disk, mine string) *string) goal {
	g := goal{disk: s.disk, buffer: s.mine}
	if s.disk == nil {
		return g
	}
	if s.modified {
		g.disk = cmp.Or(change(*s.disk, *s.mine), s.disk)
	}
	g.synced, g.theirs = *g.disk, *g.disk
	return g
}

// decided returns the goal of a write of a text that the user decided about while seeing base: the buffer gets it, with
// what they have typed since, and the disk the same change, including what they made of unsaved lines, in place of what
// the disk has there.
func (f *Files) decided(path, text, base string, s found) goal {
	mine := ""
	if s.mine != nil {
		mine = *s.mine
	}
	next, conflicts := merge3(base, mine, text)
	g := goal{disk: &next, buffer: &next, theirs: text, conflicts: conflicts}
	if s.modified {
		had := ""
		if s.disk != nil {
			had = *s.disk
		}
		disk := carried(had, mine, next)
		if replaces(mine, next, had) {
			was, is := withoutTyped(mine, next, had)
			disk, _ = merge3(agreed(was, had, is), is, had)
		}
		g.disk = &disk
	}
	g.synced = *g.disk
	if k, ok := f.seen.get(path); ok {
		// The agent learns what became of its text, and nothing else.
		k.lacks = k.behind(s.written)
		k.text = carried(k.text, mine, next)
		g.known = &k
	}
	return g
}

// carried applies the changes from old to next to text, by lines: removed lines go if text has them, and added lines go
// to the same place, unless they replace lines that text does not have, or are already there. Lines that only text has
// stay, and lines that only old has are not added. The last newline stays as it is too, unless it is one of the
// changes.
func carried(text, old, next string) string {
	there, had := linediff.Lines(Lined(text)), linediff.Lines(Lined(agreed(old, text, next)))
	at := rowsOf(had, there)
	var out []string
	done := 0 // lines of text
	copyTo := func(row int) {
		if row > done {
			out = append(out, there[done:row]...)
			done = row
		}
	}
	for _, c := range byLine(hunksOf(had, linediff.Lines(Lined(next)))) {
		after := c.Start // the first line from there on that text also has
		for after < len(at) && at[after] < 0 {
			after++
		}
		switch {
		case c.Start < c.End && after >= c.End:
			continue
		case c.Start == c.End && c.Start == 0:
		case c.Start == c.End && at[c.Start-1] >= 0:
			copyTo(at[c.Start-1] + 1)
		case after < len(at):
			copyTo(at[after])
		default:
			copyTo(len(there))
		}
		out = append(out, c.Lines...)
		for _, row := range at[c.Start:c.End] {
			if row >= 0 {
				copyTo(row)
				done++
			}
		}
	}
	copyTo(len(there))

	now := strings.Join(out, "")
	ends := strings.HasSuffix(text, "\n")
	if before, after := strings.HasSuffix(old, "\n"), strings.HasSuffix(next, "\n"); text == "" || before != after {
		ends = after
	}
	if !ends {
		now = strings.TrimSuffix(now, "\n")
	}
	return now
}

// agreed returns old with, once each, the lines that both text and next have in addition at the same place: those that
// were taken out of old and have come back. A line of text that replaces one of old was not taken out.
func agreed(old, text, next string) string {
	had := linediff.Lines(Lined(old))
	out := slices.DeleteFunc(hunksOf(had, linediff.Lines(Lined(text))), func(o hunk) bool {
		return len(o.Lines) <= o.End-o.Start
	})
	var lines []string
	at := 0
	for _, c := range hunksOf(had, linediff.Lines(Lined(next))) {
		for len(out) > 0 && out[0].End < c.Start {
			out = out[1:]
		}
		for i := 0; i < len(out) && out[i].Start <= c.End; i++ {
			o, to := &out[i], out[i].End
			if c.Start == c.End {
				to = max(at, c.Start) // where next has them
			}
			lines, at = append(lines, had[at:to]...), to
			ofC, ofO := 0, 0
			for row, same := range rowsOf(c.Lines, o.Lines) {
				if same >= 0 {
					lines = append(lines, c.Lines[row])
					ofC, ofO = row+1, same+1
				}
			}
			c.Lines, o.Lines = c.Lines[ofC:], o.Lines[ofO:]
		}
	}
	both := strings.Join(append(lines, had[at:]...), "")
	if !ended(old) {
		both = strings.TrimSuffix(both, "\n")
	}
	return both
}

// withoutTyped returns old and next without the lines that old has in addition to text and next leaves as they are.
func withoutTyped(old, next, text string) (was, is string) {
	had, wanted := linediff.Lines(old), linediff.Lines(next)
	stays := rowsOf(had, wanted)
	var left, leftIn []string
	at, atIn := 0, 0
	for _, c := range hunksOf(had, linediff.Lines(text)) {
		for row := c.Start; row < c.End && len(c.Lines) == 0; row++ {
			if to := stays[row]; to >= 0 {
				left, leftIn = append(left, had[at:row]...), append(leftIn, wanted[atIn:to]...)
				at, atIn = row+1, to+1
			}
		}
	}
	return strings.Join(append(left, had[at:]...), ""), strings.Join(append(leftIn, wanted[atIn:]...), "")
}

// replaces reports whether next replaces lines of old that text does not have.
func replaces(old, next, text string) bool {
	had := linediff.Lines(Lined(old))
	at := rowsOf(had, linediff.Lines(Lined(text)))
	return slices.ContainsFunc(hunksOf(had, linediff.Lines(Lined(next))), func(c hunk) bool {
		return len(c.Lines) > 0 && slices.ContainsFunc(at[c.Start:c.End], func(row int) bool { return row < 0 })
	})
}

// rowsOf maps each line of a to its line in b, or -1.
func rowsOf(a, b []string) []int {
	rows := make([]int, len(a))
	at, moved := 0, 0
	for _, c := range append(hunksOf(a, b), hunk{Start: len(a), End: len(a)}) {
		for ; at < c.Start; at++ {
			rows[at] = at + moved
		}
		for ; at < c.End; at++ {
			rows[at] = -1
		}
		moved += len(c.Lines) - (c.End - c.Start)
	}
	return rows
}

// byLine splits hunks so that each replaced line is a change of its own.
func byLine(list []hunk) (single []hunk) {
	for _, c := range list {
		if len(c.Lines) != c.End-c.Start {
			single = append(single, c)
			continue
		}
		for i, line := range c.Lines {
			single = append(single, hunk{c.Start + i, c.Start + i + 1, []string{line}})
		}
	}
	return single
}

// remove removes the file of a buffer, and the buffer too if nothing shows it and all of it was saved.
func (w *liveWrite) remove(ctx context.Context, l live, disk file, before *string) (outcome, error) {
	if disk.exists() {
		if err := unix.Access(filepath.Dir(w.path), unix.W_OK); err != nil {
			return 0, cause(err)
		}
	}
	var got struct {
		Moved  bool   `msgpack:"moved"`
		Locked bool   `msgpack:"locked"`
		Wiped  bool   `msgpack:"wiped"`
		Err    string `msgpack:"err"`
	}
	err := w.editor.CallBuffers(ctx, "remove", targetOf(w.path, l, disk), &got)
	switch {
	case err != nil:
		return 0, err
	case got.Moved:
		return moved, nil
	case got.Locked:
		return locked, nil
	case got.Err != "":
		return 0, errors.New(got.Err)
	}
	w.Written = Written{Path: w.path, Buf: l.Buf, Changed: disk.exists(), Deleted: true, Before: before, FormBefore: disk.form()}
	if got.Wiped {
		w.Buf = 0
	}
	w.removed.Store(w.path, true)
	return applied, nil
}

// RemoveLinks removes the symbolic links at a path where a file is to be again, and at its folders as far as they are
// inside: its buffer hears of the file, rather than that there is none.
func (f *Files) RemoveLinks(path string, inside func(string) bool) {
	for at := path; inside(at); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			f.removed.Store(path, true)
			_ = os.Remove(at)
		}
	}
}

func (f *Files) restore(ctx context.Context, r Restored) (Written, error) {
	path, data := r.Path, r.Data
	l, err := f.live(ctx, path)
	if err == nil {
		err = l.obstacle()
	}
	if err != nil {
		return Written{}, err
	}
	old, err := readOld(path)
	if err == nil && f.behind(path, l, old, true) {
		if err = f.catchUp(ctx, path, false); err == nil {
			l, err = f.live(ctx, path)
		}
	}
	if err != nil {
		return Written{}, err
	}
	w := Written{Path: path, Buf: l.Buf, Created: !old.exists(), FormBefore: old.form()}
	if before, err := f.read(ctx, path, Read{peek: true}); err == nil {
		w.Before = &before
		if l.Modified && !r.Saved {
			data = f.withoutUnsaved(path, l, before, data)
		}
	}
	w.Changed, w.FormAfter = !old.exists() || string(old.data) != string(data), Form(data)
	if !w.Changed {
		w.After = w.Before
		return w, nil
	}
	if err := f.journal.undo(path, data, old, old.standing()); err != nil {
		return Written{}, err
	}
	f.there(path)
	if l.Buf == 0 {
		text, _ := detect(data)
		f.synced.put(path, inStep{text: text, form: Form(data)})
		w.After = &text
		return w, nil
	}
	took, err := f.sync(ctx, path, how{empty: true, own: true, buffer: r.Buffer})
	if note, ok := gone(path, err); ok {
		w.Note = note
		return w, nil
	}
	if err != nil {
		return Written{}, errors.Join(err, f.journal.restore(path, old))
	}
	w.Buf, w.After, w.Conflict = took.Buf, took.After, took.Conflict
	if l.Modified && !took.Changed {
		w.After = w.Before
	}
	if w.Conflict {
		w.Note = fmt.Sprintf("%s was restored on disk; your unsaved lines stay in its buffer.", filepath.Base(path))
	}
	return w, nil
}

// withoutUnsaved returns data without what the user has typed and not saved in the file's buffer, whose text is mine.
func (f *Files) withoutUnsaved(path string, l live, mine string, data []byte) []byte {
	synced, ok := f.synced.get(path)
	if !ok || l.Disk == nil || l.Disk.Exists && synced.at != *l.Disk { // there is none that was removed here
		return data
	}
	text, form := detect(data)
	saved := withoutAdded(Lined(mine), Lined(synced.text), Lined(text)) // a buffer does not say whether the last line ends
	if saved == Lined(text) {
		return data
	}
	if !ended(text) {
		saved = strings.TrimSuffix(saved, "\n")
	}
	encoded, err := form.encode(saved)
	if err != nil {
		return data
	}
	return encoded
}

// withoutAdded removes from text the lines that mine has in addition to saved, and puts back those of saved that they
// replace. Lines that mine merely lacks say nothing: text may lack them for another reason.
func withoutAdded(mine, saved, text string) string {
	lines, has := linediff.Lines(mine), map[string]bool{}
	for _, line := range linediff.Lines(text) {
		has[line] = true
	}
	added := slices.DeleteFunc(hunksOf(lines, linediff.Lines(saved)), func(h hunk) bool {
		return h.Start == h.End || slices.ContainsFunc(lines[h.Start:h.End], func(line string) bool { return !has[line] })
	})
	without, _ := merge3(mine, text, strings.Join(applied3(lines, added, 0, len(lines)), ""))
	return without
}

// withMode sets a file's permission bits, unless mode is nil, after edit has changed it. If edit fails they stay.
func (f *Files) withMode(ctx context.Context, path string, mode *fs.FileMode, edit func() (Written, error)) (Written, error) {
	if mode == nil {
		return edit()
	}
	old, err := os.Stat(path)
	exists := err == nil && old.Mode().IsRegular()
	if exists {
		// What is not permitted fails before anything is done, and a file that is to be writable becomes so first.
		if err := os.Chmod(path, old.Mode()|*mode&0o200); err != nil {
			return Written{}, cause(err)
		}
	}
	w, err := edit()
	if err != nil {
		if exists {
			err = errors.Join(err, cause(os.Chmod(path, old.Mode())))
		}
		return Written{}, err
	}
	now, err := os.Stat(path)
	if err != nil {
		return w, nil // the file is gone
	}
	if err := os.Chmod(path, now.Mode()&^fs.ModePerm|mode.Perm()); err != nil {
		return Written{}, cause(err)
	}
	if w.Buf != 0 && !w.Deleted {
		var got struct {
			Noted bool `msgpack:"noted"`
		}
		f.editor.CallBuffers(ctx, "note", map[string]any{"buf": w.Buf}, &got) // its error means that Neovim is gone
	}
	return w, nil
}
