package buffers

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Seen is a file at one moment, as the user has it.
type Seen struct {
	Path   string // the real path
	Loaded bool   // a watched buffer shows it
	Exists bool   // on the disk
	Disk   DiskState
	Since  time.Time   // so long it has been there as it is, under this name: nobody can set that
	Mode   fs.FileMode // its permission bits; 0 where there is none
	Large  bool        // above the limit: Text was not read
	Text   string      // unsaved text included
}

// Look gives a file of at most limit bytes as the user has it, without the agent getting to know it.
// Neovim is asked only where a watched buffer shows the file. With settle what the disk has reaches that
// buffer, and is told, before it is looked at: whoever wrote the file is known to be done with it. Looks
// take effect in the order of the reads and writes of the file. That there is no file is no error, that
// there is something else is one. done is called exactly once, from any goroutine, also when the watch
// has ended.
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
	seen := Seen{Path: path, Loaded: w.known[path] != nil || w.given[path]}
	w.mu.Unlock()
	if settle && seen.Loaded && !unfinished(path) {
		w.follow(path, path, how{})
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && regular(info) != nil:
		return seen, regular(info)
	case err == nil:
		seen.Exists, seen.Disk, seen.Mode = true, DiskState(stampOf(info)), info.Mode().Perm()
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil {
			seen.Since = time.Unix(st.Ctim.Unix())
		}
	case !missing(err):
		return seen, cause(err)
	}
	if seen.Exists && info.Size() > limit {
		seen.Large = true
		return seen, nil
	}
	switch {
	case seen.Loaded:
		seen.Text, err = w.files.read(w.ctx, path, Read{peek: true})
	case seen.Exists:
		var disk file
		if disk, err = readFile(path); err == nil {
			seen.Text, _ = detect(disk.data)
		}
	}
	if missing(err) {
		seen.Exists, seen.Disk, seen.Mode, err = false, DiskState{}, 0, nil
	}
	return seen, err
}

// missing tells that there is no file, perhaps as there is one in the place of its folder.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) }
