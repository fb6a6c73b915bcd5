package diff

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// lexer is a file of a hundred lines, of which one is wrong.
func lexer(line string) string {
	var b strings.Builder
	for i := 1; i <= 100; i++ {
		switch i {
		case 47:
			b.WriteString("  local out = {}\n")
		case 48:
			b.WriteString("  " + line + "\n")
		case 49:
			b.WriteString("    out[#out + 1] = toks[i]\n")
		case 50:
			b.WriteString("  end\n")
		default:
			fmt.Fprintf(&b, "-- line %d\n", i)
		}
	}
	return b.String()
}

const (
	wrong = "for i = first, #toks - 1 do"
	right = "for i = first, #toks do"
)

// edit is a tool call that changes files.
func edit(id, title, status string, diffs ...obj) obj {
	for _, d := range diffs {
		d["type"] = "diff"
	}
	return obj{"toolCallId": id, "title": title, "kind": "edit", "status": status, "content": diffs}
}

// A fragment of the file has the file's line numbers, before it is applied and
// after; the picture stays, whatever becomes of the file.
func TestDiffOfAFragment(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("lexer.lua", lexer(wrong))
		p := s.Begin()
		turn := s.Prompt(p, "fix it")
		diff := obj{"path": path, "oldText": wrong, "newText": right}
		id := p.Permission(edit("c", "Edit lexer.lua", "pending", diff), scene.YesNo...)
		s.AwaitFloat()
		s.AwaitChat("48 - ")
		s.GoldenScreen("asked")
		must.Do(t, os.WriteFile(path, []byte(lexer(right)), 0o666))
		s.Command("Acp permit 1")
		scene.Outcome(t, p.Answer(id))
		shown := s.Chat()
		p.Update("tool_call_update", edit("c", "Edit lexer.lua", "completed", diff))
		p.EndTurn(turn)
		if _, body, _ := strings.Cut(shown, "\n    47 "); !strings.Contains(s.Chat(), body) {
			t.Errorf("the chat was\n%s\nand is\n%s", shown, s.Chat())
		}
		s.GoldenScreen("done")
	})
}

