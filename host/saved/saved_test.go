package saved

import (
	"bytes"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

const limit = 64 << 20

// long is a text that is no part of the index.
func long(line string) string { return strings.Repeat("1\n2\n3\n", 40) + line + "\n" }

// session has n changed files, each of about size bytes, in a turn.
func session(n, size int) Session {
	s := Session{
		About:  About{Agent: "a", AgentTitle: "A", Cwd: "/cwd", ID: "s-1", Title: "Title"},
		Record: review.New(limit),
	}
	t := turns.Begin("prompt", time.Unix(1, 0))
	for i := range n {
		path := fmt.Sprintf("/cwd/dir%d/file%d.go", i%20, i)
		var b strings.Builder
		for b.Len() < size {
			fmt.Fprintf(&b, "line %d of file %d\n", b.Len(), i)
		}
		was, is := review.Text(b.String()), review.Text(strings.Replace(b.String(), "line", "a line", 2))
		s.Record.Changed(path, was, is)
		t.Changed(path, was, is)
	}
	s.History.Take(t)
	s.About.Count(s.Record)
	return s
}

func store(tb testing.TB) (*checkpoint.Store, string) {
	dir := tb.TempDir()
	return checkpoint.Open(dir), dir
}

func save(tb testing.TB, st *checkpoint.Store, s Session, was *Image) *Image {
	tb.Helper()
	i, err := Take(s, was)
	if err == nil {
		_, err = i.Write(st)
	}
	must.Do(tb, err)
	return i
}

func TestWhatIsSavedComesBack(t *testing.T) {
	st, _ := store(t)
	s := session(0, 0)
	turn := turns.Begin("prompt", time.Unix(1, 0))
	for path, texts := range map[string][2]string{"/cwd/long": {long("a"), long("b")}, "/cwd/short": {"a\n", "b\n"}, "/cwd/empty": {"a\n", ""}} {
		s.Record.Changed(path, review.Text(texts[0]), review.Text(texts[1]))
		turn.Changed(path, review.Text(texts[0]), review.Text(texts[1]))
	}
	s.Record.Changed("/cwd/new", review.Content{}, review.Text(long("new")))
	s.History.Take(turn)
	s.History.WasUndone(turns.Begin("undone", time.Unix(2, 0)), []turns.FileChange{{Path: "/cwd/long", Before: review.Text(long("c"))}}, nil, true)
	s.About.Count(s.Record)
	if s.About.Files != 4 || s.About.Changes != 4 {
		t.Errorf("%+v is said to wait", s.About)
	}
	present := long("b")
	s.Comments = []Comment{{Path: "/cwd/long", Present: &present, Signed: true, Remark: review.Remark{ID: 3, First: 1, Last: 2, Quoted: []string{"1"}, Text: "why?"}}, {Path: "/cwd/short"}}
	s.Told = []string{"b", "a"}
	sum, err := st.Put([]byte("original"))
	must.Do(t, err)
	s.Originals = []Original{{Mark: "m", Form: "latin1 unix", Sum: sum}}
	image := save(t, st, s, nil)

	check := func(how string, got Session, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		for what, c := range map[string][2]any{
			"about":     {got.About, s.About},
			"files":     {got.Record.Files(), s.Record.Files()},
			"comments":  {got.Comments, s.Comments},
			"told":      {got.Told, []string{"a", "b"}},
			"originals": {got.Originals, s.Originals},
		} {
			check.Deep(t, c[0], c[1], "%s: the %s are %+v", how, what)
		}
		if got.History.Last().Prompt != "prompt" || !reflect.DeepEqual(got.History.Last().Files, s.History.Last().Files) {
			t.Errorf("%s: the turn is %+v", how, got.History.Last())
		}
		if u, ok := got.History.LastUndone(); !ok || u.Turn.Prompt != "undone" || !u.Turn.At.Equal(time.Unix(2, 0)) || u.Files[0].Before.Text != long("c") {
			t.Errorf("%s: the turn that was undone is %+v", how, u)
		}
	}
	got, err := Load(st, s.About.Key(), limit)
	check("loaded", got, err)
	got, err = image.Session(limit)
	check("not yet written", got, err)

	list, err := List(st)
	if err != nil || len(list) != 1 || list[0].About != s.About || time.Since(list[0].Saved) > time.Hour {
		t.Errorf("listed are %+v, %v", list, err)
	}
	if _, err := Load(st, "another", limit); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was never saved: %v", err)
	}
	// Nothing of it is cleaned away.
	must.Do(t, st.Clean(t.Context(), time.Now().Add(48*time.Hour), nil))
	got, err = Load(st, s.About.Key(), limit)
	check("cleaned", got, err)
}

