package whose

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// edit opens a file in Neovim, and waits until its buffer is tracked.
func edit(s *scene.Scene, path string) (buf int) {
	s.T.Helper()
	s.Command("edit " + path)
	buf = s.LuaInt(`vim.api.nvim_get_current_buf()`)
	s.AwaitLua(`vim.bo[...].autoread == false`, buf)
	return buf
}

// killHost kills the host, and has the agent of the next one resume the session.
func killHost(s *scene.Scene, p *scene.Puppet) {
	s.T.Helper()
	s.KillHost()
	s.AwaitState("dead")
	p.AwaitEnd()
	s.Command("Acp restart")
	p = s.Agent()
	p.Initialize(scene.KeepsSessions(true, "resume"))
	p.Reply(p.Expect("session/resume"), nil)
	s.AwaitEvent("AcpSessionReady")
	s.Sync()
}

// What the user has saved right before the agent empties the file on the disk, and then writes it through its client before
// anybody has looked, is there again when that is refused.
func TestWhatWasSavedRightBeforeAnEmptying(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, path, buf := s.BeginWithFile("a", "1\n2\n")
		turn := s.Prompt(p, "empty it")
		s.Lua(nil, `local path, buf = ...
			vim.api.nvim_buf_set_lines(buf, 1, 2, true, { 'mine' })
			vim.api.nvim_buf_call(buf, function() vim.cmd('silent write') end)
			io.open(path, 'w'):close()`, path, buf)
		p.ReadFile(path, nil)
		p.WriteFile(path, "")
		p.EndTurn(turn)
		s.Sync()
		s.OK(`require('acp').reject()`)
		s.Await("the file", func() bool { return s.ReadOrNone(path) == "1\nmine\n" })
		s.AwaitBuffer(buf, "1\nmine")
	})
}

// What the user has saved right before the agent removes or moves the file away, before anybody could read it, is there
// again when that is refused.
func TestWhatWasSavedRightBeforeARemoval(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		for name, how := range map[string]string{"removed": "os.remove(path)", "moved": "os.rename(path, path .. '.moved')"} {
			path := s.WriteFile(name, "1\n2\n")
			buf := edit(s, path)
			turn := s.Prompt(p, "take it away")
			p.ToolCall(name, "execute", nil)
			s.Lua(nil, `local path, buf = ...
				vim.api.nvim_buf_set_lines(buf, 2, 2, true, { 'mine' })
				vim.api.nvim_buf_call(buf, function() vim.cmd('silent write') end)
				`+how, path, buf)
			p.Finish(name, nil)
			p.EndTurn(turn)
			s.Sync()
			s.OK(`require('acp').reject()`)
			s.Await("the file", func() bool { return s.ReadOrNone(path) == "1\n2\nmine\n" })
			s.AwaitBuffer(buf, "1\n2\nmine")
		}
	})
}

// What the user types, or reads where there is no file, right after they have saved it is not taken for what they saved
// by the refusal of a removal that came in between: the file has what was last known of it, and the buffer has all.
func TestTypedOrReadRightAfterASaveAndARemoval(t *testing.T) {
	for then, want := range map[string]string{
		`vim.api.nvim_buf_set_lines(0, 2, 2, true, { 'not saved' })`: "1\n2\nnot saved",
		`vim.cmd('silent edit!')`:                                    "1\n2",
	} {
		t.Run(then, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				p, path, buf := s.BeginWithFile("a", "1\n2\n")
				turn := s.Prompt(p, "take it away")
				p.ToolCall("rm", "execute", nil)
				s.Lua(nil, `local path, buf = ...
				vim.api.nvim_buf_call(buf, function()
					vim.cmd('silent write')
					os.remove(path)
					`+then+`
				end)`, path, buf)
				p.Finish("rm", nil)
				p.EndTurn(turn)
				s.Sync()
				s.OK(`require('acp').reject()`)
				s.Await("the file", func() bool { return s.ReadOrNone(path) == "1\n2\n" })
				s.AwaitBuffer(buf, want)
				s.AwaitLua(`vim.bo[select(1, ...)].modified == select(2, ...)`, buf, want != "1\n2")
			})
		})
	}
}

