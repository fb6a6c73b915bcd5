package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// folder is a project's, by its real path.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	return dir
}

func take(t *testing.T, s *Store, last *Snapshot, roots ...string) *Snapshot {
	t.Helper()
	snap, err := s.Snapshot(t.Context(), roots, last)
	must.Do(t, err)
	return snap
}

// names are the files of a snapshot, as seen from a folder.
func names(s *Snapshot, dir string) (names []string) {
	for _, f := range s.files {
		names = append(names, strings.TrimPrefix(f.path, dir+"/"))
	}
	return names
}

// A snapshot takes only so many files, and says so: then a file that it lacks need not be new.
func TestMoreFilesThanASnapshotTakes(t *testing.T) {
	for _, repository := range []bool{false, true} {
		for n, unlisted := range map[int]int{2: 0, 3: 1} {
			dir := folder(t)
			if repository {
				git(t, dir, "init", "-q")
			}
			for i := range n {
				put(t, filepath.Join(dir, fmt.Sprint(i)), "text")
			}
			s := store(t)
			s.names = 2
			snap := take(t, s, nil, dir)
			check.Slice(t, names(snap, dir), []string{"0", "1"}, "the files are %q")
			check.Equal(t, snap.Partial.Unlisted, unlisted, fmt.Sprintf("of %d files", n)+" %d folders are not whole")
			check.Equal(t, snap.Whole(filepath.Join(dir, "2")), unlisted == 0, fmt.Sprintf("of %d files", n)+" it has all: %v")
		}
	}
}

func TestFilesOfTheProject(t *testing.T) {
	for _, test := range []struct {
		repository bool
		want       []string
	}{
		{true, []string{".gitignore", "kept.txt", "line\nbreak", "link", "nested/inner", "sub/new", "sub/node_modules/m"}},
		{false, []string{".gitignore", "dump.log", "kept.txt", "line\nbreak", "link", "nested/inner", "nested/out", "sub/new"}},
	} {
		dir := folder(t)
		for _, name := range []string{"dump.log", "kept.txt", "line\nbreak", "nested/inner", "nested/out", "sub/new", "sub/node_modules/m"} {
			put(t, filepath.Join(dir, name), name)
		}
		put(t, filepath.Join(dir, ".gitignore"), "*.log\n")
		must.Do(t, os.Symlink("sub", filepath.Join(dir, "link")))
		if test.repository {
			git(t, dir, "init", "-q")
			git(t, dir, "add", "kept.txt")
			git(t, filepath.Join(dir, "nested"), "init", "-q")
			put(t, filepath.Join(dir, "nested/.git/info/exclude"), "out\n")
		} else if _, err := exec.LookPath("rg"); err == nil {
			continue
		}
		check.Slice(t, names(take(t, store(t), nil, dir), dir), test.want,
			"in a repository, %v: the files are %q", test.repository)
	}
}

