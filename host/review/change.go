package review

// This file records what happens to files.

// Changed records a change by the agent. Where before differs from what the record had last, the user has made it so.
func (r *Record) Changed(path string, before, after Content) {
	if before == after {
		r.Now(path, after)
		return
	}
	f := r.back(path, before)
	if f == nil {
		f = r.add(path, before)
	}
	r.set(f, before, false)
	r.set(f, after, true)
	r.settle(f)
}

// Moved records a move by the agent, with what was at the old path before it and is at the new one now.
func (r *Record) Moved(from, to string, before, after Content) {
	over := r.back(to, Content{})
	typed := after
	if over != nil && !over.Baseline.Exists && !over.Accepted.Exists {
		// What the agent put there is this very file, unless it thinks that gone.
		if over.Present.Exists {
			typed = over.Present
			typed.Mode = after.Mode
		}
		r.forget(over)
		over = nil
	}
	if over != nil {
		// Moved over a file that the agent has changed or removed: two changes, unless it has made the other one too.
		if !r.made[from] {
			r.Changed(from, before, Content{})
		}
		r.Changed(to, over.Present, after)
		return
	}
	f := r.back(from, before)
	if f == nil && r.made[from] {
		r.Changed(to, Content{}, after)
		return
	}
	if f == nil {
		f = r.add(from, before)
	}
	delete(r.files, from)
	f.Path, r.files[to] = to, f
	kept := f.moveKept
	f.moveKept, f.refused, f.taken, f.MovedTo = false, "", Content{}, ""
	switch {
	case !f.Baseline.Exists && !f.Accepted.Exists: // the agent's own file: it has another name
	case f.OldPath == "", kept:
		if f.OldPath = from; f.text != nil {
			f.atMove = new(f.text.accepted())
		}
	case f.OldPath == to:
		f.OldPath = ""
	}
	if l := f.gone.onDisk; l != nil && l.present() == before.Text {
		r.bytes -= f.size()
		f.gone = removal{text: l}
		r.bytes += f.size()
	}
	r.set(f, before, false)
	r.set(f, after, true)
	r.set(f, typed, false)
	r.settle(f)
}

// Had adds a change by the agent of which nothing else is known any more: of a file that was at old, or "" for the same
// path. With typed, the user has changed it since, see [File].
func (r *Record) Had(old, path string, before, after Content, typed bool) {
	f := r.add(path, before)
	f.OldPath = old
	r.set(f, after, true)
	if typed {
		f.made = Content{}
	}
	r.settle(f)
}

// Renamed says that the user has given a file another name: what is pending moves along.
func (r *Record) Renamed(from, to string) {
	f := r.files[from]
	if f == nil || r.files[to] != nil {
		return
	}
	delete(r.files, from)
	f.Path, r.files[to] = to, f
	if f.OldPath == "" {
		f.MovedTo = ""
	}
	r.settle(f)
}

// Remade says that the user has put a file back where it was before the agent moved it: what is pending in its text
// returns, and the agent has added another file.
func (r *Record) Remade(path string, now Content) {
	at := r.files[path]
	if at != nil && !at.Baseline.Exists {
		return // the agent has made it there
	}
	there := at != nil // the agent had removed another one there
	for _, f := range r.files {
		if f.OldPath != path || f.moveKept || f.away {
			continue
		}
		if delete(r.files, f.Path); there {
			r.forget(f)
		}
		added, made := r.add(f.Path, Content{}), f.Present
		made.Text = f.asMoved()
		r.set(added, made, true)
		r.set(added, f.Present, false)
		r.settle(added)
		if !there {
			f.Path, f.OldPath, r.files[path] = path, "", f
			r.bytes -= f.size()
			f.asNearest(now)
			r.bytes += f.size()
			if unlike(f.Present.Text, now.Text) { // another text than the agent has moved away
				r.set(f, Content{}, true)
			}
			r.set(f, now, false)
			r.settle(f)
		}
		return
	}
}

// Now updates a file to what the user sees.
func (r *Record) Now(path string, now Content) {
	if now.Exists {
		delete(r.made, path)
	}
	if f := r.files[path]; f != nil && (f.away && now.Exists || !f.away && !f.has(now)) {
		f.away = false
		r.set(f, now, false)
		r.settle(f)
	}
}

