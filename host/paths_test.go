package host

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/followalong"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/follow"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// listening takes the patches of calls that an adapter translates.
type listening struct {
	session.Client
	heard []session.ToolCallPatch
}

func (l *listening) Update(_ string, u session.Update) {
	l.heard = append(l.heard, u.(session.ToolCallPatch))
}

// onTheWire are calls that name a file in each of the ways there are, as an agent tells them.
func onTheWire(t *testing.T, file string) map[string]session.ToolCallPatch {
	name, _ := json.Marshal(file)
	told := map[string]session.ToolCallPatch{}
	call := func(way string, to func(session.Client) acp.Handler, fields string) {
		l := &listening{}
		to(l).HandleNotification("session/update", json.RawMessage(
			`{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"edit",`+strings.ReplaceAll(fields, "FILE", string(name))+`}}`))
		if len(l.heard) != 1 {
			t.Fatalf("%s: heard %+v", way, l.heard)
		}
		told[way] = l.heard[0]
	}
	v1 := func(c session.Client) acp.Handler { return session.NewV1(c, "test", nil) }
	v2 := func(c session.Client) acp.Handler { return session.NewV2(c) }
	call("a location", v1, `"locations":[{"path":FILE}]`)
	call("a location of version 2", v2, `"locations":[{"path":FILE}]`)
	call("a diff", v1, `"content":[{"type":"diff","path":FILE,"newText":"x"}]`)
	call("a diff of version 2", v2, `"content":[{"type":"diff","changes":[{"operation":"modify","path":FILE}]}]`)
	call("a raw input", v1, `"rawInput":{"path":FILE}`)
	call("changes", v2, `"rawInput":{"changes":{FILE:{"type":"update"}}}`)
	return told
}

