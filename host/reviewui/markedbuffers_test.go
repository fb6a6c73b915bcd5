package reviewui

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// markedNvim is a Neovim that shows buffers with marks, of a host with one session and one file, /f.
type markedNvim struct {
	*Marks
	t      *testing.T
	editor *editor.Editor

	mu     sync.Mutex
	file   review.File
	asked  []bool                // whether the record was to look at the buffer
	silent bool                  // the record does not answer
	told   []string              // what Lua got, since it was asked last
	gone   bool                  // no buffer shows anything any more
	fails  error                 // of the next operation
	before func(piece rpc.Marks) // called when Lua gets a piece, before it answers
}

// withMarkedNvim plays a test in such a Neovim. It need not wait: synctest has the time.
func withMarkedNvim(t *testing.T, play func(n *markedNvim)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &markedNvim{t: t}
		n.editor = editor.New(n)
		var background sync.WaitGroup
		n.Marks = NewMarks(MarksConfig{
			Editor: n.editor, Log: slog.New(slog.DiscardHandler), Background: background.Go,
			Records: func() []MarkSource { return []MarkSource{{Session: 1, Title: "Agent", File: n.ask}} },
		})
		background.Go(n.editor.Run)
		defer background.Wait()
		defer n.editor.Close()
		play(n)
	})
}

func (n *markedNvim) ask(path string, look bool, done func(review.File)) {
	n.mu.Lock()
	f, silent := n.file, n.silent
	n.asked = append(n.asked, look)
	n.mu.Unlock()
	check.Equal(n.t, path, "/f", "the record was asked for %s")
	if !silent {
		done(f)
	}
}

// Batch takes pieces of marks.
func (n *markedNvim) Batch(ops []any) (answers []any, busy time.Duration, err error) {
	for _, op := range ops {
		piece := op.([]any)[1].(rpc.Marks)
		if n.before != nil {
			n.before(piece)
		}
		n.mu.Lock()
		for i := 0; i < len(piece.At); i += 2 {
			n.told = append(n.told, fmt.Sprintf("%d:%d", piece.At[i], piece.At[i+1]))
		}
		for _, m := range piece.Fresh {
			n.told = append(n.told, fmt.Sprintf("[%d]", m.ID))
		}
		if piece.Done {
			n.told = append(n.told, "done")
		}
		answer := []any{true, !n.gone}
		if n.fails != nil {
			answer, n.fails = []any{false, n.fails.Error()}, nil
		}
		n.mu.Unlock()
		answers = append(answers, answer)
	}
	return answers, 0, nil
}

// changes has the record have other changes of the file, without a word to anybody.
func (n *markedNvim) changes(before, after string) {
	f := recorded(n.t, "/f", before, after)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.file = f
}

// hears waits until nothing is on its way any more, and compares what Lua got since the last time: the id and line of
// each mark, and in brackets what it got of new ones.
func (n *markedNvim) hears(when, want string) {
	n.t.Helper()
	synctest.Wait()
	time.Sleep(time.Second)
	n.mu.Lock()
	defer n.mu.Unlock()
	check.Equal(n.t, strings.Join(n.told, " "), want, "%s Lua got %q", when)
	n.told = nil
}

var showF = rpc.ShowMarks{Buf: 7, Path: "/f", Number: 1}

