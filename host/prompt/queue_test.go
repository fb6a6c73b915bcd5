package prompt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// queueAlone is a queue with a session and an agent of which there is no more than what the queue sees.
type queueAlone struct {
	Queue
	ready   bool
	gathers bool // something goes along with each prompt
	done    []string
}

func (o *queueAlone) proceed() {
	for {
		next, some := o.next(o.ready)
		if !some {
			return
		}
		text := Text(next.blocks)
		switch next.action {
		case sending:
			o.say("send", text)
			if !o.gathers {
				o.Opened()
			}
		case sendingAgain:
			o.say("again", text)
		case steering:
			o.say("steer", text)
		case cancelling:
			o.stopIt()
		case resuming:
			o.say("resume")
			o.resume()
		case queueing:
			o.say("queue", text)
		case editing:
			o.say("edit")
		}
	}
}

func (o *queueAlone) say(words ...string) {
	o.done = append(o.done, strings.TrimSpace(strings.Join(words, " ")))
}

// stopIt is what a session does to cancel.
func (o *queueAlone) stopIt() {
	what := "cancel nothing"
	if o.Working() {
		what = "cancel"
		o.Stop()
	}
	o.say(what, fmt.Sprint(o.Pause()))
}

func (o *queueAlone) submit(d *draft) *draft {
	o.add(d)
	o.proceed()
	return d
}

func (o *queueAlone) prompt(text string) { o.submit(written(prompting, text)) }

func (o *queueAlone) submitCancel() {
	if o.cancel() {
		o.stopIt()
	}
	o.proceed()
}

// endTurn is the agent's answer.
func (o *queueAlone) endTurn() {
	o.Ended()
	o.proceed()
}

// read is told that the attachment of a draft has been read.
func (o *queueAlone) read(d *draft) {
	o.attach(d, d.prompts[0], 1, session.ResourceLink{URI: "file:///a"})
	o.proceed()
}

func written(action action, text string) *draft {
	if text == "" {
		return newDraft(action, prompt{})
	}
	return newDraft(action, prompt{blocks: wordsOf(text)})
}

// attaching is a prompt with a file that is to be read.
func attaching(action action, text string) *draft {
	return newDraft(action, prompt{blocks: append(wordsOf(text), nil), attached: map[int]attachment{1: file{path: "/a"}}})
}

func wordsOf(text string) []session.Content { return []session.Content{session.Text{Text: text}} }

