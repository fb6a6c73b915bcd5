package session

import (
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
)

// Where something comes between two texts, | here, the second goes on with the first in the middle of a
// sentence and of a block of code.
func TestGoesOn(t *testing.T) {
	for text, want := range map[string]bool{
		"The command| has run.":           true,
		"The com|mand has run.":           true,
		"The command |Has run.":           true,
		"I wait.| It takes long.":         true,
		"one,|two":                        true,
		"日本|語":                            true,
		"I fix the typo.|The typo":        false,
		"I wait for it|Now it is there":   false,
		"Done:|- one":                     false,
		"A line.\n|and another":           false,
		"A line.\n|  and another":         false,
		"A paragraph.|\n\nAnother":        false,
		"|The first":                      false,
		"```lua\nx = 1\n|Y = 2\n```":      true,
		"``|`lua\nx = 1\n":                false,
		"```lua\nx = 1\n```\n|Thus it is": false,
		"  ~~~\na\n|b":                    true,
		"`a` and```|More":                 false,
		"in 20|20":                        true,
		"a|":                              false,
		"| the first":                     false,
		"     ```\na\n|B":                 true,
		"      ```\na\n|B":                false, // too far to the right
	} {
		before, after, _ := strings.Cut(text, "|")
		for _, size := range []int{1, 1000} {
			var e ending
			for rest := before; rest != ""; {
				n := min(size, len(rest))
				e.add(rest[:n])
				rest = rest[n:]
			}
			if size == 1 && strings.Contains(text, "日") {
				continue // chunks are whole runes
			}
			check.Equal(t, e.goesOn(after), want, "%q goes on, in pieces of %d: %v", text, size)
		}
	}
}

// Without ids, what comes late of a call tears no sentence apart.
func TestSentenceAroundTheEndOfACall(t *testing.T) {
	p := begun(t,
		fakeagent.Update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","status":"in_progress"}`),
		fakeagent.Message("The command"),
		fakeagent.Update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`),
		fakeagent.Message(" has run."),
		fakeagent.Message("It is well."),
	)
	<-p.played
	c := NewConversation(func() (now time.Time) { return })
	for len(p.events) > 0 {
		if e, ok := (<-p.events).(updated); ok {
			c.Apply(e.Update)
		}
	}
	var said []string
	for _, e := range c.Entries {
		if m, ok := e.(*Message); ok {
			said = append(said, m.Text())
		}
	}
	if want := "The command has run.It is well."; strings.Join(said, "|") != want {
		t.Errorf("it said %q, want %q", said, want)
	}
}
