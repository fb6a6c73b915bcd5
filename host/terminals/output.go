package terminals

import (
	"strings"

	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/terminal"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// outputWidth is where overlong lines of a command's output are broken, in cells.
const outputWidth = 2000

// Output returns the last n lines of what a command wrote, as a terminal shows them; see [transcript.Config].
func Output(text string, n int) transcript.Screenful {
	rows := strings.Count(text, "\n") + 1 + len(text)/outputWidth
	screen := terminal.NewScreen(outputWidth, min(rows, n), 1)
	_, _ = screen.Write([]byte("\x1b[20h")) // it came without a terminal's carriage returns
	_, _ = screen.Write([]byte(text))
	return screenful(screen.Tail(n))
}

// OutputLines returns all lines of what a command wrote.
func OutputLines(text string) transcript.Lines {
	next := terminal.Resolve(text, outputWidth)
	return func() (styled.Line, bool) {
		l, ok := next()
		return chatLine(l), ok
	}
}

func screenful(lines []terminal.Line, total int) transcript.Screenful {
	s := transcript.Screenful{Total: total, Lines: make([]styled.Line, len(lines))}
	for i, l := range lines {
		s.Lines[i] = chatLine(l)
	}
	return s
}

// chatLine keeps of a terminal's colours those that the user's scheme names.
func chatLine(l terminal.Line) styled.Line {
	out := styled.Line{Text: l.Text}
	for _, sp := range l.Spans {
		if c, named := sp.Style.FG.Palette(); named && c < 16 {
			out.Marks = append(out.Marks, styled.Mark{Col: sp.Col, EndCol: sp.EndCol, Group: styled.Ansi0 + styled.Group(c)})
		}
	}
	return out
}
