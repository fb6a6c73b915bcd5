package host

import (
	"github.com/acp-nvim/acp-nvim/host/luastate"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// mirror is the session as acp.sessions() returns it.
func (s *Session) mirror() rpc.Session {
	queued := s.prompts.Queued()
	m := rpc.Session{
		ID: s.id, Agent: s.spec.Name, AgentTitle: s.base.Title, Cwd: s.base.Cwd, State: s.state(), Title: s.conv.Title,
		StopReason: string(s.conv.Stop), AgentSessionID: s.remote.stored, Protocol: s.info.Protocol,
		ToolCalls: len(s.conv.Calls), Permissions: s.permission.Waiting(), Queued: len(queued), Paused: s.prompts.Paused(),
		Queue: queued, Steers: s.info.Steers, Unsaved: s.prompts.Unsaved.Offered(),
	}
	if s.phase == dead || s.phase == authRequired {
		m.Error = s.failure
	}
	if s.info.Protocol != 0 {
		m.Takes = &rpc.Takes{Image: s.info.Images, Audio: s.info.Audio, Resource: s.info.EmbeddedContext}
	}
	if s.agent != nil {
		login := s.agent.loggedIn()
		m.Account, m.Login = login.Accounts, string(login.State)
	}
	m.Forks, m.ForksBefore, m.Providers, m.Directories = s.info.Forks, s.info.ForksAfter, s.info.Providers, s.base.Roots[1:]
	if u := s.conv.Usage; u != nil {
		m.Usage = &rpc.Usage{Used: int(u.Used), Size: int(u.Size)}
		if u.Cost != nil {
			m.Usage.Cost = &rpc.Cost{Amount: u.Cost.Amount, Currency: u.Cost.Currency}
		}
	}
	for _, a := range s.info.AuthMethods {
		m.AuthMethods = append(m.AuthMethods, rpc.AuthMethod{ID: a.ID, Name: a.Name, Description: a.Description, Type: string(a.Type)})
	}
	for _, o := range s.conv.Options {
		m.Options = append(m.Options, luastate.Option(o))
		c, ok := o.Chosen()
		if chosen := (&rpc.Chosen{ID: c.Value, Name: c.Name}); ok && o.Category == "mode" {
			m.Mode = chosen
		} else if ok && o.Category == "model" {
			m.Model = chosen
		}
	}
	for _, c := range s.conv.Commands {
		m.Commands = append(m.Commands, rpc.Command{Name: c.Name, Description: c.Description, Hint: c.Hint})
	}
	if s.lacks.Why != "" {
		m.Lacks = &rpc.Lack{Why: s.lacks.Why, Files: s.lacks.Files}
	}
	m.LeftOut = s.servers.LeftOut()
	m.EditorTools = s.toolsState()
	for _, e := range s.conv.Plan {
		m.Plan = append(m.Plan, rpc.PlanEntry{Content: styled.Cut(e.Content, luastate.MaxText), Priority: e.Priority, Status: e.Status})
	}
	return m
}
