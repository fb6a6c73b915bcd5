package review

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// decide makes a decision and commits it.
func decide(t *testing.T, r *Record, d Decision, which Selection) Plan {
	t.Helper()
	p, err := r.Plan("f", d, which)
	must.Do(t, err)
	if !r.Commit(p) {
		t.Fatal("the plan is old")
	}
	return p
}

func TestDecisions(t *testing.T) {
	hunk := func(n ...int) Selection { return Selection{Hunks: n} }
	type want struct {
		text, baseline, accepted string
		pending, kept, rejected  []span
		state                    State
	}
	for name, c := range map[string]struct {
		do   func(t *testing.T, r *Record)
		want want
	}{
		"one kept": {
			func(t *testing.T, r *Record) { decide(t, r, Keep, hunk(0)) },
			want{"aXcYe", "abcde", "aXcde", []span{{4, 1, 4, 1}}, []span{{2, 1, 2, 1}}, nil, Pending},
		},
		"one rejected": {
			func(t *testing.T, r *Record) { decide(t, r, Reject, hunk(1)) },
			want{"aXcde", "abcde", "abcde", []span{{2, 1, 2, 1}}, nil, []span{{4, 1, 4, 1}}, Pending},
		},
		"one of each": {
			func(t *testing.T, r *Record) { decide(t, r, Keep, hunk(0)); decide(t, r, Reject, hunk(1)) },
			want{"aXcde", "abcde", "aXcde", nil, []span{{2, 1, 2, 1}}, []span{{4, 1, 4, 1}}, Kept},
		},
		"all kept": {
			func(t *testing.T, r *Record) { decide(t, r, Keep, Selection{}) },
			want{"aXcYe", "abcde", "aXcYe", nil, []span{{2, 1, 2, 1}, {4, 1, 4, 1}}, nil, Kept},
		},
		"all rejected": {
			func(t *testing.T, r *Record) { decide(t, r, Reject, Selection{}) },
			want{"abcde", "abcde", "abcde", nil, nil, []span{{2, 1, 2, 1}, {4, 1, 4, 1}}, Rejected},
		},
		"the rejection undone": {
			func(t *testing.T, r *Record) {
				decide(t, r, Reject, hunk(0))
				r.Now("f", Text(letters("aXcYe")))
			},
			want{"aXcYe", "abcde", "abcde", []span{{2, 1, 2, 1}, {4, 1, 4, 1}}, nil, nil, Pending},
		},
		"undone and done again": {
			func(t *testing.T, r *Record) {
				decide(t, r, Reject, hunk(0))
				r.Now("f", Text(letters("aXcYe")))
				r.Now("f", Text(letters("abcYe")))
			},
			want{"abcYe", "abcde", "abcde", []span{{4, 1, 4, 1}}, nil, []span{{2, 1, 2, 1}}, Pending},
		},
		"the rejection of all undone at once": {
			func(t *testing.T, r *Record) {
				decide(t, r, Reject, Selection{})
				r.Now("f", Text(letters("aXcYe")))
			},
			want{"aXcYe", "abcde", "abcde", []span{{2, 1, 2, 1}, {4, 1, 4, 1}}, nil, nil, Pending},
		},
		"typed, then the rejection undone": {
			func(t *testing.T, r *Record) {
				decide(t, r, Reject, hunk(0))
				r.Now("f", Text(letters("abcYeu")))
				r.Now("f", Text(letters("abcYe")))
				r.Now("f", Text(letters("aXcYe")))
			},
			want{"aXcYe", "abcde", "abcde", []span{{2, 1, 2, 1}, {4, 1, 4, 1}}, nil, nil, Pending},
		},
		"typed in between": {
			func(t *testing.T, r *Record) {
				r.Now("f", Text(letters("uaXcYe")))
				decide(t, r, Keep, hunk(0))
				r.Now("f", Text(letters("uaXcYev")))
				decide(t, r, Reject, hunk(1))
			},
			want{"uaXcdev", "uabcdev", "uaXcdev", nil, []span{{3, 1, 3, 1}}, []span{{5, 1, 5, 1}}, Kept},
		},
		"changed again after it was kept": {
			func(t *testing.T, r *Record) {
				decide(t, r, Keep, hunk(0))
				r.Changed("f", Text(letters("aXcYe")), Text(letters("aZcYe")))
			},
			want{"aZcYe", "abcde", "aXcde", []span{{2, 1, 2, 1}, {4, 1, 4, 1}}, nil, nil, Pending},
		},
		"changed again, and that rejected": {
			func(t *testing.T, r *Record) {
				decide(t, r, Keep, hunk(0))
				r.Changed("f", Text(letters("aXcYe")), Text(letters("aZcYe")))
				decide(t, r, Reject, hunk(0))
			},
			want{"aXcYe", "abcde", "aXcde", []span{{4, 1, 4, 1}}, []span{{2, 1, 2, 1}}, []span{{2, 1, 2, 1}}, Pending},
		},
		"rejected, and the agent does it again": {
			func(t *testing.T, r *Record) {
				decide(t, r, Reject, hunk(0))
				r.Changed("f", Text(letters("abcYe")), Text(letters("aXcYe")))
			},
			want{"aXcYe", "abcde", "abcde", []span{{2, 1, 2, 1}, {4, 1, 4, 1}}, nil, nil, Pending},
		},
		"what was kept rejected": {
			func(t *testing.T, r *Record) { decide(t, r, Keep, hunk(0)); decide(t, r, Reject, hunk(0)) },
			want{"abcYe", "abcde", "abcde", []span{{4, 1, 4, 1}}, nil, []span{{2, 1, 2, 1}}, Pending},
		},
		"what was rejected kept": {
			func(t *testing.T, r *Record) { decide(t, r, Reject, hunk(1)); decide(t, r, Keep, hunk(1)) },
			want{"aXcYe", "abcde", "abcYe", []span{{2, 1, 2, 1}}, []span{{4, 1, 4, 1}}, nil, Pending},
		},
		"rejected, and the user takes the line out": {
			func(t *testing.T, r *Record) { decide(t, r, Reject, hunk(0)); r.Now("f", Text(letters("acYe"))) },
			want{"acYe", "acde", "acde", []span{{3, 1, 3, 1}}, nil, []span{{1, 0, 1, 0}}, Pending},
		},
		"rejected, and the user writes another": {
			func(t *testing.T, r *Record) { decide(t, r, Reject, hunk(0)); r.Now("f", Text(letters("aucYe"))) },
			want{"aucYe", "aucde", "aucde", []span{{4, 1, 4, 1}}, nil, []span{{2, 0, 2, 0}}, Pending},
		},
		"what was kept undone by the user": {
			func(t *testing.T, r *Record) { decide(t, r, Keep, Selection{}); r.Now("f", Text(letters("abcYe"))) },
			want{"abcYe", "abcde", "abcYe", nil, []span{{4, 1, 4, 1}}, nil, Kept},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := play([]step{agent(letters("abcde"), letters("aXcYe"))})
			c.do(t, r)
			f, ok := r.File("f")
			if !ok {
				t.Fatal("the file is not in the record")
			}
			word := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
			got := want{
				word(f.Present.Text), word(f.Baseline.Text), word(f.Accepted.Text),
				spans(f.Hunks, Pending), spans(f.Hunks, Kept), spans(f.Hunks, Rejected), f.State,
			}
			check.Deep(t, got, c.want, "got  %+v")
			sound(t, f)
			consistent(t, f)
		})
	}
}

