package host

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
)

func hunksBetween(old, text string) (diff.File, []replaced) {
	f := diff.Whole("/p/a.lua", session.OperationModify, old, text)
	return f, hunksOf(&f)
}

func TestRefusedHunksAreFoundAgain(t *testing.T) {
	const old = "a\nb\nc\nd\ne\nf\ng\nh\n"
	_, hunks := hunksBetween(old, "a\nB\nc\nd\nnew\ne\nf\nG\nh\n")
	if len(hunks) != 3 {
		t.Fatalf("%d hunks", len(hunks))
	}
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
		_, now := hunksBetween(c.old, c.text)
		if got := carried(hunks, c.refused, now); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	// Of equal ones the second is the second.
	_, twice := hunksBetween("x\na\nb\nx\n", "y\na\nb\ny\n")
	if got := carried(twice, []bool{false, true}, slices.Clone(twice)); !slices.Equal(got, []bool{false, true}) {
		t.Errorf("of equal ones: %v", got)
	}
}

func TestWhatIsAskedForOfAChange(t *testing.T) {
	s := &Session{cwd: "/p"}
	f, hunks := hunksBetween("a\nb\nc\nd\ne\nf\ng\n", "a\nB\nc\nd\nnew\ne\nf\n")
	made := diff.Whole("/p/new.lua", session.OperationAdd, "", "one\n")
	binary := diff.Whole("/elsewhere/x.png", session.OperationModify, "\x00", "\x00\x00")
	got := s.partly("Edit\nfiles", []*picks{
		{&f, hunks, []bool{false, true, false}},
		{&made, hunksOf(&made), []bool{true}},
		{&binary, hunksOf(&binary), []bool{false}},
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
	if got != want {
		t.Errorf("the prompt is\n%s\nwant\n%s", got, want)
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
	got = s.partly("", []*picks{{&f, hunks, refused}})
	if len(got) > 64<<10 {
		t.Errorf("the prompt has %d bytes", len(got))
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
	} {
		got := otherwise(text, c.written, c.edited)
		start := "the user refused a part of this text, and only the rest was written. Refused, by the lines of your text: "
		if c.edited {
			start = "the user changed this text before it was written, and theirs was written. Changed, by the lines of your text: "
		}
		if want := start + c.want + ". Read the file again before you change it further"; got != want {
			t.Errorf("%s: %q, want %q", c.what, got, want)
		}
	}
	var long, other strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&long, "line %d %s\nsame %d\n", i, strings.Repeat("ü", 500), i)
		fmt.Fprintf(&other, "same %d\n", i)
	}
	got := otherwise(long.String(), other.String(), false)
	if len(got) > 8<<10 || !strings.Contains(got, "; and in 970 more places.") {
		t.Errorf("of many it says %d bytes: …%s", len(got), got[len(got)-200:])
	}
}

func TestWhatWasAcceptedBefore(t *testing.T) {
	text := func(s string) *string { return &s }
	const before = "a\nb\nc\nd\n"
	fragment := accepted{told: session.Diff{Path: "a", OldText: text("b\n"), NewText: text("B\n")}, text: "a\nB\nc\nd\n"}
	second := accepted{told: session.Diff{Path: "a", OldText: text("d\n"), NewText: text("D\n")}, text: "a\nb\nc\nD\n"}
	whole := accepted{told: session.Diff{Path: "a", OldText: text("x\r\n"), NewText: text("y\r\n")}, text: "y\r\n"}
	for _, c := range []struct {
		what         string
		list         []accepted
		before, text string
		want         bool
	}{
		{"nothing", nil, before, before, false},
		{"a fragment", []accepted{fragment}, before, "a\nB\nc\nd\n", true},
		{"what the user typed since", []accepted{fragment}, "mine\n" + before, "mine\na\nB\nc\nd\n", true},
		{"more than that", []accepted{fragment}, before, "a\nB\nc\nD\n", false},
		{"two together", []accepted{fragment, second}, before, "a\nB\nc\nD\n", true},
		{"the second of two", []accepted{fragment, second}, before, "a\nb\nc\nD\n", true},
		{"a whole text", []accepted{whole}, "z\n", "y\n", true},
		{"another text", []accepted{whole}, "z\n", "z\ny\n", false},
	} {
		if got := agreed(c.list, c.before, c.text); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

// What the user's answer to a request comes to, with hunks that they have refused; asking for it changes
// nothing.
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
			s := aloneSession(t)
			s.host.reviewBefore.Store(true)
			var got []string
			p := &permission{open: true, stop: func() bool { return true }, answer: func(id, by string) { got = append(got, id+" by "+by) }}
			p.request.Options = c.options
			told := &change{call: &p.call, file: &f, settled: true, told: session.Diff{Path: "/a", NewText: &f.New}}
			if c.refused != nil {
				p.picks = map[*change]*picks{told: {&f, hunks, c.refused}}
			}
			s.on(func() {
				s.permissions.asked = []*permission{p}
				s.diffs.calls = map[*session.ToolCall][]*change{&p.call: {told}}
				out := s.outcomeOf(p, c.chosen)
				if out.option.ID != c.option || out.accepted != c.accepted || (out.unwanted != nil) != c.unwanted || (out.prompt != "") != c.prompt || out.remark != c.remark {
					t.Errorf("%s: %+v", name, out)
				}
				if len(got)+len(s.permissions.unwanted)+len(s.outbox.queue)+len(s.permissions.accepted) > 0 || len(s.conv.Entries) > 0 {
					t.Errorf("%s: something was done already", name)
				}

				s.outbox.paused = true // what is queued stays
				s.respond(p.id, c.chosen.ID)
				if len(got) != 1 || got[0] != c.option+" by user" || len(s.permissions.asked) > 0 {
					t.Errorf("%s: answered %q", name, got)
				}
				if (len(s.permissions.accepted) > 0) != c.accepted || (len(s.permissions.unwanted) > 0) != c.unwanted || (len(s.outbox.queue) > 0) != c.prompt || (len(s.conv.Entries) > 0) != (c.remark != "") {
					t.Errorf("%s: accepted %d, unwanted %d, queued %d, said %d", name, len(s.permissions.accepted), len(s.permissions.unwanted), len(s.outbox.queue), len(s.conv.Entries))
				}
			})
		})
	}
}
