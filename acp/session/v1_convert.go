package session

import (
	"strconv"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
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
		Kind:      mapOpt(unlessNull(c.Kind), func(k wire.ToolKind) ToolKind { return ToolKind(k) }),
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
