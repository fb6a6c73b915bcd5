package styled

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ text, strict, prose string }{
		{"make test", "make test", "make test"},
		{"a\x1b[2Kb\x07\x7f\r", "a^[[2Kb^G^?^M", "a^[[2Kb^G^?^M"},
		{"a\u202eb\u2066c\u200b", "a<U+202E>b<U+2066>c<U+200B>", "a<U+202E>b<U+2066>c<U+200B>"},
		{"a\xffb\ufffd", "a<FF>b\ufffd", "a<FF>b\ufffd"},
		{"\ta", "    a", "    a"},
		{"a" + strings.Repeat(" ", 500) + "b", "a <500 spaces> b", "a <500 spaces> b"},
		{"a" + strings.Repeat(" ", 39) + "b", "a" + strings.Repeat(" ", 39) + "b", "a" + strings.Repeat(" ", 39) + "b"},
		{"é 日本 👍", "é 日本 👍", "é 日本 👍"},
		{"~ é ", "~ é ", "~ é "},
		{"é" + strings.Repeat(" ", 40), "é <40 spaces> ", "é <40 spaces> "},
		{"a\u200cb❤\ufe0f☎\ufe0ec\u202fd", "a<U+200C>b❤<U+FE0F>☎<U+FE0E>c<U+202F>d", "a\u200cb❤\ufe0f☎\ufe0ec\u202fd"},
		{"a\ufdff\ufe00\ufe10\u2003b", "a\ufdff<U+FE00>\ufe10<U+2003>b", "a\ufdff<U+FE00>\ufe10<U+2003>b"},
		{"\u115f\u1160\uffa0\u2800a\u034f", "<U+115F><U+1160><U+FFA0><U+2800>a<U+034F>", "<U+115F><U+1160><U+FFA0><U+2800>a<U+034F>"},
		{"\x00\x1f\u0085\u00ad", "^@^_<U+0085><U+00AD>", "^@^_<U+0085><U+00AD>"},
		{"a\u00a0b\u3000c👩\u200d💻", "a<U+00A0>b<U+3000>c👩<U+200D>💻", "a\u00a0b\u3000c👩\u200d💻"},
		{"a\U000e0041b\u2028c\ufeffd\u3164", "a<U+E0041>b<U+2028>c<U+FEFF>d<U+3164>", "a<U+E0041>b<U+2028>c<U+FEFF>d<U+3164>"},
		{"\U000e0fffa\ue0a0\U000f0001", "<U+E0FFF>a\ue0a0\U000f0001", "<U+E0FFF>a\ue0a0\U000f0001"}, // icons of fonts stay
	} {
		for prose, want := range map[bool]string{false: c.strict, true: c.prose} {
			check.Equal(t, Visible([]Line{{Text: c.text}}, prose)[0].Text, want, "%q, prose %v: %q", c.text, prose)
		}
	}
}

func TestVisibleText(t *testing.T) {
	check.Equal(t, VisibleText("a\nb\x1b\u202ec👩\u200d💻"), "a b^[<U+202E>c👩\u200d💻", "it is %q")
}

// Highlights cover the same text as before.
func TestVisibleMovesHighlights(t *testing.T) {
	text := "\x1bab\u202e\u202ecd\te"
	for _, c := range []struct{ marked, want string }{
		{"ab", "ab"}, {"\x1bab", "^[ab"}, {"\u202ecd", "<U+202E>cd"}, {"cd\t", "cd    "}, {"e", "e"}, {text, "^[ab<U+202E><U+202E>cd    e"},
	} {
		at := strings.LastIndex(text, c.marked)
		in := []Line{{Text: text, Marks: []Mark{{at, at + len(c.marked), Error}}}}
		l := Visible(in, false)[0]
		check.Equal(t, l.Text[l.Marks[0].Col:l.Marks[0].EndCol], c.want, "%q became %q", c.marked)
		check.Equal(t, in[0].Marks[0].Col, at, "the line that was given has changed: %v")
	}
}

func TestShellColours(t *testing.T) {
	names := map[Group]string{ShellCommand: "c", ShellString: "s", ShellOperator: "o", ShellVariable: "v", More: "m"}
	for _, c := range []struct{ command, want string }{
		{"make test", "make test|c:make"},
		{"a 'b' && c \"d $e\" > f", "a 'b' && c \"d $e\" > f|c:a s:'b' o:&& c:c s:\"d $e\" v:$e o:>"},
		{"a; b $(c) `d` # e", "a; b $(c) `d` # e|c:a o:; c:b o:$( c:c o:) o:` c:d o:` m:# e"},
		{"a 'x\ny' b\nc", "a 'x|c:a s:'x\ny' b|s:y'\nc|c:c"},
		{"X=1 é \"ü\"; f", "X=1 é \"ü\"; f|v:X c:é s:\"ü\" o:; c:f"},
		{"(a | b); c <(d)", "(a | b); c <(d)|o:( c:a o:| c:b o:) o:; c:c o:<( c:d o:)"},
		{"a\n\n'\n\nb", "a|\n|\n'|\n|\nb|"}, // nothing of what cannot be parsed
		{"a\n\n'\n\nb' c\nd", "a|c:a\n|\n'|c:' s:'\n|\nb' c|c:b' s:b'\nd|c:d"},
		{"a (", "a (|"},
		{"X=1", "X=1|v:X"},
		{"export -n A B=$c; ${d}", "export -n A B=$c; ${d}|v:A v:B v:$c o:; c:${d} v:${d}"},
		{"a <<E >f 2>&1\nx $y\nE", "a <<E >f 2>&1|c:a o:<< o:> o:>&\nx $y|v:$y\nE|"},
	} {
		var got []string
		for _, l := range Shell(c.command) {
			var marks []string
			for _, m := range l.Marks {
				marks = append(marks, names[m.Group]+":"+l.Text[m.Col:m.EndCol])
			}
			got = append(got, l.Text+"|"+strings.Join(marks, " "))
		}
		check.Equal(t, strings.Join(got, "\n"), c.want, "%q:\n%s", c.command)
	}
}

// A huge command is not parsed.
func TestHugeCommands(t *testing.T) {
	for n, want := range map[int]int{shellLimit: 1, shellLimit + 1: 0} {
		check.Equal(t, len(Shell("a" + strings.Repeat(" ", n-1))[0].Marks), want, "of %d bytes, %d highlights", n)
	}
}

func FuzzShell(f *testing.F) {
	f.Add("a 'x\ny' && $(b) | \"c$d\" # e")
	f.Add("cat <<E\nx\nE\n")
	f.Fuzz(func(t *testing.T, command string) {
		for _, l := range Visible(Shell(command), false) {
			for _, m := range l.Marks {
				if m.Col < 0 || m.Col > m.EndCol || m.EndCol > len(l.Text) {
					t.Errorf("%q: %v in %q", command, m, l.Text)
				}
			}
		}
	})
}
