package permission

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// asked has an agent ask, and gives what Neovim shows of it.
func (d *desk) asked(r session.PermissionRequest) (snap rpc.Permission) {
	d.t.Helper()
	r.Context = context.Background()
	if r.Reply == nil {
		r.Reply = func(string) {}
	}
	d.on(func() { d.Ask(r) })
	d.settle()
	snap = d.shows()
	d.on(func() { d.WithdrawAll("cancel") })
	return snap
}

// What the float says, by what an agent asks.
func TestWordsOfAQuestion(t *testing.T) {
	text := func(text string) []session.ToolCallContent {
		return []session.ToolCallContent{session.ContentItem{Content: session.Text{Text: text}}}
	}
	added := func(names ...string) (list []session.ToolCallContent) {
		for _, n := range names {
			is := "new\n"
			list = append(list, session.Diff{Path: n, NewText: &is, Operation: session.OperationAdd})
		}
		return list
	}
	at := func(paths ...string) (list []session.Location) {
		for _, p := range paths {
			list = append(list, session.Location{Path: p})
		}
		return list
	}
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	var many []session.ToolCallContent
	for i := range 5 {
		is := strings.Repeat("x\n", 9)
		many = append(many, session.Diff{Path: fmt.Sprintf("f%d", i), NewText: &is, Operation: session.OperationAdd})
	}
	for name, c := range map[string]struct {
		call    session.ToolCall
		heading string
		lines   []string
	}{
		"a read":             {session.ToolCall{Kind: session.KindRead, Title: "Read a", Locations: at("/a", "/elsewhere/b")}, "Puppet wants to read 2 files", []string{"Read a", "/a", "/elsewhere/b"}},
		"an edit":            {session.ToolCall{Kind: session.KindEdit, Title: "Edit it", Content: text("of this\n")}, "Puppet wants to edit", []string{"Edit it", "of this"}},
		"a deletion":         {session.ToolCall{Kind: session.KindDelete, Title: "x"}, "Puppet wants to delete", []string{"x"}},
		"a move":             {session.ToolCall{Kind: session.KindMove, Title: "x"}, "Puppet wants to move", []string{"x"}},
		"a move to a place":  {session.ToolCall{Kind: session.KindMove, Title: "x", Locations: at("/a", "/b")}, "Puppet wants to move /a", []string{"x", "/a", "/b"}},
		"a fetch":            {session.ToolCall{Kind: session.KindFetch, Title: "x"}, "Puppet wants to fetch", []string{"x"}},
		"a search":           {session.ToolCall{Kind: session.KindSearch, Title: "x"}, "Puppet wants to search", []string{"x"}},
		"a mode":             {session.ToolCall{Kind: session.KindSwitchMode, Title: "Ready"}, "Puppet wants to change the mode", []string{"Ready"}},
		"something":          {session.ToolCall{Kind: session.KindOther, Title: "x"}, "Puppet wants to go on", []string{"x"}},
		"nothing":            {session.ToolCall{Kind: session.KindThink}, "Puppet wants to go on", nil},
		"a place in a title": {session.ToolCall{Kind: session.KindRead, Title: "Read /a", Locations: at("/a")}, "Puppet wants to read /a", []string{"Read /a"}},
		"a plan": {
			session.ToolCall{Kind: session.KindSwitchMode, Title: "Ready?", Content: text("One"), RawInput: raw(`{"plan":"Two"}`)},
			"Puppet has a plan: Ready?", []string{"One", "plan: Two"},
		},
		"a plan in the input": {session.ToolCall{Kind: session.KindSwitchMode, Title: "Ready?", RawInput: raw(`{"plan":" Two "}`)}, "Puppet has a plan: Ready?", []string{"Two"}},
		"a plan in markdown":  {session.ToolCall{Kind: session.KindSwitchMode, Title: "Ready?", RawInput: raw(`{"plan":7,"markdown":"Three"}`)}, "Puppet has a plan: Ready?", []string{"Three", "plan: 7"}},
		"a plan of two parts": {session.ToolCall{Kind: session.KindSwitchMode, Title: "R", Content: append(text("One"), text("Two")...)}, "Puppet has a plan: R", []string{"One", "", "Two"}},
		"a description":       {session.ToolCall{Kind: session.KindRead, Title: "x", RawInput: raw(`{"description":" Why "}`)}, "Puppet wants to read", []string{"Why", "x"}},
		"no description":      {session.ToolCall{Kind: session.KindRead, Title: "x", RawInput: raw(`{"description":7}`)}, "Puppet wants to read", []string{"x", "description: 7"}},
		"a long description": {
			session.ToolCall{Title: "x", RawInput: raw(`{"description":"1\n2\n3\n4\n5"}`)}, "Puppet wants to go on",
			[]string{"1", "2", "3", "    … +2 lines", "x", "description:", "  1", "  2", "  3", "  4", "  5"},
		},
		"an input": {
			session.ToolCall{Title: "mcp__db__query", RawInput: raw(`{"sql":"drop table t;\n-- all","dry":false,"n":1.50,"none":null,"empty":"","in":{"a":[1,[2],{"b":"c","d":[]}]}}`)},
			"Puppet wants to use db: query",
			[]string{"sql:", "  drop table t;", "  -- all", "dry: false", "n: 1.50", "none: null", "empty:", "in:", "  a:", "    - 1", "    - - 2", "    - b: c", "      d: []"},
		},
		"an input of a read": {session.ToolCall{Kind: session.KindRead, Title: "Read `a`", Locations: at("/b"), RawInput: raw(`{"file_path":"a","other":"/b","limit":3}`)}, "Puppet wants to read /b", []string{"Read `a`", "/b", "limit: 3"}},
		"an empty field":     {session.ToolCall{RawInput: raw(`{"note":""}`)}, "Puppet wants to go on", []string{"note:"}},
		"a description that is shown whole": {
			session.ToolCall{Title: "x", RawInput: raw(`{"description":"` + strings.Repeat("y", descriptionBytes) + `"}`)}, "Puppet wants to go on",
			[]string{strings.Repeat("y", descriptionBytes), "x"},
		},
		"a description that is cut": {
			session.ToolCall{Title: "x", RawInput: raw(`{"description":"` + strings.Repeat("y", descriptionBytes+1) + `"}`)}, "Puppet wants to go on",
			[]string{strings.Repeat("y", descriptionBytes), "x", "description: " + strings.Repeat("y", descriptionBytes+1)},
		},
		"an empty input":         {session.ToolCall{Title: "x", RawInput: raw(`{}`)}, "Puppet wants to go on", []string{"x"}},
		"its title in the input": {session.ToolCall{Title: "Drop it", RawInput: raw(`{"what":"Drop it"}`)}, "Puppet wants to go on", []string{"Drop it"}},
		"an input without keys":  {session.ToolCall{Title: "x", RawInput: raw(`["a\u001b","b"]`)}, "Puppet wants to go on", []string{"x", "- a^[", "- b"}},
		"a command of a tool":    {session.ToolCall{Title: "deploy", RawInput: raw(`{"command":"go","cwd":"/w","target":"prod"}`)}, "Puppet wants to run a command", []string{"deploy", "$ go", "in /w", "target: prod"}},
		"a plan that asks more":  {session.ToolCall{Kind: session.KindSwitchMode, Title: "R", RawInput: raw(`{"plan":"One","allowedPrompts":["x"]}`)}, "Puppet has a plan: R", []string{"One", "allowedPrompts:", "  - x"}},
		"its title below a key":  {session.ToolCall{Title: "x", RawInput: raw(`{"is":"x","in":{"is":"x"}}`)}, "Puppet wants to go on", []string{"x", "in:", "  is: x"}},
		"an input that is deep":  {session.ToolCall{RawInput: raw(strings.Repeat("[", 14) + "1" + strings.Repeat("]", 14))}, "Puppet wants to go on", []string{strings.Repeat("- ", inputDepth) + "[[1]]"}},
		"a command":              {session.ToolCall{Kind: session.KindExecute, Title: "Tests", RawInput: raw(`{"command":"make\ntest","cwd":"/w"}`)}, "Puppet wants to run a command", []string{"$ make", "  test", "in /w"}},
		"no command":             {session.ToolCall{Kind: session.KindExecute}, "Puppet wants to run a command", nil},
		"a command and a title":  {session.ToolCall{Kind: session.KindOther, Title: "Leave", RawInput: raw(`{"command":"ls","cwd":"/w"}`)}, "Puppet wants to run a command", []string{"Leave", "$ ls", "in /w"}},
		"a command as its title": {session.ToolCall{Kind: session.KindOther, Title: "ls", RawInput: raw(`{"command":"ls","cwd":"/w"}`)}, "Puppet wants to run a command", []string{"$ ls", "in /w"}},
		"empty lines":            {session.ToolCall{Kind: session.KindExecute, RawInput: raw(`{"command":"a\n\n\n\nb\n\n\n\n\nc","cwd":"/w"}`)}, "Puppet wants to run a command", []string{"$ a", "  ", "  ", "  ", "  b", "  <4 empty lines>", "  c", "in /w"}},
		"a new file":             {session.ToolCall{Kind: session.KindEdit, Title: "t", Content: added("n")}, "Puppet wants to edit n", []string{"n (new)  +1", "  1 + new"}},
		"a file that is deleted": {session.ToolCall{Kind: session.KindDelete, Title: "t", Content: added("n")}, "Puppet wants to delete n", []string{"n (new)  +1", "  1 + new"}},
		"a file that is moved":   {session.ToolCall{Kind: session.KindMove, Title: "t", Content: added("n")}, "Puppet wants to move n", []string{"n (new)  +1", "  1 + new"}},
		"a diff of another kind": {session.ToolCall{Kind: session.KindOther, Title: "t", Content: added("n")}, "Puppet wants to edit n", []string{"t", "n (new)  +1", "  1 + new"}},
		"two files":              {session.ToolCall{Kind: session.KindEdit, Content: added("n", "m")}, "Puppet wants to edit 2 files", []string{"n (new)  +1", "  1 + new", "m (new)  +1", "  1 + new"}},
		"a command with a diff": {
			session.ToolCall{Kind: session.KindExecute, RawInput: raw(`{"command":"x","cwd":"/w"}`), Content: added("n")},
			"Puppet wants to run a command", []string{"$ x", "in /w", "n (new)  +1", "  1 + new"},
		},
		"much": {
			session.ToolCall{Kind: session.KindOther, Content: text(strings.Repeat("x\n", 20))}, "Puppet wants to go on",
			slices.Repeat([]string{"x"}, 20),
		},
		"five files of nine lines": {
			session.ToolCall{Kind: session.KindEdit, Content: many}, "Puppet wants to edit 5 files",
			slices.Concat(fileOfNine(0), fileOfNine(1), fileOfNine(2), fileOfNine(3), fileOfNine(4)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			atDesk(t, func(d *desk) {
				call := session.ToolCallPatch{ID: "c", Title: acp.Set(c.call.Title), Kind: acp.Set(c.call.Kind), Content: acp.Set(c.call.Content), Locations: acp.Set(c.call.Locations)}
				if c.call.RawInput != nil {
					call.RawInput = acp.Set(c.call.RawInput)
				}
				snap := d.asked(session.PermissionRequest{Call: call})
				if snap.Heading != c.heading || !slices.Equal(snap.Lines, c.lines) {
					t.Errorf("it says %q\n%s", snap.Heading, strings.Join(snap.Lines, "\n"))
				}
				title := c.call.Title
				if title == "mcp__db__query" {
					title = "db: query"
				}
				if snap.ToolCallID != "c" || snap.Session != 1 || snap.Title != title {
					t.Errorf("it is %v", snap)
				}
				if has := snap.Files > 0; has != strings.Contains(strings.Join(c.lines, ""), "(new)") {
					t.Errorf("files: %v", snap.Files)
				}
			})
		})
	}
}

