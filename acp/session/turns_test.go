package session

import (
	"fmt"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// Only what was said in a turn is looked at when it ends; see also BenchmarkTurnsAfterCalls.
func TestTurnsKnowTheirCalls(t *testing.T) {
	c := applied(status("early", StatusInProgress), start("one"), status("done", StatusCompleted), status("left", StatusInProgress))
	calls := func() (ids []string) {
		for _, call := range c.turnCalls {
			ids = append(ids, call.ID)
		}
		return ids
	}
	check.Equal(t, fmt.Sprint(calls()), "[done left]", "the first turn has %s")
	c.Apply(end)
	c.Apply(start("two"))
	c.Apply(status("new", StatusInProgress))
	c.Apply(status("early", StatusInProgress))
	c.Apply(status("new", StatusInProgress))
	check.Equal(t, fmt.Sprint(calls()), "[new early]", "the second turn has %s")
	c.TakeTouched()
	c.Apply(end)
	var ended []string
	for _, call := range c.TakeTouched() {
		ended = append(ended, call.ID+" "+string(call.Shown()))
	}
	if got := fmt.Sprint(ended); got != "[early cancelled new cancelled]" { // in the order first seen
		t.Errorf("with the second turn ended %s", got)
	}
}

// What a turn costs when there were calls in an earlier one.
func BenchmarkTurnsAfterCalls(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := applied(start("calls"))
			for i := range n {
				c.Apply(status(fmt.Sprint(i), StatusCompleted))
			}
			c.Apply(end)
			for b.Loop() {
				c.Apply(start("text"))
				c.Apply(end)
				c.TakeChanged()
			}
		})
	}
}

// The keys of a call's input are looked at each time the agent says something of it.
func TestPlainKeysBuildNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { plainKey("filepath") }); n > 0 {
		t.Errorf("a plain key takes %v pieces of memory", n)
	}
	check.Equal(t, plainKey("New_File-Path"), "newfilepath", "plain is %q")
}

// What ran in the background is gone with its agent: a call of the next one with the same id ends with its turn.
func TestTheBackgroundGoesWithTheAgent(t *testing.T) {
	c := applied(start("p"), status("c", StatusInProgress), under("d", "c"), under("e", "d"),
		Background{Calls: []string{"c"}, Terminals: []string{"t"}}, end)
	check.Equal(t, c.GoesOn("e"), true, "what is far below goes on: %v")
	check.Equal(t, c.ToolCall("c").Shown(), StatusInProgress, "after its turn it is %s")
	check.Equal(t, c.Behind(), 2, "%d run")
	c.Apply(AgentGone{})
	check.Equal(t, c.ToolCall("c").Shown(), StatusCancelled, "after its agent it is %s")
	check.Equal(t, c.Behind(), 0, "%d run still")
	if c.GoesOn("c") {
		t.Error("it goes on")
	}
}
