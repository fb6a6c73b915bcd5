package elicitation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file turns a form into text that the user edits, and back.
//
// A field begins a line with its label; its value follows, and continues in the lines below until the next label. Lines
// that begin with # are notes to the user.

// maxLabel bounds the width of labels, in cells.
const maxLabel = 28

// sheet is a form as text.
type sheet struct {
	form   *session.Form
	labels []string // by field
	width  int      // cells before a field's value
}

func sheetOf(form *session.Form) *sheet {
	s := &sheet{form: form}
	for i, f := range form.Fields {
		label := styled.Cut(styled.OneLine(styled.VisibleText(f.Title)), maxLabel)
		if label == "" || strings.HasPrefix(label, "#") {
			label = fmt.Sprintf("field %d", i+1)
		}
		if f.Required {
			label += "*"
		}
		for n := 2; slices.Contains(s.labels, label); n++ {
			label = fmt.Sprintf("%s (%d)", strings.TrimSuffix(label, fmt.Sprintf(" (%d)", n-1)), n)
		}
		s.labels = append(s.labels, label)
		s.width = max(s.width, styled.Cells(label)+3)
	}
	return s
}

// write returns the sheet with the defaults filled in: its lines, and notes beside some of them.
func (s *sheet) write(heading []string) rpc.Form {
	var form rpc.Form
	for _, line := range heading {
		form.Lines = append(form.Lines, strings.TrimRight("# "+line, " "))
	}
	form.Lines = append(form.Lines, "# :w sends it, q declines, <Space> chooses, <Tab> goes to the next field.", "")
	for i := range s.form.Fields {
		f := &s.form.Fields[i]
		head := s.labels[i] + strings.Repeat(" ", s.width-styled.Cells(s.labels[i]))
		row := len(form.Lines)
		form.Fields = append(form.Fields, row)
		indent := strings.Repeat(" ", s.width)
		for j, value := range s.values(f) {
			if j > 0 {
				head = indent
			}
			form.Lines = append(form.Lines, head+value) // with the blanks after a label, where the user continues
		}
	}
	_, rows, _ := s.read(form.Lines)
	form.Notes = s.notes(rows)
	return form
}

// notes returns the notes beside the fields and their choices, which are at these rows.
func (s *sheet) notes(rows map[string]int) []rpc.FormNote {
	list := []rpc.FormNote{}
	for i := range s.form.Fields {
		f := &s.form.Fields[i]
		row, there := rows[f.Name]
		if !there {
			continue
		}
		note := aside(f)
		for j, c := range f.Choices {
			text := styled.OneLine(styled.VisibleText(styled.Cut(c.Description, 200)))
			if j == 0 && note != "" {
				text = strings.TrimSpace(text + "  (" + note + ")")
			}
			if text != "" {
				list = append(list, rpc.FormNote{Row: row + j, Text: text})
			}
		}
		if len(f.Choices) == 0 && note != "" {
			list = append(list, rpc.FormNote{Row: row, Text: note})
		}
	}
	return list
}

// values returns the lines of a field's initial value.
func (s *sheet) values(f *session.FormField) []string {
	switch f.Type {
	case session.FieldChoice, session.FieldChoices:
		lines := make([]string, len(f.Choices))
		for i, c := range f.Choices {
			lines[i] = box(f.Type, slices.Contains(f.Default, c.Value)) + " " + choiceText(c)
		}
		return lines
	case session.FieldBoolean:
		return []string{box(f.Type, slices.Contains(f.Default, "true"))}
	}
	if len(f.Default) == 0 {
		return []string{""}
	}
	return strings.Split(f.Default[0], "\n")
}

func choiceText(c session.Choice) string {
	return styled.OneLine(styled.VisibleText(cmp.Or(c.Name, c.Value)))
}

// box returns the mark before a choice.
func box(t session.FieldType, chosen bool) string {
	sign := " "
	if chosen {
		sign = "x"
	}
	if t == session.FieldChoice {
		return "(" + sign + ")"
	}
	return "[" + sign + "]"
}

// aside says what a field takes.
func aside(f *session.FormField) string {
	var parts []string
	if f.Description != "" {
		parts = append(parts, styled.OneLine(styled.VisibleText(styled.Cut(f.Description, 200))))
	}
	from, to := "", ""
	if f.Min != nil {
		from = strconv.FormatFloat(*f.Min, 'f', -1, 64)
	}
	if f.Max != nil {
		to = strconv.FormatFloat(*f.Max, 'f', -1, 64)
	}
	limits := ""
	switch {
	case from != "" && to != "":
		limits = from + " to " + to
	case from != "":
		limits = "at least " + from
	case to != "":
		limits = "at most " + to
	}
	switch f.Type {
	case session.FieldText:
		if limits != "" {
			limits += " characters"
		}
		if f.Format != "" {
			parts = append(parts, formatWords(f.Format))
		}
	case session.FieldInteger, session.FieldNumber:
		parts = append(parts, typeWords(f.Type))
	}
	if limits != "" {
		parts = append(parts, limits)
	}
	return strings.Join(parts, ", ")
}

