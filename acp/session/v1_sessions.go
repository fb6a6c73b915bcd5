package session

import (
	"encoding/json"
	"errors"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// LoadSession implements [Agent].
func (a *V1) LoadSession(sessionID string, at Place, done func(Setup, error)) (cancel func()) {
	request := v1.LoadSessionRequest{
		SessionID: wire.SessionID(sessionID), CWD: at.Cwd, AdditionalDirectories: at.Directories, MCPServers: toServers(at.Servers),
		SystemPrompt: at.Prompt.wire(), Meta: at.meta(""),
	}
	a.endRun(request.SessionID)
	a.forgetCalls(request.SessionID) // a replay repeats them
	a.subagents.forget(sessionID)
	a.subagents.opened(sessionID)
	return a.conn.Call(v1.MethodSessionLoad, request, opened(sessionID, func(setup Setup, err error) {
		if err != nil || !a.quirks.Load().LateReplay {
			done(setup, err)
			return
		}
		a.afterReplay(request.SessionID, func() { done(setup, nil) })
	}))
}

// ping is a request that an agent need not know: any answer will do.
const ping = "_acp-nvim/ping"

// afterReplay calls done after a round trip to the agent that brought no update of the session. Nothing in the protocol
// says that a late replay is over.
func (a *V1) afterReplay(id wire.SessionID, done func()) {
	before := a.told(id)
	a.conn.Call(ping, struct{}{}, func(_ json.RawMessage, err error) {
		if errors.Is(err, acp.ErrClosed) || a.told(id) == before {
			done()
			return
		}
		a.afterReplay(id, done)
	})
}

// ResumeSession implements [Agent].
func (a *V1) ResumeSession(sessionID string, at Place, done func(Setup, error)) (cancel func()) {
	request := v1.ResumeSessionRequest{
		SessionID: wire.SessionID(sessionID), CWD: at.Cwd, AdditionalDirectories: at.Directories, MCPServers: toServers(at.Servers),
		SystemPrompt: at.Prompt.wire(), Meta: at.meta(""),
	}
	a.subagents.opened(sessionID)
	return a.conn.Call(v1.MethodSessionResume, request, opened(sessionID, done))
}

// ForkSession implements [Agent].
func (a *V1) ForkSession(sessionID, after string, at Place, done func(Setup, error)) (cancel func()) {
	request := v1.ForkSessionRequest{
		SessionID: wire.SessionID(sessionID), CWD: at.Cwd, AdditionalDirectories: at.Directories, MCPServers: toServers(at.Servers),
		SystemPrompt: at.Prompt.wire(), Meta: at.meta(after),
	}
	return a.conn.Call(wire.MethodSessionFork, request, a.made(done))
}

// made reads the answer to a request that makes a session.
func (a *V1) made(done func(Setup, error)) func(json.RawMessage, error) {
	return answered(done, func(r v1.NewSessionResponse) Setup {
		a.subagents.opened(string(r.SessionID))
		return Setup{SessionID: string(r.SessionID), Options: optionsOf(r.SessionChoices)}
	})
}

// opened reads the answer to a load or a resume. Some agents answer null.
func opened(sessionID string, done func(Setup, error)) func(json.RawMessage, error) {
	take := answered(done, func(c v1.SessionChoices) Setup { return Setup{SessionID: sessionID, Options: optionsOf(c)} })
	return func(raw json.RawMessage, err error) {
		if string(raw) == "null" {
			raw = json.RawMessage("{}")
		}
		take(raw, err)
	}
}

// ListSessions implements [Agent].
func (a *V1) ListSessions(archived bool, done func([]Stored, error)) (cancel func()) {
	return list(a.conn, archived, func(r v1.ListSessionsResponse) sessionPage {
		page := sessionPage{next: r.NextCursor}
		for _, s := range r.Sessions {
			page.found = append(page.found, stored(string(s.SessionID), s.Title, s.CWD, s.UpdatedAt, s.AdditionalDirectories))
		}
		return page
	}, done)
}

// stored translates a listed session.
func stored(id, title, cwd, updatedAt string, directories []string) Stored {
	s := Stored{SessionID: id, Title: title, Cwd: LocalPath(cwd), UpdatedAt: updatedAt}
	for _, d := range directories {
		s.Directories = append(s.Directories, LocalPath(d))
	}
	return s
}

// DeleteSession implements [Agent].
func (a *V1) DeleteSession(sessionID string, done func(error)) (cancel func()) {
	return a.conn.Call(v1.MethodSessionDelete, wire.DeleteSessionRequest{SessionID: wire.SessionID(sessionID)}, justDone(done))
}

// Authenticate implements [Agent].
func (a *V1) Authenticate(methodID string, done func(error)) (cancel func()) {
	return a.conn.Call(v1.MethodAuthenticate, v1.AuthenticateRequest{MethodID: wire.AuthMethodID(methodID)}, justDone(done))
}

// Logout implements [Agent].
func (a *V1) Logout(done func(error)) (cancel func()) {
	return a.conn.Call(v1.MethodLogout, v1.LogoutRequest{}, justDone(done))
}

// justDone reads an answer that only confirms the request.
func justDone(done func(error)) func(json.RawMessage, error) {
	return func(_ json.RawMessage, err error) { done(err) }
}

// terminalAuthKey is where a login in a terminal was offered before it was in the specification: in the _meta of the
// client's capabilities and of an authentication method.
const terminalAuthKey = "terminal-auth"

func authMethod(m v1.AuthMethod) AuthMethod {
	method := AuthMethod{
		ID: string(m.ID), Name: m.Name, Description: m.Description,
		Type: AuthType(m.Type), Args: m.Args, Env: m.Env,
	}
	if method.Type == "" {
		method.Type = AuthAgent
	}
	for _, v := range m.Vars {
		method.Vars = append(method.Vars, AuthVar{Name: v.Name, Label: v.Label, Optional: v.Optional})
	}
	var meta map[string]json.RawMessage
	var login struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	}
	_ = json.Unmarshal(m.Meta, &meta) // without one there is none
	if method.Type != AuthTerminal && json.Unmarshal(meta[terminalAuthKey], &login) == nil && login.Command != "" {
		method.Type, method.Command, method.Args, method.Env = AuthTerminal, login.Command, login.Args, login.Env
	}
	return method
}
