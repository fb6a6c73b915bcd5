package terminals

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestOutput(t *testing.T) {
	s := Output("one\r\n10%\r20%\nabc\b\bX\na \x1b[31mred\x1b[38;5;99m violet\x1b[0m plain", 10)
	var texts []string
	for _, l := range s.Lines {
		texts = append(texts, l.Text)
	}
	if got := strings.Join(texts, "|"); got != "one|20%|aXc|a red violet plain" || s.Total != 4 {
		t.Errorf("%s, %d lines", got, s.Total)
	}
	all := OutputLines("one\r\n10%\r20%\nabc\b\bX\na \x1b[31mred\x1b[38;5;99m violet\x1b[0m plain")
	for _, want := range s.Lines {
		got, ok := all()
		check.Deep(t, got, want, "of all lines one is %+v")
		check.Equal(t, ok, true, "that there is another line is %v")
	}
	_, ok := all()
	check.Equal(t, ok, false, "that there is one after the last is %v")
	check.Deep(t, s.Lines[3].Marks, []styled.Mark{{Col: 2, EndCol: 5, Group: styled.Ansi0 + 1}}, "the colours shown are %+v")
	for _, colour := range []string{"2;1;2;3", "5;16"} {
		s = Output("\x1b[38;"+colour+"mof no name\x1b[m", 10)
		check.Equal(t, len(s.Lines[0].Marks), 0, colour+", which has no name, is shown by %d marks")
	}
	s = Output("\x1b[38;5;15mwhite", 10)
	white := []styled.Mark{{Col: 0, EndCol: 5, Group: styled.Ansi0 + 15}}
	check.Deep(t, s.Lines[0].Marks, white, "the last named colour is shown as %+v")
	s = Output(strings.Repeat("line\n", 1000)+"last", 3)
	if len(s.Lines) != 3 || s.Lines[2].Text != "last" || s.Total != 1001 {
		t.Errorf("%d of %d lines, %v", len(s.Lines), s.Total, s.Lines)
	}
}
