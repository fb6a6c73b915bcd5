package prompt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// scene is the prompts of a session of which there is no more than what they ask for.
type scene struct {
	*Prompts
	ready, dead bool
	agent       session.Info
	became      session.Steering         // what becomes of words that steer
	slow        bool                     // the agent does not say so at once
	sent        []func(session.Steering) // then
	done        []string
}

func newScene() *scene {
	s := &scene{ready: true}
	s.Prompts = New(Config{
		Base: feature.Base{
			Title: "Puppet", Editor: editor.New(nil), Changed: func() {},
			Remark: func(severity, text string) { s.did(severity, text) },
		},
		Ready: func() bool { return s.ready },
		Dead:  func() (string, bool) { return "Puppet ended.", s.dead },
		Agent: func() session.Info { return s.agent },
		Begin: func(t Turn) {
			s.Opened()
			s.did("begin", t.Text, fmt.Sprint(len(t.Shown), len(t.Sent)))
		},
		Steer: func(words []session.Content, done func(session.Steering)) {
			s.did("steer", Text(words))
			if s.slow {
				s.sent = append(s.sent, done)
			} else {
				done(s.became)
			}
		},
		Again:  func(sent []session.Content) { s.did("again", Text(sent)) },
		Cancel: func() { s.did("cancel") },
	})
	return s
}

func (s *scene) did(words ...string) { s.done = append(s.done, strings.Join(words, " ")) }

func (s *scene) write(blocks ...rpc.Content) { s.Prompt(rpc.Prompt{Blocks: blocks}) }

func words(text string) rpc.Content { return rpc.Content{Type: "text", Text: text} }

const back = "Puppet had not taken your words: they wait in the queue."

func TestPromptsAreSent(t *testing.T) {
	image, unsaved := rpc.Content{Type: "image", MimeType: "image/png"}, rpc.Content{Type: "unsaved"}
	for name, c := range map[string]struct {
		do    func(s *scene)
		done  string
		queue string
	}{
		"one after the other": {func(s *scene) {
			s.Send("a")
			s.write(words("b"), words("c"))
			s.Ended()
			s.Proceed()
		}, "begin a 1 1, begin b\nc 2 2", ""},
		"what the agent does not take": {func(s *scene) {
			s.write(words("a"), image)
			s.write(words("b"))
		}, "error Puppet takes no images: the prompt was not sent., begin b 1 1", ""},
		"no unsaved text for an agent that reads buffers": {func(s *scene) {
			s.Unsaved.reads.Store(true)
			s.write(words("a"), unsaved)
		}, "begin a 1 1", ""},
		"words that steer": {func(s *scene) {
			s.became = session.SteeringTaken
			s.Send("a")
			s.Steer(rpc.Steer{Blocks: []rpc.Content{words("b"), unsaved}})
		}, "begin a 1 1, steer b", ""},
		"words that the agent does not take": {func(s *scene) {
			s.Send("a")
			s.Steer(rpc.Steer{Blocks: []rpc.Content{words("b")}})
		}, "begin a 1 1, steer b", "b"},
		"words that steer nothing": {func(s *scene) {
			s.became = session.SteeringTaken
			s.Steer(rpc.Steer{Blocks: []rpc.Content{words("a")}})
		}, "begin a 1 1", ""},
		"words ahead of all that waits": {func(s *scene) {
			s.slow = true
			s.Send("a")
			s.Steer(rpc.Steer{Blocks: []rpc.Content{words("b")}})
			s.Send("c")
			s.Ended()
			s.Proceed()
			s.did("the agent takes it")
			s.sent[0](session.SteeringTaken)
		}, "begin a 1 1, steer b, the agent takes it, begin c 1 1", ""},
		"words that are given back": {func(s *scene) {
			s.slow = true
			s.Send("a")
			for _, text := range []string{"b", "c"} {
				s.Steer(rpc.Steer{Blocks: []rpc.Content{words(text)}})
			}
			s.Send("d")
			s.Ended()
			s.sent[1](session.SteeringWithdrawn)
			s.sent[0](session.SteeringWithdrawn)
		}, "begin a 1 1, steer b, steer c, info " + back + ", info " + back, "b, c, d"},
		"words that are given back with the prompt": {func(s *scene) {
			s.slow = true
			s.Send("a")
			s.Steer(rpc.Steer{Blocks: []rpc.Content{words("b")}})
			s.Return()
			s.Ended()
			s.sent[0](session.SteeringWithdrawn)
		}, "begin a 1 1, steer b, info " + back, "a, b"},
		"before all others": {func(s *scene) {
			s.ready = false
			s.Restore([]string{"a", "b"}, 0)
			s.First("c")
		}, "", "c, a, b"},
		"an edit of the queue": {func(s *scene) {
			s.ready = false
			s.Restore([]string{"a", "b"}, 0)
			s.Edit(rpc.Queue{Was: []string{"a", "b"}, Prompts: [][]rpc.Content{{words("b")}, {words("c")}}})
		}, "", "b, c"},
		"a paused queue of a dead session": {func(s *scene) {
			s.Send("a")
			s.Send("b")
			s.Pause()
			s.Ended()
			s.ready, s.dead = false, true
			s.write()
			s.ready, s.dead = true, false
			s.Proceed()
		}, "begin a 1 1", "b"},
		"after a login": {func(s *scene) {
			s.Send("a")
			s.Interrupt([]session.Content{session.Text{Text: "a as sent"}})
			s.Proceed()
		}, "begin a 1 1, again a as sent", ""},
		"a cancel": {func(s *scene) {
			s.Send("a")
			s.Prompts.Cancel()
		}, "begin a 1 1, cancel", ""},
	} {
		s := newScene()
		c.do(s)
		check.Equal(t, strings.Join(s.done, ", "), c.done, "%s: %s", name)
		check.Equal(t, strings.Join(s.Queued(), ", "), c.queue, "%s: %q wait", name)
	}
}

// The chat shows what waits, and why.
func TestWaitingPrompts(t *testing.T) {
	s := newScene()
	shows := func(closed bool) (list []string) {
		for _, w := range s.Waiting(closed) {
			list = append(list, strings.TrimSpace(Text(w.Blocks)+" "+w.Why))
		}
		return list
	}
	s.stage, s.current = gathering, []session.Content{session.Text{Text: "a"}, unsavedRoom(0)}
	s.Restore([]string{"b"}, 1)
	check.Slice(t, shows(false), []string{"a", "b waiting"}, "shown are %q")
	check.Slice(t, shows(true), []string{"a not sent", "b not sent"}, "of a closed session %q are shown")
	s.Opened()
	s.Pause()
	if got := s.Waiting(false); len(got) != 1 || got[0].Why != "paused" || !got[0].Brief || len(got[0].Blocks) != 1 {
		t.Errorf("in a turn %+v is shown", got)
	}
}
