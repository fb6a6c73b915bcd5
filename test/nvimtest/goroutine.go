package nvimtest

import (
	"context"
	"runtime/pprof"
	"strings"
	"time"
)

// labelKey labels the goroutines a test starts after its Neovim, by inheritance, with that Neovim's
// marker: so that tests that run at the same time are not blamed for each other's.
const labelKey = "nvimtest"

// labelGoroutines labels the calling goroutine, the test's, and those it will start.
func (n *Nvim) labelGoroutines() {
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(labelKey, n.marker)))
}

// checkGoroutines gives the goroutines of the test time to end, then fails it. It takes the label
// off the calling goroutine.
func (n *Nvim) checkGoroutines() {
	n.t.Helper()
	pprof.SetGoroutineLabels(context.Background())
	deadline := time.Now().Add(n.opts.patience / 3)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		left := n.goroutines()
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			n.t.Errorf("goroutines outlive Neovim:\n%s", strings.Join(left, "\n"))
			return
		}
		<-poll.C
	}
}

// goroutines are the stacks of those with this Neovim's label.
func (n *Nvim) goroutines() []string {
	var text strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&text, 1)
	var found []string
	for stack := range strings.SplitSeq(text.String(), "\n\n") {
		// The signal package starts one goroutine for the whole process, on first use.
		if strings.Contains(stack, n.marker) && !strings.Contains(stack, "os/signal.loop") {
			found = append(found, stack)
		}
	}
	return found
}
