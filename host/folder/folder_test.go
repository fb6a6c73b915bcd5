package folder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A file is inside of a folder, not of one whose name only begins alike; a link to a folder is as good as the folder.
func TestInside(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	must.Do(t, os.Mkdir(filepath.Join(dir, "work"), 0o700), os.Symlink("work", filepath.Join(dir, "link")))
	for _, c := range []struct {
		file, folder string
		want         bool
	}{
		{"work/file", "work", true},
		{"work/file", "link", true},
		{"work", "work", true},
		{"work2/file", "work", false},
		{"work/file", "gone", false},
		{"file", "work", false},
	} {
		folders := []string{"/no/such", filepath.Join(dir, c.folder)}
		check.Equal(t, Inside(filepath.Join(dir, c.file), folders), c.want, "%[2]s in %[3]s: %[1]v", c.file, c.folder)
	}
	check.Equal(t, Inside("/any/file", []string{"/"}), true, "in the root: %v")
	check.Equal(t, Inside("/any/file", nil), false, "in no folder: %v")
}

// A file system ignores case if a name in the other case is the same file, not if it is another one.
func TestFoldsCase(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Do(t, os.Mkdir("dir", 0o700), os.Mkdir("1", 0o700))
	if FoldsCase("dir") {
		t.Skip("the tests run where case is ignored")
	}
	must.Do(t, os.Mkdir("DIR", 0o700))
	check.Equal(t, FoldsCase("dir"), false, "with two folders it is %v")
	must.Do(t, os.Remove("DIR"), os.Symlink("dir", "DIR"))
	check.Equal(t, FoldsCase("dir"), true, "with one under both names it is %v")
	check.Equal(t, FoldsCase("1"), false, "of a name without letters it is %v")
}

func TestTilde(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	for path, want := range map[string]string{"/home/me": "~", "/home/me/a": "~/a", "/home/mean": "/home/mean", "/etc": "/etc"} {
		check.Equal(t, Tilde(path), want, "%[2]s is %[1]s", path)
	}
	t.Setenv("HOME", "/")
	check.Equal(t, Tilde("/etc"), "/etc", "where / is the home it is %s")
}
