package terminal

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// filtered feeds the pieces of an output to a filter and gives what passes, and the queries.
func filtered(pieces ...string) (passed, asked string) {
	var f filter
	for _, p := range pieces {
		f.feed([]byte(p), func(kind unit, data []byte) {
			switch kind {
			case query:
				asked += string(data) + "|"
			case inside:
				asked += "inside " + string(data) + "|"
			default:
				passed += string(data)
			}
		})
	}
	return passed, asked
}

// harmless passes as it is; the others lose what reaches outside.
var harmless = []string{
	"plain\ttext\r\n", "é 漢字 \u00a0\u00bf", "\b\v\f\x0e\x0f", "\x1b[1;38:2::1:2:3m\x1b[m", "\x1b[2J\x1b[3K\x1b[10;20H\x1b[5A\x1b[s\x1b[u",
	"\x1b7\x1bD\x1bE\x1bM\x1bH\x1bc\x1b=\x1b>", "\x1b(0\x1b)B\x1b#8", "\x1b[?1049h\x1b[?25l\x1b[?1;7l", "\x1b[4h\x1b[20l", "\x1b[!p\x1b[2 q",
	"\x1b[?J\x1b[?2K", "\x1b]8;;https://example.org/\x1b\\link\x1b]8;;\x1b\\", "\x1b]8;id=1;file:///a%20b\x1b\\", "\x80\xff",
}

var harmful = []struct{ in, passed, asked string }{
	{"a\x1b]52;c;aGVsbG8=\x07b\x1b]52;c;?\x1b\\c", "abc", ""},
	{"\x1b]9;note\x07\x1b]777;notify;a;b\x07\x1b]0;t\x07\x1b]1;t\x07\x1b]2;t\x07\x1b]7;file://h/d\x07\x1b]133;A\x07\x1b]1337;File=:\x07\x1b]4;1;#fff\x07", "", ""},
	{"\x1b]8;;ssh://host\x07x\x1b]8;;javascript:alert(1)\x07\x1b]8;;http:\x07\x1b]8;;\x07", "x\x1b]8;;\x1b\\", ""},
	{"\x1b]8;;HTTP://a\x07", "\x1b]8;;HTTP://a\x1b\\", ""},
	{"\x1b]8;;http://a\tb\x07\x1b]8;;http://é\x07", "", ""},
	{"\x1bPq#0;1\x1b\\a\x1b_app\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d\x1bP+q\x1b\\", "abcd", ""},
	{"\x1b[c\x1b[0c\x1b[>c\x1b[=c\x1b[5n\x1b[6n\x1b[?6n\x1b[?25$p\x1b[4$p\x1b[>q\x1b[x\x1bZ", "",
		"\x1b[c|\x1b[0c|\x1b[>c|\x1b[=c|\x1b[5n|\x1b[6n|\x1b[?6n|\x1b[?25$p|\x1b[4$p|\x1b[>q|\x1b[x|\x1bZ|"},
	{"\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]11;#000\x07\x1bP$qm\x1b\\", "", "\x1b]10;?\x1b\\|\x1b]11;?\x1b\\|\x1bP$qm\x1b\\|"},
	{"\x1b[8;50;100t\x1b[21t\x1b[i\x1b[?5i\x1b[>4;2m\x1b[?u\x1b[>1u\x1b[?4m\x1b[1\"q\x1b[2*x", "", ""},
	{"\x1b[?1000h\x1b[?1002;1006h\x1b[?1004h\x1b[?2004h\x1b[?2026h\x1b[?1000;25;2004l\x1b[12h", "\x1b[?25l", ""},
	{"a\a\x00\x05\x7fb", "ab", ""},
	{"a\u009b31m\u009dx\u0080b\u00a0", "a31mxb\u00a0", ""},
	{"\x1b%@\x1b G\x1b#3\x1bn\x1b\\", "", ""},
	{"\x1b[3\n1mx", "\n\x1b[31mx", ""},
	{"\x1b[3\x18x\x1b]0;\x1ay\x1b[3\x1b[1mz\x1b[3é", "xy\x1b[1mzé", ""},
	{"\x1b]0;a\x1b[1mb", "\x1b[1mb", ""},
	{"\xc2a\xc2\xc2\xa0\xc2\x1b]0;\a\x9b", "\ufffda\ufffd\u00a0\ufffd\x9b", ""},
	{"\x1b[" + strings.Repeat("1;", 17) + "mx\x1b[" + strings.Repeat("2:", 17) + "m", "\x1b[" + strings.Repeat("1;", 15) + "1mx\x1b[" + strings.Repeat("2:", 15) + "2m", ""},
	{"\x1b[" + strings.Repeat(";", 40) + "H\x1b[" + strings.Repeat("1;", 20) + "n", "\x1b[" + strings.Repeat(";", 15) + "H", "\x1b[" + strings.Repeat("1;", 15) + "1n|"},
	{"\x1b[?" + strings.Repeat("7;", 40) + "h", "\x1b[?" + strings.Repeat("7;", 15) + "7h", ""},
	{"\x1b[2147483648C\x1b[007;100000H", "\x1b[99999C\x1b[7;99999H", ""},
	{"\x1b8", "\x1b8\x1b[10m", ""},
	{"\x1b[? J\x1b[?!Kx\x1b[ A\x1b[!my\x1b[?!pz\x1b[? q", "xyz", ""},
	{"a\x1b\x7f[1mb\x1béc\x1b\r[1md", "a\x1b[1mbéc\r\x1b[1md", ""},
	{"\x1b[1 1q\x1b[1?2h\x1b[??25h\x1b[1<m", "", ""},
	{"\x1b[9ba\x1b[3b\x1b[31m\x1b[b\r\n\x1b[2bé\x1b[3b\u00a0\x1b[3b", "aaaa\x1b[31ma\r\naaé\u00a0", ""},
	{"x\x1b[99999b", strings.Repeat("x", 1001), ""},
	{"\x1b[r\x1b[;5r\x1b[0;5r\x1b[1;5r\x1b[2;5r\x1b[3r", "\x1b[r\x1b[;5r\x1b[0;5r\x1b[1;5r", "inside \x1b[2;5r|inside \x1b[3r|"},
	{"\x1b[4$h\x1b[?7 l\x1b[?3b\x1b[2 r\x1b[>2r\x1b[?2r\x1b[6 n\x1b[>6n", "", ""},
	{"\x1b[?x\x1b[1 x\x1b[>4h\x1b[c\x1b[ c\x1b[?c\x1b[1 A\x1b[>q1\x1b[? q\x1b[ p", "1", "\x1b[c|\x1b[>q|"},
	{"x\x1b[2 b\x1b[?2by", "xy", ""},
	{"\x1b]0;a\x18b\x1bPq\x18c\x1bPq\x1ad", "bcd", ""},
	{"\x1b]8;;http://" + strings.Repeat("a", 5000) + "\x1b[1mb\x1bP" + strings.Repeat("a", 5000) + "\x1b[2mc", "\x1b[1mb\x1b[2mc", ""},
	{"\x1b[" + strings.Repeat("1;", 400) + "mx\x1b]8;;http://" + strings.Repeat("a", 5000) + "\x07y", "xy", ""},
}

