package host

import (
	"fmt"
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/failure"
)

// option finds an option by its id, or else by its category.
func (s *Session) option(name string) (session.Option, bool) {
	for _, matches := range []func(session.Option) bool{
		func(o session.Option) bool { return o.ID == name },
		func(o session.Option) bool { return o.Category == name },
	} {
		if i := slices.IndexFunc(s.conv.Options, matches); i >= 0 {
			return s.conv.Options[i], true
		}
	}
	return session.Option{}, false
}

// setOption gives an option the value that the user chose.
func (s *Session) setOption(name, value string) {
	if s.phase != ready {
		s.base.Editor.Notify("warning", s.base.Title+" is not ready yet")
		return
	}
	o, known := s.option(name)
	if !known {
		s.base.Editor.Notify("warning", fmt.Sprintf("%s has no option %q", s.base.Title, name))
		return
	}
	s.requestOption(o, value, func(err error) {
		if session.AuthRequired(err) {
			s.afterLogin(func() { s.setOption(name, value) })
		} else if err != nil {
			s.base.Editor.Notify("warning", fmt.Sprintf("%s did not change %s: %s", s.base.Title, o.Name, failure.Text(err)))
		}
	})
}

// requestOption asks the agent for another value; then is called on the
// session's goroutine, unless the agent has gone by then.
func (s *Session) requestOption(o session.Option, value string, then func(error)) {
	a := s.agent
	control.Ask(s.requests, "the change of "+o.Name, func(answer func([]session.Option, error) bool) func() {
		return a.SetOption(s.remote.id, o, value, func(all []session.Option, err error) { answer(all, err) })
	}, func(all []session.Option, err error) {
		if s.agent != a {
			return
		}
		switch {
		case err != nil:
		case all != nil:
			s.apply(session.OptionsUpdate{Options: all})
		default:
			s.apply(session.OptionSet{ID: o.ID, Value: value})
		}
		s.changed()
		then(err)
	})
}

// applyDefaults sets the options of the configuration, one after the other in
// the agent's order, as one may bring or change another; the session is ready
// when all have been answered.
func (s *Session) applyDefaults(names []string) {
	for _, o := range s.conv.Options {
		at := slices.IndexFunc(names, func(name string) bool {
			named, known := s.option(name)
			return known && named.ID == o.ID
		})
		if at < 0 {
			continue
		}
		name := names[at]
		value := s.spec.Options[name]
		rest := slices.Delete(slices.Clone(names), at, at+1)
		if o.Value == value {
			names = rest
			continue
		}
		a := s.agent
		s.requestOption(o, value, func(err error) {
			if session.AuthRequired(err) {
				s.afterLogin(func() {
					if s.agent == a { // in a new process all of them are set anew
						s.applyDefaults(names)
					}
				})
				return
			}
			if err != nil {
				words, detail := failure.Explain(err)
				s.remarkFailure("warning", &failure.Failure{
					Sentence: fmt.Sprintf("%s did not take %s = %s: %s", s.base.Title, name, value, words), Detail: detail,
				})
			}
			s.applyDefaults(rest)
		})
		return
	}
	for _, name := range names {
		s.remark("warning", fmt.Sprintf("%s has no option %q, which your configuration sets.", s.base.Title, name))
	}
	s.becomeReady()
}
