package scenario

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
)

// kept is the store of the host's.
func (s *scene) kept() *checkpoint.Store {
	return checkpoint.Open(filepath.Join(s.data, "nvim", "acp"))
}

// awaitSaved waits until the disk has of a session what is wanted: its pending changes, all its files and the
// comments that are not sent.
func awaitSaved(s *scene, st *checkpoint.Store, session string, changes, files, comments int) {
	s.t.Helper()
	var last string
	s.Await(fmt.Sprintf("%s to be saved with %d changes, %d files, %d comments", session, changes, files, comments), func() bool {
		list, err := saved.List(st)
		if err != nil {
			s.t.Fatal(err)
		}
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
func (s *scene) after(way string, agents ...*puppet) *scene {
	s.t.Helper()
	switch way {
	case "closed":
		s.ok(`require('acp').close()`)
		s.AwaitEvent("AcpSessionClosed")
		s.quit()
	case "quit":
		s.quit()
	case "host killed":
		s.killHost()
		s.AwaitLua(`require('acp').sessions()[1].state == 'dead'`)
		s.quit()
	case "Neovim killed":
		s.Kill()
	}
	for _, p := range agents {
		at(s.t, "the agent's end", p.ended)
	}
	return s.next()
}

// takesUp has an agent take up a session, which it was told to.
func (s *scene) takesUp(p *puppet, session string) {
	s.t.Helper()
	p.initialize(keeps(true, "resume"))
	load := p.expect("session/load")
	if load.text("sessionId") != session || load.text("cwd") != s.Dir {
		s.t.Errorf("loaded %s", load)
	}
	p.replay(session)
	p.reply(load, nil)
	s.AwaitEvent("AcpSessionReady")
}

// changesFile has the agent change a file: through its client, or past it.
func (p *puppet) changesFile(past bool, path, text string) {
	p.t.Helper()
	if !past {
		p.writeFile(path, text)
		return
	}
	p.named(p.scene, "edit "+text, "edit", obj{"locations": []any{obj{"path": path}}}, path)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		p.t.Fatal(err)
	}
	p.finish("edit "+text, nil)
}

// TestChangesWaitForTheNextNeovim has a session end with a hunk kept, one pending and a comment that is not
// sent. They are found again by the next Neovim, and by the one after that.
func TestChangesWaitForTheNextNeovim(t *testing.T) {
	for _, c := range []struct {
		way  string
		past bool
	}{{"closed", false}, {"quit", true}, {"host killed", false}, {"host killed", true}, {"Neovim killed", false}, {"Neovim killed", true}} {
		t.Run(fmt.Sprint(c.way, map[bool]string{false: ", through the client", true: ", past it"}[c.past]), func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				path := s.write("code.txt", "1\n2\n3\n4\n5\n6\n7\n")
				st := s.kept()
				p := s.beginWith(keeps(true, "resume"))
				turn := s.prompt(p, "Mend the\ncode")
				p.changesFile(c.past, path, "1\ntwo\n3\n4\n5\nsix\n7\n")
				p.stop(turn, "end_turn")
				s.AwaitEvent("AcpTurnEnd")
				s.ok(`require('acp').keep({ path = 'code.txt', hunk = 1 })`)
				s.Await("kept", func() bool { return s.changes() == "modified code.txt -2,1+2,1 kept -6,1+6,1\n" })
				s.Command("Acp review")
				s.comment("+ six", "why six")
				awaitSaved(s, st, remote(1), 1, 1, 1)

				s = s.after(c.way, p)
				s.recordNotifications()
				s.Command("Acp review")
				s.awaitNotification(`acp: "Mend the code" of Puppet has 1 change to review: :Acp resume s-1`)
				s.Command("Acp resume s-1")
				p = s.agent()
				s.takesUp(p, remote(1))
				s.awaitChat("1 change of this session waits for your review: :Acp review shows it. 1 comment of yours is not sent: :Acp review send sends it.")
				if chat := s.chat(); strings.Index(chat, "Answered long ago.") > strings.Index(chat, "1 change of this session") {
					t.Errorf("what waits is not below what was said:\n%s", chat)
				}
				s.Await("the review", func() bool { return s.changes() == "modified code.txt -2,1+2,1 kept -6,1+6,1\n" })
				s.Command("Acp review")
				s.awaitPage("↳ you: why six")
				// What comes now is beside what was there.
				turn = s.prompt(p, "more")
				p.changesFile(c.past, path, "1\ntwo\n3\nfour\n5\nsix\n7\n")
				p.stop(turn, "end_turn")
				s.AwaitEvent("AcpTurnEnd")
				s.Await("the new change", func() bool { return s.changes() == "modified code.txt -2,1+2,1 kept -4,1+4,1 -6,1+6,1\n" })
				awaitSaved(s, st, remote(1), 2, 1, 1)

				s = s.after(c.way, p)
				s.Command("Acp resume s-1")
				p = s.agent()
				s.takesUp(p, remote(1))
				s.awaitChat("2 changes in 1 file of this session wait for your review: :Acp review shows them.")
				s.Await("the review", func() bool { return s.changes() == "modified code.txt -2,1+2,1 kept -4,1+4,1 -6,1+6,1\n" })
				s.ok(`require('acp').reject({ path = 'code.txt', hunk = 3 })`)
				s.Await("rejected", func() bool { return s.disk(path) == "1\ntwo\n3\nfour\n5\n6\n7\n" })
				s.ok(`require('acp').undo_turn()`)
				s.Await("the last turn undone", func() bool { return s.disk(path) == "1\ntwo\n3\n4\n5\n6\n7\n" })
				s.Command("Acp review send")
				turn, got := p.prompted()
				if !strings.HasPrefix(got, "My comments on your changes:\n\ncode.txt:6\n```diff\n+six\n```\nwhy six\n") {
					t.Errorf("the agent was told\n%s", got)
				}
				p.stop(turn, "end_turn")
				s.AwaitEvent("AcpTurnEnd")
				awaitSaved(s, st, remote(1), 0, 1, 0)

				s = s.after(c.way, p)
				s.recordNotifications()
				s.Command("Acp review")
				s.awaitNotification("there is no session. :Acp new starts one")
			})
		})
	}
}

