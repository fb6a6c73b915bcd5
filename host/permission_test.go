package host

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/rules"
)

// A request of version 2 may be about no tool call.
func TestRequestWithoutAToolCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := aloneSession(t)
		answer := "none"
		var snap rpc.Permission
		s.on(func() {
			s.phase = ready
			s.requestPermission(session.PermissionRequest{
				Context: context.Background(), Title: "Use the network", Description: "To fetch *it*", Command: "curl x", Cwd: "/tmp",
				Options: []session.PermissionOption{{ID: "yes", Name: "Yes", Kind: "allow_once"}},
				Reply:   func(id string) { answer = id },
			})
			snap = s.snapshot(s.permissions.asked[0])
			s.respond(s.permissions.asked[0].id, "yes")
		})
		want := rpc.Permission{
			ID: snap.ID, Session: s.id, Title: "Use the network", Description: "To fetch *it*", Command: "curl x", Cwd: "/tmp",
			Options: []rpc.PermissionOption{{ID: "yes", Name: "Yes", Kind: "allow_once", Label: "Yes"}}, Allow: "yes",
			Heading: "Puppet wants to run a command", Lines: []string{"Use the network", "To fetch *it*", "$ curl x", "in /tmp"},
			Marks: snap.Marks,
		}
		if !reflect.DeepEqual(snap, want) {
			t.Errorf("it is %+v, expected %+v", snap, want)
		}
		if answer != "yes" || len(s.conv.Calls) > 0 {
			t.Errorf("answered %q, with %d calls", answer, len(s.conv.Calls))
		}
		s.on(func() {
			s.requestPermission(session.PermissionRequest{
				Context: context.Background(), Title: "Trust the folder", Reply: func(string) {},
			})
			snap = s.snapshot(s.permissions.asked[0])
			s.withdrawAll("cancel")
		})
		if want := []string{"Trust the folder"}; !reflect.DeepEqual(snap.Lines, want) {
			t.Errorf("the lines are %q", snap.Lines)
		}
	})
}

// What an agent says of a change is seen beside its diff too, a line for each.
func TestDescriptionBesideADiff(t *testing.T) {
	s, dir, may := diskSession(t)
	close(may)
	text := "x\n"
	var brief []string
	s.on(func() {
		s.phase = ready
		s.requestPermission(session.PermissionRequest{
			Context: context.Background(), Description: "One\ntwo\x1b[31m",
			Call: session.ToolCallPatch{ID: "c", Content: acp.Set([]session.ToolCallContent{
				session.Diff{Operation: session.OperationAdd, Path: dir + "/a", NewText: &text},
			})},
			Reply: func(string) {},
		})
		brief = s.snapshot(s.permissions.asked[0]).Brief
		s.withdrawAll("cancel")
	})
	if len(brief) != 3 || brief[0] != "One" || strings.ContainsAny(strings.Join(brief, ""), "\n\x1b") {
		t.Errorf("the lines are %q", brief)
	}
}

// A request that is withdrawn while it is judged is neither answered by a rule
// nor shown, and those behind it are judged.
func TestWithdrawnWhileJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := aloneSession(t)
		s.host.judge.Store(&judge{rules: rules.List{Rules: []rules.Rule{{Action: rules.Allow}}}, kept: answers.Open(filepath.Join(t.TempDir(), "x"))})
		got := map[string]string{}
		request := func(ctx context.Context, name string) {
			s.requestPermission(session.PermissionRequest{
				Context: ctx, Call: session.ToolCallPatch{ID: name, Title: acp.Set(name)},
				Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}},
				Reply:   func(id string) { got[name] += "[" + id + "]" },
			})
		}
		s.on(func() {
			s.phase = ready
			request(context.Background(), "one")
			request(context.Background(), "two")
			s.withdrawAll("cancel")
			request(context.Background(), "three")
		})
		synctest.Wait()
		if want := map[string]string{"one": "[]", "two": "[]", "three": "[yes]"}; !reflect.DeepEqual(got, want) {
			t.Errorf("answered %v", got)
		}
		if said := s.remarks(); strings.Count(said, "Allowed") != 1 {
			t.Errorf("the transcript says %q", said)
		}
		var names []string
		ops, _ := s.Take(1 << 20)
		for _, e := range eventsOf(ops) {
			if strings.HasPrefix(e.Name, "AcpPermission") {
				names = append(names, e.Name, e.Data["by"].(string))
			}
		}
		if want := []string{"AcpPermissionResolved", "rule"}; !reflect.DeepEqual(names, want) {
			t.Errorf("the events are %v", names)
		}
	})
}

