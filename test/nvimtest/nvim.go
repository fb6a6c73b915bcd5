// Package nvimtest drives a real Neovim in tests: it starts one with a user interface attached, types keys, waits for
// conditions, shows the screen as text, and at the end checks that nothing was left behind.
//
//	nvimtest.Each(t, func(t *testing.T, n *nvimtest.Nvim) {
//		n.Keys("ihello<Esc>")
//		n.AwaitScreen("hello")
//		n.Golden("hello")
//	})
//
// Methods that take no error back fail the test with a report of what Neovim showed. They are for
// the test's goroutine, and for the conditions given to Await; Screen, ScreenAttrs, Events and the
// embedded client may be called from any goroutine.
//
// A test fails at its end when Neovim did not quit, reported an error, or left a process behind, and
// when a goroutine that the test started after Neovim is left. Tests may run in parallel.
package nvimtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/neovim/go-client/nvim"
)

// Nvim is a running Neovim. The embedded client's calls have no deadline and hang while Neovim
// waits for a key (":help api-fast" names those that do not); the methods here have one.
type Nvim struct {
	*nvim.Nvim

	// Version is what `nvim --version` says, as "0.10.4".
	Version string
	// Home is the folder that holds all of Neovim's own files: home, config, data, state, run.
	Home string
	// Dir is the working folder Neovim was started in.
	Dir string

	t    testing.TB
	opts options

	cmd      *exec.Cmd
	exited   chan struct{} // closed when the process has ended and exitErr is set
	exitErr  error
	served   chan struct{} // closed when the connection has ended
	marker   string        // the environment entry all its processes inherit
	sessions map[int]bool  // ids of its processes' sessions, noted before it ended
	killed   atomic.Bool
	ending   atomic.Bool

	redraws []any // redraw updates since the last flush; owned by the client's notification goroutine

	mu        sync.Mutex // guards what follows
	screen    screen
	screenErr error          // the first redraw update that made no sense
	events    []Event        // in the order fired
	awaited   map[string]int // event name -> how many of that name AwaitEvent has returned
	ready     bool           // VimEnter has been
	mark      int            // number of the last mark Neovim sent back
	marks     int            // number of the last mark asked for
	changed   chan struct{}  // closed and replaced whenever one of the above changes

	conditions sync.WaitGroup // conditions being evaluated
}

// PID is Neovim's process id.
func (n *Nvim) PID() int { return n.cmd.Process.Pid }

// Program is the path of Neovim's program.
func (n *Nvim) Program() string { return n.cmd.Path }

// Keys types keys in Neovim's notation ("<Esc>", "<lt>" for "<"). It returns when they are queued,
// not when they have been acted on: wait for their effect.
func (n *Nvim) Keys(keys string) {
	n.t.Helper()
	for keys != "" {
		taken, err := answer(n, "nvim_input", func() (int, error) { return n.Input(keys) })
		if err != nil {
			n.fail("type %q: %v", keys, err)
		}
		keys = keys[taken:]
	}
}

// Command runs an Ex command; an error of the command fails the test.
func (n *Nvim) Command(cmd string) {
	n.t.Helper()
	_, err := answer(n, "nvim_command", func() (any, error) { return nil, n.Nvim.Command(cmd) })
	if err != nil {
		n.fail("command %q: %v", cmd, err)
	}
}

// Lua runs code, which is an expression or a chunk that may return a value, with args as its "...",
// and decodes the value into result, a pointer; a nil result drops it. An error fails the test.
func (n *Nvim) Lua(result any, code string, args ...any) {
	n.t.Helper()
	if err := n.lua(result, code, args...); err != nil {
		n.fail("lua %q: %v", code, err)
	}
}

// LuaInt is Lua for a whole number.
func (n *Nvim) LuaInt(code string, args ...any) int {
	n.t.Helper()
	var v int
	n.Lua(&v, code, args...)
	return v
}

// LuaString is Lua for a string.
func (n *Nvim) LuaString(code string, args ...any) string {
	n.t.Helper()
	var v string
	n.Lua(&v, code, args...)
	return v
}

// LuaBool is Lua for what Lua takes for true: anything but nil and false.
func (n *Nvim) LuaBool(code string, args ...any) bool {
	n.t.Helper()
	v, err := n.luaTruth(code, args...)
	if err != nil {
		n.fail("lua %q: %v", code, err)
	}
	return v
}