func TestFilter(t *testing.T) {
	for _, in := range harmless {
		if got, asked := filtered(in); got != in || asked != "" {
			t.Errorf("%q becomes %q and asks %q", in, got, asked)
		}
	}
	for _, test := range harmful {
		if got, asked := filtered(test.in); got != test.passed || asked != test.asked {
			t.Errorf("%q becomes %q and asks %q; want %q, %q", test.in, got, asked, test.passed, test.asked)
		}
	}
}

func TestFilterOfCutOutput(t *testing.T) {
	whole := strings.Join(harmless, "")
	for _, test := range harmful {
		whole += test.in
	}
	passed, asked := filtered(whole)
	for i := range len(whole) + 1 {
		if got, also := filtered(whole[:i], whole[i:]); got != passed || also != asked {
			t.Fatalf("cut at %d (%q): %q", i, whole[max(i-10, 0):min(i+10, len(whole))], got)
		}
	}
	if got, also := filtered(strings.Split(whole, "")...); got != passed || also != asked {
		t.Errorf("cut into characters: %q", got)
	}
}

// What passes is harmless whatever came in: it passes a second time as it is.
func FuzzFilter(f *testing.F) {
	for _, in := range harmless {
		f.Add([]byte(in), 3)
	}
	for _, test := range harmful {
		f.Add([]byte(test.in), 5)
	}
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		in = append(in, ' ') // ends a character that is no whole one
		cut = min(max(cut, 0), len(in))
		passed, _ := filtered(string(in))
		if got, _ := filtered(string(in[:cut]), string(in[cut:])); got != passed {
			t.Fatalf("cut at %d: %q, whole %q", cut, got, passed)
		}
		passed = strings.ReplaceAll(passed, "\x1b8\x1b[10m", "\x1b8") // which gets it again
		if again, asked := filtered(passed); strings.ReplaceAll(again, "\x1b8\x1b[10m", "\x1b8") != passed || asked != "" {
			t.Fatalf("%q passes, of which %q, asking %q", passed, again, asked)
		}
		for _, outside := range []string{"\x1b]5", "\x1b]9", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\a", "\x1b[c", "\x1b[6n", "\u009b"} {
			if strings.Contains(passed, outside) {
				t.Fatalf("%q passes", passed)
			}
		}
	})
}

