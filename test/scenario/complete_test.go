package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// menu is the text of the completion menu's items, or nothing where none is shown.
func (s *scene) menu() []string {
	s.t.Helper()
	var items []string
	s.Lua(&items, `
		if vim.fn.pumvisible() == 0 then return {} end
		return vim.tbl_map(function(item) return item.abbr end, vim.fn.complete_info({ 'items' }).items)`)
	return items
}

// awaitMenu waits until the completion menu has these items.
func (s *scene) awaitMenu(want ...string) {
	s.t.Helper()
	s.Await(fmt.Sprintf("the menu %q", want), func() bool { return slices.Equal(s.menu(), want) })
}

// promptText is the text of the prompt of the session used last.
func (s *scene) promptText() string {
	s.t.Helper()
	return s.LuaString(`table.concat(vim.api.nvim_buf_get_lines(
		require('acp.chat.buffers').get(require('acp.rpc.state').resolve()).prompt, 0, -1, false), '\n')`)
}

func (s *scene) awaitPrompt(want string) {
	s.t.Helper()
	s.Await(fmt.Sprintf("%q in the prompt", want), func() bool { return s.promptText() == want })
}

// folder makes files in the working folder.
func (s *scene) folder(names ...string) {
	s.t.Helper()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(s.Dir, name)), 0o777); err != nil {
			s.t.Fatal(err)
		}
		s.write(name, "text of "+name+"\n")
	}
}

// beginTaking is begin with an agent that takes these kinds of content.
func (s *scene) beginTaking(capabilities obj) *puppet {
	s.t.Helper()
	s.Command("Acp")
	p := s.agent()
	p.initialize(obj{"agentCapabilities": obj{"promptCapabilities": capabilities}})
	p.newSession(1)
	s.AwaitEvent("AcpSessionReady")
	return p
}

// blocks waits for a prompt and gives its content blocks; the turn is ended.
func (p *puppet) blocks() []any {
	p.t.Helper()
	m, _ := p.prompted()
	p.stop(m, "end_turn")
	p.scene.AwaitEvent("AcpTurnEnd")
	blocks, _ := m.get("prompt").([]any)
	return blocks
}

func TestSlashOffersCommands(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		p.update("available_commands_update", obj{"availableCommands": []obj{
			{"name": "compact", "description": "Make the\ncontext small"},
			{"name": "plan", "description": "Plan first", "input": obj{"hint": "what to plan"}},
		}})
		s.AwaitLua(`#(require('acp').sessions()[1].commands or {}) == 2`)
		s.Keys("i/")
		s.awaitMenu("/compact", "/plan what to plan")
		if s.promptText() != "/" {
			t.Errorf("the menu has changed the prompt to %q", s.promptText())
		}
		s.Keys("pn")
		s.awaitMenu("/plan what to plan")
		s.Keys("<C-n><C-y>it")
		s.awaitPrompt("/plan it")
		s.Keys("<Esc>ccsee<CR>/")
		s.awaitPrompt("see\n/")
		s.settle()
		if got := s.menu(); len(got) > 0 {
			t.Errorf("a slash in the second line offers %q", got)
		}
	})
}

// settle waits until the host has answered what the prompt has asked so far.
func (s *scene) settle() {
	s.t.Helper()
	s.Lua(nil, `_G.settled = false
		require('acp.rpc.host').request('find_files', { session = require('acp.rpc.state').resolve(), query = '', open = {} }, function()
			vim.schedule(function() vim.schedule(function() _G.settled = true end) end)
		end)`)
	s.AwaitLua(`_G.settled`)
}

