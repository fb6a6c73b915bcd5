package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/checkpoint"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/host/turns"
	"github.com/acp-nvim/acp-nvim/test/must"
)

const plain = review.Plain

// world is a folder with an agent and a user, and a ledger that keeps books about both. Buffers are such of a
// simple editor, which is always in step with the disk when it is asked.
type world struct {
	t      testing.TB
	dir    string
	store  *checkpoint.Store
	ledger *Ledger        // of the session whose agent acts
	mu     sync.Mutex     // in the place of the sessions' goroutines
	looks  sync.WaitGroup // at the folders, and the ledgers

	disk      sync.Mutex // guards what follows
	sessions  []*Ledger
	events    []Event
	bufs      map[string]*buffer
	inStep    map[string]string       // what a new host was told that buffers were in step with
	blind     map[string]bool         // paths that cannot be looked at
	tracks    chan struct{}           // is closed when Neovim has told what its buffers show; nil for at once
	idle      bool                    // no agent has worked for this host yet: what the disk has is the user's doing
	feigned   bool                    // ledgers are told of buffers that are not there
	conflict  bool                    // of the agent's lines with such of the user's that are not saved
	hold      chan struct{}           // no look at the folders begins before it is closed; nil for at once
	meanwhile func(what, path string) // is called before each "look", "edit" and "restore", and after an edit, "edited"
}

// buffer is a file as an editor shows it.
type buffer struct {
	text, form string
	overtaken  *string           // what it had before it took over what the disk has, when the host died
	synced     string            // what the disk had when both were last in step
	told       string            // the text of which the ledger was told last
	gone       bool              // that there was no file any more was told
	writes     string            // the last form that the file had with a text in it
	modified   bool              // the user has typed, and taken that back
	written    buffers.DiskState // what the user has written last
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	w := &world{t: t, dir: filepath.Join(dir, "project"), bufs: map[string]*buffer{}, inStep: map[string]string{}, blind: map[string]bool{}}
	must.Do(t, os.Mkdir(w.dir, 0o755))
	w.store = checkpoint.Open(filepath.Join(dir, "store"))
	w.open()
	t.Cleanup(func() {
		for _, l := range w.sessions {
			l.box.Put(func() { w.sound(l) })
			l.box.Close()
		}
		w.looks.Wait()
	})
	return w
}

// open opens another session in the folder, whose agent acts from now on. Its surroundings can be others.
func (w *world) open(others ...func(*Config)) *Ledger {
	var l *Ledger
	rest := func() []*Ledger {
		w.disk.Lock()
		defer w.disk.Unlock()
		return slices.DeleteFunc(slices.Clone(w.sessions), func(other *Ledger) bool { return other == l })
	}
	config := Config{
		Roots:    []string{w.dir},
		Inside:   func(path string) bool { return strings.HasPrefix(path, w.dir+"/") },
		Absolute: func(name string) (string, bool) { return session.Absolute(name, w.dir, filepath.Dir(w.dir)) },
		Short:    filepath.Base,
		Watch:    func() Watch { return w },
		Files:    w,
		Store:    w.store,
		Saves:    saves{w.store},
		Claimed: func(path string) bool {
			return slices.ContainsFunc(rest(), func(other *Ledger) bool { return other.Names(path) })
		},
		Others: func(path string, is review.Content) {
			for _, other := range rest() {
				other.Elsewhere(path, is)
			}
		},
		Put: func(f func()) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			f()
			return true
		},
		Hurry: func() {},
		Lacks: func(Lack) {},
		Changed: func(_ []review.File, _ []int, events []Event) {
			w.disk.Lock()
			defer w.disk.Unlock()
			w.events = append(w.events, events...)
		},
		Background: func(look func()) {
			w.disk.Lock()
			hold := w.hold
			w.disk.Unlock()
			w.looks.Go(func() {
				if hold != nil {
					<-hold
				}
				look()
			})
		},
		Over: w.t.Context(),
		Log:  slog.New(slog.DiscardHandler),
	}
	for _, change := range others {
		change(&config)
	}
	l = New(config)
	w.disk.Lock()
	w.sessions = append(w.sessions, l)
	w.disk.Unlock()
	w.ledger = l
	w.looks.Go(l.Run)
	return l
}

