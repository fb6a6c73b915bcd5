package host

import (
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewpage"
)

func agentChanged(t *testing.T, was, is string) (*review.Record, review.File) {
	t.Helper()
	r := review.New(1 << 20)
	r.Changed("/p/a", review.Text(was), review.Text(is))
	f, ok := r.File("/p/a")
	if !ok {
		t.Fatal("nothing has changed")
	}
	return r, f
}

// The lines that are selected on the page are those that are kept or refused, and no others.
func TestSelectedLines(t *testing.T) {
	for _, c := range []struct {
		name     string
		rows     []string // side and index
		do       review.Decision
		accepted string
		present  string
	}{
		{"new lines alone are kept", []string{"+0"}, review.Keep, "a\nb\nc\nB\nd\n", "a\nB\nC\nd\n"},
		{"old lines alone are kept", []string{"-1"}, review.Keep, "a\nb\nd\n", "a\nB\nC\nd\n"},
		{"new lines alone are refused", []string{"+1"}, review.Reject, "a\nb\nc\nd\n", "a\nB\nd\n"},
		{"an old line comes back", []string{"-0"}, review.Reject, "a\nb\nc\nd\n", "a\nb\nB\nC\nd\n"},
		{"some of both", []string{"-1", "+0"}, review.Keep, "a\nb\nB\nd\n", "a\nB\nC\nd\n"},
		{"all", []string{"-0", "-1", "+0", "+1"}, review.Reject, "a\nb\nc\nd\n", "a\nb\nc\nd\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, f := agentChanged(t, "a\nb\nc\nd\n", "a\nB\nC\nd\n")
			p := picked{Change: f.Changes()[0]}
			for _, row := range c.rows {
				p.take(reviewpage.Row{Side: row[0], At: int(row[1] - '0')})
			}
			p.whole = p.oldN == len(p.Old) && p.newN == len(p.New)
			plan, err := r.Plan("/p/a", c.do, selecting(f, []picked{p})(f))
			if err != nil || !r.Commit(plan) {
				t.Fatalf("decide: %v", err)
			}
			f, _ = r.File("/p/a")
			if f.Accepted.Text != c.accepted || f.Present.Text != c.present {
				t.Errorf("accepted is %q, present %q", f.Accepted.Text, f.Present.Text)
			}
		})
	}
}

// What the user saw is found again where the file has changed since, or not at all.
func TestSelectionFollows(t *testing.T) {
	r, seen := agentChanged(t, "1\n2\n3\n4\n5\n", "1\ntwo\n3\n4\nfive\n")
	which := selecting(seen, []picked{{Change: seen.Changes()[1], whole: true}})
	r.Now("/p/a", review.Text("new\n1\ntwo\n3\n4\nfive\n"))
	now, _ := r.File("/p/a")
	if got := which(now); !slices.Equal(got.Hunks, []int{1}) {
		t.Errorf("selected is %v", got)
	}
	plan, err := r.Plan("/p/a", review.Keep, review.Selection{Hunks: []int{1}})
	if err != nil || !r.Commit(plan) {
		t.Fatalf("keep: %v", err)
	}
	if now, _ = r.File("/p/a"); !slices.Equal(which(now).Hunks, []int{-1}) {
		t.Errorf("of what was decided meanwhile %v is selected", which(now))
	}
	r.Changed("/p/a", now.Present, review.Text("new\n1\ntwo\n3\n4\nFIVE\n"))
	now, _ = r.File("/p/a")
	if got := which(now); !slices.Equal(got.Hunks, []int{-1}) {
		t.Errorf("of what is not there any more %v is selected", got)
	}
}

func TestCommentsMoveWithTheText(t *testing.T) {
	edits := linediff.Compare(linediff.Lines("1\n2\n3\n4\n5\n"), linediff.Lines("0\n1\n3\nfour\nfive\nfivehalf\n"))
	var got []int
	for line := 1; line <= 5; line++ {
		got = append(got, linediff.LineAfter(edits, line))
	}
	if want := []int{2, 3, 3, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("the lines have become %v, not %v", got, want)
	}
	_, f := agentChanged(t, "1\n2\n3\n", "1\ntwo\n3\n")
	c := comments{list: []*comment{{Remark: review.Remark{First: 2, Last: 3}, path: "/p/a", present: &f.Present.Text}}}
	f.Present.Text = "above\n1\ntwo\n3\n"
	before := "1\ntwo\n3\n"
	c.list[0].present = &before
	c.moved(f)
	if one := c.list[0]; one.First != 3 || one.Last != 4 {
		t.Errorf("the comment is on lines %d to %d", one.First, one.Last)
	}
}

// What is quoted ends, and ends where it says.
func TestQuotes(t *testing.T) {
	if got := fenced("go", []string{"a", "```", "b"}); got != "````go\na\n```\nb\n````" {
		t.Errorf("quoted is %q", got)
	}
	got := fenced("", slices.Repeat([]string{"x"}, mostQuoted+2))
	if !strings.HasSuffix(got, "x\n… and 2 lines more\n```") || strings.Count(got, "x") != mostQuoted {
		t.Errorf("quoted is %q", got)
	}
}

func TestOverlappingSessions(t *testing.T) {
	h := &Host{}
	one, two := &Session{id: 1, host: h, spec: AgentSpec{Title: "One"}}, &Session{id: 2, host: h, spec: AgentSpec{Title: "Two"}}
	for _, s := range []*Session{one, two} {
		s.base.Box = mailbox.New()
		s.review = newReviewTab(s)
	}
	o := &h.overlaps
	o.set(one, 1, "/p/a", true)
	if got := o.others(one, "/p/a"); got != nil {
		t.Errorf("alone, the others are %q", got)
	}
	o.set(two, 7, "/p/a", true)
	o.set(two, 7, "/p/a", true)
	if got := o.others(one, "/p/a"); !slices.Equal(got, []string{"Two (session 2)"}) {
		t.Errorf("the others are %q", got)
	}
	o.set(two, 7, "/p/b", true) // moved
	if got := o.others(one, "/p/a"); got != nil {
		t.Errorf("after a move the others are %q", got)
	}
	o.set(one, 2, "/p/b", true)
	o.set(two, 7, "/p/b", false)
	if got := o.others(one, "/p/b"); got != nil {
		t.Errorf("after a decision the others are %q", got)
	}
	o.forget(one)
	if len(o.files) != 0 || len(o.paths[one]) != 0 {
		t.Errorf("a session that has ended stays: %v", o.files)
	}
}