func TestPartsOfHunks(t *testing.T) {
	for name, c := range map[string]struct {
		old, now    string
		first, last int
		reject      string
		keep        string // the accepted text
	}{
		"a line of added ones":       {"ab", "aXYZb", 3, 3, "aXZb", "aYb"},
		"the first of added ones":    {"ab", "aXYb", 2, 2, "aYb", "aXb"},
		"line by line":               {"abcd", "aXYd", 2, 2, "abYd", "aXcd"},
		"the last with what is left": {"abcde", "aXYe", 3, 3, "aXcde", "abYe"},
		"over two hunks":             {"abcde", "aXcYe", 2, 4, "abcde", "aXcYe"},
		"removed ones":               {"abcd", "ad", 1, 1, "abcd", "ad"},
		"all around":                 {"ab", "XabY", 1, 4, "ab", "XabY"},
	} {
		t.Run(name, func(t *testing.T) {
			for d, want := range map[Decision]string{Keep: c.keep, Reject: c.reject} {
				r := play([]step{agent(letters(c.old), letters(c.now))})
				f, _ := r.File("f")
				decide(t, r, d, f.Lines(c.first, c.last))
				f, _ = r.File("f")
				got := f.Present.Text
				if d == Keep {
					got = f.Accepted.Text
				}
				if got != letters(want) {
					t.Errorf("%s: %q", d, strings.ReplaceAll(got, "\n", ""))
				}
				sound(t, f)
				consistent(t, f)
			}
		})
	}
	r := play([]step{agent(letters("ab"), letters("aXb"))})
	if _, err := r.Plan("f", Keep, Selection{Parts: []linediff.Edit{{A0: 0, A1: 1, B0: 0, B1: 1}}}); err == nil {
		t.Error("what is no change was kept")
	}
}

func TestDecisionsOnFiles(t *testing.T) {
	none, a, b := Content{}, Text("a\nb\n"), Text("a\nX\n")
	type want struct {
		status  Status
		state   State
		present bool
	}
	for name, c := range map[string]struct {
		do   func(r *Record)
		d    Decision
		want want
		back string
	}{
		"new, kept":              {func(r *Record) { r.Changed("f", none, a) }, Keep, want{Added, Kept, true}, ""},
		"new, rejected":          {func(r *Record) { r.Changed("f", none, a) }, Reject, want{Added, Rejected, false}, ""},
		"new and empty":          {func(r *Record) { r.Changed("f", none, Text("")) }, Reject, want{Added, Rejected, false}, ""},
		"deleted, kept":          {func(r *Record) { r.Changed("f", a, none) }, Keep, want{Deleted, Kept, false}, ""},
		"deleted, rejected":      {func(r *Record) { r.Changed("f", a, none) }, Reject, want{Deleted, Rejected, true}, ""},
		"moved, kept":            {func(r *Record) { r.Moved("e", "f", a, b) }, Keep, want{Moved, Kept, true}, ""},
		"only moved, rejected":   {func(r *Record) { r.Moved("e", "f", a, a) }, Reject, want{Moved, Rejected, true}, "e"},
		"moved, rejected":        {func(r *Record) { r.Moved("e", "f", a, b) }, Reject, want{Moved, Rejected, true}, "e"},
		"binary, kept":           {func(r *Record) { r.Changed("f", Text("a\x00"), Text("b\x00")) }, Keep, want{Modified, Kept, true}, ""},
		"binary, rejected":       {func(r *Record) { r.Changed("f", Text("a\x00"), Text("b\x00")) }, Reject, want{Modified, Rejected, true}, ""},
		"binary and new, kept":   {func(r *Record) { r.Changed("f", none, Text("b\x00")) }, Keep, want{Added, Kept, true}, ""},
		"binary, new, rejected":  {func(r *Record) { r.Changed("f", none, Text("b\x00")) }, Reject, want{Added, Rejected, false}, ""},
		"large text, now binary": {func(r *Record) { r.Changed("f", a, Opaque("1")) }, Reject, want{Modified, Rejected, true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(1 << 20)
			c.do(r)
			p := decide(t, r, c.d, Selection{})
			check.Equal(t, p.Back, c.back, "it is to be moved back to %q")
			check.Equal(t, p.Edits(), c.d == Reject, "it is to be changed: %v")
			files := r.Files()
			if len(files) != 1 {
				t.Fatalf("the record has %v", files)
			}
			f := files[0]
			check.Equal(t, (want{f.Status, f.State, f.Present.Exists}), c.want, "got %v")
			if c.d != Reject {
				return
			}
			if p.Want.Mark() != f.Accepted.Mark() {
				t.Errorf("it is to be %+v, not %+v", p.Want, f.Accepted)
			}
			if c.back != "" {
				if f.Path != "e" || f.MovedTo != "f" {
					t.Errorf("it is %+v", f)
				}
				if back, err := r.Undo(p); err != nil || back.Back != "f" || back.Want != p.Now {
					t.Errorf("the decision undone it is to be %+v, %v", back, err)
				}
				r = loaded(t, r)
				again, err := r.Plan("e", Keep, Selection{})
				if err != nil || again.Back != "f" || again.Want != p.Now || !r.Commit(again) {
					t.Errorf("kept after all it is to be %+v, %v", again, err)
				}
				if f, _ := r.File("f"); f.Status != Moved || f.State != Kept || f.OldPath != "e" || f.MovedTo != "" {
					t.Errorf("it is %+v", f)
				}
				return
			}
			again := decide(t, loaded(t, r), Keep, Selection{Hunks: hunksOf(f)})
			if again.Want.Mark() != p.Now.Mark() {
				t.Errorf("kept after all it is to be %+v, not %+v", again.Want, p.Now)
			}
		})
	}
}

