package files

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func paths(found []Match, _ bool) []string {
	var list []string
	for _, f := range found {
		list = append(list, f.Path)
	}
	return list
}

// finderOf is a Finder that knows the lists it is given, one after the other.
func finderOf(t *testing.T, lists ...[]string) *Finder {
	f := New()
	f.list = func(context.Context, string) Listing {
		now := lists[0]
		if len(lists) > 1 {
			lists = lists[1:]
		}
		return Listing{Paths: now}
	}
	t.Cleanup(f.Close)
	return f
}

func TestBestFirst(t *testing.T) {
	f := finderOf(t, []string{
		"README.md", "doc/reading.md", "src/lexer.lua", "src/parser.lua", "test/lexer_spec.lua",
		"a/very/deep/folder/lexer.lua", "lexicon/notes.txt", "src/Other File.txt", "moon/a.lua", "x/y/z/moon.lua",
	})
	for query, want := range map[string][]string{
		"":          {"README.md", "a/", "doc/", "lexicon/", "moon/"},
		"lexer":     {"src/lexer.lua", "test/lexer_spec.lua", "a/very/deep/folder/lexer.lua"},
		"slex":      {"src/lexer.lua", "test/lexer_spec.lua", "src/Other File.txt"},
		"srcpars":   {"src/parser.lua"},
		"READ":      {"README.md"},
		"read":      {"README.md", "doc/reading.md"},
		"lexicon/n": {"lexicon/notes.txt"},
		"other f":   {"src/Other File.txt"},
		"moon":      {"moon/", "x/y/z/moon.lua", "moon/a.lua"}, // the name of the file itself counts more
		"zzz":       nil,
	} {
		got := paths(f.Find(Query{Dir: "/p", Text: query, Limit: 5}))
		check.Deep(t, got, want, "%q finds %q", query)
	}
}

// Of more files than are asked for the best are found.
func TestOnlySomeAreFound(t *testing.T) {
	f := finderOf(t, []string{"a/x/lexer.lua", "src/lexer.lua", "lexer", "b/my_lexer.lua", "le/x/er"})
	for limit, want := range [][]string{nil, {"lexer"}, {"lexer", "src/lexer.lua"}, {"lexer", "src/lexer.lua", "a/x/lexer.lua"}} {
		got := paths(f.Find(Query{Dir: "/p", Text: "lexer", Limit: limit}))
		check.Slice(t, got, want, "%d are %q", limit)
	}
}

func TestOpenFilesComeFirst(t *testing.T) {
	f := finderOf(t, []string{"a.lua", "b.lua", "sub/a.lua", "z.txt"})
	got, _ := f.Find(Query{Dir: "/p", Text: "lua", Open: []string{"/elsewhere/c.lua", "/p/sub/a.lua", "/p/z.txt"}, Limit: 9})
	want := []Match{{"sub/a.lua", true}, {"/elsewhere/c.lua", true}, {"a.lua", false}, {"b.lua", false}}
	check.Deep(t, got, want, "found %v")
	got, _ = f.Find(Query{Dir: "/p", Open: []string{"/p/z.txt", "/p/b.lua"}, Limit: 3})
	want = []Match{{"z.txt", true}, {"b.lua", true}, {"a.lua", false}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, want %v: the file used last first", got, want)
	}
}

// Who was answered before the folder was listed is told so, and can wait for the list.
func TestAFirstListCanBeWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := finderOf(t, []string{"new"})
		fast := f.list
		f.list = func(ctx context.Context, dir string) Listing {
			time.Sleep(time.Minute)
			return fast(ctx, dir)
		}
		if got, partial := f.Find(Query{Dir: "/p", Open: []string{"/p/open"}, Limit: 9}); len(got) != 1 || !partial {
			t.Errorf("found %v, partial: %v", got, partial)
		}
		f.Await("/p")
		if got, partial := f.Find(Query{Dir: "/p", Limit: 9}); !slices.Equal(paths(got, partial), []string{"new"}) || partial {
			t.Errorf("found %v, partial: %v", got, partial)
		}
		time.Sleep(time.Hour)
		if _, partial := f.Find(Query{Dir: "/p", Limit: 9}); partial {
			t.Error("an old list counts as none")
		}
		// The same of a further folder: what is known of the others is found.
		further := Query{Dir: "/p", Further: []string{"/q"}, Limit: 9}
		if got, partial := f.Find(further); !slices.Equal(paths(got, partial), []string{"new"}) || !partial {
			t.Errorf("found %v, partial: %v", got, partial)
		}
		f.Await("/q", "/p")
		if got, partial := f.Find(further); !slices.Equal(paths(got, partial), []string{"new", "/q/new"}) || partial {
			t.Errorf("found %v, partial: %v", got, partial)
		}
	})
}

func TestStaleListIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := finderOf(t, []string{"old"}, []string{"new"})
		find := func() []string { return paths(f.Find(Query{Dir: "/p", Limit: 9})) }
		check.Slice(t, find(), []string{"old"}, "found %q")
		time.Sleep(freshness / 2)
		check.Slice(t, find(), []string{"old"}, "found %q while the list was fresh")
		time.Sleep(freshness)
		check.Slice(t, find(), []string{"new"}, "found %q after the list was stale")
	})
}

func TestNobodyWaitsForASlowList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := finderOf(t, []string{"old"}, []string{"new"})
		fast := f.list
		slow := time.Duration(0)
		f.list = func(ctx context.Context, dir string) Listing {
			time.Sleep(slow)
			return fast(ctx, dir)
		}
		find := func() []string {
			begun := time.Now()
			got := paths(f.Find(Query{Dir: "/p", Open: []string{"/p/open"}, Limit: 9}))
			if took := time.Since(begun); took > patience {
				t.Errorf("waited %v", took)
			}
			return got
		}
		find()
		time.Sleep(2 * freshness)
		slow = time.Minute
		for range 3 {
			check.Slice(t, find(), []string{"open", "old"}, "found %q while a list was made")
		}
		time.Sleep(slow)
		check.Slice(t, find(), []string{"open", "new"}, "found %q after it was made")
		// It took a minute, so it is not made again and again.
		time.Sleep(4 * time.Minute)
		if f.mu.Lock(); f.folders["/p"].scanning != nil || time.Now().After(f.folders["/p"].expires) {
			t.Error("a list that took a minute is stale after four")
		}
		f.mu.Unlock()
	})
}

func write(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, nil, 0o666))
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestListOfGit(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, dir, "kept.txt", "gone.txt", "sub/deep/a b.txt", "ümlaut.txt")
	git(t, dir, "add", ".")
	write(t, dir, "new.txt", "ignored.log", ".gitignore", ".hidden/x", "line\nbreak")
	must.Do(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*.log\n"), 0o666))
	must.Do(t, os.Remove(filepath.Join(dir, "gone.txt")))
	got := sorted(List(t.Context(), dir).Paths)
	want := []string{".gitignore", ".hidden/", "kept.txt", "new.txt", "sub/", "ümlaut.txt", ".hidden/x", "sub/deep/", "sub/deep/a b.txt"}
	check.Slice(t, got, want, "the list is %q")
	check.Slice(t, sorted(List(t.Context(), filepath.Join(dir, "sub")).Paths), []string{"deep/", "deep/a b.txt"},
		"the list of a folder inside is %q")
}

