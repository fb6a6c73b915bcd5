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
