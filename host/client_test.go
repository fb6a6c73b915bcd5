package host

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// What an agent asks of a session that is not open, or closes just now, is refused at once: it must not wait for it.
func TestRequestsForSessionsThatAreGone(t *testing.T) {
	asks := map[string]func(c clientOf, id string, reply func(refused bool)){
		"permission": func(c clientOf, id string, reply func(bool)) {
			c.RequestPermission(session.PermissionRequest{
				SessionID: id, Context: context.Background(), Reply: func(option string) { reply(option == "") },
			})
		},
		"question": func(c clientOf, id string, reply func(bool)) {
			c.Elicit(session.ElicitationRequest{
				SessionID: id, Context: context.Background(), Reply: func(a session.ElicitationAnswer) { reply(a.Action == session.ElicitationCancel) },
			})
		},
		"question of no session": func(c clientOf, _ string, reply func(bool)) {
			c.Elicit(session.ElicitationRequest{
				Context: context.Background(), Reply: func(a session.ElicitationAnswer) { reply(a.Action == session.ElicitationCancel) },
			})
		},
		"read": func(c clientOf, id string, reply func(bool)) {
			c.ReadTextFile(session.ReadTextFile{
				SessionID: id, Context: context.Background(), Path: "/file", Reply: func(_ string, err error) { reply(err != nil) },
			})
		},
		"write": func(c clientOf, id string, reply func(bool)) {
			c.WriteTextFile(session.WriteTextFile{
				SessionID: id, Context: context.Background(), Path: "/file", Reply: func(err error) { reply(err != nil) },
			})
		},
		"terminal": func(c clientOf, id string, reply func(bool)) {
			c.CreateTerminal(session.CreateTerminal{SessionID: id, Command: "true", Reply: func(_ string, err error) { reply(err != nil) }})
		},
	}
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, Options{})
				a, _ := w.process(puppet, session.Info{})
				closed := w.add(1, puppet)
				closed.on(closed.close)
				refusals := 0
				refused := func(is bool) {
					if !is {
						t.Error("it was not refused")
					}
					refusals++
				}
				ask(clientOf{a}, "unknown", refused)
				synctest.Wait()
				check.Equal(t, refusals, 1, "for an unknown session it was refused %d times")
				a.routes.add("a", closed)
				a.users[closed] = struct{}{}
				ask(clientOf{a}, "a", refused)
				w.settle()
				check.Equal(t, refusals, 2, "for a closed session too it was refused %d times")
			})
		})
	}
}

// A question about a session that the agent is about to name is asked there, and is answered if that session never comes.
func TestAQuestionBeforeItsSessionIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		a, _ := w.process(puppet, session.Info{})
		s := w.add(1, puppet)
		var answers []string
		ask := func(id string) {
			clientOf{a}.Elicit(session.ElicitationRequest{
				SessionID: id, Context: t.Context(), Message: "Which one?", Form: &session.Form{},
				Reply: func(answer session.ElicitationAnswer) { answers = append(answers, id+" "+string(answer.Action)) },
			})
		}
		a.routes.awaitName()
		ask("new")
		ask("stored")
		ask("other")
		for i := range earlyLimit - 3 {
			a.routes.to(fmt.Sprint(i), func(*Session) {})
		}
		check.Slice(t, answers, nil, "at once %q are answered")
		ask("one too many") // for which the first is dropped
		check.Slice(t, answers, []string{"new cancel"}, "when there are too many, %q are answered")
		a.routes.forgetEarly("stored")
		check.Slice(t, answers, []string{"new cancel", "stored cancel"}, "when it is opened anew, %q are answered")
		for range earlyLimit {
			a.routes.to("one too many", func(*Session) {})
		}
		ask("one too many")
		check.Equal(t, len(answers), 3, "when there is no room, %d are answered")
		a.routes.add("one too many", s)
		a.routes.named()
		synctest.Wait()
		s.on(func() { check.Equal(t, s.questions.Waiting(), 1, "%d questions are open") })
		check.Slice(t, answers, []string{"new cancel", "stored cancel", "one too many cancel", "other cancel"}, "%q are answered")
		ask("late")
		check.Equal(t, answers[len(answers)-1], "late cancel", "%q is answered last")
	})
}
