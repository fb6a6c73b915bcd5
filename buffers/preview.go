package buffers

import (
	"context"
	"errors"
	"io/fs"
)

// Preview is what a write would make of a file.
type Preview struct {
	Exists bool   // the file is there, or a buffer with text of that name
	Before string // the text as the user has it, unsaved text included
	After  string // as they would have it; where both changed the same lines, Text
	Text   string // what would be written, with the line ends of a text as reads give it
}

// Preview tells what w would do, without doing it; done is as with [Files.Read]. The agent does not get to
// know the file's text, and no gate is asked.
func (f *Files) Preview(ctx context.Context, w Write, done func(Preview, error)) {
	submit(f, "read", &job{ctx: ctx, path: w.Path}, func(path string) (Preview, error) { return f.preview(ctx, path, w.Text) }, done)
}

func (f *Files) preview(ctx context.Context, path, text string) (Preview, error) {
	l, err := f.live(ctx, path)
	if err != nil {
		return Preview{}, err
	}
	file, err := readFile(path)
	exists := !errors.Is(err, fs.ErrNotExist)
	if err != nil && exists {
		return Preview{}, err
	}
	var had string
	form := format{encoding: "utf-8"}
	if exists {
		had, form = detect(file.data)
	}
	loaded := l.Buf != 0 && l.Buftype == ""
	if loaded {
		form = format{bom: l.Bom, dos: l.Format == "dos"}
	}
	p := Preview{Exists: exists, Before: had, Text: text}
	if exists || loaded {
		p.Text = form.normal(text)
	}
	p.After = p.Text
	if !loaded {
		return p, nil
	}
	known := false
	if exists {
		had, known = l.decode(file.data)
	}
	if !l.Modified && (known || !exists) {
		p.Before = had
		return p, nil
	}
	if p.Before, err = f.readLive(ctx, path, l, Read{peek: true}); err != nil || !l.Modified {
		return p, err
	}
	p.Exists = exists || p.Before != ""
	base, based := f.seen.get(path)
	if !based {
		base = had
	}
	if merged, conflicts := merge3(base, p.Before, p.Text); len(conflicts) == 0 {
		p.After = merged
	}
	return p, nil
}
