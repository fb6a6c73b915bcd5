package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
)

// handled are the updates that a client is told of when these came, in one session.
func handled(t *testing.T, handler func(Client) acp.Handler, updates ...string) []Update {
	t.Helper()
	r := &recorder{events: make(chan any, 8*len(updates))}
	h := handler(r)
	for _, u := range updates {
		h.HandleNotification("session/update", json.RawMessage(`{"sessionId":"s1","update":`+u+`}`))
	}
	close(r.events)
	var told []Update
	for e := range r.events {
		told = append(told, e.(updated).Update)
	}
	return told
}

func byV1(c Client) acp.Handler { return NewV1(c, "1", nil) }
func byV2(c Client) acp.Handler { return NewV2(c) }

func code(n int) TerminalExit { return TerminalExit{Code: &n} }

// What agents tell of their own terminals in the _meta of tool calls.
func TestTerminalsInMeta(t *testing.T) {
	update := func(fields string) string {
		return `{"sessionUpdate":"tool_call_update","toolCallId":"c"` + fields + `}`
	}
	chunk := func(text string) TerminalChunk { return TerminalChunk{ID: "x", Data: []byte(text), Plain: true} }
	patch := func(p ToolCallPatch) ToolCallPatch { p.ID = "c"; return p }
	shown := acp.Set([]ToolCallContent{TerminalRef{"x"}})
	none := patch(ToolCallPatch{})
	for name, test := range map[string]struct {
		updates []string
		want    []Update
	}{
		"codex announces, streams and ends": {
			[]string{
				`{"sessionUpdate":"tool_call","toolCallId":"c","title":"make","rawInput":{"command":"make","cwd":"/p"},"content":[{"type":"terminal","terminalId":"x"}],` +
					`"_meta":{"terminal_info":{"cwd":"/p","terminal_id":"x"}}}`,
				update(`,"_meta":{"terminal_output":{"data":"one\n","terminal_id":"x"}}`),
				update(`,"status":"completed","_meta":{"terminal_output":{"data":"two\n","terminal_id":"x"},"terminal_exit":{"exit_code":0,"signal":null,"terminal_id":"x"}}`),
			},
			[]Update{
				TerminalPatch{ID: "x", Command: acp.Set("make"), Cwd: acp.Set("/p"), Plain: true},
				patch(ToolCallPatch{Title: acp.Set("make"), RawInput: acp.Set(json.RawMessage(`{"command":"make","cwd":"/p"}`)), Content: shown}),
				chunk("one\n"), none,
				chunk("two\n"), TerminalPatch{ID: "x", Exit: acp.Set(code(0)), Plain: true}, patch(ToolCallPatch{Status: acp.Set(StatusCompleted)}),
			},
		},
		"no end but the call's": {
			[]string{
				update(`,"rawInput":{"command":["bash","-lc","make all"]},"_meta":{"terminal_info":{"terminal_id":"x"}}`),
				update(`,"status":"failed","rawOutput":{"exit_code":2}`),
				update(`,"status":"failed"`),
			},
			[]Update{
				TerminalPatch{ID: "x", Command: acp.Set("make all"), Plain: true},
				patch(ToolCallPatch{RawInput: acp.Set(json.RawMessage(`{"command":["bash","-lc","make all"]}`))}),
				TerminalPatch{ID: "x", Exit: acp.Set(code(2)), Plain: true},
				patch(ToolCallPatch{Status: acp.Set(StatusFailed), RawOutput: acp.Set(json.RawMessage(`{"exit_code":2}`))}),
				patch(ToolCallPatch{Status: acp.Set(StatusFailed)}),
			},
		},
		"the command as a list": {
			[]string{update(`,"rawInput":{"command":["echo","it's","a b"]},"_meta":{"terminal_info":{"terminal_id":"x"}}`)},
			[]Update{
				TerminalPatch{ID: "x", Command: acp.Set(`echo 'it'\''s' 'a b'`), Plain: true},
				patch(ToolCallPatch{RawInput: acp.Set(json.RawMessage(`{"command":["echo","it's","a b"]}`))}),
			},
		},
		"the command of another shell": {
			[]string{update(`,"rawInput":{"command":["/bin/sh","-c","make all"]},"_meta":{"terminal_info":{"terminal_id":"x"}}`)},
			[]Update{
				TerminalPatch{ID: "x", Command: acp.Set("make all"), Plain: true},
				patch(ToolCallPatch{RawInput: acp.Set(json.RawMessage(`{"command":["/bin/sh","-c","make all"]}`))}),
			},
		},
		"claude says the command later, and everything at the end": {
			[]string{
				update(`,"rawInput":{},"content":[{"type":"terminal","terminalId":"x"}],"_meta":{"claudeCode":{"toolName":"Bash"},"terminal_info":{"terminal_id":"x"}}`),
				update(`,"rawInput":{"command":"ls"}`),
				update(`,"_meta":{"terminal_output":{"terminal_id":"x","data":"a\nb"}}`),
				update(`,"status":"failed","_meta":{"terminal_exit":{"terminal_id":"x","exit_code":null,"signal":"SIGINT"}}`),
				update(`,"rawInput":{"command":"ls"}`),
			},
			[]Update{
				TerminalPatch{ID: "x", Plain: true},
				patch(ToolCallPatch{RawInput: acp.Set(json.RawMessage(`{}`)), Content: shown,
					Meta: acp.Set(map[string]json.RawMessage{"claudeCode": json.RawMessage(`{"toolName":"Bash"}`)})}),
				TerminalPatch{ID: "x", Command: acp.Set("ls"), Plain: true},
				patch(ToolCallPatch{RawInput: acp.Set(json.RawMessage(`{"command":"ls"}`))}),
				chunk("a\nb"), none,
				TerminalPatch{ID: "x", Exit: acp.Set(TerminalExit{Signal: "SIGINT"}), Plain: true}, patch(ToolCallPatch{Status: acp.Set(StatusFailed)}),
				patch(ToolCallPatch{RawInput: acp.Set(json.RawMessage(`{"command":"ls"}`))}),
			},
		},
		"a delta without being asked": {
			[]string{update(`,"_meta":{"terminal_output_delta":{"data":"a","terminal_id":"x"}}`)},
			[]Update{chunk("a"), none},
		},
		"all in one": {
			[]string{update(`,"_meta":{"terminal_exit":{"exit_code":-1,"terminal_id":"x"},"terminal_output_delta":{"data":"b","terminal_id":"x"},` +
				`"terminal_output":{"data":"a","terminal_id":"x"},"terminal_info":{"terminal_id":"x","command":"make","cwd":"/p"},"more":1}`)},
			[]Update{
				TerminalPatch{ID: "x", Command: acp.Set("make"), Cwd: acp.Set("/p"), Plain: true}, chunk("a"), chunk("b"),
				TerminalPatch{ID: "x", Exit: acp.Set(code(-1)), Plain: true},
				patch(ToolCallPatch{Meta: acp.Set(map[string]json.RawMessage{"more": json.RawMessage("1")})}),
			},
		},
		"without an id it is the call's": {
			[]string{update(`,"_meta":{"terminal_output_delta":{"data":"a"}}`)},
			[]Update{TerminalChunk{ID: "c", Data: []byte("a"), Plain: true}, none},
		},
		"malformed": {
			[]string{
				update(`,"_meta":{"terminal_info":"x","terminal_output":{"terminal_id":"x"},"terminal_output_delta":{"terminal_id":"x","data":7},"terminal_exit":[]}`),
				update(`,"_meta":{"terminal_exit":{"terminal_id":"x","exit_code":"0","signal":9}}`),
				update(`,"_meta":null`), update(`,"_meta":[]`),
			},
			[]Update{none, TerminalPatch{ID: "x", Exit: acp.Set(TerminalExit{}), Plain: true}, none, none, none},
		},
		"no output": {[]string{update(`,"_meta":{"terminal_output":{"data":"","terminal_id":"x"}}`)}, []Update{none}},
		"a command of a call without a terminal": {
			[]string{update(`,"rawInput":{"command":"ls"}`)}, []Update{patch(ToolCallPatch{RawInput: acp.Set(json.RawMessage(`{"command":"ls"}`))})},
		},
	} {
		t.Run(name, func(t *testing.T) {
			check.Deep(t, handled(t, byV1, test.updates...), test.want, "told\n%+v")
		})
	}
}

