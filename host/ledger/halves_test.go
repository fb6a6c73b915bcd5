package ledger

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// TestRandomHalves has agent and user share files over several turns: the agent changes the upper half of each, and
// whether, where and how it is there, by all its ways; the user the lower half. So it is plain at any time whose a line
// is, what the record has to list, and what is left where some of it is refused, kept, undone or done again. Hosts are
// killed in between, with their Neovims or without.
func TestRandomHalves(t *testing.T) {
	for i := range 2 * *rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := &halves{world: newWorld(t), Rand: rand.New(rand.NewPCG(*seed, uint64(i)))}
			defer func() {
				if t.Failed() {
					t.Logf("-seed %d, round %d:\n%s", *seed, i, strings.Join(r.log, "\n"))
				}
			}()
			r.run()
		})
	}
}

type halves struct {
	*world
	*rand.Rand
	files   []*half
	count   int
	running bool // a turn
	undone  bool // some turn was
	parted  bool // a part of what is pending was decided about, or a conflict: nobody says what an undo of its turn leaves
	log     []string
}

// half is a file. Its states are those at the beginning of each turn, and the last one is what it is now.
type half struct {
	id           string
	states       []state
	base         state  // of which nothing is pending
	keptAt       int    // the turn in which all of it was kept last; 0 for none
	lower, saved string // of the user, in the buffer and on the disk
	theirs       string // of the agent on the disk, in conflict with what is not saved of the user's half; "" for none
	since        int    // the turn of that
	middle       string // between the halves; "" is that the agent has made the file
	loaded       bool
	touched      bool     // the user has changed something of it
	replaced     bool     // nothing tells that it is the same file still
	bytes        bool     // it was no text once: then nobody can tell what the user does to it
	again        bool     // it was removed, and is there again
	kept         bool     // by the user, some time
	untold       []string // where it was changed, which only the end of the turn tells
	passed       []string // where the agent has moved it
}

// state is the agent's part of a file.
type state struct {
	name, upper, form string // form is "", "dos", "bom", or "bytes" where it is no text
	mode              fs.FileMode
	exists            bool
}

func (f *half) is() *state       { return &f.states[len(f.states)-1] }
func (f *half) turn() state      { return f.states[len(f.states)-2] }
func (f *half) text() string     { return f.is().upper + f.middle + f.lower }
func (f *half) diskText() string { return f.is().upper + f.middle + cmp.Or(f.theirs, f.saved) }
func (f *half) disk() string     { return f.is().encoded(f.diskText()) }

// moved reports whether the file has been at another path.
func (f *half) moved() bool {
	return slices.ContainsFunc(append(f.states, f.base), func(s state) bool { return s.name != f.is().name })
}

// listed is the path by which the record has it, which is its first if it is not there any more.
func (f *half) listed() string {
	if f.middle != "" && !f.is().exists {
		return f.id
	}
	return f.is().name
}

func (s state) encoded(text string) string {
	switch s.form {
	case "dos":
		return strings.ReplaceAll(text, "\n", "\r\n")
	case "bom":
		return "\ufeff" + text
	case "bytes":
		return "\x00" + text
	}
	return text
}

func (r *halves) did(format string, args ...any) { r.log = append(r.log, fmt.Sprintf(format, args...)) }

