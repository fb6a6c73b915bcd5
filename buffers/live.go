package buffers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// This file asks Neovim about buffers, and reads them.

const (
	// sliceLines is the most lines of a buffer that one call to Neovim reads, so that it never works long; of long
	// lines it reads fewer.
	sliceLines = 10_000
	// slicedReads is how often a read in slices restarts because the buffer changed between two of them, before it
	// reads all in one call.
	slicedReads = 3
	// maxTries is how often a write restarts because the file or its buffer changed meanwhile.
	maxTries = 20
	// lockedPoll is how often a write asks whether |textlock| is over: there is no event for that.
	lockedPoll = 50 * time.Millisecond
	// maxAsked is the size in bytes up to which a file is read when the agent asks to write it.
	maxAsked = 1 << 20
)

// live is what Neovim reports about a file's buffer.
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
	Disk        *stamp `msgpack:"disk"`      // with which Neovim was last in step, if known
	Written     stamp  `msgpack:"written"`   // the disk as the user last wrote it
	Part        bool   `msgpack:"part"`      // the user wrote a part of the buffer over the file
	Left        *live  `msgpack:"left"`      // what the user has closed right after writing it, if no buffer shows the file
	Elsewhere   int    `msgpack:"elsewhere"` // pid of another Neovim with unsaved changes to a file that no buffer shows
	Slice       *slice `msgpack:"slice"`     // the first lines that were asked for
	Patch       *patch `msgpack:"patch"`     // or how the last known text differs
	Known       int    `msgpack:"known"`     // the changedtick of that text, if nobody asked
	Changes     int    `msgpack:"changes"`   // how often answers had come to hold no longer, see [Files.Passed]
	State       string `msgpack:"state"`     // everything but the text, to distinguish states

	// Overtaken is the unsaved text that the buffer had before it took over what the disk has, if the host that had it do so
	// died right then.
	Overtaken *string `msgpack:"overtaken"`
}

// slice is some lines of a buffer.
type slice struct {
	Text  string `msgpack:"text"`
	Last  int    `msgpack:"last"`  // the row after them
	Col   int    `msgpack:"col"`   // in that row, if the text is a piece of it: where the next piece begins
	Ended bool   `msgpack:"ended"` // the buffer's last line is among them
	Moved bool   `msgpack:"moved"` // no lines: the buffer has changed
	First int    `msgpack:"first"` // the row of the first line
}

// isAll reports whether it is all lines of a buffer.
func (s *slice) isAll(l live) bool {
	return s != nil && s.First == 0 && s.Last == l.Lines && s.Col == 0 && s.Ended && !l.Empty
}

// patch says which lines of a buffer's last known text, from First to Last, exclusive, are now Text.
type patch struct {
	First int    `msgpack:"first"`
	Last  int    `msgpack:"last"`
	Text  string `msgpack:"text"`
}

// decode returns the text of the disk's bytes as the buffer would have it, and false if only Neovim can tell.
func (l live) decode(data []byte) (string, bool) {
	text, f, ok := decode(data, l.Encoding)
	if !ok || l.Format == "mac" || f.dos != (l.Format == "dos" && strings.Contains(text, "\n")) {
		return "", false
	}
	return text, true
}

// form returns the form of the buffer's text on disk. Encodings that only Neovim knows are an error.
func (l live) form() (format, error) {
	f := l.standing()
	if _, ok := boms[f.encoding]; !ok && f.encoding != "latin1" || l.Format == "mac" {
		return f, fmt.Errorf("its buffer has unsaved text and is on disk as %s %s, which only Neovim can write: save it first", l.Format, l.Encoding)
	}
	return f, nil
}

// emptied reports whether the file of a watched buffer is empty: its writer has probably just truncated it.
func (l live) emptied(disk file) bool { return disk.exists() && len(disk.data) == 0 && l.Disk != nil }

// unsaved reports whether a buffer has a text of the file that the disk has not.
func (l live) unsaved() bool { return l.Buf != 0 && l.Buftype == "" && l.Modified }

