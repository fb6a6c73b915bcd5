package ledger

import (
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
)

// looks are the paths that were looked at.
type looks []string

func (l *looks) Look(path string, _ bool, _ int64, _ func(buffers.Seen, error)) {
	*l = append(*l, path)
}

func (l *looks) Finish(string, func()) {}

func (l *looks) Tracks() <-chan struct{} { return nil }

// The files of a call are looked at when it names them, each once, and none of what a replay tells.
func TestCallsAreFollowedWhileTheAgentWorks(t *testing.T) {
	for _, working := range []bool{false, true} {
		var seen looks
		l := New(Config{
			Absolute: func(name string) (string, bool) { return session.Absolute(name, "/w", "/home/u") },
			Watch:    func() Watch { return &seen },
		})
		call := &session.ToolCall{Kind: session.KindEdit, Locations: []session.Location{{Path: "a"}}}
		l.Follow(call, working)
		call.Locations = []session.Location{{Path: "/w/a"}, {Path: "/w/b"}}
		l.Follow(call, false) // what is known of is followed to its end
		want := []string{"/w/a", "/w/b"}
		if !working {
			want = nil
		}
		if !slices.Equal(seen, want) || l.Names("/w/b") != working {
			t.Errorf("while the agent works %v: looked at %q", working, seen)
		}
	}
}
