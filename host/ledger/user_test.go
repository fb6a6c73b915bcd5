package ledger

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// What the user does in Neovim while the agent works is theirs, with and without changes of the agent's beside: only
// those are listed, and refusing all leaves what is the user's.
func TestWhatTheUserDoesInATurn(t *testing.T) {
	const agents = "f1\na1\nf2\n"
	agent := func(w *world) { w.write("f", agents) }
	types := func(name string) func(w *world) {
		return func(w *world) { w.types(name, func(now string) string { return now + "u1\n" }) }
	}
	do := func(list ...func(w *world)) func(w *world) {
		return func(w *world) {
			for _, f := range list {
				f(w)
			}
		}
	}
	edit := func(w *world) { w.edit("f") }
	saves := func(w *world) { w.saves("f") }
	call := func(w *world) { w.call("edit", func() {}, "f") }
	command := func(w *world) { w.call("execute", func() {}) }
	for name, c := range map[string]struct {
		do         func(w *world)
		listed     string
		left, disk string // after a refusal, "" where it is as at first
	}{
		"types, and a call names the file":        {do(edit, types("f"), call), "", "f1\nf2\nu1\n", "f1\nf2\n"},
		"types, and a command runs":               {do(edit, types("f"), command), "", "f1\nf2\nu1\n", "f1\nf2\n"},
		"types and saves, and a call names it":    {do(edit, types("f"), saves, call), "", "f1\nf2\nu1\n", "f1\nf2\nu1\n"},
		"a call names it, and the user saves":     {do(edit, call, types("f"), saves), "", "f1\nf2\nu1\n", "f1\nf2\nu1\n"},
		"types beside the agent":                  {do(edit, types("f"), agent), "modified f -1,0+2,1\n", "f1\nf2\nu1\n", "f1\nf2\n"},
		"types after the agent in a call":         {do(edit, agent, types("f"), call), "modified f -1,0+2,1\n", "f1\nf2\nu1\n", "f1\nf2\n"},
		"saves after the agent":                   {do(edit, agent, types("f"), saves), "modified f -1,0+2,1\n", "f1\nf2\nu1\n", "f1\nf2\nu1\n"},
		"opens it after the agent":                {do(agent, edit, types("f")), "modified f -1,0+2,1\n", "f1\nf2\nu1\n", "f1\nf2\n"},
		"opens, saves and closes after the agent": {do(agent, edit, types("f"), saves, func(w *world) { w.wipe("f") }), "modified f -1,0+2,1\n", "f1\nf2\nu1\n", "f1\nf2\nu1\n"},
		"opens it, and leaves without saving":     {do(edit, types("f"), func(w *world) { w.wipe("f") }, agent), "modified f -1,0+2,1\n", "f1\nf2\n", "f1\nf2\n"},
		"writes a file that no buffer shows":      {do(func(w *world) { w.write("f", "f1\nf2\nu1\n"); w.saved("f"); w.sync() }), "", "f1\nf2\nu1\n", "f1\nf2\nu1\n"},
		"writes it, then the agent": {do(func(w *world) { w.write("f", "f1\nf2\nu1\n"); w.saved("f"); w.sync() }, func(w *world) { w.write("f", "f1\na1\nf2\nu1\n") }),
			"modified f -1,0+2,1\n", "f1\nf2\nu1\n", "f1\nf2\nu1\n"},
		"writes a new one": {do(func(w *world) { w.write("g", "u1\n"); w.saved("g"); w.sync() }), "", "f1\nf2\n", "f1\nf2\n"},
		"writes a copy, and the agent removes it": {do(func(w *world) {
			w.write("g", "f1\nf2\n")
			w.saved("g")
			w.sync()
			w.remove("f")
		}), "deleted f -1,2+0,0\n", "f1\nf2\n", "f1\nf2\n"},
		"gives another name": {do(func(w *world) {
			w.move("f", "g")
			w.ledger.UserRenamed(w.path("f"), w.path("g"))
			w.saved("g")
			w.sync()
		}), "", "no file", "no file"},
		"renames the agent's": {do(agent, func(w *world) { w.call("edit", func() {}, "f") }, func(w *world) {
			w.move("f", "g")
			w.ledger.UserRenamed(w.path("f"), w.path("g"))
			w.saved("g")
			w.sync()
		}), "modified g -1,0+2,1\n", "no file", "no file"},
		"a loaded file is removed and remade in a call": {do(edit, func(w *world) {
			w.call("edit", func() {
				w.remove("f")
				w.sees("f")
				w.changes() // looks at it
				w.write("f", agents)
			}, "f")
		}), "modified f -1,0+2,1\n", "f1\nf2\n", "f1\nf2\n"},
		"a loaded file is removed and remade with unsaved text": {do(edit, types("f"), func(w *world) {
			w.call("edit", func() {
				w.remove("f")
				w.sees("f")
				w.write("f", agents)
			}, "f")
		}), "modified f -1,0+2,1\n", "f1\nf2\nu1\n", "f1\nf2\n"},
	} {
		for _, undo := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", "f1\nf2\n")
				w.begin()
				c.do(w)
				w.end()
				check.Equal(t, w.changes(), c.listed, "the record has %q")
				g := w.sees("g")
				switch {
				case undo:
					if err := w.undo(false); (err != nil) != (c.listed == "") {
						t.Errorf("the undo says %v", err)
					}
				case c.listed != "":
					w.decide(review.Reject, "")
				}
				check.Equal(t, w.sees("f"), c.left, "undo %v: the user has %q", undo)
				disk := "no file"
				if data, err := os.ReadFile(w.path("f")); err == nil {
					disk = string(data)
				}
				check.Equal(t, disk, c.disk, "undo %v: the disk has %q", undo)
				if got := w.sees("g"); c.listed != "modified g -1,0+2,1\n" && got != g {
					t.Errorf("undo %v: of g there is %q, was %q", undo, got, g)
				}
			})
		}
	}
}

