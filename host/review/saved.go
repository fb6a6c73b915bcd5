package review

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"slices"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

const (
	// savedFormat is the version of what Save writes; if you raise it, raise that of the index (host/saved) too.
	savedFormat = 3
	// groupSize is how many files are saved together: a group that has not changed is not encoded again.
	groupSize = 32
)

// Group is a set of files of a record that are saved together. It is valid until the record changes.
type Group struct {
	Number  int // identifies it
	Version int // another one when one of its files has changed

	lastID int // the last one given, as far as the group knows
	files  []*file
}

// Groups returns the record in groups to save.
func (r *Record) Groups() []Group {
	of := map[int][]*file{r.lastID / groupSize: nil} // the last id is there, even if its file is gone
	for _, f := range r.files {
		of[f.ID/groupSize] = append(of[f.ID/groupSize], f)
	}
	groups := make([]Group, 0, len(of))
	for number, files := range of {
		last := min(r.lastID, (number+1)*groupSize-1)
		groups = append(groups, Group{number, r.groups[number], last, files})
	}
	slices.SortFunc(groups, func(a, b Group) int { return a.Number - b.Number })
	return groups
}

type saved struct {
	Format int
	LastID int
	Files  []savedFile
}

type savedFile struct {
	ID                          int
	Path, OldPath, MovedTo      string
	Baseline, Accepted, Present Content // without texts, where there are layers
	Away, MoveKept              bool
	Left                        string
	Refused                     Status
	Taken, Made                 Content
	Text                        savedLayers
	Gone                        savedLayers // what the agent has removed
	// Earlier are the file's texts before this one, and Agents says which of all the agent has made last, from 1; 0 is none.
	Earlier []savedLayers
	Agents  int
}

// savedLayers are the texts of a file; those of an opaque one have no pairs.
type savedLayers struct {
	Layers []savedDiff // kept, pending, refused; or none
	Made   []string    // see layers.remember
	Text   string      // the present one
}

// savedDiff is a textDiff without its present text, and without its base if that is the same.
type savedDiff struct {
	Base  string
	Edits []linediff.Edit
}

// texts returns the texts of a saved file.
func (f *savedFile) texts() []*string {
	list := []*string{&f.Baseline.Text, &f.Accepted.Text, &f.Present.Text, &f.Taken.Text}
	layers := []*savedLayers{&f.Text, &f.Gone}
	for i := range f.Earlier {
		layers = append(layers, &f.Earlier[i])
	}
	for _, l := range layers {
		list = append(list, &l.Text)
		for i := range l.Layers {
			list = append(list, &l.Layers[i].Base)
		}
	}
	return list
}

func saveLayers(l *layers) (s savedLayers) {
	if l == nil {
		return s
	}
	s.Text, s.Made = l.present(), l.made
	for _, p := range []textDiff{l.pending, l.kept, l.refused} {
		sp := savedDiff{Edits: p.edits}
		if len(p.edits) > 0 {
			sp.Base = p.base
		}
		s.Layers = append(s.Layers, sp)
	}
	return s
}

// layers returns nil if nothing was saved, and false if what was saved is broken.
func (s savedLayers) layers() (*layers, bool) {
	if len(s.Layers) != 3 {
		return nil, true
	}
	l := layers{pending: s.Layers[0].textDiff(s.Text), made: s.Made}
	l.kept, l.refused = s.Layers[1].textDiff(l.accepted()), s.Layers[2].textDiff(l.accepted())
	for _, p := range []textDiff{l.pending, l.kept, l.refused} {
		if !p.sound() {
			return nil, false
		}
	}
	return &l, true
}

