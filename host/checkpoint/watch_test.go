package checkpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// watched makes a repository of some files whose folders are watched, with a look at it that knows them.
func watched(t *testing.T) (s *Store, dir string, look func() []string) {
	dir = folder(t)
	for i := range 20 {
		put(t, filepath.Join(dir, fmt.Sprintf("group%d/file%d", i%4, i)), fmt.Sprint(i))
	}
	put(t, filepath.Join(dir, ".gitignore"), "*.log\nignored/\n")
	put(t, filepath.Join(dir, "ignored/inside"), "x")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	put(t, filepath.Join(dir, "fresh/file"), "x")
	s = store(t)
	watchAll(t, s, dir)
	last := take(t, s, nil, dir)
	if !last.Watched() {
		t.Fatal("the first look does not have the folders watched")
	}
	return s, dir, func() (changed []string) {
		t.Helper()
		last.unsettled = nil // only what is told is looked at
		now := take(t, s, last, dir)
		for _, c := range last.Changes(now) {
			name, _ := filepath.Rel(dir, c.Path)
			changed = append(changed, name)
		}
		last = now
		return changed
	}
}

// What has changed right before a look is told by it, and a look at what has changed finds what one at all does.
func TestWatchedFolders(t *testing.T) {
	path := func(dir, name string) string { return filepath.Join(dir, name) }
	many := func(format string) (names []string) {
		for i := range maxNew + 1 {
			names = append(names, fmt.Sprintf(format, i))
		}
		return names
	}
	putAll := func(names []string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				put(t, path(dir, name), "y")
			}
		}
	}
	for name, test := range map[string]struct {
		do   func(t *testing.T, dir string)
		want []string
	}{
		"nothing":       {func(*testing.T, string) {}, nil},
		"a file":        {func(t *testing.T, dir string) { put(t, path(dir, "group1/file1"), "y") }, []string{"group1/file1"}},
		"a new one":     {func(t *testing.T, dir string) { put(t, path(dir, "group1/new"), "y") }, []string{"group1/new"}},
		"an ignored":    {func(t *testing.T, dir string) { put(t, path(dir, "group1/x.log"), "y") }, nil},
		"ignored below": {func(t *testing.T, dir string) { put(t, path(dir, "ignored/deep/er"), "y") }, nil},
		"one of a new folder": {func(t *testing.T, dir string) { put(t, path(dir, "new/and/deep"), "y") },
			[]string{"new/and/deep"}},
		"a removed":  {func(t *testing.T, dir string) { must.Do(t, os.Remove(path(dir, "group1/file1"))) }, []string{"group1/file1"}},
		"a folder":   {func(t *testing.T, dir string) { must.Do(t, os.RemoveAll(path(dir, "group3"))) }, []string{"group3/file11", "group3/file15", "group3/file19", "group3/file3", "group3/file7"}},
		"its mode":   {func(t *testing.T, dir string) { must.Do(t, os.Chmod(path(dir, "group1/file1"), 0o755)) }, []string{"group1/file1"}},
		"a moved":    {func(t *testing.T, dir string) { must.Do(t, os.Rename(path(dir, "group1"), path(dir, "moved"))) }, []string{"moved/file1", "moved/file13", "moved/file17", "moved/file5", "moved/file9"}},
		"by its end": {func(t *testing.T, dir string) { must.Do(t, os.Truncate(path(dir, "group1/file1"), 0)) }, []string{"group1/file1"}},
		"known to git from now on": {func(t *testing.T, dir string) {
			put(t, path(dir, "ignored/inside"), "y")
			git(t, dir, "add", "-f", "ignored/inside")
		}, []string{"ignored/inside"}},
		"no longer ignored": {func(t *testing.T, dir string) {
			put(t, path(dir, "ignored/inside"), "y")
			put(t, path(dir, ".gitignore"), "")
		}, []string{".gitignore", "ignored/inside"}},
		"ignored by another file": {func(t *testing.T, dir string) {
			put(t, path(dir, ".git/info/exclude"), "new\n")
			put(t, path(dir, "group1/new"), "y")
		}, nil},
		"more new ones than git is asked for": {putAll(many("group1/new%03d")), many("group1/new%03d")},
		"more new folders":                    {putAll(many("new%03d/file")), many("new%03d/file")},
		"a new repository": {func(t *testing.T, dir string) {
			initInside(t, path(dir, "new"))
		}, []string{"new/ignored/x.log"}},
		"a new submodule": {func(t *testing.T, dir string) {
			initInside(t, path(dir, "new"))
			git(t, dir, "-c", "advice.addEmbeddedRepo=false", "add", "new")
		}, []string{"new/ignored/x.log"}},
		"a repository in a folder": {func(t *testing.T, dir string) {
			git(t, path(dir, "fresh"), "init", "-q")
			put(t, path(dir, "fresh/x.log"), "y")
		}, []string{"fresh/x.log"}},
		"a repository in a folder, kept elsewhere": {func(t *testing.T, dir string) {
			git(t, path(dir, "fresh"), "init", "-q", "--separate-git-dir", path(t.TempDir(), "git"))
			put(t, path(dir, "fresh/x.log"), "y")
		}, []string{"fresh/x.log"}},
		"by another name": {func(t *testing.T, dir string) {
			other := path(t.TempDir(), "other")
			must.Do(t, os.Link(path(dir, "group1/file1"), other), os.Chmod(path(dir, "group1/file1"), 0o600))
		}, nil},
		"more than is kept": {func(t *testing.T, dir string) {
			for i := range 2 * maxChanged {
				must.Do(t, os.Chmod(path(dir, fmt.Sprint("group1/file", 1+4*(i%2))), 0o600))
			}
			put(t, path(dir, "group2/file2"), "y")
		}, []string{"group2/file2"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, dir, look := watched(t)
			must.Do(t, os.Chmod(filepath.Join(dir, "group1/file1"), 0o600), os.Chmod(filepath.Join(dir, "group1/file5"), 0o600))
			look()
			test.do(t, dir)
			check.Slice(t, look(), test.want, "changed are %q")
			put(t, filepath.Join(dir, "group0/file0"), "at last")
			check.Slice(t, look(), []string{"group0/file0"}, "then %q")
		})
	}
}

