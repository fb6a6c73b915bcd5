package scenario

import (
	"errors"
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

	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/test/nvimtest"
)

var rounds = flag.Int("rounds", 20, "rounds of a random review on each Neovim")

// TestRandomReviews has an agent change files in all the ways there are, and a user type, decide, undo and
// do again, while now and then the host or Neovim is killed. After each step what buffers and disk have is
// compared with a model of them, and the record with one that is made anew of all that has happened. Every
// line is unlike all others, and says in its first letter whose it is: f of the file, u of the user, a of the
// agent. So it is seen without the model too whether a step may have taken a line out or put it in.
func TestRandomReviews(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		r := &randomReview{
			scene: s, Rand: rand.New(rand.NewPCG(*seed, 0)), files: map[string]*modelled{},
			fates: fates{
				seen: map[string][]string{}, typed: map[string]bool{}, removed: map[string]bool{}, taken: map[string]bool{},
				returned: map[string]bool{}, wanted: map[string]bool{}, inFile: map[string]string{}, twice: map[string]bool{},
			},
		}
		t.Cleanup(func() {
			if t.Failed() && r.record != nil {
				t.Logf("-seed %d:\n%s\nthe record has\n%s\nand should have\n%s", *seed, strings.Join(r.log, "\n"), r.told, r.listed(r.record))
			}
		})
		r.begin()
		for range *rounds {
			r.round()
			r.check()
			if t.Failed() {
				t.Logf("the user was told\n%s", r.notifications())
				return
			}
		}
		r.decideAll(review.Reject)
		r.check()
	})
}

type randomReview struct {
	*scene
	*rand.Rand
	fates
	agent   *puppet
	files   map[string]*modelled
	record  *review.Record
	turn    *modelTurn // the last one, until something is undone
	turns   []*modelTurn
	undone  []modelUndo
	open    message         // the prompt, while a turn runs
	busy    map[string]bool // what a command has changed in this turn
	silent  bool            // a command is at work
	untold  []untold        // what commands have changed in this turn
	count   int
	touched int // how often the user has done something
	syncs   int
	log     []string
	told    string // of the record, as Lua has it
	home    string // of the first Neovim, whose data the others have too
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
	r.home = r.Home
	r.ready()
	for _, name := range []string{"shown", "hidden", "plain", "run.sh", "other", "spare"} {
		r.write(name, strings.Join(r.lines("f", 8), ""))
		r.files[name] = &modelled{mode: 0o644}
	}
	r.files["run.sh"].mode = 0o755
	for name, f := range r.files {
		if err := os.Chmod(r.path(name), f.mode); err != nil {
			r.t.Fatal(err)
		}
		f.disk = r.file(r.path(name))
		f.content = review.Text(f.disk)
	}
	for _, name := range []string{"hidden", "shown"} {
		r.edit(name)
	}
	r.agent = r.beginWith(keeps(true, "resume"))
	r.Command("wincmd t")
	r.awaitTracked()
	r.record = review.New(64 << 20)
	r.account(users)
	r.firstTurn()
}

// ready has Neovim ask nothing, and have swap files.
func (r *randomReview) ready() {
	r.t.Helper()
	r.recordNotifications()
	r.configure(`c.unsaved = 'ignore'`)
	r.Command("set shortmess+=A hidden updatecount=1")
}

// edit shows a file.
func (r *randomReview) edit(name string) {
	r.t.Helper()
	r.Command("edit " + name)
	r.files[name].buf = r.LuaInt(`vim.api.nvim_get_current_buf()`)
}

// awaitTracked waits until the host knows all buffers.
func (r *randomReview) awaitTracked() {
	r.t.Helper()
	for _, f := range r.files {
		if f.buf != 0 && f.content.Exists {
			r.AwaitLua(`vim.bo[...].autoread == false`, f.buf)
		}
	}
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
	switch n := r.IntN(20); {
	case n < 6:
		r.agentTurn()
	case n < 9:
		r.userEdits()
	case n < 10:
		r.userUndoes()
	case n < 11:
		r.userOpens()
	case n < 13:
		r.decides()
	case n < 15:
		r.selects()
	case n < 17:
		r.undoes(false)
	case n < 18:
		r.undoes(true)
	default:
		r.crash()
	}
}

func (r *randomReview) beginTurn() {
	r.t.Helper()
	if r.turn != nil {
		r.take(r.turn)
	}
	r.count++
	r.turn = &modelTurn{
		record: review.New(64 << 20), shed: map[string]review.Content{}, back: map[string]string{}, modes: map[string][2]fs.FileMode{}, start: r.moment(),
	}
	r.undone, r.busy = nil, map[string]bool{}
	r.did("turn")
	r.open = r.prompt(r.agent, fmt.Sprint("turn ", r.count))
	r.agent.toolCall(fmt.Sprint("run", r.count), "execute", nil)
}

