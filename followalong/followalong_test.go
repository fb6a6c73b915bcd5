package followalong

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// start is when each test begins.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

// step is one event of a script, at a time in milliseconds.
type step struct {
	ms int
	do func(f *Follower, now time.Time)
}

func see(ms int, path string, line int, kind Kind) step {
	return seeOf(ms, 1, path, line, kind)
}

func seeOf(ms, session int, path string, line int, kind Kind) step {
	return step{ms, func(f *Follower, now time.Time) {
		f.See(now, Place{Session: session, Path: path, Line: line, Kind: kind})
	}}
}

func when(ms int, do func(f *Follower)) step {
	return step{ms, func(f *Follower, _ time.Time) { do(f) }}
}

func on(ms int) step     { return when(ms, (*Follower).Start) }
func active(ms int) step { return step{ms, (*Follower).Active} }
func begin(ms, session int) step {
	return when(ms, func(f *Follower) { f.Begin(session) })
}
func end(ms, session int) step {
	return when(ms, func(f *Follower) { f.End(session) })
}

// play runs a script and gives the jumps with their times; each succeeds at once.
func play(f *Follower, script []step, until int) (jumps []string) {
	for ms := 0; ms <= until; ms++ {
		for _, s := range script {
			if s.ms == ms {
				s.do(f, at(ms))
			}
		}
		if j, ok := f.Take(at(ms)); ok {
			line := j.Line
			if line == 0 {
				line = j.Seen
			}
			jumps = append(jumps, fmt.Sprintf("%d %s:%d", ms, j.Path, line))
			f.Done(j, line)
		}
	}
	return jumps
}

func TestJumps(t *testing.T) {
	for _, c := range []struct {
		name   string
		script []step
		want   []string
	}{
		{"off", []step{see(0, "a", 1, Read)}, nil},
		{"one place, after a rest", []step{on(0), see(10, "a", 7, Read)}, []string{"160 a:7"}},
		{
			"a burst is one jump, to the last",
			[]step{on(0), see(0, "a", 1, Read), see(100, "b", 2, Read), see(200, "c", 3, Read)},
			[]string{"350 c:3"},
		},
		{
			"two bursts are two",
			[]step{on(0), see(0, "a", 1, Read), see(200, "b", 2, Read)},
			[]string{"150 a:1", "350 b:2"},
		},
		{
			"in a burst an edit counts more than reads",
			[]step{on(0), see(0, "a", 1, Read), see(10, "b", 2, Edit), see(20, "c", 3, Read), see(100, "d", 4, Read)},
			[]string{"250 b:2"},
		},
		{
			"and the last edit more than others",
			[]step{on(0), see(0, "a", 1, Edit), see(10, "b", 2, Edit), see(20, "c", 3, Read)},
			[]string{"170 b:2"},
		},
		{
			"a line that comes late",
			[]step{on(0), see(0, "a", 0, Edit), see(300, "a", 40, Edit)},
			[]string{"150 a:0", "450 a:40"},
		},
		{
			"told again without a line",
			[]step{on(0), see(0, "a", 40, Edit), see(100, "a", 0, Edit), see(300, "b", 1, Read)},
			[]string{"150 a:40", "450 b:1"},
		},
		{
			"a line told before an edit moves with it",
			[]step{
				on(0), see(0, "a", 40, Read), see(10, "b", 7, Read),
				when(50, func(f *Follower) {
					for _, path := range []string{"a", "b", "c"} {
						f.Edited(path, func(line int) int { return line + 2 })
					}
				}),
				see(300, "a", 0, Read),
			},
			[]string{"160 b:9", "450 a:42"},
		},
		{
			"without a line, where it was last seen",
			[]step{on(0), see(0, "a", 40, Read), see(300, "b", 1, Read), see(600, "a", 0, Edit)},
			[]string{"150 a:40", "450 b:1", "750 a:40"},
		},
		{
			"seen though it was not shown",
			[]step{on(0), see(0, "a", 40, Read), see(50, "b", 1, Read), see(300, "a", 0, Read)},
			[]string{"200 b:1", "450 a:40"},
		},
		{
			"the same place told again is no movement",
			[]step{on(0), see(0, "a", 3, Edit), see(100, "a", 3, Edit), see(140, "a", 3, Edit)},
			[]string{"150 a:3"},
		},
		{"paused", []step{on(0), see(0, "a", 1, Read), when(100, (*Follower).Pause), see(500, "b", 2, Edit)}, nil},
		{
			"resumed, to where the agent is",
			[]step{on(0), begin(0, 1), when(50, (*Follower).Pause), see(100, "a", 1, Read), see(300, "b", 2, Read), on(1000)},
			[]string{"1000 b:2"},
		},
		{
			"resumed after the turn, to what comes",
			[]step{on(0), when(50, (*Follower).Pause), see(100, "a", 1, Read), on(1000), see(1100, "b", 2, Read)},
			[]string{"1250 b:2"},
		},
		{
			"started in the middle of a turn",
			[]step{begin(0, 1), see(100, "a", 1, Read), on(1000)},
			[]string{"1000 a:1"},
		},
		{
			"started twice",
			[]step{begin(0, 1), on(0), see(100, "a", 1, Read), on(1000)},
			[]string{"250 a:1"},
		},
		{
			"the user is in the window",
			[]step{on(0), see(0, "a", 1, Read), active(100), active(1000)},
			[]string{"3000 a:1"},
		},
		{
			"what came meanwhile is newer, whatever it is",
			[]step{on(0), see(0, "a", 1, Edit), active(100), see(1000, "b", 2, Read)},
			[]string{"2100 b:2"},
		},
		{
			"locked",
			[]step{on(0), see(0, "a", 1, Read), when(100, (*Follower).Lock), when(700, (*Follower).Unlock)},
			[]string{"700 a:1"},
		},
		{
			"the session prompted last, then whoever works",
			[]step{
				on(0), begin(0, 1), begin(0, 2), seeOf(0, 2, "b", 2, Read), seeOf(50, 1, "a", 1, Edit),
				end(400, 2), seeOf(500, 2, "late", 9, Edit), seeOf(500, 1, "a", 1, Read),
				end(800, 1), seeOf(900, 2, "late", 9, Edit),
			},
			[]string{"150 b:2", "650 a:1", "1050 late:9"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := play(&Follower{}, c.script, 5000)
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("jumps are %v, expected %v", got, c.want)
			}
		})
	}
}

