package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestPromptIsSentWithBothKeys(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Keys("ione<CR>two<C-s>")
		turn := p.PromptedWith("one\ntwo")
		s.AwaitLua(`vim.api.nvim_get_current_line() == '' and vim.fn.mode() == 'i'`)
		p.EndTurn(turn)
		s.Keys("three<Esc><CR>")
		p.PlayTurn("three")
		s.GoldenScreen("sent")
	})
}

// promptWin is the Lua expression for the first prompt window of the tab.
const promptWin = `(select(2, require('acp.chat.layout').windows(0)))`

func awaitPromptHeight(s *scene.Scene, want int) {
	s.T.Helper()
	s.AwaitLua(`vim.api.nvim_win_get_height(`+promptWin+`) == ...`, want)
}

func TestPromptGrowsWithItsText(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		awaitPromptHeight(s, 4)
		s.Keys("i1<CR>2<CR>3<CR>4<CR>5<CR>6")
		awaitPromptHeight(s, 7) // with the winbar
		s.Keys("<CR>7<CR>8<CR>9<CR>10<CR>11<CR>12")
		awaitPromptHeight(s, 9) // two fifths of the screen
		s.GoldenScreen("grown")
		s.Keys("<Esc>dgg")
		awaitPromptHeight(s, 4)
		s.Keys("u")
		awaitPromptHeight(s, 9)
		s.Keys("i<C-s>")
		p.PlayTurn("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12")
		awaitPromptHeight(s, 4)

		// A line that is wrapped counts by what is shown of it.
		s.Keys("<C-u>" + strings.Repeat("quite ", 30))
		awaitPromptHeight(s, 6)
		s.Keys("<C-s>")
		p.PlayTurn(strings.TrimSpace(strings.Repeat("quite ", 30)))
		awaitPromptHeight(s, 4)
	})
}