// Each change of the agent's makes one event, whichever ways tell of it.
func TestEventsOfChanges(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w *world)
		want map[string]int
	}{
		"through the client":        {func(w *world) { w.clientWrites("f", "f1\n", "a1\n") }, map[string]int{"f fs": 1}},
		"through the client, twice": {func(w *world) { w.clientWrites("f", "f1\n", "a1\n"); w.clientWrites("f", "a1\n", "a2\n") }, map[string]int{"f fs": 2}},
		"through the client in a call": {func(w *world) {
			w.call("edit", func() { w.clientWrites("f", "f1\n", "a1\n") }, "f")
		}, map[string]int{"f fs": 1}},
		"on the disk":           {func(w *world) { w.write("f", "a1\n") }, map[string]int{"f disk": 1}},
		"on the disk in a call": {func(w *world) { w.call("edit", func() { w.write("f", "a1\n") }, "f") }, map[string]int{"f disk": 1}},
		"named twice":           {func(w *world) { w.call("edit", func() { w.write("f", "a1\n") }, "f"); w.call("edit", func() {}, "f") }, map[string]int{"f disk": 1}},
		"and listed":            {func(w *world) { w.call("edit", func() { w.write("f", "a1\n") }, "f"); w.changes() }, map[string]int{"f disk": 1}},
		"again, and listed": {func(w *world) {
			w.call("edit", func() { w.write("f", "a1\n") }, "f")
			w.write("f", "a2\n")
			w.changes()
		}, map[string]int{"f disk": 2}},
		"removed":         {func(w *world) { w.remove("f") }, map[string]int{"f disk": 1}},
		"moved":           {func(w *world) { w.move("f", "g") }, map[string]int{"g disk": 1}},
		"moved in a call": {func(w *world) { w.call("move", func() { w.move("f", "g") }, "f", "g") }, map[string]int{"g disk": 1}},
		"a look":          {func(w *world) { w.call("edit", func() {}, "f"); w.changes() }, nil},
		"as before":       {func(w *world) { w.replace("f", "f1\n") }, nil},
	} {
		for _, loaded := range []bool{false, true} {
			if loaded && strings.HasPrefix(name, "moved") {
				continue // the buffer hears that its file is gone
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.write("f", "f1\n")
				if loaded {
					w.edit("f")
				}
				w.begin()
				c.do(w)
				w.end()
				got := map[string]int{}
				for _, e := range w.events {
					got[strings.TrimPrefix(e.Path, w.dir+"/")+" "+e.By]++
				}
				if !maps.Equal(got, c.want) {
					t.Errorf("loaded %v: there were %v, wanted %v", loaded, got, c.want)
				}
			})
		}
	}
}

// The prompt does not wait for ever until the folders were looked at. What the agent changes before that is told from
// the look before.
func TestTheFirstLookIsLate(t *testing.T) {
	type late struct {
		do     func(w *world, look func()) // look lets the look begin; else it does afterwards
		listed string
		left   string // of f, where it is not as before
	}
	worlds := map[*world]string{}
	before := ""
	cases := map[string]late{
		"a change":                             {func(w *world, _ func()) { w.write("f", "f1\na1\nf2\n") }, "modified f -1,0+2,1\n", ""},
		"a replacement":                        {func(w *world, _ func()) { w.replace("f", "f1\na1\nf2\n") }, "modified f -1,0+2,1\n", ""},
		"a file made":                          {func(w *world, _ func()) { w.write("new", "a1\n") }, "added new -0,0+1,1\n", ""},
		"a file removed":                       {func(w *world, _ func()) { w.remove("f") }, "deleted f -1,2+0,0\n", ""},
		"a folder removed":                     {func(w *world, _ func()) { w.sh("rm -r d") }, "deleted d/x -1,1+0,0\n", ""},
		"a file moved":                         {func(w *world, _ func()) { w.move("f", "g") }, "moved g from f\n", ""},
		"a file moved and changed":             {func(w *world, _ func()) { w.sh("mv f g; echo a1 >> g") }, "moved g from f -2,0+3,1\n", ""},
		"bytes":                                {func(w *world, _ func()) { w.write("bytes", "\x00a") }, "modified bytes\n", ""},
		"through the client":                   {func(w *world, _ func()) { w.clientWrites("f", "f1\nf2\n", "f1\na1\nf2\n") }, "modified f -1,0+2,1\n", ""},
		"a command removes, the client writes": {func(w *world, _ func()) { w.remove("f"); w.clientWrites("f", "", "a1\n") }, "modified f -1,2+1,1\n", ""},
		"in a call":                            {func(w *world, look func()) { w.call("edit", func() { w.write("f", "f1\na1\nf2\n"); look() }, "f") }, "modified f -1,0+2,1\n", ""},
		"user writes":                          {func(w *world, _ func()) { w.write("f", "u1\n"); w.saved("f") }, "", "u1\n"},
		"nothing":                              {func(*world, func()) {}, "", ""},
	}
	for name := range cases {
		for range 2 {
			w := newWorld(t)
			worlds[w] = name
			w.write("f", "f1\nf2\n")
			w.write("bytes", "\x00f")
			w.write("d/x", "x1\n")
			before = w.tree()
			w.begin()
			w.end()
		}
	}
	// What was there before is older than the turn, also by a clock that goes in steps.
	for began := time.Now(); time.Since(began) < 2*Coarse; {
		runtime.Gosched()
	}
	defer func(was time.Duration) { maxWait = was }(maxWait)
	maxWait = 0
	undo := map[string]bool{} // the second one of each case
	for w, name := range worlds {
		c := cases[name]
		hold := make(chan struct{})
		w.disk.Lock()
		w.hold = hold
		w.disk.Unlock()
		w.begin()
		look := sync.OnceFunc(func() { close(hold) })
		c.do(w, look)
		look()
		w.end()
		check.Equal(t, w.changes(), c.listed, "%s: the record has %q", name)
		told := map[Event]bool{}
		for _, e := range w.events {
			if told[e] {
				t.Errorf("%s: %v is told twice", name, e)
			}
			told[e] = true
		}
		switch {
		case c.listed == "":
		case undo[name]:
			w.must(w.undo(false))
		default:
			w.decide(review.Reject, "")
		}
		if got := w.tree(); got != before && c.left == "" {
			t.Errorf("%s, undo %v: there is\n%s\nwanted\n%s", name, undo[name], got, before)
		}
		if got := w.sees("f"); c.left != "" && got != c.left {
			t.Errorf("%s: there is %q", name, got)
		}
		undo[name] = true
	}
}

