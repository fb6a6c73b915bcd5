//go:build unix

package acp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Command says how to start an agent.
type Command struct {
	Argv []string // the program, looked up as LookPath does, and its arguments
	Env  []string // the complete environment, as K=V; nil means the host's own
	Dir  string   // the working folder; "" means the host's own
}

// NotFoundError says that there is no such program.
type NotFoundError struct {
	Program string // as it was given
}

func (e *NotFoundError) Error() string {
	if strings.Contains(e.Program, "/") {
		return e.Program + " does not exist or is not executable"
	}
	return "there is no " + e.Program + " on the PATH"
}

// DirError says that the working folder cannot be used.
type DirError struct {
	Dir string
	Err error
}

func (e *DirError) Error() string { return fmt.Sprintf("working folder %s: %v", e.Dir, e.Err) }
func (e *DirError) Unwrap() error { return e.Err }

// Process is a running agent: a child process that leads a session and process group of its own, so that no terminal
// can stop it or be written to.
type Process struct {
	Stdin io.WriteCloser
	// Stdout ends when the process does: what it wrote itself is read to the last byte, but nobody waits for children
	// that hold the pipe open.
	Stdout io.ReadCloser

	pgid   int
	stderr tail
	done   chan struct{}
	exit   Exit        // set before done is closed
	gone   atomic.Bool // no process of the group is left
}

// Exit is how a process ended.
type Exit struct {
	Code   int    // 0 if a signal killed it
	Signal string // such as "SIGKILL"; "" if it exited by itself
}

// String describes the exit in words that follow the agent's name.
func (e Exit) String() string {
	if e.Signal != "" {
		return "was killed by " + e.Signal + because(signalReasons[e.Signal])
	}
	reason := codeReasons[e.Code]
	if sig := unix.SignalName(syscall.Signal(e.Code - 128)); reason == "" && e.Code > 128 && sig != "" {
		reason = "killed by " + sig
	}
	return fmt.Sprintf("exited with code %d", e.Code) + because(reason)
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

var codeReasons = map[int]string{
	126: "command not executable",
	127: "command not found",
	137: "killed by SIGKILL, perhaps for want of memory",
}

var signalReasons = map[string]string{
	"SIGABRT": "it aborted",
	"SIGBUS":  "it crashed",
	"SIGILL":  "it crashed",
	"SIGKILL": "by hand, or for want of memory",
	"SIGSEGV": "it crashed",
}

// stderrTail is how much of an agent's error output is kept, in bytes.
const stderrTail = 64 << 10

// Start starts a process. The error is a *NotFoundError, a *DirError, or wraps that of the system. Shutdown must be
// called in the end, also when the process has exited by itself: it may have left children.
func Start(c Command) (*Process, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, errors.New("start agent: the command is empty")
	}
	if c.Dir != "" {
		if info, err := os.Stat(c.Dir); err != nil {
			return nil, &DirError{Dir: c.Dir, Err: errors.Unwrap(err)}
		} else if !info.IsDir() {
			return nil, &DirError{Dir: c.Dir, Err: syscall.ENOTDIR}
		}
	}
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	path, err := LookPath(c.Argv[0], c.Dir, env)
	if err != nil {
		return nil, err
	}
	if filepath.IsAbs(c.Dir) {
		env = append(env[:len(env):len(env)], "PWD="+c.Dir) // the last one counts
	}

	var pipes [3]struct{ r, w *os.File }
	closeAll := func() {
		for _, p := range pipes {
			_, _ = p.r.Close(), p.w.Close() // nil files only fail
		}
	}
	for i := range pipes {
		if pipes[i].r, pipes[i].w, err = os.Pipe(); err != nil {
			closeAll()
			return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
		}
	}
	in, out, errs := pipes[0], pipes[1], pipes[2]
	cmd := &exec.Cmd{Path: path, Args: c.Argv, Env: env, Dir: c.Dir,
		Stdin: in.r, Stdout: out.w, Stderr: errs.w, SysProcAttr: sysProcAttr()}
	stdout, stderr := &output{f: out.r}, &output{f: errs.r}
	p := &Process{Stdin: in.w, Stdout: stdout, done: make(chan struct{})}
	started := make(chan error)
	go p.run(cmd, started, stdout, stderr)
	if err := <-started; err != nil {
		closeAll()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("start %s: the interpreter that its first line names is missing: %w", c.Argv[0], err)
		}
		return nil, fmt.Errorf("start %s: %w", c.Argv[0], err)
	}
	_, _, _ = in.r.Close(), out.w.Close(), errs.w.Close()
	return p, nil
}

// LookPath finds the program that Start would run: a name with a slash is a path, relative to dir; any other is looked
// up on the PATH of env. The error is a *NotFoundError.
func LookPath(program, dir string, env []string) (string, error) {
	var candidates []string
	if strings.Contains(program, "/") {
		if !filepath.IsAbs(program) && dir != "" {
			program = filepath.Join(dir, program)
		}
		path, err := filepath.Abs(program)
		if err != nil {
			return "", fmt.Errorf("look up %s: %w", program, err)
		}
		candidates = []string{path}
	} else {
		var path string
		for _, kv := range env {
			if value, ok := strings.CutPrefix(kv, "PATH="); ok {
				path = value
			}
		}
		for _, folder := range filepath.SplitList(path) {
			if filepath.IsAbs(folder) { // never a program that happens to lie in a project
				candidates = append(candidates, filepath.Join(folder, program))
			}
		}
	}
	for _, path := range candidates {
		if info, err := os.Stat(path); err == nil && !info.IsDir() && unix.Access(path, unix.X_OK) == nil {
			return path, nil
		}
	}
	return "", &NotFoundError{Program: program}
}

