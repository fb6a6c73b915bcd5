package session

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// This file converts the types of version 2 into the model's, which has their shape.

// updates translates one update of the wire, of the user's session or of a sub-agent's.
func (a *V2) updates(id wire.SessionID, u v2.SessionUpdate) []Update {
	root := a.rootOf(id)
	switch u := u.(type) {
	case *v2.UserMessageChunk:
		if id != root {
			return nil // what its parent told it, which its call shows
		}
		return a.chunk(id, RoleUser, v2.ContentChunk(*u))
	case *v2.AgentMessageChunk:
		return a.chunk(id, RoleAgent, v2.ContentChunk(*u))
	case *v2.AgentThoughtChunk:
		return a.chunk(id, RoleThought, v2.ContentChunk(*u))
	case *v2.UserMessage:
		if id != root {
			return nil
		}
		return a.message(id, RoleUser, v2.Message(*u))
	case *v2.AgentMessage:
		return a.message(id, RoleAgent, v2.Message(*u))
	case *v2.AgentThought:
		return a.message(id, RoleThought, v2.Message(*u))
	case *v2.ToolCallUpdate:
		call := a.subagents.callOf(string(id), string(u.ToolCallID))
		if !u.Capabilities.IsZero() {
			a.mayCancel(id, callKey(call), u.Capabilities.Or(v2.ToolCallCapabilities{}).Cancel != nil)
		}
		p := patchedV2(u)
		a.subagents.below(string(id), &p)
		return []Update{p}
	case *v2.ToolCallContentChunk:
		return []Update{ToolCallChunk{ID: a.subagents.callOf(string(id), string(u.ToolCallID)), Content: toolContentV2([]v2.ToolCallContent{u.Content})}}
	case *v2.TerminalUpdate:
		if !u.Capabilities.IsZero() {
			a.mayCancel(id, terminalKey(string(u.TerminalID)), u.Capabilities.Or(v2.TerminalCapabilities{}).Cancel != nil)
		}
		return []Update{terminalPatchV2(u)}
	case *v2.TerminalOutputChunk:
		return []Update{TerminalChunk{ID: string(u.TerminalID), Data: u.Data, Plain: true}}
	case *v2.Notice:
		return []Update{Notice{Severity: u.Severity, Title: u.Title, Description: u.Description}}
	case *v2.Unknown:
		return a.unknown(string(id), u.Type, u.Raw)
	}
	if id != root {
		return nil // a sub-agent's options and state do not concern the user
	}
	switch u := u.(type) {
	case *v2.StateUpdate:
		a.state(id, u)
	case *v2.PlanUpdate:
		return planOf(u.Plan)
	case *v2.AvailableCommandsUpdate:
		return []Update{CommandsUpdate{Commands: commandsV2(u.AvailableCommands)}}
	case *v2.ConfigOptionUpdate:
		return []Update{OptionsUpdate{Options: optionsV2(u.ConfigOptions)}}
	case *v2.SessionInfoUpdate:
		return []Update{InfoUpdate{Title: u.Title}}
	case *v2.UsageUpdate:
		usage := Usage{Used: u.Used, Size: u.Size}
		if cost, ok := u.Cost.Get(); ok {
			usage.Cost = &Cost{Amount: cost.Amount, Currency: cost.Currency}
		}
		return []Update{UsageUpdate{Usage: usage, NoCost: u.Cost.IsNull()}}
	case *v2.CompactionUpdate:
		return []Update{CompactionPatch{ID: u.CompactionID, Status: u.Status, Summary: mapOpt(u.Summary, fromBlocks), Error: u.Error}}
	case *v2.CompactionSummaryChunk:
		return []Update{CompactionChunk{ID: u.CompactionID, Content: fromBlock(u.Content)}}
	}
	return nil
}

