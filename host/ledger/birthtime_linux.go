package ledger

import (
	"time"

	"golang.org/x/sys/unix"
)

// createdSince reports whether what is at a path was created after a time, as far as the file system knows.
func createdSince(path string, t time.Time) bool {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st) != nil || st.Mask&unix.STATX_BTIME == 0 {
		return false
	}
	return !time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)).Before(t)
}
