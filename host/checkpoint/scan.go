package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/host/files"
)

const (
	// granularity is how far apart two changes of a file must be to have different times, on a bad disk.
	granularity = 2 * time.Second
	// need is how often the store is told that a snapshot's contents are needed; Clean keeps them for longer.
	need = 15 * time.Minute
	// nested is how many repositories inside another are scanned.
	nested = 100
	// tries is how often a file that keeps changing is read.
	tries = 3
	// readers is how many files are read at once.
	readers = 2
)

// file is a snapshot's entry for a path. It does not change once the snapshot is made.
type file struct {
	path string
	State
	device uint64
	readAt int64 // when reading it began: a change around then may have come after
	linked bool  // it has other names, which may be anywhere
	failed bool  // it could not be read
}

// same reports whether two stats of a path show the same contents, as far as a stat can tell.
func (f *file) same(g *file) bool {
	return f.Kind == g.Kind && f.Size == g.Size && f.Mode == g.Mode && f.Target == g.Target &&
		f.ModTime == g.ModTime && f.Changed == g.Changed && f.Inode == g.Inode && f.device == g.device
}

// settled reports whether the times of a file that was read cannot hide a change.
func (f *file) settled() bool {
	return max(f.ModTime, f.Changed) < f.readAt-int64(granularity)
}

// stat stats the path again, without opening it. A folder counts as nothing, but is reported.
func (f *file) stat() (folder bool, err error) {
	return f.statBy(func(st *unix.Stat_t) error { return unix.Lstat(f.path, st) })
}

// statIn is stat of one of many.
func (f *file) statIn(in *openFolder) (folder bool, err error) {
	dir, name := filepath.Split(f.path)
	fd := in.open(dir)
	if fd < 0 || name == "" {
		return f.stat()
	}
	return f.statBy(func(st *unix.Stat_t) error { return unix.Fstatat(fd, name, st, unix.AT_SYMLINK_NOFOLLOW) })
}

func (f *file) statBy(look func(*unix.Stat_t) error) (folder bool, err error) {
	var st unix.Stat_t
	err = retry(func() error { return look(&st) })
	f.fill(&st)
	if err != nil {
		f.State = State{}
		return false, err
	}
	if f.Kind == Symlink {
		f.Target, err = os.Readlink(f.path)
	}
	return uint32(st.Mode)&unix.S_IFMT == unix.S_IFDIR, err
}

// special are the bits of a mode that are not permissions.
var special = [...]struct {
	bit  uint32
	mode fs.FileMode
}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}}

func (f *file) fill(st *unix.Stat_t) {
	f.State = State{Size: st.Size, ModTime: st.Mtim.Nano(), Changed: st.Ctim.Nano(), Inode: st.Ino}
	f.device, f.linked, f.failed = uint64(st.Dev), st.Nlink > 1, false
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFDIR:
		f.State = State{}
	case unix.S_IFREG:
		f.Kind, f.Mode = File, fs.FileMode(st.Mode)&fs.ModePerm
		for _, b := range special {
			if uint32(st.Mode)&b.bit != 0 {
				f.Mode |= b.mode
			}
		}
	case unix.S_IFLNK:
		f.Kind = Symlink
	default:
		f.Kind, f.Size = Other, 0
	}
}

