package buffers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

const (
	// slowSave is how long saving may take before the user is told what it costs.
	slowSave = 100 * time.Millisecond
	// asking is how long the agent waits for it.
	asking = 2 * time.Second
)

// saveAsUser saves the buffer again as the user's :write does, with all that hangs on it. The disk has
// the text already, so whatever goes wrong here is no failure of the write. What comes of it, as of a
// formatter, counts as the agent's. waiting is called where it takes long.
func (w *liveWrite) saveAsUser(ctx context.Context, waiting func()) {
	if waiting != nil {
		timer := time.AfterFunc(asking, waiting)
		defer timer.Stop()
		ctx = context.WithoutCancel(ctx) // the agent's request may be over by then
	}
	args := map[string]any{"path": w.path, "buf": w.Buf, "changedtick": w.save, "changed": w.edited}
	got, err := hand(ctx, w, "save", args, func(saved) { w.kept.end() })
	if err != nil {
		return // Neovim is gone, or nobody waits
	}
	w.kept.end()
	if got.Moved {
		return
	}
	name := filepath.Base(w.path)
	var notes []string
	if got.Err != "" {
		notes = append(notes, fmt.Sprintf("An autocommand failed when %s was saved, which was done without: %s.", name, strings.TrimRight(got.Err, ".")))
	}
	if took := time.Duration(got.Took * float64(time.Millisecond)); took > slowSave {
		notes = append(notes, fmt.Sprintf("Saving %s took %v with your autocommands.", name, took.Round(10*time.Millisecond)))
	}
	w.Note = strings.Join(notes, " ")
	text, err := w.result(ctx)
	if err != nil || text == *w.After {
		return // or a later change on the disk, which is followed
	}
	w.After, w.Changed = &text, true
	w.settle(goal{disk: &text, synced: text})
}

// saved is what Neovim says of saving.
type saved struct {
	Moved bool    `msgpack:"moved"`
	Took  float64 `msgpack:"took"` // milliseconds
	Err   string  `msgpack:"err"`
}

// result is what saving has made of the file.
func (w *liveWrite) result(ctx context.Context) (string, error) {
	l, err := w.live(ctx, w.path)
	if err != nil {
		return "", err
	}
	disk, err := readFile(w.path)
	if err != nil {
		return "", err
	}
	if text, ok := l.decode(disk.data); ok && l.Buf == w.Buf {
		return text, nil
	}
	return "", errors.New("only Neovim can tell")
}
