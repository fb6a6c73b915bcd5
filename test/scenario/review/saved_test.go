package review

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// kept is the store of the host's.
func kept(s *scene.Scene) *checkpoint.Store {
	return checkpoint.Open(filepath.Join(s.Data, "nvim", "acp"))
}

// awaitSaved waits until the disk has of a session what is wanted: its pending changes, all its files and the
// comments that are not sent.
func awaitSaved(s *scene.Scene, st *checkpoint.Store, session string, changes, files, comments int) {
	s.T.Helper()
	var last string
	s.Await(fmt.Sprintf("%s to be saved with %d changes, %d files, %d comments", session, changes, files, comments), func() bool {
		list, err := saved.List(st)
		must.Do(s.T, err)
		at := slices.IndexFunc(list, func(e saved.Entry) bool { return e.ID == session })
		if at < 0 {
			return false
		}
		was, err := saved.Load(st, list[at].Key(), 64<<20)
		if err != nil {
			last = err.Error()
			return false
		}
		last = fmt.Sprint(was.About.Changes, len(was.Record.Files()), len(was.Comments))
		return last == fmt.Sprint(changes, files, comments)
	})
}

// after ends this Neovim in a way and starts the next one.
func after(s *scene.Scene, way string, agents ...*scene.Puppet) *scene.Scene {
	s.T.Helper()
	switch way {
	case "closed":
		s.OK(`require('acp').close()`)
		s.AwaitEvent("AcpSessionClosed")
		s.Quit()
	case "quit":
		s.Quit()
	case "host killed":
		s.KillHost()
		s.AwaitLua(`require('acp').sessions()[1].state == 'dead'`)
		s.Quit()
	case "Neovim killed":
		s.Kill()
	}
	for _, p := range agents {
		scene.AwaitAfterEnd(s.T, "the agent's end", p.Ended)
	}
	return s.Next()
}

// takesUp has an agent take up a session, which it was told to.
func takesUp(s *scene.Scene, p *scene.Puppet, session string) {
	s.T.Helper()
	p.Initialize(scene.KeepsSessions(true, "resume"))
	load := p.Expect("session/load")
	if load.Text("sessionId") != session || load.Text("cwd") != s.Dir {
		s.T.Errorf("loaded %s", load)
	}
	p.Replay(session)
	p.Reply(load, nil)
	s.AwaitEvent("AcpSessionReady")
}

// changesFile has the agent change a file: through its client, or past it.
func changesFile(p *scene.Puppet, past bool, path, text string) {
	p.T.Helper()
	if !past {
		p.WriteFile(path, text)
		return
	}
	named(p, p.Scene, "edit "+text, "edit", obj{"locations": []any{obj{"path": path}}}, path)
	must.Do(p.T, os.WriteFile(path, []byte(text), 0o666))
	p.Finish("edit "+text, nil)
}

