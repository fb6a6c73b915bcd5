package prompt

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// An earlier prompt comes back with what was attached to it; what the user was writing is not lost.
func TestEarlierPromptIsSentAnew(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		path := s.WriteFile("a b.lua", "one\ntwo\n")
		p := beginTaking(s, obj{"embeddedContext": true})
		s.OK(`require('acp').prompt({ { type = 'text', text = 'Explain @url:https://example.org/x and\nthis' },
			{ type = 'resource_link', uri = 'https://example.org/x', name = 'x' },
			{ type = 'resource_link', uri = 'https://example.org/y', name = 'y' },
			{ type = 'resource', resource = { uri = 'test:thing', text = 'z' } },
			{ type = 'file', path = 'a b.lua', first = 1, last = 2 } })`)
		blocks(p)
		s.Keys("imy draft<Esc>")
		s.ToBlock("Explain")
		s.Keys("gE")
		text := "Explain @url:https://example.org/x and\nthis\n@url:https://example.org/y @\"a b.lua\":1-2"
		s.AwaitPrompt(text)
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt' and vim.api.nvim_get_mode().mode == 'n'`)
		s.AwaitNotification("What you were writing comes back with <C-p>. Not attached again: test:thing")
		s.Keys("A!<Esc><CR>")
		want := []any{
			obj{"type": "text", "text": text + "!"},
			obj{"type": "resource_link", "uri": "https://example.org/x", "name": "example.org/x"},
			obj{"type": "resource_link", "uri": "https://example.org/y", "name": "example.org/y"},
			obj{"type": "resource", "resource": obj{"uri": "file://" + strings.ReplaceAll(path, " ", "%20") + "#L1-2", "text": "one\ntwo\n"}},
		}
		check.Deep(t, blocks(p), want, "sent were %v")
		s.AwaitPrompt("")
		s.Keys("<C-p><C-p>")
		s.AwaitPrompt("my draft")
	})
}

// What waits, and what is no prompt, stays where it is.
func TestWhatWaitsIsNotTakenBack(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p := s.Begin()
		turn := s.Prompt(p, "First")
		p.Say("An answer.")
		s.AwaitChat("An answer.")
		s.Command("Acp prompt Second")
		s.AwaitQueue("Second")
		s.ToBlock("Second")
		s.Keys("gE")
		s.AwaitNotification("this prompt has not been sent yet: :Acp queue edits it")
		s.ToBlock("An answer")
		s.Keys("gE")
		s.AwaitNotification("no prompt of yours here")
		s.AwaitPrompt("")
		p.EndTurn(turn)
	})
}
