package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

func TestChangedLine(t *testing.T) {
	text := func(s string) *string { return &s }
	file := "package a\n\nfunc a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 2\n}\n"
	changed := strings.Replace(file, "return 2", "return 3", 1)
	for _, c := range []struct {
		name string
		diff session.Diff
		file string
		want int
	}{
		{"the whole file, before", session.Diff{OldText: text(file), NewText: text(changed)}, file, 8},
		{"the whole file, after", session.Diff{OldText: text(file), NewText: text(changed)}, changed, 8},
		{"a fragment, before", session.Diff{OldText: text("\treturn 2\n"), NewText: text("\treturn 3\n")}, file, 8},
		{"a fragment, after", session.Diff{OldText: text("\treturn 2\n"), NewText: text("\treturn 3\n")}, changed, 8},
		{"with context", session.Diff{OldText: text("func b() {\n\treturn 2\n}"), NewText: text("func b() {\n\treturn 3\n}")}, file, 8},
		{"an insertion, after", session.Diff{OldText: text("}\n"), NewText: text("}\n// end\n")}, file + "// end\n", 10},
		{"a deletion, before", session.Diff{OldText: text("func b() {\n\treturn 2\n}\n"), NewText: text("")}, file, 7},
		{"within a line", session.Diff{OldText: text("2"), NewText: text("3")}, file, 8},
		{"not at the place where a longer line has it", session.Diff{OldText: text("b\n"), NewText: text("c\n")}, "a b\nb\n", 2},
		{"CRLF", session.Diff{OldText: text("func b() {\r\n\treturn 2\r\n"), NewText: text("func b() {\r\n\treturn 3\r\n")}, file, 8},
		{"a new file", session.Diff{NewText: text(file)}, file, 1},
		{"not there", session.Diff{OldText: text("nothing"), NewText: text("of it")}, file, 0},
		{"nothing told", session.Diff{}, file, 0},
		{"a patch", session.Diff{Patch: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -6,3 +6,3 @@ func\n \n func b() {\n-\treturn 2\n+\treturn 3\n"}, file, 8},
		{"a patch of a new file", session.Diff{Patch: "@@ -0,0 +1,2 @@\n+a\n+b\n"}, "", 1},
		{"a patch that deletes", session.Diff{Patch: "@@ -1,2 +0,0 @@\n-a\n-b\n"}, "", 1},
		{"a binary patch", session.Diff{Patch: "Binary files a/a and b/a differ\n"}, "", 0},
		{"a broken patch", session.Diff{Patch: "@@ -1 +x @@\n+a\n"}, "", 0},
	} {
		if got := changedLine(c.diff, c.file); got != c.want {
			t.Errorf("%s: line %d, expected %d", c.name, got, c.want)
		}
	}
}

func TestLook(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int64, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if size > 0 {
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	long := strings.Repeat("some text\n", 1000) // more than is looked at
	for _, c := range []struct {
		path string
		want string
	}{
		{write("text", 0, "text\n"), "{true false} true"},
		{write("empty", 0, ""), "{true false} true"},
		{write("big", bigFile, long), "{true false} true"},
		{write("bigger", bigFile+1, long), "{true true} true"},
		{write("huge", hugeFile+1, long), "{false false} false"},
		{write("binary", 0, "\x7fELF\x00\x00"), "{false false} false"},
		{write("utf16", 0, "\xfe\xff\x00a\x00\n"), "{true false} true"},
		{filepath.Join(dir, "missing"), "{false false} true"},
		{dir, "{false false} false"},
		{"/dev/null", "{false false} false"},
	} {
		file, ok := look(c.path)
		if got := fmt.Sprint(file, ok); got != c.want {
			t.Errorf("%s is %s, expected %s", filepath.Base(c.path), got, c.want)
		}
	}
}

func TestPlain(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"here/a", "there/in/b", "there/a", "here/b"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir+"/there/in", dir+"/here/link"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"/here/a":             "/here/a",
		"/here/../there/./a":  "/there/a",
		"/here/link/../a":     "/here/link/../a", // there/a
		"/here/link/../in/b":  "/here/link/../in/b",
		"/here/../missing":    "/here/../missing",
		"/here/link/../../a":  "/here/link/../../a",
		"/here//b":            "/here/b",
		"/there/../here/link": "/here/link",
	} {
		if got := plain(dir + name); got != dir+want {
			t.Errorf("%s: %s, expected %s", name, strings.TrimPrefix(got, dir), want)
		}
	}
}

func TestFilePath(t *testing.T) {
	s := &Session{cwd: "/work"}
	for name, want := range map[string]string{
		"/a/b":            "/a/b",
		"b.lua":           "/work/b.lua",
		"./b.lua":         "/work/b.lua",
		"file:///a%20b/c": "/a b/c",
		"file://host/a":   "/a",
		"file:///a%zz":    "",
		"":                "",
	} {
		if got := s.filePath(name); got != want {
			t.Errorf("%q is %q, expected %q", name, got, want)
		}
	}
}
