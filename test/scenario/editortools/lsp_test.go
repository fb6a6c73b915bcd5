package editortools

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/need"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

type place struct {
	Path, Text, Name, Kind string
	Line, Column, Depth    int // the column in units of the server where it names no symbol
}

// result is what the language servers' part says of a call.
type result struct {
	Err, Text, Note string
	Partial         bool
	Servers         []string
	Places          []place
	Located         []struct {
		Path string
		At   []int
	}
	Diagnostics []struct {
		Path, Message, Severity string
		Line, Column            int
	}
	Actions []struct{ ID, Title string }
	Edits   []struct {
		Path, Text           string
		NewPath              string `json:"new_path"`
		Create, Delete, Same bool
	}
}

// ask calls the language servers' part.
func ask(t *testing.T, s *scene.Scene, tool, args string) (r result) {
	t.Helper()
	s.Lua(nil, fmt.Sprintf(`_G.got = nil
		require('acp.editortools.lsp').run('%s', %s, function(r) _G.got = vim.json.encode(next(r) and r or vim.empty_dict()) end)`, tool, args))
	s.AwaitLua(`_G.got ~= nil`)
	text := s.LuaString(`_G.got`)
	if err := json.Unmarshal([]byte(strings.ReplaceAll(strings.ReplaceAll(text, `:{}`, `:null`), `:[]`, `:null`)), &r); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, l := range r.Located { // of which the host works the columns out
		for i := 0; i+1 < len(l.At); i += 2 {
			r.Places = append(r.Places, place{Path: l.Path, Line: l.At[i] + 1, Column: l.At[i+1] + 1})
		}
	}
	return r
}

// server starts a language server of testdata/server.lua for each text that is opened.
func server(s *scene.Scene, name, opts string) {
	s.T.Helper()
	script, err := filepath.Abs(filepath.Join("testdata", "server.lua"))
	must.Do(s.T, err)
	s.Lua(nil, fmt.Sprintf(`_G.servers = _G.servers or {}; _G.servers['%[1]s'] = dofile(%[2]q)('%[1]s', %[3]s)`, name, script, opts))
}

// Places and edits are right in each encoding, also behind letters of two, three and four bytes.
func TestEncodings(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		line := "ü€😀 x = parse(parser, parse)"
		path := s.WriteFile("a.txt", "one\n"+line+"\nlast")
		for _, encoding := range []string{"utf-8", "utf-16", "utf-32"} {
			s.Lua(nil, `vim.cmd('%bwipeout!'); for _, c in ipairs(vim.lsp.get_clients()) do vim.lsp.stop_client(c.id, true) end; vim.api.nvim_clear_autocmds({ event = 'BufReadPost', pattern = '*.txt' })`)
			server(s, encoding, fmt.Sprintf(`{ encoding = '%s' }`, encoding))
			r := ask(t, s, "definition", fmt.Sprintf(`{ path = %q, line = 2, symbol = 'parse' }`, path))
			before, _, _ := strings.Cut(line, "parse")
			want := map[string]int{"utf-8": len(before), "utf-16": len(utf16.Encode([]rune(before))), "utf-32": utf8.RuneCountInString(before)}[encoding] + 1
			if len(r.Places) != 1 || r.Places[0].Column != want || r.Places[0].Line != 2 || !strings.Contains(r.Note, "2 times on line 2") {
				t.Errorf("%s: %+v, not column %d", encoding, r, want)
			}
			r = ask(t, s, "rename", fmt.Sprintf(`{ path = %q, line = 2, symbol = 'parse', column = %d, new_name = 'ḱ' }`, path, strings.LastIndex(line, "parse")+1))
			if want := "one\nü€😀 x = parse(parser, ḱ)\nlast"; len(r.Edits) != 1 || r.Edits[0].Text != want {
				t.Errorf("%s: %+v", encoding, r)
			}
			r = ask(t, s, "definition", fmt.Sprintf(`{ path = %q, line = 3, symbol = 'x' }`, path))
			if len(r.Places) != 1 || r.Places[0].Line != 2 || !strings.Contains(r.Note, "taken from line 2") {
				t.Errorf("%s: near: %+v", encoding, r)
			}
			if r = ask(t, s, "definition", fmt.Sprintf(`{ path = %q, line = 1, symbol = 'none' }`, path)); !strings.Contains(r.Err, "neither on line 1 nor near it") {
				t.Errorf("%s: none: %+v", encoding, r)
			}
		}
	})
}

