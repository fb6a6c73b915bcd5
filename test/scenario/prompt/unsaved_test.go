package prompt

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// edited opens a file and puts an unsaved line above its text.
func edited(s *scene.Scene, name, text, line string) (path string) {
	s.T.Helper()
	must.Do(s.T, os.MkdirAll(filepath.Dir(filepath.Join(s.Dir, name)), 0o777))
	path = s.WriteFile(name, text)
	s.Command("edit " + strings.ReplaceAll(path, " ", `\ `))
	s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, 0, false, { ... })`, line)
	return path
}

// contentBehind are the content blocks behind the words of the next prompt, whose turn is ended.
func contentBehind(p *scene.Puppet, words string) []any {
	p.T.Helper()
	blocks := blocks(p)
	if want := (obj{"type": "text", "text": words}); len(blocks) == 0 || !reflect.DeepEqual(blocks[0], want) {
		p.T.Fatalf("the agent was asked %v, not %q", blocks, words)
	}
	return blocks[1:]
}

// newer is the sentence before texts that go along.
func newer(names string) obj {
	return obj{"type": "text", "text": "These files are newer in the user's editor than on disk, where they are not saved yet: " +
		names + ". Their text in the editor follows."}
}

func embedded(path, text string) obj {
	return obj{"type": "resource", "resource": obj{"uri": "file://" + path, "text": text}}
}

// awaitUnsaved waits until the prompt offers these files.
func awaitUnsaved(s *scene.Scene, names ...string) {
	s.T.Helper()
	s.AwaitLua(`table.concat(require('acp').sessions()[1].unsaved or { '?' }, ' ') == ...`, strings.Join(names, " "))
}

func wantAlong(p *scene.Puppet, words string, want ...any) {
	p.T.Helper()
	if got := contentBehind(p, words); !reflect.DeepEqual(got, append([]any{}, want...)) {
		p.T.Errorf("with %q went\n%v, expected\n%v", words, got, want)
	}
}

func TestUnsavedTextIsSentOnce(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		lexer := edited(s, "src/lexer.lua", "return 1\n", "local a")
		p := beginTaking(s, obj{"embeddedContext": true})
		awaitUnsaved(s, "src/lexer.lua")
		s.AwaitScreen("+ unsaved: src/lexer.lua  gX drops")
		s.Keys("iWhat?")
		s.AwaitScreenMatch(`\+ unsaved: src/lexer.lua +<C-s> send`) // gX would be text
		s.GoldenScreen("chip")
		s.Keys("<C-s>")
		wantAlong(p, "What?", newer("src/lexer.lua"), embedded(lexer, "local a\nreturn 1\n"))
		s.AwaitChat("What?\n@ src/lexer.lua · unsaved text")
		awaitUnsaved(s)
		s.GoldenScreen("sent")

		// The same text goes once, also after it was changed and changed back.
		s.Keys("Again<C-s>")
		wantAlong(p, "Again")
		s.Lua(nil, `vim.api.nvim_buf_call(vim.fn.bufnr('lexer.lua'), function()
			vim.cmd('normal! Ax') vim.cmd('normal! u') end)`)
		s.Keys("Undone<C-s>")
		wantAlong(p, "Undone")
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('lexer.lua'), 1, 'local b')`)
		s.Keys("Once more<C-s>")
		wantAlong(p, "Once more", newer("src/lexer.lua"), embedded(lexer, "local b\nreturn 1\n"))

		// What is saved is the disk's.
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('lexer.lua'), 1, 'local c') vim.cmd('silent wall')`)
		s.Keys("Saved<C-s>")
		wantAlong(p, "Saved")
		p.Silent()
	})
}

func TestUnsavedTextIsDropped(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		a := edited(s, "a.lua", "a\n", "new a")
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Keys("iNot this<Esc>")
		s.AwaitScreen("+ unsaved: a.lua  gX drops")
		s.Keys("gX")
		s.AwaitScreen("− unsaved: a.lua  gX sends")
		s.GoldenScreen("dropped")
		s.Keys("<CR>")
		wantAlong(p, "Not this")
		// That was for one prompt; and it can be taken back.
		s.AwaitScreen("+ unsaved: a.lua  gX drops")
		s.Keys("iThis<Esc>gX")
		s.AwaitScreen("− unsaved: a.lua  gX sends")
		s.Keys("gX")
		s.AwaitScreen("+ unsaved: a.lua  gX drops")
		s.Keys("<CR>")
		wantAlong(p, "This", newer("a.lua"), embedded(a, "new a\na\n"))
		// By the API.
		edited(s, "b.lua", "b\n", "new b")
		s.OK(`require('acp').prompt('Plain', { unsaved = 'ignore' })`)
		wantAlong(p, "Plain")
		s.Refused(`require('acp').prompt('Plain', { unsaved = true })`)
	})
}

func TestUnsavedTextOfManyFiles(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		for i := range 9 {
			edited(s, fmt.Sprintf("%d.lua", i), "x\n", "y")
		}
		beginTaking(s, obj{"embeddedContext": true})
		s.AwaitScreen("+ unsaved: 0.lua, 1.lua, +7  gX drops")
		s.GoldenScreen("many")
		s.Command("vertical resize 29")
		s.AwaitScreenMatch(`│ \+ unsaved: 9 files *\n`)
	})
}

// An agent that takes no embedded text gets a diff from the disk, and the user does not see it.
func TestUnsavedTextAsDiff(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		edited(s, "a.lua", "1\n2\n3\n4\n5\n", "zero")
		s.Command("edit new.lua")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'fresh' })`)
		p := s.Begin()
		s.Keys("iWhat?<C-s>")
		m := p.Expect("session/prompt")
		blocks := m.Get("prompt").([]any)
		want := []any{
			obj{"type": "text", "text": "What?"},
			obj{"type": "text", "text": "These files have changes in the user's editor that are not saved to disk yet: a.lua, new.lua." +
				" This diff leads from the disk to the editor:\n```diff\n" +
				"--- a/a.lua\n+++ b/a.lua\n@@ -1,3 +1,4 @@\n+zero\n 1\n 2\n 3\n" +
				"--- /dev/null\n+++ b/new.lua\n@@ -0,0 +1 @@\n+fresh\n```"},
		}
		check.Deep(t, blocks, want, "sent were %v")
		// Repeated by the agent it is not shown.
		for _, b := range blocks {
			p.Update("user_message_chunk", obj{"content": b})
		}
		p.Say("Done.")
		p.Stop(m, "end_turn")
		s.AwaitChat("Done.")
		if got, want := strings.TrimSpace(s.Chat()), "What?\n@ a.lua · unsaved text\n@ new.lua · unsaved text\n\nDone."; !strings.HasSuffix(got, want) {
			t.Errorf("the chat shows %q", got)
		}
	})
}

