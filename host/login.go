package host

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// login is what a session knows of the login that its agent wants. It belongs to
// the session's goroutine.
type login struct {
	by      string   // the one whose variables the new process has
	taken   bool     // the agent has taken one, and what was asked before it is asked again
	waiting []func() // what waits for it, beside opening the session and prompts
}

// done is told that none is needed any more, and returns what has waited.
func (l *login) done() []func() {
	waiting := l.waiting
	*l = login{}
	return waiting
}

const loggedIn = "You are logged in."

// needLogin is the state in which the agent wants the user to log in. What was
// asked of it waits: an open is done again, a prompt is kept, and the rest
// comes through afterLogin.
func (s *Session) needLogin() {
	s.phase = authRequired
	if id := s.login.by; id != "" { // the variables alone were not enough
		s.login.by = ""
		s.requestLogin(id)
		s.changed()
		return
	}
	var names []string
	for _, m := range s.info.AuthMethods {
		names = append(names, m.Name)
	}
	parts := []string{s.base.Title + " needs you to log in first."}
	if s.login.taken { // without a look at what it was
		s.login.taken = false
		parts = append(parts, "The last login was not enough: a key may be missing.")
	}
	if s.spec.Login != "" {
		parts = append(parts, s.spec.Login)
	}
	if len(names) > 0 {
		parts = append(parts, ":Acp auth logs in from here: "+strings.Join(names, ", ")+".")
	} else {
		parts = append(parts, "Then :Acp restart.")
	}
	s.failure = strings.Join(append(parts, "What you asked is kept."), " ")
	s.remark("warning", s.failure)
}

// afterLogin has f called when the user has logged in.
func (s *Session) afterLogin(f func()) {
	s.login.waiting = append(s.login.waiting, f)
	s.needLogin()
}

// authenticate begins to log in by a method that the user chose.
func (s *Session) authenticate(id string) {
	i := slices.IndexFunc(s.info.AuthMethods, func(m session.AuthMethod) bool { return m.ID == id })
	switch {
	case s.agent == nil:
		s.base.Editor.Notify("warning", s.base.Title+" is not running. :Acp restart starts it")
		return
	case i < 0:
		s.base.Editor.Notify("warning", fmt.Sprintf("%s has no login %q", s.base.Title, id))
		return
	case s.requests.Open("authenticate"):
		s.base.Editor.Notify("warning", "a login is already under way. :Acp cancel gives up on it")
		return
	}
	switch m := s.info.AuthMethods[i]; m.Type {
	case session.AuthTerminal:
		s.openLogin(m)
	case session.AuthEnvVar:
		vars := make([]rpc.Secret, len(m.Vars))
		for i, v := range m.Vars {
			vars[i] = rpc.Secret{Name: v.Name, Label: v.Label, Optional: v.Optional}
		}
		s.base.Editor.Post(editor.Do(rpc.LoginSecrets{In: s.in(), Method: id, Vars: vars}))
	default:
		s.requestLogin(id)
	}
}

// openLogin lets the user log in by the agent's own program, in a terminal
// window. Lua says how that ended, see loginEnded.
func (s *Session) openLogin(m session.AuthMethod) {
	argv := slices.Concat(s.spec.Command, m.Args)
	if m.Command != "" {
		argv = append([]string{m.Command}, m.Args...)
	}
	env := map[string]string{}
	maps.Copy(env, s.spec.Env)
	maps.Copy(env, m.Env)
	dir := s.spec.Cwd
	if dir == "" {
		dir = s.base.Cwd
	}
	s.base.Editor.Post(editor.Do(rpc.LoginTerminal{In: s.in(), Title: s.base.Title, Command: argv, Env: env, Cwd: dir}))
}

// requestLogin has the agent log in by itself; that may take the user as long
// as it likes.
func (s *Session) requestLogin(id string) {
	a := s.agent
	s.requests.Do("authenticate", func(done func(error)) func() {
		return a.Authenticate(id, done)
	}, func(err error) {
		switch {
		case s.agent != a || errors.Is(err, acp.ErrClosed):
		case errors.Is(err, control.ErrGivenUp):
			s.remark("info", "authenticate was cancelled. :Acp auth tries again.")
		case err != nil:
			f := s.refusal("authenticate", err)
			f.Advice = ":Acp auth tries again."
			s.failure = f.Error()
			s.remarkFailure("error", f)
		default:
			if s.phase == authRequired {
				s.login.taken = true
			} else {
				s.remark("info", loggedIn)
			}
			a.askLogin()
			for _, user := range a.takeUsers(false) {
				user.base.Box.Put(func() { user.loggedIn(a) })
			}
		}
	})
}

