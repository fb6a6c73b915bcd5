package transcript

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// shown is a transcript of updates, all of it in the buffer.
func shown(t *testing.T, updates ...session.Update) (*world, *Transcript, *buffer) {
	t.Helper()
	w := newWorld()
	tr, b := New(w.conv, w.config()), newBuffer()
	w.apply(updates...)
	tr.Sync()
	b.take(t, tr, 1<<30)
	return w, tr, b
}

// rowOf is the row of the first line with a text.
func (b *buffer) rowOf(text string) int {
	return slices.IndexFunc(b.lines, func(l bufferLine) bool { return strings.Contains(l.text, text) })
}

func TestReadable(t *testing.T) {
	for raw, want := range map[string]string{
		``: "", `null`: "", `{}`: "",
		`"text"`:             "text",
		`"two\nlines\n"`:     "two\nlines",
		`7`:                  "7",
		`12345678901234567`:  "12345678901234567",
		`[]`:                 "(empty)",
		`[1,"a",null,false]`: "- 1\n- a\n- null\n- false",
		`{"b":1,"a":"x"}`:    "b: 1\na: x",
		`{"a":{}}`:           "a: (empty)",
		`{"a":[],"b":{"c":[1,[2,3],{"d":4,"e":[]}]}}`: "a: (empty)\nb:\n  c:\n    - 1\n    - - 2\n      - 3\n    - d: 4\n      e: (empty)",
		`{"text":"one\n\ntwo"}`:                       "text:\n  one\n\n  two",
		`["one\ntwo"]`:                                "-\n  one\n  two",
		`[{"a":{"b":1},"c":2},{"d":{}}]`:              "- a:\n    b: 1\n  c: 2\n- d: (empty)",
		`{"a":`:                                       `{"a":`,
		`no json`:                                     "no json",
	} {
		check.Equal(t, strings.Join(readable(json.RawMessage(raw), 100), "\n"), want, "%s reads\n%s", raw)
		for n, lines := 0, strings.Split(want, "\n"); n < len(lines) && want != "" && want != raw; n++ {
			cut := strings.Join(append(lines[:n:n], "…"), "\n")
			check.Equal(t, strings.Join(readable(json.RawMessage(raw), n), "\n"), cut, "%d lines of %s read\n%s", n, raw)
		}
	}
}

// A question that is the title of its call, and what it says, stands there once.
func TestTitlesAreNotSaidAgain(t *testing.T) {
	for _, status := range []session.ToolCallStatus{session.StatusWaiting, session.StatusCompleted} {
		_, _, b := shown(t, call(session.KindOther, status, "Which colour?", output("Which colour?\n"), output("Red")))
		want := map[session.ToolCallStatus]string{session.StatusWaiting: "  ? ◦ tool   Which colour?|    Red", session.StatusCompleted: "  ✓ ◦ tool   Which colour?  … +1 line"}[status]
		var lines []string
		for _, l := range b.lines {
			lines = append(lines, l.text)
		}
		check.Equal(t, strings.Join(lines, "|"), want, "%s", b)
	}
}

// What a call is about is said once: by its title, without the words that its kind and the name of its file say
// already, or else by its tool, its command or what it searches for.
func TestWhatACallIsAbout(t *testing.T) {
	const a = "/project/src/a.lua"
	for _, c := range []struct {
		kind              session.ToolKind
		name, title, path string
		line              int
		input             string
		want              string
	}{
		// A title that ends with the name of a file is given the line, unless it says one.
		{session.KindSearch, "", "Look in a.lua", a, 3, "", "Look in a.lua:3"},
		{session.KindSearch, "", "src/a.lua", a, 3, "", "src/a.lua:3"},
		{session.KindSearch, "", "src/a.lua", a, 0, "", "src/a.lua"},
		{session.KindSearch, "", "Look in a.lua:7", a, 3, "", "Look in a.lua:7"},
		{session.KindSearch, "", "a.lua and more", a, 3, "", "a.lua and more"},
		{session.KindSearch, "", "Look", a, 3, "", "Look  src/a.lua:3"},
		{session.KindSearch, "", "For x: src/a.lua", a, 3, "", "For x: src/a.lua"},
		{session.KindFetch, "", "grep", "", 0, `{"pattern": "needle"}`, "grep"},
		{session.KindOther, "", "Ask /project/src/x y", "", 0, "", "Ask src/x y"},
		{session.KindOther, "", "plan", "", 0, `{"todos": [{"content": "a"}]}`, "0 of 1 done  … +1 line"},
		{session.KindSearch, "", "", a, 3, "", "src/a.lua:3"},
		{session.KindSearch, "", "rc/a.lua", "/project/src/a.lua", 0, "", "rc/a.lua"},
		{session.KindSearch, "", "a.lua", a, 0, "", "src/a.lua"},
		{session.KindSearch, "", "List files", "/project", 0, "", "List files"},
		{session.KindSearch, "", "", "/project", 0, "", "."},
		{session.KindSearch, "", "grep", "", 0, `{"pattern": "needle"}`, "needle"},
		{session.KindSearch, "", "grep", "", 0, `{"query": "needle"}`, "needle"},
		{session.KindSearch, "", "grep", "", 0, "", "grep"},
		{session.KindSearch, "", "needle in hay", "", 0, `{"pattern": "needle"}`, "needle in hay"},
		{session.KindSearch, "", "src/*.lua", "", 0, `{"pattern": "needle"}`, "src/*.lua"},
		{session.KindSearch, "", "`needle`", "", 0, `{"pattern": "hay"}`, "`needle`"},
		{session.KindFetch, "web", "", "", 0, `{"command": "make"}`, "web"},
		{session.KindExecute, "bash", "", "", 0, `{"command": "make"}`, "make"},
		{session.KindExecute, "bash", "`make`", a, 3, "", "make"},
		{session.KindThink, "", "`it`", "", 0, "", "`it`"},
		{session.KindRead, "", "Read x", "", 0, "", "x"},
		{session.KindRead, "", "Readme", "", 0, "", "Readme"},
		{session.KindRead, "", "Reading the file", a, 3, "", "src/a.lua:3"},
		{session.KindRead, "", "a.lua:7", a, 3, "", "src/a.lua:7"},
		{session.KindRead, "ReadFile", "ReadFile", a, 0, "", "src/a.lua"},
		{session.KindRead, "ReadFile", "2", a, 0, "", "src/a.lua  2"},
		{session.KindRead, "", "Look at it", a, 0, "", "src/a.lua  Look at it"},
		{session.KindRead, "", "Look at xa.lua", a, 0, "", "src/a.lua  Look at xa.lua"},
		{session.KindRead, "", "Look at a.luax, a.lua:4", a, 0, "", "src/a.lua:4"},
		{session.KindRead, "", "Look at my-a.lua", a, 0, "", "src/a.lua  Look at my-a.lua"},
		{session.KindRead, "", "Look at _a.lua", a, 0, "", "src/a.lua  Look at _a.lua"},
		{session.KindRead, "", "Look at a.lua2", a, 0, "", "src/a.lua  Look at a.lua2"},
		{session.KindRead, "", "it", "", 0, `{"path": "/project/src/a.lua"}`, "src/a.lua  it"},
		{session.KindFetch, "", "it", "", 0, `{"path": "/project/src/a.lua"}`, "it"},
		{session.KindRead, "", "it", "", 0, `{"path": "/project/src/a.lua", "x": "` + strings.Repeat("x", maxInput) + `"}`, "it"},
		{session.KindOther, "", "plan", "", 0, `{"todos": [{"content": "a", "status": "completed"}, {"content": "b"}]}`, "1 of 2 done  … +2 lines"},
		{session.KindRead, "", "plan", "", 0, `{"todos": [{"content": "a", "status": "completed"}]}`, "plan"},
	} {
		p := call(c.kind, session.StatusCompleted, c.title)
		p.Name = acp.Set(c.name)
		if c.path != "" {
			p = at(p, c.path, c.line)
		}
		if c.input != "" {
			p.RawInput = acp.Set(json.RawMessage(c.input))
		}
		_, _, b := shown(t, p)
		_, got, _ := strings.Cut(b.lines[0].text[len("  ✓ "):], " ") // behind the icon
		label := kindLabels[c.kind]
		if strings.HasPrefix(got, "plan ") {
			label = "plan"
		}
		got = strings.TrimSpace(strings.TrimPrefix(got, label))
		check.Equal(t, got, c.want, fmt.Sprintf("of %q, %q at %q", c.kind, c.title, c.path)+" is said %q")
	}
}

