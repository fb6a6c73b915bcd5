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

// A change on the disk is taken for that of the agent that works, rather than of one that just worked; of two that of the
// one in whose folder it is, or else the newest.
func TestWhoseAChangeOnTheDiskIs(t *testing.T) {
	for name, c := range map[string]struct {
		worked, works []int // sessions
		want          int   // 0 for none
	}{
		"nobody has worked":          {nil, nil, 0},
		"one has just worked":        {[]int{1}, nil, 1},
		"one works":                  {nil, []int{1}, 1},
		"one works, one just worked": {[]int{3}, []int{1}, 1},
		"two have worked":            {[]int{1, 2}, nil, 2},
		"two work":                   {nil, []int{1, 2}, 2},
		"two work, one in its place": {nil, []int{2, 3}, 3},
		"of the place, just worked":  {[]int{3}, []int{2}, 2},
		"both of the place":          {nil, []int{3, 4}, 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, Options{})
			for id, cwd := range map[int]string{1: "/other", 2: "/other", 3: "/p", 4: "/p"} {
				s := newSession(w.Host, id, puppet, cwd, nil)
				w.sessions[id] = s
				go s.base.Box.Run()
				go s.ledger.Run()
				t.Cleanup(func() { s.on(s.close); synctest.Wait() })
			}
			for _, id := range c.worked {
				w.sessions[id].working.begin()
				w.sessions[id].working.end()
			}
			for _, id := range c.works {
				w.sessions[id].working.begin()
			}
			got := 0
			if s := w.worker("/p/a"); s != nil {
				got = s.id
			}
			check.Equal(t, got, c.want, "%s: it is of session %d", name)
			time.Sleep(time.Hour)
			if s := w.worker("/p/a"); (s == nil) != (len(c.works) == 0) {
				t.Errorf("%s: an hour later it is of %v", name, s)
			}
		})
	}
}