func TestAtOffersFiles(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.folder("README.md", "src/lexer.lua", "src/parser.lua", "test/lexer_spec.lua", "notes/a b.txt", "notes/README.md")
		s.Command("edit src/parser.lua")
		p := s.begin()
		s.Keys("iread @")
		s.awaitMenu("src/parser.lua", "README.md", "notes/", "src/", "test/", "notes/README.md", "notes/a b.txt", "src/lexer.lua", "test/lexer_spec.lua")
		if got := s.promptText(); got != "read @" {
			t.Errorf("the menu has changed the prompt to %q", got)
		}
		s.Keys("lxr")
		s.awaitMenu("src/lexer.lua", "test/lexer_spec.lua")
		s.Keys("<C-n>")
		s.awaitPrompt("read @src/lexer.lua")
		s.Keys("<C-e><BS><BS><BS>READ")
		s.awaitMenu("README.md", "notes/README.md")
		s.Keys("<C-n><C-y>")
		s.awaitPrompt("read @README.md")
		s.settle()
		if got := s.menu(); len(got) > 0 {
			t.Errorf("what was chosen offers %q", got)
		}
		s.Keys(" and @notes")
		s.awaitMenu("notes/", "notes/a b.txt", "notes/README.md")
		s.Keys("<C-n><C-y>") // a folder: on with what it holds
		s.awaitMenu("notes/a b.txt", "notes/README.md")
		s.Keys("<C-n><C-y>")
		s.awaitPrompt(`read @README.md and @"notes/a b.txt"`)
		s.Keys(`, me@src @"a b`)
		s.awaitMenu("notes/a b.txt")
		s.Keys("<C-u>me@src")
		s.settle()
		if got := s.menu(); len(got) > 0 {
			t.Errorf("an address offers %q", got)
		}
		s.Keys("<C-u>@nothing there<CR>")
		s.awaitPrompt("@nothing there\n")
		p.silent()
	})
}

func TestTypingFastReachesTheMenu(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.folder("lexer.lua", "parser.lua")
		s.Lua(nil, `vim.o.completeopt = 'menuone,preview'`)
		s.begin()
		s.Keys("i@lex")
		s.awaitMenu("lexer.lua")
		s.Keys("<BS><BS><BS>pars")
		s.awaitMenu("parser.lua")
		// Enter makes a new line: nothing is chosen unless the user does.
		s.Keys("<CR>x")
		s.awaitPrompt("@pars\nx")
		if got := s.LuaString(`vim.o.completeopt .. ' ' .. vim.go.completeopt`); got != "menuone,preview menuone,preview" {
			t.Errorf("'completeopt' is %q", got)
		}
		if got := s.LuaString(`table.concat(vim.tbl_map(function(m) return m.lhs end, vim.api.nvim_buf_get_keymap(0, 'i')), ' ')`); strings.Contains(got, "Tab") {
			t.Errorf("mapped are %s", got)
		}
	})
}

func TestLanguageServerClientsComplete(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.folder("a.lua", "b c.txt")
		s.begin()
		s.Lua(nil, `package.loaded['blink.cmp'] = {}`) // an engine of the user's: no menu of ours
		s.Keys("i@t")
		s.settle()
		if got := s.menu(); len(got) > 0 {
			t.Errorf("the menu has %q", got)
		}
		s.Keys("<C-x><C-o>")
		s.awaitMenu("b c.txt")
		s.Keys("<C-e>")
		s.Lua(nil, `
			local client = vim.lsp.get_clients({ bufnr = 0, name = 'acp' })[1]
			local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
			vim.lsp.buf_request(0, 'textDocument/completion', params, function(_, result) _G.completed = result end)`)
		s.AwaitLua(`_G.completed`)
		got := s.value(`_G.completed`)
		want := obj{"isIncomplete": true, "items": []any{obj{
			"label": "b c.txt", "kind": 17, "detail": "", "filterText": "@t", "sortText": "0001", "score_offset": 100,
			"textEdit": obj{"newText": `@"b c.txt"`, "range": obj{
				"start": obj{"line": 0, "character": 0}, "end": obj{"line": 0, "character": 2},
			}},
		}}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the answer is %v, want %v", got, want)
		}
		// The server goes with Neovim, and before when it is told to.
		s.Lua(nil, `vim.lsp.stop_client(vim.lsp.get_clients({ name = 'acp' }))`)
		s.AwaitLua(`#vim.lsp.get_clients({ name = 'acp' }) == 0`)
	})
}

