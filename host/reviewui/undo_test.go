package reviewui

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/turns"
	"github.com/acp-nvim/acp-nvim/test/check"
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
	moved := turns.Step{Now: text, Want: text, Back: "/c"}
	for _, test := range []struct {
		step        turns.Step
		undo, again string
	}{
		{moved, "goes back to /c", "is moved to /c"},
		{turns.Step{Want: text}, "comes back", "is made again"},
		{turns.Step{Now: text}, "is removed", "is removed"},
		{turns.Step{Now: text, Want: opaque}, "gets its contents back", "gets its new contents again"},
		{turns.Step{Now: text, Want: review.Content{Exists: true, Text: "b\n"}}, "+1 −1", "+1 −1"},
		{turns.Step{Of: turns.FileChange{Under: true}, Now: text, Want: review.Content{Exists: true}}, "+0 −1 on the disk, under your unsaved text", "+0 −1 on the disk, under your unsaved text"},
	} {
		for again, want := range map[bool]string{false: test.undo, true: test.again} {
			short := func(path string) string { return path }
			check.Equal(t, stepLines([]turns.Step{test.step}, again, short)[0].What, want, "again: %t, %+v", again, test.step)
		}
	}
}
