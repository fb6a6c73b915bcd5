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
