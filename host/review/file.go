package review

import (
	"cmp"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// file is a [File] with all that its next change needs.
type file struct {
	File
	away     bool   // the user has removed it: it is not shown until it is back
	left     string // where it was when it was removed, if it had been moved there
	moveKept bool
	atMove   *string // its lines without the agent's when it was moved; nil where that is not known, as it is not saved
	refused  Status  // what was refused as a whole
	taken    Content // what was there before that
	gone     removal
	made     Content   // of an opaque file, what the agent has made it, which the user may have changed since
	texts    []*layers // the last ones, of both, without a decision between them, see byUser; the last one is text
	agents   *layers   // the one of them that the agent has made last
}

// removal is the text that the agent has removed or made binary, for when it returns.
type removal struct {
	text   *layers // nil if it is not known
	onDisk *layers // what the disk had of it where text is what a buffer had, for when the agent has moved it; not saved
}

// set gives a file its present content, by the agent or by the user.
func (r *Record) set(f *file, now Content, agent bool) {
	if agent && now.Exists && !now.Opaque && f.Present.SameText(f.made) {
		r.bytes -= f.size()
		f.textAgain()
		r.bytes += f.size()
	}
	if agent && now.Exists && (now.Opaque || f.text == nil) && !f.typed() {
		f.made = now.Mark()
	}
	if f.has(now) {
		return
	}
	if now = f.formed(now); f.text == nil {
		now = now.Mark()
	}
	was := f.Present
	f.Present = now
	if agent {
		f.refused, f.MovedTo = "", ""
	} else if was.Exists && now.Exists {
		for _, c := range []*Content{&f.Accepted, &f.Baseline} {
			if *c = c.Restyled(was, now); was.Mode != now.Mode && was.Mode != 0 && now.Mode != 0 && c.Exists {
				c.Mode = now.Mode // theirs, whatever the agent had given
			}
		}
	}
	r.bytes -= f.size()
	if now.Opaque && f.text != nil && !agent {
		f.made = was.Mark()
	}
	switch {
	case f.text == nil && !agent && was.Exists && now.Exists:
		// If nothing is pending, what the user does to the file is not a change by the agent.
		was = was.Restyled(was, now)
		for _, c := range []*Content{&f.Accepted, &f.Baseline} {
			if *c == was {
				*c = now
			}
		}
	case f.text == nil:
	case now.Opaque:
		f.Baseline.Text, f.Accepted.Text = f.text.baseline(), f.text.accepted()
		r.forgets(f)
		if was.Exists {
			f.gone.text = f.text
		}
		f.text = nil
	case was.Exists && !now.Exists:
		// A file that is gone has no lines by the user.
		l := *f.text
		l.pending = newTextDiff(l.accepted())
		l.pending.change(now.Text, true)
		f.text, f.gone = &l, removal{text: f.text}
		if agent && l.accepted() != "" && !f.Accepted.Exists {
			f.standsForUser(was) // their lines were in a file that the agent had made
		}
	case !agent && was.Exists:
		f.text = f.byUser(now.Text)
	default:
		l := *cmp.Or(f.gone.text, f.text)
		if !agent && f.gone.text != nil && unlike(f.gone.text.present(), now.Text) {
			l = *f.text // another text than the agent has removed, which is still to be decided about
		}
		if agent {
			l.agent(now.Text)
			f.became(&l)
			f.agents = &l
		} else {
			l.user(now.Text)
		}
		f.text, f.gone = &l, removal{}
	}
	if f.refused == Added && !was.Exists {
		f.madeByUser(now)
	}
	if !agent && !was.Exists && !f.Accepted.Exists && f.Baseline.Exists {
		f.Accepted = now // where they had agreed that it is gone
	}
	r.bytes += f.size()
}

// unlike reports whether a text has no line of another one that has some.
func unlike(old, now string) bool {
	had := map[string]bool{}
	for line := range strings.Lines(old) {
		had[line] = true
	}
	for line := range strings.Lines(now) {
		if had[line] {
			return false
		}
	}
	return len(had) > 0
}

const (
	mostTexts = 8        // of a file
	maxText   = 64 << 10 // bytes of each
)

// byUser returns the file's layers with another text by the user. If they undo their own edits, all lines belong to
// whom they did before those; also if they undo changes by the agent, unless these are recognized one by one, or no line
// is back.
func (f *file) byUser(text string) *layers {
	f.became(f.text)
	var now *layers
	users := false
	for _, l := range f.texts {
		users = users || l == f.agents || f.agents == nil
		if l.present() == text {
			now = l
			break
		}
	}
	if now != nil && !users && !linediff.Brings(f.text.present(), text) {
		now = nil
	}
	if now == nil || !users {
		l := *f.text
		if l.recognize(text, true); now == nil || l.present() == text {
			l.user(text)
			now = &l
		}
	}
	f.became(now)
	return now
}

// earlier returns the layers with which a file had a text before, with something by the agent that waited, if nothing was
// decided since; nil if it has not.
func (f *file) earlier(text string) *layers {
	if n := len(f.texts); n == 0 || f.texts[n-1] != f.text {
		return nil
	}
	for _, l := range f.texts[:len(f.texts)-1] {
		if l.present() == text && len(l.pending.edits) > 0 {
			return l
		}
	}
	return nil
}

// asNearest gives a file the layers that it had, without a decision since, with the text most like the one that is there now:
// where the agent has moved it away the old place has not got what it became afterwards.
func (f *file) asNearest(now Content) {
	if n := len(f.texts); n == 0 || f.texts[n-1] != f.text || !now.Exists || now.Opaque {
		return
	}
	nearest := slices.MinFunc(f.texts, func(a, b *layers) int {
		return cmp.Compare(linediff.Distance(a.present(), now.Text), linediff.Distance(b.present(), now.Text))
	})
	f.became(nearest)
	f.text, f.Present.Text = nearest, nearest.present()
}

// asMoved returns the present text without the lines that the user has put in since the agent moved the file.
func (f *file) asMoved() string {
	if f.text == nil || f.atMove == nil {
		return f.Present.Text
	}
	typed := map[int]bool{} // lines of the accepted text
	for _, e := range linediff.Compare(linediff.Lines(*f.atMove), linediff.Lines(f.text.accepted())) {
		for i := e.B0; i < e.B1; i++ {
			typed[i] = true
		}
	}
	var left []line
	at := 0 // in the accepted text
	for _, l := range f.text.pending.lines() {
		if l.owner == added || !typed[at] {
			left = append(left, l)
		}
		if l.owner != added {
			at++
		}
	}
	return presentOf(left)
}

// became notes the layers that a file gets; others than the last known ones are of a decision.
func (f *file) became(now *layers) {
	if n := len(f.texts); n == 0 || f.texts[n-1] != f.text {
		f.texts, f.agents = []*layers{f.text}, nil
	}
	others := slices.DeleteFunc(slices.Clone(f.texts), func(l *layers) bool { return l == now || len(l.present()) > maxText })
	f.texts = append(others[max(0, len(others)+1-mostTexts):], now)
}

// textAgain gives a file whose text only the agent has taken away its lines back, as they were before, unless something
// was decided since.
func (f *file) textAgain() {
	l := f.gone.text
	if f.text != nil || l == nil || !f.Present.Exists {
		return
	}
	same := func(c Content, text string) bool { return !c.Exists && c.Text == text || c.SameText(Text(text)) }
	if !same(f.Baseline, l.baseline()) || !same(f.Accepted, l.accepted()) {
		return
	}
	f.text, f.gone = l, removal{}
	f.Present.Opaque, f.Present.Text = false, l.present()
	for c, text := range map[*Content]string{&f.Baseline: l.baseline(), &f.Accepted: l.accepted()} {
		c.Opaque, c.Text = false, text
	}
}

// standsForUser makes a file one that there was before the agent's changes, with the user's lines, as it stood.
func (f *file) standsForUser(was Content) {
	for _, c := range []*Content{&f.Baseline, &f.Accepted} {
		c.Exists, c.Form, c.Mode = true, was.Form, was.Mode
	}
}

// madeByUser makes a file the user's that they have created where a new one by the agent was refused, unless it is
// that one again.
func (f *file) madeByUser(now Content) {
	again := now.SameText(f.taken)
	if f.text != nil {
		again = len(f.text.pending.edits) > 0
	}
	if f.refused, f.taken = "", (Content{}); again {
		return
	}
	for _, c := range []*Content{&f.Baseline, &f.Accepted} {
		*c = now
	}
}

// has reports whether a content is the record's present one.
func (f *file) has(now Content) bool {
	if now = f.formed(now); f.text == nil {
		now = now.Mark()
	}
	return f.Present == now
}

// formed gives a text whose form is a guess the one that the file has, or had: that it cannot be seen is no change of it.
func (f *file) formed(now Content) Content {
	if !now.Exists || now.Opaque {
		return now
	}
	is := []Content{f.Accepted, f.Present}
	if now.Text == "" && !now.SameText(f.Accepted) {
		is = is[1:] // what comes back in its place stands as it did
	}
	for _, c := range is {
		if c.Exists && !c.Opaque && (now.Form == c.Form || now.StandsAs(c.Form)) { // the former is usual, and not worth a look at the text
			now.Form = c.Form
			break
		}
	}
	return now
}

// typed reports whether the user has changed what is pending in a file whose text is not known by lines, so that their
// part cannot be told apart.
func (f *file) typed() bool {
	waits := f.Present.Exists && !f.Present.SameText(f.Accepted)
	return f.text == nil && waits && !f.Present.SameText(f.made)
}

func (f *file) unchanged() bool {
	switch {
	case f.refused != "":
		return false
	case !f.Baseline.Exists && !f.Present.Exists:
		return !f.Accepted.Exists
	}
	return f.Present == f.Baseline && f.Accepted == f.Baseline && f.OldPath == "" && len(f.Hunks) == 0
}

// settle brings the exported fields in step with the texts.
func (f *file) settle() {
	if f.text == nil {
		f.Hunks = nil
		f.Baseline, f.Accepted, f.Present = f.Baseline.Mark(), f.Accepted.Mark(), f.Present.Mark()
	} else {
		f.Baseline.Text, f.Accepted.Text = f.text.baseline(), f.text.accepted()
		f.Hunks = f.text.hunks()
	}
	switch {
	case f.refused != "":
		f.Status = f.refused
	case !f.Present.Exists && !f.Baseline.Exists && !f.Accepted.Exists:
		f.Status = Added
	case !f.Present.Exists:
		f.Status = Deleted
	case f.OldPath != "":
		f.Status = Moved
	case !f.Baseline.Exists:
		f.Status = Added
	default:
		f.Status = Modified
	}
	f.State, f.Typed = f.state(), f.typed()
}

func (f *file) state() State {
	has := func(s State) bool {
		return slices.ContainsFunc(f.Hunks, func(h Hunk) bool { return h.State == s })
	}
	switch {
	case has(Pending), f.Accepted != f.Present, f.OldPath != "" && !f.moveKept:
		return Pending
	case has(Kept), f.Accepted != f.Baseline, f.OldPath != "":
		return Kept
	}
	return Rejected
}

// size returns how much a file keeps, in bytes.
func (f *file) size() int {
	n := 0
	for _, l := range []*layers{f.text, f.gone.text, f.gone.onDisk} {
		if l == nil {
			continue
		}
		n += len(l.present())
		for _, p := range []textDiff{l.kept, l.pending, l.refused} {
			if len(p.edits) > 0 {
				n += len(p.base)
			}
		}
	}
	return n
}