// inTurn is a session in the middle of a turn, with all that may be known then.
func inTurn() (s Session, turn *turns.Turn, marks []Mark) {
	s = session(0, 0)
	turn = turns.Begin("prompt", time.Unix(1, 0))
	turn.Changed("/cwd/f", review.Text(long("f")), review.Text(long("a")))
	turn.Changed("/cwd/g", review.Text(long("f")), review.Text(long("a")))
	turn.Decided("/cwd/g", review.Text(long("a")), review.Text(long("f")))
	turn.Moved("/cwd/h", "/cwd/i", review.Text("f"), review.Text("f"))
	turn.WentBack("/cwd/i", "/cwd/h", review.Text("f"), review.Text("f"))
	seen, disk, gone := review.Text(long("f")), review.Text("short"), review.Text(long("gone"))
	marks = []Mark{
		{Path: "/cwd/f", Seen: &seen, Disk: &disk, Gone: &gone, Shown: true, Saved: true, Renamed: "/cwd/r", Copy: true, Guessed: true},
		{Path: "/cwd/g"},
	}
	s.Running = &Running{At: turn.At, Turn: turn.State(), Marks: marks}
	record, other := turn.State().Record, review.New(limit)
	other.Changed("/cwd/f", review.Text(long("other")), review.Text(long("a")))
	s.Unsaved = []Unsaved{
		{Path: "/cwd/f", Noted: true, Record: record.Image("/cwd/f"), InTurn: true, Turn: other.Image("/cwd/f"), Behind: []Behind{
			{turn.At.UTC(), review.Text(long("before")), review.Text(long("then")), review.Text(long("first")), true, true, false},
			{time.Time{}, review.Text("short"), review.Text("then"), review.Text("first"), false, false, true},
		}},
		{Path: "/cwd/new", Noted: true},
	}
	s.Taken = []Taken{{
		Path: "/cwd/g", From: "/cwd/f", At: turn.At.UTC(), All: Returning{Disk: review.Text(long("disk")), Had: record.Image("/cwd/f")},
		Its: Returning{Disk: review.Text("short"), Had: other.Image("/cwd/f"), Lost: true},
	}}
	s.InStep = []InStep{{"/cwd/f", long("in step"), review.Plain}, {"/cwd/h", "short", "latin1"}}
	return s, turn, marks
}

// A turn that runs comes back with all that is known of it. Where nothing else was saved nobody lists it.
func TestATurnThatRunsComesBack(t *testing.T) {
	st, _ := store(t)
	s, turn, marks := inTurn()
	image := save(t, st, s, nil)
	save(t, st, s, image)
	check.Equal(t, marks[0].Seen.Text, long("f"), "the marks are others after they were saved: %v")
	if list, err := List(st); err != nil || len(list) != 0 {
		t.Errorf("listed are %+v, %v", list, err)
	}
	must.Do(t, st.Clean(t.Context(), time.Now().Add(48*time.Hour), nil))
	got, err := Load(st, s.About.Key(), limit)
	must.Do(t, err)
	if r := got.Running; r == nil || !r.At.Equal(turn.At) || !reflect.DeepEqual(r.Marks, marks) || !reflect.DeepEqual(r.Turn.Shed, turn.State().Shed) ||
		!reflect.DeepEqual(r.Turn.Back, turn.State().Back) || !reflect.DeepEqual(r.Turn.Record.Files(), turn.State().Record.Files()) {
		t.Errorf("the turn that runs is %+v", got.Running)
	}
	check.Slice(t, got.InStep, s.InStep, "in step were %+v")
	if len(got.Taken) != 1 {
		t.Fatalf("taken away are %+v", got.Taken)
	}
	for what, of := range map[string][2]Returning{"all": {got.Taken[0].All, s.Taken[0].All}, "its": {got.Taken[0].Its, s.Taken[0].Its}} {
		had := func(is review.Image) []review.File {
			r := review.New(limit)
			r.SetBack("/cwd/f", is)
			return r.Files()
		}
		check.Deep(t, had(of[0].Had), had(of[1].Had), "%s had %+v", what)
		if of[0].Disk != of[1].Disk || of[0].Lost != of[1].Lost {
			t.Errorf("%s is %+v", what, of[0])
		}
	}
	if is, want := got.Taken[0], s.Taken[0]; is.Path != want.Path || is.From != want.From || !is.At.Equal(want.At) {
		t.Errorf("taken away is %+v", is)
	}
	for i, u := range got.Unsaved {
		want := s.Unsaved[i]
		if u.Path != want.Path || u.Noted != want.Noted || u.InTurn != want.InTurn || !reflect.DeepEqual(u.Behind, want.Behind) {
			t.Errorf("of unsaved text it is known %+v", u)
		}
		for what, images := range map[string][2]review.Image{"record": {u.Record, want.Record}, "turn": {u.Turn, want.Turn}} {
			of := func(is review.Image) []review.File {
				r := review.New(limit)
				r.SetBack(u.Path, is)
				return r.Files()
			}
			check.Deep(t, of(images[0]), of(images[1]), "%s: the %s says %+v", u.Path, what)
		}
	}
	s.Record.Changed("/cwd/f", review.Text("f"), review.Text("a"))
	save(t, st, s, image)
	if list, err := List(st); err != nil || len(list) != 1 {
		t.Errorf("with a change %+v are listed, %v", list, err)
	}
}

