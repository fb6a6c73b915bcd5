package session

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
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

// The user's words go beside the agent's own instructions or instead of them, and none are not sent.
func TestSystemPromptsAsTheyAreSent(t *testing.T) {
	for p, want := range map[SystemPrompt]string{
		{}: "null", {Own: true}: "null",
		{Text: "be brief"}:            `{"content":[{"text":"be brief","type":"text"}],"mode":"append"}`,
		{Text: "be brief", Own: true}: `{"content":[{"text":"be brief","type":"text"}],"mode":"override"}`,
	} {
		check.Equal(t, sent(t, p.wire()), want, "%+v: sent is %s", p)
	}
}

// Either version gets the servers of the kinds that it has, with all that they need.
func TestServersOfEachVersion(t *testing.T) {
	list := []MCPServer{
		{Name: "h", Type: "http", URL: "https://h", Headers: []Pair{{"A", "1"}}}, {Name: "e", Type: "sse", URL: "https://e", Headers: []Pair{{"B", "2"}}},
		{Name: "s", Type: "stdio", Command: "/bin/s", Args: []string{"-x"}, Env: []Pair{{"C", "3"}}},
	}
	http := `{"headers":[{"name":"A","value":"1"}],"name":"h","type":"http","url":"https://h"}`
	sse := `{"headers":[{"name":"B","value":"2"}],"name":"e","type":"sse","url":"https://e"}`
	stdio := `{"args":["-x"],"command":"/bin/s","env":[{"name":"C","value":"3"}],"name":"s"`
	first, second := sent(t, toServers(list)), sent(t, toServersV2(list))
	check.Equal(t, first, "["+http+","+sse+","+stdio+"}]", "version 1 gets %s")
	check.Equal(t, second, "["+http+","+stdio+`,"type":"stdio"}]`, "version 2 gets %s")
}

// Blocks of a prompt are sent with all that they have; what only agents send is empty.
func TestBlocksAsTheyAreSent(t *testing.T) {
	for _, c := range []struct {
		block Content
		want  string
	}{
		{Text{"a"}, `{"text":"a","type":"text"}`},
		{Image{"image/png", "AA==", "file:///a"}, `{"data":"AA==","mimeType":"image/png","type":"image","uri":"file:///a"}`},
		{Audio{"audio/wav", "AA=="}, `{"data":"AA==","mimeType":"audio/wav","type":"audio"}`},
		{ResourceLink{"file:///a", "a", "A", "text/plain", "first", 0, ""},
			`{"description":"first","mimeType":"text/plain","name":"a","title":"A","type":"resource_link","uri":"file:///a"}`},
		{Resource{"file:///a", "text/plain", "t", ""},
			`{"resource":{"mimeType":"text/plain","text":"t","uri":"file:///a"},"type":"resource"}`},
		{Resource{"file:///a", "image/png", "", "AA=="},
			`{"resource":{"blob":"AA==","mimeType":"image/png","uri":"file:///a"},"type":"resource"}`},
		{ForAgent{Text{"a"}}, `{"text":"","type":"text"}`},
		{UnknownContent{Type: "smell"}, `{"text":"","type":"text"}`},
	} {
		check.Equal(t, sent(t, toBlocks([]Content{c.block})), "["+c.want+"]", "%+v is sent as %s", c.block)
	}
}

// sent is a value as it is sent, its fields in alphabetical order.
func sent(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	must.Do(t, err)
	var plain any
	must.Do(t, json.Unmarshal(data, &plain))
	data, err = json.Marshal(plain)
	must.Do(t, err)
	return string(data)
}

func TestAMessageThatBeganWithoutWordsHasTheAgentsID(t *testing.T) {
	c := NewConversation(time.Now)
	c.Apply(MessagePatch{MessageID: "m1", Role: RoleAgent})
	c.Apply(MessageChunk{MessageID: "m1", Wire: "wire-1", Role: RoleAgent, Content: Text{Text: "Hello"}})
	check.Equal(t, c.Entries[0].(*Message).Wire, "wire-1", "its id is %q")
}
