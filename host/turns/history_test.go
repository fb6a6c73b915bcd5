package turns

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// changedIn is a turn of some second that has changed a file.
func changedIn(second int, text string) *Turn {
	t := Begin("", time.Unix(int64(second), 0))
	t.Changed("/file", review.Content{}, review.Text(text))
	return t
}

func TestTurnsGoBackAndComeAgain(t *testing.T) {
	var h History
	if h.Last() != nil || !h.Empty() {
		t.Errorf("at first the last is %+v", h.Last())
	}
	first, second := changedIn(1, "1"), changedIn(2, "2")
	second.Prompt = "go on"
	h.Take(first)
	h.Take(Begin("changes nothing", time.Unix(3, 0)))
	h.Take(second)
	h.Take(first) // once more: late changes
	if h.Last() != second || len(h.Turns) != 2 {
		t.Fatalf("of two turns that changed something the last is %+v of %d", h.Last(), len(h.Turns))
	}
	failed := []FileChange{{Path: "/other"}}
	h.WasUndone(second, second.Files, failed, true)
	if last := h.Last(); last == second || !last.At.Equal(second.At) || last.Prompt != second.Prompt || len(last.Files) != 1 {
		t.Errorf("what failed cannot be tried again: %+v", last)
	}
	h.WasDoneAgain(second) // with what failed
	check.Slice(t, h.Turns, []*Turn{first, second}, "done again there are %+v")
	h.WasUndone(second, second.Files, failed, true)
	h.WasUndone(h.Last(), nil, nil, false)
	check.Equal(t, h.Last(), first, "then comes %+v")
	h.WasUndone(first, first.Files, nil, true)
	if h.Empty() {
		t.Error("all that is undone is forgotten")
	}
	h.WasDoneAgain(first)
	if u, ok := h.LastUndone(); !ok || u.Turn != second {
		t.Errorf("to be done again is %+v", u)
	}
	h.WasDoneAgain(second)
	if _, ok := h.LastUndone(); ok || h.Last() != second {
		t.Errorf("done again, the last is %+v", h.Last())
	}
	h.WasUndone(second, second.Files, nil, true)
	if h.Begin(); h.Empty() || len(h.Undone) != 0 {
		t.Error("after a new turn what was undone can be done again")
	}
}

func TestTheOldestTurnsAreForgotten(t *testing.T) {
	var h History
	for i := range keptTurns + 2 {
		h.Take(changedIn(i+1, "text"))
	}
	if len(h.Turns) != keptTurns || h.Turns[0].At.Unix() != 3 {
		t.Errorf("%d turns are kept, from %v", len(h.Turns), h.Turns[0].At)
	}
	big := strings.Repeat("x", keptTexts/2+1) // one line, which is quick to compare
	h.Take(changedIn(100, big))
	h.Take(changedIn(101, big))
	if len(h.Turns) != 1 || h.Last().At.Unix() != 101 {
		t.Errorf("of two turns with long texts %d are kept", len(h.Turns))
	}
}

func TestFilesWithOtherTexts(t *testing.T) {
	files := []FileChange{{After: review.Text("text")}}
	other, err := MapFiles(files, func(text string) (string, error) { return text + "!", nil })
	if err != nil || other[0].Before.Text != "!" || other[0].After.Text != "text!" || files[0].After.Text != "text" {
		t.Errorf("%+v, %v, of %+v", other, err, files)
	}
	failed := errors.New("no text")
	if _, err := MapFiles(append(files, FileChange{}), func(text string) (string, error) {
		if text == "text" {
			return "", failed
		}
		return text, nil
	}); err != failed {
		t.Errorf("the error is %v", err)
	}
}

// What was refused of a turn after the next one had begun is no longer its, until the user brings it back.
func TestDecisionsAboutEarlierTurns(t *testing.T) {
	var h History
	first, last := Begin("", time.Unix(1, 0)), Begin("", time.Unix(2, 0))
	was, is := review.Text("1\n2\n3\n"), review.Text("")
	first.Changed("/file", was, is)
	h.Take(first)
	last.Changed("/other", review.Content{}, is)
	h.Take(last)
	h.Decided(last, "/file", "", is, was, review.File{})
	h.Gather()
	check.Equal(t, len(first.Files), 0, "after the refusal it has changed %d files")
	h.WasUndone(last, nil, nil, false)
	if h.Last() != nil || !h.Empty() {
		t.Errorf("there is still %+v to undo", h.Last())
	}
	h.Seen(nil, "/file", review.Text("1\nmine\n3\n"))
	if h.Gather(); h.Last() != nil {
		t.Error("what the user has typed since is the turn's")
	}
	h.Seen(nil, "/file", is)
	if h.Gather(); h.Last() != first || first.Files[0].Before != was {
		t.Errorf("brought back, there is %+v to undo", h.Last())
	}
}