func TestSubmodule(t *testing.T) {
	dir, s := folder(t), store(t)
	put(t, filepath.Join(dir, "lib/file"), "x")
	git(t, filepath.Join(dir, "lib"), "init", "-q")
	git(t, filepath.Join(dir, "lib"), "add", ".")
	git(t, filepath.Join(dir, "lib"), "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "x")
	git(t, dir, "init", "-q")
	git(t, dir, "-c", "advice.addEmbeddedRepo=false", "add", "lib")
	snap := take(t, s, nil, dir)
	if got := names(snap, dir); !slices.Equal(got, []string{"lib/file"}) || snap.Partial != (Partial{}) {
		t.Errorf("the files are %q, without %v", got, snap.Partial)
	}
	must.Do(t, os.RemoveAll(filepath.Join(dir, "lib/.git")))
	if snap = take(t, s, nil, dir); !slices.Equal(names(snap, dir), []string{"lib/file"}) || snap.Partial != (Partial{}) {
		t.Errorf("with the submodule's repository gone the files are %q, without %v", names(snap, dir), snap.Partial)
	}
}

// Only so many repositories are scanned inside another one; the others are told of.
func TestManyRepositories(t *testing.T) {
	for n, lacks := range map[int]int{nested: 0, nested + 1: 1} {
		dir := folder(t)
		git(t, dir, "init", "-q")
		put(t, filepath.Join(dir, "zzz"), "x")
		for i := range n {
			put(t, filepath.Join(dir, fmt.Sprintf("lib%03d", i), "file"), "x")
			for _, name := range []string{"objects/x", "refs/x"} {
				put(t, filepath.Join(dir, fmt.Sprintf("lib%03d/.git", i), name), "x")
			}
			put(t, filepath.Join(dir, fmt.Sprintf("lib%03d/.git/HEAD", i)), "ref: refs/heads/main\n")
		}
		snap := take(t, store(t), nil, dir)
		check.Equal(t, snap.Len(), nested+1, fmt.Sprintf("of %d repositories", n)+" there are %d files")
		check.Equal(t, snap.Partial, Partial{Unlisted: lacks}, fmt.Sprintf("of %d repositories", n)+" it lacks %+v")
		check.Equal(t, snap.State(filepath.Join(dir, "zzz")).Kind, File, "behind them is %v")
	}
}

// The bits of a mode that let a program run as its owner are part of a file's state.
func TestSpecialModes(t *testing.T) {
	s, dir := store(t), folder(t)
	path := filepath.Join(dir, "program")
	put(t, path, "x")
	var last *Snapshot
	for _, mode := range []fs.FileMode{0o755, 0o755 | fs.ModeSetuid, 0o700} {
		must.Do(t, os.Chmod(path, mode))
		now := take(t, s, last, dir)
		check.Equal(t, now.State(path).Mode, mode, "its mode is %v")
		if last != nil {
			check.Equal(t, len(last.Changes(now)), 1, "with the mode %v there are %d changes", mode)
		}
		last = now
	}
}

// TestRoots gives roots that contain each other, that are links and that are not there.
func TestRoots(t *testing.T) {
	s, dir, links := store(t), folder(t), folder(t)
	put(t, filepath.Join(dir, "a"), "x")
	put(t, filepath.Join(dir, "sub/b"), "y")
	must.Do(t, os.Symlink(dir, filepath.Join(links, "link")))
	snap := take(t, s, nil, filepath.Join(links, "link"), filepath.Join(dir, "sub"), filepath.Join(dir, "nowhere"), dir)
	if got := names(snap, dir); !slices.Equal(got, []string{"a", "sub/b"}) || snap.Partial != (Partial{}) {
		t.Errorf("the files are %q, without %v", got, snap.Partial)
	}
	must.Do(t, os.RemoveAll(dir))
	gone := snap.Changes(take(t, s, snap, dir))
	if len(gone) != 2 || text(t, s, gone[1].Before.Sum) != "y" {
		t.Errorf("with the root gone the changes are %+v", gone)
	}
}

// TestNoTrace compares a repository before and after: all of it, and what git says.
func TestNoTrace(t *testing.T) {
	dir := folder(t)
	put(t, filepath.Join(dir, "a"), "x")
	put(t, filepath.Join(dir, "sub/b"), "y")
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	ran := filepath.Join(folder(t), "ran")
	hook := filepath.Join(dir, ".git/hook")
	put(t, hook, "#!/bin/sh\n: >"+ran+"\n")
	must.Do(t, os.Chmod(hook, 0o755))
	git(t, dir, "config", "core.fsmonitor", hook)
	git(t, dir, "config", "core.untrackedCache", "true")
	put(t, filepath.Join(dir, "a"), "z") // what git would refresh
	put(t, filepath.Join(dir, "c"), "z")
	all := func() string {
		var text strings.Builder
		must.Do(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			var st unix.Stat_t
			err = unix.Lstat(path, &st)
			fmt.Fprintln(&text, path, st.Mode, st.Size, st.Mtim, st.Ctim, st.Ino, st.Nlink)
			return err
		}))
		return text.String()
	}
	before := all()
	s := store(t)
	take(t, s, take(t, s, nil, dir), dir, filepath.Join(dir, "sub"))
	check.Equal(t, all(), before, "a snapshot left a trace:\n%s\n%s", before)
	if _, err := os.Stat(ran); err == nil {
		t.Error("a snapshot ran a program of the repository")
	}
	check.Equal(t, git(t, dir, "-c", "core.fsmonitor=false", "status", "--porcelain"), "AM a\nA  sub/b\n?? c\n",
		"git says %q")
}