func TestTheSameAgain(t *testing.T) {
	s := session(3, 1000)
	s.Told = []string{"b", "a"}
	take := func(was *Image) *Image {
		t.Helper()
		i, err := Take(s, was)
		must.Do(t, err)
		return i
	}
	first := take(nil)
	s.Told = []string{"a", "b"}
	if again := take(first); !again.Is(first) {
		t.Error("nothing has changed, but the image has")
	}
	s.About.Title = "Another"
	if again := take(first); again.Is(first) {
		t.Error("the title has changed, but not the image")
	}
	s = session(4, 1000)
	if again := take(first); again.Is(first) || first.Is(nil) || (*Image)(nil).Is(first) {
		t.Error("a file has changed, but not the image")
	}
}

// What is made from an earlier image is what is made anew.
func TestFromAnEarlierImage(t *testing.T) {
	turn := func(at int64, text string) *turns.Turn {
		t := turns.Begin("prompt", time.Unix(at, 0))
		t.Changed("/cwd/f", review.Text("was"), review.Text(text))
		(&turns.History{}).Take(t) // it has ended
		return t
	}
	undone := func(s *Session, at int64, text string) {
		s.History.WasUndone(turn(at, text), []turns.FileChange{{Path: "/cwd/f", Before: review.Text(text)}}, nil, true)
	}
	for name, change := range map[string]func(s *Session){
		"nothing":      func(*Session) {},
		"a file":       func(s *Session) { s.Record.Changed("/cwd/f", review.Text("a"), review.Text("b")) },
		"another turn": func(s *Session) { s.History.Take(turn(3, "c")) },
		"the same turn, changed": func(s *Session) {
			s.History.Last().Changed("/cwd/g", review.Text(""), review.Text("d"))
			s.History.Take(s.History.Last())
		},
		"a file of the same turn": func(s *Session) {
			s.History.Last().Changed("/cwd/dir0/file0.go", review.Text(""), review.Text("j"))
			s.History.Take(s.History.Last())
		},
		"a turn of the same time": func(s *Session) { s.History.Turns[len(s.History.Turns)-1] = turn(1, "e") },
		"another undone turn":     func(s *Session) { undone(s, 4, "f") },
		"what an undo did": func(s *Session) {
			s.History.Undone[0].Files = append(s.History.Undone[0].Files, turns.FileChange{Path: "/cwd/h"})
		},
		"it did another thing": func(s *Session) { s.History.Undone[0].Files = []turns.FileChange{{Path: "/cwd/h"}} },
		"an undone turn":       func(s *Session) { s.History.Undone[0].Turn = turn(2, "h") },
		"comments":             func(s *Session) { s.Comments[0].Present = new(long("i")) },
		"unsaved text":         func(s *Session) { s.Unsaved[0].Path = "/cwd/i" },
	} {
		t.Run(name, func(t *testing.T) {
			s := session(3, 1000)
			undone(&s, 2, "g")
			s.Comments, s.Unsaved = []Comment{{Path: "/cwd/f", Present: new(long("h"))}}, []Unsaved{{Path: "/cwd/f"}}
			s.Record.Changed("/cwd/f", review.Text("was"), review.Text("a"))
			first, err := Take(s, nil)
			must.Do(t, err)
			change(&s)
			again, err := Take(s, first)
			must.Do(t, err)
			anew, err := Take(s, nil)
			must.Do(t, err)
			check.Equal(t, again.Is(anew), true, "the images are the same: %v")
			check.Equal(t, again.Is(first), name == "nothing", "it is the earlier one: %v")
		})
	}
}

