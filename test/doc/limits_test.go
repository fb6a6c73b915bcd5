package doc

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// limits are what |acp-limits| says, by where the code has it: a constant, a variable or a field and how the help
// writes it.
var limits = []struct{ file, name, said string }{
	{"buffers/part.go", "maxRead", "64 MB a read by the agent"},
	{"buffers/part.go", "maxFile", "256 MB a file that is written"},
	{"buffers/slow.go", "slowBytes", "8 MB or 250,000 lines"},
	{"buffers/slow.go", "slowLines", "or 250,000 lines: you are told before"},
	{"buffers/sync.go", "MaxSync", "16 MB a file that a buffer follows"},
	{"host/ledger/filestate.go", "maxReviewed", "10 MB a file that is compared by lines"},
	{"host/diff/diff.go", "LargestFile", "64 MB a file in which the place"},
	{"host/diffview/view.go", "mostLines", "100,000 lines of a comparison"},
	{"host/checkpoint/checkpoint.go", "usual.fileSize", "1 MB a file of the project"},
	{"host/checkpoint/checkpoint.go", "usual.allSize", "512 MB and 50,000 files together"},
	{"host/checkpoint/checkpoint.go", "usual.allFiles", "50,000 files together. You"},
	{"host/ledger/overflow.go", "maxListed", "50,000 files of a turn that are listed one by one"},
	{"host/ledger/overflow.go", "maxUnkept", "1,000 of them without copies"},
	{"host/checkpoint/checkpoint.go", "usual.names", "300,000 files of a folder"},
	{"host/files/list.go", "maxFiles", "300,000 files of a folder"},
	{"host/files/list.go", "maxTime", "for at most 10 seconds"},
	{"host/turns/history.go", "keptTurns", "50 turns that can be undone"},
	{"host/turns/history.go", "keptTexts", "with 64 MB of texts together"},
	{"host/reviewui/undo.go", "mostPreviewed", "2,000 lines of the diff"},
	{"host/checkpoint/checkpoint.go", "usual.records", "200 sessions of which the record"},
	{"host/checkpoint/checkpoint.go", "usual.storeSize", "below 1 GB in all"},
	{"host/prompt/attach.go", "maxEmbedded", "100 KB a text that goes along"},
	{"host/prompt/attach.go", "maxRead", "at most 4 MB are read"},
	{"host/prompt/media.go", "maxMedia", "5 MB a picture or sound"},
	{"host/prompt/unsaved.go", "maxUnsavedAll", "512 KB with one"},
	{"host/prompt/unsaved.go", "maxUnsavedDiff", "64 KB for the change of one file"},
	{"host/prompt/unsaved.go", "maxUnsavedBuffer", "a buffer over 16 MB"},
	{"host/prompt/workingdiff.go", "maxNew", "100 untracked files"},
	{"host/prompt/workingdiff.go", "maxNewSize", "of 1 MB each"},
	{"host/mcp/mcp.go", "maxProject", "1 MB the `.mcp.json`"},
	{"host/transcript/render.go", "maxOpened", "2,000 lines of a block"},
	{"host/policy/request.go", "MaxShown", "128 KB of a request"},
	{"host/history/recorder.go", "lineLimit", "8 MB one message or call"},
	{"host/history/store.go", "usual.fileSize", "history ends at 64 MB"},
	{"host/history/store.go", "usual.files", "200 sessions and 256 MB"},
	{"host/history/store.go", "usual.allSize", "and 256 MB are kept"},
	{"host/history/store.go", "usual.age", "30 days. 64 MB of messages"},
	{"acp/conn.go", "limit", "64 MB of messages that wait"},
	{"acp/process.go", "stderrTail", "64 KB of an agent's error output"},
	{"acp/traffic.go", "entryLimit", "64 KB of an agent's error output, and of each message"},
	{"acp/traffic.go", "DefaultTrafficLimit", "which has 4 MB"},
	{"host/blobs/blobs.go", "maxSize", "200 MB of pictures"},
	{"host/blobs/blobs.go", "maxAge", "have sent, for 30 days"},
	{"host/terminals/terminals.go", "mostHeld", "100 terminals of a session"},
	{"host/terminals/terminals.go", "mostWhole", "50 commands of a session that have ended"},
	{"host/terminal/tape.go", "thinBytes", "it has up to 128 KB"},
	{"host/terminal/screen.go", "DefaultLimit", "4 MB of output"},
	{"host/terminal/screen.go", "maxLimit", "up to 16 MB"},
	{"host/rules/command.go", "scriptLimit", "32 KB a command that rules can read"},
	{"host/rules/command.go", "maxDepth", "deeper than 4 shells"},
	{"host/rules/files.go", "mostNames", "4,000 names of files in a command"},
	{"host/rules/files.go", "mostListed", "300 folders for its wildcards"},
	{"host/policy/request.go", "maxCommand", "8 KB a command that a lasting answer"},
	{"host/registry/index.go", "maxIndex", "8 MB the list of agents"},
	{"host/registry/archive.go", "maxArchive", "1 GB an agent's archive"},
	{"host/registry/archive.go", "maxUnpacked", "3 GB and 100,000 files"},
	{"host/registry/archive.go", "maxEntries", "and 100,000 files: what is in it"},
}