func TestClip(t *testing.T) {
	text := "1\n2\n3\n4\n5\n6\n7"
	for _, test := range []struct {
		n, tail     int
		first, last string
		hidden      int
	}{
		{7, 2, text, "", 0}, {6, 2, text, "", 0}, {5, 2, "1\n2\n3", "6\n7", 2}, {3, 0, "1\n2\n3", "", 4}, {2, 2, "", "6\n7", 5}, {2, 1, "1", "7", 5},
	} {
		for _, one := range []string{"1", ""} { // the first line
			text, want := one+text[1:], test.first
			if test.first != "" {
				want = one + want[1:]
			}
			first, last, hidden := clip(text, test.n, test.tail)
			if first != want || last != test.last || hidden != test.hidden {
				t.Errorf("%d lines of %q, %d from the end: %q, %q, %d", test.n, text, test.tail, first, last, hidden)
			}
		}
	}
}

func TestFitted(t *testing.T) {
	for _, test := range []struct {
		title string
		room  int
		want  string
	}{
		{"a title", 7, "a title"}, {"a longer title", 10, "a longer …"}, {"src/deep/down/lexer.lua:40", 14, "…/lexer.lua:40"},
		{"日本語の題名です", 9, "日本語の…"}, {"whatever", 0, "whatever"},
	} {
		check.Equal(t, fitted(test.title, test.room), test.want, "%q in %d cells is %q", test.title, test.room)
	}
}

// A long title leaves room for what stands at the right edge, and for the icon of
// the kind; in a narrow window it goes before both.
func TestLongTitlesLeaveRoom(t *testing.T) {
	_, tr, b := shown(t, call(session.KindExecute, session.StatusPending, strings.Repeat("make all ", 20)), session.Waiting{ToolCallID: "c", Open: true})
	for _, test := range []struct {
		width       int
		want, right string
	}{
		{60, "  ? $ run    make all make all make all make…", "waits for you"},
		{30, "  ? run    make all ma…", "waits"},
		{20, "  ? run    make all…", "waits for you"}, // which has no room
	} {
		tr.SetWidth(test.width)
		b.take(t, tr, 1<<30)
		if got := b.lines[0]; got.text != test.want || got.decor[0].Right != test.right {
			t.Errorf("in %d cells it is %q, %q, want %q, %q", test.width, got.text, got.decor[0].Right, test.want, test.right)
		}
	}
}

// Of a call that its turn left behind nobody knows how it ended: it was not cancelled.
func TestLeftOpenCallsAreNotCancelled(t *testing.T) {
	run := call(session.KindEdit, session.StatusInProgress, "a.go")
	for reason, want := range map[session.StopReason]string{session.StopEndTurn: "unfinished", session.StopCancelled: "cancelled"} {
		_, _, b := shown(t, session.TurnStart{}, run, session.TurnEnd{StopReason: reason})
		check.Equal(t, b.lines[b.rowOf("a.go")].decor[0].Right, want, "when a turn ended with %s it is %q", reason)
	}
}

