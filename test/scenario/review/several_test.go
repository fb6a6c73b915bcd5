package review

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

// several begins a session with an agent each, and a turn in both.
func several(s *scene.Scene) (agents [2]*scene.Puppet, turns [2]scene.Message) {
	s.T.Helper()
	s.Configure(`c.agents.second = vim.tbl_extend('force', c.agents.puppet, { title = 'Second' })`)
	agents[0] = s.Begin()
	s.OK(`require('acp').new({ agent = 'second' })`)
	agents[1] = s.Agent()
	agents[1].Begin()
	s.AwaitEvent("AcpSessionReady")
	for i, p := range agents {
		s.OK(`require('acp').prompt('change', { session = ... })`, i+1)
		turns[i], _ = p.Prompted()
	}
	return agents, turns
}

// awaitChangesIn waits until sessions have these changes, one after the other, in the words of changes.
func awaitChangesIn(s *scene.Scene, want ...string) {
	s.T.Helper()
	var got []string
	s.Await(fmt.Sprintf("%q to be changed", want), func() bool {
		got = nil
		for i := range want {
			list, _ := s.Value(`require('acp').changes({ session = ... })`, i+1).([]any)
			got = append(got, strings.TrimSpace(listed(s, list)))
		}
		return strings.Join(got, "\n") == strings.Join(want, "\n")
	})
}

// Two agents change one file, in other places: each one's changes are decided and undone alone.
func TestTwoAgentsInOneFile(t *testing.T) {
	for _, by := range []string{"client, loaded", "client", "calls, loaded", "calls"} {
		t.Run(by, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) {
				lines := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
				path := s.WriteFile("code.txt", lines)
				if strings.HasSuffix(by, "loaded") {
					s.Command("edit code.txt")
				}
				agents, turns := several(s)
				write := func(i int, text string) {
					t.Helper()
					if strings.HasPrefix(by, "client") {
						agents[i].ReadFile(path, nil)
						agents[i].WriteFile(path, text)
						return
					}
					id := fmt.Sprint("edit", len(text))
					agents[i].ToolCall(id, "edit", obj{"locations": []any{obj{"path": path}}})
					agents[i].ReadFile(path, nil)
					s.WriteFile("code.txt", text)
					agents[i].Finish(id, nil)
					s.AwaitEvent("AcpFileChanged")
				}
				write(0, strings.Replace(lines, "2", "two", 1))
				awaitChangesIn(s, "modified code.txt -2,1+2,1", "")
				write(1, strings.NewReplacer("2", "two", "5", "five\nand", "8", "eight").Replace(lines))
				awaitChangesIn(s, "modified code.txt -2,1+2,1", "modified code.txt -5,1+5,2 -8,1+9,1")
				for i, p := range agents {
					p.EndTurn(turns[i])
				}
				has := func(want string) {
					t.Helper()
					s.Await("the file to be decided", func() bool { return s.ReadOrNone(path) == want })
				}
				s.OK(`require('acp').keep({ session = 2, path = 'code.txt', hunk = 1 })`)
				awaitChangesIn(s, "modified code.txt -2,1+2,1", "modified code.txt -5,1+5,2 kept -8,1+9,1")
				s.OK(`require('acp').reject({ session = 2, path = 'code.txt', hunk = 2 })`)
				has(strings.NewReplacer("2", "two", "5", "five\nand").Replace(lines))
				s.OK(`require('acp').reject({ session = 1 })`)
				has(strings.NewReplacer("5", "five\nand").Replace(lines))
				awaitChangesIn(s, "modified code.txt -2,1+2,1 rejected", "modified code.txt -5,1+5,2 kept -8,1+9,1 rejected")
				s.OK(`require('acp').keep({ session = 1, path = 'code.txt', hunk = 1 })`)
				has(strings.NewReplacer("2", "two", "5", "five\nand").Replace(lines))
				s.OK(`require('acp').undo_turn({ session = 2 })`)
				has(strings.NewReplacer("2", "two").Replace(lines))
				s.OK(`require('acp').undo_turn({ session = 1 })`)
				has(lines)
				s.OK(`require('acp').undo_turn({ session = 2, again = true })`)
				has(strings.NewReplacer("5", "five\nand").Replace(lines))
			})
		})
	}
}

// Two agents change the same lines: what the second made of them is not taken out with the first one's.
func TestTwoAgentsInTheSameLines(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		s.RecordNotifications()
		path := s.WriteFile("code.txt", "1\n2\n3\n4\n")
		agents, turns := several(s)
		agents[0].WriteFile(path, "1\ntwo\n3\n4\n")
		agents[1].ReadFile(path, nil)
		agents[1].WriteFile(path, "1\nTWO\n3\n4\n")
		for i, p := range agents {
			p.EndTurn(turns[i])
		}
		s.OK(`require('acp').undo_turn({ session = 1 })`)
		s.AwaitNotification("0 files as before the turn. 1 place left alone.")
		check.Equal(t, s.ReadOrNone(path), "1\nTWO\n3\n4\n", "the first turn undone, the file has %q")
		s.Command("Acp review")
		awaitPage(s, "also changed by")
		s.OK(`require('acp').reject({ session = 2 })`)
		s.Await("the second one's refused", func() bool { return s.ReadOrNone(path) == "1\ntwo\n3\n4\n" })
		s.OK(`require('acp').reject({ session = 1 })`)
		s.Await("the first one's refused", func() bool { return s.ReadOrNone(path) == "1\n2\n3\n4\n" })
	})
}

// Two agents run commands at once. A file is of the one whose call names it, and else of one of them alone.
func TestTwoAgentsWithCommands(t *testing.T) {
	scene.Each(t, func(t *testing.T, s *scene.Scene) {
		for _, name := range []string{"first", "second", "nobody"} {
			s.WriteFile(name, "old\n")
		}
		agents, turns := several(s)
		s.Sync()
		for i, p := range agents {
			name := []string{"first", "second"}[i]
			p.ToolCall("edit", "edit", obj{"locations": []any{obj{"path": filepath.Join(s.Dir, name)}}})
			p.ToolCall("command", "execute", nil)
			p.ReadFile(filepath.Join(s.Dir, name), nil)
		}
		s.Shell("echo new >first; echo new >second; echo new >nobody")
		for i, p := range agents {
			p.Finish("edit", nil)
			p.Finish("command", nil)
			p.EndTurn(turns[i])
		}
		awaitChangesIn(s, "modified first -1,1+1,1\nmodified nobody -1,1+1,1", "modified second -1,1+1,1")
	})
}
