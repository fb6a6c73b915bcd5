package review

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// What waits is counted by changes: hunks that wait, and one for a file without any.
func TestWhatWaitsIsCounted(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("many", Text(letters("abcdefgh")), Text(letters("aXcdYfgZ")))
	r.Changed("bytes", Opaque("one"), Opaque("two"))
	r.Changed("kept", Text("a\n"), Text("b\n"))
	r.Changed("away", Text("a\n"), Text("b\n"))
	plan, err := r.Plan("many", Keep, Selection{Hunks: []int{1}})
	if err != nil || !r.Commit(plan) {
		t.Fatal(err)
	}
	if plan, err = r.Plan("kept", Keep, Selection{}); err != nil || !r.Commit(plan) {
		t.Fatal(err)
	}
	r.Removed("away")
	if changes, files := r.Waiting(); changes != 3 || files != 2 {
		t.Errorf("%d changes wait in %d files", changes, files)
	}
}

// A folder stands for what is in it by a path that no file has.
func TestFolders(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"/a", "/a/"} {
		check.Equal(t, Folder(dir), "/a/", "it is %q")
	}
	if !IsFolder(Folder("/a")) || IsFolder("/a") {
		t.Error("a folder is not told from a file")
	}
}

// Recall takes nothing of what is no text, or is not there.
func TestRecallOfWhatIsNot(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("f", Text(letters("abc")), Text(letters("aXc")))
	plan, err := r.Plan("f", Reject, Selection{})
	if err != nil || !r.Commit(plan) {
		t.Fatal(err)
	}
	r.Changed("bytes", Opaque("one"), Opaque("two"))
	r.Changed("gone", Text("a\n"), Content{})
	r.Changed("away", Text("a\n"), Text("b\n"))
	if plan, err = r.Plan("away", Reject, Selection{}); err != nil || !r.Commit(plan) {
		t.Fatal(err)
	}
	r.Removed("away")
	r.Changed("made", Content{}, Text("x\n"))
	if plan, err = r.Plan("made", Reject, Selection{}); err != nil || !r.Commit(plan) {
		t.Fatal(err)
	}
	for _, is := range []Content{Text(""), Text("x\n")} {
		f, _ := r.File("emptied")
		r.Changed("emptied", cmp.Or(f.Present, Text("a\n")), is)
	}
	// The same text as there is, which the file had before with other owners.
	r.Changed("same", Text(letters("abc")), Text(letters("aXc")))
	r.Now("same", Text(letters("auc")))
	r.Changed("same", Text(letters("auc")), Text(letters("aXc")))
	was, version := statesOf(r), r.Version()
	for path, now := range map[string]Content{
		"none": Text("x\n"), "bytes": Text("x\n"), "gone": Text("x\n"), "away": Text("b\n"), "made": Text("x\n"),
		"emptied": Text("x\n"), "same": Text(letters("aXc")), "f": Opaque(letters("aXc")),
	} {
		r.Recall(path, now)
		r.Recall(path, Content{})
		if got := statesOf(r); !slices.Equal(got, was) || r.Version() != version {
			t.Errorf("%s: there are %q, there were %q", path, got, was)
		}
	}
	if r.Recall("f", Text(letters("aXc"))); slices.Equal(statesOf(r), was) {
		t.Error("a refusal that the user has undone is not recalled")
	}
}

// statesOf lists files with their states and texts.
func statesOf(r *Record) (list []string) {
	for _, f := range r.Files() {
		list = append(list, f.Path+" "+string(f.Status)+" "+string(f.State)+" "+f.Present.Text)
	}
	return list
}

