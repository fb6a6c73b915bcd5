package scenario

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/saved"
)

var rounds = flag.Int("rounds", 30, "rounds of a random review on each Neovim")

// TestRandomReviews has an agent change files in all the ways there are, and a user type, decide, undo and
// do again, while now and then the host is killed. After each step what buffers and disk have is compared
// with a model of them, and the record with one that is made anew of all that has happened. Every line is
// unlike all others, and says in its first letter whose it is: f of the file, u of the user, a of the agent.
func TestRandomReviews(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		r := &randomReview{scene: s, Rand: rand.New(rand.NewPCG(*seed, 0)), files: map[string]*modelled{}}
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("-seed %d:\n%s\nthe record has\n%s", *seed, strings.Join(r.log, "\n"), r.told)
			}
		})
		r.begin()
		for range *rounds {
			r.round()
			r.check()
			if t.Failed() {
				return
			}
		}
	})
}

// modelled is a file as it must be.
type modelled struct {
	content  review.Content // as the user has it
	disk     string
	mode     fs.FileMode
	buf      int  // that shows it, or 0
	modified bool // something there is not saved
}

// modelTurn is a turn as it must be known.
type modelTurn struct {
	record *review.Record
	modes  map[string][2]fs.FileMode
	files  []modelStep // when it can be undone
}

// modelStep is how a file was before, and is after.
type modelStep struct {
	path          string
	before, after review.Content
	modes         [2]fs.FileMode
}

type modelUndo struct {
	turn *modelTurn
	did  []modelStep
}

type randomReview struct {
	*scene
	*rand.Rand
	agent  *puppet
	files  map[string]*modelled
	record *review.Record
	turn   *modelTurn // the last one, until something is undone
	turns  []*modelTurn
	undone []modelUndo
	open   message // the prompt, while a turn runs
	busy   map[string]bool
	count  int
	syncs  int
	log    []string
	told   string // of the record, as Lua has it
}

func (r *randomReview) did(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *randomReview) line(whose string) string {
	r.count++
	return fmt.Sprintf("%s%d\n", whose, r.count)
}

func (r *randomReview) lines(whose string, n int) (text []string) {
	for range n {
		text = append(text, r.line(whose))
	}
	return text
}

func (r *randomReview) begin() {
	r.t.Helper()
	r.recordNotifications()
	r.configure(`c.unsaved = 'ignore'`)
	r.Command("set shortmess+=A hidden")
	for _, name := range []string{"shown", "hidden", "plain", "run.sh", "other", "spare"} {
		r.write(name, strings.Join(r.lines("f", 8), ""))
		r.files[name] = &modelled{mode: 0o644}
	}
	r.files["run.sh"].mode = 0o755
	for name, f := range r.files {
		if err := os.Chmod(filepath.Join(r.Dir, name), f.mode); err != nil {
			r.t.Fatal(err)
		}
		f.disk = r.file(filepath.Join(r.Dir, name))
		f.content = review.Text(f.disk)
	}
	r.Command("edit hidden")
	r.files["hidden"].buf = r.LuaInt(`vim.api.nvim_get_current_buf()`)
	r.Command("edit shown")
	r.files["shown"].buf = r.LuaInt(`vim.api.nvim_get_current_buf()`)
	r.agent = r.beginWith(keeps(true, "resume"))
	r.Command("wincmd t")
	for _, f := range r.files {
		if f.buf != 0 {
			r.AwaitLua(`vim.bo[...].autoread == false`, f.buf)
		}
	}
	r.record = review.New(64 << 20)
	r.firstTurn()
}

// firstTurn is a turn that changes nothing: at its end the project was looked at, so that what commands
// change from then on can be told from what was there.
func (r *randomReview) firstTurn() {
	r.t.Helper()
	r.beginTurn()
	r.endTurn()
}

func (r *randomReview) path(name string) string { return filepath.Join(r.Dir, name) }

// pick is one of the names, which are sorted, that want likes; "" is none.
func (r *randomReview) pick(want func(string, *modelled) bool) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		if want(name, r.files[name]) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return names[r.IntN(len(names))]
}

// sync has the host look at all there is, after all that was asked before.
func (r *randomReview) sync() {
	r.t.Helper()
	r.syncs++
	r.Lua(nil, `local n = ...
		require('acp.host').request('changes', { session = require('acp.mirror').resolve() }, function() _G.synced = n end)`, r.syncs)
	r.AwaitLua(`_G.synced == ...`, r.syncs)
}

