package policy

import (
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Access says whether an agent may access a file without asking.
type Access struct {
	Free    bool // it needs no question
	Outside bool // of the session's roots
	Private bool
	Lasting bool // an answer may be lasting

	link string // the private file that this is another name of
}

// Access says whether the file of a request may be read or written without asking: if it is in one of the roots and not
// private, and no rule objects. A rule that asks and names no file is about agents' own requests. It reads the disk; p
// may be nil.
func (p *Policy) Access(req Request) Access {
	a := Access{Outside: !folder.Inside(req.File.Real, req.Roots)}
	if p == nil {
		a.Free = !a.Outside
		return a
	}
	r, link := p.onDisk(req)
	verdict := p.rules.Decide(r)
	a.link = link()
	a.Private = a.link != "" || p.rules.IsPrivate(r)
	asks := verdict.Action == rules.Ask && slices.ContainsFunc(verdict.Rules, func(n int) bool {
		return len(p.rules.Rules[n-1].Paths) > 0
	})
	a.Free = !a.Outside && !a.Private && !asks && verdict.Action != rules.Reject
	a.Lasting = a.Outside && !a.Private && (verdict.Action != rules.Ask || len(verdict.Rules) == 0)
	return a
}

// Private says which of many files are private, by any of their names. It reads the disk, but each folder once; p may
// be nil. Files that are only counted are judged by name: looking at hundreds takes long, and their number reveals
// nothing of their content.
func (p *Policy) Private(req Request, files, counted []string) map[string]bool {
	private := map[string]bool{}
	if p == nil {
		return private
	}
	r := req.onDisk()
	roots := resolved(r, append([]string{req.Cwd}, req.Roots...))
	fits := p.rules.FitsPrivate(r)
	inReal := func(file string) string { // its folder without links
		file = filepath.Clean(file)
		if dir := filepath.Dir(file); r.Resolve(dir) != dir {
			return filepath.Join(r.Resolve(dir), filepath.Base(file))
		}
		return file
	}
	for _, file := range files {
		if _, known := private[file]; known {
			continue
		}
		real := inReal(file)
		var stat unix.Stat_t
		err := unix.Lstat(real, &stat)
		if err == nil && stat.Mode&unix.S_IFMT == unix.S_IFLNK {
			real = r.Resolve(file)
			err = unix.Stat(real, &stat)
		}
		private[file] = real == "" || fits(real) || real != file && fits(file) ||
			err == nil && p.links.privateAt(real, stat, p.rules, r, roots) != ""
	}
	for _, file := range counted {
		if _, known := private[file]; !known {
			real := inReal(file)
			private[file] = fits(real) || real != file && fits(file)
		}
	}
	return private
}

// Reason says why a file is asked about; path is its name as the agent gave it, real the one without links.
func (a Access) Reason(path, real string) string {
	lead, join := "it is ", ""
	if path != real {
		lead, join = "it leads to "+styled.VisibleText(real)+", ", "which is "
	}
	switch {
	case a.link == real:
		return lead + join + "a file with several names, of which one may be private"
	case a.link != "":
		return lead + join + "the same file as " + styled.VisibleText(a.link) + ", which is private"
	case a.Private:
		return lead + join + "private"
	case a.Outside:
		return lead + "outside of the session's folder"
	}
	return "a rule asks about it"
}
