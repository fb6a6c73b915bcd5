package review

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestRemovedFiles(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Text("a\nb\n"), Text("a\nX\n"))
	r.Take()
	was, _ := r.File("f")
	r.Removed("f")
	if changed, gone := r.Take(); len(changed) != 0 || !slices.Equal(gone, []int{was.ID}) {
		t.Errorf("it is told that %v are changed, %v gone", changed, gone)
	}
	r.Removed("f")
	if _, gone := r.Take(); len(gone) > 0 {
		t.Errorf("it is told once more that %v are gone", gone)
	}
	if _, ok := r.File("f"); ok || len(r.Files()) != 0 {
		t.Error("a file that the user has removed is in the record")
	}
	if present, ok := r.Present("f"); !ok || present.Exists || !slices.Equal(r.Paths(), []string{"f"}) {
		t.Errorf("it is not known that %+v is there", present)
	}
	if _, err := r.Plan("f", Reject, Selection{}); err == nil {
		t.Error("its changes can be decided")
	}
	data, err := savedAs(r)
	must.Do(t, err)
	if r, err = Load(data, 1<<20, strconv.Unquote); err != nil || len(r.Files()) != 0 {
		t.Fatalf("saved and read it is in the record: %v", err)
	}
	r.Now("f", Content{})
	r.Now("f", Text("a\nX\nmine\n"))
	if f, ok := r.File("f"); !ok || f.ID != was.ID || len(f.Hunks) != 1 || f.Hunks[0].State != Pending {
		t.Errorf("when it is back it is %+v", f)
	}
	if changed, _ := r.Take(); len(changed) != 1 {
		t.Errorf("of its return is told %v", changed)
	}

	r.Removed("f")
	r.Changed("f", Content{}, Text("anew\n"))
	if f, _ := r.File("f"); f.Status != Added || f.ID == was.ID {
		t.Errorf("made anew by the agent it is %+v", f)
	}
	r.Removed("f")
	r.Moved("g", "f", Text("1\n"), Text("1\n"))
	if f, _ := r.File("f"); f.Status != Moved || f.OldPath != "g" {
		t.Errorf("where another file was moved there is %+v", f)
	}
}

