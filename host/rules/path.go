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
		return errors.New("it has a .. after a wildcard")
	}
	return nil
}

func matchesAny(globs []string, r Request, path string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return matchesGlob(glob, r, path) })
}

// matchesGlob reports whether a glob fits an absolute path.
func matchesGlob(glob string, r Request, file string) bool {
	return file != "" && resolvedGlob(glob, r).matches(file)
}

// privateGlob is resolvedGlob for files that are private wherever they are:
// a glob that begins with ** fits outside of the session's folder too.
func privateGlob(glob string, r Request) globBelow {
	if strings.HasPrefix(glob, "**/") {
		return below("/", glob, r)
	}
	return resolvedGlob(glob, r)
}

// FitsPrivate returns a function that reports whether a path, absolute and without links, is private by name.
func (l List) FitsPrivate(r Request) func(file string) bool {
	globs := make([]globBelow, len(l.Private))
	for i, glob := range l.Private {
		globs[i] = privateGlob(glob, r)
	}
	return func(file string) bool {
		return slices.ContainsFunc(globs, func(g globBelow) bool { return g.matches(file) })
	}
}

// PrivateFolders returns the folders, or files, without links, that contain everything the globs of private files
// match, besides the session's folder and globs that match anywhere.
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

// globBelow is a glob resolved for one request.
type globBelow struct {
	base string // the folder, or the file, at which it begins, without links; "" where nothing fits
	rest string // the glob below that; "" for none
	part string // a string in the name of every file that fits
	fold bool   // letters are the same in both cases
}

// resolvedGlob returns a glob that is absolute, in the home directory or relative to the session's folder. The part
// before the first wildcard is resolved, like the paths that it is compared with.
func resolvedGlob(glob string, r Request) globBelow {
	if rest, ok := strings.CutPrefix(glob, "~"); ok && (rest == "" || rest[0] == '/') {
		return below(r.Home, strings.TrimPrefix(rest, "/"), r)
	}
	if strings.HasPrefix(glob, "/") {
		return below("/", glob[1:], r)
	}
	return below(r.Cwd, glob, r)
}

func below(base, glob string, r Request) globBelow {
	if base == "" {
		return globBelow{}
	}
	fixed, rest := fixedPart(glob)
	g := globBelow{base: filepath.Join(base, fixed), rest: rest, fold: r.Fold}
	if g.base != "/" { // most globs of private files begin there
		g.base = r.Resolve(g.base)
	}
	if g.fold {
		g.base, g.rest = strings.ToLower(g.base), strings.ToLower(g.rest)
	}
	g.part = plainPart(g.rest)
	return g
}

// plainPart returns the longest literal part of a glob: searching for that is quicker than trying the glob.
func plainPart(glob string) (longest string) {
	if strings.ContainsAny(glob, `\[]{}`) {
		return ""
	}
	for part := range strings.FieldsFuncSeq(glob, func(r rune) bool { return r == '*' || r == '?' || r == '/' }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// matches reports whether the glob fits an absolute path.
func (g globBelow) matches(file string) bool {
	if g.base == "" || file == "" {
		return false
	}
	if g.fold {
		file = strings.ToLower(file)
	}
	if file == g.base {
		return g.rest == "" || g.rest == "**"
	}
	inside, ok := strings.CutPrefix(file, strings.TrimSuffix(g.base, "/"))
	if g.rest == "" || !ok || !strings.HasPrefix(inside, "/") || !strings.Contains(inside, g.part) {
		return false
	}
	ok, err := doublestar.Match(g.rest, inside[1:])
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
