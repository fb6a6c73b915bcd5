package transcript

import "github.com/acp-nvim/acp-nvim/acp/session"

// The calls of a sub-agent stand in the order they come, to the right of the
// call that it works for. Only what came before can be a parent, so that there
// is no circle.

// nestWidth is how far calls stand to the right of their parent, in cells, and
// nestDepth how often that is done.
const nestWidth, nestDepth = 2, 4

// parentOf is the index of the call that made a call, or -1.
func (t *Transcript) parentOf(i int, call *session.ToolCall) int {
	parent := -1
	if call.Parent == "" {
		return parent
	}
	for _, at := range t.calls[call.Parent] {
		if at < i {
			parent = at // the last one: ids may come again in another session of the agent
		}
	}
	return parent
}

// adopt learns of another parent of a changed entry. What is below it counts as
// changed too, see [session.Conversation.Depth].
func (t *Transcript) adopt(i int) {
	b := t.blocks[i]
	call, ok := b.entry.(*session.ToolCall)
	if !ok {
		return
	}
	if parent := t.parentOf(i, call); parent != b.parent {
		t.touchFolded(b.parent)
		b.parent = parent
		t.touchFolded(parent)
	}
}

// touchFolded marks the closed ones among a call and those it is in: they count
// what is below them.
func (t *Transcript) touchFolded(i int) {
	for ; i >= 0; i = t.blocks[i].parent {
		if t.blocks[i].open == closed {
			t.touch(i)
		}
	}
}

// touchBelow marks all calls below a call as changed.
func (t *Transcript) touchBelow(i int) {
	for j := i + 1; j < len(t.blocks); j++ {
		if t.below(j, i) {
			t.touch(j)
		}
	}
}

// below tells whether block i is in block of.
func (t *Transcript) below(i, of int) bool {
	for i = t.blocks[i].parent; i > of; {
		i = t.blocks[i].parent
	}
	return i == of
}

// descendants counts the calls below a call.
func (t *Transcript) descendants(i int) int {
	n := 0
	for j := i + 1; j < len(t.blocks); j++ {
		if t.below(j, i) {
			n++
		}
	}
	return n
}

// hidden tells whether a call is in one that is closed.
func (t *Transcript) hidden(i int) bool {
	for i = t.blocks[i].parent; i >= 0; i = t.blocks[i].parent {
		if t.blocks[i].open == closed {
			return true
		}
	}
	return false
}

// indent is how far a call stands to the right, in cells.
func (t *Transcript) indent(i int) int {
	depth := 0
	for i = t.blocks[i].parent; i >= 0 && depth < nestDepth; i = t.blocks[i].parent {
		depth++
	}
	return depth * nestWidth
}
