package checkpoint

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// put writes a file and the folders that it is in.
func put(tb testing.TB, path, text string) {
	tb.Helper()
	must.Do(tb, os.MkdirAll(filepath.Dir(path), 0o777))
	must.Do(tb, os.WriteFile(path, []byte(text), 0o666))
}

func git(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// The user reads what a snapshot lacks, and of the files without their contents the largest are named.
func TestWordsOfPartial(t *testing.T) {
	for want, p := range map[string]Partial{
		"":                         {},
		"not all files are listed": {Unlisted: 2},
		"files without their contents: 3 unreadable; not all files are listed": {Unreadable: 3, Unlisted: 1},
	} {
		check.Equal(t, p.String(), want, "%+v is %q", p)
	}
	var s Snapshot
	var want []string
	for i := range maxLargest + 5 {
		s.files = append(s.files, &file{path: fmt.Sprint(i), State: State{Kind: File, Size: int64(i)}})
		want = append([]string{fmt.Sprint(i)}, want...)
	}
	s.findLargest()
	check.Slice(t, s.largest, want[:maxLargest], "the largest are %q")
}

// A snapshot that is encoded and decoded is the same: what it lacks, and what has changed since.
func TestEncodedSnapshot(t *testing.T) {
	s, dir := store(t), folder(t)
	s.fileSize = 10
	for name, text := range map[string]string{"a": "x", "large": "more than it takes", "moved": "y", "sub/b": "z"} {
		put(t, filepath.Join(dir, name), text)
	}
	must.Do(t, os.Symlink("a", filepath.Join(dir, "link")))
	put(t, filepath.Join(dir, "hidden"), "until then")
	s.Skip = func(path string) bool { return filepath.Base(path) == "hidden" }
	before := take(t, s, nil, dir)
	before.at = before.at.Add(2 * granularity) // what is hidden is older than that
	data, err := before.Encode()
	must.Do(t, err)
	again, err := DecodeSnapshot(data)
	must.Do(t, err)
	check.Equal(t, again.Partial, Partial{Large: 1}, "it lacks %+v")
	check.Equal(t, again.Len(), 5, "it has %d files")
	check.Equal(t, len(before.Changes(again)), 0, "%d changes")
	must.Do(t, os.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, "there")), os.Remove(filepath.Join(dir, "link")))
	put(t, filepath.Join(dir, "a"), "other")
	s.Skip = nil
	after := take(t, s, again, dir)
	check.Deep(t, again.Changes(after), before.Changes(after), "the changes are %+v")
	check.Equal(t, len(again.Changes(after)), 3, "there are %d changes")
	if _, err := DecodeSnapshot(data[:len(data)/2]); err == nil {
		t.Error("half of it is decoded")
	}
}
