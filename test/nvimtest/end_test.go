package nvimtest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// impatient makes waits that are in vain short.
func impatient(n *Nvim) { n.opts.patience = 600 * time.Millisecond }

// innerTest runs the calling test again in a process of its own with other environment entries, and returns its output.
func innerTest(t *testing.T, env ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), append(env, "NVIMTEST_INNER=1")...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// starting starts a "sleep 1234" from Neovim that outlives it, and waits until it runs.
func starting(n *Nvim, lua string) {
	n.t.Helper()
	n.Lua(nil, lua)
	n.Await("the process", func() bool { return sleeps(n) })
}

func sleeps(n *Nvim) bool {
	return slices.ContainsFunc(n.Leftovers(), func(p Process) bool { return strings.HasSuffix(p.Command, "sleep 1234") })
}

const detached = `vim.fn.jobstart({'sleep', '1234'}, {detach = true})`

func TestLeftoverIsFound(t *testing.T) {
	t.Parallel()
	for name, lua := range map[string]string{
		"detached": detached,
		"without the mark": `vim.fn.jobstart({'sleep', '1234'}, {detach = true, clear_env = true,
			env = {PATH = vim.env.PATH}})`,
		"orphan": `vim.fn.system({'setsid', 'sh', '-c', 'sleep 1234 </dev/null >/dev/null 2>&1 &'})`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, bin string) {
				var n *Nvim
				out := record(t, func(tb testing.TB) {
					n = Start(tb, bin)
					starting(n, lua)
					impatient(n)
				})
				contains(t, out, "left over after Neovim: ", "sleep 1234")
				if left := waitGone(n); len(left) > 0 {
					t.Errorf("still there: %v", left)
				}
			})
		})
	}
}

// waitGone waits until a Neovim that has ended has nothing left, and returns what will not go.
func waitGone(n *Nvim) []Process {
	deadline := time.Now().Add(patience)
	for {
		left, err := n.leftovers()
		if err != nil || len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(time.Millisecond)
	}
}

func TestLeftoverOfKilledNeovim(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, bin string) {
		out := record(t, func(tb testing.TB) {
			n := Start(tb, bin)
			starting(n, detached)
			impatient(n)
			n.Kill()
			if !sleeps(n) {
				n.fail("left over are %v", n.Leftovers())
			}
		})
		contains(t, out, "left over after Neovim: ", "sleep 1234")
		if strings.Contains(out, "ended by itself") {
			t.Errorf("a wanted kill is blamed:\n%s", out)
		}
	})
}

func TestEndsOfNeovim(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(n *Nvim)
		opts []Option
		want string // "" passes
	}{
		{"plain", func(n *Nvim) {}, nil, ""},
		{"quit by the test", func(n *Nvim) { n.Keys(":qa!<CR>"); <-n.exited }, nil, ""},
		{"killed", func(n *Nvim) { n.Kill() }, nil, ""},
		{"exit code", func(n *Nvim) { n.Keys(":cquit 3<CR>"); <-n.exited }, nil, "exit status 3"},
		{"insert mode", func(n *Nvim) { n.Keys("ix") }, nil, ""},
		{"pending key", func(n *Nvim) { n.Keys(`"`); n.awaitBlocked() }, nil, ""},
		{"hit enter", func(n *Nvim) { n.Keys(`:echo "a\nb"<CR>`); n.awaitBlocked() }, nil, ""},
		{"command-line window", func(n *Nvim) { n.Keys("q:"); n.AwaitLua(`vim.fn.getcmdwintype() == ':'`) }, nil, ""},
		{"command line", func(n *Nvim) { n.Keys(":echo"); n.AwaitScreen(":echo") }, nil, ""},
		{"getchar", func(n *Nvim) { n.Keys(":call getchar()<CR>"); n.AwaitScreen(":call") }, nil, ""},
		{"changed buffer", func(n *Nvim) { n.Keys("ix<Esc>"); n.AwaitScreen("x") }, nil, ""},
		{"terminal", func(n *Nvim) { n.Command("terminal cat"); n.Keys("i") }, nil, ""},
		{"will not quit", func(n *Nvim) { n.Command("autocmd VimLeavePre * sleep 1000"); impatient(n) }, nil, "did not quit"},
		{"lua error", func(n *Nvim) { n.schedule(`error('boom')`) }, nil, "boom"},
		{"ex error", func(n *Nvim) { n.Keys(":nosuch<CR>"); n.AwaitScreen("E492") }, nil, "E492"},
		{"autocommand error", func(n *Nvim) {
			n.Command("autocmd User AcpX lua error('boom')")
			n.schedule(`vim.cmd('silent! doautocmd User AcpX') vim.cmd('doautocmd User AcpX')`)
		}, nil, "boom"},
		{"allowed error", func(n *Nvim) { n.Keys(":nosuch<CR>"); n.AwaitScreen("E492") }, []Option{AllowErrors("E492")}, ""},
		{"any allowed", func(n *Nvim) { n.schedule(`error('boom')`) }, []Option{AllowErrors()}, ""},
		{"other allowed", func(n *Nvim) { n.Keys(":nosuch<CR>"); n.AwaitScreen("E492") }, []Option{AllowErrors("E999")}, "E492"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, bin string) {
				out := record(t, func(tb testing.TB) {
					c.do(Start(tb, bin, c.opts...))
				})
				if c.want == "" && out != "" {
					t.Errorf("it failed:\n%s", out)
				}
				contains(t, out, c.want)
			})
		})
	}
}

