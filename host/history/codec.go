package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
)

// This file encodes updates: each is a line of JSON with its time, the name of its kind and its fields.

// Said is an update and when it came.
type Said struct {
	At     time.Time
	Update session.Update
}

// line is one line of a file, except the first.
type line struct {
	T  int64  `json:"t"` // milliseconds since 1970
	Is string `json:"is"`
	Of any    `json:"of"`
}

// appendLine encodes an update as one line.
func appendLine(to []byte, s Said) ([]byte, error) {
	k, known := kindOf[reflect.TypeOf(s.Update)]
	if !known {
		return to, fmt.Errorf("there is no encoding of %T", s.Update)
	}
	b := bytes.NewBuffer(to)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(line{s.At.UnixMilli(), k.name, k.encode(s.Update)}); err != nil {
		return to, fmt.Errorf("encode %T: %w", s.Update, err)
	}
	return b.Bytes(), nil
}

// parseLine is the inverse of appendLine.
func parseLine(data []byte) (Said, error) {
	var raw json.RawMessage
	l := line{Of: &raw}
	if err := json.Unmarshal(data, &l); err != nil {
		return Said{}, err
	}
	k, known := kindNamed[l.Is]
	if !known {
		return Said{}, fmt.Errorf("there is no kind %q", l.Is)
	}
	u, err := k.decode(raw)
	return Said{time.UnixMilli(l.T), u}, err
}

// kind is how updates of one type are encoded.
type kind struct {
	name   string
	typ    reflect.Type
	encode func(session.Update) any
	decode func(json.RawMessage) (session.Update, error)
}

// plain is for a type that encodes as JSON directly.
func plain[U session.Update](name string) kind {
	return mapped(name, func(u U) U { return u }, func(u U) U { return u })
}

// mapped is for a type that is encoded as another one.
func mapped[U session.Update, M any](name string, to func(U) M, from func(M) U) kind {
	return kind{
		name: name, typ: reflect.TypeFor[U](),
		encode: func(u session.Update) any { return to(u.(U)) },
		decode: func(raw json.RawMessage) (session.Update, error) {
			var m M
			if err := json.Unmarshal(raw, &m); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			return from(m), nil
		},
	}
}

var kinds = []kind{
	mapped("message", func(u session.MessageChunk) message {
		return message{u.MessageID, u.Wire, u.Of, roles[u.Role], toBlock(u.Content)}
	}, func(m message) session.MessageChunk {
		return session.MessageChunk{MessageID: m.ID, Wire: m.Wire, Of: m.Of, Role: roleNamed(m.Role), Content: m.Content.content()}
	}),
	mapped("call", toCall, call.patch),
	mapped("call_chunk", func(u session.ToolCallChunk) callChunk {
		return callChunk{u.ID, toItems(u.Content)}
	}, func(m callChunk) session.ToolCallChunk {
		return session.ToolCallChunk{ID: m.ID, Content: fromItems(m.Content)}
	}),
	mapped("terminal", toScreen, screen.patch),
	mapped("message_patch", func(u session.MessagePatch) messagePatch {
		return messagePatch{u.MessageID, u.Of, roles[u.Role], toBlocks(u.Content)}
	}, func(m messagePatch) session.MessagePatch {
		return session.MessagePatch{MessageID: m.ID, Of: m.Of, Role: roleNamed(m.Role), Content: fromBlocks(m.Content)}
	}),
	plain[session.Background]("background"),
	plain[session.TerminalChunk]("terminal_chunk"),
	mapped("plan", toPlan, plan.update),
	plain[session.CommandsUpdate]("commands"),
	plain[session.ModeUpdate]("mode"),
	plain[session.OptionsUpdate]("options"),
	plain[session.OptionSet]("option"),
	mapped("info", func(u session.InfoUpdate) info { return info{u.Title} }, func(m info) session.InfoUpdate {
		return session.InfoUpdate{Title: m.Title}
	}),
	plain[session.UsageUpdate]("usage"),
	plain[session.TurnTokens]("tokens"),
	plain[session.Notice]("notice"),
	mapped("compaction", func(u session.CompactionPatch) compaction {
		return compaction{u.ID, u.Status, mapOpt(u.Summary, toBlocks), u.Error}
	}, func(m compaction) session.CompactionPatch {
		return session.CompactionPatch{ID: m.ID, Status: m.Status, Summary: mapOpt(m.Summary, fromBlocks), Error: m.Error}
	}),
	mapped("compaction_chunk", func(u session.CompactionChunk) compactionChunk {
		return compactionChunk{u.ID, toBlock(u.Content)}
	}, func(m compactionChunk) session.CompactionChunk {
		return session.CompactionChunk{ID: m.ID, Content: m.Content.content()}
	}),
	plain[session.UnknownUpdate]("unknown"),
	plain[session.SessionStart]("session"),
	mapped("prompt", func(u session.TurnStart) prompt {
		return prompt{toBlocks(u.Prompt), toBlocks(u.Sent)}
	}, func(m prompt) session.TurnStart {
		return session.TurnStart{Prompt: fromBlocks(m.Prompt), Sent: fromBlocks(m.Sent)}
	}),
	plain[session.NotTaken]("not_taken"),
	mapped("steered", func(u session.Steered) prompt {
		return prompt{Prompt: toBlocks(u.Words)}
	}, func(m prompt) session.Steered { return session.Steered{Words: fromBlocks(m.Prompt)} }),
	plain[session.TurnEnd]("end"),
	plain[session.Waiting]("waiting"),
	plain[session.Cancelling]("cancelling"),
	plain[session.AgentGone]("gone"),
	plain[session.Remark]("remark"),
}

