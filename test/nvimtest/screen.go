package nvimtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// screen is Neovim's one grid as its redraw updates describe it (":help ui-linegrid").
type screen struct {
	cols, rows int
	cells      [][]cell
	highlights map[int]string // highlight id -> its groups or attributes
	row, col   int            // the cursor, from 0
	mode       string
	busy       bool // Neovim hides the cursor
}

// cell holds one character with what combines with it; the right half of a wide one is "".
type cell struct {
	text string
	hl   int // 0 is the default
}

// name is the name of a redraw update, an array of the name and one array of arguments per call.
func name(update any) string {
	u, _ := update.([]any)
	if len(u) == 0 {
		return ""
	}
	s, _ := u[0].(string)
	return s
}

// apply makes one redraw update.
func (s *screen) apply(update any) error {
	name := name(update)
	if name == "" {
		return fmt.Errorf("redraw update without a name: %v", update)
	}
	for _, call := range update.([]any)[1:] {
		args, _ := call.([]any)
		if !s.call(name, args) {
			return fmt.Errorf("redraw update %s: cannot be with %d x %d cells: %v", name, s.cols, s.rows, args)
		}
	}
	return nil
}

// call makes one call of an update and reports whether its arguments make sense. Updates of no interest here always do.
func (s *screen) call(name string, args []any) bool {
	switch name {
	case "grid_resize": // grid, width, height
		v, ok := ints(args, 3)
		if ok {
			s.resize(v[1], v[2])
		}
		return ok
	case "grid_clear":
		s.cells = nil
		s.resize(s.cols, s.rows)
	case "grid_line": // grid, row, col, cells, wrap
		v, ok := ints(args, 3)
		if !ok || len(args) < 4 {
			return false
		}
		cells, ok := args[3].([]any)
		return ok && s.line(v[1], v[2], cells)
	case "grid_scroll": // grid, top, bottom, left, right, rows, cols
		v, ok := ints(args, 7)
		return ok && s.scroll(v[1], v[2], v[3], v[4], v[5])
	case "grid_cursor_goto": // grid, row, col
		v, ok := ints(args, 3)
		if ok {
			s.row, s.col = v[1], v[2]
		}
		return ok
	case "hl_attr_define": // id, rgb attributes, terminal attributes, info
		v, ok := ints(args, 1)
		if !ok || len(args) < 4 {
			return false
		}
		s.highlights[v[0]] = describe(args[1], args[3])
	case "mode_change": // mode, index
		if len(args) == 0 {
			return false
		}
		s.mode, _ = args[0].(string)
	case "busy_start":
		s.busy = true
	case "busy_stop":
		s.busy = false
	}
	return true
}

// ints reads the first count arguments as whole numbers.
func ints(args []any, count int) ([]int, bool) {
	if len(args) < count {
		return nil, false
	}
	v := make([]int, count)
	for i := range v {
		n, ok := integer(args[i])
		if !ok {
			return nil, false
		}
		v[i] = n
	}
	return v, true
}

// integer reads a number as the client decodes it.
func integer(v any) (int, bool) {
	switch v := v.(type) {
	case int64:
		return int(v), true
	case uint64:
		return int(v), true
	}
	return 0, false
}

// resize keeps what fits and fills the rest with blanks.
func (s *screen) resize(cols, rows int) {
	old := s.cells
	s.cells = make([][]cell, rows)
	for r := range s.cells {
		s.cells[r] = slices.Repeat([]cell{{text: " "}}, cols)
		if r < len(old) {
			copy(s.cells[r], old[r])
		}
	}
	s.cols, s.rows = cols, rows
}

// line sets cells from a column on; each is [text, highlight?, repeat?], and one without a
// highlight has the previous one's.
func (s *screen) line(row, col int, cells []any) bool {
	if row < 0 || row >= s.rows || col < 0 {
		return false
	}
	hl := 0
	for _, c := range cells {
		c, _ := c.([]any)
		if len(c) == 0 {
			return false
		}
		text, ok := c[0].(string)
		if !ok {
			return false
		}
		if len(c) > 1 {
			hl, _ = integer(c[1])
		}
		repeat := 1
		if len(c) > 2 {
			repeat, _ = integer(c[2])
		}
		if col+repeat > s.cols {
			return false
		}
		for range repeat {
			s.cells[row][col] = cell{text, hl}
			col++
		}
	}
	return true
}

// scroll moves the cells of a region up by rows, or down where rows is negative. What becomes free
// is drawn by the updates that follow.
func (s *screen) scroll(top, bottom, left, right, rows int) bool {
	if top < 0 || bottom > s.rows || left < 0 || right > s.cols || top > bottom || left > right {
		return false
	}
	if rows > 0 {
		for r := top; r+rows < bottom; r++ {
			copy(s.cells[r][left:right], s.cells[r+rows][left:right])
		}
		return true
	}
	for r := bottom - 1; r+rows >= top; r-- {
		copy(s.cells[r][left:right], s.cells[r+rows][left:right])
	}
	return true
}

func (s *screen) text() string {
	var b strings.Builder
	for _, row := range s.cells {
		b.WriteString(rowText(row))
		b.WriteByte('\n')
	}
	return b.String()
}

func rowText(row []cell) string {
	var b strings.Builder
	for _, c := range row {
		b.WriteString(c.text)
	}
	return strings.TrimRight(b.String(), " ")
}

func (s *screen) attrs() string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	var b strings.Builder
	letter := map[string]byte{"": ' '}
	var legend []string
	for _, row := range s.cells {
		line := make([]byte, 0, len(row))
		for _, c := range row {
			hl := s.highlights[c.hl]
			l, ok := letter[hl]
			if !ok {
				l = letters[len(legend)%len(letters)]
				letter[hl] = l
				legend = append(legend, fmt.Sprintf("%c = %s", l, hl))
			}
			line = append(line, l)
		}
		b.WriteString(strings.TrimRight("| "+rowText(row), " ") + "\n")
		if hl := strings.TrimRight(string(line), " "); hl != "" {
			b.WriteString(": " + hl + "\n")
		}
	}
	for _, l := range legend {
		b.WriteString(l + "\n")
	}
	fmt.Fprintf(&b, "cursor %d,%d %s\n", s.row+1, s.col+1, s.mode)
	return b.String()
}

// describe names a highlight by the groups it is combined of, or by its attributes where Neovim
// tells no group (":help ui-hlstate").
func describe(attrs, info any) string {
	var groups []string
	items, _ := info.([]any)
	for _, item := range items {
		m, _ := item.(map[string]any)
		group, _ := m["hi_name"].(string)
		if group == "" {
			group, _ = m["ui_name"].(string)
		}
		switch {
		case group == "" || group == "Normal" || group == "MsgArea": // as good as none
		case len(groups) > 0 && groups[len(groups)-1] == group: // told twice
		default:
			groups = append(groups, group)
		}
	}
	if len(items) > 0 {
		return strings.Join(groups, "+")
	}
	m, _ := attrs.(map[string]any)
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if color, ok := integer(m[key]); ok {
			parts = append(parts, fmt.Sprintf("%s=#%06x", key, color))
		} else {
			parts = append(parts, key)
		}
	}
	return strings.Join(parts, " ")
}
