package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

var about = About{Agent: "a", AgentTitle: "Agent", Cwd: "/p", ID: "s"}

// stage is a recorder beside the conversation that it records.
type stage struct {
	*Recorder
	store  *Store
	conv   *session.Conversation
	clock  time.Time
	timers []func()
	failed []error
}

func begin(t testing.TB) *stage {
	s := &stage{store: Open(filepath.Join(t.TempDir(), "transcripts")), clock: time.UnixMilli(1_700_000_000_000)}
	s.conv = session.NewConversation(func() time.Time { return s.clock })
	s.Recorder = NewRecorder(Config{
		Store: s.store, Background: func(f func()) { f() }, Now: func() time.Time { return s.clock },
		Later: func(_ time.Duration, f func()) *time.Timer {
			s.timers = append(s.timers, f)
			return time.NewTimer(time.Hour)
		},
		Scrub:    func(line []byte) []byte { return bytes.ReplaceAll(line, []byte("hunter2"), []byte("***")) },
		Terminal: func(id string) (session.TerminalPatch, bool) { return session.TerminalPatch{}, false },
		Failed:   func(err error) { s.failed = append(s.failed, err) },
	})
	return s
}

func (s *stage) apply(list ...session.Update) {
	for _, u := range list {
		s.conv.Apply(u)
		s.Note(u)
	}
}

// read is what the file has.
func (s *stage) read(t testing.TB) Past {
	t.Helper()
	s.Flush(nil)
	past, err := s.store.Read("a", "s")
	must.Do(t, err)
	return past
}

// told is a conversation as the file tells it.
func told(p Past) *session.Conversation {
	conv := session.NewConversation(time.Now)
	p.Replay(func(s Said) { conv.ApplyAt(s.At, s.Update) })
	return conv
}

func text(text string) session.Content { return session.Text{Text: text} }

func agentSays(id, words string) session.Update {
	return session.MessageChunk{MessageID: id, Role: session.RoleAgent, Content: text(words)}
}

func ask(words string) session.Update {
	return session.TurnStart{Prompt: []session.Content{text(words)}}
}

// Random conversations come back as they were, however they were cut into lines.
func TestConversationsComeBack(t *testing.T) {
	for seed := range 300 {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		s := begin(t)
		s.Open(about)
		s.apply(session.SessionStart{})
		open := false
		for range 60 {
			id := fmt.Sprint("c", r.IntN(4))
			var u session.Update
			switch r.IntN(12) {
			case 0:
				if open {
					u = session.TurnEnd{StopReason: session.StopEndTurn}
				} else {
					u = ask(fmt.Sprint("prompt ", r.IntN(9)))
				}
				open = !open
			case 1, 2, 3:
				of := []string{"", "", id}[r.IntN(3)]
				u = session.MessageChunk{MessageID: fmt.Sprint(r.IntN(3)), Of: of, Role: session.Role(1 + r.IntN(2)), Content: text("word ")}
			case 4:
				u = session.MessageChunk{MessageID: "p", Role: session.RoleAgent, Content: allBlocks[r.IntN(len(allBlocks))]}
			case 5, 6:
				p := session.ToolCallPatch{ID: id}
				if r.IntN(2) == 0 {
					p.Title = acp.Set(fmt.Sprint(r.IntN(9)))
				}
				if r.IntN(2) == 0 {
					p.Content = acp.Set(allItems[:1+r.IntN(2)])
				}
				if r.IntN(3) == 0 {
					p.Status = acp.Set([]session.ToolCallStatus{session.StatusInProgress, session.StatusCompleted}[r.IntN(2)])
				}
				switch r.IntN(8) {
				case 0:
					p.Name, p.Parent = acp.Set(id), acp.Set(fmt.Sprint("c", r.IntN(4)))
				case 1:
					p.Kind = acp.Set(session.KindEdit)
				case 2:
					p.Locations = acp.Set([]session.Location{{Path: "/" + id, Line: r.IntN(9)}})
				case 3:
					p.RawInput = acp.Set(json.RawMessage(fmt.Sprint(r.IntN(3))))
				case 4:
					p.RawOutput = acp.Set(json.RawMessage(fmt.Sprint(r.IntN(3))))
				}
				if r.IntN(3) == 0 {
					p.Meta = acp.Set(map[string]json.RawMessage{fmt.Sprint("m", r.IntN(3)): json.RawMessage(fmt.Sprint(r.IntN(3)))})
				}
				u = p
			case 7:
				u = session.ToolCallChunk{ID: id, Content: allItems[:1]}
			case 8:
				u = session.Waiting{ToolCallID: id, Open: r.IntN(2) == 0}
			case 9:
				u = session.PlanUpdate{Entries: []session.PlanEntry{{Content: fmt.Sprint(r.IntN(9))}}}
			case 10:
				u = session.UsageUpdate{Usage: session.Usage{Used: uint64(r.IntN(9)), Cost: &session.Cost{Amount: float64(r.IntN(9))}}}
			case 11:
				if len(s.timers) > 0 {
					s.timers[len(s.timers)-1]()
				}
				continue
			}
			s.apply(u)
		}
		if len(s.conv.Entries) == 0 {
			continue
		}
		past := s.read(t)
		if open {
			s.conv.Apply(session.AgentGone{})
			s.conv.Apply(session.TurnEnd{StopReason: session.StopError, Error: "Cut short: Neovim, or the host, was killed."})
		} else {
			s.conv.Apply(session.AgentGone{})
		}
		want, got := s.conv.Entries, told(past).Entries
		if len(want) != len(got) {
			t.Fatalf("seed %d: %d entries, not %d:\n%s\nof\n%s", seed, len(got), len(want),
				NewStory(about, &session.Conversation{Entries: got}, noTerminal).Markdown().Text(),
				NewStory(about, &session.Conversation{Entries: want}, noTerminal).Markdown().Text())
		}
		for i := range want {
			if a, b := NewStory(about, &session.Conversation{Entries: want[i : i+1]}, noTerminal).Markdown().Text(),
				NewStory(about, &session.Conversation{Entries: got[i : i+1]}, noTerminal).Markdown().Text(); a != b {
				t.Errorf("seed %d, entry %d: came back as\n%s\nof\n%s", seed, i, b, a)
			}
			if a, ok := want[i].(*session.ToolCall); ok {
				b := got[i].(*session.ToolCall)
				if !reflect.DeepEqual(a.Content, b.Content) || !reflect.DeepEqual(a.Meta, b.Meta) || a.Shown() != b.Shown() || a.Title != b.Title ||
					a.Parent != b.Parent || a.Name != b.Name || a.Kind != b.Kind || !reflect.DeepEqual(a.Locations, b.Locations) ||
					!bytes.Equal(a.RawInput, b.RawInput) || !bytes.Equal(a.RawOutput, b.RawOutput) {
					t.Errorf("seed %d: the call %+v came back as %+v", seed, a, b)
				}
			}
		}
	}
}

