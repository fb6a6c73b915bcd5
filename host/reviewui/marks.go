package reviewui

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// The limits of what Neovim gets of a change.
const (
	oldLinesShown = 20
	oldLineShown  = 500  // bytes of such a line
	newLineShown  = 5000 // bytes of a buffer's line in which words are marked
	// wordLines is how many lines a change may have for its changed words to be highlighted.
	wordLines = 500
	// knownBy is how many bytes of a line Lua compares to see whether the buffer has it.
	knownBy = 200
)

// MarkSource is a session's record of changes, for any goroutine.
type MarkSource struct {
	Session int
	Title   string // the agent's
	// File returns a file of the record, updated from the user's buffer first if look is true.
	File func(path string, look bool, done func(review.File))
}

// markKey is a hash of a mark's look.
type markKey [sha256.Size]byte

// mark is a pending change as a buffer shows it.
type mark struct {
	review.Change
	session int
	also    []string // agents of other sessions that changed something there
	known   string   // its first line, or the one after deleted lines
	last    string   // its last line
}

// end returns the line after a mark; deleted lines count as at the line after them.
func (m mark) end() int { return m.Line + max(1, len(m.New)) }

// withMarks adds the pending changes of a file in a session's record to the marks of newer sessions, in the order of
// the text. A change that overlaps one of those is only mentioned there.
func withMarks(list []mark, of MarkSource, f review.File) []mark {
	present := linediff.Lines(f.Present.Text)
	line := func(i int) string {
		if i < 1 || i > len(present) {
			return ""
		}
		text := strings.TrimSuffix(present[i-1], "\n")
		return text[:min(len(text), knownBy)]
	}
	var fresh []mark
	for _, c := range f.Changes() {
		if c.State != review.Pending {
			continue
		}
		m := mark{Change: c, session: of.Session, known: line(c.Line), last: line(c.Line + max(1, len(c.New)) - 1)}
		at, _ := slices.BinarySearchFunc(list, m, func(other, m mark) int { return cmp.Compare(other.end(), m.Line+1) })
		if at < len(list) && list[at].Line < m.end() {
			if met := &list[at]; !slices.Contains(met.also, of.Title) {
				met.also = append(met.also, of.Title)
			}
			continue
		}
		fresh = append(fresh, m)
	}
	list = append(list, fresh...)
	slices.SortStableFunc(list, func(a, b mark) int { return a.Line - b.Line })
	return list
}

// key returns the same for marks that look the same.
func (m mark) key() (key markKey) {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %q\n", m.session, len(m.Old), len(m.New), m.also)
	for _, lines := range [][]string{m.Old, m.New, {m.known}} {
		for _, l := range lines {
			fmt.Fprintf(h, "%d ", len(l))
			_, _ = h.Write([]byte(l)) // never fails
		}
	}
	h.Sum(key[:0])
	return key
}

// shown returns a mark for Lua to draw, and about how many bytes that is.
func (m mark) shown(id int) (shown rpc.Mark, bytes int) {
	bare := func(lines []string) []string {
		list := make([]string, len(lines))
		for i, l := range lines {
			list[i] = strings.TrimSuffix(l, "\n")
		}
		return list
	}
	old, words := bare(m.Old[:min(len(m.Old), oldLinesShown)]), [2][]int{{}, {}}
	if max(len(m.Old), len(m.New)) <= wordLines {
		from, to := diff.Words(bare(m.Old), bare(m.New))
		for i, line := range from[:len(old)] {
			words[0] = flatSpans(words[0], i, line, oldLineShown)
		}
		for i, line := range to {
			words[1] = flatSpans(words[1], i, line, newLineShown)
		}
	}
	for i, l := range old {
		if len(l) > oldLineShown {
			old[i] = styled.Cut(l, oldLineShown) + "…"
		}
		bytes += len(old[i])
	}
	return rpc.Mark{
		ID: id, Session: m.session, Count: len(m.New), Old: old, More: len(m.Old) - len(old),
		Also: strings.Join(m.also, ", "), Known: m.known, Last: m.last, OldWords: words[0], NewWords: words[1],
	}, bytes + len(m.known) + len(m.last) + 9*(len(words[0])+len(words[1]))
}

// flatSpans appends the words within the first limit bytes of a line, each as index of the line, start and end.
func flatSpans(flat []int, line int, words []diff.Span, limit int) []int {
	for _, w := range words {
		if w.End <= limit {
			flat = append(flat, line, w.Start, w.End)
		}
	}
	return flat
}
