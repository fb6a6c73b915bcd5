package transcript

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// A line that no editor can show well is cut, whoever says it and however; a mark says where all of it is, and
// there it is.
func TestLinesNoEditorShowsAreCut(t *testing.T) {
	const size = 1 << 20
	long := strings.Repeat("0123456789abcdef", size/16)
	pieces := func(role session.Role) (all []session.Update) {
		for part := range slices.Chunk([]byte(long), 1000) {
			all = append(all, session.MessageChunk{MessageID: "m", Role: role, Content: session.Text{Text: string(part)}})
		}
		return all
	}
	message := func(role session.Role, text string) []session.Update {
		return []session.Update{session.MessageChunk{MessageID: "m", Role: role, Content: session.Text{Text: text}}}
	}
	for name, updates := range map[string][]session.Update{
		"a message":                  message(session.RoleAgent, long),
		"a message with more":        message(session.RoleAgent, "before\n"+long+"\nbehind"),
		"a message in pieces":        pieces(session.RoleAgent),
		"a thought":                  message(session.RoleThought, long),
		"a thought in pieces":        pieces(session.RoleThought),
		"a prompt":                   {prompt(session.Text{Text: long})},
		"a prompt of another client": message(session.RoleUser, long),
		"a plan":                     {session.PlanUpdate{Entries: []session.PlanEntry{{Content: long}}}},
		"a notice":                   {session.Notice{Title: long}},
		"a notice's description":     {session.Notice{Title: "x", Description: long}},
		"words of a call":            {call(session.KindThink, session.StatusCompleted, "a", output(long))},
		"a summary":                  {session.CompactionPatch{ID: "k", Status: "completed", Summary: acp.Set([]session.Content{session.Text{Text: long}})}},
	} {
		w := newWorld()
		tr, b := New(w.conv, w.config()), newBuffer()
		for _, u := range updates {
			w.apply(u)
			tr.Sync()
			tr.blocks[0].open = opened
			for tr.Dirty() {
				b.take(t, tr, 64<<10)
			}
		}
		said := false
		for _, l := range b.lines {
			if len(l.text) > maxWords+len(elsewhere)+32 {
				t.Errorf("%s: a line has %d bytes", name, len(l.text))
			}
			said = said || strings.HasSuffix(l.text, elsewhere)
		}
		if !said || !strings.Contains(b.text(), long[:maxLine-100]) {
			t.Errorf("%s: its line is not as far as it may be, or nothing says that it goes on", name)
		}
		row := slices.IndexFunc(b.lines, func(l bufferLine) bool { return strings.HasSuffix(l.text, elsewhere) })
		whole := tr.Whole(max(row, 0))
		if whole == nil {
			t.Errorf("%s: nothing is whole", name)
			continue
		}
		var all strings.Builder
		next := whole().Lines
		for l, ok := next(); ok; l, ok = next() {
			all.WriteString(l.Text)
		}
		check.Contains(t, all.String(), long, "%s: the whole has not all of it: %s", name)
	}
}

// A long line of a thought that can still be read is whole, and a cut one says how much more there is.
func TestLongLinesOfThoughts(t *testing.T) {
	for n, want := range map[int]string{
		maxWords: "", maxWords + 60: "", maxWords + 65: " … +65 bytes" + elsewhere, maxWords + 2<<10: " … +2.0 KB" + elsewhere,
	} {
		_, tr, b := shown(t, thinks("before\n"+strings.Repeat("x", n)+"\nbehind"))
		tr.Fold(0, Open)
		b.take(t, tr, 1<<30)
		line := b.lines[b.rowOf("xxx")].text
		shown := min(n, maxWords)
		if want == "" {
			shown = n
		}
		if line != "    "+strings.Repeat("x", shown)+want {
			t.Errorf("of %d bytes it has %d, %q", n, len(line), line[len(line)-60:])
		}
	}
}

// However a message comes, it is cut in the same places, and has the same highlights.
func TestCutsDoNotDependOnPieces(t *testing.T) {
	long := strings.Repeat("some **bold** `code` ä ", maxWords/16)
	text := "# Head\n\n" + long + "\n> " + long + "\n```lua\n" + long + "\n```\n\n\nshort **end**"
	chat := func(updates ...session.Update) string {
		w := newWorld()
		tr, b := New(w.conv, w.config()), newBuffer()
		for _, u := range updates {
			w.apply(u)
			tr.Sync()
			for tr.Dirty() {
				b.take(t, tr, 64<<10)
			}
		}
		return b.String()
	}
	want := chat(says(text))
	if !strings.Contains(want, leftOut) {
		t.Fatal("nothing is cut")
	}
	r := rand.New(rand.NewPCG(3, 0))
	for range 30 {
		var updates []session.Update
		for rest := []rune(text); len(rest) > 0; {
			n := min(1+r.IntN(1+r.IntN(60_000)), len(rest))
			updates = append(updates, says(string(rest[:n])))
			rest = rest[n:]
		}
		if got := chat(updates...); got != want {
			t.Fatalf("in %d pieces it is another text", len(updates))
		}
	}
}

// What is left out of a line costs Neovim nothing, and no time of its own.
func TestLongLineIsTakenAtOnce(t *testing.T) {
	w := newWorld()
	tr, b := New(w.conv, w.config()), newBuffer()
	w.apply(says(strings.Repeat("x", 20<<20) + "\nend"))
	tr.Sync()
	takes := 0
	for ; tr.Dirty(); takes++ {
		b.take(t, tr, 4<<10)
	}
	if most := maxWords/(4<<10) + 4; takes > most {
		t.Errorf("it took %d times, not %d", takes, most)
	}
	check.Equal(t, b.lines[len(b.lines)-1].text, "end", "the last line is %q")
}
