package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func waits(why, text string) Waiting {
	return Waiting{Blocks: []session.Content{session.Text{Text: text}}, Why: why}
}

// A prompt that waits stands at the end, below what comes, and becomes what was said where it stands.
func TestWaitingPromptBecomesTheMessage(t *testing.T) {
	w := newWorld()
	tr, b := New(w.conv, w.config()), newBuffer()
	sync := func() {
		tr.Sync()
		b.take(t, tr, 1<<20)
	}
	shows := func(want string, unsent int) {
		t.Helper()
		if got := b.text(); got != want || tr.Unsent() != unsent {
			t.Errorf("shows %q, %d lines unsent; not %q, %d", got, tr.Unsent(), want, unsent)
		}
	}
	tr.Await([]Waiting{waits("waiting", "one\n**two**"), waits("waiting", "three")})
	sync()
	shows("one\n**two**\n\nthree", 4)
	const look = "|one\n    More \"one\", sign More \"▌\", right More \"waiting\"\n|**two**\n    More \"**two**\", sign More \"▌\"\n"
	check.Equal(t, b.lines[0].String()+b.lines[1].String(), look, "the prompt that waits looks so:\n%s")
	w.apply(session.Remark{Severity: "info", Text: "hello"})
	sync()
	shows("  i hello\n\none\n**two**\n\nthree", 5)

	w.apply(session.TurnStart{Prompt: []session.Content{session.Text{Text: "one\n**two**"}, session.ResourceLink{URI: "file:///project/a"}}}, says("It is"))
	three := waits("waiting", "\n  \nthree\n\nfour")
	three.Brief = true
	tr.Await([]Waiting{three})
	sync()
	shows("  i hello\n\none\n**two**\n@ a\n\nIt is\n\nthree … +2 lines", 2)
	if l := b.lines[2].String() + b.lines[3].String(); !strings.Contains(l, "Bold") || strings.Contains(l, "waiting") {
		t.Errorf("what was said looks so:\n%s", l)
	}
	for row, want := range map[int]string{0: "", 3: "one\n**two** false", 6: "", len(b.lines) - 1: "\n  \nthree\n\nfour true", 100: "", -1: ""} {
		got := ""
		if m, waiting := tr.Prompt(row); m != nil {
			got = fmt.Sprint(m.Text(), " ", waiting)
		} else if waiting {
			got = "waits"
		}
		check.Equal(t, got, want, fmt.Sprintf("at row %d is the prompt", row)+" %q")
	}
	w.apply(says(" so"))
	sync()
	shows("  i hello\n\none\n**two**\n@ a\n\nIt is so\n\nthree … +2 lines", 2)
	tr.Await(nil)
	sync()
	shows("  i hello\n\none\n**two**\n@ a\n\nIt is so", 0)
}

// What is on its way looks as it will, so that nothing is to be drawn when it is said.
func TestPromptOnItsWayIsDrawnOnce(t *testing.T) {
	w := newWorld()
	tr, b := New(w.conv, w.config()), newBuffer()
	tr.Await([]Waiting{waits("", "now")})
	tr.Sync()
	b.take(t, tr, 1<<20)
	w.apply(session.TurnStart{Prompt: []session.Content{session.Text{Text: "now"}}})
	tr.Await(nil)
	tr.Sync()
	if edits := b.take(t, tr, 1<<20); len(edits) != 0 || b.text() != "now" || tr.Unsent() != 0 {
		t.Errorf("%q after the edits %+v", b.text(), edits)
	}
}

// The mark is seen beside a line that has room for it, or below.
func TestWaitingIsSaidWhereThereIsRoom(t *testing.T) {
	w := newWorld()
	tr, b := New(w.conv, w.config()), newBuffer()
	tr.SetWidth(20)
	tr.Await([]Waiting{waits("waiting", "a line that is long\nshort")})
	tr.Sync()
	b.take(t, tr, 1<<20)
	check.Contains(t, b.lines[1].String(), `right More "waiting"`, "the second line is\n%s")
	tr.SetWidth(12)
	b.take(t, tr, 1<<20)
	check.Equal(t, b.text(), "a line that is long\nshort\n  · waiting", "narrow: %q")
}
