package atomicfile

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "file")
	for _, parts := range [][][]byte{{[]byte("one"), []byte(" two")}, {[]byte("three")}, nil} {
		must.Do(t, Write(path, parts...))
		want := ""
		for _, part := range parts {
			want += string(part)
		}
		if got, err := os.ReadFile(path); string(got) != want {
			t.Errorf("it has %q, %v", got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("it is %v, %v", info.Mode(), err)
	}
	// Where it cannot become the file nothing of it is left.
	if err := Write(dir, []byte("a folder is there")); err == nil {
		t.Error("a folder became a file")
	}
	// Nor where its folder cannot be made, as a link to nowhere is in its place.
	must.Do(t, os.Symlink("nowhere", filepath.Join(dir, "link")))
	if err := Write(filepath.Join(dir, "link", "file"), []byte("text")); err == nil {
		t.Error("a file was written nowhere")
	}
	for _, folder := range []string{dir, filepath.Dir(dir)} {
		if left, _ := filepath.Glob(filepath.Join(folder, Temporary+"*")); len(left) > 0 {
			t.Errorf("left are %v", left)
		}
	}
}

// Where there is no room for all of it, the file stays as it was: a limit on the size of files stands in for a full disk.
func TestWriteOnAFullDisk(t *testing.T) {
	const inside = "ACP_TEST_FULL"
	if os.Getenv(inside) == "" { // the limit holds for all that a process writes
		self, err := os.Executable()
		must.Do(t, err)
		cmd := exec.Command(self, "-test.run=^TestWriteOnAFullDisk$")
		cmd.Env = append(os.Environ(), inside+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	dir := t.TempDir()
	path := must.Write(t, dir, "file", "old")
	var limit syscall.Rlimit
	must.Do(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	full := limit
	full.Cur = 8192
	must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full))
	err := Write(path, []byte("new"), make([]byte, 10_000), nil)
	must.Do(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("it was written: %v", err)
	}
	if data, err := os.ReadFile(path); string(data) != "old" {
		t.Errorf("it has %q, %v", data, err)
	}
	if left, err := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
}