// Several servers answer together; one that hangs or crashes costs no more than its part.
func TestServersTogether(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications() // Neovim tells of the crash
		path := s.WriteFile("a.txt", "parse it\n")
		s.WriteFile("lone.md", "parse it\n")
		server(s, "one", `{}`)
		server(s, "two", `{ encoding = 'utf-8' }`)
		args := fmt.Sprintf(`{ path = %q, line = 1, symbol = 'parse', limit_ms = 300 }`, path)
		if r := ask(t, s, "references", args); len(r.Places) != 2 || r.Partial || len(r.Servers) != 2 { // the same one of each, which the host tells once
			t.Errorf("both: %+v", r)
		}
		server(s, "slow", `{ hangs = true }`)
		s.WriteFile("b.txt", "parse it\n")
		s.Command("edit b.txt")
		s.AwaitLua(`#vim.lsp.get_clients({ bufnr = 0 }) == 3`)
		if r := ask(t, s, "references", strings.Replace(args, "a.txt", "b.txt", 1)); len(r.Places) != 2 || !r.Partial {
			t.Errorf("with one that hangs: %+v", r)
		}
		server(s, "crashes", `{ crashes = true, pattern = '*.md' }`)
		r := ask(t, s, "references", fmt.Sprintf(`{ path = %q, line = 1, symbol = 'parse' }`, filepath.Join(s.Dir, "lone.md")))
		if !strings.Contains(r.Err, "has failed") {
			t.Errorf("one that crashes: %+v", r)
		}
	})
}

// A file is opened for the servers, and the user sees nothing of it.
func TestOpenedWithoutAWindow(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("mine.lua", "-- mine\n")
		path := s.WriteFile("a.txt", "parse it\n")
		plain := s.WriteFile("plain.lua", "local parse\n")
		s.Command("edit mine.lua")
		before := s.LuaString(`vim.inspect({ vim.fn.getbufinfo({ buflisted = 1 })[1].name, #vim.api.nvim_list_wins(), vim.fn.expand('#'), vim.fn.getjumplist()[2], vim.api.nvim_get_current_buf() })`)
		server(s, "one", `{}`)
		if r := ask(t, s, "definition", fmt.Sprintf(`{ path = %q, line = 1, symbol = 'parse' }`, path)); len(r.Places) != 1 {
			t.Errorf("got %+v", r)
		}
		after := s.LuaString(`vim.inspect({ vim.fn.getbufinfo({ buflisted = 1 })[1].name, #vim.api.nvim_list_wins(), vim.fn.expand('#'), vim.fn.getjumplist()[2], vim.api.nvim_get_current_buf() })`)
		if before != after {
			t.Errorf("before %s, after %s", before, after)
		}
		if r := ask(t, s, "definition", fmt.Sprintf(`{ path = %q, line = 1, symbol = 'parse' }`, plain)); r.Err != "no language server for this file (filetype lua)" {
			t.Errorf("without a server: %+v", r)
		}
		if r := ask(t, s, "diagnostics", fmt.Sprintf(`{ path = %q }`, plain)); r.Err != "no language server for this file (filetype lua)" {
			t.Errorf("diagnostics without a server: %+v", r)
		}
		s.Command("edit a.txt") // now it is the user's
		if s.LuaBool(`not vim.bo.buflisted or not vim.bo.swapfile == vim.go.swapfile`) {
			t.Error("the file is not as others are")
		}
	})
}

