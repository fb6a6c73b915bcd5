package saved

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// What is on its way to the disk counts as saved, and the newest of it alone gets there.
func TestWhatIsOnItsWayCounts(t *testing.T) {
	st, dir := store(t)
	var work []func()
	var failed []bool
	s := NewSessions(SessionsConfig{
		Store: st, Background: func(f func()) { work = append(work, f) },
		Failed: func(_ error, again bool) { failed = append(failed, again) },
	})
	settle := func() {
		for _, f := range work {
			f()
		}
		work = nil
	}
	image := func(title string) *Image {
		one := session(1, 1)
		one.About.Title = title
		i, err := Take(one, nil)
		must.Do(t, err)
		return i
	}
	// is fails the test where something else is saved; "" is nothing.
	is := func(when, title string) {
		t.Helper()
		got, err := s.Load(image("").About.Key(), limit)
		list, _ := s.List()
		if title == "" {
			if !errors.Is(err, fs.ErrNotExist) || len(list) != 0 {
				t.Errorf("%s there is %q, %v, listed %+v", when, got.About.Title, err, list)
			}
		} else if err != nil || got.About.Title != title || len(list) != 1 || list[0].Title != title {
			t.Errorf("%s there is %q, %v, listed %+v, wanted %q", when, got.About.Title, err, list, title)
		}
	}
	var done []string
	write := func(title string) {
		i := image(title)
		s.Write(i.About.Key(), i, func(int, error) { done = append(done, title) })
	}

	is("before", "")
	write("older")
	write("newer")
	is("on its way", "newer")
	settle()
	is("written", "newer")
	if len(done) != 1 || done[0] != "newer" {
		t.Errorf("written are %q", done)
	}
	s.Remove(image("").About.Key())
	is("before it is removed", "")
	settle()
	is("removed", "")

	must.Do(t, os.RemoveAll(dir))
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // in the place of the store's folder
		t.Fatal(err)
	}
	for range 2 {
		write("lost")
		settle()
	}
	if len(failed) != 2 || failed[0] || !failed[1] {
		t.Errorf("failed are %v, of which the second alone is one more", failed)
	}
}

// What is to be saved at once is on the disk at once, unless something else is being written: then whoever asks knows.
func TestWhatIsSavedAtOnce(t *testing.T) {
	st, _ := store(t)
	s := NewSessions(SessionsConfig{Store: st, Background: func(func()) { t.Error("it is done later") }})
	image, err := Take(session(1, 1000), nil)
	must.Do(t, err)
	key := image.About.Key()
	s.writing.Lock()
	if _, ok, err := s.WriteNow(key, image); ok || err != nil {
		t.Errorf("while another is written: %v, %v", ok, err)
	}
	if _, err := s.Load(key, limit); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was not written is there: %v", err)
	}
	s.writing.Unlock()
	if n, ok, err := s.WriteNow(key, image); n == 0 || !ok || err != nil {
		t.Errorf("written are %d bytes, %v, %v", n, ok, err)
	}
	if got, err := Load(st, key, limit); err != nil || len(got.Record.Files()) != 1 {
		t.Errorf("the disk has %+v, %v", got.About, err)
	}
}
