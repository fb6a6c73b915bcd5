// Package folder is where a session works: how paths are named there, and which are inside.
package folder

import (
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Folder is where a session works. It never changes.
type Folder struct {
	Cwd string
	// Roots are the folders whose files are read, written and attached without asking.
	Roots []string
}

// Short returns a path for display.
func (f Folder) Short(path string) string { return styled.Relative(f.Cwd, path) }

// Absolute is [session.Absolute] here.
func (f Folder) Absolute(path string) (string, bool) {
	home, _ := os.UserHomeDir()
	return session.Absolute(path, f.Cwd, home)
}

// Has reports whether a file, without links, is in one of the roots. It reads the disk.
func (f Folder) Has(file string) bool { return Inside(file, f.Roots) }

// Inside reports whether a file, without links, is in one of the folders, which may have links. It reads the disk.
func Inside(file string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		if Below(file, folder) {
			return true // like the file, it has no links
		}
		real, err := buffers.RealPath(folder)
		return err == nil && (Below(file, real) || FoldsCase(real) && Below(strings.ToLower(file), strings.ToLower(real)))
	})
}

// Below reports whether a path is a folder, or in it. Both are without links.
func Below(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// FoldsCase reports whether the file system ignores case.
func FoldsCase(dir string) bool {
	other := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, dir)
	there, err := os.Stat(other)
	if err != nil || other == dir {
		return false
	}
	here, err := os.Stat(dir)
	return err == nil && os.SameFile(here, there)
}

// Tilde returns a path for display, with ~ for the user's home.
func Tilde(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "/" || !Below(path, home) {
		return path
	}
	return "~" + path[len(home):]
}
