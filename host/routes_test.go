package host

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What an agent tells of a session before it has named it comes first; what it tells of others does not, also where
// these are many, and where one of them is opened later.
func TestEarlyUpdates(t *testing.T) {
	r := newRoutes()
	var got []string
	update := func(id, text string) { r.to(id, func(s *Session) { got = append(got, fmt.Sprint(s.id, text)) }) }
	expect := func(want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("told is %q, wanted %q", strings.Join(got, " "), strings.Join(want, " "))
		}
		got = nil
	}
	update("stored", "before")
	r.awaitName()
	r.awaitName()
	update("stored", "between")
	for i := range 2 * earlyLimit {
		update(fmt.Sprint("other", i), "x")
	}
	update("new", "a")
	update("new", "b")
	r.add("new", &Session{id: 1})
	r.named()
	expect("1a", "1b")
	update("late", "c") // the second one is not named yet
	r.add("late", &Session{id: 2})
	r.named()
	expect("2c")
	if len(r.early)+len(r.earlyIDs) > 0 {
		t.Errorf("%d are kept", len(r.early))
	}
	r.awaitName()
	update("stored", "again")
	r.forgetEarly("stored")
	r.add("stored", &Session{id: 3})
	expect()
	update("stored", "now")
	expect("3now")
}
