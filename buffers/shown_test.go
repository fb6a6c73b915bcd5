package buffers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/neovim/go-client/msgpack"
)

// counted counts the bytes of what goes to Neovim and back.
type counted struct {
	*neovim
	bytes int
}

func (c *counted) CallBuffers(ctx context.Context, fn string, args, result any) error {
	err := c.neovim.CallBuffers(ctx, fn, args, result)
	for _, v := range []any{args, result} {
		var packed strings.Builder
		must(c.t, msgpack.NewEncoder(&packed).Encode(v))
		c.bytes += packed.Len()
	}
	return err
}

// What a buffer has crosses once, and of a change of it the lines that are new.
func TestOnlyWhatChangesCrosses(t *testing.T) {
	onNeovims(t, func(t *testing.T, n *neovim) {
		c := &counted{neovim: n}
		n.files = buffers.New(c)
		lines := make([]string, 20_000)
		for i := range lines {
			lines[i] = fmt.Sprintf("line %d of the file", i)
		}
		path := n.edit("a.txt", join(lines))
		cost := func(what string, most int, do func()) {
			t.Helper()
			c.bytes = 0
			do()
			if c.bytes > most {
				t.Errorf("%s: %d bytes went to Neovim and back", what, c.bytes)
			}
		}
		size := len(join(lines))
		const little = 4000
		write := func(row int) {
			lines[row] = fmt.Sprintf("new in %d", row)
			n.write(path, join(lines))
			n.wantText(strings.Join(lines, "\n"))
		}
		cost("the first write", size+size/10+little, func() { write(100) })
		cost("a write", little, func() { write(19_999) })
		cost("a write", little, func() { write(0) })
		n.cmd("undo")
		lines[0] = "line 0 of the file"
		cost("a read after an undo", size+size/10+little, func() {
			if got := n.read(path); got != join(lines) {
				t.Error("another text was read after an undo")
			}
		})
		cost("a read of the same", little, func() {
			if got := n.read(path); got != join(lines) {
				t.Error("another text was read")
			}
		})
		cost("a write into unsaved text", little, func() { write(5000) })
		n.want("&modified", truth(false))
		n.cmd("set noendofline nofixendofline")
		n.cmd("set modified")
		if got := n.read(path); got != strings.TrimSuffix(join(lines), "\n") {
			t.Error("the text does not end as :write would end it")
		}
	})
}
