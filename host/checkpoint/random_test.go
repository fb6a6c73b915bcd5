package checkpoint

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// tree is a project as a reference has it, which reads everything: what is at each path.
type tree map[string]thing

type thing struct {
	mode fs.FileMode // with its type
	text string      // or the target
}

func readTree(t *testing.T, dir string) tree {
	t.Helper()
	all := tree{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || strings.HasSuffix(path, ".log")):
			return filepath.SkipDir
		case e.IsDir() || strings.HasSuffix(path, ".log"):
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		th := thing{mode: info.Mode()}
		if th.mode.IsRegular() {
			data, err := os.ReadFile(path)
			th.text = string(data)
			all[path] = th
			return err
		}
		th.mode = fs.ModeSymlink
		th.text, err = os.Readlink(path)
		all[path] = th
		return err
	})
	must.Do(t, err)
	return all
}

// is reports whether a snapshot has the same at a path, with the contents.
func (th thing) is(s *Store, got State) bool {
	switch {
	case th == thing{}:
		return got == State{}
	case th.mode.IsRegular():
		data, err := s.Content(got.Sum)
		return err == nil && got.Kind == File && string(data) == th.text && got.Mode == th.mode && got.Size == int64(len(th.text))
	}
	return got.Kind == Symlink && got.Target == th.text
}

// compare checks what became of a tree with the changes.
func compare(t *testing.T, s *Store, before, after tree, changes []PathChange) {
	t.Helper()
	want := map[string]bool{}
	sums := map[[32]byte][2]int{} // how often contents are gone, and new
	for path, th := range before {
		if after[path] != th {
			want[path] = true
		}
		if _, there := after[path]; !there && th.mode.IsRegular() && th.text != "" {
			n := sums[sha256.Sum256([]byte(th.text))]
			n[0]++
			sums[sha256.Sum256([]byte(th.text))] = n
		}
	}
	for path, th := range after {
		if before[path] != th {
			want[path] = true
		}
		if _, there := before[path]; !there && th.mode.IsRegular() && th.text != "" {
			n := sums[sha256.Sum256([]byte(th.text))]
			n[1]++
			sums[sha256.Sum256([]byte(th.text))] = n
		}
	}
	for _, c := range changes {
		old := cmp.Or(c.OldPath, c.Path)
		if !want[c.Path] || !want[old] {
			t.Errorf("%q did not change, but %+v", c.Path, c)
		}
		delete(want, c.Path)
		delete(want, old)
		if !before[old].is(s, c.Before) || !after[c.Path].is(s, c.After) {
			t.Errorf("%q was %+v and is %+v, not so in %+v", c.Path, before[old], after[c.Path], c)
		}
		if _, there := after[old]; c.OldPath != "" && (there || c.Before.Sum != c.After.Sum || c.Before.Size == 0) {
			t.Errorf("%q was not moved: %+v", c.OldPath, c)
		}
		if c.OldPath == "" && (c.Before.Kind == None && sums[c.After.Sum] == [2]int{1, 1} || c.After.Kind == None && sums[c.Before.Sum] == [2]int{1, 1}) {
			t.Errorf("%q was moved, but %+v", c.Path, c)
		}
	}
	for path := range want {
		t.Errorf("%q was %+v and is %+v, but no change tells it", path, before[path], after[path])
	}
}

// agent changes a project at random.
type agent struct {
	*rand.Rand
	dir string
}

// any is the path of something in the project that is a folder or not, or of what could be there.
func (a agent) any(folder bool) string {
	all := []string{}
	_ = filepath.WalkDir(a.dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && path != a.dir && e.IsDir() == folder {
			all = append(all, path)
		}
		return nil
	})
	if len(all) == 0 || a.IntN(4) == 0 {
		name := []string{"a", "b.go", "ü x", "line\nbreak", "c.log", "-d"}[a.IntN(6)]
		return filepath.Join(a.dir, []string{"", "sub", "sub/deep", "other", "nested"}[a.IntN(5)], name)
	}
	return all[a.IntN(len(all))]
}

func (a agent) text() string {
	return []string{"", "x", "y", "some text\r\n", "\x00\xff", strings.Repeat("0123456789abcde\n", 4), fmt.Sprint(a.IntN(1000))}[a.IntN(7)]
}

