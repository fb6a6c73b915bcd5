package nvimtest

import (
	"os"
	"testing"
)

// The environment variables that name the Neovims to test with; `make test` sets them.
const (
	oldestEnv = "ACP_NVIM_OLDEST"
	newestEnv = "ACP_NVIM_NEWEST"
)

// Each runs f as a subtest for the oldest and the newest Neovim supported, named by its version.
// Without any to run it fails: nothing is skipped silently.
func Each(t *testing.T, f func(t *testing.T, n *Nvim), opts ...Option) {
	t.Helper()
	ran := false
	for _, env := range []string{oldestEnv, newestEnv} {
		bin := os.Getenv(env)
		if bin == "" {
			t.Logf("%s is not set: not tested on that Neovim", env)
			continue
		}
		ran = true
		version, err := versionOf(bin)
		if err != nil {
			t.Errorf("%s: %v", env, err)
			continue
		}
		t.Run(version, func(t *testing.T) { f(t, Start(t, bin, opts...)) })
	}
	if !ran {
		t.Fatalf("no Neovim to test with: run `make test`, or set %s and %s", oldestEnv, newestEnv)
	}
}
