package follow

import (
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/followalong"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/feature"
)

// Places is told where agents work: the [Window]. Any goroutine may call it.
type Places interface {
	See(followalong.Place)
	Edited(path, before, after string)
}

// Tracer reports where the agent of one session works. It belongs to the session's goroutine, except for [Tracer.Read]
// and [Tracer.Wrote].
type Tracer struct {
	base   feature.Base
	places Places
	live   func() bool
	calls  map[*session.ToolCall]traced
}

// traced is what was reported about a call.
type traced struct {
	locations []session.Location
	content   []session.ToolCallContent
	completed bool
}

// NewTracer returns a tracer. live reports, on the session's goroutine, whether calls are current rather than replayed.
func NewTracer(base feature.Base, places Places, live func() bool) *Tracer {
	return &Tracer{base: base, places: places, live: live, calls: map[*session.ToolCall]traced{}}
}

// Observe reports a call's new places. An edit is reported again when it is completed: its file may not have existed
// before.
func (t *Tracer) Observe(call *session.ToolCall) {
	before := t.calls[call]
	now := traced{call.Locations, call.Content, call.Status == session.StatusCompleted}
	t.calls[call] = now
	if !t.live() {
		return
	}
	diffs, kind := session.Diffs(call.Content), kindOf(call)
	if kind == followalong.Edit && now.completed && !before.completed {
		before = traced{}
	}
	// The change gives the place better than a location next to it, which is where its hunk begins, or none.
	changed := map[string]bool{}
	for _, d := range diffs {
		changed[t.path(d.Path)] = true
	}
	lines := map[string][]int{} // by path of a change, as reported for each
	moved := map[string]bool{}  // one of them is new
	for _, l := range call.Locations {
		fresh := !slices.Contains(before.locations, l)
		switch path := t.path(l.Path); {
		case !changed[path] && fresh:
			t.see(l.Path, l.Line, kind, nil)
		case changed[path] && l.Line > 0:
			lines[path], moved[path] = append(lines[path], l.Line), moved[path] || fresh
		}
	}
	old := session.Diffs(before.content)
	for _, d := range diffs {
		path, near := t.path(d.Path), 0
		if told := lines[path]; len(told) > 0 {
			near = told[0]
			lines[path] = told[min(1, len(told)-1):]
		}
		if !moved[path] && slices.ContainsFunc(old, d.Equal) {
			continue
		}
		t.see(d.Path, near, kind, func(text string) int {
			return diff.Of(d, diff.Now{Text: &text, Line: near, Done: now.completed}).Line()
		})
	}
}

// kindOf returns what a call does to the files that it names.
func kindOf(call *session.ToolCall) followalong.Kind {
	switch call.Kind {
	case session.KindEdit, session.KindDelete, session.KindMove:
		return followalong.Edit
	}
	if len(session.Diffs(call.Content)) > 0 {
		return followalong.Edit
	}
	return followalong.Read
}

// path returns a path as the window uses it; anything else is unchanged.
func (t *Tracer) path(path string) string {
	if absolute, ok := t.base.Absolute(path); ok {
		return absolute
	}
	return path
}

func (t *Tracer) see(path string, line int, kind followalong.Kind, locate func(string) int) {
	if path, ok := t.base.Absolute(path); ok {
		t.places.See(followalong.Place{Session: t.base.Session, Path: path, Line: line, Kind: kind, Locate: locate})
	}
}

// Read is called when the agent reads through its client. Any goroutine.
func (t *Tracer) Read(r session.ReadTextFile) {
	line := 0
	if r.Line != nil {
		line = max(0, *r.Line)
	}
	t.base.Box.Put(func() { t.see(r.Path, line, followalong.Read, nil) })
}

// Wrote is called when the agent has written through its client. Any goroutine.
func (t *Tracer) Wrote(path string, w buffers.Written) {
	line := 1
	if w.Before != nil { // otherwise the file is new
		line = firstChange(*w.Before, *w.After)
		t.places.Edited(t.path(path), *w.Before, *w.After)
	}
	t.base.Box.Put(func() { t.see(path, line, followalong.Edit, nil) })
}

// firstChange returns the number of the first line that differs, counted from 1; 0 if none does.
func firstChange(a, b string) int {
	if a == b {
		return 0
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return strings.Count(a[:n], "\n") + 1
}
