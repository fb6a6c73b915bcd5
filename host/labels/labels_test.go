package labels

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestChange(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "labels")
	s := Open(dir)
	if got := s.Of("a", "1"); got != (Label{Agent: "a", ID: "1"}) || s.All() != nil {
		t.Errorf("at first there is %v, in all %v", got, s.All())
	}
	title := func(text string) func(*Label) { return func(l *Label) { l.Title = text } }
	for id, text := range map[string]string{"1": "One", "2": "Two"} {
		must.Do(t, s.Change("a", id, title(text)))
	}
	must.Do(t, s.Change("a", "1", func(l *Label) { l.Archived = true }))
	want := Label{Agent: "a", ID: "1", Title: "One", Archived: true}
	check.Equal(t, Open(dir).Of("a", "1"), want, "read %v")
	if all := s.All(); len(all) != 2 || all.Of("a", "1") != want || all.Of("a", "2").Title != "Two" || all.Of("b", "1").Title != "" {
		t.Errorf("all are %v", all)
	}
	if info, err := os.Stat(s.path("a", "1")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its file is %v (%v)", info, err)
	}
	if err := s.Change("a", "2", title("")); err != nil || len(s.All()) != 1 {
		t.Errorf("what says nothing is kept: %v, %v", s.All(), err)
	}
	check.Equal(t, Open("").Of("a", "1"), Label{Agent: "a", ID: "1"}, "in no folder there is %v")
	if err := Open("").Change("a", "1", title("x")); err == nil {
		t.Error("something is kept in no folder")
	}
	err := Open(must.Write(t, t.TempDir(), "file", "")).Change("a", "1", title("x"))
	check.Contains(t, fmt.Sprint(err), "store a session's label: ", "where no folder can be, it is said that %q")
}

// Another Neovim may forget a label at the same time, which is no failure.
func TestALabelThatIsGone(t *testing.T) {
	s := Open(t.TempDir())
	must.Do(t, s.Change("a", "1", func(l *Label) { l.Title = "One" }))
	must.Do(t, s.Change("a", "1", func(l *Label) {
		must.Do(t, os.Remove(s.path("a", "1")))
		l.Title = ""
	}))
	check.Equal(t, len(s.All()), 0, "%d labels are left")
	must.Do(t, s.Change("a", "1", func(l *Label) { l.Title = "One" }))
	err := s.Change("a", "1", func(l *Label) { // what lies there is nothing to remove
		must.Do(t, os.Remove(s.path("a", "1")))
		must.Write(t, s.path("a", "1"), "file", "")
		l.Title = ""
	})
	if err == nil {
		t.Error("a label that could not be removed is said to be")
	}
}

func TestTheOldestGo(t *testing.T) {
	s := Open(t.TempDir())
	for i := range limit {
		id := fmt.Sprint(i)
		must.Do(t, os.WriteFile(s.path("a", id), fmt.Appendf(nil, `{"agent":"a","session":%q,"title":"t"}`, id), 0o600))
		at := time.Now().Add(time.Duration(i-limit) * time.Hour)
		must.Do(t, os.Chtimes(s.path("a", id), at, at))
	}
	must.Do(t, s.Change("a", "new", func(l *Label) { l.Title = "t" }))
	all := s.All()
	if len(all) != limit || all.Of("a", "0").Title != "" || all.Of("a", "1").Title == "" || !slices.Contains(all, Label{Agent: "a", ID: "new", Title: "t"}) {
		t.Errorf("%d are left, the oldest is %v", len(all), all.Of("a", "0"))
	}
}