func fileOfNine(i int) []string {
	return []string{fmt.Sprintf("f%d (new)  +9", i), "  1 + x", "  2 + x", "  3 + x", "    … +6 lines"}
}

// What an agent says is not longer than the rest has room for.
func TestBoundsOfAQuestion(t *testing.T) {
	atDesk(t, func(d *desk) {
		snap := d.asked(session.PermissionRequest{Description: strings.Repeat("a\n", 9), Command: "x", Cwd: "/w", Title: strings.Repeat("t", 600)})
		if want := []string{"a", "a", "a", "    … +6 lines", "$ x", "in /w"}; !slices.Equal(snap.Lines[1:], want) {
			t.Errorf("the lines are %q", snap.Lines)
		}
		check.Equal(t, len(snap.Lines[0]), 500, "the title has %d bytes")
		snap = d.asked(session.PermissionRequest{Command: strings.Repeat("x\n", 3000), Cwd: "/" + strings.Repeat("w", 400)})
		lines := snap.Lines
		if len(lines) != floatLines-100+2 || lines[len(lines)-2] != "    … +1101 lines" || len(lines[len(lines)-1]) != len("in ")+300 {
			t.Errorf("%d lines, and at the end %q", len(lines), lines[len(lines)-2:])
		}
		snap = d.asked(session.PermissionRequest{Command: strings.Repeat("x", 2*floatBytes), Cwd: "/w"})
		lines = snap.Lines
		if len(lines) != 2 || len(lines[0]) != floatBytes || lines[1] != fmt.Sprintf("… %d bytes more, which are not shown", floatBytes+2+len("in /w")) {
			t.Errorf("%d lines, the first of %d bytes, then %q", len(lines), len(lines[0]), lines[1])
		}
		short := []styled.Line{{Text: "a"}, {Text: "b"}, {Text: "c"}}
		if got := capped(short, 3); len(got) != 3 || got[2].Text != "c" {
			t.Errorf("of three lines three are %v", got)
		}
		if got := capped(short, 2); len(got) != 2 || got[1].Text != "    … +2 lines" || short[1].Text != "b" {
			t.Errorf("of three lines two are %v", got)
		}
		marked := []styled.Line{{Text: strings.Repeat("a", floatBytes-2)}, {Text: "bcde", Marks: []styled.Mark{{Col: 0, EndCol: 2}, {Col: 2, EndCol: 4}}}, {Text: "f"}}
		got := cutLines(marked)
		if len(got) != 3 || got[1].Text != "bc" || len(got[1].Marks) != 1 || got[2].Text != "… 3 bytes more, which are not shown" || len(marked[1].Marks) != 2 {
			t.Errorf("cut are %+v", got[1:])
		}
		check.Equal(t, len(cutLines([]styled.Line{{Text: strings.Repeat("a", floatBytes)}})), 1, "what just fits has %d lines")
		check.Deep(t, cutLines(marked[1:]), marked[1:], "what fits is %+v")
	})
}