// Save encodes the group for Load, with what name returns in place of each text.
func (g Group) Save(name func(text string) string) ([]byte, error) {
	s := saved{Format: savedFormat, LastID: g.lastID}
	for _, f := range g.files {
		one := savedFile{
			ID: f.ID, Path: f.Path, OldPath: f.OldPath, MovedTo: f.MovedTo, Baseline: f.Baseline, Accepted: f.Accepted, Present: f.Present,
			Away: f.away, Left: f.left, MoveKept: f.moveKept, Refused: f.refused, Taken: f.taken, Made: f.made,
		}
		if l := f.text; l != nil {
			one.Baseline.Text, one.Accepted.Text, one.Present.Text = "", "", ""
			one.Text = saveLayers(l)
		}
		one.Gone = saveLayers(f.gone.text)
		if n := len(f.texts); n > 1 && f.texts[n-1] == f.text {
			for _, l := range f.texts[:n-1] {
				one.Earlier = append(one.Earlier, saveLayers(l))
			}
			one.Agents = slices.Index(f.texts, f.agents) + 1
		}
		for _, text := range one.texts() {
			*text = name(*text)
		}
		s.Files = append(s.Files, one)
	}
	slices.SortFunc(s.Files, func(a, b savedFile) int { return a.ID - b.ID })
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		return nil, fmt.Errorf("save the record of changes: %w", err)
	}
	return b.Bytes(), nil
}

// Load decodes a record from all its groups; text returns the texts that name has replaced.
func Load(groups [][]byte, limit int, text func(name string) (string, error)) (*Record, error) {
	r := New(limit)
	var files []savedFile
	for _, data := range groups {
		var s saved
		if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
			return nil, fmt.Errorf("read the record of changes: %w", err)
		}
		if s.Format != savedFormat {
			return nil, fmt.Errorf("read the record of changes: its format is %d, not %d", s.Format, savedFormat)
		}
		r.lastID = max(r.lastID, s.LastID)
		files = append(files, s.Files...)
	}
	for _, one := range files {
		for _, name := range one.texts() {
			var err error
			if *name, err = text(*name); err != nil {
				return nil, fmt.Errorf("read the record of changes: %s: %w", one.Path, err)
			}
		}
		f := &file{
			File:     File{ID: one.ID, Path: one.Path, OldPath: one.OldPath, MovedTo: one.MovedTo, Baseline: one.Baseline, Accepted: one.Accepted, Present: one.Present},
			moveKept: one.MoveKept, refused: one.Refused, taken: one.Taken, made: one.Made,
		}
		text, sound := one.Text.layers()
		gone, soundToo := one.Gone.layers()
		sound = sound && soundToo
		for _, was := range one.Earlier {
			l, whole := was.layers()
			sound = sound && whole && l != nil && text != nil
			f.texts = append(f.texts, l)
		}
		if !sound {
			return nil, fmt.Errorf("read the record of changes: that of %s is broken", f.Path)
		}
		if f.text, f.gone.text = text, gone; text != nil {
			f.Present.Text = text.present()
		}
		if len(f.texts) > 0 {
			f.texts = append(f.texts, text)
		}
		if at := one.Agents - 1; at >= 0 && at < len(f.texts) {
			f.agents = f.texts[at]
		}
		r.files[f.Path] = f
		r.leave(f, one.Left)
		r.bytes += f.size()
	}
	for _, one := range files {
		r.settle(r.files[one.Path])
		if one.Away {
			r.Removed(one.Path)
		}
	}
	return r, nil
}

func (s savedDiff) textDiff(present string) textDiff {
	p := textDiff{base: s.Base, present: present, edits: s.Edits}
	if len(p.edits) == 0 {
		p.base = present
	}
	return p
}

// sound reports whether the edits of a textDiff lead from one text to the other.
func (t *textDiff) sound() bool {
	base, present := linediff.Lines(t.base), linediff.Lines(t.present)
	a, b := 0, 0
	for _, e := range t.edits {
		if e.A0 < a || e.A1 < e.A0 || e.A1 > len(base) || e.B0 < b || e.B1 < e.B0 || e.B1 > len(present) ||
			!slices.Equal(base[a:e.A0], present[b:e.B0]) {
			return false
		}
		a, b = e.A1, e.B1
	}
	return slices.Equal(base[a:], present[b:])
}
