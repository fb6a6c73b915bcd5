package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// This file gives random tool calls to the adapters and the model, and to a
// second, simple model that was written from the specification's text.

// act is something that happens: what an agent says of a call, or what the user does.
type act struct {
	verb    string // "update", "chunk", "ask", "answer", "cancel", "start" or "end"
	id      string
	fields  map[string]any // of an update or a question: as JSON, nil for null
	item    string         // of a chunk
	refused bool           // of an answer
}

func (a act) String() string {
	return fmt.Sprintf("%s %s %s %s %v", a.verb, a.id, encoded(a.fields), a.item, a.refused)
}

func textItem(text string) map[string]any {
	return map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": text}}
}

// randomActs is a story with turns, calls of few ids and everything between. Without nulls version 1 can tell it too.
func randomActs(r *rand.Rand, n int, nulls bool) []act {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	fields := func() map[string]any {
		f := map[string]any{}
		maybe := func(name string, value func() any) {
			switch {
			case r.IntN(4) > 0:
			case nulls && r.IntN(3) == 0:
				f[name] = nil
			default:
				f[name] = value()
			}
		}
		word := func() any { return pick("", "a", "b", "c") }
		maybe("title", word)
		maybe("name", word)
		maybe("kind", func() any { return pick("read", "edit", "other", "_dance") })
		maybe("status", func() any {
			return pick("pending", "in_progress", "in_progress", "paused", "completed", "failed", "cancelled", "_asleep")
		})
		maybe("content", func() any {
			list := []any{}
			for range r.IntN(3) {
				list = append(list, textItem(pick("x", "y")))
			}
			return list
		})
		maybe("locations", func() any {
			list := []any{}
			for range r.IntN(3) {
				list = append(list, map[string]any{"path": pick("/a", "/b"), "line": 1 + r.IntN(3)})
			}
			return list
		})
		maybe("rawInput", word)
		maybe("rawOutput", word)
		maybe("_meta", func() any {
			meta := map[string]any{}
			for range r.IntN(3) {
				meta[pick("k", "l", "m")] = []any{nil, 1, map[string]any{"d": 2}}[r.IntN(3)]
			}
			if r.IntN(4) == 0 {
				meta["claudeCode"] = map[string]any{"parentToolUseId": pick("1", "2", "3", "never")}
			}
			return meta
		})
		return f
	}
	var acts []act
	running := false
	for range n {
		a := act{id: pick("1", "2", "3", "4")}
		switch k := r.IntN(20); {
		case k < 9:
			a.verb, a.fields = "update", fields()
		case k < 12:
			a.verb, a.item = "chunk", pick("x", "y")
		case k < 14:
			a.verb, a.fields = "ask", fields()
		case k < 17:
			a.verb, a.refused = "answer", r.IntN(2) == 0
		case running && k == 17:
			a.verb, a.id = "cancel", ""
		case running:
			a.verb, a.id, running = "end", "", false
		default:
			a.verb, a.id, running = "start", "", true
		}
		acts = append(acts, a)
	}
	return acts
}

// deliver gives an act to a conversation by way of a version's wire.
func deliver(t *testing.T, c *Conversation, handler func(Client) acp.Handler, version int, a act) {
	t.Helper()
	switch a.verb {
	case "update":
		kind := "tool_call_update"
		if title, ok := a.fields["title"]; version == 1 && ok && title != nil {
			kind = "tool_call"
		}
		message := maps.Clone(a.fields)
		message["sessionUpdate"], message["toolCallId"] = kind, a.id
		update(t, c, handler, message)
	case "chunk":
		update(t, c, handler, map[string]any{"sessionUpdate": "tool_call_content_chunk", "toolCallId": a.id, "content": textItem(a.item)})
	case "ask":
		call := maps.Clone(a.fields)
		call["toolCallId"] = a.id
		c.Apply(askedPatch(t, version, call))
		c.Apply(Waiting{ToolCallID: a.id, Open: true})
	case "answer":
		c.Apply(Waiting{ToolCallID: a.id, Rejected: a.refused, Allowed: !a.refused})
	case "cancel":
		c.Apply(Cancelling{})
	case "start":
		c.Apply(start("p"))
	case "end":
		c.Apply(end)
	}
}

func update(t *testing.T, c *Conversation, handler func(Client) acp.Handler, update map[string]any) {
	t.Helper()
	for _, u := range handled(t, handler, string(encoded(update))) {
		c.Apply(u)
	}
}

