package session

import (
	"slices"
	"strconv"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
)

// This file converts the types of version 1 into the model's and back.

// announced returns tool_call as an upsert.
func announced(c *v1.ToolCall) *v1.ToolCallUpdate {
	return &v1.ToolCallUpdate{
		ToolCallID: c.ToolCallID, Title: acp.Set(c.Title), Name: c.Name, Kind: c.Kind, Status: c.Status, Content: c.Content,
		Locations: c.Locations, RawInput: c.RawInput, RawOutput: c.RawOutput, Meta: c.Meta,
	}
}

// patched returns tool_call_update as a patch. In version 1 null leaves a field as it is; only an empty list clears
// one.
func patched(c *v1.ToolCallUpdate) ToolCallPatch {
	return ToolCallPatch{
		ID:        string(c.ToolCallID),
		Title:     unlessNull(c.Title),
		Name:      unlessNull(c.Name),
		Kind:      mapOpt(unlessNull(c.Kind), func(k v1.ToolKind) ToolKind { return ToolKind(k) }),
		Status:    mapOpt(unlessNull(c.Status), func(s v1.ToolCallStatus) ToolCallStatus { return ToolCallStatus(s) }),
		Content:   mapOpt(unlessNull(c.Content), fromToolContent),
		Locations: mapOpt(unlessNull(c.Locations), fromLocations),
		RawInput:  unlessNull(c.RawInput),
		RawOutput: unlessNull(c.RawOutput),
		Meta:      metaPatch(c.Meta),
		Parent:    parentOf(c.Meta),
	}
}

func unlessNull[T any](o acp.Opt[T]) acp.Opt[T] {
	if o.IsNull() {
		return acp.Opt[T]{}
	}
	return o
}

func mapOpt[T, U any](o acp.Opt[T], f func(T) U) acp.Opt[U] {
	if o.IsNull() {
		return acp.Null[U]()
	}
	if v, ok := o.Get(); ok {
		return acp.Set(f(v))
	}
	return acp.Opt[U]{}
}

func fromLocations(list []v1.ToolCallLocation) []Location {
	locations := make([]Location, len(list))
	for i, l := range list {
		locations[i] = Location{Path: LocalPath(l.Path), Line: int(l.Line.Or(0))}
	}
	return locations
}

func fromToolContent(list []v1.ToolCallContent) []ToolCallContent {
	content := make([]ToolCallContent, 0, len(list))
	for _, item := range list {
		switch item := item.(type) {
		case *v1.Content:
			content = append(content, ContentItem{Content: fromBlock(item.Content)})
		case *v1.Diff:
			content = append(content, fromDiff(item))
		case *v1.Terminal:
			content = append(content, TerminalRef{TerminalID: string(item.TerminalID)})
		case *v1.Unknown:
			content = append(content, UnknownItem{Type: item.Type, Raw: item.Raw})
		}
	}
	return content
}

// fromDiff translates a change given as texts. Without an old text it adds a file; only a proposed flag can say that it
// deletes one.
func fromDiff(w *v1.Diff) Diff {
	d := Diff{Operation: OperationAdd, Path: LocalPath(w.Path), NewText: &w.NewText}
	if old, ok := w.OldText.Get(); ok {
		d.Operation, d.OldText = OperationModify, &old
	}
	if w.Deleted {
		d.Operation, d.NewText = OperationDelete, nil
	}
	return d
}

func fromBlocks(list []v1.ContentBlock) []Content {
	content := make([]Content, len(list))
	for i, b := range list {
		content[i] = fromBlock(b)
	}
	return content
}

func fromBlock(b v1.ContentBlock) Content {
	c, notes := contentOf(b)
	if notes != nil && len(notes.Audience) > 0 && !slices.Contains(notes.Audience, v1.RoleUser) {
		return ForAgent{c}
	}
	return c
}

