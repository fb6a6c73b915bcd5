package host

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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

	latest   *checkpoint.Snapshot // nil before the first
	previous *checkpoint.Snapshot // the one before it
	scanning bool
	then     []func(*checkpoint.Snapshot) // what waits for the next scan

	key    string // of the session in the store; "" before the agent has named it
	saving bool   // a save is due
}

// harmless are the kinds of calls that change no files. After a turn with another one the folders are
// compared: also a call that says which files it changes may not name all of them.
var harmless = []session.ToolKind{
	session.KindRead, session.KindSearch, session.KindThink, session.KindFetch, session.KindSwitchMode,
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
	waiting, last := c.then, c.latest
	c.then = nil
	c.session.host.background(func() {
		over := c.session.host.over
		snap, err := store.Snapshot(over, c.session.roots, last)
		if err != nil && over.Err() == nil {
			c.session.host.log.Warn("look at the project's files", "err", err)
		}
		c.box.put(func() {
			c.scanning = false
			if snap != nil {
				c.previous, c.latest = c.latest, snap
			}
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

// openTurn begins the ledger of a turn. The one before may have things to come yet, see findUntold.
func (c *changes) openTurn(prompt string, at time.Time) {
	c.take(c.turn)
	t := newTurn(prompt, at)
	c.turn, c.undone = t, nil
	c.scan(func(snap *checkpoint.Snapshot) { t.before, t.first = c.previous, snap })
	// What a buffer once showed is no longer known to be the user's.
	clear(c.loaded)
}

// findUntold brings into the record what commands of the agent's have changed in a turn without naming it.
func (c *changes) findUntold(t *turn, done func()) {
	if !c.worked.Swap(false) || t == nil {
		done()
		return
	}
	c.scan(func(after *checkpoint.Snapshot) {
		if after == nil || t.first == nil {
			done()
			return
		}
		found := map[string]checkpoint.Change{}
		if t.before != nil {
			// What was changed while the first look of the turn was taken.
			for _, ch := range t.before.Changes(t.first) {
				if changedSince(ch, t.At.Add(-coarse)) && !c.superseded(ch) {
					found[ch.Path] = ch
				}
			}
		}
		for _, ch := range t.first.Changes(after) {
			if first, ok := found[ch.Path]; ok {
				ch.Before = first.Before
			}
			found[ch.Path] = ch
		}
		var list []checkpoint.Change
		for path, ch := range found {
			if c.isUntold(path, ch) {
				if ch.Before.ModTime >= t.At.Add(-coarse).UnixNano() {
					ch.Before.Sum = checkpoint.Sum{} // the first look was too late, or in the middle of a write
				}
				list = append(list, ch)
			}
		}
		slices.SortFunc(list, func(a, b checkpoint.Change) int { return strings.Compare(a.Path, b.Path) })
		c.takeUntold(t, list[:min(len(list), maxUntold)], done)
	})
}

// superseded tells that a file was no longer what a snapshot has of it when the turn after that began: the
// user has decided about it, or has undone a turn.
func (c *changes) superseded(ch checkpoint.Change) bool {
	last, known := c.last[ch.Path]
	return known && last != c.contentOf(ch).Mark()
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

// isUntold tells whether a change may be one of the agent's that nobody has told of.
func (c *changes) isUntold(path string, ch checkpoint.Change) bool {
	odd := func(s checkpoint.State) bool { return s.Kind != checkpoint.None && s.Kind != checkpoint.File }
	_, users := c.saved.Load(path)
	return !odd(ch.Before) && !odd(ch.After) && !users && !c.session.host.claimed(path, c.session)
}

// takeUntold looks at files that were changed in a turn and brings that into the record.
func (c *changes) takeUntold(t *turn, list []checkpoint.Change, done func()) {
	paths := make([]string, len(list))
	for i, ch := range list {
		paths[i] = ch.Path
	}
	c.seeAll(paths, func(now []sight) {
		var events []event
		for i, ch := range list {
			seen := now[i]
			if seen.path != ch.Path {
				continue
			}
			if ch.Before.Kind == checkpoint.File {
				t.modes[seen.path] = modes{Before: ch.Before.Mode.Perm(), After: seen.mode}
			}
			if c.loaded[seen.path] {
				continue // the watch tells of its text
			}
			was, is := c.contentOf(ch), seen.Content
			if f, ok := c.record.File(seen.path); ok && (f.Present == is || f.Present == is.Mark()) {
				continue // it is known
			}
			if last, known := c.last[seen.path]; was == is || known && last == is.Mark() {
				continue
			}
			if ch.OldPath != "" {
				c.agentMoved(t, ch.OldPath, seen.path, was, is)
				c.last[ch.OldPath] = review.Content{}
			} else {
				c.agentChanged(t, seen.path, was, is)
			}
			c.last[seen.path] = is.Mark()
			c.named.Store(seen.path, true)
			events = append(events, changedEvent(seen.path, "disk"))
		}
		c.tell(events)
		done()
	})
}

// claimed tells whether another session's agent has said that it changes a file, or was seen to.
func (h *Host) claimed(path string, by *Session) bool {
	h.mu.Lock()
	sessions := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	return slices.ContainsFunc(sessions, func(s *Session) bool {
		return s != by && (s.working.running() || s.working.recent()) && s.changes.names(path)
	})
}

// userSaved hears that the user has written a buffer: what its file has then is no command's doing.
func (h *Host) userSaved(name string) {
	path, err := buffers.RealPath(name)
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.sessions {
		s.changes.saved.Store(path, true)
	}
}

// contentOf is what a snapshot has of a file before a change, as the record has it.
func (c *changes) contentOf(ch checkpoint.Change) review.Content {
	s := ch.Before
	if s.Kind == checkpoint.None {
		return review.Content{}
	}
	if !s.Sum.IsZero() {
		if data, err := c.session.host.store.Content(s.Sum); err == nil {
			is := textContent(buffers.Decoded(data))
			c.originals[version{cmp.Or(ch.OldPath, ch.Path), is.Mark().Text}] = original{s.Sum, s.Mode.Perm()}
			return is
		}
	}
	return review.Opaque(fmt.Sprint("not kept: ", s.Size, " ", s.ModTime))
}

// keepDisk puts a file into the store byte for byte, if it has a content: the record has but its text, or
// its mark.
func (c *changes) keepDisk(path string, is review.Content) {
	store := c.session.host.store
	at := version{path, is.Mark().Text}
	if _, known := c.originals[at]; known || store == nil || !is.Exists {
		return
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxReviewed {
		return
	}
	data, err := os.ReadFile(path)
	if err != nil || textContent(buffers.Decoded(data)).Mark() != is.Mark() {
		return
	}
	if sum, err := store.Put(data); err == nil {
		c.originals[at] = original{sum, info.Mode().Perm()}
	}
}

// keepOriginal remembers what a file with a content was at the beginning of a turn, byte for byte.
func (c *changes) keepOriginal(t *turn, path string, was review.Content) {
	at := version{path, was.Mark().Text}
	if _, known := c.originals[at]; known {
		return
	}
	for _, snap := range []*checkpoint.Snapshot{t.first, t.before} {
		if snap == nil {
			continue
		}
		s := snap.State(path)
		if s.Kind != checkpoint.File || s.Sum.IsZero() {
			continue
		}
		data, err := c.session.host.store.Content(s.Sum)
		if err == nil && textContent(buffers.Decoded(data)).Mark() == was.Mark() {
			c.originals[at] = original{s.Sum, s.Mode.Perm()}
			return
		}
	}
}

// exact is a file byte for byte.
type exact struct {
	data []byte
	mode fs.FileMode
}

// original is what a file with a content was byte for byte; nil where that is not known.
func (c *changes) original(path string, was review.Content) *exact {
	mark := was.Mark().Text
	old, known := c.originals[version{path, mark}]
	if !known && was.Opaque {
		for at, o := range c.originals {
			if at.Mark == mark { // under another name
				old, known = o, true
			}
		}
	}
	if !known && c.turn != nil && c.session.host.store != nil {
		c.keepOriginal(c.turn, path, was)
		old, known = c.originals[version{path, mark}]
	}
	if !known || c.session.host.store == nil {
		return nil
	}
	data, err := c.session.host.store.Content(old.Sum)
	if err != nil {
		return nil
	}
	return &exact{data, old.Mode}
}

// savedLedger is what the store has of a session.
type savedLedger struct {
	Record    []byte
	Turns     []*turn
	Undone    []undone
	Originals map[version]original
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
	c.take(c.turn) // as far as it is
	var data []byte
	var needs []checkpoint.Sum
	if len(c.record.Files())+len(c.turns)+len(c.undone) > 0 {
		saved := savedLedger{Turns: c.turns, Undone: c.undone, Originals: c.originals}
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
		for _, o := range c.originals {
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
	c.scan(func(*checkpoint.Snapshot) {})
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
	if saved.Originals != nil {
		c.originals = saved.Originals
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
