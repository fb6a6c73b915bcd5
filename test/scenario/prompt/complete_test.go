package prompt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// beginTaking is Begin with an agent that takes these kinds of content.
func beginTaking(s *scene.Scene, capabilities obj) *scene.Puppet {
	s.T.Helper()
	s.Command("Acp")
	p := s.Agent()
	p.Initialize(obj{"agentCapabilities": obj{"promptCapabilities": capabilities}})
	p.NewSession(1)
	s.AwaitEvent("AcpSessionReady")
	return p
}

// blocks waits for a prompt and gives its content blocks; the turn is ended.
func blocks(p *scene.Puppet) []any {
	p.T.Helper()
	m, _ := p.Prompted()
	p.Stop(m, "end_turn")
	p.Scene.AwaitEvent("AcpTurnEnd")
	blocks, _ := m.Get("prompt").([]any)
	return blocks
}

func TestSlashOffersCommands(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		p.Update("available_commands_update", obj{"availableCommands": []obj{
			{"name": "compact", "description": "Make the\ncontext small"},
			{"name": "plan", "description": "Plan first", "input": obj{"hint": "what to plan"}},
		}})
		s.AwaitLua(`#(require('acp').sessions()[1].commands or {}) == 2`)
		s.Keys("i/")
		s.AwaitMenu("/compact", "/plan what to plan")
		check.Equal(t, s.PromptText(), "/", "the menu has changed the prompt to %q")
		s.Keys("pn")
		s.AwaitMenu("/plan what to plan")
		s.Keys("<C-n><C-y>it")
		s.AwaitPrompt("/plan it")
		s.Keys("<Esc>ccsee<CR>/")
		s.AwaitPrompt("see\n/")
		settle(s)
		if got := s.Menu(); len(got) > 0 {
			t.Errorf("a slash in the second line offers %q", got)
		}
	})
}

// settle waits until the host has answered what the prompt has asked so far.
func settle(s *scene.Scene) {
	s.T.Helper()
	s.Lua(nil, `_G.settled = false
		require('acp.rpc.host').request('find_files', { session = require('acp.rpc.state').resolve(), query = '', open = {} }, function()
			vim.schedule(function() vim.schedule(function() _G.settled = true end) end)
		end)`)
	s.AwaitLua(`_G.settled`)
}

func TestAtOffersFiles(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFiles("README.md", "src/lexer.lua", "src/parser.lua", "test/lexer_spec.lua", "notes/a b.txt", "notes/README.md")
		s.Command("edit src/parser.lua")
		p := s.Begin()
		s.Keys("iread @")
		s.AwaitMenu("buffer", "selection", "diagnostics", "quickfix", "diff", "terminal", "symbol:", "url:",
			"src/parser.lua", "README.md", "notes/", "src/", "test/", "notes/README.md", "notes/a b.txt", "src/lexer.lua", "test/lexer_spec.lua")
		check.Equal(t, s.PromptText(), "read @", "the menu has changed the prompt to %q")
		s.Keys("lxr")
		s.AwaitMenu("src/lexer.lua", "test/lexer_spec.lua")
		s.Keys("<C-n>")
		s.AwaitPrompt("read @src/lexer.lua")
		s.Keys("<C-e><BS><BS><BS>READ")
		s.AwaitMenu("README.md", "notes/README.md")
		s.Keys("<C-n><C-y>")
		s.AwaitPrompt("read @README.md")
		settle(s)
		if got := s.Menu(); len(got) > 0 {
			t.Errorf("what was chosen offers %q", got)
		}
		s.Keys(" and @notes")
		s.AwaitMenu("notes/", "notes/a b.txt", "notes/README.md")
		s.Keys("<C-n><C-y>") // a folder: on with what it holds
		s.AwaitMenu("notes/a b.txt", "notes/README.md")
		s.Keys("<C-n><C-y>")
		s.AwaitPrompt(`read @README.md and @"notes/a b.txt"`)
		s.Keys(`, me@src @"a b`)
		s.AwaitMenu("notes/a b.txt")
		s.Keys("<C-u>me@src")
		settle(s)
		if got := s.Menu(); len(got) > 0 {
			t.Errorf("an address offers %q", got)
		}
		s.Keys("<C-u>@nothing there<CR>")
		s.AwaitPrompt("@nothing there\n")
		p.Silent()
	})
}

