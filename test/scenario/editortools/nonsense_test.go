package editortools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/scene"
)

// Whatever a language server answers, each call is answered: with what makes sense of it, or with an error in words, and the
// user sees nothing of it.
func TestServersThatAnswerNonsense(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		path := s.WriteFile("a.txt", "parse it\nü parse\n")
		answers := []string{
			`'text'`, `7`, `true`, `{ 7, 'x', true, vim.NIL }`, `{ {} }`, `{ { uri = 7, range = 8 } }`,
			`{ uri = uri }`, `{ { uri = uri } }`, `{ { uri = uri, range = {} } }`, `{ { uri = uri, range = { start = {} } } }`,
			`{ { uri = uri, range = at('one', 'two') } }`, `{ { uri = uri, range = at(-5, -7) } }`, `{ { uri = uri, range = at(1e9, 1e12) } }`,
			`{ { uri = uri, range = at(0.5, 1.5) } }`, `{ { uri = uri, range = at(1, 400) } }`, `{ { uri = uri, range = at(0 / 0, 1 / 0) } }`,
			`{ { uri = 'jdt://contents/A.class', range = at(0, 0) } }`, `{ { uri = 'file://%zz/%', range = at(0, 0) } }`, `{ { uri = '', range = at(0, 0) } }`,
			`{ { uri = 'file:///\0x', range = at(0, 0) } }`, `{ { targetUri = uri } }`, `{ { targetUri = uri, targetSelectionRange = at(0, 0) } }`,
			`{ contents = 7 }`, `{ contents = { kind = 'markdown' } }`, `{ contents = { 7, {} } }`, `{ signatures = 7 }`, `{ signatures = { {}, 7, { label = 8, documentation = {} } } }`,
			`{ { name = 7, kind = 'x', children = 7, selectionRange = 7 } }`, `{ { name = 'x', kind = 99, location = 7, children = { 7, {} } } }`,
			`{ { title = 7, command = 7, edit = 7, kind = {} } }`, `{ { command = { command = 7 } } }`,
			`{ changes = 7 }`, `{ changes = { [uri] = 7 } }`, `{ changes = { [uri] = { {} } } }`, `{ changes = { [uri] = { { range = at('x', 1), newText = 7 } } } }`,
			`{ changes = { [uri] = { { range = at(-1, -1), newText = 'x' } } } }`, `{ changes = { [uri] = { { range = at(1, 400), newText = 'x' } } } }`,
			`{ changes = { ['untitled:x'] = { { range = at(0, 0), newText = 'x' } } } }`, `{ documentChanges = 7 }`, `{ documentChanges = { 7, {} } }`,
			`{ documentChanges = { { kind = 'rename' } } }`, `{ documentChanges = { { kind = 'rename', oldUri = uri } } }`, `{ documentChanges = { { textDocument = { uri = uri } } } }`,
			`{ { from = 7, fromRanges = 7, to = 7 } }`, `{ { from = { uri = uri }, fromRanges = { {}, 7 } } }`, `{ { to = { uri = uri } } }`,
			`{ { range = at(0, 0), newText = 7 } }`, `{ { newText = 'x' } }`,
		}
		s.Lua(nil, `_G.nonsense = 1`)
		server(s, "one", fmt.Sprintf(`(function()
			local function answer(params)
				local uri = params.textDocument and params.textDocument.uri or vim.uri_from_fname(%q)
				local function at(line, character)
					local pos = { line = line, character = character }
					return { start = pos, ['end'] = pos }
				end
				local all = { %s }
				return all[_G.nonsense]
			end
			return {
				capabilities = {
					workspaceSymbolProvider = true, documentSymbolProvider = true, hoverProvider = true, signatureHelpProvider = {}, callHierarchyProvider = true,
					documentFormattingProvider = true,
					codeActionProvider = { resolveProvider = true },
				},
				answers = setmetatable({}, { __index = function() return answer end }),
			}
		end)()`, path, strings.Join(answers, ",\n")))
		s.Command("edit a.txt")
		s.AwaitLua(`#vim.lsp.get_clients({ bufnr = 0 }) == 1`)
		s.SetRules(`{ { kind = 'edit', action = 'reject' } }`) // what is to be changed is no matter here
		p, e := begin(t, s, `{ tools = 'write' }`)
		c := connect(t, e)
		turn := s.Prompt(p, "Look")
		at := obj{"path": "a.txt", "line": 1, "symbol": "parse", "new_name": "count"}
		for i, text := range answers {
			s.Lua(nil, `_G.nonsense = ...`, i+1)
			calls := map[string]<-chan answer{}
			for _, tool := range []string{"definition", "references", "hover", "signature", "symbols", "incoming_calls", "outgoing_calls", "code_actions", "rename", "format"} {
				calls[tool] = start(t.Context(), c, tool, at, nil)
			}
			calls["workspace_symbols"] = start(t.Context(), c, "workspace_symbols", obj{"query": "x"}, nil)
			for tool, got := range calls {
				a := <-got
				if strings.Contains(a.text, ".lua:") || a.text == "" {
					t.Errorf("%s of %s: %+v", tool, text, a)
				}
				if strings.HasPrefix(a.text, "1 code action") {
					if a := <-start(t.Context(), c, "apply_code_action", obj{"id": strings.Split(strings.Split(a.text, "\n")[1], ":")[0]}, nil); strings.Contains(a.text, ".lua:") {
						t.Errorf("the action of %s: %+v", text, a)
					}
				}
			}
		}
		p.EndTurn(turn)
		if shown := s.Notifications(); strings.Contains(shown, ".lua:") {
			t.Errorf("the user sees %s", shown)
		}
	})
}
