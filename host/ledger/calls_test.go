package ledger

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// looks are the paths that were looked at.
type looks []string

func (l *looks) Look(path string, _ bool, _ int64, _ func(buffers.Seen, error)) {
	*l = append(*l, path)
}

func (l *looks) Finish(string, func()) {}

func (l *looks) Settle(done func()) { done() }
func (l *looks) Heard(done func())  { done() }

func (l *looks) Loaded() []string { return nil }

func (l *looks) Tracks() <-chan struct{} { return nil }

// The files of a call are looked at when it names them, each once, and none of what a replay tells.
func TestCallsAreFollowedWhileTheAgentWorks(t *testing.T) {
	for _, working := range []bool{false, true} {
		var seen looks
		l := New(Config{
			Absolute: func(name string) (string, bool) { return session.Absolute(name, "/w", "/home/u") },
			Watch:    func() Watch { return &seen },
		})
		call := &session.ToolCall{Kind: session.KindEdit, Locations: []session.Location{{Path: "a"}}}
		l.Observe(call, working)
		call.Locations = []session.Location{{Path: "/w/a"}, {Path: "/w/b"}}
		l.Observe(call, false) // what is known of is followed to its end
		want := []string{"/w/a", "/w/b"}
		if !working {
			want = nil
		}
		if !slices.Equal(seen, want) || l.Names("/w/b") != working {
			t.Errorf("while the agent works %v: looked at %q", working, seen)
		}
	}
}

// Of a file outside of the session's folders only calls tell what it was: by being looked at when they name it, or,
// where the agent was faster, by their diffs. What the agent did is refused then.
func TestWhatCallsTellOfFilesElsewhere(t *testing.T) {
	const out = "../out"
	str := func(s string) *string { return &s }
	diff := func(old, text *string) session.Diff {
		op := session.OperationModify
		if old == nil {
			op = session.OperationAdd
		}
		return session.Diff{Operation: op, OldText: old, NewText: text}
	}
	for name, c := range map[string]struct {
		before string // what is there when the turn begins; "" is no file
		early  string // what the agent has made of it when the call names it: "" is nothing yet, "-" removed, "0" emptied
		after  string // what it leaves; "-" is no file
		diffs  []session.Diff
		failed bool
		want   string // what a refusal of all leaves
	}{
		"looked at before":              {before: "o1\n", after: "o1\na1\n", want: "o1\n"},
		"changed before":                {before: "o1\n", early: "o1\na1\n", after: "o1\na1\n", diffs: []session.Diff{diff(str("o1\n"), str("o1\na1\n"))}, want: "o1\n"},
		"a fragment changed before":     {before: "o1\no2\n", early: "o1\na1\n", after: "o1\na1\n", diffs: []session.Diff{diff(str("o2"), str("a1"))}, want: "o1\no2\n"},
		"two changed before":            {before: "o1\no2\n", early: "a1\na2\n", after: "a1\na2\n", diffs: []session.Diff{diff(str("o1\n"), str("a1\n")), diff(str("o2\n"), str("a2\n"))}, want: "o1\no2\n"},
		"emptied, and being written":    {before: "o1\n", early: "0", after: "o1\na1\n", diffs: []session.Diff{diff(str("o1\n"), str("o1\na1\n"))}, want: "o1\n"},
		"empty, and written":            {before: "0", early: "0", after: "a1\n", diffs: []session.Diff{diff(str(""), str("a1\n"))}, want: ""},
		"empty, and added":              {before: "0", early: "0", after: "a1\n", diffs: []session.Diff{diff(nil, str("a1\n"))}, want: ""},
		"made before":                   {early: "a1\n", after: "a1\n", diffs: []session.Diff{diff(nil, str("a1\n"))}, want: "no file"},
		"made after":                    {after: "a1\n", want: "no file"},
		"removed, by its words emptied": {before: "o1\n", early: "-", after: "-", diffs: []session.Diff{diff(str("o1\n"), str(""))}, want: "o1\n"},
		"removed before":                {before: "o1\n", early: "-", after: "-", diffs: []session.Diff{diff(str("o1\n"), nil)}, want: "o1\n"},
		"removed, by its words changed": {before: "o1\n", early: "-", after: "-", diffs: []session.Diff{diff(str("o1\n"), str("a1\n"))}, want: "no file"},
		"removed after":                 {before: "o1\n", after: "-", want: "o1\n"},
		"a diff that does not fit":      {before: "o1\n", early: "a1\n", after: "a1\n", diffs: []session.Diff{diff(str("x\n"), str("y\n"))}, want: "a1\n"},
		"nothing, as the call failed":   {before: "o1\na1\n", after: "o1\na1\n", diffs: []session.Diff{diff(str("o1\n"), str("o1\na1\n"))}, failed: true, want: "o1\na1\n"},
		"a line taken out before":       {before: "o1\no2\n", early: "o1\n", after: "o1\n", diffs: []session.Diff{diff(str("o1\no2\n"), str("o1\n"))}, want: "o1\no2\n"},
		"emptied before":                {before: "o1\n", early: "0", after: "0", diffs: []session.Diff{diff(str("o1\n"), str(""))}, want: "o1\n"},
		"a part cut out before":         {before: "o1\no2\n", early: "o1\n", after: "o1\n", diffs: []session.Diff{diff(str("o2\n"), str(""))}, want: "o1\n"},
		"a diff without its end":        {before: "o1\n", early: "a1\n", after: "a1\n", diffs: []session.Diff{diff(str("o1\n"), nil)}, want: "a1\n"},
		"changed before and after":      {before: "o1\n", early: "o1\na1\n", after: "o1\na1\na2\n", diffs: []session.Diff{diff(str("o1\n"), str("o1\na1\na2\n"))}, want: "o1\na1\n"},
		"without the last line's end":   {before: "o1", early: "o1\na1", after: "o1\na1", diffs: []session.Diff{diff(str("o1"), str("o1\na1"))}, want: "o1"},
		"not done, as the call failed":  {before: "o1\n", early: "a1\n", after: "a1\n", diffs: []session.Diff{diff(str("o1\n"), str("a1\n"))}, failed: true, want: "a1\n"},
		"bytes changed before":          {before: "\x00o1", early: "\x00a1", after: "\x00a1", diffs: []session.Diff{diff(str("o1"), str("a1"))}, want: "\x00a1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			put := func(text string) {
				switch text {
				case "":
				case "-":
					w.remove(out)
				case "0":
					w.write(out, "")
				default:
					w.write(out, text)
				}
			}
			put(c.before)
			w.begin()
			put(c.early)
			call := &session.ToolCall{ID: "1", Kind: session.KindEdit, Status: session.StatusInProgress, Locations: []session.Location{{Path: w.path(out)}}}
			for _, d := range c.diffs {
				d.Path = w.path(out)
				call.Content = append(call.Content, d)
			}
			w.followCall(call)
			if c.after != c.early {
				put(c.after)
			}
			call.Status = session.StatusCompleted
			if c.failed {
				call.Status = session.StatusFailed
			}
			w.followCall(call)
			after := w.sees(out)
			if got := w.changes(); (got == "") != (c.want == after) {
				t.Errorf("the record has %q", got)
			}
			w.end()
			if c.want != after {
				w.decide(review.Reject, "")
			}
			if got := w.sees(out); got != c.want {
				t.Errorf("there is %q, wanted %q; the record has %s", got, c.want, w.changes())
			}
		})
	}
}

