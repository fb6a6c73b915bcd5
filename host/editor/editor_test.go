package editor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// neovim is a fake one. It takes the time that busy says for each batch, and keeps the names of the operations.
type neovim struct {
	t       *testing.T
	busy    func(ops int) time.Duration
	answer  func(name string) any // default: true and the name
	err     error                 // of the next batch
	running atomic.Bool
	held    chan struct{} // a batch waits for it, if it is set

	mu      sync.Mutex
	batches [][]string
	begun   []time.Time
}

func (n *neovim) Batch(ops []any) ([]any, time.Duration, error) {
	if n.running.Swap(true) {
		n.t.Error("two batches in flight")
	}
	defer n.running.Store(false)
	var names []string
	var answers []any
	for _, op := range ops {
		name := op.([]any)[0].(string)
		names = append(names, name)
		switch {
		case n.answer != nil:
			if a := n.answer(name); a != nil {
				answers = append(answers, a)
			}
		default:
			answers = append(answers, []any{true, name})
		}
	}
	n.mu.Lock()
	n.batches, n.begun = append(n.batches, names), append(n.begun, time.Now())
	n.mu.Unlock()
	if n.held != nil {
		<-n.held
	}
	var busy time.Duration
	if n.busy != nil {
		busy = n.busy(len(ops))
		time.Sleep(busy) // of a synctest bubble
	}
	return answers, busy, n.err
}

func (n *neovim) seen() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var b []string
	for _, names := range n.batches {
		b = append(b, strings.Join(names, " "))
	}
	return strings.Join(b, " | ")
}

// run starts an editor in a bubble of synctest, where time is virtual, and ends it with the test.
func run(t *testing.T, n *neovim) *Editor {
	t.Helper()
	n.t = t
	e := New(n)
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.Run()
	}()
	t.Cleanup(func() {
		e.Close()
		if n.held != nil {
			close(n.held)
		}
		<-done
	})
	return e
}

// feed is a source with changes, each an operation with its name. It is used by the editor
// goroutine alone, and by the test when that is idle.
type feed struct {
	name     string
	interval time.Duration
	left     int // changes
	cost     int // bytes of one
	taken    []time.Time
	budgets  []int
	onTake   func()
}

func (s *feed) Interval() time.Duration { return s.interval }

func (s *feed) Take(budget int) (ops []Op, more bool) {
	s.taken = append(s.taken, time.Now())
	s.budgets = append(s.budgets, budget)
	if s.onTake != nil {
		s.onTake()
	}
	for s.left > 0 && budget > 0 {
		ops = append(ops, Op{Name: s.name})
		s.left--
		budget -= s.cost
	}
	return ops, s.left > 0
}

// ends counts how often operations were answered, and with what.
type ends struct {
	mu  sync.Mutex
	got map[string][]string
}

func (e *ends) op(name string) Op {
	return Op{Name: name, Done: func(result any, err error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.got == nil {
			e.got = map[string][]string{}
		}
		e.got[name] = append(e.got[name], fmt.Sprintf("%v, %v", result, err))
	}}
}

func (e *ends) want(t *testing.T, want map[string]string) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, answers := range e.got {
		if len(answers) != 1 || answers[0] != want[name] {
			t.Errorf("%s was answered %q, want %q", name, answers, want[name])
		}
	}
	if len(e.got) != len(want) {
		t.Errorf("%d operations were answered, want %d", len(e.got), len(want))
	}
}

func TestPost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &neovim{answer: func(name string) any {
			switch name {
			case "fails":
				return []any{false, "E21"}
			case "odd":
				return "what"
			case "empty":
				return []any{}
			case "nothing":
				return []any{true}
			}
			return []any{true, "result of " + name}
		}}
		e := run(t, n)
		var got ends
		for _, name := range []string{"a", "fails", "odd", "empty", "nothing"} {
			e.Post(got.op(name))
		}
		e.Post(Op{Name: "without Done"})
		synctest.Wait()
		got.want(t, map[string]string{
			"a":       "result of a, <nil>",
			"fails":   "<nil>, fails: E21",
			"odd":     "<nil>, odd: malformed answer from Neovim: what",
			"empty":   "<nil>, empty: malformed answer from Neovim: []",
			"nothing": "<nil>, <nil>",
		})
		check.Equal(t, strings.ReplaceAll(n.seen(), " |", ""), "a fails odd empty nothing without Done",
			"in the order %s")
	})
}

func TestTooFewAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &neovim{held: make(chan struct{}), answer: func(name string) any {
			if name == "b" {
				return nil
			}
			return []any{true, name}
		}}
		e := run(t, n)
		var got ends
		e.Post(Op{Name: "first"})
		synctest.Wait()
		e.Post(got.op("a"))
		e.Post(got.op("b"))
		n.held <- struct{}{}
		n.held <- struct{}{}
		synctest.Wait()
		got.want(t, map[string]string{"a": "a, <nil>", "b": "<nil>, b: no answer from Neovim"})
	})
}

