package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// cpu is what the process has used.
func cpu() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkManyFiles is a command that does something to so many files, and its undo.
func BenchmarkManyFiles(b *testing.B) {
	small := func(i int, does string) string {
		return strings.Repeat(fmt.Sprintf("line of file %d\n", i), 40) + does + "\n" + strings.Repeat("more\n", 10)
	}
	large := func(i int, does string) string {
		return strings.Repeat(fmt.Sprintf("line of file %d\n", i), 700) + does
	}
	for _, c := range []struct {
		name  string
		text  func(int, string) string
		do    func(w *world, n int) error
		named bool
	}{
		{"rewrites", small, nil, false},
		{"rewrites, large", large, nil, false},
		{"named", small, nil, true},
		{"moves", small, func(w *world, n int) error { return os.Rename(w.path("d"), w.path("e")) }, false},
		{"removes", small, func(w *world, n int) error { return os.RemoveAll(w.path("d")) }, false},
		{"adds", small, func(w *world, n int) error { return shell(w.dir, "cp -r d e") }, false},
	} {
		for _, n := range []int{1000, 5000, 10_000} {
			b.Run(fmt.Sprint(c.name, "/", n), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					w := newWorld(b)
					name := func(i int) string { return fmt.Sprintf("d/%d/f%d.go", i%100, i) }
					for i := range n {
						w.write(name(i), c.text(i, "was"))
					}
					w.begin()
					b.StartTimer()
					do := func() {
						if c.do != nil {
							w.must(c.do(w, n))
							return
						}
						for i := range n {
							w.must(os.WriteFile(filepath.Join(w.dir, name(i)), []byte(c.text(i, "is")), 0o644))
						}
					}
					from := time.Now()
					if c.named {
						var names []string
						for i := range n {
							names = append(names, name(i))
						}
						w.call(session.KindEdit, do, names...)
					} else {
						do()
					}
					b.ReportMetric(float64(time.Since(from).Milliseconds()), "write-ms")
					w.ledger.Worked()
					from, began := time.Now(), cpu()
					w.end()
					b.ReportMetric(float64(time.Since(from).Milliseconds()), "end-ms")
					b.ReportMetric(float64((cpu() - began).Milliseconds()), "end-cpu-ms")
					check.Equal(b, strings.Count(w.changes(), "\n"), n, "%d files are recorded")
					runtime.GC()
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					b.ReportMetric(float64(m.HeapAlloc>>20), "heap-MB")
					from, began = time.Now(), cpu()
					if err := w.undo(false); err != nil {
						b.Error(err)
					}
					b.ReportMetric(float64(time.Since(from).Milliseconds()), "undo-ms")
					b.ReportMetric(float64((cpu() - began).Milliseconds()), "undo-cpu-ms")
					if got := w.changes(); got != "" {
						b.Errorf("after the undo %d are left", strings.Count(got, "\n"))
					}
				}
			})
		}
	}
}
