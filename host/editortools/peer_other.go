//go:build darwin || freebsd

package editortools

import "golang.org/x/sys/unix"

// userAt returns the user at the other end of a socket.
func userAt(socket int) (uid int, err error) {
	cred, err := unix.GetsockoptXucred(socket, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