// A name that the user has just given to a file, and that the agent removes before anybody could read it, is there again
// when that is refused.
func TestANewNameRightBeforeARemoval(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		how := []string{"saveas", "file"}
		var paths []string
		for _, name := range how {
			paths = append(paths, s.WriteFile(name, "1\n2\n"))
		}
		turn := s.Prompt(p, "take it away")
		for n, path := range paths {
			buf := edit(s, path)
			p.ToolCall(how[n], "execute", nil)
			s.Lua(nil, `local buf, how, name = ...
				vim.api.nvim_buf_call(buf, function() vim.cmd('silent ' .. how .. ' ' .. name .. ' | silent write!') end)
				os.remove(name)`, buf, how[n], path+".new")
			p.Finish(how[n], nil)
		}
		p.EndTurn(turn)
		s.Sync()
		s.AwaitLua(`#require('acp').changes() == 2`) // the watch may tell of it after the turn
		s.OK(`require('acp').reject()`)
		for _, path := range paths {
			s.Await("the file", func() bool { return s.ReadOrNone(path+".new") == "1\n2\n" })
		}
	})
}

// What is saved without a word of Neovim's, as by an autocommand that is not nested, is the user's, also where it conflicts
// with what the agent had written.
func TestSavedByAnAutocommand(t *testing.T) {
	for _, told := range []bool{false, true} { // of the save, before the file is emptied
		t.Run(fmt.Sprint(told), func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				p, path, buf := s.BeginWithFile("a", "1\n2\n")
				turn := s.Prompt(p, "write")
				p.ReadFile(path, nil)
				s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 0, 1, true, { 'mine' })`, buf)
				p.WriteFile(path, "agent's\n2\n")
				s.Lua(nil, `local buf = ...
					vim.api.nvim_create_autocmd('User', { pattern = 'Save', once = true, command = 'silent write!' })
					vim.api.nvim_buf_set_lines(buf, 2, 2, true, { 'mine too' })
					vim.api.nvim_buf_call(buf, function() vim.cmd('doautocmd User Save') end)`, buf)
				if told {
					s.Sync()
				}
				s.WriteFile("a", "")
				p.EndTurn(turn)
				s.Sync()
				s.OK(`require('acp').reject()`)
				s.Await("the file", func() bool { return s.ReadOrNone(path) == "mine\n2\nmine too\n" })
				s.AwaitBuffer(buf, "mine\n2\nmine too")
			})
		})
	}
}

// A file that comes back is in its buffer too where the user had read that anew while there was none, with what they have
// typed there.
func TestReadAnewWhileItWasGone(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		for name, takes := range map[string]func(path string) error{
			"removed": os.Remove, "moved": func(path string) error { return os.Rename(path, path+".moved") },
		} {
			path := s.WriteFile(name, "1\n2\n")
			buf := edit(s, path)
			turn := s.Prompt(p, "take it away")
			p.ToolCall(name, "execute", nil)
			must.Do(t, takes(path))
			p.Finish(name, nil)
			s.AwaitLua(`#require('acp').changes() > 0`)
			s.Lua(nil, `vim.api.nvim_buf_call(..., function() vim.cmd('silent edit!') end)
				vim.api.nvim_buf_set_lines(..., 0, 1, true, { 'mine' })`, buf)
			p.EndTurn(turn)
			s.Sync()
			s.OK(`require('acp').reject()`)
			s.Await("the file", func() bool { return s.ReadOrNone(path) == "1\n2\n" })
			s.AwaitBuffer(buf, "1\n2")
			s.AwaitBuffer(buf, "mine")
			s.Command(fmt.Sprint("bwipeout! ", buf)) // unsaved text goes along with the next prompt
		}
	})
}