func TestPluginsThatCompleteTakeACommandForNoFunction(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		long := strings.Repeat("what to plan ", 10)
		p.update("available_commands_update", obj{"availableCommands": []obj{
			{"name": "plan", "description": "Plan first", "input": obj{"hint": long}},
		}})
		s.AwaitLua(`#(require('acp').sessions()[1].commands or {}) == 1`)
		s.Keys("i/")
		s.awaitMenu("/plan what to plan what to plan wha…")
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
	each(t, func(t *testing.T, s *scene) {
		s.folder("inside/a.lua")
		s.Lua(nil, `vim.api.nvim_create_autocmd('LspAttach', { callback = function(event)
			vim.keymap.set('i', '<C-s>', function() _G.theirs = true end, { buffer = event.buf })
			vim.schedule(function() vim.schedule(function() _G.attached = true end) end)
		end })`)
		s.ok(`require('acp').new({ cwd = vim.fs.joinpath(vim.uv.cwd(), 'inside') })`)
		s.Command("Acp")
		p := s.agent()
		p.begin()
		s.AwaitEvent("AcpSessionReady")
		s.AwaitLua(`_G.attached`)
		got := s.LuaString(`vim.lsp.get_clients({ bufnr = 0, name = 'acp' })[1].config.root_dir`)
		if want := filepath.Join(s.Dir, "inside"); got != want {
			t.Errorf("the root of the language server is %q, want %q", got, want)
		}
		s.Lua(nil, `vim.lsp.buf_request_all(0, 'textDocument/documentSymbol',
			{ textDocument = vim.lsp.util.make_text_document_params() }, function(results) _G.symbols = results end)`)
		s.AwaitLua(`_G.symbols`)
		if !s.LuaBool(`vim.tbl_count(_G.symbols) == 1 and vim.deep_equal(select(2, next(_G.symbols)).result, {})`) {
			t.Errorf("the symbols are %v", s.value(`_G.symbols`))
		}
		s.Keys("igo<C-s>")
		s.awaitPrompt("")
		if s.LuaBool(`_G.theirs == true`) {
			t.Error("the key that sends is the user's of language servers")
		}
	})
}

// add runs a command where the user works, which must neither open a window nor take the focus.
func (s *scene) add(command string) {
	s.t.Helper()
	const where = `vim.json.encode({ vim.api.nvim_get_current_win(), vim.api.nvim_tabpage_list_wins(0), vim.api.nvim_win_get_cursor(0) })`
	s.Command("wincmd t")
	before := s.LuaString(where)
	s.Command(command)
	if after := s.LuaString(where); after != before {
		s.t.Errorf("%s leads from %s to %s", command, before, after)
	}
}

