package buffers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// sliceLines is how many lines one call to Neovim takes of a buffer at most, so that it never works
	// long; of long lines it takes fewer.
	sliceLines = 10_000
	// slicedReads is how often a read in slices starts again because the buffer changed between two of
	// them, before it takes the whole in one call.
	slicedReads = 3
	// maxTries is how often a write starts again because the file or its buffer changed meanwhile.
	maxTries = 20
	// lockedPoll is how often a write asks whether |textlock| is over: no event tells.
	lockedPoll = 50 * time.Millisecond
)

// live is what Neovim says of a file's buffer.
type live struct {
	Buf         int    `msgpack:"buf"` // 0: no loaded buffer shows the file
	Changedtick int    `msgpack:"changedtick"`
	Modified    bool   `msgpack:"modified"`
	Lines       int    `msgpack:"lines"`
	Empty       bool   `msgpack:"empty"`
	Newline     bool   `msgpack:"newline"`
	Format      string `msgpack:"format"`
	Encoding    string `msgpack:"encoding"`
	Bom         bool   `msgpack:"bom"`
	Readonly    bool   `msgpack:"readonly"`
	Modifiable  bool   `msgpack:"modifiable"`
	Buftype     string `msgpack:"buftype"`
	Disk        stamp  `msgpack:"disk"`      // with which Neovim was last in step
	Part        bool   `msgpack:"part"`      // the user wrote a part of the buffer over the file
	Elsewhere   int    `msgpack:"elsewhere"` // another Neovim with unsaved changes of a file that no buffer shows: its pid
	Slice       *slice `msgpack:"slice"`     // the first lines that were asked for
}

// slice is some lines of a buffer.
type slice struct {
	Text  string `msgpack:"text"`
	Last  int    `msgpack:"last"`  // row behind them
	Ended bool   `msgpack:"ended"` // the buffer's last line is among them
	Moved bool   `msgpack:"moved"` // none: the buffer has changed
	first int
}

// decode gives the text of the disk's bytes as the buffer would have it, and false where only Neovim
// can tell.
func (l live) decode(data []byte) (string, bool) {
	text, f, ok := decode(data, l.Encoding)
	if !ok || l.Format == "mac" || f.dos != (l.Format == "dos" && strings.Contains(text, "\n")) {
		return "", false
	}
	return text, true
}

// form is how the buffer's text stands on the disk. Encodings that only Neovim knows are an error.
func (l live) form() (format, error) {
	f := format{encoding: l.Encoding, bom: l.Bom, dos: l.Format == "dos"}
	if f.encoding == "" {
		f.encoding = "utf-8"
	}
	if _, ok := boms[f.encoding]; !ok && f.encoding != "latin1" || l.Format == "mac" {
		return f, fmt.Errorf("its buffer has unsaved text and stands on the disk as %s %s, which only Neovim can write: save it first", l.Format, l.Encoding)
	}
	return f, nil
}

// encoded is a text as Neovim will write it, as far as that is known.
func (l live) encoded(text string) []byte {
	if f, err := l.form(); err == nil {
		if data, err := f.encode(text); err == nil {
			return data
		}
	}
	return []byte(text)
}

func (f *Files) live(ctx context.Context, path string) (live, error) {
	var l live
	err := f.editor.CallBuffers(ctx, "info", map[string]any{"path": path}, &l)
	return l, err
}

// liveWith is live with lines of a buffer from first to last, or the first of them where they are many,
// unless all are known here. With unsaved only of one that has unsaved text.
func (f *Files) liveWith(ctx context.Context, path string, first, last int, unsaved bool) (live, error) {
	known := f.shown.version(path)
	end := first + sliceLines
	if last >= 0 {
		end = min(end, last)
	}
	args := map[string]any{
		"path": path, "first": first, "last": end, "unsaved": unsaved,
		"known_buf": known.buf, "known_tick": known.tick,
	}
	var l live
	err := f.editor.CallBuffers(ctx, "info", args, &l)
	if l.Slice != nil {
		l.Slice.first = first
	}
	return l, err
}

func (f *Files) read(ctx context.Context, path string, r Read) (string, error) {
	first, last := r.lineRange()
	l, err := f.liveWith(ctx, path, first, last, true)
	if err != nil {
		return "", err
	}
	if l.Buf != 0 && l.Buftype == "" && l.Modified {
		return f.readLive(ctx, path, l, r)
	}
	// A buffer without unsaved text has the disk's, or an older one.
	file, err := readFile(path)
	if err != nil {
		return "", err
	}
	text, ok := "", false
	if l.Buf == 0 || l.Buftype != "" {
		text, _ = detect(file.data)
	} else if text, ok = l.decode(file.data); !ok {
		return f.readLive(ctx, path, l, r)
	}
	part := cutLines(text, first, last)
	if len(part) == len(text) && !r.peek {
		f.seen.put(path, text)
	}
	return part, nil
}

