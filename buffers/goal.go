package buffers

import "os"

// This file says what a write finds, and what disk and buffer should have after it.

// found is what a write finds; a nil text is no file.
type found struct {
	form     format
	disk     *string
	mine     *string // what the user has
	modified bool    // mine is a buffer's unsaved text
	at       stamp   // the disk
	written  stamp   // the disk as the user last wrote it
	had      string  // what is on the disk, in the buffer's encoding if decoded
	decoded  bool
	emptied  bool // the file is empty, as in the middle of a write: disk is what was there before
}

// goal is what a write should achieve; a nil text is no file.
type goal struct {
	disk, buffer *string    // the same, unless the buffer should have unsaved text
	synced       string     // the disk's text that the buffer will be in step with
	base         string     // see inStep
	at           stamp      // that disk, if known
	conflicts    []conflict // of the buffer
	theirs       string     // and the text that it conflicts with
	known        *known     // what the agent knows afterwards; nil: as before
}

// find returns the state of a file whose buffer l describes and has the text mine.
func (f *Files) find(path string, l live, disk file, mine string) found {
	s := found{
		form: format{bom: l.Bom, dos: l.Format == "dos"}, modified: l.Modified,
		at: disk.stamp(), written: l.Written, emptied: l.emptied(disk),
	}
	if disk.exists() {
		if s.had, s.decoded = l.decode(disk.data); !s.decoded {
			s.had, _ = detect(disk.data)
		}
		s.disk, s.mine = &s.had, &s.had
	}
	if l.Modified || s.emptied {
		s.mine = &mine
	}
	if was, ok := f.synced.get(path); ok && s.emptied {
		s.disk = &was.text
		if !l.Modified && Lined(mine) == Lined(was.text) {
			s.mine = &was.text
		}
	}
	return s
}

// findUnloaded returns the state of a file that no buffer shows, as l describes it.
func findUnloaded(l live, disk file) found {
	s := found{form: format{encoding: "utf-8"}, at: disk.stamp(), written: l.Written}
	if disk.exists() {
		s.had, s.form = detect(disk.data)
		s.disk, s.mine = &s.had, &s.had
	}
	return s
}

// agents returns the goal of an agent's write of a text: disk and buffer get it, except for the user's changes to what
// the agent knows: unsaved ones stay in the buffer, saved ones on the disk too.
func (f *Files) agents(path, text string, s found) goal {
	text = s.form.normal(text)
	base, ok := f.seen.get(path)
	if !ok && s.disk != nil {
		base.text = *s.disk
	}
	if base.given != "" && tells(base.given, base.text, text) {
		base.text = base.given
	}
	g := goal{disk: &text, buffer: &text, theirs: text}
	if s.disk != nil && base.behind(s.written) {
		if was, ok := f.synced.get(path); ok && was.at != s.at && (was.at == s.written || was.written == s.written) {
			// Nobody has seen what the agent did to a file that no buffer shows any more.
			base.text = rebased(base.text, was.text, *s.disk)
		}
		merged, conflicts := merge3(base.text, *s.disk, text)
		g.disk, g.buffer, g.conflicts = &merged, &merged, conflicts
	}
	if s.modified {
		merged, conflicts := merge3(base.text, *s.mine, text)
		g.buffer, g.conflicts = &merged, conflicts
	}
	g.synced = *g.disk
	g.known = &known{text: text}
	if base.since != nil && !base.asked {
		g.known.since, g.known.lacks = &s.written, *g.disk != text
	}
	return g
}

// rebased returns what the agent knows after it changed the disk's text from old by itself: the new text, without what
// it did not know of either.
func rebased(text, old, disk string) string {
	text, _ = merge3(old, disk, text)
	return text
}

// Asked notes that an agent asks to write the file at a real path, and may wait for an answer: if it was never given
// the file's text, it knows at most what the disk has now. It reads the disk.
func (f *Files) Asked(path string) {
	if k, ok := f.seen.get(path); ok && k.since != nil && !k.asked {
		return
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxAsked {
		return
	}
	since := stampOf(info)
	was, ok := f.synced.get(path)
	if !ok || was.at != since {
		disk, err := readFile(path)
		if err != nil {
			return
		}
		since = disk.stamp()
		was.text, _ = detect(disk.data)
	}
	if ok && was.written.Exists {
		since = was.written
	}
	f.seen.put(path, known{text: was.text, since: &since, asked: true, disk: true})
}
