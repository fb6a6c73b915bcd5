package follow

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/followalong"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// The window passes over what cannot be shown, and goes on to where the agent is next; Neovim hears nothing of it.
func TestPlacesThatCannotBeShown(t *testing.T) {
	dir := t.TempDir()
	binary := must.Write(t, dir, "binary", "\x7fELF\x00\x00")
	synctest.Test(t, func(t *testing.T) {
		w := NewWindow(WindowConfig{Background: func(f func()) { go f() }})
		defer w.Close()
		w.Heard(rpc.FollowState{What: "on"})
		w.Begin(1)
		for i, path := range []string{binary, dir, binary} {
			w.See(followalong.Place{Session: 1, Path: path, Line: 1})
			time.Sleep(followalong.Rest + time.Millisecond)
			synctest.Wait()
			w.mu.Lock()
			check.Equal(t, w.jumps, i+1, "%d jumps were tried")
			w.mu.Unlock()
		}
		check.Equal(t, w.Follows(), true, "it follows: %v")
	})
}

// following is a Neovim whose window follows: it notes each jump, and answers as the test says.
type following struct {
	mu      sync.Mutex // guards the fields below
	told    []string
	outcome string
}

// CallBuffers says of each file that no buffer has it.
func (*following) CallBuffers(context.Context, string, any, any) error { return nil }

func (f *following) answer(outcome string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.outcome = outcome
}

func (f *following) Batch(ops []any) (answers []any, busy time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, op := range ops {
		j := op.([]any)[1].(rpc.Jump)
		f.told = append(f.told, fmt.Sprintf("%d %s:%d %v %v %d %s", j.Jump, filepath.Base(j.Path), j.Line, j.Exists, j.Big, j.Activity, j.Agent))
		answers = append(answers, []any{true, f.outcome})
	}
	return answers, 0, nil
}

// follows runs a test with a window that is on, in a turn of session 1.
func follows(t *testing.T, test func(w *Window, nvim *following, jumps func(want ...string))) {
	synctest.Test(t, func(t *testing.T) {
		nvim := &following{outcome: "shown"}
		e := editor.New(nvim)
		go e.Run()
		defer e.Close()
		w := NewWindow(WindowConfig{
			Editor: e, Files: buffers.New(nvim), Background: func(f func()) { go f() },
			Title: func(session int) string { return fmt.Sprint("Agent ", session) },
		})
		defer w.Close()
		w.Heard(rpc.FollowState{What: "on", Activity: 4})
		w.Begin(1)
		test(w, nvim, func(want ...string) {
			t.Helper()
			time.Sleep(followalong.Rest + time.Millisecond)
			synctest.Wait()
			nvim.mu.Lock()
			defer nvim.mu.Unlock()
			check.Slice(t, nvim.told, want, "the jumps are %q")
			nvim.told = nil
		})
	})
}

// The window shows where an agent works: at its line, at the line of its change, or where it was last in the file, which
// moves with the file's lines.
func TestWhereTheWindowJumps(t *testing.T) {
	dir := t.TempDir()
	a, b := must.Write(t, dir, "a", "1\n2\n3\n"), filepath.Join(dir, "b")
	follows(t, func(w *Window, _ *following, jumps func(want ...string)) {
		place := func(path string, line int) { w.See(followalong.Place{Session: 1, Path: path, Line: line}) }
		place(a, 2)
		jumps("1 a:2 true false 4 Agent 1")
		w.Heard(rpc.FollowState{What: "nothing", Activity: 5})
		place(b, 0)
		jumps("2 b:0 false false 5 Agent 1")
		place(a, 0)
		jumps("3 a:2 true false 5 Agent 1")
		w.Edited(a, "1\n2\n3\n", "0\n1\n2\n3\n")
		w.Edited(b, "", "1\n")
		place(b, 7)
		jumps("4 b:7 false false 5 Agent 1")
		place(a, 0)
		jumps("5 a:3 true false 5 Agent 1")
		w.See(followalong.Place{Session: 1, Path: a, Line: 1, Locate: func(text string) int { return strings.Count(text, "\n") }})
		jumps("6 a:3 true false 5 Agent 1")
		w.See(followalong.Place{Session: 1, Path: b, Line: 2, Locate: func(string) int { return 9 }})
		jumps("7 b:2 false false 5 Agent 1")
		place(b, 0)
		jumps("8 b:2 false false 5 Agent 1")
		w.End(1)
		w.See(followalong.Place{Session: 2, Path: b, Line: 4})
		jumps("9 b:4 false false 5 Agent 2")
	})
}

// What the user does in the window keeps it where it is: for good where they have gone elsewhere, for a moment where they
// do something else, and as long as Neovim allows no jump.
func TestTheWindowIsTheUsers(t *testing.T) {
	a := must.Write(t, t.TempDir(), "a", "1\n2\n3\n")
	follows(t, func(w *Window, nvim *following, jumps func(want ...string)) {
		place := func(line int) { w.See(followalong.Place{Session: 1, Path: a, Line: line}) }
		heard := func(what string, jump int) { w.Heard(rpc.FollowState{What: what, Jump: jump}) }
		heard("active", 0)
		place(1)
		jumps()
		time.Sleep(followalong.Moment)
		jumps("1 a:1 true false 0 Agent 1")
		for _, what := range []string{"navigated", "off"} {
			heard(what, 0)
			check.Equal(t, w.Follows(), false, what+": it follows: %v")
			place(2)
			jumps()
			heard("on", 0)
			check.Equal(t, w.Follows(), true, "on: it follows: %v")
			jumps(map[string]string{"navigated": "2 a:2 true false 0 Agent 1", "off": "3 a:2 true false 0 Agent 1"}[what])
		}
		nvim.answer("busy")
		place(3)
		jumps("4 a:3 true false 0 Agent 1")
		nvim.answer("shown")
		jumps()
		time.Sleep(followalong.Moment)
		jumps("5 a:3 true false 0 Agent 1")
		nvim.answer("locked")
		place(1)
		jumps("6 a:1 true false 0 Agent 1")
		nvim.answer("shown")
		time.Sleep(time.Minute)
		jumps()
		heard("idle", 6)
		jumps("7 a:1 true false 0 Agent 1")
		heard("idle", 8) // of the next one, before its answer
		nvim.answer("locked")
		place(2)
		time.Sleep(followalong.Rest + time.Millisecond)
		nvim.answer("shown")
		jumps("8 a:2 true false 0 Agent 1", "9 a:2 true false 0 Agent 1")
	})
}
