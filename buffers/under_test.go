package buffers

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// Only what the buffer has not taken over goes from the disk, and what it has stays there.
func TestWithdrawUnder(t *testing.T) {
	for name, c := range map[string]struct{ mine, after, disk, before, want string }{
		"all of it conflicts":         {"1\nu\n3\n", "1\na\n3\n", "1\na\n3\n", "1\n2\n3\n", "1\n2\n3\n"},
		"the file was emptied":        {"1\nu\n2\n", "", "", "1\n2\n", "1\n2\n"},
		"the buffer has one of two":   {"a\n2\nu\n", "a\n2\nb\n", "a\n2\nb\n", "1\n2\n3\n", "a\n2\n3\n"},
		"accepted, and conflicting":   {"1\na\nu\n", "1\na\n2\nb\n", "1\na\n2\nb\n", "1\n2\n3\n", "1\na\n2\n3\n"},
		"the user's removal, unsaved": {"1\n", "1\na\n", "1\na\n", "1\n2\n", "1\n2\n"},
		"the removal was accepted":    {"1\nu\n", "1\nb\n", "1\nb\n", "1\n2\n3\n", "1\n2\n3\n"},
		"the disk has more since":     {"1\nu\n3\n", "1\na\n3\n", "1\na\n3\nx\n", "1\n2\n3\n", "1\n2\n3\nx\n"},
		"the last line did not end":   {"1\nu", "1\na\n", "1\na\n", "1\n2", "1\n2"},
		"somebody has taken it back":  {"1\nu\n", "1\na\n", "1\n2\n", "1\n2\n", "1\n2\n"},
	} {
		check.Equal(t, WithdrawUnder(c.mine, c.after, c.disk, c.before), c.want, "%s: the disk gets %q", name)
	}
}

// An edit to the disk alone is for a file under unsaved text: any other stays as it is, and so does the buffer.
func TestEditUnderABuffer(t *testing.T) {
	change := func(disk, mine string) *string { return new(disk + "+" + mine) }
	none := func(disk, mine string) *string { return nil }
	disk, mine := new("d"), new("m")
	for name, c := range map[string]struct {
		found  found
		change func(disk, mine string) *string
		want   *string
	}{
		"no file":         {found{mine: mine, modified: true}, change, nil},
		"no unsaved text": {found{disk: disk, mine: disk}, change, disk},
		"unsaved text":    {found{disk: disk, mine: mine, modified: true}, change, new("d+m")},
		"nothing to do":   {found{disk: disk, mine: mine, modified: true}, none, disk},
	} {
		want := goal{disk: c.want, buffer: c.found.mine}
		if c.want != nil {
			want.synced, want.theirs = *c.want, *c.want
		}
		check.Deep(t, under(c.found, c.change), want, name+": the goal is %+v")
	}
}
