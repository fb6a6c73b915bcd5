package buffers_test

import (
	"context"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// TestWriteOfWhatTheUserHasDecided has the user make something else of what the agent wants to write, beside text of
// theirs that is not saved.
func TestWriteOfWhatTheUserHasDecided(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		w := n.follow()
		decide := func(path, base, text string) buffers.Written {
			t.Helper()
			got, err := n.asked(func(done func(buffers.Written, error)) {
				n.files.Write(context.Background(), buffers.Write{Path: path, Text: text, Base: &base}, done)
			})
			must.Do(t, err)
			return got
		}
		lines := func(words string) string { return strings.ReplaceAll(words, " ", "\n") + "\n" }
		path := n.edit("a.txt", lines("one two three four five"))
		w.settle()
		n.read(path)
		n.keys("ggccmine<Esc>4Gdd") // "four" is deleted, unsaved
		got := decide(path, lines("mine two three five"), lines("mine two yours three its"))
		wantTold(t, "decided", got, quoted(lines("mine two three five")), quoted(lines("mine two yours three its")))
		if got.Conflict || !got.Changed {
			t.Errorf("%+v", got)
		}
		n.wantText("mine\ntwo\nyours\nthree\nits")
		n.wantDisk("a.txt", lines("one two yours three four its"))
		n.want("&modified", int64(1))
		w.wantNone()
		n.cmd("undo")
		n.wantText("mine\ntwo\nthree\nfive")
		n.cmd("redo")

		// The agent goes on from what it was told, and knows nothing of the user's.
		n.write(path, lines("one two yours three four its more"))
		n.wantText("mine\ntwo\nyours\nthree\nits\nmore")
		n.wantDisk("a.txt", lines("one two yours three four its more"))

		// What they have typed since stands.
		got = decide(path, lines("mine two yours three its"), lines("mine two three its more"))
		n.wantText("mine\ntwo\nthree\nits\nmore")
		if got.Conflict {
			t.Errorf("%+v", got)
		}
		n.asksNothing("write")
		n.wantDisk("a.txt", lines("mine two three its more"))

		// With nothing unsaved, and where there is no file yet.
		decide(path, lines("mine two three its more"), lines("mine two"))
		n.wantDisk("a.txt", lines("mine two"))
		n.want("&modified", int64(0))
		decide(n.path("b.txt"), "", "new\n")
		n.wantDisk("b.txt", "new\n")
		n.cmd("edit " + n.path("c.txt"))
		n.keys("imine<Esc>")
		w.settle()
		decide(n.path("c.txt"), "mine\n", "mine\nits\n")
		n.wantText("mine\nits")
		n.wantDisk("c.txt", "its\n")
		n.want("&modified", int64(1))

		// What they have made of a line that is not saved is written in its place; what they leave is not.
		n.edit("d.txt", lines("one two three"))
		w.settle()
		n.keys("ggccmine<Esc>Gccleft<Esc>")
		decide(n.path("d.txt"), lines("mine two left"), lines("theirs two left"))
		n.wantText("theirs\ntwo\nleft")
		n.wantDisk("d.txt", lines("theirs two three"))
		n.want("&modified", int64(1))

		// So is what they have made of one of several lines in addition to the disk's, without the others.
		n.edit("g.txt", lines("one two"))
		w.settle()
		n.keys("ggomine<CR>left<CR>too<Esc>")
		decide(n.path("g.txt"), lines("one mine left too two"), lines("one theirs its left too two"))
		n.wantText("one\ntheirs\nits\nleft\ntoo\ntwo")
		n.wantDisk("g.txt", lines("one theirs its two"))
		n.want("&modified", int64(1))

		// What they have deleted, unsaved, and let the agent bring back is on the disk once.
		n.edit("e.txt", lines("one two three"))
		w.settle()
		n.keys("ggccmine<Esc>Gdd")
		decide(n.path("e.txt"), lines("mine two"), lines("mine its three yours"))
		n.wantText("mine\nits\nthree\nyours")
		n.wantDisk("e.txt", lines("one its three yours"))
		n.edit("f.txt", lines("one two three four"))
		w.settle()
		n.keys("ggccmine<Esc>Gdd")
		decide(n.path("f.txt"), lines("mine two three"), lines("theirs two its four yours"))
		n.wantDisk("f.txt", lines("theirs two its four yours"))
	})
}

// What the user has refused, beside text that is not saved, does not come back on the disk with a text that the agent has of
// before.
func TestStaleWriteOfWhatWasRefused(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		path := n.edit("a.txt", "one\ntwo\n")
		w := n.follow()
		n.read(path)
		n.write(path, "one\ntwo\nits\n")
		n.keys("ggOmine<Esc>")
		w.settle()
		n.change(path, func(now *string) (*string, error) { return new(strings.Replace(*now, "its\n", "", 1)), nil })
		n.wantText("mine\none\ntwo")
		n.wantDisk("a.txt", "one\ntwo\n")
		n.write(path, "one\ntwo\nits\n")
		n.wantText("mine\none\ntwo")
		n.wantDisk("a.txt", "one\ntwo\n")
		n.write(path, "one\ntwo\nits\nmore\n")
		n.wantText("mine\none\ntwo\nmore")
		n.wantDisk("a.txt", "one\ntwo\nmore\n")
	})
}