// What the user's other programs make of a file between two turns is the user's: a write that the agent makes of an
// older text leaves it.
func TestAnotherProgramBetweenTwoTurns(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, path, buf := s.BeginWithFile("a", "1\n2\n")
		turn := s.Prompt(p, "read it")
		p.ReadFile(path, nil)
		p.EndTurn(turn)
		s.Sync()
		must.Do(t, os.WriteFile(path, []byte("1\n2\nmine\n"), 0o644))
		s.AwaitBuffer(buf, "1\n2\nmine")
		turn = s.Prompt(p, "write it")
		p.WriteFile(path, "one\n2\n")
		p.EndTurn(turn)
		s.Sync()
		check.Equal(t, s.ReadOrNone(path), "one\n2\nmine\n", "the disk has %q")
		s.OK(`require('acp').reject()`)
		s.Await("the refusal", func() bool { return s.ReadOrNone(path) == "1\n2\nmine\n" })
		s.AwaitBuffer(buf, "1\n2\nmine")
	})
}

// What the agent removes at the very end of a turn is its removal where a prompt that waited begins the next at once.
func TestRemovedRightBeforeTheNextTurn(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, path, buf := s.BeginWithFile("a", "1\n2\n")
		turn := s.Prompt(p, "take it away")
		s.Lua(nil, `require('acp').prompt('and go on')`)
		p.ToolCall("rm", "execute", nil)
		must.Do(t, os.Remove(path))
		p.Finish("rm", nil)
		p.Stop(turn, "end_turn")
		turn, _ = p.Prompted()
		p.EndTurn(turn)
		s.AwaitEvent("AcpTurnEnd")
		s.Sync()
		s.OK(`require('acp').reject()`)
		s.Await("the file", func() bool { return s.ReadOrNone(path) == "1\n2\n" })
		s.AwaitBuffer(buf, "1\n2")
	})
}

// Text that the user has not saved stays unsaved, and stands once in its buffer, when a file that the agent has made
// binary is given back.
func TestUnsavedTextOfAFileMadeBinary(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'ignore'`)
		p, path, buf := s.BeginWithFile("a", "1\n2\n")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 0, 0, true, { 'mine' })`, buf)
		turn := s.Prompt(p, "make it binary")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., -1, -1, true, { 'mine too' })`, buf)
		p.ToolCall("rm", "execute", nil)
		must.Do(t, os.WriteFile(path, []byte("\x00\n"), 0o644))
		p.Finish("rm", nil)
		p.EndTurn(turn)
		s.Sync()
		s.OK(`require('acp').reject()`)
		s.Await("the refusal", func() bool { return s.ReadOrNone(path) != "\x00\n" })
		s.AwaitBuffer(buf, "mine\n1\n2\nmine too")
		check.Equal(t, s.ReadOrNone(path), "1\n2\n", "the disk has %q")
	})
}

// A loaded file that the agent has emptied, and then written through its client, gets back how its lines ended.
func TestWrittenRightAfterItWasEmptied(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		for name, was := range map[string]string{"open": "1\n2", "dos": "1\r\n2\r\n", "mark": "\ufeff1\n2\n"} {
			for content, how := range map[string]string{"": "empty", "a\n": "text"} {
				path := s.WriteFile(name+how, was)
				edit(s, path)
				turn := s.Prompt(p, "empty it")
				must.Do(t, os.WriteFile(path, nil, 0o644))
				p.WriteFile(path, content)
				p.EndTurn(turn)
				s.Sync()
				s.OK(`require('acp').reject()`)
				s.Await("the refusal", func() bool { return s.ReadOrNone(path) == was })
			}
		}
	})
}

// What the user has saved right before the host is killed is theirs: undoing the turn that ran leaves it.
func TestWhatWasSavedRightBeforeTheHostDied(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.BeginWith(scene.KeepsSessions(true, "resume"))
		path := s.WriteFile("a", "1\n2\n3\n")
		buf := edit(s, path)
		s.Prompt(p, "write it")
		p.WriteFile(path, "one\n2\n3\n")
		s.Sync()
		s.Lua(nil, `local buf = ...
			vim.api.nvim_buf_set_lines(buf, -1, -1, true, { 'mine' })
			vim.api.nvim_buf_call(buf, function() vim.cmd('silent write') end)`, buf)
		killHost(s, p)
		s.OK(`require('acp').undo_turn()`)
		s.Await("the undo", func() bool { return s.ReadOrNone(path) == "1\n2\n3\nmine\n" })
		s.AwaitBuffer(buf, "1\n2\n3\nmine")
	})
}

// A write of which the agent knows that the user has accepted it is kept, should the host be killed right then.
func TestAcceptedRightBeforeTheHostDied(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.review = 'before'`)
		p := s.BeginWith(scene.KeepsSessions(true, "resume"))
		path := s.WriteFile("a", "1\n2\n3\n")
		s.Prompt(p, "write it")
		must.Do(t, os.WriteFile(path, []byte("1\n2\n3\npast\n"), 0o644))
		id := p.Store(path, "one\n2\n3\npast\n")
		s.AwaitPermissions(1)
		s.Respond(1, "allow")
		if m := p.Answer(id); m.Error != nil {
			t.Fatal(m.Error)
		}
		killHost(s, p)
		s.OK(`require('acp').reject()`)
		s.Await("the refusal", func() bool { return s.ReadOrNone(path) == "one\n2\n3\n" })
	})
}

