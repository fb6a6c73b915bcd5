package opening

import (
	"fmt"
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/editortools"
	"github.com/acp-nvim/acp-nvim/host/history"
	"github.com/acp-nvim/acp-nvim/host/mcp"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/remark"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/featuretest"
)

// scene is a session that is not open in its agent, which resumes and loads.
type scene struct {
	*Opening
	*featuretest.Session
	requests *control.Requests
	puppet   *featuretest.Agent
	agent    Agent
	info     session.Info
}

func play(t *testing.T, test func(s *scene), settings ...func(*scene, *Config)) {
	featuretest.Play(t, func(on *featuretest.Session) {
		s := &scene{
			Session: on, puppet: on.NewAgent(), info: session.Info{Protocol: 1, Resumes: true, Loads: true},
			requests: control.New(on.Base, func(text string) string { return text }),
		}
		s.agent = s.puppet
		config := Config{
			Requests: s.requests,
			Remarks:  remark.New(remark.Config{Apply: on.Apply, Changed: on.Changed}),
			Servers: mcp.New(on.Base, mcp.Config{
				Policy: func() *policy.Policy { return nil }, Hide: func([]string) {},
			}),
			Tools:  editortools.NewTools(on.Base, nil, editortools.ToolsConfig{Info: func() session.Info { return s.info }}),
			Agent:  func() Agent { return s.agent },
			Info:   func() session.Info { return s.info },
			Record: func(past []history.Said) { s.Did("record after", len(past)) },
			Apply:  on.Apply,
			Bring:  func(u session.Update) { s.Did("brought", text(u)) },
			New:    on.Note("new"),
			Ready:  on.Note("ready"),
			Login:  on.Note("login"),
			Die:    func(err error) { s.Did("died:", err) },
		}
		for _, set := range settings {
			set(s, &config)
		}
		s.Opening = New(on.Base, config)
		test(s)
	})
}

func said(role session.Role, words string) session.Update {
	return session.MessageChunk{MessageID: words, Role: role, Content: session.Text{Text: words}}
}

func text(u session.Update) string {
	if chunk, ok := u.(session.MessageChunk); ok {
		return chunk.Content.(session.Text).Text
	}
	return fmt.Sprintf("%T", u)
}

func (s *scene) open() { s.On(s.Open) }

func opened(id string) session.Setup { return session.Setup{SessionID: id} }

func TestANewSession(t *testing.T) {
	play(t, func(s *scene) {
		s.open()
		s.puppet.Answer(session.Setup{SessionID: "a", Options: make([]session.Option, 2), Commands: []session.Command{{}}}, nil)
		s.Expect("await name", "asked new", "route a", "named", "record after 0", "session.SessionStart", "session.CommandsUpdate", "new")
		if s.ID() != "a" || s.Stored() != "a" || s.Repeats() || len(s.Conversation().Options) != 2 {
			t.Errorf("id %q, stored %q, repeats %v", s.ID(), s.Stored(), s.Repeats())
		}
		s.On(s.Closed)
		s.On(s.Closed)
		s.Expect("unroute a")
		if s.ID() != "" || s.Stored() != "a" {
			t.Errorf("closed: id %q, stored %q", s.ID(), s.Stored())
		}

		s.On(func() { // it is left before its MCP servers are found, and opened twice
			s.Open()
			s.Left()
		})
		s.Again(false)
		s.On(func() {
			s.Open()
			s.Open()
		})
		s.puppet.Answer(opened("b"), nil)
		s.Expect("await name", "asked new", "route b", "named", "record after 0", "session.SessionStart", "new")
		if s.On(s.Left); s.ID() != "" || s.Stored() != "b" {
			t.Errorf("left: id %q, stored %q", s.ID(), s.Stored())
		}
	})
}