// A file that has another name is looked at, as nobody tells what is done by that.
func TestWatchedHardLink(t *testing.T) {
	_, dir, look := watched(t)
	other := filepath.Join(filepath.Dir(dir), filepath.Base(dir)+"-other")
	must.Do(t, os.Link(filepath.Join(dir, "group1/file1"), other), os.Chmod(filepath.Join(dir, "group1/file1"), 0o600))
	t.Cleanup(func() { os.Remove(other) })
	look()
	put(t, other, "by the other name")
	check.Slice(t, look(), []string{"group1/file1"}, "changed are %q")
}

// Nor does anybody tell what a program does to a file that it has in its memory, before that ends.
func TestWatchedMapping(t *testing.T) {
	_, dir, look := watched(t)
	f, err := os.OpenFile(filepath.Join(dir, "group1/file1"), os.O_RDWR, 0)
	must.Do(t, err)
	memory, err := unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must.Do(t, err, f.Close())
	defer unix.Munmap(memory)
	look()
	memory[0] = 'x'
	check.Slice(t, look(), []string{"group1/file1"}, "changed are %q")
}

// Two sessions in a folder know of each change, and it is watched until both have ended.
func TestWatchedTwice(t *testing.T) {
	s, dir, _ := watched(t)
	release := s.Watch([]string{dir})
	one := take(t, s, nil, dir)
	two := take(t, s, one, dir)
	put(t, filepath.Join(dir, "group1/file1"), "y")
	for range 2 {
		if got := one.Changes(take(t, s, one, dir)); len(got) != 1 {
			t.Errorf("one sees %+v", got)
		}
	}
	release()
	release()
	after := take(t, s, two, dir)
	if got := two.Changes(after); len(got) != 1 || !after.Watched() {
		t.Errorf("the other sees %+v", got)
	}
}

