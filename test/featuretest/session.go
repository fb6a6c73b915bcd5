// Package featuretest is what unit tests of a feature stand on: a session without features, a Neovim that only
// listens, and an agent that the test answers for.
package featuretest

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// Session is session 1, of the agent Puppet. What has happened is listed in the order in which it did.
type Session struct {
	feature.Base
	Changes int // how often what Lua keeps was out of date
	conv    *session.Conversation
	t       *testing.T

	mu       sync.Mutex // guards the field below
	happened []string
}

// Play plays a test with a session, whose time is that of [synctest].
func Play(t *testing.T, play func(s *Session)) {
	t.Helper()
	cwd := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := &Session{conv: session.NewConversation(time.Now), t: t}
		nvim := editor.New(s)
		var work sync.WaitGroup
		s.Base = feature.Base{
			Session: 1, Agent: "puppet", Title: "Puppet", Folder: folder.Folder{Cwd: cwd, Roots: []string{cwd}},
			Box: mailbox.New(), Editor: nvim, Files: buffers.New(nil), Log: slog.New(slog.DiscardHandler), Background: work.Go,
			Remark:  func(severity, text string) { s.Did("remark", severity+":", text) },
			Event:   func(name string, data map[string]any) { s.Did("event", name, data) },
			Changed: func() { s.Changes++ },
		}
		work.Go(nvim.Run)
		work.Go(s.Box.Run)
		play(s)
		s.On(s.Box.Close)
		synctest.Wait()
		nvim.Close()
		work.Wait()
	})
}

// Conversation is what was said in the session.
func (s *Session) Conversation() *session.Conversation { return s.conv }

// On has the session's goroutine call f, and waits until nothing more happens by itself.
func (s *Session) On(f func()) {
	s.Box.Put(f)
	synctest.Wait()
	time.Sleep(time.Second) // Neovim is told of it
	synctest.Wait()
}

// Apply brings an update into the conversation, and notes it.
func (s *Session) Apply(u session.Update) {
	s.conv.Apply(u)
	switch u := u.(type) {
	case session.Remark:
		s.Remark(u.Severity, u.Text)
		if u.Detail != "" {
			s.Did("detail:", u.Detail)
		}
	case session.OptionsUpdate:
		s.Did("options", len(u.Options))
	case session.OptionSet:
		s.Did("option", u.ID, "=", u.Value)
	default:
		s.Did(fmt.Sprintf("%T", u))
	}
}

// Did notes that something has happened.
func (s *Session) Did(words ...any) {
	text := fmt.Sprintln(words...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.happened = append(s.happened, text[:len(text)-1])
}

// Note is a function that notes its calls.
func (s *Session) Note(words ...any) func() { return func() { s.Did(words...) } }

// Expect compares what has happened since it was called last.
func (s *Session) Expect(want ...string) {
	s.t.Helper()
	s.mu.Lock()
	got := s.happened
	s.happened = nil
	s.mu.Unlock()
	for i := range max(len(got), len(want)) {
		if i >= len(want) {
			s.t.Errorf("it happened: %q", got[i])
		} else if i >= len(got) {
			s.t.Errorf("it did not happen: %q", want[i])
		} else if got[i] != want[i] {
			s.t.Errorf("it happened: %q\n   expected: %q", got[i], want[i])
		}
	}
}

// Batch is what Neovim is told: notices, answers and operations. It hears them when the session has nothing to do: the
// clock stands still until then.
func (s *Session) Batch(ops []any) (answers []any, busy time.Duration, err error) {
	time.Sleep(time.Millisecond)
	for _, op := range ops {
		op := op.([]any)
		switch args := op[1].(type) {
		case rpc.Notify:
			s.Did("notice", args.Level+":", args.Text)
		case rpc.Callback:
			s.Did("answer", args.ID, args.Result, args.Error)
		case rpc.Session:
			s.Did("session")
		default:
			s.Did(op[0], fmt.Sprintf("%+v", args))
		}
		answers = append(answers, []any{true})
	}
	return answers, 0, nil
}