// Diagnostics are those of the newest text: they are waited for, and what is not told in time is said to be missing.
func TestDiagnosticsOfTheNewestText(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.txt", "parse it\n")
		server(s, "one", `{}`)
		s.Command("edit a.txt")
		s.AwaitLua(`#vim.lsp.get_clients({ bufnr = 0 }) == 1`)
		notify := func(message string) string {
			return fmt.Sprintf(`local at = { line = 0, character = 0 }
				_G.servers.one.one.dispatchers.notification('textDocument/publishDiagnostics', { uri = vim.uri_from_bufnr(0), diagnostics = {
					{ range = { start = at, ['end'] = at }, severity = 1, message = '%s' } } })`, message)
		}
		s.Lua(nil, notify("old"))
		s.AwaitLua(`#vim.diagnostic.get(0) == 1`)
		s.Lua(nil, `require('acp.editortools.lsp')`)
		s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'new' })`)
		s.Lua(nil, fmt.Sprintf(`_G.got = nil; require('acp.editortools.lsp').run('diagnostics', { path = %q, wait_ms = 20000 }, function(r) _G.got = vim.json.encode(r) end)`, path))
		s.Lua(nil, notify("new"))
		s.AwaitLua(`_G.got ~= nil`)
		if got := s.LuaString(`_G.got`); !strings.Contains(got, `"new"`) || strings.Contains(got, "old") || strings.Contains(got, "partial") {
			t.Errorf("got %s", got)
		}
		s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'newer' })`)
		if r := ask(t, s, "diagnostics", fmt.Sprintf(`{ path = %q, wait_ms = 100 }`, path)); !r.Partial || len(r.Diagnostics) != 1 {
			t.Errorf("too late: %+v", r)
		}
		if r := ask(t, s, "diagnostics", `{ wait_ms = 0 }`); len(r.Diagnostics) != 1 || r.Diagnostics[0].Severity != "error" {
			t.Errorf("of all files: %+v", r)
		}
	})
}

// What an action's command would change is told, not done, and the user is taken nowhere.
func TestActionsOfCommands(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.txt", "parse it\n")
		s.WriteFile("mine.lua", "-- mine\n")
		server(s, "one", `{}`)
		s.Command("edit a.txt")
		s.AwaitLua(`#vim.lsp.get_clients({ bufnr = 0 }) == 1`)
		s.Command("edit mine.lua")
		list := ask(t, s, "code_actions", fmt.Sprintf(`{ path = %q, line = 1 }`, path))
		if len(list.Actions) != 1 || list.Actions[0].Title != "Do it" {
			t.Fatalf("the actions are %+v", list)
		}
		id := list.Actions[0].ID
		r := ask(t, s, "apply_code_action", fmt.Sprintf(`{ id = '%s' }`, id))
		if len(r.Edits) != 1 || r.Edits[0].Text != "done\nparse it\n" || s.ReadFile(path) != "parse it\n" {
			t.Errorf("got %+v", r)
		}
		check.Equal(t, s.LuaString(`vim.fn.expand('%:t')`), "mine.lua", "the user is in %s")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(vim.fn.bufnr('a.txt'), 0, 0, false, { 'more' })`)
		if r := ask(t, s, "apply_code_action", fmt.Sprintf(`{ id = '%s' }`, id)); !strings.Contains(r.Err, "has changed since") {
			t.Errorf("of another text: %+v", r)
		}
	})
}

// An edit that comes when its command was given up is refused; one that is not ours goes where it would have gone.
func TestLateEditsAreRefused(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.txt", "parse it\n")
		server(s, "one", `{ late = true }`)
		s.Command("edit a.txt")
		s.AwaitLua(`#vim.lsp.get_clients({ bufnr = 0 }) == 1`)
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		list := ask(t, s, "code_actions", fmt.Sprintf(`{ path = %q, line = 1 }`, path))
		apply := fmt.Sprintf(`{ id = '%s', limit_ms = 100 }`, list.Actions[0].ID)
		if r := ask(t, s, "apply_code_action", apply); !strings.Contains(r.Err, "did not do it") {
			t.Errorf("the late one: %+v", r)
		}
		s.Lua(nil, `_G.servers.one.one.edit()`)
		check.Equal(t, s.BufferText(buf), "parse it", "the buffer has %q")
		if r := ask(t, s, "apply_code_action", apply); !strings.Contains(r.Err, "is busy") {
			t.Errorf("another one: %+v", r)
		}
		server(s, "two", `{ late = true, pattern = '*.md' }`)
		other := s.WriteFile("b.md", "parse it\n")
		s.Command("edit b.md")
		s.AwaitLua(`#vim.lsp.get_clients({ bufnr = 0 }) == 1`)
		ask(t, s, "code_actions", fmt.Sprintf(`{ path = %q, line = 1 }`, other))
		s.Lua(nil, `_G.servers.two.two.edit()`)
		s.AwaitBuffer(s.LuaInt(`vim.api.nvim_get_current_buf()`), "done\nparse it")
	})
}

