package v1

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// Methods of the client's terminals, sent by the agent. They need the client's capability.
const (
	MethodTerminalCreate      = "terminal/create"
	MethodTerminalOutput      = "terminal/output"
	MethodTerminalWaitForExit = "terminal/wait_for_exit"
	MethodTerminalKill        = "terminal/kill"
	MethodTerminalRelease     = "terminal/release"
)

// CreateTerminalRequest runs a command. Of its output the client keeps the last
// OutputByteLimit bytes. CWD is absolute, the session's folder if empty.
// See "Terminals", "Executing Commands".
type CreateTerminalRequest struct {
	SessionID       wire.SessionID     `json:"sessionId" wire:"required"`
	Command         string             `json:"command" wire:"required"`
	Args            []string           `json:"args,omitzero"`
	Env             []wire.EnvVariable `json:"env,omitzero"`
	CWD             string             `json:"cwd,omitzero"`
	OutputByteLimit acp.Opt[uint64]    `json:"outputByteLimit,omitzero"`
	Meta            json.RawMessage    `json:"_meta,omitzero" wire:"lenient,object"`
}

// CreateTerminalResponse names the terminal at once, while the command runs.
type CreateTerminalResponse struct {
	TerminalID wire.TerminalID `json:"terminalId" wire:"required"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// TerminalOutputRequest asks for the output so far. See "Terminals", "Getting Output".
type TerminalOutputRequest struct {
	SessionID  wire.SessionID  `json:"sessionId" wire:"required"`
	TerminalID wire.TerminalID `json:"terminalId" wire:"required"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// TerminalOutputResponse is the output that was kept; ExitStatus is nil while the command runs.
// See "Terminals", "Getting Output".
type TerminalOutputResponse struct {
	Output     string              `json:"output" wire:"required"`
	Truncated  bool                `json:"truncated" wire:"required"`
	ExitStatus *TerminalExitStatus `json:"exitStatus,omitzero" wire:"lenient"`
	Meta       json.RawMessage     `json:"_meta,omitzero" wire:"lenient,object"`
}

// TerminalExitStatus is how a command ended: with a code, or by a signal.
type TerminalExitStatus struct {
	ExitCode acp.Opt[uint32] `json:"exitCode,omitzero" wire:"lenient"`
	Signal   acp.Opt[string] `json:"signal,omitzero" wire:"lenient"`
	Meta     json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// WaitForTerminalExitRequest is answered when the command has ended. See "Terminals", "Waiting for Exit".
type WaitForTerminalExitRequest struct {
	SessionID  wire.SessionID  `json:"sessionId" wire:"required"`
	TerminalID wire.TerminalID `json:"terminalId" wire:"required"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// WaitForTerminalExitResponse is how the command ended. See "Terminals", "Waiting for Exit".
type WaitForTerminalExitResponse struct {
	ExitCode acp.Opt[uint32] `json:"exitCode,omitzero" wire:"lenient"`
	Signal   acp.Opt[string] `json:"signal,omitzero" wire:"lenient"`
	Meta     json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// KillTerminalRequest ends the command and keeps the terminal. See "Terminals", "Killing Commands".
type KillTerminalRequest struct {
	SessionID  wire.SessionID  `json:"sessionId" wire:"required"`
	TerminalID wire.TerminalID `json:"terminalId" wire:"required"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// KillTerminalResponse says that the command was ended.
type KillTerminalResponse struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// ReleaseTerminalRequest ends the command and forgets the terminal. See "Terminals", "Releasing Terminals".
type ReleaseTerminalRequest struct {
	SessionID  wire.SessionID  `json:"sessionId" wire:"required"`
	TerminalID wire.TerminalID `json:"terminalId" wire:"required"`
	Meta       json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}

// ReleaseTerminalResponse says that the terminal is forgotten.
type ReleaseTerminalResponse struct {
	Meta json.RawMessage `json:"_meta,omitzero" wire:"lenient,object"`
}
