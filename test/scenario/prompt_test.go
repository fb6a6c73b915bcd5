package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

// promptWin is the Lua expression for the first prompt window of the tab.
const promptWin = `(select(2, require('acp.layout').windows(0)))`

func (s *scene) awaitPromptHeight(want int) {
	s.t.Helper()
	s.AwaitLua(`vim.api.nvim_win_get_height(`+promptWin+`) == ...`, want)
}

// queue is what waits, as the mirror tells it.
func (s *scene) queue() []string {
	s.t.Helper()
	var queue []string
	s.Lua(&queue, `require('acp').sessions()[1].queue`)
	return queue
}

func (s *scene) awaitQueue(want ...string) {
	s.t.Helper()
	s.Await(fmt.Sprintf("the queue %q", want), func() bool { return slices.Equal(s.queue(), want) })
}

// turn plays a whole turn whose prompt must be this text.
func (p *puppet) turn(want string) {
	p.t.Helper()
	m, got := p.prompted()
	if got != want {
		p.t.Errorf("the agent was asked %q, not %q", got, want)
	}
	p.stop(m, "end_turn")
	p.scene.AwaitEvent("AcpTurnEnd")
}

func TestPromptGrowsWithItsText(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.awaitPromptHeight(4)
		s.Keys("i1<CR>2<CR>3<CR>4<CR>5<CR>6")
		s.awaitPromptHeight(7) // with the winbar
		s.Keys("<CR>7<CR>8<CR>9<CR>10<CR>11<CR>12")
		s.awaitPromptHeight(9) // two fifths of the screen
		s.screen("grown")
		s.Keys("<Esc>dgg")
		s.awaitPromptHeight(4)
		s.Keys("u")
		s.awaitPromptHeight(9)
		s.Keys("i<C-s>")
		p.turn("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12")
		s.awaitPromptHeight(4)

		// A line that is wrapped counts by what is shown of it.
		s.Keys("<C-u>" + strings.Repeat("quite ", 30))
		s.awaitPromptHeight(6)
		s.Keys("<C-s>")
		p.turn(strings.TrimSpace(strings.Repeat("quite ", 30)))
		s.awaitPromptHeight(4)
	})
}

func TestPromptOfManyLines(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		text := strings.TrimSuffix(lines(1, 5000), "\n") + "\n\n" + strings.Repeat("long ", 20000) + "end"
		s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(..., '\n'))`, text)
		s.Keys("G<CR>")
		p.turn(text)
		s.awaitChat(" KB · in a window of its own")
		s.awaitPrompt("")
		if short, _, _ := strings.Cut(text, "\nlong "); !strings.Contains(s.chat(), short+"\n"+strings.Repeat("long ", 800)) {
			t.Error("the chat does not show the whole prompt, up to a line in which Neovim would be slow")
		}
		s.Keys("u")
		s.awaitPrompt(text)
	})
}

func TestUndoBringsBackWhatWasSent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.Keys("ifrom Insert mode<C-s>")
		p.turn("from Insert mode")
		s.awaitPrompt("")
		s.Keys("<Esc>u")
		s.awaitPrompt("from Insert mode")
		s.Keys("A, again<Esc><CR>")
		p.turn("from Insert mode, again")
		s.awaitPrompt("")
		s.Keys("u")
		s.awaitPrompt("from Insert mode, again")
		s.Keys("u")
		s.awaitPrompt("from Insert mode")
	})
}

func TestPromptHistory(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.keys = { history_previous = '<Up>', history_next = '<Down>' }`)
		p := s.begin()
		for _, text := range []string{"one", "two\nlines", "two\nlines", "three"} {
			s.Lua(nil, `vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(..., '\n'))`, text)
			s.Keys("<CR>")
			p.turn(text)
			s.awaitPrompt("")
		}
		s.Keys("idraft<Esc>")
		s.awaitPrompt("draft")
		for _, step := range []struct{ key, want string }{
			{"<Up>", "three"}, {"<Up>", "two\nlines"}, {"<Up>", "one"}, {"<Up>", "one"},
			{"<Down>", "two\nlines"}, {"<Down>", "three"}, {"<Down>", "draft"}, {"<Down>", "draft"},
		} {
			s.Keys(step.key)
			s.awaitPrompt(step.want)
		}
		// An earlier prompt is edited and sent again, and then is the last one.
		s.Keys("<Up><Up><Up>")
		s.awaitPrompt("one")
		s.Keys("A more<Esc>")
		s.awaitPrompt("one more")
		s.Keys("<CR>")
		p.turn("one more")
		s.awaitPrompt("")
		s.Keys("<Up>")
		s.awaitPrompt("one more")
		s.Keys("<Up>")
		s.awaitPrompt("three")
		// What was made of it is a draft like any other.
		s.Keys("ccfour<Esc>")
		s.awaitPrompt("four")
		s.Keys("<Up>")
		s.awaitPrompt("one more")
		s.Keys("<Down>")
		s.awaitPrompt("four")
	})
}

