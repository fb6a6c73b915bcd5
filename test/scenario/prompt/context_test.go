package prompt

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// What a prompt names beside files goes along as the user has it when they send it.
func TestWordsStandForWhatTheUserSees(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'ignore'`)
		path := s.WriteFile("lexer.lua", "one\ntwo\nthree\n")
		s.Command("edit lexer.lua")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		s.Keys("jVj<Esc>")
		s.Lua(nil, `vim.diagnostic.set(vim.api.nvim_create_namespace('test'), ..., {
			{ lnum = 2, col = 0, message = 'unused', severity = 2, source = 'luals', code = 'w1' },
			{ lnum = 0, col = 4, message = 'undefined', severity = 1 } })`, buf)
		s.Lua(nil, `vim.fn.setqflist({}, 'r', { title = ':grep two', items = {
			{ bufnr = ..., lnum = 2, col = 1, text = 'two' } } })`, buf)
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Keys("i@buffer, @selection; @diagnostics: @quickfix @url:https://example.org/a_(b).")
		s.AwaitScreen("@ lexer.lua  @ lexer.lua:2-3  +3")
		s.Keys("<C-s>")
		uri := "file://" + path
		want := []any{
			obj{"type": "text", "text": "@buffer, @selection; @diagnostics: @quickfix @url:https://example.org/a_(b)."},
			obj{"type": "resource", "resource": obj{"uri": uri, "text": "one\ntwo\nthree\n"}},
			obj{"type": "resource", "resource": obj{"uri": uri + "#L2-3", "text": "two\nthree\n"}},
			obj{"type": "resource", "resource": obj{"uri": "nvim://diagnostics/lexer.lua", "mimeType": "text/plain",
				"text": "lexer.lua:1:5: error: undefined\nlexer.lua:3:1: warning: unused [luals w1]\n"}},
			obj{"type": "resource", "resource": obj{"uri": "nvim://quickfix/grep%20two", "mimeType": "text/plain",
				"text": "lexer.lua:2:1: two\n"}},
			obj{"type": "resource_link", "uri": "https://example.org/a_(b)", "name": "example.org/a_(b)"},
		}
		check.Deep(t, blocks(p), want, "sent were %v")
		s.AwaitChat("@ lexer.lua\n@ lexer.lua:2-3\n@ diagnostics: lexer.lua\n@ quickfix: grep two\n")
	})
}

// An agent that takes no embedded text gets words, and the chat shows the same.
func TestWordsAreTextForAgentsThatTakeNoMore(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Lua(nil, `vim.fn.setqflist({}, 'r', { items = { { text = 'make: failed' } } })`)
		p := s.Begin()
		s.Command("Acp prompt Why? @quickfix")
		want := []any{
			obj{"type": "text", "text": "Why? @quickfix"},
			obj{"type": "text", "text": "The quickfix list:\n```\nmake: failed\n```"},
		}
		got := blocks(p)
		if text := got[1].(obj)["text"].(string); strings.Contains(text, "setqflist") { // Neovim's own title
			got[1].(obj)["text"] = "The quickfix list" + text[strings.Index(text, ":\n"):]
		}
		check.Deep(t, got, want, "sent were %v")
		s.AwaitChat("Why? @quickfix\n@ quickfix")
	})
}

func TestWhatIsEmptyIsToldAndNotSent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		s.WriteFiles("a.lua")
		s.Command("edit a.lua")
		p := s.Begin()
		s.Keys("i@diagnostics")
		s.AwaitScreen("@ no diagnostics")
		s.Keys(" @quickfix @selection @terminal @symbol:none<C-s>")
		if got := blocks(p); len(got) != 1 {
			t.Errorf("sent were %v", got)
		}
		s.AwaitNotification("No diagnostics in a.lua. The quickfix list is empty. Nothing was selected in a.lua. " +
			"There is no terminal. The symbol none was not found: no language server of the buffer knows it: these were not sent along")
	})
}

func TestPrivateTextIsNotGathered(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile(".env", "KEY=secret\n")
		s.WriteFile("a.txt", "plain\n")
		s.Shell("git init -q && git add -fA && git -c user.name=a -c user.email=a@b commit -qm a")
		s.WriteFile(".env", "KEY=secret2\n")
		s.Lua(nil, `vim.fn.setqflist({}, 'r', { title = 'keys', items = { { filename = '.env', lnum = 1, text = 'KEY=secret' },
			{ filename = 'a.txt', lnum = 1, text = 'plain' } } })`)
		s.Command("edit .env")
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Command("Acp prompt @buffer @quickfix @diff")
		want := []any{
			obj{"type": "text", "text": "@buffer @quickfix @diff"},
			obj{"type": "resource_link", "uri": "file://" + path, "name": ".env"},
			obj{"type": "resource", "resource": obj{"uri": "nvim://quickfix/keys", "mimeType": "text/plain", "text": "a.txt:1: plain\n"}},
		}
		check.Deep(t, blocks(p), want, "sent were %v")
		s.AwaitChat(".env is private: its text was not sent. Name it in the prompt to send it.")
		s.AwaitChat("@quickfix was sent without private files: .env.")
		s.AwaitChat("@diff was not sent: nothing else has changed since the last commit.")
		s.Command("Acp prompt @.env") // named
		check.Equal(t, blocks(p)[1].(obj)["type"], "resource", "what the user has named went as %v")
	})
}

func TestDiffSinceTheLastCommit(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("a.txt", "one\n")
		s.Shell("git init -q && git add a.txt && git -c user.name=a -c user.email=a@b commit -qm a")
		s.WriteFile("a.txt", "two\n")
		s.WriteFile("new file.txt", "brand new\n")
		s.WriteFile(".env", "KEY=secret\n")
		s.WriteFile("ignored.log", "noise\n")
		s.WriteFile(".gitignore", "*.log\n")
		s.WriteFile("large.txt", strings.Repeat("much of it\n", 100_000))
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Keys("i")
		settle(s)
		s.AwaitLua(`vim.startswith(require('acp.prompt.context').preview(1, '', { context = 'diff' }).preview(), 'diff --git a/a.txt')`)
		s.Keys("@diff<C-s>")
		got, _ := blocks(p)[1].(obj)["resource"].(obj)
		if text, _ := got["text"].(string); got["uri"] != "nvim://diff" || !strings.Contains(text, "\n-one\n+two\n") ||
			!strings.Contains(text, "\n+brand new\n") || strings.Contains(text, "secret") || strings.Contains(text, "noise") || strings.Contains(text, "much of it") {
			t.Errorf("sent was %v", got)
		}
		s.AwaitChat("@diff was sent without private files: .env.")
		s.AwaitChat("@diff was sent without new files that are too large, or too many: large.txt.")
	})
}

func TestLastOutputOfATerminal(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("terminal printf 'first\\nlast\\n'")
		s.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find('last') ~= nil`)
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Command("Acp prompt @terminal")
		got, _ := blocks(p)[1].(obj)["resource"].(obj)
		if text, _ := got["text"].(string); !strings.HasPrefix(text, "first\nlast\n") || !strings.HasPrefix(got["uri"].(string), "nvim://terminal/printf") {
			t.Errorf("sent was %v", got)
		}
	})
}