func TestQueue(t *testing.T) {
	for name, c := range map[string]struct {
		do    func(o *queueAlone)
		done  string
		queue string
	}{
		"one after the other": {func(o *queueAlone) {
			o.prompt("a")
			o.prompt("b")
			o.prompt("c")
			o.endTurn()
			o.endTurn()
			o.endTurn()
		}, "send a, queue b, queue c, send b, send c", ""},
		"before the agent is ready": {func(o *queueAlone) {
			o.ready = false
			o.prompt("a")
			o.prompt("b")
			o.ready = true
			o.proceed()
		}, "queue a, queue b, send a", "b"},
		"an attachment is overtaken by nothing": {func(o *queueAlone) {
			a := o.submit(attaching(prompting, "a"))
			o.prompt("b")
			o.submit(&draft{action: editing, prompts: []prompt{{blocks: wordsOf("c")}}})
			o.read(a)
		}, "send a, queue b, edit", "c, b"},
		"what gathers is overtaken by nothing": {func(o *queueAlone) {
			o.gathers = true
			o.prompt("a")
			o.prompt("b")
			o.proceed()
			o.Opened()
			o.proceed()
		}, "send a, queue b", "b"},
		"what gathers goes back to its place": {func(o *queueAlone) {
			o.gathers = true
			o.prompt("a")
			o.prompt("b")
			o.ready = false
			o.putBack()
			o.proceed()
		}, "send a, queue b", "a, b"},
		"what cannot be sent lets the next go": {func(o *queueAlone) {
			o.gathers, o.ready = true, false
			o.prompt("a")
			o.prompt("b")
			o.ready = true
			o.proceed()
			o.prompt("c")
			o.dropped()
			o.proceed()
		}, "queue a, queue b, send a, send b", ""},
		"a cancel pauses the queue, an empty prompt goes on": {func(o *queueAlone) {
			o.prompt("a")
			o.prompt("b")
			o.prompt("c")
			o.submitCancel()
			o.submitCancel()
			o.endTurn()
			o.prompt("")
			o.endTurn()
		}, "send a, queue b, queue c, cancel 2, cancel 0, resume, send b, send c", ""},
		"a prompt goes ahead of a paused queue": {func(o *queueAlone) {
			o.prompt("a")
			o.prompt("b")
			o.submitCancel()
			o.endTurn()
			o.prompt("c")
			o.prompt("d")
			o.endTurn()
		}, "send a, queue b, cancel 1, send c, queue d", "b, d"},
		"an emptied queue is not paused": {func(o *queueAlone) {
			o.prompt("a")
			o.prompt("b")
			o.submitCancel()
			o.endTurn()
			o.submit(&draft{action: editing, was: []string{"b"}})
			o.prompt("c")
			o.prompt("d")
			o.endTurn()
		}, "send a, queue b, cancel 1, edit, send c, queue d, send d", ""},
		"a cancel without a queue pauses nothing": {func(o *queueAlone) {
			o.prompt("a")
			o.submitCancel()
			o.prompt("b")
			o.endTurn()
		}, "send a, cancel 0, queue b, send b", ""},
		"a cancel is for what was sent just before": {func(o *queueAlone) {
			a := o.submit(attaching(prompting, "a"))
			o.submitCancel()
			o.prompt("b")
			o.read(a)
			o.endTurn()
		}, "send a, cancel 0, queue b, send b", ""},
		"a cancel waits for what gathers": {func(o *queueAlone) {
			o.gathers = true
			o.prompt("a")
			o.submitCancel()
			o.Opened()
			o.proceed()
		}, "send a, cancel 0", ""},
		"a cancel waits for what is behind what gathers": {func(o *queueAlone) {
			o.gathers = true
			o.prompt("a")
			o.prompt("b")
			o.submitCancel()
			o.Opened()
			o.proceed()
		}, "send a, queue b, cancel 1", "b"},
		"a cancel holds what is being read, also when the turn ends first": {func(o *queueAlone) {
			o.prompt("a")
			b := o.submit(attaching(prompting, "b"))
			c := o.submit(attaching(steering, "c"))
			o.prompt("")
			o.submitCancel()
			o.endTurn()
			o.read(b)
			o.read(c)
			o.prompt("")
		}, "send a, cancel 2, queue b, queue c, resume, send b", "c"},
		"a change of the queue that is being read is held too": {func(o *queueAlone) {
			o.prompt("a")
			b := attaching(editing, "b")
			o.submit(b)
			o.submitCancel()
			o.endTurn()
			o.read(b)
		}, "send a, cancel 1, edit", "b"},
		"a change of the queue that is being read counts as the queue": {func(o *queueAlone) {
			o.prompt("a")
			o.prompt("b")
			c := attaching(editing, "c")
			c.was = []string{"b"}
			o.submit(c)
			o.submitCancel()
			o.endTurn()
			o.read(c)
		}, "send a, queue b, cancel 1, edit", "c"},
		"a queue is paused for what is still to come into it": {func(o *queueAlone) {
			o.prompt("a")
			o.prompt("b")
			c := attaching(editing, "a") // the user has not seen yet that it was sent
			c.was = []string{"a", "b"}
			o.submit(c)
			d := o.submit(attaching(prompting, "d"))
			o.submitCancel()
			o.endTurn()
			o.read(c)
			o.read(d)
		}, "send a, queue b, cancel 2, edit, queue d", "d"},
		"words that do not steer are a prompt before what came since": {func(o *queueAlone) {
			o.prompt("a")
			o.submit(written(steering, "b"))
			c := o.submit(attaching(prompting, "c"))
			o.instead(wordsOf("b"))
			o.proceed()
			o.read(c)
			o.endTurn()
		}, "send a, steer b, queue b, queue c, send b", "c"},
		"empty words that steer go on with the queue": {func(o *queueAlone) {
			o.submit(written(steering, ""))
		}, "resume", ""},
		"a login": {func(o *queueAlone) {
			o.prompt("a")
			o.prompt("b")
			o.ready = false
			o.Interrupt(wordsOf("a as it was sent"))
			o.proceed()
			o.prompt("c")
			o.ready = true
			o.proceed()
			o.endTurn()
		}, "send a, queue b, queue c, again a as it was sent, send b", "c"},
		"a turn that ends before the login": {func(o *queueAlone) {
			o.prompt("a")
			o.prompt("b")
			o.ready = false
			o.Interrupt(wordsOf("a"))
			o.endTurn()
			o.ready = true
			o.proceed()
		}, "send a, queue b, send b", ""},
		"before all that wait": {func(o *queueAlone) {
			o.prompt("a")
			o.prompt("b")
			o.first(wordsOf("c"))
			o.endTurn()
		}, "send a, queue b, send c", "b"},
	} {
		o := &queueAlone{ready: true}
		c.do(o)
		check.Equal(t, strings.Join(o.done, ", "), c.done, "%s: what was done is\n  %s", name)
		check.Equal(t, strings.Join(o.Queued(), ", "), c.queue, "%s: %q wait", name)
	}
}

