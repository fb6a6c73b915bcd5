package turns

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestStepsOfAnUndo(t *testing.T) {
	none, text := review.Content{}, review.Text
	changed := FileChange{Path: "f", Before: text("1\n2\n3\n"), After: text("1\ntwo\n3\n")}
	added := FileChange{Path: "f", After: text("new\n")}
	deleted := FileChange{Path: "f", Before: text("old\n")}
	moved := FileChange{Path: "to", OldPath: "from", Before: text("a\n"), After: text("b\n")}
	binary := FileChange{Path: "f", Before: text("a\x00"), After: text("b\x00")}
	styled := func(text, form string, mode fs.FileMode) review.Content {
		return review.Content{Exists: true, Text: text, Form: form, Mode: mode}
	}
	restyled := FileChange{Path: "f", Before: styled("x\n", "", 0o755), After: styled("x\n", "dos", 0o644)}
	for name, c := range map[string]struct {
		file      FileChange
		now, want review.Content
		taken     bool // something is where it was before it was moved
		note      string
		conflicts int
		merged    bool
	}{
		"as it was left":                     {file: changed, now: changed.After, want: changed.Before},
		"typed elsewhere":                    {file: changed, now: text("1\ntwo\n3\ntyped\n"), want: text("1\n2\n3\ntyped\n"), merged: true},
		"typed in the agent's line":          {file: changed, now: text("1\ntwo!\n3\n"), want: text("1\ntwo!\n3\n"), conflicts: 1, merged: true},
		"put back by hand":                   {file: changed, now: changed.Before, want: changed.Before, note: "is already as it was"},
		"deleted by the user":                {file: changed, now: none, want: none, note: "has been deleted since"},
		"now binary":                         {file: changed, now: text("\x00"), want: text("\x00"), note: "has been changed since"},
		"new":                                {file: added, now: added.After, want: none},
		"new, and typed in":                  {file: added, now: text("new\nmine\n"), want: text("mine\n"), merged: true},
		"new, and some of it removed":        {file: added, now: text(""), want: none, merged: true},
		"new, and removed by hand":           {file: added, now: none, want: none, note: "is already as it was"},
		"deleted":                            {file: deleted, now: none, want: deleted.Before},
		"deleted, and made anew":             {file: deleted, now: text("mine\n"), want: text("mine\n"), note: "has been created again since"},
		"moved":                              {file: moved, now: moved.After, want: moved.Before},
		"moved, and its old name taken":      {file: moved, now: moved.After, want: moved.After, taken: true, note: "cannot go back to from, where another file is"},
		"binary":                             {file: binary, now: binary.After.Mark(), want: binary.Before},
		"binary, and a text since":           {file: FileChange{Path: "f", Before: text("a\n"), After: text("b\x00")}, now: text("c\n"), want: text("c\n"), note: "has been changed since"},
		"binary, changed since":              {file: binary, now: text("c\x00"), want: text("c\x00"), note: "has been changed since"},
		"form and permissions":               {file: restyled, now: restyled.After, want: restyled.Before},
		"the user's text in its form":        {file: restyled, now: styled("y\n", "dos", 0o644), want: styled("y\n", "", 0o755)},
		"as it was left, in the user's form": {file: changed, now: styled("1\ntwo\n3\n", "dos", 0o600), want: styled("1\n2\n3\n", "dos", 0o600)},
		"put back by hand, and typed in":     {file: changed, now: text("1\n2\n3\ntyped\n"), want: text("1\n2\n3\ntyped\n"), note: "is already as it was", merged: true},
		"typed into what is no text": {file: FileChange{Path: "f", Before: text("a\n"), After: text("b\x00"), Typed: true}, now: text("b\x00"), want: text("b\x00"),
			note: "has changes of yours, and is too large or not text, so they cannot be told apart"},
		"moved, and deleted by the user":    {file: moved, now: none, want: none, note: "has been deleted since"},
		"empty in another form":             {file: FileChange{Path: "f", Before: text(""), After: styled("a\n", "dos", 0)}, now: styled("a\n", "dos", 0), want: text("")},
		"empty, and typed into since":       {file: FileChange{Path: "f", Before: text(""), After: styled("a\n", "dos", 0)}, now: styled("a\nu\n", "dos", 0), want: styled("u\n", "dos", 0), merged: true},
		"empty, and in the user's form":     {file: FileChange{Path: "f", Before: text(""), After: styled("a\n", "utf-8 dos", 0)}, now: styled("a\nu\n", "utf-8 dos", 0), want: styled("u\n", "utf-8 dos", 0), merged: true},
		"empty, and some of it removed":     {file: FileChange{Path: "f", Before: text(""), After: styled("a\nb\n", "dos", 0)}, now: styled("a\n", "dos", 0), want: text(""), merged: true},
		"form and text, changed by hand":    {file: FileChange{Path: "f", Before: text("a\x00"), After: styled("b\n", "dos", 0)}, now: styled("c\n", "dos", 0), want: styled("c\n", "dos", 0), note: "has been changed since"},
		"in a form that was not to be told": {file: FileChange{Path: "f", Before: styled("ü\nu\n", "latin1 unix", 0), After: styled("u\n", "latin1 unix", 0)}, now: text("u\n"), want: styled("ü\nu\n", "latin1 unix", 0)},
		"emptied, and typed into since":     {file: FileChange{Path: "f", Before: styled("a\n", "utf-8 unix noeol", 0), After: styled("", "utf-8 unix noeol", 0)}, now: text("u\n"), want: styled("a\nu\n", "utf-8 unix noeol", 0), merged: true},
		"form and text, and typed into":     {file: FileChange{Path: "f", Before: text("a\n"), After: styled("b\n", "dos", 0)}, now: styled("b\nu\n", "dos", 0), want: text("a\nu\n"), merged: true},
		"permissions, the user's since":     {file: restyled, now: styled("x\n", "dos", 0o600), want: styled("x\n", "", 0o600)},
	} {
		t.Run(name, func(t *testing.T) {
			step := StepOf(c.file, c.now, !c.taken)
			if step.Want != c.want || step.Note != c.note || len(step.Conflicts) != c.conflicts {
				t.Errorf("it becomes %+v, %q, %v conflict", step.Want, step.Note, step.Conflicts)
			}
			if back := step.Back != ""; back != (c.file.OldPath != "" && c.note == "") {
				t.Errorf("it goes back to %q", step.Back)
			}
			check.Equal(t, step.Merged, c.merged, "it is merged: %v")
			if step.Merged && step.Note == "" {
				check.Equal(t, step.With(c.now.Text), c.want.Text, "with the user's text it becomes %q")
			}
		})
	}
}

