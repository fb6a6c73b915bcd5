package reviewui

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/transcript"
	"github.com/acp-nvim/acp-nvim/test/featuretest"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// world is a session with the review of real files, and what its page shows.
type world struct {
	*featuretest.Session
	t      *testing.T
	review *Review
	ledger *ledger.Ledger
	store  *checkpoint.Store // nil: nothing is saved
	over   context.Context
	page   []string
	unable string    // why the agent gets no prompt
	tooBig bool      // for Neovim to compare
	ended  error     // of Neovim
	turn   bool      // one is open
	began  time.Time // the last one in which the agent has written something
}

// CallBuffers is a Neovim that has no file loaded, or that has ended.
func (w *world) CallBuffers(context.Context, string, any, any) error { return w.ended }

// disk is a watch of files that no buffer shows.
type disk struct{}

func (disk) Look(path string, _ bool, _ int64, done func(buffers.Seen, error)) {
	seen := buffers.Seen{Path: path}
	if data, err := os.ReadFile(path); err == nil {
		seen.Exists, seen.Text, seen.Form = true, buffers.Decoded(data), buffers.Form(data)
	}
	if info, err := os.Stat(path); err == nil {
		seen.Mode, seen.Disk = info.Mode().Perm(), buffers.DiskStateOf(info)
	}
	done(seen, nil)
}

func (disk) Finish(_ string, done func()) { done() }
func (disk) Settle(done func())           { done() }
func (disk) Heard(done func())            { done() }
func (disk) Loaded() []string             { return nil }
func (disk) Tracks() <-chan struct{} {
	tracks := make(chan struct{})
	close(tracks)
	return tracks
}

// play plays a test with a review in which the agent has changed nothing yet.
func play(t *testing.T, play func(w *world)) {
	t.Helper()
	featuretest.Play(t, func(s *featuretest.Session) {
		over, end := context.WithCancel(context.Background())
		defer end()
		w := &world{Session: s, t: t, over: over}
		w.begin()
		play(w)
		s.On(w.ledger.Close)
	})
}

// begin gives the session a review in which the agent has changed nothing yet.
func (w *world) begin() {
	w.ledger = ledger.New(ledger.Config{
		Roots: w.Roots, Inside: func(path string) bool { return folder.Inside(path, w.Roots) }, Absolute: w.Absolute, Short: w.Short,
		Watch: func() ledger.Watch { return disk{} }, Files: buffers.New(w),
		Store: w.store, Saves: saved.NewSessions(saved.SessionsConfig{Store: w.store, Background: w.Background}),
		Claimed: func(string) bool { return false }, Others: func(string, review.Content) {},
		Put: w.Box.Put, Hurry: func() {}, Lacks: func(ledger.Lack) {},
		Changed: func(files []review.File, gone []int, _ []ledger.Event) {
			update := NewUpdate(files, gone)
			w.Box.Put(func() { w.review.Take(update, true) })
		},
		Background: w.Background, Over: w.over, Log: w.Log,
	})
	w.review = New(Config{
		Base: w.Base, Ledger: w.ledger, Overlaps: &Overlaps{}, Marks: NewMarks(MarksConfig{}),
		ConversationTitle: func() string { return "" },
		TurnOpen:          func() bool { return w.turn },
		Unable:            func() string { return w.unable },
		Send: func(text string) bool {
			w.Did("sent", text)
			return false
		},
		Due:    func(transcript.Due, bool) {},
		DueKey: func() (string, bool) { return "", false },
		Hurry:  func() {},
		Edit: func(e page.Edit) rpc.Edit {
			w.page = slices.Replace(w.page, e.Row, e.EndRow, e.Lines...)
			return rpc.Edit{}
		},
		Draw: func(_ interface{ Reset() }, edit editor.Op) editor.Op { return edit },
		Fill: func(_ int, lines []styled.Line) {
			for _, l := range lines {
				w.Did("filled", l.Text)
			}
		},
		TooLarge: func(int, int) bool { return w.tooBig },
	})
	w.Background(w.ledger.Run)
}

// resume closes the session, and opens it again with a review of nothing yet.
func (w *world) resume() {
	w.On(w.ledger.Close)
	w.begin()
}

// path is that of a file in the session's folder.
func (w *world) path(name string) string { return filepath.Join(w.Cwd, name) }

// writes has the agent write a file, "" for a removal, in a turn of its own.
func (w *world) writes(name, text string) {
	w.t.Helper()
	path := w.path(name)
	told := buffers.Written{Path: path, Changed: true, After: &text}
	if was, err := os.ReadFile(path); err == nil {
		before := string(was)
		told.Before = &before
	} else {
		told.Created = true
	}
	w.On(func() {
		w.began = time.Now()
		w.ledger.BeginTurn("", func() {})
	})
	if text == "" {
		told.After, told.Deleted = nil, true
		must.Do(w.t, os.Remove(path))
	} else {
		must.Write(w.t, w.Cwd, name, text)
	}
	w.On(func() { w.ledger.Took(told, "fs", false) })
	w.On(func() { w.ledger.EndTurn(func() {}) })
	w.draw()
}

// do has the session do something, and Neovim draw what comes of it.
func (w *world) do(f func()) {
	w.On(f)
	w.draw()
}

// draw has Neovim draw the page, and answers those who wait for that.
func (w *world) draw() {
	for more := true; more; {
		w.On(func() {
			for _, op := range w.review.Tab.Edits(1 << 20) {
				if _, drawn := op.Args.(rpc.ReviewEdit); !drawn {
					w.Editor.Post(op)
				}
			}
			more = w.review.Tab.Dirty()
		})
	}
}

// takes brings what a record has into the review, as if the ledger had told of it.
func (w *world) takes(r *review.Record) {
	update := NewUpdate(r.Take())
	w.do(func() { w.review.Take(update, true) })
}

// open opens the page.
func (w *world) open() {
	w.page = nil
	w.do(func() { w.review.Tab.Open(rpc.ReviewOpen{}) })
	w.Expect("answer 0 true ")
}

// at is the row of the page that begins with some words, apart from its signs.
func (w *world) at(words string) rpc.At {
	w.t.Helper()
	for i, l := range w.page {
		if strings.HasPrefix(strings.Join(strings.Fields(l), " "), words) {
			return rpc.At{Row: i, Seq: w.review.Tab.page.Seq()}
		}
	}
	w.t.Fatalf("no row is %q of\n%s", words, strings.Join(w.page, "\n"))
	panic("unreachable")
}

// row is the number of such a row.
func (w *world) row(words string) int { return w.at(words).Row }
