package host

import (
	"os"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
)

// scanner takes snapshots of a session's folders, one after the other. It belongs to the goroutine of
// changes.box.
type scanner struct {
	host     *Host
	roots    []string
	box      *mailbox
	latest   *checkpoint.Snapshot // nil before the first
	previous *checkpoint.Snapshot // the one before it
	running  bool
	then     []func(*checkpoint.Snapshot) // what waits for the next one
}

// scan takes a snapshot; done runs on the goroutine of box, with nil where there is none.
func (c *scanner) scan(done func(*checkpoint.Snapshot)) {
	if c.host.store == nil || !scannable(c.roots) {
		done(nil)
		return
	}
	if c.then = append(c.then, done); !c.running {
		c.start()
	}
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
		c.box.put(func() {
			c.running = false
			if snap != nil {
				c.previous, c.latest = c.latest, snap
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
