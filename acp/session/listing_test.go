package session

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// The page that is being requested is given up, also where the answer before it came before its request returned.
func TestTheLastPageIsGivenUp(t *testing.T) {
	var gaveUp []string
	l := &listing{ask: func(cursor string, page func(sessionPage, error)) func() {
		if cursor == "" {
			page(sessionPage{next: "2"}, nil)
		}
		return func() { gaveUp = append(gaveUp, cursor) }
	}}
	l.next("")
	l.giveUp()
	check.Slice(t, gaveUp, []string{"2"}, "given up was %q")

	var hasty *listing // which is given up before its request returned
	hasty = &listing{ask: func(cursor string, _ func(sessionPage, error)) func() {
		hasty.giveUp()
		return func() { gaveUp = append(gaveUp, "hasty") }
	}}
	hasty.next("")
	check.Slice(t, gaveUp, []string{"2", "hasty"}, "given up were %q")
}
