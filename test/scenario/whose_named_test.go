package scenario

import (
	"os"
	"testing"
)

// What the user has saved right before the agent removes or moves the file away, before anybody could read it, is there
// again when that is refused.
func TestWhatWasSavedRightBeforeARemoval(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		for name, how := range map[string]string{"removed": "os.remove(path)", "moved": "os.rename(path, path .. '.moved')"} {
			path := s.write(name, "1\n2\n")
			s.Command("edit " + path)
			buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
			s.AwaitLua(`vim.bo[...].autoread == false`, buf)
			turn := s.prompt(p, "take it away")
			p.toolCall(name, "execute", nil)
			s.Lua(nil, `local path, buf = ...
				vim.api.nvim_buf_set_lines(buf, 2, 2, true, { 'mine' })
				vim.api.nvim_buf_call(buf, function() vim.cmd('silent write') end)
				`+how, path, buf)
			p.finish(name, nil)
			p.stop(turn, "end_turn")
			s.AwaitEvent("AcpTurnEnd")
			s.synced()
			s.ok(`require('acp').reject()`)
			s.Await("the file", func() bool { return s.disk(path) == "1\n2\nmine\n" })
			s.awaitBuffer(buf, "1\n2\nmine")
		}
	})
}

// What the user's other programs make of a file between two turns is the user's: a write that the agent makes of an
// older text leaves it.
func TestAnotherProgramBetweenTwoTurns(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p, path, buf := s.beginWithFile("a", "1\n2\n")
		turn := s.prompt(p, "read it")
		p.readFile(path, nil)
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.synced()
		if err := os.WriteFile(path, []byte("1\n2\nmine\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		s.awaitBuffer(buf, "1\n2\nmine")
		turn = s.prompt(p, "write it")
		p.writeFile(path, "one\n2\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.synced()
		if got := s.disk(path); got != "one\n2\nmine\n" {
			t.Errorf("the disk has %q", got)
		}
		s.ok(`require('acp').reject()`)
		s.Await("the refusal", func() bool { return s.disk(path) == "1\n2\nmine\n" })
		s.awaitBuffer(buf, "1\n2\nmine")
	})
}

// What the agent removes at the very end of a turn is its removal where a prompt that waited begins the next at once.
func TestRemovedRightBeforeTheNextTurn(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p, path, buf := s.beginWithFile("a", "1\n2\n")
		turn := s.prompt(p, "take it away")
		s.Lua(nil, `require('acp').prompt('and go on')`)
		p.toolCall("rm", "execute", nil)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		p.finish("rm", nil)
		p.stop(turn, "end_turn")
		turn, _ = p.prompted()
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.AwaitEvent("AcpTurnEnd")
		s.synced()
		s.ok(`require('acp').reject()`)
		s.Await("the file", func() bool { return s.disk(path) == "1\n2\n" })
		s.awaitBuffer(buf, "1\n2")
	})
}
