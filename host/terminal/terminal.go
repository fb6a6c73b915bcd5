// Package terminal runs the commands of an agent's terminal/* requests in pseudo-terminals and keeps
// their output as text for the model and as styled lines for the display.
//
// A command's standard input is /dev/null, so that nothing waits for a user who is not typing; its output and errors go
// to the PTY, which is also its controlling terminal: programs see a terminal and use colours, and the kernel hangs up
// on them when the host is gone. What a user types goes to that terminal: Ctrl-C interrupts, and programs that ask at
// /dev/tty, such as sudo and ssh, can be answered.
//
// Terminals that the agent owns are a Display without a command.
package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// The size of the PTY while no window shows it.
const (
	columns = 120
	rows    = 40
)

const (
	// changeInterval is the least time between two calls of Config.Changed.
	changeInterval = 16 * time.Millisecond
	// quiet is how long the PTY must have been silent after the command ended, and drainLimit bounds the wait for that,
	// if a process that the command left behind keeps the PTY open.
	quiet      = 100 * time.Millisecond
	drainLimit = time.Second
	// ptyHolds is more than a PTY holds of what was written to it, in bytes.
	ptyHolds = 1 << 20
	// killGrace is how long Kill waits between asking and killing.
	killGrace = time.Second
	// typedLimit is how much of what the user types may wait for a command that does not read, and
	// typePatience how long one piece of it does.
	typedLimit   = 64 << 10
	typePatience = time.Second
	// groupInterval is how often it is checked whether a process group is empty, which the kernel does not report.
	groupInterval = 10 * time.Millisecond
	// reapLimit is how long Close waits for the kernel after SIGKILL.
	reapLimit = time.Second
)

// Config says what to run (ACP v1, terminal/create).
type Config struct {
	Command string   // a program, or without Args also a line for sh
	Args    []string // the program's arguments
	Env     []string // KEY=VALUE, added over a base that keeps programs from asking or paging
	Dir     string   // absolute; "" is the host's own

	// OutputByteLimit is how many bytes of Output are kept; 0 means DefaultLimit, and at most 16 MiB are ever kept.
	OutputByteLimit int

	// Changed, if not nil, is called after output or state changed, at most once in 16 ms, on a
	// goroutine of the terminal, never after Close has returned. It must not block nor call Close.
	Changed func()
}

// Exit is how a command ended (ACP v1, TerminalExitStatus). Exactly one field is set.
type Exit struct {
	Code   *int   // its exit code
	Signal string // the signal that ended it, such as "SIGKILL"
}

// Output is what a command wrote so far (ACP v1, terminal/output).
type Output struct {
	Text      string // see Screen.Text
	Truncated bool   // text before it was dropped because of the limit
	Exit      *Exit  // nil while it runs
}

// Terminal is one command in a PTY. All methods may be called from any goroutine at any time, also after
// the command ended and after Close: what was shown stays readable.
type Terminal struct {
	changed func()
	display *Display
	pgid    int
	mark    string // that its processes have
	ptmx    *os.File

	done  chan struct{} // the command ended and its output was read
	read  chan struct{} // the PTY is at its end or closed
	dirty chan struct{} // holds one value while a change was not yet told; closed after the last one
	told  chan struct{} // Changed will not be called again

	ask       sync.Once // ends the process group by SIGTERM
	closeOnce sync.Once
	busy      sync.WaitGroup // the goroutines of Kill and Type

	mu       sync.Mutex // guards the fields below
	killed   bool       // Kill was called
	closed   bool       // Close was called
	typed    []byte     // what waits to be written
	typing   bool       // a goroutine writes it
	received uint64     // bytes
	idle     bool       // all that the PTY had is received
	exit     *Exit
	gone     bool // the process group is known to be empty; its number may be another's
}

// Start runs the command. Its error is a sentence that says what is wrong with the command or the folder.
func Start(c Config) (*Terminal, error) {
	if err := checkDir(c.Dir); err != nil {
		return nil, err
	}
	mark := newMark()
	env := marked(environment(os.Environ(), c.Dir, c.Env), mark)
	program, args, err := resolve(c, env)
	if err != nil {
		return nil, err
	}
	ptmx, tty, err := openPTY()
	if err != nil {
		return nil, err
	}
	defer tty.Close()

	cmd := &exec.Cmd{
		Path:   program,
		Args:   args,
		Env:    env,
		Dir:    c.Dir,
		Stdout: tty,
		Stderr: tty,
		// Ctty is a descriptor of the child.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1},
	}
	dieWithHost(cmd.SysProcAttr)

	t := &Terminal{
		changed: c.Changed,
		mark:    mark,
		display: newDisplay(c.OutputByteLimit),
		ptmx:    ptmx,
		done:    make(chan struct{}),
		read:    make(chan struct{}),
		dirty:   make(chan struct{}, 1),
		told:    make(chan struct{}),
	}
	started := make(chan error)
	go t.run(cmd, started)
	if err := <-started; err != nil {
		ptmx.Close()
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path.Err
		}
		return nil, fmt.Errorf("start terminal: command %q: %w", c.Command, err)
	}
	return t, nil
}

