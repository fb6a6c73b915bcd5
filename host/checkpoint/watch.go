package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/host/files"
)

// This file watches large projects, so that a snapshot reads only what has changed, see [Store.Watch].

const (
	// maxChanged is how many changed paths are remembered.
	maxChanged = 20_000
	// maxNew is for how many new paths git is asked whether they belong to the project; for more, it is asked to list
	// all.
	maxNew = 500
	// pause is how long events that nobody waits for are gathered.
	pause = 50 * time.Millisecond
)

// minWatched is the least number of files for which a project's folders are watched: in smaller ones each file is
// checked. Lower in tests.
var minWatched = 10_000

// watch knows what has changed in folders. If it loses events, it starts again with the next scan of all files.
type watch struct {
	roots []string
	users int // guarded by Store.mu

	placing sync.Mutex // held while folders are being added

	mu      sync.Mutex // guards the fields below
	failed  bool       // it is unavailable
	ended   bool
	notify  *notifier // nil while nothing is watched
	folders map[int32]string
	watched map[string]int32  // folders, by path
	seq     uint64            // counts the events
	changed map[string]uint64 // by path, when something happened there last; folders that are watched since end in "/"
	fresh   []string          // folders that are new and not watched yet
}

// mark is the moment of a scan, for the next one.
type mark struct {
	watch  *watch // nil for none
	notify *notifier
	seq    uint64
	rules  []rule
}

// rule is a file that says which other files belong to a project.
type rule struct {
	path string
	is   fileID
	of   string // the repository whose index it is, "" where it is none
}

type fileID struct {
	size, modified, changed int64
	inode                   uint64
}

// Watch makes scans of folders cost only what has changed, as far as the system supports it, until release is called.
func (s *Store) Watch(roots []string) (release func()) {
	roots = realRoots(roots)
	key := strings.Join(roots, "\x00")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watches == nil {
		s.watches = map[string]*watch{}
	}
	w := s.watches[key]
	if w == nil {
		w = &watch{roots: roots}
		s.watches[key] = w
	}
	w.users++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if w.users--; w.users == 0 {
			delete(s.watches, key)
			w.end()
		}
	})
}

// watchOf returns the watch of folders, nil if there is none.
func (s *Store) watchOf(roots []string) *watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches[strings.Join(roots, "\x00")]
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.lose()
}

// lose forgets everything: what has happened is no longer known.
func (w *watch) lose() {
	if w.notify != nil {
		w.notify.close()
	}
	w.notify, w.folders, w.watched, w.changed, w.fresh = nil, nil, nil, nil, nil
}

// forget is lose, unless another notifier is in use by now.
func (w *watch) forget(n *notifier) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.notify == n {
		w.lose()
	}
}

// place begins to watch the folders of a project, as listed in a snapshot, unless they are watched already. It reports
// whether it has begun.
func (w *watch) place(ctx context.Context, snap *Snapshot) (began bool) {
	w.placing.Lock()
	defer w.placing.Unlock()
	w.mu.Lock()
	idle := w.notify == nil && !w.failed && !w.ended
	w.mu.Unlock()
	if !idle || len(snap.files) < minWatched {
		return false
	}
	n, err := newNotifier()
	if err == nil {
		w.mu.Lock()
		w.notify, w.folders, w.watched, w.changed = n, map[int32]string{}, map[string]int32{}, map[string]uint64{}
		w.mu.Unlock()
		known := snap.folders()
		err = w.add(ctx, n, snap.repos, slices.Sorted(maps.Keys(known)), known)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || w.notify != n || w.ended {
		w.failed = err != nil && ctx.Err() == nil
		w.lose()
		return false
	}
	go w.gather(n)
	return true
}

// gather takes events in time, so that the kernel does not drop any.
func (w *watch) gather(n *notifier) {
	for n.wait() {
		w.mu.Lock()
		if w.notify == n {
			w.take()
		}
		w.mu.Unlock()
		time.Sleep(pause)
	}
}

// folders returns the folders of a snapshot's files, with all those between them and the roots.
func (s *Snapshot) folders() map[string]bool {
	known := map[string]bool{}
	for _, root := range s.roots {
		known[root] = true
	}
	for _, f := range s.files {
		for dir := filepath.Dir(f.path); !known[dir] && below(dir, s.roots); dir = filepath.Dir(dir) {
			known[dir] = true
		}
	}
	return known
}

// add watches folders, and the folders in them that belong to the project, except known ones.
func (w *watch) add(ctx context.Context, n *notifier, repos []repository, dirs []string, known map[string]bool) error {
	for len(dirs) > 0 {
		var inside []string
		for _, dir := range dirs {
			w.mu.Lock()
			wd, err := int32(0), errors.New("no longer watched")
			if w.notify == n {
				if wd, err = n.add(dir, len(w.folders)); err == nil {
					w.folders[wd], w.watched[dir] = dir, wd
				}
			}
			w.mu.Unlock()
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
				continue // the folder that it was in reports its end
			}
			if err != nil {
				return err
			}
			d, err := os.Open(dir)
			if err != nil {
				return err
			}
			entries, err := d.ReadDir(-1)
			d.Close()
			if err != nil {
				return err
			}
			for _, e := range entries {
				if path := filepath.Join(dir, e.Name()); e.IsDir() && e.Name() != ".git" && !known[path] {
					inside = append(inside, path)
				}
			}
		}
		var err error
		if dirs, err = relevant(ctx, repos, inside); err != nil {
			return err
		}
	}
	return nil
}

