package scenario

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
)

// recordedEntry is a line of a traffic file.
type recordedEntry struct {
	Dir string  `json:"dir"`
	Msg message `json:"msg"`
}

// action is what the user did in a recording.
type action struct {
	prompt string // sent this
	stop   string // and the turn ended so
	option string // or, without a prompt, answered a permission request with this option
}

// readRecording gives what the user did, in its order, and the files that the agent read.
func readRecording(t *testing.T, path string) (did []action, files map[string]string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	files = map[string]string{}
	prompts := map[string]int{}   // our requests, by id: the action
	asked := map[string]message{} // the agent's requests, by id
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			return did, files
		}
		var e recordedEntry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %v: %s", path, err, line)
		}
		m, id := e.Msg, string(e.Msg.ID)
		switch {
		case e.Dir == "a2c" && m.Method != "":
			asked[id] = m
		case e.Dir == "a2c":
			if i, ok := prompts[id]; ok {
				did[i].stop = m.text("stopReason")
			}
		case m.Method == "session/prompt":
			prompts[id] = len(did)
			blocks, _ := m.get("prompt").([]any)
			first, _ := blocks[0].(obj)
			text, _ := first["text"].(string)
			did = append(did, action{prompt: text})
		case m.Method == "" && asked[id].Method == "session/request_permission":
			did = append(did, action{option: m.text("outcome", "optionId")})
		case m.Method == "" && asked[id].Method == "fs/read_text_file" && m.Error == nil:
			name := strings.TrimPrefix(asked[id].text("path"), "/project/")
			if _, known := files[name]; !known {
				files[name] = m.text("content")
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
			each(t, func(t *testing.T, s *scene) { s.replay(path, did, files) }, wide)
		})
	}
}

func (s *scene) replay(path string, did []action, files map[string]string) {
	s.t.Helper()
	// Commands are run for real: those of the demo agent are the sample's.
	if err := os.CopyFS(s.Dir, os.DirFS("../sample")); err != nil {
		s.t.Fatal(err)
	}
	for name, text := range files {
		s.write(name, text)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Lua(nil, `local host, file = ...
		local c = vim.g.acp
		c.agents.replay = { title = 'Replay', command = { host, 'replay', file } }
		c.agent = 'replay'
		vim.g.acp = c`, host, absolute)
	s.Command("Acp")
	s.AwaitEvent("AcpSessionReady")
	var turns []action
	for _, a := range did {
		if a.prompt == "" {
			s.AwaitEvent("AcpPermissionRequest")
			s.awaitFloat()
			s.ok(`require('acp').respond(require('acp').permissions()[1].id, ...)`, a.option)
			continue
		}
		s.ok(`require('acp').prompt(...)`, a.prompt) // queued while a turn runs, as the next is then
		turns = append(turns, a)
		if a.stop == "" {
			s.t.Fatalf("the recording ends within the turn of %q", a.prompt)
		}
	}
	for _, a := range turns {
		s.awaitTurnEnd(a.stop)
	}
	s.goldenChat(strings.TrimSuffix(path, ".jsonl") + ".txt")
}

// goldenChat compares the chat's lines with a file, without what differs from run to run.
func (s *scene) goldenChat(path string) {
	s.t.Helper()
	got := strings.ReplaceAll(s.chat(), s.Dir, "/project")
	got = regexp.MustCompile(`\d+(\.\d)? s\b`).ReplaceAllString(got, "0.0 s") + "\n"
	got = regexp.MustCompile(`\n?\n  ● .*(\n|$)`).ReplaceAllString(got, "\n") // as `review` says
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			s.t.Fatalf("write golden chat: %v", err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatalf("read golden chat: %v", err)
	}
	if got != string(want) {
		s.t.Errorf("the chat is not that of %s (-update rewrites it):\n%s", path, udiff.Unified("golden", "chat", string(want), got))
	}
}