// What an agent asks in a turn that the user has cancelled, as it has not heard
// of that yet, is neither allowed by a rule nor put before the user.
func TestRequestsOfACancelledTurn(t *testing.T) {
	for _, list := range [][]rules.Rule{nil, {{Action: rules.Allow}}} {
		synctest.Test(t, func(t *testing.T) {
			s := aloneSession(t)
			s.host.judge.Store(&judge{rules: rules.List{Rules: list}, kept: answers.Open(filepath.Join(t.TempDir(), "x"))})
			var got []string
			s.on(func() {
				s.phase = ready
				s.prompts.Opened()
				s.prompts.Stop()
				s.requestPermission(session.PermissionRequest{
					Context: context.Background(), Call: session.ToolCallPatch{ID: "c", Title: acp.Set("c")},
					Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}},
					Reply:   func(option string) { got = append(got, option) },
				})
			})
			synctest.Wait()
			if len(got) != 1 || got[0] != "" {
				t.Errorf("with %d rules: answered %q, expected the outcome of a cancelled turn", len(list), got)
			}
		})
	}
}

// What a request says is what it is about, and what it does not say was told before.
func TestWhatARequestIsAbout(t *testing.T) {
	text, other := "one\n", "two\n"
	diff := func(text *string) []session.ToolCallContent {
		return []session.ToolCallContent{session.Diff{Path: "/a", NewText: text, Operation: session.OperationAdd}}
	}
	told := session.ToolCallPatch{
		ID: "c", Title: acp.Set("Told"), Kind: acp.Set(session.KindExecute), RawInput: acp.Set(json.RawMessage(`{"command":"make told"}`)),
		Content: acp.Set(diff(&text)), Locations: acp.Set([]session.Location{{Path: "/told"}}),
	}
	for name, c := range map[string]struct {
		says    session.ToolCallPatch
		command string
		content []session.ToolCallContent
		place   string
	}{
		"nothing":                 {session.ToolCallPatch{}, "make told", diff(&text), "/told"},
		"an empty input":          {session.ToolCallPatch{RawInput: acp.Set(json.RawMessage(" { } "))}, "make told", diff(&text), "/told"},
		"an empty list":           {session.ToolCallPatch{RawInput: acp.Set(json.RawMessage("[]"))}, "make told", diff(&text), "/told"},
		"null":                    {session.ToolCallPatch{RawInput: acp.Set(json.RawMessage("null"))}, "make told", diff(&text), "/told"},
		"no content, nowhere":     {session.ToolCallPatch{Content: acp.Set([]session.ToolCallContent{}), Locations: acp.Set([]session.Location{})}, "make told", diff(&text), "/told"},
		"a short command":         {session.ToolCallPatch{RawInput: acp.Set(json.RawMessage(`{"command":"ls"}`))}, "ls", diff(&text), "/told"},
		"a command of 64 bytes":   {session.ToolCallPatch{RawInput: acp.Set(json.RawMessage(`{"command":"` + strings.Repeat("x", 50) + `"}`))}, strings.Repeat("x", 50), diff(&text), "/told"},
		"a long command":          {session.ToolCallPatch{RawInput: acp.Set(json.RawMessage(`{"command":"` + strings.Repeat("x", 90) + `"}`))}, strings.Repeat("x", 90), diff(&text), "/told"},
		"content and a place":     {session.ToolCallPatch{Content: acp.Set(diff(&other)), Locations: acp.Set([]session.Location{{Path: "/says"}})}, "make told", diff(&other), "/says"},
		"the end of a plan, bare": {session.ToolCallPatch{Kind: acp.Set(session.KindSwitchMode)}, "make told", diff(&text), "/told"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, may := diskSession(t)
			close(may)
			s.on(func() {
				s.phase = ready
				s.apply(told)
				s.told(told)
				c.says.ID = "c"
				s.requestPermission(session.PermissionRequest{Context: context.Background(), Call: c.says, Reply: func(string) {}})
				p := s.permissions.asked[0]
				if got := s.conv.ToolCall("c").Content; c.says.Content.IsZero() && !reflect.DeepEqual(got, c.content) {
					t.Errorf("the call has %v", got)
				}
				if got := p.run.line(); got != c.command {
					t.Errorf("the command is %q", got)
				}
				if !reflect.DeepEqual(p.call.Content, c.content) {
					t.Errorf("the content is %v", p.call.Content)
				}
				if got := p.call.Locations; len(got) != 1 || got[0].Path != c.place {
					t.Errorf("the places are %v", got)
				}

				// What the agent tells of the call later is not what was asked.
				later := session.ToolCallPatch{ID: "c", Content: acp.Set(diff(&text)), Locations: acp.Set([]session.Location{{Path: "/later"}})}
				s.apply(later)
				s.told(later)
				if !reflect.DeepEqual(p.call.Content, c.content) || p.call.Locations[0].Path != c.place {
					t.Errorf("later it is about %v at %v", p.call.Content, p.call.Locations)
				}
				s.withdrawAll("cancel")
			})
		})
	}

	// But where it was about nothing, what is told then is what it is about.
	s, _, may := diskSession(t)
	close(may)
	s.on(func() {
		s.phase = ready
		request := func() *permission {
			s.requestPermission(session.PermissionRequest{Context: context.Background(), Call: session.ToolCallPatch{ID: "c"}, Reply: func(string) {}})
			return s.permissions.asked[len(s.permissions.asked)-1]
		}
		one := request()
		s.apply(told)
		s.told(told)
		if !reflect.DeepEqual(one.call.Content, diff(&text)) || len(one.call.Locations) != 1 || len(s.diffs.Changes(&one.call)) != 1 {
			t.Errorf("it is about %v at %v", one.call.Content, one.call.Locations)
		}
		s.withdrawAll("cancel")
	})
}

