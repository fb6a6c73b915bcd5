package buffers

import "golang.org/x/sys/unix"

// madeAt returns when what is at a path was created, in nanoseconds of Unix time; 0 if the file system does not know.
func madeAt(path string) int64 {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st) != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}
