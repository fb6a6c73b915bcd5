package follow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/followalong"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/test/check"
)

// seen notes where a tracer says that the agent is. Where the line is found in the text, that is one of ten lines.
type seen []string

func (s *seen) See(p followalong.Place) {
	line := p.Line
	if p.Locate != nil {
		line = p.Locate("1\nsame\n3\n4\nsame\n6\nseven\n8\n9\n10\n")
	}
	*s = append(*s, fmt.Sprintf("%s:%d %s", p.Path, line, map[followalong.Kind]string{followalong.Read: "read", followalong.Edit: "edit"}[p.Kind]))
}

func (s *seen) Edited(path, before, after string) {
	*s = append(*s, fmt.Sprintf("%s changes", path))
}

// A place is told when it is new, and an edit's once more when the call is completed: the cursor must not go back there
// with whatever else the agent says of a call.
func TestPlacesOfCalls(t *testing.T) {
	at := func(path string, line int) session.Location { return session.Location{Path: path, Line: line} }
	change := func(from, to string) session.ToolCallContent {
		return session.Diff{Path: "/p/a", OldText: &from, NewText: &to}
	}
	same := change("same\n", "other\n") // in two places
	edited := change("6\n7\n8\n", "6\nseven\n8\n")
	type update struct {
		locations []session.Location
		content   []session.ToolCallContent
		status    session.ToolCallStatus
	}
	for name, c := range map[string]struct {
		kind    session.ToolKind
		updates []update
		want    string
	}{
		"a location":             {session.KindRead, []update{{locations: []session.Location{at("/p/a", 3)}}}, "/p/a:3 read"},
		"of the folder":          {session.KindRead, []update{{locations: []session.Location{at("a", 3)}}}, "/p/a:3 read"},
		"without a line":         {session.KindSearch, []update{{locations: []session.Location{at("/p/a", 0)}}}, "/p/a:0 read"},
		"told again":             {session.KindRead, []update{{locations: []session.Location{at("/p/a", 3)}}, {locations: []session.Location{at("/p/a", 3)}, status: session.StatusCompleted}}, "/p/a:3 read"},
		"and another":            {session.KindRead, []update{{locations: []session.Location{at("/p/a", 3)}}, {locations: []session.Location{at("/p/a", 3), at("/p/b", 1)}}}, "/p/a:3 read, /p/b:1 read"},
		"a deletion":             {session.KindDelete, []update{{locations: []session.Location{at("/p/a", 0)}}}, "/p/a:0 edit"},
		"a diff":                 {session.KindEdit, []update{{content: []session.ToolCallContent{edited}}}, "/p/a:7 edit"},
		"of any kind":            {session.KindOther, []update{{content: []session.ToolCallContent{edited}}}, "/p/a:7 edit"},
		"a diff, told again":     {session.KindEdit, []update{{content: []session.ToolCallContent{edited}}, {content: []session.ToolCallContent{edited}}}, "/p/a:7 edit"},
		"another diff":           {session.KindEdit, []update{{content: []session.ToolCallContent{change("3\n4\n", "three\n4\n")}}, {content: []session.ToolCallContent{edited}}}, "/p/a:3 edit, /p/a:7 edit"},
		"an edit that ends":      {session.KindEdit, []update{{content: []session.ToolCallContent{edited}}, {content: []session.ToolCallContent{edited}, status: session.StatusCompleted}, {content: []session.ToolCallContent{edited}, status: session.StatusCompleted}}, "/p/a:7 edit, /p/a:7 edit"},
		"a location beside":      {session.KindEdit, []update{{locations: []session.Location{at("/p/a", 6)}, content: []session.ToolCallContent{edited}}}, "/p/a:7 edit"},
		"an edit that has ended": {session.KindEdit, []update{{content: []session.ToolCallContent{edited}}, {content: []session.ToolCallContent{edited}, status: session.StatusCompleted}}, "/p/a:7 edit, /p/a:7 edit"},
		"near its location":      {session.KindEdit, []update{{locations: []session.Location{at("a", 5)}, content: []session.ToolCallContent{same}}}, "/p/a:5 edit"},
		"each near its own":      {session.KindEdit, []update{{locations: []session.Location{at("a", 5), at("a", 2)}, content: []session.ToolCallContent{same, same}}}, "/p/a:5 edit, /p/a:2 edit"},
		"near the last":          {session.KindEdit, []update{{locations: []session.Location{at("a", 5)}, content: []session.ToolCallContent{same, same}}}, "/p/a:5 edit, /p/a:5 edit"},
		"located later":          {session.KindEdit, []update{{content: []session.ToolCallContent{same}}, {locations: []session.Location{at("a", 5)}, content: []session.ToolCallContent{same}}}, "/p/a:2 edit, /p/a:5 edit"},
		"located by no line":     {session.KindEdit, []update{{content: []session.ToolCallContent{same}}, {locations: []session.Location{at("a", 0)}, content: []session.ToolCallContent{same}}}, "/p/a:2 edit"},
		"and told so again":      {session.KindEdit, []update{{locations: []session.Location{at("a", 5)}, content: []session.ToolCallContent{same}}, {locations: []session.Location{at("a", 5)}, content: []session.ToolCallContent{same}}}, "/p/a:5 edit"},
		"a location of nothing":  {session.KindRead, []update{{locations: []session.Location{at("", 1)}}}, ""},
	} {
		var got seen
		tracer := NewTracer(feature.Base{Folder: folder.Folder{Cwd: "/p", Roots: []string{"/p"}}}, &got, func() bool { return true })
		call := &session.ToolCall{ID: "1", Kind: c.kind}
		for _, u := range c.updates {
			call.Locations, call.Content, call.Status = u.locations, u.content, u.status
			tracer.Observe(call)
		}
		check.Equal(t, strings.Join(got, ", "), c.want, name+": told is %s")
	}
}

