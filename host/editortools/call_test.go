package editortools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acp-nvim/acp-nvim/acp/session"
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
	if caller.Private == nil {
		caller.Private = func(_, _ []string) map[string]bool { return nil }
	}
	if caller.Allow == nil {
		caller.Allow = func(_ context.Context, path string, done func(string, error)) { done(path, nil) }
	}
	if caller.Locate == nil {
		caller.Locate = func(string, []session.Location) {}
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
		call := &mcp.CallToolParams{Name: tool, Meta: mcp.Meta{"callId": "call"}}
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
			{Path: "/p/d.go", Modified: true},
		}}, "4 files are open:\na.go (current, modified, cursor in line 3)\nb.go (visible, cursor in line 1)\nc.go\nd.go (modified)"},
		{"workspace_symbols", `{"query":"pa"}`, rpc.EditorToolDone{Places: []rpc.EditorPlace{
			{Path: "/p/a.go", Line: 3, Kind: "method", Name: "parse", Container: "Reader"},
		}}, "1 place:\na.go:3: method parse in Reader"},
		{"symbols", `{"path":"a.go"}`, rpc.EditorToolDone{Places: []rpc.EditorPlace{
			{Path: "/p/a.go", Line: 1, EndLine: 9, Kind: "class", Name: "Reader"}, {Path: "/p/a.go", Line: 2, EndLine: 2, Kind: "method", Name: "parse", Depth: 1},
			{Path: "/p/a.go", Line: 3, Name: "x", Depth: 12},
		}}, "3 symbols:\nclass Reader  1-9\n  method parse  2\n" + strings.Repeat(" ", 20) + "x  3"},
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
		{"selection", "", rpc.EditorToolDone{Text: "one", Places: []rpc.EditorPlace{{Path: "/p/a.go", Line: 3}}}, "a.go, lines 3 to 3:\none"},
		{"selection", "", rpc.EditorToolDone{Text: "\xff", Places: []rpc.EditorPlace{{Path: "/q/a.go", Line: 3}}}, "/q/a.go, lines 3 to 3:\n\ufffd"},
		{"changes", "", rpc.EditorToolDone{Text: "a.go"}, "1 change:\na.go"},
		{"changes", "", rpc.EditorToolDone{Text: "a.go b.go"}, "2 changes:\na.go\nb.go"},
		{"read_buffer", `{"path":"a.go","first":2}`, rpc.EditorToolDone{Text: "one\ntwo"}, "lines 2 to 2 of 2:\ntwo"},
		{"help", `{"topic":"acp-tool"}`, rpc.EditorToolDone{Text: "*acp-tool*"}, "*acp-tool*"},
	} {
		nvim := &answering{answer: c.answer}
		caller := &Caller{
			Pending: func(done func([]string)) { done(strings.Fields(c.answer.Text)) },
			Read:    func(r session.ReadTextFile) { r.Reply(c.answer.Text, nil) },
		}
		got, failed := inTurn(t, caller, offer, nvim)(c.tool, c.args)
		check.Equal(t, got, c.want, "%s is told (failed: %v) %s", c.tool, failed)
		if c.tool == "help" {
			check.Equal(t, nvim.asked.Query, "acp-tool", "Neovim is asked for the topic %q")
		}
	}
}

// Files that are private are in no list, whatever the list is of.
func TestPrivateFilesAreNotListed(t *testing.T) {
	private := func(paths, counted []string) map[string]bool {
		is := map[string]bool{}
		for _, path := range slices.Concat(paths, counted) {
			is[path] = strings.HasSuffix(path, ".env")
		}
		return is
	}
	places := rpc.EditorToolDone{Places: []rpc.EditorPlace{{Path: "/p/.env", Line: 1, Name: "KEY"}, {Path: "/p/a.go", Line: 3, Name: "f"}}}
	for _, c := range []struct {
		tool, args string
		answer     rpc.EditorToolDone
		want       string
	}{
		{"open_files", "", rpc.EditorToolDone{Files: []rpc.EditorFile{{Path: "/p/.env", Current: true}, {Path: "/p/a.go"}}}, "1 file is open:\na.go"},
		{"open_files", "", rpc.EditorToolDone{Files: []rpc.EditorFile{{Path: "/p/.env"}}}, "no files are open"},
		{"workspace_symbols", `{"query":"x"}`, places, "1 place:\na.go:3: f"},
		{"diagnostics", "{}", rpc.EditorToolDone{Diagnostics: []rpc.EditorDiagnostic{
			{Path: "/p/.env", Line: 1, Column: 1, Severity: "error", Message: "no"}, {Path: "/p/a.go", Line: 2, Column: 1, Severity: "hint", Message: "dull"},
		}}, "1 diagnostic:\na.go:2:1: hint: dull"},
	} {
		offer := rpc.EditorTools{Tools: []string{"read"}, Servers: true}
		got, failed := inTurn(t, &Caller{Private: private}, offer, &answering{answer: c.answer})(c.tool, c.args)
		check.Equal(t, got, c.want, "%s is told (failed: %v) %s", c.tool, failed)
	}
}