func hunksOf(f File) (all []int) {
	for i := range f.Hunks {
		all = append(all, i)
	}
	return all
}

// consistent tells what must hold of the texts of a file.
func consistent(t *testing.T, f File) {
	t.Helper()
	l := f.text
	if l.kept.present != l.pending.base || l.refused.present != l.pending.base {
		t.Fatalf("the accepted text is %q, %q and %q", l.kept.present, l.pending.base, l.refused.present)
	}
	for name, p := range map[string]textDiff{"kept": l.kept, "pending": l.pending, "refused": l.refused} {
		if !p.sound() {
			t.Fatalf("%s: %v do not lead from %q to %q", name, p.edits, p.base, p.present)
		}
	}
}

// quoted stands for what Save has in the place of a text.
func quoted(text string) string { return strconv.Quote(text) }

// savedAs is what is saved of a record.
func savedAs(r *Record) (all [][]byte, err error) {
	for _, g := range r.Groups() {
		data, failed := g.Save(quoted)
		all, err = append(all, data), errors.Join(err, failed)
	}
	return all, err
}

// loaded is a record that was saved and read again.
func loaded(t *testing.T, r *Record) *Record {
	t.Helper()
	data, err := savedAs(r)
	must.Do(t, err)
	again, err := Load(data, r.limit, strconv.Unquote)
	must.Do(t, err)
	if !reflect.DeepEqual(again.Files(), r.Files()) || again.bytes != r.bytes {
		t.Fatalf("read again it is %+v, not %+v", again.Files(), r.Files())
	}
	return again
}

func TestSavedRecords(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Text(letters("abcde")), Text(letters("aXcYe")))
	decide(t, r, Keep, Selection{Hunks: []int{0}})
	decide(t, r, Reject, Selection{Hunks: []int{1}})
	r.Changed("new", Content{}, Text("x"))
	r.Changed("binary\xff", Text("a\x00\xff"), Text("b\x00"))
	r.Moved("from", "to", Text("a\n"), Text("b\n"))
	r.Changed("gone", Text("a\n"), Content{})
	again := loaded(t, r)
	again.Changed("another", Content{}, Text("x"))
	if f, _ := again.File("another"); f.ID != 6 {
		t.Errorf("the next file has the id %d", f.ID)
	}
	data, _ := savedAs(r)
	for _, broken := range [][]byte{nil, data[0][:len(data[0])/2], []byte("junk")} {
		if _, err := Load([][]byte{broken}, 1<<20, strconv.Unquote); err == nil {
			t.Errorf("%.10q is a record", broken)
		}
	}
	var other bytes.Buffer
	must.Do(t, gob.NewEncoder(&other).Encode(saved{Format: savedFormat + 1}))
	_, err := Load([][]byte{other.Bytes()}, 1<<20, strconv.Unquote)
	check.Contains(t, fmt.Sprint(err), fmt.Sprintf("its format is %d, not %d", savedFormat+1, savedFormat), "in another format: %s")
	lost := errors.New("lost")
	if _, err := Load(data, 1<<20, func(string) (string, error) { return "", lost }); !errors.Is(err, lost) {
		t.Errorf("without its texts: %v", err)
	}
}

// What is saved has names in the place of all texts, also of those that are gone, and that a file had before.
func TestSavedTextsAreNamed(t *testing.T) {
	t.Parallel()
	const mark = "a line of a text"
	text := func(word string) Content { return Text(strings.ReplaceAll(letters(word), "\n", mark+"\n")) }
	r := New(1 << 20)
	r.Changed("f", text("abcdef"), text("aXcdYf"))
	decide(t, r, Keep, Selection{Hunks: []int{0}})
	r.Changed("f", text("aXcdYf"), text("aXcdYZf"))
	r.Now("f", text("aXcduYZf"))
	r.Changed("gone", text("ab"), text("aX"))
	r.Changed("gone", text("aX"), Content{})
	r.Changed("refused", Content{}, text("a"))
	decideAt(t, r, "refused", Reject)
	for _, g := range r.Groups() {
		var n int
		data, err := g.Save(func(text string) string {
			check.Equal(t, text == "" || strings.Contains(text, mark), true, "%q is a text: %v", text)
			n++
			return strconv.Itoa(n)
		})
		must.Do(t, err)
		check.Equal(t, strings.Count(string(data), mark), 0, "%d lines are saved without a name")
	}
}

