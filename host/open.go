package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/history"
)

// remote is who the session is to its agent. It belongs to the session's
// goroutine.
type remote struct {
	id       string // the agent's name of the session, while it is open there
	stored   string // the agent's name of it, to take it up again
	own      bool   // it was made here, not taken up
	retold   bool   // what was said in it is in the chat already
	skipping bool   // what the agent tells is a replay of that

	fork     *fork // what it is to be made from; nil for none, or once it is made
	archived bool  // the agent has it archived

	reading bool            // the session begins when what is kept of the stored one was read
	replay  *history.Replay // what the agent tells is compared with that
}

// made is told that the agent has made the session that is open now.
func (r *remote) made() { r.stored, r.own, r.retold = r.id, true, false }

// resumed is told that the agent has taken up the stored one.
func (r *remote) resumed() { r.own, r.retold = false, false }

// again is told that the session is to be opened once more; said reports whether the
// chat shows something of the conversation.
func (r *remote) again(said bool) {
	switch {
	case said:
		r.retold = r.stored != ""
	case r.own:
		r.stored = "" // there is nothing in it to remember
	}
}

// start finds or starts the agent's process and opens the session in it.
func (s *Session) start() {
	s.phase, s.failure = starting, ""
	s.remote.reading = false
	s.changed()
	s.prompts.Unsaved.Forget()
	s.ledger.LookAtFolders()
	a, err := s.host.agentFor(s.spec, s.base.Cwd)
	if err != nil {
		s.die(err)
		return
	}
	s.agent = a
	control.Ask(s.requests, "initialize", func(answer func(session.Info, error) bool) func() {
		a.join(s, func(info session.Info, err error) { answer(info, err) })
		return func() {} // other sessions wait for it too
	}, func(info session.Info, err error) {
		switch {
		case s.agent != a: // closed or restarted meanwhile
		case err != nil:
			s.die(s.refusal("initialize", err))
		default:
			s.info = info
			s.open()
		}
	})
}

// open makes the session in the agent, or takes up the one that it keeps: the
// way that repeats nothing where the chat shows all of it already, else the one
// that tells it.
func (s *Session) open() {
	s.phase = starting
	if s.finding != nil {
		s.finding()
	}
	var ctx context.Context
	ctx, s.finding = context.WithCancel(context.Background())
	s.servers.For(ctx, s.info, func(servers []session.MCPServer) {
		at := session.Place{Cwd: s.base.Cwd, Servers: s.withTools(servers), Prompt: s.systemPrompt()}
		if s.grant != nil && s.info.Instructions {
			at.Instructions = s.grant.Instructions()
		}
		switch further := s.base.Roots[1:]; {
		case len(further) == 0:
		case s.info.Directories:
			at.Directories = further
		default:
			s.remark("warning", s.base.Title+" works in one folder only: it is not told of the others, but may still read them.")
		}
		s.openAt(at)
	})
}

// systemPrompt is what the configuration has the agent told, as far as that takes it.
func (s *Session) systemPrompt() session.SystemPrompt {
	p := session.SystemPrompt{Text: s.spec.SystemPrompt.Text, Own: s.spec.SystemPrompt.Mode == "override"}
	switch {
	case p.Text == "":
	case !s.info.SystemPrompt:
		s.remark("warning", s.base.Title+" takes no system prompt: the one in your configuration is not sent.")
		return session.SystemPrompt{}
	case p.Own && !s.info.OwnSystemPrompt:
		s.remark("warning", s.base.Title+" keeps its own instructions: your system prompt is added to them.")
		p.Own = false
	}
	return p
}

