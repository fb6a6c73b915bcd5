package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/history"
	"github.com/acp-nvim/acp-nvim/host/labels"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// keepTranscript puts a transcript of a session of puppet's into the data, in which the user has asked for something.
func keepTranscript(t *testing.T, data, id, prompt string, at time.Time) (path string) {
	t.Helper()
	name := history.Open("").Name(history.About{Agent: "puppet", ID: id})
	about := fmt.Sprintf(`{"format":1,"agent":"puppet","agent_title":"Puppet","cwd":"/p","session":%q,"directories":["/q"]}`, id)
	said := fmt.Sprintf(`{"t":%d,"is":"prompt","of":{"prompt":[{"text":%q}]}}`, at.UnixMilli(), prompt)
	file := must.Write(t, data, "transcripts/"+name+".jsonl", about+"\n"+said+"\n")
	must.Do(t, os.Chtimes(file, at, at))
	return "acp://history/puppet/" + name
}

// The kept transcripts are listed, searched and shown, the latest first, under the titles that the user has given them.
func TestKeptTranscripts(t *testing.T) {
	data := t.TempDir()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	first := keepTranscript(t, data, "one", "mend the parser", at)
	second := keepTranscript(t, data, "two", "write a\nparser", at.Add(time.Hour))
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Data: data})
		ask := func(what method, fields map[string]any, want ...string) {
			t.Helper()
			fields["callback"] = 7
			w.receive(what, fields)
			w.told(want...)
		}
		two := "{two /p write a parser 2026-01-02T04:04:05Z [/q]} puppet Puppet"
		one := func(title string) string { return "{one /p " + title + " 2026-01-02T03:04:05Z [/q]} puppet Puppet" }
		ask("list_history", map[string]any{}, "7 [{"+two+" "+second+"} {"+one("mend the parser")+" "+first+"}] ")
		ask("list_saved", map[string]any{}, "7 [{"+two+" 0 false} {"+one("mend the parser")+" 0 false}] ")
		ask("search_history", map[string]any{"text": "the pars"},
			"7 [{one puppet /p 2026-01-02T03:04:05Z 5 "+first+" ## mend the parser mend the parser}] ")
		ask("show_history", map[string]any{"buf": 3, "path": first + "0"}, "7 <nil> this transcript is no longer kept")
		shown := "buffer 3: # A session with Puppet||*Puppet · /p · " + at.Local().Format("2006-01-02 15:04") + "*||" +
			"## mend the parser||> **Error:** Cut short: Neovim, or the host, was killed."
		ask("show_history", map[string]any{"buf": 3, "path": first}, "7 {"+one("mend the parser")+" "+first+"} ", shown)

		must.Do(t, w.labels.Change("puppet", "one", func(l *labels.Label) { l.Title = "Mine" }))
		ask("list_history", map[string]any{}, "7 [{"+two+" "+second+"} {"+one("Mine")+" "+first+"}] ")
		ask("list_saved", map[string]any{}, "7 [{"+two+" 0 false} {"+one("Mine")+" 0 false}] ")
		ask("show_history", map[string]any{"buf": 3, "path": first}, "7 {"+one("Mine")+" "+first+"} ", shown)
		ask("search_history", map[string]any{"text": "mend"},
			"7 [{one puppet /p 2026-01-02T03:04:05Z 5 "+first+" ## mend the parser Mine}] ")
	})
}

// A conversation is kept with its agent and its folders, unless the user wants no history.
func TestWhatIsKeptOfAConversation(t *testing.T) {
	for unkept, want := range map[bool]string{false: "7 [{{a / go on NOW [/q]} puppet Puppet PATH}] ", true: "7 [] "} {
		data := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{Data: data})
			w.receive("set_rules", map[string]any{"unkept": unkept})
			_, agent := w.process(puppet, session.Info{Directories: true})
			s := w.add(1, puppet)
			s.on(func() {
				s.base.Roots = []string{"/", "/q"}
				s.start()
			})
			synctest.Wait()
			agent.answer(nil)
			synctest.Wait()
			s.on(func() { s.apply(session.TurnStart{Prompt: []session.Content{session.Text{Text: "go on"}}}) })
			w.receive("list_history", map[string]any{"callback": 7})
			w.settle()
			told := strings.Join(w.nvim.take(), "\n")
			list, _ := w.nvim.result.([]rpc.Transcript)
			for _, one := range list {
				told = strings.NewReplacer(one.UpdatedAt, "NOW", one.Path, "PATH").Replace(told)
			}
			check.Equal(t, told, want, "Neovim is told %q")
		})
	}
}

// A session is written as Markdown into a file, or told as text; a file that is there stays until the user says so.
func TestExportOfASession(t *testing.T) {
	folder := t.TempDir()
	file := must.Write(t, folder, "there", "")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s := w.add(1, puppet)
		export := func(path string, replace bool, want string) {
			t.Helper()
			w.receive("export", map[string]any{"session": 1, "callback": 7, "path": path, "replace": replace})
			w.settle()
			told := strings.Join(w.nvim.take(), "\n")
			check.Equal(t, strings.ReplaceAll(told, folder, "FOLDER"), "7 "+want, "the user is told %q")
		}
		export("", false, "<nil> nothing has been said in this session yet")
		s.on(func() { s.apply(session.TurnStart{Prompt: []session.Content{session.Text{Text: "go on"}}}) })
		text := "# A session with Puppet\n\n*Puppet · / · " + time.Now().Format("2006-01-02 15:04") + "*\n\n## go on\n"
		export("", false, "{ "+text+"} ")
		export(file, false, "<nil> FOLDER/there already exists. :Acp export! overwrites it")
		export(file, true, "{FOLDER/there } ")
		export(filepath.Join(file, "no"), true, "<nil> FOLDER/there/no could not be written: not a directory")
		data, err := os.ReadFile(file)
		must.Do(t, err)
		check.Equal(t, string(data), text, "the file has %q")
	})
}

// With the first session the old transcripts are removed.
func TestOldTranscriptsAreRemoved(t *testing.T) {
	data := t.TempDir()
	file := func(id string, at time.Time) string {
		name := strings.TrimPrefix(keepTranscript(t, data, id, "go on", at), "acp://history/puppet/")
		return filepath.Join(data, "transcripts", name+".jsonl")
	}
	old, fresh := file("old", time.Now().AddDate(0, -2, 0)), file("fresh", time.Now())
	w := newOutside(t, Options{Data: data})
	w.receive("new", map[string]any{"session": 1, "agent": puppetFields, "cwd": t.TempDir()})
	must.Become(t, "the end of the old one", func() bool {
		_, err := os.Stat(old)
		return err != nil
	})
	_, err := os.Stat(fresh)
	must.Do(t, err)
}