func TestReturnedJumps(t *testing.T) {
	f := &Follower{}
	f.Start()
	f.See(at(0), Place{Path: "a", Line: 1})
	take := func(ms int) Jump {
		t.Helper()
		j, ok := f.Take(at(ms))
		if !ok {
			t.Fatalf("no jump at %d", ms)
		}
		return j
	}
	none := func(ms int, why string) {
		t.Helper()
		if j, ok := f.Take(at(ms)); ok {
			t.Fatalf("a jump to %s at %d: %s", j.Path, ms, why)
		}
	}
	j := take(150)
	f.See(at(160), Place{Path: "b", Line: 2})
	none(1000, "the first is under way")
	f.Return(j)
	j = take(1000)
	check.Equal(t, j.Path, "b", "an older place is shown: %s")
	f.Return(j)
	f.Lock()
	none(1100, "locked")
	f.Unlock()
	if j = take(1100); j.Path != "b" {
		t.Errorf("returned is %s", j.Path)
	}
	f.Pause()
	f.Return(j)
	none(5000, "paused")
	f.Start()
	none(6000, "what was returned while paused is over")
	f.Stop()
	f.See(at(6000), Place{Path: "c"})
	none(7000, "off")
	if _, ok := f.Next(); ok {
		t.Error("something is due though nothing is followed")
	}
}

// model is what the promises say of a sequence of events, told more simply.
type model struct {
	on, paused, locked, flying bool

	turns  []int
	user   time.Time // the user's last action in the window since it was marked or given back
	newest time.Time // when the last place came that counts
	burst  []Place   // the places since the last jump without a rest between them
	last   []Place   // one at most: what is shown first when following begins
}

