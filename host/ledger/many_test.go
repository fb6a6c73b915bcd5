package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A command changes more than the texts that are kept in memory: all of it is listed, refused, undone and done again.
func TestMoreThanTheRecordHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.box(func() { w.ledger.records(review.New(64 << 10)) })
	const files = 50
	text := func(i int, does string) string {
		return does + "\n" + strings.Repeat(fmt.Sprint("file ", i, "\n"), 100) // 900 B
	}
	for i := range files {
		w.write(fmt.Sprint("f", i), text(i, "was"))
	}
	first := w.tree()
	w.begin()
	for i := range files {
		w.write(fmt.Sprint("f", i), text(i, "is"))
	}
	w.ledger.Worked()
	w.end()
	last := w.tree()
	check.Equal(t, strings.Count(w.changes(), "modified"), files, "%d files are listed")
	if !slices.ContainsFunc(w.files(), func(f review.File) bool { return f.Present.Opaque }) {
		t.Error("all texts are kept")
	}
	if err := w.undo(false); err != nil || w.tree() != first {
		t.Errorf("undone it is not as before: %v", err)
	}
	check.Equal(t, w.changes(), "", "undone there is %s")
	if err := w.undo(true); err != nil || w.tree() != last {
		t.Errorf("done again it is not as after the turn: %v", err)
	}
	if n, err := w.refuse(nil); err != nil || n != files || w.tree() != first {
		t.Errorf("%d refused, it is not as before: %v", n, err)
	}
}

// A command changes more files than the store has contents of, and makes more than are listed: they are one change of
// their folder, which stays, and what can be put back is.
func TestMoreThanTheStoreHolds(t *testing.T) {
	defer func(unkept, listed int) { maxUnkept, maxListed = unkept, listed }(maxUnkept, maxListed)
	maxUnkept, maxListed = 3, 10
	large := strings.Repeat("x", 1<<20) // the store has none of it
	for _, c := range []struct {
		large, named, fresh int
		listed              int
		rest                string // which stays
		made                string // which can be removed
	}{
		{large: 3, fresh: 3, listed: 10},
		{large: 4, named: 1, fresh: 1, listed: 9},
		{large: 4, fresh: 3, listed: 7, rest: "4 files at big/ pending"},
		{large: 5, named: 1, fresh: 9, listed: 10, rest: "4 files at big/ pending", made: "4 files at new/ pending"},
		{fresh: 9, listed: 10, made: "3 files at new/ pending"},
	} {
		t.Run(fmt.Sprintf("%d large, %d named, %d new", c.large, c.named, c.fresh), func(t *testing.T) {
			w := newWorld(t)
			var named []string
			all := func(does string) {
				for i := range c.large {
					w.write(fmt.Sprint("big/", i), large+does)
				}
				for i := range 4 {
					w.write(fmt.Sprint("small/", i), does)
				}
			}
			all("was")
			for i := range c.named {
				named = append(named, fmt.Sprint("big/", i))
			}
			w.begin()
			w.call(session.KindEdit, func() { all("is") }, named...)
			for i := range c.fresh {
				w.write(fmt.Sprint("new/", i), "is")
			}
			w.ledger.Worked()
			w.end()
			rest := func() (listed int, rest string) {
				var all []string
				for _, f := range w.files() {
					if !review.IsFolder(f.Path) {
						listed++
						continue
					}
					words, _, _ := strings.Cut(f.Present.Text, " at ")
					all = append(all, words+" at "+strings.TrimPrefix(f.Path, w.dir+"/")+" "+string(f.State))
				}
				slices.Sort(all)
				return listed, strings.Join(all, ", ")
			}
			want := c.rest
			if c.made != "" {
				want = strings.TrimPrefix(want+", "+c.made, ", ")
			}
			if listed, got := rest(); listed != c.listed || got != want {
				t.Errorf("%d files are listed, and %q", listed, got)
			}
			if err := w.undo(false); err != nil || w.sees("small/3") != "was" {
				t.Errorf("undone there is %q: %v", w.sees("small/3"), err)
			}
			if _, err := os.Stat(w.path("new")); err == nil {
				t.Error("undone there are files that it made")
			}
			listed, left := rest()
			if c.rest == "" {
				if listed != c.large || left != "" {
					t.Errorf("undone there are %d files, and %q", listed, left)
				}
				return
			}
			if listed != c.named || left != c.rest {
				t.Errorf("undone there are %d files, and %q", listed, left)
			}
			if _, err := w.refuse(nil); !errors.Is(err, errForgotten) {
				t.Errorf("refused: %v", err)
			}
			w.decide(review.Keep, "")
			if _, left := rest(); left != strings.Replace(c.rest, "pending", "kept", 1) {
				t.Errorf("kept there is %q", left)
			}
		})
	}
}

// More files are made than are listed, in two turns: the rest is removed as a whole, but for a file that has changed.
func TestMoreMadeThanListed(t *testing.T) {
	defer func(listed int) { maxListed = listed }(maxListed)
	maxListed = 2
	w := newWorld(t)
	first := w.tree()
	for turn := range 2 {
		w.begin()
		for i := range 5 {
			w.write(fmt.Sprintf("new/in/%d%d", turn, i), "is")
		}
		w.ledger.Worked()
		w.end()
	}
	for _, f := range w.files() {
		if review.IsFolder(f.Path) {
			check.Contains(t, f.Present.Text, "7 files at ", "listed is %q")
		}
	}
	w.write("new/in/04", "the user's")
	if _, err := w.refuse(nil); err == nil || !strings.Contains(err.Error(), "1 of its files have changed since") {
		t.Errorf("refused: %v", err)
	}
	if got := w.tree(); strings.Count(got, "new/") != 1 || w.sees("new/in/04") != "the user's" {
		t.Errorf("there is %q, not %q and the user's file", got, first)
	}
}

