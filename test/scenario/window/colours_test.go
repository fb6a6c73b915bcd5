package window

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestDiffsAreSeenOnATransparentBackground(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("set termguicolors background=dark | hi clear | hi Normal guibg=NONE")
		s.Begin()
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

// On a light background, and in a scheme whose text is no darker than it has to be.
func TestColoursAreReadOnALightBackground(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("set termguicolors background=light | hi clear")
		s.Begin()
		const low = `(function(least)
			local function bright(color)
				local sum = 0
				for i, weight in ipairs({ 0.2126, 0.7152, 0.0722 }) do
					local part = bit.band(bit.rshift(color, 24 - 8 * i), 255) / 255
					sum = sum + weight * (part <= 0.03928 and part / 12.92 or ((part + 0.055) / 1.055) ^ 2.4)
				end
				return sum + 0.05
			end
			local normal = vim.api.nvim_get_hl(0, { name = 'Normal' })
			local list = {}
			for _, name in ipairs(vim.fn.getcompletion('Acp', 'highlight')) do
				local hl = vim.api.nvim_get_hl(0, { name = name, link = false })
				local a, b = bright(hl.fg or normal.fg), bright(hl.bg or normal.bg)
				-- Those that have another scheme's colour are its own: line numbers are dim.
				if name ~= 'AcpDiffLine' and math.max(a, b) / math.min(a, b) < least then table.insert(list, name) end
			end
			return table.concat(list, ' ')
		end)`
		check.Equal(t, s.LuaString(low+`(3)`), "", "hardly to be read are %s")
		s.Lua(nil, `
			vim.cmd('hi clear | hi Normal guifg=#3760bf guibg=#e1e2e7 | hi Added guifg=#4b6e5c | hi Removed guifg=#590818')
			vim.api.nvim_exec_autocmds('ColorScheme', {})`)
		for _, name := range []string{"AcpDiffAddText", "AcpDiffDeleteText"} {
			if got := s.LuaString(low + `(2.5)`); strings.Contains(got, name) {
				t.Errorf("hardly to be read are %s", got)
			}
		}
	})
}
