package reviewui

import (
	"fmt"
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/transcript"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// The chat says what is pending, once below the turn in which the agent has changed something, and Lua hears of each
// file that is another.
func TestWhatIsPendingIsSaid(t *testing.T) {
	open, shown := true, true
	var said []string
	r := New(Config{
		Overlaps: &Overlaps{}, Marks: NewMarks(MarksConfig{}),
		TurnOpen: func() bool { return open },
		DueKey:   func() (string, bool) { return "g>", shown },
		Due: func(due transcript.Due, turn bool) {
			said = append(said, fmt.Sprint(due.Files, " +", due.Added, " -", due.Removed, " ", due.Key, " ", turn))
		},
	})
	record := review.New(1 << 20)
	take := func(byAgent bool) {
		changed, gone := record.Take()
		r.Take(NewUpdate(changed, gone), byAgent)
	}
	is := func(when, want string) {
		t.Helper()
		if got := fmt.Sprint(said); got != "["+want+"]" {
			t.Errorf("%s is said %v, wanted %q", when, got, want)
		}
		said = nil
	}

	record.Changed("/a", review.Text("1\n2\n"), review.Text("one\n2\n3\n"))
	record.Changed("/b", review.Text("1\n"), review.Content{})
	take(true)
	is("in the turn", "2 +2 -2 g> false")
	take(true)
	is("of nothing", "")
	open = false
	r.TurnEnded()
	is("at its end", "2 +2 -2 g> true")
	r.TurnEnded()
	is("at the end of one without a change", "2 +2 -2 g> false")

	var paths []string
	for _, f := range r.Ops()[0].Args.(rpc.Changes).Files {
		paths = append(paths, f.File.Path)
	}
	if slices.Sort(paths); !slices.Equal(paths, []string{"/a", "/b"}) || r.Ops() != nil {
		t.Errorf("Lua hears of %q", paths)
	}

	b, _ := record.File("/b")
	gone := b.ID
	record.Now("/b", review.Text("1\n")) // the user has it back
	take(false)
	is("of what is as it was", "1 +2 -1 g> false")
	if f := r.Ops()[0].Args.(rpc.Changes).Files; len(f) != 1 || f[0].At != gone || f[0].File != nil {
		t.Errorf("Lua hears of %+v", f)
	}
	r.Take(NewUpdate(nil, []int{gone}), false) // once more
	is("of what is gone already", "1 +2 -1 g> false")
	r.Ops()
	check.Equal(t, len(r.files.sorted()), 1, "of what is as it was nothing stays: there are %d files")
	record.Changed("/a", review.Text("one\n2\n3\n"), review.Text("one\n2\n3\n4\n"))
	take(true)
	is("of another change of a file after its end", "1 +3 -1 g> true")
	shown = false
	r.TurnEnded()
	is("without a review", "")
}

// Lua keeps each hunk of a file as its numbers and the letter of its state.
func TestFilesForLua(t *testing.T) {
	r := review.New(1 << 20)
	r.Moved("/old", "/new", review.Text("1\n2\n3\n4\n"), review.Text("one\n2\n3\n"))
	p, err := r.Plan("/new", review.Reject, review.Selection{Hunks: []int{0}})
	if err != nil || !r.Commit(p) {
		t.Fatalf("refuse: %v", err)
	}
	f, _ := r.File("/new")
	check.Deep(t, luaFile(f), &rpc.ChangedFile{
		Path: "/new", OldPath: "/old", Status: "moved", State: "pending", Hunks: []int{1, 1, 1, 1, 4, 1, 3, 0}, States: "rp",
	}, "Lua is told %+v")
}
