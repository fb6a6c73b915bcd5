package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
)

// V1 speaks version 1 of the protocol: it is an [Agent] for the host and the
// [acp.Handler] of the connection. What arrives is translated on the reader
// goroutine.
type V1 struct {
	drafts
	version   string // of this program
	overrides map[string]bool

	quirks atomic.Pointer[Quirks]
	closes atomic.Bool // the agent has session/close

	mu     sync.Mutex
	runs   map[v1.SessionID]*run   // guarded by mu
	shells map[v1.SessionID]shells // guarded by mu
	calls  map[v1.SessionID]calls  // guarded by mu
	latest v1.SessionID            // guarded by mu; prompted last
}

// run is the message that an agent is in the middle of: chunks of one kind, id
// and sub-agent, as long as nothing has come that stands after them. Without an
// id it also ends with what tells that something else has happened meanwhile,
// but not in the middle of a sentence.
type run struct {
	role        Role
	wire        v1.MessageID // as the agent named it, or ""
	of          string       // the call of the sub-agent that speaks, or ""
	n           int          // how many runs there were before
	open        bool
	interrupted bool // since the last chunk
	end         ending
	told        int // updates of the session, of any kind
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
		runs: map[v1.SessionID]*run{}, shells: map[v1.SessionID]shells{}, calls: map[v1.SessionID]calls{},
	}
	a.quirks.Store(&Quirks{})
	return a
}

// Start gives the adapter its connection, before any call of its methods.
func (a *V1) Start(conn *acp.Conn) { a.conn = conn }

// hello is what the agent is told of the client, and what that can.
func (a *V1) hello() v1.InitializeRequest {
	return v1.InitializeRequest{
		ProtocolVersion: v1.Version,
		ClientInfo:      &v1.Implementation{Name: "acp-nvim", Title: "Neovim", Version: a.version},
		ClientCapabilities: v1.ClientCapabilities{
			FS:        v1.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true},
			Terminal:  true,
			Subagents: &v1.Supported{},
			Plan:      &v1.Supported{},
			Session: &v1.ClientSessionCapabilities{
				Compaction:    &v1.Supported{},
				ConfigOptions: &v1.SessionConfigOptionsCapabilities{Boolean: &v1.Supported{}},
				Notices:       &v1.Supported{},
			},
			Auth: v1.AuthCapabilities{Terminal: true},
			Elicitation: &v1.ElicitationCapabilities{
				Form: &v1.Supported{}, URL: &v1.Supported{},
			},
			Meta: json.RawMessage(`{"` + terminalAuthKey + `":true,"` + v1.CapabilityTerminalOutput + `":true}`),
		},
	}
}

// welcome takes the answer to initialize.
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
	id := v1.SessionID(sessionID)
	plain := func(_ json.RawMessage, err error) { done(nil, err) }
	switch o.Via {
	case ViaMode:
		return a.conn.Call(v1.MethodSessionSetMode, v1.SetSessionModeRequest{SessionID: id, ModeID: v1.SessionModeID(value)}, plain)
	case ViaModel:
		return a.conn.Call(v1.MethodSessionSetModel, v1.SetSessionModelRequest{SessionID: id, ModelID: v1.ModelID(value)}, plain)
	}
	request := v1.SelectValue(id, v1.SessionConfigID(o.ID), v1.SessionConfigValueID(value))
	if o.Type == "boolean" {
		request = v1.BooleanValue(id, v1.SessionConfigID(o.ID), value == "true")
	}
	return a.conn.Call(v1.MethodSessionSetConfigOption, request, func(raw json.RawMessage, err error) {
		var r v1.SetSessionConfigOptionResponse
		if err = decode(raw, err, &r); err != nil {
			done(nil, err)
			return
		}
		done(configOptions(r.ConfigOptions), nil)
	})
}