func TestPromptSaysWhatItIsFor(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		s.AwaitScreen("Ask Puppet")
		s.AwaitScreen("<CR> send")
		s.Keys("i")
		s.AwaitScreen("<C-s> send")
		s.Keys("x")
		s.Await("no hint", func() bool { return !strings.Contains(s.Screen(), "Ask Puppet") })
		s.Keys("<BS>")
		s.AwaitScreen("Ask Puppet")
		s.Keys("<Esc>")
		turn := s.prompt(p, "work")
		s.AwaitScreen("<C-c> stop")
		// In Insert mode it would only end that; and typing elsewhere is not typing here.
		s.Keys("i")
		s.AwaitScreen("<C-s> send")
		s.Await("no key that does not work", func() bool { return !strings.Contains(s.Screen(), "<C-c> stop") })
		s.Command("wincmd h")
		s.AwaitScreen("<CR> send  <C-c> stop")
		s.Command("wincmd p")
		s.AwaitScreen("<C-s> send")
		s.Keys("<Esc>")
		s.AwaitScreen("<CR> send  <C-c> stop")
		s.ok(`require('acp').prompt('later')`)
		s.AwaitScreen("1 queued")
		s.Command("Acp cancel")
		p.expect("session/cancel")
		p.stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		s.AwaitScreen("Send an empty prompt to resume")
		s.Keys("<CR>")
		p.turn("later")
		s.AwaitScreen("Ask Puppet")
	})
}

func TestQueueIsABufferToEdit(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.write("a.txt", "as it was\n")
		b := s.write("b.txt", "beta\n")
		p := s.beginTaking(obj{"embeddedContext": true})
		turn := s.prompt(p, "work")
		for _, text := range []string{"see @a.txt", "second", "third", "fourth"} {
			s.Command("Acp prompt " + text)
		}
		s.awaitQueue("see @a.txt", "second", "third", "fourth")
		s.write("a.txt", "as it is\n")
		s.Command("Acp queue")
		s.AwaitLua(`vim.bo.filetype == 'acp-queue'`)
		s.screen("queue")
		// The first goes behind the second, the third is edited, the last one goes.
		s.Keys("ggdjjp")
		s.Keys(":3<CR>jjcclook at @b.txt<CR>and think<Esc>jdG")
		s.Keys(":w<CR>")
		s.awaitQueue("second", "see @a.txt", "look at @b.txt\nand think")
		s.AwaitLua(`not vim.bo.modified`)
		s.Command("close")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.turn("second")
		// What went along with a prompt stays as it was; new files are read.
		for _, want := range [][]any{
			{obj{"type": "text", "text": "see @a.txt"},
				obj{"type": "resource", "resource": obj{"uri": "file://" + s.Dir + "/a.txt", "text": "as it was\n"}}},
			{obj{"type": "text", "text": "look at @b.txt\nand think"},
				obj{"type": "resource", "resource": obj{"uri": "file://" + b, "text": "beta\n"}}},
		} {
			if got := p.blocks(); !reflect.DeepEqual(got, want) {
				t.Errorf("sent were %v, want %v", got, want)
			}
		}
		s.awaitQueue()
		p.silent()
	})
}

// While the buffer is open the queue goes on: nothing is sent twice, nothing is lost.
func TestQueueMovesOnWhileItIsEdited(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "work")
		for _, text := range []string{"sent", "stays", "twice", "twice"} {
			s.ok(`require('acp').prompt(...)`, text)
		}
		s.awaitQueue("sent", "stays", "twice", "twice")
		s.Command("Acp queue")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		turn, text := p.prompted()
		if text != "sent" {
			t.Errorf("asked %q", text)
		}
		s.ok(`require('acp').prompt('new')`)
		s.awaitQueue("stays", "twice", "twice", "new")
		s.Keys("/stays<CR>A, changed<Esc>:w<CR>")
		s.awaitQueue("stays, changed", "twice", "twice", "new")
		s.Keys("ggdG:w<CR>")
		s.awaitQueue("new")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.turn("new")
		p.silent()
	})
}