// Of much text the user is asked, with how much it is; what is much as a file may be little to send.
func TestMuchUnsavedText(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved_max = 40 * 1024`)
		var paths, names []string
		for i := range 10 {
			name := fmt.Sprintf("%d.txt", i)
			paths, names = append(paths, edited(s, name, strings.Repeat("0123456\n", 1000), "0123456")), append(names, name)
		}
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Lua(nil, `vim.ui.select = function(_, opts, on_choice) asked, answer = opts.prompt, on_choice end`)
		awaitUnsaved(s, names...)
		s.Keys("iWhat?<C-s>")
		s.AwaitLua(`asked == 'Unsaved text in 0.txt, 1.txt, 2.txt, 3.txt, 4.txt, +5 (79 KB):'`)
		s.Lua(nil, `asked = nil answer()`) // it stays
		s.Lua(nil, `require('acp').prompt('Again')`)
		s.AwaitLua("asked")
		s.Lua(nil, `answer({ '', 'send' })`)
		want := []any{newer(strings.Join(names, ", "))}
		for _, path := range paths {
			want = append(want, embedded(path, strings.Repeat("0123456\n", 1001)))
		}
		wantAlong(p, "Again", want...)

		// Without a question no more goes than that, whenever the prompt is sent.
		s.Lua(nil, `asked = nil
			local newer = vim.split(('abcdefg\n'):rep(1000), '\n')
			for i = 0, 9 do vim.api.nvim_buf_set_lines(vim.fn.bufnr(i .. '.txt'), 0, -1, false, newer) end
			require('acp.rpc.host').notify('prompt', { session = require('acp').sessions()[1].id, blocks = {
			{ type = 'unsaved', room = require('acp.prompt.unsaved').room() }, { type = 'text', text = 'Queued' } } })`)
		along := contentBehind(p, "Queued")
		check.Equal(t, strings.Count(fmt.Sprint(along), "resource_link"), 5, "%d files are linked")
		s.Command("silent wall")

		// The change of a long text is short.
		long := edited(s, "long.txt", strings.Repeat("a long line of text\n", 10_000), "zero")
		awaitUnsaved(s, "long.txt")
		s.Lua(nil, `require('acp').prompt('Short')`)
		if along := contentBehind(p, "Short"); len(along) != 1 || !strings.Contains(fmt.Sprint(along), "+zero") {
			t.Errorf("with %s went %v", long, along)
		}
		s.AwaitLua("asked == nil")
	})
}

// The line above the prompt takes as long for many files as it takes for those that it shows.
func TestChipOfManyFiles(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Begin()
		for _, n := range []int{100, 10_000} {
			s.Lua(nil, `
				local names, widths = {}, 0
				for i = 1, ... do names[i] = ('src/some/folder/file%d.lua'):format(i) end
				local width = vim.fn.strdisplaywidth
				vim.fn.strdisplaywidth = function(text) widths = widths + #text; return width(text) end
				require('acp.rpc.state').sessions[require('acp').sessions()[1].id].unsaved = names
				require('acp.chat.winbar').refresh()
				vim.fn.strdisplaywidth = width
				measured = widths`, n)
			s.AwaitScreenMatch(`\+ unsaved: .*`)
			s.AwaitLua("measured < 5000")
		}
	})
}

func TestLargeUnsavedText(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		long := strings.Repeat("a long line of text\n", 10_000)
		edited(s, "long.txt", long, "zero")
		all := edited(s, "all.txt", long, "zero")
		s.Command(`%s/long/wide/`)
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Keys("iWhat?<C-s>")
		wantAlong(p, "What?",
			obj{"type": "text", "text": "These files have changes in the user's editor that are not saved to disk yet: long.txt." +
				" This diff leads from the disk to the editor:\n```diff\n--- a/long.txt\n+++ b/long.txt\n@@ -1,3 +1,4 @@\n+zero\n" +
				strings.Repeat(" a long line of text\n", 3) + "```"},
			obj{"type": "text", "text": "These files have changes in the user's editor that are not saved to disk yet and could not be sent: all.txt."},
			obj{"type": "resource_link", "uri": "file://" + all, "name": "all.txt"},
		)
	})
}