// A call that moves a file says so, and it counts as moved at once; one that was done before the call named it too.
func TestWhatCallsMove(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		late     bool   // the call comes when it is done
		over     bool   // a file was there
		want     string // of the record, once the call has ended
	}{
		"in the folder":          {"f", "new/f", false, false, "moved new/f from f"},
		"in the folder, done":    {"f", "new/f", true, false, "moved new/f from f"},
		"outside of it":          {"../f", "../g", false, false, "moved"},
		"outside of it, done":    {"../f", "../g", true, false, "moved"},
		"over another file":      {"f", "g", false, true, "deleted f"},
		"out of the folder":      {"f", "../g", false, false, "moved"},
		"out of a folder, done":  {"f", "../g", true, false, "moved"},
		"into the folder, done":  {"../f", "g", true, false, "moved g"},
		"out of it over another": {"f", "../g", false, true, "deleted f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(c.from, "f1\nf2\n")
			if c.over {
				w.write(c.to, "g1\n")
			}
			is := func() string { return w.sees(c.from) + "|" + w.sees(c.to) }
			before := is()
			w.begin()
			if c.late {
				w.move(c.from, c.to)
			}
			w.call("move", func() {
				if !c.late {
					w.move(c.from, c.to)
				}
			}, c.from, c.to)
			if got := w.changes(); !strings.HasPrefix(got, c.want) {
				t.Errorf("the record has %s", got)
			}
			w.end()
			if _, err := w.refuse(nil); err != nil {
				t.Error(err)
			}
			check.Equal(t, is(), before, "there is %s")
		})
	}
}