// What comes while Neovim works is one batch more, however long it takes.
func TestOneBatchInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &neovim{held: make(chan struct{})}
		e := run(t, n)
		s := &feed{name: "s", left: 1}
		e.Post(Op{Name: "a"})
		synctest.Wait()
		e.Post(Op{Name: "b"})
		e.Mark(s)
		e.Post(Op{Name: "c"})
		e.Mark(s)
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := n.seen(); got != "a" || len(s.taken) != 0 {
			t.Errorf("while Neovim works: %s, and %d times asked a source", got, len(s.taken))
		}
		n.held <- struct{}{}
		synctest.Wait()
		if got := n.seen(); got != "a | b c" { // the source lets Neovim rest first
			t.Errorf("then: %s", got)
		}
		n.held <- struct{}{}
		time.Sleep(frame)
		synctest.Wait()
		check.Equal(t, n.seen(), "a | b c | s", "in the end: %s")
	})
}

// Batches that take all there is begin a frame apart, others as soon as Neovim has had its rest.
func TestFrames(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		full       bool
		busy, want time.Duration
	}{
		{false, 0, frame}, {false, 3 * ms, frame}, {false, frame - rest, frame}, {false, frame, frame + rest},
		{false, time.Second, time.Second + rest},
		{true, 0, rest}, {true, 3 * ms, 3*ms + rest}, {true, time.Second, time.Second + rest},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := &neovim{busy: func(int) time.Duration { return test.busy }}
			e := run(t, n)
			s := &feed{name: "s", left: 10, cost: 1 << 20}
			if !test.full {
				s.onTake = func() {
					s.left = 1
					if len(s.taken) < 10 {
						e.Mark(s)
					}
				}
			}
			e.Mark(s)
			time.Sleep(time.Minute)
			synctest.Wait()
			must.Equal(t, len(n.begun), 10, "%d batches")
			for i := 1; i < len(n.begun); i++ {
				if got := n.begun[i].Sub(n.begun[i-1]); got != test.want {
					t.Errorf("busy for %v, full: %v: batch %d came %v after the one before it, want %v",
						test.busy, test.full, i, got, test.want)
				}
			}
		})
	}
}

// What is hurried waits for no frame and no interval, but lets Neovim rest, and does not hold up the next frame.
func TestHurry(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		e := run(t, &neovim{})
		start := time.Now()
		shown := &feed{name: "s", left: 9}
		hidden := &feed{name: "h", left: 9, interval: 100 * ms}
		e.Mark(shown)
		e.Mark(hidden)
		time.Sleep(ms)
		synctest.Wait()
		shown.left, hidden.left = 9, 9
		e.Mark(shown)
		e.Mark(hidden)
		e.Hurry(hidden)
		time.Sleep(time.Second)
		synctest.Wait()
		hidden.left = 9
		e.Mark(hidden)
		time.Sleep(time.Second)
		synctest.Wait()
		for _, test := range []struct {
			feed *feed
			want []time.Duration
		}{
			{shown, []time.Duration{0, frame}},
			{hidden, []time.Duration{0, rest, time.Second + ms}},
		} {
			if len(test.feed.taken) != len(test.want) {
				t.Fatalf("%s was asked %d times, want %d", test.feed.name, len(test.feed.taken), len(test.want))
			}
			for i, want := range test.want {
				check.Equal(t, test.feed.taken[i].Sub(start), want, "%s was asked after %v", test.feed.name)
			}
		}
	})
}

// A call does not hold up the next frame either.
func TestPostHoldsUpNoFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := run(t, &neovim{})
		start := time.Now()
		s := &feed{name: "s", left: 1}
		e.Mark(s)
		synctest.Wait()
		s.left = 1
		e.Mark(s)
		time.Sleep(frame / 2)
		e.Post(Op{Name: "call"})
		time.Sleep(time.Second)
		synctest.Wait()
		if len(s.taken) != 2 || s.taken[1].Sub(start) != frame {
			t.Errorf("%d times asked, the last time after %v", len(s.taken), s.taken[len(s.taken)-1].Sub(start))
		}
	})
}

// A call does not wait for a frame.
func TestPostBetweenFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &neovim{}
		e := run(t, n)
		start := time.Now()
		e.Mark(&feed{name: "s", left: 2, cost: 1 << 20})
		synctest.Wait()
		e.Post(Op{Name: "now"})
		synctest.Wait()
		if got := n.seen(); got != "s | now" || time.Since(start) != 0 {
			t.Errorf("after %v: %s", time.Since(start), got)
		}
	})
}

func TestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := run(t, &neovim{})
		hidden := &feed{name: "h", interval: 100 * time.Millisecond, left: 3, cost: 1 << 20}
		shown := &feed{name: "s", left: 3, cost: 1 << 20}
		e.Mark(hidden)
		e.Mark(shown)
		time.Sleep(time.Second)
		synctest.Wait()
		// Which of them is the first to be asked is left open.
		for i, want := range []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond} {
			check.Equal(t, hidden.taken[i].Sub(hidden.taken[0]), want, "the hidden one was asked after %v")
			check.Equal(t, shown.taken[i].Sub(shown.taken[0]), time.Duration(i)*rest, "the shown one was asked after %v")
		}
	})
}

// Nobody is asked who has nothing, and a mark that comes meanwhile counts.
func TestMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &neovim{}
		e := run(t, n)
		s := &feed{name: "s"}
		e.Mark(s)
		e.Mark(s)
		time.Sleep(time.Minute)
		synctest.Wait()
		must.Equal(t, len(s.taken), 1, "asked %d times")
		s.onTake = func() {
			s.onTake = nil
			e.Mark(s)
		}
		e.Mark(s)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(s.taken) != 3 || n.seen() != "" {
			t.Errorf("asked %d times, sent %q", len(s.taken), n.seen())
		}
	})
}

func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &neovim{}
		e := run(t, n)
		s, other := &feed{name: "s", left: 5, cost: 1 << 20}, &feed{name: "o", left: 1}
		s.onTake = func() { e.Forget(s) } // it ends while it is asked
		e.Mark(s)
		time.Sleep(time.Minute)
		synctest.Wait()
		check.Equal(t, len(s.taken), 1, "a forgotten source was asked %d times")
		e.Mark(other)
		e.Forget(other)
		e.Forget(other)
		e.Forget(&feed{})
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(e.sources) != 0 || len(e.marked) != 0 {
			t.Errorf("%d sources are kept", len(e.sources))
		}
	})
}

// Sources with endless changes get equal shares of every batch.
func TestSourcesAreAskedFairly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &neovim{busy: func(int) time.Duration { return busyGoal }} // the budget stays
		e := run(t, n)
		var all []*feed
		for i := range 4 {
			s := &feed{name: fmt.Sprint(i), left: 1 << 20, cost: 1 << 10}
			all = append(all, s)
		}
		hold := &feed{name: "hold", onTake: func() {
			for _, s := range all {
				e.Mark(s)
			}
		}}
		e.Mark(hold) // so that they are all marked at the same time
		time.Sleep(time.Second)
		e.Close()
		synctest.Wait()
		for _, s := range all {
			if len(s.taken) < 40 || len(s.taken) != len(all[0].taken) || s.left != all[0].left {
				t.Errorf("source %s was asked %d times and has %d left, the first %d and %d", s.name, len(s.taken), s.left, len(all[0].taken), all[0].left)
			}
			if i := slices.IndexFunc(s.budgets, func(b int) bool { return b != firstBudget/4 }); i >= 0 {
				t.Errorf("source %s was given a budget of %d", s.name, s.budgets[i])
			}
		}
	})
}

func TestAdapt(t *testing.T) {
	for _, test := range []struct {
		budget int
		full   bool
		busy   time.Duration
		want   int
	}{
		{256 << 10, true, busyGoal, 256 << 10},
		{256 << 10, true, 4 * busyGoal / 3, 192 << 10},
		{256 << 10, true, 2 * busyGoal, 128 << 10},
		{256 << 10, true, 100 * busyGoal, 128 << 10}, // it may have been something else
		{256 << 10, false, 2 * busyGoal, 128 << 10},
		{minBudget, true, time.Second, minBudget},
		{128 << 10, true, 2 * busyGoal / 3, 192 << 10},
		{128 << 10, true, busyGoal / 2, 256 << 10},
		{128 << 10, true, 0, 256 << 10},
		{128 << 10, false, 0, 128 << 10},
		{maxBudget, true, 0, maxBudget},
	} {
		check.Equal(t, adapt(test.budget, test.full, test.busy), test.want,
			"after %v with %d (full: %v): %d", test.busy, test.budget, test.full)
	}
}

// A fast Neovim gets ever more at once.
func TestBudgetGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := run(t, &neovim{})
		s := &feed{name: "s", left: 5000, cost: 1 << 10}
		e.Mark(s)
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []int{firstBudget, 2 * firstBudget, maxBudget, maxBudget}
		if !slices.Equal(s.budgets[:len(want)], want) {
			t.Errorf("budgets %v", s.budgets)
		}
	})
}

