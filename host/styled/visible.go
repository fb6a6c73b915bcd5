package styled

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// manySpaces is the length from which a run of spaces could hide what follows.
const manySpaces = 40

// Visible makes visible what a reader would not see, or would see in another order, in an agent's text: control
// characters as ^[, characters without a shape as <U+202E>, invalid bytes as <FF>, many spaces as their number. In
// prose, the joiners and spaces that languages need stay.
func Visible(lines []Line, prose bool) []Line {
	lines = slices.Clone(lines)
	for i, l := range lines {
		if plainText(l.Text) {
			continue
		}
		text, moved := visible(l.Text, prose)
		l.Text = text
		l.Marks = slices.Clone(l.Marks)
		for j, m := range l.Marks {
			l.Marks[j].Col, l.Marks[j].EndCol = moved(m.Col), moved(m.EndCol)
		}
		lines[i] = l
	}
	return lines
}

// VisibleText is [Visible] for a text that has to be one line.
func VisibleText(text string) string {
	text, _ = visible(OneLine(text), true)
	return text
}

func plainText(s string) bool {
	run := 0
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
		if run++; s[i] != ' ' {
			run = 0
		}
		if run >= manySpaces {
			return false
		}
	}
	return true
}

// visible returns the text as shown, and where its bytes went.
func visible(s string, prose bool) (string, func(int) int) {
	var b strings.Builder
	var at, to []int // the bytes that were replaced begin at, and their place in b
	note := func(i int) { at, to = append(at, i), append(to, b.Len()) }
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		spaces := 0
		for r == ' ' && i+spaces < len(s) && s[i+spaces] == ' ' {
			spaces++
		}
		shown := ""
		switch {
		case spaces >= manySpaces:
			n, shown = spaces, fmt.Sprintf(" <%d spaces> ", spaces)
		case r == utf8.RuneError && n == 1:
			shown = fmt.Sprintf("<%02X>", s[i])
		case r == '\t':
			shown = "    "
		case r < ' ':
			shown = "^" + string(r+'@')
		case r == 0x7f:
			shown = "^?"
		case unseen(r) && !(prose && needed(r)):
			shown = fmt.Sprintf("<U+%04X>", r)
		}
		if shown == "" {
			b.WriteString(s[i : i+n])
		} else {
			note(i)
			b.WriteString(shown)
			note(i + n)
		}
		i += n
	}
	return b.String(), func(col int) int {
		i, found := slices.BinarySearch(at, col)
		for found && i+1 < len(at) && at[i+1] == col {
			i++
		}
		if !found {
			i--
		}
		if i < 0 {
			return col
		}
		if i%2 == 0 {
			return to[i] // within what was replaced
		}
		return to[i] + col - at[i]
	}
}

// unseen reports whether a character has no shape, or changes the order of others.
func unseen(r rune) bool {
	switch r {
	case ' ':
		return false
	case 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800, 0x034f: // fillers, blanks, a joiner
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Zs) || (r >= 0xfe00 && r <= 0xfe0f) || (r >= 0xe0000 && r <= 0xe0fff)
}

// needed reports whether languages or emoji need a character.
func needed(r rune) bool {
	return r == 0x200c || r == 0x200d || r == 0xfe0f || r == 0xfe0e || r == 0xa0 || r == 0x3000 || r == 0x202f
}
