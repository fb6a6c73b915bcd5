package remark

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/test/featuretest"
)

func TestRemarks(t *testing.T) {
	featuretest.Play(t, func(s *featuretest.Session) {
		visible, opened := true, false
		r := New(Config{
			Box: s.Box, Editor: s.Editor, Apply: s.Apply, Changed: s.Note("changed"),
			Visible: func() bool { return visible }, Opened: func() bool { return opened },
		})
		s.On(func() {
			r.Fail("error", &failure.Failure{Sentence: "It broke.", Advice: "Mend it.", Detail: "all of it"})
			r.Once("a")
			r.Once("b")
			r.Once("a")
			r.BeginTurn()
			r.Once("a")
		})
		s.Expect("remark error: It broke. Mend it.", "detail: all of it", "changed",
			"remark info: a", "changed", "remark info: b", "changed", "remark info: a", "changed")
		s.On(func() {
			r.Alert("warning", "You see it.", "seen")
			visible = false
			r.Alert("warning", "You do not see it.", "unseen")
			r.Alert("info", "It can wait.", "")
		})
		s.Expect("remark warning: You see it.", "changed", "remark warning: You do not see it.", "changed",
			"remark info: It can wait.", "changed", "notice warning: unseen")

		r.Remind("Said later.")
		s.On(func() {})
		s.Expect()
		opened = true
		s.On(r.SayReminder)
		s.On(r.SayReminder)
		r.Remind("Said at once.")
		s.On(r.SayReminder)
		s.Expect("remark info: Said later.", "changed", "remark info: Said at once.", "changed")
	})
}
