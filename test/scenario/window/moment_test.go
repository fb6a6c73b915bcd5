package window

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// TestBadMomentForNeovim has updates, a permission request and a turn's end arrive while Neovim waits for something, in
// whatever way it can. What the user does must go on as if nothing had come, and what came must be there afterwards.
func TestBadMomentForNeovim(t *testing.T) {
	const waits = `vim.g.w == 1`
	const locked = `vim.g.w == 1 and true` // and no text may be changed
	moments := []struct {
		name  string
		enter string // keys that lead there
		mode  string // what nvim_get_mode() says then
		leave string // keys that end it
		check string // Lua: what the user did has had its effect
		ready string // Lua, where the mode does not tell: it is there
	}{
		{"pending register", `"`, "n", "ayy", `vim.fn.getreg('a') == 'alpha one\n'`, ""},
		{"r", "r", "R", "X", `vim.api.nvim_get_current_line() == 'Xlpha one'`, ""},
		{"operator pending", "d", "no", "w", `vim.api.nvim_get_current_line() == 'one'`, ""},
		{"operator with a text object", "d2a", "no", "w", `vim.api.nvim_get_current_line() == ''`, ""},
		{"count", "2d", "no", "d", `vim.api.nvim_buf_line_count(0) == 1`, ""},
		{"f", "f", "n", "o", `vim.fn.col('.') == 7`, ""},
		{"mapping pending", "g", "n", "v<Esc>", `vim.fn.mode() == 'n'`, ""},
		{"insert mode, CTRL-V", "i<C-v>", "i", "065<Esc>", `vim.api.nvim_get_current_line() == 'Aalpha one'`, ""},
		{"insert mode, CTRL-R", "i<C-r>", "i", "=40+2<CR><Esc>", `vim.api.nvim_get_current_line() == '42alpha one'`, ""},
		{"hit-enter prompt", `:echo "one\ntwo\nthree"<CR>`, "r", "<CR>", `vim.fn.mode() == 'n'`, ""},
		{"more prompt", `:for i in range(200) | echo i | endfor<CR>`, "rm", "q", `vim.fn.mode() == 'n'`, ""},
		{"confirm", `:call setreg('c', confirm('sure?', "&yes\n&no"))<CR>`, "r?", "n", `vim.fn.getreg('c') == '2'`, ""},
		{"getchar()", ":let g:w = 1 | let g:c = getchar()<CR>", "n", "x", `vim.g.c == 120`, waits},
		{"input()", ":let g:i = input('? ')<CR>ab", "c", "cd<CR>", `vim.g.i == 'abcd'`, ""},
		{"command line", ":let g:d = 1", "c", "2<CR>", `vim.g.d == 12`, ""},
		{"search", "/ga", "c", "m<CR>", `vim.api.nvim_get_current_line() == 'gamma'`, ""},
		{"substitute with confirmation", ":%s/a/b/gc<CR>", "r?", "a", `vim.api.nvim_get_current_line() == 'gbmmb'`, ""},
		{"command-line window", "q:ilet g:e = 5<Esc>", "n", "<CR>", `vim.g.e == 5`, `vim.fn.getcmdwintype() ~= '' and vim.fn.mode() == 'n'`},
		{"completion menu", "oal<C-n>", "ic", "<C-n><C-y>!<Esc>", `vim.api.nvim_get_current_line() == 'alpha!'`, ""},
		{"replace mode", "Rxy", "R", "z<Esc>", `vim.api.nvim_get_current_line() == 'xyzha one'`, ""},
		{"visual mode", "wvl", "v", "d", `vim.api.nvim_get_current_line() == 'alpha e'`, ""},
		{"visual block", "<C-v>jI-", "i", "+<Esc>", `vim.api.nvim_buf_get_lines(0, 1, 2, false)[1] == '-+alpine two'`, ""},
		{"select mode", "gh", "s", "Z<Esc>", `vim.api.nvim_get_current_line() == 'Zlpha one'`, ""},
		{"terminal mode", ":terminal cat<CR>i", "t", "typed<CR>", `vim.fn.search('typed') > 0 and vim.fn.mode() == 't'`, ""},
		{"textlock", "X", "n", "z<Esc>", `vim.api.nvim_get_current_line() == 'zalpha one'`, locked},
		{"textlock in insert mode", "i<C-x>", "i", "z<Esc>", `vim.api.nvim_get_current_line() == 'zalpha one'`, locked},
		{"recording", "qqx", "n", "xq", `vim.fn.getreg('q') == 'xx'`, `vim.fn.reg_recording() == 'q'`},
	}
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `
			vim.cmd("nnoremap <expr> X execute('let g:w = 1') .. 'i' .. nr2char(getchar())")
			vim.cmd("inoremap <expr> <C-x> execute('let g:w = 1') .. nr2char(getchar())")
			vim.cmd('set hidden complete=.')`)
		p := s.Begin()
		s.Command("wincmd t")
		win := s.LuaInt(`vim.api.nvim_get_current_win()`)
		n := 0
		// during brings Neovim into the moment, has things happen there, and out of it again.
		during := func(i int, says string, happen func()) {
			t.Helper()
			m := moments[i]
			s.Lua(nil, `vim.cmd('enew!') vim.g.w = 0
				vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'alpha one', 'alpine two', 'gamma' })`)
			s.Keys(m.enter)
			awaitMode(s, m.mode)
			mode, err := s.Mode()
			must.Do(t, err)
			if m.ready != "" {
				s.AwaitLua(m.ready)
			}
			happen()
			switch {
			case m.ready == locked:
				before := redrawn(s)
				s.Await(m.name+": an edit to be refused", func() bool { return redrawn(s) > before })
			case mode.Blocking:
				// The answer to a request says that the host has all that was written before.
				p.Ask("_probe", obj{})
			default:
				s.AwaitChat(says)
			}
			if got, err := s.Mode(); err != nil || *got != *mode {
				t.Errorf("%s: the mode went from %v to %v %v", m.name, mode, got, err)
			}
			s.Keys(m.leave)
			s.Await(m.name+": the effect of what was typed: "+m.check, func() bool { return s.LuaBool(m.check) })
			check.Equal(t, s.LuaInt(`vim.api.nvim_get_current_win()`), win,
				"%s: the focus went from window %d to %d", m.name, win)
			if m.mode == "t" {
				s.Keys(`<C-\><C-n>`)
				awaitMode(s, "nt")
			} else {
				awaitMode(s, "n")
			}
		}
		for i, m := range moments {
			n++
			turn := s.Prompt(p, fmt.Sprintf("prompt %d", n))
			var id int
			during(i, "Begun in "+m.name, func() {
				p.Say(fmt.Sprintf("Begun in %s.\n", m.name))
				id = p.Permission(obj{"toolCallId": fmt.Sprint("c", n), "title": "Title of " + m.name}, scene.YesNo...)
			})
			s.AwaitChat(fmt.Sprintf("Begun in %s.", m.name))
			s.Await(m.name+": the float", func() bool { return s.LuaBool(`require('acp.permission.float').win()`) })
			s.AwaitScreen("Title of " + m.name)
			s.AwaitEvent("AcpPermissionRequest")
			s.OK(`require('acp').respond(require('acp').permissions()[1].id, 'yes')`)
			check.Equal(t, p.Answer(id).Text("outcome", "optionId"), "yes", "%s: the answer was %q", m.name)
			s.AwaitLua(`not require('acp.permission.float').win()`)

			id = p.Permission(obj{"toolCallId": fmt.Sprint("d", n), "title": "Again"}, scene.YesNo...)
			s.AwaitFloat()
			during(i, "Ended in "+m.name, func() {
				p.Notify("$/cancel_request", obj{"requestId": id})
				p.Say(fmt.Sprintf("Ended in %s.\n", m.name))
				p.Stop(turn, "end_turn")
			})
			s.AwaitTurnEnd("end_turn")
			s.AwaitChat(fmt.Sprintf("Ended in %s.", m.name))
			s.AwaitLua(`not require('acp.permission.float').win()`)
			p.Answer(id)
		}
		for _, m := range moments {
			for _, text := range []string{"Begun in ", "Ended in "} {
				check.Equal(t, strings.Count(s.Chat(), text+m.name+"."), 1, "%q is shown %d times", text+m.name)
			}
		}
		if messages := s.Messages(); strings.Contains(messages, "acp:") {
			t.Errorf("messages: %s", messages)
		}
	}, nvimtest.Size(160, 45))
}

// awaitMode waits for a mode, also where Neovim answers nothing else.
func awaitMode(s *scene.Scene, mode string) {
	s.T.Helper()
	s.Await("mode "+mode, func() bool {
		m, err := s.Mode()
		return err == nil && m.Mode == mode
	})
}

// redrawn counts how often the host had to draw a buffer anew.
func redrawn(s *scene.Scene) int {
	s.T.Helper()
	return strings.Count(s.ReadFile(s.LuaString(`require('acp.rpc.host').log_file()`)), "draw a buffer anew")
}
