// Package saved keeps what outlives the host of a session: the record of what its agent changed, its turns, and what
// the user has not sent yet. It is saved as an index and texts. The index is small and always written whole; a text is
// written once, as contents of the store, by whichever session needs it first.
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

// The versions of the index. Fields may come and go within a version: gob ignores unknown ones. If the meaning of a
// field changes, here or in the record (review.Group), format is raised, decode converts what the previous version
// saved, and testdata gets a fixture of it: nobody's review may go unread.
const (
	format = 4 // as it is written
	oldest = 4 // the oldest that is read: earlier ones were never released
)

// short is the size in bytes up to which a text is in the index itself.
const short = 128

// About describes what was saved without reading it.
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

// Key returns the store's key of the session.
func (a About) Key() string { return a.Agent + "\n" + a.Cwd + "\n" + a.ID }

// Count notes how much of a record is pending.
func (a *About) Count(record *review.Record) { a.Changes, a.Files = record.Waiting() }

// Session is what is saved of a session.
type Session struct {
	About     About
	Record    *review.Record
	History   turns.History
	Originals []Original
	Comments  []Comment
	Told      []string // refusals that the agent knows about
	Running   *Running // the running turn; nil for none
	Unsaved   []Unsaved
	Taken     []Taken
	InStep    []InStep
}

// Original says where the store has the exact bytes of a content without a text.
type Original struct {
	Mark, Form string // what marks the content
	Sum        checkpoint.Sum
}

// Comment is an unsent comment.
type Comment struct {
	review.Remark
	Path    string
	Signed  bool    // the quoted lines begin with what a diff has there
	Present *string // the text in which its lines are counted; nil if unknown
}

// index is the serialized form of a session, with names instead of texts.
type index struct {
	Format   int
	About    About
	Record   [][]byte // its groups
	Turns    [][]byte // of History, each a savedTurn
	Undone   [][]byte
	Exact    []Original
	Comments []Comment
	Told     []string
	Running  []byte // a savedRunning, or nothing
	Unsaved  []byte // a list of savedUnsaved, or nothing
	Taken    []byte // a list of savedTaken, or nothing
	InStep   []byte // a list of InStep, or nothing
}

// savedTurn is a turn, and for one that was undone what the undo did.
type savedTurn struct {
	Prompt string
	At     time.Time
	Files  []turns.FileChange
	Did    []turns.FileChange
}

// Image is a session at one moment, written. It never changes, so any goroutine may write it.
type Image struct {
	About About

	about     string
	index     []byte
	parts     map[any]*part
	originals []checkpoint.Sum
	first     bool // not made from another image: nothing is known to be on the disk
}

// part is a part of an index that is encoded again only if it has changed.
type part struct {
	is    any // another one when it has changed
	data  []byte
	texts map[string]checkpoint.Sum // that are not in data
}

// The keys of parts, beside the time of a turn, in nanoseconds.
type (
	group    int
	undone   int
	comments struct{}
	running  struct{}
	unsaved  struct{}
	taken    struct{}
	inStep   struct{}
)

// turnState detects changed files of a turn by their addresses: they are never changed in place.
type turnState struct {
	turn       *turns.Turn
	files, did *turns.FileChange
	many, more int
}

func stateOf(t *turns.Turn, did []turns.FileChange) turnState {
	first := func(list []turns.FileChange) *turns.FileChange {
		if len(list) == 0 {
			return nil
		}
		return &list[0]
	}
	return turnState{t, first(t.Files), first(did), len(t.Files), len(did)}
}

// taking is an image being made.
type taking struct {
	was, now *Image
	err      error
}

// part returns the part with a key, from the previous image if it is the same, otherwise as encode makes it with names
// instead of texts.
func (i *taking) part(key, is any, encode func(name func(string) string) ([]byte, error)) []byte {
	if i.err != nil {
		return nil
	}
	old := i.was.parts[key]
	if old != nil && old.is == is && is != nil {
		i.now.parts[key] = old
		return old.data
	}
	p := &part{is: is, texts: map[string]checkpoint.Sum{}}
	p.data, i.err = encode(func(text string) string {
		if text == "" {
			return ""
		}
		if len(text) <= short {
			return "=" + text
		}
		sum, known := p.texts[text]
		if !known && old != nil {
			sum, known = old.texts[text]
		}
		if !known {
			sum = sha256.Sum256([]byte(text))
		}
		p.texts[text] = sum
		return "#" + string(sum[:])
	})
	i.now.parts[key] = p
	return p.data
}

