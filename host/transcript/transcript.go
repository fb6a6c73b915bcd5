// Package transcript turns a conversation into the lines and highlights of a
// chat buffer. It is pure: it owns what the buffer holds, is told which
// entries changed, and hands out the edits that bring the buffer up to date,
// a bounded piece at a time.
//
// The agent's text stands in the buffer as it came, byte for byte: a message
// only ever grows at its end, so its edits are appends. Everything else is
// rendered anew when it changes, and only the lines that differ are sent.
package transcript

import (
	"slices"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
)

// Edit is one change of the chat buffer; edits are applied in order. Rows are
// 0-based. Lines [Row, EndRow) become Lines; with Append set, Lines[0] is
// instead added to the end of line Row-1 and the rest follows it.
type Edit struct {
	Seq         int // of the edit; see [Transcript.Follow]
	Count       int // lines the buffer must have before, as a check; 0 for an empty buffer
	Row, EndRow int
	Append      bool
	Col         int // with Append: the length of line Row-1, in bytes
	Lines       []string
	// Highlights of the rows [MarkRow, MarkEnd) are replaced by Marks, four
	// numbers each: row, column, end column, group.
	MarkRow, MarkEnd int
	Marks            []int
	// Decor is what stands beside the text of a row.
	Decor []Decor
	// Code is what has been completed of fenced code, to be highlighted in its
	// language.
	Code []Code
	// Images are the pictures to be shown below a row, where that can be.
	Images []Image
}

// Code is the lines [Row, EndRow) of a fenced block, or of the diff of a file.
type Code struct {
	Row, EndRow int
	Lang        string // what stands behind the fence; "" of a diff

	Col  int   // where the code begins in each line, in bytes
	Cols []int // that, for each line, where they differ

	// Of a diff: the file's name, and for each line which side of it it is of: '-' for the old one, '+'
	// for the new one, ' ' for both, '.' where it is no text of the file.
	File   string
	Sides  string
	Around []Around
}

// Image is the file of a picture that a row names.
type Image struct {
	Row  int
	Path string
}

// Around is text of a file that is not shown, but stands before a line that is,
// counted from the first of a [Code], or behind the last: it tells what those
// lines mean.
type Around struct {
	Line  int
	Lines []string
}

// Decor is a sign or a text at the right edge of a row.
type Decor struct {
	Row        int
	Right      string
	RightGroup Group
	Sign       string
	SignGroup  Group
}

// Config is what a transcript needs to know of the world around it.
type Config struct {
	// Cwd is the session's folder: paths below it are shown relative to it.
	Cwd string
	// Now is the clock; durations of running calls are shown in seconds.
	Now func() time.Time
	// NerdFont says that the user's font has icons.
	NerdFont bool
	// Files returns the changes that a call tells of, in its order; the same
	// pointers while nothing more is known of them.
	Files func(*session.ToolCall) []*diff.File
	// Terminal returns the last n lines of a terminal, and how many there are.
	Terminal func(id string, n int) (Screenful, bool)
	// Output returns the last n lines of what a command wrote, its escape
	// sequences, carriage returns and backspaces resolved, and how many there are.
	Output func(text string, n int) Screenful
	// Save returns the file in which a picture, a sound or another blob, in
	// base64, is to be found soon; "" where it is not saved.
	Save func(mimeType, data string) string
}

// Screenful is the end of a terminal's output. State is "" while the command
// runs, else a sentence about its end.
type Screenful struct {
	Lines []Line
	Total int
	State string
}

// Transcript is the chat of one conversation. One goroutine owns it.
type Transcript struct {
	config Config
	conv   *session.Conversation
	blocks []*block
	calls  map[string][]int // indexes of the tool calls with an id, ascending
	dirty  []int            // indexes into blocks, ascending, of what is to be sent
	count  int              // lines the buffer holds
	seq    int              // of the last edit
	moves  []move           // by the last edits, the latest last
	width  int              // cells of the narrowest window, 0 while there is none

	pictures map[string]string // files by the lines of messages that name them
}

// block is the rendering of one entry.
type block struct {
	entry  session.Entry
	gap    bool // an empty line stands before it
	rows   int  // lines the buffer holds of it, the gap included
	open   fold
	static []Line       // what the buffer holds, gap included (not for streams)
	next   []Line       // what it shall hold, while it takes more than one Take
	diffs  []fileChange // of a tool call that is not finished
	fresh  int          // 1 + the first line of static that a Take sent which did not send all
	about  figures      // of a tool call
	parent int          // index of the tool call that made this one, or -1
	stream *stream      // of an agent's message
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
	return &Transcript{conv: conv, config: config, calls: map[string][]int{}, pictures: map[string]string{}}
}

// Sync learns which entries of the conversation are new or changed.
func (t *Transcript) Sync() {
	for _, i := range t.conv.TakeChanged() {
		for len(t.blocks) <= i {
			t.blocks = append(t.blocks, t.newBlock(len(t.blocks)))
			t.touchFolded(t.blocks[len(t.blocks)-1].parent)
		}
		t.touch(i)
		t.adopt(i)
	}
}

