package permission

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/calldiff"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func hunksBetween(old, text string) (diff.FileDiff, []diff.Run) {
	f := diff.Whole("/p/a.lua", session.OperationModify, old, text)
	return f, f.Parts()
}

func TestRefusedHunksAreFoundAgain(t *testing.T) {
	const old = "a\nb\nc\nd\ne\nf\ng\nh\n"
	was, hunks := hunksBetween(old, "a\nB\nc\nd\nnew\ne\nf\nG\nh\n")
	must.Equal(t, len(hunks), 3, "%d hunks")
	for _, c := range []struct {
		what, old, text string
		refused, want   []bool
	}{
		{"the same", old, "a\nB\nc\nd\nnew\ne\nf\nG\nh\n", []bool{true, false, true}, []bool{true, false, true}},
		{"moved", "x\n" + old, "x\na\nB\nc\nd\nnew\ne\nf\nG\nh\n", []bool{false, true, true}, []bool{false, true, true}},
		{"one made by the user", "a\nB\nc\nd\ne\nf\ng\nh\n", "a\nB\nc\nd\nnew\ne\nf\nG\nh\n", []bool{true, false, true}, []bool{false, true}},
		{"other old lines", "a\nmine\nc\nd\ne\nf\ng\nh\n", "a\nB\nc\nd\nnew\ne\nf\nG\nh\n", []bool{true, false, false}, []bool{true, false, false}},
		{"other new lines", old, "a\nBB\nc\nd\nnew\ne\nf\nG\nh\n", []bool{true, false, false}, []bool{true, false, false}},
		{"one more", "a\nb\nc\nd\ne\nf\ng\nh\nmine\n", "a\nB\nc\nd\nnew\ne\nf\nG\nh\n", []bool{false, true, false}, []bool{false, true, false, false}},
	} {
		now, _ := hunksBetween(c.old, c.text)
		check.Slice(t, carried(&was, c.refused, &now), c.want, "%s: %v", c.what)
	}
}

// Of equal hunks each stays the one that it was; where that cannot be told, all that may be meant are refused.
func TestRefusedHunksAmongEqualOnes(t *testing.T) {
	const old, text = "x\na\nx\nb\nx\n", "y\na\ny\nb\ny\n"
	was, _ := hunksBetween(old, text)
	for _, c := range []struct {
		what, old, text string
		refused, want   []bool
		stands          bool
	}{
		{"as they were", old, text, []bool{false, true, false}, []bool{false, true, false}, true},
		{"a line above", "m\n" + old, "m\n" + text, []bool{false, false, true}, []bool{false, false, true}, true},
		{"the first made by the user", "y\na\nx\nb\nx\n", text, []bool{false, false, true}, []bool{false, true}, false},
		{"the first refused, and made by the user", "y\na\nx\nb\nx\n", text, []bool{true, false, false}, []bool{false, false}, false},
		{"the second made by the user", "x\na\ny\nb\nx\n", text, []bool{false, false, true}, []bool{false, true}, false},
		{"the last made by the user", "x\na\nx\nb\ny\n", text, []bool{false, true, true}, []bool{false, true}, false},
		{"one before them", "x\nc\n" + old, "y\nc\n" + text, []bool{false, false, true}, []bool{false, false, false, true}, false},
		{"one behind them, or before the last", old + "c\nx\n", text + "c\ny\n", []bool{false, false, true}, []bool{false, false, true, true}, false},
		{"the first gone, and one behind", "y\na\nx\nb\nx\nc\nx\n", text + "c\ny\n", []bool{false, false, true}, []bool{false, true, true}, false},
		{"two that have become one", "x\na\nx\nx\n", "y\na\ny\ny\n", []bool{false, false, true}, []bool{false, true}, false},
		{"which of two is gone nobody knows", "x\nb\nx\n", "y\nb\ny\n", []bool{false, true, false}, []bool{true, false}, false},
		{"which of two is gone nobody knows", "x\nb\nx\n", "y\nb\ny\n", []bool{true, false, false}, []bool{true, false}, false},
	} {
		now, _ := hunksBetween(c.old, c.text)
		check.Slice(t, carried(&was, c.refused, &now), c.want, "%s: %v", c.what)
		check.Equal(t, unchanged(&was, &now), c.stands, "%s: stands is %v", c.what)
	}
	one1, _ := hunksBetween(nine, nineBut("2", "two\n"))
	other1, _ := hunksBetween(nine, nineBut("8", "eight\n"))
	if got := carried(&one1, []bool{true}, &other1); !slices.Equal(got, []bool{false}) || unchanged(&one1, &other1) {
		t.Errorf("of another one: %v", got)
	}
	ended1, _ := hunksBetween("a\nb\n", "a\nc\n")
	cut1, _ := hunksBetween("a\nb\n", "a\nc")
	check.Equal(t, unchanged(&ended1, &cut1), false, "of the same lines, of which the last one ends otherwise: %v")
	// Lines far from the hunks tell them apart too.
	const same = "s\ns\ns\ns\n"
	both, _ := hunksBetween(same+"x\n"+same+"b\n"+same+"x\n"+same, same+"y\n"+same+"b\n"+same+"y\n"+same)
	last, _ := hunksBetween(same+"y\n"+same+"b\n"+same+"x\n"+same, same+"y\n"+same+"b\n"+same+"y\n"+same)
	check.Slice(t, carried(&both, []bool{true, false}, &last), []bool{false}, "of the second of two: %v")
	// What was not found in its file has no more than its own lines.
	one, two := "x\n", "y\n"
	told := diff.Told(session.Diff{Path: "a", OldText: &one, NewText: &two})
	if got := carried(&told, []bool{true}, &was); !slices.Contains(got, true) {
		t.Errorf("of one that is found now: %v", got)
	}
	binary, other := diff.Whole("a", session.OperationModify, "\x00", "\x01\x00"), diff.Whole("a", session.OperationModify, "\x00", "\x02\x00")
	check.Slice(t, carried(&binary, []bool{true}, &other), []bool{true}, "of one without lines: %v")
	made := diff.Whole("a", session.OperationModify, old, old)
	for _, c := range []struct {
		was, now      *diff.FileDiff
		refused, want []bool
	}{{&made, &made, nil, nil}, {&made, &binary, nil, []bool{false}}, {&binary, &made, []bool{true}, nil}} {
		check.Slice(t, carried(c.was, c.refused, c.now), c.want, "of one that changes nothing, before or now: %v")
	}
	if got := carried(&binary, []bool{true}, &was); slices.Contains(got, true) {
		t.Errorf("of one that has lines now: %v", got)
	}
}

