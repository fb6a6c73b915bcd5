package editortools

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// A rename over ten files, of which three have unsaved text, waits for the user where changes are reviewed before: one
// question, and what is typed stays.
func TestRenameUnderUnsavedText(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		var paths []string
		for i := range 10 {
			paths = append(paths, s.WriteFile(fmt.Sprintf("f%d.txt", i), "parse one\nsame\n"))
		}
		server(s, "one", "{"+renames(`(function()
			local all = {}
			for i = 0, 9 do all[(uri:gsub('f0', 'f' .. i))] = { at(0, 0, 5, 'count') } end
			return { changes = all }
		end)()`)+"}")
		for i := range 3 {
			s.Command("edit " + filepath.Base(paths[i]))
			s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 2, 2, false, { 'typed' })`)
		}
		s.Configure(`c.review, c.unsaved = 'before', 'ignore'`)
		p, e := begin(t, s, `{ tools = 'write' }`)
		c := connect(t, e)
		turn := s.Prompt(p, "Rename")
		args := obj{"path": "f0.txt", "line": 1, "symbol": "parse", "new_name": "count"}
		got := start(t.Context(), c, "rename", args, nil)
		check.Equal(t, s.AwaitPermissions(1), "Rename parse to count in 10 files", "the question is %q")
		s.Respond(1, "reject")
		fails(t, <-got, "did not allow")
		s.AwaitPermissions(0)
		got = start(t.Context(), c, "rename", args, nil)
		s.AwaitPermissions(1)
		s.Respond(1, "allow")
		if r := <-got; r.failed || !strings.HasPrefix(r.text, "10 files changed:\nf0.txt\n") {
			t.Fatalf("the answer is %+v", r)
		}
		for i, path := range paths {
			if i < 3 {
				if lines := s.LuaString(fmt.Sprintf(`table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr(%q), 0, -1, false), ' ')`, path)); lines != "count one same typed" {
					t.Errorf("the buffer of %s has %q", path, lines)
				}
			} else if text := s.ReadFile(path); text != "count one\nsame\n" {
				t.Errorf("%s has %q", path, text)
			}
		}
		p.EndTurn(turn)
		s.AwaitPermissions(0)
	})
}

// A format changes the lines that the server names and no other end of a line, of whatever mixture.
func TestFormatOfMixedLineEnds(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.txt", "one\r\ntwo\nthree\r\n")
		server(s, "one", knowing(`{ documentFormattingProvider = true }`, "textDocument/formatting", `local at = { line = 1, character = 0 }
			return { { range = { start = at, ['end'] = at }, newText = '  ' } }`))
		p, e := begin(t, s, `{ tools = 'write' }`)
		c := connect(t, e)
		turn := s.Prompt(p, "Format")
		got := start(t.Context(), c, "format", obj{"path": "a.txt"}, nil)
		s.AwaitPermissions(1)
		s.Respond(1, "allow")
		if r := <-got; r.failed || r.text != "1 file changed:\na.txt" {
			t.Errorf("the answer is %+v", r)
		}
		check.Equal(t, s.ReadFile(path), "one\r\n  two\nthree\r\n", "the file has %q")
		p.EndTurn(turn)
	})
}

// What is private is in no list, whichever tool gives it; a list without a language server is an error, not empty.
func TestNoListHasWhatIsPrivate(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("a.txt", "parse it\n")
		s.WriteFile(".env.txt", "parse=secret\n")
		p, e := begin(t, s, `{ tools = 'read' }`)
		c := connect(t, e)
		turn := s.Prompt(p, "Look")
		fails(t, <-start(t.Context(), c, "workspace_symbols", obj{"query": "parse"}, nil), "no language server is running yet")
		fails(t, <-start(t.Context(), c, "diagnostics", nil, nil), "no language server is running yet")
		server(s, "one", knowing(`{ workspaceSymbolProvider = true, documentSymbolProvider = true }`, "workspace/symbol", `local at = { line = 0, character = 0 }
			local function of(name, file)
				return { name = name, kind = 12, location = { uri = vim.uri_from_fname(vim.fn.getcwd() .. '/' .. file), range = { start = at, ['end'] = at } } }
			end
			return { of('parse', 'a.txt'), of('hidden', '.env.txt') }`))
		for _, name := range []string{"a.txt", ".env.txt"} {
			s.Command("edit " + name)
			s.AwaitLua(`#vim.lsp.get_clients({ bufnr = 0 }) == 1`)
			s.Lua(nil, `vim.diagnostic.set(vim.api.nvim_create_namespace('test'), 0, { { lnum = 0, col = 0, severity = 1, message = 'in ' .. vim.fn.expand('%:t') } })`)
		}
		s.Lua(nil, `local many = {} -- more than are told one by one
			for i = 1, 600 do many[i] = { lnum = 0, col = 0, severity = 4, message = 'a hint' } end
			vim.diagnostic.set(vim.api.nvim_create_namespace('hints'), 0, many)`)
		says(t, c, "workspace_symbols", obj{"query": "parse"}, "1 place:\na.txt:1:1: function parse: parse it")
		says(t, c, "diagnostics", obj{"wait_ms": 0}, "1 diagnostic:\na.txt:1:1: error: in a.txt")
		got := start(t.Context(), c, "symbols", obj{"path": ".env.txt"}, nil)
		s.AwaitPermissions(1)
		s.Respond(1, "reject")
		fails(t, <-got, "did not allow")
		s.AwaitPermissions(0)
		p.EndTurn(turn)
	})
}