// A buffer is told its marks when it begins to show them and whenever they change, each mark once.
func TestMarksAreToldWhenTheyChange(t *testing.T) {
	withMarkedNvim(t, func(n *markedNvim) {
		n.changes("a\nb\nc\nd\n", "A\nb\nC\nd\n")
		n.Changed("/f")
		n.hears("before a buffer shows any", "")
		n.Show(showF)
		n.hears("at first", "1:1 2:3 [1] [2] done")
		n.changes("x\na\nb\nc\nd\n", "x\nA\nb\nC\nd\n")
		n.Changed("/other")
		n.hears("for a change elsewhere", "")
		n.Changed("/f")
		n.hears("as they have moved", "1:2 2:4 done")
		n.changes("a\nb\nc\nd\n", "a\nb\nC\nD\n")
		n.Changed("/f")
		n.hears("for another change", "3:3 [3] done")
		n.file = review.File{}
		n.Changed("/f")
		n.hears("without changes", "done")

		n.changes("a\n", "b\n")
		look := showF
		look.Look = true
		n.Show(look)
		n.hears("after typing", "4:1 [4] done")
		check.Equal(t, fmt.Sprint(n.asked), "[false false false false true]", "the record was to look: %s")
		n.Show(rpc.ShowMarks{Buf: 7, Path: "/f", Number: 2})
		n.hears("as the buffer is read anew", "5:1 [5] done")
	})
}

// Many changes come in pieces one after the other, as long as the buffer wants them.
func TestManyMarksAreToldInTurn(t *testing.T) {
	withMarkedNvim(t, func(n *markedNvim) {
		const many = 2*changesAtOnce + 1
		n.changes(strings.Repeat("a\nb\n", many), strings.Repeat("a\nc\n", many))
		var got []string
		n.before = func(p rpc.Marks) {
			got = append(got, fmt.Sprint(p.Buf, " ", p.Number, " ", len(p.At)/2, " ", len(p.Fresh), " ", p.Looked, " ", p.Done))
			check.Equal(t, p.KnownBy, knownBy, "Lua is to compare %d bytes")
		}
		told := func(when, want string) {
			t.Helper()
			time.Sleep(time.Second)
			synctest.Wait()
			check.Equal(t, strings.Join(got, ", "), want, when+" Lua gets %s")
			got = nil
		}
		n.Show(showF)
		told("at first", "7 1 500 500 false false, 7 1 500 500 false false, 7 1 1 1 false true")
		look := showF
		look.Look = true
		n.Show(look)
		told("again", "7 1 500 0 true false, 7 1 500 0 true false, 7 1 1 0 true true")
		n.gone = true
		n.Changed("/f")
		told("when it is gone", "7 1 500 0 false false")
	})
}

// What changes while Lua is being told is told once, when that is done; whoever waits for all of it hears then.
func TestMarksAreToldOneStateAfterTheOther(t *testing.T) {
	withMarkedNvim(t, func(n *markedNvim) {
		n.changes("a\nb\n", "A\nb\n")
		n.Show(showF)
		n.hears("at first", "1:1 [1] done")
		var settled []string
		settle := func(name string) {
			n.Settled("/f", func() {
				n.mu.Lock()
				defer n.mu.Unlock()
				settled = append(settled, fmt.Sprint(name, " after ", strings.Join(n.told, " ")))
			})
		}
		settle("at once")
		first := true
		n.before = func(rpc.Marks) {
			if first {
				first = false
				n.changes("a\nb\n", "a\nB\n")
				n.Changed("/f")
				n.Changed("/f")
				settle("later")
			}
		}
		n.Changed("/f")
		n.hears("in the end", "1:1 done 2:2 [2] done")
		check.Equal(t, strings.Join(settled, "; "), "at once after ; later after 1:1 done 2:2 [2] done",
			"settled was %s")
	})
}

// What changes many times in a row is told once, after a pause; but whoever waits for it, and the user who types, waits
// for no pause.
func TestMarksThatChangeInARowAreToldOnce(t *testing.T) {
	withMarkedNvim(t, func(n *markedNvim) {
		var told atomic.Int32
		n.before = func(rpc.Marks) { told.Add(1) }
		change := func(i int) {
			n.changes("a\n", fmt.Sprint(i, "\n"))
			n.Changed("/f")
			synctest.Wait()
		}
		n.Show(showF)
		n.hears("at first", "done")
		for i := range 20 {
			change(i)
			time.Sleep(time.Millisecond)
		}
		check.Equal(t, told.Load(), 2, "Lua was told %d times, not at first and of the first change")
		n.hears("of twenty changes", "1:1 [1] done 2:1 [2] done")

		change(20)
		change(21)
		settled := false
		n.Settled("/f", func() { settled = true })
		synctest.Wait()
		if !settled || told.Load() != 5 {
			t.Errorf("who waits for the marks waits for a pause: settled %v, told %d times", settled, told.Load())
		}
		change(22)
		look := showF
		look.Look = true
		n.Show(look)
		synctest.Wait()
		check.Equal(t, told.Load(), 6, "the user's typing waits for a pause: told %d times")
		n.hears("in the end", "3:1 [3] done 4:1 [4] done 5:1 [5] done")
	})
}

