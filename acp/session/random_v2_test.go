package session

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/spec"
)

// This file gives random updates of all kinds to version 2's adapter, and to a model that was written from the text of
// the specification.

var (
	rounds = flag.Int("rounds", 300, "random stories told in version 2")
	seed   = flag.Uint64("seed", 1, "of the first of them")
)

// told is what a client makes of a session's updates: the conversation, and terminals as an owner of them has them.
type told struct {
	silent
	c         *Conversation
	terminals map[string]*spec.Terminal
}

func (o *told) Works(string, OwnWork) {}

func (o *told) Update(_ string, u Update) {
	of := func(id string) *spec.Terminal {
		if o.terminals[id] == nil {
			o.terminals[id] = &spec.Terminal{}
		}
		return o.terminals[id]
	}
	switch u := u.(type) {
	case TerminalPatch:
		t := of(u.ID)
		patchAny(&t.Command, u.Command)
		patchAny(&t.Cwd, u.Cwd)
		if !u.Output.IsZero() {
			t.Output = slices.Clone(u.Output.Or(nil))
		}
		if exit, ok := u.Exit.Get(); ok {
			t.Exit = exit
		} else if u.Exit.IsNull() {
			t.Exit = nil
		}
	case TerminalChunk:
		t := of(u.ID)
		t.Output = append(t.Output, u.Data...)
	default:
		o.c.Apply(u)
	}
}

func patchAny[T any](into *any, o acp.Opt[T]) {
	if v, ok := o.Get(); ok {
		*into = v
	} else if o.IsNull() {
		*into = nil
	}
}

// inWords puts content blocks of the spec.Object into words; text beside text is one.
func inWords(blocks []any) string {
	var b strings.Builder
	for _, block := range blocks {
		switch block := block.(spec.Object); block["type"] {
		case "text":
			b.WriteString(block["text"].(string))
		default:
			fmt.Fprintf(&b, "[%s %s]", block["name"], block["uri"])
		}
	}
	return fmt.Sprintf("%q", b.String())
}

func wordsOf(content []Content) string {
	var b strings.Builder
	for _, c := range content {
		switch c := c.(type) {
		case Text:
			b.WriteString(c.Text)
		case ResourceLink:
			fmt.Fprintf(&b, "[%s %s]", c.Name, c.URI)
		default:
			fmt.Fprintf(&b, "[%T]", c)
		}
	}
	return fmt.Sprintf("%q", b.String())
}

// specified puts a state into words, as told.String does.
func specified(s *spec.State) string {
	var b strings.Builder
	for _, key := range s.Order {
		switch kind, id, _ := strings.Cut(key, " "); kind {
		case "compaction":
			c := s.Compactions[id]
			summary, _ := c["summary"].([]any)
			problem, _ := c["error"].(string)
			fmt.Fprintf(&b, "%s %s %s %q\n", key, c["status"], inWords(summary), problem)
		case "plan":
			var list []string
			for _, e := range s.Plans[id] {
				e := e.(spec.Object)
				list = append(list, fmt.Sprint(e["content"], e["priority"], e["status"]))
			}
			if list != nil { // else it is taken back
				fmt.Fprintf(&b, "%s %v\n", key, list)
			}
		case "call":
			c := s.Calls[id]
			or := func(field, none string) string {
				if v, ok := c[field].(string); ok {
					return v
				}
				return none
			}
			var items, places []string
			content, _ := c["content"].([]any)
			for _, item := range content {
				if item := item.(spec.Object); item["type"] == "terminal" {
					items = append(items, "terminal "+item["terminalId"].(string))
				} else {
					items = append(items, inWords([]any{item["content"]}))
				}
			}
			locations, _ := c["locations"].([]any)
			for _, l := range locations {
				places = append(places, fmt.Sprint(l.(spec.Object)["path"], l.(spec.Object)["line"]))
			}
			fmt.Fprintf(&b, "%s %q %q %s %s %v %v\n", key, or("title", ""), or("name", ""), or("kind", "other"), or("status", "pending"), items, places)
		default:
			fmt.Fprintf(&b, "%s %s\n", key, inWords(s.Messages[key]))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Terminals)) {
		t := s.Terminals[id]
		exit := "runs"
		if e, ended := t.Exit.(spec.Object); ended {
			switch {
			case e["signal"] != nil:
				exit = "killed by " + e["signal"].(string)
			case e["exitCode"] != nil:
				exit = fmt.Sprintf("exited with code %d", e["exitCode"])
			default:
				exit = "ended"
			}
		}
		fmt.Fprintf(&b, "terminal %s %v %v %q %s\n", id, t.Command, t.Cwd, t.Output, exit)
	}
	title, _ := s.Title.(string)
	cost := "none"
	if c, ok := s.Cost.(spec.Object); ok {
		cost = fmt.Sprintf("%d %s", c["amount"], c["currency"])
	}
	fmt.Fprintf(&b, "title %q used %d cost %s\n", title, s.Used, cost)
	var calls, terminals []string
	items, _ := s.Background.([]any)
	for _, item := range items {
		if item := item.(spec.Object); item["type"] == "terminal" {
			terminals = append(terminals, item["terminalId"].(string))
		} else {
			calls = append(calls, item["toolCallId"].(string))
		}
	}
	fmt.Fprintf(&b, "background %v %v\n", calls, terminals)
	return b.String()
}