// Of what is saved nothing broken is taken.
func TestBrokenRecordsAreNotTaken(t *testing.T) {
	t.Parallel()
	layers := func(edits ...linediff.Edit) savedLayers {
		return savedLayers{Layers: []savedDiff{{Base: "a\n", Edits: edits}, {}, {}}, Text: "b\n"}
	}
	whole, broken := layers(linediff.Edit{A1: 1, B1: 1}), layers(linediff.Edit{A1: 2, B1: 1})
	for name, c := range map[string]struct {
		file  savedFile
		taken bool
	}{
		"whole":                        {savedFile{Text: whole, Gone: whole, Earlier: []savedLayers{whole, whole}, Agents: 3}, true},
		"of more texts than there are": {savedFile{Text: whole, Earlier: []savedLayers{whole}, Agents: 3}, true},
		"of none":                      {savedFile{}, true},
		"its text":                     {savedFile{Text: broken}, false},
		"what is gone":                 {savedFile{Gone: broken}, false},
		"an earlier text":              {savedFile{Text: whole, Earlier: []savedLayers{broken, whole}}, false},
		"the last earlier text":        {savedFile{Text: whole, Earlier: []savedLayers{whole, broken}}, false},
		"its text, not earlier ones":   {savedFile{Text: broken, Earlier: []savedLayers{whole}}, false},
		"an earlier one of no lines":   {savedFile{Text: whole, Earlier: []savedLayers{{}}}, false},
		"earlier ones of no text":      {savedFile{Earlier: []savedLayers{whole}}, false},
	} {
		c.file.Path, c.file.ID = "f", 1
		c.file.Present.Exists = true
		var b bytes.Buffer
		must.Do(t, gob.NewEncoder(&b).Encode(saved{Format: savedFormat, LastID: 1, Files: []savedFile{c.file}}))
		_, err := Load([][]byte{b.Bytes()}, 1<<20, func(name string) (string, error) { return name, nil })
		check.Equal(t, err == nil, c.taken, name+": it is taken: %v")
	}
}

// A text that a file had before is recognized by a record that was read again too.
func TestEarlierTextsAreSaved(t *testing.T) {
	t.Parallel()
	for _, agents := range []string{"", letters("c")} {
		r := New(1 << 20)
		r.Changed("f", Text(letters("ab")), Text(letters("aXb")))
		r.Changed("f", Text(letters("aXb")), Text(agents))
		r = loaded(t, loaded(t, r))
		r.Now("f", Text(letters("aXb")))
		f, _ := r.File("f")
		check.Equal(t, f.Accepted.Text, letters("ab"), "without the agent's changes it is %q")
		check.Slice(t, f.Hunks, []Hunk{{1, 0, 2, 1, Pending}}, "the hunks are %v")
	}
}

// TestRandomDecisions has agent and user change a file, and the user keep and reject what was changed. What a refusal
// leaves is known from the lines of the hunk; the undo of one leads back, and its redo there again.
func TestRandomDecisions(t *testing.T) {
	for i := range *rounds {
		h := &history{t: t, Rand: rand.New(rand.NewPCG(*seed, uint64(i))), r: New(1 << 20)}
		for range 12 {
			h.present = append(h.present, h.line("f"))
		}
		for range 15 {
			switch f, ok := h.r.File("f"); {
			case ok && len(f.Hunks) > 0 && h.IntN(2) == 0:
				h.decides(f)
			case h.IntN(3) == 0:
				h.userEdits()
				h.r.Now("f", h.content())
			default:
				h.agentEdits()
			}
			if h.IntN(8) == 0 {
				h.r = loaded(t, h.r)
			}
			if f, ok := h.r.File("f"); ok {
				sound(t, f)
				consistent(t, f)
				if f.Present != h.content() {
					t.Errorf("the present text is %q, not %q", f.Present.Text, h.content().Text)
				}
			}
			if t.Failed() {
				t.Fatalf("in history %d of -seed %d", i, *seed)
			}
		}
	}
}

func (h *history) decides(f File) {
	n := h.IntN(len(f.Hunks))
	d := Keep
	if h.IntN(2) == 0 {
		d = Reject
	}
	p, err := h.r.Plan("f", d, Selection{Hunks: []int{n}})
	if err != nil {
		if f.Hunks[n].State != Rejected {
			h.t.Error(err)
		}
		return // another change is in its place
	}
	state := f.Hunks[n].State
	want := slices.Clone(h.present)
	parts := slices.DeleteFunc(f.Changes(), func(c Change) bool { return c.Hunk != n })
	for _, c := range slices.Backward(parts) {
		switch {
		case d == Reject && state != Rejected:
			want = slices.Replace(want, c.Line-1, c.Line-1+len(c.New), c.Old...)
		case d == Keep && state == Rejected:
			want = slices.Replace(want, c.Line-1, c.Line-1+len(c.Old), c.New...)
		}
	}
	if p.Want.Text != strings.Join(want, "") {
		h.t.Errorf("%s of the %s hunk %v leads from %q to %q, not %q", d, state, f.Hunks[n], p.Now.Text, p.Want.Text, want)
		return
	}
	before := slices.Clone(h.present)
	h.r.Commit(p)
	h.present = want
	after, _ := h.r.File("f")
	if d != Reject || state != Pending || len(parts) != 1 {
		return
	}
	if count(after, Rejected) == 0 && count(f, Rejected) == 0 { // side by side, two may cancel each other out
		h.t.Error("what was rejected is not known")
	}
	if h.IntN(2) == 0 || count(after, Rejected) != count(f, Rejected)+1 {
		// Of refusals side by side one alone is not told from an edit of the user's.
		return
	}
	h.present = before
	h.r.Now("f", h.content())
	undone, _ := h.r.File("f")
	if !reflect.DeepEqual(spans(undone.Hunks, Pending), spans(f.Hunks, Pending)) {
		h.t.Errorf("after the undo of a rejection in %q there are %v, not %v; in between %v", before, undone.Hunks, f.Hunks, after.Hunks)
	}
	if h.IntN(2) == 0 {
		return
	}
	h.present = want
	h.r.Now("f", h.content())
	again, _ := h.r.File("f")
	check.Deep(h.t, again.Hunks, after.Hunks, "after undo and redo of a rejection in %q there are %v", before)
}

