package buffers

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// quiet is how long nothing happens to a file before it counts as written.
	quiet = 30 * time.Millisecond
	// patience is the longest wait for a file that is written again and again, is empty, or is missing: most such files
	// are in the middle of being written.
	patience = 300 * time.Millisecond
	// A file that changes all the time is left alone for restTimes as long as the last sync took, so that Neovim has
	// time for other things, but never longer than maxRest.
	restTimes = 4
	maxRest   = 2 * time.Second
)

// Tracked is a file that a loaded buffer shows.
type Tracked struct {
	Name string // absolute
	// Disk is the file as Neovim last read or wrote it, if known.
	Disk *DiskState
	// Large says that the buffer is too large to be kept in step with the disk: the user is only told that the file has
	// changed.
	Large bool
}

// DiskState distinguishes states of a file.
type DiskState struct {
	Exists          bool
	Sec, Nsec, Size int64
}

// Time returns when the file was written; zero if there is none.
func (d DiskState) Time() time.Time {
	if !d.Exists {
		return time.Time{}
	}
	return time.Unix(d.Sec, d.Nsec)
}

// Opened reports that a buffer now shows a file, no longer shows it, or was saved by the user, and what the disk had
// then: when Neovim read it, or when the buffer was last in step with it.
type Opened struct {
	Path   string // the real one
	Loaded bool
	Saved  bool
	Unread bool      // what was saved could not be read, as it was gone by then: Text is older
	Text   *string   // nil if unknown
	Form   string    // see [Form]
	Since  time.Time // since when the disk has been as it is
	Wrote  time.Time // when the user had written Text; zero if they have not, or that is not known
}

// Watch keeps buffers in step with what other programs do to their files. Its methods may be called from any goroutine
// and do not block, except for Close.
type Watch struct {
	// Opened, which may be nil, is called about files that buffers begin or cease to show, in order with what is
	// reported about them; from any goroutine. Set before the first Track.
	Opened func(Opened)
	// Agents, which may be nil, reports whether an agent worked at a time: then a change on the disk counts as the agent's.
	// Set before the first Track; any goroutine.
	Agents func(at time.Time) bool

	files   *Files
	told    func(Written)
	limited func(error)
	ctx     context.Context
	cancel  context.CancelFunc
	wake    chan struct{}
	tracks  chan struct{} // closed when the files of the first Track are tracked
	loops   sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	wanted *[]Tracked
	given  map[string]bool // the names given to Track
	check  bool
	asked  []catchUp
	then   []func()            // what waits for run to have taken wanted; called with nothing held
	ended  bool                // run has
	known  map[string]*watched // by real path
	names  map[string]string   // real paths, by name

	// The fields below belong to run.

	notify *fsnotify.Watcher // nil if there can be none
	dirs   map[string]bool   // watched; false if that failed
	limit  error             // as last reported
}

// watched is a tracked file. Its fields are guarded by Watch.mu.
type watched struct {
	large       bool         // see Tracked
	at          stamp        // the disk when it was last compared with the buffer
	gone        bool         // the file was gone, which was reported unless ours
	ours        bool         // it was removed here
	was         stamp        // the disk before that
	first, last time.Time    // of the events not handled yet
	rest        time.Time    // until when it is left alone
	waiting     []func(bool) // calls of CatchUp
}

// Watch begins to watch the files that Track names. told is called with what reaches a buffer, or does not. If the
// system's limits prevent watching, limited is called with the reason, and with nil when that has passed; meanwhile
// only Check finds changes. Both are called from any goroutine.
func (f *Files) Watch(told func(Written), limited func(error)) *Watch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watch{
		files: f, told: told, limited: limited, ctx: ctx, cancel: cancel,
		wake: make(chan struct{}, 1), tracks: make(chan struct{}),
		known: map[string]*watched{}, names: map[string]string{}, dirs: map[string]bool{},
	}
	f.watch.Store(w)
	w.loops.Go(w.run)
	return w
}

