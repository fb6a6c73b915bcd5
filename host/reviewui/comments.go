package reviewui

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewpage"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/saved"
)

// Comments are the user's unsent comments on lines of files, and what was refused since the last prompt. They belong to
// the session's goroutine.
type Comments struct {
	config *Config
	files  *files
	tab    *Tab

	list          []*comment
	drafts        []*comment // that the user is writing, or left unfinished
	lastID        int
	version       int             // counts changes to the list
	saved         int             // the version that is saved
	knownRefusals map[string]bool // refused changes that the agent knows about: see refusalKey
}

// comment is about lines of the present file, whose numbers follow the text, or about deleted lines.
type comment struct {
	review.Remark
	path    string
	signed  bool    // the quoted lines begin with the signs of a diff
	present *string // the text in which the lines are counted; nil if the record does not have it
}

// save saves the comments if they have changed: at once after the user's actions, soon if they only moved.
func (c *Comments) save(atOnce bool) {
	if c.saved == c.version {
		return
	}
	c.saved = c.version
	var list []saved.Comment
	for _, one := range c.list {
		list = append(list, saved.Comment{Remark: one.Remark, Path: one.path, Signed: one.signed, Present: one.present})
	}
	c.config.Ledger.KeepUnsent(list, slices.Collect(maps.Keys(c.knownRefusals)), atOnce)
}

// restore adds saved comments before those that the user has written since, and the refusals that the agent knows
// about.
func (c *Comments) restore(was []saved.Comment, knownRefusals []string) {
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
	for _, key := range knownRefusals {
		c.knownRefusals[key] = true
	}
}

// byPath returns the comments by file, in line order.
func (c *Comments) byPath() map[string][]review.Remark {
	all := map[string][]review.Remark{}
	for _, one := range c.list {
		all[one.path] = append(all[one.path], one.Remark)
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(a, b review.Remark) int { return cmp.Compare(a.Last, b.Last) })
	}
	return all
}

// moveWith keeps the comments on a file with their lines.
func (c *Comments) moveWith(f review.File) {
	var edits []linediff.Edit
	var of *string
	for _, one := range slices.Concat(c.list, c.drafts) {
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
		first := linediff.LineAfter(edits, one.First)
		one.First, one.Last = first, max(first, linediff.LineAfter(edits, one.Last))
		one.present = &f.Present.Text
		c.version++
	}
}

// draftAt returns what a comment on lines of a file, or on rows of the page, would be about.
func (c *Comments) draftAt(m rpc.CommentAt) (comment, error) {
	if m.Path == "" {
		return c.tab.draftAt(m)
	}
	draft := comment{Remark: review.Remark{First: m.First, Last: max(m.First, m.Last), Quoted: m.Lines}}
	draft.path, _ = c.config.Absolute(m.Path)
	if f := c.files.at(draft.path); f != nil {
		draft.present = f.text()
	}
	return draft, nil
}

// At sends Lua what a comment on lines would be about, and any comment that is already there.
func (c *Comments) At(m rpc.CommentAt) {
	if m.Path == "" {
		c.answerAt(m)
		return
	}
	// The record may not know yet what the user has typed there.
	c.config.Ledger.Refresh(m.Path, func() {
		c.config.Box.Put(func() { c.answerAt(m) })
	})
}

func (c *Comments) answerAt(m rpc.CommentAt) {
	draft, err := c.draftAt(m)
	if err != nil {
		c.config.Editor.Answer(m.Callback, nil, err.Error())
		return
	}
	answer := rpc.CommentDraft{ID: draft.ID, Name: c.config.Short(draft.path), First: draft.First, Last: draft.Last, Text: draft.Text}
	for _, one := range c.list {
		if draft.ID == 0 && one.path == draft.path && one.Last == draft.Last && one.Beside == draft.Beside {
			answer.ID, answer.Text = one.ID, one.Text
		}
	}
	if answer.ID == 0 {
		c.lastID++
		draft.ID, answer.ID = c.lastID, c.lastID
		c.drafts = append(c.drafts, &draft)
	}
	c.config.Editor.Answer(m.Callback, answer, "")
}

// Write sets the text of a comment; an empty one removes it.
func (c *Comments) Write(m rpc.Comment) {
	is := func(one *comment) bool { return one.ID == m.ID }
	if m.Dropped {
		c.drafts = slices.DeleteFunc(c.drafts, is)
		return
	}
	text := strings.TrimRight(m.Text, " \t\n")
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
	c.changed()
}

// changed saves and shows what the user has done.
func (c *Comments) changed() {
	c.version++
	c.save(true)
	c.tab.render()
}

// refusalKey identifies a refused change of a file, without its texts.
func refusalKey(f review.File, change review.Change) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %q %q", f.ID, f.Path, change.Old, change.New))
	return string(sum[:16])
}

// refused returns the refused changes of a file, without those that the agent knows about.
func (c *Comments) refused(f review.File) (list []review.Change, keys []string) {
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
		key := refusalKey(f, change)
		if c.knownRefusals[key] {
			return true
		}
		keys = append(keys, key)
		return false
	})
	return list, keys
}

// newRefusals returns how many refused changes the agent does not know about.
func (c *Comments) newRefusals() int {
	n := 0
	for _, f := range c.files.byID {
		list, _ := c.refused(f.File)
		n += len(list)
	}
	return n
}

var errNoLine = errors.New("no line of a file here to comment on")

// draftAt returns what a comment on rows of the page would be about, or the comment that is there.
func (t *Tab) draftAt(m rpc.CommentAt) (c comment, err error) {
	first, last, err := t.rows(m.At, m.Last)
	if err != nil {
		return c, err
	}
	var rows []reviewpage.Row
	for i, r := range t.page.All() {
		switch {
		case i < first || i > last || len(rows) > 0 && r.File != rows[0].File:
		case r.Kind == reviewpage.Text:
			rows = append(rows, r)
		case r.Kind == reviewpage.Comment && first == last:
			for _, one := range t.comments.list {
				if one.ID == r.Comment {
					return *one, nil
				}
			}
		case r.Kind == reviewpage.Head && first == last:
			if f := t.files.byID[r.File]; f != nil {
				c.path = f.Path // all of it, whatever becomes of its lines
				return c, nil
			}
		}
	}
	if len(rows) == 0 {
		return c, errNoLine
	}
	f := t.files.byID[rows[0].File]
	if f == nil {
		return c, errNoLine
	}
	c.path, c.present = f.Path, f.text()
	for _, r := range rows {
		c.signed = c.signed || r.Change >= 0
	}
	c.First, c.Last = rows[0].Line, rows[len(rows)-1].Line
	for _, r := range rows {
		sign := ""
		if c.signed {
			sign = string(r.Side)
		}
		c.Quoted = append(c.Quoted, sign+strings.TrimSuffix(r.Source, "\r"))
	}
	if r := rows[len(rows)-1]; r.Side == '-' || r.Side == '+' && r.State == review.Rejected {
		c.Beside = r.Source
	}
	return c, nil
}
