package events

import (
	"fmt"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// scene is a queue whose conditions the test sets.
type scene struct {
	*Queue
	t        *testing.T
	listed   map[*session.ToolCall]bool
	drawn    bool
	recorded int
}

func newScene(t *testing.T) *scene {
	s := &scene{t: t, listed: map[*session.ToolCall]bool{}, drawn: true}
	s.Queue = New(Config{
		Session: 7, Listed: func(c *session.ToolCall) bool { return s.listed[c] }, Drawn: func() bool { return s.drawn },
		Recorded: func(end int) bool { return end <= s.recorded },
	})
	return s
}

// due fails the test unless these events are due, with their session and "of".
func (s *scene) due(want ...string) {
	s.t.Helper()
	var got []string
	for _, e := range s.Take() {
		name := e.Name
		if of := e.Data["of"]; of != nil {
			name += fmt.Sprint(" ", of)
		}
		if got = append(got, name); e.Data["session"] != 7 {
			s.t.Errorf("%s is of session %v", name, e.Data["session"])
		}
	}
	check.Slice(s.t, got, want, "due are %q")
}

func of(what any) map[string]any { return map[string]any{"of": what} }

func TestCallsWaitUntilTheyAreListed(t *testing.T) {
	s := newScene(t)
	one, two := &session.ToolCall{ID: "1"}, &session.ToolCall{ID: "2"}
	s.Add("Before", nil)
	s.AddCall("AcpToolCall", one, of(1))
	s.AddCall("AcpToolCall", two, of(2))
	s.Add("After", nil)
	s.due("Before")
	s.listed[two] = true
	s.due()
	s.listed[one] = true
	s.due("AcpToolCall 1", "AcpToolCall 2", "After")
}

func TestTheEndOfATurnWaits(t *testing.T) {
	s := newScene(t)
	s.drawn = false
	s.AddEnd(1, nil)
	s.Add("AcpTurnStart", nil)
	s.due()
	s.drawn = true
	s.due()
	s.drawn, s.recorded = false, 1
	s.due()
	if !s.Ending() {
		t.Error("it has forgotten the end")
	}
	s.drawn = true
	s.due("AcpTurnEnd", "AcpTurnStart")
	if s.Ending() {
		t.Error("it has an end left")
	}
}

// A change comes before the first end that waits for the record, and so after one that waits for the chat alone.
func TestChangesComeBeforeTheEndOfTheirTurn(t *testing.T) {
	s := newScene(t)
	s.drawn, s.recorded = false, 1
	s.AddEnd(1, of(1))
	s.Add("AcpTurnStart", nil)
	s.AddEnd(2, of(2))
	s.Add("AcpTurnStart", nil)
	s.AddChanges([]map[string]any{of("a")})
	s.AddChanges([]map[string]any{of("b")})
	s.recorded = 2
	s.AddChanges([]map[string]any{of("later")})
	s.drawn = true
	s.due("AcpTurnEnd 1", "AcpTurnStart", "AcpFileChanged a", "AcpFileChanged b", "AcpTurnEnd 2", "AcpTurnStart", "AcpFileChanged later")
}
