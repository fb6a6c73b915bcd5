package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

func TestToolCallsOfTheAPI(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		end := turn(s, p, "Work")
		long := strings.Repeat("ä", 4096)
		p.Update("tool_call", obj{
			"toolCallId": "a", "title": "Work", "kind": "edit", "status": "completed", "rawInput": obj{"a": []int{1, 2}, "b": nil}, "rawOutput": "done",
			"locations": []obj{{"path": "/x", "line": 2}, {"path": "/y"}},
			"content": []obj{
				block(obj{"type": "text", "text": long}), {"type": "diff", "path": "/x", "newText": "new"},
				{"type": "terminal", "terminalId": "t-1"}, {"type": "hologram"},
			},
		})
		end()
		got := s.Value(`require('acp').tool_calls()[1]`).(obj)
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
		s.OK(`require('acp').tool_call(nil, 'a', function(c) _G.call = c end)`)
		s.AwaitLua(`_G.call`)
		if in := s.Value(`{ _G.call.raw_input.a, _G.call.raw_output, #_G.call.content[1].text }`); fmt.Sprint(in) != "[[1 2] done 8192]" {
			t.Errorf("the whole one has %v", in)
		}
	})
}

func TestToolCallsOfAllKindsAndStatuses(t *testing.T) {
	scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "use the tools")
		kinds := []string{
			"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other", "_dance",
		}
		for _, kind := range kinds {
			p.Update("tool_call", obj{"toolCallId": kind, "title": "Title of " + kind, "kind": kind, "status": "completed"})
		}
		for _, status := range []string{"pending", "in_progress", "completed", "failed"} {
			p.Update("tool_call", obj{"toolCallId": status, "title": "It is " + status, "kind": "fetch"})
			p.Update("tool_call_update", obj{"toolCallId": status, "status": status})
		}
		p.Update("tool_call", obj{
			"toolCallId": "diff", "title": "Change two lines", "kind": "edit", "status": "completed",
			"locations": []obj{{"path": s.Dir + "/src/a.lua", "line": 2}},
			"content": []obj{
				{"type": "diff", "path": s.Dir + "/src/a.lua", "oldText": "one\ntwo\nthree\n", "newText": "one\n2\nthree\n"},
			},
		})
		p.Update("tool_call", obj{
			"toolCallId": "output", "title": "`make`", "kind": "execute", "status": "failed",
			"content": []obj{{"type": "content", "content": obj{"type": "text", "text": scene.Lines(1, 20)}}},
		})
		// What nobody has announced is a call all the same.
		p.Update("tool_call_update", obj{"toolCallId": "late", "title": "Unannounced", "status": "in_progress"})
		s.AwaitChat("Unannounced")
		s.GoldenScreen("running")
		// Not on that screen: beside its status the time comes when it has taken a second.
		p.Update("tool_call", obj{"toolCallId": "_odd", "title": "It is _odd", "kind": "fetch", "status": "_odd"})
		s.AwaitScreen(" _odd ")
		p.EndTurn(turn)
		s.GoldenScreen("done")

		var calls []obj
		s.Lua(&calls, `require('acp').tool_calls()`)
		must.Equal(t, len(calls), len(kinds)+5+3, "there are %d calls")
		for i, kind := range kinds {
			if calls[i]["id"] != kind || calls[i]["kind"] != kind || calls[i]["title"] != "Title of "+kind {
				t.Errorf("call %d is %v", i, calls[i])
			}
		}
		check.Equal(t, s.CountEvents("AcpToolCall"), len(calls), "%d calls were told of")
		check.Equal(t, s.CountEvents("AcpToolCallEnd"), len(calls), "%d calls were told to have ended")
	}, scene.Wide)
}

func TestToolCallsHaveTheFieldsOfTheContract(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "use a tool")
		long := strings.Repeat("0123456789", 1000)
		p.Update("tool_call", obj{
			"toolCallId": "c", "title": "Change it", "kind": "edit", "status": "completed",
			"locations": []obj{{"path": "/a/b.txt", "line": 7}, {"path": "/c"}},
			"rawInput":  obj{"path": "/a/b.txt"}, "rawOutput": obj{"ok": true},
			"content": []obj{
				{"type": "content", "content": obj{"type": "text", "text": long}},
				{"type": "diff", "path": "/a/b.txt", "oldText": "old", "newText": "new"},
			},
		})
		if e := s.AwaitEvent("AcpToolCall"); e["id"] != "c" || e["session"] != 1 {
			t.Errorf("told is %v", e)
		}
		if e := s.AwaitEvent("AcpToolCallEnd"); e["id"] != "c" || e["status"] != "completed" {
			t.Errorf("told is %v", e)
		}
		p.Stop(turn, "end_turn")
		got := fmt.Sprint(s.Value(`require('acp').tool_calls(1)`))
		short := strings.ReplaceAll(got, long[:4096], "LONG")
		want := "[map[content:[map[block:text text:LONG type:content] map[old_text:old operation:modify path:/a/b.txt text:new type:diff]] id:c " +
			"kind:edit locations:[map[line:7 path:/a/b.txt] map[path:/c]] status:completed title:Change it]]"
		check.Equal(t, short, want, "the calls are\n%.400s")
		s.Lua(nil, `require('acp').tool_call(1, 'c', function(call) _G.call = call end)`)
		s.AwaitLua(`_G.call`)
		check.Equal(t, s.LuaString(`_G.call.content[1].text`), long, "the whole call is not whole: %v")
		check.Equal(t, s.LuaString(`_G.call.raw_input.path`), "/a/b.txt", "the raw input is %q")
	})
}
