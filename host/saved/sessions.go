package saved

import (
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
)

// Sessions is what is saved of sessions, in the store or on its way there. Any goroutine may use it.
type Sessions struct {
	config SessionsConfig

	writing sync.Mutex // one at a time; guards failing
	failing bool       // the last write has failed

	mu     sync.Mutex
	images map[string]*Image // on their way to the store, by key; nil for removals
}

// SessionsConfig is what [Sessions] needs of its surroundings.
type SessionsConfig struct {
	Store      *checkpoint.Store // nil for none: nothing is saved, and nothing there
	Background func(func())      // runs a function in a goroutine that the host's end waits for
	// Failed is told of a failed write, on that goroutine. again says that the previous one failed too.
	Failed func(err error, again bool)
}

// NewSessions opens what is saved of sessions.
func NewSessions(config SessionsConfig) *Sessions {
	return &Sessions{config: config, images: map[string]*Image{}}
}

func (s *Sessions) waiting(key string) (image *Image, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	image, ok = s.images[key]
	return image, ok
}

// List returns what is saved, the latest first. With an error it returns only what is on its way.
func (s *Sessions) List() ([]Entry, error) {
	if s.config.Store == nil {
		return nil, nil
	}
	entries, err := List(s.config.Store)
	s.mu.Lock()
	defer s.mu.Unlock()
	entries = slices.DeleteFunc(entries, func(e Entry) bool {
		_, newer := s.images[e.Key()]
		return newer
	})
	for _, image := range s.images {
		if image != nil {
			entries = slices.Insert(entries, 0, Entry{About: image.About, Saved: time.Now()})
		}
	}
	return entries, err
}

// Load returns what was last saved under a key, with a record of at most limit bytes. If there is nothing, the error is
// [fs.ErrNotExist].
func (s *Sessions) Load(key string, limit int) (Session, error) {
	image, waits := s.waiting(key)
	switch {
	case !waits:
		return Load(s.config.Store, key, limit)
	case image != nil:
		return image.Session(limit)
	}
	return Session{}, fs.ErrNotExist
}

// Remove removes what was saved under a key.
func (s *Sessions) Remove(key string) {
	if s.config.Store != nil {
		s.Write(key, nil, func(int, error) {})
	}
}

// Write writes an image in the background or, if it is nil, removes what is there. done gets how much was written; it
// is not called if something newer comes first.
func (s *Sessions) Write(key string, image *Image, done func(bytes int, err error)) {
	s.wants(key, image)
	s.config.Background(func() {
		s.writing.Lock()
		defer s.writing.Unlock()
		if now, ok := s.waiting(key); ok && now == image {
			done(s.write(key, image))
		}
	})
}

// WriteNow writes an image before it returns, unless others are being written: then it does nothing, and ok is false.
func (s *Sessions) WriteNow(key string, image *Image) (bytes int, ok bool, err error) {
	if !s.writing.TryLock() {
		return 0, false, nil
	}
	defer s.writing.Unlock()
	s.wants(key, image)
	bytes, err = s.write(key, image)
	return bytes, true, err
}

// wants sets what to write under a key.
func (s *Sessions) wants(key string, image *Image) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images[key] = image
}

// write writes or removes what is wanted under a key; s.writing is held.
func (s *Sessions) write(key string, image *Image) (bytes int, err error) {
	if image != nil {
		bytes, err = image.Write(s.config.Store)
	} else {
		err = s.config.Store.Remove(key)
	}
	s.mu.Lock()
	if s.images[key] == image { // nothing newer has come
		delete(s.images, key)
	}
	s.mu.Unlock()
	if err != nil {
		s.config.Failed(err, s.failing)
	}
	s.failing = err != nil
	return bytes, err
}
