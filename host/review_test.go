package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A review is a prompt for the agent: at once, or after the turn that runs, and not for one that is dead.
func TestSendingAReview(t *testing.T) {
	for name, c := range map[string]struct {
		before func(s *Session)
		told   string
		asked  []string
		queued int
	}{
		"it is idle": {func(*Session) {}, "7 false ", []string{"prompt"}, 0},
		"it works":   {func(s *Session) { s.prompts.Send("go on") }, "7 true ", []string{"prompt"}, 1},
		"it is dead": {
			func(s *Session) { s.die(errors.New("It is dead.")) }, "7 <nil> It is dead. Your comments are kept.", []string{"close a"}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{})
				s, agent := w.ready(session.Info{})
				s.on(func() { c.before(s) })
				w.receive("comment_at", map[string]any{
					"session": 1, "callback": 6, "path": "/f", "first": 3, "last": 3, "lines": []any{"x"},
				})
				w.told("6 {1 f 3 3 } ")
				w.receive("comment", map[string]any{"session": 1, "id": 1, "text": "why?"})
				w.receive("review_send", map[string]any{"session": 1, "callback": 7})
				w.told(c.told)
				check.Slice(t, agent.take(), c.asked, "the agent was asked %q")
				s.on(func() { check.Equal(t, len(s.prompts.Queued()), c.queued, "%d wait") })
			})
		})
	}
}

// A file with open conflicts is on the page of every session, also if the agent has changed none.
func TestConflictsOfLoadedFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		w.add(1, puppet)
		open := func(want string) {
			t.Helper()
			w.receive("review_open", map[string]any{"session": 1, "callback": 7})
			w.told(want)
		}
		const none = "7 <nil> the agent has changed no file in this session"
		open(none)
		w.receive("open_conflicts", map[string]any{"files": []any{map[string]any{"path": "/f", "count": 2}}})
		open("7 true ")
		w.receive("open_conflicts", map[string]any{"files": []any{}})
		w.receive("review_close", map[string]any{"session": 1})
		open(none)
	})
}

// A file that the user renames keeps its changes in the review, under its new name.
func TestARenamedFileInTheReview(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	a, b := must.Write(t, dir, "a", "1\n"), filepath.Join(dir, "b")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		s := w.add(1, puppet)
		text := "1\n"
		s.ledger.Took(buffers.Written{Path: a, After: &text, Created: true, Changed: true}, "fs", false)
		paths := func() (list []string) {
			w.receive("list_changes", map[string]any{"session": 1, "callback": 7})
			w.settle()
			for _, c := range w.nvim.result.([]rpc.Change) {
				list = append(list, c.Path)
			}
			return list
		}
		check.Slice(t, paths(), []string{a}, "at first changed are %q")
		must.Do(t, os.Rename(a, b))
		w.receive("file_renamed", map[string]any{"from": a, "to": b})
		check.Slice(t, paths(), []string{b}, "renamed, changed are %q")
	})
}

// A newer session's changes cover those of an older one in the user's buffers, in whatever order Go has them.
func TestRecordsOfNewerSessionsComeFirst(t *testing.T) {
	h, want := &Host{sessions: map[int]*Session{}}, []int{}
	for id := range 20 {
		h.sessions[id] = &Session{id: id}
		want = append([]int{id}, want...)
	}
	got := []int{}
	for _, r := range h.records() {
		got = append(got, r.Session)
	}
	check.Equal(t, fmt.Sprint(got), fmt.Sprint(want), "they come as %s")
}