func count(f File, state State) int { return len(spans(f.Hunks, state)) }

// What the user makes of a file that is known as a whole alone is his, where nothing of the agent's waits.
func TestUserEditsFilesWithoutLines(t *testing.T) {
	for _, do := range []Decision{Keep, Reject} {
		r := New(1 << 20)
		r.Changed("f", Text("old\x00"), Text("new\x00"))
		decideAll(t, r, do)
		r.Now("f", Text("mine\x00"))
		if f, ok := r.File("f"); ok && f.State == Pending {
			t.Errorf("after %s what waits is %+v", do, f)
		}
		r.Changed("f", Text("mine\x00"), Text("newer\x00"))
		decideAll(t, r, Reject)
		if f, ok := r.File("f"); ok && f.Present != Text("mine\x00").Mark() {
			t.Errorf("after %s, and a refusal, there is %+v", do, f)
		}
	}
}

// Lines that the agent wanted to take out, and the user has changed since, go by the user's wish: it is no
// undo of the refusal, by which they could come back.
func TestLinesChangedSinceTheirRefusal(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Text(letters("abcdef")), Text(letters("abdef")))
	decide(t, r, Reject, Selection{})
	r.Now("f", Text(letters("abXdef")))
	r.Now("f", Text(letters("abdef")))
	if f, ok := r.File("f"); ok && f.Accepted.Text != f.Present.Text {
		t.Errorf("what is pending is %+v", f)
	}
	// What he changes and changes back is as it was.
	r.Now("f", Text(letters("abcdef")))
	if f, ok := r.File("f"); ok && f.Accepted.Text != f.Present.Text {
		t.Errorf("what is pending is %+v", f)
	}
	r.Changed("g", Text(letters("abcdef")), Text(letters("abdef")))
	p, err := r.Plan("g", Reject, Selection{})
	if err != nil || !r.Commit(p) {
		t.Fatal(err)
	}
	r.Now("g", Text(letters("abXdef")))
	r.Now("g", Text(letters("abcdef")))
	r.Now("g", Text(letters("abdef")))
	if f, _ := r.File("g"); count(f, Pending) != 1 {
		t.Errorf("after the undo of an edit, and of the refusal before it, there is %+v", f)
	}
}

// A decision that leaves nothing of the agent's is undone as well, as long as the file has what it left. Of a file that is at
// another path since it is not.
func TestUndoOfADecisionThatLeftNothing(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Text("1\n"), Text("1\n2\n"))
	decide(t, r, Keep, Selection{})
	r.Changed("f", Text("1\n2\n"), Text("1\n"))
	p := decide(t, r, Keep, Selection{})
	if _, left := r.File("f"); left || !p.AsLeft(Text("1\n")) || p.AsLeft(Text("3\n")) {
		t.Errorf("something is left: %v", statusOf(r))
	}
	back, err := r.Undo(p)
	if err != nil || !r.Commit(back) {
		t.Fatal(err)
	}
	check.Equal(t, r.bytes, textBytes(r), "%d bytes are counted")
	check.Equal(t, decide(t, r, Reject, Selection{}).Want.Text, "1\n2\n", "refused there is %q")

	r.Changed("g", Text("1\n"), Text("2\n"))
	p, err = r.Plan("g", Keep, Selection{})
	if err != nil || !r.Commit(p) {
		t.Fatal(err)
	}
	r.Moved("g", "h", Text("2\n"), Text("2\n"))
	if _, err := r.Undo(p); !errors.Is(err, ErrNotChanged) {
		t.Errorf("of a file that was moved: %v", err)
	}
}

// An undo of a decision leaves what was before, and comes only where nothing has happened since.
func TestUndoDecision(t *testing.T) {
	r := New(1 << 20)
	r.Changed("/a", Text("1\n2\n3\n"), Text("one\n2\nthree\n"))
	before, _ := r.File("/a")
	var made []Plan
	for _, d := range []struct {
		do    Decision
		which Selection
	}{{Keep, Selection{Hunks: []int{0}}}, {Reject, Selection{}}, {Keep, Selection{Hunks: []int{1}}}} {
		p, err := r.Plan("/a", d.do, d.which)
		if err != nil || !r.Commit(p) {
			t.Fatalf("%s: %v", d.do, err)
		}
		made = append(made, p)
	}
	if _, err := r.Undo(made[0]); !errors.Is(err, ErrChangedSince) {
		t.Errorf("a decision before the last one: %v", err)
	}
	for _, p := range slices.Backward(made) {
		back, err := r.Undo(p)
		if err != nil || !r.Commit(back) {
			t.Fatalf("undo: %v", err)
		}
	}
	if now, _ := r.File("/a"); !reflect.DeepEqual(now, before) {
		t.Errorf("there is\n%+v\nwanted\n%+v", now, before)
	}
	// A move goes there and back.
	r.Moved("/old", "/new", Text("x\n"), Text("x\n"))
	before, _ = r.File("/new")
	p, err := r.Plan("/new", Reject, Selection{})
	if err != nil || p.Back != "/old" || !r.Commit(p) {
		t.Fatalf("reject the move: %v, back to %q", err, p.Back)
	}
	if back, err := r.Undo(p); err == nil {
		if back.Back != "/new" || !r.Commit(back) {
			t.Fatalf("undo goes to %q", back.Back)
		}
		if now, _ := r.File("/new"); !reflect.DeepEqual(now, before) {
			t.Errorf("there is\n%+v\nwanted\n%+v", now, before)
		}
	} else if !errors.Is(err, ErrNotChanged) {
		t.Errorf("undo of a move: %v", err)
	}
	r.Changed("/a", Text("one\n2\nthree\n"), Text("one\n2\nthree\nfour\n"))
	p, _ = r.Plan("/a", Keep, Selection{})
	r.Commit(p)
	r.Now("/a", Text("one\n2\nthree\nfour\ntyped\n"))
	if _, err := r.Undo(p); !errors.Is(err, ErrChangedSince) {
		t.Errorf("after typing: %v", err)
	}
	p, _ = r.Plan("/a", Reject, Selection{})
	r.Commit(p)
	r.Removed("/a")
	if _, err := r.Undo(p); !errors.Is(err, ErrNotChanged) {
		t.Errorf("after it was removed: %v", err)
	}
}