// readUnsaved begins a turn in which the user has a line that is not saved, and the agent has read it.
func readUnsaved(s *scene.Scene) (p *scene.Puppet, path string, buf int) {
	s.T.Helper()
	s.Configure(`c.unsaved = 'ignore'`)
	p = s.BeginWith(scene.KeepsSessions(true, "resume"))
	path = s.WriteFile("a", "1\n2\n3\n")
	buf = edit(s, path)
	s.Prompt(p, "write it")
	s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 1, 2, true, { 'mine' })`, buf)
	p.ReadFile(path, nil)
	return p, path, buf
}

// What the user has typed stays theirs where the agent has written it along with its own, should the host be killed right
// then.
func TestUnsavedTextThatWasWrittenRightBeforeTheHostDied(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, path, buf := readUnsaved(s)
		p.WriteFile(path, "1\nmine\n3\nmore\n")
		killHost(s, p)
		s.OK(`require('acp').undo_turn()`)
		s.AwaitBuffer(buf, "1\nmine\n3")
	})
}

// What the user has not saved stays theirs where the agent has written it on the disk along with its own, should the host be
// killed when the buffer has just taken that over.
func TestUnsavedTextThatIsTakenOverRightBeforeTheHostDied(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, path, buf := readUnsaved(s)
		hosts, _ := s.Hosts()
		for _, pid := range hosts { // so that it is not faster
			must.Do(t, syscall.Kill(pid, syscall.SIGSTOP))
		}
		s.WriteFile("a", "1\nmine\n3\nmore\n")
		s.Lua(nil, `local buf, path = ...
			local done = require('acp.files.buffers').sync({
				buf = buf, changedtick = vim.api.nvim_buf_get_changedtick(buf), path = path,
				disk = require('acp.files.track').disk_now(path), own = false,
				step = { hunks = { { 3, 0, { 'more' } } }, eol = true },
			})
			assert(done.changed and not vim.bo[buf].modified, vim.inspect(done))`, buf, path)
		killHost(s, p)
		s.OK(`require('acp').reject()`)
		s.Await("the refusal", func() bool { return s.ReadOrNone(path) == "1\nmine\n3\n" })
		s.AwaitBuffer(buf, "1\nmine\n3")
	})
}

// A file that the agent has moved away under unsaved text goes back without the agent's lines in its buffer, where the host
// was killed in between, too.
func TestMovedAwayRightBeforeTheHostDied(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'ignore'`)
		p := s.BeginWith(scene.KeepsSessions(true, "resume"))
		path := s.WriteFile("a", "1\n2\n3\n")
		buf := edit(s, path)
		s.Prompt(p, "move it")
		p.WriteFile(path, "1\nagent\n2\n3\n")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 3, 4, true, { 'mine' })`, buf)
		p.ToolCall("mv", "execute", nil)
		must.Do(t, os.Rename(path, path+".moved"))
		p.Finish("mv", nil)
		s.Sync()
		killHost(s, p)
		s.OK(`require('acp').undo_turn()`)
		s.Await("the undo", func() bool { return s.ReadOrNone(path) == "1\n2\n3\n" })
		s.AwaitBuffer(buf, "1\n2\nmine")
	})
}

// A file that the agent has removed in an earlier turn comes back without the lines that the user has replaced in its
// buffer, where the host was killed in between, too.
func TestRemovedBeforeTheHostDied(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'ignore'`)
		p := s.BeginWith(scene.KeepsSessions(true, "resume"))
		path := s.WriteFile("a", "1\n2\n3\n")
		buf := edit(s, path)
		turn := s.Prompt(p, "remove it")
		p.WriteFile(path, "agent\n2\n3\n")
		p.ToolCall("rm", "execute", nil)
		must.Do(t, os.Remove(path))
		p.Finish("rm", nil)
		p.EndTurn(turn)
		s.Sync()
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 2, 3, true, { 'mine' })`, buf)
		killHost(s, p)
		s.OK(`require('acp').undo_turn()`)
		s.Await("the undo", func() bool { return s.ReadOrNone(path) == "1\n2\n3\n" })
		s.AwaitBuffer(buf, "1\n2\nmine")
	})
}

// A write that the user has accepted stays so where they give up what was unsaved beside it.
func TestAcceptedBesideUnsavedTextThatIsGivenUp(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved, c.review = 'ignore', 'before'`)
		p, path, buf := s.BeginWithFile("a", "1\n2\n3\n4\n")
		turn := s.Prompt(p, "write it")
		p.ReadFile(path, nil)
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 0, 1, true, { 'mine' })`, buf)
		id := p.Store(path, "1\n2\n3\nagent\n")
		s.AwaitPermissions(1)
		s.Respond(1, "allow")
		if m := p.Answer(id); m.Error != nil {
			t.Fatal(m.Error)
		}
		p.EndTurn(turn)
		s.Sync()
		s.AwaitBuffer(buf, "mine\n2\n3\nagent")
		s.Lua(nil, `vim.api.nvim_buf_call(..., function() vim.cmd('silent edit!') end)`, buf)
		s.AwaitBuffer(buf, "1\n2\n3\nagent")
		s.Sync()
		s.OK(`require('acp').reject({})`)
		s.Sync()
		check.Equal(t, s.ReadOrNone(path), "1\n2\n3\nagent\n", "the disk has %q")
		s.AwaitBuffer(buf, "1\n2\n3\nagent")
	})
}

// A file that the agent has removed or moved away, and whose old name the user has opened since, is there again when that
// is refused or undone, in the buffer too.
func TestOpenedAfterItWasTakenAway(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		s.Command("wincmd t")
		for name, take := range map[string]func(string) error{
			"removed": os.Remove, "moved": func(path string) error { return os.Rename(path, path+".new") },
		} {
			for _, back := range []string{"reject", "undo_turn"} {
				path := s.WriteFile(name+"-"+back, "1\n2\n")
				turn := s.Prompt(p, "take it away")
				must.Do(t, take(path))
				buf := edit(s, path)
				p.EndTurn(turn)
				s.Sync()
				s.OK(`require('acp').` + back + `()`)
				s.Await(name+", "+back, func() bool { return s.ReadOrNone(path) == "1\n2\n" && s.ReadOrNone(path+".new") == "no file" })
				s.AwaitBuffer(buf, "1\n2")
			}
		}
	})
}

// A file that the agent removes is removed by the agent also where the user then opens its name: what a buffer showed of
// it before, or what the agent has written there, is not what the new buffer has.
func TestOpenedWhereTheAgentHasRemovedIt(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		shown, written := s.WriteFile("shown", "1\n2\n"), s.WriteFile("written", "1\n2\n")
		buf := edit(s, shown)
		s.Command("bdelete")
		s.AwaitLua(`not vim.api.nvim_buf_is_loaded(...)`, buf)
		turn := s.Prompt(p, "take them away")
		p.WriteFile(written, "one\n2\n")
		for _, path := range []string{shown, written} {
			must.Do(t, os.Remove(path))
			edit(s, path)
		}
		p.EndTurn(turn)
		s.Sync()
		s.OK(`require('acp').reject()`)
		for _, path := range []string{shown, written} {
			s.Await("the file", func() bool { return s.ReadOrNone(path) == "1\n2\n" })
		}
	})
}

// A file that the agent changes and takes away is on the disk what it was, also where the user has undone the change in
// the buffer, before or after: what the buffer has again is not unsaved text that the disk must not get.
func TestUndoneByTheUserAndTakenAway(t *testing.T) {
	for _, how := range []string{"reject", "undo_turn"} {
		t.Run(how, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				p := s.Begin()
				remove := func(path string) { must.Do(t, os.Remove(path)) }
				move := func(path string) { must.Do(t, os.Rename(path, path+".moved")) }
				ways := map[string]struct{ first, then func(path string) }{"removed": {then: remove}, "moved": {then: move}, "removed before": {first: remove}}
				bufs := map[string]int{}
				for name := range ways {
					bufs[s.WriteFile(name, "1\n2\n3\n")] = 0
				}
				turn := s.Prompt(p, "change and take away")
				for path := range bufs {
					way := ways[filepath.Base(path)]
					bufs[path] = edit(s, path)
					p.WriteFile(path, "1\n3\nagent\n")
					s.AwaitBuffer(bufs[path], "1\n3\nagent")
					if way.first != nil {
						way.first(path)
					}
					s.Command("undo")
					if way.then != nil {
						way.then(path)
					}
				}
				p.EndTurn(turn)
				s.Sync()
				s.Lua(nil, `require('acp').`+how+`({})`)
				for path, buf := range bufs {
					s.Await("the file", func() bool { return s.ReadOrNone(path) == "1\n2\n3\n" })
					s.AwaitBuffer(buf, "1\n2\n3")
				}
			})
		})
	}
}

// A file that the agent removes is on the disk what it was where the user has reloaded its buffer, which empties it, and
// has brought the text back by an undo.
func TestReloadedWhereItIsGone(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, path, buf := s.BeginWithFile("a", "1\n2\n")
		turn := s.Prompt(p, "take it away")
		must.Do(t, os.Remove(path))
		s.AwaitEvent("AcpFileChanged")
		s.Command("edit!")
		s.AwaitBuffer(buf, "")
		s.Command("undo")
		s.AwaitBuffer(buf, "1\n2")
		p.EndTurn(turn)
		s.Sync()
		s.OK(`require('acp').reject()`)
		s.Await("the file", func() bool { return s.ReadOrNone(path) == "1\n2\n" })
		s.AwaitBuffer(buf, "1\n2")
	})
}

// A file that the agent has emptied, which the user keeps, and whose text they bring back, has that in its encoding, whichever
// comes first: an empty file has none.
func TestEncodingAfterAnEmptying(t *testing.T) {
	for _, first := range []string{"kept", "undone"} {
		t.Run(first, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				p, path, buf := s.BeginWithFile("a", "f\xfc\n")
				turn := s.Prompt(p, "empty it")
				p.WriteFile(path, "")
				undo := func() { s.Lua(nil, `vim.api.nvim_buf_call(..., function() vim.cmd('silent undo') end)`, buf) }
				if first == "undone" {
					undo()
				}
				s.Sync()
				s.OK(`require('acp').keep()`)
				s.Sync()
				if first == "kept" {
					undo()
				}
				p.WriteFile(path, "fü\n")
				p.EndTurn(turn)
				turn = s.Prompt(p, "add a line")
				p.WriteFile(path, "a\nfü\n")
				p.EndTurn(turn)
				s.Sync()
				s.OK(`require('acp').reject()`)
				s.AwaitBuffer(buf, "fü")
				s.Sync()
				check.Equal(t, s.ReadFile(path), "f\xfc\n", "the file is %q")
			})
		})
	}
}

// A file whose line ends the agent has changed, which it has then emptied, and whose text the user brings back, has its own
// again after a refusal: those in the buffer are the agent's.
func TestLineEndsAfterAnEmptying(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, path, buf := s.BeginWithFile("a", "f\n")
		turn := s.Prompt(p, "change its line ends, and empty it")
		must.Do(t, os.WriteFile(path, []byte("f\r\n"), 0o644))
		s.AwaitLua(`vim.bo[...].fileformat == 'dos'`, buf)
		p.WriteFile(path, "")
		s.Lua(nil, `vim.api.nvim_buf_call(..., function() vim.cmd('silent undo') end)`, buf)
		s.Sync()
		p.WriteFile(path, "f\n")
		p.EndTurn(turn)
		s.Sync()
		s.OK(`require('acp').reject()`)
		s.Sync()
		s.AwaitBuffer(buf, "f")
		check.Equal(t, s.ReadFile(path), "f\n", "the file is %q")
	})
}

// A file that the user has emptied, and whose line ends its buffer still has, keeps those with what they put there beside the
// agent's lines, which are refused.
func TestLineEndsOfAnEmptyFile(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		for _, how := range []string{"client", "disk"} {
			path := s.WriteFile(how, "f\r\n")
			buf := edit(s, path)
			s.Lua(nil, `vim.api.nvim_buf_call(..., function() vim.cmd('silent %delete | silent write') end)`, buf)
			s.Sync()
			turn := s.Prompt(p, "fill it")
			if how == "client" {
				p.WriteFile(path, "a\n")
			} else {
				must.Do(t, os.WriteFile(path, []byte("a\r\n"), 0o644))
			}
			s.AwaitBuffer(buf, "a")
			p.EndTurn(turn)
			s.Lua(nil, `vim.api.nvim_buf_call(..., function() vim.fn.append(1, 'u') vim.cmd('silent write') end)`, buf)
			s.Sync()
			s.OK(`require('acp').reject()`)
			s.AwaitBuffer(buf, "u")
			s.Sync()
			check.Equal(t, s.ReadFile(path), "u\r\n", "written by the %s, the file is %q", how)
		}
	})
}

// A file in which the agent has left no letter that shows its encoding, and whose text the user brings back without saving
// it, has its own after a refusal.
func TestEncodingOfUnsavedTextOverASCII(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, path, buf := s.BeginWithFile("a", "f1\xfc\nf2\xfc\n")
		turn := s.Prompt(p, "change it twice")
		p.WriteFile(path, "a1\nf2ü\n")
		must.Do(t, os.WriteFile(path, []byte("a1\na2\n"), 0o644))
		s.AwaitBuffer(buf, "a1\na2")
		p.EndTurn(turn)
		s.Lua(nil, `vim.api.nvim_buf_call(..., function() vim.cmd('silent undo') end)`, buf)
		s.AwaitBuffer(buf, "a1\nf2ü")
		s.Sync()
		s.OK(`require('acp').reject()`)
		s.AwaitBuffer(buf, "f1ü\nf2ü")
		s.Sync()
		check.Equal(t, s.ReadFile(path), "f1\xfc\nf2\xfc\n", "the file is %q")
	})
}

// A file whose last end of line the agent has taken away under unsaved text, which somebody has looked at since, has it again
// after a refusal, also where its buffer shows another file by then.
func TestTheLastEndOfLineUnderUnsavedText(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, path, buf := s.BeginWithFile("a", "f1\nf2\n")
		turn := s.Prompt(p, "change it")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 1, 1, true, { 'u' })`, buf)
		p.ToolCall("edit", "edit", obj{"locations": []any{obj{"path": path}}})
		must.Do(t, os.WriteFile(path, []byte("f1\nf2"), 0o644))
		p.Finish("edit", nil)
		s.Sync()
		p.ReadFile(path, nil)
		p.WriteFile(path, "f1\nu\na\nf2\n")
		p.EndTurn(turn)
		s.Sync()
		s.Lua(nil, `vim.api.nvim_buf_call(..., function() vim.cmd('file b | silent write') end)`, buf)
		s.Sync()
		s.OK(`require('acp').reject()`)
		s.Sync()
		check.Equal(t, s.ReadFile(path), "f1\nu\nf2\n", "the file is %q")
	})
}