// What has been done already when it is told, and in unsaved text.
func TestDiffIsLocatedInWhatTheUserHas(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'ignore'`)
		done := s.WriteFile("done.lua", lexer(right))
		typed := s.WriteFile("typed.lua", "one\n")
		s.Command("edit " + typed)
		s.Keys("ggOnot on the disk<Esc>")
		dos := s.WriteFile("dos.lua", strings.ReplaceAll(lexer(wrong), "\n", "\r\n"))
		twice := s.WriteFile("twice.lua", "x = 1\ny = 2\nx = 1\ny = 2\n")
		p := s.Begin()
		turn := s.Prompt(p, "change them")
		p.Update("tool_call", edit("done", "Edit done.lua", "completed", obj{"path": done, "oldText": wrong, "newText": right}))
		p.Update("tool_call", edit("typed", "Edit typed.lua", "in_progress", obj{"path": typed, "oldText": "one", "newText": "two"}))
		p.Update("tool_call", edit("dos", "Edit dos.lua", "in_progress", obj{
			"path": dos, "oldText": "  local out = {}\r\n  " + wrong + "\r\n", "newText": "  local out = {}\r\n  " + right + "\r\n",
		}))
		call := edit("twice", "Edit twice.lua", "in_progress", obj{"path": twice, "oldText": "y = 2", "newText": "y = 3"})
		call["locations"] = []obj{{"path": twice, "line": 3}}
		p.Update("tool_call", call)
		for _, text := range []string{"48 - ", "2 - one", "4 - y = 2"} {
			s.AwaitChat(text)
		}
		s.GoldenScreen("located")
		p.EndTurn(turn)
	}, scene.Wide)
}

// All files of a call, those that are new, gone, elsewhere, no text, or not as the agent thinks.
func TestDiffOfManyFiles(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		a, b := s.WriteFile("a.txt", "one\ntwo\nthree\n"), s.WriteFile("b.txt", "alpha\nbeta")
		other := s.WriteFile("other.txt", "something else\n")
		must.Do(t, os.Mkdir(filepath.Join(s.Dir, "folder"), 0o777))
		p := s.Begin()
		turn := s.Prompt(p, "change them")
		p.Update("tool_call", edit("c", "Change many files", "in_progress",
			obj{"path": a, "oldText": "two", "newText": "2"},
			obj{"path": b, "oldText": "beta", "newText": "gamma\ndelta"},
			obj{"path": filepath.Join(s.Dir, "new.txt"), "newText": "first\nsecond\n"},
			obj{"path": other, "oldText": "what it was", "newText": "what it is"},
			obj{"path": filepath.Join(s.Dir, "gone.txt"), "oldText": "x", "newText": "y"},
			obj{"path": filepath.Join(s.Dir, "folder"), "oldText": "x", "newText": "y"},
			obj{"path": filepath.Join(s.Dir, "image"), "oldText": "a\x00b", "newText": "a\x00c"},
		))
		s.AwaitChat("1 + first")
		for _, text := range []string{"no such file", "it is a directory", "binary file", "not found in the file"} {
			s.AwaitChat(text)
		}
		s.GoldenScreen("files")
		p.EndTurn(turn)
	}, scene.Wide)
}

// awaitCode waits until the line of the chat that begins so has the colours of its language to its end.
func awaitCode(s *scene.Scene, text string) {
	s.T.Helper()
	s.AwaitLua(`(function(buf, text)
		local ns = vim.api.nvim_create_namespace('acp_code')
		for row, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
			if vim.startswith(vim.trim(line), text) then
				for _, m in ipairs(vim.api.nvim_buf_get_extmarks(buf, ns, { row - 1, 0 }, { row - 1, -1 }, { details = true })) do
					if m[2] == row - 1 and m[4].end_col == #line then
						return true
					end
				end
			end
		end
	end)(`+scene.ChatBuf+`, ...)`, text)
}

// Changed words stand out on the background of their line, under the colours of
// the language; what is not shown is not coloured.
func TestDiffColours(t *testing.T) {
	for _, background := range []string{"dark", "light"} {
		t.Run(background, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				s.Command("set background=" + background)
				path := s.WriteFile("lexer.lua", lexer(wrong))
				p := s.Begin()
				turn := s.Prompt(p, "fix it")
				p.Update("tool_call", edit("c", "Edit lexer.lua", "in_progress", obj{"path": path, "oldText": wrong, "newText": right}))
				s.AwaitChat("48 - ")
				awaitCode(s, "48 - ")
				p.EndTurn(turn)
				s.Golden("colours", nvimtest.Attrs(), nvimtest.Replace(`\d\.\d s\b`, "N.N s"))
			})
		})
	}
}

// A long diff is opened in slices: Neovim is never kept from its user for long.
func TestDiffOfManyLines(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		var old, text strings.Builder
		for i := range 5000 {
			fmt.Fprintf(&old, "local name%d = call(%d, 'text', one)\n", i, i)
			fmt.Fprintf(&text, "local name%d = call(%d, 'word', two)\n", i, i)
		}
		path := s.WriteFile("long.lua", old.String())
		p := s.Begin()
		turn := s.Prompt(p, "change it")
		p.Update("tool_call", edit("c", "Edit long.lua", "completed", obj{"path": path, "oldText": old.String(), "newText": text.String()}))
		p.EndTurn(turn)
		s.AwaitChat("1 - local name0")
		s.StartGap()
		s.Command("lua vim.api.nvim_win_call(vim.fn.win_findbuf(" + scene.ChatBuf + ")[1], function() require('acp.chat.navigate').fold('open_all') end)")
		s.AwaitLua(`vim.api.nvim_buf_line_count(` + scene.ChatBuf + `) > 10000`)
		s.AwaitLua(`#vim.api.nvim_buf_get_extmarks(` + scene.ChatBuf + `, vim.api.nvim_create_namespace('acp_code'), 0, -1, {}) > 500`)
		t.Logf("the longest gap was %v", s.StopGap())
		s.AwaitChat("5000 + local name4999")
	}, scene.Wide)
}
