package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Snapshot is the state of a project's files at one moment. It never changes.
type Snapshot struct {
	Partial Partial

	roots   []string  // real paths
	at      time.Time // when it was begun
	touched time.Time // when the store last heard that all its contents are needed
	files   []*file   // by path; unchanged ones are shared with the previous snapshot

	// For the next scan, see since.go.

	mark      mark
	repos     []repository
	size      int64    // of the files whose contents are known,
	count     int      // and how many they are
	linked    []string // files that have several names
	unsettled []string // files that may have changed since they were read
	largest   []string // of those without their contents, see Without

	byInode map[inode]*file // nil before Of; used only by the goroutine that calls it
}

// repository is a folder whose files were listed separately.
type repository struct {
	dir string
	git bool // the list is git's
	cut bool // there are more
}

// State is the state of a path. The zero State is that of a path where nothing is.
type State struct {
	Kind   Kind
	Mode   fs.FileMode // the permission bits, of files only
	Size   int64       // bytes
	Sum    Sum         // of the contents; zero if unknown, see Partial
	Target string      // of a symbolic link

	ModTime int64 // nanoseconds since 1970
	Changed int64 // likewise, for the last change of any kind: nobody can set it
	Inode   uint64
}

// Kind is what is at a path.
type Kind uint8

const (
	None Kind = iota
	File
	Symlink
	Other // a pipe, a socket, a device: nothing that can be restored
)

// Partial counts what a snapshot lacks. The zero Partial is a whole snapshot.
type Partial struct {
	Unlisted   int // folders not all of whose files are known
	Large      int // files with unknown contents: each is too large,
	TooMany    int // they are too much together,
	Unreadable int // or they could not be read
}

// String says it in words; "" for a whole snapshot.
func (p Partial) String() string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{
		{p.Large, fmt.Sprintf("too large (over %d MB)", usual.fileSize>>20)},
		{p.TooMany, fmt.Sprintf("too many (over %d MB, or %d files, together)", usual.allSize>>20, usual.allFiles)},
		{p.Unreadable, "unreadable"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	text := ""
	if len(parts) > 0 {
		text = "files without their contents: " + strings.Join(parts, ", ")
	}
	if p.Unlisted > 0 {
		text = strings.TrimPrefix(text+"; not all files are listed", "; ")
	}
	return text
}

// Without returns the paths of files with unknown contents, the largest first and at most most of them.
func (s *Snapshot) Without(most int) []string { return s.largest[:min(len(s.largest), most)] }

// maxLargest is how many files without their contents can be named.
const maxLargest = 10

// findLargest finds the largest files with unknown contents.
func (s *Snapshot) findLargest() {
	var all []*file
	for _, f := range s.files {
		if !f.lacks() || len(all) == maxLargest && f.Size <= all[maxLargest-1].Size {
			continue
		}
		at, _ := slices.BinarySearchFunc(all, f, func(a, f *file) int {
			if a.Size >= f.Size {
				return -1
			}
			return 1
		})
		if all = slices.Insert(all, at, f); len(all) > maxLargest {
			all = all[:maxLargest]
		}
	}
	s.largest = nil
	for _, f := range all {
		s.largest = append(s.largest, f.path)
	}
}

// lacks reports whether a file's contents are unknown.
func (f *file) lacks() bool { return f.Kind == File && f.Sum.IsZero() }

// State returns what was at a path. What is outside the roots, or ignored there, is unknown, as if nothing were there.
func (s *Snapshot) State(path string) State {
	if at, found := s.search(path); found {
		return s.files[at].State
	}
	return State{}
}

// Of returns the path at which a file was, whatever its contents; "" if that is unknown, because it was not there or
// has several names. Only one goroutine may call it.
func (s *Snapshot) Of(device, number uint64) string {
	if s.byInode == nil {
		s.byInode = make(map[inode]*file, len(s.files))
		for _, f := range s.files {
			s.byInode[f.inode()] = f
		}
	}
	if f := s.byInode[inode{device, number}]; f != nil && f.Kind == File && !f.linked {
		return f.path
	}
	return ""
}

// Names returns the other paths at which the file at a path is, of those that had several names.
func (s *Snapshot) Names(path string) (others []string) {
	if len(s.linked) == 0 {
		return nil
	}
	is, err := os.Lstat(path)
	if err != nil {
		return nil
	}
	for _, other := range s.linked {
		if info, err := os.Lstat(other); other != path && err == nil && os.SameFile(is, info) {
			others = append(others, other)
		}
	}
	return others
}

// Whole reports whether a snapshot lists all files that belong to the project near a path.
func (s *Snapshot) Whole(path string) bool { return s.Partial.Unlisted == 0 && below(path, s.roots) }

func (s *Snapshot) search(path string) (int, bool) {
	return slices.BinarySearchFunc(s.files, path, func(f *file, path string) int { return strings.Compare(f.path, path) })
}

// Snapshot records the files below the roots, which are folders: the files that belong to the project, see files.List,
// by their real paths, and those of the last snapshot, which may be nil, wherever they are now. What changed since the
// last one is read and kept in the store; if folders are watched, see [Store.Watch], nothing else is looked at. Errors
// are those of ctx and of the store; what cannot be read is counted in Partial. It uses two goroutines.
func (s *Store) Snapshot(ctx context.Context, roots []string, last *Snapshot) (*Snapshot, error) {
	roots = realRoots(roots)
	w := s.watchOf(roots)
	if w != nil && last != nil && last.mark.watch == w {
		if snap, err := newScan(ctx, s, roots, last).since(); snap != nil || err != nil {
			return snap, failure(err)
		}
	}
	snap, err := newScan(ctx, s, roots, last).all(w)
	if err == nil && w != nil && w.place(ctx, snap) && last == nil {
		snap, err = newScan(ctx, s, roots, snap).all(w) // what changed before they were watched
	}
	return snap, failure(err)
}

func failure(err error) error {
	if err != nil {
		return fmt.Errorf("look at the project's files: %w", err)
	}
	return nil
}

func newScan(ctx context.Context, s *Store, roots []string, last *Snapshot) *scan {
	sc := &scan{store: s, ctx: ctx, last: last, new: &Snapshot{at: time.Now(), roots: roots}, real: map[string]bool{}}
	for _, root := range roots {
		sc.real[root] = true
	}
	return sc
}

// all scans all files. The watch may be nil, for none.
func (sc *scan) all(w *watch) (*Snapshot, error) {
	var now mark
	if w != nil {
		now = w.now()
	}
	if now.watch != nil && sc.last != nil {
		var err error
		if now.rules, err = rulesOf(sc.ctx, sc.last.repos); err != nil {
			now = mark{}
		}
	}
	for _, root := range sc.new.roots {
		sc.list(root)
	}
	sc.order()
	sc.addLast()
	err := sc.readAll()
	if err == nil {
		err = sc.ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if sc.last != nil && slices.Equal(sc.last.repos, sc.new.repos) {
		sc.new.mark = now // otherwise folders of other files may not be watched
	}
	return sc.new, nil
}

// realRoots returns folders by their real paths, each once.
func realRoots(roots []string) (all []string) {
	for _, root := range roots {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			root = real
		}
		if root, err := filepath.Abs(root); err == nil && !slices.Contains(all, root) {
			all = append(all, root)
		}
	}
	return all
}

// below reports whether a path is in one of the folders.
func below(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		rest, found := strings.CutPrefix(path, strings.TrimSuffix(root, "/"))
		return found && strings.HasPrefix(rest, "/")
	})
}

func byPath(a, b *file) int { return cmp.Compare(a.path, b.path) }
