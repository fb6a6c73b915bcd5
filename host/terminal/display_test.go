package terminal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// readAll reads what a reader has not read, in pieces.
func readAll(d *Display, r *Reader) (text string, anew bool) {
	for more := true; more; {
		var data []byte
		var reset bool
		data, reset, more = d.Read(r, 1000)
		if reset {
			text, anew = "", true
		}
		text += string(data)
	}
	return text, anew
}

// shown is the text of a display's lines.
func shown(d *Display) string {
	var text []string
	lines, _ := d.Tail(1 << 20)
	for _, l := range lines {
		text = append(text, l.Text)
	}
	return strings.Join(text, "\n")
}

func TestDisplayOfTheAgent(t *testing.T) {
	d := NewDisplay()
	var r Reader
	check := func(want, read string, anewWanted bool) {
		t.Helper()
		got, anew := readAll(d, &r)
		if s := shown(d); s != want || got != read || anew != anewWanted {
			t.Fatalf("shows %q, read %q, anew %t", s, got, anew)
		}
	}
	check("", "", false)
	d.Write([]byte("caf\xc3"), true)
	d.Write([]byte("\xa9\n\x1b[3"), true)
	check("café", "café\r\n", false)
	d.Write([]byte("1mred\nx"), true)
	check("café\nred\nx", "\x1b[31mred\r\nx", false)
	d.Write([]byte("\n  y"), false)
	check("café\nred\nx\n   y", "\n  y", false) // of a terminal, which moves down only
	whole := []byte("café\n\x1b[31mred\nx\n  y")
	d.Replace(append(whole, " more"...), false)
	check("café\nred\nx\n   y more", " more", false)
	d.Replace([]byte("new\r\n"), false)
	check("new", "new\r\n", true)
	d.Replace(nil, false)
	check("", "", true)
	d.Replace([]byte("a"), false)
	check("a", "a", false)
	d.Replace([]byte("b"), false)
	check("b", "b", true)
}

func TestReaderFallsBehind(t *testing.T) {
	d := newDisplay(0)
	var r Reader
	d.Write([]byte("begin\r\n"), false)
	if got, _ := readAll(d, &r); got != "begin\r\n" {
		t.Fatalf("read %q", got)
	}
	line := strings.Repeat("x", 97) + "\r\n"
	n := 3 << 20 / len(line)
	d.Write([]byte(strings.Repeat(line, n)+"end"), false)
	got, anew := readAll(d, &r)
	if anew || !strings.HasPrefix(got, resync+"\r\n\x1b[2m[… ") || !strings.HasSuffix(got, "x\r\nend") || len(got) > newest+blockSize {
		t.Errorf("%d bytes were read: %.100q", len(got), got)
	}
	_, lines, _ := strings.Cut(got, "…]\x1b[m\r\n")
	if !strings.HasPrefix(lines, line) {
		t.Errorf("it goes on with %.120q", lines)
	}
	var late Reader
	if got, _ = readAll(d, &late); !strings.HasPrefix(got, "\r\n\x1b[2m[… 2") || len(got) < 1<<20*3/4 || len(got) > 1<<20+2*blockSize {
		t.Errorf("%d bytes were read: %.100q", len(got), got)
	}
	d.Write([]byte("\x1b[?1049h"+strings.Repeat(line, n)), false)
	if got, _ = readAll(d, &r); !strings.Contains(got, "…]\x1b[m\r\n\x1b[?1049h"+line) {
		t.Errorf("on the alternate page %.200q was read", got)
	}
	if got, _ = readAll(d, &Reader{}); !strings.HasPrefix(got, gap(d.tape.start)+"\x1b[?1049h"+line) {
		t.Errorf("on the alternate page a late reader read %.200q", got)
	}
}

// What has no characters is kept like text.
func TestAFloodOfNoCharacters(t *testing.T) {
	d := newDisplay(0)
	in := strings.Repeat("\x80", 2*blockSize+7)
	d.Write([]byte(in), false)
	if got, _ := readAll(d, &Reader{}); got != in {
		t.Errorf("%d bytes were read, not %d", len(got), len(in))
	}
}

