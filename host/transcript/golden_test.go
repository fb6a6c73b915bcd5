package transcript

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

var update = flag.Bool("update", false, "write the golden file anew; look at what changed")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const golden = "testdata/golden.txt"

// call makes patches of the tool call "c".
func call(kind session.ToolKind, status session.ToolCallStatus, title string, content ...session.ToolCallContent) session.ToolCallPatch {
	return session.ToolCallPatch{
		ID: "c", Kind: acp.Set(kind), Status: acp.Set(status), Title: acp.Set(title), Content: acp.Set(content),
	}
}

func at(p session.ToolCallPatch, path string, line int) session.ToolCallPatch {
	p.Locations = acp.Set([]session.Location{{Path: path, Line: line}})
	return p
}

func output(text string) session.ToolCallContent {
	return session.ContentItem{Content: session.Text{Text: text}}
}

func change(path, old, text string) session.ToolCallContent {
	return session.Diff{Operation: session.OperationModify, Path: path, OldText: &old, NewText: &text}
}

func ptr(s string) *string { return &s }

func prompt(blocks ...session.Content) session.Update { return session.TurnStart{Prompt: blocks} }

func thinks(text string) session.Update {
	return session.MessageChunk{MessageID: "t", Role: session.RoleThought, Content: session.Text{Text: text}}
}

func numbers(from, to int, format string) string {
	var b strings.Builder
	for n := from; n <= to; n++ {
		fmt.Fprintf(&b, format+"\n", n)
	}
	return b.String()
}

const openAll, closeAll = "(open)", "(closed)"