// TestChangesWaitForTheNextNeovim has a session end with a hunk kept, one pending and a comment that is not
// sent. They are found again by the next Neovim, and by the one after that.
func TestChangesWaitForTheNextNeovim(t *testing.T) {
	for _, c := range []struct {
		way  string
		past bool
	}{{"closed", false}, {"quit", true}, {"host killed", false}, {"host killed", true}, {"Neovim killed", false}, {"Neovim killed", true}} {
		t.Run(fmt.Sprint(c.way, map[bool]string{false: ", through the client", true: ", past it"}[c.past]), func(t *testing.T) {
			scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
				path := s.WriteFile("code.txt", "1\n2\n3\n4\n5\n6\n7\n")
				st := kept(s)
				p := s.BeginWith(scene.KeepsSessions(true, "resume"))
				turn := s.Prompt(p, "Mend the\ncode")
				changesFile(p, c.past, path, "1\ntwo\n3\n4\n5\nsix\n7\n")
				p.EndTurn(turn)
				s.OK(`require('acp').keep({ path = 'code.txt', hunk = 1 })`)
				s.Await("kept", func() bool { return allChanges(s) == "modified code.txt -2,1+2,1 kept -6,1+6,1\n" })
				s.Command("Acp review")
				comment(s, "+ six", "why six")
				awaitSaved(s, st, scene.SessionID(1), 1, 1, 1)

				s = after(s, c.way, p)
				s.RecordNotifications()
				s.Command("Acp review")
				s.AwaitNotification(`acp: "Mend the code" of Puppet has 1 change to review: :Acp resume s-1`)
				s.Command("Acp resume s-1")
				p = s.Agent()
				takesUp(s, p, scene.SessionID(1))
				s.AwaitChat("1 change of this session waits for your review: :Acp review shows it. 1 comment of yours has not been sent: :Acp review send sends it.")
				if chat := s.Chat(); strings.Index(chat, "Answered long ago.") > strings.Index(chat, "1 change of this session") {
					t.Errorf("what waits is not below what was said:\n%s", chat)
				}
				s.Await("the review", func() bool { return allChanges(s) == "modified code.txt -2,1+2,1 kept -6,1+6,1\n" })
				s.Command("Acp review")
				awaitPage(s, "↳ you: why six")
				// What comes now is beside what was there.
				turn = s.Prompt(p, "more")
				changesFile(p, c.past, path, "1\ntwo\n3\nfour\n5\nsix\n7\n")
				p.EndTurn(turn)
				s.Await("the new change", func() bool { return allChanges(s) == "modified code.txt -2,1+2,1 kept -4,1+4,1 -6,1+6,1\n" })
				awaitSaved(s, st, scene.SessionID(1), 2, 1, 1)

				s = after(s, c.way, p)
				s.Command("Acp resume s-1")
				p = s.Agent()
				takesUp(s, p, scene.SessionID(1))
				s.AwaitChat("2 changes in 1 file of this session wait for your review: :Acp review shows them.")
				s.Await("the review", func() bool { return allChanges(s) == "modified code.txt -2,1+2,1 kept -4,1+4,1 -6,1+6,1\n" })
				s.OK(`require('acp').reject({ path = 'code.txt', hunk = 3 })`)
				s.Await("rejected", func() bool { return s.ReadOrNone(path) == "1\ntwo\n3\nfour\n5\n6\n7\n" })
				s.OK(`require('acp').undo_turn()`)
				s.Await("the last turn undone", func() bool { return s.ReadOrNone(path) == "1\ntwo\n3\n4\n5\n6\n7\n" })
				s.Command("Acp review send")
				turn, got := p.Prompted()
				if !strings.HasPrefix(got, "My comments on your changes:\n\ncode.txt:6\n```diff\n+six\n```\nwhy six\n") {
					t.Errorf("the agent was told\n%s", got)
				}
				p.EndTurn(turn)
				awaitSaved(s, st, scene.SessionID(1), 0, 1, 0)

				s = after(s, c.way, p)
				s.RecordNotifications()
				s.Command("Acp review")
				s.AwaitNotification("there is no session. :Acp new starts one")
			})
		})
	}
}

// comment comments on the line of the review that has a text.
func comment(s *scene.Scene, line, words string) {
	s.T.Helper()
	onPage(s, line)
	s.Keys("c")
	s.AwaitLua(`vim.bo.filetype == 'acp-comment'`)
	s.Keys(words + "<C-s>")
	awaitPage(s, "↳ you: "+words)
}

// pending has a session in which the first of two hunks waits, and gives its agent and the file.
func pending(s *scene.Scene, extra obj) (p *scene.Puppet, path string) {
	s.T.Helper()
	path = s.WriteFile("code.txt", "1\n2\n3\n4\n5\n6\n7\n")
	p = s.BeginWith(extra)
	turn := s.Prompt(p, "edit")
	p.WriteFile(path, "1\ntwo\n3\n4\n5\nsix\n7\n")
	p.EndTurn(turn)
	s.OK(`require('acp').keep({ path = 'code.txt', hunk = 2 })`)
	awaitSaved(s, kept(s), scene.SessionID(1), 1, 1, 0)
	return p, path
}

