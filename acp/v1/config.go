package v1

import (
	"encoding/json"
	"fmt"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// MethodSessionSetConfigOption is sent by the client to change an option of a session.
const MethodSessionSetConfigOption = "session/set_config_option"

// SessionConfigOptionCategory says what an option is about, so that it can be shown in the right place. An agent may
// use others.
type SessionConfigOptionCategory string

// The categories of the schema.
const (
	CategoryMode         SessionConfigOptionCategory = "mode"
	CategoryModel        SessionConfigOptionCategory = "model"
	CategoryModelConfig  SessionConfigOptionCategory = "model_config"
	CategoryThoughtLevel SessionConfigOptionCategory = "thought_level"
)

// SessionConfigOption is something the user can choose in a session, with its current value. See "Session Config
// Options".
type SessionConfigOption struct {
	ID          wire.SessionConfigID        `json:"id" wire:"required"`
	Name        string                      `json:"name" wire:"required"`
	Description string                      `json:"description,omitzero" wire:"lenient"`
	Category    SessionConfigOptionCategory `json:"category,omitzero" wire:"lenient"`
	Kind        SessionConfigKind           `json:"-" wire:"inline"`
	Meta        json.RawMessage             `json:"_meta,omitzero" wire:"lenient,object"`
}

func (o SessionConfigOption) MarshalJSON() ([]byte, error) {
	type common SessionConfigOption
	return encodeInline(common(o), o.Kind)
}

// SessionConfigKind is how an option is chosen: [*SessionConfigSelect], [*SessionConfigBoolean] or [*Unknown].
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

// SessionConfigSelect is an option with one of several values. See "Session Config Options".
type SessionConfigSelect struct {
	CurrentValue wire.SessionConfigValueID  `json:"currentValue" wire:"required"`
	Options      SessionConfigSelectOptions `json:"options" wire:"required"`
}

func (k SessionConfigSelect) MarshalJSON() ([]byte, error) {
	type body SessionConfigSelect
	return acp.EncodeVariant("type", "select", body(k))
}

// SessionConfigBoolean is an option that is on or off. See "Session Config Options".
type SessionConfigBoolean struct {
	CurrentValue bool `json:"currentValue" wire:"required"`
}

func (k SessionConfigBoolean) MarshalJSON() ([]byte, error) {
	type body SessionConfigBoolean
	return acp.EncodeVariant("type", "boolean", body(k))
}

// SessionConfigSelectOptions is the values of a select: a plain list, or groups if Groups is not nil.
type SessionConfigSelectOptions struct {
	Ungrouped []wire.SessionConfigSelectOption
	Groups    []SessionConfigSelectGroup
}

// MarshalJSON encodes the list that is there.
func (o SessionConfigSelectOptions) MarshalJSON() ([]byte, error) {
	if o.Groups != nil {
		return json.Marshal(acp.List[SessionConfigSelectGroup](o.Groups))
	}
	return json.Marshal(acp.List[wire.SessionConfigSelectOption](o.Ungrouped))
}

// UnmarshalJSON decides by the items whether the list is of groups.
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
	Group   string                                   `json:"group" wire:"required"`
	Name    string                                   `json:"name" wire:"required"`
	Options acp.List[wire.SessionConfigSelectOption] `json:"options" wire:"required,lenient,skip"`
	Meta    json.RawMessage                          `json:"_meta,omitzero" wire:"lenient,object"`
}

// SetSessionConfigOptionRequest gives an option a value; [SelectValue] and [BooleanValue] make
// it. See "Session Config Options", "From the Client".
type SetSessionConfigOptionRequest struct {
	SessionID wire.SessionID       `json:"sessionId" wire:"required"`
	ConfigID  wire.SessionConfigID `json:"configId" wire:"required"`
	Type      string               `json:"type,omitzero" wire:"lenient"` // "boolean", or "" for a value id
	Value     json.RawMessage      `json:"value" wire:"required"`
	Meta      json.RawMessage      `json:"_meta,omitzero" wire:"lenient,object"`
}

// SelectValue chooses a value of a select option.
func SelectValue(session wire.SessionID, id wire.SessionConfigID, value wire.SessionConfigValueID) *SetSessionConfigOptionRequest {
	raw, _ := json.Marshal(value) // a string always encodes
	return &SetSessionConfigOptionRequest{SessionID: session, ConfigID: id, Value: raw}
}

// BooleanValue turns a boolean option on or off.
func BooleanValue(session wire.SessionID, id wire.SessionConfigID, on bool) *SetSessionConfigOptionRequest {
	raw, _ := json.Marshal(on) // a boolean always encodes
	return &SetSessionConfigOptionRequest{SessionID: session, ConfigID: id, Type: "boolean", Value: raw}
}

// SetSessionConfigOptionResponse has all options as they are after the change.
type SetSessionConfigOptionResponse struct {
	ConfigOptions acp.List[SessionConfigOption] `json:"configOptions" wire:"required,lenient,skip"`
	Meta          json.RawMessage               `json:"_meta,omitzero" wire:"lenient,object"`
}
