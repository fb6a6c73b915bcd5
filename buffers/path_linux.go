package buffers

import (
	"errors"

	"golang.org/x/sys/unix"
)

// openFolder is what a folder is opened for: to find files in it, which also one may be that cannot be listed.
const openFolder = unix.O_PATH | unix.O_DIRECTORY

// openStraight opens a path that leads through no link; ELOOP is one that does. The kernel tells at once what takes a look
// at each part of the path otherwise, and nobody can put a link there meanwhile.
func openStraight(path string, flags int) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags) | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // before Linux 5.6, or in a container that does not know it
		return unix.Open(path, flags|unix.O_CLOEXEC, 0)
	}
	return fd, err
}

// isReal reports whether there is a file at a clean path and the path goes through no link. It is false if the kernel
// cannot tell.
func isReal(path string) bool {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	file, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if err != nil {
		return false
	}
	unix.Close(file)
	return true
}
