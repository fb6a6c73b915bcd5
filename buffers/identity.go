package buffers

import (
	"os"
	"syscall"
	"time"
)

// Identity distinguishes a file or folder from others, whatever its name, and from one that gets its number when it is
// gone, if the file system knows when each was made. The zero value is nothing, or a file with several names.
type Identity struct {
	Device, Number uint64
	Made           int64 // nanoseconds of Unix time; 0 if not known
}

// IdentityOf returns the identity of what is at a path.
func IdentityOf(path string) Identity {
	info, err := os.Lstat(path)
	if err != nil {
		return Identity{}
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Nlink > 1 && !info.IsDir() {
		return Identity{}
	}
	return Identity{uint64(st.Dev), st.Ino, madeAt(path)}
}

// MadeSince reports whether it was made after a time, as far as that is known.
func (i Identity) MadeSince(t time.Time) bool { return i.Made != 0 && i.Made >= t.UnixNano() }