func TestPausedQueueOutlivesARestart(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "work")
		s.ok(`require('acp').prompt('later')`)
		s.ok(`require('acp').prompt('last')`)
		s.awaitQueue("later", "last")
		s.ok(`require('acp').cancel()`)
		p.expect("session/cancel")
		p.stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		p = s.again()
		s.awaitQueue("later", "last")
		s.AwaitScreen("2 queued, paused")
		p.silent()
		s.Keys("<CR>")
		p.turn("later")
		p.turn("last")
		s.awaitQueue()
	})
}

// steerable is an answer to initialize as Claude and Codex give it.
var steerable = obj{"_meta": obj{"steering": obj{"supported": true}}}

func TestSteering(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.write("a.txt", "alpha\n")
		s.recordNotifications()
		p := s.beginWith(steerable)
		if s.session()["steers"] != true {
			t.Errorf("the session is %v", s.session())
		}
		turn := s.prompt(p, "count")
		p.say("One.\n")
		s.awaitChat("One.")
		s.Command("Acp steer backwards, see @a.txt")
		m := p.expect("_session/steering")
		want := obj{
			"sessionId": remote(1), "_meta": obj{"steering": obj{"idleBehavior": "promptRequired"}},
			"prompt": []any{
				obj{"type": "text", "text": "backwards, see @a.txt"},
				obj{"type": "resource_link", "uri": "file://" + path, "name": "a.txt"},
			},
		}
		if got := m.get(); !reflect.DeepEqual(got, want) {
			t.Errorf("asked was %v, want %v", got, want)
		}
		p.reply(m, obj{"outcome": "injected"})
		p.update("user_message_chunk", obj{"content": obj{"type": "text", "text": "backwards, see @a.txt"}})
		p.say("Zero.\n")
		s.awaitChat("Zero.")
		s.screen("steered")
		s.awaitQueue()

		// What the agent does not take waits for the end of the turn.
		for _, outcome := range []string{"promptRequired", "failed"} {
			s.ok(`require('acp').steer(...)`, outcome)
			p.reply(p.expect("_session/steering"), obj{"outcome": outcome})
			s.awaitNotification("Your words wait in the queue: Puppet did not take them")
		}
		s.awaitQueue("promptRequired", "failed")
		s.ok(`require('acp').steer({ { type = 'text', text = 'error' } }, { session = 1 })`)
		p.refuse(p.expect("_session/steering"), -32603, "no", nil)
		s.awaitQueue("promptRequired", "failed", "error")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		for _, text := range []string{"promptRequired", "failed", "error"} {
			p.turn(text)
		}

		// Without a turn it is a prompt.
		s.ok(`require('acp').steer('idle')`)
		p.turn("idle")
		s.once("backwards, see")
		if why := s.refused(`require('acp').steer({ 'x' })`); !strings.Contains(why, "content block") {
			t.Errorf("told %q", why)
		}
	})
}

func TestSteeringWhereTheAgentCannot(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		p := s.begin()
		turn := s.prompt(p, "count")
		s.Command("Acp steer backwards")
		s.awaitQueue("backwards")
		s.awaitNotification("Your words wait in the queue: Puppet cannot be steered")
		p.silent()
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.turn("backwards")
	})
}

// Words on their way to an agent that dies are kept.
func TestSteeringAnAgentThatDies(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		p := s.beginWith(steerable)
		s.prompt(p, "count")
		s.ok(`require('acp').steer('backwards')`)
		p.expect("_session/steering")
		p.exit(1, "")
		s.awaitState("dead")
		s.awaitQueue("backwards")
		p = s.restart()
		p.begin()
		p.turn("backwards")
	})
}

// prompts is what of the chat's lines has the sign of a prompt, by the sign's highlight.
func (s *scene) prompts() obj {
	s.t.Helper()
	return s.value(`(function(buf)
		local found = vim.empty_dict()
		for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, -1, 0, -1, { details = true })) do
			if vim.trim(mark[4].sign_text or '') == '▌' then
				local line = vim.api.nvim_buf_get_lines(buf, mark[2], mark[2] + 1, false)[1]
				found[line] = vim.fn.synIDattr(mark[4].sign_hl_group and vim.fn.hlID(mark[4].sign_hl_group) or 0, 'name')
			end
		end
		return found
	end)(` + chatBuf + `)`).(obj)
}

// awaitPrompts waits until the chat has these prompts, sent ("said") and not ("waits"), each once.
func (s *scene) awaitPrompts(want obj) {
	s.t.Helper()
	s.Await(fmt.Sprintf("the prompts %v", want), func() bool {
		got := obj{}
		for text, group := range s.prompts() {
			got[text] = map[any]string{"AcpUser": "said", "AcpMore": "waits"}[group]
		}
		return reflect.DeepEqual(got, want)
	})
	for text := range want {
		s.once(text)
	}
}