// sound checks what holds of a ledger whenever nothing is going on: it runs on its goroutine.
func (w *world) sound(l *Ledger) {
	if len(l.jobs) > 0 || l.scans.running || l.resuming {
		return
	}
	if l.scans.latest != nil && l.scans.release == nil {
		w.t.Error("the folders are not watched")
	}
	if len(l.scans.early)+len(l.scans.then) > 0 {
		w.t.Error("something waits for a look at the folders that nobody takes")
	}
	for path := range l.applies {
		w.t.Errorf("a decision about %s is never over", path)
	}
	if image, err := saved.Take(l.toSave(), l.keep.image); l.config.Store != nil && l.keep.key() != "" && !l.keep.due && !l.empty() && (err != nil || !image.Is(l.keep.image)) {
		w.t.Errorf("what there is now is not saved (%v)", err)
	}
	w.disk.Lock()
	defer w.disk.Unlock()
	if w.feigned {
		return
	}
	for path, is := range l.loaded {
		if is != (w.bufs[path] != nil) {
			w.t.Errorf("%s is taken for loaded: %v", path, is)
		}
	}
	for _, path := range slices.Concat(keys(l.inStep), keys(l.behind)) {
		if b := w.bufs[path]; b == nil || b.text == b.synced && b.text == b.told {
			w.t.Errorf("%s is taken for one with unsaved text", path)
		}
	}
	for path, list := range l.behind {
		if len(list) == 0 {
			w.t.Errorf("%s is taken for one with something under that", path)
		}
	}
	if t := l.turn; t != nil && !t.over {
		for path, was := range t.gone {
			if t.seen[path].Exists || !was.Exists {
				w.t.Errorf("%s is taken for gone", path)
			}
		}
		for path, is := range t.disk {
			if b := w.bufs[path]; b != nil && !b.gone && !is.Opaque && is.Text != buffers.Lined(b.synced) {
				w.t.Errorf("the disk is taken to have %q in %s", is.Text, path)
			}
		}
	}
}

// saves saves sessions at once.
type saves struct{ store *checkpoint.Store }

func (s saves) Load(key string, limit int) (saved.Session, error) {
	return saved.Load(s.store, key, limit)
}

func (s saves) Write(_ string, image *saved.Image, done func(int, error)) {
	done(image.Write(s.store))
}

func (s saves) WriteNow(_ string, image *saved.Image) (int, bool, error) {
	n, err := image.Write(s.store)
	return n, true, err
}

func (s saves) Remove(key string) { s.store.Remove(key) }

// between has a test do something in between.
func (w *world) between(what, path string) {
	w.disk.Lock()
	f := w.meanwhile
	w.disk.Unlock()
	if f != nil {
		f(what, path)
	}
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) must(err error) {
	w.t.Helper()
	must.Do(w.t, err)
}

// The disk, as any program changes it.

func (w *world) write(name, data string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	w.must(os.WriteFile(w.path(name), []byte(data), 0o644))
}

// replace writes a file as many programs do, by putting another one in its place.
func (w *world) replace(name, data string) { w.t.Helper(); w.replaceAs(name, data, 0o644) }

func (w *world) replaceAs(name, data string, mode fs.FileMode) {
	w.t.Helper()
	w.write(name+"~", data)
	w.chmod(name+"~", mode)
	w.must(os.Rename(w.path(name+"~"), w.path(name)))
}

func (w *world) remove(name string) { w.t.Helper(); w.must(os.Remove(w.path(name))) }

// removedUnder is a turn in which the agent removes a file that a buffer shows, with this text.
func (w *world) removedUnder(name, text string) {
	w.t.Helper()
	w.write(name, text)
	w.edit(name)
	w.begin()
	w.remove(name)
	w.sees(name)
	w.end()
}

func (w *world) move(from, to string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.path(to)), 0o755))
	w.must(os.Rename(w.path(from), w.path(to)))
}

func (w *world) chmod(name string, mode fs.FileMode) {
	w.t.Helper()
	w.must(os.Chmod(w.path(name), mode))
}

