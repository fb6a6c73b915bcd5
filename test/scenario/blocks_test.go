package scenario

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/nvimtest"
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
func (s *scene) turn(p *puppet, text string) (end func()) {
	s.t.Helper()
	m := s.prompt(p, text)
	return func() {
		s.t.Helper()
		p.stop(m, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
	}
}

// toBlock puts the cursor of the chat's window on a line with a text.
func (s *scene) toBlock(text string) {
	s.t.Helper()
	s.Lua(nil, `vim.api.nvim_set_current_win(vim.fn.bufwinid(`+chatBuf+`))`)
	s.Command(`call cursor(1, 1) | call search('\V` + strings.ReplaceAll(text, "'", "''") + `', 'c')`)
	s.awaitCursor(text)
}

// blocksOfAllKinds is a chat with all that a block can show.
func (s *scene) blocksOfAllKinds() {
	s.t.Helper()
	s.folder("src/a.lua")
	s.write("src/a.lua", "one\ntwo\nthree\n")
	p := s.begin()
	end := s.turn(p, "Show your tools")
	p.update("tool_call", obj{
		"toolCallId": "prose", "title": "Ask the sub-agent", "kind": "think", "status": "in_progress",
		"content": texts("**Three** things:\n\n- one\n- two\n\n```lua\nlocal three = 3\n```\n"),
	})
	p.update("tool_call", obj{
		"toolCallId": "colours", "title": "make", "kind": "execute", "status": "completed",
		"content": texts("compiling\n\x1b[32mok\x1b[0m 1\n10%\r50%\r100%\nabc\b\bX\nend"),
	})
	p.update("tool_call", obj{
		"toolCallId": "long", "title": "make check", "kind": "execute", "status": "failed", "content": texts(lines(1, 5000)),
	})
	p.update("tool_call", obj{
		"toolCallId": "places", "title": "Look for calls", "kind": "search", "status": "completed",
		"locations": []obj{{"path": s.Dir + "/src/a.lua", "line": 2}, {"path": s.Dir + "/src/b.lua"}, {"path": "/etc/hosts", "line": 7}},
		"content":   texts("a.lua:2\nb.lua:1"),
	})
	p.update("tool_call", obj{
		"toolCallId": "resources", "title": "Fetch the manual", "kind": "fetch", "status": "in_progress", "content": []obj{
			block(obj{"type": "resource_link", "name": "the manual", "uri": "https://example.org/manual"}),
			block(obj{"type": "resource_link", "name": "a.lua", "uri": "file://" + s.Dir + "/src/a.lua#L3"}),
			block(obj{"type": "resource", "resource": obj{"uri": "file://" + s.Dir + "/src/a.lua", "text": "return 1\n"}}),
			block(obj{"type": "smell", "strength": 3}),
			{"type": "hologram"},
		},
	})
	p.update("tool_call", obj{"toolCallId": "odd", "title": "Dance", "kind": "_dance", "status": "_resting"})
	s.awaitChat("Dance")
	p.update("tool_call", obj{"toolCallId": "parent", "title": "Delegate", "kind": "think", "status": "in_progress"})
	for i, kind := range []string{"read", "edit"} {
		p.update("tool_call", obj{
			"toolCallId": kind, "title": "Child " + fmt.Sprint(i+1), "kind": kind, "status": "completed",
			"_meta": obj{"claudeCode": obj{"parentToolUseId": "parent"}},
		})
	}
	s.awaitChat("Child 2")
	_ = end
}

// blocks compares the screen without spinners and durations, and the blanks before those.
func (s *scene) blocks(name string) {
	s.t.Helper()
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
			each(t, func(t *testing.T, s *scene) {
				s.configure(`c.layout = { position = 'left', width = 0.7 }`)
				s.blocksOfAllKinds()
				s.Keys("<Esc>")
				s.toBlock("Show your tools")
				s.Keys("zt")
				s.blocks("top")
				s.Keys("G")
				s.blocks("end")
				for _, open := range []string{"Look for calls", "Delegate", "Dance"} {
					s.toBlock(open)
					s.Keys("zo")
				}
				s.awaitChat("/etc/hosts:7")
				s.Keys("zt")
				s.toBlock("Delegate")
				s.Keys("zc")
				s.awaitChat("+2 calls")
				if strings.Contains(s.chat(), "Child") {
					t.Error("a closed block shows what is below it")
				}
				s.toBlock("Look for calls")
				s.Keys("zt")
				s.blocks("opened")
			}, nvimtest.Size(size[0], size[1]))
		})
	}
}

