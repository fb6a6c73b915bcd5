package host

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/rules"
)

// desk is a session in a folder, of a Neovim that has no buffers and tells what it is asked to do. All that a
// test starts is done when settle returns.
type desk struct {
	*Session
	t    *testing.T
	dir  string
	nvim *hearing
}

// hearing is a Neovim that keeps what it is told.
type hearing struct {
	notes     []string // level and text
	callbacks map[int][]any
	asks      []rpc.Permission // the requests that wait, as it was told last
	events    []string         // names and data of permissions
}

func (l *hearing) Batch(ops []any) ([]any, time.Duration, error) {
	answers := make([]any, len(ops))
	for i, op := range ops {
		op := op.([]any)
		switch args := op[1].(type) {
		case rpc.Notify:
			l.notes = append(l.notes, args.Level+": "+args.Text)
		case rpc.Permissions:
			l.asks = args.Permissions
		case rpc.Events:
			for _, e := range args.Events {
				if name, ok := strings.CutPrefix(e.Name, "AcpPermission"); ok {
					l.events = append(l.events, strings.TrimSpace(fmt.Sprintln(name, e.Data["option_id"], e.Data["by"])))
				}
			}
		case rpc.Callback:
			l.callbacks[args.ID] = []any{args.Result, args.Error}
		}
		answers[i] = []any{true, map[string]any{}}
	}
	return answers, 0, nil
}

// atDesk plays a test in a folder with a file a.txt of nine lines, before whose writes the user is asked.
func atDesk(t *testing.T, play func(d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		nvim := &hearing{callbacks: map[int][]any{}}
		h := newHost(Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, nvim)
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		h.work.Go(h.editor.Run)
		h.reviewBefore.Store(true)
		s := newSession(h, 1, AgentSpec{Name: "puppet", Title: "Puppet"}, dir)
		h.loops.Go(s.base.Box.Run)
		h.loops.Go(s.ledger.Run)
		d := &desk{s, t, dir, nvim}
		write(t, dir, "a.txt", nine)
		d.on(func() { s.phase = ready })
		t.Cleanup(func() {
			s.ledger.Close()
			s.base.Box.Close()
			h.shutdown()
		})
		play(d)
		d.settle()
	})
}

const nine = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"

// nineBut is the text of a.txt with other lines: their number, and the text in its place.
func nineBut(lines ...string) string {
	text := nine
	for i := 0; i < len(lines); i += 2 {
		text = strings.Replace(text, lines[i]+"\n", lines[i+1], 1)
	}
	return text
}

// settle waits until nothing is left to be done, and to be told.
func (d *desk) settle() {
	synctest.Wait()
	time.Sleep(time.Second) // of the test's own clock
	synctest.Wait()
}

// rules has requests decided about by rules, and by a file of answers.
func (d *desk) rules(private []string, list ...rules.Rule) *answers.Store {
	kept := answers.Open(filepath.Join(d.t.TempDir(), "answers.json"))
	d.host.policy.Store(policy.New(rules.List{Private: private, Rules: list}, kept))
	return kept
}

// stored is the answer to a write of the agent's: nil before there is one.
type stored struct {
	answered int
	err      error
	withdraw context.CancelFunc
}

// store has the agent write a file.
func (d *desk) store(name, text string) *stored {
	d.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	got := &stored{withdraw: cancel}
	if !filepath.IsAbs(name) {
		name = filepath.Join(d.dir, name)
	}
	d.writeTextFile(session.WriteTextFile{Context: ctx, Path: name, Text: text, Reply: func(err error) {
		got.answered++
		got.err = err
	}})
	d.settle()
	return got
}

// is fails the test where a write is not answered with these words, "" for none.
func (d *desk) is(got *stored, words ...string) {
	d.t.Helper()
	switch {
	case got.answered != 1:
		d.t.Errorf("it is answered %d times", got.answered)
	case words[0] == "" && got.err != nil:
		d.t.Errorf("it fails: %v", got.err)
	case got.err == nil && words[0] != "":
		d.t.Errorf("it is written, without a word of %q", words)
	case words[0] != "":
		for _, w := range words {
			if !strings.Contains(got.err.Error(), w) {
				d.t.Errorf("the agent hears %q, nothing of %q", got.err, w)
			}
		}
	}
}

// waits fails the test where a write is answered already.
func (d *desk) waits(got *stored) {
	d.t.Helper()
	if got.answered > 0 {
		d.t.Errorf("it is answered: %v", got.err)
	}
}

// has fails the test where a file has another text.
func (d *desk) has(name, want string) {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil || string(data) != want {
		d.t.Errorf("%s has %q, %v; want %q", name, data, err, want)
	}
}

// open is the oldest request that waits for the user, or nil where none does.
func (d *desk) open() (p *permission) {
	d.on(func() {
		if list := d.permissions.waiting(); len(list) > 0 {
			p = list[0]
		}
	})
	return p
}

// shows is what Neovim was told of the oldest request.
func (d *desk) shows() (snap rpc.Permission) {
	d.t.Helper()
	d.settle()
	if len(d.nvim.asks) == 0 {
		d.t.Fatal("nothing waits for the user")
	}
	return d.nvim.asks[0]
}

// text is the lines of the float.
func (d *desk) text() string {
	d.t.Helper()
	return strings.Join(d.shows().Lines, "\n")
}

// answer gives the oldest request an option.
func (d *desk) answer(option string) {
	d.t.Helper()
	p := d.open()
	if p == nil {
		d.t.Fatal("nothing waits for the user")
	}
	d.on(func() { d.respond(p.id, option) })
	d.settle()
}

// picks has the user refuse hunks of the oldest request, or keep them, and gives what Lua hears.
func (d *desk) picks(first, last int, refuse bool, looked ...int) any {
	d.t.Helper()
	p := d.open()
	m := rpc.Pick{Asks: rpc.Asks{Callback: 99}, Permission: int(p.id), File: 1, First: first, Last: last, Refuse: refuse}
	d.on(func() {
		m.Looked = d.diffs.Changes(&p.call)[0].Looked
		if len(looked) > 0 {
			m.Looked = looked[0]
		}
		d.pick(m)
	})
	d.settle()
	return d.called(99)[0]
}

// called is what a callback of Lua's was given, result and error, or nil; it forgets that.
func (d *desk) called(id int) []any {
	d.settle()
	got := d.nvim.callbacks[id]
	delete(d.nvim.callbacks, id)
	return got
}

// noted is what the user was told, which it forgets.
func (d *desk) noted() string {
	d.settle()
	notes := strings.Join(d.nvim.notes, "\n")
	d.nvim.notes = nil
	return notes
}

// state is what the record has of a file.
func (d *desk) state(name string) (state review.State) {
	d.settle()
	d.ledger.File(filepath.Join(d.dir, name), false, func(f review.File) { state = f.State })
	d.settle()
	return state
}

func (d *desk) says(words string) {
	d.t.Helper()
	if said := d.remarks(); !strings.Contains(said, words) {
		d.t.Errorf("the chat has %q, nothing of %q", said, words)
	}
}
