package scenario

import "testing"

func TestTextwidthDoesNotBreakThePrompt(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("set textwidth=10 formatoptions+=t")
		s.begin()
		s.Keys("ia line that is longer than that")
		s.awaitPrompt("a line that is longer than that")
	})
}

func TestDiffsAreSeenOnATransparentBackground(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("set termguicolors background=dark | hi clear | hi Normal guibg=NONE")
		s.begin()
		var added struct {
			Bg int `msgpack:"bg"`
		}
		s.Lua(&added, `return vim.api.nvim_get_hl(0, { name = 'AcpDiffAdd' })`)
		red, green := added.Bg>>16, added.Bg>>8&0xff
		if green < 0x50 || red > green-0x10 {
			t.Errorf("what is added stands on %06x", added.Bg)
		}
	})
}

func TestThePromptsKeyIsOfTheModeThere(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.begin()
		const offers = `vim.wo[vim.fn.bufwinid(require('acp').sessions()[1].prompt_buf)].winbar:find(..., 1, true)`
		s.Keys("i")
		s.AwaitLua(offers, "<C-s> send")
		// To another window without an end of Insert mode here, as the mouse and plugins go.
		s.Lua(nil, `vim.api.nvim_set_current_win(vim.fn.win_getid(1))`)
		s.AwaitLua(offers, "<CR> send")
		s.Keys("<Esc>")
		s.AwaitLua(`vim.api.nvim_get_mode().mode == 'n'`)
		s.AwaitLua(offers, "<CR> send")
	})
}
