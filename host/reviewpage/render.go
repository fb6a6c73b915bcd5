package reviewpage

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

const (
	context    = 3      // lines around a change
	widestName = 48     // cells; longer ones are not aligned
	coloured   = 500    // lines of a file that get the colours of their language
	compared   = 20_000 // lines; where more change, the words are not searched
	around     = 40     // more lines before and after what is shown, for a parser,
	aroundAll  = 800    // that many in all
	// LongDiff is how many lines a file has that is closed until the user opens it.
	LongDiff = 400
)

// Entry is a file as the page shows it. ID is negative for one that the agent has not changed, but that the
// user has something to say of.
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

// Header is what stands above the files.
type Header struct {
	Title   string // the session's
	Send    string // the key that sends, or ""
	Refused int    // hunks that the agent was not told of yet
}

// size is how many lines a change of a file puts in and takes out.
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

// Summary is what the head of a file and the page's say of it, which takes long to find where it is large.
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

// Heads renders the page's head, and the line that stands for each file. The names of files stand below each other, and
// what follows them too.
func Heads(h Header, entries []Entry, sums []Summary) (top []Row, heads []Row) {
	var pending, kept, refused, files, remarks int
	name, counts := 0, 0
	for i, e := range entries {
		pending, kept, refused = pending+sums[i].pending, kept+sums[i].kept, refused+sums[i].refused
		remarks += len(e.Remarks)
		if e.ID >= 0 {
			files++
		}
		if n := cells(e.Name); n <= widestName {
			name = max(name, n)
		}
		counts = max(counts, cells(countsOf(sums[i])))
	}
	for i, e := range entries {
		heads = append(heads, head(e, sums[i], name, counts))
	}
	var title builder
	title.add(" Review", transcript.ReviewTitle)
	if h.Title != "" {
		title.add(" · "+transcript.OneLine(h.Title), transcript.ReviewTitle)
	}
	said := []string{transcript.Many(files, "file"), transcript.Many(pending+kept+refused, "hunk")}
	if kept > 0 {
		said = append(said, fmt.Sprintf("%d kept", kept))
	}
	if refused > 0 {
		said = append(said, fmt.Sprintf("%d refused", refused))
	}
	if len(entries) == 0 {
		said = []string{"the agent has changed no file in this session"}
	}
	title.add("    "+strings.Join(said, "  "), transcript.More)
	top = append(top, title.row(Row{Kind: Title}))
	var send []string
	if remarks > 0 {
		send = append(send, transcript.Many(remarks, "comment"))
	}
	if h.Refused > 0 {
		send = append(send, transcript.Many(h.Refused, "refused hunk"))
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
		var b builder
		b.add(" "+strings.Join(send, ", ")+": "+how, transcript.ReviewComment)
		top = append(top, b.row(Row{Kind: Plain}))
	}
	return top, heads
}

// head is the line of a file.
func head(e Entry, s Summary, name, counts int) Row {
	var b builder
	sign := " ▸ "
	if e.Open {
		sign = " ▾ "
	}
	b.add(sign, transcript.More)
	b.add(unbroken(e.Name), transcript.ReviewFile)
	b.pad(name - cells(e.Name))
	if s.added > 0 {
		b.add(fmt.Sprintf("  +%d", s.added), transcript.DiffAdded)
	}
	if s.removed > 0 {
		b.add("  "[min(1, s.added):]+fmt.Sprintf("−%d", s.removed), transcript.DiffRemoved)
	}
	b.pad(counts - cells(countsOf(s)))
	b.add("  ", plain)
	if e.ID >= 0 {
		b.add(stateOf(e.File, s))
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
		notes = append(notes, "moved from "+unbroken(e.OldName))
	}
	if e.NewName != "" {
		notes = append(notes, "was moved to "+unbroken(e.NewName))
	}
	notes = append(notes, review.Styles(f.Baseline, f.Present)...)
	if opaque(f) {
		notes = append(notes, "binary or large")
	}
	if n := len(e.Remarks); n > 0 && (!e.Open || e.ID < 0) {
		notes = append(notes, transcript.Many(n, "comment"))
	}
	for _, n := range notes {
		b.sep()
		b.add(n, transcript.More)
	}
	if e.Conflicts > 0 {
		b.sep()
		b.add(transcript.Many(e.Conflicts, "conflict"), transcript.Warning)
	}
	for _, who := range e.Also {
		b.sep()
		b.add("also changed by "+unbroken(who), transcript.Warning)
	}
	return b.row(Row{Kind: Head, File: e.ID, Line: 1})
}

func opaque(f review.File) bool { return f.Present.Opaque || f.Baseline.Opaque || f.Accepted.Opaque }

func countsOf(s Summary) string {
	var b strings.Builder
	if s.added > 0 {
		fmt.Fprintf(&b, "  +%d", s.added)
	}
	if s.removed > 0 {
		fmt.Fprintf(&b, "%s−%d", "  "[min(1, s.added):], s.removed)
	}
	return b.String()
}

// stateOf says what the user has decided of a file.
func stateOf(f review.File, s Summary) (string, transcript.Group) {
	switch {
	case f.State == review.Pending && len(f.Hunks) > 0 && s.pending > 0:
		return fmt.Sprintf("● %d of %d", s.pending, len(f.Hunks)), transcript.ToolWaiting
	case f.State == review.Pending:
		return "● pending", transcript.ToolWaiting
	case s.kept > 0 && s.refused > 0:
		return fmt.Sprintf("✓ %d kept, %d refused", s.kept, s.refused), transcript.ToolDone
	case f.State == review.Kept:
		return "✓ kept", transcript.ToolDone
	}
	return "✗ refused", transcript.ToolFailed
}

