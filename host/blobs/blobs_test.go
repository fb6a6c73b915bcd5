package blobs

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func in(dir string) *Folder { return New(dir, nil, nil) }

func TestBlobsAreSavedOnce(t *testing.T) {
	b := in(filepath.Join(t.TempDir(), "acp"))
	data := base64.StdEncoding.EncodeToString([]byte("a picture"))
	path, fresh := b.path("IMAGE/PNG; x=y", data)
	if !fresh || filepath.Ext(path) != ".png" || filepath.Dir(path) != b.dir {
		t.Fatalf("the path is %s, fresh %v", path, fresh)
	}
	must.Do(t, b.write(path, data))
	text, err := os.ReadFile(path)
	info, _ := os.Stat(path)
	dir, _ := os.Stat(b.dir)
	if err != nil || string(text) != "a picture" || info.Mode().Perm() != 0o600 || dir.Mode().Perm() != 0o700 {
		t.Errorf("%q (%v), modes %v and %v", text, err, info.Mode(), dir.Mode())
	}
	if again, fresh := b.path("image/png", data); again != path || fresh {
		t.Errorf("again it is %s, fresh %v", again, fresh)
	}
	// Another host finds it there, and keeps it longer.
	old := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(path, old, old))
	must.Do(t, in(b.dir).write(path, data))
	if info, _ := os.Stat(path); time.Since(info.ModTime()) > time.Minute {
		t.Error("it is as old as before")
	}
}

func TestBlobsThatCannotBeSaved(t *testing.T) {
	b := in(t.TempDir())
	path, _ := b.path("application/x-sh", "no base64!")
	if filepath.Ext(path) != ".bin" {
		t.Errorf("it would be %s", path)
	}
	if err := b.write(path, "no base64!"); err == nil {
		t.Error("it was written")
	}
	if left, _ := os.ReadDir(b.dir); len(left) != 0 {
		t.Errorf("left is %v", left)
	}
	if err := in(filepath.Join(must.Write(t, t.TempDir(), "file", ""), "below")).write(path, "AAAA"); err == nil {
		t.Error("it was written in no folder")
	}
	b.size = maxSize
	if path, fresh := b.path("image/png", "AAAA"); path != "" || fresh {
		t.Errorf("there is no room, but %s", path)
	}
	if path, fresh := in("").path("image/png", "AAAA"); path != "" || fresh {
		t.Errorf("there is no folder, but %s", path)
	}
	unpadded := in(b.dir)
	path, _ = unpadded.path("text/plain", "YQ")
	must.Do(t, unpadded.write(path, "YQ"))
}

func TestBlobsAreCleaned(t *testing.T) {
	b := in(t.TempDir())
	now := time.Now()
	make := func(name string, age time.Duration, size int64) {
		path := filepath.Join(b.dir, name)
		must.Do(t, os.WriteFile(path, nil, 0o600))
		if err := os.Truncate(path, size); err != nil { // a hole, not as many bytes
			t.Fatal(err)
		}
		must.Do(t, os.Chtimes(path, now.Add(-age), now.Add(-age)))
	}
	make("new", time.Hour, 150<<20)
	make("older", 2*time.Hour, 40<<20)
	make("too-much", 3*time.Hour, 20<<20)
	make("too-old", maxAge+time.Hour, 1)
	must.Do(t, b.Clean(now))
	left, _ := os.ReadDir(b.dir)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	check.Equal(t, strings.Join(names, " "), "new older", "left is %s")
	must.Do(t, in(filepath.Join(b.dir, "none")).Clean(now))
}
