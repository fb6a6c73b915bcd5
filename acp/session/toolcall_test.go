package session

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/wire"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A call has worked as long as it has not waited for the user's answer, of which there may be several at once.
func TestHowLongACallHasWaited(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	for name, c := range map[string]struct {
		call           ToolCall
		worked, waited time.Duration // in seconds, ten after it was told of
	}{
		"runs":                  {ToolCall{started: start}, 10, 0},
		"has waited":            {ToolCall{started: start, waited: 3 * time.Second}, 7, 3},
		"waits":                 {ToolCall{started: start, waited: 3 * time.Second, asked: 1, askedAt: at(6)}, 3, 7},
		"has ended":             {ToolCall{started: start, waited: 3 * time.Second, ended: at(8)}, 5, 3},
		"has ended as it waits": {ToolCall{started: start, asked: 1, askedAt: at(2), ended: at(8)}, 2, 6},
	} {
		if worked, waited := c.call.Elapsed(at(10)), c.call.Waited(at(10)); worked != c.worked*time.Second || waited != c.waited*time.Second {
			t.Errorf("%s: it has worked for %v and waited for %v", name, worked, waited)
		}
	}
}

// What a server's tool has given is shown from the output, unless the agent gives it as content.
func TestResultsOfServersTools(t *testing.T) {
	output := json.RawMessage(`{"result":{"content":[{"type":"text","text":"done"}]}}`)
	bare := ToolCall{Name: "mcp__srv__do", Kind: KindRead, RawOutput: output}
	bare.knowMCP()
	told := ToolCall{Name: "mcp__srv__do", Kind: KindRead, RawOutput: output, Content: []ToolCallContent{ContentItem{Content: Text{Text: "done"}}}}
	told.knowMCP()
	other := ToolCall{Name: "do", Kind: KindRead, RawOutput: output}
	other.knowMCP()
	if bare.Kind != KindOther || told.Kind != KindOther || other.Kind != KindRead {
		t.Errorf("they are %s, %s and %s", bare.Kind, told.Kind, other.Kind)
	}
	if len(bare.result) == 0 || len(told.result)+len(other.result) > 0 {
		t.Errorf("their results are %v, %v and %v", bare.result, told.result, other.result)
	}
}

// Which system prompts an agent takes is what it says.
func TestSystemPromptsThatAgentsTake(t *testing.T) {
	for text, want := range map[string][2]bool{"null": {}, "{}": {true, false}, `{"mode":{}}`: {true, false}, `{"mode":{"override":{}}}`: {true, true}} {
		var c *wire.SessionSystemPromptCapabilities
		must.Do(t, json.Unmarshal([]byte(text), &c))
		var i Info
		if i.takeSystemPrompt(c); i.SystemPrompt != want[0] || i.OwnSystemPrompt != want[1] {
			t.Errorf("%s: %v, its own %v", text, i.SystemPrompt, i.OwnSystemPrompt)
		}
	}
}
