package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// readable renders JSON as lines: one for each value, "key: value", nested values indented, and a text of several lines
// as a block. It stops after limit lines, and says so.
func readable(raw json.RawMessage, limit int) []string {
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == "null" || string(raw) == "{}" {
		return nil
	}
	r := reader{dec: json.NewDecoder(bytes.NewReader(raw)), limit: limit}
	r.dec.UseNumber()
	if err := r.value("", ""); err == errEnough {
		r.lines = append(r.lines, "…")
	} else if err != nil {
		return strings.Split(string(raw), "\n") // as it came
	}
	return r.lines
}

type reader struct {
	dec   *json.Decoder
	lines []string
	limit int
}

var errEnough = fmt.Errorf("enough lines")

// value reads the next value; head comes before it.
func (r *reader) value(indent, head string) error {
	token, err := r.dec.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		return r.inner(indent, head, v)
	case string:
		return r.text(indent, head, v)
	case nil:
		return r.put(indent + head + "null")
	default:
		return r.put(indent + head + fmt.Sprint(v))
	}
}

// inner reads the content of an object or a list.
func (r *reader) inner(indent, head string, open json.Delim) error {
	if !r.dec.More() {
		if err := r.put(indent + head + "(empty)"); err != nil {
			return err
		}
	} else if head != "" && head != "- " {
		if err := r.put(indent + strings.TrimRight(head, " ")); err != nil {
			return err
		}
		indent = strings.Repeat(" ", len(indent)) + "  "
		head = ""
	}
	// The first line of a list's item is next to its dash.
	for first := true; r.dec.More(); first = false {
		before := ""
		if head == "- " {
			before = "  "
			if first {
				before = "- "
			}
		}
		if open == '[' {
			if err := r.value(indent+before, "- "); err != nil {
				return err
			}
			continue
		}
		key, err := r.dec.Token()
		if err != nil {
			return err
		}
		if err := r.value(indent+before, fmt.Sprint(key)+": "); err != nil {
			return err
		}
	}
	_, err := r.dec.Token()
	return err
}

func (r *reader) text(indent, head, text string) error {
	text = strings.TrimRight(text, "\n")
	if !strings.Contains(text, "\n") {
		return r.put(indent + head + text)
	}
	if head != "" {
		if err := r.put(indent + strings.TrimRight(head, " ")); err != nil {
			return err
		}
		indent = strings.Repeat(" ", len(indent)) + "  "
	}
	for l := range strings.SplitSeq(text, "\n") {
		if err := r.put(indent + l); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) put(line string) error {
	if len(r.lines) >= r.limit {
		return errEnough
	}
	r.lines = append(r.lines, strings.ReplaceAll(strings.TrimRight(line, " "), "\n", " "))
	return nil
}

// inspected is how much of the input and of the output [Transcript.Inspect] shows, in lines.
const inspected = 100

// Inspect returns everything known about the tool call at a row: what it is, its status, and its input and output. It
// is nil if there is no call.
func (t *Transcript) Inspect(row int) []styled.Line {
	c, ok := t.Entry(row).(*session.ToolCall)
	if !ok {
		return nil
	}
	var lines []styled.Line
	add := func(label, text string) {
		for i, part := range strings.Split(text, "\n") {
			if i > 0 {
				label = ""
			}
			l := styled.Join(styled.Text(fmt.Sprintf("%-8s ", label), styled.ToolKind), styled.Text(part, styled.Plain))
			l.Shorten(maxLine, "")
			lines = append(lines, l)
		}
	}
	raw := func(label string, raw json.RawMessage) {
		texts := readable(raw, inspected)
		if len(texts) == 0 {
			return
		}
		cut := len(texts) > inspected
		if cut {
			texts = texts[:inspected]
		}
		lines = append(lines, styled.Line{}, styled.Join(styled.Text(label, styled.ToolKind)))
		for _, text := range texts {
			l := styled.Line{Text: text}
			l.Shorten(maxLine, "")
			l.Shift(2)
			lines = append(lines, l)
		}
		if cut {
			lines = append(lines, styled.Join(styled.Text("  … more: open the whole block", styled.More)))
		}
	}
	title := c.Title
	if title == "" {
		title = c.ID
	}
	for _, l := range styled.Prefixed(title, "", styled.ToolTitle) {
		l.Shorten(maxLine, "")
		lines = append(lines, l)
	}
	kind := string(c.Kind)
	if c.Name != "" && c.Name != kind {
		kind += " (" + styled.OneLine(c.Name) + ")"
	}
	add("kind", kind)
	add("status", t.standing(c))
	add("begun", c.Started().Format(time.TimeOnly))
	add("id", styled.OneLine(c.ID))
	if c.Parent != "" {
		add("part of", styled.OneLine(c.Parent))
	}
	var places []string
	for _, l := range t.places(c.Locations) {
		places = append(places, strings.TrimSpace(l.Text))
	}
	if len(places) > 0 {
		add("places", strings.Join(places, "\n"))
	}
	if len(c.Meta) > 0 {
		var meta []string
		for _, key := range slices.Sorted(maps.Keys(c.Meta)) {
			meta = append(meta, readable(json.RawMessage(`{`+quoted(key)+`:`+string(c.Meta[key])+`}`), inspected)...)
		}
		add("meta", strings.Join(meta[:min(len(meta), inspected)], "\n"))
	}
	raw("Input", c.RawInput)
	raw("Output", c.RawOutput)
	if len(c.RawInput) == 0 && len(c.RawOutput) == 0 {
		lines = append(lines, styled.Line{}, styled.Join(styled.Text("The agent reported neither input nor output.", styled.More)))
	}
	return lines
}

// standing returns the status of a call in words, with its times.
func (t *Transcript) standing(c *session.ToolCall) string {
	words := strings.ReplaceAll(styled.OneLine(string(c.Shown())), "_", " ")
	if took := c.Elapsed(t.config.Now()); took >= 100*time.Millisecond {
		words += ", " + seconds(took)
	}
	if waited := c.Waited(t.config.Now()); waited >= 100*time.Millisecond {
		words += ", plus " + seconds(waited) + " that it waited for you"
	}
	return words
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
