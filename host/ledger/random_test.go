package ledger

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

var (
	rounds = flag.Int("rounds", 60, "random turns")
	seed   = flag.Uint64("seed", 1, "of the random turns")
)

// TestRandomTurns has an agent and a user change files in all their ways, and then all of the agent's refused or
// undone. Each line is unlike all others, and it is written down who has put it in and taken it out: what is left
// must be the user's.
func TestRandomTurns(t *testing.T) {
	for i := range *rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := &randomTurns{world: newWorld(t), Rand: rand.New(rand.NewPCG(*seed, uint64(i)))}
			r.run()
			if t.Failed() {
				t.Logf("-seed %d, round %d:\n%s", *seed, i, strings.Join(r.log, "\n"))
			}
		})
	}
}

type randomTurns struct {
	*world
	*rand.Rand
	files []*modelled
	count int
	log   []string
}

// modelled is a file with all lines that were ever in it.
type modelled struct {
	name, first string // first is its name before the turn; "" is that the agent has made it
	lines       []*modelLine
	loaded      bool
	gone        bool // by the agent
	lost        bool // the agent had taken out lines that were not saved, and the user has closed the buffer
	replaced    bool // the agent has put another file in its place, which nobody has looked at
}

type modelLine struct {
	text              string
	agents            bool // the agent has put it in
	goneByAgent, gone bool // by the agent, and by the user
	saved, goneSaved  bool // the disk has it; the disk knows that the user has taken it out
}

func (r *randomTurns) did(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *randomTurns) line(who string) *modelLine {
	r.count++
	return &modelLine{text: fmt.Sprintf("%s%d\n", who, r.count), agents: who == "a", saved: who != "u"}
}

// shown is what of a file is there for whoever looks.
func (f *modelled) shown(l *modelLine) bool { return !l.goneByAgent && !l.gone }

// onDisk is what of it the disk has.
func (f *modelled) onDisk(l *modelLine) bool { return !l.goneByAgent && l.saved && !l.goneSaved }

// followed says that its buffer, if any, has what the agent has written: where nothing is unsaved then, what both have
// taken out is saved.
func (f *modelled) followed() {
	if !f.loaded || f.text(f.shown) != f.text(f.onDisk) {
		return
	}
	for _, l := range f.lines {
		l.goneSaved = l.goneSaved || l.gone && l.goneByAgent
	}
}

func (f *modelled) text(which func(*modelLine) bool) string {
	var b strings.Builder
	for _, l := range f.lines {
		if which(l) {
			b.WriteString(l.text)
		}
	}
	return b.String()
}

func (r *randomTurns) run() {
	for n := range 1 + r.IntN(3) {
		f := &modelled{name: fmt.Sprintf("f%d", n)}
		f.first = f.name
		for range r.IntN(6) {
			f.lines = append(f.lines, r.line("f"))
		}
		r.files = append(r.files, f)
		r.write(f.name, f.text(f.shown))
		if r.IntN(2) == 0 {
			r.open(f)
		}
	}
	// What the user does before a turn is theirs.
	for range r.IntN(3) {
		r.userActs()
	}
	r.begin()
	for range 1 + r.IntN(6) {
		if r.IntN(3) == 0 {
			r.userActs()
		} else {
			r.agentActs()
		}
	}
	r.end()
	for _, f := range r.files {
		f.followed()
	}
	for range r.IntN(3) {
		r.userActs()
	}
	before := r.changes()
	r.did("tree %s", r.tree())
	if r.conflict {
		return // the buffer has one text, the disk another one, and who wins is for the user to decide
	}
	if r.IntN(2) == 0 {
		r.did("refuse all of\n%s", before)
		if _, err := r.refuse(nil); err != nil && before != "" { // what only the disk has is not listed
			r.t.Error(err)
		}
	} else {
		r.did("undo of\n%s", before)
		if err := r.undo(false); err != nil && before != "" {
			r.t.Error(err)
		}
	}
	r.check()
}

