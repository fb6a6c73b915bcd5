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

// shown remembers, by real path, the lines of a buffer at a version, each with a newline. So a text crosses from Neovim
// once, and a write sends only what it changes. The zero value is empty.
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

// last returns the newest remembered state of a buffer, without State if only its version is known.
func (s *shown) last(path string) live {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[path]
}

// whole returns the text of a buffer as :write would write it, and false if the buffer is no longer as l describes.
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

// of returns lines with the patch applied.
func (p patch) of(lines string) string {
	first := skipLines(lines, p.First)
	return lines[:first] + p.Text + lines[first+skipLines(lines[first:], p.Last-p.First):]
}

// ended returns lines as :write would write them; unended is the reverse.
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

// between returns the changes between two texts whose lines all end, without comparing the lines that both begin or end
// with one by one.
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
