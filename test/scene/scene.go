package scene

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// This file begins a scene, continues it in another Neovim or with another agent process, and ends it.

// environment is that of all Neovims: the agent `demo` has no pauses, and a race in the host ends it, and so fails
// the test. It would sleep a second at its end.
var environment = nvimtest.Env("ACP_DEMO_DELAY_MS=0", "GORACE=halt_on_error=1 atexit_sleep_ms=0")

// Scene is one Neovim with the plugin, and the agents that it starts.
type Scene struct {
	*nvimtest.Nvim
	T     *testing.T
	Data  string // the folder of what outlives Neovim, XDG_DATA_HOME
	stage *Stage

	protocol int // the version that agents speak; 0 is for the test's own
}

// Each plays a scene on every Neovim, in parallel with other tests. The agent `puppet` is what the test makes it.
func Each(t *testing.T, play func(t *testing.T, s *Scene), opts ...nvimtest.Option) {
	t.Helper()
	t.Parallel()
	each(t, play, 0, opts...)
}

// EachVersion is Each for what looks the same in both versions of the protocol: the test has its agent speak in the
// words of version 1, and in the second of its subtests they are translated.
func EachVersion(t *testing.T, play func(t *testing.T, s *Scene), opts ...nvimtest.Option) {
	t.Helper()
	of := t.Name()
	t.Parallel()
	for version := 1; version <= 2; version++ {
		name := fmt.Sprint("v", version)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, play, version, append(slices.Clone(opts), nvimtest.GoldenOf(of, name))...)
		})
	}
}

func each(t *testing.T, play func(t *testing.T, s *Scene), protocol int, opts ...nvimtest.Option) {
	t.Helper()
	opts = append([]nvimtest.Option{environment}, opts...)
	nvimtest.Each(t, func(t *testing.T, n *nvimtest.Nvim) { play(t, open(t, n, protocol)) }, opts...)
}

// Wide is the larger of the two sizes the screens are looked at.
var Wide = nvimtest.Size(160, 45)

// open makes a Neovim a scene with agents of its own.
func open(t *testing.T, n *nvimtest.Nvim, protocol int) *Scene {
	t.Helper()
	s := &Scene{Nvim: n, T: t, Data: filepath.Join(n.Home, "data"), stage: newStage(t, n.Home, protocol), protocol: protocol}
	n.Lua(nil, `
		local host, self, socket, protocol = ...
		vim.g.acp = {
		  agent = 'puppet',
		  registry = false, -- no test goes to the network
		  agents = { puppet = { title = 'Puppet', command = { self }, env = { `+puppetEnv+` = socket }, protocol = protocol } },
		  host = { command = { host } },
		  editor = { tools = false },
		}`, Host, Self, s.stage.socket, max(1, protocol))
	return s
}

// Next starts another Neovim in the same folder with the same data, beside this one or after its end.
func (s *Scene) Next(opts ...nvimtest.Option) *Scene {
	s.T.Helper()
	opts = append([]nvimtest.Option{environment, nvimtest.Dir(s.Dir), nvimtest.Env("XDG_DATA_HOME=" + s.Data)}, opts...)
	next := open(s.T, nvimtest.Start(s.T, s.Program(), opts...), s.protocol)
	next.Data = s.Data
	return next
}

// KeepState has Next keep what this Neovim has in XDG_STATE_HOME too: swap files, drafts, the journal of writes.
func (s *Scene) KeepState() nvimtest.Option {
	return nvimtest.Env("XDG_STATE_HOME=" + filepath.Join(s.Home, "state"))
}

// Quit quits Neovim as a user does, and waits until its process is gone.
func (s *Scene) Quit() {
	s.T.Helper()
	s.Keys("<Esc>:qa!<CR>")
	s.Await("Neovim to end", func() bool { return syscall.Kill(s.PID(), 0) != nil })
}

// Configure changes the configuration, before anything is started.
func (s *Scene) Configure(lua string) {
	s.T.Helper()
	s.Lua(nil, `local c = vim.g.acp; `+lua+`; vim.g.acp = c`)
}

// Begin starts a session of the puppet with :Acp and waits until it is ready.
func (s *Scene) Begin() *Puppet {
	s.T.Helper()
	return s.BeginWith(nil)
}

// BeginWith is Begin with an agent whose answer to initialize has more in it.
func (s *Scene) BeginWith(extra obj) *Puppet {
	s.T.Helper()
	s.Command("Acp")
	p := s.Agent()
	p.Initialize(extra)
	p.NewSession(1)
	s.AwaitEvent("AcpSessionReady")
	return p
}

// KeepsSessions is for BeginWith and Initialize: an agent that has these methods of sessions, and loads them.
func KeepsSessions(load bool, methods ...string) obj {
	caps := obj{"close": obj{}}
	for _, m := range methods {
		caps[m] = obj{}
	}
	return obj{"agentCapabilities": obj{"loadSession": load, "sessionCapabilities": caps}}
}

// BeginWithFile is Begin beside a file whose buffer is followed.
func (s *Scene) BeginWithFile(name, text string) (p *Puppet, path string, buf int) {
	s.T.Helper()
	path = s.WriteFile(name, text)
	s.Command("edit " + name)
	buf = s.LuaInt(`vim.api.nvim_get_current_buf()`)
	p = s.Begin()
	s.AwaitLua(`vim.bo[...].autoread == false`, buf)
	return p, path, buf
}

// ReadyAgent is Agent for one that answers as Begin's does, and waits until its session is ready.
func (s *Scene) ReadyAgent() *Puppet {
	s.T.Helper()
	p := s.Agent()
	p.Begin()
	s.AwaitEvent("AcpSessionReady")
	return p
}

// Prompt sends a prompt and waits until the agent has it.
func (s *Scene) Prompt(p *Puppet, text string) Message {
	s.T.Helper()
	s.OK(`require('acp').prompt(...)`, text)
	return p.PromptedWith(text)
}

// AwaitTurnEnd waits for the next end of a turn, and checks its reason.
func (s *Scene) AwaitTurnEnd(reason string) {
	s.T.Helper()
	if e := s.AwaitEvent("AcpTurnEnd"); e["stop_reason"] != reason {
		s.T.Errorf("the turn ended with %v, expected %s", e, reason)
	}
}

// Restart restarts the session and gives its new agent, which has said nothing yet. What was shown must still be.
func (s *Scene) Restart() *Puppet {
	s.T.Helper()
	before := s.Chat()
	s.Command("Acp restart")
	p := s.Agent()
	after := s.Chat()
	for line := range strings.Lines(before) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(after, line) {
			s.T.Errorf("the restart has lost %q", line)
		}
	}
	return p
}

// RestartAndBegin restarts the session and waits until it is ready.
func (s *Scene) RestartAndBegin() *Puppet {
	s.T.Helper()
	p := s.Restart()
	p.Begin()
	s.AwaitEvent("AcpSessionReady")
	return p
}
