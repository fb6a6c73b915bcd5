package login

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/remark"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/featuretest"
)

// scene is the login of a session.
type scene struct {
	*Login
	*featuretest.Session
	requests *control.Requests
	puppet   *featuretest.Agent
	agent    session.Agent
	info     session.Info
	working  bool
	waits    bool
}

func play(t *testing.T, test func(s *scene)) {
	featuretest.Play(t, func(on *featuretest.Session) {
		s := &scene{
			Session: on, puppet: on.NewAgent(), requests: control.New(on.Base, func(text string) string { return text }),
			info: session.Info{LogsOut: true, TellsLogin: true, AuthMethods: []session.AuthMethod{
				{ID: "web", Name: "Browser", Type: session.AuthAgent},
				{ID: "tty", Name: "Terminal", Type: session.AuthTerminal, Args: []string{"login"}, Env: map[string]string{"TERM": "dumb"}},
				{ID: "key", Name: "Key", Type: session.AuthEnvVar, Vars: []session.AuthVar{{Name: "KEY", Label: "Your key"}}},
			}},
		}
		s.agent = s.puppet
		s.Login = New(on.Base, Config{
			Command: []string{"puppet", "--acp"}, Env: map[string]string{"A": "1"}, Cwd: "/there", Advice: "Run puppet login.",
			Requests:  s.requests,
			Remarks:   remark.New(remark.Config{Apply: on.Apply, Changed: on.Changed}),
			Agent:     func() session.Agent { return s.agent },
			Info:      func() session.Info { return s.info },
			Working:   func() bool { return s.working },
			Waits:     func() bool { return s.waits },
			Wait:      func() { s.waits = true },
			Failed:    func(why string) { s.Did("failed:", why) },
			LoggedIn:  on.Note("logged in"),
			Reconnect: on.Note("reconnect"),
			Keep:      func(values map[string]string) { s.Did("keep", values) },
		})
		test(s)
	})
}

func (s *scene) authenticate(method string) {
	s.On(func() { s.Authenticate(rpc.Authenticate{In: rpc.In{Session: 1}, MethodID: method}) })
}

// over has the session go on, as a login did.
func (s *scene) over() {
	s.On(func() {
		s.waits = false
		for _, f := range s.Over() {
			f()
		}
	})
}

func TestALoginIsNeeded(t *testing.T) {
	play(t, func(s *scene) {
		s.On(func() { s.After(s.Note("what waited")) })
		why := "Puppet needs you to log in first. Run puppet login. :Acp auth logs in from here: Browser, Terminal, Key. What you asked is kept."
		s.Expect("failed: "+why, "remark warning: "+why)
		s.authenticate("web")
		s.authenticate("web")
		s.Expect("asked authenticate web", "notice warning: a login is already under way. :Acp cancel gives up on it")
		s.puppet.Answer(nil, nil)
		s.Expect("asked who is logged in", "logged in") // which is said when it was enough
		s.over()
		s.Expect("remark info: You are logged in.", "what waited")
		s.over()
		s.Expect()

		s.info.AuthMethods = nil
		s.On(s.Need)
		why = "Puppet needs you to log in first. Run puppet login. Then :Acp restart. What you asked is kept."
		s.Expect("failed: "+why, "remark warning: "+why)
	})
}

func TestALoginWasNotEnough(t *testing.T) {
	play(t, func(s *scene) {
		s.waits = true
		s.authenticate("web")
		s.puppet.Answer(nil, nil)
		s.On(s.Need)
		why := "Puppet needs you to log in first. The last login was not enough: a key may be missing. Run puppet login. " +
			":Acp auth logs in from here: Browser, Terminal, Key. What you asked is kept."
		s.Expect("asked authenticate web", "asked who is logged in", "logged in", "failed: "+why, "remark warning: "+why)
		s.On(s.Need) // for something else
		why = strings.Replace(why, " The last login was not enough: a key may be missing.", "", 1)
		s.Expect("failed: "+why, "remark warning: "+why)
	})
}

