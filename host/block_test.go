package host

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/terminals"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// While a large block is opened, what is kept of it beside its text is little.
func TestWholeOfMuchOutput(t *testing.T) {
	const size = 32 << 20
	for name, line := range map[string]string{
		"plain": "a line of the output of a command, as they are\n", "short": "x\n", "coloured": "\x1b[32mok\x1b[m a line of the output of a command\n",
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(line, size/len(line))
			conv := session.NewConversation(time.Now)
			chat := transcript.New(conv, transcript.Config{Now: time.Now, Files: func(*session.ToolCall) []*diff.FileDiff { return nil }, Resolve: terminals.OutputLines, Output: terminals.Output})
			conv.Apply(session.ToolCallPatch{
				ID: "a", Kind: acp.Set(session.KindExecute),
				Content: acp.Set([]session.ToolCallContent{session.ContentItem{Content: session.Text{Text: text}}}),
			})
			chat.Sync()
			chat.Take(1 << 30)
			memory := func() int {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return int(m.HeapAlloc)
			}
			before, largest, lines := memory(), 0, 0
			next := chat.Whole(0)().Lines
			for _, ok := next(); ok; _, ok = next() {
				if lines++; lines%(size/len(line)/4) == 1 {
					largest = max(largest, memory()-before)
				}
			}
			if want := strings.Count(text, "\n"); lines < want || lines > want+1 {
				t.Errorf("there are %d lines, not %d", lines, want)
			}
			if largest > size/2 {
				t.Errorf("%d MB are kept beside the text", largest>>20)
			}
			runtime.KeepAlive(text)
		})
	}
}