// Body is what has changed in a file; nil where it is closed.
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
	case opaque(e.File):
		body.note("Not compared, as it is no text or too large. It can be kept or refused as a whole.")
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

// body is the rows of a file in the making.
type body struct {
	entry Entry
	width int // of line numbers
	rows  []Row
	cols  []int // where the file's text begins in each row; 0 where there is none
	sides []byte
	// unseen is text of the file before rows that is not shown.
	unseen []page.Around
	room   int // how much more of it there may be
	left   []review.Remark
}

// file renders the changes of a file with what is around them.
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
	type place struct{ from, to, change int } // of a remark the change is -1
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
	if len(changes) == 0 && f.Status != review.Moved && len(review.Styles(f.Baseline, f.Present)) == 0 {
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
			b.add(Row{Kind: Plain}, piece{" ⋯", transcript.DiffHunk})
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

// line renders a line of the file: what is thought of it, its number, its side, and its text.
func (b *body) line(state review.State, side byte, change, at, number, place int, l diff.Line) {
	glyph, glyphGroup := " ", plain
	group, wordGroup, sign := plain, plain, plain
	switch {
	case state == review.Pending:
		glyph, glyphGroup = "●", transcript.ToolWaiting
		group, wordGroup, sign = transcript.DiffAdd, transcript.DiffAddText, transcript.DiffAdded
		if side == '-' {
			group, wordGroup, sign = transcript.DiffDelete, transcript.DiffDeleteText, transcript.DiffRemoved
		}
	case state == review.Kept:
		glyph, glyphGroup = "✓", transcript.ToolDone
		group, sign = transcript.ReviewKept, transcript.ReviewKept
	case state == review.Rejected:
		glyph, glyphGroup = "✗", transcript.ToolFailed
		if side == '+' {
			group, sign = transcript.ReviewKept, transcript.ReviewKept
		}
	}
	shownNumber := strings.Repeat(" ", b.width)
	if number > 0 {
		shownNumber = fmt.Sprintf("%*d", b.width, number)
	}
	text := strings.TrimSuffix(l.Text, "\r")
	from, to := transcript.ShownPart(text, l.Words)
	var row builder
	row.add(glyph, glyphGroup)
	row.add(" "+shownNumber+" ", transcript.DiffLine)
	signAt := len(row.text)
	row.add(string(side)+" ", plain)
	col := len(row.text)
	start := col - from // of the whole text
	ofSide := side
	if from > 0 {
		row.add("…", transcript.More)
		start += len("…")
		ofSide = '.'
	}
	row.add(text[from:to], plain)
	if group != plain {
		row.mark(signAt, len(row.text), group)
		row.mark(signAt, signAt+1, sign)
	}
	if state == review.Rejected && side == '+' {
		row.mark(start+from, start+to, transcript.ReviewStruck)
	}
	for _, w := range l.Words {
		if w.Start < to && wordGroup != plain {
			row.mark(start+w.Start, start+min(w.End, to), wordGroup)
		}
	}
	if to < len(text) {
		row.add("…", transcript.More)
	}
	if state == review.Kept || state == review.Rejected && side == '+' {
		ofSide = '.'
	}
	b.rows = append(b.rows, row.row(Row{Kind: Text, State: state, Change: change, Side: side, At: at, Line: place, Source: l.Text}))
	b.cols, b.sides = append(b.cols, col), append(b.sides, ofSide)
	if l.NoNewline {
		b.add(Row{Kind: Plain, Line: place}, piece{strings.Repeat(" ", b.width+3) + `\ no newline at the end`, transcript.More})
	}
	present := state == "" || side == ' ' || side == '+' && state != review.Rejected
	b.remarks(func(r review.Remark) bool {
		if r.Beside != "" {
			return !present && r.Last == place && r.Beside == l.Text
		}
		return present && r.Last <= place
	})
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
		b.add(Row{Kind: Comment, Comment: r.ID, Line: r.Last}, piece{indent + lead + text, transcript.ReviewComment})
	}
}

// quotes renders the remarks of a file whose text is not at hand.
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

// skip takes note of lines of the present text that are not shown.
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
	b.add(Row{Kind: Plain}, piece{"   " + text, transcript.More})
}

func (b *body) add(r Row, p piece) {
	var row builder
	row.add(unbroken(p.text), p.group)
	b.rows = append(b.rows, row.row(r))
	b.cols, b.sides = append(b.cols, 0), append(b.sides, '.')
}

// code is what gets the colours of its language.
func (b *body) code() page.Code {
	n := min(len(b.rows), coloured)
	if !slices.ContainsFunc(b.sides[:n], func(s byte) bool { return s != '.' }) {
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

const plain transcript.Group = -1

type piece struct {
	text  string
	group transcript.Group
}

// builder makes a row of pieces.
type builder struct {
	text  string
	marks []transcript.Mark
}

func (b *builder) add(text string, group transcript.Group) {
	from := len(b.text)
	b.text += text
	if group != plain && text != "" {
		b.mark(from, len(b.text), group)
	}
}

func (b *builder) mark(from, to int, group transcript.Group) {
	b.marks = append(b.marks, transcript.Mark{Col: from, EndCol: to, Group: group})
}

func (b *builder) pad(n int) { b.text += strings.Repeat(" ", max(0, n)) }

// sep parts what is said of a file.
func (b *builder) sep() {
	if strings.HasSuffix(b.text, "  ") {
		return
	}
	b.add(" · ", transcript.More)
}

func (b *builder) row(r Row) Row {
	r.Text, r.Marks = b.text, b.marks
	return r
}

func cells(s string) int { return ansi.StringWidthWc(s) }

// unbroken has a text be one line, with all its spaces.
func unbroken(s string) string { return strings.ReplaceAll(s, "\n", " ") }