// Held says what a buffer has of a file that the agent has removed under it: what it lacks, the user has taken out, even
// if no line is left.
func (r *Record) Held(path string, now Content) {
	f := r.files[path]
	if f == nil || f.Present.Exists || f.gone.text == nil || f.away || now.Opaque {
		return
	}
	was := now
	was.Text = f.gone.text.present()
	r.set(f, was, false)
	r.set(f, now, false)
	r.settle(f)
}

// Gone says that the agent has removed a file, as was known when the record was saved: if it has none at that path, the
// agent had made it.
func (r *Record) Gone(path string) {
	if r.files[path] == nil {
		r.made[path] = true
	}
}

// NewTurn says that what is gone by now was not moved.
func (r *Record) NewTurn() { clear(r.made) }

// Recall brings back what was refused of a file and is in what the user sees there now, or all that was there when the
// file had that text before, but takes nothing else from it.
func (r *Record) Recall(path string, now Content) {
	if now.Exists {
		delete(r.made, path)
	}
	f := r.files[path]
	if f == nil || f.away || f.text == nil || !f.Present.Exists || !now.Exists || now.Opaque || now.Text == f.Present.Text {
		return
	}
	is := f.earlier(now.Text)
	if is != nil {
		f.became(is)
	} else {
		l := *f.text
		if l.recognize(now.Text, false); l.present() == f.Present.Text {
			return
		}
		is = &l
	}
	r.bytes -= f.size()
	f.text, f.Present.Text = is, is.present()
	r.bytes += f.size()
	r.settle(f)
}

// Removed says that the user has removed a file, and with it what was pending. That returns when the file does.
func (r *Record) Removed(path string) {
	if f := r.files[path]; f != nil && f.Present.Exists && !f.away {
		f.away = true
		r.news[f.ID] = nil
		r.note(f)
	}
}

// MadeUnder adds a file that the agent has made under the buffer of no file. What that had is the user's, and what it has now
// comes of both.
func (r *Record) MadeUnder(path string, had, now Content) {
	r.Changed(path, Content{}, Content{Exists: true, Mode: now.Mode})
	r.Now(path, had)
	r.Changed(path, had, now)
}

// Retracted says that a change by the agent was taken back, but not refused, with what was there before that and is
// now. The change leaves the record, and what the agent had changed earlier returns.
func (r *Record) Retracted(path string, was, now Content) {
	f := r.files[path]
	if f == nil && !was.Exists {
		f = r.returned(path)
	}
	switch {
	case f == nil: // the change had undone an earlier one
		r.Changed(path, was, now)
		return
	case now.Mark() == f.Baseline.Mark() && f.OldPath == "" && (f.text == nil || len(f.text.refused.edits) == 0):
		r.forget(f)
		return
	}
	f.away = false
	if f.Accepted == was.Mark() {
		f.Accepted = f.Baseline // what was kept is gone, and what was kept before it is not known
		if f.text != nil {      // what was kept of it is that it is gone
			r.bytes -= f.size()
			f.unkeepRemoval()
			r.bytes += f.size()
		}
	}
	if now.Form == f.Baseline.Form {
		f.Accepted.Form = now.Form
	}
	if now.Mode == f.Baseline.Mode {
		f.Accepted.Mode = now.Mode
	}
	var back retraction
	if f.text != nil && now.Exists && !now.Opaque {
		r.bytes -= f.size()
		l := *f.text
		l.standsAgain(now.Text)
		f.text, back = &l, l.retraction(now.Text)
		r.bytes += f.size()
	}
	r.set(f, now, true)
	if f.text != nil {
		r.bytes -= f.size()
		l := *f.text
		l.unkeep(back)
		f.text = &l
		r.bytes += f.size()
	}
	r.settle(f)
}

// unkeepRemoval makes the removal of a text, which was kept, a pending one.
func (f *file) unkeepRemoval() {
	l := *f.text
	l.pending = newTextDiff(l.baseline())
	l.pending.change("", true)
	l.rebase(true)
	f.text = &l
}

