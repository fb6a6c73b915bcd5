package host

import (
	"fmt"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/history"
	"github.com/acp-nvim/acp-nvim/host/opening"
)

// beginFork starts the session with what was said in another one, either all of it or before one of its prompts,
// counted from 1. Any goroutine.
func (s *Session) beginFork(source *Session, before int) {
	fail := func(err error) { s.base.Box.Put(func() { s.die(err) }) }
	closed := &failure.Failure{Sentence: "The session to be forked is closed."}
	if source == nil || !source.base.Box.Put(func() {
		source.forkAt(before, func(f *opening.Fork, err error) {
			if err != nil {
				fail(err)
				return
			}
			s.base.Box.Put(func() {
				s.opening.From(f)
				s.conv.Title = f.Title
				s.replayPast(history.Past{Said: f.Past})
				s.start()
			})
		})
	}) {
		fail(closed)
	}
}

// forkAt finds where the session can be forked; done is called on any goroutine.
func (s *Session) forkAt(before int, done func(*opening.Fork, error)) {
	refuse := func(format string, args ...any) {
		done(nil, &failure.Failure{Sentence: fmt.Sprintf(format, args...)})
	}
	f := &opening.Fork{Session: s.id, ID: s.opening.ID()}
	if s.conv.Title != "" {
		f.Title = strings.TrimSuffix(s.conv.Title, " (fork)") + " (fork)"
	}
	switch {
	case s.phase != ready:
		refuse("%s is not ready yet", s.base.Title)
		return
	case !s.info.Forks:
		refuse("%s cannot fork sessions", s.base.Title)
		return
	case before > 0 && !s.info.ForksAfter:
		refuse("%s cannot fork a session before an earlier prompt; :Acp fork takes all of it", s.base.Title)
		return
	case before == 0 && s.prompts.TurnOpen():
		refuse("%s is working: a session can be forked when the turn is over", s.base.Title)
		return
	case before > 0:
		if f.After = s.conv.MessageBefore(before); f.After == "" {
			refuse("%s has said nothing before this prompt: :Acp new starts a new session", s.base.Title)
			return
		}
	}
	if s.host.history == nil || s.host.unkept.Load() {
		done(f, nil)
		return
	}
	s.recorder.Flush(nil)
	s.host.history.ReadLater(s.spec.Name, f.ID, s.base.Background, func(past history.Past, err error) {
		if err != nil {
			s.base.Log.Warn(err.Error()) // the fork begins without it
		}
		f.Past = past.Said
		if before > 0 {
			f.Past = past.Before(before - 1)
		}
		done(f, nil)
	})
}
