package host

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// access is how freely an agent may use a file, by the policy of paths.
type access struct {
	free    bool // no question is needed
	outside bool // of the session's roots
	private bool
	link    string // the private file that it is, under another name
	lasting bool   // an answer may hold from now on
}

// reason says why a file is asked about, with its name as the agent gave it and
// without links.
func (a access) reason(path, real string) string {
	lead, join := "it is ", ""
	if path != real {
		lead, join = "it leads to "+styled.VisibleText(real)+", ", "which is "
	}
	switch {
	case a.link == real:
		return lead + join + "a file with several names, of which one may be private"
	case a.link != "":
		return lead + join + "the same file as " + styled.VisibleText(a.link) + ", which is private"
	case a.private:
		return lead + join + "private"
	case a.outside:
		return lead + "outside of the session's folder"
	}
	return "a rule asks about it"
}

// accessOf tells how freely the session may do something to a file. It reads the
// disk.
func (s *Session) accessOf(kind session.ToolKind, at rules.Path) access {
	return s.host.judge.Load().accessOf(matter{
		agent: s.spec.Name, cwd: s.base.Cwd, session: s.id, call: session.ToolCall{Kind: kind}, file: at,
	}, s.base.Roots)
}

// accessOf tells whether a file may be read or written without a question: it is in
// one of the roots and not private, and no rule speaks against it. A rule that
// asks and names no file is about what agents ask for themselves. It reads the
// disk; j may be nil.
func (j *judge) accessOf(m matter, roots []string) access {
	a := access{outside: !folder.Inside(m.file.Real, roots)}
	if j == nil {
		a.free = !a.outside
		return a
	}
	m.roots = roots
	r, link := j.request(m)
	verdict := j.rules.Decide(r)
	a.link = link()
	a.private = a.link != "" || j.rules.IsPrivate(r)
	asks := verdict.Action == rules.Ask && slices.ContainsFunc(verdict.Rules, func(n int) bool {
		return len(j.rules.Rules[n-1].Paths) > 0
	})
	a.free = !a.outside && !a.private && !asks && verdict.Action != rules.Reject
	a.lasting = a.outside && !a.private && (verdict.Action != rules.Ask || len(verdict.Rules) == 0)
	return a
}
