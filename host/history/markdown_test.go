package history

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

var update = flag.Bool("update", false, "write the golden files anew")

// story is a conversation with one of each that is told.
func story() *session.Conversation {
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	conv := session.NewConversation(func() time.Time { return clock })
	apply := func(list ...session.Update) {
		for _, u := range list {
			conv.Apply(u)
			clock = clock.Add(1500 * time.Millisecond)
		}
	}
	call := func(id string, kind session.ToolKind, title string, status session.ToolCallStatus, content ...session.ToolCallContent) session.ToolCallPatch {
		return session.ToolCallPatch{ID: id, Kind: acp.Set(kind), Title: acp.Set(title), Status: acp.Set(status), Content: acp.Set(content)}
	}
	out := func(words string) session.ToolCallContent { return session.ContentItem{Content: text(words)} }
	nested := call("n", session.KindRead, "Read b.go", session.StatusCompleted)
	nested.Parent = acp.Set("t")
	apply(
		session.InfoUpdate{Title: acp.Set("Mend the parser")},
		session.TurnStart{Prompt: []session.Content{
			text("Mend the parser, see "), session.ResourceLink{URI: "file:///p/a.go", Name: "a.go"}, text("\nIt fails on empty input."),
		}},
		session.MessageChunk{MessageID: "1", Role: session.RoleThought, Content: text("Let me look.\n\nAt all of it.")},
		session.PlanUpdate{Entries: []session.PlanEntry{
			{Content: "look", Status: "completed"}, {Content: "mend", Status: "in_progress"}, {Content: "test", Status: "pending"},
		}},
		session.PlanUpdate{ID: "p", Content: text("1. look again")},
		call("t", session.KindThink, "Task: look for it", session.StatusCompleted, out("Found.")),
		nested,
		call("e", session.KindEdit, "Edit a.go", session.StatusCompleted,
			session.Diff{Path: "/p/a.go", OldText: ptr("one\ntwo\n"), NewText: ptr("one\n2\n")}),
		call("x", session.KindExecute, "go test ./...", session.StatusFailed, out("\x1b[31mFAIL\x1b[m\n```\nfenced\n```\n")),
		call("w", session.KindExecute, "make", session.StatusCompleted, session.TerminalRef{TerminalID: "term"}),
		call("m", session.KindOther, "mcp__tickets__find", session.StatusCompleted, out("T-1")),
		session.ToolCallPatch{ID: "r", Kind: acp.Set(session.KindDelete), Title: acp.Set("rm -rf /")},
		session.Waiting{ToolCallID: "r", Open: true},
		session.Waiting{ToolCallID: "r", Rejected: true},
		session.Notice{Severity: "warning", Title: "Slow", Description: "The model is busy."},
		agentSays("2", "# Done\n\nIt is *mended*:\n\n```sh\n# no heading\n```\n\n## More\n"),
		session.UnknownUpdate{Type: "dance"},
		session.CompactionPatch{ID: "c", Status: "completed", Summary: acp.Set([]session.Content{text("In short.")})},
		session.TurnEnd{StopReason: session.StopMaxTokens},
		ask("and then?"),
		session.TurnEnd{StopReason: session.StopError, Error: "The agent ended."},
		ask(strings.Repeat("a long line of words ", 6)),
		session.TurnEnd{StopReason: session.StopCancelled},
	)
	return conv
}

func TestMarkdown(t *testing.T) {
	about := About{Agent: "a", AgentTitle: "Agent", Cwd: "/p", ID: "s"}
	got := NewStory(about, story(), func(id string) (session.TerminalPatch, bool) {
		return session.TerminalPatch{ID: id, Output: acp.Set([]byte("made\r\n"))}, true
	}).Markdown().Text()
	name := filepath.Join("testdata", "story.md")
	if *update {
		must.Do(t, os.MkdirAll("testdata", 0o777))
		must.Do(t, os.WriteFile(name, []byte(got), 0o666))
	}
	want, err := os.ReadFile(name)
	if err != nil || got != string(want) {
		t.Errorf("%v; the story is\n%s", err, got)
	}
}

// Long lines are broken between letters, and anywhere where there are none.
func TestLongLinesAreBroken(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"short", strings.Repeat("a", pageWidth), strings.Repeat("é", pageWidth), "a" + strings.Repeat("語", pageWidth), strings.Repeat("\x80", 3*pageWidth)} {
		p := Page{Lines: []string{line}, Times: []time.Time{time.Now()}}.broken()
		check.Equal(t, strings.Join(p.Lines, ""), line, "broken it is %q")
		check.Equal(t, len(p.Times), len(p.Lines), "there are %d times")
		for _, l := range p.Lines {
			if len(l) > pageWidth || utf8.ValidString(line) && !utf8.ValidString(l) {
				t.Errorf("there is a line of %d bytes, whole letters: %v", len(l), utf8.ValidString(l))
			}
		}
	}
}