func askedPatch(t *testing.T, version int, call map[string]any) ToolCallPatch {
	t.Helper()
	if version == 1 {
		var r v1.RequestPermissionRequest
		must.Do(t, acp.Decode(encoded(map[string]any{"sessionId": "s", "toolCall": call, "options": []any{}}), &r))
		return patched(&r.ToolCall)
	}
	var r v2.RequestPermissionRequest
	subject := map[string]any{"type": "tool_call", "toolCall": call}
	must.Do(t, acp.Decode(encoded(map[string]any{"sessionId": "s", "title": "T", "subject": subject, "options": []any{}}), &r))
	return permissionV2(&r).Call
}

// reference is the second model. A field of a call is not kept but looked up in all that was ever said of it.
type reference struct {
	nullClears bool // as in version 2
	order      []string
	said       map[string][]act // what counts, by call

	turn               int
	running, cancelled bool
	turnOf             map[string]int // the last turn in which something was said of a call
	open               map[string]int // questions
	refused, left      map[string]bool
	allowed, stopped   map[string]bool
}

func newReference(nullClears bool) *reference {
	return &reference{
		nullClears: nullClears, said: map[string][]act{}, turnOf: map[string]int{}, open: map[string]int{},
		refused: map[string]bool{}, left: map[string]bool{}, allowed: map[string]bool{}, stopped: map[string]bool{},
	}
}

func (m *reference) hear(a act) {
	if a.fields != nil && !m.nullClears {
		a.fields = maps.Clone(a.fields)
		maps.DeleteFunc(a.fields, func(_ string, v any) bool { return v == nil })
	}
	if meta, ok := a.fields["_meta"].(map[string]any); ok && len(meta) == 0 {
		delete(a.fields, "_meta") // patches nothing
	}
	_, known := m.said[a.id]
	switch a.verb {
	case "start":
		m.turn++
		m.running, m.cancelled = true, false
	case "cancel":
		m.cancelled = true
		m.leaveTurn()
	case "end":
		m.leaveTurn()
		m.running = false
	case "answer":
		if m.open[a.id] > 0 {
			m.open[a.id]--
			m.refused[a.id], m.allowed[a.id] = a.refused, !a.refused
		}
	case "chunk":
		m.note(a)
	case "update", "ask":
		if !known || len(a.fields) > 0 {
			m.note(a)
		}
		if a.verb == "ask" {
			m.open[a.id]++
			m.refused[a.id], m.allowed[a.id] = false, false
			m.turnOf[a.id] = m.turn
			if m.running {
				m.left[a.id], m.stopped[a.id] = m.cancelled, m.cancelled
			}
		}
	}
}

// note takes something that was said of a call.
func (m *reference) note(a act) {
	if _, known := m.said[a.id]; !known {
		m.order = append(m.order, a.id)
	}
	if m.running && m.cancelled {
		m.leave(a.id)
	}
	m.said[a.id] = append(m.said[a.id], a)
	m.turnOf[a.id] = m.turn
	_, told := a.fields["status"]
	switch {
	case !m.running:
	case m.cancelled:
		m.leave(a.id)
	case told && !ended(m.status(a.id)):
		m.left[a.id], m.stopped[a.id] = false, false
	}
}

// leaveTurn is for the end of a turn, or of its hopes.
func (m *reference) leaveTurn() {
	for _, id := range m.order {
		if m.turnOf[id] == m.turn {
			m.leave(id)
		}
	}
}

func (m *reference) leave(id string) {
	if shown := m.shown(id); !ended(shown) && shown != "rejected" {
		m.left[id] = true
		m.stopped[id] = m.stopped[id] || m.running && m.cancelled
	}
}

