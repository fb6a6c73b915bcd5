package buffers

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// noBuffers is a Neovim that shows no file.
type noBuffers struct{}

func (noBuffers) CallBuffers(context.Context, string, any, any) error { return nil }

// Of a file that is too large for one answer lines are read, and nothing else; it takes no memory.
func TestFilesThatAreTooLargeToBeReadWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	must.Do(t, os.WriteFile(path, []byte("one\ntwo\n"), 0o666))
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	must.Do(t, err)
	const size = 50 << 30 // all but its ends is a hole
	if _, err := file.WriteAt([]byte("\nend"), size-4); err != nil {
		t.Skip(err)
	}
	file.Close()
	f := New(noBuffers{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	line := func(n int) *int { return &n }
	for _, c := range []struct {
		line, limit *int
		text, err   string
	}{
		{nil, nil, "", "read " + path + ": it has 50 GB, and at most 64 MB are read at once: read it by lines, with line and limit"},
		{line(3), line(1), "", "read " + path + ": these lines have more than 64 MB, which are read at once at most: read fewer, with line and limit"},
		{nil, line(2), "one\ntwo\n", ""},
		{line(2), line(1), "two\n", ""},
		{line(4), line(1), "end", ""},
		{line(4), nil, "end", ""},
		{line(14), line(14), "", ""},
		{line(1), line(0), "", ""},
	} {
		got := make(chan answer, 1)
		f.Read(context.Background(), Read{Path: path, Line: c.line, Limit: c.limit}, func(text string, err error) { got <- answer{text, err} })
		a := <-got
		if a.text != c.text || (a.err == nil) != (c.err == "") || a.err != nil && a.err.Error() != c.err {
			t.Errorf("lines %v, %v: %.20q, %v", c.line, c.limit, a.text, a.err)
		}
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 8*maxRead {
		t.Errorf("%d MB were taken", taken>>20)
	}
	wrote := make(chan error, 1)
	f.Write(context.Background(), Write{Path: path, Text: "small\n"}, func(_ Written, err error) { wrote <- err })
	if err := <-wrote; err == nil || err.Error() != "write "+path+": it has 50 GB, and at most 256 MB are read or written as a whole" {
		t.Errorf("written: %v", err)
	}
}

// Of a large file whose lines cannot be told apart without reading all of it none is read, and where only a hole is left
// there are no lines.
func TestLinesOfLargeFiles(t *testing.T) {
	const size = maxRead + 1<<20
	ended, end := context.WithCancelCause(t.Context())
	over := errors.New("it is over")
	end(over)
	for name, c := range map[string]struct {
		ctx         context.Context
		begin       string
		first, last int
		want        string
		err         error
	}{
		"little":      {t.Context(), "\xff\xfea\x00\n\x00", 0, 1, "", errLargeWide},
		"big":         {t.Context(), "\xfe\xff\x00a\x00\n", 0, 1, "", errLargeWide},
		"a hole":      {t.Context(), strings.Repeat("one\n", streamed), streamed + 1, streamed + 3, "", nil},
		"before it":   {t.Context(), strings.Repeat("one\n", streamed), streamed - 1, streamed, "one\n", nil},
		"nobody asks": {ended, "one\n", 0, 1, "", over},
	} {
		path := must.Write(t, t.TempDir(), "large", c.begin)
		must.Do(t, os.Truncate(path, size))
		text, err := readPart(c.ctx, path, c.first, c.last)
		if text != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %.20q, %v; want %q, %v", name, text, err, c.want, c.err)
		}
	}
}

type answer struct {
	text string
	err  error
}

// Lines that are read in pieces are those of the whole.
func TestPartsOfAFile(t *testing.T) {
	dir := t.TempDir()
	for _, kind := range []string{"unix", "dos", "latin1", "bom", "noeol"} {
		var text strings.Builder
		if kind == "bom" {
			text.WriteString(boms["utf-8"])
		}
		end := map[string]string{"dos": "\r\n"}[kind] + map[bool]string{true: "\n"}[kind != "dos"]
		for rows := 0; text.Len() < 3*streamed; rows++ {
			text.WriteString(strings.Repeat(map[bool]string{true: "\xe9", false: "é"}[kind == "latin1"], rand.IntN(2000)))
			text.WriteString(end)
		}
		whole := text.String()
		if kind == "noeol" {
			whole += "last"
		}
		path := filepath.Join(dir, kind)
		must.Do(t, os.WriteFile(path, []byte(whole), 0o666))
		all, _ := detect([]byte(whole))
		rows := strings.Count(all, "\n")
		for range 200 {
			first := rand.IntN(rows + 3)
			last := first + rand.IntN(rows) - 1
			if last < first {
				last = -1
			}
			got, err := readPart(context.Background(), path, first, last)
			if want := cutLines(all, first, last); err != nil || got != want {
				t.Fatalf("%s: lines %d to %d of %d are %d bytes, not %d; %v", kind, first, last, rows, len(got), len(want), err)
			}
		}
	}
}

// What the kernel calls a regular file may wait for data as a pipe does.
func TestFilesThatWaitAreNone(t *testing.T) {
	const path = "/proc/kmsg"
	if _, _, err := openFile(path); err != nil {
		t.Skip(err)
	}
	if _, err := readFile(path); !errors.Is(err, ErrNotRegular) {
		t.Errorf("it is read: %v", err)
	}
}
