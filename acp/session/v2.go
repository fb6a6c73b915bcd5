package session

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// V2 speaks version 2 of the protocol. What arrives is translated on the reader goroutine. Its methods may be called
// from any goroutine.
type V2 struct {
	drafts

	mu       sync.Mutex
	steering bool                                       // the agent has the extension for it; set before any session
	turns    map[wire.SessionID]*turnV2                 // guarded by mu: the prompts that are not done
	ahead    map[wire.SessionID][]*aheadV2              // guarded by mu: those that were sent while a turn was running
	starting map[wire.SessionID]bool                    // guarded by mu: it runs, but with which prompt is not known yet
	working  map[wire.SessionID]bool                    // guarded by mu: sessions in which the agent works without a prompt
	messages map[wire.SessionID]map[wire.MessageID]bool // guarded by mu: those the agent has sent
	cancels  map[string]wire.SessionID                  // guarded by mu: what may be cancelled, and its session
}

var (
	_ Agent       = (*V2)(nil)
	_ acp.Handler = (*V2)(nil)
)

// NewV2 returns the adapter; it is to be started with the connection that it is the handler of.
func NewV2(client Client) *V2 {
	return &V2{
		drafts: newDrafts(client),
		turns:  map[wire.SessionID]*turnV2{}, working: map[wire.SessionID]bool{},
		ahead: map[wire.SessionID][]*aheadV2{}, starting: map[wire.SessionID]bool{},
		messages: map[wire.SessionID]map[wire.MessageID]bool{}, cancels: map[string]wire.SessionID{},
	}
}

// Start gives the adapter its connection, before any call of its methods.
func (a *V2) Start(conn *acp.Conn) {
	a.conn = conn
	go func() {
		<-conn.Done()
		a.abandon(conn.Err())
	}()
}

// capabilitiesV2 returns the client's capabilities.
func capabilitiesV2() v2.ClientCapabilities {
	return v2.ClientCapabilities{
		Auth:        &v2.ClientAuthCapabilities{Terminal: &wire.Supported{}},
		Elicitation: &wire.ElicitationCapabilities{Form: &wire.Supported{}, URL: &wire.Supported{}},
	}
}

// welcome reads the answer to initialize.
func (a *V2) welcome(raw json.RawMessage) (Info, error) {
	var r v2.InitializeResponse
	if err := decode(raw, nil, &r); err != nil {
		return Info{}, err
	}
	a.steering = steers(r.Meta)
	info := Info{
		Instructions: quirksOf[r.Info.Name].Instructions,
		Name:         r.Info.Name, Title: r.Info.Title, Version: r.Info.Version, Protocol: r.ProtocolVersion,
		Loads: true, Resumes: true, Lists: true, LogsOut: r.Capabilities.Auth != nil, Steers: true,
		TellsLogin: r.Capabilities.Auth != nil && r.Capabilities.Auth.Status != nil, Providers: r.Capabilities.Providers != nil,
	}
	if s := r.Capabilities.Session; s != nil {
		info.Deletes, info.Directories = s.Delete != nil, s.AdditionalDirectories != nil
		info.Forks, info.Titles, info.Archives, info.Statuses = s.Fork != nil, s.Title != nil, s.Archive != nil, s.Status != nil
		info.ForksAfter = info.Forks && forksAfter[info.Name]
		info.takeSystemPrompt(s.SystemPrompt)
		if m := s.MCP; m != nil {
			info.StdioServers, info.HTTPServers = m.Stdio != nil, m.HTTP != nil
		}
		if p := s.Prompt; p != nil {
			info.Images, info.Audio, info.EmbeddedContext = p.Image != nil, p.Audio != nil, p.EmbeddedContext != nil
		}
	}
	for _, m := range r.AuthMethods {
		method := AuthMethod{ID: string(m.MethodID), Name: m.Name, Description: m.Description, Type: AuthType(m.Type), Args: m.Args}
		for _, v := range m.Env {
			if method.Env == nil {
				method.Env = map[string]string{}
			}
			method.Env[v.Name] = v.Value
		}
		info.AuthMethods = append(info.AuthMethods, method)
	}
	return info, nil
}

// HandleNotification implements [acp.Handler].
func (a *V2) HandleNotification(method string, params json.RawMessage) {
	switch method {
	case v2.MethodSessionUpdate:
		a.sessionUpdate(params)
	default:
		notified(a.client, method, params)
	}
}

func (a *V2) sessionUpdate(params json.RawMessage) {
	var n v2.UpdateSessionNotification
	if err := a.texts.DecodeMessage(params, &n); err != nil {
		if id, kind := headOf(params); id != "" {
			a.client.Update(a.subagents.rootOf(id), malformed(kind, params, err))
		}
		return
	}
	a.begun(n.SessionID, n.Update)
	for _, u := range a.afterMessages(string(n.SessionID), a.updates(n.SessionID, n.Update)) {
		a.client.Update(string(a.rootOf(n.SessionID)), u)
	}
}

// rootOf returns the user's session that a session works for.
func (a *V2) rootOf(id wire.SessionID) wire.SessionID {
	return wire.SessionID(a.subagents.rootOf(string(id)))
}

// HandleRequest implements [acp.Handler].
func (a *V2) HandleRequest(r *acp.Request) {
	switch r.Method {
	case wire.MethodSessionRequestPermission:
		requestV2(r, a.requestPermission)
	case v1.MethodElicitationCreate:
		requestV2(r, func(r *acp.Request, p *v1.CreateElicitationRequest) {
			a.elicit(r, p)
		})
	default:
		extend(a.client, r)
	}
}

// requestV2 decodes a method's parameters before f is called.
func requestV2[T any](r *acp.Request, f func(*acp.Request, *T)) {
	var params T
	if err := acp.DecodeMessage(r.Params, &params); err != nil {
		r.ReplyError(&acp.Error{Code: acp.CodeInvalidParams, Message: fmt.Sprintf("invalid params of %s: %v", r.Method, err)})
		return
	}
	f(r, &params)
}

func (a *V2) requestPermission(r *acp.Request, p *v2.RequestPermissionRequest) {
	req := permissionV2(p)
	if root := a.rootOf(p.SessionID); root != p.SessionID {
		req.SessionID = string(root)
		a.subagents.below(string(p.SessionID), &req.Call)
	}
	req.Context = r.Context()
	req.Reply = func(optionID string) {
		outcome := wire.RequestPermissionOutcome(&wire.CancelledPermissionOutcome{}) // also if it is withdrawn
		if optionID != "" {
			outcome = &wire.SelectedPermissionOutcome{OptionID: wire.PermissionOptionID(optionID)}
		}
		r.Reply(wire.RequestPermissionResponse{Outcome: outcome})
	}
	a.client.RequestPermission(req)
}