func (f *Files) readLive(ctx context.Context, path string, l live, r Read) (string, error) {
	first, last := r.lineRange()
	part, l, err := f.lines(ctx, path, l, first, last)
	if err != nil {
		return "", err
	}
	if !utf8.ValidString(part) {
		return "", ErrNotText // what an answer would make of it, a write would not give back
	}
	// What the agent knows as the file is what it has read whole: a part read later does not tell it of
	// changes elsewhere.
	if first == 0 && (last < 0 || last >= l.Lines) && !r.peek {
		f.seen.put(path, part)
	}
	return part, nil
}

// lines returns lines first to last of a buffer as :write would write them, all of one state, and what
// the buffer was in that state.
func (f *Files) lines(ctx context.Context, path string, l live, first, last int) (string, live, error) {
	for try := 0; ; try++ {
		if lines, ok := f.shown.get(path, l.version()); ok {
			return cutLines(l.ended(lines), first, last), l, nil
		}
		text, ok, err := f.slices(ctx, l, first, last, try >= slicedReads)
		if ok && first == 0 && (last < 0 || last >= l.Lines) && try < slicedReads {
			f.shown.put(path, l.version(), l.unended(text))
		}
		if err != nil || ok {
			return text, l, err
		}
		if try >= maxTries {
			return "", l, ErrBusy
		}
		if l, err = f.live(ctx, path); err != nil {
			return "", l, err
		}
		if l.Buf == 0 {
			return "", l, ErrBusy
		}
	}
}

// slices is one try of lines; false means that the buffer is no longer as l says. As a whole, they are
// those of whatever state the buffer is in.
func (f *Files) slices(ctx context.Context, l live, first, last int, whole bool) (string, bool, error) {
	end := l.Lines
	if last >= 0 {
		end = min(end, last)
	}
	if l.Empty || first >= end {
		return "", true, nil
	}
	var text strings.Builder
	for at := first; at < end; {
		args := map[string]any{"buf": l.Buf, "changedtick": l.Changedtick, "first": at, "last": min(at+sliceLines, end)}
		if whole {
			delete(args, "changedtick")
			args["last"] = last
			end = at
		}
		var got slice
		if l.Slice != nil && l.Slice.first == at && l.Slice.Last <= end && !whole {
			got = *l.Slice
		} else if err := f.editor.CallBuffers(ctx, "lines", args, &got); err != nil || got.Moved {
			return "", false, err
		}
		if at == first && got.Last > at {
			text.Grow((len(got.Text) + 1) * (end - at) / (got.Last - at)) // all of it, if the lines are much alike
		}
		text.WriteString(got.Text)
		if !got.Ended || l.Newline {
			text.WriteByte('\n')
		}
		at = got.Last
	}
	return text.String(), true, nil
}

func (f *Files) write(ctx context.Context, path string, asked Write) (Written, error) {
	w := liveWrite{Files: f, path: path, text: asked.Text}
	w.base, w.based = f.seen.get(path)
	for try := 0; try < maxTries; {
		l, err := f.liveWith(ctx, path, 0, -1, false)
		if err != nil {
			return Written{}, err
		}
		if l.Buf == 0 && l.Elsewhere != 0 {
			return Written{}, fmt.Errorf("%w (process %d)", ErrElsewhere, l.Elsewhere)
		}
		if l.Buf == 0 {
			return f.writeDisk(path, asked.Text)
		}
		outcome, err := w.try(ctx, l)
		switch {
		case err != nil:
			return Written{}, err
		case outcome == locked:
			if err := wait(ctx, lockedPoll); err != nil {
				return Written{}, err
			}
		case outcome == moved:
			try++
		default:
			if w.save != 0 {
				w.saveAsUser(ctx, asked.Waiting)
			}
			return w.Written, nil
		}
	}
	return Written{}, ErrBusy
}

// writeDisk writes a file that no buffer shows.
func (f *Files) writeDisk(path, text string) (Written, error) {
	old, err := readOld(path)
	if err != nil {
		return Written{}, err
	}
	w := Written{Path: path, Created: !old.exists(), Changed: true}
	form := format{encoding: "utf-8"}
	if old.exists() {
		var had string
		had, form = detect(old.data)
		text = form.normal(text)
		w.Changed = had != text
		w.Before = &had
	}
	w.After = &text
	if w.Changed {
		data, err := form.encode(text)
		if err != nil {
			return Written{}, err
		}
		if err := writeFile(path, data, old); err != nil {
			return Written{}, err
		}
	}
	f.agreed(path, text)
	return w, nil
}

// agreed remembers a text that the disk and the agent have.
func (f *Files) agreed(path, text string) {
	f.seen.put(path, text)
	f.synced.put(path, text)
}

type outcome int

const (
	applied outcome = iota
	moved           // something changed since it was looked at: look again
	locked          // Neovim lets no text change now
)