// What a request alone has told of a call is not the next one's, unless the agent tells of the call too.
func TestOneIDForAllRequests(t *testing.T) {
	for _, tells := range []bool{false, true} {
		s, _, may := diskSession(t)
		close(may)
		s.on(func() {
			s.phase = ready
			request := func(patch session.ToolCallPatch) *permission {
				patch.ID = "c"
				s.requestPermission(session.PermissionRequest{Context: context.Background(), Call: patch, Reply: func(string) {}})
				return s.permissions.asked[len(s.permissions.asked)-1]
			}
			request(session.ToolCallPatch{Title: acp.Set("One"), RawInput: acp.Set(json.RawMessage(`{"command":"make one"}`))})
			if tells {
				u := session.ToolCallPatch{ID: "c", Status: acp.Set(session.StatusInProgress)}
				s.apply(u)
				s.told(u)
			}
			empty := ""
			for _, says := range []session.ToolCallPatch{
				{Title: acp.Set("Two")}, {Content: acp.Set([]session.ToolCallContent{session.Diff{Path: "/a", NewText: &empty}})},
			} {
				if !tells { // each after one that has told something
					request(session.ToolCallPatch{Title: acp.Set("One"), RawInput: acp.Set(json.RawMessage(`{"command":"make one"}`))})
				}
				second := request(says)
				if got := second.run.line() == "make one"; got != tells {
					t.Errorf("the second runs %q, after the agent has told of it: %v", second.run.line(), tells)
				}
			}
			if third := request(session.ToolCallPatch{}); (third.run.line() == "make one") != tells {
				t.Errorf("one that says nothing runs %q", third.run.line())
			}
			s.withdrawAll("cancel")
		})
	}
}

// The plan of a call stays in the transcript when the request for its end has none; another one replaces it.
func TestPlansOfRequests(t *testing.T) {
	text := func(text string) acp.Opt[[]session.ToolCallContent] {
		return acp.Set([]session.ToolCallContent{session.ContentItem{Content: session.Text{Text: text}}})
	}
	for _, c := range []struct {
		says acp.Opt[[]session.ToolCallContent]
		want acp.Opt[[]session.ToolCallContent]
	}{
		{acp.Opt[[]session.ToolCallContent]{}, text("plan")},
		{acp.Set([]session.ToolCallContent{}), text("plan")},
		{text("another"), text("another")},
	} {
		s, _, may := diskSession(t)
		close(may)
		s.on(func() {
			s.phase = ready
			told := session.ToolCallPatch{ID: "c", Kind: acp.Set(session.KindSwitchMode), Content: text("plan")}
			s.apply(told)
			s.told(told)
			s.requestPermission(session.PermissionRequest{Context: context.Background(), Call: session.ToolCallPatch{ID: "c", Content: c.says}, Reply: func(string) {}})
			for _, got := range [][]session.ToolCallContent{s.conv.ToolCall("c").Content, s.permissions.asked[0].call.Content} {
				if !reflect.DeepEqual(got, c.want.Or(nil)) {
					t.Errorf("the plan is %v, want %v", got, c.want.Or(nil))
				}
			}
			s.withdrawAll("cancel")
		})
	}
}

// Of several requests about one call each is about what it said itself.
func TestSeveralRequestsAboutACall(t *testing.T) {
	s, _, may := diskSession(t)
	close(may)
	s.on(func() {
		s.phase = ready
		for range 2 {
			s.requestPermission(session.PermissionRequest{Context: context.Background(), Call: session.ToolCallPatch{ID: "c"}, Reply: func(string) {}})
		}
		later := session.ToolCallPatch{ID: "c", Locations: acp.Set([]session.Location{{Path: "/later"}})}
		s.apply(later)
		s.told(later)
		for i, p := range s.permissions.asked {
			if len(p.call.Locations) > 0 {
				t.Errorf("%d is about %v", i, p.call.Locations)
			}
		}
		s.withdrawAll("cancel")
	})
}

