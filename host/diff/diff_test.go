package diff

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func ptr(s string) *string { return &s }

// change is a diff as version 1 tells it.
func change(old, text string) session.Diff {
	return session.Diff{Operation: session.OperationModify, Path: "/a", OldText: &old, NewText: &text}
}

// String is a change as the tests read it: a head, and lines with their numbers and sign, changed words in brackets.
func (f FileDiff) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s +%d -%d", f.Operation, f.Added, f.Removed)
	if f.Located {
		b.WriteString(" located")
	}
	if f.Note != "" {
		b.WriteString(": " + f.Note)
	}
	b.WriteByte('\n')
	for i, h := range f.Hunks {
		if i > 0 {
			b.WriteString("...\n")
		}
		for _, l := range h.Lines {
			text, at := "", 0
			for _, w := range l.Words {
				text += l.Text[at:w.Start] + "[" + l.Text[w.Start:w.End] + "]"
				at = w.End
			}
			text += l.Text[at:]
			number := l.New
			if l.Kind == Delete {
				number = l.Old
			}
			fmt.Fprintf(&b, "%d%s%s", number, [...]string{" ", "-", "+"}[l.Kind], text)
			if l.NoNewline {
				b.WriteString(" (no newline)")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

const ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

const gitPatch = `diff --git /a /a
--- /a
+++ /a
@@ -3,4 +3,4 @@
 3
 4
-5
+five
 6
`

// alikeLines has lines of which the patch changes the fifth after the first, and adds three before.
const alikeLines = "a\nx\nx\nx\nx\nx\nx\nx\nx\nx\n"

const alikePatch = `diff --git /a /a
--- /a
+++ /a
@@ -1 +1,4 @@
 a
+b
+c
+d
@@ -6 +9 @@
-x
+y
`

func TestOf(t *testing.T) {
	loop := "a\nfor i = first, #toks - 1 do\nb\n"
	for _, c := range []struct {
		name string
		d    session.Diff
		now  Now
		want string
	}{
		{
			"the whole file", change(ten, strings.Replace(ten, "5", "five", 1)), Now{Text: ptr(ten)},
			"modify +1 -1 located\n3 3\n4 4\n5-5\n5+five\n6 6\n7 7\n",
		},
		{
			"the whole file, written already", change(ten, strings.Replace(ten, "5", "five", 1)), Now{Text: ptr(strings.Replace(ten, "5", "five", 1)), Done: true},
			"modify +1 -1 located\n3 3\n4 4\n5-5\n5+five\n6 6\n7 7\n",
		},
		{
			"a fragment in the middle of a line", change("#toks - 1 do", "#toks do"), Now{Text: &loop},
			"modify +1 -1 located\n1 a\n2-for i = first, #toks [- 1 ]do\n2+for i = first, #toks do\n3 b\n",
		},
		{
			"twice, with a line near it", change("x", "y"), Now{Text: ptr("x\n2\n3\n4\nx\n6\n"), Line: 4},
			"modify +1 -1 located\n3 3\n4 4\n5-x\n5+y\n6 6\n",
		},
		{
			"twice, without one", change("x", "y"), Now{Text: ptr("x\n2\n3\n4\nx\n6\n")},
			"modify +1 -1 located: the file has this text 2 times: the first is shown\n1-x\n1+y\n2 2\n3 3\n",
		},
		{
			"with other white space", change("if x {\n  return\n}", "if x {\n  return 1\n}"),
			Now{Text: ptr("a\nif x {\n\treturn\n}\nb\n")},
			"modify +1 -1 located: its white space differs from the file's\n1 a\n2 if x {\n3-[\t]return\n3+[  ]return[ 1]\n4 }\n5 b\n",
		},
		{
			"in a file with other line ends", change("b\r\nc\r\n", "b\r\nC\r\n"), Now{Text: ptr("a\nb\nc\nd\n")},
			"modify +1 -1 located\n1 a\n2 b\n3-c\n3+C\n4 d\n",
		},
		{
			"in a file with both line ends", change("b\nc\n", "b\nC\n"), Now{Text: ptr("a\nb\r\nc\r\nd\n")},
			"modify +1 -1 located\n1 a\n2 b\r\n3-c\r\n3+C\r\n4 d\n",
		},
		{
			"line ends alone", change("a\nb\n", "a\r\nb\r\n"), Now{Text: ptr("a\nb\n")},
			"modify +0 -0 located: line ends change from LF to CRLF\n",
		},
		{
			"line ends the other way", change("a\r\nb\r\n", "a\nb\n"), Now{Text: ptr("a\r\nb\r\n")},
			"modify +0 -0 located: line ends change from CRLF to LF\n",
		},
		{
			"line ends where there were none", change("a", "A\r\nb\r\n"), Now{Text: ptr("a")},
			"modify +2 -1 located\n1-a (no newline)\n1+A\n2+b\n",
		},
		{
			"line ends that are gone", change("a\r\nb\r\n", "A"), Now{Text: ptr("a\r\nb\r\n")},
			"modify +1 -2 located\n1-a\n2-b\n1+A (no newline)\n",
		},
		{
			"a new file with line ends of its own", session.Diff{Operation: session.OperationAdd, Path: "/a", NewText: ptr("a\r\nb\r\n")}, Now{},
			"add +2 -0 located\n1+a\n2+b\n",
		},
		{
			"it is deleted", session.Diff{Operation: session.OperationDelete, Path: "/a", OldText: ptr("a\r\nb\r\n")}, Now{Text: ptr("a\r\nb\r\n")},
			"delete +0 -2 located\n1-a\n2-b\n",
		},
		{
			"an addition that is there already", change("a", "a\nb"), Now{Text: ptr("a\nb\nc\n")},
			"modify +1 -0 located\n1 a\n2+b\n3 c\n",
		},
		{
			"an addition, done, though the text before stands elsewhere too", change("}", "}\n\nfunc b() {\n}"), Now{Text: ptr("}\n\nfunc b() {\n}\nlast {\n}\n"), Done: true},
			"modify +3 -0 located\n1 }\n2+\n3+func b() {\n4+}\n5 last {\n6 }\n",
		},
		{
			"a removal", change("a\nb\nc", "a\nc"), Now{Text: ptr("a\nb\nc\n")},
			"modify +0 -1 located\n1 a\n2-b\n2 c\n",
		},
		{
			"all of it removed", change("a\nb\n", ""), Now{Text: ptr("a\nb\n")},
			"modify +0 -2 located\n1-a\n2-b\n",
		},
		{
			"all of it removed, done", change("a\nb\n", ""), Now{Text: ptr(""), Done: true},
			"modify +0 -2 located\n1-a\n2-b\n",
		},
		{
			"what the file does not have", change("x\n", "y\n"), Now{Text: ptr(ten)},
			"modify +1 -1: not found in the file: as the agent sent it\n0-x\n0+y\n",
		},
		{
			"what the file does not have any more", change("x", "y"), Now{Text: ptr(ten), Done: true},
			"modify +1 -1: not in the file any more: as the agent sent it\n0-x\n0+y\n",
		},
		{
			"what stands everywhere does not tell the place", change("  x = 1", "}"), Now{Text: ptr("a {\n}\nb {\n}\n")},
			"modify +1 -1: not found in the file: as the agent sent it\n0-  x = 1\n0+}\n",
		},
		{
			"beside an unsaved line", change("a\nb\nc\n", "a\nb\nC\n"), Now{Text: ptr("0\nA\nb\nc\nd\n"), Disk: ptr("a\nb\nc\nd\n")},
			"modify +1 -1 located\n2 A\n3 b\n4-c\n4+C\n5 d\n",
		},
		{
			"beside an unsaved line, done", change("a\nb\nc\n", "a\nb\nC\n"), Now{Text: ptr("A\nb\nC\nd\n"), Disk: ptr("a\nb\nC\nd\n"), Done: true},
			"modify +1 -1 located\n1 A\n2 b\n3-c\n3+C\n4 d\n",
		},
		{
			"beside an unsaved line, done on the disk alone", change("a\nb\nc\n", "a\nb\nC\n"), Now{Text: ptr("A\nb\nc\nd\n"), Disk: ptr("a\nb\nC\nd\n"), Done: true},
			"modify +1 -1 located\n1 A\n2 b\n3-c\n3+C\n4 d\n",
		},
		{
			"in an unsaved line", change("a\nb\nc\n", "a\nb\nC\n"), Now{Text: ptr("a\nb\nmine\n"), Disk: ptr("a\nb\nc\n")},
			"modify +1 -1: you have other unsaved lines there: as the agent sent it\n0 a\n0 b\n0-c\n0+C\n",
		},
		{
			"in the unsaved text alone", change("mine", "yours"), Now{Text: ptr("a\nmine\n"), Disk: ptr("a\nb\n")},
			"modify +1 -1 located\n1 a\n2-mine\n2+yours\n",
		},
		{
			"in neither text", change("x\n", "y\n"), Now{Text: ptr("a\nb\n"), Disk: ptr("a\n")},
			"modify +1 -1: not found in the file: as the agent sent it\n0-x\n0+y\n",
		},
		{
			"a patch beside an unsaved line", session.Diff{Path: "/a", Patch: gitPatch}, Now{Text: ptr(strings.Replace(ten, "3", "three", 1)), Disk: ptr(ten)},
			"modify +1 -1 located\n3 three\n4 4\n5-5\n5+five\n6 6\n7 7\n",
		},
		{
			"a file that is not there", change("x", "y"), Now{},
			"modify +1 -1: no such file: as the agent sent it\n0-x\n0+y\n",
		},
		{
			"a new file", session.Diff{Operation: session.OperationAdd, Path: "/a", NewText: ptr("a\nb")}, Now{},
			"add +2 -0 located\n1+a\n2+b (no newline)\n",
		},
		{
			"a new file, told by an empty text", change("", "a\n"), Now{},
			"add +1 -0 located\n1+a\n",
		},
		{
			"a new file, there already", session.Diff{Operation: session.OperationAdd, Path: "/a", NewText: ptr("a\n")}, Now{Text: ptr("a\n"), Done: true},
			"add +1 -0 located\n1+a\n",
		},
		{
			"a new file, changed since", session.Diff{Operation: session.OperationAdd, Path: "/a", NewText: ptr("a\n")}, Now{Text: ptr("b\n"), Done: true},
			"add +1 -0 located\n1+a\n",
		},
		{
			"a new file where one is", session.Diff{Operation: session.OperationAdd, Path: "/a", NewText: ptr("a\n")}, Now{Text: ptr("b\n")},
			"modify +1 -1 located: the file exists: all of its text is replaced\n1-b\n1+a\n",
		},
		{
			"an empty text before, of a file that has one", change("", "a\n"), Now{Text: ptr("b\n")},
			"modify +1 -1 located: the file exists: all of its text is replaced\n1-b\n1+a\n",
		},
		{
			"an empty text before, done", change("", "a\n"), Now{Text: ptr("b\na\n"), Done: true},
			"modify +1 -0 located\n1 b\n2+a\n",
		},
		{
			"an empty new file", session.Diff{Operation: session.OperationAdd, Path: "/a", NewText: ptr("")}, Now{},
			"add +0 -0 located: empty file\n",
		},
		{
			"a deletion", session.Diff{Operation: session.OperationDelete, Path: "/a"}, Now{Text: ptr("a\n")},
			"delete +0 -1 located\n1-a\n",
		},
		{
			"a deletion, done", session.Diff{Operation: session.OperationDelete, Path: "/a", OldText: ptr("a\n")}, Now{Done: true},
			"delete +0 -1 located\n1-a\n",
		},
		{
			"a deletion, done, where there is another file now", session.Diff{Operation: session.OperationDelete, Path: "/a", OldText: ptr("a\n")}, Now{Text: ptr("b\nc\n"), Done: true},
			"delete +0 -1 located\n1-a\n",
		},
		{
			"a deletion, done, of which nothing is known", session.Diff{Operation: session.OperationDelete, Path: "/a"}, Now{Done: true},
			"delete +0 -0: the agent says nothing more about it\n",
		},
		{
			"a move", session.Diff{Operation: session.OperationMove, Path: "/b", OldPath: "/a"}, Now{Text: ptr("a\n")},
			"move +0 -0 located\n",
		},
		{
			"a move with a change", session.Diff{Operation: session.OperationMove, Path: "/b", OldPath: "/a", OldText: ptr("a\n"), NewText: ptr("b\n")}, Now{Text: ptr("a\nc\n")},
			"move +1 -1 located\n1-a\n1+b\n2 c\n",
		},
		{
			"a move with a newline at the end", session.Diff{Operation: session.OperationMove, Path: "/b", OldPath: "/a", OldText: ptr("a"), NewText: ptr("a\n")},
			Now{Text: ptr("a")}, "move +1 -1 located\n1-a (no newline)\n1+a\n",
		},
		{
			"a new file of an empty line", session.Diff{Operation: session.OperationAdd, Path: "/a", NewText: ptr("\n")}, Now{},
			"add +1 -0 located\n1+\n",
		},
		{
			"a newline at the end", change("a\nb", "a\nb\n"), Now{Text: ptr("a\nb")},
			"modify +1 -1 located: only the newline at its end changes\n1 a\n2-b (no newline)\n2+b\n",
		},
		{
			"an added line in a file without a last newline", change("b", "b\nc"), Now{Text: ptr("a\nb")},
			"modify +2 -1 located\n1 a\n2-b (no newline)\n2+b\n3+c (no newline)\n",
		},
		{"nothing", change("a", "a"), Now{Text: ptr("a\n")}, "modify +0 -0 located: nothing changes\n"},
		{"binary text", change("a\x00", "b"), Now{Text: ptr("a\x00")}, "modify +0 -0: binary file\n"},
		{"a binary file", change("a", "b"), Now{Text: ptr("\x00")}, "modify +0 -0: binary file\n"},
		{"told to be binary", session.Diff{Path: "/a", FileType: "binary"}, Now{}, "modify +0 -0: binary file\n"},
		{"a folder", session.Diff{Path: "/a", Operation: session.OperationAdd, FileType: "directory"}, Now{}, "add +0 -0: folder\n"},
		{"a link", session.Diff{Path: "/a", FileType: "symlink"}, Now{}, "modify +0 -0: symbolic link\n"},
		{"nothing told", session.Diff{Path: "/a"}, Now{Text: ptr("a\n")}, "modify +0 -0: the agent says nothing more about it\n"},
		{"nothing told of what is gone", session.Diff{Path: "/a"}, Now{}, "modify +0 -0: the agent says nothing more about it\n"},
		{
			"a whole text of what is gone", session.Diff{Path: "/a", Operation: session.OperationModify, NewText: ptr("a\n")}, Now{},
			"modify +1 -0: no such file: as the agent sent it\n0+a\n",
		},
		{
			"a new file, nothing told", session.Diff{Path: "/a", Operation: session.OperationAdd}, Now{Text: ptr("a\n")},
			"add +1 -0 located\n1+a\n",
		},
		{
			"a patch of what is gone", session.Diff{Path: "/a", Patch: gitPatch}, Now{},
			"modify +1 -1: no such file: as the agent sent it\n3 3\n4 4\n5-5\n5+five\n6 6\n",
		},
		{
			"in a line that has other unsaved text", change("x", "y"), Now{Text: ptr("x and mine\n"), Disk: ptr("x\n")},
			"modify +1 -1 located\n1-[x] and mine\n1+[y] and mine\n",
		},
		{
			"a patch", session.Diff{Path: "/a", Patch: gitPatch}, Now{Text: ptr(ten)},
			"modify +1 -1 located\n3 3\n4 4\n5-5\n5+five\n6 6\n7 7\n",
		},
		{
			"a patch, applied already", session.Diff{Path: "/a", Patch: gitPatch}, Now{Text: ptr(strings.Replace(ten, "5", "five", 1)), Done: true},
			"modify +1 -1 located\n3 3\n4 4\n5-5\n5+five\n6 6\n7 7\n",
		},
		{
			"a patch whose place has moved", session.Diff{Path: "/a", Patch: gitPatch}, Now{Text: ptr("0\n0\n" + ten)},
			"modify +1 -1 located\n5 3\n6 4\n7-5\n7+five\n8 6\n9 7\n",
		},
		{
			"a patch, applied before it is done", session.Diff{Path: "/a", Patch: gitPatch}, Now{Text: ptr(strings.Replace(ten, "5", "five", 1))},
			"modify +1 -1 located\n3 3\n4 4\n5-5\n5+five\n6 6\n7 7\n",
		},
		{
			"a patch, done, but not applied", session.Diff{Path: "/a", Patch: gitPatch}, Now{Text: ptr(ten), Done: true},
			"modify +1 -1 located\n3 3\n4 4\n5-5\n5+five\n6 6\n7 7\n",
		},
		{
			"a patch of lines that are alike", session.Diff{Path: "/a", Patch: alikePatch}, Now{Text: ptr("1\n2\n" + alikeLines)},
			"modify +4 -1 located\n2 2\n3 a\n4-x\n4+b\n5+c\n6+d\n7 x\n8 x\n9 x\n10 x\n11+y\n12 x\n13 x\n",
		},
		{
			"a patch of lines that are alike, done", session.Diff{Path: "/a", Patch: alikePatch},
			Now{Text: ptr("1\n2\na\nb\nc\nd\n" + strings.Repeat("x\n", 4) + "y\n" + strings.Repeat("x\n", 4)), Done: true},
			"modify +4 -1 located\n2 2\n3 a\n4-x\n4+b\n5+c\n6+d\n7 x\n8 x\n9 x\n10 x\n11+y\n12 x\n13 x\n",
		},
		{
			"a patch of lines that are alike after it, done", session.Diff{Path: "/a", Patch: alikePatch},
			Now{Text: ptr("a\nb\nc\nd\n" + strings.Repeat("y\n", 9)), Done: true},
			"modify +4 -1 located\n1 a\n2+b\n3+c\n4+d\n5 y\n6 y\n7 y\n8 y\n6-x\n9+y\n10 y\n11 y\n",
		},
		{
			"thrice, with a line at one", change("x", "y"), Now{Text: ptr("0\nx\n2\nx\n4\nx\n"), Line: 4},
			"modify +1 -1 located\n2 x\n3 2\n4-x\n4+y\n5 4\n6 x\n",
		},
		{
			"thrice, with a line between two", change("x", "y"), Now{Text: ptr("0\nx\n2\nx\n4\nx\n"), Line: 3},
			"modify +1 -1 located\n2 x\n3 2\n4-x\n4+y\n5 4\n6 x\n",
		},
		{
			"thrice, with a line before all", change("x", "y"), Now{Text: ptr("0\nx\n2\nx\n4\nx\n"), Line: 1},
			"modify +1 -1 located\n1 0\n2-x\n2+y\n3 2\n4 x\n",
		},
		{
			"thrice, with a line behind all", change("x", "y"), Now{Text: ptr("0\nx\n2\nx\n4\nx\n"), Line: 99},
			"modify +1 -1 located\n4 x\n5 4\n6-x\n6+y\n",
		},
		{
			"thrice, without a line", change("x", "y"), Now{Text: ptr("0\nx\n2\nx\n4\nx\n")},
			"modify +1 -1 located: the file has this text 3 times: the first is shown\n1 0\n2-x\n2+y\n3 2\n4 x\n",
		},
		{
			"signs that tell the place", change("x = 1", "→→→"), Now{Text: ptr("→→→\n2\n→→→\n"), Done: true, Line: 3},
			"modify +1 -1 located\n1 →→→\n2 2\n3-x = 1\n3+→→→\n",
		},
		{
			"signs that tell no place", change("x = 1", "+++"), Now{Text: ptr("+++\n2\n+++\n"), Done: true, Line: 3},
			"modify +1 -1: not in the file any more: as the agent sent it\n0-x = 1\n0++++\n",
		},
		{
			"an empty file, emptied since", change("", "a\n"), Now{Text: ptr(""), Done: true},
			"modify +1 -0 located\n1+a\n",
		},
		{
			"nothing, of what the file does not have", change("x", "x"), Now{Text: ptr("a\n")},
			"modify +0 -0: not found in the file: as the agent sent it\n",
		},
		{
			"nothing, of what the file does not have any more", change("x", "x"), Now{Text: ptr("a\n"), Done: true},
			"modify +0 -0: not in the file any more: as the agent sent it\n",
		},
		{
			"with other white space, done", change("if x {\n  return\n}", "if x {\n  return 1\n}"),
			Now{Text: ptr("a\nif x {\n\treturn 1\n}\nb\n"), Done: true},
			"modify +1 -1 located: its white space differs from the file's\n1 a\n2 if x {\n3-[  ]return\n3+[\t]return[ 1]\n4 }\n5 b\n",
		},
		{
			"with other white space, made before it is done", change("if x {\n  return\n}", "if x {\n  return 1\n}"),
			Now{Text: ptr("a\nif x {\n\treturn 1\n}\nb\n")},
			"modify +1 -1 located: its white space differs from the file's\n1 a\n2 if x {\n3-[  ]return\n3+[\t]return[ 1]\n4 }\n5 b\n",
		},
		{
			"with other white space, done, but not made", change("if x {\n  return\n}", "if x {\n  return 1\n}"),
			Now{Text: ptr("a\nif x {\n\treturn\n}\nb\n"), Done: true},
			"modify +1 -1 located: its white space differs from the file's\n1 a\n2 if x {\n3-[\t]return\n3+[  ]return[ 1]\n4 }\n5 b\n",
		},
		{
			"with other white space, twice", change("if x {\n  return\n}", "if x {\n  return 1\n}"),
			Now{Text: ptr("if x {\n\treturn\n}\nif x {\n\treturn\n}\n")},
			"modify +1 -1 located: the file has this text 2 times: the first is shown; its white space differs from the file's\n1 if x {\n2-[\t]return\n2+[  ]return[ 1]\n3 }\n4 if x {\n",
		},
		{
			"with other white space, at the end of a file without a last newline", change("  x\n  y", "  x\n  z"),
			Now{Text: ptr("a\n\tx\n\ty")},
			"modify +1 -1 located: its white space differs from the file's\n1 a\n2 \tx\n3-\ty (no newline)\n3+  z (no newline)\n",
		},
		{
			"with other white space and a newline, at the end of such a file", change("  x\n  y\n", "  x\n  z\n"),
			Now{Text: ptr("a\n\tx\n\ty")},
			"modify +1 -1 located: its white space differs from the file's\n1 a\n2 \tx\n3-\ty (no newline)\n3+  z\n",
		},
		{
			"with other white space, within such a file", change("  x\n  y\n", "  x\n  z\n"), Now{Text: ptr("a\n\tx\n\ty\nb")},
			"modify +1 -1 located: its white space differs from the file's\n1 a\n2 \tx\n3-\ty\n3+  z\n4 b (no newline)\n",
		},
		{
			"a copy", session.Diff{Operation: session.OperationCopy, Path: "/b", OldPath: "/a"}, Now{Text: ptr("a\n")},
			"copy +0 -0 located\n",
		},
		{
			"a new text alone", session.Diff{Operation: session.OperationModify, Path: "/a", NewText: ptr("a\n")}, Now{Text: ptr("b\n")},
			"modify +1 -1 located: the file exists: all of its text is replaced\n1-b\n1+a\n",
		},
		{
			"a patch of another text, which adds and removes lines",
			session.Diff{Path: "/a", Patch: "--- /a\n+++ /a\n@@ -3,0 +4,1 @@\n+new\n@@ -7,1 +7,0 @@\n-old\n"}, Now{Text: ptr("a\n")},
			"modify +1 -1: not found in the file: as the agent sent it\n4+new\n...\n7-old\n",
		},
		{
			"a patch of nothing", session.Diff{Path: "/a", Patch: "no patch"}, Now{Text: ptr("a\n")},
			"modify +0 -0: the agent's patch cannot be read: it changes no file\n0 no patch\n",
		},
		{
			"a word of three letters", change("x = 1", "abc"), Now{Text: ptr("abc\n2\nabc\n"), Done: true, Line: 3},
			"modify +1 -1 located\n1 abc\n2 2\n3-x = 1\n3+abc\n",
		},
		{
			"a word of two letters, which stands everywhere", change("x = 1", "ab"), Now{Text: ptr("ab\n2\nab\n"), Done: true, Line: 3},
			"modify +1 -1: not in the file any more: as the agent sent it\n0-x = 1\n0+ab\n",
		},
		{
			"white space alone, other than the file's", change(" \n\t\n", "x\n"), Now{Text: ptr("a\n\n\nb\n")},
			"modify +1 -2: not found in the file: as the agent sent it\n0- \n0-\t\n0+x\n",
		},
		{
			"a patch with other line ends", session.Diff{Path: "/a", Patch: crlf(gitPatch)}, Now{Text: ptr(crlf(ten))},
			"modify +1 -1 located\n3 3\n4 4\n5-5\n5+five\n6 6\n7 7\n",
		},
		{
			"a patch of another text", session.Diff{Path: "/a", Patch: gitPatch}, Now{Text: ptr("a\n")},
			"modify +1 -1: not found in the file: as the agent sent it\n3 3\n4 4\n5-5\n5+five\n6 6\n",
		},
		{
			"a patch of a new file", session.Diff{Path: "/a", Operation: session.OperationAdd, Patch: "diff --git /a /a\nnew file mode 100644\n--- /dev/null\n+++ /a\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"}, Now{},
			"add +2 -0 located\n1+a\n2+b (no newline)\n",
		},
		{
			"a patch of a deleted file", session.Diff{Path: "/a", Operation: session.OperationDelete, Patch: "diff --git /a /a\ndeleted file mode 100644\n--- /a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"}, Now{Done: true},
			"delete +0 -1 located\n1-a\n",
		},
		{
			"a patch of the mode", session.Diff{Path: "/a", Patch: "diff --git /a /a\nold mode 100644\nnew mode 100755\n"}, Now{Text: ptr("a\n")},
			"modify +0 -0 located: mode 644 → 755\n",
		},
		{
			"a patch of a binary file", session.Diff{Path: "/a", Patch: "diff --git /a /a\nindex 1234567..89abcde 100644\nBinary files /a and /a differ\n"}, Now{Text: ptr("a")},
			"modify +0 -0: binary file\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Of(c.d, c.now)
			check.Equal(t, f.String(), c.want, "got\n%s")
			if f.Located {
				replay(t, f)
			}
		})
	}
}

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

func TestTold(t *testing.T) {
	for _, c := range []struct {
		name string
		d    session.Diff
		want string
	}{
		{"a fragment", change("a\nb", "a\nc"), "modify +1 -1\n0 a\n0-b\n0+c\n"},
		{"a fragment with and without a newline", change("a", "b\n"), "modify +1 -1\n0-a\n0+b\n"},
		{"no text any more", change("a\n", "\x00"), "modify +0 -0: binary file\n"},
		{"no text before", change("\x00", "a\n"), "modify +0 -0: binary file\n"},
		{"the text of a link", session.Diff{Path: "/a", FileType: "symlink", NewText: ptr("b")}, "modify +1 -0\n0+b\n"},
		{"a newline", change("a", "a\n"), "modify +0 -0: only the newline at its end changes\n"},
		{"a patch has its own numbers", session.Diff{Path: "/a", Patch: gitPatch}, "modify +1 -1\n3 3\n4 4\n5-5\n5+five\n6 6\n"},
		{
			"a patch of a file whose mode stays",
			session.Diff{Path: "/a", Patch: strings.Replace(gitPatch, "--- ", "old mode 100644\nnew mode 100644\n--- ", 1)},
			"modify +1 -1\n3 3\n4 4\n5-5\n5+five\n6 6\n",
		},
		{"no patch", session.Diff{Path: "/a", Patch: "@@ what?"}, "modify +0 -0: the agent's patch cannot be read: it changes no file\n0 @@ what?\n"},
		{"hunks", change(ten, strings.NewReplacer("2\n", "two\n", "9\n", "nine\n").Replace(ten)), "modify +2 -2\n0 1\n0-2\n0+two\n0 3\n0 4\n...\n0 7\n0 8\n0-9\n0+nine\n0 10\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check.Equal(t, Told(c.d).String(), c.want, "got\n%s")
		})
	}
}

func TestWords(t *testing.T) {
	for _, c := range [][3]string{
		{"return nil, err", "return nil, fmt.Errorf(err)", "return nil, err > return nil, [fmt.Errorf(]err[)]"},
		{"local a = 1", "local b = 1", "local [a] = 1 > local [b] = 1"},
		{"  a(b)", "\ta(b)", "[  ]a(b) > [\t]a(b)"},
		{"return nil", "panic(errors.New(what))", "return nil > panic(errors.New(what))"},
		{"größe = 1", "größen = 1", "größe = 1 > größen = 1"},
		{"die größe ist 1", "die größen ist 1", "die [größe] ist 1 > die [größen] ist 1"},
		{"e\u0301 and e is it", "e and e is it", "[e\u0301] and e is it > [e] and e is it"},
		{"这是一个测试", "这是两个测试", "这是[一]个测试 > 这是[两]个测试"},
		{"of a b c and more", "of x y z and more", "of [a b c] and more > of [x y z] and more"},
		{"the 1st of 10 lines", "the 1st of 20 lines", "the 1st of [10] lines > the 1st of [20] lines"},
		{strings.Repeat("ab ", 9000), strings.Repeat("xy ", 9000), "nothing"},
	} {
		from, to := changedWords(c[0], c[1])
		if c[2] == "nothing" {
			if from != nil || to != nil {
				t.Errorf("words of a long line: %v %v", from, to)
			}
			continue
		}
		shown := func(text string, spans []Span) string {
			f := FileDiff{Hunks: []Hunk{{Lines: []Line{{Text: text, Words: spans}}}}}
			return strings.TrimSuffix(strings.SplitN(f.String(), "\n", 2)[1][2:], "\n")
		}
		check.Equal(t, shown(c[0], from)+" > "+shown(c[1], to), c[2], "got %q")
	}
}

// Replaced lines have their words on both sides; one that has nothing left has none.
func TestWordsOfReplacedLines(t *testing.T) {
	from, to := Words([]string{"local a = 1", "gone"}, []string{"local b = 1"})
	check.Deep(t, from, [][]Span{{{6, 7}}, nil}, "of the old lines %v")
	check.Deep(t, to, [][]Span{{{6, 7}}}, "of the new lines %v")
}

// Lines are compared by their words, white space and single other characters, each with the marks that combine with it.
func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "one two": "one| |two", "a \t b": "a| \t |b", "\t\tx": "\t\t|x",
		"A_0Z9az": "A_0Z9az", "a@Z[`{b": "a|@|Z|[|`|{|b",
		"0/9:": "0|/|9|:", "((": "(|(", "größe ß": "größe| |ß", "日本": "日|本", "ひカ": "ひ|カ",
		"e\u0301x": "e\u0301x", "(\u0301)": "(\u0301|)",
		"a\u00a0\u00a0b": "a|\u00a0\u00a0|b", "٣x": "٣x", "“a”": "“|a|”", "👩\u200d👧": "👩\u200d|👧",
	} {
		list := tokens(text)
		check.Equal(t, strings.Join(list, "|"), want, "%q is cut to %q", text)
		at := offsets(list)
		check.Equal(t, at[len(list)], len(text), text+" ends at %d")
	}
}

