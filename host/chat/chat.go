// Package chat draws the chat of a session in Neovim, and answers what Lua asks about its rows.
package chat

import (
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/draw"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// Chat is the transcript of a session, drawn in a buffer. It belongs to the session's goroutine.
type Chat struct {
	*transcript.Transcript
	base   feature.Base
	pages  draw.Pages
	unsent int // as Lua was last told: lines of waiting prompts at the chat's end; -1 if it was not told
}

// New returns the chat of a conversation.
func New(base feature.Base, pages draw.Pages, conv *session.Conversation, config transcript.Config) *Chat {
	return &Chat{Transcript: transcript.New(conv, config), base: base, pages: pages, unsent: -1}
}

// Reset redraws the chat from the beginning.
func (c *Chat) Reset() {
	c.Transcript.Reset()
	c.unsent = -1
}

// Redraw is Reset for a reason that Lua gives.
func (c *Chat) Redraw(why error) { c.pages.Anew(c, "redraw", why) }

// Ops returns what Neovim must draw next, about budget bytes of it.
func (c *Chat) Ops(budget int) (ops []editor.Op) {
	for _, e := range c.Take(budget) {
		ops = append(ops, c.pages.Op(c, editor.Do(c.pages.Edit(e))))
	}
	if rows := c.Unsent(); rows != c.unsent {
		c.unsent = rows
		ops = append(ops, editor.Do(rpc.Unsent{In: rpc.In{Session: c.base.Session}, Rows: rows}))
	}
	return ops
}

// Row returns the row that a message from Lua is about.
func (c *Chat) Row(at rpc.At) int { return c.RowNow(at.Row, at.Seq) }

// Location returns the place that a row refers to, without a path if there is none.
func (c *Chat) Location(row int) rpc.Place {
	place, ok := c.Place(row)
	if !ok {
		return rpc.Place{}
	}
	path, ok := c.base.Absolute(place.Path)
	if !ok {
		return rpc.Place{}
	}
	return rpc.Place{Path: path, Line: place.Line, External: place.External}
}

// Find answers which row is a number of blocks away.
func (c *Chat) Find(m rpc.Next) {
	to := rpc.FoundRow{Row: c.Row(m.At)}
	for range m.Count {
		next, ok := c.Next(to.Row, transcript.Kind(m.Kind), m.Forward)
		if !ok {
			break
		}
		to = rpc.FoundRow{Row: next, Found: true}
	}
	c.base.Editor.Answer(m.Callback, to, "")
}

// Extent answers which rows the block at a row has.
func (c *Chat) Extent(m rpc.Block) {
	row, end := c.Block(c.Row(m.At))
	c.base.Editor.Answer(m.Callback, rpc.Rows{Row: row, EndRow: end}, "")
}

// TellCall answers with everything known about the tool call at a row.
func (c *Chat) TellCall(m rpc.Inspect) {
	lines, marks := styled.Flatten(c.Inspect(c.Row(m.At)))
	c.base.Editor.Answer(m.Callback, rpc.Lines{Lines: lines, Marks: marks}, "")
}

// TellPrompt answers with the user's prompt at a row, and its number.
func (c *Chat) TellPrompt(m rpc.EditPrompt, number func(*session.Message) int) {
	prompt, waits := c.Prompt(c.Row(m.At))
	if prompt == nil {
		c.base.Editor.Answer(m.Callback, nil, "")
		return
	}
	answer := rpc.EarlierPrompt{Text: prompt.Text(), Waits: waits}
	if !waits {
		answer.Prompt = number(prompt)
	}
	for _, part := range prompt.Parts {
		if part.Content == nil {
			continue
		}
		a := c.Attached(part.Content)
		switch {
		case a.Unsaved || a.Excerpt != "" && strings.Contains(answer.Text, "@"+a.Excerpt): // is attached again when sent
		case a.Place.Path != "" || a.Address != "":
			answer.Attached = append(answer.Attached, rpc.Attached{Path: a.Place.Path, First: a.Place.Line, Last: a.Last, URI: a.Address})
		default:
			answer.Lost = append(answer.Lost, a.Name)
		}
	}
	c.base.Editor.Answer(m.Callback, answer, "")
}

// ShowWhole fills a buffer with the whole block at a row, and answers what kind it is.
func (c *Chat) ShowWhole(m rpc.Whole) { c.show(c.Whole(c.Row(m.At)), m.Buf, m.Callback) }

// ShowOutput is ShowWhole for only the output of a tool call.
func (c *Chat) ShowOutput(m rpc.Output) { c.show(c.Output(c.Row(m.At)), m.Buf, m.Callback) }

func (c *Chat) show(render func() transcript.Whole, buf, callback int) {
	if render == nil {
		c.base.Editor.Answer(callback, nil, "")
		return
	}
	c.base.Background(func() {
		w := render()
		c.base.Editor.Answer(callback, rpc.WholeBlock{Name: w.Name, Lang: w.Lang}, "")
		draw.Fill(c.base.Editor, buf, w.Lines)
	})
}