func TestGoroutineLeak(t *testing.T) {
	t.Parallel() // the goroutines of the other tests are not blamed
	both(t, func(t *testing.T, bin string) {
		stuck := make(chan struct{})
		defer close(stuck)
		go func() { <-stuck }() // older than Neovim
		leaking := func(opts ...Option) string {
			return record(t, func(tb testing.TB) {
				n := Start(tb, bin, opts...)
				go func() { <-stuck }()
				impatient(n)
			})
		}
		check.Equal(t, record(t, func(tb testing.TB) { Start(tb, bin) }), "", "the older one is blamed:\n%s")
		contains(t, leaking(), "goroutines outlive Neovim", "TestGoroutineLeak")
		if out := leaking(AllowGoroutines()); strings.Contains(out, "goroutines") {
			t.Errorf("it failed:\n%s", out)
		}
	})
}

// schedule runs Lua outside of any call and waits until it runs.
func (n *Nvim) schedule(code string) {
	n.t.Helper()
	n.Lua(nil, `local code = ...
		vim.schedule(function()
			vim.api.nvim_exec_autocmds('User', {pattern = 'AcpRuns'})
			assert(loadstring(code))()
		end)`, code)
	n.AwaitEvent("AcpRuns")
}

// awaitBlocked waits until Neovim waits for a key.
func (n *Nvim) awaitBlocked() {
	n.t.Helper()
	n.Await("a wait for a key", func() bool {
		mode, err := n.Mode()
		return err == nil && mode.Blocking
	})
}

// With a key pending API calls hang: every wait must still end, and say why.
func TestWaitsEndWhileKeyIsPending(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(n *Nvim){
		"lua":       func(n *Nvim) { n.LuaInt(`1`) },
		"command":   func(n *Nvim) { n.Command("echo") },
		"await lua": func(n *Nvim) { n.AwaitLua(`true`) },
		"redraw":    func(n *Nvim) { n.Redraw() },
		"raw call in a condition": func(n *Nvim) {
			n.Await("the buffer", func() bool { _, err := n.CurrentBuffer(); return err == nil })
		},
		"screen": func(n *Nvim) { n.AwaitScreen("never") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, bin string) {
				out := record(t, func(tb testing.TB) {
					n := Start(tb, bin)
					n.Keys("ion screen<Esc>")
					n.AwaitScreen("on screen")
					n.Keys(`"`)
					n.awaitBlocked()
					n.opts.patience = 300 * time.Millisecond
					defer func() { n.opts.patience = patience }()
					wait(n)
					tb.Errorf("it did not wait")
				})
				contains(t, out, "within 300ms", "waiting for a key", "on screen")
				if strings.Contains(out, "did not wait") {
					t.Error("it did not wait")
				}
			})
		})
	}
}

// A wait that began while a key was pending goes on when it comes.
func TestWaitsGoOnAfterPendingKey(t *testing.T) {
	t.Parallel()
	Each(t, func(t *testing.T, n *Nvim) {
		n.Keys(`"`)
		n.awaitBlocked()
		var waiting sync.WaitGroup
		waiting.Go(func() {
			check.Equal(t, n.LuaInt(`7`), 7, "got %d")
		})
		n.Keys("<Esc>")
		waiting.Wait()
	})
}

func TestReport(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, bin string) {
		out := record(t, func(tb testing.TB) {
			n := Start(tb, bin)
			n.Lua(nil, `
				vim.api.nvim_exec_autocmds('User', {pattern = 'AcpSeen', data = {session = 3}})
				vim.fn.mkdir(vim.fn.stdpath('log'), 'p')
				vim.fn.writefile({'the host said so'}, vim.fn.stdpath('log') .. '/acp.log')
				io.stderr:write('on stderr\n')
				vim.cmd("echomsg 'a message'")`)
			n.AwaitEvent("AcpSeen")
			n.Keys("iseen on screen")
			n.AwaitScreen("seen on screen")
			n.opts.patience = 300 * time.Millisecond
			defer func() { n.opts.patience = patience }()
			n.AwaitScreen("what never comes")
		})
		contains(t, out, `waiting for "what never comes" on the screen: not within 300ms`, "seen on screen", `mode "i"`,
			"AcpSeen map[session:3]", "a message", "acp.log", "the host said so", "on stderr")
	})
}

// A Neovim that ends by itself ends the wait at once.
func TestWaitEndsWithNeovim(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, bin string) {
		out := record(t, func(tb testing.TB) {
			n := Start(tb, bin)
			n.Keys(":cquit 5<CR>")
			n.AwaitScreen("what never comes")
		})
		contains(t, out, "the process has ended", "exit status 5")
	})
}

func TestConditionMayFailTheTest(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, bin string) {
		out := record(t, func(tb testing.TB) {
			n := Start(tb, bin)
			n.Await("nothing", func() bool { tb.Fatalf("the condition says no"); return true })
			tb.Errorf("it went on")
		})
		check.Equal(t, out, "the condition says no", "it failed with:\n%s")
	})
}

func TestStartFails(t *testing.T) {
	out := record(t, func(tb testing.TB) { Start(tb, "/nonexistent/nvim") })
	contains(t, out, "/nonexistent/nvim", "no such file")
	out = record(t, func(tb testing.TB) { Start(tb, "/bin/true") })
	contains(t, out, "/bin/true does not say which Neovim it is")
}
