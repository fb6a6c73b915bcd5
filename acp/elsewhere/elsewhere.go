// Package elsewhere translates the paths of the protocol for an agent that sees the user's folders under other names:
// in a container, on another machine. It sits between a connection and its agent's pipes, and knows which fields of
// both versions of the protocol hold paths. Free text is left alone, and so is what only the agent understands.
package elsewhere

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Map says how the agent names the user's folders: absolute paths, by the user's.
type Map struct {
	folders []folder // the longest first
}

type folder struct{ here, there string }

// New returns the map of folders; without any it is nil, which changes nothing.
func New(paths map[string]string) (*Map, error) {
	var m Map
	for _, here := range slices.Sorted(maps.Keys(paths)) {
		there := paths[here]
		if !path.IsAbs(here) || !path.IsAbs(there) {
			return nil, fmt.Errorf("the paths of an agent are absolute, not %q and %q", here, there)
		}
		m.folders = append(m.folders, folder{path.Clean(here), path.Clean(there)})
	}
	if len(m.folders) == 0 {
		return nil, nil
	}
	return &m, nil
}

// There returns the agent's name of a path.
func (m *Map) There(p string) string {
	return m.translate(p, func(x folder) (string, string) { return x.here, x.there })
}

// Here returns the user's name of a path.
func (m *Map) Here(p string) string {
	return m.translate(p, func(x folder) (string, string) { return x.there, x.here })
}

// translate replaces the longest matching prefix. A path in none of the folders stays as it is.
func (m *Map) translate(p string, ends func(folder) (from, to string)) string {
	best, result := -1, p
	for _, x := range m.folders {
		from, to := ends(x)
		rest, fits := strings.CutPrefix(p, from)
		if from == "/" && fits {
			rest = "/" + rest
		}
		if fits && (rest == "" || rest[0] == '/') && len(from) > best {
			if best, result = len(from), to+rest; to == "/" {
				result = cmp.Or(rest, "/")
			}
		}
	}
	return result
}

// In reads an agent's messages with the user's paths.
func (m *Map) In(from io.Reader) io.Reader {
	return &reader{from: bufio.NewReaderSize(from, 64<<10), change: m.Here}
}

// Out writes messages to an agent with its paths.
func (m *Map) Out(to io.WriteCloser) io.WriteCloser { return &writer{to: to, change: m.There} }

type reader struct {
	from   *bufio.Reader
	change func(string) string
	rest   []byte
	err    error
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		var line []byte
		line, r.err = r.from.ReadBytes('\n')
		r.rest = message(line, r.change)
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

type writer struct {
	to     io.WriteCloser
	change func(string) string
	begun  []byte // of a line
}

func (w *writer) Write(p []byte) (int, error) {
	w.begun = append(w.begun, p...)
	for {
		end := bytes.IndexByte(w.begun, '\n')
		if end < 0 {
			return len(p), nil
		}
		if _, err := w.to.Write(message(w.begun[:end+1], w.change)); err != nil {
			return 0, err
		}
		w.begun = w.begun[end+1:]
	}
}

func (w *writer) Close() error {
	_, err := w.to.Write(w.begun)
	return errors.Join(err, w.to.Close())
}

// message translates a line. A line that is not JSON passes unchanged.
func message(line []byte, change func(string) string) []byte {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber() // the other side may need all digits
	var value any
	if decoder.Decode(&value) != nil || !walk(value, change) {
		return line
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil { // what was decoded always encodes
		return line
	}
	return out.Bytes()
}

// Which fields are paths, lists of paths, and addresses, and which are the agent's own.
var (
	one   = []string{"cwd", "path", "oldPath", "newPath"}
	lists = []string{"additionalDirectories", "paths", "roots"}
	links = []string{"uri", "url"}
	own   = []string{"rawInput", "rawOutput", "_meta", "arguments", "requestedSchema", "env", "mcpServers", "error"}
)

// walk translates what is in a value, and reports whether anything has changed.
func walk(value any, change func(string) string) (changed bool) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			changed = walk(item, change) || changed
		}
	case map[string]any:
		for key, field := range v {
			text, isText := field.(string)
			switch {
			case slices.Contains(own, key):
			case isText && slices.Contains(one, key):
				v[key] = change(text)
				changed = changed || v[key] != text
			case isText && slices.Contains(links, key):
				v[key] = link(text, change)
				changed = changed || v[key] != text
			case slices.Contains(lists, key):
				items, _ := field.([]any)
				for i, item := range items {
					if p, ok := item.(string); ok {
						items[i] = change(p)
						changed = changed || items[i] != p
					} else {
						changed = walk(item, change) || changed
					}
				}
			default:
				changed = walk(field, change) || changed
			}
		}
	}
	return changed
}

// link translates the address of a file.
func link(text string, change func(string) string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "file" {
		return text
	}
	to := change(u.Path)
	if to == u.Path {
		return text
	}
	u.Path, u.RawPath = to, ""
	return u.String()
}
