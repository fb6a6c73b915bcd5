package reviewui

import (
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestCommentsMoveWithTheText(t *testing.T) {
	f := recorded(t, "/p/a", "1\n2\n3\n", "above\n1\ntwo\n3\n")
	before := "1\ntwo\n3\n"
	c := Comments{list: []*comment{{Remark: review.Remark{First: 2, Last: 3}, path: "/p/a", present: &before}}}
	c.moveWith(f)
	if one := c.list[0]; one.First != 3 || one.Last != 4 {
		t.Errorf("the comment is on lines %d to %d", one.First, one.Last)
	}
}

// What is quoted ends, and ends where it says.
func TestQuotes(t *testing.T) {
	check.Equal(t, fenced("go", []string{"a", "```", "b"}), "````go\na\n```\nb\n````", "quoted is %q")
	got := fenced("", slices.Repeat([]string{"x"}, mostQuoted+2))
	if !strings.HasSuffix(got, "x\n… and 2 lines more\n```") || strings.Count(got, "x") != mostQuoted {
		t.Errorf("quoted is %q", got)
	}
}