func TestRunOf(t *testing.T) {
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
		{"a null input", "execute", "make", `null`, "make", "/p", ""},
		{"a folder that is none", "execute", "x", `{"command":"make","cwd":7,"workdir":"sub"}`, "make", "/p/sub", ""},
		{"two folders", "execute", "x", `{"command":"make","cwd":"one","workdir":"two"}`, "make", "/p/one", ""},
		{"nothing", "execute", "", ``, "", "/p", "the agent does not say what it runs"},
		{"an edit", "edit", "Edit", `{"command":"str_replace","path":"a"}`, "", "/p", ""},
		{"a command that is called an edit", "edit", "Edit", `{"command":"rm a","path":"a"}`, "rm a", "/p", ""},
		{"no command", "read", "Read a", `{"path":"a"}`, "", "/p", ""},
		{"another type", "other", "x", `{"command":7}`, "", "/p", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Session{base: feature.Base{Folder: folder.Folder{Cwd: "/p"}}}
			got := s.runOf(&permission{call: session.ToolCall{Kind: session.ToolKind(c.kind), Title: c.title, RawInput: json.RawMessage(c.raw)}})
			if got.line() != c.line || got.dir != c.dir || got.doubt != c.doubt {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// The judge sees files as they are on the disk.
func TestJudgeFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"proj/src", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"proj/src/out": "../../other", "proj/src/new": "/nowhere/file", "link": "proj"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	j := &judge{
		rules: rules.List{Rules: []rules.Rule{{Paths: []string{"src/**"}, Action: rules.Allow}}},
		kept:  answers.Open(filepath.Join(dir, "answers.json")),
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
			got := j.judge(matter{
				cwd: cwd, call: session.ToolCall{Kind: session.KindEdit, Locations: []session.Location{{Path: c.path}}},
				options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}},
			})
			if got.optionID != c.want {
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
		got := j.judge(matter{cwd: dir + "/proj", call: call, options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}}})
		if got.optionID != "" {
			t.Errorf("%+v: %+v", call, got)
		}
	}
}

// A command that runs who knows where is allowed by no rule, nor for good; what is fetched is no file.
func TestJudgeOfPlacesElsewhere(t *testing.T) {
	dir := t.TempDir()
	j := &judge{
		rules: rules.List{Rules: []rules.Rule{{Commands: []string{"ls"}, Action: rules.Allow}, {Kinds: []string{"fetch", "edit"}, Action: rules.Allow}}},
		kept:  answers.Open(filepath.Join(dir, "answers.json")),
	}
	at := func(kind session.ToolKind, path string) session.ToolCall {
		return session.ToolCall{Kind: kind, Locations: []session.Location{{Path: path}}}
	}
	for name, c := range map[string]struct {
		matter matter
		want   string
		keeps  bool
	}{
		"here":             {matter{call: session.ToolCall{Kind: session.KindExecute}, run: run{script: "ls", dir: dir}}, "yes", true},
		"elsewhere":        {matter{call: session.ToolCall{Kind: session.KindExecute}, run: run{script: "ls", dir: "file://far/p"}}, "", false},
		"an address":       {matter{call: at(session.KindFetch, "https://example.org/a")}, "yes", false},
		"a file of others": {matter{call: at(session.KindFetch, "file://far/a")}, "", false},
		"another scheme":   {matter{call: at(session.KindEdit, "ssh://far/a")}, "", false},
	} {
		c.matter.cwd, c.matter.options = dir, []session.PermissionOption{{ID: "yes", Kind: "allow_once"}}
		got := j.judge(c.matter)
		if got.optionID != c.want || (got.question != nil) != c.keeps {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The files that stand in a command are those that an agent's names mean elsewhere.
func TestJudgeOfFilesInCommands(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"home", "proj", "other/sub"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../other/sub", dir+"/home/link"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", dir+"/home")
	j := &judge{kept: answers.Open(filepath.Join(dir, "answers.json")), rules: rules.List{
		Private: []string{"**/.env"},
		Rules: []rules.Rule{
			{Paths: []string{"/etc/**", dir + "/other/*"}, Action: rules.Reject},
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
		"file://" + dir + "/proj/.env":   "",
		"file://" + dir + "/proj/env":    "yes",
	} {
		got := j.judge(matter{
			cwd: dir + "/proj", call: session.ToolCall{Kind: session.KindExecute}, run: run{argv: []string{"curl", words}, dir: dir + "/proj"},
			options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}, {ID: "no", Kind: "reject_once"}},
		})
		if got.optionID != want {
			t.Errorf("curl %s: %+v", words, got)
		}
	}
}
