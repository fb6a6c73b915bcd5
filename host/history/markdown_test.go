package history

import (
	"encoding/json"
	"errors"
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

func TestLongLinesAreBroken(t *testing.T) {
	long := "x" + strings.Repeat("é", 3000)
	page := Page{Lines: []string{"short", long, ""}, Times: make([]time.Time, 3)}.broken()
	if len(page.Lines) != 6 || len(page.Times) != 6 || strings.Join(page.Lines[1:5], "") != long {
		t.Errorf("there are %d lines", len(page.Lines))
	}
	for _, l := range page.Lines {
		if len(l) > pageWidth || !utf8.ValidString(l) {
			t.Errorf("a line is %q", l)
		}
	}
	page = Page{Lines: []string{strings.Repeat("\x80", 3*pageWidth)}, Times: make([]time.Time, 1)}.broken() // no letters
	if strings.Join(page.Lines, "") != strings.Repeat("\x80", 3*pageWidth) || len(page.Lines) < 3 || len(page.Times) != len(page.Lines) {
		t.Errorf("there are %d lines, and %d times", len(page.Lines), len(page.Times))
	}
}

// A conversation in which nobody has said anything has no date.
func TestNobodyHasSaidAnything(t *testing.T) {
	conv := session.NewConversation(time.Now)
	conv.Apply(session.Notice{Severity: "info", Title: "Welcome"})
	want := "# A session with Agent\n\n*Agent · /p*\n\n> **Info:** Welcome\n"
	check.Equal(t, NewStory(about, conv, noTerminal).Markdown().Text(), want, "it is told as\n%s")
}

// A call whose title says no more than its kind has that once.
func TestCallsWithoutATitle(t *testing.T) {
	conv := session.NewConversation(time.Now)
	for i, title := range []string{"", "execute", "make"} {
		conv.Apply(session.ToolCallPatch{
			ID: string(rune('a' + i)), Kind: acp.Set(session.KindExecute), Title: acp.Set(title), Status: acp.Set(session.StatusCompleted),
		})
	}
	text := NewStory(About{}, conv, nil).Markdown().Text()
	var calls []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "**execute**") {
			calls = append(calls, strings.TrimRight(line, " \n"))
		}
	}
	check.Slice(t, calls, []string{"✓ **execute**", "✓ **execute**", "✓ **execute** make"}, "the calls are %q")
	if strings.Contains(text, "** \n") {
		t.Error("a line ends with a space")
	}
}

// A kept transcript tells what has no place in the story above: output that is Markdown already or no text at all, what
// the editor was asked, terminals, and a compaction that failed.
func TestMarkdownOfAFile(t *testing.T) {
	call := func(id, title string, content ...session.ToolCallContent) session.ToolCallPatch {
		return session.ToolCallPatch{
			ID: id, Kind: acp.Set(session.KindOther), Title: acp.Set(title), Status: acp.Set(session.StatusCompleted), Content: acp.Set(content),
		}
	}
	out := func(c session.Content) session.ToolCallContent { return session.ContentItem{Content: c} }
	asked := call("e", "mcp__nvim__diagnostics", out(text("nothing")))
	asked.Editor = true
	for name, c := range map[string]struct {
		said []session.Update
		want string
	}{
		"output in a fence": {
			[]session.Update{call("c", "look", out(text("\n```go\nx := 1\n```\n")))}, "✓ **other** look\n\n```go\nx := 1\n```\n",
		},
		"two fences in the output": {
			[]session.Update{call("c", "look", out(text("```\na\n```\n\n```\nb\n```")))},
			"✓ **other** look\n\n````\n```\na\n```\n\n```\nb\n```\n````\n",
		},
		"a fence within the output": {
			[]session.Update{call("c", "look", out(text("see ```this``` there")))}, "✓ **other** look\n\n````\nsee ```this``` there\n````\n",
		},
		"output that is a link": {
			[]session.Update{call("c", "look", out(session.ResourceLink{URI: "https://example.org/a", Name: "a"}))},
			"✓ **other** look\n\n[a] https://example.org/a\n",
		},
		"output of a later protocol": {
			[]session.Update{call("c", "look", session.UnknownItem{Type: "dance", Raw: json.RawMessage(`{"type":"dance"}`)})},
			"✓ **other** look\n\n```json\n{\"type\":\"dance\"}\n```\n",
		},
		"a terminal": {
			[]session.Update{
				session.TerminalPatch{ID: "t", Output: acp.Set([]byte("made\r\n"))}, call("c", "make", session.TerminalRef{TerminalID: "t"}),
			},
			"✓ **other** make\n\n```\nmade\n```\n",
		},
		"a question to the editor": {
			[]session.Update{asked}, "✓ **tool** asked the editor: diagnostics\n\n```\nnothing\n```\n",
		},
		"a message of several kinds": {
			[]session.Update{
				agentSays("1", "See "), agentSays("1", "this:"),
				session.MessageChunk{MessageID: "1", Role: session.RoleAgent, Content: session.ResourceLink{URI: "file:///p/a", Name: "a", Title: "The a"}},
				session.MessageChunk{MessageID: "1", Role: session.RoleAgent, Content: session.Resource{URI: "file:///p/b", Text: "its text"}},
				session.MessageChunk{MessageID: "1", Role: session.RoleAgent, Content: session.Image{MimeType: "image/png", Data: "AA=="}},
				agentSays("1", "So."),
			},
			"See this:\n\n[The a](file:///p/a)\n\n[b](file:///p/b)\n\n[image image/png 1 bytes]\n\nSo.\n",
		},
		"headings, and what is none": {
			[]session.Update{agentSays("1", "# 1\n##### 5\n###### 6\n####### 7\n#none\n # none\n~~~~ sh\n~~~\n# no\n```\n# no\n~~~~~\n# 1\n`#`\n# 1")},
			"### 1\n###### 5\n###### 6\n####### 7\n#none\n # none\n~~~~ sh\n~~~\n# no\n```\n# no\n~~~~~\n### 1\n`#`\n### 1\n",
		},
		"a compaction that failed": {
			[]session.Update{session.CompactionPatch{ID: "c", Status: "failed", Error: acp.Set("out of memory")}},
			"<details>\n<summary>Compacting the context: out of memory</summary>\n\n</details>\n",
		},
		"output that is empty": {
			[]session.Update{call("c", "look", out(text("\n\n")))}, "✓ **other** look\n",
		},
		"a compaction that was cut off": {
			[]session.Update{session.CompactionPatch{ID: "c", Status: "in_progress"}},
			"<details>\n<summary>Compacting the context: in_progress</summary>\n\n</details>\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			past := Past{About: about, Said: []Said{{Update: ask("go")}}}
			for _, u := range c.said {
				past.Said = append(past.Said, Said{Update: u})
			}
			past.Said = append(past.Said, Said{Update: session.TurnEnd{StopReason: session.StopEndTurn}})
			_, got, _ := strings.Cut(past.Story().Markdown().Text(), "## go\n\n")
			check.Equal(t, got, c.want, "it is told as\n%s")
		})
	}
}

// A file of the user's is only replaced where they say so, and then all of it.
func TestWriteFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "story.md")
	must.Do(t, WriteFile(name, []byte("the first story\n"), false))
	if err := WriteFile(name, []byte("another\n"), false); !errors.Is(err, os.ErrExist) {
		t.Errorf("it is replaced: %v", err)
	}
	must.Do(t, WriteFile(name, []byte("another\n"), true))
	if got, err := os.ReadFile(name); err != nil || string(got) != "another\n" {
		t.Errorf("%v; it has %q", err, got)
	}
}
