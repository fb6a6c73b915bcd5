//go:build !linux

package terminal

import "syscall"

// dieWithHost does nothing: the hangup of the PTY ends the child when the host is gone.
func dieWithHost(*syscall.SysProcAttr) {}
