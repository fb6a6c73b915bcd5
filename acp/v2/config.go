package v2

import (
	"encoding/json"
	"fmt"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// SessionConfigOption is something that the user can set. See "Session Config Options".
type SessionConfigOption struct {
	ConfigID    wire.SessionConfigID `json:"configId" wire:"required"`
	Name        string               `json:"name" wire:"required"`
	Description string               `json:"description,omitzero" wire:"lenient"`
	Category    string               `json:"category,omitzero" wire:"lenient"`
	Kind        SessionConfigKind    `json:"-" wire:"inline"`
	Meta        json.RawMessage      `json:"_meta,omitzero" wire:"lenient,object"`
}

func (o SessionConfigOption) MarshalJSON() ([]byte, error) {
	type common SessionConfigOption
	return encodeInline(common(o), o.Kind)
}

// SessionConfigKind is the type of an option with its value: [*SessionConfigSelect], [*SessionConfigBoolean] or
// [*Unknown].
type SessionConfigKind interface{ sessionConfigKind() }

func (*SessionConfigSelect) sessionConfigKind()  {}
func (*SessionConfigBoolean) sessionConfigKind() {}
func (*Unknown) sessionConfigKind()              {}

func init() {
	register("type", map[string]func() SessionConfigKind{
		"select":  func() SessionConfigKind { return new(SessionConfigSelect) },
		"boolean": func() SessionConfigKind { return new(SessionConfigBoolean) },
	}, func(u *Unknown) SessionConfigKind { return u })
}

// SessionConfigSelect is one of several values.
type SessionConfigSelect struct {
	CurrentValue wire.SessionConfigValueID  `json:"currentValue" wire:"required"`
	Options      SessionConfigSelectOptions `json:"options" wire:"required"`
}

func (k SessionConfigSelect) MarshalJSON() ([]byte, error) {
	type body SessionConfigSelect
	return acp.EncodeVariant("type", "select", body(k))
}

// SessionConfigBoolean is on or off.
type SessionConfigBoolean struct {
	CurrentValue bool `json:"currentValue" wire:"required"`
}

func (k SessionConfigBoolean) MarshalJSON() ([]byte, error) {
	type body SessionConfigBoolean
	return acp.EncodeVariant("type", "boolean", body(k))
}

// SessionConfigSelectOptions are the values of a select, either plain or in groups.
type SessionConfigSelectOptions struct {
	Ungrouped []wire.SessionConfigSelectOption
	Groups    []SessionConfigSelectGroup
}

// MarshalJSON encodes the list that there is.
func (o SessionConfigSelectOptions) MarshalJSON() ([]byte, error) {
	if o.Groups != nil {
		return json.Marshal(acp.List[SessionConfigSelectGroup](o.Groups))
	}
	return json.Marshal(acp.List[wire.SessionConfigSelectOption](o.Ungrouped))
}

// UnmarshalJSON decodes either list.
func (o *SessionConfigSelectOptions) UnmarshalJSON(data []byte) error {
	*o = SessionConfigSelectOptions{}
	plain := acp.Decode(data, &o.Ungrouped)
	if plain == nil {
		return nil
	}
	o.Ungrouped = nil
	if err := acp.Decode(data, &o.Groups); err != nil {
		return fmt.Errorf("neither options (%w) nor groups (%w)", plain, err)
	}
	return nil
}

// SessionConfigSelectGroup is values of a select under a heading.
type SessionConfigSelectGroup struct {
	GroupID string                                   `json:"groupId" wire:"required"`
	Name    string                                   `json:"name" wire:"required"`
	Options acp.List[wire.SessionConfigSelectOption] `json:"options" wire:"required,lenient,skip"`
	Meta    json.RawMessage                          `json:"_meta,omitzero" wire:"lenient,object"`
}

// SetSessionConfigOptionRequest gives an option a value: Type is "id" with a [wire.SessionConfigValueID], or "boolean".
type SetSessionConfigOptionRequest struct {
	SessionID wire.SessionID       `json:"sessionId" wire:"required"`
	ConfigID  wire.SessionConfigID `json:"configId" wire:"required"`
	Type      string               `json:"type" wire:"required"`
	Value     any                  `json:"value" wire:"required"`
	Meta      json.RawMessage      `json:"_meta,omitzero" wire:"lenient,object"`
}

// SetSessionConfigOptionResponse has all options as they are after the change.
type SetSessionConfigOptionResponse struct {
	ConfigOptions acp.List[SessionConfigOption] `json:"configOptions" wire:"required,skip"`
	Meta          json.RawMessage               `json:"_meta,omitzero" wire:"lenient,object"`
}

// ConfigOptionUpdate has all options after a change.
type ConfigOptionUpdate struct {
	ConfigOptions acp.List[SessionConfigOption] `json:"configOptions" wire:"required,skip"`
	Meta          json.RawMessage               `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u ConfigOptionUpdate) MarshalJSON() ([]byte, error) {
	type body ConfigOptionUpdate
	return acp.EncodeVariant("sessionUpdate", "config_option_update", body(u))
}

// AvailableCommandsUpdate has all slash commands. See "Slash Commands".
type AvailableCommandsUpdate struct {
	AvailableCommands acp.List[AvailableCommand] `json:"availableCommands" wire:"required,skip"`
	Meta              json.RawMessage            `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u AvailableCommandsUpdate) MarshalJSON() ([]byte, error) {
	type body AvailableCommandsUpdate
	return acp.EncodeVariant("sessionUpdate", "available_commands_update", body(u))
}

// AvailableCommand is a slash command, of an unknown type too.
type AvailableCommand struct {
	Type        string                 `json:"type" wire:"required"` // "command"
	Name        string                 `json:"name" wire:"required"`
	Description string                 `json:"description" wire:"required"`
	Input       *AvailableCommandInput `json:"input,omitzero" wire:"lenient"`
	Meta        json.RawMessage        `json:"_meta,omitzero" wire:"lenient,object"`
}

// AvailableCommandInput is what may stand behind a command's name.
type AvailableCommandInput struct {
	Type string          `json:"type" wire:"required"` // "text"
	Hint string          `json:"hint,omitzero" wire:"lenient"`
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
