package reviewui

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/host/markdown"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// This file writes the prompt that sends a review to the agent.

const (
	mostQuoted  = 40   // quoted lines of a comment, or of what was refused
	quotedBytes = 5000 // of each of them
	mostRefused = 50   // changes whose lines are quoted
)

// Send sends the comments, and what was refused since the last prompt.
func (c *Comments) Send(m rpc.ReviewSend) {
	answer := func(result any, failure string) { c.config.Editor.Answer(m.Callback, result, failure) }
	if why := c.config.Unable(); why != "" {
		answer(nil, why+" Your comments are kept.")
		return
	}
	text, refusals := c.prompt()
	if text == "" {
		answer(nil, "there is nothing to send: no comment, nothing refused")
		return
	}
	c.list = nil
	for _, key := range refusals {
		c.knownRefusals[key] = true
	}
	c.changed()
	answer(c.config.Send(text), "")
}

// prompt returns what the user says about the agent's changes, and the keys of the refusals in it.
func (c *Comments) prompt() (text string, refusals []string) {
	var b strings.Builder
	list := slices.Clone(c.list)
	slices.SortStableFunc(list, func(a, b *comment) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.Last, b.Last))
	})
	if len(list) > 0 {
		b.WriteString("My comments on your changes:\n")
	}
	for _, one := range list {
		lang := strings.TrimPrefix(filepath.Ext(one.path), ".")
		if one.signed {
			lang = "diff"
		}
		fmt.Fprintf(&b, "\n%s\n", c.config.Short(one.path)+atLines(one.First, one.Last))
		if len(one.Quoted) > 0 {
			b.WriteString(fenced(lang, one.Quoted) + "\n")
		}
		b.WriteString(one.Text + "\n")
	}
	n := 0
	for _, f := range c.files.sorted() {
		changes, keys := c.refused(f)
		refusals = append(refusals, keys...)
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
				fmt.Fprintf(&b, "\n%s (%s)\n", c.config.Short(f.Path), wholeChange(f, c.config.Short))
				continue
			}
			fmt.Fprintf(&b, "\n%s\n%s\n", c.config.Short(f.Path)+atLines(change.Line, change.Line), fenced("diff", signedLines(change)))
		}
	}
	if n > mostRefused {
		fmt.Fprintf(&b, "\nand %s more.\n", styled.Many(n-mostRefused, "change"))
	}
	return strings.TrimRight(b.String(), "\n"), refusals
}

// wholeChange says what was done to a file besides changing its lines.
func wholeChange(f review.File, short func(path string) string) string {
	switch f.Status {
	case review.Added:
		return "the new file"
	case review.Deleted:
		return "that it is deleted"
	case review.Moved:
		if f.MovedTo != "" {
			return "that it is moved to " + short(f.MovedTo)
		}
		return "that it is moved"
	}
	return "the change of the file"
}

// atLines names lines after a path.
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

// fenced quotes lines, only the first if there are many.
func fenced(lang string, lines []string) string {
	fence := markdown.FenceFor(strings.Join(lines, "\n"))
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
