package acp

import "syscall"

// sysProcAttr makes the child die with the host, however the host dies. The
// kernel counts the end of the thread that started it as the end of the host.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
