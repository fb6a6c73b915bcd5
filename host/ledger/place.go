package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// placement is what a file is to become by the user's wish.
type placement struct {
	path      string
	now, want review.Content
	mode      fs.FileMode // permission bits; 0: as they are
	back      string      // where it is to be moved, or ""
	merge     func(now string) string
}

// place gives a file what is wanted, if it is still as it was, or else what merge makes of it; done runs on
// the ledger's goroutine.
func (l *Ledger) place(p placement, done func(error)) {
	files := l.config.Files
	ctx := context.Background()
	answer := func(w buffers.Written, err error) {
		l.box.Put(func() {
			var e *buffers.Error
			if errors.As(err, &e) {
				err = e.Err
			}
			done(err)
		})
	}
	same := func(now *string) bool {
		if now == nil {
			return !p.now.Exists
		}
		is := textContent(*now)
		return is == p.now || p.now.Exists && is.Mark() == p.now.Mark()
	}
	var mode *fs.FileMode
	if p.mode != 0 {
		mode = &p.mode
	}
	switch {
	case p.back != "" && !p.now.Exists:
		l.place(placement{path: p.back, want: p.want, mode: p.mode}, done)
	case p.back != "":
		l.moveBack(p, done)
	case p.want.Opaque && p.want == p.now && mode == nil:
		done(nil)
	case p.want.Opaque, p.want.Exists && !p.now.Exists && l.originals.find(p.path, p.want, l.turn) != nil:
		old := l.originals.find(p.path, p.want, l.turn)
		if old == nil {
			done(errForgotten)
			return
		}
		l.see(p.path, true, func(seen sight) {
			p.mode = cmp.Or(p.mode, seen.mode, old.mode)
			if seen.Content != p.now && seen.Mark() != p.now.Mark() {
				done(errMovedOn)
				return
			}
			l.originals.keepDisk(p.path, p.now)
			files.Restore(ctx, p.path, old.data, p.mode, answer)
		})
	default:
		if !p.want.Exists {
			l.originals.keepDisk(p.path, p.now)
		}
		edited := func(w buffers.Written, err error) {
			if errors.Is(err, errLeftOpen) {
				// As for another program that brings it back: the buffer follows, and what conflicts is shown.
				files.Restore(ctx, p.path, []byte(p.want.Text), cmp.Or(p.mode, 0o644), answer)
				return
			}
			answer(w, err)
		}
		files.Edit(ctx, buffers.Edit{Path: p.path, Mode: mode, Change: func(now *string) (*string, error) {
			switch {
			case !p.now.Exists && p.want.Exists && now != nil && gone(p.path):
				return nil, errLeftOpen
			case !same(now) && (p.merge == nil || now == nil):
				return nil, errMovedOn
			case !same(now):
				text := p.merge(*now)
				return &text, nil
			case !p.want.Exists:
				return nil, nil
			case p.want.Opaque: // its permissions alone
				return now, nil
			}
			return &p.want.Text, nil
		}}, edited)
	}
}

// errLeftOpen tells that a buffer still has what it had of a file that is gone, and what the user has made of
// that.
var errLeftOpen = errors.New("a buffer has unsaved text of the file that is gone")

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// moveBack puts a file where it was before it was moved, with what is wanted of it.
func (l *Ledger) moveBack(p placement, done func(error)) {
	if _, err := os.Lstat(p.back); err == nil {
		done(fmt.Errorf("it cannot go back to %s, where another file is", l.config.Short(p.back)))
		return
	}
	info, err := os.Stat(p.path)
	data, err2 := os.ReadFile(p.path)
	if err := cmp.Or(err, err2); err != nil {
		done(err)
		return
	}
	mode := p.mode
	if mode == 0 {
		mode = info.Mode().Perm()
	}
	ctx := context.Background()
	// As it is first, which keeps its encoding; then what is wanted.
	l.config.Files.Restore(ctx, p.back, data, mode, func(_ buffers.Written, err error) {
		l.box.Put(func() {
			if err != nil {
				done(err)
				return
			}
			to := placement{path: p.back, now: textContent(buffers.Decoded(data)), want: p.want}
			if to.now == p.want.Mark() || to.now.Mark() == p.want {
				to.now = p.want
			}
			if base := to.now; !base.Opaque && p.want.Exists && !p.want.Opaque {
				// A buffer may have unsaved text of a file that was there before.
				to.merge = func(now string) string {
					text, _ := buffers.Merge(base.Text, now, p.want.Text)
					return text
				}
			}
			l.place(to, func(err error) {
				if err != nil {
					done(err)
					return
				}
				l.place(placement{path: p.path, now: p.now}, done)
			})
		})
	})
}