// renames is the option of a server that answers every rename with a WorkspaceEdit.
func renames(edit string) string {
	return fmt.Sprintf(`answers = { ['textDocument/rename'] = function(params, server)
		local uri = params.textDocument.uri
		local function at(line, from, to, text)
			return { range = { start = { line = line, character = from }, ['end'] = { line = line, character = to } }, newText = text }
		end
		local function sibling(name) return vim.fs.dirname(uri) .. '/' .. name end
		return %s
	end }`, edit)
}

// What servers mean by edits that are no plain list: moved and new files, snippets, parts of one another.
func TestEditsOfServers(t *testing.T) {
	tests := []struct{ name, edit, want, err string }{
		{"together", `{ changes = { [uri] = { at(0, 6, 8, 'that'), at(0, 0, 0, '> '), at(0, 0, 5, 'read') } } }`, "a.txt: > read that\n", ""},
		{"overlapping", `{ changes = { [uri] = { at(0, 0, 5, 'x'), at(0, 4, 8, 'y') } } }`, "", "overlap"},
		{
			"snippets", `{ documentChanges = { { textDocument = { uri = uri, version = vim.NIL }, edits = {
				vim.tbl_extend('force', at(0, 0, 5, '${1:read}$0 \\$5 ${2|a,b|} ${x/(.)/${1}/}'), { insertTextFormat = 2 }),
				vim.tbl_extend('force', at(0, 8, 8, ''), { snippet = { kind = 'snippet', value = '${3:in ${4:one}}' } }) } } } }`,
			"a.txt: read $5 a  itin one\n", "",
		},
		{"plain dollars", `{ changes = { [uri] = { at(0, 0, 5, '${1:read}') } } }`, "a.txt: ${1:read} it\n", ""},
		{
			"new, filled", `{ documentChanges = { { kind = 'create', uri = sibling('new.txt') },
				{ textDocument = { uri = sibling('new.txt') }, edits = { at(0, 0, 0, 'text\n') } }, { textDocument = { uri = uri }, edits = { at(0, 0, 5, '') } } } }`,
			"new.txt: text\n (new), a.txt:  it\n", "",
		},
		{
			"moved, then changed", `{ documentChanges = { { kind = 'rename', oldUri = uri, newUri = sibling('b.txt') },
				{ textDocument = { uri = sibling('b.txt') }, edits = { at(0, 0, 5, 'read') } } } }`, "a.txt: read it\n > b.txt", "",
		},
		{"moved as it is", `{ documentChanges = { { kind = 'rename', oldUri = uri, newUri = sibling('b.txt') } } }`, "a.txt: (same) > b.txt", ""},
		{"deleted", `{ documentChanges = { { kind = 'delete', uri = uri } } }`, "a.txt: (same) (gone)", ""},
		{"new, then deleted", `{ documentChanges = { { kind = 'create', uri = sibling('b.txt') }, { kind = 'delete', uri = sibling('b.txt') } } }`, "", ""},
		{"new where one is", `{ documentChanges = { { kind = 'create', uri = uri } } }`, "", "already exists"},
		{"new where one may be", `{ documentChanges = { { kind = 'create', uri = uri, options = { ignoreIfExists = true } } } }`, "", ""},
		{"changed after it is gone", `{ documentChanges = { { kind = 'delete', uri = uri }, { textDocument = { uri = uri }, edits = { at(0, 0, 1, '') } } } }`, "", "after it is gone"},
		{"a folder", `{ documentChanges = { { kind = 'delete', uri = vim.fs.dirname(uri) } } }`, "", "only files can be"},
	}
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		for i, test := range tests {
			s.Shell(fmt.Sprintf("mkdir t%d", i))
			path := s.WriteFile(fmt.Sprintf("t%d/a.txt", i), "parse it\n")
			server(s, fmt.Sprint("server", i), fmt.Sprintf("{ pattern = '*/t%d/*.txt', %s }", i, renames(test.edit)))
			r := ask(t, s, "rename", fmt.Sprintf(`{ path = %q, line = 1, symbol = 'parse', new_name = 'x' }`, path))
			var list []string
			for _, e := range r.Edits {
				said := filepath.Base(e.Path) + ": " + e.Text
				for _, mark := range []struct {
					is   bool
					said string
				}{{e.Same, "(same)"}, {e.Create, " (new)"}, {e.Delete, " (gone)"}, {e.NewPath != "", " > " + filepath.Base(e.NewPath)}} {
					if mark.is {
						said += mark.said
					}
				}
				list = append(list, said)
			}
			if got := strings.Join(list, ", "); got != test.want || (r.Err == "") != (test.err == "") || !strings.Contains(r.Err, test.err) {
				t.Errorf("%s: got %q, %q", test.name, got, r.Err)
			}
		}
	})
}

