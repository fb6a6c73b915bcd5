package editortools

import "golang.org/x/sys/unix"

// userAt returns the user at the other end of a socket.
func userAt(socket int) (uid int, err error) {
	cred, err := unix.GetsockoptUcred(socket, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
