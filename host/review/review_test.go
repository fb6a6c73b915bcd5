package review

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// step is one thing that happens to a file "f".
type step struct {
	by            string // "agent", "user"
	before, after Content
}

func agent(before, after string) step { return step{"agent", Text(before), Text(after)} }
func user(now string) step            { return step{by: "user", after: Text(now)} }

// letters is a text whose lines are the letters of a word.
func letters(word string) string {
	var b strings.Builder
	for _, r := range word {
		fmt.Fprintf(&b, "%c\n", r)
	}
	return b.String()
}

// textBytes is how many bytes of texts a record keeps.
func textBytes(r *Record) (n int) {
	for _, f := range r.files {
		n += f.size()
	}
	return n
}

func play(steps []step) *Record {
	r := New(1 << 20)
	for _, s := range steps {
		if s.by == "agent" {
			r.Changed("f", s.before, s.after)
		} else {
			r.Now("f", s.after)
		}
	}
	return r
}

func TestHunks(t *testing.T) {
	for name, c := range map[string]struct {
		steps    []step
		baseline string
		hunks    []span
	}{
		"added lines": {
			[]step{agent("a\nb\n", "a\nx\ny\nb\n")}, "a\nb\n", []span{{1, 0, 2, 2}},
		},
		"removed at the top": {
			[]step{agent("a\nb\nc\n", "c\n")}, "a\nb\nc\n", []span{{1, 2, 0, 0}},
		},
		"two at once": {
			[]step{agent(letters("abcdef"), letters("aXcdYf"))}, letters("abcdef"), []span{{2, 1, 2, 1}, {5, 1, 5, 1}},
		},
		"one after the other": {
			[]step{agent(letters("abcdef"), letters("aXcdef")), agent(letters("aXcdef"), letters("aXcdYf"))},
			letters("abcdef"), []span{{2, 1, 2, 1}, {5, 1, 5, 1}},
		},
		"changed again": {
			[]step{agent(letters("abc"), letters("aXc")), agent(letters("aXc"), letters("aYZc"))}, letters("abc"), []span{{2, 1, 2, 2}},
		},
		"partly put back": {
			[]step{agent(letters("abcd"), letters("XYcd")), agent(letters("XYcd"), letters("aYcd"))}, letters("abcd"), []span{{2, 1, 2, 1}},
		},
		"typed above": {
			[]step{agent(letters("abc"), letters("abX")), user(letters("uabX"))}, letters("uabc"), []span{{4, 1, 4, 1}},
		},
		"typed before the next change, which tells": {
			[]step{agent(letters("abcd"), letters("Xbcd")), agent(letters("Xbucd"), letters("XbucY"))}, letters("abucd"), []span{{1, 1, 1, 1}, {5, 1, 5, 1}},
		},
		"typed between the agent's lines": {
			[]step{agent(letters("abc"), letters("aXYc")), user(letters("aXuYc"))}, letters("abuc"), []span{{2, 1, 2, 1}, {3, 0, 4, 1}},
		},
		"typed before a replaced line": {
			[]step{agent(letters("abc"), letters("aXc")), user(letters("auXc"))}, letters("aubc"), []span{{3, 1, 3, 1}},
		},
		"typed where the agent has removed": {
			[]step{agent(letters("abc"), letters("ac")), user(letters("auc"))}, letters("abuc"), []span{{2, 1, 1, 0}},
		},
		"typed over a removed end": {
			[]step{agent(letters("abc"), letters("a")), user(letters("au"))}, letters("abcu"), []span{{2, 2, 1, 0}},
		},
		"the agent's line changed": {
			[]step{agent(letters("abc"), letters("aXc")), user("a\nX!\nc\n")}, letters("abc"), []span{{2, 1, 2, 1}},
		},
		"the agent's line and one of the user's changed": {
			[]step{agent(letters("abc"), letters("aXc")), user("a\nX!\nu\n")}, letters("abu"), []span{{2, 1, 2, 1}},
		},
		"another line in the place of the agent's": {
			[]step{agent(letters("abc"), letters("aXYc")), user(letters("auYc"))}, letters("aubc"), []span{{3, 1, 3, 1}},
		},
		"an earlier line of the agent's is back": {
			[]step{agent(letters("abc"), letters("aXc")), agent(letters("aXc"), letters("aYc")), user(letters("aXc"))}, letters("abc"), []span{{2, 1, 2, 1}},
		},
		"the agent's line is back where the user had another one": {
			[]step{agent(letters("abc"), letters("aXc")), user(letters("auc")), agent(letters("auc"), letters("aucY")), user(letters("auc")), user(letters("aXc"))},
			letters("abc"), []span{{2, 1, 2, 1}},
		},
		"the user's last line is taken out where the agent had removed others of theirs": {
			[]step{agent(letters("abc"), letters("aXbc")), user(letters("aXb123c")), agent(letters("aXb123c"), letters("aXb1c")), user(letters("aXbc"))},
			letters("ab23c"), []span{{1, 0, 2, 1}, {3, 2, 3, 0}},
		},
		"the agent's line emptied": {
			[]step{agent(letters("abc"), letters("aXc")), user("a\n\nc\n")}, letters("abc"), []span{{2, 1, 2, 1}},
		},
		"the agent's line emptied, and another typed there": {
			[]step{agent(letters("abc"), letters("aXc")), user("a\n\nc\n"), user(letters("auc"))}, letters("aubc"), []span{{3, 1, 2, 0}},
		},
		"the agent's line changed, and others typed around it": {
			[]step{agent(letters("abc"), letters("aXc")), user("a\n\nu\nX!\nv\nc\n")}, "a\n\nu\nb\nv\nc\n", []span{{4, 1, 4, 1}},
		},
		"the agent's line changed, and the user's below it removed": {
			[]step{agent(letters("abcd"), letters("aXcd")), user("a\nX!\nd\n")}, letters("abd"), []span{{2, 1, 2, 1}},
		},
		"the agent's line and the user's joined": {
			[]step{agent(letters("abcd"), letters("aXcd")), user("a\nX c\nd\n")}, "a\nX c\nb\nd\n", []span{{3, 1, 2, 0}},
		},
		"both replaced by more": {
			[]step{agent(letters("abc"), letters("aXc")), user(letters("a123"))}, letters("a123b"), []span{{5, 1, 4, 0}},
		},
		"the agent's line removed": {
			[]step{agent(letters("abc"), letters("aXbc")), user(letters("abc"))}, "", nil,
		},
		"the agent's line and a neighbour removed": {
			[]step{agent(letters("abcd"), letters("aXcd")), user(letters("ad"))}, letters("abd"), []span{{2, 1, 1, 0}},
		},
		"undone by the user": {
			[]step{agent(letters("abc"), letters("aXc")), user(letters("abc"))}, "", nil,
		},
		"put back by the agent": {
			[]step{agent(letters("abc"), letters("aXc")), agent(letters("aXc"), letters("abc"))}, "", nil,
		},
		"put back around the user's": {
			[]step{agent(letters("abc"), letters("aXc")), user(letters("aXcu")), agent(letters("aXcu"), letters("abcu"))}, "", nil,
		},
		"the user's line changed by the agent": {
			[]step{agent(letters("abc"), letters("aXc")), agent(letters("aXcu"), letters("aXcY"))}, letters("abcu"), []span{{2, 1, 2, 1}, {4, 1, 4, 1}},
		},
		"what the user has typed is removed": {
			[]step{agent(letters("abc"), letters("aXc")), agent(letters("aXcu"), letters("aXc"))}, letters("abcu"), []span{{2, 1, 2, 1}, {4, 1, 3, 0}},
		},
		"the same again": {
			[]step{agent(letters("abc"), letters("aXc")), agent(letters("abc"), letters("aXc"))}, letters("abc"), []span{{2, 1, 2, 1}},
		},
		"undone by the user, done again": {
			[]step{agent(letters("abc"), letters("aXc")), agent(letters("abc"), letters("aYc"))}, letters("abc"), []span{{2, 1, 2, 1}},
		},
		"no final newline": {
			[]step{agent("a\nb", "a\nX")}, "a\nb", []span{{2, 1, 2, 1}},
		},
		"the final newline alone": {
			[]step{agent("a\nb", "a\nb\n")}, "a\nb", []span{{2, 1, 2, 1}},
		},
		"typed behind an end without newline": {
			[]step{agent("a\nb", "a\nX\n"), user("a\nX\nu\n")}, "a\nb\nu\n", []span{{2, 1, 2, 1}},
		},
		"typed behind a new final newline": {
			[]step{agent("a\nb", "a\nb\n"), user("a\nb\nu\n")}, "", nil,
		},
		"emptied": {
			[]step{agent(letters("ab"), "")}, letters("ab"), []span{{1, 2, 0, 0}},
		},
		"filled": {
			[]step{agent("", letters("ab"))}, "", []span{{0, 0, 1, 2}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(c.steps)
			f, ok := r.File("f")
			if c.hunks == nil {
				if ok && f.State != Rejected || !ok && r.bytes != 0 {
					t.Fatalf("the record has %+v, %d bytes", f, r.bytes)
				}
				return
			}
			if f.Baseline.Text != c.baseline || !reflect.DeepEqual(spans(f.Hunks, Pending), c.hunks) || f.Status != Modified {
				t.Errorf("%s, hunks %v, baseline %q", f.Status, f.Hunks, f.Baseline.Text)
			}
			sound(t, f)
		})
	}
}

