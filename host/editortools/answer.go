package editortools

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file turns what a tool has found into text. The first line says how many, and ends with a colon if a list
// follows: the chat shows it next to the call.

const (
	maxListed = 100       // of places and diagnostics
	maxSymbol = 400       // of an outline
	maxLines  = 2000      // of a file
	maxBytes  = 128 << 10 // of any answer
	maxLine   = 200       // bytes of a line that is listed
)

// counted returns a list below its count; the excess is only counted.
func counted(n int, one, many string, lines []string) string {
	head := fmt.Sprintf("%d %s", n, many)
	if n == 1 {
		head = "1 " + one
	}
	if n == 0 {
		return "no " + many
	}
	lines = slices.Clip(lines[:min(len(lines), maxListed)])
	if more := n - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("+%d more", more))
	}
	return head + ":\n" + strings.Join(lines, "\n")
}

// partly adds that an answer may be incomplete.
func partly(text string, partial bool) string {
	if partial {
		return text + "\n(a language server was too slow or failed: there may be more)"
	}
	return text
}

// listed decides by paths what may be listed in an answer, or counted; private files may not.
func listed[T any](c *call, all []T, path func(T) string, counted ...string) (may func(path string) bool) {
	paths := make([]string, len(all))
	for i, one := range all {
		paths[i] = path(one)
	}
	private := c.Private(paths, counted)
	return func(path string) bool { return !private[path] }
}

func pathOf(p rpc.EditorPlace) string { return p.Path }

func (c *call) files(files []rpc.EditorFile) string {
	var lines []string
	may := listed(c, files, func(f rpc.EditorFile) string { return f.Path })
	for _, f := range files {
		if !may(f.Path) {
			continue
		}
		line := c.Short(f.Path)
		var is []string
		if f.Current {
			is = append(is, "current")
		} else if f.Visible {
			is = append(is, "visible")
		}
		if f.Modified {
			is = append(is, "modified")
		}
		if f.Line > 0 {
			is = append(is, fmt.Sprintf("cursor in line %d", f.Line))
		}
		if len(is) > 0 {
			line += " (" + strings.Join(is, ", ") + ")"
		}
		lines = append(lines, line)
	}
	return counted(len(lines), "file is open", "files are open", lines)
}

func (c *call) places(m rpc.EditorToolDone) string {
	var lines []string
	found, n := c.located(m.Located, m.Counted)
	may := listed(c, m.Places, pathOf)
	for _, p := range m.Places {
		if may(p.Path) {
			found = append(found, p)
			n++
		}
	}
	var short string // of the file of the current place
	var inside bool
	for i, p := range found {
		if i == 0 || p.Path != found[i-1].Path {
			short, inside = c.Short(p.Path), c.inside(p.Path)
		}
		line := short + ":" + strconv.Itoa(p.Line)
		if p.Column > 0 {
			line += ":" + strconv.Itoa(p.Column)
		}
		about := strings.TrimSpace(p.Kind + " " + p.Name)
		if p.Container != "" {
			about += " in " + p.Container
		}
		if text := strings.TrimSpace(p.Text); text != "" && inside {
			if about != "" {
				about += ": "
			}
			about += styled.Cut(text, maxLine)
		}
		if about != "" {
			line += ": " + about
		}
		lines = append(lines, line)
	}
	return partly(counted(n, "place", "places", lines), m.Partial)
}

// outline lists the symbols of one file, those within others indented.
func (c *call) outline(m rpc.EditorToolDone) string {
	if len(m.Places) > 0 && !listed(c, m.Places[:1], pathOf)(m.Places[0].Path) {
		m.Places = nil
	}
	var lines []string
	for _, p := range m.Places {
		line := strings.Repeat("  ", min(p.Depth, 10)) + strings.TrimSpace(p.Kind+" "+p.Name)
		if p.EndLine > p.Line {
			line += fmt.Sprintf("  %d-%d", p.Line, p.EndLine)
		} else {
			line += fmt.Sprintf("  %d", p.Line)
		}
		lines = append(lines, line)
	}
	if more := len(lines) - maxSymbol; more > 0 {
		lines = append(lines[:maxSymbol:maxSymbol], fmt.Sprintf("+%d more", more))
	}
	head := styled.Many(len(m.Places), "symbol") + ":"
	if len(m.Places) == 0 {
		head = "no symbols"
	}
	return partly(strings.TrimSpace(head+"\n"+strings.Join(lines, "\n")), m.Partial)
}

func (c *call) diagnoses(m rpc.EditorToolDone) string {
	var lines []string
	may, n := listed(c, m.Diagnostics, func(d rpc.EditorDiagnostic) string { return d.Path }, m.Counted.Paths...), 0
	for _, d := range m.Diagnostics {
		if !may(d.Path) {
			continue
		}
		line := fmt.Sprintf("%s:%d:%d: %s: %s", c.Short(d.Path), d.Line, d.Column, d.Severity, styled.Cut(styled.OneLine(d.Message), 1000))
		if from := strings.TrimSpace(d.Source + " " + d.Code); from != "" {
			line += " [" + from + "]"
		}
		lines = append(lines, line)
	}
	for i, path := range m.Counted.Paths[:min(len(m.Counted.Paths), len(m.Counted.Counts))] {
		if may(path) {
			n += m.Counted.Counts[i]
		}
	}
	return partly(counted(len(lines)+n, "diagnostic", "diagnostics", lines), m.Partial)
}

func actions(_ *call, m rpc.EditorToolDone) string {
	var lines []string
	for _, a := range m.Actions {
		line := a.ID + ": " + styled.OneLine(a.Title)
		if a.Kind != "" {
			line += " (" + a.Kind + ")"
		}
		lines = append(lines, line)
	}
	return partly(counted(len(lines), "code action", "code actions", lines), m.Partial)
}

// whole returns an answer that is a text.
func whole(_ *call, m rpc.EditorToolDone) string {
	text := strings.TrimSpace(m.Text)
	if text == "" {
		text = "nothing is known about it"
	}
	return partly(beginning(text), m.Partial)
}

// lines returns the part of a text that a call wants, with its place.
func (c *call) lines(text string) string {
	all := strings.SplitAfter(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	first, last := max(c.args.First, 1), len(all)
	if c.args.Last > 0 {
		last = min(last, c.args.Last)
	}
	if first > last {
		return fmt.Sprintf("%s has %s", c.Short(c.args.Path), styled.Many(len(all), "line"))
	}
	size, end := 0, first-1
	for end < last && end-first+1 < maxLines && size < maxBytes {
		size += len(all[end])
		end++
	}
	head := fmt.Sprintf("lines %d to %d of %d:\n", first, end, len(all))
	body := beginning(strings.Join(all[first-1:end], ""))
	if end < last {
		body = strings.TrimSuffix(body, "\n") + fmt.Sprintf("\n+%d more lines", last-end)
	}
	return head + body
}

// beginning returns what of a text an answer takes.
func beginning(text string) string {
	if cut := styled.Cut(text, maxBytes); cut != text {
		return fmt.Sprintf("%s\n+%d more bytes", cut, len(text)-len(cut))
	}
	return text
}

// tail returns the end of a command's output.
func tail(output string) string {
	if more := len(output) - maxBytes; more > 0 {
		return fmt.Sprintf("+%d bytes before\n%s", more, output[more:])
	}
	return output
}
