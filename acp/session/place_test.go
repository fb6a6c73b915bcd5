package session

import (
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestWhatIsSaidOfAPlaceBesideItsFields(t *testing.T) {
	fork := `"jetbrains":{"air":{"fork":{"version":1,"messageId":"m1"}}}`
	words := `"systemPrompt":{"append":"prefer these"}`
	for _, c := range []struct {
		instructions, after, want string
	}{
		{"", "", ""},
		{"prefer these", "", "{" + words + "}"},
		{"", "m1", "{" + fork + "}"},
		{"prefer these", "m1", "{" + fork + "," + words + "}"},
	} {
		check.Equal(t, string(Place{Instructions: c.instructions}.meta(c.after)), c.want,
			"with %q, after %q: %s", c.instructions, c.after)
	}
}

func TestAMessageThatBeganWithoutWordsHasTheAgentsID(t *testing.T) {
	c := NewConversation(time.Now)
	c.Apply(MessagePatch{MessageID: "m1", Role: RoleAgent})
	c.Apply(MessageChunk{MessageID: "m1", Wire: "wire-1", Role: RoleAgent, Content: Text{Text: "Hello"}})
	check.Equal(t, c.Entries[0].(*Message).Wire, "wire-1", "its id is %q")
}
