package ledger

import (
	"os"
	"path/filepath"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
)

// folders are those that the agent has made, and that are removed with the last of its files when these are taken back.
type folders struct {
	inside func(string) bool // those of the session
	began  time.Time         // they were made since then,
	moved  map[string]bool   // or the agent has moved them, with what was in them
}

// foldersSince returns the folders of a session that were made since a time. A folder from which files were moved, and
// that is gone, was moved with them: moves has their old and new paths.
func (l *Ledger) foldersSince(began time.Time, moves [][2]string) folders {
	f := folders{l.config.Inside, began, map[string]bool{}}
	for _, m := range moves {
		from, to := filepath.Dir(m[0]), filepath.Dir(m[1])
		for ; m[0] != ""; from, to = filepath.Dir(from), filepath.Dir(to) {
			if isThere(from) {
				break
			}
			f.moved[to] = true
		}
	}
	return f
}

// remove removes a folder if it is one of them and empty, and then those above it that are.
func (f folders) remove(dir string) {
	if f.inside(dir) && (f.moved[dir] || buffers.IdentityOf(dir).MadeSince(f.began.Add(-Coarse))) && os.Remove(dir) == nil {
		f.remove(filepath.Dir(dir))
	}
}
