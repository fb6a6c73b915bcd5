package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/registry"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// This file answers the user's questions about agents that can be installed. All of it runs in the background.

func newRegistry(h *Host, data string) *registry.Registry {
	folder := ""
	if data != "" {
		folder = filepath.Join(data, "agents")
	}
	return registry.New(registry.Config{
		Folder: folder, Env: agentEnv(nil, nil), Now: time.Now,
		Handshake: h.handshake, Running: h.programs,
		Group: func(pgid int, alive bool) { h.editor.Post(groupOp(pgid, alive)) },
	})
}

// handshake starts an agent, gets what it says of itself, and ends it.
func (h *Host) handshake(ctx context.Context, agent registry.Installed) (string, error) {
	spec := AgentSpec{Name: agent.ID, Title: agent.Title, Command: agent.Command, Env: agent.Env}
	a, err := h.agentFor(spec, filepath.Dir(agent.Command[0]))
	if err != nil {
		return "", err
	}
	type answer struct {
		info session.Info
		err  error
	}
	said := make(chan answer, 1)
	a.hold(func(info session.Info, err error) {
		select {
		case said <- answer{info, err}:
		default: // the first one counts
		}
	})
	defer func() {
		a.release()
		<-a.proc.Done()
	}()
	select {
	case s := <-said:
		return introduction(agent.Title, s.info), withoutAdvice(s.err)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// withoutAdvice leaves out the advice about a session's agent.
func withoutAdvice(err error) error {
	var told *failure.Failure
	if !errors.As(err, &told) {
		return err
	}
	return &failure.Failure{Sentence: told.Sentence, Reason: told.Reason, Detail: told.Detail}
}

// introduction returns what an agent said of itself, in words.
func introduction(title string, info session.Info) string {
	text := cmp.Or(info.Title, info.Name, title)
	if info.Version != "" {
		text += " " + info.Version
	}
	if info.Protocol != 0 {
		text += fmt.Sprintf(" · protocol %d", info.Protocol)
	}
	if len(info.AuthMethods) > 0 {
		text += " · has a login"
	}
	return text
}

// hear keeps what an agent said of itself when a session began with it.
func (a *agent) hear(info session.Info) {
	heard := registry.Heard{Program: a.spec.Command[0], Said: introduction(a.spec.Title, info), Can: abilities(info)}
	for _, m := range info.AuthMethods {
		heard.Logins = append(heard.Logins, m.Name)
	}
	if err := a.host.registry.Hear(a.spec.Name, heard); err != nil {
		a.host.log.Warn("keep the handshake of an agent", "agent", a.spec.Name, "err", err)
	}
}

// abilities returns the capabilities of an agent beyond the baseline, in words.
func abilities(info session.Info) (list []string) {
	for _, one := range []struct {
		can   bool
		words string
	}{
		{info.Lists, "lists its sessions"},
		{info.Loads || info.Resumes, "resumes them"},
		{info.Forks, "forks them"},
		{info.Deletes, "deletes them"},
		{info.Steers, "can be steered in a turn"},
		{info.Directories, "works in several folders"},
		{info.Images, "sees pictures"},
		{info.Audio, "hears sounds"},
		{info.EmbeddedContext, "takes files in a prompt"},
		{info.SystemPrompt, "takes a system prompt"},
		{info.HTTPServers || info.SSEServers, "reaches MCP servers by http"},
		{info.TellsLogin, "reports who is logged in"},
		{info.LogsOut, "logs out"},
		{info.Providers, "lists its providers"},
	} {
		if one.can {
			list = append(list, one.words)
		}
	}
	return list
}

// programs returns the programs of the running agents.
func (h *Host) programs() (list []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.agents {
		list = append(list, a.spec.Command[0])
	}
	return list
}

// daily is how old the index may be when the page of agents is opened.
const daily = 24 * time.Hour

func (h *Host) listAgents(m rpc.ListAgents) {
	index, err := h.registry.Index()
	why := ""
	if err == nil && m.URL != "" && (m.Fetch || time.Since(index.Date) > daily) {
		if failed := h.registry.Refresh(h.over, m.URL); failed != nil {
			why = failed.Error()
		} else {
			index, err = h.registry.Index()
		}
	}
	if err != nil {
		h.editor.Answer(m.Callback, nil, err.Error())
		return
	}
	list := rpc.AgentList{Date: index.Date.Format(time.DateOnly), Failure: why}
	known := map[string]bool{}
	for _, e := range index.Agents {
		known[e.ID] = true
		installed, _, err := h.registry.Installed(e.ID)
		if err != nil {
			h.log.Warn(err.Error())
		}
		list.Agents = append(list.Agents, registryAgent(e, installed))
	}
	for _, id := range h.registry.IDs() {
		if installed, there, err := h.registry.Installed(id); there && err == nil && !known[id] {
			list.Agents = append(list.Agents, registryAgent(registry.Entry{ID: id, Name: installed.Title}, installed))
		}
	}
	h.editor.Answer(m.Callback, list, "")
}

func registryAgent(e registry.Entry, i registry.Installed) rpc.RegistryAgent {
	a := rpc.RegistryAgent{
		ID: e.ID, Name: e.Name, Description: e.Description, Page: e.Page(), Newest: e.Version, Fits: e.Fits(), Login: e.Login,
	}
	if len(i.Command) > 0 {
		a.Version, a.Previous, a.Running, a.Pinned, a.Path, a.Said = i.Version, i.Previous, i.Running, i.Pinned, i.Command[0], i.Said
	}
	return a
}

// tellAgent answers a message with the present state of an agent.
func (h *Host) tellAgent(callback int) func(registry.Installed, error) {
	return func(agent registry.Installed, err error) {
		if err != nil {
			h.editor.Answer(callback, nil, err.Error())
			return
		}
		h.editor.Answer(callback, h.registryAgent(agent), "")
	}
}

func (h *Host) registryAgent(agent registry.Installed) rpc.RegistryAgent {
	entry := registry.Entry{ID: agent.ID, Name: agent.Title}
	if index, err := h.registry.Index(); err == nil {
		if i := slices.IndexFunc(index.Agents, func(e registry.Entry) bool { return e.ID == agent.ID }); i >= 0 {
			entry = index.Agents[i]
		}
	}
	return registryAgent(entry, agent)
}

func (h *Host) installAgent(m rpc.InstallAgent) {
	if m.URL != "" && !h.registry.Knows(m.ID) {
		if err := h.registry.Refresh(h.over, m.URL); err != nil {
			h.log.Warn(err.Error()) // the user is told that it is not known
		}
	}
	agent, err := h.registry.Install(h.over, registry.Wanted{
		ID: m.ID, Version: m.Version, Unverified: m.Unverified,
		Progress: func(text string) { h.editor.Post(editor.Do(rpc.InstallProgress{ID: m.ID, Text: text})) },
	})
	h.editor.Post(editor.Do(rpc.InstallProgress{ID: m.ID}))
	var unverified *registry.UnverifiedError
	switch {
	case errors.As(err, &unverified):
		h.editor.Answer(m.Callback, rpc.InstallResult{Ask: unverified.Error()}, "")
	case err != nil:
		h.editor.Answer(m.Callback, nil, err.Error())
	default:
		told := h.registryAgent(agent)
		h.editor.Answer(m.Callback, rpc.InstallResult{Agent: &told}, "")
	}
}

func (h *Host) uninstallAgent(m rpc.UninstallAgent) {
	if err := h.registry.Uninstall(m.ID); err != nil {
		h.editor.Answer(m.Callback, nil, err.Error())
		return
	}
	h.editor.Answer(m.Callback, true, "")
}