// Two changes are alike if the same lines come and go, wherever they stand.
func TestAlike(t *testing.T) {
	f := Of(change("5\n", "five\n"), Now{Text: ptr(ten)})
	for want, others := range map[bool][]session.Diff{
		true:  {change("a\n5\nb\n", "a\nfive\nb\n"), change("  5\n", "\tfive\n"), change("5", "five")},
		false: {change("", "5\nfive\n"), change("5\n", "six\n"), change("4\n5\n", "five\n"), change("five\n", "5\n"), change("5\n", "")},
	} {
		for _, d := range others {
			g := Told(d)
			check.Equal(t, f.Alike(&g), want, "%s is like it: %v", g)
		}
	}
}

// Of a long line the changed part is found, between characters.
func TestChangedPart(t *testing.T) {
	before, after := strings.Repeat("größe ", 2000), strings.Repeat(" ändern", 2000)
	for _, c := range [][2]string{{"ä", "ö"}, {"one", "three"}, {"é", "ĩ"}, {"", "new"}, {"aaa", "aa"}, {"", ""}} {
		old, text := before+c[0]+after, before+c[1]+after
		from, to := changedWords(old, text)
		cut := func(text string, spans []Span) string {
			for _, s := range spans {
				if !utf8.ValidString(text[s.Start:s.End]) {
					t.Errorf("%q: span %v is %q", c, s, text[s.Start:s.End])
				}
				text = text[:s.Start] + text[s.End:]
			}
			return text
		}
		if len(from) > 1 || len(to) > 1 || cut(old, from) != cut(text, to) {
			t.Errorf("%q: %v, %v", c, from, to)
		}
	}
}