// Of several servers all are asked, also one that comes late; what contradicts the first is left out and said.
func TestEditsOfSeveralServers(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.txt", "parse it\n")
		server(s, "first", "{"+renames(`{ changes = { [uri] = { at(0, 0, 5, 'read') } } }`)+"}")
		server(s, "same", "{"+renames(`{ changes = { [uri] = { at(0, 0, 5, 'read'), at(0, 6, 8, 'that') } } }`)+", starts_after = 300 }")
		server(s, "other", "{"+renames(`{ changes = { [uri] = { at(0, 0, 5, 'count') } } }`)+", starts_after = 600 }")
		r := ask(t, s, "rename", fmt.Sprintf(`{ path = %q, line = 1, symbol = 'parse', new_name = 'read' }`, path))
		if len(r.Edits) != 1 || r.Edits[0].Text != "read that\n" || r.Note != "what other would change contradicts the others and is left out" || len(r.Servers) != 3 {
			t.Errorf("got %+v", r)
		}
	})
}

// knowing is the option of a server that knows more methods, each by a Lua function of its params.
func knowing(capabilities string, answers ...string) string {
	var list strings.Builder
	for i := 0; i < len(answers); i += 2 {
		fmt.Fprintf(&list, "['%s'] = function(params, server) %s end, ", answers[i], answers[i+1])
	}
	return fmt.Sprintf("{ capabilities = %s, answers = { %s } }", capabilities, list.String())
}