// What the agent has made and removed again is not there to be moved: at the new path is a new file. Of one that it puts
// over its own, the permissions are those that came.
func TestMovesOfWhatTheAgentHasMade(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("a", Content{}, Text("x\n"))
	r.Changed("a", Text("x\n"), Content{})
	r.Moved("a", "b", Text("x\n"), Text("x\n"))
	check.Slice(t, statusOf(r), []string{"added b"}, "there are %q")
	r = New(1 << 20)
	r.Changed("a", Content{}, Text("x\n"))
	r.Changed("a", Text("x\n"), Content{})
	r.NewTurn()
	r.Moved("a", "b", Text("x\n"), Text("x\n"))
	check.Slice(t, statusOf(r), []string{"moved b from a"}, "a turn later there are %q")
	r = New(1 << 20)
	r.Changed("a", Content{}, Text("x\n"))
	r.Changed("a", Text("x\n"), Content{})
	r.Changed("c", Text("u\n"), Text("v\n"))
	r.Renamed("c", "a")
	r.Moved("a", "b", Text("v\n"), Text("v\n"))
	check.Slice(t, statusOf(r), []string{"moved b from a"}, "of another file there are %q")
	own, came := Text("half\n"), Text("whole\n")
	own.Mode, came.Mode = 0o600, 0o755
	r = New(1 << 20)
	r.Changed("to", Content{}, own)
	r.Moved("from", "to", came, came)
	if f, ok := r.File("to"); !ok || f.Present.Mode != 0o755 || f.Present.Text != "half\n" {
		t.Errorf("moved there it is %+v", f.Present)
	}
}

// Where a file was when it was removed is known by the path that it had before.
func TestWhereAFileWasRemoved(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Moved("f", "g", Text("x\n"), Text("x\n"))
	r.Changed("g", Text("x\n"), Content{})
	check.Equal(t, r.Left("f"), "g", "it was at %q")
	check.Equal(t, r.Left("g"), "", "one that is not there was at %q")
}

// What is no text has no lines.
func TestNoLines(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("f", Opaque("one"), Opaque("two"))
	f, _ := r.File("f")
	added, removed := f.Pending()
	if n := len(f.Changes()) + len(f.Lines(1, 9).Parts) + len(f.Written(File{}, "a\n").Parts) + len(f.Like("a\n", "b\n")); n+added+removed > 0 {
		t.Errorf("%d are found", n)
	}
}

// Of places as near as another one the first counts.
func TestUndoneAtTheNearest(t *testing.T) {
	t.Parallel()
	const now = "x\n1\nx\n2\nx\n"
	for line, want := range map[int]string{0: "y\n1\nx\n2\nx\n", 1: "y\n1\nx\n2\nx\n", 2: "y\n1\nx\n2\nx\n", 3: "x\n1\ny\n2\nx\n", 4: "x\n1\ny\n2\nx\n", 5: "x\n1\nx\n2\ny\n"} {
		if got, ok := Undone(now, "y\n", "x\n", line); !ok || got != want {
			t.Errorf("at line %d: %q", line, got)
		}
	}
}

// A decision that cannot be made in one of its places is made in none.
func TestDecisionsAreMadeAtOnce(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("f", Text(letters("abcdefgh")), Text(letters("aXcdefYh")))
	plan, err := r.Plan("f", Reject, Selection{Hunks: []int{0}})
	if err != nil || !r.Commit(plan) {
		t.Fatal(err)
	}
	r.Changed("f", Text(letters("abcdefYh")), Text(letters("aZcdefYh"))) // in the place of what was refused
	f, _ := r.File("f")
	for i, h := range f.Hunks {
		if h.State != Rejected {
			continue
		}
		if _, err := r.Plan("f", Keep, Selection{Hunks: []int{i}}); err == nil {
			t.Error("what was refused is brought back over another change")
		}
	}
	if now, _ := r.File("f"); now.Present.Text != letters("aZcdefYh") {
		t.Errorf("there is %q", now.Present.Text)
	}
}

// A refusal that is kept after all leaves what waits beside it to be decided, and what was kept kept.
func TestBroughtBackBesideOthers(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	decide := func(d Decision, hunk int) {
		t.Helper()
		plan, err := r.Plan("f", d, Selection{Hunks: []int{hunk}})
		if err != nil || !r.Commit(plan) {
			t.Fatal(err)
		}
	}
	r.Changed("f", Text(letters("abcdefghi")), Text(letters("aXcdYfghZ")))
	decide(Keep, 0)
	decide(Reject, 1)
	decide(Keep, 1)
	f, _ := r.File("f")
	var states []State
	for _, h := range f.Hunks {
		states = append(states, h.State)
	}
	if !slices.Equal(states, []State{Kept, Kept, Pending}) || f.Baseline.Text != letters("abcdefghi") || f.Accepted.Text != letters("aXcdYfghi") {
		t.Errorf("%v, accepted is %q of %q", states, f.Accepted.Text, f.Baseline.Text)
	}
}

