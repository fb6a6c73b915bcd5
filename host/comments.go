package host

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/saved"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file has what the user has to say of changes, and sending it.

const (
	mostQuoted  = 40   // lines of a comment, or of what was refused, that the agent is told
	quotedBytes = 5000 // of each of them
	mostRefused = 50   // changes of which the agent is told the lines
)

// comments are what the user has to say of lines of files, and has not sent yet. They belong to the session's
// goroutine.
type comments struct {
	list    []*comment
	drafts  []*comment // that the user is writing, or has left
	lastID  int
	version int             // counts changes
	told    map[string]bool // what was refused, and the agent knows: see refusalOf
	saved   int             // the version that is saved
}

// keepComments has the comments saved, if they have changed: at once what the user has done, and soon what has
// moved.
func (s *Session) keepComments(atOnce bool) {
	c := &s.comments
	if c.saved == c.version {
		return
	}
	c.saved = c.version
	var list []saved.Comment
	for _, one := range c.list {
		list = append(list, saved.Comment{Remark: one.Remark, Path: one.path, Signed: one.signed, Present: one.present})
	}
	s.ledger.KeepUnsent(list, slices.Collect(maps.Keys(c.told)), atOnce)
}

// takeUp takes comments that were saved, before what the user has written since, and which refusals the agent
// knows.
func (c *comments) takeUp(was []saved.Comment, told []string) {
	var list []*comment
	for _, one := range was {
		c.lastID++
		one.ID = c.lastID
		list = append(list, &comment{Remark: one.Remark, path: one.Path, signed: one.Signed, present: one.Present})
	}
	if c.version++; len(c.list) == 0 {
		c.saved = c.version
	}
	c.list = append(list, c.list...)
	for _, refusal := range told {
		c.told[refusal] = true
	}
}

// comment is about lines of a file as it is now, whose numbers follow the text, or about lines that are gone.
type comment struct {
	review.Remark
	path    string
	signed  bool    // the quoted lines begin with what a diff has there
	present *string // the text in which the lines are counted; nil where it is not in the record
}

// byPath gives the comments by file, in the order of their lines.
func (c *comments) byPath() map[string][]review.Remark {
	all := map[string][]review.Remark{}
	for _, one := range c.list {
		all[one.path] = append(all[one.path], one.Remark)
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(a, b review.Remark) int { return cmp.Compare(a.Last, b.Last) })
	}
	return all
}

// moved has the comments on a file follow its text.
func (c *comments) moved(f review.File) {
	var edits []linediff.Edit
	var of *string
	for _, one := range c.list {
		switch {
		case one.path != f.Path && (f.OldPath == "" || one.path != f.OldPath):
			continue
		case one.path != f.Path:
			one.path = f.Path // it was moved
			c.version++
		}
		if f.Present.Opaque || one.present == nil || *one.present == f.Present.Text {
			continue
		}
		if of == nil || *of != *one.present {
			of = one.present
			edits = linediff.Compare(linediff.Lines(*of), linediff.Lines(f.Present.Text))
		}
		one.First, one.Last = shifted(edits, one.First), max(shifted(edits, one.First), shifted(edits, one.Last))
		one.present = &f.Present.Text
		c.version++
	}
}

// shifted is where a line, counted from 1, is after edits; the nearest one where it was replaced.
func shifted(edits []linediff.Edit, line int) int {
	at := line - 1
	by := 0
	for _, e := range edits {
		switch {
		case e.A1 <= at:
			by = e.B1 - e.A1
		case e.A0 <= at:
			return max(1, min(e.B0+at-e.A0, max(e.B0, e.B1-1))+1)
		}
	}
	return max(1, at+by+1)
}

// draftAt is what a comment on lines would be about: lines of a file, or rows of the page.
func (s *Session) draftAt(m rpc.CommentAt) (c comment, err error) {
	if m.Path != "" {
		c.path, _ = s.base.Absolute(m.Path)
		c.First, c.Last = m.First, max(m.First, m.Last)
		c.Quoted = m.Lines
		for _, f := range s.review.files {
			if f.Path == c.path && !f.Present.Opaque {
				c.present = &f.Present.Text
			}
		}
		return c, nil
	}
	return s.review.draftAt(m)
}

