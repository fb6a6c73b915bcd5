package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// project makes a folder with a README, whose text in the editor is another than on the disk.
func project(t *testing.T) (dir, readme string) {
	t.Helper()
	dir = t.TempDir()
	readme = must.Write(t, dir, "README.md", "# Saved\n")
	must.Write(t, dir, "a.lua", "return 1\n")
	must.Write(t, dir, "test.sh", "echo ok\n")
	return dir, readme
}

func TestInitialize(t *testing.T) {
	c := connect(t, t.TempDir(), all)
	info := answer[v1.InitializeResponse](c, v1.MethodInitialize, v1.InitializeRequest{ProtocolVersion: 7})
	check.Equal(t, info.ProtocolVersion, 1, "speaks version %d")
	if i := info.AgentInfo; i == nil || i.Name != "acp-nvim-demo" || i.Title != "Demo" || i.Version != "1.2.3" {
		t.Errorf("it is %+v", i)
	}
	can := info.AgentCapabilities
	check.Deep(t, can, v1.AgentCapabilities{
		PromptCapabilities:  v1.PromptCapabilities{EmbeddedContext: true},
		SessionCapabilities: v1.SessionCapabilities{Close: &wire.Supported{}},
		Auth:                v1.AgentAuthCapabilities{Logout: &wire.Supported{}},
	}, "it can %+v")
	for _, p := range []struct{ method, params string }{
		{"no/such/method", `{}`}, {v1.MethodSessionNew, `{"cwd":7}`}, {v1.MethodSessionPrompt, `[]`},
		{v1.MethodSessionPrompt, `{"sessionId":"x","prompt":[]}`}, {v1.MethodSessionClose, `{"sessionId":"x"}`},
		{v1.MethodSessionSetMode, `{"sessionId":"demo-1","modeId":"x"}`}, {v1.MethodAuthenticate, `{"methodId":"x"}`},
		{v1.MethodSessionSetConfigOption, `{"sessionId":"x","configId":"mode","value":"auto"}`},
		{v1.MethodSessionSetConfigOption, `{"sessionId":"demo-1","configId":"mode","value":{}}`},
	} {
		_, err := call[json.RawMessage](c, p.method, json.RawMessage(p.params))
		var e *acp.Error
		if want := int64(acp.CodeInvalidParams); !errors.As(err, &e) || e.Code != want && p.method != "no/such/method" {
			t.Errorf("%s %s: %v, want code %d", p.method, p.params, err, want)
		}
	}
}

func TestTour(t *testing.T) {
	dir, readme := project(t)
	c := connect(t, dir, all)
	c.files[readme] = "# Unsaved\n\nThe third line\n"
	check.Equal(t, c.prompt("Show me what you can do"), v1.StopEndTurn, "it ended with %s")
	contains(t, c.text(), "a script without a model", "it has 3 lines", "“Unsaved”", "```lua", "| text ",
		"### Summary", "- I changed `README.md`", "- The command ended with code 0")
	check.Equal(t, c.files[readme], "# Unsaved\n\n> "+note+"\n\nThe third line\n", "the file is %q")
	if saved, _ := os.ReadFile(readme); string(saved) != "# Saved\n" {
		t.Errorf("the agent wrote to the disk: %q", saved)
	}
	if got, want := c.methods(), "request_permission request_permission create wait_for_exit output release"; got != want {
		t.Errorf("it asked for\n%s, want\n%s", got, want)
	}
	check.Equal(t, c.statuses(), "completed completed completed", "the tool calls are %s")
	if len(of[*v1.AgentThoughtChunk](c)) == 0 {
		t.Error("it did not think")
	}
	var plans []string
	for _, p := range of[*v1.Plan](c) {
		var done []string
		for _, e := range p.Entries {
			done = append(done, string(e.Status))
		}
		plans = append(plans, strings.Join(done, " "))
	}
	want := []string{
		"in_progress pending pending", "completed in_progress pending", "completed completed in_progress",
		"completed completed completed",
	}
	if fmt.Sprint(plans) != fmt.Sprint(want) {
		t.Errorf("the plans are\n%q, want\n%q", plans, want)
	}
	if info := of[*v1.SessionInfoUpdate](c); len(info) != 1 || info[0].Title.Or("") != "Show me what you can do" {
		t.Errorf("the titles are %v", info)
	}
	usage := of[*v1.UsageUpdate](c)
	if u := usage[len(usage)-1]; u.Used == 0 || u.Used > u.Size || u.Cost == nil || u.Cost.Amount == 0 {
		t.Errorf("the usage is %+v", u)
	}
	if offered := of[*v1.AvailableCommandsUpdate](c); len(offered) != 1 || len(offered[0].AvailableCommands) != len(book()) {
		t.Errorf("it offers %v", offered)
	} else {
		for _, command := range offered[0].AvailableCommands {
			check.Equal(t, command.Description != "", true, command.Name+" says what it does: %v")
		}
	}

	// The request says what it is about.
	edit, run := c.asked[0], c.asked[1]
	content, _ := edit.ToolCall.Content.Get()
	diff, _ := content[0].(*v1.Diff)
	if diff == nil || diff.Path != readme || diff.OldText.Or("") != "# Unsaved\n\nThe third line\n" || diff.NewText != c.files[readme] {
		t.Errorf("it asked to edit %+v", diff)
	}
	if input, _ := run.ToolCall.RawInput.Get(); !strings.Contains(string(input), `"command":"sh test.sh"`) {
		t.Errorf("it asked to run %s", input)
	}
	check.Equal(t, len(edit.Options), 4, "there are %d options")
}

