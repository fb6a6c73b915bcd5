package editortools

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// fakeServers stands for the language servers: rename gives each of two files another text.
const fakeServers = `
	require('acp.editortools').servers = function(tool, args, done)
			if tool == 'references' then
				local cwd = vim.fn.getcwd()
				done({ places = {
					{ path = cwd .. '/a.txt', line = 1, column = 1, text = 'old' },
					{ path = cwd .. '/.env', line = 1, column = 1, text = 'old=secret' },
				} })
			elseif tool == 'rename' then
				local cwd = vim.fn.getcwd()
				done({ edits = {
					{ path = cwd .. '/a.txt', text = 'new\nsame\n' },
					{ path = cwd .. '/b.txt', text = 'use new\n' },
				} })
			end
			return function() _G.cancelled = tool end
	end`

// A rename is one question about all files; its changes are the agent's, to be reviewed.
func TestRename(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		a, b := s.WriteFile("a.txt", "old\nsame\n"), s.WriteFile("b.txt", "use old\n")
		s.WriteFile(".env", "old=secret\n")
		s.Lua(nil, fakeServers)
		s.Command("edit a.txt")
		p, e := begin(t, s, `{ tools = 'write' }`)
		c := connect(t, e)
		turn := s.Prompt(p, "Rename")
		says(t, c, "references", obj{"path": "a.txt", "line": 1, "symbol": "old"}, "1 place:\na.txt:1:1: old")
		args := obj{"path": "a.txt", "line": 1, "symbol": "old", "new_name": "new"}
		got := start(t.Context(), c, "rename", args, nil)
		check.Equal(t, s.AwaitPermissions(1), "Rename old to new in 2 files", "the question is %q")
		if float := s.FloatText(); !strings.HasPrefix(strings.TrimSpace(float), "Rename old to new \n") {
			t.Errorf("the float says\n%s", float)
		}
		s.Respond(1, "reject")
		fails(t, <-got, "did not allow")
		s.AwaitPermissions(0)
		check.Equal(t, s.ReadFile(a), "old\nsame\n", "what was refused is written: %v")
		got = start(t.Context(), c, "rename", args, nil)
		s.AwaitPermissions(1)
		s.Respond(1, "allow")
		if r := <-got; r.failed || r.text != "2 files changed:\na.txt\nb.txt" {
			t.Errorf("the answer is %+v", r)
		}
		if s.ReadFile(a) != "new\nsame\n" || s.ReadFile(b) != "use new\n" {
			t.Errorf("the files have %q and %q", s.ReadFile(a), s.ReadFile(b))
		}
		says(t, c, "changes", nil, "2 changes:\na.txt (modified) line 1: +1 -1;\nb.txt (modified) line 1: +1 -1;")
		got = start(t.Context(), c, "hover", obj{"path": "a.txt", "line": 1, "symbol": "new"}, nil)
		p.EndTurn(turn)
		fails(t, <-got, "turn")
		s.OK(`require('acp').undo_turn({})`)
		s.Await("the files to be as before", func() bool { return s.ReadFile(a) == "old\nsame\n" && s.ReadFile(b) == "use old\n" })
	})
}

