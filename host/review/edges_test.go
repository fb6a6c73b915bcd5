package review

import (
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// statusOf lists what has become of the files of a record.
func statusOf(r *Record) (list []string) {
	for _, f := range r.Files() {
		s := string(f.Status) + " " + f.Path
		if f.OldPath != "" {
			s += " from " + f.OldPath
		}
		list = append(list, s)
	}
	return list
}

// Where the agent moves a file over another one that is in the record: one of its own making is this very file then;
// another one has changed.
func TestMovedOverAnother(t *testing.T) {
	own := New(1 << 20)
	own.Changed("to", Content{}, Text("half\n"))
	own.Moved("from", "to", Text("1\n2\n"), Text("1\n2\n"))
	check.Slice(t, statusOf(own), []string{"moved to from from"}, "over a file of the agent's own there is %q")
	check.Equal(t, own.bytes, textBytes(own), "%d bytes are counted")
	if changed, gone := own.Take(); len(changed) != 1 || len(gone) != 1 || gone[0] == changed[0].ID {
		t.Errorf("told are %+v, and that %v are gone", changed, gone)
	}

	again := New(1 << 20) // one that was made twice
	for _, is := range []Content{Text("x\n"), {}, Text("x\n")} {
		was, _ := again.Present("from")
		again.Changed("from", was, is)
	}
	again.Changed("to", Text("a\n"), Text("b\n"))
	again.Moved("from", "to", Text("x\n"), Text("x\n"))
	check.Slice(t, statusOf(again), []string{"modified to"}, "of one of its own there are %q")

	users := New(1 << 20)
	users.Changed("to", Text("a\n"), Text("a\nb\n"))
	users.Moved("from", "to", Text("1\n2\n"), Text("1\n2\n"))
	if got := statusOf(users); !slices.Equal(got, []string{"modified to", "deleted from"}) {
		t.Errorf("over a file that was there before there is %q", got)
	}
	if f, _ := users.File("to"); f.Baseline.Text != "a\n" || f.Present.Text != "1\n2\n" {
		t.Errorf("it was %q and is %q", f.Baseline.Text, f.Present.Text)
	}
	if f, _ := users.File("from"); f.Baseline.Text != "1\n2\n" || f.Present.Exists {
		t.Errorf("the moved one was %q, and is there: %v", f.Baseline.Text, f.Present.Exists)
	}
}

// What the user has made of a file before the agent moves it is no change of the agent's.
func TestTheUsersLinesMoveAlong(t *testing.T) {
	r := New(1 << 20)
	r.Changed("from", Text("1\n"), Text("1\na\n"))
	r.Moved("from", "to", Text("u\n1\na\n"), Text("u\n1\na\n"))
	f, _ := r.File("to")
	if got := spans(f.Hunks, Pending); len(got) != 1 || f.Baseline.Text != "u\n1\n" {
		t.Errorf("the hunks are %v of %q", f.Hunks, f.Baseline.Text)
	}
}

// A file that the user has removed is not listed however often that is heard, and is back with what there was to
// decide.
func TestRemovedIsRemoved(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Text("1\n"), Text("1\na\n"))
	r.Removed("f")
	r.Now("f", Content{})
	check.Slice(t, statusOf(r), nil, "removed it is %q")
	r.Now("f", Text("1\na\n"))
	if f, ok := r.File("f"); !ok || len(spans(f.Hunks, Pending)) != 1 {
		t.Errorf("back it is %v", statusOf(r))
	}
	r.Removed("unknown")
	r.Now("unknown", Text("1\n"))
	if _, ok := r.File("unknown"); ok {
		t.Error("what the user does elsewhere is in the record")
	}
}

// A plan is for what the record had: after any change it is not committed.
func TestStalePlans(t *testing.T) {
	for name, change := range map[string]func(r *Record){
		"by the agent":    func(r *Record) { r.Changed("f", Text("1\na\n"), Text("1\nb\n")) },
		"by the user":     func(r *Record) { r.Now("f", Text("u\n1\na\n")) },
		"of its form":     func(r *Record) { r.Now("f", Content{Exists: true, Text: "1\na\n", Form: "utf-8 dos"}) },
		"removed by user": func(r *Record) { r.Removed("f") },
		"forgotten":       func(r *Record) { r.Changed("f", Text("1\na\n"), Text("1\n")) },
		"forgotten, anew": func(r *Record) {
			r.Changed("f", Text("1\na\n"), Text("1\n"))
			r.Changed("f", Text("1\n"), Text("1\na\n"))
		},
	} {
		r := New(1 << 20)
		r.Changed("f", Text("1\n"), Text("1\na\n"))
		p, err := r.Plan("f", Reject, Selection{})
		must.Do(t, err)
		change(r)
		before := r.Files()
		if r.Commit(p) {
			t.Errorf("%s: it was committed", name)
		}
		if got := r.Files(); len(got) != len(before) || len(got) > 0 && got[0].Present != before[0].Present {
			t.Errorf("%s: the record has changed", name)
		}
	}
}

// A decision about hunks that are not there is none.
func TestNoSuchHunk(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Text("1\n2\n3\n"), Text("1\na\n3\n"))
	f, _ := r.File("f")
	beside := f.Lines(2, 2)
	beside.Parts[0].A0, beside.Parts[0].A1 = 0, 1
	others := []Selection{{Hunks: []int{-1}}, {Hunks: []int{1}}, beside}
	for _, change := range []func(*linediff.Edit){
		func(e *linediff.Edit) { e.A1++ },
		func(e *linediff.Edit) { e.B1++ },
		func(e *linediff.Edit) { e.B0-- },
		func(e *linediff.Edit) { e.A0, e.A1 = e.A1, e.A0 },
		func(e *linediff.Edit) { e.B0, e.B1 = e.B1, e.B0 },
	} {
		which := f.Lines(2, 2)
		change(&which.Parts[0])
		others = append(others, which)
	}
	for _, which := range others {
		if _, err := r.Plan("f", Reject, which); !errors.Is(err, errNoSuchHunk) {
			t.Errorf("%v: %v", which, err)
		}
	}
	if _, err := r.Plan("g", Keep, Selection{}); !errors.Is(err, ErrNotChanged) {
		t.Errorf("of an unknown file: %v", err)
	}
}

