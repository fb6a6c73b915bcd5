package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// text is some lines: few different ones, so that they repeat, with all kinds of line ends.
func text(r *rand.Rand, lines int) string {
	words := []string{"a", "b", "if x {", "}", "", "\t", "größe = 1", "return x, y", "日本語 です", "e\u0301 x"}
	ends := [][]string{{"\n"}, {"\r\n"}, {"\n", "\n", "\r\n"}}[r.IntN(3)]
	var b strings.Builder
	for range lines {
		for range 1 + r.IntN(3) {
			b.WriteString(words[r.IntN(len(words))])
		}
		if r.IntN(3) == 0 {
			fmt.Fprint(&b, " ", r.IntN(40))
		}
		b.WriteString(ends[r.IntN(len(ends))])
	}
	s := b.String()
	if r.IntN(3) == 0 {
		s = strings.TrimRight(s, "\r\n")
	}
	return s
}

// changed is a text with some of its lines removed, added, replaced or moved.
func changed(r *rand.Rand, s string) string {
	lines := linediff.Lines(s)
	for range r.IntN(6) {
		at := r.IntN(len(lines) + 1)
		end := min(len(lines), at+r.IntN(4))
		lines = slices.Replace(slices.Clone(lines), at, end, linediff.Lines(text(r, r.IntN(4)))...)
	}
	return strings.Join(lines, "")
}

// replay applies hunks to the old text, and checks all that they say.
func replay(t *testing.T, f FileDiff) {
	t.Helper()
	a, b := linediff.Lines(f.Old), linediff.Lines(f.New)
	var out []string
	at, free, added, removed := 0, 0, 0, 0
	for n, h := range f.Hunks {
		if h.OldStart-1 < at || n > 0 && h.OldStart-1 == at {
			t.Fatalf("hunk %d begins at %d, after line %d", n, h.OldStart, at)
		}
		for i, l := range h.Before {
			if line := h.OldStart - 1 - len(h.Before) + i; line < free || strings.TrimSuffix(a[line], "\n") != l {
				t.Fatalf("line %q before hunk %d", l, n)
			}
		}
		out = append(out, a[at:h.OldStart-1]...)
		at = h.OldStart - 1
		if h.NewStart != len(out)+1 {
			t.Fatalf("hunk %d begins at %d of the new text, not %d", n, h.NewStart, len(out)+1)
		}
		inserted := false
		for i, l := range h.Lines {
			text := l.Text
			if !l.NoNewline {
				text += "\n"
			}
			if l.Kind != Insert {
				if l.Old != at+1 || a[at] != text {
					t.Fatalf("line %d: %q at %d, not %q at %d", i, text, l.Old, a[at], at+1)
				}
				at++
			} else if l.Old != 0 {
				t.Fatalf("an inserted line has the old number %d", l.Old)
			}
			if l.Kind != Delete {
				out = append(out, text)
				if l.New != len(out) || l.New > len(b) || b[l.New-1] != text {
					t.Fatalf("line %d: %q at %d of the new text", i, text, l.New)
				}
			} else if l.New != 0 {
				t.Fatalf("a deleted line has the new number %d", l.New)
			}
			switch l.Kind {
			case Insert:
				added++
				inserted = true
			case Delete:
				removed++
				if inserted {
					t.Fatal("a deleted line stands below inserted ones")
				}
			default:
				inserted = false
				if l.Words != nil {
					t.Fatal("changed words in a line that stays")
				}
			}
			end := 0
			for _, s := range l.Words {
				if s.Start < end || s.End <= s.Start || s.End > len(l.Text) {
					t.Fatalf("span %v of %q", s, l.Text)
				}
				if !utf8.ValidString(l.Text[s.Start:s.End]) || end > 0 && s.Start == end {
					t.Fatalf("span %v of %q", l.Words, l.Text)
				}
				end = s.End
			}
		}
		free = at
		for _, l := range h.After {
			if strings.TrimSuffix(a[free], "\n") != l {
				t.Fatalf("line %q after hunk %d", l, n)
			}
			free++
		}
	}
	if len(f.Hunks) > 0 && len(f.Hunks[len(f.Hunks)-1].After) < min(len(a)-at, 3) && len(f.Hunks) < 100 {
		t.Fatal("nothing after the last hunk")
	}
	out = append(out, a[at:]...)
	if got := strings.Join(out, ""); got != f.New {
		t.Fatalf("the hunks make\n%q\nof\n%q\nnot\n%q", got, f.Old, f.New)
	}
	if added != f.Added || removed != f.Removed {
		t.Fatalf("+%d -%d, not +%d -%d", f.Added, f.Removed, added, removed)
	}
}