// The cases of the golden file. A name that ends with openAll or closeAll is
// drawn as if the user had opened or closed all blocks.
func cases() []struct {
	name    string
	updates []session.Update
} {
	type test = struct {
		name    string
		updates []session.Update
	}
	text := func(s string) session.Content { return session.Text{Text: s} }
	input := call(session.KindFetch, session.StatusCompleted, "Fetch")
	input.RawInput = acp.Set(json.RawMessage(`{"url":"http://a?b=1&c=<2>","depth":{"max":3}}`))
	two := call(session.KindEdit, session.StatusCompleted, "Rename",
		change("/project/a.go", "old()\n", "renamed()\n"), change("/other/b.go", "x\nold()\n", "x\nrenamed()\n"))
	long := change("/project/a.go", numbers(1, 30, "line %d"), numbers(1, 9, "line %d")+"new\n"+numbers(11, 19, "line %d")+numbers(20, 30, "changed %d"))
	created := session.Diff{Operation: session.OperationAdd, Path: "/project/new.go", NewText: ptr("package a\n\nfunc a() {}\n")}
	named := session.ToolCallPatch{ID: "c", Name: acp.Set("mcp__search\nall"), Status: acp.Set(session.StatusInProgress)}

	died := session.TurnEnd{StopReason: session.StopError, Error: "It died.\nRestart it.", Detail: "exit code 3\nno memory"}
	failed := call(session.KindFetch, session.StatusFailed, "Fetch")
	failed.RawOutput = acp.Set(json.RawMessage(`{"error":"no route","code":7}`))
	todos := call(session.KindOther, session.StatusCompleted, "2 todos", output("[\n  {\n    \"content\": \"one\"\n  }\n]"))
	todos.RawInput = acp.Set(json.RawMessage(`{"todos":[{"content":"find it","status":"completed","priority":"medium"},
		{"content":"fix it","status":"in_progress"},{"content":"test it","status":"pending","priority":"high"}]}`))
	others := call(session.KindOther, session.StatusCompleted, "List", output("milk"))
	others.RawInput = acp.Set(json.RawMessage(`{"todos":[{"name":"milk"}]}`))
	exited := call(session.KindExecute, session.StatusCompleted, "make", output("one\ntwo"))
	exited.RawOutput = acp.Set(json.RawMessage(`{"metadata":{"exit":3}}`))
	places := call(session.KindSearch, session.StatusCompleted, "Look", output("one\ntwo"))
	places.Locations = acp.Set([]session.Location{{Path: "/project/a.go", Line: 7}, {Path: "/project/b.go"}, {Path: "/etc/hosts", Line: 1}})
	child := session.ToolCallPatch{ID: "d", Title: acp.Set("Read a.go"), Kind: acp.Set(session.KindRead), Status: acp.Set(session.StatusFailed),
		Parent: acp.Set("c"), Content: acp.Set([]session.ToolCallContent{output("no such file")})}

	tests := []test{
		{"a prompt", []session.Update{prompt(text("fix **this**\n\n```go\nx := 1\n```"))}},
		{"a prompt with attachments", []session.Update{prompt(
			text("see"),
			session.ResourceLink{URI: "file:///project/a.go", Name: "a.go"},
			session.Resource{URI: "file:///project/a.go#L1-2", Text: "one\ntwo\n"},
			session.Image{MimeType: "image/png", Data: strings.Repeat("A", 4000)},
			text("and this"))}},
		{"a message", []session.Update{says("# Title\n\nSome **bold** text with `code`:\n\n- one\n- [x] two\n\n```go\nx := 1\n```\nDone.\n\n")}},
		{"a message with other blocks", []session.Update{
			says("An image:"),
			session.MessageChunk{MessageID: "m", Role: session.RoleAgent, Content: session.Image{MimeType: "image/png", URI: "file:///a.png"}},
			session.MessageChunk{MessageID: "m", Role: session.RoleAgent, Content: session.Audio{MimeType: "audio/wav", Data: "AAAA"}},
			session.MessageChunk{MessageID: "m", Role: session.RoleAgent, Content: session.Resource{URI: "file:///blob", MimeType: "application/zip", Blob: strings.Repeat("A", 4<<20)}},
			session.MessageChunk{MessageID: "m", Role: session.RoleAgent, Content: session.UnknownContent{Type: "smell"}},
			says("the end")}},
		{"a whole turn", []session.Update{
			prompt(text("do it")), thinks("hm"), at(call(session.KindRead, session.StatusCompleted, "Read a.go"), "/project/a.go", 0),
			session.ToolCallPatch{ID: "d", Kind: acp.Set(session.KindSearch), Title: acp.Set("Search for x"), Status: acp.Set(session.StatusCompleted)},
			says("It is done."), session.TurnEnd{StopReason: session.StopEndTurn}, prompt(text("thanks"))}},

		{"a thought that goes on", []session.Update{thinks("first\n"), thinks("second")}},
		{"a thought that has ended", []session.Update{thinks("first"), says("so")}},
		{"a thought " + openAll, []session.Update{thinks("first\n\n**second**\n")}},

		{"a thought with a picture " + openAll, []session.Update{
			thinks("see"), session.MessageChunk{MessageID: "t", Role: session.RoleThought, Content: session.Image{MimeType: "image/png", URI: "file:///a.png"}}}},
		{"what is for the agent", []session.Update{
			says("Look:"), session.MessageChunk{MessageID: "m", Role: session.RoleAgent, Content: session.ForAgent{Content: text("one\ntwo")}},
			call(session.KindRead, session.StatusInProgress, "Read a.go", session.ContentItem{Content: session.ForAgent{Content: text("one\ntwo")}})}},
		{"what is for the agent " + openAll, []session.Update{
			call(session.KindRead, session.StatusInProgress, "Read a.go", session.ContentItem{Content: session.ForAgent{Content: text("one\ntwo")}})}},
		{"a link with a size", []session.Update{session.MessageChunk{
			MessageID: "m", Role: session.RoleAgent, Content: session.ResourceLink{URI: "https://a.b/c.zip", Name: "c.zip", Size: 3 << 20}}}},
		{"a link with all that is known", []session.Update{session.MessageChunk{
			MessageID: "m", Role: session.RoleAgent, Content: session.ResourceLink{
				URI: "https://a.b/c.zip", Name: "c.zip", Title: "All of it", Size: 3 << 10, Modified: "yesterday", Description: "[packed]\nby hand",
			}}}},
		{"a line for the agent", []session.Update{
			call(session.KindRead, session.StatusInProgress, "Read a.go", session.ContentItem{Content: session.ForAgent{Content: text("one")}})}},
		{"what a turn has cost", []session.Update{
			prompt(text("p")), session.UsageUpdate{Usage: session.Usage{Cost: &session.Cost{Amount: 0.0005, Currency: "EUR"}}},
			session.TurnEnd{StopReason: session.StopEndTurn}}},
		{"a turn that has cost next to nothing", []session.Update{
			prompt(text("p")), session.UsageUpdate{Usage: session.Usage{Cost: &session.Cost{Amount: 0.0004, Currency: "EUR"}}},
			session.TurnEnd{StopReason: session.StopEndTurn}}},
		{"what a turn has used " + openAll, []session.Update{
			prompt(text("p")), session.TurnTokens{Total: 12345, Input: 10000, Output: 2345, Thought: 300, Read: 8000, Written: 99},
			session.TurnEnd{StopReason: session.StopEndTurn}}},
		{"what a turn has used", []session.Update{
			prompt(text("p")), session.TurnTokens{Total: 12345, Input: 10000, Output: 2345}, session.TurnEnd{StopReason: session.StopEndTurn}}},
		{"what a turn has used without a cache " + openAll, []session.Update{
			prompt(text("p")), session.TurnTokens{Total: 12345, Input: 10000, Output: 2345}, session.TurnEnd{StopReason: session.StopEndTurn}}},
		{"an error with details", []session.Update{died}},
		{"an error with details " + openAll, []session.Update{died}},
		{"an emptied plan", []session.Update{
			says("before"), session.PlanUpdate{Entries: []session.PlanEntry{{Content: "do it"}}}, session.PlanUpdate{}, prompt(text("after"))}},
		{"a plan of words", []session.Update{session.PlanUpdate{Content: text("# Mend it\n\n1. look\n2. *mend*\n3. test\n4. tell\n5. rest")}}},
		{"a plan in a file", []session.Update{session.PlanUpdate{Content: session.ResourceLink{Name: "in a file", URI: "file:///project/plan.md"}}}},
		{"a plan that is taken back", []session.Update{
			session.PlanUpdate{ID: "p", Content: text("Mend it")}, session.PlanUpdate{ID: "p"},
			session.PlanUpdate{ID: "q", Content: text("Mend it")}, session.PlanUpdate{ID: "q", Content: text("Leave it")},
		}},
		{"a plan", []session.Update{session.PlanUpdate{Entries: []session.PlanEntry{
			{Content: "done", Priority: "high", Status: "completed"}, {Content: "doing\n this", Priority: "high", Status: "in_progress"},
			{Content: "to do", Priority: "low", Status: "pending"}, {Content: "whatever", Status: "stuck"}}}}},
		{"notices", []session.Update{
			session.Notice{Severity: "info", Title: "Update available"},
			session.Notice{Severity: "warning", Title: "Slow\nvery slow", Description: "because\nof this"},
			session.Notice{Severity: "error", Title: "Broken"}, session.Notice{Severity: "odd", Title: "Odd"}}},
		{"unknown updates", []session.Update{session.UnknownUpdate{Type: "weather"}, session.UnknownUpdate{Type: "tide"}, session.UnknownUpdate{Type: "tide"}}},
		{"compactions", []session.Update{
			session.CompactionPatch{ID: "1", Status: "in_progress"},
			session.CompactionPatch{ID: "2", Status: "completed", Summary: acp.Set([]session.Content{text("short")})},
			session.CompactionPatch{ID: "3", Status: "failed", Error: acp.Set("too long")},
			session.CompactionPatch{ID: "4", Status: "cancelled"}, session.CompactionPatch{ID: "5", Status: "postponed"}}},
		{"a compaction " + openAll, []session.Update{
			session.CompactionPatch{ID: "2", Status: "completed", Summary: acp.Set([]session.Content{text("short\nand good"), session.Image{MimeType: "image/png"}})}}},
	}
	for _, reason := range []session.StopReason{"cancelled", "max_tokens", "max_turn_requests", "refusal", "error", "bored"} {
		tests = append(tests, test{"stopped: " + string(reason), []session.Update{
			prompt(text("p")), session.TurnEnd{StopReason: reason, Error: "It died.\nRestart it."}}})
	}

	for _, status := range []session.ToolCallStatus{"pending", "in_progress", "paused", "completed", "failed", "cancelled", "asleep"} {
		tests = append(tests, test{"status " + string(status), []session.Update{call(session.KindRead, status, "Read a.go", output("text"))}})
	}
	for _, kind := range []session.ToolKind{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other", "dance"} {
		tests = append(tests, test{"kind " + string(kind), []session.Update{call(kind, session.StatusCompleted, "The title", output("the result"))}})
	}
	asked := session.Waiting{ToolCallID: "c", Open: true}
	return append(tests, []test{
		{"waiting", []session.Update{call(session.KindExecute, session.StatusPending, "`make all`"), asked}},
		{"refused", []session.Update{call(session.KindExecute, session.StatusPending, "`make all`"), asked, session.Waiting{ToolCallID: "c", Rejected: true}}},

		{"titles: a verb is said once", []session.Update{at(call(session.KindRead, session.StatusCompleted, "Read /project/sub/a.go"), "/project/sub/a.go", 7)}},
		{"titles: the place is added", []session.Update{at(call(session.KindRead, session.StatusCompleted, "Look it up"), "/project/sub/a.go", 7)}},
		{"titles: the place instead of the kind", []session.Update{at(call(session.KindEdit, session.StatusCompleted, "edit"), "/project/sub/a.go", 7)}},
		{"titles: the place instead of any", []session.Update{at(call(session.KindEdit, session.StatusCompleted, "Edit files"), "/project/sub/a.go", 7)}},
		{"titles: elsewhere", []session.Update{at(call(session.KindRead, session.StatusCompleted, ""), "/etc/hosts", 0)}},
		{"titles: the project", []session.Update{at(call(session.KindExecute, session.StatusCompleted, "make all"), "/project", 0)}},
		{"titles: the end of a path", []session.Update{at(call(session.KindRead, session.StatusCompleted, "Read c/a.go"), "/project/b/c/a.go", 7)}},
		{"titles: a line is there", []session.Update{at(call(session.KindRead, session.StatusCompleted, "a.go:3"), "/project/a.go", 7)}},
		{"titles: a name for want of one", []session.Update{named}},
		{"titles: long ones are cut", []session.Update{call(session.KindExecute, session.StatusInProgress, strings.Repeat("é123456789", 8))}},
		{"titles: long ones " + openAll, []session.Update{call(session.KindExecute, session.StatusInProgress, strings.Repeat("é123456789", 8))}},
		{"titles: two lines", []session.Update{call(session.KindExecute, session.StatusInProgress, "cat <<EOF\n  text\nEOF")}},

		{"a diff", []session.Update{call(session.KindEdit, session.StatusCompleted, "a.go", change("/project/a.go", "a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\nf\n"), output("applied"))}},
		{"a diff that failed", []session.Update{call(session.KindEdit, session.StatusFailed, "a.go", change("/project/a.go", "a\n", "b\n"), output("no such text"))}},
		{"a new file", []session.Update{call(session.KindEdit, session.StatusCompleted, "new.go", created)}},
		{"a diff of nothing", []session.Update{call(session.KindEdit, session.StatusCompleted, "a.go", change("/project/a.go", "a\n", "a\n"))}},
		{"a diff without a last newline", []session.Update{call(session.KindEdit, session.StatusCompleted, "a.go", change("/project/a.go", "a", "a\n"))}},
		{"a diff whose call names no file", []session.Update{call(session.KindEdit, session.StatusCompleted, "Edit", change("/project/src/a.go", "a\n", "b\n"))}},
		{"without a kind and types", []session.Update{call("", session.StatusFailed, "x", session.UnknownItem{}, session.ContentItem{Content: session.UnknownContent{}})}},
		{"diffs of two files", []session.Update{two}},
		{"a long diff", []session.Update{call(session.KindEdit, session.StatusInProgress, "a.go", long)}},
		{"a long diff " + openAll, []session.Update{call(session.KindEdit, session.StatusInProgress, "a.go", long)}},
		{"a long diff " + closeAll, []session.Update{call(session.KindEdit, session.StatusInProgress, "a.go", long)}},

		{"output of a command: its end", []session.Update{call(session.KindExecute, session.StatusCompleted, "make", output("\n"+numbers(1, 9, "line %d")))}},
		{"output of another tool, running: its beginning", []session.Update{call(session.KindFetch, session.StatusInProgress, "page", output(numbers(1, 9, "line %d")))}},
		{"output of another tool, done", []session.Update{call(session.KindFetch, session.StatusCompleted, "page", output(numbers(1, 9, "line %d")))}},
		{"output of another tool, done " + openAll, []session.Update{call(session.KindFetch, session.StatusCompleted, "page", output(numbers(1, 9, "line %d")))}},
		{"output that is empty", []session.Update{call(session.KindExecute, session.StatusCompleted, "true", output("\n"))}},
		{"output in a fence", []session.Update{call(session.KindExecute, session.StatusCompleted, "ls", output("```console\na.go\n\nb.go\n```\n"))}},
		{"output in a fence with a language", []session.Update{call(session.KindRead, session.StatusInProgress, "x", output("```lua x\nreturn 1\n```"))}},
		{"output in a fence that does not end", []session.Update{call(session.KindExecute, session.StatusCompleted, "ls", output("```\na.go"))}},
		{"output behind no fence", []session.Update{call(session.KindExecute, session.StatusCompleted, "ls", output("a.go\nb.go\n```"))}},
		{"output of one fence", []session.Update{call(session.KindExecute, session.StatusCompleted, "ls", output("```"))}},
		{"output of several kinds " + closeAll, []session.Update{call(session.KindExecute, session.StatusCompleted, "ls",
			output("```\none\ntwo\n```"), output("<tool_use_error>three</tool_use_error>"), session.UnknownItem{Type: "hologram"}, output(""))}},
		{"output in a fence that goes on", []session.Update{call(session.KindExecute, session.StatusCompleted, "ls", output("```\na.go\n```\nand\n```\nb.go\n```"))}},
		{"output of an unknown type", []session.Update{call(session.KindExecute, session.StatusCompleted, "x", session.UnknownItem{Type: "hologram"})}},
		{"no output " + openAll, []session.Update{call(session.KindFetch, session.StatusCompleted, "x")}},
		{"the input for want of output " + openAll, []session.Update{input}},

		{"content of all types " + openAll, []session.Update{call(session.KindFetch, session.StatusCompleted, "x",
			session.ContentItem{Content: session.Image{MimeType: "image/png", Data: "AAAA"}},
			session.ContentItem{Content: session.Image{MimeType: "image/broken", Data: "AAAA", URI: "https://a/b.png"}},
			session.ContentItem{Content: session.Audio{MimeType: "audio/wav", Data: "AAA="}},
			session.ContentItem{Content: session.ResourceLink{URI: "https://a/b", Name: "b", Title: "The B"}},
			session.ContentItem{Content: session.ResourceLink{URI: "file:///project/a.go#L7", Name: "a.go"}},
			session.ContentItem{Content: session.Resource{URI: "file:///project/a.lua", Text: "return 1\n"}},
			session.ContentItem{Content: session.Resource{URI: "x:y", MimeType: "image/png", Blob: "AAAA"}},
			session.ContentItem{Content: session.UnknownContent{Type: "smell"}}, session.UnknownItem{Type: "hologram"})}},
		{"a picture is shown of what is done", []session.Update{call(session.KindRead, session.StatusCompleted, "x",
			output("text"), session.ContentItem{Content: session.Image{MimeType: "image/png", Data: "AAAA"}})}},
		{"prose " + openAll, []session.Update{call(session.KindThink, session.StatusCompleted, "x", output("# Head\r\n\r\nSome **words**\n\n```go\nx := 1\n```\n"))}},
		{"prose, running", []session.Update{call(session.KindThink, session.StatusInProgress, "x", output(numbers(1, 20, "- item %d")))}},
		{"colours", []session.Update{call(session.KindExecute, session.StatusCompleted, "x", output("plain\n\x1b[32mgreen"))}},
		{"why it failed", []session.Update{failed}},
		{"several places", []session.Update{places}},
		{"several places " + openAll, []session.Update{places}},
		{"a sub-agent", []session.Update{call(session.KindThink, session.StatusInProgress, "Task"), child}},
		{"a sub-agent " + closeAll, []session.Update{call(session.KindThink, session.StatusInProgress, "Task"), child}},

		{"an error in a tag", []session.Update{call(session.KindExecute, session.StatusFailed, "make", output("<tool_use_error>No such tool</tool_use_error>"))}},
		{"an error in a fence and a tag", []session.Update{call(session.KindFetch, session.StatusFailed, "x", output("```\n<tool_use_error>No such page</tool_use_error>\n```"))}},
		{"a tag that is not closed", []session.Update{call(session.KindExecute, session.StatusFailed, "make", output("<tool_use_error>No such tool"))}},
		{"a tag that is not closed behind output", []session.Update{call(session.KindExecute, session.StatusCompleted, "make", output("one\n<shell_metadata>\ntwo"))}},
		{"a tag that is only closed", []session.Update{call(session.KindExecute, session.StatusCompleted, "make", output("one\ntwo\n</shell_metadata>"))}},
		{"words in a tag behind output", []session.Update{call(session.KindExecute, session.StatusCompleted, "make", output("one\ntwo\n\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"))}},
		{"a tag alone", []session.Update{call(session.KindExecute, session.StatusCompleted, "make", output("<bash_metadata>\nIt took too long\n</bash_metadata>"))}},
		{"a fence is no line", []session.Update{call(session.KindRead, session.StatusCompleted, "x", output("```\n1\tone\n2\ttwo\n```"))}},
		{"a plan in a call", []session.Update{todos}},
		{"a plan in a call " + openAll, []session.Update{todos}},
		{"a plan in a call that failed", []session.Update{todos, session.ToolCallPatch{ID: todos.ID, Status: acp.Set(session.StatusFailed)}}},
		{"another list", []session.Update{others}},
		{"a command in the input alone", []session.Update{session.ToolCallPatch{
			ID: "c", Kind: acp.Set(session.KindExecute), Status: acp.Set(session.StatusCompleted),
			RawInput: acp.Set(json.RawMessage(`{"command":["bash","-lc","make test"]}`)),
		}}},
		{"a file in the input alone", []session.Update{session.ToolCallPatch{
			ID: "c", Kind: acp.Set(session.KindRead), Status: acp.Set(session.StatusFailed), Title: acp.Set("Read File"),
			RawInput: acp.Set(json.RawMessage(`{"file_path":"/project/src/lexer.lua"}`)),
		}}},
		{"a completed command that failed", []session.Update{exited}},
		{"a completed command that failed " + closeAll, []session.Update{exited}},
		{"a completed command whose terminal failed", []session.Update{call(session.KindExecute, session.StatusCompleted, "make", session.TerminalRef{TerminalID: "ended"})}},
		{"a terminal that runs", []session.Update{call(session.KindExecute, session.StatusInProgress, "make", session.TerminalRef{TerminalID: "runs"})}},
		{"a terminal that runs " + openAll, []session.Update{call(session.KindExecute, session.StatusInProgress, "make", session.TerminalRef{TerminalID: "runs"})}},
		{"a terminal that ended", []session.Update{call(session.KindExecute, session.StatusFailed, "make", session.TerminalRef{TerminalID: "ended"})}},
		{"a terminal that is gone", []session.Update{call(session.KindExecute, session.StatusCompleted, "make", session.TerminalRef{TerminalID: "gone"})}},
		{"a terminal " + closeAll, []session.Update{call(session.KindExecute, session.StatusInProgress, "make", session.TerminalRef{TerminalID: "runs"})}},
	}...)
}

