package terminal

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/parser"
)

// DefaultLimit is how much text a Screen keeps, in bytes, when nobody asked for more or less, and
// maxLimit what it keeps at most.
const (
	DefaultLimit = 4 << 20
	maxLimit     = 16 << 20
)

// Screen is a terminal without a device: fed with the bytes a program wrote, it resolves escape
// sequences, carriage returns, backspaces and cursor movement into text for a model and styled lines
// for a display. The result does not depend on how the bytes are cut into writes.
//
// Line feeds only move down, as in a terminal behind a PTY; for bytes that came through a pipe, first Write "\x1b[20h"
// (ECMA-48 LNM). Queries are not answered.
//
// A Screen is for one goroutine at a time.
type Screen struct {
	cols, rows int
	limit      int // bytes of text

	main, alternate *grid
	page            *grid // main or alternate
	history         history

	cursor
	top, bottom int    // scroll region, rows, both inside
	stops       []bool // tab stops
	insertMode  bool
	newlineMode bool // a line feed returns the carriage too
	noWrap      bool
	last        rune // the last printed character, for REP

	parser  *ansi.Parser
	partial []byte // the beginning of a UTF-8 sequence whose rest was not written yet
}

// cursor is the state that DECSC saves.
type cursor struct {
	x, y        int
	pendingWrap bool // the last column is filled; the next character begins the next row
	style       Style
	origin      bool // rows count from the top of the scroll region
	graphics    [2]bool
	shifted     bool // G1 is in use, else G0
}

// NewScreen returns an empty screen. limit bounds Text in bytes; 0 means DefaultLimit, and at most 16 MiB are ever
// kept.
func NewScreen(cols, rows, limit int) *Screen {
	if limit <= 0 {
		limit = DefaultLimit
	}
	s := &Screen{
		cols:      max(cols, 2),
		rows:      max(rows, 2),
		limit:     min(limit, maxLimit),
		main:      newGrid(max(rows, 2)),
		alternate: newGrid(max(rows, 2)),
		parser:    ansi.NewParser(),
	}
	s.history.limit = s.limit
	s.parser.SetParamsSize(parser.MaxParamsSize)
	s.parser.SetDataSize(1) // the contents of OSC, DCS and the like are never used
	s.parser.SetHandler(ansi.Handler{Execute: s.control, HandleCsi: s.csi, HandleEsc: s.escape})
	s.reset()
	return s
}

func (s *Screen) reset() {
	s.main.reset()
	s.alternate.reset()
	s.page = s.main
	s.cursor = cursor{}
	s.top, s.bottom = 0, s.rows-1
	s.insertMode, s.newlineMode, s.noWrap = false, false, false
	s.last = 0
	s.stops = make([]bool, s.cols)
	for i := 8; i < s.cols; i += 8 {
		s.stops[i] = true
	}
}

// Write feeds the program's output. It never fails.
func (s *Screen) Write(p []byte) (int, error) {
	for i := 0; i < len(p); {
		b := p[i]
		switch {
		case s.parser.State() != parser.GroundState && b < utf8.RuneSelf:
			s.parser.Advance(b)
			i++
		case s.parser.State() != parser.GroundState && s.inString():
			i++ // 0x80-0x9f are parts of characters here, never controls
		case s.parser.State() != parser.GroundState:
			s.parser.Reset()
		case len(s.partial) > 0 || b >= utf8.RuneSelf:
			i += s.decode(p[i:])
		case b >= 0x20 && b != 0x7f:
			end := i + 1
			for end < len(p) && p[end] >= 0x20 && p[end] < 0x7f {
				end++
			}
			s.printASCII(p[i:end])
			i = end
		case b == 0x1b:
			s.parser.Advance(b)
			i++
		default:
			s.control(b)
			i++
		}
	}
	return len(p), nil
}

// inString reports whether the parser is inside a control string: OSC, DCS, SOS, PM or APC.
func (s *Screen) inString() bool {
	switch s.parser.State() {
	case parser.DcsStringState, parser.OscStringState, parser.SosStringState, parser.PmStringState, parser.ApcStringState:
		return true
	}
	return false
}

// decode prints one character from partial and p and returns how many bytes of p it took.
func (s *Screen) decode(p []byte) int {
	if len(s.partial) == 0 && utf8.FullRune(p) {
		r, size := utf8.DecodeRune(p)
		s.print(r)
		return size
	}
	had := len(s.partial)
	s.partial = append(s.partial, p[0])
	if !utf8.FullRune(s.partial) {
		return 1
	}
	r, size := utf8.DecodeRune(s.partial)
	s.print(r)
	if size > had {
		s.partial = s.partial[:0]
		return 1
	}
	s.partial = append(s.partial[:0], s.partial[size:had]...)
	return 0 // p[0] does not continue what was begun
}

