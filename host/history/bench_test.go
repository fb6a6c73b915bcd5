package history

import (
	"fmt"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// What it takes to keep a turn of 10,000 chunks.
func BenchmarkTurn(b *testing.B) {
	s := begin(b)
	s.Open(about)
	turn := []session.Update{session.SessionStart{}, ask("go")}
	for range 10_000 {
		turn = append(turn, agentSays("1", "words "))
	}
	turn = append(turn, session.TurnEnd{StopReason: session.StopEndTurn})
	s.store.fileSize = 1 << 40
	for b.Loop() {
		for _, u := range turn {
			s.Note(u)
		}
	}
}

// A search in 200 sessions of 100 KB each.
func BenchmarkSearch(b *testing.B) {
	s := begin(b)
	for n := range 200 {
		other := about
		other.ID = fmt.Sprint(n)
		s.Open(other)
		s.apply(session.SessionStart{})
		for i := range 20 {
			s.apply(ask(fmt.Sprint("prompt ", i)))
			for range 500 {
				s.apply(agentSays(fmt.Sprint(i), "some words "))
			}
			s.apply(session.TurnEnd{StopReason: session.StopEndTurn})
		}
	}
	s.Flush(nil)
	for b.Loop() {
		if found, err := s.store.Search(b.Context(), "prompt 7", foundAll); err != nil || len(found) != 200 {
			b.Fatal(len(found), err)
		}
	}
}

const foundAll = 1 << 20