// A move by a call that never ends counts with its turn, also outside of the session's folders, where nothing else tells.
func TestAMoveThatDoesNotEnd(t *testing.T) {
	for name, c := range map[string]struct{ from, to string }{
		"in the folder": {"f", "g"}, "outside of it": {"../f", "../g"}, "out of it": {"f", "../g"}, "into it": {"../f", "g"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write(c.from, "f1\n")
			w.begin()
			w.followCall(&session.ToolCall{ID: "1", Kind: session.KindMove, Status: session.StatusInProgress, Locations: []session.Location{{Path: w.path(c.from)}, {Path: w.path(c.to)}}})
			w.move(c.from, c.to)
			w.end()
			if got := w.changes(); !strings.HasPrefix(got, "moved") {
				t.Errorf("the record has %s", got)
			}
			w.decide(review.Reject, "")
			check.Equal(t, w.sees(c.from)+"|"+w.sees(c.to), "f1\n|no file", "there is %s")
		})
	}
}

// Some agents never say that a call has ended: then the turn's end counts, also for what it has moved.
func TestACallThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.begin()
	call := &session.ToolCall{ID: "c", Kind: "move", Status: session.StatusInProgress, Locations: []session.Location{{Path: w.path("f")}, {Path: w.path("g")}}}
	w.followCall(call)
	w.sh("rm f; echo a1 > g")
	w.end()
	check.Equal(t, w.changes(), "moved g from f -1,2+1,1\n", "the record has %q")
}

// What a call says of a move counts where it has come true.
func TestWhatComesOfAMove(t *testing.T) {
	for name, c := range map[string]struct {
		do     func(w *world)
		early  bool // before the call names the files
		failed bool
		want   string
	}{
		"copied":                {do: func(w *world) { w.sh("cp f g") }, want: "added g -0,0+1,2\n"},
		"removed":               {do: func(w *world) { w.remove("f") }, want: "deleted f -1,2+0,0\n"},
		"nothing":               {do: func(*world) {}, want: ""},
		"moved and changed":     {do: func(w *world) { w.sh("mv f g; echo a1 >> g") }, want: "moved g from f -2,0+3,1\n"},
		"moved and failed":      {do: func(w *world) { w.move("f", "g") }, failed: true, want: "moved g from f\n"},
		"removed, another made": {do: func(w *world) { w.sh("rm f; echo a1 > g") }, want: "moved g from f -1,2+1,1\n"},
		"out of sight, changed": {do: func(w *world) { w.sh("mv ../out ../to; echo a1 >> ../to") }, want: "moved %s/../to from %s/../out -1,0+2,1\n"},
		"out of sight, failed":  {do: func(w *world) { w.sh("mv ../out ../to") }, early: true, failed: true, want: ""},
		"out of sight, copied":  {do: func(w *world) { w.sh("cp ../out ../to") }, early: true, want: ""},
		"out of sight, removed": {do: func(w *world) { w.sh("rm ../out") }, early: true, want: ""},
		"over one, early":       {do: func(w *world) { w.sh("mv f other") }, early: true, want: "deleted f -1,2+0,0\nmodified other -1,1+1,2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("f", "f1\nf2\n")
			w.write("other", "o1\n")
			w.write("../out", "o2\n")
			before := w.tree() + w.sees("../out")
			w.begin()
			if c.early {
				c.do(w)
			}
			names := []string{"f", "g"}
			switch {
			case strings.HasPrefix(name, "over"):
				names = []string{"f", "other"}
			case strings.HasPrefix(name, "out"):
				names = []string{"../out", "../to"}
			}
			call := &session.ToolCall{ID: "1", Kind: session.KindMove, Status: session.StatusInProgress}
			for _, name := range names {
				call.Locations = append(call.Locations, session.Location{Path: w.path(name)})
			}
			w.followCall(call)
			if !c.early {
				c.do(w)
			}
			call.Status = session.StatusCompleted
			if c.failed {
				call.Status = session.StatusFailed
			}
			w.followCall(call)
			want := strings.ReplaceAll(c.want, "%s/..", filepath.Dir(w.dir))
			check.Equal(t, w.changes(), want, "the record has %q")
			w.end()
			if want == "" {
				return
			}
			w.must(w.undo(false))
			check.Equal(t, w.tree()+w.sees("../out"), before, "undone there is\n%s")
		})
	}
}

