// Package draw has Lua draw the pages of a session, the chat and the review, and fill other buffers with lines.
package draw

import (
	"strconv"
	"time"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// Pages draws the pages of one session.
type Pages struct {
	base feature.Base
	mark func()
}

// Page is what a buffer shows. Reset redraws it from the beginning.
type Page interface{ Reset() }

// New returns the pages of base's session. mark asks for Neovim to be updated soon; any goroutine may call it.
func New(base feature.Base, mark func()) Pages { return Pages{base, mark} }

// Op returns an edit of a page, which is redrawn if Lua fails to make the edit.
func (ps Pages) Op(of Page, op editor.Op) editor.Op {
	op.Done = func(_ any, err error) {
		if err != nil {
			ps.base.Box.Put(func() { ps.Anew(of, op.Name, err) })
		}
	}
	return op
}

// Anew redraws a page from the beginning after an edit did not reach its buffer: somebody changed the buffer, or Neovim
// was in a state that allows no changes. It is called on the session's goroutine.
func (ps Pages) Anew(of Page, after string, why error) {
	ps.base.Log.Info("draw a buffer anew", "session", ps.base.Session, "after", after, "why", why)
	of.Reset()
	time.AfterFunc(100*time.Millisecond, ps.mark)
}

// Edit converts an edit of a page for Lua.
func (ps Pages) Edit(e page.Edit) rpc.Edit {
	edit := rpc.Edit{
		In: rpc.In{Session: ps.base.Session}, Seq: e.Seq, Count: e.Count, Row: e.Row, EndRow: e.EndRow, Append: e.Append, Col: e.Col, Lines: e.Lines,
		MarkRow: e.MarkRow, MarkEnd: e.MarkEnd, Marks: lineMarks(e),
	}
	for _, d := range e.Decor {
		edit.Decor = append(edit.Decor, rpc.Decor(d))
	}
	for _, c := range e.Code {
		code := rpc.Code{
			Row: c.Row, EndRow: c.EndRow, Lang: c.Lang, File: c.File, Col: c.Col, Cols: c.Cols, Sides: c.Sides,
		}
		for _, a := range c.Around {
			code.Around = append(code.Around, rpc.Around(a))
		}
		edit.Code = append(edit.Code, code)
	}
	for _, image := range e.Images {
		edit.Images = append(edit.Images, rpc.Image(image))
	}
	for _, rows := range e.Prose {
		edit.Prose = append(edit.Prose, rpc.Rows{Row: rows[0], EndRow: rows[1]})
	}
	return edit
}

// lineMarks returns the highlights of an edit as Lua keeps them, a string for each line: column, end column, group, and
// so on.
func lineMarks(e page.Edit) []string {
	lines := make([]string, e.MarkEnd-e.MarkRow)
	var words []byte
	for i := 0; i < len(e.Marks); {
		row := e.Marks[i]
		for words = words[:0]; i < len(e.Marks) && e.Marks[i] == row; i += 4 {
			for _, n := range e.Marks[i+1 : i+4] {
				words = append(strconv.AppendInt(words, int64(n), 10), ' ')
			}
		}
		lines[row-e.MarkRow] = string(words)
	}
	return lines
}

// fillSlice is about how many bytes are put into a buffer at once.
const fillSlice = 128 << 10

// Fill appends lines to a buffer in slices, each when Neovim is done with the one before, until the buffer is gone.
// Any goroutine may call it.
func Fill(nvim *editor.Editor, buf int, next transcript.Lines) {
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
			Fill(nvim, buf, next)
		}
	}
	nvim.Post(op)
}
