package host

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// What Lua waits for is answered, also where there is nothing to answer with, and with a sentence that says why.
func TestMessagesThatCannotBeAnswered(t *testing.T) {
	type m = map[string]any
	for name, c := range map[string]struct {
		broken string // a file that is in the data's way
		send   method
		fields m
		told   string // how it begins
	}{
		"no session":          {send: "rename", fields: m{"session": 5, "callback": 7}, told: "7 <nil> the session is closed"},
		"nobody waits":        {send: "rename", fields: m{"session": 5}},
		"it has no answer":    {send: "restart", fields: m{"session": 5}},
		"there is no message": {send: "no_such_message", fields: m{"callback": 7}},
		"no rules":            {send: "list_decided", fields: m{"callback": 7}, told: "7 <nil> the rules are not known yet"},
		"no open files":       {send: "catch_up", fields: m{"callback": 7, "name": "/file"}, told: "7 false "},
		"no unfinished write": {send: "recover", fields: m{"id": "x", "which": "old"}, told: "error: recover: file does not exist"},
		"no agent": {send: "uninstall_agent", fields: m{"callback": 7, "id": "x"},
			told: "7 <nil> x cannot be removed: it was not installed by :Acp agents. Remove it as you installed it."},
		"nowhere to record": {send: "traffic", fields: m{"callback": 7, "file": "/no/such"},
			told: "7 <nil> record traffic: open /no/such: no such file or directory"},

		"no data of sessions": {send: "list_saved", fields: m{"callback": 7}, told: "7 [] "},
		"no data to search":   {send: "search_history", fields: m{"callback": 7, "text": "x"}, told: "7 <nil> " + nothingKept},
		"no data to list":     {send: "list_history", fields: m{"callback": 7}, told: "7 <nil> " + nothingKept},
		"no data to show":     {send: "show_history", fields: m{"callback": 7, "path": "x"}, told: "7 <nil> " + nothingKept},
		"nothing can be searched": {broken: "transcripts", send: "search_history", fields: m{"callback": 7, "text": "x"},
			told: "7 <nil> the kept transcripts cannot be searched: "},
		"nothing can be listed": {broken: "transcripts", send: "list_history", fields: m{"callback": 7},
			told: "7 <nil> the kept transcripts cannot be listed: "},
		"no changes can be listed": {broken: "records", send: "list_saved", fields: m{"callback": 7},
			told: "7 <nil> the saved changes of earlier sessions cannot be read; :Acp log says why"},
		"no agents can be listed": {broken: "agents/index.json/x", send: "list_agents", fields: m{"callback": 7},
			told: "7 <nil> read the index of agents: read DATA/agents/index.json: is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{State: t.TempDir()}
			if c.broken != "" {
				o.Data = t.TempDir()
				must.Write(t, o.Data, c.broken, "")
			}
			want := strings.ReplaceAll(c.told, "DATA", o.Data)
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, o)
				w.receive(c.send, c.fields)
				w.settle()
				told := w.nvim.take()
				if got := strings.Join(told, "\n"); !strings.HasPrefix(got, want) || (got == "") != (want == "") || len(told) > 1 {
					t.Errorf("Neovim is told %q; want %q", told, want)
				}
			})
		})
	}
}

// A lasting answer that cannot be taken back stays, and the user is told so.
func TestAnAnswerThatCannotBeRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		w.receive("set_rules", map[string]any{"file": "/dev/null/answers"})
		w.receive("revoke", map[string]any{"callback": 7, "id": "x"})
		w.told("7 true open /dev/null/answers.lock: not a directory")
	})
}

// A write that waits long says so while it waits.
func TestASlowWriteIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		w.files.Slow(t.Context(), "It takes long.")
		w.told("warning: It takes long.")
	})
}

// Rules with mistakes are not used, and the user is told so; what there is of lasting answers is listed, also if their file is
// broken.
func TestRulesAndAnswersThatAreBroken(t *testing.T) {
	answers := must.Write(t, t.TempDir(), "answers", "{")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		w.receive("set_rules", map[string]any{"file": answers, "rules": []any{map[string]any{"action": "no such"}}})
		w.settle()
		told := strings.Join(w.nvim.take(), "\n")
		const mistakes = "error: the permission rules are ignored, as they have mistakes: "
		if !strings.HasPrefix(told, mistakes) || told == mistakes {
			t.Errorf("of mistakes Neovim is told %q", told)
		}
		w.receive("set_rules", map[string]any{"file": answers})
		w.told()
		w.receive("list_decided", map[string]any{"callback": 7})
		w.settle()
		list := w.nvim.take()
		if len(list) != 2 || list[0] != "warning: the file of your lasting answers is broken; :Acp log says more" ||
			!strings.HasPrefix(list[1], "7 ") || strings.Contains(list[1], "<nil>") {
			t.Errorf("for the list Neovim is told %q", list)
		}
		check.Contains(t, w.log.String(), "list the lasting answers", "the log says %s")
	})
}