func TestAddedLinesAreSentWithUnsavedText(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.unsaved = 'ignore'`)
		path := s.write("code a.txt", "one\ntwo\nthree\nfour\n")
		s.Command("edit code\\ a.txt")
		s.Keys("jcctwo, unsaved<Esc>")
		p := s.beginTaking(obj{"embeddedContext": true})
		s.Command("Acp toggle")
		s.add("2,3Acp add")
		s.add("1Acp add")
		s.awaitPrompt(`@"code a.txt":2-3 @"code a.txt":1 `)
		s.Command("Acp")
		s.AwaitLua(`vim.bo.filetype == 'acp-prompt'`)
		if got := s.LuaInt(`#vim.tbl_filter(function(m) return m[4].hl_group == 'AcpChip' end,
			vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('acp_mention'), 0, -1, { details = true }))`); got != 2 {
			t.Errorf("%d chips are highlighted", got)
		}
		s.Keys("AWhy?<C-s>")
		uri := "file://" + strings.ReplaceAll(path, " ", "%20")
		want := []any{
			obj{"type": "text", "text": `@"code a.txt":2-3 @"code a.txt":1 Why?`},
			obj{"type": "resource", "resource": obj{"uri": uri + "#L2-3", "text": "two, unsaved\nthree\n"}},
			obj{"type": "resource", "resource": obj{"uri": uri + "#L1", "text": "one\n"}},
		}
		if got := p.blocks(); !reflect.DeepEqual(got, want) {
			t.Errorf("sent were %v, want %v", got, want)
		}
		s.awaitChat("Why?\n@ code a.txt:2-3\n@ code a.txt:1")
		s.awaitPrompt("")
	})
}

func TestFilesAreLinkedWhereTheAgentTakesNoMore(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.folder("src/lexer.lua")
		s.write("long.txt", strings.Repeat("long\n", 30_000))
		s.write("binary", "\x00\x01\n")
		p := s.begin()
		link := func(name, fragment string) obj {
			return obj{"type": "resource_link", "uri": "file://" + filepath.Join(s.Dir, name) + fragment, "name": name + strings.Replace(fragment, "#L", ":", 1)}
		}
		text := "(see @src/lexer.lua:1-2, @src/ @src/lexer.lua:1-2 @no/such.lua me@src)."
		s.Keys("i" + text + "<C-s>")
		folder := link("src", "")
		folder["uri"], folder["name"] = folder["uri"].(string)+"/", "src/"
		want := []any{obj{"type": "text", "text": text}, link("src/lexer.lua", "#L1-2"), folder}
		if got := p.blocks(); !reflect.DeepEqual(got, want) {
			t.Errorf("sent were %v, want %v", got, want)
		}
		s.Command("Acp close")
		p.awaitEnd()
		s.Command("Acp new")
		p = s.beginTaking(obj{"embeddedContext": true})
		text = "@long.txt @binary"
		s.Command("Acp prompt " + text)
		want = []any{obj{"type": "text", "text": text}, link("long.txt", ""), link("binary", "")}
		if got := p.blocks(); !reflect.DeepEqual(got, want) {
			t.Errorf("sent were %v, want %v", got, want)
		}
	})
}

func TestPromptsWithFilesKeepTheirOrder(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.folder("a.lua")
		p := s.begin()
		s.ok(`(function() local acp = require('acp')
			acp.prompt({ { type = 'file', path = 'a.lua' }, { type = 'text', text = 'first' } })
			acp.prompt('second')
			return acp.prompt('third') end)()`)
		for _, want := range []string{"first", "second", "third"} {
			m, got := p.prompted()
			if got != want {
				t.Errorf("the agent was asked %q, want %q", got, want)
			}
			p.stop(m, "end_turn")
			s.AwaitEvent("AcpTurnEnd")
		}
		// A cancel right behind a prompt is for that prompt.
		s.ok(`(function() local acp = require('acp')
			acp.prompt({ { type = 'text', text = 'fourth' }, { type = 'file', path = 'a.lua' } })
			return acp.cancel() end)()`)
		m, _ := p.prompted()
		p.expect("session/cancel")
		p.stop(m, "cancelled")
	})
}

func TestChipsBelongToTheirSession(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.folder("a.lua", "b.lua")
		s.Command("edit a.lua")
		if s.add("Acp add"); !strings.Contains(s.Messages(), "there is no session. :Acp new starts one") {
			t.Errorf("without a session the user is told %q", s.Messages())
		}
		p := s.begin()
		s.add("Acp add")
		s.add("%Acp add")
		s.awaitPrompt("@a.lua @a.lua ")
		s.Command("Acp new")
		p.newSession(2)
		s.Command("wincmd t")
		s.Command("edit b.lua")
		s.add("Acp add")
		s.awaitPrompt("@b.lua ")
		s.Command("wincmd b")
		s.Keys("A<C-s>")
		m, text := p.prompted()
		if text != "@b.lua" || m.text("sessionId") != remote(2) {
			t.Errorf("sent was %s", m)
		}
		p.stop(m, "end_turn")
		// What is deleted is not sent.
		s.Command("wincmd t")
		s.ok(`require('acp').add({ session = 1 })`)
		s.Lua(nil, `require('acp.chat.layout').open(1, true)`)
		s.awaitPrompt("@a.lua @a.lua @b.lua ")
		s.Keys("<Esc>ggdGinothing<C-s>")
		m, text = p.prompted()
		if blocks, _ := m.get("prompt").([]any); text != "nothing" || len(blocks) != 1 || m.text("sessionId") != remote(1) {
			t.Errorf("sent was %s", m)
		}
		p.stop(m, "end_turn")
	})
}

func TestTextWithoutAFileIsQuoted(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.begin()
		s.Command("wincmd t")
		s.Keys("iwords<CR>```<CR>end<Esc>")
		s.add("%Acp add")
		s.awaitPrompt("````\nwords\n```\nend\n````\n")
		s.Command("Acp")
		s.Command("Acp add")
		s.awaitMessage("this is the prompt itself")
	})
}

