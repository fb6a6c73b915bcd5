package permission

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/calldiff"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// foretold is a preview where the user has no unsaved text, or with text as the agent gives it.
func foretold(before, after, text string) preview {
	return preview{
		Preview: buffers.Preview{Exists: true, Before: before, After: after, Text: text},
		file:    diff.Whole("f", session.OperationModify, before, after), known: true,
	}
}

// TestDecideRandomly has texts of lines that stand once each: of every line it is known which hunk it is of.
// The user types lines of their own between the hunks, before or after they were shown, and saves some of it.
func TestDecideRandomly(t *testing.T) {
	for seed := range 3000 {
		r := rand.New(rand.NewPCG(3, uint64(seed)))
		count := 0
		line := func(who string) string {
			count++
			return fmt.Sprintf("%s%d\n", who, count)
		}
		var disk, text, shownBefore, shownAfter, nowBefore, nowAfter, want string
		var refused []bool
		all := func(l string) {
			for _, side := range []*string{&disk, &text, &shownBefore, &shownAfter, &nowBefore, &nowAfter, &want} {
				*side += l
			}
		}
		all(line("same"))
		for range 1 + r.IntN(5) {
			old, is := "", ""
			for range r.IntN(3) {
				old += line("old")
			}
			for range r.IntN(3) {
				is += line("new")
			}
			if old+is == "" {
				is = line("new")
			}
			no := r.IntN(2) == 0
			refused = append(refused, no)
			disk, shownBefore, nowBefore = disk+old, shownBefore+old, nowBefore+old
			text, shownAfter, nowAfter = text+is, shownAfter+is, nowAfter+is
			if no {
				want += old
			} else {
				want += is
			}
			all(line("same"))
			if r.IntN(3) == 0 { // typed, and not saved
				mine := line("mine")
				nowBefore, nowAfter, want = nowBefore+mine, nowAfter+mine, want+mine
				if r.IntN(2) == 0 {
					shownBefore, shownAfter = shownBefore+mine, shownAfter+mine
				}
				all(line("same"))
			}
		}
		shown, now := foretold(shownBefore, shownAfter, text), foretold(nowBefore, nowAfter, text)
		v, ok := decideWrite(shown, now, refused, nil)
		switch none, every := !slices.Contains(refused, true), !slices.Contains(refused, false); {
		case !ok:
			t.Fatalf("seed %d: asked again", seed)
		case every:
			if v.option != refuse || v.instead != nil {
				t.Fatalf("seed %d: all is refused, and %+v", seed, v)
			}
		case none:
			if v.option != writeIt || v.instead != nil || v.told != nil {
				t.Fatalf("seed %d: nothing is refused, and %+v", seed, v)
			}
		case v.option != writeIt || v.instead == nil || *v.instead != want:
			t.Fatalf("seed %d: %+v, want %q", seed, v, want)
		case strings.Contains(v.told.Error(), "mine"):
			t.Fatalf("seed %d: the agent is told of what it never had: %v", seed, v.told)
		}

		// A line of the user's inside of a hunk is asked about.
		hunk := r.IntN(len(refused))
		h := now.file.Parts()[hunk]
		if len(h.Old) > 0 {
			l := h.Old[0].Text + "\n"
			other := foretold(strings.Replace(nowBefore, l, "typed\n"+l, 1), nowAfter, text)
			if v, ok := decideWrite(shown, other, refused, nil); ok {
				t.Fatalf("seed %d: not asked again: %+v", seed, v)
			}
		}
	}
}