func TestARefusalTakenBackIsTheTurnsAgain(t *testing.T) {
	turn := Begin("", time.Time{})
	added, old := review.Content{Exists: true, Text: "new\n"}, review.Content{Exists: true, Text: "old\n"}
	turn.record.Changed("/added", review.Content{}, added)
	turn.record.Changed("/changed", old, added)
	for _, path := range []string{"/added", "/changed"} {
		f, _ := turn.record.File(path)
		turn.Decided(path, f.Present, f.Baseline)
		turn.Decided(path, f.Baseline, added)
		turn.Decided(path, added, f.Baseline) // and refused again
		turn.Decided(path, f.Baseline, added)
		if now, _ := turn.record.File(path); now.Baseline != f.Baseline || now.Present != added {
			t.Errorf("%s is %+v to %+v", path, now.Baseline, now.Present)
		}
		typed := review.Content{Exists: true, Text: "new\nmine\n"}
		turn.Decided(path, added, typed)
		if now, _ := turn.record.File(path); now.Present != typed || f.Baseline.Exists && now.Baseline.Text != "old\nmine\n" {
			t.Errorf("decided about once more %s is %+v to %+v", path, now.Baseline, now.Present)
		}
	}
	turn.Decided("/other", old, added)
	turn.Decided("/other", added, old)
	if f, known := turn.record.File("/other"); known {
		t.Errorf("what the turn has not changed is %+v", f)
	}
	was, is := review.Text("1\n2\n3\n"), review.Text("1\nA\n3\n")
	turn.Changed("/typed", was, is)
	turn.Decided("/typed", is, was)
	turn.Decided("/typed", review.Text("1\n2\n3\nmine\n"), review.Text("1\nA\n3\nmine\n"))
	if f, _ := turn.record.File("/typed"); f.Baseline != was || f.Present != is {
		t.Errorf("beside what was typed, %+v to %+v is the turn's", f.Baseline, f.Present)
	}
}

