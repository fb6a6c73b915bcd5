package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestTheChatSaysWhatIsToReview(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := reviewed(s)
		s.AwaitChat("\n  ● 3 files  +4 −4 · :Acp review")
		s.Command("stopinsert | wincmd k")
		s.AwaitLua(`vim.bo.filetype == 'acp-chat' and vim.fn.mode() == 'n'`)
		s.GoldenScreen("due")

		// What is not that line is not it.
		s.RecordNotifications()
		s.Keys("ggg>")
		s.AwaitNotification("this line has no changes to keep")

		// The line leads to the review, and counts what waits there.
		s.Keys("G<CR>")
		s.AwaitLua(`vim.bo.filetype == 'acp-review'`)
		onPage(s, "- return 1")
		s.Keys("x")
		s.AwaitChat("● 2 files  +3 −3 · :Acp review")
		s.Keys("q")
		s.AwaitLua(`vim.bo.filetype == 'acp-chat'`)

		// A turn that changes nothing leaves it where it is, another one takes it along.
		turn := s.Prompt(p, "Thanks")
		p.Say("You are welcome.")
		p.EndTurn(turn)
		if chat := s.Chat(); strings.Count(chat, "●") != 1 || strings.Index(chat, "●") > strings.Index(chat, "Thanks") {
			t.Errorf("after a turn without changes:\n%s", chat)
		}
		turn = s.Prompt(p, "More")
		must.Do(t, os.WriteFile(filepath.Join(s.Dir, "more.txt"), []byte("more\n"), 0o600))
		p.Say("More is there.")
		p.Stop(turn, "end_turn")
		s.AwaitChat("More is there.\n\n  ● 3 files  +4 −3 · :Acp review")
		if chat := s.Chat(); strings.Count(chat, "●") != 1 {
			t.Errorf("after a turn with changes:\n%s", chat)
		}
		s.Keys("Gg>")
		s.Await("no line", func() bool { return !strings.Contains(s.Chat(), "●") })
		s.AwaitLua(`vim.iter(require('acp').changes()):all(function(f) return f.state ~= 'pending' end)`)
	})
}

func TestTheChatSaysNothingOfAReviewWithoutOne(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.review = false`)
		reviewed(s)
		s.AwaitLua(`#require('acp').changes() == 3`)
		s.Command("Acp review")
		awaitPage(s, "lexer_spec.lua")
		if chat := s.Chat(); strings.Contains(chat, "●") {
			t.Errorf("the chat says\n%s", chat)
		}
	})
}

func TestTheKeysOfAFileAreSaidOnce(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		said := func() string {
			return s.LuaString(`
				local ns = vim.api.nvim_get_namespaces().acp_hint_keys
				for _, buf in ipairs(ns and vim.api.nvim_list_bufs() or {}) do
					for _, m in ipairs(vim.api.nvim_buf_get_extmarks(buf, ns, 0, -1, { details = true })) do
						return (m[2] + 1) .. m[4].virt_text[1][1]
					end
				end
				return ''`)
		}
		s.Configure(`c.keys = { review_keep = '<leader>k', review_next = false }`)
		p, turn, path, buf := s.BeginWithChange(scene.TextReviewed)
		s.AwaitMarks(buf, "2-1▌ 6-1▀ 8▌ 9▌")
		s.Await("the keys", func() bool { return said() == "2 <leader>k keep · g< refuse" })
		s.Keys("2Gg<lt>")
		s.Await("no keys", func() bool { return said() == "" })
		p.WriteFile(path, strings.Replace(scene.TextReviewed, "four\n", "four\nfour and a half\n", 1))
		s.Await("the next change", func() bool { return strings.Contains(s.Marks(buf), "5▌") })
		check.Equal(t, said(), "", "said again: %s")
		p.EndTurn(turn)
	})
}