func (i *taking) turn(key any, t *turns.Turn, did []turns.FileChange) []byte {
	return i.part(key, stateOf(t, did), func(name func(string) string) ([]byte, error) {
		named := func(text string) (string, error) { return name(text), nil }
		to := savedTurn{Prompt: t.Prompt, At: t.At}
		to.Files, _ = turns.MapFiles(t.Files, named) // its errors are those of named
		to.Did, _ = turns.MapFiles(did, named)
		return encoded(to)
	})
}

func encoded(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func decoded(data []byte, v any) error { return gob.NewDecoder(bytes.NewReader(data)).Decode(v) }

// Take makes the image of a session, which may change afterwards. was is the previous image of the same record and
// turns, or nil: what has not changed is taken from there.
func Take(s Session, was *Image) (*Image, error) {
	i := &taking{was: was, now: &Image{About: s.About, parts: map[any]*part{}, first: was == nil}}
	if was == nil {
		i.was = i.now
	}
	about, err := json.Marshal(s.About)
	i.err = err
	to := index{Format: format, About: s.About, Exact: slices.Clone(s.Originals), Comments: slices.Clone(s.Comments), Told: slices.Sorted(slices.Values(s.Told))}
	for _, g := range s.Record.Groups() {
		to.Record = append(to.Record, i.part(group(g.Number), g.Version, g.Save))
	}
	for _, t := range s.History.Turns {
		to.Turns = append(to.Turns, i.turn(t.At.UnixNano(), t, nil))
	}
	for n, u := range s.History.Undone {
		to.Undone = append(to.Undone, i.turn(undone(n), u.Turn, u.Files))
	}
	i.part(comments{}, nil, func(name func(string) string) ([]byte, error) {
		for n, c := range to.Comments {
			if c.Present != nil {
				present := name(*c.Present)
				to.Comments[n].Present = &present
			}
		}
		return nil, nil
	})
	if s.Running != nil {
		to.Running = i.part(running{}, nil, s.Running.encode)
	}
	if len(s.Unsaved) > 0 {
		to.Unsaved = i.part(unsaved{}, nil, func(name func(string) string) ([]byte, error) { return encodeUnsaved(s.Unsaved, name) })
	}
	if len(s.Taken) > 0 {
		to.Taken = i.part(taken{}, nil, func(name func(string) string) ([]byte, error) { return encodeTaken(s.Taken, name) })
	}
	if len(s.InStep) > 0 {
		to.InStep = i.part(inStep{}, nil, func(name func(string) string) ([]byte, error) {
			list, _ := mapInStep(s.InStep, func(text string) (string, error) { return name(text), nil })
			return encoded(list)
		})
	}
	slices.SortFunc(to.Exact, func(a, b Original) int {
		return cmp.Or(cmp.Compare(a.Mark, b.Mark), cmp.Compare(a.Form, b.Form))
	})
	for _, o := range to.Exact {
		i.now.originals = append(i.now.originals, o.Sum)
	}
	if i.err == nil {
		i.now.index, i.err = encoded(to)
	}
	if i.err != nil {
		return nil, fmt.Errorf("save the changes of a session: %w", i.err)
	}
	if i.now.about = string(about); s.Record.Empty() && s.History.Empty() && len(s.Comments) == 0 {
		i.now.about = "" // nobody needs that
	}
	return i.now, nil
}

// Is reports whether an image, which may be nil, is the same as another.
func (i *Image) Is(other *Image) bool {
	return i != nil && other != nil && i.about == other.about && bytes.Equal(i.index, other.index)
}

// Write writes the image to the disk: the texts that are not there, then the index. It returns how many bytes were
// written.
func (i *Image) Write(store *checkpoint.Store) (written int, err error) {
	if _, err := store.SavedAt(i.About.Key()); err != nil || i.first {
		store.Doubt() // whoever removed the record may have removed its texts too
	}
	needs := slices.Clone(i.originals)
	known := map[checkpoint.Sum]bool{}
	batch := store.Batch()
	for _, p := range i.parts {
		for text, sum := range p.texts {
			if known[sum] {
				continue
			}
			known[sum] = true
			needs = append(needs, sum)
			if store.Holds(sum, len(text)) {
				continue
			}
			if err := batch.Put([]byte(text), nil); err != nil {
				return written, fmt.Errorf("save the changes of a session: %w", err)
			}
			written += len(text)
		}
	}
	if err := batch.Flush(); err != nil {
		return written, fmt.Errorf("save the changes of a session: %w", err)
	}
	if err := store.Save(i.About.Key(), i.about, i.index, needs...); err != nil {
		return written, fmt.Errorf("save the changes of a session: %w", err)
	}
	return written + len(i.index) + len(needs)*len(checkpoint.Sum{}), nil
}

// Session returns what the image was taken of; limit is its record's.
func (i *Image) Session(limit int) (Session, error) {
	texts := map[checkpoint.Sum]string{}
	for _, p := range i.parts {
		for text, sum := range p.texts {
			texts[sum] = text
		}
	}
	return decode(i.index, limit, texts, func(sum checkpoint.Sum) ([]byte, error) {
		return nil, fmt.Errorf("the text %s: %w", sum, fs.ErrNotExist)
	})
}

// Load returns what the disk has under a key, or an error that is fs.ErrNotExist if there is nothing; limit is its
// record's.
func Load(store *checkpoint.Store, key string, limit int) (Session, error) {
	data, err := store.Load(key)
	if err != nil {
		return Session{}, fmt.Errorf("read the saved changes of a session: %w", err)
	}
	return decode(data, limit, map[checkpoint.Sum]string{}, store.Content)
}

// ErrNewer says that a newer version of the plugin saved a session, which must be left alone.
var ErrNewer = errors.New("a newer version of the plugin saved them")

var errOlder = errors.New("a version of the plugin before the first release saved them")

// decode reads an index; texts are the known ones.
func decode(data []byte, limit int, texts map[checkpoint.Sum]string, content func(checkpoint.Sum) ([]byte, error)) (Session, error) {
	fail := func(err error) (Session, error) {
		return Session{}, fmt.Errorf("read the saved changes of a session: %v", err) // a missing text is not a missing record
	}
	var head struct{ Format int } // in other versions the rest may differ
	if err := decoded(data, &head); err != nil {
		return fail(err)
	}
	switch {
	case head.Format > format:
		return Session{}, fmt.Errorf("read the saved changes of a session: %w (format %d, this one reads %d)", ErrNewer, head.Format, format)
	case head.Format < oldest:
		return fail(errOlder)
	}
	var from index
	if err := decoded(data, &from); err != nil {
		return fail(err)
	}
	text := named(texts, content)
	s := Session{About: from.About, Originals: from.Exact, Comments: from.Comments, Told: from.Told}
	var err error
	if s.Record, err = review.Load(from.Record, limit, text); err != nil {
		return fail(err)
	}
	read := func(data []byte) (t savedTurn, err error) {
		if err = decoded(data, &t); err == nil {
			t.Files, err = turns.MapFiles(t.Files, text)
		}
		if err == nil {
			t.Did, err = turns.MapFiles(t.Did, text)
		}
		return t, err
	}
	for _, data := range from.Turns {
		t, err := read(data)
		if err != nil {
			return fail(err)
		}
		s.History.Turns = append(s.History.Turns, &turns.Turn{Prompt: t.Prompt, At: t.At, Files: t.Files})
	}
	for _, data := range from.Undone {
		t, err := read(data)
		if err != nil {
			return fail(err)
		}
		s.History.Undone = append(s.History.Undone, turns.Undone{Turn: &turns.Turn{Prompt: t.Prompt, At: t.At, Files: t.Files}, Files: t.Did})
	}
	if len(from.Running) > 0 {
		if s.Running, err = decodeRunning(from.Running, text); err != nil {
			return fail(err)
		}
	}
	if len(from.Unsaved) > 0 {
		if s.Unsaved, err = decodeUnsaved(from.Unsaved, text); err != nil {
			return fail(err)
		}
	}
	if len(from.Taken) > 0 {
		if s.Taken, err = decodeTaken(from.Taken, text); err != nil {
			return fail(err)
		}
	}
	if len(from.InStep) > 0 {
		if err = decoded(from.InStep, &s.InStep); err == nil {
			s.InStep, err = mapInStep(s.InStep, text)
		}
		if err != nil {
			return fail(err)
		}
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

// named returns a function that finds a text by its name in an index: in the name itself, among the known ones, or by
// its hash in the store.
func named(known map[checkpoint.Sum]string, content func(checkpoint.Sum) ([]byte, error)) func(name string) (string, error) {
	return func(name string) (string, error) {
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
		if text, ok := known[sum]; ok {
			return text, nil
		}
		data, err := content(sum)
		if err == nil {
			known[sum] = string(data)
		}
		return known[sum], err
	}
}

// Entry is a session that was saved.
type Entry struct {
	About
	Saved time.Time
}

// List returns the saved sessions, the latest first. Records that do not describe themselves are left out.
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