// What does not fit goes: first what is counted, then the icon, then the end of the title.
func TestBlocksInANarrowWindow(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.configure(`c.layout = 'left'`)
		p := s.begin()
		end := s.turn(p, "Work")
		p.update("tool_call", obj{
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
				return strings.Contains(s.chat()+"\n", "\n"+step.want+"\n")
			})
		}
	}, nvimtest.Size(100, 24))
}

// A block that changes, or others around it, leaves the cursor on its line, at its place on the
// screen.
func TestBlocksChangeAroundTheCursor(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		end := s.turn(p, "Run all three")
		output := func(id string, from, to int) {
			p.update("tool_call_update", obj{"toolCallId": id, "content": texts(lines(from, to-from+1))})
		}
		for _, id := range []string{"above", "inside", "below"} {
			p.update("tool_call", obj{"toolCallId": id, "title": "run " + id, "kind": "execute", "status": "in_progress"})
			output(id, 1, 30)
		}
		p.say(strings.Repeat("text\n", 40))
		s.Keys("<Esc>")
		s.awaitChat("text\ntext")
		for _, id := range []string{"above", "inside"} {
			s.toBlock("  " + id)
			s.Keys("zo")
			s.Await("the block "+id+" to open", func() bool {
				_, rest, _ := strings.Cut(s.chat(), "  "+id)
				return strings.Contains(rest[:min(200, len(rest))], "line 5\n")
			})
		}
		s.toBlock("  inside")
		s.Keys("/line 20$<CR>zz")
		s.awaitCursor("    line 20")
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
				_, rest, _ := strings.Cut(s.chat(), "  "+step.id)
				body, _, _ := strings.Cut(rest, "\n  ▸")
				return strings.Contains(body+"\n", "    "+step.last+"\n") && !strings.Contains(body+"\n", fmt.Sprintf(" line %d\n", step.to+1))
			})
			s.Redraw()
			if after := s.LuaString(place); after != before {
				t.Errorf("%v moves the cursor from %q to %q", step, before, after)
			}
		}
		// Its line is gone: it stays near, in its block.
		output("inside", 1, 5)
		s.Await("the block to shrink", func() bool { return !strings.Contains(s.chat(), "    line 6\n") })
		s.Redraw()
		s.awaitCursor("    line 5")
		s.Keys("zc")
		s.awaitCursor("run    inside")
		end()
	})
}