// The budget finds the size that a frame can bear, and small batches, which are always quick, do not make it grow.
func TestBudgetFindsItsSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &neovim{busy: func(ops int) time.Duration { return time.Duration(ops) * 100 * time.Microsecond }}
		e := run(t, n)
		s := &feed{name: "s", left: 5000, cost: 1 << 10}
		e.Mark(s)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		must.Equal(t, s.left, 0, "%d left")
		for i, names := range n.batches[3:] {
			if busy := time.Duration(len(names)) * 100 * time.Microsecond; busy > 8*time.Millisecond {
				t.Errorf("batch %d kept Neovim busy for %v", i, busy)
			}
		}
		before := s.budgets[len(s.budgets)-1]
		for range 100 {
			s.left = 1
			e.Mark(s)
			time.Sleep(frame)
			synctest.Wait()
		}
		if after := s.budgets[len(s.budgets)-1]; after > before+before/4 {
			t.Errorf("small batches made the budget grow from %d to %d", before, after)
		}
	})
}

func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &neovim{answer: func(name string) any { return []any{name != "bad", name + "!"} }}
		e := run(t, n)
		if got, err := e.Call(t.Context(), Op{Name: "good", Args: map[string]any{"a": 1}}); got != "good!" || err != nil {
			t.Errorf("%v, %v", got, err)
		}
		if got, err := e.Call(t.Context(), Op{Name: "bad", Args: nil}); got != nil || err == nil || err.Error() != "bad: bad!" {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// A caller can give up on a Neovim that does not answer.
func TestCallGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &neovim{held: make(chan struct{})}
		e := run(t, n)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := e.Call(ctx, Op{Name: "a", Args: nil}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestNeovimGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &neovim{held: make(chan struct{}), err: errors.New("EOF")}
		e := run(t, n)
		var got ends
		e.Post(got.op("a"))
		synctest.Wait()
		e.Post(got.op("b"))
		s := &feed{name: "s", left: 1}
		e.Mark(s)
		n.held <- struct{}{}
		synctest.Wait()
		<-e.Gone()
		e.Post(got.op("c"))
		e.Mark(s)
		if _, err := e.Call(t.Context(), Op{Name: "d", Args: nil}); !errors.Is(err, ErrGone) {
			t.Errorf("a call of a Neovim that is gone: %v", err)
		}
		synctest.Wait()
		gone := "<nil>, " + ErrGone.Error()
		got.want(t, map[string]string{"a": gone + ": EOF", "b": gone, "c": gone})
		if n.seen() != "a" || len(s.taken) != 0 {
			t.Errorf("sent %s", n.seen())
		}
	})
}

// What is in flight when the editor is closed gets its answer; what was not sent is not.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &neovim{held: make(chan struct{})}
		e := run(t, n)
		var got ends
		s := &feed{name: "s", left: 1}
		e.Post(got.op("a"))
		synctest.Wait()
		e.Post(got.op("b"))
		e.Mark(s)
		e.Close()
		e.Close()
		<-e.Gone()
		e.Post(got.op("c"))
		n.held <- struct{}{}
		time.Sleep(time.Minute)
		synctest.Wait()
		gone := "<nil>, " + ErrGone.Error()
		got.want(t, map[string]string{"a": "a, <nil>", "b": gone, "c": gone})
		if n.seen() != "a" || len(s.taken) != 0 {
			t.Errorf("sent %s", n.seen())
		}
	})
}

func TestCloseBeforeRun(t *testing.T) {
	e := New(&neovim{t: t})
	var got ends
	e.Post(got.op("a"))
	e.Close()
	e.Run()
	got.want(t, map[string]string{"a": "<nil>, " + ErrGone.Error()})
}

// Whenever the end comes, every operation is answered once.
func TestDoneExactlyOnce(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		n := &neovim{t: t}
		closeAt, failAt := r.IntN(40), r.IntN(60)
		e := New(n)
		batches := 0
		n.answer = func(name string) any {
			if batches++; batches == failAt {
				n.err = errors.New("EOF")
			}
			return []any{true, name}
		}
		var wg sync.WaitGroup
		wg.Go(e.Run)
		var answers [4][10]atomic.Int32
		for g := range answers {
			wg.Go(func() {
				for i := range answers[g] {
					if g*10+i == closeAt {
						e.Close()
					}
					e.Post(Op{Name: "op", Done: func(any, error) { answers[g][i].Add(1) }})
				}
			})
		}
		wg.Wait()
		for g := range answers {
			for i := range answers[g] {
				must.Equal(t, answers[g][i].Load(), 1, "seed %d: an operation was answered %d times", seed)
			}
		}
	}
}
