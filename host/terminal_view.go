package host

import (
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/terminal"
)

// terminalView is the buffer in Neovim that shows a terminal, as a source of
// the editor: it sends what is new when Neovim has time, and nothing while no
// window shows it. It outlives its session until all of it is shown.
type terminalView struct {
	host *Host
	term *sessionTerminal

	mu     sync.Mutex // guards the fields below
	open   bool       // the buffer takes bytes
	seen   bool       // a window shows it
	last   bool       // the session is closed: what is left is sent in any case
	reader terminal.Reader
	told   bool // how the command ended
}

// viewLimit is how much Neovim gets at a time: it takes longer to show a
// terminal's bytes than to take them.
const viewLimit = 16 << 10

// show says that the buffer was opened anew, or is shown in windows the largest
// of which has this size. A size of 0 is that of no window.
func (v *terminalView) show(anew bool, cols, rows int) {
	v.mu.Lock()
	if anew {
		v.open, v.told, v.reader = true, false, terminal.Reader{}
	}
	v.seen = v.open && cols > 0 && rows > 0
	seen := v.seen
	v.mu.Unlock()
	if !seen {
		return
	}
	if own := v.term.own; own != nil && v.term.running() {
		own.Resize(cols, rows)
	}
	v.host.editor.Mark(v)
}

// shut says that the buffer is gone.
func (v *terminalView) shut() {
	v.mu.Lock()
	v.open, v.seen = false, false
	v.mu.Unlock()
	v.host.editor.Forget(v)
}

// finish sends what is left, whether it is seen or not; nobody will ask again.
func (v *terminalView) finish() {
	v.mu.Lock()
	v.last = true
	v.mu.Unlock()
	v.changed()
}

// changed says that there is something to send.
func (v *terminalView) changed() {
	v.mu.Lock()
	wanted := v.wanted()
	v.mu.Unlock()
	if wanted {
		v.host.editor.Mark(v)
	}
}

func (v *terminalView) wanted() bool { return v.open && (v.seen || v.last) }

// Interval lets the editor choose the pace.
func (v *terminalView) Interval() time.Duration { return 0 }

// Take returns the next bytes for the buffer, and behind the last ones how the
// command ended.
func (v *terminalView) Take(budget int) ([]editor.Op, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.wanted() {
		return nil, false
	}
	exit, ended := v.term.ended() // before the bytes, which are all then
	data, anew, more := v.term.display.Read(&v.reader, min(budget, viewLimit))
	if anew {
		v.told = false
	}
	if ended && !more && !v.told {
		v.told = true
		data = append(data, v.term.display.Epilogue("["+exit.String()+"]")...)
	}
	if v.last && !more && (v.told || v.term.own == nil) {
		v.host.editor.Forget(v) // nothing will come any more
	}
	if len(data) == 0 && !anew {
		return nil, false
	}
	op := editor.Do(rpc.TerminalOutput{
		In: rpc.In{Session: v.term.session}, Number: v.term.number, Anew: anew, Data: string(data),
	})
	op.Done = func(_ any, err error) {
		if err != nil {
			v.host.log.Error("show a terminal", "session", v.term.session, "terminal", v.term.id, "err", err)
			v.shut()
		}
	}
	return []editor.Op{op}, more
}