// A text with letters that show its encoding, which the user has brought back in the buffer over a file without any, is in its own
// encoding where the undo of a turn writes it: also if somebody has looked before the agent writes it anew.
func TestEncodingOfWhatAnUndoWrites(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.unsaved = 'ignore'`)
		p, path, buf := s.BeginWithFile("a", "f\xfc\n")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 1, 1, true, { 'u1', 'u2' })`, buf)
		turn := s.Prompt(p, "change it twice")
		must.Do(t, os.WriteFile(path, []byte("a1\n"), 0o644))
		s.AwaitBuffer(buf, "a1\nu1\nu2")
		s.Lua(nil, `vim.api.nvim_buf_call(..., function() vim.cmd('silent undo') end)`, buf)
		s.AwaitBuffer(buf, "fü\nu1\nu2")
		p.ToolCall("look", "edit", obj{"locations": []any{obj{"path": path}}})
		p.Finish("look", nil)
		s.Sync()
		p.ReadFile(path, nil)
		p.WriteFile(path, "fü\na2\nu2\n")
		p.EndTurn(turn)
		s.Sync()
		s.OK(`require('acp').undo_turn()`)
		s.AwaitBuffer(buf, "fü\nu1\nu2")
		s.Sync()
		check.Contains(t, s.ReadFile(path), "f\xfc\n", "the file is %q")
	})
}