func TestFollowUp(t *testing.T) {
	dir, readme := project(t)
	c := connect(t, dir, all)
	c.files[readme] = ""
	c.permit = choose(wire.PermissionRejectOnce)
	c.prompt("hello")
	contains(t, c.text(), "`README.md` stays as it is", "I run nothing", "You rejected the edit", "it has 0 lines.")
	check.Equal(t, c.statuses(), "completed failed failed", "the tool calls are %s")
	c.forget()
	c.prompt("thank you")
	contains(t, c.text(), "“thank you”", "`tour`; you rejected the edit, so `README.md` is as it was")
	check.Equal(t, len(of[*v1.ToolCall](c)), 0, "the second answer makes %d tool calls")
}

// An edit takes back the one before; an answer for always is not asked for again.
func TestAlways(t *testing.T) {
	for _, kind := range []wire.PermissionOptionKind{wire.PermissionAllowAlways, wire.PermissionRejectAlways} {
		dir, readme := project(t)
		c := connect(t, dir, all)
		c.files[readme] = "# Title\ntext\n"
		c.permit = choose(kind)
		c.prompt("edit")
		first := c.files[readme]
		c.prompt("/edit README.md")
		if c.files[readme] != "# Title\ntext\n" || (first != c.files[readme]) != (kind == wire.PermissionAllowAlways) {
			t.Errorf("%s: the file is %q, then %q", kind, first, c.files[readme])
		}
		check.Equal(t, c.methods(), "request_permission", "%s: it asked for %s", kind)
		c.prompt("run")
		check.Equal(t, len(c.asked), 2, "%s: commands are no edits, asked %d times", kind)
	}
}

func TestModes(t *testing.T) {
	dir, readme := project(t)
	c := connect(t, dir, all)
	c.files[readme] = "text"
	answer[v1.SetSessionModeResponse](c, v1.MethodSessionSetMode, v1.SetSessionModeRequest{SessionID: c.session, ModeID: "auto"})
	check.Equal(t, len(of[*v1.ConfigOptionUpdate](c)), 1, "%d updates of the options")
	c.prompt("edit")
	if len(c.asked) != 0 || !strings.Contains(c.files[readme], note) {
		t.Errorf("in auto mode it asked %d times, the file is %q", len(c.asked), c.files[readme])
	}
	options := answer[v1.SetSessionConfigOptionResponse](c, v1.MethodSessionSetConfigOption, v1.SelectValue(c.session, "mode", "ask"))
	if s, ok := options.ConfigOptions[0].Kind.(*v1.SessionConfigSelect); !ok || s.CurrentValue != "ask" {
		t.Errorf("the options are %+v", options)
	}
	check.Equal(t, len(of[*v1.CurrentModeUpdate](c)), 1, "%d updates of the mode")
	c.prompt("edit")
	check.Equal(t, len(c.asked), 1, "in ask mode it asked %d times")
	if _, err := call[json.RawMessage](c, v1.MethodSessionSetConfigOption, v1.SelectValue(c.session, "model", "x")); err == nil {
		t.Error("there is a choice of models")
	}
}

