package buffers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// This file saves a buffer with the user's autocommands.

const (
	// slowSave is how long saving may take before the user is told.
	slowSave = 100 * time.Millisecond
	// asking is how long the agent waits for an autocommand that asks something.
	asking = 2 * time.Second
)

// saveAsUser saves the buffer again as the user's :write does, with its autocommands. The disk already has the text, so
// nothing that goes wrong here fails the write. The result, such as a formatter's changes, counts as the agent's.
// waiting is called if it takes long.
func (w *liveWrite) saveAsUser(ctx context.Context, waiting func()) {
	if waiting != nil {
		timer := time.AfterFunc(asking, waiting)
		defer timer.Stop()
		ctx = context.WithoutCancel(ctx) // the agent's request may end first
	}
	args := map[string]any{"path": w.path, "buf": w.Buf, "changedtick": w.save, "changed": w.edited}
	got, err := hand(ctx, w, "save", args, func(saved) { w.kept.end() })
	if err != nil {
		return // Neovim is gone, or nobody is waiting
	}
	w.kept.end()
	if got.Moved {
		return
	}
	name := filepath.Base(w.path)
	var notes []string
	if got.Err != "" {
		notes = append(notes, fmt.Sprintf("An autocommand failed when %s was saved, so it was saved without: %s.", name, strings.TrimRight(got.Err, ".")))
	}
	if took := time.Duration(got.Took * float64(time.Millisecond)); took > slowSave {
		notes = append(notes, fmt.Sprintf("Saving %s took %v with your autocommands.", name, took.Round(10*time.Millisecond)))
	}
	w.Note = strings.Join(notes, " ")
	now, err := w.result(ctx)
	if err != nil {
		return
	}
	if now.text != *w.After || now.form != w.FormAfter {
		k, ok := w.seen.get(w.path)
		if k.text = rebased(k.text, *w.After, now.text); ok && !w.own {
			w.seen.put(w.path, k)
		}
		w.After, w.FormAfter, w.Changed = &now.text, now.form, true
	}
	w.synced.put(w.path, now)
}

// saved is what Neovim reports about saving.
type saved struct {
	Moved bool    `msgpack:"moved"`
	Took  float64 `msgpack:"took"` // milliseconds
	Err   string  `msgpack:"err"`
}

// result returns what saving made of the file.
func (w *liveWrite) result(ctx context.Context) (inStep, error) {
	l, err := w.live(ctx, w.path)
	if err != nil {
		return inStep{}, err
	}
	disk, err := readFile(w.path)
	if err != nil {
		return inStep{}, err
	}
	text, ok := l.decode(disk.data)
	if !ok || l.Buf != w.Buf || l.Disk != nil && *l.Disk != disk.stamp() {
		return inStep{}, errors.New("only Neovim can tell, or it has changed since")
	}
	return inStep{text: text, form: disk.form(), at: disk.stamp(), written: l.Written}, nil
}