// What was refused or undone before a turn is no doing of its agent, though the look at the folders with which it
// begins is late, and the files look as if they were new.
func TestTheFirstLookIsLateAfterARefusal(t *testing.T) {
	defer func(was time.Duration) { maxWait = was }(maxWait)
	for name, do := range map[string]func(w *world){
		"removed": func(w *world) { w.remove("f") },
		"made":    func(w *world) { w.write("new", "a1\n") },
		"moved":   func(w *world) { w.move("f", "g") },
	} {
		for _, undo := range []bool{false, true} {
			maxWait = time.Minute
			w := newWorld(t)
			w.write("f", "f1\nf2\n")
			w.begin()
			do(w)
			w.end()
			if undo {
				w.must(w.undo(false))
			} else {
				w.decide(review.Reject, "")
			}
			w.sync()
			listed, before := w.changes(), w.tree()
			// Clocks are not all the same.
			later := time.Now().Add(time.Hour)
			w.must(os.Chtimes(w.path("f"), later, later))
			w.must(os.Chtimes(w.dir, later, later))
			maxWait = 0
			release := w.holdLooks()
			w.begin()
			release()
			w.end()
			if got := w.changes(); got != listed {
				t.Errorf("%s, undo %v: the record has %q, it had %q", name, undo, got, listed)
			}
			check.Equal(t, w.tree(), before, "%s, undo %v: there is %s", name, undo)
		}
	}
}

// What the user has renamed right before a turn is theirs, though the look at the folders with which it begins is late.
func TestTheFirstLookIsLateAfterARename(t *testing.T) {
	defer func(was time.Duration) { maxWait = was }(maxWait)
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.begin()
	w.end()
	w.renames("f", "g")
	before := w.tree()
	later := time.Now().Add(time.Hour)
	w.must(os.Chtimes(w.dir, later, later)) // clocks are not all the same
	maxWait = 0
	release := w.holdLooks()
	w.begin()
	release()
	w.end()
	check.Equal(t, w.changes(), "", "the record has %q")
	if err := w.undo(false); err == nil {
		t.Error("there is something to undo")
	}
	check.Equal(t, w.tree(), before, "there is %s")
}

// What a buffer shows of a file that is newer than the last look is known, though the look with which the turn begins is
// late.
func TestTheFirstLookIsLateForAShownFile(t *testing.T) {
	defer func(was time.Duration) { maxWait = was }(maxWait)
	for name, do := range map[string]func(w *world){
		"removed":        func(w *world) { w.remove("f"); w.sees("f") },
		"and made anew":  func(w *world) { w.remove("f"); w.sees("f"); w.write("f", "f1\na2\n"); w.sees("f") },
		"moved to a new": func(w *world) { w.move("f", "g"); w.sees("f") },
	} {
		for _, undo := range []bool{false, true} {
			maxWait = time.Minute
			w := newWorld(t)
			w.begin()
			w.end()
			w.write("f", "f1\nf2\n")
			w.edit("f")
			before := w.tree()
			maxWait = 0
			release := w.holdLooks()
			w.begin()
			do(w)
			release()
			w.sync()
			w.end()
			if undo {
				w.must(w.undo(false))
			} else {
				w.decide(review.Reject, "")
			}
			check.Equal(t, w.tree(), before, "%s, undo %v: there is %s", name, undo)
		}
	}
}

