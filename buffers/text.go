package buffers

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// format is how a file's text is encoded on the disk.
type format struct {
	encoding string // Neovim's name in 'fileencoding': "utf-8", "latin1", "utf-16le" or "utf-16"
	bom      bool
	dos      bool // lines end in "\r\n"
}

var boms = map[string]string{"utf-8": "\xef\xbb\xbf", "utf-16le": "\xff\xfe", "utf-16": "\xfe\xff"}

// detect determines the format of a file as Neovim does with its default 'fileencodings': by the byte order mark, else
// UTF-8 if that is valid, else latin1.
func detect(data []byte) (string, format) {
	for _, name := range []string{"utf-8", "utf-16le", "utf-16"} {
		if !bytes.HasPrefix(data, []byte(boms[name])) {
			continue
		}
		if text, f, ok := decode(data, name); ok {
			return text, f
		}
	}
	if text, f, ok := decode(data, "utf-8"); ok {
		return text, f
	}
	text, f, _ := decode(data, "latin1")
	return text, f
}

// Form returns how the text of a file with these bytes is encoded on the disk: its encoding, its line ends, "dos" if
// all are "\r\n" and otherwise "unix", "bom" if it begins with a byte order mark, and "noeol" if its last line has no
// end, as in "utf-8 dos bom". Files with the same text and form have the same bytes.
func Form(data []byte) string {
	if !utf8.Valid(data) {
		text, f := detect(data)
		return f.String() + lastEnd(text)
	}
	n := bytes.Count(data, []byte("\n"))
	bom := bytes.HasPrefix(data, []byte(boms["utf-8"]))
	form := format{encoding: "utf-8", bom: bom, dos: n > 0 && n == bytes.Count(data, []byte("\r\n"))}.String()
	if bom && len(data) == len(boms["utf-8"]) || bytes.HasSuffix(data, []byte("\n")) || len(data) == 0 {
		return form
	}
	return form + " noeol"
}

// lastEnd returns what the form of a text says about the end of its last line.
func lastEnd(text string) string {
	if ended(text) {
		return ""
	}
	return " noeol"
}

func (f format) String() string {
	form := f.encoding + " unix"
	if f.dos {
		form = f.encoding + " dos"
	}
	if f.bom {
		form += " bom"
	}
	return form
}

// Encoded returns the bytes of a text in a form from [Form]; "" is plain UTF-8. Whether its last line ends is decided
// by the text or by the form.
func Encoded(text, form string) ([]byte, error) {
	f := format{encoding: "utf-8"}
	for i, word := range strings.Fields(form) {
		switch {
		case i == 0:
			f.encoding = word
		case word == "dos":
			f.dos = true
		case word == "bom":
			f.bom = true
		case word == "noeol":
			text = strings.TrimSuffix(text, "\n")
		}
	}
	return f.encode(text)
}

// Lined returns a text with a newline after each of its lines.
func Lined(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// Decoded returns the text of a file with these bytes.
func Decoded(data []byte) string {
	text, _ := detect(data)
	return text
}

// decode returns the text of data in an encoding, and false if the encoding is not known here or would not give the
// same bytes back.
func decode(data []byte, encoding string) (string, format, bool) {
	if encoding == "" {
		encoding = "utf-8"
	}
	f := format{encoding: encoding}
	rest, bom := bytes.CutPrefix(data, []byte(boms[encoding]))
	f.bom = bom && boms[encoding] != ""
	text, ok := "", false
	switch encoding {
	case "utf-8":
		text, ok = string(rest), utf8.Valid(rest)
	case "latin1":
		runes := make([]rune, len(rest))
		for i, b := range rest {
			runes[i] = rune(b)
		}
		text, ok = string(runes), true
	case "utf-16le", "utf-16":
		units := make([]uint16, len(rest)/2)
		for i := range units {
			units[i] = byteOrder(encoding).Uint16(rest[2*i:])
		}
		text = string(utf16.Decode(units))
		again, err := format{encoding: encoding}.encode(text)
		ok = err == nil && bytes.Equal(again, rest)
	}
	if n := strings.Count(text, "\n"); n > 0 && n == strings.Count(text, "\r\n") {
		f.dos = true
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return text, f, ok
}

// encode returns the bytes of text.
func (f format) encode(text string) ([]byte, error) {
	if f.dos {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	var data []byte
	if f.bom {
		data = append(data, boms[f.encoding]...)
	}
	switch f.encoding {
	case "latin1":
		for _, r := range text {
			if r > 0xff {
				return nil, ErrEncoding
			}
			data = append(data, byte(r))
		}
	case "utf-16le", "utf-16":
		for _, u := range utf16.Encode([]rune(text)) {
			data = byteOrder(f.encoding).AppendUint16(data, u)
		}
	default:
		data = append(data, text...)
	}
	return data, nil
}

// normal returns the agent's text for a file of this format without what the format itself adds.
func (f format) normal(text string) string {
	if f.bom {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	if f.dos {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return text
}

type order16 interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func byteOrder(encoding string) order16 {
	if encoding == "utf-16le" {
		return binary.LittleEndian
	}
	return binary.BigEndian
}

// lineRange returns the lines that a read asks for, from first (0-based) to last, exclusive; last < 0 means to the end.
func (r Read) lineRange() (first, last int) {
	if r.Line != nil {
		first = max(*r.Line-1, 0)
	}
	if r.Limit == nil {
		return first, -1
	}
	return first, first + max(*r.Limit, 0)
}

// cutLines returns the lines from first to last of text, each with its newline, so that the parts of a file, read one
// after another, make the file.
func cutLines(text string, first, last int) string {
	start := skipLines(text, first)
	if last < 0 {
		return text[start:]
	}
	return text[start : start+skipLines(text[start:], last-first)]
}

// skipLines returns the offset of line n, or the end of text.
func skipLines(text string, n int) int {
	at := 0
	for ; n > 0; n-- {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	return at
}
