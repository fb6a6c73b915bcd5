package checkpoint

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/host/atomicfile"
)

// Record is something that was saved.
type Record struct {
	Key   string
	About string // as given to Save
	Saved time.Time
	Size  int64 // bytes on the disk
}

// head is the first line of a record's file. The sums of the contents that it needs follow, then the saved bytes.
type head struct {
	Key   string `json:"key"`
	About string `json:"about,omitempty"`
	Sums  int    `json:"sums,omitempty"` // how many
}

// Save keeps bytes under a key, replacing what was saved there before. The contents that they need stay as long as the
// record does. The key and about, which Records returns without reading the bytes, may be any text.
func (s *Store) Save(key, about string, data []byte, needs ...Sum) error {
	if !utf8.ValidString(key) || !utf8.ValidString(about) {
		return fmt.Errorf("save a record: the key %q, or what it is about, is no text", key)
	}
	needs = slices.DeleteFunc(slices.Clone(needs), Sum.IsZero)
	slices.SortFunc(needs, func(a, b Sum) int { return bytes.Compare(a[:], b[:]) })
	needs = slices.Compact(needs)
	first, err := json.Marshal(head{Key: key, About: about, Sums: len(needs)})
	if err != nil {
		return fmt.Errorf("save the record %s: %w", key, err)
	}
	sums := make([]byte, 0, len(needs)*sha256.Size)
	for _, sum := range needs {
		sums = append(sums, sum[:]...)
	}
	// A Clean that is running has already read the records: it keeps what is new.
	for _, sum := range needs {
		if !s.lately(sum) && s.touch(sum) {
			s.hold(sum)
		}
	}
	if err := atomicfile.Write(s.recordPath(key), first, []byte("\n"), sums, data); err != nil {
		return fmt.Errorf("save the record %s: %w", key, err)
	}
	return nil
}

// Renew makes what was saved under a key count as saved now.
func (s *Store) Renew(key string) error {
	now := time.Now()
	if err := os.Chtimes(s.recordPath(key), now, now); err != nil {
		return fmt.Errorf("renew the record %s: %w", key, err)
	}
	return nil
}

// SavedAt returns when something was saved under a key, or an error that is fs.ErrNotExist.
func (s *Store) SavedAt(key string) (time.Time, error) {
	info, err := os.Stat(s.recordPath(key))
	if err != nil {
		return time.Time{}, fmt.Errorf("look for the record %s: %w", key, err)
	}
	return info.ModTime(), nil
}

// Load returns what was saved, or an error that is fs.ErrNotExist.
func (s *Store) Load(key string) ([]byte, error) {
	f, err := os.Open(s.recordPath(key))
	if err != nil {
		return nil, fmt.Errorf("load the record %s: %w", key, err)
	}
	defer f.Close()
	r := bufio.NewReader(f)
	if h, _, err := readHead(r); err != nil || h.Key != key {
		return nil, fmt.Errorf("load the record %s: %s is not its record", key, s.recordPath(key))
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("load the record %s: %w", key, err)
	}
	return data, nil
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
	err   error // why it could not be read: the rest of Record is known
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
		h, f.needs, f.err = readHeadOf(f.path)
		f.Key, f.About = h.Key, h.About
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b recordFile) int { return b.Saved.Compare(a.Saved) })
	return files, nil
}

func readHeadOf(path string) (head, []Sum, error) {
	f, err := os.Open(path)
	if err != nil {
		return head{}, nil, err
	}
	defer f.Close()
	return readHead(bufio.NewReader(f))
}

// readHead reads what precedes the saved bytes.
func readHead(r *bufio.Reader) (h head, needs []Sum, err error) {
	line, err := r.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &h)
	}
	for range h.Sums {
		var sum Sum
		if _, err := io.ReadFull(r, sum[:]); err != nil {
			return h, needs, err
		}
		needs = append(needs, sum)
	}
	return h, needs, err
}
