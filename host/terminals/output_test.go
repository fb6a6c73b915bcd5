package terminals

import (
	"strings"
	"testing"
)

func TestOutput(t *testing.T) {
	s := Output("one\r\n10%\r20%\nabc\b\bX\n\x1b[31mred\x1b[0m plain", 10)
	var texts []string
	for _, l := range s.Lines {
		texts = append(texts, l.Text)
	}
	if got := strings.Join(texts, "|"); got != "one|20%|aXc|red plain" || s.Total != 4 || len(s.Lines[3].Marks) != 1 {
		t.Errorf("%s, %d lines, marks %v", got, s.Total, s.Lines[len(s.Lines)-1].Marks)
	}
	s = Output(strings.Repeat("line\n", 1000)+"last", 3)
	if len(s.Lines) != 3 || s.Lines[2].Text != "last" || s.Total != 1001 {
		t.Errorf("%d of %d lines, %v", len(s.Lines), s.Total, s.Lines)
	}
}
