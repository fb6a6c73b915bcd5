package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// edited opens a file and puts an unsaved line above its text.
func (s *scene) edited(name, text, line string) (path string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(s.Dir, name)), 0o777); err != nil {
		s.t.Fatal(err)
	}
	path = s.write(name, text)
	s.Command("edit " + strings.ReplaceAll(path, " ", `\ `))
	s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, 0, false, { ... })`, line)
	return path
}

// along are the content blocks behind the words of the next prompt, whose turn is ended.
func (p *puppet) along(words string) []any {
	p.t.Helper()
	blocks := p.blocks()
	if want := (obj{"type": "text", "text": words}); len(blocks) == 0 || !reflect.DeepEqual(blocks[0], want) {
		p.t.Fatalf("the agent was asked %v, not %q", blocks, words)
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
func (s *scene) awaitUnsaved(names ...string) {
	s.t.Helper()
	s.AwaitLua(`table.concat(require('acp').sessions()[1].unsaved or { '?' }, ' ') == ...`, strings.Join(names, " "))
}

func (p *puppet) wantAlong(words string, want ...any) {
	p.t.Helper()
	if got := p.along(words); !reflect.DeepEqual(got, append([]any{}, want...)) {
		p.t.Errorf("with %q went\n%v, expected\n%v", words, got, want)
	}
}

func TestUnsavedTextIsSentOnce(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		lexer := s.edited("src/lexer.lua", "return 1\n", "local a")
		p := s.beginTaking(obj{"embeddedContext": true})
		s.awaitUnsaved("src/lexer.lua")
		s.AwaitScreen("+ unsaved: src/lexer.lua  gX drops")
		s.Keys("iWhat?")
		s.AwaitScreenMatch(`\+ unsaved: src/lexer.lua +<C-s> send`) // gX would be text
		s.screen("chip")
		s.Keys("<C-s>")
		p.wantAlong("What?", newer("src/lexer.lua"), embedded(lexer, "local a\nreturn 1\n"))
		s.awaitChat("What?\n@ src/lexer.lua · unsaved text")
		s.awaitUnsaved()
		s.screen("sent")

		// The same text goes once, also after it was changed and changed back.
		s.Keys("Again<C-s>")
		p.wantAlong("Again")
		s.Lua(nil, `vim.api.nvim_buf_call(vim.fn.bufnr('lexer.lua'), function()
			vim.cmd('normal! Ax') vim.cmd('normal! u') end)`)
		s.Keys("Undone<C-s>")
		p.wantAlong("Undone")
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('lexer.lua'), 1, 'local b')`)
		s.Keys("Once more<C-s>")
		p.wantAlong("Once more", newer("src/lexer.lua"), embedded(lexer, "local b\nreturn 1\n"))

		// What is saved is the disk's.
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('lexer.lua'), 1, 'local c') vim.cmd('silent wall')`)
		s.Keys("Saved<C-s>")
		p.wantAlong("Saved")
		p.silent()
	})
}

func TestUnsavedTextIsDropped(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		a := s.edited("a.lua", "a\n", "new a")
		p := s.beginTaking(obj{"embeddedContext": true})
		s.Keys("iNot this<Esc>")
		s.AwaitScreen("+ unsaved: a.lua  gX drops")
		s.Keys("gX")
		s.AwaitScreen("− unsaved: a.lua  gX sends")
		s.screen("dropped")
		s.Keys("<CR>")
		p.wantAlong("Not this")
		// That was for one prompt; and it can be taken back.
		s.AwaitScreen("+ unsaved: a.lua  gX drops")
		s.Keys("iThis<Esc>gX")
		s.AwaitScreen("− unsaved: a.lua  gX sends")
		s.Keys("gX")
		s.AwaitScreen("+ unsaved: a.lua  gX drops")
		s.Keys("<CR>")
		p.wantAlong("This", newer("a.lua"), embedded(a, "new a\na\n"))
		// By the API.
		s.edited("b.lua", "b\n", "new b")
		s.ok(`require('acp').prompt('Plain', { unsaved = 'ignore' })`)
		p.wantAlong("Plain")
		s.refused(`require('acp').prompt('Plain', { unsaved = true })`)
	})
}

func TestUnsavedTextOfManyFiles(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		for i := range 9 {
			s.edited(fmt.Sprintf("%d.lua", i), "x\n", "y")
		}
		s.beginTaking(obj{"embeddedContext": true})
		s.AwaitScreen("+ unsaved: 0.lua, 1.lua, +7  gX drops")
		s.screen("many")
		s.Command("vertical resize 29")
		s.AwaitScreenMatch(`│ \+ unsaved: 9 files *\n`)
	})
}

// An agent that takes no embedded text gets a diff from the disk, and the user does not see it.
func TestUnsavedTextAsDiff(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.edited("a.lua", "1\n2\n3\n4\n5\n", "zero")
		s.Command("edit new.lua")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'fresh' })`)
		p := s.begin()
		s.Keys("iWhat?<C-s>")
		m := p.expect("session/prompt")
		blocks := m.get("prompt").([]any)
		want := []any{
			obj{"type": "text", "text": "What?"},
			obj{"type": "text", "text": "These files have changes in the user's editor that are not saved to disk yet: a.lua, new.lua." +
				" This diff leads from the disk to the editor:\n```diff\n" +
				"--- a/a.lua\n+++ b/a.lua\n@@ -1,3 +1,4 @@\n+zero\n 1\n 2\n 3\n" +
				"--- /dev/null\n+++ b/new.lua\n@@ -0,0 +1 @@\n+fresh\n```"},
		}
		if !reflect.DeepEqual(blocks, want) {
			t.Errorf("sent were %v", blocks)
		}
		// Repeated by the agent it is not shown.
		for _, b := range blocks {
			p.update("user_message_chunk", obj{"content": b})
		}
		p.say("Done.")
		p.stop(m, "end_turn")
		s.awaitChat("Done.")
		if got, want := strings.TrimSpace(s.chat()), "What?\n@ a.lua · unsaved text\n@ new.lua · unsaved text\n\nDone."; !strings.HasSuffix(got, want) {
			t.Errorf("the chat shows %q", got)
		}
	})
}