// Without git a look costs as little, but where something is new that may belong to the project.
func TestWatchedWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // nor is there ripgrep
	dir := folder(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	rules := []string{".gitignore", "group/.ignore", "group/.rgignore"}
	for _, name := range append(rules, "group/file", "group/other", "node_modules/a/b") {
		put(t, path(name), "x")
	}
	must.Do(t, os.Mkdir(path("empty"), 0o700))
	s := store(t)
	watchAll(t, s, dir)
	last := take(t, s, nil, dir)
	for _, test := range []struct {
		name string
		do   func()
		want []string
		all  bool // files are looked at
	}{
		{"nothing", func() {}, nil, false},
		{"a file", func() { put(t, path("group/file"), "y") }, []string{"group/file"}, false},
		{"a removed", func() { must.Do(t, os.Remove(path("group/other"))) }, []string{"group/other"}, false},
		{"one that comes and goes", func() { put(t, path("group/temp"), "y"); must.Do(t, os.Remove(path("group/temp"))) }, nil, false},
		{"one that nobody looks at", func() { put(t, path("node_modules/a/c"), "y") }, nil, false},
		{"a new one", func() { put(t, path("group/new"), "y") }, []string{"group/new"}, true},
		{"one in an empty folder", func() { put(t, path("empty/new"), "y") }, []string{"empty/new"}, true},
		{"one of a new folder", func() { put(t, path("new/and/deep"), "y") }, []string{"new/and/deep"}, true},
		{"what git ignores", func() { put(t, path(".gitignore"), "y") }, []string{".gitignore"}, true},
		{"what searches ignore", func() { put(t, path("group/.ignore"), "y") }, []string{"group/.ignore"}, true},
		{"what ripgrep ignores", func() { put(t, path("group/.rgignore"), "y") }, []string{"group/.rgignore"}, true},
		{"a repository", func() { must.Do(t, os.Mkdir(path(".git"), 0o700)) }, nil, true},
	} {
		if !last.Watched() { // the folders are watched anew
			last = take(t, s, last, dir)
		}
		last.unsettled = nil // only what is told is looked at
		test.do()
		snap, err := newScan(t.Context(), s, last.roots, last).since()
		if must.Do(t, err); (snap == nil) != test.all {
			t.Errorf("%s: all files are looked at: %t", test.name, snap == nil)
		}
		now := take(t, s, last, dir)
		var changed []string
		for _, c := range last.Changes(now) {
			name, _ := filepath.Rel(dir, c.Path)
			changed = append(changed, name)
		}
		check.Slice(t, changed, test.want, test.name+": changed are %q")
		last = now
	}
}

// initInside makes a repository with a file that a repository around it would ignore.
func initInside(t *testing.T, dir string) {
	t.Helper()
	put(t, filepath.Join(dir, "ignored/x.log"), "y")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "x")
}

// A new repository in a folder that is watched is watched by its own rules, not by those of the one around it.
func TestWatchedNewRepository(t *testing.T) {
	_, dir, look := watched(t)
	initInside(t, filepath.Join(dir, "new"))
	check.Slice(t, look(), []string{"new/ignored/x.log"}, "changed are %q")
	for _, text := range []string{"a", "b", "c"} {
		put(t, filepath.Join(dir, "new/ignored/x.log"), text)
		check.Slice(t, look(), []string{"new/ignored/x.log"}, "changed are %q")
	}
}

// Folders that are watched only after many were made at once are watched all the same.
func TestWatchedManyNewFolders(t *testing.T) {
	_, dir, look := watched(t)
	for i := range maxNew + 1 {
		must.Do(t, os.Mkdir(filepath.Join(dir, fmt.Sprint("new", i)), 0o700))
	}
	check.Slice(t, look(), nil, "changed are %q")
	put(t, filepath.Join(dir, "new7/file"), "y")
	check.Slice(t, look(), []string{"new7/file"}, "changed are %q")
}

