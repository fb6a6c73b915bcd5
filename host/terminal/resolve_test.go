package terminal

import (
	"fmt"
	"strings"
	"testing"
)

// What is resolved piece by piece is what a screen shows of all.
func TestResolve(t *testing.T) {
	for _, text := range []string{
		"", "a", "a\n", "a\n\nb", "50%\r100%\nx", "\x1b[32mgreen\x1b[m\nplain", strings.Repeat("x", 25), "漢字\b\b\n", "a\nb\n\x1b[2Ac",
		"\x1b[3\n1mred", strings.Repeat("a line that is wrapped\n", 2000), strings.Repeat("漢\x1b[1;31mé\x1b[m\r\n", 4000),
	} {
		var got []string
		next := Resolve(text, 10)
		for l, ok := next(); ok; l, ok = next() {
			got = append(got, fmt.Sprint(l))
		}
		screen := NewScreen(10, strings.Count(text, "\n")+3+len(text)/10, 1)
		_, _ = screen.Write([]byte("\x1b[20h"))
		new(filter).feed([]byte(text), func(_ unit, data []byte) { _, _ = screen.Write(data) })
		lines, _ := screen.tail(1<<20, 0)
		var want []string
		for _, l := range lines {
			want = append(want, fmt.Sprint(l))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%.40q is %d lines, not %d: %.200q", text, len(got), len(want), got)
		}
	}
}
