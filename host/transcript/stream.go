package transcript

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/markdown"
)

// stream is how far an agent's message has come into the buffer. Its text
// only grows at the end.
type stream struct {
	part, offset int    // what of the message's parts has been taken
	block        []byte // the part in words, when it is no text
	broken       bool   // a newline is due before the next part
	doc          markdown.Document
	started      bool
	col          int // bytes in the last line
}

func newStream() *stream { return &stream{} }

// next returns the text to add, about limit bytes; blocks that are no text
// become lines of their own.
func (s *stream) next(m *session.Message, limit int) (text string, done bool) {
	var b strings.Builder
	for s.part < len(m.Parts) {
		p := m.Parts[s.part]
		whole := p.Text
		if p.Content != nil {
			if s.offset == 0 {
				s.block = []byte(Describe(p.Content))
			}
			whole = s.block
		}
		rest := whole[s.offset:]
		growing := p.Content == nil && s.part+1 == len(m.Parts)
		if growing {
			rest = bytes.TrimRight(rest, "\n") // these wait for what they part
		}
		if s.offset == 0 && len(rest) > 0 {
			if s.broken || (p.Content != nil && (s.started || b.Len() > 0)) {
				b.WriteByte('\n')
			}
			s.broken = false
		}
		if n := cut(rest, limit-b.Len()); n < len(rest) {
			b.Write(rest[:n])
			s.offset += n
			return b.String(), false
		}
		b.Write(rest)
		if growing {
			s.offset += len(rest)
			break
		}
		s.part, s.offset, s.block, s.broken = s.part+1, 0, nil, p.Content != nil
	}
	return b.String(), true
}

// cut is how much of a text to take at once, at most room bytes where that is
// possible: up to the end of a line, or else between characters.
func cut(text []byte, room int) int {
	room = max(room, 1)
	if len(text) <= room {
		return len(text)
	}
	if n := bytes.LastIndexByte(text[:room], '\n') + 1; n > 0 {
		return n
	}
	for n := room; n > 0 && room-n < utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	for room < len(text) && !utf8.RuneStart(text[room]) {
		room++
	}
	return room
}

func (t *Transcript) takeStream(b *block, row, budget int) (*Edit, bool) {
	s := b.stream
	text, done := s.next(b.entry.(*session.Message), budget)
	if text == "" {
		return nil, done
	}
	e := &Edit{Lines: strings.Split(text, "\n")}
	if s.started {
		e.Append, e.Col = true, s.col
		e.Row = row + b.rows
		e.EndRow = e.Row
		b.rows += len(e.Lines) - 1
	} else {
		if b.gap {
			e.Lines = append([]string{""}, e.Lines...)
		}
		e.Row, e.EndRow = row, row
		b.rows = len(e.Lines)
		s.started = true
	}
	if last := len(e.Lines[len(e.Lines)-1]); e.Append && len(e.Lines) == 1 {
		s.col += last
	} else {
		s.col = last
	}
	s.doc.Append(text)
	from, spans, _ := s.doc.Highlight()
	top := row
	if b.gap {
		top++
	}
	e.MarkRow, e.MarkEnd = top+from, row+b.rows
	e.Marks = make([]int, 0, 4*len(spans))
	for _, sp := range spans {
		e.Marks = append(e.Marks, top+sp.Line, sp.Col, sp.EndCol, int(sp.Group))
	}
	return e, done
}