func (r *halves) run() {
	for range 1 + r.IntN(3) {
		f := &half{middle: fmt.Sprintf("= %d\n=\n= %d\n", len(r.files), len(r.files))}
		f.states = []state{{name: fmt.Sprintf("f%d", len(r.files)), mode: 0o644, exists: true}}
		f.is().upper, f.is().form = r.edited("", "f"), []string{"", "", "dos", "bom"}[r.IntN(4)]
		f.base = *f.is()
		f.lower = r.edited("", "u")
		f.saved, f.id = f.lower, f.is().name
		r.files = append(r.files, f)
		r.write(f.id, f.disk())
	}
	r.named()
	turns := 1 + r.IntN(3)
	for range turns {
		for range r.IntN(3) {
			r.userActs()
		}
		for _, f := range r.files {
			f.untold = nil
		}
		r.runs()
	}
	for range r.IntN(3) {
		r.userActs()
	}
	r.lists("in the end")
	for _, f := range r.files {
		if f.theirs != "" && f.moved() {
			r.resolves(f) // else it would go back to another path while its buffer stays
		}
	}
	if !r.parted && r.IntN(2) == 0 {
		r.undoes(turns)
		return
	}
	for _, f := range r.files {
		if f.theirs != "" {
			r.resolves(f)
		}
	}
	switch do := []review.Decision{review.Reject, review.Reject, review.Keep}[r.IntN(3)]; r.IntN(2) {
	case 0:
		if r.pending() {
			r.stays(r.files...)
			r.did("%s all", do)
			r.decide(do, "")
			r.decided(do, r.files...)
		}
	default:
		for _, at := range r.Perm(len(r.files)) {
			for r.decides(do, r.files[at]) {
			}
		}
	}
	if r.pending() {
		r.t.Errorf("decided about all the record has\n%s", r.changes())
	}
	r.lists("decided about all")
}

// runs is a turn.
func (r *halves) runs() {
	for _, f := range r.files {
		f.states = append(f.states, *f.is())
	}
	r.disk.Lock()
	r.events = nil
	r.disk.Unlock()
	r.did("begin")
	r.running = true
	defer func() { r.running = false }()
	r.begin()
	r.sync()
	for range 1 + r.IntN(6) {
		switch n := r.IntN(12); {
		case n < 4:
			r.userActs()
		case n == 4:
			r.tells()
			r.lists("in a turn")
		case n == 5:
			r.tells()
			do := []review.Decision{review.Reject, review.Keep}[r.IntN(2)]
			f := r.files[r.IntN(len(r.files))]
			if r.IntN(2) == 0 {
				r.part(do, f)
			} else {
				r.decides(do, f)
			}
		default:
			r.agentActs()
		}
	}
	end := r.IntN(6)
	if end < 2 && slices.ContainsFunc(r.files, func(f *half) bool { return f.kept }) {
		r.parted = true // a turn that was saved does not know what of it was kept
	}
	switch end {
	case 0:
		r.did("the host is killed")
		r.killed(true)
		return
	case 1:
		r.did("the host is killed with Neovim")
		r.killed(false)
		for _, f := range r.files {
			f.lower, f.loaded = f.saved, false
			if f.theirs != "" {
				r.did("user refuses what was in conflict with what is gone with Neovim")
				check.Equal(r.t, r.sees(f.is().name), r.onDisk(f.is().name), "there is %q")
				r.changes()
				r.decide(review.Reject, f.is().name)
				r.decided(review.Reject, f)
			}
		}
		return
	}
	r.did("end")
	r.end()
	r.told()
}

// told looks whether all that the agent has changed in a turn is told of, and nothing else.
func (r *halves) told() {
	r.disk.Lock()
	defer r.disk.Unlock()
	for _, f := range r.files {
		named := slices.ContainsFunc(r.events, func(e Event) bool {
			return slices.ContainsFunc(append(f.passed, f.turn().name), func(name string) bool { return e.Path == r.path(name) })
		})
		if changed := *f.is() != f.turn() && (f.is().exists || f.turn().exists); changed && !named {
			r.t.Errorf("nothing tells of %s", f.id)
		}
	}
}

// tells has a call name all that the agent has changed.
func (r *halves) tells() {
	for _, f := range r.files {
		if len(f.untold) > 0 {
			r.did("a call names %q", f.untold)
			r.call(session.KindEdit, func() {}, f.untold...)
			f.untold = nil
		}
	}
}

