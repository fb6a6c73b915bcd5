package transcript

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/page"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// world is what a transcript under test sees around it. The time of the conversation goes on with each update; the
// rendering's stands still, so that it depends on the state alone.
type world struct {
	conv      *session.Conversation
	updates   int
	terminals map[string]Screenful
}

func newWorld() *world {
	w := &world{terminals: map[string]Screenful{}}
	w.conv = session.NewConversation(func() time.Time { return time.Unix(int64(w.updates), 0) })
	return w
}

func (w *world) config() Config {
	return Config{
		Cwd:   "/project",
		Now:   func() time.Time { return time.Unix(100, 0) },
		Files: toldFiles(),
		Terminal: func(id string, n int) (Screenful, bool) {
			s, ok := w.terminals[id]
			if len(s.Lines) > n {
				s.Lines = s.Lines[len(s.Lines)-n:]
			}
			return s, ok
		},
		Output: func(text string, n int) Screenful {
			var s Screenful
			for l := range strings.SplitSeq(strings.ReplaceAll(text, "\r", ""), "\n") {
				before, after, colored := strings.Cut(l, "\x1b[32m")
				s.Lines = append(s.Lines, styled.Line{Text: before + after})
				if colored {
					s.Lines[s.Total].Marks = []styled.Mark{{Col: len(before), EndCol: len(before + after), Group: styled.Ansi0 + 2}}
				}
				s.Total++
			}
			s.Lines = s.Lines[max(0, s.Total-n):]
			return s
		},
		Resolve: func(text string) Lines { return broken(strings.ReplaceAll(text, "\x1b[32m", "")) },
		Save: func(mimeType, data string) string {
			if mimeType == "image/broken" {
				return ""
			}
			return fmt.Sprintf("/cache/%d.%s", len(data), mimeType[strings.Index(mimeType, "/")+1:])
		},
	}
}

func (w *world) apply(updates ...session.Update) {
	for _, u := range updates {
		w.updates++
		w.conv.Apply(u)
	}
}

func says(text string) session.Update {
	return session.MessageChunk{MessageID: "m", Role: session.RoleAgent, Content: session.Text{Text: text}}
}

// random makes updates of all kinds about few things, so that they meet.
type random struct{ *rand.Rand }

func (r random) pick(from ...string) string { return from[r.IntN(len(from))] }

func (r random) words() string {
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(r.pick("word ", "**bold** ", "*", "`code` ", "```go\n", "```\n", "\n", "\n\n", "# head\n", "- item\n", "> quote\n",
			"| a | b |\n|---|---|\n| 1 | 2 |\n", "    code\n", "日本 ", "é", "👍🏽 ", "[a](http://b) ", "---\n", "\t", "\r\n", "1. one\n", "<b>", "\\", strings.Repeat("long ", 30), "\x1b[32mgreen", strings.Repeat("x", 2100)))
	}
	return b.String()
}

func (r random) block() session.Content {
	switch r.IntN(8) {
	case 0:
		return session.Image{MimeType: r.pick("image/png", "image/broken"), Data: "AAAA"}
	case 1:
		return session.Resource{URI: "file:///a", Text: r.words()}
	case 3:
		return session.ForAgent{Content: session.Text{Text: r.words()}}
	case 2:
		return session.UnknownContent{Type: r.pick("smell", "two\nlines")}
	}
	return session.Text{Text: r.words()}
}

func (r random) items() []session.ToolCallContent {
	var items []session.ToolCallContent
	for range r.IntN(3) {
		switch r.IntN(4) {
		case 0:
			old := strings.Repeat(r.words(), r.IntN(4))
			items = append(items, session.Diff{Path: "/project/a.go", OldText: &old, NewText: ptr(r.words() + old)})
		case 1:
			items = append(items, session.TerminalRef{TerminalID: r.pick("t1", "t2", "gone")})
		case 2:
			items = append(items, session.ContentItem{Content: session.Text{Text: strings.Repeat(r.words(), 1+r.IntN(5))}}, session.ContentItem{Content: r.block()})
		case 3:
			items = append(items, session.UnknownItem{Type: "hologram"})
		}
	}
	return items
}

