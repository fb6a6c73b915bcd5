package review

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// removedUnder is a record of a file that the agent has removed under a buffer that had another text than the disk.
func removedUnder(t *testing.T, onDisk, inBuffer func(r *Record), disk Content) *Record {
	r := New(1 << 20)
	onDisk(r)
	if inBuffer != nil {
		inBuffer(r)
	}
	had := r.Image("f")
	r.Changed("f", disk, Content{})
	version := r.Version()
	if r.GoneFrom("f", had); r.Version() == version {
		t.Error("what a buffer had is not saved")
	}
	return r
}

// What a buffer had of a file that the agent has removed under it is back with its owners where the buffer is written;
// where the agent has only moved the file, those of the text on the disk count.
func TestRemovedUnderABuffer(t *testing.T) {
	t.Parallel()
	agents := func(was, is string) func(r *Record) {
		return func(r *Record) { r.Changed("f", Text(letters(was)), Text(letters(is))) }
	}
	users := func(now string) func(r *Record) { return func(r *Record) { r.Now("f", Text(letters(now))) } }
	for name, c := range map[string]struct {
		disk, buffer func(r *Record)
		first, was   string // before any of it, and on the disk
		now, refused string // what is there then, and without the agent's
	}{
		"the agent's line in the buffer":        {agents("abc", "aXc"), nil, "abc", "abc", "aXc", "abc"},
		"the user's line in its place":          {agents("abc", "aXc"), users("auc"), "abc", "aXc", "auc", "aubc"},
		"the agent's line, and a line of mine":  {agents("abc", "aXc"), users("aXcu"), "abc", "abc", "aXcuv", "abcuv"},
		"the same in both":                      {agents("abc", "aXc"), nil, "abc", "aXc", "aXcu", "abcu"},
		"another text than either had before":   {agents("abc", "aXc"), users("aXcu"), "abc", "aXc", "v", "abcv"},
		"what the buffer had and the disk lost": {agents("abcdef", "aXcdYf"), nil, "abcdef", "aXcdef", "aXcdYf", "abcdef"},
	} {
		r := removedUnder(t, c.disk, c.buffer, Text(letters(c.was)))
		check.Equal(t, r.bytes, textBytes(r), name+": %d bytes are counted")
		r.Now("f", Text(letters(c.now)))
		check.Equal(t, r.bytes, textBytes(r), name+", and back: %d bytes are counted")
		check.Equal(t, decide(t, r, Reject, Selection{}).Want.Text, letters(c.refused), name+": refused, there is %q")

		for at, before := range map[string]string{c.was: c.first, c.now: c.refused} { // what is moved, and that without the agent's
			r = removedUnder(t, c.disk, c.buffer, Text(letters(c.was)))
			r.Moved("f", "g", Text(letters(at)), Text(letters(at)))
			check.Equal(t, r.bytes, textBytes(r), name+", and moved: %d bytes are counted")
			if f, _ := r.File("g"); f.Status != Moved || f.Baseline.Text != letters(before) {
				t.Errorf("%s: moved as %s it is %s, and was %q", name, at, f.Status, f.Baseline.Text)
			}
		}
	}
}

// Where there is no removal, or no text that a buffer had of it, nothing comes from a buffer.
func TestNotRemovedUnderABuffer(t *testing.T) {
	t.Parallel()
	a, b := Text("a\n"), Text("b\n")
	had := New(1 << 20)
	had.Changed("text", a, Text("a\nX\n"))
	had.Changed("bytes", a, Opaque("one"))
	had.Changed("gone", a, Content{})
	for name, c := range map[string]struct {
		do  func(r *Record)
		had string
	}{
		"not in the record":   {func(*Record) {}, "text"},
		"there":               {func(r *Record) { r.Changed("f", a, b) }, "text"},
		"no text any more":    {func(r *Record) { r.Changed("f", a, b); r.Changed("f", b, Opaque("one")) }, "text"},
		"without a text":      {func(r *Record) { r.Changed("f", Opaque("one"), Content{}) }, "text"},
		"of nothing":          {func(r *Record) { r.Changed("f", a, Content{}) }, "none"},
		"of bytes":            {func(r *Record) { r.Changed("f", a, Content{}) }, "bytes"},
		"of one that is gone": {func(r *Record) { r.Changed("f", a, Content{}) }, "gone"},
	} {
		r, same := New(1<<20), New(1<<20)
		c.do(r)
		c.do(same)
		version := r.Version()
		r.GoneFrom("f", had.Image(c.had))
		check.Equal(t, r.Version(), version, name+": the record has version %d")
		for _, r := range []*Record{r, same} {
			r.Now("f", Text("a\nX\n"))
		}
		check.Deep(t, r.Files(), same.Files(), name+": back it is %+v")
	}
}
