package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// The rules come from Lua: what is in force is what it has sent, and nothing of it where there is a mistake. Lasting
// answers that hold for an open session stay when the rules are others.
func TestRulesFromLua(t *testing.T) {
	dir := t.TempDir()
	rule := rpc.Rule{Kinds: []string{"read"}, Paths: []string{"a"}, Commands: []string{"ls"}, Agents: []string{"puppet"}, Tools: []string{"one/get"}, Action: "allow"}
	p, err := Set(rpc.SetRules{Rules: []rpc.Rule{rule, {Action: "ask"}}, Private: []string{"**/.env"}, File: filepath.Join(dir, "answers")}, nil)
	want := []rules.Rule{
		{Kinds: rule.Kinds, Paths: rule.Paths, Commands: rule.Commands, Agents: rule.Agents, Tools: rule.Tools, Action: rules.Allow},
		{Action: rules.Ask},
	}
	if err != nil || !reflect.DeepEqual(p.rules, rules.List{Rules: want, Private: []string{"**/.env"}}) || p.AnswersDir() != dir {
		t.Errorf("in force is %+v, answers in %s, %v", p.rules, p.AnswersDir(), err)
	}

	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.Local)
	for i, a := range []answers.Answer{
		{Question: answers.Question{Agent: "puppet", Project: dir + "\x1b[m", Command: "make", Dir: dir + "\x1b[m"}, Allow: true},
		{Question: answers.Question{Agent: "puppet", Project: dir, Kind: "edit", Paths: []string{dir + "/a"}}, Session: 7},
	} {
		a.At = at.AddDate(0, 0, i)
		must.Do(t, p.Keep(a))
	}
	wrong, err := Set(rpc.SetRules{Rules: []rpc.Rule{rule, {Action: "perhaps"}}, Private: []string{"*.key"}, File: filepath.Join(dir, "others")}, p)
	if err == nil || !strings.Contains(err.Error(), "permissions[2]") {
		t.Errorf("the mistake is told as %v", err)
	}
	check.Deep(t, wrong.rules, rules.List{Private: []string{"*.key"}}, "with a mistake in force is %+v")
	list, err := p.List()
	if err != nil || len(list.Rules) != 2 || len(list.Answers) != 2 {
		t.Fatalf("listed are %+v, %v", list, err)
	}
	if got := list.Rules[0]; got.Action != "allow" || got.What != "agent puppet, kind read, path a, command ls, tool one/get" {
		t.Errorf("a rule is listed as %+v", got)
	}
	for i, want := range []rpc.LastingAnswer{
		{Action: "allow", Agent: "puppet", Project: styled.VisibleText(dir + "\x1b[m"), What: "make", At: "2026-05-04"},
		{Action: "reject", Agent: "puppet", Project: dir, What: "edit a", At: "2026-05-05", Session: 7},
	} {
		got := list.Answers[i]
		if want.ID = got.ID; got != want || got.ID == "" || strings.Contains(got.Project, "\x1b") {
			t.Errorf("an answer is listed as %+v, want %+v", got, want)
		}
		must.Do(t, wrong.Revoke(got.ID))
	}
	if list, err := p.List(); err != nil || len(list.Answers) != 0 {
		t.Errorf("revoked, listed are %+v, %v", list, err)
	}
}