// What is replayed is told to nobody, nor told when the session goes on.
func TestPlacesOfReplayedCalls(t *testing.T) {
	var got seen
	live := false
	tracer := NewTracer(feature.Base{Folder: folder.Folder{Cwd: "/p", Roots: []string{"/p"}}}, &got, func() bool { return live })
	call := &session.ToolCall{ID: "1", Kind: session.KindRead, Locations: []session.Location{{Path: "/p/a", Line: 3}}}
	tracer.Observe(call)
	live = true
	tracer.Observe(call)
	check.Slice(t, got, nil, "told is %q")
}

// What goes through the client is where the agent reads from, and where the file has changed first.
func TestPlacesInTheClient(t *testing.T) {
	var got seen
	box := mailbox.New()
	tracer := NewTracer(feature.Base{Folder: folder.Folder{Cwd: "/p", Roots: []string{"/p"}}, Box: box}, &got, func() bool { return true })
	line, before := 4, -1
	tracer.Read(session.ReadTextFile{Path: "/p/a", Line: &line})
	tracer.Read(session.ReadTextFile{Path: "/p/a", Line: &before})
	tracer.Read(session.ReadTextFile{Path: "/p/a"})
	text := func(s string) *string { return &s }
	tracer.Wrote("/p/new", buffers.Written{After: text("1\n")})
	tracer.Wrote("/p/a", buffers.Written{Before: text("1\n2\n3\n"), After: text("1\n2\nthree\n")})
	tracer.Wrote("/p/a", buffers.Written{Before: text("1\n"), After: text("1\n")})
	tracer.Wrote("/p/a", buffers.Written{Before: text("1\n"), After: text("1\n2\n")})
	tracer.Wrote("/p/a", buffers.Written{Before: text("1\n2\n"), After: text("1\n")})
	box.Close()
	box.Run()
	check.Equal(t, strings.Join(got, ", "), "/p/a changes, /p/a changes, /p/a changes, /p/a changes, /p/a:4 read, /p/a:0 read, /p/a:0 read, /p/new:1 edit, /p/a:3 edit, /p/a:0 edit, /p/a:2 edit, /p/a:2 edit", "told is %s")
}
