package permission

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// A request of version 2 may be about no tool call.
func TestRequestWithoutAToolCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newDesk(t)
		answer := "none"
		var snap rpc.Permission
		s.on(func() {
			s.Ask(session.PermissionRequest{
				Context: context.Background(), Title: "Use the network", Description: "To fetch *it*", Command: "curl x", Cwd: "/tmp",
				Options: []session.PermissionOption{{ID: "yes", Name: "Yes", Kind: "allow_once"}},
				Reply:   func(id string) { answer = id },
			})
			snap = s.snapshot(s.queue.pending[0])
			s.Respond(s.queue.pending[0].id, "yes")
		})
		want := rpc.Permission{
			ID: snap.ID, Session: 1, Title: "Use the network", Description: "To fetch *it*", Command: "curl x", Cwd: "/tmp",
			Options: []rpc.PermissionOption{{ID: "yes", Name: "Yes", Kind: "allow_once", Label: "Yes"}}, Allow: "yes",
			Heading: "Puppet wants to run a command", Lines: []string{"Use the network", "To fetch *it*", "$ curl x", "in /tmp"},
			Marks: snap.Marks,
		}
		check.Deep(t, snap, want, "it is %+v")
		if answer != "yes" || len(s.conv.Calls) > 0 {
			t.Errorf("answered %q, with %d calls", answer, len(s.conv.Calls))
		}
		s.on(func() {
			s.Ask(session.PermissionRequest{
				Context: context.Background(), Title: "Trust the folder", Reply: func(string) {},
			})
			snap = s.snapshot(s.queue.pending[0])
			s.WithdrawAll("cancel")
		})
		check.Deep(t, snap.Lines, []string{"Trust the folder"}, "the lines are %q")
	})
}

// What an agent says of a change is seen beside its diff too, a line for each.
func TestDescriptionBesideADiff(t *testing.T) {
	s := newDesk(t)
	text := "x\n"
	var brief []string
	s.on(func() {
		s.Ask(session.PermissionRequest{
			Context: context.Background(), Description: "One\ntwo\x1b[31m",
			Call: session.ToolCallPatch{ID: "c", Content: acp.Set([]session.ToolCallContent{
				session.Diff{Operation: session.OperationAdd, Path: s.dir + "/a", NewText: &text},
			})},
			Reply: func(string) {},
		})
		brief = s.snapshot(s.queue.pending[0]).Brief
		s.WithdrawAll("cancel")
	})
	if len(brief) != 3 || brief[0] != "One" || strings.ContainsAny(strings.Join(brief, ""), "\n\x1b") {
		t.Errorf("the lines are %q", brief)
	}
}

// A request that is withdrawn while the policy decides is neither answered by a rule
// nor shown, and those behind it are decided about.
func TestWithdrawnWhileDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newDesk(t)
		s.policy.Store(policy.New(rules.List{Rules: []rules.Rule{{Action: rules.Allow}}}, answers.Open(filepath.Join(t.TempDir(), "x"))))
		got := map[string]string{}
		request := func(ctx context.Context, name string) {
			s.Ask(session.PermissionRequest{
				Context: ctx, Call: session.ToolCallPatch{ID: name, Title: acp.Set(name)},
				Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}},
				Reply:   func(id string) { got[name] += "[" + id + "]" },
			})
		}
		s.on(func() {
			request(context.Background(), "one")
			request(context.Background(), "two")
			s.WithdrawAll("cancel")
			request(context.Background(), "three")
		})
		synctest.Wait()
		check.Deep(t, got, map[string]string{"one": "[]", "two": "[]", "three": "[yes]"}, "answered %v")
		if said := s.remarks(); strings.Count(said, "Allowed") != 1 {
			t.Errorf("the transcript says %q", said)
		}
		check.Deep(t, s.events, []string{"Resolved yes rule"}, "the events are %q")
	})
}

