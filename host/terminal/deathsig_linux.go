package terminal

import "syscall"

// dieWithHost has the kernel kill the child when the thread that started it ends.
func dieWithHost(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
