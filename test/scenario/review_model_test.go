package scenario

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/review"
)

// modelled is a file as it must be.
type modelled struct {
	content  review.Content // as the user has it
	disk     string
	mode     fs.FileMode
	buf      int    // that shows it, or 0
	modified bool   // something there is not saved
	stale    string // what the buffer of a file that is gone has
}

// text is what a file has, for the user.
func (f *modelled) text() string {
	if f.content.Opaque {
		return f.disk
	}
	return f.content.Text
}

// shows is what its buffer shows.
func (f *modelled) shows() string {
	if !f.content.Exists {
		return f.stale
	}
	return f.text()
}

// modelTurn is a turn as it must be known.
type modelTurn struct {
	record *review.Record
	shed   map[string]review.Content
	back   map[string]string
	modes  map[string][2]fs.FileMode
	files  []modelStep // when it can be undone
	start  moment
}

// modelStep is how a file was before, and is after.
type modelStep struct {
	path, old     string // old: before it was moved
	before, after review.Content
	modes         [2]fs.FileMode
}

type modelUndo struct {
	turn *modelTurn
	did  []modelStep
	end  moment
}

// moment is all that there was at one time.
type moment struct {
	touched int // how often the user had done something
	files   map[string]string
	record  string // but for what was refused
}

// own is what the user's wish makes of a file that was changed in a turn. The turn lacks what he has typed.
func (t *modelTurn) own(path string, was, is review.Content) {
	change := func(of review.Content) review.Content {
		if !of.Exists || of.Opaque || !was.Exists || was.Opaque || !is.Exists || is.Opaque {
			return is
		}
		of.Text, _ = buffers.Merge(was.Text, of.Text, is.Text)
		return of
	}
	f, known := t.record.File(path)
	before, shed := t.shed[path]
	if !known && shed {
		t.record.Changed(path, before, change(before))
		return
	}
	t.record.Now(path, change(f.Present))
	if _, still := t.record.File(path); known && !still {
		t.shed[path] = f.Baseline
	}
}

// wentBack is own of a file that has gone back to where it was, or from there to where it was moved.
func (t *modelTurn) wentBack(from, to string, was, is review.Content) {
	_, known := t.record.File(from)
	switch {
	case t.back[from] == to:
		t.record.Moved(from, to, was, was)
		delete(t.back, from)
	case known:
		t.record.Moved(from, to, was, was)
		t.back[to] = from
	}
	t.own(to, was, is)
}

// moment is what there is now.
func (r *randomReview) moment() moment {
	m := moment{touched: r.touched, files: map[string]string{}}
	for _, f := range r.record.Files() {
		if f.State != review.Rejected {
			m.record += fmt.Sprintf("%s %s %s\n", f.Status, r.name(f.Path), r.name(f.OldPath))
		}
	}
	for name, f := range r.files {
		if f.content.Exists {
			m.files[name] = fmt.Sprintf("%o %s", f.mode, f.text())
		}
	}
	return m
}

// fates are what becomes of the lines, each unlike all others, as far as it is seen: whose step has taken one
// out or put one in. It knows nothing of the record and of merges.
type fates struct {
	seen     map[string][]string // by name, the lines of the last look
	typed    map[string]bool     // lines of the user's that he has not removed
	removed  map[string]bool     // lines that the user has removed
	taken    map[string]bool     // lines that the agent has removed, once
	returned map[string]bool     // lines that the user has brought back
	wanted   map[string]bool     // lines that a decision to keep was about, also those that are gone by it
	inFile   map[string]string   // where a line was last
	twice    map[string]bool     // lines that may stand in two files
}

// who has made a step.
type who string

const (
	agents  who = "agent"
	users   who = "user"
	keepers who = "keep"
	rejects who = "reject"
	undoes  who = "undo"
	agains  who = "undo again"
	brings  who = "keep what was refused"
	nobody  who = "crash"
)

