package permission

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A read is answered once, with the text or with why there is none, and the follower hears of it where it may be made.
func TestReads(t *testing.T) {
	atDesk(t, func(d *desk) {
		var heard []string
		d.config.Reads = func(r session.ReadTextFile) { d.told(func() { heard = append(heard, filepath.Base(r.Path)) }) }
		read := func(name string, line, limit *int) (texts []string, errs []error) {
			d.Read(session.ReadTextFile{Context: context.Background(), Path: filepath.Join(d.dir, name), Line: line, Limit: limit, Reply: func(text string, err error) {
				texts, errs = append(texts, text), append(errs, err)
			}})
			d.settle()
			return texts, errs
		}
		for _, c := range []struct {
			name        string
			line, limit *int
			want        string
		}{{"a.txt", nil, nil, nine}, {"a.txt", new(3), new(2), "3\n4\n"}, {"none.txt", nil, nil, ""}} {
			texts, errs := read(c.name, c.line, c.limit)
			if len(texts) != 1 || texts[0] != c.want || (errs[0] != nil) != (c.want == "") {
				t.Errorf("%s: %q, %v", c.name, texts, errs)
			}
		}
		check.Deep(t, heard, []string{"a.txt", "a.txt", "none.txt"}, "heard of are %q")
		var failed error
		d.Read(session.ReadTextFile{Context: context.Background(), Path: "a\x00b", Reply: func(_ string, err error) { failed = err }})
		if d.settle(); failed == nil {
			t.Error("what is no path is read")
		}
	})
}

// Who wants to see a request's change has it looked for anew: of a write that waits, and of what nobody asks for, too.
func TestARequestIsLookedAtAgain(t *testing.T) {
	atDesk(t, func(d *desk) {
		got := d.store("a.txt", nineBut("2", "two\n"))
		p, looked := d.open(), 0
		nobodys := &session.ToolCall{}
		d.on(func() {
			if d.Subject(nobodys) != nobodys {
				t.Error("a call without an id is taken for the write's")
			}
		})
		if p.call.Title != "a.txt" || p.call.Kind != session.KindEdit {
			t.Errorf("it is asked as %+v", p.call)
		}
		must.Write(t, d.dir, "a.txt", nineBut("8", "typed\n"))
		d.on(func() { d.LookAgain(&p.call, func() { looked++ }) })
		d.settle()
		if f := d.diffs.Files(&p.call); looked != 1 || !strings.Contains(f[0].Old, "typed") {
			t.Errorf("looked at %d times, it has %q", looked, f[0].Old)
		}
		d.on(func() { d.LookAgain(&p.call, func() { looked++ }) }) // nothing has changed
		d.settle()
		d.on(func() { d.LookAgain(&session.ToolCall{ID: "other"}, func() { looked++ }) })
		if d.settle(); looked != 3 {
			t.Errorf("looked at %d times", looked)
		}
		d.answer(refuse)
		d.is(got, "nothing was written")

		d.on(func() {
			d.Ask(session.PermissionRequest{
				Context: context.Background(), Reply: func(string) {},
				Call: session.ToolCallPatch{ID: "c", Kind: acp.Set(session.KindEdit), Content: acp.Set([]session.ToolCallContent{replacing(filepath.Join(d.dir, "a.txt"), "5\n", "five\n")})},
			})
		})
		d.settle()
		p = d.open()
		before := d.diffs.Changes(&p.call)[0].Looked
		d.on(func() { d.LookAgain(&p.call, func() { looked++ }) })
		if d.settle(); looked != 4 || d.diffs.Changes(&p.call)[0].Looked == before {
			t.Errorf("looked at %d times, a request of the agent's at %d", looked, d.diffs.Changes(&p.call)[0].Looked)
		}
		d.on(func() { d.LookAgain(d.conv.ToolCall("c"), func() { looked++ }) }) // the call as told
		if d.settle(); looked != 5 {
			t.Errorf("looked at %d times", looked)
		}
		d.on(func() { d.WithdrawAll("cancel") })
	})
}

// Of what is no text the user can say yes or no, as long as it stays so.
func TestDecideAboutWhatIsNoText(t *testing.T) {
	known := preview{known: true, Preview: buffers.Preview{Before: "a\n", After: "b\n", Text: "b\n"}}
	for _, c := range []struct {
		name       string
		shown, now preview
		edited     *string
		ok         bool
	}{
		{"both", preview{}, preview{}, nil, true},
		{"both, edited", preview{}, preview{}, new("x\n"), false},
		{"became one", preview{}, known, nil, false},
		{"was one", known, preview{}, nil, false},
		{"was one, edited", known, preview{}, new("x\n"), false},
	} {
		v, ok := decideWrite(c.shown, c.now, nil, c.edited)
		if ok != c.ok || ok && (v.option != writeIt || v.instead != nil || v.told != nil) {
			t.Errorf("%s: %+v, %v", c.name, v, ok)
		}
	}
}

