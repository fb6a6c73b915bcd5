package host

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/registry"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// newOutside is a world whose agents are processes: it is in no bubble.
func newOutside(t *testing.T, o Options) *world {
	w := &world{t: t}
	o.Version, o.Log = "test", slog.New(slog.NewTextHandler(&w.log, nil))
	w.Host = newHost(o, &w.nvim)
	w.background(w.editor.Run)
	t.Cleanup(w.shutdown)
	return w
}

// hears waits until Neovim was told something.
func (w *world) hears() (told string) {
	w.t.Helper()
	must.Become(w.t, "a word to Neovim", func() bool {
		told += strings.Join(w.nvim.take(), "\n")
		return told != ""
	})
	return told
}

// Who asks an agent that does not begin learns why, and what to do about it.
func TestAgentsThatDoNotBegin(t *testing.T) {
	argv, env := fakeagent.Program(t, fakeagent.Expect("initialize"), fakeagent.Fail(acp.CodeInternalError, "no"))
	for name, c := range map[string]struct {
		fields map[string]any
		told   string
	}{
		"its paths mean nothing": {
			map[string]any{"paths": map[string]any{"a": "/b"}},
			`Puppet could not be started: the paths of an agent are absolute, not "a" and "/b". See :help acp-elsewhere.`,
		},
		"its folder is not there": {
			map[string]any{"cwd": "/no/such"},
			"Puppet could not be started: working folder /no/such: no such file or directory. See :checkhealth acp.",
		},
		"it is not installed": {
			map[string]any{"command": []any{"/no/such"}, "install": "Install it."},
			"Puppet is not installed: /no/such does not exist or is not executable. Install it.",
		},
		"it refuses": {nil, "Puppet refused initialize: no."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newOutside(t, Options{})
			agent := map[string]any{"name": "puppet", "title": "Puppet", "command": []any{argv[0]}, "env": map[string]any{}}
			for k, v := range env {
				agent["env"].(map[string]any)[k] = v
			}
			for k, v := range c.fields {
				agent[k] = v
			}
			w.receive("list_stored", map[string]any{"agent": agent, "cwd": t.TempDir(), "callback": 7})
			check.Equal(t, w.hears(), "7 <nil> "+c.told, "Neovim is told %q")
		})
	}
}

// An agent has the environment of Neovim, without what is Neovim's own; what the user has configured goes before that, and
// what they have entered at a login before all.
func TestTheEnvironmentOfAnAgent(t *testing.T) {
	for name := range strings.FieldsSeq("NVIM NVIM_LOG_FILE VIM VIMRUNTIME MYVIMRC ACP_OF_NVIM ACP_OF_USER ACP_OF_LOGIN") {
		t.Setenv(name, "nvim")
	}
	var got []string
	given := map[string]string{"ACP_OF_USER": "user", "ACP_OF_LOGIN": "user", "VIM": "user"}
	for _, kv := range agentEnv(given, map[string]string{"ACP_OF_LOGIN": "login"}) {
		if strings.HasPrefix(kv, "ACP_OF_") || strings.HasSuffix(kv, "=nvim") || strings.HasSuffix(kv, "=user") {
			got = append(got, kv)
		}
	}
	check.Slice(t, got, []string{"ACP_OF_NVIM=nvim", "ACP_OF_LOGIN=login", "ACP_OF_USER=user", "VIM=user"}, "it has %q")
	check.Contains(t, strings.Join(agentEnv(nil, nil), "\n"), "ACP_OF_USER=nvim", "without anything of the user's it has %s")
	env := agentEnv(nil, map[string]string{"ACP_OF_LOGIN": "login"})
	check.Contains(t, strings.Join(env, "\n"), "ACP_OF_LOGIN=login", "with nothing but a login it has %s")
}

