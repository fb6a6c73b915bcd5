package buffers

import "golang.org/x/sys/unix"

// openFolder is what a folder is opened for.
const openFolder = unix.O_DIRECTORY

// openStraight opens a path that leads through no link; ELOOP is one that does.
func openStraight(path string, flags int) (int, error) {
	return unix.Open(path, flags|unix.O_NOFOLLOW_ANY|unix.O_CLOEXEC, 0)
}

// isReal is what only Linux tells at once.
func isReal(string) bool { return false }