var update = flag.Bool("update", false, "write the fixture of the present format, as long as it is in no release")

// TestEveryFormatIsRead takes up what each version that was released has saved: a folder of the store in testdata.
func TestEveryFormatIsRead(t *testing.T) {
	about := About{Agent: "a", AgentTitle: "A", Cwd: "/cwd", ID: "s-1", Title: "Title", Changes: 3, Files: 3}
	fixture := func(n int) string { return filepath.Join("testdata", fmt.Sprint("format", n)) }
	if *update {
		must.Do(t, os.RemoveAll(fixture(format)))
		s := session(0, 0)
		turn := turns.Begin("prompt", time.Unix(1, 0))
		for path, texts := range map[string][2]string{"/cwd/long": {long("a"), long("b")}, "/cwd/short": {"a\n", "b\n"}, "/cwd/kept": {"a\n", "b\n"}} {
			s.Record.Changed(path, review.Text(texts[0]), review.Text(texts[1]))
			turn.Changed(path, review.Text(texts[0]), review.Text(texts[1]))
		}
		s.Record.Changed("/cwd/new", review.Content{}, review.Text(long("new")))
		if plan, err := s.Record.Plan("/cwd/kept", review.Keep, review.Selection{}); err != nil || !s.Record.Commit(plan) {
			t.Fatalf("keep a file: %v", err)
		}
		s.History.Take(turn)
		s.History.WasUndone(turns.Begin("undone", time.Unix(2, 0)), []turns.FileChange{{Path: "/cwd/long", Before: review.Text(long("c"))}}, nil, true)
		s.About.Count(s.Record)
		present := long("b")
		s.Comments = []Comment{{Path: "/cwd/long", Present: &present, Remark: review.Remark{ID: 3, First: 1, Last: 2, Quoted: []string{"1"}, Text: "why?"}}}
		s.Told = []string{"told"}
		save(t, checkpoint.Open(fixture(format)), s, nil)
	}
	for n := oldest; n <= format; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			dir := t.TempDir()
			must.Do(t, os.CopyFS(dir, os.DirFS(fixture(n))))
			st := checkpoint.Open(dir)
			if list, err := List(st); err != nil || len(list) != 1 || list[0].About != about {
				t.Errorf("listed are %+v, %v", list, err)
			}
			got, err := Load(st, about.Key(), limit)
			must.Do(t, err)
			var files []string
			for _, f := range got.Record.Files() {
				files = append(files, fmt.Sprint(f.Path, " ", f.Status, " ", f.State))
			}
			slices.Sort(files)
			if want := []string{"/cwd/kept modified kept", "/cwd/long modified pending", "/cwd/new added pending", "/cwd/short modified pending"}; !slices.Equal(files, want) {
				t.Errorf("the record has %q", files)
			}
			if present, ok := got.Record.Present("/cwd/long"); !ok || present.Text != long("b") {
				t.Errorf("the text is %q", present.Text)
			}
			if last := got.History.Last(); last.Prompt != "prompt" || len(last.Files) != 3 {
				t.Errorf("the turn is %+v", last)
			}
			if u, ok := got.History.LastUndone(); !ok || u.Turn.Prompt != "undone" || u.Files[0].Before.Text != long("c") {
				t.Errorf("the turn that was undone is %+v", u)
			}
			if c := got.Comments; len(c) != 1 || c[0].Text != "why?" || *c[0].Present != long("b") || !slices.Equal(got.Told, []string{"told"}) {
				t.Errorf("the comments are %+v, told is %q", c, got.Told)
			}
		})
	}
}

// TestANewerFormat has fields of which this version knows nothing.
func TestANewerFormat(t *testing.T) {
	st, _ := store(t)
	data, err := encoded(struct {
		Format int
		Record map[string]string
		New    []float64
	}{format + 1, map[string]string{"f": "text"}, []float64{1}})
	must.Do(t, err)
	must.Do(t, st.Save("key", "", data))
	if _, err := Load(st, "key", limit); !errors.Is(err, ErrNewer) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it says %v", err)
	}
}

