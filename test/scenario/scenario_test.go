// Package scenario has the tests of the whole: a real Neovim with an attached user interface, the
// real host, and real agent processes. Nothing here sleeps: tests wait for what the user sees, for
// events, and for what the agent is told.
package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// host is the program under test, self this test binary.
var host, self string

// TestMain builds the host, with the race detector where the tests have it, if there is a Neovim to start it.
func TestMain(m *testing.M) {
	if socket := os.Getenv(puppetEnv); socket != "" {
		os.Exit(bePuppet(socket))
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if !nvimtest.Any() {
		return m.Run(), nil
	}
	if self, err = os.Executable(); err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "scenario")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	host = filepath.Join(dir, "acp-nvim")
	args := []string{"build", "-o", host}
	if raced() {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "../../cmd/acp-nvim")...)
	build.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -buildvcs=false")
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build the host: %w\n%s", err, out)
	}
	return m.Run(), nil
}

// raced tells whether this binary was built with the race detector.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// scene is one Neovim with the plugin, and the agents that it starts.
type scene struct {
	*nvimtest.Nvim
	t     *testing.T
	data  string // the folder of what outlives Neovim, XDG_DATA_HOME
	stage *stage
}

// wide is the larger of the two sizes the screens are looked at.
var wide = nvimtest.Size(160, 45)

// environment is that of all Neovims: the agent `demo` has no pauses, and a race in the host ends it, and so fails
// the test. It would sleep a second at its end.
var environment = nvimtest.Env("ACP_DEMO_DELAY_MS=0", "GORACE=halt_on_error=1 atexit_sleep_ms=0")

// each plays a scene on every Neovim, in parallel with other tests. The agent `puppet` is what the
// test makes it.
func each(t *testing.T, play func(t *testing.T, s *scene), opts ...nvimtest.Option) {
	t.Helper()
	t.Parallel()
	opts = append([]nvimtest.Option{environment}, opts...)
	nvimtest.Each(t, func(t *testing.T, n *nvimtest.Nvim) { play(t, open(t, n)) }, opts...)
}

// open makes a Neovim a scene with agents of its own.
func open(t *testing.T, n *nvimtest.Nvim) *scene {
	t.Helper()
	s := &scene{Nvim: n, t: t, data: filepath.Join(n.Home, "data"), stage: newStage(t, n.Home)}
	n.Lua(nil, `
		local host, self, socket = ...
		vim.g.acp = {
		  agent = 'puppet',
		  agents = { puppet = { title = 'Puppet', command = { self }, env = { `+puppetEnv+` = socket } } },
		  host = { command = { host } },
		}`, host, self, s.stage.socket)
	return s
}

// next starts another Neovim in the same folder with the same data, beside this one or after its end.
func (s *scene) next(opts ...nvimtest.Option) *scene {
	s.t.Helper()
	opts = append([]nvimtest.Option{environment, nvimtest.Dir(s.Dir), nvimtest.Env("XDG_DATA_HOME=" + s.data)}, opts...)
	next := open(s.t, nvimtest.Start(s.t, s.Program(), opts...))
	next.data = s.data
	return next
}

// keepsState has next keep what this Neovim has in XDG_STATE_HOME too: swap files, drafts, the journal of writes.
func (s *scene) keepsState() nvimtest.Option {
	return nvimtest.Env("XDG_STATE_HOME=" + filepath.Join(s.Home, "state"))
}

// quit quits Neovim as a user does, and waits until its process is gone.
func (s *scene) quit() {
	s.t.Helper()
	s.Keys("<Esc>:qa!<CR>")
	s.Await("Neovim to end", func() bool { return syscall.Kill(s.PID(), 0) != nil })
}

// configure changes the configuration, before anything is started.
func (s *scene) configure(lua string) {
	s.t.Helper()
	s.Lua(nil, `local c = vim.g.acp; `+lua+`; vim.g.acp = c`)
}

