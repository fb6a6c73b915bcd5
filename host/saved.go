package host

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

const (
	// What is saved of a session is written at saveRate bytes a second, with pauses between two saves within
	// bounds: a crash loses the last moment only, and a large record does not keep the disk busy.
	saveRate           = 256 << 10
	minPause, maxPause = 50 * time.Millisecond, 5 * time.Second
	// titleLength is how much of a prompt stands for the title of a session that has none.
	titleLength = 60
)

// keeping is how a session's changes are saved. It belongs to the goroutine of changes.box.
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
func (c *changes) empty() bool {
	return len(c.record.Paths()) == 0 && c.history.Empty() && len(c.keep.unsent.comments) == 0
}

// saveSoon has the record, the turns and the comments saved: at once, unless they were a moment ago.
func (c *changes) saveSoon() {
	if c.keep.key() == "" || c.session.host.store == nil || c.keep.due {
		return
	}
	c.keep.due = true
	time.AfterFunc(time.Until(c.keep.next), func() { c.box.Put(c.save) })
}

// save brings what is new to the disk.
func (c *changes) save() {
	store, key := c.session.host.store, c.keep.key()
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
			c.session.host.removeSaved(key)
		}
		return
	}
	image, err := saved.Take(c.toSave(), c.keep.image)
	if err != nil {
		c.session.host.log.Error(err.Error())
		return
	}
	if image.Is(c.keep.image) {
		return // another Neovim may have saved more since
	}
	c.keep.image = image
	c.session.host.saves.write(c.session.host, key, image, func(bytes int, err error) {
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
func (c *changes) toSave() saved.Session {
	about := c.keep.about
	about.Count(c.record.Files())
	if len(c.history.Turns) > 0 && about.Title == "" {
		about.Title = cut(strings.Join(strings.Fields(c.history.Turns[0].Prompt), " "), titleLength)
	}
	s := saved.Session{About: about, Record: c.record, History: c.history, Comments: c.keep.unsent.comments, Told: c.keep.unsent.told}
	for at, o := range c.originals.of {
		s.Originals = append(s.Originals, saved.Original{Path: at.Path, Mark: at.Mark, Sum: o.Sum, Mode: o.Mode})
	}
	return s
}

// saves are images on their way to the disk, by their keys; whoever loads one takes it from here.
type saves struct {
	writing sync.Mutex // the disk, one after the other; guards failing
	failing bool       // the last one could not be written, and the user knows
	mu      sync.Mutex
	images  map[string]*saved.Image // nil: it is to be removed
}

func (s *saves) get(key string) (image *saved.Image, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	image, ok = s.images[key]
	return image, ok
}

// over puts what is on its way to the disk in the place of what is there.
func (s *saves) over(entries []saved.Entry) []saved.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries = slices.DeleteFunc(entries, func(e saved.Entry) bool {
		_, newer := s.images[e.Key()]
		return newer
	})
	for _, image := range s.images {
		if image != nil {
			entries = slices.Insert(entries, 0, saved.Entry{About: image.About, Saved: time.Now()})
		}
	}
	return entries
}

// write writes an image in the background, or removes what is there where it is nil, unless something newer
// comes before; done gets how much was written. Any goroutine.
func (s *saves) write(h *Host, key string, image *saved.Image, done func(bytes int, err error)) {
	s.mu.Lock()
	if s.images == nil {
		s.images = map[string]*saved.Image{}
	}
	s.images[key] = image
	s.mu.Unlock()
	h.background(func() {
		s.writing.Lock()
		defer s.writing.Unlock()
		if now, ok := s.get(key); !ok || now != image {
			return
		}
		var err error
		var bytes int
		if image != nil {
			bytes, err = image.Write(h.store)
		} else {
			err = h.store.Remove(key)
		}
		s.mu.Lock()
		if s.images[key] == image { // nothing newer has come
			delete(s.images, key)
		}
		s.mu.Unlock()
		if err != nil {
			h.log.Warn(err.Error())
			if !s.failing {
				h.notify("warning", "what waits for your review is not saved, a crash would lose it: "+reason(err))
			}
		}
		s.failing = err != nil
		done(bytes, err)
	})
}

// forget has the session saved no more: its agent has deleted it.
func (c *changes) forget() {
	if key := c.keep.key(); key != "" {
		c.session.host.removeSaved(key)
	}
	c.keep.about.ID, c.keep.image = "", nil
}

// reason is what the system says of a write, without its paths.
func reason(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return err.Error()
}

// removeSaved forgets what was saved of a session. Any goroutine.
func (h *Host) removeSaved(key string) {
	if h.store != nil {
		h.saves.write(h, key, nil, func(int, error) {})
	}
}

// identify tells as what the session is saved. Where the agent has named it anew it is no longer saved under
// its old name.
func (c *changes) identify(about saved.About) {
	old := c.keep.key()
	about.Title = c.keep.about.Title
	if c.keep.about = about; old == c.keep.key() {
		return
	}
	if old != "" {
		c.keep.image = nil
		c.session.host.removeSaved(old)
		c.saveSoon()
	}
}

// takeUp takes up what was saved of the session, which was identified.
func (c *changes) takeUp() {
	store := c.session.host.store
	if store == nil || !c.empty() {
		return
	}
	key := c.keep.key()
	image, waits := c.session.host.saves.get(key)
	var was saved.Session
	var err error
	switch {
	case !waits:
		was, err = saved.Load(store, key, maxRecorded)
	case image != nil:
		was, err = image.Session(maxRecorded)
	default:
		err = fs.ErrNotExist
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.session.host.log.Warn(err.Error())
			c.remind("What waited for your review in this session could not be read again; :Acp log says why.")
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
	s, unsent := c.session, c.keep.unsent
	s.box.Put(func() { s.comments.takeUp(unsent) })
	c.job(func(next func()) {
		c.refresh(nil, func() {
			c.tell(nil)
			c.remind(waiting(c.toSave()))
			next()
		})
	})
}

// waiting says what waits for the user since an earlier time; "" where nothing does.
func waiting(s saved.Session) string {
	text := ""
	switch {
	case s.About.Changes == 1:
		text = "1 change of this session waits for your review: :Acp review shows it."
	case s.About.Changes > 1:
		text = fmt.Sprintf("%s in %s of this session wait for your review: :Acp review shows them.", transcript.Many(s.About.Changes, "change"), transcript.Many(s.About.Files, "file"))
	}
	switch n := len(s.Comments); {
	case n == 0:
		return text
	case text != "":
		text += " "
	}
	if len(s.Comments) == 1 {
		return text + "1 comment of yours is not sent: :Acp review send sends it."
	}
	return text + transcript.Many(len(s.Comments), "comment") + " of yours are not sent: :Acp review send sends them."
}

// remind says something in the chat, below what the agent tells of the session.
func (c *changes) remind(text string) {
	s := c.session
	s.box.Put(func() {
		s.reminder = text
		if s.phase == ready || s.phase == dead {
			s.sayReminder()
		}
	})
}

func (s *Session) sayReminder() {
	if s.reminder != "" {
		text := s.reminder
		s.reminder = ""
		s.remark("info", text)
	}
}

// about is what a listing of saved sessions says of this one; its title is kept by [Session.titled].
func (s *Session) about() saved.About {
	return saved.About{Agent: s.spec.Name, AgentTitle: s.spec.Title, Cwd: s.cwd, ID: s.stored}
}

// titled has the title saved with the changes, where the session has one.
func (s *Session) titled() {
	title := s.conv.Title
	s.changes.box.Put(func() {
		if c := s.changes; title != c.keep.about.Title {
			c.keep.about.Title = title
			if c.keep.image != nil {
				c.saveSoon()
			}
		}
	})
}

// listSaved gives Lua the sessions that were saved, the latest first.
func (h *Host) listSaved(callback int) {
	if h.store == nil {
		h.callback(callback, []any{}, "")
		return
	}
	entries, err := saved.List(h.store)
	if err != nil {
		h.log.Warn(err.Error())
		h.callback(callback, nil, "what was saved of earlier sessions cannot be read; :Acp log says why")
		return
	}
	entries = h.saves.over(entries)
	list := make([]any, len(entries))
	for i, e := range entries {
		m := map[string]any{
			"agent": e.Agent, "agent_title": e.AgentTitle, "cwd": e.Cwd, "agent_session_id": e.ID,
			"changes": e.Changes, "updated_at": e.Saved.UTC().Format(time.RFC3339),
		}
		if e.Title != "" {
			m["title"] = e.Title
		}
		list[i] = m
	}
	h.callback(callback, list, "")
}

// forgetSaved forgets what was saved of a session that the agent has deleted.
func (h *Host) forgetSaved(agent, id string) {
	if h.store == nil {
		return
	}
	entries, err := saved.List(h.store)
	if err != nil {
		h.log.Warn(err.Error())
	}
	for _, e := range entries {
		if e.Agent == agent && e.ID == id {
			h.removeSaved(e.Key())
		}
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
