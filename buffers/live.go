package buffers

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// obstacle is why the buffer's file may not be changed.
func (l live) obstacle() error {
	switch {
	case l.Buf == 0 && l.Elsewhere != 0:
		return fmt.Errorf("%w (process %d)", ErrElsewhere, l.Elsewhere)
	case l.Buf == 0:
		return nil
	case l.Buftype != "":
		return ErrSpecialBuffer
	case !l.Modifiable:
		return ErrNotModifiable
	case l.Readonly:
		return ErrReadOnly
	}
	return nil
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
	w.goal = w.agents
	return w.run(ctx, asked.Waiting)
}

// run tries until all is done, or nothing. waiting is that of a Write.
func (w *liveWrite) run(ctx context.Context, waiting func()) (Written, error) {
	for try := 0; try < maxTries; {
		outcome, err := w.look(ctx)
		if err == nil && outcome == locked {
			err = wait(ctx, lockedPoll)
		}
		switch {
		case err != nil:
			return Written{}, errors.Join(err, w.takeBack())
		case outcome == moved:
			try++
		case outcome == applied:
			if w.save != 0 {
				w.saveAsUser(ctx, waiting)
			}
			return w.Written, nil
		}
	}
	return Written{}, errors.Join(ErrBusy, w.takeBack())
}

// look is one try, wherever the file's text is.
func (w *liveWrite) look(ctx context.Context) (outcome, error) {
	l, err := w.liveWith(ctx, w.path, 0, -1, false)
	if err == nil {
		err = l.obstacle()
	}
	switch {
	case err != nil:
		return 0, err
	case l.Buf != 0:
		return w.try(ctx, l)
	}
	if err := w.takeBack(); err != nil {
		return 0, err
	}
	return applied, w.writeDisk()
}

// writeDisk writes a file that no buffer shows.
func (w *liveWrite) writeDisk() error {
	old, err := readOld(w.path)
	if err != nil {
		return err
	}
	form := format{encoding: "utf-8"}
	var had *string
	if old.exists() {
		var text string
		text, form = detect(old.data)
		had = &text
	}
	g, err := w.goal(found{form: form, disk: had, mine: had})
	if err != nil {
		return err
	}
	done := Written{Path: w.path, Changed: !sameText(had, g.disk), Before: had, After: g.disk}
	switch {
	case done.Changed && g.disk == nil:
		done.Deleted = true
		if err := os.Remove(w.path); err != nil {
			return cause(err)
		}
		w.removed.Store(w.path, true)
	case done.Changed:
		done.Created = had == nil
		data, err := form.encode(*g.disk)
		if err != nil {
			return err
		}
		if err := w.journal.write(w.path, data, old, old.standing()); err != nil {
			return err
		}
	}
	if g.disk != nil {
		w.settle(g)
	}
	w.Written = done
	return nil
}

