package options

import (
	"maps"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/remark"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/featuretest"
)

// scene is the options of a session whose agent has a mode, a model and a way to think.
type scene struct {
	*Options
	*featuretest.Session
	puppet *featuretest.Agent
	agent  session.Agent
	ready  bool
	login  func() // what waits for it
}

func play(t *testing.T, configured map[string]string, test func(s *scene)) {
	featuretest.Play(t, func(on *featuretest.Session) {
		s := &scene{Session: on, puppet: on.NewAgent(), ready: true}
		s.agent = s.puppet
		on.Conversation().Apply(session.OptionsUpdate{Options: offered("ask", "small", "low")})
		s.Options = New(on.Base, Config{
			Conversation: on.Conversation(),
			Requests:     control.New(on.Base, func(text string) string { return text }),
			Remarks:      remark.New(remark.Config{Apply: on.Apply, Changed: on.Changed}),
			Configured:   maps.Clone(configured),
			Agent:        func() session.Agent { return s.agent },
			ID:           func() string { return "s" },
			Ready:        func() bool { return s.ready },
			AfterLogin: func(f func()) {
				s.login = f
				s.Did("waits for a login")
			},
			Apply: on.Apply,
			Begun: on.Note("begun"),
		})
		test(s)
	})
}

func offered(mode, model, thought string) []session.Option {
	return []session.Option{
		{ID: "m1", Name: "Mode", Category: "mode", Value: mode},
		{ID: "m2", Name: "Model", Category: "model", Value: model},
		{ID: "mode", Name: "Thinking", Category: "thought_level", Value: thought},
	}
}

func TestTheUserSetsAnOption(t *testing.T) {
	play(t, nil, func(s *scene) {
		set := func(name, value string) { s.On(func() { s.Set(rpc.SetOption{ID: name, Value: value}) }) }
		s.ready = false
		set("m2", "large")
		s.ready = true
		set("colour", "red")
		s.Expect("notice warning: Puppet is not ready yet", `notice warning: Puppet has no option "colour"`)

		set("model", "large") // a category
		s.puppet.Answer(nil, nil)
		set("mode", "high") // an id comes before a category
		s.puppet.Answer(offered("ask", "large", "high"), nil)
		s.Expect("asked set m2 = large in s", "option m2 = large", "asked set mode = high in s", "options 3")
		if s.Changes == 0 {
			t.Error("Lua is not told")
		}

		set("m2", "huge")
		s.puppet.Answer(nil, featuretest.Refused("no such model"))
		s.Expect("asked set m2 = huge in s", "notice warning: Puppet did not change Model: no such model")

		set("m2", "huge")
		s.puppet.Answer(nil, featuretest.ErrLogin)
		s.Expect("asked set m2 = huge in s", "waits for a login")
		s.On(s.login)
		s.agent = s.NewAgent() // the process that was asked has gone
		s.puppet.Answer(nil, nil)
		s.Expect("asked set m2 = huge in s")
	})
}

func TestConfiguredOptions(t *testing.T) {
	play(t, map[string]string{"thought_level": "high", "model": "large", "m1": "ask", "colour": "red"}, func(s *scene) {
		s.On(s.Begin)
		s.puppet.Answer(offered("ask", "large", "none"), nil) // one brings another
		s.puppet.Answer(nil, featuretest.Refused("too expensive"))
		s.Expect("asked set m2 = large in s", "options 3", "asked set mode = high in s",
			"remark warning: Puppet did not take thought_level = high: too expensive",
			`remark warning: Puppet has no option "colour", which your configuration sets.`, "begun")
	})
}

// A login in the same process goes on where it was; a new process is asked for all of them by another Begin.
func TestConfiguredOptionsNeedALogin(t *testing.T) {
	play(t, map[string]string{"m1": "code", "m2": "large"}, func(s *scene) {
		s.On(s.Begin)
		s.puppet.Answer(nil, nil)
		s.puppet.Answer(nil, featuretest.ErrLogin)
		s.Expect("asked set m1 = code in s", "option m1 = code", "asked set m2 = large in s", "waits for a login")
		s.On(s.login)
		s.puppet.Answer(nil, featuretest.ErrLogin)
		s.Expect("asked set m2 = large in s", "waits for a login")
		s.agent = s.NewAgent()
		s.On(s.login)
		s.Expect()
	})
}