// The very first look at the folders is late: what has changed before it is not known, and stays.
func TestTheFirstLookOfAllIsLate(t *testing.T) {
	defer func(was time.Duration) { maxWait = was }(maxWait)
	maxWait = 0
	w := newWorld(t)
	w.write("f", "f1\n")
	release := w.holdLooks()
	w.begin()
	w.write("f", "f1\na1\n")
	release()
	w.sync()
	w.end()
	check.Equal(t, w.changes(), "", "the record has %q")
	maxWait = time.Minute // or the look may be in the middle of what is written
	w.begin()
	w.write("f", "f1\na1\na2\n")
	w.end()
	check.Equal(t, w.changes(), "modified f -2,0+3,1\n", "after the next turn the record has %q")
}

// The user removes a file that a buffer shows right before the prompt, of which the watch tells when the turn has
// begun: that is not the agent's doing, and what the agent does to it then comes after it.
func TestARemovalRightBeforeATurn(t *testing.T) {
	t.Parallel()
	removes := func(w *world) { w.remove("f"); w.sees("f") }
	for name, c := range map[string]struct {
		users, agents func(w *world) // before it is known what there was, and afterwards
		listed, left  string
	}{
		"removed":                  {removes, func(*world) {}, "", "no file"},
		"and made before the look": {func(w *world) { removes(w); w.write("f", "u1\n"); w.sees("f") }, func(*world) {}, "", "u1\n"},
		"and made by the agent":    {removes, func(w *world) { w.write("f", "a1\n") }, "added f -0,0+1,1\n", "no file"},
		"and made by it as it was": {removes, func(w *world) { w.write("f", "f1\n") }, "added f -0,0+1,1\n", "no file"},
		"by the agent":             {func(*world) {}, func(w *world) { w.remove("f") }, "deleted f -1,1+0,0\n", "f1\n"},
	} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.edit("f")
		looked := w.beginHeld()
		w.sync()
		c.users(w)
		w.sync()
		looked()
		c.agents(w)
		w.end()
		check.Equal(t, w.changes(), c.listed, "%s: the record has %q", name)
		if c.listed != "" {
			w.decide(review.Reject, "")
		} else if len(w.events) > 0 {
			t.Errorf("%s: told is %v", name, w.events)
		}
		got := "no file"
		if data, err := os.ReadFile(w.path("f")); err == nil {
			got = string(data)
		}
		check.Equal(t, got, c.left, "%s: there is %q", name)
	}
}

// What the user has saved in a turn comes back also where the agent has made the file binary afterwards.
func TestTheUsersTextOfAFileThatBecameBinary(t *testing.T) {
	t.Parallel()
	agents := map[string]func(w *world){
		"":                   func(*world) {},
		"a change before":    func(w *world) { w.write("f", "f1\na1\n"); w.sees("f") },
		"through the client": func(w *world) { w.clientWrites("f", "f1\n", "f1\na1\n") },
	}
	for name, agent := range agents {
		for _, loaded := range []bool{false, true} {
			w := newWorld(t)
			w.write("f", "f1\n")
			w.begin()
			w.edit("f")
			agent(w)
			w.types("f", func(now string) string { return now + "u1\n" })
			w.saves("f")
			if !loaded {
				w.wipe("f")
			}
			w.write("f", "\x00a2\n")
			w.end()
			w.decide(review.Reject, "")
			check.Equal(t, w.sees("f"), "f1\nu1\n", "%s, loaded %v: refused there is %q", name, loaded)
		}
	}
}

// What another program has made of a file in a buffer before the turn is the user's, however late it is told.
func TestAChangeBeforeTheTurnIsToldInIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		early  time.Duration
		listed bool
	}{{time.Second, false}, {-time.Second, true}} {
		w := newWorld(t)
		w.feigned = true
		w.write("f", "f1\n")
		w.edit("f")
		w.begin()
		before, after := "f1\n", "f1\nu1\n"
		w.ledger.Took(buffers.Written{
			Path: w.path("f"), Buf: 1, Changed: true, Before: &before, After: &after, Disk: &after, FormBefore: plain, FormAfter: plain,
			At: time.Now().Add(-c.early),
		}, "disk", false)
		w.sync()
		if got := w.changes(); (got != "") != c.listed {
			t.Errorf("%v before the turn: the record has %q", c.early, got)
		}
	}
}

// However coarse the file's time is: by the clock the disk had it before the prompt.
func TestAChangeRightBeforeTheTurnIsToldInIt(t *testing.T) {
	t.Parallel()
	for _, deleted := range []bool{false, true} {
		w := newWorld(t)
		w.feigned = true
		w.write("f", "f1\n")
		w.edit("f")
		told := buffers.Written{Path: w.path("f"), Buf: 1, Before: new(string), FormBefore: plain, At: time.Now().Add(time.Hour), ReadAt: time.Now()}
		*told.Before = "f1\n"
		if told.Deleted = deleted; !deleted {
			after := "f1\nu1\n"
			told.Changed, told.After, told.Disk, told.FormAfter = true, &after, &after, plain
		}
		w.begin()
		w.ledger.Took(told, "disk", false)
		w.sync()
		check.Equal(t, w.changes(), "", "the record has %q")
	}
}