// A file that has again what was said of it earlier is listed with that, and told.
func TestSetBackIsTold(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("f", Text("a\n"), Text("b\n"))
	was := r.Image("f")
	r.Changed("f", Text("b\n"), Text("c\n"))
	r.Take()
	version := r.Version()
	r.SetBack("f", was)
	if now, ok := r.Present("f"); !ok || now != Text("b\n") {
		t.Errorf("there should be %+v", now)
	}
	changed, _ := r.Take()
	if len(changed) != 1 || changed[0].Present.Text != "b\n" || r.Version() == version {
		t.Errorf("told are %+v", changed)
	}
	r.SetBack("f", r.Image("none"))
	if _, gone := r.Take(); len(gone) != 1 || !r.Empty() {
		t.Errorf("gone are %v", gone)
	}
}

// What is forgotten counts no more: the limit is kept by what is still there.
func TestTheLimitIsKeptByWhatIsThere(t *testing.T) {
	t.Parallel()
	text := func(first string, n int) Content { return Text(first + "\n" + strings.Repeat("x\n", n)) }
	r := New(600)
	r.Changed("gone", text("a", 100), text("b", 100))
	r.Retracted("gone", text("b", 100), text("a", 100))
	if !r.Empty() {
		t.Fatal("it is not forgotten")
	}
	r.Changed("f", text("a", 200), text("b", 200))
	if f, _ := r.File("f"); len(f.Hunks) > 0 || !f.Present.Opaque {
		t.Errorf("more than the limit is kept: %v", f.Hunks)
	}
}

// All contents without a text are told, each of which may have to be put back.
func TestContentsWithoutATextAreTold(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("f", Opaque("one"), Opaque("two"))
	plan, err := r.Plan("f", Keep, Selection{})
	if err != nil || !r.Commit(plan) {
		t.Fatal(err)
	}
	r.Changed("f", Opaque("two"), Opaque("three"))
	r.Changed("text", Text("a\n"), Text("b\n"))
	told := map[string]bool{}
	r.Textless(func(c Content) { told[c.Text] = c.Opaque })
	if want := map[string]bool{"one": true, "two": true, "three": true}; !maps.Equal(told, want) {
		t.Errorf("told are %v", told)
	}
}

// What the user makes where the agent's file was is theirs, and moved from there by the agent a move.
func TestTheUsersFileWhereTheAgentsWas(t *testing.T) {
	t.Parallel()
	for _, sees := range []func(r *Record, path string, now Content){(*Record).Now, (*Record).Recall} {
		r := New(1 << 20)
		r.Changed("a", Content{}, Text("x\n"))
		r.Changed("a", Text("x\n"), Content{})
		sees(r, "a", Text("u\n"))
		r.Moved("a", "b", Text("u\n"), Text("u\n"))
		check.Slice(t, statusOf(r), []string{"moved b from a"}, "there are %q")
	}
}

// A new file that was kept, and that the agent removes, is deleted until the user agrees.
func TestANewFileThatIsRemovedAgain(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Changed("n", Content{}, Text("x\n"))
	plan, err := r.Plan("n", Keep, Selection{})
	if err != nil || !r.Commit(plan) {
		t.Fatal(err)
	}
	r.Changed("n", Text("x\n"), Content{})
	check.Slice(t, statesOf(r), []string{"n deleted pending "}, "there are %q")
	r = loaded(t, r)
	r.Changed("n", Content{}, Text("x\n"))
	check.Slice(t, statesOf(r), []string{"n added kept x\n"}, "back there are %q")
}

