package scene

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// This file has the files of the working folder, on the disk and in buffers.

// Lines is a text of n numbered lines.
func Lines(from, n int) string {
	var b strings.Builder
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// WriteFile makes a file in the working folder and gives its path.
func (s *Scene) WriteFile(name, text string) string {
	s.T.Helper()
	path := filepath.Join(s.Dir, name)
	must.Do(s.T, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// ReadFile is the text of a file on the disk.
func (s *Scene) ReadFile(path string) string {
	s.T.Helper()
	text, err := os.ReadFile(path)
	must.Do(s.T, err)
	return string(text)
}

// ReadOrNone is ReadFile, or "no file".
func (s *Scene) ReadOrNone(path string) string {
	s.T.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		return "no file"
	}
	return string(data)
}

// WriteOutside makes a file beside the working folder.
func (s *Scene) WriteOutside(name, text string) string {
	s.T.Helper()
	path := filepath.Join(s.Home, name)
	must.Do(s.T, os.MkdirAll(filepath.Dir(path), 0o777))
	must.Do(s.T, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// WriteFiles makes files in the working folder, and the folders that they need; each has a text of its own.
func (s *Scene) WriteFiles(names ...string) {
	s.T.Helper()
	for _, name := range names {
		must.Do(s.T, os.MkdirAll(filepath.Dir(filepath.Join(s.Dir, name)), 0o777))
		s.WriteFile(name, "text of "+name+"\n")
	}
}

// Rel is a path of Neovim's as it is in the working folder.
func (s *Scene) Rel(path any) string {
	return strings.TrimPrefix(fmt.Sprint(path), s.Dir+"/")
}

// Shell runs a shell script in the working folder.
func (s *Scene) Shell(script string) {
	s.T.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = s.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.T.Fatalf("%s: %v: %s", script, err, out)
	}
}

// BufferText is a buffer's text, "\n" between its lines.
func (s *Scene) BufferText(buf int) string {
	s.T.Helper()
	return s.LuaString(`table.concat(vim.api.nvim_buf_get_lines(..., 0, -1, false), '\n')`, buf)
}

// AwaitBuffer waits until a buffer has a text.
func (s *Scene) AwaitBuffer(buf int, text string) {
	s.T.Helper()
	s.Await(fmt.Sprintf("%q in buffer %d", text, buf), func() bool { return strings.Contains(s.BufferText(buf), text) })
}