// A decision that is made already changes nothing, and the undo of the one before it stays possible.
func TestDecisionsMadeTwice(t *testing.T) {
	one, all := Selection{Hunks: []int{0}}, Selection{}
	for name, c := range map[string]struct {
		was, is Content
		do      Decision
		which   Selection
		again   Selection
	}{
		"a hunk kept":       {Text("1\n2\n3\n"), Text("one\n2\nthree\n"), Keep, one, one},
		"a hunk refused":    {Text("1\n2\n3\n"), Text("one\n2\nthree\n"), Reject, one, one},
		"a file kept":       {Text("1\n2\n3\n"), Text("one\n2\nthree\n"), Keep, all, Selection{Hunks: []int{0, 1}}},
		"a file refused":    {Text("1\n2\n3\n"), Text("one\n2\nthree\n"), Reject, all, Selection{Hunks: []int{0, 1}}},
		"a new one kept":    {Content{}, Text("1\n"), Keep, all, all},
		"a new one refused": {Content{}, Text("1\n"), Reject, all, all},
		"a removal kept":    {Text("1\n"), Content{}, Keep, all, all},
		"a removal refused": {Text("1\n"), Content{}, Reject, all, all},
		"no text":           {Opaque("a"), Opaque("b"), Keep, all, all},
		"no text refused":   {Opaque("a"), Opaque("b"), Reject, all, all},
		"a move kept":       {Text("1\n"), Text("1\n"), Keep, all, all},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(1 << 20)
			if r.Changed("f", c.was, c.is); r.Empty() {
				r.Moved("old", "f", c.was, c.is)
			}
			before, _ := r.File("f")
			first := decide(t, r, c.do, c.which)
			if !first.Decides() {
				t.Error("it decides nothing")
			}
			if decide(t, r, c.do, c.again).Decides() {
				t.Error("the second time it decides something")
			}
			back, err := r.Undo(first)
			if err != nil || !r.Commit(back) {
				t.Fatalf("undo: %v", err)
			}
			if now, _ := r.File("f"); !reflect.DeepEqual(now, before) {
				t.Errorf("there is\n%+v\nwanted\n%+v", now, before)
			}
		})
	}
}

func TestRefusingANewFileLeavesTheUsersLines(t *testing.T) {
	r := New(1 << 20)
	r.Changed("/new", Content{}, Text("1\n2\n"))
	r.Now("/new", Text("1\nmine\n2\n"))
	p, err := r.Plan("/new", Reject, Selection{})
	if err != nil || p.Want != Text("mine\n") || !r.Commit(p) {
		t.Fatalf("the refusal makes %+v, %v", p.Want, err)
	}
	back, err := r.Undo(p)
	if err != nil || back.Want != Text("1\nmine\n2\n") || !r.Commit(back) {
		t.Fatalf("taking it back makes %+v, %v", back.Want, err)
	}
}

// Where a new file of the agent's was refused the user makes one of their own: that is no change of the agent's, and
// what was refused does not take its place.
func TestTheUsersFileWhereANewOneWasRefused(t *testing.T) {
	for name, c := range map[string]struct{ agents, users Content }{
		"lines":        {Text("a\n"), Text("u\n")},
		"an empty one": {Text("a\n"), Text("")},
		"no text":      {Text("\x00a"), Text("u\n")},
		"becomes none": {Text("a\n"), Text("\x00u")},
	} {
		r := New(1 << 20)
		r.Changed("f", Content{}, c.agents)
		decideAll(t, r, Reject)
		r.Now("f", c.users)
		if f, ok := r.File("f"); ok && f.State == Pending {
			t.Errorf("%s: what waits is %+v", name, f)
		}
		for _, do := range []Decision{Keep, Reject} {
			if p, err := r.Plan("f", do, Selection{}); err == nil && (p.Edits() || !r.Commit(p)) {
				t.Errorf("%s: %s makes %+v of it", name, do, p.Want)
			}
		}

		r = New(1 << 20)
		r.Changed("f", Content{}, c.agents)
		decideAll(t, r, Reject)
		r.Now("f", c.agents) // taken back
		if f, ok := r.File("f"); !ok || f.State != Pending || f.Status != Added {
			t.Errorf("%s: the agent's file is back as %+v", name, f)
		}
		if p, err := r.Plan("f", Reject, Selection{}); err != nil || p.Want.Exists {
			t.Errorf("%s: refused once more it is %+v, %v", name, p.Want, err)
		}
	}
}