func (r random) update() session.Update {
	switch r.IntN(25) {
	case 24:
		return session.MessagePatch{
			MessageID: r.pick("m1", "m2"), Role: []session.Role{session.RoleAgent, session.RoleThought}[r.IntN(2)],
			Content: []session.Content{r.block(), session.Text{Text: r.words()}}[:r.IntN(3)],
		}
	case 0:
		return session.TurnStart{Prompt: []session.Content{r.block(), r.block()}}
	case 1:
		return session.TurnEnd{StopReason: session.StopReason(r.pick("end_turn", "cancelled", "error", "refusal")), Error: r.words()}
	case 2, 3, 4, 5:
		p := session.ToolCallPatch{ID: r.pick("c1", "c2", "c3", "c4")}
		if r.IntN(2) == 0 {
			p.Status = acp.Set(session.ToolCallStatus(r.pick("pending", "in_progress", "completed", "failed", "odd")))
		}
		if r.IntN(2) == 0 {
			p.Title = acp.Set(r.words())
		}
		if r.IntN(2) == 0 {
			p.Kind = acp.Set(session.ToolKind(r.pick("read", "edit", "execute", "fetch", "two\nlines")))
		}
		if r.IntN(2) == 0 {
			p.Content = acp.Set(r.items())
		}
		if r.IntN(4) == 0 {
			p.Locations = acp.Set([]session.Location{{Path: r.pick("/project/a.go", "/etc/b\nc"), Line: r.IntN(3)}, {Path: "/project/c"}}[:1+r.IntN(2)])
		}
		if r.IntN(3) == 0 {
			p.Parent = acp.Set(r.pick("c1", "c2", "c3", "c4", "unknown", ""))
		}
		if r.IntN(4) == 0 {
			p.RawInput = acp.Set(json.RawMessage(`{"b":"<&>","a":[1,2]}`))
		}
		return p
	case 6:
		return session.Waiting{ToolCallID: r.pick("c1", "c2"), Open: r.IntN(2) == 0, Rejected: r.IntN(2) == 0}
	case 7:
		return session.PlanUpdate{Entries: make([]session.PlanEntry, r.IntN(4))}
	case 8:
		return session.Notice{Severity: r.pick("info", "error"), Title: r.words(), Description: r.words()}
	case 9:
		return session.UnknownUpdate{Type: r.pick("weather", "two\nlines")}
	case 10:
		return session.CompactionChunk{ID: "k", Content: r.block()}
	case 11:
		return session.CompactionPatch{ID: "k", Status: r.pick("completed", "failed")}
	case 12:
		return session.Cancelling{}
	case 13:
		return session.SessionStart{}
	}
	return session.MessageChunk{
		MessageID: r.pick("m1", "m2", "m3"),
		Role:      session.Role(r.IntN(3)),
		Content:   r.block(),
	}
}