// liveWrite is a write to a file that a buffer shows, through as many tries as it takes.
type liveWrite struct {
	*Files
	path, text string

	// base is what the agent last knew as the file's text, else what the disk had before the write.
	base  string
	based bool
	// old is the disk before the write, once the write has replaced it.
	old *file
	// save is the buffer's changedtick at which it is to be saved once more, as the user does; 0 is not.
	save int
	// end forgets what the journal keeps of the write.
	end func()
	// edited is that the buffer's text was changed.
	edited bool

	Written
}

// try does all of the write or nothing, but for a buffer with unsaved text, where the disk may be
// written before the buffer is found changed.
func (w *liveWrite) try(ctx context.Context, l live) (outcome, error) {
	switch {
	case l.Buftype != "":
		return 0, ErrSpecialBuffer
	case !l.Modifiable:
		return 0, ErrNotModifiable
	case l.Readonly:
		return 0, ErrReadOnly
	}
	disk, err := readOld(w.path)
	if err != nil {
		return 0, err
	}
	text := format{bom: l.Bom, dos: l.Format == "dos"}.normal(w.text)
	had, known := "", false
	if disk.exists() {
		had, known = l.decode(disk.data)
	}
	if !w.based {
		w.base, w.based = had, true
	}
	var before *string
	after := text
	switch synced, ok := w.synced.get(w.path); {
	case !disk.exists():
	case ok && had == text: // the disk has it already, the buffer may be behind
		before = &synced
	case known:
		before = &had
	default:
		was, _ := detect(disk.data)
		before = &was
	}
	if err := makeDir(w.path); err != nil {
		return 0, err
	}

	save := !known || had != text
	form, err := l.form()
	if err == nil {
		if _, err := form.encode(text); err != nil {
			return 0, err
		}
	}
	args := map[string]any{"buf": l.Buf, "changedtick": l.Changedtick, "path": w.path}
	if err != nil {
		args["text"] = text // for Neovim to find out whether it has a form
	}
	mine, ok, err := w.whole(ctx, w.path, l)
	if err != nil || !ok {
		return moved, err
	}
	lines := l.unended(mine)
	steps := []any{}
	merging := false
	var conflicts []conflict
	if l.Modified {
		var merged string
		merged, conflicts = merge3(w.base, mine, text)
		if after = merged; disk.exists() || mine != "" {
			before = &mine
		}
		if merged != text {
			if save {
				if disk, err = w.replaceDisk(l, disk, text); err != nil {
					return 0, err
				}
			}
			mergeArgs(args, merged, text, conflicts)
			merging = true
		}
	} else if known && had != mine {
		steps, lines = append(steps, step(lines, had)), linesOf(had)
	}
	args["steps"] = append(steps, step(lines, after))
	args["save"] = save
	args["disk"] = diskArgs(disk)

	var got struct {
		Changed bool   `msgpack:"changed"`
		Moved   bool   `msgpack:"moved"`
		Locked  bool   `msgpack:"locked"`
		Lossy   bool   `msgpack:"lossy"`
		Err     string `msgpack:"err"`
		Keys    string `msgpack:"keys"` // how the user decides conflicts
		Save    int    `msgpack:"save"`
		Tick    int    `msgpack:"tick"` // with the new text
	}
	w.end = func() {}
	if !merging {
		w.end = w.journal.begin(w.path, disk, l.encoded(text))
	}
	err = w.editor.CallBuffers(ctx, "write", args, &got)
	if err != nil {
		return 0, err // Neovim is gone, or goes on with it: the journal knows
	}
	if got.Save == 0 {
		defer w.end()
	}
	switch {
	case got.Moved:
		return moved, nil
	case got.Locked:
		return locked, nil
	case got.Lossy:
		return 0, ErrEncoding
	case got.Err != "":
		if w.old != nil {
			disk = *w.old
		}
		return 0, errors.Join(errors.New(got.Err), restore(w.path, disk))
	}

	w.Written = Written{
		Path:    w.path,
		Buf:     l.Buf,
		Changed: save || got.Changed || w.old != nil,
		Created: !disk.exists() || w.old != nil && !w.old.exists(),
		Before:  before,
		After:   &after,
	}
	w.agreed(w.path, text)
	w.shown.put(w.path, version{l.Buf, got.Tick}, linesOf(after))
	w.save, w.edited = got.Save, got.Changed
	w.tellConflicts(len(conflicts), got.Keys)
	if len(conflicts) > 0 {
		w.refused.put(w.path, text)
	}
	return applied, nil
}

// replaceDisk gives the disk a text that the buffer will not have, in the buffer's encoding and format.
func (w *liveWrite) replaceDisk(l live, disk file, text string) (file, error) {
	form, err := l.form()
	if err != nil {
		return file{}, err
	}
	data, err := form.encode(text)
	if err != nil {
		return file{}, err
	}
	if err := writeFile(w.path, data, disk); err != nil {
		return file{}, err
	}
	if w.old == nil {
		w.old = &disk
	}
	return readFile(w.path)
}

// wait returns after d, or ctx's error if that ends before.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