func TestTypingFastReachesTheMenu(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFiles("lexer.lua", "parser.lua")
		s.Lua(nil, `vim.o.completeopt = 'menuone,preview'`)
		s.Begin()
		s.Keys("i@lex")
		s.AwaitMenu("lexer.lua")
		s.Keys("<BS><BS><BS>pars")
		s.AwaitMenu("parser.lua")
		// Enter makes a new line: nothing is chosen unless the user does.
		s.Keys("<CR>x")
		s.AwaitPrompt("@pars\nx")
		check.Equal(t, s.LuaString(`vim.o.completeopt .. ' ' .. vim.go.completeopt`), "menuone,preview menuone,preview",
			"'completeopt' is %q")
		if got := s.LuaString(`table.concat(vim.tbl_map(function(m) return m.lhs end, vim.api.nvim_buf_get_keymap(0, 'i')), ' ')`); strings.Contains(got, "Tab") {
			t.Errorf("mapped are %s", got)
		}
	})
}

func TestLanguageServerClientsComplete(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFiles("a.lua", "b c.txt")
		s.Begin()
		s.Lua(nil, `package.loaded['blink.cmp'] = {}`) // an engine of the user's: no menu of ours
		s.Keys("i@x")
		settle(s)
		if got := s.Menu(); len(got) > 0 {
			t.Errorf("the menu has %q", got)
		}
		s.Keys("<C-x><C-o>")
		s.AwaitMenu("b c.txt")
		s.Keys("<C-e>")
		s.Lua(nil, `
			local client = vim.lsp.get_clients({ bufnr = 0, name = 'acp' })[1]
			local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
			vim.lsp.buf_request(0, 'textDocument/completion', params, function(_, result) _G.completed = result end)`)
		s.AwaitLua(`_G.completed`)
		got := s.Value(`_G.completed`)
		want := obj{"isIncomplete": true, "items": []any{obj{
			"label": "b c.txt", "kind": 17, "detail": "", "filterText": "@x", "sortText": "0001", "score_offset": 100,
			"textEdit": obj{"newText": `@"b c.txt"`, "range": obj{
				"start": obj{"line": 0, "character": 0}, "end": obj{"line": 0, "character": 2},
			}},
		}}}
		check.Deep(t, got, want, "the answer is %v")
		// The server goes with Neovim, and before when it is told to.
		s.Lua(nil, `vim.lsp.stop_client(vim.lsp.get_clients({ name = 'acp' }))`)
		s.AwaitLua(`#vim.lsp.get_clients({ name = 'acp' }) == 0`)
	})
}

func TestPluginsThatCompleteTakeACommandForNoFunction(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		long := strings.Repeat("what to plan ", 10)
		p.Update("available_commands_update", obj{"availableCommands": []obj{
			{"name": "plan", "description": "Plan first", "input": obj{"hint": long}},
		}})
		s.AwaitLua(`#(require('acp').sessions()[1].commands or {}) == 1`)
		s.Keys("i/")
		s.AwaitMenu("/plan what to plan what to plan wha…")
		s.Lua(nil, `
			local client = vim.lsp.get_clients({ bufnr = 0, name = 'acp' })[1]
			local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
			vim.lsp.buf_request(0, 'textDocument/completion', params, function(_, result) _G.completed = result end)`)
		s.AwaitLua(`_G.completed`)
		var item struct {
			Kind   int    `msgpack:"kind"`
			Score  int    `msgpack:"score_offset"`
			Detail string `msgpack:"detail"`
			Whole  string `msgpack:"documentation"`
		}
		s.Lua(&item, `return _G.completed.items[1]`)
		// 2 to 4 are Method, Function and Constructor, behind which plugins write brackets.
		if item.Kind != 14 || item.Score <= 3 || item.Detail != "Plan first" || item.Whole != "/plan "+long {
			t.Errorf("the item is %+v", item)
		}
	})
}

