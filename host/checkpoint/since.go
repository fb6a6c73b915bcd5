package checkpoint

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/files"
)

// since makes a snapshot from the last one and what its watch reports as changed. It returns nil if all files must be
// scanned.
//
// Changes through a memory mapping are not reported until it ends, nor are those through another name of a file, which
// may be anywhere. So these files are always looked at.
func (sc *scan) since() (*Snapshot, error) {
	last := sc.last
	told, now, ok := last.mark.watch.look(sc.ctx, last.repos, last.mark)
	if !ok {
		return nil, sc.ctx.Err()
	}
	sc.new.mark, sc.new.repos, sc.new.touched = now, last.repos, last.touched
	again, lost := map[string]bool{}, map[string]bool{}
	for _, path := range slices.Concat(last.linked, last.unsettled, mapped(last.roots)) {
		if _, known := last.search(path); known {
			again[path] = true
		}
	}
	if sc.new.at.Sub(last.touched) > need {
		sc.new.touched = sc.new.at
		for _, f := range last.files {
			if !f.Sum.IsZero() && !sc.store.touch(f.Sum) {
				again[f.path], lost[f.path] = true, true
			}
		}
	}
	if ok, err := sc.addTold(told, again); !ok {
		return nil, err
	}
	var changed []*file
	for _, path := range slices.Sorted(maps.Keys(again)) {
		f, old := &file{path: path}, last.file(path)
		if sc.isReal(filepath.Dir(path)) {
			folder, err := f.stat()
			if errors.Is(err, fs.ErrPermission) {
				return nil, nil
			}
			if folder && old == nil { // a repository that was not there, which has rules of its own
				last.mark.watch.forget(sc.new.mark.notify)
				return nil, nil
			}
		}
		switch {
		case f.Kind == File && f.linked && (old == nil || !old.linked):
			return nil, nil // a scan of all files shows which other file it is, too
		case old == nil && f.Kind == None:
		case old == nil || !old.same(f) || f.Kind == File && (lost[path] || !old.settled()):
			changed = append(changed, f)
		}
	}
	return sc.changed(changed)
}

// addTold adds the changed paths to those that are looked at. It returns false if all must be.
func (sc *scan) addTold(told []string, again map[string]bool) (ok bool, err error) {
	last, w := sc.last, sc.last.mark.watch
	var unknown []string
	for _, path := range told {
		if _, known := last.search(path); known {
			again[path] = true
		} else if strings.HasSuffix(path, "/") || sc.store.Skip == nil || !sc.store.Skip(path) {
			unknown = append(unknown, path)
		}
	}
	rules := slices.Clone(sc.new.mark.rules)
	var reindexed []repository
	for i, r := range rules {
		is := idOf(r.path)
		if is == r.is {
			continue
		}
		if r.of == "" {
			w.forget(sc.new.mark.notify)
			return false, nil
		}
		rules[i].is = is
		at := slices.IndexFunc(last.repos, func(repo repository) bool { return repo.dir == r.of })
		reindexed = append(reindexed, last.repos[at])
	}
	sc.new.mark.rules = rules
	if len(unknown) > maxNew {
		return false, nil
	}
	var found []string
	for repo, paths := range byRepository(last.repos, unknown) {
		if !repo.git {
			if slices.ContainsFunc(paths, exists) {
				return false, nil // only a list of all files shows whether it belongs to the project
			}
			continue
		}
		more, err := files.KnownAmong(sc.ctx, repo.dir, paths, repo.cut)
		if err != nil {
			return false, sc.ctx.Err()
		}
		found = append(found, more...)
	}
	for _, repo := range reindexed {
		if repo.cut {
			continue
		}
		more, err := files.KnownAnyway(sc.ctx, repo.dir)
		if err != nil {
			return false, sc.ctx.Err()
		}
		found = append(found, more...)
	}
	for _, path := range found {
		if sc.store.Skip == nil || !sc.store.Skip(path) {
			again[path] = true
		}
	}
	return len(last.files)+len(found) <= sc.store.names || last.Partial.Unlisted > 0, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// changed makes a snapshot from the last one with these files, sorted by path, replaced; those that are gone have no
// kind.
func (sc *scan) changed(changed []*file) (*Snapshot, error) {
	last, s := sc.last, sc.new
	s.Partial, s.size, s.count = last.Partial, last.size, last.count
	lacks := false
	var todo []wantedFile
	for _, f := range changed {
		old := last.file(f.path)
		if old != nil {
			s.tally(old, sc.store, -1)
			lacks = lacks || old.lacks()
		}
		if f.Kind == File && f.Size <= sc.store.fileSize {
			todo = append(todo, wantedFile{f, old != nil && !old.Sum.IsZero()})
		}
	}
	if err := sc.read(sc.roomFor(todo, s.size, s.count)); err != nil {
		return nil, err
	}
	s.files = make([]*file, 0, len(last.files)+len(changed))
	rest := last.files
	now := map[string]*file{}
	for _, f := range changed {
		at, found := slices.BinarySearchFunc(rest, f.path, func(f *file, path string) int { return strings.Compare(f.path, path) })
		s.files = append(s.files, rest[:at]...)
		if rest = rest[at:]; found {
			rest = rest[1:]
		}
		now[f.path] = f
		if f.Kind == None {
			continue
		}
		s.files = append(s.files, f)
		s.tally(f, sc.store, 1)
		lacks = lacks || f.lacks()
		if !f.lacks() && f.Kind == File && !f.settled() {
			s.unsettled = append(s.unsettled, f.path)
		}
	}
	s.files = append(s.files, rest...)
	for _, path := range last.linked {
		if f := now[path]; f == nil || f.Kind == File && f.linked {
			s.linked = append(s.linked, path)
		}
	}
	if s.largest = last.largest; lacks {
		s.findLargest()
	}
	return s, sc.ctx.Err()
}

// file returns the file at a path, or nil.
func (s *Snapshot) file(path string) *file {
	if at, found := s.search(path); found {
		return s.files[at]
	}
	return nil
}
