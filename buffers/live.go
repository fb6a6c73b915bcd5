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

// This file has writing a file that a buffer may show, until disk and buffer have what they are to have.

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
	// maxAsked is the size in bytes up to which a file is read when the agent asks to write it.
	maxAsked = 1 << 20
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
	Disk        *stamp `msgpack:"disk"`      // with which Neovim was last in step, where that is known
	Written     stamp  `msgpack:"written"`   // the disk as the user has last written it
	Part        bool   `msgpack:"part"`      // the user wrote a part of the buffer over the file
	Elsewhere   int    `msgpack:"elsewhere"` // another Neovim with unsaved changes of a file that no buffer shows: its pid
	Slice       *slice `msgpack:"slice"`     // the first lines that were asked for
	Patch       *patch `msgpack:"patch"`     // or what the text that is known lacks
	State       string `msgpack:"state"`     // all of it but the text, to be told from another state
}

// slice is some lines of a buffer.
type slice struct {
	Text  string `msgpack:"text"`
	Last  int    `msgpack:"last"`  // row behind them
	Col   int    `msgpack:"col"`   // of that row, where the text is a piece of it: where the next one begins
	Ended bool   `msgpack:"ended"` // the buffer's last line is among them
	Moved bool   `msgpack:"moved"` // none: the buffer has changed
	first int
}

// patch says which lines of a buffer's last known text, from First to Last, exclusive, are Text by now.
type patch struct {
	First int    `msgpack:"first"`
	Last  int    `msgpack:"last"`
	Text  string `msgpack:"text"`
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
	f := l.standing()
	if _, ok := boms[f.encoding]; !ok && f.encoding != "latin1" || l.Format == "mac" {
		return f, fmt.Errorf("its buffer has unsaved text and stands on the disk as %s %s, which only Neovim can write: save it first", l.Format, l.Encoding)
	}
	return f, nil
}

// emptied reports whether the file of a watched buffer is empty: who writes it has probably just begun.
func (l live) emptied(disk file) bool { return disk.exists() && len(disk.data) == 0 && l.Disk != nil }

// standing is what the options of the buffer say of its form.
func (l live) standing() format {
	f := format{encoding: l.Encoding, bom: l.Bom, dos: l.Format == "dos"}
	if f.encoding == "" {
		f.encoding = "utf-8"
	}
	return f
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
	known := f.shown.last(path).version()
	lines, ok := f.shown.get(path, known)
	if !ok {
		known = version{}
	}
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
	if l.Patch != nil {
		if lines = l.Patch.of(lines); strings.Count(lines, "\n") == l.Lines {
			f.shown.put(path, l, lines)
		}
		l.Patch = nil
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
	file, err := readUpTo(path, maxRead)
	if large := (tooLarge{}); errors.As(err, &large) {
		if first == 0 && last < 0 {
			return "", large.asRead()
		}
		return readPart(ctx, path, first, last)
	}
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
		f.seen.put(path, known{text: text, since: &l.Written})
	}
	if r.Whole != nil {
		r.Whole(text)
	}
	return part, nil
}