// What matters most of a call stands in a narrow window too, and its wording is the same for all agents.
// What the editor has found is said longer than what it was asked.
func TestCountsInANarrowWindow(t *testing.T) {
	asked := call(session.KindOther, session.StatusCompleted, "mcp__nvim__references",
		session.ContentItem{Content: session.Text{Text: "1000 places:\na.go:1:1: x"}})
	asked.RawInput, asked.Editor = acp.Set(json.RawMessage(`{"symbol":"parse_everything"}`)), true
	for width, want := range map[int]string{
		100: "  ✓ ◦ asked the editor: references of `parse_everything` · 1000 places  … +2 lines",
		50:  "  ✓ ◦ asked the editor: references … · 1000 places",
		34:  "  ✓ ◦ asked the edi… · 1000 places",
		20:  "  ✓ asked the edito…",
	} {
		_, tr, b := shown(t, asked)
		tr.SetWidth(width)
		b.take(t, tr, 1<<30)
		check.Equal(t, b.lines[0].text, want, "in %d cells it is %q", width)
	}
}

func TestHeadsInANarrowWindow(t *testing.T) {
	edit := func(title, path string) session.ToolCallPatch {
		p := call(session.KindEdit, session.StatusPending, title, change("/project/"+path, "old\n", "new\n"))
		p.Locations = acp.Set([]session.Location{{Path: "/project/" + path}})
		return p
	}
	read := func(title string) session.ToolCallPatch {
		p := call(session.KindRead, session.StatusPending, title)
		p.Locations = acp.Set([]session.Location{{Path: "/project/hello.txt"}})
		return p
	}
	mcp := call(session.KindOther, session.StatusPending, "mcp__tickets__find_ticket")
	search := call(session.KindSearch, session.StatusPending, "grep")
	search.RawInput = acp.Set(json.RawMessage(`{"pattern":"between("}`))
	for _, test := range []struct {
		width       int
		call        session.ToolCallPatch
		want, right string
	}{
		{50, edit("src/lexer.lua: for i = first, #toks - 1 do => for i = first, #toks do", "src/lexer.lua"),
			"  ? ✎ edit   src/lexer.lua  +1 −1", "waits for you"},
		{58, edit("Fix the last token", "src/lexer.lua"), "  ? ✎ edit   src/lexer.lua  Fix the…  +1 −1", "waits for you"},
		{50, edit("Fix the last token", "src/lexer.lua"), "  ? ✎ edit   src/lexer.lua  +1 −1", "waits for you"},
		{40, edit("Edit", "src/lexer.lua"), "  ? ✎ edit   src/lexer.lua  +1 −1", "waits"},
		{34, edit("Edit", "src/lexer.lua"), "  ? edit   src/lexer.lua", "waits"},
		{50, edit("Editing files", "hello.txt"), "  ? ✎ edit   hello.txt  +1 −1", "waits for you"},
		{50, edit("Writing to docs/new.md", "docs/new.md"), "  ? ✎ edit   docs/new.md  +1 −1", "waits for you"},
		{60, edit("in new.mdx", "docs/new.md"), "  ? ✎ edit   docs/new.md  in new.mdx  +1 −1", "waits for you"},
		{50, read("ReadFile: hello.txt"), "  ? » read   hello.txt", "waits for you"},
		{50, read("Read file '/project/hello.txt:12'"), "  ? » read   hello.txt:12", "waits for you"},
		{50, read("read"), "  ? » read   hello.txt", "waits for you"},
		{50, mcp, "  ? ◦ tool   tickets: find_ticket", "waits for you"},
		{50, search, "  ? ⌕ search between(", "waits for you"},
	} {
		_, tr, b := shown(t, test.call, session.Waiting{ToolCallID: "c", Open: true})
		tr.SetWidth(test.width)
		b.take(t, tr, 1<<30)
		if got := b.lines[0]; got.text != test.want || got.decor[0].Right != test.right {
			t.Errorf("in %d cells it is %q, %q, want %q, %q", test.width, got.text, got.decor[0].Right, test.want, test.right)
		}
	}
}

// Each cell of a window's width counts: what gives way does so where it has no room, and not before.
func TestWhatGivesWayInANarrowWindow(t *testing.T) {
	edit := at(call(session.KindEdit, session.StatusPending, "Fix the last token",
		change("/project/src/lexer.lua", "old\n", "new\n")), "/project/src/lexer.lua", 0)
	asked := call(session.KindOther, session.StatusCompleted, "mcp__nvim__references", output("1000 places:\na.go:1:1: x"))
	asked.RawInput, asked.Editor = acp.Set(json.RawMessage(`{"symbol":"parse_everything"}`)), true
	read := at(call(session.KindRead, session.StatusFailed, "Look at it all", output("a\nb")), "/project/src/lexer.lua", 12)
	for name, c := range map[string]struct {
		call session.ToolCallPatch
		want map[int]string
	}{
		"edit": {edit, map[int]string{
			68: "✎ edit   src/lexer.lua  Fix the last token  +1 −1|waits for you",
			67: "✎ edit   src/lexer.lua  Fix the last tok…  +1 −1|waits for you",
			48: "✎ edit   src/lexer.lua  +1 −1|waits for you",
			47: "edit   src/lexer.lua  +1 −1|waits for you",
			46: "edit   src/lexer.lua  +1 −1|waits for you",
			45: "✎ edit   src/lexer.lua  +1 −1|waits",
			40: "✎ edit   src/lexer.lua  +1 −1|waits",
			39: "edit   src/lexer.lua  +1 −1|waits",
			36: "edit   …/lexer.lua  +1 −1|waits",
			35: "edit   src/lexer.lua|waits",
			29: "edit   …/lexer.lua|waits",
			28: "edit   src/lexer.lua|waits for you",
		}},
		"question": {asked, map[int]string{
			82: "◦ asked the editor: references of `parse_everything` · 1000 places  … +2 lines",
			81: "◦ asked the editor: references of `parse_everything` · 1000 places",
			70: "◦ asked the editor: references of `parse_everything` · 1000 places",
			69: "◦ asked the editor: references of `parse_everythin… · 1000 places",
			30: "◦ asked the… · 1000 places",
			29: "asked the … · 1000 places",
			26: "asked t… · 1000 places",
			25: "asked the editor: re…",
		}},
		"read": {read, map[int]string{
			66: "» read   src/lexer.lua:12  Look at it all  … +2 lines",
			65: "» read   src/lexer.lua:12  Look at it a…  … +2 lines",
			60: "» read   src/lexer.lua:12  Look at…  … +2 lines",
			59: "» read   src/lexer.lua:12  … +2 lines",
			49: "» read   src/lexer.lua:12  … +2 lines",
			48: "» read   src/lexer.lua:12  Look at…",
			29: "» read   src/lexer.lua:12",
			28: "read   src/lexer.lua:12",
		}},
		"command": {call(session.KindExecute, session.StatusCompleted, "make all && make install", output("a\nb")), map[int]string{
			49: "$ run    make all && make install  … +2 lines",
			48: "$ run    make all && make install",
			37: "$ run    make all && make install",
			36: "run    make all && make install",
			34: "run    make all && make insta…",
		}},
	} {
		for width, want := range c.want {
			_, tr, b := shown(t, c.call, session.Waiting{ToolCallID: "c", Open: c.call.Status.Or("") == session.StatusPending})
			tr.Fold(0, Close)
			tr.SetWidth(width)
			b.take(t, tr, 1<<30)
			_, got, _ := strings.Cut(strings.TrimSpace(b.lines[0].text), " ") // behind its state
			for _, d := range b.lines[0].decor {
				got += "|" + d.Right
			}
			check.Equal(t, got, want, "in %d cells the head of the %s is %q", width, name)
		}
	}
}