// A line is compared with the one that it probably became.
func TestPairs(t *testing.T) {
	f := FileDiff{Old: "call(one, two)\n", New: "before()\ncall(one, three)\n// more\n"}
	f.between(true)
	want := " +3 -1\n1-call(one, [two])\n1+before()\n2+call(one, [three])\n3+// more\n"
	check.Equal(t, f.String(), want, "got\n%s")
}

func TestLine(t *testing.T) {
	for want, f := range map[int]FileDiff{
		5: Of(change("5", "five"), Now{Text: ptr(ten)}),
		1: Of(change("1\n", ""), Now{Text: ptr(ten)}),
		9: Of(change("9\n", ""), Now{Text: ptr(ten)}),
		0: Told(change("5", "five")),
	} {
		if got := f.Line(); got != want {
			t.Errorf("it is %d, not %d: %v", got, want, f)
		}
	}
	check.Equal(t, Of(change("a", "a"), Now{Text: ptr("a")}).Line(), 0, "nothing changes, and it has a line: %v")
}

func TestBrief(t *testing.T) {
	f := Of(change("5", "five"), Now{Text: ptr(ten)})
	b := f.Brief()
	if b.Located || b.Old != "3\n4\n5\n6\n7\n" || b.New != "3\n4\nfive\n6\n7\n" {
		t.Errorf("it keeps %+v", b)
	}
	check.Equal(t, b.String(), strings.Replace(f.String(), " located", "", 1), "it shows\n%s")
}

