// Package saved is what of a session outlives the host: the record of what its agent has changed, its turns,
// and what the user has not sent yet. It is saved as an index and as texts. The index is written whole each
// time and is small; a text is written once, as contents of the store, by whichever session needs it first.
package saved

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// format is the version of the index; what another version wrote is not read.
const format = 2

// short is how many bytes a text may have that stands in the index itself.
const short = 128

// About tells what was saved without reading it.
type About struct {
	Agent      string `json:"agent"` // as configured
	AgentTitle string `json:"agent_title"`
	Cwd        string `json:"cwd"`
	ID         string `json:"id"` // the agent's
	Title      string `json:"title,omitempty"`

	// What waits for the user's decision; a file without hunks counts as one change.
	Changes int `json:"changes,omitempty"`
	Files   int `json:"files,omitempty"`
}

// Key is how the store knows the session.
func (a About) Key() string { return a.Agent + "\n" + a.Cwd + "\n" + a.ID }

// Count tells what of the files of a record waits.
func (a *About) Count(files []review.File) {
	a.Changes, a.Files = 0, 0
	for _, f := range files {
		if f.State != review.Pending {
			continue
		}
		n := 0
		for _, h := range f.Hunks {
			if h.State == review.Pending {
				n++
			}
		}
		a.Changes += max(n, 1)
		a.Files++
	}
}

// Session is what is saved of a session.
type Session struct {
	About     About
	Record    *review.Record
	History   turns.History
	Originals []Original
	Comments  []Comment
	Told      []string // what was refused, and the agent knows
}

// Original is where in the store a content at a path is byte for byte.
type Original struct {
	Path, Mark string // what marks the content
	Sum        checkpoint.Sum
	Mode       fs.FileMode // its permission bits
}

// Comment is one that was not sent.
type Comment struct {
	review.Remark
	Path    string
	Signed  bool    // the quoted lines begin with what a diff has there
	Present *string // the text in which its lines are counted; nil where that is not known
}

// index is what the bytes of a record are, with names in the place of texts.
type index struct {
	Format   int
	About    About
	Record   []byte
	History  turns.History
	Exact    []Original
	Comments []Comment
	Told     []string
}

// Image is a session at one moment, as it is written. It never changes, so any goroutine may write it.
type Image struct {
	About About

	about     string
	index     []byte
	sums      map[string]checkpoint.Sum // of the texts that are not in the index
	originals []checkpoint.Sum
}

// Take makes the image of a session, which may change afterwards. was is the image before, whose texts need
// not be hashed again, or nil.
func Take(s Session, was *Image) (*Image, error) {
	i := &Image{About: s.About, sums: map[string]checkpoint.Sum{}}
	if was == nil {
		was = i
	}
	name := func(text string) string {
		if text == "" {
			return ""
		}
		if len(text) <= short {
			return "=" + text
		}
		sum, known := i.sums[text]
		if !known {
			if sum, known = was.sums[text]; !known {
				sum = sha256.Sum256([]byte(text))
			}
			i.sums[text] = sum
		}
		return "#" + string(sum[:])
	}
	about, err := json.Marshal(s.About)
	to := index{Format: format, About: s.About, Exact: slices.Clone(s.Originals), Comments: slices.Clone(s.Comments), Told: slices.Sorted(slices.Values(s.Told))}
	if err == nil {
		to.Record, err = s.Record.Save(name)
	}
	if err == nil {
		to.History, err = s.History.Map(func(text string) (string, error) { return name(text), nil })
	}
	for n, c := range to.Comments {
		if c.Present != nil {
			present := name(*c.Present)
			to.Comments[n].Present = &present
		}
	}
	slices.SortFunc(to.Exact, func(a, b Original) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Mark, b.Mark))
	})
	for _, o := range to.Exact {
		i.originals = append(i.originals, o.Sum)
	}
	var b bytes.Buffer
	if err == nil {
		err = gob.NewEncoder(&b).Encode(to)
	}
	if err != nil {
		return nil, fmt.Errorf("save the changes of a session: %w", err)
	}
	i.about, i.index = string(about), b.Bytes()
	return i, nil
}