func TestDecideAboutAnEditedText(t *testing.T) {
	text := func(s string) *string { return &s }
	shown := foretold("a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n")
	for _, c := range []struct {
		what   string
		now    preview
		edited string
		want   string // "" is that the agent's is written
		ok     bool
	}{
		{"as it was", shown, "a\nB\nc\n", "", true},
		{"changed", shown, "a\nBB\nc\n", "a\nBB\nc\n", true},
		{"back to what it was", shown, "a\nb\nc\n", "a\nb\nc\n", true},
		{"typed elsewhere", foretold("0\na\nb\nc\n", "0\na\nB\nc\n", "a\nB\nc\n"), "a\nBB\nc\n", "0\na\nBB\nc\n", true},
		{"saved elsewhere", foretold("0\na\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n"), "a\nBB\nc\n", "0\na\nBB\nc\n", true},
		{"typed in the same lines", foretold("a\nx\nc\n", "a\nB\nc\n", "a\nB\nc\n"), "a\nBB\nc\n", "", false},
	} {
		v, ok := decideWrite(shown, c.now, nil, text(c.edited))
		switch {
		case ok != c.ok:
			t.Errorf("%s: %v", c.what, ok)
		case ok && (v.instead == nil) != (c.want == ""), v.instead != nil && *v.instead != c.want:
			t.Errorf("%s: %+v, want %q", c.what, v, c.want)
		case v.instead != nil && !strings.HasPrefix(v.told.Error(), "the user changed this text"):
			t.Errorf("%s: the agent hears %q", c.what, v.told)
		}
	}
	// The user's own unsaved lines, in which the agent's conflict: these are not written, and neither are told.
	conflicting := foretold("a\nU\nc\nd\n", "a\nU\nc\nD\n", "a\nB\nc\nD\n")
	conflicting.Conflicts = 1
	const there = "in 1 place the user has lines of their own, and yours there were not written. Read the file again before you change it further"
	for _, c := range []struct {
		what         string
		refused      []bool
		edited       *string
		option, want string
		told         string
	}{
		{"all allowed", nil, nil, writeIt, "a\nU\nc\nD\n", there},
		{"all refused", []bool{true}, nil, refuse, "", ""},
		{"edited there", nil, text("a\nV\nc\nD\n"), writeIt, "a\nV\nc\nD\n", otherwise("a\nB\nc\nD\n", "a\nV\nc\nD\n", true, 1)},
		{"edited elsewhere", nil, text("a\nU\nc\nE\n"), writeIt, "a\nU\nc\nE\n", otherwise("a\nB\nc\nD\n", "a\nB\nc\nE\n", true, 1)},
	} {
		v, ok := decideWrite(conflicting, conflicting, c.refused, c.edited)
		if !ok || v.option != c.option || (v.instead == nil) != (c.want == "") {
			t.Errorf("%s: %+v, %v", c.what, v, ok)
		} else if v.instead != nil && (*v.instead != c.want || v.told.Error() != c.told) {
			t.Errorf("%s: %q, told %q, want %q, told %q", c.what, *v.instead, v.told, c.want, c.told)
		}
	}
	// What cannot be compared is written as a whole, or not.
	if v, ok := decideWrite(preview{}, preview{}, nil, nil); !ok || v.option != writeIt || v.instead != nil {
		t.Errorf("of unknown texts: %+v, %v", v, ok)
	}
	if _, ok := decideWrite(shown, preview{}, []bool{true}, nil); ok {
		t.Error("what was shown cannot be compared any more, and it is written")
	}
}

// What counts as kept is what the user was shown, not what has come to the file in the moment between: where the text is the
// one they saw, it is said with which text it was shown.
func TestWritesThatDoWhatWasShown(t *testing.T) {
	text := func(s string) *string { return &s }
	const before, after = "a\nb\nc\nd\n", "a\nB\nc\nd\n"
	shown := foretold(before, after, after)
	added := foretold("", "a\n", "a\n")
	for _, c := range []struct {
		what          string
		shown         *preview
		before, after *string
		want          bool
	}{
		{"nothing shown", nil, text(before), text(after), false},
		{"the same", &shown, text(before), text(after), true},
		{"the same beside a line of the user's", &shown, text("0\n" + before), text("0\n" + after), true},
		{"more", &shown, text(before), text("a\nB\nc\nD\n"), false},
		{"less", &shown, text(before), text(before), false},
		{"a line of the user's is gone", &shown, text("0\n" + before), text(after), true},
		{"it was emptied", &shown, text(""), text(after), true},
		{"it was removed", &shown, nil, text(after), true},
		{"something else", &shown, text(before), text("a\nBB\nc\nd\n"), false},
		{"what is not known", &shown, text(before), nil, false},
		{"a new file", &added, nil, text("a\n"), true},
		{"another new file", &added, nil, text("b\n"), false},
		{"a file taken as a whole", &preview{}, nil, nil, true},
	} {
		w := buffers.Written{Path: "f", Before: c.before, After: c.after}
		check.Equal(t, c.shown.made(&w), c.want, "%s: %v", c.what)
		if other := strings.Contains(c.what, " is gone") || strings.Contains(c.what, "it was "); (w.Shown != nil) != other || other && *w.Shown != before {
			t.Errorf("%s: it was shown with %v", c.what, w.Shown)
		}
	}
	if unsaved := (buffers.Written{Path: "f", Before: text("0\n" + before), After: text(after), Unsaved: true}); shown.made(&unsaved) {
		t.Error("what takes the user's unsaved line was shown")
	}
}