// printASCII prints a run of printable ASCII.
func (s *Screen) printASCII(run []byte) {
	if s.insertMode || s.graphics[s.charset()] {
		for _, b := range run {
			s.print(rune(b))
		}
		return
	}
	s.last = rune(run[len(run)-1])
	for len(run) > 0 {
		if s.pendingWrap {
			s.wrap()
		}
		n := min(len(run), s.cols-s.x)
		cells := s.open(s.line(), n)
		plain := cell{width: 1, style: s.style}
		for i, b := range run[:n] {
			plain.char = rune(b)
			cells[i] = plain
		}
		s.advance(n)
		run = run[n:]
	}
}

// print prints one character at the cursor.
func (s *Screen) print(r rune) {
	if s.graphics[s.charset()] {
		r = lineDrawing(r)
	}
	if r >= 0x80 && r < 0xa0 {
		return
	}
	width := runeWidth(r)
	if width == 0 {
		s.combine(r)
		return
	}
	s.last = r
	if s.pendingWrap || s.x+width > s.cols && !s.noWrap {
		s.wrap()
	}
	s.x = min(s.x, s.cols-width)
	line := s.line()
	if s.insertMode {
		line.insert(s.x, width, s.cols, s.style)
	}
	cells := s.open(line, width)
	cells[0] = cell{char: r, width: uint16(width), style: s.style}
	for i := 1; i < width; i++ {
		cells[i] = cell{style: s.style}
	}
	s.advance(width)
}

// open returns the n cells of r at the cursor, to be overwritten.
func (s *Screen) open(r *row, n int) []cell {
	end := s.x + n
	if s.x < len(r.cells) {
		r.split(s.x)
		r.split(end)
	} else {
		r.pad(s.x)
	}
	if end > len(r.cells) {
		if end > cap(r.cells) {
			r.cells = append(r.cells, make([]cell, end-len(r.cells))...)
		}
		r.cells = r.cells[:end]
	}
	if end == s.cols {
		r.wrapped = false
	}
	return r.cells[s.x:end]
}

// combine adds a character of no width to the one before the cursor.
func (s *Screen) combine(r rune) {
	line, col := s.line(), s.x
	if !s.pendingWrap {
		col--
	}
	if col < 0 || col >= len(line.cells) {
		return
	}
	for line.cells[col].width == 0 {
		col--
	}
	if c := &line.cells[col]; len(c.marks) < maxMarks && c.char != '\t' {
		c.marks += string(r)
	}
}

func (s *Screen) line() *row { return s.page.rows[s.y] }

func (s *Screen) charset() int {
	if s.shifted {
		return 1
	}
	return 0
}

func (s *Screen) advance(n int) {
	s.x += n
	if s.x >= s.cols {
		s.x = s.cols - 1
		s.pendingWrap = !s.noWrap
	}
}

func (s *Screen) wrap() {
	s.line().wrapped = true
	s.x = 0
	s.lineFeed()
}

// control executes a C0 control.
func (s *Screen) control(b byte) {
	switch b {
	case '\b':
		s.moveTo(s.x-1, s.y)
	case '\t':
		s.tab()
	case '\n', '\v', '\f':
		s.lineFeed()
		if s.newlineMode {
			s.x = 0
		}
	case '\r':
		s.moveTo(0, s.y)
	case 0x0e:
		s.shifted = true
	case 0x0f:
		s.shifted = false
	}
}

func (s *Screen) lineFeed() {
	s.pendingWrap = false
	if s.y == s.bottom {
		s.scrollUp(s.top, s.bottom, 1)
	} else if s.y < s.rows-1 {
		s.y++
	}
}

func (s *Screen) reverseLineFeed() {
	s.pendingWrap = false
	if s.y == s.top {
		s.scrollDown(s.top, s.bottom, 1)
	} else if s.y > 0 {
		s.y--
	}
}

// tab moves to the next tab stop. Over empty columns the tab itself is kept as a character.
func (s *Screen) tab() {
	if s.pendingWrap {
		return
	}
	next := s.x
	for next < s.cols-1 {
		next++
		if s.stops[next] {
			break
		}
	}
	if line := s.line(); next > s.x && len(line.cells) <= s.x {
		cells := s.open(line, next-s.x)
		for i := range cells {
			cells[i] = cell{char: '\t'}
		}
		cells[0].width = uint16(len(cells))
	}
	s.x = next
}

func (s *Screen) moveTo(x, y int) {
	s.pendingWrap = false
	s.x = min(max(x, 0), s.cols-1)
	s.y = min(max(y, 0), s.rows-1)
}

