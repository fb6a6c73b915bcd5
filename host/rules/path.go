package rules

import (
	"errors"
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
		return errors.New("it is not a glob")
	}
	if _, rest := doublestar.SplitPattern(glob); slices.Contains(strings.Split(rest, "/"), "..") {
		return errors.New("it has a .. behind a wildcard")
	}
	return nil
}

func matchesAny(globs []string, r Request, path string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return matchesGlob(glob, r, path) })
}

// matchesGlob reports whether a glob, absolute, of the home directory or relative
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

// PrivateFolders are the folders, or files, without links, that globs of private files name: those below which
// all that fits lies, besides the session's folder and whatever lies anywhere.
func (l List) PrivateFolders(r Request) []string {
	var found []string
	for _, glob := range l.Private {
		base := "/"
		rest, ok := strings.CutPrefix(glob, "/")
		if !ok {
			if rest, ok = strings.CutPrefix(glob, "~/"); !ok {
				continue
			}
			base = r.Home
		}
		fixed, _ := fixedPart(rest)
		if dir := r.Resolve(filepath.Join(base, fixed)); dir != "" && dir != "/" {
			found = append(found, dir)
		}
	}
	return found
}

// fixedPart cuts a glob before its first component with a wildcard.
func fixedPart(glob string) (fixed, rest string) {
	fixed, rest = doublestar.SplitPattern(glob)
	if !hasMeta(rest) {
		fixed, rest = path.Join(fixed, rest), ""
	}
	return unescaped(fixed), rest
}

func matchesBelow(base, glob string, r Request, file string) bool {
	if base == "" {
		return false
	}
	fixed, rest := fixedPart(glob)
	base = r.Resolve(filepath.Join(base, fixed))
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