func TestCommands(t *testing.T) {
	dir, readme := project(t)
	for _, test := range []struct {
		prompt string
		stop   v1.StopReason
		text   string
		calls  string
	}{
		{"help", v1.StopEndTurn, "- `parallel`: ", ""},
		{"Help!", v1.StopEndTurn, "- `run [command]`: ", ""},
		{"text", v1.StopEndTurn, "## How text looks", ""},
		{"think", v1.StopEndTurn, "I have thought", ""},
		{"plan", v1.StopEndTurn, "All done", ""},
		{"read", v1.StopEndTurn, "`README.md`: it has 1 line and begins with “Unsaved”", "completed"},
		{"read a.lua, please", v1.StopEndTurn, "`a.lua`: it has 2 lines", "completed"},
		{"read missing.txt", v1.StopEndTurn, "`README.md`: it has 1 line", "completed"},
		{"run\nthe tests", v1.StopEndTurn, "The command ended with code 0", "completed"},
		{"tools", v1.StopEndTurn, "None of them", "completed completed completed completed completed failed completed completed completed completed"},
		{"parallel", v1.StopEndTurn, "You allowed 2 of 2", "completed completed"},
		{"notice", v1.StopEndTurn, "three notices", ""},
		{"unknown", v1.StopEndTurn, "in no schema", ""},
		{"max", v1.StopMaxTokens, "in the middle of a", ""},
		{"refuse", v1.StopRefusal, "I will not", ""},
		{"text me later", v1.StopEndTurn, "This is the **demo agent**", "completed completed completed"},
		{"", v1.StopEndTurn, "This is the **demo agent**", "completed completed completed"},
	} {
		t.Run(test.prompt, func(t *testing.T) {
			c := connect(t, dir, all)
			c.files[readme] = "# Unsaved"
			c.files[filepath.Join(dir, "a.lua")] = "return\n1"
			check.Equal(t, c.prompt(test.prompt), test.stop, "it ended with %s")
			contains(t, c.text(), test.text)
			check.Equal(t, c.statuses(), test.calls, "the tool calls are %q")
		})
	}
}

// What the calls of the tools command show is of each kind: text, a change, and a link.
func TestContentThatIsShown(t *testing.T) {
	dir, _ := project(t)
	c := connect(t, dir, all)
	c.prompt("tools")
	var got []string
	for _, u := range of[*v1.ToolCallUpdate](c) {
		for _, item := range u.Content.Or(nil) {
			switch item := item.(type) {
			case *v1.Diff:
				got = append(got, fmt.Sprintf("%s: %q to %q", filepath.Base(item.Path), item.OldText.Or(""), item.NewText))
			case *v1.Content:
				switch content := item.Content.(type) {
				case *wire.TextContent:
					got = append(got, content.Text)
				case *wire.ResourceLink:
					got = append(got, content.Name+" at "+content.URI)
				}
			}
		}
	}
	check.Slice(t, got, []string{
		"one line", "hay.txt:3: a needle\nhay.txt:9: another needle", `made-up.lua: "local n = 1\nreturn n\n" to "local n = 2\nreturn n\n"`,
		"make: *** No rule to make target 'believe'.  Stop.", "Hm.", "the protocol at https://agentclientprotocol.com", "**done**",
	}, "they show\n%q")
}

func TestErrorAnswer(t *testing.T) {
	c := connect(t, t.TempDir(), all)
	if e := c.promptError("error"); e.Code != acp.CodeInternalError || !strings.Contains(e.Message, "demo") || e.Data == nil {
		t.Errorf("the error is %+v", e)
	}
	check.Equal(t, c.prompt("text"), v1.StopEndTurn, "the session is of no use after an error: %v")
}