// TestWhatCannotBeRead tells why, and that it is no session that was never saved.
func TestWhatCannotBeRead(t *testing.T) {
	s := session(1, 1000)
	key := s.About.Key()
	var older bytes.Buffer
	data, err := s.Record.Groups()[0].Save(func(text string) string { return text })
	if err == nil {
		// As the version before had it.
		err = gob.NewEncoder(&older).Encode(struct {
			Format  int
			Record  []byte
			History turns.History
		}{3, data, s.History})
	}
	must.Do(t, err)
	for name, c := range map[string]struct {
		spoil func(st *checkpoint.Store, dir string) error
		why   string
	}{
		"of a version before the first": {func(st *checkpoint.Store, _ string) error { return st.Save(key, "", older.Bytes()) }, "before the first release"},
		"cut short": {func(st *checkpoint.Store, _ string) error {
			i, err := Take(s, nil)
			if err == nil {
				err = st.Save(key, "", i.index[:len(i.index)/2])
			}
			return err
		}, ""},
		"nothing": {func(st *checkpoint.Store, _ string) error { return st.Save(key, "", nil) }, ""},
		"its texts are gone": {func(_ *checkpoint.Store, dir string) error {
			return os.RemoveAll(filepath.Join(dir, "contents"))
		}, "contents that were kept"},
	} {
		t.Run(name, func(t *testing.T) {
			st, dir := store(t)
			save(t, st, s, nil)
			must.Do(t, c.spoil(st, dir))
			_, err := Load(st, key, limit)
			if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("loading it: %v", err)
			}
			if _, err := List(st); err != nil {
				t.Errorf("listing: %v", err)
			}
			save(t, st, s, nil) // puts it right
			if _, err := Load(st, key, limit); err != nil {
				t.Errorf("saved again: %v", err)
			}
		})
	}
}

// Whichever of its texts is lost, a session is not read with something else in its place.
func TestAnyTextThatIsLost(t *testing.T) {
	s, _, _ := inTurn()
	s.Record.Changed("/cwd/k", review.Text(long("k")), review.Text(long("l")))
	earlier := turns.Begin("prompt", time.Unix(1, 0))
	earlier.Changed("/cwd/k", review.Text(long("k")), review.Text(long("m")))
	s.History.Take(earlier)
	s.History.WasUndone(turns.Begin("undone", time.Unix(2, 0)),
		[]turns.FileChange{{Path: "/cwd/k", Before: review.Text(long("undone")), After: review.Text(long("done"))}}, nil, true)
	s.Comments = []Comment{{Path: "/cwd/k", Present: new(long("present"))}}
	take := func(s Session) (*Image, map[checkpoint.Sum]string) {
		image, err := Take(s, nil)
		must.Do(t, err)
		stored := map[checkpoint.Sum]string{}
		for _, p := range image.parts {
			for text, sum := range p.texts {
				stored[sum] = text
			}
		}
		return image, stored
	}
	// What is known of one thing has texts of another, too.
	for what, without := range map[string]func(*Session){
		"nothing":                    func(*Session) {},
		"a running turn":             func(s *Session) { s.Running = nil },
		"what was taken":             func(s *Session) { s.Running, s.Taken = nil, nil },
		"what else has that turn's":  func(s *Session) { s.Unsaved, s.Taken = nil, nil },
		"unsaved text and that turn": func(s *Session) { s.Running, s.Unsaved = nil, nil },
	} {
		s := s
		without(&s)
		image, stored := take(s)
		for lost := range stored {
			_, err := decode(image.index, limit, map[checkpoint.Sum]string{}, func(sum checkpoint.Sum) ([]byte, error) {
				if sum == lost {
					return nil, fs.ErrNotExist
				}
				return []byte(stored[sum]), nil
			})
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("with all but %s, without %q: %v", what, stored[lost][len(long("")):], err)
			}
		}
	}
	image, stored := take(s)
	junk := []byte("junk")
	for what, spoil := range map[string]func(*index){
		"record":  func(i *index) { i.Record[0] = junk },
		"turn":    func(i *index) { i.Turns[0] = junk },
		"undo":    func(i *index) { i.Undone[0] = junk },
		"running": func(i *index) { i.Running = junk },
		"unsaved": func(i *index) { i.Unsaved = junk },
		"taken":   func(i *index) { i.Taken = junk },
		"in step": func(i *index) { i.InStep = junk },
	} {
		var spoilt index
		must.Do(t, decoded(image.index, &spoilt))
		spoil(&spoilt)
		data, err := encoded(spoilt)
		must.Do(t, err)
		content := func(sum checkpoint.Sum) ([]byte, error) { return []byte(stored[sum]), nil }
		if _, err = decode(data, limit, map[checkpoint.Sum]string{}, content); err == nil {
			t.Errorf("with a damaged %s it is read", what)
		}
	}
}