func noTerminal(string) (session.TerminalPatch, bool) { return session.TerminalPatch{}, false }

// What streams in small pieces makes no large file, and comes back with its times.
func TestStreamsAreGathered(t *testing.T) {
	s := begin(t)
	s.Open(about)
	s.apply(session.SessionStart{}, ask("go"))
	size := 0
	for range 10_000 {
		s.apply(session.MessageChunk{MessageID: "1", Role: session.RoleThought, Content: text("piece ")})
		size += len("piece ")
		s.clock = s.clock.Add(time.Millisecond)
	}
	for i := range 1000 {
		s.apply(session.ToolCallPatch{ID: "c", Title: acp.Set("run"), Content: acp.Set([]session.ToolCallContent{
			session.ContentItem{Content: text(strings.Repeat("output\n", i))},
		})})
	}
	size += 1000 * len("output\n")
	s.apply(session.TurnEnd{StopReason: session.StopEndTurn})
	past := s.read(t)
	info, err := os.Stat(s.store.path("a", "s"))
	must.Do(t, err)
	if info.Size() > int64(size+size/4) {
		t.Errorf("%d bytes of text make a file of %d", size, info.Size())
	}
	check.Equal(t, info.Mode().Perm(), 0o600, "the file has mode %o")
	if dir, _ := os.Stat(s.store.dir); dir.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %o", dir.Mode().Perm())
	}
	thought := told(past).Entries[1].(*session.Message)
	if took := thought.Ended.Sub(thought.Started); took != 10*time.Second || len(thought.Text()) != 60_000 {
		t.Errorf("it thought for %v, %d bytes", took, len(thought.Text()))
	}
}

// A turn's notices are kept, those between turns are not; nor is a title that says nothing. What a call shows more is
// gathered until it ends, after what was said meanwhile.
func TestWhatIsKeptOfATurn(t *testing.T) {
	s := begin(t)
	s.Open(about)
	notice := func(title string) session.Update { return session.Notice{Severity: "info", Title: title} }
	chunk := func(words string) session.Update {
		return session.ToolCallChunk{ID: "c", Content: []session.ToolCallContent{session.ContentItem{Content: text(words)}}}
	}
	s.apply(session.SessionStart{}, notice("before"), ask("go"), notice("within"), session.Remark{Severity: "info", Text: "mine"},
		session.InfoUpdate{}, session.InfoUpdate{Title: acp.Set("")}, session.InfoUpdate{Title: acp.Set("Mend it")},
		chunk("1"), chunk("2"), chunk("3"), agentSays("m", "a < b && c > d"),
		session.ToolCallPatch{ID: "c", Status: acp.Set(session.StatusCompleted)}, agentSays("n", "done"),
		session.TurnEnd{StopReason: session.StopEndTurn}, notice("after"))
	past := s.read(t)
	var got []string
	for _, said := range past.Said {
		switch u := said.Update.(type) {
		case session.Notice:
			got = append(got, u.Title)
		case session.Remark:
			got = append(got, u.Text)
		case session.InfoUpdate:
			got = append(got, "title "+u.Title.Or(""))
		case session.MessageChunk:
			got = append(got, words([]session.Content{u.Content}))
		case session.ToolCallChunk:
			got = append(got, fmt.Sprint(len(u.Content), " of ", u.ID))
		case session.ToolCallPatch:
			got = append(got, string(u.Status.Or("")))
		}
	}
	check.Equal(t, strings.Join(got, ", "), "within, mine, title Mend it, 1 of c, a < b && c > d, completed, 2 of c, done", "kept are %s")
	check.Equal(t, len(told(past).Calls[0].Content), 3, "the call has %d items")
	data, err := os.ReadFile(s.store.path("a", "s"))
	must.Do(t, err)
	check.Contains(t, string(data), "a < b && c > d", "the file has %s")
}

// What a sub-agent says within its call stays there, between what the call itself shows.
func TestWordsWithinACallAreKept(t *testing.T) {
	s := begin(t)
	s.Open(about)
	says := func(words string) session.Update {
		return session.MessageChunk{MessageID: "m", Of: "c", Role: session.RoleAgent, Content: text(words)}
	}
	shows := func(words string) []session.ToolCallContent {
		return []session.ToolCallContent{session.ContentItem{Content: text(words)}}
	}
	s.apply(session.SessionStart{}, ask("go"), session.ToolCallPatch{ID: "c", Title: acp.Set("task")},
		session.ToolCallPatch{ID: "c", Content: acp.Set(shows("look"))}, says("I "), says("looked."),
		session.ToolCallChunk{ID: "c", Content: shows("seen")}, says(" All is well."))
	var got []string
	for _, item := range told(s.read(t)).Calls[0].Content {
		got = append(got, words([]session.Content{item.(session.ContentItem).Content}))
	}
	check.Equal(t, strings.Join(got, "|"), "look|I looked. All is well.|seen", "the call has %q")
}