// However the updates come, whatever is taken in between and opened or closed:
// what the buffer holds at last is the rendering of the state at last.
func TestEditsLeadToTheWholeRendering(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := random{rand.New(rand.NewPCG(seed, 1))}
			w := newWorld()
			tr := New(w.conv, w.config())
			b := newBuffer()
			var waiting []Waiting
			for range 10 + r.IntN(80) {
				switch r.IntN(9) {
				case 8:
					switch r.IntN(4) {
					case 0: // the first one is sent, as another one comes
						if len(waiting) > 0 {
							w.apply(session.TurnStart{Prompt: append(waiting[0].Blocks, r.block())})
							waiting = waiting[1:]
						}
						fallthrough
					case 1, 2:
						next := Waiting{[]session.Content{r.block(), session.Text{Text: r.pick("a", "b") + r.words()}}, r.pick("", "waiting"), r.IntN(3) == 0}
						waiting = append(slices.Clone(waiting), next)
					case 3: // one is taken back
						if len(waiting) > 0 {
							at := r.IntN(len(waiting))
							waiting = slices.Delete(slices.Clone(waiting), at, at+1)
						}
					}
					tr.Await(waiting)
				case 0, 1:
					tr.Sync()
					b.take(t, tr, 1+r.IntN(1<<r.IntN(12)))
				case 2:
					if row := r.IntN(len(b.lines)+3) - 1; r.IntN(2) == 0 {
						tr.Fold(row, Fold(r.pick("toggle", "close", "close", "open")))
					}
				case 3:
					id := r.pick("t1", "t2")
					s := Screenful{Total: r.IntN(9)}
					for range s.Total {
						s.Lines = append(s.Lines, styled.Join(styled.Text("out ", styled.Plain), styled.Text(r.pick("a", "b"), styled.Ansi0)))
					}
					w.terminals[id] = s
					tr.TouchTerminal(id)
				case 4:
					tr.SetWidth(r.IntN(3) * 25)
					if r.IntN(8) == 0 { // the buffer was wiped
						tr.Sync()
						tr.Reset()
						b.empty = true
					}
				default:
					w.apply(r.update())
				}
			}
			tr.Sync()
			for tr.Dirty() {
				b.take(t, tr, 1+r.IntN(1000))
			}
			check.Equal(t, b.diff(drawn(t, w.conv, w.config(), tr)), "", "%v")
			for i, entry := range w.conv.Entries {
				if b := tr.entries[i]; b.entry != entry || tr.blocks[b.at] != b {
					t.Errorf("entry %d is not in its block", i)
				}
			}
			rows := 0
			for i := range tr.blocks {
				if e := tr.Entry(rows); tr.page.Rows(i) > 0 && e != tr.blocks[i].entry {
					t.Errorf("row %d belongs to %T, not to block %d", rows, e, i)
				}
				rows += tr.page.Rows(i)
			}
			if unsent := tr.blocks[len(tr.blocks)-len(tr.waiting):]; !slices.Equal(unsent, tr.waiting) {
				t.Errorf("%d prompts wait, %d at the end", len(waiting), len(unsent))
			}
			if rows > 0 && rows != len(b.lines) {
				t.Errorf("blocks of %d rows, %d lines", rows, len(b.lines))
			}
		})
	}
}

// The agent's text stands in the buffer byte for byte, however it came and was
// taken; only newlines at its end are not there yet, and the ends of lines that are too long.
func TestTextStandsAsItCame(t *testing.T) {
	for seed := range uint64(100) {
		r := random{rand.New(rand.NewPCG(seed, 2))}
		w := newWorld()
		tr := New(w.conv, w.config())
		b := newBuffer()
		for range 40 {
			w.apply(says(r.words()))
			tr.Sync()
			b.take(t, tr, r.IntN(60))
		}
		for tr.Dirty() {
			b.take(t, tr, 1+r.IntN(300))
		}
		if len(w.conv.Entries) == 0 {
			continue
		}
		lines := strings.Split(strings.TrimRight(w.conv.Entries[0].(*session.Message).Text(), "\n"), "\n")
		for i, l := range lines {
			if len(l) > maxWords {
				lines[i] = l[:styled.Boundary(l, maxWords)] + "\n" + leftOut
			}
		}
		want := strings.Join(lines, "\n")
		must.Equal(t, b.text(), want, "seed %d: got %q", seed)
	}
}

