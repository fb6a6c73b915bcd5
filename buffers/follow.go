package buffers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// MaxFollow is the size in bytes above which a file is not followed, nor opened: Neovim would read, compare
// and change it for too long.
const MaxFollow = 16 << 20

var (
	errTooLarge = errors.New("it is too large to be followed")
	// errUnfinished is that a file is empty, as most are in the middle of being written.
	errUnfinished = errors.New("it is empty")
)

// how a change on the disk is followed.
type how struct {
	saved bool // no more is done than to note what the user has just written
	empty bool // an empty file is taken so; else it is errUnfinished
	own   bool // by the user's own wish: the agent does not get to know it
}

// followed is what came of a change on the disk.
type followed struct {
	Written
	at stamp // the disk that was compared
}

// follow brings the buffer that shows path in step with the disk, which another program may have
// written. Where nothing shows path there is nothing to do. The disk is only read. An error is
// fs.ErrNotExist, ErrDirectory, ErrNotRegular or errTooLarge where there is no such file any more.
func (f *Files) follow(ctx context.Context, path string, h how) (followed, error) {
	for try := 0; try < maxTries; {
		l, err := f.liveWith(ctx, path, 0, -1, false)
		if err != nil {
			return followed{}, err
		}
		if info, err := os.Stat(path); err == nil && info.Size() > MaxFollow {
			return followed{}, errTooLarge
		}
		disk, err := readFile(path)
		if err != nil {
			return followed{}, err
		}
		if len(disk.data) == 0 && !h.empty {
			return followed{}, errUnfinished
		}
		f.removed.Delete(path)
		at := stampOf(disk.info)
		if l.Buf == 0 || l.Buftype != "" {
			return followed{at: at}, nil
		}
		w, outcome, err := f.followOnce(ctx, path, l, disk, h)
		switch {
		case err != nil:
			return followed{}, err
		case outcome == locked:
			if err := wait(ctx, lockedPoll); err != nil {
				return followed{}, err
			}
		case outcome == moved:
			try++
		default:
			return followed{w, at}, nil
		}
	}
	return followed{}, ErrBusy
}

// followOnce is one try of follow. The user's lines win over the disk's.
func (f *Files) followOnce(ctx context.Context, path string, l live, disk file, h how) (Written, outcome, error) {
	at := stampOf(disk.info)
	own := l.Disk == at // Neovim wrote or read it so
	text, form, known := decode(disk.data, l.Encoding)
	known = known && l.Format != "mac"
	w := Written{Path: path, Buf: l.Buf}
	args := map[string]any{"buf": l.Buf, "changedtick": l.Changedtick, "path": path, "disk": diskArgs(disk)}
	args["own"] = own
	had, was := f.synced.get(path)
	if was && !own && l.Encoding == "latin1" && becameUTF8(had, disk.data) {
		text, form, known = decode(disk.data, "utf-8")
		args["encoding"] = form.encoding
	}
	same := was && had == text && args["encoding"] == nil
	if was {
		w.Before = &had
	}
	takes := known && (own || !l.Modified || !same) // else only the time has changed
	switch {
	case own && (same || l.Part || l.Modified):
		if known {
			f.synced.put(path, text)
		}
		return w, applied, nil
	case h.saved && !(own && known): // another program was faster; an event tells of it
		return w, applied, nil
	case !known && l.Modified:
		w.Conflict, w.Note = true, fmt.Sprintf("%s has changed on disk, in an encoding that cannot be merged: your buffer stays as it is.", filepath.Base(path))
		return w, applied, nil
	case !known:
		args["reload"] = true
	}
	var conflicts []conflict
	if takes {
		mine, ok, err := f.whole(ctx, path, l)
		if err != nil || !ok {
			return w, moved, err
		}
		if own && mine == text {
			f.synced.put(path, text)
			return w, applied, nil
		}
		if own || l.Modified || !was {
			w.Before = &mine
		}
		if h.saved {
			return w, applied, nil
		}
		after := text
		if l.Modified {
			after, conflicts = f.merge(path, mine, text)
			if after != text {
				mergeArgs(args, after, text, conflicts)
			}
		}
		w.After = &after
		args["step"] = step(l.unended(mine), after)
	}
	if w.After == nil {
		if !known {
			text, _ = detect(disk.data)
		}
		w.After = &text
	}
	if takes && strings.Contains(text, "\n") {
		args["format"], args["bom"] = "unix", form.bom
		if form.dos {
			args["format"] = "dos"
		}
	}
	var got struct {
		Changed bool   `msgpack:"changed"`
		Moved   bool   `msgpack:"moved"`
		Locked  bool   `msgpack:"locked"`
		Err     string `msgpack:"err"`
		Keys    string `msgpack:"keys"`
		Tick    int    `msgpack:"tick"`    // with the new text
		Writing bool   `msgpack:"writing"` // the user is writing it
	}
	err := f.editor.CallBuffers(ctx, "follow", args, &got)
	switch {
	case err != nil:
		return w, 0, err
	case got.Moved:
		return w, moved, nil
	case got.Locked:
		return w, locked, nil
	case got.Err != "":
		return w, 0, errors.New(got.Err)
	case !known && !got.Changed && !own:
		w.Note = fmt.Sprintf("%s has changed on disk: :edit reads it again.", filepath.Base(path))
	}
	w.Changed = got.Changed
	if takes {
		f.shown.put(path, version{l.Buf, got.Tick}, linesOf(*w.After))
	}
	if known {
		f.synced.put(path, text)
		if got.Changed && !h.own {
			f.seen.put(path, text)
		}
	}
	if len(conflicts) > 0 {
		w.tellConflicts(len(conflicts), got.Writing, got.Keys)
		f.refused.put(path, text)
	}
	return w, applied, nil
}

