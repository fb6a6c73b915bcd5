package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestCommandOf(t *testing.T) {
	for _, c := range []struct {
		name, kind, title, raw string
		line, dir, doubt       string
	}{
		{"a string", "execute", "Tests", `{"command":"make test"}`, "make test", "/p", ""},
		{"a list", "execute", "Tests", `{"command":["bash","-lc","a b"],"cwd":"sub"}`, "bash -lc 'a b'", "/p/sub", ""},
		{"another name", "other", "Tests", `{"cmd":"ls","workdir":"/tmp"}`, "ls", "/tmp", ""},
		{"a URI", "execute", "Tests", `{"command":"ls","cwd":"file:///a%20b"}`, "ls", "/a b", ""},
		{"a folder elsewhere", "execute", "Tests", `{"command":"ls","cwd":"file://far/p"}`, "ls", "file://far/p", ""},
		{"the title", "execute", "`make`", ``, "make", "/p", ""},
		{"the title, beside an input", "execute", "Run it", `{"x":1}`, "Run it", "/p", "the agent does not say what it runs"},
		{"an empty list", "execute", "`make`", `{"command":[]}`, "make", "/p", "the agent does not say what it runs"},
		{"an empty list and a string", "execute", "x", `{"command":[],"cmd":"make"}`, "make", "/p", ""},
		{"an empty string and a string", "execute", "x", `{"command":"","cmd":"make"}`, "make", "/p", ""},
		{"a null input", "execute", "make", `null`, "make", "/p", ""},
		{"a folder that is none", "execute", "x", `{"command":"make","cwd":7,"workdir":"sub"}`, "make", "/p/sub", ""},
		{"two folders", "execute", "x", `{"command":"make","cwd":"one","workdir":"two"}`, "make", "/p/one", ""},
		{"nothing", "execute", "", ``, "", "/p", "the agent does not say what it runs"},
		{"an edit", "edit", "Edit", `{"command":"str_replace","path":"a"}`, "", "/p", ""},
		{"a command that is called an edit", "edit", "Edit", `{"command":"rm a","path":"a"}`, "rm a", "/p", ""},
		{"a command that is named as an edit is", "execute", "View", `{"command":"view"}`, "view", "/p", ""},
		{"the arguments of a server's tool", "execute", "mcp.srv.run", `{"server":"srv","tool":"run","arguments":{"command":"ls"}}`, "ls", "/p", ""},
		{"arguments without a command", "execute", "mcp.srv.run", `{"server":"srv","tool":"run","arguments":{"x":1}}`, "", "/p", ""},
		{"no command", "read", "Read a", `{"path":"a"}`, "", "/p", ""},
		{"another type", "other", "x", `{"command":7}`, "", "/p", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := session.ToolCall{Kind: session.ToolKind(c.kind), Title: c.title, RawInput: json.RawMessage(c.raw)}
			got := CommandOf(session.PermissionRequest{}, &call, folder.Folder{Cwd: "/p"})
			if got.Line() != c.line || got.Dir != c.dir || got.doubt != c.doubt {
				t.Errorf("got %+v", got)
			}
			r := Request{Call: call, Command: got, Cwd: "/p"}
			list := rules.List{Rules: []rules.Rule{{Commands: []string{c.line}, Action: rules.Allow}}}
			if c.doubt != "" && c.line != "" && list.Decide(r.onDisk()).Action == rules.Allow {
				t.Error("a rule allows what the agent has not said")
			}
		})
	}
	call := session.ToolCall{RawInput: json.RawMessage(`{"command":"rm x"}`)}
	if got := CommandOf(session.PermissionRequest{Command: "ls"}, &call, folder.Folder{Cwd: "/p"}); got.Line() != "ls" {
		t.Errorf("said beside the call, it is %q", got.Line())
	}
}

