package terminal

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func fed(t *testing.T, cols, rows, limit int, input string) *Screen {
	t.Helper()
	s := NewScreen(cols, rows, limit)
	if n, err := s.Write([]byte(input)); n != len(input) || err != nil {
		t.Fatalf("Write = %d, %v", n, err)
	}
	return s
}

// inputs are fed to a screen of 20 by 5; want is its text.
var inputs = []struct{ name, input, want string }{
	{"plain", "one\r\ntwo\r\n", "one\ntwo\n"},
	{"no final newline", "one\r\ntwo", "one\ntwo"},
	{"empty", "", ""},
	{"only newlines", "\r\n\r\n\r\n", ""},
	{"empty lines inside", "a\r\n\r\n\r\nb\r\n", "a\n\n\nb\n"},
	{"empty lines at the end", "a\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n", "a\n"},
	{"trailing blanks", "a  \t \r\nb   ", "a\nb"},
	{"trailing blanks in history", strings.Repeat("a \t \r\n", 9), strings.Repeat("a\n", 9)},
	{"blank end of a wrapped line", strings.Repeat("a", 20) + strings.Repeat(" ", 30) + "\r\nb", strings.Repeat("a", 20) + "\nb"},
	{"CR progress", " 10%\r 50%\r100%\r\ndone\r\n", "100%\ndone\n"},
	{"CR leaves the rest", "abcdef\rXY\r\n", "XYcdef\n"},
	{"CR and erase", "abcdef\r\x1b[KXY\r\n", "XY\n"},
	{"spinner by BS", "-\b\\\b|\b/\bok\r\n", "ok\n"},
	{"BS stops at column 0", "\b\b\bab", "ab"},
	{"BS at the right edge", strings.Repeat("a", 20) + "\bX", strings.Repeat("a", 18) + "Xa"},
	{"man page bold", "N\bNA\bA", "NA"},
	{"tabs stay tabs", "a\tb\t\tc\r\n", "a\tb\t\tc\n"},
	{"indented by tabs", "all:\r\n\tgo build\r\n", "all:\n\tgo build\n"},
	{"tab over text moves", "abcdefghij\r\tX", "abcdefghXj"},
	{"text over a tab", "\tb\rxy", "xy      b"},
	{"tab at the edge", "a\t\t\t\tb", "a\t\t\tb"},
	{"tab stops", "\x1b[3g\x1b[5G\x1bH\rabcdefgh\r\tX\r\n", "abcdXfgh\n"},
	{"no tab stops", "\x1b[3gabcdefgh\r\tX", "abcdefgh" + strings.Repeat(" ", 11) + "X"},
	{"back tab", "abcdefghijkl\x1b[ZX", "abcdefghXjkl"},
	{"colours", "\x1b[1;31mred\x1b[0m \x1b[38;5;208morange\x1b[m\r\n", "red orange\n"},
	{"soft wrap", strings.Repeat("0123456789", 7) + "\r\n", strings.Repeat("0123456789", 7) + "\n"},
	{"soft wrap through history", strings.Repeat("0123456789", 30) + "\r\nx", strings.Repeat("0123456789", 30) + "\nx"},
	{"exactly the width", strings.Repeat("a", 20) + "\r\nb\r\n", strings.Repeat("a", 20) + "\nb\n"},
	{"rewritten wrapped row", strings.Repeat("a", 25) + "\x1b[A\r" + strings.Repeat("b", 20) + "\r\nc", strings.Repeat("b", 20) + "\ncaaaa"},
	{"erased wrapped row", strings.Repeat("a", 25) + "\x1b[2K\rnew", strings.Repeat("a", 20) + "\nnew"},
	{"wide wraps early", strings.Repeat("a", 19) + "漢字\r\n", strings.Repeat("a", 19) + "漢字\n"},
	{"wide", "漢字かな\r\n", "漢字かな\n"},
	{"half of a wide overwritten", "漢字\rX\r\n", "X 字\n"},
	{"other half overwritten", "漢字\x1b[2GX", " X字"},
	{"half of a wide erased", "漢字\r\x1b[X", "  字"},
	{"other half erased", "漢字\x1b[2G\x1b[X", "  字"},
	{"wide pushed out by half", strings.Repeat("a", 18) + "漢\r\x1b[@b", "b" + strings.Repeat("a", 18)},
	{"half of a wide deleted", "漢字\r\x1b[P", " 字"},
	{"one column each", "éa\x1b[2GX\r\nüa\x1b[2GX\r\n", "éX\nüX\n"},
	{"beyond ASCII, and as narrow", "éü\x1b[2GX\x1b[4Gß˿\rÀ", "ÀX ß˿"},
	{"combining", "e\u0301a\u0308o\r\n", "e\u0301a\u0308o\n"},
	{"combining at the edge", strings.Repeat("a", 19) + "e\u0301\r\nb", strings.Repeat("a", 19) + "e\u0301\nb"},
	{"combining after wide", "漢\u0301x", "漢\u0301x"},
	{"combining at the start", "\u0301x", "x"},
	{"emoji", "👨‍👩‍👧 👍🏽 🇩🇪\r\n", "👨‍👩‍👧 👍🏽 🇩🇪\n"},
	{"invalid UTF-8", "a\xffb\xe2\x82c\xf0\x9f\x98\x1b[mD\x80", "a\ufffdb\ufffd\ufffdc\ufffd\ufffd\ufffdD\ufffd"},
	{"C1 as characters", "a\u009b1mb\u0085c", "a1mbc"},
	{"cut sequence then text", "a\x1b[3\x18b\x1b[\xc3\xa9c", "abéc"},
	{"npm style redraw", "line 1\r\nline 2\r\n\x1b[2A\x1b[2Knew 1\r\n\x1b[2Knew 2\r\nend\r\n", "new 1\nnew 2\nend\n"},
	{"docker style redraw", "a: wait\r\nb: wait\r\n\x1b[1A\x1b[1A\x1b[0G\x1b[2Ka: 50%\x1b[1B\x1b[1B\x1b[0G\x1b[1A\x1b[2Kb: done\x1b[1B\r", "a: 50%\nb: done\n"},
	{"cursor addressing", "\x1b[2;3Hxy\x1b[1;1Hab\x1b[3Ccd", "ab   cd\n  xy"},
	{"columns and rows", "\x1b[3dA\x1b[5GB\x1b[2FC\x1b[1ED", "C\nD\nA   B"},
	{"erase to the start", "abcdef\x1b[3D\x1b[1KX", "   Xef"},
	{"erase below", "a\r\nb\r\nc\x1b[2;1H\x1b[J", "a\n"},
	{"erase above", "a\r\nb\r\nc\x1b[2;1H\x1b[1J", "\n\nc"},
	{"clear", "one\r\ntwo\x1b[H\x1b[2J\x1b[3Jnew\r\n", "new\n"},
	{"clear keeps history", "1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[H\x1b[2Jx", "1\nx"},
	{"clear with history", "1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[H\x1b[2J\x1b[3Jx", "x"},
	{"reset", "1\r\n2\r\n3\r\n4\r\n5\r\n6\x1bcx", "x"},
	{"insert and delete characters", "abcdef\r\x1b[2@XY\x1b[C\x1b[2P", "XYadef"},
	{"erase characters", "abcdef\r\x1b[3X", "   def"},
	{"deleted and written", "abcdef\r\x1b[2PY", "Ydef"},
	{"erased and written", "abcdef\r\x1b[3XY", "Y  def"},
	{"erased to both sides and written", "abcdef\x1b[3D\x1b[1KX\x1b[KY", "   XY"},
	{"page erased and written", "ab\x1b[2Jc", "  c"},
	{"insert mode", "world\r\x1b[4hhello \x1b[4l", "hello world"},
	{"insert pushes out", strings.Repeat("a", 20) + "\r\x1b[2@bb", "bb" + strings.Repeat("a", 18)},
	{"insert and delete lines", "a\r\nb\r\nc\r\n\x1b[2;1H\x1b[Lx\r\n\x1b[M", "a\nx\nc"},
	{"repeat", "ab\x1b[3b", "abbbb"},
	{"no autowrap", "\x1b[?7l" + strings.Repeat("a", 20) + "bc\x1b[?7h", strings.Repeat("a", 19) + "c"},
	{"scroll region at the top is history", "\x1b[5;1Hbar\x1b[1;4r\x1b[4;1Ha\r\nb\r\nc\r\nd\r\ne", "\n\n\na\nb\nc\nd\ne\nbar"},
	{"scroll region in the middle is not", "top\x1b[2;3r\x1b[2;1Ha\r\nb\r\nc", "top\nb\nc"},
	{"up to the top of a scroll region", "\x1b[2;4r\x1b[3;1H\x1b[9AX", "\nX"},
	{"up from above a scroll region", "\x1b[3;4r\x1b[2;1H\x1b[9AX", "X"},
	{"down to the bottom of a scroll region", "\x1b[2;3r\x1b[2;1H\x1b[9BX", "\n\nX"},
	{"down from below a scroll region", "\x1b[2;3r\x1b[4;1H\x1b[9BX", "\n\n\n\nX"},
	{"origin mode", "\x1b[3;4r\x1b[?6h\x1b[1;1Hx", "\n\nx"},
	{"scroll up and down", "a\r\nb\x1b[S\x1b[T", "a\n\nb"},
	{"reverse line feed", "a\x1b[H\x1bMb", "b\na"},
	{"save and restore", "ab\x1b7\x1b[5;5H\x1b8c\x1b[s\x1b[9;9H\x1b[ud", "abcd"},
	{"newline mode", "\x1b[20ha\nb\nc", "a\nb\nc"},
	{"line feed alone", "a\nb", "a\n b"},
	{"next line", "a\x1bEb\x1bDc", "a\nb\n c"},
	{"alternate page", "before\r\n\x1b[?1049h\x1b[2J\x1b[Hfull\r\nscreen\x1b[?1049lafter\r\n", "before\nafter\n"},
	{"alternate page scrolls away nothing", "before\r\n\x1b[?1049h" + strings.Repeat("x\r\n", 50) + "\x1b[?1049lafter\r\n", "before\nafter\n"},
	{"alternate page shown", "before\r\n\x1b[?1049h\x1b[Hfull\r\nscreen", "before\nfull\nscreen"},
	{"another page at the edge", strings.Repeat("a", 20) + "\x1b[?1047hX", strings.Repeat("a", 20) + "\n" + strings.Repeat(" ", 19) + "X"},
	{"leaving a page never entered", "a\r\nb\x1b[?1049lc", "a\nbc"},
	{"scrolled up by more than a region has", "top\x1b[2;3r\x1b[2;1Ha\r\nb\x1b[9S\x1b[4;1Hend", "top\n\n\nend"},
	{"scrolled down by more than a region has", "top\x1b[2;3r\x1b[2;1Ha\r\nb\x1b[9T\x1b[4;1Hend", "top\n\n\nend"},
	{"more lines deleted than a region has", "a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[2;1H\x1b[9M", "a\n\n\nd"},
	{"lines at the ends of a region", "a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\x1b[Lx\x1b[2;1H\x1b[My", "a\ny\n\nd"},
	{"lines in the middle of a region", "a\r\nb\r\nc\r\nd\r\ne\x1b[2;4r\x1b[3;1H\x1b[Lx\x1b[2;1H\x1b[M", "a\nx\nc\n\ne"},
	{"the last line of a region deleted", "a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\x1b[M", "a\nb\n\nd"},
	{"lines outside of a region", "a\r\nb\r\nc\r\nd\r\ne\x1b[2;4r\x1b[5;2H\x1b[L\x1b[My\x1b[1;2H\x1b[L\x1b[Mx", "ax\nb\nc\nd\ney"},
	{"no region at all", "a\x1b[3;2rb\x1b[9;9rc", "abc"},
	{"the region of the other page", "\x1b[?1049h\x1b[2;3r\x1b[?1049l1\r\n2\r\n3\r\n4\r\n5\r\n6", "1\n2\n3\n4\n5\n6"},
	{"older alternate pages", "a\x1b[?47h\x1b[Hb\x1b[?47l\rc\x1b[?1047h\x1b[Hd\x1b[?1047l\re", "e"},
	{"deleted at the edge", strings.Repeat("a", 20) + "\x1b[Pb\rX", "X" + strings.Repeat("a", 18) + "b"},
	{"erased at the edge", strings.Repeat("a", 20) + "\x1b[Xb\rX", "X" + strings.Repeat("a", 18) + "b"},
	{"inserted at the edge", strings.Repeat("a", 20) + "\x1b[@b\rX", "X" + strings.Repeat("a", 18) + "b"},
	{"line erased at the edge", strings.Repeat("a", 20) + "\x1b[Kb\rX", "X" + strings.Repeat("a", 18) + "b"},
	{"page erased at the edge", strings.Repeat("a", 20) + "\x1b[Jb\rX", "X" + strings.Repeat("a", 18) + "b"},
	{"line feed at the edge", strings.Repeat("a", 20) + "\nb", strings.Repeat("a", 20) + "\n" + strings.Repeat(" ", 19) + "b"},
	{"strings are skipped", "a\x1b]0;title ✓\x07b\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1bPq#0\x1b\\\x1b_apc\x1b\\c", "ablinkc"},
	{"private and unknown sequences", "\x1b[?25l\x1b[?2004h\x1b[>4;2m\x1b[6n\x1b[c\x1b[!pa\x1b=\x1b>\x1b#8b", "ab"},
	{"line drawing", "\x1b(0lqk\x1b(B\r\n\x0ex\x0f", "┌─┐\nx"},
	{"line drawing at its ends", "\x1b(0`~\x1b(Bq", "◆·q"},
	{"line drawing of the other set", "\x1b)0q\x0eqx\x0fq", "q─│q"},
	{"wide over others", "abc\r漢", "漢c"},
	{"a region set moves home", "ab\x1b[2;3rc", "cb"},
	{"origin mode moves home", "\x1b[3;4rab\x1b[?6hc\x1b[?6ld", "db\n\nc"},
	{"a region of one line", "ab\x1b[1;1rc", "abc"},
	{"reverse line feed below the top", "a\r\nb\x1bMc", "ac\nb"},
	{"other names of moves", "a\x1b[2eb\x1b[3ac\x1b[2`d\x1b[4;2fe", "a\n\n d   c\n e"},
	{"forward tabs", "\x1b[2Ia", "\t\ta"},
	{"back tabs", "abcdefghijklmnopqr\x1b[2ZX", "abcdefghXjklmnopqr"},
	{"a tab stop removed", "\x1b[9G\x1b[g\rabc\r\tX", "abc" + strings.Repeat(" ", 13) + "X"},
	{"a tab behind the edge", strings.Repeat("a", 20) + "\tb", strings.Repeat("a", 20) + "b"},
	{"soft reset of the insert mode", "ab\r\x1b[4h\x1b[!pX", "Xb"},
	{"soft reset of the region", "\x1b[2;3r\x1b[!p\x1b[5;1Ha\r\nb", "\n\n\n\na\nb"},
	{"soft reset of autowrap", "\x1b[?7l\x1b[!p" + strings.Repeat("a", 20) + "b", strings.Repeat("a", 20) + "b"},
	{"soft reset where the cursor is", "ab\x1b[!pc", "abc"},
	{"erased as if protected", "abcdef\x1b[3D\x1b[?1KX", "   Xef"},
	{"erased below as if protected", "ab\r\nc\x1b[1;2H\x1b[?J", "a"},
	{"moved beyond all edges", "\x1b[99;99Hx\x1b[99A\x1b[99Dy", "y\n\n\n\n" + strings.Repeat(" ", 19) + "x"},
	{"below the region in origin mode", "\x1b[3;4r\x1b[?6h\x1b[9;2Hx", "\n\n\n x"},
	{"a row in origin mode", "\x1b[3;4r\x1b[?6h\x1b[2dx", "\n\n\nx"},
	{"origin mode left", "\x1b[3;4r\x1b[?6h\x1b[?6lx", "x"},
	{"another page entered twice", "ab\x1b[?1049h\x1b[?1049hX\x1b[?1049lc", "abc"},
	{"scrolled up by several", "a\r\nb\r\nc\x1b[2S\x1b[2;1Hd", "a\nb\nc\nd"},
	{"scrolled down by several", "a\x1b[2T\rb", "b\n\na"},
	{"repeat after a reset", "a\x1bc\x1b[3bx", "x"},
	{"down and up to the beginning", "ab\x1b[2Ecd\x1b[Fe", "ab\ne\ncd"},
	{"newline mode left", "\x1b[20h\x1b[20la\nb", "a\n b"},
	{"the cursor of each page", "ab\x1b7\r\n\x1b[?47h\x1b7\x1b[?47l\x1b8c", "abc"},
	{"end of a wrapped row erased", strings.Repeat("a", 25) + "\x1b[1;5H\x1b[K", "aaaa\naaaaa"},
	{"inserted more than there is room for", "abcdef\x1b[3D\x1b[99@X", "abcX"},
	{"inserted within a wide one", "漢字\x1b[2G\x1b[@X", " X 字"},
	{"deleted from within a wide one", "漢字\x1b[2G\x1b[P", " 字"},
	{"combining on a blank", "a \u0301", "a \u0301"},
	{"a line inserted from its middle", "ab\r\ncd\x1b[Lx", "ab\nx\ncd"},
	{"a line deleted from its middle", "ab\r\ncd\r\nef\x1b[2;2H\x1b[Mx", "ab\nxf"},
	{"a region beyond the bottom", "\x1b[2;99r\x1b[2;1Ha\r\nb\r\nc\r\nd\r\ne", "\nb\nc\nd\ne"},
	{"a region down to the bottom", "\x1b[2r\x1b[2;1Ha\r\nb\r\nc\r\nd\r\ne", "\nb\nc\nd\ne"},
	{"soft reset in a later row", "a\r\nb\x1b[!pc", "a\nbc"},
	{"sequences of other kinds", "ab\x1b[>Dc\x1b[1 Dd\x1b%Ee", "abcde"},
	{"bell", "a\ab\x00c", "abc"},
	{"absurd numbers", "a\x1b[99999999999999999999999999Cb\x1b[999999999Dc\x1b[;;;m\x1b[38;5m\x1b[38md", "cd                 b"},
}

