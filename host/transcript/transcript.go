// Package transcript turns a conversation into the lines and highlights of a chat buffer. It is pure: it is told which
// entries changed, and each is a block of a [page.Page], which knows what the buffer has and returns the edits that
// update it, a bounded piece at a time.
//
// The agent's text is in the buffer as it came, byte for byte: a message only ever grows at its end, so its edits are
// appends. Everything else is rendered again when it changes, and only the lines that differ are sent.
package transcript

import (
	"slices"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Config is what a transcript needs to know about its surroundings.
type Config struct {
	// Cwd is the session's folder: paths below it are shown relative to it.
	Cwd string
	// Now is the clock; durations of running calls are shown in seconds.
	Now func() time.Time
	// NerdFont says that the user's font has icons.
	NerdFont bool
	// Files returns the changes that a call reports, in order; the same pointers while nothing more is known about
	// them.
	Files func(*session.ToolCall) []*diff.FileDiff
	// Terminal returns the last n lines of a terminal, and how many there are.
	Terminal func(id string, n int) (Screenful, bool)
	// Output returns the last n lines of what a command wrote, its escape
	// sequences, carriage returns and backspaces resolved, and how many there are.
	Output func(text string, n int) Screenful
	// Resolve returns all lines of such a text.
	Resolve func(text string) Lines
	// Save returns the file that will soon contain a picture, a sound or another blob, given in base64; "" if it is not
	// saved.
	Save func(mimeType, data string) string
}

// Screenful is the end of a terminal's output. State is "" while the command runs, otherwise a sentence about its end.
// Behind says that it runs in the background.
type Screenful struct {
	Lines  []styled.Line
	Total  int
	State  string
	Behind bool
}

// Transcript is the chat of one conversation. One goroutine owns it.
type Transcript struct {
	config  Config
	conv    *session.Conversation
	page    page.Page
	blocks  []*block // those of the page
	entries []*block // those of the conversation's entries, see nest.go
	waiting []*block // the last ones: of waiting prompts, see waiting.go
	awaited []Waiting
	calls   map[*session.ToolCall]*block
	shows   map[string][]*block // the tool calls that have shown a terminal
	width   int                 // cells of the narrowest window, 0 while there is none

	due      Due           // see due.go
	dueAfter *session.Stop // the end of the turn that the line about it is below

	pictures map[string]string // files by the lines of messages that name them
}

// block is the rendering of one entry.
type block struct {
	entry  session.Entry // nil if it has moved elsewhere
	index  int           // of the entry
	at     int           // index of the block
	gap    bool          // an empty line comes before it
	open   fold
	lines  page.Lines[styled.Line] // gap included (not for streams)
	next   []styled.Line           // what it should be, while it takes more than one Take
	diffs  []fileChange            // of a tool call that is not finished
	about  figures                 // of a tool call
	parent *block                  // the tool call that made this one, or nil
	stream *stream                 // of an agent's message
	waits  *Waiting                // of a prompt that is not sent yet
}

// fold is what the user did to a block: nothing, opened or closed it.
type fold int

const (
	auto fold = iota
	opened
	closed
)

// New returns the transcript of conv, to be sent to an empty buffer.
func New(conv *session.Conversation, config Config) *Transcript {
	return &Transcript{conv: conv, config: config, calls: map[*session.ToolCall]*block{}, shows: map[string][]*block{}, pictures: map[string]string{}}
}

// Sync finds which entries of the conversation are new or changed.
func (t *Transcript) Sync() {
	changed := t.conv.TakeChanged()
	for _, i := range changed {
		for len(t.entries) <= i {
			t.touchFolded(t.add().parent)
		}
	}
	t.nest(changed)
	for _, i := range changed {
		b := t.entries[i]
		t.touch(b)
		t.noteTerminals(b)
		switch b.entry.(type) {
		case *session.Message, *session.Plan:
			if b.at != loose { // it may have got its first words, or lost them
				t.setGap(b.at)
				t.setGap(b.at + 1)
			}
		}
	}
	t.placeWaiting()
}

// add gives the next entry its block.
func (t *Transcript) add() *block {
	index := len(t.entries)
	entry := t.conv.Entries[index]
	if b := t.said(entry); b != nil {
		b.index, b.entry = index, entry
		t.entries = append(t.entries, b)
		t.setGap(b.at)
		return b
	}
	b := &block{index: index, entry: entry}
	switch e := b.entry.(type) {
	case *session.ToolCall:
		t.calls[e] = b
	case *session.Message:
		if e.Role == session.RoleAgent {
			b.stream = t.newStream(e)
		}
	}
	b.parent = t.parentOf(b)
	t.entries = append(t.entries, b)
	t.insert(b)
	return b
}

func (t *Transcript) noteTerminals(b *block) {
	call, ok := b.entry.(*session.ToolCall)
	if !ok {
		return
	}
	for _, c := range call.Shows() {
		if ref, ok := c.(session.TerminalRef); ok && !slices.Contains(t.shows[ref.TerminalID], b) {
			t.shows[ref.TerminalID] = append(t.shows[ref.TerminalID], b)
		}
	}
}

// TouchTerminal marks the calls that show this terminal as changed.
func (t *Transcript) TouchTerminal(id string) {
	for _, b := range t.shows[id] {
		t.touch(b)
	}
}

// TouchCall marks a call as changed: more is known of what it shows.
func (t *Transcript) TouchCall(c *session.ToolCall) {
	if b := t.calls[c]; b != nil {
		t.touch(b)
	}
}

// Tick marks what shows a running clock as changed.
func (t *Transcript) Tick() {
	for _, b := range slices.Backward(t.entries) {
		switch e := b.entry.(type) {
		case *session.ToolCall:
			if !e.Shown().Finished() {
				t.touch(b)
			}
		case *session.Message:
			if e.Role == session.RoleUser {
				return // what came before the running turn no longer changes
			}
			if e.Role == session.RoleThought && e.Ended.IsZero() {
				t.touch(b)
			}
		}
	}
}

// SetWidth sets the width of the narrowest window on the chat, in cells; 0 for none. The head lines of tool calls, and
// the line of what is due, show as much as fits.
func (t *Transcript) SetWidth(width int) {
	if width == t.width {
		return
	}
	t.width = width
	for _, b := range t.waiting {
		t.touch(b)
	}
	for i, b := range t.blocks {
		if stop, ok := b.entry.(*session.Stop); ok && stop == t.dueAfter {
			t.touch(b)
		}
		call, ok := b.entry.(*session.ToolCall)
		if !ok || t.page.Rows(i) == 0 {
			continue
		}
		in := b.indent()
		head := t.head(b, call, t.outcome(call), in)
		head.Shift(in)
		at := 0
		if b.gap {
			at = 1
		}
		if have := b.lines.Have(); at >= len(have) || !have[at].Equal(head) {
			t.touch(b)
		}
	}
}

// Reset forgets what the buffer holds: it is empty again.
func (t *Transcript) Reset() {
	t.page.Reset()
	for _, b := range t.blocks {
		b.lines, b.next = page.Lines[styled.Line]{}, nil
		if b.stream != nil {
			b.stream = t.newStream(b.entry.(*session.Message))
		}
	}
}

// Dirty reports whether there is something to send.
func (t *Transcript) Dirty() bool { return t.page.Dirty() }

func (t *Transcript) touch(b *block) {
	b.next = nil
	if b.at != loose {
		t.page.Touch(b.at)
	}
}

// silent reports whether an entry has nothing to show; nil is one that has moved elsewhere.
func silent(e session.Entry) bool {
	switch e := e.(type) {
	case nil:
		return true
	case *session.Message:
		return len(e.Parts) == 0
	case *session.Plan:
		return e.Empty()
	}
	return false
}

// compact reports whether an entry has no gap to its neighbours.
func compact(e session.Entry) bool {
	switch e := e.(type) {
	case *session.ToolCall, *session.Unknown:
		return true
	case *session.Message:
		return e.Role == session.RoleThought
	}
	return false
}

// Take returns the next edits, about budget bytes of text and highlights. Call it again while [Transcript.Dirty].
func (t *Transcript) Take(budget int) []page.Edit {
	return t.page.Take(budget, func(i, row, budget int) (*page.Edit, bool) {
		if t.blocks[i].stream != nil {
			return t.takeStream(i, row, budget)
		}
		return t.takeLines(i, row, budget)
	})
}

// RowNow returns where a row has moved since the edit seq, the last one that the user has seen; the row itself if that
// is not known, or seq is 0.
func (t *Transcript) RowNow(row, seq int) int {
	if now, ok := t.page.RowNow(row, seq); ok && seq > 0 {
		return now
	}
	return row
}

// takeLines sends the lines of a block that differ from what the buffer has.
func (t *Transcript) takeLines(i, row, budget int) (*page.Edit, bool) {
	b := t.blocks[i]
	lines := b.next
	if lines == nil {
		lines = t.render(b)
		for i := range lines {
			lines[i].Shorten(maxWords, elsewhere)
		}
		if b.gap && lines != nil {
			lines = append([]styled.Line{{}}, lines...)
		}
	}
	e, done := b.lines.Take(lines, row, budget, func(from, end int) []page.Code {
		return styled.Code(lines, row, from, end)
	})
	b.next = nil
	if !done {
		b.next = lines
	}
	return e, done
}
