package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// What an answer for good is about.
func TestWhatAnAnswerIsAbout(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	t.Setenv("HOME", dir)
	proj := dir + "/proj"
	must.Do(t, os.MkdirAll(proj+"/sub", 0o777), os.Symlink("sub", proj+"/link"))
	fetch := func(bytes int) session.ToolCall {
		return session.ToolCall{Kind: session.KindFetch, Title: "Get it", RawInput: json.RawMessage(`"` + strings.Repeat("x", bytes-2) + `"`)}
	}
	at := func(kind session.ToolKind, paths ...string) session.ToolCall {
		call := session.ToolCall{Kind: kind}
		for _, p := range paths {
			call.Locations = append(call.Locations, session.Location{Path: p})
		}
		return call
	}
	for name, c := range map[string]struct {
		cwd  string
		call session.ToolCall
		run  Command
		want string
	}{
		"a command":               {proj, session.ToolCall{Kind: session.KindExecute}, Command{script: "ls -l", Dir: proj}, "ls -l"},
		"an argv":                 {proj, session.ToolCall{Kind: session.KindExecute}, Command{argv: []string{"ls", "a b"}, Dir: proj}, "ls 'a b'"},
		"a command in a folder":   {proj, session.ToolCall{Kind: session.KindExecute}, Command{script: "ls", Dir: proj + "/sub"}, "ls  in " + proj + "/sub"},
		"a doubtful command":      {proj, session.ToolCall{Kind: session.KindExecute}, Command{script: "ls", Dir: proj, doubt: "why"}, ""},
		"a long command":          {proj, session.ToolCall{Kind: session.KindExecute}, Command{script: strings.Repeat("x", maxCommand+1), Dir: proj}, ""},
		"one not so long":         {proj, session.ToolCall{Kind: session.KindExecute}, Command{script: strings.Repeat("x", maxCommand), Dir: proj}, strings.Repeat("x", maxCommand)},
		"a file":                  {proj, at(session.KindEdit, "a"), Command{}, "edit a"},
		"two files":               {proj, at(session.KindRead, "b", "a", "b"), Command{}, "read a, b"},
		"a file by two names":     {proj, at(session.KindRead, "sub/a", "link/a"), Command{}, "read sub/a"},
		"a file elsewhere":        {proj, at(session.KindRead, "a", dir+"/b"), Command{}, "read " + dir + "/b, a"},
		"a file at home":          {dir, at(session.KindRead, "a"), Command{}, "read a"},
		"a file of all":           {"/", at(session.KindRead, "/a"), Command{}, "read a"},
		"no file":                 {proj, at(session.KindRead, "ssh://a/b"), Command{}, ""},
		"the end of a plan":       {proj, session.ToolCall{Kind: session.KindSwitchMode, RawInput: json.RawMessage(`{"a":1}`)}, Command{}, ""},
		"a thought":               {proj, session.ToolCall{Kind: session.KindThink, RawInput: json.RawMessage(`{"a":1}`)}, Command{}, ""},
		"no folder":               {proj + "/gone/\x00", session.ToolCall{Kind: session.KindFetch, RawInput: json.RawMessage(`{"a":1}`)}, Command{}, ""},
		"another tool":            {proj, session.ToolCall{Kind: session.KindFetch, Title: "Get it", RawInput: json.RawMessage(`{"a":1}`)}, Command{}, "fetch Get it"},
		"without an input":        {proj, session.ToolCall{Kind: session.KindFetch, Title: "Get it"}, Command{}, ""},
		"with an empty one":       {proj, session.ToolCall{Kind: session.KindFetch, Title: "Get it", RawInput: json.RawMessage(`{}`)}, Command{}, ""},
		"with one that is a word": {proj, fetch(3), Command{}, "fetch Get it"},
		"with a long one":         {proj, fetch(MaxShown), Command{}, "fetch Get it"},
		"with one too long":       {proj, fetch(MaxShown + 1), Command{}, ""},
		"a read of nothing":       {proj, session.ToolCall{Kind: session.KindRead, Title: "Read it"}, Command{}, ""},
		"a command not said":      {proj, session.ToolCall{Kind: session.KindExecute, Title: "Run it"}, Command{}, ""},
		"a tool's command":        {proj, session.ToolCall{Kind: session.KindOther}, Command{script: "ls", Dir: proj}, "ls"},
		"what is no file": {
			proj, session.ToolCall{Kind: session.KindOther, Title: "Get it", Locations: []session.Location{{Path: "ssh://a/b"}}, RawInput: json.RawMessage(`{"a":1}`)},
			Command{}, "other Get it",
		},
	} {
		m := Request{Agent: "puppet", Cwd: c.cwd, Call: c.call, Command: c.run}
		got := ""
		if q := m.question(m.onDisk()); q != nil {
			got = describe(*q)
			if q.Agent != "puppet" || q.Kind != string(c.call.Kind) {
				t.Errorf("%s: %+v", name, q)
			}
		}
		check.Equal(t, got, c.want, "%s is about %q", name)
	}
	// The client's own question is about its file, whatever it is called.
	m := Request{Cwd: proj, Call: session.ToolCall{Kind: session.KindRead, Title: "a"}, File: rules.Path{Given: proj + "/a", Real: proj + "/a"}}
	check.Deep(t, m.question(m.onDisk()), &answers.Question{Project: proj, Kind: "read", Paths: []string{proj + "/a"}}, "the client asks about %+v")
	// The same input whatever the order of its fields; another one is another question.
	hash := func(raw string) string {
		m := Request{Cwd: proj, Call: session.ToolCall{Kind: session.KindFetch, RawInput: json.RawMessage(raw)}}
		q := m.question(m.onDisk())
		return q.Input
	}
	if hash(`{"a":1,"b":2}`) != hash(`{"b":2, "a":1}`) || hash(`{"a":1}`) == hash(`{"a":2}`) {
		t.Error("inputs are told apart by more than what they say, or by less")
	}
	if hash(`{"a":9007199254740993}`) == hash(`{"a":9007199254740992}`) {
		t.Error("large numbers are taken as the same")
	}
}

