package review

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// A file that the agent makes binary and then a text again has its lines again: what the user has written is known from
// what the agent has.
func TestATextAgain(t *testing.T) {
	was, mine, made := letters("ab"), letters("abu"), Text("\x00")
	for name, c := range map[string]struct {
		steps []step
		whole bool // only all of it can be decided
		after string
	}{
		"a new file": {
			steps: []step{{"agent", Content{}, Text(letters("X"))}, user(letters("Xu")), {"agent", Text(letters("Xu")), made}, {"agent", made, Text(letters("Yu"))}},
			after: letters("u"),
		},
		"the user's line stays": {
			steps: []step{agent(was, letters("Xb")), user(letters("Xbu")), {"agent", Text(letters("Xbu")), made}, {"agent", made, Text(letters("XYu"))}},
			after: mine,
		},
		"the same text as before": {
			steps: []step{agent(was, letters("Xb")), user(letters("Xbu")), {"agent", Text(letters("Xbu")), made}, {"agent", made, Text(letters("Xbu"))}},
			after: mine,
		},
		"what the user has made of it is not told apart": {
			steps: []step{agent(was, letters("Xb")), {"agent", Text(letters("Xb")), made}, {by: "user", after: Text("\x00u")}, {"agent", Text("\x00u"), Text(letters("Yu"))}},
			whole: true,
		},
		"the user's own": {
			steps: []step{agent(was, letters("Xb")), {by: "user", after: made}, {"agent", made, Text(letters("Yb"))}},
			whole: true,
		},
	} {
		r := play(c.steps)
		f, _ := r.File("f")
		if whole := len(f.Hunks) == 0; whole != c.whole {
			t.Errorf("%s: it has the hunks %v", name, f.Hunks)
			continue
		}
		if c.whole {
			continue
		}
		p, err := r.Plan("f", Reject, Selection{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.Want.Text != c.after || !r.Commit(p) {
			t.Errorf("%s: refused it is %q", name, p.Want.Text)
		}
	}
}

// What the user has written into a new file stays also when that is refused which the agent has made of it.
func TestANewFileWithTheUsersLinesIsBinary(t *testing.T) {
	r := play([]step{{"agent", Content{}, Text(letters("X"))}, user(letters("Xu")), {"agent", Text(letters("Xu")), Text("\x00")}})
	check.Equal(t, decide(t, r, Reject, Selection{}).Want, Text(letters("u")), "refused it is %+v")
	if !r.Empty() {
		t.Errorf("then there is %+v", r.Files())
	}
}

// What was decided of a file while it was binary holds.
func TestDecidedWhileItWasBinary(t *testing.T) {
	for _, d := range []Decision{Keep, Reject} {
		was, made := letters("ab"), Text("\x00")
		r := play([]step{agent(was, letters("Xb")), {"agent", Text(letters("Xb")), made}})
		p, err := r.Plan("f", d, Selection{})
		if err != nil || !r.Commit(p) {
			t.Fatalf("it cannot be decided: %v", err)
		}
		now := p.Want
		r.Changed("f", now, Text(letters("Yb")))
		if p, err = r.Plan("f", Reject, Selection{}); err != nil || p.Want.Mark() != now.Mark() {
			t.Errorf("after %v it is to be %+v, %v", d, p.Want, err)
		}
	}
}
