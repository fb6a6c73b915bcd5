// Package bench measures what a user of the plugin waits for, in a real Neovim with a user interface attached, beside
// the floor: a program that brings the same stream into a plain buffer and does nothing else. `make bench` runs it and
// prints a table. A missed goal is reported there; only a run that breaks fails.
package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/host"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// roleEnv makes the test binary one of the processes that are measured.
const roleEnv = "ACP_BENCH_ROLE"

// profileEnv names a folder in which each host and each floor leaves a CPU profile.
const profileEnv = "ACP_BENCH_PROFILE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleEnv)
	if role == "" {
		code := m.Run()
		report.print(os.Stdout)
		os.Exit(code)
	}
	if slices.Contains(os.Args, "sweep") {
		os.Exit(0) // no command of a measured host outlives it
	}
	stdout := os.Stdout
	os.Stdout = os.Stderr
	stop := profile(role)
	err := map[string]func(io.ReadCloser, io.WriteCloser) error{
		"agent": serveAgent, "floor": serveFloor, "host": serveHost, "mcp": serveEditor,
	}[role](os.Stdin, stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		os.Exit(1)
	}
}

// serveHost is `acp-nvim host`, with the copies that it keeps. At a signal it says how many goroutines it has, and how
// many MB that are in use.
func serveHost(in io.ReadCloser, out io.WriteCloser) error {
	ask := make(chan os.Signal, 1)
	signal.Notify(ask, syscall.SIGUSR1)
	go func() {
		for range ask {
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			text := fmt.Sprint(runtime.NumGoroutine(), float64(memory.HeapAlloc)/1e6)
			name := insideName(os.Getpid())
			if os.WriteFile(name+"~", []byte(text), 0o600) == nil {
				_ = os.Rename(name+"~", name) // whoever asks sees that there is none
			}
		}
	}()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	return host.Serve(context.Background(), in, out, host.Options{Version: "bench", API: rpc.Revision, Log: log, Data: filepath.Join(os.Getenv("XDG_DATA_HOME"), "checkpoints")})
}

// insideName is where a host says what it has.
func insideName(pid int) string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("inside.%d", pid))
}

func profile(role string) (stop func()) {
	dir := os.Getenv(profileEnv)
	if dir == "" || role == "agent" {
		return func() {}
	}
	f, err := os.Create(filepath.Join(dir, role+"."+strconv.Itoa(os.Getpid())+".pprof"))
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
	}
	return pprof.StopCPUProfile
}