// What lasts is what was shown: no other tool, no other file and no other input is answered by it.
func TestLastingAnswersAreNoWider(t *testing.T) {
	proj := t.TempDir()
	call := func(kind session.ToolKind, title, input string, diffs ...string) session.ToolCall {
		c := session.ToolCall{Kind: kind, Title: title, RawInput: json.RawMessage(input)}
		for _, name := range diffs {
			c.Content = append(c.Content, session.Diff{Path: name})
		}
		return c
	}
	named := func(c session.ToolCall, name string) session.ToolCall { c.Name = name; return c }
	moved := func(c session.ToolCall, from, to string) session.ToolCall {
		c.Content = append(c.Content, session.Diff{Path: to, OldPath: from})
		return c
	}
	for name, c := range map[string]struct {
		a, b session.ToolCall
		same bool
	}{
		"the same tool":                 {call("read", "mcp__one__get", `{"path":"x"}`), call("read", "mcp__one__get", `{"path":"x"}`), true},
		"the tool of another server":    {call("read", "mcp__one__get", `{"path":"x"}`), call("read", "mcp__two__get", `{"path":"x"}`), false},
		"another file":                  {call("read", "mcp__one__get", `{"path":"x"}`), call("read", "mcp__one__get", `{"path":"y"}`), false},
		"another input beside the file": {call("read", "mcp__one__get", `{"path":"x"}`), call("read", "mcp__one__get", `{"path":"x","drop":true}`), false},
		"another name":                  {named(call("read", "Get", `{"path":"x"}`), "a"), named(call("read", "Get", `{"path":"x"}`), "b"), false},
		"another edit of the file":      {call("edit", "x: a => b", `{"path":"x","new":"b"}`, "x"), call("edit", "x: c => d", `{"path":"x","new":"d"}`, "x"), true},
		"an edit of another file":       {call("edit", "Edit x", `{"path":"x"}`, "x"), call("edit", "Edit y", `{"path":"y"}`, "y"), false},
		"an edit without a diff":        {call("edit", "Edit x", `{"path":"x"}`, "x"), call("edit", "Edit x", `{"path":"x"}`), false},
		"an edit by another tool":       {call("edit", "Edit x", `{"path":"x"}`, "x"), call("edit", "mcp__one__change", `{"path":"x"}`, "x"), false},
		"a diff of one file, of two":    {call("edit", "Edit x", `{"path":"x","also":"/y"}`, "x"), call("edit", "Edit x", `{"path":"x","also":"/y","drop":1}`, "x"), false},
		"the same move":                 {moved(call("move", "Move x", `{"n":1}`), "x", "y"), moved(call("move", "Move x", `{"n":2}`), "x", "y"), true},
		"the same deletion":             {call("delete", "Delete x", `{"n":1}`, "x"), call("delete", "Delete x", `{"n":2}`, "x"), true},
		"the same search":               {call("search", "Search x", `{"n":1}`, "x"), call("search", "Search x", `{"n":2}`, "x"), true},
		"the same read":                 {call("read", "Read x", `{"n":1}`, "x"), call("read", "Read x", `{"n":2}`, "x"), true},
		"the same command":              {call("execute", "List", `{"command":"ls"}`), call("execute", "List all", `{"command":"ls","timeout":9}`, "x"), true},
		"another command":               {call("execute", "List", `{"command":"ls"}`), call("execute", "List", `{"command":"ls x"}`), false},
		"a command of an unclear tool":  {named(call("execute", "Run", `{"command":"ls","to":1}`), "mcp__one__run__x"), named(call("execute", "Run", `{"command":"ls","to":2}`), "mcp__one__run__x"), false},
		"an edit by an unclear tool":    {named(call("edit", "Edit x", `{"n":1}`, "x"), "mcp__one__edit__x"), named(call("edit", "Edit x", `{"n":2}`, "x"), "mcp__one__edit__x"), false},
		"a diff of what is no edit":     {call("other", "Do x", `{"n":1}`, "x"), call("other", "Do x", `{"n":2}`, "x"), false},
		"a deletion, of an edit":        {call("edit", "Edit x", `{"path":"x"}`, "x"), call("delete", "Edit x", `{"path":"x"}`, "x"), false},
	} {
		question := func(c session.ToolCall) answers.Question {
			m := Request{Cwd: proj, Call: c, Command: CommandOf(session.PermissionRequest{}, &c, folder.Folder{Cwd: proj})}
			q := m.question(m.onDisk())
			if q == nil {
				t.Fatalf("%s: nothing is kept", name)
			}
			return *q
		}
		if got := reflect.DeepEqual(question(c.a), question(c.b)); got != c.same {
			t.Errorf("%s: taken as the same: %v\n%+v\n%+v", name, got, question(c.a), question(c.b))
		}
	}
	// A tool that is no shell may have more to say than its command.
	deploy := func(input string) answers.Question {
		m := Request{Cwd: proj, Call: call("other", "deploy", input), Command: Command{script: "go", Dir: proj}}
		return *m.question(m.onDisk())
	}
	if reflect.DeepEqual(deploy(`{"command":"go","to":"test"}`), deploy(`{"command":"go","to":"prod"}`)) {
		t.Error("one command to two places is taken as the same")
	}
}