func draw(t *testing.T, name string, updates []session.Update) string {
	w := newWorld()
	var screen []styled.Line
	for n := range 9 {
		screen = append(screen, styled.Join(styled.Text(fmt.Sprintf("%d ", n), styled.Plain), styled.Text("ok", styled.Ansi0+2)))
	}
	w.terminals["runs"] = Screenful{Lines: screen, Total: 9}
	w.terminals["ended"] = Screenful{Lines: screen[:2], Total: 2, State: "exit code 2"}
	w.apply(updates...)
	like := &Transcript{}
	for range w.conv.Entries {
		b := &block{}
		switch {
		case strings.HasSuffix(name, openAll):
			b.open = opened
		case strings.HasSuffix(name, closeAll):
			b.open = closed
		}
		like.entries = append(like.entries, b)
	}
	return drawn(t, w.conv, w.config(), like).String()
}

func TestGolden(t *testing.T) {
	if *update {
		var b strings.Builder
		for _, c := range cases() {
			fmt.Fprintf(&b, "-- %s --\n%s", c.name, draw(t, c.name, c.updates))
		}
		must.Do(t, os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	file, err := os.ReadFile(golden)
	must.Do(t, err)
	want := map[string]string{}
	for _, c := range strings.Split("\n"+string(file), "\n-- ")[1:] {
		name, lines, _ := strings.Cut(c, " --\n")
		want[name] = strings.TrimSuffix(lines, "\n")
	}
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			check.Equal(t, strings.TrimSuffix(draw(t, c.name, c.updates), "\n"), want[c.name], "got:\n%s")
		})
		delete(want, c.name)
	}
	for name := range want {
		t.Errorf("%s: no such case", name)
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0 s", 1234 * time.Millisecond: "1.2 s", 9960 * time.Millisecond: "10 s", 59960 * time.Millisecond: "1:00", 59 * time.Second: "59 s",
		185 * time.Second: "3:05", time.Hour + 62*time.Second: "1:01:02",
	} {
		check.Equal(t, seconds(d), want, "%v is %s", d)
	}
}