func (o *told) String() string {
	var b strings.Builder
	for at, e := range o.c.Entries {
		switch e := e.(type) {
		case *Message:
			role := map[Role]string{RoleUser: "user_message", RoleAgent: "agent_message", RoleThought: "agent_thought"}[e.Role]
			var content []Content
			for _, p := range e.Parts {
				if p.Content != nil {
					content = append(content, p.Content)
				} else {
					content = append(content, Text{string(p.Text)})
				}
			}
			fmt.Fprintf(&b, "%s %s %s\n", role, e.ID, wordsOf(content))
		case *Compaction:
			fmt.Fprintf(&b, "compaction %s %s %s %q\n", e.ID, e.Status, wordsOf(e.Summary), e.Error)
		case *Plan:
			var list []string
			for _, e := range e.Entries {
				list = append(list, fmt.Sprint(e.Content, e.Priority, e.Status))
			}
			for id, of := range o.c.plans {
				if of == at && list != nil {
					fmt.Fprintf(&b, "plan %s %v\n", id, list)
				}
			}
		case *ToolCall:
			var items, places []string
			for _, item := range e.Content {
				switch item := item.(type) {
				case TerminalRef:
					items = append(items, "terminal "+item.TerminalID)
				case ContentItem:
					items = append(items, wordsOf([]Content{item.Content}))
				}
			}
			for _, l := range e.Locations {
				places = append(places, fmt.Sprint(l.Path, l.Line))
			}
			fmt.Fprintf(&b, "call %s %q %q %s %s %v %v\n", e.ID, e.Title, e.Name, e.Kind, e.Status, items, places)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(o.terminals)) {
		t := o.terminals[id]
		exit := "runs"
		if e, ended := t.Exit.(TerminalExit); ended {
			exit = e.String()
		}
		fmt.Fprintf(&b, "terminal %s %v %v %q %s\n", id, t.Command, t.Cwd, t.Output, exit)
	}
	used, cost := 0, "none"
	if u := o.c.Usage; u != nil {
		used = int(u.Used)
		if u.Cost != nil {
			cost = fmt.Sprintf("%d %s", int(u.Cost.Amount), u.Cost.Currency)
		}
	}
	fmt.Fprintf(&b, "title %q used %d cost %s\n", o.c.Title, used, cost)
	fmt.Fprintf(&b, "background %v %v\n", o.c.background.Calls, o.c.background.Terminals)
	return b.String()
}

// Whatever an agent tells, and however often it tells it again, the state is the one that the specification gives; and
// what tells all of it at once gives the same.
func TestRandomUpdatesOfV2(t *testing.T) {
	for n := range uint64(*rounds) {
		r := rand.New(rand.NewPCG(*seed+n, 2))
		got, want := newTold(), spec.New()
		agent := NewV2(got)
		var said []string
		for range 60 {
			u := spec.Random(r)
			said = append(said, string(encoded(u)))
			got.hear(agent, u)
			want.Hear(u)
			if got, want := got.String(), specified(want); got != want {
				t.Fatalf("seed %d: after\n%s\ngot\n%swant\n%s", *seed+n, strings.Join(said, "\n"), got, want)
			}
		}
		again := newTold()
		agent = NewV2(again)
		for _, u := range append(want.Snapshot(), spec.Object{"sessionUpdate": "state_update", "state": "running", "background": want.Background}) {
			again.hear(agent, u)
		}
		must.Equal(t, again.String(), specified(want), "seed %d: the snapshot gives\n%s", *seed+n)
	}
}

func newTold() *told {
	return &told{c: NewConversation((&clock{}).now), terminals: map[string]*spec.Terminal{}}
}

func (o *told) hear(agent *V2, u spec.Object) {
	agent.HandleNotification("session/update", encoded(spec.Object{"sessionId": "s", "update": u}))
}
