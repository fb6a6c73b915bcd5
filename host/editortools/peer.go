//go:build linux || darwin || freebsd

package editortools

import "net"

// peer returns the user whose program is at the other end of a connection.
func peer(conn *net.UnixConn) (uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { uid, failed = userAt(int(fd)) }); err != nil {
		return 0, err
	}
	return uid, failed
}
