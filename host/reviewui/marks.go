package reviewui

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"log/slog"
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
	// wordLines is how many lines a change may have to get its changed words highlighted.
	wordLines = 500
	// knownBy is how many bytes of a line Lua compares to see whether the buffer has it.
	knownBy = 200
	// A piece for Neovim has so much at most.
	changesAtOnce = 500
	bytesAtOnce   = 64 << 10
)

// MarksConfig is what [Marks] needs of the host.
type MarksConfig struct {
	Editor     *editor.Editor
	Log        *slog.Logger
	Background func(func())        // runs a function in a goroutine that the host's end waits for
	Records    func() []MarkSource // of the open sessions, the newest session first; any goroutine
}

// MarkSource is a session's record of changes, for any goroutine.
type MarkSource struct {
	Session int
	Title   string // the agent's
	// File gives a file of the record, brought up to date with the user's buffer first if look is true.
	File func(path string, look bool, done func(review.File))
}

// Marks is what the user's own buffers show of the sessions' records. Lua asks for the changes of a buffer and says
// what it has; it gets the place of each change, and those it does not have yet. Any goroutine may use it.
type Marks struct {
	config MarksConfig

	mu     sync.Mutex   // guards the fields below
	lastID int          // of a mark, unique in this host
	sent   map[int]sent // by buffer
}

// sent is what Lua has of a buffer.
type sent struct {
	answer int               // the number of Lua's question
	ids    map[markKey][]int // of the marks, by what they look like, in the order of the text
}

// markKey stands for what a mark looks like.
type markKey [sha256.Size]byte

// mark is a pending change as a buffer shows it.
type mark struct {
	review.Change
	session int
	also    []string // agents of other sessions that have changed something there
	known   string   // its first line, or the one after deleted lines
	last    string   // its last line
}

// NewMarks returns the marks of a host.
func NewMarks(config MarksConfig) *Marks { return &Marks{config: config, sent: map[int]sent{}} }

// end is the line after a mark; deleted lines count as at the line after them.
func (m mark) end() int { return m.Line + max(1, len(m.New)) }

// List answers Lua's question for the changes of a buffer, in pieces of which each waits for the one before.
func (k *Marks) List(m rpc.ListMarks) {
	records := k.config.Records()
	found := make([]review.File, len(records))
	var missing atomic.Int32
	missing.Store(int32(len(records)) + 1)
	got := func() {
		if missing.Add(-1) > 0 {
			return
		}
		k.config.Background(func() {
			var list []mark
			for i, f := range found {
				list = withMarks(list, records[i], f)
			}
			k.send(k.pieces(m.Buf, m.Answer, m.Have, list))
		})
	}
	for i, r := range records {
		r.File(m.Path, m.Look, func(f review.File) {
			found[i] = f
			got()
		})
	}
	got()
}

// withMarks adds the pending changes of a file in a session's record to the marks of newer sessions, in the order of
// the text. A change that overlaps one of those is only named there.
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

// key is the same for marks that look the same.
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

// pieces are the messages that tell Lua of the marks of a buffer, which it is then known to have.
func (k *Marks) pieces(buf, answer, have int, list []mark) []rpc.Marks {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.sent[buf]
	if old.answer != have {
		old = sent{}
	}
	now := sent{answer: answer, ids: map[markKey][]int{}}
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
		delete(k.sent, buf)
	} else {
		k.sent[buf] = now
	}
	return pieces
}

// shown is a mark as Lua draws it, and about how many bytes that is.
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

// send gives Lua the pieces one by one, as long as it wants them.
func (k *Marks) send(pieces []rpc.Marks) {
	op := editor.Do(pieces[0])
	op.Done = func(wanted any, err error) {
		if err != nil {
			k.config.Log.Error("mark changes", "err", err)
			return
		}
		if wanted, _ := wanted.(bool); wanted && len(pieces) > 1 {
			k.send(pieces[1:])
		}
	}
	k.config.Editor.Post(op)
}