// What cannot be saved is said, however much it is, and then nothing is said to be saved.
func TestNoFolderToSaveIn(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		s      Session
		places string // of which each is needed
	}{
		"little":            {session(0, 0), ". records"},
		"a text":            {session(1, 1000), ". records contents"},
		"many texts":        {session(30, 1000), ". records packs"},
		"one that is large": {session(1, 1<<20), ". records contents"},
	} {
		for _, place := range strings.Fields(c.places) {
			dir := filepath.Join(t.TempDir(), "store")
			must.Write(t, filepath.Dir(dir), filepath.Join("store", place), "a file where the folder should be")
			i, err := Take(c.s, nil)
			must.Do(t, err)
			store := checkpoint.Open(dir)
			_, err = i.Write(store)
			if err == nil || !strings.HasPrefix(err.Error(), "save the changes of a session: ") {
				t.Errorf("%s, without %s: %v", what, place, err)
			}
			if _, err := store.SavedAt(i.About.Key()); err == nil {
				t.Errorf("%s, without %s: it is saved", what, place)
			}
		}
	}
}

// written is how many bytes of the files below dir were made since a time, in files of any kind.
func written(tb testing.TB, dir string, known map[string]os.FileInfo) (n int64) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil && (known[path] == nil || !os.SameFile(known[path], info)) {
			n += info.Size()
			known[path] = info
		}
		return err
	})
	must.Do(tb, err)
	return n
}

// TestLittleIsWrittenAgain changes one file of many: that one and the index are written.
func TestLittleIsWrittenAgain(t *testing.T) {
	st, dir := store(t)
	const files, size = 200, 20_000
	s, known := session(files, size), map[string]os.FileInfo{}
	image := save(t, st, s, nil)
	first := written(t, dir, known)
	if first < 2*files*size {
		t.Errorf("%d bytes were written", first)
	}
	s.Record.Changed("/cwd/dir0/file0.go", review.Text(long("a")), review.Text(long("b")))
	image, err := Take(s, image)
	must.Do(t, err)
	told, err := image.Write(st)
	again := written(t, dir, known)
	if again > files*1000 || again == 0 || err != nil {
		t.Errorf("one file of %d has changed, and %d bytes were written, %v", files, again, err)
	}
	if told < int(again)-1000 || told > int(again) { // it does not count the first line of the index
		t.Errorf("%d bytes were written, %d are told", again, told)
	}
}

// BenchmarkSave saves a record of 1,000 files of 10 KB again and again; one of them has changed each time.
func BenchmarkSave(b *testing.B) {
	st, dir := store(b)
	s, known := session(1000, 10_000), map[string]os.FileInfo{}
	image := save(b, st, s, nil)
	first := written(b, dir, known)
	var total int64
	var taking time.Duration
	i := 0
	for b.Loop() {
		i++
		path := "/cwd/dir0/file0.go"
		f, _ := s.Record.File(path)
		s.Record.Changed(path, f.Present, review.Text(fmt.Sprintf("%schanged %d\n", f.Baseline.Text, i)))
		began := time.Now()
		var err error
		if image, err = Take(s, image); err != nil {
			b.Fatal(err)
		}
		taking += time.Since(began)
		if _, err := image.Write(st); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		total += written(b, dir, known)
		b.StartTimer()
	}
	b.ReportMetric(float64(first), "B/first-save")
	b.ReportMetric(float64(total)/float64(i), "B/save")
	b.ReportMetric(taking.Seconds()*1000/float64(i), "ms/take")
}

// A name of a text that is neither the text nor a hash is a damaged file's.
func TestNamesOfNoText(t *testing.T) {
	text := named(map[checkpoint.Sum]string{}, func(checkpoint.Sum) ([]byte, error) { return []byte("stored"), nil })
	hash := strings.Repeat("h", len(checkpoint.Sum{}))
	for name, want := range map[string]string{"": "", "=": "", "=it": "it", "#" + hash: "stored"} {
		got, err := text(name)
		must.Do(t, err)
		check.Equal(t, got, want, "%q names %q", name)
	}
	for _, name := range []string{"it", "#short", "?" + hash} {
		if got, err := text(name); err == nil {
			t.Errorf("%q names %q", name, got)
		}
	}
}
