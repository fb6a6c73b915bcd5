package opening

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// A restart takes up what the agent keeps, unless nothing was said in a session that it has made for us.
func TestWhatARestartTakesUp(t *testing.T) {
	for name, c := range map[string]struct {
		was  remote
		said bool
		want remote
	}{
		"said, and stored":       {remote{stored: "x", own: true}, true, remote{stored: "x", own: true, retold: true}},
		"said, and never opened": {remote{}, true, remote{}},
		"nothing said":           {remote{stored: "x", own: true}, false, remote{own: true}},
		"taken up, nothing said": {remote{stored: "x"}, false, remote{stored: "x"}},
	} {
		c.was.Again(c.said)
		check.Equal(t, c.was, c.want, "%s: %+v", name)
	}
	r := remote{id: "new", stored: "old", retold: true}
	if r.made(); r != (remote{id: "new", stored: "new", own: true}) {
		t.Errorf("made: %+v", r)
	}
	r.retold = true
	if r.resumed(); r != (remote{id: "new", stored: "new"}) {
		t.Errorf("resumed: %+v", r)
	}
}
