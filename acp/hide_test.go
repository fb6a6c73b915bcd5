package acp

import "testing"

// What is hidden stands in no record: a short value only where it is one of an MCP server's.
func TestHiddenInTraffic(t *testing.T) {
	traffic := NewTraffic(0)
	traffic.Hide([]string{"long \"secret\"", "1", ""})
	traffic.record(ClientToAgent, []byte(`{"params":{"mcpServers":[{"n":1,"value":"1"},{"value":"long \"sec`), []byte(`ret\""}]}}`))
	traffic.record(AgentToClient, []byte(`{"text":"a long \"secret\" in words","value":"1"}`))
	for i, want := range []string{
		`{"params":{"mcpServers":[{"n":1,"value":"***"},{"value":"***"}]}}`,
		`{"text":"a *** in words","value":"1"}`,
	} {
		if got := string(traffic.Entries()[i].Msg); got != want {
			t.Errorf("recorded is %s", got)
		}
	}
	traffic.Hide([]string{"another"})
	traffic.Unhide([]string{"long \"secret\"", "unknown"})
	traffic.record(AgentToClient, []byte(`{"text":"a long \"secret\" and another"}`))
	if got := string(traffic.Entries()[2].Msg); got != `{"text":"a long \"secret\" and ***"}` {
		t.Errorf("when one is no secret any more, recorded is %s", got)
	}
}
