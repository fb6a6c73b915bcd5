package host

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/host/diffview"
	"github.com/acp-nvim/acp-nvim/host/draw"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/reviewui"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// newReview opens what the user sees of a session's record.
func newReview(s *Session) *reviewui.Review {
	return reviewui.New(reviewui.Config{
		Base: s.base, Ledger: s.ledger, Overlaps: &s.host.overlaps,
		ConversationTitle: func() string { return s.conv.Title },
		TurnOpen:          func() bool { return s.prompts.TurnOpen() },
		Unable: func() string {
			if s.phase == dead {
				return s.failure
			}
			return ""
		},
		Send: func(text string) (waits bool) {
			before := s.prompts.Attempt()
			s.prompts.Send(text)
			return s.prompts.Attempt() == before
		},
		Due: func(due transcript.Due, turn bool) { s.chat.SetDue(due, turn) },
		DueKey: func() (key string, say bool) {
			if key := s.host.keepKey.Load(); key != nil {
				return *key, s.host.reviews.Load()
			}
			return "", s.host.reviews.Load()
		},
		Hurry: func() {
			s.urgent.Store(true)
			s.base.Editor.Hurry(s)
		},
		Edit:     s.pages.Edit,
		Draw:     func(of interface{ Reset() }, edit editor.Op) editor.Op { return s.pages.Op(of, edit) },
		Fill:     func(buf int, lines []styled.Line) { draw.Fill(s.base.Editor, buf, transcript.Given(lines...)) },
		TooLarge: diffview.TooLarge,
	})
}

// newMarks opens what the user's buffers show of the sessions' records.
func newMarks(h *Host) *reviewui.Marks {
	return reviewui.NewMarks(reviewui.MarksConfig{
		Editor: h.editor, Log: h.log, Background: h.background,
		Records: func() (list []reviewui.MarkSource) {
			h.eachSession(func(s *Session) {
				list = append(list, reviewui.MarkSource{Session: s.id, Title: s.base.Title, File: s.ledger.File})
			})
			slices.SortFunc(list, func(a, b reviewui.MarkSource) int { return b.Session - a.Session })
			return list
		},
	})
}

// hearConflicts takes how many open conflicts the loaded files have.
func (h *Host) hearConflicts(m rpc.OpenConflicts) {
	count := map[string]int{}
	for _, f := range m.Files {
		count[f.Path] = f.Count
	}
	h.eachSession(func(s *Session) {
		s.base.Box.Put(func() { s.review.Tab.SetConflicts(count) })
	})
}
