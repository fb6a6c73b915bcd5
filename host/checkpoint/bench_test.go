package checkpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// project makes a folder of n small files, in a git repository or not.
func project(tb testing.TB, n int, repository bool) string {
	dir := tb.TempDir()
	for i := range n {
		put(tb, filepath.Join(dir, fmt.Sprintf("group%d/module%d/file%d.go", i%20, i%400, i)), fmt.Sprintf("package p%d\n", i))
	}
	if repository {
		git(tb, dir, "init", "-q")
		git(tb, dir, "add", ".")
	}
	return dir
}

func benchmarkSnapshot(b *testing.B, n int) {
	for _, repository := range []bool{true, false} {
		b.Run(fmt.Sprintf("git=%v", repository), func(b *testing.B) {
			dir := project(b, n, repository)
			store := Open(b.TempDir())
			last, err := store.Snapshot(b.Context(), []string{dir}, nil)
			if err != nil || len(last.files) != n {
				b.Fatal(err)
			}
			for _, f := range last.files {
				f.readAt += int64(granularity) // as it is two seconds later
			}
			b.Run("unchanged", func(b *testing.B) {
				for b.Loop() {
					again, err := store.Snapshot(b.Context(), []string{dir}, last)
					if err != nil || len(again.files) != n || again.files[0] != last.files[0] {
						b.Fatal(err)
					}
				}
			})
			b.Run("changes", func(b *testing.B) {
				after := &Snapshot{roots: last.roots}
				for b.Loop() {
					if got := last.Changes(after); len(got) != n {
						b.Fatalf("%d changes", len(got))
					}
				}
			})
			b.Run("first", func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					empty := Open(filepath.Join(b.TempDir(), "store"))
					b.StartTimer()
					if _, err := empty.Snapshot(b.Context(), []string{dir}, nil); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					os.RemoveAll(empty.dir)
					b.StartTimer()
				}
			})
		})
	}
}

func BenchmarkSnapshot10000(b *testing.B) { benchmarkSnapshot(b, 10_000) }

func BenchmarkSnapshot100000(b *testing.B) { benchmarkSnapshot(b, 100_000) }