// Lines that the agent has taken out are selected at the line that they stood before or behind, and nowhere else, and new
// ones nowhere beside them.
func TestLinesThatAreGone(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Text("1\n2\n3\n4\n5\n"), Text("1\n3\n4\n5\n"))
	f, _ := r.File("f")
	for line, want := range map[int]int{1: 1, 2: 1, 3: 0, 4: 0} {
		check.Equal(t, len(f.Lines(line, line).Parts), want, "line %d selects %d", line)
	}
	r.Changed("g", Text("1\n2\n3\n4\n"), Text("1\n2\n3\n"))
	g, _ := r.File("g")
	for line, want := range map[int]int{1: 0, 2: 0, 3: 1, 4: 1} {
		check.Equal(t, len(g.Lines(line, line).Parts), want, "above the end line %d selects %d", line)
	}
	r.Changed("h", Text(letters("abcd")), Text(letters("aXYd")))
	h, _ := r.File("h")
	for line, want := range map[int]int{1: 0, 2: 1, 3: 1, 4: 0} {
		check.Equal(t, len(h.Lines(line, line).Parts), want, "beside new ones line %d selects %d", line)
	}
}

func TestFirstLine(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Text("1\n2\n3\n4\n5\n"), Text("1\na\nb\n3\n5\n"))
	f, _ := r.File("f")
	var got []string
	for _, h := range f.Hunks {
		got = append(got, f.FirstLine(h))
	}
	check.Slice(t, got, []string{"a", "4"}, "the hunks begin with %q")
	check.Equal(t, File{}.FirstLine(Hunk{}), "", "no lines begin with %q")
	check.Equal(t, f.FirstLine(Hunk{OldStart: 6, OldCount: 1}), "", "behind the end is %q")
}

// The user gives a file another form or other permissions: those are not the agent's to take back. Those that the
// agent has given go with all of its changes.
func TestFormsAndModesAreTheUsers(t *testing.T) {
	styled := func(text, form string, mode fs.FileMode) Content {
		return Content{Exists: true, Text: text, Form: form, Mode: mode}
	}
	for name, c := range map[string]struct{ before, agent, user, want Content }{
		"the user's form":  {styled("1\n", "", 0o600), styled("1\na\n", "", 0o600), styled("1\na\n", "utf-8 dos", 0o600), styled("1\n", "utf-8 dos", 0o600)},
		"the agent's form": {styled("1\n", "", 0o600), styled("1\na\n", "utf-8 dos", 0o600), styled("u\n1\na\n", "utf-8 dos", 0o600), styled("u\n1\n", "", 0o600)},
		"the user's mode":  {styled("1\n", "", 0o600), styled("1\na\n", "", 0o600), styled("1\na\n", "", 0o700), styled("1\n", "", 0o700)},
		"both's modes": {
			styled("1\n", "", 0o600), styled("1\na\n", "", 0o700), styled("1\na\n", "", 0o640), styled("1\n", "", 0o640),
		},
		"the agent's mode": {styled("1\n", "", 0o600), styled("1\na\n", "", 0o700), styled("u\n1\na\n", "", 0o700), styled("u\n1\n", "", 0o600)},
	} {
		r := New(1 << 20)
		r.Changed("f", c.before, c.agent)
		r.Now("f", c.user)
		p, err := r.Plan("f", Reject, Selection{})
		if err != nil || p.Want != c.want {
			t.Errorf("%s: refused it is to be %+v, wanted %+v, %v", name, p.Want, c.want, err)
		}
		if !r.Commit(p) {
			t.Errorf("%s: it is not committed", name)
		}
	}
}

// A file that was made and is gone again is no change, unless the user has kept it in between.
func TestMadeAndGone(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Content{}, Text("a\n"))
	p, _ := r.Plan("f", Keep, Selection{})
	r.Commit(p)
	r.Changed("f", Text("a\n"), Content{})
	check.Slice(t, statusOf(r), []string{"deleted f"}, "kept, and then removed by the agent, it is %q")
	r = New(1 << 20)
	r.Changed("f", Content{}, Text("a\n"))
	r.Changed("f", Text("a\n"), Content{})
	check.Slice(t, statusOf(r), nil, "made and removed by the agent it is %q")
}

// A file that the agent has removed, and that is there again, has what there was to decide before; the removal alone
// was all that the agent did where it had changed nothing else.
func TestRemovedByTheAgentAndBack(t *testing.T) {
	gone := func(r *Record) File { f, _ := r.File("f"); return f }
	changed := New(1 << 20)
	changed.Changed("f", Text("1\n2\n"), Text("1\na\n2\n"))
	changed.Now("f", Text("1\na\n2\nu\n"))
	changed.Changed("f", Text("1\na\n2\nu\n"), Content{})
	if f := gone(changed); f.Status != Deleted || len(f.Hunks) != 1 || f.Hunks[0] != (Hunk{OldStart: 1, OldCount: 3, State: Pending}) {
		t.Errorf("removed it is %s, %+v", f.Status, f.Hunks)
	}
	for name, back := range map[string]func(r *Record){
		"by the user":  func(r *Record) { r.Now("f", Text("1\na\n2\nu\n")) },
		"by the agent": func(r *Record) { r.Changed("f", Content{}, Text("1\na\n2\nu\n")) },
	} {
		r := loaded(t, changed)
		back(r)
		if f := gone(r); f.Status != Modified || f.Baseline.Text != "1\n2\nu\n" || len(spans(f.Hunks, Pending)) != 1 {
			t.Errorf("back %s it is %s, %+v of %q", name, f.Status, f.Hunks, f.Baseline.Text)
		}
	}

	only := New(1 << 20)
	only.Changed("f", Text("1\n2\n"), Content{})
	only.Now("f", Text("1\n2\nu\n"))
	check.Slice(t, statusOf(only), nil, "back with a line of the user's it is %q")
	only.Changed("f", Text("1\n2\nu\n"), Content{})
	only.Changed("f", Content{}, Text("1\na\nu\n"))
	if f := gone(only); f.Baseline.Text != "1\n2\nu\n" || len(f.Hunks) != 1 || f.Hunks[0].NewCount != 1 {
		t.Errorf("written anew it is %+v of %q", f.Hunks, f.Baseline.Text)
	}
}

// What changes nothing is not told, and neither is what is as it was before anybody heard of it.
func TestNoChangeIsNotTold(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Text("1\n"), Text("1\n"))
	if changed, gone := r.Take(); len(changed)+len(gone) > 0 {
		t.Errorf("told is %v, %v", changed, gone)
	}
	r.Changed("f", Text("1\n"), Text("2\n"))
	r.Take()
	r.Changed("f", Text("2\n"), Text("2\n"))
	r.Now("f", Text("2\n"))
	if changed, gone := r.Take(); len(changed)+len(gone) > 0 {
		t.Errorf("told is %v, %v", changed, gone)
	}
}

