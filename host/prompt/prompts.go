// Package prompt sends what the user writes in a session: the queue of prompts, the files attached to them, and the
// unsaved text sent with them.
package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// Config is what the prompts of a session need. Its functions are called on the session's goroutine, except Shares and
// Private.
type Config struct {
	feature.Base
	Ready  func() bool // the agent takes prompts
	Dead   func() (why string, dead bool)
	Agent  func() session.Info          // what the agent takes
	Knows  func(path, text string)      // the agent was sent the text of a file, by its path without links
	Shares func(name, real string) bool // a file's text may be sent unasked; real is its path without links. Reads the disk
	// Private reports whether a file is private; real is its path without links. Reads the disk.
	Private func(name, real string) bool

	// What happens to a prompt.

	Begin  func(Turn)                                                 // opens its turn, and calls [Queue.Opened]
	Again  func(sent []session.Content)                               // sends it once more, in its turn
	Steer  func(words []session.Content, done func(session.Steering)) // puts it into the running turn
	Cancel func()                                                     // cancels the running turn
}

// Turn is a prompt that begins a turn.
type Turn struct {
	Text  string            // the user's words
	Shown []session.Content // in the chat
	Sent  []session.Content // to the agent
}

// Prompts is what the user sends in one session. It belongs to the session's goroutine.
type Prompts struct {
	Queue
	Unsaved *Unsaved
	config  Config
}

// New returns the prompts of a session, initially none.
func New(c Config) *Prompts { return &Prompts{Unsaved: newUnsaved(c), config: c} }

// Prompt sends a prompt.
func (p *Prompts) Prompt(m rpc.Prompt) { p.submit(newDraft(prompting, decode(m.Blocks))) }

// Send is Prompt for a text.
func (p *Prompts) Send(text string) {
	p.submit(newDraft(prompting, prompt{blocks: []session.Content{session.Text{Text: text}}}))
}

// Steer puts words into the running turn, or sends them as a prompt if that is not possible.
func (p *Prompts) Steer(m rpc.Steer) { p.submit(newDraft(steering, decode(m.Blocks))) }

// Edit changes the queue.
func (p *Prompts) Edit(m rpc.Queue) {
	d := &draft{action: editing, was: m.Was}
	for _, blocks := range m.Prompts {
		d.prompts = append(d.prompts, decode(blocks))
	}
	p.submit(d)
}

// Cancel cancels what runs; what was sent just before counts as sent.
func (p *Prompts) Cancel() {
	if p.cancel() {
		p.config.Cancel()
	}
	p.Proceed()
}

// First puts a text at the head of the queue.
func (p *Prompts) First(text string) {
	p.first([]session.Content{session.Text{Text: text}})
	p.Proceed()
}

// Restore queues prompts that were waiting in a host that died; along is how many bytes of unsaved text may be sent
// with each.
func (p *Prompts) Restore(texts []string, along int) {
	for _, text := range texts {
		blocks := []session.Content{session.Text{Text: text}}
		if along > 0 {
			blocks = append(blocks, unsavedRoom(along))
		}
		p.enqueue(blocks)
	}
}

// Proceed does what is due for the user's prompts. It is called whenever the user has done something with them, and
// when the agent may take one.
func (p *Prompts) Proceed() {
	for {
		next, some := p.next(p.config.Ready())
		if !some {
			return
		}
		switch next.action {
		case sending:
			p.send(next.blocks)
		case sendingAgain:
			p.config.Again(next.blocks)
		case steering:
			p.steer(next.blocks)
		case cancelling:
			p.config.Cancel()
		case resuming:
			p.goOn()
		case queueing:
			p.keptFromDead()
			p.config.Changed()
		case editing:
			p.config.Changed()
		}
	}
}

