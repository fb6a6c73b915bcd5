package buffers

import "golang.org/x/sys/unix"

// isReal reports whether there is a file at a clean path and the path goes through no link: the kernel answers in one
// call what otherwise takes one for each part of the path. It is false if the kernel cannot tell.
func isReal(path string) bool {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	file, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if err != nil {
		return false
	}
	unix.Close(file)
	return true
}