// Track sets the files to watch, all of them.
func (w *Watch) Track(files []Tracked) {
	given := make(map[string]bool, len(files))
	for _, f := range files {
		given[f.Name] = true
	}
	w.mu.Lock()
	w.wanted, w.given = &files, given
	w.mu.Unlock()
	w.signal()
}

// Tracks returns a channel that is closed once it is known which files buffers show.
func (w *Watch) Tracks() <-chan struct{} { return w.tracks }

// Check looks for changes that no event reported.
func (w *Watch) Check() {
	w.mu.Lock()
	w.check = true
	w.mu.Unlock()
	w.signal()
}

// CheckFile compares a tracked file with its buffer.
func (w *Watch) CheckFile(name string) {
	w.mu.Lock()
	path, ok := w.names[name]
	w.mu.Unlock()
	if ok {
		w.touch(path)
	}
}

// CatchUp compares a tracked file with its buffer as soon as the file is quiet, for somebody who waits for that. done,
// which must not block, is called from any goroutine with whether it is worth asking again if the disk has changed once
// more; it is not called after Close.
func (w *Watch) CatchUp(name string, done func(again bool)) {
	w.mu.Lock()
	w.asked = append(w.asked, catchUp{name, done})
	w.mu.Unlock()
	w.signal()
}

// catchUp is a call of CatchUp.
type catchUp struct {
	name string
	done func(again bool)
}

// hurry syncs a file before its rest is over.
func (w *Watch) hurry(c catchUp) {
	w.mu.Lock()
	path := w.names[c.name]
	w.mu.Unlock()
	now := time.Now()
	last := now
	if info, err := os.Stat(path); err == nil && info.ModTime().Before(now) {
		last = info.ModTime()
	}
	w.mu.Lock()
	f := w.known[path]
	if f != nil {
		f.waiting = append(f.waiting, c.done)
		if f.first.IsZero() {
			f.first, f.last = now, last
		}
	}
	w.mu.Unlock()
	if f == nil {
		c.done(false)
	}
}

// Saved says that the user has written a tracked file: the agent's next change is compared with that, however soon it
// comes. disk is the file as they have written it.
func (w *Watch) Saved(name string, disk DiskState) {
	w.mu.Lock()
	path, ok := w.names[name]
	w.mu.Unlock()
	if ok {
		w.order(path, func(real string) {
			err := w.sync(path, real, how{saved: true, empty: true})
			if err != nil && w.files.rememberWritten(real, stamp(disk)) {
				err = nil // Neovim may be gone
			}
			w.tellOpened(real, Opened{Loaded: true, Saved: true, Unread: err != nil})
		})
	}
}

// Reread says that Neovim has read a tracked file again, with the disk as it was then: what others did to it is reported
// before the user does more.
func (w *Watch) Reread(name string, disk DiskState) {
	w.mu.Lock()
	path, ok := w.names[name]
	w.mu.Unlock()
	if ok {
		w.order(path, func(real string) {
			had, known := w.files.synced.get(real)
			if again := known && disk.Exists && had.at == stamp(disk); !again {
				if err := w.sync(path, real, how{empty: true}); missing(err) {
					if !disk.Exists {
						w.files.synced.put(real, inStep{}) // the buffer, which has no line, is in step with that
						w.tellOpened(real, Opened{Loaded: true})
					}
					return
				}
			}
			w.tellOpened(real, Opened{Loaded: true})
		})
	}
}

// Finish syncs a file's buffer with the disk now, even if the file is empty or gone: whoever wrote it is known to be
// done with it. done is called exactly once, from any goroutine, after that was reported.
func (w *Watch) Finish(path string, done func()) {
	w.files.order.add(&job{
		ctx:  w.ctx,
		path: path,
		run: func(real string) {
			w.mu.Lock()
			shown := w.known[real] != nil
			w.mu.Unlock()
			if shown {
				w.sync(real, real, how{empty: true})
			}
			done()
		},
		fail: func(error) { done() },
	})
}

// Close ends the watch; afterwards only a sync that has already begun is reported.
func (w *Watch) Close() {
	w.files.watch.CompareAndSwap(w, nil)
	w.cancel()
	w.loops.Wait()
}