// account looks at what a step has made of all lines, and whether that may be.
func (r *randomReview) account(by who) {
	r.t.Helper()
	now := map[string][]string{}
	there, before := map[string]bool{}, map[string]bool{}
	for name, f := range r.files {
		now[name] = slices.Collect(strings.Lines(f.text()))
		for _, line := range now[name] {
			r.inFile[line] = name
			if there[line] && line != "\n" && !r.twice[line] {
				r.t.Errorf("%q stands twice after %s", line, by)
			}
			there[line] = true
		}
	}
	for _, lines := range r.seen {
		for _, line := range lines {
			before[line] = true
		}
	}
	bad := func(format string, args ...any) { r.t.Errorf(string(by)+": "+format, args...) }
	for line := range before {
		if there[line] || line == "\n" {
			continue
		}
		switch by {
		case agents:
			r.taken[line] = true
		case brings:
			r.wanted[line] = true
		case users:
			r.removed[line] = true
			delete(r.typed, line)
		case nobody, keepers:
			bad("%q is gone", line)
		case rejects, undoes:
			if line[0] != 'a' && line[0] != 'u' && line[0] != 0 && !r.returned[line] {
				bad("%q is gone", line)
			}
		}
		if by != users && line[0] == 'u' && !r.remembered(line) && !(by == agents && r.recoverable(r.inFile[line], line)) {
			bad("%q of the user's is lost", line)
		}
	}
	for line := range there {
		if before[line] || line == "\n" {
			continue
		}
		switch by {
		case brings:
			r.wanted[line] = true
		case users:
			r.returned[line] = true
			delete(r.removed, line)
			if line[0] == 'u' {
				r.typed[line] = true
			}
		case nobody, keepers:
			bad("%q has come", line)
		case rejects, undoes:
			if !r.taken[line] {
				bad("%q has come, which the agent had not removed", line)
			}
		}
	}
	for name, lines := range now {
		if by != users && !sameOrder(r.untaken(r.seen[name]), r.untaken(lines)) {
			bad("the lines of %s stand in another order: %q, before %q", name, lines, r.seen[name])
		}
	}
	r.seen = now
}

// untaken leaves out lines that the agent has taken out once: what has a place twice can come back to either.
func (r *randomReview) untaken(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return r.taken[line] })
}

// sameOrder tells that the lines which two lists have in common are in the same order.
func sameOrder(a, b []string) bool {
	at := map[string]int{}
	for i, line := range a {
		at[line] = i + 1
	}
	last := 0
	for _, line := range b {
		if i := at[line]; i > 0 {
			if i < last {
				return false
			}
			last = i
		}
	}
	return true
}

// refusedAll looks whether nothing is left of what the agent has done, but what was kept.
func (r *randomReview) refusedAll() {
	r.t.Helper()
	there := map[string]bool{}
	for _, f := range r.record.Files() {
		if f.State == review.Pending && f.OldPath != "" { // another file is where it would have to go back to
			for _, line := range r.perhapsIn(f) {
				r.wanted[line] = true
			}
			for line := range strings.Lines(f.Baseline.Text + f.Present.Text) {
				r.wanted[line] = true
			}
		}
	}
	for name, lines := range r.seen {
		for _, line := range lines {
			there[line] = true
			if line[0] == 'a' && !r.wanted[line] && !r.returned[line] && r.files[name].content.Exists {
				r.t.Errorf("all is refused, and %s has %q", name, line)
			}
		}
	}
	for line := range r.taken {
		if line[0] != 'a' && line[0] != 0 && !there[line] && !r.removed[line] && !r.wanted[line] && !r.remembered(line) {
			r.t.Errorf("all is refused, and %q has not come back", line)
		}
	}
}

// lineOf is a line of a file, by the file's id in the record.
type lineOf struct {
	file int
	line string
}

// pending are the lines that what waits for a decision takes out and puts in. Of a file without lines that are
// all it ever had.
func (r *randomReview) pending() map[lineOf]bool {
	lines := map[lineOf]bool{}
	for _, f := range r.record.Files() {
		for _, c := range f.Changes() {
			if c.State == review.Pending {
				for _, line := range slices.Concat(c.Old, c.New) {
					lines[lineOf{f.ID, line}] = true
				}
			}
		}
		if f.State == review.Pending && (f.Present.Opaque || f.Baseline.Opaque) {
			for _, line := range r.perhapsIn(f) {
				lines[lineOf{f.ID, line}] = true
			}
		}
	}
	return lines
}

// perhapsIn are the lines that a file may have had of which that is not known. One without lines was perhaps
// elsewhere in between.
func (r *randomReview) perhapsIn(f review.File) (lines []string) {
	for line, name := range r.inFile {
		between := f.OldPath != "" && f.Baseline.Opaque && !r.files[name].content.Exists
		if name == r.name(f.Path) || name == r.name(f.OldPath) || between {
			lines = append(lines, line)
		}
	}
	return lines
}

