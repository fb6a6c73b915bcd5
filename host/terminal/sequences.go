package terminal

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// maxParam bounds the numbers in sequences; no row, column or repetition is larger.
const maxParam = 9999

// escape handles the sequences of ESC and one more byte.
func (s *Screen) escape(cmd ansi.Cmd) {
	switch cmd.Intermediate() {
	case '(', ')':
		s.graphics[cmd.Intermediate()-'('] = cmd.Final() == '0'
		return
	case 0:
	default:
		return
	}
	switch cmd.Final() {
	case '7':
		s.page.saved = s.cursor
	case '8':
		s.cursor = s.page.saved
	case 'D':
		s.lineFeed()
	case 'E':
		s.lineFeed()
		s.x = 0
	case 'H':
		s.stops[s.x] = true
	case 'M':
		s.reverseLineFeed()
	case 'c':
		s.reset()
		s.history.clear()
	}
}

// csi handles the control sequences that move, erase, scroll or style.
func (s *Screen) csi(cmd ansi.Cmd, params ansi.Params) {
	// count is a parameter that is 1 when it is absent or 0; value is one that may be 0.
	value := func(i int) int {
		v, _, _ := params.Param(i, 0)
		if v < 0 || v > maxParam {
			return maxParam
		}
		return v
	}
	count := func(i int) int { return max(value(i), 1) }

	switch cmd {
	case ansi.Cmd(ansi.Command('?', 0, 'h')), ansi.Cmd(ansi.Command('?', 0, 'l')):
		for i := range params {
			s.privateMode(value(i), cmd.Final() == 'h')
		}
		return
	case ansi.Cmd(ansi.Command('?', 0, 'J')), ansi.Cmd(ansi.Command('?', 0, 'K')): // as without protection
	case ansi.Cmd(ansi.Command(0, '!', 'p')): // DECSTR
		s.cursor = cursor{x: s.x, y: s.y}
		s.top, s.bottom = 0, s.rows-1
		s.insertMode, s.noWrap = false, false
		return
	default:
		if cmd.Prefix() != 0 || cmd.Intermediate() != 0 {
			return
		}
	}

	if s.moveCursor(cmd.Final(), count) {
		return
	}
	switch cmd.Final() {
	case '@':
		s.pendingWrap = false
		s.line().insert(s.x, count(0), s.cols, s.style)
	case 'J':
		s.eraseDisplay(value(0))
	case 'K':
		s.eraseLine(value(0))
	case 'L':
		if s.y >= s.top && s.y <= s.bottom {
			s.scrollDown(s.y, s.bottom, count(0))
			s.moveTo(0, s.y)
		}
	case 'M':
		if s.y >= s.top && s.y <= s.bottom {
			s.deleteLines(count(0))
			s.moveTo(0, s.y)
		}
	case 'P':
		s.pendingWrap = false
		s.line().remove(s.x, count(0))
	case 'S':
		s.scrollUp(s.top, s.bottom, count(0))
	case 'T':
		s.scrollDown(s.top, s.bottom, count(0))
	case 'X':
		s.pendingWrap = false
		s.eraseColumns(s.y, s.x, min(s.x+count(0), s.cols))
	case 'b':
		if s.last != 0 {
			for range min(count(0), s.cols*s.rows) {
				s.print(s.last)
			}
		}
	case 'g':
		switch value(0) {
		case 0:
			s.stops[s.x] = false
		case 3:
			clear(s.stops)
		}
	case 'h', 'l':
		for i := range params {
			switch value(i) {
			case 4:
				s.insertMode = cmd.Final() == 'h'
			case 20:
				s.newlineMode = cmd.Final() == 'h'
			}
		}
	case 'm':
		s.style = restyle(s.style, params)
	case 'r':
		top, bottom := count(0)-1, value(1)-1
		if bottom < 0 || bottom >= s.rows {
			bottom = s.rows - 1
		}
		if top < bottom {
			s.top, s.bottom = top, bottom
			s.moveToRow(0, 0)
		}
	case 's':
		s.page.saved = s.cursor
	case 'u':
		s.cursor = s.page.saved
	}
}

// moveCursor carries out a CSI command that moves the cursor, and reports whether it is one. count returns the command's
// parameters, which are at least 1.
func (s *Screen) moveCursor(final byte, count func(int) int) bool {
	switch final {
	case 'A':
		s.moveVertically(-count(0))
	case 'B', 'e':
		s.moveVertically(count(0))
	case 'C', 'a':
		s.moveTo(s.x+count(0), s.y)
	case 'D':
		s.moveTo(s.x-count(0), s.y)
	case 'E':
		s.moveVertically(count(0))
		s.x = 0
	case 'F':
		s.moveVertically(-count(0))
		s.x = 0
	case 'G', '`':
		s.moveTo(count(0)-1, s.y)
	case 'H', 'f':
		s.moveToRow(count(0)-1, count(1)-1)
	case 'd':
		s.moveToRow(count(0)-1, s.x)
	case 'I':
		for range min(count(0), s.cols) {
			s.tab()
		}
	case 'Z':
		s.backTab(count(0))
	default:
		return false
	}
	return true
}