func TestTop(t *testing.T) {
	f := Of(session.Diff{
		Path: "f", Operation: session.OperationModify, OldText: ptr(ten), NewText: ptr("1\ntwo\n3\n4\n5\n6\n7\n8\n9\nten"),
	}, Now{Text: ptr(ten)})
	for n, want := range map[int]string{
		1: "1\n / 1\n", 3: "1\n2\n / 1\ntwo\n", 5: "1\n2\n3\n4\n / 1\ntwo\n3\n4\n",
		7: "1\n2\n3\n4\n8\n9\n / 1\ntwo\n3\n4\n8\n9\n",
		9: "1\n2\n3\n4\n8\n9\n10\n / 1\ntwo\n3\n4\n8\n9\nten",
	} {
		top := f.Top(n)
		check.Equal(t, top.Old+" / "+top.New, want, "of %d lines it has %q", n)
		if n < 9 == (top.Note == "") || top.Added != 2 || top.Removed != 2 {
			t.Errorf("of %d lines it is +%d −%d, %q", n, top.Added, top.Removed, top.Note)
		}
	}
	if lines := f.Hunks[0].Lines; len(lines) != 5 || f.Note != "" {
		t.Errorf("it has changed itself: %v", f)
	}
}

func TestName(t *testing.T) {
	upper := func(s string) string { return strings.ToUpper(s) }
	for want, f := range map[string]FileDiff{
		"A":            {Path: "a", Operation: session.OperationModify},
		"A (new)":      {Path: "a", Operation: session.OperationAdd},
		"A (deleted)":  {Path: "a", Operation: session.OperationDelete},
		"B → A":        {Path: "a", OldPath: "b", Operation: session.OperationMove},
		"B → A (copy)": {Path: "a", OldPath: "b", Operation: session.OperationCopy},
	} {
		check.Equal(t, f.Name(upper), want, "got %q")
	}
}