// agent waits for the next process of the agent `puppet`.
func (s *scene) agent() *puppet {
	s.t.Helper()
	return s.agentOf(s.stage)
}

// agentOf is agent for one that addAgent has added.
func (s *scene) agentOf(st *stage) *puppet {
	s.t.Helper()
	var p *puppet
	s.Await("an agent to be started", func() bool {
		if p == nil {
			select {
			case p = <-st.agents:
			default:
			}
		}
		return p != nil
	})
	p.scene = s
	return p
}

// agentsStarted is how many processes agent has yet to take.
func (s *scene) agentsStarted() int { return len(s.stage.agents) }

// lastAgent is the process that was started last, if any.
func (s *scene) lastAgent() *puppet {
	s.stage.mu.Lock()
	defer s.stage.mu.Unlock()
	if len(s.stage.all) == 0 {
		return nil
	}
	return s.stage.all[len(s.stage.all)-1]
}

// addAgent configures one more agent that is what the test makes it.
func (s *scene) addAgent(name string) *stage {
	s.t.Helper()
	dir := filepath.Join(s.Home, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		s.t.Fatal(err)
	}
	st := newStage(s.t, dir)
	s.Lua(nil, `local name, self, socket = ...
		local c = vim.g.acp
		c.agents[name] = { title = name:sub(1, 1):upper() .. name:sub(2), command = { self }, env = { `+puppetEnv+` = socket } }
		vim.g.acp = c`, name, self, st.socket)
	return st
}

// beginWithFile is begin beside a file whose buffer is followed.
func (s *scene) beginWithFile(name, text string) (p *puppet, path string, buf int) {
	s.t.Helper()
	path = s.write(name, text)
	s.Command("edit " + name)
	buf = s.LuaInt(`vim.api.nvim_get_current_buf()`)
	p = s.begin()
	s.AwaitLua(`vim.bo[...].autoread == false`, buf)
	return p, path, buf
}

// begin starts a session of the puppet with :Acp and waits until it is ready.
func (s *scene) begin() *puppet {
	s.t.Helper()
	s.Command("Acp")
	p := s.agent()
	p.begin()
	s.AwaitEvent("AcpSessionReady")
	return p
}

// beginAtRoot is begin with a session whose folder has the same name everywhere.
func (s *scene) beginAtRoot() *puppet {
	s.t.Helper()
	s.ok(`require('acp').new({ cwd = '/' })`)
	return s.begin()
}

// prompt sends a prompt and waits until the agent has it.
func (s *scene) prompt(p *puppet, text string) message {
	s.t.Helper()
	s.ok(`require('acp').prompt(...)`, text)
	m, got := p.prompted()
	if got != text {
		s.t.Errorf("the agent was asked %q, not %q", got, text)
	}
	return m
}

// ok runs a function of the API that must not fail.
func (s *scene) ok(lua string, args ...any) {
	s.t.Helper()
	if err := s.LuaString(`local v, err = (function(...) return `+lua+` end)(...)
		return v == nil and (err or 'nil without an error') or ''`, args...); err != "" {
		s.t.Fatalf("%s: %s", lua, err)
	}
}

// refused runs a function of the API that must return nil and a sentence, which it gives.
func (s *scene) refused(lua string, args ...any) string {
	s.t.Helper()
	var got []any
	s.Lua(&got, `local v, err = (function(...) return `+lua+` end)(...)
		return { v == nil, tostring(err), type(err) }`, args...)
	if got[0] != true || got[2] != "string" {
		s.t.Errorf("%s returned %v", lua, got)
	}
	return fmt.Sprint(got[1])
}

// chatBuf is the Lua expression for the chat buffer of the session used last.
const chatBuf = `(function() for _, s in ipairs(require('acp').sessions()) do if s.id == require('acp.mirror').resolve() then return s.chat_buf end end end)()`

