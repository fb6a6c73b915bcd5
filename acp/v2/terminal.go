package v2

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// TerminalUpdate creates or changes a terminal that the agent owns and the client only shows. See
// "Tool Calls", "Display-only Terminals".
type TerminalUpdate struct {
	TerminalID   wire.TerminalID               `json:"terminalId" wire:"required"`
	Command      acp.Opt[string]               `json:"command,omitzero" wire:"lenient"`
	CWD          acp.Opt[string]               `json:"cwd,omitzero" wire:"lenient"`
	Output       acp.Opt[TerminalOutput]       `json:"output,omitzero" wire:"lenient"`
	ExitStatus   acp.Opt[TerminalExitStatus]   `json:"exitStatus,omitzero" wire:"lenient"`
	Size         acp.Opt[TerminalSize]         `json:"size,omitzero" wire:"lenient"`
	Capabilities acp.Opt[TerminalCapabilities] `json:"capabilities,omitzero" wire:"lenient"`
	Meta         acp.Opt[json.RawMessage]      `json:"_meta,omitzero" wire:"lenient,object"`
}

func (u TerminalUpdate) MarshalJSON() ([]byte, error) {
	type body TerminalUpdate
	return acp.EncodeVariant("sessionUpdate", "terminal_update", body(u))
}

// TerminalOutput is all bytes that a terminal holds; it replaces what was there.
type TerminalOutput struct {
	Data Bytes           `json:"data" wire:"required"`
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// TerminalExitStatus says that the command has ended, and with what, where that is known.
type TerminalExitStatus struct {
	ExitCode acp.Opt[int64]  `json:"exitCode,omitzero" wire:"lenient"`
	Signal   acp.Opt[string] `json:"signal,omitzero" wire:"lenient"`
	Meta     json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// TerminalSize is the size in cells that the command writes for.
type TerminalSize struct {
	Cols uint16          `json:"cols" wire:"required"`
	Rows uint16          `json:"rows" wire:"required"`
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// TerminalCapabilities says what the client may do with a terminal while its command runs.
type TerminalCapabilities struct {
	Cancel *wire.Supported `json:"cancel,omitzero" wire:"lenient"`
	Meta   json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// TerminalOutputChunk appends bytes to a terminal. It may end within a character or an escape
// sequence. See "Tool Calls", "Display-only Terminals".
type TerminalOutputChunk struct {
	TerminalID wire.TerminalID `json:"terminalId" wire:"required"`
	Data       Bytes           `json:"data" wire:"required"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

func (c TerminalOutputChunk) MarshalJSON() ([]byte, error) {
	type body TerminalOutputChunk
	return acp.EncodeVariant("sessionUpdate", "terminal_output_chunk", body(c))
}