// Nobody sees more than the end of a flood.
func TestFloodOfTheAgent(t *testing.T) {
	d := NewDisplay()
	for i := range 300_000 {
		d.Write(fmt.Appendf(nil, "line %d\n", i), true)
		if len(d.pending) > 3*behind {
			t.Fatalf("%d bytes wait", len(d.pending))
		}
	}
	lines, total := d.Tail(2)
	if len(lines) != 2 || lines[1].Text != "line 299999" || total < 299_990 || total > 300_010 {
		t.Errorf("%d lines: %v", total, lines)
	}
	var r Reader
	got, _ := readAll(d, &r)
	if !strings.HasSuffix(got, "line 299998\r\nline 299999\r\n") || !strings.Contains(got, "are not shown") {
		t.Errorf("%d bytes were read: %.100q", len(got), got)
	}
}

func TestQueriesAreAskedOnce(t *testing.T) {
	d := newDisplay(0)
	var r Reader
	d.Write([]byte("a\x1b[6n"), false)
	d.Answering(true)
	d.Write([]byte("b\x1b[6nc\x1b[c"), false)
	if got, _ := readAll(d, &r); got != "ab\x1b[6nc\x1b[c" {
		t.Errorf("read %q", got)
	}
	d.Write([]byte("\x1b[5n"), false)
	if got, _ := readAll(d, &r); got != "\x1b[5n" {
		t.Errorf("read %q", got)
	}
	d.Write([]byte("d\x1b[5n"), false)
	d.Answering(false)
	if got, _ := readAll(d, &r); got != "d" {
		t.Errorf("read %q", got)
	}
	r = Reader{}
	if got, _ := readAll(d, &r); got != "abcd" {
		t.Errorf("read again: %q", got)
	}
}

func TestEpilogue(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a\r\n", "\r\x1b[2mend\x1b[m"},
		{"a", "\r\n\x1b[2mend\x1b[m"},
		{"\x1b[?1049ha", "\x1b[?1049l\r\x1b[2mend\x1b[m"},
	}
	for _, test := range tests {
		d := newDisplay(0)
		d.Write([]byte(test.in), false)
		check.Equal(t, string(d.Epilogue("end")), calm+"\x1b7\x1b[r\x1b8"+test.want, "%q: %q", test.in)
	}
}

// Text stays as it is, whatever sizes the screen had while it was written.
func TestEpilogueIsBelowAllOutput(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    "end",
		"a\r\n\r\n":                           "a\n\nend",
		"one\r\ntwo\r\nthree\x1b[2A\r":        "one\ntwo\nthree\nend",
		"50%\r":                               "50%\nend",
		"a\x1b[3;5H":                          "a\n\nend",
		"a\r\nb\x1b[H\x1b[?1049hc\r\nd\x1b[H": "a\nb\nend",
	} {
		for _, d := range []*Display{newDisplay(0), NewDisplay()} {
			d.Write([]byte(in), false)
			data, _, _ := d.Read(&Reader{}, 1000)
			other := NewScreen(columns, rows, 0)
			_, _ = other.Write(append(data, d.Epilogue("end")...))
			got, _ := other.Text()
			if d.lazy {
				got, want = strings.ReplaceAll(got, "\n", ""), strings.ReplaceAll(want, "\n", "")
			}
			check.Equal(t, got, want, "of %q is shown %q", in)
		}
	}
}

