package transcript

import (
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
)

// toldFiles are changes as the agent told them.
func toldFiles() func(*session.ToolCall) []*diff.File {
	known := map[session.Diff]*diff.File{}
	return func(c *session.ToolCall) (files []*diff.File) {
		for _, item := range c.Content {
			d, ok := item.(session.Diff)
			if !ok {
				continue
			}
			if known[d] == nil {
				f := diff.Told(d)
				known[d] = &f
			}
			files = append(files, known[d])
		}
		return files
	}
}