// span is a hunk without its state.
type span struct{ OldStart, OldCount, NewStart, NewCount int }

// spans are the hunks in a state.
func spans(hunks []Hunk, state State) (list []span) {
	for _, h := range hunks {
		if h.State == state {
			list = append(list, span{h.OldStart, h.OldCount, h.NewStart, h.NewCount})
		}
	}
	return list
}

// first is where a hunk begins, counted from 0.
func (h Hunk) first() (old, now int) {
	old, now = h.OldStart, h.NewStart
	if h.OldCount > 0 {
		old--
	}
	if h.NewCount > 0 {
		now--
	}
	return old, now
}

// sound checks what must hold of every file: its hunks make the present text of the baseline.
func sound(t *testing.T, f File) {
	t.Helper()
	old, now := split(f.Baseline.Text), split(f.Present.Text)
	var got []string
	at := 0
	for _, h := range f.Hunks {
		if h.State == Rejected {
			continue
		}
		start, newStart := h.first()
		if start < at || h.OldCount+h.NewCount == 0 && f.Accepted == f.Baseline {
			t.Fatalf("hunks %v overlap or are empty", f.Hunks)
		}
		got = append(append(got, old[at:start]...), now[newStart:newStart+h.NewCount]...)
		at = start + h.OldCount
	}
	got = append(got, old[at:]...)
	if strings.Join(got, "") != f.Present.Text {
		t.Fatalf("hunks %v make %q of %q, not %q", f.Hunks, got, f.Baseline.Text, f.Present.Text)
	}
}

