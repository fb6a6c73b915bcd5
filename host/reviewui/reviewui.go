// Package reviewui is the user's view of the record of changes, and their actions on it: the review page, decisions,
// comments and the prompt that sends them, marks in the user's own buffers, the quickfix list, and undoing a turn. What
// agents have changed, and what was decided, is in [ledger] and [review].
package reviewui

import (
	"maps"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// Config is what the review of a session needs from its surroundings. Its functions belong to the session's goroutine,
// except for Fill, which any may call.
type Config struct {
	feature.Base
	Ledger   *ledger.Ledger
	Overlaps *Overlaps
	Marks    *Marks

	ConversationTitle func() string // "" for none yet
	TurnOpen          func() bool
	// Unable says why the user can no longer send a prompt; "" while they can.
	Unable func() string
	// Send sends a prompt, and reports whether it waits in the queue.
	Send func(text string) (waits bool)
	// Due makes the chat say what is pending, below the turn that has just ended if turn is true.
	Due func(due transcript.Due, turn bool)
	// DueKey returns the chat's key that keeps everything pending, "" for none. If shown is false, the chat does not say
	// what is pending.
	DueKey func() (key string, shown bool)

	Hurry func()                                                  // updates Neovim at once, even if nobody sees the chat
	Edit  func(page.Edit) rpc.Edit                                // converts an edit for Lua
	Draw  func(of interface{ Reset() }, edit editor.Op) editor.Op // redraws a page if the edit fails
	Fill  func(buf int, lines []styled.Line)                      // fills a buffer
	// TooLarge reports whether a file is too large for Neovim to compare it.
	TooLarge func(lines, changes int) bool
}

// Review is the user's view of a session's record. It belongs to the session's goroutine.
type Review struct {
	Tab      *Tab
	Comments *Comments

	config  *Config
	files   *files
	toTell  map[int]*rpc.ChangedFile // what to tell Lua, by id; nil for what is gone
	undo    *undo                    // the last one
	changed bool                     // the agent has changed something since the last turn ended
}

// New returns the review of a session.
func New(config Config) *Review {
	r := &Review{config: &config, files: newFiles(), toTell: map[int]*rpc.ChangedFile{}}
	r.Tab = &Tab{config: r.config, files: r.files, conflicts: map[string]int{}}
	r.Comments = &Comments{config: r.config, files: r.files, tab: r.Tab, knownRefusals: map[string]bool{}}
	r.Tab.comments = r.Comments
	return r
}

// Update is what is new in the record. It is made on the ledger's goroutine, see [NewUpdate], and taken by
// [Review.Take].
type Update struct {
	changed []review.File
	gone    []int
	files   map[int]*rpc.ChangedFile // as Lua keeps them, by id; nil for what is gone
}

// NewUpdate makes an update from files that have changed, and the ids of those that are gone from the record. Any
// goroutine may call it.
func NewUpdate(changed []review.File, gone []int) Update {
	u := Update{changed: changed, gone: gone, files: map[int]*rpc.ChangedFile{}}
	for _, f := range changed {
		u.files[f.ID] = luaFile(f)
	}
	for _, id := range gone {
		u.files[id] = nil
	}
	return u
}

// Take takes what is new in the record. byAgent says that the agent has just changed something.
func (r *Review) Take(u Update, byAgent bool) {
	if len(u.files) == 0 {
		return
	}
	maps.Copy(r.toTell, u.files)
	for _, f := range u.changed {
		if was := r.files.byID[f.ID]; was != nil && was.Path != f.Path {
			r.config.Marks.Changed(was.Path)
		}
		r.files.set(f)
		r.config.Marks.Changed(f.Path)
		r.Comments.moveWith(f)
		r.config.Overlaps.set(r.Tab, f.ID, f.Path, f.State == review.Pending)
	}
	for _, id := range u.gone {
		if was := r.files.byID[id]; was != nil {
			r.config.Marks.Changed(was.Path)
		}
		r.files.drop(id)
		r.config.Overlaps.set(r.Tab, id, "", false)
	}
	r.Comments.save(false)
	r.Tab.render()
	r.sayDue(byAgent)
}

// TurnEnded notes that the agent's turn has ended.
func (r *Review) TurnEnded() { r.sayDue(false) }

// sayDue makes the chat say what awaits review.
func (r *Review) sayDue(byAgent bool) {
	key, shown := r.config.DueKey()
	if !shown {
		return
	}
	r.changed = r.changed || byAgent
	ended := r.changed && !r.config.TurnOpen()
	due := r.files.due
	due.Key = key
	r.config.Due(due, ended)
	r.changed = r.changed && !ended
}

// Close says that the session has ended, and the host no longer has its record.
func (r *Review) Close() {
	r.config.Overlaps.forget(r.Tab)
	r.config.Marks.SessionClosed()
}

// filesAtOnce is how many files Lua gets in one batch.
const filesAtOnce = 1000

// Pending reports whether there is more to tell Lua.
func (r *Review) Pending() bool { return len(r.toTell) > 0 }

// Ops returns the operations that tell Lua which files have changed, no more than it takes at once.
func (r *Review) Ops() []editor.Op {
	if len(r.toTell) == 0 {
		return nil
	}
	list := make([]rpc.ChangedFileAt, 0, min(len(r.toTell), filesAtOnce))
	for id, file := range r.toTell {
		if len(list) == filesAtOnce {
			break
		}
		list = append(list, rpc.ChangedFileAt{At: id, File: file})
		delete(r.toTell, id)
	}
	if len(r.toTell) == 0 {
		r.toTell = map[int]*rpc.ChangedFile{} // a map that was large once stays slow
	}
	return []editor.Op{editor.Do(rpc.Changes{In: rpc.In{Session: r.config.Session}, Files: list})}
}

// luaFile returns a file as Lua keeps it: each hunk as its four numbers and the letter of its state.
func luaFile(f review.File) *rpc.ChangedFile {
	hunks := make([]int, 0, 4*len(f.Hunks))
	states := make([]byte, len(f.Hunks))
	for i, h := range f.Hunks {
		hunks = append(hunks, h.OldStart, h.OldCount, h.NewStart, h.NewCount)
		states[i] = h.State[0]
	}
	return &rpc.ChangedFile{
		Path: f.Path, OldPath: f.OldPath, Status: string(f.Status), State: string(f.State), Hunks: hunks, States: string(states),
	}
}
