package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// This file serves the requests of agents of version 1: permission, files, terminals.

// HandleRequest implements [acp.Handler].
func (a *V1) HandleRequest(r *acp.Request) {
	handle, known := requests[r.Method]
	if !known {
		extend(a.client, r)
		return
	}
	handle(a, r)
}

// requests are the methods that agents may call, by name.
var requests = map[string]func(*V1, *acp.Request){
	wire.MethodSessionRequestPermission: request((*V1).requestPermission),
	v1.MethodFSReadTextFile:             request((*V1).readTextFile),
	v1.MethodFSWriteTextFile:            request((*V1).writeTextFile),
	v1.MethodTerminalCreate:             request((*V1).createTerminal),
	v1.MethodTerminalOutput:             request((*V1).terminalOutput),
	v1.MethodTerminalWaitForExit:        request((*V1).waitForTerminalExit),
	v1.MethodTerminalKill:               request((*V1).killTerminal),
	v1.MethodTerminalRelease:            request((*V1).releaseTerminal),
	v1.MethodElicitationCreate:          request((*V1).createElicitation),

	"cursor/ask_question":  request((*V1).askCursorQuestions),
	"cursor/create_plan":   request((*V1).askCursorPlan),
	"_cursor/ask_question": request((*V1).askCursorQuestions),
	"_cursor/create_plan":  request((*V1).askCursorPlan),
}

// request decodes a method's parameters before f is called.
func request[T any](f func(*V1, *acp.Request, *T)) func(*V1, *acp.Request) {
	return func(a *V1, r *acp.Request) {
		var params T
		if err := acp.DecodeMessage(r.Params, &params); err != nil {
			r.ReplyError(&acp.Error{Code: acp.CodeInvalidParams, Message: fmt.Sprintf("invalid params of %s: %v", r.Method, err)})
			return
		}
		f(a, r, &params)
	}
}

func (a *V1) requestPermission(r *acp.Request, p *v1.RequestPermissionRequest) {
	patch := patched(&p.ToolCall)
	if asked, ok := metaPatch(p.Meta).Or(nil)[metaMCPApproval]; ok {
		meta := maps.Clone(patch.Meta.Or(map[string]json.RawMessage{}))
		meta[metaMCPApproval] = asked
		patch.Meta = acp.Set(meta)
	}
	id := p.SessionID // from here on, the user's session
	p.SessionID = a.rootOf(id)
	a.subagents.below(string(id), &patch)
	a.called(p.SessionID, &patch)
	a.interrupt(p.SessionID)
	for _, u := range a.terminals(p.SessionID, &p.ToolCall) {
		a.client.Update(string(p.SessionID), u)
	}
	if questions := qwenQuestions(&p.ToolCall); len(questions) > 0 {
		a.client.Update(string(p.SessionID), patch)
		a.askQwenQuestions(r, p, questions)
		return
	}
	req := PermissionRequest{
		Context:   r.Context(),
		SessionID: string(p.SessionID),
		Call:      patch,
		Options:   permissionOptions(p.Options),

		CancelsTurn: id == p.SessionID,
	}
	req.Reply = func(optionID string) {
		switch {
		case optionID != "":
			r.Reply(wire.RequestPermissionResponse{Outcome: &wire.SelectedPermissionOutcome{OptionID: wire.PermissionOptionID(optionID)}})
		case r.Context().Err() != nil:
			r.ReplyError(r.Context().Err()) // withdrawn by the agent
		default:
			r.Reply(wire.RequestPermissionResponse{Outcome: &wire.CancelledPermissionOutcome{}})
		}
	}
	a.client.RequestPermission(req)
}

func (a *V1) readTextFile(r *acp.Request, p *v1.ReadTextFileRequest) {
	a.client.ReadTextFile(ReadTextFile{
		Context: r.Context(), SessionID: string(a.rootOf(p.SessionID)), Path: LocalPath(p.Path),
		Line: pointer(p.Line), Limit: pointer(p.Limit),
		Reply: func(text string, err error) {
			if errors.Is(err, fs.ErrNotExist) && a.quirks.Load().EmptyForMissing {
				text, err = "", nil
			}
			answer(r, v1.ReadTextFileResponse{Content: text}, fileError(err))
		},
	})
}