func contentOf(b v1.ContentBlock) (Content, *v1.Annotations) {
	switch b := b.(type) {
	case *v1.TextContent:
		return Text{Text: b.Text}, b.Annotations
	case *v1.ImageContent:
		return Image{MimeType: b.MIMEType, Data: b.Data, URI: b.URI}, b.Annotations
	case *v1.AudioContent:
		return Audio{MimeType: b.MIMEType, Data: b.Data}, b.Annotations
	case *v1.ResourceLink:
		l := ResourceLink{
			URI: b.URI, Name: b.Name, Title: b.Title, MimeType: b.MIMEType, Description: b.Description, Size: b.Size.Or(0),
		}
		if b.Annotations != nil {
			l.Modified = day(b.Annotations.LastModified)
		}
		return l, b.Annotations
	case *v1.EmbeddedResource:
		if t := b.Resource.Text; t != nil {
			return Resource{URI: t.URI, MimeType: t.MIMEType, Text: t.Text}, b.Annotations
		}
		if blob := b.Resource.Blob; blob != nil {
			return Resource{URI: blob.URI, MimeType: blob.MIMEType, Blob: blob.Blob}, b.Annotations
		}
	case *v1.Unknown:
		return UnknownContent{Type: b.Type, Raw: b.Raw}, nil
	}
	return UnknownContent{}, nil
}

func toBlocks(prompt []Content) []v1.ContentBlock {
	blocks := make([]v1.ContentBlock, len(prompt))
	for i, b := range prompt {
		blocks[i] = toBlock(b)
	}
	return blocks
}

// toBlock translates a block of a prompt. Blocks of unknown type are only ever received.
func toBlock(c Content) v1.ContentBlock {
	switch c := c.(type) {
	case Text:
		return v1.Text(c.Text)
	case Image:
		return &v1.ImageContent{MIMEType: c.MimeType, Data: c.Data, URI: c.URI}
	case Audio:
		return &v1.AudioContent{MIMEType: c.MimeType, Data: c.Data}
	case ResourceLink:
		return &v1.ResourceLink{URI: c.URI, Name: c.Name, Title: c.Title, MIMEType: c.MimeType, Description: c.Description}
	case Resource:
		if c.Blob != "" {
			return &v1.EmbeddedResource{Resource: v1.EmbeddedResourceResource{Blob: &v1.BlobResourceContents{URI: c.URI, MIMEType: c.MimeType, Blob: c.Blob}}}
		}
		return &v1.EmbeddedResource{Resource: v1.EmbeddedResourceResource{Text: &v1.TextResourceContents{URI: c.URI, MIMEType: c.MimeType, Text: c.Text}}}
	}
	return v1.Text("")
}

// optionsOf returns what can be set in a new session: configuration options, and modes and models if the agent has no
// option of that category.
func optionsOf(c v1.SessionChoices) []Option {
	options := configOptions(c.ConfigOptions)
	has := func(category string) bool {
		for _, o := range options {
			if o.Category == category {
				return true
			}
		}
		return false
	}
	if m := c.Modes; m != nil && !has("mode") {
		o := Option{ID: "mode", Name: "Mode", Category: "mode", Type: "select", Via: ViaMode, Value: string(m.CurrentModeID)}
		for _, mode := range m.AvailableModes {
			o.Choices = append(o.Choices, Choice{Value: string(mode.ID), Name: mode.Name, Description: mode.Description})
		}
		options = append(options, o)
	}
	if m := c.Models; m != nil && !has("model") {
		o := Option{ID: "model", Name: "Model", Category: "model", Type: "select", Via: ViaModel, Value: string(m.CurrentModelID)}
		for _, model := range m.AvailableModels {
			o.Choices = append(o.Choices, Choice{Value: string(model.ModelID), Name: model.Name, Description: model.Description})
		}
		options = append(options, o)
	}
	return options
}

// configOptions leaves out options of a type that this client cannot set.
func configOptions(list []v1.SessionConfigOption) []Option {
	var options []Option
	for _, w := range list {
		o := Option{ID: string(w.ID), Name: w.Name, Description: w.Description, Category: string(w.Category), Via: ViaConfig}
		switch k := w.Kind.(type) {
		case *v1.SessionConfigSelect:
			o.Type, o.Value = "select", string(k.CurrentValue)
			o.Choices = choices("", k.Options.Ungrouped)
			for _, g := range k.Options.Groups {
				o.Choices = append(o.Choices, choices(g.Name, g.Options)...)
			}
		case *v1.SessionConfigBoolean:
			o.Type, o.Value = "boolean", strconv.FormatBool(k.CurrentValue)
		default:
			continue
		}
		options = append(options, o)
	}
	return options
}

func choices(group string, list []v1.SessionConfigSelectOption) []Choice {
	var out []Choice
	for _, c := range list {
		out = append(out, Choice{Value: string(c.Value), Name: c.Name, Description: c.Description, Group: group})
	}
	return out
}
