package permission

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

func TestEditsAreKnownByTheGravestOfThem(t *testing.T) {
	text := "new"
	edit := edited{}
	edit.Text = &text
	move := edited{}
	move.To = "/b"
	gone := edited{}
	gone.Delete = true
	for _, c := range []struct {
		name string
		all  []edited
		want session.ToolKind
	}{
		{"edits", []edited{edit, edit}, session.KindEdit},
		{"a move", []edited{move}, session.KindMove},
		{"a move among edits", []edited{edit, move, edit}, session.KindMove},
		{"a deletion among edits", []edited{edit, gone, edit}, session.KindDelete},
		{"a deletion and a move", []edited{move, gone}, session.KindDelete},
	} {
		if got := kindOf(c.all); got != c.want {
			t.Errorf("%s: kind %q, want %q", c.name, got, c.want)
		}
	}
}