func TestRetractedFiles(t *testing.T) {
	text := Text
	for name, c := range map[string]struct {
		do   func(r *Record)
		now  Content
		want string // states of the hunks; "none": it is not in the record
	}{
		"changed":         {func(r *Record) { r.Changed("f", text("a\nb\n"), text("a\nX\n")) }, text("a\nb\n"), "none"},
		"added":           {func(r *Record) { r.Changed("f", Content{}, text("a\n")) }, Content{}, "none"},
		"deleted":         {func(r *Record) { r.Changed("f", text("a\n"), Content{}) }, text("a\n"), "none"},
		"binary":          {func(r *Record) { r.Changed("f", text("a\x00"), text("b\x00")) }, text("a\x00"), "none"},
		"kept":            {func(r *Record) { r.Changed("f", text("a\n"), text("b\n")); decideAll(t, r, Keep) }, text("a\n"), "none"},
		"a new one, kept": {func(r *Record) { r.Changed("f", Content{}, text("b\n")); decideAll(t, r, Keep) }, Content{}, "none"},
		"one of two turns": {func(r *Record) {
			r.Changed("f", text(letters("abcdef")), text(letters("aXcdef")))
			r.Changed("f", text(letters("aXcdef")), text(letters("aXcdYf")))
		}, text(letters("aXcdef")), "pending"},
		"one of two turns, which made it binary, and was kept": {func(r *Record) {
			r.Changed("f", Content{}, text("a\n"))
			r.Changed("f", text("a\n"), text("a\x00"))
			decideAll(t, r, Keep)
		}, text("a\n"), "added pending without hunks"},
		"with lines of mine": {func(r *Record) {
			r.Changed("f", text("a\nb\n"), text("a\nX\n"))
			r.Now("f", text("a\nX\nmine\n"))
		}, text("a\nb\nmine\n"), "none"},
		"some of what was kept": {func(r *Record) {
			r.Changed("f", text(letters("abc")), text(letters("aXYc")))
			decideAll(t, r, Keep)
		}, text(letters("aYc")), "pending"},
		"one of the lines that were kept": {func(r *Record) {
			r.Changed("f", text(letters("abc")), text(letters("aXYbc")))
			decideAll(t, r, Keep)
		}, text(letters("aYbc")), "kept"},
		"what was kept of a removal": {func(r *Record) {
			r.Changed("f", text(letters("abcdef")), text(letters("adYf")))
			decideAll(t, r, Keep)
		}, text(letters("abcdYf")), "kept"},
		"some of what was kept of a removal": {func(r *Record) {
			r.Changed("f", text(letters("abcd")), text(letters("ad")))
			decideAll(t, r, Keep)
		}, text(letters("abd")), "pending"},
		"refused before": {func(r *Record) {
			r.Changed("f", text(letters("abcdef")), text(letters("aXcdef")))
			decideAll(t, r, Reject)
			r.Changed("f", text(letters("abcdef")), text(letters("abcdYf")))
		}, text(letters("abcdef")), "rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(1 << 20)
			c.do(r)
			r.Take()
			f, _ := r.File("f")
			r.Retracted("f", f.Present, c.now)
			f, ok := r.File("f")
			got := "none"
			if ok {
				var states []string
				for _, h := range f.Hunks {
					states = append(states, string(h.State))
				}
				got = strings.Join(states, " ")
				if f.Baseline.Opaque || f.Present.Opaque {
					got = fmt.Sprintf("%s %s without hunks", f.Status, f.State)
					decideAll(t, r, Reject)
					if f, _ := r.File("f"); f.Present.Exists {
						t.Errorf("refused it is %+v", f)
					}
				}
			}
			if got != c.want {
				t.Errorf("it is %s: %+v", got, f)
			}
			if changed, gone := r.Take(); len(changed)+len(gone) != 1 {
				t.Errorf("of it is told %v, %v", changed, gone)
			}
		})
	}
}

func decideAll(t *testing.T, r *Record, d Decision) {
	t.Helper()
	decideAt(t, r, "f", d)
}

func decideAt(t *testing.T, r *Record, path string, d Decision) {
	t.Helper()
	p, err := r.Plan(path, d, Selection{})
	if err != nil || !r.Commit(p) {
		t.Fatal(err)
	}
}

// TestRandomRetractions has changes of the agent's taken back: what is left is in step with who has written which line.
func TestRandomRetractions(t *testing.T) {
	for i := range *rounds {
		h := &history{t: t, Rand: rand.New(rand.NewPCG(*seed, uint64(i))), r: New(1 << 20)}
		for range 10 {
			h.present = append(h.present, h.line("f"))
		}
		for range 5 {
			h.step()
		}
		h.r.Now("f", h.content())
		before := h.present
		h.agentEdits()
		h.r.Retracted("f", h.content(), Text(strings.Join(before, "")))
		h.present = before
		h.check()
		if t.Failed() {
			t.Fatalf("in history %d of -seed %d", i, *seed)
		}
	}
}