// Nothing waits for a login that the user began by themselves.
func TestTheUserLogsIn(t *testing.T) {
	play(t, func(s *scene) {
		s.authenticate("web")
		s.puppet.Answer(nil, nil)
		s.Expect("asked authenticate web", "remark info: You are logged in.", "asked who is logged in", "logged in")
		s.over()
		s.Expect()
	})
}

func TestALoginFails(t *testing.T) {
	play(t, func(s *scene) {
		s.authenticate("web")
		s.puppet.Answer(nil, featuretest.Refused("no browser"))
		failed := "Puppet refused authenticate: no browser. :Acp auth tries again."
		s.Expect("asked authenticate web", "failed: "+failed, "remark error: "+failed)
		s.authenticate("web")
		s.On(func() { s.requests.GiveUp() })
		s.Expect("asked authenticate web", "cancelled authenticate web", "remark info: The login was cancelled. :Acp auth tries again.")
		s.puppet.Answer(nil, nil) // too late
		s.authenticate("web")
		s.puppet.Answer(nil, fmt.Errorf("read: %w", acp.ErrClosed)) // the end of the process is told
		s.authenticate("web")
		s.agent = s.NewAgent()
		s.puppet.Answer(nil, nil)
		s.Expect("asked authenticate web", "asked authenticate web")

		s.authenticate("fax")
		s.agent = nil
		s.authenticate("web")
		s.Expect(`notice warning: Puppet has no login "fax"`, "notice warning: Puppet is not running. :Acp restart starts it")
	})
}

func TestALoginInATerminal(t *testing.T) {
	play(t, func(s *scene) {
		s.authenticate("tty")
		s.info.AuthMethods[1].Command = "puppet-login"
		s.authenticate("tty")
		rest := " Env:map[A:1 TERM:dumb] Cwd:/there}"
		s.Expect("login_terminal {In:{Session:1} Title:Puppet Command:[puppet --acp login]"+rest,
			"login_terminal {In:{Session:1} Title:Puppet Command:[puppet-login login]"+rest)
		s.On(func() { s.Ended(rpc.LoginEnded{Code: 2}) })
		s.Expect("remark warning: The login ended with code 2. :Acp auth tries again.")
		s.On(func() { s.Ended(rpc.LoginEnded{}) })
		s.Expect("reconnect")
		s.working = true
		s.On(func() { s.Ended(rpc.LoginEnded{}) })
		s.Expect("remark info: The agent is working; :Acp restart lets it use the login.")
		s.over()
		s.Expect("remark info: You are logged in.")
	})
}

// Some agents want to be asked, beside having the variables.
func TestALoginByVariables(t *testing.T) {
	play(t, func(s *scene) {
		s.authenticate("key")
		s.Expect("login_secrets {In:{Session:1} Method:key Vars:[{Name:KEY Label:Your key Optional:false}]}")
		s.On(func() {
			s.Secrets(rpc.Secrets{MethodID: "key", Values: map[string]string{"KEY": "sesame", "EMPTY": ""}})
		})
		s.Expect("keep map[KEY:sesame]", "reconnect")
		s.On(s.Need)
		if s.Changes == 0 {
			t.Error("Lua is not told")
		}
		s.puppet.Answer(nil, nil)
		s.Expect("asked authenticate key", "asked who is logged in", "logged in")
		s.On(s.Need) // the user is to say more
		why := "Puppet needs you to log in first. The last login was not enough: a key may be missing. Run puppet login. " +
			":Acp auth logs in from here: Browser, Terminal, Key. What you asked is kept."
		s.Expect("failed: "+why, "remark warning: "+why)
	})
}

func TestLogout(t *testing.T) {
	play(t, func(s *scene) {
		s.On(s.Logout)
		s.puppet.Answer(nil, featuretest.Refused("not now"))
		s.Expect("asked logout", "notice warning: Puppet refused logout: not now.")
		s.On(s.Logout)
		s.puppet.Answer(nil, nil)
		s.Expect("asked logout", "keep map[]", "remark info: You are logged out.", "asked who is logged in")
		s.info.LogsOut = false
		s.On(s.Logout)
		s.agent = nil
		s.On(s.Logout)
		s.Expect("notice warning: Puppet offers no logout", "notice warning: Puppet is not running")
	})
}
