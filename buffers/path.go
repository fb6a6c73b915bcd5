package buffers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is how many symbolic links one path may go through.
const maxLinks = 64

// RealPath returns the path without symbolic links and "..", even if the file's last components do not exist yet, or it
// is the target of a dangling link.
func RealPath(path string) (string, error) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", ErrNotAbsolute
	}
	if path == filepath.Clean(path) && isReal(path) {
		return path, nil
	}
	root := filepath.VolumeName(path) + string(filepath.Separator)
	split := func(p string) []string { return strings.Split(filepath.ToSlash(p), "/") }
	todo := split(path[len(root)-1:])
	done := root
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		var info unix.Stat_t // an agent's read stats each part of its path a few times
		if unix.Lstat(next, &info) != nil || info.Mode&unix.S_IFMT != unix.S_IFLNK {
			done = next // opening it will show what is wrong with it
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("too many symbolic links")
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			done = root
		}
		todo = append(split(target), todo...)
	}
	return done, nil
}

// openReal opens the file at a real path. It is ErrMoved where somebody has put a link into the path since that was found:
// what was decided about one file is done to no other.
func openReal(path string, flags int) (*os.File, error) {
	for {
		switch fd, err := openStraight(path, flags); {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case errors.Is(err, unix.ELOOP):
			return nil, ErrMoved
		case !errors.Is(err, unix.EINTR):
			return nil, err
		}
	}
}

// inFolder has fn do something in the folder of a real path, to the file of a name. Where that folder is then found by
// its path, is no matter.
func inFolder(path string, fn func(folder int, name string) error) error {
	folder, err := openReal(filepath.Dir(path), openFolder)
	if err != nil {
		return err
	}
	defer folder.Close()
	return fn(int(folder.Fd()), filepath.Base(path))
}

// removeReal removes the file at a real path.
func removeReal(path string) error {
	return inFolder(path, func(folder int, name string) error { return unix.Unlinkat(folder, name, 0) })
}
