package buffers

import "golang.org/x/sys/unix"

// isReal reports whether there is a file at a clean path, and the path leads through no link: the kernel tells at once what
// takes a look at each part of the path otherwise. false is also where it cannot tell.
func isReal(path string) bool {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	file, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if err != nil {
		return false
	}
	unix.Close(file)
	return true
}