// TestIgnoreFileChanges has an agent edit what is ignored, and make what is ignored.
func TestIgnoreFileChanges(t *testing.T) {
	s, dir := store(t), folder(t)
	git(t, dir, "init", "-q")
	put(t, filepath.Join(dir, ".gitignore"), "build/\n")
	put(t, filepath.Join(dir, "build/old"), "x")
	put(t, filepath.Join(dir, "src/a"), "y")
	put(t, filepath.Join(dir, "z"), "listed after what is ignored")
	before := take(t, s, nil, dir)
	before.at = before.at.Add(2 * granularity) // build/old is older than that
	put(t, filepath.Join(dir, ".gitignore"), "src/\n")
	put(t, filepath.Join(dir, "src/new"), "z")
	after := take(t, s, before, dir)
	got := before.Changes(after)
	if len(got) != 1 || got[0].Path != filepath.Join(dir, ".gitignore") {
		t.Errorf("what is ignored became %+v", got)
	}
	// A file that is known stays so.
	put(t, filepath.Join(dir, "src/a"), "other")
	if got := after.Changes(take(t, s, after, dir)); len(got) != 1 || got[0].Path != filepath.Join(dir, "src/a") {
		t.Errorf("a file that is ignored by now became %+v", got)
	}
}

func TestLinks(t *testing.T) {
	s, dir, outside := store(t), folder(t), folder(t)
	put(t, filepath.Join(outside, "secret"), "x")
	put(t, filepath.Join(dir, "sub/a"), "y")
	for name, target := range map[string]string{"dangling": "nowhere", "to a folder": "sub", "out": outside, "out/file": filepath.Join(outside, "secret"), "loop": "loop"} {
		must.Do(t, os.Symlink(target, filepath.Join(dir, strings.ReplaceAll(name, "/", " "))))
	}
	snap := take(t, s, nil, dir)
	if got, want := names(snap, dir), []string{"dangling", "loop", "out", "out file", "sub/a", "to a folder"}; !slices.Equal(got, want) {
		t.Errorf("the files are %q, want %q", got, want)
	}
	if got := snap.State(filepath.Join(dir, "out")); got.Kind != Symlink || got.Target != outside || !got.Sum.IsZero() {
		t.Errorf("a link is %+v", got)
	}
	// A link takes the place of the folder, with the same file behind it.
	must.Do(t, os.Rename(filepath.Join(dir, "sub"), filepath.Join(outside, "sub")), os.Symlink(filepath.Join(outside, "sub"), filepath.Join(dir, "sub")))
	var got []string
	for _, c := range snap.Changes(take(t, s, snap, dir)) {
		got = append(got, fmt.Sprint(strings.TrimPrefix(c.Path, dir), c.Before.Kind, c.After.Kind))
	}
	check.Slice(t, got, []string{fmt.Sprint("/sub", None, Symlink), fmt.Sprint("/sub/a", File, None)}, "the changes are %q")
}

// TestSpecialFiles blocks for ever where a pipe is opened as a file is.
func TestSpecialFiles(t *testing.T) {
	s, dir := store(t), folder(t)
	path := filepath.Join(dir, "a")
	put(t, path, "x")
	before := take(t, s, nil, dir)
	pipe := &file{path: path}
	if _, err := pipe.stat(); err != nil {
		t.Fatal(err)
	}
	must.Do(t, os.Remove(path), unix.Mkfifo(path, 0o600))
	after := take(t, s, before, dir)
	if got := after.State(path); got.Kind != Other {
		t.Errorf("a pipe is %+v", got)
	}
	if got := before.Changes(after); len(got) != 1 || got[0].After.Kind != Other {
		t.Errorf("the changes are %+v", got)
	}
	// It was a file when its state was taken.
	if data, err := pipe.readWhole(make([]byte, 9)); err == nil || pipe.Kind != Other {
		t.Errorf("a pipe was read as %q: %+v", data, pipe)
	}
}

