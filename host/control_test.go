package host

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// aloneSession is a session whose host has no Neovim, in a bubble of synctest.
func aloneSession(t *testing.T) *Session { return sessionIn(t, "/") }

// sessionIn is aloneSession in a folder.
func sessionIn(t *testing.T, cwd string) *Session {
	h := newHost(Options{Version: "test", Log: slog.New(slog.DiscardHandler)}, nil)
	s := newSession(h, 1, AgentSpec{Name: "puppet", Title: "Puppet"}, cwd)
	go s.base.Box.Run()
	t.Cleanup(s.base.Box.Close)
	return s
}

// on runs f on the session's goroutine.
func (s *Session) on(f func()) {
	done := make(chan struct{})
	s.base.Box.Put(func() { f(); close(done) })
	<-done
}

// eventsOf are the events that Neovim is to fire with these operations.
func eventsOf(ops []editor.Op) (list []rpc.Event) {
	for _, op := range ops {
		if args, ok := op.Args.(rpc.Events); ok {
			list = append(list, args.Events...)
		}
	}
	return list
}

// remarks are this client's sentences in the chat.
func (s *Session) remarks() (text string) {
	s.on(func() {
		for _, e := range s.conv.Entries {
			if n, ok := e.(*session.NoticeEntry); ok {
				text += n.Title + "\n"
			}
		}
	})
	return text
}

func TestSlowAnswersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := aloneSession(t)
		var answers []func(string, error) bool
		var got []string
		cancelled := 0
		request := func() {
			ask(s, "slow/request", func(answer func(string, error) bool) func() {
				answers = append(answers, answer)
				return func() { cancelled++ }
			}, func(v string, err error) {
				if err != nil {
					v = err.Error()
				}
				got = append(got, v)
			})
		}
		s.on(request)
		s.on(request)
		time.Sleep(slowAnswer / 2)
		if !answers[0]("in time", nil) {
			t.Error("nobody waited for the first answer")
		}
		time.Sleep(slowAnswer)
		want := "Puppet has not answered slow/request yet. :Acp cancel gives it up,"
		if text := s.remarks(); strings.Count(text, want) != 1 {
			t.Errorf("told %q", text)
		}
		s.on(func() {
			if !s.asking("slow/request") || !s.giveUp() || s.giveUp() || s.asking("slow/request") {
				t.Error("it was not given up once")
			}
		})
		if answers[1]("too late", nil) {
			t.Error("somebody waited for the second answer")
		}
		s.on(func() {
			if strings.Join(got, ", ") != "in time, "+errGivenUp.Error() || cancelled != 1 {
				t.Errorf("got %q, cancelled %d", got, cancelled)
			}
		})
		s.on(request)
		s.on(s.dropControls)
		if answers[2]("after leaving", errors.New("x")) || cancelled != 2 {
			t.Errorf("the agent was left, cancelled %d", cancelled)
		}
		s.on(func() {
			if len(got) != 2 {
				t.Errorf("got %q", got)
			}
		})
	})
}