func (r *randomReview) agentTurn() {
	r.t.Helper()
	r.beginTurn()
	for range 1 + r.IntN(4) {
		r.agentChanges()
		r.account(agents)
		if r.IntN(4) == 0 {
			r.userEdits()
		}
	}
	if len(r.busy) == 0 && r.IntN(6) == 0 {
		r.crash()
		return
	}
	r.endTurn()
}

func (r *randomReview) endTurn() {
	r.t.Helper()
	r.agent.stop(r.open, "end_turn")
	r.AwaitEvent("AcpTurnEnd")
	r.turnEnded()
}

func (r *randomReview) turnEnded() {
	r.tellUntold()
	for path, m := range r.turn.modes {
		if f := r.files[r.name(path)]; f != nil {
			m[1] = f.mode
			r.turn.modes[path] = m
		}
	}
	r.take(r.turn)
	r.open = message{}
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

func (r *randomReview) free(name string, _ *modelled) bool { return !r.busy[name] }

func (r *randomReview) plain(name string, f *modelled) bool {
	return r.free(name, f) && f.buf == 0 && f.content.Exists && !f.content.Opaque
}

func (r *randomReview) agentChanges() {
	r.t.Helper()
	switch r.IntN(10) {
	case 0, 1: // through the client
		name := r.pick(func(name string, f *modelled) bool {
			return r.free(name, f) && !f.content.Opaque && (f.buf == 0 || f.content.Exists)
		})
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
		r.changeShown()
	case 3: // on the disk, as a call tells
		name := r.pick(r.plain)
		if name == "" {
			return
		}
		r.did("call %s", name)
		r.call("edit", func() {
			r.agent.ask("fs/read_text_file", obj{"sessionId": remote(1), "path": r.path(name)})
			text := r.edited(r.files[name].content.Text)
			r.seenMode(name)
			r.write(name, text)
			r.changed(name, review.Text(text))
		}, r.path(name))
	case 4: // moved, as a call tells
		name := r.pick(r.plain)
		if name == "" {
			return
		}
		to := r.freePlace()
		r.did("call moves %s to %s", name, to)
		r.call("move", func() { r.move(name, to) }, r.path(name), r.path(to))
	default: // by a command that nobody is told of
		r.command()
	}
}

// call has the agent do something that a call tells, which names paths.
func (r *randomReview) call(kind string, do func(), paths ...string) {
	r.t.Helper()
	r.count++
	id := fmt.Sprint(kind, r.count)
	var locations []any
	for _, path := range paths {
		locations = append(locations, obj{"path": path})
	}
	r.agent.toolCall(id, kind, obj{"locations": locations})
	r.AwaitLua(`(function(id)
		for _, call in ipairs(require('acp').tool_calls()) do
			if call.id == id then return true end
		end
	end)(...)`, id)
	for _, path := range paths { // a read is behind the look at the file
		r.agent.ask("fs/read_text_file", obj{"sessionId": remote(1), "path": path})
	}
	do()
	r.agent.finish(id, nil)
	r.sync()
}

// freePlace is a path where no file is: a new one, or one where there was a file.
func (r *randomReview) freePlace() string {
	if name := r.pick(func(name string, f *modelled) bool { return r.free(name, f) && f.buf == 0 && !f.content.Exists }); name != "" && r.IntN(2) == 0 {
		return name
	}
	r.count++
	name := fmt.Sprintf("dir%d/new%d", r.count, r.count)
	r.files[name] = &modelled{}
	return name
}

func (r *randomReview) makeDir(name string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o755); err != nil {
		r.t.Fatal(err)
	}
}

func (r *randomReview) move(name, to string) {
	r.t.Helper()
	r.seenMode(name)
	r.seenMode(to)
	r.makeDir(to)
	if err := os.Rename(r.path(name), r.path(to)); err != nil {
		r.t.Fatal(err)
	}
	r.moved(name, to)
}