// A call that cannot be answered says why, and what is private of a selection needs the user's word.
func TestCallsThatFail(t *testing.T) {
	const file = `{"path":"a.go","line":1,"symbol":"f","new_name":"g"}`
	offer := rpc.EditorTools{
		Tools: []string{"write"}, Servers: true, Tasks: []rpc.Task{{Name: "test", Command: []string{"true"}}},
		Own: []rpc.UserTool{{Name: "deploy"}},
	}
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
		{"read_buffer", `{"path":7}`, rpc.EditorToolDone{}, "the arguments do not match the schema: " +
			"json: cannot unmarshal number into Go struct field arguments.path of type string"},
		{"read_buffer", `{"path":"ftp://a"}`, rpc.EditorToolDone{}, `"ftp://a" is not a path`},
		{"read_buffer", `{"path":""}`, rpc.EditorToolDone{}, "the argument path is missing"},
		{"show", `{"path":"a.go","line":0}`, rpc.EditorToolDone{}, "the argument line is missing"},
		{"read_buffer", file, rpc.EditorToolDone{}, "/p/a.go is gone"},
		{"show", `{"path":"ftp://a","line":1}`, rpc.EditorToolDone{}, `"ftp://a" is not a path`},
		{"hover", file, rpc.EditorToolDone{}, "the user did not allow /p/a.go"},
		{"show", file, rpc.EditorToolDone{}, "the user did not allow /p/a.go"},
		{"open_files", "", rpc.EditorToolDone{Err: "Neovim is closing"}, "Neovim is closing"},
		{"quickfix", "", rpc.EditorToolDone{Err: "Neovim is closing"}, "Neovim is closing"},
		{"apply_code_action", `{"id":"1"}`, rpc.EditorToolDone{Err: "it is no longer offered"}, "it is no longer offered"},
		{"apply_code_action", `{"id":"1"}`, rpc.EditorToolDone{}, "the user did not allow it"},
		{"run_task", `{"name":"test"}`, rpc.EditorToolDone{}, "the user did not allow it"},
		{"deploy", "{}", rpc.EditorToolDone{}, "the user did not allow it"},
	} {
		caller := &Caller{
			Ask:  func(_ Question, done func(error)) { done(errors.New("the user did not allow it")) },
			Read: func(r session.ReadTextFile) { r.Reply("", errors.New(r.Path+" is gone")) },
			Change: func(_ context.Context, _ string, _ []ServerEdit, done func([]string, error)) {
				done(nil, errors.New("the user did not allow it"))
			},
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

// A tool of the user's gets arguments only as its schema has them.
func TestOwnToolWithASchema(t *testing.T) {
	const schema = `{"type":"object","properties":{"to":{"type":"string"}},"required":["to"]}`
	offer := rpc.EditorTools{Own: []rpc.UserTool{{Name: "deploy", Schema: schema}}}
	for args, fits := range map[string]bool{`{"to":"here"}`: true, `{"to":7}`: false, "{}": false, "": false} {
		asked := false
		caller := &Caller{Ask: func(_ Question, done func(error)) { asked = true; done(nil) }}
		nvim := &answering{answer: rpc.EditorToolDone{Text: "deployed"}}
		got, failed := inTurn(t, caller, offer, nvim)("deploy", args)
		if failed == fits || asked != fits || !fits && !strings.HasPrefix(got, "the arguments do not match the schema: ") {
			t.Errorf("with %q it says %q, and the user was asked: %v", args, got, asked)
		}
	}
}

// A task runs as the user has written it, once they allow that; the agent gets its output, or why there is none.
func TestTasks(t *testing.T) {
	offer := rpc.EditorTools{Tools: []string{"run_task"}, Tasks: []rpc.Task{
		{Name: "test", Command: []string{"go", "test", "./a b"}}, {Name: "lint", Command: []string{"lint *.go"}},
	}}
	shell := []string{"/bin/sh", "-c", "lint *.go"}
	for _, c := range []struct {
		task, asks string
		runs       []string
		fails      error
		want       string
	}{
		{"test", "Run the task test: go test './a b'", []string{"go", "test", "./a b"}, nil, "exit 1:\nno\n"},
		{"lint", "Run the task lint: lint *.go", shell, nil, "exit 1:\nno\n"},
		{"lint", "Run the task lint: lint *.go", shell, errors.New("there is no shell"), "there is no shell"},
	} {
		caller := &Caller{
			Ask: func(q Question, done func(error)) {
				check.Equal(t, q.Title+": "+q.Command, c.asks, "the user is asked: %s")
				done(nil)
			},
			Run: func(_ context.Context, command []string, done func(output, exit string, e error)) {
				check.Slice(t, command, c.runs, "what runs is %q")
				done("no\n", "exit 1", c.fails)
			},
		}
		got, failed := inTurn(t, caller, offer, &answering{})("run_task", `{"name":"`+c.task+`"}`)
		check.Equal(t, got, c.want, "%s is told (failed: %v) %s", c.task, failed)
		check.Equal(t, failed, c.fails != nil, "that it failed is %v")
	}
}

// What language servers want to change is described to the user, made in their order where that matters, and told to the
// agent.
func TestEdits(t *testing.T) {
	const at = `{"path":"a.go","line":1,"symbol":"f","new_name":"g"}`
	edits := []rpc.EditorEdit{{Path: "/p/b.go", Text: "b"}, {Path: "/p/a.go", Text: "a"}}
	moves := []rpc.EditorEdit{
		{Path: "/p/old.go", NewPath: "/p/new.go", Same: true},
		{Path: "/p/made.go", Create: true, Text: "made"}, {Path: "/p/gone.go", Delete: true, Same: true},
	}
	for _, c := range []struct {
		tool, args string
		answer     rpc.EditorToolDone
		title      string
		edits      string
		changed    []string
		want       string
	}{
		{"rename", at, rpc.EditorToolDone{Edits: edits}, "Rename f to g", "/p/a.go=a /p/b.go=b",
			[]string{"/p/a.go", "/p/b.go"}, "2 files changed:\na.go\nb.go"},
		{"format", at, rpc.EditorToolDone{Edits: edits[1:]}, "Format a.go", "/p/a.go=a", []string{"/p/a.go"}, "1 file changed:\na.go"},
		{"format", at, rpc.EditorToolDone{}, "Format a.go", "", nil, "there is nothing to change"},
		{"apply_code_action", `{"id":"1"}`, rpc.EditorToolDone{Text: "Move\nit", Edits: moves}, "Apply the code action Move it",
			"/p/old.go>/p/new.go /p/made.go=made+ /p/gone.go-", []string{"/p/new.go", "/p/made.go", "/p/gone.go"},
			"3 files changed:\nnew.go (moved from old.go)\nmade.go (new)\ngone.go (deleted)"},
		{"apply_code_action", `{"id":"1"}`, rpc.EditorToolDone{Edits: edits[1:]}, "Apply a code action", "/p/a.go=a",
			[]string{"/p/a.go"}, "1 file changed:\na.go"},
	} {
		caller := &Caller{Change: func(_ context.Context, title string, edits []ServerEdit, done func([]string, error)) {
			check.Equal(t, title, c.title, "the user is asked: %s")
			var list []string
			for _, e := range edits {
				one := e.Path
				if e.Text != nil {
					one += "=" + *e.Text
				}
				if e.To != "" {
					one += ">" + e.To
				}
				if e.Create {
					one += "+"
				}
				if e.Delete {
					one += "-"
				}
				list = append(list, one)
			}
			check.Equal(t, strings.Join(list, " "), c.edits, "the edits are %s")
			done(c.changed, nil)
		}}
		offer := rpc.EditorTools{Tools: []string{"write"}, Servers: true}
		got, failed := inTurn(t, caller, offer, &answering{answer: c.answer})(c.tool, c.args)
		check.Equal(t, got, c.want, "%s is told (failed: %v) %s", c.tool, failed)
	}
}

// Where the user has no window that follows, a place is not shown, and the agent is told so.
func TestShowing(t *testing.T) {
	for follows, want := range map[bool]string{
		true: "shown in the window that follows you", false: "not shown: no window of the user's follows you",
	} {
		shown := ""
		caller := &Caller{Show: func(path string, line int) bool {
			shown = fmt.Sprint(path, ":", line)
			return follows
		}}
		got, _ := inTurn(t, caller, rpc.EditorTools{Tools: []string{"read"}}, &answering{})("show", `{"path":"a.go","line":3}`)
		check.Equal(t, got, want, "the agent is told %q")
		check.Equal(t, shown, "/p/a.go:3", "shown is %s")
	}
}

// The session learns at which place a call works, once its arguments name one, and which call of the agent's it is.
func TestWhereACallWorks(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"read_buffer", `{"path":"a.go","first":7}`, "call [{/p/a.go 7}]"},
		{"hover", `{"path":"a.go","line":3,"symbol":"f"}`, "call [{/real/p/a.go 3}]"},
		{"show", `{"path":"a.go","line":4}`, "call [{/real/p/a.go 4}]"},
		{"diagnostics", "{}", ""},
		{"read_buffer", `{"path":"gone.go"}`, ""},
		{"hover", `{"path":"gone.go","line":3,"symbol":"f"}`, ""},
	} {
		got := ""
		gone := func(path string) (err error) {
			if strings.HasSuffix(path, "gone.go") {
				err = errors.New("it is gone")
			}
			return err
		}
		caller := &Caller{
			Locate: func(call string, at []session.Location) { got += fmt.Sprint(call, " ", at) },
			Read:   func(r session.ReadTextFile) { r.Reply("text\n", gone(r.Path)) },
			Allow: func(_ context.Context, path string, done func(string, error)) {
				done("/real"+path, gone(path))
			},
			Show: func(string, int) bool { return true },
		}
		inTurn(t, caller, rpc.EditorTools{Tools: []string{"read"}, Servers: true}, &answering{})(c.tool, c.args)
		check.Equal(t, got, c.want, "of %s %s it learns %q", c.tool, c.args)
	}
}