// What was kept of a file without lines, and is then as it was at first by the agent, waits for the user: it was kept.
func TestBytesThatAreBack(t *testing.T) {
	for _, c := range []struct {
		do   Decision
		want State
	}{{Keep, Pending}, {Reject, Rejected}} {
		r := New(1 << 20)
		r.Changed("f", Text("a\x00"), Text("b\x00"))
		decideAll(t, r, c.do)
		f, _ := r.File("f")
		if c.do == Keep {
			r.Changed("f", f.Present, Text("a\x00"))
		}
		if f, ok := r.File("f"); !ok || f.State != c.want {
			t.Errorf("%s, it is %q", c.do, f.State)
		}
	}
}

// The form and the permissions that the agent has given a file go when the last of its changes does, and so does a
// file that it has made.
func TestWhatGoesWithTheLastHunk(t *testing.T) {
	was, is := Text(letters("abcde")), Text(letters("aXcYe"))
	is.Mode, is.Form = 0o755, "utf-8 dos"
	for name, c := range map[string]struct{ was, is Content }{"changed": {was, is}, "made": {Content{}, is}} {
		r := New(1 << 20)
		r.Changed("f", c.was, c.is)
		for f, _ := r.File("f"); f.State == Pending; f, _ = r.File("f") {
			if f.Present.Mode != 0o755 || f.Present.Form != "utf-8 dos" {
				t.Errorf("%s: while something waits it is %+v", name, f.Present)
			}
			first := f.Changes()[0].Line
			decide(t, r, Reject, f.Lines(first, first))
		}
		if f, _ := r.File("f"); f.Present != c.was {
			t.Errorf("%s: refused line by line it is %+v", name, f.Present)
		}
	}
}

// The user gives a file another name: what waits goes along, but not over what waits there.
func TestRenamedFiles(t *testing.T) {
	r := New(1 << 20)
	r.Renamed("unknown", "f")
	for _, path := range []string{"f", "g"} {
		r.Changed(path, Text("1\n"), Text("1\n"+path+"\n"))
	}
	r.Renamed("f", "g")
	r.Renamed("g", "h")
	check.Slice(t, r.Paths(), []string{"f", "h"}, "the record has %q")
	if h, _ := r.File("h"); h.Present.Text != "1\ng\n" || h.OldPath != "" {
		t.Errorf("under its new name it is %+v", h)
	}

	// A move that was refused is made again where the user keeps it after all, but not when they have named the file anew.
	for _, again := range []bool{true, false} {
		r.Moved("old", "new", Text("1\n"), Text("2\n"))
		p, err := r.Plan("new", Reject, Selection{})
		if err != nil || !r.Commit(p) {
			t.Fatal(err)
		}
		path, back := "old", "new"
		if !again {
			path, back = "mine", ""
			r.Renamed("old", path)
		}
		if p, err = r.Plan(path, Keep, Selection{}); err != nil || p.Back != back || p.Want.Text != "2\n" {
			t.Errorf("kept after all %s moves to %q and is %q, %v", path, p.Back, p.Want.Text, err)
		}
		r = New(1 << 20)
	}
}

// Refusals side by side are undone one by one: what comes back is the agent's and waits, what does not stays refused.
func TestRefusalsSideBySideAreUndone(t *testing.T) {
	for _, now := range []string{"abcZe", "abYde", "aXcde", "abYZe", "aXYde"} {
		r := play([]step{agent(letters("abcde"), letters("aXYZe"))})
		for _, line := range []int{4, 3, 2} {
			f, _ := r.File("f")
			decide(t, r, Reject, f.Lines(line, line))
		}
		r.Now("f", Text(letters(now)))
		f, _ := r.File("f")
		sound(t, f)
		consistent(t, f)
		p := decide(t, r, Reject, Selection{})
		if f.State != Pending || f.Baseline.Text != letters("abcde") || p.Want.Text != letters("abcde") {
			t.Errorf("of %q %+v waits, refused again it is %q", now, f, p.Want.Text)
		}
	}
}

// What the user makes of a file that the agent has made binary cannot be told from the agent's, so nothing is refused
// there until they keep it or take their change back.
func TestTypedIntoWhatIsNoText(t *testing.T) {
	change := func(r *Record) { r.Changed("f", Text("f1\n"), Text("\x00a")) }
	types := func(r *Record) { r.Now("f", Text("\x00au")) }
	for name, c := range map[string]struct {
		do      func(r *Record) *Record
		refuses bool
	}{
		"nothing typed":        {func(r *Record) *Record { change(r); return r }, true},
		"typed":                {func(r *Record) *Record { change(r); types(r); return r }, false},
		"typed, as lines":      {func(r *Record) *Record { change(r); r.Now("f", Text("u\n")); return r }, false},
		"typed and saved":      {func(r *Record) *Record { change(r); types(r); return loaded(t, r) }, false},
		"saved and then typed": {func(r *Record) *Record { change(r); r = loaded(t, r); types(r); return r }, false},
		"typed, and as it was": {func(r *Record) *Record { change(r); types(r); r.Now("f", Text("\x00a")); return r }, true},
		"permissions": {func(r *Record) *Record {
			change(r)
			now := Text("\x00a")
			now.Mode = 0o600
			r.Now("f", now)
			return r
		}, true},
		"made binary by the user": {func(r *Record) *Record { r.Changed("f", Text("f1\n"), Text("a\n")); types(r); return r }, false},
		"made so, and as it was": {func(r *Record) *Record {
			r.Changed("f", Text("f1\n"), Text("a\n"))
			types(r)
			r.Now("f", Text("a\n"))
			return r
		}, true},
		"typed, and the agent once more": {func(r *Record) *Record {
			change(r)
			types(r)
			r.Changed("f", Text("\x00au"), Text("\x00aub"))
			return r
		}, false},
		"typed and kept, and the agent once more": {func(r *Record) *Record {
			change(r)
			types(r)
			decideAll(t, r, Keep)
			r.Changed("f", Text("\x00au"), Text("\x00aub"))
			return r
		}, true},
		"removed, and made anew by the user": {func(r *Record) *Record {
			change(r)
			r.Changed("f", Text("\x00a"), Content{})
			r.Now("f", Text("u\n"))
			return r
		}, false},
		"a new one":                {func(r *Record) *Record { r.Changed("f", Content{}, Text("\x00a")); types(r); return r }, false},
		"the agent has removed it": {func(r *Record) *Record { change(r); types(r); r.Changed("f", Text("\x00au"), Content{}); return r }, true},
		"told as removed, then as moved": {func(r *Record) *Record {
			change(r)
			r.Changed("f", Text("\x00a"), Content{})
			r.Moved("f", "g", Text("\x00a"), Text("\x00a"))
			r.Moved("g", "f", Text("\x00a"), Text("\x00a"))
			return r
		}, true},
		"refused before": {func(r *Record) *Record {
			change(r)
			decideAll(t, r, Reject)
			return r
		}, true},
		"refused before, then typed": {func(r *Record) *Record {
			change(r)
			decideAll(t, r, Reject)
			types(r)
			return r
		}, true},
		"kept, then typed": {func(r *Record) *Record {
			change(r)
			decideAll(t, r, Keep)
			types(r)
			return r
		}, true},
		"its text is forgotten": {func(r *Record) *Record {
			r.Changed("f", Text("f1\n"), Text("a\n"))
			r.limit = 0
			r.Changed("g", Text("g1\n"), Text("a\n"))
			return r
		}, true},
		"its text is forgotten, then typed": {func(r *Record) *Record {
			r.Changed("f", Text("f1\n"), Text("a\n"))
			r.limit = 0
			r.Changed("g", Text("g1\n"), Text("a\n"))
			r.Now("f", Text("u\n"))
			return r
		}, false},
	} {
		r := c.do(New(1 << 20))
		_, err := r.Plan("f", Reject, Selection{})
		if c.refuses != (err == nil) || err != nil && !errors.Is(err, errTyped) {
			t.Errorf("%s: a refusal says %v", name, err)
		}
		if p, err := r.Plan("f", Keep, Selection{}); err != nil || !r.Commit(p) {
			t.Errorf("%s: it cannot be kept: %v", name, err)
		}
		if f, ok := r.File("f"); ok && f.State != Kept {
			t.Errorf("%s: kept it is %+v", name, f)
		}
	}
}

