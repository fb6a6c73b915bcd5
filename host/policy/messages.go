package policy

import (
	"time"

	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Set returns the policy for the user's rules, replacing before, which may be nil. If the rules have a mistake, which
// is the error, none is used and everything is asked.
func Set(m rpc.SetRules, before *Policy) (*Policy, error) {
	list := rules.List{Private: m.Private}
	for _, r := range m.Rules {
		list.Rules = append(list.Rules, rules.Rule{
			Kinds: r.Kinds, Paths: r.Paths, Commands: r.Commands, Agents: r.Agents, Tools: r.Tools, Action: rules.Action(r.Action),
		})
	}
	err := list.Check()
	if err != nil {
		list.Rules = nil
	}
	if before != nil {
		return New(list, before.answers), err // which include those for open sessions
	}
	return New(list, answers.Open(m.File)), err
}

// List returns the rules in force and the lasting answers, as far as these can be read.
func (p *Policy) List() (rpc.Decided, error) {
	ruled := make([]rpc.DecidedRule, len(p.rules.Rules))
	for i, r := range p.rules.Rules {
		ruled[i] = rpc.DecidedRule{Action: string(r.Action), What: styled.VisibleText(r.String())}
	}
	list, err := p.answers.List()
	lasting := make([]rpc.LastingAnswer, len(list))
	for i, a := range list {
		action := rules.Reject
		if a.Allow {
			action = rules.Allow
		}
		lasting[i] = rpc.LastingAnswer{
			ID: a.ID, Action: string(action), Agent: a.Agent, Project: styled.VisibleText(a.Project),
			What: styled.VisibleText(styled.Cut(describe(a.Question), 500)), At: a.At.Local().Format(time.DateOnly), Session: a.Session,
		}
	}
	return rpc.Decided{Rules: ruled, Answers: lasting}, err
}

// Revoke forgets a lasting answer.
func (p *Policy) Revoke(id string) error { return p.answers.Remove(id) }
