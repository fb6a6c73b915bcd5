package rules

import (
	"encoding/json"
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

func checkGlob(glob string) error {
	if glob == "" {
		return errors.New("it is empty")
	}
	if !doublestar.ValidatePattern(glob) {
		return errors.New("it is no glob")
	}
	if _, rest := doublestar.SplitPattern(glob); slices.Contains(strings.Split(rest, "/"), "..") {
		return errors.New("it has a .. behind a wildcard")
	}
	return nil
}

func matchesAny(globs []string, r Request, path string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return matchesGlob(glob, r, path) })
}

// matchesGlob tells whether a glob, absolute, of the home directory or relative
// to the session's folder, fits an absolute path. Its part before the first
// wildcard is resolved, as the path is.
func matchesGlob(glob string, r Request, file string) bool {
	if file == "" {
		return false
	}
	if rest, ok := strings.CutPrefix(glob, "~"); ok && (rest == "" || rest[0] == '/') {
		return matchesBelow(r.Home, strings.TrimPrefix(rest, "/"), r, file)
	}
	if strings.HasPrefix(glob, "/") {
		return matchesBelow("/", glob[1:], r, file)
	}
	return matchesBelow(r.Cwd, glob, r, file)
}

// matchesPrivate is matchesGlob for files that are private wherever they are:
// a glob that begins with ** fits outside of the session's folder too.
func matchesPrivate(glob string, r Request, file string) bool {
	if strings.HasPrefix(glob, "**/") && file != "" {
		return matchesBelow("/", glob, r, file)
	}
	return matchesGlob(glob, r, file)
}

func matchesBelow(base, glob string, r Request, file string) bool {
	if base == "" {
		return false
	}
	fixed, rest := doublestar.SplitPattern(glob)
	if !hasMeta(rest) {
		fixed, rest = path.Join(fixed, rest), ""
	}
	base = r.Resolve(filepath.Join(base, unescaped(fixed)))
	if base == "" {
		return false
	}
	if r.Fold {
		base, rest, file = strings.ToLower(base), strings.ToLower(rest), strings.ToLower(file)
	}
	below := strings.TrimSuffix(base, "/") + "/"
	switch {
	case file == base:
		return rest == "" || rest == "**"
	case rest == "" || !strings.HasPrefix(file, below):
		return false
	}
	ok, err := doublestar.Match(rest, file[len(below):])
	return ok && err == nil
}

func hasMeta(glob string) bool {
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return true
		}
	}
	return false
}

func unescaped(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		if glob[i] == '\\' && i+1 < len(glob) {
			i++
		}
		b.WriteByte(glob[i])
	}
	return b.String()
}

// texts are the fields of a raw input that hold what is written, looked for or
// run: no file is meant by them, even where they look like one.
var texts = []string{
	"content", "contents", "text", "newtext", "oldtext", "newstring", "oldstring", "newstr", "oldstr", "filetext",
	"newcontent", "oldcontent", "newsource", "oldsource", "insertline", "description", "explanation", "instruction",
	"prompt", "query", "pattern", "regex", "command", "cmd", "script", "code", "message", "reason", "cwd", "workdir",
	"workingdirectory", "type", "mimetype", "kind", "operation", "mode", "url",
}

// names are the fields that name files, beside those that end so.
var names = []string{
	"source", "destination", "src", "dst", "dest", "from", "to", "target", "root", "filename", "filenames",
}

var nameEnds = []string{"path", "paths", "file", "files", "dir", "dirs", "directory", "directories", "folder", "folders", "uri", "uris"}

// PathsIn finds the files that a tool's raw input names: in the fields that are
// known to, in whatever else looks like an absolute path, as keys of changes,
// and in patches. The names are as written.
func PathsIn(raw json.RawMessage) []string {
	var value any
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return nil
	}
	var found []string
	collect("", value, &found)
	slices.Sort(found)
	return slices.Compact(found)
}

func collect(key string, value any, found *[]string) {
	switch v := value.(type) {
	case map[string]any:
		changes := plainKey(key) == "changes"
		for k, item := range v {
			if changes {
				*found = append(*found, k)
			}
			collect(k, item, found)
		}
	case []any:
		for _, item := range v {
			collect(key, item, found)
		}
	case string:
		if strings.Contains(v, "\n") {
			*found = append(*found, patchedFiles(v)...)
			return
		}
		if name := fileOf(key, v); name != "" {
			*found = append(*found, name)
		}
	}
}

func plainKey(key string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
}

func fileOf(key, value string) string {
	key = plainKey(key)
	switch {
	case value == "" || slices.Contains(texts, key):
		return ""
	case strings.HasPrefix(value, "file://"):
		if u, err := url.Parse(value); err == nil && u.Path != "" {
			return u.Path
		}
		return value
	case strings.Contains(value, "://"):
		return "" // fetched, not a file
	case slices.Contains(names, key), strings.HasPrefix(value, "/"), value == "..", strings.Contains(value, "/") && !strings.Contains(value, " "):
		return value
	}
	for _, end := range nameEnds {
		if strings.HasSuffix(key, end) {
			return value
		}
	}
	return ""
}

// patchedFiles are the files that a patch changes, in the form of diff, of Git
// or of apply_patch.
func patchedFiles(text string) []string {
	if !strings.Contains(text, "\n+++ ") && !strings.Contains(text, "\nrename to ") && !strings.Contains(text, "*** ") {
		return nil
	}
	var found []string
	add := func(name string) {
		name, _, _ = strings.Cut(name, "\t")
		if name = strings.TrimSpace(name); name != "" && name != "/dev/null" {
			found = append(found, name)
		}
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "rename from ", "rename to ", "copy from ", "copy to "} {
			if name, ok := strings.CutPrefix(l, head); ok {
				add(name)
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
	return found
}