// The user saves the buffer of a file that the agent has moved away: what there is to decide of it is there again, and
// the agent has added the other one. A move that was kept, or that the user has removed, stays one.
func TestRemadeFiles(t *testing.T) {
	moved := func() *Record {
		r := New(1 << 20)
		r.Changed("f", Text("1\n2\n"), Text("1\na\n2\n"))
		r.Moved("f", "g", Text("1\na\n2\n"), Text("1\na\n2\n"))
		return r
	}
	r := moved()
	r.Remade("f", Text("1\na\n2\nu\n"))
	check.Slice(t, statusOf(r), []string{"modified f", "added g"}, "there are %q")
	for _, path := range []string{"f", "g"} {
		p, err := r.Plan(path, Reject, Selection{})
		if err != nil || !r.Commit(p) {
			t.Errorf("%s cannot be refused: %v", path, err)
		}
	}
	if f, _ := r.File("f"); f.Present.Text != "1\n2\nu\n" {
		t.Errorf("refused there is %q", f.Present.Text)
	}
	if g, _ := r.File("g"); g.Present.Exists {
		t.Errorf("refused there is %+v", g.Present)
	}

	for _, users := range []string{"", "u\n"} {
		r = moved()
		r.Changed("g", Text("1\na\n2\n"), Text("1\nb\n2\n"))
		r.Remade("f", Text("1\na\n2\n"+users))
		if p, err := r.Plan("f", Reject, Selection{}); err != nil || p.Want.Text != "1\n2\n"+users {
			t.Errorf("what it was before the agent's last change is there: refused there is %q, %v", p.Want.Text, err)
		}
		check.Equal(t, r.bytes, textBytes(r), "then %d bytes are counted")
	}

	r = moved()
	r.Remade("f", Text("u\n"))
	if p, err := r.Plan("f", Reject, Selection{}); err != nil || p.Want.Text != "1\n2\nu\n" {
		t.Errorf("another text is there: refused there is %q, %v", p.Want.Text, err)
	}

	r = moved()
	r.Now("g", Text("1\na\n2\nu\n"))
	r.Remade("f", Opaque("one"))
	if f, _ := r.File("f"); f.Baseline != Text("1\n2\nu\n").Mark() {
		t.Errorf("bytes are there: it was %+v", f.Baseline)
	}

	for name, do := range map[string]func(r *Record){
		"kept": func(r *Record) {
			p, err := r.Plan("g", Keep, Selection{})
			if err != nil || !r.Commit(p) {
				t.Errorf("it cannot be kept: %v", err)
			}
		},
		"removed by the user":  func(r *Record) { r.Removed("g") },
		"removed by the agent": func(r *Record) { r.Changed("g", Text("1\na\n2\n"), Content{}) },
		"made by the agent":    func(r *Record) { r.Changed("f", Content{}, Text("a\n")) },
	} {
		r := moved()
		do(r)
		was := statusOf(r)
		r.Remade("f", Text("u\n"))
		r.Remade("g", Text("u\n"))
		if got := statusOf(r); !slices.Equal(got, was) {
			t.Errorf("%s: there are %q, there were %q", name, got, was)
		}
	}
}

// Lines that wait for a decision are counted, those that came and those that went.
func TestLinesThatWaitAreCounted(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("f", Text(letters("abcde")), Text(letters("aXYcd")))
	f, _ := r.File("f")
	if added, removed := f.Pending(); added != 2 || removed != 2 {
		t.Errorf("%d came, %d went", added, removed)
	}
	r.Changed("f", Text(letters("aXYcd")), Text(letters("aXYZcd")))
	f, _ = r.File("f")
	if added, removed := f.Pending(); added != 3 || removed != 2 {
		t.Errorf("then %d came, %d went", added, removed)
	}
	r.Changed("f", Text(letters("aXYZcd")), Opaque("bytes"))
	f, _ = r.File("f")
	if added, removed := f.Pending(); added+removed != 0 {
		t.Errorf("of bytes %d came, %d went", added, removed)
	}
}