// commentAt tells Lua what a comment on lines would be about, and the one that is there already.
func (s *Session) commentAt(m rpc.CommentAt) {
	if m.Path == "" {
		s.tellComment(m)
		return
	}
	// The record may not know yet what the user has typed there.
	s.ledger.Refresh(m.Path, func() {
		s.base.Box.Put(func() { s.tellComment(m) })
	})
}

func (s *Session) tellComment(m rpc.CommentAt) {
	draft, err := s.draftAt(m)
	if err != nil {
		s.base.Editor.Answer(m.Callback, nil, err.Error())
		return
	}
	answer := rpc.CommentDraft{ID: draft.ID, Name: s.base.Short(draft.path), First: draft.First, Last: draft.Last, Text: draft.Text}
	for _, one := range s.comments.list {
		if draft.ID == 0 && one.path == draft.path && one.Last == draft.Last && one.Beside == draft.Beside {
			answer.ID, answer.Text = one.ID, one.Text
		}
	}
	if answer.ID == 0 {
		s.comments.lastID++
		draft.ID, answer.ID = s.comments.lastID, s.comments.lastID
		s.comments.drafts = append(s.comments.drafts, &draft)
	}
	s.base.Editor.Answer(m.Callback, answer, "")
}

// comment takes the text of a comment; without one it is gone.
func (s *Session) comment(m rpc.Comment) {
	c := &s.comments
	if m.Dropped {
		c.drafts = slices.DeleteFunc(c.drafts, func(one *comment) bool { return one.ID == m.ID })
		return
	}
	text := strings.TrimRight(m.Text, " \t\n")
	is := func(one *comment) bool { return one.ID == m.ID }
	if at := slices.IndexFunc(c.drafts, is); at >= 0 {
		if text != "" {
			c.list = append(c.list, c.drafts[at])
		}
		c.drafts = slices.Delete(c.drafts, at, at+1)
	}
	at := slices.IndexFunc(c.list, is)
	switch {
	case at < 0:
	case text == "":
		c.list = slices.Delete(c.list, at, at+1)
	default:
		c.list[at].Text = text
	}
	c.version++
	s.keepComments(true)
	s.review.render()
}

// refusalOf names a refused change of a file, without its texts.
func refusalOf(f review.File, change review.Change) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %q %q", f.ID, f.Path, change.Old, change.New))
	return string(sum[:16])
}

// refused are the changes of a file that were refused, and those of which the agent knows are left out.
func (c *comments) refused(f review.File) (list []review.Change, keys []string) {
	whole := f.State == review.Rejected && len(f.Hunks) == 0
	for _, change := range f.Changes() {
		if change.State == review.Rejected {
			list = append(list, change)
		}
	}
	if whole {
		list = append(list, review.Change{State: review.Rejected})
	}
	list = slices.DeleteFunc(list, func(change review.Change) bool {
		key := refusalOf(f, change)
		if c.told[key] {
			return true
		}
		keys = append(keys, key)
		return false
	})
	return list, keys
}

// untold is how many refused changes the agent does not know of.
func (c *comments) untold(files map[int]*reviewedFile) int {
	n := 0
	for _, f := range files {
		list, _ := c.refused(f.File)
		n += len(list)
	}
	return n
}

// sendReview makes a prompt of the comments, and of what was refused since the last one.
func (s *Session) sendReview(m rpc.ReviewSend) {
	id := m.Callback
	if s.phase == dead {
		s.base.Editor.Answer(id, nil, s.failure+" Your comments are kept.")
		return
	}
	text, keys := s.reviewPrompt()
	if text == "" {
		s.base.Editor.Answer(id, nil, "there is nothing to send: no comment, nothing refused")
		return
	}
	s.comments.list = nil
	s.comments.version++
	for _, key := range keys {
		s.comments.told[key] = true
	}
	s.keepComments(true)
	s.review.render()
	before := s.outbox.attempt
	s.submit(newDraft(prompting, prompt{blocks: []session.Content{session.Text{Text: text}}}))
	s.base.Editor.Answer(id, s.outbox.attempt == before, "") // whether it waits
}

