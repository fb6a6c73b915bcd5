package session

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Agents name files by absolute paths, as the specification asks for, and also by file URIs, by paths relative to the
// session's folder and by ~. The adapters turn the URIs into paths, so the model has none; [Absolute] resolves the
// rest.

// LocalPath returns a path of the wire as the model keeps it: for a file URI the path that it names on this computer,
// and anything else unchanged, such as the URI of another computer's file or a malformed one. Those are not local
// paths, see [Absolute].
func LocalPath(name string) string {
	if !isFileURI(name) {
		return name
	}
	u, err := url.Parse(name)
	if err != nil || u.User != nil || u.Host != "" && !strings.EqualFold(u.Host, "localhost") ||
		!path.IsAbs(u.Path) || strings.Contains(u.Path, "\x00") || onDrive.MatchString(u.Path[1:]) {
		return name
	}
	return u.Path
}

// Absolute returns the absolute path that an agent's name of a file means: relative to the session's folder, or in the
// user's home if it begins with ~. What is not a local path, which only the user can judge, is returned unchanged, with
// false. A path with ".." is not cleaned, as a link may come before it.
func Absolute(name, cwd, home string) (string, bool) {
	dir, rest := cwd, name
	switch tail, ok := strings.CutPrefix(name, "~"); {
	case name == "" || strings.Contains(name, "\x00"):
		return name, false
	case path.IsAbs(name):
		return tidy(name), true
	case isFileURI(name) || foreign.MatchString(name):
		return name, false
	case ok && (tail == "" || tail[0] == '/'):
		dir, rest = home, strings.TrimPrefix(tail, "/")
	}
	if !path.IsAbs(dir) {
		return name, false
	}
	return tidy(dir + "/" + rest), true
}

// AllAbsolute returns names of files as paths, each once, completed by absolute, which is a session's [Absolute]. Names
// that are not local paths are left out.
func AllAbsolute(names []string, absolute func(string) (string, bool)) (paths []string) {
	known := make(map[string]bool, len(names))
	for _, name := range names {
		if path, ok := absolute(name); ok && !known[path] {
			known[path] = true
			paths = append(paths, path)
		}
	}
	return paths
}

// isFileURI reports whether some program would take the name for a file URI: some drop the spaces before it.
func isFileURI(name string) bool {
	const scheme = "file:"
	name = strings.TrimLeft(name, " \t\r\n\f")
	return len(name) >= len(scheme) && strings.EqualFold(name[:len(scheme)], scheme)
}

var (
	onDrive = regexp.MustCompile(`^[A-Za-z]:([/\\]|$)`)
	// foreign matches URIs and Windows paths.
	foreign = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://|[A-Za-z]:([/\\]|$)|\\\\)`)
)

func tidy(name string) string {
	if strings.Contains(name, "..") && slices.Contains(strings.Split(name, "/"), "..") {
		return name
	}
	return path.Clean(name)
}
