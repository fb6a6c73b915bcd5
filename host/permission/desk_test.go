package permission

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/calldiff"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/freshness"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// desk is the requests of a session in a folder, of a Neovim that has no buffers. All that a test starts is done when
// settle returns.
type desk struct {
	*Requests
	t     *testing.T
	dir   string
	conv  *session.Conversation
	diffs *calldiff.Diffs

	policy          atomic.Pointer[policy.Policy]
	before          atomic.Bool   // writes wait for the user
	saves           chan struct{} // if set, what a write has made is saved when it is closed
	due             atomic.Bool   // Neovim is to be told
	watch           *buffers.Watch
	typed           string        // the path of a file of which a buffer has unsaved text
	userWrote       string        // the path of a file without a buffer, which the user wrote in Neovim as it is
	saving          chan struct{} // if set, the autocommands on saving that buffer end when it is closed
	silent          chan struct{} // if set, Neovim answers nothing about buffers before it is closed
	ready, stopping bool

	telling   sync.Mutex // of what files become, from any goroutine
	ended     map[*session.ToolCall]bool
	said      []string         // in the chat
	prompts   []string         // put first in the queue
	cancels   int              // of the turn
	reviewed  map[string]bool  // by path, whether the last write was as the user was shown
	reads     []string         // what is told of the agent's reads
	moved     []string         // from and to
	followed  []string         // the paths of edits that the follower was told of
	asks      []rpc.Permission // the requests that wait, as Lua was told last
	events    []string         // names and data
	notes     []string         // level and text
	callbacks map[int][]any    // by callback, the result and the error
}

// atDesk plays a test in a folder with a file a.txt of nine lines, before whose writes the user is asked.
func atDesk(t *testing.T, play func(d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		must.Write(t, d.dir, "a.txt", nine)
		play(d)
		d.settle()
	})
}

// newDesk is a desk in an empty folder, for a test whose clock is the real one too.
func newDesk(t *testing.T) *desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	d := &desk{
		t: t, dir: dir, conv: session.NewConversation(time.Now), ready: true, ended: map[*session.ToolCall]bool{},
		reviewed: map[string]bool{}, callbacks: map[int][]any{},
	}
	d.before.Store(true)
	var work sync.WaitGroup
	nvim := editor.New(d)
	base := feature.Base{
		Session: 1, Agent: "puppet", Title: "Puppet", Folder: folder.Folder{Cwd: dir, Roots: []string{dir}},
		Box: mailbox.New(), Editor: nvim, Files: buffers.New(d), Log: slog.New(slog.DiscardHandler), Background: work.Go,
		Remark: func(_, text string) { d.said = append(d.said, text) },
		Event: func(name string, data map[string]any) {
			name = strings.TrimPrefix(name, "AcpPermission")
			d.events = append(d.events, strings.TrimSpace(fmt.Sprintln(name, data["option_id"], data["by"])))
		},
		Changed: func() { d.due.Store(true) },
	}
	d.diffs = calldiff.New(base, calldiff.Config{Mark: func() {}, Idle: func() {}, Found: func(call *session.ToolCall) {
		if d.Located(call) {
			base.Changed()
		}
	}})
	ids := int64(0)
	d.Requests = New(base, Config{
		ID:           func() int64 { ids++; return ids },
		Policy:       d.policy.Load,
		ReviewBefore: d.before.Load,
		Diffs:        d.diffs,
		Known:        freshness.New(base, func() *buffers.Watch { return d.watch }),
		ToolCall:     d.conv.ToolCall,
		GoesOn:       d.conv.GoesOn,
		Apply:        d.apply,
		Ready:        func() bool { return d.ready },
		Stopping:     func() bool { return d.stopping },
		Cancel:       func() { d.cancels++ },
		Prompt:       func(text string) { d.prompts = append(d.prompts, text) },
		Alert: func(severity, text, brief string) {
			d.said = append(d.said, text)
			d.notes = append(d.notes, severity+": "+brief)
		},
		RemarkOnce: func(text string) {
			if !slices.Contains(d.said, text) {
				d.said = append(d.said, text)
			}
		},
		Asks:  func() { d.told(func() { d.reads = append(d.reads, "asks") }) },
		Reads: func(session.ReadTextFile) { d.told(func() { d.reads = append(d.reads, "may") }) },
		Noted: func(then func()) {
			if d.saves != nil {
				<-d.saves
			}
			then()
		},
		Took: func(w buffers.Written, _ string, reviewed bool) { d.told(func() { d.reviewed[w.Path] = reviewed }) },
		Edits: func(path string, _ buffers.Written) {
			d.told(func() { d.followed = append(d.followed, filepath.Base(path)) })
		},
		Moved: func(gone, made buffers.Written) {
			d.told(func() { d.moved = append(d.moved, filepath.Base(gone.Path), filepath.Base(made.Path)) })
		},
	})
	work.Go(nvim.Run)
	work.Go(base.Box.Run)
	t.Cleanup(func() {
		base.Box.Close()
		nvim.Close()
		work.Wait()
	})
	return d
}

