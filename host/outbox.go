package host

import (
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// outbox has the user's prompts from the key that sends them until the agent has answered, in the order of the
// keys. It belongs to the session's goroutine, and knows neither the agent nor Neovim: it is told what the user
// does and what becomes of a prompt, and [outbox.next] says what is to be done then, see [Session.proceed].
//
// A prompt is in one of five places:
//
//   - In drafts, while files attached to it are read, or to one before it. When they are ([outbox.attach]), next
//     takes it out: into the queue, or into the running turn if it is to steer.
//   - In queue, until the agent takes prompts, no other is under way, and the user has not paused the queue: then
//     next hands the first one out. What the user sends while nothing runs and the queue is paused overtakes it.
//   - Gathering: handed out, while what goes along with it is fetched. Nothing overtakes it. The session says what
//     becomes of it: its turn begins (opened), it goes back into the queue as there is no agent (putBack), or the
//     agent cannot take it (dropped).
//   - Running, or stopping once the user has cancelled it: its turn is open, and the agent works on it until the
//     session says that the turn has ended (ended), or that the agent wants a login first (interrupt).
//   - Interrupted: its turn is open, and next hands it out again when the agent takes prompts, which is after a
//     login or in a new process, unless the turn is ended before.
type outbox struct {
	drafts  []*draft
	queue   [][]session.Content
	paused  bool // the queue waits for the user
	stage   stage
	current []session.Content // what gathers, as the user wrote it, or is interrupted, as it was sent
	attempt int               // counts what was sent, so that an old answer is known as such
}

// stage is where the prompt is that is under way.
type stage int

const (
	idle stage = iota // there is none
	gathering
	running
	stopping
	interrupted
)

// action is what the user does with prompts, and what the session is to do with them.
type action int

const (
	prompting    action = iota // the user sends a prompt
	steering                   // words go into the running turn
	editing                    // the user changes the queue
	cancelling                 // what runs is cancelled
	resuming                   // a paused queue goes on
	queueing                   // a prompt has come into the queue
	sending                    // a prompt goes to the agent
	sendingAgain               // a prompt goes to the agent once more, in its turn
)

// draft is what the user has done, in its place behind what the user did
// before: prompts whose attachments are being read must not be overtaken.
type draft struct {
	action  action // prompting, steering, editing, cancelling or resuming
	prompts []prompt
	was     []string // when editing: the words of the prompts that the user saw
	missing int      // attachments that are not read yet
	held    bool     // a cancel came behind it: it waits in the queue
}

// step is what the session is to do, or what next has done: editing and queueing.
type step struct {
	action action
	blocks []session.Content
}

// newDraft is the draft of a prompt. Empty words let a paused queue go on.
func newDraft(action action, p prompt) *draft {
	if len(p.blocks) == 0 {
		action = resuming
	}
	return &draft{action: action, prompts: []prompt{p}}
}

// add puts what the user has done behind what they did before.
func (o *outbox) add(d *draft) {
	for _, p := range d.prompts {
		d.missing += len(p.attached)
	}
	o.drafts = append(o.drafts, d)
}

// attach gives a prompt of a draft what stands for a file in it.
func (o *outbox) attach(d *draft, p prompt, at int, content session.Content) {
	p.blocks[at] = content
	d.missing--
}

// cancel reports whether the user's cancel is for now. What was sent just before counts as sent, so it waits
// behind a prompt that is about to begin a turn; and what is a draft still while a turn runs joins the queue, as
// it would have without attachments.
func (o *outbox) cancel() (now bool) {
	if !o.turnOpen() && (len(o.drafts) > 0 || o.stage == gathering) {
		o.add(&draft{action: cancelling})
		return false
	}
	o.drafts = slices.DeleteFunc(o.drafts, func(d *draft) bool { return d.action == resuming })
	for _, d := range o.drafts {
		d.held = true
	}
	return true
}

// instead has words that could not steer sent as a prompt, before what the user has done since.
func (o *outbox) instead(words []session.Content) {
	o.drafts = slices.Insert(o.drafts, 0, newDraft(prompting, prompt{blocks: words}))
}

// enqueue puts a prompt behind all others of the queue.
func (o *outbox) enqueue(blocks []session.Content) { o.queue = append(o.queue, blocks) }

// first puts a prompt before all others of the queue.
func (o *outbox) first(blocks []session.Content) { o.queue = slices.Insert(o.queue, 0, blocks) }

// next gives what is to be done now, if anything; ready tells whether the agent takes prompts. It is called
// until there is nothing, whenever something has changed.
func (o *outbox) next(ready bool) (_ step, some bool) {
	free := ready && o.stage == idle
	switch {
	case o.stage == gathering:
		return step{}, false
	case o.stage == interrupted && ready:
		blocks := o.current
		o.opened()
		return step{sendingAgain, blocks}, true
	case free && !o.paused && len(o.queue) > 0:
		blocks := o.queue[0]
		o.queue = o.queue[1:]
		return o.handOut(blocks), true
	case len(o.drafts) == 0 || o.drafts[0].missing > 0:
		return step{}, false
	}
	d := o.drafts[0]
	o.drafts = o.drafts[1:]
	switch d.action {
	case editing:
		o.edit(d.was, d.prompts)
		return step{action: editing}, true
	case cancelling, resuming:
		return step{action: d.action}, true
	}
	blocks := d.prompts[0].blocks
	switch {
	case d.action == steering && !d.held:
		return step{steering, blocks}, true
	case free && !d.held:
		return o.handOut(blocks), true
	}
	o.enqueue(blocks)
	return step{queueing, blocks}, true
}

func (o *outbox) handOut(blocks []session.Content) step {
	o.stage, o.current = gathering, blocks
	return step{sending, blocks}
}

// opened is told that the turn of the prompt that gathers begins.
func (o *outbox) opened() {
	o.stage, o.current = running, nil
	o.attempt++
}

// putBack has the prompt that gathers wait again, as it cannot be sent now.
func (o *outbox) putBack() {
	o.first(o.current)
	o.stage, o.current = idle, nil
}

// dropped is told that the prompt that gathers cannot be sent at all.
func (o *outbox) dropped() { o.stage, o.current = idle, nil }

// interrupt keeps what was sent, to be sent again in the same turn.
func (o *outbox) interrupt(sent []session.Content) { o.stage, o.current = interrupted, sent }

// stop notes that the user has cancelled the turn that runs.
func (o *outbox) stop() { o.stage = stopping }

// ended is told that the turn has ended.
func (o *outbox) ended() { o.stage, o.current = idle, nil }

// turnOpen tells whether AcpTurnStart was told, and AcpTurnEnd not yet.
func (o *outbox) turnOpen() bool { return o.stage >= running }

// working tells whether the agent works on a prompt, cancelled or not.
func (o *outbox) working() bool { return o.stage == running || o.stage == stopping }

// awaits tells whether the answer to an attempt is still of interest.
func (o *outbox) awaits(attempt int) bool { return o.working() && o.attempt == attempt }

// pause has the queue wait for the user, and returns how many prompts do so then; none where there are none, or
// they did before.
func (o *outbox) pause() int {
	waiting := len(o.queue)
	for _, d := range o.drafts {
		switch {
		case !d.held:
		case d.action == editing:
			waiting = len(d.prompts)
		default:
			waiting++
		}
	}
	if waiting == 0 || o.paused {
		return 0
	}
	o.paused = true
	return waiting
}

// resume lets a paused queue go on.
func (o *outbox) resume() { o.paused = false }

// edit gives the queue the prompts that the user left in it; was are the
// words of those that the user saw. What has been sent since is not queued
// again, and what has come since stays, as does a prompt without words. What
// was attached to a prompt whose words are as before stays attached. A queue
// that is empty now is not paused any more.
func (o *outbox) edit(was []string, prompts []prompt) {
	seen := map[string]int{}
	for _, text := range was {
		seen[strings.TrimSpace(text)]++
	}
	kept := map[string][][]session.Content{}
	var added [][]session.Content
	for _, blocks := range o.queue {
		if text := strings.TrimSpace(promptText(blocks)); text != "" && seen[text] > 0 {
			seen[text]--
			kept[text] = append(kept[text], blocks)
		} else {
			added = append(added, blocks)
		}
	}
	o.queue = nil
	for _, p := range prompts {
		text := strings.TrimSpace(promptText(p.blocks))
		switch {
		case len(kept[text]) > 0:
			o.enqueue(kept[text][0])
			kept[text] = kept[text][1:]
		case seen[text] > 0:
			seen[text]-- // it was sent
		default:
			o.enqueue(p.blocks)
		}
	}
	o.queue = append(o.queue, added...)
	if len(o.queue) == 0 && !slices.ContainsFunc(o.drafts, func(d *draft) bool { return d.held }) {
		o.paused = false
	}
}