// comment comments on the line of the review that has a text.
func (s *scene) comment(line, words string) {
	s.t.Helper()
	s.onPage(line)
	s.Keys("c")
	s.AwaitLua(`vim.bo.filetype == 'acp-comment'`)
	s.Keys(words + "<C-s>")
	s.awaitPage("↳ you: " + words)
}

// pending has a session end in which the first of two hunks waits, and gives the file.
func (s *scene) pending(extra obj) string {
	s.t.Helper()
	path := s.write("code.txt", "1\n2\n3\n4\n5\n6\n7\n")
	p := s.beginWith(extra)
	turn := s.prompt(p, "edit")
	p.writeFile(path, "1\ntwo\n3\n4\n5\nsix\n7\n")
	p.stop(turn, "end_turn")
	s.AwaitEvent("AcpTurnEnd")
	s.ok(`require('acp').keep({ path = 'code.txt', hunk = 2 })`)
	awaitSaved(s, s.kept(), remote(1), 1, 1, 0)
	return path
}

// TestResumeOffersTheSessionsOfAllAgents has one agent's session of this folder saved, and another be the
// default one.
func TestResumeOffersTheSessionsOfAllAgents(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.addAgent("other")
		s.pending(keeps(true, "resume", "list"))
		s = s.after("quit")
		other := s.addAgent("other")
		s.configure(`c.agent = 'other'`)
		s.choose("never")
		s.Command("Acp resume")
		p := s.agent() // the one with saved changes
		p.initialize(keeps(true, "resume", "list"))
		p.reply(p.expect("session/list"), obj{"sessions": []any{
			obj{"sessionId": "s-0", "cwd": s.Dir, "title": "An old one", "updatedAt": "2026-01-02T03:04:05Z"},
			obj{"sessionId": remote(1), "cwd": s.Dir, "title": "The edit", "updatedAt": "2026-01-03T03:04:05Z"},
		}})
		q := s.agentOf(other)
		q.initialize(keeps(true, "list"))
		q.reply(q.expect("session/list"), obj{"sessions": []any{
			obj{"sessionId": "o-1", "cwd": s.Dir, "title": "Of the other", "updatedAt": "2026-01-02T04:04:05Z"},
			obj{"sessionId": "o-2", "cwd": "/elsewhere", "title": "Elsewhere", "updatedAt": "2100-01-02T04:04:05Z"},
		}})
		var got []string
		for _, item := range s.offered(1) {
			parts := strings.Split(fmt.Sprint(item), " · ")
			got = append(got, parts[0]+" of "+parts[1])
		}
		if want := []string{"The edit of Puppet", "Of the other of Other", "An old one of Puppet", "Elsewhere of Other"}; !slices.Equal(got, want) {
			t.Errorf("offered are %q", got)
		}
		s.recordNotifications()
		s.Command("Acp review")
		s.awaitNotification(`acp: "edit" of Puppet has 1 change to review: :Acp resume s-1`)
		s.choose("1 change to review")
		s.Command("Acp resume")
		list := p.expect("session/list")
		// One that has saved changes is offered also where its agent does not tell of it.
		p.reply(list, obj{"sessions": []any{}})
		q.reply(q.expect("session/list"), obj{"sessions": []any{obj{"sessionId": "o-1", "cwd": s.Dir}}})
		load := p.expect("session/load")
		if load.text("sessionId") != remote(1) || load.text("cwd") != s.Dir {
			t.Errorf("loaded %s", load)
		}
		p.reply(load, nil)
		s.AwaitEvent("AcpSessionReady")
		s.awaitChat("1 change of this session waits for your review")
		if got := s.session(); got["agent"] != "puppet" || got["title"] != "edit" {
			t.Errorf("the session is %v", got)
		}
		// An id leads to the agent that has it.
		s.Command("Acp resume s-0")
		p.reply(p.expect("session/list"), obj{"sessions": []any{obj{"sessionId": "s-0", "cwd": s.Dir}}})
		q.reply(q.expect("session/list"), obj{"sessions": []any{}})
		if load := p.expect("session/load"); load.text("sessionId") != "s-0" {
			t.Errorf("loaded %s", load)
		}
		p.silent()
		q.silent()
	})
}