// What is sent before the agent takes it stands where it will be said.
func TestPromptWaitsInTheChatWhileTheAgentStarts(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.Command("Acp")
		p := s.agent()
		s.Keys("iwhy does it\nskip one?<C-s>")
		s.awaitPrompts(obj{"why does it": "waits", "skip one?": "waits"})
		s.AwaitScreen("1 queued")
		s.screen("waiting")
		s.Keys("and then<C-s>")
		s.awaitPrompts(obj{"why does it": "waits", "skip one?": "waits", "and then": "waits"})

		// The user reads in the chat: the cursor stays on its line.
		s.Keys("<Esc>")
		s.Command("wincmd k")
		s.Keys("ggjl")
		const cursor = `vim.api.nvim_get_current_line() .. vim.inspect(vim.api.nvim_win_get_cursor(0))`
		before := s.LuaString(cursor)
		p.begin()
		turn, text := p.prompted()
		if text != "why does it\nskip one?" {
			t.Errorf("asked %q", text)
		}
		s.awaitPrompts(obj{"why does it": "said", "skip one?": "said", "and then": "waits"})
		p.say("Because.")
		s.awaitChat("Because.\n\nand then")
		if now := s.LuaString(cursor); now != before {
			t.Errorf("the cursor was at %s and is at %s", before, now)
		}
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		p.turn("and then")
		s.awaitPrompts(obj{"why does it": "said", "skip one?": "said", "and then": "said"})
	})
}

// During a turn a prompt that waits is one line below what the agent says, and goes when it is taken back.
func TestPromptWaitsInTheChatDuringATurn(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "work")
		p.say("I begin")
		s.ok(`require('acp').prompt('second\nand more\nand more')`)
		s.ok(`require('acp').prompt('third')`)
		s.awaitChat("I begin\n\nsecond … +2 lines\n\nthird")
		p.say(" and go on.")
		s.awaitChat("I begin and go on.\n\nsecond … +2 lines\n\nthird")
		s.Command("Acp queue")
		s.Keys("ggdG:w<CR>")
		s.awaitQueue()
		s.awaitPrompts(obj{"work": "said"})
		s.Command("close")
		s.ok(`require('acp').prompt('fourth')`)
		s.awaitPrompts(obj{"work": "said", "fourth": "waits"})
		s.Command("Acp cancel")
		p.expect("session/cancel")
		p.stop(turn, "cancelled")
		s.AwaitEvent("AcpTurnEnd")
		s.AwaitScreenMatch("▌ fourth +paused")
		s.Command("Acp close")
		s.AwaitScreenMatch("▌ fourth +not sent")
		p.silent()
	})
}

// Whatever ends meanwhile, the prompt stands in the chat, once, and goes out in the end.
func TestPromptWaitsInTheChatWhateverEnds(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		s.choose("With a browser")
		s.Command("Acp")
		p := s.agent()
		s.Keys("ikept words<C-s>")
		s.awaitPrompts(obj{"kept words": "waits"})
		p.exit(3, "no luck")
		s.awaitState("dead")
		s.awaitChat("no luck. :Acp restart starts it again.\n\nkept words")
		s.awaitPrompts(obj{"kept words": "waits"})

		// What the command could not send is in the prompt, if that is empty.
		s.Keys("<Esc>")
		s.Command("Acp prompt by command")
		s.awaitNotification("Your words are in the prompt")
		s.awaitPrompt("by command")
		s.Command("Acp prompt another")
		s.awaitPrompt("by command")
		s.Command("normal! S")
		s.awaitPrompt("")
		s.Keys("i")

		// In Insert mode it is seen that nothing was sent.
		s.Keys("more words<C-s>")
		s.AwaitScreenMatch("not sent +ended · :Acp restart")
		s.AwaitLua(`vim.fn.mode() == 'i'`)
		s.awaitPrompt("more words")
		s.Keys("!")
		s.Await("no word of it any more", func() bool { return !strings.Contains(s.Screen(), "not sent") })
		s.Keys("<Esc>")

		// The host dies and comes again.
		s.Command("Acp restart")
		s.agent()
		s.free(func() {
			s.killHost()
			s.awaitState("dead")
			s.Await("all processes to end", func() bool { return len(s.Leftovers()) == 0 })
		})
		s.awaitChat("the host ended")
		s.awaitPrompts(obj{"kept words": "waits"})
		s.Command("Acp restart")
		p = s.agent()
		s.awaitPrompts(obj{"kept words": "waits"})
		s.awaitChat("starts it again\n\nkept words")
		s.Lua(nil, `require('acp.host').notify('redraw', { session = 1, why = 'a test' })`)
		p.initialize(logins(browser))
		p.refuseLogin(p.expect("session/new"))
		s.awaitState("auth_required")
		s.awaitChat("What you asked is kept.")
		s.awaitPrompts(obj{"kept words": "waits"})
		p.authenticated("browser")
		p.newSession(1)
		p.turn("kept words")
		s.awaitPrompts(obj{"kept words": "said"})
		s.once("the host ended")
	})
}

