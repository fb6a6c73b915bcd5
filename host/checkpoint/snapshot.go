package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Snapshot is what the files of a project are at one moment. It never changes.
type Snapshot struct {
	Partial Partial

	roots   []string  // real paths
	at      time.Time // when it was begun
	touched time.Time // when the store last heard that all its contents are needed
	files   []*file   // by path; one that has not changed is shared with the snapshot before
}

// State is what a path was. The zero State is that of a path where nothing is.
type State struct {
	Kind   Kind
	Mode   fs.FileMode // the permission bits, of files only
	Size   int64       // bytes
	Sum    Sum         // of the contents; zero where they are not known, see Partial
	Target string      // of a symbolic link

	ModTime int64 // nanoseconds since 1970
	Changed int64 // the same, of the last change of any kind: nobody can set it
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
	Unlisted   int // folders of which not all files are known
	Large      int // files of which the contents are not known: each is too large,
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

// Without returns the paths of files of which the contents are not known, the largest first and at most so
// many of them.
func (s *Snapshot) Without(most int) []string {
	var files []*file
	for _, f := range s.files {
		if f.Kind == File && f.Sum.IsZero() {
			files = append(files, f)
		}
	}
	slices.SortStableFunc(files, func(a, b *file) int { return cmp.Compare(b.Size, a.Size) })
	var paths []string
	for _, f := range files[:min(len(files), most)] {
		paths = append(paths, f.path)
	}
	return paths
}

// State returns what was at a path. What is outside of the roots, or ignored there, is not known: that
// looks as if nothing was.
func (s *Snapshot) State(path string) State {
	if at, found := s.search(path); found {
		return s.files[at].State
	}
	return State{}
}

// Whole tells whether a snapshot lists all files that belong to the project near a path.
func (s *Snapshot) Whole(path string) bool { return s.Partial.Unlisted == 0 && below(path, s.roots) }

func (s *Snapshot) search(path string) (int, bool) {
	return slices.BinarySearchFunc(s.files, path, func(f *file, path string) int { return strings.Compare(f.path, path) })
}

// Snapshot takes down what the files below the roots are, which are folders: the files that belong to the
// project, see files.List, by their real paths, and those of the last snapshot, which may be nil, wherever
// they are now. What changed since the last one is read and kept in the store. Errors are those of ctx and
// of the store; what cannot be read is in Partial. It works with two goroutines.
func (s *Store) Snapshot(ctx context.Context, roots []string, last *Snapshot) (*Snapshot, error) {
	sc := &scan{store: s, ctx: ctx, last: last, new: &Snapshot{at: time.Now()}, real: map[string]bool{}}
	for _, root := range roots {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			root = real
		}
		if root, err := filepath.Abs(root); err == nil && !slices.Contains(sc.new.roots, root) {
			sc.new.roots = append(sc.new.roots, root)
		}
	}
	for _, root := range sc.new.roots {
		sc.real[root] = true
	}
	for _, root := range sc.new.roots {
		sc.list(root)
	}
	sc.order()
	sc.addLast()
	err := sc.readAll()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("look at the project's files: %w", err)
	}
	return sc.new, nil
}

// below tells whether a path is in one of the folders.
func below(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		rest, found := strings.CutPrefix(path, strings.TrimSuffix(root, "/"))
		return found && strings.HasPrefix(rest, "/")
	})
}

func byPath(a, b *file) int { return cmp.Compare(a.path, b.path) }
