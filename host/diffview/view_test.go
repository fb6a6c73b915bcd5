package diffview

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// changedFile is a change of a file whose texts are known.
func changedFile(old, text string) diff.FileDiff {
	d := session.Diff{Operation: session.OperationModify, Path: "/f", OldText: &old, NewText: &text}
	return diff.Of(d, diff.Now{Text: &old})
}

// joined is one side of the pieces of a view.
func joined(pieces []rpc.DiffPiece, side string) string {
	var b strings.Builder
	for _, p := range pieces {
		lines := p.New
		if side == "old" {
			lines = p.Old
		}
		for _, l := range lines {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

func TestViewOfWholeTexts(t *testing.T) {
	var old strings.Builder
	for i := range 3*pieceLines + 1 {
		fmt.Fprintf(&old, "line %d\n", i)
	}
	text := strings.Replace(old.String(), "line 4321\n", "another\nand one more\n", 1)
	v := Of(changedFile(old.String(), text), "")
	if v.Form != "whole" || v.First != 4322 || v.OldLines != 6001 || v.NewLines != 6002 {
		t.Errorf("the view is %s from %d, of %d and %d lines", v.Form, v.First, v.OldLines, v.NewLines)
	}
	if joined(v.Pieces, "old") != old.String() || joined(v.Pieces, "new") != text {
		t.Error("the pieces are not the texts")
	}
	for _, p := range v.Pieces {
		if n := len(p.Old); n > pieceLines {
			t.Errorf("a piece has %d lines", n)
		}
	}
}

func TestViewOfWhatNeovimWouldTakeLongFor(t *testing.T) {
	many := strings.Repeat("same\nsame\nother\n", 10_000)
	block := strings.Repeat("all of it\n", 2*wholeBlock)
	for name, f := range map[string]diff.FileDiff{
		"many changes": changedFile(many, strings.ReplaceAll(many, "other", "else")),
		"a large one":  changedFile(block, strings.ReplaceAll(block, "all", "none")),
		"a long line":  changedFile("a\n"+strings.Repeat("x", 500_000)+"\n", "a\n"+strings.Repeat("y", 500_000)+"\n"),
		"hunks alone":  {Path: "/f", Located: true, Hunks: changedFile("a\nb\n", "a\nc\n").Hunks, Added: 1, Removed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			v := Of(f, "")
			must.Equal(t, v.Form, "changes", "the form is %s")
			var kinds string
			for _, p := range v.Pieces {
				k := p.Kinds
				kinds += k
				for _, side := range []struct {
					lines   []string
					numbers []int
				}{{p.Old, p.OldNumbers}, {p.New, p.NewNumbers}} {
					if n := len(side.lines); n != len(k) || n != len(side.numbers) || n > pieceLines {
						t.Errorf("%d kinds for %d lines", len(k), n)
					}
					for _, l := range side.lines {
						if len(l) > longLine+len("…") {
							t.Errorf("a line has %d bytes", len(l))
						}
					}
				}
			}
			check.Equal(t, strings.IndexAny(kinds, "~+-")+1, v.First, "the first change is at %d")
			check.Equal(t, strings.Count(kinds, "~"), f.Added, "%d lines are changed")
		})
	}
}

func TestViewIsBounded(t *testing.T) {
	text := strings.Repeat("new\n", mostLines+7)
	f := changedFile("long\nago\n", text)
	v := Of(f, "")
	lines := strings.Split(joined(v.Pieces, "new"), "\n")
	got := lines[len(lines)-2]
	if len(lines) != mostLines+2 || got != "… +7 lines" {
		t.Errorf("%d lines, the last one %q", len(lines)-1, got)
	}
	more := rpc.DiffPiece{
		Old: []string{got}, New: []string{got}, OldWords: []int{}, NewWords: []int{},
		OldNumbers: []int{0}, NewNumbers: []int{0}, Kinds: ".",
	}
	check.Deep(t, v.Pieces[len(v.Pieces)-1], more, "the last piece is %+v")
}

// Neovim compares texts by itself up to the size at which it would take long.
func TestWhatNeovimCompares(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) + "\n" }
	lines := func(words string, n int) string { return strings.Repeat(words+"\n", n) }
	for name, c := range map[string]struct{ old, text, form string }{
		"a line as long as may be":  {long(longLine), long(longLine) + "new\n", "whole"},
		"a longer one":              {long(longLine + 1), long(longLine+1) + "new\n", "changes"},
		"a longer one that is new":  {"a\n", "a\n" + long(longLine+1), "changes"},
		"a longer one that is gone": {"a\n" + long(longLine+1), "a\n", "changes"},
		"a block as large":          {lines("a", wholeBlock), lines("b", wholeBlock), "whole"},
		"a larger one":              {lines("a", wholeBlock+1), lines("b", wholeBlock+1), "changes"},
		"many lines for few":        {lines("a", 2), lines("b", 2*wholeBlock), "whole"},
		"a file as large":           {lines("a", 19_932), lines("a", 19_932) + "b\n", "whole"}, // and a change costs 67 lines
		"a larger file":             {lines("a", 19_934), lines("a", 19_934) + "b\n", "changes"},
		"a larger one before":       {lines("a", 19_934) + "b\n", lines("a", 19_934), "changes"},
	} {
		check.Equal(t, Of(changedFile(c.old, c.text), "").Form, c.form, name+" is shown as %s")
	}
}

