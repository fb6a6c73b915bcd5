package host

import (
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

// requestAbout is a request as an agent makes it of a call.
func requestAbout(id int64, callID string) *permission {
	return &permission{
		id: id, call: session.ToolCall{ID: callID},
		request: session.PermissionRequest{Call: session.ToolCallPatch{ID: callID}},
	}
}

// The policy decides about one request at a time, the oldest first, and are the user's only then.
func TestOrderOfPermissions(t *testing.T) {
	one, two, three := requestAbout(1, "a"), requestAbout(2, "b"), requestAbout(3, "c")
	ps := permissions{asked: []*permission{one, two, three}}
	if ps.next() != one || ps.waitingAs(1) != nil || len(ps.waiting()) > 0 {
		t.Error("the oldest is not decided about first, or is the user's before")
	}
	ps.busy = 1
	if ps.next() != nil {
		t.Error("two are decided about at once")
	}
	ps.busy = 0
	one.open = true
	if ps.next() != two || ps.waitingAs(1) != one || ps.waitingAs(2) != nil || !slices.Equal(ps.waiting(), []*permission{one}) {
		t.Error("what is decided about is not the user's, or is decided about again")
	}
	if !ps.drop(two) || ps.drop(two) || ps.has(two) || !ps.has(one) || ps.next() != three {
		t.Error("dropping takes another one, or takes it twice")
	}
}

// Several requests may be about one call; each has its own view of that.
func TestPermissionsAboutACall(t *testing.T) {
	one, two, other := requestAbout(1, "a"), requestAbout(2, "a"), requestAbout(3, "b")
	ps := permissions{asked: []*permission{one, two, other}}
	if ps.about("a") != one || ps.about("c") != nil {
		t.Error("about is not the oldest of a call")
	}
	if ps.onlyAbout("a") != nil || ps.onlyAbout("b") != other || ps.onlyAbout("c") != nil {
		t.Error("onlyAbout is not the one that is alone")
	}
	if ps.of(&two.call) != two || ps.of(&session.ToolCall{ID: "a"}) != nil {
		t.Error("of goes by the id")
	}
}

// A call is its requests' alone until the agent tells of it in another way.
func TestCallsThatRequestsAloneTellOf(t *testing.T) {
	var ps permissions
	ps.told("a")
	for i, step := range []struct {
		id          string
		known, want bool
	}{{"a", false, true}, {"a", true, true}, {"b", true, false}} {
		if got := ps.tells(step.id, step.known); got != step.want {
			t.Errorf("%d: requests alone tell of %s: %v", i, step.id, got)
		}
	}
	ps.told("a")
	if ps.tells("a", true) {
		t.Error("what the agent has told is forgotten")
	}
}

// What the answers of a turn still mean is taken once, and call by call.
func TestWhatAnswersStillMean(t *testing.T) {
	ps := permissions{
		unwanted: []unwanted{{call: "a"}, {call: "b"}, {call: "c"}},
		accepted: []accepted{{path: "/a"}, {path: "/b"}},
	}
	if got := ps.takeUnwanted("b", false); len(got) != 1 || got[0].call != "b" {
		t.Errorf("took %+v for one call", got)
	}
	if got := ps.takeUnwanted("", true); len(got) != 2 || len(ps.takeUnwanted("", true)) > 0 {
		t.Errorf("took %+v for all others", got)
	}
	ps.written([]accepted{{path: "/a"}})
	if len(ps.accepted) != 1 || ps.accepted[0].path != "/b" {
		t.Errorf("%+v are still to be written", ps.accepted)
	}
}
