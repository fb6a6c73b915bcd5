package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// agent is the agent's side of a connection. Its handlers run on the reader goroutine, every turn
// on a goroutine of its own.
type agent struct {
	version   string
	protocol  int // the newest version of the protocol that it speaks
	pace      pace
	conn      *acp.Conn       // set before connected is closed
	life      context.Context // that of the connection, set before connected is closed
	connected chan struct{}   // the handlers wait for it

	turns sync.WaitGroup

	mu       sync.Mutex
	voice    voice                       // guarded by mu
	stopped  bool                        // guarded by mu: no more turns start
	client   v1.ClientCapabilities       // guarded by mu
	loggedIn bool                        // guarded by mu
	made     int                         // guarded by mu: sessions so far
	sessions map[wire.SessionID]*session // guarded by mu
}

// session is one conversation.
type session struct {
	id  wire.SessionID
	cwd string

	// The running turn uses these without a lock, as there is only one turn at a time.
	titled   bool
	toured   bool                   // the user has seen the tour
	last     string                 // what the previous turn was about, "" before the first
	said     int                    // bytes of text so far
	calls    int                    // tool calls so far
	messages int                    // messages so far
	answers  map[wire.ToolKind]bool // what the user always allows or rejects

	mode    wire.SessionConfigValueID // guarded by agent.mu
	cancel  context.CancelFunc        // guarded by agent.mu; nil while no turn runs
	queued  []*acp.Request            // guarded by agent.mu: prompts that wait for the running turn
	prompts int                       // guarded by agent.mu: of version 2 so far
	told    []v2.SessionUpdate        // guarded by agent.mu: what is repeated to a client that resumes the session
}

// The session modes.
const (
	modeAsk  = "ask"  // every edit and command needs permission
	modeAuto = "auto" // none does
)

// The only way to log in.
const loginMethod wire.AuthMethodID = "demo-login"

const (
	loginName        = "Log in to the demo"
	loginDescription = "It needs no password, and only the prompt `auth` asks for it."
)

func newAgent(version string, protocol int, p pace, loggedIn bool) *agent {
	a := &agent{
		version:   version,
		protocol:  protocol,
		pace:      p,
		loggedIn:  loggedIn,
		connected: make(chan struct{}),
		sessions:  make(map[wire.SessionID]*session),
	}
	a.voice = &voiceV1{a}
	return a
}

// stop waits for the turns to end, which the end of the connection has cancelled.
func (a *agent) stop() {
	a.mu.Lock()
	a.stopped = true
	a.mu.Unlock()
	a.turns.Wait()
}

// HandleNotification implements acp.Handler.
func (a *agent) HandleNotification(method string, params json.RawMessage) {
	<-a.connected
	var p v1.CancelNotification // in both versions
	if method != v1.MethodSessionCancel || acp.Decode(params, &p) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[p.SessionID]; s != nil {
		s.stop()
	}
}

// stop cancels the session's turn, and returns the prompts that it has not begun. The agent's mu is held.
func (s *session) stop() {
	for _, r := range s.queued {
		r.ReplyError(&acp.Error{Code: acp.CodeRequestCancelled, Message: "the prompt was cancelled"})
	}
	s.queued = nil
	if s.cancel != nil {
		s.cancel()
	}
}

// HandleRequest implements acp.Handler.
func (a *agent) HandleRequest(r *acp.Request) {
	<-a.connected
	if r.Method == v1.MethodInitialize {
		a.initialize(r)
		return
	}
	a.mu.Lock()
	voice := a.voice
	a.mu.Unlock()
	voice.serve(r)
}

// initialize chooses the version: the one asked for, or the newest.
func (a *agent) initialize(r *acp.Request) {
	var p struct {
		ProtocolVersion int `json:"protocolVersion" wire:"lenient"`
	}
	_ = acp.Decode(r.Params, &p)
	a.mu.Lock()
	a.voice = &voiceV1{a}
	if min(p.ProtocolVersion, a.protocol) >= v2.Version {
		a.voice = &voiceV2{a}
	}
	voice := a.voice
	a.mu.Unlock()
	voice.serve(r)
}

// serve answers a request with what f makes of its params.
func serve[P, R any](r *acp.Request, f func(P) (R, error)) {
	var p P
	if err := acp.Decode(r.Params, &p); err != nil {
		r.ReplyError(invalid("%s: %v", r.Method, err))
		return
	}
	result, err := f(p)
	if err != nil {
		r.ReplyError(err)
		return
	}
	r.Reply(result)
}