// Sessions share the process of an agent only where it would be started alike.
func TestWhichSessionsShareAProcess(t *testing.T) {
	t.Parallel()
	spec := AgentSpec{
		Name: "puppet", Title: "Puppet", Command: []string{"/puppet", "-v"}, Env: map[string]string{"A": "1", "B": "2"},
		Protocol: 1, Paths: map[string]string{"/a": "/b"}, Quirks: map[string]bool{"echoes": true},
	}
	for name, c := range map[string]struct {
		change func(*AgentSpec)
		shared bool
	}{
		"of another title":       {func(s *AgentSpec) { s.Title = "Other" }, true},
		"of another name":        {func(s *AgentSpec) { s.Name = "other" }, false},
		"of another argument":    {func(s *AgentSpec) { s.Command = []string{"/puppet", "-w"} }, false},
		"with another value":     {func(s *AgentSpec) { s.Env = map[string]string{"A": "1", "B": "3"} }, false},
		"with another variable":  {func(s *AgentSpec) { s.Env = map[string]string{"A": "1", "C": "2"} }, false},
		"without an environment": {func(s *AgentSpec) { s.Env = nil }, false},
		"of another protocol":    {func(s *AgentSpec) { s.Protocol = 2 }, false},
		"with another quirk":     {func(s *AgentSpec) { s.Quirks = map[string]bool{"echoes": false} }, false},
		"with other paths":       {func(s *AgentSpec) { s.Paths = map[string]string{"/a": "/c"} }, false},
	} {
		other := spec
		c.change(&other)
		check.Equal(t, other.launchKey("/") == spec.launchKey("/"), c.shared, "one %s shares it: %t", name)
	}
	check.Equal(t, spec.launchKey("/") == spec.launchKey("/p"), false, "one in another folder shares it: %t")
}

// Who tries an agent learns why it cannot be tried, also when time is up before it has answered.
func TestTryingAnAgent(t *testing.T) {
	argv, env := fakeagent.Program(t, fakeagent.Expect("initialize"))
	silent := registry.Installed{ID: "puppet", Launch: registry.Launch{Title: "Puppet", Command: argv, Env: env}}
	w := newOutside(t, Options{})

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	said, err := w.handshake(ctx, silent)
	check.Equal(t, said, "", "an agent that says nothing has said %q")
	check.Equal(t, err, context.Canceled, "an agent that says nothing: %v")

	missing := silent
	missing.Command = []string{"/no/such"}
	said, err = w.handshake(t.Context(), missing)
	check.Equal(t, said, "", "an agent that is missing has said %q")
	if err == nil {
		t.Error("an agent that is missing can be tried")
	}

	argv, env = fakeagent.Program(t, fakeagent.Start("puppet")...)
	said, err = w.handshake(t.Context(), registry.Installed{ID: "puppet", Launch: registry.Launch{Command: argv, Env: env}})
	must.Do(t, err)
	check.Equal(t, said, "puppet 1 · protocol 1", "one that can be tried has said %q")

	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	_, err = w.handshake(t.Context(), silent)
	check.Equal(t, err, feature.ErrClosed, "when Neovim ends: %v")
}

// The process of an agent that refuses to begin ends, whoever still waits for it, and nothing is kept of what it takes.
func TestTheEndOfAnAgentThatRefuses(t *testing.T) {
	argv, env := fakeagent.Program(t, fakeagent.Expect("initialize"), fakeagent.Fail(acp.CodeInternalError, "no"))
	data := t.TempDir()
	t.Cleanup(func() { // when all has ended
		kept, _ := filepath.Glob(filepath.Join(data, "mcp", "*"))
		check.Slice(t, kept, nil, "kept are %q")
	})
	w := newOutside(t, Options{Data: data})
	a, err := w.agentFor(AgentSpec{Name: "puppet", Title: "Puppet", Command: argv, Env: env}, t.TempDir())
	must.Do(t, err)
	refused := make(chan error, 2)
	a.hold(func(_ session.Info, err error) { refused <- err })
	check.Contains(t, must.Receive(t, "the refusal", refused).Error(), "no", "it is told that %q")
	must.Receive(t, "the end of the process", a.proc.Done())
}