// TestResumeOffersTheSessionsOfAllAgents has one agent's session of this folder saved, and another be the default one.
func TestResumeOffersTheSessionsOfAllAgents(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.AddAgent("other")
		pending(s, scene.KeepsSessions(true, "resume", "list"))
		s = after(s, "quit")
		other := s.AddAgent("other")
		s.Configure(`c.agent = 'other'`)
		s.Choose("never")
		s.Command("Acp resume")
		p := s.Agent() // the one with saved changes
		p.Initialize(scene.KeepsSessions(true, "resume", "list"))
		p.Reply(p.Expect("session/list"), obj{"sessions": []any{
			obj{"sessionId": "s-0", "cwd": s.Dir, "title": "An old one", "updatedAt": "2026-01-02T03:04:05Z"},
			obj{"sessionId": scene.SessionID(1), "cwd": s.Dir, "title": "The edit", "updatedAt": "2026-01-03T03:04:05Z"},
		}})
		q := s.AgentOf(other)
		q.Initialize(scene.KeepsSessions(true, "list"))
		q.Reply(q.Expect("session/list"), obj{"sessions": []any{
			obj{"sessionId": "o-1", "cwd": s.Dir, "title": "Of the other", "updatedAt": "2026-01-02T04:04:05Z"},
			obj{"sessionId": "o-2", "cwd": "/elsewhere", "title": "Elsewhere", "updatedAt": "2100-01-02T04:04:05Z"},
		}})
		var got []string
		for _, item := range s.Offered(1) {
			parts := strings.Split(fmt.Sprint(item), " · ")
			got = append(got, parts[0]+" of "+parts[1])
		}
		if want := []string{"The edit of Puppet", "Of the other of Other", "An old one of Puppet", "Elsewhere of Other"}; !slices.Equal(got, want) {
			t.Errorf("offered are %q", got)
		}
		s.RecordNotifications()
		s.Command("Acp review")
		s.AwaitNotification(`acp: "edit" of Puppet has 1 change to review: :Acp resume s-1`)
		s.Choose("1 change to review")
		s.Command("Acp resume")
		list := p.Expect("session/list")
		// One that has saved changes is offered also where its agent does not tell of it.
		p.Reply(list, obj{"sessions": []any{}})
		q.Reply(q.Expect("session/list"), obj{"sessions": []any{obj{"sessionId": "o-1", "cwd": s.Dir}}})
		load := p.Expect("session/load")
		if load.Text("sessionId") != scene.SessionID(1) || load.Text("cwd") != s.Dir {
			t.Errorf("loaded %s", load)
		}
		p.Reply(load, nil)
		s.AwaitEvent("AcpSessionReady")
		s.AwaitChat("1 change of this session waits for your review")
		if got := s.Session(); got["agent"] != "puppet" || got["title"] != "edit" {
			t.Errorf("the session is %v", got)
		}
		// An id leads to the agent that has it.
		s.Command("Acp resume s-0")
		p.Reply(p.Expect("session/list"), obj{"sessions": []any{obj{"sessionId": "s-0", "cwd": s.Dir}}})
		q.Reply(q.Expect("session/list"), obj{"sessions": []any{}})
		if load := p.Expect("session/load"); load.Text("sessionId") != "s-0" {
			t.Errorf("loaded %s", load)
		}
		p.Silent()
		q.Silent()
	})
}

// An agent that does not answer holds up no others: what is known can be chosen.
func TestResumeDoesNotWaitForAnAgent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		pending(s, scene.KeepsSessions(true, "resume", "list"))
		s = after(s, "quit")
		other := s.AddAgent("other")
		s.Configure(`c.agent = 'other'`)
		s.Lua(nil, `require('acp.session.stored').patience = 100`)
		s.Choose("1 change to review")
		s.Command("Acp resume")
		p := s.Agent()
		p.Initialize(scene.KeepsSessions(true, "resume", "list"))
		p.Reply(p.Expect("session/list"), obj{"sessions": []any{}})
		load := p.Expect("session/load")
		p.Reply(load, nil)
		s.AwaitEvent("AcpSessionReady")
		check.Equal(t, len(s.Offered(1)), 1, "%d are offered")
		s.AgentOf(other)
	})
}

