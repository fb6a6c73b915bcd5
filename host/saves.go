package host

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// saves are images on their way to the disk, by their keys; whoever loads one takes it from here.
type saves struct {
	host    *Host
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

// Load gives what was saved of a session, or is on its way.
func (s *saves) Load(key string, limit int) (saved.Session, error) {
	image, waits := s.get(key)
	switch {
	case !waits:
		return saved.Load(s.host.store, key, limit)
	case image != nil:
		return image.Session(limit)
	}
	return saved.Session{}, fs.ErrNotExist
}

// Remove forgets what was saved of a session. Any goroutine.
func (s *saves) Remove(key string) {
	if s.host.store != nil {
		s.Write(key, nil, func(int, error) {})
	}
}

// Write writes an image in the background, or removes what is there where it is nil, unless something newer
// comes before; done gets how much was written. Any goroutine.
func (s *saves) Write(key string, image *saved.Image, done func(bytes int, err error)) {
	h := s.host
	s.mu.Lock()
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
				h.editor.Notify("warning", "what waits for your review is not saved, a crash would lose it: "+reason(err))
			}
		}
		s.failing = err != nil
		done(bytes, err)
	})
}

// reason is what the system says of a write, without its paths.
func reason(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return err.Error()
}

// waiting says what waits for the user since an earlier time; "" where nothing does.
func waiting(s saved.Session) string {
	text := ""
	switch {
	case s.About.Changes == 1:
		text = "1 change of this session waits for your review: :Acp review shows it."
	case s.About.Changes > 1:
		text = fmt.Sprintf("%s in %s of this session wait for your review: :Acp review shows them.", styled.Many(s.About.Changes, "change"), styled.Many(s.About.Files, "file"))
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
	return text + styled.Many(len(s.Comments), "comment") + " of yours are not sent: :Acp review send sends them."
}

// remind says something in the chat, below what the agent tells of the session.
func (s *Session) remind(text string) {
	s.base.Box.Put(func() {
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

// takeUpSaved takes up what was saved of the session, and says what of it waits for the user.
func (s *Session) takeUpSaved() {
	s.ledger.TakeUp(s.about(), func(comments []saved.Comment, told []string) {
		s.base.Box.Put(func() { s.review.Comments.Restore(comments, told) })
	}, func(was saved.Session, err error) {
		if errors.Is(err, saved.ErrNewer) {
			s.remind("A newer version of the plugin saved the review of this session: it is left as it is, and nothing new is saved, until you update.")
			return
		}
		if err != nil {
			s.base.Log.Warn(err.Error())
			s.remind("What waited for your review in this session could not be read again; :Acp log says why.")
			return
		}
		s.remind(waiting(was))
	})
}

// about is what a listing of saved sessions says of this one; its title is kept by [ledger.Ledger.Titled].
func (s *Session) about() saved.About {
	return saved.About{Agent: s.spec.Name, AgentTitle: s.base.Title, Cwd: s.base.Cwd, ID: s.remote.stored}
}

// listSaved gives Lua the sessions that were saved, the latest first.
func (h *Host) listSaved(callback int) {
	if h.store == nil {
		h.editor.Answer(callback, []rpc.SavedSession{}, "")
		return
	}
	entries, err := saved.List(h.store)
	if err != nil {
		h.log.Warn(err.Error())
		h.editor.Answer(callback, nil, "what was saved of earlier sessions cannot be read; :Acp log says why")
		return
	}
	entries = h.saves.over(entries)
	list := make([]rpc.SavedSession, len(entries))
	for i, e := range entries {
		list[i] = rpc.SavedSession{
			Agent: e.Agent, AgentTitle: e.AgentTitle, Changes: e.Changes,
			StoredSession: rpc.StoredSession{
				AgentSessionID: e.ID, Cwd: e.Cwd, Title: e.Title, UpdatedAt: e.Saved.UTC().Format(time.RFC3339),
			},
		}
	}
	h.editor.Answer(callback, list, "")
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
			h.saves.Remove(e.Key())
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
