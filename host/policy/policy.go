// Package policy decides about an agent's requests without the user: by the rules of the configuration, and by lasting
// answers. It also says which files an agent may access without asking.
package policy

import (
	"fmt"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Policy has the rules in force and the lasting answers. Any goroutine may use it. A nil Policy, before Lua has sent
// the rules, only knows which files are outside a session's folders.
type Policy struct {
	rules   rules.List
	answers *answers.Store
	links   hardLinks
}

// New makes a policy.
func New(list rules.List, kept *answers.Store) *Policy { return &Policy{rules: list, answers: kept} }

// Request is what an agent asks for.
type Request struct {
	Agent   string
	Cwd     string
	Roots   []string // of the session, besides Cwd
	Session int
	Call    session.ToolCall
	File    rules.Path // the one file that it is about, for the client's own request; otherwise zero
	Command Command
	Options []session.PermissionOption
}

// Decision is the policy's answer to a request. Without an option the user is asked.
type Decision struct {
	OptionID string
	Remark   string // about the decision, for the chat
	Why      string // the user is asked, for them; or ""
	Err      error  // of the file of answers

	Question *answers.Question // what a lasting answer would be about; nil if there can be none
}

// Decide decides about a request. It reads the disk.
func (p *Policy) Decide(r Request) Decision {
	asked, link := p.onDisk(r)
	verdict := p.rules.Decide(asked)
	var d Decision
	if !p.rules.IsPrivate(asked) && link() == "" {
		d.Question = r.question(asked)
	}
	if verdict.Action == rules.Allow && link() != "" {
		verdict = rules.Verdict{Action: rules.Ask, Why: "a file that it names may be private under another name"}
	}
	if r.File.Given == "" || len(verdict.Rules) > 0 { // otherwise the client's own question says why it is asked
		d.Why = verdict.Why
	}
	switch verdict.Action {
	case rules.Allow, rules.Reject:
		option, ok := Choose(r.Options, verdict.Action == rules.Allow)
		if !ok {
			d.Why = fmt.Sprintf("%s would %s it, but the agent offers no such answer", verdict.By(), verdict.Action)
			return d
		}
		d.OptionID = option.ID
		d.Remark = styled.VisibleText(fmt.Sprintf("%s by your %s: %s.", decided(verdict.Action == rules.Allow), verdict.By(), verdict.Why))
		return d
	case rules.Ask:
		if len(verdict.Rules) > 0 {
			return d // a rule says to ask
		}
	}
	if d.Question == nil {
		return d
	}
	a, found, err := p.answers.Find(*d.Question, r.Session)
	d.Err = err
	if !found {
		return d
	}
	if option, ok := sameAnswer(r.Options, a); ok {
		d.OptionID = option.ID
		d.Remark = fmt.Sprintf("%s, as you answered %q on %s.\n:Acp permissions revokes that.",
			decided(a.Allow), styled.VisibleText(a.Name), a.At.Local().Format(time.DateOnly))
	}
	return d
}

func decided(allowed bool) string {
	if allowed {
		return "Allowed"
	}
	return "Rejected"
}

// Lasting returns what to [Policy.Keep] of the user's answer to a request; ok is false if that is nothing.
func (d Decision) Lasting(r Request, chosen session.PermissionOption) (a answers.Answer, ok bool) {
	if d.Question == nil || !lasts(chosen) || !unambiguous(r.Options, chosen) {
		return answers.Answer{}, false
	}
	a = answers.Answer{Question: *d.Question, Allow: chosen.Allows(), OptionID: chosen.ID, Name: chosen.Name, At: time.Now()}
	if forSession(chosen) {
		a.Session = r.Session
	}
	return a, true
}

// Keep keeps a lasting answer. It writes the disk.
func (p *Policy) Keep(a answers.Answer) error { return p.answers.Add(a) }

// AnswersDir is the folder that lasting answers are kept in.
func (p *Policy) AnswersDir() string { return p.answers.Dir() }