// retry calls f until no signal interrupts it.
func retry(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// scan makes a snapshot.
type scan struct {
	store *Store
	ctx   context.Context
	last  *Snapshot // may be nil
	new   *Snapshot
	repos int             // that were found inside others
	real  map[string]bool // folders, see isReal
}

// isReal reports whether a folder, which is a root or below one, is reached without a symbolic link. Git and the last
// snapshot name files in folders that have since become links. A folder that cannot be checked counts as real.
func (sc *scan) isReal(dir string) bool {
	real, known := sc.real[dir]
	if !known {
		f := &file{path: dir}
		folder, err := f.stat()
		real = (folder || errors.Is(err, fs.ErrPermission)) && sc.isReal(filepath.Dir(dir))
		sc.real[dir] = real
	}
	return real
}

// list adds the files below a folder, and below repositories in it, which git lists as one name.
func (sc *scan) list(dir string) {
	listing := files.Known(sc.ctx, dir)
	cut := listing.Cut
	repo := len(sc.new.repos)
	sc.new.repos = append(sc.new.repos, repository{dir: dir, git: listing.Git, cut: cut})
	var all []*file
	for _, name := range listing.Paths {
		if !listing.Git && strings.HasSuffix(name, "/") {
			continue
		}
		f := &file{path: filepath.Join(dir, name)}
		if sc.isReal(filepath.Dir(f.path)) && (sc.store.Skip == nil || !sc.store.Skip(f.path)) {
			all = append(all, f)
		}
	}
	for i, found := range sc.statAll(all) {
		f := all[i]
		if sc.ctx.Err() != nil {
			return
		}
		if len(sc.new.files) >= sc.store.names {
			cut = true
			break
		}
		switch {
		case found.folder && f.path != dir && listing.Git && sc.repos < nested:
			sc.repos++
			sc.list(f.path)
		case found.folder && listing.Git:
			cut = true
		case f.Kind != None && found.err == nil:
			sc.new.files = append(sc.new.files, f)
		}
	}
	if cut {
		sc.new.Partial.Unlisted++
		sc.new.repos[repo].cut = true
	}
}

// look is the result of looking at a path.
type look struct {
	folder bool
	err    error
}

// statAll stats files concurrently; those of a folder are best done in a row.
func (sc *scan) statAll(all []*file) []look {
	found := make([]look, len(all))
	var work sync.WaitGroup
	each := (len(all) + readers - 1) / readers
	for from := 0; from < len(all); from += each {
		to := min(from+each, len(all))
		work.Go(func() {
			var in openFolder
			defer in.close()
			for i := from; i < to && sc.ctx.Err() == nil; i++ {
				found[i].folder, found[i].err = all[i].statIn(&in)
			}
		})
	}
	work.Wait()
	return found
}

// openFolder is a folder whose files are looked at: that costs less than by their whole paths.
type openFolder struct {
	path string
	fd   int // of path, unless that is ""; -1 where it cannot be opened
}

func (o *openFolder) open(path string) int {
	if o.path != path || path == "" {
		o.close()
		o.path, o.fd = path, -1
		_ = retry(func() (err error) { // on error the whole paths are used
			o.fd, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
			return err
		})
	}
	return o.fd
}

func (o *openFolder) close() {
	if o.path != "" && o.fd >= 0 {
		unix.Close(o.fd)
	}
	o.path = ""
}

// order sorts the files, each once.
func (sc *scan) order() {
	slices.SortFunc(sc.new.files, byPath)
	sc.new.files = slices.CompactFunc(sc.new.files, func(a, b *file) bool { return a.path == b.path })
}

// addLast adds the files of the last snapshot that are no longer listed but still there, because they are now ignored,
// for instance. One in a folder that can no longer be entered counts as unchanged.
func (sc *scan) addLast() {
	if sc.last == nil {
		return
	}
	closed := map[string]bool{} // folders that cannot be entered
	var more []*file
	at := cursor{files: sc.new.files}
	for _, old := range sc.last.files {
		if at.find(old.path) != nil || !below(old.path, sc.new.roots) || sc.ctx.Err() != nil {
			continue
		}
		dir := filepath.Dir(old.path)
		if !sc.isReal(dir) {
			continue
		}
		f := &file{path: old.path}
		switch _, err := f.stat(); {
		case errors.Is(err, fs.ErrPermission):
			closed[dir] = true
			more = append(more, old)
		case err == nil && f.Kind != None:
			more = append(more, f)
		}
	}
	sc.new.Partial.Unlisted += len(closed)
	if len(more) > 0 {
		sc.new.files = append(sc.new.files, more...)
		sc.order()
	}
}

// readAll takes over what the last snapshot knows, and reads the rest.
func (sc *scan) readAll() error {
	touch := sc.last == nil || sc.new.at.Sub(sc.last.touched) > need
	sc.new.touched = sc.new.at
	if !touch {
		sc.new.touched = sc.last.touched
	}
	var size int64
	var count int
	var todo []wantedFile
	var last cursor
	if sc.last != nil {
		last.files = sc.last.files
	}
	for i, f := range sc.new.files {
		known := false
		if old := last.find(f.path); old != nil {
			if old == f || old.same(f) && (f.Kind != File || !old.Sum.IsZero() && old.settled() && (!touch || sc.store.touch(old.Sum))) {
				sc.new.files[i] = old
				if f.Kind == File {
					size += f.Size
					count++
				}
				continue
			}
			known = !old.Sum.IsZero()
		}
		if f.Kind == File && f.Size <= sc.store.fileSize {
			todo = append(todo, wantedFile{f, known})
		}
	}
	err := sc.read(sc.roomFor(todo, size, count))
	s := sc.new
	s.files = slices.DeleteFunc(s.files, func(f *file) bool { return f.Kind == None })
	for _, f := range s.files {
		s.tally(f, sc.store, 1)
		if f.Kind == File && f.linked {
			s.linked = append(s.linked, f.path)
		}
		if f.Kind == File && !f.lacks() && !f.settled() {
			s.unsettled = append(s.unsettled, f.path)
		}
	}
	s.findLargest()
	return err
}

// wantedFile is a file whose contents are to be read.
type wantedFile struct {
	f     *file
	known bool // the last snapshot has its contents
}

// roomFor returns the files to read, given the size and count of those already known. If there is not room for all,
// changed files come first, then small ones.
func (sc *scan) roomFor(todo []wantedFile, size int64, count int) (wanted []*file) {
	slices.SortStableFunc(todo, func(a, b wantedFile) int {
		if a.known != b.known {
			if a.known {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.f.Size, b.f.Size)
	})
	for _, u := range todo {
		if size+u.f.Size > sc.store.allSize || count >= sc.store.allFiles {
			continue
		}
		size += u.f.Size
		count++
		wanted = append(wanted, u.f)
	}
	return wanted
}

// tally counts a file among those with or without known contents or, with -1, removes it from the count.
func (s *Snapshot) tally(f *file, store *Store, by int) {
	switch {
	case f.Kind != File:
	case !f.Sum.IsZero():
		s.size += int64(by) * f.Size
		s.count += by
	case f.failed:
		s.Partial.Unreadable += by
	case f.Size > store.fileSize:
		s.Partial.Large += by
	default:
		s.Partial.TooMany += by
	}
}

// cursor finds files by their paths, which must be asked for in their order.
type cursor struct{ files []*file }

// find returns the file at a path, or nil.
func (c *cursor) find(path string) *file {
	for len(c.files) > 0 && c.files[0].path < path {
		c.files = c.files[1:]
	}
	if len(c.files) > 0 && c.files[0].path == path {
		return c.files[0]
	}
	return nil
}

// read sets the files' sums, until the store fails.
func (sc *scan) read(wanted []*file) error {
	ctx, fail := context.WithCancelCause(sc.ctx)
	defer fail(nil)
	var (
		mu   sync.Mutex // guards the fields below
		next int
		work sync.WaitGroup
	)
	take := func() *file {
		mu.Lock()
		defer mu.Unlock()
		if next == len(wanted) || ctx.Err() != nil {
			return nil
		}
		next++
		return wanted[next-1]
	}
	batch := sc.store.Batch()
	for range readers {
		work.Go(func() {
			buf := make([]byte, sc.store.fileSize+1)
			for f := take(); f != nil; f = take() {
				data, err := f.readWhole(buf)
				if err == nil {
					if err = batch.Put(data, func(sum Sum) { f.Sum = sum }); err != nil {
						fail(err)
						return
					}
					continue
				}
				f.failed = f.Kind == File
			}
		})
	}
	work.Wait()
	return cmp.Or(batch.Flush(), context.Cause(ctx))
}

var errMoving = errors.New("the file changes while it is read")

// readWhole reads a file into buf as it is at one moment, and stats it at that moment.
func (f *file) readWhole(buf []byte) (data []byte, err error) {
	for range tries {
		f.readAt = time.Now().UnixNano()
		if data, err = f.readOnce(buf); !errors.Is(err, errMoving) {
			break
		}
	}
	if err != nil {
		_, _ = f.stat() // what there is now: perhaps nothing
	}
	return data, err
}

func (f *file) readOnce(buf []byte) ([]byte, error) {
	// The file may have become a pipe by now, which must not block.
	fd, err := unix.Open(f.path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return nil, err
	}
	f.fill(&st)
	if f.Kind != File {
		return nil, errMoving
	}
	size := 0
	for size < len(buf) {
		var n int
		if err := retry(func() (err error) { n, err = unix.Read(fd, buf[size:]); return err }); err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		size += n
	}
	if err := retry(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return nil, err
	}
	now := &file{}
	if now.fill(&st); int64(size) != f.Size || !now.same(f) {
		return nil, errMoving
	}
	return buf[:size], nil
}
