package ledger

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// folders are those in the project.
func (w *world) folders() string {
	w.t.Helper()
	var names []string
	w.must(filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if name, _ := filepath.Rel(w.dir, path); err == nil && d.IsDir() && name != "." {
			names = append(names, name)
		}
		return err
	}))
	return strings.Join(names, " ")
}

// The folders that the agent has made or moved go with the last of its files in them; those of the user stay, and so
// does one in which there is anything else.
func TestFoldersGoWithTheirFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if !buffers.IdentityOf(w.dir).MadeSince(time.Now().Add(-time.Minute)) {
		t.Skip("the file system does not know when a folder was made")
	}
	takes := map[string]func(w *world){
		"refused": func(w *world) { w.end(); w.decide(review.Reject, "") },
		"refused while it runs": func(w *world) {
			w.call("edit", func() {}, "new/a/b/f", "old/f", "old/new/f", "empty/f")
			w.call("move", func() {}, "old/sub/g", "moved/sub/g")
			w.decide(review.Reject, "")
			w.end()
			if w.pending() {
				w.decide(review.Reject, "")
			}
		},
		"undone":             func(w *world) { w.end(); w.must(w.undo(false)) },
		"undone and refused": func(w *world) { w.end(); w.must(w.undo(false)); w.must(w.undo(true)); w.decide(review.Reject, "") },
	}
	for name, c := range map[string]struct {
		do   func(w *world)
		left string
	}{
		"folders made":          {func(w *world) { w.write("new/a/b/f", "a1\n") }, "empty old old/sub"},
		"in one of the user's":  {func(w *world) { w.write("old/f", "a1\n") }, "empty old old/sub"},
		"in an empty one":       {func(w *world) { w.write("empty/f", "a1\n") }, "empty old old/sub"},
		"below one of those":    {func(w *world) { w.write("old/new/f", "a1\n") }, "empty old old/sub"},
		"something else inside": {func(w *world) { w.write("new/a/b/f", "a1\n"); w.must(os.Mkdir(w.path("new/mine"), 0o755)) }, "empty new new/mine old old/sub"},
		"a folder moved":        {func(w *world) { w.move("old", "moved") }, "empty old old/sub"},
	} {
		for how, take := range takes {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("old/sub/g", "g1\n")
				w.must(os.Mkdir(w.path("empty"), 0o755))
				// The user's folder is older than the turn, also by a clock that goes in steps.
				for buffers.IdentityOf(w.path("empty")).MadeSince(time.Now().Add(-Coarse)) {
					runtime.Gosched()
				}
				w.begin()
				c.do(w)
				take(w)
				check.Equal(t, w.folders(), c.left, "there are %q")
			})
		}
	}
	// Outside of a turn there is no folder to go.
	w.clientWrites("new/f", "", "a1\n")
	w.decide(review.Reject, "")
	if got := w.folders(); got != "" && got != "new" {
		t.Errorf("there are %q", got)
	}
}

// The deepest folder that paths share, whose name need not only begin like another one's.
func TestTheFolderOfPaths(t *testing.T) {
	t.Parallel()
	for paths, want := range map[string]string{
		"": "", "/a/b/f": "/a/b", "/a/b/f /a/b/g": "/a/b", "/a/b/f /a/bc/f": "/a", "/a/b/f /a/g": "/a", "/a/g /a/b/f": "/a", "/a/f /b/f": "/",
	} {
		if want != "" {
			want = review.Folder(want)
		}
		check.Equal(t, folderOf(strings.Fields(paths)), want, "of %q it is %q", paths)
	}
}

// A folder that the agent has made goes with its last file also where that is refused while the session's first turn runs, or a
// turn later.
func TestAFolderGoesWhenItsFileIsRefused(t *testing.T) {
	t.Parallel()
	for _, later := range []bool{false, true} {
		w := newWorld(t)
		w.begin()
		w.sync()
		w.call("edit", func() {
			w.must(os.Mkdir(w.path("d"), 0o755))
			w.write("d/f", "a1\n")
		}, "d/f")
		for buffers.IdentityOf(w.path("d")).MadeSince(time.Now().Add(-Coarse)) { // the clock goes on
			runtime.Gosched()
		}
		if later {
			w.end()
			w.begin()
		}
		w.decide(review.Reject, "")
		if _, err := os.Lstat(w.path("d")); err == nil {
			t.Errorf("a turn later %v: the folder stays", later)
		}
		w.end()
	}
}