// Hunks that were kept or refused are decided otherwise in any order, also side by side.
func TestManyDecisionsAreRevised(t *testing.T) {
	t.Parallel()
	const was, is = "abcdefgh", "AbCdEfGXY"
	for _, hunks := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}} {
		for i, first := range []Decision{Keep, Reject, Keep, Reject} {
			r, then := New(1<<20), Reject
			if r.Changed("f", Text(letters(was)), Text(letters(is))); first == Reject {
				then = Keep
			}
			for _, d := range []Decision{first, then} {
				which := Selection{Hunks: hunks}
				if i > 1 && d == first {
					which.Hunks = hunks[:2] // the others wait
				}
				plan, err := r.Plan("f", d, which)
				if err != nil || !r.Commit(plan) {
					t.Fatalf("%v: %v", hunks, err)
				}
			}
			want := is
			if then == Reject {
				want = was
			}
			f, _ := r.File("f")
			if f.Present.Text != letters(want) || f.Baseline.Text != letters(was) || f.State == Pending {
				t.Errorf("%s after %s of %v: there is %q of %q, %s", then, first, hunks, f.Present.Text, f.Baseline.Text, f.State)
			}
		}
	}
}

// A removal that is taken back leaves kept what was kept beside it earlier.
func TestRetractedRemovalBesideWhatIsKept(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Text("f3\nf4\nf5\nf6\n"), Text("f3\na1\na2\nf4\nf5\nf6\n"))
	decideAll(t, r, Keep)
	r.Changed("f", Text("f3\na1\na2\nf4\nf5\nf6\n"), Text("f3\na1\na2\nf6\n"))
	decideAll(t, r, Keep)
	r.Retracted("f", Text("f3\na1\na2\nf6\n"), Text("f3\na1\na2\nf4\nf5\nf6\n"))
	f, _ := r.File("f")
	check.Equal(t, f.State, Kept, "it is %q")
}

// What a record makes of an image leaves the record that it is of alone.
func TestImageInAnotherRecord(t *testing.T) {
	r := New(1 << 20)
	r.Changed("f", Text("f1\n"), Text("f1\na1\n"))
	for _, text := range []string{"f1\na1\nu1\n", "f1\na1\nu1\nu2\n"} {
		r.Now("f", Text(text))
	}
	was := slices.Clone(r.files["f"].texts)
	other := New(1 << 20)
	other.SetBack("f", r.Image("f"))
	other.Now("f", Text("f1\na1\nu1\n"))
	check.Equal(t, slices.Equal(r.files["f"].texts, was), true, "the texts are the same: %v")
}

// The user's part of a text that a file has, or had while something of the agent's waited, is known until something is
// decided.
func TestTheUsersPartOfATextIsKnown(t *testing.T) {
	t.Parallel()
	r := play([]step{agent(letters("ab"), letters("aXb")), user(letters("aXbu")), user(letters("abu"))})
	r.Changed("bytes", Text("a\n"), Opaque("one"))
	known := func(path, text, want string) {
		t.Helper()
		check.Equal(t, r.Users(path, letters(text)), letters(want), "of %q in %s it is %q", text, path)
	}
	known("f", "abu", "abu")
	known("f", "aXbu", "abu")
	known("f", "aXb", "ab")
	known("f", "ab", "") // nothing of the agent's was in it
	known("f", "aXbuv", "")
	known("none", "a", "")
	known("bytes", "a", "")
	r.Changed("f", Text(letters("abu")), Text(letters("aYbu")))
	decide(t, r, Keep, Selection{})
	known("f", "aXbu", "")
	known("f", "aYbu", "aYbu")
}

// A change of which nothing else is known is the agent's, at the path to which it has moved the file.
func TestWhatTheAgentHadChanged(t *testing.T) {
	t.Parallel()
	r := New(1 << 20)
	r.Had("old", "new", Text("a\n"), Text("b\n"), false)
	r.Had("", "bytes", Opaque("one"), Opaque("two"), false)
	r.Had("", "typed", Opaque("one"), Opaque("two"), true)
	r.Had("", "text", Text("a\n"), Text("b\n"), true)
	check.Slice(t, statusOf(r), []string{"moved new from old", "modified bytes", "modified typed", "modified text"}, "there are %q")
	if changed, _ := r.Take(); len(changed) != 4 {
		t.Errorf("told are %+v", changed)
	}
	for path, want := range map[string]error{"new": nil, "bytes": nil, "typed": errTyped, "text": nil} {
		_, err := r.Plan(path, Reject, Selection{})
		check.Equal(t, err, want, "%s: a refusal says %v", path)
	}
	f, _ := r.File("new")
	check.Slice(t, spans(f.Hunks, Pending), []span{{1, 1, 1, 1}}, "its hunks are %v")
}