// Output of a terminal changes nothing of its call, and does not come between
// the chunks of a message.
func TestOutputDisturbsNothing(t *testing.T) {
	const output = `{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"terminal_output":{"terminal_id":"c","data":"x"}}}`
	const said = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}`
	c := applied(start("p"))
	apply := func(updates []Update) {
		for _, u := range updates {
			c.Apply(u)
		}
	}
	told := handled(t, byV1, `{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","status":"completed"}`, said, output, said)
	apply(told[:2])
	c.TakeChanged()
	apply(told[2:])
	check.Equal(t, outline(c), lines(`user "p"`, "call c other completed", `agent "aa"`), "got:\n%s")
	check.Deep(t, c.TakeChanged(), []int{2}, "changed %v")
	apply(handled(t, byV1, strings.ReplaceAll(output, `"toolCallId":"c"`, `"toolCallId":"d"`)))
	if call := c.ToolCall("d"); call == nil || call.Meta != nil {
		t.Errorf("a call that output names first: %+v", call)
	}
}

// A call that begins with its terminal comes between what is said, as any other does.
func TestACallWithItsTerminalComesBetween(t *testing.T) {
	const said = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}`
	const call = `{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","_meta":{"terminal_info":{"terminal_id":"x"}}}`
	c := applied(start("p"))
	for _, u := range handled(t, byV1, said, call, said) {
		c.Apply(u)
	}
	check.Equal(t, outline(c), lines(`user "p"`, `agent "a"`, "call c other pending", `agent "a"`), "got:\n%s")
}