func TestText(t *testing.T) {
	for _, test := range inputs {
		t.Run(test.name, func(t *testing.T) {
			got, truncated := fed(t, 20, 5, 0, test.input).Text()
			if got != test.want || truncated {
				t.Errorf("Text() = %q, %t, want %q", got, truncated, test.want)
			}
		})
	}
}

// snapshot is all that can be seen of a screen.
func snapshot(s *Screen) any {
	text, truncated := s.Text()
	lines, total := s.Tail(1 << 20)
	return fmt.Sprint(text, truncated, lines, total, s.x, s.y, s.pendingWrap, s.style)
}

func TestCutsDoNotMatter(t *testing.T) {
	all := ""
	for _, test := range inputs {
		all += test.input
		whole := snapshot(fed(t, 20, 5, 64, test.input))
		bytewise := NewScreen(20, 5, 64)
		for i := range len(test.input) {
			bytewise.Write([]byte{test.input[i]})
		}
		if got := snapshot(bytewise); got != whole {
			t.Errorf("%s: byte by byte:\n%v\nwhole:\n%v", test.name, got, whole)
		}
		for i := range len(test.input) {
			s := fed(t, 20, 5, 64, test.input[:i])
			s.Write([]byte(test.input[i:]))
			if got := snapshot(s); got != whole {
				t.Fatalf("%s: cut at %d:\n%v\nwhole:\n%v", test.name, i, got, whole)
			}
		}
	}
}

