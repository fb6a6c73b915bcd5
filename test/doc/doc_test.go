// Package doc compares what users read with what there is.
package doc

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	must.Do(t, err)
	return string(text)
}

// between is what a text has from a line that begins one way to one that begins another.
func between(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n"+from)
	part, _, ended := strings.Cut(rest, "\n"+to)
	if !ok || !ended {
		t.Fatalf("there is nothing from %q to %q", from, to)
	}
	return part
}

var plug = regexp.MustCompile(`<Plug>\(Acp\w+\)`)

// TestKeysInTheReadme tells of a key in the table that is nobody's default.
func TestKeysInTheReadme(t *testing.T) {
	readme := read(t, "README.md")
	table := between(t, readme, "| where | keys | |", "`keys` in the configuration")
	nvimtest.Each(t, func(t *testing.T, n *nvimtest.Nvim) {
		var keys map[string]any
		n.Lua(&keys, `return require('acp.config').get().keys`)
		known := []string{"/", "@"} // typed into the prompt
		for _, lhs := range keys {
			known = append(known, lhs.(string))
		}
		for _, line := range strings.Split(table, "\n") {
			cells := strings.Split(line, "|")
			if len(cells) < 4 {
				continue
			}
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s is no key of ours", m[1])
				}
			}
		}
		for _, name := range plug.FindAllString(readme, -1) {
			if !n.LuaBool(`vim.fn.maparg(..., 'n') ~= ''`, name) {
				t.Errorf("%s is no mapping", name)
			}
		}
	})
}

// TestTags tells of a link in the help that leads nowhere, and of a tag that the README or the code sends users to.
func TestTags(t *testing.T) {
	help := read(t, "doc/acp.txt") + read(t, "doc/acp-tutor.txt")
	tags := map[string]bool{"acp": true} // which is the file's own
	for _, m := range regexp.MustCompile(`(?:^|\s)\*([^*\s|]+)\*`).FindAllStringSubmatch(help, -1) {
		tags[m[1]] = true
	}
	links := regexp.MustCompile(`\|((?:acp|:Acp)[^|\s]*)\|`).FindAllStringSubmatch(help, -1)
	links = append(links, regexp.MustCompile("`:help ([^`]+)`").FindAllStringSubmatch(read(t, "README.md"), -1)...)
	if len(links) < 50 {
		t.Fatalf("only %d links were found", len(links))
	}
	for _, m := range links {
		if !tags[m[1]] {
			t.Errorf("%s leads nowhere", m[0])
		}
	}
}

// TestPathsInTheArchitecture tells of a file that doc/architecture.md sends readers to and that is not there.
func TestPathsInTheArchitecture(t *testing.T) {
	paths := firsts("`(?:[a-z]+\\.)?([a-z0-9]+/[a-z0-9_/]+\\.(?:go|lua))`", read(t, "doc/architecture.md"))
	if len(paths) < 30 {
		t.Fatalf("only %d paths were found", len(paths))
	}
	for _, path := range paths {
		if !slices.ContainsFunc([]string{"", "host/", "lua/acp/"}, func(folder string) bool {
			_, err := os.Stat(filepath.Join("../..", folder+path))
			return err == nil
		}) {
			t.Errorf("there is no %s", path)
		}
	}
}

// TestTheHelpFitsOn80Columns tells of lines of the help that are wider, but for code.
func TestTheHelpFitsOn80Columns(t *testing.T) {
	for i, line := range strings.Split(read(t, "doc/acp.txt"), "\n") {
		if n := utf8.RuneCountInString(line); n > 80 && !strings.HasPrefix(line, "        ") {
			t.Errorf("line %d has %d columns: %s", i+1, n, line)
		}
	}
}
