package atomicfile

import (
	"os"
	"path/filepath"
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