// Of much text the user is asked, with how much it is; what is much as a file may be little to send.
func TestMuchUnsavedText(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.unsaved_max = 40 * 1024`)
		var paths, names []string
		for i := range 10 {
			name := fmt.Sprintf("%d.txt", i)
			paths, names = append(paths, s.edited(name, strings.Repeat("0123456\n", 1000), "0123456")), append(names, name)
		}
		p := s.beginTaking(obj{"embeddedContext": true})
		s.Lua(nil, `vim.ui.select = function(_, opts, on_choice) asked, answer = opts.prompt, on_choice end`)
		s.awaitUnsaved(names...)
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
		p.wantAlong("Again", want...)

		// Without a question no more goes than that, whenever the prompt is sent.
		s.Lua(nil, `asked = nil
			local newer = vim.split(('abcdefg\n'):rep(1000), '\n')
			for i = 0, 9 do vim.api.nvim_buf_set_lines(vim.fn.bufnr(i .. '.txt'), 0, -1, false, newer) end
			require('acp.rpc.host').notify('prompt', { session = require('acp').sessions()[1].id, blocks = {
			{ type = 'unsaved', room = require('acp.prompt.unsaved').room() }, { type = 'text', text = 'Queued' } } })`)
		along := p.along("Queued")
		if n := strings.Count(fmt.Sprint(along), "resource_link"); n != 5 {
			t.Errorf("%d files are linked", n)
		}
		s.Command("silent wall")

		// The change of a long text is short.
		long := s.edited("long.txt", strings.Repeat("a long line of text\n", 10_000), "zero")
		s.awaitUnsaved("long.txt")
		s.Lua(nil, `require('acp').prompt('Short')`)
		if along := p.along("Short"); len(along) != 1 || !strings.Contains(fmt.Sprint(along), "+zero") {
			t.Errorf("with %s went %v", long, along)
		}
		s.AwaitLua("asked == nil")
	})
}

// The line above the prompt takes as long for many files as it takes for those that it shows.
func TestChipOfManyFiles(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.begin()
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
	each(t, func(t *testing.T, s *scene) {
		long := strings.Repeat("a long line of text\n", 10_000)
		s.edited("long.txt", long, "zero")
		all := s.edited("all.txt", long, "zero")
		s.Command(`%s/long/wide/`)
		p := s.beginTaking(obj{"embeddedContext": true})
		s.Keys("iWhat?<C-s>")
		p.wantAlong("What?",
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
	each(t, func(t *testing.T, s *scene) {
		outside := t.TempDir()
		for _, name := range []string{"out.lua", "linked.lua"} {
			if err := os.WriteFile(filepath.Join(outside, name), []byte("x\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(outside, filepath.Join(s.Dir, "link")); err != nil {
			t.Fatal(err)
		}
		s.edited(".env", "KEY=1\n", "SECRET=2")
		for _, command := range []string{"edit " + outside + "/out.lua", "edit link/linked.lua", "enew", "enew | setlocal buftype=nofile | file scratch"} {
			s.Command(command)
			s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'unsaved' }) vim.bo.modified = true`)
		}
		a := s.edited("a.lua", "a\n", "new a")
		p := s.beginTaking(obj{"embeddedContext": true})
		s.awaitUnsaved("a.lua")
		s.Keys("iWhat?<C-s>")
		p.wantAlong("What?", newer("a.lua"), embedded(a, "new a\na\n"))
	})
}

