package ledger

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/saved"
)

// This file decides when the record, turns and comments are saved, and loads them.

const (
	// A small session is written at once, so that nothing is lost if the host is killed. One of more than atOnce bytes
	// is written at saveRate bytes a second on average, with bounded pauses between saves, so that a large record does
	// not keep the disk busy. Up to saveFirst bytes are written before the agent hears of them.
	atOnce             = 32 << 10
	saveFirst          = 1 << 20
	saveRate           = 256 << 10
	minPause, maxPause = 50 * time.Millisecond, 5 * time.Second
	// titleLength is how much of a prompt serves as the title of a session that has none.
	titleLength = 60
)

// keeping is the state of saving a session. It belongs to the ledger's goroutine.
type keeping struct {
	about  saved.About
	unsent unsent
	image  *saved.Image // what was saved last; nil if not known
	newer  string       // the key of what a newer version of the plugin saved, which is left alone
	due    bool         // a save is
	next   time.Time    // not before
	bytes  int          // of the last save
	busy   *saved.Image // being written; nil for none
	then   []func()     // what waits until nothing is
}

// unsent is the part of a review that the user has not sent, and the refusals that the agent knows.
type unsent struct {
	comments []saved.Comment
	told     []string
}

// key returns the session's key in the store; "" before the agent has named it, and if nothing may be saved.
func (k *keeping) key() string {
	if k.about.ID == "" || k.about.Key() == k.newer {
		return ""
	}
	return k.about.Key()
}

// empty reports whether there is nothing to save.
func (l *Ledger) empty() bool {
	return l.record.Empty() && l.history.Empty() && len(l.keep.unsent.comments) == 0 && len(l.behind)+len(l.inStep) == 0 && l.running() == nil
}

// saveSoon saves the record, the turns and the comments: at once, unless that is much and was done a moment ago.
func (l *Ledger) saveSoon() {
	switch {
	case l.keep.due:
	case l.keep.bytes <= atOnce:
		l.save()
	default:
		l.keep.due = true
		time.AfterFunc(time.Until(l.keep.next), func() { l.box.Put(l.save) })
	}
}

// save writes what is new.
func (l *Ledger) save() {
	key := l.keep.key()
	l.keep.due = false
	if key == "" || l.config.Store == nil {
		return
	}
	if soonest := time.Now().Add(minPause); l.keep.next.Before(soonest) {
		l.keep.next = soonest
	}
	l.take(l.turn) // as far as it is
	if l.empty() {
		if l.keep.image != nil {
			l.keep.image, l.keep.busy = nil, nil
			l.config.Saves.Remove(key)
		}
		return
	}
	image, err := saved.Take(l.toSave(), l.keep.image)
	if err != nil {
		l.config.Log.Error(err.Error())
		return
	}
	if image.Is(l.keep.image) {
		return // another Neovim may have saved more since
	}
	l.keep.image = image
	if l.keep.bytes <= atOnce {
		if bytes, ok, err := l.config.Saves.WriteNow(key, image); ok {
			l.written(image, bytes, err)
			return
		}
	}
	l.keep.busy = image
	l.config.Saves.Write(key, image, func(bytes int, err error) {
		l.box.Put(func() { l.written(image, bytes, err) })
	})
}

// written notes that an image is on the disk, or why not.
func (l *Ledger) written(image *saved.Image, bytes int, err error) {
	if l.keep.bytes = bytes; bytes > atOnce {
		l.keep.next = time.Now().Add(min(time.Duration(bytes)*time.Second/saveRate, maxPause))
	}
	if l.keep.image != image {
		return // more has come
	}
	if l.keep.busy = nil; err != nil {
		l.keep.image = nil // the next save writes all
	}
	l.whenSaved(func() {})
}

// whenSaved runs f when the last save is on the disk, or has failed.
func (l *Ledger) whenSaved(f func()) {
	l.keep.then = append(l.keep.then, f)
	if l.keep.busy == nil {
		then := l.keep.then
		l.keep.then = nil
		for _, f := range then {
			f()
		}
	}
}

// whenNoted is whenSaved including what is due, unless that is too much to wait for.
func (l *Ledger) whenNoted(f func()) {
	if l.keep.due && l.keep.bytes <= saveFirst {
		l.save()
	}
	l.whenSaved(f)
}

// toSave returns what to save of the session.
func (l *Ledger) toSave() saved.Session {
	about := l.keep.about
	about.Count(l.record)
	if len(l.history.Turns) > 0 && about.Title == "" {
		about.Title = beginning(l.history.Turns[0].Prompt)
	}
	s := saved.Session{About: about, Record: l.record, History: l.history, Comments: l.keep.unsent.comments, Told: l.keep.unsent.told, Running: l.running(), Unsaved: l.unsavedToSave(), Taken: l.takenToSave(), InStep: l.inStepToSave()}
	for at := range l.textless() {
		s.Originals = append(s.Originals, saved.Original{Mark: at.Mark, Form: at.Form, Sum: l.originals.of[at]})
	}
	return s
}

// beginning returns as much of a prompt as serves as a title.
func beginning(prompt string) string {
	text := strings.Join(strings.Fields(prompt), " ")
	if len(text) <= titleLength {
		return text
	}
	return strings.ToValidUTF8(text[:titleLength], "")
}