func TestWhatIsNotRead(t *testing.T) {
	s, dir := store(t), folder(t)
	s.fileSize, s.allSize, s.allFiles = 100, 1000, 5
	var paths []string
	for i := range 7 {
		paths = append(paths, filepath.Join(dir, fmt.Sprint(i)))
		put(t, paths[i], strings.Repeat("x", 10*i))
	}
	large := filepath.Join(dir, "large")
	put(t, large, strings.Repeat("x", 101))
	has := func(snap *Snapshot) (has []int) {
		for i, path := range paths {
			if !snap.State(path).Sum.IsZero() {
				has = append(has, i)
			}
		}
		return has
	}
	snap := take(t, s, nil, dir)
	if want := (Partial{Large: 1, TooMany: 2}); snap.Partial != want || !slices.Equal(has(snap), []int{0, 1, 2, 3, 4}) {
		t.Errorf("the snapshot has %v, without %v", has(snap), snap.Partial)
	}
	if got, want := snap.Partial.String(), "files without their contents: 1 too large (over 1 MB), 2 too many (over 512 MB, or 50000 files, together)"; got != want {
		t.Errorf("in words: %q", got)
	}
	// What need not be read again takes its room all the same.
	for _, f := range snap.files {
		f.readAt += int64(2 * granularity)
	}
	for _, room := range [][2]int{{100, 100}, {5, 1000}} {
		s.allFiles, s.allSize = room[0], int64(room[1])
		check.Slice(t, has(take(t, s, snap, dir)), []int{0, 1, 2, 3, 4}, "the same again has %v")
	}
	// What is known stays so when it changes, though others are smaller; what is not is compared by stat.
	must.Do(t, os.Truncate(paths[6], 1), os.WriteFile(paths[4], []byte(strings.Repeat("y", 90)), 0), os.WriteFile(large, []byte(strings.Repeat("y", 101)), 0))
	after := take(t, s, snap, dir)
	check.Slice(t, has(after), []int{0, 1, 2, 3, 4}, "the next one has %v")
	var changed []string
	for _, c := range snap.Changes(after) {
		changed = append(changed, filepath.Base(c.Path))
	}
	check.Slice(t, changed, []string{"4", "6", "large"}, "the changes are %q")
	// There is room again.
	must.Do(t, os.Remove(paths[0]))
	check.Slice(t, has(take(t, s, after, dir)), []int{1, 2, 3, 4, 6}, "with room the snapshot has %v")
	s.allFiles, s.allSize = 100, 70
	check.Slice(t, has(take(t, s, nil, dir)), []int{1, 2, 3, 6}, "with 70 bytes the snapshot has %v")
	s.names = 3
	if few := take(t, s, nil, dir); few.Partial.Unlisted != 1 || len(few.files) != 3 {
		t.Errorf("of 3 files the snapshot has %d, without %v", len(few.files), few.Partial)
	}
}

// TestChangeInNoTime changes a file so soon after it was read, and back to its times and size, that no stat
// tells. Nothing is read again once it has settled.
func TestChangeInNoTime(t *testing.T) {
	s, dir := store(t), folder(t)
	path := filepath.Join(dir, "a")
	put(t, path, "x")
	snap := take(t, s, nil, dir)
	f := snap.files[0]
	put(t, path, "y")
	var st unix.Stat_t
	must.Do(t, unix.Lstat(path, &st))
	f.ModTime, f.Changed = st.Mtim.Nano(), st.Ctim.Nano() // as a coarse clock would have it
	if got := snap.Changes(take(t, s, snap, dir)); len(got) != 1 {
		t.Errorf("a change in no time is missed: %+v", got)
	}
	f.readAt += int64(2 * granularity)
	check.Equal(t, take(t, s, snap, dir).files[0], f, "a file was read again for nothing: %v")
}

// TestContentsAreNeededStill has the store forget what a snapshot needs, or nearly.
func TestContentsAreNeededStill(t *testing.T) {
	s, dir := store(t), folder(t)
	put(t, filepath.Join(dir, "a"), "x")
	put(t, filepath.Join(dir, "b"), "y")
	old := take(t, s, nil, dir)
	for _, f := range old.files {
		f.readAt += int64(2 * granularity)
	}
	a, b := s.contentPath(old.files[0].Sum), s.contentPath(old.files[1].Sum)
	backdate(t, a, day)
	soon := take(t, s, old, dir)
	if info, err := os.Stat(a); err != nil || time.Since(info.ModTime()) < day/2 {
		t.Errorf("all contents are touched each time: %v", err)
	}
	old.touched = old.touched.Add(-2 * need)
	must.Do(t, os.Remove(b))
	late := take(t, s, old, dir)
	if info, err := os.Stat(a); err != nil || time.Since(info.ModTime()) > day/2 {
		t.Errorf("contents that are needed are not touched: %v", err)
	}
	check.Equal(t, text(t, s, late.files[1].Sum), "y", "contents that were gone are %q")
	if !soon.touched.After(old.touched) || late.touched != late.at || len(old.Changes(late)) != 0 {
		t.Errorf("touched at %v, %v, %v", old.touched, soon.touched, late.touched)
	}
}

