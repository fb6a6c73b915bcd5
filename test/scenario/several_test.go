package scenario

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// several begins a session with an agent each, and a turn in both.
func (s *scene) several() (agents [2]*puppet, turns [2]message) {
	s.t.Helper()
	s.configure(`c.agents.second = vim.tbl_extend('force', c.agents.puppet, { title = 'Second' })`)
	agents[0] = s.begin()
	s.ok(`require('acp').new({ agent = 'second' })`)
	agents[1] = s.agent()
	agents[1].begin()
	s.AwaitEvent("AcpSessionReady")
	for i, p := range agents {
		s.ok(`require('acp').prompt('change', { session = ... })`, i+1)
		turns[i], _ = p.prompted()
	}
	return agents, turns
}

// awaitChangesIn waits until sessions have these changes, one after the other, in the words of changes.
func (s *scene) awaitChangesIn(want ...string) {
	s.t.Helper()
	var got []string
	s.Await(fmt.Sprintf("%q to be changed", want), func() bool {
		got = nil
		for i := range want {
			list, _ := s.value(`require('acp').changes({ session = ... })`, i+1).([]any)
			got = append(got, strings.TrimSpace(s.listed(list)))
		}
		return strings.Join(got, "\n") == strings.Join(want, "\n")
	})
}

// Two agents change one file, in other places: each one's changes are decided and undone alone.
func TestTwoAgentsInOneFile(t *testing.T) {
	for _, by := range []string{"client, loaded", "client", "calls, loaded", "calls"} {
		t.Run(by, func(t *testing.T) {
			each(t, func(t *testing.T, s *scene) {
				lines := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
				path := s.write("code.txt", lines)
				if strings.HasSuffix(by, "loaded") {
					s.Command("edit code.txt")
				}
				agents, turns := s.several()
				write := func(i int, text string) {
					t.Helper()
					if strings.HasPrefix(by, "client") {
						agents[i].readFile(path, nil)
						agents[i].writeFile(path, text)
						return
					}
					id := fmt.Sprint("edit", len(text))
					agents[i].toolCall(id, "edit", obj{"locations": []any{obj{"path": path}}})
					agents[i].readFile(path, nil)
					s.write("code.txt", text)
					agents[i].finish(id, nil)
					s.AwaitEvent("AcpFileChanged")
				}
				write(0, strings.Replace(lines, "2", "two", 1))
				s.awaitChangesIn("modified code.txt -2,1+2,1", "")
				write(1, strings.NewReplacer("2", "two", "5", "five\nand", "8", "eight").Replace(lines))
				s.awaitChangesIn("modified code.txt -2,1+2,1", "modified code.txt -5,1+5,2 -8,1+9,1")
				for i, p := range agents {
					p.stop(turns[i], "end_turn")
					s.AwaitEvent("AcpTurnEnd")
				}
				has := func(want string) {
					t.Helper()
					s.Await("the file to be decided", func() bool { return s.disk(path) == want })
				}
				s.ok(`require('acp').keep({ session = 2, path = 'code.txt', hunk = 1 })`)
				s.awaitChangesIn("modified code.txt -2,1+2,1", "modified code.txt -5,1+5,2 kept -8,1+9,1")
				s.ok(`require('acp').reject({ session = 2, path = 'code.txt', hunk = 2 })`)
				has(strings.NewReplacer("2", "two", "5", "five\nand").Replace(lines))
				s.ok(`require('acp').reject({ session = 1 })`)
				has(strings.NewReplacer("5", "five\nand").Replace(lines))
				s.awaitChangesIn("modified code.txt -2,1+2,1 rejected", "modified code.txt -5,1+5,2 kept -8,1+9,1 rejected")
				s.ok(`require('acp').keep({ session = 1, path = 'code.txt', hunk = 1 })`)
				has(strings.NewReplacer("2", "two", "5", "five\nand").Replace(lines))
				s.ok(`require('acp').undo_turn({ session = 2 })`)
				has(strings.NewReplacer("2", "two").Replace(lines))
				s.ok(`require('acp').undo_turn({ session = 1 })`)
				has(lines)
				s.ok(`require('acp').undo_turn({ session = 2, again = true })`)
				has(strings.NewReplacer("5", "five\nand").Replace(lines))
			})
		})
	}
}

// Two agents change the same lines: what the second made of them is not taken out with the first one's.
func TestTwoAgentsInTheSameLines(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.recordNotifications()
		path := s.write("code.txt", "1\n2\n3\n4\n")
		agents, turns := s.several()
		agents[0].writeFile(path, "1\ntwo\n3\n4\n")
		agents[1].readFile(path, nil)
		agents[1].writeFile(path, "1\nTWO\n3\n4\n")
		for i, p := range agents {
			p.stop(turns[i], "end_turn")
			s.AwaitEvent("AcpTurnEnd")
		}
		s.ok(`require('acp').undo_turn({ session = 1 })`)
		s.awaitNotification("0 files as before the turn. 1 place left alone.")
		if got := s.disk(path); got != "1\nTWO\n3\n4\n" {
			t.Errorf("the first turn undone, the file has %q", got)
		}
		s.Command("Acp review")
		s.awaitPage("also changed by")
		s.ok(`require('acp').reject({ session = 2 })`)
		s.Await("the second one's refused", func() bool { return s.disk(path) == "1\ntwo\n3\n4\n" })
		s.ok(`require('acp').reject({ session = 1 })`)
		s.Await("the first one's refused", func() bool { return s.disk(path) == "1\n2\n3\n4\n" })
	})
}

// Two agents run commands at once. A file is of the one whose call names it, and else of one of them alone.
func TestTwoAgentsWithCommands(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		for _, name := range []string{"first", "second", "nobody"} {
			s.write(name, "old\n")
		}
		agents, turns := s.several()
		s.synced()
		for i, p := range agents {
			name := []string{"first", "second"}[i]
			p.toolCall("edit", "edit", obj{"locations": []any{obj{"path": filepath.Join(s.Dir, name)}}})
			p.toolCall("command", "execute", nil)
			p.readFile(filepath.Join(s.Dir, name), nil)
		}
		s.sh("echo new >first; echo new >second; echo new >nobody")
		for i, p := range agents {
			p.finish("edit", nil)
			p.finish("command", nil)
			p.stop(turns[i], "end_turn")
			s.AwaitEvent("AcpTurnEnd")
		}
		s.awaitChangesIn("modified first -1,1+1,1\nmodified nobody -1,1+1,1", "modified second -1,1+1,1")
	})
}
