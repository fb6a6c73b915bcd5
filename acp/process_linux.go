package acp

import "syscall"

// sysProcAttr makes the child die with the host, however the host dies. The kernel takes the end of the thread that
// started the child for the end of the host.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