// tree is all files, byte for byte, with their permissions.
func (w *world) tree() string {
	w.t.Helper()
	var lines []string
	w.must(filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		name, _ := filepath.Rel(w.dir, path)
		lines = append(lines, fmt.Sprintf("%s %o %q", name, info.Mode().Perm(), data))
		return err
	}))
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// The agent.

// begin begins a turn, whose prompt goes out when the folders were looked at.
func (w *world) begin() {
	w.t.Helper()
	ready := make(chan struct{})
	w.mu.Lock()
	w.ledger.BeginTurn("", func() { close(ready) })
	w.mu.Unlock()
	<-ready
	w.disk.Lock()
	w.idle = false
	w.disk.Unlock()
}

// beginHeld begins a turn whose look at the folders, and so the prompt, waits until looked is called.
func (w *world) beginHeld() (looked func()) {
	w.t.Helper()
	release, ready := w.holdLooks(), make(chan struct{})
	w.mu.Lock()
	w.ledger.BeginTurn("", func() { close(ready) })
	w.mu.Unlock()
	return func() {
		release()
		<-ready
	}
}

// end ends a turn, and returns when all of it is known.
func (w *world) end() {
	w.t.Helper()
	over := make(chan struct{})
	w.mu.Lock()
	end := w.ledger.EndTurn(func() { close(over) })
	w.mu.Unlock()
	<-over
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ledger.Told(end) {
		w.t.Error("the end of the turn is not told when all of it is known")
	}
}

// clientWrites is a write of the agent's through its client; given is what it has read.
func (w *world) clientWrites(name, given, text string) {
	w.t.Helper()
	w.clientMakes(name, given, text, false)
}

// clientMakes is clientWrites of what the user may have reviewed.
func (w *world) clientMakes(name, given, text string, reviewed bool) {
	w.t.Helper()
	path := w.path(name)
	w.follow(path, true)
	done := buffers.Written{Path: path, Changed: true, After: &text, Disk: &text}
	data, err := os.ReadFile(path)
	if done.Created = err != nil; err == nil {
		was := buffers.Decoded(data)
		done.Before, done.FormBefore = &was, buffers.Form(data)
		done.Since = changedAt(path)
		done.Was = buffers.IdentityOf(path)
	}
	w.disk.Lock()
	if b := w.bufs[path]; b != nil {
		mine := b.text
		done.Buf, done.Before, done.Unsaved = 1, &mine, b.text != b.synced
		if done.Created && (!done.Unsaved || mine == "") {
			done.Before = nil // what the buffer has is not there any more
		}
		after, conflicts := buffers.Merge(given, b.text, text)
		done.Conflict = len(conflicts) > 0
		w.conflict = w.conflict || done.Conflict
		if done.Unsaved {
			done.Behind = new(b.synced)
		}
		done.After, b.text, b.synced, b.gone = &after, after, text, false
		defer func() { b.form = done.FormAfter }()
	}
	w.disk.Unlock()
	encoded, err := buffers.Encoded(text, done.FormBefore)
	w.must(err)
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	w.replaceAs(name, string(encoded), mode)
	done.FormAfter = buffers.Form(encoded)
	w.ledger.Took(done, "fs", reviewed)
}

// call has the agent do something in a call that names paths.
func (w *world) call(kind session.ToolKind, do func(), names ...string) {
	w.t.Helper()
	call := &session.ToolCall{ID: fmt.Sprint(time.Now().UnixNano()), Kind: kind, Status: session.StatusInProgress}
	for _, name := range names {
		call.Locations = append(call.Locations, session.Location{Path: w.path(name)})
	}
	w.followCall(call)
	do()
	call.Status = session.StatusCompleted
	w.followCall(call)
}

func (w *world) followCall(call *session.ToolCall) {
	w.mu.Lock()
	w.ledger.Observe(call, true)
	w.mu.Unlock()
	w.sync()
}

// The user.

// edit shows a file in a buffer.
func (w *world) edit(name string) {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	w.must(err)
	text := buffers.Decoded(data)
	w.disk.Lock()
	w.bufs[w.path(name)] = &buffer{text: text, form: buffers.Form(data), writes: buffers.Form(data), synced: text, told: text}
	w.disk.Unlock()
	w.opened(buffers.Opened{Path: w.path(name), Loaded: true, Text: &text, Form: buffers.Form(data), Since: changedAt(w.path(name))})
}

