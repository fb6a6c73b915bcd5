package ledger

import (
	"fmt"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
)

func TestWhatWasAcceptedBeforeIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		before, past, written string // past the client, then by it
		want                  string
	}{
		"a line":           {"a\nb\nc\nd\n", "a\nb\nc\nd\n", "a\nB\nc\nd\n", "[kept]"},
		"beside another":   {"a\nb\nc\nd\n", "a\nb\nc\nD\n", "a\nB\nc\nD\n", "[kept pending]"},
		"gone":             {"a\nb\nc\nd\n", "a\nb\nc\nD\n", "b\nc\nD\n", "[kept pending]"},
		"below":            {"a\nb\nc\nd\n", "A\nb\nc\nd\n", "A\nb\nc\nd\ne\n", "[pending kept]"},
		"all that was so":  {"a\n", "b\n", "c\n", "[kept]"},
		"the last newline": {"a\nb\n", "A\nb\n", "A\nb", "[pending kept]"},
	} {
		r := review.New(1 << 20)
		r.Changed("f", review.Text(c.before), review.Text(c.past))
		r.Changed("f", review.Text(c.past), review.Text(c.written))
		keepWritten(r, "f", review.Text(c.past), review.Text(c.written))
		f, _ := r.File("f")
		var states []review.State
		for _, h := range f.Hunks {
			states = append(states, h.State)
		}
		if got := fmt.Sprint(states); got != c.want {
			t.Errorf("%s: the hunks are %v, wanted %v", name, got, c.want)
		}
	}
	r := review.New(1 << 20)
	r.Changed("new", review.Content{}, review.Text("a\n"))
	keepWritten(r, "new", review.Content{}, review.Text("a\n"))
	if f, _ := r.File("new"); f.State != review.Kept {
		t.Errorf("a new file is %v", f.State)
	}
}