// lists looks whether there is what should be, and whether the record says so.
func (r *halves) lists(when string) {
	r.t.Helper()
	pending := map[string]string{}
	for _, f := range r.record() {
		if f.State == review.Pending {
			pending[strings.TrimPrefix(f.Path, r.dir+"/")] = fmt.Sprint(f.Status, " ", strings.TrimPrefix(f.OldPath, r.dir+"/"))
		}
	}
	var tree []string
	want := map[string]string{}
	for _, f := range r.files {
		is, was := *f.is(), f.base
		if is.exists {
			tree = append(tree, fmt.Sprintf("%s %o %q", is.name, is.mode, f.disk()))
			if got := r.sees(is.name); f.loaded && got != f.text() && is.form != "bytes" {
				r.t.Errorf("%s the user has of %s %q, wanted %q", when, is.name, got, f.text())
			}
		}
		switch {
		case !was.exists && is.exists:
			want[is.name] = "added "
		case was.exists && !is.exists:
			want[f.listed()] = "deleted "
		case was.exists && is.name != was.name:
			want[is.name] = "moved " + was.name
		case was.exists && is != was:
			want[is.name] = "modified "
		}
		switch {
		case f.kept && r.undone:
			delete(want, f.listed())
			delete(pending, f.listed()) // what is left of what was kept may wait again
		case f.kept && want[f.listed()] != "" && pending[f.listed()] != "":
			want[f.listed()] = pending[f.listed()] // which also says what was kept
		}
	}
	slices.Sort(tree)
	if got := r.tree(); got != strings.Join(tree, "\n") {
		r.t.Errorf("%s there is\n%s\nwanted\n%s", when, got, strings.Join(tree, "\n"))
	}
	if !maps.Equal(pending, want) {
		r.t.Errorf("%s pending is\n%q\nwanted\n%q", when, pending, want)
	}
	r.did("%s: %q", when, pending)
}

// record is the record's files; their hunks are in the agent's half.
func (r *halves) record() []review.File {
	files := r.world.files()
	for _, f := range r.files {
		at := slices.IndexFunc(files, func(of review.File) bool { return of.Path == r.path(f.is().name) })
		if at < 0 || !f.is().exists || !f.base.exists {
			continue
		}
		for _, h := range files[at].Hunks {
			if h.State == review.Pending && (h.NewStart+h.NewCount-1 > strings.Count(f.is().upper, "\n") || !f.kept && h.OldStart+h.OldCount-1 > strings.Count(f.base.upper, "\n")) {
				r.t.Errorf("%s has the hunk %+v", f.id, h)
			}
		}
	}
	return files
}

// decides has the user decide about a file, if something of it is pending. It reports whether they have taken that back.
func (r *halves) decides(do review.Decision, f *half) bool {
	if f.theirs != "" || *f.is() == f.base || !f.base.exists && !f.is().exists {
		return false
	}
	r.did("%s %s", do, f.id)
	r.changes() // the user sees what they decide about
	r.stays(f)
	was := *f
	was.states = slices.Clone(f.states)
	var made []Made
	r.makes(Decision{Do: do, Path: r.path(f.listed()), Made: func(m Made) { made = append(made, m) }})
	r.decided(do, f)
	if r.IntN(3) > 0 {
		return false
	}
	r.takesBack(made)
	*f = was
	return true
}

// takesBack has the user take back what they have just decided about one file.
func (r *halves) takesBack(made []Made) {
	r.did("and takes that back")
	for _, m := range slices.Backward(made) {
		r.makes(Decision{Path: m.Path(), Back: &m})
	}
}

// stays has the user close files that go back to another path: what is unsaved there stays in its buffer.
func (r *halves) stays(files ...*half) {
	for _, f := range files {
		if f.loaded && f.theirs == "" && f.moved() {
			r.closes(f)
		}
	}
}

func (r *halves) closes(f *half) {
	r.did("user closes %s", f.is().name)
	r.sees(f.is().name)
	r.wipe(f.is().name)
	f.lower, f.loaded = f.saved, false
}

