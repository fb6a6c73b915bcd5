package reviewpage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
)

// What 1,000 files cost before the first of them is on the screen.
func BenchmarkManyFiles(b *testing.B) {
	r := review.New(64 << 20)
	var entries []Entry
	for i := range 1000 {
		was := strings.Repeat("\t// what the agent has not touched\n", 20) + numbers(1, 10) + strings.Repeat("\t// what the agent has not touched\n", 20)
		path := fmt.Sprintf("/p/f%04d.go", i)
		r.Changed(path, review.Text(was), review.Text(strings.ReplaceAll(was, "line", "row")))
		f, _ := r.File(path)
		entries = append(entries, Entry{ID: f.ID, File: f, Name: path[3:], Open: true})
	}
	b.ReportAllocs()
	for b.Loop() {
		var p Page
		p.Set(pageOf(Header{}, entries))
		p.Take(256 << 10)
	}
}
