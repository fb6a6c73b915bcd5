package terminals

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// ran is what [Set.Run] reports.
type ran struct {
	output, exit string
	err          error
}

func (r *runs) run(ctx context.Context, argv ...string) <-chan ran {
	done := make(chan ran, 1)
	r.Run(ctx, argv, func(output, exit string, err error) {
		done <- ran{output, exit, err}
		close(done) // a second call would panic
	})
	return done
}

// A command that the client runs for itself is reported with its output and its end, or why there is none.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		name         string
		argv         []string
		output, exit string
		err          string
	}{
		{"a success", []string{"sh", "-c", "echo one; echo two >&2"}, "one\ntwo", "exited with code 0", ""},
		{"a failure", []string{"sh", "-c", "pwd; exit 3"}, "FOLDER", "exited with code 3", ""},
		{"a signal", []string{"sh", "-c", "kill -9 $$"}, "", "killed by SIGKILL", ""},
		{"no program", []string{"no-such-command", "-x"}, "", "", `command "no-such-command" was not found on the PATH`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := running(t)
			got := must.Receive(t, "the end", s.run(t.Context(), c.argv...))
			output := strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(got.output, "\r", "")), s.Cwd, "FOLDER")
			check.Equal(t, output, c.output, "the output is %q")
			check.Equal(t, got.exit, c.exit, "it %q")
			if (got.err == nil) != (c.err == "") || got.err != nil && !strings.Contains(got.err.Error(), c.err) {
				t.Errorf("the error is %v", got.err)
			}
		})
	}
}

// A command is killed when nobody waits for it any more, and what it wrote until then is reported.
func TestRunUntilNobodyWaits(t *testing.T) {
	s := running(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := s.run(ctx, "sh", "-c", "echo one; sleep 1000")
	must.Become(t, "the output", func() bool {
		term, err := s.Get("term-1")
		return err == nil && strings.Contains(term.Output().Text, "one")
	})
	cancel()
	got := must.Receive(t, "the end", done)
	if !strings.HasPrefix(got.output, "one") || !errors.Is(got.err, context.Canceled) {
		t.Errorf("reported is %+v", got)
	}
	s.killed()
}

// A command without a session, or whose session goes, is reported as such.
func TestRunWithoutASession(t *testing.T) {
	s := running(t)
	background, begun := s.Background, 0
	s.Background = func(f func()) {
		if begun++; begun == 2 { // the command runs, and is about to be waited for
			s.Release()
		}
		background(f)
	}
	got := must.Receive(t, "the end", s.run(t.Context(), "sh", "-c", "sleep 1000"))
	if got.err == nil || got.output+got.exit != "" || !strings.Contains(got.err.Error(), `there is no terminal "term-1"`) {
		t.Errorf("of an agent that went the error is %v", got.err)
	}
	s.killed()

	for _, lose := range []func(){func() { s.closed.Store(true) }, s.Box.Close} { // the agent, and then all
		lose()
		if got := must.Receive(t, "the end", s.run(t.Context(), "true")); got != (ran{err: feature.ErrClosed}) {
			t.Errorf("without an agent reported is %+v", got)
		}
	}
}
