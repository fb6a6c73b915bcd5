package whose

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/scene"
)

var (
	seed        = flag.Uint64("seed", 1, "seed of what happens in them")
	whoseRounds = flag.Int("whose", 25, "rounds of whose change is whose on each Neovim, for each value of `review`")
	whoseFirst  = flag.Int("first", 0, "the first of these rounds")
	whoseMost   = flag.Int("moves", 6, "how many things happen at most in a turn of theirs")
	strikes     = flag.Int("strikes", 16, "every how manieth turn of theirs ends with a kill, on an average")
	without     = flag.String("without", "", "what does not happen in them, of: "+strings.Join(ways, " "))
)

// ways are what can be left out of rounds.
var ways = []string{
	"again",   // undoing a turn, and again
	"asks",    // requests for permission
	"at-once", // a prompt right after files have changed
	"binary",
	"decides", // about single files and hunks
	"empties",
	"form",  // line ends, byte order marks, encodings
	"modes", // permissions of files
	"moves",
	"options", // of the user's, on how a file is written
	"outside", // other programs of the user's, between the turns
	"plugins", // a formatter, and one that saves
	"removes",
	"renames", // by the user
	"stale",   // texts of the agent's that it has made of what it read before
	"strikes", // kills
	"turns",   // more than one
	"undo",    // undoing a turn
	"unsaved", // text that is not saved when the agent changes the file, and at the end
	"unnamed", // changes without a call
}

// TestWhose has the user and the agent change files at the same time, in all the ways there are, until all
// changes of the agent's are refused or kept, or the turn is undone. What is there then is compared with what the
// user alone has done. Each round has files of its own; seed and round say what happens.
func TestWhose(t *testing.T) {
	for _, review := range []string{"after", "before"} {
		t.Run(review, func(t *testing.T) {
			scene.Each(t, func(t *testing.T, s *scene.Scene) { playWhose(t, s, review) })
		})
	}
}

func playWhose(t *testing.T, s *scene.Scene, review string) {
	before := review == "before"
	setUp(s, before)
	p := s.BeginWith(scene.KeepsSessions(true, "resume"))
	s.Command("wincmd t")
	found := 0
	for n := *whoseFirst; n < *whoseFirst+*whoseRounds; n++ {
		random := rand.New(rand.NewPCG(*seed, uint64(n)))
		r := &whoseRound{
			Scene: s, Rand: random, agent: p, nth: n, dir: fmt.Sprint("r", n), before: before,
			files: map[string]*whoseFile{}, buffers: map[string]int{}, known: map[string][]string{}, gave: map[string][]string{}, unread: map[string][]string{},
			formatter: random.IntN(6) == 0, autosave: random.IntN(6) == 0,
		}
		if !r.may("plugins") {
			r.formatter, r.autosave = false, false
		}
		t.Cleanup(func() {
			if t.Failed() && !r.over {
				t.Logf("%s\n%s", r.title(), strings.Join(r.log, "\n"))
			}
		})
		told := len(s.Notifications())
		r.play()
		if len(r.faults) > 0 {
			found++
			t.Errorf("%s\n%s\n=> %s\nthere is %v\ntold was %s\n", r.title(), strings.Join(r.log, "\n"), strings.Join(r.faults, "\n=> "),
				r.there(), r.Notifications()[min(told, len(r.Notifications())):])
		} else if testing.Verbose() {
			t.Logf("%s\n%s\n", r.title(), strings.Join(r.log, "\n"))
		}
		r.clear()
		r.over = true
		s, p = r.Scene, r.agent
	}
	if found > 0 {
		t.Logf("%d of %d rounds", found, *whoseRounds)
	}
}

// setUp configures a Neovim for rounds, before anything is started.
func setUp(s *scene.Scene, before bool) {
	s.T.Helper()
	s.RecordNotifications()
	s.Configure(`c.unsaved, c.review, c.diff = 'ignore', '` + map[bool]string{true: "before", false: "after"}[before] + `', 'split'`)
	s.Command("set shortmess+=A hidden")
	s.Lua(nil, plugins)
}

// whoseFile is what the user gets back of a file when all is refused, and when a turn is undone. These differ when
// the user has accepted something, and after an earlier turn.
type whoseFile struct {
	refused *userFile
	undone  []*userFile // for each turn
	kin     string      // the same for files that the agent has moved to one another
	left    bool        // the user has given its buffer another name
}

