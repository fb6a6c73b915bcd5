package editortools

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// The help names the limits of answers, and what is said where one is reached.
func TestTheHelpNamesTheLimits(t *testing.T) {
	raw, err := os.ReadFile("../../doc/acp.txt")
	must.Do(t, err)
	help := strings.Join(strings.Fields(string(raw)), " ")
	slow := strings.Trim(partly("", true), "\n()")
	if !strings.HasSuffix(counted(maxListed+20, "", "", make([]string, maxListed)), "+20 more") {
		t.Error("what is said of a limit is something else")
	}
	for _, said := range []string{
		fmt.Sprintf("%d places, diagnostics or files, %d symbols, %d,%03d lines of a file, %d KB of any text", maxListed, maxSymbol, maxLines/1000, maxLines%1000, maxBytes>>10),
		fmt.Sprintf("language servers have %.0f seconds, diagnostics up to %.0f", languageServerTimeout.Seconds(), diagnosticsTimeout.Seconds()),
		fmt.Sprintf("Files over %d MB", maxRead>>20), "+20 more", slow,
	} {
		if !strings.Contains(help, said) {
			t.Errorf("the help lacks %q", said)
		}
	}
}
