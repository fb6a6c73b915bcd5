package terminals

import (
	"context"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// runKeeps is how many bytes of a command's output are kept, see [Set.Run].
const runKeeps = 256 << 10

// Run runs a command in a terminal that the user sees, and reports its output and how it ended. It is killed when ctx
// ends. Any goroutine.
func (s *Set) Run(ctx context.Context, argv []string, done func(output, exit string, err error)) {
	create := session.CreateTerminal{Command: argv[0], Args: argv[1:], OutputByteLimit: runKeeps}
	create.Reply = func(id string, err error) {
		if err != nil {
			done("", "", err)
			return
		}
		s.Background(func() {
			t, err := s.Get(id)
			if err != nil {
				done("", "", err)
				return
			}
			exit, err := t.Wait(ctx)
			output := t.Output().Text
			t.Release() // which ends what still runs
			done(output, styled.OneLine(exit.String()), err)
		})
	}
	if !s.Box.Put(func() { s.Create(create) }) {
		done("", "", feature.ErrClosed)
	}
}
