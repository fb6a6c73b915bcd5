package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
)

const maxReviewed = 10 << 20 // bytes of a file that is compared by lines

var errNoWatch = errors.New("files are not watched")

// sight is a file as it was once.
type sight struct {
	path   string // the real one; "" where it could not be looked at
	loaded bool
	mode   fs.FileMode
	large  bool      // known by its time and size alone
	since  time.Time // the disk has it so
	review.Content
}

// see looks at a file; done runs on the ledger's goroutine. With settle what the disk has reaches the file's
// buffer first.
func (l *Ledger) see(path string, settle bool, done func(sight)) {
	answer := func(seen buffers.Seen, err error) {
		s := sight{path: seen.Path, loaded: seen.Loaded, mode: seen.Mode, since: seen.Since}
		switch {
		case errors.Is(err, buffers.ErrDirectory): // no file
		case err != nil:
			s.path = ""
		case !seen.Exists:
		case seen.Large:
			s.large, s.Content = true, review.Opaque(fmt.Sprint(seen.Disk))
		default:
			s.Content = textContent(seen.Text)
		}
		l.box.Put(func() {
			if s.loaded {
				l.loaded[s.path] = true
			}
			if l.turn != nil {
				l.turn.SawMode(s.path, s.mode)
			}
			done(s)
		})
	}
	w := l.config.Watch()
	if w == nil {
		answer(buffers.Seen{}, errNoWatch)
		return
	}
	w.Look(path, settle, maxReviewed, answer)
}

// seeAll looks at files, all of them as they are at the end: one that Took has changed meanwhile counts as
// not looked at.
func (l *Ledger) seeAll(paths []string, done func([]sight)) {
	found := make([]sight, len(paths))
	versions := make([]int, len(paths))
	missing := len(paths)
	if missing == 0 {
		done(found)
		return
	}
	for i, path := range paths {
		l.see(path, true, func(seen sight) {
			found[i], versions[i] = seen, l.version[seen.path]
			if missing--; missing > 0 {
				return
			}
			for i := range found {
				if l.version[found[i].path] != versions[i] {
					found[i] = sight{}
				}
			}
			done(found)
		})
	}
}

// textContent is a text for the record, without it where it is too long.
func textContent(text string) review.Content {
	c := review.Text(text)
	if len(text) > maxReviewed {
		return c.Mark()
	}
	return c
}
