package nvimtest

import (
	"os"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/need"
)

// The environment variables that name the Neovims to test with; `make test` sets them.
const (
	oldestEnv = "ACP_NVIM_OLDEST"
	newestEnv = "ACP_NVIM_NEWEST"
)

// Any reports whether there is a Neovim to test with.
func Any() bool { return os.Getenv(oldestEnv) != "" || os.Getenv(newestEnv) != "" }

// Need skips the test if there is no Neovim to test with, or fails it under `make test`.
func Need(t testing.TB) {
	t.Helper()
	if !Any() {
		need.Missing(t, "no Neovim to test with: run `make test`, or set "+oldestEnv+" and "+newestEnv)
	}
}

// Each runs f as a subtest for the oldest and the newest Neovim supported, named by its version.
// Without any to run the test is skipped, or fails under `make test`.
func Each(t *testing.T, f func(t *testing.T, n *Nvim), opts ...Option) {
	t.Helper()
	Need(t)
	for _, env := range []string{oldestEnv, newestEnv} {
		bin := os.Getenv(env)
		if bin == "" {
			t.Logf("%s is not set: not tested on that Neovim", env)
			continue
		}
		version, err := versionOf(bin)
		if err != nil {
			t.Errorf("%s: %v", env, err)
			continue
		}
		t.Run(version, func(t *testing.T) { f(t, Start(t, bin, opts...)) })
	}
}
