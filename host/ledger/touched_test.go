package ledger

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
)

func TestTouchedBy(t *testing.T) {
	old, text := "a", "b"
	diff := func(path string) session.Diff {
		return session.Diff{Operation: session.OperationModify, Path: path, OldText: &old, NewText: &text}
	}
	at := func(paths ...string) (list []session.Location) {
		for i, path := range paths {
			list = append(list, session.Location{Path: path, Line: i})
		}
		return list
	}
	for name, c := range map[string]struct {
		call  session.ToolCall
		paths []string
		moves [][2]string
	}{
		"a read": {
			call: session.ToolCall{Kind: session.KindRead, Locations: at("/w/a"), RawInput: json.RawMessage(`{"path":"/w/b"}`)},
		},
		"a diff, whatever the kind": {
			session.ToolCall{Kind: session.KindOther, Content: []session.ToolCallContent{diff("/w/a"), diff("b")}, Locations: at("/w/c")},
			[]string{"/w/a", "/w/b"}, nil,
		},
		"locations": {
			session.ToolCall{Kind: session.KindEdit, Locations: at("/w/a", "sub/../b", "./c", "/w/a", "c")}, []string{"/w/a", "/w/c", "/w/sub/../b"}, nil,
		},
		"input": {
			session.ToolCall{Kind: session.KindEdit, RawInput: json.RawMessage(`{"file_path":"/w/a","old_string":"/w/b","path":7}`)},
			[]string{"/w/a"}, nil,
		},
		"no input": {
			call: session.ToolCall{Kind: session.KindEdit, RawInput: json.RawMessage(`"rm"`)},
		},
		"no files of this computer": {
			session.ToolCall{Kind: session.KindDelete, Locations: at("/w/a b", "https://example.org/x", "file://other/w/c")}, []string{"/w/a b"}, nil,
		},
		"a move by input": {
			session.ToolCall{Kind: session.KindMove, RawInput: json.RawMessage(`{"source":"a","destination":"b"}`)},
			[]string{"/w/a", "/w/b"}, [][2]string{{"/w/a", "/w/b"}},
		},
		"a move by locations": {
			session.ToolCall{Kind: session.KindMove, Locations: at("/w/a", "/w/b")}, []string{"/w/a", "/w/b"}, [][2]string{{"/w/a", "/w/b"}},
		},
		"a move by both": {
			session.ToolCall{Kind: session.KindMove, Locations: at("/w/b"), RawInput: json.RawMessage(`{"path":"/w/a","to":"/w/b"}`)},
			[]string{"/w/a", "/w/b"}, [][2]string{{"/w/a", "/w/b"}},
		},
		"a move onto itself": {
			session.ToolCall{Kind: session.KindMove, RawInput: json.RawMessage(`{"source":"a","destination":"./a"}`)}, []string{"/w/a"}, nil,
		},
		"a move from elsewhere": {
			session.ToolCall{Kind: session.KindMove, RawInput: json.RawMessage(`{"source":"https://example.org/x","destination":"b"}`)}, []string{"/w/b"}, nil,
		},
		"a move to elsewhere": {
			session.ToolCall{Kind: session.KindMove, RawInput: json.RawMessage(`{"source":"a","destination":"https://example.org/x"}`)}, []string{"/w/a"}, nil,
		},
		"a move by a diff to elsewhere": {
			session.ToolCall{Kind: session.KindEdit, Content: []session.ToolCallContent{
				session.Diff{Operation: session.OperationMove, OldPath: "/w/a", Path: "https://example.org/x"},
			}},
			[]string{"/w/a"}, nil,
		},
		"a move by a diff from elsewhere": {
			session.ToolCall{Kind: session.KindEdit, Content: []session.ToolCallContent{
				session.Diff{Operation: session.OperationMove, OldPath: "https://example.org/x", Path: "/w/b"},
			}},
			[]string{"/w/b"}, nil,
		},
		"a move told twice, and under two names": {
			session.ToolCall{Kind: session.KindMove, RawInput: json.RawMessage(`{"source":"a","destination":"./b"}`), Content: []session.ToolCallContent{
				session.Diff{Operation: session.OperationMove, OldPath: "/w/a", Path: "/w/b"},
			}},
			[]string{"/w/a", "/w/b"}, [][2]string{{"/w/a", "/w/b"}},
		},
		"a move told twice": {
			session.ToolCall{Kind: session.KindMove, RawInput: json.RawMessage(`{"source":"a","destination":"b"}`), Content: []session.ToolCallContent{
				session.Diff{Operation: session.OperationMove, OldPath: "/w/a", Path: "/w/b"},
			}},
			[]string{"/w/a", "/w/b"}, [][2]string{{"/w/a", "/w/b"}},
		},
		"a move by a diff": {
			session.ToolCall{Kind: session.KindEdit, Content: []session.ToolCallContent{
				session.Diff{Operation: session.OperationMove, OldPath: "/w/a", Path: "/w/b"},
				session.Diff{Operation: session.OperationCopy, OldPath: "/w/c", Path: "/w/d"},
			}},
			[]string{"/w/a", "/w/b", "/w/d"}, [][2]string{{"/w/a", "/w/b"}},
		},
		"changes by path": {
			session.ToolCall{Kind: session.KindEdit, RawInput: json.RawMessage(
				`{"changes":{"/w/a":{"type":"update","unified_diff":"","move_path":"/w/b"},"/w/c":{"type":"add","content":"","move_path":null}}}`)},
			[]string{"/w/a", "/w/b", "/w/c"}, [][2]string{{"/w/a", "/w/b"}},
		},
	} {
		got := touchedBy(&c.call, func(path string) (string, bool) { return session.Absolute(path, "/w", "/home/u") })
		slices.Sort(got.paths)
		if !slices.Equal(got.paths, c.paths) || !reflect.DeepEqual(got.moves, c.moves) {
			t.Errorf("%s: %v, moves %v", name, got.paths, got.moves)
		}
	}
}

func TestDiffsThatACallNames(t *testing.T) {
	call := session.ToolCall{Content: []session.ToolCallContent{session.Diff{Path: "a"}, session.Diff{Path: "https://example.org/x"}, session.Diff{Path: "/w/b"}}}
	var paths []string
	for _, d := range touchedBy(&call, func(name string) (string, bool) { return session.Absolute(name, "/w", "/") }).diffs {
		paths = append(paths, d.Path)
	}
	if !slices.Equal(paths, []string{"/w/a", "/w/b"}) {
		t.Errorf("the diffs are of %q", paths)
	}
}

func TestLinesThatACallNames(t *testing.T) {
	call := session.ToolCall{Kind: session.KindEdit, Locations: []session.Location{{Path: "/w/a", Line: 1}, {Path: "/w/b"}, {Path: "c", Line: 7}}}
	got := touchedBy(&call, func(name string) (string, bool) { return session.Absolute(name, "/w", "/") }).lines
	if want := map[string]int{"/w/a": 1, "/w/c": 7}; !maps.Equal(got, want) {
		t.Errorf("the lines are %v", got)
	}
}