func (w *Watch) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// touch notes that something has happened to a file.
func (w *Watch) touch(path string) {
	w.mu.Lock()
	f := w.known[path]
	if f != nil {
		f.last = time.Now()
		if f.first.IsZero() {
			f.first = f.last
		}
	}
	w.mu.Unlock()
	if f != nil {
		w.signal()
	}
}

// Settle syncs all tracked files' buffers with the disk: whoever wrote the files is known to be done with them. done is
// called once, from any goroutine, after all of it was reported.
func (w *Watch) Settle(done func()) {
	w.whenTracked(func() {
		w.mu.Lock()
		were, fresh := make(map[string]stamp, len(w.known)), map[string]bool{}
		for path, f := range w.known {
			were[path], fresh[path] = f.at, f.at == (stamp{}) && !f.gone
		}
		w.mu.Unlock()
		go func() {
			var rest sync.WaitGroup
			for path, was := range were {
				var now stamp
				if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
					now = stampOf(info)
				}
				if now != was || fresh[path] {
					rest.Add(1)
					w.Finish(path, rest.Done)
				}
			}
			rest.Wait()
			done()
		}()
	})
}

// whenTracked calls do, which must not block, when all files are tracked of which Neovim has told so far.
func (w *Watch) whenTracked(do func()) {
	if in := w.files.Inbox; in != nil {
		in.WhenHeard(func() { w.whenKnown(do) })
		return
	}
	w.whenKnown(do)
}

// whenKnown calls do, which must not block, when all files given to Track so far are tracked.
func (w *Watch) whenKnown(do func()) {
	w.mu.Lock()
	ended := w.ended
	if !ended {
		w.then = append(w.then, do)
	}
	w.mu.Unlock()
	if ended {
		do()
		return
	}
	w.signal()
}

// Heard calls done once, from any goroutine, after everything was reported that Neovim has said about files so far:
// that they were opened, read again, or written.
func (w *Watch) Heard(done func()) { w.whenTracked(func() { w.files.order.drain(done) }) }

// Loaded returns the real paths of the tracked files that are kept in step with the disk.
func (w *Watch) Loaded() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var paths []string
	for path, f := range w.known {
		if !f.large {
			paths = append(paths, path)
		}
	}
	return paths
}

// drain takes fsnotify's events, and never waits for a disk.
func (w *Watch) drain(n *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-n.Events:
			if !ok {
				return
			}
			w.touch(e.Name) // even for Chmod, which a new time causes too
		case _, ok := <-n.Errors:
			if !ok {
				return
			}
			w.Check() // events were lost
		}
	}
}

func (w *Watch) run() {
	var err error
	if w.notify, err = fsnotify.NewWatcher(); err != nil {
		w.notify = nil
		w.tellLimit(err)
	} else {
		w.loops.Go(func() { w.drain(w.notify) })
		defer w.notify.Close()
	}
	tracked := sync.OnceFunc(func() { close(w.tracks) })
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer func() {
		w.mu.Lock()
		then := w.then
		w.then, w.ended = nil, true
		w.mu.Unlock()
		for _, do := range then {
			do()
		}
	}()
	for {
		select {
		case <-w.wake:
		case <-timer.C:
		case <-w.ctx.Done():
			return
		}
		w.mu.Lock()
		wanted, check, asked, then := w.wanted, w.check, w.asked, w.then
		w.wanted, w.check, w.asked, w.then = nil, false, nil, nil
		w.mu.Unlock()
		if wanted != nil {
			w.track(*wanted)
			tracked()
		}
		for _, do := range then {
			do()
		}
		if check {
			w.compare()
		}
		for _, c := range asked {
			w.hurry(c)
		}
		if next := w.takeDue(); next > 0 {
			timer.Reset(next)
		}
	}
}