func TestNothingGoesToAnAgentThatReadsBuffers(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		a := s.edited("a.lua", "a\n", "new a")
		p := s.beginTaking(obj{"embeddedContext": true})
		s.awaitUnsaved("a.lua")
		s.Keys("iOne<C-s>")
		m, _ := p.prompted()
		if got := p.ask("fs/read_text_file", obj{"sessionId": remote(1), "path": a}).text("content"); got != "new a\na\n" {
			t.Errorf("read was %q", got)
		}
		p.stop(m, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'newer a')`)
		s.Keys("Two<C-s>")
		p.wantAlong("Two")
		s.awaitUnsaved()
	})
}

func TestMentionedFilesGoOnce(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		a := s.edited("a.lua", "a\n", "new a")
		p := s.beginTaking(obj{"embeddedContext": true})
		s.Keys("iSee @a.lua<C-s>")
		p.wantAlong("See @a.lua", embedded(a, "new a\na\n"))
		s.Keys("More<C-s>")
		p.wantAlong("More")
	})
}

// A prompt that waits takes the text along that is there when it is sent; its order stays.
func TestQueuedPromptTakesTheLatestText(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		a := s.edited("a.lua", "a\n", "one")
		p := s.beginTaking(obj{"embeddedContext": true})
		s.Keys("iFirst<C-s>")
		first, _ := p.prompted()
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'two')`)
		s.Keys("Second<C-s>Third<C-s>")
		s.awaitQueue("Second", "Third")
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'three')`)
		p.stop(first, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.wantAlong("Second", newer("a.lua"), embedded(a, "three\na\n"))
		p.wantAlong("Third")
	})
}

// A cancel just behind a prompt is for that prompt.
func TestCancelBehindAPromptWithUnsavedText(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.edited("a.lua", "a\n", "one")
		p := s.beginTaking(obj{"embeddedContext": true})
		s.Lua(nil, `require('acp').prompt('First') require('acp').prompt('Second') require('acp').cancel()`)
		m, _ := p.prompted()
		p.expect("session/cancel")
		p.stop(m, "cancelled")
		s.awaitQueue("Second")
		s.awaitChat("1 prompt queued")
		s.ok(`require('acp').prompt('')`) // on with the queue
		p.turn("Second")
		s.awaitState("idle")

		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'two')
			require('acp').prompt('Third') require('acp').cancel() require('acp').prompt('Fourth')`)
		m, _ = p.prompted()
		p.expect("session/cancel")
		p.stop(m, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		p.turn("Fourth")
		p.silent()
	})
}

