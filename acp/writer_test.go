package acp

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
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

// Only a write can be stuck: not a writer that has nothing to write, before its first frame and after one, however long.
func TestWhenAWriteIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		out := &writer{w: w, limit: 100, stallAfter: time.Minute, flushGrace: time.Minute, onError: func(error) {}}
		out.start()
		stuck := func(after time.Duration, want bool) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			select {
			case <-out.stalled:
				check.Equal(t, true, want, "after another "+after.String()+" a write is stuck: %v")
			default:
				check.Equal(t, false, want, "after another "+after.String()+" a write is stuck: %v")
			}
		}
		line := frame{[]byte("["), []byte("1"), []byte("]\n")}
		stuck(time.Hour, false)
		must.Do(t, out.enqueue(line))
		_, err := io.ReadFull(r, make([]byte, line.size()))
		must.Do(t, err)
		stuck(time.Hour, false)
		must.Do(t, out.enqueue(line))
		stuck(time.Minute-1, false)
		stuck(1, true)
		out.close()
		must.Do(t, r.Close())
		<-out.done
	})
}