// read returns the answer in a sheet that the user has edited, the row of each field by its name, and what is wrong
// with it.
func (s *sheet) read(lines []string) (content map[string]any, rows map[string]int, faults []rpc.FormNote) {
	taken := make([][]string, len(s.labels)) // by field
	rows = map[string]int{}
	at := -1
	for row, line := range lines {
		if i := s.labelled(line); i >= 0 {
			at = i
			rows[s.form.Fields[i].Name] = row
			line = strings.TrimPrefix(line, s.labels[i])
		} else if strings.HasPrefix(line, "#") {
			continue
		}
		if at < 0 {
			if strings.TrimSpace(line) != "" {
				faults = append(faults, rpc.FormNote{Row: row, Text: "belongs to no field"})
			}
			continue
		}
		taken[at] = append(taken[at], s.unindent(line, len(taken[at]) == 0))
	}
	content = map[string]any{}
	for i := range s.form.Fields {
		f := &s.form.Fields[i]
		value, why := valueOf(f, taken[i])
		switch {
		case why != "":
			faults = append(faults, rpc.FormNote{Row: rows[f.Name], Text: why})
		case value != nil:
			content[f.Name] = value
		}
	}
	return content, rows, faults
}

// labelled returns the field whose label begins a line, -1 for none.
func (s *sheet) labelled(line string) int {
	best := -1
	for i, label := range s.labels {
		rest, ok := strings.CutPrefix(line, label)
		if ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t') && (best < 0 || len(label) > len(s.labels[best])) {
			best = i
		}
	}
	return best
}

// unindent returns a line of a field without the blanks before its value.
func (s *sheet) unindent(line string, first bool) string {
	if first {
		return strings.TrimLeft(line, " \t")
	}
	for range s.width {
		rest, ok := strings.CutPrefix(line, " ")
		if !ok {
			break
		}
		line = rest
	}
	return line
}

// valueOf returns the value of a field, nil for none; why says what is wrong with it.
func valueOf(f *session.FormField, lines []string) (value any, why string) {
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	switch f.Type {
	case session.FieldText:
		if text == "" {
			return nil, ""
		}
		return strings.TrimRight(strings.Join(lines, "\n"), " \t\n"), ""
	case session.FieldInteger:
		if text == "" {
			return nil, ""
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, "must be " + typeWords(f.Type)
		}
		return n, ""
	case session.FieldNumber:
		if text == "" {
			return nil, ""
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n-n != 0 { // NaN or infinite
			return nil, "must be " + typeWords(f.Type)
		}
		return n, ""
	case session.FieldBoolean:
		switch chosen, rest := unboxed(text); {
		case text == "":
			return nil, ""
		case rest == "":
			return chosen, ""
		case slices.Contains([]string{"yes", "true", "on"}, strings.ToLower(text)):
			return true, ""
		case slices.Contains([]string{"no", "false", "off"}, strings.ToLower(text)):
			return false, ""
		}
		return nil, "must be " + typeWords(f.Type)
	}
	chosen, why := chosenOf(f, lines)
	switch {
	case why != "":
		return nil, why
	case f.Type == session.FieldChoice && len(chosen) > 1:
		return nil, "takes one of its choices only"
	case len(chosen) == 0 && (f.Type == session.FieldChoice || !f.Required && f.Default == nil):
		return nil, ""
	case f.Type == session.FieldChoice:
		return chosen[0], ""
	}
	return chosen, ""
}

// chosenOf returns the values that are chosen, or written out, in the lines of a field.
func chosenOf(f *session.FormField, lines []string) (chosen []string, why string) {
	chosen = []string{}
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		is, rest := true, line
		if strings.HasPrefix(line, "(") || strings.HasPrefix(line, "[") {
			is, rest = unboxed(line)
		}
		i := slices.IndexFunc(f.Choices, func(c session.Choice) bool { return rest == choiceText(c) || rest == c.Value })
		switch {
		case i < 0 && is:
			return nil, fmt.Sprintf("has no choice %q", styled.Cut(rest, 60))
		case is && !slices.Contains(chosen, f.Choices[i].Value):
			chosen = append(chosen, f.Choices[i].Value)
		}
	}
	return chosen, ""
}

// unboxed reads a box and what follows it. A line without a box is chosen.
func unboxed(text string) (chosen bool, rest string) {
	for _, pair := range []string{"()", "[]"} {
		inside, rest, ok := strings.Cut(strings.TrimPrefix(text, pair[:1]), pair[1:])
		if ok && strings.HasPrefix(text, pair[:1]) && len(strings.TrimSpace(inside)) <= len("●") {
			return strings.TrimSpace(inside) != "", strings.TrimSpace(rest)
		}
	}
	return true, text
}
