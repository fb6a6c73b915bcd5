package ledger

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/host/turns"
)

// This file takes up turns whose host was killed. While a turn runs, the ledger saves what the files were when it
// began; the host that takes the session up looks at them as at the end of a turn.

const (
	// beat is how often the ledger notes that a turn still runs: what has changed later is the user's.
	beat = time.Second
	// maxKept is how many files are saved as they were.
	maxKept = 20_000
)

// openTurn is a running turn as saved.
type openTurn struct {
	Prompt string
	At     time.Time
	First  []byte // its first snapshot
}

// openKey is the store's key of a session's running turn.
func openKey(session string) string { return "turn\n" + session }

// writeDown notes that a turn runs, again and again until it is over.
func (l *Ledger) writeDown(t *turn) {
	key := l.keep.key()
	if t.over || l.turn != t || key == "" || t.first == nil || t.first.Len() > maxKept {
		return
	}
	if t.noted != key || l.config.Store.Renew(openKey(key)) != nil {
		switch err := l.saveOpen(t, key); {
		case err == nil:
			t.noted, t.unnoted = key, false
			l.saveSoon()
		case !t.unnoted:
			t.unnoted = true
			l.config.Log.Warn("note that a turn runs", "err", err)
		}
	}
	time.AfterFunc(beat, func() { l.box.Put(func() { l.writeDown(t) }) })
}

func (l *Ledger) saveOpen(t *turn, key string) error {
	first, err := t.first.Encode()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(openTurn{t.Prompt, t.At, first}); err != nil {
		return err
	}
	return l.config.Store.Save(openKey(key), "", b.Bytes())
}

// running returns what to save of a turn while it runs, so that it survives the host being killed; nil if none runs, or
// nothing was seen in it.
func (l *Ledger) running() *saved.Running {
	t := l.turn
	if t == nil || t.over {
		return nil
	}
	shown := slices.DeleteFunc(keys(l.loaded), func(path string) bool { return !l.loaded[path] })
	spots := map[string][]saved.Spot{}
	for file, path := range t.at {
		spots[path] = append(spots[path], saved.Spot(file))
	}
	paths := slices.Concat(keys(t.seen), keys(t.disk), keys(t.gone), keys(t.saved), keys(t.copies), keys(t.renamed), keys(spots), shown, l.record.Paths())
	if len(paths) == 0 {
		return nil
	}
	r := &saved.Running{At: t.At, Turn: t.State()}
	in := func(of map[string]review.Content, path string) *review.Content {
		if is, ok := of[path]; ok {
			return &is
		}
		return nil
	}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		slices.SortFunc(spots[path], func(a, b saved.Spot) int { return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Made, b.Made)) })
		r.Marks = append(r.Marks, saved.Mark{
			Path: path, Seen: in(t.seen, path), Disk: in(t.disk, path), Gone: in(t.gone, path), Shown: l.loaded[path],
			Saved: t.saved[path], Renamed: t.renamed[path], Copy: t.copies[path], Guessed: t.guessed[path], Spots: spots[path],
		})
	}
	return r
}

func keys[V any](of map[string]V) []string { return slices.Collect(maps.Keys(of)) }

// resume returns a turn that ran when the last host ended, as far as it was saved; shown has the paths that buffers
// showed. over reports whether all of it was known.
func (l *Ledger) resume(was openTurn, first *checkpoint.Snapshot, running *saved.Running) (t *turn, shown map[string]bool, over bool) {
	t, shown = newTurn(was.Prompt, was.At), map[string]bool{}
	t.first, t.noted, t.asked = first, l.keep.key(), true
	at := slices.IndexFunc(l.history.Turns, func(h *turns.Turn) bool { return h.At.Equal(was.At) })
	if running == nil || !running.At.Equal(was.At) {
		return t, shown, at >= 0
	}
	if at >= 0 {
		l.history.Turns = slices.Delete(slices.Clone(l.history.Turns), at, at+1)
	}
	t.Turn = turns.Resume(was.Prompt, was.At, running.Turn)
	put := func(in map[string]review.Content, path string, is *review.Content) {
		if is != nil {
			in[path] = *is
		}
	}
	mark := func(in map[string]bool, path string, is bool) {
		if is {
			in[path] = true
		}
	}
	for _, m := range running.Marks {
		put(t.seen, m.Path, m.Seen)
		put(t.disk, m.Path, m.Disk)
		if put(t.gone, m.Path, m.Gone); m.Gone != nil {
			l.record.Gone(m.Path)
			t.WasGone(m.Path)
		}
		mark(shown, m.Path, m.Shown)
		mark(t.saved, m.Path, m.Saved)
		mark(t.copies, m.Path, m.Copy)
		mark(t.guessed, m.Path, m.Guessed)
		if m.Renamed != "" {
			t.renamed[m.Path] = m.Renamed
		}
		for _, s := range m.Spots {
			t.at[buffers.Identity(s)] = m.Path
		}
	}
	return t, shown, false
}

