package chat

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// texts is content of a tool call.
func texts(list ...string) []obj {
	content := []obj{}
	for _, text := range list {
		content = append(content, obj{"type": "content", "content": obj{"type": "text", "text": text}})
	}
	return content
}

func block(content obj) obj { return obj{"type": "content", "content": content} }

// turn begins a turn and gives what ends it.
func turn(s *scene.Scene, p *scene.Puppet, text string) (end func()) {
	s.T.Helper()
	m := s.Prompt(p, text)
	return func() {
		s.T.Helper()
		p.EndTurn(m)
	}
}

// blocksOfAllKinds is a chat with all that a block can show.
func blocksOfAllKinds(s *scene.Scene) {
	s.T.Helper()
	s.WriteFiles("src/a.lua")
	s.WriteFile("src/a.lua", "one\ntwo\nthree\n")
	p := s.Begin()
	end := turn(s, p, "Show your tools")
	p.Update("tool_call", obj{
		"toolCallId": "prose", "title": "Ask the sub-agent", "kind": "think", "status": "in_progress",
		"content": texts("**Three** things:\n\n- one\n- two\n\n```lua\nlocal three = 3\n```\n"),
	})
	p.Update("tool_call", obj{
		"toolCallId": "colours", "title": "make", "kind": "execute", "status": "completed",
		"content": texts("compiling\n\x1b[32mok\x1b[0m 1\n10%\r50%\r100%\nabc\b\bX\nend"),
	})
	p.Update("tool_call", obj{
		"toolCallId": "long", "title": "make check", "kind": "execute", "status": "failed", "content": texts(scene.Lines(1, 5000)),
	})
	p.Update("tool_call", obj{
		"toolCallId": "places", "title": "Look for calls", "kind": "search", "status": "completed",
		"locations": []obj{{"path": s.Dir + "/src/a.lua", "line": 2}, {"path": s.Dir + "/src/b.lua"}, {"path": "/etc/hosts", "line": 7}},
		"content":   texts("a.lua:2\nb.lua:1"),
	})
	p.Update("tool_call", obj{
		"toolCallId": "resources", "title": "Fetch the manual", "kind": "fetch", "status": "in_progress", "content": []obj{
			block(obj{"type": "resource_link", "name": "the manual", "uri": "https://example.org/manual"}),
			block(obj{"type": "resource_link", "name": "a.lua", "uri": "file://" + s.Dir + "/src/a.lua#L3"}),
			block(obj{"type": "resource", "resource": obj{"uri": "file://" + s.Dir + "/src/a.lua", "text": "return 1\n"}}),
			block(obj{"type": "smell", "strength": 3}),
			{"type": "hologram"},
		},
	})
	p.Update("tool_call", obj{"toolCallId": "odd", "title": "Dance", "kind": "_dance", "status": "_resting"})
	s.AwaitChat("Dance")
	p.Update("tool_call", obj{"toolCallId": "parent", "title": "Delegate", "kind": "think", "status": "in_progress"})
	for i, kind := range []string{"read", "edit"} {
		p.Update("tool_call", obj{
			"toolCallId": kind, "title": "Child " + fmt.Sprint(i+1), "kind": kind, "status": "completed",
			"_meta": obj{"claudeCode": obj{"parentToolUseId": "parent"}},
		})
	}
	s.AwaitChat("Child 2")
	_ = end
}

// blocks compares the screen without spinners and durations, and the blanks before those.
func blocks(s *scene.Scene, name string) {
	s.T.Helper()
	s.Golden(name,
		nvimtest.Replace(` *[⣷⣯⣟⡿⢿⣻⣽⣾]( \d+:\d\d)?`, " *"),
		nvimtest.Replace(` +_resting( [\d.]+ s)? +│`, " _resting │"),
		nvimtest.Replace(` +[\d.]+ s +│`, " │"),
		nvimtest.Replace(` +│`, " │"),
	)
}