// Prose keeps the spaces that languages need, commands show them.
func TestSpacesOfAQuestion(t *testing.T) {
	atDesk(t, func(d *desk) {
		snap := d.asked(session.PermissionRequest{Description: "a\u00a0b", Title: "c\u00a0d", Command: "e\u00a0f", Cwd: "/g\u00a0h"})
		check.Slice(t, snap.Lines, []string{"c\u00a0d", "a\u00a0b", "$ e<U+00A0>f", "in /g\u00a0h"}, "the lines are %q")
		call := session.ToolCallPatch{ID: "c", Title: acp.Set("a\u00a0b"), Content: acp.Set([]session.ToolCallContent{session.ContentItem{Content: session.Text{Text: "c\u00a0d"}}})}
		if lines := d.asked(session.PermissionRequest{Call: call}).Lines; !slices.Equal(lines, []string{"a\u00a0b", "c\u00a0d"}) {
			t.Errorf("the lines are %q", lines)
		}
		edit := session.ToolCallPatch{ID: "e", Kind: acp.Set(session.KindEdit), Content: acp.Set([]session.ToolCallContent{replacing("none", "c\u00a0d\n", "\n")})}
		check.Contains(t, strings.Join(d.asked(session.PermissionRequest{Call: edit}).Lines, "\n"), "- c\u00a0d", "a change is\n%s")
		call.Kind = acp.Set(session.KindSwitchMode)
		check.Slice(t, d.asked(session.PermissionRequest{Call: call}).Lines, []string{"c\u00a0d"}, "the lines are %q")
	})
}