// scrollUp moves rows top to bottom up by n. What leaves the main page at the top becomes history.
func (s *Screen) scrollUp(top, bottom, n int) {
	rows := s.page.rows
	for range min(n, bottom-top+1) {
		r := rows[top]
		copy(rows[top:bottom], rows[top+1:bottom+1])
		if s.page == s.main && top == 0 {
			r = s.history.push(r)
		}
		rows[bottom] = s.emptied(r)
	}
}

func (s *Screen) scrollDown(top, bottom, n int) {
	rows := s.page.rows
	for range min(n, bottom-top+1) {
		r := rows[bottom]
		copy(rows[top+1:bottom+1], rows[top:bottom])
		rows[top] = s.emptied(r)
	}
}

// emptied returns r as an empty row in the current background.
func (s *Screen) emptied(r *row) *row {
	r.reset()
	if s.style.BG != 0 {
		r.erase(0, s.cols, s.cols, s.style)
	}
	return r
}

// eraseColumns empties columns [from, to) of row y.
func (s *Screen) eraseColumns(y, from, to int) {
	if from == 0 && to >= s.cols && y > 0 {
		s.page.rows[y-1].wrapped = false
	}
	s.page.rows[y].erase(from, to, s.cols, s.style)
}

// switchPage shows the alternate page, emptied, or the main one again, as it was left.
func (s *Screen) switchPage(alternate bool) {
	if alternate == (s.page == s.alternate) {
		return
	}
	if s.page = s.main; alternate {
		s.page = s.alternate
		s.alternate.reset()
	}
	s.top, s.bottom = 0, s.rows-1
	s.pendingWrap = false
}

// Text returns the text so far for a model: soft-wrapped lines joined, blanks at the end of lines and empty lines at
// the end removed, and of that the last bytes within the limit, beginning with a whole character; truncated reports
// whether something is missing before them. While a program shows the alternate page, that page follows the main one.
func (s *Screen) Text() (text string, truncated bool) {
	b := bytes.Clone(s.history.text)
	open := len(b) > 0 && b[len(b)-1] != '\n'
	b = appendPage(b, s.main, open)
	if s.page == s.alternate {
		if b = trimEnd(b); len(b) > 0 && b[len(b)-1] != '\n' {
			b = append(b, '\n')
		}
		b = appendPage(b, s.alternate, false)
	}
	if s.y < s.page.ended(open && s.page == s.main) {
		b = bytes.TrimRight(b, "\n")
	}
	b = trimEnd(b)
	last := lastBytes(b, s.limit)
	return string(last), s.history.cut || len(last) < len(b)
}

// appendPage appends the rows of g that show something, each line with its end; open is as in ended.
func appendPage(b []byte, g *grid, open bool) []byte {
	for _, r := range g.rows[:g.ended(open)] {
		b = r.appendText(b)
		if !r.wrapped {
			b = append(trimBlanks(b), '\n')
		}
	}
	return b
}

// trimEnd removes blanks and empty lines at the end of b, but for one line end.
func trimEnd(b []byte) []byte {
	t := bytes.TrimRight(b, " \t\n")
	if len(t) > 0 && len(t) < len(b) && bytes.IndexByte(b[len(t):], '\n') >= 0 {
		t = b[:len(t)+1]
		t[len(t)-1] = '\n'
	}
	return t
}

// joinedCells is the length in cells up to which the rows of a line are joined again.
const joinedCells = 600

// Tail returns the last n lines of the display, or fewer if there are no more or they are no longer kept, and how many
// there have been in all. Rows that wrap into the next are one line, unless it is very long. While a program shows the
// alternate page, that page follows the main one.
func (s *Screen) Tail(n int) (lines []Line, total int) { return s.tail(n, joinedCells) }

// tail is Tail with lines of that many cells at most, but for those of a single row.
func (s *Screen) tail(n, cells int) (lines []Line, total int) {
	h := &s.history
	rows := s.main.rows[:s.main.used()]
	if s.page == s.alternate {
		rows = append(rows[:len(rows):len(rows)], s.alternate.rows[:s.alternate.used()]...)
	}
	kept := len(h.recent) + len(rows)
	at := func(i int) *row {
		if i < len(h.recent) {
			return h.at(i)
		}
		return rows[i-len(h.recent)]
	}
	total = h.dropped
	for i := range kept {
		if i == kept-1 || !at(i).wrapped {
			total++
		}
	}
	for end := kept; end > 0 && len(lines) < n; {
		whole := *at(end - 1)
		for end--; end > 0 && at(end-1).wrapped && len(at(end-1).cells)+len(whole.cells) <= cells; end-- {
			whole.cells = slices.Concat(at(end-1).cells, whole.cells)
		}
		lines = append(lines, whole.line())
	}
	slices.Reverse(lines)
	return lines, max(total, len(lines))
}

// runeWidth returns how many columns r takes: 0, 1 or 2.
func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	return ansi.StringWidthWc(string(r))
}