// drafts is the drafts below a state folder.
func (s *scene) drafts(state string) (texts []string) {
	s.t.Helper()
	dir := filepath.Join(state, "nvim/acp/drafts")
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".new") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		info, err2 := f.Info()
		if err = errors.Join(err, err2); err != nil {
			s.t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			s.t.Errorf("%s has the mode %v", f.Name(), info.Mode())
		}
		texts = append(texts, string(text))
	}
	return texts
}

func (s *scene) awaitDrafts(state string, want ...string) {
	s.t.Helper()
	s.Await(fmt.Sprintf("the drafts %q", want), func() bool { return slices.Equal(s.drafts(state), want) })
}

// What is not sent when Neovim ends comes back in the next session of its folder, once.
func TestDraftsOutliveNeovim(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		state := filepath.Join(s.Home, "state")
		p := s.begin()
		s.prompt(p, "work")
		s.ok(`require('acp').prompt('queued words')`)
		s.awaitQueue("queued words")
		s.Keys("imy idea<CR>and more")
		s.awaitPrompt("my idea\nand more")
		s.quit()
		s.awaitDrafts(state, "queued words\n\nmy idea\nand more")

		s = s.next(nvimtest.Env("XDG_STATE_HOME=" + state))
		s.ok(`require('acp').new({ cwd = '/' })`)
		s.awaitPrompt("")
		s.Command("Acp new")
		s.awaitPrompt("queued words\n\nmy idea\nand more")
		s.AwaitScreen("You had not sent this")
		s.screen("draft")
		s.Command("Acp new")
		s.awaitPrompt("") // once
		s.Keys("inext to it")
		s.awaitDrafts(state, "queued words\n\nmy idea\nand more", "next to it")
		s.Kill() // it has written what was typed a second ago

		s = s.next(nvimtest.Env("XDG_STATE_HOME=" + state))
		p = s.begin()
		s.awaitPrompt("next to it")
		s.Keys("A<C-s>")
		if _, text := p.prompted(); text != "next to it" {
			t.Errorf("asked %q", text)
		}
		s.awaitPrompt("")
		s.awaitDrafts(state, "queued words\n\nmy idea\nand more") // what is sent does not come back
		s.Await("no word of it any more", func() bool { return !strings.Contains(s.Screen(), "You had not sent this") })
		s.Keys("<Esc>")
		s.quit()
	})
}

func TestDraftsOutliveTheirSession(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		state := filepath.Join(s.Home, "state")
		s.begin()
		s.Keys("ileft behind<Esc>")
		s.awaitPrompt("left behind")
		s.Command("Acp close")
		s.awaitDrafts(state, "left behind")
		s.AwaitLua(`#require('acp').sessions() == 0`)
		s.Command("Acp new")
		s.awaitPrompt("left behind")
		s.Keys("ggdG")
		s.awaitDrafts(state)
	})
}

// Where a float comes or goes while the command-line window is open, Neovim does not give the windows their heights back.
func TestPromptKeepsItsHeightBehindTheCommandLineWindow(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.begin()
		s.awaitPromptHeight(4)
		s.Keys("q:")
		s.AwaitLua(`vim.fn.getcmdwintype() == ':'`)
		s.Lua(nil, `_G.float = vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false,
			{ relative = 'editor', row = 1, col = 1, width = 5, height = 2 })`)
		s.Keys("<CR>")
		s.AwaitLua(`vim.fn.getcmdwintype() == ''`)
		s.awaitPromptHeight(4)
		s.Keys(":<C-f>")
		s.AwaitLua(`vim.fn.getcmdwintype() == ':'`)
		s.Lua(nil, `vim.api.nvim_win_close(_G.float, true)`)
		s.Keys("<CR>")
		s.AwaitLua(`vim.fn.getcmdwintype() == ''`)
		s.awaitPromptHeight(4)
	}, nvimtest.Size(120, 32))
}