// What Lua lists of unsaved text holds for a prompt that is sent at once; for one that waits it is asked again.
func TestUnsavedTextIsListedWhenAPromptIsSent(t *testing.T) {
	listed := func(q *Queue) bool {
		next, _ := q.next(true)
		_, place := withoutUnsaved(next.blocks)
		if next.action != sending || place.room != 5 {
			t.Errorf("to be done is %+v, with room for %d bytes", next, place.room)
		}
		return place.listed != nil
	}
	blocks := []session.Content{session.Text{Text: "a"}, unsavedText{room: 5, listed: &[]rpc.UnsavedBuf{}}}
	now := newDraft(prompting, prompt{blocks: blocks})
	q := &Queue{}
	if q.add(now); !listed(q) {
		t.Error("a prompt that is sent at once has no list")
	}
	q.putBack()
	if listed(q) {
		t.Error("a prompt that was put back has its old list")
	}
	q.Opened()
	q.add(newDraft(prompting, prompt{blocks: blocks}))
	q.next(true)
	q.Ended()
	if listed(q) {
		t.Error("a prompt that has waited for a turn has its old list")
	}
	q.Opened()
	q.Ended()
	q.instead(blocks)
	if listed(q) {
		t.Error("words that could not steer have their old list")
	}
}

// An answer counts for the attempt that it answers, while the agent works on it.
func TestAttempts(t *testing.T) {
	o := &queueAlone{ready: true}
	o.prompt("a")
	first := o.attempt
	if !o.Awaits(first) || !o.TurnOpen() || !o.Working() {
		t.Error("no answer is awaited to what was sent")
	}
	o.Stop()
	if !o.Awaits(first) || !o.TurnOpen() || !o.Working() {
		t.Error("no answer is awaited to what was cancelled")
	}
	o.Interrupt(wordsOf("a"))
	if o.Awaits(first) || !o.TurnOpen() || o.Working() {
		t.Error("an answer is awaited before the login")
	}
	o.proceed()
	if o.Awaits(first) || !o.Awaits(o.attempt) || o.stage != running {
		t.Error("the old answer counts after the login")
	}
	second := o.attempt
	o.endTurn()
	if o.Awaits(second) || o.TurnOpen() {
		t.Error("an answer is awaited after the end of the turn")
	}
	o.prompt("b")
	if o.Awaits(second) {
		t.Error("the answer counts in the next turn")
	}
}

func TestEditsOfTheQueue(t *testing.T) {
	for _, c := range []struct{ queue, was, left, want string }{
		{"a b c", "a b c", "c a", "c a"},
		{"b c", "a b c", "c b a", "c b"}, // a was sent
		{"a b c", "a b", "b", "b c"},     // c came since
		{"a", "a", "x a y", "x a y"},     // new ones
		{"a a b", "a a b", "a b", "a b"}, // the same words twice
		{"a", "a a", "a a", "a"},         // one of them was sent
		{"a b", "a b", "", ""},           // all gone
		{"", "", "a", "a"},               // into an empty one
		{"a b", "a b", "a b changed", "a b changed"},
	} {
		var o Queue
		for i, text := range strings.Fields(c.queue) {
			o.enqueue(append(wordsOf(text), session.ResourceLink{URI: fmt.Sprint(text, i)}))
		}
		before := o.queue
		var left []prompt
		for _, text := range strings.Fields(c.left) {
			left = append(left, prompt{blocks: wordsOf(text)})
		}
		o.edit(strings.Fields(c.was), left)
		check.Equal(t, strings.Join(o.Queued(), " "), c.want,
			"of %q, seen as %q, %q is left: the queue is %q", c.queue, c.was, c.left)
		for _, blocks := range o.queue {
			same := func(b []session.Content) bool { return Text(b) == Text(blocks) }
			if i := slices.IndexFunc(before, same); i >= 0 && len(blocks) != len(before[i]) {
				t.Errorf("of %q %q is left: %v has lost what was attached", c.queue, c.left, blocks)
			}
		}
	}
}