func TestPromptsLanguageServerLeavesOthersInPeace(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFiles("inside/a.lua")
		s.Lua(nil, `vim.api.nvim_create_autocmd('LspAttach', { callback = function(event)
			vim.keymap.set('i', '<C-s>', function() _G.theirs = true end, { buffer = event.buf })
			vim.schedule(function() vim.schedule(function() _G.attached = true end) end)
		end })`)
		s.OK(`require('acp').new({ cwd = vim.fs.joinpath(vim.uv.cwd(), 'inside') })`)
		s.Command("Acp")
		s.ReadyAgent()
		s.AwaitLua(`_G.attached`)
		got := s.LuaString(`vim.lsp.get_clients({ bufnr = 0, name = 'acp' })[1].config.root_dir`)
		check.Equal(t, got, filepath.Join(s.Dir, "inside"), "the root of the language server is %q")
		s.Lua(nil, `vim.lsp.buf_request_all(0, 'textDocument/documentSymbol',
			{ textDocument = vim.lsp.util.make_text_document_params() }, function(results) _G.symbols = results end)`)
		s.AwaitLua(`_G.symbols`)
		if !s.LuaBool(`vim.tbl_count(_G.symbols) == 1 and vim.deep_equal(select(2, next(_G.symbols)).result, {})`) {
			t.Errorf("the symbols are %v", s.Value(`_G.symbols`))
		}
		s.Keys("igo<C-s>")
		s.AwaitPrompt("")
		if s.LuaBool(`_G.theirs == true`) {
			t.Error("the key that sends is the user's of language servers")
		}
	})
}

// add runs a command where the user works, which must neither open a window nor take the focus.
func add(s *scene.Scene, command string) {
	s.T.Helper()
	const where = `vim.json.encode({ vim.api.nvim_get_current_win(), vim.api.nvim_tabpage_list_wins(0), vim.api.nvim_win_get_cursor(0) })`
	s.Command("wincmd t")
	before := s.LuaString(where)
	s.Command(command)
	check.Equal(s.T, s.LuaString(where), before, "%s leads from %s to %s", command, before)
}

// slowly has the list of files made no sooner than the test says, by list: a git in the PATH waits for that.
func slowly(t *testing.T) nvimtest.Option {
	dir := t.TempDir()
	script := "#!/bin/sh\nwhile [ ! -e \"$HOME/list\" ]; do sleep 0.02; done\nexit 1\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o777))
	return nvimtest.Env("PATH=" + dir + ":" + os.Getenv("PATH"))
}

func list(s *scene.Scene) {
	s.T.Helper()
	must.Do(s.T, os.WriteFile(filepath.Join(s.Home, "list"), nil, 0o666))
}

// What was asked for before the folder was listed is offered when it is, without another key.
func TestFilesAreOfferedWhenTheyAreListed(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFiles("sub/lexer.lua", "lex.txt")
		s.Command("edit lex.txt")
		s.Begin()
		s.Keys("iread @lex")
		s.AwaitMenu("lex.txt")
		s.Keys("er")
		settle(s)
		s.AwaitMenu()
		list(s)
		s.AwaitMenu("sub/lexer.lua")
		s.AwaitPrompt("read @lexer")
	}, slowly(t))
}

// Whoever has gone on, chosen or has another menu open is left alone.
func TestFilesListedLateDisturbNobody(t *testing.T) {
	for name, play := range map[string]func(s *scene.Scene){
		"left Insert mode": func(s *scene.Scene) { s.Keys("<Esc>") },
		"another word":     func(s *scene.Scene) { s.Keys(" word") },
		"chosen":           func(s *scene.Scene) { s.Keys("<C-n>"); s.AwaitPrompt("@lex.txt") },
		"another menu": func(s *scene.Scene) {
			s.Lua(nil, `vim.fn.complete(1, { { word = 'mine', abbr = 'mine' }, { word = 'other', abbr = 'other' } })`)
			s.AwaitMenu("mine", "other")
		},
	} {
		t.Run(name, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				s.WriteFiles("sub/lexer.lua", "lex.txt")
				s.Command("edit lex.txt")
				s.Begin()
				s.Keys("i@lex")
				s.AwaitMenu("lex.txt")
				play(s)
				menu, text := s.Menu(), s.PromptText()
				list(s)
				s.Lua(nil, `require('acp.rpc.host').request('await_files', { session = 1 }, function() _G.listed = true end)`)
				s.AwaitLua(`_G.listed`)
				settle(s)
				if got := s.Menu(); !slices.Equal(got, menu) || s.PromptText() != text {
					t.Errorf("%q with the menu %q has become %q with %q", text, menu, s.PromptText(), got)
				}
			}, slowly(t))
		})
	}
}