// newFile is a file of the round that begins now.
func (r *whoseRound) newFile(name string, u *userFile) {
	f := &whoseFile{refused: u, kin: name}
	for range r.turns {
		f.undone = append(f.undone, u.clone())
	}
	r.files[name] = f
}

// whoseRound is a turn or two of the agent's, with files of its own.
type whoseRound struct {
	*scene.Scene
	*rand.Rand
	agent       *scene.Puppet
	dir         string // of the files
	before      bool   // writes wait for the user
	formatter   bool   // the user has one, which adds a line when a buffer is saved
	autosave    bool   // the user has a plugin that saves
	files       map[string]*whoseFile
	buffers     map[string]int      // of the files that are loaded
	known       map[string][]string // what the agent has read or written through its client
	typing      string              // the file in which the user is in Insert mode
	inTurn      bool
	staying     map[string]bool     // files that cannot go back to where the user has another one
	forgotten   bool                // another host runs, which does not know what the agent has read
	leftAlone   bool                // the undo has left something as it is
	whole       []string            // the text that the agent is about to give a file, without its client
	gave        map[string][]string // what it gave each file last in that way, and so knows
	unread      map[string][]string // what other programs of the user's have put in files that no buffer showed, since the agent has read them
	allowed     string              // the name and the text that the user has allowed in a request
	lastAllowed string              // the last of those, also where it was used
	over        bool
	turns       int // that have begun
	undo        int // the one that is undone
	nth         int
	count       int
	log         []string
	faults      []string
}

// title is how to play the round again.
func (r *whoseRound) title() string {
	return fmt.Sprintf("-run '%s' -seed %d -first %d -whose 1 -moves %d -strikes %d -without '%s'", r.T.Name(), *seed, r.nth, *whoseMost, *strikes, *without)
}

// may reports whether something is to happen in this run.
func (r *whoseRound) may(way string) bool {
	return !slices.Contains(strings.Split(*without, ","), way)
}

func (r *whoseRound) did(format string, args ...any) {
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *whoseRound) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// pick is one of the names, which are sorted, that want likes; "" is none.
func (r *whoseRound) pick(want func(string) bool) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		if want(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return names[r.IntN(len(names))]
}

func (r *whoseRound) line(whose string) string {
	r.count++
	return fmt.Sprintf("%s%d", whose, r.count)
}

func (r *whoseRound) linesOf(whose string, n int) (lines []string) {
	for range n {
		lines = append(lines, r.line(whose))
	}
	return lines
}

// kin are the other files between which the agent has moved one.
func (r *whoseRound) kin(name string) (list []*whoseFile) {
	for other, f := range r.files {
		if other != name && f.kin == r.files[name].kin {
			list = append(list, f)
		}
	}
	return list
}

func (r *whoseRound) loaded(name string) bool { return r.buffers[name] != 0 }

func (r *whoseRound) path(name string) string { return filepath.Join(r.Dir, r.dir, name) }

// data is what the disk has, nil for no file.
func (r *whoseRound) data(name string) []byte {
	r.T.Helper()
	data, err := os.ReadFile(r.path(name))
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		r.T.Fatal(err)
	case data == nil:
		data = []byte{}
	}
	return data
}

func (r *whoseRound) modeOf(name string) fs.FileMode {
	info, err := os.Stat(r.path(name))
	if err != nil {
		return 0
	}
	return info.Mode().Perm()
}

// shown are the lines of a buffer.
func (r *whoseRound) shown(name string) []string {
	r.T.Helper()
	return linesOf(r.BufferText(r.buffers[name]))
}

// all does something to all that the user may get back of a file.
func (r *whoseRound) all(name string, do func(*userFile)) {
	f := r.files[name]
	do(f.refused)
	for _, u := range f.undone {
		do(u)
	}
}

