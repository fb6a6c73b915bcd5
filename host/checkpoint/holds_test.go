package checkpoint

import (
	"os"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestHolds(t *testing.T) {
	s := Open(t.TempDir())
	data := []byte("contents")
	sum, err := s.Put(data)
	must.Do(t, err)
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	touched := func() bool {
		info, err := os.Stat(s.contentPath(sum))
		must.Do(t, err)
		was := info.ModTime().After(old)
		must.Do(t, os.Chtimes(s.contentPath(sum), old, old))
		return was
	}
	touched()
	if s.Holds(Sum{1}, 1) || !s.Holds(sum, len(data)) || !touched() {
		t.Error("the first time it does not look")
	}
	if !s.Holds(sum, len(data)) || touched() {
		t.Error("the second time it looks again")
	}
	if err := s.Save("k", "", nil, sum); err != nil || touched() {
		t.Errorf("a record touches again what it holds: %v", err)
	}
	s.needed[sum] = time.Now().Add(-need)
	if !s.Holds(sum, len(data)) || !touched() {
		t.Error("after a while it does not look again")
	}
	must.Do(t, os.Remove(s.contentPath(sum)))
	if s.Doubt(); s.Holds(sum, len(data)) {
		t.Error("in doubt it does not look")
	}
	for i := range 3 * minHeld {
		s.hold(Sum{2, byte(i), byte(i >> 8)})
		s.needed[Sum{2, byte(i), byte(i >> 8)}] = time.Time{}
	}
	if len(s.needed) > minHeld+1 {
		t.Errorf("%d are remembered", len(s.needed))
	}
}