// act does something; much of it fails, as the path is taken or nothing is there.
func (a agent) act() {
	path := a.any(false)
	_ = os.MkdirAll(filepath.Dir(path), 0o777)
	switch a.IntN(12) {
	default:
		_ = os.WriteFile(path, []byte(a.text()), 0o666)
	case 0: // as an editor saves
		if os.WriteFile(path+"~", []byte(a.text()), 0o600) == nil && os.Rename(path+"~", path) != nil {
			_ = os.Remove(path + "~")
		}
	case 1:
		if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil { // in place: the size stays
			_, _ = f.WriteAt([]byte(fmt.Sprint(a.IntN(10))), 0)
			f.Close()
		}
	case 2:
		_ = os.Remove(path)
	case 3:
		_ = os.Rename(path, a.any(false))
	case 4:
		if old, err := os.ReadFile(path); err == nil {
			_ = os.WriteFile(a.any(false), old, 0o666)
		}
	case 5:
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			_ = os.Chmod(path, []fs.FileMode{0o600, 0o644, 0o755, 0o444}[a.IntN(4)])
		}
	case 6:
		_ = os.Symlink([]string{"a", "sub", "nowhere", "..", "/etc/hosts", "."}[a.IntN(6)], path)
	case 7:
		_ = os.Rename(a.any(true), a.any(true))
	case 8:
		_ = os.RemoveAll(a.any(true))
	case 9: // a link takes the place of a folder, whose files seem to be there still
		dir := a.any(true)
		if os.Rename(dir, dir+"-moved") == nil {
			_ = os.Symlink(filepath.Base(dir)+"-moved", dir)
		}
	}
}

// TestRandomTrees has agents work on projects: what the snapshots say has changed is what a reference finds
// that reads everything, between one and the next, and between the first and the last.
func TestRandomTrees(t *testing.T) { randomTrees(t, false) }

// TestRandomWatchedTrees is the same where only what the system tells of is looked at.
func TestRandomWatchedTrees(t *testing.T) { randomTrees(t, true) }

func randomTrees(t *testing.T, watched bool) {
	looks, all := 0, 0 // at what has changed alone
	seeds := uint64(24)
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		if watched && seed%2 == 1 {
			continue // without git
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			must.Do(t, err)
			ag := agent{rand.New(rand.NewPCG(seed, 1)), dir}
			if seed%2 == 0 {
				git(t, dir, "init", "-q")
				put(t, filepath.Join(dir, ".git/info/exclude"), "*.log\n")
				put(t, filepath.Join(dir, "nested/file"), "of a repository inside")
				git(t, filepath.Join(dir, "nested"), "init", "-q")
				put(t, filepath.Join(dir, "nested/.git/info/exclude"), "*.log\n")
				git(t, filepath.Join(dir, "nested"), "add", ".")
				git(t, filepath.Join(dir, "nested"), "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "x")
			}
			s := Open(t.TempDir())
			if watched {
				watchAll(t, s, dir)
			}
			take := func(last *Snapshot) *Snapshot {
				t.Helper()
				if watched && last != nil {
					last.unsettled = nil // only what is told is read again
				}
				snap, err := s.Snapshot(t.Context(), []string{dir}, last)
				must.Do(t, err)
				return snap
			}
			for range 20 {
				ag.act()
			}
			if seed%2 == 1 {
				removeLogs(t, dir)
			}
			first, firstTree := take(nil), readTree(t, dir)
			last, lastTree := first, firstTree
			for range 12 {
				for range 1 + ag.IntN(6) {
					ag.act()
				}
				switch {
				case seed%2 == 1:
					removeLogs(t, dir)
				case ag.IntN(3) == 0:
					for name := range strings.SplitSeq(git(t, dir, "ls-files", "-z", "--others", "--exclude-standard"), "\x00") {
						if name != "" && !strings.HasSuffix(name, "/") { // a repository inside
							git(t, dir, "add", "--", ":(literal)"+name)
						}
					}
				}
				now, nowTree := take(last), readTree(t, dir)
				check.Equal(t, now.Partial, (Partial{}), "the snapshot lacks %v")
				compare(t, s, lastTree, nowTree, last.Changes(now))
				compare(t, s, firstTree, nowTree, first.Changes(now))
				compare(t, s, nowTree, firstTree, reversed(now, first))
				for _, path := range slices.Sorted(maps.Keys(nowTree)) {
					if !nowTree[path].is(s, now.State(path)) {
						t.Errorf("%q is %+v, not %+v", path, nowTree[path], now.State(path))
					}
				}
				if len(now.files) != len(nowTree) {
					t.Errorf("the snapshot has %d files, not %d", len(now.files), len(nowTree))
				}
				if t.Failed() {
					t.FailNow()
				}
				all++
				if now.mark.watch != nil && now.mark.notify == last.mark.notify {
					looks++
				}
				last, lastTree = now, nowTree
			}
		})
	}
	if watched && looks < all/4 {
		t.Errorf("only %d of %d looks were at what has changed alone", looks, all)
	}
}

// watchAll has folders be watched, however few files they have.
func watchAll(t *testing.T, s *Store, roots ...string) {
	t.Helper()
	if n, err := newNotifier(); err != nil {
		t.Skip(err)
	} else {
		n.close()
	}
	was := minWatched
	minWatched = 0
	release := s.Watch(roots)
	t.Cleanup(func() {
		release()
		minWatched = was
	})
}

// reversed are the changes back to an earlier snapshot, whose files were not new then.
func reversed(now, first *Snapshot) []PathChange {
	back := *now
	back.at = first.at
	return back.Changes(first)
}

// removeLogs removes what only git knows to be ignored.
func removeLogs(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".log") {
			return err
		}
		if err := os.RemoveAll(path); err != nil || !e.IsDir() {
			return err
		}
		return filepath.SkipDir
	})
	must.Do(t, err)
}