// What waits in a session that its agent cannot take up again can be decided all the same.
func TestWhatWaitsNeedsNoAgent(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		_, path := pending(s, nil)
		s = after(s, "quit")
		s.RecordNotifications()
		s.Command("Acp resume s-1")
		p := s.Agent()
		p.Initialize(nil)
		s.AwaitChat("Puppet cannot resume stored sessions.")
		s.AwaitChat("1 change of this session waits for your review: :Acp review shows it.")
		s.Await("the review", func() bool { return allChanges(s) == "modified code.txt -2,1+2,1 -6,1+6,1 kept\n" })
		s.Command("Acp review")
		onPage(s, "+ two")
		s.Keys("x")
		s.Await("it to be refused", func() bool { return s.ReadOrNone(path) == "1\n2\n3\n4\n5\nsix\n7\n" })
		awaitSaved(s, kept(s), scene.SessionID(1), 0, 1, 0)
	})
}

// A host that dies with an agent that takes nothing up: the new session has the changes of the old one.
func TestChangesGoOverToANewSession(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		_, path := pending(s, nil)
		s.Command("Acp review")
		comment(s, "+ two", "why two")
		awaitSaved(s, kept(s), scene.SessionID(1), 1, 1, 1)
		s.KillHost()
		s.AwaitState("dead")
		s.Command("Acp restart")
		p := s.Agent()
		p.Initialize(nil)
		p.NewSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.AwaitChat("1 change of this session waits for your review: :Acp review shows it. 1 comment of yours has not been sent")
		awaitSaved(s, kept(s), scene.SessionID(2), 1, 1, 1)
		s.Await("its old name to be forgotten", func() bool {
			list, err := saved.List(kept(s))
			return err == nil && len(list) == 1
		})
		s.OK(`require('acp').reject()`)
		s.Await("it to be refused", func() bool { return s.ReadOrNone(path) == "1\n2\n3\n4\n5\nsix\n7\n" })
	})
}

// TestTwoSessionsOnOneFile has two sessions of two agents change one file, and the next Neovim take up both.
func TestTwoSessionsOnOneFile(t *testing.T) {
	for _, way := range []string{"quit", "host killed", "Neovim killed"} {
		t.Run(way, func(t *testing.T) {
			scene.EachVersion(t, func(t *testing.T, s *scene.Scene) {
				path := s.WriteFile("code.txt", "1\n2\n3\n4\n5\n6\n7\n")
				st := kept(s)
				other := s.AddAgent("other")
				p := s.BeginWith(scene.KeepsSessions(true, "resume"))
				turn := s.Prompt(p, "first")
				changesFile(p, false, path, "1\ntwo\n3\n4\n5\n6\n7\n")
				p.EndTurn(turn)
				s.OK(`require('acp').new({ agent = 'other' })`)
				q := s.AgentOf(other)
				q.Initialize(scene.KeepsSessions(true, "resume"))
				q.Reply(q.Expect("session/new"), obj{"sessionId": "o-1"})
				s.AwaitEvent("AcpSessionReady")
				turn = s.Prompt(q, "second")
				// Past its client, and on both sides of the other's line.
				q.UpdateIn("o-1", "tool_call", obj{
					"toolCallId": "sed", "title": "sed", "kind": "edit", "status": "pending", "locations": []any{obj{"path": path}},
				})
				q.Ask("fs/read_text_file", obj{"sessionId": "o-1", "path": path}) // comes after the look at it
				s.WriteFile("code.txt", "one\ntwo\nthree\n4\n5\n6\n7\n")
				q.UpdateIn("o-1", "tool_call_update", obj{"toolCallId": "sed", "status": "completed"})
				q.EndTurn(turn)
				states := func(s *scene.Scene, n int) string {
					return s.LuaString(`vim.inspect(vim.tbl_map(function(f)
						return vim.tbl_map(function(h) return h.state .. h.new_start end, f.hunks)
					end, require('acp').changes({ session = ... })), { newline = '', indent = '' })`, n)
				}
				const first, second = `{ { "pending2" } }`, `{ { "pending1", "pending3" } }`
				if a, b := states(s, 1), states(s, 2); a != first || b != second {
					t.Fatalf("changed are %s and %s", a, b)
				}
				awaitSaved(s, st, scene.SessionID(1), 1, 1, 0)
				awaitSaved(s, st, "o-1", 2, 1, 0)

				for range 2 {
					s = after(s, way, p, q)
					other = s.AddAgent("other")
					s.Command("Acp resume s-1")
					p = s.Agent()
					takesUp(s, p, scene.SessionID(1))
					s.Command("Acp resume o-1")
					q = s.AgentOf(other)
					takesUp(s, q, "o-1")
					s.Await("what waits in both", func() bool { return states(s, 1) == first && states(s, 2) == second })
				}
				s.Command("Acp review")
				awaitPage(s, "also changed by Puppet (session 1)")
				s.OK(`require('acp').reject({ session = 1, path = 'code.txt', hunk = 1 })`)
				s.Await("the first one's line to be as before", func() bool { return s.ReadOrNone(path) == "one\n2\nthree\n4\n5\n6\n7\n" })
				s.OK(`require('acp').reject({ session = 2, path = 'code.txt', hunk = 2 })`)
				s.Await("the second one's line to be as before", func() bool { return s.ReadOrNone(path) == "one\n2\n3\n4\n5\n6\n7\n" })
				s.OK(`require('acp').keep({ session = 2 })`)
				awaitSaved(s, st, scene.SessionID(1), 0, 1, 0)
				awaitSaved(s, st, "o-1", 0, 1, 0)
				check.Equal(t, s.ReadOrNone(path), "one\n2\n3\n4\n5\n6\n7\n", "the disk has %q")
			})
		})
	}
}