// Whoever goes by the files that an agent names means the same ones: the user's rules, the policy of paths,
// the record of changes, what the agent knows, and the window that follows.
func TestWhichFileAnAgentMeans(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	for _, d := range []string{"home", "proj/sub", "other/sub"} {
		must.Do(t, os.MkdirAll(filepath.Join(dir, d), 0o777))
	}
	must.Do(t, os.Symlink("../other/sub", dir+"/proj/link"))
	t.Setenv("HOME", dir+"/home")
	kept := answers.Open(dir + "/answers.json")
	deciding := func(list ...rules.Rule) *policy.Policy { return policy.New(rules.List{Rules: list}, kept) }
	system := rules.Rule{Kinds: []string{"edit"}, Paths: []string{"/etc/**"}, Action: rules.Reject}
	project := deciding(system, rules.Rule{Kinds: []string{"edit"}, Paths: []string{"**"}, Action: rules.Allow})
	careless := deciding(system, rules.Rule{Kinds: []string{"edit"}, Action: rules.Allow})
	options := []session.PermissionOption{{ID: "yes", Kind: "allow_once"}, {ID: "no", Kind: "reject_once"}}

	for name, want := range map[string]string{ // the file without links, "" for none
		"/etc/passwd":                        "/etc/passwd",
		"DIR/proj/a":                         "DIR/proj/a",
		"DIR/proj/link/../a":                 "DIR/other/a",
		"DIR/proj/sub/../../a":               "DIR/a",
		"a":                                  "DIR/proj/a",
		"./sub/../a":                         "DIR/proj/a",
		"link/../a":                          "DIR/other/a",
		"../a":                               "DIR/a",
		"~/a":                                "DIR/home/a",
		"~a/b":                               "DIR/proj/~a/b",
		"file:///etc/passwd":                 "/etc/passwd",
		"FILE:///etc/passwd":                 "/etc/passwd",
		"file:/etc/passwd":                   "/etc/passwd",
		"file:////etc/passwd":                "/etc/passwd",
		"file://LOCALHOST/etc/passwd":        "/etc/passwd",
		"file:///%65tc/passwd":               "/etc/passwd",
		"file://DIR/proj/..%2f..%2Fx":        "",
		"file:///DIR/proj/sub%2F..%2F..%2fa": "DIR/a",
		"file:///DIR/proj/a%20b":             "DIR/proj/a b",
		"file:///DIR/proj/a#L7":              "DIR/proj/a",
		"file://host/etc/passwd":             "",
		"file://hostDIR/proj/a":              "",
		"file:///etc/passwd%zz":              "",
		"file:///etc/%00passwd":              "",
		"file:etc/passwd":                    "",
		"file:///C:/a":                       "",
		`C:\a`:                               "",
		"C:/a":                               "",
		"vscode-remote://host/etc/passwd":    "",
	} {
		if strings.HasPrefix(name, "file://DIR") {
			name = strings.Replace(name, "DIR", "proj", 1) // an authority
		}
		name, want := strings.ReplaceAll(name, "DIR", dir), strings.ReplaceAll(want, "DIR", dir)
		inProject := strings.HasPrefix(want, dir+"/proj/")
		var files []string
		if want != "" {
			files = []string{want}
		}
		real := func(paths []string) (found []string) {
			for _, path := range paths {
				real, err := buffers.RealPath(path)
				if err != nil {
					t.Errorf("%q: %v", name, err)
				}
				found = append(found, real)
			}
			return found
		}
		for way, patch := range onTheWire(t, name) {
			if strings.Contains(name, "://") && !strings.HasPrefix(strings.ToLower(name), "file:") && !strings.Contains(way, "location") && !strings.Contains(way, "diff") && way != "changes" {
				continue // an address, not a file
			}
			s := sessionIn(t, dir+"/proj")
			s.phase = ready
			s.host.policy.Store(project)
			s.on(func() { s.conv.Apply(patch) })
			call := s.conv.ToolCall("c")

			// The rules.
			r := policy.Request{Cwd: s.base.Cwd, Call: *call, Options: options}
			exact := deciding(rules.Rule{Kinds: []string{"edit"}, Paths: []string{want}, Action: rules.Allow})
			if got := exact.Decide(r).OptionID; want != "" && got != "yes" {
				t.Errorf("%q in %s: a rule for %q answers %q", name, way, want, got)
			}
			careful, blind := "", ""
			switch {
			case strings.HasPrefix(want, "/etc/"):
				careful, blind = "no", "no"
			case inProject:
				careful, blind = "yes", "yes"
			case want != "":
				blind = "yes"
			}
			check.Equal(t, project.Decide(r).OptionID, careful,
				"%q in %s: a rule for the project answers %q", name, way)
			check.Equal(t, careless.Decide(r).OptionID, blind, "%q in %s: a rule for all edits answers %q", name, way)

			// The record, and what the agent knows.
			check.Slice(t, real(session.AllAbsolute(call.Files().Changed, s.base.Absolute)), files,
				"%q in %s: the record looks at %q", name, way)
			check.Slice(t, real(session.AllAbsolute(call.Files().Named, s.base.Absolute)), files,
				"%q in %s: the agent knows %q", name, way)

			// The window that follows, by locations and diffs.
			if strings.Contains(way, "location") || strings.Contains(way, "diff") {
				window := &firstPlace{}
				base := s.base
				base.Cwd = dir + "/proj"
				follow.NewTracer(base, window, func() bool { return true }).Observe(call)
				var seen []string
				if window.path != "" {
					seen = append(seen, window.path)
				}
				check.Slice(t, real(seen), files, "%q in %s: the window shows %q", name, way)
			}
		}

		// The policy, of a read through the client.
		s := sessionIn(t, dir+"/proj")
		path, _ := s.base.Absolute(session.LocalPath(name))
		found, err := buffers.RealPath(path)
		if found != want || (err == nil) != (want != "") {
			t.Errorf("%q: a read is of %q, %v, expected %q", name, found, err, want)
		}
		check.Equal(t, s.permission.FileAccess(session.KindRead, rules.Path{Given: path, Real: found}).Free, inProject,
			"%q: a read is free: %v", name)
	}
}

// firstPlace keeps the first file at which an agent works.
type firstPlace struct{ path string }

func (f *firstPlace) See(p followalong.Place)  { f.path = cmp.Or(f.path, p.Path) }
func (f *firstPlace) Edited(path, _, _ string) {}