// part has the user decide about one hunk of a file, if it has some.
func (r *halves) part(do review.Decision, f *half) {
	is, was := f.is(), f.base
	files := r.record()
	at := slices.IndexFunc(files, func(of review.File) bool { return of.Path == r.path(is.name) })
	if at < 0 || f.lower != f.saved && do == review.Keep || f.theirs != "" || f.kept || f.middle == "" || !is.exists || is.name != was.name {
		return
	}
	var pending []int
	for i, h := range files[at].Hunks {
		if h.State == review.Pending {
			pending = append(pending, i)
		}
	}
	if len(pending) == 0 {
		return
	}
	r.parted = true
	i := pending[r.IntN(len(pending))]
	h := files[at].Hunks[i]
	r.did("%s hunk %+v of %s", do, h, f.id)
	var made []Made
	r.makes(Decision{Do: do, Path: r.path(is.name), Made: func(m Made) { made = append(made, m) }, Which: func(review.File) review.Selection {
		return review.Selection{Hunks: []int{i}}
	}})
	if r.IntN(3) == 0 {
		r.takesBack(made)
		return
	}
	cut := func(text string, start, count int) (before, in, after []string) {
		lines := slices.Collect(strings.Lines(text))
		if count > 0 {
			start--
		}
		return lines[:start], lines[start : start+count], lines[start+count:]
	}
	before, in, after := cut(was.upper, h.OldStart, h.OldCount)
	before2, in2, after2 := cut(is.upper, h.NewStart, h.NewCount)
	if do == review.Keep {
		f.base.upper, f.kept = strings.Join(slices.Concat(before, in2, after), ""), true
		if is.upper == f.base.upper {
			f.base = *is
		}
	} else if is.upper = strings.Join(slices.Concat(before2, in, after2), ""); is.upper == was.upper {
		*is = was
	}
	for i := range f.states {
		f.states[i] = *is
	}
}

func (r *halves) decided(do review.Decision, files ...*half) {
	for _, f := range files {
		if do == review.Keep { // which can be undone
			f.base, f.kept, f.keptAt = *f.is(), true, len(f.states)-1
			continue
		}
		f.theirs = ""
		for i := f.keptAt; i < len(f.states); i++ {
			f.states[i] = f.base
		}
	}
}

// undoes undoes all turns, does them again, and refuses all.
func (r *halves) undoes(turns int) {
	last, theirs := map[*half]state{}, map[*half]string{}
	for _, f := range r.files {
		last[f], theirs[f] = *f.is(), f.theirs
	}
	r.stays(r.files...)
	undone := 0
	for at := turns; at > 0; at-- {
		changed := false
		for _, f := range r.files {
			was := f.states[at-1]
			changed = changed || *f.is() != was && (f.is().exists || was.exists) || f.theirs != "" && f.since == at
		}
		if !changed {
			continue
		}
		r.did("undo")
		_, notes, err := r.undoOf("", false, true)
		if must.Do(r.t, err); len(notes) == 0 || strings.Join(notes, "") != "" {
			r.t.Errorf("the undo would say %q", notes)
		}
		must.Do(r.t, r.undo(false))
		r.undone = true
		undone++
		for _, f := range r.files {
			*f.is() = f.states[at-1]
			if f.since == at {
				f.theirs = ""
			}
		}
		r.lists("undone")
	}
	for range undone {
		r.did("redo")
		must.Do(r.t, r.undo(true))
	}
	for _, f := range r.files {
		*f.is(), f.theirs = last[f], theirs[f]
	}
	r.lists("done again")
	if slices.ContainsFunc(r.files, func(f *half) bool { return f.kept }) {
		return
	}
	if r.pending() || slices.ContainsFunc(r.files, func(f *half) bool { return f.theirs != "" }) {
		r.decide(review.Reject, "")
		r.decided(review.Reject, r.files...)
		r.lists("refused after it was done again")
	}
}

