package folder

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Unwritten says that a folder could not be written, and why.
func Unwritten(dir string, err error) string {
	return cmp.Or(Obstacle(dir), dir) + " cannot be written (" + Reason(err) + ")"
}

// Obstacle returns what prevents a folder from being made and written in: itself or the nearest existing one above it;
// "" for nothing.
func Obstacle(dir string) string {
	for at := dir; at != ""; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if (errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)) && at != filepath.Dir(at) {
			continue
		}
		if err != nil || !info.IsDir() || unix.Access(at, unix.W_OK) != nil {
			return at
		}
		break
	}
	return ""
}

// Reason returns what the system says about a write, without its paths.
func Reason(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return err.Error()
}
