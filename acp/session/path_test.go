package session

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestPathsOfAgents(t *testing.T) {
	const home, cwd = "/home/u", "/w/p"
	for name, c := range map[string]struct {
		local string // as the model has it; "" where that is what the agent wrote
		path  string // absolute; "" where there is none
	}{
		"/etc/passwd":                    {"", "/etc/passwd"},
		"//etc/./passwd/":                {"", "/etc/passwd"},
		"/w/link/../a":                   {"", "/w/link/../a"},
		"a":                              {"", "/w/p/a"},
		"./a//b":                         {"", "/w/p/a/b"},
		"link/../a":                      {"", "/w/p/link/../a"},
		"..":                             {"", "/w/p/.."},
		"~":                              {"", "/home/u"},
		"~/a":                            {"", "/home/u/a"},
		"~/../a":                         {"", "/home/u/../a"},
		"~a/b":                           {"", "/w/p/~a/b"},
		"~lock.a#":                       {"", "/w/p/~lock.a#"},
		"a:b":                            {"", "/w/p/a:b"},
		"profile:a":                      {"", "/w/p/profile:a"},
		"a\nb":                           {"", "/w/p/a\nb"},
		"a%20b":                          {"", "/w/p/a%20b"},
		"/a%20b?c#d":                     {"", "/a%20b?c#d"},
		"file:///etc/passwd":             {"/etc/passwd", "/etc/passwd"},
		"FILE:///etc/passwd":             {"/etc/passwd", "/etc/passwd"},
		"file:/etc/passwd":               {"/etc/passwd", "/etc/passwd"},
		"file:////etc/passwd":            {"//etc/passwd", "/etc/passwd"},
		"file://localhost/etc/passwd":    {"/etc/passwd", "/etc/passwd"},
		"File://LocalHost/etc/passwd":    {"/etc/passwd", "/etc/passwd"},
		"file:///a%20b/%C3%A9/100%25":    {"/a b/é/100%", "/a b/é/100%"},
		"file:///w/p%2F..%2F..%2Fetc":    {"/w/p/../../etc", "/w/p/../../etc"},
		"file:///a/b%3Fc%23d?e#L7":       {"/a/b?c#d", "/a/b?c#d"},
		"file:///file:///etc/passwd":     {"/file:///etc/passwd", "/file:/etc/passwd"},
		"file:///file%3A%2F%2F%2Fetc":    {"/file:///etc", "/file:/etc"},
		"file:///a%2520b":                {"/a%20b", "/a%20b"},
		"file://host/etc/passwd":         {},
		"file://user@localhost/a":        {},
		"file://localhost:80/a":          {},
		"file://localhost.evil/a":        {},
		"file://a":                       {},
		"file://":                        {},
		"file:///a%zz":                   {},
		"file:///a%00b":                  {},
		"file:///a\nb":                   {},
		"file:a":                         {},
		"file:":                          {},
		" file:///etc/passwd":            {},
		"\tfile:/etc/passwd":             {},
		"file:///C:/x":                   {},
		"file:///c:":                     {},
		"file:///C%3A/x":                 {},
		`C:\x`:                           {},
		"C:/x":                           {},
		"c:":                             {},
		`\\server\share`:                 {},
		"https://example.org/a":          {},
		"vscode-remote://ssh/etc/passwd": {},
		"a\x00b":                         {},
		"/a\x00b":                        {},
		"":                               {},
	} {
		if c.local == "" {
			c.local = name
		}
		check.Equal(t, LocalPath(name), c.local, "%q is %q in the model", name)
		check.Equal(t, LocalPath(c.local), c.local, "%q is %q the second time", name)
		got, ok := Absolute(c.local, cwd, home)
		if ok != (c.path != "") || ok && got != c.path || !ok && got != name {
			t.Errorf("%q is %q, %v, expected %q", name, got, ok, c.path)
		}
	}
	for _, name := range []string{"~", "~/a"} {
		if got, ok := Absolute(name, cwd, ""); ok {
			t.Errorf("without a home %s is %s", name, got)
		}
	}
}

