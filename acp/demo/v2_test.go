package demo

import (
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
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// clientV2 is the other side of a connection in version 2. It checks all that the agent sends against the schema, and
// answers each request for permission with the option of a kind.
type clientV2 struct {
	t        *testing.T
	official *schema.V
	conn     *acp.Conn
	session  wire.SessionID
	answer   string
	updates  chan v2.SessionUpdate
	asked    chan v2.RequestPermissionRequest
}

func connectV2(t *testing.T, dir string) *clientV2 {
	t.Helper()
	t.Setenv("ACP_DEMO_DELAY_MS", "0")
	c := &clientV2{
		t: t, official: schema.ValidatorV2(t), answer: "allow_once",
		updates: make(chan v2.SessionUpdate, 10_000), asked: make(chan v2.RequestPermissionRequest, 100),
	}
	agentIn, toAgent := io.Pipe()
	fromAgent, agentOut := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), agentIn, agentOut, "1.2.3", 2) }()
	c.conn = acp.NewConn(fromAgent, toAgent, c)
	t.Cleanup(func() {
		c.conn.Close()
		<-c.conn.Done()
		fromAgent.Close()
		<-served
	})
	info := c.must("initialize", `{"protocolVersion":2,"info":{"name":"x","version":"0"}}`)
	if !strings.Contains(string(info), `"protocolVersion":2`) {
		t.Fatalf("it is %s", info)
	}
	raw := c.must("session/new", fmt.Sprintf(`{"cwd":%q}`, dir))
	var opened v2.NewSessionResponse
	if err := acp.Decode(raw, &opened); err != nil || len(opened.AvailableCommands) == 0 || len(opened.ConfigOptions) == 0 {
		t.Fatalf("opened %s, %v", raw, err)
	}
	c.session = opened.SessionID
	return c
}

// call makes a request, whose answer comes later.
func (c *clientV2) call(method, params string) <-chan error {
	c.t.Helper()
	done := make(chan error, 1)
	c.conn.Call(method, json.RawMessage(params), func(raw json.RawMessage, err error) {
		if err == nil {
			err = c.official.Check(method, schema.Response, schema.Agent, raw)
		}
		done <- err
	})
	return done
}

func (c *clientV2) must(method, params string) json.RawMessage {
	c.t.Helper()
	type answer struct {
		raw json.RawMessage
		err error
	}
	done := make(chan answer, 1)
	c.conn.Call(method, json.RawMessage(params), func(raw json.RawMessage, err error) {
		if err == nil {
			err = c.official.Check(method, schema.Response, schema.Agent, raw)
		}
		done <- answer{raw, err}
	})
	a := must.Receive(c.t, method, done)
	if a.err != nil {
		c.t.Fatalf("%s: %v", method, a.err)
	}
	return a.raw
}