func TestHunksMakeTheNewText(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := FileDiff{Old: text(r, r.IntN(40))}
		f.New = changed(r, f.Old)
		if r.IntN(4) == 0 {
			f.New = text(r, r.IntN(40))
		}
		f.between(true)
		replay(t, f)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// Where sequences are long enough for the shortest way to be given up.
func TestLongSequences(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 2))
		var a, b strings.Builder
		for range 3000 {
			fmt.Fprintln(&a, r.IntN(3))
			fmt.Fprintln(&b, r.IntN(3))
		}
		f := FileDiff{Old: a.String(), New: b.String()}
		f.between(true)
		replay(t, f)
	}
}

// A fragment is found again, before the change and after it, and the picture is the same.
func TestFragmentsAreFound(t *testing.T) {
	tried := 0
	defer func() {
		if tried < 500 {
			t.Errorf("only %d fragments were tried", tried)
		}
	}()
	for seed := range uint64(30000) {
		r := rand.New(rand.NewPCG(seed, 4))
		file, _ := bareLines(text(r, 1+r.IntN(30)))
		if file == "" {
			continue
		}
		from := r.IntN(len(file))
		to := from + 1 + r.IntN(len(file)-from)
		old := file[from:to]
		change := changed(r, old+"\nunique\n")
		if !utf8.ValidString(old) || strings.Count(file, old) != 1 || !strings.Contains(change, "unique") || strings.Contains(change, old) || strings.Contains(change, "\r") {
			continue
		}
		after := file[:from] + change + file[to:]
		if bare, _ := bareLines(after); bare != after || strings.Contains(old, "\r") && !strings.Contains(after, "\r") {
			continue // that the file had both line ends is not to be seen any more
		}
		tried++
		d := session.Diff{Path: "/a", OldText: &old, NewText: &change, Operation: session.OperationModify}
		for _, now := range []Now{{Text: &file}, {Text: &after}, {Text: &after, Done: true}} {
			f := Of(d, now)
			if !f.Located || f.Old != file || f.New != after {
				t.Fatalf("seed %d: %q to %q in %q (%v):\n%+v", seed, old, change, *now.Text, now.Done, f)
			}
			replay(t, f)
		}
	}
}

// Whatever is told, and whatever the file has, there is something to show, and what is said to be located adds up.
func TestAnythingGoes(t *testing.T) {
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 5))
		file := text(r, r.IntN(12))
		part := func() *string {
			if r.IntN(6) == 0 {
				return nil
			}
			s := text(r, r.IntN(4))
			if r.IntN(2) == 0 && file != "" {
				from := r.IntN(len(file))
				s = strings.ToValidUTF8(file[from:from+r.IntN(len(file)-from+1)], "?")
			}
			switch r.IntN(6) {
			case 0:
				s = strings.ReplaceAll(s, "\t", "  ")
			case 1:
				s = strings.ReplaceAll(s, "\n", " \n")
			}
			return &s
		}
		d := session.Diff{Path: "/a", OldText: part(), NewText: part()}
		d.Operation = []session.Operation{"", "add", "delete", "modify", "move", "copy", "other"}[r.IntN(7)]
		now := Now{Line: r.IntN(4), Done: r.IntN(2) == 0}
		if r.IntN(5) > 0 {
			now.Text = &file
		}
		f := Of(d, now)
		if f.Located {
			replay(t, f)
		} else if f.Note == "" {
			t.Errorf("seed %d: not located, without a word: %+v", seed, f)
		}
		Told(d)
		f.Brief()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// numbers are lines first to last by a format.
func numbers(first, last int, format string) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

