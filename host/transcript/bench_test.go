package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
)

// taken is all that a transcript has to send, in bytes.
func taken(tr *Transcript) int {
	n := 0
	for tr.Sync(); tr.Dirty(); {
		bytes, _ := cost(tr.Take(256 << 10))
		n += bytes
	}
	return n
}

// 500 calls of three updates each, taken after each update.
func BenchmarkCalls(b *testing.B) {
	for b.Loop() {
		w := newWorld()
		tr := New(w.conv, w.config())
		sent := 0
		for i := range 500 {
			id := fmt.Sprint(i)
			for _, status := range []session.ToolCallStatus{session.StatusPending, session.StatusInProgress, session.StatusCompleted} {
				w.apply(session.ToolCallPatch{ID: id, Title: acp.Set("Read a.go"), Kind: acp.Set(session.KindRead), Status: acp.Set(status)})
				sent += taken(tr)
			}
		}
		b.ReportMetric(float64(sent), "B/sent")
	}
}

// A command whose output the agent sends anew with each of 500 lines of 2 KB.
func BenchmarkGrowingOutput(b *testing.B) {
	text := numbers(1000, 1499, strings.Repeat("0123456789", 199)+" %d ")
	for _, controls := range []string{"plain", "colours"} {
		b.Run(controls, func(b *testing.B) {
			for b.Loop() {
				w := newWorld()
				config := w.config()
				tr := New(w.conv, config)
				sent := 0
				for i := range 500 {
					part := text[:(i+1)*(len(text)/500)]
					if controls == "colours" {
						part = "\x1b[32m" + part
					}
					w.apply(call(session.KindExecute, session.StatusInProgress, "make", output(part)))
					sent += taken(tr)
				}
				b.ReportMetric(float64(sent), "B/sent")
			}
		})
	}
}

// A diff of 5,000 lines, opened.
func BenchmarkOpenedDiff(b *testing.B) {
	old, text := numbers(1, 5000, "line %d"), numbers(1, 5000, "changed %d")
	for b.Loop() {
		w := newWorld()
		tr := New(w.conv, w.config())
		w.apply(call(session.KindEdit, session.StatusInProgress, "a", change("/project/a", old, text)))
		taken(tr)
		tr.Fold(0, Open)
		b.ReportMetric(float64(taken(tr)), "B/sent")
	}
}

// A tick of the clock in a chat whose command has a megabyte of output.
func BenchmarkTick(b *testing.B) {
	w := newWorld()
	tr := New(w.conv, w.config())
	w.apply(call(session.KindExecute, session.StatusInProgress, "make", output(numbers(1, 50_000, "some output %d"))))
	taken(tr)
	for b.Loop() {
		tr.Tick()
		if n := taken(tr); n != 0 {
			b.Fatalf("a tick sends %d bytes", n)
		}
	}
}

// A diff of 10,000 lines in many hunks that is located and then opened.
func BenchmarkOpenedHunks(b *testing.B) {
	var old, text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&old, "value[%d] = compute(%[1]d, seed)\n", i)
		fmt.Fprintf(&text, "value[%d] = %s(%[1]d, seed)\n", i, []string{"derive", "compute"}[i%2])
	}
	for b.Loop() {
		w := newWorld()
		tr := New(w.conv, w.config())
		w.apply(call(session.KindEdit, session.StatusInProgress, "a", change("/project/a", old.String(), text.String())))
		taken(tr)
		tr.Fold(0, Open)
		b.ReportMetric(float64(taken(tr)), "B/sent")
	}
}
