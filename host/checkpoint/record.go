package checkpoint

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Record is something that was saved.
type Record struct {
	Key   string
	Saved time.Time
	Size  int64 // bytes on the disk
}

// head is the first line of a record's file; the bytes that were saved follow.
type head struct {
	Key   string `json:"key"`
	Needs []Sum  `json:"needs,omitempty"`
}

// Save keeps bytes under a key, which is any text, in the place of what was saved there before. The
// contents that they need stay as long as the record does.
func (s *Store) Save(key string, data []byte, needs ...Sum) error {
	if !utf8.ValidString(key) {
		return fmt.Errorf("save a record: the key %q is no text", key)
	}
	needs = slices.DeleteFunc(slices.Clone(needs), Sum.IsZero)
	slices.SortFunc(needs, func(a, b Sum) int { return bytes.Compare(a[:], b[:]) })
	needs = slices.Compact(needs)
	first, err := json.Marshal(head{key, needs})
	if err != nil {
		return fmt.Errorf("save the record %s: %w", key, err)
	}
	// A Clean that runs right now has read the records already: it keeps what is new.
	for _, sum := range needs {
		s.touch(sum)
	}
	if err := write(s.recordPath(key), first, []byte("\n"), data); err != nil {
		return fmt.Errorf("save the record %s: %w", key, err)
	}
	return nil
}

// Load returns what was saved, or an error that is fs.ErrNotExist.
func (s *Store) Load(key string) ([]byte, error) {
	data, err := os.ReadFile(s.recordPath(key))
	if err != nil {
		return nil, fmt.Errorf("load the record %s: %w", key, err)
	}
	first, rest, whole := bytes.Cut(data, []byte("\n"))
	var h head
	if err := json.Unmarshal(first, &h); err != nil || !whole || h.Key != key {
		return nil, fmt.Errorf("load the record %s: %s is no record of it", key, s.recordPath(key))
	}
	return rest, nil
}

// Records lists what was saved, the latest first.
func (s *Store) Records() ([]Record, error) {
	files, err := s.recordFiles()
	if err != nil {
		return nil, fmt.Errorf("list the records: %w", err)
	}
	var list []Record
	for _, f := range files {
		if f.err == nil {
			list = append(list, f.Record)
		}
	}
	return list, nil
}

// Remove forgets what was saved under a key, if anything was.
func (s *Store) Remove(key string) error {
	if err := os.Remove(s.recordPath(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the record %s: %w", key, err)
	}
	return nil
}

func (s *Store) recordPath(key string) string {
	return filepath.Join(s.dir, "records", Sum(sha256.Sum256([]byte(key))).String())
}

// recordFile is a file among the records.
type recordFile struct {
	Record
	path  string
	needs []Sum
	err   error // why it is not to be read: the rest of Record is known
}

// recordFiles lists them, the latest first.
func (s *Store) recordFiles() ([]recordFile, error) {
	dir := filepath.Join(s.dir, "records")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var files []recordFile
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(e.Name(), temporary) {
			continue
		}
		f := recordFile{path: filepath.Join(dir, e.Name()), Record: Record{Saved: info.ModTime(), Size: info.Size()}}
		var h head
		h, f.err = readHead(f.path)
		f.Key, f.needs = h.Key, h.Needs
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b recordFile) int { return b.Saved.Compare(a.Saved) })
	return files, nil
}

func readHead(path string) (h head, err error) {
	f, err := os.Open(path)
	if err != nil {
		return h, err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(line, &h)
}