// crossOut notes that a turn is over and completely saved.
func (l *Ledger) crossOut(t *turn) {
	if t == nil || t.noted == "" {
		return
	}
	if err := l.config.Store.Remove(openKey(t.noted)); err != nil {
		l.config.Log.Warn("note that a turn is over", "err", err)
	}
	t.noted = ""
}

// unsavedToSave returns what is known of files with unsaved text, for the host that takes the session up.
func (l *Ledger) unsavedToSave() (list []saved.Unsaved) {
	paths := slices.Concat(keys(l.inStep), keys(l.behind))
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		to := saved.Unsaved{Path: path}
		if s, noted := l.inStep[path]; noted {
			to.Noted, to.Record = true, s.record
			for t, was := range s.turns {
				if t.At.After(to.At) { // another one may have begun since
					to.At, to.Turn, to.InTurn = t.At, was, true
				}
			}
		}
		for _, b := range l.behind[path] {
			one := saved.Behind{Was: b.was, Before: b.before, Fresh: b.fresh, Is: b.is, Conflicts: b.conflicts, Kept: b.kept}
			if b.turn != nil {
				one.At = b.turn.At
			}
			to.Behind = append(to.Behind, one)
		}
		list = append(list, to)
	}
	return list
}

// takenToSave returns what files get back that were taken away under buffers, for the host that takes the session up.
func (l *Ledger) takenToSave() (list []saved.Taken) {
	save := func(r returning) saved.Returning {
		return saved.Returning{Disk: r.disk, Had: r.had, Lost: r.buffer == nil, Anew: r.anew}
	}
	for _, path := range slices.Sorted(maps.Keys(l.taken)) {
		is := l.taken[path]
		list = append(list, saved.Taken{Path: path, From: is.path, At: is.turn.At, All: save(is.all), Its: save(is.its)})
	}
	return list
}

// takeUpTaken takes up what files get back of which buffers still have something; began finds a turn.
func (l *Ledger) takeUpTaken(was []saved.Taken, began func(time.Time) *turn) {
	w := l.config.Watch()
	for _, is := range was {
		of := began(is.At)
		if of == nil || w == nil || !slices.Contains(w.Loaded(), is.From) {
			continue
		}
		back := func(r saved.Returning) returning {
			b := returning{disk: r.Disk, had: r.Had, anew: r.Anew}
			if !r.Lost {
				b.buffer = withoutAgents(is.From, r.Had)
			}
			return b
		}
		l.taken[is.Path] = taken{path: is.From, all: back(is.All), its: back(is.Its), turn: of.Turn}
	}
}

// takeUpUnsaved takes up what was known of files with unsaved text, then calls done; t is the turn that ran, or nil. If
// Neovim was killed too, that text is gone.
func (l *Ledger) takeUpUnsaved(t *turn, was saved.Session, done func()) {
	over := map[*turns.Turn]*turn{} // that an earlier host had ended
	began := func(at time.Time) *turn {
		if t != nil && t.At.Equal(at) {
			return t
		}
		i := slices.IndexFunc(l.history.Turns, func(h *turns.Turn) bool { return h.At.Equal(at) })
		if i < 0 {
			return nil
		}
		h := l.history.Turns[i]
		if over[h] == nil {
			h.Reopen()
			over[h] = newTurn(h.Prompt, h.At)
			over[h].Turn, over[h].over = h, true
		}
		return over[h]
	}
	l.takeUpTaken(was.Taken, began)
	for _, u := range was.Unsaved {
		if u.Noted {
			l.inStep[u.Path] = inStep{u.Record, map[*turns.Turn]review.Image{}}
		}
		if of := began(u.At); u.InTurn && of != nil {
			l.inStep[u.Path].turns[of.Turn] = u.Turn
		}
		for _, b := range u.Behind {
			one := behind{was: b.Was, before: b.Before, fresh: b.Fresh, is: b.Is, conflicts: b.Conflicts, kept: b.Kept, turn: began(b.At)}
			l.isBehind(u.Path, append(l.behind[u.Path], one))
		}
	}
	paths := make([]string, len(was.Unsaved))
	for i, u := range was.Unsaved {
		paths[i] = u.Path
	}
	l.seeAll(paths, func(now []fileState) {
		for _, seen := range now {
			if seen.path != "" && !seen.loaded {
				l.unsavedDied(t, seen)
			}
		}
		for _, of := range over {
			l.take(of)
		}
		done()
	})
}