// What is changed before the agent has the prompt is not the agent's, by whatever clock: whether the look with which the turn
// begins comes before or after it is told.
func TestAChangeBeforeThePromptIsOut(t *testing.T) {
	t.Parallel()
	for _, toldFirst := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\nf2\nf3\n")
		w.edit("f")
		w.begin()
		w.end()
		looked := w.beginHeld()
		w.write("f", "f1\nf2\nu1\nf3\n")
		if toldFirst {
			w.follow(w.path("f"), false)
		}
		looked()
		w.follow(w.path("f"), false)
		w.sync()
		check.Equal(t, w.changes(), "", "told first %v: the record has %q", toldFirst)
		w.write("f", "f1\na1\nu1\nf3\n")
		w.end()
		w.decide(review.Reject, "")
		check.Equal(t, w.sees("f"), "f1\nf2\nu1\nf3\n", "told first %v: refused there is %q", toldFirst)
	}
}

// What the agent has changed at the very end of a turn is in that turn, also when the next has begun before it was told,
// as one does whose prompt waited.
func TestAChangeOfTheTurnBeforeIsToldInTheNext(t *testing.T) {
	t.Parallel()
	for _, removed := range []bool{false, true} {
		w := newWorld(t)
		w.feigned = true
		w.write("f", "f1\n")
		w.edit("f")
		w.begin()
		before, after := "f1\n", "f1\na1\n"
		told := buffers.Written{
			Path: w.path("f"), Buf: 1, Changed: true, Before: &before, After: &after, Disk: &after, FormBefore: plain, FormAfter: plain,
			At: time.Now(), ReadAt: time.Now(),
		}
		if removed {
			w.must(os.Remove(w.path("f")))
			told = buffers.Written{Path: w.path("f"), Buf: 1, Deleted: true, Before: &before, FormBefore: plain}
		}
		release := w.holdLooks()
		over, begun := make(chan struct{}), make(chan struct{})
		w.mu.Lock()
		w.ledger.EndTurn(func() { close(over) })
		w.mu.Unlock()
		w.ledger.BeginTurn("next", func() { close(begun) })
		if told.Deleted {
			told.ReadAt = time.Now()
		}
		w.ledger.Took(told, "disk", false)
		release()
		<-over
		<-begun
		w.sync()
		if got := w.changes(); got == "" {
			t.Errorf("removed %v: the record has nothing", removed)
		}
		if got := w.ledger.history.Turns; len(got) != 1 || got[0].Prompt == "next" {
			t.Errorf("removed %v: there are %d turns to be undone", removed, len(got))
		}
	}
}

// What the user has made of a file between two turns, by another program, comes back too where the file was in the
// record before it became binary.
func TestAnotherProgramBeforeAFileBecomesBinary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.must(os.Chmod(w.path("f"), 0o600))
	w.end()
	w.write("f", "f1\nu1\n")
	w.begin()
	w.write("f", "\x00a1\n")
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "f1\nu1\n", "refused there is %q")
}

// What the user has typed and saved into a file that the agent had made binary does not go with an undo or a refusal,
// also where the agent has changed it again.
func TestTheUsersTextInAFileThatWasBinary(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		w := newWorld(t)
		w.write("f", "f1\n")
		w.begin()
		w.write("f", "\x00a1\n")
		w.edit("f")
		w.types("f", func(now string) string { return now + "u1\n" })
		w.saves("f")
		want := "\x00a1\nu1\n"
		if again {
			want += "a2\n"
			w.write("f", want)
		}
		w.end()
		w.undo(false)
		check.Equal(t, w.sees("f"), want, "again %v: undone there is %q", again)
		refused := make(chan error)
		w.ledger.Decide(Decision{Do: review.Reject}, func(_ int, err error) { refused <- err })
		if err := <-refused; err == nil || w.sees("f") != want {
			t.Errorf("again %v: refused (%v) there is %q", again, err, w.sees("f"))
		}
		w.decide(review.Keep, "")
		if got := w.changes(); strings.Contains(got, "pending") || w.sees("f") != want {
			t.Errorf("again %v: kept the record has %q, and there is %q", again, got, w.sees("f"))
		}
	}
}

// The user reads a buffer again in a turn, and with it what the agent has written of which nobody has told yet; then
// they type and save. The agent's part is refused all the same.
func TestABufferThatIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ agents, listed, refused string }{
		"changed":   {"f1\na1\nf2\n", "modified f -1,0+2,1\n", "f1\nf2\nu1\n"},
		"emptied":   {"", "modified f -1,2+0,0\n", "f1\nf2\nu1\n"},
		"as it was": {"f1\nf2\n", "", ""},
	} {
		for _, unsaved := range []bool{false, true} {
			w := newWorld(t)
			w.write("f", "f1\nf2\n")
			w.edit("f")
			w.begin()
			if unsaved {
				w.types("f", func(now string) string { return now + "u0\n" })
			}
			w.write("f", c.agents)
			w.edit("f")
			w.types("f", func(now string) string { return now + "u1\n" })
			w.saves("f")
			w.end()
			check.Equal(t, w.changes(), c.listed, "%s, unsaved %v: the record has %q", name, unsaved)
			if c.listed == "" {
				continue
			}
			if w.decide(review.Reject, ""); w.sees("f") != c.refused {
				t.Errorf("%s, unsaved %v: refused there is %q", name, unsaved, w.sees("f"))
			}
		}
	}
}

// An emptied file is told without what the disk has, and is the agent's all the same when the user reads it again.
func TestAnEmptiedBufferThatIsReadAgain(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.begin()
	w.clientWrites("f", "f1\nf2\n", "f1\na1\n")
	w.decide(review.Keep, "")
	w.write("f", "")
	before, after := "f1\na1\n", ""
	w.ledger.Took(buffers.Written{
		Path: w.path("f"), Buf: 1, Changed: true, Before: &before, After: &after, FormBefore: plain, FormAfter: plain,
	}, "disk", false)
	w.edit("f")
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), before, "refused there is %q")
}