// Forget stops saving the session: its agent has deleted it.
func (l *Ledger) Forget() {
	l.box.Put(func() {
		if key := l.keep.key(); key != "" {
			l.config.Saves.Remove(key)
		}
		l.keep.about.ID, l.keep.image = "", nil
	})
}

// KeepUnsent saves the comments that the user has not sent, and which refusals the agent knows: at once, or soon.
func (l *Ledger) KeepUnsent(comments []saved.Comment, told []string, atOnce bool) {
	l.box.Put(func() {
		l.keep.unsent = unsent{comments, told}
		if atOnce {
			l.save()
		} else {
			l.saveSoon()
		}
	})
}

// Opened tells the ledger under which name to save the session, now that its agent has opened it.
func (l *Ledger) Opened(about saved.About) { l.box.Put(func() { l.identify(about) }) }

// identify sets the name under which the session is saved. If the agent has renamed it, it is no longer saved under its
// old name.
func (l *Ledger) identify(about saved.About) {
	old := l.keep.key()
	about.Title = l.keep.about.Title
	if l.keep.about = about; old == l.keep.key() {
		return
	}
	if old != "" {
		l.keep.image = nil
		l.config.Saves.Remove(old)
		l.saveSoon()
	}
}

// TakeUp takes up what was saved of a session, if anything. tellUnsent gets what the user had not sent, then waits gets
// all that was saved, in step with the files, or why it could not be read; both on the ledger's goroutine.
func (l *Ledger) TakeUp(about saved.About, tellUnsent func([]saved.Comment, []string), waits func(saved.Session, error)) {
	l.box.Put(func() {
		l.identify(about)
		l.takeUp(tellUnsent, waits)
	})
}

func (l *Ledger) takeUp(tellUnsent func([]saved.Comment, []string), waits func(saved.Session, error)) {
	if l.config.Store == nil || l.keep.key() == "" || !l.empty() {
		return
	}
	was, err := l.config.Saves.Load(l.keep.key(), maxRecorded)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := l.config.Store.SavedAt(openKey(l.keep.key())); err != nil {
			return
		}
		was = saved.Session{About: l.keep.about, Record: l.record}
	case err != nil:
		if errors.Is(err, saved.ErrNewer) {
			l.keep.newer = l.keep.key()
		}
		waits(saved.Session{}, err)
		return
	}
	l.records(was.Record)
	l.history, l.resuming = was.History, true
	l.keep.about.Title = cmp.Or(l.keep.about.Title, was.About.Title)
	for _, o := range was.Originals {
		l.originals.of[version{o.Mark, o.Form}] = o.Sum
	}
	l.keep.unsent = unsent{was.Comments, was.Told}
	if image, err := saved.Take(l.toSave(), nil); err == nil {
		l.keep.image = image
	}
	tellUnsent(was.Comments, was.Told)
	if w := l.config.Watch(); w != nil {
		l.config.Background(func() {
			select {
			case <-w.Tracks():
				l.box.Put(func() { l.wereInStep(was.InStep) })
			case <-l.config.Over.Done():
			}
		})
	}
	l.job(func(next func()) {
		l.config.Background(func() {
			l.awaitTracked() // otherwise unsaved text would look removed
			l.box.Put(func() {
				l.takeUpTurn(was, func() {
					l.wereInStep(was.InStep) // with what the killed host had not recorded, too
					l.resuming, l.followed = false, nil
					l.refresh(l.record.Paths(), func() {
						l.report(nil)
						waits(l.toSave(), nil)
						next()
					})
				})
			})
		})
	})
}

// inStepToSave returns what the buffers of files that the agent has taken away were last in step with.
func (l *Ledger) inStepToSave() (list []saved.InStep) {
	l.record.Away(func(path string, _ review.Content) {
		if text, form, known := l.config.Files.InStep(path); known && l.loaded[path] {
			list = append(list, saved.InStep{Path: path, Text: text, Form: form})
		}
	})
	slices.SortFunc(list, func(a, b saved.InStep) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// wereInStep is wasInStep for those of files that the agent has taken away: as was saved, or else as the record has them.
func (l *Ledger) wereInStep(saved []saved.InStep) {
	for _, is := range saved {
		l.wasInStep(is.Path, contentOf(&is.Text, is.Form))
	}
	l.record.Away(l.wasInStep)
}

// wasInStep notes what the disk had that a buffer was last in step with.
func (l *Ledger) wasInStep(path string, had review.Content) {
	if w := l.config.Watch(); w != nil && isText(had) && slices.Contains(w.Loaded(), path) {
		l.config.Files.WasInStep(path, had.Text, cmp.Or(had.Form, review.Plain))
	}
}

// awaitTracked blocks until it is known which files buffers show, but does not wait for a busy Neovim.
func (l *Ledger) awaitTracked() {
	w := l.config.Watch()
	if w == nil {
		return
	}
	busy := time.NewTimer(maxHeld)
	defer busy.Stop()
	select {
	case <-w.Tracks():
	case <-busy.C:
	case <-l.config.Over.Done():
	}
}

// Titled saves the session's title, if any, with its changes.
func (l *Ledger) Titled(title string) {
	l.box.Put(func() {
		if title != l.keep.about.Title {
			l.keep.about.Title = title
			if l.keep.image != nil {
				l.saveSoon()
			}
		}
	})
}
