package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// voiceV2 speaks version 2: the agent reads and writes the disk, and runs commands itself.
type voiceV2 struct{ *agent }

func (a *voiceV2) serve(r *acp.Request) {
	switch r.Method {
	case v2.MethodInitialize:
		serve(r, a.welcome)
	case v2.MethodAuthLogin:
		serve(r, func(p v2.LoginAuthRequest) (*v1.AuthenticateResponse, error) {
			return a.authenticate(v1.AuthenticateRequest{MethodID: p.MethodID})
		})
	case v2.MethodAuthLogout:
		serve(r, a.logout)
	case v2.MethodSessionNew:
		serve(r, a.newSession)
	case wire.MethodSessionList:
		serve(r, a.list)
	case v2.MethodSessionResume:
		serve(r, a.resume)
	case v2.MethodSessionClose:
		serve(r, a.close)
	case v2.MethodSessionSetConfigOption:
		serve(r, a.setOption)
	case v2.MethodSessionPrompt:
		a.prompt(r)
	default:
		r.ReplyError(acp.ErrMethodNotFound(r.Method))
	}
}

func (a *voiceV2) welcome(v2.InitializeRequest) (*v2.InitializeResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	// What the scripts check: there are terminals, though the agent's own, and notices need no capability.
	a.client = v1.ClientCapabilities{Terminal: true, Session: &v1.ClientSessionCapabilities{Notices: &wire.Supported{}}}
	return &v2.InitializeResponse{
		ProtocolVersion: v2.Version,
		Info:            wire.Implementation{Name: "acp-nvim-demo", Title: "Demo", Version: a.version},
		Capabilities: v2.AgentCapabilities{
			Session: &v2.SessionCapabilities{Prompt: &v2.PromptCapabilities{EmbeddedContext: &wire.Supported{}}},
			Auth:    &v2.AgentAuthCapabilities{},
		},
		AuthMethods: []v2.AuthMethod{{
			Type: v2.AuthMethodAgent, MethodID: loginMethod, Name: loginName, Description: loginDescription,
		}},
	}, nil
}

func (a *voiceV2) newSession(p v2.NewSessionRequest) (*v2.NewSessionResponse, error) {
	s := a.open(p.CWD)
	return &v2.NewSessionResponse{SessionID: s.id, SessionChoices: choicesOf(modeAsk)}, nil
}

// list returns the sessions of this process, which are all there are.
func (a *voiceV2) list(wire.ListSessionsRequest) (*v2.ListSessionsResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := &v2.ListSessionsResponse{}
	for _, id := range slices.Sorted(maps.Keys(a.sessions)) {
		r.Sessions = append(r.Sessions, v2.SessionInfo{SessionID: id, CWD: a.sessions[id].cwd})
	}
	return r, nil
}

func (a *voiceV2) resume(p v2.ResumeSessionRequest) (*v2.SessionChoices, error) {
	a.mu.Lock()
	s := a.sessions[p.SessionID]
	if s == nil {
		a.mu.Unlock()
		return nil, missing(p.SessionID)
	}
	told, choices, state := s.told, choicesOf(s.mode), v2.StateIdle
	if s.cancel != nil {
		state = v2.StateRunning
	}
	a.mu.Unlock()
	if p.ReplayFrom != nil {
		for _, u := range told {
			a.send(s, u)
		}
	}
	a.send(s, &v2.StateUpdate{State: state})
	return &choices, nil
}

func (a *voiceV2) close(p wire.CloseSessionRequest) (*v1.CloseSessionResponse, error) {
	if r, err := a.closeSession(p); err == nil {
		return r, nil
	}
	return nil, missing(p.SessionID)
}

// missing says that there is no such session.
func missing(id wire.SessionID) error {
	data, _ := json.Marshal(map[string]any{"sessionId": id})
	return &acp.Error{Code: acp.CodeResourceNotFound, Message: fmt.Sprintf("there is no session %q", id), Data: data}
}

// chosen is a [v2.SetSessionConfigOptionRequest] of one of several values.
type chosen struct {
	SessionID wire.SessionID            `json:"sessionId" wire:"required"`
	ConfigID  string                    `json:"configId" wire:"required"`
	Value     wire.SessionConfigValueID `json:"value" wire:"required"`
}

func (a *voiceV2) setOption(p chosen) (*v2.SetSessionConfigOptionResponse, error) {
	if p.ConfigID != "mode" {
		return nil, invalid("there is no choice in the option %q", p.ConfigID)
	}
	if _, err := a.changeMode(p.SessionID, p.Value); err != nil {
		return nil, err
	}
	return &v2.SetSessionConfigOptionResponse{ConfigOptions: choicesOf(p.Value).ConfigOptions}, nil
}