func TestResizeKeepsTheText(t *testing.T) {
	words := []string{"word ", "漢字", "x", "\x1b[31mred\x1b[m ", "\r\n", "\r\n\r\n", "é", strings.Repeat("long", 30), "  "}
	for seed := range 300 {
		rnd := rand.New(rand.NewPCG(uint64(seed), 1))
		fixed, resized := NewScreen(80, 10, 0), NewScreen(80, 10, 0)
		var sizes []string
		for range 60 {
			word := []byte(words[rnd.IntN(len(words))])
			fixed.Write(word)
			resized.Write(word)
			if rnd.IntN(4) == 0 {
				cols, rows := 10+rnd.IntN(120), 2+rnd.IntN(30)
				resized.Resize(cols, rows)
				sizes = append(sizes, fmt.Sprint(cols, "x", rows))
				for _, r := range resized.main.rows {
					checkRow(t, r, cols)
				}
			}
		}
		want, _ := fixed.Text()
		if got, _ := resized.Text(); got != want {
			from := 0
			for from < min(len(got), len(want)) && got[from] == want[from] {
				from++
			}
			t.Fatalf("seed %d, sizes %v: after %d bytes …%q, want …%q", seed, sizes, from, got[from:], want[from:])
		}
	}
}

func TestResize(t *testing.T) {
	s := NewScreen(20, 5, 0)
	s.Write([]byte("1\r\n2\r\n3\r\n\x1b[44mabcdefghij\tklm\x1b[m"))
	s.Resize(10, 2)
	if lines, total := s.Tail(10); total != 4 || lines[3].Text != "abcdefghij      klm" {
		t.Errorf("%d lines: %v", total, lines)
	}
	s.Write([]byte("\r\n4"))
	if text, _ := s.Text(); text != "1\n2\n3\nabcdefghij\tklm\n4" {
		t.Errorf("the text is %q", text)
	}
	s.Write([]byte("\x1b[?1049h\x1b[2;9Hab"))
	s.Resize(30, 8)
	s.Write([]byte("\x1b[8;29Hzz"))
	s.Resize(12, 3)
	s.Write([]byte("\x1b[?1049l"))
	if text, _ := s.Text(); text != "1\n2\n3\nabcdefghij\tklm\n4" {
		t.Errorf("the text is %q", text)
	}
}

// A page of a program that has the whole screen keeps the rows up to its cursor, and what is written then is there.
func TestResizeOfAWholeScreen(t *testing.T) {
	for _, c := range []struct {
		at         int // the cursor's row
		cols, rows int
		want       string
	}{
		{1, 20, 2, "X1\nrow 2"},
		{2, 20, 2, "row 1\nX2"},
		{3, 20, 2, "row 2\nX3"},
		{5, 20, 3, "row 3\nrow 4, cut here\nX5"},
		{5, 10, 2, "row 4, cut\nX5"},
		{2, 20, 7, "row 1\nX2\nrow 3\nrow 4, cut here\nrow 5"},
	} {
		s := NewScreen(20, 5, 0)
		s.Write([]byte("\x1b[?1049h\x1b[Hrow 1\r\nrow 2\r\nrow 3\r\nrow 4, cut here\r\nrow 5"))
		s.Write(fmt.Appendf(nil, "\x1b[%d;1H", c.at))
		s.Resize(c.cols, c.rows)
		s.Write(fmt.Appendf(nil, "\x1b[2KX%d", c.at))
		text, _ := s.Text()
		check.Equal(t, text, c.want, "with the cursor in row %d, %d by %d it is %q", c.at, c.cols, c.rows)
	}
}

// What is written after a change of size goes where it would have gone.
func TestResizeKeepsTheCursor(t *testing.T) {
	for _, in := range []string{"ab\x1b[15C", "ab\r\n12345678901234567890", "abc\b\b", "12345678901234567890\x1b[12G", "漢字漢字漢字漢字漢字"} {
		fixed, resized := NewScreen(20, 5, 0), NewScreen(20, 5, 0)
		for _, s := range []*Screen{fixed, resized} {
			s.Write([]byte(in))
			if s == resized {
				s.Resize(11, 3)
				s.Resize(15, 4)
			}
			s.Write([]byte("X"))
		}
		want, _ := fixed.Text()
		if got, _ := resized.Text(); got != want {
			t.Errorf("%q becomes %q, not %q", in, got, want)
		}
	}
}