// A Neovim in which a session stands idle does not take back what another has decided in it since, and a
// comment that is deleted there, or is on its way, is not there twice.
func TestAnIdleNeovimOverwritesNothing(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		pending(s, scene.KeepsSessions(true, "resume"))
		st := kept(s)
		s.Command("Acp review")
		comment(s, "+ two", "why two")
		comment(s, "- 2", "keep it")
		awaitSaved(s, st, scene.SessionID(1), 1, 1, 2)

		o := s.Next()
		o.Command("Acp resume s-1")
		p := o.Agent()
		takesUp(o, p, scene.SessionID(1))
		o.AwaitChat("2 comments of yours have not been sent: :Acp review send sends them.")
		o.Command("Acp review")
		onPage(o, "you: why two")
		o.Keys("c")
		o.AwaitLua(`vim.api.nvim_get_current_line() == 'why two' and vim.fn.mode() == 'n'`)
		o.Keys("dd<CR>")
		o.Await("the comment to be gone", func() bool { return !strings.Contains(page(o), "why two") })
		o.OK(`require('acp').keep()`)
		awaitSaved(o, st, scene.SessionID(1), 0, 1, 1)

		after(s, "closed") // the one that has only looked on
		awaitSaved(o, st, scene.SessionID(1), 0, 1, 1)
		o = after(o, "quit", p)
		o.Command("Acp resume s-1")
		takesUp(o, o.Agent(), scene.SessionID(1))
		o.AwaitChat("1 comment of yours has not been sent")
		o.Await("what was decided", func() bool { return allChanges(o) == "modified code.txt -2,1+2,1 kept -6,1+6,1 kept\n" })
	})
}

// What an agent has deleted does not wait any more.
func TestADeletedSessionWaitsForNothing(t *testing.T) {
	for _, open := range []bool{true, false} {
		t.Run(fmt.Sprint("open ", open), func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				s.RecordNotifications()
				p, _ := pending(s, scene.KeepsSessions(true, "resume", "delete"))
				opts := `{}`
				if !open {
					s = after(s, "quit")
					s.RecordNotifications()
					opts = `{ agent_session_id = 's-1' }`
				}
				s.OK(`require('acp').delete(` + opts + `, function(ok, err) _G.deleted = ok or err end)`)
				if !open {
					p = s.Agent()
					p.Initialize(scene.KeepsSessions(true, "resume", "delete"))
				}
				p.Reply(p.Expect("session/delete"), obj{})
				s.AwaitLua(`_G.deleted == true and #require('acp').sessions() == 0`)
				s.Await("it to be forgotten", func() bool {
					list, err := saved.List(kept(s))
					return err == nil && len(list) == 0
				})
				s.Command("Acp review")
				s.AwaitNotification("there is no session")
			})
		})
	}
}

