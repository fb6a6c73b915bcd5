package markdown

import (
	"fmt"
	"strings"
	"testing"
)

const sample = "## What was wrong\n\nThe parser kept a pointer to the `token` it had **already** given back, so the second\ncall read freed memory. I changed `parse()` in [parser.go](src/parser.go) to copy it.\n\n" +
	"1. Read the *whole* file first.\n2. Compare it with what `git diff` says:\n   - the old name, `oldName`\n   - the new one\n\n" +
	"```go\nfunc parse(r *Reader) (Token, error) {\n\tt := r.next()\n\tif t == nil {\n\t\treturn Token{}, io.EOF\n\t}\n\treturn *t, nil\n}\n```\n\n" +
	"That is all; the tests pass now, and nothing else used the old behaviour as far as I can see. Please have a look at the error text too.\n\n" +
	"| file | change |\n|---|---|\n| `parser.go` | copies the token |\n| `parser_test.go` | a test that *failed* before |\n\n> Note: see https://example.com/issues/12 for more.\n\n"

// chunks returns n pieces of 40 bytes.
func chunks(text string, n int) []string {
	text = strings.Repeat(text, n*40/len(text)+1)
	out := make([]string, n)
	for i := range out {
		out[i] = text[i*40 : i*40+40]
	}
	return out
}

func BenchmarkStream(b *testing.B) {
	for _, c := range []struct{ chunks, every int }{{5000, 20}, {50000, 20}, {50000, 100}} {
		b.Run(fmt.Sprintf("chunks=%d/every=%d", c.chunks, c.every), func(b *testing.B) {
			text := chunks(sample, c.chunks)
			b.ReportAllocs()
			for b.Loop() {
				var d Document
				for i, chunk := range text {
					d.Append(chunk)
					if i%c.every == c.every-1 {
						d.Highlight()
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.chunks), "ns/chunk")
		})
	}
}
