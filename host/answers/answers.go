// Package answers keeps the permission answers that the user wants to hold
// from now on ("Always"), in a file that several Neovims share.
package answers

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Question is what two requests must have in common to be the same.
type Question struct {
	Agent   string   `json:"agent"`
	Project string   `json:"project"` // the session's folder, without symbolic links
	Kind    string   `json:"kind"`
	Command string   `json:"command,omitempty"` // the whole command line
	Dir     string   `json:"dir,omitempty"`     // where it runs
	Paths   []string `json:"paths,omitempty"`   // these files
	Tool    string   `json:"tool,omitempty"`    // its name, if the agent sends it
	Title   string   `json:"title,omitempty"`   // of the tool call
	Input   string   `json:"input,omitempty"`   // a hash of its raw input
	MCP     string   `json:"mcp,omitempty"`     // the tool of an MCP server, as "server/tool"
}

// vague reports whether q is about nothing in particular, as answers of earlier versions could be.
func (q Question) vague() bool {
	return q.Command == "" && len(q.Paths) == 0 && q.Input == "" && q.MCP == ""
}

func (q Question) equal(o Question) bool { return reflect.DeepEqual(q, o) }

// Answer is what the user said to a question.
type Answer struct {
	ID string `json:"id"`
	Question
	Allow bool `json:"allow"`
	// The option that was chosen.
	OptionID string    `json:"option_id"`
	Name     string    `json:"name"`
	At       time.Time `json:"at"`
	// Session is the one it applies to, if the option's words say so; 0 for all. It is not saved.
	Session int `json:"-"`
}

// Store is the answers of a file. It reads the disk; its methods may be called from any goroutine.
type Store struct {
	path string

	mu      sync.Mutex // guards the fields below
	kept    []Answer   // the file's content when it had this stamp
	stamp   stamp
	passing []Answer // answers for a single session
}

type stamp struct {
	size int64
	at   time.Time
	file fs.FileInfo
}

// Open returns the store of a file, which need not exist.
func Open(path string) *Store { return &Store{path: path} }

// file is the content of the file.
type file struct {
	Version int      `json:"version"`
	Answers []Answer `json:"answers"`
}

const version = 1

// ErrSetAside says that a file was not a list of answers and was renamed.
var ErrSetAside = errors.New("was unreadable")

// load brings kept up to date; mu is held.
func (s *Store) load() error {
	info, failed := os.Stat(s.path)
	if os.SameFile(info, s.stamp.file) && info.Size() == s.stamp.size && info.ModTime().Equal(s.stamp.at) {
		return nil
	}
	s.kept, s.stamp = nil, stamp{}
	text, err := os.ReadFile(s.path)
	switch err = cmp.Or(failed, err); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil || f.Version != version {
		return s.setAside()
	}
	f.Answers = slices.DeleteFunc(f.Answers, func(a Answer) bool { return a.vague() })
	s.kept, s.stamp = f.Answers, stamp{info.Size(), info.ModTime(), info}
	return nil
}

// setAside renames an unusable file, so that nothing in it is lost.
func (s *Store) setAside() error {
	aside, err := os.CreateTemp(filepath.Dir(s.path), filepath.Base(s.path)+time.Now().Format(".unreadable-20060102-150405-*"))
	if err == nil {
		err = errors.Join(aside.Close(), os.Rename(s.path, aside.Name()))
	}
	if err != nil {
		return fmt.Errorf("%s is unreadable: %w", s.path, err)
	}
	return fmt.Errorf("%s %w and is kept as %s", s.path, ErrSetAside, aside.Name())
}

// Find returns the answer to a question asked in a session, the latest first.
func (s *Store) Find(q Question, session int) (Answer, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.load()
	for _, list := range [][]Answer{s.passing, s.kept} {
		for _, a := range slices.Backward(list) {
			if (a.Session == 0 || a.Session == session) && a.equal(q) {
				return a, true, err
			}
		}
	}
	return Answer{}, false, err
}

// List returns all answers, the oldest first.
func (s *Store) List() ([]Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.load()
	all := slices.Concat(s.kept, s.passing)
	slices.SortStableFunc(all, func(a, b Answer) int { return a.At.Compare(b.At) })
	return all, err
}

// Dir returns the folder of the store's file.
func (s *Store) Dir() string { return filepath.Dir(s.path) }

// Add keeps an answer, replacing an earlier one to the same question.
func (s *Store) Add(a Answer) error {
	a.ID = rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	same := func(b Answer) bool { return b.Session == a.Session && b.equal(a.Question) }
	if a.Session != 0 {
		s.passing = append(slices.DeleteFunc(s.passing, same), a)
		return nil
	}
	return s.change(func(list []Answer) []Answer { return append(slices.DeleteFunc(list, same), a) })
}

// Remove takes an answer back.
func (s *Store) Remove(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	with := func(a Answer) bool { return a.ID == id }
	if slices.ContainsFunc(s.passing, with) {
		s.passing = slices.DeleteFunc(s.passing, with)
		return nil
	}
	return s.change(func(list []Answer) []Answer { return slices.DeleteFunc(list, with) })
}

// change rewrites the file while no other Neovim does; mu is held. The new file is written even if the old one had to
// be set aside.
func (s *Store) change(f func([]Answer) []Answer) error {
	_ = os.MkdirAll(filepath.Dir(s.path), 0o700) // without the folder there is no lock
	lock, err := os.OpenFile(s.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // which unlocks it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	aside := s.load()
	if aside != nil && !errors.Is(aside, ErrSetAside) {
		return aside
	}
	return errors.Join(aside, s.write(f(slices.Clone(s.kept))))
}

// write replaces the file in one step, under the lock. What a killed process left of its own attempt is overwritten.
func (s *Store) write(list []Answer) error {
	text, err := json.MarshalIndent(file{version, list}, "", "  ")
	if err != nil {
		return err
	}
	temp, err := os.OpenFile(s.path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(append(text, '\n'))
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), s.path)
}