// An agent that does not answer holds up no others: what is known can be chosen.
func TestResumeDoesNotWaitForAnAgent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.pending(keeps(true, "resume", "list"))
		s = s.after("quit")
		other := s.addAgent("other")
		s.configure(`c.agent = 'other'`)
		s.Lua(nil, `require('acp.stored').patience = 100`)
		s.choose("1 change to review")
		s.Command("Acp resume")
		p := s.agent()
		p.initialize(keeps(true, "resume", "list"))
		p.reply(p.expect("session/list"), obj{"sessions": []any{}})
		load := p.expect("session/load")
		p.reply(load, nil)
		s.AwaitEvent("AcpSessionReady")
		if n := len(s.offered(1)); n != 1 {
			t.Errorf("%d are offered", n)
		}
		s.agentOf(other)
	})
}

// What waits in a session that its agent cannot take up again can be decided all the same.
func TestWhatWaitsNeedsNoAgent(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.pending(nil)
		s = s.after("quit")
		s.recordNotifications()
		s.Command("Acp resume s-1")
		p := s.agent()
		p.initialize(nil)
		s.awaitChat("Puppet cannot take up stored sessions.")
		s.awaitChat("1 change of this session waits for your review: :Acp review shows it.")
		s.Await("the review", func() bool { return s.changes() == "modified code.txt -2,1+2,1 -6,1+6,1 kept\n" })
		s.Command("Acp review")
		s.onPage("+ two")
		s.Keys("x")
		s.Await("it to be refused", func() bool { return s.disk(path) == "1\n2\n3\n4\n5\nsix\n7\n" })
		awaitSaved(s, s.kept(), remote(1), 0, 1, 0)
	})
}

// A host that dies with an agent that takes nothing up: the new session has the changes of the old one.
func TestChangesGoOverToANewSession(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		path := s.pending(nil)
		s.Command("Acp review")
		s.comment("+ two", "why two")
		awaitSaved(s, s.kept(), remote(1), 1, 1, 1)
		s.killHost()
		s.awaitState("dead")
		s.Command("Acp restart")
		p := s.agent()
		p.initialize(nil)
		p.newSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.awaitChat("1 change of this session waits for your review: :Acp review shows it. 1 comment of yours is not sent")
		awaitSaved(s, s.kept(), remote(2), 1, 1, 1)
		s.Await("its old name to be forgotten", func() bool {
			list, err := saved.List(s.kept())
			return err == nil && len(list) == 1
		})
		s.ok(`require('acp').reject()`)
		s.Await("it to be refused", func() bool { return s.disk(path) == "1\n2\n3\n4\n5\nsix\n7\n" })
	})
}

