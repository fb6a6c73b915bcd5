package host

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// place is where a file stands for the policy of paths.
type place struct {
	free    bool // no question is needed
	outside bool // of the session's roots
	private bool
	link    string // the private file that it is, under another name
	lasting bool   // an answer may hold from now on
}

// reason says why a file is asked about, with its name as the agent gave it and
// without links.
func (p place) reason(path, real string) string {
	lead, join := "it is ", ""
	if path != real {
		lead, join = "it leads to "+styled.VisibleText(real)+", ", "which is "
	}
	switch {
	case p.link == real:
		return lead + join + "a file with several names, of which one may be private"
	case p.link != "":
		return lead + join + "the same file as " + styled.VisibleText(p.link) + ", which is private"
	case p.private:
		return lead + join + "private"
	case p.outside:
		return lead + "outside of the session's folder"
	}
	return "a rule asks about it"
}

// place tells where a file stands for what the session does to it. It reads the
// disk.
func (s *Session) place(kind session.ToolKind, at rules.Path) place {
	return s.host.judge.Load().place(matter{
		agent: s.spec.Name, cwd: s.base.Cwd, session: s.id, call: session.ToolCall{Kind: kind}, file: at,
	}, s.base.Roots)
}

// place tells whether a file may be read or written without a question: it is in
// one of the roots and not private, and no rule speaks against it. A rule that
// asks and names no file is about what agents ask for themselves. It reads the
// disk; j may be nil.
func (j *judge) place(m matter, roots []string) place {
	p := place{outside: !folder.Inside(m.file.Real, roots)}
	if j == nil {
		p.free = !p.outside
		return p
	}
	m.roots = roots
	r, link := j.request(m)
	verdict := j.rules.Decide(r)
	p.link = link()
	p.private = p.link != "" || j.rules.IsPrivate(r)
	asks := verdict.Action == rules.Ask && slices.ContainsFunc(verdict.Rules, func(n int) bool {
		return len(j.rules.Rules[n-1].Paths) > 0
	})
	p.free = !p.outside && !p.private && !asks && verdict.Action != rules.Reject
	p.lasting = p.outside && !p.private && (verdict.Action != rules.Ask || len(verdict.Rules) == 0)
	return p
}
