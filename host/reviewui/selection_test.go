package reviewui

import (
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewpage"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// recorded is what a record has of one change of a file.
func recorded(t *testing.T, path, before, after string) review.File {
	t.Helper()
	_, f := record(t, path, before, after)
	return f
}

// record is a record of one change of a file.
func record(t *testing.T, path, before, after string) (*review.Record, review.File) {
	t.Helper()
	r := review.New(1 << 26)
	r.Changed(path, review.Text(before), review.Text(after))
	f, ok := r.File(path)
	if !ok {
		t.Fatal("the change is not in the record")
	}
	return r, f
}

func TestHunksAt(t *testing.T) {
	// Line 2 is another, 5 is gone, two lines are new at the end.
	f := recorded(t, "f", "a\nb\nc\nd\ne\nf\n", "a\nB\nc\nd\nf\ng\nh\n")
	none := []int{-1}
	for _, c := range []struct {
		line, count int
		want        []int
	}{
		{1, 1, none},
		{2, 1, []int{0}},
		{2, 2, []int{0, 1}},
		{2, 9, []int{0, 1, 2}},
		{3, 1, none},
		{4, 1, []int{1}}, // before what is gone
		{5, 1, []int{1}}, // behind it
		{6, 1, []int{2}},
		{7, 1, []int{2}},
		{8, 1, none},
	} {
		check.Slice(t, hunksAt(f, c.line, c.count).Hunks, c.want, "at line %d, %d hunks: %v", c.line, c.count)
	}
	if got := changesIn(f, 3, 3); !slices.Equal(got.Hunks, none) {
		t.Errorf("in a line without a change: %v", got)
	}
	if got := changesIn(f, 1, 2); len(got.Parts) != 1 || len(got.Hunks) != 0 {
		t.Errorf("in lines with one change: %v", got)
	}
	// A line that is gone after another change's last line belongs to that change's line.
	f = recorded(t, "f", "a\nb\nc\n", "A\nc\n")
	check.Slice(t, hunksAt(f, 1, 1).Hunks, []int{0}, "a change of fewer lines: %v")
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
			r, f := record(t, "/p/a", "a\nb\nc\nd\n", "a\nB\nC\nd\n")
			s := selected{Change: f.Changes()[0]}
			for _, row := range c.rows {
				s.add(reviewpage.Row{Side: row[0], At: int(row[1] - '0')})
			}
			plan, err := r.Plan("/p/a", c.do, selecting([]selected{s})(f))
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
	r, seen := record(t, "/p/a", "1\n2\n3\n4\n5\n", "1\ntwo\n3\n4\nfive\n")
	which := selecting([]selected{{Change: seen.Changes()[1], whole: true}})
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

// Of changes that are alike, the nearest to the one that the user saw is meant, and each only once.
func TestSelectionOfChangesThatAreAlike(t *testing.T) {
	before := strings.Repeat("a\nb\nc\nd\n", 30)
	r, seen := record(t, "/p/a", before, strings.ReplaceAll(before, "b", "B"))
	n := len(seen.Changes())
	for i := range n {
		which := selecting([]selected{{Change: seen.Changes()[i], whole: true}})
		check.Slice(t, which(seen).Hunks, []int{i}, "hunk %d is found as %v", i)
	}
	r.Now("/p/a", review.Text("new\n"+seen.Present.Text)) // all of them are a line lower
	now, _ := r.File("/p/a")
	for _, i := range []int{0, 7, n - 1} {
		which := selecting([]selected{{Change: seen.Changes()[i], whole: true}})
		check.Slice(t, which(now).Hunks, []int{i}, "hunk %d is found as %v", i)
	}
	both := selecting([]selected{{Change: seen.Changes()[0], whole: true}, {Change: seen.Changes()[0], whole: true}})
	check.Slice(t, both(now).Hunks, []int{0, 1}, "the same twice is found as %v")
}

// A hunk that is decided by its number is the one that it was, wherever the user's typing has moved it.
func TestHunkNow(t *testing.T) {
	hunk := func(at, removed, added int) review.Hunk {
		return review.Hunk{OldStart: at, OldCount: removed, NewStart: at, NewCount: added, State: review.Pending}
	}
	f := review.File{Hunks: []review.Hunk{hunk(1, 1, 1), hunk(5, 1, 2), hunk(9, 1, 2), hunk(13, 2, 2)}}
	known := func(at, removed, added int) review.Hunk {
		h := hunk(at, removed, added)
		h.State = ""
		return h
	}
	for _, c := range []struct {
		what string
		n    int
		was  review.Hunk
		want int
	}{
		{"as it was", 1, known(5, 1, 2), 1},
		{"known by its number alone", 2, review.Hunk{}, 2},
		{"another number", 0, known(9, 1, 2), 2},
		{"moved by lines above", 2, known(8, 1, 2), 2},
		{"moved, and of another number", 3, known(8, 1, 2), 1},
		{"of other lines", 1, known(5, 1, 3), -1},
		{"of other old lines", 1, known(5, 3, 2), -1},
		{"behind the last", 4, review.Hunk{}, -1},
	} {
		check.Equal(t, hunkNow(f, c.n, c.was), c.want, c.what+" it is %d")
	}
}
