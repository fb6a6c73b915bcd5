package terminal

// Color is a colour as the program asked for it: the terminal's default (the zero value), an entry of
// the 256-colour palette, of which 0 to 15 are the ANSI colours, or RGB.
type Color uint32

const (
	paletteColor Color = 1 << 24
	rgbColor     Color = 2 << 24
)

// Palette returns entry i of the 256-colour palette.
func Palette(i uint8) Color { return paletteColor | Color(i) }

// RGB returns a direct colour.
func RGB(r, g, b uint8) Color { return rgbColor | Color(r)<<16 | Color(g)<<8 | Color(b) }

// Palette returns the palette entry; ok is false for the default colour and for RGB.
func (c Color) Palette() (i uint8, ok bool) { return uint8(c), c&paletteColor != 0 }

// RGB returns the components of a direct colour; ok is false for all others.
func (c Color) RGB() (r, g, b uint8, ok bool) {
	return uint8(c >> 16), uint8(c >> 8), uint8(c), c&rgbColor != 0
}

// Style is how a piece of text is drawn. The zero value is plain text.
type Style struct {
	FG, BG                                          Color
	Bold, Italic, Underline, Reverse, Strikethrough bool
}

// showsOnBlank reports whether a blank in this style can be seen.
func (s Style) showsOnBlank() bool {
	return s.BG != 0 || s.Underline || s.Reverse || s.Strikethrough
}

// Line is one row of the display, at most as wide as the screen, without trailing blanks.
type Line struct {
	Text  string
	Spans []Span // in order, apart from each other; text outside them is plain
}

// Span gives the style of Text[Col:EndCol] of its Line.
type Span struct {
	Col, EndCol int // bytes
	Style       Style
}
