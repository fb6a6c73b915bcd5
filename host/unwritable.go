package host

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// leaveUnwritable takes out of the options the folders that cannot be written, as in many containers: all
// works without them. It gives a sentence for the user, or "".
func (o *Options) leaveUnwritable() string {
	var where, without []string
	if o.NoLog != "" {
		where, without = append(where, cmp.Or(obstacle(filepath.Dir(o.NoLog)), o.NoLog)), append(without, "log")
	}
	saved := len(where)
	for _, dir := range []*string{&o.State, &o.Data, &o.Cache} {
		if in := obstacle(*dir); in != "" {
			where = append(where, in)
			*dir = ""
		}
	}
	if len(where) > saved {
		without = append(without, "saved data")
	}
	if len(where) == 0 {
		return ""
	}
	slices.Sort(where)
	return strings.Join(slices.Compact(where), " and ") + " cannot be written: this goes without " + strings.Join(without, " and ") + "."
}

// unwritten says that a folder could not be written, and why.
func unwritten(dir string, err error) string {
	return cmp.Or(obstacle(dir), dir) + " cannot be written (" + reason(err) + ")"
}

// obstacle is what does not let a folder be made and written in: itself or the nearest one above it that is
// there. "" is none.
func obstacle(dir string) string {
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
