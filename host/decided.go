package host

import (
	"time"

	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// setRules takes the user's rules, and the file of the answers for good. With a
// mistake in them no rule is used, and everything is asked. It is called on the
// goroutine of Lua's messages alone.
func (h *Host) setRules(m message) {
	h.reviewBefore.Store(m.text("review") == "before")
	h.reviews.Store(m.text("review") != "")
	key := m.text("keep_key")
	h.keepKey.Store(&key)
	list := rules.List{Private: m.texts("private")}
	for _, item := range m.list("rules") {
		fields, _ := item.(map[string]any)
		r := message(fields)
		list.Rules = append(list.Rules, rules.Rule{
			Kinds: r.texts("kind"), Paths: r.texts("path"), Commands: r.texts("command"), Agents: r.texts("agent"),
			Action: rules.Action(r.text("action")),
		})
	}
	if err := list.Check(); err != nil {
		h.notify("error", "No rule of permissions is used, as there are mistakes: "+err.Error())
		list.Rules = nil
	}
	kept := answers.Open(m.text("file"))
	if old := h.judge.Load(); old != nil {
		kept = old.kept // it has what holds for the open sessions
	}
	h.judge.Store(&judge{rules: list, kept: kept})
}

// showDecided tells Lua the rules in force, and the answers that are kept.
func (h *Host) showDecided(callback int) {
	judge := h.judge.Load()
	if judge == nil {
		h.callback(callback, nil, "The rules are not known yet.")
		return
	}
	ruled := make([]any, len(judge.rules.Rules))
	for i, r := range judge.rules.Rules {
		ruled[i] = map[string]any{"action": string(r.Action), "what": styled.VisibleText(r.String())}
	}
	list, err := judge.kept.List()
	if err != nil {
		h.notify("warning", "Your lasting answers: "+err.Error()+".")
	}
	kept := make([]any, len(list))
	for i, a := range list {
		action := rules.Reject
		if a.Allow {
			action = rules.Allow
		}
		kept[i] = map[string]any{
			"id": a.ID, "action": string(action), "agent": a.Agent, "project": styled.VisibleText(a.Project),
			"what": styled.VisibleText(cut(about(a.Question), 500)), "at": a.At.Local().Format(time.DateOnly), "session": a.Session,
		}
	}
	h.callback(callback, map[string]any{"rules": ruled, "answers": kept}, "")
}

// revoke takes an answer back.
func (h *Host) revoke(id string, callback int) {
	failure := ""
	if judge := h.judge.Load(); judge != nil {
		if err := judge.kept.Remove(id); err != nil {
			failure = err.Error()
		}
	}
	h.callback(callback, true, failure)
}