// prompt begins a turn, or holds the prompt until the running turn is over.
func (a *voiceV2) prompt(r *acp.Request) {
	var p wire.PromptRequest
	if err := acp.Decode(r.Params, &p); err != nil {
		r.ReplyError(invalid("%s: %v", r.Method, err))
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch s := a.sessions[p.SessionID]; {
	case s == nil:
		r.ReplyError(missing(p.SessionID))
	case len(p.Prompt) == 0:
		r.ReplyError(invalid("the prompt is empty"))
	case a.stopped:
		r.ReplyError(acp.ErrClosed)
	case s.cancel != nil:
		s.queued = append(s.queued, r)
	default:
		a.insert(r, s, p)
	}
}

// insert takes a prompt into the conversation, and starts its turn. The agent's mu is held.
func (a *voiceV2) insert(r *acp.Request, s *session, p wire.PromptRequest) {
	s.prompts++
	id := wire.MessageID(fmt.Sprintf("prompt-%d", s.prompts))
	a.note(s, &v2.UserMessage{MessageID: id, Content: acp.Set([]wire.ContentBlock(p.Prompt))})
	r.Reply(v2.PromptResponse{MessageID: id})
	a.send(s, &v2.StateUpdate{State: v2.StateRunning})
	a.start(a.life, r, s, p.Prompt)
}

func (a *voiceV2) ended(_ *acp.Request, s *session, reason v1.StopReason, err error) {
	state := &v2.StateUpdate{State: v2.StateIdle, StopReason: string(reason)}
	if err != nil {
		failure := &acp.Error{Code: acp.CodeInternalError, Message: err.Error()}
		errors.As(err, &failure)
		state.StopReason, state.Error = v2.StopError, failure
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s.cancel = nil
	a.send(s, state)
	if len(s.queued) == 0 || a.stopped {
		return
	}
	r := s.queued[0]
	s.queued = s.queued[1:]
	var p wire.PromptRequest
	_ = acp.Decode(r.Params, &p) // which it was when it came
	a.insert(r, s, p)
}

func (a *voiceV2) send(s *session, u v2.SessionUpdate) {
	_ = a.conn.Notify(v2.MethodSessionUpdate, &v2.UpdateSessionNotification{SessionID: s.id, Update: u})
}

// note is send for updates that belong to the conversation. The agent's mu is held.
func (a *voiceV2) note(s *session, u v2.SessionUpdate) {
	s.told = append(s.told, u)
	a.send(s, u)
}

func (a *voiceV2) update(s *session, u v1.SessionUpdate) {
	switch u := u.(type) {
	case *v1.AvailableCommandsUpdate, *v1.CurrentModeUpdate, *v1.ConfigOptionUpdate: // told where they are chosen
	case *v1.SessionInfoUpdate:
		a.send(s, &v2.SessionInfoUpdate{Title: u.Title})
	case *v1.UsageUpdate:
		usage := as[v2.UsageUpdate](u)
		a.send(s, &usage)
	case *v1.Notice:
		notice := as[v2.Notice](u)
		a.send(s, &notice)
	case *v1.Unknown:
		a.send(s, &v2.Unknown{Raw: u.Raw})
	default:
		a.mu.Lock()
		defer a.mu.Unlock()
		a.note(s, saidInV2(u))
	}
}

// saidInV2 returns the update as the conversation records it.
func saidInV2(u v1.SessionUpdate) v2.SessionUpdate {
	switch u := u.(type) {
	case *v1.AgentMessageChunk:
		chunk := as[v2.AgentMessageChunk](u)
		return &chunk
	case *v1.AgentThoughtChunk:
		chunk := as[v2.AgentThoughtChunk](u)
		return &chunk
	case *v1.Plan:
		return &v2.PlanUpdate{Plan: v2.PlanContent{Type: "items", PlanID: "plan", Entries: as[[]v2.PlanEntry](u.Entries)}}
	case *v1.ToolCall:
		call := callInV2(patch(u.ToolCallID, *u))
		return &call
	case *v1.ToolCallUpdate:
		call := callInV2(*u)
		return &call
	}
	return nil
}

func callInV2(u v1.ToolCallUpdate) v2.ToolCallUpdate {
	content, told := u.Content.Get()
	u.Content = acp.Opt[[]v1.ToolCallContent]{}
	call := as[v2.ToolCallUpdate](u)
	if !told {
		return call
	}
	list := []v2.ToolCallContent{}
	for _, item := range content {
		if d, ok := item.(*v1.Diff); ok {
			list = append(list, diffInV2(d))
		} else {
			list = append(list, as[v2.ToolCallContent](item))
		}
	}
	call.Content = acp.Set(list)
	return call
}

func diffInV2(d *v1.Diff) *v2.Diff {
	old, existed := d.OldText.Get()
	change := v2.DiffChange{FileType: v2.FileText, Operation: &v2.DiffModify{Path: d.Path}}
	if !existed {
		change.Operation = &v2.DiffAdd{Path: d.Path}
	}
	patch := &v2.DiffPatch{Format: v2.PatchGit, Text: gitPatch(d.Path, old, d.NewText, existed)}
	return &v2.Diff{Changes: []v2.DiffChange{change}, Patch: patch}
}

// gitPatch is the change of a file's text as one hunk, from the first line that differs to the last.
func gitPatch(path, old, text string, existed bool) string {
	const around = 3
	was, is := splitLines(old), splitLines(text)
	head, tail := 0, 0
	for head < min(len(was), len(is)) && was[head] == is[head] {
		head++
	}
	for tail < min(len(was), len(is))-head && was[len(was)-1-tail] == is[len(is)-1-tail] {
		tail++
	}
	from := max(0, head-around)
	after := max(0, tail-around)
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a%s b%s\n", path, path)
	if existed {
		fmt.Fprintf(&b, "--- a%s\n", path)
	} else {
		b.WriteString("new file mode 100644\n--- /dev/null\n")
	}
	fmt.Fprintf(&b, "+++ b%s\n@@ -%s +%s @@\n", path, span(from, len(was)-after), span(from, len(is)-after))
	write := func(sign string, lines []string) {
		for _, l := range lines {
			b.WriteString(sign + l)
			if !strings.HasSuffix(l, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	write(" ", was[from:head])
	write("-", was[head:len(was)-tail])
	write("+", is[head:len(is)-tail])
	write(" ", was[len(was)-tail:len(was)-after])
	return b.String()
}

// span returns a range of lines, counted from 0, as the header of a hunk writes it.
func span(from, end int) string {
	if from == end {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, end-from)
}

func splitLines(text string) []string { return slices.Collect(strings.Lines(text)) }

func (a *voiceV2) permission(ctx context.Context, t *turn, p v1.RequestPermissionRequest) (wire.PermissionOptionID, error) {
	request := v2.RequestPermissionRequest{
		SessionID: p.SessionID, Title: p.ToolCall.Title.Or("") + "?",
		Subject: &v2.ToolCallPermissionSubject{ToolCall: callInV2(p.ToolCall)},
		Options: p.Options,
	}
	a.send(t.session, &v2.StateUpdate{State: v2.StateRequiresAction})
	var response wire.RequestPermissionResponse
	if err := t.call(ctx, wire.MethodSessionRequestPermission, request, &response); err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		return "", errCancelled
	}
	a.send(t.session, &v2.StateUpdate{State: v2.StateRunning})
	if selected, ok := response.Outcome.(*wire.SelectedPermissionOutcome); ok {
		return selected.OptionID, nil
	}
	return wire.PermissionOptionID(wire.PermissionRejectOnce), nil // no answer allows nothing
}

// run runs the command in a terminal of the agent's own.
func (a *voiceV2) run(ctx context.Context, t *turn, id wire.ToolCallID) (string, error) {
	terminal := wire.TerminalID("terminal-" + string(id))
	record := func(u v2.SessionUpdate) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.note(t.session, u)
	}
	record(&v2.TerminalUpdate{TerminalID: terminal, Command: acp.Set(t.command), CWD: acp.Set(t.session.cwd)})
	record(&v2.ToolCallUpdate{
		ToolCallID: id, Status: acp.Set(v2.ToolInProgress),
		Content: acp.Set([]v2.ToolCallContent{&v2.Terminal{TerminalID: terminal}}),
	})
	var output bytes.Buffer
	command := exec.CommandContext(ctx, "sh", "-c", t.command)
	command.Dir, command.WaitDelay = t.session.cwd, time.Second
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	shown := writerFunc(func(data []byte) {
		output.Write(data)
		record(&v2.TerminalOutputChunk{TerminalID: terminal, Data: bytes.Clone(data)})
	})
	command.Stdout, command.Stderr = shown, shown
	err := command.Run()
	state := command.ProcessState
	if state == nil {
		return "", fmt.Errorf("run the command: %w", err)
	}
	exit := v2.TerminalExitStatus{ExitCode: acp.Set(int64(state.ExitCode()))}
	t.exit = fmt.Sprintf("code %d", state.ExitCode())
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		t.exit = "signal " + status.Signal().String()
		exit = v2.TerminalExitStatus{Signal: acp.Set(status.Signal().String())}
	}
	record(&v2.TerminalUpdate{TerminalID: terminal, ExitStatus: acp.Set(exit)})
	return output.String(), ctx.Err()
}

// writerFunc is an io.Writer that never fails.
type writerFunc func([]byte)

func (f writerFunc) Write(data []byte) (int, error) {
	f(data)
	return len(data), nil
}

// choicesOf returns what can be set and called in a session.
func choicesOf(mode wire.SessionConfigValueID) v2.SessionChoices {
	var choices v2.SessionChoices
	for _, o := range optionsOf(mode) {
		choices.ConfigOptions = append(choices.ConfigOptions, v2.SessionConfigOption{
			ConfigID: o.ID, Name: o.Name, Description: o.Description, Category: string(o.Category),
			Kind: as[v2.SessionConfigKind](o.Kind),
		})
	}
	for _, c := range commands() {
		command := v2.AvailableCommand{Type: "command", Name: c.Name, Description: c.Description}
		if c.Input != nil {
			command.Input = &v2.AvailableCommandInput{Type: "text", Hint: c.Input.Hint}
		}
		choices.AvailableCommands = append(choices.AvailableCommands, command)
	}
	return choices
}

// as converts a value from one version to the other if both look the same on the wire.
func as[T any](v any) (same T) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = acp.Decode(raw, &same)
	}
	if err != nil {
		panic(fmt.Sprintf("%T is not as %T: %v", v, same, err))
	}
	return same
}