// What agents say again in equal words, and what was sent but is not seen, is not written.
func TestRepetitionsAreLeftOut(t *testing.T) {
	s := begin(t)
	s.Open(about)
	change := session.ToolCallPatch{ID: "c", Title: acp.Set("edit"), Content: acp.Set([]session.ToolCallContent{
		session.Diff{Path: "/a", OldText: ptr("old text"), NewText: ptr(strings.Repeat("new ", 1000))},
	})}
	prompt := session.TurnStart{
		Prompt: []session.Content{text("look at this")},
		Sent:   []session.Content{text("look at this"), session.Resource{URI: "file:///a", Text: "unsaved text"}},
	}
	s.apply(session.SessionStart{}, prompt, change, change, session.Waiting{ToolCallID: "c", Open: true}, change,
		session.Waiting{ToolCallID: "c", Allowed: true}, session.ToolCallPatch{ID: "c", Status: acp.Set(session.StatusCompleted)}, change)
	s.apply(session.TurnEnd{StopReason: session.StopEndTurn})
	call := told(s.read(t)).Calls[0]
	if !reflect.DeepEqual(call.Content, s.conv.Calls[0].Content) || call.Shown() != session.StatusCompleted {
		t.Errorf("the call is %+v", call)
	}
	s.apply(session.TurnStart{Prompt: []session.Content{text("and this")}, Sent: []session.Content{text("and this")}})
	s.apply(session.TurnStart{Prompt: []session.Content{text("and @a")}, Sent: []session.Content{text("and the file a")}})
	all := session.ToolCallPatch{
		ID: "d", Title: acp.Set("the title"), Name: acp.Set("the name"), Kind: acp.Set(session.KindSearch),
		Locations: acp.Set([]session.Location{{Path: "/where"}}), RawInput: acp.Set(json.RawMessage(`"the input"`)),
		RawOutput: acp.Set(json.RawMessage(`"the output"`)), Status: acp.Set(session.StatusCompleted),
	}
	s.apply(all, all, session.TurnEnd{StopReason: session.StopEndTurn})
	s.read(t)
	data, err := os.ReadFile(s.store.path("a", "s"))
	must.Do(t, err)
	check.Equal(t, bytes.Count(data, []byte("unsaved text")), 0, "unsaved text is there %d times")
	for _, once := range []string{"old text", "and this", "and the file a", "the title", "the name", "search", "/where", "the input", "the output"} {
		check.Equal(t, bytes.Count(data, []byte(once)), 1, "there is %d times "+once)
	}
}

// What is written while the disk is busy comes after what it is busy with.
func TestOneWriteAfterTheOther(t *testing.T) {
	s := begin(t)
	var busy []func()
	s.config.Background = func(f func()) { busy = append(busy, f) }
	s.Open(about)
	for _, word := range []string{"one", "two"} {
		s.apply(ask(word), session.TurnEnd{StopReason: session.StopEndTurn})
	}
	var done []int
	s.Flush(func() { done = append(done, 1) })
	s.store.ReadLater("a", "s", s.config.Background, func(past Past, err error) {
		must.Do(t, err)
		done = append(done, len(Prompts(past.Said)))
	})
	must.Equal(t, len(busy), 1, "%d write at a time")
	busy[0]()
	check.Slice(t, done, []int{1, 2}, "then %v")
	s.Flush(func() { done = append(done, 3) })
	must.Equal(t, len(busy), 2, "later %d have written")
	busy[1]()
	check.Equal(t, len(done), 3, "%d were done")
}

// What came is told with its time: how long a call took, and when its last words came, is known afterwards too.
func TestTimesAreKept(t *testing.T) {
	s := begin(t)
	s.Open(about)
	began := s.clock
	shows := []session.ToolCallContent{session.ContentItem{Content: text("seen")}}
	for _, u := range []session.Update{
		session.SessionStart{}, ask("go"), session.ToolCallPatch{ID: "c", Title: acp.Set("look")},
		session.ToolCallPatch{ID: "c", Status: acp.Set(session.StatusCompleted)}, session.ToolCallChunk{ID: "c", Content: shows},
		agentSays("1", "so"), agentSays("1", " it is"), session.UsageUpdate{}, session.TurnEnd{StopReason: session.StopEndTurn},
	} {
		s.apply(u)
		s.clock = s.clock.Add(time.Second)
	}
	past := s.read(t)
	var got []string
	for _, said := range past.Said {
		kind := strings.TrimPrefix(fmt.Sprintf("%T", said.Update), "session.")
		got = append(got, fmt.Sprint(kind, " ", said.At.Sub(began).Seconds()))
	}
	check.Slice(t, got, []string{
		"SessionStart 0", "TurnStart 1", "ToolCallPatch 2", "ToolCallPatch 3", "MessageChunk 5", "ToolCallPatch 4", "ToolCallChunk 4",
		"UsageUpdate 7", "TurnEnd 8",
	}, "kept are %q")
	check.Equal(t, told(past).Calls[0].Elapsed(s.clock), time.Second, "the call took %s")
}