// sameText compares texts of which nil is no file.
func sameText(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

type outcome int

const (
	applied outcome = iota
	moved           // something changed since it was looked at: look again
	locked          // Neovim lets no text change now
)

// found is what a write finds; a text that is nil is no file.
type found struct {
	form     format
	disk     *string
	mine     *string // what the user has
	modified bool    // that is a buffer's unsaved text
}

// goal is what a write is to reach; a text that is nil is no file.
type goal struct {
	disk, buffer *string    // the same, unless the buffer is to have unsaved text
	synced       string     // the disk's text that the buffer is then in step with
	conflicts    []conflict // of the two
}

// liveWrite is a write to a file, through as many tries as it takes.
type liveWrite struct {
	*Files
	path string
	goal func(found) (goal, error) // may be asked once more for each try
	own  bool                      // by the user's own wish: the agent does not get to know it

	text string // the agent's
	// base is what the agent last knew as the file's text, else what the disk had before the write.
	base  string
	based bool
	// old is the disk before the write, once the write has replaced it, and left what it is since then.
	old  *file
	left stamp
	// save is the buffer's changedtick at which it is to be saved once more, as the user does; 0 is not.
	save int
	// kept is what the journal keeps of the write while Neovim is on it.
	kept *kept
	// edited is that the buffer's text was changed.
	edited bool

	Written
}

// agents is the goal of an agent's write: the disk gets its text, the buffer too but for the user's lines.
func (w *liveWrite) agents(s found) (goal, error) {
	text := s.form.normal(w.text)
	if !w.based {
		if s.disk != nil {
			w.base = *s.disk
		}
		w.based = true
	}
	g := goal{disk: &text, buffer: &text, synced: text}
	if s.modified {
		merged, conflicts := merge3(w.base, *s.mine, text)
		g.buffer, g.conflicts = &merged, conflicts
	}
	return g, nil
}

// settle remembers what was reached.
func (w *liveWrite) settle(g goal) {
	if !w.own {
		w.seen.put(w.path, *g.disk)
	}
	w.synced.put(w.path, g.synced)
	w.removed.Delete(w.path)
}

// try does all of the write or nothing, but for a buffer with unsaved text, where the disk may be
// written before the buffer is found changed.
func (w *liveWrite) try(ctx context.Context, l live) (outcome, error) {
	disk, err := readOld(w.path)
	if err != nil {
		return 0, err
	}
	s := found{form: format{bom: l.Bom, dos: l.Format == "dos"}, modified: l.Modified}
	had, known := "", false
	if disk.exists() {
		if had, known = l.decode(disk.data); !known {
			had, _ = detect(disk.data)
		}
		s.disk, s.mine = &had, &had
	}
	mine, ok, err := w.whole(ctx, w.path, l)
	if err != nil || !ok {
		return moved, err
	}
	if l.Modified || w.own && disk.exists() && !known {
		s.mine = &mine
	}
	if w.old != nil && w.old.exists() && w.isLeft(disk) {
		before, _ := l.decode(w.old.data)
		s.disk = &before // not what an earlier try has made of it
	}
	g, err := w.goal(s)
	if err != nil {
		return 0, err
	}
	before := s.mine
	switch {
	case w.own && w.old == nil && sameText(g.buffer, s.mine):
		w.Written = Written{Path: w.path, Buf: l.Buf, Before: s.mine, After: s.mine}
		return applied, nil
	case g.buffer == nil:
		return w.remove(ctx, l, disk, s.mine)
	case l.Modified && !disk.exists() && mine == "":
		before = nil
	case !l.Modified && known && g.disk != nil && had == *g.disk: // the buffer may be behind
		if synced, ok := w.synced.get(w.path); ok {
			before = &synced
		}
	}

	text, after := "", *g.buffer
	if g.disk != nil {
		text = *g.disk
		if err := makeDir(w.path); err != nil {
			return 0, err
		}
	}
	save := g.disk != nil && (!known || had != text)
	args := map[string]any{"buf": l.Buf, "changedtick": l.Changedtick, "path": w.path}
	if form, err := l.form(); err != nil {
		args["text"] = text // for Neovim to find out whether it has a form
	} else if _, err := form.encode(text); err != nil {
		return 0, err
	}
	lines := l.unended(mine)
	steps := []any{}
	merging := after != text || g.disk == nil
	if merging {
		if save {
			if disk, err = w.replaceDisk(l, disk, text); err != nil {
				return 0, err
			}
		}
		mergeArgs(args, after, text, g.conflicts)
	} else if known && !l.Modified && had != mine {
		steps, lines = append(steps, step(lines, had)), linesOf(had)
	}
	args["steps"] = append(steps, step(lines, after))
	args["save"] = save
	args["disk"] = diskArgs(disk)

	w.kept = nil
	if !merging {
		w.kept = w.journal.inPlace(w.path, disk, l.encoded(text))
	}
	got, err := hand(ctx, w, "write", args, func(late answered) {
		if late.Err != "" {
			w.kept.abandon()
		} else {
			w.kept.end()
		}
	})
	if err != nil {
		return 0, err
	}
	if got.Err != "" {
		already := journal("") // this write's entry has both texts
		if w.old != nil {
			disk, already = *w.old, w.journal
		}
		err := already.restore(w.path, disk)
		w.kept.abandon()
		return 0, errors.Join(errors.New(got.Err), err)
	}
	if got.Save == 0 {
		w.kept.end()
	}
	switch {
	case got.Moved:
		return moved, nil
	case got.Locked:
		return locked, nil
	case got.Lossy:
		return 0, ErrEncoding
	}

	w.Written = Written{
		Path:    w.path,
		Buf:     l.Buf,
		Changed: save || got.Changed || w.old != nil,
		Created: g.disk != nil && (!disk.exists() || w.old != nil && !w.old.exists()),
		Before:  before,
		After:   &after,
	}
	if g.disk != nil {
		w.settle(g)
	}
	w.shown.put(w.path, version{l.Buf, got.Tick}, linesOf(after))
	w.save, w.edited = got.Save, got.Changed
	w.tellConflicts(len(g.conflicts), false, got.Keys)
	if len(g.conflicts) > 0 {
		w.refused.put(w.path, text)
	}
	return applied, nil
}

// answered is what Neovim says of a write.
type answered struct {
	Changed bool   `msgpack:"changed"`
	Moved   bool   `msgpack:"moved"`
	Locked  bool   `msgpack:"locked"`
	Lossy   bool   `msgpack:"lossy"`
	Err     string `msgpack:"err"`
	Keys    string `msgpack:"keys"` // how the user decides conflicts
	Save    int    `msgpack:"save"`
	Tick    int    `msgpack:"tick"` // with the new text
}

// hand has Neovim do a part of a write. Where ctx ends before, Neovim goes on with it, and late has its
// answer; where Neovim is gone the file tells the journal how far it came.
func hand[T any](ctx context.Context, w *liveWrite, fn string, args any, late func(T)) (got T, err error) {
	type result struct {
		got T
		err error
	}
	kept, results := w.kept, make(chan result, 1)
	go func() {
		var r result
		r.err = w.editor.CallBuffers(context.WithoutCancel(ctx), fn, args, &r.got)
		if r.err != nil {
			kept.abandon()
		}
		results <- r
	}()
	select {
	case r := <-results:
		return r.got, r.err
	case <-ctx.Done():
		go func() {
			if r := <-results; r.err == nil {
				late(r.got)
			}
		}()
		return got, ctx.Err()
	}
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
	if err := w.journal.write(w.path, data, disk, disk.standing()); err != nil {
		return file{}, err
	}
	if w.old == nil {
		w.old = &disk
	}
	now, err := readFile(w.path)
	if err == nil {
		w.left = stampOf(now.info)
	}
	return now, err
}

// isLeft tells that the disk is as the write has left it.
func (w *liveWrite) isLeft(disk file) bool { return disk.exists() && stampOf(disk.info) == w.left }

// takeBack gives the disk what it had before a write that has come to nothing, unless another program has
// changed it since.
func (w *liveWrite) takeBack() error {
	if w.old == nil {
		return nil
	}
	old := *w.old
	w.old = nil
	now, err := readFile(w.path)
	switch {
	case err != nil || !w.isLeft(now):
		return nil
	case !old.exists():
		return cause(os.Remove(w.path))
	}
	return w.journal.write(w.path, old.data, now, old.standing())
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
