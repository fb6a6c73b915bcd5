package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestKeepAndReject(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("code.txt", "1\n2\n3\n4\n5\n6\n7\n")
		plain := s.WriteFile("plain.txt", "a\nb\nc\n")
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		p.WriteFile(path, "1\ntwo\n3\n4\n5\nsix\n7\n")
		p.WriteFile(plain, "a\nB\nc\nD\n")
		p.WriteFile(filepath.Join(s.Dir, "new.txt"), "new\n")
		endsWith(s, p, turn,
			"modified code.txt -2,1+2,1 -6,1+6,1\nmodified plain.txt -2,1+2,1 -3,0+4,1\nadded new.txt -0,0+1,1\n",
			"fs code.txt, fs plain.txt, fs new.txt")
		// The user types without saving: that stays out of the disk.
		s.Command("wincmd t")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 0, 0, true, { 'typed' })`, buf)
		s.OK(`require('acp').keep({ path = 'code.txt', hunk = 1 })`)
		s.Await("kept", func() bool { return changesOf(s, "code.txt") == "modified code.txt -3,1+3,1 kept -7,1+7,1\n" })
		s.OK(`require('acp').reject({ path = 'code.txt', hunk = 2 })`)
		s.Await("rejected", func() bool {
			return changesOf(s, "code.txt") == "modified code.txt -3,1+3,1 kept -7,1+7,1 rejected\n"
		})
		check.Equal(t, s.BufferText(buf)+"\n", "typed\n1\ntwo\n3\n4\n5\n6\n7\n", "the buffer has %q")
		check.Equal(t, s.ReadOrNone(path), "1\ntwo\n3\n4\n5\n6\n7\n", "the disk has %q")
		s.Command("silent undo")
		s.Await("undone", func() bool { return s.BufferText(buf)+"\n" == "typed\n1\ntwo\n3\n4\n5\nsix\n7\n" })
		s.OK(`require('acp').keep({ path = 'plain.txt', hunk = 1 })`) // has the host look
		s.Await("kept", func() bool {
			return changesOf(s, "plain.txt") == "modified plain.txt -2,1+2,1 kept -3,0+4,1\n"
		})
		s.OK(`require('acp').reject({})`)
		s.Await("all rejected", func() bool {
			return allChanges(s) == "modified code.txt -3,1+3,1 kept -7,1+7,1 rejected\n"+
				"modified plain.txt -2,1+2,1 kept -3,0+3,0 rejected\n"+
				"added new.txt -0,0+0,0 rejected\n"
		})
		check.Equal(t, s.ReadOrNone(plain), "a\nB\nc\n", "the disk has %q")
		check.Equal(t, s.ReadOrNone(filepath.Join(s.Dir, "new.txt")), "no file", "the new file has %q")
		s.OK(`require('acp').keep({ path = 'new.txt', hunk = 1 })`)
		s.Await("the new file", func() bool { return s.ReadOrNone(filepath.Join(s.Dir, "new.txt")) == "new\n" })
	})
}

// changesOf is the line of changes about one file.
func changesOf(s *scene.Scene, name string) string {
	s.T.Helper()
	for line := range strings.Lines(allChanges(s)) {
		if strings.Contains(line, " "+name+" ") {
			return line
		}
	}
	return ""
}

func TestUndoTurns(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("code.txt", "1\n2\n3\n4\n5\n6\n7\n")
		gone := s.WriteFile("gone.sh", "exit 0\n")
		must.Do(t, os.Chmod(gone, 0o755))
		s.Command("edit code.txt")
		buf := s.LuaInt(`vim.api.nvim_get_current_buf()`)
		fresh := filepath.Join(s.Dir, "dir", "new.txt")
		p := s.Begin()
		turn := s.Prompt(p, "first")
		p.WriteFile(path, "1\ntwo\n3\n4\n5\n6\n7\n")
		p.EndTurn(turn)
		turn = s.Prompt(p, "second")
		p.WriteFile(path, "1\ntwo\n3\n4\nfive\n6\n7\n")
		p.WriteFile(fresh, "new\n")
		p.ToolCall("rm", "execute", nil)
		// A command that names no file.
		must.Do(t, os.Remove(gone))
		p.Finish("rm", nil)
		p.EndTurn(turn)
		s.Command("wincmd t")
		s.Lua(nil, `vim.api.nvim_buf_set_lines(..., 7, 7, true, { 'typed' })`, buf)
		undo := func(what string, again bool, want string) {
			t.Helper()
			s.OK(`require('acp').undo_turn({ again = ... })`, again)
			s.Await(what, func() bool { return s.BufferText(buf)+"\n" == want })
		}
		undo("the second turn undone", false, "1\ntwo\n3\n4\n5\n6\n7\ntyped\n")
		s.Await("the files", func() bool { return s.ReadOrNone(fresh) == "no file" && s.ReadOrNone(gone) == "exit 0\n" })
		if _, err := os.Stat(filepath.Dir(fresh)); err == nil {
			t.Error("the new folder is left")
		}
		s.Await("its permissions", func() bool { // which it gets right after its text
			info, err := os.Stat(gone)
			return err == nil && info.Mode().Perm() == 0o755
		})
		check.Equal(t, s.ReadOrNone(path), "1\ntwo\n3\n4\n5\n6\n7\n", "the disk has %q")
		s.Await("the first turn's change alone", func() bool { return allChanges(s) == "modified code.txt -2,1+2,1\n" })
		undo("the first turn undone", false, "1\n2\n3\n4\n5\n6\n7\ntyped\n")
		// It was not refused: there is nothing of which the agent would be told.
		s.Await("nothing in the review", func() bool { return allChanges(s) == "" })
		s.Command("Acp undo")
		s.AwaitScreen("Nothing to undo")
		undo("the first turn again", true, "1\ntwo\n3\n4\n5\n6\n7\ntyped\n")
		undo("the second turn again", true, "1\ntwo\n3\n4\nfive\n6\n7\ntyped\n")
		s.Await("the files", func() bool { return s.ReadOrNone(fresh) == "new\n" && s.ReadOrNone(gone) == "no file" })
	})
}

func TestAFileThatTheUserDeletesStaysAway(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		mine, other := s.WriteFile("mine.txt", "1\n"), s.WriteFile("other.txt", "1\n")
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		p.WriteFile(mine, "2\n")
		p.WriteFile(other, "2\n")
		p.EndTurn(turn)
		must.Do(t, os.Remove(mine))
		s.Command("Acp changes")
		s.Await("the deletion is seen", func() bool { return allChanges(s) == "modified other.txt -1,1+1,1\n" })
		s.OK(`require('acp').reject()`)
		s.Await("the refusal", func() bool { return s.ReadOrNone(other) == "1\n" })
		check.Equal(t, s.ReadOrNone(mine), "no file", "what the user has deleted has %q")
		s.WriteFile("mine.txt", "2\n") // say, git stash pop
		s.Command("Acp changes")
		s.Await("its change again", func() bool { return strings.Contains(allChanges(s), "modified mine.txt -1,1+1,1\n") })
		s.OK(`require('acp').reject()`)
		s.Await("the refusal", func() bool { return s.ReadOrNone(mine) == "1\n" })
	})
}

func TestTheReviewSurvives(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		path := s.WriteFile("code.txt", "1\n2\n3\n4\n5\n6\n7\n")
		p := s.BeginWith(scene.KeepsSessions(true, "resume"))
		turn := s.Prompt(p, "edit")
		p.WriteFile(path, "1\ntwo\n3\n4\n5\nsix\n7\n")
		p.EndTurn(turn)
		s.OK(`require('acp').keep({ path = 'code.txt', hunk = 1 })`)
		s.Await("kept", func() bool { return allChanges(s) == "modified code.txt -2,1+2,1 kept -6,1+6,1\n" })
		s.Command("Acp review")
		comment(s, "+ six", "why six")
		s.OK(`require('acp').close()`)
		s.AwaitEvent("AcpSessionClosed")
		// Meanwhile somebody writes the file.
		s.WriteFile("code.txt", "0\n1\ntwo\n3\n4\n5\nsix\n7\n")

		s.OK(`require('acp').resume({ agent = 'puppet', agent_session_id = ... })`, scene.SessionID(1))
		p = s.Agent()
		p.Initialize(scene.KeepsSessions(true, "resume"))
		p.Reply(p.Expect("session/load"), nil)
		s.AwaitEvent("AcpSessionReady")
		s.Await("the review", func() bool { return allChanges(s) == "modified code.txt -3,1+3,1 kept -7,1+7,1\n" })
		s.AwaitChat("1 change of this session waits for your review: :Acp review shows it. 1 comment of yours has not been sent: :Acp review send sends it.")
		s.Command("Acp review send")
		turn, got := p.Prompted()
		if want := "My comments on your changes:\n\ncode.txt:7\n```diff\n+six\n```\nwhy six"; got != want {
			t.Errorf("the agent was told\n%s\nwanted\n%s", got, want)
		}
		p.EndTurn(turn)
		s.OK(`require('acp').undo_turn()`)
		s.Await("the turn undone", func() bool { return s.ReadOrNone(path) == "0\n1\n2\n3\n4\n5\n6\n7\n" })
		s.OK(`require('acp').undo_turn({ again = true })`)
		s.Await("the turn again", func() bool { return s.ReadOrNone(path) == "0\n1\ntwo\n3\n4\n5\nsix\n7\n" })
	})
}

// Where a file cannot be changed it is not said that all is refused.
func TestRefusingAllOfAReadOnlyFile(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p, turn, _, buf := s.BeginWithChange(scene.TextReviewed)
		p.EndTurn(turn)
		s.Sync()
		s.Lua(nil, `vim.bo[...].readonly = true`, buf)
		s.RecordNotifications()
		s.Command("Acp review")
		s.AwaitLua(`vim.bo.filetype == 'acp-review' and vim.fn.search('code', 'nw') > 0`)
		s.Keys("ggx")
		s.AwaitNotification("its buffer is read-only")
		if said := s.Notifications(); strings.Contains(said, "refused") {
			t.Errorf("the user is told %q", said)
		}
	})
}
