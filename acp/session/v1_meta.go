package session

import (
	"encoding/json"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// This file is about the terminals that agents of version 1 own and report in the `_meta` of tool calls.

// shells are the terminals of a session's running commands, by tool call.
type shells map[wire.ToolCallID]wire.TerminalID

// upsert translates tool_call and tool_call_update: what they say about terminals, in the order in which it happened,
// and then the call, so that a call which has ended shows all of its output.
func (a *V1) upsert(id wire.SessionID, c *v1.ToolCallUpdate) []Update {
	root := a.rootOf(id)
	patch, terminals := patched(c), a.terminals(root, c)
	a.subagents.below(string(id), &patch)
	if len(terminals) == 0 || !patch.empty() {
		a.called(root, &patch) // output alone does not come between
	}
	return append(terminals, patch)
}

// terminals returns the updates of the agent's terminals in a tool call.
func (a *V1) terminals(session wire.SessionID, c *v1.ToolCallUpdate) []Update {
	meta := v1.ReadToolCallMeta(c.Meta)
	a.mu.Lock()
	defer a.mu.Unlock()
	shells := a.shells[session]
	if shells == nil {
		shells = map[wire.ToolCallID]wire.TerminalID{}
		a.shells[session] = shells
	}
	named := func(id wire.TerminalID) string {
		if id == "" {
			id = wire.TerminalID(c.ToolCallID) // as agents name them
		}
		return string(id)
	}
	var updates []Update
	if info := meta.TerminalInfo; info != nil {
		p := TerminalPatch{ID: named(info.TerminalID), Command: commandIn(c.RawInput), Plain: true}
		shells[c.ToolCallID] = wire.TerminalID(p.ID)
		if info.Command != "" {
			p.Command = acp.Set(info.Command)
		}
		if info.CWD != "" {
			p.Cwd = acp.Set(LocalPath(info.CWD))
		}
		updates = append(updates, p)
	} else if id, ok := shells[c.ToolCallID]; ok {
		if command := commandIn(c.RawInput); !command.IsZero() {
			updates = append(updates, TerminalPatch{ID: string(id), Command: command, Plain: true})
		}
	}
	for _, out := range []*v1.MetaTerminalOutput{meta.TerminalOutput, meta.TerminalOutputDelta} {
		if out != nil && out.Data != "" {
			updates = append(updates, TerminalChunk{ID: named(out.TerminalID), Data: []byte(out.Data), Plain: true})
		}
	}
	if exit := meta.TerminalExit; exit != nil {
		updates = append(updates, TerminalPatch{
			ID: named(exit.TerminalID), Plain: true,
			Exit: acp.Set(terminalExit(exit.ExitCode, exit.Signal)),
		})
		delete(shells, c.ToolCallID)
	} else if id, ok := shells[c.ToolCallID]; ok && ToolCallStatus(c.Status.Or("")).Finished() {
		updates = append(updates, TerminalPatch{ID: string(id), Plain: true, Exit: acp.Set(exitIn(c.RawOutput.Or(nil)))})
		delete(shells, c.ToolCallID)
	}
	return updates
}

// commandIn returns the command in a tool's input as agents with their own terminals send it, a text or a list; some
// send it only after the terminal.
func commandIn(rawInput acp.Opt[json.RawMessage]) acp.Opt[string] {
	var input struct {
		Command json.RawMessage `json:"command"`
	}
	var line string
	var argv []string
	raw, ok := rawInput.Get()
	switch {
	case !ok || json.Unmarshal(raw, &input) != nil:
	case json.Unmarshal(input.Command, &line) == nil:
	case json.Unmarshal(input.Command, &argv) != nil:
	case len(argv) == 3 && strings.HasSuffix(argv[0], "sh") && (argv[1] == "-c" || argv[1] == "-lc"):
		line = argv[2] // of a shell
	default:
		line = Quoted(argv)
	}
	if line == "" {
		return acp.Opt[string]{}
	}
	return acp.Set(line)
}

// Command returns the command in a call's input, "" for none.
func (c *ToolCall) Command() string {
	return commandIn(acp.Set(c.RawInput)).Or("")
}

// Quoted returns words quoted for a shell.
func Quoted(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool {
			return !strings.ContainsRune("-_./=:,@%+", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		quoted[i] = word
	}
	return strings.Join(quoted, " ")
}

func terminalExit(code acp.Opt[int64], signal acp.Opt[string]) TerminalExit {
	exit := TerminalExit{Signal: signal.Or("")}
	if n, ok := code.Get(); ok {
		i := int(n)
		exit.Code = &i
	}
	return exit
}

// metaPatch returns a `_meta` without what it says about terminals, which their owner has.
func metaPatch(raw json.RawMessage) acp.Opt[map[string]json.RawMessage] {
	var meta map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &meta) != nil {
		return acp.Opt[map[string]json.RawMessage]{}
	}
	for _, key := range v1.MetaTerminalKeys {
		delete(meta, key)
	}
	if len(meta) == 0 {
		return acp.Opt[map[string]json.RawMessage]{}
	}
	return acp.Set(meta)
}
