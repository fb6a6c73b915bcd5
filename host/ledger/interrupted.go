package ledger

import (
	"bytes"
	"encoding/gob"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// This file has turns that a host does not live to see the end of. While a turn runs it is written down what the
// files were when it began; whoever takes the session up again looks at them as at the end of a turn.

const (
	// beat is how often it is written down that a turn still runs: what has changed later is the user's.
	beat = time.Second
	// maxKept is of how many files it is written down what they were.
	maxKept = 20_000
)

// openTurn is a turn that runs, as it is written down.
type openTurn struct {
	Prompt string
	At     time.Time
	First  []byte   // its first snapshot
	Shown  []string // files that buffers showed
	// Unsaved are those of the record whose buffers had text that the disk had not: what the agent did to them later is
	// not known.
	Unsaved []string
}

// openKey is how the store knows the turn of a session that runs, writtenKey what the user has written in it of the
// files that buffers showed: a list of paths.
func openKey(session string) string { return "turn\n" + session }

func writtenKey(session string) string { return "written\n" + session }

// noteWritten notes at once that the user has written a file, for whoever takes the turn up.
func (l *Ledger) noteWritten(t *turn, path string) {
	if !t.written[path] {
		t.written[path] = true
		l.saveWritten(t)
	}
}

func (l *Ledger) saveWritten(t *turn) {
	if t.noted == "" || len(t.written) == 0 {
		return
	}
	list := strings.Join(slices.Sorted(maps.Keys(t.written)), "\x00")
	if err := l.config.Store.Save(writtenKey(t.noted), "", []byte(list)); err != nil {
		l.config.Log.Warn("note what the user has written", "err", err)
	}
}

// writeDown notes that a turn runs, and goes on doing so until it is over.
func (l *Ledger) writeDown(t *turn) {
	key := l.keep.key()
	if t.over || l.turn != t || key == "" || l.config.Store == nil || t.first == nil || t.first.Len() > maxKept {
		return
	}
	news := t.noted != key
	for path, loaded := range l.loaded {
		if loaded && !t.shown[path] {
			t.shown[path], news = true, true
		}
	}
	unsaved := l.unsaved(t)
	news = news || !slices.Equal(unsaved, t.unsaved)
	t.unsaved = unsaved
	var err error
	if news {
		err = l.saveOpen(t, key)
	} else {
		err = l.config.Store.Renew(openKey(key))
	}
	if err != nil {
		l.config.Log.Warn("note that a turn runs", "err", err)
		return
	}
	if t.noted != key {
		t.noted = key
		l.saveWritten(t)
	}
	time.AfterFunc(beat, func() { l.box.Put(func() { l.writeDown(t) }) })
}

func (l *Ledger) saveOpen(t *turn, key string) (err error) {
	if t.encoded == nil {
		if t.encoded, err = t.first.Encode(); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(openTurn{t.Prompt, t.At, t.encoded, slices.Sorted(maps.Keys(t.shown)), t.unsaved}); err != nil {
		return err
	}
	return l.config.Store.Save(openKey(key), "", b.Bytes())
}

// unsaved are the files of the record whose buffers have text that the disk has not, as far as is known.
func (l *Ledger) unsaved(t *turn) (paths []string) {
	for path, loaded := range l.loaded {
		is, recorded := l.record.Present(path)
		if !loaded || !recorded {
			continue
		}
		disk, known := t.disk[path]
		if s := t.first.State(path); !known && s.Kind == checkpoint.None {
			known = true
		} else if !known {
			disk, known = l.originals.content(s)
		}
		if !known || !disk.SameText(is) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// crossOut notes that a turn is over, and that all of it is saved.
func (l *Ledger) crossOut(t *turn) {
	if t == nil || t.noted == "" {
		return
	}
	for _, key := range []string{openKey(t.noted), writtenKey(t.noted)} {
		if err := l.config.Store.Remove(key); err != nil {
			l.config.Log.Warn("note that a turn is over", "err", err)
		}
	}
	t.noted = ""
}

// takeUpTurn brings into the books what the turn has changed that ran when the last host of the session ended, then
// calls done. What was undone or saved of it before counts.
func (l *Ledger) takeUpTurn(done func()) {
	key := openKey(l.keep.key())
	data, err := l.config.Store.Load(key)
	if err != nil {
		done() // there was none
		return
	}
	var was openTurn
	var first *checkpoint.Snapshot
	ended, err := l.config.Store.SavedAt(key)
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(data)).Decode(&was)
	}
	if err == nil {
		first, err = checkpoint.DecodeSnapshot(was.First)
	}
	if err != nil {
		l.config.Log.Warn("take up the turn that ran", "err", err)
		done()
		return
	}
	t := newTurn(was.Prompt, was.At)
	t.first, t.noted = first, l.keep.key()
	for i, h := range l.history.Turns {
		if h.At.Equal(was.At) {
			t.Turn = turns.Resume(h)
			l.history.Turns = slices.Delete(slices.Clone(l.history.Turns), i, i+1)
			break
		}
	}
	for _, path := range l.record.Paths() {
		if is, ok := l.record.Present(path); ok {
			t.seen[path] = is
		}
	}
	users := map[string]bool{} // nobody tells what of these is whose
	written, _ := l.config.Store.Load(writtenKey(t.noted))
	for _, path := range append(strings.Split(string(written), "\x00"), was.Unsaved...) {
		users[path] = true
	}
	l.scans.scan(func(after *checkpoint.Snapshot) {
		paths := l.doubtful(t, after, ended.Add(beat))
		paths = slices.DeleteFunc(paths, func(path string) bool { return users[path] })
		l.seeAll(paths, func(now []sight) {
			for i := range now {
				if now[i].saved { // it is as the user has written it, after that perhaps
					t.seen[now[i].path], t.saved[now[i].path] = now[i].Content, true
				}
				if now[i].loaded { // no buffer was there then
					now[i].loaded, now[i].Content = false, onDisk(now[i].path)
				}
			}
			l.accountAll(t, now)
			t.over = true
			l.take(t)
			l.crossOut(t)
			done()
		})
	})
}
