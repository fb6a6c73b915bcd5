package session

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ending is how the text of a message ends so far. From that it tells whether later text, after something else,
// continues the message, if the agent does not say so.
type ending struct {
	last   rune   // 0 of no text
	head   string // the beginning of the last line, as long as a fence
	fenced bool   // the last line is in a block of code, or begins one
}

// add notes the text that the message continues with.
func (e *ending) add(text string) {
	for text != "" {
		line, rest, over := strings.Cut(text, "\n")
		was := isFence(e.head)
		e.head += line[:min(len(line), 8-len(e.head))]
		if isFence(e.head) && !was {
			e.fenced = !e.fenced
		}
		e.last, _ = utf8.DecodeLastRuneInString(line)
		if over {
			e.last, e.head = '\n', ""
		}
		text = rest
	}
}

func isFence(line string) bool {
	line = strings.TrimLeft(line, " ")
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// goesOn reports whether a text is the rest of a sentence or of a block of code: a new message begins after the end of
// one, and with neither a blank nor a small letter.
func (e *ending) goesOn(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	switch {
	case e.last == 0 || text == "":
		return false
	case e.fenced || e.last == ' ':
		return true
	case e.last == '\n' || first == '\n':
		return false
	case unicode.IsSpace(first):
		return true
	}
	within := unicode.IsLetter(e.last) || unicode.IsDigit(e.last) || strings.ContainsRune(",-–—/('\"", e.last)
	return within && !unicode.IsUpper(first)
}
