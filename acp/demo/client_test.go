package demo

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// crashEnv makes the test binary the agent, for what can only be seen from outside.
const crashEnv = "ACP_DEMO_TEST_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(crashEnv) != "" {
		if err := Serve(context.Background(), os.Stdin, os.Stdout, "test", 1); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// client is the other side of a connection to the agent. It checks all that the agent sends against the schema.
type client struct {
	t        *testing.T
	official *schema.V
	conn     *acp.Conn
	session  wire.SessionID
	files    map[string]string // by path; used on the reader goroutine only, or while it rests
	served   chan error        // of Serve

	// Called on the reader goroutine, with the turn's requests; nil is the default.
	permit func(r *acp.Request, p v1.RequestPermissionRequest)
	create func(r *acp.Request)
	write  func(r *acp.Request)
	exit   func(r *acp.Request) // answers terminal/wait_for_exit

	mu       sync.Mutex
	onUpdate func(v1.SessionNotification) // guarded by mu; called on the reader goroutine
	updates  []v1.SessionNotification     // guarded by mu
	requests []string                     // guarded by mu: methods, in order
	asked    []v1.RequestPermissionRequest
	problems []error // guarded by mu
}

// all is what a client can do at most.
var all = v1.ClientCapabilities{
	FS:       v1.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true},
	Terminal: true,
	Session:  &v1.ClientSessionCapabilities{Notices: &wire.Supported{}},
}

// connect starts the agent and opens a session in dir.
func connect(t *testing.T, dir string, capabilities v1.ClientCapabilities) *client {
	t.Helper()
	t.Setenv("ACP_DEMO_DELAY_MS", "0")
	c := &client{t: t, official: schema.Validator(t), files: map[string]string{}, served: make(chan error, 1)}
	agentIn, toAgent := io.Pipe()
	fromAgent, agentOut := io.Pipe()
	go func() { c.served <- Serve(t.Context(), agentIn, agentOut, "1.2.3", 1) }()
	c.conn = acp.NewConn(fromAgent, toAgent, c)
	t.Cleanup(func() {
		c.conn.Close()
		<-c.conn.Done()
		fromAgent.Close()
		for _, err := range c.problems {
			t.Error(err)
		}
	})
	answer[v1.InitializeResponse](c, v1.MethodInitialize,
		v1.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: capabilities})
	c.session = answer[v1.NewSessionResponse](c, v1.MethodSessionNew, v1.NewSessionRequest{CWD: dir}).SessionID
	return c
}

// call makes a request and waits for its answer.
func call[R any](c *client, method string, params any) (R, error) {
	c.t.Helper()
	type result struct {
		value R
		err   error
	}
	answers := make(chan result, 1)
	c.conn.Call(method, params, func(raw json.RawMessage, err error) {
		var a result
		if a.err = err; err == nil {
			c.check(c.official.Check(method, schema.Response, schema.Agent, raw))
			a.err = acp.Decode(raw, &a.value)
		}
		answers <- a
	})
	a := must.Receive(c.t, method, answers)
	return a.value, a.err
}

func answer[R any](c *client, method string, params any) R {
	c.t.Helper()
	result, err := call[R](c, method, params)
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	return result
}

// prompt runs a turn and returns why it ended.
func (c *client) prompt(text string) v1.StopReason {
	c.t.Helper()
	return answer[v1.PromptResponse](c, v1.MethodSessionPrompt, promptOf(c.session, text)).StopReason
}

// promptError runs a turn that fails.
func (c *client) promptError(text string) *acp.Error {
	c.t.Helper()
	_, err := call[v1.PromptResponse](c, v1.MethodSessionPrompt, promptOf(c.session, text))
	var e *acp.Error
	if !errors.As(err, &e) {
		c.t.Fatalf("prompt %q: %v, want an error answer", text, err)
	}
	return e
}

func promptOf(id wire.SessionID, text string) wire.PromptRequest {
	return wire.PromptRequest{SessionID: id, Prompt: []wire.ContentBlock{wire.Text(text)}}
}

// start begins a turn whose end the channel tells.
func (c *client) start(text string) <-chan v1.StopReason {
	stops := make(chan v1.StopReason, 1)
	c.conn.Call(v1.MethodSessionPrompt, promptOf(c.session, text), func(raw json.RawMessage, err error) {
		var response v1.PromptResponse
		c.check(errors.Join(err, acp.Decode(raw, &response)))
		stops <- response.StopReason
	})
	return stops
}

func (c *client) cancel() {
	c.check(c.conn.Notify(v1.MethodSessionCancel, v1.CancelNotification{SessionID: c.session}))
}

// watch calls f with every update from now on.
func (c *client) watch(f func(v1.SessionNotification)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onUpdate = f
}

// writing tells when the agent is writing, from now on.
func (c *client) writing() <-chan struct{} {
	writing := make(chan struct{}, 1)
	c.watch(func(n v1.SessionNotification) {
		if _, ok := n.Update.(*v1.AgentMessageChunk); ok {
			select {
			case writing <- struct{}{}:
			default:
			}
		}
	})
	return writing
}