// What is elsewhere, private or no file stays with the user, also behind a link.
func TestUnsavedTextThatStays(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		outside := t.TempDir()
		for _, name := range []string{"out.lua", "linked.lua"} {
			must.Do(t, os.WriteFile(filepath.Join(outside, name), []byte("x\n"), 0o666))
		}
		must.Do(t, os.Symlink(outside, filepath.Join(s.Dir, "link")))
		edited(s, ".env", "KEY=1\n", "SECRET=2")
		for _, command := range []string{"edit " + outside + "/out.lua", "edit link/linked.lua", "enew", "enew | setlocal buftype=nofile | file scratch"} {
			s.Command(command)
			s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'unsaved' }) vim.bo.modified = true`)
		}
		a := edited(s, "a.lua", "a\n", "new a")
		p := beginTaking(s, obj{"embeddedContext": true})
		awaitUnsaved(s, "a.lua")
		s.Keys("iWhat?<C-s>")
		wantAlong(p, "What?", newer("a.lua"), embedded(a, "new a\na\n"))
	})
}

func TestNothingGoesToAnAgentThatReadsBuffers(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		a := edited(s, "a.lua", "a\n", "new a")
		p := beginTaking(s, obj{"embeddedContext": true})
		awaitUnsaved(s, "a.lua")
		s.Keys("iOne<C-s>")
		m, _ := p.Prompted()
		if got := p.Ask("fs/read_text_file", obj{"sessionId": scene.SessionID(1), "path": a}).Text("content"); got != "new a\na\n" {
			t.Errorf("read was %q", got)
		}
		p.EndTurn(m)
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'newer a')`)
		s.Keys("Two<C-s>")
		wantAlong(p, "Two")
		awaitUnsaved(s)
	})
}