// Of output as many lines are shown as there is room for, and one more, as that takes no more than to say that there is.
func TestOutputThatJustFits(t *testing.T) {
	for n, want := range map[int]string{
		6: "1|2|3|4|5|6", 7: "1|2|3|4|5|6|7", 8: "1|2|… +2 lines|5|6|7|8", 9: "1|2|… +3 lines|6|7|8|9",
	} {
		for _, colour := range []string{"", "\x1b[32m"} {
			_, _, b := shown(t, call(session.KindExecute, session.StatusInProgress, "a", output(numbers(1, n, colour+"%d"))))
			check.Equal(t, strings.Join(column(b)[1:], "|"), want, "%d lines of %q are shown as %s", n, colour)
		}
	}
}

// A title of megabytes is not measured at each drawing.
func TestEndlessTitles(t *testing.T) {
	now := time.Unix(3, 0)
	w, tr, b := running(t, &now)
	title := strings.Repeat("é", maxTitle)
	w.apply(session.ToolCallPatch{ID: "c", Title: acp.Set(title[1:] + "end")}) // cut within a letter
	tr.SetWidth(60)
	b.take(t, tr, 1<<30)
	row := b.rowOf("ééé")
	if text := b.lines[row].text; !utf8.ValidString(text) || styled.Cells(text) > 60 {
		t.Errorf("it is %q", text)
	}
	call := &session.ToolCall{Title: title[1:]}
	if what := tr.what(call, "", nil).title; len(what) > maxTitle || !utf8.ValidString(what) {
		t.Errorf("%d bytes count", len(what))
	}
}

// A time that comes does not change the title beside it.
func TestTitlesStayBesideATime(t *testing.T) {
	now := time.Unix(3, 0)
	w, tr, b := running(t, &now)
	w.apply(session.ToolCallPatch{ID: "c", Title: acp.Set(strings.Repeat("make all ", 20))})
	tr.SetWidth(60)
	tr.Sync()
	b.take(t, tr, 1<<20)
	row := b.rowOf("make all")
	before := b.lines[row]
	now = now.Add(75 * time.Second)
	tr.Tick()
	b.take(t, tr, 1<<20)
	after := b.lines[row]
	if after.text != before.text || len(after.decor) != 1 || after.decor[0].Right != "1:15" || styled.Cells(after.text)+len(" 1:15 ") > 60 {
		t.Errorf("it was %+v and is %+v", before, after)
	}
}

// A line is cut where it is too long, between characters, and its highlights with it.
func TestLongLinesAreCut(t *testing.T) {
	text := strings.Repeat("é", 4000) + "end"
	for name, content := range map[string]session.ToolCallContent{
		"output": output(text), "prose": output("**" + text + "**"), "a diff": change("/a", "", text+"\n"),
		"a resource": session.ContentItem{Content: session.Resource{URI: "file:///a", Text: text}},
		"colours":    output("\x1b[32m" + text),
	} {
		for _, kind := range []session.ToolKind{session.KindExecute, session.KindOther} {
			_, _, b := shown(t, call(kind, session.StatusFailed, "a", content))
			long := slices.IndexFunc(b.lines, func(l bufferLine) bool { return strings.Contains(l.text, "ééé") })
			if long < 0 || len(b.lines[long].text) > maxLine+100 || !strings.Contains(b.lines[long].text, "… +") {
				t.Errorf("%s: %d bytes\n%s", name, len(b.lines[max(0, long)].text), b)
			}
		}
	}
}

// An opened block shows a bounded part of what it has.
func TestOpenedBlocksAreBounded(t *testing.T) {
	_, tr, b := shown(t, call(session.KindExecute, session.StatusCompleted, "a", output(numbers(1, 100_000, "line %d"))))
	tr.Fold(0, Open)
	b.take(t, tr, 1<<30)
	if len(b.lines) != maxOpened+2 || b.rowOf("+98000 lines") != 1+maxOpened/3 || b.lines[maxOpened+1].text != "    line 100000" {
		t.Errorf("%d lines, the gap in row %d", len(b.lines), b.rowOf("+98000 lines"))
	}
}

// Only what is seen of output with controls is resolved.
func TestLongOutputIsResolvedAtItsEnds(t *testing.T) {
	w := newWorld()
	config, bytes := w.config(), 0
	resolve := config.Output
	config.Output = func(text string, n int) Screenful {
		bytes += len(text)
		return resolve(text, n)
	}
	tr, b := New(w.conv, config), newBuffer()
	w.apply(call(session.KindExecute, session.StatusInProgress, "a", output("\x1b[32mfirst\n"+numbers(1, 1_000_000, "\x1b[32mline %d")+"\x1b[32mlast")))
	tr.Sync()
	b.take(t, tr, 1<<30)
	if got := strings.Join(column(b), "|"); got != "▸ $ run    a|first|line 1|… +999996 lines|line 999998|line 999999|line 1000000|last" {
		t.Errorf("it shows %s", got)
	}
	if bytes > 100<<10 {
		t.Errorf("%d bytes were resolved", bytes)
	}
}