func TestWhatIsAskedForOfAChange(t *testing.T) {
	s := New(feature.Base{Folder: folder.Folder{Cwd: "/p"}}, Config{})
	f, hunks := hunksBetween("a\nb\nc\nd\ne\nf\ng\n", "a\nB\nc\nd\nnew\ne\nf\n")
	made := diff.Whole("/p/new.lua", session.OperationAdd, "", "one\n")
	binary := diff.Whole("/elsewhere/x.png", session.OperationModify, "\x00", "\x00\x00")
	got := s.partly("Edit\nfiles", []*selection{
		{&f, hunks, []bool{false, true, false}},
		{&made, made.Parts(), []bool{true}},
		{&binary, binary.Parts(), []bool{false}},
	})
	want := `I refused the change that you asked about (Edit files), as I want only a part of it. Make it again with the hunks that are kept below, as you had them. Leave out the refused ones, and put nothing else in their place.

a.lua
- kept: line 2
    - b
    + B
- refused: 1 new line before line 5
    + new
- kept: line 7
    - g

new.lua
- refused: the new file
    + one

/elsewhere/x.png
- kept: all of it`
	check.Equal(t, got, want, "the prompt is\n%s")

	// Of a long hunk as much is quoted as a reader needs.
	f, hunks = hunksBetween("a\n", "a\n"+strings.Repeat("x\n", quotedLines+1))
	got = s.partly(strings.Repeat("t", 201), []*selection{{&f, hunks, []bool{false}}})
	if !strings.Contains(got, " ("+strings.Repeat("t", 200)+"), ") || strings.Count(got, "    + x\n") != quotedLines || !strings.HasSuffix(got, "    + … 1 line more") {
		t.Errorf("the prompt is\n%s", got)
	}
	f, hunks = hunksBetween("a\n", "a\n"+strings.Repeat("x\n", quotedLines))
	if got = s.partly("", []*selection{{&f, hunks, []bool{false}}}); strings.Count(got, "    + x") != quotedLines || strings.Contains(got, "more") {
		t.Errorf("the prompt is\n%s", got)
	}

	// However large the change is, the prompt is not.
	var old, text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&old, "line %d %s\nsame %d\n", i, strings.Repeat("x", 500), i)
		fmt.Fprintf(&text, "LINE %d\nsame %d\n", i, i)
	}
	f, hunks = hunksBetween(old.String(), text.String())
	refused := make([]bool, len(hunks))
	refused[4], refused[4000] = true, true
	got = s.partly("", []*selection{{&f, hunks, refused}})
	if len(got) > 64<<10 {
		t.Errorf("the prompt has %d bytes", len(got))
	}
	if n := strings.Count(got, "\n    - line") + strings.Count(got, "\n    + LINE"); n != quotedAll {
		t.Errorf("the prompt quotes %d lines", n)
	}
	for _, want := range []string{"- refused: line 9\n", "- 4799 hunks more kept", "- 1 hunk more refused", strings.Repeat("x", 190)} {
		if !strings.Contains(got, want) {
			t.Errorf("the prompt does not have %q", want)
		}
	}
}

