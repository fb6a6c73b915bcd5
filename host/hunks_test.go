package host

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// recorded is the record of one change of a file.
func recorded(t *testing.T, path, before, after string) review.File {
	t.Helper()
	r := review.New(1 << 26)
	r.Changed(path, review.Text(before), review.Text(after))
	f, ok := r.File(path)
	if !ok {
		t.Fatal("the change is not in the record")
	}
	return f
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
		if got := hunksAt(f, c.line, c.count).Hunks; !slices.Equal(got, c.want) {
			t.Errorf("at line %d, %d hunks: %v, wanted %v", c.line, c.count, got, c.want)
		}
	}
	if got := changesIn(f, 3, 3); !slices.Equal(got.Hunks, none) {
		t.Errorf("in a line without a change: %v", got)
	}
	if got := changesIn(f, 1, 2); len(got.Parts) != 1 || len(got.Hunks) != 0 {
		t.Errorf("in lines with one change: %v", got)
	}
	// A line that is gone after another change's last line belongs to that change's line.
	f = recorded(t, "f", "a\nb\nc\n", "A\nc\n")
	if got := hunksAt(f, 1, 1).Hunks; !slices.Equal(got, []int{0}) {
		t.Errorf("a change of fewer lines: %v", got)
	}
}

// It is the write that was reviewed or was not, whatever the setting is by the time it is made.
func TestOnlyReviewedWritesCountAsKept(t *testing.T) {
	for _, before := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := aloneSession(t)
			defer s.ledger.Close()
			go s.ledger.Run()
			s.host.reviewBefore.Store(before)
			was, is := "a\n", "b\n"
			s.ledger.Took(buffers.Written{Path: "/waited", Before: &was, After: &is, Changed: true}, "fs", true)
			s.ledger.Took(buffers.Written{Path: "/passed", Before: &was, After: &is, Changed: true}, "fs", false)
			s.ledger.Took(buffers.Written{Path: "/past", Before: &was, After: &is, Changed: true}, "disk", false)
			synctest.Wait()
			for path, want := range map[string]review.State{"/waited": review.Kept, "/passed": review.Pending, "/past": review.Pending} {
				s.ledger.File(path, false, func(f review.File) {
					if f.State != want {
						t.Errorf("with review before %v %s is %q, expected %q", before, path, f.State, want)
					}
				})
			}
		})
	}
}
