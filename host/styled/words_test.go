package styled

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestRelative(t *testing.T) {
	for path, want := range map[string]string{
		"/project/a/b.go": "a/b.go", "/project": ".", "/projects/a": "/projects/a", "/etc/hosts": "/etc/hosts", "a.go": "a.go",
		"/project/..hidden": "..hidden", "/project/a/": "a/", "/project/": "./",
	} {
		check.Equal(t, Relative("/project", path), want, "%s is %s", path)
	}
}

// Numbers are told in words that fit them.
func TestNumbersInWords(t *testing.T) {
	check.Slice(t, []string{Many(0, "line"), Many(1, "line"), Many(2, "line")}, []string{"0 lines", "1 line", "2 lines"}, "they are %q")
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 999999: "999,999", 1234567: "1,234,567"} {
		check.Equal(t, Thousands(n), want, "%d is %s", n)
	}
	for n, want := range map[int]string{
		0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KB", 1536: "1.5 KB", 1<<20 - 52: "1023.9 KB", 1<<20 - 51: "1.0 MB", 1 << 20: "1.0 MB", 5 << 19: "2.5 MB",
	} {
		check.Equal(t, Size(n), want, "%d is %s", n)
	}
	for counts, want := range map[[2]int]string{{0, 0}: "", {1, 0}: "  +1", {0, 2}: "  −2", {12, 3}: "  +12 −3"} {
		l := Join(Counts(counts[0], counts[1])...)
		check.Equal(t, l.Text, want, "%v are %q", counts)
		for _, m := range l.Marks {
			group := map[byte]Group{'+': DiffAdded, "−"[0]: DiffRemoved}[l.Text[m.Col]]
			check.Equal(t, m.Group, group, "%q looks like %d", l.Text[m.Col:m.EndCol])
		}
	}
}

// A text takes as many cells as a window has for it.
func TestCells(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a b~": 4, "é": 1, "日本": 4, "a👍": 3, "e\u0301": 1} {
		check.Equal(t, Cells(text), want, "%q takes %d", text)
		check.Equal(t, CellsOf([]Piece{Text(text, Plain), Text("ab", Plain)}), want+2, "%q and two more take %d", text)
	}
}

func TestGroups(t *testing.T) {
	names := Groups()
	for g, want := range map[Group]string{0: "AcpQuote", User: "AcpUser", Error: "AcpError", Ansi0: "AcpAnsi0", Ansi0 + 15: "AcpAnsi15"} {
		check.Equal(t, names[g], want, "group %d is %s", g)
	}
	check.Equal(t, len(names), int(Ansi0)+16, "%d groups")
}
