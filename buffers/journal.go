package buffers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// Neovim writes files in place, as most editors do, and so does the host if only that preserves the file: if it is
// killed in the middle, the file is neither old nor new. So both texts are kept in a journal during the write, in a
// file for each. If the host renames a new file over the old one, the journal has the new file's name, so that it is
// not left behind.

// journal is the folder of the journal; nil means none.
type journal struct {
	dir string

	mu   sync.Mutex
	idle []*os.File // entries of this process without a write: empty, and locked
}

// maxIdle is how many entries are kept for reuse: creating a file takes longer than everything else.
const maxIdle = 8

// entry is the first line of a journal file; the two texts follow, in the disk's encoding.
type entry struct {
	Path     string // the real path
	Temp     string // the file to be renamed over it; then the texts are not kept
	Old, New int    // bytes of the texts
	Created  bool   // there was no file
	Was      *standing
}

// kept is the entry of a write that this process is making. It is locked until the write ends, so that others can tell
// it from one whose process is gone. nil is one that could not be kept.
type kept struct {
	*os.File
	entry
	of        *journal
	old, text []byte
}

// Unfinished is a write that was interrupted: the file has neither the old text nor the new.
type Unfinished struct {
	ID, Path string
	Created  bool // there was no file before
}

// cutShort has the files that had neither text when this process began, by real path. It is filled when first asked.
type cutShort struct {
	once  sync.Once
	files map[string]cut
}

// cut is a file whose write was interrupted, and how it was left.
type cut struct {
	id string
	at stamp
}

// cutShort returns the text that was being written to a file when a process was killed, and whether the file is still
// as that left it: the user decides which text it should have, and what it has meanwhile is nobody's.
func (f *Files) cutShort(path string, now stamp) ([]byte, bool) {
	if f.journal == nil {
		return nil, false
	}
	f.cut.once.Do(func() {
		f.cut.files = map[string]cut{}
		for _, u := range f.Unfinished() {
			if info, err := os.Stat(u.Path); err == nil {
				f.cut.files[u.Path] = cut{u.ID, stampOf(info)}
			}
		}
	})
	left, ok := f.cut.files[path]
	if !ok || left.at != now {
		return nil, false
	}
	_, _, text, err := f.journal.read(left.id)
	return text, err == nil
}

// Journal keeps the texts of each file in a folder while it is written in place. Call it before anything else.
func (f *Files) Journal(dir string) { f.journal = &journal{dir: dir} }

// inPlace keeps both texts of a file until its write has ended.
func (j *journal) inPlace(path string, old file, text []byte) *kept {
	return j.begin(entry{
		Path: path, Old: len(old.data), New: len(text), Created: !old.exists(), Was: old.standing(),
	}, old.data, text)
}

// begin makes an entry. A journal that cannot be written stops no write.
func (j *journal) begin(e entry, old, text []byte) *kept {
	if j == nil {
		return nil
	}
	head, err := json.Marshal(e)
	if err != nil {
		return nil
	}
	f, err := j.empty()
	if err != nil {
		return nil
	}
	k := &kept{f, e, j, old, text}
	for _, part := range [][]byte{head, []byte("\n"), old, text} {
		if err == nil {
			_, err = f.Write(part)
		}
	}
	if err != nil {
		k.end()
		return nil
	}
	return k
}

// empty returns an entry with nothing in it.
func (j *journal) empty() (*os.File, error) {
	for {
		j.mu.Lock()
		var f *os.File
		if n := len(j.idle); n > 0 {
			f, j.idle = j.idle[n-1], j.idle[:n-1]
		}
		j.mu.Unlock()
		if f == nil {
			err := os.MkdirAll(j.dir, 0o700)
			if err == nil {
				f, err = os.CreateTemp(j.dir, "")
			}
			if err == nil {
				err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
			}
			if err != nil {
				return nil, err
			}
		}
		var stat unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &stat); err != nil || stat.Nlink > 0 {
			return f, err
		}
		f.Close() // another process found it between its creation and its lock
	}
}

// end forgets an entry: the write is done, or has not begun.
func (k *kept) end() {
	if k == nil {
		return
	}
	err := k.Truncate(0)
	if err == nil {
		_, err = k.Seek(0, io.SeekStart)
	}
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	if err == nil && len(k.of.idle) < maxIdle {
		k.of.idle = append(k.of.idle, k.File)
		return
	}
	os.Remove(k.Name())
	k.Close()
}

// abandon leaves an entry for the next start, unless the file is whole.
func (k *kept) abandon() {
	if k == nil {
		return
	}
	if k.settled(k.old, k.text) {
		k.end()
		return
	}
	k.Close()
}

// settled reports whether the file has one of the two texts.
func (e entry) settled(old, text []byte) bool {
	now, err := readFile(e.Path)
	if err != nil {
		return e.Created && errors.Is(err, fs.ErrNotExist)
	}
	return bytes.Equal(now.data, text) || !e.Created && bytes.Equal(now.data, old)
}

// path returns the file of an entry.
func (j *journal) path(id string) string { return filepath.Join(j.dir, filepath.Base(id)) }

// read returns an entry with its two texts.
func (j *journal) read(id string) (e entry, old, text []byte, err error) {
	data, err := os.ReadFile(j.path(id))
	if err != nil {
		return e, nil, nil, cause(err)
	}
	head, rest, _ := bytes.Cut(data, []byte("\n"))
	if err := json.Unmarshal(head, &e); err != nil || e.Old < 0 || e.New < 0 || e.Old+e.New != len(rest) {
		return e, nil, nil, errors.New("the journal's entry is incomplete")
	}
	return e, rest[:e.Old], rest[e.Old:], nil
}

// forget removes an entry.
func (j *journal) forget(id string) { os.Remove(j.path(id)) }

// Unfinished lists the interrupted writes of processes that are gone, and forgets those whose file has one of the two
// texts. Anything else such writes left behind is removed. It reads the disk.
func (f *Files) Unfinished() (list []Unfinished) {
	if f.journal == nil {
		return nil
	}
	names, err := os.ReadDir(f.journal.dir)
	if err != nil {
		return nil
	}
	for _, name := range names {
		if e, ok := f.journal.look(name.Name()); ok {
			list = append(list, Unfinished{ID: name.Name(), Path: e.Path, Created: e.Created})
		}
	}
	return list
}

// look reports whether an entry is of an interrupted write, and ends the entry if there is nothing to decide.
func (j *journal) look(id string) (e entry, offer bool) {
	f, err := os.Open(j.path(id))
	if err != nil {
		return e, false
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return e, false // a process is still writing
	}
	e, old, text, err := j.read(id)
	switch {
	case err != nil: // an entry is complete before its write begins: this one never began
		j.forget(id)
	case e.Temp != "":
		if err := os.Remove(e.Temp); err == nil || errors.Is(err, fs.ErrNotExist) {
			j.forget(id)
		}
	case e.settled(old, text):
		j.forget(id)
	default:
		return e, true
	}
	return e, false
}

// Recover gives the file of an interrupted write the old text or the new one, or leaves it as it is, and forgets the
// write. It writes the disk.
func (f *Files) Recover(id, which string) error {
	e, old, text, err := f.journal.read(id)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	switch {
	case which == "keep":
	case which == "old" && e.Created:
		if err = os.Remove(e.Path); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	default:
		if which == "old" {
			text = old
		}
		var now file
		if now, err = readOld(e.Path); err == nil {
			err = f.journal.write(e.Path, text, now, e.Was)
		}
	}
	if err != nil {
		return fmt.Errorf("recover %s: %w", e.Path, cause(err))
	}
	f.journal.forget(id)
	return nil
}