func TestUnsavedTextIsAskedFor(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.unsaved = 'ask'`)
		a := s.edited("a.lua", "a\n", "one")
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
		p := s.beginTaking(obj{"embeddedContext": true})
		s.Keys("iOne<C-s>")
		s.AwaitLua(`_G.asked`)
		if got := s.LuaString(`_G.asked .. ' ' .. table.concat(_G.offered, ', ')`); got != "Unsaved text in a.lua: Send it along, Save it, Leave it out" {
			t.Errorf("asked was %q", got)
		}
		s.screen("asked")
		s.Keys("<C-s>") // once is enough
		s.awaitPrompt("One")
		answer(1)
		p.wantAlong("One", newer("a.lua"), embedded(a, "one\na\n"))
		s.awaitPrompt("")
		s.Keys("Nothing new<C-s>")
		p.wantAlong("Nothing new")

		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'two')`)
		s.Keys("Two<C-s>")
		answer(9) // none: the prompt stays
		s.awaitPrompt("Two")
		s.Keys("<C-s>")
		answer(3)
		p.wantAlong("Two")
		if got := s.file(a); got != "a\n" {
			t.Errorf("the disk has %q", got)
		}
		// What is sent meanwhile waits behind the question.
		s.ok(`require('acp').prompt('Three')`)
		s.ok(`require('acp').prompt('Four', { unsaved = 'ignore' })`)
		answer(2)
		p.wantAlong("Three")
		p.wantAlong("Four")
		if got := s.file(a); got != "two\na\n" {
			t.Errorf("the disk has %q", got)
		}
	})
}

func TestUnsavedTextIsSaved(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.unsaved = 'save'`)
		s.recordNotifications()
		a := s.edited("a.lua", "a\n", "one  ")
		s.Lua(nil, `vim.api.nvim_create_autocmd('BufWritePre', { pattern = '*.lua', command = '%s/\\s\\+$//e' })`)
		env := s.edited(".env", "KEY=1\n", "KEY=2")
		p := s.begin()
		s.Keys("iOne<C-s>")
		p.wantAlong("One")
		if got := s.file(a) + s.file(env); got != "one\na\nKEY=1\n" {
			t.Errorf("the disk has %q", got)
		}
		// What cannot be saved is told, and the prompt stays.
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'two') vim.bo[vim.fn.bufnr('a.lua')].readonly = true`)
		s.Keys("Two<C-s>")
		s.awaitNotification("a.lua could not be saved: E45: 'readonly' option is set (add ! to override). The prompt was not sent")
		s.awaitPrompt("Two")
		p.silent()
		s.Lua(nil, `vim.bo[vim.fn.bufnr('a.lua')].readonly = false`)
		s.Keys("<C-s>")
		p.wantAlong("Two")
		if got := s.file(a); got != "two\na\n" {
			t.Errorf("the disk has %q", got)
		}
	})
}

