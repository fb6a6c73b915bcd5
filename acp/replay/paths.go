package replay

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// paths maps the folders of the recording to the client's.
type paths []struct{ from, to string }

// add maps a folder, replacing an earlier mapping.
func (p *paths) add(from, to string) {
	if !filepath.IsAbs(from) || !filepath.IsAbs(to) || filepath.Clean(from) == "/" {
		return
	}
	from, to = filepath.Clean(from), filepath.Clean(to)
	for i := range *p {
		if (*p)[i].from == from {
			(*p)[i].to = to
			return
		}
	}
	*p = append(*p, struct{ from, to string }{from, to})
}

// in returns a valid JSON text with the paths in its strings replaced; all else stays as it is.
func (p paths) in(text []byte) []byte {
	if len(p) == 0 {
		return text
	}
	var out []byte
	for {
		start := bytes.IndexByte(text, '"')
		if start < 0 {
			return append(out, text...)
		}
		end := start + 1
		for ; text[end] != '"'; end++ {
			if text[end] == '\\' {
				end++
			}
		}
		out = append(out, text[:start]...)
		out = append(out, p.inString(text[start:end+1])...)
		text = text[end+1:]
	}
}

// inString is in for one string with its quotes.
func (p paths) inString(quoted []byte) []byte {
	var s string
	if !bytes.ContainsAny(quoted, `/\`) || json.Unmarshal(quoted, &s) != nil {
		return quoted
	}
	replaced := p.replace(s)
	if replaced == s {
		return quoted
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(replaced) != nil {
		return quoted
	}
	return bytes.TrimSpace(b.Bytes())
}

// replace replaces every folder in a text. What has been replaced is not scanned again.
func (p paths) replace(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		from, to := p.at(s, i)
		if from == "" {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteString(to)
		i += len(from)
	}
	return b.String()
}

// at returns the longest folder that s[i:] begins with as a whole, and its name for the client.
func (p paths) at(s string, i int) (from, to string) {
	if s[i] != '/' || !beginsPath(s[:i]) {
		return "", ""
	}
	for _, m := range p {
		if len(m.from) > len(from) && strings.HasPrefix(s[i:], m.from) && endsName(s[i+len(m.from):]) {
			from, to = m.from, m.to
		}
	}
	return from, to
}

// beginsPath reports whether a path can begin after the text before it.
func beginsPath(before string) bool {
	if strings.HasSuffix(before, "://") {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || !inName(r) && !strings.ContainsRune("/.~", r)
}

// endsName reports whether the name of a file ends before the text after it.
func endsName(after string) bool {
	r, size := utf8.DecodeRuneInString(after)
	if r == '.' { // of a sentence, or of a longer name
		r, _ = utf8.DecodeRuneInString(after[size:])
		return !inName(r)
	}
	return !inName(r)
}

func inName(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-')
}
