package replay

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/demo"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// editor is a client that says yes to everything.
type editor struct {
	mu   sync.Mutex
	seen []string // guarded by mu: what the agent has sent
}

func (e *editor) note(method string, params json.RawMessage) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = append(e.seen, method+" "+string(params))
}

func (e *editor) HandleNotification(method string, params json.RawMessage) { e.note(method, params) }

func (e *editor) HandleRequest(r *acp.Request) {
	e.note(r.Method, r.Params)
	switch r.Method {
	case wire.MethodSessionRequestPermission:
		r.Reply(wire.RequestPermissionResponse{Outcome: &wire.SelectedPermissionOutcome{OptionID: "allow_once"}})
	case v1.MethodTerminalCreate:
		r.Reply(v1.CreateTerminalResponse{TerminalID: "terminal"})
	case v1.MethodTerminalWaitForExit:
		r.Reply(v1.WaitForTerminalExitResponse{ExitCode: acp.Set[uint32](0)})
	case v1.MethodTerminalOutput:
		r.Reply(v1.TerminalOutputResponse{Output: "out"})
	default:
		r.Reply(nil)
	}
}

// converse has two turns with an agent and returns what it sent.
func converse(t *testing.T, agent func(stdin io.Reader, stdout io.WriteCloser) error, cwd string, traffic *acp.Traffic) []string {
	t.Helper()
	agentIn, toAgent := io.Pipe()
	fromAgent, agentOut := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- agent(agentIn, agentOut) }()
	e := &editor{}
	conn := acp.NewConn(fromAgent, toAgent, e, acp.WithTraffic(traffic))
	for _, call := range []struct {
		method string
		params any
	}{
		{v1.MethodInitialize, v1.InitializeRequest{ProtocolVersion: 1, ClientCapabilities: v1.ClientCapabilities{
			FS: v1.FileSystemCapabilities{WriteTextFile: true}, Terminal: true,
		}}},
		{v1.MethodSessionNew, v1.NewSessionRequest{CWD: cwd}},
		{v1.MethodSessionPrompt, wire.PromptRequest{SessionID: "demo-1", Prompt: []wire.ContentBlock{wire.Text("tour")}}},
		{v1.MethodSessionPrompt, wire.PromptRequest{SessionID: "demo-1", Prompt: []wire.ContentBlock{wire.Text("thanks")}}},
	} {
		answers := make(chan error, 1)
		conn.Call(call.method, call.params, func(result json.RawMessage, err error) {
			e.note(call.method, result)
			answers <- err
		})
		must.Do(t, must.Receive(t, call.method, answers))
	}
	conn.Close()
	<-conn.Done()
	must.Do(t, <-ended)
	fromAgent.Close()
	return e.seen
}

// A client sees of a replay what it saw of the agent, in its own folder.
func TestReplayOfTheDemo(t *testing.T) {
	t.Setenv("ACP_DEMO_DELAY_MS", "0")
	first, second := t.TempDir(), t.TempDir()
	traffic := acp.NewTraffic(0)
	var recording bytes.Buffer
	stop, err := traffic.RecordTo(&recording)
	must.Do(t, err)
	want := converse(t, func(stdin io.Reader, stdout io.WriteCloser) error {
		return demo.Serve(t.Context(), stdin, stdout, "test", 1)
	}, first, traffic)
	must.Do(t, stop())
	got := converse(t, func(stdin io.Reader, stdout io.WriteCloser) error {
		return Serve(t.Context(), &recording, stdin, stdout)
	}, second, nil)
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], first, second)
	}
	if !slices.Equal(got, want) {
		t.Errorf("replayed, %d messages are\n%s\nwant %d\n%s",
			len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
	}
	if len(want) < 100 {
		t.Errorf("only %d messages", len(want))
	}
}