// recoverable tells whether a line that the agent has taken out of a file comes back when that is refused: all
// of the file has to be known to the record, or its text. What commands have done is known at the end of the turn.
func (r *randomReview) recoverable(name, line string) bool {
	if r.silent || len(r.untold) > 0 {
		return true // refusedAll looks in the end
	}
	for _, f := range r.record.Files() {
		if r.name(f.Path) == name || r.name(f.OldPath) == name {
			return f.Baseline.Opaque || strings.Contains("\n"+f.Baseline.Text, "\n"+line) || strings.Contains("\n"+f.Accepted.Text, "\n"+line)
		}
	}
	return false
}

// remembered tells whether a line is in the undo history of a buffer, from which the user can have it back.
func (r *randomReview) remembered(line string) bool {
	r.t.Helper()
	return r.LuaBool(`
		local line = ...
		local function has(buf)
			return vim.tbl_contains(vim.api.nvim_buf_get_lines(buf, 0, -1, true), line)
		end
		local function search(buf)
			local file = vim.fn.tempname()
			vim.api.nvim_buf_call(buf, function() vim.cmd('silent wundo! ' .. vim.fn.fnameescape(file)) end)
			local copy = vim.api.nvim_create_buf(false, true)
			vim.bo[copy].undolevels = -1
			vim.api.nvim_buf_set_lines(copy, 0, -1, true, vim.api.nvim_buf_get_lines(buf, 0, -1, true))
			vim.bo[copy].undolevels = 1000
			local found = false
			vim.api.nvim_buf_call(copy, function()
				if not pcall(vim.cmd, 'silent rundo ' .. vim.fn.fnameescape(file)) then return end
				for seq = 0, vim.fn.undotree().seq_last do
					found = found or pcall(vim.cmd, 'silent undo ' .. seq) and has(copy)
				end
			end)
			vim.api.nvim_buf_delete(copy, { force = true })
			vim.fn.delete(file)
			return found
		end
		for _, buf in ipairs(vim.api.nvim_list_bufs()) do
			if vim.bo[buf].buftype == '' and vim.api.nvim_buf_is_loaded(buf) and search(buf) then
				return true
			end
		end
		return false`, strings.TrimSuffix(line, "\n"))
}

// untold is a change by a command of the agent's, which is known at the end of the turn: moves come first then.
type untold struct {
	move bool
	path string
	tell func(*review.Record)
}

func (u untold) compare(other untold) int {
	if u.move != other.move {
		return cmp.Compare(map[bool]int{true: 0, false: 1}[u.move], map[bool]int{true: 0, false: 1}[other.move])
	}
	return cmp.Compare(u.path, other.path)
}

// recorded tells the records of a change of the agent's.
func (r *randomReview) recorded(u untold) {
	if r.silent {
		r.untold = append(r.untold, u)
		return
	}
	u.tell(r.record)
	u.tell(r.turn.record)
}

// tellUntold tells the records what commands have changed.
func (r *randomReview) tellUntold() {
	slices.SortFunc(r.untold, untold.compare)
	for _, u := range r.untold {
		u.tell(r.record)
		u.tell(r.turn.record)
	}
	r.untold = nil
}

// changed tells the model of a change by the agent.
func (r *randomReview) changed(name string, is review.Content) {
	r.t.Helper()
	f, path := r.files[name], r.path(name)
	was := f.content
	r.recorded(untold{path: path, tell: func(rec *review.Record) { rec.Changed(path, was, is) }})
	if f.modified = false; !is.Exists {
		r.goes(f)
		return
	}
	f.content, f.disk = is, is.Text
}

// moved tells the model of a move by the agent.
func (r *randomReview) moved(from, to string) {
	r.t.Helper()
	f := r.files[from]
	for line := range strings.Lines(f.text()) {
		r.taken[line] = true // from where it was
	}
	is := f.content
	r.recorded(untold{true, r.path(to), func(rec *review.Record) {
		if slices.Contains(rec.Paths(), r.path(to)) { // two changes: the user may keep one and refuse the other
			for line := range strings.Lines(is.Text) {
				r.twice[line] = true
			}
		}
		rec.Moved(r.path(from), r.path(to), is, is)
	}})
	r.movedFile(from, to)
}

