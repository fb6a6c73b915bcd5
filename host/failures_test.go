package host

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/history"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// transcriptX is the name of the transcript of puppet's session x.
var transcriptX = history.Open("").Name(history.About{Agent: "puppet", ID: "x"})

// inData fills the folder of the data and the transcript's name into a text.
func inData(data, text string) string {
	return strings.NewReplacer("DATA", data, "TRANSCRIPT", "transcripts/"+transcriptX+".jsonl").Replace(text)
}

// missing is what the chat says of puppet, which is not installed.
const missing = "Puppet is not installed: /puppet does not exist or is not executable.\n"

// What goes wrong where the user is told less, or nothing, is in the log.
func TestWhatTheLogSays(t *testing.T) {
	deleted := map[string]any{"agent": puppetFields, "cwd": "/", "agent_session_id": "x", "callback": 7}
	for name, c := range map[string]struct {
		file, text string // what is in the data
		send       method
		fields     map[string]any
		log        string
		told       string // how it begins
	}{
		"no transcripts for a list": {file: "transcripts", send: "list_saved", fields: map[string]any{"callback": 7},
			log: "DATA/transcripts: not a directory", told: "7 [] "},
		"no transcript to forget": {file: "transcripts", send: "delete_stored", fields: deleted,
			log: "remove a transcript: remove DATA/transcripts", told: "7 true "},
		"no saved changes to forget": {file: "records", send: "delete_stored", fields: deleted,
			log: "DATA/records", told: "7 true "},
		"no list to install from": {send: "install_agent", fields: map[string]any{"id": "none", "url": "http://here", "callback": 7},
			log: "http://here is not reached over https", told: "7 <nil> "},
		"an agent that is half installed": {file: "agents/gemini/current.json", text: "{",
			send: "list_agents", fields: map[string]any{"callback": 7}, log: "read what is installed of gemini: ", told: "7 {"},
		"a buffer that cannot be compared": {send: "compare", fields: map[string]any{"name": "/file"},
			log: `msg="compare a buffer with the disk" err="compare /file: buffers.`},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Data: t.TempDir()}
			if c.file != "" {
				must.Write(t, o.Data, c.file, c.text)
			}
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, o)
				_, agent := w.process(AgentSpec(rpc.Decode[rpc.DeleteStored](deleted).Agent), session.Info{Deletes: true})
				w.receive(c.send, c.fields)
				w.settle()
				if agent.answer != nil {
					agent.answer(nil)
					w.settle()
				}
				check.Contains(t, w.log.String(), inData(o.Data, c.log), "the log says %s")
				if got := strings.Join(w.nvim.take(), "\n"); !strings.HasPrefix(got, c.told) {
					t.Errorf("Neovim is told %q; want %q", got, c.told)
				}
			})
		})
	}
}

// A session whose transcript cannot be read, or not all of it, is resumed without; the chat or the log says so.
func TestResumingWithoutATranscript(t *testing.T) {
	const first = `{"format":1,"agent":"puppet","session":"x"}` + "\n"
	for name, c := range map[string]struct {
		file, text string // what is in the data
		log        string
		told       string
	}{
		"it cannot be read": {file: "transcripts", log: "read a transcript: open DATA/TRANSCRIPT: not a directory"},
		"it is of no session": {file: "TRANSCRIPT", text: "{}\n",
			log: "read the transcript DATA/TRANSCRIPT: its first line does not name its session"},
		"lines of it cannot be read": {file: "TRANSCRIPT", text: first + "no\nno\n",
			log: `msg="lines of a transcript cannot be read" session=1 lines=2`},
		"a newer version keeps it": {file: "TRANSCRIPT", text: strings.Replace(first, "1", "99", 1),
			told: "A newer version of the plugin keeps this transcript: the chat shows what the agent repeats.\n"},
		"its folders are not known": {file: "records", log: "DATA/records",
			told: "The pending review of this session could not be read; :Acp log says why.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Data: t.TempDir()}
			must.Write(t, o.Data, inData("", c.file), c.text)
			w := newOutside(t, o)
			w.receive("new", map[string]any{"session": 1, "agent": puppetFields, "cwd": t.TempDir(), "agent_session_id": "x"})
			s := w.session(1)
			must.Become(t, "the end of the session", func() bool {
				return strings.Contains(s.told(), missing) && strings.Contains(s.told(), c.told)
			})
			check.Contains(t, w.log.String(), inData(o.Data, c.log), "the log says %s")
		})
	}
}

// A session that is restarted while its transcript is read begins once.
func TestARestartWhileATranscriptIsRead(t *testing.T) {
	w := newOutside(t, Options{Data: t.TempDir()})
	reads := make(chan struct{})
	w.history.ReadLater("puppet", "x", w.background, func(history.Past, error) { <-reads })
	w.receive("new", map[string]any{"session": 1, "agent": puppetFields, "cwd": t.TempDir(), "agent_session_id": "x"})
	w.receive("restart", map[string]any{"session": 1})
	s := w.session(1)
	check.Equal(t, s.told(), missing, "before it was read the chat says %q")
	read := make(chan struct{})
	w.history.ReadLater("puppet", "x", w.background, func(history.Past, error) { close(read) })
	close(reads)
	<-read
	check.Equal(t, s.told(), missing, "when it was read the chat says %q")
}

// A number that Lua gives twice stays with the first session.
func TestASessionThatIsOpenAlready(t *testing.T) {
	w := newOutside(t, Options{})
	fields := map[string]any{"session": 1, "agent": puppetFields, "cwd": t.TempDir()}
	w.receive("new", fields)
	s := w.session(1)
	w.receive("new", fields)
	check.Equal(t, w.session(1), s, "the session is %p")
	check.Contains(t, w.log.String(), `msg="open a session" id=1 err="the id is taken, or the host ends"`, "the log says %s")
}

// The kept transcripts are listed though a session is just closing.
func TestListingTranscriptsWhileASessionCloses(t *testing.T) {
	data := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Data: data})
		s := w.add(1, puppet)
		s.on(s.close)
		w.sessions[1] = s
		w.receive("list_history", map[string]any{"callback": 7})
		w.told("7 [] ")
	})
}

// That transcripts cannot be kept is said once, in all chats.
func TestTranscriptsThatCannotBeKept(t *testing.T) {
	data := t.TempDir()
	must.Write(t, data, "transcripts", "a file where the folder should be")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Data: data})
		s, _ := w.ready(session.Info{})
		for range 2 {
			s.on(func() {
				s.record(nil)
				s.apply(session.TurnStart{Prompt: []session.Content{session.Text{Text: "go on"}}})
			})
			w.flushHistory()
		}
		w.told("warning: this session is not kept: not a directory")
		check.Equal(t, s.told(), "This session is not kept for :Acp resume and :Acp search: not a directory.\n", "the chat says %q")
	})
}