// An answer that lasts is about one server's tool, whatever the agent calls it: never about files, nor another's tool.
func TestLastingAnswersAboutToolsOfMCPServers(t *testing.T) {
	proj := t.TempDir()
	tool := func(name, input string) Request {
		return Request{Agent: "a", Cwd: proj, Options: []session.PermissionOption{{ID: "once", Kind: "allow_once"}, {ID: "always", Kind: "allow_always"}}, Call: session.ToolCall{
			Title: input, Kind: session.KindRead, RawInput: json.RawMessage(input), Meta: map[string]json.RawMessage{"toolName": json.RawMessage(`"` + name + `"`)},
		}}
	}
	p := New(rules.List{Private: []string{"**/.env"}}, answers.Open(filepath.Join(t.TempDir(), "answers")))
	first := tool("mcp__one__get", `{"path":"x"}`)
	d := p.Decide(first)
	a, ok := d.Lasting(first, first.Options[1])
	if !ok || p.Keep(a) != nil {
		t.Fatalf("nothing is kept: %+v", d)
	}
	another, elsewhere := first, first
	another.Agent, elsewhere.Cwd = "b", t.TempDir()
	for name, c := range map[string]struct {
		of      Request
		allowed bool
	}{
		"another agent":      {another, false},
		"another project":    {elsewhere, false},
		"other arguments":    {tool("mcp__one__get", `{"path":"y"}`), true},
		"another server":     {tool("mcp__two__get", `{"path":"x"}`), false},
		"another tool":       {tool("mcp__one__put", `{"path":"x"}`), false},
		"a name that is two": {tool("mcp__one__get__x", `{"path":"x"}`), false},
		"a private file":     {tool("mcp__one__get", `{"path":".env"}`), false},
		"a read":             {tool("read_file", `{"path":"x"}`), false},
	} {
		if d := p.Decide(c.of); (d.OptionID != "") != c.allowed {
			t.Errorf("%s: %+v", name, d)
		}
	}
	// Nor does a rule about files allow one.
	p = New(rules.List{Rules: []rules.Rule{{Paths: []string{"**"}, Action: rules.Allow}}}, answers.Open(filepath.Join(t.TempDir(), "answers")))
	for name, allowed := range map[string]bool{"mcp__one__get": false, "read_file": true} {
		if d := p.Decide(tool(name, `{"path":"x"}`)); (d.OptionID != "") != allowed {
			t.Errorf("a rule about files, of %s: %+v", name, d)
		}
	}
}

// A lasting answer is given by the very option that was chosen, or else by one that means as much.
func TestWhichOptionGivesAnAnswerAgain(t *testing.T) {
	answer := answers.Answer{OptionID: "a", Name: "Always", Allow: true}
	always := session.PermissionOption{ID: "a", Name: "Always", Kind: "allow_always"}
	once := session.PermissionOption{ID: "o", Name: "Once", Kind: "allow_once"}
	as := func(change func(o *session.PermissionOption)) session.PermissionOption {
		o := always
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		options []session.PermissionOption
		want    session.PermissionOption
	}{
		"the same":             {[]session.PermissionOption{once, always}, always},
		"another name":         {[]session.PermissionOption{once, as(func(o *session.PermissionOption) { o.Name = "For all" })}, once},
		"another id":           {[]session.PermissionOption{once, as(func(o *session.PermissionOption) { o.ID = "b" })}, once},
		"one that lasts not":   {[]session.PermissionOption{once, as(func(o *session.PermissionOption) { o.Kind = "allow_once" })}, once},
		"one that refuses":     {[]session.PermissionOption{once, as(func(o *session.PermissionOption) { o.Kind = "reject_always" })}, once},
		"one that is two":      {[]session.PermissionOption{once, always, as(func(o *session.PermissionOption) { o.Kind = "reject_once" })}, once},
		"none that means that": {[]session.PermissionOption{{ID: "n", Kind: "reject_once"}}, session.PermissionOption{}},
	} {
		if got, ok := sameAnswer(c.options, answer); got != c.want || ok != (c.want.ID != "") {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}