// The chat says how a write is made otherwise than the agent wanted it.
func TestWhatIsSaidOfAWrite(t *testing.T) {
	atDesk(t, func(d *desk) {
		pw := &pendingWrite{asked: &fileRequest{path: filepath.Join(d.dir, "a.txt")}}
		for want, got := range map[string]string{
			"Puppet's text of a.txt conflicts with your text: yours stays, the rest is written, and Puppet was told.": d.saidOf(pw, 0, 3, false),
			"You changed Puppet's text of a.txt: yours is written, and Puppet was told.":                              d.saidOf(pw, 1, 3, true),
			"You refused 1 of 3 hunks of a.txt: the rest is written, and Puppet was told.":                            d.saidOf(pw, 1, 3, false),
		} {
			check.Equal(t, got, want, "said is %q")
		}
	})
}

// The arguments of a server's tool say all: none of them stands for a command or a description of the agent's.
func TestArgumentsAreNoDescription(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.AskTool(Tool{Context: context.Background(), Title: "Do it", Name: "srv/do", Arguments: []byte(`{"description":"harmless","command":"rm -r x"}`)}, func(error) {})
		text := d.text()
		if strings.Count(text, "harmless") != 1 || strings.Contains(text, "$ rm") || !strings.Contains(text, "command: rm -r x") {
			t.Errorf("the float has\n%s", text)
		}
		check.Equal(t, d.shows().Description, "", "the description is %q")
		d.on(func() { d.WithdrawAll("cancel") })
	})
}

// What cannot be the place of a file is no place to move one to, which is said before anybody is asked.
func TestMovesToWhereNoFileCanBe(t *testing.T) {
	synctested(t, func(d *desk) {
		got := d.change(context.Background(), FileEdit{Path: "c", To: "a/x"})
		if got.answered != 1 || got.err == nil || d.open() != nil || d.tree() != "a=a b=b c=c d=d f=f" {
			t.Errorf("moved below a file: %+v, %s", got, d.tree())
		}
	})
}

// Lists and objects of one item stand below their name, empty ones beside it.
func TestShortListsOfInputs(t *testing.T) {
	call := session.ToolCall{RawInput: []byte(`{"a":[1],"b":{},"c":[],"d":{"e":0},"f":"","g":[[2]]}`)}
	var got []string
	for _, l := range inputLines(&call, func(string, string) bool { return false }) {
		got = append(got, l.Text)
		check.Slice(t, l.Marks, []styled.Mark{{EndCol: len(l.Text), Group: styled.Output}}, "it is marked %v")
	}
	want := []string{"a:", "  - 1", "b: {}", "c: []", "d:", "  e: 0", "f:", "g:", "  - - 2"}
	check.Deep(t, got, want, "the input is %q")
	for broken, want := range map[string]string{`{"a":1,"b"`: "a: 1", `{"a":1,2:3}`: "a: 1", `[1,`: "- 1"} {
		lines := inputLines(&session.ToolCall{RawInput: []byte(broken)}, func(string, string) bool { return false })
		check.Equal(t, len(lines) == 1 && lines[0].Text == want, true, "%s is shown: %v", broken)
	}
	said := toolLines(&call, session.MCPCall{}, []string{"what the agent says"})
	check.Equal(t, len(said) == 1 && said[0].Text == "what the agent says", true, "without arguments its text is shown: %v")
}

// Lines that are in no hunk belong to none, and what is not known between two stretches keeps them apart.
func TestLinesOfAChange(t *testing.T) {
	line := func(kind diff.Kind, text string) diff.Line { return diff.Line{Kind: kind, Text: text} }
	f := diff.FileDiff{Hunks: []diff.Hunk{
		{Lines: []diff.Line{line(diff.Equal, "a"), line(diff.Delete, "b"), line(diff.Insert, "c"), line(diff.Equal, "d"), line(diff.Insert, "e")}},
		{Lines: []diff.Line{line(diff.Insert, "f"), line(diff.Equal, "g")}},
	}}
	lines, hunks := linesOf(&f)
	check.Deep(t, lines, []string{"=a", "-b", "+c", "=d", "+e", "@", "+f", "=g"}, "the lines are %q")
	check.Deep(t, hunks, []int{-1, 0, 0, -1, 1, -1, 2, -1}, "their hunks are %v")
}