// TouchTerminal marks the calls that show this terminal as changed.
func (t *Transcript) TouchTerminal(id string) {
	for i := len(t.blocks) - 1; i >= 0; i-- {
		call, ok := t.blocks[i].entry.(*session.ToolCall)
		if !ok {
			continue
		}
		for _, c := range call.Content {
			if ref, ok := c.(session.TerminalRef); ok && ref.TerminalID == id {
				t.touch(i)
			}
		}
	}
}

// TouchCall marks a call as changed: more is known of what it shows.
func (t *Transcript) TouchCall(c *session.ToolCall) {
	for i := len(t.blocks) - 1; i >= 0; i-- {
		if t.blocks[i].entry == c {
			t.touch(i)
			return
		}
	}
}

// Tick marks what shows a running clock as changed.
func (t *Transcript) Tick() {
	for i := len(t.blocks) - 1; i >= 0; i-- {
		switch e := t.blocks[i].entry.(type) {
		case *session.ToolCall:
			if !e.Shown().Finished() {
				t.touch(i)
			}
		case *session.Message:
			if e.Role == session.RoleUser {
				return // what came before the running turn stands still
			}
			if e.Role == session.RoleThought && e.Ended.IsZero() {
				t.touch(i)
			}
		}
	}
}

// SetWidth tells how wide the narrowest window on the chat is, in cells; 0 is
// for none. What stands in the head lines of tool calls is as much as fits.
func (t *Transcript) SetWidth(width int) {
	if width == t.width {
		return
	}
	t.width = width
	for i, b := range t.blocks {
		call, ok := b.entry.(*session.ToolCall)
		if !ok || b.rows == 0 {
			continue
		}
		in := t.indent(i)
		head := t.head(b, call, call.Shown(), in)
		head.shift(in)
		at := 0
		if b.gap {
			at = 1
		}
		if at >= len(b.static) || !b.static[at].equal(head) {
			t.touch(i)
		}
	}
}

// Reset forgets what the buffer holds: it is empty again.
func (t *Transcript) Reset() {
	t.count, t.moves = 0, nil
	t.dirty = t.dirty[:0]
	for i, b := range t.blocks {
		b.rows, b.static, b.next = 0, nil, nil
		if b.stream != nil {
			b.stream = t.newStream()
		}
		t.dirty = append(t.dirty, i)
	}
}

// Dirty tells whether there is something to send.
func (t *Transcript) Dirty() bool { return len(t.dirty) > 0 }

func (t *Transcript) at(row int) (index, first int) {
	if row < 0 {
		return -1, 0
	}
	for i, b := range t.blocks {
		if row < first+b.rows {
			return i, first
		}
		first += b.rows
	}
	return -1, 0
}

func (t *Transcript) touch(i int) {
	t.blocks[i].next = nil
	at, found := slices.BinarySearch(t.dirty, i)
	if !found {
		t.dirty = slices.Insert(t.dirty, at, i)
	}
}

func (t *Transcript) newBlock(i int) *block {
	b := &block{entry: t.conv.Entries[i], parent: -1}
	if call, ok := b.entry.(*session.ToolCall); ok {
		b.parent = t.parentOf(i, call)
		t.calls[call.ID] = append(t.calls[call.ID], i)
	}
	b.gap = i > 0 && (!compact(b.entry) || !compact(t.conv.Entries[i-1]))
	if m, ok := b.entry.(*session.Message); ok && m.Role == session.RoleAgent {
		b.stream = t.newStream()
	}
	return b
}

// compact tells whether an entry stands close to its neighbours.
func compact(e session.Entry) bool {
	switch e := e.(type) {
	case *session.ToolCall, *session.Unknown:
		return true
	case *session.Message:
		return e.Role == session.RoleThought
	}
	return false
}

// Take returns the next edits, about budget bytes of text and highlights.
// Call it again while [Transcript.Dirty].
func (t *Transcript) Take(budget int) []Edit {
	var edits []Edit
	for len(t.dirty) > 0 && budget > 0 {
		i := t.dirty[0]
		b, row := t.blocks[i], t.rowOf(t.dirty[0])
		var e *Edit
		var done bool
		if b.stream != nil {
			e, done = t.takeStream(b, row, budget)
		} else {
			e, done = t.takeStatic(b, i, row, budget)
		}
		if e != nil {
			t.seq++
			e.Seq, e.Count = t.seq, t.count
			t.remember(e)
			t.count = e.Count + e.added()
			budget -= e.cost()
			if n := len(edits); n == 0 || !edits[n-1].join(e) {
				edits = append(edits, *e)
				budget -= editCost
			}
		}
		if !done {
			break // what is left of the budget is not worth the edit
		}
		t.dirty = t.dirty[1:]
	}
	return edits
}

// move is how an edit moved the rows from row on.
type move struct{ row, end, by int }

// remembered is how many edits are known that Neovim may not have made yet when
// it says something of a row.
const remembered = 500

func (t *Transcript) remember(e *Edit) {
	if len(t.moves) >= 2*remembered {
		t.moves = append(t.moves[:0], t.moves[len(t.moves)-remembered:]...)
	}
	t.moves = append(t.moves, move{e.Row, e.EndRow, e.added()})
}

