package host

import (
	"time"

	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// setRules takes the user's rules, and the file of the answers for good. With a
// mistake in them no rule is used, and everything is asked. It is called on the
// goroutine of Lua's messages alone.
func (h *Host) setRules(m rpc.SetRules) {
	h.reviewBefore.Store(m.Review == "before")
	h.reviews.Store(m.Review != "")
	h.keepKey.Store(&m.KeepKey)
	list := rules.List{Private: m.Private}
	for _, r := range m.Rules {
		list.Rules = append(list.Rules, rules.Rule{
			Kinds: r.Kinds, Paths: r.Paths, Commands: r.Commands, Agents: r.Agents, Action: rules.Action(r.Action),
		})
	}
	if err := list.Check(); err != nil {
		h.editor.Notify("error", "No rule of permissions is used, as there are mistakes: "+err.Error())
		list.Rules = nil
	}
	kept := answers.Open(m.File)
	if old := h.judge.Load(); old != nil {
		kept = old.kept // it has what holds for the open sessions
	}
	h.judge.Store(&judge{rules: list, kept: kept})
}

// showDecided tells Lua the rules in force, and the answers that are kept.
func (h *Host) showDecided(callback int) {
	judge := h.judge.Load()
	if judge == nil {
		h.editor.Answer(callback, nil, "The rules are not known yet.")
		return
	}
	ruled := make([]rpc.DecidedRule, len(judge.rules.Rules))
	for i, r := range judge.rules.Rules {
		ruled[i] = rpc.DecidedRule{Action: string(r.Action), What: styled.VisibleText(r.String())}
	}
	list, err := judge.kept.List()
	if err != nil {
		h.editor.Notify("warning", "Your lasting answers: "+err.Error()+".")
	}
	kept := make([]rpc.LastingAnswer, len(list))
	for i, a := range list {
		action := rules.Reject
		if a.Allow {
			action = rules.Allow
		}
		kept[i] = rpc.LastingAnswer{
			ID: a.ID, Action: string(action), Agent: a.Agent, Project: styled.VisibleText(a.Project),
			What: styled.VisibleText(styled.Cut(about(a.Question), 500)), At: a.At.Local().Format(time.DateOnly), Session: a.Session,
		}
	}
	h.editor.Answer(callback, rpc.Decided{Rules: ruled, Answers: kept}, "")
}

// revoke takes an answer back.
func (h *Host) revoke(id string, callback int) {
	failure := ""
	if judge := h.judge.Load(); judge != nil {
		if err := judge.kept.Remove(id); err != nil {
			failure = err.Error()
		}
	}
	h.editor.Answer(callback, true, failure)
}
