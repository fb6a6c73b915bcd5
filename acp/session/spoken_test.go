package session

import (
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// What a sub-agent says stands in its call, by its messages, and nothing of it among its parent's words.
func TestSubagentsSpeakInTheirCalls(t *testing.T) {
	c := NewConversation(time.Now)
	says := func(id, text string, role Role) {
		c.Apply(MessageChunk{MessageID: id, Of: "sub", Role: role, Content: Text{Text: text}})
	}
	wants := func(when string, words ...string) {
		t.Helper()
		var want []ToolCallContent
		for _, text := range words {
			want = append(want, ContentItem{Text{Text: text}})
		}
		check.Deep(t, c.ToolCall("sub").Content, want, "%s the call has %+v", when)
	}
	c.Apply(ToolCallPatch{ID: "sub", Title: acp.Set("Look around")})
	says("1", "I ", RoleAgent)
	says("2", "Hm.", RoleThought)
	says("1", "look.", RoleAgent)
	says("3", "Found.", RoleAgent)
	wants("spoken in chunks,", "I look.", "Found.")
	c.Apply(MessagePatch{MessageID: "1", Of: "sub", Role: RoleAgent, Content: []Content{Text{Text: "I looked."}}})
	wants("with a message replaced", "I looked.", "Found.")
	c.Apply(MessagePatch{MessageID: "1", Of: "sub", Role: RoleAgent, Content: []Content{Text{Text: "I looked"}, Text{Text: " twice."}}})
	wants("with a message replaced by two blocks", "I looked twice.", "Found.")
	c.Apply(ToolCallPatch{ID: "sub", Content: acp.Set([]ToolCallContent{ContentItem{Text{Text: "its result"}}})})
	says("1", " Again.", RoleAgent)
	wants("with its result,", "its result", " Again.")
	says("1", " And again.", RoleAgent)
	wants("with more below its result,", "its result", " Again. And again.")
	check.Equal(t, len(c.Entries), 1, "there are %d entries")
	// Of a call that nobody has told of the words are not lost.
	c.Apply(MessageChunk{MessageID: "1", Of: "unknown", Role: RoleAgent, Content: Text{Text: "Hello."}})
	check.Equal(t, len(c.Entries), 2, "with words of an unknown one there are %d entries")
}