func TestBlocksOfAllKinds(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
				s.Configure(`c.layout = { position = 'left', width = 0.7 }`)
				blocksOfAllKinds(s)
				s.Keys("<Esc>")
				s.ToBlock("Show your tools")
				s.Keys("zt")
				blocks(s, "top")
				s.Keys("G")
				blocks(s, "end")
				for _, open := range []string{"Look for calls", "Delegate", "Dance"} {
					s.ToBlock(open)
					s.Keys("zo")
				}
				s.AwaitChat("/etc/hosts:7")
				s.Keys("zt")
				s.ToBlock("Delegate")
				s.Keys("zc")
				s.AwaitChat("+2 calls")
				if strings.Contains(s.Chat(), "Child") {
					t.Error("a closed block shows what is below it")
				}
				s.ToBlock("Look for calls")
				s.Keys("zt")
				blocks(s, "opened")
			}, nvimtest.Size(size[0], size[1]))
		})
	}
}

// What does not fit goes: first what is counted, then the icon, then the end of the title.
func TestBlocksInANarrowWindow(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.Configure(`c.layout = 'left'`)
		p := s.Begin()
		end := turn(s, p, "Work")
		p.Update("tool_call", obj{
			"toolCallId": "a", "title": "Look it up in the manual", "kind": "fetch", "status": "completed", "content": texts("a\nb\nc"),
		})
		end()
		for _, step := range []struct {
			width int
			want  string
		}{
			{70, "  ✓ ⇣ fetch  Look it up in the manual  … +3 lines"},
			{45, "  ✓ ⇣ fetch  Look it up in the manual"},
			{38, "  ✓ fetch  Look it up in the manual"},
			{30, "  ✓ fetch  Look it up in th…"},
			{70, "  ✓ ⇣ fetch  Look it up in the manual  … +3 lines"},
		} {
			s.Command(fmt.Sprintf("vertical resize %d", step.width))
			s.Await(fmt.Sprintf("%q at %d columns", step.want, step.width), func() bool {
				return strings.Contains(s.Chat()+"\n", "\n"+step.want+"\n")
			})
		}
	}, nvimtest.Size(100, 24))
}

// A block that changes, or others around it, leaves the cursor on its line, at its place on the screen.
func TestBlocksChangeAroundTheCursor(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		end := turn(s, p, "Run all three")
		output := func(id string, from, to int) {
			p.Update("tool_call_update", obj{"toolCallId": id, "content": texts(scene.Lines(from, to-from+1))})
		}
		for _, id := range []string{"above", "inside", "below"} {
			p.Update("tool_call", obj{"toolCallId": id, "title": "run " + id, "kind": "execute", "status": "in_progress"})
			output(id, 1, 30)
		}
		p.Say(strings.Repeat("text\n", 40))
		s.Keys("<Esc>")
		s.AwaitChat("text\ntext")
		for _, id := range []string{"above", "inside"} {
			s.ToBlock("  " + id)
			s.Keys("zo")
			s.Await("the block "+id+" to open", func() bool {
				_, rest, _ := strings.Cut(s.Chat(), "  "+id)
				return strings.Contains(rest[:min(200, len(rest))], "line 5\n")
			})
		}
		s.ToBlock("  inside")
		s.Keys("/line 20$<CR>zz")
		s.AwaitCursor("    line 20")
		s.Redraw()
		const place = `('%d %s'):format(vim.fn.winline(), vim.api.nvim_get_current_line())`
		before := s.LuaString(place)
		for _, step := range []struct {
			id       string
			from, to int
			last     string
		}{
			{"above", 1, 60, "line 60"}, {"below", 1, 90, "line 90"}, {"above", 1, 3, "line 3"}, {"inside", 1, 45, "line 45"},
			{"inside", 15, 25, "line 25"}, {"inside", 1, 33, "line 33"},
		} {
			output(step.id, step.from, step.to)
			s.Await(fmt.Sprintf("%s to be %d lines", step.id, step.to), func() bool {
				_, rest, _ := strings.Cut(s.Chat(), "  "+step.id)
				body, _, _ := strings.Cut(rest, "\n  ▸")
				return strings.Contains(body+"\n", "    "+step.last+"\n") && !strings.Contains(body+"\n", fmt.Sprintf(" line %d\n", step.to+1))
			})
			s.Redraw()
			check.Equal(t, s.LuaString(place), before, "%v moves the cursor from %q to %q", step, before)
		}
		// Its line is gone: it stays near, in its block.
		output("inside", 1, 5)
		s.Await("the block to shrink", func() bool { return !strings.Contains(s.Chat(), "    line 6\n") })
		s.Redraw()
		s.AwaitCursor("    line 5")
		s.Keys("zc")
		s.AwaitCursor("run    inside")
		end()
	})
}

