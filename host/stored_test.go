package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/labels"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// toldPuppet is puppet as the host has it of Lua.
var toldPuppet = AgentSpec(rpc.Decode[rpc.ListStored](map[string]any{"agent": puppetFields}).Agent)

// keepsSessions is an agent that lists the sessions which it keeps.
type keepsSessions struct {
	*asked
	list []session.Stored
	err  error
}

func (k *keepsSessions) ListSessions(archived bool, done func([]session.Stored, error)) func() {
	return k.request(map[bool]string{true: "list archived", false: "list"}[archived], func(error) { done(k.list, k.err) })
}

// The sessions that an agent keeps are listed with the titles and the archive that it does not keep itself.
func TestListingStoredSessions(t *testing.T) {
	all := []session.Stored{
		{SessionID: "a", Title: "Agent's", Cwd: "/p", UpdatedAt: "now", Directories: []string{"/q"}},
		{SessionID: "b", Title: "two\nlines"},
		{SessionID: "c", Title: "Agent's own"},
	}
	a, b, mine := "{a /p Agent's now [/q]}", "{b  two lines  []}", "{c  Mine  []}"
	only := []string{"7 [" + a + "] "}
	titles, archives := session.Info{Titles: true}, session.Info{Archives: true}
	refuses := &acp.Error{Message: "no"}
	for name, c := range map[string]struct {
		info     session.Info
		archived bool
		list     []session.Stored
		err      error
		asked    string
		told     []string
	}{
		"it keeps no labels":    {list: all, asked: "list", told: []string{"7 [" + a + " " + mine + "] "}},
		"the archived ones":     {archived: true, list: all, asked: "list", told: []string{"7 [" + b + "] "}},
		"it keeps titles":       {info: titles, list: all, asked: "list", told: []string{"7 [" + a + " {c  Agent's own  []}] "}},
		"it keeps archives":     {info: archives, list: all, asked: "list", told: []string{"7 [" + a + " " + b + " " + mine + "] "}},
		"those it has archived": {info: archives, archived: true, list: all[:1], asked: "list archived", told: only},
		"none":                  {asked: "list", told: []string{"7 [] "}},
		"it refuses":            {err: refuses, asked: "list", told: []string{"7 <nil> Puppet refused session/list: no."}},
		"it refuses the rest": {list: all[:1], err: refuses, asked: "list",
			told: []string{"warning: the list is incomplete. Puppet refused session/list: no.", "7 [" + a + "] "}},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{Data: data})
				must.Do(t, w.labels.Change("puppet", "b", func(l *labels.Label) { l.Archived = true }))
				must.Do(t, w.labels.Change("puppet", "c", func(l *labels.Label) { l.Title = "Mine" }))
				c.info.Lists = true
				process, agent := w.process(toldPuppet, c.info)
				process.adapter = &keepsSessions{agent, c.list, c.err}
				w.receive("list_stored", map[string]any{"agent": puppetFields, "cwd": "/", "callback": 7, "archived": c.archived})
				w.settle()
				agent.answer(nil)
				w.told(c.told...)
				if c.err == nil {
					agent.answer(nil)
				}
				time.Sleep(time.Minute)
				w.told() // once
				check.Slice(t, agent.take(), []string{c.asked}, "the agent was asked %q")
				check.Equal(t, process.holds, 1, "the process is held %d times")
				if len(c.list) > 0 {
					check.Slice(t, w.foldersOf("puppet", "a"), []string{"/p", "/q"}, "then its folders are %q")
					check.Slice(t, w.foldersOf("puppet", "b"), nil, "those of another are %q")
				}
			})
		})
	}
}