// movedFile has the model know that a file is elsewhere.
func (r *randomReview) movedFile(from, to string) {
	r.t.Helper()
	f := r.files[from]
	there := *f
	there.buf, there.stale = r.files[to].buf, r.files[to].stale
	r.files[to] = &there
	r.goes(f)
	r.seen[to], r.seen[from] = r.seen[from], nil
}

// goes has a file be no more. Its buffer stays where it is shown or was not saved.
func (r *randomReview) goes(f *modelled) {
	r.t.Helper()
	if f.buf != 0 && f.content.Exists {
		f.stale = f.content.Text
		if !r.LuaBool(`vim.api.nvim_buf_is_valid(...)`, f.buf) {
			f.buf = 0
		}
	}
	f.content, f.disk, f.mode = review.Content{}, "", 0
}

// now tells the model what the user has.
func (r *randomReview) now(path string, is review.Content) {
	r.record.Now(path, is)
}

// take is what a turn has changed, as far as it has.
func (r *randomReview) take(t *modelTurn) {
	t.files = nil
	seen := map[string]bool{}
	for _, f := range t.record.Files() {
		if f.State == review.Rejected {
			continue
		}
		modes := t.modes[f.Path]
		if f.OldPath != "" {
			modes[0] = cmp.Or(t.modes[f.OldPath][0], modes[0])
		}
		before := f.Baseline
		if before.Text != "" { // what the user has written into a file of the agent's stays
			before.Exists = true
		}
		t.files = append(t.files, modelStep{path: f.Path, old: f.OldPath, before: before, after: f.Present, modes: modes})
		seen[f.Path], seen[f.OldPath] = true, true
	}
	for path, m := range t.modes {
		if !seen[path] && m[0] != 0 && m[1] != 0 && m[0] != m[1] {
			t.files = append(t.files, modelStep{path: path, modes: m})
		}
	}
	slices.SortFunc(t.files, func(a, b modelStep) int { return cmp.Compare(a.path, b.path) })
	// One that is where another was makes room for it first.
	for n := range t.files {
		for i, f := range t.files[n:] {
			if !slices.ContainsFunc(t.files[n:], func(o modelStep) bool { return o.path == f.old }) {
				t.files = slices.Insert(slices.Delete(t.files, n+i, n+i+1), n, f)
				break
			}
		}
	}
	r.turns = slices.DeleteFunc(r.turns, func(o *modelTurn) bool { return o == t })
	if len(t.files) > 0 {
		r.turns = append(r.turns, t)
	}
}

// place gives a file what is wanted, by the user's wish.
func (r *randomReview) place(name string, want review.Content, mode fs.FileMode) {
	r.t.Helper()
	f := r.files[name]
	if mode != 0 {
		f.mode = mode
	}
	if want.Opaque {
		f.disk = r.disk(r.path(name))
		if review.Text(f.disk).Mark() != want.Mark() {
			r.t.Errorf("%s has %q", name, f.disk)
		}
		f.content = review.Text(f.disk)
		if f.buf != 0 && f.modified { // what is not saved stays there
			f.content = review.Text(r.buffer(f.buf) + "\n")
			f.modified = r.LuaBool(`vim.bo[...].modified`, f.buf)
			r.now(r.path(name), f.content)
		}
		return
	}
	if !want.Exists {
		r.goes(f)
		return
	}
	if !f.content.Exists && f.buf != 0 && f.modified {
		// The user has gone on in the buffer of a file that was gone: what is there stays, and conflicts.
		text := r.buffer(f.buf) + "\n"
		for line := range strings.Lines(text) {
			if line[0] == 'u' {
				r.seen[name] = append(r.seen[name], line) // it was typed where no file was
			}
		}
		for line := range strings.Lines(want.Text) {
			if !strings.Contains("\n"+text, "\n"+line) {
				r.removed[line] = true
			}
		}
		want = review.Text(text)
		r.now(r.path(name), want)
	}
	f.content = want
	if f.modified {
		f.disk = r.disk(r.path(name)) // merged: account looks whether a line was lost
		f.modified = r.LuaBool(`vim.bo[...].modified`, f.buf)
	} else {
		f.disk = want.Text
	}
}