// What one change has made of what waits is selected, and nothing that waits beside it.
func TestWhatAChangeHasWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ start, first, second, accepted string }{
		{"abcdef", "aXbcdef", "aXbcdYef", "abcdYef"},    // apart
		{"abcdef", "abcXdef", "abcXYdef", "abcYdef"},    // below what is new
		{"abcdef", "abcXdef", "abcYXdef", "abcYdef"},    // above it
		{"abcdef", "abcdef", "abXdef", "abXdef"},        // there was nothing
		{"abcdef", "acdef", "adef", "abdef"},            // below what is gone
		{"abcdef", "abXdef", "abYdef", "abcYdef"},       // in the place of what was new there
		{"abcdef", "abdef", "abXYef", "abcXYef"},        // where something is gone
		{"abcdef", "aXcdYf", "aXcdYfZ", "abcdefZ"},      // at the end
		{"abcdef", "aXcdef", "aXcYeZ", "abcYeZ"},        // twice
		{"abcdef", "XabcdefY", "XbcdeY", "bcde"},        // only gone
		{"abcdef", "abcdefXYZ", "abcdefXQZ", "abcdefQ"}, // between what is new
		{"abcd", "abc", "abX", "abXd"},                  // above what is gone at the end
	} {
		r := New(1 << 20)
		if c.first != c.start {
			r.Changed("f", Text(letters(c.start)), Text(letters(c.first)))
		}
		before, _ := r.File("f")
		r.Changed("f", Text(letters(c.first)), Text(letters(c.second)))
		f, _ := r.File("f")
		p, err := r.Plan("f", Keep, f.Written(before, letters(c.first)))
		if err != nil || !r.Commit(p) {
			t.Fatalf("%s to %s: %v", c.first, c.second, err)
		}
		if f, _ := r.File("f"); f.Accepted.Text != letters(c.accepted) || f.Present.Text != letters(c.second) {
			t.Errorf("from %s by %s to %s: accepted is %q", c.start, c.first, c.second, f.Accepted.Text)
		}
	}
}

// Permissions are kept with the last hunk that is, not before.
func TestPermissionsAreKeptWithTheLastHunk(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	was, is := Text(letters("abcde")), Text(letters("aXcYe"))
	was.Mode, is.Mode = 0o644, 0o755
	r.Changed("f", was, is)
	for hunk, want := range []fs.FileMode{0o644, 0o755} {
		decide(t, r, Keep, Selection{Hunks: []int{hunk}})
		if f, _ := r.File("f"); f.Accepted.Mode != want {
			t.Errorf("accepted is %o, wanted %o", f.Accepted.Mode, want)
		}
	}
}

// Several hunks that were refused come back together, in whichever order they are named.
func TestSeveralRefusedHunksComeBack(t *testing.T) {
	t.Parallel()
	for _, hunks := range [][]int{{0, 2}, {2, 0}, {0, 1, 2}} {
		r := New(1 << 20)
		r.Changed("f", Text(letters("abcdefg")), Text(letters("aXXcYeZg")))
		decide(t, r, Reject, Selection{})
		decide(t, r, Keep, Selection{Hunks: hunks})
		want := "aXXcdeZg"
		if len(hunks) == 3 {
			want = "aXXcYeZg"
		}
		f, _ := r.File("f")
		check.Equal(t, f.Present.Text, letters(want), "kept %v: there is %q", hunks)
	}
}

// So they do with another change between them, which is kept with them or waits.
func TestRefusedHunksBesideAnotherComeBack(t *testing.T) {
	t.Parallel()
	for _, hunks := range [][]int{{0, 2}, {2, 0}, {0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2}, {0, 1}} {
		for _, now := range []string{"abWde", "abWWde", "abde"} {
			r := play([]step{agent(letters("abcde"), letters("aXXcYYe"))})
			decide(t, r, Reject, Selection{})
			r.Changed("f", Text(letters("abcde")), Text(letters(now)))
			decide(t, r, Keep, Selection{Hunks: hunks})
			want := strings.TrimSuffix(strings.TrimPrefix(now, "ab"), "de")
			accepted := "c"
			if slices.Contains(hunks, 1) {
				accepted = want
			}
			before, after := "b", "d"
			if slices.Contains(hunks, 0) {
				before = "XX"
			}
			if slices.Contains(hunks, 2) {
				after = "YY"
			}
			f, _ := r.File("f")
			check.Equal(t, f.Present.Text, letters("a"+before+want+after+"e"), "%s, kept %v: there is %q", now, hunks)
			check.Equal(t, f.Accepted.Text, letters("a"+before+accepted+after+"e"), "%s, kept %v: accepted is %q", now, hunks)
			sound(t, f)
			consistent(t, f)
		}
	}
}

// What an undo in the buffer has brought back waits again, and is listed so.
func TestRecalledHunksAreListed(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("f", Text(letters("abcde")), Text(letters("aXcde")))
	decide(t, r, Reject, Selection{})
	r.Recall("f", Text(letters("aXcde")))
	if f, _ := r.File("f"); f.State != Pending || len(spans(f.Hunks, Pending)) != 1 {
		t.Errorf("it is %s, with %v", f.State, f.Hunks)
	}
}

// Texts that the agent alone has taken away count as much as others, and go when there are too many; a file that the user
// has removed is not told for that.
func TestWhatIsReleasedIsNotTold(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of it\n", 100)
	r := New(3 * len(long))
	r.Changed("bytes", Text(long), Opaque("bytes"))
	r.Changed("away", Text(long), Text(long+"more\n"))
	r.Removed("away")
	r.Take()
	for _, name := range []string{"1", "2", "3", "4"} {
		r.Changed(name, Text(long), Text(long+name))
	}
	if r.bytes > r.limit {
		t.Errorf("there are %d bytes, of at most %d", r.bytes, r.limit)
	}
	told, gone := r.Take()
	for _, f := range told {
		if f.Path == "away" {
			t.Error("a file that the user has removed is told")
		}
	}
	check.Slice(t, gone, nil, "gone are %v")
}

func TestLinesOfATextAreCounted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "a\n": 1, "a": 1, "a\nb": 2, "\n\n": 2} {
		check.Equal(t, countLines(text), want, "%q has %d lines", text)
	}
}

// What a record has said of a file it says again when it is set back, whatever came in between, and nothing of one that
// it did not know.
func TestSetBack(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	none := r.Image("f")
	r.Changed("f", Text(letters("abc")), Text(letters("aXc")))
	one := r.Image("f")
	first, _ := r.File("f")
	r.Changed("f", Text(letters("aXc")), Text(letters("aXcY")))
	decide(t, r, Keep, Selection{})
	bytes := r.bytes
	r.SetBack("f", one)
	if f, _ := r.File("f"); !reflect.DeepEqual(f, first) || r.bytes >= bytes {
		t.Errorf("set back it is %+v, in %d bytes", f, r.bytes)
	}
	r.SetBack("f", none)
	r.SetBack("f", none)
	if f, ok := r.File("f"); ok || r.bytes != 0 {
		t.Errorf("set back to nothing it is %+v, in %d bytes", f, r.bytes)
	}
	r.SetBack("f", one)
	if f, ok := r.File("f"); !ok || f.ID == first.ID || f.Present != first.Present || f.Baseline != first.Baseline || !reflect.DeepEqual(f.Hunks, first.Hunks) {
		t.Errorf("set back to what was forgotten it is %+v", f)
	}
	decide(t, r, Reject, Selection{})
	if f, _ := r.File("f"); f.Present.Text != letters("abc") {
		t.Errorf("refused it is %q", f.Present.Text)
	}
}