// One line of half a megabyte is shown by its beginning, and whole, in pieces, in a split.
func TestBlocksOfHugeLines(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		end := s.turn(p, "Print it")
		p.update("tool_call", obj{
			"toolCallId": "a", "title": "cat bundle.js", "kind": "execute", "status": "completed", "content": texts(strings.Repeat("0123456789", 50_000)),
		})
		p.update("tool_call", obj{
			"toolCallId": "b", "title": "Fetch the list", "kind": "fetch", "status": "completed",
			"content": texts(`[` + strings.Repeat(`{"name":"n","list":[1,2]},`, 20_000) + `{}]`),
		})
		p.update("tool_call", obj{
			"toolCallId": "c", "title": "seq 100000", "kind": "execute", "status": "completed", "content": texts(lines(1, 100_000)),
		})
		end()
		s.Keys("<Esc>")
		s.toBlock("seq 100000")
		s.Keys("zR")
		s.awaitChat("+98000 lines")
		s.awaitChat("+486.3 KB")
		if n := s.LuaInt(`math.max(unpack(vim.tbl_map(string.len, vim.api.nvim_buf_get_lines(` + chatBuf + `, 0, -1, false))))`); n > 2100 {
			t.Errorf("a line of %d bytes is in the chat", n)
		}
		for _, whole := range []struct {
			block, filetype string
			lines, longest  int
		}{
			{"cat bundle.js", "", 250, 2000}, {"the list", "", 140_003, 40}, {"seq 100000", "", 100_000, 20},
		} {
			s.toBlock(whole.block)
			s.Keys("gO")
			s.AwaitLua(`vim.b.acp_filled and vim.api.nvim_buf_get_name(0):match('^acp://block/')`)
			if n := s.LuaInt(`vim.api.nvim_buf_line_count(0)`); n != whole.lines {
				t.Errorf("%s is %d lines, want %d", whole.block, n, whole.lines)
			}
			if n := s.LuaInt(`vim.fn.max(vim.tbl_map(string.len, vim.api.nvim_buf_get_lines(0, 0, -1, false)))`); n > whole.longest {
				t.Errorf("%s has a line of %d bytes", whole.block, n)
			}
			s.Keys("q")
			s.AwaitLua(`vim.bo.filetype == 'acp-chat' and #vim.api.nvim_list_wins() == 3`)
		}
	})
}

func TestBlockIsOpenedWhole(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		p := s.begin()
		end := s.turn(p, "Work **well**")
		p.update("tool_call", obj{
			"toolCallId": "d", "title": "Change a", "kind": "edit", "status": "completed",
			"content":  []obj{{"type": "diff", "path": s.Dir + "/a.txt", "oldText": lines(1, 9), "newText": lines(1, 10)}},
			"rawInput": obj{"file": "a.txt"},
		})
		p.update("tool_call", obj{"toolCallId": "j", "title": "Ask", "kind": "other", "status": "completed", "content": texts(`{"a":[1,2]}`)})
		p.update("tool_call", obj{
			"toolCallId": "m", "title": "Two things", "kind": "execute", "status": "completed", "content": texts("\x1b[31mred\x1b[0m", "# Head"),
		})
		end()
		s.Keys("<Esc>")
		for _, whole := range []struct{ block, filetype, want string }{
			{"Change a", "diff", "--- a/a.txt"}, {"Ask", "json", "  \"a\": ["}, {"Two things", "", "── Text"}, {"Work **well**", "markdown", "Work **well**"},
		} {
			s.toBlock(whole.block)
			s.Keys("gO")
			s.AwaitLua(`vim.b.acp_filled and vim.bo.filetype == ...`, whole.filetype)
			s.Await(whole.want, func() bool { return strings.Contains(s.buffer(0), whole.want) })
			s.AwaitLua(`not vim.bo.modifiable and vim.bo.buftype == 'nofile' and vim.bo.bufhidden == 'wipe'`)
			s.Keys("q")
			s.AwaitLua(`vim.bo.filetype == 'acp-chat'`)
		}
	})
}