func TestNesting(t *testing.T) {
	child := func(id, parent string) session.Update {
		return session.ToolCallPatch{ID: id, Title: acp.Set(id), Status: acp.Set(session.StatusCompleted), Parent: acp.Set(parent), Content: acp.Set([]session.ToolCallContent{output("x")})}
	}
	w, tr, b := shown(t,
		child("a", ""), child("b", "a"), child("c", "b"), child("d", "c"), child("e", "d"), child("f", "e"), child("g", "a"), child("h", "nobody"), child("i", "i"))
	depths := func() string {
		var list []string
		for _, l := range b.lines {
			name, _, _ := strings.Cut(strings.TrimLeft(strings.TrimSpace(l.text), "✓ ◦tol"), " ")
			list = append(list, fmt.Sprintf("%s%d", name, (len(l.text)-len(strings.TrimLeft(l.text, " ")))/2-1))
		}
		return strings.Join(list, " ")
	}
	if got := depths(); got != "a0 b1 c2 d3 e4 f4 g1 h0 i0" {
		t.Fatalf("the depths are %s\n%s", got, b)
	}
	tr.Fold(b.rowOf("tool   b"), Close)
	b.take(t, tr, 1<<30)
	if got := depths(); got != "a0 b1 g1 h0 i0" || !strings.Contains(b.lines[1].text, "+4 calls") {
		t.Errorf("with b closed the depths are %s\n%s", got, b)
	}
	w.apply(child("g", "b"))
	tr.Sync()
	b.take(t, tr, 1<<30)
	if got := depths(); got != "a0 b1 h0 i0" || !strings.Contains(b.lines[1].text, "+5 calls") {
		t.Errorf("with g in it the depths are %s\n%s", got, b)
	}
	w.apply(child("j", "c"))
	tr.Sync()
	b.take(t, tr, 1<<30)
	if got := depths(); got != "a0 b1 h0 i0" || !strings.Contains(b.lines[1].text, "+6 calls") {
		t.Errorf("with more in it the depths are %s\n%s", got, b)
	}
	tr.Fold(1, Open)
	b.take(t, tr, 1<<30)
	if got := b.rowOf("tool   j"); got < 0 || strings.Index(b.lines[got].text, "✓") != 8 {
		t.Errorf("opened:\n%s", b)
	}
}

// Calls stand below the call that they are of, whenever either comes, and whatever is between.
func TestCallsStandBelowTheirParent(t *testing.T) {
	task := func(id, parent string) session.Update {
		return session.ToolCallPatch{ID: id, Title: acp.Set(id), Status: acp.Set(session.StatusCompleted), Parent: acp.Set(parent)}
	}
	says := func(id string) session.Update {
		return session.MessageChunk{MessageID: id, Role: session.RoleAgent, Content: session.Text{Text: id}}
	}
	w, tr, b := shown(t)
	for _, step := range []struct {
		updates []session.Update
		want    string
	}{
		{[]session.Update{task("p", ""), task("q", ""), task("p1", "p"), task("q1", "q"), task("p2", "p")}, "p .p1 .p2 q .q1"},
		{[]session.Update{says("meanwhile"), task("q2", "q"), task("q11", "q1")}, "p .p1 .p2 q .q1 ..q11 .q2 | meanwhile"},
		{[]session.Update{task("s11", "s1"), task("x", ""), task("s1", "s")}, "p .p1 .p2 q .q1 ..q11 .q2 | meanwhile | x s1 .s11"},
		{[]session.Update{says("and"), task("s", "")}, "p .p1 .p2 q .q1 ..q11 .q2 | meanwhile | x | and | s .s1 ..s11"},
		{[]session.Update{task("q1", "p")}, "p .p1 .q1 ..q11 .p2 q .q2 | meanwhile | x | and | s .s1 ..s11"},
		{[]session.Update{task("p", "s"), task("s", "")}, "q .q2 | meanwhile | x | and | s .p ..p1 ..q1 ...q11 ..p2 .s1 ..s11"},
		{[]session.Update{task("p", "q11")}, "p .p1 .p2 q .q2 q1 | meanwhile | q11 x | and | s .s1 ..s11"},
	} {
		w.apply(step.updates...)
		tr.Sync()
		b.take(t, tr, 1<<30)
		var list []string
		for _, l := range b.lines {
			name := strings.TrimLeft(l.text, "✓ ◦tol")
			indent := max(0, (len(l.text)-len(strings.TrimLeft(l.text, " ")))/2-1)
			if l.text == "" {
				name = "|"
			}
			list = append(list, strings.Repeat(".", indent)+name)
		}
		check.Equal(t, strings.Join(list, " "), step.want, "shown is %s")
	}
}

