package buffers_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
)

// A Neovim that is killed while it writes leaves a file that is neither old nor new: both texts are
// offered afterwards.
func TestWriteCutShortIsOffered(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		dir := filepath.Join(t.TempDir(), "writes")
		n.files.Journal(dir)
		path := n.edit("a.txt", "old\r\n")
		n.hook = func(fn string) {
			if kept, _ := os.ReadDir(dir); fn == "write" && len(kept) != 1 {
				t.Errorf("%d writes are kept when Neovim begins", len(kept))
			}
		}
		n.write(path, "between\n")
		if kept, _ := os.ReadDir(dir); len(kept) != 0 {
			t.Errorf("%d writes are kept afterwards", len(kept))
		}
		pid := int(n.lua("return vim.uv.os_getpid()").(int64))
		n.hook = func(fn string) {
			if fn == "write" {
				must(t, syscall.Kill(pid, syscall.SIGKILL))
				n.put("a.txt", "ne") // as far as it came
			}
		}
		if _, err := n.tryWrite(path, "new\n"); err == nil {
			t.Error("a Neovim that is gone has written")
		}
		n.hook = nil

		next := func() *buffers.Files {
			f := buffers.New(n)
			f.Journal(dir)
			return f
		}
		if list := next().Unfinished(); len(list) != 0 {
			t.Errorf("offered are %v, whose process lives", list)
		}
		orphan(t, dir)
		list := next().Unfinished()
		if len(list) != 1 || list[0].Path != path {
			t.Fatalf("offered are %v", list)
		}
		kept, err := os.ReadFile(filepath.Join(dir, list[0].ID))
		must(t, err)
		for _, c := range []struct{ which, want string }{{"keep", "ne"}, {"new", "new\r\n"}, {"old", "between\r\n"}} {
			n.put("a.txt", "ne")
			must(t, os.WriteFile(filepath.Join(dir, list[0].ID), kept, 0o600))
			must(t, next().Recover(list[0].ID, c.which))
			n.wantDisk("a.txt", c.want)
			if list := next().Unfinished(); len(list) != 0 {
				t.Errorf("offered again are %v", list)
			}
		}
		// Where the file has one of the texts there is nothing to offer.
		for _, text := range []string{"new\r\n", "between\r\n"} {
			n.put("a.txt", text)
			must(t, os.WriteFile(filepath.Join(dir, "x"), kept, 0o600))
			if list := next().Unfinished(); len(list) != 0 {
				t.Errorf("offered are %v", list)
			}
			if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
				t.Error("it is kept")
			}
		}
	})
}

// orphan makes the writes that are kept those of a process that is gone.
func orphan(t *testing.T, dir string) {
	t.Helper()
	gone := exec.Command("true")
	must(t, gone.Run())
	kept, err := os.ReadDir(dir)
	must(t, err)
	for _, k := range kept {
		name := filepath.Join(dir, k.Name())
		data, err := os.ReadFile(name)
		must(t, err)
		own, other := `"Pid":`+strconv.Itoa(os.Getpid())+`,`, `"Pid":`+strconv.Itoa(gone.Process.Pid)+`,`
		if !strings.Contains(string(data), own) {
			t.Fatalf("%q is of another process", data)
		}
		must(t, os.WriteFile(name, []byte(strings.Replace(string(data), own, other, 1)), 0o600))
	}
}
