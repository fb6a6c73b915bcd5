// Package options sets the options of a session, including its mode and model: from the configuration when the session
// is new, and as the user chooses later.
package options

import (
	"fmt"
	"maps"
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/remark"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// Config is what the options of a session need from it. The functions are called on its goroutine.
type Config struct {
	Conversation *session.Conversation
	Requests     *control.Requests
	Remarks      *remark.Remarks
	Configured   map[string]string    // values to begin with, by an option's id or category
	Agent        func() session.Agent // nil while there is none
	ID           func() string        // the agent's id of the session
	Ready        func() bool
	AfterLogin   func(func())         // calls a function when the user has logged in
	Apply        func(session.Update) // applies an update to the conversation
	Begun        func()               // the configuration's options are set
}

// Options belong to the session's goroutine.
type Options struct {
	base   feature.Base
	config Config
}

// New returns the options of a session.
func New(base feature.Base, config Config) *Options { return &Options{base, config} }

// find finds an option by its id, or else by its category.
func (o *Options) find(name string) (session.Option, bool) {
	for _, matches := range []func(session.Option) bool{
		func(o session.Option) bool { return o.ID == name },
		func(o session.Option) bool { return o.Category == name },
	} {
		if i := slices.IndexFunc(o.config.Conversation.Options, matches); i >= 0 {
			return o.config.Conversation.Options[i], true
		}
	}
	return session.Option{}, false
}

// Set gives an option the value that the user chose.
func (o *Options) Set(m rpc.SetOption) {
	if !o.config.Ready() {
		o.base.Editor.Notify("warning", o.base.Title+" is not ready yet")
		return
	}
	option, known := o.find(m.ID)
	if !known {
		o.base.Editor.Notify("warning", fmt.Sprintf("%s has no option %q", o.base.Title, m.ID))
		return
	}
	o.request(option, m.Value, func(err error) {
		if session.AuthRequired(err) {
			o.config.AfterLogin(func() { o.Set(m) })
		} else if err != nil {
			o.base.Editor.Notify("warning", fmt.Sprintf("%s did not change %s: %s", o.base.Title, option.Name, failure.Text(err)))
		}
	})
}

// request asks the agent for another value. then is called unless the agent is gone by then.
func (o *Options) request(option session.Option, value string, then func(error)) {
	agent := o.config.Agent()
	control.Ask(o.config.Requests, "the change of "+option.Name, func(answer func([]session.Option, error) bool) func() {
		return agent.SetOption(o.config.ID(), option, value, func(all []session.Option, err error) { answer(all, err) })
	}, func(all []session.Option, err error) {
		if o.config.Agent() != agent {
			return
		}
		switch {
		case err != nil:
		case all != nil:
			o.config.Apply(session.OptionsUpdate{Options: all})
		default:
			o.config.Apply(session.OptionSet{ID: option.ID, Value: value})
		}
		o.base.Changed()
		then(err)
	})
}

// Begin sets the configuration's options in a new session.
func (o *Options) Begin() { o.configure(slices.Sorted(maps.Keys(o.config.Configured))) }

// configure sets options one after another in the agent's order, as one may add or change another.
func (o *Options) configure(names []string) {
	for _, option := range o.config.Conversation.Options {
		at := slices.IndexFunc(names, func(name string) bool {
			named, known := o.find(name)
			return known && named.ID == option.ID
		})
		if at < 0 {
			continue
		}
		name := names[at]
		value := o.config.Configured[name]
		rest := slices.Delete(slices.Clone(names), at, at+1)
		if option.Value == value {
			names = rest
			continue
		}
		agent := o.config.Agent()
		o.request(option, value, func(err error) {
			if session.AuthRequired(err) {
				o.config.AfterLogin(func() {
					if o.config.Agent() == agent { // in a new process all of them are set again
						o.configure(names)
					}
				})
				return
			}
			if err != nil {
				words, detail := failure.Explain(err)
				o.config.Remarks.Fail("warning", &failure.Failure{
					Sentence: fmt.Sprintf("%s did not take %s = %s: %s", o.base.Title, name, value, words), Detail: detail,
				})
			}
			o.configure(rest)
		})
		return
	}
	for _, name := range names {
		o.base.Remark("warning", fmt.Sprintf("%s has no option %q, which your configuration sets.", o.base.Title, name))
	}
	o.config.Begun()
}
