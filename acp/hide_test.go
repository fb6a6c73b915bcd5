package acp

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

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
		check.Equal(t, string(traffic.Entries()[i].Msg), want, "recorded is %s")
	}
	traffic.Hide([]string{"another", "sixsix", "sixsix and more", "five5"})
	traffic.Unhide([]string{"long \"secret\"", "unknown"})
	traffic.record(AgentToClient, []byte(`{"text":"a long \"secret\" and another"}`))
	check.Equal(t, string(traffic.Entries()[2].Msg), `{"text":"a long \"secret\" and ***"}`,
		"when one is no secret any more, recorded is %s")

	// One may be in another, and the least that is hidden everywhere has six bytes.
	traffic.record(AgentToClient, []byte(`{"text":"sixsix and more, sixsix and five5"}`))
	check.Equal(t, string(traffic.Entries()[3].Msg), `{"text":"***, *** and five5"}`, "recorded is %s")
	traffic.Unhide([]string{"sixsix"})
	traffic.record(AgentToClient, []byte(`{"text":"sixsix and more, sixsix"}`))
	check.Equal(t, string(traffic.Entries()[4].Msg), `{"text":"***, sixsix"}`, "recorded is %s")
}
