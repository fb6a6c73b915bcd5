package host

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// neovim is one that notes which notices, answers, events, states, texts of buffers, processes and pictures it gets.
type neovim struct {
	mu     sync.Mutex
	told   []string
	result any // of the last answer
	events []rpc.Event
	state  rpc.Session // the last one
	groups []rpc.Group
	images []string
}

func (n *neovim) Batch(ops []any) (answers []any, busy time.Duration, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, op := range ops {
		switch args := op.([]any)[1].(type) {
		case rpc.Notify:
			n.told = append(n.told, args.Level+": "+args.Text)
		case rpc.Callback:
			n.told = append(n.told, fmt.Sprint(args.ID, " ", args.Result, " ", args.Error))
			n.result = args.Result
		case rpc.Events:
			n.events = append(n.events, args.Events...)
		case rpc.Session:
			n.state = args
		case rpc.Group:
			n.groups = append(n.groups, args)
		case rpc.ImageSaved:
			n.images = append(n.images, args.Path)
		case rpc.Fill:
			n.told = append(n.told, fmt.Sprintf("buffer %d: %s", args.Buf, strings.Join(args.Lines.Lines, "|")))
		}
		answers = append(answers, []any{true})
	}
	return answers, 0, nil
}

// take returns what Neovim was told since the last time.
func (n *neovim) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	told := n.told
	n.told = nil
	return told
}

// world is a host with a Neovim that listens, in a bubble of synctest.
type world struct {
	*Host
	t    *testing.T
	nvim neovim
	log  logged
}

// logged is what the log has.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newWorld(t *testing.T, o Options) *world {
	w := &world{t: t}
	o.Version, o.Log = "test", slog.New(slog.NewTextHandler(&w.log, nil))
	w.Host = newHost(o, &w.nvim)
	go w.editor.Run()
	t.Cleanup(func() {
		w.finder.Close()
		w.editor.Close()
	})
	return w
}

// receive has Lua send a message.
func (w *world) receive(name method, args ...any) {
	arrived.Add(1)
	w.Host.receive(name, args...)
}

// settle waits until nothing more happens by itself, and Neovim was told of it.
func (w *world) settle() {
	synctest.Wait()
	time.Sleep(time.Second)
	synctest.Wait()
}

// told checks what Neovim was told since the last time.
func (w *world) told(want ...string) {
	w.t.Helper()
	w.settle()
	check.Slice(w.t, w.nvim.take(), want, "Neovim is told %q")
}

// asked is an agent that notes what it is asked, and whose answers the test gives.
type asked struct {
	session.Agent

	mu     sync.Mutex // guards the fields below
	all    []string
	answer func(error) // to the last request
}

func (a *asked) note(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, what)
}

func (a *asked) request(what string, done func(error)) (cancel func()) {
	a.note(what)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = done
	return func() { a.note("withdrawn: " + what) }
}

func (a *asked) NewSession(at session.Place, done func(session.Setup, error)) func() {
	return a.request("new", func(err error) { done(session.Setup{SessionID: "a"}, err) })
}

func (a *asked) ForkSession(id, after string, at session.Place, done func(session.Setup, error)) func() {
	return a.request("fork "+id+" after "+after, func(err error) { done(session.Setup{SessionID: "b"}, err) })
}

func (a *asked) SetTitle(id, title string, done func(string, error)) func() {
	return a.request("title "+title, func(err error) { done(title, err) })
}

func (a *asked) Archive(id string, archived bool, done func(error)) func() {
	return a.request(fmt.Sprint("archive ", id, " ", archived), done)
}

func (a *asked) DeleteSession(id string, done func(error)) func() {
	return a.request("delete "+id, done)
}

func (a *asked) ListSessions(bool, func([]session.Stored, error)) func() {
	return a.request("list", nil)
}

func (a *asked) Prompt(id string, prompt []session.Content, done func(session.StopReason, error)) {
	a.request("prompt", func(err error) { done(session.StopEndTurn, err) })
}

func (a *asked) Steer(id string, words []session.Content, done func(session.Steering, error)) {
	a.request("steer", func(err error) { done(session.SteeringTaken, err) })
}

func (a *asked) Cancel(id string) { a.note("cancel " + id) }
func (a *asked) Close(id string)  { a.note("close " + id) }

// take returns what the agent was asked since the last time.
func (a *asked) take() []string {
	all := a.all
	a.all = nil
	return all
}

// errLogin is an agent's word that the user must log in first.
var errLogin = &acp.Error{Code: acp.CodeAuthRequired, Message: "log in"}

var puppet = AgentSpec{Name: "puppet", Title: "Puppet", Command: []string{"/puppet"}}

// puppetFields is puppet as Lua tells it.
var puppetFields = map[string]any{"name": "puppet", "title": "Puppet", "command": []any{"/puppet"}}

// process is a running process of an agent in /, which says this of itself.
func (w *world) process(spec AgentSpec, info session.Info) (*agent, *asked) {
	said := &asked{}
	a := &agent{
		host: w.Host, key: spec.launchKey("/"), spec: spec, routes: newRoutes(), users: map[*Session]struct{}{}, holds: 1,
		phase: agentReady, info: info, adapter: said,
	}
	w.agents[a.key] = a
	return a, said
}

// add opens a session that is not started.
func (w *world) add(id int, spec AgentSpec) *Session {
	s := newSession(w.Host, id, spec, "/", nil)
	w.sessions[id] = s
	go s.base.Box.Run()
	go s.ledger.Run()
	w.t.Cleanup(func() {
		s.base.Box.Put(s.close)
		synctest.Wait()
	})
	return s
}

// ready is a session that is ready in its agent's process.
func (w *world) ready(info session.Info) (*Session, *asked) {
	w.t.Helper()
	_, said := w.process(puppet, info)
	s := w.add(1, puppet)
	s.on(s.start)
	synctest.Wait()
	must.Equal(w.t, len(said.all), 1, "the agent was asked %d times")
	said.answer(nil)
	synctest.Wait()
	must.Equal(w.t, s.phase, ready, "its phase is %d")
	said.take()
	return s, said
}