// What is left out of snapshots is so in folders that are watched, too, and in new ones.
func TestWatchedSkips(t *testing.T) {
	s, dir, look := watched(t)
	s.Skip = func(path string) bool { return filepath.Base(path) == "passing" }
	for _, name := range []string{"group1/passing", "group1/new", "new/passing", "new/kept"} {
		put(t, filepath.Join(dir, name), "y")
	}
	check.Slice(t, look(), []string{"group1/new", "new/kept"}, "changed are %q")
}

// The store hears from time to time that what a snapshot has is needed, and gets again what it has lost.
func TestWatchedContentsAreNeededStill(t *testing.T) {
	s, dir, _ := watched(t)
	last := take(t, s, take(t, s, nil, dir), dir)
	sum := func(name string) Sum { return last.State(filepath.Join(dir, name)).Sum }
	kept, lost := s.contentPath(sum("fresh/file")), sum("group1/file1")
	put(t, kept, "x") // a file of its own, not in the pack of all
	backdate(t, kept, day)
	s.Doubt()
	for _, path := range filesOf(t, s, "packs") {
		must.Do(t, os.Remove(path))
	}
	touched := func() bool {
		info, err := os.Stat(kept)
		must.Do(t, err)
		return time.Since(info.ModTime()) < day/2
	}
	last.unsettled = nil
	soon := take(t, s, last, dir)
	check.Equal(t, touched(), false, "right after the last look it is touched: %v")
	soon.unsettled, soon.touched = nil, soon.touched.Add(-2*need)
	for _, f := range soon.files {
		f.readAt += int64(2 * granularity) // so that nothing is read for another reason
	}
	late := take(t, s, soon, dir)
	check.Equal(t, touched(), true, "after a while it is touched: %v")
	check.Equal(t, text(t, s, lost), "1", "what was lost is %q")
	check.Equal(t, late.touched, late.at, "it was touched at %v")
	check.Equal(t, len(last.Changes(late)), 0, "%d changes")
}

// A file that has become too large is counted and named, beside those that were.
func TestWatchedFileBecomesLarge(t *testing.T) {
	s, dir, _ := watched(t)
	large, path := filepath.Join(dir, "fresh/large"), filepath.Join(dir, "group1/file1")
	put(t, large, strings.Repeat("x", int(s.fileSize)+2))
	last := take(t, s, nil, dir)
	for _, test := range []struct {
		size    int64
		without []string
	}{{s.fileSize + 1, []string{large, path}}, {5, []string{large}}, {s.fileSize + 3, []string{path, large}}} {
		must.Do(t, os.Truncate(path, test.size))
		last = take(t, s, last, dir)
		check.Equal(t, last.Partial, Partial{Large: len(test.without)}, "with %d bytes it lacks %+v", test.size)
		check.Slice(t, last.Without(3), test.without, "with %d bytes the largest are %q", test.size)
	}
}

// On a file system that changes by itself nothing is watched, so all is looked at each time.
func TestNotWatchedWhereOthersWrite(t *testing.T) {
	const dir = "/proc/sys/fs/inotify"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("there is no such file system")
	}
	s := store(t)
	watchAll(t, s, dir)
	var last *Snapshot
	for range 3 {
		last = take(t, s, last, dir)
		check.Equal(t, last.Watched(), false, "it is watched: %v")
		check.Equal(t, last.Len() > 0, true, "it has files: %v")
	}
}

// Where nobody watches any more, all is looked at.
func TestWatchEnds(t *testing.T) {
	dir := folder(t)
	put(t, filepath.Join(dir, "file"), "x")
	git(t, dir, "init", "-q")
	s := store(t)
	watchAll(t, s)
	release := s.Watch([]string{dir})
	one := take(t, s, nil, dir)
	release()
	put(t, filepath.Join(dir, "file"), "y")
	two := take(t, s, one, dir)
	if got := one.Changes(two); len(got) != 1 || two.Watched() {
		t.Errorf("changed are %+v", got)
	}
}
