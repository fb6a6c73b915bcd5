package checkpoint

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"time"
)

// encoded is the serialized form of a snapshot.
type encoded struct {
	Partial Partial
	Roots   []string
	At      time.Time
	Files   []encodedFile
}

type encodedFile struct {
	Path string
	State
	Device uint64
	ReadAt int64
}

// Encode returns the snapshot as bytes, which DecodeSnapshot reads. The contents of the files stay in the store.
func (s *Snapshot) Encode() ([]byte, error) {
	e := encoded{Partial: s.Partial, Roots: s.roots, At: s.at, Files: make([]encodedFile, len(s.files))}
	for i, f := range s.files {
		e.Files[i] = encodedFile{f.path, f.State, f.device, f.readAt}
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(e); err != nil {
		return nil, fmt.Errorf("encode a look at the project's files: %w", err)
	}
	return b.Bytes(), nil
}

// DecodeSnapshot returns the snapshot that Encode encoded.
func DecodeSnapshot(data []byte) (*Snapshot, error) {
	var e encoded
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&e); err != nil {
		return nil, fmt.Errorf("decode a look at the project's files: %w", err)
	}
	s := &Snapshot{Partial: e.Partial, roots: e.Roots, at: e.At, files: make([]*file, len(e.Files))}
	for i, f := range e.Files {
		s.files[i] = &file{path: f.Path, State: f.State, device: f.Device, readAt: f.ReadAt}
	}
	return s, nil
}

// Len returns how many files a snapshot has.
func (s *Snapshot) Len() int { return len(s.files) }

// Watched reports whether the next scan costs only what has changed, see [Store.Watch].
func (s *Snapshot) Watched() bool { return s.mark.watch != nil }