func TestWhatAnAgentIsToldOfItsText(t *testing.T) {
	const text = "a\nb  x\n\nd\ne\n"
	for _, c := range []struct {
		what, written, want string
		edited              bool
	}{
		{"left out", "a\n\nd\ne\n", "line 2 (b x) not written", false},
		{"another", "a\nB\n\nd\ne\n", "line 2 (b x) not written, the file has 1 line (B) there", false},
		{"more", "a\nb  x\n\nd\nd2\nd3\ne\n", "after line 4 the file has 2 lines more (d2 …)", false},
		{"at the beginning", "0\na\nb  x\n\nd\ne\n", "at the beginning the file has 1 line more (0)", false},
		{"two", "A\nb  x\n\nd\n", "line 1 (a) not written, the file has 1 line (A) there; line 5 (e) not written", true},
		{"the newline", "a\nb  x\n\nd\ne", "the newline at its end", true},
		{"the newline on the disk alone", text, "the newline at its end", false},
	} {
		got := otherwise(text, c.written, c.edited, 0)
		start := "the user refused a part of this text, and only the rest was written. Refused, by the lines of your text: "
		if c.edited {
			start = "the user changed this text before it was written, and theirs was written. Changed, by the lines of your text: "
		}
		check.Equal(t, got, start+c.want+". Read the file again before you change it further", "%s: %q", c.what)
	}
	var long, other strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&long, "line %d %s\nsame %d\n", i, strings.Repeat("ü", 500), i)
		fmt.Fprintf(&other, "same %d\n", i)
	}
	got := otherwise(long.String(), other.String(), false, 0)
	if len(got) > 8<<10 || !strings.Contains(got, "; and in 970 more places.") {
		t.Errorf("of many it says %d bytes: …%s", len(got), got[len(got)-200:])
	}
	got = otherwise(text, "a\n\nd\ne\n", false, 1)
	check.Contains(t, got, "line 2 (b x) not written; in 1 place the user has lines of their own", "with a conflict beside it hears %s")
}

// A write is agreed where it makes of the file, as it is now, what the user was shown, and nothing else.
func TestWhatWasAcceptedBefore(t *testing.T) {
	const before = "a\nb\nc\nd\n"
	first, second := accepted{"", before, "a\nB\nc\nd\n"}, accepted{"", before, "a\nb\nc\nD\n"}
	both, added := accepted{"", before, "a\nB\nc\nD\n"}, accepted{"", "", "new\n"}
	for _, c := range []struct {
		what      string
		list      []accepted
		now, text string
		want      bool
	}{
		{"nothing", nil, before, before, false},
		{"one", []accepted{first}, before, "a\nB\nc\nd\n", true},
		{"beside what the user typed since", []accepted{first}, "mine\n" + before, "mine\na\nB\nc\nd\n", true},
		{"without what they typed since", []accepted{first}, "mine\n" + before, "a\nB\nc\nd\n", false},
		{"without what they typed at its end", []accepted{first}, before + "mine\n", "a\nB\nc\nd\n", false},
		{"over what they typed there", []accepted{first}, "a\nmine\nc\nd\n", "a\nB\nc\nd\n", false},
		{"its lines alone", []accepted{first}, before, "B\n", false},
		{"more than that", []accepted{first}, before, "a\nB\nc\nD\n", false},
		{"less than that", []accepted{both}, before, "a\nB\nc\nd\n", false},
		{"two together", []accepted{first, second}, before, "a\nB\nc\nD\n", true},
		{"the first of two", []accepted{first, second}, before, "a\nB\nc\nd\n", true},
		{"the second of two", []accepted{first, second}, before, "a\nb\nc\nD\n", true},
		{"one behind one that does not fit", []accepted{{"", "x\n", "y\n"}, second}, before, "a\nb\nc\nD\n", true},
		{"a new file", []accepted{added}, "", "new\n", true},
		{"a new file, over one that is there", []accepted{added}, "mine\n", "new\n", false},
		{"a file that is gone", []accepted{first}, "", "a\nB\nc\nd\n", false},
		{"what of it has a place", []accepted{both}, "a\nmine\nc\nd\n", "a\nmine\nc\nD\n", false},
	} {
		check.Equal(t, agreed(c.list, c.now, c.text), c.want, "%s: %v", c.what)
	}
	// What a write has made is allowed no more, nor what has no place there now; the rest is.
	for _, c := range []struct {
		a    accepted
		text string
		want bool
	}{
		{first, first.text, true}, {second, first.text, false}, {both, first.text, false},
		{first, "mine\n" + first.text, true}, {second, "other\n", true}, {both, "a\nmine\nc\nd\n", true}, {added, "new\n", true},
	} {
		check.Equal(t, c.a.made(c.text), c.want, "%q in %q: %v", c.a, c.text)
	}
}