// standing returns the form that the buffer's options imply.
func (l live) standing() format {
	f := format{encoding: l.Encoding, bom: l.Bom, dos: l.Format == "dos"}
	if f.encoding == "" {
		f.encoding = "utf-8"
	}
	return f
}

// encoded returns a text as Neovim will write it, as far as that is known.
func (l live) encoded(text string) []byte {
	if f, err := l.form(); err == nil {
		if data, err := f.encode(text); err == nil {
			return data
		}
	}
	return []byte(text)
}

// formOver returns the form of the buffer's text, over an empty file, which has none.
func (l live) formOver(text string) string {
	if text != "" {
		return Form(l.encoded(text))
	}
	f := l.standing()
	f.bom = false // which the file would have
	return f.String()
}

// obstacle returns why the buffer's file may not be changed.
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

// question is how Neovim is asked about a file's buffer: a function of lua/acp/files/buffers.lua.
type question string

const (
	forAll  question = "info"
	forRead question = "read"   // only what a read needs; lines only of unsaved text
	follow  question = "follow" // the same for an agent, which may soon read more of the file, see ahead
)

// liveWith is live with the lines of a buffer from first to end, exclusive, or to its end if end is negative, or only
// the first of many, unless all are known here. A small buffer gives all of its lines.
func (f *Files) liveWith(ctx context.Context, path string, first, end int, fn question) (live, error) {
	known := f.shown.last(path).version()
	lines, ok := f.shown.get(path, known)
	if !ok {
		known = version{}
	}
	if end < 0 || end > first+sliceLines {
		end = first + sliceLines
	}
	args := map[string]any{"path": path, "first": first, "last": end, "known_buf": known.buf, "known_tick": known.tick}
	var l live
	err := f.editor.CallBuffers(ctx, string(fn), args, &l)
	switch {
	case l.Slice.isAll(l):
		f.shown.put(path, l, l.Slice.Text+"\n")
	case l.Patch != nil:
		if lines = l.Patch.of(lines); strings.Count(lines, "\n") == l.Lines {
			f.shown.put(path, l, lines)
		}
		l.Patch = nil
	}
	return l, err
}

func (f *Files) read(ctx context.Context, path string, r Read) (string, error) {
	first, last := r.lineRange()
	l, err := f.liveAhead(ctx, path, first, last)
	if err != nil {
		return "", err
	}
	if l.unsaved() && !r.peek && f.diskIsNewer(path) && f.catchUp(ctx, path, true) == nil {
		if l, err = f.liveWith(ctx, path, first, last, follow); err != nil {
			return "", err
		}
	}
	if l.unsaved() {
		return f.readLive(ctx, path, l, r)
	}
	// A buffer without unsaved text has the disk's text, or an older one.
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
		f.seen.put(path, known{text: text, since: &l.Written, disk: true})
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
		return "", ErrNotText // a write of the answer would not give the same bytes back
	}
	// The agent knows the file as it last read it whole: reading a part later does not show it changes elsewhere.
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

// lines returns lines first to last of a buffer as :write would write them, all from one state, and the buffer in that
// state.
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

// slices is one try of lines; false means that the buffer is no longer as l describes. With whole, the lines are those
// of whatever state the buffer is in.
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
		if l.Slice != nil && l.Slice.First == at && col == 0 && l.Slice.Last <= end && !whole {
			got = *l.Slice
		} else if err := f.editor.CallBuffers(ctx, "lines", args, &got); err != nil || got.Moved {
			return "", false, err
		}
		if at == first && got.Last > at {
			text.Grow((len(got.Text) + 1) * (end - at) / (got.Last - at)) // room for all of it, if the lines are of similar length
		}
		text.WriteString(got.Text)
		if got.Col == 0 && (!got.Ended || l.Newline) {
			text.WriteByte('\n')
		}
		at, col = got.Last, got.Col
	}
	return text.String(), true, nil
}
