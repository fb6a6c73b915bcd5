package checkpoint

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

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