// One line of half a megabyte is shown by its beginning, and whole, in pieces, in a split.
func TestBlocksOfHugeLines(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		end := turn(s, p, "Print it")
		p.Update("tool_call", obj{
			"toolCallId": "a", "title": "cat bundle.js", "kind": "execute", "status": "completed", "content": texts(strings.Repeat("0123456789", 50_000)),
		})
		p.Update("tool_call", obj{
			"toolCallId": "b", "title": "Fetch the list", "kind": "fetch", "status": "completed",
			"content": texts(`[` + strings.Repeat(`{"name":"n","list":[1,2]},`, 20_000) + `{}]`),
		})
		p.Update("tool_call", obj{
			"toolCallId": "c", "title": "seq 100000", "kind": "execute", "status": "completed", "content": texts(scene.Lines(1, 100_000)),
		})
		end()
		s.Keys("<Esc>")
		s.ToBlock("seq 100000")
		s.Keys("zR")
		s.AwaitChat("+98000 lines")
		s.AwaitChat("+486.3 KB")
		if n := s.LuaInt(`math.max(unpack(vim.tbl_map(string.len, vim.api.nvim_buf_get_lines(` + scene.ChatBuf + `, 0, -1, false))))`); n > 2100 {
			t.Errorf("a line of %d bytes is in the chat", n)
		}
		for _, whole := range []struct {
			block, filetype string
			lines, longest  int
		}{
			{"cat bundle.js", "", 250, 2000}, {"the list", "", 140_003, 40}, {"seq 100000", "", 100_000, 20},
		} {
			s.ToBlock(whole.block)
			s.Keys("gO")
			s.AwaitLua(`vim.b.acp_filled and vim.api.nvim_buf_get_name(0):match('^acp://block/')`)
			check.Equal(t, s.LuaInt(`vim.api.nvim_buf_line_count(0)`), whole.lines, "%s is %d lines", whole.block)
			if n := s.LuaInt(`vim.fn.max(vim.tbl_map(string.len, vim.api.nvim_buf_get_lines(0, 0, -1, false)))`); n > whole.longest {
				t.Errorf("%s has a line of %d bytes", whole.block, n)
			}
			s.Keys("q")
			s.AwaitLua(`vim.bo.filetype == 'acp-chat' and #vim.api.nvim_list_wins() == 3`)
		}
	})
}

func TestBlockIsOpenedWhole(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p := s.Begin()
		end := turn(s, p, "Work **well**")
		p.Update("tool_call", obj{
			"toolCallId": "d", "title": "Change a", "kind": "edit", "status": "completed",
			"content":  []obj{{"type": "diff", "path": s.Dir + "/a.txt", "oldText": scene.Lines(1, 9), "newText": scene.Lines(1, 10)}},
			"rawInput": obj{"file": "a.txt"},
		})
		p.Update("tool_call", obj{"toolCallId": "j", "title": "Ask", "kind": "other", "status": "completed", "content": texts(`{"a":[1,2]}`)})
		p.Update("tool_call", obj{
			"toolCallId": "m", "title": "Two things", "kind": "execute", "status": "completed", "content": texts("\x1b[31mred\x1b[0m", "# Head"),
		})
		end()
		s.Keys("<Esc>")
		for _, whole := range []struct{ block, filetype, want string }{
			{"Change a", "diff", "--- a/a.txt"}, {"Ask", "json", "  \"a\": ["}, {"Two things", "", "── Text"}, {"Work **well**", "markdown", "Work **well**"},
		} {
			s.ToBlock(whole.block)
			s.Keys("gO")
			s.AwaitLua(`vim.b.acp_filled and vim.bo.filetype == ...`, whole.filetype)
			s.Await(whole.want, func() bool { return strings.Contains(s.BufferText(0), whole.want) })
			s.AwaitLua(`not vim.bo.modifiable and vim.bo.buftype == 'nofile' and vim.bo.bufhidden == 'wipe'`)
			s.Keys("q")
			s.AwaitLua(`vim.bo.filetype == 'acp-chat'`)
		}
	})
}