// sayings are what is said where a limit is reached, as the code has it.
var sayings = map[string][]string{
	"buffers/part.go":             {"it has %s, and at most %s are read at once: read it by lines, with line and limit", "it has %s, and at most %s are read or written as a whole"},
	"buffers/slow.go":             {"%s has %s: Neovim will freeze; :bdelete avoids that"},
	"buffers/sync.go":             {"%s has changed on disk, and is too large to be followed: :edit reloads it."},
	"host/reviewpage/render.go":   {"Not compared: it is not text, or too large."},
	"host/reviewui/navigate.go":   {" is too large to show side by side"},
	"host/checkpoint/snapshot.go": {"files without their contents: ", "too many (over %d MB, or %d files, together)"},
	"host/ledger/undo.go":         {"cannot be brought back, as their previous contents were not kept"},
	"host/ledger/decision.go":     {"its previous content was not kept: it is too large, or was never seen"},
	"lua/acp/review/undo.lua":     {"other files that a command has changed are not known: they stay"},
	"host/prompt/excerpt.go":      {"@%s is %s: its first %s were sent."},
	"host/prompt/media.go":        {"%s is %s: it was sent as a link, as at most %s are sent."},
	"host/prompt/workingdiff.go":  {"@diff was sent without new files that are too large, or too many: %s."},
	"host/mcp/mcp.go":             {"it is too long"},
	"acp/errors.go":               {"the agent does not read its input"},
	"host/terminals/terminals.go": {"there are %d terminals: release some with terminal/release"},
	"host/terminal/display.go":    {"[… %d KB are not shown …]"},
	"host/rules/rules.go":         {"it names too many files to look at"},
	"host/rules/command.go":       {"it is too long to be read", "it has too many shells within each other"},
	"host/registry/archive.go":    {"it is longer than %d MB", "it has more than %d MB in it", "it has more than %d files"},
}

// inLua are the limits that Lua has, as it writes them.
var inLua = map[string][]string{
	"lua/acp/terminal/view.lua": {"or 10000"},
	"lua/acp/config.lua":        {"default = 256 * 1024"},
	"lua/acp/prompt/media.lua":  {"M.most = 5 * 1024 * 1024"},
	"lua/acp/review/undo.lua":   {"local listed = 20"},
	"lua/acp/health.lua":        {"at most 1 GB, and 200 sessions", "at most 256 MB"},
}

