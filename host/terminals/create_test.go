package terminals

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A command runs in the folder that the agent names, the session's if it names none.
func TestTheFolderOfACommand(t *testing.T) {
	s := running(t)
	below := filepath.Join(s.Cwd, "below")
	must.Do(t, os.Mkdir(below, 0o777))
	for _, c := range []struct{ dir, want, err string }{
		{"", s.Cwd, ""},
		{"below", below, ""},
		{below, below, ""},
		{"http://example.org/x", "", `"http://example.org/x" is not a folder on this computer`},
		{"nowhere", "", "nowhere\" does not exist"},
	} {
		id, err := s.create(session.CreateTerminal{Command: "pwd", Dir: c.dir})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("in %q the agent is told %v", c.dir, err)
			}
			var rejected *acp.Error
			if !errors.As(err, &rejected) || rejected.Code != acp.CodeInvalidParams {
				t.Errorf("in %q the error is %#v", c.dir, err)
			}
			continue
		}
		must.Do(t, err)
		term, err := s.Get(id)
		must.Do(t, err)
		_, err = term.Wait(t.Context())
		must.Do(t, err)
		check.Equal(t, strings.TrimSpace(term.Output().Text), c.want, "the command runs in %s")
		list := s.list()
		check.Equal(t, list[len(list)-1].Cwd, c.want, "Lua is told that it runs in %s")
	}
}

// A command whose agent or session goes while it is started is ended, and does not count as one that the agent holds.
func TestACommandOfAnAgentThatGoes(t *testing.T) {
	sleep := session.CreateTerminal{Command: "sleep", Args: []string{"1000"}}
	t.Run("the agent", func(t *testing.T) {
		s := running(t)
		goes := 0
		s.Ready = func() bool { goes++; return goes != 2 }
		if _, err := s.create(sleep); !errors.Is(err, feature.ErrClosed) {
			t.Errorf("the agent is told %v", err)
		}
		s.killed()
		check.Equal(t, len(s.list()), 0, "Lua is told of %d terminals")
		s.do(func() { check.Equal(t, s.held, 0, "the agent holds %d") })
	})
	t.Run("the session", func(t *testing.T) {
		s := running(t)
		background := s.Background
		s.Background = func(f func()) {
			s.Box.Close()
			background(f)
		}
		if _, err := s.create(sleep); !errors.Is(err, feature.ErrClosed) {
			t.Errorf("the agent is told %v", err)
		}
		s.killed()
	})
	t.Run("no agent", func(t *testing.T) {
		s := running(t)
		s.closed.Store(true)
		if _, err := s.create(sleep); !errors.Is(err, feature.ErrClosed) {
			t.Errorf("the agent is told %v", err)
		}
	})
}

// What a command that this client runs reports to Lua: keys go to it, windows size it, and its end is told.
func TestACommandOfThisClient(t *testing.T) {
	s := running(t)
	term := s.start(`until stty size </dev/tty | grep '20 77'; do sleep 0.01; done; echo which; read x </dev/tty; kill -9 $$`)
	in := rpc.InTerminal{In: rpc.In{Session: 1}, Terminal: 1}
	list := s.list()
	must.Equal(t, len(list), 1, "Lua is told of %d terminals")
	if m := list[0]; m.Session != 1 || m.Number != 1 || m.ID != "term-1" || !m.Running || !m.TakesKeys ||
		!strings.HasPrefix(m.Command, "sh -c ") || m.Cwd != s.Cwd || m.Ending != "" || m.ExitCode != nil || m.Signal != "" {
		t.Errorf("Lua is told %+v", m)
	}
	s.do(func() {
		s.Stop() // the end of the turn is not the end of the command
		s.Behind([]string{"term-1"})
		s.Update(session.TerminalPatch{ID: "term-1", Command: acp.Set("lies"), Output: acp.Set([]byte("lies"))})
		s.Update(session.TerminalChunk{ID: "term-1", Data: []byte("lies")})
		s.Show(rpc.TerminalShow{InTerminal: in, Anew: true, Cols: 77, Rows: 20})
	})
	must.Become(t, "a question in the buffer", func() bool {
		return slices.ContainsFunc(s.nvim.told(), func(op any) bool {
			o, ok := op.(rpc.TerminalOutput)
			return ok && strings.Contains(o.Data, "which")
		})
	})
	screen, ok := s.Screenful("term-1", 5)
	if !ok || screen.Behind || screen.State != "" || screen.Lines[0].Text != "20 77" {
		t.Errorf("the chat shows %+v", screen)
	}
	check.Equal(t, term.Output().Exit == nil, true, "that it runs: %v")
	s.do(func() { s.Keys(rpc.TerminalKeys{InTerminal: in, Keys: "this\r"}) })
	exit, err := term.Wait(t.Context())
	must.Do(t, err)
	check.Equal(t, exit.String(), "killed by SIGKILL", "it is %s")
	check.Equal(t, term.Output().Exit.String(), "killed by SIGKILL", "the agent is told that it was %s")
	screen, _ = s.Screenful("term-1", 5)
	check.Equal(t, screen.State, "killed by SIGKILL", "the chat says it was %s")
	must.Become(t, "the end for Lua", func() bool {
		list = s.list()
		return len(list) == 1 && !list[0].Running
	})
	if m := list[0]; m.Ending != "killed by SIGKILL" || m.Signal != "SIGKILL" || m.ExitCode != nil {
		t.Errorf("Lua is told %+v", m)
	}
}

// A command of which the agent wants no output is seen by the user alone.
func TestACommandWithoutOutput(t *testing.T) {
	s := running(t)
	for command, truncated := range map[string]bool{"echo seen": true, "true": false} {
		id, err := s.create(session.CreateTerminal{Command: command, NoOutput: true})
		must.Do(t, err)
		term, err := s.Get(id)
		must.Do(t, err)
		_, err = term.Wait(t.Context())
		must.Do(t, err)
		o := term.Output()
		if o.Text != "" || o.Truncated != truncated || o.Exit.String() != "exited with code 0" {
			t.Errorf("of %q the agent gets %+v", command, o)
		}
		if screen, _ := s.Screenful(id, 1); truncated && screen.Lines[0].Text != "seen" {
			t.Errorf("the chat shows %+v", screen)
		}
	}
}

// An agent gets the end of a command's output, as much as it wants, and learns whether there was more; the chat shows all.
func TestOutputWithinALimit(t *testing.T) {
	s := running(t)
	for _, c := range []struct {
		limit      int
		text, want string
		truncated  bool
	}{
		{5, "one two", "e two", true}, {5, "two", "two", false}, {0, "one two", "one two", false}, // 0 is none
	} {
		id, err := s.create(session.CreateTerminal{Command: "printf", Args: []string{c.text}, OutputByteLimit: c.limit})
		must.Do(t, err)
		term, err := s.Get(id)
		must.Do(t, err)
		_, err = term.Wait(t.Context())
		must.Do(t, err)
		o := term.Output()
		check.Equal(t, o.Text, c.want, "of %q within %d bytes the agent gets %q", c.text, c.limit)
		check.Equal(t, o.Truncated, c.truncated, "that it is a part of %q is %v", c.text)
		screen, _ := s.Screenful(id, 1)
		check.Equal(t, screen.Lines[0].Text, c.text, "the chat shows %q")
	}
}
