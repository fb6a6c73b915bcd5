package host

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// touched is what a tool call says of the files that it changes. Paths are absolute and clean.
type touched struct {
	paths []string
	moves [][2]string // from, to; both are in paths too
	diffs []session.Diff
	lines map[string]int // of the locations, counted from 1
}

// changing are the kinds of calls whose locations and input name what is changed.
var changing = []session.ToolKind{session.KindEdit, session.KindDelete, session.KindMove}

// pathKeys are how agents call a path in the input of a tool that changes files, the first of them also
// what is moved; destinationKeys are how they call where to.
var (
	pathKeys = []string{
		"source", "source_path", "sourcePath", "src", "from", "old_path", "oldPath",
		"path", "file_path", "filePath", "filepath", "file", "filename", "abs_path", "absolute_path", "absolutePath",
		"target_file", "targetFile", "notebook_path",
	}
	destinationKeys = []string{
		"destination", "destination_path", "destinationPath", "dest", "dst", "to", "new_path", "newPath", "move_path", "target",
	}
)

// touchedBy reads a call; absolute completes a relative path.
func touchedBy(call *session.ToolCall, absolute func(string) string) touched {
	t := touched{lines: map[string]int{}}
	add := func(path string) string {
		if path = localPath(path); path == "" {
			return ""
		}
		path = filepath.Clean(absolute(path))
		if !slices.Contains(t.paths, path) {
			t.paths = append(t.paths, path)
		}
		return path
	}
	move := func(from, to string) {
		if pair := [2]string{from, to}; from != "" && to != "" && from != to && !slices.Contains(t.moves, pair) {
			t.moves = append(t.moves, pair)
		}
	}
	for _, item := range call.Content {
		d, ok := item.(session.Diff)
		if !ok {
			continue
		}
		if d.Path = add(d.Path); d.Path == "" {
			continue
		}
		if d.OldPath != "" && d.Operation == session.OperationMove {
			d.OldPath = add(d.OldPath)
			move(d.OldPath, d.Path)
		}
		t.diffs = append(t.diffs, d)
	}
	if !slices.Contains(changing, call.Kind) {
		return t
	}
	var located []string
	for _, l := range call.Locations {
		if path := add(l.Path); path != "" {
			located = append(located, path)
			if l.Line > 0 {
				t.lines[path] = l.Line
			}
		}
	}
	from, to := t.input(call.RawInput, add, move)
	switch {
	case call.Kind != session.KindMove:
	case from != "" && to != "":
		move(from, to)
	case len(located) == 2 && len(t.moves) == 0:
		move(located[0], located[1])
	}
	return t
}

// input reads the paths of a raw input, in the ways of known agents, and gives the first one and where it
// is moved to.
func (t *touched) input(raw json.RawMessage, add func(string) string, move func(from, to string)) (from, to string) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return "", ""
	}
	first := func(keys []string) (found string) {
		for _, key := range keys {
			var path string
			if json.Unmarshal(fields[key], &path) == nil && path != "" {
				if path = add(path); found == "" {
					found = path
				}
			}
		}
		return found
	}
	from, to = first(pathKeys), first(destinationKeys)
	// By path, as Codex has it.
	var changes map[string]struct {
		MovePath any `json:"move_path"`
	}
	if json.Unmarshal(fields["changes"], &changes) == nil {
		for path, c := range changes {
			path = add(path)
			if to, ok := c.MovePath.(string); ok {
				move(path, add(to))
			}
		}
	}
	return from, to
}

// localPath is a path or a file's URI as a path; "" is none.
func localPath(path string) string {
	if rest, ok := strings.CutPrefix(path, "file://"); ok {
		path = rest
		if plain, err := url.PathUnescape(rest); err == nil {
			path = plain
		}
	}
	if strings.ContainsAny(path, "\x00\n") || strings.Contains(path, "://") {
		return ""
	}
	return path
}
