package host

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/registry"
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

	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	_, err = w.handshake(t.Context(), silent)
	check.Equal(t, err, feature.ErrClosed, "when Neovim ends: %v")
}

// The process of an agent that refuses to begin ends, whoever still waits for it.
func TestTheEndOfAnAgentThatRefuses(t *testing.T) {
	argv, env := fakeagent.Program(t, fakeagent.Expect("initialize"), fakeagent.Fail(acp.CodeInternalError, "no"))
	w := newOutside(t, Options{})
	a, err := w.agentFor(AgentSpec{Name: "puppet", Title: "Puppet", Command: argv, Env: env}, t.TempDir())
	must.Do(t, err)
	refused := make(chan error, 2)
	a.hold(func(_ session.Info, err error) { refused <- err })
	check.Contains(t, must.Receive(t, "the refusal", refused).Error(), "no", "it is told that %q")
	must.Receive(t, "the end of the process", a.proc.Done())
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
		"by itself":              {code: 0, why: "Puppet ended." + again},
		"by itself, with a word": {says: "error: no\n", code: 0, why: "Puppet ended: error: no." + again},
		"with an error":          {says: "error: no\n", code: 1, why: "Puppet exited with code 1: error: no." + again},
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
		})
	}
}
