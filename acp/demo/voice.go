package demo

import (
	"context"
	"fmt"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// voice is how the agent speaks in one version of the protocol. The scripts use the types of version 1.
type voice interface {
	// serve answers a request, on the reader goroutine.
	serve(r *acp.Request)
	// update tells what happens in a session.
	update(s *session, u v1.SessionUpdate)
	// permission asks the user and returns the chosen option, "" for none.
	permission(ctx context.Context, t *turn, p v1.RequestPermissionRequest) (wire.PermissionOptionID, error)
	// run runs the turn's command in a terminal that the call shows, and returns its output. When ctx ends, so does
	// the command.
	run(ctx context.Context, t *turn, id wire.ToolCallID) (output string, err error)
	// ended is called when the turn is over, with the request that began it: the session may have another now.
	ended(r *acp.Request, s *session, reason v1.StopReason, err error)
}

// voiceV1 speaks version 1.
type voiceV1 struct{ *agent }

func (a *voiceV1) serve(r *acp.Request) {
	switch r.Method {
	case v1.MethodInitialize:
		serve(r, a.welcome)
	case v1.MethodAuthenticate:
		serve(r, a.authenticate)
	case v1.MethodLogout:
		serve(r, a.logout)
	case v1.MethodSessionNew:
		a.newSession(r)
	case v1.MethodSessionClose:
		serve(r, a.closeSession)
	case v1.MethodSessionSetMode:
		serve(r, a.setMode)
	case v1.MethodSessionSetConfigOption:
		serve(r, a.setConfigOption)
	case v1.MethodSessionPrompt:
		a.prompt(r)
	default:
		r.ReplyError(acp.ErrMethodNotFound(r.Method))
	}
}

func (a *voiceV1) welcome(p v1.InitializeRequest) (*v1.InitializeResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.client = p.ClientCapabilities
	return &v1.InitializeResponse{
		ProtocolVersion: v1.Version,
		AgentInfo:       &wire.Implementation{Name: "acp-nvim-demo", Title: "Demo", Version: a.version},
		AgentCapabilities: v1.AgentCapabilities{
			PromptCapabilities:  v1.PromptCapabilities{EmbeddedContext: true},
			SessionCapabilities: v1.SessionCapabilities{Close: &wire.Supported{}},
			Auth:                v1.AgentAuthCapabilities{Logout: &wire.Supported{}},
		},
		AuthMethods: []v1.AuthMethod{{
			ID: loginMethod, Name: loginName, Description: loginDescription,
		}},
	}, nil
}

func (a *voiceV1) newSession(r *acp.Request) {
	var s *session
	serve(r, func(p v1.NewSessionRequest) (*v1.NewSessionResponse, error) {
		s = a.open(p.CWD)
		return &v1.NewSessionResponse{SessionID: s.id, SessionChoices: v1.SessionChoices{
			Modes:         modesOf(modeAsk),
			ConfigOptions: optionsOf(modeAsk),
		}}, nil
	})
	if s != nil {
		a.update(s, &v1.AvailableCommandsUpdate{AvailableCommands: commands()})
		a.update(s, usageOf(s))
	}
}

// prompt starts a turn; the goroutine that runs it answers the request.
func (a *voiceV1) prompt(r *acp.Request) {
	var p wire.PromptRequest
	if err := acp.Decode(r.Params, &p); err != nil {
		r.ReplyError(invalid("%s: %v", r.Method, err))
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch s := a.sessions[p.SessionID]; {
	case s == nil:
		r.ReplyError(noSession(p.SessionID))
	case s.cancel != nil:
		r.ReplyError(&acp.Error{Code: acp.CodeInvalidRequest, Message: "a turn is running in this session"})
	case a.stopped:
		r.ReplyError(acp.ErrClosed)
	default:
		a.start(r.Context(), r, s, p.Prompt)
	}
}

func (a *voiceV1) update(s *session, u v1.SessionUpdate) {
	_ = a.conn.Notify(v1.MethodSessionUpdate, &v1.SessionNotification{SessionID: s.id, Update: u})
}

func (a *voiceV1) permission(ctx context.Context, t *turn, p v1.RequestPermissionRequest) (wire.PermissionOptionID, error) {
	var response wire.RequestPermissionResponse
	if err := t.call(ctx, wire.MethodSessionRequestPermission, p, &response); err != nil {
		return "", err
	}
	selected, ok := response.Outcome.(*wire.SelectedPermissionOutcome)
	if !ok {
		return "", errCancelled
	}
	return selected.OptionID, nil
}

func (a *voiceV1) ended(r *acp.Request, s *session, reason v1.StopReason, err error) {
	a.mu.Lock()
	s.cancel = nil // before the answer: the client may react with the next prompt
	a.mu.Unlock()
	if err != nil {
		r.ReplyError(err)
		return
	}
	r.Reply(&v1.PromptResponse{StopReason: reason})
}

// run has the client run the command. Whatever happens, the terminal is released; if ctx has ended, the command is
// killed first.
func (a *voiceV1) run(ctx context.Context, t *turn, id wire.ToolCallID) (output string, err error) {
	var created v1.CreateTerminalResponse
	// Not abandoned halfway: what has been created must be released.
	err = t.call(context.WithoutCancel(ctx), v1.MethodTerminalCreate, v1.CreateTerminalRequest{
		SessionID: t.session.id, Command: "sh", Args: []string{"-c", t.command}, CWD: t.session.cwd,
		OutputByteLimit: acp.Set[uint64](outputLimit),
	}, &created)
	if err != nil {
		return "", fmt.Errorf("run the command: %w", err)
	}
	terminal := v1.WaitForTerminalExitRequest{SessionID: t.session.id, TerminalID: created.TerminalID}
	defer func() {
		if ctx.Err() != nil {
			t.notify(v1.MethodTerminalKill, v1.KillTerminalRequest(terminal))
		}
		t.notify(v1.MethodTerminalRelease, v1.ReleaseTerminalRequest(terminal))
	}()
	t.send(&v1.ToolCallUpdate{
		ToolCallID: id, Status: acp.Set(v1.ToolInProgress),
		Content: acp.Set([]v1.ToolCallContent{&v1.Terminal{TerminalID: created.TerminalID}}),
	})
	var exit v1.WaitForTerminalExitResponse
	if err := t.call(ctx, v1.MethodTerminalWaitForExit, terminal, &exit); err != nil {
		return "", fmt.Errorf("wait for the command: %w", err)
	}
	t.exit = "no code"
	if signal, ok := exit.Signal.Get(); ok {
		t.exit = "signal " + signal
	} else if code, ok := exit.ExitCode.Get(); ok {
		t.exit = fmt.Sprintf("code %d", code)
	}
	var shown v1.TerminalOutputResponse
	if err := t.call(ctx, v1.MethodTerminalOutput, v1.TerminalOutputRequest(terminal), &shown); err != nil {
		return "", fmt.Errorf("read the command's output: %w", err)
	}
	return shown.Output, nil
}