// Turns that were loaded learn of decisions as those do that have just run.
func TestDecisionsAboutLoadedTurns(t *testing.T) {
	one, two, text := review.Text("1\n"), review.Text("2\n"), review.Text
	none := review.Content{}
	for name, c := range map[string]struct {
		files    []FileChange
		at, back string
		was, is  review.Content
		left     []FileChange
	}{
		"the change":     {[]FileChange{{Path: "f", Before: one, After: two}}, "f", "", two, one, nil},
		"of another one": {[]FileChange{{Path: "f", Before: one, After: text("1\n2\n")}}, "f", "", text("3\n1\n2\n"), text("1\n2\n"), []FileChange{{Path: "f", Before: one, After: text("1\n2\n")}}},
		"a part": {
			[]FileChange{{Path: "f", Before: text("1\n2\n3\n"), After: text("a\n2\nb\n")}}, "f", "", text("a\n2\nb\n"), text("1\n2\nb\n"),
			[]FileChange{{Path: "f", Before: text("1\n2\n3\n"), After: text("1\n2\nb\n")}},
		},
		"a file that it made":   {[]FileChange{{Path: "f", After: one, Made: true}}, "f", "", one, none, nil},
		"in it the user's part": {[]FileChange{{Path: "f", Before: one, After: text("1\n2\n"), Made: true}}, "f", "", text("1\n2\n"), one, nil},
		"a move":                {[]FileChange{{Path: "g", OldPath: "f", Before: one, After: two}}, "g", "f", two, one, nil},
		"the move of a turn before": {
			[]FileChange{{Path: "g", Before: one, After: text("1\n2\n"), Made: false}}, "g", "f", one, one,
			[]FileChange{{Path: "f", Before: one, After: text("1\n2\n")}},
		},
		"a file in its place": {
			[]FileChange{{Path: "f", After: two, Made: true}, {Path: "g", OldPath: "f", Before: one, After: one}}, "f", "", two, none,
			[]FileChange{{Path: "g", OldPath: "f", Before: one, After: one}},
		},
		"one that was moved and removed": {
			[]FileChange{{Path: "f", Before: one, After: two}, {Path: "g", Left: "h", Before: one, After: none}}, "f", "", two, one,
			[]FileChange{{Path: "g", Left: "h", Before: one, After: none}},
		},
		"others": {
			[]FileChange{{Path: "f", Before: one, After: two}, {Path: "g", Before: one, After: two, Under: true}, {Path: "h", Before: one.Mark(), After: two.Mark(), Typed: true}}, "f", "", two, one,
			[]FileChange{{Path: "g", Before: one, After: two, Under: true}, {Path: "h", Before: one.Mark(), After: two.Mark(), Typed: true}},
		},
	} {
		h := History{Turns: []*Turn{{At: time.Unix(1, 0), Files: c.files}}}
		h.Decided(nil, c.at, c.back, c.was, c.is, review.File{State: review.Pending})
		h.Gather()
		check.Slice(t, h.Turns[0].Files, c.left, name+": there is left %+v")
	}
}

// Where all is refused that two turns have made of each other's lines, neither has anything left, until the user brings it
// back.
func TestRefusedTogether(t *testing.T) {
	before, first := review.Text("1\n2\n"), review.Text("1\na\nb\n")
	for _, is := range []string{"1\na\n", "1\nc\nb\n", "1\na\nc\nb\n", "1\n2\na\nb\n", "1\na\x00b\n"} {
		second := review.Text(is)
		h, last := History{}, Begin("", time.Unix(2, 0))
		one := Begin("", time.Unix(1, 0))
		one.Changed("f", before, first)
		h.Take(one)
		last.Changed("f", first, second)
		h.Decided(last, "f", "", second, before, review.File{})
		h.Take(last)
		if h.Gather(); len(one.Files)+len(last.Files) > 0 {
			t.Errorf("%q: left are %+v, %+v", is, one.Files, last.Files)
		}
		last.Seen("f", second)
		if h.Take(last); len(last.Files) != 1 || last.Files[0].After != second {
			t.Errorf("%q: brought back, there are %+v", is, last.Files)
		}
	}
}