// Callers, signatures, formats, diagnostics on request and actions that are worked out later, as servers tell them.
func TestWhatServersTell(t *testing.T) {
	const at = `local function at(line, from, to) return { start = { line = line, character = from }, ['end'] = { line = line, character = to } } end `
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.txt", "parse it\ncall parse, parse\nlast\n")
		server(s, "one", knowing(`{ callHierarchyProvider = true, signatureHelpProvider = {}, documentFormattingProvider = true,
			diagnosticProvider = { interFileDependencies = false, workspaceDiagnostics = false }, codeActionProvider = { resolveProvider = true } }`,
			"textDocument/prepareCallHierarchy", at+`return { { name = 'parse', kind = 12, uri = params.textDocument.uri, range = at(0, 0, 5), selectionRange = at(0, 0, 5) } }`,
			"callHierarchy/incomingCalls", at+`return { { from = { name = 'call', kind = 12, uri = params.item.uri, range = at(1, 0, 17), selectionRange = at(1, 0, 4) },
				fromRanges = { at(1, 5, 10), at(1, 12, 17) } } }`,
			"callHierarchy/outgoingCalls", at+`return { { to = { name = 'last', kind = 12, uri = params.item.uri, range = at(2, 0, 4), selectionRange = at(2, 0, 4) }, fromRanges = { at(0, 0, 5) } } }`,
			"textDocument/signatureHelp", `return { signatures = { { label = 'parse(text)', documentation = { kind = 'markdown', value = 'Parses.' } }, { label = 'parse()' } } }`,
			"textDocument/formatting", at+`return { { range = at(2, 0, 0), newText = (' '):rep(params.options.tabSize) } }`,
			"textDocument/diagnostic", at+`return { kind = 'full', items = { { range = at(1, 5, 10), severity = 2, message = 'asked for', code = 7 } } }`,
			"textDocument/codeAction", `return { { title = 'Later', data = params.textDocument.uri }, { title = 'Never', disabled = { reason = 'no' } } }`,
			"codeAction/resolve", at+`return { title = 'Later', edit = { changes = { [params.data] = { { range = at(0, 0, 5), newText = 'resolved' } } } } }`,
		))
		s.Command("edit a.txt | setlocal shiftwidth=3")
		s.AwaitLua(`#vim.lsp.get_clients({ bufnr = 0 }) == 1`)
		places := func(tool string) (list []string) {
			for _, p := range ask(t, s, tool, fmt.Sprintf(`{ path = %q, line = 1, symbol = 'parse' }`, path)).Places {
				list = append(list, fmt.Sprintf("%s %d:%d", p.Name, p.Line, p.Column))
			}
			return list
		}
		check.Equal(t, fmt.Sprint(places("incoming_calls")), "[call 2:6 call 2:13]", "the callers are %s")
		check.Equal(t, fmt.Sprint(places("outgoing_calls")), "[last 3:1]", "the callees are %s")
		if r := ask(t, s, "signature", fmt.Sprintf(`{ path = %q, line = 1, symbol = 'parse' }`, path)); r.Text != "parse(text)\nParses.\n\nparse()" {
			t.Errorf("the signature is %+v", r)
		}
		if r := ask(t, s, "format", fmt.Sprintf(`{ path = %q }`, path)); len(r.Edits) != 1 || r.Edits[0].Text != "parse it\ncall parse, parse\n   last\n" {
			t.Errorf("the format is %+v", r)
		}
		if r := ask(t, s, "diagnostics", fmt.Sprintf(`{ path = %q, wait_ms = 20000 }`, path)); r.Partial || len(r.Diagnostics) != 1 ||
			r.Diagnostics[0].Message != "asked for" || r.Diagnostics[0].Severity != "warning" || r.Diagnostics[0].Line != 2 || r.Diagnostics[0].Column != 6 {
			t.Errorf("the diagnostics are %+v", r)
		}
		list := ask(t, s, "code_actions", fmt.Sprintf(`{ path = %q, line = 1 }`, path))
		if len(list.Actions) != 1 || list.Actions[0].Title != "Later" {
			t.Fatalf("the actions are %+v", list)
		}
		if r := ask(t, s, "apply_code_action", fmt.Sprintf(`{ id = '%s' }`, list.Actions[0].ID)); len(r.Edits) != 1 || !strings.HasPrefix(r.Edits[0].Text, "resolved it\n") {
			t.Errorf("the action is %+v", r)
		}
	})
}