// What an agent says of itself is kept once a session begins with it, not when it is only tried.
func TestWhatIsKeptOfAnAgent(t *testing.T) {
	for name, used := range map[string]bool{"tried": false, "used": true} {
		t.Run(name, func(t *testing.T) {
			argv, env := fakeagent.Program(t, fakeagent.Start("puppet")...)
			data, ready := t.TempDir(), make(chan error, 2)
			t.Cleanup(func() { // when all has ended
				for what, want := range map[string]bool{"mcp/*.json": true, "agents/handshakes.json": used} {
					kept, _ := filepath.Glob(filepath.Join(data, what))
					check.Equal(t, len(kept) == 1, want, "that there is %s is %t", what)
				}
			})
			w := newOutside(t, Options{Data: data})
			a, err := w.agentFor(AgentSpec{Name: "puppet", Title: "Puppet", Command: argv, Env: env}, t.TempDir())
			must.Do(t, err)
			begins := func(_ session.Info, err error) { ready <- err }
			if used {
				a.join(newSession(w.Host, 1, a.spec, "/", nil), begins)
			} else {
				a.hold(begins)
			}
			must.Do(t, must.Receive(t, "its answer", ready))
		})
	}
}

// The user learns how an agent ended, why if it said so, and what to do.
func TestHowAnAgentEnds(t *testing.T) {
	const again = " :Acp restart starts it again."
	for name, c := range map[string]struct {
		says    string // before it ends
		code    int
		install string
		why     string
		detail  string
	}{
		"by itself":               {code: 0, why: "Puppet ended." + again},
		"by itself, with a word":  {says: "error: no\n", code: 0, why: "Puppet ended: error: no." + again},
		"by itself, with another": {says: "bye\n", code: 0, why: "Puppet ended." + again, detail: "bye"},
		"with an error":           {says: "error: no\n", code: 1, why: "Puppet exited with code 1: error: no." + again},
		"with words about it": {says: "first\nerror: no\n", code: 1,
			why: "Puppet exited with code 1: error: no." + again, detail: "first\nerror: no"},
		"with a missing program": {code: 127, install: "Install it.",
			why: "Puppet exited with code 127 (command not found). Install it."},
		"it is not missing": {code: 126, install: "Install it.",
			why: "Puppet exited with code 126 (command not executable)." + again},
		"nobody can install it": {code: 127, why: "Puppet exited with code 127 (command not found)." + again},
		"with a large code":     {says: "no\n", code: 128, why: "Puppet exited with code 128." + again, detail: "no"},
	} {
		t.Run(name, func(t *testing.T) {
			steps := []fakeagent.Step{fakeagent.Expect("initialize"), {Stderr: c.says}, fakeagent.Exit(c.code)}
			if c.says == "" {
				steps = append(steps[:1], steps[2])
			}
			argv, env := fakeagent.Program(t, steps...)
			w := newOutside(t, Options{})
			spec := AgentSpec{Name: "puppet", Title: "Puppet", Command: argv, Env: env, Install: c.install}
			a, err := w.agentFor(spec, t.TempDir())
			must.Do(t, err)
			ended := make(chan error, 1)
			a.hold(func(_ session.Info, err error) { ended <- err })
			err = must.Receive(t, "the end of the process", ended)
			check.Equal(t, err.Error(), c.why, "it is told that %q")
			var f *failure.Failure
			if errors.As(err, &f) {
				check.Equal(t, f.Detail, c.detail, "beside it is told %q")
			}
			w.mu.Lock()
			check.Equal(t, len(w.agents), 0, "%d processes can be joined")
			w.mu.Unlock()
			var groups []rpc.Group
			must.Become(t, "its end in Neovim", func() bool {
				w.nvim.mu.Lock()
				defer w.nvim.mu.Unlock()
				groups = w.nvim.groups
				return len(groups) > 1
			})
			pgid := a.proc.PGID()
			check.Slice(t, groups, []rpc.Group{{Pgid: pgid, Alive: true}, {Pgid: pgid}}, "Neovim is told of the processes %v")
		})
	}
}