func TestMentionedFilesGoOnce(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		a := edited(s, "a.lua", "a\n", "new a")
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Keys("iSee @a.lua<C-s>")
		wantAlong(p, "See @a.lua", embedded(a, "new a\na\n"))
		s.Keys("More<C-s>")
		wantAlong(p, "More")
	})
}

// A prompt that waits takes the text along that is there when it is sent; its order stays.
func TestQueuedPromptTakesTheLatestText(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		a := edited(s, "a.lua", "a\n", "one")
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Keys("iFirst<C-s>")
		first, _ := p.Prompted()
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'two')`)
		s.Keys("Second<C-s>Third<C-s>")
		s.AwaitQueue("Second", "Third")
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'three')`)
		p.EndTurn(first)
		wantAlong(p, "Second", newer("a.lua"), embedded(a, "three\na\n"))
		wantAlong(p, "Third")
	})
}

// A cancel just behind a prompt is for that prompt.
func TestCancelBehindAPromptWithUnsavedText(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		edited(s, "a.lua", "a\n", "one")
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Lua(nil, `require('acp').prompt('First') require('acp').prompt('Second') require('acp').cancel()`)
		m, _ := p.Prompted()
		p.Expect("session/cancel")
		p.Stop(m, "cancelled")
		s.AwaitQueue("Second")
		s.AwaitChat("1 prompt queued")
		s.OK(`require('acp').prompt('')`) // on with the queue
		p.PlayTurn("Second")
		s.AwaitState("idle")

		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'two')
			require('acp').prompt('Third') require('acp').cancel() require('acp').prompt('Fourth')`)
		m, _ = p.Prompted()
		p.Expect("session/cancel")
		p.Stop(m, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		p.PlayTurn("Fourth")
		p.Silent()
	})
}

func TestUnsavedTextIsAskedFor(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'ask'`)
		a := edited(s, "a.lua", "a\n", "one")
		s.Lua(nil, `vim.ui.select = function(items, opts, answer)
			_G.asked = opts.prompt
			_G.offered = vim.tbl_map(opts.format_item, items)
			_G.answer = function(n) _G.asked = nil; answer(items[n], n) end
		end`)
		answer := func(n int) {
			t.Helper()
			s.AwaitLua(`_G.asked`)
			s.Lua(nil, `_G.answer(...)`, n)
		}
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Keys("iOne<C-s>")
		s.AwaitLua(`_G.asked`)
		if got := s.LuaString(`_G.asked .. ' ' .. table.concat(_G.offered, ', ')`); got != "Unsaved text in a.lua: Send it along, Save it, Leave it out" {
			t.Errorf("asked was %q", got)
		}
		s.GoldenScreen("asked")
		s.Keys("<C-s>") // once is enough
		s.AwaitPrompt("One")
		answer(1)
		wantAlong(p, "One", newer("a.lua"), embedded(a, "one\na\n"))
		s.AwaitPrompt("")
		s.Keys("Nothing new<C-s>")
		wantAlong(p, "Nothing new")

		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'two')`)
		s.Keys("Two<C-s>")
		answer(9) // none: the prompt stays
		s.AwaitPrompt("Two")
		s.Keys("<C-s>")
		answer(3)
		wantAlong(p, "Two")
		check.Equal(t, s.ReadFile(a), "a\n", "the disk has %q")
		// What is sent meanwhile waits behind the question.
		s.OK(`require('acp').prompt('Three')`)
		s.OK(`require('acp').prompt('Four', { unsaved = 'ignore' })`)
		answer(2)
		wantAlong(p, "Three")
		wantAlong(p, "Four")
		check.Equal(t, s.ReadFile(a), "two\na\n", "the disk has %q")
	})
}

func TestUnsavedTextIsSaved(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'save'`)
		s.RecordNotifications()
		a := edited(s, "a.lua", "a\n", "one  ")
		s.Lua(nil, `vim.api.nvim_create_autocmd('BufWritePre', { pattern = '*.lua', command = '%s/\\s\\+$//e' })`)
		env := edited(s, ".env", "KEY=1\n", "KEY=2")
		p := s.Begin()
		s.Keys("iOne<C-s>")
		wantAlong(p, "One")
		check.Equal(t, s.ReadFile(a)+s.ReadFile(env), "one\na\nKEY=1\n", "the disk has %q")
		// What cannot be saved is told, and the prompt stays.
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'two') vim.bo[vim.fn.bufnr('a.lua')].readonly = true`)
		s.Keys("Two<C-s>")
		s.AwaitNotification("a.lua could not be saved: E45: 'readonly' option is set (add ! to override). The prompt was not sent")
		s.AwaitPrompt("Two")
		p.Silent()
		s.Lua(nil, `vim.bo[vim.fn.bufnr('a.lua')].readonly = false`)
		s.Keys("<C-s>")
		wantAlong(p, "Two")
		check.Equal(t, s.ReadFile(a), "two\na\n", "the disk has %q")
	})
}

func TestUnsavedTextIsIgnored(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'ignore'`)
		edited(s, "a.lua", "a\n", "one")
		p := beginTaking(s, obj{"embeddedContext": true})
		awaitUnsaved(s, "a.lua")
		s.Keys("iOne")
		s.AwaitPrompt("One")
		if screen := s.Screen(); strings.Contains(screen, "unsaved") {
			t.Errorf("shown is\n%s", screen)
		}
		s.Keys("<C-s>")
		wantAlong(p, "One")
	})
}