// TestRandomRetractionsOfWhatWasKept has the user keep some lines of a change before it is taken back: a refusal
// of all that is left brings none of them back.
func TestRandomRetractionsOfWhatWasKept(t *testing.T) {
	for i := range *rounds {
		h := &history{t: t, Rand: rand.New(rand.NewPCG(*seed, uint64(i))), r: New(1 << 20)}
		for range 10 {
			h.present = append(h.present, h.line("f"))
		}
		for range 3 {
			h.agentEdits()
			h.userEdits()
			h.r.Now("f", h.content())
			h.keepSome()
		}
		before := h.present
		h.agentEdits()
		h.keepSome()
		after := h.present
		h.r.Retracted("f", h.content(), Text(strings.Join(before, "")))
		if f, ok := h.r.File("f"); ok {
			sound(t, f)
			if f.Present.Text != strings.Join(before, "") {
				t.Errorf("the text is %q, not %q", f.Present.Text, before)
			}
		}
		if p, err := h.r.Plan("f", Reject, Selection{}); err == nil {
			for _, line := range split(p.Want.Text) {
				if line[0] == 'a' && slices.Contains(after, line) && !slices.Contains(before, line) {
					t.Errorf("%q was taken back, and has come by a refusal", line)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("in history %d of -seed %d", i, *seed)
		}
	}
}

// keepSome keeps what is pending in some lines.
func (h *history) keepSome() {
	f, ok := h.r.File("f")
	if !ok || len(h.present) == 0 {
		return
	}
	from := 1 + h.IntN(len(h.present))
	which := f.Lines(from, from+h.IntN(4))
	if len(which.Parts) == 0 {
		return
	}
	p, err := h.r.Plan("f", Keep, which)
	if err != nil || !h.r.Commit(p) {
		h.t.Errorf("keep %+v: %v", which, err)
	}
}

// A move that is taken back leaves what was before, whatever was at its two ends then.
func TestRetractedMoves(t *testing.T) {
	for name, c := range map[string]struct {
		before func(r *Record)
		from   Content // what is moved
		is     Content // what it is then, if it has changed
	}{
		"of a file":                             {before: func(*Record) {}, from: Text("a\n")},
		"of a file that is changed with it":     {func(*Record) {}, Text("a\n"), Text("b\n")},
		"of a new file that is changed with it": {func(r *Record) { r.Changed("from", Content{}, Text("a\n")) }, Text("a\n"), Text("b\n")},
		"on, with a change":                     {func(r *Record) { r.Moved("first", "from", Text("a\n"), Text("a\n")) }, Text("a\n"), Text("b\n")},
		"of a new file":                         {before: func(r *Record) { r.Changed("from", Content{}, Text("a\n")) }, from: Text("a\n")},
		"of a changed file":                     {before: func(r *Record) { r.Changed("from", Text("a\n"), Text("b\n")) }, from: Text("b\n")},
		"on":                                    {before: func(r *Record) { r.Moved("first", "from", Text("a\n"), Text("a\n")) }, from: Text("a\n")},
		"back":                                  {before: func(r *Record) { r.Moved("to", "from", Text("a\n"), Text("a\n")) }, from: Text("a\n")},
		"to where the same text was once, of a changed file": {before: func(r *Record) {
			r.Changed("to", Text("a\n"), Content{})
			r.Changed("from", Text("b\n"), Text("a\n"))
		}, from: Text("a\n")},
		"to where a file was once": {before: func(r *Record) { r.Changed("to", Text("x\n"), Content{}) }, from: Text("a\n")},
		"of a new file, to where a file was once": {before: func(r *Record) {
			r.Changed("to", Text("x\n"), Content{})
			r.Changed("from", Content{}, Text("a\n"))
		}, from: Text("a\n")},
		"to where a file was that went where a file was once": {before: func(r *Record) {
			r.Changed("first", Text("x\n"), Content{})
			r.Moved("to", "first", Text("y\n"), Text("y\n"))
			r.Changed("from", Content{}, Text("a\n"))
		}, from: Text("a\n")},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(1 << 20)
			c.before(r)
			want, moved := r.Files(), cmp.Or(c.is, c.from)
			r.Moved("from", "to", c.from, moved)
			r.MoveRetracted("to", "from", moved, c.from)
			got := r.Files()
			for _, list := range [][]File{got, want} {
				for i := range list {
					list[i].ID, list[i].text = 0, nil
				}
				slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
			}
			check.Deep(t, got, want, "it has\n%+v")
		})
	}
}