func TestPlace(t *testing.T) {
	link := session.ContentItem{Content: session.ResourceLink{URI: "file:///project/b%20c#L7-9", Name: "b"}}
	blob := session.ContentItem{Content: session.Audio{MimeType: "audio/wav", Data: "AAAA"}}
	_, tr, b := shown(t,
		at(call(session.KindExecute, session.StatusCompleted, "do it", link, blob, output("out"), change("/project/d", numbers(1, 9, "line %d"), numbers(1, 8, "line %d")+"new\n")), "/project/a", 3),
		session.ToolCallPatch{ID: "d", Kind: acp.Set(session.KindEdit), Title: acp.Set("closed"), Content: acp.Set([]session.ToolCallContent{change("/project/e", "a", "b")})},
		session.ToolCallPatch{ID: "n", Kind: acp.Set(session.KindFetch), Title: acp.Set("nowhere")},
		session.ToolCallPatch{ID: "s", Kind: acp.Set(session.KindSearch), Title: acp.Set("several"),
			Locations: acp.Set([]session.Location{{Path: "/project/f", Line: 7}, {Path: "/etc/g"}})},
		session.ToolCallPatch{ID: "r", Kind: acp.Set(session.KindOther), Title: acp.Set("mcp__nvim__references"), Editor: true,
			Locations: acp.Set([]session.Location{{Path: "/project/z"}}),
			Content:   acp.Set([]session.ToolCallContent{output("2 places:\nx.go:3:6: func x()\n/usr/y.go:9: y")})},
	)
	tr.Fold(b.rowOf("asked the editor"), Open)
	tr.Fold(b.rowOf("several"), Open)
	tr.Fold(0, Open)
	tr.Fold(b.rowOf("closed"), Close)
	b.take(t, tr, 1<<30)
	for text, want := range map[string]string{
		"do it": "{/project/a 3 false} true", "[b] ": "{/project/b c 7 false} true", "[audio": "{/cache/4.wav 0 true} true",
		"+ new": "{/project/d 0 false} true", "closed": "{/project/e 0 false} true", "nowhere": "{ 0 false} false",
		"    f:7": "{/project/f 7 false} true", "x.go:3:6": "{/project/x.go 3 false} true", "/usr/y.go": "{/usr/y.go 9 false} true",
		"2 places:": "{/project/z 0 false} true", "    /etc/g": "{/etc/g 0 false} true",
	} {
		place, ok := tr.Place(b.rowOf(text))
		if got := fmt.Sprint(place, ok); got != want {
			t.Errorf("%q leads to %s, want %s\n%s", text, got, want, b)
		}
	}
	if _, ok := tr.Place(1000); ok {
		t.Error("there is nothing at row 1000")
	}
}

// A row that the user saw before the last edits is followed through them.
func TestRowsAreFollowed(t *testing.T) {
	for seed := range uint64(50) {
		r := random{rand.New(rand.NewPCG(seed, 4))}
		w := newWorld()
		tr, b := New(w.conv, w.config()), newBuffer()
		for i := range 4 {
			w.apply(session.ToolCallPatch{ID: fmt.Sprint(i), Kind: acp.Set(session.KindExecute), Title: acp.Set(fmt.Sprint("title ", i))})
		}
		tr.Sync()
		b.take(t, tr, 1<<20)
		head := func(i int) int { return b.rowOf(fmt.Sprint("title ", i)) }
		seq, row, of := 0, 0, 0
		for range 40 {
			if r.IntN(4) == 0 {
				seq, of = tr.page.Seq(), r.IntN(4)
				row = head(of)
			}
			w.apply(session.ToolCallPatch{ID: fmt.Sprint(r.IntN(4)), Content: acp.Set([]session.ToolCallContent{output(numbers(1, r.IntN(9), "line %d"))})}, says("text\n"))
			tr.Sync()
			b.take(t, tr, 1<<r.IntN(9))
			if got := tr.RowNow(row, seq); seq > 0 && got != head(of) {
				t.Fatalf("seed %d: row %d of edit %d is row %d, want %d", seed, row, seq, got, head(of))
			}
		}
		if tr.RowNow(7, 0) != 7 || tr.RowNow(7, 1000) != 7 {
			t.Error("what is unknown does not stay")
		}
	}
}