// What a program's output says is one text: for the agent, for the chat and for another terminal.
func TestControlsInsideOfSequences(t *testing.T) {
	for _, whole := range []string{"ab\x1b[2Cx", "ab\x1b[?7lx", "ab\x1b[3;4Hx", "ab\x1b(0x", "ab\x1b7x\x1b8y", "ab\x1b]0;t\ax", "ab\x1bPq1\x1b\\x", "ab\x1b[1:2mx", "ab\x1b[3bx"} {
		for at := 3; at < len(whole); at++ {
			for b := range 256 {
				in := whole[:at] + string([]byte{byte(b)}) + whole[at:]
				d := newDisplay(0)
				d.Write([]byte(in), false)
				text, _ := d.Text()
				data, _, _ := d.Read(&Reader{}, 1000)
				other := NewScreen(columns, rows, 0)
				_, _ = other.Write(data)
				if got, _ := other.Text(); got != text {
					t.Errorf("of %q the agent gets %q, another terminal shows %q", in, text, got)
				}
			}
		}
	}
	d := newDisplay(0)
	d.Write([]byte("ab\x1b[2\nCx"), false)
	if text, _ := d.Text(); text != "ab\n    x" {
		t.Errorf("the text is %q", text)
	}
}

func TestTapeKeepsTheEnd(t *testing.T) {
	var tp tape
	line := "\x1b[32mok\x1b[0m a line of output, with 漢字 in it\r\n"
	var all bytes.Buffer
	for all.Len() < 5<<20 {
		all.WriteString(line)
		tp.write([]byte(line), func([]byte) {})
	}
	if tp.end != int64(all.Len()) {
		t.Fatalf("%d bytes, not %d", tp.end, all.Len())
	}
	if kept := tp.end - tp.start; kept < 1<<20*3/4 || kept > (keptBlocks+1)*blockSize {
		t.Errorf("%d bytes are kept", kept)
	}
	pos := tp.start
	for i, b := range tp.blocks {
		if !bytes.HasPrefix(b.data, []byte("\x1b[32m")) {
			t.Errorf("block %d begins with %.40q", i, b.data)
		}
		pos += int64(len(b.data))
	}
	if pos != tp.end {
		t.Errorf("the blocks end at %d, the tape at %d", pos, tp.end)
	}
	var got []byte
	for pos := tp.start; pos < tp.end; {
		before := len(got)
		got, pos = tp.read(got, pos, 1000)
		if n := len(got) - before; n == 0 || n > 1000 || !utf8.Valid(got[before:]) {
			t.Fatalf("%d bytes were read: %q", n, got[before:])
		}
	}
	if want := all.Bytes()[tp.start:]; !bytes.Equal(got, want) {
		t.Errorf("%d bytes were read, %d written", len(got), len(want))
	}
}

// Without a line end blocks begin between characters and sequences.
func TestTapeWithoutLines(t *testing.T) {
	var tp tape
	for range 30_000 {
		tp.write([]byte("\r\x1b[2K漢字\x1b[1;32m漢字漢字漢字漢字漢字"), func([]byte) {})
	}
	for i, b := range tp.blocks {
		first := b.data[0]
		if !utf8.RuneStart(first) || len(b.data) > blockSize || bytes.HasPrefix(b.data, []byte("2K")) || bytes.HasPrefix(b.data, []byte("[")) {
			t.Errorf("block %d begins with %.40q", i, b.data)
		}
		if !utf8.Valid(b.data) {
			t.Errorf("block %d is cut within a character", i)
		}
	}
}