// No adapter lets a file's URI into the model, wherever the agent puts it.
func TestNoFileURIsInTheModel(t *testing.T) {
	const uri, path, far = "file://localhost/w/a%20b", "/w/a b", "file://far/w/a%20b"
	x, y := "x", "y"
	wantLocations := []Location{{path, 3}, {far, 0}}
	for name, c := range map[string]struct {
		handler func(Client) acp.Handler
		update  string
		want    []Update
	}{
		"version 1": {
			byV1, `{"sessionUpdate":"tool_call_update","toolCallId":"c","locations":[{"path":"` + uri + `","line":3},{"path":"` + far + `"}],` +
				`"content":[{"type":"diff","path":"` + uri + `","newText":"x","oldText":"y"}]}`,
			[]Update{ToolCallPatch{ID: "c", Locations: acp.Set(wantLocations), Content: acp.Set([]ToolCallContent{
				Diff{Operation: OperationModify, Path: path, NewText: &x, OldText: &y},
			})}},
		},
		"version 2": {
			byV2, `{"sessionUpdate":"tool_call_update","toolCallId":"c","locations":[{"path":"` + uri + `","line":3},{"path":"` + far + `"}],` +
				`"content":[{"type":"diff","changes":[{"operation":"modify","path":"` + uri + `"},{"operation":"move","path":"` + far + `","oldPath":"` + uri + `"},` +
				`{"operation":"_touch","path":"` + uri + `","oldPath":"` + uri + `"}],` +
				`"patch":{"format":"git_patch","text":"diff --git a/file:///w/a%20b b/file:///w/a%20b\n--- a/file:///w/a%20b\n+++ b/file:///w/a%20b\n@@ -1 +1 @@\n-x\n+y\n"}}]}`,
			[]Update{ToolCallPatch{ID: "c", Locations: acp.Set(wantLocations), Content: acp.Set([]ToolCallContent{
				Diff{
					Operation: OperationModify, Path: path,
					Patch: "diff --git a/file:///w/a%20b b/file:///w/a%20b\n--- a/file:///w/a%20b\n+++ b/file:///w/a%20b\n@@ -1 +1 @@\n-x\n+y\n",
				},
				Diff{Operation: OperationMove, Path: far, OldPath: path},
				Diff{Operation: "_touch", Path: path, OldPath: path},
			})}},
		},
		"a terminal of version 1": {
			byV1, `{"sessionUpdate":"tool_call","toolCallId":"c","title":"","_meta":{"terminal_info":{"terminal_id":"t","cwd":"` + uri + `"}}}`, nil,
		},
		"a terminal of version 2": {
			byV2, `{"sessionUpdate":"terminal_update","terminalId":"t","cwd":"` + uri + `"}`, []Update{TerminalPatch{ID: "t", Plain: true, Cwd: acp.Set(path)}},
		},
	} {
		told := handled(t, c.handler, c.update)
		if c.want != nil && !reflect.DeepEqual(told, c.want) {
			t.Errorf("%s: told\n%+v, want\n%+v", name, told, c.want)
		}
		if c.want == nil && !slices.ContainsFunc(told, func(u Update) bool {
			p, ok := u.(TerminalPatch)
			return ok && p.Cwd.Or("") == path
		}) {
			t.Errorf("%s: told %+v", name, told)
		}
	}

	var ask v2.RequestPermissionRequest
	must.Do(t, acp.Decode([]byte(`{"sessionId":"s","title":"","subject":{"type":"command","command":"ls","cwd":"`+uri+`"},"options":[]}`), &ask))
	check.Equal(t, permissionV2(&ask).Cwd, path, "a command runs in %q")

	p := begun(t,
		fakeagent.Request(7, "fs/read_text_file", `{"sessionId":"s1","path":"`+uri+`"}`), fakeagent.Answer(7),
		fakeagent.Request(8, "fs/write_text_file", `{"sessionId":"s1","path":"`+uri+`","content":""}`), fakeagent.Answer(8),
		fakeagent.Request(9, "terminal/create", `{"sessionId":"s1","command":"ls","cwd":"`+uri+`"}`), fakeagent.Answer(9))
	read := next[ReadTextFile](p)
	read.Reply("", nil)
	write := next[WriteTextFile](p)
	write.Reply(nil)
	terminal := next[CreateTerminal](p)
	terminal.Reply("t", nil)
	if read.Path != path || write.Path != path || terminal.Dir != path {
		t.Errorf("read %q, write %q, run in %q", read.Path, write.Path, terminal.Dir)
	}
}