// An answer about a project's MCP servers holds for their file as it is, in that folder.
func TestAnswersAboutServers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"one", "two"} {
		must.Do(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	one := filepath.Join(dir, "one")
	must.Do(t, os.Symlink("one", filepath.Join(dir, "link")))
	p := New(rules.List{}, answers.Open(filepath.Join(dir, "answers")))
	for _, allow := range []bool{true, false} {
		must.Do(t, p.KeepServers(one, []byte("{}"), allow))
		for name, c := range map[string]struct {
			cwd, text string
			known     bool
		}{
			"the same":                {one, "{}", true},
			"by another name":         {filepath.Join(dir, "link"), "{}", true},
			"another text":            {one, "{ }", false},
			"another folder":          {filepath.Join(dir, "two"), "{}", false},
			"a folder that cannot be": {one + "\x00", "{}", false},
		} {
			if allowed, known := p.ServersAllowed(c.cwd, []byte(c.text)); known != c.known || allowed != (c.known && allow) {
				t.Errorf("%s: allowed %v, known %v", name, allowed, known)
			}
		}
		list, err := p.List()
		if err != nil || len(list.Answers) != 1 || list.Answers[0].What != "the MCP servers of .mcp.json" || list.Answers[0].At != time.Now().Format(time.DateOnly) {
			t.Errorf("listed are %+v, %v", list, err)
		}
	}
	if err := p.KeepServers(one+"\x00", []byte("{}"), true); err == nil {
		t.Error("an answer about a folder that cannot be is kept")
	}
}

// Decisions say what they come from. A rule that asks is above a lasting answer; one that no answer of the agent's fits
// leaves it to the user, and says so.
func TestWhatDecides(t *testing.T) {
	dir := t.TempDir()
	once := []session.PermissionOption{{ID: "yes", Kind: "allow_once"}, {ID: "no", Kind: "reject_once"}}
	always := []session.PermissionOption{{ID: "ever", Name: "Ever", Kind: "allow_always"}, {ID: "never", Name: "Never", Kind: "reject_always"}}
	for name, c := range map[string]struct {
		rules   []rules.Rule
		kept    *answers.Answer
		options []session.PermissionOption
		want    string
		remark  string // part of it
		why     string // part of it
	}{
		"nothing":                  {nil, nil, once, "", "", ""},
		"allowed":                  {[]rules.Rule{{Action: rules.Allow}}, nil, once, "yes", "Allowed by your rule 1: everything", ""},
		"allowed to this agent":    {[]rules.Rule{{Agents: []string{"puppet"}, Action: rules.Allow}}, nil, once, "yes", "Allowed by your rule 1: agent puppet", ""},
		"allowed to another agent": {[]rules.Rule{{Agents: []string{"marionette"}, Action: rules.Allow}}, nil, once, "", "", ""},
		"rejected":                 {[]rules.Rule{{Action: rules.Reject}}, nil, once, "no", "Rejected by your rule 1: everything", ""},
		"allowed, with no answer":  {[]rules.Rule{{Action: rules.Allow}}, nil, once[1:], "", "", "rule 1 would allow it, but the agent offers no such answer"},
		"rejected, with no answer": {[]rules.Rule{{Action: rules.Reject}}, nil, once[:1], "", "", "rule 1 would reject it, but the agent offers no such answer"},
		"allowed, by an id of two": {[]rules.Rule{{Action: rules.Allow}}, nil, []session.PermissionOption{{ID: "yes", Kind: "allow_once"}, {ID: "yes", Kind: "reject_once"}}, "", "", "no such answer"},
		"answered yes":             {nil, &answers.Answer{Allow: true, OptionID: "ever", Name: "Ever"}, always, "ever", `Allowed, as you answered "Ever" on `, ""},
		"answered no":              {nil, &answers.Answer{OptionID: "never", Name: "Never"}, always, "never", `Rejected, as you answered "Never" on `, ""},
		"answered by another word": {nil, &answers.Answer{Allow: true, OptionID: "ever", Name: "Sometimes"}, slices.Concat(once, always), "yes", "Allowed, as", ""},
		"answered as nobody asks":  {nil, &answers.Answer{Allow: true, OptionID: "ever", Name: "Ever"}, once[1:], "", "", ""},
		"a rule asks":              {[]rules.Rule{{Action: rules.Ask}}, &answers.Answer{Allow: true, OptionID: "ever", Name: "Ever"}, always, "", "", "rule 1 asks"},
	} {
		kept := answers.Open(filepath.Join(dir, strings.ReplaceAll(name, " ", "_")))
		p := New(rules.List{Rules: c.rules}, kept)
		r := Request{Agent: "puppet", Cwd: dir, Options: c.options, Call: session.ToolCall{Kind: session.KindExecute}, Command: Command{script: "make", Dir: dir}}
		if c.kept != nil {
			a := *c.kept
			a.Question, a.At = *r.question(r.onDisk()), time.Now()
			must.Do(t, p.Keep(a))
		}
		d := p.Decide(r)
		if d.OptionID != c.want || !strings.Contains(d.Remark, c.remark) || c.remark == "" && d.Remark != "" || !strings.Contains(d.Why, c.why) || d.Err != nil {
			t.Errorf("%s: %+v", name, d)
		}
	}

	// A file of answers that cannot be read is told, and the user asked.
	p := New(rules.List{}, answers.Open(dir))
	r := Request{Cwd: dir, Options: once, Call: session.ToolCall{Kind: session.KindExecute}, Command: Command{script: "make", Dir: dir}}
	_, err := p.List()
	if d := p.Decide(r); d.Err == nil || d.OptionID != "" || err == nil {
		t.Errorf("without a file of answers: %+v, listed with %v", d, err)
	}
	if p.Keep(answers.Answer{}) == nil || p.Revoke("x") == nil || p.KeepServers(dir, nil, true) == nil {
		t.Error("it is not said that nothing was kept")
	}

	// A command that the agent does not say is none that a rule could allow, and may be one that an earlier rule rejects.
	for _, list := range [][]rules.Rule{
		{{Commands: []string{"make"}, Action: rules.Allow}},
		{{Commands: []string{"rm **"}, Action: rules.Reject}, {Kinds: []string{"execute"}, Action: rules.Allow}},
	} {
		p = New(rules.List{Rules: list}, answers.Open(filepath.Join(dir, "none")))
		for doubt, want := range map[string]string{"": "yes", "the agent does not say what it runs": ""} {
			r.Command.doubt = doubt
			check.Equal(t, p.Decide(r).OptionID, want, "by %v, with the doubt %q, it is answered %q", list, doubt)
		}
	}
}

// The client's own question says by itself where a file is and that it is private, so only a rule has more to say.
func TestWhyAFileIsAskedAbout(t *testing.T) {
	dir := t.TempDir()
	p := New(rules.List{Private: []string{"**/.env"}, Rules: []rules.Rule{
		{Paths: []string{"ask/*"}, Action: rules.Ask}, {Kinds: []string{"read"}, Action: rules.Allow},
	}}, answers.Open(filepath.Join(dir, "answers")))
	for name, c := range map[string]struct{ ours, agents string }{
		"ask/x": {"rule 1 asks", "rule 1 asks"},
		".env":  {"", "`" + dir + "/.env` is private"},
	} {
		path := filepath.Join(dir, name)
		r := Request{Cwd: dir, Call: session.ToolCall{Kind: session.KindRead}, File: rules.Path{Given: path, Real: path}}
		check.Equal(t, p.Decide(r).Why, c.ours, "the client asks about %s as %q", name)
		r.File, r.Call.Locations = rules.Path{}, []session.Location{{Path: path}}
		check.Equal(t, p.Decide(r).Why, c.agents, "the agent asks about %s as %q", name)
	}
}

// An answer lasts where the option that was chosen says so, and means one thing.
func TestWhichAnswersLast(t *testing.T) {
	q := &answers.Question{Agent: "puppet", Command: "make"}
	for name, c := range map[string]struct {
		question *answers.Question
		chosen   session.PermissionOption
		other    session.PermissionOption
		lasts    bool
		session  int
	}{
		"always":                   {q, session.PermissionOption{ID: "a", Name: "Always", Kind: "allow_always"}, session.PermissionOption{}, true, 0},
		"never":                    {q, session.PermissionOption{ID: "a", Name: "Never", Kind: "reject_always"}, session.PermissionOption{}, true, 0},
		"for the session":          {q, session.PermissionOption{ID: "a", Name: "Allow (this Session)", Kind: "allow_always"}, session.PermissionOption{}, true, 3},
		"for all sessions":         {q, session.PermissionOption{ID: "a", Name: "Allow for sessions", Kind: "allow_always"}, session.PermissionOption{}, true, 0},
		"once":                     {q, session.PermissionOption{ID: "a", Name: "Once", Kind: "allow_once"}, session.PermissionOption{}, false, 0},
		"about nothing":            {nil, session.PermissionOption{ID: "a", Kind: "allow_always"}, session.PermissionOption{}, false, 0},
		"an id of two":             {q, session.PermissionOption{ID: "a", Kind: "allow_always"}, session.PermissionOption{ID: "a", Kind: "reject_once"}, false, 0},
		"an id of two of its kind": {q, session.PermissionOption{ID: "a", Kind: "allow_always"}, session.PermissionOption{ID: "a", Kind: "allow_always"}, true, 0},
		"without an id":            {q, session.PermissionOption{Kind: "allow_always"}, session.PermissionOption{ID: "b"}, false, 0},
	} {
		r := Request{Session: 3, Options: []session.PermissionOption{c.chosen, c.other}}
		a, ok := Decision{Question: c.question}.Lasting(r, c.chosen)
		if ok != c.lasts || a.Session != c.session {
			t.Errorf("%s: %v, %+v", name, ok, a)
		}
		if ok && (a.Command != "make" || a.Allow != (c.chosen.Kind == "allow_always") || a.OptionID != "a" || a.Name != c.chosen.Name || time.Since(a.At) > time.Hour) {
			t.Errorf("%s: kept is %+v", name, a)
		}
	}
}

// An input of no words is empty, however it is written, and no other one.
func TestEmptyInput(t *testing.T) {
	for raw, want := range map[string]bool{
		"": true, "{}": true, " {\n\t}": true, "null": true, "[]": true, "[ ]": true, strings.Repeat(" ", 62) + "{}": true,
		strings.Repeat(" ", 63) + "{}": false, "0": false, "[0]": false, `""`: false, `{"a":1}`: false, "false": false,
		`{"command":"` + strings.Repeat("x", 50) + `"}`: false,
	} {
		check.Equal(t, EmptyInput(json.RawMessage(raw)), want, "%q of %d bytes: %v", raw, len(raw))
	}
}

// What an answer is about is said in words.
func TestAnswersInWords(t *testing.T) {
	for want, q := range map[string]answers.Question{
		"tool one/get": {Kind: "other", MCP: "one/get", Project: "/p"},
		"make":         {Kind: "execute", Command: "make", Dir: "/p", Project: "/p"},
		"make  in /q":  {Kind: "execute", Command: "make", Dir: "/q", Project: "/p"},
		"fetch Get it": {Kind: "fetch", Title: "Get it", Project: "/p"},
		"read a, /q/b": {Kind: "read", Paths: []string{"/p/a", "/q/b"}, Project: "/p"},
		"edit Edit x":  {Kind: "edit", Title: "Edit x", Paths: []string{"/p/a"}, Project: "/p"},
	} {
		check.Equal(t, describe(q), want, "%+v is %q", q)
	}
}

// A mistake in the first rules is told as one in later ones is.
func TestAMistakeInTheFirstRules(t *testing.T) {
	if p, err := Set(rpc.SetRules{Rules: []rpc.Rule{{Action: "perhaps"}}, File: filepath.Join(t.TempDir(), "answers")}, nil); err == nil || len(p.rules.Rules) > 0 {
		t.Errorf("in force is %+v, %v", p.rules, err)
	}
}

// An answer about an edit of no named tool holds for that tool by its title, unless the title names the file: then it may
// describe the change too.
func TestTitlesOfEdits(t *testing.T) {
	proj := t.TempDir()
	for _, c := range []struct{ tool, title, want string }{
		{"", "mcp change", "mcp change"}, {"", "Edit x: a => b", ""}, {"Edit", "mcp change", ""},
	} {
		call := session.ToolCall{Kind: session.KindEdit, Name: c.tool, Title: c.title, Content: []session.ToolCallContent{session.Diff{Path: "x"}}}
		r := Request{Cwd: proj, Call: call}
		if q := r.question(r.onDisk()); q == nil || q.Title != c.want {
			t.Errorf("%q by %q: %+v", c.title, c.tool, q)
		}
	}
}
