package host

import (
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/luastate"
	"github.com/acp-nvim/acp-nvim/host/reviewui"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// lua returns the session as acp.sessions() does.
func (s *Session) lua() rpc.Session {
	queued := s.prompts.Queued()
	m := rpc.Session{
		ID: s.id, Agent: s.spec.Name, AgentTitle: s.base.Title, Cwd: s.base.Cwd, State: s.state(), AgentSessionID: s.opening.Stored(),
		Permissions: s.permission.Waiting(), Queued: len(queued), Paused: s.prompts.Paused(), Queue: queued, Ahead: s.prompts.SentAhead(),
		Unsaved: s.prompts.Unsaved.Offered(), LeftOut: s.servers.LeftOut(), EditorTools: s.tools.State(),
	}
	luastate.Conversation(&m, s.conv)
	luastate.Agent(&m, s.info)
	if s.phase == dead || s.phase == authRequired {
		m.Error = s.failure
	}
	if s.agent != nil {
		if agent, can := s.agent.speaks().(session.Canceller); can {
			m.Cancels = agent.MayCancel(s.opening.ID())
		}
		login := s.agent.loggedIn()
		m.Account, m.Login = login.Accounts, string(login.State)
	}
	m.Forks, m.ForksBefore, m.Providers, m.Directories = s.info.Forks, s.info.ForksAfter, s.info.Providers, s.base.Roots[1:]
	if s.lacks.Why != "" {
		m.Lacks = &rpc.Lack{Why: s.lacks.Why, Files: s.lacks.Files}
	}
	return m
}

// state returns the session's state as the contract names it.
func (s *Session) state() string {
	switch {
	case s.phase == starting:
		return "starting"
	case s.phase == authRequired:
		return "auth_required"
	case s.phase == dead:
		return "dead"
	case s.permission.Waiting()+s.questions.Waiting() > 0:
		return "requires_action"
	case !s.prompts.Idle(), s.events.Ending(): // the chat may not show all of it
		return "running"
	}
	return "idle"
}

// recordChanged handles what is new in the record, and queues the events about it.
func (s *Session) recordChanged(update reviewui.Update, changes []ledger.Event) {
	s.review.Take(update, len(changes) > 0)
	data := make([]map[string]any, len(changes))
	for i, e := range changes {
		data[i] = map[string]any{"path": e.Path, "by": e.By}
	}
	s.events.AddChanges(data)
	s.view.Changed()
}