// resolves has the user decide between their unsaved lines and the agent's on the disk. Where the file then goes back to
// another path, they close its buffer, see stays.
func (r *halves) resolves(f *half) {
	name := f.is().name
	defer func() {
		if f.is().name != name {
			r.wipe(name)
			f.lower, f.loaded = f.saved, false
		}
	}()
	switch r.IntN(4) {
	case 0:
		r.did("user saves %s over what the disk has", f.id)
		r.saves(f.is().name)
		f.saved, f.theirs = f.lower, ""
	case 1:
		r.did("user reads %s again, with the agent's, and refuses it", f.id)
		r.rereads(f.is().name)
		check.Equal(r.t, r.sees(f.is().name), f.diskText(), "read again there is %q")
		f.lower, f.theirs = f.saved, ""
		r.decide(review.Reject, f.is().name)
		r.decided(review.Reject, f)
	case 2:
		r.did("user refuses %s, also what conflicts", f.id)
		r.decide(review.Reject, f.is().name)
		r.decided(review.Reject, f)
	default:
		r.did("user keeps %s, also what conflicts", f.id)
		r.changes()
		f.saved, f.theirs = f.theirs, ""
		r.decide(review.Keep, f.is().name)
		r.decided(review.Keep, f)
	}
	r.parted = true
}

func (r *halves) userActs() {
	f := r.files[r.IntN(len(r.files))]
	switch {
	case !f.is().exists:
	case f.theirs != "":
		if r.running {
			r.tells() // what nobody has told of is not what they decide about
		}
		r.resolves(f)
	case !r.running && !f.again && r.IntN(6) == 0:
		r.permits(f)
	case !f.loaded:
		r.did("user opens %s", f.is().name)
		r.edit(f.is().name)
		f.loaded = true
	case f.middle == "" || f.again || f.bytes || r.IntN(5) == 0:
		r.closes(f)
	default:
		switch r.IntN(5) {
		case 4:
			if r.running || f.is().name != f.id || f.kept || f.moved() {
				return
			}
			f.id = fmt.Sprintf("user%d", r.count)
			r.count++
			r.did("user renames %s to %s", f.is().name, f.id)
			r.renames(f.is().name, f.id)
			for i := range f.states {
				f.states[i].name = f.id
			}
			f.base.name = f.id
			f.saved = f.lower
		case 0:
			r.did("user saves %s", f.is().name)
			r.saves(f.is().name)
			f.saved = f.lower
		case 1:
			r.did("user rereads %s", f.is().name)
			r.rereads(f.is().name)
			f.lower = f.saved
		default:
			r.types(f.is().name, func(text string) string {
				f.lower, f.touched = r.edited(f.lower, "u"), true
				return text[:strings.Index(text, f.middle)] + f.middle + f.lower
			})
			r.did("user types in %s: %q", f.is().name, f.lower)
		}
	}
}

// permits has the user change the permissions of a file.
func (r *halves) permits(f *half) {
	mode := []fs.FileMode{0o700, 0o640, 0o664}[r.IntN(3)]
	r.did("user gives %s the permissions %o", f.is().name, mode)
	r.chmod(f.is().name, mode)
	r.parted = r.parted || f.is().mode != f.base.mode
	for i := range f.states {
		f.states[i].mode = mode
	}
	f.base.mode = mode
}

// edited is a text with some lines in place of others, which are unlike all others.
func (r *halves) edited(text, who string) string {
	lines := slices.Collect(strings.Lines(text))
	from := r.IntN(len(lines) + 1)
	to := min(len(lines), from+r.IntN(3))
	lines = slices.Delete(lines, from, to)
	for range max(r.IntN(4), 1-to+from) {
		r.count++
		lines = slices.Insert(lines, from, fmt.Sprintf("%s%d\n", who, r.count))
	}
	return strings.Join(lines, "")
}

