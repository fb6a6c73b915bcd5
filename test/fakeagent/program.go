package fakeagent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// scriptEnv names the environment variable that makes a test's program the agent of this script file.
const scriptEnv = "ACP_FAKE_SCRIPT"

// badScript is the exit code when the script could not be played.
const badScript = 90

// Main plays the script that the environment names, and exits. Without one it returns at once: a package whose tests
// use [Program] calls it at the beginning of TestMain.
func Main() {
	path := os.Getenv(scriptEnv)
	if path == "" {
		return
	}
	_, err := runFile(path)
	var exit *ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.Code)
	case err != nil:
		fmt.Fprintf(os.Stderr, "play %s: %v\n", path, err)
		os.Exit(badScript)
	}
	os.Exit(0)
}

func runFile(path string) ([]*Received, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	script, err := Read(f)
	_ = f.Close()
	if err != nil {
		return nil, err
	}
	// A hang is ended from outside; the limit keeps the runtime from calling it a deadlock.
	ctx, stop := context.WithTimeout(context.Background(), 24*time.Hour)
	defer stop()
	return Run(ctx, script, os.Stdin, os.Stdout, os.Stderr)
}

// Read reads a script: a step a line; empty lines and lines that begin with # do not count.
func Read(r io.Reader) ([]Step, error) {
	var script []Step
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if line := lines.Bytes(); len(line) > 0 && line[0] != '#' {
			var s Step
			d := json.NewDecoder(bytes.NewReader(line))
			d.DisallowUnknownFields()
			if err := d.Decode(&s); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			script = append(script, s)
		}
	}
	return script, lines.Err()
}

// Program makes the test's own program play the script: the command line and the environment to start it with.
func Program(t testing.TB, script ...Step) (argv []string, env map[string]string) {
	t.Helper()
	var text []byte
	for _, s := range script {
		line, err := json.Marshal(s)
		if err != nil {
			t.Fatalf("encode a step: %v", err)
		}
		text = append(append(text, line...), '\n')
	}
	path := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatalf("write the script: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find the test's program: %v", err)
	}
	return []string{self}, map[string]string{scriptEnv: path}
}
