package buffers

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// file is what the disk has at a path; info is nil if there is nothing.
type file struct {
	info fs.FileInfo
	data []byte
}

func (f file) exists() bool { return f.info != nil }

// form returns the file's form on disk, see Form; "" if there is no file.
func (f file) form() string {
	if !f.exists() {
		return ""
	}
	return Form(f.data)
}

// stamp returns the zero value if there is no file.
func (f file) stamp() stamp {
	if !f.exists() {
		return stamp{}
	}
	return stampOf(f.info)
}

// standing is what a file has besides its text.
type standing struct {
	Mode     fs.FileMode
	UID, GID int
}

// standing returns nil if there is no file.
func (f file) standing() *standing {
	if !f.exists() {
		return nil
	}
	s := &standing{f.info.Mode(), -1, -1}
	if stat, ok := f.info.Sys().(*syscall.Stat_t); ok {
		s.UID, s.GID = int(stat.Uid), int(stat.Gid)
	}
	return s
}

// readFile reads a regular file. Anything else at path is an immediate error: opening a FIFO or a device never blocks.
func readFile(path string) (file, error) {
	f, err := readUpTo(path, maxFile)
	if errors.Is(err, ErrMoved) {
		if real, e := RealPath(path); e == nil {
			return readUpTo(real, maxFile)
		}
	}
	return f, err
}

// readUpTo is readFile of at most limit bytes, at a real path; a larger file is an tooLarge.
func readUpTo(path string, limit int64) (file, error) {
	f, info, err := openFile(path)
	if err != nil {
		return file{}, err
	}
	defer f.Close()
	if info.Size() > limit {
		return file{}, tooLarge{info.Size(), limit}
	}
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	n, err := io.Copy(data, io.LimitReader(f, limit+1)) // it may grow, or be one that the system generates
	if err != nil {
		return file{}, cause(err)
	}
	if n > limit {
		return file{}, tooLarge{n, limit}
	}
	return file{info, data.Bytes()}, nil
}

// OnDisk returns the bytes of a regular file on the disk, whatever its buffer has, or an error if there are more than
// limit. It never blocks.
func OnDisk(path string, limit int64) ([]byte, error) {
	path, err := RealPath(path)
	if err != nil {
		return nil, err
	}
	f, err := readUpTo(path, limit)
	return f.data, err
}

// readPatience is how long a read may wait for data: some system files are regular by type but wait like a pipe.
const readPatience = time.Second

// openFile opens a regular file at a real path to be read; info is from before anything was read, so that a change meanwhile
// shows.
func openFile(path string) (f *os.File, info fs.FileInfo, err error) {
	if info, err = os.Stat(path); err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, nil, cause(err)
	}
	if f, err = openReal(path, os.O_RDONLY|unix.O_NONBLOCK); err != nil {
		return nil, nil, cause(err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(info) // again, for the file that was actually opened
	}
	if err != nil {
		f.Close()
		return nil, nil, cause(err)
	}
	_ = f.SetReadDeadline(time.Now().Add(readPatience)) // fails for files that never wait
	return f, info, nil
}

// readOld reads the file that a write is to replace, and checks that it may be replaced.
func readOld(path string) (file, error) {
	old, err := readUpTo(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, nil
	}
	if err != nil {
		return file{}, err
	}
	// No write bit at all: not writable even for root, as in Neovim.
	if old.info.Mode()&0o222 == 0 {
		return file{}, fs.ErrPermission
	}
	return old, cause(unix.Access(path, unix.W_OK))
}

// Obstacle returns what prevents the file at a real path from being read, or written, whoever allows it: it is a
// directory, a device or the like, or permissions forbid it. A missing file is not an obstacle. It reads the disk.
func Obstacle(path string, write bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return cause(err)
	}
	mode := uint32(unix.R_OK)
	if write {
		mode = unix.W_OK
	}
	if err := regular(info); err != nil {
		return err
	}
	return cause(unix.Access(path, mode))
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return ErrDirectory
	case !info.Mode().IsRegular():
		return ErrNotRegular
	}
	return nil
}

// cause reduces an error of package os to its reason: the caller's error says the rest.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fs.ErrNotExist
	case errors.Is(err, fs.ErrPermission):
		return fs.ErrPermission
	case errors.Is(err, ErrMoved):
		return ErrMoved
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrNotRegular
	}
	return err
}

// write gives the file at path, whose present state is now, the content data. Readers see the old content or data,
// nothing in between, unless the file can only be preserved by writing in place: hard links, another owner, a directory
// that may not be written. A recreated file gets the attributes of was.
func (j *journal) write(path string, data []byte, now file, was *standing) error {
	if !now.exists() {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return cause(err)
		}
		return cause(j.replace(path, data, was))
	}
	stat, ok := now.info.Sys().(*syscall.Stat_t)
	if ok && stat.Nlink == 1 {
		err := j.replace(path, data, was)
		if !errors.Is(err, fs.ErrPermission) {
			return cause(err)
		}
	}
	return j.rewrite(path, data, now)
}

// maxRewritten is the most bytes of both contents of a file that is written in place without need.
const maxRewritten = 256 << 10

