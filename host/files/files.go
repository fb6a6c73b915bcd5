// Package files knows which files of a folder belong to a project (List), and finds them by a few letters of their
// names (Finder): folders are listed in the background, and answers come from what is known, so nobody waits for the
// disk.
package files

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	// patience is how long a search waits for a list that is being made.
	patience = 100 * time.Millisecond
	// freshness is how old a list may be; one that took longer to make may be proportionally older.
	freshness  = 2 * time.Second
	slowFactor = 5
)

// Finder finds files. It keeps the list of every folder that it was asked about. Its methods may be
// called from any goroutine.
type Finder struct {
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup
	list func(ctx context.Context, dir string) Listing

	mu      sync.Mutex
	folders map[string]*folder // by path; guarded by mu
	closed  bool
}

// folder is what is known of one folder. Finder.mu guards it; an index never changes.
type folder struct {
	index    *index        // nil before the first list
	scanning chan struct{} // closed at the end of the running scan; nil if there is none
	expires  time.Time
}

// New returns a Finder. It must be closed.
func New() *Finder {
	ctx, stop := context.WithCancel(context.Background())
	return &Finder{ctx: ctx, stop: stop, list: List, folders: map[string]*folder{}}
}

// Close ends the background work and waits for it.
func (f *Finder) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.stop()
	f.work.Wait()
}

// Query asks for files below Dir, or below one of the Further folders, whose path there has the letters of Text in this
// order.
type Query struct {
	Dir     string   // absolute
	Further []string // absolute
	Text    string   // "" for any file
	Open    []string
	Limit   int
}

// Match is what was found: a path below Dir, or an absolute one of an open file elsewhere or below a further folder,
// with "/" as separator and, for a folder, at the end.
type Match struct {
	Path string
	Open bool
}

// Find returns the best matches first, but matching open files, which are absolute paths, before all others. It blocks
// for at most a tenth of a second for each folder; partial says that one was not listed by then, see [Finder.Await].
func (f *Finder) Find(q Query) (found []Match, partial bool) {
	open := openIn(q.Dir, q.Open)
	isOpen := make(map[string]bool, len(open))
	for _, path := range open {
		isOpen[path] = true
	}
	for _, path := range newIndex(open).search(q.Text, q.Limit, nil) {
		found = append(found, Match{Path: path, Open: true})
	}
	var further []Match // each folder gets its share of the room, if there is enough
	for _, dir := range q.Further {
		all := f.index(dir, patience)
		if all == nil {
			partial = true
			continue
		}
		for _, path := range all.search(q.Text, q.Limit/(1+len(q.Further)), nil) {
			if path = strings.TrimSuffix(dir, "/") + "/" + path; !isOpen[path] {
				further = append(further, Match{Path: path})
			}
		}
	}
	all := f.index(q.Dir, patience)
	if all == nil {
		return append(found, further...), true
	}
	for _, path := range all.search(q.Text, max(0, q.Limit-len(found)-len(further)), isOpen) {
		found = append(found, Match{Path: path})
	}
	return append(found, further...), partial
}

// Await blocks until folders have been listed, or the Finder is closed.
func (f *Finder) Await(dirs ...string) {
	for _, dir := range dirs {
		f.index(dir, math.MaxInt64)
	}
}

// openIn names open files as they are seen from dir.
func openIn(dir string, open []string) []string {
	paths := make([]string, len(open))
	for i, path := range open {
		paths[i] = path
		if rel, err := filepath.Rel(dir, path); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			paths[i] = rel
		}
	}
	return paths
}

// index returns the list of a folder: a fresh one, if that can be had in time.
func (f *Finder) index(dir string, in time.Duration) *index {
	f.mu.Lock()
	known := f.folders[dir]
	if known == nil {
		known = &folder{}
		f.folders[dir] = known
	}
	if known.scanning == nil && !f.closed && !time.Now().Before(known.expires) {
		known.scanning = make(chan struct{})
		f.work.Go(func() { f.scan(dir, known) })
	}
	scanning := known.scanning
	f.mu.Unlock()
	if scanning != nil {
		timer := time.NewTimer(in)
		defer timer.Stop()
		select {
		case <-scanning:
		case <-timer.C:
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return known.index
}

func (f *Finder) scan(dir string, known *folder) {
	begun := time.Now()
	paths := newIndex(sorted(f.list(f.ctx, dir).Paths))
	took := time.Since(begun)
	f.mu.Lock()
	defer f.mu.Unlock()
	known.index = paths
	known.expires = time.Now().Add(max(freshness, slowFactor*took))
	close(known.scanning)
	known.scanning = nil
}