// The words of a line that have changed are told with it, of each side.
func TestChangedWords(t *testing.T) {
	f := changedFile("same\nthe old words\nend\n", "same\nthe very new words\nend\n")
	rows, inline := Of(f, "rows").Pieces[0], Of(f, "inline").Pieces[0].Changes[0]
	check.Equal(t, fmt.Sprint(rows.OldWords, rows.NewWords), "[1 4 7] [1 4 12]", "side by side they are %s")
	check.Equal(t, fmt.Sprint(inline.OldWords, inline.NewWords), "[0 4 7] [0 4 12]", "in the file they are %s")
}

func TestRowsStandBesideEachOther(t *testing.T) {
	rows := sideBySide(changedFile("a\nb\nc\nd\n1\n2\n3\n4\n5\n6\n7\nx\n", "a\nB\nd\n1\n2\n3\n4\n5\n6\n7\nx\nmore\n").Hunks)
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s%c%s %d %d", r.old.Text, r.kind, r.new.Text, r.old.Old, r.new.New))
	}
	want := []string{
		"a=a 1 1", "b~B 2 2", "c- 3 0", "d=d 4 3", "1=1 5 4", ". 0 0", "7=7 11 10", "x=x 12 11", "+more 0 12",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the rows are\n%s", strings.Join(got, "\n"))
	}
}

func TestInlineChanges(t *testing.T) {
	v := Of(changedFile("a\nb\nc\nd\n", "a\nB\nc\nnew\nd\n"), "inline")
	if v.Form != "inline" || v.First != 2 || v.OldLines != 4 || v.NewLines != 5 {
		t.Errorf("the view is %s from %d, of %d and %d lines", v.Form, v.First, v.OldLines, v.NewLines)
	}
	var got []string
	for _, p := range v.Pieces {
		for _, c := range p.Changes {
			got = append(got, fmt.Sprint(c.OldAt, c.NewAt, c.Old, c.New))
		}
	}
	check.Slice(t, got, []string{"2 2 [b] [B]", "4 4 [] [new]"}, "the changes are %q")
}

func TestViewOfABinaryFile(t *testing.T) {
	v := Of(diff.FileDiff{Path: "/f.png", Operation: session.OperationModify, Note: "binary file"}, "inline")
	if v.Form != "sentence" || joined(v.Pieces, "new") != "Binary file.\n" {
		t.Errorf("the view is %s: %q", v.Form, joined(v.Pieces, "new"))
	}
}

// TestPlacesOfHunks has random changes shown in every form: the hunks must stand where the places say, and the
// rows of the whole file must have all of both texts.
func TestPlacesOfHunks(t *testing.T) {
	for seed := range 300 {
		r := rand.New(rand.NewPCG(2, uint64(seed)))
		random := func() string {
			var b strings.Builder
			for range r.IntN(40) {
				b.WriteString(string(rune('a'+r.IntN(6))) + "\n")
			}
			return b.String()
		}
		old, text := random(), random()
		f := diff.Whole("f", session.OperationModify, old, text)
		if old == text {
			continue
		}
		hunks := f.Parts()
		if bare := f; Of(f, "").Form == "whole" {
			bare.Located = false // its lines have no numbers
			check.Slice(t, Of(bare, "").Hunks, Of(f, "").Hunks, "without the numbers of lines the hunks are at %v")
		}
		for _, form := range []string{"", "inline", "rows"} {
			v := Of(f, form)
			var lines [2][]string
			var numbers [2][]int
			for _, piece := range v.Pieces {
				lines[0], lines[1] = append(lines[0], piece.Old...), append(lines[1], piece.New...)
				numbers[0], numbers[1] = append(numbers[0], piece.OldNumbers...), append(numbers[1], piece.NewNumbers...)
			}
			switch v.Form {
			case "inline":
				lines = [2][]string{diff.TextLines(old), diff.TextLines(text)}
			case "changes":
				for side, want := range []string{old, text} {
					var shown []string
					for i, n := range numbers[side] {
						if n > 0 {
							shown = append(shown, lines[side][i])
						}
					}
					if form == "rows" && !slices.Equal(shown, diff.TextLines(want)) {
						t.Fatalf("seed %d: the rows have %q, not %q", seed, shown, want)
					}
				}
			}
			if len(v.Hunks) != 4*len(hunks) {
				t.Fatalf("seed %d, %s: %d places of %d hunks", seed, v.Form, len(v.Hunks)/4, len(hunks))
			}
			for i, h := range hunks {
				for side, want := range [][]diff.Line{h.Old, h.New} {
					at, n := v.Hunks[4*i+2*side], v.Hunks[4*i+2*side+1]
					var shown []string
					for row := at; row < at+n; row++ {
						if v.Form != "changes" || numbers[side][row-1] > 0 {
							shown = append(shown, lines[side][row-1])
						}
					}
					texts, _ := linesAndWords(want)
					if !slices.Equal(shown, texts) && len(shown)+len(texts) > 0 {
						t.Fatalf("seed %d, %s: hunk %d has %q at %d, not %q", seed, v.Form, i, shown, at, texts)
					}
				}
			}
		}
	}
}