func (m *model) counts(session int) bool {
	return len(m.turns) == 0 || m.turns[len(m.turns)-1] == session
}

func (m *model) end(session int) {
	var kept []int
	for _, s := range m.turns {
		if s != session {
			kept = append(kept, s)
		}
	}
	m.turns = kept
}

func (m *model) see(now time.Time, p Place) {
	if !m.counts(p.Session) {
		return
	}
	if len(m.burst) > 0 {
		if b := m.best(); b.Session == p.Session && b.Path == p.Path && b.Kind == p.Kind && p.Line == 0 {
			return // it tells nothing more
		}
	}
	if now.Sub(m.newest) >= Rest && (len(m.burst) == 0 || !again(m.best(), p)) {
		m.burst = nil
	}
	if !m.on || m.paused {
		m.last, m.newest = []Place{p}, now
		return
	}
	if len(m.burst) == 0 || !again(m.best(), p) {
		m.newest = now
	}
	m.burst = append(m.burst, p)
	m.last = []Place{m.best()}
}

// best is the place that a burst leads to.
func (m *model) best() Place {
	best := m.burst[0]
	for _, p := range m.burst {
		if p.Kind == Edit || best.Kind == Read {
			best = p
		}
	}
	return best
}

func again(a, b Place) bool { return a.Path == b.Path && a.Line == b.Line && a.Kind == b.Kind }

// Any sequence of places, of the user's actions and of time keeps the promises: nothing is shown that
// should not be, nothing that should be is not, and it is the right place.
func TestRandomSequences(t *testing.T) {
	jumps := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		f, m, now := &Follower{}, &model{}, start
		var flight Jump
		for range 400 {
			now = now.Add(time.Duration(r.IntN(120)) * time.Millisecond)
			switch n := r.IntN(40); {
			case n < 3:
				f.Start()
				if !m.on || m.paused {
					m.on, m.paused, m.burst, m.user = true, false, nil, time.Time{}
					if len(m.turns) > 0 {
						m.burst = m.last
					}
				}
			case n == 3:
				f.Stop()
				m.on, m.paused, m.locked, m.burst = false, false, false, nil
			case n == 4:
				f.Pause()
				if m.on {
					m.paused, m.burst = true, nil
				}
			case n == 5:
				f.Active(now)
				m.user = now
			case n < 8:
				if m.locked = m.on && !m.locked; m.locked {
					f.Lock()
				} else {
					f.Unlock()
				}
			case n < 12:
				s := r.IntN(2)
				f.Begin(s)
				m.end(s)
				m.turns = append(m.turns, s)
			case n < 16:
				s := r.IntN(2)
				f.End(s)
				m.end(s)
			case n == 16:
				now = now.Add(3 * time.Second)
			case n < 21:
				if m.flying && r.IntN(2) == 0 {
					f.Return(flight)
					if m.on && !m.paused && len(m.burst) == 0 {
						m.burst = []Place{flight.Place}
					}
				} else if m.flying {
					f.Done(flight, flight.Line)
				}
				m.flying = false
			default:
				p := Place{Session: r.IntN(2), Path: string(rune('a' + r.IntN(3))), Line: r.IntN(3), Kind: Kind(r.IntN(2))}
				f.See(now, p)
				m.see(now, p)
			}
			due := m.on && !m.paused && !m.locked && !m.flying && len(m.burst) > 0 &&
				now.Sub(m.newest) >= Rest && now.Sub(m.user) >= Moment
			j, ok := f.Take(now)
			switch {
			case ok != due:
				t.Fatalf("seed %d: jump is %v, due is %v: %+v, %v since the user, %v since the place",
					seed, ok, due, m, now.Sub(m.user), now.Sub(m.newest))
			case !ok:
				continue
			case j.Session != m.best().Session || !again(j.Place, m.best()):
				t.Fatalf("seed %d: the jump is to %+v, expected %+v", seed, j.Place, m.best())
			}
			flight, m.flying, m.burst = j, true, nil
			jumps++
		}
	}
	if jumps < 1000 {
		t.Errorf("only %d jumps: the sequences try too little", jumps)
	}
}
