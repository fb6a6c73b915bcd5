package reviewui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/turns"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// An undo stops when the user says so, and doing a turn again does not.
func TestAnUndoIsStopped(t *testing.T) {
	r := &Review{undo: &undo{}}
	notify := func(text string) { t.Errorf("at once it says %q", text) }
	undo, redo := r.undo.goOn(false, notify), r.undo.goOn(true, notify)
	if !undo(1, 2) || !redo(1, 2) {
		t.Error("it stops by itself")
	}
	if !r.StopUndo() || undo(1, 2) || !redo(1, 2) {
		t.Error("it is not as the user says")
	}
	r.undo.over.Store(true)
	if r.StopUndo() || (&Review{}).StopUndo() {
		t.Error("there is nothing to stop")
	}
}

// What is undone comes back, what is done again does not.
func TestWhatBecomesOfFiles(t *testing.T) {
	text, opaque := review.Content{Exists: true, Text: "a\n"}, review.Content{Exists: true, Opaque: true, Text: "x"}
	of := func(text string) review.Content { return review.Content{Exists: true, Text: text} }
	windows := of("a\n")
	windows.Form = "utf-8 dos"
	private, open, other := windows, text, of("b\n")
	private.Mode, open.Mode, other.Mode = 0o600, 0o644, 0o644
	moved := turns.Step{Now: text, Want: text, Back: "/c"}
	for _, test := range []struct {
		step        turns.Step
		undo, again string
	}{
		{moved, "goes back to /c", "is moved to /c"},
		{turns.Step{Want: text}, "comes back", "is made again"},
		{turns.Step{Now: text}, "is removed", "is removed"},
		{turns.Step{Now: text, Want: opaque}, "gets its contents back", "gets its new contents again"},
		{turns.Step{Now: opaque, Want: text}, "gets its contents back", "gets its new contents again"},
		{turns.Step{Now: text, Want: review.Content{Exists: true, Text: "b\n"}}, "+1 −1", "+1 −1"},
		{turns.Step{Now: of("1\n2\n3\n4\n5\n"), Want: of("0\n1\n2\n3\nfour\n")}, "+2 −2", "+2 −2"},
		{turns.Step{Now: text, Want: windows}, "line ends LF → CRLF", "line ends LF → CRLF"},
		{turns.Step{Now: other, Want: private}, "+1 −1, line ends LF → CRLF, permissions 644 → 600",
			"+1 −1, line ends LF → CRLF, permissions 644 → 600"},
		{turns.Step{Now: open, Want: private}, "line ends LF → CRLF, permissions 644 → 600", "line ends LF → CRLF, permissions 644 → 600"},
		{turns.Step{Now: of("b\n"), Want: windows}, "+1 −1, line ends LF → CRLF", "+1 −1, line ends LF → CRLF"},
		{turns.Step{Now: text, Want: of("b\n"), Note: "was changed since"}, "was changed since", "was changed since"},
		{turns.Step{Of: turns.FileChange{Under: true}, Now: text, Want: of("b\n"), Note: "was changed since"}, "was changed since", "was changed since"},
		{turns.Step{Of: turns.FileChange{Under: true}, Now: text, Want: review.Content{Exists: true}}, "+0 −1 on the disk, under your unsaved text", "+0 −1 on the disk, under your unsaved text"},
	} {
		for again, want := range map[bool]string{false: test.undo, true: test.again} {
			short := func(path string) string { return path }
			check.Equal(t, stepLines([]turns.Step{test.step}, again, short)[0].What, want, "again: %t, %+v", again, test.step)
		}
	}
}

// An undo that takes long says now and then how far it is, and how it is stopped.
func TestAnUndoSaysHowFarItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for again, want := range map[bool][]string{
			false: {"undoing: 1,500 of 2,000 files, :Acp cancel stops it", "undoing: 1,800 of 2,000 files, :Acp cancel stops it"},
			true:  {"redoing: 1,500 of 2,000 files", "redoing: 1,800 of 2,000 files"},
		} {
			var said []string
			goOn := (&undo{}).goOn(again, func(text string) { said = append(said, text) })
			for _, at := range []struct {
				after time.Duration
				did   int
			}{{time.Second, 1000}, {time.Millisecond, 1500}, {3 * time.Second, 1700}, {time.Millisecond, 1800}} {
				time.Sleep(at.after)
				goOn(at.did, 2000)
			}
			check.Slice(t, said, want, "it says %q")
		}
	})
}