// An undo in the buffer of a refusal has it be the turn's again, beside what is typed; and all of it where nothing was
// left of the turn.
func TestARefusalUndoneInTheBufferIsTheTurnsAgain(t *testing.T) {
	turn, h := Begin("", time.Time{}), History{}
	was, is := review.Text("1\n2\n3\n4\n5\n"), review.Text("1\nA\n3\nB\n5\n")
	none, added := review.Content{}, review.Text("new\n")
	turn.Changed("/f", was, is)
	turn.Changed("/new", none, added)
	turn.Decided("/f", is, review.Text("1\n2\n3\nB\n5\n"))
	turn.Decided("/new", added, none)
	if h.Take(turn); len(turn.Files) != 1 || turn.Files[0].After.Text != "1\n2\n3\nB\n5\n" {
		t.Fatalf("refused it is %+v", turn.Files)
	}
	turn.Seen("/f", review.Text("1\nA\n3\nB\n5\nmine\n"))
	turn.Seen("/new", review.Text("other\n"))
	turn.Seen("/other", added)
	if h.Take(turn); len(turn.Files) != 1 || turn.Files[0].Before != was || turn.Files[0].After != is {
		t.Errorf("undone it is %+v", turn.Files)
	}
	turn.Seen("/f", review.Text("1\n2\n3\nB\n5\n")) // what the user takes out is theirs
	turn.Seen("/new", added)
	if h.Take(turn); len(turn.Files) != 2 || turn.Files[0].After != is || turn.Files[1].After != added {
		t.Errorf("all undone it is %+v", turn.Files)
	}

	// What has other permissions alone is not known by its text; and what the agent has changed anew is not refused.
	exec, plain := was, was
	exec.Mode, plain.Mode = 0o755, 0o644
	turn.Changed("/mode", exec, plain)
	turn.Decided("/mode", plain, exec)
	turn.Seen("/mode", exec)
	turn.Decided("/new", added, none)
	turn.Changed("/new", none, review.Text("another\n"))
	turn.Seen("/new", added)
	if h.Take(turn); len(turn.Files) != 2 || turn.Files[1].After != review.Text("another\n") {
		t.Errorf("seen as they are they are %+v", turn.Files)
	}
	turn.Decided("/new", review.Text("another\n"), none)
	if h.Take(turn); len(turn.Files) != 1 {
		t.Errorf("refused too they are %+v", turn.Files)
	}
}

// A file whose text the agent has made binary is out of the turn when that is refused.
func TestABinaryFileIsRefused(t *testing.T) {
	turn, h := Begin("", time.Time{}), History{}
	was, is := review.Text("1\n"), review.Text("\x00")
	turn.Changed("/f", was, is)
	turn.Decided("/f", is, was)
	if h.Take(turn); len(turn.Files) != 0 {
		t.Errorf("refused it is %+v", turn.Files)
	}
	kept := review.Text("2\n")
	turn.Changed("/g", was, kept)
	turn.Changed("/g", kept, is)
	turn.Decided("/g", is, kept)
	if h.Take(turn); len(turn.Files) != 1 || turn.Files[0].Before != was || turn.Files[0].After != kept || turn.Files[0].Typed {
		t.Errorf("refused but for what was kept before, it is %+v", turn.Files)
	}
}

