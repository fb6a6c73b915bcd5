package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// changes is what acp.changes() tells, a line for each file: status, path in the working folder, hunks.
func (s *scene) changes() string {
	s.t.Helper()
	list, _ := s.value(`require('acp').changes()`).([]any)
	return s.listed(list)
}

func (s *scene) listed(list []any) string {
	var b strings.Builder
	for _, item := range list {
		f := item.(obj)
		fmt.Fprintf(&b, "%s %s", f["status"], s.name(f["path"]))
		if f["old_path"] != nil {
			fmt.Fprintf(&b, " from %s", s.name(f["old_path"]))
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

// name is a path in the working folder.
func (s *scene) name(path any) string {
	return strings.TrimPrefix(fmt.Sprint(path), s.Dir+"/")
}

// fileEvents are the changed files that were told, and by what.
func (s *scene) fileEvents() string {
	s.t.Helper()
	var told []string
	for _, e := range s.Events() {
		if e.Name == "AcpFileChanged" {
			told = append(told, fmt.Sprintf("%s %s", e.Data["by"], s.name(e.Data["path"])))
		}
	}
	return strings.Join(told, ", ")
}

// endsWith ends the turn and compares the record and what was told of it.
func (s *scene) endsWith(p *puppet, turn message, changes, told string) {
	s.t.Helper()
	p.stop(turn, "end_turn")
	s.AwaitEvent("AcpTurnEnd")
	if all := s.Events(); all[len(all)-1].Name != "AcpTurnEnd" {
		s.t.Errorf("after the end of the turn came %v", all[len(all)-1])
	}
	if got := s.changes(); got != changes {
		s.t.Errorf("changed are\n%swanted\n%s", got, changes)
	}
	if got := s.fileEvents(); got != told {
		s.t.Errorf("told was %q, wanted %q", got, told)
	}
}

func (p *puppet) toolCall(id, kind string, fields obj) {
	p.t.Helper()
	call := obj{"toolCallId": id, "title": id, "kind": kind, "status": "pending"}
	for k, v := range fields {
		call[k] = v
	}
	p.update("tool_call", call)
}

func (p *puppet) finish(id string, fields obj) {
	p.t.Helper()
	call := obj{"toolCallId": id, "status": "completed"}
	for k, v := range fields {
		call[k] = v
	}
	p.update("tool_call_update", call)
}

func diffOf(path string, old any, text string) []any {
	return []any{obj{"type": "diff", "path": path, "oldText": old, "newText": text}}
}

// named names the files of a call in a permission request, and waits until the client has looked at them.
func (p *puppet) named(s *scene, id, kind string, fields obj, paths ...string) {
	p.t.Helper()
	call := obj{"toolCallId": id, "title": id, "kind": kind}
	for k, v := range fields {
		call[k] = v
	}
	request := p.permission(call, yesNo...)
	s.AwaitLua(`(function(id)
		local open = require('acp').permissions()[1]
		return open ~= nil and open.tool_call_id == id
	end)(...)`, id)
	s.ok(`require('acp').respond(require('acp').permissions()[1].id, 'yes')`)
	p.answer(request)
	for _, path := range paths {
		p.ask("fs/read_text_file", obj{"sessionId": remote(1), "path": path}) // comes after the look
	}
}

func TestChangesThroughTheClient(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("code.txt", before)
		other := s.write("other.txt", "one\n")
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.begin()
		if got := s.changes(); got != "" {
			t.Errorf("before the first turn there is %q", got)
		}
		turn := s.prompt(p, "edit")
		p.writeFile(path, after)
		s.AwaitEvent("AcpFileChanged")
		if got := s.changes(); got != "modified code.txt -2,1+2,1 -6,0+7,1\n" {
			t.Errorf("when it is told the record has %q", got)
		}
		// The agent writes the same to the disk itself, and says so.
		p.toolCall("edit", "edit", obj{"locations": []any{obj{"path": path}}, "content": diffOf(path, before, after)})
		s.write("code.txt", after)
		p.finish("edit", nil)
		p.writeFile(filepath.Join(s.Dir, "new.txt"), "new\n")
		// So it does with a file that is not loaded, of which the client hears bit by bit.
		p.toolCall("other", "edit", nil)
		p.update("tool_call_update", obj{"toolCallId": "other", "locations": []any{obj{"path": other}}})
		p.named(s, "other", "edit", nil, other)
		p.writeFile(other, "one") // without the final newline
		s.write("other.txt", "one")
		p.finish("other", obj{"content": diffOf(other, "one\n", "one")})
		s.endsWith(p, turn, "modified code.txt -2,1+2,1 -6,0+7,1\nadded new.txt -0,0+1,1\nmodified other.txt\n",
			"fs code.txt, fs new.txt, fs other.txt")

		// What the user types is not the agent's; neither is what they undo.
		s.Command("wincmd t")
		s.Keys("ggOtyped above<Esc>")
		s.AwaitLua(`vim.api.nvim_buf_line_count(...) == 10`, buf)
		s.Keys("Gotyped below<Esc>")
		s.AwaitLua(`vim.api.nvim_buf_line_count(...) == 11`, buf)
		turn = s.prompt(p, "more")
		p.readFile(path, nil)
		p.writeFile(path, strings.Replace(s.buffer(buf)+"\n", "four", "FOUR", 1))
		s.endsWith(p, turn,
			"modified code.txt -3,1+3,1 -5,1+5,1 -7,0+8,1\nadded new.txt -0,0+1,1\nmodified other.txt\n",
			"fs code.txt, fs new.txt, fs other.txt, fs code.txt")

		// Put back, it is no change.
		turn = s.prompt(p, "back")
		p.writeFile(path, "typed above\n"+before+"typed below\n")
		p.writeFile(other, "one\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		if got := s.changes(); got != "added new.txt -0,0+1,1\n" {
			t.Errorf("the record has %q", got)
		}
		if msg := s.refused(`require('acp').changes({ session = 7 })`); !strings.Contains(msg, "no session 7") {
			t.Errorf("an unknown session: %q", msg)
		}
	})
}

// Agents that write the disk themselves name the files in their calls.
func TestChangesOnTheDisk(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		code := s.write("code.txt", before)
		plain := s.write("plain.txt", "one\ntwo\nthree\n")
		gone := s.write("gone.txt", "gone\n")
		old := s.write("old.txt", "moved\n")
		late := s.write("late.txt", "one\ntwo\n")
		bits := s.write("bits.txt", "one\n")
		ignored := s.write("ignored.txt", "as it is\n")
		temporary := filepath.Join(s.Dir, "temporary.txt")
		fresh := filepath.Join(s.Dir, "fresh.txt")
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.begin()
		s.AwaitLua(`vim.bo[...].autoread == false`, buf)
		turn := s.prompt(p, "edit")

		// A file that is loaded: the end of the call brings it into the buffer.
		p.named(s, "loaded", "edit", obj{"locations": []any{obj{"path": code}}}, code)
		s.write("code.txt", after)
		p.finish("loaded", nil)
		if e := s.AwaitEvent("AcpFileChanged"); e["path"] != code || e["by"] != "disk" {
			t.Errorf("told is %v", e)
		}
		if got := s.buffer(buf) + "\n"; got != after {
			t.Errorf("the buffer is %q", got)
		}
		// Others, one of them with a relative path in the input alone.
		p.named(s, "plain", "edit", obj{"rawInput": obj{"file_path": "plain.txt"}}, plain)
		s.write("plain.txt", "one\nTWO\nthree\n")
		p.finish("plain", obj{"content": diffOf(plain, "two", "TWO")})
		s.AwaitEvent("AcpFileChanged")
		p.named(s, "fresh", "edit", obj{"content": diffOf(fresh, nil, "fresh\n")}, fresh)
		s.write("fresh.txt", "fresh\n")
		p.finish("fresh", nil)
		s.AwaitEvent("AcpFileChanged")
		p.named(s, "gone", "delete", obj{"locations": []any{obj{"path": gone}}}, gone)
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
		p.finish("gone", nil)
		s.AwaitEvent("AcpFileChanged")
		p.named(s, "move", "move", obj{"rawInput": obj{"source": old, "destination": filepath.Join(s.Dir, "moved.txt")}}, old)
		if err := os.Rename(old, filepath.Join(s.Dir, "moved.txt")); err != nil {
			t.Fatal(err)
		}
		p.finish("move", nil)
		s.AwaitEvent("AcpFileChanged")
		p.toolCall("bits", "edit", obj{"rawInput": obj{}})
		p.update("tool_call_update", obj{"toolCallId": "bits", "locations": []any{obj{"path": bits}}})
		p.named(s, "bits", "edit", nil, bits)
		s.write("bits.txt", "two\n")
		p.finish("bits", nil)
		s.AwaitEvent("AcpFileChanged")
		// It is changed before the client hears of it.
		s.write("late.txt", "ONE\ntwo\n")
		p.toolCall("late", "edit", obj{"status": "completed", "content": diffOf(late, "one", "ONE")})
		s.AwaitEvent("AcpFileChanged")
		// Neither is one.
		p.named(s, "failed", "edit", obj{"content": diffOf(ignored, "as it was", "as it is")}, ignored)
		p.finish("failed", obj{"status": "failed"})
		p.named(s, "temporary", "edit", obj{"content": diffOf(temporary, nil, "x\n")}, temporary)
		s.write("temporary.txt", "x\n")
		p.finish("temporary", nil)
		s.AwaitEvent("AcpFileChanged")
		p.named(s, "remove", "delete", obj{"locations": []any{obj{"path": temporary}}}, temporary)
		if err := os.Remove(temporary); err != nil {
			t.Fatal(err)
		}
		p.finish("remove", nil)
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
		s.endsWith(p, turn, changed, told)

		// A command of the agent's changes a file that it has changed before.
		turn = s.prompt(p, "format")
		p.toolCall("sed", "execute", nil)
		s.write("plain.txt", "one\nTWO\nTHREE\n")
		p.finish("sed", nil)
		s.endsWith(p, turn, strings.Replace(changed, "plain.txt -2,1+2,1", "plain.txt -2,2+2,2", 1), told+", disk plain.txt")

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
		if list != want {
			t.Errorf("the quickfix list is\n%s", list)
		}
		s.Await("the record with what was typed", func() bool {
			return strings.Contains(s.changes(), "modified plain.txt -3,2+3,2\n")
		})
	})
}