// What the user's other programs do under a buffer between two turns is not taken together with what the user does
// then: with the agent's line below it gone, theirs would look like a changed line of the agent's.
func TestUserChangedBesideTheAgentsLine(t *testing.T) {
	w := newWorld(t)
	w.feigned = true
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.end()
	before, after := "f1\na1\n", "f1\nu1\na1\n"
	w.write("f", after)
	w.disk.Lock()
	b := w.bufs[w.path("f")]
	b.text, b.synced = after, after
	w.disk.Unlock()
	w.ledger.UserChanged(buffers.Written{
		Path: w.path("f"), Buf: 1, Changed: true, Before: &before, After: &after, Disk: &after, FormBefore: plain, FormAfter: plain,
	})
	w.types("f", func(string) string { return "f1\nu1\n" })
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "f1\nu1\n", "the user has %q")
}

// A file that the user has saved where the agent had moved it away is theirs, also when the agent then removes the moved
// one: that is no move back.
func TestSavedWhereItWasMovedAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.edit("f")
	w.begin()
	w.move("f", "g")
	w.end()
	w.begin()
	w.saves("f")
	w.remove("g")
	w.end()
	check.Equal(t, w.changes(), "", "the agent has changed %s")
}

// What the agent makes where the user has removed a file since the turn before is the agent's: refused it is gone.
func TestMadeWhereTheUserHasRemovedAFile(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.begin()
	w.clientWrites("f", "f1\nf2\n", "f1\na2\n")
	w.end()
	w.sync()
	w.remove("f")
	w.begin()
	w.write("f", "a3\n")
	w.end()
	w.sync()
	check.Equal(t, w.changes(), "added f -0,0+1,1\n", "listed is %q")
	w.decide(review.Reject, "f")
	check.Equal(t, w.tree(), "", "refused, there is %s")
}

// What the agent has made of a file before the user opened it is the agent's, also where the turn ends before it is told
// that they have.
func TestOpenedRightBeforeTheEnd(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]func(w *world){
		"changed":             func(w *world) { w.write("f", "f1\na1\n") },
		"removed, made empty": func(w *world) { w.call("delete", func() { w.remove("f") }, "f"); w.write("f", "") },
	} {
		for _, typed := range []string{"", "u1\n"} {
			w := newWorld(t)
			w.write("f", "f1\nf2\n")
			w.begin()
			does(w)
			data, err := os.ReadFile(w.path("f"))
			must.Do(t, err)
			text := string(data)
			w.disk.Lock()
			w.bufs[w.path("f")] = &buffer{text: text + typed, form: plain, synced: text}
			w.disk.Unlock()
			w.end()
			w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: &text, Form: plain, Since: changedAt(w.path("f"))})
			w.sync()
			w.decide(review.Reject, "")
			check.Equal(t, w.tree(), `f 644 "f1\nf2\n"`, name+", there is %s")
			for _, line := range []string{"f1\n", "f2\n", typed} {
				if got := w.sees("f"); !strings.Contains(got, line) || strings.Contains(got, "a1") {
					t.Errorf("%s, the buffer has %q", name, got)
				}
			}
		}
	}
}

// What the user has saved and the agent removes right then comes back, also where it is no text.
func TestSavedBytesThatTheAgentRemoves(t *testing.T) {
	t.Parallel()
	for _, loaded := range []bool{true, false} {
		w := newWorld(t)
		w.begin()
		w.write("f", "\x00u1\n")
		if loaded {
			text := "\x00u1\n"
			w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Saved: true, Text: &text, Form: plain, Since: changedAt(w.path("f"))})
		} else {
			w.saved("f")
		}
		w.sync()
		w.remove("f")
		w.ledger.FileOpened(buffers.Opened{Path: w.path("f")})
		w.end()
		w.decide(review.Reject, "")
		check.Equal(t, w.tree(), `f 644 "\x00u1\n"`, "there is %s")
	}
}

// A buffer that is closed where no file is any more, as the user has refused its move, tells nothing of the agent.
func TestClosedWhereAMoveWasRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.call("move", func() { w.move("f", "g") }, "f", "g")
	w.edit("g")
	w.decide(review.Reject, "")
	w.wipe("g")
	w.end()
	check.Equal(t, w.changes(), "moved f rejected\n", "the record has %q")
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
}

// A file that the agent moves twice is one that was moved, though the host hears last of where it is.
func TestMovedTwiceAndToldOneByOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.sync()
	w.call("move", func() { w.move("f", "g") }, "f", "g")
	w.sync()
	w.move("g", "h")
	w.call("delete", func() {}, "g")
	w.sync()
	w.call("edit", func() {}, "h")
	check.Equal(t, w.changes(), "moved h from f\n", "the record has %q")
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
}

// Permissions that were kept stay so where the buffer of the file is read anew.
func TestReadAnewWithKeptPermissions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.edit("f")
	w.begin()
	w.sync()
	w.call("edit", func() { w.chmod("f", 0o600) }, "f")
	w.decide(review.Keep, "f")
	w.rereads("f")
	w.end()
	check.Equal(t, w.changes(), "modified f kept\n", "the record has %q")
}