func TestListInOddRepositories(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, dir, "all/ignored/a", "out/b", "lib/c", "kept/d")
	must.Do(t, os.WriteFile(filepath.Join(dir, ".git/info/exclude"), []byte("*/ignored\nout\n"), 0o666))
	git(t, filepath.Join(dir, "lib"), "init", "-q")
	git(t, filepath.Join(dir, "lib"), "add", ".")
	git(t, filepath.Join(dir, "lib"), "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "x")
	git(t, dir, "-c", "advice.addEmbeddedRepo=false", "add", "lib")
	must.Do(t, os.RemoveAll(filepath.Join(dir, "lib/.git")))
	for _, test := range []struct {
		dir  string
		want Listing
	}{
		{"", Listing{Paths: []string{"kept/d", "lib"}, Git: true}},
		{"all", Listing{Git: true}},            // all of what is in it is ignored
		{"out", Listing{Paths: []string{"b"}}}, // it is ignored itself, and somebody works there
		{"lib", Listing{Paths: []string{"c"}}}, // a submodule that is no repository
	} {
		got := List(t.Context(), filepath.Join(dir, test.dir))
		if !slices.Equal(got.Paths, test.want.Paths) || got.Git != test.want.Git || got.Cut {
			t.Errorf("the list of %q is %+v, want %+v", test.dir, got, test.want)
		}
	}
	// As in an editor that another repository's git has started.
	t.Setenv("GIT_DIR", filepath.Join(t.TempDir(), "other"))
	t.Setenv("GIT_WORK_TREE", t.TempDir())
	if got := List(t.Context(), filepath.Join(dir, "kept")); !slices.Equal(got.Paths, []string{"d"}) || !got.Git {
		t.Errorf("the list is %+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := List(ctx, dir); !got.Cut {
		t.Errorf("the list that was cancelled is %+v", got)
	}
}

// What says which files belong to a repository is known, wherever it is; and where there is none, that is an error.
func TestRulesOfARepository(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_CONFIG_HOME", "")
	write(t, dir, "home/ignored", "repo/sub/deep/file", "none/file")
	git(t, filepath.Join(dir, "repo"), "init", "-q")
	git(t, filepath.Join(dir, "repo"), "config", "core.excludesFile", "~/ignored")
	index, others, err := Rules(t.Context(), filepath.Join(dir, "repo/sub/deep"))
	must.Do(t, err)
	check.Equal(t, index, filepath.Join(dir, "repo/.git/index"), "the index is %q")
	for _, name := range []string{
		"repo/.git/info/exclude", "repo/.git/config", "home/ignored", "home/.gitconfig", "home/.config/git/ignore",
		"repo/.gitignore", "repo/sub/.gitignore",
	} {
		if !slices.Contains(others, filepath.Join(dir, name)) {
			t.Errorf("%s is not among %q", name, others)
		}
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", dir)
	none := filepath.Join(dir, "none")
	if index, others, err := Rules(t.Context(), none); err == nil || index != "" || others != nil {
		t.Errorf("of no repository they are %q, %q", index, others)
	}
	if got, err := NotIgnored(t.Context(), none, []string{filepath.Join(none, "a")}); err == nil {
		t.Errorf("no repository ignores all but %q", got)
	}
}

// What is not there yet would be ignored where its folder is.
func TestIgnoredBeforeItIsThere(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	must.Do(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("out/\n"), 0o666))
	for name, want := range map[string]bool{"out/of/sight/file": true, "in/of/sight/file": false, "file": false} {
		check.Equal(t, Ignored(t.Context(), filepath.Join(dir, name)), want, "%s is ignored: %v", name)
	}
}

// Without git, ripgrep lists the files, as many as there is room for.
func TestListOfRipgrep(t *testing.T) {
	for _, test := range []struct {
		script string
		files  int
		cut    bool
	}{
		{`printf 'a.txt\0sub/b.txt\0'`, 2, false},
		{`printf 'a.txt\0sub/b.txt\0'; exit 2`, 2, true},
		{fmt.Sprintf(`yes a.txt | head -%d | tr '\n' '\0'`, maxFiles+1), maxFiles, true},
	} {
		dir, bin := t.TempDir(), t.TempDir()
		write(t, dir, "a.txt", "node_modules/x", "sub/b.txt")
		must.Do(t, os.WriteFile(filepath.Join(bin, "rg"), []byte("#!/bin/sh\n"+test.script+"\n"), 0o755))
		t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
		got := List(t.Context(), dir)
		if len(got.Paths) != test.files || got.Cut != test.cut || got.Git || !slices.Contains(got.Paths, "a.txt") {
			t.Errorf("by %s there are %d files, cut: %v, of git: %v", test.script, len(got.Paths), got.Cut, got.Git)
		}
	}
}

func TestListWithoutGit(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.txt", "sub/b.txt", "node_modules/m/index.js", ".git/HEAD")
	must.Do(t, os.Mkdir(filepath.Join(dir, "empty"), 0o777))
	check.Slice(t, sorted(listDisk(t.Context(), dir)), []string{"a.txt", "empty/", "sub/", "sub/b.txt"}, "the list is %q")
	if got := List(t.Context(), dir).Paths; !slices.Contains(got, "sub/b.txt") {
		t.Errorf("the list is %q", got)
	}
	if got := List(t.Context(), filepath.Join(dir, "not there")).Paths; len(got) != 0 {
		t.Errorf("the list of a folder that is not there is %q", got)
	}
}

func TestCloseEndsAScan(t *testing.T) {
	f := New()
	begun := make(chan struct{})
	f.list = func(ctx context.Context, _ string) Listing {
		close(begun)
		<-ctx.Done()
		return Listing{}
	}
	go f.Find(Query{Dir: "/p", Limit: 1})
	<-begun
	f.Close()
	if got, _ := f.Find(Query{Dir: "/other", Open: []string{"/other/x"}, Limit: 1}); len(got) != 1 {
		t.Errorf("found %v after the end", got)
	}
}

// many are as many files as a large repository has.
func many() []string {
	var list []string
	for i := range 100_000 {
		list = append(list, fmt.Sprintf("packages/group%d/module-%d/src/component_%d.test.tsx", i%50, i%1000, i))
	}
	return list
}

func BenchmarkFind100000(b *testing.B) {
	f := New()
	defer f.Close()
	all := many()
	f.list = func(context.Context, string) Listing { return Listing{Paths: all} }
	f.Await("/p")
	for _, query := range []string{"", "c", "comp", "modcomp99"} {
		b.Run("query="+query, func(b *testing.B) {
			for b.Loop() {
				f.Find(Query{Dir: "/p", Text: query, Limit: 50})
			}
		})
	}
}

func BenchmarkIndex100000(b *testing.B) {
	all := many()
	for b.Loop() {
		newIndex(sorted(all))
	}
}