func TestContentBlocksAreChecked(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.beginTaking(obj{"image": true})
		for _, invalid := range []string{
			`{ 'text' }`, `{ { type = 'text' } }`, `{ { type = 'song', data = '' } }`, `{ { text = 'x' } }`,
			`{ { type = 'image', data = 'x' } }`, `{ { type = 'resource_link', uri = 'file:///x' } }`,
			`{ { type = 'resource', uri = 'file:///x', text = '' } }`, `{ { type = 'file' } }`,
			`{ { type = 'file', path = '/x', first = 3 } }`, `{ { type = 'file', path = '/x', first = 3, last = 2 } }`,
		} {
			if err := s.refused(`require('acp').prompt(` + invalid + `)`); !strings.HasPrefix(err, "a content block") {
				t.Errorf("%s is refused: %s", invalid, err)
			}
		}
		for _, kind := range []string{"audio", "resource"} {
			err := s.refused(`require('acp').prompt({ { type = '` + kind + `', mimeType = 'a/b', data = 'aGk=', resource = { uri = 'x:y', text = 'z' } } })`)
			if want := "Puppet takes no content blocks of type " + kind; err != want {
				t.Errorf("%s is refused: %s", kind, err)
			}
		}
		s.ok(`require('acp').prompt({
			{ type = 'text', text = 'look' },
			{ type = 'image', mimeType = 'image/png', data = 'aGk=' },
			{ type = 'resource_link', uri = 'https://example.org/', name = 'page', title = 'The page' },
		})`)
		want := []any{
			obj{"type": "text", "text": "look"},
			obj{"type": "image", "mimeType": "image/png", "data": "aGk="},
			obj{"type": "resource_link", "uri": "https://example.org/", "name": "page", "title": "The page"},
		}
		if got := p.blocks(); !reflect.DeepEqual(got, want) {
			t.Errorf("sent were %v, want %v", got, want)
		}
	})
}

func TestContentIsRefusedOnceTheAgentIsKnown(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("Acp")
		p := s.agent()
		s.ok(`require('acp').prompt({ { type = 'image', mimeType = 'image/png', data = 'aGk=' } })`)
		s.ok(`require('acp').prompt('next')`)
		p.begin()
		if got := p.blocks(); !reflect.DeepEqual(got, []any{obj{"type": "text", "text": "next"}}) {
			t.Errorf("sent were %v", got)
		}
		s.awaitChat("Puppet takes no images: the prompt was not sent.")
	})
}

// slowly has the list of files made no sooner than the test says, by list: a git in the PATH waits for that.
func slowly(t *testing.T) nvimtest.Option {
	dir := t.TempDir()
	script := "#!/bin/sh\nwhile [ ! -e \"$HOME/list\" ]; do sleep 0.02; done\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	return nvimtest.Env("PATH=" + dir + ":" + os.Getenv("PATH"))
}

func (s *scene) list() {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.Home, "list"), nil, 0o666); err != nil {
		s.t.Fatal(err)
	}
}

// What was asked for before the folder was listed is offered when it is, without another key.
func TestFilesAreOfferedWhenTheyAreListed(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.folder("sub/lexer.lua", "lex.txt")
		s.Command("edit lex.txt")
		s.begin()
		s.Keys("iread @lex")
		s.awaitMenu("lex.txt")
		s.Keys("er")
		s.settle()
		s.awaitMenu()
		s.list()
		s.awaitMenu("sub/lexer.lua")
		s.awaitPrompt("read @lexer")
	}, slowly(t))
}

