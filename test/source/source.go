// Package source reads the project's own files, for tests about them.
package source

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Files are the texts of all files of a folder of the project with an extension, but for tests, by their paths in it.
func Files(t *testing.T, folder, ext string) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..", folder) // from a package of test
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ext || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files in %s, %v", len(files), root, err)
	}
	return files
}

// Text is all of them, one after another.
func Text(t *testing.T, folder, ext string) string {
	t.Helper()
	files := Files(t, folder, ext)
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		all.WriteString(files[name])
	}
	return all.String()
}