// The agent changes lines, the user adds others, refuses some of the agent's and takes that back: an undo takes back what
// the agent has left, and leaves what the user has.
func TestDecidedRandomly(t *testing.T) {
	for seed := range 5000 {
		r := rand.New(rand.NewPCG(14, uint64(seed)))
		count := 0
		line := func(who string) string { count++; return fmt.Sprintf("%s%d\n", who, count) }
		var was, agents, typed, refused, undone string
		exists, removes := r.IntN(4) > 0, r.IntN(2) == 0
		all := func() {
			if exists {
				l := line("same")
				was, agents = was+l, agents+l
				if !removes || r.IntN(2) == 0 { // else the user has removed it
					typed, refused, undone = typed+l, refused+l, undone+l
				}
			}
		}
		mine := func() {
			all()
			if r.IntN(2) == 0 {
				l := line("mine")
				typed, refused, undone = typed+l, refused+l, undone+l
			}
			all()
		}
		for range 1 + r.IntN(3) {
			mine()
			old, is := "", line("new")
			if r.IntN(4) == 0 {
				is = "alike\n"
			}
			if exists {
				for range r.IntN(3) {
					old += line("old")
				}
			}
			was, agents, typed, undone = was+old, agents+is, typed+is, undone+old
			if r.IntN(2) == 0 {
				is = old
			}
			refused += is
		}
		mine()
		content := func(text string) review.Content {
			c := review.Text(text)
			if !exists && text == "" {
				c = review.Content{}
			}
			return c
		}
		turn, h := Begin("", time.Time{}), History{}
		turn.Changed("/f", content(was), content(agents))
		for i, to := range []string{refused, typed, refused} {
			if i > 0 && (!exists || removes) {
				break // what comes back with other lines around it is not always known again
			}
			from := []string{typed, refused}[i%2]
			turn.Decided("/f", content(from), content(to))
			h.Take(turn)
			want := content(undone)
			if len(turn.Files) == 1 {
				if step := StepOf(turn.Files[0], content(to), true); step.Want != want {
					t.Fatalf("seed %d, decision %d: of %q an undo makes %q, want %q", seed, i, to, step.Want.Text, want.Text)
				}
			} else if content(to) != want {
				t.Fatalf("seed %d, decision %d: of %q the turn has changed %+v", seed, i, to, turn.Files)
			}
		}
	}
}

// A turn that was saved goes on with what it had changed.
func TestATurnGoesOn(t *testing.T) {
	turn, h := Begin("words", time.Unix(1, 0)), History{}
	turn.Changed("/changed", review.Text("1\n"), review.Text("2\n"))
	turn.Moved("/from", "/to", review.Text("3\n"), review.Text("4\n"))
	turn.Changed("/refused", review.Text("6\n"), review.Text("7\n"))
	turn.Decided("/refused", review.Text("7\n"), review.Text("6\n"))
	moved := review.Text("8\n")
	turn.Moved("/a", "/b", moved, moved)
	turn.WentBack("/b", "/a", moved, moved)
	turn.Changed("/reversed", review.Text("9\n"), review.Text("10\n"))
	turn.Changed("/reversed", review.Text("10\n"), review.Text("9\n"))
	h.Take(turn)
	again := Resume(turn.Prompt, turn.At, turn.State())
	again.Changed("/changed", review.Text("2\n"), review.Text("5\n"))
	again.Decided("/refused", review.Text("6\n"), review.Text("7\n")) // the refusal is taken back
	again.WentBack("/a", "/b", moved, moved)
	again.Decided("/reversed", review.Text("9\n"), review.Text("10\n")) // the reversal is refused
	h.Take(again)
	want := []FileChange{
		{Path: "/b", OldPath: "/a", Before: moved, After: moved},
		{Path: "/changed", Before: review.Text("1\n"), After: review.Text("5\n")},
		{Path: "/refused", Before: review.Text("6\n"), After: review.Text("7\n")},
		{Path: "/reversed", Before: review.Text("9\n"), After: review.Text("10\n")},
		{Path: "/to", OldPath: "/from", Before: review.Text("3\n"), After: review.Text("4\n")},
	}
	if len(h.Turns) != 1 || h.Last().Prompt != "words" || !slices.Equal(h.Last().Files, want) {
		t.Errorf("%d turns, the last has changed %+v", len(h.Turns), h.Last().Files)
	}
}

func TestWhatTheUserWroteIntoANewFileStays(t *testing.T) {
	turn, h := Begin("", time.Time{}), History{}
	turn.record.Changed("/new", review.Content{}, review.Text("1\n2\n"))
	turn.Changed("/new", review.Text("1\nmine\n2\n"), review.Text("1\nmine\n2\n3\n"))
	h.Take(turn)
	step := StepOf(turn.Files[0], review.Text("1\nmine\n2\n3\n"), true)
	check.Equal(t, step.Want, review.Text("mine\n"), "an undo makes %+v of it")
}

