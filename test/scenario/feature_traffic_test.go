package scenario

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tour plays the demo agent's tour in the session used last.
func (s *scene) tour() {
	s.t.Helper()
	s.ok(`require('acp').prompt('tour')`)
	for range 2 {
		s.AwaitEvent("AcpPermissionRequest")
		s.Command("Acp permit 1")
		s.AwaitEvent("AcpPermissionResolved")
	}
	if end := s.AwaitEvent("AcpTurnEnd"); end["stop_reason"] != "end_turn" {
		s.t.Errorf("the tour ended with %v", end)
	}
}

func (s *scene) sample() {
	s.t.Helper()
	s.write("README.md", "# Sample\n\nA sample project.\n")
	s.write("test.sh", "echo one\necho two\n")
}

func TestDemoTour(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.sample()
		s.Command("edit README.md")
		s.Command("Acp new demo")
		s.Keys("itour<C-s>")
		s.AwaitScreen("wants to edit")
		s.screen("edit")
		s.Command("Acp permit 1")
		s.AwaitScreen("wants to run a command")
		s.Command("Acp permit 1")
		s.AwaitEvent("AcpTurnEnd")
		s.screen("done")
		if got := s.file(filepath.Join(s.Dir, "README.md")); !strings.Contains(got, "was here") {
			t.Errorf("the file is %q", got)
		}
	}, wide)
}

func TestTrafficIsReadable(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		p := s.begin()
		turn := s.prompt(p, "hello")
		p.say("Hi.")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Command("Acp traffic")
		s.AwaitLua(`vim.bo.filetype == 'acp-traffic'`)
		text := s.buffer(s.LuaInt(`vim.api.nvim_get_current_buf()`))
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

func TestTrafficFileReplayed(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.sample()
		s.ok(`require('acp').new({ agent = 'demo' })`)
		s.AwaitEvent("AcpSessionReady")
		s.Command("Acp traffic record.jsonl")
		s.awaitMessage("record.jsonl")
		s.tour()
		s.ok(`require('acp').prompt('text')`)
		s.AwaitEvent("AcpTurnEnd")
		s.synced()
		want := s.chat()
		s.Command("Acp close")
		s.AwaitEvent("AcpSessionClosed")
		s.validateTraffic("record.jsonl")

		s.sample() // as it was
		s.Lua(nil, `local c = vim.g.acp
			c.agents.replay = { title = 'Demo', command = { c.host.command[1], 'replay', 'record.jsonl' } }
			require('acp').setup(c)`)
		s.ok(`require('acp').new({ agent = 'replay' })`)
		s.AwaitEvent("AcpSessionReady")
		s.tour()
		s.ok(`require('acp').prompt('text')`)
		s.AwaitEvent("AcpTurnEnd")
		s.synced()
		if got := s.chat(); untimed(got) != untimed(want) {
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
func (s *scene) validateTraffic(name string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	asked := map[string]string{}
	var said []message
	for line := range strings.Lines(string(text)) {
		var entry struct {
			Dir string
			Msg message
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			s.t.Fatalf("%v: %s", err, line)
		}
		entry.Msg.line = []byte(line)
		if entry.Dir == "c2a" {
			said = append(said, entry.Msg)
		} else if entry.Msg.Method != "" && entry.Msg.ID != nil {
			asked[string(entry.Msg.ID)] = entry.Msg.Method
		}
	}
	if len(said) < 8 {
		s.t.Errorf("the file has %d messages of the client:\n%s", len(said), text)
	}
	validate(s.t, said, asked)
}