// unsavedDied says that a file's unsaved text is gone with its Neovim; t is the turn that ran, or nil.
func (l *Ledger) unsavedDied(t *turn, now fileState) {
	if t == nil {
		l.unsavedGone(now, false)
		return
	}
	list := l.behind[now.path]
	if len(list) > 0 && !now.Exists {
		now.Content = list[len(list)-1].is // before it was taken away, which the look at the folders tells
	}
	came := len(list) > 0
	if came {
		if last := list[len(list)-1]; (last.turn != t || last.kept) && last.is != now.Content { // what the disk has got since is the turn's
			l.behind[now.path] = append(list, behind{turn: t, was: last.is, before: last.is, is: now.Content})
		}
	}
	had, told := t.disk[now.path]
	if told && had.SameText(now.Content) && had.SameText(t.seen[now.path]) {
		l.nothingUnsaved(now.path) // the disk has it all
		return
	}
	switch l.unsavedGone(now, false); {
	case came:
		t.seen[now.path], t.disk[now.path] = now.Content, now.Content
	case told:
		had.Mode = cmp.Or(had.Mode, t.seen[now.path].Mode)
		t.seen[now.path] = had
	default:
		l.asItBegan(t, now)
	}
}

// takeUpTurn records what was changed by the turn that ran when the session's last host ended, then calls done. What
// was undone or saved of it before counts.
func (l *Ledger) takeUpTurn(late saved.Session, done func()) {
	key := openKey(l.keep.key())
	data, err := l.config.Store.Load(key)
	if err != nil {
		l.takeUpUnsaved(nil, late, done) // there was none
		return
	}
	var was openTurn
	var first *checkpoint.Snapshot
	ended, err := l.config.Store.SavedAt(key)
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(data)).Decode(&was)
	}
	if err == nil {
		first, err = checkpoint.DecodeSnapshot(was.First)
	}
	if err != nil {
		l.config.Log.Warn("take up the turn that ran", "err", err)
		l.takeUpUnsaved(nil, late, done)
		return
	}
	t, shown, over := l.resume(was, first, late.Running)
	if over {
		l.crossOut(t)
		l.takeUpUnsaved(nil, late, done)
		return
	}
	l.interrupted = t
	for _, path := range slices.Concat(keys(t.disk), keys(shown)) {
		if is, told := l.wasOnDisk(t, path); told {
			l.wasInStep(path, is)
		}
	}
	ended = ended.Add(beat)
	as := func(now fileState) fileState { return l.sinceKilled(t, now, shown[now.path], ended) }
	look := func(after *checkpoint.Snapshot) {
		d := l.doubtful(t, after, ended)
		inBuffers := slices.DeleteFunc(slices.Concat(d.together, d.others), func(path string) bool { return !shown[path] })
		l.finish(inBuffers, func() {
			l.accountDoubt(t, d, as, func() {
				if l.interrupted = nil; l.turn == nil { // else another one has begun
					l.turn = t
				}
				l.take(t)
				l.save()
				l.whenSaved(func() { l.crossOut(t) })
				done()
			})
		})
	}
	l.catchUp(func() { l.takeUpUnsaved(t, late, func() { l.scans.scan(look) }) })
}