// TestTwoSessionsOnOneFile has two sessions of two agents change one file, and the next Neovim take up both.
func TestTwoSessionsOnOneFile(t *testing.T) {
	for _, way := range []string{"quit", "host killed", "Neovim killed"} {
		t.Run(way, func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				path := s.write("code.txt", "1\n2\n3\n4\n5\n6\n7\n")
				st := s.kept()
				other := s.addAgent("other")
				p := s.beginWith(keeps(true, "resume"))
				turn := s.prompt(p, "first")
				p.changesFile(false, path, "1\ntwo\n3\n4\n5\n6\n7\n")
				p.stop(turn, "end_turn")
				s.AwaitEvent("AcpTurnEnd")
				s.ok(`require('acp').new({ agent = 'other' })`)
				q := s.agentOf(other)
				q.initialize(keeps(true, "resume"))
				q.reply(q.expect("session/new"), obj{"sessionId": "o-1"})
				s.AwaitEvent("AcpSessionReady")
				turn = s.prompt(q, "second")
				// Past its client, and on both sides of the other's line.
				q.updateIn("o-1", "tool_call", obj{
					"toolCallId": "sed", "title": "sed", "kind": "edit", "status": "pending", "locations": []any{obj{"path": path}},
				})
				q.ask("fs/read_text_file", obj{"sessionId": "o-1", "path": path}) // comes after the look at it
				s.write("code.txt", "one\ntwo\nthree\n4\n5\n6\n7\n")
				q.updateIn("o-1", "tool_call_update", obj{"toolCallId": "sed", "status": "completed"})
				q.stop(turn, "end_turn")
				s.AwaitEvent("AcpTurnEnd")
				states := func(s *scene, n int) string {
					return s.LuaString(`vim.inspect(vim.tbl_map(function(f)
						return vim.tbl_map(function(h) return h.state .. h.new_start end, f.hunks)
					end, require('acp').changes({ session = ... })), { newline = '', indent = '' })`, n)
				}
				const first, second = `{ { "pending2" } }`, `{ { "pending1", "pending3" } }`
				if a, b := states(s, 1), states(s, 2); a != first || b != second {
					t.Fatalf("changed are %s and %s", a, b)
				}
				awaitSaved(s, st, remote(1), 1, 1, 0)
				awaitSaved(s, st, "o-1", 2, 1, 0)

				for range 2 {
					s = s.after(way, p, q)
					other = s.addAgent("other")
					s.Command("Acp resume s-1")
					p = s.agent()
					s.takesUp(p, remote(1))
					s.Command("Acp resume o-1")
					q = s.agentOf(other)
					s.takesUp(q, "o-1")
					s.Await("what waits in both", func() bool { return states(s, 1) == first && states(s, 2) == second })
				}
				s.Command("Acp review")
				s.awaitPage("also changed by Puppet (session 1)")
				s.ok(`require('acp').reject({ session = 1, path = 'code.txt', hunk = 1 })`)
				s.Await("the first one's line to be as before", func() bool { return s.disk(path) == "one\n2\nthree\n4\n5\n6\n7\n" })
				s.ok(`require('acp').reject({ session = 2, path = 'code.txt', hunk = 2 })`)
				s.Await("the second one's line to be as before", func() bool { return s.disk(path) == "one\n2\n3\n4\n5\n6\n7\n" })
				s.ok(`require('acp').keep({ session = 2 })`)
				awaitSaved(s, st, remote(1), 0, 1, 0)
				awaitSaved(s, st, "o-1", 0, 1, 0)
				if got := s.disk(path); got != "one\n2\n3\n4\n5\n6\n7\n" {
					t.Errorf("the disk has %q", got)
				}
			})
		})
	}
}