func split(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

func TestFilesComeAndGo(t *testing.T) {
	none := Content{}
	a, b := Text("a\nb\n"), Text("a\nX\n")
	type want struct {
		path, old string
		status    Status
		hunks     int
	}
	for name, c := range map[string]struct {
		do   func(r *Record)
		want []want
	}{
		"new":             {func(r *Record) { r.Changed("f", none, a) }, []want{{"f", "", Added, 1}}},
		"new and empty":   {func(r *Record) { r.Changed("f", none, Text("")) }, []want{{"f", "", Added, 0}}},
		"deleted":         {func(r *Record) { r.Changed("f", a, none) }, []want{{"f", "", Deleted, 1}}},
		"new and deleted": {func(r *Record) { r.Changed("f", none, a); r.Changed("f", a, none) }, nil},
		"new, typed in, deleted": {func(r *Record) {
			r.Changed("f", none, a)
			r.Now("f", Text("a\nu\nb\n"))
			r.Changed("f", Text("a\nu\nb\n"), none)
		}, []want{{"f", "", Deleted, 1}}},
		"changed and deleted":              {func(r *Record) { r.Changed("f", a, b); r.Changed("f", b, none) }, []want{{"f", "", Deleted, 1}}},
		"deleted and written again":        {func(r *Record) { r.Changed("f", a, none); r.Changed("f", none, b) }, []want{{"f", "", Modified, 1}}},
		"deleted and put back":             {func(r *Record) { r.Changed("f", a, none); r.Changed("f", none, a) }, nil},
		"deleted and put back by the user": {func(r *Record) { r.Changed("f", a, none); r.Now("f", a) }, nil},
		"deleted by the user":              {func(r *Record) { r.Changed("f", a, b); r.Now("f", none) }, []want{{"f", "", Deleted, 1}}},
		"moved":                            {func(r *Record) { r.Moved("f", "g", a, a) }, []want{{"g", "f", Moved, 0}}},
		"moved and changed":                {func(r *Record) { r.Moved("f", "g", a, b) }, []want{{"g", "f", Moved, 1}}},
		"changed and moved":                {func(r *Record) { r.Changed("f", a, b); r.Moved("f", "g", b, b) }, []want{{"g", "f", Moved, 1}}},
		"moved twice":                      {func(r *Record) { r.Moved("f", "g", a, a); r.Moved("g", "h", a, a) }, []want{{"h", "f", Moved, 0}}},
		"moved and back":                   {func(r *Record) { r.Moved("f", "g", a, a); r.Moved("g", "f", a, a) }, nil},
		"moved and deleted":                {func(r *Record) { r.Moved("f", "g", a, a); r.Changed("g", a, none) }, []want{{"f", "", Deleted, 1}}},
		"moved, made anew, then gone": {
			func(r *Record) { r.Moved("f", "g", a, a); r.Changed("f", none, b); r.Changed("g", a, none) },
			[]want{{"f", "", Modified, 1}},
		},
		"moved, back by a copy": {
			func(r *Record) { r.Moved("f", "g", a, a); r.Changed("f", none, a); r.Changed("g", a, none) }, nil,
		},
		"new and moved": {func(r *Record) { r.Changed("f", none, a); r.Moved("f", "g", a, a) }, []want{{"g", "", Added, 1}}},
		"moved over a changed one": {
			func(r *Record) { r.Changed("g", a, b); r.Moved("f", "g", a, Text("z\n")) },
			[]want{{"g", "", Modified, 1}, {"f", "", Deleted, 1}},
		},
		"binary": {func(r *Record) { r.Changed("f", Text("a\x00"), Text("b\x00")) }, []want{{"f", "", Modified, 0}}},
		"binary and back": {func(r *Record) {
			r.Changed("f", Text("a\x00"), Text("b\x00"))
			r.Changed("f", Text("b\x00"), Text("a\x00"))
		}, nil},
		"large and new":       {func(r *Record) { r.Changed("f", none, Opaque("1")) }, []want{{"f", "", Added, 0}}},
		"text and then large": {func(r *Record) { r.Changed("f", a, b); r.Changed("f", b, Opaque("1")) }, []want{{"f", "", Modified, 0}}},
		"binary, kept, deleted by the user": {func(r *Record) {
			r.Changed("f", Text("a\x00"), Text("b\x00"))
			if p, err := r.Plan("f", Keep, Selection{}); err == nil {
				r.Commit(p)
			}
			r.Now("f", none)
		}, []want{{"f", "", Deleted, 0}}},
		"nothing": {func(r *Record) { r.Changed("f", a, a); r.Now("f", b) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(1 << 20)
			c.do(r)
			var got []want
			for _, f := range r.Files() {
				got = append(got, want{f.Path, f.OldPath, f.Status, len(f.Hunks)})
				if !f.Present.Opaque && !f.Baseline.Opaque {
					sound(t, f)
				}
				if same, ok := r.File(f.Path); !ok || same.ID != f.ID {
					t.Errorf("%s is not found by its path", f.Path)
				}
			}
			check.Deep(t, got, c.want, "the record has %v")
			if changed, gone := r.Take(); len(changed) != len(got) {
				t.Errorf("the news are %v, %v", changed, gone)
			}
			if len(got) == 0 && r.bytes != 0 {
				t.Errorf("%d bytes are kept for nothing", r.bytes)
			}
		})
	}
}

// A file that is gone has its whole baseline, whoever removed it.
func TestDeletedFilesKeepTheirBaseline(t *testing.T) {
	for name, remove := range map[string]func(r *Record){
		"by the agent":      func(r *Record) { r.Changed("f", Text(letters("uXb")), Content{}) },
		"not by the agent":  func(r *Record) { r.Now("f", Text(letters("uXb"))); r.Now("f", Content{}) },
		"after it was away": func(r *Record) { r.Now("f", Content{}); r.Now("f", Text(letters("uXb"))); r.Now("f", Content{}) },
	} {
		r := New(1 << 20)
		r.Changed("f", Text(letters("ab")), Text(letters("Xb")))
		remove(r)
		f, _ := r.File("f")
		want := letters("uab")
		if f.Status != Deleted || f.Baseline.Text != want || len(f.Hunks) != 1 || f.Hunks[0].OldCount != len(split(want)) {
			t.Errorf("%s: %s, hunks %v of %q", name, f.Status, f.Hunks, f.Baseline.Text)
		}
	}
}

func TestOldestTextsAreReleased(t *testing.T) {
	big := func(s string) Content { return Text(strings.Repeat(s+"\n", 100)) }
	r := New(1200)
	r.Changed("1", big("a"), big("b"))
	r.Changed("2", big("a"), big("b"))
	r.Changed("1", big("b"), big("c"))
	r.Changed("3", big("a"), big("b"))
	if r.bytes > 1200 {
		t.Errorf("%d bytes are kept", r.bytes)
	}
	r.Take()
	r.Changed("4", big("a"), big("b"))
	if changed, _ := r.Take(); len(changed) != 2 || !changed[0].Present.Opaque && !changed[1].Present.Opaque {
		t.Errorf("told are %v, not what is released", changed)
	}
	for path, opaque := range map[string]bool{"1": false, "2": true, "3": false, "4": false} {
		f, ok := r.File(path)
		if !ok || f.Present.Opaque != opaque || (f.Hunks == nil) != opaque || f.Status != Modified {
			t.Errorf("%s: %v %+v", path, ok, f.Hunks)
		}
	}
	// What is released is still known when it comes again, and when it is put back.
	r.Take()
	r.Now("2", big("b"))
	if changed, gone := r.Take(); len(changed)+len(gone) > 0 {
		t.Errorf("without a change there are news: %v, %v", changed, gone)
	}
	r.Changed("2", big("b"), big("a"))
	if f, ok := r.File("2"); ok {
		t.Errorf("put back is %+v", f)
	}
}

func TestUndone(t *testing.T) {
	for name, c := range map[string]struct {
		now, old, text string
		line           int
		want           string
		ok             bool
	}{
		"whole":             {"b\n", "a\n", "b\n", 0, "a\n", true},
		"whole, newline":    {"b\n", "a", "b", 0, "a", true},
		"fragment":          {"1\nb\n2\n", "a", "b", 0, "1\na\n2\n", true},
		"first of many":     {"b\nb\nb\n", "a", "b", 0, "a\nb\nb\n", true},
		"by line":           {"b\nb\nb\n", "a", "b", 2, "b\na\nb\n", true},
		"by line, near":     {"b\n\n\n\nb\n", "a", "b", 4, "b\n\n\n\na\n", true},
		"dos":               {"1\nb\nc\n2\n", "a\r\na", "b\r\nc", 0, "1\na\na\n2\n", true},
		"removed fragment":  {"1\n2\n", "a\n", "", 0, "", false},
		"removed all":       {"", "a\n", "", 0, "a\n", true},
		"not there":         {"1\n2\n", "a", "b", 0, "", false},
		"nothing done":      {"1\n2\n", "1", "1", 0, "", false},
		"newline first":     {"\nb\n\nb\n", "a", "\nb", 2, "a\n\nb\n", true},
		"newlines in front": {"\n\nb\n\n\nb\n", "a", "b", 6, "\n\nb\n\n\na\n", true},
	} {
		if got, ok := Undone(c.now, c.old, c.text, c.line); got != c.want || ok != c.ok {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
}

// A file that was moved and then removed is one that was removed where it was; when it is back it was moved.
func TestMovedRemovedAndBack(t *testing.T) {
	moved := func() *Record {
		r := New(1 << 20)
		r.Moved("a", "b", Text("1\n"), Text("1\n"))
		r.Changed("b", Text("1\n"), Content{})
		if f, ok := r.File("a"); !ok || f.Status != Deleted {
			t.Errorf("moved and removed it is %+v", f)
		}
		return r
	}
	for name, back := range map[string]func(r *Record){
		"retracted": func(r *Record) { r.Retracted("b", Content{}, Text("1\n")) },
		"by the agent, after it was saved": func(r *Record) {
			data, err := savedAs(r)
			must.Do(t, err)
			saved, err := Load(data, 1<<20, strconv.Unquote)
			must.Do(t, err)
			*r = *saved
			r.Changed("b", Text("1\n"), Text("2\n"))
		},
		"moved on": func(r *Record) { r.Moved("b", "c", Text("1\n"), Text("1\n")) },
	} {
		r := moved()
		if back(r); len(r.Files()) != 1 || r.Files()[0].OldPath != "a" || r.Files()[0].Status != Moved {
			t.Errorf("%s there is %+v", name, r.Files())
		}
	}
	r := moved()
	p, err := r.Plan("a", Reject, Selection{})
	if err != nil || !r.Commit(p) {
		t.Fatal(err)
	}
	if r.Changed("b", Text("2\n"), Text("3\n")); len(r.Files()) != 2 {
		t.Errorf("another file at the path makes %+v", r.Files())
	}
}

// A file goes back to where another one was, which is gone by then.
func TestWhereItWasAnotherFileIs(t *testing.T) {
	r := New(1 << 20)
	r.Moved("a", "b", Text("old\n"), Text("old\n"))
	r.Changed("a", Content{}, Text("new\n"))
	for _, path := range []string{"a", "b"} {
		p, err := r.Plan(path, Reject, Selection{})
		if err != nil || !r.Commit(p) {
			t.Fatalf("%s: %v", path, err)
		}
	}
	changed, gone := r.Take()
	if len(changed) != 1 || changed[0].Path != "a" || len(gone) != 1 || gone[0] == changed[0].ID {
		t.Errorf("told are %+v, and that %v are gone", changed, gone)
	}
	if f, _ := r.File("a"); f.MovedTo != "b" || f.Present != Text("old\n") || len(r.Files()) != 1 {
		t.Errorf("both refused there is %+v", r.Files())
	}
}

// Where a file was that is gone another one is.
func TestSavedWhereAnotherOneIs(t *testing.T) {
	r := New(1 << 20)
	r.Moved("spare", "dir", Text("1\n"), Text("1\n"))
	r.Moved("other", "spare", Text("2\n"), Text("2\n"))
	r.Changed("dir", Text("1\n"), Content{})
	data, err := savedAs(r)
	must.Do(t, err)
	saved, err := Load(data, 1<<20, strconv.Unquote)
	if err != nil || len(saved.Files()) != 2 {
		t.Errorf("saved were %+v, read are %+v, %v", r.Files(), saved.Files(), err)
	}
}

// One of two files that have each other's place is removed: refused, both are where they were.
func TestTwoFilesThatHaveEachOthersPlace(t *testing.T) {
	r := New(1 << 20)
	r.Moved("a", "c", Text("1\n"), Text("1\n"))
	r.Moved("b", "a", Text("2\n"), Text("2\n"))
	r.Moved("c", "b", Text("1\n"), Text("1\n"))
	r.Changed("a", Text("2\n"), Content{})
	p, err := r.Plan("b", Reject, Selection{})
	if err != nil || !r.Commit(p) {
		t.Fatal(err)
	}
	if f, ok := r.File("b"); !ok || f.Status != Deleted || len(r.Files()) != 2 {
		t.Errorf("one is back, and there is %+v", r.Files())
	}
}

// A file of which all was refused is moved: to keep that does not bring back what was refused.
func TestWhatWasRefusedIsMoved(t *testing.T) {
	r := New(1 << 20)
	r.Changed("a", Text("1\n"), Text("\x00"))
	p, err := r.Plan("a", Reject, Selection{})
	if err != nil || !r.Commit(p) {
		t.Fatal(err)
	}
	r.Moved("a", "b", Text("1\n"), Text("1\n"))
	if p, err = r.Plan("b", Keep, Selection{}); err != nil || p.Edits() {
		t.Errorf("to keep it makes %+v of it, %v", p.Want, err)
	}
}

// What the user types where the agent has removed all, and what they then put in its place, stands behind what was removed:
// where that comes back, nothing is changed.
func TestTypedBehindWhatWasRemoved(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("f", Text("a\nb\n"), Text(""))
	r.Now("f", Text("t\nu\n"))
	plan, err := r.Plan("f", Keep, Selection{})
	if err != nil || !r.Commit(plan) {
		t.Fatal(err)
	}
	r.Now("f", Text("v\n"))
	check.Slice(t, statusOf(r), []string{"modified f"}, "there is %q")
	r.Retracted("f", Text("v\n"), Text("a\nb\nv\n"))
	check.Slice(t, statusOf(r), nil, "there is %q")
}