// Of many places the first are told, each once and in the order of files and lines, as the buffers have them or the disk;
// the others are counted, but for those in private files.
func TestManyPlaces(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, e := begin(t, s, `{}`)
		c := connect(t, e)
		s.Prompt(p, "work")
		path := s.WriteFile("b.txt", "parse it\n"+strings.Repeat("ü parse\n", 120))
		s.WriteFile("a.txt", strings.Repeat("ü parse\r\n", 120))
		s.WriteFile("c.txt", strings.Repeat("ü parse\n", 30))
		s.WriteFile(".env", "parse=secret\n")
		server(s, "one", knowing(`{}`, "textDocument/references", `local list = {}
			local function add(name, line, character)
				local at = { line = line, character = character }
				table.insert(list, { uri = params.textDocument.uri:gsub('b.txt$', name), range = { start = at, ['end'] = at } })
			end
			for i = 119, 0, -1 do
				add('b.txt', i + 1, 2)
				if i < 60 then add('a.txt', i * 2, 2) add('a.txt', i * 2, 2) end
				if i < 30 then add('c.txt', i, 2) end
			end
			add('.env', 0, 0) add('z/.env', 0, 0)
			return list`))
		s.Command("edit b.txt")
		s.AwaitLua(`#vim.lsp.get_clients({ bufnr = 0 }) == 1`)
		s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'é€ parse unsaved' })`)
		want := []string{"210 places:"}
		for i := range 60 {
			want = append(want, fmt.Sprintf("a.txt:%d:4: ü parse", 2*i+1))
		}
		want = append(want, "b.txt:2:6: é€ parse unsaved")
		for i := range 39 {
			want = append(want, fmt.Sprintf("b.txt:%d:4: ü parse", i+3))
		}
		says(t, c, "references", obj{"path": path, "line": 1, "symbol": "parse"}, strings.Join(append(want, "+110 more"), "\n"))
	})
}

// A limit is for all that a tool asks of the servers: one that hangs at each of many steps is given up once.
func TestTheLimitIsForAllSteps(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.txt", "parse it\n")
		server(s, "one", strings.Replace(knowing(`{ callHierarchyProvider = true }`,
			"textDocument/prepareCallHierarchy", `local list = {}
				for i = 1, 500 do list[i] = { name = 'parse', kind = 12, uri = params.textDocument.uri } end
				return list`), "{", "{ hangs = true, ", 1))
		r := ask(t, s, "incoming_calls", fmt.Sprintf(`{ path = %q, line = 1, symbol = 'parse', limit_ms = 300 }`, path)) // 500 limits are too long to wait for
		if !r.Partial || len(r.Places) != 0 {
			t.Errorf("got %+v", r)
		}
	})
}

// gopls starts the real one for Go files.
func gopls(t *testing.T, s *scene.Scene) {
	t.Helper()
	at := os.Getenv("ACP_GOPLS")
	if at == "" {
		at, _ = exec.LookPath("gopls")
	}
	if at == "" {
		need.Missing(t, "this test needs gopls, which scripts/gopls.sh gets")
	}
	s.WriteFile("go.mod", "module example.com/ten\n\ngo 1.24\n")
	s.Lua(nil, `local at = ...
		vim.api.nvim_create_autocmd('FileType', { pattern = 'go', callback = function(event)
			vim.lsp.start({ name = 'gopls', cmd = { at }, root_dir = vim.fn.getcwd(), cmd_env = { GOFLAGS = '-mod=mod', GOPROXY = 'off' } }, { bufnr = event.buf })
		end })`, at)
}

// A rename over ten files with the real gopls, by a real MCP client: one question, reviewed hunk by hunk, undone.
func TestRenameOverTenFiles(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		gopls(t, s)
		s.WriteFile("parse.go", "package ten\n\n// Parse counts.\nfunc Parse(s string) int { return len(s) }\n")
		var paths []string
		for i := range 9 {
			paths = append(paths, s.WriteFile(fmt.Sprintf("use%d.go", i), fmt.Sprintf("package ten\n\nfunc use%d() int { return Parse(\"ü\") }\n", i)))
		}
		p, e := begin(t, s, `{ tools = 'write' }`)
		c := connect(t, e)
		turn := s.Prompt(p, "Rename Parse")
		says(t, c, "definition", obj{"path": "use3.go", "line": 3, "symbol": "Parse"}, "1 place:\nparse.go:4:6: func Parse(s string) int { return len(s) }")
		if r := <-start(t.Context(), c, "references", obj{"path": "parse.go", "line": 4, "symbol": "Parse"}, nil); !strings.HasPrefix(r.text, "10 places:") {
			t.Errorf("the references are %+v", r)
		}
		if r := <-start(t.Context(), c, "hover", obj{"path": "use3.go", "line": 3, "symbol": "Parse"}, nil); !strings.Contains(r.text, "func Parse(s string) int") {
			t.Errorf("hover says %+v", r)
		}
		if r := <-start(t.Context(), c, "symbols", obj{"path": "parse.go"}, nil); !strings.Contains(r.text, "Parse") {
			t.Errorf("the symbols are %+v", r)
		}
		got := start(t.Context(), c, "rename", obj{"path": "parse.go", "line": 4, "symbol": "Parse", "new_name": "Count"}, nil)
		check.Equal(t, s.AwaitPermissions(1), "Rename Parse to Count in 10 files", "the question is %q")
		s.Respond(1, "allow")
		if r := <-got; r.failed || !strings.HasPrefix(r.text, "10 files changed:\nparse.go\nuse0.go\nuse1.go\n") {
			t.Fatalf("the answer is %+v", r)
		}
		s.Await("the servers to know all ten files", func() bool {
			r := <-start(t.Context(), c, "diagnostics", obj{"path": "use3.go"}, nil)
			more := <-start(t.Context(), c, "references", obj{"path": "parse.go", "line": 4, "symbol": "Count"}, nil)
			return !strings.Contains(r.text, "undefined") && strings.HasPrefix(more.text, "10 places:")
		})
		p.EndTurn(turn)
		s.AwaitLua(`#(require('acp').changes() or {}) == 10`)
		s.OK(`require('acp').reject({ path = ..., hunk = 1 })`, paths[3])
		s.Await("the hunk to be taken out", func() bool { return strings.Contains(s.ReadFile(paths[3]), "Parse(") })
		s.OK(`require('acp').keep({ path = ..., hunk = 1 })`, paths[4])
		s.OK(`require('acp').undo_turn({})`)
		s.Await("all to be as before", func() bool {
			for _, path := range paths {
				if !strings.Contains(s.ReadFile(path), "Parse(") {
					return false
				}
			}
			return true
		})
	})
}