// What goes makes room first, and what has no room stays.
func TestOrderOfSteps(t *testing.T) {
	none, text := review.Content{}, review.Text
	files := []FileChange{
		{Path: "a", Before: text("a")},
		{Path: "a/b", After: text("b")},
		{Path: "c", OldPath: "b", Before: text("1"), After: text("1")},
		{Path: "d", OldPath: "c", Before: text("2"), After: text("2")},
		{Path: "f", OldPath: "e", Before: text("3"), After: text("3")},
		{Path: "g", Before: text("4"), After: text("5")},
		{Path: "g", Before: text("6"), After: none, Under: true}, // which the buffer has not
		{Path: "h", OldPath: "i", Before: text("7"), After: text("7")},
		{Path: "i", OldPath: "j", Before: text("8"), After: text("8")},
		{Path: "k", OldPath: "l/m", Before: text("9"), After: text("9")}, // l is a file now
		{Path: "l", OldPath: "n", Before: text("10"), After: text("10")},
	}
	now := []review.Content{none, text("b"), text("1"), text("2"), text("3"), text("5"), text("5"), text("7"), text("8"), text("9"), text("10")}
	var got []string
	for _, step := range Steps(files, now, map[string]bool{"c": true, "e": true, "i": true}) {
		got = append(got, fmt.Sprintf("%s %s %s%s", step.Of.Path, step.Want.Text, step.Back, step.Note))
	}
	want := []string{"g 6 ", "a/b  ", "c 1 b", "d 2 c", "i 8 j", "l 10 n", "h 7 i", "k 9 l/m", "a a ", "f 3 cannot go back to e, where another file is", "g 4 "}
	check.Slice(t, got, want, "%q")
}

func TestARefusedMoveIsTakenBack(t *testing.T) {
	turn, h := Begin("", time.Time{}), History{}
	old, text := review.Text("old\n"), review.Text("new\n")
	turn.Moved("/a", "/b", old, text)
	turn.WentBack("/b", "/a", text, old)
	if h.Take(turn); len(turn.Files) != 0 {
		t.Errorf("refused it is %+v", turn.Files)
	}
	turn.WentBack("/a", "/b", old, text)
	h.Take(turn)
	if len(turn.Files) != 1 || turn.Files[0].Path != "/b" || turn.Files[0].OldPath != "/a" || turn.Files[0].After != text {
		t.Errorf("moved again it is %+v", turn.Files)
	}
}

// What is refused where the user has changed the lines on both of its sides comes back once.
func TestWhatIsRefusedBetweenTypedLinesComesBackOnce(t *testing.T) {
	turn, h := Begin("", time.Time{}), History{}
	turn.Changed("/f", review.Text("1\n2\n3\n4\n5\n"), review.Text("1\n2\n4\n5\na\n"))
	typed, refused := review.Text("1\nmine\n5\na\n"), review.Text("1\nmine\n3\n5\na\n")
	turn.Decided("/f", typed, refused)
	h.Take(turn)
	if step := StepOf(turn.Files[0], refused, true); step.Want != review.Text("1\nmine\n3\n5\n") {
		t.Errorf("an undo makes %+v", step)
	}
}

// What the user types after the agent is no part of the turn, also in the agent's lines, and whatever is decided.
func TestWhatIsTypedSinceIsNotTheTurns(t *testing.T) {
	turn, h := Begin("", time.Time{}), History{}
	turn.Changed("/f", review.Text("1\n2\n3\n4\n5\n"), review.Text("1\nA\n3\nB\n5\n"))
	typed := review.Text("1\nA, by me\n3\nB\n5\nmine\n")
	refused := review.Text("1\nA, by me\n3\n4\n5\nmine\n")
	for _, now := range []review.Content{refused, typed} {
		if now == refused {
			turn.Decided("/f", typed, refused)
		} else {
			turn.Decided("/f", refused, typed)
		}
		h.Take(turn)
		step := StepOf(turn.Files[0], now, true)
		if step.Want != refused || len(step.Conflicts) != 1 {
			t.Errorf("an undo makes %+v of %q", step, now.Text)
		}
	}
}

