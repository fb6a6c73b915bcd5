package review

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"slices"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// savedFormat is the version of what Save writes; what another version wrote is not read.
const savedFormat = 1

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
	Taken                       Content
	Layers                      []savedPair // kept, pending, refused; or none
	Made                        []string    // see layers.remember
	Text                        string      // the present one
}

// savedPair is a pair without its present text, and without a base that is the same.
type savedPair struct {
	Base  string
	Edits []linediff.Edit
}

// texts are the texts of a file in what is saved.
func (f *savedFile) texts() []*string {
	list := []*string{&f.Baseline.Text, &f.Accepted.Text, &f.Present.Text, &f.Taken.Text, &f.Text}
	for i := range f.Layers {
		list = append(list, &f.Layers[i].Base)
	}
	return list
}

// Save returns the record as bytes, which Load reads. They have what name says in the place of each text.
func (r *Record) Save(name func(text string) string) ([]byte, error) {
	s := saved{Format: savedFormat, LastID: r.lastID}
	for _, f := range r.files {
		one := savedFile{
			ID: f.ID, Path: f.Path, OldPath: f.OldPath, MovedTo: f.MovedTo, Baseline: f.Baseline, Accepted: f.Accepted, Present: f.Present,
			Away: f.away, Left: f.left, MoveKept: f.moveKept, Refused: f.refused, Taken: f.taken,
		}
		if l := f.text; l != nil {
			one.Baseline.Text, one.Accepted.Text, one.Present.Text = "", "", ""
			one.Text, one.Made = l.present(), l.made
			for _, p := range []pair{l.pending, l.kept, l.refused} {
				sp := savedPair{Edits: p.edits}
				if len(p.edits) > 0 {
					sp.Base = p.base
				}
				one.Layers = append(one.Layers, sp)
			}
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

// Load returns a record that was saved; text gives the texts that name has replaced.
func Load(data []byte, limit int, text func(name string) (string, error)) (*Record, error) {
	var s saved
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
		return nil, fmt.Errorf("read the record of changes: %w", err)
	}
	if s.Format != savedFormat {
		return nil, fmt.Errorf("read the record of changes: its format is %d, not %d", s.Format, savedFormat)
	}
	r := New(limit)
	r.lastID = s.LastID
	for _, one := range s.Files {
		for _, name := range one.texts() {
			var err error
			if *name, err = text(*name); err != nil {
				return nil, fmt.Errorf("read the record of changes: %s: %w", one.Path, err)
			}
		}
		f := &file{
			File:     File{ID: one.ID, Path: one.Path, OldPath: one.OldPath, MovedTo: one.MovedTo, Baseline: one.Baseline, Accepted: one.Accepted, Present: one.Present},
			moveKept: one.MoveKept, refused: one.Refused, taken: one.Taken,
		}
		if len(one.Layers) == 3 {
			l := layers{pending: one.Layers[0].pair(one.Text)}
			l.kept, l.refused = one.Layers[1].pair(l.accepted()), one.Layers[2].pair(l.accepted())
			for _, p := range []pair{l.pending, l.kept, l.refused} {
				if !p.sound() {
					return nil, fmt.Errorf("read the record of changes: that of %s is broken", f.Path)
				}
			}
			l.made = one.Made
			f.text, f.Present.Text = &l, l.present()
		}
		r.files[f.Path] = f
		r.leave(f, one.Left)
		r.bytes += f.size()
	}
	for _, one := range s.Files {
		r.settle(r.files[one.Path])
		if one.Away {
			r.Removed(one.Path)
		}
	}
	return r, nil
}

func (s savedPair) pair(present string) pair {
	p := pair{base: s.Base, present: present, edits: s.Edits}
	if len(p.edits) == 0 {
		p.base = present
	}
	return p
}

// sound tells whether the edits of a pair lead from one text to the other.
func (t *pair) sound() bool {
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
