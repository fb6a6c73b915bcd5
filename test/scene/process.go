package scene

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// This file has the processes behind a Neovim: that they end, and that nobody waits for them.

// Hosts are the processes of the host, and all others that Neovim and it have started.
func (s *Scene) Hosts() (hosts, others []int) {
	s.T.Helper()
	for _, p := range s.Leftovers() {
		if strings.HasPrefix(p.Command, Host+" host") {
			hosts = append(hosts, p.PID)
		} else {
			others = append(others, p.PID)
		}
	}
	return hosts, others
}

// KillHost kills the host.
func (s *Scene) KillHost() {
	s.T.Helper()
	hosts, _ := s.Hosts()
	if len(hosts) == 0 {
		s.T.Fatal("the host does not run")
	}
	for _, pid := range hosts {
		must.Do(s.T, syscall.Kill(pid, syscall.SIGKILL))
	}
}

// stuck is how long Neovim may at most be away from its loop: what blocks it does so for ever, or
// for as long as the agent pleases.
const stuck = 10 * time.Second

// NotBlocked checks that what happens meanwhile does not block Neovim: neither its loop nor the user, who
// types into a buffer.
func (s *Scene) NotBlocked(meanwhile func()) {
	s.T.Helper()
	s.Command("tabnew | setlocal buftype=nofile")
	buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
	s.StartGap()
	s.Keys("ione ")
	meanwhile()
	s.Keys("two")
	s.AwaitLua(`vim.api.nvim_buf_get_lines(..., 0, -1, false)[1] == 'one two'`, buf)
	if gap := s.StopGap(); gap > stuck {
		s.T.Errorf("Neovim was blocked for %v", gap)
	}
	check.Equal(s.T, s.LuaString(`vim.fn.mode() .. vim.api.nvim_get_current_buf()`), fmt.Sprint("i", buf),
		"the user was taken to mode and buffer %s")
	s.Keys("<Esc>")
	s.AwaitLua(`vim.fn.mode() == 'n'`)
	s.Command("bwipeout!")
}

// AwaitAfterEnd is Await for when Neovim has ended, at which Await gives up.
func AwaitAfterEnd(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !cond() {
		select {
		case <-look.C:
		case <-deadline.C:
			t.Fatalf("waiting for %s: not within a minute", what)
		}
	}
}

// gone reports whether there is no process of that id.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// AwaitNothingLeft waits until Neovim and all that it has started have ended.
func (s *Scene) AwaitNothingLeft() {
	s.T.Helper()
	AwaitAfterEnd(s.T, "Neovim to end", func() bool { return gone(s.PID()) })
	AwaitAfterEnd(s.T, "what it started to end", func() bool { return len(s.Leftovers()) == 0 })
}