// Of files beyond those that are listed only the names are kept: once they are removed they cannot be brought back, which
// is said; and without the names they stay.
func TestMoreMadeThanListedIsNotDoneAgain(t *testing.T) {
	defer func(listed int) { maxListed = listed }(maxListed)
	maxListed = 2
	w := newWorld(t)
	run := func() {
		w.begin()
		for i := range 5 {
			w.write(fmt.Sprint("new/", i), "is")
		}
		w.ledger.Worked()
		w.end()
	}
	run()
	w.must(w.undo(false))
	check.Equal(t, w.tree(), "", "undone there is %s")
	_, notes, err := w.undoOf("", true, false)
	if err != nil || len(notes) != 3 || !strings.HasSuffix(notes[0], "cannot be brought back, as their previous contents were not kept") {
		t.Errorf("done again it says %q, %v", notes, err)
	}
	check.Equal(t, w.tree(), "new/0 644 \"is\"\nnew/1 644 \"is\"", "done again there is %s")
	run()
	must.Do(t, os.RemoveAll(filepath.Join(filepath.Dir(w.dir), "store")))
	n, err := w.refuse(nil)
	if n != 4 || !errors.Is(err, errForgotten) {
		t.Errorf("the refusal of %d says %v", n, err)
	}
	check.Equal(t, w.tree(), "new/4 644 \"is\"", "refused there is %s")
}

// Files are made that are not listed, in folders of their own: refusing them takes those folders away too.
func TestFoldersOfMoreThanListed(t *testing.T) {
	defer func(listed int) { maxListed = listed }(maxListed)
	maxListed = 2
	w := newWorld(t)
	w.begin()
	for i := range 2 {
		w.write(fmt.Sprint("a", i), "is")
	}
	for i := range 4 {
		w.write(fmt.Sprintf("new/%d/in/f", i), "is")
	}
	w.ledger.Worked()
	w.end()
	if _, err := w.refuse(nil); err != nil {
		t.Errorf("refused: %v", err)
	}
	if _, err := os.Lstat(w.path("new")); err == nil {
		t.Error("the folders that it made are left")
	}
}

// A call names many files, and they are looked at again at the end of the turn.
func TestManyNamedFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := 3000
	if testing.Short() {
		files = 300
	}
	var names []string
	for i := range files {
		names = append(names, fmt.Sprintf("d%d/f%d", i%10, i))
		w.write(names[i], fmt.Sprintln("was", i))
	}
	first := w.tree()
	w.begin()
	w.call(session.KindEdit, func() {
		for i, name := range names {
			w.write(name, fmt.Sprintln("is", i))
		}
	}, names...)
	w.end()
	check.Equal(t, strings.Count(w.changes(), "modified"), files, "%d files are listed")
	if err := w.undo(false); err != nil || w.tree() != first {
		t.Errorf("undone it is not as before: %v", err)
	}
}

// Of contents without a text only those that may have to be put back are saved, and few others are known.
func TestOldContentsAreForgotten(t *testing.T) {
	w := newWorld(t)
	binary := func(i int) string { return fmt.Sprint("\x00", i) }
	w.write("f", binary(0))
	const turns = 80
	for i := range turns {
		w.begin()
		w.write("f", binary(i+1))
		w.ledger.Worked()
		w.end()
	}
	w.sync()
	done := make(chan struct{})
	w.ledger.box.Put(func() {
		defer close(done)
		for i := range spareOriginals {
			w.ledger.originals.of[version{Mark: fmt.Sprint(i)}] = checkpoint.Sum{1}
		}
		if n := len(w.ledger.toSave().Originals); n == 0 || n > 60 {
			t.Errorf("%d contents are saved after %d turns", n, turns)
		}
		w.ledger.trim()
		if n := len(w.ledger.originals.of); n > 60 {
			t.Errorf("%d contents are known", n)
		}
	})
	<-done
	for range 3 {
		must.Do(t, w.undo(false))
	}
	check.Equal(t, w.sees("f"), binary(turns-3), "three turns undone there is %q")
}

// Where it is not known which files of a folder an earlier turn has made, none of a later one's are removed as if they were all, and
// who asks what an undo would do is told so.
func TestMoreMadeThanIsKnown(t *testing.T) {
	defer func(listed int) { maxListed = listed }(maxListed)
	maxListed = 2
	w := newWorld(t)
	for turn := range 2 {
		w.begin()
		for i := range 5 {
			w.write(fmt.Sprintf("new/%d%d", turn, i), "is")
		}
		w.ledger.Worked()
		w.end()
		if turn == 0 {
			w.box(func() { clear(w.ledger.originals.of) })
			_, notes, err := w.undoOf("", false, true)
			w.must(err)
			check.Contains(t, strings.Join(notes, "\n"), "cannot be brought back", "the undo would say %q")
		}
	}
	if _, err := w.refuse(nil); !errors.Is(err, errForgotten) {
		t.Errorf("refused: %v", err)
	}
	check.Equal(t, strings.Count(w.tree(), "new/"), 7, "there are %d files")
}

// Where not all files of a project are known, what has become of those that are is, and what is new among them.
func TestChangedAmongFilesThatAreNotAllKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	before := w.tree()
	w.begin()
	w.box(func() { w.ledger.turn.first.Partial.Unlisted = 1 })
	w.write("f", "f1\na1\n")
	w.write("g", "a2\n")
	w.end()
	check.Equal(t, w.changes(), "added g -0,0+1,1\nmodified f -1,0+2,1\n", "the record has %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), before, "refused there is %s")
}
