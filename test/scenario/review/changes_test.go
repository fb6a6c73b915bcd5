package review

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// allChanges is what acp.changes() tells, a line for each file: status, path in the working folder, hunks.
func allChanges(s *scene.Scene) string {
	s.T.Helper()
	list, _ := s.Value(`require('acp').changes()`).([]any)
	return listed(s, list)
}

func listed(s *scene.Scene, list []any) string {
	var b strings.Builder
	for _, item := range list {
		f := item.(obj)
		fmt.Fprintf(&b, "%s %s", f["status"], s.Rel(f["path"]))
		if f["old_path"] != nil {
			fmt.Fprintf(&b, " from %s", s.Rel(f["old_path"]))
		}
		hunks, _ := f["hunks"].([]any)
		for _, h := range hunks {
			h := h.(obj)
			fmt.Fprintf(&b, " -%d,%d+%d,%d", h["old_start"], h["old_count"], h["new_start"], h["new_count"])
			if h["state"] != "pending" {
				fmt.Fprintf(&b, " %s", h["state"])
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// fileEvents are the changed files that were told, and by what.
func fileEvents(s *scene.Scene) string {
	s.T.Helper()
	var told []string
	for _, e := range s.Events() {
		if e.Name == "AcpFileChanged" {
			told = append(told, fmt.Sprintf("%s %s", e.Data["by"], s.Rel(e.Data["path"])))
		}
	}
	return strings.Join(told, ", ")
}

// endsWith ends the turn and compares the record and what was told of it.
func endsWith(s *scene.Scene, p *scene.Puppet, turn scene.Message, changes, told string) {
	s.T.Helper()
	p.EndTurn(turn)
	if all := s.Events(); all[len(all)-1].Name != "AcpTurnEnd" {
		s.T.Errorf("after the end of the turn came %v", all[len(all)-1])
	}
	check.Equal(s.T, allChanges(s), changes, "changed are\n%s")
	check.Equal(s.T, fileEvents(s), told, "told was %q")
}

// named names the files of a call in a permission request, and waits until the client has looked at them.
func named(p *scene.Puppet, s *scene.Scene, id, kind string, fields obj, paths ...string) {
	p.T.Helper()
	call := obj{"toolCallId": id, "title": id, "kind": kind}
	for k, v := range fields {
		call[k] = v
	}
	request := p.Permission(call, scene.YesNo...)
	s.AwaitLua(`(function(id)
		local open = require('acp').permissions()[1]
		return open ~= nil and open.tool_call_id == id
	end)(...)`, id)
	s.OK(`require('acp').respond(require('acp').permissions()[1].id, 'yes')`)
	p.Answer(request)
	for _, path := range paths {
		p.Ask("fs/read_text_file", obj{"sessionId": scene.SessionID(1), "path": path}) // comes after the look
	}
}

func TestChangesThroughTheClient(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("code.txt", scene.TextBefore)
		other := s.WriteFile("other.txt", "one\n")
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.Begin()
		check.Equal(t, allChanges(s), "", "before the first turn there is %q")
		turn := s.Prompt(p, "edit")
		p.WriteFile(path, scene.TextAfter)
		s.AwaitEvent("AcpFileChanged")
		check.Equal(t, allChanges(s), "modified code.txt -2,1+2,1 -6,0+7,1\n", "when it is told the record has %q")
		// The agent writes the same to the disk itself, and says so.
		p.ToolCall("edit", "edit", obj{"locations": []any{obj{"path": path}}, "content": scene.DiffOf(path, scene.TextBefore, scene.TextAfter)})
		s.WriteFile("code.txt", scene.TextAfter)
		p.Finish("edit", nil)
		p.WriteFile(filepath.Join(s.Dir, "new.txt"), "new\n")
		// So it does with a file that is not loaded, of which the client hears bit by bit.
		p.ToolCall("other", "edit", nil)
		p.Update("tool_call_update", obj{"toolCallId": "other", "locations": []any{obj{"path": other}}})
		named(p, s, "other", "edit", nil, other)
		p.WriteFile(other, "one") // without the final newline
		s.WriteFile("other.txt", "one")
		p.Finish("other", obj{"content": scene.DiffOf(other, "one\n", "one")})
		endsWith(s, p, turn, "modified code.txt -2,1+2,1 -6,0+7,1\nadded new.txt -0,0+1,1\nmodified other.txt\n",
			"fs code.txt, fs new.txt, fs other.txt")

		// What the user types is not the agent's; neither is what they undo.
		s.Command("wincmd t")
		s.Keys("ggOtyped above<Esc>")
		s.AwaitLua(`vim.api.nvim_buf_line_count(...) == 10`, buf)
		s.Keys("Gotyped below<Esc>")
		s.AwaitLua(`vim.api.nvim_buf_line_count(...) == 11`, buf)
		turn = s.Prompt(p, "more")
		p.ReadFile(path, nil)
		p.WriteFile(path, strings.Replace(s.BufferText(buf)+"\n", "four", "FOUR", 1))
		endsWith(s, p, turn,
			"modified code.txt -3,1+3,1 -5,1+5,1 -7,0+8,1\nadded new.txt -0,0+1,1\nmodified other.txt\n",
			"fs code.txt, fs new.txt, fs other.txt, fs code.txt")

		// Put back, it is no change.
		turn = s.Prompt(p, "back")
		p.WriteFile(path, "typed above\n"+scene.TextBefore+"typed below\n")
		p.WriteFile(other, "one\n")
		p.EndTurn(turn)
		check.Equal(t, allChanges(s), "added new.txt -0,0+1,1\n", "the record has %q")
		check.Contains(t, s.Refused(`require('acp').changes({ session = 7 })`), "no session 7", "an unknown session: %q")
	})
}

// Agents that write the disk themselves name the files in their calls.
func TestChangesOnTheDisk(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		code := s.WriteFile("code.txt", scene.TextBefore)
		plain := s.WriteFile("plain.txt", "one\ntwo\nthree\n")
		gone := s.WriteFile("gone.txt", "gone\n")
		old := s.WriteFile("old.txt", "moved\n")
		late := s.WriteFile("late.txt", "one\ntwo\n")
		bits := s.WriteFile("bits.txt", "one\n")
		ignored := s.WriteFile("ignored.txt", "as it is\n")
		temporary := filepath.Join(s.Dir, "temporary.txt")
		fresh := filepath.Join(s.Dir, "fresh.txt")
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.Begin()
		s.AwaitLua(`vim.bo[...].autoread == false`, buf)
		turn := s.Prompt(p, "edit")

		// A file that is loaded: the end of the call brings it into the buffer.
		named(p, s, "loaded", "edit", obj{"locations": []any{obj{"path": code}}}, code)
		s.WriteFile("code.txt", scene.TextAfter)
		p.Finish("loaded", nil)
		if e := s.AwaitEvent("AcpFileChanged"); e["path"] != code || e["by"] != "disk" {
			t.Errorf("told is %v", e)
		}
		check.Equal(t, s.BufferText(buf)+"\n", scene.TextAfter, "the buffer is %q")
		// Others, one of them with a relative path in the input alone.
		named(p, s, "plain", "edit", obj{"rawInput": obj{"file_path": "plain.txt"}}, plain)
		s.WriteFile("plain.txt", "one\nTWO\nthree\n")
		p.Finish("plain", obj{"content": scene.DiffOf(plain, "two", "TWO")})
		s.AwaitEvent("AcpFileChanged")
		named(p, s, "fresh", "edit", obj{"content": scene.DiffOf(fresh, nil, "fresh\n")}, fresh)
		s.WriteFile("fresh.txt", "fresh\n")
		p.Finish("fresh", nil)
		s.AwaitEvent("AcpFileChanged")
		named(p, s, "gone", "delete", obj{"locations": []any{obj{"path": gone}}}, gone)
		must.Do(t, os.Remove(gone))
		p.Finish("gone", nil)
		s.AwaitEvent("AcpFileChanged")
		named(p, s, "move", "move", obj{"rawInput": obj{"source": old, "destination": filepath.Join(s.Dir, "moved.txt")}}, old)
		must.Do(t, os.Rename(old, filepath.Join(s.Dir, "moved.txt")))
		p.Finish("move", nil)
		s.AwaitEvent("AcpFileChanged")
		p.ToolCall("bits", "edit", obj{"rawInput": obj{}})
		p.Update("tool_call_update", obj{"toolCallId": "bits", "locations": []any{obj{"path": bits}}})
		named(p, s, "bits", "edit", nil, bits)
		s.WriteFile("bits.txt", "two\n")
		p.Finish("bits", nil)
		s.AwaitEvent("AcpFileChanged")
		// It is changed before the client hears of it.
		s.WriteFile("late.txt", "ONE\ntwo\n")
		p.ToolCall("late", "edit", obj{"status": "completed", "content": scene.DiffOf(late, "one", "ONE")})
		s.AwaitEvent("AcpFileChanged")
		// Neither is one.
		named(p, s, "failed", "edit", obj{"content": scene.DiffOf(ignored, "as it was", "as it is")}, ignored)
		p.Finish("failed", obj{"status": "failed"})
		named(p, s, "temporary", "edit", obj{"content": scene.DiffOf(temporary, nil, "x\n")}, temporary)
		s.WriteFile("temporary.txt", "x\n")
		p.Finish("temporary", nil)
		s.AwaitEvent("AcpFileChanged")
		named(p, s, "remove", "delete", obj{"locations": []any{obj{"path": temporary}}}, temporary)
		must.Do(t, os.Remove(temporary))
		p.Finish("remove", nil)
		s.AwaitEvent("AcpFileChanged")
		changed := `modified code.txt -2,1+2,1 -6,0+7,1
modified plain.txt -2,1+2,1
added fresh.txt -0,0+1,1
deleted gone.txt -1,1+0,0
moved moved.txt from old.txt
modified bits.txt -1,1+1,1
modified late.txt -1,1+1,1
`
		told := "disk code.txt, disk plain.txt, disk fresh.txt, disk gone.txt, disk moved.txt, disk bits.txt, disk late.txt, disk temporary.txt, disk temporary.txt"
		endsWith(s, p, turn, changed, told)

		// A command of the agent's changes a file that it has changed before.
		turn = s.Prompt(p, "format")
		p.ToolCall("sed", "execute", nil)
		s.WriteFile("plain.txt", "one\nTWO\nTHREE\n")
		p.Finish("sed", nil)
		endsWith(s, p, turn, strings.Replace(changed, "plain.txt -2,1+2,1", "plain.txt -2,2+2,2", 1), told+", disk plain.txt")

		s.Lua(nil, `vim.cmd.edit('plain.txt')`)
		s.Keys("ggOmine<Esc>")
		s.AwaitLua(`vim.bo.modified`)
		s.Command("Acp changes")
		s.AwaitLua(`vim.bo.buftype == 'quickfix'`)
		list := s.LuaString(`(function()
			local lines = { vim.fn.getqflist({ title = 0 }).title }
			for _, item in ipairs(vim.fn.getqflist()) do
				local name = item.bufnr > 0 and vim.fn.fnamemodify(vim.api.nvim_buf_get_name(item.bufnr), ':t') or ''
				table.insert(lines, ('%s:%d: %s'):format(name, item.lnum, item.text))
			end
			return table.concat(lines, '\n')
		end)()`)
		want := `acp: changes of Puppet
bits.txt:1: +1 −1  two
code.txt:2: +1 −1  TWO!
code.txt:7: +1 −0  new
fresh.txt:1: new  +1 −0  fresh
:0: gone.txt: deleted  −1
late.txt:1: +1 −1  ONE
moved.txt:1: moved from ` + old + `
plain.txt:3: +2 −2  TWO`
		check.Equal(t, list, want, "the quickfix list is\n%s")
		s.Await("the record with what was typed", func() bool {
			return strings.Contains(allChanges(s), "modified plain.txt -3,2+3,2\n")
		})
	})
}