func TestWhole(t *testing.T) {
	long := strings.Repeat("é", 1500) // 3000 bytes
	text := func(w Whole) string {
		var texts []string
		for l, ok := w.Lines(); ok; l, ok = w.Lines() {
			texts = append(texts, l.Text)
		}
		return strings.Join(texts, "\n")
	}
	with := func(content ...session.ToolCallContent) session.Update {
		p := call(session.KindOther, session.StatusCompleted, "a", content...)
		p.RawInput, p.RawOutput = acp.Set(json.RawMessage(`{"b":1}`)), acp.Set(json.RawMessage("no json"))
		return p
	}
	patch := session.ContentItem{Content: session.Text{Text: "a\nb"}}
	for name, test := range map[string]struct {
		update session.Update
		lang   string
		want   string
		name   string // "" for a
	}{
		"prose":      {call(session.KindThink, session.StatusCompleted, "a", output("# a\n\n")), "markdown", "# a", ""},
		"output":     {call(session.KindExecute, session.StatusCompleted, "a", output("a")), "", "a", ""},
		"colours":    {call(session.KindExecute, session.StatusCompleted, "a", output("\x1b[32ma")), "", "a", ""},
		"json":       {call(session.KindRead, session.StatusCompleted, "a", output(`{"a":1}`)), "json", "{\n  \"a\": 1\n}", ""},
		"a fence":    {call(session.KindRead, session.StatusCompleted, "a", output("```lua\nreturn\n```")), "lua", "return", ""},
		"a diff":     {call(session.KindEdit, session.StatusCompleted, "a", change("/project/a", "a\n", "b\n")), "diff", "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b", ""},
		"a new file": {call(session.KindEdit, session.StatusCompleted, "a", session.Diff{Path: "/project/a", NewText: ptr("b\n")}), "diff", "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+b", ""},
		"a patch":    {call(session.KindEdit, session.StatusCompleted, "a", session.Diff{Path: "/project/a", Patch: "@@ -1 +1 @@\n-a\n+b\n"}), "diff", "@@ -1 +1 @@\n-a\n+b", ""},
		"two":        {call(session.KindExecute, session.StatusCompleted, "a", patch, session.UnknownItem{Type: "smell", Raw: json.RawMessage(`{"a":1}`)}), "", "── Text \na\nb\n\n── smell \n{\n  \"a\": 1\n}", ""},
		"what is unknown": {
			call(session.KindExecute, session.StatusCompleted, "a", session.UnknownItem{Type: "smell", Raw: json.RawMessage(`{"a":1}`)}),
			"json", "{\n  \"a\": 1\n}", "",
		},
		"a long line": {call(session.KindExecute, session.StatusCompleted, "a", output(long)), "", long[:2000] + "\n" + long[2000:], ""},
		"a message":   {says("hello\n"), "markdown", "hello", "message"},
		"a notice":    {session.Notice{Title: "a", Description: "b"}, "", "a\nb", "notice"},
		"a plan":      {session.PlanUpdate{Entries: []session.PlanEntry{{Content: "a"}, {Content: "b"}}}, "markdown", "- a\n- b", "plan"},
		"its words":   {session.PlanUpdate{Content: session.Text{Text: "# a\nb"}}, "markdown", "# a\nb", "plan"},
		"nothing":     {call(session.KindExecute, session.StatusCompleted, "a"), "", "", ""},
		"a compaction": {
			session.CompactionPatch{ID: "k", Status: "completed", Summary: acp.Set([]session.Content{session.Text{Text: "short"}, session.Text{Text: "words"}})},
			"markdown", "short\nwords", "summary",
		},
		"a terminal": {
			call(session.KindExecute, session.StatusCompleted, "a", session.TerminalRef{TerminalID: "t"}, session.TerminalRef{TerminalID: "u"}),
			"", "a\nb", "",
		},
		"a terminal and text": {
			call(session.KindExecute, session.StatusCompleted, "a", session.TerminalRef{TerminalID: "t"}, output("c")),
			"", "── Terminal \na\nb\n\n── Text \nc", "",
		},
		"a link": {
			call(session.KindRead, session.StatusCompleted, "a", session.ContentItem{Content: session.ResourceLink{URI: "file:///b", Name: "b"}}),
			"", "[b] file:///b", "",
		},
		"input and output":     {with(), "", "── Input \n{\n  \"b\": 1\n}\n\n── Output \nno json", ""},
		"a diff and its input": {with(change("/project/a", "a\n", "b\n")), "diff", "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b", ""},
		"a number":             {call(session.KindThink, session.StatusCompleted, "a", output("12")), "markdown", "12", ""},
		"text in brackets":     {call(session.KindThink, session.StatusCompleted, "a", output("[x] done")), "markdown", "[x] done", ""},
		"text, input and output": {
			with(output("c")), "", "── Text \nc\n\n── Input \n{\n  \"b\": 1\n}\n\n── Output \nno json", "",
		},
		"no title": {call(session.KindExecute, session.StatusCompleted, "", output("b")), "", "b", "c"},
		"an image": {
			session.MessageChunk{Role: session.RoleAgent, Content: session.Image{MimeType: "image/png", Data: "AAAA"}},
			"markdown", "\n[image image/png 3 bytes]", "message",
		},
		"a prompt": {
			prompt(session.Text{Text: "see"}, session.ForAgent{Content: session.Resource{URI: "file:///b", Text: "text of b"}}),
			"markdown", "see\nfile:///b\ntext of b", "message",
		},
		"an image between words": {
			prompt(session.Text{Text: "a"}, session.Image{MimeType: "image/png", Data: "AAAA"}, session.Text{Text: "b"}),
			"markdown", "a\n[image image/png 3 bytes]\nb", "message",
		},
		"an error": {session.TurnEnd{StopReason: session.StopError, Error: "died", Detail: "of\nage"}, "", "died\nof\nage", "error"},
	} {
		w, tr, b := shown(t)
		w.terminals["t"] = Screenful{Lines: []styled.Line{{Text: "a"}, {Text: "b"}}, Total: 2}
		w.apply(test.update)
		tr.Sync()
		b.take(t, tr, 1<<30)
		whole := tr.Whole(len(b.lines) - 1)()
		if got := text(whole); got != test.want || whole.Lang != test.lang || whole.Name != cmp.Or(test.name, "a") {
			t.Errorf("%s is %q, named %q, of %q, want %q", name, got, whole.Name, whole.Lang, test.want)
		}
	}
	_, tr, _ := shown(t, session.UnknownUpdate{Type: "x"})
	if tr.Whole(0) != nil || tr.Whole(100) != nil {
		t.Error("what is not known is no block")
	}
	if _, tr, _ := shown(t, session.TurnEnd{StopReason: session.StopCancelled}); tr.Whole(0) != nil {
		t.Error("there is more about an end that is no error")
	}
}

// Why a call failed is shown of its output where it says nothing else, in a few lines.
func TestWhyACallFailed(t *testing.T) {
	for n, want := range map[int]string{
		1: "- 1", previewOutput: "- 1 - 2 - 3 - 4 - 5 - 6", previewOutput + 1: "- 1 - 2 - 3 - 4 - 5 - 6 … +1 line",
		previewOutput + 3: "- 1 - 2 - 3 - 4 - 5 - 6 … +3 lines",
	} {
		p := call(session.KindRead, session.StatusFailed, "a")
		numbers := make([]int, n)
		for i := range numbers {
			numbers[i] = i + 1
		}
		raw, err := json.Marshal(numbers)
		must.Do(t, err)
		p.RawOutput = acp.Set(json.RawMessage(raw))
		_, _, b := shown(t, p)
		var got []string
		for _, l := range b.lines[1:] {
			got = append(got, strings.TrimSpace(l.text))
		}
		check.Equal(t, strings.TrimSpace(strings.Join(got, " ")), want, "of %d lines it shows %s", n)
	}
}

// The output of the command at a row is shown whole, or else that of the last one with any.
func TestOutput(t *testing.T) {
	named := func(id string, kind session.ToolKind, content ...session.ToolCallContent) session.Update {
		p := call(kind, session.StatusCompleted, id, content...)
		p.ID = id
		return p
	}
	_, tr, b := shown(t,
		named("one", session.KindExecute, output("1")), named("two", session.KindExecute, output("2")),
		named("silent", session.KindExecute), named("read", session.KindRead, output("r")), says("hello"),
	)
	for at, want := range map[string]string{"one": "one", "two": "two", "silent": "two", "read": "two", "hello": "two"} {
		check.Equal(t, tr.Output(b.rowOf(at))().Name, want, "at "+at+" it is that of %s")
	}
	if _, tr, _ := shown(t, named("silent", session.KindExecute), named("read", session.KindRead, output("r"))); tr.Output(0) != nil {
		t.Error("without a command there is output")
	}
}