func (r *randomTurns) pick(which func(*modelled) bool) *modelled {
	var some []*modelled
	for _, f := range r.files {
		if which(f) {
			some = append(some, f)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[r.IntN(len(some))]
}

func (r *randomTurns) open(f *modelled) {
	r.did("user opens %s", f.name)
	r.edit(f.name)
	f.loaded = true
}

func (r *randomTurns) userActs() {
	f := r.pick(func(f *modelled) bool { return !f.gone })
	if f == nil {
		return
	}
	if !f.loaded {
		r.open(f)
		return
	}
	act := r.IntN(6)
	if act < 5 {
		f.followed()
	}
	switch act {
	case 0, 1, 2:
		l := r.line("u")
		r.types(f.name, func(text string) string {
			shown := slices.Collect(strings.Lines(text))
			at, behind := r.IntN(len(shown)+1), 0
			for _, before := range slices.Backward(shown[:at]) { // the agent's may stand elsewhere than is modelled
				if i := slices.IndexFunc(f.lines, func(m *modelLine) bool { return m.text == before && !m.agents }); i >= 0 {
					behind = i + 1
					break
				}
			}
			r.did("user types %q at %d of %s", l.text, at, f.name)
			f.lines = slices.Insert(f.lines, behind, l)
			return strings.Join(slices.Insert(shown, at, l.text), "")
		})
	case 3:
		var own []*modelLine
		for _, l := range f.lines {
			if f.shown(l) && !l.agents {
				own = append(own, l)
			}
		}
		if len(own) == 0 {
			return
		}
		l := own[r.IntN(len(own))]
		r.did("user removes %q from %s", l.text, f.name)
		r.types(f.name, func(text string) string {
			l.gone = true
			return strings.Replace(text, l.text, "", 1)
		})
	case 4:
		r.did("user saves %s", f.name)
		r.saves(f.name)
		for _, l := range f.lines {
			if l.goneSaved = l.gone; !l.goneByAgent {
				l.saved = l.saved || !l.gone
			}
		}
	default:
		r.did("user wipes %s", f.name)
		r.wipe(f.name)
		f.loaded = false
		f.lost = f.lost || slices.ContainsFunc(f.lines, func(l *modelLine) bool { return l.goneByAgent && !l.saved && !l.agents || l.gone != l.goneSaved })
		f.lines = slices.DeleteFunc(f.lines, func(l *modelLine) bool { return !l.saved })
		for _, l := range f.lines {
			l.gone = l.goneSaved
		}
	}
}

// changed has the agent take out and put in lines of those that which is about.
func (r *randomTurns) changed(f *modelled, which func(*modelLine) bool) {
	var there []int
	for i, l := range f.lines {
		if which(l) {
			there = append(there, i)
		}
	}
	for range 1 + r.IntN(2) {
		if len(there) > 0 && r.IntN(2) == 0 {
			f.lines[there[r.IntN(len(there))]].goneByAgent = true
		}
		at := r.IntN(len(f.lines) + 1)
		for range r.IntN(3) {
			l := r.line("a")
			f.lines = slices.Insert(f.lines, at, l)
		}
		there = nil
		for i, l := range f.lines {
			if which(l) {
				there = append(there, i)
			}
		}
	}
}

func (r *randomTurns) agentActs() {
	f := r.pick(func(f *modelled) bool { return !f.gone })
	if f == nil || r.IntN(8) == 0 {
		f = &modelled{name: fmt.Sprintf("new%d", len(r.files))}
		r.files = append(r.files, f)
		r.changed(f, f.onDisk)
		r.did("agent makes %s", f.name)
		r.write(f.name, f.text(f.onDisk))
		return
	}
	switch r.IntN(8) {
	case 0, 1:
		given := r.sees(f.name)
		r.changed(f, f.shown)
		// What it was given is on the disk then.
		for _, l := range f.lines {
			if l.goneSaved = l.gone; !l.goneByAgent {
				l.saved = l.saved || !l.gone
			}
		}
		r.did("agent writes %s through the client: %q", f.name, f.text(f.shown))
		r.clientWrites(f.name, given, f.text(f.shown))
	case 2, 3, 4:
		how := r.IntN(4)
		do := func() {
			r.changed(f, f.onDisk)
			r.did("agent writes %s on the disk, way %d: %q", f.name, how, f.text(f.onDisk))
			data := f.text(f.onDisk)
			if how == 1 && (f.loaded || f.name == f.first) { // else nothing tells that it is the one that was moved
				r.sync() // what was opened was looked at
				r.replace(f.name, data)
				f.replaced = !f.loaded
			} else {
				r.write(f.name, data)
			}
		}
		if how == 2 {
			r.call("edit", do, f.name)
		} else {
			do()
		}
		if how == 3 {
			r.sees(f.name)
			f.followed()
		}
	case 5:
		if f.loaded || f.replaced {
			return
		}
		r.did("agent moves %s", f.name)
		to := fmt.Sprintf("moved%d/%s", r.count, f.name)
		r.count++
		r.move(f.name, to)
		f.name = to
	case 6:
		r.did("agent removes %s", f.name)
		if f.loaded {
			return
		}
		r.remove(f.name)
		f.gone = true
		for _, l := range f.lines {
			l.goneByAgent = true
		}
	default:
		r.did("agent gives permissions to %s", f.name)
		r.chmod(f.name, 0o755)
	}
}

// sameLines reports whether two texts have the same lines, and those that the agent never took out in the same order: where
// a line was typed beside one that the agent had taken out can be told in two ways. With lenient it leaves out those of the
// user that were never saved and that the agent has taken out, which it had from the buffer, and those that they have taken
// out of the buffer of a moved file, which goes back as they have it.
func (f *modelled) sameLines(a, b string, lenient bool) bool {
	gone := map[string]bool{}
	for _, l := range f.lines {
		if lenient && !l.agents && !l.saved && !strings.Contains(b, l.text) {
			a = strings.ReplaceAll(a, l.text, "")
		}
		if lenient && l.gone && !l.goneSaved && f.name != f.first {
			a, b = strings.ReplaceAll(a, l.text, ""), strings.ReplaceAll(b, l.text, "")
		}
		gone[l.text] = l.goneByAgent
	}
	stayed := func(text string) []string {
		return slices.DeleteFunc(slices.Collect(strings.Lines(text)), func(l string) bool {
			return gone[l] || lenient && !strings.HasPrefix(l, "f")
		})
	}
	ofFile := func(text string) []string {
		return slices.DeleteFunc(slices.Collect(strings.Lines(text)), func(l string) bool { return !strings.HasPrefix(l, "f") })
	}
	return slices.Equal(slices.Sorted(strings.Lines(a)), slices.Sorted(strings.Lines(b))) &&
		slices.Equal(stayed(a), stayed(b)) && (lenient || slices.Equal(ofFile(a), ofFile(b)))
}

// check looks whether what there is is the user's.
func (r *randomTurns) check() {
	for _, f := range r.files {
		users := f.text(func(l *modelLine) bool { return !l.agents && !l.gone })
		disk := f.text(func(l *modelLine) bool { return !l.agents && l.saved && !l.goneSaved })
		if f.lost {
			continue
		}
		// Where the user has taken out lines without saving it nothing tells what they stood before.
		unsaved := f.loaded && f.name != f.first || slices.ContainsFunc(f.lines, func(l *modelLine) bool { return l.gone != l.goneSaved || l.goneByAgent && !l.saved })
		name := f.first
		if name == "" {
			name = f.name
			if users == "" {
				users, disk = "no file", "no file"
			}
		}
		got := r.sees(name)
		if f.loaded && f.name != name { // what is not saved may be in the buffer of the file that was moved
			beside := r.sees(f.name)
			users = f.text(func(l *modelLine) bool {
				unsaved := !l.saved && strings.Contains(beside, l.text) || l.gone && !l.goneSaved
				return !l.agents && (unsaved && strings.Contains(got, l.text) || !unsaved && !l.gone)
			})
		}
		if !f.sameLines(got, users, unsaved && f.name != name) && !(f.loaded && users == "no file") {
			r.t.Errorf("the user has of %s\n%q\nwanted\n%q", name, got, users)
		}
		data, err := os.ReadFile(r.path(name))
		if got := string(data); !f.sameLines(got, disk, false) && !(unsaved && f.sameLines(got, disk, true)) && !(err != nil && disk == "no file") {
			r.t.Errorf("the disk has of %s\n%q\nwanted\n%q", name, got, disk)
		}
		if info, err := os.Stat(r.path(name)); err == nil && f.first != "" && info.Mode().Perm() != 0o644 {
			r.t.Errorf("%s has the permissions %o", name, info.Mode().Perm())
		}
		if f.name != name {
			if _, err := os.Stat(r.path(f.name)); err == nil {
				r.t.Errorf("%s is there still", f.name)
			}
		}
	}
	if got := r.changes(); strings.Contains(got, "pending") {
		r.t.Errorf("the record has\n%s", got)
	}
}
