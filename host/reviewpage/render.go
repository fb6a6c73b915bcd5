package reviewpage

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

const (
	context    = 3      // lines around a change
	widestName = 48     // cells; longer ones are not aligned
	compared   = 20_000 // lines; if more change, words are not compared
	around     = 40     // more lines before and after what is shown, for a parser,
	aroundAll  = 800    // that many in all
	// LongDiff is the number of changed lines from which a file is closed until the user opens it.
	LongDiff = 400
)

// Entry is a file on the page. ID is negative for one that the agent has not changed but the user has commented on.
type Entry struct {
	ID        int
	File      review.File
	Name      string // as shown
	OldName   string // before a move
	NewName   string // after a move that was refused
	Open      bool
	Also      []string        // who else is changing it
	Conflicts int             // in its buffer
	Remarks   []review.Remark // in the order of their lines
}

// Header is what is shown above the files.
type Header struct {
	Title   string // the session's
	Send    string // the key that sends, or ""
	Refused int    // hunks that the agent has not been told about yet
}

// size returns how many lines the changes of a file add and remove.
func size(changes []review.Change) (added, removed int) {
	refused := !slices.ContainsFunc(changes, func(c review.Change) bool { return c.State != review.Rejected })
	for _, c := range changes {
		if c.State != review.Rejected || refused {
			added += len(c.New)
			removed += len(c.Old)
		}
	}
	return added, removed
}

// Summary is what the head of a file and of the page say about it, which takes long to compute for a large file.
type Summary struct {
	added, removed         int
	pending, kept, refused int  // hunks
	Long                   bool // it is closed until the user opens it
}

// Summarize counts what has changed in a file.
func Summarize(f review.File) Summary {
	changes := f.Changes()
	s := Summary{}
	s.added, s.removed = size(changes)
	for _, c := range changes {
		s.Long = s.Long || len(c.Old)+len(c.New) > LongDiff
	}
	s.Long = s.Long || s.added+s.removed > LongDiff
	for _, h := range f.Hunks {
		switch h.State {
		case review.Pending:
			s.pending++
		case review.Kept:
			s.kept++
		default:
			s.refused++
		}
	}
	if len(f.Hunks) == 0 && f.Status != "" {
		// It is decided as a whole.
		switch f.State {
		case review.Pending:
			s.pending = 1
		case review.Kept:
			s.kept = 1
		default:
			s.refused = 1
		}
	}
	return s
}

// Heads renders the page's head, and the line of each file. The names of files are aligned, and so is what follows
// them.
func Heads(h Header, entries []Entry, sums []Summary) (top []Row, heads []Row) {
	var pending, kept, refused, files, remarks int
	name, counts := 0, 0
	for i, e := range entries {
		pending, kept, refused = pending+sums[i].pending, kept+sums[i].kept, refused+sums[i].refused
		remarks += len(e.Remarks)
		if e.ID >= 0 {
			files++
		}
		if n := styled.Cells(e.Name); n <= widestName {
			name = max(name, n)
		}
		counts = max(counts, styled.CellsOf(sums[i].counts()))
	}
	for i, e := range entries {
		heads = append(heads, head(e, sums[i], name, counts))
	}
	title := styled.Join(styled.Text(" Review", styled.ReviewTitle))
	if h.Title != "" {
		title.Add(styled.Text(" · "+styled.OneLine(h.Title), styled.ReviewTitle))
	}
	said := []string{styled.Many(files, "file"), styled.Many(pending+kept+refused, "hunk")}
	if kept > 0 {
		said = append(said, fmt.Sprintf("%d kept", kept))
	}
	if refused > 0 {
		said = append(said, fmt.Sprintf("%d refused", refused))
	}
	if len(entries) == 0 {
		said = []string{"the agent has changed no file in this session"}
	}
	title.Add(styled.Text("    "+strings.Join(said, "  "), styled.More))
	top = append(top, Row{Kind: Title}.of(title))
	var send []string
	if remarks > 0 {
		send = append(send, styled.Many(remarks, "comment"))
	}
	if h.Refused > 0 {
		send = append(send, styled.Many(h.Refused, "refused hunk"))
	}
	if len(send) > 0 {
		how, them := ":Acp review send", "them"
		if h.Send != "" {
			how = h.Send
		}
		if remarks+h.Refused == 1 {
			them = "it"
		}
		how += " sends " + them
		words := " " + strings.Join(send, ", ") + ": " + how
		top = append(top, Row{Kind: Plain}.of(styled.Join(styled.Text(words, styled.ReviewComment))))
	}
	return top, heads
}