// Blocks that are no text stand on lines of their own, between the lines of
// text; taking them one by one or at once is the same.
func TestBlocksInAMessage(t *testing.T) {
	image := session.MessageChunk{MessageID: "m", Role: session.RoleAgent, Content: session.Image{MimeType: "image/png", URI: "a.png"}}
	const shown = "[image image/png] a.png"
	for name, test := range map[string]struct {
		updates []session.Update
		want    []string
	}{
		"alone":         {[]session.Update{image}, []string{shown}},
		"before text":   {[]session.Update{image, says("a")}, []string{shown, "a"}},
		"after text":    {[]session.Update{says("a"), image}, []string{"a", shown}},
		"between texts": {[]session.Update{says("a"), image, says("b"), says("c")}, []string{"a", shown, "bc"}},
		"two":           {[]session.Update{image, image, says("b")}, []string{shown, shown, "b"}},
		"after a line":  {[]session.Update{says("a\n"), image}, []string{"a", "", shown}},
	} {
		for _, budget := range []int{1, 2, 24, 100, 1 << 20} {
			w := newWorld()
			tr, b := New(w.conv, w.config()), newBuffer()
			for _, u := range test.updates {
				w.apply(u)
				tr.Sync()
				for tr.Dirty() {
					b.take(t, tr, budget)
				}
			}
			check.Equal(t, b.text(), strings.Join(test.want, "\n"), "%s, one by one, budget %d: %q", name, budget)
			check.Equal(t, drawn(t, w.conv, w.config(), nil).text(), strings.Join(test.want, "\n"),
				"%s, at once: %q", name)
		}
	}
}

// The rows of a message are told as prose once it is complete, without the empty one above it.
func TestCompleteMessagesAreProse(t *testing.T) {
	for _, budget := range []int{4, 1 << 20} {
		w := newWorld()
		tr, b := New(w.conv, w.config()), newBuffer()
		for _, c := range []struct {
			updates []session.Update
			want    [][2]int
		}{
			{[]session.Update{says("| a |\n|---|\n")}, nil},
			{[]session.Update{says("| b |\n| c |\n"), call(session.KindRead, session.StatusCompleted, "it")}, [][2]int{{0, 4}}},
			{[]session.Update{session.MessageChunk{MessageID: "n", Role: session.RoleAgent, Content: session.Text{Text: "end"}}}, nil},
			{[]session.Update{session.TurnEnd{StopReason: session.StopEndTurn}}, [][2]int{{7, 8}}},
			{[]session.Update{session.Notice{Title: "meanwhile"}, says("\n| d |")}, nil},
		} {
			w.apply(c.updates...)
			tr.Sync()
			var got [][2]int
			for tr.Dirty() {
				for _, e := range b.take(t, tr, budget) {
					got = append(got, e.Prose...)
				}
			}
			check.Deep(t, got, c.want, "prose is %v after %v", c.updates)
		}
	}
}

// cost is what an edit brings to Neovim, in bytes and highlights.
func cost(edits []page.Edit) (bytes, marks int) {
	for _, e := range edits {
		for _, l := range e.Lines {
			bytes += len(l) + 1
		}
		marks += len(e.Marks)/4 + len(e.Decor)
	}
	return bytes, marks
}

// A line that grows for half a megabyte is sent once, as far as it is shown.
func TestLongLineIsSentOnce(t *testing.T) {
	const size, chunk = 500_000, 100
	w := newWorld()
	tr, b := New(w.conv, w.config()), newBuffer()
	bytes, marks := 0, 0
	for i := range size / chunk {
		w.apply(says(strings.Repeat(string(rune('a'+i%26)), chunk-9) + " **bold** "[:9]))
		tr.Sync()
		n, m := cost(b.take(t, tr, 64<<10))
		bytes, marks = bytes+n, marks+m
	}
	if len(b.lines) != 2 || len(b.lines[0].text) != maxWords || b.lines[1].text != leftOut {
		t.Fatalf("%d lines, the first of %d bytes", len(b.lines), len(b.lines[0].text))
	}
	if bytes > maxWords+2*size/chunk {
		t.Errorf("sent %d bytes for %d", bytes, maxWords)
	}
	if marks > 10_000 {
		t.Errorf("sent %d highlights", marks)
	}
}

