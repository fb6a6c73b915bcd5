package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// packUp puts so many contents at once, and gives their sums.
func packUp(t *testing.T, s *Store, n int) (sums []Sum) {
	t.Helper()
	b := s.Batch()
	for i := range n {
		must.Do(t, b.Put(fmt.Appendf(nil, "contents %d", i), func(sum Sum) { sums = append(sums, sum) }))
	}
	must.Do(t, b.Flush())
	if len(sums) != n {
		t.Fatalf("%d of %d are told to be there", len(sums), n)
	}
	return sums
}

// filesOf are the files of a store's folder.
func filesOf(t *testing.T, s *Store, folder string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(filepath.Join(s.dir, folder), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all = append(all, path)
		}
		return nil
	})
	must.Do(t, err)
	return all
}

// missing counts the contents that a store does not have.
func missing(s *Store, sums []Sum) (n int) {
	for i, sum := range sums {
		data, err := s.Content(sum)
		if err != nil || string(data) != fmt.Sprintf("contents %d", i) || !s.Has(sum, len(data)) || s.Has(sum, len(data)+1) {
			n++
		}
	}
	return n
}

func TestManySmallContentsAreOneFile(t *testing.T) {
	dir := t.TempDir()
	one, other := Open(dir), Open(dir)
	if missing(other, packUp(t, one, 1)) > 0 || len(filesOf(t, one, "contents")) != 1 {
		t.Error("one by itself is no file of its own")
	}
	sums := packUp(t, one, 1000)
	if got := filesOf(t, one, "packs"); len(got) != 1 {
		t.Fatalf("they are in %q", got)
	}
	if got := filesOf(t, one, "contents"); len(got) != 1 {
		t.Errorf("what was there is packed once more, or these are files too: %q", got)
	}
	for name, s := range map[string]*Store{"the same": one, "another that was open": other, "a new one": Open(dir)} {
		if n := missing(s, sums); n > 0 {
			t.Errorf("%s store does not have %d of them", name, n)
		}
	}
	packUp(t, other, 1000)
	if got := filesOf(t, one, "packs"); len(got) != 1 {
		t.Errorf("what was there is packed again: %q", got)
	}
	big := make([]byte, packable+1)
	if err := one.Batch().Put(big, nil); err != nil || len(filesOf(t, one, "contents")) != 2 {
		t.Errorf("large contents are no file of their own: %v", err)
	}
}

func TestPacksThatAreGoneOrBroken(t *testing.T) {
	s := Open(t.TempDir())
	sums := packUp(t, s, 100)
	path := filesOf(t, s, "packs")[0]
	must.Do(t, os.Remove(path))
	if n := missing(s, sums); n != 100 {
		t.Errorf("of a removed pack %d are there", 100-n)
	}
	if _, err := s.Content(sums[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
	if n := missing(s, packUp(t, s, 100)); n > 0 {
		t.Errorf("%d are not there again", n)
	}
	whole, err := os.ReadFile(path)
	must.Do(t, err)
	for what, broken := range map[string]string{
		"is of another kind":         strings.Replace(string(whole), "pack 1", "pack 2", 1),
		"is cut short in its head":   string(whole[:len(packHead)]),
		"is cut short in its index":  string(whole[:len(packHead)+100]),
		"is cut short at its end":    string(whole[:len(whole)-1]),
		"has more than its contents": string(whole) + "x",
	} {
		put(t, path, broken)
		other := Open(s.dir)
		if n := missing(other, sums); n != 100 {
			t.Errorf("of a pack that %s %d are taken for whole", what, 100-n)
		}
		put(t, path, string(whole))
		if n := missing(other, sums); n != 0 {
			t.Errorf("once a pack that %s is whole again %d are missing", what, n)
		}
	}
}

// Contents of a pack that somebody has removed are put again.
func TestPutAgainWhatWasInAPack(t *testing.T) {
	s := Open(t.TempDir())
	sums := packUp(t, s, 100)
	must.Do(t, os.Remove(filesOf(t, s, "packs")[0]))
	check.Equal(t, s.Has(sums[7], len("contents 7")), false, "it has what is gone: %v")
	if n := missing(s, packUp(t, s, 100)); n > 0 {
		t.Errorf("%d are not there again", n)
	}
}

// A pack stays as long as a record needs anything of it.
func TestCleanKeepsPacksThatAreNeeded(t *testing.T) {
	s := Open(t.TempDir())
	sums := packUp(t, s, 100)
	must.Do(t, s.Save("key", "", nil, sums[7]))
	clean := func(after time.Duration) {
		t.Helper()
		must.Do(t, s.Clean(context.Background(), time.Now().Add(after), nil))
	}
	clean(2 * spare)
	if n := missing(s, sums); n > 0 {
		t.Fatalf("%d that are with what a record needs are gone", n)
	}
	must.Do(t, s.Remove("key"))
	clean(spare / 2)
	if n := missing(s, sums); n > 0 {
		t.Fatalf("%d are gone too early", n)
	}
	clean(2 * spare)
	if n := missing(s, sums); n != 100 || len(filesOf(t, s, "packs")) > 0 {
		t.Errorf("%d that nothing needs are still there", 100-n)
	}
}
