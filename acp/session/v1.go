package session

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// V1 speaks version 1 of the protocol: it is an [Agent] for the host and the [acp.Handler] of the connection. What
// arrives is translated on the reader goroutine.
type V1 struct {
	drafts
	version   string // of this program
	overrides map[string]bool

	quirks atomic.Pointer[Quirks]
	closes atomic.Bool // the agent has session/close

	mu     sync.Mutex
	runs   map[wire.SessionID]*run   // guarded by mu
	shells map[wire.SessionID]shells // guarded by mu
	calls  map[wire.SessionID]calls  // guarded by mu
	latest wire.SessionID            // guarded by mu; prompted last
}

var (
	_ Agent     = (*V1)(nil)
	_ Canceller = (*V1)(nil)
)

// NewV1 returns the adapter; it is to be started with the connection that it
// is the handler of. The overrides are the user's of [Quirks].
func NewV1(client Client, version string, overrides map[string]bool) *V1 {
	a := &V1{
		drafts: newDrafts(client), version: version, overrides: overrides,
		runs: map[wire.SessionID]*run{}, shells: map[wire.SessionID]shells{}, calls: map[wire.SessionID]calls{},
	}
	a.quirks.Store(&Quirks{})
	return a
}

// Start gives the adapter its connection, before any call of its methods.
func (a *V1) Start(conn *acp.Conn) { a.conn = conn }

// hello is what the agent is told about the client and its capabilities.
func (a *V1) hello() v1.InitializeRequest {
	return v1.InitializeRequest{
		ProtocolVersion: v1.Version,
		ClientInfo:      &wire.Implementation{Name: "acp-nvim", Title: "Neovim", Version: a.version},
		ClientCapabilities: v1.ClientCapabilities{
			FS:        v1.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true},
			Terminal:  true,
			Subagents: &wire.Supported{},
			Plan:      &wire.Supported{},
			Session: &v1.ClientSessionCapabilities{
				Compaction:    &wire.Supported{},
				ConfigOptions: &v1.SessionConfigOptionsCapabilities{Boolean: &wire.Supported{}},
				Notices:       &wire.Supported{},
			},
			Auth: v1.AuthCapabilities{Terminal: true},
			Elicitation: &wire.ElicitationCapabilities{
				Form: &wire.Supported{}, URL: &wire.Supported{},
			},
			Meta: json.RawMessage(`{"` + terminalAuthKey + `":true,"` + v1.CapabilityTerminalOutput + `":true}`),
		},
	}
}

// welcome reads the answer to initialize.
func (a *V1) welcome(raw json.RawMessage) (Info, error) {
	var r v1.InitializeResponse
	if err := decode(raw, nil, &r); err != nil {
		return Info{}, err
	}
	caps := r.AgentCapabilities.SessionCapabilities
	if r.SessionCapabilities != nil {
		caps = *r.SessionCapabilities
	}
	a.closes.Store(caps.Close != nil)
	info := Info{
		Protocol: int(r.ProtocolVersion),
		Loads:    r.AgentCapabilities.LoadSession, Resumes: caps.Resume != nil,
		Lists: caps.List != nil, Deletes: caps.Delete != nil,
		StdioServers: true, HTTPServers: r.AgentCapabilities.MCPCapabilities.HTTP, SSEServers: r.AgentCapabilities.MCPCapabilities.SSE,
		Directories: caps.AdditionalDirectories != nil,
		LogsOut:     r.AgentCapabilities.Auth.Logout != nil, Steers: steers(r.Meta),
		Forks: caps.Fork != nil, Titles: caps.Title != nil, Archives: caps.Archive != nil, Statuses: caps.Status != nil,
		TellsLogin: r.AgentCapabilities.Auth.Status != nil, Providers: r.AgentCapabilities.Providers != nil,
	}
	info.takeSystemPrompt(caps.SystemPrompt)
	prompt := r.AgentCapabilities.PromptCapabilities
	info.Images, info.Audio, info.EmbeddedContext = prompt.Image, prompt.Audio, prompt.EmbeddedContext
	if i := r.AgentInfo; i != nil {
		info.Name, info.Title, info.Version = i.Name, i.Title, i.Version
	}
	info.ForksAfter = info.Forks && forksAfter[info.Name]
	for _, m := range r.AuthMethods {
		info.AuthMethods = append(info.AuthMethods, authMethod(m))
	}
	quirks := quirksFor(info.Name, a.overrides)
	a.quirks.Store(&quirks)
	info.Instructions = quirks.Instructions
	return info, nil
}

// NewSession implements [Agent].
func (a *V1) NewSession(at Place, done func(Setup, error)) (cancel func()) {
	return a.conn.Call(v1.MethodSessionNew, v1.NewSessionRequest{
		CWD: at.Cwd, AdditionalDirectories: at.Directories, MCPServers: toServers(at.Servers),
		SystemPrompt: at.Prompt.wire(), Meta: at.meta(""),
	}, a.made(done))
}

