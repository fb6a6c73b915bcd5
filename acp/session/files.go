package session

import (
	"encoding/json"
	"slices"
	"strings"
)

// Files are the files that a tool call names, in the agent's own words (see [Absolute]), each once. The user's rules,
// the record of changes and everything else use this same list.
type Files struct {
	Named   []string    // all of them
	Changed []string    // those it says it changes
	Moves   [][2]string // from, to; both are in Changed

	known map[string]bool    // those that are Named; true: they are Changed too
	moved map[[2]string]bool // Moves
}

// changing are the kinds of calls whose locations and input name what is changed.
var changing = []ToolKind{KindEdit, KindDelete, KindMove}

// Files are the files of the call's diffs, its locations and its raw input.
func (c *ToolCall) Files() Files {
	f := Files{known: map[string]bool{}, moved: map[[2]string]bool{}}
	changes := slices.Contains(changing, c.Kind)
	for _, item := range c.Content {
		d, ok := item.(Diff)
		if !ok {
			continue
		}
		f.name(d.Path, true)
		f.name(d.OldPath, d.Operation == OperationMove)
		if d.Operation == OperationMove {
			f.move(d.OldPath, d.Path)
		}
	}
	var located []string
	seen := map[string]bool{}
	for _, l := range c.Locations {
		if c.Kind == KindFetch && isAddress(l.Path) {
			continue
		}
		f.name(l.Path, changes)
		if l.Path != "" && !seen[l.Path] {
			seen[l.Path] = true
			located = append(located, l.Path)
		}
	}
	in := c.input
	if in == nil || !in.isOf(c.RawInput) {
		in = readInput(c.RawInput)
	}
	for _, path := range in.paths {
		f.name(path, changes)
	}
	if !changes {
		return f
	}
	for _, m := range in.moves {
		f.move(m[0], m[1])
	}
	switch from, to := in.source(), in.destination(); {
	case c.Kind != KindMove:
	case from != "" && to != "":
		f.move(from, to)
	case len(located) == 2 && len(f.Moves) == 0:
		f.move(located[0], located[1])
	}
	return f
}

func (f *Files) name(path string, changed bool) {
	if path == "" {
		return
	}
	is, known := f.known[path]
	if !known {
		f.Named = append(f.Named, path)
	}
	if changed && !is {
		f.Changed = append(f.Changed, path)
	}
	f.known[path] = is || changed
}

func (f *Files) move(from, to string) {
	if pair := [2]string{from, to}; from != "" && to != "" && from != to && !f.moved[pair] {
		f.moved[pair] = true
		f.Moves = append(f.Moves, pair)
	}
}

// The fields of a raw input that name files, besides those that end as in nameEnds. The first of sources is what a
// moving tool moves, the first of destinations where to. All are in lower case, without _ and -.
var (
	sources = []string{
		"source", "sourcepath", "src", "from", "oldpath",
		"path", "filepath", "file", "filename", "abspath", "absolutepath", "targetfile", "notebookpath",
	}
	destinations = []string{"destination", "destinationpath", "dest", "dst", "to", "newpath", "movepath", "target"}
	others       = []string{"root", "filenames"}
	nameEnds     = []string{"path", "paths", "file", "files", "dir", "dirs", "directory", "directories", "folder", "folders", "uri", "uris"}
)

// texts are the fields that hold what is written, searched for or run: they never name a file, even if they look like
// it.
var texts = []string{
	"content", "contents", "text", "newtext", "oldtext", "newstring", "oldstring", "newstr", "oldstr", "filetext",
	"newcontent", "oldcontent", "newsource", "oldsource", "insertline", "description", "explanation", "instruction",
	"prompt", "query", "pattern", "regex", "command", "cmd", "script", "code", "message", "reason", "cwd", "workdir",
	"workingdirectory", "type", "mimetype", "kind", "operation", "mode", "url",
}

// input is what a tool's raw input says about files: in the fields known to name them, in anything else that looks like
// an absolute path, as keys of changes, and in patches.
type input struct {
	raw   json.RawMessage
	paths []string
	moves [][2]string
	top   map[string]string // the files of the outermost fields
}