func TestAFileIsRenamed(t *testing.T) {
	files := []FileChange{{Path: "f"}, {Path: "g", OldPath: "f"}}
	h := History{Turns: []*Turn{{Files: files}, {Files: files[:1]}}}
	h.Renamed("f", "h")
	if got := h.Turns[0].Files; got[0].Path != "h" || got[1].Path != "g" || got[1].OldPath != "f" || h.Turns[1].Files[0].Path != "h" || files[0].Path != "f" {
		t.Errorf("the turns have %+v and %+v, of %+v", got, h.Turns[1].Files, files)
	}
}

// What any turn says of a path, also one that was undone, and what the file was called before.
func TestWhatTurnsName(t *testing.T) {
	h := History{
		Turns:  []*Turn{{Files: []FileChange{{Path: "a"}}}, {Files: []FileChange{{Path: "b", OldPath: "old"}}}},
		Undone: []Undone{{Files: []FileChange{{Path: "c"}, {Path: "d", OldPath: "was"}}}},
	}
	for path, want := range map[string]bool{"a": true, "b": true, "old": true, "c": true, "d": true, "was": true, "e": false} {
		check.Equal(t, h.Names(path), want, path+" is named: %t")
	}
}

// loaded are turns as they were saved, one a second.
func loaded(files ...[]FileChange) (h History) {
	for i, f := range files {
		h.Turns = append(h.Turns, &Turn{At: time.Unix(int64(i), 0), Files: f})
	}
	return h
}

// What a user puts back is no longer gone in the turns that have removed it, by the name it had then; those before one that has
// made the file anew have removed another one.
func TestPutBackInSeveralTurns(t *testing.T) {
	text := review.Text("1\n")
	removed := func(path string) []FileChange { return []FileChange{{Path: path, Before: text}} }
	moved := func(from, to string) []FileChange {
		return []FileChange{{Path: to, OldPath: from, Before: text, After: text}}
	}
	changed := func(path string) []FileChange {
		return []FileChange{{Path: path, Before: text, After: review.Text("2\n")}}
	}
	made := func(path string) []FileChange { return []FileChange{{Path: path, After: text, Made: true}} }
	for name, c := range map[string]struct {
		turns [][]FileChange
		path  string
		left  []int // how many files each turn still has
	}{
		"removed":                      {[][]FileChange{removed("a")}, "a", []int{0}},
		"removed, another":             {[][]FileChange{removed("b")}, "a", []int{1}},
		"removed twice":                {[][]FileChange{removed("a"), removed("a")}, "a", []int{0, 0}},
		"removed, then made":           {[][]FileChange{removed("a"), made("a")}, "a", []int{1, 1}},
		"removed, then changed":        {[][]FileChange{removed("a"), changed("a")}, "a", []int{0, 1}},
		"another removed, changed":     {[][]FileChange{removed("b"), changed("a")}, "a", []int{1, 1}},
		"removed, then another made":   {[][]FileChange{removed("a"), made("b")}, "a", []int{0, 1}},
		"removed, then moved":          {[][]FileChange{removed("a"), moved("a", "b")}, "b", []int{0, 1}},
		"removed, another moved there": {[][]FileChange{removed("a"), moved("b", "a")}, "a", []int{1, 1}},
		"moved away, so made there":    {[][]FileChange{moved("a", "b")}, "a", []int{1}},
	} {
		h := loaded(c.turns...)
		h.Remade(nil, c.path, text)
		h.Gather()
		var left []int
		for _, turn := range h.Turns {
			left = append(left, len(turn.Files))
		}
		check.Slice(t, left, c.left, name+": left are %d files")
	}

	// The last turn may run still: what it has made is its own.
	for path, left := range map[string]int{"a": 1, "b": 0} {
		h, last := loaded(removed("a")), Begin("", time.Unix(9, 0))
		last.Changed(path, review.Content{}, text)
		h.Remade(last, "a", text)
		h.Gather()
		check.Equal(t, len(h.Turns[0].Files), left, "after "+path+" was made, %d files are gone")
	}

	// Of the turn that is undone, and has made it or moved it there, only those before count.
	for _, last := range [][]FileChange{made("a"), moved("a", "b")} {
		h := loaded(removed("a"), last)
		h.RemadeBefore(h.Turns[1], last[0].Path, text)
		if h.Gather(); len(h.Turns[0].Files) != 0 || len(h.Turns[1].Files) != 1 {
			t.Errorf("before %+v there are left %+v", last, h.Turns[0].Files)
		}
	}
}

