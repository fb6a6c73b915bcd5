// Package providers lists and sets where an agent reaches its models, for agents that let their client choose.
package providers

import (
	"maps"
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// Config is what the providers of a session's agent need. The functions are called on the session's goroutine.
type Config struct {
	Requests *control.Requests
	Agent    func() session.Agent // nil while there is none
	Info     func() session.Info  // what it said of itself
	Hide     func(secrets []string)
	Blot     func(text string) string // masks secrets
}

// Providers are the providers of one session's agent. They belong to the session's goroutine.
type Providers struct {
	base   feature.Base
	config Config
}

// New returns the providers of a session's agent.
func New(base feature.Base, config Config) *Providers { return &Providers{base, config} }

// List sends Lua the providers.
func (p *Providers) List(m rpc.ListProviders) {
	agent := p.chooses(m.Callback)
	if agent == nil {
		return
	}
	control.Ask(p.config.Requests, "providers/list", func(answer func([]session.Provider, error) bool) func() {
		return agent.Providers(func(list []session.Provider, err error) { answer(list, err) })
	}, func(found []session.Provider, err error) {
		if err != nil {
			p.base.Editor.Answer(m.Callback, nil, p.failed("providers/list", err))
			return
		}
		list := make([]rpc.Provider, len(found))
		for i, f := range found {
			list[i] = rpc.Provider{ID: f.ID, Types: f.Types, Required: f.Required, Type: f.Type, URL: f.URL}
		}
		p.base.Editor.Answer(m.Callback, list, "")
	})
}

// Set says where the agent reaches a provider, for the sessions that it opens from now on.
func (p *Providers) Set(m rpc.SetProvider) {
	if agent := p.chooses(m.Callback); agent != nil {
		p.config.Hide(slices.Collect(maps.Values(m.Headers)))
		p.config.Requests.Do("providers/set", func(done func(error)) func() {
			return agent.SetProvider(session.Provider{ID: m.ID, Type: m.Type, URL: m.URL}, m.Headers, done)
		}, p.answered(m.Callback, "providers/set"))
	}
}

// Disable stops the agent's use of a provider.
func (p *Providers) Disable(m rpc.DisableProvider) {
	if agent := p.chooses(m.Callback); agent != nil {
		p.config.Requests.Do("providers/disable", func(done func(error)) func() {
			return agent.DisableProvider(m.ID, done)
		}, p.answered(m.Callback, "providers/disable"))
	}
}

// chooses returns the agent if it is running and has providers to choose from; otherwise nil, after saying so.
func (p *Providers) chooses(callback int) session.Agent {
	agent := p.config.Agent()
	switch {
	case agent == nil:
		p.base.Editor.Answer(callback, nil, p.base.Title+" is not running")
	case !p.config.Info().Providers:
		p.base.Editor.Answer(callback, nil, p.base.Title+" has no providers to choose")
	default:
		return agent
	}
	return nil
}

func (p *Providers) answered(callback int, method string) func(error) {
	return func(err error) {
		if err != nil {
			p.base.Editor.Answer(callback, nil, p.failed(method, err))
			return
		}
		p.base.Editor.Answer(callback, true, "")
	}
}

func (p *Providers) failed(method string, err error) string {
	return p.config.Blot(control.Failed(p.base.Agent, p.base.Title, method, err))
}