// Whatever a call says later of its files is looked at, once.
func TestWhatACallSaysLater(t *testing.T) {
	old, text := "a", "b"
	diff := func(path string) session.ToolCallContent {
		return session.Diff{Operation: session.OperationModify, Path: path, OldText: &old, NewText: &text}
	}
	for name, later := range map[string]func(call *session.ToolCall){
		"locations":          func(call *session.ToolCall) { call.Locations = []session.Location{{Path: "/w/a"}, {Path: "/w/b"}} },
		"a diff":             func(call *session.ToolCall) { call.Content = append(call.Content, diff("/w/b")) },
		"a diff for another": func(call *session.ToolCall) { call.Content = []session.ToolCallContent{diff("/w/b")} },
		"input":              func(call *session.ToolCall) { call.RawInput = json.RawMessage(`{"path":"/w/b"}`) },
	} {
		var seen looks
		l := New(Config{
			Absolute: func(name string) (string, bool) { return session.Absolute(name, "/w", "/home/u") },
			Watch:    func() Watch { return &seen },
		})
		call := &session.ToolCall{Kind: session.KindEdit, Locations: []session.Location{{Path: "/w/a"}}, Content: make([]session.ToolCallContent, 0, 8)}
		call.Content = append(call.Content, diff("/w/a"))
		for range 2 {
			l.Observe(call, true)
		}
		later(call)
		for range 2 {
			l.Observe(call, true)
		}
		check.Slice(t, seen, []string{"/w/a", "/w/b"}, "%s: looked at %q", name)
	}
	var seen looks
	l := New(Config{
		Absolute: func(name string) (string, bool) { return session.Absolute(name, "/w", "/home/u") },
		Watch:    func() Watch { return &seen },
	})
	call := &session.ToolCall{Kind: session.KindRead, Locations: []session.Location{{Path: "/w/a"}}}
	l.Observe(call, true)
	if call.Kind = session.KindEdit; len(seen) > 0 {
		t.Errorf("a file that is read was looked at: %q", seen)
	}
	if l.Observe(call, true); !slices.Equal(seen, []string{"/w/a"}) {
		t.Errorf("of another kind: looked at %q", seen)
	}
}

// A call that goes on when it has ended is looked at when it ends again, also in a later turn; one that never ended is
// over with its turn.
func TestACallGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.write("../out", "o1\n")
	call := &session.ToolCall{ID: "1", Kind: session.KindEdit, Locations: []session.Location{{Path: w.path("f")}, {Path: w.path("../out")}}}
	is := func(status session.ToolCallStatus) {
		call.Status = status
		w.followCall(call)
	}
	told := func() int {
		w.disk.Lock()
		defer w.disk.Unlock()
		return len(w.events)
	}
	w.begin()
	is(session.StatusInProgress)
	for n, text := range []string{"a1\n", "a2\n"} {
		w.write("f", text)
		is(session.StatusCompleted)
		must.Equal(t, told(), n+1, "ended %d times it has told %d changes", n+1)
		is(session.StatusInProgress)
	}
	is(session.StatusCompleted)
	w.write("f", "a3\n")
	is(session.StatusCompleted)
	check.Equal(t, told(), 2, "it is looked at again and has not ended again: %v")
	w.end()
	w.write("../out", "u1\n") // between the turns
	w.begin()
	is(session.StatusInProgress)
	w.write("../out", "u1\na4\n")
	is(session.StatusInProgress)
	w.end() // and it never ends
	check.Contains(t, w.changes(), "out -1,0+2,1\n", "the record has %q")
	n := told()
	w.begin()
	call.Status = session.StatusInProgress
	w.mu.Lock()
	w.ledger.Observe(call, false) // as in a replay
	w.mu.Unlock()
	w.write("f", "a5\n")
	call.Status = session.StatusCompleted
	w.mu.Lock()
	w.ledger.Observe(call, false)
	w.mu.Unlock()
	if w.sync(); told() != n {
		t.Error("a call of the turn before is followed in the next one")
	}
	w.end()
}

