package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/neovim/go-client/nvim"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// Options are the host's start options.
type Options struct {
	Version string
	API     string // the revision that Lua speaks; "" is not told
	Log     *slog.Logger

	NerdFont bool   // see transcript.Config
	Cache    string // the folder for files that agents send; "" for none
	State    string // the folder for writes that may be cut short; "" for none
	Data     string // the folder of checkpoints; "" for none
	NoLog    string // the file that could not be opened to log to; "" for none
}

// Serve talks to Neovim until it closes the pipe or ctx ends, then ends all agents.
func Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, o Options) error {
	if o.API != "" && o.API != rpc.Revision {
		return fmt.Errorf("the plugin speaks revision %s, this program %s", o.API, rpc.Revision)
	}
	// Little memory is live and much passes through: no collection starts for less than half of this much garbage. The
	// ballast is never touched, so it costs nothing. If much is live, the limit is half of that.
	idle := make([]byte, ballast)
	defer runtime.KeepAlive(idle)
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	from := newInbox(in)
	v, err := nvim.New(from, out, out, func(format string, args ...any) { o.Log.Debug(fmt.Sprintf(format, args...)) })
	if err != nil {
		return fmt.Errorf("speak with Neovim: %w", err)
	}
	h := newHost(o, lua{v})
	h.inbox, h.files.Inbox = from, from
	if err := v.RegisterHandler("acp", h.receive); err != nil {
		return fmt.Errorf("speak with Neovim: %w", err)
	}
	h.background(h.editor.Run)
	h.background(func() { styled.Cells("…") }) // builds a table that the first turn would wait for
	h.background(func() {
		if err := h.blobs.Clean(time.Now()); err != nil {
			h.log.Warn("clean the folder of what agents sent", "err", err)
		}
	})
	h.background(h.offerUnfinished)
	h.editor.Post(editor.Do(rpc.Hello{Revision: rpc.Revision, Version: o.Version, Groups: styled.Groups()}))
	stop := context.AfterFunc(ctx, func() { in.Close() })
	defer stop()
	err = v.Serve()
	h.shutdown()
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		return fmt.Errorf("speak with Neovim: %w", err)
	}
	return nil
}

// lua executes batches with lua/acp/rpc/ops.lua.
type lua struct{ *nvim.Nvim }

func (l lua) Batch(ops []any) ([]any, time.Duration, error) {
	var reply struct {
		Busy    float64 `msgpack:"busy"` // milliseconds
		Answers []any   `msgpack:"answers"`
	}
	err := l.ExecLua("return require('acp.rpc.ops').batch(...)", &reply, rpc.Packed{Value: ops})
	return reply.Answers, time.Duration(reply.Busy * float64(time.Millisecond)), err
}