func FuzzScreen(f *testing.F) {
	for _, test := range inputs {
		f.Add([]byte(test.input))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		whole := fed(t, 20, 5, 100, string(input))
		bytewise := NewScreen(20, 5, 100)
		for i := range input {
			bytewise.Write(input[i : i+1])
		}
		if a, b := snapshot(whole), snapshot(bytewise); a != b {
			t.Fatalf("whole:\n%v\nbyte by byte:\n%v", a, b)
		}
		text, _ := whole.Text()
		if !utf8.ValidString(text) || len(text) > 100 {
			t.Fatalf("text %q", text)
		}
		lines, total := whole.Tail(10)
		if len(lines) > 10 || total < len(lines) {
			t.Fatalf("%d of %d lines", len(lines), total)
		}
		for _, page := range []*grid{whole.main, whole.alternate} {
			for _, r := range page.rows {
				checkRow(t, r, 20)
			}
		}
		for _, line := range lines {
			end := 0
			for _, span := range line.Spans {
				if span.Col < end || span.EndCol <= span.Col || span.EndCol > len(line.Text) || span.Style == (Style{}) {
					t.Fatalf("spans of %q: %+v", line.Text, line.Spans)
				}
				end = span.EndCol
			}
		}
	})
}

// checkRow fails unless every wide character is whole.
func checkRow(t *testing.T, r *row, cols int) {
	if len(r.cells) > cols {
		t.Fatalf("row of %d columns", len(r.cells))
	}
	for i := 0; i < len(r.cells); {
		width := int(r.cells[i].width)
		if width == 0 || i+width > len(r.cells) {
			t.Fatalf("column %d: half a character: %+v", i, r.cells)
		}
		for j := 1; j < width; j++ {
			if r.cells[i+j].width != 0 {
				t.Fatalf("column %d: half a character: %+v", i, r.cells)
			}
		}
		i += width
	}
}

