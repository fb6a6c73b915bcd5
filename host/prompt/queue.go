package prompt

import (
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// Queue has the user's prompts from the key that sends them until the agent has answered, in the order of the keys. It
// knows neither the agent nor Neovim: it is told what the user does and what happens to a prompt, and next says what to
// do then, see [Prompts.Proceed].
//
// A prompt is in one of six places:
//
//   - In drafts, while files attached to it are read, or to one before it. When they are (attach), next takes it out:
//     into the queue, or into the running turn if it is to steer.
//   - In queue, until the agent takes prompts, no other is under way, and the user has not paused the queue: then next
//     hands the first one out. What the user sends while nothing runs and the queue is paused overtakes it.
//   - Ahead: words for the running turn that the agent has not taken yet. It may hold them until the turn is over, so
//     nothing else is handed out before.
//   - Gathering: handed out, while what goes along with it is fetched. Nothing overtakes it. Its turn begins (Opened),
//     or it goes back into the queue as there is no agent (putBack), or the agent cannot take it (dropped).
//   - Running, or stopping once the user has cancelled it: its turn is open, and the agent works on it until the turn
//     ends (Ended), or the agent wants a login first (Interrupt).
//   - Interrupted: its turn is open, and next hands it out again when the agent takes prompts, which is after a login
//     or in a new process, unless the turn is ended before.
type Queue struct {
	drafts  []*draft
	queue   [][]session.Content
	paused  bool // the queue waits for the user
	ahead   []*ahead
	stage   stage
	written []session.Content // the prompt under way, as the user wrote it
	current []session.Content // what is gathering, as the user wrote it, or interrupted, as it was sent
	attempt int               // counts what was sent, to recognize old answers
}

// stage is where the prompt under way is.
type stage int

const (
	idle stage = iota // there is none
	gathering
	running
	stopping
	interrupted
)

// action is what the user does with prompts, and what the session has to do with them.
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

// ahead is words that were sent while a turn was running.
type ahead struct {
	blocks []session.Content
	back   bool // the agent has given them back
}

// draft is something the user has done, in order after what they did before: prompts whose attachments are being read
// must not be overtaken.
type draft struct {
	action  action // prompting, steering, editing, cancelling or resuming
	prompts []prompt
	was     []string // when editing: the words of the prompts that the user saw
	missing int      // attachments that are not read yet
	held    bool     // a cancel came after it: it waits in the queue
}

// step is what the session has to do, or what next has done itself: editing and queueing.
type step struct {
	action action
	blocks []session.Content
}

// newDraft returns the draft of a prompt. Empty words resume a paused queue.
func newDraft(action action, p prompt) *draft {
	if len(p.blocks) == 0 {
		action = resuming
	}
	return &draft{action: action, prompts: []prompt{p}}
}

// add adds what the user has done after what they did before.
func (q *Queue) add(d *draft) {
	for _, p := range d.prompts {
		d.missing += len(p.attached)
	}
	q.drafts = append(q.drafts, d)
}

// attach sets the content for a file in a draft's prompt.
func (q *Queue) attach(d *draft, p prompt, at int, content session.Content) {
	p.blocks[at] = content
	d.missing--
}

// cancel reports whether the user's cancel takes effect now. What was sent just before counts as sent, so it waits
// behind a prompt that is about to begin a turn; and drafts made while a turn runs join the queue, as they would have
// without attachments.
func (q *Queue) cancel() (now bool) {
	if !q.TurnOpen() && (len(q.drafts) > 0 || q.stage == gathering) {
		q.add(&draft{action: cancelling})
		return false
	}
	q.drafts = slices.DeleteFunc(q.drafts, func(d *draft) bool { return d.action == resuming })
	for _, d := range q.drafts {
		d.held = true
	}
	return true
}

// instead sends words that could not steer as a prompt, before what the user has done since.
func (q *Queue) instead(words []session.Content) {
	q.drafts = slices.Insert(q.drafts, 0, newDraft(prompting, prompt{blocks: waiting(words)}))
}

// enqueue puts a prompt at the end of the queue.
func (q *Queue) enqueue(blocks []session.Content) { q.queue = append(q.queue, waiting(blocks)) }

// first puts a prompt at the head of the queue.
func (q *Queue) first(blocks []session.Content) { q.queue = slices.Insert(q.queue, 0, waiting(blocks)) }

// next returns what to do now, if anything; ready says that the agent takes prompts. Whenever something has changed, it
// is called until there is nothing.
func (q *Queue) next(ready bool) (_ step, some bool) {
	free := ready && q.stage == idle && len(q.ahead) == 0
	switch {
	case q.stage == gathering:
		return step{}, false
	case q.stage == interrupted && ready:
		blocks := q.current
		q.Opened()
		return step{sendingAgain, blocks}, true
	case free && !q.paused && len(q.queue) > 0:
		blocks := q.queue[0]
		q.queue = q.queue[1:]
		return q.handOut(blocks), true
	case len(q.drafts) == 0 || q.drafts[0].missing > 0:
		return step{}, false
	}
	d := q.drafts[0]
	q.drafts = q.drafts[1:]
	switch d.action {
	case editing:
		q.edit(d.was, d.prompts)
		return step{action: editing}, true
	case cancelling, resuming:
		return step{action: d.action}, true
	}
	blocks := d.prompts[0].blocks
	switch {
	case d.action == steering && !d.held:
		return step{steering, blocks}, true
	case free && !d.held:
		return q.handOut(blocks), true
	}
	q.enqueue(blocks)
	return step{queueing, blocks}, true
}

func (q *Queue) handOut(blocks []session.Content) step {
	q.stage, q.current, q.written = gathering, blocks, blocks
	return step{sending, blocks}
}

// Opened is called when the turn of the gathering prompt begins.
func (q *Queue) Opened() {
	q.stage, q.current = running, nil
	q.attempt++
}

// putBack returns the gathering prompt to the queue, as it cannot be sent now.
func (q *Queue) putBack() {
	q.first(q.current)
	q.stage, q.current = idle, nil
}

// Return puts the prompt of the open turn back into the queue: the agent has not taken it.
func (q *Queue) Return() {
	q.ahead = slices.Insert(q.ahead, 0, &ahead{q.written, true})
	q.giveBack()
}

// giveBack puts what the agent gave back at the head of the queue, which then waits for the user. It waits until the
// fate of the others is known, to keep their order.
func (q *Queue) giveBack() {
	if slices.ContainsFunc(q.ahead, func(a *ahead) bool { return !a.back }) {
		return
	}
	for _, a := range slices.Backward(q.ahead) {
		q.first(a.blocks)
		q.paused = true
	}
	q.ahead = nil
}

// sendAhead notes that words are on their way into the running turn.
func (q *Queue) sendAhead(blocks []session.Content) *ahead {
	sent := &ahead{blocks: blocks}
	q.ahead = append(q.ahead, sent)
	return sent
}

// arrived notes that the agent has taken the words, or left them to be sent otherwise; withdrawn, that it gave them
// back.
func (q *Queue) arrived(sent *ahead) {
	q.ahead = slices.DeleteFunc(q.ahead, func(a *ahead) bool { return a == sent })
	q.giveBack()
}

func (q *Queue) withdrawn(sent *ahead) {
	sent.back = true
	q.giveBack()
}

// SentAhead returns the words that the agent has but has not taken yet.
func (q *Queue) SentAhead() []string {
	var texts []string
	for _, a := range q.ahead {
		texts = append(texts, Text(a.blocks))
	}
	return texts
}

// dropped forgets the gathering prompt: it cannot be sent at all.
func (q *Queue) dropped() { q.stage, q.current = idle, nil }

// Interrupt keeps what was sent, to be sent again in the same turn.
func (q *Queue) Interrupt(sent []session.Content) { q.stage, q.current = interrupted, sent }

// Stop notes that the user has cancelled the running turn.
func (q *Queue) Stop() { q.stage = stopping }

// Ended is called when the turn has ended.
func (q *Queue) Ended() { q.stage, q.current, q.written = idle, nil, nil }

// TurnOpen reports whether a turn has begun and not ended.
func (q *Queue) TurnOpen() bool { return q.stage >= running }

// Working reports whether the agent is working on a prompt, cancelled or not.
func (q *Queue) Working() bool { return q.stage == running || q.stage == stopping }

// Awaits reports whether the answer to an attempt is still of interest.
func (q *Queue) Awaits(attempt int) bool { return q.Working() && q.attempt == attempt }

// Attempt returns the number of the last attempt, for Awaits.
func (q *Queue) Attempt() int { return q.attempt }

// Idle reports whether no prompt is under way.
func (q *Queue) Idle() bool { return q.stage == idle }

// Stopping reports whether the user has cancelled the turn, and the agent has not ended it yet.
func (q *Queue) Stopping() bool { return q.stage == stopping }

// Interrupted reports whether the prompt of the turn waits to be sent again.
func (q *Queue) Interrupted() bool { return q.stage == interrupted }

// Paused reports whether the queue waits for the user.
func (q *Queue) Paused() bool { return q.paused }

// Queued returns the words of the prompts in the queue.
func (q *Queue) Queued() []string {
	var texts []string
	for _, blocks := range q.queue {
		texts = append(texts, Text(blocks))
	}
	return texts
}

// Pause makes the queue wait for the user, and returns how many prompts now do; 0 if there are none, or they already
// did.
func (q *Queue) Pause() int {
	waiting := len(q.queue)
	for _, d := range q.drafts {
		switch {
		case !d.held:
		case d.action == editing:
			waiting = len(d.prompts)
		default:
			waiting++
		}
	}
	if waiting == 0 || q.paused {
		return 0
	}
	q.paused = true
	return waiting
}

// resume resumes a paused queue.
func (q *Queue) resume() { q.paused = false }

// edit sets the prompts that the user left in the queue; was are the words of those that the user saw. What has been
// sent since is not queued again, and what has arrived since stays, as does a prompt without words. Prompts with
// unchanged words keep their attachments. An empty queue is no longer paused.
func (q *Queue) edit(was []string, prompts []prompt) {
	seen := map[string]int{}
	for _, text := range was {
		seen[strings.TrimSpace(text)]++
	}
	kept := map[string][][]session.Content{}
	var added [][]session.Content
	for _, blocks := range q.queue {
		if text := strings.TrimSpace(Text(blocks)); text != "" && seen[text] > 0 {
			seen[text]--
			kept[text] = append(kept[text], blocks)
		} else {
			added = append(added, blocks)
		}
	}
	q.queue = nil
	for _, p := range prompts {
		text := strings.TrimSpace(Text(p.blocks))
		switch {
		case len(kept[text]) > 0:
			q.enqueue(kept[text][0])
			kept[text] = kept[text][1:]
		case seen[text] > 0:
			seen[text]-- // it was sent
		default:
			q.enqueue(p.blocks)
		}
	}
	q.queue = append(q.queue, added...)
	if len(q.queue) == 0 && !slices.ContainsFunc(q.drafts, func(d *draft) bool { return d.held }) {
		q.paused = false
	}
}