// Follow gives the row that a row has become since the edit seq, the last one
// that the user has seen.
func (t *Transcript) Follow(row, seq int) int {
	since := t.seq - seq
	if seq <= 0 || since < 0 || since > len(t.moves) {
		return row
	}
	for _, m := range t.moves[len(t.moves)-since:] {
		switch {
		case row >= m.end:
			row += m.by
		case row >= m.row:
			row = min(row, max(m.row, m.end+m.by-1))
		}
	}
	return row
}

// rowOf is the row where a block begins. Blocks near the end, where nearly
// all changes are, are found from the end.
func (t *Transcript) rowOf(i int) int {
	row := t.count
	for j := len(t.blocks) - 1; j >= i; j-- {
		row -= t.blocks[j].rows
	}
	return row
}

// added is by how many lines the edit lengthens the buffer.
func (e *Edit) added() int {
	if e.Append {
		return len(e.Lines) - 1
	}
	return len(e.Lines) - (e.EndRow - e.Row)
}

// join takes in the edit that comes next, where it changes the lines right
// below: many small edits cost Neovim more than one.
func (e *Edit) join(next *Edit) bool {
	if e.Append || next.Append || next.Row != e.Row+len(e.Lines) || next.MarkRow != e.MarkEnd || e.MarkEnd != next.Row {
		return false
	}
	e.EndRow += next.EndRow - next.Row
	e.Lines = append(e.Lines, next.Lines...)
	e.MarkEnd = next.MarkEnd
	e.Marks = append(e.Marks, next.Marks...)
	e.Decor = append(e.Decor, next.Decor...)
	e.Code = append(e.Code, next.Code...)
	e.Images = append(e.Images, next.Images...)
	e.Seq = next.Seq
	return true
}

// editCost is about what an edit costs Neovim, however little it changes, in
// bytes of plain text.
const editCost = 1 << 10

// cost is what the line adds to that of an edit.
func (l Line) cost() int {
	n := 16 + len(l.Text) + 8*len(l.Marks)
	if l.Right != "" || l.Sign != "" {
		n += 64
	}
	return n
}

// cost is about what the text and the highlights of an edit cost Neovim, in
// bytes of plain text.
func (e *Edit) cost() int {
	n := 2*len(e.Marks) + 64*len(e.Decor)
	for _, l := range e.Lines {
		n += 16 + len(l)
	}
	return n
}

// takeStatic sends the lines of a block that differ from what the buffer has.
func (t *Transcript) takeStatic(b *block, i, row, budget int) (*Edit, bool) {
	lines := b.next
	if lines == nil {
		lines = t.render(b, i)
		if b.gap && lines != nil {
			lines = append([]Line{{}}, lines...)
		}
	}
	old := b.static
	from := 0
	for from < len(old) && from < len(lines) && old[from].equal(lines[from]) {
		from++
	}
	if from == len(old) && from == len(lines) {
		b.static = lines
		return nil, true
	}
	end, oldEnd := len(lines), len(old)
	for end > from && oldEnd > from && lines[end-1].equal(old[oldEnd-1]) {
		end, oldEnd = end-1, oldEnd-1
	}
	done := true
	for i, cost := from, 0; i < end; i++ {
		if cost += lines[i].cost(); cost > budget && i > from {
			end, done = i, false // the rest of it another time
			break
		}
	}
	e := &Edit{Row: row + from, EndRow: row + oldEnd, MarkRow: row + from, MarkEnd: row + end}
	for i, l := range lines[from:end] {
		at := row + from + i
		e.Lines = append(e.Lines, l.Text)
		for _, m := range l.Marks {
			e.Marks = append(e.Marks, at, m.Col, m.EndCol, int(m.Group))
		}
		if l.Right != "" || l.Sign != "" {
			e.Decor = append(e.Decor, Decor{at, l.Right, l.RightGroup, l.Sign, l.SignGroup})
		}
		if l.Image != "" {
			e.Images = append(e.Images, Image{at, l.Image})
		}
	}
	b.static, b.next = lines, nil
	if b.fresh == 0 || from < b.fresh-1 {
		b.fresh = from + 1
	}
	if !done {
		b.static, b.next = slices.Concat(lines[:end:end], old[oldEnd:]), lines
		b.rows = len(b.static)
		return e, false
	}
	b.rows = len(b.static)
	e.Code = append(codeOf(lines, row, b.fresh-1, end), sources(lines, row, b.fresh-1, end)...)
	b.fresh = 0
	return e, true
}

// codeOf is the code that lines [from, end) of a block at row belong to.
func codeOf(lines []Line, row, from, end int) []Code {
	var code []Code
	for i := 0; i < len(lines); {
		l, first := lines[i], i
		for ; i < len(lines) && lines[i].Lang == l.Lang && lines[i].Indent == l.Indent; i++ {
		}
		if l.Lang != "" && i > from && first < end {
			code = append(code, Code{Row: row + first, EndRow: row + i, Lang: l.Lang, Col: l.Indent})
		}
	}
	return code
}