// Prompt implements [Agent].
func (a *V1) Prompt(sessionID string, prompt []Content, done func(StopReason, error)) {
	request := v1.PromptRequest{SessionID: v1.SessionID(sessionID), Prompt: toBlocks(prompt)}
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
	request := v1.SteeringRequest{SessionID: v1.SessionID(sessionID), Prompt: toBlocks(words)}
	request.Meta.Steering.IdleBehavior = "promptRequired"
	a.steer(request, func(became Steering, err error) {
		if became == SteeringTaken {
			a.endRun(request.SessionID) // what comes now stands after the words
		}
		done(became, err)
	})
}

// Cancel implements [Agent].
func (a *V1) Cancel(sessionID string) {
	// An error means that the connection has ended, which its owner is told.
	_ = a.conn.Notify(v1.MethodSessionCancel, v1.CancelNotification{SessionID: v1.SessionID(sessionID)})
}

// MayCancel implements [Canceller].
func (a *V1) MayCancel(sessionID string) bool { return a.subagents.mayCancelAny(sessionID) }

// CancelCall implements [Canceller]: of sub-agents.
func (a *V1) CancelCall(callID string, _ []string, done func(error)) bool {
	id, allowed := a.subagents.mayCancel(callID)
	if allowed {
		done(a.conn.Notify(v1.MethodSessionCancel, v1.CancelNotification{SessionID: v1.SessionID(id)}))
	}
	return allowed
}