var kindOf, kindNamed = func() (map[reflect.Type]kind, map[string]kind) {
	of, named := map[reflect.Type]kind{}, map[string]kind{}
	for _, k := range kinds {
		of[k.typ], named[k.name] = k, k
	}
	return of, named
}()

type message struct {
	ID      string `json:"id"`
	Wire    string `json:"wire,omitempty"`
	Of      string `json:"of,omitempty"`
	Role    string `json:"role"`
	Content block  `json:"content"`
}

type messagePatch struct {
	ID      string  `json:"id"`
	Of      string  `json:"of,omitempty"`
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

var roles = map[session.Role]string{session.RoleUser: "user", session.RoleAgent: "agent", session.RoleThought: "thought"}

func roleNamed(name string) session.Role {
	for role, is := range roles {
		if is == name {
			return role
		}
	}
	return session.RoleAgent
}

// block is a [session.Content]; without a kind it is text.
type block struct {
	Is          string          `json:"is,omitempty"`
	Text        string          `json:"text,omitempty"`
	MimeType    string          `json:"mime,omitempty"`
	Data        string          `json:"data,omitempty"`
	URI         string          `json:"uri,omitempty"`
	Name        string          `json:"name,omitempty"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Type        string          `json:"type,omitempty"`
	Raw         json.RawMessage `json:"raw,omitempty"`
	Size        int64           `json:"size,omitempty"`
	Modified    string          `json:"modified,omitempty"`
	ForAgent    bool            `json:"for_agent,omitempty"`
}

func toBlock(c session.Content) block {
	switch c := c.(type) {
	case session.Text:
		return block{Text: c.Text}
	case session.Image:
		return block{Is: "image", MimeType: c.MimeType, Data: c.Data, URI: c.URI}
	case session.Audio:
		return block{Is: "audio", MimeType: c.MimeType, Data: c.Data}
	case session.ResourceLink:
		return block{Is: "link", URI: c.URI, Name: c.Name, Title: c.Title, MimeType: c.MimeType, Description: c.Description, Size: c.Size, Modified: c.Modified}
	case session.ForAgent:
		b := toBlock(c.Content)
		b.ForAgent = true
		return b
	case session.Resource:
		return block{Is: "resource", URI: c.URI, MimeType: c.MimeType, Text: c.Text, Data: c.Blob}
	case session.UnknownContent:
		return block{Is: "unknown", Type: c.Type, Raw: c.Raw}
	}
	return block{}
}

func (b block) content() session.Content {
	if b.ForAgent {
		b.ForAgent = false
		return session.ForAgent{Content: b.content()}
	}
	switch b.Is {
	case "":
		return session.Text{Text: b.Text}
	case "image":
		return session.Image{MimeType: b.MimeType, Data: b.Data, URI: b.URI}
	case "audio":
		return session.Audio{MimeType: b.MimeType, Data: b.Data}
	case "link":
		return session.ResourceLink{URI: b.URI, Name: b.Name, Title: b.Title, MimeType: b.MimeType, Description: b.Description, Size: b.Size, Modified: b.Modified}
	case "resource":
		return session.Resource{URI: b.URI, MimeType: b.MimeType, Text: b.Text, Blob: b.Data}
	}
	return session.UnknownContent{Type: b.Type, Raw: b.Raw}
}

func toBlocks(list []session.Content) []block       { return each(list, toBlock) }
func fromBlocks(list []block) []session.Content     { return each(list, block.content) }
func toItems(list []session.ToolCallContent) []item { return each(list, toItem) }
func fromItems(list []item) []session.ToolCallContent {
	return each(list, item.content)
}

// each maps a list; nil stays nil.
func each[A, B any](list []A, f func(A) B) []B {
	if list == nil {
		return nil
	}
	mapped := make([]B, len(list))
	for i, a := range list {
		mapped[i] = f(a)
	}
	return mapped
}

func mapOpt[A, B any](o acp.Opt[A], f func(A) B) acp.Opt[B] {
	if v, ok := o.Get(); ok {
		return acp.Set(f(v))
	}
	if o.IsNull() {
		return acp.Null[B]()
	}
	return acp.Opt[B]{}
}

// item is a [session.ToolCallContent]: the one field that is set.
type item struct {
	Content  *block  `json:"content,omitempty"`
	Diff     *change `json:"diff,omitempty"`
	Terminal string  `json:"terminal,omitempty"`
	Unknown  *block  `json:"unknown,omitempty"`
}

func toItem(c session.ToolCallContent) item {
	switch c := c.(type) {
	case session.ContentItem:
		b := toBlock(c.Content)
		return item{Content: &b}
	case session.Diff:
		d := change(c)
		return item{Diff: &d}
	case session.TerminalRef:
		return item{Terminal: c.TerminalID}
	case session.UnknownItem:
		return item{Unknown: &block{Type: c.Type, Raw: c.Raw}}
	}
	return item{}
}

func (i item) content() session.ToolCallContent {
	switch {
	case i.Content != nil:
		return session.ContentItem{Content: i.Content.content()}
	case i.Diff != nil:
		return session.Diff(*i.Diff)
	case i.Unknown != nil:
		return session.UnknownItem{Type: i.Unknown.Type, Raw: i.Unknown.Raw}
	}
	return session.TerminalRef{TerminalID: i.Terminal}
}

// These have the fields of the types of session that they are named after.
type (
	change struct {
		Operation session.Operation `json:"operation,omitempty"`
		Path      string            `json:"path"`
		OldPath   string            `json:"old_path,omitempty"`
		FileType  string            `json:"file_type,omitempty"`
		MimeType  string            `json:"mime,omitempty"`
		OldText   *string           `json:"old,omitempty"`
		NewText   *string           `json:"new,omitempty"`
		Patch     string            `json:"patch,omitempty"`
	}
	location struct {
		Path string `json:"path"`
		Line int    `json:"line,omitempty"`
	}
	exit struct {
		Code   *int   `json:"code,omitempty"`
		Signal string `json:"signal,omitempty"`
	}
	size struct {
		Cols int `json:"cols"`
		Rows int `json:"rows"`
	}
)

func toLocation(l session.Location) location           { return location(l) }
func (l location) location() session.Location          { return session.Location(l) }
func toLocations(list []session.Location) []location   { return each(list, toLocation) }
func fromLocations(list []location) []session.Location { return each(list, location.location) }
func toExit(e session.TerminalExit) exit               { return exit(e) }
func (e exit) exit() session.TerminalExit              { return session.TerminalExit(e) }
func toSize(s session.TerminalSize) size               { return size(s) }
func (s size) size() session.TerminalSize              { return session.TerminalSize(s) }

// call is a [session.ToolCallPatch].
type call struct {
	ID        string                              `json:"id"`
	Title     acp.Opt[string]                     `json:"title,omitzero"`
	Name      acp.Opt[string]                     `json:"name,omitzero"`
	Kind      acp.Opt[session.ToolKind]           `json:"kind,omitzero"`
	Status    acp.Opt[session.ToolCallStatus]     `json:"status,omitzero"`
	Content   acp.Opt[[]item]                     `json:"content,omitzero"`
	Locations acp.Opt[[]location]                 `json:"locations,omitzero"`
	RawInput  acp.Opt[json.RawMessage]            `json:"input,omitzero"`
	RawOutput acp.Opt[json.RawMessage]            `json:"output,omitzero"`
	Meta      acp.Opt[map[string]json.RawMessage] `json:"meta,omitzero"`
	Parent    acp.Opt[string]                     `json:"parent,omitzero"`
	Editor    bool                                `json:"editor,omitempty"`
}

func toCall(p session.ToolCallPatch) call {
	return call{
		ID: p.ID, Title: p.Title, Name: p.Name, Kind: p.Kind, Status: p.Status, Content: mapOpt(p.Content, toItems),
		Locations: mapOpt(p.Locations, toLocations), RawInput: p.RawInput, RawOutput: p.RawOutput, Meta: p.Meta, Parent: p.Parent, Editor: p.Editor,
	}
}

func (m call) patch() session.ToolCallPatch {
	return session.ToolCallPatch{
		ID: m.ID, Title: m.Title, Name: m.Name, Kind: m.Kind, Status: m.Status, Content: mapOpt(m.Content, fromItems),
		Locations: mapOpt(m.Locations, fromLocations), RawInput: m.RawInput, RawOutput: m.RawOutput, Meta: m.Meta, Parent: m.Parent, Editor: m.Editor,
	}
}

type callChunk struct {
	ID      string `json:"id"`
	Content []item `json:"content"`
}

// screen is a [session.TerminalPatch]. Its output is text if possible.
type screen struct {
	ID      string          `json:"id"`
	Command acp.Opt[string] `json:"command,omitzero"`
	Cwd     acp.Opt[string] `json:"cwd,omitzero"`
	Text    acp.Opt[string] `json:"text,omitzero"`
	Bytes   []byte          `json:"bytes,omitempty"`
	Exit    acp.Opt[exit]   `json:"exit,omitzero"`
	Size    acp.Opt[size]   `json:"size,omitzero"`
	Plain   bool            `json:"plain,omitempty"`
}

func toScreen(p session.TerminalPatch) screen {
	m := screen{ID: p.ID, Command: p.Command, Cwd: p.Cwd, Exit: mapOpt(p.Exit, toExit), Size: mapOpt(p.Size, toSize), Plain: p.Plain}
	if data, ok := p.Output.Get(); ok && !utf8.Valid(data) {
		m.Bytes = data
		return m
	}
	m.Text = mapOpt(p.Output, func(data []byte) string { return string(data) })
	return m
}

func (m screen) patch() session.TerminalPatch {
	p := session.TerminalPatch{ID: m.ID, Command: m.Command, Cwd: m.Cwd, Exit: mapOpt(m.Exit, exit.exit), Size: mapOpt(m.Size, size.size), Plain: m.Plain}
	p.Output = mapOpt(m.Text, func(text string) []byte { return []byte(text) })
	if m.Bytes != nil {
		p.Output = acp.Set(m.Bytes)
	}
	return p
}

type plan struct {
	ID      string              `json:"id,omitempty"`
	Entries []session.PlanEntry `json:"entries,omitempty"`
	Content *block              `json:"content,omitempty"`
}

func toPlan(u session.PlanUpdate) plan {
	p := plan{ID: u.ID, Entries: u.Entries}
	if u.Content != nil {
		content := toBlock(u.Content)
		p.Content = &content
	}
	return p
}

func (p plan) update() session.PlanUpdate {
	u := session.PlanUpdate{ID: p.ID, Entries: p.Entries}
	if p.Content != nil {
		u.Content = p.Content.content()
	}
	return u
}

type info struct {
	Title acp.Opt[string] `json:"title,omitzero"`
}

type compaction struct {
	ID      string           `json:"id"`
	Status  string           `json:"status"`
	Summary acp.Opt[[]block] `json:"summary,omitzero"`
	Error   acp.Opt[string]  `json:"error,omitzero"`
}

type compactionChunk struct {
	ID      string `json:"id"`
	Content block  `json:"content"`
}

type prompt struct {
	Prompt []block `json:"prompt"`
	Sent   []block `json:"sent,omitempty"`
}