func TestFilesOfACall(t *testing.T) {
	for raw, want := range map[string]string{
		``:             ``,
		`7`:            ``,
		`"/etc"`:       `/etc`,
		`{}`:           ``,
		`{"path":"a"}`: `a`,
		`{"file_path":"/a","old_string":"/b","new_string":"c"}`:                                         `/a`,
		`{"filePath":"/a","content":"/b"}`:                                                              `/a`,
		`{"abs_path":"/a","notebook_path":"/b"}`:                                                        `/a /b`,
		`{"paths":["a","b"],"files":[{"path":"c"},{"name":"/d"}]}`:                                      `/d a b c`,
		`{"oldPath":"a","newPath":"../b"}`:                                                              `../b a`,
		`{"from":"a","to":"b","source":"c","destination":"d"}`:                                          `a b c d`,
		`{"changes":{"/a":{"type":"update","unified_diff":"@@","move_path":"/b"},"c":{"add":{"x":7}}}}`: `/a /b c`,
		`{"input":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** Add File: /c\n+z\n*** Delete File: d\n*** End Patch"}`: `/c a b d`,
		`{"diff":"--- /a\n+++ /b\n@@ -1 +1 @@\n-x\n+y\n","filepath":"/a"}`:                                                                     `/a /b`,
		`{"patch":"diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n"}`:                                                       `x y`,
		`{"p":"--- a/x\n+++ b/x\n@@"}`:                                              `x`,
		`{"p":"--- a/x\t2026-01-02\n+++ b/x\t2026-01-03\n@@"}`:                      `x`,
		`{"p":"--- a/x\n+++ b/y\n@@"}`:                                              `x y`,
		`{"p":"+++ b/x\n--- a/x\n+++ b/x\n"}`:                                       `x`,
		`{"p":"--- c/x\n+++ b/x\n@@"}`:                                              `b/x c/x`,
		`{"p":"x\n--- a/x\n"}`:                                                      ``,
		`{"root":"a","filenames":["b"]}`:                                            `a b`,
		`{"x":"/a b"}`:                                                              `/a b`,
		`{"description":"file:///a"}`:                                               ``,
		`{"p":"please\ncopy from a to b\n"}`:                                        ``,
		`{"p":"--- a/x\n@@ b/y\n\n+++ c"}`:                                          ``,
		`{"p":"text\n+++ b/x\n"}`:                                                   ``,
		`{"p":"copy from x\ncopy to y\nrename to z\n"}`:                             `x y z`,
		`{"p":"*** Update File:  \n*** Add File: x\n"}`:                             `x`,
		`{"p":"--- a/x\n+++ /dev/null\n@@"}`:                                        `x`,
		`{"p":"--- a/x\n+++ c/x\n@@"}`:                                              `a/x c/x`,
		`{"p":"--- /dev/null\n+++ b/x\n@@"}`:                                        `x`,
		`{"notebook":"../x.ipynb","note":"a/b c","language":"go","up":".."}`:        `.. ../x.ipynb`,
		`{"uri":"FILE:///a%20b","url":"https://x/y","file":"file://far/c"}`:         `/a b file://far/c`,
		`{"url":"file:///a"}`:                                                       `/a`,
		`{"changes":{"file:///a":{}},"patch":"--- file:///b\n+++ file:///b\n@@\n"}`: `/a /b`,
		`{"command":"/bin/ls","cwd":"/a","description":"/b"}`:                       ``,
		`{"anything":{"at":["/a"]}}`:                                                `/a`,
		`{"source":"x = 1\ny = 2","target":"a"}`:                                    `a`,
	} {
		for _, kind := range []ToolKind{KindEdit, KindRead} {
			f := (&ToolCall{Kind: kind, RawInput: json.RawMessage(raw)}).Files()
			check.Equal(t, strings.Join(f.Named, " "), want, "%s: %q", raw)
			changed := f.Named
			if kind == KindRead {
				changed = nil
			}
			check.Slice(t, f.Changed, changed, "%s of kind %s changes %q", raw, kind)
		}
	}
}