// Where the user puts another text in the place of a file that the agent has removed, what was there is still to be
// decided about; the same text again, or some of it, is no change by the agent.
func TestAnotherTextWhereAFileWasRemoved(t *testing.T) {
	for now, want := range map[string]string{"": "1\n2\n", "mine\n": "1\n2\nmine\n", "2\nmine\n": "2\nmine\n", "1\n2\n": "1\n2\n"} {
		r := New(1 << 20)
		r.Changed("/f", Text("1\n2\n"), Content{})
		r.Now("/f", Text(now))
		refused := now
		if plan, err := r.Plan("/f", Reject, Selection{}); err == nil {
			refused = plan.Want.Text
		}
		check.Equal(t, refused, want, "%q is refused: there is %q", now)
	}
}

// Of a file that was moved on from where it was kept, both moves can be taken back: then nothing waits, neither there nor
// in its first place.
func TestAKeptMoveIsRetractedAfterALaterOne(t *testing.T) {
	r, was, is := New(1<<20), Text("a\n"), Text("b\n")
	r.Moved("f", "g", was, is)
	plan, err := r.Plan("g", Keep, Selection{})
	if err != nil || !r.Commit(plan) {
		t.Fatal(err)
	}
	r.Moved("g", "h", is, is)
	r.MoveRetracted("h", "g", is, is)
	r.MoveRetracted("g", "f", is, was)
	check.Slice(t, statusOf(r), nil, "there are %q")
}

// A move and the removal that came after it are taken back at once: there is what was before both.
func TestRetractedMovesOfWhatIsGone(t *testing.T) {
	t.Parallel()
	a, b := Text("a\n"), Text("b\n")
	for name, c := range map[string]struct {
		before func(r *Record)
		from   Content
	}{
		"of a file":         {func(*Record) {}, a},
		"of a changed file": {func(r *Record) { r.Changed("from", a, b) }, b},
		"of a new file":     {func(r *Record) { r.Changed("from", Content{}, a) }, a},
		"on":                {func(r *Record) { r.Moved("first", "from", a, a) }, a},
	} {
		r := New(1 << 20)
		c.before(r)
		want := statesOf(r)
		r.Moved("from", "to", c.from, c.from)
		r.Changed("to", c.from, Content{})
		r.MoveRetracted("to", "from", Content{}, c.from)
		check.Slice(t, statesOf(r), want, name+": there are %q")
		check.Equal(t, r.bytes, textBytes(r), name+": %d bytes are counted")
	}
}

// A removal that was kept and is taken back leaves what waited before it: a refusal brings the user's text back, and does not
// remove the file. Where the user makes the file anew, nothing of the agent's waits.
func TestAKeptRemovalIsRetracted(t *testing.T) {
	t.Parallel()
	bytes := func(mark string) Content { return Opaque(mark) }
	lines := func(word string) Content { return Text(letters(word)) }
	for name, c := range map[string]struct {
		was, is Content // what the agent has made of it before
		keeps   bool    // that too
	}{
		"of a text":           {lines("abc"), lines("abc"), false},
		"of a changed text":   {lines("abc"), lines("aXc"), false},
		"of a kept text":      {lines("abc"), lines("aXc"), true},
		"of another text":     {lines("abc"), lines("X"), false},
		"of bytes":            {bytes("one"), bytes("one"), false},
		"of changed bytes":    {bytes("one"), bytes("two"), false},
		"of bytes, once text": {lines("abc"), bytes("two"), false},
	} {
		r := New(1 << 20)
		r.Changed("f", c.was, c.is)
		if c.keeps {
			decide(t, r, Keep, Selection{})
		}
		r.Changed("f", c.is, Content{})
		decide(t, r, Keep, Selection{})
		again := loaded(t, r)
		r.Retracted("f", Content{}, c.is)
		check.Equal(t, r.bytes, textBytes(r), name+": %d bytes are counted")
		if f, ok := r.File("f"); ok != (c.was != c.is) || ok && f.State != Pending {
			t.Errorf("%s: it is %+v", name, f)
		} else if ok {
			check.Equal(t, decide(t, r, Reject, Selection{}).Want.Mark(), c.was.Mark(), name+": refused there is %+v")
		}

		again.Now("f", c.is)
		if f, ok := again.File("f"); ok && f.State == Pending {
			t.Errorf("%s: made anew by the user it is %+v", name, f)
		}
	}
}

