// Package spec is what version 2 of the protocol says the state of a session is, written from the text of the
// specification (Prompt Lifecycle, Agent Plan, Tool Calls) and from nothing of the client's: updates as on the wire go
// in, and the state has the wire's own values. It is for tests only.
package spec

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Object is a JSON object of the wire.
type Object = map[string]any

// State is that of a session.
type State struct {
	Order       []string             // what stands in the transcript, in the order first told: "kind id"
	Messages    map[string][]any     // content blocks, by "kind id"
	Calls       map[string]Object    // tool calls, by id
	Plans       map[string][]any     // entries, by id
	Compactions map[string]Object    // by id
	Terminals   map[string]*Terminal // by id
	Title       any                  // nil for none
	Used        int
	Cost        any // nil for none
	Background  any // the last list that was told
}

// Terminal is one of the agent's; what is nil is not known.
type Terminal struct {
	Command, Cwd, Exit any
	Output             []byte
}

// New is the state before anything was told.
func New() *State {
	return &State{
		Messages: map[string][]any{}, Calls: map[string]Object{}, Plans: map[string][]any{},
		Compactions: map[string]Object{}, Terminals: map[string]*Terminal{},
	}
}

func (s *State) stands(key string) {
	if !slices.Contains(s.Order, key) {
		s.Order = append(s.Order, key)
	}
}

// Hear takes an update in, by the rule of its kind: an omitted field leaves, null clears, a value replaces, a chunk
// appends; what is told of an unknown id begins it.
func (s *State) Hear(u Object) {
	switch kind := u["sessionUpdate"].(string); kind {
	case "agent_message", "agent_thought", "user_message":
		key := kind + " " + u["messageId"].(string)
		s.stands(key)
		if content, told := u["content"]; told {
			list, _ := content.([]any)
			s.Messages[key] = slices.Clone(list)
		}
	case "agent_message_chunk", "agent_thought_chunk", "user_message_chunk":
		key := strings.TrimSuffix(kind, "_chunk") + " " + u["messageId"].(string)
		s.stands(key)
		s.Messages[key] = append(s.Messages[key], u["content"])
	case "tool_call_update":
		c := s.call(u)
		for _, field := range []string{"title", "name", "kind", "status", "content", "locations", "rawInput", "rawOutput"} {
			if v, told := u[field]; told {
				c[field] = v
			}
		}
	case "tool_call_content_chunk":
		c := s.call(u)
		content, _ := c["content"].([]any)
		c["content"] = append(slices.Clone(content), u["content"])
	case "plan_update":
		plan := u["plan"].(Object)
		entries, _ := plan["entries"].([]any)
		if s.Plans[plan["planId"].(string)] = entries; len(entries) > 0 {
			s.stands("plan " + plan["planId"].(string))
		}
	case "compaction_update":
		c := s.compaction(u)
		for _, field := range []string{"status", "summary", "error"} {
			if v, told := u[field]; told {
				c[field] = v
			}
		}
	case "compaction_summary_chunk":
		c := s.compaction(u)
		summary, _ := c["summary"].([]any)
		c["summary"] = append(slices.Clone(summary), u["content"])
	case "terminal_update":
		t := s.terminal(u)
		for field, into := range map[string]*any{"command": &t.Command, "cwd": &t.Cwd, "exitStatus": &t.Exit} {
			if v, told := u[field]; told {
				*into = v
			}
		}
		if v, told := u["output"]; told {
			t.Output = nil
			if v != nil {
				t.Output = slices.Clone(v.(Object)["data"].([]byte))
			}
		}
	case "terminal_output_chunk":
		t := s.terminal(u)
		t.Output = append(t.Output, u["data"].([]byte)...)
	case "session_info_update":
		if v, told := u["title"]; told {
			s.Title = v
		}
	case "usage_update":
		s.Used = u["used"].(int)
		if v, told := u["cost"]; told {
			s.Cost = v
		}
	case "state_update":
		if v, told := u["background"]; told && v != nil {
			s.Background = v // else the agent does not say
		}
	}
}

func (s *State) call(u Object) Object {
	id := u["toolCallId"].(string)
	s.stands("call " + id)
	if s.Calls[id] == nil {
		s.Calls[id] = Object{}
	}
	return s.Calls[id]
}

func (s *State) compaction(u Object) Object {
	id := u["compactionId"].(string)
	s.stands("compaction " + id)
	if s.Compactions[id] == nil {
		s.Compactions[id] = Object{"status": "in_progress"}
	}
	return s.Compactions[id]
}

func (s *State) terminal(u Object) *Terminal {
	id := u["terminalId"].(string)
	if s.Terminals[id] == nil {
		s.Terminals[id] = &Terminal{}
	}
	return s.Terminals[id]
}