// Is tells whether an image, which may be nil, is the same as another.
func (i *Image) Is(other *Image) bool {
	return i != nil && other != nil && i.about == other.about && bytes.Equal(i.index, other.index)
}

// Write brings the image to the disk: the texts that are not there, then the index. It returns how many bytes
// that were.
func (i *Image) Write(store *checkpoint.Store) (written int, err error) {
	needs := slices.Clone(i.originals)
	for text, sum := range i.sums {
		needs = append(needs, sum)
		if store.Has(sum, len(text)) {
			continue
		}
		if _, err := store.Put([]byte(text)); err != nil {
			return written, fmt.Errorf("save the changes of a session: %w", err)
		}
		written += len(text)
	}
	if err := store.Save(i.About.Key(), i.about, i.index, needs...); err != nil {
		return written, fmt.Errorf("save the changes of a session: %w", err)
	}
	return written + len(i.index) + len(needs)*len(checkpoint.Sum{}), nil
}

// Session returns what the image was taken of; limit is that of its record.
func (i *Image) Session(limit int) (Session, error) {
	texts := make(map[checkpoint.Sum]string, len(i.sums))
	for text, sum := range i.sums {
		texts[sum] = text
	}
	return decode(i.index, limit, texts, func(sum checkpoint.Sum) ([]byte, error) {
		return nil, fmt.Errorf("the text %s: %w", sum, fs.ErrNotExist)
	})
}

// Load returns what the disk has under a key, or an error that is fs.ErrNotExist where there is nothing; limit
// is that of its record.
func Load(store *checkpoint.Store, key string, limit int) (Session, error) {
	data, err := store.Load(key)
	if err != nil {
		return Session{}, fmt.Errorf("read the saved changes of a session: %w", err)
	}
	return decode(data, limit, map[checkpoint.Sum]string{}, store.Content)
}

// errOther is not fs.ErrNotExist.
var errOther = errors.New("another version of the plugin has saved them, and this one does not read that")

// decode reads an index; texts are those that are known.
func decode(data []byte, limit int, texts map[checkpoint.Sum]string, content func(checkpoint.Sum) ([]byte, error)) (Session, error) {
	fail := func(err error) (Session, error) {
		return Session{}, fmt.Errorf("read the saved changes of a session: %v", err) // a text that is gone is no missing record
	}
	var from index
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&from); err != nil {
		return fail(err)
	}
	if from.Format != format {
		return fail(errOther)
	}
	text := func(name string) (string, error) {
		var sum checkpoint.Sum
		switch {
		case name == "":
			return "", nil
		case name[0] == '=':
			return name[1:], nil
		case name[0] != '#' || len(name) != 1+len(sum):
			return "", fmt.Errorf("%q names no text", name)
		}
		copy(sum[:], name[1:])
		if known, ok := texts[sum]; ok {
			return known, nil
		}
		data, err := content(sum)
		if err == nil {
			texts[sum] = string(data)
		}
		return texts[sum], err
	}
	s := Session{About: from.About, Originals: from.Exact, Comments: from.Comments, Told: from.Told}
	var err error
	if s.Record, err = review.Load(from.Record, limit, text); err != nil {
		return fail(err)
	}
	if s.History, err = from.History.Map(text); err != nil {
		return fail(err)
	}
	for n, c := range s.Comments {
		if c.Present == nil {
			continue
		}
		present, err := text(*c.Present)
		if err != nil {
			return fail(err)
		}
		s.Comments[n].Present = &present
	}
	return s, nil
}

// Entry is a session that was saved.
type Entry struct {
	About
	Saved time.Time
}

// List returns the sessions that were saved, the latest first. Records that say nothing of themselves are
// left out.
func List(store *checkpoint.Store) ([]Entry, error) {
	records, err := store.Records()
	if err != nil {
		return nil, fmt.Errorf("list the saved sessions: %w", err)
	}
	var list []Entry
	for _, r := range records {
		e := Entry{Saved: r.Saved}
		if json.Unmarshal([]byte(r.About), &e.About) == nil && e.Key() == r.Key {
			list = append(list, e)
		}
	}
	return list, nil
}
