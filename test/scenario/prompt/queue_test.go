package prompt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestPromptsQueueWhileStartingAndRunning(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Command("Acp prompt first")
		s.OK(`require('acp').prompt('second')`)
		p := s.Agent()
		s.AwaitLua(`require('acp').sessions()[1].queued == 2`)
		p.Begin()
		turn := p.PromptedWith("first")
		s.Command("Acp prompt third")
		s.AwaitLua(`require('acp').sessions()[1].queued == 2`)
		p.Silent()
		for _, want := range []string{"second", "third"} {
			p.Stop(turn, "end_turn")
			turn = p.PromptedWith(want)
		}
		p.Stop(turn, "end_turn")
		for range 3 {
			s.AwaitEvent("AcpTurnEnd")
		}
		if starts, ends := s.CountEvents("AcpTurnStart"), s.CountEvents("AcpTurnEnd"); starts != 3 || ends != 3 {
			t.Errorf("%d turns began and %d ended", starts, ends)
		}
		var order []string
		for _, e := range s.Events() {
			if strings.HasPrefix(e.Name, "AcpTurn") {
				order = append(order, fmt.Sprint(e.Name, e.Data["session"]))
			}
		}
		want := strings.TrimSpace(strings.Repeat("AcpTurnStart1 AcpTurnEnd1 ", 3))
		check.Equal(t, strings.Join(order, " "), want, "the events are %s")
	})
}

func TestCancelPausesTheQueueAndSaysSo(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "work")
		p.Say("Working on it.\n")
		s.AwaitChat("Working on it.")
		s.OK(`require('acp').prompt('later')`)
		s.AwaitLua(`require('acp').sessions()[1].queued == 1`)
		s.AwaitScreen("1 queued") // a busy Neovim takes the key for an interrupt
		s.Keys("<C-c>")
		p.Expect("session/cancel")
		s.AwaitChat("1 prompt queued")
		p.Stop(turn, "cancelled")
		if end := s.AwaitEvent("AcpTurnEnd"); end["stop_reason"] != "cancelled" {
			t.Errorf("the turn ended with %v", end)
		}
		p.Silent()
		s.AwaitScreen("1 queued, paused")
		s.GoldenScreen("paused")
		s.Keys("<CR>")
		p.PlayTurn("later")
	})
}

func TestQueueIsABufferToEdit(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFile("a.txt", "as it was\n")
		b := s.WriteFile("b.txt", "beta\n")
		p := beginTaking(s, obj{"embeddedContext": true})
		turn := s.Prompt(p, "work")
		for _, text := range []string{"see @a.txt", "second", "third", "fourth"} {
			s.Command("Acp prompt " + text)
		}
		s.AwaitQueue("see @a.txt", "second", "third", "fourth")
		s.WriteFile("a.txt", "as it is\n")
		s.Command("Acp queue")
		s.AwaitLua(`vim.bo.filetype == 'acp-queue'`)
		s.GoldenScreen("queue")
		// The first goes behind the second, the third is edited, the last one goes.
		s.Keys("uggdjjp") // there is nothing to undo yet
		s.Keys(":3<CR>jjcclook at @b.txt<CR>and think<Esc>jdG")
		s.Keys(":w<CR>")
		s.AwaitQueue("second", "see @a.txt", "look at @b.txt\nand think")
		s.AwaitLua(`not vim.bo.modified`)
		s.Command("close")
		p.EndTurn(turn)
		p.PlayTurn("second")
		// What went along with a prompt stays as it was; new files are read.
		for _, want := range [][]any{
			{obj{"type": "text", "text": "see @a.txt"},
				obj{"type": "resource", "resource": obj{"uri": "file://" + s.Dir + "/a.txt", "text": "as it was\n"}}},
			{obj{"type": "text", "text": "look at @b.txt\nand think"},
				obj{"type": "resource", "resource": obj{"uri": "file://" + b, "text": "beta\n"}}},
		} {
			check.Deep(t, blocks(p), want, "sent were %v")
		}
		s.AwaitQueue()
		p.Silent()
	})
}

// While the buffer is open the queue goes on: nothing is sent twice, nothing is lost.
func TestQueueMovesOnWhileItIsEdited(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "work")
		for _, text := range []string{"sent", "stays", "twice", "twice"} {
			s.OK(`require('acp').prompt(...)`, text)
		}
		s.AwaitQueue("sent", "stays", "twice", "twice")
		s.Command("Acp queue")
		p.EndTurn(turn)
		turn = p.PromptedWith("sent")
		s.OK(`require('acp').prompt('new')`)
		s.AwaitQueue("stays", "twice", "twice", "new")
		s.Keys("/stays<CR>A, changed<Esc>:w<CR>")
		s.AwaitQueue("stays, changed", "twice", "twice", "new")
		s.Keys("ggdG:w<CR>")
		s.AwaitQueue("new")
		p.EndTurn(turn)
		p.PlayTurn("new")
		p.Silent()
	})
}

func TestPausedQueueOutlivesARestart(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "work")
		s.OK(`require('acp').prompt('later')`)
		s.OK(`require('acp').prompt('last')`)
		s.AwaitQueue("later", "last")
		s.OK(`require('acp').cancel()`)
		p.Expect("session/cancel")
		p.Stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		p = s.RestartAndBegin()
		s.AwaitQueue("later", "last")
		s.AwaitScreen("2 queued, paused")
		p.Silent()
		s.Keys("<CR>")
		p.PlayTurn("later")
		p.PlayTurn("last")
		s.AwaitQueue()
	})
}
