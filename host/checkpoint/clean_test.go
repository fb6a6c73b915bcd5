package checkpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

const day = 24 * time.Hour

// save saves a record of that age with contents as old, which are its key.
func save(t *testing.T, s *Store, key string, age time.Duration) Sum {
	t.Helper()
	sum := keep(t, s, key, age)
	must.Do(t, s.Save(key, "", []byte("data"), sum))
	backdate(t, s.contentPath(sum), age)
	backdate(t, s.recordPath(key), age)
	return sum
}

func clean1(t *testing.T, s *Store, alive ...string) {
	t.Helper()
	must.Do(t, s.Clean(t.Context(), time.Now(), func(key string) bool { return slices.Contains(alive, key) }))
}

func keys(t *testing.T, s *Store) (keys []string) {
	t.Helper()
	list, err := s.Records()
	must.Do(t, err)
	for _, r := range list {
		keys = append(keys, r.Key)
	}
	return keys
}

// there tells which contents are there, of those named by their text.
func there(s *Store, sums map[string]Sum) (names []string) {
	for name, sum := range sums {
		if _, err := s.Content(sum); err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestCleanByAge(t *testing.T) {
	s := store(t)
	sums := map[string]Sum{
		"new":        save(t, s, "new", time.Hour),
		"month":      save(t, s, "month", 29*day),
		"old":        save(t, s, "old", 31*day),
		"alive":      save(t, s, "alive", 300*day),
		"spare":      keep(t, s, "spare", 23*time.Hour),
		"spare, old": keep(t, s, "spare, old", 25*time.Hour),
		"shared":     keep(t, s, "shared", 31*day),
	}
	for _, key := range []string{"x", "y"} {
		must.Do(t, s.Save(key, "", nil, sums["shared"], Sum{5}))
	}
	backdate(t, s.contentPath(sums["shared"]), 31*day)
	must.Do(t, s.Remove("x"))
	rests := []string{filepath.Join(s.dir, "records", temporary+"1"), filepath.Join(s.dir, "contents", "00", temporary+"2")}
	for _, path := range rests {
		put(t, path, "half")
	}
	backdate(t, rests[1], 2*time.Hour)
	clean1(t, s, "alive")
	check.Slice(t, keys(t, s), []string{"y", "new", "month", "alive"}, "the records are %q")
	check.Slice(t, there(s, sums), []string{"alive", "month", "new", "shared", "spare"}, "the contents are %q")
	if _, err := os.Stat(rests[0]); err != nil {
		t.Error("what another host is writing is gone")
	}
	if _, err := os.Stat(rests[1]); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the rest of a write is still there")
	}
}

func TestCleanNothing(t *testing.T) {
	s := store(t)
	must.Do(t, s.Clean(t.Context(), time.Now(), nil))
	keep(t, s, "x", 2*day)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Clean(ctx, time.Now(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a clean that was cancelled: %v", err)
	}
}

// Who says of no record that it is alive has all of them age, and a clean that is cancelled goes no further.
func TestCleanWithoutAliveRecords(t *testing.T) {
	s := store(t)
	sums := map[string]Sum{
		"old": save(t, s, "old", 31*day), "new": save(t, s, "new", 29*day), "spare": keep(t, s, "spare", 2*day),
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Clean(ctx, time.Now(), func(string) bool { cancel(); return true })
	check.Equal(t, errors.Is(err, context.Canceled), true, "a clean that is cancelled halfway is %v: %v", err)
	check.Slice(t, there(s, sums), []string{"new", "old", "spare"}, "then the contents are %q")
	must.Do(t, s.Clean(t.Context(), time.Now(), nil))
	check.Slice(t, keys(t, s), []string{"new"}, "the records are %q")
	check.Slice(t, there(s, sums), []string{"new"}, "the contents are %q")
}

// What cannot be removed is an error, and the rest is removed nevertheless.
func TestCleanWhatCannotBeRemoved(t *testing.T) {
	s := store(t)
	sums := map[string]Sum{
		"stuck": save(t, s, "stuck", 31*day), "old": save(t, s, "old", 32*day), "spare": keep(t, s, "spare", 2*day),
	}
	in := aside(s.recordPath("stuck"))
	must.Do(t, os.Mkdir(in, 0o700))
	put(t, filepath.Join(aside(s.contentPath(sums["spare"])), "file"), "in its way")
	err := s.Clean(t.Context(), time.Now(), nil)
	if err == nil || !strings.Contains(err.Error(), in) || !strings.Contains(err.Error(), sums["spare"].String()[2:]) {
		t.Errorf("the error is %v", err)
	}
	check.Slice(t, keys(t, s), []string{"stuck"}, "the records are %q")
	check.Slice(t, there(s, sums), []string{"spare"}, "the contents are %q")
}

func TestCleanByNumber(t *testing.T) {
	s := store(t)
	s.records = 3
	for i := range 6 {
		save(t, s, fmt.Sprint(i), time.Duration(i)*time.Hour)
	}
	clean1(t, s, "4")
	check.Slice(t, keys(t, s), []string{"0", "1", "2", "4"}, "the records are %q")
	list, err := s.Records()
	must.Do(t, err)
	s.recordSize = list[0].Size + list[1].Size
	clean1(t, s)
	check.Slice(t, keys(t, s), []string{"0", "1"}, "the records are %q")
}

func TestCleanBySize(t *testing.T) {
	big := func(name string) string { return name + string(make([]byte, 10_000)) }
	s := store(t)
	sums := map[string]Sum{}
	for i, name := range []string{"a", "b", "c", "d"} {
		age := time.Duration(2+i) * time.Hour
		sums[name] = keep(t, s, big(name), age)
		must.Do(t, s.Save(name, "", nil, sums[name], sums["a"]))
		backdate(t, s.recordPath(name), age)
		backdate(t, s.contentPath(sums[name]), age)
		backdate(t, s.contentPath(sums["a"]), age)
	}
	for name, age := range map[string]time.Duration{"s1": time.Minute, "s2": 2 * time.Hour, "s3": 3 * time.Hour} {
		sums[name] = keep(t, s, big(name), age)
	}
	for _, test := range []struct {
		size           int64
		records, there []string
	}{
		{80_000, []string{"a", "b", "c", "d"}, []string{"a", "b", "c", "d", "s1", "s2", "s3"}},
		{65_000, []string{"a", "b", "c", "d"}, []string{"a", "b", "c", "d", "s1", "s2"}},
		{55_000, []string{"a", "b", "c", "d"}, []string{"a", "b", "c", "d", "s1"}},
		{45_000, []string{"a", "b", "c"}, []string{"a", "b", "c", "s1"}},
		{25_000, []string{"c"}, []string{"a", "c", "s1"}}, // c is alive, and needs a
	} {
		s.storeSize = test.size
		clean1(t, s, "c")
		check.Slice(t, keys(t, s), test.records, "with %d bytes the records are %q", test.size)
		check.Slice(t, there(s, sums), test.there, "with %d bytes the contents are %q", test.size)
	}
}

// TestWhatIsWantedAgainStays has a file change between the moment that Clean saw it and its removal.
func TestWhatIsWantedAgainStays(t *testing.T) {
	s := store(t)
	sum := keep(t, s, "x", 2*day)
	seen := time.Now().Add(-2 * day)
	c := &clean{store: s, now: time.Now()}
	keep(t, s, "x", 0)
	if c.remove(s.contentPath(sum), seen) || text(t, s, sum) != "x" {
		t.Error("contents that were put again are removed")
	}
	info, err := os.Lstat(s.contentPath(sum))
	must.Do(t, err)
	// Clean stands between its two steps.
	if err := os.Rename(s.contentPath(sum), aside(s.contentPath(sum))); err != nil || text(t, s, sum) != "x" {
		t.Errorf("contents that Clean holds: %v", err)
	}
	keep(t, s, "x", 0)
	if !c.remove(s.contentPath(sum), info.ModTime()) && text(t, s, sum) != "x" {
		t.Error("contents that were put meanwhile are removed")
	}
	if left, err := filepath.Glob(filepath.Join(s.dir, "contents", "*", temporary+"*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestHostsShareTheFolder has several stores put, save, load and clean at once. What was just put, and
// what a record needs, is there, however old it was before.
func TestHostsShareTheFolder(t *testing.T) {
	dir := t.TempDir()
	const texts = 8
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	var work, cleaning sync.WaitGroup
	end := make(chan struct{})
	for range 2 {
		cleaning.Go(func() {
			for s := Open(dir); ; {
				must.Do(t, s.Clean(context.Background(), time.Now(), nil))
				select {
				case <-end:
					return
				default:
				}
			}
		})
	}
	for host := range 3 {
		work.Go(func() {
			s := Open(dir)
			random := rand.New(rand.NewPCG(1, uint64(host)))
			saved := map[string]Sum{} // what records need
			for range rounds {
				data := fmt.Sprintf("text %d of %d", random.IntN(texts), host)
				if sum := Sum(sha256.Sum256([]byte(data))); !slices.Contains(slices.Collect(maps.Values(saved)), sum) {
					old := time.Now().Add(-2 * day)
					_ = os.Chtimes(s.contentPath(sum), old, old) // it may be gone, or about to go
				}
				sum, err := s.Put([]byte(data))
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := s.Content(sum); err != nil || string(got) != data {
					t.Errorf("what was put is %q, %v", got, err)
				}
				key := fmt.Sprintf("%d/%d", host, random.IntN(3))
				must.Do(t, s.Save(key, "", sum[:], sum))
				saved[key] = sum
				for key, sum := range saved {
					if got, err := s.Load(key); err != nil || Sum(got) != sum {
						t.Errorf("the record %s is %x, %v, want %v", key, got, err, sum)
					}
					if _, err := s.Content(sum); err != nil {
						t.Errorf("the record %s needs it: %v", key, err)
					}
				}
			}
			for key := range saved {
				must.Do(t, s.Remove(key))
			}
		})
	}
	work.Wait()
	close(end)
	cleaning.Wait()
	s := Open(dir)
	must.Do(t, s.Clean(t.Context(), time.Now().Add(2*day), nil))
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			t.Errorf("%s is left", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