func (r *randomReview) round() {
	r.t.Helper()
	switch n := r.IntN(16); {
	case n < 5:
		r.agentTurn()
	case n < 8:
		r.userEdits()
	case n < 9:
		r.userUndoes()
	case n < 12:
		r.decides()
	case n < 14:
		r.undoes(false)
	case n < 15:
		r.undoes(true)
	default:
		r.crash()
	}
}

// changed tells the model of a change by the agent.
func (r *randomReview) changed(name string, is review.Content) {
	f := r.files[name]
	was := f.content
	for _, rec := range []*review.Record{r.record, r.turn.record} {
		rec.Changed(r.path(name), was, is)
	}
	f.content, f.disk, f.modified = is, is.Text, false
}

// now tells the model what the user has.
func (r *randomReview) now(path string, is review.Content) {
	r.record.Now(path, is)
}

func (r *randomReview) beginTurn() {
	r.t.Helper()
	if r.turn != nil {
		r.take(r.turn)
	}
	r.count++
	r.turn, r.undone, r.busy = &modelTurn{record: review.New(64 << 20), modes: map[string][2]fs.FileMode{}}, nil, map[string]bool{}
	r.did("turn")
	r.open = r.prompt(r.agent, fmt.Sprint("turn ", r.count))
	r.agent.toolCall(fmt.Sprint("run", r.count), "execute", nil)
}

func (r *randomReview) agentTurn() {
	r.t.Helper()
	r.beginTurn()
	for range 1 + r.IntN(4) {
		r.agentChanges()
		if r.IntN(4) == 0 {
			r.userEdits()
		}
	}
	r.endTurn()
}

func (r *randomReview) endTurn() {
	r.t.Helper()
	r.agent.stop(r.open, "end_turn")
	r.AwaitEvent("AcpTurnEnd")
	for path, m := range r.turn.modes {
		if f := r.files[r.name(path)]; f != nil {
			m[1] = f.mode
			r.turn.modes[path] = m
		}
	}
	r.take(r.turn)
}

// edited is a text with a change of the agent's.
func (r *randomReview) edited(text string) string {
	lines := slices.Collect(strings.Lines(text))
	for range 1 + r.IntN(2) {
		at := r.IntN(len(lines) + 1)
		end := min(at+r.IntN(3), len(lines))
		lines = slices.Replace(lines, at, end, r.lines("a", r.IntN(3))...)
	}
	if len(lines) == 0 {
		lines = r.lines("a", 1)
	}
	return strings.Join(lines, "")
}

// seenMode has the model know the permissions that a file had when the turn began.
func (r *randomReview) seenMode(name string) {
	path := r.path(name)
	if _, known := r.turn.modes[path]; !known {
		var before fs.FileMode
		if f := r.files[name]; f.content.Exists {
			before = f.mode
		}
		r.turn.modes[path] = [2]fs.FileMode{before, before}
	}
}

