package diffview

import (
	"log/slog"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// Labels returns what each side of a change is; done means that it was already made, and short shortens a path for
// display.
func Labels(f diff.FileDiff, done bool, short func(string) string) (before, after string) {
	before, after = "now", "proposed"
	if done {
		before, after = "before", "after"
	}
	if !f.Located {
		before, after = "old text", "new text"
	}
	switch f.Operation {
	case session.OperationAdd:
		before = "no file"
		after = "new file"
	case session.OperationDelete:
		after = "deleted"
	case session.OperationMove:
		after = "moved from " + short(f.OldPath)
	case session.OperationCopy:
		after = "copied from " + short(f.OldPath)
	}
	return before, after
}

// Send sends the pieces of a view, each when Neovim has taken the one before, and then the answer to the callback. It
// stops with an empty answer when Neovim no longer needs them. Any goroutine may call it.
func Send(nvim *editor.Editor, log *slog.Logger, callback int, pieces []rpc.DiffPiece, answer rpc.Diff) {
	if len(pieces) == 0 {
		nvim.Answer(callback, answer, "")
		return
	}
	piece := pieces[0]
	piece.ID = callback
	op := editor.Do(piece)
	op.Done = func(wanted any, err error) {
		switch wanted, _ := wanted.(bool); {
		case err != nil:
			log.Error("show a diff", "err", err)
			nvim.Answer(callback, nil, "")
		case !wanted:
			nvim.Answer(callback, nil, "")
		default:
			Send(nvim, log, callback, pieces[1:], answer)
		}
	}
	nvim.Post(op)
}
