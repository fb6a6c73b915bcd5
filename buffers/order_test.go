package buffers

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// What was asked for before is done when the order tells so, and nothing has to come for that.
func TestDrain(t *testing.T) {
	var o order
	drained := make(chan int, 2)
	o.drain(func() { drained <- 0 })
	check.Equal(t, <-drained, 0, "an idle one tells %d")
	dir := t.TempDir()
	for _, running := range []bool{false, true} {
		begun, gate, done := make(chan bool, 2), make(chan bool), make(chan bool, 2)
		for _, name := range []string{"a", "b"} {
			o.add(&job{ctx: context.Background(), path: filepath.Join(dir, name), fail: func(err error) { t.Error(err) }, run: func(string) {
				begun <- true
				<-gate
				done <- true
			}})
		}
		for range cap(begun) {
			if running {
				<-begun
			}
		}
		o.drain(func() { drained <- len(done) })
		gate <- true
		if len(drained) > 0 {
			t.Error("it tells while one is running")
		}
		gate <- true
		check.Equal(t, <-drained, 2, "it tells when %d are done")
	}
}

// It tells so too where a path leads nowhere, of which it is not known yet.
func TestDrainOfPathsThatLeadNowhere(t *testing.T) {
	var o order
	gate, failed := make(chan bool), make(chan error, 3)
	for range cap(failed) {
		o.add(&job{ctx: t.Context(), path: "relative", run: func(string) { t.Error("one runs") }, fail: func(err error) {
			<-gate
			failed <- err
		}})
	}
	drained := make(chan bool)
	o.drain(func() { close(drained) })
	close(gate)
	must.Receive(t, "the end", drained)
	check.Equal(t, len(failed), cap(failed), "%d have failed")
}
