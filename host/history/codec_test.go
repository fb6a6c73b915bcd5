package history

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func ptr[T any](v T) *T { return &v }

var allBlocks = []session.Content{
	session.Text{Text: "a <b> & \"c\"\n\x00 é"},
	session.Image{MimeType: "image/png", Data: "AA==", URI: "file:///p"},
	session.Audio{MimeType: "audio/wav", Data: "AA=="},
	session.ResourceLink{URI: "file:///a", Name: "a", Title: "A", MimeType: "text/plain", Description: "the a", Size: 7, Modified: "2026-01-02"},
	session.ForAgent{Content: session.Text{Text: "for you"}},
	session.Resource{URI: "file:///a", MimeType: "text/plain", Text: "text", Blob: "AA=="},
	session.UnknownContent{Type: "smell", Raw: json.RawMessage(`{"type":"smell"}`)},
}

var allItems = []session.ToolCallContent{
	session.ContentItem{Content: session.Text{Text: "out"}},
	session.Diff{
		Operation: session.OperationMove, Path: "/b", OldPath: "/a", FileType: "text", MimeType: "text/plain",
		OldText: ptr("old\n"), NewText: ptr("new\n"), Patch: "@@ -1 +1 @@\n",
	},
	session.Diff{Path: "/new", NewText: ptr("")},
	session.TerminalRef{TerminalID: "term-1"},
	session.UnknownItem{Type: "dance", Raw: json.RawMessage(`{"type":"dance"}`)},
}

var allOptions = []session.Option{{
	ID: "o", Name: "O", Description: "d", Category: "mode", Type: "select", Value: "v", Via: session.ViaMode,
	Choices: []session.Choice{{Value: "v", Name: "V", Description: "d", Group: "g"}},
}}

// examples has each type of update with each of its fields.
var examples = []session.Update{
	session.MessageChunk{MessageID: "m", Wire: "w", Of: "c", Role: session.RoleThought, Content: session.Text{Text: "t"}},
	session.MessageChunk{MessageID: "m", Role: session.RoleUser, Content: allBlocks[1]},
	session.ToolCallPatch{
		ID: "c", Title: acp.Set("t"), Name: acp.Set("n"), Kind: acp.Set(session.KindEdit), Status: acp.Set(session.StatusFailed),
		Content: acp.Set(allItems), Locations: acp.Set([]session.Location{{Path: "/a", Line: 3}}),
		RawInput: acp.Set(json.RawMessage(`{"a":1}`)), RawOutput: acp.Set(json.RawMessage(`"b"`)),
		Meta: acp.Set(map[string]json.RawMessage{"m": json.RawMessage("3")}), Parent: acp.Set("p"), Editor: true,
	},
	session.ToolCallPatch{ID: "c", Title: acp.Null[string](), Content: acp.Null[[]session.ToolCallContent](), RawInput: acp.Null[json.RawMessage]()},
	session.ToolCallChunk{ID: "c", Content: allItems},
	session.TerminalPatch{
		ID: "t", Command: acp.Set("ls"), Cwd: acp.Set("/"), Output: acp.Set([]byte("a\n")), Plain: true,
		Exit: acp.Set(session.TerminalExit{Code: ptr(1), Signal: "TERM"}), Size: acp.Set(session.TerminalSize{Cols: 80, Rows: 24}),
	},
	session.TerminalPatch{ID: "t", Output: acp.Set([]byte{0xff, 0xfe}), Exit: acp.Null[session.TerminalExit]()},
	session.TerminalChunk{ID: "t", Data: []byte{0xff}, Plain: true},
	session.MessagePatch{MessageID: "m", Of: "c", Role: session.RoleAgent, Content: allBlocks},
	session.Background{Calls: []string{"c"}, Terminals: []string{"t"}},
	session.PlanUpdate{ID: "p", Entries: []session.PlanEntry{{Content: "c", Priority: "high", Status: "pending"}}},
	session.PlanUpdate{ID: "q", Content: session.Text{Text: "# Plan"}},
	session.PlanUpdate{Content: session.ResourceLink{URI: "file:///p.md"}},
	session.CommandsUpdate{Commands: []session.Command{{Name: "n", Description: "d", Hint: "h"}}},
	session.ModeUpdate{ModeID: "m"},
	session.OptionsUpdate{Options: allOptions},
	session.OptionSet{ID: "o", Value: "v"},
	session.InfoUpdate{Title: acp.Set("t")},
	session.InfoUpdate{Title: acp.Null[string]()},
	session.UsageUpdate{Usage: session.Usage{Used: 1, Size: 2, Cost: &session.Cost{Amount: 0.5, Currency: "USD"}}, NoCost: true},
	session.TurnTokens{Total: 3, Input: 1, Output: 2, Thought: 1, Read: 1, Written: 1},
	session.Notice{Severity: "info", Title: "t", Description: "d"},
	session.CompactionPatch{ID: "c", Status: "completed", Summary: acp.Set(allBlocks), Error: acp.Set("e")},
	session.CompactionChunk{ID: "c", Content: allBlocks[3]},
	session.UnknownUpdate{Type: "t", Raw: json.RawMessage(`{"a":1}`), Reason: "r"},
	session.SessionStart{Options: allOptions},
	session.TurnStart{Prompt: allBlocks, Sent: allBlocks[:1]},
	session.NotTaken{},
	session.Steered{Words: allBlocks},
	session.TurnEnd{StopReason: session.StopError, Error: "e", Detail: "d"},
	session.Waiting{ToolCallID: "c", Open: true, Rejected: true, Allowed: true},
	session.Cancelling{},
	session.AgentGone{},
	session.Remark{Severity: "info", Text: "t", Detail: "d"},
}

func TestEveryUpdateComesBack(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_123)
	for _, u := range examples {
		line, err := appendLine([]byte("before\n"), Said{at, u})
		must.Do(t, err)
		line = bytes.TrimPrefix(line, []byte("before\n"))
		if bytes.Count(line, []byte("\n")) != 1 || line[len(line)-1] != '\n' {
			t.Errorf("%T is no line: %q", u, line)
		}
		got, err := parseLine(line)
		if err != nil || !got.At.Equal(at) || !reflect.DeepEqual(got.Update, u) {
			t.Errorf("%T came back as %#v, %v, of %s", u, got.Update, err, line)
		}
	}
}

// A new type of update has an encoding and an example, and each of its fields is in an example, or this fails.
func TestEveryUpdateHasAnEncoding(t *testing.T) {
	seen := map[string]map[string]bool{} // the fields that examples have, by type
	for _, u := range examples {
		v := reflect.ValueOf(u)
		name := v.Type().Name()
		if seen[name] == nil {
			seen[name] = map[string]bool{}
		}
		for _, f := range reflect.VisibleFields(v.Type()) {
			seen[name][f.Name] = seen[name][f.Name] || !v.FieldByIndex(f.Index).IsZero()
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../../acp/session/update.go", nil, 0)
	must.Do(t, err)
	types := 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != "update" || f.Recv == nil {
			continue
		}
		types++
		name := f.Recv.List[0].Type.(*ast.Ident).Name
		if seen[name] == nil {
			t.Errorf("%s has no example, or no encoding", name)
		}
		for field, there := range seen[name] {
			if !there {
				t.Errorf("no example has %s.%s", name, field)
			}
		}
	}
	if types != len(kinds) || types < 20 {
		t.Errorf("there are %d types of updates and %d encodings", types, len(kinds))
	}
}
