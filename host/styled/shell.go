package styled

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellLimit bounds the commands that are highlighted: the parser recurses as deep as they nest.
const shellLimit = 32 << 10

// Shell returns a highlighted command line; one that cannot be parsed is plain.
func Shell(command string) (shown []Line) {
	shown = plainLines(command)
	if len(command) > shellLimit {
		return shown
	}
	defer func() {
		if broken := recover(); broken != nil { // a bug in the parser, on an agent's input
			shown = plainLines(command)
		}
	}()
	file, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(command), "")
	if err != nil {
		return shown
	}
	spans := shellSpans(file)
	row, begin := 0, 0
	for _, s := range spans {
		for row+1 < len(shown) && begin+len(shown[row].Text) < s.from {
			begin += len(shown[row].Text) + 1
			row++
		}
		// A string may go over several lines.
		for r, at := row, begin; r < len(shown) && at < s.to; r++ {
			from, to := max(s.from-at, 0), min(s.to-at, len(shown[r].Text))
			if from < to {
				shown[r].Marks = append(shown[r].Marks, Mark{from, to, s.group})
			}
			at += len(shown[r].Text) + 1
		}
	}
	return shown
}

type shellSpan struct {
	from, to int
	group    Group
}

// shellSpans returns spans in text order, an outer one before those in it.
func shellSpans(file *syntax.File) []shellSpan {
	var spans []shellSpan
	add := func(from, to syntax.Pos, group Group) {
		if from.IsValid() && to.IsValid() {
			spans = append(spans, shellSpan{int(from.Offset()), int(to.Offset()), group})
		}
	}
	operator := func(at syntax.Pos, op string) {
		if at.IsValid() {
			spans = append(spans, shellSpan{int(at.Offset()), int(at.Offset()) + len(op), ShellOperator})
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if n.Semicolon.IsValid() {
				operator(n.Semicolon, ";")
			}
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				add(n.Args[0].Pos(), n.Args[0].End(), ShellCommand)
			}
		case *syntax.BinaryCmd:
			operator(n.OpPos, n.Op.String())
		case *syntax.Redirect:
			operator(n.OpPos, n.Op.String())
		case *syntax.Subshell:
			operator(n.Lparen, "(")
			operator(n.Rparen, ")")
		case *syntax.CmdSubst:
			if n.Backquotes {
				operator(n.Left, "`")
			} else {
				operator(n.Left, "$(")
			}
			operator(n.Right, ")")
		case *syntax.ProcSubst:
			operator(n.OpPos, n.Op.String())
			operator(n.Rparen, ")")
		case *syntax.SglQuoted:
			add(n.Pos(), n.End(), ShellString)
		case *syntax.DblQuoted:
			add(n.Pos(), n.End(), ShellString)
		case *syntax.ParamExp:
			add(n.Pos(), n.End(), ShellVariable)
		case *syntax.Assign:
			if n.Name != nil {
				add(n.Name.Pos(), n.Name.End(), ShellVariable)
			}
		case *syntax.Comment:
			add(n.Pos(), n.End(), More)
		}
		return true
	})
	slices.SortStableFunc(spans, func(a, b shellSpan) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	return spans
}
