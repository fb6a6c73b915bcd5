package ledger

import (
	"fmt"
	"os"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// A file in whose place the agent puts a symbolic link is gone, or was moved to where that leads, and so are those of a folder:
// they come back in its place, also where the host was killed in the turn.
func TestFilesThatBecomeLinks(t *testing.T) {
	t.Parallel()
	for how, listed := range map[string]string{
		"mkdir d; mv f d/f; ln -s d/f f":  "moved d/f from f\n",
		"cp f h; ln -sf h f":              "moved h from f\n",
		"ln -sf g f":                      "deleted f -1,2+0,0\n",
		"mv s/x y; ln -s ../y s/x":        "moved y from s/x\n",
		"mv s l; ln -s l s":               "moved l/x from s/x\n",
		"mv s l; ln -s l s; echo a1 >s/x": "moved l/x from s/x -1,1+1,1\n",
	} {
		for i := range 24 {
			loaded, named, undo, ends := i&1 != 0, i&2 != 0, i&4 != 0, i/8
			t.Run(fmt.Sprintf("%s, loaded %v, named %v, undo %v, killed %d", how, loaded, named, undo, ends), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.named()
				w.write("f", "f1\nf2\n")
				w.write("g", "g1\n")
				w.write("s/x", "x1\n")
				was := w.tree()
				if loaded {
					w.edit("f")
					w.edit("s/x")
				}
				w.begin()
				w.sync()
				if named {
					w.call("edit", func() { w.sh(how) }, "f", "s/x")
				} else {
					w.sh(how)
				}
				if ends == 0 {
					w.end()
					check.Equal(t, w.changes(), listed, "listed is %q")
				} else {
					w.killed(ends == 1)
				}
				if undo {
					w.must(w.undo(false))
				} else {
					w.decide(review.Reject, "")
				}
				check.Equal(t, w.tree(), was, "there is %s")
				for _, path := range []string{"f", "s", "s/x"} {
					if to, err := os.Readlink(w.path(path)); err == nil {
						t.Errorf("%s is a link to %s", path, to)
					}
				}
			})
		}
	}
}