// Neovim gets many changes of a file in pieces, in their order, and no line that it would draw slowly.
func TestInlineChangesComeInPieces(t *testing.T) {
	const n = pieceLines
	v := Of(changedFile(strings.Repeat("same\nold\n", n), strings.Repeat("same\nnew\n", n)), "inline")
	at := 0
	for i, p := range v.Pieces {
		lines := 0
		for _, c := range p.Changes {
			if lines += len(c.Old) + len(c.New); c.OldAt <= at {
				t.Fatalf("piece %d has line %d after %d", i, c.OldAt, at)
			}
			at = c.OldAt
		}
		if lines > pieceLines/4 {
			t.Errorf("piece %d has %d lines", i, lines)
		}
	}
	check.Equal(t, at, 2*n, "the last change is of line %d")
	check.Equal(t, len(v.Pieces), 8, "there are %d pieces")
}

// The words of a long line that are shown stay marked, those behind where it is cut do not.
func TestLongLinesAreCut(t *testing.T) {
	line := diff.Line{Text: strings.Repeat("x", longLine+1), Words: []diff.Span{{Start: 0, End: 1}, {Start: 9, End: longLine}, {Start: 9, End: longLine + 1}}}
	cut := short(line)
	check.Equal(t, cut.Text, strings.Repeat("x", longLine)+"…", "it is %q")
	check.Slice(t, cut.Words, line.Words[:2], "marked are %v")
	line.Text = line.Text[1:]
	check.Equal(t, short(line).Text, line.Text, "one that is not too long is %q")
}

// Each side of a change is called by what it is.
func TestLabels(t *testing.T) {
	short := func(path string) string { return "~" + path }
	for _, c := range []struct {
		f    diff.FileDiff
		done bool
		want string
	}{
		{diff.FileDiff{Located: true}, false, "now, proposed"},
		{diff.FileDiff{Located: true}, true, "before, after"},
		{diff.FileDiff{}, true, "old text, new text"},
		{diff.FileDiff{Located: true, Operation: session.OperationAdd}, false, "no file, new file"},
		{diff.FileDiff{Located: true, Operation: session.OperationDelete}, true, "before, deleted"},
		{diff.FileDiff{Located: true, Operation: session.OperationMove, OldPath: "/a"}, false, "now, moved from ~/a"},
		{diff.FileDiff{Located: true, Operation: session.OperationCopy, OldPath: "/a"}, false, "now, copied from ~/a"},
	} {
		before, after := Labels(c.f, c.done, short)
		check.Equal(t, before+", "+after, c.want, "they are %s")
	}
}

// listener is a Neovim that takes pieces until it needs no more, or fails.
type listener struct {
	takes int
	fails bool
	heard []string
}

func (l *listener) Batch(ops []any) (answers []any, busy time.Duration, err error) {
	for _, op := range ops {
		answer := []any{true, true}
		switch args := op.([]any)[1].(type) {
		case rpc.DiffPiece:
			l.heard = append(l.heard, fmt.Sprint(args.ID, args.New))
			if l.takes--; l.takes < 0 && l.fails {
				answer = []any{false, "no such window"}
			} else if l.takes < 0 {
				answer = []any{true, false}
			}
		case rpc.Callback:
			_, answered := args.Result.(rpc.Diff)
			l.heard = append(l.heard, fmt.Sprint(args.ID, " ", answered, args.Error))
		}
		answers = append(answers, answer)
	}
	return answers, 0, nil
}

// Whoever waits for a diff hears that it is there, or that it will not come.
func TestAViewIsSentPieceByPiece(t *testing.T) {
	for _, c := range []struct {
		l    *listener
		want []string
	}{
		{&listener{takes: 9}, []string{"7 [a]", "7 [b]", "7 true"}},
		{&listener{takes: 1}, []string{"7 [a]", "7 [b]", "7 false"}},
		{&listener{takes: 0}, []string{"7 [a]", "7 false"}},
		{&listener{takes: 1, fails: true}, []string{"7 [a]", "7 [b]", "7 false"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			nvim := editor.New(c.l)
			go nvim.Run()
			Send(nvim, slog.New(slog.DiscardHandler), 7, []rpc.DiffPiece{{New: []string{"a"}}, {New: []string{"b"}}}, rpc.Diff{})
			time.Sleep(time.Second)
			synctest.Wait()
			nvim.Close()
			synctest.Wait()
			check.Slice(t, c.l.heard, c.want, "Neovim hears %q")
		})
	}
}