func TestWhatIsTypedWhileTheAgentWritesTheDisk(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("code.txt", before)
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.begin()
		s.AwaitLua(`vim.bo[...].autoread == false`, buf)
		turn := s.prompt(p, "edit")
		s.Command("wincmd t")
		s.Keys("GoI type")
		s.AwaitLua(`vim.bo[...].modified`, buf)
		s.write("code.txt", after)
		s.AwaitEvent("AcpFileChanged")
		s.Keys(" on<Esc>ggOand above<Esc>")
		s.Await("what was typed", func() bool { return s.buffer(buf) == "and above\n"+after+"I type on" })
		// Typing while a call works on the file is not its work.
		p.named(s, "nothing", "edit", obj{"locations": []any{obj{"path": path}}}, path)
		s.Keys("Omore<Esc>")
		s.Await("more", func() bool { return s.buffer(buf) == "more\nand above\n"+after+"I type on" })
		p.finish("nothing", nil)
		s.endsWith(p, turn, "modified code.txt -4,1+4,1 -8,0+9,1\n", "disk code.txt")
		// What the user has undone counts as refused.
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 0, -1, true, {})`, buf)
		s.Lua(nil, `local buf, text = ...; vim.api.nvim_buf_set_lines(buf, 0, -1, true, vim.split(text, '\n'))`, buf, "more\nand above\n"+before+"I type on")
		turn = s.prompt(p, "nothing")
		s.endsWith(p, turn, "modified code.txt -4,1+4,1 rejected -8,0+8,0 rejected\n", "disk code.txt")
	})
}

func TestACommandThatRemovesALoadedFile(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		other := s.write("other.txt", "one\n")
		p, path, _ := s.beginWithFile("code.txt", before)
		turn := s.prompt(p, "remove")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if e := s.AwaitEvent("AcpFileChanged"); e["path"] != path || e["by"] != "disk" {
			t.Errorf("told is %v", e)
		}
		// By a call it is told when the call ends, and not again.
		s.Command("wincmd t")
		s.Command("edit other.txt")
		s.AwaitLua(`vim.bo.autoread == false`)
		p.named(s, "remove", "delete", obj{"locations": []any{obj{"path": other}}}, other)
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
		p.finish("remove", nil)
		s.awaitChat("other.txt was deleted on disk")
		s.endsWith(p, turn, "deleted code.txt -1,8+0,0\ndeleted other.txt -1,1+0,0\n", "disk code.txt, disk other.txt")
	})
}

func TestNoChanges(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		p := s.begin()
		s.Command("Acp changes")
		s.awaitNotification("the agent has changed no file in this session")
		read := s.write("read.txt", "one\n")
		turn := s.prompt(p, "look")
		p.named(s, "read", "read", obj{"locations": []any{obj{"path": read}}}, read)
		p.finish("read", nil)
		s.endsWith(p, turn, "", "")
		s.write("read.txt", "two\n") // by somebody else
		turn = s.prompt(p, "look again")
		s.endsWith(p, turn, "", "")
		if !s.LuaBool(`vim.tbl_contains(vim.fn.getcompletion('Acp ch', 'cmdline'), 'changes')`) {
			t.Error(":Acp changes is not offered")
		}
	})
}

// What a turn leaves behind that does not end well counts too.
func TestChangesOfTurnsThatDoNotEndWell(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		one := s.write("one.txt", "one\n")
		two := s.write("two.txt", "two\n")
		p := s.begin()
		turn := s.prompt(p, "edit")
		p.named(s, "one", "edit", obj{"locations": []any{obj{"path": one}}}, one)
		s.ok(`require('acp').cancel()`)
		p.expect("session/cancel")
		s.write("one.txt", "ONE\n") // it had begun already
		p.stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		if got := s.changes(); got != "modified one.txt -1,1+1,1\n" {
			t.Errorf("after the cancel changed are\n%s", got)
		}
		s.prompt(p, "edit")
		p.named(s, "two", "edit", obj{"locations": []any{obj{"path": two}}}, two)
		s.write("two.txt", "TWO\n")
		p.exit(1, "gone")
		s.AwaitEvent("AcpTurnEnd")
		if got := s.changes(); got != "modified one.txt -1,1+1,1\nmodified two.txt -1,1+1,1\n" {
			t.Errorf("after its end changed are\n%s", got)
		}
		if got := s.fileEvents(); got != "disk one.txt, disk two.txt" {
			t.Errorf("told was %q", got)
		}
	})
}

// An agent may be faster than the client looks, or tell afterwards.
func TestChangesThatAreToldTooLate(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.write("whole.txt", "1\n3\n")
		s.write("part.txt", "same\nnew\nsame\nold\nend\n")
		s.write("was.txt", "moved\n")
		gone := s.write("gone.txt", "gone\n")
		asIs := s.write("as_is.txt", "nothing\n")
		p := s.begin()
		turn := s.prompt(p, "edit")
		whole := s.write("whole.txt", "1\n2\n3\n")
		part := s.write("part.txt", "same\nnew\nsame\nnew\nend\n")
		added := s.write("added.txt", "added\n")
		moved := filepath.Join(s.Dir, "moved.txt")
		s.sh("rm gone.txt; mv was.txt moved.txt")
		done := func(id, kind string, fields obj) {
			t.Helper()
			fields["status"] = "completed"
			p.toolCall(id, kind, fields)
		}
		done("whole", "edit", obj{"content": diffOf(whole, "1\n3\n", "1\n2\n3\n")})
		s.AwaitEvent("AcpFileChanged")
		done("part", "edit", obj{"content": diffOf(part, "old", "new"), "locations": []any{obj{"path": part, "line": 4}}})
		s.AwaitEvent("AcpFileChanged")
		done("added", "edit", obj{"content": diffOf(added, nil, "added\n")})
		s.AwaitEvent("AcpFileChanged")
		done("gone", "delete", obj{"content": diffOf(gone, "gone\n", "")})
		s.AwaitEvent("AcpFileChanged")
		done("moved", "move", obj{"locations": []any{obj{"path": filepath.Join(s.Dir, "was.txt")}, obj{"path": moved}}})
		s.AwaitEvent("AcpFileChanged")
		done("as it is", "edit", obj{"content": diffOf(asIs, "this", "that"), "locations": []any{obj{"path": asIs}}})
		// The same again is nothing new.
		done("again", "edit", obj{"content": diffOf(whole, "1\n3\n", "1\n2\n3\n")})
		s.endsWith(p, turn, `modified whole.txt -1,0+2,1