func TestResizeReachesTheCommand(t *testing.T) {
	term := sh(t, `trap 'stty size < /dev/tty; exit' WINCH; stty size < /dev/tty; while :; do sleep 0.01; done`)
	eventually(t, "the first size", func() bool { return term.Output().Text == "40 120\n" })
	term.Resize(100, 30)
	check.Equal(t, wait(t, term).Text, "40 120\n30 100\n", "output %q")
	term.Close(0)
	term.Resize(80, 20) // does nothing to a closed one
	term.Type([]byte("x"))
}

func TestType(t *testing.T) {
	term := sh(t, `trap 'echo caught; exit 4' INT; read name < /dev/tty; echo "hello $name"; while :; do sleep 0.01; done`)
	term.Type([]byte("B"))
	term.Type([]byte("ob\r"))
	eventually(t, "the answer", func() bool { return strings.Contains(term.Output().Text, "hello Bob") })
	term.Type([]byte{3})
	if got := wait(t, term); showsExit(got.Exit) != "4" || !strings.Contains(got.Text, "caught") {
		t.Errorf("output %q, exit %s", got.Text, showsExit(got.Exit))
	}
}

// A question is answered in characters: Backspace leaves no half of one.
func TestBackspaceErasesACharacter(t *testing.T) {
	term := sh(t, `stty -echo < /dev/tty; echo up; read name < /dev/tty; echo "hello $name"`)
	eventually(t, "the command is up", func() bool { return strings.Contains(term.Output().Text, "up") })
	term.Type([]byte("Bé漢\x7f\x7fob\r"))
	check.Contains(t, wait(t, term).Text, "hello Bob\n", "output %q")
}

// What is typed into a command that does not read holds up nobody.
func TestTypeToADeafCommand(t *testing.T) {
	term := sh(t, `stty raw -echo < /dev/tty; echo up; while :; do sleep 0.01; done`)
	eventually(t, "the command is up", func() bool { return strings.Contains(term.Output().Text, "up") })
	for range 100 {
		term.Type(bytes.Repeat([]byte{'x'}, 10_000))
	}
	term.Kill()
	check.Equal(t, showsExit(wait(t, term).Exit), "SIGTERM", "exit %s")
}

// Of a command that ended long ago the end is kept; whoever has seen all of it misses nothing of what still comes.
func TestThin(t *testing.T) {
	d := newDisplay(0)
	var seen Reader
	for i := range 20_000 {
		d.Write(fmt.Appendf(nil, "line %d\r\n", i), false)
	}
	for more := true; more; {
		_, _, more = d.Read(&seen, 1<<20)
	}
	before, total := d.Tail(1)
	d.Thin()
	lines, now := d.Tail(1000)
	if len(lines) > 100 || len(lines) < 60 || now != total || !reflect.DeepEqual(lines[len(lines)-1], before[0]) {
		t.Errorf("%d lines of %d, before %d: %v, before %v", len(lines), now, total, lines[len(lines)-1], before)
	}
	if data, _, _ := d.Read(&Reader{}, 1<<20); len(data) > thinBytes+100 || len(data) < thinBytes/2 || !strings.Contains(string(data), "KB are not shown") || !strings.HasSuffix(string(data), "line 19999\r\n") {
		t.Errorf("%d bytes are kept, %q", len(data), data[:min(len(data), 100)])
	}
	d.Write([]byte("more"), false)
	if data, anew, _ := d.Read(&seen, 1<<20); string(data) != "more" || anew {
		t.Errorf("then comes %q", data)
	}
	for i := range 1000 {
		d.Write(fmt.Appendf(nil, "\r\nagain %d", i), false)
	}
	if lines, now := d.Tail(1000); now != total+1001 || len(lines) < recentRows || lines[len(lines)-1].Text != "again 999" {
		t.Errorf("later there are %d lines of %d", len(lines), now)
	}
}