// rereads has a buffer read its file anew, and what is not saved in it is lost.
func (w *world) rereads(name string) {
	w.t.Helper()
	w.follow(w.path(name), true)
	w.disk.Lock()
	b := w.bufs[w.path(name)]
	b.text, b.told = b.synced, b.synced
	w.disk.Unlock()
	w.opened(buffers.Opened{Path: w.path(name), Loaded: true, Text: new(b.synced), Form: b.form, Since: changedAt(w.path(name))})
}

// wipe closes a buffer, and what is not saved in it is lost.
func (w *world) wipe(name string) {
	w.t.Helper()
	w.closes(name)()
}

// closes closes a buffer; tell is Neovim's word of that.
func (w *world) closes(name string) (tell func()) {
	w.t.Helper()
	w.disk.Lock()
	defer w.disk.Unlock()
	b := w.bufs[w.path(name)]
	delete(w.bufs, w.path(name))
	return func() { w.opened(buffers.Opened{Path: w.path(name), Text: &b.synced, Form: b.form}) }
}

func (w *world) opened(o buffers.Opened) {
	for _, l := range w.sessions {
		l.FileOpened(o)
	}
}

// types changes a buffer.
func (w *world) types(name string, change func(string) string) {
	w.follow(w.path(name), true)
	w.disk.Lock()
	defer w.disk.Unlock()
	b := w.bufs[w.path(name)]
	b.text = change(b.text)
}

// saves writes a buffer.
func (w *world) saves(name string) {
	w.t.Helper()
	w.savesAs(name, cmp.Or(modeOf(w.path(name)), 0o644))
}

func (w *world) savesAs(name string, mode fs.FileMode) {
	w.t.Helper()
	w.follow(w.path(name), true)
	w.disk.Lock()
	b := w.bufs[w.path(name)]
	data, err := buffers.Encoded(b.text, b.form)
	b.synced, b.told, b.gone = b.text, b.text, false
	w.disk.Unlock()
	w.must(err)
	w.replaceAs(name, string(data), mode)
	info, err := os.Stat(w.path(name))
	w.must(err)
	b.written = buffers.DiskStateOf(info)
	text := buffers.Decoded(data)
	for _, l := range w.sessions {
		l.FileOpened(buffers.Opened{Path: w.path(name), Loaded: true, Saved: true, Text: &text, Form: buffers.Form(data), Since: changedAt(w.path(name))})
	}
	w.saved(name)
}

// tellsOfSave tells late of a save by a buffer, of a file that may be gone again by now; read says that text was read before.
func (w *world) tellsOfSave(name, text string, read bool) {
	w.ledger.FileOpened(buffers.Opened{Path: w.path(name), Loaded: true, Saved: true, Unread: !read, Text: &text, Since: time.Now()})
}

// tellsOfNewName tells late of a buffer that shows a file which the user had written from it, with a text at a time.
func (w *world) tellsOfNewName(name, text string, wrote time.Time) {
	w.disk.Lock()
	w.bufs[w.path(name)] = &buffer{text: text, form: plain, writes: plain, synced: text, told: text}
	w.disk.Unlock()
	w.opened(buffers.Opened{Path: w.path(name), Loaded: true, Saved: true, Text: &text, Form: plain, Since: changedAt(w.path(name)), Wrote: wrote})
}

// saved tells that the user has written a file.
func (w *world) saved(name string) {
	for _, l := range w.sessions {
		l.UserSaved(w.path(name), time.Time{})
	}
}

// sees is what the user has of a file: of a buffer, with its unsaved text.
func (w *world) sees(name string) string {
	w.t.Helper()
	w.follow(w.path(name), true)
	w.disk.Lock()
	defer w.disk.Unlock()
	if b := w.bufs[w.path(name)]; b != nil {
		return b.text
	}
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		return "no file"
	}
	return string(data)
}

