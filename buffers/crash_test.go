package buffers_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/fsnotify/fsnotify"
)

// victimEnv is set in a process of this test binary that writes until it is killed.
const victimEnv = "ACP_BUFFERS_VICTIM"

// target is a file that a victim writes again and again.
type target struct {
	name string
	mode fs.FileMode
	size int // bytes of its texts, about
}

var targets = []target{
	{"plain", 0o640, 40_000},
	{"secret", 0o600, 2_000_000},
	{"to", 0o755, 40_000}, // by a link
	{"linked", 0o644, 4_000_000},
	{"undone", 0o644, 100_000}, // by the user's wish
}

// textOf is the n-th text of a target; the 0th is there before. Their lengths differ.
func textOf(t target, n int) []byte {
	line := fmt.Sprintf("%s has its text %d\n", t.name, n)
	return bytes.Repeat([]byte(line), (t.size+n*7919%t.size)/len(line))
}

// beVictim is a host without a Neovim whose agent writes all targets, and new files, without end. It says
// "NAME N" on its standard output before it goes on from the N-th text of one.
func beVictim(dir string) {
	f := buffers.New(nobody{})
	f.Journal(filepath.Join(dir, "journal"))
	var said sync.Mutex
	write := func(path, name string, n int, text []byte) {
		done := make(chan error, 1)
		ended := func(_ buffers.Written, err error) { done <- err }
		if name == "undone" {
			f.Edit(context.Background(), buffers.Edit{Path: path, Change: func(*string) (*string, error) { return new(string(text)), nil }}, ended)
		} else {
			f.Write(context.Background(), buffers.Write{Path: path, Text: string(text)}, ended)
		}
		said.Lock()
		defer said.Unlock()
		if err := <-done; err != nil {
			fmt.Println("error", err)
		}
		fmt.Println(name, n)
	}
	var all sync.WaitGroup
	for _, t := range targets {
		path := filepath.Join(dir, "files", t.name)
		if t.name == "to" {
			path = filepath.Join(dir, "links", "from")
		}
		all.Go(func() {
			for n := 1; ; n++ {
				write(path, t.name, n, textOf(t, n))
			}
		})
	}
	all.Go(func() {
		for n := 1; ; n++ {
			write(filepath.Join(dir, "files", "new", fmt.Sprint(n), "file"), "new", n, []byte("new\n"))
		}
	})
	all.Wait()
}

// nobody is a Neovim that shows no file.
type nobody struct{}

func (nobody) CallBuffers(context.Context, string, any, any) error { return nil }

// TestKilledWhileWriting kills a process at random points of what it writes. Each file has its old text
// or the new one, or, where it can be written in place only, is offered with both; and is what it was.
func TestKilledWhileWriting(t *testing.T) {
	random := rand.New(rand.NewPCG(*seed, 1))
	for i := range max(1, *rounds/6) {
		killedWhileWriting(t, random)
		if t.Failed() {
			t.Fatalf("in round %d of -seed %d", i, *seed)
		}
	}
}