// The prompt before a command moves its colours along.
func TestColoursOfACommand(t *testing.T) {
	plain, prompted := styled.Shell("echo 'a'\nls"), commandLines("echo 'a'\nls")
	if len(prompted) != 2 || prompted[0].Text != "$ echo 'a'" || prompted[1].Text != "  ls" || len(plain[0].Marks) == 0 {
		t.Fatalf("the lines are %+v", prompted)
	}
	for i, l := range styled.Shell("echo 'a'\nls") {
		for j, m := range l.Marks {
			is := prompted[i].Marks[j]
			if is.Col != m.Col+2 || is.EndCol != m.EndCol+2 || is.Group != m.Group {
				t.Errorf("%d: %+v, from %+v", i, is, m)
			}
		}
	}
	if got := commandLines("ls\n\n\n\n\n\n"); len(got) != 2 {
		t.Errorf("with empty lines at its end it is %+v", got)
	}
	texts, marks := styled.Flatten([]styled.Line{{Text: "a"}, {Text: "bc", Marks: []styled.Mark{{Col: 1, EndCol: 2, Group: 3}}}})
	if !slices.Equal(texts, []string{"a", "bc"}) || !slices.Equal(marks, []int{1, 1, 2, 3}) {
		t.Errorf("flat are %q, %v", texts, marks)
	}
}