// Which request takes up a session that the agent keeps, and what becomes of what it repeats: what the chat shows
// already is not brought again.
func TestHowASessionIsTakenUp(t *testing.T) {
	for name, c := range map[string]struct {
		protocol       int
		resumes, loads bool
		retold         bool
		known          []history.Prompt
		asked          string
		brought        []string // of what it repeats, when the answer has come
	}{
		"nothing is shown":            {1, true, true, false, nil, "load x", []string{"brought hi", "brought hello"}},
		"nothing is shown, version 2": {2, true, true, false, nil, "load x", []string{"brought hi", "brought hello"}},
		"it cannot load":              {1, true, false, false, nil, "resume x", []string{"brought hi", "brought hello"}},
		"all is shown":                {1, true, true, true, nil, "resume x", []string{"brought hi", "brought hello"}},
		"all is shown, it only loads": {1, false, true, true, nil, "load x", nil},
		"a kept transcript":           {1, true, true, false, []history.Prompt{{{"hi"}}}, "load x", nil},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *scene) {
				s.info.Protocol, s.info.Resumes, s.info.Loads = c.protocol, c.resumes, c.loads
				s.Known(c.known)
				s.TakeUp("x", c.retold)
				s.open()
				s.Expect("forget early x", "route x", "record after 0", "session.SessionStart", "asked "+c.asked)
				s.On(func() {
					s.Hear(said(session.RoleUser, "hi"))
					s.Hear(said(session.RoleAgent, "hello"))
					s.Hear(session.OptionsUpdate{}) // which is of the present, and repeats nothing
				})
				s.Expect(append(slices.Clip(c.brought), "brought session.OptionsUpdate")...)
				s.puppet.Answer(session.Setup{SessionID: "x", Options: make([]session.Option, 2), Commands: []session.Command{{}}}, nil)
				want := []string{"route x", "options 2", "session.CommandsUpdate"}
				if c.retold {
					want = append(want, "remark info: Started again: the agent remembers what was said above.")
				}
				s.Expect(append(want, "session.Cancelling", "ready")...)
				s.Prompted()
				s.On(func() { s.Hear(said(session.RoleAgent, "new")) })
				s.Expect("brought new")
				if s.Again(false); s.Stored() != "x" { // it was not made here
					t.Error("it is forgotten")
				}
			})
		})
	}
}

// What was said elsewhere since the transcript was kept comes when the agent has told all it tells.
func TestASessionWentOnElsewhere(t *testing.T) {
	play(t, func(s *scene) {
		s.Known([]history.Prompt{{{"hi"}}})
		s.TakeUp("x", false)
		s.open()
		s.On(func() {
			s.Hear(said(session.RoleUser, "hi"))
			s.Hear(said(session.RoleAgent, "hello"))
			s.Hear(said(session.RoleUser, "elsewhere"))
			s.Hear(session.OptionsUpdate{})
		})
		s.Expect("forget early x", "route x", "record after 0", "session.SessionStart", "asked load x", "brought session.OptionsUpdate")
		s.puppet.Answer(opened("x"), nil)
		s.Expect("route x", "remark info: The session went on elsewhere:", "brought elsewhere", "session.Cancelling", "ready")
	})
}

func TestASessionThatCannotBeTakenUp(t *testing.T) {
	play(t, func(s *scene) {
		s.info.Resumes, s.info.Loads = false, false
		s.TakeUp("x", false)
		s.open()
		s.Expect("died: Puppet cannot resume stored sessions. :Acp new starts a new one.")
		s.TakeUp("x", true) // what is shown stays, in a new one
		s.open()
		s.puppet.Answer(opened("y"), nil)
		s.Expect("await name", "asked new", "route y", "named", "record after 0", "session.SessionStart",
			"remark info: Started again: the agent does not remember what was said above.", "new")
	})
}

func TestTheAgentRefusesToTakeUp(t *testing.T) {
	begun := []string{"forget early x", "route x", "record after 0", "session.SessionStart", "asked resume x"}
	for name, c := range map[string]struct {
		err    error
		retold bool
		want   []string
	}{
		"a login is needed": {featuretest.ErrLogin, true, []string{"login"}},
		"a shown one goes on as a new one": {featuretest.Refused("lost"), true, []string{
			"remark warning: Puppet could not resume the session: lost", "await name", "asked new",
		}},
		"another has nothing to go on with": {featuretest.Refused("lost"), false, []string{
			"died: Puppet refused session/resume: lost. :Acp restart tries again, :Acp traffic shows what was said.",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *scene) {
				s.info.Loads = false
				s.TakeUp("x", c.retold)
				s.open()
				s.Expect(begun...)
				s.puppet.Answer(nil, c.err)
				s.Expect(append([]string{"unroute x"}, c.want...)...)
			})
		})
	}
	t.Run("what the new one tells is new", func(t *testing.T) {
		play(t, func(s *scene) {
			s.info.Resumes = false
			s.TakeUp("x", true)
			s.open()
			s.puppet.Answer(nil, featuretest.Refused("lost"))
			s.puppet.Answer(opened("y"), nil)
			s.On(func() { s.Hear(said(session.RoleAgent, "hello")) })
			s.Expect("forget early x", "route x", "record after 0", "session.SessionStart", "asked load x", "unroute x",
				"remark warning: Puppet could not resume the session: lost", "await name", "asked new", "route y", "named",
				"record after 0", "session.SessionStart", "remark info: Started again: the agent does not remember what was said above.",
				"new", "brought hello")
		})
	})
	t.Run("the process has ended", func(t *testing.T) { // which is told elsewhere
		play(t, func(s *scene) {
			s.open()
			s.puppet.Answer(nil, fmt.Errorf("read: %w", acp.ErrClosed))
			s.Expect("await name", "asked new", "named")
		})
	})
}

