package ledger

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// Of the user's home folder no copies are made, and health says so, once.
func TestNoCopiesOfAHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	var told []Lack
	c := &scanner{config: Config{
		Store: checkpoint.Open(t.TempDir()), Log: slog.New(slog.DiscardHandler), Roots: []string{home},
		Lacks: func(now Lack) { told = append(told, now) },
	}}
	for range 2 {
		c.scan(func(snap *checkpoint.Snapshot) {
			if snap != nil {
				t.Error("a snapshot was taken")
			}
		})
	}
	if len(told) != 1 || told[0].Why == "" {
		t.Errorf("told was %+v", told)
	}
}

// What copies leave out is told when it is another thing than before, and names some of it.
func TestWhatCopiesLeaveOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told := make(chan Lack, 9)
	w.open(func(c *Config) { c.Lacks = func(now Lack) { told <- now } })
	large := func(names ...string) {
		for i, name := range names {
			w.write(name, "")
			w.must(os.Truncate(w.path(name), int64(len(names)-i)<<21))
		}
	}
	looked := func() {
		done := make(chan struct{})
		w.ledger.box.Put(func() { w.ledger.scans.scan(func(*checkpoint.Snapshot) { close(done) }) })
		<-done
	}
	looked()
	large("a")
	looked()
	looked()
	if now := <-told; !strings.Contains(now.Why, "1 too large") || now.Files != w.path("a") {
		t.Errorf("told was %+v", now)
	}
	large("b", "c", "d")
	looked()
	if now := <-told; !strings.Contains(now.Why, "4 too large") || now.Files != strings.Join([]string{w.path("b"), w.path("c"), w.path("a")}, ", ") {
		t.Errorf("told was %+v", now)
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		w.remove(name)
	}
	looked()
	check.Equal(t, <-told, (Lack{}), "when nothing is left out told was %+v")
	if len(told) > 0 {
		t.Errorf("told was %+v too", <-told)
	}
}

func TestScannable(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	for root, want := range map[string]bool{
		"/": false, "/home": false, "/home/u": false, "/home/u/project": true, "/home/u2": true, "/ho": true, "/srv": true,
	} {
		if scannable([]string{root}) != want || scannable([]string{"/home/u/project", root}) != want {
			t.Errorf("that copies are made of %s is not %v", root, want)
		}
	}
	t.Setenv("HOME", "")
	if !scannable([]string{"/srv"}) || scannable([]string{"/"}) {
		t.Error("without a home there is another answer")
	}
}

// Whoever asks for a look at the folders gets one that begins afterwards; those that wait share it.
func TestLooksAreShared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	got := make(chan *checkpoint.Snapshot, 3)
	asks := func(snap *checkpoint.Snapshot) { got <- snap }
	release := w.holdLooks()
	w.ledger.box.Put(func() {
		c := &w.ledger.scans
		c.scan(asks)
		c.scan(asks)
		c.scan(asks)
	})
	release()
	one, two, three := <-got, <-got, <-got
	if one == nil || one == two || two != three {
		t.Errorf("the looks are %p, %p and %p", one, two, three)
	}
	if at := one.State(w.path("f")); at.Size != 3 {
		t.Errorf("it has seen %+v", at)
	}
}

// Many contents that nothing needs are forgotten, a few are not.
func TestContentsThatNothingNeeds(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{spareOriginals: spareOriginals, spareOriginals + 1: 0} {
		w := newWorld(t)
		w.box(func() {
			for i := range n {
				w.ledger.originals.of[version{Mark: fmt.Sprint(i)}] = checkpoint.Sum{}
			}
		})
		w.begin()
		w.box(func() { check.Equal(t, len(w.ledger.originals.of), want, "of %d there are %d", n) })
	}
}
