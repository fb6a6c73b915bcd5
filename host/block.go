package host

import (
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// row is the row of the chat that a message of Lua is about.
func (s *Session) row(at rpc.At) int { return s.chat.Follow(at.Row, at.Seq) }

// location is the place that a row of the chat leads to.
func (s *Session) location(row int) rpc.Place {
	place, ok := s.chat.Place(row)
	if !ok {
		return rpc.Place{}
	}
	path, ok := s.base.Absolute(place.Path)
	if !ok {
		return rpc.Place{}
	}
	return rpc.Place{Path: path, Line: place.Line, External: place.External}
}

// inspect tells Lua all that is known of the tool call at a row.
func (s *Session) inspect(row, callback int) {
	lines, marks := styled.Flatten(s.chat.Inspect(row))
	s.base.Editor.Answer(callback, rpc.Lines{Lines: lines, Marks: marks}, "")
}

// whole fills a buffer with a block of the chat, and tells Lua what it is.
func (s *Session) whole(render func() transcript.Whole, buf, callback int) {
	if render == nil {
		s.base.Editor.Answer(callback, nil, "")
		return
	}
	s.base.Background(func() {
		w := render()
		s.base.Editor.Answer(callback, rpc.WholeBlock{Name: w.Name, Lang: w.Lang}, "")
		s.host.fill(buf, w.Lines)
	})
}

// fillSlice is about how many bytes of a buffer are filled at once.
const fillSlice = 128 << 10

// fill appends lines to a buffer, in slices: each when Neovim is done with the
// one before, until the buffer is gone.
func (h *Host) fill(buf int, next transcript.Lines) {
	var lines []styled.Line
	more := true
	for bytes := 0; more && bytes < fillSlice; {
		var l styled.Line
		if l, more = next(); more {
			lines = append(lines, l)
			bytes += 16 + len(l.Text) + 64*len(l.Marks)
		}
	}
	texts, marks := styled.Flatten(lines)
	op := editor.Do(rpc.Fill{Lines: rpc.Lines{Lines: texts, Marks: marks}, Buf: buf, Done: !more})
	op.Done = func(_ any, err error) {
		if err == nil && more {
			h.fill(buf, next)
		}
	}
	h.editor.Post(op)
}
