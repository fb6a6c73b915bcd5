// Package checkpoint remembers what files were, so that a turn of an agent can be undone whatever
// changed the files. It has one folder, which the hosts of all Neovims share:
//
//	contents/3f/9a…   what a file was, byte for byte, named by its SHA-256
//	packs/07c2…       what many small files were
//	records/b1…       what the host wants to find again: a key, bytes, and the contents that they need
//
// A Snapshot is the state of a project's files at one moment. One is taken at each prompt, given the last one, so that
// only what changed since is read; Changes compares two:
//
//	before, err := store.Snapshot(ctx, roots, nil)
//	… the agent works …
//	after, err := store.Snapshot(ctx, roots, before)
//	for _, c := range before.Changes(after) {
//		old, err := store.Content(c.Before.Sum)
//
// Nothing is ever written outside the store's folder, and nothing in it is ever changed: files appear and disappear as
// a whole, so no host waits for another. Clean keeps it bounded.
package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/host/atomicfile"
)

// Store is the folder. Its methods read and write the disk and may be called from any goroutine.
type Store struct {
	// Skip says which paths are left out of snapshots; nil leaves out none. Set before the first snapshot.
	Skip func(path string) bool

	dir   string
	packs packs
	limits

	mu      sync.Mutex
	watches map[string]*watch // by their roots
	needed  map[Sum]time.Time // contents that records need: when they were last seen and touched
	kept    int               // how many were left when old ones were last forgotten
}

// Open returns the store in a folder, which is created when something is put into it.
func Open(dir string) *Store {
	return &Store{dir: dir, packs: packs{dir: filepath.Join(dir, "packs")}, limits: usual, needed: map[Sum]time.Time{}}
}

// limits are variables for tests only.
type limits struct {
	fileSize int64 // of a file whose contents a snapshot has
	allSize  int64 // of all of them
	allFiles int   // how many
	names    int   // files of a snapshot

	records    int
	recordSize int64 // of all records, without the contents they need
	storeSize  int64 // of everything
}

var usual = limits{
	fileSize: 1 << 20, allSize: 512 << 20, allFiles: 50_000, names: 300_000,
	records: 200, recordSize: 256 << 20, storeSize: 1 << 30,
}

// Sum is the SHA-256 of contents. The zero Sum stands for contents that are not known.
type Sum [sha256.Size]byte

func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// IsZero reports whether this is the Sum of unknown contents.
func (s Sum) IsZero() bool { return s == Sum{} }

// MarshalText writes a Sum in hexadecimal digits, and the zero Sum as "".
func (s Sum) MarshalText() ([]byte, error) {
	if s.IsZero() {
		return nil, nil
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (s *Sum) UnmarshalText(text []byte) error {
	*s = Sum{}
	if len(text) == 0 {
		return nil
	}
	if len(text) != hex.EncodedLen(len(s)) {
		return fmt.Errorf("%q is no SHA-256", text)
	}
	if _, err := hex.Decode(s[:], text); err != nil {
		return fmt.Errorf("%q is no SHA-256: %w", text, err)
	}
	return nil
}

// Put keeps contents. Those that no record needs (see Save) stay for a day after they were last put.
func (s *Store) Put(data []byte) (Sum, error) {
	sum := Sum(sha256.Sum256(data))
	if s.Has(sum, len(data)) {
		return sum, nil
	}
	if err := s.write(sum, data); err != nil {
		return Sum{}, err
	}
	return sum, nil
}

// write writes contents to a file.
func (s *Store) write(sum Sum, data []byte) error {
	if err := atomicfile.Write(s.contentPath(sum), data); err != nil {
		return fmt.Errorf("keep contents: %w", err)
	}
	return nil
}

// Has reports whether contents of that size are already there; if so, they are kept as if put now.
func (s *Store) Has(sum Sum, size int) bool {
	// The time is set first: contents that Clean is about to remove stay if they are new.
	if !s.touch(sum) {
		return false
	}
	if info, err := os.Lstat(s.contentPath(sum)); err == nil {
		return info.Size() == int64(size) // otherwise the machine stopped while it was being written
	}
	at, ok := s.packs.find(sum, false)
	return ok && at.size == size
}

// Holds is Has for contents that are asked for again and again: it does not look again at what was there a short while
// ago and cannot have been cleaned since.
func (s *Store) Holds(sum Sum, size int) bool {
	if s.lately(sum) {
		return true
	}
	if !s.Has(sum, size) {
		return false
	}
	s.hold(sum)
	return true
}

// Doubt makes Holds look again: somebody may have removed everything.
func (s *Store) Doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.needed)
	s.packs.forget()
}

// minHeld is how many old entries Holds may have before it forgets them.
const minHeld = 1000

func (s *Store) lately(sum Sum) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.needed[sum]) < need
}

func (s *Store) hold(sum Sum) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.needed[sum] = now; len(s.needed) > 2*s.kept+minHeld {
		maps.DeleteFunc(s.needed, func(_ Sum, at time.Time) bool { return now.Sub(at) >= need })
		s.kept = len(s.needed)
	}
}

// Content returns contents that were put, or an error that is fs.ErrNotExist if they are gone.
func (s *Store) Content(sum Sum) ([]byte, error) {
	path := s.contentPath(sum)
	data, err := s.packs.content(sum, false) // usually, if one is packed, many are
	for _, path := range []string{path, aside(path), path} {
		if errors.Is(err, fs.ErrNotExist) {
			data, err = os.ReadFile(path)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		data, err = s.packs.content(sum, true)
	}
	if err != nil {
		return nil, fmt.Errorf("contents that were kept: %w", err)
	}
	if sha256.Sum256(data) != sum {
		return nil, fmt.Errorf("contents that were kept are damaged: %s: %w", path, fs.ErrNotExist)
	}
	return data, nil
}

// touch marks contents as new, and reports whether they are there.
func (s *Store) touch(sum Sum) bool {
	now := time.Now()
	return os.Chtimes(s.contentPath(sum), now, now) == nil || s.packs.touch(sum, now)
}

func (s *Store) contentPath(sum Sum) string {
	name := sum.String()
	return filepath.Join(s.dir, "contents", name[:2], name[2:])
}

// temporary is the prefix of files that are incomplete, or about to be removed.
const temporary = atomicfile.Temporary

// aside returns where Clean puts a file while it makes sure that nobody wants it.
func aside(path string) string {
	return filepath.Join(filepath.Dir(path), temporary+"old-"+filepath.Base(path))
}