// Each Take is bounded by its budget, and all together send little more than there is.
func TestTakeIsBounded(t *testing.T) {
	const budget = 4 << 10
	text := strings.Repeat("some **bold** text and `code`, as long as a line is\n", 1999) + "end"
	old := strings.ReplaceAll(text, "bold", "italic")
	for name, u := range map[string]session.Update{
		"a message":            says(text),
		"a message of a line":  says(strings.ReplaceAll(text, "\n", " ")),
		"a block in a message": session.MessageChunk{MessageID: "m", Role: session.RoleAgent, Content: session.Resource{URI: "a", Text: text}},
		"a prompt":             session.TurnStart{Prompt: []session.Content{session.Text{Text: text}}},
		"a thought":            session.MessageChunk{MessageID: "m", Role: session.RoleThought, Content: session.Text{Text: text}},
		"an output":            session.ToolCallPatch{ID: "c", Content: acp.Set([]session.ToolCallContent{session.ContentItem{Content: session.Text{Text: text}}})},
		"a diff":               session.ToolCallPatch{ID: "c", Content: acp.Set([]session.ToolCallContent{session.Diff{Path: "a", OldText: &old, NewText: &text}})},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			tr, b := New(w.conv, w.config()), newBuffer()
			w.apply(u)
			tr.Sync()
			tr.blocks[0].open = opened
			total, takes := 0, 0
			for tr.Dirty() {
				n, marks := cost(b.take(t, tr, budget))
				if n > budget+200 || marks > budget/8 {
					t.Fatalf("one Take brought %d bytes and %d highlights", n, marks)
				}
				total += n
				takes++
			}
			whole := len(b.text())
			if whole < len(text) && !strings.Contains(b.text(), elsewhere) || total > whole+whole/8 {
				t.Errorf("sent %d bytes for %d", total, whole)
			}
			if takes > 60*whole/budget {
				t.Errorf("%d times for %d bytes", takes, whole)
			}
		})
	}
}

// A message that goes on after something else has come costs no more than one that does not.
func TestInterruptedMessageIsSentOnce(t *testing.T) {
	w := newWorld()
	tr, b := New(w.conv, w.config()), newBuffer()
	bytes, marks := 0, 0
	w.apply(says(strings.Repeat("before **bold**\n\n", 1000)), session.Notice{Title: "meanwhile"})
	for range 1000 {
		tr.Sync()
		n, m := cost(b.take(t, tr, 64<<10))
		bytes, marks = bytes+n, marks+m
		w.apply(says("\n\nafter **bold**"))
	}
	if whole := len(b.text()); bytes > whole+5000 || marks > 5000 {
		t.Errorf("sent %d bytes and %d highlights for %d bytes", bytes, marks, whole)
	}
}

// A change far up touches its own lines and no others.
func TestOnlyWhatChangedIsSent(t *testing.T) {
	w := newWorld()
	tr, b := New(w.conv, w.config()), newBuffer()
	call := func(status session.ToolCallStatus, output string) session.Update {
		return session.ToolCallPatch{ID: "c", Kind: acp.Set(session.KindExecute), Status: acp.Set(status),
			Content: acp.Set([]session.ToolCallContent{session.ContentItem{Content: session.Text{Text: output}}})}
	}
	w.apply(call(session.StatusInProgress, "1\n2\n3"), says(strings.Repeat("text\n", 100)))
	tr.Sync()
	b.take(t, tr, 1<<20)

	w.apply(call(session.StatusInProgress, "1\n2\n3\n4"))
	tr.Sync()
	edits := b.take(t, tr, 1<<20)
	if len(edits) != 1 || len(edits[0].Lines) != 1 || edits[0].Lines[0] != "    4" || edits[0].Row != 4 || edits[0].EndRow != 4 {
		t.Errorf("sent %+v", edits)
	}

	w.apply(call(session.StatusFailed, "1\n2\n3\n4"))
	tr.Sync()
	edits = b.take(t, tr, 1<<20)
	if len(edits) != 1 || len(edits[0].Lines) != 1 || edits[0].Row != 0 || edits[0].EndRow != 1 {
		t.Errorf("for another status it sent %+v", edits)
	}

	w.apply(call(session.StatusFailed, "1\n2\n3\n4"))
	tr.Sync()
	if edits := b.take(t, tr, 1<<20); len(edits) != 0 || tr.Dirty() {
		t.Errorf("sent %+v for nothing", edits)
	}
}

