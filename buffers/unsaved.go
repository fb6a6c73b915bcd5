package buffers

import (
	"context"
	"errors"
	"io/fs"
)

// This file lists the unsaved text of buffers.

// Unsaved is a text that a buffer has and the disk does not.
type Unsaved struct {
	Path string // the real path
	Text string
	Disk *string // what the disk has; nil if there is no file
}

// Unsaved passes the unsaved text of a file's buffer to done, or nil if it has none. The agent does not learn it by
// that. done is called exactly once, from any goroutine, as with [Files.Read].
func (f *Files) Unsaved(ctx context.Context, path string, done func(*Unsaved, error)) {
	submit(f, "read", &job{ctx: ctx, path: path}, func(path string) (*Unsaved, error) { return f.unsaved(ctx, path) }, done)
}

func (f *Files) unsaved(ctx context.Context, path string) (*Unsaved, error) {
	l, err := f.liveWith(ctx, path, 0, -1, forRead)
	if err != nil || l.Buf == 0 || l.Buftype != "" || !l.Modified {
		return nil, err
	}
	text, err := f.readLive(ctx, path, l, Read{peek: true})
	if err != nil {
		return nil, err
	}
	u := Unsaved{Path: path, Text: text}
	switch file, err := readFile(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		disk, ok := l.decode(file.data)
		if !ok {
			disk, _ = detect(file.data)
		}
		u.Disk = &disk
	}
	return &u, nil
}