func TestBlockIsInspected(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		p := s.Begin()
		end := turn(s, p, "Work")
		p.Update("tool_call", obj{
			"toolCallId": "call-7", "title": "Change a", "kind": "edit", "status": "completed", "name": "Edit",
			"locations": []obj{{"path": s.Dir + "/a.txt", "line": 3}, {"path": "/etc/hosts"}},
			"rawInput":  obj{"command": "make", "env": []obj{{"name": "A", "value": "1"}}, "text": "one\ntwo\n", "none": nil, "empty": obj{}},
			"rawOutput": obj{"exit": 0}, "_meta": obj{"vendor": obj{"cost": 0.5}},
		})
		end()
		s.Keys("<Esc>")
		s.ToBlock("Work")
		s.Keys("K")
		s.AwaitNotification("no tool call here")
		s.ToBlock("Change a")
		s.Keys("K")
		s.AwaitScreen("─ Tool call ─")
		if !s.LuaBool(`vim.bo.filetype == 'acp-chat'`) {
			t.Error("the float took the focus")
		}
		s.Golden("float", nvimtest.Replace(`\d\d:\d\d:\d\d`, "HH:MM:SS"), nvimtest.Replace(`, \d+(\.\d)? s`, ""))
		s.Keys("K")
		s.AwaitLua(`vim.api.nvim_win_get_config(0).relative ~= ''`)
		s.Keys("Gq")
		s.AwaitLua(`vim.bo.filetype == 'acp-chat' and #vim.api.nvim_list_wins() == 3`)
	}, nvimtest.Size(120, 40))
}

// gd leads to the place of the line, not of the block.
func TestBlockLinesLeadToTheirPlaces(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.WriteFiles("src/a.lua")
		s.WriteFile("src/a.lua", scene.Lines(1, 30))
		s.WriteFile("src/b.lua", scene.Lines(1, 30))
		p := s.Begin()
		end := turn(s, p, "Work")
		p.Update("tool_call", obj{
			"toolCallId": "a", "title": "Look", "kind": "search", "status": "completed", "content": texts("found"),
			"locations": []obj{{"path": s.Dir + "/src/a.lua", "line": 4}, {"path": s.Dir + "/src/b.lua", "line": 9}},
		})
		p.Update("tool_call", obj{
			"toolCallId": "b", "title": "Change", "kind": "edit", "status": "completed", "content": []obj{
				{"type": "diff", "path": s.Dir + "/src/a.lua", "oldText": scene.Lines(1, 30), "newText": strings.Replace(scene.Lines(1, 30), "line 20\n", "new\n", 1)},
			},
		})
		p.Update("tool_call", obj{
			"toolCallId": "c", "title": "Link", "kind": "move", "status": "completed", "content": []obj{
				block(obj{"type": "resource_link", "name": "the link", "uri": "file://" + s.Dir + "/src/b.lua#L12-14"}),
			},
		})
		s.AwaitChat("the link")
		end()
		s.Keys("<Esc>")
		s.ToBlock("Look")
		s.Keys("zo")
		s.AwaitChat("    src/b.lua:9")
		for _, step := range []struct{ at, want string }{
			{"Look", "a.lua:4:1"}, {"    src/b.lua:9", "b.lua:9:1"}, {"+ new", "a.lua:20:1"}, {"line 22", "a.lua:22:1"}, {"the link", "b.lua:12:1"},
		} {
			s.ToBlock(step.at)
			s.Keys("gd")
			s.AwaitLua(position+` == ...`, step.want)
		}
	})
}