func ended(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// last is the value that was last given to a field, else def.
func (m *reference) last(id, field, def string) string {
	for _, a := range slices.Backward(m.said[id]) {
		if v, told := a.fields[field]; told {
			if v == nil {
				return def
			}
			return v.(string)
		}
	}
	return def
}

func (m *reference) status(id string) string { return m.last(id, "status", "pending") }

// shown is the status for the user.
func (m *reference) shown(id string) string {
	status := m.status(id)
	refused := m.refused[id]
	switch {
	case refused && (status == "failed" || status == "cancelled"), refused && !ended(status) && m.open[id] == 0:
		return "rejected"
	case status == "failed" && m.stopped[id], status == "completed" && m.stopped[id] && m.last(id, "kind", "other") == "execute":
		return "cancelled"
	case ended(status):
		return status
	case m.left[id]:
		return "cancelled"
	case m.open[id] > 0:
		return "waiting"
	case m.allowed[id] && status == "pending":
		return "in_progress"
	}
	return status
}

func (m *reference) content(id string) []string {
	var items []string
	for _, a := range m.said[id] {
		if list, told := a.fields["content"]; told {
			items = nil
			if list != nil {
				for _, item := range list.([]any) {
					items = append(items, item.(map[string]any)["content"].(map[string]any)["text"].(string))
				}
			}
		}
		if a.verb == "chunk" {
			items = append(items, a.item)
		}
	}
	return items
}

// describe says what describe says of the model's call.
func (m *reference) describe(id string) string {
	var items []ToolCallContent
	for _, text := range m.content(id) {
		items = append(items, ContentItem{Text{text}})
	}
	var locations []Location
	for _, a := range slices.Backward(m.said[id]) {
		if list, told := a.fields["locations"]; told {
			if list != nil {
				for _, l := range list.([]any) {
					l := l.(map[string]any)
					locations = append(locations, Location{l["path"].(string), l["line"].(int)})
				}
			}
			break
		}
	}
	raw := func(field string) json.RawMessage {
		if v := m.last(id, field, "none"); v != "none" {
			return encoded(v)
		}
		return nil
	}
	var meta map[string]any
	parent := ""
	for _, a := range m.said[id] {
		patch, told := a.fields["_meta"]
		if !told {
			continue
		}
		if patch == nil {
			meta = nil
			continue
		}
		if meta == nil {
			meta = map[string]any{}
		}
		for k, v := range patch.(map[string]any) {
			if meta[k] = v; v == nil {
				delete(meta, k)
			}
			if k == "claudeCode" {
				parent = v.(map[string]any)["parentToolUseId"].(string)
			}
		}
	}
	return fmt.Sprintf("%s %q %q %s %s %s content %s locations %v in %s out %s meta %s under %q",
		id, m.last(id, "title", ""), m.last(id, "name", ""), m.last(id, "kind", "other"), m.status(id), m.shown(id),
		encodedItems(items), locations, raw("rawInput"), raw("rawOutput"), encoded(meta), parent)
}

func describeAll(c *Conversation) string {
	var b strings.Builder
	for _, call := range c.Calls {
		b.WriteString(describe(call) + "\n")
	}
	return b.String()
}

func (m *reference) describeAll() string {
	var b strings.Builder
	for _, id := range m.order {
		b.WriteString(m.describe(id) + "\n")
	}
	return b.String()
}

// Whatever happens, the model is the one that the specification gives, in each
// version; and when a turn has ended nothing of it goes on.
func TestRandomCalls(t *testing.T) {
	for seed := range uint64(100) {
		for version, handler := range map[int]func(Client) acp.Handler{1: byV1, 2: byV2} {
			acts := randomActs(rand.New(rand.NewPCG(seed, uint64(version))), 60, true)
			c, want := NewConversation((&clock{}).now), newReference(version == 2)
			for i, a := range acts {
				if version == 1 && a.verb == "chunk" {
					continue // it has none
				}
				deliver(t, c, handler, version, a)
				want.hear(a)
				if got, want := describeAll(c), want.describeAll(); got != want {
					t.Fatalf("seed %d, version %d: after %d acts\n%v\ngot\n%swant\n%s", seed, version, i+1, acts[:i+1], got, want)
				}
				for _, call := range c.Calls {
					if depth := c.Depth(call); depth > maxDepth {
						t.Fatalf("seed %d, version %d: %s at depth %d", seed, version, call.ID, depth)
					}
					if a.verb == "end" && call.turn == c.turn && !call.Shown().Finished() {
						t.Fatalf("seed %d, version %d: %s is %s when its turn has ended", seed, version, call.ID, call.Shown())
					}
				}
			}
		}
	}
}

// The same story told in both versions, chunks as their sum in version 1, gives the same model.
func TestRandomCallsInBothVersions(t *testing.T) {
	for seed := range uint64(50) {
		acts := randomActs(rand.New(rand.NewPCG(seed, 3)), 60, false)
		first, second := NewConversation((&clock{}).now), NewConversation((&clock{}).now)
		for i, a := range acts {
			deliver(t, second, byV2, 2, a)
			if a.verb == "chunk" {
				sum := []any{}
				for _, item := range second.ToolCall(a.id).Content {
					sum = append(sum, textItem(item.(ContentItem).Content.(Text).Text))
				}
				a = act{verb: "update", id: a.id, fields: map[string]any{"content": sum}}
			}
			deliver(t, first, byV1, 1, a)
			if got, want := describeAll(first), describeAll(second); got != want {
				t.Fatalf("seed %d: after %d acts\n%v\nversion 1 gives\n%sversion 2\n%s", seed, i+1, acts[:i+1], got, want)
			}
		}
	}
}
