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
	asNobody(func() { err = writeFile(path, []byte("new\n"), old) })
	must(t, err)
	after, err := os.Stat(path)
	must(t, err)
	data, _ := os.ReadFile(path)
	if string(data) != "new\n" || !os.SameFile(before, after) || after.Mode() != before.Mode() {
		t.Errorf("%q, %v", data, after.Mode())
	}
	asNobody(func() { err = writeFile(dir+"/other", nil, file{}) })
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
