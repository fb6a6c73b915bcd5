package buffers

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// refusedBytes bounds the texts kept for the user to fetch.
const refusedBytes = 64 << 20

// refused keeps the agent's texts that did not fully reach a buffer, the newest up to refusedBytes. The zero value is
// empty.
type refused struct {
	mu    sync.Mutex
	kept  []refusal // oldest first
	bytes int
}

type refusal struct{ path, text string }

// put keeps a text, unless it is the same as the path's last one.
func (r *refused) put(path, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, old := range slices.Backward(r.kept) {
		if old.path == path {
			if old.text == text {
				return
			}
			break
		}
	}
	r.kept = append(r.kept, refusal{path, text})
	r.bytes += len(text)
	for r.bytes > refusedBytes && len(r.kept) > 1 {
		r.bytes -= len(r.kept[0].text)
		r.kept = slices.Delete(r.kept, 0, 1)
	}
}

func (r *refused) get(path string) (texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, old := range r.kept {
		if old.path == path {
			texts = append(texts, old.text)
		}
	}
	return texts
}

// bare returns lines without their newlines.
func bare(lines []string) []string {
	without := make([]string, len(lines))
	for i, line := range lines {
		without[i] = strings.TrimSuffix(line, "\n")
	}
	return without
}

// Compare marks a buffer as unmodified if its unsaved text has become what the disk has, as when the user has taken the
// agent's lines of every conflict. done gets the error if that could not be determined.
func (f *Files) Compare(ctx context.Context, path string, done func(error)) {
	compare := func(path string) (none struct{}, err error) { return none, f.compare(ctx, path) }
	submit(f, "compare", &job{ctx: ctx, path: path}, compare, func(_ struct{}, err error) { done(err) })
}

func (f *Files) compare(ctx context.Context, path string) error {
	l, err := f.liveWith(ctx, path, 0, -1, forRead)
	if err != nil || l.Buf == 0 || l.Buftype != "" || !l.Modified {
		return err
	}
	disk, err := readFile(path)
	if err != nil {
		return err
	}
	text, known := l.decode(disk.data)
	if !known {
		return nil
	}
	mine, ok, err := f.whole(ctx, path, l)
	if err != nil || !ok || mine != text {
		return err // if the buffer has changed meanwhile, Lua asks again
	}
	var got struct {
		Moved bool `msgpack:"moved"`
	}
	return f.editor.CallBuffers(ctx, "unmodified", targetOf(path, l, disk), &got)
}
