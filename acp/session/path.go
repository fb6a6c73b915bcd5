package session

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Agents name files by absolute paths, as the specification asks for, and also by file URIs, by paths
// relative to the session's folder and by ~. The adapters make paths of the URIs, so that there are none in
// the model; [Absolute] is what the rest means.

// LocalPath is a path of the wire as the model has it: of a file's URI the path that it names on this
// computer, and anything else as it is, such as the URI of another computer's file or one that is malformed.
// Those are no local paths, see [Absolute].
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

// Absolute is the absolute path that an agent's name of a file means: relative to the session's folder, or
// of the user's home where it begins with ~. What is no local path, which only the user can judge, stays as
// it is, with false. Where ".." is in it the path is not cleaned, as a link may stand before that.
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

// AllAbsolute are names of files as paths, each once, as absolute completes them: it is [Absolute] in a
// session. Names of no local paths are left out.
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

// isFileURI reports whether a name is a file's URI to someone: some drop the spaces before it.
func isFileURI(name string) bool {
	const scheme = "file:"
	name = strings.TrimLeft(name, " \t\r\n\f")
	return len(name) >= len(scheme) && strings.EqualFold(name[:len(scheme)], scheme)
}

var (
	onDrive = regexp.MustCompile(`^[A-Za-z]:([/\\]|$)`)
	// foreign are URIs, and paths of Windows.
	foreign = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://|[A-Za-z]:([/\\]|$)|\\\\)`)
)

func tidy(name string) string {
	if strings.Contains(name, "..") && slices.Contains(strings.Split(name, "/"), "..") {
		return name
	}
	return path.Clean(name)
}
