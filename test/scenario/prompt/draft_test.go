package prompt

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// What is not sent when Neovim ends comes back in the next session of its folder, once.
func TestDraftsOutliveNeovim(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		state := filepath.Join(s.Home, "state")
		p := s.Begin()
		s.Prompt(p, "work")
		s.OK(`require('acp').prompt('queued words')`)
		s.AwaitQueue("queued words")
		s.Keys("imy idea<CR>and more")
		s.AwaitPrompt("my idea\nand more")
		s.Quit()
		awaitDrafts(s, state, "queued words\n\nmy idea\nand more")

		s = s.Next(nvimtest.Env("XDG_STATE_HOME=" + state))
		s.OK(`require('acp').new({ cwd = '/' })`)
		s.AwaitPrompt("")
		s.Command("Acp new")
		s.AwaitPrompt("queued words\n\nmy idea\nand more")
		s.AwaitScreen("Not sent yet")
		s.GoldenScreen("draft")
		s.Command("Acp new")
		s.AwaitPrompt("") // once
		s.Keys("inext to it")
		awaitDrafts(s, state, "queued words\n\nmy idea\nand more", "next to it")
		s.Kill() // it has written what was typed a second ago

		s = s.Next(nvimtest.Env("XDG_STATE_HOME=" + state))
		p = s.Begin()
		s.AwaitPrompt("next to it")
		s.Keys("A<C-s>")
		p.PromptedWith("next to it")
		s.AwaitPrompt("")
		awaitDrafts(s, state, "queued words\n\nmy idea\nand more") // what is sent does not come back
		s.Await("no word of it any more", func() bool { return !strings.Contains(s.Screen(), "Not sent yet") })
		s.Keys("<Esc>")
		s.Quit()
	})
}

func TestDraftsOutliveTheirSession(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		state := filepath.Join(s.Home, "state")
		s.Begin()
		s.Keys("ileft behind<Esc>")
		s.AwaitPrompt("left behind")
		s.Command("Acp close")
		awaitDrafts(s, state, "left behind")
		s.AwaitLua(`#require('acp').sessions() == 0`)
		s.Command("Acp new")
		s.AwaitPrompt("left behind")
		s.Keys("ggdG")
		awaitDrafts(s, state)
	})
}
