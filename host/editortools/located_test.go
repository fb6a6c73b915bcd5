package editortools

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestByteOf(t *testing.T) {
	const line = "aü€😀b\xffc"
	for _, test := range []struct {
		encoding   string
		unit, want int
	}{
		{"utf-8", 0, 0}, {"utf-8", 3, 3}, {"utf-8", 99, len(line)},
		{"utf-16", 0, 0}, {"utf-16", 1, 1}, {"utf-16", 2, 3}, {"utf-16", 3, 6}, {"utf-16", 5, 10}, {"utf-16", 6, 11}, {"utf-16", 7, 12}, {"utf-16", 8, 13}, {"utf-16", 99, 13},
		{"utf-16", 4, 10}, // in the middle of a character
		{"utf-32", 3, 6}, {"utf-32", 4, 10}, {"utf-32", 5, 11}, {"utf-32", 6, 12}, {"utf-32", 99, 13},
		{"", 5, 10}, // what servers speak that say nothing
	} {
		check.Equal(t, byteOf(line, test.unit, test.encoding), test.want,
			"the unit %d of %q is the byte %d", test.unit, test.encoding)
	}
	check.Equal(t, byteOf("", 3, "utf-16"), 0, "in no text it is %d")
}

// Places are told once each, with the text of buffers where these have a file and else of the disk.
func TestLocated(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	disk, dos := write("disk", "one\nü two\nthree"), write("dos", "\xef\xbb\xbfone\r\nü two\r\n")
	open, both := write("open", "old\nold\nold\n"), write("zboth", "ü two ü\n")
	c := &call{Caller: &Caller{
		Base: feature.Base{Folder: folder.Folder{Cwd: dir, Roots: []string{dir}}},
		Private: func(listed, counted []string) map[string]bool {
			private := map[string]bool{}
			for _, path := range slices.Concat(listed, counted) {
				private[path] = strings.HasPrefix(filepath.Base(path), ".")
			}
			return private
		},
	}}
	write(".env", "KEY=1\n")
	got, n := c.located([]rpc.EditorLocated{
		{Path: open, Encoding: "utf-16", At: []int{1, 2, 0, 0, 2, 1}, Loaded: true, Rows: []int{0, 1}, Lines: []string{"newer", "ü new"}},
		{Path: disk, Encoding: "utf-16", At: []int{2, 0, 1, 2, 1, 0, 9, 5}},
		{Path: dos, Encoding: "utf-16", At: []int{1, 2, 0, 0}},
		{Path: dir + "/.env", Encoding: "utf-16", At: []int{0, 0}},
		{Path: dir + "/none", Encoding: "utf-8", At: []int{4, 6}},
		{Path: both, Encoding: "utf-16", At: []int{0, 6, 0, 2}},
		{Path: both, Encoding: "utf-8", At: []int{0, 3, 0, 7, 0, 3}},
	}, rpc.EditorCounted{Paths: []string{dir + "/zmore", dir + "/.more"}, Counts: []int{30, 7}})
	want := []string{
		"disk 2:1 ü two", "disk 2:4 ü two", "disk 3:1 three", "disk 10:0 ", "dos 1:1 one", "dos 2:4 ü two", "none 5:7 ",
		"open 1:1 newer", "open 2:4 ü new", "open 3:0 ", "zboth 1:4 ü two ü", "zboth 1:8 ü two ü",
	}
	if n != len(want)+30 || len(got) != len(want) {
		t.Fatalf("there are %d places, told %d: %+v", n, len(got), got)
	}
	for i, p := range got {
		check.Equal(t, fmt.Sprintf("%s %d:%d %s", filepath.Base(p.Path), p.Line, p.Column, p.Text), want[i], "got %q")
	}
}

// Files beyond those that are read ahead are read too.
func TestPlacesInManyFiles(t *testing.T) {
	dir := t.TempDir()
	c := &call{Caller: &Caller{
		Base:    feature.Base{Folder: folder.Folder{Cwd: dir, Roots: []string{dir}}},
		Private: func(_, _ []string) map[string]bool { return nil },
	}}
	var found []rpc.EditorLocated
	for i := range 40 {
		path := must.Write(t, dir, fmt.Sprintf("f%02d", i), fmt.Sprintf("text %d\n", i))
		found = append(found, rpc.EditorLocated{Path: path, Encoding: "utf-8", At: []int{0, 5}})
	}
	got, _ := c.located(found, rpc.EditorCounted{})
	must.Equal(t, len(got), len(found), "there are %d places")
	for i, p := range got {
		check.Equal(t, p.Text, fmt.Sprintf("text %d", i), "the text in %s is %q", filepath.Base(p.Path))
	}
}