func TestWhatIsTypedWhileTheAgentWritesTheDisk(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("code.txt", scene.TextBefore)
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.Begin()
		s.AwaitLua(`vim.bo[...].autoread == false`, buf)
		turn := s.Prompt(p, "edit")
		s.Command("wincmd t")
		s.Keys("GoI type")
		s.AwaitLua(`vim.bo[...].modified`, buf)
		s.WriteFile("code.txt", scene.TextAfter)
		s.AwaitEvent("AcpFileChanged")
		s.Keys(" on<Esc>ggOand above<Esc>")
		s.Await("what was typed", func() bool { return s.BufferText(buf) == "and above\n"+scene.TextAfter+"I type on" })
		// Typing while a call works on the file is not its work.
		named(p, s, "nothing", "edit", obj{"locations": []any{obj{"path": path}}}, path)
		s.Keys("Omore<Esc>")
		s.Await("more", func() bool { return s.BufferText(buf) == "more\nand above\n"+scene.TextAfter+"I type on" })
		p.Finish("nothing", nil)
		endsWith(s, p, turn, "modified code.txt -4,1+4,1 -8,0+9,1\n", "disk code.txt")
		// What the user has undone counts as refused.
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 0, -1, true, {})`, buf)
		s.Lua(nil, `local buf, text = ...; vim.api.nvim_buf_set_lines(buf, 0, -1, true, vim.split(text, '\n'))`, buf, "more\nand above\n"+scene.TextBefore+"I type on")
		turn = s.Prompt(p, "nothing")
		endsWith(s, p, turn, "modified code.txt -4,1+4,1 rejected -8,0+8,0 rejected\n", "disk code.txt")
	})
}

func TestACommandThatRemovesALoadedFile(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		other := s.WriteFile("other.txt", "one\n")
		p, path, _ := s.BeginWithFile("code.txt", scene.TextBefore)
		turn := s.Prompt(p, "remove")
		must.Do(t, os.Remove(path))
		if e := s.AwaitEvent("AcpFileChanged"); e["path"] != path || e["by"] != "disk" {
			t.Errorf("told is %v", e)
		}
		// By a call it is told when the call ends, and not again.
		s.Command("wincmd t")
		s.Command("edit other.txt")
		s.AwaitLua(`vim.bo.autoread == false`)
		named(p, s, "remove", "delete", obj{"locations": []any{obj{"path": other}}}, other)
		must.Do(t, os.Remove(other))
		p.Finish("remove", nil)
		s.AwaitChat("other.txt was deleted on disk")
		endsWith(s, p, turn, "deleted code.txt -1,8+0,0\ndeleted other.txt -1,1+0,0\n", "disk code.txt, disk other.txt")
	})
}

func TestNoChanges(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p := s.Begin()
		s.Command("Acp changes")
		s.AwaitNotification("the agent has changed no file in this session")
		read := s.WriteFile("read.txt", "one\n")
		turn := s.Prompt(p, "look")
		named(p, s, "read", "read", obj{"locations": []any{obj{"path": read}}}, read)
		p.Finish("read", nil)
		endsWith(s, p, turn, "", "")
		s.WriteFile("read.txt", "two\n") // by somebody else
		turn = s.Prompt(p, "look again")
		endsWith(s, p, turn, "", "")
		if !s.LuaBool(`vim.tbl_contains(vim.fn.getcompletion('Acp ch', 'cmdline'), 'changes')`) {
			t.Error(":Acp changes is not offered")
		}
	})
}

// What a turn leaves behind that does not end well counts too.
func TestChangesOfTurnsThatDoNotEndWell(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		one := s.WriteFile("one.txt", "one\n")
		two := s.WriteFile("two.txt", "two\n")
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		named(p, s, "one", "edit", obj{"locations": []any{obj{"path": one}}}, one)
		s.OK(`require('acp').cancel()`)
		p.Expect("session/cancel")
		s.WriteFile("one.txt", "ONE\n") // it had begun already
		p.Stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		check.Equal(t, allChanges(s), "modified one.txt -1,1+1,1\n", "after the cancel changed are\n%s")
		s.Prompt(p, "edit")
		named(p, s, "two", "edit", obj{"locations": []any{obj{"path": two}}}, two)
		s.WriteFile("two.txt", "TWO\n")
		p.Exit(1, "gone")
		s.AwaitEvent("AcpTurnEnd")
		check.Equal(t, allChanges(s), "modified one.txt -1,1+1,1\nmodified two.txt -1,1+1,1\n",
			"after its end changed are\n%s")
		check.Equal(t, fileEvents(s), "disk one.txt, disk two.txt", "told was %q")
	})
}

// An agent may be faster than the client looks, or tell afterwards.
func TestChangesThatAreToldTooLate(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("whole.txt", "1\n3\n")
		s.WriteFile("part.txt", "same\nnew\nsame\nold\nend\n")
		s.WriteFile("was.txt", "moved\n")
		gone := s.WriteFile("gone.txt", "gone\n")
		asIs := s.WriteFile("as_is.txt", "nothing\n")
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		whole := s.WriteFile("whole.txt", "1\n2\n3\n")
		part := s.WriteFile("part.txt", "same\nnew\nsame\nnew\nend\n")
		added := s.WriteFile("added.txt", "added\n")
		moved := filepath.Join(s.Dir, "moved.txt")
		s.Shell("rm gone.txt; mv was.txt moved.txt")
		done := func(id, kind string, fields obj) {
			t.Helper()
			fields["status"] = "completed"
			p.ToolCall(id, kind, fields)
		}
		done("whole", "edit", obj{"content": scene.DiffOf(whole, "1\n3\n", "1\n2\n3\n")})
		s.AwaitEvent("AcpFileChanged")
		done("part", "edit", obj{"content": scene.DiffOf(part, "old", "new"), "locations": []any{obj{"path": part, "line": 4}}})
		s.AwaitEvent("AcpFileChanged")
		done("added", "edit", obj{"content": scene.DiffOf(added, nil, "added\n")})
		s.AwaitEvent("AcpFileChanged")
		done("gone", "delete", obj{"content": scene.DiffOf(gone, "gone\n", "")})
		s.AwaitEvent("AcpFileChanged")
		done("moved", "move", obj{"locations": []any{obj{"path": filepath.Join(s.Dir, "was.txt")}, obj{"path": moved}}})
		s.AwaitEvent("AcpFileChanged")
		done("as it is", "edit", obj{"content": scene.DiffOf(asIs, "this", "that"), "locations": []any{obj{"path": asIs}}})
		// The same again is nothing new.
		done("again", "edit", obj{"content": scene.DiffOf(whole, "1\n3\n", "1\n2\n3\n")})
		endsWith(s, p, turn, `modified whole.txt -1,0+2,1
