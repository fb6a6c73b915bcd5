package host

import (
	"cmp"
	"time"

	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/labels"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/saved"
)

// newSaves opens what is saved of sessions.
func newSaves(h *Host, dir string) *saved.Sessions {
	return saved.NewSessions(saved.SessionsConfig{
		Store: h.store, Background: h.background,
		Failed: func(err error, again bool) {
			h.log.Warn(err.Error())
			if !again {
				h.alert("warning", "Pending changes are not saved, so a crash would lose them: "+folder.Unwritten(dir, err)+".",
					"pending changes are not saved: "+folder.Reason(err))
			}
		},
	})
}

// about returns what a listing of saved sessions says about this one; its title is kept by [ledger.Ledger.Titled].
func (s *Session) about() saved.About {
	return saved.About{Agent: s.spec.Name, AgentTitle: s.base.Title, Cwd: s.base.Cwd, ID: s.opening.Stored()}
}

// listSaved sends Lua the saved sessions, the latest first.
func (h *Host) listSaved(callback int) {
	entries, err := h.saves.List()
	if err != nil {
		h.log.Warn(err.Error())
		h.editor.Answer(callback, nil, "the saved changes of earlier sessions cannot be read; :Acp log says why")
		return
	}
	list := make([]rpc.SavedSession, len(entries))
	for i, e := range entries {
		list[i] = rpc.SavedSession{
			Agent: e.Agent, AgentTitle: e.AgentTitle, Changes: e.Changes,
			StoredSession: rpc.StoredSession{
				AgentSessionID: e.ID, Cwd: e.Cwd, Title: e.Title, UpdatedAt: e.Saved.UTC().Format(time.RFC3339),
			},
		}
	}
	list = h.withTranscripts(list)
	all := h.labels.All()
	for i := range list {
		label := all.Of(list[i].Agent, list[i].AgentSessionID)
		list[i].Title, list[i].Archived = cmp.Or(label.Title, list[i].Title), label.Archived
	}
	h.editor.Answer(callback, list, "")
}

// forgetSaved forgets what was saved of a session that the agent has deleted.
func (h *Host) forgetSaved(agent, id string) {
	entries, err := h.saves.List()
	if err != nil {
		h.log.Warn(err.Error())
	}
	for _, e := range entries {
		if e.Agent == agent && e.ID == id {
			h.saves.Remove(e.Key())
		}
	}
	h.label(agent, id, func(l *labels.Label) { l.Title, l.Archived = "", false })
	if h.history != nil {
		if err := h.history.Remove(agent, id); err != nil {
			h.log.Warn(err.Error())
		}
	}
}

// cleanCheckpoints keeps the store small; what the open sessions have stays.
func (h *Host) cleanCheckpoints() {
	if h.store == nil {
		return
	}
	err := h.store.Clean(h.over, time.Now(), nil)
	if err != nil && h.over.Err() == nil {
		h.log.Warn("clean the folder of checkpoints", "err", err)
	}
}
