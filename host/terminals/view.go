package terminals

import (
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/terminal"
)

// view is the buffer in Neovim that shows a terminal, as a source of the editor: it sends what is new when Neovim has
// time, and nothing while no window shows it. It outlives its session until all of it is shown. Any goroutine.
type view struct {
	term *Terminal

	mu     sync.Mutex // guards the fields below
	open   bool       // the buffer takes bytes
	seen   bool       // a window shows it
	last   bool       // the session is closed: what is left is sent in any case
	reader terminal.Reader
	told   bool // how the command ended
}

// viewLimit is how many bytes Neovim gets at a time: it takes longer to show them than to take them.
const viewLimit = 16 << 10

// show is called when the buffer was reopened, or is shown in windows the largest of which has this size; 0 means no
// window.
func (v *view) show(anew bool, cols, rows int) {
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
	v.editor().Mark(v)
}

// shut is called when the buffer is gone.
func (v *view) shut() {
	v.mu.Lock()
	v.open, v.seen = false, false
	v.mu.Unlock()
	v.editor().Forget(v)
}

// finish sends what is left, whether it is seen or not; nobody will ask again.
func (v *view) finish() {
	v.mu.Lock()
	v.last = true
	v.mu.Unlock()
	v.changed()
}

// changed is called when there is something to send.
func (v *view) changed() {
	v.mu.Lock()
	wanted := v.wanted()
	v.mu.Unlock()
	if wanted {
		v.editor().Mark(v)
	}
}

func (v *view) wanted() bool { return v.open && (v.seen || v.last) }

func (v *view) editor() *editor.Editor { return v.term.set.Editor }

// Interval lets the editor choose the pace.
func (v *view) Interval() time.Duration { return 0 }

// Take returns the next bytes for the buffer, and after the last ones how the command ended.
func (v *view) Take(budget int) ([]editor.Op, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.wanted() {
		return nil, false
	}
	t := v.term
	exit, ended := t.ended() // before the bytes, which are all then
	data, anew, more := t.display.Read(&v.reader, min(budget, viewLimit))
	if anew {
		v.told = false
	}
	if ended && !more && !v.told {
		v.told = true
		data = append(data, t.display.Epilogue("["+exit.String()+"]")...)
	}
	if v.last && !more && (v.told || t.own == nil) {
		v.editor().Forget(v) // nothing will come any more
	}
	if len(data) == 0 && !anew {
		return nil, false
	}
	op := editor.Do(rpc.TerminalOutput{
		In: rpc.In{Session: t.set.Session}, Number: t.number, Anew: anew, Data: string(data),
	})
	op.Done = func(_ any, err error) {
		if err != nil {
			t.set.Log.Error("show a terminal", "session", t.set.Session, "terminal", t.id, "err", err)
			v.shut()
		}
	}
	return []editor.Op{op}, more
}