// looksAtBuffers takes down which files are loaded: what moves a file back may do so with its buffer.
func (r *whoseRound) looksAtBuffers() {
	r.T.Helper()
	is, _ := r.Value(`(function(dir)
		local bufs = vim.empty_dict()
		for _, buf in ipairs(vim.api.nvim_list_bufs()) do
			local name = vim.api.nvim_buf_get_name(buf)
			if vim.api.nvim_buf_is_loaded(buf) and vim.startswith(name, dir) then bufs[name:sub(#dir + 1)] = buf end
		end
		return bufs
	end)(...)`, r.path("")+"/").(obj)
	for name, buf := range r.buffers {
		if is[name] == buf {
			continue
		}
		delete(r.buffers, name)
		gone := true
		for other, b := range is {
			if b == buf && r.files[other] != nil {
				r.did("the buffer of %s is that of %s now", name, other)
				gone = false
			}
		}
		for line, l := range r.files[name].refused.lines {
			if gone && l.buffer != l.disk && l.buffer == present && !l.overruled {
				r.fault("the buffer of %s is gone, and with it %s", name, line)
			}
		}
		r.all(name, (*userFile).reloaded)
	}
	for name, buf := range is {
		if r.files[name] == nil {
			r.fault("there is a buffer %s", name)
			continue
		}
		r.buffers[name] = buf.(int)
	}
}

// isUnsaved reports whether a buffer has other lines than the disk.
func (r *whoseRound) isUnsaved(name string) bool {
	r.T.Helper()
	text, disk := r.texts(name)
	return !slices.Equal(text, disk)
}

// pause is the time between two things that happen: none, some, or until the host has seen all.
func (r *whoseRound) pause() {
	r.T.Helper()
	switch n := r.IntN(6); n {
	case 0:
		r.did("  (all is seen)")
		r.Sync()
	case 1, 2:
		d := time.Duration(r.IntN(90)) * time.Millisecond
		r.did("  (%v)", d)
		time.Sleep(d) // chance, nothing is waited for
	}
}

// texts are the lines that the user sees, and those that the disk has.
func (r *whoseRound) texts(name string) (sees, disk []string) {
	r.T.Helper()
	_, disk = decode(r.data(name))
	if r.loaded(name) {
		return r.shown(name), disk
	}
	return disk, disk
}

// less are the lines of a text that another has not.
func less(text, other []string) []string {
	has := setOf(other)
	return slices.DeleteFunc(slices.Clone(text), func(line string) bool { return has[line] })
}

// sets sets how the user's Neovim writes files: by a rename or in place, and whether it ends the last line.
func (r *whoseRound) sets() {
	r.T.Helper()
	random := rand.New(rand.NewPCG(*seed, ^uint64(r.nth))) // of its own, so that the rest is as without
	options := "backupcopy=auto writebackup fixendofline"
	if r.may("options") {
		options = fmt.Sprintf("backupcopy=%s %swritebackup %sfixendofline",
			[]string{"auto", "yes", "no"}[random.IntN(3)], []string{"", "no"}[random.IntN(2)], []string{"", "", "no"}[random.IntN(3)])
		r.did("user sets %s", options)
	}
	r.Command("set " + options)
}

func (r *whoseRound) begin() {
	r.T.Helper()
	r.sets()
	must.Do(r.T, os.Mkdir(r.path(""), 0o755))
	for i := range 1 + r.IntN(1+min(2, *whoseMost/3)) {
		name := fmt.Sprintf("f%d.txt", i)
		lines := r.linesOf("f", []int{0, 1, 4, 8, 30}[r.IntN(5)])
		f := form{encoding: "utf-8"}
		switch r.IntN(10) {
		case 0:
			f.crlf = true
		case 1:
			f.bom = true
		case 2:
			f.unfinished = true
		case 3:
			f = form{encoding: "utf-16", bom: true}
		case 4:
			f.encoding = "latin1"
			for i := range lines {
				lines[i] += "ü"
			}
		}
		if len(lines) == 0 || !r.may("form") {
			f = form{encoding: "utf-8"}
		}
		mode := []os.FileMode{0o644, 0o644, 0o755, 0o600}[r.IntN(4)]
		u := newUserFile(lines, f, mode)
		if !r.may("modes") {
			u.mode = 0
		}
		r.newFile(name, u)
		must.Do(r.T, os.WriteFile(r.path(name), f.encode(lines), mode))
		must.Do(r.T, os.Chmod(r.path(name), mode))
		r.did("%s %o %+v: %v", name, mode, f, lines)
		if r.IntN(3) > 0 {
			r.did("  is open")
			r.open(name)
			r.AwaitLua(`vim.bo[...].autoread == false`, r.buffers[name])
		}
	}
	if r.IntN(2) == 0 {
		r.Command("enew")
	}
}

