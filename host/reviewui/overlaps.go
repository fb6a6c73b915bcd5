package reviewui

import (
	"slices"
	"strconv"
	"sync"
)

// Overlaps knows which sessions have pending changes of the same file, so that their pages can say so. Any goroutine
// may use it. The zero value is ready to use.
type Overlaps struct {
	mu    sync.Mutex
	files map[string][]*Tab       // by path
	paths map[*Tab]map[int]string // by the file's id in the record
}

// set says whether a file of a session is pending, and redraws the pages of other sessions that change it.
func (o *Overlaps) set(t *Tab, id int, path string, pending bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files == nil {
		o.files, o.paths = map[string][]*Tab{}, map[*Tab]map[int]string{}
	}
	old, was := o.paths[t][id]
	if was == pending && old == path || !was && !pending {
		return
	}
	if was {
		o.drop(t, old)
		delete(o.paths[t], id)
	}
	if !pending {
		return
	}
	if o.paths[t] == nil {
		o.paths[t] = map[int]string{}
	}
	o.paths[t][id] = path
	o.files[path] = append(o.files[path], t)
	o.redrawOthers(t, path)
}

func (o *Overlaps) drop(t *Tab, path string) {
	o.files[path] = slices.DeleteFunc(o.files[path], func(other *Tab) bool { return other == t })
	if len(o.files[path]) == 0 {
		delete(o.files, path)
	}
	o.redrawOthers(t, path)
}

func (o *Overlaps) redrawOthers(t *Tab, path string) {
	for _, other := range o.files[path] {
		if other != t {
			other.config.Box.Put(other.render)
		}
	}
}

// forget drops a session that has ended.
func (o *Overlaps) forget(t *Tab) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, path := range o.paths[t] {
		o.drop(t, path)
	}
	delete(o.paths, t)
}

// others names the other sessions that are changing a file.
func (o *Overlaps) others(t *Tab, path string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var names []string
	for _, other := range o.files[path] {
		if other != t {
			names = append(names, other.config.Title+" (session "+strconv.Itoa(other.config.Session)+")")
		}
	}
	return names
}