// run starts the process and waits for it. It locks its thread, because the kernel takes the end of the starting thread
// for the end of the parent.
func (p *Process) run(cmd *exec.Cmd, started chan<- error, stdout, stderr *output) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	p.pgid = cmd.Process.Pid
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&p.stderr, stderr)
	}()
	started <- nil

	_ = cmd.Wait() // says what ProcessState says
	p.groupGone()
	stdout.end()
	stderr.end()
	<-read
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.exit = Exit{Signal: unix.SignalName(status.Signal())}
		if p.exit.Signal == "" { // a real-time one
			p.exit.Signal = fmt.Sprintf("SIG%d", status.Signal())
		}
	} else {
		p.exit = Exit{Code: cmd.ProcessState.ExitCode()}
	}
	close(p.done)
}

// PGID returns the id of the process group, which is also that of the process.
func (p *Process) PGID() int { return p.pgid }

// Stderr returns the last lines of the error output: whole lines, unless a single one is longer than what is kept.
func (p *Process) Stderr() string { return p.stderr.String() }

// Done is closed when the process has exited and its error output is read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit says how the process ended; it waits for Done.
func (p *Process) Exit() Exit {
	<-p.done
	return p.exit
}

// killGrace is how long Shutdown waits for the kernel to do away with a killed process.
const killGrace = time.Second

// Shutdown ends the process and its whole group: it closes stdin and waits up to eof for the process to exit, sends
// SIGTERM to what is left and waits up to term, then kills the rest. It may be called repeatedly, even concurrently;
// the shortest waits count.
func (p *Process) Shutdown(eof, term time.Duration) {
	_ = p.Stdin.Close()
	wait(p.done, eof)
	if !p.groupGone() {
		p.signal(unix.SIGTERM)
		if !p.waitGroup(term) {
			p.signal(unix.SIGKILL)
		}
	}
	wait(p.done, killGrace)
}

func (p *Process) signal(sig unix.Signal) {
	if !p.gone.Load() {
		_ = unix.Kill(-p.pgid, sig)
	}
}

// groupGone reports whether no process of the group is left. After that the id may belong to others, and is never used
// again.
func (p *Process) groupGone() bool {
	if !p.gone.Load() && errors.Is(unix.Kill(-p.pgid, 0), unix.ESRCH) {
		p.gone.Store(true)
	}
	return p.gone.Load()
}

// waitGroup waits up to d for the end of the group, which the system does not announce beyond the first process.
func (p *Process) waitGroup(d time.Duration) bool {
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !p.groupGone() {
		select {
		case <-look.C:
		case <-deadline.C:
			return p.groupGone()
		}
	}
	return true
}

func wait(done <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// output is our end of a pipe that the process writes to, and that its children may hold open after its end.
type output struct {
	f      *os.File
	exited atomic.Bool

	mu   sync.Mutex // held while reading
	left int        // guarded by mu: bytes read since the process has exited
}

// mostLeft is the largest size of a pipe on Linux, in bytes: what is read beyond
// it after the process has exited was written by others.
const mostLeft = 1 << 20

// end notes that the process has exited: from now on reads take what is there and do not wait for more.
func (o *output) end() {
	o.exited.Store(true)
	_ = o.f.SetReadDeadline(time.Unix(1, 0)) // wakes up a reader
}

// Read reads; it closes the pipe at its end.
func (o *output) Read(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.exited.Load() {
		n, err := o.f.Read(b)
		if n == 0 && err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			_ = o.f.Close() // nobody has it open for writing any more
		}
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
	_ = o.f.SetReadDeadline(time.Time{})
	n, err := 0, io.EOF
	if o.left < mostLeft {
		n, err = o.readLeft(b)
		o.left += n
	}
	if n == 0 {
		_ = o.f.Close()
	}
	return n, err
}

// readLeft reads without waiting.
func (o *output) readLeft(b []byte) (int, error) {
	conn, err := o.f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var n int
	var readErr error
	err = conn.Read(func(fd uintptr) bool {
		for {
			n, readErr = unix.Read(int(fd), b)
			if readErr != unix.EINTR {
				return true
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case n > 0:
		return n, nil
	case readErr == nil || readErr == unix.EAGAIN:
		return 0, io.EOF
	}
	return 0, readErr
}

// Close closes our end of the pipe.
func (o *output) Close() error { return o.f.Close() }

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte // guarded by mu
	cut bool   // guarded by mu: something was left out before buf
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if len(t.buf) > 2*stderrTail {
		n := copy(t.buf, t.buf[len(t.buf)-stderrTail:])
		t.buf, t.cut = t.buf[:n], true
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, cut := t.buf, t.cut
	if len(text) > stderrTail {
		text, cut = text[len(text)-stderrTail:], true
	}
	if cut {
		if i := bytes.IndexByte(text, '\n'); i >= 0 && i < len(text)-1 {
			text = text[i+1:]
		}
	}
	return strings.ToValidUTF8(string(text), "�")
}