// A language client asks but once: it has its answer when there is one.
func TestLanguageServerClientsWaitForTheFirstAnswer(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFiles("lexer.lua")
		s.Lua(nil, `package.loaded['blink.cmp'] = {}
			_G.ask = function(name)
				local client = vim.lsp.get_clients({ bufnr = 0, name = 'acp' })[1]
				local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
				vim.lsp.buf_request(0, 'textDocument/completion', params, function(_, result)
					_G[name] = vim.tbl_map(function(item) return item.label end, result.items)
				end)
			end`)
		s.Command("Acp")
		p := s.Agent()
		s.Keys("i@le")
		s.AwaitPrompt("@le")
		s.Lua(nil, `ask('earlier')`)
		s.Keys("x")
		s.AwaitPrompt("@lex")
		s.Lua(nil, `ask('files')`)
		s.AwaitLua(`vim.deep_equal(earlier, {})`) // the client has gone on
		settle(s)
		if s.LuaBool(`files ~= nil`) {
			t.Error("the answer came before there was one")
		}
		list(s)
		s.AwaitLua(`vim.deep_equal(files, { 'lexer.lua' })`)

		s.Keys("<Esc>cc/")
		s.AwaitPrompt("/")
		s.Lua(nil, `ask('commands')`)
		settle(s)
		p.Begin()
		s.AwaitEvent("AcpSessionReady")
		if s.LuaBool(`commands ~= nil`) {
			t.Error("the answer came before there was one")
		}
		p.Update("available_commands_update", obj{"availableCommands": []obj{{"name": "plan", "description": ""}}})
		s.AwaitLua(`vim.deep_equal(commands, { '/plan' })`)
	}, slowly(t))
}

// A slash that was typed before the agent has told its commands opens the menu when it does.
func TestCommandsAreOfferedWhenTheyAreTold(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("Acp")
		p := s.Agent()
		s.Keys("i/pl")
		s.AwaitPrompt("/pl")
		p.Begin()
		s.AwaitEvent("AcpSessionReady")
		p.Update("available_commands_update", obj{"availableCommands": []obj{
			{"name": "compact", "description": ""}, {"name": "plan", "description": ""},
		}})
		s.AwaitMenu("/plan")
		s.AwaitPrompt("/pl")
	})
}

// What the user has mapped for the prompt and the chat stays; what they map wherever a language server attaches does
// not win.
func TestKeysOfTheUsersForOurBuffersStay(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `
			vim.api.nvim_create_autocmd('FileType', { pattern = 'acp-prompt', callback = function(event)
				vim.keymap.set('i', '<C-s>', function() _G.signature = true end, { buffer = event.buf })
				vim.keymap.set('n', '<C-p>', function() _G.previous = true end, { buffer = event.buf })
			end })
			vim.api.nvim_create_autocmd('FileType', { pattern = 'acp-chat', callback = function(event)
				vim.keymap.set('n', 'o', function() _G.opened = true end, { buffer = event.buf })
			end })
			vim.api.nvim_create_autocmd('LspAttach', { callback = function(event)
				vim.keymap.set('n', '<CR>', function() _G.theirs = true end, { buffer = event.buf })
				vim.schedule(function() vim.schedule(function() _G.attached = true end) end)
			end })
			require('acp').new()`)
		p := s.Begin()
		s.AwaitLua(`_G.attached`)
		s.Keys("igo")
		s.AwaitPrompt("go")
		s.Await("no key to be offered", func() bool { return !strings.Contains(s.Screen(), "> send") })
		s.Keys("<C-s>")
		s.AwaitLua(`_G.signature`)
		s.Keys("<Esc><C-p>")
		s.AwaitLua(`_G.previous`)
		s.Keys("<CR>")
		p.PlayTurn("go")
		if s.LuaBool(`_G.theirs == true`) {
			t.Error("a key that sends is the user's of language servers")
		}
		s.Command("wincmd k")
		s.Keys("o")
		s.AwaitLua(`_G.opened`)
	})
}