// What the user's answer to a request comes to, with hunks that they have refused; asking for it changes nothing.
func TestWhatAnAnswerComesTo(t *testing.T) {
	yes := session.PermissionOption{ID: "yes", Kind: "allow_once"}
	always := session.PermissionOption{ID: "always", Kind: "allow_always"}
	no := session.PermissionOption{ID: "no", Kind: "reject_once"}
	vague := session.PermissionOption{ID: "yes", Kind: "reject_once"}
	f, hunks := hunksBetween("a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n")
	for name, c := range map[string]struct {
		refused  []bool
		options  []session.PermissionOption
		chosen   session.PermissionOption
		option   string
		accepted bool
		unwanted bool
		prompt   bool
		remark   string
	}{
		"allowed":            {nil, []session.PermissionOption{yes, no}, yes, "yes", true, false, false, ""},
		"allowed for good":   {[]bool{false, false}, []session.PermissionOption{always, no}, always, "always", true, false, false, ""},
		"refused":            {nil, []session.PermissionOption{yes, no}, no, "no", false, false, false, ""},
		"refused, with some": {[]bool{true, false}, []session.PermissionOption{yes, no}, no, "no", false, false, false, ""},
		"all of them":        {[]bool{true, true}, []session.PermissionOption{yes, no}, yes, "no", false, false, false, "You refused all hunks, so Puppet was told no."},
		"some": {
			[]bool{true, false}, []session.PermissionOption{always, no}, always, "no", false, false, true,
			"You refused 1 of 2 hunks: Puppet was told no, and a prompt for the rest is the next in the queue.",
		},
		"some, where nothing refuses":         {[]bool{true, false}, []session.PermissionOption{yes}, yes, "yes", false, true, false, ""},
		"some, where nothing refuses plainly": {[]bool{true, false}, []session.PermissionOption{yes, vague}, yes, "yes", false, true, false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newDesk(t)
			var got []string
			p := &request{open: true, stop: func() bool { return true }, answer: func(id, by string) { got = append(got, id+" by "+by) }}
			p.asked.Options = c.options
			s.on(func() {
				change, _ := s.diffs.Replace(&p.call, session.Diff{Path: "/a", NewText: &f.New}, f)
				if c.refused != nil {
					p.selections = map[*calldiff.CallDiff]*selection{change: {change.File, hunks, c.refused}}
				}
				s.queue.pending = []*request{p}
				out := s.outcomeOf(p, c.chosen)
				if out.option.ID != c.option || out.accepted != c.accepted || (out.unwanted != nil) != c.unwanted || (out.prompt != "") != c.prompt || out.remark != c.remark {
					t.Errorf("%s: %+v", name, out)
				}
				if len(got)+len(s.queue.unwanted)+len(s.prompts)+len(s.queue.accepted) > 0 || len(s.said) > 0 {
					t.Errorf("%s: something was done already", name)
				}

				s.Respond(p.id, c.chosen.ID)
				if len(got) != 1 || got[0] != c.option+" by user" || len(s.queue.pending) > 0 {
					t.Errorf("%s: answered %q", name, got)
				}
				if (len(s.queue.accepted) > 0) != c.accepted || (len(s.queue.unwanted) > 0) != c.unwanted || (len(s.prompts) > 0) != c.prompt || strings.Join(s.said, "") != c.remark {
					t.Errorf("%s: accepted %d, unwanted %d, queued %d, said %d", name, len(s.queue.accepted), len(s.queue.unwanted), len(s.prompts), len(s.said))
				}
			})
		})
	}
}
