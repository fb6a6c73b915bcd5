package featuretest

import (
	"encoding/json"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
)

// Agent is an agent of which the session notes what it is asked, and whose answers the test gives. Requests that are
// not here panic.
type Agent struct {
	session.Agent
	s    *Session
	open []request
}

type request struct {
	answer func(value any, err error)
	name   string
}

// NewAgent returns an agent that was asked nothing.
func (s *Session) NewAgent() *Agent { return &Agent{s: s} }

// ErrLogin is an agent's word that the user must log in first, and ErrUnknown that there is no such session.
var (
	ErrLogin   = &acp.Error{Code: acp.CodeAuthRequired, Message: "log in"}
	ErrUnknown = &acp.Error{Code: acp.CodeResourceNotFound, Message: "unknown"}
)

// Refused is an agent's refusal.
func Refused(message string) error { return &acp.Error{Code: -32603, Message: message} }

// Answer answers the oldest request that has no answer, on the connection's goroutine. The session hears of it when all
// is done there.
func (a *Agent) Answer(value any, err error) {
	a.s.t.Helper()
	if len(a.open) == 0 {
		a.s.t.Fatal("the agent was asked nothing that it has not answered")
	}
	one := a.open[0]
	a.open = a.open[1:]
	answered := make(chan struct{})
	a.s.Box.Put(func() { <-answered })
	one.answer(value, err)
	close(answered)
	a.s.On(func() {})
}

func ask[T any](a *Agent, name string, done func(T, error)) (cancel func()) {
	a.s.Did("asked", name)
	a.open = append(a.open, request{name: name, answer: func(value any, err error) {
		typed, _ := value.(T)
		done(typed, err)
	}})
	return a.s.Note("cancelled", name)
}

func (a *Agent) do(name string, done func(error)) (cancel func()) {
	return ask(a, name, func(_ any, err error) { done(err) })
}

func (a *Agent) NewSession(at session.Place, done func(session.Setup, error)) func() {
	return ask(a, "new"+a.words(at, ""), done)
}

func (a *Agent) LoadSession(id string, at session.Place, done func(session.Setup, error)) func() {
	return ask(a, "load "+id+a.words(at, ""), done)
}

func (a *Agent) ResumeSession(id string, at session.Place, done func(session.Setup, error)) func() {
	return ask(a, "resume "+id+a.words(at, ""), done)
}

func (a *Agent) ForkSession(id, after string, at session.Place, done func(session.Setup, error)) func() {
	return ask(a, "fork "+id+a.words(at, after), done)
}

// words says where a session is, apart from the folder that it should be in.
func (a *Agent) words(at session.Place, after string) string {
	if at.Cwd != a.s.Cwd {
		return " in " + at.Cwd
	}
	raw, _ := json.Marshal(map[string]any{"directories": at.Directories, "prompt": at.Prompt, "after": after})
	if string(raw) == `{"after":"","directories":null,"prompt":{"Text":"","Own":false}}` {
		return ""
	}
	return " " + string(raw)
}

func (a *Agent) Status(id string, done func(error)) func() { return a.do("status "+id, done) }

func (a *Agent) Archive(id string, archived bool, done func(error)) func() {
	if archived {
		return a.do("archive "+id, done)
	}
	return a.do("unarchive "+id, done)
}

func (a *Agent) Authenticate(method string, done func(error)) func() {
	return a.do("authenticate "+method, done)
}

func (a *Agent) Logout(done func(error)) func() { return a.do("logout", done) }

func (a *Agent) AskLogin() { a.s.Did("asked who is logged in") }

func (a *Agent) SetOption(id string, o session.Option, value string, done func([]session.Option, error)) func() {
	return ask(a, "set "+o.ID+" = "+value+" in "+id, done)
}

func (a *Agent) Providers(done func([]session.Provider, error)) func() {
	return ask(a, "providers", done)
}

func (a *Agent) SetProvider(p session.Provider, _ map[string]string, done func(error)) func() {
	return a.do("set provider "+p.ID+" "+p.Type+" "+p.URL, done)
}

func (a *Agent) DisableProvider(id string, done func(error)) func() {
	return a.do("disable provider "+id, done)
}

// The rest is what a process tells apart by sessions.

func (a *Agent) Route(id string)       { a.s.Did("route", id) }
func (a *Agent) Unroute(id string)     { a.s.Did("unroute", id) }
func (a *Agent) Discard(id string)     { a.s.Did("discard", id) }
func (a *Agent) AwaitName()            { a.s.Did("await name") }
func (a *Agent) Named()                { a.s.Did("named") }
func (a *Agent) ForgetEarly(id string) { a.s.Did("forget early", id) }
