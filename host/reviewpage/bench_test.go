package reviewpage

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// What 1,000 files cost before the first of them is on the screen.
func BenchmarkManyFiles(b *testing.B) {
	entries := changedFiles(review.New(64<<20), 1000)
	b.ReportAllocs()
	for b.Loop() {
		var p Page
		p.Set(pageOf(Header{}, entries))
		p.Take(256 << 10)
	}
}

// What a page costs that is taken in pieces until it is there: of many files, and of a large one.
func BenchmarkPieces(b *testing.B) {
	for _, c := range []struct{ files, rows int }{{1000, 50}, {1, 100_000}} {
		blocks := []*Block{fixed(1, []Row{{Text: "title"}})}
		for i := range c.files {
			var body []Row
			for n := range c.rows {
				text := fmt.Sprintf("  1234 + value[%d] = compute(%d, seed) // the part of a row", n, n)
				body = append(body, Row{Text: text, Marks: []styled.Mark{{Col: 0, EndCol: 4}, {Col: 7, EndCol: 40}}})
			}
			blocks = append(blocks, fixed(2+i, body))
		}
		b.Run(fmt.Sprintf("%d files of %d rows", c.files, c.rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var p Page
				for p.Set(blocks); p.Dirty(); {
					p.Take(64 << 10)
				}
			}
		})
	}
}

// What a page that is there keeps, beside the record.
func BenchmarkHeld(b *testing.B) {
	for _, files := range []int{500, 2000, 5000} {
		b.Run(fmt.Sprint(files, " files"), func(b *testing.B) {
			r := review.New(1 << 30)
			entries := changedFiles(r, files)
			before := heap()
			var p Page
			for b.Loop() {
				p = Page{}
				p.Set(pageOf(Header{}, entries))
				for p.Dirty() {
					p.Take(256 << 10)
				}
			}
			b.ReportMetric(float64(heap()-before)/1e6, "MB")
			b.ReportMetric(float64(before)/1e6, "MB-record")
			runtime.KeepAlive(&p)
			runtime.KeepAlive(r)
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// changedFiles are files with ten changed lines each.
func changedFiles(r *review.Record, files int) []Entry {
	var entries []Entry
	for i := range files {
		was := strings.Repeat("\t// what the agent has not touched\n", 20) + numbers(1, 10) + strings.Repeat("\t// what the agent has not touched\n", 20)
		path := fmt.Sprintf("/p/f%04d.go", i)
		r.Changed(path, review.Text(was), review.Text(strings.ReplaceAll(was, "line", "row")))
		f, _ := r.File(path)
		entries = append(entries, Entry{ID: f.ID, File: f, Name: path[3:], Open: true})
	}
	return entries
}
