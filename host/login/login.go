// Package login lets the user log in to the agent of a session: the agent does it by itself, or it needs a program in a
// terminal, or variables that the user is asked for.
package login

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
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/remark"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// Config is what the login of a session needs from it. The functions are called on the session's goroutine.
type Config struct {
	Command []string          // that starts the agent
	Env     map[string]string // of its process
	Cwd     string            // of its process
	Advice  string            // how to log in, one sentence; "" where the configuration says none

	Requests *control.Requests
	Remarks  *remark.Remarks
	Agent    func() session.Agent // nil while there is none
	Info     func() session.Info  // what it said of itself
	Working  func() bool          // it is working on a prompt

	Waits     func() bool             // the session waits for a login
	Wait      func()                  // the session waits for one from now on
	Failed    func(why string)        // why it waits
	LoggedIn  func()                  // lets all sessions of the agent's process continue
	Reconnect func()                  // restarts the agent's processes that wait for a login
	Keep      func(map[string]string) // keeps secrets for the agent's processes; nil forgets them
}

// Login is the state of the login that a session's agent wants. It belongs to the session's goroutine.
type Login struct {
	base    feature.Base
	config  Config
	by      string   // the method whose variables the new process has
	taken   bool     // the agent has accepted a login, and what was asked before is being asked again
	waiting []func() // what waits for it, besides opening the session and prompts
}

// New returns the login of a session that needs none yet.
func New(base feature.Base, config Config) *Login { return &Login{base: base, config: config} }

const loggedIn = "You are logged in."

// Need says that the agent wants the user to log in. What was asked of it waits: opening is repeated, a prompt is kept,
// and everything else goes through [Login.After].
func (l *Login) Need() {
	l.config.Wait()
	if id := l.by; id != "" { // the variables were not enough
		l.by = ""
		l.request(id)
		l.base.Changed()
		return
	}
	var names []string
	for _, m := range l.config.Info().AuthMethods {
		names = append(names, m.Name)
	}
	parts := []string{l.base.Title + " needs you to log in first."}
	if l.taken { // without checking the login
		l.taken = false
		parts = append(parts, "The last login was not enough: a key may be missing.")
	}
	if l.config.Advice != "" {
		parts = append(parts, l.config.Advice)
	}
	if len(names) > 0 {
		parts = append(parts, ":Acp auth logs in from here: "+strings.Join(names, ", ")+".")
	} else {
		parts = append(parts, "Then :Acp restart.")
	}
	why := strings.Join(append(parts, "What you asked is kept."), " ")
	l.config.Failed(why)
	l.base.Remark("warning", why)
}

// After calls f when the user has logged in.
func (l *Login) After(f func()) {
	l.waiting = append(l.waiting, f)
	l.Need()
}

// Over says that no login is needed any more, and returns what was waiting.
func (l *Login) Over() []func() {
	if l.taken {
		l.base.Remark("info", loggedIn)
	}
	waiting := l.waiting
	l.by, l.taken, l.waiting = "", false, nil
	return waiting
}

// Authenticate begins to log in by a method that the user chose.
func (l *Login) Authenticate(m rpc.Authenticate) {
	methods := l.config.Info().AuthMethods
	i := slices.IndexFunc(methods, func(known session.AuthMethod) bool { return known.ID == m.MethodID })
	switch {
	case l.config.Agent() == nil:
		l.base.Editor.Notify("warning", l.base.Title+" is not running. :Acp restart starts it")
		return
	case i < 0:
		l.base.Editor.Notify("warning", fmt.Sprintf("%s has no login %q", l.base.Title, m.MethodID))
		return
	case l.config.Requests.Open("authenticate"):
		l.base.Editor.Notify("warning", "a login is already under way. :Acp cancel gives up on it")
		return
	}
	switch method := methods[i]; method.Type {
	case session.AuthTerminal:
		l.openTerminal(method)
	case session.AuthEnvVar:
		vars := make([]rpc.Secret, len(method.Vars))
		for i, v := range method.Vars {
			vars[i] = rpc.Secret{Name: v.Name, Label: v.Label, Optional: v.Optional}
		}
		l.base.Editor.Post(editor.Do(rpc.LoginSecrets{In: m.In, Method: method.ID, Vars: vars}))
	default:
		l.request(method.ID)
	}
}

// openTerminal lets the user log in with the agent's own program, in a terminal window. Lua reports how that ended, see
// [Login.Ended].
func (l *Login) openTerminal(m session.AuthMethod) {
	argv := slices.Concat(l.config.Command, m.Args)
	if m.Command != "" {
		argv = append([]string{m.Command}, m.Args...)
	}
	env := map[string]string{}
	maps.Copy(env, l.config.Env)
	maps.Copy(env, m.Env)
	l.base.Editor.Post(editor.Do(rpc.LoginTerminal{
		In: rpc.In{Session: l.base.Session}, Title: l.base.Title, Command: argv, Env: env, Cwd: l.config.Cwd,
	}))
}

// request has the agent log in by itself; the user may take as long as they like.
func (l *Login) request(id string) {
	agent := l.config.Agent()
	l.config.Requests.Do("authenticate", func(done func(error)) func() {
		return agent.Authenticate(id, done)
	}, func(err error) {
		switch {
		case l.config.Agent() != agent || errors.Is(err, acp.ErrClosed):
		case errors.Is(err, control.ErrGivenUp):
			l.base.Remark("info", "The login was cancelled. :Acp auth tries again.")
		case err != nil:
			f := l.config.Requests.Refusal("authenticate", err)
			f.Advice = ":Acp auth tries again."
			l.config.Failed(f.Error())
			l.config.Remarks.Fail("error", f)
		default:
			if l.config.Waits() {
				l.taken = true
			} else {
				l.base.Remark("info", loggedIn)
			}
			l.askWho(agent)
			l.config.LoggedIn()
		}
	})
}

// askWho asks the agent who is logged in now, if it can tell.
func (l *Login) askWho(agent session.Agent) {
	if l.config.Info().TellsLogin {
		agent.AskLogin()
	}
}

// Ended handles the exit code of a login in a terminal.
func (l *Login) Ended(m rpc.LoginEnded) {
	if m.Code != 0 {
		l.base.Remark("warning", fmt.Sprintf("The login ended with code %d. :Acp auth tries again.", m.Code))
		return
	}
	l.taken = true
	l.reconnect()
}

// Secrets takes the variables of a login that the user was asked for.
func (l *Login) Secrets(m rpc.Secrets) {
	maps.DeleteFunc(m.Values, func(_, value string) bool { return value == "" })
	l.config.Keep(m.Values)
	l.by = m.MethodID
	l.reconnect()
}

// reconnect restarts the agent after a login outside its process.
func (l *Login) reconnect() {
	if l.config.Working() {
		l.base.Remark("info", "The agent is working; :Acp restart lets it use the login.")
		return
	}
	l.config.Reconnect()
}

// Logout logs out of the agent, if it has a request for that.
func (l *Login) Logout() {
	agent := l.config.Agent()
	switch {
	case agent == nil:
		l.base.Editor.Notify("warning", l.base.Title+" is not running")
		return
	case !l.config.Info().LogsOut:
		l.base.Editor.Notify("warning", l.base.Title+" offers no logout")
		return
	}
	l.config.Requests.Do("logout", agent.Logout, func(err error) {
		switch {
		case l.config.Agent() != agent:
		case err != nil:
			l.base.Editor.Notify("warning", l.config.Requests.Refusal("logout", err).Sentence)
		default:
			l.config.Keep(nil)
			l.base.Remark("info", "You are logged out.")
			l.askWho(agent)
		}
	})
}
