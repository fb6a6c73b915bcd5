package session

import (
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// section is the part of a patch that is about one file. The names lack their leading slash; old is "" for a new file,
// new for a deleted one.
type section struct {
	text     string
	old, new string
}

// sections splits a patch in git's format into its files. What comes before the first is left out, and so is a section
// whose header names no file.
func sections(patch string) []section {
	const begin = "diff --git " // no line of a hunk begins so
	var list []section
	_, rest, more := strings.Cut("\n"+patch, "\n"+begin)
	for more {
		var body string
		body, rest, more = strings.Cut(rest, "\n"+begin)
		if more {
			body += "\n"
		}
		head, hunks := header(begin + body)
		// The header is enough: hunks that do not add up are shown as they are.
		files, _, err := gitdiff.Parse(strings.NewReader(head))
		if err != nil || len(files) != 1 {
			continue
		}
		list = append(list, section{text: head + hunks, old: nameOf(files[0].OldName), new: nameOf(files[0].NewName)})
	}
	return list
}

// header splits a section where its first hunk begins, and writes its paths as git does, without a leading slash. Git
// knows no absolute paths, and the library drops one piece of a path in some lines and none in others.
func header(section string) (head, hunks string) {
	end := len(section)
	for _, first := range []string{"\n@@", "\nGIT binary patch"} {
		if i := strings.Index(section, first); i >= 0 {
			end = min(end, i+1)
		}
	}
	return asGit.Replace(section[:end]), section[end:]
}

var asGit = func() *strings.Replacer {
	pairs := []string{"\r\n", "\n"}
	for _, quote := range []string{"", `"`} {
		for _, side := range []string{" a/", " b/"} {
			written := side[:1] + quote + side[1:]
			pairs = append(pairs, written+"/", written)
		}
		for _, line := range []string{"\nrename from ", "\nrename to ", "\ncopy from ", "\ncopy to "} {
			pairs = append(pairs, line+quote+"/", line+quote)
		}
	}
	return strings.NewReplacer(pairs...)
}()

func nameOf(path string) string {
	if path == "/dev/null" {
		return ""
	}
	return strings.TrimLeft(LocalPath(path), "/")
}

// deal gives each change its part of a patch. The changes determine the files, so parts about other files are left out.
func deal(patch string, changes []Diff) {
	list := sections(patch)
	if len(list) == 0 && len(changes) == 1 && strings.Contains(patch, "@@ ") {
		changes[0].Patch = patch // without git's header, but it cannot be about another file
	}
	for _, s := range list {
		name := s.new
		if name == "" {
			name = s.old
		}
		if d := changed(changes, name); d != nil {
			d.Patch += s.text
		}
	}
}

// changed returns the change of the file with this name, the first without a patch if there are several. Some agents
// write names relative to the project.
func changed(changes []Diff, name string) *Diff {
	if name == "" {
		return nil
	}
	var found *Diff
	for _, same := range []func(path string) bool{
		func(path string) bool { return nameOf(path) == name },
		func(path string) bool { return strings.HasSuffix(path, "/"+name) },
	} {
		for i := range changes {
			if d := &changes[i]; same(d.Path) && (found == nil || found.Patch != "" && d.Patch == "") {
				found = d
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}