func (s *Session) openAt(at session.Place) {
	a, info, r := s.agent, s.info, &s.remote
	s.place = at
	r.replay = nil
	switch {
	case r.fork != nil:
		s.openFork()
	case r.stored == "" || r.retold && !info.Resumes && !info.Loads:
		s.openNew()
	case info.Resumes && (r.retold || !info.Loads):
		s.takeUp("session/resume", a.ResumeSession)
	case info.Loads:
		r.skipping = r.retold
		if !r.retold && len(s.past) > 0 {
			r.replay = history.NewReplay(s.past)
		}
		method := "session/load"
		if info.Protocol > 1 { // which has one request for both
			method = "session/resume"
		}
		s.takeUp(method, a.LoadSession)
	default:
		s.die(&failure.Failure{Sentence: s.base.Title + " cannot resume stored sessions.", Advice: ":Acp new starts a new one."})
	}
}

func (s *Session) openNew() {
	a := s.agent
	s.request("session/new", func(done func(session.Setup, error)) func() {
		a.awaitName()
		return a.NewSession(s.place, func(setup session.Setup, err error) {
			done(setup, err)
			a.named()
		})
	}, func(setup session.Setup) {
		s.record()
		s.apply(session.SessionStart{Options: setup.Options})
		s.offered(setup)
		if s.remote.retold {
			s.remark("info", "Started again: the agent does not remember what was said above.")
		}
		s.remote.made()
		s.applyDefaults(slices.Sorted(maps.Keys(s.spec.Options)))
	})
}

// takeUp takes up the stored session.
func (s *Session) takeUp(method string, send func(id string, at session.Place, done func(session.Setup, error)) func()) {
	s.whereKnown(func() {
		s.whereListed(func() { s.takeUpKnown(method, send) })
	})
}

// whereKnown goes on unless the agent says that it does not know the stored session.
func (s *Session) whereKnown(then func()) {
	if !s.info.Statuses {
		then()
		return
	}
	a, id := s.agent, s.remote.stored
	s.requests.Do("session/status", func(done func(error)) func() { return a.Status(id, done) }, func(err error) {
		switch {
		case s.agent != a: // closed or restarted meanwhile
		case session.NotFound(err), errors.Is(err, control.ErrGivenUp):
			s.notOpened("session/status", err)
		default: // opening it tells what else there is
			then()
		}
	})
}

// whereListed goes on when the agent has the stored session archived no longer.
func (s *Session) whereListed(then func()) {
	if !s.remote.archived || !s.info.Archives {
		then()
		return
	}
	a, id := s.agent, s.remote.stored
	s.requests.Do("session/unarchive", func(done func(error)) func() { return a.Archive(id, false, done) }, func(err error) {
		switch {
		case s.agent != a: // closed or restarted meanwhile
		case err != nil:
			s.notOpened("session/unarchive", err)
		default:
			s.remote.archived = false
			then()
		}
	})
}

func (s *Session) takeUpKnown(method string, send func(id string, at session.Place, done func(session.Setup, error)) func()) {
	s.remote.id = s.remote.stored
	s.agent.forgetEarly(s.remote.stored)
	s.agent.route(s.remote.stored, s) // what is told comes before the answer
	s.record()
	s.apply(session.SessionStart{})
	s.request(method, func(done func(session.Setup, error)) func() {
		return send(s.remote.stored, s.place, done)
	}, func(setup session.Setup) {
		if len(setup.Options) > 0 {
			s.apply(session.OptionsUpdate{Options: setup.Options})
		}
		s.offered(setup)
		if s.remote.retold {
			s.remark("info", "Started again: the agent remembers what was said above.")
		}
		s.replayed()
		s.apply(session.Cancelling{}) // nothing of what was told goes on
		s.remote.resumed()
		s.becomeReady()
	})
}

// offered takes the commands that some agents name when they open a session.
func (s *Session) offered(setup session.Setup) {
	if setup.Commands != nil {
		s.apply(session.CommandsUpdate{Commands: setup.Commands})
	}
}