func invalid(format string, args ...any) error {
	return &acp.Error{Code: acp.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

func (a *agent) authenticate(p v1.AuthenticateRequest) (*v1.AuthenticateResponse, error) {
	if p.MethodID != loginMethod {
		return nil, invalid("there is no login %q", p.MethodID)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.loggedIn = true
	return &v1.AuthenticateResponse{}, nil
}

func (a *agent) logout(v1.LogoutRequest) (*v1.LogoutResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.loggedIn = false
	return &v1.LogoutResponse{}, nil
}

func (a *agent) isLoggedIn() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.loggedIn
}

// open makes a session in a folder.
func (a *agent) open(cwd string) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.made++
	s := &session{
		id:      wire.SessionID(fmt.Sprintf("demo-%d", a.made)),
		cwd:     cwd,
		mode:    modeAsk,
		answers: make(map[wire.ToolKind]bool),
	}
	a.sessions[s.id] = s
	return s
}

func (a *agent) closeSession(p wire.CloseSessionRequest) (*v1.CloseSessionResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[p.SessionID]
	if s == nil {
		return nil, noSession(p.SessionID)
	}
	delete(a.sessions, s.id)
	s.stop()
	return &v1.CloseSessionResponse{}, nil
}

func noSession(id wire.SessionID) error { return invalid("there is no session %q", id) }

func (a *agent) setMode(p v1.SetSessionModeRequest) (*v1.SetSessionModeResponse, error) {
	s, err := a.changeMode(p.SessionID, wire.SessionConfigValueID(p.ModeID))
	if err != nil {
		return nil, err
	}
	a.update(s, &v1.ConfigOptionUpdate{ConfigOptions: optionsOf(wire.SessionConfigValueID(p.ModeID))})
	return &v1.SetSessionModeResponse{}, nil
}

func (a *agent) setConfigOption(p v1.SetSessionConfigOptionRequest) (*v1.SetSessionConfigOptionResponse, error) {
	var value wire.SessionConfigValueID
	if err := acp.Decode(p.Value, &value); err != nil {
		return nil, invalid("option %q: %v", p.ConfigID, err)
	}
	if p.ConfigID != "mode" {
		return nil, invalid("there is no choice in the option %q", p.ConfigID)
	}
	s, err := a.changeMode(p.SessionID, value)
	if err != nil {
		return nil, err
	}
	a.update(s, &v1.CurrentModeUpdate{CurrentModeID: v1.SessionModeID(value)})
	return &v1.SetSessionConfigOptionResponse{ConfigOptions: optionsOf(value)}, nil
}

func (a *agent) changeMode(id wire.SessionID, mode wire.SessionConfigValueID) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[id]
	switch {
	case s == nil:
		return nil, noSession(id)
	case mode != modeAsk && mode != modeAuto:
		return nil, invalid("there is no mode %q", mode)
	}
	s.mode = mode
	return s, nil
}

// modesOf and optionsOf describe the same in two ways, as agents do for older clients.
func modesOf(mode wire.SessionConfigValueID) *v1.SessionModeState {
	state := &v1.SessionModeState{CurrentModeID: v1.SessionModeID(mode)}
	for _, o := range modeChoices {
		state.AvailableModes = append(state.AvailableModes,
			v1.SessionMode{ID: v1.SessionModeID(o.Value), Name: o.Name, Description: o.Description})
	}
	return state
}

func optionsOf(mode wire.SessionConfigValueID) []v1.SessionConfigOption {
	return []v1.SessionConfigOption{{
		ID: "mode", Name: "Mode", Category: v1.CategoryMode,
		Kind: &v1.SessionConfigSelect{
			CurrentValue: mode,
			Options:      v1.SessionConfigSelectOptions{Ungrouped: modeChoices},
		},
	}, {
		ID: "model", Name: "Model", Category: v1.CategoryModel, Description: "There is none: it is all a script.",
		Kind: &v1.SessionConfigSelect{
			CurrentValue: "script",
			Options: v1.SessionConfigSelectOptions{Ungrouped: []wire.SessionConfigSelectOption{
				{Value: "script", Name: "script"},
			}},
		},
	}}
}

var modeChoices = []wire.SessionConfigSelectOption{
	{Value: modeAsk, Name: "ask", Description: "Asks before every edit and command"},
	{Value: modeAuto, Name: "auto", Description: "Edits and runs without asking"},
}

// update tells the client what happens in a session. An error means that the connection has ended, and with it the
// turn.
func (a *agent) update(s *session, u v1.SessionUpdate) {
	a.mu.Lock()
	voice := a.voice
	a.mu.Unlock()
	voice.update(s, u)
}

// usageOf counts a byte of text as a quarter of a token. The currency is the one that ISO 4217 reserves for tests: the
// demo costs nothing.
func usageOf(s *session) *v1.UsageUpdate {
	used := min(uint64(s.said)/4, contextSize)
	return &v1.UsageUpdate{
		Used: used, Size: contextSize,
		Cost: &wire.Cost{Amount: float64(used) / 10_000, Currency: "XTS"},
	}
}

const contextSize = 8192 // tokens
