package acp

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// What can no longer be sent is not kept and not recorded as sent. That the connection has been closed is an error; that
// it is ending by itself is told by its end.
func TestFramesThatComeTooLate(t *testing.T) {
	for _, c := range []struct {
		closed, failed bool
		want           error
		kept           int
	}{{false, false, nil, 1}, {true, false, ErrClosed, 0}, {false, true, nil, 0}, {true, true, ErrClosed, 0}} {
		w := writer{limit: 100, traffic: NewTraffic(0), closed: c.closed, failed: c.failed, wake: make(chan struct{}, 1)}
		check.Equal(t, w.enqueue(frame{[]byte("["), []byte("1"), []byte("]\n")}), c.want, "%+v: %v", c)
		check.Equal(t, len(w.frames), c.kept, "%+v: %d frames are kept", c)
		check.Equal(t, len(w.traffic.Entries()), c.kept, "%+v: %d frames are recorded", c)
	}
}