modified part.txt -4,1+4,1
added added.txt -0,0+1,1
deleted gone.txt -1,1+0,0
moved moved.txt from was.txt
`, "disk whole.txt, disk part.txt, disk added.txt, disk gone.txt, disk moved.txt")
	})
}

// An agent may be in the middle of writing a file when it names it.
func TestChangesThatAreUnderWay(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		old := "1\n2\n3\n"
		for _, name := range []string{"empty.txt", "half.txt", "done.txt", "twice.txt"} {
			s.WriteFile(name, old)
		}
		p := s.Begin()
		s.Sync()
		turn := s.Prompt(p, "edit")
		p.Ask("fs/read_text_file", obj{"sessionId": scene.SessionID(1), "path": filepath.Join(s.Dir, "empty.txt")})
		s.Sync()
		p.WriteFile(filepath.Join(s.Dir, "twice.txt"), "1\nII\n3\n")
		for name, now := range map[string]string{"empty.txt": "", "half.txt": "1\nt", "done.txt": "1\ntwo\n3\n", "twice.txt": ""} {
			path := s.WriteFile(name, now)
			p.ToolCall(name, "edit", obj{"locations": []any{obj{"path": path}}})
			s.Sync()
			s.WriteFile(name, "1\ntwo\n3\n")
			p.Finish(name, nil)
		}
		p.EndTurn(turn)
		for _, name := range []string{"empty.txt", "half.txt", "done.txt", "twice.txt"} {
			check.Equal(t, changesOf(s, name), "modified "+name+" -2,1+2,1\n", "of %s is told %q", name)
		}
		s.OK(`require('acp').reject()`)
		for _, name := range []string{"empty.txt", "half.txt", "done.txt", "twice.txt"} {
			s.Await(name+" as it was", func() bool { return s.ReadOrNone(filepath.Join(s.Dir, name)) == old })
		}
	})
}

func TestChangesThatAreNoText(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		binary := s.WriteFile("binary", "a\x00b\n")
		large := s.WriteFile("large.txt", strings.Repeat("0123456789\n", 1<<20))
		dir := filepath.Join(s.Dir, "folder")
		must.Do(t, os.Mkdir(dir, 0o777))
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		named(p, s, "edit", "edit", obj{"locations": []any{obj{"path": binary}, obj{"path": large}, obj{"path": dir}}}, binary, large)
		s.WriteFile("binary", "a\x00c\n")
		s.WriteFile("large.txt", strings.Repeat("0123456789\n", 1<<20)+"more\n")
		p.Finish("edit", nil)
		for range 2 {
			s.AwaitEvent("AcpFileChanged")
		}
		named(p, s, "write", "edit", obj{"locations": []any{obj{"path": large}, obj{"path": binary}}}, large, binary)
		p.WriteFile(large, strings.Repeat("0123456789\n", 1<<20)+"more, through the client\n")
		p.WriteFile(binary, "a\x00d\n")
		p.Finish("write", nil)
		endsWith(s, p, turn, "modified binary\nmodified large.txt\n", "disk binary, disk large.txt, fs large.txt, fs binary")
		// The window waits until the user has left the command line.
		s.Keys(":echo ")
		s.Lua(nil, `require('acp.review.changes').open(1)`)
		s.AwaitLua(`#vim.fn.getqflist() == 2`)
		s.AwaitLua(`vim.fn.exists('#acp_safe_state') == 1`)
		if s.LuaInt(`vim.fn.getqflist({ winid = 0 }).winid`) != 0 {
			t.Error("a window was opened over the command line")
		}
		s.Keys("<Esc>")
		s.AwaitLua(`vim.bo.buftype == 'quickfix'`)
		s.GoldenScreen("changes_no_text")
	})
}

