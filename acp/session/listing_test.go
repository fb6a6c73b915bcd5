package session

import (
	"fmt"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A list that an agent never ends is what its first pages have.
func TestListsEnd(t *testing.T) {
	asked := 0
	var found []Stored
	l := &listing{done: func(list []Stored, err error) { found = list; must.Do(t, err) }}
	l.ask = func(_ string, page func(sessionPage, error)) func() {
		asked++
		page(sessionPage{found: []Stored{{SessionID: fmt.Sprint(asked)}}, next: fmt.Sprint(asked)}, nil)
		return func() {}
	}
	l.next("")
	check.Equal(t, asked, pageLimit, "asked is for %d pages")
	check.Equal(t, len(found), pageLimit, "%d are found")
}

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