// A block is rendered once for a change, and its diffs once for all ticks of the clock, however many edits it takes.
func TestWorkIsDoneOnce(t *testing.T) {
	w := newWorld()
	rendered := 0
	config := w.config()
	config.Terminal = func(string, int) (Screenful, bool) {
		rendered++
		var s Screenful
		for range 500 {
			s.Lines = append(s.Lines, styled.Line{Text: "some output"})
		}
		return s, true
	}
	tr, b := New(w.conv, config), newBuffer()
	w.apply(call(session.KindEdit, session.StatusInProgress, "a", change("/a", "a\n", numbers(1, 500, "%d")), session.TerminalRef{TerminalID: "t"}))
	tr.Sync()
	tr.Fold(0, Toggle)
	takes := 0
	for ; tr.Dirty(); takes++ {
		b.take(t, tr, 1000)
	}
	if rendered != 1 || takes < 10 {
		t.Errorf("rendered %d times for %d edits", rendered, takes)
	}
	before := &tr.blocks[0].diffs[0].lines[0]
	tr.Tick()
	b.take(t, tr, 1000)
	if rendered != 2 || &tr.blocks[0].diffs[0].lines[0] != before {
		t.Errorf("a tick: rendered %d times, the diff anew: %v", rendered, &tr.blocks[0].diffs[0].lines[0] != before)
	}
	w.apply(session.ToolCallPatch{ID: "c", Status: acp.Set(session.StatusCompleted)})
	tr.Sync()
	b.take(t, tr, 1000)
	if tr.blocks[0].diffs != nil {
		t.Error("a finished call keeps what it needs no more")
	}
}
