package nvimtest

import (
	"os"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// errorLine matches the first lines of the errors Neovim itself reports, in :messages.
var errorLine = regexp.MustCompile(`^E\d+: |^Error (executing|detected|in) |^stack traceback:`)

// releaseKeys are tried in turn on a Neovim that waits for a key.
var releaseKeys = []string{"<Esc>", "<CR>", "<C-c>"}

// end quits Neovim, makes the checks of a test's end and removes its files.
func (n *Nvim) end() {
	t := n.t
	t.Helper()
	if !n.hasExited() {
		n.noteSessions()
		if n.release() {
			n.checkMessages()
			n.noteSessions()
		}
		n.quit()
	}
	n.ending.Store(true)
	if n.exitErr != nil && !n.killed.Load() {
		t.Errorf("Neovim ended by itself\n%s", n.report())
	}
	_ = n.Close()
	<-n.served
	_, err := answer(n, "conditions under way", func() (any, error) { n.conditions.Wait(); return nil, nil })
	if err != nil {
		t.Errorf("%v: they hang in something else than Neovim", err)
	}
	if n.screenErr != nil {
		t.Errorf("%v", n.screenErr)
	}
	n.checkLeftovers()
	if !n.opts.allowGoroutines {
		n.checkGoroutines()
	}
	if err := os.RemoveAll(n.Home); err != nil {
		t.Errorf("remove Neovim's files: %v", err)
	}
}

func (n *Nvim) hasExited() bool {
	select {
	case <-n.exited:
		return true
	default:
		return false
	}
}

// release ends a wait for a key, in which Neovim would not answer, and reports whether it answers.
func (n *Nvim) release() bool {
	deadline := time.NewTimer(n.opts.patience)
	defer deadline.Stop()
	again := time.NewTicker(pollEvery)
	defer again.Stop()
	for i := 0; ; i++ {
		mode, err := answer(n, "nvim_get_mode", n.Mode)
		if err != nil {
			return false
		}
		if !mode.Blocking {
			return true
		}
		key := releaseKeys[i%len(releaseKeys)]
		if _, err := answer(n, "nvim_input", func() (int, error) { return n.Input(key) }); err != nil {
			return false
		}
		select {
		case <-again.C:
		case <-deadline.C:
			return false
		}
	}
}

// checkMessages fails the test for each error Neovim reported.
func (n *Nvim) checkMessages() {
	n.t.Helper()
	var history string
	if err := n.lua(&history, messages); err != nil {
		if !n.hasExited() {
			n.t.Errorf("read :messages: %v", err)
		}
		return
	}
	for line := range strings.Lines(history) {
		line = strings.TrimRight(line, "\n")
		if errorLine.MatchString(line) && !n.allowed(line) {
			n.t.Errorf("Neovim reported an error: %s\n--- :messages\n%s", line, history)
			return
		}
	}
}

func (n *Nvim) allowed(line string) bool {
	for _, re := range n.opts.allowErrors {
		if re.MatchString(line) {
			return true
		}
	}
	return false
}

// quit ends Neovim as a user does, and with SIGKILL when that does not help.
func (n *Nvim) quit() {
	n.t.Helper()
	deadline := time.NewTimer(n.opts.patience)
	defer deadline.Stop()
	again := time.NewTicker(pollEvery)
	defer again.Stop()
	answers := make(chan struct{}, 1)
	try := func() {
		go func() {
			_ = n.ExecLua(quitLua, nil)
			answers <- struct{}{}
		}()
	}
	try()
	for {
		select {
		case <-n.exited:
			return
		case <-again.C:
			// An answer means that it has not quit: in the command-line window the first attempt only closes that. None
			// is sent while one is under way: it would cut short what the plugin does at VimLeavePre.
			select {
			case <-answers:
				try()
			default:
			}
		case <-deadline.C:
			n.t.Errorf("Neovim did not quit within %v\n%s", n.opts.patience, n.report())
			n.killed.Store(true)
			_ = n.cmd.Process.Kill()
			<-n.exited
			return
		}
	}
}

const quitLua = `if vim.fn.getcmdwintype() ~= '' then vim.cmd('quit') else vim.cmd('qa!') end`

// checkLeftovers gives what Neovim started time to end, then fails the test and ends it.
func (n *Nvim) checkLeftovers() {
	n.t.Helper()
	deadline := time.Now().Add(n.opts.patience / 3)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		left, err := n.leftovers()
		if err != nil {
			n.t.Logf("left-over processes not looked for: %v", err)
			return
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			for _, p := range left {
				n.t.Errorf("left over after Neovim: %v", p)
				_ = syscall.Kill(p.PID, syscall.SIGKILL)
			}
			return
		}
		<-poll.C
	}
}