// reviewPrompt is what is to be said of the agent's changes, and which refusals it tells.
func (s *Session) reviewPrompt() (text string, told []string) {
	var b strings.Builder
	list := slices.Clone(s.comments.list)
	slices.SortStableFunc(list, func(a, b *comment) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.Last, b.Last))
	})
	if len(list) > 0 {
		b.WriteString("My comments on your changes:\n")
	}
	for _, c := range list {
		lang := strings.TrimPrefix(filepath.Ext(c.path), ".")
		if c.signed {
			lang = "diff"
		}
		fmt.Fprintf(&b, "\n%s\n", s.base.Short(c.path)+atLines(c.First, c.Last))
		if len(c.Quoted) > 0 {
			b.WriteString(fenced(lang, c.Quoted) + "\n")
		}
		b.WriteString(c.Text + "\n")
	}
	var files []review.File
	for _, f := range s.review.files {
		files = append(files, f.File)
	}
	slices.SortFunc(files, func(a, b review.File) int { return cmp.Compare(a.Path, b.Path) })
	n := 0
	for _, f := range files {
		changes, keys := s.comments.refused(f)
		told = append(told, keys...)
		for _, change := range changes {
			if n++; n == 1 {
				if b.Len() > 0 {
					b.WriteString("\n")
				}
				b.WriteString("I have refused these changes of yours, and they are not in the files any more. Do not make them again:\n")
			}
			if n > mostRefused {
				continue
			}
			if len(change.Old)+len(change.New) == 0 {
				fmt.Fprintf(&b, "\n%s (%s)\n", s.base.Short(f.Path), s.wholeChange(f))
				continue
			}
			fmt.Fprintf(&b, "\n%s\n%s\n", s.base.Short(f.Path)+atLines(change.Line, change.Line), fenced("diff", signedLines(change)))
		}
	}
	if n > mostRefused {
		fmt.Fprintf(&b, "\nand %s more.\n", styled.Many(n-mostRefused, "change"))
	}
	return strings.TrimRight(b.String(), "\n"), told
}

// wholeChange says what was done to a file beside changing its lines.
func (s *Session) wholeChange(f review.File) string {
	switch f.Status {
	case review.Added:
		return "the new file"
	case review.Deleted:
		return "that it is deleted"
	case review.Moved:
		if f.MovedTo != "" {
			return "that it is moved to " + s.base.Short(f.MovedTo)
		}
		return "that it is moved"
	}
	return "the change of the file"
}

// atLines names lines behind a path.
func atLines(first, last int) string {
	switch {
	case first <= 0:
		return ""
	case first >= last:
		return fmt.Sprintf(":%d", first)
	}
	return fmt.Sprintf(":%d-%d", first, last)
}

func signedLines(c review.Change) (lines []string) {
	for _, l := range c.Old {
		lines = append(lines, "-"+strings.TrimSuffix(l, "\n"))
	}
	for _, l := range c.New {
		lines = append(lines, "+"+strings.TrimSuffix(l, "\n"))
	}
	return lines
}

// fence is what a text can stand between in markdown, though it may have fences itself.
func fence(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// fenced quotes lines, the first of them where they are many.
func fenced(lang string, lines []string) string {
	fence := fence(strings.Join(lines, "\n"))
	var b strings.Builder
	b.WriteString(fence + lang + "\n")
	for i, l := range lines {
		if i == mostQuoted {
			fmt.Fprintf(&b, "… and %s more\n", styled.Many(len(lines)-i, "line"))
			break
		}
		b.WriteString(styled.Cut(l, quotedBytes) + "\n")
	}
	return b.String() + fence
}