// pixel is a picture.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestBlockPicturesAreFiles(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		// As snacks.nvim does it: a placement by buffer and line, that can be closed.
		s.Lua(nil, `_G.shown, _G.closed, _G.opened = {}, 0, nil
			vim.ui.open = function(path) _G.opened = path end
			package.preload['snacks'] = function()
				return { image = {
					supports_terminal = function() return true end,
					placement = { new = function(buf, path, opts)
						table.insert(_G.shown, { buf = buf, path = path, row = opts.pos[1] })
						return { close = function() _G.closed = _G.closed + 1 end }
					end },
				} }
			end`)
		p := s.Begin()
		end := turn(s, p, "Draw")
		p.Say("Look:\n")
		p.Update("agent_message_chunk", obj{"content": obj{"type": "image", "mimeType": "image/png", "data": pixel}})
		p.Update("tool_call", obj{
			"toolCallId": "a", "title": "screenshot", "kind": "other", "status": "completed", "content": []obj{
				block(obj{"type": "image", "mimeType": "image/png", "data": pixel}),
				block(obj{"type": "audio", "mimeType": "audio/wav", "data": base64.StdEncoding.EncodeToString([]byte("RIFF"))}),
				block(obj{"type": "image", "mimeType": "image/png", "data": "%%% no base64"}),
			},
		})
		s.AwaitChat("[image image/png 70 bytes] ")
		end()
		s.AwaitLua(`#_G.shown == 2`)
		dir := s.LuaString(`vim.fs.joinpath(vim.fn.stdpath('cache'), 'acp')`)
		var shown []struct {
			Path string `msgpack:"path"`
			Row  int    `msgpack:"row"`
		}
		s.Lua(&shown, `_G.shown`)
		for _, picture := range shown {
			line := s.LuaString(`vim.api.nvim_buf_get_lines(`+scene.ChatBuf+`, ... - 1, ..., false)[1]`, picture.Row)
			if !strings.Contains(line, picture.Path) || filepath.Dir(picture.Path) != dir {
				t.Errorf("%+v is shown at %q", picture, line)
			}
			info, err := os.Stat(picture.Path)
			if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 70 {
				t.Errorf("the file is %v (%v)", info, err)
			}
		}
		s.AwaitChat("could not be saved")
		s.Keys("<Esc>")
		s.ToBlock("screenshot")
		s.Keys("zo")
		s.AwaitChat("[audio audio/wav 4 bytes] ")
		s.Keys("/audio<CR>gd")
		s.AwaitLua(`_G.opened and _G.opened:match('%.wav$')`)
		s.ToBlock("screenshot")
		s.Keys("zc")
		s.AwaitLua(`_G.closed >= 1`)
		s.Lua(nil, `vim.api.nvim_buf_delete(`+scene.ChatBuf+`, { force = true })`)
		s.AwaitLua(`_G.closed == #_G.shown`) // each of them, also those drawn anew
	})
}

// Calls that the agent leaves unfinished show as cancelled at once, with what they had told. That one
// is done counts, that one failed does not; nor does "request cancelled", the agent's answer.
func TestBlocksAreCancelled(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "Work")
		for _, id := range []string{"one", "two", "three"} {
			p.Update("tool_call", obj{"toolCallId": id, "title": "Task " + id, "kind": "other", "status": "in_progress"})
		}
		p.Update("tool_call_update", obj{"toolCallId": "two", "content": []obj{
			{"type": "diff", "path": filepath.Join(s.Dir, "new.txt"), "oldText": nil, "newText": "a new line\n"},
		}})
		s.AwaitChat("+ a new line")
		s.AwaitChat("Task three")
		s.OK(`require('acp').cancel()`)
		s.Await("all to be cancelled", func() bool { return strings.Count(s.Chat(), "■") == 3 })
		p.Expect("session/cancel")
		p.Update("tool_call_update", obj{"toolCallId": "one", "status": "completed"})
		p.Update("tool_call_update", obj{"toolCallId": "two", "status": "failed", "content": []obj{block(obj{"type": "text", "text": "STOP what you are doing"})}})
		s.AwaitChat("✓ ◦ tool   Task one")
		p.Refuse(turn, -32800, "Request cancelled", nil)
		s.AwaitEvent("AcpTurnEnd")
		s.AwaitChat("■ tool   Task two")
		s.AwaitChat("+ a new line")
		s.AwaitChat("■ Cancelled after")
		if chat := s.Chat(); strings.Contains(chat, "STOP") || strings.Contains(chat, "✗") {
			t.Errorf("the agent's words for what the user has cancelled:\n%s", chat)
		}
		s.AwaitChat("■ ◦ tool   Task three")
		statuses := s.Value(`vim.tbl_map(function(c) return c.status end, require('acp').tool_calls())`)
		check.Equal(t, fmt.Sprint(statuses), "[completed cancelled cancelled]", "the statuses are %s")
	})
}
