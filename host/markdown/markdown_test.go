package markdown

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// shown is what a reader of Highlight holds.
type shown struct {
	spans  []Span
	fences []CodeFence
}

func (s *shown) update(d *Document) {
	from, spans, fences := d.Highlight()
	i := slices.IndexFunc(s.spans, func(p Span) bool { return p.Line >= from })
	if i >= 0 {
		s.spans = s.spans[:i]
	}
	s.spans = append(s.spans, spans...)
	s.fences = append(s.fences, fences...)
}

// streamed highlights a text that comes in random pieces of up to largest bytes, calling Highlight after some of them.
func streamed(text string, r *rand.Rand, largest int) shown {
	var d Document
	var s shown
	for text != "" {
		n := min(1+r.IntN(largest), len(text))
		d.Append(text[:n])
		text = text[n:]
		if r.IntN(2) == 0 {
			s.update(&d)
		}
	}
	d.End()
	s.update(&d)
	return s
}

// check fails unless the highlights of a text are valid and do not depend on how it came.
func checkPieces(t *testing.T, text string, r *rand.Rand, largest int) {
	t.Helper()
	spans, fences := whole(text)
	lines := strings.Split(text, "\n")
	for i, s := range spans {
		if s.Line < 0 || s.Line >= len(lines) || s.Col < 0 || s.EndCol > len(lines[s.Line]) ||
			s.Col > s.EndCol || s.Col == s.EndCol && !s.Group.ToEOL() {
			t.Fatalf("bad span %v in %q", s, text)
		}
		if i > 0 && compareSpans(spans[i-1], s) > 0 {
			t.Fatalf("%v comes before %v in %q", spans[i-1], s, text)
		}
	}
	for _, f := range fences {
		if f.Line < 1 || f.EndLine < f.Line || f.EndLine > len(lines) {
			t.Fatalf("bad fence %v in %q", f, text)
		}
	}
	got := streamed(text, r, largest)
	if !slices.Equal(got.spans, spans) {
		t.Fatalf("in chunks:\n%s\nat once:\n%s\n%q", draw(text, got.spans), draw(text, spans), text)
	}
	if !slices.Equal(got.fences, fences) {
		t.Fatalf("in chunks: fences %v, at once: %v\n%q", got.fences, fences, text)
	}
}

func TestChunksDoNotMatter(t *testing.T) {
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 2))
		checkPieces(t, randomText(r, 1+r.IntN(60)), r, 1+r.IntN(20))
	}
	// Over the bounds: long lines, long units, deep nesting.
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 3))
		var s strings.Builder
		for range 6 {
			f := fragments[r.IntN(len(fragments))] + fragments[r.IntN(len(fragments))]
			s.WriteString(strings.Repeat(f, r.IntN(1500)))
		}
		checkPieces(t, s.String(), r, 1+r.IntN(1000))
	}
}

func FuzzDocument(f *testing.F) {
	f.Add("> - `a\x00\xff*b*\r\n", uint64(1))
	f.Add(sample, uint64(2))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		checkPieces(t, text, rand.New(rand.NewPCG(seed, 4)), 1+int(seed%40))
	})
}

// Whatever comes, goldmark parses little more than the text, and what it
// parses at once is bounded.
func TestWorkIsLinear(t *testing.T) {
	repeat := strings.Repeat
	tests := []struct{ name, text string }{
		{"markdown", strings.Join(chunks(sample, 50000), "")},
		{"one line", repeat("a *word* ", 500_000/9)},
		{"one line of brackets", repeat("[", 500_000)},
		{"one paragraph", repeat("some *words* and `code`\n", 20_000)},
		{"table", "| a | b |\n|---|---|\n" + repeat("| `x` | *y* |\n", 2000)},
		{"wide table", repeat("|a", 1000) + "\n" + repeat("|-", 1000) + "\n" + repeat("`a`\n", 50_000)},
		{"fences", repeat("```go\nx\n```\n\n", 10_000)},
		{"a fence", "```\n" + repeat("x *= `y`\n", 50_000)},
		{"a fence in a quote in a list", "- > ```\n" + repeat("  > x *= `y`\n", 50_000)},
		{"list", repeat("- *item*\n", 20_000)},
		{"list in an item", "- x\n" + repeat("  - *item*\n", 20_000)},
		{"nested list", repeat(repeat("- ", 50)+"*x*\n", 500)},
		{"quotes", repeat(repeat(">", 300)+" *x*\n", 500)},
		{"quote", repeat("> *x*\n", 50_000)},
		{"brackets", repeat("[a](", 50_000)},
		{"html", repeat("<a b=\"\n", 5_000)},
		{"nested emphasis", repeat("*a\n", 20_000) + repeat("a*\n", 20_000)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var d Document
			calls, spans := 0, 0
			for i := 0; i < len(test.text); i += 4000 {
				d.Append(test.text[i:min(i+4000, len(test.text))])
				before := d.blocks.parsed
				_, s, _ := d.Highlight()
				spans += len(s)
				calls++
				if n := d.blocks.parsed - before; n > 2*maxUnit+maxLine {
					t.Errorf("Highlight parsed %d bytes", n)
				}
			}
			d.End()
			d.Highlight()
			if limit := 3 * len(test.text); d.blocks.parsed > limit {
				t.Errorf("parsed %d bytes of %d in %d calls", d.blocks.parsed, len(test.text), calls)
			}
			if limit := 2 * maxNesting * len(test.text); spans > limit {
				t.Errorf("%d spans for %d bytes", spans, len(test.text))
			}
		})
	}
}