// changeShown changes or removes a file on the disk that a buffer shows.
func (r *randomReview) changeShown() {
	r.t.Helper()
	name := r.pick(func(_ string, f *modelled) bool { return f.buf != 0 && !f.modified && f.content.Exists })
	if name == "" {
		return
	}
	f := r.files[name]
	r.seenMode(name)
	if r.IntN(4) == 0 {
		r.did("disk removes %s", name)
		if err := os.Remove(r.path(name)); err != nil {
			r.t.Fatal(err)
		}
		r.changed(name, review.Content{})
		f.mode = 0
		for r.AwaitEvent("AcpFileChanged")["path"] != r.path(name) {
		}
		return
	}
	text := r.edited(f.content.Text)
	if text == f.content.Text {
		return
	}
	r.did("disk %s", name)
	r.write(name, text)
	r.AwaitLua(`table.concat(vim.api.nvim_buf_get_lines(select(1, ...), 0, -1, true), '\n') .. '\n' == select(2, ...)`, f.buf, text)
	r.changed(name, review.Text(text))
}

// command changes a file that no buffer shows, and that nothing else changes in this turn.
func (r *randomReview) command() {
	r.t.Helper()
	name := r.pick(r.plain)
	if name == "" {
		return
	}
	f, path := r.files[name], r.path(name)
	r.busy[name] = true
	r.seenMode(name)
	r.silent = true
	defer func() { r.silent = false }()
	what := r.IntN(6)
	if f.content.Text == "" && what == 4 {
		what = 0 // that a file is another one's without any text is not to be told
	}
	switch what {
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
	case 4:
		to := r.freePlace()
		r.busy[to] = true
		r.did("command moves %s to %s", name, to)
		r.move(name, to)
	default:
		to := r.freePlace()
		r.busy[to] = true
		r.did("command makes %s", to)
		r.makeDir(to)
		r.seenMode(to)
		r.files[to].mode = 0o644
		text := strings.Join(r.lines("a", 3), "")
		r.write(to, text)
		if err := os.Chmod(r.path(to), 0o644); err != nil {
			r.t.Fatal(err)
		}
		r.changed(to, review.Text(text))
	}
}

// look takes a buffer's text for what the user has.
func (r *randomReview) look(name string) {
	r.t.Helper()
	r.touched++
	f := r.files[name]
	text := r.buffer(f.buf) + "\n"
	f.modified = r.LuaBool(`vim.bo[...].modified`, f.buf)
	if r.modeOf(name) == 0 {
		f.stale = text
	} else {
		f.content = review.Text(text)
		r.now(r.path(name), f.content)
	}
	r.sync()
	r.account(users)
}

// atLine is a line of a file's, from 0, in a change of the agent's that waits for a decision; or else any.
func (r *randomReview) atLine(name string) int {
	f := r.files[name]
	known, ok := r.record.File(r.path(name))
	var at []int
	for _, h := range known.Hunks {
		for i := range h.NewCount {
			at = append(at, h.NewStart-1+i)
		}
	}
	if ok && len(at) > 0 && r.IntN(2) == 0 {
		return at[r.IntN(len(at))]
	}
	return r.IntN(len(slices.Collect(strings.Lines(f.shows()))) + 1)
}

func (r *randomReview) userEdits() {
	r.t.Helper()
	name := r.pick(func(_ string, f *modelled) bool { return f.buf != 0 })
	if name == "" {
		return
	}
	f := r.files[name]
	r.Command(fmt.Sprintf("buffer %d", f.buf))
	at := r.atLine(name)
	switch r.IntN(7) {
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
	case 4, 5:
		word := strings.TrimSpace(r.line("u"))
		r.did("changes line %d of %s to %s", at, name, word)
		r.Lua(nil, `local at, line = ...; vim.api.nvim_buf_set_lines(0, at, at + 1, false, { line })`, at, word)
	default:
		r.did("writes %s", name)
		r.Command("silent write")
		f.disk, f.mode = f.shows(), r.modeOf(name)
	}
	r.look(name)
}

func (r *randomReview) userUndoes() {
	r.t.Helper()
	name := r.pick(func(_ string, f *modelled) bool { return f.buf != 0 })
	if name == "" {
		return
	}
	r.Command(fmt.Sprintf("buffer %d", r.files[name].buf))
	how := []string{"undo", "redo"}[r.IntN(2)]
	r.did("%s in %s", how, name)
	r.Command("silent! " + how)
	r.look(name)
}

// userOpens has a buffer show a file, or no longer.
func (r *randomReview) userOpens() {
	r.t.Helper()
	if name := r.pick(r.plain); name != "" && r.IntN(2) == 0 {
		r.did("opens %s", name)
		r.edit(name)
		r.awaitTracked()
		return
	}
	name := r.pick(func(name string, f *modelled) bool {
		return f.buf != 0 && !f.modified && f.content.Exists && name != "shown"
	})
	if name != "" {
		r.did("closes %s", name)
		other := "enew"
		if buf := r.files["shown"].buf; buf != 0 {
			other = fmt.Sprint("buffer ", buf)
		}
		r.Command(fmt.Sprintf("%s | bwipeout %d", other, r.files[name].buf))
		r.files[name].buf = 0
		r.sync()
	}
}