// What a terminal has shown, and the agent's own id of a message, are kept of a turn that was not ended.
func TestASessionThatIsClosedInATurn(t *testing.T) {
	s := begin(t)
	s.config.Terminal = func(id string) (session.TerminalPatch, bool) {
		return session.TerminalPatch{ID: id, Output: acp.Set([]byte("made\n"))}, true
	}
	s.Open(about)
	s.apply(session.SessionStart{}, ask("go"),
		session.ToolCallPatch{ID: "c", Content: acp.Set([]session.ToolCallContent{session.TerminalRef{TerminalID: "t"}})},
		session.MessageChunk{MessageID: "1", Wire: "own", Role: session.RoleAgent, Content: text("so")})
	s.Close()
	past, err := s.store.Read("a", "s")
	must.Do(t, err)
	check.Contains(t, past.Story().Markdown().Text(), "```\nmade\n```", "it is told as\n%s")
	check.Equal(t, told(past).Entries[2].(*session.Message).Wire, "own", "its message is %q")
}

func TestNothingStandsInAFileBeforeSomethingIsSaid(t *testing.T) {
	s := begin(t)
	s.Open(about)
	s.apply(session.SessionStart{}, session.InfoUpdate{Title: acp.Set("The title")}, session.Remark{Text: "log in"},
		session.Background{Calls: []string{"c"}}, session.AgentGone{})
	s.Flush(nil)
	if _, err := s.store.Read("a", "s"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
	s.apply(ask("my password is hunter2"), session.TurnEnd{StopReason: session.StopEndTurn})
	past := s.read(t)
	check.Equal(t, len(past.Said), 4, "kept are %d updates")
	if conv := told(past); conv.Title != "The title" || len(conv.Entries) != 2 {
		t.Errorf("it has %q and %d entries", conv.Title, len(conv.Entries))
	}
	if data, _ := os.ReadFile(s.store.path("a", "s")); bytes.Contains(data, []byte("hunter2")) {
		t.Error("the secret is in the file")
	}
	// Another session of the agent has another file.
	other := about
	other.ID = "t"
	s.Open(other)
	s.apply(session.SessionStart{}, ask("elsewhere"))
	s.Flush(nil)
	if list, err := s.store.List(); err != nil || len(list) != 2 {
		t.Errorf("the list is %v, %v", list, err)
	}
	s.apply(agentSays("1", "forget it"))
	s.Drop()
	s.apply(agentSays("1", "all of it"), session.TurnEnd{StopReason: session.StopEndTurn}) // nobody keeps it
	s.Flush(nil)
	list, err := s.store.List()
	if err != nil || len(list) != 1 || list[0].Title != "The title" || list[0].About.ID != "s" {
		t.Errorf("the list is %v, %v", list, err)
	}
}

// A line that was cut short, or is damaged, takes nothing else with it.
func TestDamage(t *testing.T) {
	s := begin(t)
	s.Open(about)
	s.apply(session.SessionStart{}, ask("first"), agentSays("1", "answer"), session.TurnEnd{StopReason: session.StopEndTurn})
	s.read(t)
	path := s.store.path("a", "s")
	data, err := os.ReadFile(path)
	must.Do(t, err)
	cut := append(data, `{"t":1,"is":"message","of":{"id":"2","ro`...)
	must.Do(t, os.WriteFile(path, cut, 0o600))
	s.apply(ask("second"), session.TurnEnd{StopReason: session.StopEndTurn})
	past := s.read(t)
	if prompts := Prompts(past.Said); past.Damaged != 1 || len(prompts) != 2 {
		t.Errorf("%d lines are damaged, prompts are %v", past.Damaged, prompts)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	lines[2] = []byte("\x00\x00garbage\n")
	lines = append(lines, []byte(`{"t":1,"is":"of the future","of":{}}`+"\n"))
	must.Do(t, os.WriteFile(path, bytes.Join(lines, nil), 0o600))
	past, err = s.store.Read("a", "s")
	if err != nil || past.Damaged != 2 || len(told(past).Entries) == 0 {
		t.Errorf("it has %d damaged lines, %v", past.Damaged, err)
	}
	for _, first := range []string{
		"", "junk\n", `{"format":99,"agent":"a","session":"s"}` + "\n", `{"agent":"a","session":"s"}` + "\n",
		`{"format":1,"session":"s"}` + "\n", `{"format":1,"agent":"a"}` + "\n", `{"format":1,"agent":"a","session":"s"}`,
	} {
		must.Do(t, os.WriteFile(path, []byte(first), 0o600))
		_, err := s.store.Read("a", "s")
		if err == nil || errors.Is(err, ErrNewer) != strings.Contains(first, "99") {
			t.Errorf("a file that begins %q: %v", first, err)
		}
	}
	// What a newer version wrote is not written to.
	must.Do(t, os.WriteFile(path, []byte(`{"format":99,"agent":"a","session":"s"}`+"\n"), 0o600))
	s.apply(ask("third"))
	s.Flush(nil)
	if len(s.failed) != 1 || !errors.Is(s.failed[0], ErrNewer) {
		t.Errorf("failed are %v", s.failed)
	}
}

func TestLimits(t *testing.T) {
	now := time.Now()
	s := Open(t.TempDir())
	s.limits = limits{files: 3, allSize: 3000, fileSize: 2000, age: 24 * time.Hour}
	write := func(id string, age time.Duration, size int) {
		other := about
		other.ID = id
		must.Do(t, s.add(other, bytes.Repeat([]byte("x"), size)))
		must.Do(t, os.Chtimes(s.path("a", id), now.Add(-age), now.Add(-age)))
	}
	check := func(want ...string) {
		t.Helper()
		must.Do(t, s.Clean(t.Context(), now))
		list, err := s.List()
		must.Do(t, err)
		var got []string
		for _, e := range list {
			got = append(got, e.About.ID)
		}
		check.Deep(t, got, want, "kept are %v")
	}
	write("old", 25*time.Hour, 10)
	write("1", 4*time.Hour, 10)
	write("2", 3*time.Hour, 10)
	write("3", 2*time.Hour, 10)
	check("3", "2", "1")
	write("4", 1*time.Hour, 10)
	check("4", "3", "2")
	write("5", 0, 2500)
	check("5", "4", "3")
	write("6", 0, 1000)
	must.Do(t, s.Clean(t.Context(), now.Add(time.Hour)))
	if list, _ := s.List(); len(list) != 1 {
		t.Errorf("kept are %v", list)
	}
	big := about
	big.ID = "big"
	must.Do(t, s.add(big, bytes.Repeat([]byte("x"), 2001)))
	if err := s.add(big, []byte("more\n")); !errors.Is(err, errFull) {
		t.Errorf("it is written on: %v", err)
	}
}

// The file of a turn that was killed ends where it was cut.
func TestCutShort(t *testing.T) {
	s := begin(t)
	s.Open(about)
	s.apply(session.SessionStart{}, ask("first"), session.ToolCallPatch{ID: "c", Title: acp.Set("run")}, agentSays("1", "half of"))
	conv := told(s.read(t))
	if conv.Running || conv.Stop != session.StopError || conv.Calls[0].Shown() != session.StatusCancelled {
		t.Errorf("it runs: %v, stopped: %s, the call is %s", conv.Running, conv.Stop, conv.Calls[0].Shown())
	}
	s.apply(session.SessionStart{}, ask("second"), session.TurnEnd{StopReason: session.StopEndTurn})
	past := s.read(t)
	for what, said := range map[string][]Said{
		"a session that was opened again": past.Said, "one of which no more than the prompts is left": {{Update: ask("first")}, {Update: ask("second")}},
	} {
		stops := 0
		for _, e := range told(Past{Said: said}).Entries {
			if _, ok := e.(*session.Stop); ok {
				stops++
			}
		}
		check.Equal(t, stops, 2, "of "+what+" %d turns have ended")
	}
}

// script is a conversation in few words: "u:" the user, "a:" the agent, "t:" a prompt of ours, "m:" more of the user's
// message before, "U:" and "A:" a message of either that has no words, or has lost them.
func script(lines ...string) (list []session.Update) {
	for i, l := range lines {
		words := l[2:]
		switch l[0] {
		case 't':
			list = append(list, ask(words), agentSays(fmt.Sprint(i), "so."), session.TurnEnd{StopReason: session.StopEndTurn})
		case 'u':
			list = append(list, session.MessageChunk{MessageID: fmt.Sprint(i), Role: session.RoleUser, Content: text(words)})
		case 'a':
			list = append(list, agentSays(fmt.Sprint(i), words))
		case 'm':
			list = append(list, session.MessageChunk{MessageID: fmt.Sprint(i - 1), Role: session.RoleUser, Content: text(" " + words)})
		case 'U':
			list = append(list, session.MessagePatch{MessageID: fmt.Sprint(i), Role: session.RoleUser})
		case 'A':
			list = append(list, session.MessagePatch{MessageID: fmt.Sprint(i), Role: session.RoleAgent})
		}
	}
	return list
}

func TestReplay(t *testing.T) {
	for name, c := range map[string]struct {
		ours, agent, late []string
		want              string // what is shown
	}{
		"the same":                {[]string{"t:a", "t:b"}, []string{"u:a", "a:1", "u:b", "a:2"}, nil, ""},
		"it went on":              {[]string{"t:a"}, []string{"u:a", "a:1", "u:b", "a:2", "u:c", "a:3"}, nil, "b 2 c 3"},
		"the same words again":    {[]string{"t:go on", "t:go on"}, []string{"u:go on", "a:1", "u:go on", "a:2", "u:go on", "a:3"}, nil, "go on 3"},
		"it tells less":           {[]string{"t:a", "t:b", "t:c"}, []string{"u:c", "a:3"}, nil, ""},
		"it tells less, and more": {[]string{"t:a", "t:b", "t:c"}, []string{"u:c", "a:3", "u:d", "a:4"}, nil, "d 4"},
		"it tells no prompts":     {[]string{"t:a", "t:b"}, []string{"a:1", "a:2"}, nil, ""},
		"in pieces, and more":     {[]string{"t:a b", "t:never told"}, []string{"u:a", "m:b", "a:1", "u:c", "m:d", "a:2"}, nil, "c  d 2"},
		"without an answer":       {[]string{"t:a"}, []string{"u:a", "u:b", "a:2"}, nil, "b 2"},
		"it ends with ours":       {[]string{"t:a", "t:b"}, []string{"u:a", "a:1", "u:b"}, nil, ""},
		"it goes on, later":       {[]string{"t:a", "t:never told"}, []string{"u:a", "a:1", "u:c", "a:2"}, []string{"u:d", "a:3"}, "c 2 d 3"},
		"in other words, and more": {
			[]string{"t:mend the parser please", "t:never told"}, []string{"u:mend the parser", "a:1", "u:c", "a:2"}, nil, "c 2",
		},
		"nothing":             {[]string{"t:a"}, nil, nil, ""},
		"in words of its own": {[]string{"t:a", "t:b"}, []string{"u:x", "a:1", "u:y", "a:2", "u:z", "a:3"}, nil, "z 3"},
		"with its context": {
			[]string{"t:please look at @main.go and mend it"},
			[]string{"u:please look at [@main.go](file:///main.go) and mend it", "a:1"}, nil, "",
		},
		"without its context": {
			[]string{"t:mend it please and then run the tests of this package again @main.go @lexer.go @parser.go @notes.md @other.md @more.md"},
			[]string{"u:mend it please and then run the tests of this package", "a:1"}, nil, "",
		},
		"words to its model, after more": {
			[]string{"t:a"}, []string{"u:a", "a:1", "u:b", "a:2", "u:<reminder>", "a:3"}, nil, "b 2 3",
		},
		"messages without words": {
			[]string{"t:a"}, []string{"U:", "u:a", "A:", "a:1", "U:", "u:b", "A:", "a:2"}, []string{"U:", "A:", "a:3"}, "b (agent) 2 (user) (agent) 3",
		},
		"words to its model": {
			[]string{"t:a", "t:/compact"},
			[]string{"u:<context>x", "u:a", "a:1", "u:<command-name>/compact</command-name>", "a:2"}, nil, "",
		},
		"words to its model, later": {
			[]string{"t:a"}, []string{"u:a", "a:1"}, []string{"u:b", "a:2", "u:<reminder>", "a:3"}, "b 2 3",
		},
		"ours was told too":           {[]string{"u:a", "a:1", "t:b"}, []string{"u:a", "a:1", "u:b", "a:2"}, nil, ""},
		"late":                        {[]string{"t:a", "t:b"}, []string{"u:a"}, []string{"a:1", "u:b", "a:2"}, ""},
		"late, and more":              {[]string{"t:a"}, nil, []string{"u:a", "a:1", "u:b", "a:2"}, "b 2"},
		"more, the end late":          {[]string{"t:a"}, []string{"u:a", "a:1", "u:b", "a:2"}, []string{"a:3"}, "b 2 3"},
		"without answers, later":      {[]string{"t:a"}, []string{"u:a", "a:1"}, []string{"u:b", "u:c", "a:3"}, "b c 3"},
		"the same words again, later": {[]string{"t:a", "t:a"}, []string{"u:a", "a:1", "a:2"}, []string{"u:x", "a:3"}, ""},
		"not all of ours, later":      {[]string{"t:a", "t:b"}, []string{"u:a", "a:1"}, []string{"u:x", "a:2"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var said []Said
			for _, u := range script(c.ours...) {
				said = append(said, Said{Update: u})
			}
			r := NewReplay(Prompts(said))
			var shown []string
			show := func(list []session.Update) {
				for _, u := range list {
					switch u := u.(type) {
					case session.MessageChunk:
						shown = append(shown, u.Content.(session.Text).Text)
					case session.MessagePatch:
						shown = append(shown, map[session.Role]string{session.RoleUser: "(user)", session.RoleAgent: "(agent)"}[u.Role])
					}
				}
			}
			for _, u := range script(c.agent...) {
				show(r.Take(u))
			}
			show(r.Over())
			for _, u := range script(c.late...) {
				if m, ok := u.(session.MessageChunk); ok {
					m.MessageID += " late"
					u = m
				}
				show(r.Take(u))
			}
			check.Equal(t, strings.Join(shown, " "), c.want, "shown is %q")
		})
	}
}

// Prompts are what the user asked for, whoever told of it: they are what an agent's own account is compared with, and
// where a session can be forked.
func TestPromptsOfASession(t *testing.T) {
	user := func(id, words string) session.Update {
		return session.MessageChunk{MessageID: id, Role: session.RoleUser, Content: text(words)}
	}
	end := session.TurnEnd{StopReason: session.StopEndTurn}
	for name, c := range map[string]struct {
		said []session.Update
		want string // the prompts
		at   []int  // where they begin
	}{
		"one that was not taken": {
			[]session.Update{ask("a"), end, ask("b"), session.NotTaken{}, end, ask("b"), agentSays("1", "so"), end}, "a|b", []int{0, 5},
		},
		"one whose line is damaged": {[]session.Update{session.NotTaken{}, end, ask("b"), end}, "b", []int{2}},
		"the next one's line is damaged": {
			[]session.Update{ask("a"), end, session.NotTaken{}, end, ask("c")}, "a|c", []int{0, 4},
		},
		"words for a turn that runs": {
			[]session.Update{ask("a"), session.Steered{Words: []session.Content{text("not there")}}, agentSays("1", "so"), end, ask("b")},
			"a|not there|b", []int{0, 1, 4},
		},
		"the agent repeats ours":   {[]session.Update{ask("a"), user("1", "a"), end}, "a", []int{0}},
		"the agent's, in pieces":   {[]session.Update{user("1", "mend"), user("1", "it"), user("2", "now")}, "mend it|now", []int{0, 2}},
		"the agent's, without ids": {[]session.Update{user("", "a"), user("", "b")}, "a|b", []int{0, 1}},
		"one id, in two sessions":  {[]session.Update{user("1", "a"), session.SessionStart{}, user("1", "b")}, "a|b", []int{0, 2}},
		"an agent was killed":      {[]session.Update{ask("a"), session.SessionStart{}, user("1", "b")}, "a|b", []int{0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var past Past
			for _, u := range c.said {
				past.Said = append(past.Said, Said{Update: u})
			}
			var prompts []string
			for i, p := range Prompts(past.Said) {
				prompts = append(prompts, strings.Join(p[0], " "))
				check.Equal(t, len(past.Before(i)), c.at[i], "%d come before %d", i)
			}
			check.Equal(t, strings.Join(prompts, "|"), c.want, "the prompts are %q")
			check.Equal(t, len(past.Before(len(c.at))), len(c.said), "all that comes before one that never was are %d updates")
		})
	}
}

// Whoever waits until all is written goes on where nothing is.
func TestNothingToWrite(t *testing.T) {
	s := begin(t)
	done := 0
	s.Flush(func() { done++ })
	s.Flush(nil)
	s.Open(about)
	s.Flush(func() { done++ })
	s.Close()
	s.Flush(func() { done++ })
	check.Equal(t, done, 3, "%d went on")
}

// Agents repeat a prompt in other words, or with less or more around it; short ones must be the same.
func TestPromptsThatResemble(t *testing.T) {
	for _, c := range []struct {
		own, repeated string
		want          bool
	}{
		{"please look at @main.go and mend it", "please look at [@main.go](file:///main.go) and mend it", true},
		{"one two three", "and one and two and three and four", true},
		{"and one and two and three and four", "one two three", true},
		{"one two three", "one two three", true},
		{"one two", "one two three", false},
		{"one two three", "one two", false},
		{"1 2 3 4 5 6 7 a b c", "1 2 3 4 5 6 7 x y z", true},
		{"1 2 3 4 5 6 a b c d", "1 2 3 4 5 6 w x y z", false},
		{"one two three four", "four three two one", false},
		{"one one one one", "one two three four", false},
	} {
		got := Prompt{strings.Fields(c.own)}.resembles(strings.Fields(c.repeated))
		check.Equal(t, got, c.want, "%q as %q resembles: %t", c.own, c.repeated)
	}
}

// A story is of one moment, whatever is said while it is written.
func TestAStoryStaysAsItWas(t *testing.T) {
	conv := session.NewConversation(time.Now)
	say := func(word string) {
		conv.Apply(agentSays("1", word))
		conv.Apply(session.ToolCallPatch{ID: "c", Kind: acp.Set(session.KindRead), Title: acp.Set(word), Status: acp.Set(session.StatusCompleted)})
		conv.Apply(session.PlanUpdate{Entries: []session.PlanEntry{{Content: word}}})
		conv.Apply(session.CompactionPatch{ID: "k", Status: "completed", Summary: acp.Set([]session.Content{text(word)})})
	}
	conv.Apply(ask("go"))
	say("one")
	story := NewStory(about, conv, noTerminal)
	before := story.Markdown().Text()
	check.Equal(t, strings.Count(before, "one"), 4, "it says so %d times")
	say("two")
	for _, e := range conv.Entries {
		if m, ok := e.(*session.Message); ok {
			for i := range m.Parts {
				m.Parts[i].Text = []byte("three")
			}
		}
	}
	check.Equal(t, story.Markdown().Text(), before, "it has become\n%s")
}

// What a session is forked from is in the new one's file too.
func TestAForkBeginsWithWhatWasSaid(t *testing.T) {
	s := begin(t)
	past := []Said{{s.clock, ask("first")}, {s.clock, session.TurnEnd{StopReason: session.StopEndTurn}}}
	s.Begin(past) // of a session without a file
	s.Open(about)
	s.Begin(nil)
	s.apply(session.InfoUpdate{Title: acp.Set("")})
	if _, err := s.store.Read("a", "s"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
	s.Begin(past)
	s.apply(session.InfoUpdate{Title: acp.Set("The title")}) // it belongs to what was said
	got := s.read(t)
	check.Equal(t, len(Prompts(got.Said)), 1, "there are %d prompts")
	check.Equal(t, got.Title(), "The title", "it is called %q")
}

// A crash loses no more than a moment: what is long, and what waits, is written before the turn ends.
func TestALongTurnIsWrittenMeanwhile(t *testing.T) {
	size := func(s *stage) int64 {
		info, err := os.Stat(s.store.path("a", "s"))
		if errors.Is(err, fs.ErrNotExist) {
			return 0
		}
		must.Do(t, err)
		return info.Size()
	}
	for name, say := range map[string]func(*stage) int64{ // returns how much is to be written
		"a long message": func(s *stage) int64 {
			s.apply(agentSays("1", "begins "), agentSays("1", strings.Repeat("x", waiting)))
			return waiting
		},
		"many updates": func(s *stage) int64 {
			for i := range pending {
				s.apply(session.Waiting{ToolCallID: fmt.Sprint(i), Open: true})
			}
			return pending
		},
		"the turn's end": func(s *stage) int64 {
			s.apply(session.TurnEnd{StopReason: session.StopEndTurn})
			return 1
		},
		"a moment later": func(s *stage) int64 {
			s.apply(agentSays("1", "so"))
			s.timers[0]()
			return 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t)
			s.Open(about)
			s.apply(session.SessionStart{}, ask("go"))
			must.Equal(t, size(s), 0, "%d bytes are written at once")
			if least := say(s); size(s) < least {
				t.Errorf("%d bytes are written, of %d", size(s), least)
			}
		})
	}
	s := begin(t)
	s.Open(about)
	s.apply(session.SessionStart{}, ask("go"), agentSays("1", "one"))
	s.timers[0]()
	was := size(s)
	s.apply(agentSays("2", "two"))
	check.Equal(t, len(s.timers), 2, "there were %d timers")
	s.timers[1]()
	if size(s) == was {
		t.Error("what is said later is not written")
	}
	s.apply(agentSays("3", "three"))
	s.Close()
	was = size(s)
	s.apply(agentSays("3", "four"))
	s.Flush(nil)
	if past, err := s.store.Read("a", "s"); err != nil || len(past.Said) != 5 || size(s) != was {
		t.Errorf("%v; kept are %v", err, past.Said)
	}
}

// A line that is too long to be read again is left out, and nothing else.
func TestWhatIsTooLongIsLeftOut(t *testing.T) {
	s := begin(t)
	s.Open(about)
	picture := session.Image{MimeType: "image/png", Data: strings.Repeat("A", lineLimit)}
	s.apply(session.SessionStart{}, ask("go"), session.MessageChunk{MessageID: "1", Role: session.RoleAgent, Content: picture}, agentSays("2", "there"))
	past := s.read(t)
	check.Equal(t, len(past.Said), 3, "kept are %d updates")
	check.Equal(t, past.Damaged, 0, "%d lines are damaged")
}

// The file has what a terminal has shown, how much was used, and that something unknown came, each once.
func TestWhatTheEndOfATurnKeeps(t *testing.T) {
	s := begin(t)
	s.config.Terminal = func(id string) (session.TerminalPatch, bool) {
		return session.TerminalPatch{ID: id, Output: acp.Set([]byte("made\n"))}, id != "unknown"
	}
	s.Open(about)
	shows := func(call, id string) session.Update {
		return session.ToolCallPatch{ID: call, Title: acp.Set("make"), Content: acp.Set([]session.ToolCallContent{session.TerminalRef{TerminalID: id}})}
	}
	use := func(used uint64) session.Update { return session.UsageUpdate{Usage: session.Usage{Used: used}} }
	end := session.TurnEnd{StopReason: session.StopEndTurn}
	s.apply(session.SessionStart{}, use(1), ask("go"), shows("a", "one"), shows("b", "unknown"),
		session.ToolCallChunk{ID: "c", Content: []session.ToolCallContent{session.TerminalRef{TerminalID: "two"}}},
		use(2), use(3), session.UnknownUpdate{Type: "dance", Raw: json.RawMessage(`{"long":1}`)}, end, ask("more"), end,
		session.Remark{Text: "outside a turn"})
	var kept []string
	for _, said := range s.read(t).Said {
		switch u := said.Update.(type) {
		case session.TerminalPatch:
			kept = append(kept, "terminal "+u.ID)
		case session.UsageUpdate:
			kept = append(kept, fmt.Sprint("used ", u.Usage.Used))
		case session.UnknownUpdate:
			if kept = append(kept, u.Type); bytes.Contains(u.Raw, []byte("long")) {
				t.Errorf("all of it is kept: %s", u.Raw)
			}
		case session.TurnEnd:
			kept = append(kept, "end")
		case session.Remark:
			kept = append(kept, u.Text)
		}
	}
	check.Slice(t, kept, []string{"used 1", "used 3", "dance", "terminal one", "terminal two", "end", "end"}, "kept are %q")
}

// A session that has no title of the agent's is called by its first prompt, whoever told of that.
func TestTitles(t *testing.T) {
	said := func(list ...session.Update) (past Past) {
		for _, u := range list {
			past.Said = append(past.Said, Said{Update: u})
		}
		return past
	}
	for _, c := range []struct {
		past Past
		want string
	}{
		{said(agentSays("1", "hello")), ""},
		{said(script("a:hello", "u:mend  it", "u:again")...), "mend it"},
		{said(ask("first\n line"), ask("second")), "first line"},
		{said(ask("first"), session.InfoUpdate{Title: acp.Set("The\ntitle")}), "The title"},
		{said(ask("first"), session.InfoUpdate{Title: acp.Set("The title")}, session.InfoUpdate{Title: acp.Null[string]()}), "first"},
	} {
		check.Equal(t, c.past.Title(), c.want, "it is called %q")
	}
}

func TestSearch(t *testing.T) {
	s := begin(t)
	saved := map[string]time.Time{}
	for i, id := range []string{"one", "two"} {
		other := about
		other.ID = id
		s.Open(other)
		s.apply(session.SessionStart{}, ask("look for Äpfel"), agentSays("1", "Here.\n\näpfel and ÄPFEL\nnone"), session.TurnEnd{StopReason: session.StopEndTurn})
		s.Flush(nil)
		at := time.Now().Add(time.Duration(i) * time.Hour)
		must.Do(t, os.Chtimes(s.store.path("a", id), at, at))
		saved[id] = at
	}
	must.Write(t, s.store.dir, "damaged.jsonl", "no transcript\n")
	must.Write(t, s.store.dir, "other.txt", "äpfel\n")
	must.Do(t, os.MkdirAll(filepath.Join(s.store.dir, "folder.jsonl"), 0o777))
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"äpfel", 9, "two 5 ## look for Äpfel|two 9 äpfel and ÄPFEL|one 5 ## look for Äpfel|one 9 äpfel and ÄPFEL"},
		{"ÄPFEL", 9, "two 9 äpfel and ÄPFEL|one 9 äpfel and ÄPFEL"},
		{"äpfel", 1, "two 5 ## look for Äpfel"},
		{"äpfel", 3, "two 5 ## look for Äpfel|two 9 äpfel and ÄPFEL|one 5 ## look for Äpfel"},
		{"birnen", 9, ""},
	} {
		found, err := s.store.Search(t.Context(), c.text, c.limit)
		must.Do(t, err)
		var got []string
		for _, f := range found {
			got = append(got, fmt.Sprint(f.About.ID, " ", f.Line, " ", f.Text))
			check.Equal(t, f.Title, "look for Äpfel", "the session is called %q")
			check.Equal(t, f.Saved.Sub(saved[f.About.ID]).Abs() < time.Second, true, "that it was saved then is %v")
			past, err := s.store.Named(f.Name)
			if err != nil || past.ID != f.About.ID || f.Line > 2 && !f.At.Equal(s.clock) {
				t.Errorf("%q is of %s at %v, %v", f.Text, past.ID, f.At, err)
			}
		}
		check.Equal(t, strings.Join(got, "|"), c.want, c.text+" is found as %q")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.store.Search(ctx, "äpfel", 9); err == nil {
		t.Error("a search that was given up has found all")
	}
	var later Past
	s.store.ReadLater("a", "two", s.config.Background, func(p Past, err error) {
		must.Do(t, err)
		later = p
	})
	check.Equal(t, later.ID, "two", "read is %q")
}