func (a *V2) chunk(id wire.SessionID, role Role, c v2.ContentChunk) []Update {
	content := fromBlock(c.Content)
	if !a.told(id, c.MessageID) && content == Content(Text{}) {
		return []Update{MessagePatch{MessageID: string(c.MessageID), Of: a.speaker(id), Role: role}} // it begins here even so
	}
	return []Update{MessageChunk{MessageID: string(c.MessageID), Wire: string(c.MessageID), Of: a.speaker(id), Role: role, Content: content}}
}

// speaker returns the call of the sub-agent whose session it is, "" for the user's session.
func (a *V2) speaker(id wire.SessionID) string {
	if a.rootOf(id) == id {
		return ""
	}
	return subagentCall(string(id))
}

// told notes a message, and reports whether it was known before.
func (a *V2) told(id wire.SessionID, message wire.MessageID) (known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.messages[id] == nil {
		a.messages[id] = map[wire.MessageID]bool{}
	}
	known = a.messages[id][message]
	a.messages[id][message] = true
	return known
}

// message begins a message, which may have no words yet, or replaces one.
func (a *V2) message(id wire.SessionID, role Role, m v2.Message) []Update {
	blocks := fromBlocks(m.Content.Or(nil))
	switch known := a.told(id, m.MessageID); {
	case known && m.Content.IsZero():
		return nil
	case known || !slices.ContainsFunc(blocks, func(b Content) bool { return b != Content(Text{}) }):
		return []Update{MessagePatch{MessageID: string(m.MessageID), Of: a.speaker(id), Role: role, Content: blocks}}
	}
	updates := make([]Update, len(blocks))
	for i, b := range blocks {
		updates[i] = MessageChunk{MessageID: string(m.MessageID), Wire: string(m.MessageID), Of: a.speaker(id), Role: role, Content: b}
	}
	return updates
}

func commandsV2(list []v2.AvailableCommand) []Command {
	var commands []Command
	for _, c := range list {
		command := Command{Name: c.Name, Description: c.Description}
		if c.Input != nil {
			command.Hint = c.Input.Hint
		}
		commands = append(commands, command)
	}
	return commands
}

// optionsV2 leaves out options of a type that this client cannot set.
func optionsV2(list []v2.SessionConfigOption) []Option {
	var options []Option
	for _, w := range list {
		o := Option{ID: string(w.ConfigID), Name: w.Name, Description: w.Description, Category: w.Category, Via: ViaConfig}
		switch k := w.Kind.(type) {
		case *v2.SessionConfigSelect:
			o.Type, o.Value = "select", string(k.CurrentValue)
			o.Choices = choices("", k.Options.Ungrouped)
			for _, g := range k.Options.Groups {
				o.Choices = append(o.Choices, choices(g.Name, g.Options)...)
			}
		case *v2.SessionConfigBoolean:
			o.Type, o.Value = "boolean", strconv.FormatBool(k.CurrentValue)
		default:
			continue
		}
		options = append(options, o)
	}
	return options
}

func patchedV2(c *v2.ToolCallUpdate) ToolCallPatch {
	p := ToolCallPatch{
		ID:        string(c.ToolCallID),
		Title:     c.Title,
		Name:      c.Name,
		Kind:      mapOpt(c.Kind, func(k wire.ToolKind) ToolKind { return ToolKind(k) }),
		Status:    mapOpt(c.Status, func(s v2.ToolCallStatus) ToolCallStatus { return ToolCallStatus(s) }),
		Content:   mapOpt(c.Content, toolContentV2),
		Locations: mapOpt(c.Locations, fromLocations),
		RawInput:  c.RawInput,
		RawOutput: c.RawOutput,
		Parent:    parentOf(c.Meta.Or(nil)),
	}
	if c.Meta.IsNull() {
		p.Meta = acp.Null[map[string]json.RawMessage]()
	}
	var meta map[string]json.RawMessage
	if raw, ok := c.Meta.Get(); ok && json.Unmarshal(raw, &meta) == nil && len(meta) > 0 {
		p.Meta = acp.Set(meta)
	}
	return p
}

