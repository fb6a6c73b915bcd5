package markdown

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// whole highlights a text given at once.
func whole(text string) ([]Span, []CodeFence) {
	var d Document
	d.Append(text)
	d.End()
	_, spans, fences := d.Highlight()
	return spans, fences
}

// draw shows the lines of a text with the spans under them, "|" for an empty one.
func draw(text string, spans []Span) string {
	var out strings.Builder
	for n, line := range strings.Split(text, "\n") {
		fmt.Fprintf(&out, "%s\n", strings.TrimRight(line, "\r"))
		for len(spans) > 0 && spans[0].Line == n {
			s := spans[0]
			carets := strings.Repeat("^", s.EndCol-s.Col)
			if carets == "" {
				carets = "|"
			}
			fmt.Fprintf(&out, "%s%s %v\n", strings.Repeat(" ", s.Col), carets, s.Group)
			spans = spans[1:]
		}
	}
	return out.String()
}

// testdata/golden.txt has cases of a name, the quoted text, its drawing and its fences.
func TestGolden(t *testing.T) {
	file, err := os.ReadFile("testdata/golden.txt")
	must.Do(t, err)
	cases := strings.Split("\n"+string(file), "\n-- ")[1:]
	for _, c := range cases {
		name, rest, _ := strings.Cut(c, " --\n")
		t.Run(name, func(t *testing.T) {
			quoted, want, _ := strings.Cut(rest, "\n")
			text, err := strconv.Unquote(quoted)
			must.Do(t, err)
			spans, fences := whole(text)
			got := fmt.Sprintf("%sfences %v", draw(text, spans), fences)
			if got != strings.TrimSuffix(want, "\n") {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}