// Batch is Neovim's end of the editor.
func (d *desk) Batch(ops []any) ([]any, time.Duration, error) {
	answers := make([]any, len(ops))
	for i, op := range ops {
		switch args := op.([]any)[1].(type) {
		case rpc.Notify:
			d.notes = append(d.notes, args.Level+": "+args.Text)
		case rpc.Callback:
			d.callbacks[args.ID] = []any{args.Result, args.Error}
		}
		answers[i] = []any{true, map[string]any{}}
	}
	return answers, 0, nil
}

// CallBuffers is Neovim's end of the buffers: it has one at most.
func (d *desk) CallBuffers(ctx context.Context, fn string, args, result any) error {
	switch {
	case fn == "write" && d.saving != nil:
		return json.Unmarshal([]byte(`{"Save": 1}`), result)
	case fn == "save":
		<-d.saving
		return nil
	}
	if of, ok := args.(map[string]any); ok && of["path"] == d.userWrote {
		info, err := os.Stat(d.userWrote)
		if err != nil {
			return err
		}
		at := info.ModTime()
		return json.Unmarshal(fmt.Appendf(nil, `{"Written": {"Exists": true, "Sec": %d, "Nsec": %d, "Size": %d}}`, at.Unix(), at.Nanosecond(), info.Size()), result)
	}
	if of, ok := args.(map[string]any); ok && of["path"] == d.typed {
		return json.Unmarshal([]byte(`{"Buf": 7, "Modified": true, "Modifiable": true, "Lines": 1, "Slice": {"Text": "mine", "Last": 1, "Ended": true}}`), result)
	}
	if d.silent == nil {
		return nil
	}
	select {
	case <-d.silent:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// told takes down what is told of a file.
func (d *desk) told(f func()) {
	d.telling.Lock()
	defer d.telling.Unlock()
	f()
}

// on runs f on the session's goroutine.
func (d *desk) on(f func()) {
	done := make(chan struct{})
	d.base.Box.Put(func() { f(); close(done) })
	<-done
}

// apply brings an update into the conversation.
func (d *desk) apply(u session.Update) {
	d.conv.Apply(u)
	for _, call := range d.conv.TakeTouched() {
		if status := call.Shown(); status.Finished() && !d.ended[call] {
			d.ended[call] = true
			d.CallEnded(call, status)
		}
		d.diffs.Observe(call)
	}
}

// update brings in what the agent says of a call.
func (d *desk) update(u session.ToolCallPatch) {
	d.apply(u)
	d.Observe(u)
	d.base.Changed()
}

// remarks are the client's sentences in the chat.
func (d *desk) remarks() (text string) {
	d.on(func() {
		for _, said := range d.said {
			text += said + "\n"
		}
	})
	return text
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
	d.base.Box.Put(func() {
		if d.due.Swap(false) {
			if list, changed := d.Take(); changed {
				d.asks = list
			}
			if list, changed := d.Take(); changed {
				d.t.Errorf("told that, Neovim is told %+v", list)
			}
		}
		check.Equal(d.t, len(d.asks), d.Waiting(), "%d requests are told")
	})
	synctest.Wait()
}

// rules has the policy decide by rules, and by a file of answers.
func (d *desk) rules(private []string, list ...rules.Rule) *answers.Store {
	kept := answers.Open(filepath.Join(d.t.TempDir(), "answers.json"))
	d.policy.Store(policy.New(rules.List{Private: private, Rules: list}, kept))
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
	d.Write(session.WriteTextFile{Context: ctx, Path: name, Text: text, Reply: func(err error) {
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
func (d *desk) open() (p *request) {
	d.on(func() {
		if list := d.queue.waiting(); len(list) > 0 {
			p = list[0]
		}
	})
	return p
}

// shows is what Neovim was told of the oldest request.
func (d *desk) shows() (snap rpc.Permission) {
	d.t.Helper()
	d.settle()
	if len(d.asks) == 0 {
		d.t.Fatal("nothing waits for the user")
	}
	return d.asks[0]
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
	d.on(func() { d.Respond(p.id, option) })
	d.settle()
}

// selects has the user refuse hunks of the oldest request, or keep them, and gives what Lua hears.
func (d *desk) selects(first, last int, refuse bool, looked ...int) any {
	d.t.Helper()
	p := d.open()
	m := rpc.SelectHunks{Asks: rpc.Asks{Callback: 99}, Permission: int(p.id), File: 1, First: first, Last: last, Refuse: refuse}
	d.on(func() {
		m.Looked = d.diffs.Changes(&p.call)[0].Looked
		if len(looked) > 0 {
			m.Looked = looked[0]
		}
		d.SelectHunks(m)
	})
	d.settle()
	return d.called(99)[0]
}

// called is what a callback of Lua's was given, result and error, or nil; it forgets that.
func (d *desk) called(id int) []any {
	d.settle()
	got := d.callbacks[id]
	delete(d.callbacks, id)
	return got
}

// noted is what the user was told, which it forgets.
func (d *desk) noted() string {
	d.settle()
	notes := strings.Join(d.notes, "\n")
	d.notes = nil
	return notes
}

func (d *desk) says(words string) {
	d.t.Helper()
	if said := d.remarks(); !strings.Contains(said, words) {
		d.t.Errorf("the chat has %q, nothing of %q", said, words)
	}
}

func replacing(path, old, text string) session.Diff {
	return session.Diff{Operation: session.OperationModify, Path: path, OldText: &old, NewText: &text}
}