func TestAuth(t *testing.T) {
	c := connect(t, t.TempDir(), all)
	login := func() {
		answer[v1.AuthenticateResponse](c, v1.MethodAuthenticate, v1.AuthenticateRequest{MethodID: loginMethod})
	}
	if e := c.promptError("auth"); e.Code != acp.CodeAuthRequired {
		t.Errorf("the error is %v", e)
	}
	login()
	c.prompt("auth")
	contains(t, c.text(), "You are logged in")
	answer[v1.LogoutResponse](c, v1.MethodLogout, v1.LogoutRequest{})
	if e := c.promptError("auth"); e.Code != acp.CodeAuthRequired {
		t.Errorf("after the logout: %v", e)
	}
	t.Setenv("ACP_DEMO_LOGGED_IN", "1")
	check.Equal(t, connect(t, t.TempDir(), all).prompt("auth"), v1.StopEndTurn, "with the variable set: %s")
}

// An agent works by itself where the client cannot help, and says so.
func TestPoorClient(t *testing.T) {
	dir, readme := project(t)
	c := connect(t, dir, v1.ClientCapabilities{})
	c.prompt("hello")
	contains(t, c.text(), "“Saved”", "what is on the disk", "has no terminals")
	if text, _ := os.ReadFile(readme); !strings.Contains(string(text), note) {
		t.Errorf("the file is %q", text)
	}
	check.Equal(t, c.methods(), "request_permission", "it asked for %s")
	c.prompt("notice")
	contains(t, c.text(), "does not take notices")
}

func TestEmptyFolder(t *testing.T) {
	dir := t.TempDir()
	c := connect(t, dir, all)
	c.prompt("hello")
	contains(t, c.text(), "no text in this folder")
	if text := c.files[filepath.Join(dir, "hello.txt")]; !strings.HasPrefix(text, "Hello") {
		t.Errorf("hello.txt is %q", text)
	}
	content, _ := c.asked[0].ToolCall.Content.Get()
	if d := content[0].(*v1.Diff); !d.OldText.IsZero() {
		t.Errorf("the diff of a new file has the old text %v", d.OldText)
	}
}

// What the client refuses fails that tool call and not the turn.
func TestRefusals(t *testing.T) {
	dir, _ := project(t) // which the client will not read
	c := connect(t, dir, all)
	c.create = func(r *acp.Request) { r.ReplyError(errors.New("no terminal is free")) }
	check.Equal(t, c.prompt("hello"), v1.StopEndTurn, "it ended with %s")
	contains(t, c.text(), "I could not read `README.md`", "no terminal is free", "The command could not be run")
	check.Equal(t, c.statuses(), "failed failed", "the tool calls are %s")
}

func TestCommandFails(t *testing.T) {
	dir, _ := project(t)
	for _, test := range []struct {
		exit v1.WaitForTerminalExitResponse
		want string
	}{
		{v1.WaitForTerminalExitResponse{ExitCode: acp.Set[uint32](3)}, "ended with code 3"},
		{v1.WaitForTerminalExitResponse{Signal: acp.Set("KILL"), ExitCode: acp.Null[uint32]()}, "ended with signal KILL"},
	} {
		c := connect(t, dir, all)
		c.exit = func(r *acp.Request) { r.Reply(test.exit) }
		c.prompt("/run make it so")
		contains(t, c.text(), test.want)
		contains(t, c.asked[0].ToolCall.Title.Or(""), "make it so")
		check.Equal(t, c.statuses(), "failed", "the tool call is %s")
	}
}

func TestCancelWhileWriting(t *testing.T) {
	c := connect(t, t.TempDir(), all)
	chunks := 0
	c.watch(func(n v1.SessionNotification) {
		if _, ok := n.Update.(*v1.AgentMessageChunk); ok {
			if chunks++; chunks == 20 {
				c.cancel()
			}
		}
	})
	check.Equal(t, must.Receive(t, "the end of the turn", c.start("long")), v1.StopCancelled, "it ended with %s")
	check.Equal(t, c.prompt("text"), v1.StopEndTurn, "the next turn ended with %s")
}