// What the user gives another name while the turn runs is listed by that at once.
func TestRenamedWhileTheTurnRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.move("f", "g")
	w.ledger.UserRenamed(w.path("f"), w.path("g"))
	w.saved("g")
	check.Equal(t, w.changes(), "modified g -1,0+2,1\n", "the record has %q")
	w.end()
}

// What is unsaved of a file whose move is refused stays in its buffer: the disk without it is nobody's change.
func TestMovedBackWithoutUnsavedText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.begin()
	w.sync()
	w.call("move", func() { w.move("f", "g") }, "f", "g")
	w.sync()
	w.edit("g")
	w.types("g", func(string) string { return "f1\nu2\n" })
	w.decide(review.Reject, "")
	w.wipe("g")
	w.end()
	check.Equal(t, w.changes(), "moved f rejected\n", "the record has %q")
	check.Equal(t, w.tree(), `f 644 "f1\nf2\n"`, "there is %s")
}

// A line that the agent has taken out again does not come back as the user's if the agent then moves the file and the
// host is killed before it has heard of that.
func TestMovedAfterAChangeOnTheDisk(t *testing.T) {
	for name, makes := range map[string]func(*world){
		"written through the client": func(w *world) { w.clientWrites("f", "f1\n", "f1\na1\na2\n") },
		"closed": func(w *world) {
			w.edit("f")
			w.write("f", "f1\na1\na2\n")
			w.sees("f")
			w.wipe("f")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("f", "f1\n")
			w.named()
			w.begin()
			makes(w)
			w.call("edit", func() { w.write("f", "f1\na2\n") }, "f")
			w.move("f", "g")
			w.killed(false)
			check.Equal(t, w.changes(), "moved g from f -1,0+2,1\n", "the record has %q")
			w.decide(review.Reject, "")
			check.Equal(t, w.tree(), `f 644 "f1\n"`, "there is %s")
		})
	}
}

// A file that is gone by the time its saving is heard of was not removed by the user for that.
func TestSavedAndGoneByThen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.clientWrites("f", "f1\n", "f1\na1\n")
	w.remove("f")
	w.saved("f")
	w.end()
	check.Equal(t, w.changes(), "deleted f -1,1+0,0\n", "listed is %q")
	w.decide(review.Reject, "")
	check.Equal(t, w.sees("f"), "f1\n", "there is %q")
}

// A file that the agent has removed, that the user has then saved and removed, is not brought back.
func TestSavedAndRemovedAfterATurn(t *testing.T) {
	for _, read := range []bool{false, true} {
		w := newWorld(t)
		w.removedUnder("f", "f1\n")
		w.tellsOfSave("f", "f1\nu1\n", read)
		check.Equal(t, w.changes(), "", "read %v: listed is %q", read)
	}
}

// A buffer of a file that is not there is none that the agent has made.
func TestOpenedWhereNoFileIs(t *testing.T) {
	w := newWorld(t)
	w.begin()
	w.disk.Lock()
	w.bufs[w.path("f")] = &buffer{form: plain, gone: true}
	w.disk.Unlock()
	w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: new(""), Form: plain})
	w.sync()
	w.disk.Lock()
	check.Equal(t, len(w.events), 0, "the agent has told of %d changes")
	w.disk.Unlock()
	w.end()
	check.Equal(t, w.changes(), "", "listed is %q")
}

// What the user has typed in a file whose opening Neovim tells late is known to be unsaved, and what the agent wrote under it
// comes with the disk when they give that up.
func TestGivenUpWhereItsOpeningWasKnownLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("f", "f1\n")
	w.begin()
	w.write("f", "f1\na1\n")
	w.bufs[w.path("f")] = &buffer{text: "u1\nf1\n", form: plain, synced: "f1\na1\n"}
	w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Since: changedAt(w.path("f"))})
	w.sync()
	w.box(func() {
		if _, noted := w.ledger.inStep[w.path("f")]; !noted {
			t.Error("it is not taken for unsaved")
		}
	})
	w.rereads("f")
	check.Equal(t, w.changes(), "modified f -1,0+2,1\n", "listed is %q")
	w.end()
}

// Permissions that the user gives a file after the turn stay, whatever the agent had given it.
func TestPermissionsThatTheUserGivesAfterATurn(t *testing.T) {
	for _, unsaved := range []bool{false, true} {
		for users, want := range map[fs.FileMode]fs.FileMode{0o700: 0o700, 0o755: 0o644, 0o644: 0o644} {
			for _, undo := range []bool{false, true} {
				w := newWorld(t)
				w.write("f", "f1\n")
				w.edit("f")
				w.begin()
				if unsaved {
					w.types("f", func(now string) string { return now + "u1\n" })
					w.changes()
				}
				w.write("f", "a1\nf1\n")
				w.sees("f")
				w.call("edit", func() { w.chmod("f", 0o755) }, "f")
				w.end()
				w.chmod("f", users)
				w.changes()
				if undo {
					w.must(w.undo(false))
				} else {
					w.decide(review.Reject, "")
				}
				check.Equal(t, w.tree(), fmt.Sprintf("f %o %q", want, "f1\n"), "%o, unsaved %v, undo %v: there is %s", users, unsaved, undo)
			}
		}
	}
}

