package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
)

const (
	// maxUntold is how many files that no call has named are taken into the record of a turn.
	maxUntold = 5000
	// saveDelay is how much later at most the record of a session is on the disk.
	saveDelay = time.Second
	// keptTurns and keptTexts bound the turns of a session that can be undone.
	keptTurns = 50
	keptTexts = 64 << 20 // bytes
)

// checkpoints are what the files of a session's folders were. The fields belong to the goroutine of
// changes.box, but for worked.
type checkpoints struct {
	worked atomic.Bool // a call of this turn may have changed files without naming them

	begun    *checkpoint.Snapshot // at the beginning of the turn
	earlier  *checkpoint.Snapshot // the one before it
	scanning bool
	then     []func(*checkpoint.Snapshot) // what waits for the next scan

	key    string // of the session in the store; "" before the agent has named it
	saving bool   // a save is due
}

// naming are the kinds of calls that change no files, or say which.
var naming = []session.ToolKind{
	session.KindRead, session.KindEdit, session.KindDelete, session.KindMove, session.KindSearch,
	session.KindThink, session.KindFetch, session.KindSwitchMode,
}

// scan takes a snapshot of the session's folders; done runs on the goroutine of box, with nil where there is
// none. One is taken after the other.
func (c *changes) scan(done func(*checkpoint.Snapshot)) {
	store := c.session.host.store
	if store == nil || !scannable(c.session.roots) {
		done(nil)
		return
	}
	c.then = append(c.then, done)
	if c.scanning {
		return
	}
	c.scanning = true
	waiting, last := c.then, cmp.Or(c.begun, c.earlier)
	c.then = nil
	c.session.host.background(func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		stop := context.AfterFunc(c.session.host.over, cancel)
		defer stop()
		snap, err := store.Snapshot(ctx, c.session.roots, last)
		if err != nil && ctx.Err() == nil {
			c.session.host.log.Warn("look at the project's files", "err", err)
		}
		c.box.put(func() {
			c.scanning = false
			for _, f := range waiting {
				f(snap)
			}
			if len(c.then) > 0 {
				next := c.then
				c.then = nil
				c.scan(func(snap *checkpoint.Snapshot) {
					for _, f := range next {
						f(snap)
					}
				})
			}
		})
	})
}

// scannable tells whether folders are those of a project: not the user's home, and not all of the machine.
func scannable(roots []string) bool {
	home, _ := os.UserHomeDir()
	return !slices.ContainsFunc(roots, func(root string) bool {
		return root == "/" || home != "" && (root == home || strings.HasPrefix(home, root+"/"))
	})
}

// openTurn begins the ledger of a turn.
func (c *changes) openTurn(prompt string) {
	c.turn = review.New(maxRecorded)
	c.prompt, c.since = prompt, time.Now()
	clear(c.modes)
	c.undone = nil
	c.scan(func(snap *checkpoint.Snapshot) {
		if snap != nil {
			c.earlier, c.begun = c.begun, snap
		}
	})
}

// findUntold brings into the record what commands of the agent's have changed since its turn began, at a
// time.
func (c *changes) findUntold(began time.Time, done func()) {
	if !c.worked.Swap(false) || c.turn == nil {
		done()
		return
	}
	c.scan(func(after *checkpoint.Snapshot) {
		if after == nil || c.begun == nil || after == c.begun {
			done()
			return
		}
		before, earlier := c.begun, c.earlier
		c.earlier, c.begun = before, after
		found := map[string]checkpoint.Change{}
		if earlier != nil {
			// What was changed while the first look of the turn was taken.
			for _, ch := range earlier.Changes(before) {
				if changedSince(ch, began.Add(-coarse)) {
					found[ch.Path] = ch
				}
			}
		}
		for _, ch := range before.Changes(after) {
			if first, ok := found[ch.Path]; ok {
				ch.Before = first.Before
			}
			found[ch.Path] = ch
		}
		var list []checkpoint.Change
		for path, ch := range found {
			if c.isUntold(path, ch) {
				list = append(list, ch)
			}
		}
		slices.SortFunc(list, func(a, b checkpoint.Change) int { return strings.Compare(a.Path, b.Path) })
		c.takeUntold(list[:min(len(list), maxUntold)], done)
	})
}

// changedSince tells whether a change was made after a time, as far as can be told: a file that is gone has
// no time, but the folder where it was has.
func changedSince(ch checkpoint.Change, t time.Time) bool {
	if ch.After.Kind != checkpoint.None {
		return ch.After.ModTime >= t.UnixNano()
	}
	for dir := filepath.Dir(ch.Path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil:
			return !info.ModTime().Before(t)
		case dir == filepath.Dir(dir):
			return false
		}
	}
}

func (c *changes) isUntold(path string, ch checkpoint.Change) bool {
	odd := func(s checkpoint.State) bool { return s.Kind != checkpoint.None && s.Kind != checkpoint.File }
	return !odd(ch.Before) && !odd(ch.After) && !c.loaded[path] && c.session.host.worker(path) == c.session
}