// What is behind the first maxLine bytes of a line costs nothing.
func TestLongLine(t *testing.T) {
	var d Document
	d.Append(strings.Repeat("*é* ", maxLine))
	_, spans, _ := d.Highlight()
	if len(spans) == 0 || spans[len(spans)-1].EndCol > maxLine {
		t.Fatalf("got %d spans", len(spans))
	}
	parsed := d.blocks.parsed
	d.Append("*more*")
	if from, spans, _ := d.Highlight(); from != 1 || len(spans) > 0 || d.blocks.parsed != parsed {
		t.Errorf("got from %d, %v", from, spans)
	}
	d.Append("\n```\n" + strings.Repeat("x", 2*maxLine))
	_, spans, _ = d.Highlight()
	check.Equal(t, spans[len(spans)-1], (Span{2, 0, 2 * maxLine, CodeBlock}), "got %v")
	d.Append("y")
	from, spans, _ := d.Highlight()
	if want := []Span{{2, 0, 2*maxLine + 1, CodeBlock}}; from != 2 || !slices.Equal(spans, want) {
		t.Errorf("got from %d, %v", from, spans)
	}
}

func TestNestedEmphasisIsBounded(t *testing.T) {
	spans, _ := whole(strings.Repeat("*a\n", 600) + strings.Repeat("a*\n", 600))
	if len(spans) == 0 || len(spans) > maxNesting*1200 {
		t.Errorf("got %d spans", len(spans))
	}
}

// goldmark needs quadratic time for brackets, so they are bounded.
func TestTooManyBrackets(t *testing.T) {
	for n, want := range map[int]int{maxBrackets: maxBrackets, maxBrackets + 1: 0} {
		spans, _ := whole("# *x*\n" + strings.Repeat("[a](b) ", n) + "*x*")
		links := 0
		for _, s := range spans {
			if s.Group == Link {
				links++
			}
		}
		if links != want || len(spans) != 2*want+3 {
			t.Errorf("%d brackets: got %d links, %d spans", n, links, len(spans))
		}
	}
}

func TestSpansDoNotSplitRunes(t *testing.T) {
	for shift := range 3 {
		text := "> " + strings.Repeat("x", shift) + strings.Repeat("世", maxLine)
		spans, _ := whole(text)
		if len(spans) != 1 || !utf8.ValidString(text[:spans[0].EndCol]) {
			t.Errorf("got %v", spans)
		}
	}
}

// Only the block that is still open is given again.
func TestOnlyTheOpenBlockAgain(t *testing.T) {
	var d Document
	steps := []struct {
		text   string
		from   int
		spans  string
		fences string
	}{
		{"", 1, "[]", "[]"},
		{"# A\n\n*b*", 0, "[{0 0 3 Heading1} {2 0 3 Italic}]", "[]"},
		{"", 3, "[]", "[]"},
		{"\n", 2, "[{2 0 3 Italic}]", "[]"},
		{"**c", 2, "[{2 0 3 Italic}]", "[]"},
		{"**\n\n", 2, "[{2 0 3 Italic} {3 0 5 Bold}]", "[]"},
		{"```go\nx\n", 5, "[{5 0 5 Fence} {6 0 1 CodeBlock}]", "[]"},
		{"y", 7, "[{7 0 1 CodeBlock}]", "[]"},
		{"\n```", 7, "[{7 0 1 CodeBlock} {8 0 3 Fence}]", "[]"},
		{"\nz", 8, "[{8 0 3 Fence}]", "[{6 8 go}]"},
		{"\n-", 9, "[]", "[]"}, // an underline only with its newline
		{"\n", 9, "[{9 0 1 Heading2} {10 0 1 Heading2}]", "[]"},
	}
	for i, s := range steps {
		d.Append(s.text)
		from, spans, fences := d.Highlight()
		if got := fmt.Sprint(spans); from != s.from || got != s.spans || fmt.Sprint(fences) != s.fences {
			t.Errorf("step %d: got %d %s %v, want %d %s %s", i, from, got, fences, s.from, s.spans, s.fences)
		}
	}
	check.Equal(t, d.Lines(), 12, "got %d lines")
}

func TestEndCompletesTheLastFence(t *testing.T) {
	for text, want := range map[string]string{
		"```go\nx\n```":   "[{1 2 go}]",
		"```go\nx":        "[{1 2 go}]",
		"```go\nx\n":      "[{1 2 go}]",
		"> ```go\n> x":    "[]", // in a quote
		"- ```go\n  x\ny": "[{1 2 go}]",
	} {
		var d Document
		d.Append(text)
		if _, _, fences := d.Highlight(); len(fences) > 0 && !strings.HasSuffix(text, "\ny") {
			t.Errorf("%q: got %v before the end", text, fences)
		}
		d.End()
		if _, _, fences := d.Highlight(); fmt.Sprint(fences) != want {
			t.Errorf("%q: got %v, want %s", text, fences, want)
		}
	}
}

// Documents share the parsers, and nothing else.
func TestDocumentsInParallel(t *testing.T) {
	want, _ := whole(sample)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if got, _ := whole(sample); !slices.Equal(got, want) {
					t.Error("differs")
				}
			}
		})
	}
	wg.Wait()
}
