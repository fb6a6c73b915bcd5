package review

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// What is saved of files is made again only when their group has another version: it has whenever that would be
// something else.
func TestGroupsTellWhatHasChanged(t *testing.T) {
	for i := range *rounds / 10 {
		rnd := rand.New(rand.NewPCG(*seed, uint64(i)))
		r := New(150) // some of them are shed
		type group struct {
			version int
			data    []byte
		}
		was := map[int]group{}
		for step := range 150 {
			path, other := fmt.Sprint("f", rnd.IntN(60)), fmt.Sprint("f", rnd.IntN(60))
			content := func() Content {
				return []Content{{}, Text(fmt.Sprint("a\n", rnd.IntN(5), "\nb\n")), Opaque(fmt.Sprint(rnd.IntN(3)))}[rnd.IntN(3)]
			}
			now := content()
			if f, ok := r.File(path); ok {
				now = f.Present
			}
			what := rnd.IntN(10)
			switch what {
			case 0, 1, 2:
				r.Changed(path, now, content())
			case 3:
				if _, there := r.Present(other); now.Exists && path != other && !there {
					r.Moved(path, other, now, now)
				}
			case 4:
				r.Now(path, content())
			case 5:
				r.Removed(path)
			case 6:
				r.Renamed(path, other)
			case 7:
				r.Remade(path, Text("again\n"))
			case 8:
				if f, ok := r.File(path); ok {
					r.Retracted(path, f.Present, f.Baseline)
				}
			default:
				if p, err := r.Plan(path, []Decision{Keep, Reject}[rnd.IntN(2)], Selection{}); err == nil {
					r.Commit(p)
				}
			}
			is, last := map[int]group{}, 0
			for n, g := range r.Groups() {
				if n > 0 && g.Number <= last {
					t.Fatalf("group %d comes behind %d", g.Number, last)
				}
				last = g.Number
				data, err := g.Save(quoted)
				must.Do(t, err)
				old, known := was[g.Number]
				if known && old.version == g.Version && !bytes.Equal(old.data, data) {
					t.Fatalf("history %d, step %d (%d of %s): group %d has changed, but not its version", i, step, what, path, g.Number)
				}
				is[g.Number] = group{g.Version, data}
			}
			was = is
			if size := textBytes(r); size != r.bytes {
				t.Fatalf("history %d, step %d (%d of %s): the texts have %d bytes, not %d", i, step, what, path, size, r.bytes)
			}
		}
		if changes, files := r.Waiting(); files != len(slices.DeleteFunc(r.Files(), func(f File) bool { return f.State != Pending })) || changes < files {
			t.Errorf("%d changes of %d files are said to wait", changes, files)
		}
	}
}

// Where there is no room for all texts those go that were touched longest ago.
func TestTouchedLongestAgo(t *testing.T) {
	r := New(60)
	for _, path := range []string{"a", "b", "c"} {
		r.Changed(path, Content{}, Text("of twelve b\n"))
	}
	r.Now("a", Text("user's own line\n"))
	r.Changed("d", Content{}, Text("long enough to be too much\n"))
	for path, opaque := range map[string]bool{"a": false, "b": true, "c": false, "d": false} {
		if f, _ := r.File(path); f.Present.Opaque != opaque {
			t.Errorf("%s is %+v", path, f.Present)
		}
	}
}