// A tool of the user's own fails with what went wrong in it, gets no arguments that its schema forbids, and is given up with
// its turn when it does not answer.
func TestOwnToolsThatFail(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.OK(`(function()
			local acp = require('acp')
			local schema = { type = 'object', properties = { n = { type = 'integer' } }, required = { 'n' } }
			acp.tool({ name = 'strict', description = 'd', schema = schema, run = function(args, respond) respond('got ' .. args.n) end })
			acp.tool({ name = 'throws', description = 'd', run = function() error('boom') end })
			acp.tool({ name = 'refuses', description = 'd', run = function(_, respond) respond(nil, 'no ticket') end })
			acp.tool({ name = 'silent', description = 'd', run = function() end })
			return true
		end)()`)
		p, e := begin(t, s, `{ tools = 'read' }`)
		c := connect(t, e)
		turn := s.Prompt(p, "Go")
		for _, args := range []obj{{"n": "seven"}, {}} {
			fails(t, <-start(t.Context(), c, "strict", args, nil), "do not match the schema")
		}
		s.AwaitPermissions(0)
		allowed := func(tool string, args obj) <-chan answer {
			got := start(t.Context(), c, tool, args, nil)
			s.AwaitPermissions(1)
			s.Respond(1, "allow")
			return got
		}
		if r := <-allowed("strict", obj{"n": 7}); r.failed || r.text != "got 7" {
			t.Errorf("the answer is %+v", r)
		}
		s.AwaitPermissions(0)
		fails(t, <-allowed("throws", nil), "boom")
		s.AwaitPermissions(0)
		fails(t, <-allowed("refuses", nil), "no ticket")
		s.AwaitPermissions(0)
		got := allowed("silent", nil)
		s.AwaitPermissions(0)
		p.EndTurn(turn)
		fails(t, <-got, "the turn has ended")
	})
}

// What waits for the review in a private file is the user's to see alone, also where the agent itself has changed it.
func TestChangesOfPrivateFiles(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		env := s.WriteFile(".env", "KEY=1\n")
		plain := s.WriteFile("a.txt", "one\n")
		p, e := begin(t, s, `{ tools = 'read' }`)
		c := connect(t, e)
		turn := s.Prompt(p, "Change both")
		id := p.Store(env, "KEY=2\n")
		s.AwaitPermissions(1)
		s.Respond(1, "allow")
		p.Answer(id)
		s.AwaitPermissions(0)
		s.AwaitLua(`#require('acp').changes() == 1`)
		says(t, c, "changes", nil, "no changes")
		p.WriteFile(plain, "two\n")
		s.AwaitLua(`#require('acp').changes() == 2`)
		says(t, c, "changes", nil, "1 change:\na.txt (modified) line 1: +1 -1;")
		p.EndTurn(turn)
	})
}