func (c *client) check(err error) {
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.problems = append(c.problems, err)
	}
}

// HandleNotification implements acp.Handler.
func (c *client) HandleNotification(method string, params json.RawMessage) {
	if !strings.Contains(string(params), "_demo/weather") { // which no schema has
		c.check(c.official.Check(method, schema.Notification, schema.Client, params))
	}
	var n v1.SessionNotification
	c.check(acp.Decode(params, &n))
	c.mu.Lock()
	c.updates = append(c.updates, n)
	onUpdate := c.onUpdate
	c.mu.Unlock()
	if onUpdate != nil {
		onUpdate(n)
	}
}

// HandleRequest implements acp.Handler.
func (c *client) HandleRequest(r *acp.Request) {
	c.check(c.official.Check(r.Method, schema.Request, schema.Client, r.Params))
	c.mu.Lock()
	c.requests = append(c.requests, r.Method)
	c.mu.Unlock()
	switch r.Method {
	case wire.MethodSessionRequestPermission:
		var p v1.RequestPermissionRequest
		c.check(acp.Decode(r.Params, &p))
		c.mu.Lock()
		c.asked = append(c.asked, p)
		c.mu.Unlock()
		if c.permit == nil {
			choose(wire.PermissionAllowOnce)(r, p)
		} else {
			c.permit(r, p)
		}
	case v1.MethodFSReadTextFile:
		var p v1.ReadTextFileRequest
		c.check(acp.Decode(r.Params, &p))
		text, ok := c.files[p.Path]
		if !ok {
			r.ReplyError(&acp.Error{Code: acp.CodeResourceNotFound, Message: "no such file"})
			return
		}
		r.Reply(v1.ReadTextFileResponse{Content: text})
	case v1.MethodFSWriteTextFile:
		if c.write != nil {
			c.write(r)
			return
		}
		var p v1.WriteTextFileRequest
		c.check(acp.Decode(r.Params, &p))
		c.files[p.Path] = p.Content
		r.Reply(nil)
	case v1.MethodTerminalCreate:
		if c.create != nil {
			c.create(r)
			return
		}
		r.Reply(v1.CreateTerminalResponse{TerminalID: "terminal"})
	case v1.MethodTerminalWaitForExit:
		if c.exit != nil {
			c.exit(r)
			return
		}
		r.Reply(v1.WaitForTerminalExitResponse{ExitCode: acp.Set[uint32](0)})
	case v1.MethodTerminalOutput:
		r.Reply(v1.TerminalOutputResponse{Output: "out"})
	case v1.MethodTerminalKill, v1.MethodTerminalRelease:
		r.Reply(nil)
	default:
		r.ReplyError(acp.ErrMethodNotFound(r.Method))
	}
}

// choose answers a permission request with the option of a kind.
func choose(kind wire.PermissionOptionKind) func(*acp.Request, v1.RequestPermissionRequest) {
	return func(r *acp.Request, p v1.RequestPermissionRequest) {
		for _, o := range p.Options {
			if o.Kind == kind {
				r.Reply(wire.RequestPermissionResponse{Outcome: &wire.SelectedPermissionOutcome{OptionID: o.OptionID}})
				return
			}
		}
		r.Reply(wire.RequestPermissionResponse{Outcome: &wire.CancelledPermissionOutcome{}})
	}
}

// of returns the updates of one kind.
func of[U v1.SessionUpdate](c *client) []U {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []U
	for _, n := range c.updates {
		if u, ok := n.Update.(U); ok {
			found = append(found, u)
		}
	}
	return found
}

// text is what the agent has said.
func (c *client) text() string {
	var b strings.Builder
	for _, u := range of[*v1.AgentMessageChunk](c) {
		b.WriteString(u.Content.(*wire.TextContent).Text)
	}
	return b.String()
}

// methods are the agent's requests so far, but those for files.
func (c *client) methods() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []string
	for _, m := range c.requests {
		if !strings.HasPrefix(m, "fs/") {
			found = append(found, m[strings.IndexByte(m, '/')+1:])
		}
	}
	return strings.Join(found, " ")
}

// statuses is how each tool call stands.
func (c *client) statuses() string {
	status := map[wire.ToolCallID]v1.ToolCallStatus{}
	var order []wire.ToolCallID
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.updates {
		switch u := n.Update.(type) {
		case *v1.ToolCall:
			order = append(order, u.ToolCallID)
			status[u.ToolCallID] = u.Status.Or(v1.ToolPending)
		case *v1.ToolCallUpdate:
			status[u.ToolCallID] = u.Status.Or(status[u.ToolCallID])
		}
	}
	var all []string
	for _, id := range order {
		all = append(all, string(status[id]))
	}
	return strings.Join(all, " ")
}

// forget clears what has been seen.
func (c *client) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates, c.requests, c.asked = nil, nil, nil
}

func contains(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		check.Contains(t, text, w, "%s")
	}
}