modified part.txt -4,1+4,1
added added.txt -0,0+1,1
deleted gone.txt -1,1+0,0
moved moved.txt from was.txt
`, "disk whole.txt, disk part.txt, disk added.txt, disk gone.txt, disk moved.txt")
	})
}

// An agent may be in the middle of writing a file when it names it.
func TestChangesThatAreUnderWay(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		old := "1\n2\n3\n"
		for _, name := range []string{"empty.txt", "half.txt", "done.txt", "twice.txt"} {
			s.write(name, old)
		}
		p := s.begin()
		s.synced()
		turn := s.prompt(p, "edit")
		p.ask("fs/read_text_file", obj{"sessionId": remote(1), "path": filepath.Join(s.Dir, "empty.txt")})
		s.synced()
		p.writeFile(filepath.Join(s.Dir, "twice.txt"), "1\nII\n3\n")
		for name, now := range map[string]string{"empty.txt": "", "half.txt": "1\nt", "done.txt": "1\ntwo\n3\n", "twice.txt": ""} {
			path := s.write(name, now)
			p.toolCall(name, "edit", obj{"locations": []any{obj{"path": path}}})
			s.synced()
			s.write(name, "1\ntwo\n3\n")
			p.finish(name, nil)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		for _, name := range []string{"empty.txt", "half.txt", "done.txt", "twice.txt"} {
			if got := s.changesOf(name); got != "modified "+name+" -2,1+2,1\n" {
				t.Errorf("of %s is told %q", name, got)
			}
		}
		s.ok(`require('acp').reject()`)
		for _, name := range []string{"empty.txt", "half.txt", "done.txt", "twice.txt"} {
			s.Await(name+" as it was", func() bool { return s.disk(filepath.Join(s.Dir, name)) == old })
		}
	})
}

func TestChangesThatAreNoText(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		binary := s.write("binary", "a\x00b\n")
		large := s.write("large.txt", strings.Repeat("0123456789\n", 1<<20))
		dir := filepath.Join(s.Dir, "folder")
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		p := s.begin()
		turn := s.prompt(p, "edit")
		p.named(s, "edit", "edit", obj{"locations": []any{obj{"path": binary}, obj{"path": large}, obj{"path": dir}}}, binary, large)
		s.write("binary", "a\x00c\n")
		s.write("large.txt", strings.Repeat("0123456789\n", 1<<20)+"more\n")
		p.finish("edit", nil)
		for range 2 {
			s.AwaitEvent("AcpFileChanged")
		}
		p.named(s, "write", "edit", obj{"locations": []any{obj{"path": large}, obj{"path": binary}}}, large, binary)
		p.writeFile(large, strings.Repeat("0123456789\n", 1<<20)+"more, through the client\n")
		p.writeFile(binary, "a\x00d\n")
		p.finish("write", nil)
		s.endsWith(p, turn, "modified binary\nmodified large.txt\n", "disk binary, disk large.txt, fs large.txt, fs binary")
		// The window waits until the user has left the command line.
		s.Keys(":echo ")
		s.Lua(nil, `require('acp.review.changes').open(1)`)
		s.AwaitLua(`#vim.fn.getqflist() == 2`)
		s.AwaitLua(`vim.fn.exists('#acp_idle') == 1`)
		if s.LuaInt(`vim.fn.getqflist({ winid = 0 }).winid`) != 0 {
			t.Error("a window was opened over the command line")
		}
		s.Keys("<Esc>")
		s.AwaitLua(`vim.bo.buftype == 'quickfix'`)
		s.screen("changes_no_text")
	})
}