// Texts that may have to come back are told before they are known no more: the user's, with what they have typed since, and
// the accepted one.
func TestTextsAreToldBeforeTheyAreForgotten(t *testing.T) {
	t.Parallel()
	typed := Text(letters("aXbu"))
	for name, forget := range map[string]func(r *Record){
		"made bytes by the agent": func(r *Record) { r.Changed("f", typed, Opaque("one")) },
		"made bytes by the user":  func(r *Record) { r.Now("f", typed); r.Now("f", Opaque("one")) },
		"no room is left": func(r *Record) {
			r.Now("f", typed)
			r.limit = 0
			r.Changed("g", Opaque("one"), Opaque("two"))
		},
	} {
		r := New(1 << 20)
		r.Changed("f", Text(letters("ab")), Text(letters("aXb")))
		decide(t, r, Keep, Selection{})
		forget(r) // to nobody
		r = New(1 << 20)
		var told []string
		r.Forgets = func(c Content) { told = append(told, c.Text) }
		r.Changed("f", Text(letters("ab")), Text(letters("aXb")))
		decide(t, r, Keep, Selection{})
		forget(r)
		check.Slice(t, told, []string{letters("abu"), letters("aXbu")}, name+": told are %q")
	}
}

// A change that was accepted before it was made keeps its form, but not what else has changed of that and waits.
func TestAFormAcceptedBeforeItWasMade(t *testing.T) {
	t.Parallel()
	in := func(form, word string) Content {
		c := Text(letters(word))
		c.Form, c.Mode = form, 0o644
		return c
	}
	first, second, third := in("", "abcd"), in("utf-8 dos", "aXcd"), in("utf-8 dos noeol", "aXcY")
	r := New(1 << 20)
	r.Changed("f", first, second)
	before, _ := r.File("f")
	third.Mode = 0o755
	r.Changed("f", second, third)
	f, _ := r.File("f")
	p := decide(t, r, Keep, Selection{Parts: f.Written(before, second.Text).Parts, Lines: true, Form: &second.Form})
	check.Equal(t, p.Edits(), false, "it is to be changed: %v")
	if f, _ = r.File("f"); f.Accepted.Form != "utf-8 unix noeol" || f.Accepted.Text != letters("abcY") || f.Accepted.Mode != 0o644 {
		t.Errorf("accepted is %+v", f.Accepted)
	}
	decide(t, r, Keep, Selection{Parts: f.Lines(1, 9).Parts, Lines: true})
	if f, _ = r.File("f"); f.Accepted.Form != "utf-8 unix noeol" || f.State != Pending {
		t.Errorf("with the lines alone it is %s, accepted is %+v", f.State, f.Accepted)
	}
}

// The undo of a change that was accepted before it was made leads to what was there then, with what waited; one of another
// decision does not.
func TestUndoOfWhatWasAcceptedBeforeItWasMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		made  bool
		users string // the user's edit between the change and the decision
		state State
	}{
		"made with the change": {true, "", Pending},
		"made later":           {false, "", Kept},
		"after an edit":        {true, "aXcu", Kept},
	} {
		r := play([]step{agent(letters("abc"), letters("aYc")), agent(letters("aYc"), letters("aXc"))})
		if c.users != "" {
			r.Now("f", Text(letters(c.users)))
		}
		decide(t, r, Keep, Selection{Made: c.made})
		r.Now("f", Text(letters("aYc")))
		f, _ := r.File("f")
		check.Equal(t, f.State, c.state, name+": after the undo it is %s")
	}
}