func (c *clientV2) prompt(text string) <-chan error {
	return c.call("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, c.session, text))
}

// story is what is told until the session is idle, in words.
func (c *clientV2) story() (words []string, end *v2.StateUpdate) {
	c.t.Helper()
	for {
		switch u := must.Receive(c.t, "the end of the turn", c.updates).(type) {
		case *v2.StateUpdate:
			words = append(words, u.State)
			if u.State == v2.StateIdle {
				return words, u
			}
		case *v2.AgentMessageChunk:
			if t, ok := u.Content.(*wire.TextContent); ok {
				words = append(words, t.Text)
			}
		case *v2.UserMessage:
			words = append(words, "user")
		case *v2.TerminalOutputChunk:
			words = append(words, string(u.Data))
		case *v2.TerminalUpdate:
			if command, ok := u.Command.Get(); ok {
				words = append(words, fmt.Sprint(u.TerminalID, ": ", command, " in ", u.CWD.Or("")))
			}
			if exit, ok := u.ExitStatus.Get(); ok {
				words = append(words, fmt.Sprint("exit ", exit.ExitCode.Or(-1), " ", exit.Signal.Or("")))
			}
		case *v2.ToolCallUpdate:
			words = append(words, string(u.Status.Or("")))
			for _, item := range u.Content.Or(nil) {
				if in, ok := item.(*v2.Terminal); ok {
					words = append(words, fmt.Sprint(u.ToolCallID, " shows ", in.TerminalID))
				}
			}
		}
	}
}

func (c *clientV2) HandleNotification(method string, params json.RawMessage) {
	if !strings.Contains(string(params), "_demo/weather") {
		if err := c.official.Check(method, schema.Notification, schema.Client, params); err != nil {
			c.t.Errorf("%s: %v", params, err)
		}
	}
	var n v2.UpdateSessionNotification
	if err := acp.Decode(params, &n); err != nil {
		c.t.Error(err)
	}
	if c.session != "" && n.SessionID != c.session {
		c.t.Errorf("%s is told about %q", params, n.SessionID)
	}
	c.updates <- n.Update
}

func (c *clientV2) HandleRequest(r *acp.Request) {
	if err := c.official.Check(r.Method, schema.Request, schema.Client, r.Params); err != nil {
		c.t.Errorf("%s: %v", r.Params, err)
	}
	var p v2.RequestPermissionRequest
	if err := acp.Decode(r.Params, &p); err != nil {
		c.t.Error(err)
	}
	c.asked <- p
	outcome := wire.RequestPermissionOutcome(&wire.SelectedPermissionOutcome{OptionID: wire.PermissionOptionID(c.answer)})
	if c.answer == "" {
		outcome = &wire.CancelledPermissionOutcome{}
	}
	r.Reply(wire.RequestPermissionResponse{Outcome: outcome})
}

// The tour is that of version 1, by the means of version 2: the disk, and terminals of the agent's.
func TestTourInV2(t *testing.T) {
	dir, readme := project(t)
	c := connectV2(t, dir)
	must.Do(t, must.Receive(t, "the answer", c.prompt("Show me")))
	words, end := c.story()
	all := strings.Join(words, "")
	contains(t, all, "a script without a model", "### Summary", "- I changed `README.md`", "- The command ended with code 0", "ok\n", "exit 0",
		"terminal-call-3: sh test.sh in "+dir, "call-3 shows terminal-call-3")
	if words[0] != "user" || words[1] != "running" || end.StopReason != "end_turn" {
		t.Errorf("it begins with %q and ends with %+v", words[:2], end)
	}
	if text, _ := os.ReadFile(readme); !strings.Contains(string(text), note) {
		t.Errorf("the file is %q", text)
	}
	edit := must.Receive(t, "the question", c.asked)
	content, _ := edit.Subject.(*v2.ToolCallPermissionSubject).ToolCall.Content.Get()
	d, _ := content[0].(*v2.Diff)
	if d == nil || d.Patch == nil || !strings.Contains(d.Patch.Text, "+> "+note) {
		t.Errorf("it asked to edit %+v", d)
	}
}

// What a turn needs is refused where the user does not answer, and the turn goes on.
func TestNoAnswerInV2(t *testing.T) {
	dir, _ := project(t)
	c := connectV2(t, dir)
	c.answer = ""
	must.Receive(t, "the answer", c.prompt("/edit README.md"))
	words, end := c.story()
	if all := strings.Join(words, ""); !strings.Contains(all, "stays as it is") || end.StopReason != "end_turn" {
		t.Errorf("told %s", all)
	}
}

func TestAllCommandsInV2(t *testing.T) {
	dir, _ := project(t)
	c := connectV2(t, dir)
	for _, command := range book() {
		want := map[string]string{"max": "max_tokens", "refuse": "refusal", "error": "error", "auth": "error"}[command.name]
		switch command.name {
		case "crash", "long":
			continue
		}
		if err := must.Receive(t, "the answer", c.prompt(command.name)); err != nil {
			t.Fatalf("%s: %v", command.name, err)
		}
		if _, end := c.story(); end.StopReason != want && (want != "" || end.StopReason != "end_turn") {
			t.Errorf("%s ended with %+v", command.name, end)
		}
	}
	c.must("auth/login", `{"methodId":"demo-login"}`)
	c.must("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"mode","type":"id","value":"auto"}`, c.session))
	c.must("session/list", `{}`)
	c.must("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"replayFrom":{"type":"start"}}`, c.session, dir))
	if words, _ := c.story(); !strings.Contains(strings.Join(words, ""), "It is all a script") && words[0] != "user" {
		t.Errorf("told again is %.200q", words)
	}
	c.must("session/close", fmt.Sprintf(`{"sessionId":%q}`, c.session))
	c.must("auth/logout", `{}`)
}

// What cannot be done is refused with the code and the words for it.
func TestRefusedInV2(t *testing.T) {
	c := connectV2(t, t.TempDir())
	gone := `there is no session "x"`
	for _, r := range []struct {
		method, params string
		code           int64
		want           string
	}{
		{"no/such/method", `{}`, acp.CodeMethodNotFound, "no/such/method"},
		{"session/resume", `{"sessionId":"x","cwd":"/"}`, acp.CodeResourceNotFound, gone},
		{"session/close", `{"sessionId":"x"}`, acp.CodeResourceNotFound, gone},
		{"session/prompt", `{"sessionId":"x","prompt":[]}`, acp.CodeResourceNotFound, gone},
		{"session/prompt", `{"sessionId":"demo-1","prompt":[]}`, acp.CodeInvalidParams, "the prompt is empty"},
		{"session/prompt", `{"sessionId":7}`, acp.CodeInvalidParams, "session/prompt: decode sessionId: "},
		{"session/set_config_option", `{"sessionId":"demo-1","configId":"y","type":"id","value":"z"}`,
			acp.CodeInvalidParams, `there is no choice in the option "y"`},
		{"session/set_config_option", `{"sessionId":"demo-1","configId":"mode","type":"id","value":"z"}`,
			acp.CodeInvalidParams, `there is no mode "z"`},
	} {
		var e *acp.Error
		err := must.Receive(t, "the answer", c.call(r.method, r.params))
		if !errors.As(err, &e) || e.Code != r.code || !strings.Contains(e.Message, r.want) {
			t.Errorf("%s %s: %v; want %d, %s", r.method, r.params, err, r.code, r.want)
		} else if r.want == gone && string(e.Data) != `{"sessionId":"x"}` {
			t.Errorf("%s %s: it is about %s", r.method, r.params, e.Data)
		}
	}
}

// A command that is killed says so, and one whose folder is gone is not run.
func TestKilledCommandInV2(t *testing.T) {
	dir := t.TempDir()
	c := connectV2(t, dir)
	must.Do(t, must.Receive(t, "the answer", c.prompt("/run kill -9 $$")))
	words, end := c.story()
	contains(t, strings.Join(words, ""), "- The command ended with signal killed.", "exit -1 killed", "failed")
	if end.StopReason != "end_turn" {
		t.Errorf("it ended with %+v", end)
	}
	must.Do(t, os.Remove(dir))
	must.Do(t, must.Receive(t, "the answer", c.prompt("/run true")))
	words, _ = c.story()
	contains(t, strings.Join(words, ""), "That did not work: run the command: ", "- The command could not be run.")
}

// A session that is resumed while its turn runs is told that it does.
func TestResumedWhileItRunsInV2(t *testing.T) {
	dir := t.TempDir()
	c := connectV2(t, dir)
	must.Do(t, must.Receive(t, "the answer", c.prompt("long")))
	for said := ""; said != v2.StateRunning; {
		if u, ok := must.Receive(t, "the turn", c.updates).(*v2.StateUpdate); ok {
			said = u.State
		}
	}
	c.must("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":%q}`, c.session, dir))
	for {
		if u, ok := must.Receive(t, "its state", c.updates).(*v2.StateUpdate); ok {
			if u.State != v2.StateRunning {
				t.Errorf("it is %s", u.State)
			}
			break
		}
	}
	must.Do(t, c.conn.Notify("session/cancel", json.RawMessage(fmt.Sprintf(`{"sessionId":%q}`, c.session))))
	if _, end := c.story(); end.StopReason != "cancelled" {
		t.Errorf("it ended with %+v", end)
	}
}

// A second prompt is held until the first is over, or given back by a cancel.
func TestHeldPromptsInV2(t *testing.T) {
	c := connectV2(t, t.TempDir())
	must.Receive(t, "the answer", c.prompt("long"))
	second := c.prompt("help")
	c.must("session/list", `{}`) // it has come
	select {
	case err := <-second:
		t.Fatalf("the second was answered: %v", err)
	default:
	}
	must.Do(t, c.conn.Notify("session/cancel", json.RawMessage(fmt.Sprintf(`{"sessionId":%q}`, c.session))))
	var e *acp.Error
	if err := must.Receive(t, "the second", second); !errors.As(err, &e) || e.Code != acp.CodeRequestCancelled {
		t.Errorf("the second was answered %v", err)
	}
	if _, end := c.story(); end.StopReason != "cancelled" {
		t.Errorf("the first ended with %+v", end)
	}
	must.Receive(t, "the answer", c.prompt("think"))
	second = c.prompt("help")
	if _, end := c.story(); end.StopReason != "end_turn" {
		t.Errorf("it ended with %+v", end)
	}
	if err := must.Receive(t, "the second", second); err != nil {
		t.Error(err)
	}
	if words, _ := c.story(); !strings.Contains(strings.Join(words, ""), "the words I know") {
		t.Errorf("told %q", words)
	}
	must.Do(t, must.Receive(t, "the answer", c.prompt("text"))) // and the second is over
	words, _ := c.story()
	contains(t, strings.Join(words, ""), "How text looks")
}

// A client that asks for version 1 is spoken with in that.
func TestOlderClient(t *testing.T) {
	c := connectV2(t, t.TempDir())
	c.official = schema.Validator(t)
	raw := c.must("initialize", `{"protocolVersion":1}`)
	if !strings.Contains(string(raw), `"protocolVersion":1`) {
		t.Errorf("it answers %s", raw)
	}
	c.session = "" // which is another one
	c.must("session/new", `{"cwd":"/","mcpServers":[]}`)
}

// Git takes the patches, and makes of the old text the new one.
func TestGitPatch(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	for i, c := range [][2]string{
		{"", "one\n"}, {"one\n", ""}, {"a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nd\nE\nf\ng\nh\n"}, {"a", "b"}, {"a\n", "a\nb"}, {"a\nb", "a\n"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		must.Do(t, os.WriteFile(path, []byte(c[0]), 0o666))
		apply := exec.Command("git", "apply", "--unsafe-paths", "-p1", "-")
		apply.Dir, apply.Stdin = dir, strings.NewReader(gitPatch("/f", c[0], c[1], true))
		apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		if out, err := apply.CombinedOutput(); err != nil {
			t.Errorf("%d: %v: %s\n%s", i, err, out, gitPatch("/f", c[0], c[1], true))
			continue
		}
		if got, _ := os.ReadFile(path); string(got) != c[1] {
			t.Errorf("%d: %q became %q, not %q", i, c[0], got, c[1])
		}
	}
}