// chat is the text of the chat of the session used last.
func (s *scene) chat() string {
	s.t.Helper()
	var lines []string
	s.Lua(&lines, `vim.api.nvim_buf_get_lines(`+chatBuf+`, 0, -1, false)`)
	return strings.Join(lines, "\n")
}

// awaitChat waits until the chat has a text.
func (s *scene) awaitChat(text string) {
	s.t.Helper()
	s.Await(fmt.Sprintf("%q in the chat", text), func() bool { return strings.Contains(s.chat(), text) })
}

// session is the only session as acp.sessions() tells of it.
func (s *scene) session() obj {
	s.t.Helper()
	all, _ := s.value(`require('acp').sessions()`).([]any)
	if len(all) != 1 {
		s.t.Fatalf("there are %d sessions", len(all))
	}
	return all[0].(obj)
}

// value is a Lua value with string keys or none in its tables, and ints for its whole numbers.
func (s *scene) value(lua string, args ...any) any {
	s.t.Helper()
	var v any
	text := s.LuaString(`vim.json.encode((function(...) return `+lua+` end)(...))`, args...)
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		s.t.Fatalf("%s: %v: %s", lua, err, text)
	}
	return whole(v)
}

func whole(v any) any {
	switch v := v.(type) {
	case obj:
		for k := range v {
			v[k] = whole(v[k])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case float64:
		if v == float64(int(v)) {
			return int(v)
		}
	}
	return v
}

// awaitState waits until the only session is in a state.
func (s *scene) awaitState(state string) {
	s.t.Helper()
	s.AwaitLua(`require('acp').sessions()[1].state == ...`, state)
}

// awaitFloat waits until the permission float is shown and gives its window.
func (s *scene) awaitFloat() int {
	s.t.Helper()
	s.AwaitLua(`require('acp.permission').win()`)
	return s.LuaInt(`require('acp.permission').win()`)
}

// awaitMessage waits until :messages has a text.
func (s *scene) awaitMessage(text string) {
	s.t.Helper()
	s.Await(fmt.Sprintf("%q in :messages", text), func() bool { return strings.Contains(s.Messages(), text) })
}

// recordNotifications takes vim.notify's messages for awaitNotification and notifications: long ones
// make Neovim wait for a key, which is tested elsewhere.
func (s *scene) recordNotifications() {
	s.t.Helper()
	s.Lua(nil, `_G.notifications = {}
		vim.notify = function(text) table.insert(_G.notifications, text) end`)
}

// notifications are the recorded messages, a line each.
func (s *scene) notifications() string {
	s.t.Helper()
	return s.LuaString(`table.concat(_G.notifications, '\n')`)
}

// awaitNotification waits until one of the recorded messages has a text.
func (s *scene) awaitNotification(text string) {
	s.t.Helper()
	s.Await(fmt.Sprintf("%q to be notified", text), func() bool { return strings.Contains(s.notifications(), text) })
}

// events counts the events of a name.
func (s *scene) events(name string) (n int) {
	for _, e := range s.Events() {
		if e.Name == name {
			n++
		}
	}
	return n
}

// write makes a file in the working folder and gives its path.
func (s *scene) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.Dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// file is what the disk has.
func (s *scene) file(path string) string {
	s.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// buffer is a buffer's text, "\n" between its lines.
func (s *scene) buffer(buf int) string {
	s.t.Helper()
	return s.LuaString(`table.concat(vim.api.nvim_buf_get_lines(..., 0, -1, false), '\n')`, buf)
}

// screen compares the screen with a golden one, without what differs from run to run: spinners,
// durations, folders.
func (s *scene) screen(name string) {
	s.t.Helper()
	s.Golden(name,
		nvimtest.Replace(`[⣷⣯⣟⡿⢿⣻⣽⣾]( \d+:\d\d)?`, "*"),
		nvimtest.Replace(`(?m) {2,}\d+(\.\d)? s$`, ""), // beside a tool call, when it took long enough
		nvimtest.Replace(`\d+(\.\d)? s\b`, "N s"),
	)
}