// MoveRetracted is Retracted for a move by the agent, from a path back to another one.
func (r *Record) MoveRetracted(from, to string, was, now Content) {
	f := r.files[from]
	if f == nil && !was.Exists { // where it was removed
		if f = r.returned(from); f == nil {
			r.Retracted(to, was, now)
			return
		}
	}
	if f != nil && f.State == Kept && f.OldPath == "" && f.Baseline.Exists && r.files[to] == nil { // also this move
		r.Renamed(from, to)
		r.Retracted(to, was, now)
		return
	}
	if f != nil && f.OldPath == to {
		f.moveKept = false // it is this move that was
	}
	if f == nil || f.OldPath != "" || !f.Baseline.Exists {
		r.Moved(from, to, was, was)
		r.Retracted(to, was, now)
		return
	}
	// Its two ends are separate changes, as other files were there before.
	r.Retracted(from, was, Content{})
	r.Retracted(to, Content{}, now)
}

// back returns the file at a path that has a content now; nil if the record has none. One that the user has removed is
// forgotten if it was not there.
func (r *Record) back(path string, now Content) *file {
	f := r.files[path]
	if f == nil && now.Exists {
		f = r.returned(path)
	}
	if f != nil && f.away {
		if !now.Exists {
			r.forget(f)
			return nil
		}
		f.away = false
	}
	return f
}

// returned puts the file that was moved to a path and removed there back, and returns it; nil for none.
func (r *Record) returned(path string) *file {
	f := r.left[path]
	if f == nil || f.left != path || f.Present.Exists {
		return nil
	}
	r.leave(f, "")
	delete(r.files, f.Path)
	f.Path, f.OldPath = path, f.Path
	r.files[path] = f
	return f
}

// leave remembers from which path a file was removed; "" is none.
func (r *Record) leave(f *file, path string) {
	if f.left != "" && r.left[f.left] == f {
		delete(r.left, f.left)
	}
	if f.left = path; path != "" {
		r.left[path] = f
	}
}

// forget removes a file from the record.
func (r *Record) forget(f *file) {
	r.leave(f, "")
	r.bytes -= f.size()
	delete(r.files, f.Path)
	r.news[f.ID] = nil
	r.note(f)
	r.touched.drop(f)
}

func (r *Record) add(path string, baseline Content) *file {
	r.lastID++
	delete(r.made, path)
	f := &file{File: File{ID: r.lastID, Path: path, Baseline: baseline, Accepted: baseline, Present: baseline}}
	if !baseline.Opaque {
		l := newLayers(baseline.Text)
		f.text = &l
	}
	r.files[path] = f
	r.bytes += f.size()
	return f
}

// settle ends a change of a file: it drops a file that is as before, and enforces the limit.
func (r *Record) settle(f *file) {
	if f.Present.Exists {
		r.leave(f, "")
	}
	if anew := r.files[f.OldPath]; !f.Present.Exists && f.OldPath != "" && !f.moveKept && (anew == nil || !anew.Baseline.Exists) {
		// Moved and then removed: it is gone from its old path, or another was created there.
		delete(r.files, f.Path)
		r.leave(f, f.Path)
		f.Path, f.OldPath = f.OldPath, ""
		r.files[f.Path] = f
		if anew != nil {
			r.bytes -= anew.size()
			r.news[anew.ID] = nil
			r.note(anew)
			r.touched.drop(anew)
			agents := anew.Present
			if anew.text != nil {
				agents.Text = anew.text.agents()
			}
			r.set(f, agents, true)
			r.set(f, anew.Present, false)
			if p, err := r.Plan(f.Path, Keep, Selection{}); anew.State == Kept && err == nil {
				r.Commit(p)
				return
			}
		}
	}
	f.settle()
	if f.unchanged() {
		r.forget(f)
		if !f.Present.Exists {
			r.made[f.Path] = true
		}
		return
	}
	r.news[f.ID] = f
	r.note(f)
	if f.text != nil || f.gone.text != nil {
		r.touched.touch(f)
	} else {
		r.touched.drop(f)
	}
	for r.bytes > r.limit && r.touched.oldest() != nil {
		oldest := r.touched.oldest()
		r.touched.drop(oldest)
		r.forgets(oldest)
		r.bytes -= oldest.size()
		oldest.text, oldest.gone, oldest.made = nil, removal{}, oldest.Present.Mark()
		oldest.settle()
		r.note(oldest)
		if !oldest.away {
			r.news[oldest.ID] = oldest
		}
	}
}

// forgets tells of a file's texts before it is to be known without them.
func (r *Record) forgets(f *file) {
	if r.Forgets != nil {
		r.Forgets(f.Baseline)
		r.Forgets(f.Accepted)
	}
}