// A file was moved away, and another one made where it was: both go back, and both are done again.
func TestAFileWhereAnotherOneWasMakesRoom(t *testing.T) {
	text := review.Text
	turn, h := Begin("", time.Time{}), History{}
	turn.Moved("/a", "/b", text("old\n"), text("old\n"))
	turn.Changed("/a", review.Content{}, text("new\n"))
	h.Take(turn)
	disk := map[string]review.Content{"/a": text("new\n"), "/b": text("old\n")}
	run := func(files []FileChange) (did []FileChange) {
		var now []review.Content
		taken := map[string]bool{}
		for _, f := range files {
			now = append(now, disk[f.Path])
			taken[f.OldPath] = disk[f.OldPath].Exists
		}
		for _, step := range Steps(files, now, taken) {
			check.Equal(t, step.Note, "", "%s %s", step.Of.Path)
			did = append(did, step.Reverse())
			disk[step.Of.Path] = step.Want
			if step.Back != "" {
				disk[step.Of.Path], disk[step.Back] = review.Content{}, step.Want
			}
		}
		return did
	}
	h.WasUndone(turn, run(turn.Files), nil, true)
	if disk["/a"] != text("old\n") || disk["/b"].Exists {
		t.Fatalf("undone there is %+v", disk)
	}
	undone, _ := h.LastUndone()
	run(undone.Files)
	if disk["/a"] != text("new\n") || disk["/b"] != text("old\n") {
		t.Errorf("done again there is %+v", disk)
	}
}

// What was moved and then removed, and is back under its first name, does not come back a second time.
func TestWhatIsBackComesBackOnce(t *testing.T) {
	h := History{}
	moved, removed := Begin("move", time.Unix(1, 0)), Begin("remove", time.Unix(2, 0))
	text := review.Text("old\n")
	moved.Moved("/a", "/b", text, text)
	h.Take(moved)
	removed.Changed("/b", text, review.Content{})
	h.Take(removed)
	other := Begin("remove another", time.Unix(3, 0))
	other.Changed("/a2", text, review.Content{})
	h.Take(other)
	h.Decided(other, "/b", "/a", review.Content{}, text, review.File{State: review.Pending})
	h.Gather()
	if n := len(moved.Files) + len(removed.Files); n > 0 || h.Last() != other {
		t.Errorf("there is to undo %+v, %+v", moved.Files, removed.Files)
	}
}

// The paths from which files were moved are known, and no others.
func TestWhereFilesWereMovedFrom(t *testing.T) {
	turn := Begin("", time.Now())
	turn.Moved("a", "b", review.Text("a\n"), review.Text("a\n"))
	turn.Changed("f", review.Text("1\n"), review.Text("2\n"))
	turn.Changed("n", review.Content{}, review.Text("n\n"))
	if got := turn.MovedAway(); len(got) != 1 || !got["a"] {
		t.Errorf("moved away from are %v", got)
	}
	for path, want := range map[string]string{"a": "b", "f": "f", "": ""} {
		check.Equal(t, turn.MovedTo(path), want, "%s is moved to %s", path)
	}
	turn.Changed("g", review.Text("g\n"), review.Content{})
	for path, want := range map[string]bool{"b": false, "f": false, "g": true, "other": false} {
		if turn.Gone(path) != want {
			t.Errorf("%s is gone: %v", path, !want)
		}
	}
}

// What a turn tells of a file while it runs.
func TestWhatATurnHas(t *testing.T) {
	turn, h := Begin("", time.Unix(1, 0)), History{}
	turn.Changed("/f", review.Text("1\n2\n"), review.Text("1\ntwo\n"))
	turn.Changed("/g", review.Text("g\n"), review.Text("G\n"))
	turn.Renamed("/g", "/h")
	turn.Conflicted("/z", review.Text("z\n"), review.Text("Z\n"))
	turn.Conflicted("/a", review.Text("a\n"), review.Text("A\n"))
	check.Slice(t, turn.Paths(), []string{"/f", "/h"}, "its paths are %q")
	check.Equal(t, turn.Before("/f", review.Text("1\ntwo\nmine\n")), review.Text("1\n2\nmine\n"), "before it %+v was there")
	if is, ok := turn.Present("/h"); !ok || is != review.Text("G\n") {
		t.Errorf("the agent has left %+v", is)
	}
	image := turn.Image("/h")
	turn.Decided("/h", review.Text("G\n"), review.Text("g\n"))
	turn.SetBack("/h", image)
	paths := func() (list []string) {
		h.Take(turn)
		for _, f := range turn.Files {
			list = append(list, f.Path)
		}
		return list
	}
	check.Slice(t, paths(), []string{"/a", "/f", "/h", "/z"}, "its files are %q")
	turn.Settled("/z")
	check.Slice(t, paths(), []string{"/a", "/f", "/h"}, "settled, its files are %q")
	if other := Begin("", time.Unix(2, 0)); turn.Name() == other.Name() || turn.Name() != Resume("", turn.At, turn.State()).Name() {
		t.Errorf("its name is %q, another's %q", turn.Name(), other.Name())
	}
}

