// Package history keeps what was said in sessions, in files of its own: a resumed session shows all of it, however much
// its agent repeats, and it can be searched and exported without an agent. A file has one line for each update of the
// conversation, and is only ever appended to.
package history

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// format is the version of the files. Kinds and fields may be added within a version: unknown ones are ignored. If the
// meaning of one changes, the version is raised, and Read converts what the previous version wrote.
const format = 1

// ErrNewer says that a newer version of the plugin wrote a file, which must be left alone.
var ErrNewer = errors.New("a newer version of the plugin wrote it")

// About is the first line of a file: whose it is.
type About struct {
	Format     int    `json:"format"`
	Agent      string `json:"agent"` // as configured
	AgentTitle string `json:"agent_title"`
	Cwd        string `json:"cwd"`
	ID         string `json:"session"` // the agent's

	Directories []string `json:"directories,omitempty"` // where it works besides Cwd
}

// Store is the folder of the files, which all hosts share. Its methods may be called from any goroutine.
type Store struct {
	dir string
	limits

	mu      sync.Mutex
	writers map[string]*writer // by file; guarded by mu
}

// limits are variables for tests only.
type limits struct {
	files    int           // how many are kept
	allSize  int64         // of all together, in bytes
	fileSize int64         // of one that is written to, in bytes
	age      time.Duration // since something was added
}

// usual are the same as for saved reviews.
var usual = limits{files: 200, allSize: 256 << 20, fileSize: 64 << 20, age: 30 * 24 * time.Hour}

const suffix = ".jsonl"

// Open returns the store in a folder, which need not exist.
func Open(dir string) *Store { return &Store{dir: dir, limits: usual, writers: map[string]*writer{}} }

// path returns the file of an agent's session.
func (s *Store) path(agent, id string) string {
	sum := sha256.Sum256([]byte(agent + "\n" + id))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:8])+suffix)
}

// Past is the content of a file.
type Past struct {
	About
	Said    []Said
	Damaged int // lines that could not be read
	Saved   time.Time
}

// Read returns what is kept of a session. If there is nothing, the error is [fs.ErrNotExist].
func (s *Store) Read(agent, id string) (Past, error) { return read(s.path(agent, id)) }

// About returns the first line of a kept session.
func (s *Store) About(agent, id string) (About, error) {
	f, err := os.Open(s.path(agent, id))
	if err != nil {
		return About{}, err
	}
	defer f.Close()
	return readAbout(bufio.NewReader(f))
}

func read(path string) (Past, error) {
	f, err := os.Open(path)
	if err != nil {
		return Past{}, fmt.Errorf("read a transcript: %w", err)
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, 64<<10)
	about, err := readAbout(lines)
	if err != nil {
		return Past{}, fmt.Errorf("read the transcript %s: %w", path, err)
	}
	past := Past{About: about}
	if info, err := f.Stat(); err == nil {
		past.Saved = info.ModTime()
	}
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if said, err := parseLine(line); err == nil {
				past.Said = append(past.Said, said)
			} else {
				past.Damaged++
			}
		}
		switch {
		case err == io.EOF:
			return past, nil
		case err != nil:
			return past, fmt.Errorf("read the transcript %s: %w", path, err)
		}
	}
}

func readAbout(lines *bufio.Reader) (about About, err error) {
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return about, fmt.Errorf("its first line: %w", err)
	}
	switch err := json.Unmarshal(line, &about); {
	case err != nil:
		return about, fmt.Errorf("its first line: %w", err)
	case about.Format > format:
		return about, fmt.Errorf("%w (format %d, this one reads %d)", ErrNewer, about.Format, format)
	case about.Format < 1 || about.Agent == "" || about.ID == "":
		return about, errors.New("its first line does not name its session")
	}
	return about, nil
}

// Entry is a kept session.
type Entry struct {
	About
	Title string
	Saved time.Time
}

// headSize is how much of a file is read to find a session's title.
const headSize = 64 << 10

// List returns the kept sessions, the latest first. Unreadable files are left out.
func (s *Store) List() ([]Entry, error) {
	files, err := s.list()
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, f := range files {
		if e, err := head(f); err == nil {
			list = append(list, e)
		}
	}
	return list, nil
}

// head reads the beginning of a file.
func head(f file) (Entry, error) {
	r, err := os.Open(f.path)
	if err != nil {
		return Entry{}, err
	}
	defer r.Close()
	lines := bufio.NewReader(io.LimitReader(r, headSize))
	about, err := readAbout(lines)
	past := Past{About: about}
	for err == nil {
		var line []byte
		if line, err = lines.ReadBytes('\n'); err != nil {
			break
		}
		if said, wrong := parseLine(line); wrong == nil {
			past.Said = append(past.Said, said)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return Entry{About: about, Title: past.Title(), Saved: f.at}, err
}

// Title returns the agent's title of the session, or else its first prompt.
func (p Past) Title() string {
	title, asked := "", ""
	for _, s := range p.Said {
		switch u := s.Update.(type) {
		case session.InfoUpdate:
			title = u.Title.Or("")
		case session.TurnStart:
			asked = cmp.Or(asked, words(u.Prompt))
		case session.MessageChunk:
			if u.Role == session.RoleUser {
				asked = cmp.Or(asked, words([]session.Content{u.Content}))
			}
		}
	}
	return cmp.Or(strings.Join(strings.Fields(title), " "), asked)
}

// words returns the text of some blocks in one line.
func words(blocks []session.Content) string {
	var texts []string
	for _, b := range blocks {
		if t, ok := b.(session.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
}

// file is one of the store's.
type file struct {
	path string
	at   time.Time
	size int64
}

// list returns the files, the latest first.
func (s *Store) list() ([]file, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the transcripts: %w", err)
	}
	var files []file
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && strings.HasSuffix(e.Name(), suffix) {
			files = append(files, file{filepath.Join(s.dir, e.Name()), info.ModTime(), info.Size()})
		}
	}
	slices.SortStableFunc(files, func(a, b file) int { return b.at.Compare(a.at) })
	return files, nil
}

// Remove deletes what is kept of a session.
func (s *Store) Remove(agent, id string) error {
	if err := os.Remove(s.path(agent, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a transcript: %w", err)
	}
	return nil
}

// Clean removes what is old, and the oldest if there is too much.
func (s *Store) Clean(ctx context.Context, now time.Time) error {
	files, err := s.list()
	if err != nil {
		return err
	}
	var errs []error
	var size int64
	for i, f := range files {
		size += f.size
		if ctx.Err() != nil {
			break
		}
		if i >= s.files || size > s.allSize || now.Sub(f.at) > s.age {
			if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("clean the folder of transcripts: %w", err)
	}
	return nil
}

// add appends lines to the file of a session, which begins with what it is about.
func (s *Store) add(about About, lines []byte) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path(about.Agent, about.ID), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	switch size := info.Size(); {
	case size == 0:
		about.Format = format
		first, err := json.Marshal(about)
		if err != nil {
			return err
		}
		lines = slices.Concat(first, []byte("\n"), lines)
	case size > s.fileSize:
		return errFull
	default:
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err == nil && last[0] != '\n' {
			lines = slices.Concat([]byte("\n"), lines) // a line was cut off
		}
		if _, err := readAbout(bufio.NewReader(f)); errors.Is(err, ErrNewer) {
			return err
		}
	}
	if _, err = f.Write(lines); err != nil {
		return err
	}
	return f.Close()
}

// errFull says that a file has reached its limit.
var errFull = errors.New("it has become too large")