func (r *randomReview) decides() {
	r.t.Helper()
	files := r.record.Files()
	do := []review.Decision{review.Keep, review.Reject}[r.IntN(2)]
	if len(files) == 0 {
		return
	}
	f := files[r.IntN(len(files))]
	switch n := r.IntN(6); {
	case n == 0:
		r.decideAll(do)
		return
	case n < 3 || len(f.Hunks) == 0:
		r.did("%s %s", do, r.name(f.Path))
		r.ok(`require('acp')[...]({ path = select(2, ...) })`, string(do), f.Path)
		r.sync()
		r.decided(do, r.decide(do, f, review.Selection{}))
	default:
		h := r.IntN(len(f.Hunks))
		r.did("%s hunk %d of %s", do, h+1, r.name(f.Path))
		r.ok(`require('acp')[...]({ path = select(2, ...), hunk = select(3, ...) })`, string(do), f.Path, h+1)
		r.sync()
		r.decided(do, r.decide(do, f, review.Selection{Hunks: []int{h}}))
	}
}

func (r *randomReview) decideAll(do review.Decision) {
	r.t.Helper()
	if len(r.record.Files()) == 0 {
		return
	}
	r.did("%s all", do)
	r.ok(`require('acp')[...]({})`, string(do))
	r.sync()
	edits := false
	for range r.record.Files() { // what cannot go back where another file is can when that is gone
		for _, f := range slices.Backward(r.record.Files()) {
			if f.State == review.Pending {
				edits = r.decide(do, f, review.Selection{}) || edits
			}
		}
	}
	r.decided(do, edits)
	if do == review.Reject {
		r.refusedAll()
	}
}

// decided looks at what a decision has made of the lines.
func (r *randomReview) decided(do review.Decision, edits bool) {
	r.t.Helper()
	r.touched++
	switch {
	case do == review.Reject:
		r.account(rejects)
	case edits:
		r.account(brings)
	default:
		r.account(keepers)
	}
}

// selects decides about lines that are selected in a buffer.
func (r *randomReview) selects() {
	r.t.Helper()
	waits := func(name string) (list []review.Change) {
		f, _ := r.record.File(r.path(name))
		return slices.DeleteFunc(f.Changes(), func(c review.Change) bool { return c.State != review.Pending })
	}
	name := r.pick(func(name string, f *modelled) bool { return f.buf != 0 && f.content.Exists && len(waits(name)) > 0 })
	if name == "" {
		return
	}
	changes := waits(name)
	c := changes[r.IntN(len(changes))]
	buf := r.files[name].buf
	count := r.LuaInt(`vim.api.nvim_buf_line_count(...)`, buf)
	first := min(c.Line+r.IntN(max(1, len(c.New))), count)
	last := min(first+r.IntN(3), count)
	f, _ := r.record.File(r.path(name))
	which := f.Lines(first, last)
	if len(which.Parts) == 0 {
		return
	}
	do := []review.Decision{review.Keep, review.Reject}[r.IntN(2)]
	r.did("%s lines %d to %d of %s", do, first, last, name)
	r.Command(fmt.Sprintf("buffer %d", buf))
	r.AwaitLua(`(function(buf, first, last)
		return #require('acp.marks').sessions(buf, first - 1, last - 1) > 0
	end)(...)`, buf, first, last)
	r.Lua(nil, `local first, last, decision = ...
		local keys = ('%dGV%dG'):format(first, last) .. (decision == 'keep' and 'g>' or 'g<')
		vim.api.nvim_feedkeys(keys, 'mtx', false)`, first, last, string(do))
	r.sync()
	r.decided(do, r.decide(do, f, which))
}

func (r *randomReview) undoes(again bool) {
	r.t.Helper()
	if r.turn != nil && !again {
		r.take(r.turn)
	}
	switch {
	case again && len(r.undone) == 0, !again && len(r.turns) == 0:
		return
	case again:
		r.did("again")
	default:
		r.did("undo")
	}
	r.ok(`require('acp').undo_turn({ again = ... })`, again)
	r.sync()
	r.undo(again)
	if again {
		r.account(agains)
	} else {
		r.account(undoes)
	}
}

// crash kills the host or Neovim when all is saved, and takes the session up again.
func (r *randomReview) crash() {
	r.t.Helper()
	if r.turn != nil {
		r.take(r.turn)
	}
	r.awaitSaved()
	if r.IntN(3) == 0 {
		r.killNeovim()
	} else {
		r.killHost()
	}
	if r.open.ID != nil {
		r.turnEnded()
	}
	r.account(nobody)
	r.sync()
	r.turn = nil
	r.check()
	r.firstTurn()
}

