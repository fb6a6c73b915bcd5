// Package labels keeps what the user has set on sessions, whether their agents can keep it or not: a title, and that
// they are archived. Each labelled session has a file of its own, which all hosts share.
package labels

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/acp-nvim/acp-nvim/host/atomicfile"
)

// limit is how many sessions can have labels; the oldest labels are dropped.
const limit = 1000

// Label is what the user has set on an agent's session.
type Label struct {
	Agent    string `json:"agent"`   // as configured
	ID       string `json:"session"` // the agent's
	Title    string `json:"title,omitempty"`
	Archived bool   `json:"archived,omitempty"`
}

// Labels are the labels of several sessions.
type Labels []Label

// Of returns the label of a session; an empty one if it has none.
func (l Labels) Of(agent, id string) Label {
	if i := slices.IndexFunc(l, func(l Label) bool { return l.Agent == agent && l.ID == id }); i >= 0 {
		return l[i]
	}
	return Label{Agent: agent, ID: id}
}

// Store is the folder of the labels. Its methods read or write the disk, and may be called from any goroutine.
type Store struct{ dir string }

// Open returns the store in a folder, which need not exist; without a folder nothing is kept.
func Open(dir string) *Store { return &Store{dir} }

func (s *Store) path(agent, id string) string {
	sum := sha256.Sum256([]byte(agent + "\n" + id))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:8])+".json")
}

// Of returns the label of a session; an empty one if it cannot be read.
func (s *Store) Of(agent, id string) Label {
	none := Label{Agent: agent, ID: id}
	if s.dir == "" {
		return none
	}
	if l, err := read(s.path(agent, id)); err == nil && l.Agent == agent && l.ID == id {
		return l
	}
	return none
}

func read(path string) (l Label, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	return l, err
}

// All returns the labels of all sessions.
func (s *Store) All() (all Labels) {
	if s.dir == "" {
		return nil
	}
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return nil // there is none yet
	}
	for _, f := range files {
		if l, err := read(filepath.Join(s.dir, f.Name())); err == nil {
			all = append(all, l)
		}
	}
	return all
}

// Change changes the label of a session.
func (s *Store) Change(agent, id string, change func(*Label)) error {
	if s.dir == "" {
		return errors.New("the data folder cannot be written")
	}
	l := s.Of(agent, id)
	before := l
	change(&l)
	if l == before {
		return nil
	}
	if err := s.write(l); err != nil {
		return fmt.Errorf("store a session's label: %w", err)
	}
	return s.clean()
}

func (s *Store) write(l Label) error {
	path := s.path(l.Agent, l.ID)
	if l == (Label{Agent: l.Agent, ID: l.ID}) {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, text)
}

// clean removes the oldest if there are too many.
func (s *Store) clean() error {
	files, err := os.ReadDir(s.dir)
	if err != nil || len(files) <= limit {
		return nil
	}
	var infos []fs.FileInfo
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, info := range infos[min(limit, len(infos)):] {
		if err := os.Remove(filepath.Join(s.dir, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