// The policy sees files as they are on the disk.
func TestDecideFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"proj/src", "other"} {
		must.Do(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	for from, to := range map[string]string{"proj/src/out": "../../other", "proj/src/new": "/nowhere/file", "link": "proj"} {
		must.Do(t, os.Symlink(to, filepath.Join(dir, from)))
	}
	p := &Policy{
		rules:   rules.List{Rules: []rules.Rule{{Paths: []string{"src/**"}, Action: rules.Allow}}},
		answers: answers.Open(filepath.Join(dir, "answers.json")),
	}
	for _, c := range []struct {
		path string
		want string
	}{
		{dir + "/proj/src/a", "yes"},
		{"src/a", "yes"},
		{dir + "/link/src/a", "yes"},
		{"src/../b", ""},
		{"src/out/a", ""},
		{"src/out/../proj/src/a", "yes"}, // through the link, not above it
		{"src/new", ""},
		{dir + "/other/a", ""},
	} {
		for _, cwd := range []string{dir + "/proj", dir + "/link"} {
			got := p.Decide(Request{
				Cwd: cwd, Call: session.ToolCall{Kind: session.KindEdit, Locations: []session.Location{{Path: c.path}}},
				Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}},
			})
			if got.OptionID != c.want {
				t.Errorf("%s in %s: %+v", c.path, cwd, got)
			}
		}
	}
	for _, call := range []session.ToolCall{
		{Kind: session.KindEdit, Content: []session.ToolCallContent{session.Diff{Path: "src/a", OldPath: "b"}}},
		{Kind: session.KindEdit, Content: []session.ToolCallContent{session.Diff{Path: "src/a"}, session.Diff{Path: "b"}}},
		{Kind: session.KindEdit, RawInput: json.RawMessage(`{"changes":{"src/a":{},"/etc/passwd":{}}}`)},
		{Kind: session.KindEdit},
	} {
		got := p.Decide(Request{Cwd: dir + "/proj", Call: call, Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}}})
		if got.OptionID != "" {
			t.Errorf("%+v: %+v", call, got)
		}
	}
}

// A command that runs who knows where is allowed by no rule, nor for good; what is fetched is no file.
func TestDecideOnPlacesElsewhere(t *testing.T) {
	dir := t.TempDir()
	p := &Policy{
		rules:   rules.List{Rules: []rules.Rule{{Commands: []string{"ls"}, Action: rules.Allow}, {Kinds: []string{"fetch", "edit"}, Action: rules.Allow}}},
		answers: answers.Open(filepath.Join(dir, "answers.json")),
	}
	at := func(kind session.ToolKind, path string) session.ToolCall {
		return session.ToolCall{Kind: kind, Locations: []session.Location{{Path: path}}}
	}
	for name, c := range map[string]struct {
		request Request
		want    string
		keeps   bool
	}{
		"here":             {Request{Call: session.ToolCall{Kind: session.KindExecute}, Command: Command{script: "ls", Dir: dir}}, "yes", true},
		"elsewhere":        {Request{Call: session.ToolCall{Kind: session.KindExecute}, Command: Command{script: "ls", Dir: "file://far/p"}}, "", false},
		"in no folder":     {Request{Call: session.ToolCall{Kind: session.KindExecute}, Command: Command{script: "ls"}}, "yes", false},
		"nothing there":    {Request{Call: at(session.KindEdit, dir+"/a"), Command: Command{Dir: "file://far/p"}}, "yes", true},
		"an address":       {Request{Call: at(session.KindFetch, "https://example.org/a")}, "yes", false},
		"a file of others": {Request{Call: at(session.KindFetch, "file://far/a")}, "", false},
		"another scheme":   {Request{Call: at(session.KindEdit, "ssh://far/a")}, "", false},
	} {
		c.request.Cwd, c.request.Options = dir, []session.PermissionOption{{ID: "yes", Kind: "allow_once"}}
		got := p.Decide(c.request)
		if got.OptionID != c.want || (got.Question != nil) != c.keeps {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The files that stand in a command are those that an agent's names mean elsewhere.
func TestDecideOnFilesInCommands(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	for _, d := range []string{"home", "proj", "other/sub"} {
		must.Do(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	must.Do(t, os.Symlink("../other/sub", dir+"/home/link"))
	t.Setenv("HOME", dir+"/home")
	p := &Policy{answers: answers.Open(filepath.Join(dir, "answers.json")), rules: rules.List{
		Private: []string{"**/.env"},
		Rules: []rules.Rule{
			{Paths: []string{"/etc/**", dir + "/other/*", "~/keys/*"}, Action: rules.Reject},
			{Commands: []string{"curl **"}, Action: rules.Allow},
		},
	}}
	for words, want := range map[string]string{
		"a":                              "yes",
		"https://example.org/etc/passwd": "yes",
		"/etc/passwd":                    "no",
		"file:///etc/passwd":             "no",
		"FILE://localhost/etc/passwd":    "no",
		"--url=file:///etc/passwd":       "no",
		"~/link/../a":                    "no", // through the link
		"~/a":                            "yes",
		"~/keys/id":                      "no",
		dir + "/home/keys/id":            "no",
		dir + "/proj/keys/id":            "yes",
		"file://" + dir + "/proj/.env":   "",
		"file://" + dir + "/proj/env":    "yes",
	} {
		got := p.Decide(Request{
			Cwd: dir + "/proj", Call: session.ToolCall{Kind: session.KindExecute}, Command: Command{argv: []string{"curl", words}, Dir: dir + "/proj"},
			Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}, {ID: "no", Kind: "reject_once"}},
		})
		if got.OptionID != want {
			t.Errorf("curl %s: %+v", words, got)
		}
	}
}