// Two agents at once: a file is of the one that names it.
func TestChangesOfTwoSessions(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("code.txt", before)
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.begin()
		s.AwaitLua(`vim.bo[...].autoread == false`, buf)
		first := s.prompt(p, "edit")
		p.named(s, "edit", "edit", obj{"locations": []any{obj{"path": path}}}, path)
		s.ok(`require('acp').new()`)
		p.newSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.ok(`require('acp').prompt('wait', { session = 2 })`)
		second, _ := p.prompted()
		s.write("code.txt", after)
		if e := s.AwaitEvent("AcpFileChanged"); e["session"] != 1 {
			t.Errorf("told is %v", e)
		}
		p.stop(first, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.stop(second, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		for session, want := range map[int]int{1: 1, 2: 0} {
			if n := s.LuaInt(`#require('acp').changes({ session = ... })`, session); n != want {
				t.Errorf("session %d has changed %d files", session, n)
			}
		}
		s.ok(`require('acp').close({ session = 1 })`)
		s.AwaitEvent("AcpSessionClosed")
		s.refused(`require('acp').changes({ session = 1 })`)
	})
}

// What an agent tells of an earlier conversation has not been changed now.
func TestAReplayIsNoChange(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("code.txt", after)
		s.ok(`require('acp').resume({ agent_session_id = 'a' })`)
		p := s.agent()
		p.initialize(keeps(true))
		load := p.expect("session/load")
		edit := obj{"toolCallId": "edit", "title": "Edit", "kind": "edit", "status": "completed", "content": diffOf(path, before, after)}
		p.updateIn("a", "tool_call", edit)
		p.reply(load, nil)
		s.AwaitEvent("AcpSessionReady")
		edit["toolCallId"] = "late"
		p.updateIn("a", "tool_call", edit)
		s.AwaitLua(`#require('acp').tool_calls() == 2`)
		turn := s.prompt(p, "go on")
		s.endsWith(p, turn, "", "")
	})
}
