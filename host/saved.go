package host

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/transcript"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// saveDelay is how much later at most the record of a session is on the disk.
const saveDelay = time.Second

// savedChanges is what the store has of a session.
type savedChanges struct {
	Record    []byte
	Turns     []*turns.Turn
	Undone    []turns.Undone
	Originals map[version]original
}

// saveSoon has the record and the turns saved.
func (c *changes) saveSoon() {
	if c.key == "" || c.session.host.store == nil || c.saving {
		return
	}
	c.saving = true
	time.AfterFunc(saveDelay, func() { c.box.put(c.save) })
}

// save brings the record and the turns to the disk.
func (c *changes) save() {
	store, key := c.session.host.store, c.key
	c.saving = false
	if key == "" || store == nil {
		return
	}
	c.take(c.turn) // as far as it is
	var data []byte
	var needs []checkpoint.Sum
	if !c.empty() {
		saved := savedChanges{Turns: c.history.Turns, Undone: c.history.Undone, Originals: c.originals.of}
		var b bytes.Buffer
		var err error
		if saved.Record, err = c.record.Save(); err == nil {
			err = gob.NewEncoder(&b).Encode(saved)
		}
		if err != nil {
			c.session.host.log.Error("save the changes of a session", "err", err)
			return
		}
		data = b.Bytes()
		for _, o := range c.originals.of {
			needs = append(needs, o.Sum)
		}
	}
	h := c.session.host
	h.saves.put(key, data)
	h.background(func() {
		err := h.saves.done(key, func(data []byte) error {
			if data == nil {
				return store.Remove(key)
			}
			return store.Save(key, data, needs...)
		})
		if err != nil {
			h.log.Warn("save the changes of a session", "err", err)
		}
	})
}

// saves are records on their way to the disk, by their keys; whoever loads one takes it from here.
type saves struct {
	writing sync.Mutex // the disk, one after the other
	mu      sync.Mutex
	data    map[string][]byte // nil: it is to be removed
}

func (s *saves) put(key string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data == nil {
		s.data = map[string][]byte{}
	}
	s.data[key] = data
}

func (s *saves) get(key string) (data []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok = s.data[key]
	return data, ok
}

// done writes the latest that was put under a key, unless somebody else has.
func (s *saves) done(key string, write func([]byte) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	data, ok := s.get(key)
	if !ok {
		return nil
	}
	err := write(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes.Equal(s.data[key], data) { // nothing newer has come
		delete(s.data, key)
	}
	return err
}

// empty tells that there is nothing to save.
func (c *changes) empty() bool { return len(c.record.Files()) == 0 && c.history.Empty() }

// identify tells by which name the store knows the session, and takes up what was saved there.
func (c *changes) identify(key string, takenUp bool) {
	c.key = key
	store := c.session.host.store
	c.scans.scan(func(*checkpoint.Snapshot) {})
	if store == nil || !takenUp || !c.empty() {
		return
	}
	data, waits := c.session.host.saves.get(key)
	var err error
	if !waits {
		data, err = store.Load(key)
	}
	var saved savedChanges
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(data)).Decode(&saved)
	}
	var record *review.Record
	if err == nil {
		record, err = review.Load(saved.Record, maxRecorded)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.session.host.log.Warn("read the changes of a session", "err", err)
		}
		return
	}
	c.record, c.history = record, turns.History{Turns: saved.Turns, Undone: saved.Undone}
	if saved.Originals != nil {
		c.originals.of = saved.Originals
	}
	c.job(func(next func()) {
		c.refresh(nil, func() {
			c.tell(nil)
			c.remind()
			next()
		})
	})
}

// remind says what waits for a review since an earlier time.
func (c *changes) remind() {
	files, hunks := 0, 0
	for _, f := range c.record.Files() {
		if f.State != review.Pending {
			continue
		}
		files++
		n := 0
		for _, h := range f.Hunks {
			if h.State == review.Pending {
				n++
			}
		}
		hunks += max(n, 1)
	}
	if files > 0 {
		text := fmt.Sprintf("%s in %s of this session wait for your review: :Acp review shows them.", transcript.Many(hunks, "change"), transcript.Many(files, "file"))
		if hunks == 1 {
			text = "1 change of this session waits for your review: :Acp review shows it."
		}
		c.session.box.put(func() { c.session.remark("info", text) })
	}
}

// cleanCheckpoints keeps the store small; what the open sessions have stays.
func (h *Host) cleanCheckpoints() {
	if h.store == nil {
		return
	}
	err := h.store.Clean(h.over, time.Now(), nil)
	if err != nil && h.over.Err() == nil {
		h.log.Warn("clean the folder of checkpoints", "err", err)
	}
}

// storeKey is how the store knows a session.
func (s *Session) storeKey() string { return s.spec.Name + "\n" + s.cwd + "\n" + s.stored }
