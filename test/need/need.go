// Package need is for tests that need what a fresh clone does not have, such as a Neovim.
package need

import (
	"os"
	"testing"
)

// allEnv is set by `make test`, under which no test may be skipped for what could be had.
const allEnv = "ACP_TEST_ALL"

// Missing skips the test, and says in one line what it needs; where all tests must run it fails it.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(allEnv) != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}