// A mistake that the agent makes on the disk is in the diagnostics of the real gopls afterwards.
func TestDiagnosticsAfterTheAgentsEdit(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		gopls(t, s)
		path := s.WriteFile("parse.go", "package ten\n\nfunc Parse(s string) int { return len(s) }\n")
		p, e := begin(t, s, `{ tools = 'read' }`)
		c := connect(t, e)
		turn := s.Prompt(p, "Break it")
		says(t, c, "diagnostics", obj{"path": "parse.go"}, "no diagnostics")
		must.Do(t, os.WriteFile(path, []byte("package ten\n\nfunc Parse(s string) int { return nothing }\n"), 0o644))
		s.Await("the mistake to be told", func() bool {
			r := <-start(t.Context(), c, "diagnostics", obj{"path": "parse.go"}, nil)
			return strings.Contains(r.text, "parse.go:3:35") && strings.Contains(r.text, "undefined: nothing")
		})
		p.EndTurn(turn)
	})
}

// The real typescript-language-server counts in UTF-16.
func TestTypescript(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		cli, err := filepath.Abs(filepath.Join("..", "..", "..", "node_modules", "typescript-language-server", "lib", "cli.mjs"))
		must.Do(t, err)
		if _, err := os.Stat(cli); err != nil {
			need.Missing(t, "this test needs typescript-language-server: npm ci")
		}
		s.Lua(nil, `local cli, tsserver = ...
			vim.api.nvim_create_autocmd('FileType', { pattern = 'typescript', callback = function(event)
				vim.lsp.start({ name = 'ts', cmd = { 'node', cli, '--stdio' }, root_dir = vim.fn.getcwd(),
					init_options = { tsserver = { path = tsserver } } }, { bufnr = event.buf })
			end })`, cli, filepath.Join(cli, "..", "..", "..", "typescript", "lib"))
		s.WriteFile("tsconfig.json", `{"compilerOptions": {"module": "esnext"}}`)
		s.WriteFile("parse.ts", "export function parse(s: string) { return s.length }\n")
		use := s.WriteFile("use.ts", "import { parse } from './parse'\nconst x = '😀'; parse(x)\nparse(1)\n")
		s.Await("the definition", func() bool { // a slow machine's server answers before it has read the project
			r := ask(t, s, "definition", fmt.Sprintf(`{ path = %q, line = 2, symbol = 'parse' }`, use))
			return len(r.Places) > 0 && filepath.Base(r.Places[0].Path) == "parse.ts" && r.Places[0].Column == 17
		})
		r := ask(t, s, "rename", fmt.Sprintf(`{ path = %q, line = 2, symbol = 'parse', new_name = 'count' }`, use))
		texts := map[string]string{}
		for _, e := range r.Edits {
			texts[filepath.Base(e.Path)] = e.Text
		}
		check.Contains(t, texts["use.ts"], "'😀'; count(x)\ncount(1)", "the rename is %+v: %s", r)
		s.Await("the diagnostics", func() bool { // which this server tells in several parts
			r := ask(t, s, "diagnostics", fmt.Sprintf(`{ path = %q }`, use))
			return len(r.Diagnostics) > 0 && r.Diagnostics[0].Line == 3
		})
	})
}