func (r *halves) agentActs() {
	f := r.files[r.IntN(len(r.files))]
	if f.theirs != "" {
		return
	}
	unsaved := f.lower != f.saved
	is := f.is()
	switch n := r.IntN(16); {
	case n == 0:
		f = &half{}
		made := state{name: fmt.Sprintf("%snew%d", []string{"", "made/in/"}[r.IntN(2)], len(r.files))}
		f.base, f.states = made, slices.Repeat([]state{made}, len(r.files[0].states))
		*f.is() = state{made.name, r.edited("", "a"), "", 0o644, true}
		f.id = made.name
		r.files = append(r.files, f)
		r.writes(f)
	case n == 5 && unsaved && f.loaded && f.saved != "" && is.form != "bytes" && is.exists:
		r.types(is.name, func(string) string {
			f.lower, f.touched = r.edited("", "u"), true
			return is.upper + f.middle + f.lower
		})
		f.theirs = r.edited("", "a")
		r.did("agent writes %s on the disk, in conflict with %q: %q", is.name, f.lower, f.disk())
		r.write(is.name, f.disk())
		r.chmod(is.name, is.mode)
		r.sees(is.name)
		f.since = len(f.states) - 1
	case !is.exists:
		if !f.touched && !f.loaded && f.middle != "" && is.name == f.id {
			f.replaced, f.again = true, true
			r.did("agent makes %s again", is.name)
			*is = state{name: is.name, upper: r.edited(is.upper, "a"), mode: 0o644, exists: true}
			f.untold = append(f.untold, is.name)
			r.write(is.name, f.disk())
		}
	case n == 1 && !unsaved && !(f.kept && is.name != f.id):
		r.did("agent removes %s", is.name)
		r.call("delete", func() { r.remove(is.name); r.sees(is.name) }, is.name)
		*is = state{name: is.name}
	case n == 2 && !f.loaded && !f.replaced:
		from := is.name
		is.name = fmt.Sprintf("moved%d/to/%s", r.count, f.id)
		f.passed = append(f.passed, is.name)
		r.count++
		r.did("agent moves %s to %s", from, is.name)
		if do := func() { r.move(from, is.name) }; r.IntN(2) == 0 {
			r.call("move", do, from, is.name)
		} else {
			do()
			f.untold = append(f.untold, from, is.name)
		}
	case n == 3:
		is.mode = []fs.FileMode{0o755, 0o600, 0o644}[r.IntN(3)]
		r.did("agent gives %s the permissions %o", is.name, is.mode)
		r.chmod(is.name, is.mode)
		f.untold = append(f.untold, is.name)
	case n == 4 && !unsaved && f.middle != "":
		if is.form = []string{"", "dos", "bom", "bytes"}[r.IntN(4)]; is.form == "bytes" && f.touched {
			is.form = ""
		}
		f.bytes = f.bytes || is.form == "bytes"
		r.did("agent gives %s the form %q", is.name, is.form)
		r.writes(f)
	default:
		given := r.sees(is.name)
		if !f.loaded {
			given = f.diskText()
		}
		is.upper = r.edited(is.upper, "a")
		switch n := r.IntN(4); {
		case is.form == "bytes", len(f.untold) > 0 && is.name != f.turn().name: // nothing would tell that it was moved
			r.writes(f)
		case n == 0:
			r.did("agent writes %s through the client: %q", is.name, f.text())
			r.clientWrites(is.name, given, f.text())
			f.saved = f.lower
		case n == 1:
			r.did("agent writes %s through the client, which it had from the disk: %q", is.name, f.diskText())
			r.clientWrites(is.name, strings.Replace(given, f.middle+f.lower, f.middle+f.saved, 1), f.diskText())
		default:
			r.writes(f)
		}
	}
}

// writes has the agent write a file on the disk.
func (r *halves) writes(f *half) {
	name, way := f.is().name, r.IntN(6)
	r.did("agent writes %s on the disk, way %d: %q", name, way, f.disk())
	if way != 1 && way != 3 {
		f.untold = append(f.untold, name)
	}
	do := func() { r.write(name, f.disk()); r.chmod(name, f.is().mode) }
	switch way {
	case 0:
		if f.is().name != f.turn().name { // nothing would tell that it was moved
			do()
			return
		}
		r.sync()
		r.replace(name, f.disk())
		r.chmod(name, f.is().mode)
		f.replaced = true
	case 1:
		r.call(session.KindEdit, do, name)
	case 2:
		r.call(session.KindEdit, func() {}, name)
		do()
	case 3:
		do()
		r.call(session.KindEdit, func() {}, name)
	case 4:
		do()
		r.sees(name)
	default:
		do()
	}
}