// A refusal takes a turn's lines also where a later turn has put others among them.
func TestRefusedAmongLaterLines(t *testing.T) {
	turn, h, text := Begin("", time.Time{}), History{}, review.Text
	turn.Changed("/a", text("1\n"), text("1\n2\n"))
	turn.Decided("/a", text("1\n3\n2\n"), text("1\n"))
	h.Take(turn)
	check.Equal(t, len(turn.Files), 0, "%d files are left")
}

// What conflicts with a buffer's unsaved text is undone whatever the buffer has, and done again, also where there was no file.
func TestUndoOfWhatIsUnderABuffer(t *testing.T) {
	text := review.Text
	for _, f := range []FileChange{
		{Path: "f", Before: text("1\n"), After: text("2\n"), Under: true},
		{Path: "f", After: text("2\n"), Under: true},
		{Path: "f", Before: text("1\n"), Under: true},
	} {
		step := StepOf(f, text("the user's\n"), true)
		back := step.Reverse()
		if step.Idle() || step.Want != f.Before || back != (FileChange{Path: "f", Before: f.After, After: f.Before, Under: true}) {
			t.Errorf("%+v becomes %+v, and its undo is %+v", f, step.Want, back)
		}
	}
}

// What the agent has reversed is the turn's again if the user refuses the reversal, and only then.
func TestARefusedReversal(t *testing.T) {
	one, two, three := review.Text("1\n"), review.Text("2\n"), review.Text("3\n")
	turn, h := Begin("", time.Time{}), History{}
	for _, path := range []string{"/f", "/g"} {
		turn.Changed(path, one, two)
		turn.Changed(path, two, one)
	}
	for _, path := range []string{"/a", "/c"} {
		turn.Moved(path, path+"2", one, one)
		turn.Moved(path+"2", path, one, one)
	}
	if h.Take(turn); len(turn.Files) != 0 {
		t.Errorf("reversed there are %+v", turn.Files)
	}
	turn.Decided("/f", one, two)
	turn.Decided("/g", one, three)
	turn.WentBack("/a", "/a2", one, one)
	turn.WentBack("/c", "/c3", one, one)
	h.Take(turn)
	want := []FileChange{{Path: "/a2", OldPath: "/a", Before: one, After: one}, {Path: "/f", Before: one, After: two}}
	check.Slice(t, turn.Files, want, "refused there are %+v")
}

// A file does not go back to where another one stays, and who asks for the steps has the same paths taken as before.
func TestAFileDoesNotGoBackOverAnother(t *testing.T) {
	text := review.Text
	files := []FileChange{
		{Path: "a", Before: text("1\n"), After: text("2\n")},
		{Path: "b", OldPath: "a", Before: text("3\n"), After: text("3\n")},
	}
	taken := map[string]bool{"a": true}
	for _, step := range Steps(files, []review.Content{text("2\n"), text("3\n")}, taken) {
		if want := map[string]string{"a": "", "b": "cannot go back to a, where another file is"}[step.Of.Path]; step.Note != want {
			t.Errorf("%s: %q, wanted %q", step.Of.Path, step.Note, want)
		}
	}
	files = append(files, FileChange{Path: "c", After: text("4\n")})
	taken["c"] = true
	Steps(files, []review.Content{text("2\n"), text("3\n"), text("4\n")}, taken)
	check.Equal(t, taken["a"] && taken["c"], true, "the paths are still taken: %v")
}