func TestOptionsOfAQuestion(t *testing.T) {
	atDesk(t, func(d *desk) {
		snap := d.asked(session.PermissionRequest{Title: "x", Options: []session.PermissionOption{
			{ID: "n"}, {ID: "k", Kind: "reject_always"}, {ID: "y", Name: "Y\x1bes", Kind: "allow_once"}, {ID: "l", Name: strings.Repeat("n", 3000), Kind: "odd"}, {ID: "f", Name: strings.Repeat("f", optionBytes), Kind: "odd"},
		}})
		var labels []string
		for _, o := range snap.Options {
			labels = append(labels, o.Label)
		}
		if labels[0] == "Y\x1bes" || labels[1] != "(reject always)" || labels[2] != "(no name)" || labels[3] != strings.Repeat("n", optionBytes)+"…" || labels[4] != strings.Repeat("f", optionBytes) {
			t.Errorf("the options are %q", labels)
		}
		if snap.Allow != "y" || snap.Reject != "k" {
			t.Errorf("allowing is %v, refusing %v", snap.Allow, snap.Reject)
		}
		if d.asked(session.PermissionRequest{Title: "x", Options: []session.PermissionOption{{ID: "y", Kind: "allow_once"}}}).Reject != "" {
			t.Error("something refuses")
		}
	})
}

// An input that comes later than its request is shown as well, and one that is very long is said to be cut.
func TestInputsOfOtherPlaces(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.on(func() {
			d.Ask(session.PermissionRequest{Context: context.Background(), Call: session.ToolCallPatch{ID: "late", Title: acp.Set("t")}, Reply: func(string) {}})
		})
		d.settle()
		d.on(func() { d.update(session.ToolCallPatch{ID: "late", RawInput: acp.Set(json.RawMessage(`{"sql":"x"}`))}) })
		d.settle()
		check.Slice(t, d.shows().Lines, []string{"t", "sql: x"}, "an input that comes late is shown as %q")
		d.on(func() { d.WithdrawAll("cancel") })

		path := d.asked(session.PermissionRequest{Call: session.ToolCallPatch{ID: "path", Title: acp.Set("See a.txt"), RawInput: acp.Set(json.RawMessage(`{"path":"` + d.dir + `/a.txt"}`))}})
		check.Slice(t, path.Lines, []string{"See a.txt"}, "a path by its other name is shown as %q")
		path = d.asked(session.PermissionRequest{Call: session.ToolCallPatch{
			ID: "place", Title: acp.Set("See it"), Locations: acp.Set([]session.Location{{Path: d.dir + "/a.txt"}}), RawInput: acp.Set(json.RawMessage(`{"path":"` + d.dir + `/a.txt"}`)),
		}})
		check.Slice(t, path.Lines, []string{"See it", "a.txt"}, "a path that is the call's place is shown as %q")

		long, _ := json.Marshal(map[string]any{"a": strings.Repeat("x", floatBytes+7), "b": "yy"})
		got := d.asked(session.PermissionRequest{Call: session.ToolCallPatch{ID: "long", RawInput: acp.Set(json.RawMessage(long))}}).Lines
		if last := got[len(got)-1]; !strings.HasSuffix(last, "bytes more, which are not shown") {
			t.Errorf("the last line of much is %.80q", last)
		}
	})
}
