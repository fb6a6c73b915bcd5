package host

import (
	"os"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
)

// scanner takes snapshots of a session's folders, one after the other. It belongs to the goroutine of
// changes.box.
type scanner struct {
	host     *Host
	roots    []string
	box      *mailbox.Mailbox
	latest   *checkpoint.Snapshot // nil before the first
	previous *checkpoint.Snapshot // the one before it
	running  bool
	then     []func(*checkpoint.Snapshot) // what waits for the next one
	early    []func()                     // what waits for the one that is under way
	lacks    lack                         // as told last
	tell     func(lack)
}

// lack says what the copies of a project leave out.
type lack struct {
	Why   string // "" for nothing
	Files string // some of them, "a, b"
}

// namedLacks is how many of the files that are left out are named.
const namedLacks = 3

// saw tells what a snapshot leaves out, if that is new; without one the folders are none of a project's.
func (c *scanner) saw(snap *checkpoint.Snapshot) {
	now := lack{Why: "none are made in your home folder itself, or above it"}
	if snap != nil {
		now = lack{Why: snap.Partial.String()}
		if now.Why != "" {
			now.Files = strings.Join(snap.Without(namedLacks), ", ")
		}
	}
	if now != c.lacks {
		c.lacks = now
		c.tell(now)
	}
}

// scan takes a snapshot; done runs on the goroutine of box, with nil where there is none.
func (c *scanner) scan(done func(*checkpoint.Snapshot)) {
	if c.host.store == nil || !scannable(c.roots) {
		if c.host.store != nil {
			c.saw(nil)
		}
		done(nil)
		return
	}
	if c.then = append(c.then, done); !c.running {
		c.start()
	}
}

// first calls done when there is a snapshot, or none is under way.
func (c *scanner) first(done func()) {
	if c.latest != nil || !c.running {
		done()
		return
	}
	c.early = append(c.early, done)
}

// start has all that wait served by one snapshot, taken from now on.
func (c *scanner) start() {
	c.running = true
	waiting, last := c.then, c.latest
	c.then = nil
	c.host.background(func() {
		over := c.host.over
		snap, err := c.host.store.Snapshot(over, c.roots, last)
		if err != nil && over.Err() == nil {
			c.host.log.Warn("look at the project's files", "err", err)
		}
		c.box.Put(func() {
			c.running = false
			if snap != nil {
				c.previous, c.latest = c.latest, snap
				c.saw(snap)
			}
			early := c.early
			c.early = nil
			for _, f := range early {
				f()
			}
			for _, f := range waiting {
				f(snap)
			}
			if len(c.then) > 0 && !c.running {
				c.start()
			}
		})
	})
}

// scannable tells whether folders are those of a project: not the user's home, and not all of the machine.
func scannable(roots []string) bool {
	home, _ := os.UserHomeDir()
	return !slices.ContainsFunc(roots, func(root string) bool {
		return root == "/" || home != "" && (root == home || strings.HasPrefix(home, root+"/"))
	})
}

// tellLacks has Neovim know what the copies of the session's folders leave out. Any goroutine.
func (s *Session) tellLacks(now lack) {
	s.box.Put(func() {
		s.lacks = now
		s.changed()
	})
}