func TestBlockIsInspected(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		p := s.begin()
		end := s.turn(p, "Work")
		p.update("tool_call", obj{
			"toolCallId": "call-7", "title": "Change a", "kind": "edit", "status": "completed", "name": "Edit",
			"locations": []obj{{"path": s.Dir + "/a.txt", "line": 3}, {"path": "/etc/hosts"}},
			"rawInput":  obj{"command": "make", "env": []obj{{"name": "A", "value": "1"}}, "text": "one\ntwo\n", "none": nil, "empty": obj{}},
			"rawOutput": obj{"exit": 0}, "_meta": obj{"vendor": obj{"cost": 0.5}},
		})
		end()
		s.Keys("<Esc>")
		s.toBlock("Work")
		s.Keys("K")
		s.awaitNotification("there is no tool call here")
		s.toBlock("Change a")
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
	each(t, func(t *testing.T, s *scene) {
		s.folder("src/a.lua")
		s.write("src/a.lua", lines(1, 30))
		s.write("src/b.lua", lines(1, 30))
		p := s.begin()
		end := s.turn(p, "Work")
		p.update("tool_call", obj{
			"toolCallId": "a", "title": "Look", "kind": "search", "status": "completed", "content": texts("found"),
			"locations": []obj{{"path": s.Dir + "/src/a.lua", "line": 4}, {"path": s.Dir + "/src/b.lua", "line": 9}},
		})
		p.update("tool_call", obj{
			"toolCallId": "b", "title": "Change", "kind": "edit", "status": "completed", "content": []obj{
				{"type": "diff", "path": s.Dir + "/src/a.lua", "oldText": lines(1, 30), "newText": strings.Replace(lines(1, 30), "line 20\n", "new\n", 1)},
			},
		})
		p.update("tool_call", obj{
			"toolCallId": "c", "title": "Link", "kind": "move", "status": "completed", "content": []obj{
				block(obj{"type": "resource_link", "name": "the link", "uri": "file://" + s.Dir + "/src/b.lua#L12-14"}),
			},
		})
		s.awaitChat("the link")
		end()
		s.Keys("<Esc>")
		s.toBlock("Look")
		s.Keys("zo")
		s.awaitChat("    src/b.lua:9")
		for _, step := range []struct{ at, want string }{
			{"Look", "a.lua:4:1"}, {"    src/b.lua:9", "b.lua:9:1"}, {"+ new", "a.lua:20:1"}, {"line 22", "a.lua:22:1"}, {"the link", "b.lua:12:1"},
		} {
			s.toBlock(step.at)
			s.Keys("gd")
			s.AwaitLua(position+` == ...`, step.want)
		}
	})
}

// pixel is a picture.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestBlockPicturesAreFiles(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
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
		p := s.begin()
		end := s.turn(p, "Draw")
		p.say("Look:\n")
		p.update("agent_message_chunk", obj{"content": obj{"type": "image", "mimeType": "image/png", "data": pixel}})
		p.update("tool_call", obj{
			"toolCallId": "a", "title": "screenshot", "kind": "other", "status": "completed", "content": []obj{
				block(obj{"type": "image", "mimeType": "image/png", "data": pixel}),
				block(obj{"type": "audio", "mimeType": "audio/wav", "data": base64.StdEncoding.EncodeToString([]byte("RIFF"))}),
				block(obj{"type": "image", "mimeType": "image/png", "data": "%%% no base64"}),
			},
		})
		s.awaitChat("[image image/png 70 bytes] ")
		end()
		s.AwaitLua(`#_G.shown == 2`)
		dir := s.LuaString(`vim.fs.joinpath(vim.fn.stdpath('cache'), 'acp')`)
		var shown []struct {
			Path string `msgpack:"path"`
			Row  int    `msgpack:"row"`
		}
		s.Lua(&shown, `_G.shown`)
		for _, picture := range shown {
			line := s.LuaString(`vim.api.nvim_buf_get_lines(`+chatBuf+`, ... - 1, ..., false)[1]`, picture.Row)
			if !strings.Contains(line, picture.Path) || filepath.Dir(picture.Path) != dir {
				t.Errorf("%+v is shown at %q", picture, line)
			}
			info, err := os.Stat(picture.Path)
			if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 70 {
				t.Errorf("the file is %v (%v)", info, err)
			}
		}
		s.awaitChat("could not be saved")
		s.Keys("<Esc>")
		s.toBlock("screenshot")
		s.Keys("zo")
		s.awaitChat("[audio audio/wav 4 bytes] ")
		s.Keys("/audio<CR>gd")
		s.AwaitLua(`_G.opened and _G.opened:match('%.wav$')`)
		s.toBlock("screenshot")
		s.Keys("zc")
		s.AwaitLua(`_G.closed >= 1`)
		s.Lua(nil, `vim.api.nvim_buf_delete(`+chatBuf+`, { force = true })`)
		s.AwaitLua(`_G.closed == #_G.shown`) // each of them, also those drawn anew
	})
}

