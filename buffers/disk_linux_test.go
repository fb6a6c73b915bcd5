package buffers

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// In a directory that may not be written, a file that may be is written in place.
func TestWriteInPlace(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	path := dir + "/f"
	must(t, os.WriteFile(path, []byte("old\n"), 0o666))
	must(t, os.Chmod(path, 0o666))
	must(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
	old, err := readOld(path)
	must(t, err)
	before, err := os.Stat(path)
	must(t, err)
	asNobody(func() { err = journal("").write(path, []byte("new\n"), old, old.standing()) })
	must(t, err)
	after, err := os.Stat(path)
	must(t, err)
	data, _ := os.ReadFile(path)
	if string(data) != "new\n" || !os.SameFile(before, after) || after.Mode() != before.Mode() {
		t.Errorf("%q, %v", data, after.Mode())
	}
	asNobody(func() { err = journal("").write(dir+"/other", nil, file{}, nil) })
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a new file: %v", err)
	}
}

// asNobody runs fn with the rights of an ordinary user, also where the tests run as root.
func asNobody(fn func()) {
	if os.Getuid() != 0 {
		fn()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		unix.SetfsuidRetUid(65534)
		fn()
	}()
	<-done
}

// What permissions keep from being read or written is an error at once, and known before anybody is asked.
func TestFilesWithoutPermission(t *testing.T) {
	dir := t.TempDir()
	for parent := dir; parent != os.TempDir() && parent != "/"; parent = filepath.Dir(parent) {
		must(t, os.Chmod(parent, 0o755))
	}
	closed, locked := dir+"/closed", dir+"/locked"
	must(t, os.WriteFile(closed, []byte("x\n"), 0o600))
	must(t, os.Chmod(closed, 0))
	must(t, os.Mkdir(locked, 0o700))
	must(t, os.WriteFile(locked+"/file", []byte("x\n"), 0o666))
	must(t, os.Chmod(locked, 0))
	t.Cleanup(func() { os.Chmod(locked, 0o700) })
	for _, path := range []string{closed, locked + "/file"} {
		var err error
		asNobody(func() { _, err = readFile(path) })
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, want := range map[string]error{
		dir + "/missing": nil, dir: ErrDirectory, "/dev/zero": ErrNotRegular, locked + "/file": fs.ErrPermission,
	} {
		for _, write := range []bool{false, true} {
			var err error
			asNobody(func() { err = Obstacle(path, write) })
			if !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Errorf("%s, write %v: %v, want %v", path, write, err, want)
			}
		}
	}
}