// What an agent asks in a turn that the user has cancelled, as it has not heard
// of that yet, is neither allowed by a rule nor put before the user.
func TestRequestsOfACancelledTurn(t *testing.T) {
	for _, list := range [][]rules.Rule{nil, {{Action: rules.Allow}}} {
		synctest.Test(t, func(t *testing.T) {
			s := newDesk(t)
			s.policy.Store(policy.New(rules.List{Rules: list}, answers.Open(filepath.Join(t.TempDir(), "x"))))
			var got []string
			s.on(func() {
				s.stopping = true
				s.Ask(session.PermissionRequest{
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
			s := newDesk(t)
			s.on(func() {
				s.apply(told)
				s.Observe(told)
				c.says.ID = "c"
				s.Ask(session.PermissionRequest{Context: context.Background(), Call: c.says, Reply: func(string) {}})
				p := s.queue.pending[0]
				inChat := c.content
				if !c.says.Content.IsZero() {
					inChat = c.says.Content.Or(nil)
				}
				if got := s.conv.ToolCall("c").Content; len(got) != len(inChat) || len(got) > 0 && !reflect.DeepEqual(got, inChat) {
					t.Errorf("the call has %v", got)
				}
				check.Equal(t, p.command.Line(), c.command, "the command is %q")
				check.Deep(t, p.call.Content, c.content, "the content is %v")
				if got := p.call.Locations; len(got) != 1 || got[0].Path != c.place {
					t.Errorf("the places are %v", got)
				}

				// What the agent tells of the call later is not what was asked.
				later := session.ToolCallPatch{ID: "c", Content: acp.Set(diff(&text)), Locations: acp.Set([]session.Location{{Path: "/later"}}), RawInput: acp.Set(json.RawMessage(`{"command":"make later"}`))}
				s.apply(later)
				s.Observe(later)
				if !reflect.DeepEqual(p.call.Content, c.content) || p.call.Locations[0].Path != c.place || bytes.Contains(p.call.RawInput, []byte("later")) {
					t.Errorf("later it is about %v at %v, with %s", p.call.Content, p.call.Locations, p.call.RawInput)
				}
				s.WithdrawAll("cancel")
			})
		})
	}

	// But where it was about nothing, what is told then is what it is about.
	s := newDesk(t)
	s.on(func() {
		request := func() *request {
			s.Ask(session.PermissionRequest{Context: context.Background(), Call: session.ToolCallPatch{ID: "c"}, Reply: func(string) {}})
			return s.queue.pending[len(s.queue.pending)-1]
		}
		one := request()
		s.apply(told)
		s.Observe(told)
		if !reflect.DeepEqual(one.call.Content, diff(&text)) || len(one.call.Locations) != 1 || len(s.diffs.Changes(&one.call)) != 1 {
			t.Errorf("it is about %v at %v", one.call.Content, one.call.Locations)
		}
		s.WithdrawAll("cancel")
	})
}

// What a request alone has told of a call is not the next one's, unless the agent tells of the call too, or the next one
// says nothing.
func TestOneIDForAllRequests(t *testing.T) {
	empty := ""
	for _, tells := range []bool{false, true} {
		for name, says := range map[string]session.ToolCallPatch{
			"a title":   {Title: acp.Set("Two")},
			"an input":  {RawInput: acp.Set(json.RawMessage(`{"command":"make two"}`))},
			"a content": {Content: acp.Set([]session.ToolCallContent{session.Diff{Path: "/a", NewText: &empty}})},
		} {
			s := newDesk(t)
			s.on(func() {
				ask := func(patch session.ToolCallPatch) *request {
					patch.ID = "c"
					s.Ask(session.PermissionRequest{Context: context.Background(), Call: patch, Reply: func(string) {}})
					return s.queue.pending[len(s.queue.pending)-1]
				}
				is := func(p *request, title, command bool) {
					t.Helper()
					if (p.call.Title == "One") != title || (p.command.Line() == "make one") != command {
						t.Errorf("after one that says %s it is about %q, %q; the agent has told of it: %v", name, p.call.Title, p.command.Line(), tells)
					}
				}
				ask(session.ToolCallPatch{Title: acp.Set("One"), RawInput: acp.Set(json.RawMessage(`{"command":"make one"}`))})
				if tells {
					u := session.ToolCallPatch{ID: "c", Status: acp.Set(session.StatusInProgress)}
					s.apply(u)
					s.Observe(u)
				}
				is(ask(session.ToolCallPatch{}), true, true)
				for _, patch := range []session.ToolCallPatch{says, {}} {
					is(ask(patch), tells && says.Title.IsZero(), tells && says.RawInput.IsZero())
				}
				s.WithdrawAll("cancel")
			})
		}
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
		s := newDesk(t)
		s.on(func() {
			told := session.ToolCallPatch{ID: "c", Kind: acp.Set(session.KindSwitchMode), Content: text("plan")}
			s.apply(told)
			s.Observe(told)
			s.Ask(session.PermissionRequest{Context: context.Background(), Call: session.ToolCallPatch{ID: "c", Content: c.says}, Reply: func(string) {}})
			for _, got := range [][]session.ToolCallContent{s.conv.ToolCall("c").Content, s.queue.pending[0].call.Content} {
				check.Deep(t, got, c.want.Or(nil), "the plan is %v")
			}
			s.WithdrawAll("cancel")
		})
	}
}

// Of several requests about one call each is about what it said itself.
func TestSeveralRequestsAboutACall(t *testing.T) {
	s := newDesk(t)
	s.on(func() {
		for range 2 {
			s.Ask(session.PermissionRequest{Context: context.Background(), Call: session.ToolCallPatch{ID: "c"}, Reply: func(string) {}})
		}
		later := session.ToolCallPatch{ID: "c", Locations: acp.Set([]session.Location{{Path: "/later"}})}
		s.apply(later)
		s.Observe(later)
		for i, p := range s.queue.pending {
			if len(p.call.Locations) > 0 {
				t.Errorf("%d is about %v", i, p.call.Locations)
			}
		}
		s.WithdrawAll("cancel")
	})
}