// What the version before has saved is passed over, and the log says so.
func TestSavedByAnotherVersion(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		pending(s, scene.KeepsSessions(true, "resume"))
		s = after(s, "quit")
		list, err := saved.List(kept(s))
		if err == nil && len(list) == 1 {
			err = kept(s).Save(list[0].Key(), "", []byte("of another version"))
		}
		must.Do(t, err)
		s.Command("Acp resume s-1")
		takesUp(s, s.Agent(), scene.SessionID(1))
		s.AwaitChat("The pending review of this session could not be read; :Acp log says why.")
		check.Equal(t, allChanges(s), "", "changed are %s")
		log := s.ReadFile(s.LuaString(`require('acp.rpc.host').log_file()`))
		check.Contains(t, log, "read the saved changes of a session", "the log has\n%s")
	})
}

// What a newer version has saved is told in a sentence, and stays as it is whatever the session does.
func TestSavedByANewerVersion(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		_, path := pending(s, scene.KeepsSessions(true, "resume"))
		s = after(s, "quit")
		list, err := saved.List(kept(s))
		var newer bytes.Buffer
		if err == nil {
			err = gob.NewEncoder(&newer).Encode(struct{ Format int }{1000})
		}
		if err == nil && len(list) == 1 {
			err = kept(s).Save(list[0].Key(), "", newer.Bytes())
		}
		must.Do(t, err)
		s.Command("Acp resume s-1")
		p := s.Agent()
		takesUp(s, p, scene.SessionID(1))
		s.AwaitChat("The review of this session was saved by a newer version of the plugin")
		turn := s.Prompt(p, "edit")
		p.WriteFile(path, "another text\n")
		p.EndTurn(turn)
		s.Await("the new change to be listed", func() bool { return allChanges(s) != "" })
		s = after(s, "quit")
		if data, err := kept(s).Load(list[0].Key()); err != nil || !bytes.Equal(data, newer.Bytes()) {
			t.Errorf("what was saved has become %q, %v", data, err)
		}
	})
}

// A review in which nothing is says where something waits.
func TestAnEmptyReviewNamesWhatWaits(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		pending(s, nil)
		s = after(s, "quit")
		s.RecordNotifications()
		s.Command("Acp")
		p := s.Agent()
		p.Initialize(nil)
		p.NewSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.Command("Acp review")
		s.AwaitNotification(`acp: nothing here, but "edit" of Puppet has 1 change to review: :Acp resume s-1`)
		// What is open does not wait, and a narrow window has room for no id.
		s.OK(`require('acp').resume({ agent_session_id = 's-1' })`)
		s.Command("set columns=60")
		s.OK(`require('acp.session.stored').waiting('', function(sentence) _G.said = sentence or 'nothing' end) or true`)
		s.AwaitLua(`_G.said == 'nothing'`)
		s.OK(`require('acp').close({ session = 2 })`)
		s.AwaitEvent("AcpSessionClosed")
		s.OK(`require('acp.session.stored').waiting('', function(sentence) _G.said = sentence or 'nothing' end) or true`)
		s.AwaitLua(`_G.said == '"edit" of Puppet has 1 change to review: :Acp resume'`)
	})
}

