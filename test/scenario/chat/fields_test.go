package chat

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// What a block says beside its content: a link its size, its day and what it is of; what is not for the user stands
// closed and named, in a message and in a call, and opens.
func TestFieldsOfBlocks(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "Show it")
		link := func(more obj) obj {
			l := obj{"type": "resource_link", "name": "manual.pdf", "uri": "https://example.org/m.pdf"}
			for key, value := range more {
				l[key] = value
			}
			return l
		}
		forAgent := obj{"type": "text", "text": "one\ntwo\nthree", "annotations": obj{"audience": []string{"assistant"}, "priority": 0.1}}
		for _, content := range []obj{
			{"type": "text", "text": "For both.\n", "annotations": obj{"audience": []string{"user", "assistant"}, "priority": 1}},
			link(nil),
			link(obj{"title": "The manual", "size": 12_345, "description": "how [it]\nworks", "annotations": obj{"lastModified": "2026-01-02T03:04:05Z"}}),
			forAgent,
		} {
			p.Update("agent_message_chunk", obj{"content": content})
		}
		p.Update("tool_call", obj{
			"toolCallId": "c", "title": "Fetch", "kind": "fetch", "status": "completed",
			"content": []obj{block(link(obj{"size": 0})), block(forAgent)},
		})
		p.Reply(turn, obj{"stopReason": "end_turn", "usage": obj{
			"totalTokens": 12_000, "inputTokens": 10_000, "outputTokens": 2000, "thoughtTokens": 500, "cachedReadTokens": 8000, "cachedWriteTokens": 1000,
		}})
		s.AwaitTurnEnd("end_turn")
		s.GoldenScreen("closed")
		s.ToBlock("Fetch")
		s.Keys("zo")
		s.AwaitChat("two")
		s.ToBlock("12,000 tokens")
		s.Keys("<CR>")
		s.AwaitChat("10,000 in, 8,000 from the cache, 1,000 to the cache · 2,000 out, 500 in thoughts")
		s.GoldenScreen("opened")
		check.Equal(t, strings.Count(s.Chat(), "three"), 1, "what is for the agent stands %d times in the chat")
	}, scene.Wide)
}
