package acp

import (
	"errors"
	"io"
	"os"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/must"
)

// A pipe that ends before its process is known to have exited is closed like any other.
func TestOutputClosesAtItsEnd(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	must.Do(t, err)
	o := &output{f: r}
	must.Do(t, w.Close())
	if n, err := o.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Fatalf("read %d bytes: %v", n, err)
	}
	if _, err := r.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the pipe is open: %v", err)
	}
}
