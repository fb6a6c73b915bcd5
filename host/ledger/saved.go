package ledger

import (
	"cmp"
	"errors"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/host/saved"
)

const (
	// What is saved of a session is written at saveRate bytes a second, with pauses between two saves within
	// bounds: a crash loses the last moment only, and a large record does not keep the disk busy.
	saveRate           = 256 << 10
	minPause, maxPause = 50 * time.Millisecond, 5 * time.Second
	// titleLength is how much of a prompt stands for the title of a session that has none.
	titleLength = 60
)

// keeping is how a session's changes are saved. It belongs to the ledger's goroutine.
type keeping struct {
	about  saved.About
	unsent unsent
	image  *saved.Image // what was saved last; nil where that is not known
	due    bool         // a save is
	next   time.Time    // not before
}

// unsent is what the user has not sent of a review, and which refusals the agent knows.
type unsent struct {
	comments []saved.Comment
	told     []string
}

// key is how the store knows the session; "" before the agent has named it.
func (k *keeping) key() string {
	if k.about.ID == "" {
		return ""
	}
	return k.about.Key()
}

// empty tells that there is nothing to save.
func (c *Ledger) empty() bool {
	return len(c.record.Paths()) == 0 && c.history.Empty() && len(c.keep.unsent.comments) == 0
}

// saveSoon has the record, the turns and the comments saved: at once, unless they were a moment ago.
func (c *Ledger) saveSoon() {
	if c.keep.key() == "" || c.config.Store == nil || c.keep.due {
		return
	}
	c.keep.due = true
	time.AfterFunc(time.Until(c.keep.next), func() { c.box.Put(c.save) })
}

// save brings what is new to the disk.
func (c *Ledger) save() {
	store, key := c.config.Store, c.keep.key()
	c.keep.due = false
	if key == "" || store == nil {
		return
	}
	if soonest := time.Now().Add(minPause); c.keep.next.Before(soonest) {
		c.keep.next = soonest
	}
	c.take(c.turn) // as far as it is
	if c.empty() {
		if c.keep.image != nil {
			c.keep.image = nil
			c.config.Saves.Remove(key)
		}
		return
	}
	image, err := saved.Take(c.toSave(), c.keep.image)
	if err != nil {
		c.config.Log.Error(err.Error())
		return
	}
	if image.Is(c.keep.image) {
		return // another Neovim may have saved more since
	}
	c.keep.image = image
	c.config.Saves.Write(key, image, func(bytes int, err error) {
		c.box.Put(func() {
			pause := time.Duration(bytes) * time.Second / saveRate
			c.keep.next = time.Now().Add(min(max(minPause, pause), maxPause))
			if err != nil && c.keep.image == image {
				c.keep.image = nil // what comes next is new
			}
		})
	})
}

// toSave is what is to be saved of the session.
func (c *Ledger) toSave() saved.Session {
	about := c.keep.about
	about.Count(c.record.Files())
	if len(c.history.Turns) > 0 && about.Title == "" {
		about.Title = beginning(c.history.Turns[0].Prompt)
	}
	s := saved.Session{About: about, Record: c.record, History: c.history, Comments: c.keep.unsent.comments, Told: c.keep.unsent.told}
	for at, o := range c.originals.of {
		s.Originals = append(s.Originals, saved.Original{Path: at.Path, Mark: at.Mark, Sum: o.Sum, Mode: o.Mode})
	}
	return s
}

// beginning is as much of a prompt as stands for a title.
func beginning(prompt string) string {
	text := strings.Join(strings.Fields(prompt), " ")
	if len(text) <= titleLength {
		return text
	}
	end := titleLength
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// Forget has the session saved no more: its agent has deleted it.
func (c *Ledger) Forget() {
	c.box.Put(func() {
		if key := c.keep.key(); key != "" {
			c.config.Saves.Remove(key)
		}
		c.keep.about.ID, c.keep.image = "", nil
	})
}

// KeepUnsent has comments saved that the user has not sent, and which refusals the agent knows: at once, or soon.
func (c *Ledger) KeepUnsent(comments []saved.Comment, told []string, atOnce bool) {
	c.box.Put(func() {
		c.keep.unsent = unsent{comments, told}
		if atOnce {
			c.save()
		} else {
			c.saveSoon()
		}
	})
}

// Opened hears as what the session is saved, now that its agent has it open. looked is called on the ledger's
// goroutine when the folders have been looked at, or are not going to be.
func (c *Ledger) Opened(about saved.About, looked func()) {
	c.box.Put(func() {
		c.identify(about)
		c.scans.first(looked)
	})
}

// identify tells as what the session is saved. Where the agent has named it anew it is no longer saved under
// its old name.
func (c *Ledger) identify(about saved.About) {
	old := c.keep.key()
	about.Title = c.keep.about.Title
	if c.keep.about = about; old == c.keep.key() {
		return
	}
	if old != "" {
		c.keep.image = nil
		c.config.Saves.Remove(old)
		c.saveSoon()
	}
}

// TakeUp takes up what was saved of a session, if anything was. tellUnsent gets what the user had not sent, then
// waits all that was saved, in step with the files, or why it could not be read; both on the ledger's goroutine.
func (c *Ledger) TakeUp(about saved.About, tellUnsent func([]saved.Comment, []string), waits func(saved.Session, error)) {
	c.box.Put(func() {
		c.identify(about)
		c.takeUp(tellUnsent, waits)
	})
}

func (c *Ledger) takeUp(tellUnsent func([]saved.Comment, []string), waits func(saved.Session, error)) {
	if c.config.Store == nil || !c.empty() {
		return
	}
	was, err := c.config.Saves.Load(c.keep.key(), maxRecorded)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			waits(saved.Session{}, err)
		}
		return
	}
	c.record, c.history = was.Record, was.History
	c.keep.about.Title = cmp.Or(c.keep.about.Title, was.About.Title)
	for _, o := range was.Originals {
		c.originals.of[version{o.Path, o.Mark}] = original{o.Sum, o.Mode}
	}
	c.keep.unsent = unsent{was.Comments, was.Told}
	if image, err := saved.Take(c.toSave(), nil); err == nil {
		c.keep.image = image
	}
	tellUnsent(was.Comments, was.Told)
	c.job(func(next func()) {
		c.config.Background(func() {
			c.awaitTracked() // else what is not saved looks taken out
			c.box.Put(func() {
				c.refresh(nil, func() {
					c.tell(nil)
					waits(c.toSave(), nil)
					next()
				})
			})
		})
	})
}

// awaitTracked waits until it is known which files buffers show, but not for a Neovim that is busy. It blocks.
func (c *Ledger) awaitTracked() {
	w := c.config.Watch()
	if w == nil {
		return
	}
	busy := time.NewTimer(maxHeld)
	defer busy.Stop()
	select {
	case <-w.Tracks():
	case <-busy.C:
	case <-c.config.Over.Done():
	}
}

// Titled has the title of the session saved with the changes, where it has one.
func (c *Ledger) Titled(title string) {
	c.box.Put(func() {
		if title != c.keep.about.Title {
			c.keep.about.Title = title
			if c.keep.image != nil {
				c.saveSoon()
			}
		}
	})
}