func TestUnsavedTextIsIgnored(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.unsaved = 'ignore'`)
		s.edited("a.lua", "a\n", "one")
		p := s.beginTaking(obj{"embeddedContext": true})
		s.awaitUnsaved("a.lua")
		s.Keys("iOne")
		s.awaitPrompt("One")
		if screen := s.Screen(); strings.Contains(screen, "unsaved") {
			t.Errorf("shown is\n%s", screen)
		}
		s.Keys("<C-s>")
		p.wantAlong("One")
	})
}

// warned tells whether the float says that a file has changed.
func (s *scene) warned() bool {
	return strings.Contains(s.floatText(), "changed since Puppet read it")
}

func proposal(id, path, old, text string) obj {
	return obj{
		"toolCallId": id, "title": "Edit", "kind": "edit", "status": "pending",
		"locations": []obj{{"path": path}},
		"content":   []obj{{"type": "diff", "path": path, "oldText": old, "newText": text}},
	}
}

func TestStaleEditIsToldOfBuffers(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.folder("src/lexer.lua", "b.lua")
		path, other := filepath.Join(s.Dir, "src/lexer.lua"), filepath.Join(s.Dir, "b.lua")
		s.write("src/lexer.lua", "one\ntwo\nthree\n")
		s.Command("edit src/lexer.lua")
		p := s.begin()
		turn := s.prompt(p, "go")
		p.ask("fs/read_text_file", obj{"sessionId": remote(1), "path": path, "line": 2, "limit": 1})
		p.ask("fs/read_text_file", obj{"sessionId": remote(1), "path": other})

		id := p.permission(proposal("e1", path, "two\n", "2\n"), yesNo...)
		s.awaitFloat()
		s.settle()
		if s.warned() {
			t.Errorf("the float warns:\n%s", s.floatText())
		}
		s.permit(p, id, 1, "yes")
		p.ask("fs/write_text_file", obj{"sessionId": remote(1), "path": path, "content": "one\n2\nthree\n"})

		// Its own writing is no news for it; what the user types is.
		id = p.permission(proposal("e2", path, "three\n", "3\n"), yesNo...)
		s.awaitFloat()
		s.settle()
		if s.warned() {
			t.Errorf("the float warns:\n%s", s.floatText())
		}
		s.permit(p, id, 1, "yes")
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('lexer.lua'), 1, 'ONE')`)
		call := proposal("e3", path, "three\n", "3\n")
		call["content"] = append(call["content"].([]obj), obj{"type": "diff", "path": other, "oldText": "text", "newText": "word"})
		id = p.permission(call, yesNo...)
		s.awaitFloat()
		s.Await("a warning", s.warned)
		s.AwaitScreen("⚠ lexer.lua changed since Puppet read it")
		if got := strings.Count(s.floatText(), "changed since"); got != 1 {
			t.Errorf("%d warnings:\n%s", got, s.floatText())
		}
		s.screen("stale")
		s.permit(p, id, 3, "no")
		// It reads again.
		p.ask("fs/read_text_file", obj{"sessionId": remote(1), "path": path})
		id = p.permission(proposal("e4", path, "three\n", "3\n"), yesNo...)
		s.awaitFloat()
		s.settle()
		if s.warned() {
			t.Errorf("the float warns:\n%s", s.floatText())
		}
		// Changed while the question is open.
		s.Command("wincmd t")
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('lexer.lua'), 1, 'One') vim.api.nvim_exec_autocmds('TextChanged', {})`)
		s.Await("a warning", s.warned)
		s.permit(p, id, 3, "no")
		p.stop(turn, "end_turn")
	})
}

// An agent that reads the disk tells of it by its tool calls.
func TestStaleEditIsToldOfTheDisk(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("a.lua", "one\ntwo\n")
		p := s.begin()
		turn := s.prompt(p, "go")
		read := func(id string) {
			p.update("tool_call", obj{"toolCallId": id, "title": "Read", "kind": "read", "status": "in_progress", "locations": []obj{{"path": path}}})
			p.update("tool_call_update", obj{"toolCallId": id, "status": "completed"})
		}
		asked := func(id string, stale bool) {
			t.Helper()
			request := p.permission(proposal(id, path, "two\n", "2\n"), yesNo...)
			s.awaitFloat()
			s.settle()
			if stale {
				s.Await("a warning", s.warned)
			} else if s.warned() {
				t.Errorf("the float warns:\n%s", s.floatText())
			}
			s.permit(p, request, 3, "no")
		}
		asked("e0", false) // it never read it
		read("r1")
		asked("e1", false)
		s.write("a.lua", "ONE\ntwo\n")
		asked("e2", true)
		read("r2")
		asked("e3", false)
		p.stop(turn, "end_turn")
	})
}

// What the agent was sent with a prompt it knows.
func TestStaleAfterUnsavedTextWasSent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.edited("a.lua", "two\n", "one")
		p := s.beginTaking(obj{"embeddedContext": true})
		s.Keys("iGo<C-s>")
		turn, _ := p.prompted()
		request := p.permission(proposal("e1", path, "two\n", "2\n"), yesNo...)
		s.awaitFloat()
		s.settle()
		if s.warned() {
			t.Errorf("the float warns:\n%s", s.floatText())
		}
		s.permit(p, request, 3, "no")
		s.Lua(nil, `vim.fn.setbufline(vim.fn.bufnr('a.lua'), 1, 'changed')`)
		request = p.permission(proposal("e2", path, "two\n", "2\n"), yesNo...)
		s.awaitFloat()
		s.Await("a warning", s.warned)
		s.permit(p, request, 3, "no")
		p.stop(turn, "end_turn")
	})
}
