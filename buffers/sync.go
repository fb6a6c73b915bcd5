package buffers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// This file brings into buffers what others do on the disk.

// MaxSync is the size in bytes above which a file is neither kept in step with the disk nor opened: Neovim would
// read, compare and change it for too long.
const MaxSync = 16 << 20

var (
	errTooLarge = errors.New("it is too large to be followed")
	// errUnfinished means the file is empty, usually because its writer has truncated it and not finished.
	errUnfinished = errors.New("it is empty")
	errLocked     = errors.New("text cannot be changed now")
)

// how says how a buffer is synced.
type how struct {
	saved  bool                             // only note what the user has just written
	empty  bool                             // an empty file counts as such; otherwise it is errUnfinished
	own    bool                             // on the user's behalf: the agent does not learn of it
	idle   bool                             // no agent is working: the change is the user's
	large  bool                             // only tell the user
	once   bool                             // fail with errLocked if text cannot be changed now; otherwise wait
	buffer func(mine string) (string, bool) // see Restored
}

// syncResult is the result of a sync.
type syncResult struct {
	Written
	at    stamp // the disk that was compared
	users bool  // the user wrote it
}

// sync brings the buffer that shows path in step with the disk, which another program may have written. If no buffer
// shows path, there is nothing to do. The disk is only read. The error is fs.ErrNotExist, ErrDirectory, ErrNotRegular
// or errTooLarge if there is no such file any more.
func (f *Files) sync(ctx context.Context, path string, h how) (syncResult, error) {
	if h.large {
		return f.passed(ctx, path)
	}
	for try := 0; try < maxTries; {
		l, err := f.liveWith(ctx, path, 0, -1, forAll)
		if err != nil {
			return syncResult{}, err
		}
		if info, err := os.Stat(path); err == nil && info.Size() > MaxSync {
			return syncResult{}, errTooLarge
		}
		if h.saved {
			f.rememberLeft(path, l) // unless it is still on the disk, as below
		}
		readAt := time.Now()
		disk, err := readFile(path)
		if err != nil {
			return syncResult{}, err
		}
		if len(disk.data) == 0 && !h.empty {
			return syncResult{}, errUnfinished
		}
		f.removed.Delete(path) // the watch may report that it is back
		at := stampOf(disk.info)
		if h.saved && l.Buf == 0 && l.Written == at {
			f.isWritten(path, disk)
		}
		if l.Buf == 0 || l.Buftype != "" {
			return syncResult{at: at}, nil
		}
		w, outcome, err := f.syncOnce(ctx, path, l, disk, h)
		w.ReadAt = readAt
		switch {
		case err != nil:
			return syncResult{}, err
		case outcome == locked && h.once:
			return syncResult{}, errLocked
		case outcome == locked:
			if err := wait(ctx, lockedPoll); err != nil {
				return syncResult{}, err
			}
		case outcome == moved:
			try++
		default:
			return syncResult{w, at, l.Written == at || w.unheard}, nil
		}
	}
	return syncResult{}, ErrBusy
}

// passed tells the user that the file of a large buffer has changed on the disk.
func (f *Files) passed(ctx context.Context, path string) (syncResult, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return syncResult{}, cause(err)
	}
	var got struct {
		Passed bool `msgpack:"passed"`
	}
	if err := f.editor.CallBuffers(ctx, "passed", map[string]any{"path": path}, &got); err != nil {
		return syncResult{}, err
	}
	w := syncResult{at: stampOf(info)}
	if w.Path = path; got.Passed {
		w.Note = fmt.Sprintf("%s has changed on disk, and is too large to be followed: :edit reloads it.", filepath.Base(path))
	}
	return w, nil
}

// behind reports whether there is an unreported change by another program on the disk of a file, whose buffer l
// describes; the user may have read it. An empty file counts only with empty.
func (f *Files) behind(path string, l live, disk file, empty bool) bool {
	if f.watch.Load() == nil || l.Buf == 0 || l.Disk == nil {
		return false
	}
	return f.readUnreported(path, l) || *l.Disk != disk.stamp() && (empty || !l.emptied(disk))
}

