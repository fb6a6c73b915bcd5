package buffers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Neovim writes files in place, as most editors do: where it is killed in the middle the file is neither
// old nor new. So both are kept in a journal from before until after, a file for each write.

// journal is the folder of the journal; "" is none.
type journal string

// entry is the first line of a journal's file; the two texts follow, as the disk has them.
type entry struct {
	Path    string // the real path
	Pid     int    // of the process that has begun the write
	Old     int    // bytes of the old text
	Created bool   // there was no file
}

// Unfinished is a write of Neovim's that was cut short: the file has neither the old text nor the new.
type Unfinished struct {
	ID, Path string
}

// Journal has the texts of each file kept in a folder as long as Neovim writes it. Called before all else.
func (f *Files) Journal(dir string) { f.journal = journal(dir) }

// begin keeps both texts, and returns what forgets them. A journal that cannot be written stops nobody.
func (j journal) begin(path string, old file, data []byte) (end func()) {
	if j == "" {
		return func() {}
	}
	head, err := json.Marshal(entry{Path: path, Pid: os.Getpid(), Old: len(old.data), Created: !old.exists()})
	if err == nil {
		err = os.MkdirAll(string(j), 0o700)
	}
	if err != nil {
		return func() {}
	}
	kept, err := os.CreateTemp(string(j), "")
	if err != nil {
		return func() {}
	}
	for _, part := range [][]byte{head, []byte("\n"), old.data, data} {
		if err == nil {
			_, err = kept.Write(part)
		}
	}
	if e := kept.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(kept.Name())
	}
	return func() { os.Remove(kept.Name()) }
}

// read gives an entry with its two texts.
func (j journal) read(id string) (e entry, old, text []byte, err error) {
	data, err := os.ReadFile(filepath.Join(string(j), filepath.Base(id)))
	if err != nil {
		return e, nil, nil, cause(err)
	}
	head, rest, _ := bytes.Cut(data, []byte("\n"))
	if err := json.Unmarshal(head, &e); err != nil || e.Old > len(rest) {
		return e, nil, nil, errors.New("the journal's entry is not whole")
	}
	return e, rest[:e.Old], rest[e.Old:], nil
}

// forget removes an entry.
func (j journal) forget(id string) { os.Remove(filepath.Join(string(j), filepath.Base(id))) }

// Unfinished lists the writes that were cut short, of processes that are gone, and forgets those of which
// the file has one of the two texts. It reads the disk.
func (f *Files) Unfinished() (list []Unfinished) {
	if f.journal == "" {
		return nil
	}
	names, err := os.ReadDir(string(f.journal))
	if err != nil {
		return nil
	}
	for _, name := range names {
		e, old, text, err := f.journal.read(name.Name())
		switch {
		case err != nil:
			// An entry is whole before Neovim begins: that write has not begun. It may still do so, in
			// another process.
			if info, err := name.Info(); err == nil && time.Since(info.ModTime()) > time.Hour {
				f.journal.forget(name.Name())
			}
			continue
		case syscall.Kill(e.Pid, 0) == nil: // it is at work
			continue
		}
		now, err := readFile(e.Path)
		gone := errors.Is(err, fs.ErrNotExist)
		if err == nil && (bytes.Equal(now.data, text) || !e.Created && bytes.Equal(now.data, old)) || gone && e.Created {
			f.journal.forget(name.Name())
			continue
		}
		list = append(list, Unfinished{ID: name.Name(), Path: e.Path})
	}
	return list
}

// Recover gives the file of a write that was cut short the old text or the new one, or leaves it as it
// is, and forgets the write. It writes the disk.
func (f *Files) Recover(id, which string) error {
	e, old, text, err := f.journal.read(id)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	data := text
	if which == "old" {
		data = old
	}
	if which != "keep" {
		now, err := readOld(e.Path)
		if err == nil {
			err = writeFile(e.Path, data, now)
		}
		if err != nil {
			return fmt.Errorf("recover %s: %w", e.Path, err)
		}
	}
	f.journal.forget(id)
	return nil
}
