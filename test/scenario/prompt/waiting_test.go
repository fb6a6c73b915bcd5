package prompt

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// What is sent before the agent takes it stands where it will be said.
func TestPromptWaitsInTheChatWhileTheAgentStarts(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("Acp")
		p := s.Agent()
		s.Keys("iwhy does it\nskip one?<C-s>")
		awaitPrompts(s, obj{"why does it": "waits", "skip one?": "waits"})
		s.AwaitScreen("1 queued")
		s.GoldenScreen("waiting")
		s.Keys("and then<C-s>")
		awaitPrompts(s, obj{"why does it": "waits", "skip one?": "waits", "and then": "waits"})

		// The user reads in the chat: the cursor stays on its line.
		s.Keys("<Esc>")
		s.Command("wincmd k")
		s.Keys("ggjl")
		const cursor = `vim.api.nvim_get_current_line() .. vim.inspect(vim.api.nvim_win_get_cursor(0))`
		before := s.LuaString(cursor)
		p.Begin()
		turn := p.PromptedWith("why does it\nskip one?")
		awaitPrompts(s, obj{"why does it": "said", "skip one?": "said", "and then": "waits"})
		p.Say("Because.")
		s.AwaitChat("Because.\n\nand then")
		check.Equal(t, s.LuaString(cursor), before, "the cursor was at %s and is at %s", before)
		p.EndTurn(turn)
		p.PlayTurn("and then")
		awaitPrompts(s, obj{"why does it": "said", "skip one?": "said", "and then": "said"})
	})
}

// During a turn a prompt that waits is one line below what the agent says, and goes when it is taken back.
func TestPromptWaitsInTheChatDuringATurn(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "work")
		p.Say("I begin")
		s.OK(`require('acp').prompt('second\nand more\nand more')`)
		s.OK(`require('acp').prompt('third')`)
		s.AwaitChat("I begin\n\nsecond … +2 lines\n\nthird")
		p.Say(" and go on.")
		s.AwaitChat("I begin and go on.\n\nsecond … +2 lines\n\nthird")
		s.Command("Acp queue")
		s.Keys("ggdG:w<CR>")
		s.AwaitQueue()
		awaitPrompts(s, obj{"work": "said"})
		s.Command("close")
		s.OK(`require('acp').prompt('fourth')`)
		awaitPrompts(s, obj{"work": "said", "fourth": "waits"})
		s.Command("Acp cancel")
		p.Expect("session/cancel")
		p.Stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		s.AwaitScreenMatch("▌ fourth +paused")
		s.Command("Acp close")
		s.AwaitScreenMatch("▌ fourth +not sent")
		p.Silent()
	})
}

// Whatever ends meanwhile, the prompt stands in the chat, once, and goes out in the end.
func TestPromptWaitsInTheChatWhateverEnds(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.Choose("With a browser")
		s.Command("Acp")
		p := s.Agent()
		s.Keys("ikept words<C-s>")
		awaitPrompts(s, obj{"kept words": "waits"})
		p.Exit(3, "no luck")
		s.AwaitState("dead")
		s.AwaitChat("no luck. :Acp restart starts it again.\n\nkept words")
		awaitPrompts(s, obj{"kept words": "waits"})

		// What the command could not send is in the prompt, if that is empty.
		s.Keys("<Esc>")
		s.Command("Acp prompt by command")
		s.AwaitNotification("Your words are in the prompt")
		s.AwaitPrompt("by command")
		s.Command("Acp prompt another")
		s.AwaitPrompt("by command")
		s.Command("normal! S")
		s.AwaitPrompt("")
		s.Keys("i")

		// In Insert mode it is seen that nothing was sent.
		s.Keys("more words<C-s>")
		s.AwaitScreenMatch("not sent +ended · :Acp restart")
		s.AwaitLua(`vim.fn.mode() == 'i'`)
		s.AwaitPrompt("more words")
		s.Keys("!")
		s.Await("no word of it any more", func() bool { return !strings.Contains(s.Screen(), "not sent") })
		s.Keys("<Esc>")

		// The host dies and comes again.
		s.Command("Acp restart")
		s.Agent()
		s.NotBlocked(func() {
			s.KillHost()
			s.AwaitState("dead")
			s.Await("all processes to end", func() bool { return len(s.Leftovers()) == 0 })
		})
		s.AwaitChat("the host ended")
		awaitPrompts(s, obj{"kept words": "waits"})
		s.Command("Acp restart")
		p = s.Agent()
		awaitPrompts(s, obj{"kept words": "waits"})
		s.AwaitChat("starts it again\n\nkept words")
		s.Lua(nil, `require('acp.rpc.host').notify('redraw', { session = 1, why = 'a test' })`)
		p.Initialize(scene.LoginMethods(scene.BrowserLogin))
		p.RefuseLogin(p.Expect("session/new"))
		s.AwaitState("auth_required")
		s.AwaitChat("What you asked is kept.")
		awaitPrompts(s, obj{"kept words": "waits"})
		p.Authenticate("browser")
		p.NewSession(1)
		p.PlayTurn("kept words")
		awaitPrompts(s, obj{"kept words": "said"})
		s.OnceInChat("the host ended")
	})
}
