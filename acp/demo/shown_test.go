package demo

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/v2"
	"github.com/acp-nvim/acp-nvim/acp/wire"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// shownCall is a tool call as its updates have left it.
type shownCall struct{ kind, title, status, at, input string }

// change takes over what an update says.
func (c *shownCall) change(kind, title, status, input string, at []wire.ToolCallLocation) {
	for to, from := range map[*string]string{&c.kind: kind, &c.title: title, &c.status: status, &c.input: input} {
		if from != "" {
			*to = from
		}
	}
	for _, l := range at {
		c.at = strings.TrimSuffix(fmt.Sprint(filepath.Base(l.Path), ":", l.Line.Or(0)), ":0")
	}
}

func (c *shownCall) String() string {
	return strings.TrimRight(strings.Join([]string{c.kind, c.title, c.status, c.input, c.at}, "; "), "; ")
}

// shownCalls collects calls in the order in which they came.
type shownCalls struct {
	byID map[wire.ToolCallID]*shownCall
	all  []*shownCall
}

func (s *shownCalls) of(id wire.ToolCallID) *shownCall {
	if s.byID == nil {
		s.byID = map[wire.ToolCallID]*shownCall{}
	}
	if s.byID[id] == nil {
		s.byID[id] = &shownCall{}
		s.all = append(s.all, s.byID[id])
	}
	return s.byID[id]
}

// lines are the calls in words, where the folder is named DIR.
func (s *shownCalls) lines(dir string) (lines []string) {
	for _, c := range s.all {
		lines = append(lines, strings.ReplaceAll(c.String(), dir, "DIR"))
	}
	return lines
}

// What the agent does looks the same in both versions: each call has a kind, a title and what it is about.
func TestCallsThatAreShown(t *testing.T) {
	const demo = `{"demo":true}`
	for prompt, want := range map[string][]string{
		"tour": {
			`read; Read README.md; completed; {"path":"DIR/README.md"}; README.md`,
			`edit; Put a note into README.md; completed; {"path":"DIR/README.md"}; README.md:2`,
			`execute; sh test.sh; completed; {"command":"sh test.sh","cwd":"DIR"}`,
		},
		"tools": {
			"read; Read nothing; completed; " + demo, "search; Search for `needle`; completed; " + demo,
			"edit; Edit made-up.lua; completed; " + demo, "delete; Delete made-up.txt; completed; " + demo,
			"move; Move made-up.txt to elsewhere.txt; completed; " + demo, "execute; make believe; failed; " + demo,
			"think; Think about it; completed; " + demo, "fetch; Fetch a page; completed; " + demo,
			"switch_mode; Stay in this mode; completed; " + demo, "other; Do something else; completed; " + demo,
		},
		"parallel": {`execute; true; completed; {"command":"true"}`, "edit; Edit nothing; completed"},
	} {
		dir, readme := project(t)
		first := connect(t, dir, all)
		first.files[readme] = "# Saved\n"
		first.prompt(prompt)
		var inV1, inV2 shownCalls
		for _, n := range first.updates {
			switch u := n.Update.(type) {
			case *v1.ToolCall:
				at, _ := u.Locations.Get()
				inV1.of(u.ToolCallID).change(string(u.Kind.Or("")), u.Title, string(u.Status.Or("")), string(u.RawInput.Or(nil)), at)
			case *v1.ToolCallUpdate:
				inV1.of(u.ToolCallID).change("", "", string(u.Status.Or("")), "", nil)
			}
		}
		check.Slice(t, inV1.lines(dir), want, prompt+": in version 1 the calls are\n%q")

		second := connectV2(t, dir)
		must.Do(t, must.Receive(t, "the answer", second.prompt(prompt)))
		for idle := false; !idle; {
			switch u := must.Receive(t, "the end of the turn", second.updates).(type) {
			case *v2.ToolCallUpdate:
				at, _ := u.Locations.Get()
				inV2.of(u.ToolCallID).change(string(u.Kind.Or("")), u.Title.Or(""), string(u.Status.Or("")), string(u.RawInput.Or(nil)), at)
			case *v2.StateUpdate:
				idle = u.State == v2.StateIdle
			}
		}
		check.Slice(t, inV2.lines(dir), want, prompt+": in version 2 the calls are\n%q")
	}
}