// openPTY returns a PTY whose master can be closed while it is read, which pty.Open's cannot.
func openPTY() (ptmx, tty *os.File, err error) {
	blocking, tty, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	defer blocking.Close()
	fail := func(err error) (*os.File, *os.File, error) {
		tty.Close()
		return nil, nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	if err := pty.Setsize(blocking, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		return fail(err)
	}
	if err := eraseCharacters(int(tty.Fd())); err != nil {
		return fail(err)
	}
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return fail(err)
	}
	return os.NewFile(uintptr(fd), blocking.Name()), tty, nil
}

// run starts the command and sees it to its end. The kernel ties the child's life to the thread that
// started it, so the goroutine keeps its thread as long as the child lives.
func (t *Terminal) run(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		started <- err
		return
	}
	t.pgid = cmd.Process.Pid
	go t.callChanged()
	go t.receive()
	started <- nil

	// The error repeats what ProcessState says.
	_ = cmd.Wait()
	t.signal(0) // the group's number is free from here on if nobody is left in it
	t.awaitQuiet()
	t.mu.Lock()
	t.exit = exitOf(cmd.ProcessState)
	t.mu.Unlock()
	close(t.done)
	t.markDirty()
	<-t.read
	close(t.dirty)
}

// receive feeds the screen until the PTY ends: when no process has it open any more, or by Close.
func (t *Terminal) receive() {
	defer close(t.read)
	raw, err := t.ptmx.SyscallConn()
	if err != nil {
		return // it is closed
	}
	buf := make([]byte, 64<<10)
	for {
		n := 0
		if raw.Read(func(fd uintptr) bool {
			t.mu.Lock()
			defer t.mu.Unlock()
			n, err = unix.Read(int(fd), buf)
			t.idle = errors.Is(err, unix.EAGAIN)
			return !t.idle
		}) != nil {
			return
		}
		if n > 0 {
			t.display.Write(buf[:n], false)
			t.mu.Lock()
			t.received += uint64(n)
			t.mu.Unlock()
			t.markDirty()
		}
		if n <= 0 && !errors.Is(err, unix.EINTR) {
			return // EIO is the end of a PTY on Linux
		}
	}
}

// awaitQuiet waits until the output of the ended command was read. The PTY ends then, unless a process it left behind holds
// it open.
func (t *Terminal) awaitQuiet() {
	began, first := time.Now(), t.bytesReceived()
	for last := first; ; {
		select {
		case <-t.read:
			return
		case <-time.After(quiet):
		}
		now := t.bytesReceived()
		if t.hasMore() && now-first < ptyHolds {
			continue // the reader is slow
		}
		if now == last || time.Since(began) > drainLimit {
			return
		}
		last = now
	}
}

// hasMore reports whether the PTY has output that was not received.
func (t *Terminal) hasMore() bool {
	raw, err := t.ptmx.SyscallConn()
	if err != nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	more := !t.idle
	_ = raw.Control(func(fd uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		more = more || n > 0 && err == nil
	})
	return more
}

func (t *Terminal) bytesReceived() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.received
}

func (t *Terminal) markDirty() {
	select {
	case t.dirty <- struct{}{}:
	default:
	}
}

// callChanged calls Changed for changes: for the first at once, and always for the last.
func (t *Terminal) callChanged() {
	defer close(t.told)
	for range t.dirty {
		if t.changed != nil {
			t.changed()
		}
		time.Sleep(changeInterval)
	}
}

// Output returns the text so far, and how the command ended if it has.
func (t *Terminal) Output() Output {
	var o Output
	if exit, ended := t.Exit(); ended { // before the text, which is then complete
		o.Exit = &exit
	}
	o.Text, o.Truncated = t.display.Text()
	return o
}

// Display returns what the terminal shows.
func (t *Terminal) Display() *Display { return t.display }