// head is the line of a file.
func head(e Entry, s Summary, name, counts int) Row {
	sign := " ▸ "
	if e.Open {
		sign = " ▾ "
	}
	l := styled.Join(styled.Text(sign, styled.More), styled.Text(e.Name, styled.ReviewFile), pad(name-styled.Cells(e.Name)))
	for _, p := range s.counts() {
		l.Add(p)
	}
	l.Add(pad(counts - styled.CellsOf(s.counts()) + 2))
	if e.ID >= 0 {
		l.Add(stateOf(e.File, s))
	}
	f := e.File
	var notes []string
	switch {
	case e.ID < 0:
	case f.Status == review.Added:
		notes = append(notes, "new")
	case f.Status == review.Deleted:
		notes = append(notes, "deleted")
	}
	if e.OldName != "" {
		notes = append(notes, "moved from "+e.OldName)
	}
	if e.NewName != "" {
		notes = append(notes, "was moved to "+e.NewName)
	}
	notes = append(notes, review.Styles(f.Baseline, f.Present)...)
	if review.IsFolder(f.Path) {
		notes = append(notes, f.Present.Text)
	} else if opaque(f) {
		notes = append(notes, "binary or large")
	}
	if n := len(e.Remarks); n > 0 && (!e.Open || e.ID < 0) {
		notes = append(notes, styled.Many(n, "comment"))
	}
	for _, n := range notes {
		sep(&l)
		l.Add(styled.Text(n, styled.More))
	}
	if e.Conflicts > 0 {
		sep(&l)
		l.Add(styled.Text(styled.Many(e.Conflicts, "conflict"), styled.Warning))
	}
	for _, who := range e.Also {
		sep(&l)
		l.Add(styled.Text("also changed by "+who, styled.Warning))
	}
	return Row{Kind: Head, File: e.ID, Line: 1}.of(l)
}

func pad(cells int) styled.Piece {
	return styled.Text(strings.Repeat(" ", max(0, cells)), styled.Plain)
}

func opaque(f review.File) bool { return f.Present.Opaque || f.Baseline.Opaque || f.Accepted.Opaque }

func (s Summary) counts() []styled.Piece { return styled.Counts(s.added, s.removed) }

// stateOf shows what the user has decided about a file.
func stateOf(f review.File, s Summary) styled.Piece {
	switch {
	case f.State == review.Pending && len(f.Hunks) > 0 && s.pending > 0:
		return styled.Text(fmt.Sprintf("● %d of %d", s.pending, len(f.Hunks)), styled.ToolWaiting)
	case f.State == review.Pending:
		return styled.Text("● pending", styled.ToolWaiting)
	case s.kept > 0 && s.refused > 0:
		return styled.Text(fmt.Sprintf("✓ %d kept, %d refused", s.kept, s.refused), styled.ToolDone)
	case f.State == review.Kept:
		return styled.Text("✓ kept", styled.ToolDone)
	}
	return styled.Text("✗ refused", styled.ToolFailed)
}

// Body renders what has changed in a file; nil if it is closed.
func Body(e Entry) *Block {
	if !e.Open {
		return nil
	}
	return NewBlock(bodyOf(e.ID), func() Rendered { return renderBody(e) })
}

func renderBody(e Entry) Rendered {
	body := &body{entry: e, left: e.Remarks}
	switch {
	case e.ID < 0:
		body.quotes()
	case review.IsFolder(e.File.Path):
		if e.File.Baseline.Exists {
			body.note("Too many to list: they can be kept, but not refused, as no copies of them were made.")
		} else {
			body.note("Too many to list: they can be kept or refused as a whole.")
		}
		body.quotes()
	case opaque(e.File):
		body.note("Not compared: it is not text, or too large. It can be kept or refused as a whole.")
		body.quotes()
	default:
		body.file()
	}
	r := Rendered{Rows: append(body.rows, Row{})}
	for i := range r.Rows {
		r.Rows[i].File = e.ID
	}
	if code := body.code(); code.EndRow > 0 {
		r.Code = []page.Code{code}
	}
	return r
}

// body is the rows of a file being rendered.
type body struct {
	entry Entry
	width int // of line numbers
	rows  []Row
	cols  []int // where the file's text begins in each row; 0 if there is none
	sides []byte
	// unseen is text of the file before rows that is not shown.
	unseen []page.Around
	room   int // how much more of it may be added
	left   []review.Remark
}