// warned reports whether the float says that a file has changed.
func warned(s *scene.Scene) bool {
	return strings.Contains(s.FloatText(), "changed since Puppet read it")
}

func proposal(id, path, old, text string) obj {
	return obj{
		"toolCallId": id, "title": "Edit", "kind": "edit", "status": "pending",
		"locations": []obj{{"path": path}},
		"content":   []obj{{"type": "diff", "path": path, "oldText": old, "newText": text}},
	}
}

func TestStaleEditIsToldOfBuffers(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFiles("src/lexer.lua", "b.lua")
		path, other := filepath.Join(s.Dir, "src/lexer.lua"), filepath.Join(s.Dir, "b.lua")
		s.WriteFile("src/lexer.lua", "one\ntwo\nthree\n")
		s.Command("edit src/lexer.lua")
		p := s.Begin()
		turn := s.Prompt(p, "go")
		p.Ask("fs/read_text_file", obj{"sessionId": scene.SessionID(1), "path": path, "line": 2, "limit": 1})
		p.Ask("fs/read_text_file", obj{"sessionId": scene.SessionID(1), "path": other})

		id := p.Permission(proposal("e1", path, "two\n", "2\n"), scene.YesNo...)
		s.AwaitFloat()
		settle(s)
		if warned(s) {
			t.Errorf("the float warns:\n%s", s.FloatText())
		}
		s.Permit(p, id, 1, "yes")
		p.Ask("fs/write_text_file", obj{"sessionId": scene.SessionID(1), "path": path, "content": "one\n2\nthree\n"})

		// Its own writing is no news for it; what the user types is.
		id = p.Permission(proposal("e2", path, "three\n", "3\n"), scene.YesNo...)
		s.AwaitFloat()
		settle(s)
		if warned(s) {
			t.Errorf("the float warns:\n%s", s.FloatText())
		}
		s.Permit(p, id, 1, "yes")
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('lexer.lua'), 1, 'ONE')`)
		call := proposal("e3", path, "three\n", "3\n")
		call["content"] = append(call["content"].([]obj), obj{"type": "diff", "path": other, "oldText": "text", "newText": "word"})
		id = p.Permission(call, scene.YesNo...)
		s.AwaitFloat()
		s.Await("a warning", func() bool { return warned(s) })
		s.AwaitScreen("⚠ lexer.lua changed since Puppet read it")
		if got := strings.Count(s.FloatText(), "changed since"); got != 1 {
			t.Errorf("%d warnings:\n%s", got, s.FloatText())
		}
		s.GoldenScreen("stale")
		s.Permit(p, id, 3, "no")
		// It reads again.
		p.Ask("fs/read_text_file", obj{"sessionId": scene.SessionID(1), "path": path})
		id = p.Permission(proposal("e4", path, "three\n", "3\n"), scene.YesNo...)
		s.AwaitFloat()
		settle(s)
		if warned(s) {
			t.Errorf("the float warns:\n%s", s.FloatText())
		}
		// Changed while the question is open.
		s.Command("wincmd t")
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('lexer.lua'), 1, 'One') vim.api.nvim_exec_autocmds('TextChanged', {})`)
		s.Await("a warning", func() bool { return warned(s) })
		s.Permit(p, id, 3, "no")
		p.Stop(turn, "end_turn")
	})
}