func (w *Watch) track(files []Tracked) {
	w.mu.Lock()
	old := w.names
	w.mu.Unlock()
	names, disks, large := map[string]string{}, map[string]*DiskState{}, map[string]bool{}
	for _, f := range files {
		path, ok := old[f.Name]
		if !ok {
			var err error
			if path, err = RealPath(f.Name); err != nil {
				continue
			}
		}
		names[f.Name], disks[path], large[path] = path, f.Disk, f.Large
	}
	w.watchDirs(disks) // before the files are looked at, so that nothing is missed in between
	// What is said of a file as soon as it is known comes after what the disk had then.
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names = names
	for path, f := range w.known {
		if _, ok := disks[path]; !ok || f.large != large[path] {
			delete(w.known, path)
			if !f.large {
				w.leave(path, f.gone)
			}
		}
	}
	for path := range disks {
		if w.known[path] == nil {
			w.known[path] = &watched{large: large[path]}
			if !large[path] {
				w.remember(path, disks[path])
			}
		}
	}
}

// leave reports that no buffer shows a file any more; gone says that there was none.
func (w *Watch) leave(path string, gone bool) {
	w.order(path, func(real string) {
		if gone { // the buffer had nothing of what is there now
			w.files.synced.forget(real)
		}
		w.tellOpened(real, Opened{})
	})
}

// watchDirs watches the directories of files, and no others. Directories already watched are added again: one may have
// been replaced.
func (w *Watch) watchDirs(files map[string]*DiskState) {
	if w.notify == nil {
		return
	}
	dirs := map[string]bool{}
	var limit error
	for path := range files {
		dir := filepath.Dir(path)
		if _, done := dirs[dir]; done {
			continue
		}
		err := w.notify.Add(dir)
		dirs[dir] = err == nil
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			limit = err
		}
	}
	for dir, ok := range w.dirs {
		if _, still := dirs[dir]; ok && !still {
			w.notify.Remove(dir) // its error means that the directory is gone
		}
	}
	w.dirs = dirs
	w.tellLimit(limit)
}

func (w *Watch) tellLimit(err error) {
	if (err == nil) != (w.limit == nil) {
		w.limited(err)
	}
	w.limit = err
}

// remember notes what the disk has for a newly watched file.
func (w *Watch) remember(path string, disk *DiskState) {
	w.order(path, func(real string) {
		l, failed := w.files.live(w.ctx, real)
		if failed == nil && l.Disk != nil && *l.Disk == l.Written { // the user may have written it since
			disk = (*DiskState)(l.Disk)
		}
		at, err := w.files.remember(real, disk)
		gone := err != nil
		changed := disk != nil && (stamp(*disk) != at || gone) // since Neovim read or wrote it
		if changed && (missing(err) || err == nil) && w.files.rememberSaved(w.ctx, real, stamp(*disk)) {
			at, gone = stamp(*disk), false
		} else if had, ok := w.files.synced.get(real); ok && had.at != (stamp{}) && missing(err) && disk != nil && !disk.Exists {
			w.files.synced.forget(real) // Neovim found no file; what an earlier host says of it has no stamp, and stays
		}
		// What others have removed since Neovim read or wrote it is still to be told.
		w.set(path, func(f *watched) { f.at, f.gone = at, gone && !(changed && disk.Exists) })
		if changed {
			w.touch(path)
		}
		// The user may have written it already, and may have closed it since.
		saved := failed == nil && (!gone && l.Buf != 0 && l.Written == at || w.files.rememberLeft(real, l))
		w.tellOpened(real, Opened{Loaded: true, Saved: saved})
	})
}

// tellOpened reports that a buffer now shows a file or no longer does, or that the user has saved it or read it again.
func (w *Watch) tellOpened(path string, o Opened) {
	was, known := w.files.synced.get(path)
	if !known && o.Loaded && !o.Saved {
		was, known = w.files.rememberRead(w.ctx, path)
	}
	if w.Opened == nil {
		return
	}
	o.Path, o.Since = path, changedAt(path)
	if known {
		o.Text, o.Form = &was.text, was.form
		if o.Saved {
			o.Wrote = DiskState(was.written).Time()
		}
	}
	w.Opened(o)
}

// order runs a job after the earlier reads and writes of the same file.
func (w *Watch) order(path string, run func(path string)) {
	w.files.order.add(&job{ctx: w.ctx, path: path, run: run, fail: func(error) {}})
}

