package calldiff

import "slices"

// The latest changes are kept with their whole files, up to wholeTexts bytes; older ones only with their hunks, up to
// hunkTexts bytes; and still older ones with topLines lines.
const (
	wholeTexts = 32 << 20
	hunkTexts  = 8 << 20
	topLines   = 200
)

// kept holds changes whose texts together stay below a limit.
type kept struct {
	list []*CallDiff // oldest first
	size int         // of their texts, in bytes
}

// add adds a change, and returns the oldest ones that now exceed the limit.
func (k *kept) add(c *CallDiff, limit int) (over []*CallDiff) {
	k.list = append(k.list, c)
	k.size += c.size()
	for len(k.list) > 1 && k.size > limit {
		over = append(over, k.list[0])
		k.size -= k.list[0].size()
		k.list = k.list[1:]
	}
	return over
}

// release forgets the changes that are dropped or will be located again.
func (k *kept) release() {
	k.list = slices.DeleteFunc(k.list, func(c *CallDiff) bool {
		gone := c.dropped || !c.Settled
		if gone {
			k.size -= c.size()
		}
		return gone
	})
}

func (d *Diffs) release() {
	d.whole.release()
	d.hunks.release()
}

// keep keeps a change whole, and less of older ones.
func (d *Diffs) keep(c *CallDiff) {
	for _, older := range d.whole.add(c, wholeTexts) {
		brief := older.File.Brief()
		older.File = &brief
		for _, oldest := range d.hunks.add(older, hunkTexts) {
			top := oldest.File.Top(topLines)
			oldest.File = &top
		}
	}
}

func (c *CallDiff) size() int { return len(c.File.Old) + len(c.File.New) }