// decide decides about all changes, or those of a file.
func (w *world) decide(do review.Decision, name string) {
	w.t.Helper()
	d := Decision{Do: do}
	if name != "" {
		d.Path = w.path(name)
	}
	done := make(chan error, 9)
	w.ledger.Decide(d, func(_ int, err error) { done <- err })
	if err := <-done; err != nil {
		w.t.Errorf("%s: %v", do, err)
	}
	if w.sync(); len(done) > 0 {
		w.t.Errorf("%s: it is told to be done twice", do)
	}
}

// decideFirst decides about the first hunk of a file.
func (w *world) decideFirst(do review.Decision, name string) {
	w.t.Helper()
	done := make(chan error)
	w.ledger.Decide(Decision{Do: do, Path: w.path(name), Which: func(review.File) review.Selection {
		return review.Selection{Hunks: []int{0}}
	}}, func(_ int, err error) { done <- err })
	w.must(<-done)
}

// makes makes a decision.
func (w *world) makes(d Decision) {
	w.t.Helper()
	w.must(w.tries(d))
}

// tries makes a decision, if it can be made.
func (w *world) tries(d Decision) error {
	done := make(chan error)
	w.ledger.Decide(d, func(_ int, err error) { done <- err })
	err := <-done
	w.sync()
	return err
}

func (w *world) undo(again bool) error {
	done := make(chan error, 9)
	w.ledger.Undo(again, false, "", always, func(_ *turns.Turn, _ []turns.Step, err error) { done <- err })
	err := <-done
	if w.sync(); len(done) > 0 {
		w.t.Error("an undo is told to be done twice")
	}
	return err
}

// files is the record.
func (w *world) files() []review.File {
	w.t.Helper()
	told := make(chan []review.File)
	w.ledger.Files(func(files []review.File) { told <- files })
	list := <-told
	w.disk.Lock()
	defer w.disk.Unlock()
	for _, f := range list {
		data, err := os.ReadFile(f.Path)
		has := buffers.Decoded(data)
		if b := w.bufs[f.Path]; b != nil {
			has = b.text
		}
		if is := f.Present; err == nil && !w.blind[f.Path] && isText(is) && is.Text != buffers.Lined(has) {
			w.t.Errorf("the record has %q of %s, which is %q", is.Text, f.Path, has)
		}
	}
	return list
}