// Neovim is asked for what the agent wants to know, within the time that there is.
func TestWhatNeovimIsAsked(t *testing.T) {
	wait := func(ms int) *int { return &ms }
	limit, most := int(languageServerTimeout.Milliseconds()), int(diagnosticsTimeout.Milliseconds())
	for _, c := range []struct {
		tool, args string
		want       rpc.EditorTool
	}{
		{"hover", `{"path":"a.go","line":3,"symbol":"f","column":2}`, rpc.EditorTool{Path: "/p/a.go", Line: 3, Symbol: "f", Column: 2}},
		{"rename", `{"path":"a.go","line":3,"symbol":"f","new_name":"g"}`,
			rpc.EditorTool{Path: "/p/a.go", Line: 3, Symbol: "f", NewName: "g"}},
		{"workspace_symbols", `{"query":"pa"}`, rpc.EditorTool{Query: "pa"}},
		{"apply_code_action", `{"id":"1"}`, rpc.EditorTool{Action: "1"}},
		{"diagnostics", `{"severity":"hint","wait_ms":7}`, rpc.EditorTool{Severity: "hint", WaitMS: wait(7)}},
		{"diagnostics", `{"wait_ms":-7}`, rpc.EditorTool{WaitMS: wait(0)}},
		{"diagnostics", `{"wait_ms":99999999}`, rpc.EditorTool{WaitMS: wait(most)}},
	} {
		caller := &Caller{Change: func(_ context.Context, _ string, _ []ServerEdit, done func([]string, error)) { done(nil, nil) }}
		nvim := &answering{}
		inTurn(t, caller, rpc.EditorTools{Tools: []string{"write"}, Servers: true}, nvim)(c.tool, c.args)
		c.want.ID, c.want.Tool, c.want.LimitMS = 1, c.tool, limit
		check.Deep(t, nvim.asked, c.want, "Neovim is asked %+v")
	}
}

// A call that ends before there is an answer says why it has ended.
func TestACallThatEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	c := &call{Caller: &Caller{Pending: func(func([]string)) { cancel(errTurnEnded) }}}
	_, err := changes(ctx, c)
	check.Equal(t, err, errTurnEnded, "it ends with %v")
}