// An undo takes back a turn, and tells what came of it; the turn is not running any more.
func TestUndoIsAnswered(t *testing.T) {
	play(t, func(w *world) {
		undo := func(m rpc.Undo) { w.do(func() { w.review.Undo(m) }) }
		undo(rpc.Undo{})
		w.Expect("answer 0 <nil> Nothing to undo.")
		must.Write(t, w.Cwd, "a", "1\n")
		w.writes("a", "one\n")
		w.turn = true
		undo(rpc.Undo{})
		w.Expect("answer 0 <nil> the turn is still running: :Acp cancel ends it")
		w.turn = false
		file := "{" + w.path("a") + " a +1 −1 false false []}"
		undo(rpc.Undo{Preview: true})
		w.Expect("answer 0 " + undone(w.began, false, file, "--- a/a +++ b/a @@ -1 +1 @@ -one +1", ""))
		undo(rpc.Undo{})
		w.Expect("answer 0 " + undone(w.began, false, file, "", ""))
		w.now("a", "1\n")
		undo(rpc.Undo{Again: true})
		w.Expect("answer 0 " + undone(w.began, true, file, "", ""))
		w.now("a", "one\n")

		// To look at it, or to do it again, is nothing to stop.
		for m, told := range map[rpc.Undo]string{
			{Preview: true}: undone(w.began, false, file, "--- a/a +++ b/a @@ -1 +1 @@ -one +1", ""),
			{Again: true}:   "<nil> Nothing to redo.",
		} {
			w.On(func() {
				ready := make(chan struct{})
				w.ledger.Then(func() { <-ready })
				w.review.Undo(m)
				check.Equal(t, w.review.StopUndo(), false, "it can be stopped: %v")
				close(ready)
			})
			w.Expect("answer 0 " + told)
		}

		// What it could not do, and that the user has stopped it.
		w.On(func() {
			ready := make(chan struct{})
			w.ledger.Then(func() { <-ready })
			w.review.Undo(rpc.Undo{})
			if !w.review.StopUndo() {
				t.Error("there is nothing to stop")
			}
			close(ready)
		})
		w.Expect("answer 0 " + undone(w.began, false, "{"+w.path("a")+" a not reached true false []}", "", "You stopped it; :Acp undo goes on."))
		// The next one takes long, and then Neovim ends.
		w.On(func() {
			w.ended = errors.New("Neovim has ended")
			w.ledger.Then(func() { time.Sleep(2 * tellsFirst) })
			w.review.Undo(rpc.Undo{})
		})
		time.Sleep(2 * tellsFirst)
		w.Expect("notice info: undoing: 0 of 1 files, :Acp cancel stops it",
			"answer 0 "+undone(w.began, false, "{"+w.path("a")+" a could not be changed true false []}", "", "a: Neovim has ended."))
	})
}

// The preview of an undo shows text that becomes another, and of much text the beginning.
func TestWhatAnUndoShows(t *testing.T) {
	text := func(s string) review.Content { return review.Content{Exists: true, Text: s} }
	lines := func(n int) review.Content { return text(strings.Repeat("line\n", n)) }
	step := func(path string, now, want review.Content) turns.Step {
		return turns.Step{Of: turns.FileChange{Path: path}, Now: now, Want: want}
	}
	short := func(path string) string { return strings.TrimPrefix(path, "/p/") }
	noted := step("/p/noted", text("a\n"), text("b\n"))
	noted.Note = "was changed since"
	moved := step("/p/new", text("a\n"), text("b\n"))
	moved.Back = "/p/old"
	opaque := review.Content{Exists: true, Opaque: true, Text: "1"}
	got := stepDiff([]turns.Step{
		noted, step("/p/same", text("a\n"), text("a\n")), step("/p/image", opaque, text("a\n")), step("/p/picture", text("a\n"), opaque),
		moved, step("/p/gone", review.Content{}, text("c\n")), step("/p/made", text("d\n"), review.Content{}),
	}, short)
	check.Slice(t, got, []string{
		"--- a/new", "+++ b/old", "@@ -1 +1 @@", "-a", "+b", "--- /dev/null", "+++ b/gone", "@@ -0,0 +1 @@", "+c",
		"--- a/made", "+++ /dev/null", "@@ -1 +0,0 @@", "-d",
	}, "it is %q")
	for n, more := range map[int]string{
		mostPreviewed - 3: "+line", mostPreviewed - 2: "… 1 more line", mostPreviewed - 1: "… 2 more lines",
	} {
		got := stepDiff([]turns.Step{step("/p/a", text(""), lines(n))}, short)
		if last := got[len(got)-1]; last != more || len(got) > mostPreviewed+1 {
			t.Errorf("of %d lines it shows %d, and then %q", n, len(got), last)
		}
	}
}

// undone is what Lua is told of an undo.
func undone(began time.Time, again bool, file, diff, failed string) string {
	return fmt.Sprintf("{ %d %t [%s] [%s] true %s} ", began.UnixNano(), again, file, diff, failed)
}