// A call that says what the file had when the turn began has changed nothing, and one that moves a file which never was has
// made one.
func TestCallsThatTellWhatIsNot(t *testing.T) {
	w := newWorld(t)
	w.write("f", "1\na\n")
	w.begin()
	old, text := "1\n", "1\na\n"
	call := &session.ToolCall{
		ID: "1", Kind: session.KindEdit, Status: session.StatusInProgress, Locations: []session.Location{{Path: w.path("f")}},
		Content: []session.ToolCallContent{session.Diff{Operation: session.OperationModify, Path: w.path("f"), OldText: &old, NewText: &text}},
	}
	w.followCall(call)
	call.Status = session.StatusCompleted
	w.followCall(call)
	w.call(session.KindMove, func() { w.write("to", "b\n") }, "from", "to")
	w.end()
	check.Equal(t, w.changes(), "added to -0,0+1,1\n", "there is listed %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "1\na\n"`, "refused, there is %s")
}

// An empty file that the agent has made, and that the user keeps, stays.
func TestAnEmptyFileIsKept(t *testing.T) {
	for _, shown := range []bool{false, true} {
		w := newWorld(t)
		w.begin()
		w.write("f", "")
		if shown {
			w.edit("f")
		}
		w.end()
		w.decide(review.Keep, "")
		check.Equal(t, w.tree(), `f 644 ""`, "shown %v: there is %q", shown)
	}
}

// Of a move where nothing but a call tells, its second path may be named when it is done: it is one where the file has the same
// text there. And what the call says of its text counts once.
func TestMovesThatCallsTellLate(t *testing.T) {
	for name, c := range map[string]struct {
		there string // at the other path before; "" is no file
		early bool   // the call names both at once
		do    string
		want  string
	}{
		"moved":             {"", false, "mv ../f ../g", "moved"},
		"moved and changed": {"", true, "mv ../f ../g; echo a1 >> ../g", "moved"},
		"another is there":  {"g1\n", false, "rm ../f", "deleted"},
	} {
		w := newWorld(t)
		w.write("../f", "f1\n")
		if c.there != "" {
			w.write("../g", c.there)
		}
		w.begin()
		call := &session.ToolCall{ID: "1", Kind: session.KindMove, Status: session.StatusInProgress, Locations: []session.Location{{Path: w.path("../f")}}}
		if !c.early {
			w.followCall(call)
			w.sh(c.do)
		}
		call.Locations = append(call.Locations, session.Location{Path: w.path("../g")})
		w.followCall(call)
		if c.early {
			w.sh(c.do)
			old, text := "f1\n", "f1\na1\n"
			call.Content = append(call.Content, session.Diff{Operation: session.OperationModify, Path: w.path("../g"), OldText: &old, NewText: &text})
		}
		call.Status = session.StatusCompleted
		w.followCall(call)
		w.end()
		if got := w.changes(); !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: listed is %q", name, got)
		}
		check.Equal(t, len(w.events), 1, "%s: the agent has told of %d changes", name)
		w.decide(review.Reject, "")
		check.Equal(t, w.sees("../f"), "f1\n", "%s: there is %q", name)
		check.Equal(t, w.sees("../g"), cmp.Or(c.there, "no file"), "%s: beside it is %q", name)
	}
}

// A file that is no text goes back to where it was also where no bytes are kept.
func TestNoTextGoesBackWithoutACopy(t *testing.T) {
	w := newWorld(t)
	w.open(func(c *Config) { c.Store = nil })
	w.write("f", "\x00f1")
	w.edit("f")
	w.begin()
	w.call(session.KindMove, func() { w.move("f", "g") }, "f", "g")
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "\x00f1"`, "there is %s")
}

// A file that a call moves over another one, which a buffer shows and which nothing else tells of, is gone: it is listed, other
// sessions hear so, and both come back.
func TestACallMovesAFileOverOneThatIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var heard []string
	w.open(func(c *Config) {
		c.Others = func(path string, is review.Content) {
			if !is.Exists {
				heard = append(heard, filepath.Base(path))
			}
		}
	})
	w.write("../f", "f1\n")
	w.write("../g", "g1\n")
	w.edit("../g")
	w.begin()
	w.call(session.KindMove, func() {
		w.move("../f", "../g")
		w.sees("../g")
	}, "../f", "../g")
	w.end()
	above := filepath.Dir(w.dir)
	check.Equal(t, w.changes(), "modified "+above+"/g -1,1+1,1\ndeleted "+above+"/f -1,1+0,0\n", "listed is %q")
	check.Slice(t, heard, []string{"f"}, "others hear that %q are gone")
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("../f")+w.sees("../g"), "f1\ng1\n", "refused there is %q")
}

// A file that a call moves over one that the agent has made in the turn, and that a buffer shows, has moved.
func TestACallMovesAFileOverOneThatTheAgentHasMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("../f", "f1\n")
	w.begin()
	w.call(session.KindMove, func() {
		w.write("../g", "a1\n")
		w.edit("../g")
		w.sync()
		w.move("../f", "../g")
		w.sees("../g")
	}, "../f", "../g")
	w.end()
	above := filepath.Dir(w.dir)
	check.Equal(t, w.changes(), "moved "+above+"/g from "+above+"/f\n", "listed is %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("../f"), "f1\n", "refused there is %q")
}