// The turn ends at once, without waiting for an answer that never comes.
func TestCancelWhileAsking(t *testing.T) {
	dir, readme := project(t)
	for _, prompt := range []string{"edit", "run", "parallel"} {
		c := connect(t, dir, all)
		c.files[readme] = "text"
		given := make(chan *acp.Request, 2)
		c.permit = func(r *acp.Request, _ v1.RequestPermissionRequest) {
			given <- r
			c.cancel()
		}
		check.Equal(t, must.Receive(t, "the end of the turn", c.start(prompt)), v1.StopCancelled,
			"%s: it ended with %s", prompt)
		r := must.Receive(t, "the request", given)
		must.Receive(t, "the request to be given up", r.Context().Done())
		r.ReplyError(r.Context().Err())
		check.Equal(t, c.files[readme], "text", "%s: it edited all the same: %v", prompt)
	}
}

// In version 1, a permission that is cancelled means the turn.
func TestPermissionCancelled(t *testing.T) {
	dir, readme := project(t)
	for _, prompt := range []string{"edit", "parallel"} {
		c := connect(t, dir, all)
		c.files[readme] = "text"
		c.permit = choose("no such kind")
		check.Equal(t, c.prompt(prompt), v1.StopCancelled, "%s: it ended with %s", prompt)
	}
}

func TestCancelWhileRunning(t *testing.T) {
	dir, _ := project(t)
	c := connect(t, dir, all)
	c.exit = func(*acp.Request) { c.cancel() } // and never an answer
	check.Equal(t, must.Receive(t, "the end of the turn", c.start("run")), v1.StopCancelled, "it ended with %s")
	check.Equal(t, c.methods(), "request_permission create wait_for_exit kill release", "it asked for\n%s")
}

// A terminal that is created after the user has cancelled is released too.
func TestCancelWhileCreating(t *testing.T) {
	dir, _ := project(t)
	c := connect(t, dir, all)
	creating := make(chan *acp.Request, 1)
	c.create = func(r *acp.Request) { creating <- r }
	stopped := c.start("run")
	r := must.Receive(t, "the terminal", creating)
	c.cancel()
	// The agent reads in order: with this answer it has read the cancellation.
	_, _ = call[json.RawMessage](c, "no/such/method", nil)
	r.Reply(v1.CreateTerminalResponse{TerminalID: "late"})
	check.Equal(t, must.Receive(t, "the end of the turn", stopped), v1.StopCancelled, "it ended with %s")
	contains(t, c.methods(), "kill release")
}

func TestSessions(t *testing.T) {
	c := connect(t, t.TempDir(), all)
	writing := c.writing()
	first, stopped := c.session, c.start("long")
	must.Receive(t, "the first session", writing)
	if e := c.promptError("text"); e.Code != acp.CodeInvalidRequest {
		t.Errorf("a second turn in a session: %v", e)
	}
	c.session = answer[v1.NewSessionResponse](c, v1.MethodSessionNew, v1.NewSessionRequest{CWD: t.TempDir()}).SessionID
	if c.session == first {
		t.Fatalf("two sessions are called %s", first)
	}
	check.Equal(t, c.prompt("text"), v1.StopEndTurn, "beside another, it ended with %s")
	answer[v1.CloseSessionResponse](c, v1.MethodSessionClose, wire.CloseSessionRequest{SessionID: first})
	check.Equal(t, must.Receive(t, "the end of the turn", stopped), v1.StopCancelled,
		"its session closed, it ended with %s")
	second := c.session
	if c.session = first; c.promptError("text").Code != acp.CodeInvalidParams {
		t.Error("a closed session takes prompts")
	}
	if c.session = second; c.prompt("text") != v1.StopEndTurn {
		t.Error("closing one session ends another")
	}
}

// The agent ends with its input, whatever it is doing.
func TestEndOfInput(t *testing.T) {
	dir, _ := project(t)
	for _, prompt := range []string{"", "long", "run"} {
		c := connect(t, dir, all)
		busy := c.writing()
		if prompt == "run" {
			running := make(chan struct{})
			busy = running
			c.exit = func(*acp.Request) { close(running) }
		}
		if prompt != "" {
			c.conn.Call(v1.MethodSessionPrompt, promptOf(c.session, prompt), func(json.RawMessage, error) {})
			must.Receive(t, "the turn", busy)
		}
		c.conn.Close()
		if err := must.Receive(t, "the end", c.served); err != nil {
			t.Errorf("%q: Serve: %v", prompt, err)
		}
	}
}

func TestEndOfContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, inR, outW, "test", 1) }()
	cancel()
	if err := must.Receive(t, "the end", served); err != nil {
		t.Errorf("Serve: %v", err)
	}
	inW.Close()
	outR.Close()
}

func TestPace(t *testing.T) {
	if p, err := paceOf(""); err != nil || p != humanPace {
		t.Errorf("the default is %v, %v", p, err)
	}
	if p, err := paceOf("7"); err != nil || p.least != p.most || p.most.Milliseconds() != 7 {
		t.Errorf("7 is %v, %v", p, err)
	}
	for _, text := range []string{"x", "-1", "99999999"} {
		if _, err := paceOf(text); err == nil {
			t.Errorf("%s is a pace", text)
		}
	}
}

func TestCrash(t *testing.T) {
	self, err := os.Executable()
	must.Do(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), crashEnv+"=1", "ACP_DEMO_DELAY_MS=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	stdin, err := cmd.StdinPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	_, err = io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"demo-1","prompt":[{"type":"text","text":"crash"}]}}
`)
	must.Do(t, err)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("it ended with %v", err)
	}
	contains(t, stderr.String(), "crashing")
	contains(t, stdout.String(), "I am going")
}

func TestPick(t *testing.T) {
	dir := t.TempDir()
	check := func(want string) {
		t.Helper()
		if f := pick(dir, nil); f.name() != want || f.exists != (want != "hello.txt") {
			t.Errorf("picked %s, want %s", f.name(), want)
		}
	}
	check("hello.txt")
	must.Write(t, dir, ".hidden.txt", "x")
	must.Write(t, dir, "a.json", "{}")
	must.Write(t, dir, "b.txt", "\x00")
	must.Write(t, dir, "c.txt", "\xff")
	must.Write(t, dir, "d.txt", strings.Repeat("x", 100<<10))
	must.Do(t, os.Mkdir(filepath.Join(dir, "e.txt"), 0o777))
	check("hello.txt")
	must.Write(t, dir, "f.lua", "x")
	must.Write(t, dir, "g.md", "x")
	check("f.lua")
	must.Write(t, dir, "readme.md", "x")
	check("readme.md")
	if f := pick(dir, []string{filepath.Join(dir, "b.txt"), filepath.Join(dir, "a.json")}); f.name() != "a.json" {
		t.Errorf("picked %s, although the prompt names a.json", f.name())
	}
}

// The second change takes back the first, in any kind of file.
func TestChange(t *testing.T) {
	for name, texts := range map[string][2]string{
		"a.md":  {"# A\n\ntext\n", "# A\n\n> " + note + "\n\ntext\n"},
		"a.txt": {"A\ntext", "A\n" + note + "\ntext"},
		"a.lua": {"local a\nreturn a\n", "local a\n-- " + note + "\nreturn a\n"},
		"a.sh":  {"#!/bin/sh\n", "#!/bin/sh\n# " + note + "\n"},
	} {
		f := file{path: name, exists: true, text: texts[0]}
		changed, _ := f.change()
		check.Equal(t, changed, texts[1], "%s becomes %q", name)
		f.text = changed
		if back, _ := f.change(); back != texts[0] {
			t.Errorf("%s: taken back it is %q, want %q", name, back, texts[0])
		}
	}
}

func TestPieces(t *testing.T) {
	text := markdown + "wörd " + strings.Repeat("x", 100)
	check.Equal(t, strings.Join(pieces(text), ""), text, "joined, the pieces are\n%s")
	if n := len(pieces(text)); n < 20 {
		t.Errorf("only %d pieces", n)
	}
}

// Files that the prompt names by a link count before the README.
func TestLinkedFile(t *testing.T) {
	dir, _ := project(t)
	c := connect(t, dir, all)
	path := filepath.Join(dir, "a.lua")
	c.files[path] = "return 'linked'\n"
	answer[v1.PromptResponse](c, v1.MethodSessionPrompt, wire.PromptRequest{SessionID: c.session, Prompt: []wire.ContentBlock{
		wire.Text("read"), &wire.ResourceLink{Name: "a.lua", URI: "file://" + path},
	}})
	contains(t, c.text(), "`a.lua`: it has 1 line and begins with “return 'linked'”")
}

// Of two permissions that are asked for at once both may be rejected.
func TestRejectedAtOnce(t *testing.T) {
	c := connect(t, t.TempDir(), all)
	c.permit = choose(wire.PermissionRejectOnce)
	check.Equal(t, c.prompt("parallel"), v1.StopEndTurn, "it ended with %s")
	contains(t, c.text(), "You allowed 0 of 2.")
	check.Equal(t, c.statuses(), "failed failed", "the tool calls are %s")
}

// A file whose text comes with the prompt is as good as a linked one.
func TestEmbeddedFile(t *testing.T) {
	dir, _ := project(t)
	c := connect(t, dir, all)
	path := filepath.Join(dir, "a.lua")
	c.files[path] = "return 'embedded'\n"
	answer[v1.PromptResponse](c, v1.MethodSessionPrompt, wire.PromptRequest{SessionID: c.session, Prompt: []wire.ContentBlock{
		wire.Text("read"), &wire.EmbeddedResource{Resource: wire.EmbeddedResourceResource{
			Text: &wire.TextResourceContents{URI: "file://" + path, Text: "return 'embedded'\n"},
		}},
	}})
	contains(t, c.text(), "`a.lua`: it has 1 line and begins with “return 'embedded'”")
}

// What the client does not write stays as it is, and the turn goes on.
func TestWritesThatFail(t *testing.T) {
	dir, readme := project(t)
	c := connect(t, dir, all)
	c.files[readme], c.files[filepath.Join(dir, "a.lua")] = "Hello\n", "return 1\n"
	c.write = func(r *acp.Request) { r.ReplyError(errors.New("it is locked")) }
	check.Equal(t, c.prompt("edit"), v1.StopEndTurn, "it ended with %s")
	contains(t, c.text(), "That did not work: write README.md: it is locked (-32603).", "- I could not change `README.md`.")
	check.Equal(t, c.statuses(), "completed failed", "the tool calls are %s")
	c.forget()
	check.Equal(t, c.prompt("/rename Hello Bye"), v1.StopEndTurn, "it ended with %s")
	contains(t, c.text(), "`README.md` stays as it is: write README.md: it is locked (-32603).",
		"“Bye” for “Hello” in 1 file.")
	check.Equal(t, c.statuses(), "failed failed", "the tool calls are %s")
	check.Equal(t, c.files[readme], "Hello\n", "the file is %q")
}

// A file that cannot be read is left alone.
func TestReadsThatFail(t *testing.T) {
	dir, _ := project(t)
	c := connect(t, dir, all)
	check.Equal(t, c.prompt("edit"), v1.StopEndTurn, "it ended with %s")
	contains(t, c.text(), "### Summary\n\n- Nothing has changed.\n")
	check.Equal(t, c.statuses(), "failed", "the tool calls are %s")
	check.Equal(t, c.methods(), "", "it asked for %s")
}

func TestRename(t *testing.T) {
	dir, readme := project(t)
	other := filepath.Join(dir, "more.txt")
	must.Do(t, os.WriteFile(other, []byte("Hello again\n"), 0o666))
	c := connect(t, dir, all)
	c.files[readme], c.files[other] = "Hello and Hello\n", "Hello again\n"
	c.prompt("rename")
	contains(t, c.text(), "“Good day” for “Hello” in 2 files")
	check.Equal(t, c.files[readme], "Good day and Good day\n", "through the client came %q")
	if got, _ := os.ReadFile(other); string(got) != "Good day again\n" {
		t.Errorf("the disk has %q", got)
	}
	contains(t, c.files[filepath.Join(dir, "RENAMED.md")], "- README.md\n- more.txt\n")
}
