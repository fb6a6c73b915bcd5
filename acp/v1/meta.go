package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// ToolCallMeta is what agents say in the `_meta` of tool calls, outside the schema, about the terminals in which they
// run commands by themselves.
//
// Both kinds of output append to what was sent before. An agent that streams sends one for each piece, one that does
// not sends all of it once, at the end; some do either under either name.
type ToolCallMeta struct {
	TerminalInfo        *MetaTerminalInfo   `json:"terminal_info,omitzero" wire:"lenient"`
	TerminalOutput      *MetaTerminalOutput `json:"terminal_output,omitzero" wire:"lenient"`
	TerminalOutputDelta *MetaTerminalOutput `json:"terminal_output_delta,omitzero" wire:"lenient"`
	TerminalExit        *MetaTerminalExit   `json:"terminal_exit,omitzero" wire:"lenient"`
}

// MetaTerminalKeys are the keys of [ToolCallMeta] that are about terminals.
var MetaTerminalKeys = []string{"terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"}

// CapabilityTerminalOutput in the `_meta` of the client's capabilities asks agents to report terminals in the `_meta`
// of tool calls.
const CapabilityTerminalOutput = "terminal_output"

// MetaTerminalInfo announces a terminal, as a rule before a tool call shows it.
type MetaTerminalInfo struct {
	TerminalID wire.TerminalID `json:"terminal_id,omitzero" wire:"lenient"`
	Command    string          `json:"command,omitzero" wire:"lenient"`
	CWD        string          `json:"cwd,omitzero" wire:"lenient"`
}

// MetaTerminalOutput is what a command has written: text as it comes out of a pipe.
type MetaTerminalOutput struct {
	TerminalID wire.TerminalID `json:"terminal_id,omitzero" wire:"lenient"`
	Data       string          `json:"data" wire:"required"`
}

// MetaTerminalExit says that a command has ended, and with which code or signal, if known.
type MetaTerminalExit struct {
	TerminalID wire.TerminalID `json:"terminal_id,omitzero" wire:"lenient"`
	ExitCode   acp.Opt[int64]  `json:"exit_code,omitzero" wire:"lenient"`
	Signal     acp.Opt[string] `json:"signal,omitzero" wire:"lenient"`
}

// ReadToolCallMeta reads the known keys of a `_meta`; malformed ones count as missing.
func ReadToolCallMeta(meta json.RawMessage) ToolCallMeta {
	var known ToolCallMeta
	if len(meta) == 0 || acp.Decode(meta, &known) != nil {
		return ToolCallMeta{}
	}
	return known
}