// Snapshot tells all of the state at once, an update for each thing in the transcript.
func (s *State) Snapshot() (updates []Object) {
	add := func(kind string, more Object) {
		u := maps.Clone(more)
		u["sessionUpdate"] = kind
		updates = append(updates, u)
	}
	for _, id := range slices.Sorted(maps.Keys(s.Terminals)) {
		t := s.Terminals[id]
		add("terminal_update", Object{
			"terminalId": id, "command": t.Command, "cwd": t.Cwd, "exitStatus": t.Exit, "output": Object{"data": t.Output},
		})
	}
	for _, key := range s.Order {
		switch kind, id, _ := strings.Cut(key, " "); kind {
		case "call":
			u := maps.Clone(s.Calls[id])
			u["toolCallId"] = id
			add("tool_call_update", u)
		case "compaction":
			u := maps.Clone(s.Compactions[id])
			u["compactionId"] = id
			add("compaction_update", u)
		case "plan":
			add("plan_update", Object{"plan": Object{"type": "items", "planId": id, "entries": s.Plans[id]}})
		default:
			add(kind, Object{"messageId": id, "content": s.Messages[key]})
		}
	}
	add("session_info_update", Object{"title": s.Title})
	add("usage_update", Object{"used": s.Used, "size": 10, "cost": s.Cost})
	return updates
}

// Random is an update about few things, so that what is told of them meets.
func Random(r *rand.Rand) Object {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	text := func() any { return Object{"type": "text", "text": pick("a", "b ", "c\n", "**d**", "```\n", "")} }
	block := func() any {
		if r.IntN(5) == 0 {
			return Object{"type": "resource_link", "uri": pick("file:///a", "https://b"), "name": pick("A", "B")}
		}
		return text()
	}
	list := func(item func() any) any {
		items := []any{}
		for range r.IntN(3) {
			items = append(items, item())
		}
		return items
	}
	u := Object{}
	maybe := func(field string, value func() any) {
		switch r.IntN(4) {
		case 0:
			u[field] = nil
		case 1, 2:
			u[field] = value()
		}
	}
	word := func() any { return pick("", "a", "b") }
	is := func(kind string) Object {
		u["sessionUpdate"] = kind
		return u
	}
	speaker := pick("agent_message", "agent_message", "agent_thought", "user_message")
	switch r.IntN(16) {
	case 0, 1:
		u["messageId"] = speaker + pick("1", "2", "3")
		maybe("content", func() any { return list(block) })
		return is(speaker)
	case 2, 3, 4:
		u["messageId"], u["content"] = speaker+pick("1", "2", "3"), block()
		return is(speaker + "_chunk")
	case 5:
		entry := func() any {
			return Object{"content": pick("x", "y"), "priority": pick("high", "low"), "status": pick("pending", "cancelled", "completed", "_odd")}
		}
		u["plan"] = Object{"type": "items", "planId": pick("p", "q"), "entries": list(entry)}
		return is("plan_update")
	case 6:
		if r.IntN(3) == 0 {
			u["compactionId"], u["content"] = pick("k", "l"), text()
			return is("compaction_summary_chunk")
		}
		u["compactionId"], u["status"] = pick("k", "l"), pick("in_progress", "completed", "failed", "_odd")
		maybe("summary", func() any { return list(text) })
		maybe("error", word)
		return is("compaction_update")
	case 7, 8:
		u["terminalId"] = pick("s", "t")
		if r.IntN(2) == 0 {
			u["data"] = []byte(pick("one\n", "two", "é", "\xc3", "\xa9", "\x1b[3", "2m", ""))
			return is("terminal_output_chunk")
		}
		maybe("command", word)
		maybe("cwd", func() any { return pick("/a", "/b") })
		maybe("output", func() any { return Object{"data": []byte(pick("", "all\n", "more"))} })
		maybe("exitStatus", func() any { return []any{Object{}, Object{"exitCode": 3}, Object{"signal": "SIGKILL"}}[r.IntN(3)] })
		return is("terminal_update")
	case 9:
		maybe("title", func() any { return pick("one", "two") })
		return is("session_info_update")
	case 10:
		u["used"], u["size"] = r.IntN(9), 10
		maybe("cost", func() any { return Object{"amount": r.IntN(3), "currency": "EUR"} })
		return is("usage_update")
	case 11, 12, 13, 14:
		u["toolCallId"] = pick("c", "d", "e")
		item := func() any {
			if r.IntN(4) == 0 {
				return Object{"type": "terminal", "terminalId": pick("s", "t")}
			}
			return Object{"type": "content", "content": text()}
		}
		if r.IntN(4) == 0 {
			u["content"] = item()
			return is("tool_call_content_chunk")
		}
		maybe("title", func() any { return pick("", "Look", "Run it") })
		maybe("name", word)
		maybe("kind", func() any { return pick("read", "edit", "execute", "other", "_dance") })
		maybe("status", func() any {
			return pick("pending", "in_progress", "paused", "completed", "failed", "cancelled", "_asleep")
		})
		maybe("content", func() any { return list(item) })
		maybe("locations", func() any { return list(func() any { return Object{"path": pick("/a", "/b"), "line": 1 + r.IntN(3)} }) })
		maybe("rawInput", word)
		maybe("rawOutput", word)
		return is("tool_call_update")
	}
	u["state"] = pick("running", "idle", "requires_action", "_odd")
	maybe("background", func() any {
		return list(func() any {
			if r.IntN(2) == 0 {
				return Object{"type": "terminal", "terminalId": pick("s", "t")}
			}
			return Object{"type": "tool_call", "toolCallId": pick("c", "d")}
		})
	})
	return is("state_update")
}