// A Neovim in which a session stands idle does not take back what another has decided in it since, and a
// comment that is deleted there, or is on its way, is not there twice.
func TestAnIdleNeovimOverwritesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.pending(keeps(true, "resume"))
		st := s.kept()
		s.Command("Acp review")
		s.comment("+ two", "why two")
		s.comment("- 2", "keep it")
		awaitSaved(s, st, remote(1), 1, 1, 2)

		o := s.next()
		o.Command("Acp resume s-1")
		p := o.agent()
		o.takesUp(p, remote(1))
		o.awaitChat("2 comments of yours are not sent: :Acp review send sends them.")
		o.Command("Acp review")
		o.onPage("you: why two")
		o.Keys("c")
		o.AwaitLua(`vim.api.nvim_get_current_line() == 'why two' and vim.fn.mode() == 'n'`)
		o.Keys("dd<CR>")
		o.Await("the comment to be gone", func() bool { return !strings.Contains(o.page(), "why two") })
		o.ok(`require('acp').keep()`)
		awaitSaved(o, st, remote(1), 0, 1, 1)

		s.after("closed") // the one that has only looked on
		awaitSaved(o, st, remote(1), 0, 1, 1)
		o = o.after("quit", p)
		o.Command("Acp resume s-1")
		o.takesUp(o.agent(), remote(1))
		o.awaitChat("1 comment of yours is not sent")
		o.Await("what was decided", func() bool { return o.changes() == "modified code.txt -2,1+2,1 kept -6,1+6,1 kept\n" })
	})
}

// What an agent has deleted does not wait any more.
func TestADeletedSessionWaitsForNothing(t *testing.T) {
	for _, open := range []bool{true, false} {
		t.Run(fmt.Sprint("open ", open), func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				s.recordNotifications()
				s.pending(keeps(true, "resume", "delete"))
				opts := `{}`
				if !open {
					s = s.after("quit")
					s.recordNotifications()
					opts = `{ agent_session_id = 's-1' }`
				}
				s.ok(`require('acp').delete(` + opts + `, function(ok, err) _G.deleted = ok or err end)`)
				p := s.lastAgent()
				if !open {
					p = s.agent()
					p.initialize(keeps(true, "resume", "delete"))
				}
				p.reply(p.expect("session/delete"), obj{})
				s.AwaitLua(`_G.deleted == true`)
				s.Await("it to be forgotten", func() bool {
					list, err := saved.List(s.kept())
					return err == nil && len(list) == 0
				})
				s.Command("Acp review")
				s.awaitNotification("there is no session")
			})
		})
	}
}

// What the version before has saved is passed over, and the log says so.
func TestSavedByAnotherVersion(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.pending(keeps(true, "resume"))
		s = s.after("quit")
		list, err := saved.List(s.kept())
		if err == nil && len(list) == 1 {
			err = s.kept().Save(list[0].Key(), "", []byte("of another version"))
		}
		if err != nil {
			t.Fatal(err)
		}
		s.Command("Acp resume s-1")
		s.takesUp(s.agent(), remote(1))
		s.awaitChat("What waited for your review in this session could not be read again; :Acp log says why.")
		if got := s.changes(); got != "" {
			t.Errorf("changed are %s", got)
		}
		log := s.file(s.LuaString(`require('acp.host').log_file()`))
		if !strings.Contains(log, "read the saved changes of a session") {
			t.Errorf("the log has\n%s", log)
		}
	})
}

// What a newer version has saved is told in a sentence, and stays as it is whatever the session does.
func TestSavedByANewerVersion(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		path := s.pending(keeps(true, "resume"))
		s = s.after("quit")
		list, err := saved.List(s.kept())
		var newer bytes.Buffer
		if err == nil {
			err = gob.NewEncoder(&newer).Encode(struct{ Format int }{1000})
		}
		if err == nil && len(list) == 1 {
			err = s.kept().Save(list[0].Key(), "", newer.Bytes())
		}
		if err != nil {
			t.Fatal(err)
		}
		s.Command("Acp resume s-1")
		p := s.agent()
		s.takesUp(p, remote(1))
		s.awaitChat("A newer version of the plugin saved the review of this session")
		turn := s.prompt(p, "edit")
		p.writeFile(path, "another text\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.Await("the new change to be listed", func() bool { return s.changes() != "" })
		s = s.after("quit")
		if data, err := s.kept().Load(list[0].Key()); err != nil || !bytes.Equal(data, newer.Bytes()) {
			t.Errorf("what was saved has become %q, %v", data, err)
		}
	})
}