// becameUTF8 tells of a file that was latin1 that it is UTF-8 now, which many agents write whatever was
// there. As latin1 it would be text too, but another one.
func becameUTF8(had string, data []byte) bool {
	old, err := format{encoding: "latin1"}.encode(had)
	return err == nil && !utf8.Valid(old) && utf8.Valid(data) && utf8.RuneCount(data) < len(data)
}

// merge merges what the disk has into the user's unsaved text. Whoever wrote the disk knew what was there
// before, or what the agent was given, with unsaved text in it: that counts where some of it is on the disk
// now, or has become something new there. A wrong guess would take the user's lines for removed. Where neither
// is known the user's text stays, and all of it conflicts.
func (f *Files) merge(path, mine, theirs string) (merged string, conflicts []conflict) {
	if mine == theirs {
		return mine, nil
	}
	base, synced := f.synced.get(path)
	given, seen := f.seen.get(path)
	if seen && (!synced || tells(given, base, theirs)) {
		base = given
	}
	if synced || seen {
		return merge3(base, mine, theirs)
	}
	for _, c := range changes(linediff.Lines(mine), linediff.Lines(theirs)) {
		conflicts = append(conflicts, conflict{row: c.Start, count: c.End - c.Start, theirs: c.Lines})
	}
	return mine, conflicts
}

// tells tells whether text was made of given rather than of base: it has a line that only given has, or, and
// none that only base has, lines that neither has in the place of all of these.
func tells(given, base, text string) bool {
	inBase := map[string]bool{}
	for _, line := range linediff.Lines(base) {
		inBase[line] = true
	}
	old, now := linediff.Lines(given), linediff.Lines(text)
	there := map[string]bool{}
	for _, line := range now {
		there[line] = !inBase[line]
	}
	if slices.ContainsFunc(old, func(line string) bool { return there[line] }) {
		return true
	}
	inGiven := map[string]bool{}
	for _, line := range old {
		inGiven[line] = true
	}
	if slices.ContainsFunc(now, func(line string) bool { return inBase[line] && !inGiven[line] }) {
		return false
	}
	rewritten := false
	for _, e := range linediff.Compare(old, now) {
		if slices.ContainsFunc(old[e.A0:e.A1], func(line string) bool { return !inBase[line] }) {
			rewritten = true
			if !slices.ContainsFunc(now[e.B0:e.B1], func(line string) bool { return !inBase[line] }) {
				return false
			}
		}
	}
	return rewritten
}

// remember reads what the disk has, as the base of a later merge; unless that is another state of the
// file than Neovim is known to have read: then there is none.
func (f *Files) remember(path string, read *DiskState) (stamp, error) {
	disk, err := readFile(path)
	if err != nil {
		return stamp{}, err
	}
	at := stampOf(disk.info)
	if read != nil && stamp(*read) != at {
		f.synced.forget(path)
		return at, nil
	}
	text, _ := detect(disk.data)
	f.synced.put(path, text)
	f.removed.Delete(path)
	return at, nil
}

// gone tells that err means that there is no file to follow any more, and says so for the user.
func gone(path string, err error) (note string, ok bool) {
	switch {
	case missing(err):
		return fmt.Sprintf("%s was deleted on disk; its buffer stays.", filepath.Base(path)), true
	case errors.Is(err, ErrDirectory), errors.Is(err, ErrNotRegular):
		return fmt.Sprintf("%s is no file on disk any more; its buffer stays.", filepath.Base(path)), true
	case errors.Is(err, errTooLarge):
		return fmt.Sprintf("%s has grown too large to be followed: :edit reads it again.", filepath.Base(path)), true
	}
	return "", false
}
