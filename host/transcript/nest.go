package transcript

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// The calls of a sub-agent are below the call that it works for, in order, whatever came in between. So blocks are in a
// different order than the entries of the conversation, and one moves when it gets another parent.

// nestWidth is how far calls are indented from their parent, in cells, and nestDepth how often that is done.
const nestWidth, nestDepth = 2, 4

// loose is the index of a block that is not on the page.
const loose = -1

// parentOf returns the block of the call that made a block's call, or nil.
func (t *Transcript) parentOf(b *block) *block {
	call, ok := b.entry.(*session.ToolCall)
	if !ok {
		return nil
	}
	above := call.Above()
	if above == nil {
		return nil
	}
	return t.calls[above]
}

// nest moves the blocks of changed entries to their present place. What is below them counts as changed too, see
// [session.Conversation.Depth].
func (t *Transcript) nest(changed []int) {
	var moved, out []*block
	for _, i := range changed {
		if b := t.entries[i]; t.parentOf(b) != b.parent {
			moved = append(moved, b)
		}
	}
	for _, b := range moved {
		t.touchFolded(b.parent)
		if b.at != loose {
			out = append(out, t.takeOut(b)...)
		}
	}
	for _, b := range moved {
		b.parent = nil
	}
	for _, b := range moved {
		if parent := t.parentOf(b); parent != b && !parent.below(b) {
			b.parent = parent
		}
	}
	for _, b := range out {
		t.putBack(b)
	}
	for _, b := range moved {
		t.touchFolded(b.parent)
	}
}

// takeOut removes a block and those below it from the page.
func (t *Transcript) takeOut(b *block) []*block {
	from, end := b.at, t.endOf(b)
	out := make([]*block, 0, end-from)
	for i := from; i < end; i++ {
		b := t.blocks[i]
		t.touch(b)
		if b.entry != nil {
			t.blocks[i] = &block{at: i, lines: b.lines}
			b.at, b.lines, b.next = loose, page.Lines[styled.Line]{}, nil
			out = append(out, b)
		}
	}
	t.setGap(end)
	return out
}

func (t *Transcript) putBack(b *block) {
	if b.at != loose {
		return
	}
	if b.parent != nil {
		t.putBack(b.parent)
	}
	t.insert(b)
}

// insert puts a block into the page: below its parent, after those that came before, above the waiting prompts.
func (t *Transcript) insert(b *block) {
	at := len(t.blocks) - len(t.waiting)
	switch {
	case b.parent != nil:
		end := t.endOf(b.parent)
		for at = b.parent.at + 1; at < end; at++ {
			if next := t.blocks[at]; next.entry != nil && next.parent == b.parent && next.index > b.index {
				break
			}
		}
	case b.index+1 < len(t.entries):
		for at > 0 && !t.before(at-1, b.index) {
			at--
		}
	}
	t.blocks = slices.Insert(t.blocks, at, b)
	t.page.Insert(at)
	for i := at; i < len(t.blocks); i++ {
		t.blocks[i].at = i
	}
	t.setGap(at)
	t.setGap(at + 1)
}

// before reports whether the block i, or the one that it is below, came before an entry.
func (t *Transcript) before(i, entry int) bool {
	b := t.blocks[i]
	for b.parent != nil {
		b = b.parent
	}
	return b.entry != nil && b.index < entry
}

// endOf returns the index after a block and those below it.
func (t *Transcript) endOf(b *block) int {
	end := b.at + 1
	for i := end; i < len(t.blocks); i++ {
		switch next := t.blocks[i]; {
		case next.below(b):
			end = i + 1
		case next.entry != nil:
			return end
		}
	}
	return end
}

// setGap sets whether the first block from an index on has a gap before it.
func (t *Transcript) setGap(i int) {
	for i < len(t.blocks) && silent(t.blocks[i].entry) {
		i++
	}
	if i == len(t.blocks) {
		return
	}
	b := t.blocks[i]
	gap := b.index > 0
	if compact(b.entry) {
		for i--; i >= 0 && silent(t.blocks[i].entry); {
			i--
		}
		gap = i >= 0 && !compact(t.blocks[i].entry)
	}
	if gap != b.gap {
		b.gap = gap
		t.touch(b)
	}
}

// touchFolded marks the closed ones among a call and those it is in: they count what is below them.
func (t *Transcript) touchFolded(b *block) {
	for ; b != nil; b = b.parent {
		if b.open == closed {
			t.touch(b)
		}
	}
}

// touchBelow marks all calls below a call as changed.
func (t *Transcript) touchBelow(b *block) {
	for _, below := range t.blocks[b.at+1 : t.endOf(b)] {
		t.touch(below)
	}
}

// below reports whether a block is in another one; none is.
func (b *block) below(of *block) bool {
	for b != nil {
		if b = b.parent; b == of {
			return true
		}
	}
	return false
}

// descendants counts the calls below a call.
func (t *Transcript) descendants(b *block) int {
	n := 0
	for _, below := range t.blocks[b.at+1 : t.endOf(b)] {
		if below.entry != nil {
			n++
		}
	}
	return n
}

// hidden reports whether a call is in one that is closed.
func (b *block) hidden() bool {
	for b = b.parent; b != nil; b = b.parent {
		if b.open == closed {
			return true
		}
	}
	return false
}

// indent returns how far a call is indented, in cells.
func (b *block) indent() int {
	depth := 0
	for b = b.parent; b != nil && depth < nestDepth; b = b.parent {
		depth++
	}
	return depth * nestWidth
}
