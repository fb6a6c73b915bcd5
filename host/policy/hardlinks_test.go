package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A private file is private under any name that it has.
func TestHardLinksToPrivateFiles(t *testing.T) {
	dir, err := buffers.RealPath(t.TempDir())
	must.Do(t, err)
	proj, other := dir+"/proj", dir+"/other"
	for _, folder := range []string{proj + "/sub", other, dir + "/keys"} {
		must.Do(t, os.MkdirAll(folder, 0o777))
	}
	link := func(from, to string) {
		t.Helper()
		must.Do(t, os.Link(from, to))
	}
	private := must.Write(t, proj+"/sub", ".env", "KEY=1\n")
	key := must.Write(t, dir+"/keys", "id", "1\n")
	must.Write(t, proj, "one", "")
	must.Write(t, proj, "two", "")
	link(proj+"/two", proj+"/two-too")
	link(private, proj+"/notes.txt")
	link(private, other+"/notes.txt")
	link(key, proj+"/key")
	p := &Policy{answers: answers.Open(filepath.Join(dir, "answers")), rules: rules.List{
		Private: []string{"**/.env", dir + "/keys/**", dir + "/none/**"},
		Rules:   []rules.Rule{{Commands: []string{"cat **"}, Action: rules.Allow}, {Kinds: []string{"read"}, Action: rules.Allow}},
	}}
	at := func(path string) Access {
		t.Helper()
		return p.Access(Request{Cwd: proj, Call: session.ToolCall{Kind: session.KindRead}, File: rules.Path{Given: path, Real: path}, Roots: []string{proj}})
	}
	agrees := func(path, link string) {
		t.Helper()
		if got := at(path); got.link != link || got.Private != (link != "") || got.Free && link != "" || got.Lasting && link != "" {
			t.Errorf("%s: %+v, expected to be %q", path, got, link)
		}
	}
	agrees(proj+"/one", "")
	if len(p.links.looks) > 0 {
		t.Error("the disk is looked through for a file that has one name")
	}
	agrees(proj+"/two", "")
	agrees(proj+"/notes.txt", private)
	agrees(other+"/notes.txt", private)
	agrees(proj+"/key", key)
	if why := at(proj+"/notes.txt").Reason(proj+"/notes.txt", proj+"/notes.txt"); why != "it is the same file as "+private+", which is private" {
		t.Errorf("the user is told that %s", why)
	}
	for key, look := range p.links.looks { // as if all were old: its names are known
		look.began = look.began.Add(time.Hour)
		agrees(proj+"/notes.txt", private)
		check.Equal(t, p.links.looks[key], look, "the disk is looked through again for a file that has no new name: %v")
	}

	// An agent's own requests, for files and by commands.
	options := []session.PermissionOption{{ID: "yes", Kind: "allow_once"}, {ID: "always", Kind: "allow_always"}}
	for name, m := range map[string]Request{
		"read": {Call: session.ToolCall{Kind: session.KindRead, Locations: []session.Location{{Path: proj + "/notes.txt"}}}},
		"cat":  {Call: session.ToolCall{Kind: session.KindExecute}, Command: Command{script: "cat notes.txt", Dir: proj}},
	} {
		m.Cwd, m.Options = proj, options
		if got := p.Decide(m); got.OptionID != "" || !strings.Contains(got.Why, "private") || got.Question != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	m := Request{Cwd: proj, Options: options, Call: session.ToolCall{Kind: session.KindExecute}, Command: Command{script: "cat two", Dir: proj}}
	if got := p.Decide(m); got.OptionID != "yes" {
		t.Errorf("what has two names, neither private, is not allowed: %+v", got)
	}

	// What a rule rejects by one name it rejects by any.
	stops := &Policy{rules: p.rules}
	stops.rules.Rules = slices.Concat([]rules.Rule{{Paths: []string{dir + "/keys/*"}, Action: rules.Reject}}, p.rules.Rules)
	for name, m := range map[string]Request{
		"read": {Call: session.ToolCall{Kind: session.KindRead, Locations: []session.Location{{Path: proj + "/key"}}}},
		"cat":  {Call: session.ToolCall{Kind: session.KindExecute}, Command: Command{script: "cat key", Dir: proj}},
	} {
		m.Cwd, m.Options = proj, append(slices.Clip(options), session.PermissionOption{ID: "no", Kind: "reject_once"})
		if got := stops.Decide(m); got.OptionID != "no" || got.Question != nil {
			t.Errorf("what a rule rejects by another name, %s: %+v", name, got)
		}
	}

	// A private file that comes later, and gets another name then.
	later := must.Write(t, proj, ".env", "KEY=2\n")
	for _, look := range p.links.looks {
		look.began = time.Now().Add(-time.Minute)
	}
	link(later, proj+"/later")
	agrees(proj+"/later", later)

	// Where the disk cannot be looked through in time, whatever has several names may be private.
	for _, look := range p.links.looks {
		look.cut = true
	}
	agrees(proj+"/two", proj+"/two")
	agrees(proj+"/notes.txt", private) // which has been found
	if why := at(proj+"/two").Reason(proj+"/two", proj+"/two"); why != "it is a file with several names, of which one may be private" {
		t.Errorf("the user is told that %s", why)
	}
	if got := p.Decide(m); got.OptionID != "" || !strings.Contains(got.Why, "may be private") || got.Question != nil {
		t.Errorf("a command's file is allowed: %+v", got)
	}
}

// A look that takes too long holds for a while, so that not each file has the disk looked through again.
func TestALookThatTakesTooLong(t *testing.T) {
	defer func(was time.Duration) { maxLook = was }(maxLook)
	maxLook = -1
	dir, err := buffers.RealPath(t.TempDir())
	must.Do(t, err)
	two := must.Write(t, dir, "two", "")
	must.Do(t, os.Link(two, dir+"/two-too"))
	p := &Policy{rules: rules.List{Private: []string{"**/.env"}}}
	at := func() Access {
		return p.Access(Request{Cwd: dir, Call: session.ToolCall{Kind: session.KindRead}, File: rules.Path{Given: two, Real: two}, Roots: []string{dir}})
	}
	look := func() (only *privateLook) {
		if !at().Private {
			t.Error("it cannot be told whether the file is private, and it is not taken for that")
		}
		for _, only = range p.links.looks {
		}
		return only
	}
	first := look()
	check.Equal(t, look(), first, "the disk is looked through again at once: %v")
	first.began = first.began.Add(-linkSlack)
	if again := look(); again == first {
		t.Error("the disk is never looked through again")
	}
	maxLook = time.Minute
	for _, old := range p.links.looks {
		old.began = old.began.Add(-2 * time.Minute)
	}
	if at().Private {
		t.Error("a look that has seen all of the disk has found a private name")
	}
}