func TestLimit(t *testing.T) {
	tests := []struct {
		name, input string
		limit       int
		want        string
		truncated   bool
	}{
		{"below", "abc\r\n", 4, "abc\n", false},
		{"one over", "abcd\r\n", 4, "bcd\n", true},
		{"inside a character", "xäöü", 5, "öü", true},
		{"on a boundary", "xäöü", 6, "äöü", true},
		{"inside an emoji", "ab😀c", 4, "c", true},
		{"before a combining mark", "xe\u0301y", 3, "y", true},
		{"lines", "one\r\ntwo\r\nthree\r\n", 10, "two\nthree\n", true},
	}
	for _, test := range tests {
		got, truncated := fed(t, 20, 5, test.limit, test.input).Text()
		if got != test.want || truncated != test.truncated {
			t.Errorf("%s: Text() = %q, %t, want %q, %t", test.name, got, truncated, test.want, test.truncated)
		}
	}

	// History is cut too, at a character as well.
	const limit = 1001
	s := NewScreen(20, 5, limit)
	line := []byte("äöüäöüäöü\r\n")
	for range 20_000 {
		s.Write(line)
	}
	text, truncated := s.Text()
	whole := strings.Repeat("äöüäöüäöü\n", 100)
	if !truncated || !utf8.ValidString(text) || len(text) < limit-1 || !strings.HasSuffix(whole, text) {
		t.Errorf("history: %t, %d bytes: %q", truncated, len(text), text)
	}
	if !s.history.cut {
		t.Error("history was never cut")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	floods := map[string]string{
		"short lines":   "y\r\n",
		"empty lines":   "\r\n",
		"one long line": "0123456789 ",
		"coloured":      "\x1b[31mr\x1b[32mg\x1b[34mb\x1b[0m\r\n",
		"combining":     "\u0301",
		"a string":      "\x1b]0;endless",
		"numbers":       "\x1b[1;2;3;4;5;6;7;8;9",
	}
	for name, flood := range floods {
		s := fed(t, columns, rows, 10_000, "e")
		chunk := []byte(strings.Repeat(flood, 20_000/len(flood)))
		for range 20 {
			s.Write(chunk)
		}
		if c := cap(s.history.text); c > 200_000 {
			t.Errorf("%s: %d bytes of text", name, c)
		}
		if n := len(s.history.recent); n > recentRows {
			t.Errorf("%s: %d rows", name, n)
		}
		for _, r := range s.main.rows {
			for _, c := range r.cells {
				if len(c.marks) > maxMarks+utf8.UTFMax {
					t.Errorf("%s: %d bytes of marks", name, len(c.marks))
				}
			}
		}
	}
}

func TestTail(t *testing.T) {
	s := NewScreen(20, 5, 0)
	for i := range 1000 {
		fmt.Fprintf(s, "line %d\r\n", i)
	}
	lines, total := s.Tail(7)
	if total != 1000 || len(lines) != 7 {
		t.Fatalf("%d of %d lines", len(lines), total)
	}
	for i, line := range lines {
		if want := fmt.Sprintf("line %d", 993+i); line.Text != want || line.Spans != nil {
			t.Errorf("line %d = %+v, want %q", i, line, want)
		}
	}
	lines, _ = s.Tail(10_000)
	if len(lines) != recentRows+4 || lines[0].Text != fmt.Sprint("line ", 1000-len(lines)) {
		t.Errorf("%d lines kept, from %q", len(lines), lines[0].Text)
	}

	// A wide line is one, wherever its rows are; of a very long one only the end is joined.
	long := strings.Repeat("0123456789", 5)
	for _, rows := range []int{2, 5} {
		lines, total = fed(t, 20, rows, 0, "a\r\n"+long+"\r\nb").Tail(2)
		if total != 3 || len(lines) != 2 || lines[0].Text != long || lines[1].Text != "b" {
			t.Errorf("wrapped, in %d rows: %d, %+v", rows, total, lines)
		}
	}
	lines, _ = fed(t, 20, 5, 0, strings.Repeat(long, 20)).Tail(2)
	if len(lines) != 2 || len(lines[0].Text) != 400 || len(lines[1].Text) != joinedCells {
		t.Errorf("a very long line: %+v", lines)
	}
	fmt.Fprint(s, strings.Repeat(long, 20*recentRows)) // its end alone is kept
	if _, total = s.Tail(2); total != 1001 {
		t.Errorf("%d lines", total)
	}

	if lines, total = NewScreen(20, 5, 0).Tail(3); lines != nil || total != 0 {
		t.Errorf("empty: %d, %+v", total, lines)
	}

	lines, total = fed(t, 20, 5, 0, "main\r\n\x1b[?1049h\x1b[Hfull").Tail(5)
	if total != 2 || len(lines) != 2 || lines[1].Text != "full" {
		t.Errorf("alternate: %d, %+v", total, lines)
	}
	lines, total = fed(t, 20, 5, 0, "main\r\n\x1b[?1049h\x1b[Hfull\x1b[?1049l").Tail(5)
	if total != 1 || len(lines) != 1 || lines[0].Text != "main" {
		t.Errorf("after the alternate page: %d, %+v", total, lines)
	}
}

func TestStyles(t *testing.T) {
	red, bold := Style{FG: Palette(1)}, Style{Bold: true}
	tests := []struct {
		name, input string
		want        Line
	}{
		{"ansi", "a\x1b[31mrot\x1b[39mb", Line{"arotb", []Span{{1, 4, red}}}},
		{"byte columns", "ä\x1b[31mö漢\x1b[mx", Line{"äö漢x", []Span{{2, 7, red}}}},
		{"joined spans", "\x1b[31ma\x1b[0m\x1b[31mb", Line{"ab", []Span{{0, 2, red}}}},
		{"bright", "\x1b[91;102mx", Line{"x", []Span{{0, 1, Style{FG: Palette(9), BG: Palette(10)}}}}},
		{"256", "\x1b[38;5;208;48;5;17mx", Line{"x", []Span{{0, 1, Style{FG: Palette(208), BG: Palette(17)}}}}},
		{"rgb", "\x1b[38;2;1;2;3;1mx", Line{"x", []Span{{0, 1, Style{FG: RGB(1, 2, 3), Bold: true}}}}},
		{"rgb by colons", "\x1b[38:2:1:2:3mx\x1b[0;38:2::4:5:6mx", Line{"xx", []Span{{0, 1, Style{FG: RGB(1, 2, 3)}}, {1, 2, Style{FG: RGB(4, 5, 6)}}}}},
		{"256 by colons", "\x1b[48:5:208mx", Line{"x", []Span{{0, 1, Style{BG: Palette(208)}}}}},
		{"underline colour is none", "\x1b[58;5;1;1mx", Line{"x", []Span{{0, 1, bold}}}},
		{"no number of an underline's colour", "\x1b[58;5;3mx\x1b[58:2::3:4:7my", Line{"xy", nil}},
		{"spans apart", "\x1b[31ma\x1b[mb\x1b[31mc", Line{"abc", []Span{{0, 1, red}, {2, 3, red}}}},
		{"double underline", "\x1b[21mx", Line{"x", []Span{{0, 1, Style{Underline: true}}}}},
		{"saved and restored", "\x1b[31m\x1b7\x1b[m\x1b8x\x1b[1;39m\x1b[s\x1b[m\x1b[uy", Line{"xy", []Span{{0, 1, red}, {1, 2, bold}}}},
		{"after a soft reset", "\x1b[1m\x1b[!px", Line{"x", nil}},
		{"inserted with a background", "\x1b[41mab\r\x1b[@", Line{" ab", []Span{{0, 3, Style{BG: Palette(1)}}}}},
		{"erased behind a colour", "\x1b[31;41mx\x1b[K", Line{"x" + strings.Repeat(" ", 19), []Span{
			{0, 1, Style{FG: Palette(1), BG: Palette(1)}}, {1, 20, Style{BG: Palette(1)}},
		}}},
		{"attributes", "\x1b[1;3;4;7;9mx", Line{"x", []Span{{0, 1, Style{Bold: true, Italic: true, Underline: true, Reverse: true, Strikethrough: true}}}}},
		{"attributes off", "\x1b[1;3;4;7;9;31;41m\x1b[22;23;24;27;29;39;49mx", Line{"x", nil}},
		{"a number left out", "\x1b[1;31;;3mx", Line{"x", []Span{{0, 1, Style{Italic: true}}}}},
		{"curly underline", "\x1b[4:3mx\x1b[4:0my", Line{"xy", []Span{{0, 1, Style{Underline: true}}}}},
		{"what is not shown", "\x1b[5;53;1mx", Line{"x", []Span{{0, 1, bold}}}},
		{"no colour that can be shown", "\x1b[31;38:1mx", Line{"x", []Span{{0, 1, red}}}},
		{"scrolled in with a background", "\x1b[41m" + strings.Repeat("\r\n", 5) + "x", Line{"x" + strings.Repeat(" ", 19), []Span{{0, 20, Style{BG: Palette(1)}}}}},
		{"blanks trimmed", "\x1b[31mx   ", Line{"x", []Span{{0, 1, red}}}},
		{"shown blanks stay", "\x1b[41mx  \x1b[m  ", Line{"x  ", []Span{{0, 3, Style{BG: Palette(1)}}}}},
		{"erased with a background", "\x1b[41m\x1b[Kx", Line{"x" + strings.Repeat(" ", 19), []Span{{0, 20, Style{BG: Palette(1)}}}}},
		{"tabs as blanks", "a\t\x1b[31mb", Line{"a       b", []Span{{8, 9, red}}}},
		{"combining", "\x1b[31me\u0301", Line{"e\u0301", []Span{{0, 3, red}}}},
	}
	for _, test := range tests {
		lines, _ := fed(t, 20, 5, 0, test.input).Tail(1)
		if len(lines) != 1 || !reflect.DeepEqual(lines[0], test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, lines, test.want)
		}
	}
}