// What turns say of a file is known by each of its names, and is what they say again when it is put back; to ask changes nothing.
func TestWhatTurnsSayIsPutBack(t *testing.T) {
	one, two := review.Text("1\n"), review.Text("2\n")
	h := loaded(
		[]FileChange{{Path: "a", Before: one, After: two}},
		[]FileChange{{Path: "b", OldPath: "a", Before: two, After: two}},
		[]FileChange{{Path: "c", After: one, Made: true}},
	)
	has := func(when string, want ...int) {
		t.Helper()
		h.Gather()
		for i, turn := range h.Turns {
			check.Equal(t, len(turn.Files), want[i], "%s, turn %d has %d files", when, i)
		}
	}
	said := h.Said(nil, "b")
	if len(said) != 2 || len(said["a"]) == 0 || len(said["b"]) == 0 {
		t.Errorf("names are told of: %+v", said)
	}
	has("asked", 1, 1, 1)
	h.Decided(nil, "b", "a", two, one, review.File{})
	has("refused", 0, 0, 1)
	for name, were := range said {
		h.PutBack(nil, name, were)
	}
	has("put back", 1, 1, 1)
	last := Begin("", time.Unix(9, 0))
	last.Changed("b", two, review.Text("3\n"))
	said = h.Said(last, "b")
	h.Decided(last, "b", "", review.Text("3\n"), two, review.File{State: review.Pending})
	for name, were := range said {
		h.PutBack(last, name, were)
	}
	if is, known := last.Present("b"); !known || is != review.Text("3\n") {
		t.Errorf("put back, the last turn has %+v", is)
	}
	a, b := h.Turns[0].Files[0], h.Turns[1].Files[0]
	if a.Path != "a" || a.Before != one || a.After != two || b.Path != "b" || b.OldPath != "a" {
		t.Errorf("put back are %+v, %+v", a, b)
	}
}

// Where a later turn's change is refused, earlier ones keep what was kept of theirs, also if the file was no text before.
func TestKeptOfWhatWasNoText(t *testing.T) {
	bytes, text := review.Text("\x00").Mark(), review.Text
	one, two, three := text("1\n2\n"), text("1\n"), text("1\n3\n")
	h := loaded([]FileChange{{Path: "f", Before: bytes, After: one}}, []FileChange{{Path: "f", Before: one, After: two}})
	last := Begin("", time.Unix(2, 0))
	last.Changed("f", two, three)
	h.Decided(last, "f", "", three, two, review.File{State: review.Kept, Baseline: bytes, Accepted: two, Present: two})
	h.Take(last)
	if h.Gather(); len(h.Turns) != 2 || len(h.Turns[0].Files) != 1 || len(h.Turns[1].Files) != 1 {
		t.Errorf("the turns have %+v", h.Turns)
	}
}

// A refusal of what a loaded turn has done is taken back: it is the turn's again.
func TestARefusalIsTakenBackFromLoadedTurns(t *testing.T) {
	one, two := review.Text("1\n"), review.Text("2\n")
	h := loaded([]FileChange{{Path: "f", Before: one, After: two}})
	for range 2 {
		h.Decided(nil, "f", "", two, one, review.File{})
		if h.Gather(); len(h.Turns[0].Files) != 0 {
			t.Errorf("refused there are %+v", h.Turns[0].Files)
		}
		h.Decided(nil, "f", "", one, two, review.File{State: review.Pending})
		h.Gather()
		check.Slice(t, h.Turns[0].Files, []FileChange{{Path: "f", Before: one, After: two}}, "taken back there are %+v")
	}
}