// TestLimits tells of a limit that is another one than the help says, and of what is said in other words.
func TestLimits(t *testing.T) {
	part := between(t, read(t, "doc/acp.txt"), "15. LIMITS", " vim:")
	help := strings.Join(strings.Fields(part), " ")
	for _, l := range limits {
		value, ok := valueOf(t, l.file, l.name)
		if !ok {
			t.Errorf("%s has no %s", l.file, l.name)
			continue
		}
		if !strings.Contains(help, l.said) {
			t.Errorf("the help does not say %q", l.said)
		}
		if !regexp.MustCompile(`(^|\D)` + regexp.QuoteMeta(written(value, l.said))).MatchString(l.said) {
			t.Errorf("%s in %s is %s, and the help says %q", l.name, l.file, written(value, l.said), l.said)
		}
	}
	for _, texts := range []map[string][]string{sayings, inLua} {
		for file, list := range texts {
			code := read(t, file)
			for _, text := range list {
				if !strings.Contains(code, text) {
					t.Errorf("%s does not say %q", file, text)
				}
			}
		}
	}
}

// TestTheHelpSaysWhatLimitsSay tells of a saying in the help that no limit says.
func TestTheHelpSaysWhatLimitsSay(t *testing.T) {
	help := strings.Join(strings.Fields(between(t, read(t, "doc/acp.txt"), "15. LIMITS", " vim:")), " ")
	var known []*regexp.Regexp
	for _, said := range sayings {
		for _, text := range said {
			words := regexp.MustCompile(`%[a-z]`).Split(text, -1)
			for i, w := range words {
				words[i] = regexp.QuoteMeta(w)
			}
			known = append(known, regexp.MustCompile(strings.Join(words, `.+`)))
		}
	}
	quotes := regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(help, -1)
	if len(quotes) < 15 {
		t.Fatalf("only %d sayings were found", len(quotes))
	}
next:
	for _, m := range quotes {
		for _, k := range known {
			if k.MatchString(m[1]) {
				continue next
			}
		}
		t.Errorf("nobody says %q", m[1])
	}
}

// written is a number as the help writes it in the unit that it uses there.
func written(n int64, said string) string {
	thousands := func(n int64) string {
		if n < 1000 {
			return fmt.Sprint(n)
		}
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	unit := regexp.MustCompile(`\d (KB|MB|GB|seconds|days)`).FindAllStringSubmatch(said, -1)
	for _, u := range unit {
		size := map[string]int64{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "seconds": int64(time.Second), "days": int64(24 * time.Hour)}[u[1]]
		if n >= size && n%size == 0 {
			return fmt.Sprintf("%d %s", n/size, u[1])
		}
	}
	return thousands(n)
}

// valueOf is the number by a name in a file: of a constant or variable, of the field of one ("usual.age"), or the first
// that a field of this name is given.
func valueOf(t *testing.T, file, name string) (n int64, found bool) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", file), nil, 0)
	must.Do(t, err)
	variable, field, _ := strings.Cut(name, ".")
	take := func(e ast.Expr) {
		if v, ok := number(e); ok && !found {
			n, found = v, true
		}
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ValueSpec:
			for i, id := range node.Names {
				if id.Name != variable || i >= len(node.Values) {
					continue
				}
				if list, ok := node.Values[i].(*ast.CompositeLit); ok && field != "" {
					for _, item := range list.Elts {
						if pair, ok := item.(*ast.KeyValueExpr); ok && pair.Key.(*ast.Ident).Name == field {
							take(pair.Value)
						}
					}
				} else {
					take(node.Values[i])
				}
			}
		case *ast.KeyValueExpr:
			if id, ok := node.Key.(*ast.Ident); ok && id.Name == name {
				take(node.Value)
			}
		}
		return true
	})
	return n, found
}

// number is the value of an expression of numbers and of units of time.
func number(e ast.Expr) (int64, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.Int64Val(constant.MakeFromLiteral(e.Value, e.Kind, 0))
	case *ast.SelectorExpr:
		unit, ok := map[string]time.Duration{"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}[e.Sel.Name]
		return int64(unit), ok
	case *ast.BinaryExpr:
		x, okX := number(e.X)
		y, okY := number(e.Y)
		switch e.Op {
		case token.SHL:
			return x << y, okX && okY
		case token.MUL:
			return x * y, okX && okY
		}
	}
	return 0, false
}