// running is a world with a transcript of which a call runs.
func running(t *testing.T, now *time.Time) (*world, *Transcript, *buffer) {
	t.Helper()
	w := newWorld()
	config := w.config()
	config.Now = func() time.Time { return *now }
	tr, b := New(w.conv, config), newBuffer()
	w.apply(
		session.TurnStart{Prompt: []session.Content{session.Text{Text: "p"}}},
		session.MessageChunk{MessageID: "t", Role: session.RoleThought, Content: session.Text{Text: "a"}},
		session.ToolCallPatch{ID: "c", Title: acp.Set("make"), Status: acp.Set(session.StatusInProgress)},
		session.ToolCallPatch{ID: "d", Title: acp.Set("done"), Status: acp.Set(session.StatusCompleted)},
		session.MessageChunk{MessageID: "u", Role: session.RoleThought, Content: session.Text{Text: "b"}},
	)
	tr.Sync()
	b.take(t, tr, 1<<20)
	return w, tr, b
}

func TestTick(t *testing.T) {
	now := time.Unix(20, 0)
	w, tr, b := running(t, &now)
	now = now.Add(5 * time.Second)
	tr.Tick()
	edits := b.take(t, tr, 1<<20)
	if len(edits) != 2 || len(edits[0].Decor) != 1 || edits[0].Decor[0].Right != "22 s" || edits[1].Lines[0] != "  ▸ Thinking … 20 s" {
		t.Errorf("sent %+v", edits)
	}
	w.apply(session.TurnEnd{StopReason: session.StopEndTurn})
	tr.Sync()
	b.take(t, tr, 1<<20)
	now = now.Add(5 * time.Second)
	w.apply(
		session.ToolCallPatch{ID: "late", Status: acp.Set(session.StatusInProgress)},
		session.TurnStart{Prompt: []session.Content{session.Text{Text: "q"}}},
	)
	tr.Sync()
	b.take(t, tr, 1<<20)
	if tr.Tick(); tr.Dirty() {
		t.Errorf("nothing runs in this turn, but it has %+v to send", b.take(t, tr, 1<<20))
	}
}

func TestToggle(t *testing.T) {
	now := time.Unix(20, 0)
	_, tr, b := running(t, &now)
	before := b.String()
	if !strings.Contains(before, "|  ▸ Thought for 1.0 s") || strings.Contains(before, "|    a") {
		t.Fatalf("at first:\n%s", before)
	}
	for _, row := range []int{-1, len(b.lines), 1000} {
		tr.Fold(row, Toggle)
		if tr.Dirty() {
			t.Fatalf("row %d belongs to a block", row)
		}
	}
	row := 0
	for i, l := range b.lines {
		if strings.Contains(l.text, "Thought for") {
			row = i
		}
	}
	tr.Fold(row, Toggle)
	b.take(t, tr, 1<<20)
	if !strings.Contains(b.String(), "|  ▾ Thought for 1.0 s") || b.lines[row+1].text != "    a" {
		t.Errorf("opened:\n%s", b)
	}
	tr.Fold(row+1, Toggle) // within it
	b.take(t, tr, 1<<20)
	if b.String() != before {
		t.Errorf("closed:\n%s", b)
	}
}

// Blocks that change side by side are one edit for Neovim, which pays for each.
func TestNeighbouringEditsAreOne(t *testing.T) {
	w := newWorld()
	tr, b := New(w.conv, w.config()), newBuffer()
	for i := range 100 {
		w.apply(session.ToolCallPatch{ID: fmt.Sprint(i), Title: acp.Set(fmt.Sprint("search ", i))})
	}
	tr.Sync()
	if edits := b.take(t, tr, 1<<20); len(edits) != 1 || len(edits[0].Lines) != 100 {
		t.Fatalf("%d edits for 100 new calls", len(edits))
	}
	for i := range 100 {
		if i%10 != 0 {
			w.apply(session.ToolCallPatch{ID: fmt.Sprint(i), Title: acp.Set(fmt.Sprint("found ", i))})
		}
	}
	tr.Sync()
	must.Equal(t, len(b.take(t, tr, 1<<20)), 10, "%d edits for ten runs of calls")
}