// symbolServer is a language server of the current buffer that knows one function; it answers when it is let.
const symbolServer = `
	local function answer(callback) vim.schedule(function() callback(nil, { { name = 'parse all', kind = 12,
		range = { start = { line = 1, character = 0 }, ['end'] = { line = 2, character = 3 } },
		selectionRange = { start = { line = 1, character = 0 }, ['end'] = { line = 1, character = 3 } } } }) end) end
	local client = vim.lsp.start({ name = 'symbols', cmd = function()
		return {
			request = function(method, _, callback)
				if method == 'initialize' then
					callback(nil, { capabilities = { documentSymbolProvider = true } })
				elseif not _G.mute then
					answer(callback)
				end
				return true, 1
			end,
			notify = function() end, is_closing = function() return false end, terminate = function() end,
		}
	end })`

func TestSymbolsOfTheLanguageServer(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		path := s.WriteFile("a.lua", "one\nfunction\nend\nfour\n")
		s.Command("edit a.lua")
		s.Lua(nil, symbolServer)
		s.AwaitLua(`#vim.lsp.get_clients({ bufnr = 0, method = 'textDocument/documentSymbol' }) == 1`)
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Keys("i@symbol:pa")
		s.AwaitMenu("parse all")
		s.Keys("<C-n>")
		s.AwaitLua(`(vim.fn.complete_info({ 'items' }).items[1] or {}).info == 'function\nend'`)
		s.Keys("<C-y>")
		s.AwaitPrompt(`@symbol:"parse all"`)
		s.Keys(" ?<C-s>")
		want := []any{
			obj{"type": "text", "text": `@symbol:"parse all" ?`},
			obj{"type": "resource", "resource": obj{"uri": "file://" + path + "#L2-3", "text": "function\nend\n"}},
		}
		check.Deep(t, blocks(p), want, "sent were %v")
		s.Lua(nil, `_G.mute = true`)
		s.Keys("@symbol:x<C-s>")
		if got := blocks(p); len(got) != 1 {
			t.Errorf("sent were %v", got)
		}
		s.AwaitNotification("The symbol x was not found: the language server did not answer in time: that was not sent along")
	})
}