// undo is write for what the user takes back. That may be thousands of files, and to replace one, and wait for the disk,
// takes many times as long as to rewrite it. What cannot be rewritten, a program that runs for one, is replaced.
func (j *journal) undo(path string, data []byte, now file, was *standing) error {
	if now.exists() && len(now.data)+len(data) <= maxRewritten && j.rewrite(path, data, now) == nil {
		return nil
	}
	return j.write(path, data, now, was)
}

// rewrite writes a file in place. The journal has both contents meanwhile, and a failure puts the old one back.
func (j *journal) rewrite(path string, data []byte, now file) error {
	k := j.inPlace(path, now, data)
	err := overwrite(path, data)
	if err == nil {
		k.end()
		return nil
	}
	err = errors.Join(err, overwrite(path, now.data))
	k.abandon()
	return cause(err)
}

const temporaryPrefix = ".acp-"

// IsTemporary reports whether a path is that of a new file that has not been moved into place yet: it belongs to no
// project.
func IsTemporary(path string) bool {
	number, ok := strings.CutPrefix(filepath.Base(path), temporaryPrefix)
	_, err := strconv.ParseUint(number, 36, 64)
	return ok && err == nil && len(number) > 9 // shorter ones are rare enough
}

// replace renames a new file over path, with the attributes of was; nil if there was no file.
func (j *journal) replace(path string, data []byte, was *standing) error {
	name := temporaryName()
	defer j.begin(entry{Path: path, Temp: filepath.Join(filepath.Dir(path), name)}, nil, nil).end()
	return replaceBy(path, name, data, was)
}

func temporaryName() string { return temporaryPrefix + strconv.FormatUint(rand.Uint64(), 36) }

// Separate gives the file at a real path, which may have several names, a copy of its own there.
func Separate(path string) error {
	is, err := readFile(path)
	if err != nil {
		return err
	}
	return cause(replaceBy(path, temporaryName(), is.data, is.standing()))
}

// replaceBy is replace with a new file of this name.
func replaceBy(path, name string, data []byte, was *standing) error {
	// The mode that a new file has by the umask, which os.CreateTemp ignores; restrictions apply from the beginning.
	mode := uint32(0o666)
	if was != nil {
		mode = 0o600
	}
	temporary := filepath.Join(filepath.Dir(path), name)
	return inFolder(path, func(folder int, base string) (err error) {
		fd, err := unix.Openat(folder, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, mode)
		if err != nil {
			return err
		}
		tmp := os.NewFile(uintptr(fd), temporary)
		defer func() {
			if err != nil {
				_ = unix.Unlinkat(folder, name, 0)
			}
		}()
		_, err = tmp.Write(data)
		if was != nil && err == nil {
			err = was.give(tmp)
		}
		if was != nil && err == nil {
			err = keepAttributes(tmp, path)
		}
		if err == nil {
			err = tmp.Sync()
		}
		if e := tmp.Close(); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
		return unix.Renameat(folder, name, folder, base)
	})
}

// give fails with fs.ErrPermission if the owner cannot be set.
func (s *standing) give(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if has, ok := info.Sys().(*syscall.Stat_t); ok && s.UID >= 0 && (s.UID != int(has.Uid) || s.GID != int(has.Gid)) {
		if err := f.Chown(s.UID, s.GID); err != nil {
			return err
		}
	}
	return f.Chmod(s.Mode)
}

func overwrite(path string, data []byte) error {
	f, err := openReal(path, os.O_WRONLY|unix.O_NONBLOCK)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// restore puts old's content back after Neovim failed to write over it.
func (j *journal) restore(path string, old file) error {
	now, err := readFile(path)
	switch {
	case err == nil && !old.exists():
		return removeReal(path)
	case !old.exists() || err == nil && bytes.Equal(now.data, old.data):
		return nil
	case err != nil:
		return j.replace(path, old.data, old.standing())
	}
	// In place: a full disk has no room for another file.
	k := j.inPlace(path, now, old.data)
	err = overwrite(path, old.data)
	k.abandon()
	return err
}

func makeDir(path string) error { return cause(os.MkdirAll(filepath.Dir(path), 0o777)) }

// stamp distinguishes states of a file without reading it.
type stamp struct {
	Exists bool  `msgpack:"exists"`
	Sec    int64 `msgpack:"sec"` // modification time
	Nsec   int64 `msgpack:"nsec"`
	Size   int64 `msgpack:"size"`
}

// DiskStateOf returns the state of a file with this info.
func DiskStateOf(info fs.FileInfo) DiskState { return DiskState(stampOf(info)) }

func stampOf(info fs.FileInfo) stamp {
	t := info.ModTime()
	return stamp{true, t.Unix(), int64(t.Nanosecond()), info.Size()}
}

// diskArgs returns what Lua compares with the disk before it writes.
func diskArgs(f file) map[string]any {
	if !f.exists() {
		return map[string]any{"exists": false}
	}
	s := stampOf(f.info)
	return map[string]any{"exists": true, "sec": s.Sec, "nsec": s.Nsec, "size": s.Size}
}