// sinceKilled returns a file whose turn is taken up as it should be judged: by what the disk has, as nobody saw what a
// buffer did meanwhile. shown says that one showed it.
func (l *Ledger) sinceKilled(t *turn, now fileState, shown bool, ended time.Time) fileState {
	if had, followed := l.followed[now.path]; followed && t.isCopy(now) { // the user had written that by then
		had.Mode = now.Mode
		t.seen[now.path], t.disk[now.path] = had, had
	}
	if was, _ := l.known(t, now); now.saved && was.Mode != 0 && was.Mode != now.Mode { // the agent's doing
		users := now.Content
		users.Mode = was.Mode
		l.userNow(now.path, users)
		l.agentChanged(t, now.path, users, now.Content)
	}
	if now.saved || now.Exists && now.since.After(ended.Add(Coarse)) { // it is as the user has written it, after that perhaps
		disk := now.Content
		if is := onDisk(now.path); now.saved && now.unsaved && isText(is) { // they have typed since
			disk.Text = is.Text
			l.nothingUnsaved(now.path)
			l.userNow(now.path, disk)
			l.noteUnsaved(t, now.path)
		}
		t.seen[now.path], t.disk[now.path] = now.Content, disk
		l.userNow(now.path, now.Content)
		return fileState{}
	}
	shows, inBuffer := now.Content, now.loaded
	if now.loaded {
		now.loaded, now.Content = false, onDisk(now.path)
	}
	if !shown {
		return now // it was last seen as the disk had it
	}
	had, told := l.wasOnDisk(t, now.path)
	if !told {
		return now
	}
	was, seen := t.seen[now.path]
	if had.Exists {
		had.Mode = cmp.Or(was.Mode, had.Mode, now.Mode)
	}
	switch {
	case had.Mark() != now.Mark() && inBuffer && isText(had) && isText(now.Content) && isText(shows):
		l.inLivingBuffer(t, now, had, shows)
	case had.Mark() != now.Mark():
		if had.Exists {
			t.seen[now.path] = had
			l.userNow(now.path, had)
		}
		return now
	case !inBuffer && seen:
		t.seen[now.path] = now.Content
		l.userNow(now.path, now.Content)
	case now.unsaved:
		l.noteUnsaved(t, now.path)
	}
	return fileState{} // the rest is in a buffer
}

// wasOnDisk returns what the disk had when a buffer was last told of it in a turn that was killed, or else when that began.
func (l *Ledger) wasOnDisk(t *turn, path string) (review.Content, bool) {
	if had, told := t.disk[path]; told {
		return had, true
	}
	return l.originals.content(t.first.State(path))
}

// inLivingBuffer records a change by the agent from what the disk had, which a buffer may have taken over: of a Neovim
// that lives on, with the user's text in it.
func (l *Ledger) inLivingBuffer(t *turn, now fileState, had, shows review.Content) {
	was, is := had, now.Content
	is.Text = shows.Text
	was.Text = shows.Text
	if now.unsaved {
		l.noteUnsaved(t, now.path)
		l.modeUnder(t, now.path, had.Mode, now.Mode)
	}
	all, conflicts := buffers.Merge(had.Text, shows.Text, now.Text)
	took, has := tookIn(had.Text, now.Text, shows.Text)
	if all == shows.Text && len(conflicts) == 0 {
		took, has = now.Text, true
	}
	if now.overtaken == nil {
		was.Text, _ = buffers.Withdraw(took, shows.Text, had.Text)
	} else { // also of lines that the user and the agent have changed alike
		then, conflicts := buffers.Merge(had.Text, *now.overtaken, now.Text)
		if len(conflicts) > 0 { // not where the agent had read what was unsaved
			then = now.Text
		}
		was.Text, _ = buffers.Withdraw(then, shows.Text, *now.overtaken)
	}
	l.agentChanged(t, now.path, was, is)
	t.seen[now.path], t.disk[now.path] = is, now.Content
	l.named.Store(now.path, true)
	if list := l.behind[now.path]; len(list) > 0 && isText(list[len(list)-1].is) {
		had = list[len(list)-1].is // of which the buffer may have taken nothing
	}
	if is.Text != now.Text && !had.SameText(now.Content) {
		l.cameUnder(t, buffers.Written{Path: now.path, FormBefore: had.Form, Behind: &had.Text, Conflict: !has}, now.Content, false)
	}
}

// tookIn returns had with what a buffer has taken in of what the disk has become since: those changes of which it has all
// lines that were added, and none that were removed there. all says that it has all, also those that only remove lines.
func tookIn(had, is, shows string) (took string, all bool) {
	old, now, mine := linediff.Lines(had), linediff.Lines(is), linediff.Lines(shows)
	lacks, typed := make([]bool, len(now)), map[string]bool{}
	for _, e := range linediff.Compare(now, mine) {
		for i := e.A0; i < e.A1; i++ {
			lacks[i] = true
		}
		for _, line := range mine[e.B0:e.B1] {
			typed[line] = true
		}
	}
	var lines []string
	at := 0
	all = true
	for _, e := range linediff.Compare(old, now) {
		gone, came := old[e.A0:e.A1], now[e.B0:e.B1]
		has := !slices.Contains(lacks[e.B0:e.B1], true) && !slices.ContainsFunc(gone, func(line string) bool { return typed[line] })
		if all = all && has; has && len(came) > 0 {
			lines, at = append(append(lines, old[at:e.A0]...), came...), e.A1
		}
	}
	if all {
		return is, true
	}
	return strings.Join(append(lines, old[at:]...), ""), false
}

// isText reports whether a file exists and its text is known.
func isText(is review.Content) bool { return is.Exists && !is.Opaque }