func (r *whoseRound) play() {
	r.T.Helper()
	r.begin()
	few := 1 + min(2, *whoseMost/2)
	for range r.IntN(few) {
		r.userMoves()
		r.stopTyping()
	}
	for i := range 1 + r.IntN(few)/2 {
		if i > 0 && !r.may("turns") {
			break
		}
		r.turn()
		for range r.IntN(few) {
			if r.IntN(4) == 0 && r.may("outside") {
				r.userWorksElsewhere()
			} else {
				r.userMoves()
			}
			r.stopTyping()
		}
	}
	r.Sync()
	r.check(standing)
	r.end()
}

func (r *whoseRound) turn() {
	r.T.Helper()
	r.did("turn %d%s", r.turns+1, map[bool]string{true: ", review before"}[r.before])
	r.turns++
	for name, f := range r.files {
		u := f.refused.clone()
		r.adopt(name, u)
		follows := r.loaded(name) && r.Value(`vim.bo[...].modified`, r.buffers[name]) == false
		for line, is := range u.lines { // what another program of theirs has written reaches the buffer later
			if l := f.refused.lines[line]; l != nil && l.buffer == either && is.buffer != is.disk {
				is.buffer, is.disk = either, either
			}
			if is.buffer != is.disk && follows { // also where their undo has left nothing unsaved
				is.buffer = either
			}
		}
		f.undone = append(f.undone, u)
	}
	if r.IntN(4) > 0 || !r.may("at-once") {
		time.Sleep(50 * time.Millisecond) // chance: mostly the files are older than their times are coarse
	} else {
		r.did("  (at once)")
	}
	turn := r.Prompt(r.agent, r.promptOf(r.turns))
	r.inTurn = true
	for range 1 + r.IntN(*whoseMost) {
		r.pause()
		if r.IntN(5) < 2 && r.typing == "" {
			r.userMoves()
		} else {
			r.savesAll()
			r.agentMoves()
		}
		if r.IntN(3) == 0 {
			r.stopTyping()
		}
	}
	if r.IntN(*strikes) == 0 && r.may("strikes") {
		r.strikes()
	} else {
		r.Sync()
		rest := r.LuaInt(`require('acp').sessions()[1].queued`) // prompts for what was kept of requests
		r.agent.EndTurn(turn)
		for range rest {
			turn, _ = r.agent.Prompted()
			r.agent.EndTurn(turn)
		}
	}
	r.inTurn = false
	r.did("turn is over")
	r.stopTyping()
	r.Sync()
	r.check(standing)
}

// end decides about all, or undoes the turn.
func (r *whoseRound) end() {
	r.T.Helper()
	r.savesAll()
	switch n := r.IntN(5); {
	case n < 2, n > 2 && !r.may("undo"):
		r.refuses()
	case n < 3:
		was := r.there()
		r.did("keep all")
		r.OK(`require('acp').keep({})`)
		r.Sync()
		r.same(was, nil)
		r.settled()
	default:
		was, unsaved := r.there(), map[string]bool{} // which stays, or is no more
		notes := func() {
			for name := range r.buffers {
				unsaved[name] = unsaved[name] || r.isUnsaved(name)
			}
		}
		notes()
		if r.undo = r.undoable(); r.undo == 0 {
			r.refuses()
			return
		}
		r.undoes(false)
		r.check(undone)
		switch r.IntN(3) {
		case 0:
			if r.may("again") {
				notes()
				r.undoes(true)
				for name := range r.files { // what is left alone at one path of a file is so at the others
					for other, f := range r.files {
						unsaved[name] = unsaved[name] || r.leftAlone && unsaved[other] && f.kin == r.files[name].kin
					}
				}
				r.same(was, unsaved)
			}
		case 1:
			for _, f := range r.files {
				f.refused = f.refused.or(f.undone[r.undo-1])
			}
			r.refuses()
		}
	}
}

// promptOf is the text of the n-th turn's prompt.
func (r *whoseRound) promptOf(n int) string { return fmt.Sprintf("turn %d of %s", n, r.dir) }