// Calls that the agent leaves unfinished show as cancelled at once, with what they had told. That one
// is done counts, that one failed does not; nor does "request cancelled", the agent's answer.
func TestBlocksAreCancelled(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "Work")
		for _, id := range []string{"one", "two", "three"} {
			p.update("tool_call", obj{"toolCallId": id, "title": "Task " + id, "kind": "other", "status": "in_progress"})
		}
		p.update("tool_call_update", obj{"toolCallId": "two", "content": []obj{
			{"type": "diff", "path": filepath.Join(s.Dir, "new.txt"), "oldText": nil, "newText": "a new line\n"},
		}})
		s.awaitChat("+ a new line")
		s.awaitChat("Task three")
		s.ok(`require('acp').cancel()`)
		s.Await("all to be cancelled", func() bool { return strings.Count(s.chat(), "■") == 3 })
		p.expect("session/cancel")
		p.update("tool_call_update", obj{"toolCallId": "one", "status": "completed"})
		p.update("tool_call_update", obj{"toolCallId": "two", "status": "failed", "content": []obj{block(obj{"type": "text", "text": "STOP what you are doing"})}})
		s.awaitChat("✓ ◦ tool   Task one")
		p.refuse(turn, -32800, "Request cancelled", nil)
		s.AwaitEvent("AcpTurnEnd")
		s.awaitChat("■ tool   Task two")
		s.awaitChat("+ a new line")
		s.awaitChat("■ Cancelled after")
		if chat := s.chat(); strings.Contains(chat, "STOP") || strings.Contains(chat, "✗") {
			t.Errorf("the agent's words for what the user has cancelled:\n%s", chat)
		}
		s.awaitChat("■ ◦ tool   Task three")
		statuses := s.value(`vim.tbl_map(function(c) return c.status end, require('acp').tool_calls())`)
		if got := fmt.Sprint(statuses); got != "[completed cancelled cancelled]" {
			t.Errorf("the statuses are %s", got)
		}
	})
}

func TestToolCallsOfTheAPI(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		end := s.turn(p, "Work")
		long := strings.Repeat("ä", 4096)
		p.update("tool_call", obj{
			"toolCallId": "a", "title": "Work", "kind": "edit", "status": "completed", "rawInput": obj{"a": []int{1, 2}, "b": nil}, "rawOutput": "done",
			"locations": []obj{{"path": "/x", "line": 2}, {"path": "/y"}},
			"content": []obj{
				block(obj{"type": "text", "text": long}), {"type": "diff", "path": "/x", "newText": "new"},
				{"type": "terminal", "terminalId": "t-1"}, {"type": "hologram"},
			},
		})
		end()
		got := s.value(`require('acp').tool_calls()[1]`).(obj)
		content := got["content"].([]any)
		var types []string
		for _, item := range content {
			types = append(types, item.(obj)["type"].(string))
		}
		if want := "content diff terminal hologram"; strings.Join(types, " ") != want {
			t.Errorf("the types are %q, want %q", types, want)
		}
		if text := content[0].(obj)["text"].(string); len(text) != 4096 || !strings.HasPrefix(long, text) {
			t.Errorf("the text has %d bytes", len(text))
		}
		if d := content[1].(obj); d["path"] != "/x" || d["text"] != "new" || content[2].(obj)["terminal_id"] != "t-1" {
			t.Errorf("the content is %v", content[1:])
		}
		if l := fmt.Sprint(got["locations"]); l != "[map[line:2 path:/x] map[path:/y]]" || got["raw_input"] != nil {
			t.Errorf("got %v", got)
		}
		s.ok(`require('acp').tool_call(nil, 'a', function(c) _G.call = c end)`)
		s.AwaitLua(`_G.call`)
		if in := s.value(`{ _G.call.raw_input.a, _G.call.raw_output, #_G.call.content[1].text }`); fmt.Sprint(in) != "[[1 2] done 8192]" {
			t.Errorf("the whole one has %v", in)
		}
	})
}