// SetOption implements [Agent].
func (a *V1) SetOption(sessionID string, o Option, value string, done func([]Option, error)) (cancel func()) {
	id := wire.SessionID(sessionID)
	plain := func(_ json.RawMessage, err error) { done(nil, err) }
	switch o.Via {
	case ViaMode:
		return a.conn.Call(v1.MethodSessionSetMode, v1.SetSessionModeRequest{SessionID: id, ModeID: v1.SessionModeID(value)}, plain)
	case ViaModel:
		return a.conn.Call(v1.MethodSessionSetModel, v1.SetSessionModelRequest{SessionID: id, ModelID: v1.ModelID(value)}, plain)
	}
	request := v1.SelectValue(id, wire.SessionConfigID(o.ID), wire.SessionConfigValueID(value))
	if o.Type == "boolean" {
		request = v1.BooleanValue(id, wire.SessionConfigID(o.ID), value == "true")
	}
	return a.conn.Call(v1.MethodSessionSetConfigOption, request, answered(done, func(r v1.SetSessionConfigOptionResponse) []Option {
		return configOptions(r.ConfigOptions)
	}))
}

// Prompt implements [Agent].
func (a *V1) Prompt(sessionID string, prompt []Content, done func(StopReason, error)) {
	request := wire.PromptRequest{SessionID: wire.SessionID(sessionID), Prompt: toBlocks(prompt)}
	a.endRun(request.SessionID) // of what came since the last turn
	a.mu.Lock()
	a.latest = request.SessionID
	a.mu.Unlock()
	a.conn.Call(v1.MethodSessionPrompt, request, func(raw json.RawMessage, err error) {
		var r v1.PromptResponse
		err = decode(raw, err, &r)
		a.endRun(request.SessionID)
		if calls, any := a.subagents.working(sessionID); any {
			a.client.Update(sessionID, Background{Calls: calls})
		}
		if r.Usage != nil {
			a.client.Update(sessionID, TurnTokens{
				Total: r.Usage.TotalTokens, Input: r.Usage.InputTokens, Output: r.Usage.OutputTokens,
				Thought: r.Usage.ThoughtTokens.Or(0), Read: r.Usage.CachedReadTokens.Or(0), Written: r.Usage.CachedWriteTokens.Or(0),
			})
		}
		done(StopReason(r.StopReason), err)
	})
}

// steers reads from the _meta of initialize whether the agent can be steered.
func steers(meta json.RawMessage) bool {
	var m struct {
		Steering struct {
			Supported bool `json:"supported"`
		} `json:"steering"`
	}
	return json.Unmarshal(meta, &m) == nil && m.Steering.Supported
}

// Steer implements [Agent].
func (a *V1) Steer(sessionID string, words []Content, done func(became Steering, err error)) {
	request := v1.SteeringRequest{SessionID: wire.SessionID(sessionID), Prompt: toBlocks(words)}
	request.Meta.Steering.IdleBehavior = "promptRequired"
	a.steer(request, func(became Steering, err error) {
		if became == SteeringTaken {
			a.endRun(request.SessionID) // what comes now goes after the words
		}
		done(became, err)
	})
}

// Cancel implements [Agent].
func (a *V1) Cancel(sessionID string) {
	// An error means that the connection has ended, which its owner learns anyway.
	_ = a.conn.Notify(v1.MethodSessionCancel, v1.CancelNotification{SessionID: wire.SessionID(sessionID)})
}

// MayCancel implements [Canceller].
func (a *V1) MayCancel(sessionID string) bool { return a.subagents.mayCancelAny(sessionID) }

// CancelCall implements [Canceller]: of sub-agents.
func (a *V1) CancelCall(callID string, _ []string, done func(error)) bool {
	id, allowed := a.subagents.mayCancel(callID)
	if allowed {
		done(a.conn.Notify(v1.MethodSessionCancel, v1.CancelNotification{SessionID: wire.SessionID(id)}))
	}
	return allowed
}

// Close implements [Agent].
func (a *V1) Close(sessionID string) {
	a.subagents.forget(sessionID)
	if a.closes.Load() {
		a.conn.Call(v1.MethodSessionClose, wire.CloseSessionRequest{SessionID: wire.SessionID(sessionID)}, func(json.RawMessage, error) {})
	}
}

// decode reads an answer, unless it is an error already.
func decode(raw json.RawMessage, err error, into any) error {
	if err != nil {
		return err
	}
	if err := acp.DecodeMessage(raw, into); err != nil {
		return fmt.Errorf("its answer is malformed: %w", err)
	}
	return nil
}

// answered decodes the answer to a request, and passes on what it means.
func answered[R, T any](done func(T, error), means func(R) T) func(json.RawMessage, error) {
	return func(raw json.RawMessage, err error) {
		var r R
		if err = decode(raw, err, &r); err != nil {
			var none T
			done(none, err)
			return
		}
		done(means(r), nil)
	}
}