func (r *randomReview) awaitSaved() {
	r.t.Helper()
	store := checkpoint.Open(filepath.Join(r.home, "data", "nvim", "acp"))
	r.Await("the record to be saved", func() bool {
		records, err := store.Records()
		if err != nil || len(records) != 1 {
			return err == nil && len(records)+len(r.record.Files())+len(r.turns)+len(r.undone) == 0
		}
		was, err := saved.Load(store, records[0].Key, 64<<20)
		if err != nil {
			return false
		}
		done, undone := len(was.History.Turns), len(was.History.Undone)
		r.told = fmt.Sprintf("%s\n%d turns of %d, %d undone of %d", r.listed(was.Record), done, len(r.turns), undone, len(r.undone))
		return r.listed(was.Record) == r.listed(r.record) && done == len(r.turns) && undone == len(r.undone)
	})
}

func (r *randomReview) killHost() {
	r.t.Helper()
	r.did("the host is killed")
	hosts, _ := r.hosts()
	for _, pid := range hosts {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			r.t.Fatal(err)
		}
	}
	r.AwaitLua(`require('acp').sessions()[1].state == 'dead'`)
	r.agent.awaitEnd()
	if r.open.ID != nil {
		r.AwaitEvent("AcpTurnEnd")
	}
	r.Command("Acp restart")
	r.agent = r.scene.agent()
	r.agent.initialize(keeps(true, "resume"))
	r.agent.reply(r.agent.expect("session/resume"), nil)
	r.AwaitEvent("AcpSessionReady")
	r.awaitTracked()
}

// killNeovim kills Neovim, and has another one recover what was not saved.
func (r *randomReview) killNeovim() {
	r.t.Helper()
	r.did("Neovim is killed")
	for _, f := range r.files {
		if f.buf != 0 {
			r.Lua(nil, `local buf = ...; vim.api.nvim_buf_call(buf, function() vim.cmd('silent preserve') end)`, f.buf)
		}
	}
	bin := r.LuaString(`vim.v.progpath`)
	r.Kill()
	r.awaitNothingLeft()
	at(r.t, "the agent's end to be known", func() bool {
		r.agent.mu.Lock()
		defer r.agent.mu.Unlock()
		return r.agent.closed
	})
	env := []string{"GORACE=halt_on_error=1 atexit_sleep_ms=0"}
	for _, kind := range []string{"data", "state"} {
		env = append(env, fmt.Sprintf("XDG_%s_HOME=%s", strings.ToUpper(kind), filepath.Join(r.home, kind)))
	}
	r.scene = open(r.t, nvimtest.Start(r.t, bin, nvimtest.Dir(r.Dir), nvimtest.Env(env...)))
	r.ready()
	if r.IntN(2) == 0 { // either may come first
		r.recovers()
		r.resumes()
	} else {
		r.resumes()
		for name, f := range r.files {
			if f.modified && f.content.Exists {
				r.record.Now(r.path(name), review.Text(f.disk))
			}
		}
		r.sync()
		r.recovers()
		for name, f := range r.files {
			if f.modified && f.content.Exists {
				r.record.Now(r.path(name), f.content)
			}
		}
	}
	r.awaitTracked()
}

// resumes takes the session up in another Neovim.
func (r *randomReview) resumes() {
	r.t.Helper()
	r.ok(`require('acp').resume({ agent = 'puppet', agent_session_id = ... })`, remote(1))
	r.agent = r.scene.agent()
	r.agent.initialize(keeps(true, "resume"))
	r.agent.reply(r.agent.expect("session/load"), nil)
	r.AwaitEvent("AcpSessionReady")
}

// recovers opens all files that were open, with what was not saved.
func (r *randomReview) recovers() {
	r.t.Helper()
	swaps, err := filepath.Glob(filepath.Join(r.home, "state", "nvim", "swap", "*"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		f := r.files[name]
		switch {
		case f.buf == 0:
			continue
		case !f.content.Exists:
			f.buf, f.stale, f.modified = 0, "", false
		case f.modified:
			r.Command("enew | silent! recover " + name)
			f.buf = r.LuaInt(`vim.api.nvim_get_current_buf()`)
			if f.content.Text == f.disk {
				f.modified = r.LuaBool(`vim.bo.modified`)
			}
		default:
			r.edit(name)
		}
	}
	for _, path := range swaps {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.t.Fatal(err)
		}
	}
}
