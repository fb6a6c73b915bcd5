package checkpoint

import "slices"

// PathChange is the change of a path between two snapshots. Before is None for a new file, After for one that is gone;
// if both have the same Sum, the mode or the path changed.
type PathChange struct {
	Path    string // a real path
	OldPath string // where it was before, if it was moved
	Before  State
	After   State
}

// Changes returns what is different in after, in the order of the paths. A path is compared if both snapshots scanned a
// root that it is in. A file that the first did not have is new only if it has changed since; one that an ignore file
// hid before is not. It is pure.
func (s *Snapshot) Changes(after *Snapshot) []PathChange {
	var changes []PathChange
	var gone, found []*file
	a, b := s.files, after.files
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(a) > 0 && len(b) > 0 && a[0] == b[0]:
			a, b = a[1:], b[1:]
		case len(b) == 0 || len(a) > 0 && a[0].path < b[0].path:
			if below(a[0].path, after.roots) {
				gone = append(gone, a[0])
			}
			a = a[1:]
		case len(a) == 0 || b[0].path < a[0].path:
			if below(b[0].path, s.roots) {
				found = append(found, b[0])
			}
			b = b[1:]
		default:
			if a[0].Kind != b[0].Kind || a[0].Mode != b[0].Mode || !a[0].sameContents(b[0]) {
				changes = append(changes, PathChange{Path: a[0].path, Before: a[0].State, After: b[0].State})
			}
			a, b = a[1:], b[1:]
		}
	}
	changes = append(changes, moves(gone, s.unhidden(found))...)
	slices.SortFunc(changes, func(a, b PathChange) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	return changes
}

// sameContents reports whether two files have the same contents or, if those are not known, whether the file was not
// written in between.
func (f *file) sameContents(g *file) bool {
	if !f.Sum.IsZero() && !g.Sum.IsZero() {
		return f.Sum == g.Sum
	}
	return f.Kind != File && f.Target == g.Target ||
		f.Kind == File && f.Size == g.Size && f.ModTime == g.ModTime && f.Inode == g.Inode && f.device == g.device
}

type inode struct{ device, number uint64 }

func (f *file) inode() inode { return inode{f.device, f.Inode} }

// unhidden leaves out files that existed when the snapshot was made but were not listed. Files in a moved folder are as
// old, but their inodes are known.
func (s *Snapshot) unhidden(found []*file) []*file {
	begun := s.at.Add(-granularity).UnixNano()
	old := func(f *file) bool { return f.Changed < begun }
	if !slices.ContainsFunc(found, old) {
		return found
	}
	known := make(map[inode]bool, len(s.files))
	for _, f := range s.files {
		known[f.inode()] = true
	}
	return slices.DeleteFunc(found, func(f *file) bool { return old(f) && !known[f.inode()] })
}

// moves turns what is gone and what was found into changes; a file that only has another path is one change.
func moves(gone, found []*file) (changes []PathChange) {
	from, moved := map[*file]*file{}, map[*file]bool{}
	matchMoves(gone, found, (*file).inode, from, moved)
	matchMoves(gone, found, func(f *file) Sum { return f.Sum }, from, moved)
	for _, f := range found {
		c := PathChange{Path: f.path, After: f.State}
		if old := from[f]; old != nil {
			c.OldPath, c.Before = old.path, old.State
		}
		changes = append(changes, c)
	}
	for _, f := range gone {
		if !moved[f] {
			changes = append(changes, PathChange{Path: f.path, Before: f.State})
		}
	}
	return changes
}

// matchMoves matches files of equal contents that are the only ones with their key.
func matchMoves[K comparable](gone, found []*file, key func(*file) K, from map[*file]*file, moved map[*file]bool) {
	type both struct{ olds, news []*file }
	all := map[K]both{}
	for _, f := range gone {
		if f.Kind == File && f.Size > 0 && !moved[f] {
			b := all[key(f)]
			b.olds = append(b.olds, f)
			all[key(f)] = b
		}
	}
	for _, f := range found {
		if f.Kind == File && f.Size > 0 && from[f] == nil {
			b := all[key(f)]
			b.news = append(b.news, f)
			all[key(f)] = b
		}
	}
	for _, b := range all {
		if len(b.olds) == 1 && len(b.news) == 1 && b.olds[0].sameContents(b.news[0]) {
			from[b.news[0]], moved[b.olds[0]] = b.olds[0], true
		}
	}
}