func TestInspect(t *testing.T) {
	p := call(session.KindExecute, session.StatusCompleted, "make\nall")
	p.Name = acp.Set("Bash")
	p.Parent = acp.Set("task")
	p.Locations = acp.Set([]session.Location{{Path: "/project/a", Line: 2}, {Path: "/b"}})
	p.RawInput = acp.Set(json.RawMessage(`{"command":"make"}`))
	p.RawOutput = acp.Set(json.RawMessage(`"` + strings.Repeat(`line\n`, 500) + `"`))
	p.Meta = acp.Set(map[string]json.RawMessage{"z": json.RawMessage(`{"a":1}`), `b"`: json.RawMessage(`"x"`)})
	running := p
	running.Status = acp.Set(session.StatusInProgress)
	_, tr, _ := shown(t, running, session.Waiting{ToolCallID: "c", Open: true}, session.Waiting{ToolCallID: "c"}, p)
	var texts []string
	for _, l := range tr.Inspect(0) {
		texts = append(texts, l.Text)
	}
	got := strings.Join(texts, "\n")
	begun := tr.blocks[0].entry.(*session.ToolCall).Started().Format("15:04:05")
	want := "make\nall\nkind     execute (Bash)\nstatus   completed, 2.0 s, plus 1.0 s that it waited for you\nbegun    " + begun +
		"\nid       c\npart of  task\nplaces   a:2\n         /b\nmeta     b\": x\n         z:\n           a: 1\n\nInput\n  command: make\n\nOutput\n" +
		strings.Repeat("  line\n", inspected) + "  … more: open the whole block"
	check.Equal(t, got, want, "it tells\n%s")
	// A new field of a tool call is shown too, or left out on purpose.
	shownAs := map[string]string{
		"ID": "id       c", "Title": "make\nall", "Name": "Bash", "Kind": "execute", "Status": "completed", "Locations": "/b",
		"RawInput": "command: make", "RawOutput": "  line", "Meta": "a: 1", "Parent": "part of  task", "Content": "", "Editor": "", // the block itself
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[session.ToolCall]()) {
		if words, known := shownAs[f.Name]; f.IsExported() && (!known || !strings.Contains(got, words)) {
			t.Errorf("it tells nothing of %s", f.Name)
		}
	}
	if tr.Inspect(50) != nil {
		t.Error("there is no call at row 50")
	}
	_, tr, _ = shown(t, call(session.KindRead, session.StatusInProgress, ""))
	got = ""
	for _, l := range tr.Inspect(0) {
		got += l.Text + "\n"
	}
	want = "c\nkind     read\nstatus   in progress, 1:39\nbegun    " + time.Unix(1, 0).Format(time.TimeOnly) +
		"\nid       c\n\nThe agent reported neither input nor output.\n"
	check.Equal(t, got, want, "of a call without more it tells\n%s")
}

// Code in the body of a call is told when it is there, and again when it was replaced.
func TestCodeInBodies(t *testing.T) {
	code := func(edits []page.Edit) string {
		var list []string
		for _, e := range edits {
			for _, c := range e.Code {
				list = append(list, fmt.Sprintf("{%d %d %s %d}", c.Row, c.EndRow, c.Lang, c.Col))
			}
		}
		return strings.Join(list, " ")
	}
	fence := "Look:\n```go\nx := 1\n```"
	update := func(content ...session.ToolCallContent) session.Update {
		return call(session.KindThink, session.StatusInProgress, "a", content...)
	}
	w := newWorld()
	tr, b := New(w.conv, w.config()), newBuffer()
	for _, step := range []struct {
		update session.Update
		want   string
	}{
		{update(output(fence)), "{3 4 go 4}"},
		{update(output(fence + "\nand")), ""},
		{update(output("First. " + fence + "\nand")), ""},
		{update(output("First.\n" + fence)), "{4 5 go 4}"},
		{update(output("First.\n"+fence), output("and\n")), ""}, // it stays
		{update(output("```go\nx := 1\ny := 2\n```")), "{1 3 go 4}"},
		{update(session.ContentItem{Content: session.Resource{URI: "file:///project/a.lua", Text: "return"}}), "{2 3 lua 4}"},
	} {
		w.apply(step.update)
		tr.Sync()
		if got := code(b.take(t, tr, 1<<20)); got != step.want {
			t.Errorf("told is %q, want %q\n%s", got, step.want, b)
		}
	}
}

// A diff that is kept for the next time stays as it was, also where it stands to the right.
func TestNestedDiffsAreDrawnAgain(t *testing.T) {
	child := session.ToolCallPatch{ID: "d", Kind: acp.Set(session.KindEdit), Parent: acp.Set("c"), Content: acp.Set([]session.ToolCallContent{change("/project/a", "old\n", "new\n")})}
	w, tr, b := shown(t, call(session.KindThink, session.StatusInProgress, "Task"), child)
	for _, title := range []string{"one", "two"} {
		w.apply(session.ToolCallPatch{ID: "d", Title: acp.Set(title)})
		tr.Sync()
		tr.Reset()
		b = newBuffer()
		b.take(t, tr, 1<<30)
	}
	check.Equal(t, b.diff(drawn(t, w.conv, w.config(), tr)), "", "%v")
}

// How a command ended decides how its call did, if that is one that runs; one that goes on in the background has not ended.
func TestOutcomeOfATerminal(t *testing.T) {
	for _, c := range []struct {
		kind session.ToolKind
		of   Screenful
		want string
	}{
		{session.KindExecute, Screenful{}, "✓"}, {session.KindExecute, Screenful{State: "exited with code 2"}, "✗"},
		{session.KindExecute, Screenful{Behind: true}, "▸"}, {session.KindOther, Screenful{State: "exited with code 2"}, "✓"},
	} {
		w := newWorld()
		w.terminals["t"] = c.of
		tr, b := New(w.conv, w.config()), newBuffer()
		w.apply(call(c.kind, session.StatusCompleted, "it", session.TerminalRef{TerminalID: "t"}))
		tr.Sync()
		b.take(t, tr, 1<<30)
		check.Equal(t, strings.Fields(b.lines[0].text)[0], c.want, "a call of %q with %+v is marked %s", c.kind, c.of)
	}
}