// privateMode sets a DEC mode; those that change neither text nor styles are ignored.
func (s *Screen) privateMode(mode int, on bool) {
	switch mode {
	case 6:
		s.origin = on
		s.moveToRow(0, 0)
	case 7:
		s.noWrap = !on
		s.pendingWrap = false
	case 47, 1047:
		s.switchPage(on)
	case 1049:
		switch {
		case on == (s.page == s.alternate):
		case on:
			s.main.saved = s.cursor
			s.switchPage(true)
		default:
			s.switchPage(false)
			s.cursor = s.main.saved
		}
	}
}

// moveVertically moves by n rows, but not across the edges of the scroll region from inside it.
func (s *Screen) moveVertically(n int) {
	low, high := 0, s.rows-1
	if s.y >= s.top {
		low = s.top
	}
	if s.y <= s.bottom {
		high = s.bottom
	}
	s.moveTo(s.x, min(max(s.y+n, low), high))
}

// moveToRow moves to a row as programs count them, which depends on the origin mode.
func (s *Screen) moveToRow(y, x int) {
	if s.origin {
		y = min(s.top+y, s.bottom)
	}
	s.moveTo(x, y)
}

func (s *Screen) backTab(n int) {
	x := s.x
	for ; n > 0 && x > 0; n-- {
		for x--; x > 0 && !s.stops[x]; x-- {
		}
	}
	s.moveTo(x, s.y)
}

// deleteLines removes n lines at the cursor. They do not become history, unlike scrolled ones.
func (s *Screen) deleteLines(n int) {
	rows := s.page.rows
	for range min(n, s.bottom-s.y+1) {
		r := rows[s.y]
		copy(rows[s.y:s.bottom], rows[s.y+1:s.bottom+1])
		rows[s.bottom] = s.emptied(r)
	}
}

func (s *Screen) eraseDisplay(how int) {
	s.pendingWrap = false
	switch how {
	case 0:
		s.eraseColumns(s.y, s.x, s.cols)
		for y := s.y + 1; y < s.rows; y++ {
			s.eraseColumns(y, 0, s.cols)
		}
	case 1:
		for y := range s.y {
			s.eraseColumns(y, 0, s.cols)
		}
		s.eraseColumns(s.y, 0, s.x+1)
	case 2:
		for y := range s.rows {
			s.eraseColumns(y, 0, s.cols)
		}
	case 3:
		s.history.clear()
	}
}

func (s *Screen) eraseLine(how int) {
	s.pendingWrap = false
	switch how {
	case 0:
		s.eraseColumns(s.y, s.x, s.cols)
	case 1:
		s.eraseColumns(s.y, 0, s.x+1)
	case 2:
		s.eraseColumns(s.y, 0, s.cols)
	}
}

// restyle applies the parameters of SGR.
func restyle(style Style, params ansi.Params) Style {
	if len(params) == 0 {
		return Style{}
	}
	for i := 0; i < len(params); i++ {
		p := params[i].Param(0)
		switch {
		case p == 0:
			style = Style{}
		case p == 1:
			style.Bold = true
		case p == 3:
			style.Italic = true
		case p == 4 && params[i].HasMore() && i+1 < len(params):
			i++
			style.Underline = params[i].Param(1) != 0
		case p == 4, p == 21:
			style.Underline = true
		case p == 7:
			style.Reverse = true
		case p == 9:
			style.Strikethrough = true
		case p == 22:
			style.Bold = false
		case p == 23:
			style.Italic = false
		case p == 24:
			style.Underline = false
		case p == 27:
			style.Reverse = false
		case p == 29:
			style.Strikethrough = false
		case p >= 30 && p <= 37:
			style.FG = Palette(uint8(p - 30))
		case p >= 90 && p <= 97:
			style.FG = Palette(uint8(p - 90 + 8))
		case p >= 40 && p <= 47:
			style.BG = Palette(uint8(p - 40))
		case p >= 100 && p <= 107:
			style.BG = Palette(uint8(p - 100 + 8))
		case p == 39:
			style.FG = 0
		case p == 49:
			style.BG = 0
		case p == 38, p == 48, p == 58:
			var c color.Color
			n := ansi.ReadStyleColor(params[i:], &c)
			if n == 0 {
				return style // the length is unknown, so is what follows
			}
			i += n - 1
			if p == 38 {
				style.FG = colorOf(c, style.FG)
			} else if p == 48 {
				style.BG = colorOf(c, style.BG)
			}
		}
	}
	return style
}

// colorOf converts what the library read; kinds we cannot show leave the colour as it is.
func colorOf(c color.Color, old Color) Color {
	switch c := c.(type) {
	case ansi.BasicColor:
		return Palette(uint8(c))
	case ansi.IndexedColor:
		return Palette(uint8(c))
	case color.RGBA:
		return RGB(c.R, c.G, c.B)
	}
	return old
}

// lineDrawing maps a character of the DEC special graphics set.
func lineDrawing(r rune) rune {
	const from, to = '`', '~'
	graphics := [...]rune{
		'◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺',
		'⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
	}
	if r < from || r > to {
		return r
	}
	return graphics[r-from]
}