// What is chosen in the menu shows what would be sent, and 'completeopt' is the user's again.
func TestMenuShowsWhatWouldBeSent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("a.lua", "the text\n")
		s.Command("edit a.lua")
		before := s.LuaString(`vim.o.completeopt`)
		s.Begin()
		s.Keys("i@bu")
		s.AwaitMenu("buffer")
		s.Keys("<C-n>")
		s.AwaitScreenMatch(`the text[\s\S]*the text`)
		s.GoldenScreen("preview")
		s.Keys("<C-y>")
		s.AwaitLua(`vim.o.completeopt == ...`, before)
		s.AwaitPrompt("@buffer")
	})
}

func TestDiagnosticsAndQuickfixAreAdded(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("a b.lua", "one\ntwo\nthree\n")
		s.WriteFiles("other.lua")
		s.Command("edit a\\ b.lua")
		p := beginTaking(s, obj{"embeddedContext": true})
		add(s, "Acp add diagnostics")
		s.AwaitMessage("No diagnostics in a b.lua")
		s.Refused(`require('acp').add({ what = 'quickfix' })`)
		s.Refused(`require('acp').add({ what = 'nothing' })`)
		s.Lua(nil, `vim.fn.setqflist({}, 'r', { title = 'grep', items = { { text = 'here' } } })
			vim.diagnostic.set(vim.api.nvim_create_namespace('test'), vim.fn.bufnr('a b.lua'), {
				{ lnum = 0, col = 0, message = 'first' }, { lnum = 2, col = 0, message = 'third' } })`)
		add(s, "Acp add diagnostics")
		add(s, "2,3Acp add diagnostics")
		add(s, "Acp add quickfix")
		s.AwaitPrompt(`@diagnostics:"a b.lua" @diagnostics:"a b.lua":2-3 @quickfix `)
		s.AwaitScreen("@ 2 diagnostics in")
		s.Command("edit other.lua") // which changes nothing of what was added
		s.Command("wincmd b")
		s.Keys("A<C-s>")
		want := []any{
			obj{"type": "text", "text": `@diagnostics:"a b.lua" @diagnostics:"a b.lua":2-3 @quickfix`},
			obj{"type": "resource", "resource": obj{"uri": "nvim://diagnostics/a%20b.lua", "mimeType": "text/plain",
				"text": "a b.lua:1:1: error: first\na b.lua:3:1: error: third\n"}},
			obj{"type": "resource", "resource": obj{"uri": "nvim://diagnostics/a%20b.lua:2-3", "mimeType": "text/plain",
				"text": "a b.lua:3:1: error: third\n"}},
			obj{"type": "resource", "resource": obj{"uri": "nvim://quickfix/grep", "mimeType": "text/plain", "text": "here\n"}},
		}
		check.Deep(t, blocks(p), want, "sent were %v")
	})
}

// A buffer goes along before it is written, and without a name.
func TestBufferThatIsNoFileYet(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'ignore'`)
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Command("wincmd t")
		s.Keys("inew words<Esc>V<Esc>")
		s.Command("Acp prompt @buffer @selection")
		resource := func(uri, text string) obj {
			r := obj{"uri": uri, "text": text}
			if strings.HasPrefix(uri, "nvim:") {
				r["mimeType"] = "text/plain"
			}
			return obj{"type": "resource", "resource": r}
		}
		want := []any{
			obj{"type": "text", "text": "@buffer @selection"},
			resource("nvim://buffer/an%20unnamed%20buffer", "new words\n"),
			resource("nvim://selection/an%20unnamed%20buffer:1", "new words\n"),
		}
		check.Deep(t, blocks(p), want, "sent were %v")
		s.Command("file sub/new.lua")
		s.Command("Acp prompt @buffer")
		want = []any{obj{"type": "text", "text": "@buffer"}, resource("file://"+s.Dir+"/sub/new.lua", "new words\n")}
		check.Deep(t, blocks(p), want, "sent were %v")
	})
}
