package buffers

import "os"

// This file says what a write has found, and what disk and buffer are to have after it.

// found is what a write finds; a text that is nil is no file.
type found struct {
	form     format
	disk     *string
	mine     *string // what the user has
	modified bool    // that is a buffer's unsaved text
	at       stamp   // the disk
	written  stamp   // the disk as the user has last written it
	had      string  // what is on the disk, in the buffer's encoding where decoded
	decoded  bool
	emptied  bool // that is nothing, as in the middle of a write: disk is what was there before
}

// goal is what a write is to reach; a text that is nil is no file.
type goal struct {
	disk, buffer *string    // the same, unless the buffer is to have unsaved text
	synced       string     // the disk's text that the buffer is then in step with
	at           stamp      // that disk, where it is known
	conflicts    []conflict // of the buffer
	theirs       string     // and the text that it conflicts with
	known        *known     // what the agent then knows; nil: as before
}

// find is what there is of a file whose buffer is as l says and has the text mine.
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

// findUnloaded is what there is of a file that no buffer shows, as l says.
func findUnloaded(l live, disk file) found {
	s := found{form: format{encoding: "utf-8"}, at: disk.stamp(), written: l.Written}
	if disk.exists() {
		s.had, s.form = detect(disk.data)
		s.disk, s.mine = &s.had, &s.had
	}
	return s
}

// agents is the goal of an agent's write of a text: the disk gets it, and so does the buffer, but for the lines
// that the user has made of what the agent knows: unsaved ones stay in the buffer, saved ones on the disk too.
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
			// Nobody has seen what the agent has made of a file that no buffer shows any more.
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

// rebased is what the agent knows after it has made the disk's new text of the old one by itself: but for what it
// does not know of either.
func rebased(text, old, disk string) string {
	text, _ = merge3(old, disk, text)
	return text
}

// Asked notes that an agent asks to write the file at a real path, and may wait for an answer: of a file whose text it
// was not given it knows at most what the disk has by then. It reads the disk.
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
