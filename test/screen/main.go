// Screen draws what a terminal shows, escape sequences on standard input, as an SVG picture on
// standard output: scripts/screen.sh makes the README's with it.
package main

import (
	"fmt"
	"html"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/acp-nvim/acp-nvim/host/terminal"
)

// The size of a character, in pixels, and the terminal's own colours.
const (
	width, height = 8, 17
	foreground    = "#e0e2ea"
	background    = "#14161b"
)

// palette is Neovim's own terminal palette.
var palette = []string{
	"#07080d", "#ffc0b9", "#b3f6c0", "#fce094", "#a6dbff", "#ffcaff", "#8cf8f7", "#eef1f8",
	"#4f5258", "#ffc0b9", "#b3f6c0", "#fce094", "#a6dbff", "#ffcaff", "#8cf8f7", "#eef1f8",
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: screen COLUMNS ROWS")
		os.Exit(2)
	}
	if err := draw(os.Args[1], os.Args[2], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "screen:", err)
		os.Exit(1)
	}
}

func draw(columns, rows string, in io.Reader, out io.Writer) error {
	cols, err := strconv.Atoi(columns)
	if err != nil {
		return fmt.Errorf("columns: %w", err)
	}
	lines, err := strconv.Atoi(rows)
	if err != nil {
		return fmt.Errorf("rows: %w", err)
	}
	shown, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read the screen: %w", err)
	}
	s := terminal.NewScreen(cols, lines+1, 1<<20)
	if _, err := s.Write(append([]byte("\x1b[20h"), shown...)); err != nil {
		return fmt.Errorf("read the screen: %w", err)
	}
	text, _ := s.Tail(lines)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="monospace" font-size="13">`+"\n",
		(cols+2)*width, (lines+1)*height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", background)
	for row, l := range text {
		drawLine(&b, row, l)
	}
	b.WriteString("</svg>\n")
	_, err = io.WriteString(out, b.String())
	return err
}

// drawLine draws runs of one style each, every one at its own column, as the
// font of whoever looks may have characters of another width.
func drawLine(b *strings.Builder, row int, l terminal.Line) {
	at := 0
	for _, span := range l.Spans {
		drawRun(b, row, l.Text, at, span.Col, terminal.Style{})
		drawRun(b, row, l.Text, span.Col, span.EndCol, span.Style)
		at = span.EndCol
	}
	drawRun(b, row, l.Text, at, len(l.Text), terminal.Style{})
}

func drawRun(b *strings.Builder, row int, line string, from, to int, style terminal.Style) {
	if from >= to {
		return
	}
	text := line[from:to]
	fg, bg := color(style.FG, foreground), color(style.BG, "")
	if style.Reverse {
		fg, bg = color(style.BG, background), color(style.FG, foreground)
	}
	x, y := (ansi.StringWidth(line[:from])+1)*width, row*height+height/2
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n",
			x, y, ansi.StringWidth(text)*width, height, bg)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	var extra string
	if style.Bold {
		extra += ` font-weight="bold"`
	}
	if style.Italic {
		extra += ` font-style="italic"`
	}
	if style.Underline {
		extra += ` text-decoration="underline"`
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s" textLength="%d" xml:space="preserve"%s>%s</text>`+"\n",
		x, y+13, fg, ansi.StringWidth(text)*width, extra, html.EscapeString(text))
}

func color(c terminal.Color, none string) string {
	if r, g, b, ok := c.RGB(); ok {
		return fmt.Sprintf("#%02x%02x%02x", r, g, b)
	}
	i, ok := c.Palette()
	switch {
	case !ok:
		return none
	case i < 16:
		return palette[i]
	case i < 232:
		level := func(n uint8) uint8 {
			if n == 0 {
				return 0
			}
			return 55 + 40*n
		}
		i -= 16
		return fmt.Sprintf("#%02x%02x%02x", level(i/36), level(i/6%6), level(i%6))
	}
	grey := 8 + 10*(i-232)
	return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
}
