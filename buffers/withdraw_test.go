package buffers

import (
	"slices"
	"testing"
)

func TestWithdraw(t *testing.T) {
	for name, c := range map[string]struct {
		before, after, now, want string
		conflicts                []int
	}{
		"nothing since":                {"a\nb\n", "a\nX\n", "a\nX\n", "a\nb\n", nil},
		"lines beside":                 {"a\nb\n", "a\nX\n", "u\na\nX\nv\n", "u\na\nb\nv\n", nil},
		"a line in what was put in":    {"a\nb\n", "a\nX\nY\nb\n", "a\nX\nu\nY\nb\n", "a\nu\nb\n", nil},
		"a line in what was replaced":  {"a\nb\nc\n", "X\nY\nc\n", "X\nu\nY\nc\n", "a\nb\nu\nc\n", nil},
		"one of them was removed":      {"a\nb\nc\n", "X\nY\nc\n", "X\nc\n", "a\nb\nc\n", nil},
		"all of them were removed":     {"a\n", "a\nX\n", "a\n", "a\n", nil},
		"a line where some were":       {"a\nb\nc\n", "a\nc\n", "a\nu\nc\n", "a\nb\nu\nc\n", nil},
		"another one for one of them":  {"a\nb\nc\n", "a\nX\nY\nc\n", "a\nu\nY\nc\n", "a\nu\nb\nc\n", nil},
		"and for one of the file's":    {"a\nb\n", "a\nX\nY\nb\n", "u\nY\nb\n", "u\nb\n", nil},
		"another one in its place":     {"a\nb\nc\n", "a\nX\nc\n", "a\nu\nc\n", "a\nu\nc\n", []int{2}},
		"the user's lines of a file":   {"", "X\nY\n", "X\nu\nY\n", "u\n", nil},
		"nothing of the user's":        {"", "X\nY\n", "X\n", "", nil},
		"without a newline before":     {"a\nb", "a\nb\nX\n", "u\na\nb\nX\n", "u\na\nb", nil},
		"the newline is the user's":    {"a\nb", "a\nX", "a\nX\n", "a\nb\n", nil},
		"typed again by the user":      {"a\nb\nc\n", "a\nc\n", "a\nb\nc\n", "a\nb\nc\n", nil},
		"some of it, and more":         {"a\nb\nc\nd\n", "a\nd\n", "a\nu\nc\nv\nd\n", "a\nb\nu\nc\nv\nd\n", nil},
		"all of a file typed again":    {"a\nb\n", "", "a\nb\nu\n", "a\nb\nu\n", nil},
		"typed again below another":    {"a\nb\n", "X\nY\n", "X\nu\nY\nb\nv\n", "a\nu\nb\nv\n", nil},
		"typed again below the others": {"a\nb\nc\nd\n", "a\nX\nY\n", "a\nX\nY\nb\nu\n", "a\nb\nc\nd\nu\n", nil},
		"the user's own, twice":        {"a\nb\nc\n", "X\nY\nZ\n", "u\nX\nu\nY\nu\nZ\n", "u\na\nb\nc\nu\nu\n", nil},
		"without one, and a line more": {"a\nb\n", "a\nX", "a\nX\nu", "a\nb\nu\n", nil},
	} {
		got, conflicts := Withdraw(c.after, c.now, c.before)
		if got != c.want || !slices.Equal(conflicts, c.conflicts) {
			t.Errorf("%s: %q with conflicts %v, wanted %q with %v", name, got, conflicts, c.want, c.conflicts)
		}
	}
}