// loggedIn repeats what was asked before the login in the same process.
func (s *Session) loggedIn(a *agent) {
	switch {
	case s.agent != a || s.phase != authRequired:
	case s.remote.id == "":
		s.open()
	default:
		s.goOn()
	}
}

// loginEnded is told the exit code of a login in a terminal.
func (s *Session) loginEnded(code int) {
	if code != 0 {
		s.remark("warning", fmt.Sprintf("The login ended with code %d. :Acp auth tries again.", code))
		return
	}
	s.login.taken = true
	s.reconnect()
}

// secrets takes the variables of a login that the user was asked for.
func (s *Session) secrets(method string, values map[string]string) {
	maps.DeleteFunc(values, func(_, value string) bool { return value == "" })
	s.host.keepSecrets(s.spec.Name, values)
	s.login.by = method
	s.reconnect()
}

// reconnect starts the agent again after a login outside of its process, and
// with it the agent's other processes that wait for a login.
func (s *Session) reconnect() {
	if s.prompts.Working() {
		s.remark("info", "The agent is working; :Acp restart lets it use the login.")
		return
	}
	s.host.others(s, func(other *Session) {
		if other.spec.Name == s.spec.Name && other.phase == authRequired {
			other.restart()
		}
	})
	s.restart()
}

// logout logs out of the agent, where it has a request for that.
func (s *Session) logout() {
	switch {
	case s.agent == nil:
		s.base.Editor.Notify("warning", s.base.Title+" is not running")
		return
	case !s.info.LogsOut:
		s.base.Editor.Notify("warning", s.base.Title+" offers no logout")
		return
	}
	a := s.agent
	s.requests.Do("logout", a.Logout, func(err error) {
		switch {
		case s.agent != a:
		case err != nil:
			s.base.Editor.Notify("warning", s.refusal("logout", err).Sentence)
		default:
			s.host.keepSecrets(s.spec.Name, nil)
			s.remark("info", "You are logged out.")
			a.askLogin()
		}
	})
}

// keepSecrets remembers what the user gave to log in with an agent, for the
// environment of its processes: in memory only, and told to nobody else.
func (h *Host) keepSecrets(agent string, values map[string]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if values == nil {
		delete(h.secrets, agent)
		return
	}
	all := maps.Clone(h.secrets[agent])
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, values)
	h.secrets[agent] = all
}

// withoutSecrets blots out in an agent's last words what the user gave to log
// in with it.
func (h *Host) withoutSecrets(agent, text string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, value := range h.secrets[agent] {
		text = strings.ReplaceAll(text, value, "***")
	}
	for _, value := range h.hidden[agent] {
		text = strings.ReplaceAll(text, value, "***")
	}
	return text
}

// hide keeps the values that MCP servers of an agent's are given out of what is told of it. What is short may be any
// word: only where it is such a value the traffic leaves it out.
func (h *Host) hide(agent string, values []string) {
	h.traffic.Agent(agent).Hide(values)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, value := range values {
		if len(value) >= acp.LeastHidden && !slices.Contains(h.hidden[agent], value) {
			h.hidden[agent] = append(h.hidden[agent], value)
		}
	}
}

// unhide is for values that are no secrets any more.
func (h *Host) unhide(agent string, values []string) {
	h.traffic.Agent(agent).Unhide(values)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hidden[agent] = slices.DeleteFunc(h.hidden[agent], func(value string) bool { return slices.Contains(values, value) })
}

// others runs f for every session but one, each on its own goroutine.
func (h *Host) others(than *Session, f func(*Session)) {
	h.mu.Lock()
	sessions := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	for _, s := range sessions {
		if s != than {
			s.base.Box.Put(func() { f(s) })
		}
	}
}
