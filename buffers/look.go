package buffers

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// This file looks at files without counting them as read by the agent.

// Seen is a file at one moment, as the user sees it.
type Seen struct {
	Path    string // the real path
	Loaded  bool   // a watched buffer shows it
	Exists  bool   // on the disk
	Disk    DiskState
	Since   time.Time   // since when it has been as it is, under this name: nobody can set that
	Mode    fs.FileMode // its permission bits; 0 where there is none
	Large   bool        // above the limit: Text was not read
	Text    string      // unsaved text included
	Unsaved bool        // there is some
	Saved   bool        // the user wrote what the disk has from the buffer
	Form    string      // how the disk has it, or would have unsaved text where it is empty, see [Form]; "" where there is no file or Large

	// Overtaken is the unsaved text that its buffer had before it took over what the disk has, if the host that had it do so
	// died right then.
	Overtaken *string
}

// Look returns a file of at most limit bytes as the user sees it, without the agent learning it. Neovim is asked only
// if a watched buffer shows the file. With settle, the buffer is first synced with the disk, and that is reported:
// whoever wrote the file is known to be done with it. Looks take effect in order with the reads and writes of the file.
// A missing file is not an error, anything but a file is. A file whose write was interrupted counts as written until
// the user decides what it should have, see [Files.Recover]. done is called exactly once, from any goroutine, even
// after the watch has ended.
func (w *Watch) Look(path string, settle bool, limit int64, done func(Seen, error)) {
	answer := func(s Seen, err error) {
		if err != nil {
			err = &Error{Verb: "look at", Path: path, Err: err}
		}
		done(s, err)
	}
	w.files.order.add(&job{
		ctx:  w.ctx,
		path: path,
		run: func(real string) {
			answer(safely(func(real string) (Seen, error) { return w.look(real, settle, limit) }, real))
		},
		fail: func(err error) { answer(Seen{}, err) },
	})
}

func (w *Watch) look(path string, settle bool, limit int64) (Seen, error) {
	w.mu.Lock()
	tracked := w.known[path] != nil
	seen := Seen{Path: path, Loaded: tracked || w.given[path]}
	w.mu.Unlock()
	if settle && tracked && !unfinished(path) {
		w.sync(path, path, how{})
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && regular(info) != nil:
		return seen, regular(info)
	case err == nil:
		seen.Exists, seen.Disk, seen.Mode = true, DiskState(stampOf(info)), info.Mode().Perm()
		seen.Since = changedAt(path)
	case !missing(err):
		return seen, cause(err)
	}
	if seen.Exists && info.Size() > limit {
		seen.Large = true
		return seen, nil
	}
	if seen.Exists {
		var disk file
		if disk, err = readFile(path); err == nil {
			seen.Text, _ = detect(disk.data)
			seen.Form = Form(disk.data)
		}
		if text, is := w.files.cutShort(path, stamp(seen.Disk)); is {
			seen.Text, _ = detect(text)
			seen.Form = Form(text)
			return seen, nil
		}
	}
	if seen.Loaded && (err == nil || missing(err)) {
		err = w.lookAtBuffer(&seen, tracked)
	}
	if missing(err) {
		seen.Exists, seen.Disk, seen.Mode, seen.Form, err = false, DiskState{}, 0, "", nil
	}
	return seen, err
}

// lookAtBuffer gives a file the text of its buffer: what others did to the disk counts once it has reached the buffer. Before
// that is tracked, what is known of the file is not what the buffer was in step with.
func (w *Watch) lookAtBuffer(seen *Seen, tracked bool) error {
	l, err := w.files.liveWith(w.ctx, seen.Path, 0, -1, forRead)
	if err != nil {
		return err
	}
	if l.Buf == 0 || l.Buftype != "" { // it was closed just now
		seen.Loaded = false
		return nil
	}
	seen.Unsaved = l.Modified
	if l.Overtaken != nil {
		seen.Overtaken = new(Lined(*l.Overtaken))
	}
	seen.Saved = seen.Exists && l.Written == stamp(seen.Disk)
	was, known := w.files.synced.get(seen.Path)
	known = known && tracked
	inStep := known && was.at == stamp(seen.Disk)
	if inStep && !l.Modified {
		return nil
	}
	if known && seen.Exists && !inStep {
		seen.Form = was.form
	}
	if seen.Text, err = w.files.readLive(w.ctx, seen.Path, l, Read{peek: true}); err == nil && inStep && !multibyte([]byte(was.text)) { // which may stand in any encoding
		l, err = w.files.live(w.ctx, seen.Path)
		ended := seen.Form
		if seen.Form = Form(l.encoded(seen.Text)); strings.HasSuffix(ended, " noeol") && !strings.HasSuffix(seen.Form, " noeol") {
			seen.Form += " noeol" // which the buffer cannot tell
		}
	}
	return err
}

// changedAt returns when a file got its content, or its name: nobody can set that.
func changedAt(path string) time.Time {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return time.Time{}
	}
	return time.Unix(st.Ctim.Unix())
}

// missing reports whether there is no file, perhaps because there is one in place of its folder.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) }
