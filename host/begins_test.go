package host

import (
	"encoding/base64"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/labels"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// opens has Lua open a session whose agent is not installed.
func (w *world) opens(id int, fields map[string]any) *Session {
	w.t.Helper()
	m := map[string]any{"session": id, "agent": puppetFields, "cwd": w.t.TempDir()}
	for k, v := range fields {
		m[k] = v
	}
	w.receive("new", m)
	s := w.session(id)
	must.Become(w.t, "the end of the session", func() bool { return strings.Contains(s.told(), missing) })
	return s
}

// What the user has to do without is a warning in the first chat.
func TestFoldersThatCannotBeWrittenAreTold(t *testing.T) {
	file := must.Write(t, t.TempDir(), "file", "")
	w := newOutside(t, Options{Data: filepath.Join(file, "acp")})
	s := w.opens(1, nil)
	check.Equal(t, s.told(), file+" cannot be written: running without saved data.\n"+missing, "the first chat says %q")
	s.on(func() {
		said, _ := s.conv.Entries[0].(*session.NoticeEntry)
		check.Equal(t, said.Severity, "warning", "it is of severity %q")
	})
	check.Equal(t, w.opens(2, nil).told(), missing, "the second chat says %q")
	check.Equal(t, newOutside(t, Options{}).opens(1, nil).told(), missing, "where there is nothing to tell the chat says %q")
}

// userSaid is what the user has said in the chat.
func (s *Session) userSaid() (list []string) {
	s.on(func() {
		for _, e := range s.conv.Entries {
			if m, ok := e.(*session.Message); ok && m.Role == session.RoleUser {
				list = append(list, m.Text())
			}
		}
	})
	return list
}

// A stored session begins with what was said in it, if the chat does not have that already, where it has worked, and with
// what Lua knows of it; a fork begins in the folders of its session.
func TestWhatASessionBeginsWith(t *testing.T) {
	data := t.TempDir()
	keepTranscript(t, data, "x", "mend the parser", time.Now())
	w := newOutside(t, Options{Data: data})
	agent := maps.Clone(puppetFields)
	agent["cwd"] = "/" // as there is no /p
	all := map[string]any{
		"agent": agent, "agent_session_id": "x", "cwd": "/", "anywhere": true, "title": "Named", "queue": []any{"later"},
	}
	for retold, said := range map[bool][]string{false: {"mend the parser"}, true: nil} {
		all["retold"] = retold
		s := w.opens(len(w.sessions)+1, all)
		check.Slice(t, s.userSaid(), said, "the user has said %q")
		check.Slice(t, s.base.Roots, []string{"/p", "/q"}, "its folders are %q")
		s.on(func() {
			check.Equal(t, s.conv.Title, "Named", "its title is %q")
			check.Slice(t, s.prompts.Queued(), []string{"later"}, "there wait %q")
			check.Equal(t, s.opening.Stored(), "x", "it is %q")
		})
	}
	s := w.opens(3, map[string]any{"cwd": "/"})
	check.Slice(t, s.base.Roots, []string{"/"}, "the folders of a new one are %q")
	check.Equal(t, s.opening.Stored(), "", "a new one is %q")

	w.receive("new", map[string]any{"session": 4, "agent": puppetFields, "cwd": "/", "fork": 1})
	fork := w.session(4)
	must.Become(t, "the end of the fork", func() bool { return fork.told() == "Puppet is not ready yet\n" })
	check.Slice(t, fork.base.Roots, []string{"/p", "/q"}, "the folders of a fork are %q")
}

// A session that is taken up has the title that the user has given it, and is no longer archived.
func TestLabelsOfASessionThatIsTakenUp(t *testing.T) {
	w := newOutside(t, Options{Data: t.TempDir()})
	for _, id := range []string{"x", "y"} {
		must.Do(t, w.labels.Change("puppet", id, func(l *labels.Label) { l.Title, l.Archived = "Mine", true }))
	}
	resumed := map[string]any{"agent_session_id": "x", "title": "Agent's"}
	s := w.opens(1, resumed)
	s.on(func() {
		s.bring(session.InfoUpdate{Title: acp.Set("Agent's")})
		check.Equal(t, s.conv.Title, "Mine", "its title is %q")
	})
	must.Become(t, "the end of its archiving", func() bool { return !w.labels.Of("puppet", "x").Archived })
	check.Equal(t, w.labels.Of("puppet", "x").Title, "Mine", "the title that is kept is %q")
	check.Equal(t, w.labels.Of("puppet", "y").Archived, true, "that another one is archived is %t")
	resumed["agent_session_id"] = "z"
	s = w.opens(2, resumed)
	check.Equal(t, s.conv.Title, "Agent's", "the title of one without a label is %q")
}

// With the first session old records of changes are removed.
func TestOldRecordsAreRemoved(t *testing.T) {
	data := t.TempDir()
	old := must.Write(t, data, "records/"+strings.Repeat("0", 64), "x")
	long := time.Now().AddDate(-1, 0, 0)
	must.Do(t, os.Chtimes(old, long, long))
	newOutside(t, Options{Data: data}).opens(1, nil)
	must.Become(t, "the end of the old one", func() bool {
		_, err := os.Stat(old)
		return err != nil
	})
}

// A picture that the agent sends becomes a file, of which Neovim is told; if it cannot, the chat says so.
func TestPicturesOfAnAgent(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	w := newOutside(t, Options{Cache: cache})
	s := w.opens(1, nil)
	path := s.saveBlob("image/png", base64.StdEncoding.EncodeToString([]byte("a picture")))
	var images []string
	must.Become(t, "the picture", func() bool {
		w.nvim.mu.Lock()
		defer w.nvim.mu.Unlock()
		images = w.nvim.images
		return len(images) > 0
	})
	check.Slice(t, images, []string{path}, "Neovim is told of %q")
	text, err := os.ReadFile(path)
	must.Do(t, err)
	check.Equal(t, string(text), "a picture", "the file has %q")

	must.Do(t, os.RemoveAll(cache))
	must.Write(t, filepath.Dir(cache), "cache", "")
	s.saveBlob("image/png", base64.StdEncoding.EncodeToString([]byte("another")))
	const failed = "A file of Puppet could not be saved: "
	must.Become(t, "a word about another", func() bool { return strings.Contains(s.told(), failed) })
	s.on(func() {
		said, _ := s.conv.Entries[len(s.conv.Entries)-1].(*session.NoticeEntry)
		check.Equal(t, said.Severity, "warning", "it is of severity %q")
	})
}
