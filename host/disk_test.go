package host

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// A change on the disk may be an agent's if it was made while a turn ran, or just after, whenever it is seen.
func TestWhenAnAgentWorked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w span
		at := func(d time.Duration) time.Time { return time.Now().Add(d) }
		check.Equal(t, w.covers(at(0)), false, "before all turns it is %v")
		w.begin()
		for ago, want := range map[time.Duration]bool{0: true, ledger.Coarse: true, time.Second: false} {
			check.Equal(t, w.covers(at(-ago)), want, "in a turn, %v ago it is %v", ago)
		}
		time.Sleep(time.Minute)
		w.end()
		time.Sleep(time.Second)
		w.begin() // what the turn before has changed may be seen in this one
		check.Equal(t, w.covers(at(-time.Minute)), true, "in the turn before it is %v")
		w.end()
		w.over()
		check.Equal(t, w.covers(at(0)), false, "when all of a turn is known it is %v")
		time.Sleep(time.Hour)
		w.begin()
		check.Equal(t, w.covers(at(-time.Minute)), false, "between two turns it is %v")
	})
}
