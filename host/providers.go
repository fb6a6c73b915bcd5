package host

import (
	"maps"
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// This file is about the providers of models that some agents let their client choose.

// listProviders tells Lua of the agent's providers.
func (s *Session) listProviders(m rpc.ListProviders) {
	if !s.hasProviders(m.Callback) {
		return
	}
	a := s.agent
	control.Ask(s.requests, "providers/list", func(answer func([]session.Provider, error) bool) func() {
		return a.Providers(func(list []session.Provider, err error) { answer(list, err) })
	}, func(found []session.Provider, err error) {
		if err != nil {
			s.base.Editor.Answer(m.Callback, nil, visitFailure(s.spec, "providers/list", err))
			return
		}
		list := make([]rpc.Provider, len(found))
		for i, p := range found {
			list[i] = rpc.Provider{ID: p.ID, Types: p.Types, Required: p.Required, Type: p.Type, URL: p.URL}
		}
		s.base.Editor.Answer(m.Callback, list, "")
	})
}

// setProvider says where the agent reaches a provider, for the sessions that it opens from now on.
func (s *Session) setProvider(m rpc.SetProvider) {
	if s.hasProviders(m.Callback) {
		a := s.agent
		s.host.hide(s.spec.Name, slices.Collect(maps.Values(m.Headers)))
		s.requests.Do("providers/set", func(done func(error)) func() {
			return a.SetProvider(session.Provider{ID: m.ID, Type: m.Type, URL: m.URL}, m.Headers, done)
		}, s.provided(m.Callback, "providers/set"))
	}
}

// disableProvider has the agent not use a provider any more.
func (s *Session) disableProvider(m rpc.DisableProvider) {
	if s.hasProviders(m.Callback) {
		a := s.agent
		s.requests.Do("providers/disable", func(done func(error)) func() {
			return a.DisableProvider(m.ID, done)
		}, s.provided(m.Callback, "providers/disable"))
	}
}

// hasProviders reports whether the agent runs and has providers to choose from; else it says so.
func (s *Session) hasProviders(callback int) bool {
	switch {
	case s.agent == nil || s.info.Protocol == 0:
		s.base.Editor.Answer(callback, nil, s.base.Title+" is not running")
	case !s.info.Providers:
		s.base.Editor.Answer(callback, nil, s.base.Title+" lets no providers be chosen.")
	default:
		return true
	}
	return false
}

func (s *Session) provided(callback int, method string) func(error) {
	return func(err error) {
		if err != nil {
			f := s.refusal(method, &failure.Failure{Sentence: visitFailure(s.spec, method, err)})
			s.base.Editor.Answer(callback, nil, s.host.withoutSecrets(s.spec.Name, f.Sentence))
			return
		}
		s.base.Editor.Answer(callback, true, "")
	}
}
