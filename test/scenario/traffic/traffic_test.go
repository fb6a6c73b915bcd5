package traffic

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// tour plays the demo agent's tour in the session used last.
func tour(s *scene.Scene) {
	s.T.Helper()
	s.OK(`require('acp').prompt('tour')`)
	for range 2 {
		s.AwaitEvent("AcpPermissionRequest")
		s.Command("Acp permit 1")
		s.AwaitEvent("AcpPermissionResolved")
	}
	if end := s.AwaitEvent("AcpTurnEnd"); end["stop_reason"] != "end_turn" {
		s.T.Errorf("the tour ended with %v", end)
	}
}

func sample(s *scene.Scene) {
	s.T.Helper()
	s.WriteFile("README.md", "# Sample\n\nA sample project.\n")
	s.WriteFile("test.sh", "echo one\necho two\n")
}

func TestDemoTour(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		sample(s)
		s.Command("edit README.md")
		s.Command("Acp new demo")
		s.Keys("itour<C-s>")
		s.AwaitScreen("wants to edit")
		s.GoldenScreen("edit")
		s.Command("Acp permit 1")
		s.AwaitScreen("wants to run a command")
		s.Command("Acp permit 1")
		s.AwaitEvent("AcpTurnEnd")
		s.GoldenScreen("done")
		check.Contains(t, s.ReadFile(filepath.Join(s.Dir, "README.md")), "was here", "the file is %q")
	}, scene.Wide)
}

func TestTrafficIsReadable(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "hello")
		p.Say("Hi.")
		p.EndTurn(turn)
		s.Command("Acp traffic")
		s.AwaitLua(`vim.bo.filetype == 'acp-traffic'`)
		text := s.BufferText(s.LuaInt(`vim.api.nvim_get_current_buf()`))
		rest := text
		for _, want := range []string{
			"→", "request 1 initialize", `"protocolVersion":1`, "←", "answer to 1", "request 2 session/new",
			"request 3 session/prompt", `"text":"hello"`, "notification session/update agent_message_chunk",
			"answer to 3", `"stopReason":"end_turn"`,
		} {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Fatalf("%q is not in, or not in its place in\n%s", want, text)
			}
			rest = after
		}
	})
}

// What cannot be read is told where one looks for it: what was left out, and why.
func TestMalformedUpdatesAreTold(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		p := s.Begin()
		turn := s.Prompt(p, "hello")
		for range 2 {
			p.Notify("session/update", obj{"sessionId": scene.SessionID(1), "update": obj{"sessionUpdate": "tool_call", "toolCallId": 7}})
		}
		p.Say("Hi.")
		p.EndTurn(turn)
		s.Command("Acp traffic")
		s.AwaitLua(`vim.bo.filetype == 'acp-traffic'`)
		text := s.BufferText(s.LuaInt(`vim.api.nvim_get_current_buf()`))
		if n := strings.Count(text, "left out: update.toolCallId: expected a string, got a number"); n != 2 {
			t.Errorf("%d messages are said to be left out in\n%s", n, text)
		}
		log, err := os.ReadFile(s.LuaString(`require('acp.rpc.host').log_file()`))
		if n := strings.Count(string(log), "update.toolCallId: expected a string, got a number"); err != nil || n != 1 {
			t.Errorf("the log says %d times why (%v):\n%s", n, err, log)
		}
		s.OnceInChat("malformed tool_call: update.toolCallId: expected a string, got a number ×2")
	})
}

func TestTrafficFileReplayed(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		sample(s)
		s.OK(`require('acp').new({ agent = 'demo' })`)
		s.AwaitEvent("AcpSessionReady")
		s.Command("Acp traffic record.jsonl")
		s.AwaitMessage("record.jsonl")
		tour(s)
		s.OK(`require('acp').prompt('text')`)
		s.AwaitEvent("AcpTurnEnd")
		s.Sync()
		want := s.Chat()
		s.Command("Acp close")
		s.AwaitEvent("AcpSessionClosed")
		validateTraffic(s, "record.jsonl")

		sample(s) // as it was
		s.Lua(nil, `local c = vim.g.acp
			c.agents.replay = { title = 'Demo', command = { c.host.command[1], 'replay', 'record.jsonl' } }
			require('acp').setup(c)`)
		s.OK(`require('acp').new({ agent = 'replay' })`)
		s.AwaitEvent("AcpSessionReady")
		tour(s)
		s.OK(`require('acp').prompt('text')`)
		s.AwaitEvent("AcpTurnEnd")
		s.Sync()
		if got := s.Chat(); untimed(got) != untimed(want) {
			t.Errorf("the replayed chat is\n%s\nnot\n%s", got, want)
		}
	})
}

// untimed is a chat without its durations.
func untimed(chat string) string {
	for _, digit := range "123456789" {
		chat = strings.ReplaceAll(chat, string(digit), "0")
	}
	return chat
}

// validateTraffic checks all that the client said in a traffic file.
func validateTraffic(s *scene.Scene, name string) {
	s.T.Helper()
	text, err := os.ReadFile(filepath.Join(s.Dir, name))
	must.Do(s.T, err)
	asked := map[string]string{}
	var said []scene.Message
	for line := range strings.Lines(string(text)) {
		var entry struct {
			Dir string
			Msg scene.Message
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			s.T.Fatalf("%v: %s", err, line)
		}
		entry.Msg.Line = []byte(line)
		if entry.Dir == "c2a" {
			said = append(said, entry.Msg)
		} else if entry.Msg.Method != "" && entry.Msg.ID != nil {
			asked[string(entry.Msg.ID)] = entry.Msg.Method
		}
	}
	if len(said) < 8 {
		s.T.Errorf("the file has %d messages of the client:\n%s", len(said), text)
	}
	scene.Validate(s.T, said, asked, 1)
}
