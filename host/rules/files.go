package rules

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

const (
	// mostNames is how many names of files are checked for a command, and mostFolders in how many folders.
	mostNames   = 4000
	mostFolders = 8
	// mostListed is how many folders are listed to expand a command's wildcards.
	mostListed = 300
)

// looked is what has been checked of a command's files while deciding about it.
type looked struct {
	names, listed int
	found         map[string][]Path // by the text of a part
}

// looking returns a request with nothing checked yet.
func (r Request) looking() Request {
	r.looked = &looked{found: map[string][]Path{}}
	return r
}

// over reports whether a command names more files than are checked.
func (l *looked) over() bool { return l.names > mostNames || l.listed > mostListed }

// paths returns the files that a part's words may name: each word, what follows a = or the like in it, what the shell
// expands it to, and all that in the folders that the script goes to.
func (p part) paths(r Request) []Path {
	key := p.text + "\x00" + p.why
	paths, known := r.looked.found[key]
	if known {
		return paths
	}
	defer func() { r.looked.found[key] = paths }()
	for _, folder := range p.goesTo(r) {
		in := r
		in.Cwd = folder
		names := p.named(in)
		for _, name := range names {
			if r.looked.names++; r.looked.over() {
				return paths
			}
			if folder != r.Cwd {
				if filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
					continue
				}
				name = folder + "/" + name
			}
			path, ok := r.Absolute(name)
			if !ok {
				continue
			}
			if found := (Path{Given: filepath.Clean(path), Real: r.Resolve(path)}); !slices.Contains(paths, found) {
				paths = append(paths, found)
			}
		}
	}
	return paths
}

// goesTo returns the absolute folders in which a part may run: the session's, those to which the script goes, by one
// command or several, and those of its options.
func (p part) goesTo(r Request) []string {
	folders := []string{r.Cwd}
	add := func(names []string) {
		for _, from := range folders {
			for _, name := range names {
				if len(folders) == mostFolders {
					return
				}
				if !filepath.IsAbs(name) && !strings.HasPrefix(name, "~") {
					name = from + "/" + name
				}
				if path, ok := r.Absolute(name); ok && !slices.Contains(folders, filepath.Clean(path)) {
					folders = append(folders, filepath.Clean(path))
				}
			}
		}
	}
	for _, f := range p.folders {
		f.words = f.words[1:]
		add(f.named(r))
	}
	for i, w := range p.words[:max(len(p.words)-1, 0)] {
		if w.text == "-C" || w.text == "--directory" {
			if next := p.words[i+1]; next.known {
				add([]string{next.text})
			} else {
				for _, e := range p.expanded {
					add(expanded(e, r))
				}
			}
		}
	}
	return folders
}

// named returns the names of files that a part may contain.
func (p part) named(r Request) []string {
	var names []string
	for i, w := range p.words {
		if w.known && w.text != "" {
			names = append(names, inWord(w.text)...)
			if strings.ContainsAny(w.text, " \t\n\"'(") && (!slices.Contains(texts, p.name()) || slices.Contains([]string{"sed", "awk", "gawk"}, p.name())) && (i == 0 || !slices.Contains(textOptions, p.words[i-1].text)) {
				names = append(names, inCode(w.text)...)
			}
		}
	}
	for _, w := range p.expanded {
		for _, text := range expanded(w, r) {
			names = append(names, inWord(text)...)
		}
	}
	return names
}

// inWord returns the names that a word may contain: itself, and what follows an option, a revision, a host or an @.
func inWord(text string) []string {
	names := []string{text}
	url := strings.Contains(text, "://")
	for i, c := range text {
		if rest := text[i+1:]; rest != "" && (c == '=' || !url && strings.ContainsRune(":@,", c)) {
			names = append(names, rest)
		}
	}
	if len(text) > 2 && text[0] == '-' && text[1] != '-' {
		names = append(names, text[2:])
	}
	return names
}

// inCode returns the names that a text of several words, or a program in it, may contain.
func inCode(text string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(text, func(c rune) bool {
		return strings.ContainsRune(" \t\n\"'`()[]{}<>|&;,=:$*!?", c)
	}), func(name string) bool { return !strings.ContainsAny(name, "./~") })
}

// expanded returns the texts that the shell makes of a word: of its braces, ~, wildcards, the home folder and the
// session's. Unknown parts are empty.
func expanded(w *syntax.Word, r Request) (texts []string) {
	defer func() { _ = recover() }() // a bug in the library, on an agent's input
	config := &expand.Config{
		Env: expand.FuncEnviron(func(name string) string {
			switch name {
			case "HOME":
				return r.Home
			case "PWD":
				return r.Cwd
			}
			return ""
		}),
		CmdSubst:  func(_ io.Writer, _ *syntax.CmdSubst) error { return nil },
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return "", nil },
	}
	if r.List != nil {
		config.ReadDir2 = func(folder string) ([]fs.DirEntry, error) {
			if r.looked.listed++; r.looked.over() {
				return nil, errTooMany
			}
			return r.List(folder)
		}
	}
	for text, err := range expand.FieldsSeq(config, w) {
		if r.looked.names++; err != nil || r.looked.over() {
			break
		}
		texts = append(texts, text)
	}
	return texts
}

var errTooMany = errors.New("too many folders")