// Who asks for the sessions of an agent that has not begun is answered when it has, or told why it will not.
func TestListingTheSessionsOfAnAgentThatBegins(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		told string
	}{
		"it begins":    {nil, "7 [] "},
		"it refuses":   {&acp.Error{Message: "no"}, "7 <nil> Puppet refused initialize: no."},
		"it has ended": {acp.ErrClosed, "7 <nil> Puppet ended before it answered initialize."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{})
				process, agent := w.process(toldPuppet, session.Info{Lists: true})
				process.adapter, process.phase = &keepsSessions{asked: agent}, agentStarting
				w.receive("list_stored", map[string]any{"agent": puppetFields, "cwd": "/", "callback": 7})
				w.told()
				must.Equal(t, len(process.waiting), 1, "%d wait for its beginning")
				process.waiting[0](session.Info{}, c.err)
				w.settle()
				if c.err == nil {
					agent.answer(nil)
				}
				time.Sleep(time.Minute)
				w.told(c.told)
				check.Equal(t, len(agent.take()) == 0, c.err != nil, "that the agent was asked nothing is %t")
			})
		})
	}
}

// A stored session is resumed in the folders that the user names, or else in those in which it has worked, if these are
// known because it was listed, or from its transcript, or from its saved changes.
func TestFoldersOfAStoredSession(t *testing.T) {
	here, anywhere := rpc.New{Cwd: "/p"}, rpc.New{Cwd: "/p", Anywhere: true}
	named := rpc.New{Cwd: "/p", Directories: []string{"/q"}}
	for name, c := range map[string]struct {
		listed, transcript, saved []string
		ask                       rpc.New
		want                      string
	}{
		"nothing is known":             {ask: named, want: "/p /q"},
		"nothing is known or named":    {ask: anywhere, want: "/p"},
		"it was listed":                {listed: []string{"/p", "/a"}, ask: here, want: "/p /a"},
		"elsewhere":                    {listed: []string{"/o", "/a"}, ask: here, want: "/p"},
		"elsewhere, which is fine":     {listed: []string{"/o", "/a"}, ask: anywhere, want: "/o /a"},
		"the user names others":        {listed: []string{"/p", "/a"}, ask: named, want: "/p /q"},
		"its transcript tells":         {transcript: []string{"/p"}, ask: here, want: "/p /q"},
		"its transcript, of no folder": {transcript: []string{""}, saved: []string{"/s"}, ask: anywhere, want: "/s"},
		"its changes tell":             {saved: []string{"/s"}, ask: anywhere, want: "/s"},
		"its changes, of no folder":    {saved: []string{""}, ask: anywhere, want: "/p"},
		"all tell": {
			listed: []string{"/o"}, transcript: []string{"/p"}, saved: []string{"/s"},
			ask: anywhere, want: "/o",
		},
		"the transcript, not the saved": {transcript: []string{"/o"}, saved: []string{"/s"}, ask: anywhere, want: "/o /q"},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			for _, cwd := range c.transcript {
				file := strings.TrimPrefix(keepTranscript(t, data, "x", "go on", time.Now()), "acp://history/puppet/")
				file = filepath.Join(data, "transcripts", file+".jsonl")
				text, err := os.ReadFile(file)
				must.Do(t, err, os.WriteFile(file, []byte(strings.Replace(string(text), `"/p"`, `"`+cwd+`"`, 1)), 0o600))
			}
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{Data: data})
				for _, cwd := range c.saved {
					w.keepsChanges(saved.About{Agent: "puppet", Cwd: cwd, ID: "x"})
				}
				w.keepsChanges(saved.About{Agent: "puppet", Cwd: "/no", ID: "y"})
				w.keepsChanges(saved.About{Agent: "other", Cwd: "/no", ID: "x"})
				w.knowFolders("other", "x", []string{"/no"})
				if c.listed != nil {
					w.knowFolders("puppet", "x", c.listed)
				}
				c.ask.Agent.Name, c.ask.AgentSessionID = "puppet", "x"
				check.Equal(t, strings.Join(w.rootsOf(c.ask), " "), c.want, "it works in %q")
			})
		})
	}
}