// Files that a code action makes, moves and deletes are changes of the agent's too: in one question, undone with the turn.
func TestNewMovedAndDeletedFiles(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		from, old := s.WriteFile("from.txt", "one\ntwo\n"), s.WriteFile("old.txt", "old\n")
		fresh, to := filepath.Join(s.Dir, "sub", "new.txt"), filepath.Join(s.Dir, "to.txt")
		s.Lua(nil, `require('acp.editortools').servers = function(tool, args, done)
			local cwd = vim.fn.getcwd()
			done({ text = 'Split  it', edits = {
				{ path = cwd .. '/sub/new.txt', create = true, text = 'two\n' },
				{ path = cwd .. '/from.txt', new_path = cwd .. '/to.txt', text = 'one\n' },
				{ path = cwd .. '/old.txt', delete = true, same = true },
			} })
			return function() end
		end`)
		p, e := begin(t, s, `{ tools = 'write' }`)
		c := connect(t, e)
		turn := s.Prompt(p, "Split it")
		apply := func() <-chan answer { return start(t.Context(), c, "apply_code_action", obj{"id": "a1"}, nil) }
		s.Command("edit old.txt")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'mine' })`)
		fails(t, <-apply(), "unsaved text")
		s.Command("silent edit!")
		got := apply()
		check.Equal(t, s.AwaitPermissions(1), "Apply the code action Split it in 3 files", "the question is %q")
		s.Respond(1, "allow")
		if r := <-got; r.failed || r.text != "3 files changed:\nold.txt (deleted)\nsub/new.txt (new)\nto.txt (moved from from.txt)" {
			t.Fatalf("the answer is %+v", r)
		}
		if s.ReadFile(fresh) != "two\n" || s.ReadFile(to) != "one\n" || s.ReadOrNone(from) != "no file" || s.ReadOrNone(old) != "no file" {
			t.Error("the files are not as they should be")
		}
		p.EndTurn(turn)
		want := "added sub/new.txt, deleted old.txt, moved to.txt"
		s.AwaitLua(`(function()
			local list = {}
			for _, c in ipairs(require('acp').changes() or {}) do
				table.insert(list, c.status .. ' ' .. c.path:sub(#vim.fn.getcwd() + 2))
			end
			table.sort(list)
			return table.concat(list, ', ')
		end)() == '` + want + `'`)
		s.OK(`require('acp').undo_turn({})`)
		s.Await("the files to be as before", func() bool {
			return s.ReadOrNone(from) == "one\ntwo\n" && s.ReadOrNone(old) == "old\n" && s.ReadOrNone(fresh) == "no file" && s.ReadOrNone(to) == "no file"
		})
	})
}

// A task runs in a terminal when the user allows it; a tool of the user's own answers from Lua.
func TestTasksAndOwnTools(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.OK(`require('acp').tool({ name = 'ticket', description = 'The ticket at hand',
			run = function(args, respond) respond('ticket ' .. args.n) end,
			schema = { type = 'object', properties = { n = { type = 'integer' } } } })`)
		p, e := begin(t, s, `{ tools = 'write', tasks = { greet = 'echo hello; exit 3' } }`)
		c := connect(t, e)
		turn := s.Prompt(p, "Go")
		got := start(t.Context(), c, "run_task", obj{"name": "greet"}, nil)
		s.AwaitPermissions(1)
		s.Respond(1, "allow")
		if r := <-got; r.failed || !strings.Contains(r.text, "hello") || !strings.Contains(r.text, "3") {
			t.Errorf("the answer is %+v", r)
		}
		s.AwaitPermissions(0)
		got = start(t.Context(), c, "ticket", obj{"n": 7}, nil)
		s.AwaitPermissions(1)
		s.Respond(1, "allow")
		if r := <-got; r.failed || r.text != "ticket 7" {
			t.Errorf("the answer is %+v", r)
		}
		fails(t, <-start(t.Context(), c, "run_task", obj{"name": "rm"}, nil), "no task")
		p.EndTurn(turn)
	})
}

// Of two sessions that work at once a call belongs to the one that it names.
func TestTwoSessions(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("a.txt", "one\n")
		p, e := begin(t, s, `{ tools = 'read' }`)
		c := connect(t, e)
		first := s.Prompt(p, "One")
		s.Command("Acp new")
		opened(t, s, p, 2)
		second := s.Prompt(p, "Two")
		fails(t, <-start(t.Context(), c, "read_buffer", obj{"path": "a.txt"}, nil), "several sessions")
		if r := <-start(t.Context(), c, "read_buffer", obj{"path": "a.txt"}, obj{"threadId": scene.SessionID(2)}); r.failed {
			t.Errorf("by its session: %+v", r)
		}
		p.ToolCall("toolu_1", "other", obj{"title": "mcp__nvim__read_buffer"})
		if r := <-start(t.Context(), c, "read_buffer", obj{"path": "a.txt"}, obj{"claudecode/toolUseId": "toolu_1"}); r.failed {
			t.Errorf("by its call: %+v", r)
		}
		p.EndTurn(first)
		p.EndTurn(second)
	})
}

// Who has no token of an agent that runs is not let in.
func TestNobodyElseIsLetIn(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, e := begin(t, s, `{ tools = 'read' }`)
		run := func() (string, error) {
			cmd := exec.Command(e.Command, e.Args...)
			cmd.Env = e.variables()
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		token := e.Env[1].Value
		e.Env[1].Value = strings.Repeat("x", len(token))
		if said, err := run(); err == nil || !strings.Contains(said, "not let in by Neovim") {
			t.Errorf("with another token: %s, %v", said, err)
		}
		e.Env[1].Value = token
		if said, err := run(); err != nil {
			t.Errorf("with the token: %s, %v", said, err)
		}
		p.Exit(1, "")
		s.AwaitState("dead")
		if said, err := run(); err == nil {
			t.Errorf("after the agent's end: %s", said)
		}
	})
}