// A buffer that shows nothing any more, or fails to, is not told again; nobody waits for it.
func TestMarksOfABufferThatHasGone(t *testing.T) {
	for name, end := range map[string]func(*markedNvim){
		"unwanted": func(n *markedNvim) { n.gone = true },
		"failing":  func(n *markedNvim) { n.fails = errors.New("no such buffer") },
	} {
		t.Run(name, func(t *testing.T) {
			withMarkedNvim(t, func(n *markedNvim) {
				n.changes("a\n", "A\n")
				n.Show(showF)
				n.hears("at first", "1:1 [1] done")
				end(n)
				settled := false
				n.before = func(rpc.Marks) { n.Settled("/f", func() { settled = true }) }
				n.Changed("/f")
				n.hears("for the last time", "1:1 done")
				n.Changed("/f")
				n.hears("later", "")
				if !settled {
					t.Error("whoever waited waits still")
				}
			})
		})
	}
}

// The record that was asked for marks may end and never answer.
func TestMarksOutliveASession(t *testing.T) {
	withMarkedNvim(t, func(n *markedNvim) {
		n.changes("a\n", "A\n")
		n.silent = true
		n.Show(showF)
		n.hears("of a record that does not answer", "")
		n.silent = false
		n.Changed("/f")
		n.hears("as one question is open", "")
		n.SessionClosed()
		n.hears("when a session has closed", "1:1 [1] done")
	})
}

// shown is a Neovim whose buffers are all still there.
type shown struct{}

func (shown) Batch(ops []any) (answers []any, busy time.Duration, err error) {
	return slices.Repeat([]any{[]any{true, true}}, len(ops)), 0, nil
}

// A buffer of a file that the agent moves, or that is no longer in the record, is looked at again, and its marks go.
func TestMarksOfFilesThatMove(t *testing.T) {
	play(t, func(w *world) {
		asked := 0
		nvim := editor.New(shown{})
		w.Background(nvim.Run)
		defer nvim.Close()
		w.review.config.Marks = NewMarks(MarksConfig{
			Editor: nvim, Log: w.Log, Background: w.Background,
			Records: func() []MarkSource {
				return []MarkSource{{Session: 1, File: func(_ string, _ bool, done func(review.File)) {
					asked++
					done(review.File{})
				}}}
			},
		})
		path, at := w.path("a"), review.File{ID: 1, Path: w.path("a"), Status: review.Modified, State: review.Pending}
		takes := func(what string, want int, changed []review.File, gone ...int) {
			t.Helper()
			asked = 0
			w.do(func() { w.review.Take(NewUpdate(changed, gone), true) })
			time.Sleep(time.Second)
			w.do(func() { check.Equal(t, asked, want, what+": it is looked at %d times") })
		}
		w.do(func() { w.review.config.Marks.Show(rpc.ShowMarks{Buf: 7, Path: path, Number: 1}) })
		takes("it changes", 1, []review.File{at})
		at.Path = w.path("b")
		takes("it moves", 1, []review.File{at})
		takes("it changes elsewhere", 0, []review.File{at})
		at.Path = path
		takes("it moves back", 1, []review.File{at})
		takes("it goes", 1, nil, 1)
		takes("another goes", 0, nil, 2)
	})
}
