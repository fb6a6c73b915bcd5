// Package scene sets the stage for the tests in test/scenario: a real Neovim with an attached user
// interface, the real host, and agents that the test plays. A test waits for what the user sees, for events, and for
// what the agent is told, never for a time.
package scene

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// Host is the program under test, and Self this test binary, which is the agents as well.
var Host, Self string

// Main runs the tests of a package, from its TestMain. It builds the host if there is a Neovim to start it.
func Main(m *testing.M) {
	if socket := os.Getenv(puppetEnv); socket != "" {
		os.Exit(bePuppet(socket))
	}
	if nvimtest.Any() {
		if err := prepare(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// prepare builds the host, with the race detector where the tests have it. Packages that are tested at the same time
// share it: who comes second finds it up to date, and links nothing.
func prepare() (err error) {
	if Self, err = os.Executable(); err != nil {
		return err
	}
	root, err := nvimtest.Root()
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "bin", "test")
	if raced() {
		dir = filepath.Join(root, "bin", "test-race")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	Host = filepath.Join(dir, "acp-nvim")
	args := []string{"build", "-o", Host}
	if raced() {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "./cmd/acp-nvim")...)
	build.Dir = root
	build.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -buildvcs=false")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the host: %w\n%s", err, out)
	}
	return nil
}

// raced reports whether this binary was built with the race detector.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
