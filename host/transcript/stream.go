package transcript

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/markdown"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// stream is how much of an agent's message is in the buffer. Its text only grows at the end.
type stream struct {
	part, offset int                // what of the message's parts has been taken
	block        []byte             // the part in words, if it is not text
	broken       bool               // a newline is due before the next part
	doc          *markdown.Document // nil if all of the message is shown: there may be thousands
	started      bool
	col          int  // bytes in the last line
	size         int  // bytes taken
	held         int  // newlines that only the document has yet
	guessed      bool // the document has one that the message may never get
	misled       bool // the guess was wrong; another would cost as much again
	told         bool // the document was told that it is complete
	fitter       fitter

	describe func(session.Content) string // describes a block that is not text

	replaced int // the message's, when the stream began
}

func (t *Transcript) newStream(m *session.Message) *stream {
	return &stream{doc: &markdown.Document{}, describe: t.describe, replaced: m.Replaced}
}

// maxLink is about how long the line for a block is, in bytes.
const maxLink = 1000

// next returns the text to add, about limit bytes; blocks that are not text become lines of their own.
func (s *stream) next(m *session.Message, limit int) (text string, done bool) {
	var b strings.Builder
	for s.part < len(m.Parts) {
		p := m.Parts[s.part]
		whole := p.Text
		if p.Content != nil {
			if s.offset == 0 {
				s.block = []byte(s.describe(p.Content))
			}
			whole = s.block
		}
		rest := whole[s.offset:]
		growing := p.Content == nil && s.part+1 == len(m.Parts)
		if growing {
			rest = bytes.TrimRight(rest, "\n") // these wait for what follows
		}
		if s.offset == 0 && len(rest) > 0 {
			if s.broken || (p.Content != nil && (s.started || b.Len() > 0)) {
				b.WriteByte('\n')
			}
			s.broken = false
		}
		room := limit - b.Len()
		if p.Content != nil && len(rest) < maxLink {
			room = len(rest) // a block comes as one line
		}
		if n := cut(rest, room); n < len(rest) {
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

// cut returns how much of a text to take at once, at most room bytes if possible: up to the end of a line, or else
// between characters.
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

// takeStream adds what a message has grown by.
func (t *Transcript) takeStream(i, row, budget int) (*page.Edit, bool) {
	b := t.blocks[i]
	s, m := b.stream, b.entry.(*session.Message)
	if s.replaced != m.Replaced { // it starts over
		b.stream = t.newStream(m)
		if rows := t.page.Rows(i); rows > 0 {
			return &page.Edit{Row: row, EndRow: row + rows}, false
		}
		s = b.stream
	}
	var raw, text string
	var done bool
	for text == "" && !done { // what is cut takes no room
		raw, done = s.next(m, budget)
		text = s.fitter.fit(raw)
		s.study(m, raw, text, done)
	}
	if s.doc == nil {
		return nil, done
	}
	end := row + t.page.Rows(i)
	e := &page.Edit{Row: end, EndRow: end}
	if text != "" {
		s.write(e, b.gap, text)
		e.Images = t.picturesIn(e)
		end += e.Added()
	}
	top := row
	if b.gap {
		top++
	}
	if done && !s.told && !m.Ended.IsZero() && s.started {
		s.told = true
		e.Prose = [][2]int{{top, end}}
	}
	from, spans, fences := s.doc.Highlight()
	nothing := text == "" && from == s.doc.Lines() && len(fences) == 0 && e.Prose == nil
	if done && s.told && !s.misled {
		s.doc = nil
	}
	if nothing {
		return nil, done
	}
	if cuts := s.fitter.cuts; len(cuts) > 0 && cuts[len(cuts)-1] >= from {
		at, _ := slices.BinarySearch(cuts, from)
		for _, l := range cuts[at:] {
			spans = append(spans, markdown.Span{Line: l, EndCol: len(leftOut), Group: markdown.Group(styled.More)})
		}
		slices.SortStableFunc(spans, func(a, b markdown.Span) int { return a.Line - b.Line })
	}
	e.MarkRow, e.MarkEnd = min(top+from, end), end
	e.Marks = make([]int, 0, 4*len(spans))
	for _, sp := range spans {
		at := top + sp.Line
		if at < e.MarkEnd { // else an empty line that is still held
			e.Marks = append(e.Marks, at, sp.Col, sp.EndCol, int(sp.Group))
		}
	}
	for _, f := range fences {
		e.Code = append(e.Code, page.Code{Row: top + f.Line, EndRow: top + f.EndLine, Lang: f.Lang})
	}
	return e, done
}

// picturesIn finds the pictures that lines of a message name.
func (t *Transcript) picturesIn(e *page.Edit) []page.Image {
	var images []page.Image
	for i, text := range e.Lines {
		if path := t.pictures[text]; path != "" {
			at := e.Row + i
			if e.Append {
				at--
			}
			images = append(images, page.Image{Row: at, Path: path})
		}
	}
	return images
}

// fitter cuts lines that are too long to draw, and says so on a line of its own. Its zero value is at the beginning of
// a line.
type fitter struct {
	col     int   // bytes of the line that were shown
	cutting bool  // the rest of it is left out
	line    int   // how many are before it
	cuts    []int // those that say so
}

// leftOut stands for the rest of a line, which may still grow.
const leftOut = "… this line goes on" + elsewhere

func (f *fitter) fit(text string) string {
	var b strings.Builder
	for text != "" {
		part, rest, ended := strings.Cut(text, "\n")
		if room := maxWords - f.col; !f.cutting && len(part) > room {
			n := styled.Boundary(part, room)
			b.WriteString(part[:n] + "\n" + leftOut)
			f.cutting = true
			f.line++
			f.cuts = append(f.cuts, f.line)
		} else if !f.cutting {
			b.WriteString(part)
			f.col += len(part)
		}
		if ended {
			b.WriteByte('\n')
			f.col, f.cutting, f.line = 0, false, f.line+1
		}
		text = rest
	}
	return b.String()
}

// study feeds the shown text to the markdown document; raw is as it came. The document is ahead of the buffer by the
// held newlines, and by one if the message has ended, so that it knows the last line to be complete.
func (s *stream) study(m *session.Message, raw, text string, done bool) {
	switch {
	case raw == "" && s.doc == nil:
		return
	case raw != "" && (s.doc == nil || s.guessed):
		// More has come after the end. The document starts over.
		all, _ := (&stream{describe: s.describe}).next(m, 1<<62)
		s.doc, s.held, s.guessed, s.misled = &markdown.Document{}, 0, false, true
		s.doc.Append(new(fitter).fit(all[:s.size]))
	}
	s.size += len(raw)
	known := min(s.held, len(text)) // newlines
	s.held -= known
	s.doc.Append(text[known:])
	if !done || s.size == 0 {
		return
	}
	held := len(s.rest(m))
	s.doc.Append(strings.Repeat("\n", held-s.held))
	s.held = held
	if held == 0 && !m.Ended.IsZero() && !s.guessed && !s.misled {
		s.doc.Append("\n")
		s.guessed = true
	}
}

// rest returns what next holds back: newlines at the end.
func (s *stream) rest(m *session.Message) []byte {
	if s.part < len(m.Parts) && m.Parts[s.part].Content == nil {
		return m.Parts[s.part].Text[s.offset:]
	}
	return nil
}

// write makes e add text at the end of the block, which begins with an empty
// line where there is a gap.
func (s *stream) write(e *page.Edit, gap bool, text string) {
	e.Lines = strings.Split(text, "\n")
	if s.started {
		e.Append, e.Col = true, s.col
	} else if gap {
		e.Lines = append([]string{""}, e.Lines...)
	}
	s.started = true
	if last := len(e.Lines[len(e.Lines)-1]); e.Append && len(e.Lines) == 1 {
		s.col += last
	} else {
		s.col = last
	}
}
