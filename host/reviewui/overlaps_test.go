package reviewui

import (
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/test/check"
)

func TestOverlappingSessions(t *testing.T) {
	o := &Overlaps{}
	tab := func(session int, title string) *Tab {
		return New(Config{Base: feature.Base{Session: session, Title: title, Box: mailbox.New()}, Overlaps: o}).Tab
	}
	one, two := tab(1, "One"), tab(2, "Two")
	o.set(one, 1, "/p/a", true)
	if got := o.others(one, "/p/a"); got != nil {
		t.Errorf("alone, the others are %q", got)
	}
	o.set(two, 7, "/p/a", true)
	o.set(two, 7, "/p/a", true)
	check.Slice(t, o.others(one, "/p/a"), []string{"Two (session 2)"}, "the others are %q")
	o.set(two, 7, "/p/b", true) // moved
	if got := o.others(one, "/p/a"); got != nil {
		t.Errorf("after a move the others are %q", got)
	}
	o.set(one, 2, "/p/b", true)
	o.set(two, 7, "/p/b", false)
	if got := o.others(one, "/p/b"); got != nil {
		t.Errorf("after a decision the others are %q", got)
	}
	o.forget(one)
	if len(o.files) != 0 || len(o.paths[one]) != 0 {
		t.Errorf("a session that has ended stays: %v", o.files)
	}
}

// A page says at once which other sessions change one of its files.
func TestOverlapsAreShown(t *testing.T) {
	play(t, func(w *world) {
		w.writes("a", "x\n")
		w.open()
		o := w.review.Tab.config.Overlaps
		ends := New(Config{
			Base: feature.Base{Session: 7, Title: "Other", Box: mailbox.New()}, Overlaps: o, Marks: NewMarks(MarksConfig{}),
		})
		other := ends.Tab
		shows := func(when string, change func(), want bool) {
			t.Helper()
			w.do(change)
			check.Equal(t, strings.Contains(strings.Join(w.page, "\n"), "Other (session 7)"), want, when+" the page shows it: %v")
		}
		shows("at first", func() {}, false)
		shows("as the other one changes it", func() { o.set(other, 1, w.path("a"), true) }, true)
		shows("as that is decided", func() { o.set(other, 1, w.path("a"), false) }, false)
		shows("as it is changed again", func() { o.set(other, 1, w.path("a"), true) }, true)
		shows("as the other one ends", ends.Close, false)
	})
}
