package doc

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestNotices tells of a notice that is not one short line: it begins in lower case, unless with a name or a command,
// has no full stop at its end, and fits into 80 columns behind "acp: ".
func TestNotices(t *testing.T) {
	const room = 80 - len("acp: ")
	notices := firsts(`\.(?:Notify|Answer)\([\w.]*"?\w+"?, (?:nil, )?(?:fmt\.Sprintf\()?"([^"]+)"`, sources(t, "host", ".go"))
	lua := regexp.MustCompile(`--[^\n]*`).ReplaceAllString(sources(t, "lua", ".lua"), "")
	calls := `\b(?:notify\.(?:info|warn|error)|require\('acp\.notify'\)\.(?:info|warn|error)|warn)\(\s*\(*`
	notices = append(notices, firsts(calls+`'([^'\n]+)'`, lua)...)
	notices = append(notices, firsts(calls+`"([^"\n]+)"`, lua)...)
	if len(notices) < 100 {
		t.Fatalf("only %d notices were found", len(notices))
	}
	for _, notice := range notices {
		if regexp.MustCompile(`^[A-Z]`).MatchString(notice) && !strings.HasPrefix(notice, "Go ") && !strings.HasPrefix(notice, "Neovim ") {
			t.Errorf("%q begins with a capital", notice)
		}
		if strings.HasSuffix(notice, ".") {
			t.Errorf("%q ends with a full stop", notice)
		}
		if n := utf8.RuneCountInString(notice); n > room {
			t.Errorf("%q is %d characters long, more than %d", notice, n, room)
		}
	}
}
