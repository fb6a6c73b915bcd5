package host

import (
	"strings"

	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/terminal"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// outputWidth is where lines of a command's output are broken that have no end,
// in cells.
const outputWidth = 2000

// resolved is the end of what a command wrote, as a terminal shows it; see
// [transcript.Config].
func resolved(text string, n int) transcript.Screenful {
	rows := strings.Count(text, "\n") + 1 + len(text)/outputWidth
	screen := terminal.NewScreen(outputWidth, min(rows, n), 1)
	_, _ = screen.Write([]byte("\x1b[20h")) // it came without a terminal's carriage returns
	_, _ = screen.Write([]byte(text))
	lines, total := screen.Tail(n)
	out := transcript.Screenful{Total: total, Lines: make([]styled.Line, len(lines))}
	for i, l := range lines {
		out.Lines[i] = chatLine(l)
	}
	return out
}

// resolvedLines are all lines of what a command wrote.
func resolvedLines(text string) transcript.Lines {
	next := terminal.Resolve(text, outputWidth)
	return func() (styled.Line, bool) {
		l, ok := next()
		return chatLine(l), ok
	}
}