// changes lists the record.
func (w *world) changes() string {
	var b strings.Builder
	for _, f := range w.files() {
		fmt.Fprintf(&b, "%s %s", f.Status, strings.TrimPrefix(f.Path, w.dir+"/"))
		if f.OldPath != "" {
			fmt.Fprintf(&b, " from %s", strings.TrimPrefix(f.OldPath, w.dir+"/"))
		}
		for _, h := range f.Hunks {
			fmt.Fprintf(&b, " -%d,%d+%d,%d", h.OldStart, h.OldCount, h.NewStart, h.NewCount)
		}
		if f.State != review.Pending {
			fmt.Fprintf(&b, " %s", f.State)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (w *world) sync() {
	done := make(chan struct{})
	w.ledger.Then(func() { close(done) })
	<-done
}

// The watch.

// follow has the disk's text reach a buffer; with over also that it is empty or gone.
func (w *world) follow(path string, over bool) {
	w.disk.Lock()
	defer w.disk.Unlock()
	b := w.bufs[path]
	if b == nil {
		return
	}
	read := time.Now()
	data, err := os.ReadFile(path)
	switch text := buffers.Decoded(data); {
	case err != nil && !b.gone && over:
		b.gone = true
		was := b.synced
		w.tells(buffers.Written{Path: path, Deleted: true, Before: &was, FormBefore: b.form, ReadAt: read})
	case err != nil, len(data) == 0 && !over, text == b.synced && buffers.Form(data) == b.form && !b.gone:
	default:
		mine := b.text
		after, conflicts := buffers.Merge(b.synced, mine, text)
		done := buffers.Written{Path: path, Buf: 1, Changed: after != mine || len(conflicts) == 0 || buffers.Form(data) != b.form, Before: &mine, After: &after, Disk: &text, FormBefore: b.form, FormAfter: buffers.Form(data), Unsaved: mine != b.synced, ReadAt: read, At: changedAt(path)}
		if b.gone {
			done.Created, done.Had, done.Before = true, done.Before, nil
		}
		done.Conflict = len(conflicts) > 0
		w.conflict = w.conflict || done.Conflict
		if done.Unsaved {
			done.Behind = new(b.synced)
		}
		if b.text, b.synced, b.form, b.gone = after, text, done.FormAfter, false; text != "" {
			b.writes = b.form
		}
		w.tells(done)
	}
}

// tells tells of a change under a buffer.
func (w *world) tells(done buffers.Written) {
	if w.idle {
		w.ledger.UserChanged(done)
	} else {
		w.ledger.Took(done, "disk", false)
	}
}

func (w *world) Tracks() <-chan struct{} {
	if w.tracks != nil {
		return w.tracks
	}
	known := make(chan struct{})
	close(known)
	return known
}

func (w *world) Look(path string, settle bool, limit int64, done func(buffers.Seen, error)) {
	w.between("look", path)
	if real, err := buffers.RealPath(path); err == nil {
		path = real
	}
	if settle {
		w.follow(path, false)
	}
	w.disk.Lock()
	defer w.disk.Unlock()
	seen := buffers.Seen{Path: path}
	data, err := os.ReadFile(path)
	info, err2 := os.Stat(path)
	switch {
	case w.blind[path]:
		done(buffers.Seen{}, errors.New("it cannot be looked at"))
		return
	case err2 == nil && info.IsDir():
		seen.Loaded = w.bufs[path] != nil
		done(seen, buffers.ErrDirectory)
		return
	case err == nil && err2 == nil:
		seen.Exists, seen.Mode, seen.Text, seen.Form = true, info.Mode().Perm(), buffers.Decoded(data), buffers.Form(data)
		seen.Disk = buffers.DiskStateOf(info)
		seen.Since = changedAt(path)
		if int64(len(data)) > limit {
			seen.Large, seen.Text = true, ""
		}
	}
	if b := w.bufs[path]; b != nil {
		b.told = b.text
		seen.Saved, seen.Overtaken = seen.Exists && b.written == seen.Disk, b.overtaken
		if seen.Loaded, seen.Unsaved = true, b.text != b.synced || b.modified; seen.Exists {
			if seen.Text, seen.Form = b.text, b.form; len(data) == 0 && b.text != "" {
				seen.Form = cmp.Or(b.writes, b.form)
			}
		}
	}
	done(seen, nil)
}

// changedAt is since when a file is as it is, or a link leads there.
func changedAt(path string) time.Time {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return time.Time{}
	}
	return time.Unix(st.Ctim.Unix())
}

func (w *world) Finish(path string, done func()) {
	w.follow(path, true)
	done()
}

func (w *world) Heard(done func()) { done() }

func (w *world) Settle(done func()) {
	for _, path := range w.Loaded() {
		w.follow(path, true)
	}
	done()
}

func (w *world) Loaded() []string {
	w.disk.Lock()
	defer w.disk.Unlock()
	return slices.Collect(maps.Keys(w.bufs))
}

// The files, as the user has them changed.

func (w *world) Edit(_ context.Context, e buffers.Edit, done func(buffers.Written, error)) {
	w.between("edit", e.Path)
	w.follow(e.Path, true)
	w.disk.Lock()
	b := w.bufs[e.Path]
	var now *string
	data, err := os.ReadFile(e.Path)
	text, form := buffers.Decoded(data), buffers.Form(data)
	switch {
	case b != nil && err == nil:
		if now = &b.text; text == "" && b.writes != "" {
			form = b.writes
		}
	case b != nil && b.text != b.synced: // what is unsaved has no file
		now = &b.text
	case err == nil:
		now = &text
	}
	var next *string
	var failed error
	switch {
	case e.Change != nil:
		next, failed = e.Change(now)
	default:
		next = now
	}
	if failed == nil {
		switch {
		case e.Change == nil && (b == nil || err != nil || b.text == b.synced): // there is no unsaved text, or no disk under it
		case e.Change == nil:
			b.synced = *cmp.Or(e.Disk(b.synced, b.text), &b.synced)
			failed = writeEncoded(e.Path, b.synced, form)
		case next == nil:
			failed = os.Remove(e.Path)
			if b != nil {
				b.gone = true
			}
		case b != nil && err != nil && now != nil:
			b.text = *next
		case b != nil && b.text != b.synced:
			disk, _ := buffers.Withdraw(b.text, b.synced, *next)
			if e.Disk != nil {
				disk = *cmp.Or(e.Disk(b.synced, b.text), &disk)
			}
			failed = writeEncoded(e.Path, disk, form)
			b.text, b.synced = *next, disk
		default:
			failed = writeEncoded(e.Path, *next, form)
			if b != nil {
				b.text, b.synced = *next, *next
			}
		}
		if e.Mode != nil && failed == nil && next != nil {
			failed = os.Chmod(e.Path, *e.Mode)
		}
	}
	did := buffers.Written{Path: e.Path}
	if has, err := os.ReadFile(e.Path); err == nil {
		did.After, did.FormAfter = cmp.Or(next, new(buffers.Decoded(has))), buffers.Form(has)
		if b != nil {
			did.After, did.Disk = new(b.text), new(b.synced)
		}
	}
	w.disk.Unlock()
	w.between("edited", e.Path)
	done(did, failure("edit", e.Path, failed))
}

// failure is how a fault of a file is told.
func failure(verb, path string, err error) error {
	if err == nil {
		return nil
	}
	return &buffers.Error{Verb: verb, Path: path, Err: err}
}

func writeEncoded(path, text, form string) error {
	data, err := buffers.Encoded(text, form)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

func (w *world) InStep(path string) (text, form string, known bool) {
	w.disk.Lock()
	defer w.disk.Unlock()
	b := w.bufs[path]
	if b == nil {
		return "", "", false
	}
	return b.synced, b.form, true
}

func (w *world) WasInStep(path, text, _ string) {
	w.disk.Lock()
	defer w.disk.Unlock()
	if w.bufs[path] == nil {
		w.t.Errorf("%s is taken for loaded", path)
	}
	if _, told := w.inStep[path]; !told {
		w.inStep[path] = text
	}
}

// toldInStep returns what the host was told that the buffer of a file was in step with; "" where it was told nothing.
func (w *world) toldInStep(name string) string {
	w.disk.Lock()
	defer w.disk.Unlock()
	return w.inStep[w.path(name)]
}

func (w *world) RemoveLinks(path string, inside func(string) bool) {
	for at := path; inside(at); at = filepath.Dir(at) {
		if _, err := os.Readlink(at); err == nil {
			_ = os.Remove(at)
		}
	}
}

func (w *world) Restore(_ context.Context, r buffers.Restored, done func(buffers.Written, error)) {
	path, data := r.Path, r.Data
	w.between("restore", path)
	w.disk.Lock()
	if b := w.bufs[path]; b != nil && !r.Saved { // what is typed and not saved stays so
		mine, saved, text := linediff.Lines(b.text), linediff.Lines(b.synced), buffers.Decoded(data)
		for _, e := range linediff.Compare(saved, mine) {
			if typed := strings.Join(mine[e.B0:e.B1], ""); typed != "" {
				text = strings.Replace(text, typed, strings.Join(saved[e.A0:e.A1], ""), 1)
			}
		}
		if encoded, err := buffers.Encoded(text, buffers.Form(data)); err == nil && text != buffers.Decoded(data) {
			data = encoded
		}
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err == nil {
		err = os.Chmod(path, r.Mode)
	}
	if b := w.bufs[path]; b != nil && err == nil {
		text := buffers.Decoded(data)
		if r.Buffer == nil || b.text == b.synced {
			b.text, _ = buffers.Merge(b.synced, b.text, text)
		} else if after, computed := r.Buffer(b.text); computed {
			b.text = after
		} else { // it was in step with no file
			b.text = text + b.text
		}
		b.synced, b.form, b.gone = text, buffers.Form(data), false
	}
	w.disk.Unlock()
	done(buffers.Written{Path: path}, failure("write", path, err))
}

func shell(dir, script string) error {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, out)
	}
	return nil
}

func TestMain(m *testing.M) {
	maxWait, maxFirst = time.Minute, 0 // however busy the machine is
	os.Exit(m.Run())
}
