package review

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
	"unicode"
)

// Content is what is at a path at one time. The zero value is no file. An opaque file, one that is large or binary, has
// a mark in Text that distinguishes its contents.
type Content struct {
	Exists bool
	Opaque bool
	Text   string
	Form   string      // how the text stands on the disk (encoding, line ends, byte order mark); "" is plain UTF-8
	Mode   fs.FileMode // permission bits; 0 where they are not known
}

// Plain is the form that "" stands for, which most files have.
const Plain = "utf-8 unix"

// Opaque returns the content of a file whose text is not kept or compared by lines: mark distinguishes its contents.
func Opaque(mark string) Content { return Content{Exists: true, Opaque: true, Text: mark} }

// Text returns the content of a file with a text, or of a binary one, which has a NUL byte.
func Text(text string) Content {
	if strings.ContainsRune(text, 0) {
		return Opaque(sum(text))
	}
	return Content{Exists: true, Text: text}
}

// Mark returns the content with a mark in place of its text, which still distinguishes it from others.
func (c Content) Mark() Content {
	if c.Exists && !c.Opaque {
		c.Opaque, c.Text = true, sum(c.Text)
	}
	return c
}

// SameText reports whether two contents are the same apart from their forms and modes.
func (c Content) SameText(other Content) bool {
	c.Form, c.Mode, other.Form, other.Mode = "", 0, "", 0
	return c == other || c.Mark() == other.Mark()
}

// Restyled returns a content with the form and mode of now, as far as its own were those of was. What comes where all was gone
// changes the form of nothing else.
func (c Content) Restyled(was, now Content) Content {
	if !c.Exists {
		return c
	}
	if c.Form == was.Form && (c.Text == "" || !was.formless(now.Form)) {
		c.Form = now.Form
	}
	if c.Mode == was.Mode {
		c.Mode = now.Mode
	}
	return c
}

// StandsAs reports whether a text has the same bytes in another form, as there is none, or all of its letters are ASCII:
// then its own form is a guess.
func (c Content) StandsAs(form string) bool {
	is, other := strings.Fields(cmp.Or(c.Form, Plain)), strings.Fields(cmp.Or(form, Plain))
	if c.Text == "" {
		return slices.Contains(is, "bom") == slices.Contains(other, "bom")
	}
	within := map[string]bool{"utf-8": true, "latin1": true}
	return !c.Opaque && within[is[0]] && within[other[0]] && slices.Equal(is[1:], other[1:]) &&
		strings.IndexFunc(c.Text, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// formless reports whether there is no text, whose bytes are the same in another form.
func (c Content) formless(other string) bool { return c.Text == "" && c.StandsAs(other) }