// file renders the changes of a file with their context.
func (b *body) file() {
	f := b.entry.File
	changes := f.Changes()
	var present []string
	if f.Present.Exists {
		present = linediff.Lines(f.Present.Text)
	}
	highest, lines := len(present), 0
	for _, c := range changes {
		highest = max(highest, c.Part.A1)
		lines += len(c.Old) + len(c.New)
	}
	b.width = len(strconv.Itoa(max(highest, 1)))
	// What is shown: the places of changes and remarks in the present text, with lines around.
	type place struct{ from, to, change int } // for a remark the change is -1
	var places []place
	free := 0
	for i, c := range changes {
		n := len(c.New)
		if c.State == review.Rejected {
			n = len(c.Old)
		}
		from := min(max(c.Line-1, free), len(present))
		free = min(from+n, len(present))
		places = append(places, place{from, free, i})
	}
	for _, r := range b.left {
		from, to := max(min(r.First-1, len(present)), 0), max(min(r.Last, len(present)), 0)
		places = append(places, place{min(from, to), to, -1})
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.from, b.from) })
	var groups [][]place
	end := 0
	for _, p := range places {
		if len(groups) == 0 || p.from-end > 2*context {
			groups = append(groups, nil)
			end = 0
		}
		last := &groups[len(groups)-1]
		*last = append(*last, p)
		end = max(end, p.to)
	}
	switch {
	case len(changes) > 0 || f.Status == review.Moved || len(review.Styles(f.Baseline, f.Present)) > 0:
	case b.entry.Conflicts > 0:
		b.note("All of it conflicts with your unsaved text: <CR> shows it there.")
	default:
		b.note("An empty file.")
	}
	b.room = aroundAll
	at := 0
	words := lines <= compared
	for i, group := range groups {
		from, to := max(at, group[0].from-context), group[0].to
		for _, p := range group {
			to = max(to, p.to)
		}
		to = min(len(present), to+context)
		if i > 0 {
			b.add(Row{Kind: Plain}, styled.Text(" ⋯", styled.DiffHunk))
		}
		b.skip(present, at, from)
		at = from
		for _, p := range group {
			if p.change < 0 {
				continue
			}
			for ; at < p.from; at++ {
				b.same(present[at], at+1, -1)
			}
			b.change(f, changes[p.change], p.change, p.from, words)
			at = max(at, p.to)
		}
		for ; at < to; at++ {
			b.same(present[at], at+1, -1)
		}
	}
	b.skip(present, at, min(len(present), at+around))
	b.remarks(func(review.Remark) bool { return true })
}

// change renders a change at a place of the present text, counted from 0.
func (b *body) change(f review.File, c review.Change, index, at int, words bool) {
	var old, text []diff.Line
	for _, l := range c.Old {
		old = append(old, lineOf(l))
	}
	for _, l := range c.New {
		text = append(text, lineOf(l))
	}
	if words && c.State == review.Pending {
		diff.MarkWords(old, text)
	}
	if c.State == review.Rejected {
		for i := range old {
			b.line(c.State, ' ', index, i, at+i+1, at+i+1, old[i])
		}
		for i := range text {
			b.line(c.State, '+', index, i, 0, at+len(old), text[i])
		}
		return
	}
	first := c.Part.A0 + 1
	if c.State == review.Kept {
		first = f.Hunks[c.Hunk].OldStart
	}
	for i := range old {
		b.line(c.State, '-', index, i, first+i, at+1, old[i])
	}
	for i := range text {
		b.line(c.State, '+', index, i, at+i+1, at+i+1, text[i])
	}
}

func lineOf(s string) diff.Line {
	bare, newline := strings.CutSuffix(s, "\n")
	return diff.Line{Text: bare, NoNewline: !newline}
}

// same renders a line that the agent has not changed.
func (b *body) same(text string, number, change int) {
	l := lineOf(text)
	b.line("", ' ', change, 0, number, number, diff.Line{Text: l.Text})
}

// line renders a line of the file: its state, its number, its side, and its text.
func (b *body) line(state review.State, side byte, change, at, number, place int, l diff.Line) {
	glyph, look := lookOf(state, side)
	shownNumber := strings.Repeat(" ", b.width)
	if number > 0 {
		shownNumber = fmt.Sprintf("%*d", b.width, number)
	}
	lead := []styled.Piece{glyph, styled.Text(" "+shownNumber+" ", styled.DiffLine)}
	line := styled.FileText{Lead: lead, Side: side, Text: l.Text, Words: l.Words, Look: look}.Render()
	row := Row{Kind: Text, State: state, Change: change, Side: side, At: at, Line: place, Source: l.Text}.of(line)
	ofSide := line.Side
	if state == review.Kept || state == review.Rejected && side == styled.NewSide {
		ofSide = styled.NoSide
	}
	b.rows = append(b.rows, row)
	b.cols, b.sides = append(b.cols, line.Indent), append(b.sides, ofSide)
	if l.NoNewline {
		b.add(Row{Kind: Plain, Line: place}, styled.Text(strings.Repeat(" ", b.width+3)+`\ no newline at the end`, styled.More))
	}
	present := state == "" || side == ' ' || side == '+' && state != review.Rejected
	b.remarks(func(r review.Remark) bool {
		if r.Beside != "" {
			return !present && r.Last == place && r.Beside == l.Text
		}
		return present && r.Last <= place
	})
}

