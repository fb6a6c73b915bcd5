package buffers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// knock is a call of a gate.
type knock struct {
	path string
	pass func(error)
}

// gated is a Files of a folder with the files "a" and "b", the calls of a gate, and a place for results.
func gated(t *testing.T) (f *Files, dir string, gate Gate, knocks chan knock, results chan string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, name := range []string{"a", "b"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666))
	}
	f = New(fake{func(context.Context, string) error { return nil }})
	knocks, results = make(chan knock, 10), make(chan string, 10)
	return f, dir, func(path string, pass func(error)) { knocks <- knock{path, pass} }, knocks, results
}

func TestAGateHoldsUpItsOwnersPathAlone(t *testing.T) {
	f, dir, gate, knocks, results := gated(t)
	must(t, os.Symlink("a", dir+"/alias"))
	done := func(name string) func(string, error) {
		return func(text string, err error) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			results <- name + " " + text
		}
	}
	want := func(want string) {
		t.Helper()
		if got := <-results; got != want {
			t.Errorf("done is %q, want %q", got, want)
		}
	}
	ctx := context.Background()
	open := func(_ string, pass func(error)) { pass(nil) }
	f.Read(ctx, Read{Path: dir + "/a", Gate: gate, Owner: 1}, done("first"))
	first := <-knocks
	f.Write(ctx, Write{Path: dir + "/alias", Text: "new", Gate: gate, Owner: 1}, func(Written, error) { done("second")("", nil) })
	f.Read(ctx, Read{Path: dir + "/alias", Gate: open, Owner: 1}, done("third"))
	// The rest comes past them.
	f.Read(ctx, Read{Path: dir + "/b", Gate: open, Owner: 1}, done("other path"))
	want("other path b")
	f.Read(ctx, Read{Path: dir + "/a", Gate: open, Owner: 2}, done("other owner"))
	want("other owner a")
	f.Read(ctx, Read{Path: dir + "/a"}, done("no gate"))
	want("no gate a")
	f.Peek(ctx, dir+"/alias", done("peek"))
	want("peek a")
	if len(knocks) > 0 || len(results) > 0 {
		t.Error("the second did not wait for the first")
	}
	if first.path != dir+"/a" {
		t.Errorf("the gate was asked about %s", first.path)
	}
	first.pass(nil)
	first.pass(errors.New("too late"))
	want("first a")
	second := <-knocks
	if second.path != dir+"/a" || len(results) > 0 {
		t.Errorf("the gate was asked about %s, with %d results", second.path, len(results))
	}
	second.pass(nil)
	want("second ")
	want("third new")
}

func TestWhatAGateRefuses(t *testing.T) {
	f, dir, gate, knocks, _ := gated(t)
	no := errors.New("no")
	failures := make(chan error, 10)
	write := func(ctx context.Context, gate Gate) {
		f.Write(ctx, Write{Path: dir + "/a", Text: "new", Gate: gate}, func(_ Written, err error) { failures <- err })
	}
	want := func(target error) {
		t.Helper()
		var typed *Error
		if err := <-failures; !errors.As(err, &typed) || typed.Path != dir+"/a" || target != nil && !errors.Is(err, target) {
			t.Errorf("%v, want %v", err, target)
		}
	}
	write(context.Background(), gate)
	(<-knocks).pass(no)
	want(no)
	write(context.Background(), func(string, func(error)) { panic("oh") })
	want(nil)

	// Who has given up is answered at once, and those behind it go on when the gate is done with it.
	running, stop := context.WithCancel(context.Background())
	write(running, gate)
	first := <-knocks
	queued, stopQueued := context.WithCancel(context.Background())
	write(queued, gate)
	write(context.Background(), gate)
	stopQueued()
	want(context.Canceled)
	stop()
	want(context.Canceled)
	first.pass(nil)
	last := <-knocks
	last.pass(no)
	want(no)
	if text, _ := os.ReadFile(dir + "/a"); string(text) != "a" {
		t.Errorf("the file has %q", text)
	}
	if len(failures) > 0 || len(knocks) > 0 {
		t.Error("answered twice, or asked for what nobody waits for")
	}
}

// What a gate has let pass is the file that it was asked about.
func TestALinkThatMovesBehindAGate(t *testing.T) {
	f, dir, gate, knocks, _ := gated(t)
	must(t, os.Symlink("a", dir+"/link"))
	answers := make(chan error, 1)
	f.Read(context.Background(), Read{Path: dir + "/link", Gate: gate}, func(text string, err error) { answers <- err })
	k := <-knocks
	must(t, os.Remove(dir+"/link"))
	must(t, os.Symlink("b", dir+"/link"))
	k.pass(nil)
	if err := <-answers; !errors.Is(err, ErrMoved) {
		t.Errorf("%v, want %v", err, ErrMoved)
	}
}

func TestReadsPassAWriteThatStepsAside(t *testing.T) {
	f, dir, gate, knocks, results := gated(t)
	done := func(name string) func(string, error) {
		return func(text string, err error) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			results <- name + " " + text
		}
	}
	want := func(want string) {
		t.Helper()
		if got := <-results; got != want {
			t.Errorf("done is %q, want %q", got, want)
		}
	}
	ctx := context.Background()
	open := func(_ string, pass func(error)) { pass(nil) }
	f.StepAside(1, dir+"/a") // nothing waits there
	f.Write(ctx, Write{Path: dir + "/a", Text: "new", Gate: gate, Owner: 1}, func(Written, error) { done("write")("", nil) })
	first := <-knocks
	f.Read(ctx, Read{Path: dir + "/a", Gate: open, Owner: 1}, done("before"))
	f.Write(ctx, Write{Path: dir + "/a", Text: "newer", Gate: gate, Owner: 1}, func(Written, error) { done("second write")("", nil) })
	f.Peek(ctx, dir+"/b", done("peek"))
	want("peek b")
	if len(results) > 0 {
		t.Error("the read did not wait")
	}
	f.StepAside(1, dir+"/a")
	want("before a")
	f.Read(ctx, Read{Path: dir + "/a", Gate: open, Owner: 1}, done("after"))
	want("after a")
	if len(knocks) > 0 {
		t.Error("the second write did not wait")
	}
	first.pass(nil)
	want("write ")
	second := <-knocks
	// It has not stepped aside.
	f.Read(ctx, Read{Path: dir + "/a", Gate: open, Owner: 1}, done("third"))
	f.Peek(ctx, dir+"/b", done("peek"))
	want("peek b")
	if len(results) > 0 {
		t.Error("the read did not wait for the second write")
	}
	second.pass(nil)
	want("second write ")
	want("third newer")
}
