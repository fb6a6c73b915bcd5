package session

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v2"
)

// This file converts the types of version 2 into the model's, which has their
// shape.

// updateV2 translates one update of the wire.
func updateV2(u v2.SessionUpdate) Update {
	switch u := u.(type) {
	case *v2.ToolCallUpdate:
		return patchedV2(u)
	case *v2.ToolCallContentChunk:
		return ToolCallChunk{ID: string(u.ToolCallID), Content: toolContentV2([]v2.ToolCallContent{u.Content})}
	case *v2.TerminalUpdate:
		return terminalPatchV2(u)
	case *v2.TerminalOutputChunk:
		return TerminalChunk{ID: string(u.TerminalID), Data: u.Data}
	case *v2.Unknown:
		return UnknownUpdate{Type: u.Type, Raw: u.Raw}
	}
	return nil
}

func patchedV2(c *v2.ToolCallUpdate) ToolCallPatch {
	p := ToolCallPatch{
		ID:        string(c.ToolCallID),
		Title:     c.Title,
		Name:      c.Name,
		Kind:      mapOpt(c.Kind, func(k v2.ToolKind) ToolKind { return ToolKind(k) }),
		Status:    mapOpt(c.Status, func(s v2.ToolCallStatus) ToolCallStatus { return ToolCallStatus(s) }),
		Content:   mapOpt(c.Content, toolContentV2),
		Locations: mapOpt(c.Locations, locationsV2),
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

func locationsV2(list []v2.ToolCallLocation) []Location {
	locations := make([]Location, len(list))
	for i, l := range list {
		locations[i] = Location{Path: LocalPath(l.Path), Line: int(l.Line.Or(0))}
	}
	return locations
}

func toolContentV2(list []v2.ToolCallContent) []ToolCallContent {
	content := make([]ToolCallContent, 0, len(list))
	for _, item := range list {
		switch item := item.(type) {
		case *v2.Content:
			content = append(content, ContentItem{Content: blockV2(item.Content)})
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

// diffsV2 is a diff of several files as one of each.
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

// pathsIn are the paths of an operation that this client does not know, where
// it names them as the others do.
func pathsIn(operation json.RawMessage) (path, oldPath string) {
	var o struct {
		Path    string `json:"path" wire:"lenient"`
		OldPath string `json:"oldPath" wire:"lenient"`
	}
	_ = acp.Decode(operation, &o) // an object, as it was decoded before
	return o.Path, o.OldPath
}

func blockV2(b v2.ContentBlock) Content {
	c, notes := contentV2(b)
	if notes != nil && len(notes.Audience) > 0 && !slices.Contains(notes.Audience, v2.RoleUser) {
		return ForAgent{c}
	}
	return c
}

func contentV2(b v2.ContentBlock) (Content, *v2.Annotations) {
	switch b := b.(type) {
	case *v2.TextContent:
		return Text{Text: b.Text}, b.Annotations
	case *v2.ImageContent:
		return Image{MimeType: b.MIMEType, Data: b.Data, URI: b.URI}, b.Annotations
	case *v2.AudioContent:
		return Audio{MimeType: b.MIMEType, Data: b.Data}, b.Annotations
	case *v2.ResourceLink:
		return ResourceLink{
			URI: b.URI, Name: b.Name, Title: b.Title, MimeType: b.MIMEType, Description: b.Description, Size: int64(min(b.Size.Or(0), math.MaxInt64)),
		}, b.Annotations
	case *v2.EmbeddedResource:
		if t := b.Resource.Text; t != nil {
			return Resource{URI: t.URI, MimeType: t.MIMEType, Text: t.Text}, b.Annotations
		}
		if blob := b.Resource.Blob; blob != nil {
			return Resource{URI: blob.URI, MimeType: blob.MIMEType, Blob: blob.Blob}, b.Annotations
		}
	case *v2.Unknown:
		return UnknownContent{Type: b.Type, Raw: b.Raw}, nil
	}
	return UnknownContent{}, nil
}

func terminalPatchV2(u *v2.TerminalUpdate) TerminalPatch {
	p := TerminalPatch{
		ID:      string(u.TerminalID),
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

// permissionV2 is a request without the way to answer it.
func permissionV2(p *v2.RequestPermissionRequest) PermissionRequest {
	r := PermissionRequest{SessionID: string(p.SessionID), Title: p.Title, Description: p.Description}
	switch s := p.Subject.(type) {
	case *v2.ToolCallPermissionSubject:
		r.Call = patchedV2(&s.ToolCall)
	case *v2.CommandPermissionSubject:
		r.Call.ID, r.Command, r.Cwd = string(s.ToolCallID), s.Command, LocalPath(s.CWD)
	}
	for _, o := range p.Options {
		r.Options = append(r.Options, PermissionOption{ID: string(o.OptionID), Name: o.Name, Kind: string(o.Kind)})
	}
	return r
}
