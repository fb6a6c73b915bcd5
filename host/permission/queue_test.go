package permission

import (
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// requestAbout is a request as an agent makes it of a call.
func requestAbout(id int64, callID string) *request {
	return &request{
		id: id, call: session.ToolCall{ID: callID},
		asked: session.PermissionRequest{Call: session.ToolCallPatch{ID: callID}},
	}
}

// The policy decides about one request at a time, the oldest first, and are the user's only then.
func TestOrderOfPermissions(t *testing.T) {
	one, two, three := requestAbout(1, "a"), requestAbout(2, "b"), requestAbout(3, "c")
	q := queue{pending: []*request{one, two, three}}
	if q.next() != one || q.waitingAs(1) != nil || len(q.waiting()) > 0 {
		t.Error("the oldest is not decided about first, or is the user's before")
	}
	q.busy = 1
	if q.next() != nil {
		t.Error("two are decided about at once")
	}
	q.busy = 0
	one.open = true
	if q.next() != two || q.waitingAs(1) != one || q.waitingAs(2) != nil || !slices.Equal(q.waiting(), []*request{one}) {
		t.Error("what is decided about is not the user's, or is decided about again")
	}
	if !q.drop(two) || q.drop(two) || q.has(two) || !q.has(one) || q.next() != three {
		t.Error("dropping takes another one, or takes it twice")
	}
}

// Several requests may be about one call; each has its own view of that.
func TestPermissionsAboutACall(t *testing.T) {
	one, two, other := requestAbout(1, "a"), requestAbout(2, "a"), requestAbout(3, "b")
	q := queue{pending: []*request{one, two, other}}
	if q.about("a") != one || q.about("c") != nil {
		t.Error("about is not the oldest of a call")
	}
	if q.onlyAbout("a") != nil || q.onlyAbout("b") != other || q.onlyAbout("c") != nil {
		t.Error("onlyAbout is not the one that is alone")
	}
	if q.of(&two.call) != two || q.of(&session.ToolCall{ID: "a"}) != nil {
		t.Error("of goes by the id")
	}
}

// A call is its requests' alone until the agent tells of it in another way.
func TestCallsThatRequestsAloneTellOf(t *testing.T) {
	var q queue
	q.observe("a")
	for i, step := range []struct {
		id          string
		known, want bool
	}{{"a", false, true}, {"a", true, true}, {"b", true, false}} {
		check.Equal(t, q.asks(step.id, step.known), step.want, "%d: requests alone tell of %s: %v", i, step.id)
	}
	q.observe("a")
	if q.asks("a", true) {
		t.Error("what the agent has told is forgotten")
	}
}

// What the answers of a turn still mean is taken once, and call by call.
func TestWhatAnswersStillMean(t *testing.T) {
	q := queue{
		unwanted: []unwanted{{call: "a"}, {call: "b"}, {call: "c"}},
		accepted: []accepted{{path: "/a"}, {path: "/b"}},
	}
	if got := q.takeUnwanted("b", false); len(got) != 1 || got[0].call != "b" {
		t.Errorf("took %+v for one call", got)
	}
	if got := q.takeUnwanted("", true); len(got) != 2 || len(q.takeUnwanted("", true)) > 0 {
		t.Errorf("took %+v for all others", got)
	}
	q.written([]accepted{{path: "/a"}})
	if len(q.accepted) != 1 || q.accepted[0].path != "/b" {
		t.Errorf("%+v are still to be written", q.accepted)
	}
}