// relevant leaves out the folders that git ignores and, without git, those that are not scanned.
func relevant(ctx context.Context, repos []repository, dirs []string) (left []string, err error) {
	for repo, dirs := range byRepository(repos, dirs) {
		if repo.git {
			if dirs, err = files.NotIgnored(ctx, repo.dir, dirs); err != nil {
				return nil, err
			}
		} else {
			dirs = slices.DeleteFunc(dirs, func(dir string) bool { return filepath.Base(dir) == "node_modules" })
		}
		left = append(left, dirs...)
	}
	return left, nil
}

// byRepository groups paths by the innermost repository.
func byRepository(repos []repository, paths []string) map[repository][]string {
	groups := map[repository][]string{}
	for _, path := range paths {
		var in repository
		for _, r := range repos {
			if len(r.dir) > len(in.dir) && below(path, []string{r.dir}) {
				in = r
			}
		}
		groups[in] = append(groups[in], path)
	}
	return groups
}

// event is what happened to a name in a folder; events of the folder itself have no name.
type event struct {
	wd   int32
	name string
	what what
}

type what int

const (
	fileChanged   what = iota // anything but a folder appeared, changed or disappeared
	folderMade                // or has come from elsewhere
	folderMoved               // away
	folderRemoved             // everything in it was reported
	folderChanged             // others may enter it, for instance
	watchOver                 // of a folder
	lost                      // too many events, some were dropped
)

// take handles what has happened. The lock is held.
func (w *watch) take() {
	whole := true
	err := w.notify.take(func(e event) {
		w.seq++
		dir, known := w.folders[e.wd]
		path := filepath.Join(dir, e.name)
		switch {
		case e.what == lost:
			whole = false
		case !known:
		case e.what == watchOver:
			delete(w.folders, e.wd)
			if w.watched[dir] == e.wd {
				delete(w.watched, dir)
			}
			whole = whole && !slices.Contains(w.roots, dir)
		case e.what == folderMade && e.name == ".git":
			whole = false
		case e.what == folderMade:
			w.fresh = append(w.fresh, path)
		case e.what == folderMoved, e.what == folderChanged:
			_, watched := w.watched[path]
			whole = whole && !watched
		case e.what == folderRemoved:
		case e.name == ".gitignore", e.name == ".ignore", e.name == ".rgignore", e.name == ".git":
			whole = false
		default:
			w.changed[path] = w.seq
		}
	})
	if err != nil || !whole || len(w.changed) > maxChanged {
		w.lose()
	}
}

// look returns the paths that have changed since a moment, those of folders with a trailing "/", and the present
// moment. It returns false if not everything is known.
func (w *watch) look(ctx context.Context, repos []repository, last mark) (paths []string, now mark, ok bool) {
	w.placing.Lock()
	defer w.placing.Unlock()
	w.mu.Lock()
	n := w.notify
	w.mu.Unlock()
	if n == nil || n != last.notify {
		return nil, now, false
	}
	for {
		w.mu.Lock()
		if w.notify == n {
			w.take()
		}
		if w.notify != n {
			w.mu.Unlock()
			return nil, now, false
		}
		fresh := w.fresh
		w.fresh = nil
		if len(fresh) == 0 {
			now = mark{watch: w, notify: n, seq: w.seq, rules: last.rules}
			for path, seq := range w.changed {
				if seq > last.seq {
					paths = append(paths, path)
				}
			}
			w.mu.Unlock()
			return paths, now, true
		}
		w.mu.Unlock()
		err := errors.New("too many new folders")
		var dirs []string
		if len(fresh) <= maxNew {
			if dirs, err = relevant(ctx, repos, fresh); err == nil {
				err = w.add(ctx, n, repos, dirs, nil)
			}
		}
		if err != nil {
			w.forget(n)
			return nil, now, false
		}
		w.mu.Lock()
		for _, dir := range dirs { // events in it are reported from now on
			if w.seq++; w.notify == n {
				w.changed[dir+"/"] = w.seq
			}
		}
		w.mu.Unlock()
	}
}

// rulesOf returns the present state of the files that say which others belong to a project.
func rulesOf(ctx context.Context, repos []repository) (rules []rule, err error) {
	for _, r := range repos {
		if !r.git {
			continue
		}
		index, others, err := files.Rules(ctx, r.dir)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule{path: index, of: r.dir, is: idOf(index)})
		for _, path := range others {
			rules = append(rules, rule{path: path, is: idOf(path)})
		}
	}
	return rules, nil
}

func idOf(path string) fileID {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Stat(path, &st) }); err != nil {
		return fileID{}
	}
	return fileID{st.Size, st.Mtim.Nano(), st.Ctim.Nano(), st.Ino}
}

// now returns the moment for a scan of all files, the zero mark if nothing is watched.
func (w *watch) now() mark {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.notify != nil {
		w.take()
	}
	if w.notify == nil {
		return mark{}
	}
	return mark{watch: w, notify: w.notify, seq: w.seq}
}