// Ten thousand changed lines of a hundred thousand, and texts that invite to compare everything with everything. The
// bound is far above what it takes, and far below what quadratic work would.
func TestLargeTextsAreFast(t *testing.T) {
	same := strings.Repeat("x\n", 100_000)
	var every strings.Builder
	for i := range 100_000 {
		if i%10 == 0 {
			fmt.Fprintf(&every, "changed line %d here\n", i)
		} else {
			fmt.Fprintf(&every, "line %d here\n", i)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	var few, other strings.Builder
	for range 40_000 {
		fmt.Fprintln(&few, r.IntN(3))
		fmt.Fprintln(&other, r.IntN(3))
	}
	for name, texts := range map[string][2]string{
		"every tenth line": {numbers(0, 99_999, "line %d here"), every.String()},
		"a block":          {numbers(0, 99_999, "line %d here"), numbers(0, 49_999, "line %d here") + numbers(0, 9_999, "new %d") + numbers(60_000, 99_999, "line %d here")},
		"all of it":        {numbers(0, 99_999, "line %d here"), numbers(0, 99_999, "row %d there")},
		"the same line":    {same, "y\n" + same[:100_000] + "z\n" + same[:60_000] + "y\n"},
		"two lines":        {strings.Repeat("x\ny\n", 20_000), strings.Repeat("y\nx\nx\n", 13_000)},
		"three, at random": {few.String(), other.String()},
		"turned round":     {numbers(0, 49_999, "line %d"), reversed(numbers(0, 49_999, "line %d"))},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			d := session.Diff{Path: "/a", OldText: &texts[0], NewText: &texts[1]}
			f := Of(d, Now{Text: &texts[0]})
			took := time.Since(start)
			t.Logf("%v, %d hunks, +%d -%d", took, len(f.Hunks), f.Added, f.Removed)
			if took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
			replay(t, f)
		})
	}
}

func reversed(s string) string {
	lines := linediff.Lines(s)
	slices.Reverse(lines)
	return strings.Join(lines, "")
}

// gitText is a change as a patch in Git's format.
func (f FileDiff) gitText() string {
	b := &strings.Builder{}
	b.WriteString("diff --git /a /a\n--- /a\n+++ /a\n")
	for _, h := range f.Hunks {
		old, text := 0, 0
		for _, l := range h.Lines {
			old += btoi(l.Kind != Insert)
			text += btoi(l.Kind != Delete)
		}
		fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", h.OldStart-btoi(old == 0), old, h.NewStart-btoi(text == 0), text)
		for _, l := range h.Lines {
			fmt.Fprintf(b, "%c%s\n", " -+"[l.Kind], l.Text)
			if l.NoNewline {
				b.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	return b.String()
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A patch makes the new text of the old one, and is found where it was applied; one that is damaged does no harm.
func TestPatches(t *testing.T) {
	applied := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 6))
		old, _ := bareLines(text(r, r.IntN(30)))
		after, _ := bareLines(changed(r, old))
		f := FileDiff{Old: old, New: after}
		f.between(true)
		d := session.Diff{Operation: session.OperationModify, Path: "/a", Patch: f.gitText()}
		if len(f.Hunks) > 0 && strings.Contains(old, "\r\n") == strings.Contains(after, "\r\n") {
			applied++
			for _, now := range []Now{{Text: &old}, {Text: &after, Done: true}} {
				if got := Of(d, now); !got.Located || got.Old != old || got.New != after {
					t.Fatalf("seed %d, done %v:\n%s\nof %q gives\n%+v", seed, now.Done, d.Patch, old, got)
				}
			}
			if told := Told(d); told.Added != f.Added || told.Removed != f.Removed {
				t.Fatalf("seed %d: told %v, not %v", seed, told, f)
			}
		}
		lines := linediff.Lines(d.Patch)
		at := r.IntN(len(lines))
		d.Patch = strings.Join(slices.Replace(lines, at, min(len(lines), at+r.IntN(3)), lines[r.IntN(len(lines))]), "")
		if got := Of(d, Now{Text: &old}); got.Located {
			replay(t, got)
		}
		Told(d)
	}
	if applied < 1000 {
		t.Errorf("only %d patches were tried", applied)
	}
}