func toolContentV2(list []v2.ToolCallContent) []ToolCallContent {
	content := make([]ToolCallContent, 0, len(list))
	for _, item := range list {
		switch item := item.(type) {
		case *v2.Content:
			content = append(content, ContentItem{Content: fromBlock(item.Content)})
		case *v2.Diff:
			for _, d := range diffsV2(item) {
				content = append(content, d)
			}
		case *v2.Terminal:
			content = append(content, TerminalRef{TerminalID: string(item.TerminalID)})
		case *v2.Unknown:
			content = append(content, UnknownItem{Type: item.Type, Raw: item.Raw})
		}
	}
	return content
}

// diffsV2 splits a diff of several files into one for each.
func diffsV2(w *v2.Diff) []Diff {
	diffs := make([]Diff, 0, len(w.Changes))
	for _, c := range w.Changes {
		d := Diff{FileType: string(c.FileType), MimeType: c.MIMEType}
		switch o := c.Operation.(type) {
		case *v2.DiffAdd:
			d.Operation, d.Path = OperationAdd, o.Path
		case *v2.DiffDelete:
			d.Operation, d.Path = OperationDelete, o.Path
		case *v2.DiffModify:
			d.Operation, d.Path = OperationModify, o.Path
		case *v2.DiffMove:
			d.Operation, d.Path, d.OldPath = OperationMove, o.Path, o.OldPath
		case *v2.DiffCopy:
			d.Operation, d.Path, d.OldPath = OperationCopy, o.Path, o.OldPath
		case *v2.Unknown:
			d.Operation = Operation(o.Type)
			d.Path, d.OldPath = pathsIn(o.Raw)
		}
		d.Path, d.OldPath = LocalPath(d.Path), LocalPath(d.OldPath)
		diffs = append(diffs, d)
	}
	if p := w.Patch; p != nil && p.Format == v2.PatchGit {
		deal(p.Text, diffs)
	}
	return diffs
}

// pathsIn returns the paths of an unknown operation, if it names them as the known ones do.
func pathsIn(operation json.RawMessage) (path, oldPath string) {
	var o struct {
		Path    string `json:"path" wire:"lenient"`
		OldPath string `json:"oldPath" wire:"lenient"`
	}
	_ = acp.Decode(operation, &o) // an object, as it has been decoded before
	return o.Path, o.OldPath
}

func terminalPatchV2(u *v2.TerminalUpdate) TerminalPatch {
	p := TerminalPatch{
		ID:      string(u.TerminalID),
		Plain:   true, // agents send what comes from pipes as well as from terminals
		Command: u.Command,
		Cwd:     mapOpt(u.CWD, LocalPath),
		Output:  mapOpt(u.Output, func(o v2.TerminalOutput) []byte { return o.Data }),
		Exit:    mapOpt(u.ExitStatus, func(e v2.TerminalExitStatus) TerminalExit { return terminalExit(e.ExitCode, e.Signal) }),
		Size:    mapOpt(u.Size, func(s v2.TerminalSize) TerminalSize { return TerminalSize{Cols: int(s.Cols), Rows: int(s.Rows)} }),
	}
	if size, ok := p.Size.Get(); ok && (size.Cols == 0 || size.Rows == 0) {
		p.Size = acp.Opt[TerminalSize]{} // malformed
	}
	return p
}

// permissionV2 translates a request, except for its reply.
func permissionV2(p *v2.RequestPermissionRequest) PermissionRequest {
	r := PermissionRequest{SessionID: string(p.SessionID), Title: p.Title, Description: p.Description, Options: permissionOptions(p.Options)}
	switch s := p.Subject.(type) {
	case *v2.ToolCallPermissionSubject:
		r.Call = patchedV2(&s.ToolCall)
	case *v2.CommandPermissionSubject:
		r.Call.ID, r.Command, r.Cwd = string(s.ToolCallID), s.Command, LocalPath(s.CWD)
	}
	return r
}