// undoable is the turn that can be undone, 0 for none: where nothing has changed in a turn it is an earlier one.
func (r *whoseRound) undoable() int {
	r.T.Helper()
	r.Lua(nil, `_G.undoable = nil
		require('acp.rpc.host').request('undo', { session = require('acp.rpc.state').resolve(), again = false, preview = true }, function(result)
			_G.undoable = result and result.prompt or 'none'
		end)`)
	r.AwaitLua(`_G.undoable`)
	prompt := r.LuaString(`_G.undoable`)
	for n := range r.turns {
		if r.promptOf(n+1) == prompt {
			return n + 1
		}
	}
	r.did("what can be undone is %s", prompt)
	return 0
}

func (r *whoseRound) undoes(again bool) {
	r.T.Helper()
	r.did("undo turn %d, again: %v", r.undo, again)
	told := len(r.Notifications())
	r.OK(`require('acp').undo_turn({ again = ... })`, again)
	r.Sync()
	r.leftAlone = strings.Contains(r.Notifications()[told:], "left alone")
}

func (r *whoseRound) refuses() {
	r.T.Helper()
	r.did("refuse all")
	for _, f := range r.changed() {
		r.did("  %v %v %v", f["status"], r.Rel(f["path"]), f["hunks"])
	}
	told := len(r.Notifications())
	r.OK(`require('acp').reject({})`)
	r.Sync()
	cannot := func(name, why string) bool {
		return strings.Contains(r.Notifications()[told:], fmt.Sprintf("%s/%s: %s", r.dir, name, why))
	}
	r.staying = map[string]bool{}
	stay := func(names ...string) {
		for _, name := range names {
			r.staying[name] = true
		}
	}
	for name := range r.files {
		for other, f := range r.files {
			if f.kin == r.files[name].kin && (f.refused.opaque || f.refused.bytes || bytes.ContainsRune(r.data(name), 0)) && cannot(name, "you have changed it too, and a file that is not text") {
				for at, f := range r.files { // wherever it had been
					if f.kin == r.files[name].kin {
						stay(at)
					}
				}
			}
			_, has := decode(r.data(other))
			users := f.refused.exists == present && f.refused.remade || slices.ContainsFunc(has, func(line string) bool {
				return line[0] == 'u' || line[0] == 'a' && f.refused.lines[line] != nil // which they have accepted
			})
			if users && cannot(name, fmt.Sprintf("it cannot go back to %s/%s,", r.dir, other)) {
				stay(name, other)
			}
		}
	}
	r.check(refused)
	r.settled()
}