// An undo that the user adds a line to, in its very place, is an undo and a line of theirs.
func TestAnUndoWithALineMore(t *testing.T) {
	r := New(1 << 20)
	r.Changed("/f", Text("1\n2\n"), Text("1\na\nb\n"))
	r.Now("/f", Text("1\n2\nmine\n"))
	p, err := r.Plan("/f", Reject, Selection{})
	if err == nil && p.Want.Text != "1\n2\nmine\n" {
		t.Errorf("a refusal of all leaves %q", p.Want.Text)
	}
	// What is made of the agent's lines, and is not what was there before, stays the agent's.
	r.Changed("/g", Text("1\n2\n"), Text("1\na\nb\n"))
	r.Now("/g", Text("1\nax\nby\n"))
	if p, err := r.Plan("/g", Reject, Selection{}); err != nil || p.Want.Text != "1\n2\n" {
		t.Errorf("a refusal of changed lines leaves %q, %v", p.Want.Text, err)
	}
}

// A form that was kept and is taken back waits for no decision.
func TestRetractedForms(t *testing.T) {
	r := New(1 << 20)
	dos := Content{Exists: true, Text: "1\n2\n", Form: "utf-8 dos", Mode: 0o600}
	changed := dos
	changed.Text = "1\nX\n"
	unix := changed
	unix.Form, unix.Mode = "", 0o755
	r.Changed("f", dos, changed)
	r.Changed("f", changed, unix)
	decideAll(t, r, Keep)
	r.Retracted("f", unix, changed)
	if f, there := r.File("f"); !there || f.State != Kept {
		t.Errorf("it is %+v", f)
	}
}

// What stands where the agent has moved a file away keeps its owners, and what is decided of it, when that file is removed.
func TestMadeAnewWhereAFileWasMovedAwayThatIsRemoved(t *testing.T) {
	for _, keeps := range []bool{true, false} {
		r := New(1 << 20)
		r.Moved("f", "g", Text("f1\n"), Text("f1\n"))
		r.Changed("f", Content{}, Text("a1\na2\n"))
		if keeps {
			decideAll(t, r, Keep)
		}
		r.Now("f", Text("u1\na1\na2\n"))
		r.Changed("g", Text("f1\n"), Content{})
		f, _ := r.File("f")
		p, err := r.Plan("f", Reject, Selection{})
		want := map[bool]string{true: "u1\na1\na2\n", false: "u1\nf1\n"}[keeps]
		if err != nil || p.Want.Text != want {
			t.Errorf("%v: refused, %+v becomes %q, %v", keeps, f, p.Want.Text, err)
		}
	}
}

// What the user takes out of the agent's change and brings back by undo is the agent's again, line by line, also where
// there was more than one edit, by redo and undo, and with what the agent has done since.
func TestUndoneEditsAmongTheAgentsLines(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Text("1\n"), Text("1\na\nb\nc\n"))
	for _, text := range []string{"1\na\nc\n", "1\nc\n", "1\na\nc\n", "1\na\nb\nc\n", "1\na\nc\n", "1\na\nb\nc\n"} {
		r.Now("f", Text(text))
	}
	f, _ := r.File("f")
	check.Equal(t, f.Baseline.Text, "1\n", "after undo the user's text is %q")
	r.Now("f", Text("1\na\nc\n"))
	r.Changed("f", Text("1\na\nc\n"), Text("1\na\nc\nd\n"))
	r.Now("f", Text("1\na\nb\nc\n"))
	f, _ = r.File("f")
	check.Equal(t, f.Baseline.Text, "1\n", "after undo of the agent's last change too the user's text is %q")
	r.Now("f", Text("1\na\nc\nd\n"))
	f, _ = r.File("f")
	check.Equal(t, f.Baseline.Text, "1\n", "after redo the user's text is %q")
	check.Equal(t, len(f.Hunks), 1, "after redo there are %d hunks")
}

// An undo of the agent's last change gives back the lines that it had put in the place of lines of its own before that.
func TestUndoneChangeOverAnEarlierOne(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Text("f8\nf9\nf10\nf11\n"), Text("f8\na31\nf10\nf11\n"))
	r.Changed("f", Text("f8\na31\nf10\nf11\n"), Text("f8\na40\nf11\n"))
	r.Now("f", Text("f8\na31\nf10\nf11\n"))
	p, err := r.Plan("f", Reject, Selection{})
	check.Equal(t, p.Want.Text, "f8\nf9\nf10\nf11\n", "refused, it is %q")
	check.Equal(t, err, nil, "%v")
}

// A file of the agent's that was kept is the user's: it goes back to where it was when the agent moves it.
func TestMovedAfterItWasKept(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("f", Content{}, Text("1\n"))
	if p, err := r.Plan("f", Keep, Selection{}); err != nil || !r.Commit(p) {
		t.Fatalf("it cannot be kept: %v", err)
	}
	r.Moved("f", "g", Text("1\n"), Text("1\n"))
	check.Slice(t, statusOf(r), []string{"moved g from f"}, "there are %q")
	if p, err := r.Plan("g", Reject, Selection{}); err != nil || p.Back != "f" || p.Want.Text != "1\n" {
		t.Errorf("it goes back to %q with %q, %v", p.Back, p.Want.Text, err)
	}
}

// A file whose move was kept goes back to where that has put it, when the agent has moved it further or removed it there.
func TestMovedFromWhereItWasKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do       func(r *Record)
		at, back string
	}{
		"moved further":        {func(r *Record) { r.Moved("g", "h", Text("1\n"), Text("1\n")) }, "h", "g"},
		"moved where it began": {func(r *Record) { r.Moved("g", "f", Text("1\n"), Text("1\n")) }, "f", "g"},
		"removed":              {func(r *Record) { r.Changed("g", Text("1\n"), Content{}) }, "g", ""},
	} {
		r := New(1 << 20)
		r.Moved("f", "g", Text("1\n"), Text("1\n"))
		p, err := r.Plan("g", Keep, Selection{})
		if err != nil || !r.Commit(p) {
			t.Fatalf("it cannot be kept: %v", err)
		}
		c.do(r)
		if p, err = r.Plan(c.at, Reject, Selection{}); err != nil || p.Back != c.back || p.Want.Text != "1\n" {
			t.Errorf("%s: it goes back to %q with %q, %v; wanted %q", name, p.Back, p.Want.Text, err, c.back)
		}
	}
}

