package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editortools/sentence"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file finds what a tool call is about, for the words of its line: a file, a search, a step of a list, or else its
// title.

const (
	// maxTitle is how many bytes of a title are used: no window shows as many, and measuring a megabyte at each redraw
	// takes a second.
	maxTitle = 16 << 10
	// maxInput is how many bytes of an input are searched for the file that a call is about.
	maxInput = 4 << 10
)

// onFiles are the kinds of calls that are about the files they name.
var onFiles = []session.ToolKind{session.KindRead, session.KindEdit, session.KindDelete}

// plainWords are the words of titles that say no more than the kind does.
var plainWords = []string{"read", "reading", "edit", "editing", "write", "writing", "delete", "deleting", "file", "files", "to", "the"}

// placesOf returns a call's locations, or else the file of its diff or of its input. Several files of a diff are named
// below.
func placesOf(c *session.ToolCall) []session.Location {
	if len(c.Locations) > 0 {
		return c.Locations
	}
	path := ""
	for _, item := range c.Shows() {
		if d, ok := item.(session.Diff); ok {
			if path != "" && d.Path != path {
				return nil
			}
			path = d.Path
		}
	}
	if path == "" && slices.Contains(onFiles, c.Kind) && len(c.RawInput) <= maxInput {
		if named := c.Files().Named; len(named) == 1 {
			path = named[0]
		}
	}
	if path == "" {
		return nil
	}
	return []session.Location{{Path: path}}
}

// object is what a call is about: a file, or what its title says, or both. The end of a title stays longer than the
// rest.
type object struct{ path, title, end string }

// least returns the least number of useful cells: of a path those of its last part.
func (o object) least() int {
	if o.path != "" {
		return min(styled.Cells(o.path), styled.Cells(filepath.Base(o.path))+2, enoughTitle) // with "…/"
	}
	return min(styled.Cells(o.title), leastTitle) + styled.Cells(o.end)
}

// fitted returns the object in a number of cells. The end of the title is dropped first.
func (o object) fitted(room int) string {
	if left := room - styled.Cells(o.end); o.end != "" && left >= leastTitle {
		return fitted(o.title, left) + o.end
	}
	if o.path == "" {
		return fitted(o.title, room)
	}
	path := fitted(o.path, room)
	if left := room - styled.Cells(path) - 2; o.title != "" && left >= leastTitle {
		path += "  " + fitted(o.title, left)
	}
	return path
}

// what names the object of a call: its title without what the label or the path already says, and the line if known.
func (t *Transcript) what(c *session.ToolCall, label string, places []session.Location) object {
	if words, found, ok := sentence.Said(c); ok {
		return object{title: words, end: found}
	}
	if m, ok := c.MCP(); ok {
		return object{title: styled.OneLine(styled.Cut(m.Title(), maxTitle))}
	}
	title := styled.OneLine(strings.ToValidUTF8(c.Title[:min(len(c.Title), maxTitle)], "")) // of what was cut in two
	if title == "" && c.Kind == session.KindExecute {
		title = styled.OneLine(c.Command())
	}
	if title == "" {
		title = c.Name
	}
	if c.Kind == session.KindExecute {
		title = strings.Trim(title, "`")
	}
	for _, verb := range []string{label, string(c.Kind)} {
		if len(title) > len(verb)+1 && strings.EqualFold(title[:len(verb)+1], verb+" ") {
			title = strings.TrimSpace(title[len(verb)+1:])
			break
		}
	}
	title = strings.ReplaceAll(title, t.config.Cwd+string(filepath.Separator), "")
	if c.Kind == session.KindExecute {
		return object{title: title}
	}
	if c.Kind == session.KindSearch && !strings.ContainsAny(title, " /.*\"'`") {
		title = cmp.Or(sought(c.RawInput), title) // the tool's name
	}
	if len(places) == 0 {
		return object{title: title}
	}
	first := places[0]
	rel := t.relative(first.Path)
	if rel == "." && title != "" {
		return object{title: title} // the whole project says nothing
	}
	base := filepath.Base(first.Path)
	if slices.Contains(onFiles, c.Kind) {
		line := first.Line
		after, named := behind(title, base)
		if _, err := fmt.Sscanf(after, ":%d", &line); err != nil {
			line = first.Line
		}
		if line > 0 {
			rel += fmt.Sprintf(":%d", line)
		}
		words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		said := func(word string) bool { return slices.Contains(plainWords, word) || word == strings.ToLower(c.Name) }
		if named || !slices.ContainsFunc(words, func(word string) bool { return !said(word) }) {
			title = ""
		}
		return object{path: rel, title: title}
	}
	if strings.HasSuffix(first.Path, "/"+title) {
		title = rel // a path already, cut off elsewhere
	}
	if !strings.Contains(title, base) {
		switch strings.ToLower(title) {
		case "", label, string(c.Kind), "file", "files":
			title = rel
		default:
			title += "  " + rel
		}
	}
	if first.Line > 0 && !strings.Contains(title, ":") && (strings.HasSuffix(title, rel) || strings.HasSuffix(title, filepath.Base(rel))) {
		title += fmt.Sprintf(":%d", first.Line)
	}
	return object{title: title}
}

// behind returns what follows the name of a file in a title, if it is there.
func behind(title, name string) (after string, found bool) {
	inWord := func(r rune) bool { return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for rest := title; ; {
		before, after, found := strings.Cut(rest, name)
		if !found {
			return "", false
		}
		last, _ := utf8.DecodeLastRuneInString(title[:len(title)-len(rest)+len(before)])
		next, _ := utf8.DecodeRuneInString(after)
		if !inWord(last) && !inWord(next) {
			return after, true
		}
		rest = after
	}
}

// stepsOf returns the steps that a planning tool writes down: some agents report their plan in no other way.
func stepsOf(c *session.ToolCall) []session.PlanEntry {
	if c.Kind != session.KindOther && c.Kind != session.KindThink || !bytes.Contains(c.RawInput, []byte(`"todos"`)) {
		return nil
	}
	var input struct {
		Todos []struct {
			Content  string `json:"content" wire:"lenient"`
			Status   string `json:"status" wire:"lenient"`
			Priority string `json:"priority" wire:"lenient"`
		} `json:"todos" wire:"lenient"`
	}
	if acp.Decode(c.RawInput, &input) != nil {
		return nil
	}
	steps := make([]session.PlanEntry, 0, len(input.Todos))
	for _, step := range input.Todos {
		if step.Content == "" {
			return nil // another kind of list
		}
		steps = append(steps, session.PlanEntry{Content: step.Content, Priority: step.Priority, Status: step.Status})
	}
	return steps
}

// progress returns how far a plan is, and the current step.
func progress(steps []session.PlanEntry) object {
	done, now := 0, ""
	for _, step := range steps {
		switch step.Status {
		case "completed":
			done++
		case "in_progress":
			now = cmp.Or(now, "  "+styled.OneLine(step.Content))
		}
	}
	return object{title: fmt.Sprintf("%d of %d done", done, len(steps)) + now}
}

// sought returns what a search looks for, by its input.
func sought(rawInput json.RawMessage) string {
	var input struct {
		Pattern string `json:"pattern" wire:"lenient"`
		Query   string `json:"query" wire:"lenient"`
	}
	if len(rawInput) == 0 || acp.Decode(rawInput, &input) != nil {
		return ""
	}
	return styled.OneLine(cmp.Or(input.Pattern, input.Query))
}