// What the user writes and closes at once is theirs, also where the agent changes or removes the file before anybody could
// read it.
func TestWrittenAndClosedRightBeforeAChange(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		type written struct{ path, closes, how string }
		var files []written
		for name, how := range map[string]string{
			"changed":  `local f = io.open(path, 'a') f:write('agent\n') f:close()`,
			"replaced": `local f = io.open(path, 'w') f:write('agent\n') f:close()`,
			"removed":  `os.remove(path)`,
		} {
			for n, closes := range []string{"write", "write | bwipeout", "wq"} {
				files = append(files, written{s.WriteFile(fmt.Sprint(name, n), "1\n2\n"), closes, how})
			}
		}
		turn := s.Prompt(p, "change them")
		for _, f := range files {
			s.Command("split " + f.path)
			s.Sync()
			p.ToolCall(f.path, "execute", nil)
			s.Lua(nil, `local path, closes = ...
				vim.api.nvim_buf_set_lines(0, 0, 1, true, { 'mine' })
				vim.cmd('silent ' .. closes)
				`+f.how, f.path, f.closes)
			p.Finish(f.path, nil)
		}
		p.EndTurn(turn)
		s.Sync()
		s.OK(`require('acp').reject()`)
		for _, f := range files {
			s.Await(f.path, func() bool { return s.ReadOrNone(f.path) == "mine\n2\n" })
		}
	})
}

