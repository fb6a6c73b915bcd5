package prompt

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
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
	changed     int // how often Lua is to be told
	box         *mailbox.Mailbox
	editor      *editor.Editor
}

func newScene() *scene {
	s := &scene{ready: true, box: mailbox.New()}
	s.editor = editor.New(s)
	s.Prompts = New(Config{
		Base: feature.Base{
			Title: "Puppet", Editor: s.editor, Changed: func() { s.changed++ }, Box: s.box,
			Remark:     func(severity, text string) { s.did(severity, text) },
			Background: func(f func()) { f() },
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

// later does what the background has put into the session's mailbox, and lets nothing more into it.
func (s *scene) later() {
	s.box.Close()
	s.box.Run()
}

// Batch is Neovim's end of the editor.
func (s *scene) Batch(ops []any) ([]any, time.Duration, error) {
	answers := make([]any, len(ops))
	for i, op := range ops {
		if n, ok := op.([]any)[1].(rpc.Notify); ok {
			s.did("told " + n.Text)
		}
		answers[i] = []any{true, nil}
	}
	return answers, 0, nil
}

func (s *scene) did(words ...string) { s.done = append(s.done, strings.Join(words, " ")) }

func (s *scene) write(blocks ...rpc.Content) { s.Prompt(rpc.Prompt{Blocks: blocks}) }

func words(text string) rpc.Content { return rpc.Content{Type: "text", Text: text} }

const back = "Puppet had not taken your words: they wait in the queue."

func TestPromptsAreSent(t *testing.T) {
	image, unsaved := rpc.Content{Type: "image", MimeType: "image/png"}, rpc.Content{Type: "unsaved"}
	none := rpc.Content{Type: "unsaved", Files: new([]rpc.UnsavedBuf)}
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
		"what the agent does not take, and what waits behind it": {func(s *scene) {
			s.write(words("a"), image, none)
			s.write(words("b"))
			s.later()
		}, "error Puppet takes no images: the prompt was not sent., begin b 1 1", ""},
		"what the agent does take": {func(s *scene) {
			s.agent = session.Info{Images: true, Audio: true}
			s.write(words("a"), image, rpc.Content{Type: "audio", MimeType: "audio/wav", Data: "x"})
		}, "begin a 3 3", ""},
		"unsaved text that Neovim does not tell": {func(s *scene) {
			s.editor.Close()
			s.write(words("a"), unsaved)
			s.did("later")
			s.later()
		}, "later, warning Neovim was busy: unsaved text did not go along with the prompt., begin a 1 1", ""},
		"words that steer, with what goes in another way": {func(s *scene) {
			s.became = session.SteeringTaken
			s.Send("a")
			s.steer([]session.Content{session.Text{Text: "b"}, either{Content: session.Image{}, otherwise: session.ResourceLink{}, told: "it is linked"}})
		}, "begin a 1 1, warning it is linked, steer b", ""},
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
		"before all others, at once": {func(s *scene) { s.First("a") }, "begin a 1 1", ""},
		"a paused queue that goes on": {func(s *scene) {
			s.Send("a")
			s.Send("b")
			s.Pause()
			s.Ended()
			s.Proceed()
			s.did("resumed")
			s.write()
		}, "begin a 1 1, resumed, begin b 1 1", ""},
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

// A prompt whose unsaved text came when the agent had ended waits in the queue, and the user hears of it.
func TestThePromptOfAnAgentThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		go s.editor.Run()
		s.write(words("a"), rpc.Content{Type: "unsaved", Files: new([]rpc.UnsavedBuf)})
		s.ready, s.dead = false, true
		check.Equal(t, s.changed, 1, "while the text comes, Lua is told %d times")
		s.later()
		synctest.Wait()
		check.Slice(t, s.Queued(), []string{"a"}, "%q wait")
		check.Slice(t, s.done, []string{"told Puppet ended. Your prompt is kept"}, "it did %q")
		check.Equal(t, s.changed, 2, "at last, Lua is told %d times")
		s.editor.Close()
	})
}

// A prompt for an agent that has ended waits in the queue, and the user hears of it.
func TestThePromptOfAnAgentThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene()
		go s.editor.Run()
		s.ready, s.dead = false, true
		s.Send("a")
		synctest.Wait()
		check.Slice(t, s.Queued(), []string{"a"}, "%q wait")
		check.Slice(t, s.done, []string{"told Puppet ended. Your prompt is kept"}, "it did %q")
		s.editor.Close()
	})
}

// Words that cannot steer are said to wait, and why, if there is something to wait for.
func TestWordsThatDoNotSteer(t *testing.T) {
	for steers, why := range map[bool]string{false: "cannot be steered", true: "did not take them"} {
		synctest.Test(t, func(t *testing.T) {
			s := newScene()
			go s.editor.Run()
			s.agent.Steers = steers
			s.Send("a")
			s.Steer(rpc.Steer{Blocks: []rpc.Content{words("b")}})
			synctest.Wait()
			check.Equal(t, s.done[len(s.done)-1], "told your words are queued: Puppet "+why, "it says %q")
			s.editor.Close()
		})
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
