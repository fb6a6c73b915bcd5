package buffers

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// What is taken back is written in place, and stays the same file; a program that runs is not, and stays whole.
func TestUndoInPlace(t *testing.T) {
	var files []fs.FileInfo
	undo := func(path string) {
		for range 2 {
			info, err := os.Stat(path)
			must.Do(t, err)
			files = append(files, info)
			old, err := readOld(path)
			must.Do(t, err)
			must.Do(t, (*journal)(nil).undo(path, []byte("old\n"), old, old.standing()))
			if data, _ := os.ReadFile(path); string(data) != "old\n" {
				t.Errorf("%s has %d bytes", path, len(data))
			}
		}
	}
	plain, program := t.TempDir()+"/plain", t.TempDir()+"/program"
	must.Do(t, os.WriteFile(plain, []byte("longer\n"), 0o666))
	undo(plain)
	if !os.SameFile(files[0], files[1]) {
		t.Error("it is another file")
	}
	sleep, err := os.ReadFile("/bin/sleep")
	must.Do(t, err)
	must.Do(t, os.WriteFile(program, sleep, 0o777))
	cmd := exec.Command(program, "1000")
	must.Do(t, cmd.Start())
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	undo(program)
}

// In a directory that may not be written, a file that may be is written in place.
func TestWriteInPlace(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Chmod(filepath.Dir(dir), 0o755))
	path := dir + "/f"
	must.Do(t, os.WriteFile(path, []byte("old\n"), 0o666))
	must.Do(t, os.Chmod(path, 0o666))
	must.Do(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
	old, err := readOld(path)
	must.Do(t, err)
	before, err := os.Stat(path)
	must.Do(t, err)
	asNobody(func() { err = (*journal)(nil).write(path, []byte("new\n"), old, old.standing()) })
	must.Do(t, err)
	after, err := os.Stat(path)
	must.Do(t, err)
	data, _ := os.ReadFile(path)
	if string(data) != "new\n" || !os.SameFile(before, after) || after.Mode() != before.Mode() {
		t.Errorf("%q, %v", data, after.Mode())
	}
	asNobody(func() { err = (*journal)(nil).write(dir+"/other", nil, file{}, nil) })
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
		must.Do(t, os.Chmod(parent, 0o755))
	}
	closed, locked := dir+"/closed", dir+"/locked"
	must.Do(t, os.WriteFile(closed, []byte("x\n"), 0o600))
	must.Do(t, os.Chmod(closed, 0))
	must.Do(t, os.Mkdir(locked, 0o700))
	must.Do(t, os.WriteFile(locked+"/file", []byte("x\n"), 0o666))
	must.Do(t, os.Chmod(locked, 0))
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

// An access list says more than the mode: lost, it would be the group that may read.
func TestWriteKeepsAttributes(t *testing.T) {
	// Others of this user may read, the file's group may not.
	var list []byte
	for _, e := range [][3]uint32{{1, 6, ^uint32(0)}, {2, 4, 65534}, {4, 0, ^uint32(0)}, {16, 4, ^uint32(0)}, {32, 0, ^uint32(0)}} {
		list = binary.LittleEndian.AppendUint16(list, uint16(e[0]))
		list = binary.LittleEndian.AppendUint16(list, uint16(e[1]))
		list = binary.LittleEndian.AppendUint32(list, e[2])
	}
	list = append([]byte{2, 0, 0, 0}, list...)
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		old, err := readOld(path)
		must.Do(t, err)
		must.Do(t, (*journal)(nil).write(path, []byte(text), old, old.standing()))
		if data, _ := os.ReadFile(path); string(data) != text {
			t.Errorf("the disk has %q", data)
		}
	}
	path := dir + "/a"
	must.Do(t, os.WriteFile(path, []byte("one\n"), 0o666))
	given := map[string]string{"user.note": "kept", accessList: string(list)}
	for name, value := range given {
		if err := unix.Setxattr(path, name, []byte(value), 0); err != nil {
			t.Skipf("%s: %v", name, err)
		}
	}
	write(path, "two\n")
	for name, want := range given {
		got := make([]byte, 1000)
		size, err := unix.Getxattr(path, name, got)
		if err != nil || string(got[:size]) != want {
			t.Errorf("%s is %q, %v", name, got[:max(size, 0)], err)
		}
	}
	// A folder's default is for new files.
	plain := dir + "/b"
	must.Do(t, os.WriteFile(plain, []byte("one\n"), 0o666))
	must.Do(t, unix.Setxattr(dir, "system.posix_acl_default", list, 0))
	write(plain, "two\n")
	if _, err := unix.Getxattr(plain, accessList, nil); err != unix.ENODATA {
		t.Errorf("the list of a file that had none: %v", err)
	}
}