// An agent that reads the disk tells of it by its tool calls.
func TestStaleEditIsToldOfTheDisk(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("a.lua", "one\ntwo\n")
		p := s.Begin()
		turn := s.Prompt(p, "go")
		read := func(id string) {
			p.Update("tool_call", obj{"toolCallId": id, "title": "Read", "kind": "read", "status": "in_progress", "locations": []obj{{"path": path}}})
			p.Update("tool_call_update", obj{"toolCallId": id, "status": "completed"})
		}
		asked := func(id string, stale bool) {
			t.Helper()
			request := p.Permission(proposal(id, path, "two\n", "2\n"), scene.YesNo...)
			s.AwaitFloat()
			settle(s)
			if stale {
				s.Await("a warning", func() bool { return warned(s) })
			} else if warned(s) {
				t.Errorf("the float warns:\n%s", s.FloatText())
			}
			s.Permit(p, request, 3, "no")
		}
		asked("e0", false) // it never read it
		read("r1")
		asked("e1", false)
		s.WriteFile("a.lua", "ONE\ntwo\n")
		asked("e2", true)
		read("r2")
		asked("e3", false)
		p.Stop(turn, "end_turn")
	})
}

// What the agent was sent with a prompt it knows.
func TestStaleAfterUnsavedTextWasSent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := edited(s, "a.lua", "two\n", "one")
		p := beginTaking(s, obj{"embeddedContext": true})
		s.Keys("iGo<C-s>")
		turn, _ := p.Prompted()
		request := p.Permission(proposal("e1", path, "two\n", "2\n"), scene.YesNo...)
		s.AwaitFloat()
		settle(s)
		if warned(s) {
			t.Errorf("the float warns:\n%s", s.FloatText())
		}
		s.Permit(p, request, 3, "no")
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'changed')`)
		request = p.Permission(proposal("e2", path, "two\n", "2\n"), scene.YesNo...)
		s.AwaitFloat()
		s.Await("a warning", func() bool { return warned(s) })
		s.Permit(p, request, 3, "no")
		p.Stop(turn, "end_turn")
	})
}