// check compares buffers and disk with what the user has.
func (r *whoseRound) check(when whoseMoment) {
	r.T.Helper()
	r.looksAtBuffers()
	texts := map[string][]string{} // of buffers and disk, by name
	for name := range r.files {
		_, texts[name] = decode(r.data(name))
		if r.loaded(name) {
			texts[name] = append(texts[name], r.shown(name)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		f := r.files[name]
		u := f.refused
		if when == refused && r.staying[name] {
			continue
		}
		if when == undone {
			u = f.undone[r.undo-1]
			noText := func(f *whoseFile) bool { return f.undone[r.undo-1].opaque || f.undone[r.undo-1].bytes }
			if r.leftAlone && (noText(f) || slices.ContainsFunc(r.kin(name), noText)) {
				continue
			}
		}
		kin, moved, remade := map[string]bool{}, false, false
		for other, text := range texts {
			if other == name || r.files[other].kin != f.kin {
				continue
			}
			moved, remade = true, remade || r.files[other].refused.remade || r.data(other) != nil
			for line := range r.files[other].refused.lines {
				kin[line] = kin[line] || line[0] != 'f' // also what they have accepted
			}
			for _, line := range text {
				kin[line] = kin[line] || line[0] == 'u'
			}
		}
		if moved && u.exists != present && remade {
			u = u.clone()
			u.exists = either // it cannot go back
			for _, f := range r.kin(name) {
				for line := range f.refused.lines {
					if u.lines[line] == nil {
						u.lines[line] = &userLine{buffer: either, disk: either}
					}
				}
			}
		}
		if moved && u.exists == present && !slices.ContainsFunc(slices.Collect(maps.Keys(u.lines)), func(l string) bool { return l[0] == 'f' }) {
			u = u.clone()
			u.exists = either // the user has saved what the agent had moved here
		}
		if u.exists == present && r.data(name) == nil && slices.ContainsFunc(slices.Collect(maps.Keys(texts)), func(other string) bool {
			return other != name && r.files[other].kin == f.kin && u.isAllIn(texts[other])
		}) {
			u = u.clone()
			u.exists = either // it has gone back, by whatever name the user had called it
		}
		if moved { // what the user has taken out there may be out here
			u = u.clone()
			for _, f := range r.kin(name) {
				for line, l := range f.refused.lines {
					if l.buffer == absent {
						u.unsureOf(line)
					}
				}
				for line := range f.refused.takenOut {
					u.unsureOf(line)
				}
			}
		}
		if r.loaded(name) {
			text := r.shown(name)
			w := when
			if u.exists != present {
				w = standing // the buffer of a file that is not there stays
			}
			for _, fault := range u.wrong(text, false, w, kin) {
				r.fault("buffer of %s: %s: %v", name, fault, text)
			}
		}
		if when == standing {
			continue
		}
		data := r.data(name)
		saved := maps.Clone(kin)
		maps.DeleteFunc(saved, func(line string, _ bool) bool { return r.neverSaved(line) })
		for _, fault := range u.wrongFile(data, r.modeOf(name), r.loaded(name) && r.isUnsaved(name), when, saved) {
			r.fault("disk of %s: %s: %q", name, fault, data)
		}
	}
	if when == standing {
		return
	}
	entries, err := os.ReadDir(r.path(""))
	if err != nil && !os.IsNotExist(err) {
		r.T.Fatal(err)
	}
	for _, e := range entries {
		if r.files[e.Name()] == nil {
			r.fault("there is %s", e.Name())
		}
	}
}

// neverSaved tells of a line of the user's that it is in no file of theirs, but in buffers alone.
func (r *whoseRound) neverSaved(line string) bool {
	typed := false
	for _, f := range r.files {
		if l := f.refused.lines[line]; l != nil {
			if l.disk != absent {
				return false
			}
			typed = typed || l.buffer == present
		}
	}
	return typed && line[0] == 'u'
}

// there is what there is, in words.
func (r *whoseRound) there() map[string]string {
	r.T.Helper()
	r.looksAtBuffers()
	is := map[string]string{}
	for name := range r.files {
		if data := r.data(name); data != nil {
			is[name] = fmt.Sprintf("%o %q", r.modeOf(name), data)
		}
		if r.loaded(name) {
			is["buffer of "+name] = fmt.Sprint(r.shown(name))
		}
	}
	return is
}

// same tells what is not as it was, but for some files.
func (r *whoseRound) same(was map[string]string, but map[string]bool) {
	r.T.Helper()
	is := r.there()
	names := slices.Collect(maps.Keys(was))
	for name := range is {
		if _, known := was[name]; !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		_, there := is[name]
		file, ofBuffer := strings.CutPrefix(name, "buffer of ")
		// A hidden one of no file, or of nothing, or of what the disk has.
		wiped := ofBuffer && !there && (was[file] == "" || was[name] == "[]" || was[file] == is[file])
		gone := ofBuffer && was[file] == "" && is[file] == "" // what its buffer has is of no file
		if is[name] != was[name] && !wiped && !gone && !but[file] {
			r.fault("%s is %q, and was %q", name, is[name], was[name])
		}
	}
}

// settled looks whether something waits for a decision. What Lua knows comes a frame after what has been decided.
func (r *whoseRound) settled() {
	r.T.Helper()
	var waits []string
	for end := time.Now().Add(3 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		waits = nil
		for _, f := range r.changed() {
			hunks, _ := f["hunks"].([]any)
			for _, h := range hunks {
				if isPending(h) && !r.staying[strings.TrimPrefix(r.Rel(f["path"]), r.dir+"/")] {
					waits = append(waits, fmt.Sprintf("%s still waits: %v", r.Rel(f["path"]), h))
				}
			}
		}
		if waits == nil || time.Now().After(end) {
			break
		}
	}
	r.faults = append(r.faults, waits...)
}

// clear leaves nothing of the round to the next one.
func (r *whoseRound) clear() {
	r.T.Helper()
	for name := range maps.Clone(r.buffers) {
		r.userCloses(name)
	}
	r.OK(`require('acp').keep({})`)
	if err := os.RemoveAll(r.path("")); err != nil {
		left, _ := os.ReadDir(r.path(""))
		r.T.Fatalf("%v: there is %v", err, left)
	}
	r.Sync()
}