// Of lines that were accepted in place of others, by two writes side by side, those of the write that is undone go: the
// others stay accepted.
func TestUndoLeavesWhatWasAcceptedBeside(t *testing.T) {
	for name, c := range map[string]struct {
		steps           []string // the last one is undone
		accepted, hunks string
	}{
		"below":               {[]string{"1\n2\n3\n4\n5\n", "1\na\n4\n5\n", "1\na\nb\nc\n5\n"}, "1\na\n4\n5\n", "[{2 2 2 1 kept}]"},
		"above":               {[]string{"1\n2\n3\n4\n", "1\n2\na\n4\n", "1\nb\na\n4\n"}, "1\n2\na\n4\n", "[{3 1 3 1 kept}]"},
		"on both sides":       {[]string{"1\n2\n3\n", "1\na\n3\n", "b\na\nc\n"}, "1\na\n3\n", "[{2 1 2 1 kept}]"},
		"a removal elsewhere": {[]string{"1\n2\n3\n4\n5\n", "1\n3\n4\n5\n", "1\n3\n4\na\n5\n"}, "1\n3\n4\n5\n", "[{2 1 1 0 kept}]"},
		"all of it":           {[]string{"1\n2\n3\n", "a\nb\n3\n"}, "1\n2\n3\n", "[]"},
		"lines of the other":  {[]string{"1\n2\n3\n", "1\na\nb\n3\n", "1\nc\nb\n3\n"}, "1\n2\n3\n", "[{2 1 2 2 pending}]"},
	} {
		r := New(1 << 20)
		for i := range c.steps[1:] {
			r.Changed("f", Text(c.steps[i]), Text(c.steps[i+1]))
			p, err := r.Plan("f", Keep, Selection{})
			if err != nil || !r.Commit(p) {
				t.Fatal(name, err)
			}
		}
		last := len(c.steps) - 1
		r.Retracted("f", Text(c.steps[last]), Text(c.steps[last-1]))
		f, known := r.File("f")
		if !known {
			f.Accepted.Text = c.steps[0]
		}
		if got := fmt.Sprint(f.Hunks); got != c.hunks || f.Accepted.Text != c.accepted {
			t.Errorf("%s: the hunks are %s of %q, wanted %s of %q", name, got, f.Accepted.Text, c.hunks, c.accepted)
		}
	}
}

// What was done to another text of the file is found among what is pending, also where the user has changed it there.
func TestTheSameIsFoundInAnotherText(t *testing.T) {
	t.Parallel()
	lines := func(text string) string { return strings.ReplaceAll(text, " ", "\n") + "\n" }
	r := play([]step{agent(lines("a b c d e f"), lines("a XX1 YY1 d f ZZ1"))})
	f, _ := r.File("f")
	for what, want := range map[string]string{
		"a b c d e f > a XX1 YY1 d e f":     "[{1 3 1 3}] true", // whole
		"a b c d f > a XX1 c d f":           "[{1 2 1 2}] true", // a part
		"a b c d > a d":                     "[{1 3 1 1}] true", // without what the user has taken out
		"a c d f > a XX1 c d f":             "[{1 1 1 2}] true", // beside what they have put back
		"a b c d e f > a b c XX1x d e f":    "[{1 1 1 2}] true", // which they have changed
		"a u b c d e > a u b c d ZZ1x":      "[{4 5 4 4} {6 6 5 6}] true",
		"a b c d e f > a XX1 YY1 d e f ZZ1": "[{1 3 1 3}] true[{6 6 5 6}] true",
		"a u b c d e f > a XX1 d e f":       "[{1 3 1 2}] false",
		"a b c d e f > a b c d e f u":       "[] false",
		"a b c d e f > a XX1 YY1 f":         "[{1 3 1 3} {4 5 4 4}] false", // and one that waits for nothing
		"a YY1 d f > a XX1 YY1 d f":         "[{1 1 1 2}] true",            // above the other new one
		"a b c d e f > a b c other d e f":   "[] false",
	} {
		was, is, _ := strings.Cut(what, " > ")
		var got string
		for _, s := range f.Like(lines(was), lines(is)) {
			got += fmt.Sprint(s.Parts, s.All)
		}
		check.Equal(t, got, want, "%s is at %s", what)
	}
}

// What was decided already is nothing to decide.
func TestADecisionMadeTwice(t *testing.T) {
	t.Parallel()
	for _, d := range []Decision{Keep, Reject} {
		r := play([]step{agent("a\n", "b\n")})
		for i, want := range []bool{true, false} {
			p, err := r.Plan("f", d, Selection{})
			if err != nil || p.Decides() != want || !r.Commit(p) {
				t.Errorf("%s, time %d: it decides %v, %v", d, i+1, p.Decides(), err)
			}
		}
	}
}

// A new file goes with its last hunk; lines that are kept leave the permissions to be decided about.
func TestHunksOfWholeFiles(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("f", Content{}, Text("a\nb\n"))
	check.Equal(t, decide(t, r, Reject, Selection{Hunks: []int{0}}).Want, Content{}, "of a new file there is %+v")
	r = play([]step{{"agent", Opaque("one"), Opaque("two")}})
	check.Equal(t, decide(t, r, Reject, Selection{Hunks: []int{0}}).Want, Opaque("one"), "of bytes there is %+v")
	for lines, want := range map[bool]State{true: Pending, false: Kept} {
		was, is := Text("a\n"), Text("b\n")
		was.Mode, is.Mode = 0o644, 0o755
		r := play([]step{{"agent", was, is}})
		f, _ := r.File("f")
		decide(t, r, Keep, Selection{Parts: []linediff.Edit{f.Changes()[0].Part}, Lines: lines})
		f, _ = r.File("f")
		check.Equal(t, f.State, want, "with only the lines kept (%v) it is %s", lines)
	}
}