// Two agents at once: a file is of the one that names it.
func TestChangesOfTwoSessions(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("code.txt", scene.TextBefore)
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.Begin()
		s.AwaitLua(`vim.bo[...].autoread == false`, buf)
		first := s.Prompt(p, "edit")
		named(p, s, "edit", "edit", obj{"locations": []any{obj{"path": path}}}, path)
		s.OK(`require('acp').new()`)
		p.NewSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.OK(`require('acp').prompt('wait', { session = 2 })`)
		second, _ := p.Prompted()
		s.WriteFile("code.txt", scene.TextAfter)
		if e := s.AwaitEvent("AcpFileChanged"); e["session"] != 1 {
			t.Errorf("told is %v", e)
		}
		p.EndTurn(first)
		p.EndTurn(second)
		for session, want := range map[int]int{1: 1, 2: 0} {
			check.Equal(t, s.LuaInt(`#require('acp').changes({ session = ... })`, session), want,
				"session %d has changed %d files", session)
		}
		s.OK(`require('acp').close({ session = 1 })`)
		s.AwaitEvent("AcpSessionClosed")
		s.Refused(`require('acp').changes({ session = 1 })`)
	})
}

// What an agent tells of an earlier conversation has not been changed now.
func TestAReplayIsNoChange(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("code.txt", scene.TextAfter)
		s.OK(`require('acp').resume({ agent_session_id = 'a' })`)
		p := s.Agent()
		p.Initialize(scene.KeepsSessions(true))
		load := p.Expect("session/load")
		edit := obj{"toolCallId": "edit", "title": "Edit", "kind": "edit", "status": "completed", "content": scene.DiffOf(path, scene.TextBefore, scene.TextAfter)}
		p.UpdateIn("a", "tool_call", edit)
		p.Reply(load, nil)
		s.AwaitEvent("AcpSessionReady")
		edit["toolCallId"] = "late"
		p.UpdateIn("a", "tool_call", edit)
		s.AwaitLua(`#require('acp').tool_calls() == 2`)
		turn := s.Prompt(p, "go on")
		endsWith(s, p, turn, "", "")
	})
}
