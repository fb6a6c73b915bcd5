package traffic

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// Real agents ask for permission with the text that they then write: one question, not two.
func TestRecordedAgentsAreNotAskedAboutTwice(t *testing.T) {
	for _, name := range []string{"gemini-edit", "sdk-turns", "demo-tour"} {
		t.Run(name, func(t *testing.T) {
			path := "testdata/recordings/" + name + ".jsonl"
			did, files := readRecording(t, path)
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				s.Configure(`c.review = 'before'`)
				replay(s, path, did, files)
			}, scene.Wide)
		})
	}
}

// recordedEntry is a line of a traffic file.
type recordedEntry struct {
	Dir string        `json:"dir"`
	Msg scene.Message `json:"msg"`
}

// action is what the user did in a recording, or what they waited for: one of these.
type action struct {
	resume string // took up the session with this id, rather than beginning one
	prompt string // sent this
	option string // answered a permission request with this option
	answer string // answered a question with this, as JSON
	cancel string // cancelled the turn: while a "request" was open, or no more than the "turn"
	stop   string // the turn ended so
}

// readRecording gives what the user did, in its order, and the files that the agent read.
func readRecording(t *testing.T, path string) (did []action, files map[string]string) {
	t.Helper()
	f, err := os.Open(path)
	must.Do(t, err)
	defer f.Close()
	files = map[string]string{}
	prompts := map[string]bool{}        // our requests that are open, by id
	asked := map[string]scene.Message{} // the agent's requests that are open, by id
	ours := ""                          // the session's id
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			if n := len(did); n == 0 || did[n-1].stop == "" && did[n-1].resume == "" {
				t.Fatalf("%s ends within a turn", path)
			}
			return did, files
		}
		var e recordedEntry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v: %s", path, err, line)
		}
		m, id := e.Msg, string(e.Msg.ID)
		switch {
		case m.Text("update", "state") == "idle" && m.Text("update", "stopReason") != "": // version 2 ends a turn so
			if m.Text("sessionId") == ours { // else it is a sub-agent's
				did = append(did, action{stop: m.Text("update", "stopReason")})
			}
		case e.Dir == "a2c" && m.Method != "":
			asked[id] = m
		case e.Dir == "a2c":
			reason := m.Text("stopReason")
			switch {
			case m.Error != nil && m.Error.Code == -32800: // the prompt was not taken
				reason = "cancelled"
			case m.Error != nil:
				reason = "error"
			}
			if prompts[id] && reason != "" {
				did = append(did, action{stop: reason})
			}
		case m.Method == "session/resume":
			ours = m.Text("sessionId")
			did = append(did, action{resume: ours})
		case m.Method == "session/prompt":
			prompts[id], ours = true, m.Text("sessionId")
			blocks, _ := m.Get("prompt").([]any)
			first, _ := blocks[0].(obj)
			text, _ := first["text"].(string)
			did = append(did, action{prompt: text})
		case m.Method == "session/cancel":
			did = append(did, action{cancel: "turn"})
			for _, request := range asked {
				if request.Method == "session/request_permission" {
					did[len(did)-1].cancel = "request"
				}
			}
		case m.Method == "" && asked[id].Method == "session/request_permission":
			if option := m.Text("outcome", "optionId"); option != "" { // else the cancel has answered
				did = append(did, action{option: option})
			}
			delete(asked, id)
		case m.Method == "" && asked[id].Method == "elicitation/create":
			did = append(did, action{answer: string(m.Result)})
		case m.Method == "" && asked[id].Method == "fs/read_text_file" && m.Error == nil:
			name := strings.TrimPrefix(asked[id].Text("path"), "/project/")
			if _, known := files[name]; !known {
				files[name] = m.Text("content")
			}
		}
	}
}

// TestReplay plays recordings of real agents into Neovim: what the user did is done again, and the
// chat must be the golden one beside the recording.
func TestReplay(t *testing.T) {
	recordings, err := filepath.Glob("testdata/recordings/*.jsonl")
	if err != nil || len(recordings) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, path := range recordings {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".jsonl"), func(t *testing.T) {
			did, files := readRecording(t, path)
			scene.Each(t, func(t *testing.T, s *scene.Scene) { replay(s, path, did, files) }, scene.Wide)
		})
	}
}

func replay(s *scene.Scene, path string, did []action, files map[string]string) {
	s.T.Helper()
	// Commands are run for real: those of the demo agent are the sample's.
	must.Do(s.T, os.CopyFS(s.Dir, os.DirFS("../../sample")))
	for name, text := range files {
		s.WriteFile(name, text)
	}
	absolute, err := filepath.Abs(path)
	must.Do(s.T, err)
	s.Lua(nil, `local host, file = ...
		local c = vim.g.acp
		c.agents.replay = { title = 'Replay', command = { host, 'replay', file }, protocol = 2 }
		c.agent = 'replay'
		vim.g.acp = c`, scene.Host, absolute)
	if did[0].resume != "" {
		s.OK(`require('acp').resume({ agent = 'replay', agent_session_id = ... })`, did[0].resume)
		did = did[1:]
	} else {
		s.Command("Acp")
	}
	s.AwaitEvent("AcpSessionReady")
	for i, a := range did {
		switch {
		case a.cancel != "":
			if s.AwaitEvent("AcpTurnStart"); a.cancel == "request" {
				s.AwaitEvent("AcpPermissionRequest")
			}
			s.OK(`require('acp').cancel()`)
		case a.answer != "":
			s.AwaitEvent("AcpElicitation")
			s.OK(`require('acp').answer(require('acp').elicitations()[1].id, vim.json.decode(...))`, a.answer)
		case a.option != "":
			s.AwaitEvent("AcpPermissionRequest")
			s.AwaitFloat()
			s.OK(`require('acp').respond(require('acp').permissions()[1].id, ...)`, a.option)
		case a.prompt != "":
			s.OK(`require('acp').prompt(...)`, a.prompt) // queued while a turn runs, as the next is then
		default:
			s.AwaitTurnEnd(a.stop)
			if a.stop == "cancelled" && i+1 < len(did) && s.LuaInt(`require('acp').sessions()[1].queued or 0`) > 0 {
				s.OK(`require('acp').prompt('')`) // has the queue go on
			}
		}
	}
	goldenChat(s, strings.TrimSuffix(path, ".jsonl")+".txt")
}

// goldenChat compares the chat's lines with a file, without what differs from run to run.
func goldenChat(s *scene.Scene, path string) {
	s.T.Helper()
	got := strings.ReplaceAll(s.Chat(), s.Dir, "/project")
	got = regexp.MustCompile(`\d+(\.\d)? s\b`).ReplaceAllString(got, "0.0 s") + "\n"
	got = regexp.MustCompile(`\n?\n  ● .*(\n|$)`).ReplaceAllString(got, "\n") // as `review` says
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			s.T.Fatalf("write golden chat: %v", err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.T.Fatalf("read golden chat: %v", err)
	}
	if got != string(want) {
		s.T.Errorf("the chat is not that of %s (-update rewrites it):\n%s", path, udiff.Unified("golden", "chat", string(want), got))
	}
}