// A request for permission may be where a terminal is told of.
func TestTerminalInPermission(t *testing.T) {
	p := begun(t, fakeagent.Request(7, "session/request_permission",
		`{"sessionId":"s1","toolCall":{"toolCallId":"c","_meta":{"terminal_info":{"terminal_id":"x"}}},"options":[]}`), fakeagent.Answer(7))
	check.Deep(t, next[updated](p).Update, TerminalPatch{ID: "x", Plain: true}, "told %+v")
	next[PermissionRequest](p).Reply("")
}

func TestParentInMeta(t *testing.T) {
	for meta, want := range map[string]acp.Opt[string]{
		`{"claudeCode":{"parentToolUseId":"p"}}`:                 acp.Set("p"),
		`{"claudeCode":{"toolName":"Read"}}`:                     {},
		`{"claudeCode":{"toolName":7,"parentToolUseId":"p"}}`:    acp.Set("p"),
		`{"claudeCode":{"parentToolUseId":null}}`:                {},
		`{"claudeCode":{"parentToolUseId":["p"]}}`:               {},
		`{"claudeCode":"p"}`:                                     {},
		`{"claudeCode":{"parentToolUseId":""},"parent":"other"}`: {},
		`null`: {},
	} {
		update := `{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":` + meta + `}`
		for name, handler := range map[string]func(Client) acp.Handler{"v1": byV1, "v2": byV2} {
			check.Equal(t, handled(t, handler, update)[0].(ToolCallPatch).Parent, want, "%s, %s: %+v", name, meta)
		}
	}
}

// What a sub-agent says is no part of what another one says.
func TestRunsOfSubAgents(t *testing.T) {
	chunk := func(parent string) string {
		return `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"_meta":{"claudeCode":{"parentToolUseId":` + parent + `}}}`
	}
	below := func(id, parent string) string {
		return fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%q,"title":"t","_meta":{"claudeCode":{"parentToolUseId":%q}}}`, id, parent)
	}
	var ids []string
	for _, u := range handled(t, byV1, chunk("null"), chunk(`"p"`), chunk(`"p"`), chunk(`"q"`), chunk("null"),
		chunk(`"p"`), below("c", "q"), chunk(`"p"`), below("d", "p"), chunk(`"p"`)) {
		if m, ok := u.(MessageChunk); ok {
			ids = append(ids, m.MessageID)
		}
	}
	check.Equal(t, strings.Join(ids, " "), "1 2 2 3 4 5 5 6", "messages %s")
}

// Words are quoted for a shell where they need to be.
func TestQuotedWords(t *testing.T) {
	const plain = "azAZ09-_./=:,@%+"
	check.Equal(t, Quoted([]string{plain, "-x"}), plain+" -x", "plain words are %s")
	check.Equal(t, Quoted([]string{"", "a b", "it's"}), `'' 'a b' 'it'\''s'`, "others are %s")
	check.Equal(t, Quoted(nil), "", "none are %q")
	for _, odd := range "`{[@/:;<>|&$(){}*?#~\"\\!é\n" {
		if quoted := Quoted([]string{"a" + string(odd)}); !strings.ContainsRune(plain, odd) {
			check.Equal(t, quoted, "'a"+string(odd)+"'", "it is %s")
		}
	}
}
