package traffic

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// heard is a client that hears notifications.
type heard chan string

func (h heard) HandleNotification(method string, _ json.RawMessage) { h <- method }
func (h heard) HandleRequest(r *acp.Request)                        { r.ReplyError(acp.ErrMethodNotFound(r.Method)) }

// talk connects with an agent, and exchanges a notification of each side.
func talk(t *testing.T, kept *acp.Traffic) {
	t.Helper()
	fromAgent, agentOut := io.Pipe()
	agentIn, toAgent := io.Pipe()
	h := make(heard, 1)
	conn := acp.NewConn(fromAgent, toAgent, h, acp.WithTraffic(kept))
	go func() { _, _ = io.WriteString(agentOut, `{"jsonrpc":"2.0","method":"said"}`+"\n") }()
	check.Equal(t, must.Receive(t, "what the agent says", h), "said", "it says %s")
	must.Do(t, conn.Notify("asked", nil))
	_, err := agentIn.Read(make([]byte, 1))
	must.Do(t, err, agentIn.Close(), agentOut.Close())
	must.Receive(t, "the end", conn.Done())
}

// What was said with an agent is kept, and from when the user wants that on it is in a file too.
func TestEntriesOfAnAgent(t *testing.T) {
	kept := New()
	talk(t, kept.Agent("puppet"))
	kept.Agent("puppet").Note(json.RawMessage(`"said"`), "it is unknown")
	words := func(agent, file string) (lines []string) {
		t.Helper()
		list, err := kept.Entries(agent, file)
		must.Do(t, err)
		for _, e := range list {
			lines = append(lines, strings.TrimSpace(e.Dir+" "+e.Msg+" "+e.Note))
		}
		return lines
	}
	const said, asked = `a2c {"jsonrpc":"2.0","method":"said"}`, `c2a {"jsonrpc":"2.0","method":"asked"}`
	check.Slice(t, words("puppet", ""), []string{said + " it is unknown", asked}, "kept is %q")
	check.Slice(t, words("other", ""), nil, "of another agent %q is kept")

	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	file, link := must.Write(t, dir, "traffic.jsonl", "what was there before\n"), filepath.Join(dir, "link")
	must.Do(t, os.Symlink(file, link))
	check.Equal(t, kept.Records(file), false, "before, it is recorded to: %v")
	_, err = kept.Entries("puppet", dir)
	check.Contains(t, err.Error(), "record traffic: open "+dir, "a folder: %s")
	check.Slice(t, words("puppet", link), []string{said + " it is unknown", asked}, "kept is %q")
	check.Equal(t, kept.Records(file), true, "the file is recorded to: %v")
	check.Equal(t, kept.Records(link), false, "the link is recorded to: %v")
	talk(t, kept.Agent("puppet"))
	must.Become(t, "all messages in the file", func() bool {
		text, err := os.ReadFile(file)
		must.Do(t, err)
		return strings.Count(string(text), "\n") == 4 && strings.Count(string(text), "asked") == 2
	})
	before, err := os.ReadFile(file)
	must.Do(t, err)
	_, err = kept.Entries("puppet", file)
	check.Equal(t, err.Error(), "record traffic: already recording", "recorded twice: %s")
	after, err := os.ReadFile(file)
	must.Do(t, err)
	check.Equal(t, string(after), string(before), "a second time, the file becomes %q")
}