// What was refused in a file that the agent has removed since has no place to come back to.
func TestRefusedHunksOfAFileThatIsGone(t *testing.T) {
	t.Parallel()
	for _, agents := range []string{"", "X", "aX", "Xbc"} {
		r := play([]step{agent(letters("abc"), letters(agents))})
		decide(t, r, Reject, Selection{})
		r.Changed("f", Text(letters("abc")), Content{})
		f, _ := r.File("f")
		for i, h := range f.Hunks {
			_, err := r.Plan("f", Keep, Selection{Hunks: []int{i}})
			if want := map[State]error{Rejected: errNoSuchHunk}[h.State]; !errors.Is(err, want) {
				t.Errorf("of %q a hunk is %s: to keep it says %v", agents, h.State, err)
			}
		}
		check.Equal(t, count(f, Rejected), 1, "of %q %d are refused", agents)
	}
}

// Which parts of an edit have just some of its lines.
func TestPartsOfAnEdit(t *testing.T) {
	t.Parallel()
	e := linediff.Edit{A0: 1, A1: 3, B0: 1, B1: 4}
	set := func(of []int) func(int) bool { return func(at int) bool { return slices.Contains(of, at) } }
	for name, c := range map[string]struct {
		gone, came []int
		want       string
	}{
		"the first new": {nil, []int{1}, "[{1 1 1 2}]"},
		"the last new":  {nil, []int{3}, "[{3 3 3 4}]"},
		"all new":       {nil, []int{1, 2, 3}, "[{3 3 1 4}]"},
		"the middle":    {nil, []int{2}, "[{3 3 2 3}]"},
		"a removed one": {[]int{1}, nil, "[{1 2 1 1}]"},
		"one of each":   {[]int{2}, []int{2}, "[{2 3 2 3}]"},
		"two apart":     {nil, []int{1, 3}, "[{3 3 3 4} {1 1 1 2}]"},
		"none of its":   {[]int{7}, []int{9}, "[]"},
	} {
		check.Equal(t, fmt.Sprint(partsOf(e, set(c.gone), set(c.came))), c.want, "%s: %s", name)
	}
}

// Parts of one change can be decided about together, whichever of its lines each has: what one removes may be above what
// another removes, and what it adds below that.
func TestPartsThatCross(t *testing.T) {
	const was, is = "top\n1\n2\n3\nend\n", "top\na\nb\nc\nd\nend\n"
	for name, c := range map[string]struct {
		parts []linediff.Edit
		want  string // the lines in any order
	}{
		"crossed":            {[]linediff.Edit{{A0: 1, A1: 2, B0: 4, B1: 5}, {A0: 2, A1: 4, B0: 1, B1: 2}}, "1 2 3 b c"},
		"one only adds":      {[]linediff.Edit{{A0: 1, A1: 2, B0: 3, B1: 5}, {A0: 4, A1: 4, B0: 1, B1: 2}}, "1 b"},
		"one only removes":   {[]linediff.Edit{{A0: 3, A1: 4, B0: 1, B1: 1}, {A0: 1, A1: 3, B0: 1, B1: 5}}, "1 2 3"},
		"in order":           {[]linediff.Edit{{A0: 1, A1: 2, B0: 1, B1: 2}, {A0: 2, A1: 3, B0: 2, B1: 3}}, "1 2 c d"},
		"the same one twice": {[]linediff.Edit{{A0: 1, A1: 2, B0: 1, B1: 3}, {A0: 1, A1: 2, B0: 1, B1: 3}}, "1 c d"},
	} {
		r := New(1 << 20)
		r.Changed("f", Text(was), Text(is))
		p, err := r.Plan("f", Reject, Selection{Parts: c.parts})
		must.Do(t, err)
		got := strings.Fields(p.Want.Text)
		slices.Sort(got[1 : len(got)-1])
		check.Equal(t, strings.Join(got, " "), "top "+c.want+" end", name+": refused gives %q")
	}
}

// Whichever lines of a change are decided about, and in whichever parts, the others are left alone.
func TestRandomPartsOfAChange(t *testing.T) {
	random := rand.New(rand.NewPCG(*seed, 3))
	for range 20 * *rounds {
		old, fresh := strings.Fields("0 1 2 3 4 5")[:1+random.IntN(6)], strings.Fields("a b c d e f")[:1+random.IntN(6)]
		text := func(lines []string) string {
			return strings.Join(slices.Concat([]string{"top"}, lines, []string{"end", ""}), "\n")
		}
		r := New(1 << 20)
		r.Changed("f", Text(text(old)), Text(text(fresh)))
		e := r.files["f"].text.pending.edits[0]
		group := make([]int, len(old)+len(fresh)) // of each line, 0 is none
		for i := range group {
			group[i] = random.IntN(4)
		}
		which := Selection{}
		for n := 1; n < 4; n++ {
			gone := func(at int) bool { return group[at-e.A0] == n }
			came := func(at int) bool { return group[len(old)+at-e.B0] == n }
			which.Parts = append(which.Parts, partsOf(e, gone, came)...)
		}
		if len(which.Parts) == 0 {
			continue // which would be all
		}
		var refused, kept []string
		for i, line := range slices.Concat(old, fresh) {
			if wasThere := i < len(old); wasThere == (group[i] != 0) {
				refused = append(refused, line)
			} else {
				kept = append(kept, line)
			}
		}
		for d, want := range map[Decision][]string{Reject: refused, Keep: kept} {
			p, err := r.Plan("f", d, which)
			must.Do(t, err)
			got := p.Want.Text
			if d == Keep {
				got = p.next.text.accepted()
			}
			lines := strings.Fields(got)
			slices.Sort(lines[1 : len(lines)-1])
			check.Equal(t, strings.Join(lines, " "), strings.Join(slices.Concat([]string{"top"}, want, []string{"end"}), " "),
				"%v becomes %v, %s of %v: %q", old, fresh, d, which.Parts)
		}
	}
}
