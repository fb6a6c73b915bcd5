package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestParts(t *testing.T) {
	move := FileDiff{Path: "b", OldPath: "a", Operation: session.OperationMove}
	for _, c := range []struct {
		what string
		f    FileDiff
		want string
	}{
		{"two runs", Whole("f", session.OperationModify, "a\nb\nc\nd\n", "A\nb\nnew\nc\nd\n"), "1-1 1+1, 3-0 3+1"},
		{"lines that go", Whole("f", session.OperationModify, "a\nb\nc\n", "a\n"), "2-2 2+0"},
		{"no lines", move, "0-0 0+0"},
		{"nothing", Whole("f", session.OperationModify, "a\n", "a\n"), ""},
	} {
		var got []string
		for _, r := range c.f.Parts() {
			got = append(got, fmt.Sprintf("%d-%d %d+%d", r.OldAt, len(r.Old), r.NewAt, len(r.New)))
		}
		check.Equal(t, strings.Join(got, ", "), c.want, "%s: %s", c.what)
	}
}

func TestWholeHunkHasAllLines(t *testing.T) {
	var old []string
	for i := range 30 {
		old = append(old, fmt.Sprint(i))
	}
	text := strings.Join(old, "\n") + "\n"
	f := Whole("f", session.OperationModify, text, strings.NewReplacer("3\n4\n", "x\n", "20\n", "20\nnew\n").Replace(text))
	sides := [2]string{}
	was, is := 0, 0
	for _, l := range f.WholeHunk().Lines {
		if l.Kind != Insert {
			was++
			check.Equal(t, l.Old, was, "a line before is %d")
		}
		if l.Kind != Delete {
			is++
			check.Equal(t, l.New, is, "a line after is %d")
		}
		if l.Kind != Insert {
			sides[0] += l.Text + "\n"
		}
		if l.Kind != Delete {
			sides[1] += l.Text + "\n"
		}
	}
	check.Equal(t, sides, [2]string{f.Old, f.New}, "it has %q")
}