func (f *Files) readLive(ctx context.Context, path string, l live, r Read) (string, error) {
	first, last := r.lineRange()
	part, l, err := f.lines(ctx, path, l, first, last)
	if err != nil {
		return "", err
	}
	if len(part) > maxRead {
		return "", errLongLines
	}
	if !utf8.ValidString(part) {
		return "", ErrNotText // what an answer would make of it, a write would not give back
	}
	// What the agent knows as the file is what it has read whole: a part read later does not tell it of
	// changes elsewhere.
	if first == 0 && (last < 0 || last >= l.Lines) && !r.peek {
		f.seen.put(path, known{text: part, since: &l.Written})
	}
	if r.Whole != nil {
		if lines, ok := f.shown.get(path, l.version()); ok {
			r.Whole(l.ended(lines))
		}
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
			f.shown.put(path, l, l.unended(text))
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
	col := 0
	for at := first; at < end; {
		args := map[string]any{"buf": l.Buf, "changedtick": l.Changedtick, "first": at, "col": col, "last": min(at+sliceLines, end)}
		if whole {
			delete(args, "changedtick")
			args["last"] = last
			end = at
		}
		var got slice
		if l.Slice != nil && l.Slice.first == at && col == 0 && l.Slice.Last <= end && !whole {
			got = *l.Slice
		} else if err := f.editor.CallBuffers(ctx, "lines", args, &got); err != nil || got.Moved {
			return "", false, err
		}
		if at == first && got.Last > at {
			text.Grow((len(got.Text) + 1) * (end - at) / (got.Last - at)) // all of it, if the lines are much alike
		}
		text.WriteString(got.Text)
		if got.Col == 0 && (!got.Ended || l.Newline) {
			text.WriteByte('\n')
		}
		at, col = got.Last, got.Col
	}
	return text.String(), true, nil
}

func (f *Files) write(ctx context.Context, path string, asked Write) (Written, error) {
	w := liveWrite{Files: f, path: path}
	w.goal = func(s found) (goal, error) {
		if asked.Base != nil {
			return f.decided(path, s.form.normal(asked.Text), *asked.Base, s), nil
		}
		return f.agents(path, asked.Text, s), nil
	}
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
	if l, ok := w.expected(); ok {
		w.expect = l.State
		done, err := w.try(ctx, l)
		w.expect = ""
		if err == nil && done != moved || ctx.Err() != nil {
			return done, err
		}
	}
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
	return applied, w.writeDisk(l)
}

// expected is what Neovim has told last of the buffer, with which an agent's first try may do without asking:
// Neovim refuses it where the buffer is no longer so. A buffer with unsaved text is asked about, as then the
// disk is written first.
func (w *liveWrite) expected() (live, bool) {
	if w.own || w.looked {
		return live{}, false
	}
	w.looked = true
	l := w.shown.last(w.path)
	return l, l.State != "" && !l.Modified && l.obstacle() == nil
}

// writeDisk writes a file that no buffer shows.
func (w *liveWrite) writeDisk(l live) error {
	old, err := readOld(w.path)
	if err != nil {
		return err
	}
	s := findUnloaded(l, old)
	had := s.disk
	g, err := w.goal(s)
	if err != nil {
		return err
	}
	done := Written{
		Path: w.path, Changed: !sameText(had, g.disk), Before: had, After: g.disk,
		FormBefore: old.form(), FormAfter: old.form(), Since: changedAt(w.path),
	}
	switch {
	case done.Changed && g.disk == nil:
		done.Deleted, done.FormAfter = true, ""
		if err := os.Remove(w.path); err != nil {
			return cause(err)
		}
		w.removed.Store(w.path, true)
	case done.Changed:
		done.Created = had == nil
		data, err := s.form.encode(*g.disk)
		if err != nil {
			return err
		}
		done.FormAfter = Form(data)
		if err := w.journal.write(w.path, data, old, old.standing()); err != nil {
			return err
		}
		if info, err := os.Stat(w.path); err == nil {
			g.at = stampOf(info)
		}
	}
	w.Written = done
	if g.disk != nil {
		w.settle(g, l.Written)
	}
	if len(g.conflicts) > 0 {
		w.tellConflicts(len(g.conflicts), "yours stay on disk", ":Acp conflicts diff shows the agent's where the file is open.")
		w.refused.put(w.path, g.theirs)
	}
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
	at       stamp   // the disk
	written  stamp   // the disk as the user has last written it
	had      string  // what is on the disk, in the buffer's encoding where decoded
	decoded  bool
	emptied  bool // that is nothing, as in the middle of a write: disk is what was there before
}

// goal is what a write is to reach; a text that is nil is no file.
type goal struct {
	disk, buffer *string    // the same, unless the buffer is to have unsaved text
	synced       string     // the disk's text that the buffer is then in step with
	at           stamp      // that disk, where it is known
	conflicts    []conflict // of the buffer
	theirs       string     // and the text that it conflicts with
	known        *known     // what the agent then knows; nil: as before
}

// liveWrite is a write to a file, through as many tries as it takes.
type liveWrite struct {
	*Files
	path string
	goal func(found) (goal, error) // may be asked once more for each try
	own  bool                      // by the user's own wish: the agent does not get to know it

	looked bool   // there was a first try
	expect string // the state that the buffer must be in, where it was not asked for
	// old is the disk before the write, once the write has replaced it, and left what it is since then.
	old  *file
	left stamp
	// save is the buffer's changedtick at which it is to be saved once more, as the user does; 0 is not.
	save int
	// kept is what the journal keeps of the write while Neovim is on it.
	kept *kept
	// edited is that the buffer's text was changed.
	edited bool
	// caught is the disk that the buffer has followed, or could not follow, for this write.
	caught *stamp

	Written
}

// agents is the goal of an agent's write of a text: the disk gets it, and so does the buffer, but for the lines
// that the user has made of what the agent knows: unsaved ones stay in the buffer, saved ones on the disk too.
func (f *Files) agents(path, text string, s found) goal {
	text = s.form.normal(text)
	base, ok := f.seen.get(path)
	if !ok && s.disk != nil {
		base.text = *s.disk
	}
	g := goal{disk: &text, buffer: &text, theirs: text}
	if s.disk != nil && base.behind(s.written) {
		if was, ok := f.synced.get(path); ok && was.at != s.at && (was.at == s.written || was.written == s.written) {
			// Nobody has followed what the agent has made of a file that no buffer shows any more.
			base.text = rebased(base.text, was.text, *s.disk)
		}
		merged, conflicts := merge3(base.text, *s.disk, text)
		g.disk, g.buffer, g.conflicts = &merged, &merged, conflicts
	}
	if s.modified {
		merged, conflicts := merge3(base.text, *s.mine, text)
		g.buffer, g.conflicts = &merged, conflicts
	}
	g.synced = *g.disk
	g.known = &known{text: text}
	if base.since != nil && !base.asked {
		g.known.since, g.known.lacks = &s.written, *g.disk != text
	}
	return g
}

// rebased is what the agent knows after it has made the disk's new text of the old one by itself: but for what it
// does not know of either.
func rebased(text, old, disk string) string {
	text, _ = merge3(old, disk, text)
	return text
}

// Asked notes that an agent asks to write the file at a real path, and may wait for an answer: of a file whose text it
// was not given it knows at most what the disk has by then. It reads the disk.
func (f *Files) Asked(path string) {
	if k, ok := f.seen.get(path); ok && k.since != nil && !k.asked {
		return
	}
	if info, err := os.Stat(path); err != nil || info.Size() > maxAsked {
		return
	}
	disk, err := readFile(path)
	if err != nil {
		return
	}
	text, _ := detect(disk.data)
	since := disk.stamp()
	if was, ok := f.synced.get(path); ok && was.written.Exists {
		since = was.written
	}
	f.seen.put(path, known{text: text, since: &since, asked: true})
}

// settle remembers what was reached; w.Written is filled.
func (w *liveWrite) settle(g goal, written stamp) {
	if g.known != nil {
		w.seen.put(w.path, *g.known)
	}
	w.synced.put(w.path, inStep{g.synced, w.FormAfter, g.at, written})
	w.there(w.path)
}

// there notes that a file is there which may have been gone.
func (f *Files) there(path string) {
	f.removed.Delete(path)
	if w := f.watch.Load(); w != nil {
		w.set(path, func(f *watched) { f.gone = false })
	}
}

// find is what there is of a file whose buffer is as l says and has the text mine.
func (f *Files) find(path string, l live, disk file, mine string) found {
	s := found{
		form: format{bom: l.Bom, dos: l.Format == "dos"}, modified: l.Modified,
		at: disk.stamp(), written: l.Written, emptied: l.emptied(disk),
	}
	if disk.exists() {
		if s.had, s.decoded = l.decode(disk.data); !s.decoded {
			s.had, _ = detect(disk.data)
		}
		s.disk, s.mine = &s.had, &s.had
	}
	if l.Modified || s.emptied {
		s.mine = &mine
	}
	if was, ok := f.synced.get(path); ok && s.emptied {
		s.disk = &was.text
		if !l.Modified && Lined(mine) == Lined(was.text) {
			s.mine = &was.text
		}
	}
	return s
}

// findUnloaded is what there is of a file that no buffer shows, as l says.
func findUnloaded(l live, disk file) found {
	s := found{form: format{encoding: "utf-8"}, at: disk.stamp(), written: l.Written}
	if disk.exists() {
		s.had, s.form = detect(disk.data)
		s.disk, s.mine = &s.had, &s.had
	}
	return s
}

// try does all of the write or nothing, but for a buffer with unsaved text, where the disk may be
// written before the buffer is found changed.
func (w *liveWrite) try(ctx context.Context, l live) (outcome, error) {
	disk, err := readOld(w.path)
	if err != nil {
		return 0, err
	}
	at := disk.stamp()
	if w.behind(w.path, l, disk, w.own) && !(w.old != nil && w.isLeft(disk)) && (w.caught == nil || *w.caught != at) {
		err := w.catchUp(ctx, w.path, true)
		if errors.Is(err, errLocked) {
			return locked, nil
		}
		w.caught = &at
		return moved, err
	}
	mine, ok, err := w.whole(ctx, w.path, l)
	if err != nil || !ok {
		return moved, err
	}
	s := w.find(w.path, l, disk, mine)
	had, known := s.had, s.decoded
	if w.own && disk.exists() && !known {
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
		w.Written = Written{Path: w.path, Buf: l.Buf, Before: s.mine, After: s.mine, Disk: s.disk, FormBefore: disk.form(), FormAfter: disk.form()}
		return applied, nil
	case g.buffer == nil:
		return w.remove(ctx, l, disk, s.mine)
	case l.Modified && !disk.exists() && mine == "":
		before = nil
	case !l.Modified && known && g.disk != nil && had == *g.disk: // the buffer may be behind
		if synced, ok := w.synced.get(w.path); ok {
			before = &synced.text
		}
	}

	text, after := "", *g.buffer
	if g.disk != nil {
		text = *g.disk
		if err := makeDir(w.path); err != nil {
			return 0, err
		}
	}
	formBefore := disk.form()
	if w.old != nil {
		formBefore = w.old.form()
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
		args["unsaved"] = true
		mergeArgs(args, after, g.theirs, g.conflicts)
	} else if len(g.conflicts) > 0 {
		mergeArgs(args, after, g.theirs, g.conflicts)
	} else if known && !l.Modified && !s.emptied && had != mine {
		steps, lines = append(steps, step(lines, had)), Lined(had)
	}
	args["steps"] = append(steps, step(lines, after))
	args["save"] = save
	args["disk"] = diskArgs(disk)
	if w.expect != "" {
		args["state"] = w.expect
	}

	w.kept = nil
	var data []byte // as Neovim will write it
	if !merging {
		data = l.encoded(text)
		w.kept = w.journal.inPlace(w.path, disk, data)
	}
	if save || lines != Lined(after) {
		w.warn(ctx, w.path, after)
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
		Disk:    g.disk,
		Unsaved: l.Modified,

		FormBefore: formBefore,
	}
	if !merging && (save || got.Changed || l.Modified) {
		w.FormAfter = w.written(l, data)
	} else {
		w.FormAfter = disk.form()
	}
	if got.Info.Disk != nil {
		g.at = *got.Info.Disk
	}
	if g.disk != nil {
		w.settle(g, l.Written)
	}
	now := live{Buf: l.Buf, Changedtick: got.Tick}
	if got.Info.version() == now.version() {
		now = got.Info
	}
	w.shown.put(w.path, now, Lined(after))
	w.save, w.edited = got.Save, got.Changed
	if len(g.conflicts) > 0 {
		stand := "yours stay in the buffer, the agent's are on disk"
		if text != g.theirs {
			stand = "yours stay, the agent's are shown below them"
		}
		w.tellConflicts(len(g.conflicts), stand, got.Keys)
		w.refused.put(w.path, g.theirs)
		if w.Behind = s.disk; w.old != nil {
			had, _ := detect(w.old.data)
			w.Behind = &had
		}
	}
	return applied, nil
}

// written is how the text that Neovim has just written, as far as that is known, stands on the disk.
func (w *liveWrite) written(l live, data []byte) string {
	if _, err := l.form(); err == nil {
		return Form(data)
	}
	now, _ := readFile(w.path) // its error is that somebody has removed it since
	return now.form()
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
	Info    live   `msgpack:"info"` // what the buffer is then, or later
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

// isLeft reports whether the disk is as the write has left it.
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