// The sixteen colours have a number each, for text and for the background.
func TestColorNumbers(t *testing.T) {
	for first, want := range map[int]Style{30: {FG: Palette(0)}, 90: {FG: Palette(8)}, 40: {BG: Palette(0)}, 100: {BG: Palette(8)}} {
		for i := range 8 {
			style := want
			if style.FG != 0 {
				style.FG += Color(i)
			} else {
				style.BG += Color(i)
			}
			lines, _ := fed(t, 20, 5, 0, fmt.Sprintf("\x1b[%dmx", first+i)).Tail(1)
			if len(lines) != 1 || len(lines[0].Spans) != 1 || lines[0].Spans[0].Style != style {
				t.Errorf("%d is %+v", first+i, lines)
			}
		}
	}
}

func TestColor(t *testing.T) {
	if i, ok := Palette(208).Palette(); !ok || i != 208 {
		t.Errorf("Palette: %d, %t", i, ok)
	}
	if r, g, b, ok := RGB(1, 2, 3).RGB(); !ok || r != 1 || g != 2 || b != 3 {
		t.Errorf("RGB: %d, %d, %d, %t", r, g, b, ok)
	}
	if _, ok := RGB(1, 2, 3).Palette(); ok {
		t.Error("RGB is in the palette")
	}
	if _, _, _, ok := Color(0).RGB(); ok {
		t.Error("the default is RGB")
	}
}

func BenchmarkScreen(b *testing.B) {
	flows := []struct{ name, line string }{
		{"plain", "2026-11-20 12:00:00 INFO building package number one hundred and three\r\n"},
		{"colour", "\x1b[32mok\x1b[0m \x1b[1;34mpkg/name\x1b[0m built in \x1b[38;5;208m1.2s\x1b[0m with no warnings at all\r\n"},
		{"progress", "\r\x1b[2K[=====>    ] 50% compiling"},
		{"short", "y\r\n"},
		{"wide", "漢字かな交じり文の長い行です\r\n"},
		{"one line", "0123456789 abcdefghijklmnopqrstuvwxyz "},
	}
	for _, flow := range flows {
		b.Run(flow.name, func(b *testing.B) {
			chunk := []byte(strings.Repeat(flow.line, 1+4096/len(flow.line)))
			s := NewScreen(columns, rows, 0)
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				s.Write(chunk)
			}
		})
	}
}