// request sends one of the requests that open a session; opened is called when
// that has succeeded.
func (s *Session) request(method string, send func(done func(session.Setup, error)) (cancel func()), opened func(session.Setup)) {
	a := s.agent
	s.changed()
	control.Ask(s.requests, method, func(answer func(session.Setup, error) bool) func() {
		return send(func(setup session.Setup, err error) {
			if err == nil {
				a.route(setup.SessionID, s)
			}
			if !answer(setup, err) && err == nil {
				a.discard(s, setup.SessionID)
			}
		})
	}, func(setup session.Setup, err error) {
		switch {
		case s.agent != a: // closed or restarted meanwhile
			if err == nil {
				a.discard(s, setup.SessionID)
			}
		case errors.Is(err, acp.ErrClosed): // agentDied tells
		case err != nil:
			s.notOpened(method, err)
		default:
			s.remote.id = setup.SessionID
			if s.grant != nil {
				s.grant.Named(s.remote.id, s.caller)
			}
			opened(setup)
		}
	})
}

func (s *Session) notOpened(method string, err error) {
	if s.remote.id != "" {
		s.agent.unroute(s, s.remote.id)
		s.remote.id = ""
	}
	s.remote.skipping, s.remote.replay = false, nil
	switch {
	case session.AuthRequired(err):
		s.needLogin()
	case s.remote.retold && method != "session/new" && !errors.Is(err, control.ErrGivenUp):
		words, detail := failure.Explain(err)
		s.remarkFailure("warning", &failure.Failure{Sentence: s.base.Title + " could not resume the session: " + words, Detail: detail})
		s.openNew()
	default:
		s.die(s.refusal(method, err))
	}
}

// refusal is the sentence for an error answer to a request of ours.
func (s *Session) refusal(method string, err error) *failure.Failure {
	var told *failure.Failure
	if errors.As(err, &told) {
		return told
	}
	if errors.Is(err, control.ErrGivenUp) {
		return &failure.Failure{Sentence: method + " was cancelled.", Advice: ":Acp restart tries again."}
	}
	words, detail := failure.Explain(err)
	words, detail = s.host.withoutSecrets(s.spec.Name, words), s.host.withoutSecrets(s.spec.Name, detail)
	return &failure.Failure{
		Sentence: fmt.Sprintf("%s refused %s: %s.", s.base.Title, method, strings.TrimRight(words, ".")),
		Advice:   ":Acp restart tries again, :Acp traffic shows what was said.",
		Detail:   detail,
	}
}

// becomeReady lets the user's prompts go out, each when the session's folders have been looked at.
func (s *Session) becomeReady() {
	if s.phase != starting {
		return
	}
	s.ledger.Opened(s.about())
	s.host.knowFolders(s.spec.Name, s.remote.stored, s.base.Roots)
	s.keepTitle()
	s.events.Add("AcpSessionReady", nil)
	s.goOn()
}

// goOn does what has waited for the session to be ready.
func (s *Session) goOn() {
	s.phase, s.failure = ready, ""
	if s.login.taken {
		s.remark("info", loggedIn)
	}
	s.sayReminder()
	s.changed()
	for _, f := range s.login.done() {
		f()
	}
	s.prompts.Proceed()
}

// restart ends the agent's process and begins again, with all sessions that
// live in it, or died with it.
func (s *Session) restart() {
	if a := s.agent; a != nil {
		for _, other := range a.takeUsers(true) {
			if other != s {
				other.base.Box.Put(func() {
					if other.agent == a {
						other.again()
					}
				})
			}
		}
		a.stop()
	} else if a := s.died; a != nil {
		s.host.others(s, func(other *Session) {
			if other.died == a && other.phase == dead {
				other.again()
			}
		})
	}
	s.again()
}

// again begins anew, in a new process. Queued prompts wait for it, and so does
// a prompt that a login interrupted.
func (s *Session) again() {
	if s.prompts.Working() {
		s.endTurn(session.StopError, "The session was restarted.")
	}
	s.detach()
	s.died = nil
	s.remote.again(s.said())
	s.start()
}

// said reports whether the chat shows something of the conversation.
func (s *Session) said() bool {
	return slices.ContainsFunc(s.conv.Entries, func(e session.Entry) bool {
		_, message := e.(*session.Message)
		return message
	})
}