// What the agent opens for nobody any more it may free.
func TestASessionIsOpenedForNobody(t *testing.T) {
	play(t, func(s *scene) {
		s.open()
		s.agent = nil
		s.puppet.Answer(opened("a"), nil)
		s.Expect("await name", "asked new", "route a", "named", "discard a")
		s.agent = s.puppet
		s.open()
		s.On(s.requests.Drop)
		s.puppet.Answer(opened("b"), nil)
		s.Expect("await name", "asked new", "cancelled new", "route b", "discard b", "named")
	})
}

// An agent that can say so is asked first whether it knows the session, and to take it out of the archive.
func TestBeforeASessionIsTakenUp(t *testing.T) {
	play(t, func(s *scene) {
		s.info.Statuses, s.info.Archives = true, true
		s.TakeUp("x", true)
		s.Archived()
		s.open()
		s.puppet.Answer(nil, featuretest.Refused("no such method")) // says nothing of the session
		s.puppet.Answer(nil, featuretest.Refused("locked"))
		s.Expect("asked status x", "asked unarchive x", "remark warning: Puppet could not resume the session: locked",
			"await name", "asked new")
		s.On(s.requests.Drop)
		s.open()
		s.Expect("cancelled new", "asked status x")
		s.On(s.requests.Drop)
		s.Expect("cancelled status x")
	})
	play(t, func(s *scene) {
		s.info.Statuses, s.info.Archives = true, true
		s.TakeUp("x", false)
		s.Archived()
		s.open()
		s.puppet.Answer(nil, nil)
		s.puppet.Answer(nil, nil)
		s.Expect("asked status x", "asked unarchive x", "forget early x", "route x", "record after 0", "session.SessionStart", "asked load x")
		s.puppet.Answer(nil, featuretest.Refused("busy"))
		s.Expect("unroute x", "died: Puppet refused session/load: busy. :Acp restart tries again, :Acp traffic shows what was said.")
		s.info.Protocol = 2
		s.open()
		s.puppet.Answer(nil, nil)
		s.puppet.Answer(nil, featuretest.Refused("busy"))
		s.Expect("asked status x", "forget early x", "route x", "record after 0", "session.SessionStart", "asked load x", "unroute x",
			"died: Puppet refused session/resume: busy. :Acp restart tries again, :Acp traffic shows what was said.")
		s.open()
		s.puppet.Answer(nil, featuretest.ErrUnknown)
		s.Expect("asked status x", "died: Puppet refused session/status: unknown. :Acp restart tries again, :Acp traffic shows what was said.")
	})
}

func TestAFork(t *testing.T) {
	play(t, func(s *scene) {
		s.From(&Fork{Session: 2, ID: "x", After: "m3", Past: make([]history.Said, 4)})
		s.open()
		s.On(func() { s.Hear(said(session.RoleUser, "hi")) }) // the chat shows it already
		s.puppet.Answer(opened("y"), nil)
		s.Expect("await name", `asked fork x {"after":"m3","directories":null,"prompt":{"Text":"","Own":false}}`, "route y", "named",
			"record after 4", "session.SessionStart", "remark info: Forked from session 2, which stays as it is.", "ready")
		s.Again(false) // what was said before the fork is in it
		s.Again(true)
		s.open()
		s.Expect("forget early y", "route y", "record after 0", "session.SessionStart", "asked resume y")
	})
}

// What an agent does not take is not sent, and the user is told.
func TestWhatASessionIsOpenedWith(t *testing.T) {
	ask := func(info session.Info, mode string, want ...string) {
		t.Helper()
		play(t, func(s *scene) {
			s.info = info
			s.open()
			s.Expect(want...)
		}, func(s *scene, config *Config) {
			config.SystemPrompt = rpc.SystemPrompt{Text: "Be brief.", Mode: mode}
			s.Base.Roots = append(s.Base.Roots, "/more")
		})
	}
	const (
		folder = "remark warning: Puppet works in one folder only: it is not told of the others, but may still read them."
		none   = "remark warning: Puppet takes no system prompt: the one in your configuration is not sent."
		added  = "remark warning: Puppet keeps its own instructions: your system prompt is added to them."
	)
	ask(session.Info{}, "", none, folder, "await name", "asked new")
	ask(session.Info{SystemPrompt: true, Directories: true}, "override", added, "await name",
		`asked new {"after":"","directories":["/more"],"prompt":{"Text":"Be brief.","Own":false}}`)
	ask(session.Info{SystemPrompt: true, OwnSystemPrompt: true, Directories: true}, "override", "await name",
		`asked new {"after":"","directories":["/more"],"prompt":{"Text":"Be brief.","Own":true}}`)
}
