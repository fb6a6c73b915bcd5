package editortools

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// This file turns places from language servers into lines and columns of texts. Neovim passes them on unchanged, so
// that it is busy only for a moment, with the lines that its buffers have; other lines are read from the disk here.

// maxRead bounds the files whose lines are listed, in bytes.
const maxRead = 5 << 20

// spot is a place in a file. Its unit is of the encoding of its server.
type spot struct {
	line, unit int // from 0
	encoding   string
}

// located returns the places that may be listed, each once in the order of files and lines, with their text; n is how
// many there are, including those only counted.
func (c *call) located(found []rpc.EditorLocated, counted rpc.EditorCounted) (places []rpc.EditorPlace, n int) {
	slices.SortStableFunc(found, func(a, b rpc.EditorLocated) int { return cmp.Compare(a.Path, b.Path) })
	paths := make([]string, len(found))
	for i, l := range found {
		paths[i] = l.Path
	}
	lines := readFirst(found)
	private := c.Private(paths, counted.Paths)
	for len(found) > 0 {
		path, end := found[0].Path, 1
		for end < len(found) && found[end].Path == path {
			end++
		}
		of := found[:end]
		if found = found[end:]; private[path] {
			continue
		}
		text := lines(of)
		spots := once(of, text)
		n += len(spots)
		for _, s := range spots[:min(len(spots), maxListed-len(places))] {
			p := rpc.EditorPlace{Path: path, Line: s.line + 1}
			if line, ok := text(s.line); ok {
				p.Column, p.Text = byteOf(line, s.unit, s.encoding)+1, line
			} else if s.encoding == "utf-8" {
				p.Column = s.unit + 1
			}
			places = append(places, p)
		}
	}
	for i, path := range counted.Paths[:min(len(counted.Paths), len(counted.Counts))] {
		if !private[path] {
			n += counted.Counts[i]
		}
	}
	return places, n
}

// once returns the places of a file in order, without duplicates from several servers, which may count in units of
// different encodings, so that only the bytes are the same.
func once(of []rpc.EditorLocated, text textOfFile) (spots []spot) {
	mixed := slices.ContainsFunc(of, func(l rpc.EditorLocated) bool { return l.Encoding != of[0].Encoding })
	for _, l := range of {
		for i := 0; i+1 < len(l.At); i += 2 {
			s := spot{line: max(l.At[i], 0), unit: max(l.At[i+1], 0), encoding: l.Encoding}
			if mixed {
				if line, ok := text(s.line); ok {
					s.unit, s.encoding = byteOf(line, s.unit, s.encoding), "utf-8"
				}
			}
			spots = append(spots, s)
		}
	}
	slices.SortStableFunc(spots, func(a, b spot) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.unit, b.unit)) })
	return slices.CompactFunc(spots, func(a, b spot) bool { return a.line == b.line && a.unit == b.unit })
}

// textOfFile returns a line of a file, from 0; ok is false if there is none or it is not known.
type textOfFile func(line int) (text string, ok bool)

// readFirst begins to read files whose places may be listed, unless a buffer has them: concurrently, as their number
// matters more than their sizes. The returned function waits for a file, or reads it if it is not among the first.
func readFirst(found []rpc.EditorLocated) func(of []rpc.EditorLocated) textOfFile {
	const first = 16 // files
	reading := map[string]func() []string{}
	ahead := 0 // places
	for _, l := range found {
		if ahead >= maxListed || len(reading) == first {
			break
		}
		ahead += len(l.At) / 2
		if l.Loaded || reading[l.Path] != nil {
			continue
		}
		got := make(chan []string, 1)
		reading[l.Path] = sync.OnceValue(func() []string { return <-got })
		go func() { got <- linesOf(l.Path) }()
	}
	return func(of []rpc.EditorLocated) textOfFile {
		if of[0].Loaded {
			return told(of)
		}
		lines := reading[of[0].Path]
		if lines == nil {
			lines = sync.OnceValue(func() []string { return linesOf(of[0].Path) })
		}
		return func(line int) (string, bool) {
			if all := lines(); line < len(all) {
				return all[line], true
			}
			return "", false
		}
	}
}

// told returns the lines of a file that its buffer sent. The disk may have others.
func told(of []rpc.EditorLocated) textOfFile {
	known := map[int]string{}
	for _, l := range of {
		for i, row := range l.Rows[:min(len(l.Rows), len(l.Lines))] {
			known[row] = l.Lines[i]
		}
	}
	return func(line int) (string, bool) {
		text, ok := known[line]
		return text, ok
	}
}

// linesOf returns the lines of a file on the disk; none if they cannot be read.
func linesOf(path string) []string {
	data, err := buffers.OnDisk(path, maxRead)
	if err != nil {
		return nil
	}
	return strings.Split(buffers.Decoded(data), "\n")
}

// byteOf returns the byte of a line at which a unit of an encoding begins, from 0; at most the line's length.
func byteOf(line string, unit int, encoding string) int {
	if encoding == "utf-8" {
		return min(unit, len(line))
	}
	for at, r := range line {
		if unit <= 0 {
			return at
		}
		unit--
		if encoding != "utf-32" && r > 0xffff { // two units
			unit--
		}
	}
	return len(line)
}
