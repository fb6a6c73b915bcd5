package editortools

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// answering is a Neovim that answers every tool alike.
type answering struct {
	server *Server
	answer rpc.EditorToolDone
	asked  rpc.EditorTool // last
}

func (n *answering) Batch(ops []any) (answers []any, busy time.Duration, err error) {
	for _, op := range ops {
		if asked, ok := op.([]any)[1].(rpc.EditorTool); ok {
			n.asked = asked
			m := n.answer
			m.ID = asked.ID
			n.server.Done(m)
		}
		answers = append(answers, []any{true, nil})
	}
	return answers, 0, nil
}

// inTurn returns the call of a tool in a turn of a session in /p, where Neovim has an answer.
func inTurn(t *testing.T, caller *Caller, offer rpc.EditorTools, nvim *answering) func(tool, args string) (text string, failed bool) {
	e := editor.New(nvim)
	go e.Run()
	t.Cleanup(e.Close)
	nvim.server = New(Config{Editor: e, Log: slog.New(slog.DiscardHandler)})
	caller.Base = feature.Base{Folder: folder.Folder{Cwd: "/p", Roots: []string{"/p"}}}
	caller.Private = func(_, _ []string) map[string]bool { return nil }
	if caller.Allow == nil {
		caller.Allow = func(_ context.Context, path string, done func(string, error)) { done(path, nil) }
	}
	g := &Grant{callers: newCallers(), server: nvim.server, ctx: t.Context(), offer: offer}
	g.Begin(caller)
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := g.newMCP().Connect(t.Context(), ours, nil); err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(tool, args string) (string, bool) {
		call := &mcp.CallToolParams{Name: tool}
		if args != "" {
			call.Arguments = json.RawMessage(args)
		}
		r, err := client.CallTool(t.Context(), call)
		if err != nil {
			return "no result: " + err.Error(), true
		}
		return r.Content[0].(*mcp.TextContent).Text, r.IsError
	}
}

// What Neovim answers is told in the order and the words that the agent needs.
func TestWordsOfAnswers(t *testing.T) {
	const at = `{"path":"a.go","line":1,"symbol":"f"}`
	offer := rpc.EditorTools{Tools: []string{"read", "help"}, Servers: true}
	for _, c := range []struct {
		tool, args string
		answer     rpc.EditorToolDone
		want       string
	}{
		{"open_files", "", rpc.EditorToolDone{Files: []rpc.EditorFile{
			{Path: "/p/a.go", Current: true, Visible: true, Modified: true, Line: 3}, {Path: "/p/b.go", Visible: true, Line: 1}, {Path: "/p/c.go"},
		}}, "3 files are open:\na.go (current, modified, cursor in line 3)\nb.go (visible, cursor in line 1)\nc.go"},
		{"workspace_symbols", `{"query":"pa"}`, rpc.EditorToolDone{Places: []rpc.EditorPlace{
			{Path: "/p/a.go", Line: 3, Kind: "method", Name: "parse", Container: "Reader"},
		}}, "1 place:\na.go:3: method parse in Reader"},
		{"symbols", `{"path":"a.go"}`, rpc.EditorToolDone{Places: []rpc.EditorPlace{
			{Path: "/p/a.go", Line: 1, EndLine: 9, Kind: "class", Name: "Reader"}, {Path: "/p/a.go", Line: 2, EndLine: 2, Kind: "method", Name: "parse", Depth: 1},
		}}, "2 symbols:\nclass Reader  1-9\n  method parse  2"},
		{"symbols", `{"path":"a.go"}`, rpc.EditorToolDone{Partial: true}, "no symbols\n(a language server was too slow or failed: there may be more)"},
		{"diagnostics", "{}", rpc.EditorToolDone{Diagnostics: []rpc.EditorDiagnostic{
			{Path: "/p/a.go", Line: 1, Column: 2, Severity: "error", Message: "not\nused", Source: "lint", Code: "U1"},
			{Path: "/p/a.go", Line: 2, Column: 1, Severity: "hint", Message: "dull", Code: "7"},
		}}, "2 diagnostics:\na.go:1:2: error: not used [lint U1]\na.go:2:1: hint: dull [7]"},
		{"code_actions", `{"path":"a.go","line":1}`, rpc.EditorToolDone{Actions: []rpc.EditorAction{
			{ID: "1", Title: "Remove it", Kind: "quickfix"}, {ID: "2", Title: "Leave\nit"},
		}}, "2 code actions:\n1: Remove it (quickfix)\n2: Leave it"},
		{"hover", at, rpc.EditorToolDone{Text: "func f()", Note: "line 2 has it"}, "(line 2 has it)\nfunc f()"},
		{"hover", at, rpc.EditorToolDone{}, "nothing is known about it"},
		{"selection", "", rpc.EditorToolDone{}, "nothing is selected"},
		{"selection", "", rpc.EditorToolDone{Text: "one\ntwo", Places: []rpc.EditorPlace{{Path: "/p/a.go", Line: 3, EndLine: 4}}}, "a.go, lines 3 to 4:\none\ntwo"},
		{"help", `{"topic":"acp-tool"}`, rpc.EditorToolDone{Text: "*acp-tool*"}, "*acp-tool*"},
	} {
		nvim := &answering{answer: c.answer}
		got, failed := inTurn(t, &Caller{}, offer, nvim)(c.tool, c.args)
		check.Equal(t, got, c.want, "%s is told (failed: %v) %s", c.tool, failed)
		if c.tool == "help" {
			check.Equal(t, nvim.asked.Query, "acp-tool", "Neovim is asked for the topic %q")
		}
	}
}

