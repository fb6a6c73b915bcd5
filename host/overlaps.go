package host

import (
	"slices"
	"strconv"
	"sync"
)

// overlaps knows which sessions have changed a file in a way that is still to be decided, so that each can
// say so. Any goroutine may use it.
type overlaps struct {
	mu    sync.Mutex
	files map[string][]*Session // by path
	paths map[*Session]map[int]string
}

// set says whether a session's file, by its id in the record, is to be decided, and tells the sessions that
// change the same file.
func (o *overlaps) set(s *Session, id int, path string, pending bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files == nil {
		o.files, o.paths = map[string][]*Session{}, map[*Session]map[int]string{}
	}
	old, was := o.paths[s][id]
	if was == pending && old == path || !was && !pending {
		return
	}
	if was {
		o.drop(s, old)
		delete(o.paths[s], id)
	}
	if !pending {
		return
	}
	if o.paths[s] == nil {
		o.paths[s] = map[int]string{}
	}
	o.paths[s][id] = path
	o.files[path] = append(o.files[path], s)
	o.tell(s, path)
}

func (o *overlaps) drop(s *Session, path string) {
	o.files[path] = slices.DeleteFunc(o.files[path], func(other *Session) bool { return other == s })
	if len(o.files[path]) == 0 {
		delete(o.files, path)
	}
	o.tell(s, path)
}

func (o *overlaps) tell(s *Session, path string) {
	for _, other := range o.files[path] {
		if other != s {
			other.base.Box.Put(other.review.render)
		}
	}
}

// forget drops a session that has ended.
func (o *overlaps) forget(s *Session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, path := range o.paths[s] {
		o.drop(s, path)
	}
	delete(o.paths, s)
}

// others names the other sessions that are changing a file.
func (o *overlaps) others(s *Session, path string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var names []string
	for _, other := range o.files[path] {
		if other != s {
			names = append(names, other.spec.Title+" (session "+strconv.Itoa(other.id)+")")
		}
	}
	return names
}
