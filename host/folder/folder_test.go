package folder

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A file is inside of a folder, not of one whose name only begins alike; a link to a folder is as good as the folder.
func TestInside(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	must.Do(t, os.Mkdir(filepath.Join(dir, "work"), 0o700), os.Symlink("work", filepath.Join(dir, "link")))
	folds := FoldsCase(filepath.Join(dir, "work"))
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
		{"WORK/file", "link", folds},
	} {
		folders := []string{"/no/such", filepath.Join(dir, c.folder)}
		check.Equal(t, Inside(filepath.Join(dir, c.file), folders), c.want, "%s in %s: %v", c.file, c.folder)
		has := Folder{Roots: folders}.Has(filepath.Join(dir, c.file))
		check.Equal(t, has, c.want, "the folder %s has %s: %v", c.folder, c.file)
	}
	check.Equal(t, Inside("/any/file", []string{"/"}), true, "in the root: %v")
	check.Equal(t, Inside("/any/file", nil), false, "in no folder: %v")
}

// The user reads what the system says, without the path that they read anyway.
func TestReason(t *testing.T) {
	for want, err := range map[string]error{
		"no space left on device": &os.PathError{Op: "write", Path: "/a", Err: syscall.ENOSPC},
		"no room":                 errors.New("no room"),
	} {
		check.Equal(t, Reason(err), want, "it is %q")
	}
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
		check.Equal(t, Tilde(path), want, "%s is %s", path)
	}
	t.Setenv("HOME", "/")
	check.Equal(t, Tilde("/etc"), "/etc", "where / is the home it is %s")
}
