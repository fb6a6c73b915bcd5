package host

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// What Neovim gets of a change is bounded.
const (
	oldLinesShown = 20
	oldLineShown  = 500  // bytes of such a line
	newLineShown  = 5000 // bytes of a line of the buffer of which words are marked
	// wordLines is how many lines a change may have of which words are marked.
	wordLines = 500
	// knownBy is how many bytes of a line tell Lua whether the buffer has it.
	knownBy = 200
	// changesAtOnce and bytesAtOnce are what goes to Neovim in one piece.
	changesAtOnce = 500
	bytesAtOnce   = 64 << 10
)

// marks is what the user's own buffers show of the sessions' records. Lua asks for the changes of a buffer
// and says what it has; it gets the place of each change, and what it has not got yet.
type marks struct {
	host *Host

	mu     sync.Mutex       // guards the fields below
	lastID int              // of a change, unique in this host
	told   map[int]toldMark // by buffer
}

// toldMark is what Lua has of a buffer: the ids of its changes, by what they consist of, in the order of the
// text.
type toldMark struct {
	answer int // the number of Lua's question
	ids    map[markKey][]int
}

type markKey [sha256.Size]byte

// mark is a pending change as a buffer shows it.
type mark struct {
	review.Change
	session *Session
	also    []string // agents of other sessions that have changed something there
	known   string   // its first line, or the one behind what is gone
	last    string   // its last line
}

// end is the line behind a mark; what is gone counts as at the line behind it.
func (m mark) end() int { return m.Line + max(1, len(m.New)) }

// tell answers Lua's question for the changes of a buffer, by pieces of which each waits for the one before.
// With look the user has changed the buffer: the records are brought up to date first.
func (k *marks) tell(m rpc.ListMarks) {
	sessions := k.host.newestFirst()
	found := make([]review.File, len(sessions))
	var missing atomic.Int32
	missing.Store(int32(len(sessions)) + 1)
	got := func() {
		if missing.Add(-1) > 0 {
			return
		}
		k.host.background(func() {
			var list []mark
			for i, f := range found {
				list = withMarks(list, sessions[i], f)
			}
			k.send(k.pieces(m.Buf, m.Answer, m.Have, list))
		})
	}
	for i, s := range sessions {
		s.ledger.File(m.Path, m.Look, func(f review.File) {
			found[i] = f
			got()
		})
	}
	got()
}

func (h *Host) newestFirst() []*Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.SortedFunc(maps.Values(h.sessions), func(a, b *Session) int { return b.id - a.id })
}

// withMarks adds what is pending of a file in a session to the marks of sessions that are newer, in the order
// of the text. What meets one of those is said there.
func withMarks(list []mark, s *Session, f review.File) []mark {
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
		m := mark{Change: c, session: s, known: line(c.Line), last: line(c.Line + max(1, len(c.New)) - 1)}
		at, _ := slices.BinarySearchFunc(list, m, func(other, m mark) int { return cmp.Compare(other.end(), m.Line+1) })
		if at < len(list) && list[at].Line < m.end() {
			if met := &list[at]; !slices.Contains(met.also, s.base.Title) {
				met.also = append(met.also, s.base.Title)
			}
			continue
		}
		fresh = append(fresh, m)
	}
	list = append(list, fresh...)
	slices.SortStableFunc(list, func(a, b mark) int { return a.Line - b.Line })
	return list
}

// key tells a mark from others that are drawn otherwise.
func (m mark) key() (key markKey) {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %q\n", m.session.id, len(m.Old), len(m.New), m.also)
	for _, lines := range [][]string{m.Old, m.New, {m.known}} {
		for _, l := range lines {
			fmt.Fprintf(h, "%d ", len(l))
			_, _ = h.Write([]byte(l)) // never fails
		}
	}
	h.Sum(key[:0])
	return key
}

// pieces is what Lua is told of the changes of a buffer, and notes that it has them then.
func (k *marks) pieces(buf, answer, have int, list []mark) []rpc.Marks {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.told[buf]
	if old.answer != have {
		old = toldMark{}
	}
	now := toldMark{answer: answer, ids: map[markKey][]int{}}
	piece := rpc.Marks{Buf: buf, Answer: answer, KnownBy: knownBy}
	pieces := []rpc.Marks{piece}
	size := 0
	for _, m := range list {
		if len(pieces[len(pieces)-1].At) >= 2*changesAtOnce || size > bytesAtOnce {
			pieces, size = append(pieces, piece), 0
		}
		p := &pieces[len(pieces)-1]
		key := m.key()
		var id int
		if known := old.ids[key]; len(known) > 0 {
			id, old.ids[key] = known[0], known[1:]
		} else {
			k.lastID++
			id = k.lastID
			shown, bytes := m.shown(id)
			p.Fresh = append(p.Fresh, shown)
			size += bytes
		}
		now.ids[key] = append(now.ids[key], id)
		p.At = append(p.At, id, m.Line)
	}
	pieces[len(pieces)-1].Done = true
	if len(list) == 0 {
		delete(k.told, buf)
	} else {
		k.told[buf] = now
	}
	return pieces
}

// shown is what Lua draws of a mark, and about how many bytes that is.
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
		ID: id, Session: m.session.id, Count: len(m.New), Old: old, More: len(m.Old) - len(old),
		Also: strings.Join(m.also, ", "), Known: m.known, Last: m.last, OldWords: words[0], NewWords: words[1],
	}, bytes + len(m.known) + len(m.last) + 9*(len(words[0])+len(words[1]))
}

// flatSpans adds the words of a line within its first bytes, as index of the line, start and end.
func flatSpans(flat []int, line int, words []diff.Span, limit int) []int {
	for _, w := range words {
		if w.End <= limit {
			flat = append(flat, line, w.Start, w.End)
		}
	}
	return flat
}

// send gives Lua the pieces one by one, as long as it wants them.
func (k *marks) send(pieces []rpc.Marks) {
	op := editor.Do(pieces[0])
	op.Done = func(wanted any, err error) {
		if err != nil {
			k.host.log.Error("mark changes", "err", err)
			return
		}
		if wanted, _ := wanted.(bool); wanted && len(pieces) > 1 {
			k.send(pieces[1:])
		}
	}
	k.host.editor.Post(op)
}