// decide has the model make a decision about a file.
func (r *randomReview) decide(do review.Decision, f review.File, which review.Selection) (edits bool) {
	r.t.Helper()
	plan, err := r.record.Plan(f.Path, do, which)
	if err != nil {
		return false
	}
	if plan.Back != "" && r.modelled(plan.Back).content.Exists {
		return false // it cannot go there
	}
	before := r.pending()
	if !r.record.Commit(plan) {
		r.t.Fatal("the model has moved on")
	}
	if after := r.pending(); do == review.Keep {
		for l := range before {
			r.wanted[l.line] = r.wanted[l.line] || !after[l]
		}
	}
	if !plan.Edits() {
		return false
	}
	name := r.name(f.Path)
	var mode fs.FileMode
	if m := r.files[name]; !m.content.Exists && plan.Want.Exists {
		mode = cmp.Or(r.modeOf(name), 0o644)
	} else if !plan.Want.Exists {
		m.mode = 0
	}
	if plan.Back != "" && !plan.Now.Exists { // it is there again, under its first name
		r.turns = slices.DeleteFunc(r.turns, func(t *modelTurn) bool {
			t.files = slices.DeleteFunc(t.files, func(s modelStep) bool { return s.path == f.Path && !s.after.Exists })
			return len(t.files) == 0
		})
	}
	if t := r.turn; t != nil {
		if plan.Back != "" {
			t.wentBack(f.Path, plan.Back, plan.Now, plan.Want)
		} else {
			t.own(f.Path, plan.Now, plan.Want)
		}
	}
	if plan.Back != "" {
		r.movedFile(name, r.name(plan.Back))
		name = r.name(plan.Back)
	}
	r.place(name, plan.Want, mode)
	return true
}

// modelled is the file at a path.
func (r *randomReview) modelled(path string) *modelled {
	name := r.name(path)
	if r.files[name] == nil {
		r.files[name] = &modelled{}
	}
	return r.files[name]
}

// modeOf is the mode that a file has, 0 where there is none.
func (r *randomReview) modeOf(name string) fs.FileMode {
	info, err := os.Stat(r.path(name))
	if err != nil {
		return 0
	}
	return info.Mode().Perm()
}

// undo has the model take back what a turn did, or do that again.
func (r *randomReview) undo(again bool) {
	r.t.Helper()
	var steps []modelStep
	var t *modelTurn
	var as moment // if the user has done nothing since
	if again {
		u := r.undone[len(r.undone)-1]
		r.undone = r.undone[:len(r.undone)-1]
		t, steps, as = u.turn, u.did, u.end
		r.turns = append(r.turns, t)
	} else {
		t = r.turns[len(r.turns)-1]
		r.turns = r.turns[:len(r.turns)-1]
		steps, as = t.files, t.start
	}
	before := r.moment()
	r.turn = nil
	var did []modelStep
	for _, step := range steps {
		name := r.name(step.path)
		f := r.files[name]
		now := f.content
		want, mode := now, fs.FileMode(0)
		same := func(c review.Content) bool { return now == c || now.Exists && now.Mark() == c.Mark() }
		if step.modes[0] != step.modes[1] && step.modes[0] != 0 && f.mode == step.modes[1] {
			mode = step.modes[0]
		}
		switch {
		case step.before == step.after && step.old == "":
		case same(step.before) && step.old == "":
			continue
		case same(step.after):
			want = step.before
		case !now.Exists, !step.after.Exists, now.Opaque, step.after.Opaque, step.before.Opaque, !step.before.Exists:
			continue
		default:
			want.Text, _ = buffers.Merge(step.after.Text, now.Text, step.before.Text)
		}
		if want == now && mode == 0 && step.old == "" {
			continue
		}
		if !want.Exists {
			f.mode = 0
		} else if !now.Exists {
			mode = cmp.Or(step.modes[0], mode, 0o644)
		}
		at := step.path
		if step.old != "" {
			if r.files[r.name(step.old)].content.Exists {
				continue // it cannot go back there
			}
			at = step.old
			r.movedFile(name, r.name(at))
		}
		other := ""
		if at != step.path {
			other = step.path
		}
		r.place(r.name(at), want, mode)
		want = r.files[r.name(at)].content
		did = append(did, modelStep{path: at, old: other, before: now, after: want, modes: [2]fs.FileMode{step.modes[1], step.modes[0]}})
		switch {
		case !again:
			if other == "" {
				r.record.Retracted(step.path, now, want)
			} else {
				r.record.MoveRetracted(step.path, at, now, want)
			}
		case other != "":
			r.record.Moved(step.path, at, now, want)
		default:
			r.record.Changed(step.path, now, want)
		}
	}
	if slices.Reverse(did); !again {
		r.undone = append(r.undone, modelUndo{t, did, before})
	}
	if after := r.moment(); as.touched == r.touched && !maps.Equal(after.files, as.files) {
		r.t.Errorf("nobody has done anything since, and undone is\n%q\nnot\n%q", after.files, as.files)
	} else if as.touched == r.touched && sorted(after.record) != sorted(as.record) {
		r.t.Errorf("nobody has done anything since, and the record has\n%s\nnot\n%s", sorted(after.record), sorted(as.record))
	}
}