// A file that an agent calls moved to where it was is not moved.
func TestNotMoved(t *testing.T) {
	d := change("a\n", "b\n")
	for old, want := range map[string]string{d.Path: "", "/old": "/old"} {
		d.OldPath = old
		check.Equal(t, Told(d).OldPath, want, "it was at %q")
	}
}

// A change as diff -u writes it, for tools and people that read it: a side without a file is /dev/null.
func TestUnified(t *testing.T) {
	patch := "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
	for name, c := range map[string]struct {
		d          session.Diff
		name, want string
	}{
		"a change":             {session.Diff{OldText: ptr("a\n"), NewText: ptr("b\n")}, "f", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"},
		"of an absolute path":  {session.Diff{OldText: ptr("a\n"), NewText: ptr("b\n")}, "/f", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"},
		"a new file":           {session.Diff{NewText: ptr("b\n")}, "f", "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+b\n"},
		"a new file, told":     {session.Diff{Operation: session.OperationAdd, OldText: ptr(""), NewText: ptr("b\n")}, "f", "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+b\n"},
		"without a new text":   {session.Diff{OldText: ptr("a\n")}, "f", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
		"a removal, told":      {session.Diff{Operation: session.OperationDelete, OldText: ptr("a\n"), NewText: ptr("")}, "f", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
		"a removal, no text":   {session.Diff{Operation: session.OperationDelete}, "f", "delete f"},
		"nothing":              {session.Diff{}, "f", "f"},
		"a patch":              {session.Diff{OldText: ptr(""), Patch: patch}, "f", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"},
		"a patch of a removal": {session.Diff{Operation: session.OperationDelete, Patch: patch}, "f", "--- a/f\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n"},
		"a patch of a move":    {session.Diff{OldPath: "/x", Patch: patch}, "f", patch},
		"a patch of a mode":    {session.Diff{Patch: "old mode 100644\nnew mode 100755\n"}, "f", "old mode 100644\nnew mode 100755\n"},
	} {
		check.Equal(t, Unified(c.d, c.name), c.want, name+" is\n%s")
	}
}