func (w *Watch) set(path string, change func(*watched)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.known[path]; f != nil {
		change(f)
	}
}

// compare touches the files that have changed.
func (w *Watch) compare() {
	files := map[string]*DiskState{}
	were := map[string]stamp{}
	w.mu.Lock()
	for path, f := range w.known {
		files[path], were[path] = nil, f.at
	}
	w.mu.Unlock()
	w.watchDirs(files)
	for path, was := range were {
		var now stamp
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			now = stampOf(info)
		}
		if now != was {
			w.touch(path)
		}
	}
}

// takeDue begins to sync the files that are quiet, and returns how long until there may be more of them; 0 is until
// woken.
func (w *Watch) takeDue() (next time.Duration) {
	touched := map[string]watched{}
	w.mu.Lock()
	for path, f := range w.known {
		if !f.first.IsZero() {
			touched[path] = *f
		}
	}
	w.mu.Unlock()
	now := time.Now()
	for path, f := range touched {
		end := f.first.Add(patience)
		at := f.last.Add(quiet)
		if at.After(end) || !at.After(now) && unfinished(path) {
			at = end
		}
		if f.rest.After(at) && len(f.waiting) == 0 {
			at = f.rest
		}
		if wait := at.Sub(now); wait > 0 {
			if next == 0 || wait < next {
				next = wait
			}
			continue
		}
		var waiting []func(bool)
		w.set(path, func(f *watched) { f.first, waiting, f.waiting = time.Time{}, f.waiting, nil })
		w.order(path, func(real string) {
			err := w.sync(path, real, how{empty: !end.After(now)})
			for _, done := range waiting {
				done(err == nil || errors.Is(err, errUnfinished))
			}
		})
	}
	return next
}

// unfinished reports whether a file may be in the middle of being written.
func unfinished(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Mode().IsRegular() && info.Size() == 0
}

// sync handles one change and reports it; path is what is watched, and real where that now leads. An empty file that
// may be unfinished is errUnfinished, and waited for.
func (w *Watch) sync(path, real string, h how) error {
	began := time.Now()
	h.idle = w.Agents != nil && !w.Agents(cmp.Or(changedAt(real), began))
	w.set(path, func(f *watched) {
		h.large, f.gone = f.large, f.gone && !h.saved // the user saved it, so it existed, whatever happened to it since
	})
	got, err := safely(func(real string) (syncResult, error) { return w.files.sync(w.ctx, real, h) }, real)
	if errors.Is(err, errUnfinished) {
		w.touch(path)
		return err
	}
	note, none := gone(path, err)
	if h.saved && err != nil {
		return err
	}
	told, back := true, false
	_, own := w.files.removed.Load(real)
	w.set(path, func(f *watched) {
		told, back = f.gone, f.gone && !got.users && (!f.ours || got.Changed || got.at == f.was)
		f.rest = time.Now().Add(min(restTimes*time.Since(began), maxRest))
		if (err == nil || none) && !h.saved {
			if none && !f.gone {
				f.was, f.ours = f.at, own
			}
			f.at, f.gone = got.at, none
		}
	})
	if err == nil && got.unheard {
		w.tellOpened(real, Opened{Loaded: true, Saved: true})
	}
	// After any other failure the next Check comes back to it.
	switch {
	case none && !told && !own:
		c := Written{Path: path, Note: note, Deleted: !errors.Is(err, errTooLarge), ReadAt: began}
		if had, ok := w.files.synced.get(real); ok {
			c.Before, c.FormBefore = &had.text, had.form
			if text, saved := w.files.savedSince(w.ctx, real, had); saved {
				c.Before = &text
			}
		}
		w.told(c)
	case err == nil && back && got.Buf != 0:
		got.Created, got.Had, got.Before, got.FormBefore = true, got.Before, nil, ""
		if had, ok := w.files.synced.get(real); ok && got.After == nil {
			got.After = &had.text
		}
		w.told(got.Written)
	case err == nil && (got.Changed || got.Note != ""):
		w.told(got.Written)
	}
	return err
}