// From where the agent has taken files away, with what was there last.
func TestWhatIsAway(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("gone", Text("a\n"), Text("b\n"))
	r.Changed("gone", Text("b\n"), Content{})
	r.Moved("old", "new", Text("a\n"), Text("b\n"))
	r.Changed("here", Text("a\n"), Text("b\n"))
	r.Changed("bytes", Opaque("one"), Content{})
	r.Changed("binary", Text("a\n"), Text("b\n"))
	r.Changed("binary", Text("b\n"), Opaque("one"))
	r.Moved("old bytes", "new bytes", Opaque("one"), Opaque("one"))
	var got []string
	r.Away(func(path string, was Content) { got = append(got, path+" "+was.Text) })
	slices.Sort(got)
	check.Slice(t, got, []string{"gone b\n", "old b\n"}, "away are %q")
}

// The form of a text of ASCII letters is a guess among those that are alike.
func TestFormsThatAreAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, form, other string
		want              bool
	}{
		{"a\n", "", "latin1 unix", true}, {"a\n", "latin1 unix", "", true}, {"a\n", "latin1 dos", "utf-8 dos", true}, {"a\n", "latin1 dos", "", false},
		{"ä\n", "latin1 unix", "", false}, {"a\n", "utf-16le unix", "", false}, {"a\n", "", "utf-16le unix", false}, {"\x7f\n", "", "latin1 unix", true}, {"\u0080\n", "", "latin1 unix", false},
		{"", "", "latin1 unix", true}, {"", "utf-16 dos noeol", "", true}, {"", "", "utf-8 unix bom", false}, {"", "utf-8 unix bom", "latin1 dos", false},
	} {
		is := Text(c.text)
		is.Form = c.form
		check.Equal(t, is.StandsAs(c.other), c.want, "%q of form %q stands as %q: %v", c.text, c.form, c.other)
	}
	if Opaque("a").StandsAs("latin1 unix") {
		t.Error("bytes stand as text")
	}
}

// A file that the user puts back where the agent had moved another one to: that stays, and what was moved away is a new one.
func TestRemadeWhereAnotherWasMovedTo(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Moved("f", "g", Text("a\n"), Text("a\n"))
	r.Moved("h", "f", Text("b\n"), Text("b\n"))
	r.Remade("f", Text("u\n"))
	check.Slice(t, statusOf(r), []string{"moved f from h", "added g"}, "there are %q")
}

// What comes where the agent had something before, seen as the files that are listed.
func TestFilesThatComeBack(t *testing.T) {
	t.Parallel()
	a, b, c := Text("a\n"), Text("b\n"), Text("c\n")
	keep := func(r *Record, path string) {
		if p, err := r.Plan(path, Keep, Selection{}); err != nil || !r.Commit(p) {
			t.Errorf("%s cannot be kept: %v", path, err)
		}
	}
	for name, x := range map[string]struct {
		do   func(r *Record)
		want []string
	}{
		"removed by the user, and changed by the agent": {func(r *Record) {
			r.Changed("f", a, b)
			r.Removed("f")
			r.Changed("f", b, c)
		}, []string{"modified f"}},
		"moved to where a removal was kept": {func(r *Record) {
			r.Changed("f", a, Content{})
			keep(r, "f")
			r.Moved("g", "f", b, b)
		}, []string{"modified f", "deleted g"}},
	} {
		r := New(1 << 20)
		x.do(r)
		check.Slice(t, statusOf(r), x.want, "%s: there are %q", name)
	}

	r := New(1 << 20)
	r.Changed("bytes", Opaque("one"), Opaque("two"))
	keep(r, "bytes")
	r.Changed("bytes", Opaque("two"), Opaque("three"))
	r.Retracted("bytes", Opaque("three"), Opaque("two"))
	f, _ := r.File("bytes")
	check.Equal(t, f.State, Kept, "with what was kept it is %s")

	r.Changed("f", a, b)
	r.Changed("f", b, Opaque("bytes"))
	r.Changed("f", Opaque("bytes"), c)
	f, _ = r.File("f")
	check.Equal(t, f.Baseline, a, "a text again, it was %+v")
	check.Equal(t, f.FirstLine(f.Hunks[0]), "c", "its first line is %q")
}

// A text is unlike another one where it has none of its lines, of which there must be some.
func TestUnlikeTexts(t *testing.T) {
	t.Parallel()
	for texts, want := range map[string]bool{"a|u": true, "ab|u": true, "ab|ub": false, "|u": false, "a|": true} {
		old, now, _ := strings.Cut(texts, "|")
		check.Equal(t, unlike(letters(old), letters(now)), want, "%s: %v", texts)
	}
}

// Who is dropped can be touched again.
func TestRecency(t *testing.T) {
	t.Parallel()
	var r recency
	one, two := &file{}, &file{}
	for range 2 {
		r.touch(one)
		r.touch(two)
		r.touch(one)
		if r.oldest() != two {
			t.Error("the oldest is another one")
		}
		if r.drop(two); r.oldest() != one {
			t.Error("without it the oldest is another one")
		}
		if r.drop(one); r.oldest() != nil {
			t.Error("without any there is an oldest one")
		}
	}
}

// Of a file that is not gone, or of which nobody knows what it had, no buffer holds anything.
func TestHeldOfWhatIsNotGone(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("there", Text("a\n"), Opaque("two"))
	r.Changed("bytes", Opaque("one"), Content{})
	r.Changed("away", Text("a\n"), Opaque("two"))
	r.Removed("away")
	r.Changed("gone", Text("a\n"), Content{})
	was := statesOf(r)
	for _, path := range []string{"none", "there", "bytes", "away"} {
		r.Held(path, Text("x\n"))
		check.Slice(t, statesOf(r), was, path+": there are %q")
	}
	r.Held("gone", Opaque("x"))
	check.Slice(t, statesOf(r), was, "with bytes in the buffer there are %q")
}

// What the agent has made under the buffer of no file is a new file, of which what the buffer had is the user's.
func TestMadeUnderABuffer(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	now := Text(letters("uX"))
	now.Mode = 0o600
	r.MadeUnder("f", Text(letters("u")), now)
	check.Slice(t, statusOf(r), []string{"added f"}, "there are %q")
	want := Text(letters("u"))
	want.Mode = 0o600
	check.Equal(t, decide(t, r, Reject, Selection{}).Want, want, "refused there is %+v")
}

// Changes beside a kept one that were refused with a move are back where that is kept after all, each in its place.
func TestChangesThatWereRefusedWithAMove(t *testing.T) {
	t.Parallel()
	was, is := Text(letters("abcde")), Text(letters("aYYXZe"))
	r := New(1 << 20)
	r.Changed("f", was, Text(letters("abXde")))
	decide(t, r, Keep, Selection{})
	r.Changed("f", Text(letters("abXde")), is)
	r.Moved("f", "g", is, is)
	decideAt(t, r, "g", Reject)
	decideAt(t, r, "f", Keep)
	f, _ := r.File("g")
	if f.State != Kept || f.Present != is || f.Accepted != is || f.Baseline != was {
		t.Errorf("it is %+v", f)
	}
}