// permitted is a world in which the agent has changed the first line of a file, and its permissions, under a buffer in which
// the user had typed this.
func permitted(t *testing.T, typed string, mode fs.FileMode) *world {
	t.Helper()
	w := newWorld(t)
	w.named()
	w.write("f", "f1\n=\n")
	w.edit("f")
	w.begin()
	w.sync()
	w.types("f", func(string) string { return typed })
	w.write("f", "a1\n=\n")
	w.chmod("f", mode)
	w.sees("f")
	w.end()
	return w
}

// So do permissions that they give it between two turns, in which the agent changes its text: also where a buffer has shown it
// all the time, with unsaved text or not, and where Neovim is killed with the host in the second turn.
func TestPermissionsThatTheUserGivesBetweenTurns(t *testing.T) {
	for _, unsaved := range []string{"no", "stays", "stays, and is seen", "is given up", "was given up"} {
		for _, dies := range []bool{false, true} {
			for _, undo := range []bool{false, true} {
				for _, agents := range []fs.FileMode{0o644, 0o755} {
					typed := "f1\n=\nu1\n"
					if unsaved == "no" {
						typed = "f1\n=\n"
					}
					w := permitted(t, typed, agents)
					if unsaved == "was given up" {
						w.rereads("f")
					}
					w.chmod("f", 0o700)
					if unsaved == "is given up" {
						w.rereads("f")
					}
					if unsaved == "stays, and is seen" {
						w.changes()
					}
					w.begin()
					w.write("f", "a1\n=\na2\n")
					if dies {
						w.killed(false)
					} else {
						w.sees("f")
						w.end()
						w.wipe("f")
					}
					if undo {
						w.must(w.undo(false))
						w.must(w.undo(false))
					} else {
						w.decide(review.Reject, "")
					}
					check.Equal(t, w.tree(), `f 700 "f1\n=\n"`, "unsaved text %s, Neovim dies %v, undo %v, agent's %o: there is %s", unsaved, dies, undo, agents)
				}
			}
		}
	}
}

// Also where what the agent has changed conflicts with unsaved text.
func TestPermissionsThatTheUserGivesWithAConflict(t *testing.T) {
	for _, seen := range []bool{false, true} {
		for _, then := range []string{"refuses", "undoes", "in the second turn", "gives up, refuses", "dies"} {
			for _, agents := range []fs.FileMode{0o644, 0o755} {
				w := permitted(t, "u1\n=\n", agents)
				w.chmod("f", 0o700)
				if seen {
					w.changes()
				}
				switch then {
				case "undoes":
					w.must(w.undo(false))
				case "gives up, refuses":
					w.rereads("f")
					w.decide(review.Reject, "")
				case "refuses":
					w.decide(review.Reject, "")
				case "in the second turn":
					w.begin()
					w.sync()
					w.write("f", "a1\n=\na2\n")
					w.sees("f")
					w.end()
					w.decide(review.Reject, "")
				default:
					w.begin()
					w.killed(false)
					w.decide(review.Reject, "")
				}
				check.Equal(t, w.tree(), `f 700 "f1\n=\n"`, "the user %s, seen %v, agent's %o: there is %s", then, seen, agents)
			}
		}
	}
}

// What the user has saved into a file that the agent has made is there again when the agent removes that file, and this is
// refused. What they have not saved stays in the buffer, and nothing waits.
func TestTheUsersLinesInANewFileThatIsRemoved(t *testing.T) {
	t.Parallel()
	for _, shown := range []bool{false, true} { // when it is removed
		for _, saved := range []bool{false, true} {
			for _, later := range []bool{false, true} { // in another turn
				w := newWorld(t)
				w.begin()
				w.sync()
				w.call("edit", func() { w.write("f", "a1\n"); w.chmod("f", 0o755) }, "f")
				w.edit("f")
				w.types("f", func(now string) string { return now + "u1\n" })
				if saved {
					w.saves("f")
				}
				if !shown {
					w.wipe("f")
				}
				if later {
					w.end()
					w.begin()
					w.sync()
				}
				w.remove("f")
				w.follow(w.path("f"), true)
				w.end()
				want, listed, buffer := "", "", "a1\nu1\n"
				if saved {
					want, listed, buffer = `f 755 "u1\n"`, "deleted f -1,1+0,0\n", "u1\n"
				} else if !shown {
					buffer = "no file"
				}
				check.Equal(t, w.changes(), listed, "shown %v, saved %v, later %v: the record has %q", shown, saved, later)
				if saved {
					w.decide(review.Reject, "")
				}
				check.Equal(t, w.tree(), want, "shown %v, saved %v, later %v: refused there is %s", shown, saved, later)
				check.Equal(t, w.sees("f"), buffer, "shown %v, saved %v, later %v: refused one sees %q", shown, saved, later)
			}
		}
	}
}

// What the agent removes before anybody could read it, while a buffer shows it, is its removal also where the user then reads
// the buffer anew: they have emptied nothing.
func TestReadAnewBeforeTheRemovalWasHeard(t *testing.T) {
	w := newWorld(t)
	w.write("f", "f1\nf2\n")
	w.begin()
	w.remove("f")
	w.opened(buffers.Opened{Path: w.path("f"), Loaded: true})
	w.opened(buffers.Opened{Path: w.path("f"), Loaded: true, Text: new(string)})
	w.bufs[w.path("f")] = &buffer{gone: true}
	w.files() // somebody looks at what has changed while the turn runs
	w.end()
	w.decide(review.Reject, "")
	check.Equal(t, w.tree(), `f 644 "f1\nf2\n"`, "there is %s")
}