func (a *V1) writeTextFile(r *acp.Request, p *v1.WriteTextFileRequest) {
	a.client.WriteTextFile(WriteTextFile{
		Context: r.Context(), SessionID: string(a.rootOf(p.SessionID)), Path: LocalPath(p.Path), Text: p.Content,
		Reply: func(err error) { answer(r, v1.WriteTextFileResponse{}, fileError(err)) },
	})
}

func (a *V1) createTerminal(r *acp.Request, p *v1.CreateTerminalRequest) {
	t := CreateTerminal{
		SessionID: string(a.rootOf(p.SessionID)), Command: p.Command, Args: p.Args,
		Dir:             cmp.Or(LocalPath(p.CWD), a.subagents.cwdOf(string(p.SessionID))),
		OutputByteLimit: int(min(p.OutputByteLimit.Or(0), 1<<30)), NoOutput: p.OutputByteLimit.Or(1) == 0,
		Reply: func(id string, err error) {
			answer(r, v1.CreateTerminalResponse{TerminalID: wire.TerminalID(id)}, err)
		},
	}
	for _, e := range p.Env {
		t.Env = append(t.Env, e.Name+"="+e.Value)
	}
	a.client.CreateTerminal(t)
}

func (a *V1) terminalOutput(r *acp.Request, p *v1.TerminalOutputRequest) {
	o, err := a.client.TerminalOutput(string(a.rootOf(p.SessionID)), string(p.TerminalID))
	response := v1.TerminalOutputResponse{Output: o.Text, Truncated: o.Truncated}
	if o.Exit != nil {
		status := exitStatus(*o.Exit)
		response.ExitStatus = &status
	}
	answer(r, response, err)
}

func (a *V1) waitForTerminalExit(r *acp.Request, p *v1.WaitForTerminalExitRequest) {
	a.client.WaitForTerminalExit(r.Context(), string(a.rootOf(p.SessionID)), string(p.TerminalID), func(exit TerminalExit, err error) {
		status := exitStatus(exit)
		answer(r, v1.WaitForTerminalExitResponse{ExitCode: status.ExitCode, Signal: status.Signal}, err)
	})
}

func (a *V1) killTerminal(r *acp.Request, p *v1.KillTerminalRequest) {
	answer(r, v1.KillTerminalResponse{}, a.client.KillTerminal(string(a.rootOf(p.SessionID)), string(p.TerminalID)))
}

func (a *V1) releaseTerminal(r *acp.Request, p *v1.ReleaseTerminalRequest) {
	answer(r, v1.ReleaseTerminalResponse{}, a.client.ReleaseTerminal(string(a.rootOf(p.SessionID)), string(p.TerminalID)))
}

func answer(r *acp.Request, result any, err error) {
	if err != nil {
		r.ReplyError(err)
		return
	}
	r.Reply(result)
}

// fileError gives a file operation's error the specification's code.
func fileError(err error) error {
	var coded *acp.Error
	switch {
	case err == nil, errors.As(err, &coded), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return &acp.Error{Code: acp.CodeResourceNotFound, Message: "Resource not found: " + err.Error()}
	}
	return &acp.Error{Code: acp.CodeInternalError, Message: err.Error()}
}

func exitStatus(e TerminalExit) v1.TerminalExitStatus {
	var s v1.TerminalExitStatus
	if e.Code != nil {
		s.ExitCode = acp.Set(uint32(*e.Code))
	}
	if e.Signal != "" {
		s.Signal = acp.Set(e.Signal)
	}
	return s
}

func pointer(o acp.Opt[uint32]) *int {
	n, ok := o.Get()
	if !ok {
		return nil
	}
	i := int(n)
	return &i
}
