package permission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// inputDepth is how deep an input's lists and objects are shown line by line; what is deeper is JSON on one line.
const inputDepth = 12

// inputLines shows the input of a call as keys and values below each other, in the agent's order. Fields of the
// outermost object for which said is true are left out.
func inputLines(call *session.ToolCall, said func(key, value string) bool) []styled.Line {
	raw := call.RawInput
	if policy.EmptyInput(raw) {
		return nil
	}
	w := inputWords{said: said, room: floatBytes}
	var lines []styled.Line
	for _, text := range w.lines(raw, 0) {
		lines = append(lines, styled.Line{Text: text, Marks: []styled.Mark{{Col: 0, EndCol: len(text), Group: styled.Output}}})
	}
	if w.left > 0 {
		lines = append(lines, styled.Colored(fmt.Sprintf("… %d bytes more, which are not shown", w.left), styled.Warning)...)
	}
	return lines
}

// inputWords writes JSON as lines, as far as there is room.
type inputWords struct {
	said func(key, value string) bool
	room int // bytes that may still be written
	left int // bytes without room
}

func (w *inputWords) lines(raw json.RawMessage, depth int) []string {
	if w.room <= 0 {
		w.left += len(raw)
		return nil
	}
	switch nested := len(raw) > 2 && depth < inputDepth; {
	case nested && raw[0] == '{':
		return w.fields(raw, depth)
	case nested && raw[0] == '[':
		return w.items(raw, depth)
	}
	text := scalar(raw)
	if len(text) > w.room {
		w.left += len(text) - w.room
		text = styled.Cut(text, w.room)
	}
	w.room -= len(text) + 1
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func (w *inputWords) fields(raw json.RawMessage, depth int) []string {
	var lines []string
	d := json.NewDecoder(bytes.NewReader(raw))
	d.Token()
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			break
		}
		name := fmt.Sprint(key)
		if depth == 0 && w.said(name, scalar(value)) {
			continue
		}
		name = styled.VisibleText(styled.Cut(name, 200)) + ":"
		w.room -= len(name)
		switch below := w.lines(value, depth+1); {
		case len(below) == 1 && (len(value) <= 2 || value[0] != '{' && value[0] != '['):
			lines = append(lines, strings.TrimSuffix(name+" "+below[0], " "))
		case w.room > 0 || len(below) > 0:
			lines = append(append(lines, name), indented(below, "  ")...)
		}
	}
	return lines
}

func (w *inputWords) items(raw json.RawMessage, depth int) []string {
	var lines []string
	d := json.NewDecoder(bytes.NewReader(raw))
	d.Token()
	for d.More() {
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
		w.room -= len("- ")
		if below := indented(w.lines(value, depth+1), "  "); len(below) > 0 {
			below[0] = "- " + strings.TrimPrefix(below[0], "  ")
			lines = append(lines, below...)
		}
	}
	return lines
}

// scalar returns a text without its quotes, anything else unchanged.
func scalar(raw json.RawMessage) string {
	var text string
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// indented indents lines in place.
func indented(lines []string, by string) []string {
	for i := range lines {
		lines[i] = by + lines[i]
	}
	return lines
}