func TestCancelledSnapshot(t *testing.T) {
	s, dir := store(t), folder(t)
	put(t, filepath.Join(dir, "a"), "x")
	last := take(t, s, nil, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, last := range []*Snapshot{nil, last} {
		if snap, err := s.Snapshot(ctx, []string{dir}, last); !errors.Is(err, context.Canceled) || snap != nil {
			t.Errorf("a cancelled snapshot is %+v, %v", snap, err)
		}
	}
}

// TestWhileFilesChange takes snapshots while files are written, replaced and removed. None fails, each sum
// has its contents, which were the file's at some moment, and when it is quiet the snapshot is right.
func TestWhileFilesChange(t *testing.T) {
	s, dir := store(t), folder(t)
	const count = 20
	path := func(i int) string { return filepath.Join(dir, fmt.Sprintf("sub%d/%d", i%3, i)) }
	whole := func(i int) string { return strings.Repeat(string(rune('a'+i)), 30_000+i) }
	for i := range count {
		put(t, path(i), whole(i))
	}
	end := make(chan struct{})
	var work sync.WaitGroup
	for w := range 2 {
		work.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-end:
					return
				default:
				}
				i := (n*7 + w) % count
				_ = os.MkdirAll(filepath.Dir(path(i)), 0o777)
				temp := filepath.Join(dir, fmt.Sprint("temp", w))
				switch n % 5 {
				case 0:
					_ = os.Remove(path(i))
				case 1:
					_ = os.RemoveAll(filepath.Dir(path(i)))
				default:
					if os.WriteFile(temp, []byte(whole(n%26)), 0o666) == nil {
						_ = os.Rename(temp, path(i))
					}
				}
			}
		})
	}
	var last *Snapshot
	for range 30 {
		last = take(t, s, last, dir)
		for _, f := range last.files {
			if f.Sum.IsZero() || strings.Contains(f.path, "temp") {
				continue
			}
			if got := text(t, s, f.Sum); got != whole(int(got[0]-'a')) || int64(len(got)) != f.Size {
				t.Errorf("%s has %d bytes, of no moment", f.path, len(got))
			}
		}
	}
	close(end)
	work.Wait()
	last = take(t, s, last, dir)
	for path, th := range readTree(t, dir) {
		if !th.is(s, last.State(path)) {
			t.Errorf("%s is not as in the snapshot: %+v", path, last.State(path))
		}
	}
}

// TestNotPermitted runs as another user where it is root, who may read everything.
func TestNotPermitted(t *testing.T) {
	if os.Getuid() == 0 {
		dir := t.TempDir()
		must.Do(t, os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777))
		self, err := os.Executable()
		must.Do(t, err)
		binary, err := os.ReadFile(self)
		must.Do(t, err, os.WriteFile(filepath.Join(dir, "test"), binary, 0o755))
		cmd := exec.Command(filepath.Join(dir, "test"), "-test.run=^TestNotPermitted$")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("as another user: %v\n%s", err, out)
		}
		return
	}
	s, dir := store(t), folder(t)
	for _, name := range []string{"a", "b", "sub/c", "sub/d"} {
		put(t, filepath.Join(dir, name), name)
	}
	must.Do(t, os.Chmod(filepath.Join(dir, "a"), 0))
	before := take(t, s, nil, dir)
	if want := (Partial{Unreadable: 1}); before.Partial != want || len(before.files) != 4 || !before.State(filepath.Join(dir, "a")).Sum.IsZero() {
		t.Errorf("the snapshot has %q, without %v", names(before, dir), before.Partial)
	}
	must.Do(t, os.Chmod(filepath.Join(dir, "sub"), 0))
	after := take(t, s, before, dir)
	must.Do(t, os.Chmod(filepath.Join(dir, "sub"), 0o755))
	if want := (Partial{Unlisted: 1, Unreadable: 1}); after.Partial != want || len(before.Changes(after)) != 0 {
		t.Errorf("with a closed folder the changes are %+v, without %v", before.Changes(after), after.Partial)
	}
	check.Equal(t, after.Partial.String(), "files without their contents: 1 unreadable; not all files are listed",
		"in words: %q")
	must.Do(t, os.Chmod(filepath.Join(dir, "a"), 0o644))
	open := take(t, s, after, dir)
	if open.Partial != (Partial{}) || text(t, s, open.State(filepath.Join(dir, "a")).Sum) != "a" {
		t.Errorf("with all open the snapshot lacks %v", open.Partial)
	}
}

func TestWhatIsSkipped(t *testing.T) {
	dir, s := folder(t), store(t)
	put(t, filepath.Join(dir, "kept"), "x")
	put(t, filepath.Join(dir, "passing"), "x")
	s.Skip = func(path string) bool { return path == filepath.Join(dir, "passing") }
	check.Slice(t, names(take(t, s, nil, dir), dir), []string{"kept"}, "the files are %q")
}