// Close implements [Agent].
func (a *V1) Close(sessionID string) {
	a.subagents.forget(sessionID)
	if a.closes.Load() {
		a.conn.Call(v1.MethodSessionClose, v1.CloseSessionRequest{SessionID: v1.SessionID(sessionID)}, func(json.RawMessage, error) {})
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

// HandleNotification implements [acp.Handler]. Notifications of unknown
// methods are extensions that may be ignored.
func (a *V1) HandleNotification(method string, params json.RawMessage) {
	switch method {
	case v1.MethodSessionUpdate:
		a.sessionUpdate(params)
	default:
		notified(a.client, method, params)
	}
}

// notified brings the client the notifications that are the same in both versions.
func notified(client Client, method string, params json.RawMessage) {
	if method == v1.MethodElicitationComplete {
		var n v1.CompleteElicitationNotification
		if acp.DecodeMessage(params, &n) == nil { // of an unknown one nothing comes either
			client.ElicitationCompleted(string(n.ElicitationID))
		}
	} else if login, ok := loginOf(method, params); ok {
		client.LoggedIn(login)
	}
}

func (a *V1) sessionUpdate(params json.RawMessage) {
	var n v1.SessionNotification
	if err := acp.DecodeMessage(params, &n); err != nil {
		if id, kind := headOf(params); id != "" {
			a.client.Update(a.subagents.rootOf(id), malformed(kind, params, err))
		}
		return
	}
	root := a.rootOf(n.SessionID)
	a.mu.Lock()
	a.run(root).told++
	a.mu.Unlock()
	translate := a.updates
	if root != n.SessionID {
		translate = a.updatesBelow
	}
	for _, u := range a.afterMessages(string(n.SessionID), translate(n.SessionID, n.Update)) {
		a.client.Update(string(root), u)
	}
}

// rootOf is the user's session that a session works for.
func (a *V1) rootOf(id v1.SessionID) v1.SessionID {
	return v1.SessionID(a.subagents.rootOf(string(id)))
}

// updatesBelow translates one update of a sub-agent's session. What it is told
// its call shows, and its plan and options are nothing that the user waits for
// or sets.
func (a *V1) updatesBelow(id v1.SessionID, u v1.SessionUpdate) []Update {
	root, call := a.rootOf(id), subagentCall(string(id))
	switch u := u.(type) {
	case *v1.AgentMessageChunk:
		return []Update{a.chunk(root, RoleAgent, v1.ContentChunk(*u), call)}
	case *v1.AgentThoughtChunk:
		return []Update{a.chunk(root, RoleThought, v1.ContentChunk(*u), call)}
	case *v1.ToolCall:
		return a.upsert(id, announced(u))
	case *v1.ToolCallUpdate:
		return a.upsert(id, u)
	case *v1.Notice, *v1.Unknown:
		return a.updates(id, u)
	}
	return nil
}

// headOf is the session of a malformed update and what kind of update it is, as
// far as that can be read.
func headOf(params json.RawMessage) (sessionID, kind string) {
	var head struct {
		SessionID string `json:"sessionId"`
		Update    struct {
			Kind string `json:"sessionUpdate"`
		} `json:"update"`
	}
	_ = json.Unmarshal(params, &head) // what is malformed stays empty
	return head.SessionID, head.Update.Kind
}

// updates translates one update of the wire.
func (a *V1) updates(id v1.SessionID, u v1.SessionUpdate) []Update {
	switch u := u.(type) {
	case *v1.UserMessageChunk:
		return a.words(id, RoleUser, v1.ContentChunk(*u))
	case *v1.AgentMessageChunk:
		return a.words(id, RoleAgent, v1.ContentChunk(*u))
	case *v1.AgentThoughtChunk:
		return []Update{a.chunk(id, RoleThought, v1.ContentChunk(*u), parentOf(u.Meta).Or(""))}
	case *v1.ToolCall:
		return a.upsert(id, announced(u))
	case *v1.ToolCallUpdate:
		return a.upsert(id, u)
	case *v1.Plan:
		a.endRun(id)
		p := PlanUpdate{Entries: make([]PlanEntry, len(u.Entries))}
		for i, e := range u.Entries {
			p.Entries[i] = PlanEntry{Content: e.Content, Priority: string(e.Priority), Status: string(e.Status)}
		}
		return []Update{p}
	case *v1.AvailableCommandsUpdate:
		c := CommandsUpdate{Commands: make([]Command, len(u.AvailableCommands))}
		for i, cmd := range u.AvailableCommands {
			c.Commands[i] = Command{Name: cmd.Name, Description: cmd.Description}
			if cmd.Input != nil {
				c.Commands[i].Hint = cmd.Input.Hint
			}
		}
		return []Update{c}
	case *v1.CurrentModeUpdate:
		return []Update{ModeUpdate{ModeID: string(u.CurrentModeID)}}
	case *v1.ConfigOptionUpdate:
		return []Update{OptionsUpdate{Options: configOptions(u.ConfigOptions)}}
	case *v1.SessionInfoUpdate:
		return []Update{InfoUpdate{Title: u.Title}}
	case *v1.UsageUpdate:
		usage := Usage{Used: u.Used, Size: u.Size}
		if u.Cost != nil {
			usage.Cost = &Cost{Amount: u.Cost.Amount, Currency: u.Cost.Currency}
		}
		return []Update{UsageUpdate{Usage: usage}}
	case *v1.Notice:
		a.interrupt(id)
		return []Update{Notice{Severity: string(u.Severity), Title: u.Title, Description: u.Description}}
	case *v1.CompactionUpdate:
		a.endRun(id)
		return []Update{CompactionPatch{
			ID: string(u.CompactionID), Status: string(u.Status),
			Summary: mapOpt(u.Summary, fromBlocks), Error: u.Error,
		}}
	case *v1.CompactionSummaryChunk:
		a.endRun(id)
		return []Update{CompactionChunk{ID: string(u.CompactionID), Content: fromBlock(u.Content)}}
	case *v1.Unknown:
		return a.unknown(string(id), u.Type, u.Raw)
	}
	return nil
}

// words translates a chunk, unless its words are none; see [Quirks].
func (a *V1) words(id v1.SessionID, role Role, c v1.ContentChunk) []Update {
	if text, ok := c.Content.(*v1.TextContent); ok && a.quirks.Load().Markers {
		if rest, said, told := unmarked(role, text.Text); told {
			var updates []Update
			if said != nil {
				updates = append(updates, said)
			}
			if rest != "" {
				c.Content = v1.Text(rest)
				updates = append(updates, a.chunk(id, role, c, parentOf(c.Meta).Or("")))
			}
			return updates
		}
	}
	return []Update{a.chunk(id, role, c, parentOf(c.Meta).Or(""))}
}

// chunk gives a chunk the id of the message it belongs to. An agent's own id
// ends a run when it changes, but does not join what something else has come
// between: the transcript shows things in the order they came. A sub-agent
// speaks by the call that began it, of.
func (a *V1) chunk(id v1.SessionID, role Role, c v1.ContentChunk, of string) Update {
	a.mu.Lock()
	defer a.mu.Unlock()
	r, text := a.run(id), ""
	if t, ok := c.Content.(*v1.TextContent); ok {
		text = t.Text
	}
	over := !r.open || r.interrupted && !r.end.goesOn(text)
	if over || r.role != role || r.wire != c.MessageID || r.of != of {
		*r = run{role: role, wire: c.MessageID, of: of, n: r.n + 1, open: true, told: r.told}
	}
	r.interrupted = false
	r.end.add(text)
	return MessageChunk{MessageID: strconv.Itoa(r.n), Wire: string(c.MessageID), Of: of, Role: role, Content: fromBlock(c.Content)}
}

// run is the message that a session is in the middle of; a.mu is held.
func (a *V1) run(id v1.SessionID) *run {
	r := a.runs[id]
	if r == nil {
		r = &run{}
		a.runs[id] = r
	}
	return r
}

// told is how many updates of a session have come.
func (a *V1) told(id v1.SessionID) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.run(id).told
}

func (a *V1) endRun(id v1.SessionID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.runs[id]; r != nil {
		r.open = false
	}
}

// interrupt is [V1.endRun] where the agent does not say itself what belongs
// together, unless it is in the middle of a sentence.
func (a *V1) interrupt(id v1.SessionID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.runs[id]; r != nil && r.wire == "" {
		r.interrupted = true
	}
}

// calls are a session's tool calls as the agent last said they stand.
type calls map[v1.ToolCallID]ToolCallStatus

// called has what is said of a tool call end the run, if it does: a new call
// stands after it, but for one of a sub-agent, which stands below the call that
// started that one. What was late of one that has ended is no event.
func (a *V1) called(id v1.SessionID, p *ToolCallPatch) {
	a.mu.Lock()
	if a.calls[id] == nil {
		a.calls[id] = calls{}
	}
	was, known := a.calls[id][v1.ToolCallID(p.ID)]
	is := p.Status.Or(was)
	a.calls[id][v1.ToolCallID(p.ID)] = is
	parent := p.Parent.Or("")
	follows := !known && (parent == "" || parent == a.run(id).of)
	a.mu.Unlock()
	switch {
	case follows:
		a.endRun(id)
	case is != was && !was.Finished():
		a.interrupt(id)
	}
}

func (a *V1) forgetCalls(id v1.SessionID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.calls, id)
}

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
	v1.MethodSessionRequestPermission: request((*V1).requestPermission),
	v1.MethodFSReadTextFile:           request((*V1).readTextFile),
	v1.MethodFSWriteTextFile:          request((*V1).writeTextFile),
	v1.MethodTerminalCreate:           request((*V1).createTerminal),
	v1.MethodTerminalOutput:           request((*V1).terminalOutput),
	v1.MethodTerminalWaitForExit:      request((*V1).waitForTerminalExit),
	v1.MethodTerminalKill:             request((*V1).killTerminal),
	v1.MethodTerminalRelease:          request((*V1).releaseTerminal),
	v1.MethodElicitationCreate:        request((*V1).createElicitation),

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
	id := p.SessionID // in what follows, the user's
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

		CancelsTurn: id == p.SessionID,
	}
	for _, o := range p.Options {
		req.Options = append(req.Options, PermissionOption{ID: string(o.OptionID), Name: o.Name, Kind: string(o.Kind)})
	}
	req.Reply = func(optionID string) {
		switch {
		case optionID != "":
			r.Reply(v1.RequestPermissionResponse{Outcome: &v1.SelectedPermissionOutcome{OptionID: v1.PermissionOptionID(optionID)}})
		case r.Context().Err() != nil:
			r.ReplyError(r.Context().Err()) // withdrawn by the agent
		default:
			r.Reply(v1.RequestPermissionResponse{Outcome: &v1.CancelledPermissionOutcome{}})
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
			answer(r, v1.CreateTerminalResponse{TerminalID: v1.TerminalID(id)}, err)
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

// fileError gives an error of a file operation the specification's code.
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
