package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// Nothing large is made before main begins: the program also runs as the shim that agents start, for each session.
func TestStartingMakesNothingLarge(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	must.Do(t, cmd.Run())
	const most = 400_000 // bytes
	seen := 0
	for lines := bufio.NewScanner(&trace); lines.Scan(); {
		// init PACKAGE @1.2 ms, 0.1 ms clock, 280000 bytes, 4367 allocs
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[0] != "init" {
			continue
		}
		seen++
		if size, err := strconv.Atoi(fields[7]); err != nil || size > most {
			t.Errorf("%s allocates %s bytes at the start, more than %d", fields[1], fields[7], most)
		}
	}
	if seen < 20 {
		t.Fatalf("the trace has %d packages:\n%s", seen, trace.String())
	}
}