// Type sends the command's terminal what the user types, or what another terminal answers to the command's queries.
// What a command does not read is eventually dropped.
func (t *Terminal) Type(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.exit != nil || len(t.typed)+len(p) > typedLimit {
		return
	}
	t.typed = append(t.typed, p...)
	if !t.typing {
		t.typing = true
		t.busy.Go(t.write)
	}
}

// write writes what was typed.
func (t *Terminal) write() {
	for {
		t.mu.Lock()
		p := t.typed
		t.typed = nil
		t.typing = len(p) > 0 && !t.closed
		goesOn := t.typing
		t.mu.Unlock()
		if !goesOn {
			return
		}
		// An error means the end of the PTY, or a timeout with a command that does not read.
		_ = t.ptmx.SetWriteDeadline(time.Now().Add(typePatience))
		_, _ = t.ptmx.Write(p)
	}
}

// Resize gives the PTY and the display the size of the window that shows them.
func (t *Terminal) Resize(cols, rows int) {
	cols, rows = min(max(cols, leastCols), mostCols), min(max(rows, leastRows), mostRows)
	t.display.Resize(cols, rows)
	raw, err := t.ptmx.SyscallConn()
	if err != nil {
		return
	}
	// It fails when the PTY is closed. Fd() would have reads block the closing.
	_ = raw.Control(func(fd uintptr) {
		_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(cols)})
	})
}

// Done is closed when the command has ended and its output was read. What it left running in the
// background may still write, and is shown.
func (t *Terminal) Done() <-chan struct{} { return t.done }

// Exit returns how the command ended; ok is false before Done.
func (t *Terminal) Exit() (exit Exit, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exit == nil {
		return Exit{}, false
	}
	return *t.exit, true
}

// PGID returns the number of the command's process group, which is also its session.
func (t *Terminal) PGID() int { return t.pgid }

// Kill ends the command and all that it has started, see end: it asks with SIGTERM and kills what is left
// a second later. It does not wait; Done says when the command has ended.
func (t *Terminal) Kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.killed || t.closed {
		return
	}
	t.killed = true
	t.busy.Add(1)
	go func() {
		defer t.busy.Done()
		t.end(killGrace)
	}()
}

// end asks the process group, and those that have left it, once to end, and kills them unless all are gone within the
// grace.
func (t *Terminal) end(grace time.Duration) {
	if grace > 0 {
		t.ask.Do(func() {
			t.signal(unix.SIGTERM)
			t.signal(unix.SIGCONT) // a stopped process handles nothing
			if signalStrays(t.mark, t.pgid, unix.SIGTERM) {
				signalStrays(t.mark, t.pgid, unix.SIGCONT)
			}
		})
		over := time.After(grace)
		look := time.NewTicker(groupInterval)
		defer look.Stop()
		for waiting := true; waiting; {
			select {
			case <-over:
				waiting = false
			case <-look.C:
				if !t.signal(0) && !signalStrays(t.mark, t.pgid, 0) {
					return
				}
			}
		}
	}
	t.signal(unix.SIGKILL)
	endStrays(t.mark, t.pgid)
}

// signal sends sig to the process group and reports whether there was any process in it. A group once
// seen empty after the command ended is never signalled again: its number may have gone to others.
func (t *Terminal) signal(sig unix.Signal) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return false
	}
	err := unix.Kill(-t.pgid, sig)
	if errors.Is(err, unix.ESRCH) {
		t.gone = true
		return false
	}
	return true
}

// Close ends the command if it runs, and whatever it left behind: it asks, and kills after the grace. Then it frees the
// PTY and waits until all goroutines have ended. What was shown stays readable; the text of Output goes.
func (t *Terminal) Close(grace time.Duration) {
	t.closeOnce.Do(func() {
		t.mu.Lock()
		t.closed = true
		t.mu.Unlock()
		t.end(grace)
		_ = t.ptmx.SetWriteDeadline(time.Now())
		t.busy.Wait()
		select {
		case <-t.done:
		case <-time.After(drainLimit + reapLimit):
			// The kernel does not release the command; the goroutine that waits for it ends with it.
			t.ptmx.Close()
			return
		}
		t.ptmx.Close()
		<-t.read
		<-t.told
		t.display.forgetText()
	})
}

func exitOf(state *os.ProcessState) *Exit {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		signal := unix.SignalName(status.Signal())
		if signal == "" { // a real-time one
			signal = fmt.Sprintf("SIG%d", status.Signal())
		}
		return &Exit{Signal: signal}
	}
	code := state.ExitCode()
	return &Exit{Code: &code}
}