// What the user has saved right before their Neovim was killed is theirs, though nobody could ask that about it any more.
func TestSavedRightBeforeNeovimWasKilled(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.BeginWith(scene.KeepsSessions(true, "resume"))
		path := s.WriteFile("a", "1\n2\n3\n")
		buf := edit(s, path)
		s.Prompt(p, "write")
		p.WriteFile(path, "1\nagent\n2\n3\n")
		s.Sync()
		state := s.LuaString(`vim.env.XDG_STATE_HOME`)
		s.Lua(nil, `local buf, path = ...
			vim.schedule(function()
				vim.api.nvim_buf_set_lines(buf, 3, 4, true, { 'mine' })
				vim.api.nvim_buf_call(buf, function() vim.cmd('silent write') end)
				assert(vim.uv.fs_symlink(path, path .. '.saved'))
				while true do end -- it answers nothing any more
			end)`, buf, path)
		s.Await("the save", func() bool { return s.ReadOrNone(path+".saved") == "1\nagent\n2\nmine\n" })
		s.Kill()
		s.AwaitNothingLeft()
		must.Do(t, os.Remove(path+".saved"))
		scene.AwaitAfterEnd(t, "the agent's end to be known", p.Ended)
		s = s.Next(nvimtest.Env("XDG_STATE_HOME=" + state))
		s.OK(`require('acp').resume({ agent = 'puppet', agent_session_id = ... })`, scene.SessionID(1))
		p = s.Agent()
		p.Initialize(scene.KeepsSessions(true, "resume"))
		p.Reply(p.Expect("session/load"), nil)
		s.AwaitEvent("AcpSessionReady")
		s.Sync()
		s.OK(`require('acp').undo_turn()`)
		s.Await("the undo", func() bool { return s.ReadOrNone(path) == "1\n2\nmine\n" })
	})
}
