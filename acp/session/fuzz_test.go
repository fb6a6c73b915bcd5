package session

import (
	"encoding/json"
	"strings"
	"testing"
)

// silent is a client that does nothing.
type silent struct{ Client }

func (silent) Update(string, Update) {}

// FuzzUpdate checks that no update of either version makes the adapters or the model panic.
func FuzzUpdate(f *testing.F) {
	for _, u := range []string{
		call("tool_call", full),
		call("tool_call_update", `"title":null,"content":[{"type":"diff","changes":[{"operation":"move","path":"/a","oldPath":"/b"},{"operation":"_x"}],"patch":{"format":"git_patch","text":"diff --git /a /b\nrename from /a\nrename to /b\n"}}]`),
		call("tool_call_update", `"_meta":{"terminal_info":{"terminal_id":"x"},"terminal_output":{"data":"a"},"terminal_exit":{"exit_code":1},"claudeCode":{"parentToolUseId":"c"}}`),
		call("tool_call_content_chunk", `"content":{"type":"terminal","terminalId":"t"}`),
		`{"sessionUpdate":"terminal_update","terminalId":"t","output":{"data":"YQ=="},"size":{"cols":1,"rows":1},"exitStatus":{"exitCode":1}}`,
		`{"sessionUpdate":"subagent_update","sessionId":"k","title":null,"cwd":"/a","capabilities":{"cancel":{}},"state":{"state":"running"}}`,
		`{"sessionUpdate":"session_message","messageId":"m","senderSessionId":"s","content":[{"type":"text","text":"a"}]}`,
		`{"sessionUpdate":"session_message_chunk","messageId":"m","content":{"type":"text","text":"a"}}`,
		`{"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"p","content":"a"}}`,
		`{"sessionUpdate":"plan_removed","planId":"p"}`,
		`{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"YQ"}`,
	} {
		f.Add([]byte(u))
	}
	f.Fuzz(func(t *testing.T, update []byte) {
		params := json.RawMessage(`{"sessionId":"s","update":` + string(update) + `}`)
		if !json.Valid(params) {
			return // the connection does not deliver it
		}
		c := NewConversation((&clock{}).now)
		c.Apply(start("p"))
		client := applying{silent{}, c}
		NewV1(client, "1", nil).HandleNotification("session/update", params)
		NewV2(client).HandleNotification("session/update", params)
		c.Apply(end)
		for _, call := range c.Calls {
			if call.turn == c.turn && !call.Shown().Finished() {
				t.Errorf("%s goes on after the turn", call.ID)
			}
		}
	})
}

// applying is a client that applies what it is told.
type applying struct {
	silent
	c *Conversation
}

func (a applying) Update(_ string, u Update) { a.c.Apply(u) }

// FuzzDeal checks that no patch makes the splitter panic, and that a change gets nothing but sections.
func FuzzDeal(f *testing.F) {
	f.Add("diff --git /p/a /p/a\nindex 1..2 100644\n--- /p/a\n+++ /p/a\n@@ -1 +1 @@\n-x\n+y\n")
	f.Add("diff --git \"/p/\\303\\251\" /p/a\nsimilarity index 9%\nrename from \"/p/\\303\\251\"\nrename to /p/a\n")
	f.Add("diff --git a//p/a b//p/a\ndeleted file mode 100644\n--- a//p/a\n+++ /dev/null\n")
	f.Add("--- /p/a\n+++ /p/a\n@@ -1 +1 @@\n-x\n+y")
	f.Add("diff --git x \"")
	f.Fuzz(func(t *testing.T, patch string) {
		changes := []Diff{{Operation: OperationModify, Path: "/p/a"}, {Operation: OperationDelete, Path: "/p/b"}}
		deal(patch, changes)
		for _, d := range changes {
			if d.Patch != "" && !strings.HasPrefix(d.Patch, "diff --git ") {
				t.Errorf("%s gets %q", d.Path, d.Patch)
			}
		}
	})
}