// lookOf returns the sign for the state of a line, and how the line is highlighted.
func lookOf(state review.State, side byte) (glyph styled.Piece, look styled.Look) {
	decided := styled.Look{Line: styled.ReviewKept, Sign: styled.ReviewKept, Text: styled.Plain, Words: styled.Plain}
	struck := decided
	struck.Text = styled.ReviewStruck
	switch {
	case state == review.Pending && side == styled.OldSide:
		return styled.Text("●", styled.ToolWaiting), styled.Removed
	case state == review.Pending:
		return styled.Text("●", styled.ToolWaiting), styled.Added
	case state == review.Kept:
		return styled.Text("✓", styled.ToolDone), decided
	case state == review.Rejected && side == styled.NewSide:
		return styled.Text("✗", styled.ToolFailed), struck
	case state == review.Rejected:
		return styled.Text("✗", styled.ToolFailed), styled.Same
	}
	return styled.Text(" ", styled.Plain), styled.Same
}

// remarks renders those that are due.
func (b *body) remarks(due func(review.Remark) bool) {
	if len(b.left) == 0 {
		return
	}
	var left []review.Remark
	for _, r := range b.left {
		if !due(r) {
			left = append(left, r)
			continue
		}
		b.remark(r)
	}
	b.left = left
}

func (b *body) remark(r review.Remark) {
	indent := strings.Repeat(" ", b.width+5)
	for i, text := range strings.Split(r.Text, "\n") {
		lead := "↳ you: "
		if i > 0 {
			lead = "       "
		}
		b.add(Row{Kind: Comment, Comment: r.ID, Line: r.Last}, styled.Text(indent+lead+text, styled.ReviewComment))
	}
}

// quotes renders the remarks of a file whose text is not available.
func (b *body) quotes() {
	for _, r := range b.left {
		b.width = max(b.width, len(strconv.Itoa(max(1, r.Last))))
	}
	all := b.left
	b.left = nil
	for _, r := range all {
		for i, q := range r.Quoted {
			b.line("", ' ', -1, 0, r.First+i, r.First+i, diff.Line{Text: q})
		}
		b.remark(r)
	}
}

// skip notes lines of the present text that are not shown.
func (b *body) skip(present []string, from, to int) {
	from = max(from, to-min(around, b.room))
	if from >= to {
		return
	}
	lines := make([]string, 0, to-from)
	for _, l := range present[from:to] {
		lines = append(lines, strings.TrimSuffix(l, "\n"))
	}
	b.room -= len(lines)
	b.unseen = append(b.unseen, page.Around{Line: len(b.rows), Lines: lines})
}

func (b *body) note(text string) {
	b.add(Row{Kind: Plain}, styled.Text("   "+text, styled.More))
}

func (b *body) add(r Row, p styled.Piece) {
	b.rows = append(b.rows, r.of(styled.Join(p)))
	b.cols, b.sides = append(b.cols, 0), append(b.sides, styled.NoSide)
}

// code returns what is highlighted in its language.
func (b *body) code() page.Code {
	n := min(len(b.rows), styled.Coloured)
	if !slices.ContainsFunc(b.sides[:n], func(s byte) bool { return s != styled.NoSide }) {
		return page.Code{}
	}
	c := page.Code{EndRow: n, File: b.entry.File.Path, Cols: b.cols[:n], Sides: string(b.sides[:n])}
	for _, a := range b.unseen {
		if a.Line < n || a.Line == n && n == len(b.rows) {
			c.Around = append(c.Around, a)
		}
	}
	return c
}

// sep separates the parts of a file's line.
func sep(l *styled.Line) {
	if !strings.HasSuffix(l.Text, "  ") {
		l.Add(styled.Text(" · ", styled.More))
	}
}

// of returns the row with the look of a line.
func (r Row) of(l styled.Line) Row {
	r.Text, r.Marks = l.Text, l.Marks
	return r
}