// send begins a turn once the unsaved text to send with it has been fetched from Neovim. What the user does meanwhile
// stays after it.
func (p *Prompts) send(blocks []session.Content) {
	words, place := withoutUnsaved(blocks)
	if place.room == 0 || p.Unsaved.reads.Load() {
		p.begin(words, alongside{})
		return
	}
	p.config.Changed()
	before, embeds := maps.Clone(p.Unsaved.sent), p.config.Agent().EmbeddedContext
	p.config.Background(func() {
		along := p.Unsaved.collect(words, place, before, embeds)
		p.config.Box.Put(func() {
			if p.config.Ready() {
				p.begin(words, along)
			} else {
				p.putBack()
				p.keptFromDead()
				p.config.Changed()
			}
			p.Proceed()
		})
	})
}

func (p *Prompts) begin(words []session.Content, along alongside) {
	fitting, err := p.fit(words)
	if err != nil {
		p.dropped()
		p.config.Remark("error", err.Error()+".")
		return
	}
	for _, told := range fitting.told {
		p.config.Remark("warning", told)
	}
	if along.lost != "" {
		p.config.Remark("warning", along.lost)
	}
	p.config.Begin(Turn{
		Text:  Text(words),
		Shown: slices.Concat(fitting.shown, along.shown),
		Sent:  slices.Concat(fitting.sent, along.sent),
	})
	p.Unsaved.took(along)
}

func (p *Prompts) steer(words []session.Content) {
	plain, _ := withoutUnsaved(words)
	fitting, err := p.fit(plain)
	if err != nil || !p.TurnOpen() {
		p.queueInstead(words)
		return
	}
	for _, told := range fitting.told {
		p.config.Remark("warning", told)
	}
	sent := p.sendAhead(words)
	p.config.Changed()
	p.config.Steer(fitting.sent, func(became session.Steering) {
		switch became {
		case session.SteeringLeft:
			p.arrived(sent)
			p.queueInstead(words)
		case session.SteeringTaken, session.SteeringBegan:
			p.arrived(sent)
		case session.SteeringWithdrawn:
			p.withdrawn(sent)
			p.config.Remark("info", p.config.Title+" had not taken your words: they wait in the queue.")
		}
		p.config.Changed()
		p.Proceed()
	})
}

// queueInstead sends words as a prompt that could not steer, and says so where they wait.
func (p *Prompts) queueInstead(words []session.Content) {
	p.instead(words)
	why := "cannot be steered"
	if p.config.Agent().Steers {
		why = "did not take them"
	}
	if p.Working() {
		p.config.Editor.Notify("info", fmt.Sprintf("your words are queued: %s %s", p.config.Title, why))
	}
}

// goOn lets a paused queue go on.
func (p *Prompts) goOn() {
	if why, dead := p.config.Dead(); dead {
		p.config.Editor.Notify("warning", why)
		return
	}
	p.resume()
	p.config.Changed()
}

// keptFromDead says what happens to a prompt that was sent before Neovim knew of the agent's death.
func (p *Prompts) keptFromDead() {
	if why, dead := p.config.Dead(); dead {
		p.config.Editor.Notify("warning", why+" Your prompt is kept")
	}
}

// Waiting returns what the chat shows of the prompts that are not sent yet. The one that is gathering looks as if it
// were: it is about to be.
func (p *Prompts) Waiting(closed bool) []transcript.Waiting {
	why, begun := "waiting", ""
	switch {
	case closed:
		why, begun = "not sent", "not sent"
	case p.paused:
		why = "paused"
	}
	var list []transcript.Waiting
	add := func(blocks []session.Content, why string) {
		words, _ := withoutUnsaved(blocks)
		list = append(list, transcript.Waiting{Blocks: preferred(words), Why: why, Brief: p.TurnOpen()})
	}
	if p.stage == gathering {
		add(p.current, begun)
	}
	for _, sent := range p.ahead {
		add(sent.blocks, "sent, not taken yet")
	}
	for _, blocks := range p.queue {
		add(blocks, why)
	}
	return list
}

// Text returns the words of a prompt.
func Text(blocks []session.Content) string {
	var parts []string
	for _, b := range blocks {
		if t, ok := b.(session.Text); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}
