package session

import (
	"encoding/json"
	"slices"

	"github.com/acp-nvim/acp-nvim/acp"
)

// This file is about the calls that a sub-agent makes: they name the call that started it, which may come later or
// never, or may name them in turn.

// parentOf returns the call that started a sub-agent, as claude-agent-acp names it in `_meta`. Not every update of a
// sub-agent's call repeats it.
func parentOf(meta json.RawMessage) acp.Opt[string] {
	var m struct {
		ClaudeCode struct {
			ParentToolUseID string `json:"parentToolUseId" wire:"lenient"`
		} `json:"claudeCode" wire:"lenient"`
	}
	if len(meta) == 0 || acp.Decode(meta, &m) != nil || m.ClaudeCode.ParentToolUseID == "" {
		return acp.Opt[string]{}
	}
	return acp.Set(m.ClaudeCode.ParentToolUseID)
}

// maxDepth bounds [Conversation.Depth].
const maxDepth = 8

// Depth returns how deep a call is nested in sub-agents' calls: 0 for the agent's own, for one whose parent is unknown,
// and for one that is its own ancestor; at most 8. When it changes, the call counts as changed.
func (c *Conversation) Depth(call *ToolCall) int {
	depth := 0
	for p := call.parent; p != nil && depth < maxDepth; p = p.parent {
		if p == call {
			return 0
		}
		depth++
	}
	return depth
}

// Above returns the call that started the sub-agent which made this one, or nil if that is unknown or is itself below
// this one.
func (c *ToolCall) Above() *ToolCall {
	slow, step := c, false
	for p := c.parent; p != nil; p = p.parent {
		if p == c {
			return nil
		}
		if step = !step; !step {
			slow = slow.parent
		}
		if p == slow {
			break // there is a cycle further up
		}
	}
	return c.parent
}

// adopt gives a call another parent; "" is none.
func (c *Conversation) adopt(call *ToolCall, parent string) {
	if call.Parent == parent {
		return
	}
	is := func(child *ToolCall) bool { return child == call }
	c.children[call.Parent] = slices.DeleteFunc(c.children[call.Parent], is)
	call.Parent, call.parent = parent, nil
	if parent != "" {
		c.children[parent] = append(c.children[parent], call)
		call.parent = c.ToolCall(parent)
	}
	c.touchBelow(call.ID, maxDepth)
}

// touchBelow notes that the calls below the one with this id have another depth now.
func (c *Conversation) touchBelow(id string, levels int) {
	if levels == 0 {
		return
	}
	for _, child := range c.children[id] {
		c.touchCall(child.at)
		c.touchBelow(child.ID, levels-1)
	}
}
