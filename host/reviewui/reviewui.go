// Package reviewui is what the user sees of the record of changes, and does with it: the review page, decisions,
// comments and the prompt that sends them, marks in the user's own buffers, the quickfix list, and undoing a turn. What
// agents have changed and what becomes of it is known in [ledger] and [review].
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

// Config is what the review of a session needs of its surroundings. Its functions belong to the session's goroutine,
// but for Fill, which any may call.
type Config struct {
	feature.Base
	Ledger   *ledger.Ledger
	Overlaps *Overlaps
	Marks    *Marks

	ConversationTitle func() string // "" for none yet
	TurnOpen          func() bool
	// Unable says why the user cannot send a prompt any more; "" while that is possible.
	Unable func() string
	// Send sends a prompt, and reports whether it waits in the queue.
	Send func(text string) (waits bool)
	// Due has the chat say what is pending, below the turn that has just ended where turn is true.
	Due func(due transcript.Due, turn bool)
	// DueKey is the key of the chat that keeps all that is pending, "" for none. Where say is false the chat says
	// nothing of what is pending.
	DueKey func() (key string, say bool)

	Hurry func()                                                  // has Neovim told at once, even if nobody sees the chat
	Edit  func(page.Edit) rpc.Edit                                // an edit as Lua takes it
	Draw  func(of interface{ Reset() }, edit editor.Op) editor.Op // has a page drawn anew where the edit fails
	Fill  func(buf int, lines []styled.Line)                      // fills a buffer
	// TooLarge reports whether a file is too large for Neovim to compare it.
	TooLarge func(lines, changes int) bool
}

// Review is what the user sees of a session's record. It belongs to the session's goroutine.
type Review struct {
	Tab      *Tab
	Comments *Comments

	config  *Config
	files   *files
	toTell  map[int]*rpc.ChangedFile // that Lua is to be told, by id; nil for what is gone
	changed bool                     // the agent has changed something since the last turn's end
}

// New returns the review of a session.
func New(config Config) *Review {
	r := &Review{config: &config, files: newFiles(), toTell: map[int]*rpc.ChangedFile{}}
	r.Tab = &Tab{config: r.config, files: r.files, conflicts: map[string]int{}}
	r.Comments = &Comments{config: r.config, files: r.files, tab: r.Tab, knownRefusals: map[string]bool{}}
	r.Tab.comments = r.Comments
	return r
}

// Update is what is new in the record. It is made on the ledger's goroutine, see [NewUpdate], to be taken by
// [Review.Take].
type Update struct {
	changed []review.File
	gone    []int
	files   map[int]*rpc.ChangedFile // as Lua keeps them, by id; nil for what is gone
}

// NewUpdate makes an update of files that have changed, and of the ids of those that are gone from the record. Any
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

// TurnEnded hears that the agent's turn has ended.
func (r *Review) TurnEnded() { r.sayDue(false) }

// sayDue has the chat say what waits for a review.
func (r *Review) sayDue(byAgent bool) {
	key, say := r.config.DueKey()
	if !say {
		return
	}
	r.changed = r.changed || byAgent
	ended := r.changed && !r.config.TurnOpen()
	due := r.files.due
	due.Key = key
	r.config.Due(due, ended)
	r.changed = r.changed && !ended
}

// Close says that the session has ended, and its record is none of the host's any more.
func (r *Review) Close() {
	r.config.Overlaps.forget(r.Tab)
	r.config.Marks.SessionClosed()
}

// Ops tell Lua which files have changed.
func (r *Review) Ops() []editor.Op {
	if len(r.toTell) == 0 {
		return nil
	}
	list := make([]rpc.ChangedFileAt, 0, len(r.toTell))
	for id, file := range r.toTell {
		list = append(list, rpc.ChangedFileAt{At: id, File: file})
	}
	r.toTell = map[int]*rpc.ChangedFile{}
	return []editor.Op{editor.Do(rpc.Changes{In: rpc.In{Session: r.config.Session}, Files: list})}
}

// luaFile is a file as Lua keeps it: each hunk as its four numbers, and the letter of its state.
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