// A removal that was kept, and that the user takes back, is none any more, whatever waits right below or above it: its lines
// are where they were.
func TestAKeptRemovalIsTakenBackBesideAnother(t *testing.T) {
	t.Parallel()
	for history, want := range map[string]string{
		"abcdefgh a:abefgh k: a:abgh f:abcdgh":           "f modified pending abcdefgh>abcdefgh>abcdgh p5,2+4,0",
		"abcdefgh a:abefgh k: a:abgh f:abcdgh r:":        "f modified rejected abcdefgh>abcdefgh>abcdefgh r5,2+5,2",
		"abcdefgh a:abefgh k: a:abgh f:abcgh":            "f modified pending abcdefgh>abcefgh>abcgh k4,1+3,0 p5,2+3,0",
		"abcdefgh a:abefgh k: a:abgh f:abdgh":            "f modified pending abcdefgh>abdefgh>abdgh k3,1+2,0 p5,2+3,0",
		"abcdefgh a:abcdgh k: a:abgh f:abefgh":           "f modified pending abcdefgh>abcdefgh>abefgh p3,2+2,0",
		"abcdefgh a:abefgh k: a:abgh f:abxgh":            "f modified pending abcdefxgh>abefxgh>abxgh k3,2+2,0 p5,2+2,0",
		"abcdefghijkl a:abefijkl k: a:abijkl f:abcdijkl": "f modified pending abcdefghijkl>abcdefijkl>abcdijkl p5,2+4,0 k7,2+4,0",
		"abcdefghijkl a:abefgijkl k: a:abgkl f:abcdghkl": "f modified pending abcdefghijkl>abcdefghijkl>abcdghkl p5,2+4,0 p9,2+6,0",
		"abcdefgh a:abefgh k: a:agh f:acdgh":             "f modified pending abcdefgh>abcdefgh>acdgh p2,1+1,0 p5,2+3,0",
		"abcdefgh a:abdfgh k: a:agh f:aegh":              "f modified pending abcdefgh>abdefgh>aegh p2,3+1,0 p6,1+2,0",
		"abcdefgh a:abefgh k: a:abgh f:abcxgh":           "f modified pending abcdefxgh>abcefxgh>abcxgh k4,1+3,0 p5,2+3,0",
		"abcdefgh a:abefWh k: a:abWh f:abcdgh":           "f modified pending abcdefgh>abcdefgh>abcdgh p5,2+4,0",
		"abcdefgh a:abefWXh k: a:abWXh f:abcdxh":         "f modified pending abcdefxgh>abcdefxh>abcdxh p5,2+4,0 k8,1+5,0",
		"abcdefghijk a:abefhik k: a:abhk f:abcdhjk":      "f modified pending abcdefghijk>abcdefhijk>abcdhjk p5,2+4,0 k7,1+4,0 p9,1+5,0",
	} {
		check.Equal(t, told(history).String(), want, "%s: there is %q", history)
	}
}

// Where the user puts a moved file back, what they have put into it at its new place stays theirs there.
func TestTypedAtTheNewPlaceOfAFileThatIsPutBack(t *testing.T) {
	t.Parallel()
	for history, want := range map[string]string{
		"ab a:abX mv: f:uabX a:uabXY remade:abX":         "f modified pending ab>ab>abX p2,0+3,1; g added pending ->->uabXY p1,0+2,4",
		"ab a:abX mv: f:uabX a:uabXY remade:abX at: r:":  "f modified pending ab>ab>abX p2,0+3,1; g modified rejected u>u>u r1,0+1,0",
		"ab a:abX f:abXw mv: f:uabXw remade:abXw at: r:": "f modified pending abw>abw>abXw p2,0+3,1; g modified rejected u>u>u r1,0+1,0",
		"ab mv: f:ub remade:ab":                          "g added pending ->->ub p1,0+2,1",
		"ab a:abX f:abXw mv: remade:abXw at: r:":         "f modified pending abw>abw>abXw p2,0+3,1; g added rejected ->->- r0,0+0,0",
	} {
		check.Equal(t, told(history).String(), want, "%s: there is %q", history)
	}
}