// What was allowed in a request is remembered as what was shown of it: not where it was not found in its file,
// nor a file that goes.
func TestWhatIsRememberedOfAnAllowedRequest(t *testing.T) {
	base := feature.Base{Folder: folder.Folder{Cwd: "/p"}}
	diffs := calldiff.New(base, calldiff.Config{})
	s := New(base, Config{Diffs: diffs})
	shows := func(f diff.FileDiff) *request {
		p := &request{}
		diffs.Replace(&p.call, session.Diff{Path: f.Path}, f)
		return p
	}
	file := func(told session.Diff, now string) diff.FileDiff { return diff.Of(told, diff.Now{Text: &now}) }
	text := func(s string) *string { return &s }
	for _, f := range []diff.FileDiff{
		file(session.Diff{Path: "a", OldText: text("2\n"), NewText: text("two\n")}, "1\n2\n3\n"),
		file(session.Diff{Path: "b", OldText: text("x\n"), NewText: text("y\n")}, "1\n2\n3\n"), // not there
		{Path: "c", Operation: session.OperationModify},
		diff.Whole("d", session.OperationDelete, "1\n", ""),
		diff.Whole("e", session.OperationAdd, "", "new\n"),
	} {
		s.accept(shows(f))
	}
	want := []accepted{{"/p/a", "1\n2\n3\n", "1\ntwo\n3\n"}, {"/p/e", "", "new\n"}}
	check.Slice(t, s.queue.accepted, want, "remembered is %q")
	// Until they refuse the same file.
	s.forgetAccepted(shows(file(session.Diff{Path: "/p/a", NewText: text("")}, "1\n")))
	check.Slice(t, s.queue.accepted, want[1:], "remembered is %q")
}

// An answer that comes before it is known what the change makes of its file waits for that.
func TestAnAnswerWaitsForWhatItAllows(t *testing.T) {
	s := newDesk(t)
	s.silent = make(chan struct{})
	path := must.Write(t, s.dir, "a.txt", "1\n2\n3\n")
	answers := make(chan string, 2)
	s.on(func() {
		s.Ask(session.PermissionRequest{
			Context: context.Background(),
			Call:    session.ToolCallPatch{ID: "c", Content: acp.Set([]session.ToolCallContent{replacing(path, "2", "two")})},
			Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}, {ID: "no", Kind: "reject_once"}},
			Reply:   func(id string) { answers <- id },
		})
		s.SelectHunks(rpc.SelectHunks{Asks: rpc.Asks{Callback: 5}, Permission: int(s.queue.pending[0].id), File: 1, First: 1, Last: 1, Refuse: true})
		if s.queue.pending[0].selections != nil {
			t.Error("hunks are refused before it is known which there are")
		}
		s.Respond(s.queue.pending[0].id, "yes")
		s.Respond(s.queue.pending[0].id, "yes")
		if len(s.queue.pending) != 1 || len(answers) > 0 {
			t.Error("it is answered")
		}
	})
	close(s.silent)
	check.Equal(t, <-answers, "yes", "the answer is %q")
	s.on(func() {
		check.Slice(t, s.queue.accepted, []accepted{{path, "1\n2\n3\n", "1\ntwo\n3\n"}}, "remembered is %q")
		if len(s.queue.pending) > 0 || len(answers) > 0 {
			t.Errorf("%d questions are open, %d more answers", len(s.queue.pending), len(answers))
		}
	})
}

// An answer that refuses need not wait for that, nor one where nothing is reviewed before.
func TestAnswersThatWaitForNothing(t *testing.T) {
	for option, before := range map[string]bool{"no": true, "yes": false} {
		s := newDesk(t)
		s.silent = make(chan struct{})
		s.before.Store(before)
		got := ""
		s.on(func() {
			s.Ask(session.PermissionRequest{
				Context: context.Background(),
				Call:    session.ToolCallPatch{ID: "c", Content: acp.Set([]session.ToolCallContent{replacing("a.txt", "2", "two")})},
				Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}, {ID: "no", Kind: "reject_once"}},
				Reply:   func(id string) { got = id },
			})
			s.Respond(s.queue.pending[0].id, option)
			check.Equal(t, got, option, "the answer is %q")
		})
		close(s.silent)
	}
}