// A move that was kept and is taken back leaves what there was without it, and no move back that waits.
func TestAKeptMoveIsRetracted(t *testing.T) {
	t.Parallel()
	a, b := Text("a\n"), Text("b\n")
	for name, c := range map[string]struct {
		before func(r *Record)
		from   Content
		want   []string
	}{
		"of a file":           {func(*Record) {}, a, nil},
		"of a changed file":   {func(r *Record) { r.Changed("from", a, b) }, b, []string{"from modified kept b\n"}},
		"of a new file":       {func(r *Record) { r.Changed("from", Content{}, a); decideAt(t, r, "from", Keep) }, a, []string{"from added kept a\n"}},
		"back":                {func(r *Record) { r.Moved("to", "from", a, a); decideAt(t, r, "from", Keep) }, a, nil},
		"on":                  {func(r *Record) { r.Moved("first", "from", a, b); decideAt(t, r, "from", Keep) }, b, []string{"from modified kept b\n"}},
		"to where a file was": {func(r *Record) { r.Changed("to", b, Content{}) }, a, []string{"to deleted pending "}},
	} {
		r := New(1 << 20)
		c.before(r)
		r.Moved("from", "to", c.from, c.from)
		for _, path := range r.Paths() {
			decideAt(t, r, path, Keep)
		}
		r.MoveRetracted("to", "from", c.from, c.from)
		check.Slice(t, statesOf(r), c.want, name+": there are %q")
	}
}

// Lines that the agent has removed come back where the user has typed in their place: above or below what they typed, as the
// undo has it, and nothing of them waits any more. What else waits in the file is decided about as before.
func TestRetractedBesideWhatWasTyped(t *testing.T) {
	text := func(s string) Content { return Text(strings.ReplaceAll(s, " ", "\n") + "\n") }
	for _, kept := range []bool{false, true} { // the change of some of them, before their removal
		for _, above := range []string{"", "a0 "} {
			for _, below := range []string{" 8", " a9"} {
				for _, back := range []string{"1 u2 u3 4 5 6 7", "1 u2 4 5 6 u3 7"} {
					r := New(1 << 20)
					r.Changed("f", text("1 2 4 5 6 7 8"), text("1 2 4 a5 7 8"))
					if kept {
						plan, err := r.Plan("f", Keep, Selection{})
						must.Do(t, err)
						r.Commit(plan)
					}
					r.Changed("f", text("1 2 4 a5 7 8"), text(above+"1 2 4 a5 7"+below))
					r.Changed("f", text(above+"1 2 4 a5 7"+below), text(above+"1 2 7"+below))
					r.Now("f", text(above+"1 u2 7"+below))
					r.Now("f", text(above+"1 u2 u3 7"+below))
					r.Retracted("f", text(above+"1 u2 u3 7"+below), text(above+back+below))

					name, waits := fmt.Sprintf("kept %v, %q", kept, above+back+below), above != "" || below != " 8"
					f, left := r.File("f")
					check.Equal(t, left && f.State == Pending, waits, name+": something waits: %v")
					if !waits {
						continue
					}
					plan, err := r.Plan("f", Reject, Selection{})
					must.Do(t, err)
					check.Equal(t, plan.Want.Text, text(back+" 8").Text, name+": refused, there is %q")
				}
			}
		}
	}
}