func killedWhileWriting(t *testing.T, random *rand.Rand) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	defer os.RemoveAll(dir)
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	must.Do(t, os.MkdirAll(in("files", "new"), 0o777))
	must.Do(t, os.MkdirAll(in("links"), 0o777))
	must.Do(t, os.MkdirAll(in("journal"), 0o777))
	for _, target := range targets {
		must.Do(t, os.WriteFile(in("files", target.name), textOf(target, 0), 0o600))
		must.Do(t, os.Chmod(in("files", target.name), target.mode))
	}
	must.Do(t, os.Symlink("../files/to", in("links", "from")))
	must.Do(t, os.Link(in("files", "linked"), in("links", "other")))

	watch, err := fsnotify.NewBufferedWatcher(1 << 12)
	must.Do(t, err)
	defer watch.Close()
	must.Do(t, watch.Add(in("files")))
	must.Do(t, watch.Add(in("journal")))
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), victimEnv+"="+dir)
	victim.Stderr = os.Stderr
	out, err := victim.StdoutPipe()
	must.Do(t, err)
	must.Do(t, victim.Start())
	// Of what is seen of it, the end comes at a random one; often when the journal has just got the second
	// text of a file, which is then written in place.
	inPlace, parts := random.IntN(2) == 0, map[string]int{}
	for seen, left := 0, 1+random.IntN(200); left > 0 && seen < 5000; seen++ {
		select {
		case e := <-watch.Events:
			if e.Has(fsnotify.Write) && filepath.Dir(e.Name) == in("journal") {
				parts[e.Name]++
			}
			if !inPlace || left > 1 || parts[e.Name] == 4 {
				left--
			}
		case err := <-watch.Errors:
			t.Errorf("watch: %v", err)
		}
	}
	must.Do(t, victim.Process.Kill())
	last := map[string]int{}
	for words := bufio.NewScanner(out); words.Scan(); {
		var name string
		var n int
		if _, err := fmt.Sscan(words.Text(), &name, &n); err != nil {
			t.Errorf("it says %q", words.Text())
		}
		last[name] = n
	}
	_ = victim.Wait() // which says that it was killed

	left, err := filepath.Glob(in("files", ".acp-*"))
	must.Do(t, err)
	for _, path := range left {
		if !buffers.IsTemporary(path) {
			t.Errorf("%s could be a file of a project", path)
		}
		data, _ := os.ReadFile(path)
		if info, err := os.Stat(path); err != nil || bytes.HasPrefix(data, []byte("secret")) && info.Mode().Perm() != 0o600 {
			t.Errorf("others read the secret: %v, %v", info.Mode(), err)
		}
	}
	f := buffers.New(nobody{})
	f.Journal(in("journal"))
	offered := f.Unfinished()
	for _, target := range targets {
		path := in("files", target.name)
		had, next := textOf(target, last[target.name]), textOf(target, last[target.name]+1)
		for _, u := range offered {
			if u.Path != path || target.name != "linked" && target.name != "undone" {
				continue
			}
			kept, err := os.ReadFile(in("journal", u.ID))
			must.Do(t, err)
			for which, text := range map[string][]byte{"old": had, "new": next} {
				must.Do(t, os.WriteFile(in("journal", u.ID), kept, 0o600))
				must.Do(t, f.Recover(u.ID, which))
				if data, _ := os.ReadFile(path); !bytes.Equal(data, text) {
					t.Errorf("%s is recovered as %s", path, short(data))
				}
			}
		}
		data, err := os.ReadFile(path)
		must.Do(t, err)
		if !bytes.Equal(data, had) && !bytes.Equal(data, next) {
			t.Errorf("%s has %s, not its text %d or the next", path, short(data), last[target.name])
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != target.mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for n := range last["new"] {
		if data, err := os.ReadFile(in("files", "new", fmt.Sprint(n+1), "file")); string(data) != "new\n" {
			t.Errorf("new file %d has %q, %v", n, data, err)
		}
	}
	a, errA := os.Stat(in("files", "linked"))
	b, errB := os.Stat(in("links", "other"))
	if err := errors.Join(errA, errB); err != nil || !os.SameFile(a, b) {
		t.Errorf("the links lead to different files: %v", err)
	}
	if to, err := os.Readlink(in("links", "from")); to != "../files/to" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	must.Do(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if strings.HasPrefix(e.Name(), ".acp-") || filepath.Dir(path) == in("journal") && !fresh(path) {
			t.Errorf("%s is left", path)
		}
		return err
	}))
	t.Logf("offered %d, %v", len(offered), last)
}

// fresh reports whether no write is on an entry of the journal.
func fresh(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() == 0
}

// short is the beginning of a text.
func short(data []byte) string { return fmt.Sprintf("%d bytes, %.40q…", len(data), data) }
