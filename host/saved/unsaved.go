package saved

import (
	"math"
	"slices"
	"time"

	"github.com/acp-nvim/acp-nvim/host/review"
)

// Unsaved is what is known of a file with unsaved text: its earlier records, if noted, and the agent's changes since.
type Unsaved struct {
	Path   string
	Noted  bool
	Record review.Image // in the record
	InTurn bool         // it was noted in a turn, the last one of them
	At     time.Time    // when that began
	Turn   review.Image // in that
	Behind []Behind     // the oldest first
}

// Behind is a change by the agent that reached the disk under unsaved text.
type Behind struct {
	At        time.Time      // when its turn began; zero for none
	Was, Is   review.Content // on the disk before it, and then
	Before    review.Content // what a refusal gives the disk
	Fresh     bool           // it was removed before the turn
	Conflicts bool           // the buffer does not have all of it
	Kept      bool           // the user had accepted it
}

// InStep is the disk's text that the buffer of a file was last in step with which the agent has taken away.
type InStep struct{ Path, Text, Form string }

// mapInStep returns a copy of a list with each text replaced by f.
func mapInStep(list []InStep, f func(text string) (string, error)) (_ []InStep, err error) {
	list = slices.Clone(list)
	for i := range list {
		if err == nil {
			list[i].Text, err = f(list[i].Text)
		}
	}
	return list, err
}

// Taken is what a file gets back that the agent has taken away under a buffer: by a refusal of all, or by an undo of the
// turn.
type Taken struct {
	Path     string    // where it is now, or was
	From     string    // where it was
	At       time.Time // when the turn began
	All, Its Returning
}

// Returning is what the disk gets, none if that is not known, and what the record had when the buffer last followed it.
type Returning struct {
	Disk review.Content
	Had  review.Image
	Lost bool // the buffer has nothing of it any more
	Anew bool // the buffer has followed another file since, which was made in its place
}

// savedTaken is a Taken with names instead of texts.
type savedTaken struct {
	Path, From string
	At         time.Time
	All, Its   savedReturning
}

type savedReturning struct {
	Disk review.Content
	Had  [][]byte // the groups of a record with that image alone
	Lost bool
	Anew bool
}

func encodeTaken(list []Taken, name func(string) string) ([]byte, error) {
	to := make([]savedTaken, len(list))
	for i, t := range list {
		to[i] = savedTaken{Path: t.Path, From: t.From, At: t.At}
		for is, r := range map[*savedReturning]Returning{&to[i].All: t.All, &to[i].Its: t.Its} {
			had, err := encodeImage(t.From, r.Had, name)
			if err != nil {
				return nil, err
			}
			*is = savedReturning{r.Disk, had, r.Lost, r.Anew}
			is.Disk.Text = name(r.Disk.Text)
		}
	}
	return encoded(to)
}

func decodeTaken(data []byte, text func(name string) (string, error)) ([]Taken, error) {
	var from []savedTaken
	if err := decoded(data, &from); err != nil {
		return nil, err
	}
	list := make([]Taken, len(from))
	for i, t := range from {
		list[i] = Taken{Path: t.Path, From: t.From, At: t.At}
		for is, r := range map[*Returning]savedReturning{&list[i].All: t.All, &list[i].Its: t.Its} {
			had, err := decodeImage(t.From, r.Had, text)
			if err != nil {
				return nil, err
			}
			*is = Returning{r.Disk, had, r.Lost, r.Anew}
			if is.Disk.Text, err = text(r.Disk.Text); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// savedUnsaved is an Unsaved with names instead of texts.
type savedUnsaved struct {
	Path          string
	Noted, InTurn bool
	At            time.Time
	Record, Turn  [][]byte // the groups of a record with that image alone
	Behind        []Behind
}

func encodeUnsaved(list []Unsaved, name func(string) string) ([]byte, error) {
	to := make([]savedUnsaved, len(list))
	named := func(text string) (string, error) { return name(text), nil }
	for i, u := range list {
		one := savedUnsaved{Path: u.Path, Noted: u.Noted, InTurn: u.InTurn, At: u.At}
		var err error
		if one.Record, err = encodeImage(u.Path, u.Record, name); err != nil {
			return nil, err
		}
		if one.Turn, err = encodeImage(u.Path, u.Turn, name); err != nil {
			return nil, err
		}
		one.Behind, _ = mapBehind(u.Behind, named) // its errors are those of named
		to[i] = one
	}
	return encoded(to)
}

func decodeUnsaved(data []byte, text func(name string) (string, error)) ([]Unsaved, error) {
	var from []savedUnsaved
	if err := decoded(data, &from); err != nil {
		return nil, err
	}
	list := make([]Unsaved, len(from))
	for i, one := range from {
		u := Unsaved{Path: one.Path, Noted: one.Noted, InTurn: one.InTurn, At: one.At}
		var err error
		if u.Record, err = decodeImage(one.Path, one.Record, text); err != nil {
			return nil, err
		}
		if u.Turn, err = decodeImage(one.Path, one.Turn, text); err != nil {
			return nil, err
		}
		if u.Behind, err = mapBehind(one.Behind, text); err != nil {
			return nil, err
		}
		list[i] = u
	}
	return list, nil
}

func encodeImage(path string, is review.Image, name func(string) string) (groups [][]byte, err error) {
	alone := review.New(math.MaxInt)
	alone.SetBack(path, is)
	for _, g := range alone.Groups() {
		data, err := g.Save(name)
		if err != nil {
			return nil, err
		}
		groups = append(groups, data)
	}
	return groups, nil
}

func decodeImage(path string, groups [][]byte, text func(name string) (string, error)) (review.Image, error) {
	alone, err := review.Load(groups, math.MaxInt, text)
	if err != nil {
		return review.Image{}, err
	}
	return alone.Image(path), nil
}

// mapBehind returns a copy of a list with each text replaced by f.
func mapBehind(list []Behind, f func(text string) (string, error)) (_ []Behind, err error) {
	list = slices.Clone(list)
	for i := range list {
		for _, text := range []*string{&list[i].Was.Text, &list[i].Is.Text, &list[i].Before.Text} {
			if err == nil {
				*text, err = f(*text)
			}
		}
	}
	return list, err
}