// A file that was forgotten, or is back, does not come back where the agent has removed it once.
func TestWhereAForgottenFileWasRemoved(t *testing.T) {
	t.Parallel()
	a := Text("a\n")
	r := New(1 << 20)
	r.Moved("f", "g", a, a)
	r.Changed("g", a, Content{})
	r.Retracted("f", Content{}, a)
	r.Changed("g", Text("b\n"), Text("c\n"))
	check.Slice(t, statusOf(r), []string{"modified g"}, "of a forgotten one there are %q")

	r = New(1 << 20)
	for _, from := range []string{"f", "h"} {
		r.Moved(from, "g", a, a)
		r.Changed("g", a, Content{})
	}
	r.Now("f", Text("b\n"))
	r.Changed("g", a, Text("c\n"))
	check.Slice(t, statusOf(r), []string{"modified f", "moved g from h"}, "of one that is back there are %q")
}

// Bytes in the place of a text that is kept for when it comes back are touched as texts are; those for which none is kept
// any more need no room, and what the user has changed of them stays known.
func TestBytesInThePlaceOfATextNeedRoom(t *testing.T) {
	t.Parallel()
	text := func(first string) Content { return Text(first + "\n" + strings.Repeat("x\n", 100)) }
	r := New(1000)
	r.Changed("bytes", text("a"), text("b"))
	r.Changed("text", text("a"), text("b"))
	r.Changed("bytes", text("b"), Opaque("one"))
	r.Changed("more", text("a"), text("b"))
	r.Changed("bytes", Opaque("one"), text("c"))
	r.Changed("text", text("b"), text("c"))
	for path, opaque := range map[string]bool{"bytes": false, "text": true, "more": false} {
		f, _ := r.File(path)
		check.Equal(t, f.Present.Opaque, opaque, path+" is without lines: %v")
	}

	r = New(1 << 20)
	r.Changed("f", text("a"), text("b"))
	r.Changed("f", text("b"), Opaque("one"))
	r.limit = 0
	r.Changed("g", text("a"), text("b"))
	check.Equal(t, r.bytes, 0, "%d bytes are kept where there is no room")

	r = New(1 << 20)
	r.Changed("f", text("a"), text("b"))
	r.Changed("f", text("b"), Opaque("one"))
	decide(t, r, Keep, Selection{})
	r.Changed("f", Opaque("one"), Opaque("two"))
	r.Now("f", Opaque("three"))
	r.limit = 0
	r.Changed("g", text("a"), text("b"))
	if f, _ := r.File("f"); !f.Typed {
		t.Error("that the user has changed it is forgotten")
	}
}

// What a buffer lacks of a file that the agent has removed under it the user has taken out, even if no line is left.
func TestHeldOfWhatIsGone(t *testing.T) {
	t.Parallel()
	for held, want := range map[string]string{"aXc": "abc", "aX": "ab", "auXc": "aubc", "ac": "abc", "": "b"} {
		r := play([]step{agent(letters("abc"), letters("aXc")), {by: "agent", before: Text(letters("aXc"))}})
		r.Take()
		r.Held("f", Text(letters(held)))
		refused := held
		if plan, err := r.Plan("f", Reject, Selection{}); err == nil {
			refused = strings.ReplaceAll(plan.Want.Text, "\n", "")
		}
		check.Equal(t, refused, want, "with %q in the buffer, refused there is %q", held)
		check.Equal(t, r.bytes, textBytes(r), "with %q in the buffer %d bytes are counted", held)
		if changed, gone := r.Take(); len(changed)+len(gone) != 1 {
			t.Errorf("of %q is told %v, %v", held, changed, gone)
		}
	}
}

// A file whose removal was refused, and which the user empties, is theirs: no buffer showed the removal that was refused.
func TestEmptiedAfterItsRemovalWasRefused(t *testing.T) {
	t.Parallel()
	r := play([]step{{by: "agent", before: Text(letters("ab"))}})
	decide(t, r, Reject, Selection{})
	r.Now("f", Text(""))
	if f, ok := r.File("f"); ok && f.State == Pending {
		t.Errorf("it is %+v", f)
	}
}

// A file that is made anew where the agent has moved one away is no longer one of its own when that is removed: it is saved
// and released with the other.
func TestMadeAnewIsOneWithWhatWasMovedAway(t *testing.T) {
	t.Parallel()
	a, b := Text("a\n"), Text("b\n")
	r := New(1 << 20)
	r.Moved("f", "g", a, a)
	for i := range groupSize {
		r.Changed(strings.Repeat("x", i+1), Content{}, Text(""))
	}
	r.Changed("f", Content{}, b)
	groups := r.Groups()
	anew, _ := r.File("f")
	r.Take()
	r.Changed("g", a, Content{})
	for i, g := range r.Groups() {
		check.Equal(t, g.Version != groups[i].Version, true, "group %d has changed: %v", i)
	}
	r.limit = 0
	r.Changed("h", a, b)
	check.Equal(t, r.bytes, textBytes(r), "%d bytes are counted")
	_, gone := r.Take()
	check.Slice(t, gone, []int{anew.ID}, "gone are %v")
}

// A file that goes back to where another one is gone from, which has no place of its own to be gone from, takes its place.
func TestBackWhereAnotherIsGone(t *testing.T) {
	t.Parallel()
	one, two, three := Text("1\n"), Text("2\n"), Text("3\n")
	r := New(1 << 20)
	r.Moved("a", "c", one, one)
	r.Moved("b", "a", two, two)
	r.Moved("d", "b", three, three)
	r.Changed("a", two, Content{})
	decideAt(t, r, "c", Reject)
	check.Equal(t, r.bytes, textBytes(r), "%d bytes are counted")
	check.Slice(t, statusOf(r), []string{"moved a", "moved b from d"}, "there are %q")
}

// Bytes that were kept, and that are gone by no change of the agent's that was told, wait as a text does.
func TestKeptBytesAreGone(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]Content{{Text("a\n"), Text("b\n")}, {Opaque("one"), Opaque("two")}} {
		r := play([]step{{"agent", c[0], c[1]}})
		decide(t, r, Keep, Selection{})
		r.Now("f", Content{})
		f, _ := r.File("f")
		if f.Status != Deleted || f.State != Pending {
			t.Errorf("it is %+v", f)
		}
	}
}