// A review in which nothing is says where something waits.
func TestAnEmptyReviewNamesWhatWaits(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.pending(nil)
		s = s.after("quit")
		s.recordNotifications()
		s.Command("Acp")
		p := s.agent()
		p.initialize(nil)
		p.newSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.Command("Acp review")
		s.awaitNotification(`acp: nothing here, but "edit" of Puppet has 1 change to review: :Acp resume s-1`)
		// What is open does not wait, and a narrow window has room for no id.
		s.ok(`require('acp').resume({ agent_session_id = 's-1' })`)
		s.Command("set columns=60")
		s.ok(`require('acp.stored').waiting('', function(sentence) _G.said = sentence or 'nothing' end) or true`)
		s.AwaitLua(`_G.said == 'nothing'`)
		s.ok(`require('acp').close({ session = 2 })`)
		s.AwaitEvent("AcpSessionClosed")
		s.ok(`require('acp.stored').waiting('', function(sentence) _G.said = sentence or 'nothing' end) or true`)
		s.AwaitLua(`_G.said == '"edit" of Puppet has 1 change to review: :Acp resume'`)
	})
}

// A session is taken up in its own folder, wherever Neovim is: one of which something is saved, and one that was listed.
func TestResumeInTheFolderOfTheSession(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.pending(nil)
		s = s.after("quit")
		elsewhere := t.TempDir()
		s.Command("cd " + elsewhere)
		s.ok(`require('acp').resume({ agent_session_id = ... })`, remote(1))
		s.takesUp(s.agent(), remote(1))
		if got := s.session()["cwd"]; got != s.Dir {
			t.Errorf("the session is in %v", got)
		}
		s.ok(`require('acp').stored(nil, function(list) _G.listed = #list end)`)
		p := s.agent()
		p.initialize(keeps(true, "list"))
		folder := t.TempDir()
		p.reply(p.expect("session/list"), obj{"sessions": []any{obj{"sessionId": "listed", "cwd": folder}}})
		s.AwaitLua(`_G.listed == 1`)
		for _, id := range []string{"listed", "unknown"} {
			s.ok(`require('acp').resume({ agent_session_id = ... })`, id)
			q, want := p, elsewhere
			if id == "listed" {
				q, want = s.agent(), folder
				q.initialize(keeps(true, "list"))
			}
			if load := q.expect("session/load"); load.text("cwd") != want {
				t.Errorf("%s: loaded %s", id, load)
			} else {
				q.reply(load, nil)
			}
		}
	})
}

// A host that was started for something else, after the first one has died, does not know the sessions of
// that one: they are taken up by it.
func TestRestartWhereTheHostKnowsNothing(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		s.pending(keeps(true, "resume"))
		s.killHost()
		s.awaitState("dead")
		s.Command("Acp review")
		s.awaitNotification("the host is not running")
		s.ok(`require('acp').new()`)
		p := s.agent()
		p.initialize(keeps(true, "resume"))
		p.newSession(2)
		s.AwaitEvent("AcpSessionReady")
		s.ok(`require('acp').restart({ session = 1 })`)
		resume := p.expect("session/resume")
		if resume.text("sessionId") != remote(1) {
			t.Errorf("resumed %s", resume)
		}
		p.reply(resume, obj{})
		s.AwaitEvent("AcpSessionReady")
		s.Await("the review", func() bool {
			return s.LuaInt(`#require('acp').changes({ session = 1 })`) == 1
		})
		// The one that the host knows is restarted by it.
		s.ok(`require('acp').restart({ session = 2 })`)
		p.awaitEnd()
		p = s.agent()
		p.initialize(keeps(true, "resume"))
	})
}

// Where nothing can be saved the user is told once, and what can be done without is done.
func TestWhatCannotBeSavedIsTold(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		dir := filepath.Join(s.data, "nvim", "acp")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		records := filepath.Join(dir, "records")
		if err := os.WriteFile(records, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		path := s.write("code.txt", "1\n2\n3\n")
		p := s.begin()
		turn := s.prompt(p, "edit")
		p.writeFile(path, "1\ntwo\n3\n")
		s.awaitNotification("what waits for your review is not saved, a crash would lose it: not a directory")
		p.writeFile(path, "1\nTwo\n3\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		s.ok(`require('acp').keep()`)
		s.Await("kept", func() bool { return s.changes() == "modified code.txt -2,1+2,1 kept\n" })
		if err := os.Remove(records); err != nil {
			t.Fatal(err)
		}
		turn = s.prompt(p, "more")
		p.writeFile(path, "one\nTwo\n3\n")
		p.stop(turn, "end_turn")
		s.AwaitEvent("AcpTurnEnd")
		awaitSaved(s, s.kept(), remote(1), 1, 1, 0)
		if said := s.notifications(); strings.Count(said, "is not saved") != 1 {
			t.Errorf("notified was\n%s", said)
		}
	})
}
