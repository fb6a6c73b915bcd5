package buffers

import (
	"context"
	"strings"
	"sync"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// This file remembers the lines that buffers have, so that only what changes is sent to Neovim.

// version is a state of a buffer: as long as Neovim's changedtick is the same, so are the lines.
type version struct{ buf, tick int }

// shown remembers, by real path, what lines a buffer had at a version, each with a newline. So a text
// crosses from Neovim once, and of a write only what it changes goes there. The zero value is empty.
type shown struct {
	lines memory[lines]
	mu    sync.Mutex
	at    map[string]live
}

func (s *shown) put(path string, at live, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		s.at = map[string]live{}
	}
	at.Slice, at.Patch = nil, nil
	s.at[path] = at
	s.lines.put(path, lines(text))
}

func (s *shown) get(path string, at version) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at[path].version() != at {
		return "", false
	}
	text, ok := s.lines.get(path)
	return string(text), ok
}

// last is the newest state of a buffer that is remembered; where only its version is known, without State.
func (s *shown) last(path string) live {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[path]
}

// whole returns the text of a buffer as :write would write it, and false where the buffer is no longer as l says.
func (f *Files) whole(ctx context.Context, path string, l live) (string, bool, error) {
	if lines, ok := f.shown.get(path, l.version()); ok {
		return l.ended(lines), true, nil
	}
	text, ok, err := f.slices(ctx, l, 0, -1, false)
	if err != nil || !ok {
		return "", false, err
	}
	f.shown.put(path, l, l.unended(text))
	return text, true, nil
}

func (l live) version() version { return version{l.Buf, l.Changedtick} }

// of is lines with the patch.
func (p patch) of(lines string) string {
	first := skipLines(lines, p.First)
	return lines[:first] + p.Text + lines[first+skipLines(lines[first:], p.Last-p.First):]
}

// ended is lines as :write would write them, and unended the reverse.
func (l live) ended(lines string) string {
	if l.Newline {
		return lines
	}
	return strings.TrimSuffix(lines, "\n")
}

func (l live) unended(text string) string {
	if l.Newline || l.Empty {
		return text
	}
	return text + "\n"
}

// between is changes of two texts whose lines all end, without a look at each line that both begin or end with.
func between(old, text string) []hunk {
	start, end := linediff.Ends(old, text)
	rows := strings.Count(old[:start], "\n")
	list := hunksOf(linediff.Lines(old[start:len(old)-end]), linediff.Lines(text[start:len(text)-end]))
	for i := range list {
		list[i].Start += rows
		list[i].End += rows
	}
	return list
}