// takeUntold looks at files that were changed and brings that into the record.
func (c *changes) takeUntold(list []checkpoint.Change, done func()) {
	paths := make([]string, len(list))
	for i, ch := range list {
		paths[i] = ch.Path
	}
	c.seeAll(paths, func(now []sight) {
		var events []event
		for i, ch := range list {
			seen := now[i]
			if seen.path != ch.Path || seen.loaded {
				continue
			}
			if m := c.modes[seen.path]; ch.Before.Kind == checkpoint.File {
				m.Before = ch.Before.Mode
				c.modes[seen.path] = m
			}
			was, is := c.contentOf(ch.Before), seen.Content
			if f, ok := c.record.File(seen.path); ok && (f.Present == is || f.Present == is.Mark()) {
				continue // it is known
			}
			if last, known := c.last[seen.path]; was == is || known && last == is.Mark() {
				continue
			}
			if ch.OldPath != "" {
				c.agentMoved(ch.OldPath, seen.path, was, is)
				c.last[ch.OldPath] = review.Content{}
			} else {
				c.agentChanged(seen.path, was, is)
			}
			c.last[seen.path] = is.Mark()
			events = append(events, changedEvent(seen.path, "disk"))
		}
		c.tell(events)
		done()
	})
}

// contentOf is what a snapshot has of a file, as the record has it.
func (c *changes) contentOf(s checkpoint.State) review.Content {
	if s.Kind == checkpoint.None {
		return review.Content{}
	}
	if !s.Sum.IsZero() {
		if data, err := c.session.host.store.Content(s.Sum); err == nil {
			is := textContent(buffers.Decoded(data))
			if is.Opaque {
				c.contents[is.Text] = s.Sum
			}
			return is
		}
	}
	return review.Opaque(fmt.Sprint("not kept: ", s.Size, " ", s.ModTime))
}

// keepContent puts what is no text into the store, as the record has but its mark.
func (c *changes) keepContent(path string, is review.Content) {
	store := c.session.host.store
	if store == nil || !is.Opaque || c.contents[is.Text] != (checkpoint.Sum{}) {
		return
	}
	data, err := os.ReadFile(path)
	if err != nil || textContent(buffers.Decoded(data)) != is {
		return
	}
	if sum, err := store.Put(data); err == nil {
		c.contents[is.Text] = sum
	}
}

// exact is a file byte for byte.
type exact struct {
	data []byte
	mode fs.FileMode
}

// exactly is what a file with a content was byte for byte; nil where that is not known.
func (c *changes) exactly(path string, was review.Content) *exact {
	store := c.session.host.store
	if store == nil {
		return nil
	}
	mode := c.modes[path].Before
	var sums []checkpoint.Sum
	if sum, ok := c.contents[was.Text]; ok && was.Opaque {
		sums = append(sums, sum)
	}
	for _, snap := range []*checkpoint.Snapshot{c.begun, c.earlier} {
		if snap == nil {
			continue
		}
		if s := snap.State(path); s.Kind == checkpoint.File && !s.Sum.IsZero() {
			sums = append(sums, s.Sum)
			mode = cmp.Or(mode, s.Mode)
		}
	}
	for _, sum := range sums {
		data, err := store.Content(sum)
		if err != nil {
			continue
		}
		if is := textContent(buffers.Decoded(data)); is == was || is.Mark() == was.Mark() {
			return &exact{data, cmp.Or(mode, 0o644)}
		}
	}
	return nil
}

// savedLedger is what the store has of a session.
type savedLedger struct {
	Record   []byte
	Turns    []turn
	Undone   []undone
	Contents map[string]checkpoint.Sum
}

// saveSoon has the ledger saved.
func (c *changes) saveSoon() {
	if c.key == "" || c.session.host.store == nil || c.saving {
		return
	}
	c.saving = true
	time.AfterFunc(saveDelay, func() { c.box.put(c.save) })
}

// save brings the ledger to the disk.
func (c *changes) save() {
	store, key := c.session.host.store, c.key
	c.saving = false
	if key == "" || store == nil {
		return
	}
	c.closeTurn() // as far as it is
	var data []byte
	var needs []checkpoint.Sum
	if len(c.record.Files())+len(c.turns)+len(c.undone) > 0 {
		saved := savedLedger{Turns: c.turns, Undone: c.undone, Contents: c.contents}
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
		for _, sum := range c.contents {
			needs = append(needs, sum)
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

// saves are ledgers on their way to the disk, by their keys; whoever loads one takes it from here.
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

// identify tells by which name the store knows the session, and takes up what was saved there.
func (c *changes) identify(key string, takenUp bool) {
	c.key = key
	store := c.session.host.store
	c.scan(func(snap *checkpoint.Snapshot) {
		if c.begun == nil {
			c.begun = snap
		}
	})
	if store == nil || !takenUp || len(c.record.Files())+len(c.turns) > 0 {
		return
	}
	data, waits := c.session.host.saves.get(key)
	var err error
	if !waits {
		data, err = store.Load(key)
	}
	var saved savedLedger
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
	c.record, c.turns, c.undone = record, saved.Turns, saved.Undone
	if saved.Contents != nil {
		c.contents = saved.Contents
	}
	c.job(func(next func()) {
		c.refresh(time.Time{}, func() {
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
		text := fmt.Sprintf("%s in %s of this session wait for your review: :Acp review shows them.", count(hunks, "change"), count(files, "file"))
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
