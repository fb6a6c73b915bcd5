package acp

import (
	"bytes"
	"encoding/json"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// appender is a message that is encoded without reflection, as it holds a text that may be large.
type appender interface {
	AppendJSON(buf []byte) []byte
}

// encode returns v as JSON in one line, without the escapes that are meant for HTML.
func encode(v any) (json.RawMessage, error) {
	if a, ok := v.(appender); ok {
		return a.AppendJSON(nil), nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// AppendText appends text to buf as a JSON string, as [json.Encoder] writes it without escapes for HTML, but several
// times as fast, growing buf once.
func AppendText(buf []byte, text string) []byte {
	if need := len(buf) + len(text) + len(text)/8 + 16; cap(buf) < need {
		buf = append(make([]byte, 0, need), buf...)
	}
	buf = append(buf, '"')
	from := 0 // what is before is in buf
	for at := 0; at < len(text); {
		if at += unescaped(text[at:]); at == len(text) {
			break
		}
		c, n := text[at], 1
		escape := ""
		switch {
		case c == '"' || c == '\\':
			escape = `\` + text[at:at+1]
		case c < ' ':
			escape = controls[c]
		default:
			var r rune
			switch r, n = utf8.DecodeRuneInString(text[at:]); {
			case r == utf8.RuneError && n == 1:
				escape = `\ufffd`
			case r == '\u2028':
				escape = `\u2028`
			case r == '\u2029':
				escape = `\u2029`
			}
		}
		if escape != "" {
			buf = append(append(buf, text[from:at]...), escape...)
			from = at + n
		}
		at += n
	}
	return append(append(buf, text[from:]...), '"')
}

// unescaped returns the length of text's prefix of ASCII bytes that need no escape.
func unescaped(text string) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; n+8 <= len(text); n += 8 {
		s := text[n : n+8]
		w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		// The high bit of a byte is set if it is not ASCII, below a space, a quote, or a backslash; in bytes after the
		// first such one it may be set without a reason.
		quote, backslash := w^ones*'"', w^ones*'\\'
		if marks := (w | (w - ones*' ') | (quote - ones) | (backslash - ones)) & highs; marks != 0 {
			return n + bits.TrailingZeros64(marks)/8
		}
	}
	for n < len(text) && ' ' <= text[n] && text[n] < utf8.RuneSelf && text[n] != '"' && text[n] != '\\' {
		n++
	}
	return n
}

// controls are the characters below a space in a JSON string.
var controls = func() (escapes [' ']string) {
	for c := range escapes {
		quoted, _ := json.Marshal(string(rune(c))) // a string always encodes
		escapes[c] = strings.Trim(string(quoted), `"`)
	}
	return escapes
}()