// A session is taken up in its own folder, wherever Neovim is: one of which something is saved, and one that was listed.
func TestResumeInTheFolderOfTheSession(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		pending(s, nil)
		s = after(s, "quit")
		elsewhere := t.TempDir()
		s.Command("cd " + elsewhere)
		s.OK(`require('acp').resume({ agent_session_id = ... })`, scene.SessionID(1))
		takesUp(s, s.Agent(), scene.SessionID(1))
		check.Equal[any](t, s.Session()["cwd"], s.Dir, "the session is in %v")
		s.OK(`require('acp').stored(nil, function(list) _G.listed = #list end)`)
		p := s.Agent()
		p.Initialize(scene.KeepsSessions(true, "list"))
		folder := t.TempDir()
		p.Reply(p.Expect("session/list"), obj{"sessions": []any{obj{"sessionId": "listed", "cwd": folder}}})
		s.AwaitLua(`_G.listed == 1`)
		for _, id := range []string{"listed", "unknown"} {
			s.OK(`require('acp').resume({ agent_session_id = ... })`, id)
			q, want := p, elsewhere
			if id == "listed" {
				q, want = s.Agent(), folder
				q.Initialize(scene.KeepsSessions(true, "list"))
			}
			if load := q.Expect("session/load"); load.Text("cwd") != want {
				t.Errorf("%s: loaded %s", id, load)
			} else {
				q.Reply(load, nil)
			}
		}
	})
}

// A host that was started for something else, after the first one has died, does not know the sessions of
// that one: they are taken up by it.
func TestRestartWhereTheHostKnowsNothing(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		pending(s, scene.KeepsSessions(true, "resume"))
		s.KillHost()
		s.AwaitState("dead")
		s.Command("Acp review")
		s.AwaitNotification("the host is not running")
		s.OK(`require('acp').new()`)
		p := s.Agent()
		p.Initialize(scene.KeepsSessions(true, "resume"))
		p.NewSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.OK(`require('acp').restart({ session = 1 })`)
		resume := p.Expect("session/resume")
		if resume.Text("sessionId") != scene.SessionID(1) {
			t.Errorf("resumed %s", resume)
		}
		p.Reply(resume, obj{})
		s.AwaitEvent("AcpSessionReady")
		s.Await("the review", func() bool {
			return s.LuaInt(`#require('acp').changes({ session = 1 })`) == 1
		})
		// The one that the host knows is restarted by it.
		s.OK(`require('acp').restart({ session = 2 })`)
		p.AwaitEnd()
		p = s.Agent()
		p.Initialize(scene.KeepsSessions(true, "resume"))
	})
}

// Where nothing can be saved the user is told once, and what can be done without is done.
func TestWhatCannotBeSavedIsTold(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		dir := filepath.Join(s.Data, "nvim", "acp")
		must.Do(t, os.MkdirAll(dir, 0o700))
		records := filepath.Join(dir, "records")
		must.Do(t, os.WriteFile(records, nil, 0o600))
		path := s.WriteFile("code.txt", "1\n2\n3\n")
		p := s.Begin()
		turn := s.Prompt(p, "edit")
		p.WriteFile(path, "1\ntwo\n3\n")
		s.AwaitChat("Pending changes are not saved, so a crash would lose them: ")
		s.AwaitChat(dir + " cannot be written (not a directory).")
		p.WriteFile(path, "1\nTwo\n3\n")
		p.EndTurn(turn)
		s.OK(`require('acp').keep()`)
		s.Await("kept", func() bool { return allChanges(s) == "modified code.txt -2,1+2,1 kept\n" })
		must.Do(t, os.Remove(records))
		turn = s.Prompt(p, "more")
		p.WriteFile(path, "one\nTwo\n3\n")
		p.EndTurn(turn)
		awaitSaved(s, kept(s), scene.SessionID(1), 1, 1, 0)
		if said := s.Chat(); strings.Count(said, "are not saved") != 1 {
			t.Errorf("the chat has\n%s", said)
		}
		check.Equal(t, s.Notifications(), "", "notified was\n%s")

		// Where no chat is seen a message says so, in a line of a narrow screen.
		s.Command("Acp toggle")
		must.Do(t, os.Rename(dir, dir+".old"))
		must.Do(t, os.WriteFile(dir, nil, 0o600))
		turn = s.Prompt(p, "more")
		p.WriteFile(path, "one\nTWO\n3\n")
		s.AwaitNotification("acp: pending changes are not saved: not a directory")
		p.EndTurn(turn)
	})
}
