package reviewui

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// states says what is decided of each file, by the letters of its hunks' states.
func (w *world) states() string {
	text := ""
	for _, f := range w.review.files.sorted() {
		text += " " + w.Short(f.Path) + ":" + luaFile(f).States
	}
	return text[1:]
}

// A script decides about everything, a file, or one hunk that it knows by its numbers, wherever that is by now.
func TestDecisionsOfScripts(t *testing.T) {
	play(t, func(w *world) {
		for _, name := range []string{"a", "b"} {
			must.Write(t, w.Cwd, name, numbered(30))
		}
		w.writes("a", numbered(30, "one", "two", "three"))
		w.writes("b", numbered(30, "one"))
		decide := func(m rpc.Decide, states string, told ...string) {
			t.Helper()
			w.do(func() { w.review.Decide(m) })
			w.Expect(told...)
			check.Equal(t, w.states(), states, "decided is %s")
		}
		hunk := func(do string, n, line int) rpc.Decide {
			return rpc.Decide{Do: do, Path: w.path("a"), Hunk: n, OldStart: line, OldCount: 1, NewStart: line, NewCount: 1}
		}
		decide(rpc.Decide{Do: "keep", Path: w.path("none")}, "a:ppp b:p",
			"notice warning: the agent has changed nothing there", "answer 0 {0} The agent has changed nothing there.")
		decide(hunk("keep", 2, 13), "a:pkp b:p", "answer 0 {1} ")
		must.Write(t, w.Cwd, "a", "mine\nmine\n"+numbered(30, "one", "two", "three"))
		decide(hunk("reject", 3, 23), "a:pkr b:p", "answer 0 {1} ")
		w.now("a", "mine\nmine\n"+numbered(30, "one", "two", strings.Repeat("i", 23)))
		gone := hunk("reject", 1, 3)
		gone.NewCount = 2
		decide(gone, "a:pkr b:p", "notice warning: a: that change is gone", "answer 0 {0} a: that change is gone.")
		decide(rpc.Decide{Do: "keep", Path: w.path("a")}, "a:kkr b:p", "answer 0 {1} ")
		decide(rpc.Decide{Do: "reject"}, "a:kkr b:r", "answer 0 {1} ")
	})
}

// In a buffer the lines that are selected are decided, or as many hunks as the user wants from a line on; and all that is
// left at once.
func TestDecisionsInBuffers(t *testing.T) {
	play(t, func(w *world) {
		must.Write(t, w.Cwd, "a", numbered(50))
		w.writes("a", numbered(50, "1", "2", "3", "4", "5"))
		decide := func(m rpc.DecideHunks, states string, told ...string) {
			t.Helper()
			m.Path = w.path("a")
			w.do(func() { w.review.DecideHunks(m) })
			w.Expect(told...)
			check.Equal(t, w.states(), states, "decided is %s")
		}
		decide(rpc.DecideHunks{Decision: "keep", First: 3}, "a:kpppp", "answer 0 <nil> ")
		decide(rpc.DecideHunks{Decision: "reject", First: 13, Count: 2}, "a:krrpp", "answer 0 <nil> ")
		decide(rpc.DecideHunks{Decision: "keep", Lines: true, First: 30, Last: 33}, "a:krrkp", "answer 0 <nil> ")
		decide(rpc.DecideHunks{Decision: "keep", Lines: true, First: 1, Last: 2}, "a:krrkp", "notice warning: a: that change is gone", "answer 0 <nil> ")
		decide(rpc.DecideHunks{Decision: "keep", First: 42}, "a:krrkp", "notice warning: a: that change is gone", "answer 0 <nil> ")
		w.do(w.review.KeepAll)
		w.Expect()
		check.Equal(t, w.states(), "a:krrkk", "decided is %s")
	})
}