const (
	// runLua runs a chunk that may be a bare expression.
	runLua = `local function run(code, ...)
  local f = loadstring('return ' .. code)
  if not f then f = assert(loadstring(code)) end
  return f(...)
end
`
	luaValue   = runLua + `return run(...)`
	luaNothing = runLua + `run(...)`
	luaTruth   = runLua + `return not not run(...)`
)

func (n *Nvim) lua(result any, code string, args ...any) error {
	if result == nil {
		_, err := answer(n, "nvim_exec_lua", func() (any, error) {
			return nil, n.ExecLua(luaNothing, nil, append([]any{code}, args...)...)
		})
		return err
	}
	// A late answer must not write into the caller's variable: decode into one of our own.
	out := reflect.ValueOf(result).Elem()
	v, err := answer(n, "nvim_exec_lua", func() (reflect.Value, error) {
		v := reflect.New(out.Type())
		return v, n.ExecLua(luaValue, v.Interface(), append([]any{code}, args...)...)
	})
	if err == nil {
		out.Set(v.Elem())
	}
	return err
}

func (n *Nvim) luaTruth(code string, args ...any) (bool, error) {
	return answer(n, "nvim_exec_lua", func() (v bool, err error) {
		return v, n.ExecLua(luaTruth, &v, append([]any{code}, args...)...)
	})
}

// Messages is what :messages shows.
func (n *Nvim) Messages() string {
	n.t.Helper()
	return strings.Trim(n.LuaString(messages), "\n")
}

const messages = `vim.api.nvim_exec2('messages', {output = true}).output`

// Screen is the screen as of the last flush: one line per row, trailing blanks cut.
func (n *Nvim) Screen() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.screen.text()
}

// ScreenAttrs is the screen with its highlights: each row after "| ", and below it, after ": ",
// a letter per highlighted cell where there are any; then what each letter stands for (the names of
// the highlight groups, lowest first; for a linked group the one it is linked to; the attributes
// where there is no name), the cursor (row and column from 1) and the mode.
func (n *Nvim) ScreenAttrs() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.screen.attrs()
}

// Resize makes the screen so large and waits until it is.
func (n *Nvim) Resize(cols, rows int) {
	n.t.Helper()
	_, err := answer(n, "nvim_ui_try_resize", func() (any, error) { return nil, n.TryResizeUI(cols, rows) })
	if err != nil {
		n.fail("resize: %v", err)
	}
	n.Await(fmt.Sprintf("a screen of %d x %d", cols, rows), func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.screen.cols == cols && n.screen.rows == rows
	})
}

// Kill ends Neovim with SIGKILL and waits until it is gone. What it started is on its own then:
// the end of the test checks that it ended too.
func (n *Nvim) Kill() {
	n.t.Helper()
	n.killed.Store(true)
	n.noteSessions()
	if err := n.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		n.t.Fatalf("kill Neovim: %v", err)
	}
	<-n.exited
}

// answer waits for one API call, but not for ever: most hang while Neovim waits for a key. The
// call then stays under way until Neovim answers or the connection ends.
func answer[T any](n *Nvim, name string, call func() (T, error)) (T, error) {
	return answerWithin(n.opts.patience, name, call)
}

func answerWithin[T any](limit time.Duration, name string, call func() (T, error)) (T, error) {
	type reply struct {
		value T
		err   error
	}
	replies := make(chan reply, 1)
	go func() {
		v, err := call()
		replies <- reply{v, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-replies:
		return r.value, r.err
	case <-timer.C:
		var zero T
		return zero, fmt.Errorf("%s: no answer within %v", name, limit)
	}
}

// fail ends the test with a report. A condition still under way when the test is over ends quietly:
// the test has failed already.
func (n *Nvim) fail(format string, args ...any) {
	n.t.Helper()
	if n.ending.Load() {
		runtime.Goexit()
	}
	n.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), n.report())
}

// update changes the state that mu guards and wakes those who wait.
func (n *Nvim) update(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
	close(n.changed)
	n.changed = make(chan struct{})
}

// redraw takes a notification of the screen's changes. They count at the next flush, so that nobody sees half of one.
func (n *Nvim) redraw(updates ...any) {
	n.redraws = append(n.redraws, updates...)
	if len(updates) == 0 || name(updates[len(updates)-1]) != "flush" {
		return
	}
	n.update(func() {
		for _, u := range n.redraws {
			if err := n.screen.apply(u); err != nil && n.screenErr == nil {
				n.screenErr = err
			}
		}
	})
	clear(n.redraws)
	n.redraws = n.redraws[:0]
}