// A call that cannot be answered says why, and what is private of a selection needs the user's word.
func TestCallsThatFail(t *testing.T) {
	offer := rpc.EditorTools{Tools: []string{"read", "run_task"}, Servers: true, Tasks: []rpc.Task{{Name: "test", Command: []string{"true"}}}}
	secret := rpc.EditorToolDone{Text: "KEY=1", Places: []rpc.EditorPlace{{Path: "/p/.env", Line: 1, EndLine: 1}}}
	for _, c := range []struct {
		tool, args string
		answer     rpc.EditorToolDone
		want       string
	}{
		{"diagnostics", `{"severity":"fatal"}`, rpc.EditorToolDone{}, "severity is one of error, warning, info, hint"},
		{"help", "{}", rpc.EditorToolDone{}, `no result: calling "tools/call": unknown tool "help"`},
		{"run_task", `{"name":"none"}`, rpc.EditorToolDone{}, `there is no task "none"`},
		{"selection", "", rpc.EditorToolDone{Err: "Neovim is closing"}, "Neovim is closing"},
		{"selection", "", secret, "the user did not allow /p/.env"},
		{"changes", "", rpc.EditorToolDone{}, "internal error"},
	} {
		caller := &Caller{
			Allow: func(_ context.Context, path string, done func(string, error)) {
				done("", fmt.Errorf("the user did not allow %s", path))
			},
			Pending: func(func([]string)) { panic("a fault of ours") },
		}
		got, failed := inTurn(t, caller, offer, &answering{answer: c.answer})(c.tool, c.args)
		if got != c.want || !failed {
			t.Errorf("%s is told (failed: %v) %q; want %q", c.tool, failed, got, c.want)
		}
	}
}

// A tool of the user's that an agent calls without arguments gets none, not nothing.
func TestOwnToolWithoutArguments(t *testing.T) {
	caller := &Caller{Ask: func(_ Question, done func(error)) { done(nil) }}
	nvim := &answering{answer: rpc.EditorToolDone{Text: "deployed"}}
	got, _ := inTurn(t, caller, rpc.EditorTools{Own: []rpc.UserTool{{Name: "deploy"}}}, nvim)("deploy", "")
	check.Equal(t, got, "deployed", "it says %q")
	check.Equal(t, nvim.asked.Own, "{}", "Neovim gets %s")
}
