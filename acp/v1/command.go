package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
)

// AvailableCommandsUpdate has all slash commands. See "Slash Commands".
type AvailableCommandsUpdate struct {
	AvailableCommands acp.List[AvailableCommand] `json:"availableCommands" wire:"required,lenient,skip"`
	Meta              json.RawMessage            `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u AvailableCommandsUpdate) MarshalJSON() ([]byte, error) {
	type body AvailableCommandsUpdate
	return acp.EncodeVariant("sessionUpdate", "available_commands_update", body(u))
}

// AvailableCommand is a command of the agent; Name is without the slash. See "Slash Commands", "Advertising commands".
type AvailableCommand struct {
	Name        string                 `json:"name" wire:"required"`
	Description string                 `json:"description" wire:"required"`
	Input       *AvailableCommandInput `json:"input,omitzero" wire:"lenient"`
	Meta        json.RawMessage        `json:"_meta,omitzero" wire:"lenient,object"`
}

// AvailableCommandInput says that a command takes text; Hint is shown while there is none. It
// is the schema's UnstructuredCommandInput, the only kind of input.
type AvailableCommandInput struct {
	Hint string          `json:"hint" wire:"required"`
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
