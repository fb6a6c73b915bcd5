package session

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// at is the time n seconds after the tests' epoch.
func at(n int) time.Time { return time.Unix(int64(1000+n), 0) }

// clock is the time of a conversation under test, in seconds.
type clock struct{ n int }

func (c *clock) now() time.Time { return at(c.n) }

func applied(updates ...Update) *Conversation {
	c := NewConversation((&clock{}).now)
	for _, u := range updates {
		c.Apply(u)
	}
	return c
}

func user(text string) Update {
	return MessageChunk{MessageID: "u", Role: RoleUser, Content: Text{text}}
}
func agent(id, text string) Update {
	return MessageChunk{MessageID: id, Role: RoleAgent, Content: Text{text}}
}
func start(text string) Update { return TurnStart{Prompt: []Content{Text{text}}} }
func status(id string, s ToolCallStatus) ToolCallPatch {
	return ToolCallPatch{ID: id, Status: acp.Set(s)}
}

// whole is a message that is told as a whole.
func whole(id string, role Role, content ...Content) Update {
	return MessagePatch{MessageID: id, Role: role, Content: content}
}

var end = TurnEnd{StopReason: StopEndTurn}

// outline tells what the entries are, one a line.
func outline(c *Conversation) string {
	var b strings.Builder
	for _, e := range c.Entries {
		switch e := e.(type) {
		case *Message:
			fmt.Fprintf(&b, "%s", [...]string{"user", "agent", "thought"}[e.Role])
			for _, p := range e.Parts {
				if p.Content != nil {
					fmt.Fprintf(&b, " %T", p.Content)
				} else {
					fmt.Fprintf(&b, " %q", p.Text)
				}
			}
		case *ToolCall:
			fmt.Fprintf(&b, "call %s %s %s", e.ID, e.Kind, e.Shown())
		case *Plan:
			b.WriteString("plan")
			for _, p := range e.Entries {
				fmt.Fprintf(&b, " %s/%s", p.Content, p.Status)
			}
		case *NoticeEntry:
			fmt.Fprintf(&b, "notice %s %q %q", e.Severity, e.Title, e.Description)
		case *Compaction:
			fmt.Fprintf(&b, "compaction %s %s %v %q", e.ID, e.Status, e.Summary, e.Error)
		case *Unknown:
			fmt.Fprintf(&b, "unknown %s x%d", e.Type, e.Count)
		case *Stop:
			fmt.Fprintf(&b, "stop %s %q", e.Reason, e.Error)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func lines(l ...string) string {
	if len(l) == 0 {
		return ""
	}
	return strings.Join(l, "\n") + "\n"
}

func TestEntries(t *testing.T) {
	image := Image{MimeType: "image/png", Data: "AA=="}
	plan := func(status string) Update { return PlanUpdate{Entries: []PlanEntry{{"tidy", "high", status}}} }
	for name, test := range map[string]struct {
		updates []Update
		want    string
	}{
		"chunks of one id join": {
			[]Update{agent("1", "a"), agent("1", "b"), agent("2", "c")},
			lines(`agent "ab"`, `agent "c"`),
		},
		"roles do not share ids": {
			[]Update{agent("1", "a"), MessageChunk{MessageID: "1", Role: RoleThought, Content: Text{"t"}}},
			lines(`agent "a"`, `thought "t"`),
		},
		"a known id grows where it stands": {
			[]Update{agent("1", "a"), status("c", StatusPending), agent("1", "b")},
			lines(`agent "ab"`, "call c other pending"),
		},
		"text around a block": {
			[]Update{agent("1", "a"), agent("1", "b"), MessageChunk{MessageID: "1", Role: RoleAgent, Content: image}, agent("1", "c")},
			lines(`agent "ab" session.Image "c"`),
		},
		"a prompt that is not taken": {
			[]Update{start("p"), Notice{Severity: "info", Title: "t"}, NotTaken{}}, lines("user", `notice info "t" ""`),
		},
		"nothing said": {[]Update{agent("1", ""), user("")}, ""},
		"user chunks outside a turn": {
			[]Update{user("what "), user("was said")},
			lines(`user "what was said"`),
		},
		"a call never announced": {
			[]Update{ToolCallPatch{ID: "c", Title: acp.Set("t")}},
			lines("call c other pending"),
		},
		"announced twice is one call": {
			[]Update{status("c", StatusInProgress), ToolCallPatch{ID: "c", Kind: acp.Set(KindRead)}},
			lines("call c read in_progress"),
		},
		"a plan is replaced whole": {
			[]Update{start("p"), PlanUpdate{Entries: []PlanEntry{{"a", "", "pending"}, {"b", "", "pending"}}}, agent("1", "x"), plan("completed")},
			lines(`user "p"`, "plan tidy/completed", `agent "x"`),
		},
		"one plan a turn": {
			[]Update{start("p"), plan("pending"), end, start("q"), plan("completed")},
			lines(`user "p"`, "plan tidy/pending", `stop end_turn ""`, `user "q"`, "plan tidy/completed"),
		},
		"an empty plan is none": {
			[]Update{start("p"), PlanUpdate{}},
			lines(`user "p"`),
		},
		"a plan can be cleared": {
			[]Update{start("p"), plan("pending"), PlanUpdate{}},
			lines(`user "p"`, "plan"),
		},
		"notice and remark": {
			[]Update{Notice{"warning", "T", "D"}, Remark{Severity: "error", Text: "R"}},
			lines(`notice warning "T" "D"`, `notice error "R" ""`),
		},
		"a compaction by patches": {
			[]Update{
				CompactionPatch{ID: "k", Status: "in_progress"},
				CompactionChunk{ID: "k", Content: Text{"s"}},
				CompactionPatch{ID: "k", Status: "failed", Error: acp.Set("e")},
				CompactionPatch{ID: "k", Status: "failed"},
			},
			lines(`compaction k failed [{s}] "e"`),
		},
		"a compaction is cleared": {
			[]Update{
				CompactionPatch{ID: "k", Status: "failed", Summary: acp.Set([]Content{Text{"s"}}), Error: acp.Set("e")},
				CompactionPatch{ID: "k", Status: "completed", Summary: acp.Null[[]Content](), Error: acp.Null[string]()},
			},
			lines(`compaction k completed [] ""`),
		},
		"a summary for an unseen compaction": {
			[]Update{CompactionChunk{ID: "k", Content: Text{"s"}}},
			lines(`compaction k in_progress [{s}] ""`),
		},
		"unknown ones in a row are counted": {
			[]Update{UnknownUpdate{Type: "x"}, UnknownUpdate{Type: "x"}, UnknownUpdate{Type: "y", Reason: "why"}, UnknownUpdate{Type: "x"}},
			lines("unknown x x2", "unknown y: why x1", "unknown x x1"),
		},
		"an unknown one without a type": {
			[]Update{UnknownUpdate{}, UnknownUpdate{Type: "a\n b"}},
			lines("unknown unnamed update x1", "unknown a b x1"),
		},
		"a turn that ended well": {
			[]Update{start("p"), end},
			lines(`user "p"`, `stop end_turn ""`),
		},
		"other ends are told": {
			[]Update{start("p"), TurnEnd{StopReason: StopError, Error: "died"}},
			lines(`user "p"`, `stop error "died"`),
		},
		"a turn without a prompt": {
			[]Update{TurnStart{}, agent("1", "a"), user("b")},
			lines(`agent "a"`, `user "b"`),
		},
		"a prompt that was sent in other words": {
			[]Update{TurnStart{Prompt: []Content{Text{"see @a"}}, Sent: []Content{Text{"see "}, Text{"a"}}}, user("see a"), user(" now")},
			lines(`user "see @a"`, `user " now"`),
		},
		"a prompt with an attachment": {
			[]Update{TurnStart{Prompt: []Content{Text{"see"}, image, Text{"this"}}}},
			lines(`user "see" session.Image "this"`),
		},
		"a plan is told again after a restart": {
			[]Update{plan("pending"), SessionStart{}, plan("pending")},
			lines("plan tidy/pending", "plan tidy/pending"),
		},
		"a prompt without empty words": {
			[]Update{TurnStart{Prompt: []Content{Text{}, image, Text{}}}},
			lines(`user session.Image`),
		},
		"a message as a whole": {
			[]Update{whole("1", RoleAgent, Text{"a"}, Text{"b"}, image, Text{}), whole("2", RoleThought)},
			lines(`agent "ab" session.Image`, "thought"),
		},
		"a message as a whole, after its beginning": {
			[]Update{agent("1", "a"), agent("2", "x"), whole("1", RoleAgent, Text{"b"}), agent("1", "c")},
			lines(`agent "bc"`, `agent "x"`),
		},
		"after a restart ids are new": {
			[]Update{
				agent("1", "old"), status("c", StatusInProgress), CompactionChunk{ID: "k", Content: Text{"s"}}, plan("pending"),
				SessionStart{},
				agent("1", "new"), status("c", StatusCompleted), CompactionChunk{ID: "k", Content: Text{"n"}}, plan("completed"),
			},
			lines(`agent "old"`, "call c other cancelled", `compaction k in_progress [{s}] ""`, "plan tidy/pending",
				`agent "new"`, "call c other completed", `compaction k in_progress [{n}] ""`, "plan tidy/completed"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			check.Equal(t, outline(applied(test.updates...)), test.want, "got:\n%s")
		})
	}
}

// The state beside the entries.
func TestState(t *testing.T) {
	mode := Option{ID: "mode", Category: "mode", Via: "mode", Value: "ask", Choices: []Choice{{Value: "ask"}, {Value: "code", Name: "Code"}}}
	model := Option{ID: "model", Category: "model", Via: "model", Value: "big"}
	effort := Option{ID: "effort", Via: "config", Value: "low"}
	for name, test := range map[string]struct {
		updates []Update
		of      func(*Conversation) any
		want    any
	}{
		"commands are replaced": {
			[]Update{CommandsUpdate{[]Command{{Name: "a"}}}, CommandsUpdate{[]Command{{Name: "b"}}}},
			func(c *Conversation) any { return c.Commands }, []Command{{Name: "b"}},
		},
		"the plan": {
			[]Update{PlanUpdate{Entries: []PlanEntry{{"a", "", ""}}}, PlanUpdate{Entries: []PlanEntry{{"b", "", ""}}}},
			func(c *Conversation) any { return c.Plan }, []PlanEntry{{"b", "", ""}},
		},
		"a title in one line": {
			[]Update{InfoUpdate{Title: acp.Set(" two\n words ")}, InfoUpdate{}},
			func(c *Conversation) any { return c.Title }, "two words",
		},
		"a title is cleared": {
			[]Update{InfoUpdate{Title: acp.Set("t")}, InfoUpdate{Title: acp.Null[string]()}},
			func(c *Conversation) any { return c.Title }, "",
		},
		"usage without cost keeps it": {
			[]Update{UsageUpdate{Usage: Usage{Used: 1, Size: 9, Cost: &Cost{2, "EUR"}}}, UsageUpdate{Usage: Usage{Used: 3, Size: 9}}},
			func(c *Conversation) any { return *c.Usage }, Usage{Used: 3, Size: 9, Cost: &Cost{2, "EUR"}},
		},
		"a new cost": {
			[]Update{UsageUpdate{Usage: Usage{Cost: &Cost{2, "EUR"}}}, UsageUpdate{Usage: Usage{Cost: &Cost{3, "EUR"}}}},
			func(c *Conversation) any { return *c.Usage.Cost }, Cost{3, "EUR"},
		},
		"a mode of its own": {
			[]Update{SessionStart{[]Option{effort, mode}}, ModeUpdate{"code"}},
			func(c *Conversation) any { o, ok := c.Options[1].Chosen(); return []any{o.Name, ok} }, []any{"Code", true},
		},
		"a mode that is a configuration option": {
			[]Update{SessionStart{[]Option{{ID: "m", Category: "mode", Via: "config"}}}, ModeUpdate{"code"}},
			func(c *Conversation) any { return c.Options[0].Value }, "code",
		},
		"a mode where there is none": {
			[]Update{SessionStart{[]Option{effort}}, ModeUpdate{"code"}},
			func(c *Conversation) any { return c.Options }, []Option{effort},
		},
		"a mode that is no choice": {
			[]Update{SessionStart{[]Option{mode}}, ModeUpdate{"secret"}},
			func(c *Conversation) any { _, ok := c.Options[0].Chosen(); return ok }, false,
		},
		"options keep modes and models beside them": {
			[]Update{SessionStart{[]Option{effort, mode, model}}, OptionsUpdate{[]Option{{ID: "tone", Via: "config"}}}},
			func(c *Conversation) any { return c.Options }, []Option{{ID: "tone", Via: "config"}, mode, model},
		},
		"a plan in words": {
			[]Update{PlanUpdate{Content: Text{"# Plan"}}},
			func(c *Conversation) any { return *c.Entries[0].(*Plan) }, Plan{Content: Text{"# Plan"}},
		},
		"a mode of no category": {
			[]Update{SessionStart{[]Option{effort, {ID: "m", Via: ViaMode}}}, ModeUpdate{"code"}},
			func(c *Conversation) any { return c.Options }, []Option{effort, {ID: "m", Via: ViaMode, Value: "code"}},
		},
		"options take the place of a mode of their id": {
			[]Update{SessionStart{[]Option{{ID: "m", Via: ViaMode}, {ID: "n", Via: ViaMode}}}, OptionsUpdate{[]Option{{ID: "m", Via: ViaConfig}}}},
			func(c *Conversation) any { return c.Options }, []Option{{ID: "m", Via: "config"}, {ID: "n", Via: ViaMode}},
		},
		"options take the place of a mode": {
			[]Update{SessionStart{[]Option{mode, model}}, OptionsUpdate{[]Option{{ID: "m", Category: "mode", Via: "config"}}}},
			func(c *Conversation) any { return c.Options }, []Option{{ID: "m", Category: "mode", Via: "config"}, model},
		},
		"a new session's options replace all": {
			[]Update{SessionStart{[]Option{mode}}, SessionStart{[]Option{effort}}},
			func(c *Conversation) any { return c.Options }, []Option{effort},
		},
		"an option is set": {
			[]Update{SessionStart{[]Option{effort, mode}}, OptionSet{"effort", "high"}, OptionSet{"mode", "code"}, OptionSet{"none", "x"}},
			func(c *Conversation) any { return []string{c.Options[0].Value, c.Options[1].Value} }, []string{"high", "code"},
		},
		"a remark and its details": {
			[]Update{Remark{Severity: "error", Text: "T", Detail: "D"}},
			func(c *Conversation) any { return *c.Entries[0].(*NoticeEntry) }, NoticeEntry{Severity: "error", Title: "T", Detail: "D"},
		},
		"when a prompt was said": {
			[]Update{start("p"), agent("1", "a")},
			func(c *Conversation) any { m := c.Entries[0].(*Message); return []time.Time{m.Started, m.Ended} }, []time.Time{at(0), at(0)},
		},
		"details of an end": {
			[]Update{start("p"), TurnEnd{StopReason: StopError, Error: "E", Detail: "D"}},
			func(c *Conversation) any { s := c.Entries[1].(*Stop); return []string{s.Error, s.Detail} }, []string{"E", "D"},
		},
		"what is used once the session was taken up": {
			[]Update{UsageUpdate{Usage: Usage{Used: 1}}},
			func(c *Conversation) any { c.TakenUp(); return c.Usage }, (*Usage)(nil),
		},
		"a call of the editor's": {
			[]Update{ToolCallPatch{ID: "c", Editor: true}, status("c", StatusCompleted)},
			func(c *Conversation) any { return c.Calls[0].Editor }, true,
		},
		"a call that begins anew": {
			[]Update{ToolCallPatch{ID: "c", Kind: acp.Set(KindRead)}, ToolCallPatch{ID: "c", Title: acp.Set("U")}.Whole()},
			func(c *Conversation) any { return []any{c.Calls[0].Title, c.Calls[0].Kind} }, []any{"U", KindOther},
		},
		"a turn runs": {
			[]Update{start("p")}, func(c *Conversation) any { return c.Running }, true,
		},
		"what a turn used": {
			[]Update{
				UsageUpdate{Usage: Usage{Cost: &Cost{2, "EUR"}}}, start("p"), TurnTokens{Total: 7}, UsageUpdate{Usage: Usage{Cost: &Cost{2.5, "EUR"}}}, end,
				start("q"), TurnEnd{StopReason: StopRefusal},
			},
			func(c *Conversation) any {
				a, b := c.Entries[1].(*Stop), c.Entries[3].(*Stop)
				return []any{a.Reason, a.Tokens, *a.Cost, b.Reason, b.Tokens, b.Cost}
			},
			[]any{StopEndTurn, TurnTokens{Total: 7}, Cost{0.5, "EUR"}, StopRefusal, TurnTokens{}, (*Cost)(nil)},
		},
		"what turns used after the session was taken up": {
			[]Update{start("p"), UsageUpdate{Usage: Usage{Cost: &Cost{2, "EUR"}}}, end},
			func(c *Conversation) any {
				var costs []float64
				for _, told := range []float64{0, 2.5, 3} {
					c.TakenUp()
					for range 2 {
						c.Apply(start("q"))
						if told > 0 {
							c.Apply(UsageUpdate{Usage: Usage{Cost: &Cost{told, "EUR"}}})
							told++
						}
						c.Apply(end)
						if cost := c.Entries[len(c.Entries)-1].(*Stop).Cost; cost != nil {
							costs = append(costs, cost.Amount)
						}
					}
				}
				c.TakenUp()
				c.Apply(start("r"))
				c.Apply(UsageUpdate{Usage: Usage{Cost: &Cost{1, "EUR"}}})
				c.Apply(end)
				return append(costs, c.Entries[len(c.Entries)-1].(*Stop).Cost.Amount)
			},
			[]float64{0.5, 1, 3, 1, 1},
		},
		"a turn has ended": {
			[]Update{start("p"), TurnEnd{StopReason: StopRefusal}},
			func(c *Conversation) any { return []any{c.Running, c.Stop} }, []any{false, StopRefusal},
		},
	} {
		t.Run(name, func(t *testing.T) {
			check.Deep(t, test.of(applied(test.updates...)), test.want, "got %+v")
		})
	}
}

// Every field of a call: omitted stays, null is the default, a value replaces, and an empty list clears.
func TestToolCallPatch(t *testing.T) {
	full := ToolCallPatch{
		ID: "c", Title: acp.Set("title"), Name: acp.Set("name"), Kind: acp.Set(KindRead), Status: acp.Set(StatusInProgress),
		Content:   acp.Set([]ToolCallContent{TerminalRef{"t"}}),
		Locations: acp.Set([]Location{{"/a", 1}}),
		RawInput:  acp.Set(json.RawMessage(`1`)), RawOutput: acp.Set(json.RawMessage(`2`)),
		Meta: acp.Set(map[string]json.RawMessage{"a": json.RawMessage(`1`), "b": json.RawMessage(`2`)}),
	}
	values := func(c *ToolCall) []any {
		return []any{c.Title, c.Name, c.Kind, c.Status, len(c.Content), len(c.Locations), string(c.RawInput), string(c.RawOutput), c.Meta}
	}
	meta := func(pairs ...string) map[string]json.RawMessage {
		m := map[string]json.RawMessage{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = json.RawMessage(pairs[i+1])
		}
		return m
	}
	for name, test := range map[string]struct {
		patch ToolCallPatch
		want  []any
	}{
		"omitted": {
			ToolCallPatch{},
			[]any{"title", "name", KindRead, StatusInProgress, 1, 1, "1", "2", meta("a", "1", "b", "2")},
		},
		"null": {
			ToolCallPatch{
				Title: acp.Null[string](), Name: acp.Null[string](), Kind: acp.Null[ToolKind](), Status: acp.Null[ToolCallStatus](),
				Content: acp.Null[[]ToolCallContent](), Locations: acp.Null[[]Location](),
				RawInput: acp.Null[json.RawMessage](), RawOutput: acp.Null[json.RawMessage](), Meta: acp.Null[map[string]json.RawMessage](),
			},
			[]any{"", "", KindOther, StatusPending, 0, 0, "", "", map[string]json.RawMessage(nil)},
		},
		"values": {
			ToolCallPatch{
				Title: acp.Set("T"), Name: acp.Set("N"), Kind: acp.Set(ToolKind("dance")), Status: acp.Set(ToolCallStatus("sleeping")),
				Content: acp.Set([]ToolCallContent{}), Locations: acp.Set([]Location{{"/b", 0}, {"/c", 0}}),
				RawInput: acp.Set(json.RawMessage(`3`)), RawOutput: acp.Set(json.RawMessage(`4`)),
				Meta: acp.Set(meta("a", "null", "c", "3")),
			},
			[]any{"T", "N", ToolKind("dance"), ToolCallStatus("sleeping"), 0, 2, "3", "4", meta("b", "2", "c", "3")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.patch.ID = "c"
			c := applied(full, test.patch)
			check.Deep(t, values(c.ToolCall("c")), test.want, "got  %v")
		})
	}
	if applied(full).ToolCall("d") != nil {
		t.Error("a call that nobody named")
	}
}

// What a call has told stays when the user cancels it and the agent has words for its model instead, unless
// they are more of the same, or another change.
func TestShowsAfterTheCancel(t *testing.T) {
	told := func(s ToolCallStatus, items ...ToolCallContent) Update {
		p := status("c", s)
		p.Content = acp.Set(items)
		return p
	}
	change, words, output := Diff{Path: "/a"}, ContentItem{Text{"STOP what you are doing"}}, ContentItem{Text{"one\n"}}
	run := func(items ...ToolCallContent) Update { return told(StatusInProgress, items...) }
	for name, test := range map[string]struct {
		updates []Update
		want    []ToolCallContent
	}{
		"a change":                 {[]Update{run(change), Cancelling{}, told(StatusFailed, words)}, []ToolCallContent{change}},
		"as the agent says itself": {[]Update{run(change), Cancelling{}, told(StatusCancelled, words)}, []ToolCallContent{change}},
		"words late":               {[]Update{run(change), Cancelling{}, end, told(StatusFailed, words)}, []ToolCallContent{change}},
		"told after the cancel":    {[]Update{Cancelling{}, run(change), told(StatusFailed, words)}, []ToolCallContent{change}},
		"output":                   {[]Update{run(output), Cancelling{}, told(StatusFailed, words)}, []ToolCallContent{output}},
		"more output":              {[]Update{run(output), Cancelling{}, told(StatusFailed, ContentItem{Text{"one\ntwo"}})}, []ToolCallContent{ContentItem{Text{"one\ntwo"}}}},
		"another change":           {[]Update{run(change), Cancelling{}, told(StatusFailed, Diff{Path: "/b"})}, []ToolCallContent{Diff{Path: "/b"}}},
		"nothing before":           {[]Update{run(), Cancelling{}, told(StatusFailed, words)}, []ToolCallContent{words}},
		"done all the same":        {[]Update{run(change), Cancelling{}, told(StatusCompleted, words)}, []ToolCallContent{words}},
		"failed by itself":         {[]Update{run(change), told(StatusFailed, words), Cancelling{}}, []ToolCallContent{words}},
	} {
		check.Deep(t, applied(append([]Update{start("p")}, test.updates...)...).ToolCall("c").Shows(), test.want,
			"%s: %v", name)
	}
}

func TestShown(t *testing.T) {
	ask, allow, refuse := Waiting{ToolCallID: "c", Open: true}, Waiting{ToolCallID: "c", Allowed: true}, Waiting{ToolCallID: "c", Rejected: true}
	withdraw, pending := Waiting{ToolCallID: "c"}, status("c", StatusPending)
	run, done, fail := status("c", StatusInProgress), status("c", StatusCompleted), status("c", StatusFailed)
	command, exited, killed := run, done, done
	command.Kind, exited.RawOutput = acp.Set(KindExecute), acp.Set(json.RawMessage(`{"exit":0}`))
	killed.RawOutput = acp.Set(json.RawMessage(`{"signal":"SIGINT"}`))
	for name, test := range map[string]struct {
		updates []Update
		want    ToolCallStatus
	}{
		"as the agent says":              {[]Update{run}, StatusInProgress},
		"asked":                          {[]Update{run, ask}, StatusWaiting},
		"asked twice, answered once":     {[]Update{run, ask, ask, allow}, StatusWaiting},
		"allowed":                        {[]Update{run, ask, allow}, StatusInProgress},
		"allowed, said to be pending":    {[]Update{run, pending, ask, allow}, StatusInProgress},
		"allowed, pending later":         {[]Update{run, ask, allow, pending}, StatusInProgress},
		"allowed, asked again":           {[]Update{pending, ask, allow, ask}, StatusWaiting},
		"allowed, then withdrawn":        {[]Update{pending, ask, allow, ask, withdraw}, StatusPending},
		"allowed, paused":                {[]Update{pending, ask, allow, status("c", StatusPaused)}, StatusPaused},
		"allowed, cancelled":             {[]Update{pending, ask, allow, Cancelling{}}, StatusCancelled},
		"withdrawn":                      {[]Update{pending, ask, withdraw}, StatusPending},
		"refused":                        {[]Update{run, ask, refuse}, StatusRejected},
		"refused, so it failed":          {[]Update{run, ask, refuse, fail}, StatusRejected},
		"refused, and done all the same": {[]Update{run, ask, refuse, done}, StatusCompleted},
		"refused, asked again":           {[]Update{run, ask, refuse, ask}, StatusWaiting},
		"failed by itself":               {[]Update{run, fail}, StatusFailed},
		"done while it was asked":        {[]Update{run, ask, done}, StatusCompleted},
		"answered without a question":    {[]Update{run, allow}, StatusInProgress},
		"cancelled":                      {[]Update{run, Cancelling{}}, StatusCancelled},
		"cancelled while it was asked":   {[]Update{run, ask, Cancelling{}, allow}, StatusCancelled},
		"cancelled, then done":           {[]Update{run, Cancelling{}, done}, StatusCompleted},
		"cancelled, still at it":         {[]Update{run, Cancelling{}, run}, StatusCancelled},
		"done before the cancel":         {[]Update{done, Cancelling{}}, StatusCompleted},
		"left behind":                    {[]Update{run, end}, StatusCancelled},
		"told late":                      {[]Update{run, end, done}, StatusCompleted},
		"taken up in the next turn":      {[]Update{run, end, start("q"), run}, StatusInProgress},
		"asked in the next turn":         {[]Update{run, end, start("q"), ask}, StatusWaiting},
		"taken up and left again":        {[]Update{run, end, start("q"), run, end}, StatusCancelled},
		"another turn's":                 {[]Update{done, end, start("q"), Cancelling{}}, StatusCompleted},
		"in the background":              {[]Update{end, run, start("q"), end}, StatusInProgress},
		"in the background of the dead":  {[]Update{end, run, start("q"), end, AgentGone{}}, StatusCancelled},
		"first told after the cancel":    {[]Update{Cancelling{}, run}, StatusCancelled},
		"first shown after the cancel":   {[]Update{Cancelling{}, ToolCallChunk{ID: "c"}}, StatusCancelled},
		"asked after the cancel":         {[]Update{Cancelling{}, run, ask}, StatusCancelled},
		"at it again after the cancel":   {[]Update{done, Cancelling{}, run}, StatusCancelled},
		"cancelled, then failed":         {[]Update{run, Cancelling{}, fail}, StatusCancelled},
		"cancelled, failed, no turn":     {[]Update{run, Cancelling{}, end, fail}, StatusCancelled},
		"cancelled with its turn":        {[]Update{run, TurnEnd{StopReason: StopCancelled}, fail}, StatusCancelled},
		"asked, cancelled, then failed":  {[]Update{run, ask, Cancelling{}, withdraw, fail}, StatusCancelled},
		"failed, then cancelled":         {[]Update{run, fail, Cancelling{}}, StatusFailed},
		"failed right after the cancel":  {[]Update{Cancelling{}, fail}, StatusCancelled},
		"cancelled, tried again, failed": {[]Update{run, Cancelling{}, end, start("q"), run, fail}, StatusFailed},
		"cancelled, asked again, failed": {[]Update{run, Cancelling{}, end, start("q"), ask, withdraw, fail}, StatusFailed},
		"left behind, then failed":       {[]Update{run, end, fail}, StatusFailed},
		"a command, said to be done":     {[]Update{command, Cancelling{}, done}, StatusCancelled},
		"a command, and its signal":      {[]Update{command, Cancelling{}, killed}, StatusCompleted},
		"a command, and its exit":        {[]Update{command, Cancelling{}, exited}, StatusCompleted},
		"cancelled by the agent":         {[]Update{run, status("c", StatusCancelled)}, StatusCancelled},
		"refused, so it is cancelled":    {[]Update{run, ask, refuse, status("c", StatusCancelled)}, StatusRejected},
		"refused, with another question": {[]Update{run, ask, ask, refuse}, StatusWaiting},
		"refused, left behind":           {[]Update{run, ask, refuse, end}, StatusRejected},
		"paused":                         {[]Update{run, status("c", StatusPaused)}, StatusPaused},
		"paused, cancelled":              {[]Update{status("c", StatusPaused), Cancelling{}}, StatusCancelled},
		"paused, left behind":            {[]Update{status("c", StatusPaused), end}, StatusCancelled},
		"something new":                  {[]Update{status("c", "_asleep")}, "_asleep"},
		"something new, left behind":     {[]Update{status("c", "_asleep"), end}, StatusCancelled},
		"something new in the next turn": {[]Update{run, end, start("q"), status("c", "_asleep")}, "_asleep"},
		"pending in the next turn":       {[]Update{run, end, start("q"), ToolCallPatch{ID: "c", Status: acp.Null[ToolCallStatus]()}}, StatusPending},
		"more content in the next turn":  {[]Update{run, end, start("q"), ToolCallChunk{ID: "c"}}, StatusCancelled},
		"nothing but its id":             {[]Update{end, run, start("q"), ToolCallPatch{ID: "c"}, end}, StatusInProgress},
	} {
		t.Run(name, func(t *testing.T) {
			c := applied(append([]Update{start("p")}, test.updates...)...)
			check.Equal(t, c.ToolCall("c").Shown(), test.want, "shown as %s")
		})
	}
}

// A call is said to be cancelled only where the user, or the agent, has done so.
func TestLeftOpen(t *testing.T) {
	run, end := status("c", StatusInProgress), TurnEnd{StopReason: StopEndTurn}
	for name, test := range map[string]struct {
		updates []Update
		want    bool
	}{
		"under way":               {[]Update{run}, false},
		"its turn ended":          {[]Update{run, end}, true},
		"its agent ended later":   {[]Update{Cancelling{}, end, run, AgentGone{}}, true},
		"its agent ended":         {[]Update{run, AgentGone{}}, true},
		"told of later":           {[]Update{run, end, status("c", StatusCompleted)}, false},
		"taken up again":          {[]Update{run, end, start("q"), run}, false},
		"cancelled":               {[]Update{run, Cancelling{}, end}, false},
		"cancelled with its turn": {[]Update{run, TurnEnd{StopReason: StopCancelled}}, false},
		"cancelled by the agent":  {[]Update{run, status("c", StatusCancelled), end}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := applied(append([]Update{start("p")}, test.updates...)...)
			check.Equal(t, c.ToolCall("c").LeftOpen(), test.want, "left open is %v")
		})
	}
}

// Chunks go to the end of what a call shows, each call's own.
func TestToolCallChunk(t *testing.T) {
	item := func(text string) ToolCallContent { return ContentItem{Text{text}} }
	shared := append(make([]ToolCallContent, 0, 8), item("a"))
	c := applied(
		ToolCallChunk{ID: "c", Content: []ToolCallContent{item("x")}},
		ToolCallPatch{ID: "c", Content: acp.Set(shared)}, ToolCallPatch{ID: "d", Content: acp.Set(shared)},
		ToolCallChunk{ID: "c", Content: []ToolCallContent{item("b"), item("c")}},
	)
	before := c.ToolCall("c").Content
	c.Apply(ToolCallChunk{ID: "d", Content: []ToolCallContent{item("z")}})
	c.Apply(ToolCallChunk{ID: "c", Content: []ToolCallContent{item("d")}})
	for id, want := range map[string][]ToolCallContent{"c": {item("a"), item("b"), item("c"), item("d")}, "d": {item("a"), item("z")}} {
		check.Deep(t, c.ToolCall(id).Content, want, "%s shows %v", id)
	}
	if len(before) != 3 {
		t.Errorf("what was taken before is %v", before)
	}
	c.Apply(ToolCallPatch{ID: "c", Content: acp.Null[[]ToolCallContent]()})
	c.Apply(ToolCallChunk{ID: "c", Content: []ToolCallContent{item("e")}})
	check.Deep(t, c.ToolCall("c").Content, []ToolCallContent{item("e")}, "after it was cleared: %v")
}

func TestPausedIsNotFinished(t *testing.T) {
	for s, want := range map[ToolCallStatus]bool{
		StatusPending: false, StatusInProgress: false, StatusPaused: false, StatusWaiting: false, "new": false,
		StatusCompleted: true, StatusFailed: true, StatusCancelled: true, StatusRejected: true,
	} {
		if s.Finished() != want {
			t.Errorf("%s: %v", s, !want)
		}
	}
}

// Steps at given seconds, then how long the call took, asked at second 20.
func TestElapsed(t *testing.T) {
	type step struct {
		at int
		u  Update
	}
	run, done := status("c", StatusInProgress), status("c", StatusCompleted)
	ask, allow := Waiting{ToolCallID: "c", Open: true}, Waiting{ToolCallID: "c"}
	for name, test := range map[string]struct {
		steps []step
		want  int
	}{
		"still running":                {[]step{{5, run}}, 15},
		"done":                         {[]step{{5, run}, {9, done}}, 4},
		"said done twice":              {[]step{{5, run}, {9, done}, {11, done}}, 4},
		"waiting":                      {[]step{{5, run}, {9, ask}}, 4},
		"waited":                       {[]step{{5, run}, {9, ask}, {12, allow}, {13, done}}, 5},
		"two questions at a time":      {[]step{{5, run}, {9, ask}, {10, ask}, {11, allow}, {12, allow}, {13, done}}, 5},
		"two questions in a row":       {[]step{{5, run}, {6, ask}, {8, allow}, {9, ask}, {12, allow}, {13, done}}, 3},
		"refused":                      {[]step{{5, run}, {9, ask}, {12, Waiting{ToolCallID: "c", Rejected: true}}}, 4},
		"cancelled":                    {[]step{{5, run}, {9, Cancelling{}}, {10, done}}, 4},
		"cancelled, still at it":       {[]step{{5, run}, {9, Cancelling{}}, {12, run}}, 4},
		"cancelled while it waited":    {[]step{{5, run}, {7, ask}, {9, Cancelling{}}, {12, allow}}, 2},
		"asked as it is first named":   {[]step{{5, run}, {5, ask}, {15, allow}, {16, done}}, 1},
		"taken up in the next turn":    {[]step{{5, run}, {6, end}, {8, start("q")}, {9, run}, {12, done}}, 7},
		"running again after an error": {[]step{{5, run}, {6, status("c", StatusFailed)}, {7, run}}, 15},
	} {
		t.Run(name, func(t *testing.T) {
			now := &clock{}
			c := NewConversation(now.now)
			c.Apply(start("p"))
			for _, s := range test.steps {
				now.n = s.at
				c.Apply(s.u)
			}
			if got := c.ToolCall("c").Elapsed(at(20)); got != time.Duration(test.want)*time.Second {
				t.Errorf("took %v, want %d s", got, test.want)
			}
		})
	}
}

func TestTurnTakesTime(t *testing.T) {
	now := &clock{}
	c := NewConversation(now.now)
	c.Apply(start("p"))
	now.n = 7
	c.Apply(agent("1", "a"))
	m := c.Entries[1].(*Message)
	if !m.Ended.IsZero() || m.Started != at(7) {
		t.Errorf("a message that may grow: from %v to %v", m.Started, m.Ended)
	}
	now.n = 9
	c.Apply(Notice{})
	check.Equal(t, m.Ended, at(9), "what came next did not end the message: %v")
	now.n = 11
	c.Apply(agent("1", "b"))
	check.Equal(t, m.Ended, at(11), "it went on, but ended at %v")
	now.n = 12
	c.Apply(TurnEnd{StopReason: StopCancelled})
	check.Equal(t, c.Entries[3].(*Stop).Took, 12*time.Second, "the turn took %v")
}

// What was said before has its own time, and what comes after it the present one.
func TestWhatCameEarlier(t *testing.T) {
	now := &clock{n: 9}
	c := NewConversation(now.now)
	c.ApplyAt(at(2), agent("1", "a"))
	c.Apply(agent("2", "b"))
	check.Equal(t, c.Entries[0].(*Message).Started, at(2), "the first began at %v")
	check.Equal(t, c.Entries[1].(*Message).Started, at(9), "the second began at %v")
}

// A message that is told as a whole is another one only where its parts are.
func TestMessagesAreReplaced(t *testing.T) {
	now := &clock{n: 3}
	c := NewConversation(now.now)
	for _, step := range []struct {
		u        Update
		replaced int
		changed  bool
	}{
		{whole("1", RoleAgent, Text{"a"}), 1, true},
		{whole("1", RoleAgent, Text{"a"}), 1, false},
		{whole("1", RoleAgent, Text{"a"}, Image{URI: "u"}), 2, true},
		{whole("1", RoleAgent, Text{"a"}, Image{URI: "u"}), 2, false},
		{whole("1", RoleAgent, Text{"a"}, Image{URI: "v"}), 3, true},
		{whole("1", RoleAgent), 4, true},
	} {
		c.Apply(step.u)
		m := c.Entries[0].(*Message)
		check.Equal(t, m.Replaced, step.replaced, "%+v: replaced %d times", step.u)
		check.Equal(t, len(c.TakeChanged()) > 0, step.changed, "%+v: changed %v", step.u)
		check.Equal(t, m.Started, at(3), "it began at %v")
	}
}

// A message is over when anything stands below it, and when its session or its agent is.
func TestWhatEndsAMessage(t *testing.T) {
	for name, u := range map[string]Update{
		"a call": status("c", StatusPending), "words of another": agent("2", "b"), "a plan": PlanUpdate{Entries: []PlanEntry{{}}},
		"a prompt": start("q"), "the turn's end": end, "another session": SessionStart{}, "the agent's end": AgentGone{},
	} {
		for first, before := range [][]Update{{}, {start("p")}} {
			now := &clock{}
			c := NewConversation(now.now)
			for _, u := range append(before, agent("1", "a")) {
				c.Apply(u)
			}
			m := c.Entries[first].(*Message)
			c.TakeChanged()
			now.n = 5
			c.Apply(u)
			check.Equal(t, m.Ended, at(5), "%s: it ended at %v", name)
			if changed := c.TakeChanged(); !slices.Contains(changed, first) {
				t.Errorf("%s: changed is %v", name, changed)
			}
			now.n = 6
			c.Apply(AgentGone{})
			check.Equal(t, m.Ended, at(5), "%s: later it ended at %v", name)
		}
	}
}

// The user's prompts have numbers, whatever stands between them, and a session can be forked after the agent's message
// before one.
func TestNumbersOfPrompts(t *testing.T) {
	says := func(id, wire string) Update {
		return MessageChunk{MessageID: id, Wire: wire, Role: RoleAgent, Content: Text{"x"}}
	}
	c := applied(Notice{}, start("p"), says("1", "w1"), status("c", StatusCompleted), end, start("q"), says("2", "w2"), says("3", ""), end, start("r"))
	var numbers []int
	for _, e := range c.Entries {
		if m, ok := e.(*Message); ok && m.Role == RoleUser {
			numbers = append(numbers, c.PromptNumber(m))
		}
	}
	check.Slice(t, numbers, []int{1, 2, 3}, "the prompts are %v")
	for prompt, want := range []string{"", "", "w1", "w2", ""} {
		check.Equal(t, c.MessageBefore(prompt), want, "before prompt %d there is %q", prompt)
	}
	if stranger := new(Message); c.PromptNumber(stranger) != 0 {
		t.Error("a message of another conversation has a number")
	}
}

// The agent repeats the prompt in chunks cut anywhere.
func TestEchoIsSwallowed(t *testing.T) {
	const prompt = "fix  bäd\nname"
	for i := range prompt {
		for j := range prompt {
			if i > j {
				continue
			}
			c := applied(start(prompt), user(prompt[:i]), user(prompt[i:j]), user(prompt[j:]), agent("1", "ok"))
			must.Equal(t, outline(c), lines(fmt.Sprintf("user %q", prompt), `agent "ok"`), "cut at %d and %d:\n%s", i, j)
		}
	}
}

func TestEcho(t *testing.T) {
	image := Image{Data: "AA=="}
	attachment := MessageChunk{MessageID: "u", Role: RoleUser, Content: image}
	prompt := `user "do it"`
	sayIt, sayY, sayZ := whole("u", RoleUser, Text{"do it"}), whole("u", RoleUser, Text{"y"}), whole("v", RoleUser, Text{"z"})
	for name, test := range map[string]struct {
		updates []Update
		want    string
	}{
		"with more in the same chunk":  {[]Update{user("do it now")}, lines(prompt, `user " now"`)},
		"with more, cut before it":     {[]Update{user("do"), user(" it"), user("\nnow")}, lines(prompt, `user "\nnow"`)},
		"with more, cut within":        {[]Update{user("do"), user(" it\nnow"), user(" please")}, lines(prompt, `user "\nnow please"`)},
		"with blank space around":      {[]Update{user("\n"), user("do it\n"), user("\n")}, lines(prompt)},
		"that is none":                 {[]Update{user("other"), user(" words")}, lines(prompt, `user "other words"`)},
		"that is none after some":      {[]Update{user("do "), user("that")}, lines(prompt, `user "do that"`)},
		"with its attachments":         {[]Update{user("do it"), attachment}, lines(prompt)},
		"after the agent has begun":    {[]Update{agent("1", "a"), user("do it")}, lines(prompt, `agent "a"`, `user "do it"`)},
		"after a tool call":            {[]Update{status("c", StatusPending), user("do it")}, lines(prompt, "call c other pending", `user "do it"`)},
		"after something about no one": {[]Update{CommandsUpdate{}, user("do it")}, lines(prompt)},
		"after the turn":               {[]Update{end, user("do it")}, lines(prompt, `stop end_turn ""`, `user "do it"`)},
		"of the second turn":           {[]Update{end, start("go on"), user("go on")}, lines(prompt, `stop end_turn ""`, `user "go on"`)},
		"that is none, and more":       {[]Update{user("do "), user("that"), user(" now")}, lines(prompt, `user "do that now"`)},
		"as a whole":                   {[]Update{sayIt}, lines(prompt)},
		"as a whole, by the agent":     {[]Update{whole("u", RoleAgent, Text{"do it"})}, lines(prompt, `agent "do it"`)},
		"in pieces and as a whole":     {[]Update{user("do"), agent("1", "a"), sayIt}, lines(prompt, `agent "a"`)},
		"with another as a whole":      {[]Update{user("do it"), agent("1", "a"), sayZ}, lines(prompt, `agent "a"`, `user "z"`)},
		"of which the agent says more": {[]Update{agent("1", "a"), user("x"), sayY}, lines(prompt, `agent "a"`, `user "y"`)},
		"begun with nothing":           {[]Update{agent("1", "a"), user(""), sayY}, lines(prompt, `agent "a"`, `user "y"`)},
		"before a restart":             {[]Update{user("do it"), end, SessionStart{}, sayY}, lines(prompt, `stop end_turn ""`, `user "y"`)},
		"half, then the agent":         {[]Update{user("do"), agent("1", "a")}, lines(prompt, `agent "a"`)},
	} {
		t.Run(name, func(t *testing.T) {
			check.Equal(t, outline(applied(append([]Update{start("do it")}, test.updates...)...)), test.want, "got:\n%s")
		})
	}
	c := applied(TurnStart{Prompt: []Content{image}}, attachment)
	check.Equal(t, outline(c), lines("user session.Image"), "of attachments alone: got\n%s")
}

func TestTakeChanged(t *testing.T) {
	c := applied(start("p"), agent("1", "a"), status("c", StatusInProgress))
	for _, step := range []struct {
		name string
		u    Update
		want []int
	}{
		{"what is new", CommandsUpdate{}, []int{0, 1, 2}},
		{"nothing", UsageUpdate{}, nil},
		{"a message that grows", agent("1", "b"), []int{1}},
		{"a call", status("c", StatusInProgress), []int{2}},
		{"a question", Waiting{ToolCallID: "c", Open: true}, []int{2}},
		{"a call of nobody", Waiting{ToolCallID: "d", Open: true}, nil},
		{"a plan", PlanUpdate{Entries: []PlanEntry{{}}}, []int{3}},
		{"the plan again", PlanUpdate{}, []int{3}},
		{"unknown", UnknownUpdate{Type: "x"}, []int{4}},
		{"unknown again", UnknownUpdate{Type: "x"}, []int{4}},
		{"a message", agent("2", "x"), []int{5}},
		{"what follows ends it", Remark{}, []int{5, 6}},
		{"a compaction", CompactionChunk{ID: "k"}, []int{7}},
		{"its end", CompactionPatch{ID: "k"}, []int{7}},
		{"a cancelled turn", Cancelling{}, []int{2}},
		{"its end", TurnEnd{StopReason: StopCancelled}, []int{8}},
	} {
		c.Apply(step.u)
		check.Slice(t, c.TakeChanged(), step.want, "%s: %v", step.name)
	}
	for i := range 100 {
		c.Apply(agent(fmt.Sprint(i), "x"))
	}
	if list := c.TakeChanged(); len(list) != 100 || !slices.IsSorted(list) {
		t.Errorf("many: %v", list)
	}
	calls := 0
	for _, call := range c.TakeTouched() {
		check.Equal(t, call.ID, "c", "touched %s")
		calls++
	}
	if calls == 0 || c.TakeTouched() != nil {
		t.Errorf("%d touched calls, and more", calls)
	}
}

func TestExitOfACommand(t *testing.T) {
	for output, want := range map[string]string{
		`{"output":"x","metadata":{"exit":3}}`: "exited with code 3",
		`{"exit_code":1}`:                      "exited with code 1",
		`{"exitCode":0}`:                       "exited with code 0",
		`{"exitStatus":{"exitCode":2}}`:        "exited with code 2",
		`{"exitStatus":{"signal":"SIGINT"}}`:   "killed by SIGINT",
		`{"exit":"3","metadata":7}`:            "ended",
		`"exit 3"`:                             "ended",
		`null`:                                 "ended",
	} {
		p := ToolCallPatch{ID: "c", Kind: acp.Set(KindExecute), Status: acp.Set(StatusCompleted), RawOutput: acp.Set(json.RawMessage(output))}
		check.Equal(t, applied(p).ToolCall("c").Exit().String(), want, "%s: %s", output)
		running := p
		running.Status = acp.Set(StatusInProgress)
		check.Equal(t, applied(running).ToolCall("c").Exit().String(), "ended", "%s, of a command that runs: %s", output)
		p.Kind = acp.Set(KindRead)
		if !applied(p).ToolCall("c").Exit().Succeeded() {
			t.Errorf("%s is said of no command", output)
		}
	}
}

// Of several plans the last one that has steps is the session's, also when another one is taken back.
func TestSeveralPlans(t *testing.T) {
	c := NewConversation(time.Now)
	steps := func(words string) []PlanEntry { return []PlanEntry{{Content: words}} }
	for _, step := range []struct {
		u    PlanUpdate
		want []PlanEntry
	}{
		{PlanUpdate{ID: "a", Entries: steps("A")}, steps("A")},
		{PlanUpdate{ID: "b", Entries: steps("B")}, steps("B")},
		{PlanUpdate{ID: "a", Entries: steps("A2")}, steps("B")},
		{PlanUpdate{ID: "c", Content: Text{"words"}}, steps("B")},
		{PlanUpdate{ID: "b"}, steps("A2")},
		{PlanUpdate{ID: "a"}, nil},
	} {
		if c.Apply(step.u); !reflect.DeepEqual(c.Plan, step.want) {
			t.Errorf("after %+v the plan is %+v", step.u, c.Plan)
		}
	}
}

// A plan that is told again in a later turn, as it was, stands once; what changes stands in the turn that changed it.
func TestAPlanThatIsToldAgain(t *testing.T) {
	c := NewConversation(time.Now)
	plan := func(status string) PlanUpdate {
		return PlanUpdate{Entries: []PlanEntry{{Content: "A", Status: status}}}
	}
	for i, turn := range []struct {
		told []PlanUpdate
		want int // how many plans there are then
	}{
		{[]PlanUpdate{plan("pending"), plan("in_progress")}, 1},
		{[]PlanUpdate{plan("in_progress")}, 1},
		{[]PlanUpdate{plan("in_progress"), plan("completed")}, 2},
		{[]PlanUpdate{{}}, 2},
		{[]PlanUpdate{plan("completed")}, 3},
	} {
		c.Apply(TurnStart{Prompt: []Content{Text{"go"}}})
		for _, u := range turn.told {
			if c.Apply(u); !reflect.DeepEqual(c.Plan, u.Entries) {
				t.Errorf("turn %d: the plan is %+v", i, c.Plan)
			}
		}
		c.Apply(TurnEnd{StopReason: StopEndTurn})
		n := 0
		for _, e := range c.Entries {
			if _, is := e.(*Plan); is {
				n++
			}
		}
		check.Equal(t, n, turn.want, "turn %d: %d plans", i)
	}
}