// The user may answer a request for once or for the session, which says what for, in both versions.
func TestOptionsThatAreShown(t *testing.T) {
	dir, readme := project(t)
	first, second := connect(t, dir, all), connectV2(t, dir)
	first.files[readme] = "text"
	for prompt, what := range map[string]string{"edit": "edits", "run": "commands"} {
		first.forget()
		first.prompt(prompt)
		must.Do(t, must.Receive(t, "the answer", second.prompt(prompt)))
		second.story()
		inV2 := must.Receive(t, "the question", second.asked)
		check.Equal(t, first.asked[0].SessionID+" "+inV2.SessionID, first.session+" "+second.session, "they are asked in %s")
		kind := map[string]wire.ToolKind{"edit": wire.ToolEdit, "run": wire.ToolExecute}[prompt]
		check.Equal(t, first.asked[0].ToolCall.Kind.Or(""), kind, "asked about is %s")
		check.Equal(t, first.asked[0].ToolCall.Status.Or(""), v1.ToolPending, "its call is %s")
		for version, options := range map[int][]wire.PermissionOption{1: first.asked[0].Options, 2: inV2.Options} {
			var got []string
			for _, o := range options {
				got = append(got, string(o.OptionID)+" "+o.Name)
			}
			check.Slice(t, got, []string{
				"allow_once Yes", "allow_always Yes, and all " + what + " in this session",
				"reject_once No", "reject_always No, and no " + what + " in this session",
			}, fmt.Sprintf("%s: in version %d offered are %%q", prompt, version))
		}
	}
}

// Plans, notices and what is in no schema say the same in both versions.
func TestOtherUpdatesThatAreShown(t *testing.T) {
	inV1 := func(c *client, prompt string) (got []string) {
		c.prompt(prompt)
		for _, p := range of[*v1.Plan](c)[:min(1, len(of[*v1.Plan](c)))] {
			for _, e := range p.Entries {
				got = append(got, fmt.Sprint(e.Content, " ", e.Priority, " ", e.Status))
			}
		}
		for _, n := range of[*v1.Notice](c) {
			got = append(got, strings.TrimSpace(fmt.Sprint(n.Severity, " ", n.Title, " ", n.Description)))
		}
		for _, u := range of[*v1.Unknown](c) {
			got = append(got, string(u.Raw))
		}
		return got
	}
	inV2 := func(c *clientV2, prompt string) (got []string) {
		must.Do(t, must.Receive(t, "the answer", c.prompt(prompt)))
		plans := 0
		for {
			switch u := must.Receive(t, "the end of the turn", c.updates).(type) {
			case *v2.PlanUpdate:
				if plans++; plans > 1 {
					continue
				}
				check.Equal(t, u.Plan.Type, "items", "the plan is of the type %s")
				for _, e := range u.Plan.Entries {
					got = append(got, fmt.Sprint(e.Content, " ", e.Priority, " ", e.Status))
				}
			case *v2.Notice:
				got = append(got, strings.TrimSpace(fmt.Sprint(u.Severity, " ", u.Title, " ", u.Description)))
			case *v2.Unknown:
				got = append(got, string(u.Raw))
			case *v2.StateUpdate:
				if u.State == v2.StateIdle {
					return got
				}
			}
		}
	}
	dir, _ := project(t)
	for prompt, want := range map[string][]string{
		"plan": {"Read a file high in_progress", "Propose a change medium pending", "Run the tests low pending"},
		"notice": {
			"info For your information This is a demo.", "warning Beware Nothing is as it seems.", "error Nothing has gone wrong",
		},
		"unknown": {`{"sessionUpdate":"_demo/weather","forecast":"sunny"}`},
	} {
		check.Slice(t, inV1(connect(t, dir, all), prompt), want, prompt+": in version 1 shown is %q")
		check.Slice(t, inV2(connectV2(t, dir), prompt), want, prompt+": in version 2 shown is %q")
	}
}