func TestMovesOfACall(t *testing.T) {
	at := func(paths ...string) (list []Location) {
		for _, path := range paths {
			list = append(list, Location{Path: path})
		}
		return list
	}
	by := func(kind ToolKind, raw string) ToolCall { return ToolCall{Kind: kind, RawInput: json.RawMessage(raw)} }
	moved := []ToolCallContent{Diff{Operation: OperationMove, OldPath: "/a", Path: "/b"}}
	ab := [][2]string{{"/a", "/b"}}
	for name, c := range map[string]struct {
		call ToolCall
		want [][2]string
	}{
		"by fields":                    {by(KindMove, `{"source":"file:///a","target":"/b"}`), ab},
		"by other fields":              {by(KindMove, `{"old_path":"/a","new-path":"/b"}`), ab},
		"with what is written":         {by(KindMove, `{"source":"/a\n/c","target":"/b"}`), nil},
		"from an address":              {by(KindMove, `{"source":"https://a/b","target":"/b"}`), nil},
		"of another kind":              {by(KindEdit, `{"source":"/a","target":"/b"}`), nil},
		"by locations":                 {ToolCall{Kind: KindMove, Locations: at("/a", "/b", "/a")}, ab},
		"by two of three locations":    {ToolCall{Kind: KindMove, Locations: at("/a", "", "/b")}, ab},
		"by three locations":           {ToolCall{Kind: KindMove, Locations: at("/a", "/b", "/c")}, nil},
		"by a diff, not by locations":  {ToolCall{Kind: KindMove, Content: moved, Locations: at("/b", "/a")}, ab},
		"by locations beside a source": {ToolCall{Kind: KindMove, Locations: at("/a", "/b"), RawInput: json.RawMessage(`{"path":"/a"}`)}, ab},
		"by locations beside a target": {ToolCall{Kind: KindMove, Locations: at("/a", "/b"), RawInput: json.RawMessage(`{"to":"/b"}`)}, ab},
		"by many changes": {
			by(KindEdit, `{"changes":{"/e":{"move_path":"/f"},"/c":{"move_path":"/d"},"/g":{"move_path":"/h"},"/a":{"move_path":"/b"}}}`),
			[][2]string{{"/a", "/b"}, {"/c", "/d"}, {"/e", "/f"}, {"/g", "/h"}},
		},
		"by a diff and by fields": {ToolCall{Kind: KindMove, Content: moved, RawInput: json.RawMessage(`{"source":"/a","target":"/b"}`)}, ab},
		"by a diff":               {ToolCall{Kind: KindOther, Content: moved}, ab},
		"not by a copy":           {ToolCall{Kind: KindEdit, Content: []ToolCallContent{Diff{Operation: OperationCopy, OldPath: "/a", Path: "/b"}}}, nil},
		"by changes":              {by(KindEdit, `{"changes":{"/a":{"move_path":"file:///b"},"/c":{"move_path":null}}}`), ab},
		"by a patch":              {by(KindEdit, `{"input":"*** Begin Patch\n*** Update File: /a\n*** Move to: /b\n@@\n"}`), ab},
		"by a patch of Git":       {by(KindEdit, `{"patch":"diff --git a/a b/b\nrename from /a\nrename to /b\n"}`), ab},
		"from nowhere":            {by(KindEdit, `{"input":"*** Begin Patch\n*** Move to: /b\n"}`), nil},
		"to nowhere":              {by(KindEdit, `{"input":"*** Update File: /a\n*** Move to: \n"}`), nil},
		"to where it is":          {by(KindMove, `{"from":"/a","to":"/a"}`), nil},
		"of a call that reads":    {by(KindRead, `{"changes":{"/a":{"move_path":"/b"}}}`), nil},
	} {
		check.Deep(t, c.call.Files().Moves, c.want, "%s: %q", name)
	}
	fetch := ToolCall{Kind: KindFetch, Locations: at("https://example.org/a", "file://far/a", "/a")}
	check.Slice(t, fetch.Files().Named, []string{"file://far/a", "/a"}, "what is fetched names %q")
	read := ToolCall{Kind: KindRead, Locations: at("https://example.org/a", "/a")}
	if f := read.Files(); !slices.Equal(f.Named, []string{"https://example.org/a", "/a"}) || len(f.Changed) > 0 {
		t.Errorf("what is read names %q and changes %q", f.Named, f.Changed)
	}
	edit := ToolCall{Kind: KindEdit, Locations: at("/a", "/b")}
	check.Slice(t, edit.Files().Changed, []string{"/a", "/b"}, "what is edited changes %q")
	copied := ToolCall{Kind: KindEdit, Content: []ToolCallContent{Diff{Operation: OperationCopy, OldPath: "/a", Path: "/b"}}}
	edited := append([]ToolCallContent{Diff{Path: "/a"}}, copied.Content...)
	again := ToolCall{Kind: KindEdit, Content: edited, Locations: at("/a", "/b")}
	if f := again.Files(); !slices.Equal(f.Named, []string{"/a", "/b"}) || !slices.Equal(f.Changed, []string{"/a", "/b"}) {
		t.Errorf("an edit and a copy of it name %q and change %q", f.Named, f.Changed)
	}
	if f := copied.Files(); !slices.Equal(f.Named, []string{"/b", "/a"}) || !slices.Equal(f.Changed, []string{"/b"}) {
		t.Errorf("a copy names %q and changes %q", f.Named, f.Changed)
	}
}

// What was read of an input is of that input: a copy of the call may have another one.
func TestFilesOfAnotherInput(t *testing.T) {
	call := &ToolCall{}
	call.apply(ToolCallPatch{RawInput: acp.Set(json.RawMessage(`{"path":"/a"}`))}, time.Now())
	other := *call
	other.RawInput = json.RawMessage(`{"path":"/b"}`)
	if own, others := call.Files().Named, other.Files().Named; !slices.Equal(own, []string{"/a"}) || !slices.Equal(others, []string{"/b"}) {
		t.Errorf("the call names %v, the other one %v", own, others)
	}
}