// A prompt without words is not in the buffer of the queue, so it cannot be deleted there.
func TestEditsKeepWhatHasNoWords(t *testing.T) {
	var o Queue
	o.enqueue([]session.Content{session.Image{}})
	if o.edit([]string{""}, nil); len(o.queue) != 1 {
		t.Error("the prompt is gone")
	}
}

// Whatever happens, in any order: each prompt is in one place, none is sent twice, and what can go on does.
func TestNoPromptIsLost(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		o := &queueAlone{ready: true, gathers: random.IntN(2) == 0}
		quiet := random.IntN(3) == 0 // nobody cancels, steers or drops: the order stays
		var all, reading []string
		drafts := map[string]*draft{}
		for range 60 {
			switch op := random.IntN(12); op {
			case 0, 1, 2, 3:
				text := fmt.Sprint("p", len(all))
				all = append(all, text)
				action := prompting
				if op == 3 && !quiet {
					action = steering
				}
				if random.IntN(2) == 0 {
					drafts[text] = o.submit(attaching(action, text))
					reading = append(reading, text)
				} else {
					o.submit(written(action, text))
				}
			case 4, 5:
				if len(reading) > 0 {
					i := random.IntN(len(reading))
					o.read(drafts[reading[i]])
					reading = slices.Delete(reading, i, i+1)
				}
			case 6:
				if !quiet {
					o.submitCancel()
				}
			case 7:
				o.prompt("")
			case 8:
				if o.Working() {
					o.endTurn()
				}
			case 9:
				if o.Working() {
					o.ready = false
					o.Interrupt(wordsOf(lastSent(o.done)))
				}
				o.proceed()
			case 10:
				if o.stage == gathering {
					switch {
					case !o.ready:
						o.putBack()
						o.say("back")
					case !quiet && random.IntN(3) == 0:
						o.dropped()
					default:
						o.Opened()
					}
				}
				o.proceed()
			case 11:
				o.ready = !o.ready || o.TurnOpen() && random.IntN(2) == 0
				o.proceed()
			}

			places := map[string]int{}
			for i, did := range o.done {
				what, text, _ := strings.Cut(did, " ")
				switch {
				case what == "back":
					places[lastSent(o.done[:i])]--
				case what == "send", what == "steer":
					places[text]++
				}
			}
			for _, text := range o.Queued() {
				places[text]++
			}
			for _, d := range o.drafts {
				if len(d.prompts) > 0 && len(d.prompts[0].blocks) > 0 {
					places[Text(d.prompts[0].blocks)]++
				}
			}
			for _, text := range all {
				if places[text] != 1 {
					t.Fatalf("seed %d: %s is in %d places: %v, %v wait", seed, text, places[text], o.done, o.Queued())
				}
			}
			if o.ready && o.stage == idle && !o.paused && (len(o.queue) > 0 || len(o.drafts) > 0 && o.drafts[0].missing == 0) {
				t.Fatalf("seed %d: something can go on: %v, %v wait", seed, o.done, o.Queued())
			}
			if o.paused && len(o.queue) == 0 && !slices.ContainsFunc(o.drafts, func(d *draft) bool { return d.held }) {
				t.Fatalf("seed %d: nothing is paused: %v", seed, o.done)
			}
		}
		if quiet {
			var order []string
			for _, did := range o.done {
				what, text, _ := strings.Cut(did, " ")
				switch what {
				case "send":
					order = append(order, text)
				case "back":
					order = order[:len(order)-1]
				}
			}
			if !slices.Equal(order, all[:len(order)]) {
				t.Fatalf("seed %d: sent in the order %v", seed, order)
			}
		}
	}
}

// lastSent is what was sent last.
func lastSent(done []string) string {
	for _, did := range slices.Backward(done) {
		if text, is := strings.CutPrefix(did, "send "); is {
			return text
		}
	}
	return ""
}