func readInput(raw json.RawMessage) *input {
	in := &input{raw: raw}
	var value any
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return in
	}
	in.top = map[string]string{}
	if fields, ok := value.(map[string]any); ok {
		for k, item := range fields {
			if text, ok := item.(string); ok && !strings.Contains(text, "\n") && namesFile(k, text) {
				in.top[plainKey(k)] = LocalPath(text)
			}
		}
	}
	in.collect("", value)
	slices.Sort(in.paths) // fields come in any order
	slices.SortFunc(in.moves, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return in
}

// isOf reports whether in was read from these very bytes.
func (in *input) isOf(raw json.RawMessage) bool {
	return len(in.raw) == len(raw) && (len(raw) == 0 || &in.raw[0] == &raw[0])
}

func (in *input) source() string      { return in.first(sources) }
func (in *input) destination() string { return in.first(destinations) }

func (in *input) first(keys []string) string {
	for _, key := range keys {
		if path := in.top[key]; path != "" {
			return path
		}
	}
	return ""
}

func (in *input) collect(key string, value any) {
	switch v := value.(type) {
	case map[string]any:
		changes := plainKey(key) == "changes"
		for k, item := range v {
			if changes {
				in.change(k, item)
			}
			in.collect(k, item)
		}
	case []any:
		for _, item := range v {
			in.collect(key, item)
		}
	case string:
		if strings.Contains(v, "\n") {
			in.patch(v)
		} else if namesFile(key, v) {
			in.add(v)
		}
	}
}

func (in *input) add(path string) { in.paths = append(in.paths, LocalPath(path)) }

func (in *input) move(from, to string) {
	in.moves = append(in.moves, [2]string{LocalPath(from), LocalPath(to)})
}

// change reads one of several changes, keyed by path as Codex sends them.
func (in *input) change(path string, change any) {
	in.add(path)
	fields, _ := change.(map[string]any)
	if to, ok := fields["move_path"].(string); ok {
		in.move(path, to)
	}
}

// isAddress reports whether a name is an address to fetch rather than a file.
func isAddress(name string) bool { return strings.Contains(name, "://") && !isFileURI(name) }

// unjoined removes what joins the words of a key.
var unjoined = strings.NewReplacer("_", "", "-", "")

func plainKey(key string) string { return unjoined.Replace(strings.ToLower(key)) }

// namesFile reports whether a field names a file.
func namesFile(key, value string) bool {
	key = plainKey(key)
	switch {
	case key == "url" && isFileURI(value):
		return true
	case value == "" || slices.Contains(texts, key):
		return false
	case isFileURI(value):
		return true
	case isAddress(value):
		return false
	case slices.Contains(sources, key), slices.Contains(destinations, key), slices.Contains(others, key):
		return true
	case strings.HasPrefix(value, "/"), value == "..", strings.Contains(value, "/") && !strings.Contains(value, " "):
		return true
	}
	return slices.ContainsFunc(nameEnds, func(end string) bool { return strings.HasSuffix(key, end) })
}

// patch finds the files that a patch changes, in the form of diff, of Git or of apply_patch.
func (in *input) patch(text string) {
	if !strings.Contains(text, "\n+++ ") && !strings.Contains(text, "\nrename to ") && !strings.Contains(text, "*** ") {
		return
	}
	add := func(name string) string {
		name, _, _ = strings.Cut(name, "\t")
		if name = strings.TrimSpace(name); name == "" || name == "/dev/null" {
			return ""
		}
		in.add(name)
		return name
	}
	from := ""
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		for _, head := range []string{"*** Add File: ", "*** Delete File: ", "copy from ", "copy to "} {
			if name, ok := strings.CutPrefix(l, head); ok {
				add(name)
			}
		}
		for _, head := range []string{"*** Update File: ", "rename from "} {
			if name, ok := strings.CutPrefix(l, head); ok {
				from = add(name)
			}
		}
		for _, head := range []string{"*** Move to: ", "rename to "} {
			if name, ok := strings.CutPrefix(l, head); ok {
				in.move(from, add(name))
			}
		}
		header := strings.HasPrefix(l, "+++ ") && i > 0 && strings.HasPrefix(lines[i-1], "--- ")
		if !header {
			continue
		}
		old, name := lines[i-1][len("--- "):], l[len("+++ "):]
		// Git writes a/ and b/ before the names.
		if (strings.HasPrefix(old, "a/") || old == "/dev/null") && (strings.HasPrefix(name, "b/") || name == "/dev/null") {
			old, name = strings.TrimPrefix(old, "a/"), strings.TrimPrefix(name, "b/")
		}
		add(old)
		add(name)
	}
}