// sorted is lines in their order.
func sorted(lines string) string {
	return strings.Join(slices.Sorted(strings.Lines(lines)), "")
}

// listed is a record as changes has one, in the order of the paths.
func (r *randomReview) listed(record *review.Record) string {
	var lines []string
	for _, f := range record.Files() {
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s", f.Status, r.name(f.Path))
		if f.OldPath != "" {
			fmt.Fprintf(&b, " from %s", r.name(f.OldPath))
		}
		for _, h := range f.Hunks {
			fmt.Fprintf(&b, " -%d,%d+%d,%d", h.OldStart, h.OldCount, h.NewStart, h.NewCount)
			if h.State != review.Pending {
				fmt.Fprintf(&b, " %s", h.State)
			}
		}
		lines = append(lines, b.String())
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// check compares all there is with the model.
func (r *randomReview) check() {
	r.t.Helper()
	r.sync()
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		f := r.files[name]
		disk, mode := "", r.modeOf(name)
		if mode != 0 {
			disk = r.file(r.path(name))
		}
		if want := f.disk; disk != want {
			r.t.Errorf("the disk has of %s\n%q\nwanted\n%q", name, disk, want)
		}
		if mode != f.mode {
			r.t.Errorf("%s has the mode %o, wanted %o", name, mode, f.mode)
		}
		if f.buf == 0 {
			continue
		}
		if got := r.buffer(f.buf) + "\n"; got != f.shows() && got+f.shows() != "\n" {
			r.t.Errorf("the buffer of %s has\n%q\nwanted\n%q", name, got, f.shows())
		}
		// One that is as on the disk again may count as saved by now.
		if got := r.LuaBool(`vim.bo[...].modified`, f.buf); got != f.modified && f.content.Exists && (got || f.shows() != f.disk) {
			r.t.Errorf("%s is modified: %v, with %q, and on the disk %q", name, got, f.shows(), f.disk)
		}
	}
	// What Lua knows comes a frame later.
	r.Await("the record to be\n"+r.listed(r.record), func() bool {
		var lines []string
		for line := range strings.Lines(r.changes()) {
			lines = append(lines, strings.TrimSpace(line))
		}
		slices.Sort(lines)
		r.told = strings.Join(lines, "\n")
		return r.told == r.listed(r.record)
	})
	r.reviewable()
}

// reviewable looks whether each line of the agent's that nobody has decided about is part of a change that
// waits for a decision, as Lua is told of them.
func (r *randomReview) reviewable() {
	r.t.Helper()
	list, _ := r.value(`require('acp').changes()`).([]any)
	waits := map[string]bool{}
	for _, item := range list {
		f := item.(obj)
		lines := r.seen[r.name(f["path"])]
		hunks, _ := f["hunks"].([]any)
		if len(hunks) == 0 { // it is known as a whole
			for _, line := range lines {
				waits[line] = true
			}
		}
		for _, h := range hunks {
			h := h.(obj)
			start, count := h["new_start"].(int), h["new_count"].(int)
			if h["state"] != "pending" || count == 0 {
				continue
			}
			if start+count-1 > len(lines) {
				r.t.Errorf("%s has %d lines, and a hunk at %d of %d", f["path"], len(lines), start, count)
				continue
			}
			for _, line := range lines[start-1 : start-1+count] {
				waits[line] = true
				if line[0] == 'f' && !r.taken[line] {
					r.t.Errorf("%q was never the agent's, and waits in %s", line, f["path"])
				}
			}
		}
	}
	for name, lines := range r.seen {
		f := r.files[name]
		if !f.content.Exists || f.content.Opaque {
			continue
		}
		for _, line := range lines {
			if line[0] == 'a' && !waits[line] && !r.wanted[line] && !r.returned[line] {
				r.t.Errorf("%q of %s is the agent's, and waits for nobody", line, name)
			}
		}
	}
}
