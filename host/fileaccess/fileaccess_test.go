package fileaccess

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// agent asks for files of a folder with the files "a" and "b", and notes what comes of it.
type agent struct {
	*testing.T
	queue Queue
	dir   string
	asked []*question // whose answers are due

	mu  sync.Mutex
	log []string // what was done, or failed
}

func (a *agent) note(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.log = append(a.log, what)
}

// question is a call of Decide.
type question struct {
	name, real string
	decided    func(error)
}

// test plays with an agent; after each request and answer, all that can go on has.
func test(t *testing.T, play func(a *agent)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		must.Do(t, err)
		a := &agent{T: t, dir: dir}
		for _, name := range []string{"a", "b"} {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
		}
		must.Do(t, os.Symlink("a", dir+"/alias"))
		play(a)
	})
}

// add asks for a file; free requests are granted at once.
func (a *agent) add(ctx context.Context, name, file string, reads, free bool) {
	a.queue.Add(Request{
		Context: ctx, Path: a.dir + "/" + file, Reads: reads,
		Decide: func(real string, decided func(error)) {
			if free {
				decided(nil)
				return
			}
			a.asked = append(a.asked, &question{name, filepath.Base(real), decided})
		},
		Do:   func(real string) { a.note(name + " " + filepath.Base(real)) },
		Fail: func(err error) { a.note(name + ": " + err.Error()) },
	})
	synctest.Wait()
}

func (a *agent) read(name, file string)  { a.Helper(); a.add(a.Context(), name, file, true, true) }
func (a *agent) write(name, file string) { a.Helper(); a.add(a.Context(), name, file, false, false) }

// answer answers the only question, which is about this request and file.
func (a *agent) answer(name, real string, err error) {
	a.Helper()
	if len(a.asked) != 1 || a.asked[0].name != name || a.asked[0].real != real {
		a.Fatalf("asked are %d questions, of %+v", len(a.asked), a.asked)
	}
	q := a.asked[0]
	a.asked = nil
	q.decided(err)
	q.decided(errors.New("too late"))
	synctest.Wait()
}

// Requests that come while the file of another is being found are each decided about.
func TestManyRequestsAtOnce(t *testing.T) {
	test(t, func(a *agent) {
		first := &request{Request: Request{Context: t.Context(), Path: "a\x00b", Fail: func(error) {}}, stop: func() bool { return true }}
		a.queue.inbox = append(a.queue.inbox, first)
		a.read("one", "b")
		a.read("two", "a")
		a.want()
		a.queue.resolve()
		synctest.Wait()
		slices.Sort(a.log)
		a.want("one b", "two a")
	})
}

// want fails the test where something else has been done since the last time.
func (a *agent) want(log ...string) {
	a.Helper()
	if len(log) != len(a.log) {
		a.Errorf("done is %q, want %q", a.log, log)
	} else {
		for i := range log {
			if log[i] != a.log[i] {
				a.Errorf("done is %q, want %q", a.log, log)
				break
			}
		}
	}
	a.log = nil
}

func TestRequestsOfOneFileAreDecidedOneAfterAnother(t *testing.T) {
	test(t, func(a *agent) {
		a.write("first", "a")
		a.write("second", "alias")
		a.read("third", "alias")
		a.want()
		a.read("another file", "b")
		a.want("another file b")
		a.answer("first", "a", nil)
		a.want("first a")
		a.answer("second", "a", nil)
		a.want("second a", "third a")
		a.read("later", "a")
		a.want("later a")
		if len(a.queue.waiting)+len(a.queue.aside)+len(a.queue.inbox) > 0 {
			a.Errorf("left is %+v", &a.queue)
		}
	})
}

func TestRefusedRequests(t *testing.T) {
	test(t, func(a *agent) {
		a.write("first", "a")
		a.answer("first", "a", errors.New("no"))
		a.want("first: no")
		a.queue.Add(Request{
			Context: a.Context(), Path: a.dir + "/a", Decide: func(string, func(error)) { panic("oh") },
			Do: func(string) { a.Error("done") }, Fail: func(err error) { a.log = append(a.log, err.Error()) },
		})
		synctest.Wait()
		a.want("internal error: oh")
		a.queue.Add(Request{
			Context: a.Context(), Path: "a", Decide: func(string, func(error)) { a.Error("asked about no path") },
			Do: func(string) { a.Error("done") }, Fail: func(err error) { a.log = append(a.log, err.Error()) },
		})
		synctest.Wait()
		a.want(buffers.ErrNotAbsolute.Error())
	})
}

// Who has given up is answered at once, and those behind it go on when it is decided about.
func TestWithdrawnRequests(t *testing.T) {
	test(t, func(a *agent) {
		first, stopFirst := context.WithCancel(a.Context())
		second, stopSecond := context.WithCancel(a.Context())
		a.add(first, "first", "a", false, false)
		a.add(second, "second", "a", false, false)
		a.write("third", "a")
		stopSecond()
		synctest.Wait()
		a.want("second: context canceled")
		stopFirst()
		synctest.Wait()
		a.want("first: context canceled")
		a.answer("first", "a", nil)
		a.want()
		a.answer("third", "a", errors.New("no"))
		a.want("third: no")
		a.add(first, "withdrawn before", "a", false, false)
		a.want("withdrawn before: context canceled")
		if len(a.asked) > 0 {
			a.Error("what nobody waits for is asked about")
		}
	})
}

func TestReadsPassAWriteThatStepsAside(t *testing.T) {
	test(t, func(a *agent) {
		a.queue.StepAside(a.dir + "/a") // nothing waits there
		a.write("first", "a")
		a.read("before", "a")
		a.write("second", "a")
		a.want()
		a.queue.StepAside(a.dir + "/a")
		synctest.Wait()
		a.want("before a")
		a.read("after", "a")
		a.want("after a")
		a.answer("first", "a", nil)
		a.want("first a")
		check.Equal(t, len(a.asked), 1, "%d questions are asked")
		// The second has not stepped aside.
		a.read("third", "a")
		a.want()
		a.answer("second", "a", nil)
		a.want("second a", "third a")
	})
}