// readUnreported reports whether a buffer has read an unreported change by another program.
func (f *Files) readUnreported(path string, l live) bool {
	had, ok := f.synced.get(path)
	return ok && l.Disk != nil && had.at != (stamp{}) && had.at != *l.Disk && l.Written != *l.Disk
}

// diskIsNewer reports whether the disk has changed since a buffer was in step with it, and is not being written just now.
func (f *Files) diskIsNewer(path string) bool {
	had, ok := f.synced.get(path)
	if !ok || had.at == (stamp{}) || f.watch.Load() == nil {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0 && stampOf(info) != had.at
}

// catchUp syncs a buffer that is behind before somebody else changes it or the disk, so that each change is reported,
// in order. With once it fails with errLocked if text cannot be changed now.
func (f *Files) catchUp(ctx context.Context, path string, once bool) error {
	w := f.watch.Load()
	if w == nil {
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- w.sync(path, path, how{empty: true, once: once}) }()
	select {
	case err := <-done:
		if errors.Is(err, errLocked) {
			return err
		}
		return nil // the caller will run into any other failure itself
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// syncing is one attempt at a sync, step by step: [syncing.look], [syncing.stays], [syncing.compare], [syncing.apply]
// and [syncing.record]. The user's lines win over the disk's.
type syncing struct {
	*Files
	how
	path string
	buf  live
	disk file

	left       bool    // Neovim itself wrote or read the disk as it is
	text       string  // what the disk has
	form       format  // and how
	encoding   string  // if that is no longer the buffer's
	decoded    bool    // otherwise only Neovim can tell
	now        inStep  // the disk
	had        *inStep // what the buffer was in step with, if known
	same       bool    // the disk is as it was then, except for its time
	unreported bool    // the buffer has read an unreported change

	mine      string     // the buffer's text
	step      *undoStep  // what the buffer is to do
	conflicts []conflict // that this causes

	Written
}

// syncOnce is one attempt at a sync.
func (f *Files) syncOnce(ctx context.Context, path string, l live, disk file, h how) (Written, outcome, error) {
	o := syncing{Files: f, how: h, path: path, buf: l, disk: disk}
	o.look()
	if h.saved && !o.left { // another program was faster: what was saved is in the buffer alone
		f.rememberSaved(ctx, path, l.Written)
	}
	if o.stays() {
		return o.Written, applied, nil
	}
	if o.takes() {
		if done, err := o.compare(ctx); err != nil || done != onward {
			return o.Written, done, err
		}
	}
	got, done, err := o.apply(ctx)
	if err != nil || done != onward {
		return o.Written, done, err
	}
	o.record(got)
	return o.Written, applied, nil
}

// look finds what the disk has, and what was known of it.
func (o *syncing) look() {
	at := stampOf(o.disk.info)
	o.left = o.buf.Disk != nil && *o.buf.Disk == at
	o.text, o.form, o.decoded = decode(o.disk.data, o.buf.Encoding)
	o.decoded = o.decoded && o.buf.Format != "mac"
	o.Written = Written{
		Path: o.path, Buf: o.buf.Buf, Unsaved: o.buf.Modified, At: changedAt(o.path),
		FormBefore: o.buf.standing().String(), FormAfter: Form(o.disk.data),
	}
	if strings.HasSuffix(o.FormAfter, " noeol") {
		o.FormBefore += " noeol" // which the buffer cannot tell
	}
	had, ok := o.synced.get(o.path)
	if ok {
		o.had, o.Before, o.FormBefore = &had, &had.text, had.form
	}
	if ok && had.text == "" && had.form == Form(nil) && len(o.disk.data) > 0 { // an empty file has none
		o.FormBefore = o.buf.formOver("")
	}
	if ok && !o.left && becameUTF8(o.buf, had.text, o.disk.data) {
		o.text, o.form, o.decoded = decode(o.disk.data, "utf-8")
		o.encoding = o.form.encoding
	}
	if text, form := detect(o.disk.data); form.encoding != cmp.Or(o.buf.Encoding, "utf-8") && (!o.left && (form.bom || lostMark(o.buf, o.disk.data)) || o.own && o.buf.Modified && !o.decoded) {
		o.text, o.form, o.encoding, o.decoded = text, form, form.encoding, o.buf.Format != "mac"
	}
	if o.buf.Modified && !o.left && isBinary(o.text) && ok && !isBinary(had.text) {
		o.decoded = false // there is nothing in it to merge
	}
	o.now = inStep{text: o.text, form: o.FormAfter, at: at, written: o.buf.Written}
	if o.same = ok && had.text == o.text && had.form == o.now.form && o.encoding == ""; o.same && o.buf.Modified {
		o.now.base = had.base
	}
	o.unreported = o.readUnreported(o.path, o.buf)
}

// isBinary reports whether a text is that of a file which is no text.
func isBinary(text string) bool { return strings.ContainsRune(text, 0) }

// takes reports whether the buffer takes the disk's text, of which more than the time has changed.
func (o *syncing) takes() bool { return o.decoded && (o.left || !o.buf.Modified || !o.same) }

// stays reports whether the buffer stays as it is, whatever it has, and notes why.
func (o *syncing) stays() bool {
	switch {
	case o.left && o.unreported && o.decoded && o.buf.Modified && !o.same:
		o.tellRead()
	case o.left && (o.same || o.buf.Part || o.buf.Modified):
		if o.decoded {
			o.synced.put(o.path, o.now)
		}
	case o.saved && !(o.left && o.decoded): // another program was faster; there will be an event for that
	case !o.decoded && o.buf.Modified:
		o.cannotMerge()
	default:
		return false
	}
	return true
}

// cannotMerge tells the user that unsaved text and the disk's do not fit into one encoding, or that the latter is no text.
func (o *syncing) cannotMerge() {
	text, _ := detect(o.disk.data)
	if o.Conflict, o.Disk = true, &text; o.had != nil {
		o.Behind = &o.had.text
	}
	if told, before := o.apart.get(o.path); before && string(told) == text {
		return
	}
	o.apart.put(o.path, lines(text))
	is := "in an encoding that cannot be merged"
	if isBinary(text) {
		is = "and is no text any more"
	}
	name := filepath.Base(o.path)
	o.Note = fmt.Sprintf("%s has changed on disk, %s: your buffer stays as it is.", name, is)
	o.Brief = name + ": changed on disk, cannot be merged"
}

// tellRead reports what the buffer has already read.
func (o *syncing) tellRead() {
	o.took(o.path, o.text, o.now, o.how)
	o.Changed, o.After = true, new(o.text)
}

// compare finds what the buffer has to do.
func (o *syncing) compare(ctx context.Context) (outcome, error) {
	var ok bool
	var err error
	if o.mine, ok, err = o.whole(ctx, o.path, o.buf); err != nil || !ok {
		return moved, err
	}
	o.unheard = o.had != nil && !o.left && !o.buf.Modified && Lined(o.mine) == Lined(o.text) && Lined(o.had.text) != Lined(o.text)
	// What Neovim would write ends the last line, though the file's may not end.
	if o.left && Lined(o.mine) == Lined(o.text) {
		if o.unreported && !o.same {
			o.tellRead()
		} else {
			o.synced.put(o.path, o.now)
		}
		return applied, nil
	}
	if o.left || o.buf.Modified || o.had == nil || !o.unreported && Lined(o.mine) != Lined(o.had.text) {
		o.Before = new(o.mine) // with what the user may have saved just now
	}
	if o.saved {
		return applied, nil
	}
	after := o.text
	if o.buf.Modified {
		var computed bool
		if o.buffer != nil {
			after, computed = o.buffer(Lined(o.mine))
		}
		if !computed {
			after, o.conflicts = o.merge(o.path, o.mine, o.text, o.own)
			o.now.base = o.takenOver(o.path, o.mine, after, o.conflicts)
		} else if after = Lined(after); !ended(o.text) {
			after = strings.TrimSuffix(after, "\n")
		}
	}
	if o.encoding != "" {
		if _, err := o.form.encode(after); err != nil {
			o.cannotMerge()
			return applied, nil
		}
	}
	step := stepTo(o.buf.unended(o.mine), after)
	o.After, o.step = &after, &step
	return onward, nil
}

// args returns what Neovim has to do.
func (o *syncing) args() syncArgs {
	args := syncArgs{target: targetOf(o.path, o.buf, o.disk), Step: o.step, Own: o.left, Encoding: o.encoding, Reload: !o.decoded}
	if !o.takes() {
		return args
	}
	if o.buf.Modified && *o.After != o.text {
		args.mergeArgs, args.Text = mergeArgsOf(*o.After, o.text, o.conflicts), &o.text
	}
	if len(o.disk.data) > 0 { // an empty file has no form
		args.Bom = &o.form.bom
	}
	if strings.Contains(o.text, "\n") {
		args.Format = "unix"
		if o.form.dos {
			args.Format = "dos"
		}
	}
	return args
}

// apply has Neovim do its part.
func (o *syncing) apply(ctx context.Context) (got tookOver, done outcome, err error) {
	if !o.decoded {
		o.text, _ = detect(o.disk.data)
		o.now.text = o.text
	}
	if o.After == nil {
		o.After = new(o.text)
	}
	if o.takes() {
		var steps []undoStep
		if o.step != nil {
			steps = append(steps, *o.step)
		}
		o.warn(ctx, o.path, *o.After, steps, o.buf.Modified || !o.decoded)
	}
	err = o.editor.CallBuffers(ctx, "sync", o.args(), &got)
	switch {
	case err != nil:
		return got, 0, err
	case got.Moved:
		return got, moved, nil
	case got.Locked:
		return got, locked, nil
	case got.Err != "":
		return got, 0, errors.New(got.Err)
	}
	return got, onward, nil
}

// record notes the result.
func (o *syncing) record(got tookOver) {
	if !o.decoded && !got.Changed && !o.left {
		o.Note = fmt.Sprintf("%s has changed on disk: :edit reloads it.", filepath.Base(o.path))
	}
	o.Disk = new(o.text)
	o.Changed = got.Changed || o.takes() && !o.left && o.FormBefore != o.FormAfter
	if o.takes() {
		o.shown.put(o.path, live{Buf: o.buf.Buf, Changedtick: got.Tick}, Lined(*o.After))
	}
	switch {
	case o.decoded && got.Changed:
		o.took(o.path, o.mine, o.now, o.how)
	case o.decoded, got.Changed && o.buf.Disk != nil: // Neovim has read it, and will say when it does so again
		o.synced.put(o.path, o.now)
	}
	if o.buf.Modified && o.had != nil {
		o.Behind = &o.had.text
	}
	if len(o.conflicts) == 0 {
		return
	}
	stand := "yours stay in the buffer, the agent's are on disk"
	if got.Writing {
		stand = "yours are on disk now, the agent's are shown below them"
	}
	o.tellConflicts(len(o.conflicts), stand, got.Keys)
	o.refused.put(o.path, o.text)
}

// took notes what others wrote on the disk and a buffer now has, which had the text mine before: the agent knows it,
// unless h says whose it is.
func (f *Files) took(path, mine string, now inStep, h how) {
	had, synced := f.synced.get(path)
	f.synced.put(path, now)
	k, known := f.seen.get(path)
	switch {
	case h.own, h.idle && !known:
		return
	case h.idle:
		k.lacks = true
	case k.behind(now.written):
		k.text = rebased(k.text, mine, now.text)
	default:
		given := cmp.Or(k.given, k.text)
		if k.given = ""; synced && given != "" && given != had.text {
			k.given = rebased(given, had.text, now.text)
		}
		k.text = now.text
	}
	f.seen.put(path, k)
}

// becameUTF8 reports whether a file that was in another encoding is UTF-8 now, which many agents write whatever was
// there. In the old encoding it would be text too, but a different one.
func becameUTF8(l live, had string, data []byte) bool {
	encoding := l.Encoding
	if encoding != "utf-8" && encoding != "" && bytes.HasPrefix(data, []byte(boms["utf-8"])) && utf8.Valid(data) {
		return true
	}
	switch encoding {
	case "latin1":
		old, err := format{encoding: encoding}.encode(had)
		return err == nil && !multibyte(old) && multibyte(data)
	case "utf-16le", "utf-16":
		return len(data) > 0 && utf8.Valid(data) && (lostMark(l, data) || bytes.IndexByte(data, 0) < 0)
	}
	return false
}

// lostMark reports whether a file was UTF-16 with a byte order mark, and has none now: then it is something else.
func lostMark(l live, data []byte) bool {
	return l.Bom && strings.HasPrefix(l.Encoding, "utf-16") && len(data) > 0 && !bytes.HasPrefix(data, []byte(boms[l.Encoding]))
}

// multibyte reports whether bytes are UTF-8 that says more than ASCII.
func multibyte(data []byte) bool { return utf8.Valid(data) && utf8.RuneCount(data) < len(data) }

// merge merges what the disk has into the user's unsaved text. Whoever wrote the disk knew what was there before, or
// what the agent was given, unsaved text included: the latter counts if some of that text is on the disk now. A wrong
// guess would treat the user's lines as removed. If neither is certain, the user's text stays, and all of it conflicts.
//
// With own it is what the user wants back: what they typed next to it is not a conflict.
func (f *Files) merge(path, mine, theirs string, own bool) (merged string, conflicts []conflict) {
	if mine == theirs {
		return mine, nil
	}
	had, synced := f.synced.get(path)
	given, seen := f.seen.get(path)
	base := had.text
	if seen && !own && (!synced || !given.disk && tells(given.text, base, theirs)) {
		base = given.text
	}
	if own && had.text == "" {
		return both(mine, theirs), nil
	}
	if own {
		from, to := had.text, theirs
		if had.base != "" { // lines that the buffer does not have of the disk's, as they conflict, do not come with that
			from = had.base
			to, _ = merge3(had.text, from, theirs)
		}
		if text, left := Withdraw(from, mine, to); len(left) == 0 {
			return text, nil
		}
	}
	if synced || seen {
		merged, conflicts = merge3(base, mine, theirs)
		if synced || given.disk || !linediff.Brings(merged, mine) {
			return merged, conflicts
		}
		conflicts = nil // the disk may never have had what the agent was given
	}
	for _, c := range hunksOf(linediff.Lines(mine), linediff.Lines(theirs)) {
		conflicts = append(conflicts, conflict{row: c.Start, count: c.End - c.Start, theirs: c.Lines})
	}
	return mine, conflicts
}

// takenOver returns the base (see inStep) of a buffer whose unsaved text mine became after as it took in the disk's.
func (f *Files) takenOver(path, mine, after string, conflicts []conflict) string {
	had, ok := f.synced.get(path)
	if given, seen := f.seen.get(path); !ok && seen && given.disk {
		had.text, ok = given.text, true // the agent was faster than the watch
	}
	if !ok || len(conflicts) == 0 && had.base == "" {
		return ""
	}
	return carried(cmp.Or(had.base, had.text), mine, after)
}

// tells reports whether text was derived from given rather than base: it has a line that only given has, whether the
// last one ends or not. Missing lines tell nothing: whoever changed the file past its client never saw unsaved text.
func tells(given, base, text string) bool {
	inBase := map[string]bool{}
	for line := range strings.SplitSeq(base, "\n") {
		inBase[line] = true
	}
	there := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		there[line] = line != "" && !inBase[line]
	}
	for line := range strings.SplitSeq(given, "\n") {
		if there[line] {
			return true
		}
	}
	return false
}

// savedSince returns the text of a buffer that the user has written since the buffer was in step with had: the file may
// be gone before anybody could read it. What they wrote is not known if they have typed or read it again since.
func (f *Files) savedSince(ctx context.Context, path string, had inStep) (string, bool) {
	l, err := f.liveWith(ctx, path, 0, -1, forAll)
	if err != nil || l.Buf == 0 || l.Buftype != "" || l.Modified || l.Part || l.Written == had.written || l.Written == had.at ||
		l.Disk == nil || *l.Disk != l.Written {
		return "", false
	}
	text, err := f.readLive(ctx, path, l, Read{peek: true})
	return text, err == nil
}

// remember reads what the disk has as the base of a later merge, unless Neovim is known to have read another state of
// the file: then there is no base.
func (f *Files) remember(path string, read *DiskState) (stamp, error) {
	disk, err := readFile(path)
	if err != nil {
		return stamp{}, err
	}
	at := stampOf(disk.info)
	if read != nil && stamp(*read) != at {
		if had, ok := f.synced.get(path); !ok || had.at != at { // otherwise the agent has written it since
			f.synced.forget(path)
		}
		return at, nil
	}
	text, _ := detect(disk.data)
	f.synced.put(path, inStep{text: text, form: Form(disk.data), at: at})
	f.removed.Delete(path)
	return at, nil
}

// rememberSaved notes what the user has written as a file's text, if the buffer still has it: the file may be gone
// before anybody could read it. at is the disk as Neovim knows it.
func (f *Files) rememberSaved(ctx context.Context, path string, at stamp) bool {
	l, err := f.liveWith(ctx, path, 0, -1, forAll)
	if err != nil || !at.Exists || l.Written != at || l.Buf == 0 || l.Buftype != "" || l.Part || l.Modified {
		return false
	}
	text, err := f.readLive(ctx, path, l, Read{peek: true})
	if err == nil {
		f.synced.put(path, inStep{text: text, form: Form(l.encoded(text)), at: at, written: at})
	}
	return err == nil
}

// rememberWritten notes what the user has written as a file's text, if the disk still has it.
func (f *Files) rememberWritten(path string, at stamp) bool {
	disk, err := readFile(path)
	if err != nil || disk.stamp() != at {
		return false
	}
	f.isWritten(path, disk)
	return true
}

// isWritten notes the disk as the user has written it.
func (f *Files) isWritten(path string, disk file) {
	text, _ := detect(disk.data)
	f.synced.put(path, inStep{text: text, form: Form(disk.data), at: disk.stamp(), written: disk.stamp()})
}

// rememberLeft notes what the user has written as a file's text, where they have closed its buffer since: another program
// may have been faster than anybody who reads it. l is what Neovim reports about the file.
func (f *Files) rememberLeft(path string, l live) bool {
	if l.Buf != 0 || l.Left == nil || l.Left.Slice == nil || !l.Written.Exists {
		return false
	}
	text := ""
	if !l.Left.Empty {
		text = l.Left.ended(l.Left.Slice.Text + "\n")
	}
	f.synced.put(path, inStep{text: text, form: Form(l.Left.encoded(text)), at: l.Written, written: l.Written})
	return true
}

// rememberRead notes what Neovim has read of a file that has changed since, and returns that; false if the user has touched
// it by now.
func (f *Files) rememberRead(ctx context.Context, path string) (is inStep, ok bool) {
	l, err := f.liveWith(ctx, path, 0, -1, forAll)
	if err != nil || l.Buf == 0 || l.Modified {
		return is, false
	}
	if is.text, ok, err = f.whole(ctx, path, l); err != nil || !ok {
		return is, false
	}
	if is.form = l.standing().String(); l.Disk != nil {
		is.at = *l.Disk
	}
	f.synced.put(path, is)
	return is, true
}

// WasInStep sets the disk's text and form that a buffer was in step with, as an earlier host knew it, in case nothing
// else says so because the file is gone or has changed.
func (f *Files) WasInStep(path, text, form string) {
	if strings.HasSuffix(form, " noeol") {
		text = strings.TrimSuffix(text, "\n")
	}
	if _, known := f.synced.get(path); !known {
		f.synced.put(path, inStep{text: text, form: form})
	}
}

// InStep returns the disk's text and form that a buffer was last in step with, as far as that is known.
func (f *Files) InStep(path string) (text, form string, known bool) {
	is, known := f.synced.get(path)
	return is.text, is.form, known
}

// gone reports whether err means that there is no file left to sync with, and returns a note for the user.
func gone(path string, err error) (note string, ok bool) {
	switch {
	case missing(err):
		return fmt.Sprintf("%s was deleted on disk; its buffer stays.", filepath.Base(path)), true
	case errors.Is(err, ErrDirectory), errors.Is(err, ErrNotRegular):
		return fmt.Sprintf("%s is no longer a file on disk; its buffer stays.", filepath.Base(path)), true
	case errors.Is(err, errTooLarge):
		return fmt.Sprintf("%s has grown too large to be followed: :edit reloads it.", filepath.Base(path)), true
	}
	return "", false
}
