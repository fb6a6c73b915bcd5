package acp

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// scanner walks over JSON known to be valid, so it checks no syntax. Every method but space and colon expects the
// position of a value or of a property's name, and moves past it.
type scanner struct {
	data  []byte
	pos   int
	texts *Texts // nil for none
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the first byte of the next value without moving.
func (s *scanner) peek() byte {
	s.space()
	return s.data[s.pos]
}

// kind names the kind of the next value for error messages.
func (s *scanner) kind() string {
	switch s.peek() {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// nextItem moves to the next item of a list, or to the next property's name of an object, and
// reports whether there is one; if not, the scanner is past the end of the list or object.
// first is true for the first call, made at the opening bracket.
func (s *scanner) nextItem(first bool) bool {
	switch c := s.peek(); {
	case first: // the opening bracket
		s.pos++
		if c = s.peek(); c != ']' && c != '}' {
			return true
		}
		s.pos++
		return false
	case c == ',':
		s.pos++
		s.space()
		return true
	default: // the closing bracket
		s.pos++
		return false
	}
}

func (s *scanner) colon() {
	s.space()
	s.pos++
	s.space()
}

// null moves past the next value if it is null.
func (s *scanner) null() bool {
	if s.peek() != 'n' {
		return false
	}
	s.pos += len("null")
	return true
}

// skip moves past the next value.
func (s *scanner) skip() {
	switch s.peek() {
	case '"':
		s.quoted()
	case '{', '[':
		s.brackets()
	default:
		s.bare()
	}
}

// raw returns the bytes of the next value, without copying them.
func (s *scanner) raw() []byte {
	s.space()
	start := s.pos
	s.skip()
	return s.data[start:s.pos]
}

func (s *scanner) brackets() {
	depth := 0
	for {
		switch s.data[s.pos] {
		case '"':
			s.quoted()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		s.pos++
		if depth == 0 {
			return
		}
	}
}

// bare moves past a number, true, false or null, and returns its bytes.
func (s *scanner) bare() []byte {
	start := s.pos
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ',', ']', '}', ' ', '\t', '\n', '\r':
			return s.data[start:s.pos]
		}
		s.pos++
	}
	return s.data[start:]
}

// quoted moves past a string and returns what is between its quotes, and whether it has escapes.
func (s *scanner) quoted() (inner []byte, escaped bool) { return s.quotedFrom(0) }

// quotedFrom is quoted of a string of which so many bytes are known; they have no quote and end with no escape that goes
// on. What it returns is behind them.
func (s *scanner) quotedFrom(known int) (inner []byte, escaped bool) {
	start := s.pos + 1 + known
	at := start
	end := at + bytes.IndexByte(s.data[at:], '"')
	for {
		slash := bytes.IndexByte(s.data[at:end], '\\')
		if slash < 0 {
			s.pos = end + 1
			return s.data[start:end], escaped
		}
		escaped = true
		at += slash + 2
		if at > end { // the escape is of this quote
			end = at + bytes.IndexByte(s.data[at:], '"')
		}
	}
}

// name returns a property's name, in bytes that may share the data's memory.
func (s *scanner) name() []byte {
	inner, escaped := s.quoted()
	if escaped {
		return unescape(inner)
	}
	return inner
}

// text returns a string. Invalid UTF-8 in it becomes U+FFFD.
func (s *scanner) text() string {
	s.space()
	begin, known := s.texts.beginning(s.data[s.pos+1:])
	from := s.pos + 1
	inner, escaped := s.quotedFrom(known)
	if escaped {
		inner = unescape(inner)
	}
	if !utf8.Valid(inner) {
		return begin + string([]rune(string(inner)))
	}
	text := begin
	switch {
	case begin == "":
		text = string(inner)
	case len(inner) > 0:
		text += unsafe.String(unsafe.SliceData(inner), len(inner)) // which copies it
	}
	s.texts.keep(s.data[from:s.pos-1], text)
	return text
}

// Texts decodes messages one after another. An output that grows is often told anew as a whole: what a long text begins
// with is decoded once. The zero value has decoded nothing; it belongs to one goroutine.
type Texts struct {
	raw  []byte // the last long text, as it stood between its quotes
	text string
}

// longText is from how many bytes on a text is kept.
const longText = 4 << 10

// DecodeMessage is the function of that name, with the texts that were decoded before.
func (t *Texts) DecodeMessage(data []byte, v any) error { return decodeMessage(data, v, t) }

// beginning is what a string that goes on with data has of the last long text, if that is how it begins, and how many
// bytes of data that are.
func (t *Texts) beginning(data []byte) (text string, known int) {
	if t == nil || len(t.raw) == 0 || !bytes.HasPrefix(data, t.raw) {
		return "", 0
	}
	return t.text, len(t.raw)
}

// keep remembers a text, unless it ends with half of a character, or is short.
func (t *Texts) keep(raw []byte, text string) {
	if t != nil && len(raw) >= longText && !endsHalf(raw) {
		t.raw, t.text = raw, text
	}
}

// endsHalf reports whether a string may end with the first of two escapes that are one character.
func endsHalf(raw []byte) bool {
	last := raw[len(raw)-6:]
	return last[0] == '\\' && last[1] == 'u' && utf16.IsSurrogate(codeUnit(last[2:]))
}

// unescape returns the text of a string that has escapes.
func unescape(inner []byte) []byte {
	text := make([]byte, 0, len(inner))
	for {
		slash := bytes.IndexByte(inner, '\\')
		if slash < 0 {
			return append(text, inner...)
		}
		text = append(text, inner[:slash]...)
		escape := inner[slash+1]
		inner = inner[slash+2:]
		switch escape {
		case 'b':
			text = append(text, '\b')
		case 'f':
			text = append(text, '\f')
		case 'n':
			text = append(text, '\n')
		case 'r':
			text = append(text, '\r')
		case 't':
			text = append(text, '\t')
		case 'u':
			r := codeUnit(inner)
			inner = inner[4:]
			if utf16.IsSurrogate(r) {
				pair := unicodeReplacement
				if bytes.HasPrefix(inner, []byte(`\u`)) {
					pair = utf16.DecodeRune(r, codeUnit(inner[2:]))
				}
				if pair != unicodeReplacement {
					inner = inner[6:]
				}
				r = pair
			}
			text = utf8.AppendRune(text, r)
		default:
			text = append(text, escape)
		}
	}
}

const unicodeReplacement = '\uFFFD'

// codeUnit is four hex digits.
func codeUnit(digits []byte) (r rune) {
	for _, c := range digits[:4] {
		r <<= 4
		switch {
		case c <= '9':
			r |= rune(c - '0')
		default:
			r |= rune(c|0x20-'a') + 10
		}
	}
	return r
}

// tag returns the string value of an object's property, and whether the object has it.
func (s *scanner) tag(name string) (value string, found bool) {
	for first := true; s.nextItem(first); first = false {
		is := string(s.name()) == name
		s.colon()
		switch {
		case !is:
			s.skip()
		case s.peek() == '"':
			return s.text(), true
		default:
			return "", true
		}
	}
	return "", false
}

func (s *scanner) number() (string, error) {
	switch c := s.peek(); {
	case c == '-', '0' <= c && c <= '9':
		return string(s.bare()), nil
	}
	return "", wrong("expected a number, got %s", s.kind())
}

func (s *scanner) integer() (int64, error) {
	digits, err := s.number()
	if err != nil {
		return 0, err
	}
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
		return n, nil
	}
	f, err := whole(digits)
	if err != nil {
		return 0, err
	}
	if f < math.MinInt64 || f >= math.MaxInt64 {
		return 0, wrong("%s is out of range", digits)
	}
	return int64(f), nil
}

func (s *scanner) unsigned() (uint64, error) {
	digits, err := s.number()
	if err != nil {
		return 0, err
	}
	if n, err := strconv.ParseUint(digits, 10, 64); err == nil {
		return n, nil
	}
	f, err := whole(digits)
	if err != nil {
		return 0, err
	}
	if f < 0 || f >= math.MaxUint64 {
		return 0, wrong("%s is out of range", digits)
	}
	return uint64(f), nil
}

// whole reads an integer that is written as 1.0 or 1e3.
func whole(digits string) (float64, error) {
	if !strings.ContainsAny(digits, ".eE") {
		return 0, wrong("%.30s is out of range", digits)
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil || f != math.Trunc(f) {
		return 0, wrong("%.30s is not an integer in range", digits)
	}
	return f, nil
}

func (s *scanner) float() (float64, error) {
	digits, err := s.number()
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, wrong("%.30s is out of range", digits)
	}
	return f, nil
}
