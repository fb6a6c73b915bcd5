// Package opening opens a session in its agent: it makes a new one, resumes one that the agent keeps, or forks another.
// It owns the agent's id of the session, and passes on what is new in a conversation that the agent repeats.
package opening

import (
	"context"
	"errors"
	"fmt"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/editortools"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/history"
	"github.com/acp-nvim/acp-nvim/host/mcp"
	"github.com/acp-nvim/acp-nvim/host/remark"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// Agent is the agent of a session, in a process that it may share with others. Two values of the same process and
// session are equal.
type Agent interface {
	session.Agent

	// Route directs the agent's messages for a session id to this session. Any goroutine.
	Route(id string)
	Unroute(id string)
	// Discard is Unroute for a session that is no longer wanted, which the agent may free. Any goroutine.
	Discard(id string)
	// AwaitName says that the agent was asked for a session that has no id yet, and Named that it has answered.
	AwaitName()
	Named()
	// ForgetEarly drops what arrived for a session before it was opened here.
	ForgetEarly(id string)
}

// Config is what opening a session needs. The functions are called on the session's goroutine.
type Config struct {
	Requests     *control.Requests
	Remarks      *remark.Remarks
	Servers      *mcp.Servers
	Tools        *editortools.Tools
	SystemPrompt rpc.SystemPrompt // of the configuration

	Agent func() Agent        // nil while there is none
	Info  func() session.Info // what it has said of itself

	Record func(past []history.Said) // keeps what is said from here on, after what was said in the session it was forked from
	Apply  func(session.Update)      // applies an update to the conversation
	Bring  func(session.Update)      // applies one from the agent
	New    func()                    // the session was made, and must be set up
	Ready  func()                    // the session was resumed or forked
	Login  func()                    // the agent wants the user to log in
	Die    func(error)
}

// Opening belongs to the session's goroutine.
type Opening struct {
	base   feature.Base
	config Config
	remote

	place   session.Place    // where the session was last opened
	finding func()           // ends the search for its MCP servers
	past    []history.Prompt // what the user had said in it when it was resumed
}

// New returns a session that is not open.
func New(base feature.Base, config Config) *Opening { return &Opening{base: base, config: config} }

// TakeUp says which of the agent's stored sessions to resume; retold says that the chat already shows what was said in
// it.
func (o *Opening) TakeUp(stored string, retold bool) {
	o.stored, o.retold = stored, retold && stored != ""
}

// Archived says that the agent has the stored session archived.
func (o *Opening) Archived() { o.archived = true }

// From says that the session is forked from another one.
func (o *Opening) From(f *Fork) { o.fork = f }

// Known sets the prompts of the session that the chat already shows.
func (o *Opening) Known(past []history.Prompt) { o.past = past }

// ID returns the agent's id of the session, "" while it is not open there; Stored returns the id to resume it by.
func (o *Opening) ID() string     { return o.id }
func (o *Opening) Stored() string { return o.stored }

// Repeats reports whether the agent is repeating what the chat already shows.
func (o *Opening) Repeats() bool { return o.skipping }

// Open makes the session in the agent, or resumes the stored one: without a replay if the chat already shows all of it,
// otherwise with one.
func (o *Opening) Open() {
	o.stopFinding()
	var ctx context.Context
	ctx, o.finding = context.WithCancel(context.Background())
	o.config.Servers.For(ctx, o.config.Info(), func(servers []session.MCPServer) {
		info := o.config.Info()
		at := session.Place{Cwd: o.base.Cwd, Servers: o.config.Tools.AddTo(servers), Prompt: o.systemPrompt()}
		if info.Instructions {
			at.Instructions = o.config.Tools.Instructions()
		}
		switch further := o.base.Roots[1:]; {
		case len(further) == 0:
		case info.Directories:
			at.Directories = further
		default:
			o.base.Remark("warning", o.base.Title+" works in one folder only: it is not told of the others, but may still read them.")
		}
		o.openAt(at)
	})
}

func (o *Opening) stopFinding() {
	if o.finding != nil {
		o.finding()
	}
}

// Left says that the session has left the agent.
func (o *Opening) Left() {
	o.stopFinding()
	o.id = ""
}

// Closed says that the agent has closed the session, or deleted it.
func (o *Opening) Closed() {
	if agent := o.config.Agent(); agent != nil && o.id != "" {
		agent.Unroute(o.id)
	}
	o.id = ""
}

// systemPrompt returns the configuration's system prompt, as far as the agent takes it.
func (o *Opening) systemPrompt() session.SystemPrompt {
	info := o.config.Info()
	p := session.SystemPrompt{Text: o.config.SystemPrompt.Text, Own: o.config.SystemPrompt.Mode == "override"}
	switch {
	case p.Text == "":
	case !info.SystemPrompt:
		o.base.Remark("warning", o.base.Title+" takes no system prompt: the one in your configuration is not sent.")
		return session.SystemPrompt{}
	case p.Own && !info.OwnSystemPrompt:
		o.base.Remark("warning", o.base.Title+" keeps its own instructions: your system prompt is added to them.")
		p.Own = false
	}
	return p
}

func (o *Opening) openAt(at session.Place) {
	agent, info := o.config.Agent(), o.config.Info()
	o.place, o.replay = at, nil
	switch {
	case o.fork != nil:
		o.openFork()
	case o.stored == "" || o.retold && !info.Resumes && !info.Loads:
		o.openNew()
	case info.Resumes && (o.retold || !info.Loads):
		o.takeUp("session/resume", agent.ResumeSession)
	case info.Loads:
		o.skipping = o.retold
		if !o.retold && len(o.past) > 0 {
			o.replay = history.NewReplay(o.past)
		}
		method := "session/load"
		if info.Protocol > 1 { // which has one request for both
			method = "session/resume"
		}
		o.takeUp(method, agent.LoadSession)
	default:
		o.config.Die(&failure.Failure{Sentence: o.base.Title + " cannot resume stored sessions.", Advice: ":Acp new starts a new one."})
	}
}

func (o *Opening) openNew() {
	agent := o.config.Agent()
	o.request("session/new", func(done func(session.Setup, error)) func() {
		agent.AwaitName()
		return agent.NewSession(o.place, func(setup session.Setup, err error) {
			done(setup, err)
			agent.Named()
		})
	}, func(setup session.Setup) {
		o.config.Record(nil)
		o.config.Apply(session.SessionStart{Options: setup.Options})
		o.offered(setup)
		if o.retold {
			o.base.Remark("info", "Started again: the agent does not remember what was said above.")
		}
		o.made()
		o.config.New()
	})
}

// openFork forks the session from another one in the agent. Some agents replay what was said in that.
func (o *Opening) openFork() {
	agent, f := o.config.Agent(), o.fork
	o.skipping = len(f.Past) > 0
	o.request("session/fork", func(done func(session.Setup, error)) func() {
		agent.AwaitName()
		return agent.ForkSession(f.ID, f.After, o.place, func(setup session.Setup, err error) {
			done(setup, err)
			agent.Named()
		})
	}, func(setup session.Setup) {
		o.config.Record(f.Past)
		o.config.Apply(session.SessionStart{Options: setup.Options})
		o.offered(setup)
		o.base.Remark("info", fmt.Sprintf("Forked from session %d, which stays as it is.", f.Session))
		o.forked()
		o.config.Ready()
	})
}

// opens is a request to the agent that resumes a stored session.
type opens func(id string, at session.Place, done func(session.Setup, error)) (cancel func())

// takeUp resumes the stored session, unless the agent says that it does not know it, after unarchiving it.
func (o *Opening) takeUp(method string, send opens) {
	o.whereKnown(func() {
		o.whereListed(func() { o.takeUpKnown(method, send) })
	})
}

func (o *Opening) whereKnown(then func()) {
	if !o.config.Info().Statuses {
		then()
		return
	}
	agent, id := o.config.Agent(), o.stored
	o.config.Requests.Do("session/status", func(done func(error)) func() { return agent.Status(id, done) }, func(err error) {
		switch {
		case o.config.Agent() != agent: // closed or restarted meanwhile
		case session.NotFound(err), errors.Is(err, control.ErrGivenUp):
			o.notOpened("session/status", err)
		default: // opening it shows what else is wrong
			then()
		}
	})
}

func (o *Opening) whereListed(then func()) {
	if !o.archived || !o.config.Info().Archives {
		then()
		return
	}
	agent, id := o.config.Agent(), o.stored
	o.config.Requests.Do("session/unarchive", func(done func(error)) func() { return agent.Archive(id, false, done) }, func(err error) {
		switch {
		case o.config.Agent() != agent: // closed or restarted meanwhile
		case err != nil:
			o.notOpened("session/unarchive", err)
		default:
			o.archived = false
			then()
		}
	})
}

func (o *Opening) takeUpKnown(method string, send opens) {
	o.id = o.stored
	agent := o.config.Agent()
	agent.ForgetEarly(o.stored)
	agent.Route(o.stored) // the replay comes before the answer
	o.config.Record(nil)
	o.config.Apply(session.SessionStart{})
	o.request(method, func(done func(session.Setup, error)) func() {
		return send(o.stored, o.place, done)
	}, func(setup session.Setup) {
		if len(setup.Options) > 0 {
			o.config.Apply(session.OptionsUpdate{Options: setup.Options})
		}
		o.offered(setup)
		if o.retold {
			o.base.Remark("info", "Started again: the agent remembers what was said above.")
		}
		o.repeated()
		o.config.Apply(session.Cancelling{}) // nothing of the replay is still running
		o.resumed()
		o.config.Ready()
	})
}

// offered applies the commands that some agents send when they open a session.
func (o *Opening) offered(setup session.Setup) {
	if setup.Commands != nil {
		o.config.Apply(session.CommandsUpdate{Commands: setup.Commands})
	}
}

// request sends one of the requests that open a session; opened is called if that succeeds.
func (o *Opening) request(method string, send func(done func(session.Setup, error)) (cancel func()), opened func(session.Setup)) {
	agent := o.config.Agent()
	o.base.Changed()
	control.Ask(o.config.Requests, method, func(answer func(session.Setup, error) bool) func() {
		return send(func(setup session.Setup, err error) {
			if err == nil {
				agent.Route(setup.SessionID)
			}
			if !answer(setup, err) && err == nil {
				agent.Discard(setup.SessionID)
			}
		})
	}, func(setup session.Setup, err error) {
		switch {
		case o.config.Agent() != agent: // closed or restarted meanwhile
			if err == nil {
				agent.Discard(setup.SessionID)
			}
		case errors.Is(err, acp.ErrClosed): // the end of the process is reported
		case err != nil:
			o.notOpened(method, err)
		default:
			o.id = setup.SessionID
			o.config.Tools.Named(o.id)
			opened(setup)
		}
	})
}

func (o *Opening) notOpened(method string, err error) {
	o.Closed()
	o.skipping, o.replay = false, nil
	switch {
	case session.AuthRequired(err):
		o.config.Login()
	case o.retold && method != "session/new" && !errors.Is(err, control.ErrGivenUp):
		words, detail := failure.Explain(err)
		o.config.Remarks.Fail("warning", &failure.Failure{Sentence: o.base.Title + " could not resume the session: " + words, Detail: detail})
		o.openNew()
	default:
		o.config.Die(o.config.Requests.Refusal(method, err))
	}
}

// Hear handles an update from the agent, and applies what is new of it.
func (o *Opening) Hear(u session.Update) {
	switch tells := session.Tells(u); {
	case tells && o.skipping:
	case tells && o.replay != nil:
		for _, u := range o.replay.Take(u) {
			o.config.Bring(u)
		}
	default:
		o.config.Bring(u)
	}
}

// Prompted says that the agent has got a prompt: everything from here on is new.
func (o *Opening) Prompted() { o.skipping, o.replay = false, nil }

// repeated says that the agent has repeated everything of the session: what was not known is added below.
func (o *Opening) repeated() {
	if o.replay == nil {
		return
	}
	more := o.replay.Over()
	if len(more) > 0 {
		o.base.Remark("info", "The session went on elsewhere:")
	}
	for _, u := range more {
		o.config.Bring(u)
	}
}
