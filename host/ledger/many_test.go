package ledger

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
)

// A command changes more than the texts that are kept in memory: all of it is listed, refused, undone and done again.
func TestMoreThanTheRecordHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const files = 50
	text := func(i int, does string) string {
		return does + "\n" + strings.Repeat(fmt.Sprintf("a line of file %d\n", i), 50_000) // 900 KB
	}
	for i := range files {
		w.write(fmt.Sprint("f", i), text(i, "was"))
	}
	first := w.tree()
	w.begin()
	for i := range files {
		w.write(fmt.Sprint("f", i), text(i, "is"))
	}
	w.ledger.Worked()
	w.end()
	last := w.tree()
	if got := strings.Count(w.changes(), "modified"); got != files {
		t.Errorf("%d files are listed", got)
	}
	if err := w.undo(false); err != nil || w.tree() != first {
		t.Errorf("undone it is not as before: %v", err)
	}
	if got := w.changes(); got != "" {
		t.Errorf("undone there is %s", got)
	}
	if err := w.undo(true); err != nil || w.tree() != last {
		t.Errorf("done again it is not as after the turn: %v", err)
	}
	if n, err := w.refuse(nil); err != nil || n != files || w.tree() != first {
		t.Errorf("%d refused, it is not as before: %v", n, err)
	}
}

// A call names many files, and they are looked at again at the end of the turn.
func TestManyNamedFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	files := 3000
	if testing.Short() {
		files = 300
	}
	var names []string
	for i := range files {
		names = append(names, fmt.Sprintf("d%d/f%d", i%10, i))
		w.write(names[i], fmt.Sprintln("was", i))
	}
	first := w.tree()
	w.begin()
	w.call(session.KindEdit, func() {
		for i, name := range names {
			w.write(name, fmt.Sprintln("is", i))
		}
	}, names...)
	w.end()
	if got := strings.Count(w.changes(), "modified"); got != files {
		t.Errorf("%d files are listed", got)
	}
	if err := w.undo(false); err != nil || w.tree() != first {
		t.Errorf("undone it is not as before: %v", err)
	}
}

// Of contents without a text only those that may have to be put back are saved, and few others are known.
func TestOldContentsAreForgotten(t *testing.T) {
	w := newWorld(t)
	binary := func(i int) string { return fmt.Sprint("\x00", i) }
	w.write("f", binary(0))
	const turns = 80
	for i := range turns {
		w.begin()
		w.write("f", binary(i+1))
		w.ledger.Worked()
		w.end()
	}
	w.sync()
	done := make(chan struct{})
	w.ledger.box.Put(func() {
		defer close(done)
		for i := range spareOriginals {
			w.ledger.originals.of[version{Mark: fmt.Sprint(i)}] = checkpoint.Sum{1}
		}
		if n := len(w.ledger.toSave().Originals); n == 0 || n > 60 {
			t.Errorf("%d contents are saved after %d turns", n, turns)
		}
		w.ledger.trim()
		if n := len(w.ledger.originals.of); n > 60 {
			t.Errorf("%d contents are known", n)
		}
	})
	<-done
	for range 3 {
		if err := w.undo(false); err != nil {
			t.Error(err)
		}
	}
	if got := w.sees("f"); got != binary(turns-3) {
		t.Errorf("three turns undone there is %q", got)
	}
}
