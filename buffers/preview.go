package buffers

import (
	"context"
	"errors"
	"io/fs"
)

// Preview is what a write would do to a file.
type Preview struct {
	Exists bool   // the file is there, or a buffer with text of that name
	Before string // the text as the user has it, unsaved text included
	After  string // the text after the write, with the user's lines where both changed the same ones
	// Conflicts is the number of these places.
	Conflicts int
	Text      string // the agent's text, with the line ends that reads return
}

// Preview computes what w would do, without doing it; done is as with [Files.Read]. The buffer is first synced with the
// disk, as with the write. The agent does not learn the file's text.
func (f *Files) Preview(ctx context.Context, w Write, done func(Preview, error)) {
	submit(f, "read", &job{ctx: ctx, path: w.Path}, func(path string) (Preview, error) { return f.preview(ctx, path, w.Text) }, done)
}

func (f *Files) preview(ctx context.Context, path, text string) (Preview, error) {
	l, err := f.live(ctx, path)
	if err != nil {
		return Preview{}, err
	}
	disk, err := readFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Preview{}, err
	}
	if f.behind(path, l, disk, false) && f.catchUp(ctx, path, true) == nil {
		if l, err = f.live(ctx, path); err != nil {
			return Preview{}, err
		}
		if disk, err = readFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Preview{}, err
		}
	}
	var s found
	if l.Buf != 0 && l.Buftype == "" {
		mine := ""
		if l.Modified || l.emptied(disk) {
			if mine, err = f.readLive(ctx, path, l, Read{peek: true}); err != nil {
				return Preview{}, err
			}
		}
		s = f.find(path, l, disk, mine)
		if !disk.exists() && mine == "" {
			s.mine = nil // a buffer of a file that does not exist yet
		}
	} else {
		s = findUnloaded(l, disk)
	}
	g := f.agents(path, text, s)
	p := Preview{Exists: s.mine != nil, After: *g.buffer, Conflicts: len(g.conflicts), Text: g.theirs}
	if s.mine != nil {
		p.Before = *s.mine
	}
	return p, nil
}