// Who looks at a call that an open request is about sees the request's change, if it has one.
func TestWhatARequestsCallShows(t *testing.T) {
	atDesk(t, func(d *desk) {
		ask := func(id string, content ...session.ToolCallContent) *request {
			d.on(func() {
				d.Ask(session.PermissionRequest{
					Context: context.Background(), Reply: func(string) {},
					Call: session.ToolCallPatch{ID: id, Title: acp.Set("Do " + id), Kind: acp.Set(session.KindEdit), Content: acp.Set(content)},
				})
			})
			d.settle()
			var p *request
			d.on(func() { p = d.queue.pending[len(d.queue.pending)-1] })
			return p
		}
		edit := ask("edit", replacing(filepath.Join(d.dir, "a.txt"), "5\n", "five\n"))
		bare := ask("bare")
		again := ask("edit", replacing(filepath.Join(d.dir, "a.txt"), "6\n", "six\n"))
		nameless := ask("", replacing(filepath.Join(d.dir, "a.txt"), "5\n", "five\n"))
		d.on(func() {
			told, other := d.conv.ToolCall("edit"), &session.ToolCall{ID: "other"}
			for name, c := range map[string]struct{ of, want *session.ToolCall }{
				"the call as told":           {told, &edit.call},
				"the request's own":          {&edit.call, &edit.call},
				"one that nobody asks about": {other, other},
				"one without changes":        {d.conv.ToolCall("bare"), d.conv.ToolCall("bare")},
				"one without an id":          {&session.ToolCall{}, nil},
				"another request's of it":    {&again.call, &again.call},
			} {
				got := d.Subject(c.of)
				if c.want == nil {
					c.want = c.of
				}
				check.Equal(t, got, c.want, "%s: %+v", name)
			}
			if d.Call(int(bare.id)) != &bare.call || d.Call(int(nameless.id)) != &nameless.call || d.Call(99) != nil {
				t.Error("requests are mistaken for others")
			}
			if !d.Located(told) || d.Located(other) || !d.changed {
				t.Error("what was looked for last decides whether Neovim is told of what was before")
			}
			d.WithdrawAll("cancel")
		})
	})
}

// A write that fails, or of which there is something to say, is told once; what the user has decided was said.
func TestWhatComesOfWritesIsTold(t *testing.T) {
	atDesk(t, func(d *desk) {
		path := filepath.Join(d.dir, "a.txt")
		for _, c := range []struct {
			name  string
			w     buffers.Written
			err   error
			notes string
			chat  string
		}{
			{"made", buffers.Written{Path: path}, nil, "", ""},
			{"not allowed", buffers.Written{}, ErrNotAllowed, "", ""},
			{"withdrawn", buffers.Written{}, context.Canceled, "", ""},
			{"failed", buffers.Written{}, &buffers.Error{Verb: "write", Path: path, Err: fs.ErrPermission}, "error: Puppet could not write a.txt: permission denied", "Puppet could not write a.txt: permission denied."},
			{"failed otherwise", buffers.Written{}, fs.ErrInvalid, "error: Puppet could not write a.txt: invalid argument", "Puppet could not write a.txt: invalid argument."},
			{"noted", buffers.Written{Note: "A long word.", Brief: "a word"}, nil, "warning: a word", "A long word."},
		} {
			said := d.remarks()
			d.on(func() { d.wrote(path, c.w, c.err) })
			check.Equal(t, d.noted(), c.notes, "%s: told is %q", c.name)
			check.Equal(t, strings.TrimSpace(strings.TrimPrefix(d.remarks(), said)), c.chat, "%s: the chat has %q", c.name)
		}
	})
}

// A file stays where it is if it cannot be put where it is to be moved.
func TestAMoveThatFailsLeavesTheFile(t *testing.T) {
	synctested(t, func(d *desk) {
		got := d.change(context.Background(), FileEdit{Path: "c", To: "sub/cc"})
		must.Write(t, d.dir, "sub", "in its way\n")
		d.answer("allow")
		if got.err == nil || len(got.changed)+len(d.moved) > 0 || d.tree() != "a=a b=b c=c d=d f=f sub=in its way" {
			t.Errorf("%+v, moved are %q, there are %s", got, d.moved, d.tree())
		}
	})
}

// What found no room is counted to the byte, and what found some is shown.
func TestWhatIsNotShownIsCounted(t *testing.T) {
	long := func(bytes int) string { return strings.Repeat("x", bytes) }
	for name, c := range map[string]struct {
		input string
		more  int   // bytes
		shown []int // bytes of each line
	}{
		"a text":                {`{"a":"yy","b":"` + long(floatBytes) + `"}`, 7, []int{5, floatBytes - 4}},
		"what follows it":       {`{"a":"` + long(floatBytes) + `","b":"yy"}`, 2 + 4, []int{floatBytes + 1}},
		"a name without a text": {`{"a":"` + long(floatBytes-5) + `","b":"yy"}`, 4, []int{floatBytes - 2}},
		"an object":             {`{"a":{"b":"` + long(floatBytes) + `"}}`, 4, []int{2, floatBytes + 1}},
		"an empty one":          {`{"a":{ },"b":"` + long(floatBytes) + `"}`, 4, []int{2, floatBytes - 1}},
		"items":                 {`["` + long(floatBytes) + `","yy"]`, 2 + 4, []int{floatBytes}},
	} {
		lines := inputLines(&session.ToolCall{RawInput: []byte(c.input)}, func(string, string) bool { return false })
		var shown []int
		for _, l := range lines[:len(lines)-1] {
			shown = append(shown, len(l.Text))
		}
		check.Slice(t, shown, c.shown, "%s: shown are lines of %d bytes", name)
		check.Equal(t, lines[len(lines)-1].Text, fmt.Sprintf("… %d bytes more, which are not shown", c.more), "%s: the last line is %.60q", name)
	}
}
