package ledger

import (
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
)

// scanner takes snapshots of a session's folders, one after the other. It belongs to the ledger's goroutine.
type scanner struct {
	config   Config
	box      *mailbox.Mailbox
	latest   *checkpoint.Snapshot // nil before the first
	previous *checkpoint.Snapshot // the one before it
	running  bool
	then     []func(*checkpoint.Snapshot) // what waits for the next one
	early    []func()                     // what waits for the one in progress
	first    atomic.Bool                  // the first of all is in progress; any goroutine may ask
	lacks    Lack                         // as last passed on
	unseen   bool                         // there are files at which no snapshot looks
	release  func()                       // the watch of the folders; nil before the first
}

// Lack is what the copies of a project leave out.
type Lack struct {
	Why   string // "" for nothing
	Files string // some of them, "a, b"
}

// namedLacks is how many of the omitted files are named.
const namedLacks = 3

// saw passes on what a snapshot leaves out, if that is new; without one, the folders are not a project's.
func (c *scanner) saw(snap *checkpoint.Snapshot) {
	now := Lack{Why: "none are made in your home folder itself, or above it"}
	if c.unseen = snap == nil || snap.Partial.Unlisted > 0; snap != nil {
		now = Lack{Why: snap.Partial.String()}
		if now.Why != "" {
			now.Files = strings.Join(snap.Without(namedLacks), ", ")
		}
	}
	if now != c.lacks {
		c.lacks = now
		c.config.Lacks(now)
	}
}

// scan takes a snapshot; done runs on the ledger's goroutine, with nil if there is none.
func (c *scanner) scan(done func(*checkpoint.Snapshot)) {
	if c.config.Store == nil || !scannable(c.config.Roots) {
		if c.unseen = true; c.config.Store != nil {
			c.saw(nil)
		}
		done(nil)
		return
	}
	if c.then = append(c.then, done); !c.running {
		c.start()
	}
}

// start serves all that wait with one snapshot, taken from now on.
func (c *scanner) start() {
	c.running = true
	if c.release == nil {
		c.release = c.config.Store.Watch(c.config.Roots)
	}
	waiting, last := c.then, c.latest
	c.first.Store(last == nil)
	c.then = nil
	c.config.Background(func() {
		over := c.config.Over
		snap, err := c.config.Store.Snapshot(over, c.config.Roots, last)
		if err != nil && over.Err() == nil {
			c.config.Log.Warn("look at the project's files", "err", err)
		}
		c.box.Put(func() {
			c.running = false
			c.first.Store(false)
			if snap != nil {
				c.previous, c.latest = c.latest, snap
				c.saw(snap)
			}
			for _, f := range waiting {
				f(snap)
			}
			early := c.early
			c.early = nil
			for _, f := range early {
				f()
			}
			if len(c.then) > 0 && !c.running {
				c.start()
			}
		})
	})
}

// end stops watching.
func (c *scanner) end() {
	if c.release != nil {
		c.release()
	}
}

// Unseen reports whether the folders have files that no snapshot covers: of those only what calls name is known. Call
// it on the ledger's goroutine.
func (l *Ledger) Unseen() bool { return l.scans.unseen }

// LookAtFolders takes a snapshot of the session's folders.
func (l *Ledger) LookAtFolders() { l.box.Put(l.lookAtFolders) }

func (l *Ledger) lookAtFolders() { l.scans.scan(func(*checkpoint.Snapshot) {}) }

// scannable reports whether folders are a project's: not the user's home, and not the whole machine.
func scannable(roots []string) bool {
	home, _ := os.UserHomeDir()
	return !slices.ContainsFunc(roots, func(root string) bool {
		return root == "/" || root == home || strings.HasPrefix(home, root+"/")
	})
}