func (r *randomReview) agentChanges() {
	r.t.Helper()
	free := func(name string, f *modelled) bool { return !r.busy[name] }
	plain := func(name string, f *modelled) bool {
		return free(name, f) && f.buf == 0 && f.content.Exists && !f.content.Opaque
	}
	switch r.IntN(8) {
	case 0, 1: // through the client
		name := r.pick(func(name string, f *modelled) bool { return free(name, f) && !f.content.Opaque })
		if name == "" {
			return
		}
		f := r.files[name]
		r.seenMode(name)
		if !f.content.Exists {
			f.mode = 0o644
		}
		if f.content.Exists { // what the agent has not read it does not know to be there
			r.agent.ask("fs/read_text_file", obj{"sessionId": remote(1), "path": r.path(name)})
		}
		text := r.edited(f.content.Text)
		r.did("fs %s", name)
		r.agent.writeFile(r.path(name), text)
		r.changed(name, review.Text(text))
	case 2: // on the disk, under a buffer
		name := r.pick(func(name string, f *modelled) bool { return f.buf != 0 && !f.modified && f.content.Exists })
		if name == "" {
			return
		}
		text := r.edited(r.files[name].content.Text)
		if text == r.files[name].content.Text {
			return
		}
		r.did("disk %s", name)
		r.seenMode(name)
		r.write(name, text)
		r.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(select(1, ...), 0, -1, true), '\n') .. '\n' == select(2, ...)`, r.files[name].buf, text)
		r.changed(name, review.Text(text))
	case 3: // on the disk, as a call tells
		name := r.pick(plain)
		if name == "" {
			return
		}
		id := fmt.Sprint("edit", r.count)
		r.did("call %s", name)
		r.agent.toolCall(id, "edit", obj{"locations": []any{obj{"path": r.path(name)}}})
		r.awaitCall(id)
		r.agent.ask("fs/read_text_file", obj{"sessionId": remote(1), "path": r.path(name)})
		text := r.edited(r.files[name].content.Text)
		r.seenMode(name)
		r.write(name, text)
		r.agent.finish(id, nil)
		r.changed(name, review.Text(text))
		r.sync()
	default: // by a command that nobody is told of
		r.command(plain, free)
	}
}

func (r *randomReview) awaitCall(id string) {
	r.t.Helper()
	r.AwaitLua(`(function(id)
		for _, call in ipairs(require('acp').tool_calls()) do
			if call.id == id then return true end
		end
	end)(...)`, id)
}

// command changes a file that no buffer shows, and that nothing else changes in this turn.
func (r *randomReview) command(plain, free func(string, *modelled) bool) {
	r.t.Helper()
	name := r.pick(plain)
	if name == "" {
		return
	}
	f, path := r.files[name], r.path(name)
	r.busy[name] = true
	r.seenMode(name)
	switch r.IntN(5) {
	case 0:
		text := r.edited(f.content.Text)
		r.did("command edits %s", name)
		r.write(name, text)
		r.changed(name, review.Text(text))
	case 1:
		r.did("command removes %s", name)
		if err := os.Remove(path); err != nil {
			r.t.Fatal(err)
		}
		r.changed(name, review.Content{})
		f.mode = 0
	case 2:
		r.did("command makes %s binary", name)
		text := "\x00" + r.line("a")
		r.write(name, text)
		r.changed(name, review.Text(text))
		f.disk = text
	case 3:
		f.mode ^= 0o111
		r.did("command gives %s %o", name, f.mode)
		if err := os.Chmod(path, f.mode); err != nil {
			r.t.Fatal(err)
		}
	default:
		fresh := fmt.Sprintf("dir%d/new%d", r.count, r.count)
		r.count++
		r.did("command makes %s", fresh)
		if err := os.MkdirAll(filepath.Dir(r.path(fresh)), 0o755); err != nil {
			r.t.Fatal(err)
		}
		r.files[fresh] = &modelled{}
		r.busy[fresh] = true
		r.seenMode(fresh)
		r.files[fresh].mode = 0o644
		text := strings.Join(r.lines("a", 3), "")
		r.write(fresh, text)
		if err := os.Chmod(r.path(fresh), 0o644); err != nil {
			r.t.Fatal(err)
		}
		r.changed(fresh, review.Text(text))
	}
}

// take is what a turn has changed, as far as it has.
func (r *randomReview) take(t *modelTurn) {
	t.files = nil
	seen := map[string]bool{}
	for _, f := range t.record.Files() {
		if f.State != review.Rejected {
			t.files = append(t.files, modelStep{path: f.Path, before: f.Baseline, after: f.Present, modes: t.modes[f.Path]})
			seen[f.Path] = true
		}
	}
	for path, m := range t.modes {
		if !seen[path] && m[0] != 0 && m[1] != 0 && m[0] != m[1] {
			t.files = append(t.files, modelStep{path: path, modes: m})
		}
	}
	slices.SortFunc(t.files, func(a, b modelStep) int { return cmp.Compare(a.path, b.path) })
	r.turns = slices.DeleteFunc(r.turns, func(o *modelTurn) bool { return o == t })
	if len(t.files) > 0 {
		r.turns = append(r.turns, t)
	}
}

// look takes a buffer's text for what the user has.
func (r *randomReview) look(name string) {
	r.t.Helper()
	f := r.files[name]
	f.content = review.Text(r.buffer(f.buf) + "\n")
	f.modified = r.LuaBool(`vim.bo[...].modified`, f.buf)
	r.now(r.path(name), f.content)
	r.sync()
}

func (r *randomReview) userEdits() {
	r.t.Helper()
	name := r.pick(func(_ string, f *modelled) bool { return f.buf != 0 && f.content.Exists })
	if name == "" {
		return
	}
	f := r.files[name]
	r.Command(fmt.Sprintf("buffer %d", f.buf))
	at := r.IntN(len(slices.Collect(strings.Lines(f.content.Text))) + 1)
	switch r.IntN(5) {
	case 0, 1:
		r.did("types into %s at %d", name, at)
		r.Lua(nil, `local at, line = ...; vim.api.nvim_buf_set_lines(0, at, at, true, { line })`, at, strings.TrimSpace(r.line("u")))
	case 2:
		word := strings.TrimSpace(r.line("u"))
		r.did("inserts %s into %s at %d", word, name, at)
		r.Keys(fmt.Sprintf("%dGo%s", max(at, 1), word))
		r.AwaitLua(`vim.api.nvim_get_current_line() == ... and vim.fn.mode() == 'i'`, word)
		defer func() {
			r.Keys("<Esc>")
			r.AwaitLua(`vim.fn.mode() == 'n'`)
		}()
	case 3:
		r.did("removes line %d of %s", at, name)
		r.Lua(nil, `local at = ...; vim.api.nvim_buf_set_lines(0, at, at + 1, false, {})`, at)
	default:
		r.did("writes %s", name)
		r.Command("silent write")
		f.disk = f.content.Text
	}
	r.look(name)
}

func (r *randomReview) userUndoes() {
	r.t.Helper()
	name := r.pick(func(_ string, f *modelled) bool { return f.buf != 0 && f.content.Exists })
	if name == "" {
		return
	}
	r.Command(fmt.Sprintf("buffer %d", r.files[name].buf))
	how := []string{"undo", "redo"}[r.IntN(2)]
	r.did("%s in %s", how, name)
	r.Command("silent! " + how)
	r.look(name)
}

// place gives a file what is wanted, by the user's wish.
func (r *randomReview) place(name string, want review.Content, mode fs.FileMode) {
	r.t.Helper()
	f := r.files[name]
	f.content = want
	if mode != 0 {
		f.mode = mode
	}
	if f.modified {
		f.disk = r.disk(r.path(name)) // merged: check looks whether it has what was not saved
		f.modified = r.LuaBool(`vim.bo[...].modified`, f.buf)
	} else {
		f.disk = want.Text
	}
}

func (r *randomReview) decides() {
	r.t.Helper()
	files := r.record.Files()
	do := []review.Decision{review.Keep, review.Reject}[r.IntN(2)]
	if len(files) == 0 {
		return
	}
	decide := func(f review.File, which review.Selection) {
		plan, err := r.record.Plan(f.Path, do, which)
		if err != nil {
			return
		}
		name := r.name(f.Path)
		if !r.record.Commit(plan) {
			r.t.Fatal("the model has moved on")
		}
		if plan.Edits() {
			var mode fs.FileMode
			if m := r.files[name]; !m.content.Exists && plan.Want.Exists {
				mode = cmp.Or(r.modeBefore(f.Path), 0o644)
			} else if !plan.Want.Exists {
				m.mode = 0
			}
			if r.turn != nil {
				// The turn lacks what the user has typed.
				want := plan.Want
				if of, _ := r.turn.record.File(f.Path); of.Present.Exists && want.Exists && plan.Now.Exists && !of.Present.Opaque && !want.Opaque && !plan.Now.Opaque {
					want.Text, _ = buffers.Merge(plan.Now.Text, of.Present.Text, want.Text)
				}
				r.turn.record.Now(f.Path, want)
			}
			r.decided(name, plan.Want, mode)
		}
	}
	f := files[r.IntN(len(files))]
	switch n := r.IntN(6); {
	case n == 0:
		r.did("%s all", do)
		r.ok(`require('acp')[...]({})`, string(do))
		r.sync()
		for _, f := range files {
			if f.State == review.Pending {
				decide(f, review.Selection{})
			}
		}
	case n < 3 || len(f.Hunks) == 0:
		r.did("%s %s", do, r.name(f.Path))
		r.ok(`require('acp')[...]({ path = select(2, ...) })`, string(do), f.Path)
		r.sync()
		decide(f, review.Selection{})
	default:
		h := r.IntN(len(f.Hunks))
		r.did("%s hunk %d of %s", do, h+1, r.name(f.Path))
		r.ok(`require('acp')[...]({ path = select(2, ...), hunk = select(3, ...) })`, string(do), f.Path, h+1)
		r.sync()
		decide(f, review.Selection{Hunks: []int{h}})
	}
}

// decided is place for contents that the record may have as a mark only.
func (r *randomReview) decided(name string, want review.Content, mode fs.FileMode) {
	r.t.Helper()
	if want.Opaque {
		text := r.disk(r.path(name))
		if review.Text(text).Mark() != want {
			r.t.Errorf("%s has %q", name, text)
		}
		r.place(name, want, mode)
		r.files[name].disk = text
		return
	}
	r.place(name, want, mode)
}

// modeBefore is the mode that a file had before it was removed.
func (r *randomReview) modeBefore(path string) fs.FileMode {
	info, err := os.Stat(path) // where it has come back
	if err != nil {
		return 0
	}
	return info.Mode().Perm()
}

func (r *randomReview) undoes(again bool) {
	r.t.Helper()
	if r.turn != nil && !again {
		r.take(r.turn)
	}
	var steps []modelStep
	var t *modelTurn
	switch {
	case again && len(r.undone) == 0, !again && len(r.turns) == 0:
		return
	case again:
		u := r.undone[len(r.undone)-1]
		r.undone = r.undone[:len(r.undone)-1]
		t, steps = u.turn, u.did
		r.turns = append(r.turns, t)
		r.did("again")
	default:
		t = r.turns[len(r.turns)-1]
		r.turns = r.turns[:len(r.turns)-1]
		steps = t.files
		r.did("undo")
	}
	r.ok(`require('acp').undo_turn({ again = ... })`, again)
	r.sync()
	r.turn = nil
	var did []modelStep
	for _, step := range steps {
		name := r.name(step.path)
		f := r.files[name]
		now := f.content
		want, mode := now, fs.FileMode(0)
		same := func(c review.Content) bool { return now == c || now.Exists && now.Mark() == c.Mark() }
		switch {
		case step.before == step.after:
		case same(step.before):
			continue
		case same(step.after):
			want = step.before
		case !now.Exists, !step.after.Exists, now.Opaque, step.after.Opaque, step.before.Opaque, !step.before.Exists:
			continue
		default:
			want.Text, _ = buffers.Merge(step.after.Text, now.Text, step.before.Text)
		}
		if step.modes[0] != step.modes[1] && step.modes[0] != 0 && f.mode == step.modes[1] {
			mode = step.modes[0]
		}
		if want == now && mode == 0 {
			continue
		}
		if !want.Exists {
			f.mode = 0
		} else if !now.Exists {
			mode = cmp.Or(step.modes[0], mode, 0o644)
		}
		did = append(did, modelStep{path: step.path, before: now, after: want, modes: [2]fs.FileMode{step.modes[1], step.modes[0]}})
		if again {
			r.record.Changed(step.path, now, want)
		} else {
			r.record.Retracted(step.path, now, want)
		}
		r.decided(name, want, mode)
	}
	if !again {
		r.undone = append(r.undone, modelUndo{t, did})
	}
}

// crash kills the host when all is saved, and takes the session up again.
func (r *randomReview) crash() {
	r.t.Helper()
	if r.turn != nil {
		r.take(r.turn)
	}
	if len(r.record.Files())+len(r.turns) == 0 {
		return
	}
	r.did("crash")
	store := checkpoint.Open(filepath.Join(r.Home, "data", "nvim", "acp"))
	r.Await("the record to be saved", func() bool {
		records, err := store.Records()
		if err != nil || len(records) != 1 {
			return len(records) == 0 && len(r.record.Files()) == 0 && err == nil
		}
		was, err := saved.Load(store, records[0].Key, 64<<20)
		if err != nil {
			return false
		}
		done, undone := len(was.History.Turns), len(was.History.Undone)
		r.told = fmt.Sprintf("%s\n%d turns of %d, %d undone of %d", r.listed(was.Record), done, len(r.turns), undone, len(r.undone))
		return r.listed(was.Record) == r.listed(r.record) && done == len(r.turns) && undone == len(r.undone)
	})
	hosts, _ := r.hosts()
	for _, pid := range hosts {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			r.t.Fatal(err)
		}
	}
	r.AwaitLua(`require('acp').sessions()[1].state == 'dead'`)
	r.agent.awaitEnd()
	r.Command("Acp restart")
	r.agent = r.scene.agent()
	r.agent.initialize(keeps(true, "resume"))
	r.agent.reply(r.agent.expect("session/resume"), nil)
	r.AwaitEvent("AcpSessionReady")
	for _, f := range r.files {
		if f.buf != 0 {
			r.AwaitLua(`vim.bo[...].autoread == false`, f.buf)
		}
	}
	r.sync()
	r.firstTurn()
}

// listed is a record as changes has one, in the order of the paths.
func (r *randomReview) listed(record *review.Record) string {
	var lines []string
	for _, f := range record.Files() {
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s", f.Status, r.name(f.Path))
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
		disk, mode := "", fs.FileMode(0)
		if info, err := os.Stat(r.path(name)); err == nil {
			disk, mode = r.file(r.path(name)), info.Mode().Perm()
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
		if got := r.buffer(f.buf) + "\n"; got != f.content.Text {
			r.t.Errorf("the buffer of %s has\n%q\nwanted\n%q", name, got, f.content.Text)
		}
		if got := r.LuaBool(`vim.bo[...].modified`, f.buf); got != f.modified {
			r.t.Errorf("%s is modified: %v", name, got)
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
}