func TestPromptOfManyLines(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		text := strings.TrimSuffix(scene.Lines(1, 5000), "\n") + "\n\n" + strings.Repeat("long ", 20000) + "end"
		s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(..., '\n'))`, text)
		s.Keys("G<CR>")
		p.PlayTurn(text)
		s.AwaitChat(" KB · all of it in a window of its own")
		s.AwaitPrompt("")
		if short, _, _ := strings.Cut(text, "\nlong "); !strings.Contains(s.Chat(), short+"\n"+strings.Repeat("long ", 800)) {
			t.Error("the chat does not show the whole prompt, up to a line in which Neovim would be slow")
		}
		s.Keys("u")
		s.AwaitPrompt(text)
	})
}

func TestUndoBringsBackWhatWasSent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Keys("ifrom Insert mode<C-s>")
		p.PlayTurn("from Insert mode")
		s.AwaitPrompt("")
		s.Keys("<Esc>u")
		s.AwaitPrompt("from Insert mode")
		s.Keys("A, again<Esc><CR>")
		p.PlayTurn("from Insert mode, again")
		s.AwaitPrompt("")
		s.Keys("u")
		s.AwaitPrompt("from Insert mode, again")
		s.Keys("u")
		s.AwaitPrompt("from Insert mode")
	})
}

func TestPromptHistory(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.keys = { history_previous = '<Up>', history_next = '<Down>' }`)
		p := s.Begin()
		for _, text := range []string{"one", "two\nlines", "two\nlines", "three"} {
			s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(..., '\n'))`, text)
			s.Keys("<CR>")
			p.PlayTurn(text)
			s.AwaitPrompt("")
		}
		s.Keys("idraft<Esc>")
		s.AwaitPrompt("draft")
		for _, step := range []struct{ key, want string }{
			{"<Up>", "three"}, {"<Up>", "two\nlines"}, {"<Up>", "one"}, {"<Up>", "one"},
			{"<Down>", "two\nlines"}, {"<Down>", "three"}, {"<Down>", "draft"}, {"<Down>", "draft"},
		} {
			s.Keys(step.key)
			s.AwaitPrompt(step.want)
		}
		// An earlier prompt is edited and sent again, and then is the last one.
		s.Keys("<Up><Up><Up>")
		s.AwaitPrompt("one")
		s.Keys("A more<Esc>")
		s.AwaitPrompt("one more")
		s.Keys("<CR>")
		p.PlayTurn("one more")
		s.AwaitPrompt("")
		s.Keys("<Up>")
		s.AwaitPrompt("one more")
		s.Keys("<Up>")
		s.AwaitPrompt("three")
		// What was made of it is a draft like any other.
		s.Keys("ccfour<Esc>")
		s.AwaitPrompt("four")
		s.Keys("<Up>")
		s.AwaitPrompt("one more")
		s.Keys("<Down>")
		s.AwaitPrompt("four")
	})
}

func TestPromptSaysWhatItIsFor(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.AwaitScreen("Ask Puppet")
		s.AwaitScreen("<CR> send")
		s.Keys("i")
		s.AwaitScreen("<C-s> send")
		s.Keys("x")
		s.Await("no hint", func() bool { return !strings.Contains(s.Screen(), "Ask Puppet") })
		s.Keys("<BS>")
		s.AwaitScreen("Ask Puppet")
		s.Keys("<Esc>")
		turn := s.Prompt(p, "work")
		s.AwaitScreen("<C-c> stop")
		// In Insert mode it would only end that; and typing elsewhere is not typing here.
		s.Keys("i")
		s.AwaitScreen("<C-s> send")
		s.Await("no key that does not work", func() bool { return !strings.Contains(s.Screen(), "<C-c> stop") })
		s.Command("wincmd h")
		s.AwaitScreen("<CR> send  <C-c> stop")
		s.Command("wincmd p")
		s.AwaitScreen("<C-s> send")
		s.Keys("<Esc>")
		s.AwaitScreen("<CR> send  <C-c> stop")
		s.OK(`require('acp').prompt('later')`)
		s.AwaitScreen("1 queued")
		s.Command("Acp cancel")
		p.Expect("session/cancel")
		p.Stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		s.AwaitScreen("Send an empty prompt to resume")
		s.Keys("<CR>")
		p.PlayTurn("later")
		s.AwaitScreen("Ask Puppet")
	})
}

// steerable is an answer to initialize as Claude and Codex give it.
var steerable = obj{"_meta": obj{"steering": obj{"supported": true}}}

// prompts is what of the chat's lines has the sign of a prompt, by the sign's highlight.
func prompts(s *scene.Scene) obj {
	s.T.Helper()
	return s.Value(`(function(buf)
		local found = vim.empty_dict()
		for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, -1, 0, -1, { details = true })) do
			if vim.trim(mark[4].sign_text or '') == '▌' then
				local line = vim.api.nvim_buf_get_lines(buf, mark[2], mark[2] + 1, false)[1]
				found[line] = vim.fn.synIDattr(mark[4].sign_hl_group and vim.fn.hlID(mark[4].sign_hl_group) or 0, 'name')
			end
		end
		return found
	end)(` + scene.ChatBuf + `)`).(obj)
}

// awaitPrompts waits until the chat has these prompts, sent ("said") and not ("waits"), each once.
func awaitPrompts(s *scene.Scene, want obj) {
	s.T.Helper()
	s.Await(fmt.Sprintf("the prompts %v", want), func() bool {
		got := obj{}
		for text, group := range prompts(s) {
			got[text] = map[any]string{"AcpUser": "said", "AcpMore": "waits"}[group]
		}
		return reflect.DeepEqual(got, want)
	})
	for text := range want {
		s.OnceInChat(text)
	}
}

// drafts is the drafts below a state folder.
func drafts(s *scene.Scene, state string) (texts []string) {
	s.T.Helper()
	dir := filepath.Join(state, "nvim/acp/drafts")
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.T.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".new") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		info, err2 := f.Info()
		if err = errors.Join(err, err2); err != nil {
			s.T.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			s.T.Errorf("%s has the mode %v", f.Name(), info.Mode())
		}
		texts = append(texts, string(text))
	}
	return texts
}

func awaitDrafts(s *scene.Scene, state string, want ...string) {
	s.T.Helper()
	s.Await(fmt.Sprintf("the drafts %q", want), func() bool { return slices.Equal(drafts(s, state), want) })
}

// Where a float comes or goes while the command-line window is open, Neovim does not give the windows their heights back.
func TestPromptKeepsItsHeightBehindTheCommandLineWindow(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Begin()
		awaitPromptHeight(s, 4)
		s.Keys("q:")
		s.AwaitLua(`vim.fn.getcmdwintype() == ':'`)
		s.Lua(nil, `_G.float = vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false,
			{ relative = 'editor', row = 1, col = 1, width = 5, height = 2 })`)
		s.Keys("<CR>")
		s.AwaitLua(`vim.fn.getcmdwintype() == ''`)
		awaitPromptHeight(s, 4)
		s.Keys(":<C-f>")
		s.AwaitLua(`vim.fn.getcmdwintype() == ':'`)
		s.Lua(nil, `vim.api.nvim_win_close(_G.float, true)`)
		s.Keys("<CR>")
		s.AwaitLua(`vim.fn.getcmdwintype() == ''`)
		awaitPromptHeight(s, 4)
	}, nvimtest.Size(120, 32))
}

func TestTextwidthDoesNotBreakThePrompt(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("set textwidth=10 formatoptions+=t")
		s.Begin()
		s.Keys("ia line that is longer than that")
		s.AwaitPrompt("a line that is longer than that")
	})
}

func TestThePromptsKeyIsOfTheModeThere(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Begin()
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
