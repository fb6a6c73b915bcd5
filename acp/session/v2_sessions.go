package session

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// NewSession implements [Agent].
func (a *V2) NewSession(at Place, done func(Setup, error)) (cancel func()) {
	return a.conn.Call(v2.MethodSessionNew, v2.NewSessionRequest{
		CWD: at.Cwd, AdditionalDirectories: at.Directories, MCPServers: toServersV2(at.Servers),
		SystemPrompt: at.Prompt.wire(), Meta: at.meta(""),
	}, a.made(done))
}

// ForkSession implements [Agent].
func (a *V2) ForkSession(sessionID, after string, at Place, done func(Setup, error)) (cancel func()) {
	return a.conn.Call(wire.MethodSessionFork, v2.ForkSessionRequest{
		SessionID: wire.SessionID(sessionID), CWD: at.Cwd, AdditionalDirectories: at.Directories,
		MCPServers: toServersV2(at.Servers), SystemPrompt: at.Prompt.wire(), Meta: at.meta(after),
	}, a.made(done))
}

// made reads the answer to a request that makes a session.
func (a *V2) made(done func(Setup, error)) func(json.RawMessage, error) {
	return answered(done, func(r v2.NewSessionResponse) Setup {
		a.subagents.opened(string(r.SessionID))
		return setupV2(r.SessionID, r.SessionChoices)
	})
}

// setupV2 describes a session that the agent has opened.
func setupV2(id wire.SessionID, c v2.SessionChoices) Setup {
	return Setup{SessionID: string(id), Options: optionsV2(c.ConfigOptions), Commands: commandsV2(c.AvailableCommands)}
}

// LoadSession implements [Agent].
func (a *V2) LoadSession(sessionID string, at Place, done func(Setup, error)) (cancel func()) {
	a.forget(wire.SessionID(sessionID))
	return a.resume(sessionID, at, &v2.ReplayFrom{Type: "start"}, done)
}

// ResumeSession implements [Agent].
func (a *V2) ResumeSession(sessionID string, at Place, done func(Setup, error)) (cancel func()) {
	return a.resume(sessionID, at, nil, done)
}

func (a *V2) resume(sessionID string, at Place, from *v2.ReplayFrom, done func(Setup, error)) (cancel func()) {
	request := v2.ResumeSessionRequest{
		SessionID: wire.SessionID(sessionID), CWD: at.Cwd, AdditionalDirectories: at.Directories,
		MCPServers: toServersV2(at.Servers), ReplayFrom: from, SystemPrompt: at.Prompt.wire(), Meta: at.meta(""),
	}
	a.subagents.opened(sessionID)
	return a.conn.Call(v2.MethodSessionResume, request, answered(done, func(c v2.SessionChoices) Setup { return setupV2(request.SessionID, c) }))
}

// forget drops what is known of a session that is closed or about to be replayed.
func (a *V2) forget(id wire.SessionID) {
	defer a.subagents.forget(string(id))
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.messages, id)
	delete(a.working, id)
	for key, of := range a.cancels {
		if a.rootOf(of) == id {
			delete(a.cancels, key)
		}
	}
}

// ListSessions implements [Agent].
func (a *V2) ListSessions(archived bool, done func([]Stored, error)) (cancel func()) {
	return list(a.conn, archived, func(r v2.ListSessionsResponse) sessionPage {
		page := sessionPage{next: r.NextCursor}
		for _, s := range r.Sessions {
			page.found = append(page.found, stored(string(s.SessionID), s.Title, s.CWD, s.UpdatedAt, s.AdditionalDirectories))
		}
		return page
	}, done)
}

// DeleteSession implements [Agent].
func (a *V2) DeleteSession(sessionID string, done func(error)) (cancel func()) {
	return a.conn.Call(v2.MethodSessionDelete, wire.DeleteSessionRequest{SessionID: wire.SessionID(sessionID)}, justDone(done))
}

// Close implements [Agent].
func (a *V2) Close(sessionID string) {
	id := wire.SessionID(sessionID)
	a.forget(id)
	a.conn.Call(v2.MethodSessionClose, wire.CloseSessionRequest{SessionID: id}, func(json.RawMessage, error) {})
}

// Authenticate implements [Agent].
func (a *V2) Authenticate(methodID string, done func(error)) (cancel func()) {
	return a.conn.Call(v2.MethodAuthLogin, v2.LoginAuthRequest{MethodID: wire.AuthMethodID(methodID)}, justDone(done))
}

// Logout implements [Agent].
func (a *V2) Logout(done func(error)) (cancel func()) {
	return a.conn.Call(v2.MethodAuthLogout, v2.LogoutAuthRequest{}, justDone(done))
}

// SetOption implements [Agent].
func (a *V2) SetOption(sessionID string, o Option, value string, done func([]Option, error)) (cancel func()) {
	request := v2.SetSessionConfigOptionRequest{SessionID: wire.SessionID(sessionID), ConfigID: wire.SessionConfigID(o.ID), Type: "id", Value: value}
	if o.Type == "boolean" {
		request.Type, request.Value = "boolean", value == "true"
	}
	return a.conn.Call(v2.MethodSessionSetConfigOption, request, answered(done, func(r v2.SetSessionConfigOptionResponse) []Option {
		return optionsV2(r.ConfigOptions)
	}))
}
