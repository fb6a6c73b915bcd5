package mailbox

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// runMailbox starts a mailbox in a bubble of synctest: a goroutine that is left
// behind when the test has ended fails it.
func runMailbox(m *Mailbox) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		m.Run()
	}()
	return done
}

func TestMailboxKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New()
		done := runMailbox(m)
		const senders, each = 8, 1000
		got := make([][]int, senders)
		var wg sync.WaitGroup
		for s := range senders {
			wg.Go(func() {
				put := m.Put
				if s%2 == 1 {
					put = m.PutSlowly
				}
				for i := range each {
					put(func() { got[s] = append(got[s], i) })
				}
			})
		}
		wg.Wait()
		m.Close()
		<-done
		for s := range got {
			if len(got[s]) != each || !slices.IsSorted(got[s]) {
				t.Errorf("of sender %d came %d, in order: %v", s, len(got[s]), slices.IsSorted(got[s]))
			}
		}
	})
}

func TestMailboxRunsOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New()
		done := runMailbox(m)
		var log []string
		held := make(chan struct{})
		m.Put(func() { <-held; log = append(log, "first") })
		m.Put(func() {
			log = append(log, "second")
			m.Put(func() { log = append(log, "fourth") }) // by itself
		})
		m.Put(func() { log = append(log, "third") })
		synctest.Wait()
		check.Slice(t, log, nil, "%v ran beside the first")
		close(held)
		synctest.Wait()
		check.Slice(t, log, []string{"first", "second", "third", "fourth"}, "ran %v")
		m.Close()
		<-done
	})
}

// An agent's updates wait when there are too many; what others put never does.
func TestMailboxFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New()
		count, put := 0, 0
		flooded := make(chan struct{})
		go func() {
			defer close(flooded)
			for range floodLimit + 10 {
				m.PutSlowly(func() { count++ })
				put++
			}
		}()
		synctest.Wait()
		if put != floodLimit {
			t.Errorf("%d went in, the limit is %d", put, floodLimit)
		}
		for range 5 {
			if !m.Put(func() { count++ }) {
				t.Error("an open mailbox took nothing")
			}
		}
		done := runMailbox(m)
		<-flooded
		m.Close()
		<-done
		if want := floodLimit + 15; count != want {
			t.Errorf("%d ran, want %d", count, want)
		}
	})
}

// What was put before the end runs; what comes after it is refused.
func TestMailboxClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New()
		var log []string
		m.Put(func() {
			log = append(log, "a")
			m.Put(func() { log = append(log, "b") })
			m.Close()
			m.Close()
			if m.Put(func() { log = append(log, "late") }) || m.PutSlowly(func() { log = append(log, "late") }) {
				t.Error("a closed mailbox took something")
			}
		})
		m.Put(func() { log = append(log, "c") })
		<-runMailbox(m)
		check.Slice(t, log, []string{"a", "c", "b"}, "ran %v")
	})
}

func TestMailboxCloseBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New()
		ran := false
		m.Put(func() { ran = true })
		m.Close()
		<-runMailbox(m)
		if !ran {
			t.Error("what was put before the end did not run")
		}
	})
}

// Whoever waits for room is let go.
func TestMailboxCloseInAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New()
		for range floodLimit {
			m.Put(func() {})
		}
		refused := make(chan bool)
		for range 3 {
			go func() { refused <- !m.PutSlowly(func() { t.Error("ran after the end") }) }()
		}
		synctest.Wait()
		m.Close()
		for range 3 {
			if !<-refused {
				t.Error("a closed mailbox took something")
			}
		}
		<-runMailbox(m)
	})
}
