package answers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

var question = Question{Agent: "claude", Project: "/p", Kind: "execute", Command: "make test", Dir: "/p"}

func yes(q Question) Answer {
	return Answer{Question: q, Allow: true, OptionID: "always", Name: "Always", At: time.Now()}
}

func open(t *testing.T) (*Store, string) {
	path := filepath.Join(t.TempDir(), "acp", "permissions.json")
	return Open(path), path
}

func add(t *testing.T, s *Store, a Answer) {
	t.Helper()
	must.Do(t, s.Add(a))
}

func found(t *testing.T, s *Store, q Question, session int) (Answer, bool) {
	t.Helper()
	a, ok, err := s.Find(q, session)
	must.Do(t, err)
	return a, ok
}

func TestAnswerIsFoundAgain(t *testing.T) {
	s, path := open(t)
	if _, ok := found(t, s, question, 1); ok {
		t.Error("an answer without a file")
	}
	add(t, s, yes(question))
	for name, store := range map[string]*Store{"the same": s, "another Neovim's": Open(path)} {
		if a, ok := found(t, store, question, 7); !ok || !a.Allow || a.OptionID != "always" || a.ID == "" {
			t.Errorf("%s store has %v, %v", name, a, ok)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	if text, err := os.ReadFile(path); !strings.HasPrefix(string(text), "{\n  \"version\": 1,\n") {
		t.Errorf("people cannot read it: %s, %v", text, err)
	}
	check.Equal(t, s.Dir(), filepath.Dir(path), "its folder is %s")
	if left, _ := filepath.Glob(path + ".new*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What a process that was killed has left does not stay.
func TestLeftOversAreWrittenOver(t *testing.T) {
	s, path := open(t)
	add(t, s, yes(question))
	half := path + ".new"
	must.Do(t, os.WriteFile(half, []byte("{"), 0o600))
	add(t, s, yes(Question{Agent: "claude", Project: "/p", Command: "make lint"}))
	if _, ok := found(t, Open(path), question, 1); !ok {
		t.Error("the first answer is lost")
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 2 { // the answers and their lock
		t.Errorf("there are %v, %v", files, err)
	}
}

func TestOtherQuestionsAreNotAnswered(t *testing.T) {
	full := Question{Agent: "a", Project: "/p", Kind: "k", Command: "c", Dir: "/d", Paths: []string{"/x"}, Tool: "n", Title: "t", Input: "i"}
	for name, change := range map[string]func(*Question){
		"agent":   func(q *Question) { q.Agent = "b" },
		"project": func(q *Question) { q.Project = "/q" },
		"kind":    func(q *Question) { q.Kind = "l" },
		"command": func(q *Question) { q.Command = "c " },
		"dir":     func(q *Question) { q.Dir = "" },
		"paths":   func(q *Question) { q.Paths = []string{"/x", "/y"} },
		"tool":    func(q *Question) { q.Tool = "" },
		"title":   func(q *Question) { q.Title = "" },
		"input":   func(q *Question) { q.Input = "" },
	} {
		s, _ := open(t)
		other := full
		change(&other)
		add(t, s, yes(full))
		if _, ok := found(t, s, other, 1); ok {
			t.Errorf("another %s is answered too", name)
		}
		if _, ok := found(t, s, full, 1); !ok {
			t.Errorf("%s: the question itself is not answered", name)
		}
	}
}

func TestTheLastAnswerCounts(t *testing.T) {
	s, _ := open(t)
	add(t, s, yes(question))
	no := yes(question)
	no.Allow = false
	add(t, s, no)
	if a, ok := found(t, s, question, 1); !ok || a.Allow {
		t.Errorf("found %v, %v", a, ok)
	}
	other := yes(Question{Agent: "claude", Project: "/p", Command: "make lint"})
	other.At, other.Session = no.At.Add(-time.Second), 1
	add(t, s, other)
	other.At, other.Session = no.At.Add(time.Second), 0
	add(t, s, other)
	list, err := s.List()
	if err != nil || len(list) != 3 || list[0].Session != 1 || list[1].Command != "make test" {
		t.Fatalf("%v, %v", list, err)
	}
	must.Do(t, s.Remove(list[1].ID))
	if _, ok := found(t, s, question, 1); ok {
		t.Error("a removed answer is found")
	}
	if _, ok := found(t, s, other.Question, 2); !ok {
		t.Error("another answer is removed")
	}
}

func TestAnswerOfASession(t *testing.T) {
	s, path := open(t)
	a := yes(question)
	a.Session = 3
	add(t, s, a)
	if _, ok := found(t, s, question, 3); !ok {
		t.Error("it is not found")
	}
	if _, ok := found(t, s, question, 4); ok {
		t.Error("it is found in another session")
	}
	other := a
	other.Session = 4
	add(t, s, other)
	if _, ok := found(t, s, question, 3); !ok {
		t.Error("another session's answer replaces it")
	}
	list, err := s.List()
	must.Do(t, err)
	must.Do(t, s.Remove(list[1].ID))
	list, err = s.List()
	if err != nil || len(list) != 1 || list[0].Session != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	must.Do(t, s.Remove(list[0].ID))
	if _, ok := found(t, s, question, 3); ok {
		t.Error("a removed answer is found")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("some of it is on the disk")
	}
}

func TestAFileThatIsBroken(t *testing.T) {
	for _, text := range []string{"", "{", `{"version":1,"answers":[{"id":7}]}`, `{"version":2,"answers":[]}`, "[]"} {
		s, path := open(t)
		add(t, s, yes(question))
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		_, ok, err := s.Find(question, 1)
		if ok || !errors.Is(err, ErrSetAside) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v, %v", text, ok, err)
		}
		aside, _ := filepath.Glob(path + ".unreadable-*")
		if len(aside) != 1 {
			t.Fatalf("%q: set aside are %v", text, aside)
		}
		if kept, err := os.ReadFile(aside[0]); err != nil || string(kept) != text {
			t.Errorf("%q: kept is %q, %v", text, kept, err)
		}
		// From here on it works, and a second one does not replace the first.
		add(t, s, yes(question))
		must.Do(t, os.WriteFile(path, []byte("again"), 0o600))
		if err := s.Add(yes(question)); !errors.Is(err, ErrSetAside) {
			t.Errorf("%q: add: %v", text, err)
		}
		if _, ok := found(t, s, question, 1); !ok {
			t.Errorf("%q: what was added is not there", text)
		}
		if aside, _ := filepath.Glob(path + ".unreadable-*"); len(aside) != 2 {
			t.Errorf("%q: set aside are %v", text, aside)
		}
	}
}

func TestManyNeovimsAtOnce(t *testing.T) {
	_, path := open(t)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			s := Open(path)
			for i := range 8 {
				q := question
				q.Command = fmt.Sprint(n, i)
				if err := s.Add(yes(q)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	list, err := Open(path).List()
	if err != nil || len(list) != 64 {
		t.Errorf("%d answers, %v", len(list), err)
	}
}

// An answer that cannot be saved does not harm the others.
func TestAnAnswerOfNoTime(t *testing.T) {
	s, path := open(t)
	add(t, s, yes(question))
	never := yes(Question{Agent: "claude", Project: "/p", Command: "make lint"})
	never.At = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC) // JSON has no such year
	if err := s.Add(never); err == nil {
		t.Error("it is not told")
	}
	if list, err := Open(path).List(); err != nil || len(list) != 1 {
		t.Errorf("kept are %v, %v", list, err)
	}
}

// What cannot be read or written is told, wherever it fails, and nothing is lost by it.
func TestWhatCannotBeReadOrWritten(t *testing.T) {
	must := func(err error) {
		t.Helper()
		must.Do(t, err)
	}
	full := func(path string) {
		if _, err := os.Stat("/dev/full"); err != nil {
			t.Skip("there is no /dev/full")
		}
		must(os.Symlink("/dev/full", path+".new"))
	}
	for name, c := range map[string]struct {
		place       func(path string) // where the store is
		reads, adds bool              // without an error
		asideToo    bool              // it says that the file was set aside
	}{
		"below a file":          {func(path string) { must(os.WriteFile(filepath.Dir(path), nil, 0o600)) }, false, false, false},
		"a folder in its place": {func(path string) { must(os.MkdirAll(path, 0o700)) }, false, false, false},
		"a link to itself":      {func(path string) { must(os.Mkdir(filepath.Dir(path), 0o700)); must(os.Symlink(path, path)) }, false, false, false},
		"a folder for its lock": {func(path string) { must(os.MkdirAll(path+".lock", 0o700)) }, true, false, false},
		"a folder for the new":  {func(path string) { must(os.MkdirAll(path+".new/x", 0o700)) }, true, false, false},
		"a full disk":           {func(path string) { must(os.Mkdir(filepath.Dir(path), 0o700)); full(path) }, true, false, false},
		"broken, on a full disk": {func(path string) {
			must(os.Mkdir(filepath.Dir(path), 0o700))
			full(path)
			must(os.WriteFile(path, []byte("{"), 0o600))
		}, false, false, true},
		"broken, and not renamed": {func(path string) {
			must(os.Mkdir(filepath.Dir(path), 0o700))
			must(os.WriteFile(path, []byte("{"), 0o600))
		}, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			base := "permissions.json"
			if name == "broken, and not renamed" {
				base = strings.Repeat("x", 240) // no longer name fits
			}
			path := filepath.Join(t.TempDir(), "acp", base)
			c.place(path)
			err := Open(path).Add(yes(question))
			if (err == nil) != c.adds || errors.Is(err, ErrSetAside) != c.asideToo {
				t.Errorf("to add it says %v", err)
			}
			if link, err := os.Readlink(path + ".new"); err == nil {
				t.Errorf("it leaves %s, %s", path+".new", link)
			}
			if c.asideToo {
				return // the next one finds no file
			}
			s := Open(path)
			_, ok, err := s.Find(question, 1)
			if (err == nil) != c.reads || ok || errors.Is(err, ErrSetAside) {
				t.Errorf("to find it says %v, %v", ok, err)
			}
			if list, err := s.List(); (err == nil) != c.reads || len(list) > 0 {
				t.Errorf("to list %v it says %v", list, err)
			}
			if err := s.Remove("x"); (err == nil) != c.adds && name != "a full disk" { // of which the rest was removed
				t.Errorf("to remove it says %v", err)
			}
		})
	}
}

// What was read once counts no more where the file cannot be read again; what holds for a session does, and both are told.
func TestAFileThatCannotBeReadAgain(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"a folder in its place": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"below a file": func(path string) error {
			return errors.Join(os.RemoveAll(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o600))
		},
	} {
		s, path := open(t)
		add(t, s, yes(question))
		found(t, s, question, 1)
		must.Do(t, spoil(path))
		if _, ok, err := s.Find(question, 1); ok || err == nil {
			t.Errorf("%s: found %v, %v", name, ok, err)
		}
		passing := yes(question)
		passing.Session = 1
		must.Do(t, s.Add(passing))
		if _, ok, err := s.Find(question, 1); !ok || err == nil {
			t.Errorf("%s: of the session found %v, %v", name, ok, err)
		}
	}
}

// A file that is as it was is not read again, as every request asks.
func TestAFileIsReadOnce(t *testing.T) {
	s, _ := open(t)
	add(t, s, yes(question))
	found(t, s, question, 1)
	read := &s.kept[0]
	if found(t, s, question, 1); &s.kept[0] != read {
		t.Error("it is read again")
	}
}

// What another Neovim has made of the file counts, however alike it looks.
func TestAFileOfAnotherNeovim(t *testing.T) {
	s, path := open(t)
	add(t, s, yes(question))
	text, err := os.ReadFile(path)
	must.Do(t, err)
	info, err := os.Stat(path)
	must.Do(t, err)
	if _, ok := found(t, s, question, 1); !ok {
		t.Fatal("the answer is not found")
	}
	must := func(err error) {
		t.Helper()
		must.Do(t, err)
	}
	other := strings.Replace(string(text), "make test", "make TEST", 1) // as long
	// Another file, of the same time.
	must(os.WriteFile(path+".other", []byte(other), 0o600))
	must(os.Chtimes(path+".other", info.ModTime(), info.ModTime()))
	must(os.Rename(path+".other", path))
	if _, ok := found(t, s, question, 1); ok {
		t.Error("another file of the same size and time is not read")
	}
	// The same file, of another time, and of another size.
	must(os.WriteFile(path, text, 0o600))
	must(os.Chtimes(path, info.ModTime(), info.ModTime().Add(time.Second)))
	if _, ok := found(t, s, question, 1); !ok {
		t.Error("the same file of another time is not read")
	}
	must(os.WriteFile(path, []byte(other+"\n"), 0o600))
	must(os.Chtimes(path, info.ModTime(), info.ModTime().Add(time.Second)))
	if _, ok := found(t, s, question, 1); ok {
		t.Error("the same file of another size is not read")
	}
	must(os.Remove(path))
	question := question
	question.Command = "make TEST"
	if _, ok := found(t, s, question, 1); ok {
		t.Error("an answer of a file that is gone")
	}
}

// Former versions kept answers for any file of a project, which is more than anybody was shown.
func TestVagueAnswersAreDropped(t *testing.T) {
	s, path := open(t)
	text := `{"version":1,"answers":[{"id":"1","agent":"a","project":"/p","kind":"read","inside":true,"allow":true},{"id":"2","agent":"a","project":"/p","kind":"read","paths":["/p/x"],"allow":true},{"id":"3","command":"x"},{"id":"4","input":"x"},{"id":"5","mcp":"a/b"}]}`
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	list, err := s.List()
	must.Do(t, err)
	ids := ""
	for _, a := range list {
		ids += a.ID
	}
	check.Equal(t, ids, "2345", "kept are %s")
}
