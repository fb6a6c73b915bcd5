package saved

import (
	"maps"
	"slices"
	"time"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// Running is a running turn: what is known of it, and of the files in it, for the next host if this one is killed.
type Running struct {
	At    time.Time // when it began
	Turn  turns.State
	Marks []Mark
}

// Mark is what is known of a path in a running turn.
type Mark struct {
	Path             string
	Seen, Disk, Gone *review.Content // see the ledger's turn; nil if it has none
	Shown            bool            // a buffer shows it
	Saved            bool            // the user wrote it while no buffer showed it
	Renamed          string          // what the user has named it, or ""
	Copy             bool            // the user named something like this
	Guessed          bool            // a call named it, and nobody knew it before
	Spots            []Spot          // the files that were last seen there
}

// Spot says which file one is, whatever its name: see buffers.Identity.
type Spot struct {
	Device, Number uint64
	Made           int64
}

// savedRunning is a Running with names instead of texts.
type savedRunning struct {
	At     time.Time
	Record [][]byte // the groups of the turn's
	Shed   []turns.FileChange
	Back   map[string]string
	Marks  []Mark
}

func (r *Running) encode(name func(string) string) ([]byte, error) {
	to := savedRunning{At: r.At, Back: r.Turn.Back}
	for _, g := range r.Turn.Record.Groups() {
		data, err := g.Save(name)
		if err != nil {
			return nil, err
		}
		to.Record = append(to.Record, data)
	}
	named := func(text string) (string, error) { return name(text), nil }
	for _, path := range slices.Sorted(maps.Keys(r.Turn.Shed)) {
		to.Shed = append(to.Shed, r.Turn.Shed[path])
	}
	to.Shed, _ = turns.MapFiles(to.Shed, named) // its errors are those of named
	to.Marks, _ = mapMarks(r.Marks, named)
	return encoded(to)
}

func decodeRunning(data []byte, text func(name string) (string, error)) (*Running, error) {
	var from savedRunning
	if err := decoded(data, &from); err != nil {
		return nil, err
	}
	record, err := turns.LoadRecord(from.Record, text)
	if err != nil {
		return nil, err
	}
	r := &Running{At: from.At, Turn: turns.State{Record: record, Shed: map[string]turns.FileChange{}, Back: from.Back}}
	shed, err := turns.MapFiles(from.Shed, text)
	if err != nil {
		return nil, err
	}
	for _, f := range shed {
		r.Turn.Shed[f.Path] = f
	}
	r.Marks, err = mapMarks(from.Marks, text)
	return r, err
}

// mapMarks returns a copy of marks with each text replaced by f.
func mapMarks(list []Mark, f func(text string) (string, error)) (_ []Mark, err error) {
	list = slices.Clone(list)
	for i := range list {
		for _, is := range []**review.Content{&list[i].Seen, &list[i].Disk, &list[i].Gone} {
			if *is == nil || err != nil {
				continue
			}
			c := **is
			c.Text, err = f(c.Text)
			*is = &c
		}
	}
	return list, err
}