// Whoever has gone on, chosen or has another menu open is left alone.
func TestFilesListedLateDisturbNobody(t *testing.T) {
	for name, play := range map[string]func(s *scene){
		"left Insert mode": func(s *scene) { s.Keys("<Esc>") },
		"another word":     func(s *scene) { s.Keys(" word") },
		"chosen":           func(s *scene) { s.Keys("<C-n>"); s.awaitPrompt("@lex.txt") },
		"another menu": func(s *scene) {
			s.Lua(nil, `vim.fn.complete(1, { { word = 'mine', abbr = 'mine' }, { word = 'other', abbr = 'other' } })`)
			s.awaitMenu("mine", "other")
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				s.folder("sub/lexer.lua", "lex.txt")
				s.Command("edit lex.txt")
				s.begin()
				s.Keys("i@lex")
				s.awaitMenu("lex.txt")
				play(s)
				menu, text := s.menu(), s.promptText()
				s.list()
				s.Lua(nil, `require('acp.rpc.host').request('await_files', { session = 1 }, function() _G.listed = true end)`)
				s.AwaitLua(`_G.listed`)
				s.settle()
				if got := s.menu(); !slices.Equal(got, menu) || s.promptText() != text {
					t.Errorf("%q with the menu %q has become %q with %q", text, menu, s.promptText(), got)
				}
			}, slowly(t))
		})
	}
}

// A language client asks but once: it has its answer when there is one.
func TestLanguageServerClientsWaitForTheFirstAnswer(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.folder("lexer.lua")
		s.Lua(nil, `package.loaded['blink.cmp'] = {}
			_G.ask = function(name)
				local client = vim.lsp.get_clients({ bufnr = 0, name = 'acp' })[1]
				local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
				vim.lsp.buf_request(0, 'textDocument/completion', params, function(_, result)
					_G[name] = vim.tbl_map(function(item) return item.label end, result.items)
				end)
			end`)
		s.Command("Acp")
		p := s.agent()
		s.Keys("i@le")
		s.awaitPrompt("@le")
		s.Lua(nil, `ask('earlier')`)
		s.Keys("x")
		s.awaitPrompt("@lex")
		s.Lua(nil, `ask('files')`)
		s.AwaitLua(`vim.deep_equal(earlier, {})`) // the client has gone on
		s.settle()
		if s.LuaBool(`files ~= nil`) {
			t.Error("the answer came before there was one")
		}
		s.list()
		s.AwaitLua(`vim.deep_equal(files, { 'lexer.lua' })`)

		s.Keys("<Esc>cc/")
		s.awaitPrompt("/")
		s.Lua(nil, `ask('commands')`)
		s.settle()
		p.begin()
		s.AwaitEvent("AcpSessionReady")
		if s.LuaBool(`commands ~= nil`) {
			t.Error("the answer came before there was one")
		}
		p.update("available_commands_update", obj{"availableCommands": []obj{{"name": "plan", "description": ""}}})
		s.AwaitLua(`vim.deep_equal(commands, { '/plan' })`)
	}, slowly(t))
}

// A slash that was typed before the agent has told its commands opens the menu when it does.
func TestCommandsAreOfferedWhenTheyAreTold(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("Acp")
		p := s.agent()
		s.Keys("i/pl")
		s.awaitPrompt("/pl")
		p.begin()
		s.AwaitEvent("AcpSessionReady")
		p.update("available_commands_update", obj{"availableCommands": []obj{
			{"name": "compact", "description": ""}, {"name": "plan", "description": ""},
		}})
		s.awaitMenu("/plan")
		s.awaitPrompt("/pl")
	})
}

// What the user has mapped for the prompt and the chat stays; what they map wherever a language server attaches does
// not win.
func TestKeysOfTheUsersForOurBuffersStay(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
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
		p := s.begin()
		s.AwaitLua(`_G.attached`)
		s.Keys("igo")
		s.awaitPrompt("go")
		s.Await("no key to be offered", func() bool { return !strings.Contains(s.Screen(), "> send") })
		s.Keys("<C-s>")
		s.AwaitLua(`_G.signature`)
		s.Keys("<Esc><C-p>")
		s.AwaitLua(`_G.previous`)
		s.Keys("<CR>")
		p.turn("go")
		if s.LuaBool(`_G.theirs == true`) {
			t.Error("a key that sends is the user's of language servers")
		}
		s.Command("wincmd k")
		s.Keys("o")
		s.AwaitLua(`_G.opened`)
	})
}
