package transcript

import (
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Fold is what to do with a block's body.
type Fold string

// The kinds of [Fold].
const (
	Toggle   Fold = "toggle"
	Open     Fold = "open"
	Close    Fold = "close"
	OpenAll  Fold = "open_all"
	CloseAll Fold = "close_all"
)

// Fold opens or closes the block at a row of the buffer, or all of them.
func (t *Transcript) Fold(row int, f Fold) {
	switch f {
	case OpenAll, CloseAll:
		for _, b := range t.blocks {
			t.setFold(b, f == OpenAll)
		}
		return
	}
	if i, _ := t.page.At(row); i >= 0 {
		b := t.blocks[i]
		t.setFold(b, f == Open || (f == Toggle && !t.isOpen(b)))
		t.touchBelow(b)
	}
}

func (t *Transcript) setFold(b *block, open bool) {
	if b.stream != nil {
		return // always whole
	}
	b.open = closed
	if open {
		b.open = opened
	}
	t.touch(b)
}

// Entry returns the entry at a row of the buffer, or nil.
func (t *Transcript) Entry(row int) session.Entry {
	if i, _ := t.page.At(row); i >= 0 {
		return t.blocks[i].entry
	}
	return nil
}

// Prompt returns the user's prompt at a row, nil if there is none, and whether it is still waiting.
func (t *Transcript) Prompt(row int) (prompt *session.Message, waits bool) {
	i, _ := t.page.At(row)
	if i < 0 {
		return nil, false
	}
	if m, ok := t.blocks[i].entry.(*session.Message); ok && m.Role == session.RoleUser {
		return m, t.blocks[i].waits != nil
	}
	return nil, false
}

// Place returns what a row of the buffer refers to: what the row itself names, or a row above it in its block, or what
// the block is about.
func (t *Transcript) Place(row int) (styled.Place, bool) {
	i, first := t.page.At(row)
	if i < 0 {
		return styled.Place{}, false
	}
	b := t.blocks[i]
	have := b.lines.Have()
	for at := row - first; at >= 0 && at < len(have); at-- {
		if p := have[at].Place; p.Path != "" {
			return p, true
		}
	}
	if call, ok := b.entry.(*session.ToolCall); ok {
		for _, f := range t.config.Files(call) {
			return styled.Place{Path: f.Path, Line: f.Line()}, true
		}
	}
	return styled.Place{}, false
}

// Block returns the rows [row, end) of the block at a row of the buffer; they are empty if nothing is there.
func (t *Transcript) Block(at int) (row, end int) {
	i, first := t.page.At(at)
	if i < 0 {
		return 0, 0
	}
	return first, first + t.page.Rows(i)
}

// Kind is what the user moves between.
type Kind string

// The kinds of places.
const (
	Messages Kind = "message"
	Calls    Kind = "call"
)

// Next returns the row where the nearest block of a kind begins, after the row given or before it.
func (t *Transcript) Next(row int, kind Kind, forward bool) (int, bool) {
	found, ok, first := 0, false, 0
	for i, b := range t.blocks {
		start, rows := first, t.page.Rows(i)
		if b.gap {
			start++
		}
		first += rows
		if rows == 0 || !kind.is(b.entry) {
			continue
		}
		if forward && start > row {
			return start, true
		}
		if !forward && start < row {
			found, ok = start, true
		}
	}
	return found, ok
}

func (k Kind) is(e session.Entry) bool {
	switch e := e.(type) {
	case *session.Message:
		return k == Messages && e.Role != session.RoleThought
	case *session.ToolCall:
		return k == Calls
	}
	return false
}
