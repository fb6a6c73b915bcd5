package doc

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/source"
)

var fileInComment = regexp.MustCompile(`(?:^|[\s(])((?:acp|buffers|cmd|doc|host|lua|scripts|test)/[\w/.-]+\.(?:go|lua|md|sh|txt))\b`)

// Comments name files that there are.
func TestFilesInComments(t *testing.T) {
	for folder, ext := range map[string]string{"acp": ".go", "buffers": ".go", "followalong": ".go", "host": ".go", "lua": ".lua", "test": ".go"} {
		comment := map[string]string{".go": "//", ".lua": "--"}[ext]
		for name, text := range source.Files(t, folder, ext) {
			for line := range strings.Lines(text) {
				_, words, _ := strings.Cut(line, comment)
				for _, found := range fileInComment.FindAllStringSubmatch(words, -1) {
					if _, err := os.Stat(filepath.Join("..", "..", found[1])); err != nil && !strings.Contains(words, "://") {
						t.Errorf("%s/%s names %s, which is not there", folder, name, found[1])
					}
				}
			}
		}
	}
}
