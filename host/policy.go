package host

import (
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// setRules sets the user's rules, and the other configuration about decisions. It is only called on the goroutine of
// Lua's messages.
func (h *Host) setRules(m rpc.SetRules) {
	h.reviewBefore.Store(m.Review == "before")
	h.reviews.Store(m.Review != "")
	h.keepKey.Store(&m.KeepKey)
	h.unkept.Store(m.Unkept)
	p, err := policy.Set(m, h.policy.Load())
	if err != nil {
		h.editor.Notify("error", "the permission rules are ignored, as they have mistakes: "+err.Error())
	}
	h.policy.Store(p)
}

// listDecided sends Lua the rules in force, and the lasting answers.
func (h *Host) listDecided(m rpc.ListDecided) {
	p := h.policy.Load()
	if p == nil {
		h.editor.Answer(m.Callback, nil, "the rules are not known yet")
		return
	}
	list, err := p.List()
	if err != nil {
		h.log.Warn("list the lasting answers", "err", err)
		h.editor.Notify("warning", "the file of your lasting answers is broken; :Acp log says more")
	}
	h.editor.Answer(m.Callback, list, "")
}

// revoke takes a lasting answer back.
func (h *Host) revoke(m rpc.Revoke) {
	failure := ""
	if p := h.policy.Load(); p != nil {
		if err := p.Revoke(m.ID); err != nil {
			failure = err.Error()
		}
	}
	h.editor.Answer(m.Callback, true, failure)
}
