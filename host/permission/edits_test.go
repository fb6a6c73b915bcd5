package permission

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// edits is what comes of a change by a tool.
type edits struct {
	answered int
	changed  []string // names
	err      error
}

// change has a tool change files in the folder; in is the name of a file.
func (d *desk) change(ctx context.Context, list ...FileEdit) *edits {
	d.t.Helper()
	got := &edits{}
	for i := range list {
		list[i].Path = filepath.Join(d.dir, list[i].Path)
		if list[i].To != "" {
			list[i].To = filepath.Join(d.dir, list[i].To)
		}
	}
	d.Change(ctx, "Rename x", list, func(changed []string, err error) {
		got.answered++
		for _, path := range changed {
			got.changed = append(got.changed, filepath.Base(path))
		}
		got.err = err
	})
	d.settle()
	return got
}

// tree is the names of the files with their texts.
func (d *desk) tree() string {
	d.t.Helper()
	entries, err := os.ReadDir(d.dir)
	must.Do(d.t, err)
	var list []string
	for _, e := range entries {
		data, _ := os.ReadFile(filepath.Join(d.dir, e.Name()))
		list = append(list, e.Name()+"="+strings.TrimSpace(string(data)))
	}
	return strings.Join(list, " ")
}

// Edits of several files are one question, which shows what becomes of each; then all are made.
func TestEditsOfSeveralFiles(t *testing.T) {
	synctested(t, func(d *desk) {
		ctx := context.Background()
		all := func() []FileEdit {
			return []FileEdit{
				{Path: "a", Text: new("A\n")}, {Path: "b", Delete: true}, {Path: "c", To: "cc", Text: new("C\n")},
				{Path: "d", To: "dd"}, {Path: "e", Create: true, Text: new("E\n")}, {Path: "f", Text: new("f\n")},
			}
		}
		got := d.change(ctx, all()...)
		p := d.open()
		if snap := d.shows(); snap.Title != "Rename x in 5 files" || p.call.Kind != session.KindDelete || got.answered != 0 {
			t.Fatalf("asked is %q, of kind %s", snap.Title, p.call.Kind)
		}
		at := func(name string) string { return filepath.Join(d.dir, name) }
		want := []session.ToolCallContent{
			session.Diff{Operation: "", Path: at("a"), OldText: new("a\n"), NewText: new("A\n")},
			session.Diff{Operation: session.OperationDelete, Path: at("b"), OldText: new("b\n")},
			session.Diff{Operation: session.OperationMove, Path: at("cc"), OldPath: at("c"), OldText: new("c\n"), NewText: new("C\n")},
			session.Diff{Operation: session.OperationMove, Path: at("dd"), OldPath: at("d"), OldText: new("d\n"), NewText: new("d\n")},
			session.Diff{Operation: session.OperationAdd, Path: at("e"), NewText: new("E\n")},
		}
		check.Deep(t, p.call.Content, want, "shown is %+v")
		var places []string
		for _, l := range p.call.Locations {
			places = append(places, filepath.Base(l.Path))
		}
		check.Equal(t, strings.Join(places, " "), "a b c cc d dd e", "its places are %s")
		check.Equal(t, p.asked.CancelsTurn, true, "not to answer cancels the turn: %v")
		d.answer("reject")
		if got.answered != 1 || !errors.Is(got.err, ErrNotAllowed) || d.tree() != "a=a b=b c=c d=d f=f" {
			t.Errorf("refused: %d, %v, %s", got.answered, got.err, d.tree())
		}
		d.says("You did not let Puppet change 5 files.")

		got = d.change(ctx, all()...)
		d.answer("allow")
		if got.err != nil || !slices.Equal(got.changed, []string{"a", "b", "cc", "dd", "e"}) || d.tree() != "a=A cc=C dd=d e=E f=f" {
			t.Errorf("allowed: %v, %v, %s", got.changed, got.err, d.tree())
		}
		check.Deep(t, d.reviewed, map[string]bool{at("a"): true, at("b"): true, at("e"): true}, "the record hears of %v")
		slices.Sort(d.moved)
		slices.Sort(d.followed)
		if !slices.Equal(d.moved, []string{"c", "cc", "d", "dd"}) || !slices.Equal(d.followed, []string{"a", "cc", "e"}) {
			t.Errorf("moved are %q, followed %q", d.moved, d.followed)
		}

		// A file that is no text is moved as it is, and a link is where its file is edited.
		must.Write(t, d.dir, "g", "\x00")
		must.Do(t, os.Symlink("f", at("link")))
		got = d.change(ctx, FileEdit{Path: "g", To: "gg"}, FileEdit{Path: "link", Text: new("F\n")})
		if d.answer("allow"); got.err != nil {
			t.Errorf("allowed: %v", got.err)
		}
		d.has("gg", "\x00")
		d.has("f", "F\n")
		must.Write(t, d.dir, "f", "f\n")

		// What changes nothing is no question, nor is one of one file "in 1 files".
		if got := d.change(ctx, FileEdit{Path: "f", Text: new("f\n")}, FileEdit{Path: "a"}); got.answered != 1 || got.err != nil || got.changed != nil {
			t.Errorf("nothing: %+v", got)
		}
		d.change(ctx, FileEdit{Path: "f", Text: new("F\n")})
		check.Equal(t, d.shows().Title, "Rename x", "asked is %q")
		d.answer("allow")
	})
}

// The tool hears that edits which the user has accepted are made when it is saved that they have; of others at once.
func TestAcceptedEditsAreSavedBeforeTheyAreAnswered(t *testing.T) {
	synctested(t, func(d *desk) {
		d.saves = make(chan struct{})
		got := d.change(context.Background(), FileEdit{Path: "a", Text: new("A\n")}, FileEdit{Path: "b", Text: new("B\n")})
		check.Equal(t, d.shows().Title, "Rename x in 2 files", "asked is %q")
		d.answer("allow")
		if got.answered != 0 || d.tree() != "a=A b=B c=c d=d f=f" {
			t.Errorf("answered %d times, there is %s", got.answered, d.tree())
		}
		close(d.saves)
		d.settle()
		if got.answered != 1 || got.err != nil || !slices.Equal(got.changed, []string{"a", "b"}) {
			t.Errorf("the tool hears %+v", got)
		}
		d.saves = make(chan struct{})
		d.before.Store(false)
		got = d.change(context.Background(), FileEdit{Path: "c", Text: new("C\n")})
		d.answer("allow")
		if got.answered != 1 || got.err != nil {
			t.Errorf("unreviewed, it hears %+v", got)
		}
	})
}

func synctested(t *testing.T, play func(d *desk)) {
	t.Helper()
	atDesk(t, func(d *desk) {
		must.Do(t, os.Remove(filepath.Join(d.dir, "a.txt")))
		for _, name := range []string{"a", "b", "c", "d", "f"} {
			must.Write(t, d.dir, name, name+"\n")
		}
		play(d)
	})
}

// What is in the way of an edit is said before anybody is asked, and what comes in its way while the user thinks about
// it then: the other files are changed.
func TestEditsThatCannotBeMade(t *testing.T) {
	synctested(t, func(d *desk) {
		ctx := context.Background()
		must.Do(t, os.Mkdir(filepath.Join(d.dir, "dir"), 0o755), os.Symlink("a", filepath.Join(d.dir, "link")))
		places := t.TempDir()
		for name, to := range map[string]string{"loop": "loop", "crooked": filepath.Join(d.dir, "a") + "/../dir"} {
			must.Do(t, os.Symlink(to, filepath.Join(places, name)))
		}
		elsewhere, err := filepath.Rel(d.dir, places)
		must.Do(t, err)
		large := must.Write(t, d.dir, "large", "")
		must.Do(t, os.Truncate(large, diff.LargestFile+1))
		for _, c := range []struct {
			edit FileEdit
			err  error
			says string
		}{
			{FileEdit{Path: "a", Create: true, Text: new("")}, fs.ErrExist, ""},
			{FileEdit{Path: "new", Delete: true}, fs.ErrNotExist, ""},
			{FileEdit{Path: "new", To: "a"}, fs.ErrNotExist, ""},
			{FileEdit{Path: "a", To: "b"}, nil, "b already exists"},
			{FileEdit{Path: "link", Delete: true}, nil, "only a file can be moved or deleted"},
			{FileEdit{Path: "link", To: "new"}, nil, "only a file can be moved or deleted"},
			{FileEdit{Path: "dir", Text: new("")}, nil, "directory"},
			{FileEdit{Path: "large", Text: new("")}, nil, "at most 64 MB"},
			{FileEdit{Path: "d", Delete: true}, nil, "unsaved text of the user's"},
			{FileEdit{Path: "d", To: "new"}, nil, "unsaved text of the user's"},
			{FileEdit{Path: elsewhere + "/loop", Text: new("")}, nil, "too many symbolic links"},
			{FileEdit{Path: elsewhere + "/crooked/x", Create: true, Text: new("")}, nil, "not a directory"}, // whatever its real path says
			{FileEdit{Path: "a", To: "b/x"}, nil, "not a directory"},
		} {
			d.typed = ""
			if strings.Contains(c.says, "unsaved") {
				d.typed = filepath.Join(d.dir, "d")
			}
			got := d.change(ctx, FileEdit{Path: "f", Text: new("F\n")}, c.edit)
			if got.answered != 1 || c.err != nil && !errors.Is(got.err, c.err) || got.err == nil || !strings.Contains(got.err.Error(), c.says) || d.open() != nil {
				t.Errorf("%+v: answered %d times, %v", c.edit, got.answered, got.err)
				d.answer("reject")
			}
		}
		d.typed = ""
		if got := d.change(ctx, FileEdit{Path: "large", Delete: true}); got.err != nil || d.open() == nil {
			t.Errorf("what cannot be compared is to be deleted: %+v", got)
		} else if d.answer("allow"); got.err != nil {
			t.Errorf("what cannot be compared is not deleted: %v", got.err)
		}
		for _, e := range []FileEdit{{Path: "d", Delete: true}, {Path: "d", To: "new"}} { // typed into after the question
			got := d.change(ctx, e)
			d.typed = filepath.Join(d.dir, "d")
			if d.answer("allow"); got.err == nil || !strings.Contains(got.err.Error(), "unsaved text of the user's") || d.tree() != "a=a b=b c=c d=d dir= f=f link=a" {
				t.Errorf("what is typed into is gone: %v, %s", got.err, d.tree())
			}
			d.typed = ""
		}
		gone, leave := context.WithCancel(ctx)
		leave()
		if got := d.change(gone, FileEdit{Path: "a", Text: new("A\n")}); !errors.Is(got.err, context.Canceled) {
			t.Errorf("withdrawn: %v", got.err)
		}

		got := d.change(ctx, FileEdit{Path: "a", Text: new("A\n")}, FileEdit{Path: "b", Delete: true}, FileEdit{Path: "c", To: "cc"}, FileEdit{Path: "d", To: "dd", Text: new("D\n")})
		must.Write(t, d.dir, "b", "other\n")
		must.Write(t, d.dir, "cc", "other\n")
		d.answer("allow")
		if got.err == nil || !strings.Contains(got.err.Error(), "b: it has changed meanwhile") || !strings.Contains(got.err.Error(), "cc already exists") ||
			!strings.Contains(got.err.Error(), "; 2 other files changed") || !slices.Equal(got.changed, []string{"a", "dd"}) {
			t.Errorf("changed are %q, %v", got.changed, got.err)
		}
		check.Equal(t, d.tree(), "a=A b=other c=c cc=other dd=D dir= f=f link=A", "there are %s")
		check.Slice(t, d.moved, []string{"d", "dd"}, "moved are %q")

		got = d.change(ctx, FileEdit{Path: "b", Delete: true})
		must.Write(t, d.dir, "b", "another\n")
		if d.answer("allow"); got.err == nil || strings.Contains(got.err.Error(), "other file") || got.changed != nil {
			t.Errorf("changed are %q, %v", got.changed, got.err)
		}

		// What cannot be written by then: both the tool and the user hear it.
		got = d.change(ctx, FileEdit{Path: "a", Text: new("a\n")}, FileEdit{Path: "dd", Text: new("DD\n")})
		must.Do(t, os.Remove(filepath.Join(d.dir, "a")), os.Mkdir(filepath.Join(d.dir, "a"), 0o755))
		if d.answer("allow"); got.err == nil || !strings.Contains(got.err.Error(), "; 1 other file changed") || len(got.changed) != 1 || !strings.HasPrefix(d.noted(), "error: Puppet could not write a: ") {
			t.Errorf("a folder is written: %+v", got)
		}
		must.Do(t, os.Remove(filepath.Join(d.dir, "a")))
		must.Write(t, d.dir, "a", "A\n")

		// What is gone by then is no failure of a deletion.
		got = d.change(ctx, FileEdit{Path: "b", Delete: true})
		must.Do(t, os.Remove(filepath.Join(d.dir, "b")))
		if d.answer("allow"); got.err != nil || !slices.Equal(got.changed, []string{"b"}) {
			t.Errorf("deleted twice: %+v", got)
		}

		// What the file has by then is no change.
		got = d.change(ctx, FileEdit{Path: "f", Text: new("F\n")})
		must.Write(t, d.dir, "f", "F\n")
		clear(d.reviewed)
		if d.answer("allow"); got.err != nil || len(d.reviewed) > 0 {
			t.Errorf("of what has changed nothing the record hears %v, %v", d.reviewed, got.err)
		}
		must.Write(t, d.dir, "f", "f\n")

		// A file that changes while it is moved is there twice, and the record hears of the new one.
		got = d.change(ctx, FileEdit{Path: "c", To: "c2"})
		must.Write(t, d.dir, "c", "other\n")
		if d.answer("allow"); got.err == nil || !strings.Contains(got.err.Error(), "it has changed meanwhile") || len(d.moved) != 2 {
			t.Errorf("moved while it changes: %+v, moved are %q", got, d.moved)
		}
		if reviewed, heard := d.reviewed[filepath.Join(d.dir, "c2")]; reviewed || !heard {
			t.Errorf("of its copy the record hears %v, %v", heard, reviewed)
		}
		must.Do(t, os.Remove(filepath.Join(d.dir, "c2")))
		must.Write(t, d.dir, "c", "c\n")

		// A folder that cannot be made by then: the file stays.
		got = d.change(ctx, FileEdit{Path: "c", To: "sub/c"})
		must.Write(t, d.dir, "sub", "")
		if d.answer("allow"); got.err == nil || got.changed != nil {
			t.Errorf("moved nowhere: %+v", got)
		}
		d.has("c", "c\n")

		// A file that is gone by then, or no file any more: nothing is where it was to be moved.
		for _, is := range []string{"gone", "a folder"} {
			got = d.change(ctx, FileEdit{Path: "c", To: "c2"})
			must.Do(t, os.Remove(filepath.Join(d.dir, "c")))
			if is == "a folder" {
				must.Do(t, os.Mkdir(filepath.Join(d.dir, "c"), 0o755))
			}
			if d.answer("allow"); got.err == nil || got.changed != nil || strings.Contains(d.tree(), "c2=") {
				t.Errorf("moved when it is %s: %+v, %s", is, got, d.tree())
			}
			must.Do(t, os.RemoveAll(filepath.Join(d.dir, "c")))
			must.Write(t, d.dir, "c", "c\n")
		}

		// A path that leads elsewhere by then.
		got = d.change(ctx, FileEdit{Path: "f", Text: new("F\n")})
		must.Do(t, os.Remove(filepath.Join(d.dir, "f")), os.Symlink("a", filepath.Join(d.dir, "f")))
		if d.answer("allow"); got.err == nil || !strings.Contains(got.err.Error(), "leads elsewhere") {
			t.Errorf("through a link: %v", got.err)
		}
		d.has("a", "A\n")
	})
}

// The record of a moved file has its new text, and its buffer; the follower has nothing to show of one that is empty.
func TestWhatIsToldOfAMove(t *testing.T) {
	synctested(t, func(d *desk) {
		told := map[string]buffers.Written{}
		d.config.Moved = func(_, made buffers.Written) { d.told(func() { told[filepath.Base(made.Path)] = made }) }
		d.change(context.Background(), FileEdit{Path: "a", To: "aa", Text: new("A\n")}, FileEdit{Path: "b", To: "bb", Text: new(" \n")}, FileEdit{Path: "c", To: "cc"})
		d.answer("allow")
		for name, want := range map[string]string{"aa": "A\n", "bb": " \n", "cc": "c\n"} {
			if w := told[name]; w.After == nil || *w.After != want || w.FormAfter != buffers.Form([]byte(want)) {
				t.Errorf("%s is told as %+v", name, w)
			}
		}
		check.Slice(t, d.followed, []string{"aa"}, "followed are %q")
	})
}

// What a rule has allowed the user has not seen, nor what they were asked about while they review afterwards.
func TestEditsThatNobodyHasReviewed(t *testing.T) {
	synctested(t, func(d *desk) {
		d.before.Store(false)
		d.change(context.Background(), FileEdit{Path: "a", Text: new("A\n")})
		d.answer("allow")
		d.before.Store(true)
		d.rules(nil, rules.Rule{Kinds: []string{"edit"}, Action: rules.Allow})
		d.change(context.Background(), FileEdit{Path: "b", Text: new("B\n")})
		if want := map[string]bool{filepath.Join(d.dir, "a"): false, filepath.Join(d.dir, "b"): false}; !reflect.DeepEqual(d.reviewed, want) {
			t.Errorf("the record hears of %v", d.reviewed)
		}
		d.rules(nil, rules.Rule{Kinds: []string{"edit"}, Action: rules.Reject})
		if got := d.change(context.Background(), FileEdit{Path: "b", Text: new("b\n")}); got.err == nil || !strings.Contains(got.err.Error(), "as the user has decided before") {
			t.Errorf("by a rule: %v", got.err)
		}
		d.on(func() { d.stopping = true })
		if got := d.change(context.Background(), FileEdit{Path: "b", Text: new("b\n")}); got.err == nil || !strings.Contains(got.err.Error(), "the question was not answered") {
			t.Errorf("while the turn is stopped: %v", got.err)
		}
		d.base.Box.Close()
		if got := d.change(context.Background(), FileEdit{Path: "b", Text: new("b\n")}); !errors.Is(got.err, feature.ErrClosed) {
			t.Errorf("of a closed session: %v", got.err)
		}
	})
}

// A tool of the editor's asks before it runs something.
func TestToolsAsk(t *testing.T) {
	atDesk(t, func(d *desk) {
		ask := func(tool Tool) (errs *[]error) {
			errs = new([]error)
			tool.Context = context.Background()
			d.AskTool(tool, func(err error) { *errs = append(*errs, err) })
			d.settle()
			return errs
		}
		command := ask(Tool{Title: "Run tests", Command: "go test"})
		p := d.open()
		if p.command.Line() != "go test" || p.call.Kind != session.KindExecute || p.asked.Options[1].Name != "Always allow this command in this project" {
			t.Errorf("asked is %+v, %+v", p.command, p.call)
		}
		check.Equal(t, p.asked.CancelsTurn, true, "not to answer cancels the turn: %v")
		if d.answer("allow"); len(*command) != 1 || (*command)[0] != nil {
			t.Errorf("allowed: %v", *command)
		}
		command = ask(Tool{Title: "Run tests", Command: "go test"})
		if d.answer("reject"); len(*command) != 1 || (*command)[0] != ErrNotAllowed {
			t.Errorf("refused: %v", *command)
		}
		d.says("You did not let Puppet run this.")
		named := ask(Tool{Title: "Do it", Name: "srv/do", Arguments: []byte(`{"a":1}`)})
		if p := d.open(); p.call.Name != "mcp__srv__do" || p.call.Kind != session.KindOther || p.asked.Options[1].Name != "Always allow this tool in this project" {
			t.Errorf("asked is %+v", p.call)
		}
		if d.answer("reject"); len(*named) != 1 {
			t.Errorf("refused: %v", *named)
		}
		d.says("You did not let Puppet use do.")
		d.on(func() { d.ready = false })
		if errs := *ask(Tool{Title: "Do it", Name: "srv/do"}); len(errs) != 1 || !errors.Is(errs[0], ErrNotAllowed) || d.open() != nil {
			t.Errorf("before the session is open: %v", errs)
		}
		d.base.Box.Close()
		if errs := *ask(Tool{Title: "Do it"}); len(errs) != 1 || !errors.Is(errs[0], feature.ErrClosed) {
			t.Errorf("of a closed session: %v", errs)
		}
	})
}

// The agent's question about a tool of the editor's, which asks by itself, is answered, unless nothing in it allows.
func TestQuestionsAboutOurTools(t *testing.T) {
	atDesk(t, func(d *desk) {
		var got []string
		ask := func(kinds ...string) {
			var options []session.PermissionOption
			for _, k := range kinds {
				options = append(options, session.PermissionOption{ID: k, Kind: k})
			}
			d.on(func() {
				p := &request{asked: session.PermissionRequest{Context: context.Background(), Options: options}, answer: func(id, _ string) { got = append(got, id) }}
				p.stop = func() bool { return true }
				d.queue.pending = append(d.queue.pending, p)
				d.letOurs(p)
			})
			d.settle()
		}
		ask("reject_once", "allow_once")
		if !slices.Equal(got, []string{"allow_once"}) || d.open() != nil {
			t.Errorf("answered %q", got)
		}
		if ask("reject_once"); len(got) != 1 || d.open() == nil {
			t.Errorf("answered %q, though nothing allows", got)
		}
		// Unless a rule asks, or it is another tool, or nobody knows which call it is about.
		d.config.Ours = func(call *session.ToolCall) bool { return call.Name == "ours" }
		for name, c := range map[string]struct{ id, tool, why, want string }{
			"ours": {"c", "ours", "", "y"}, "asked about by a rule": {"c", "ours", "rule 1 asks", ""}, "of no call": {"", "ours", "", ""},
			"of another tool": {"c", "other", "", ""},
		} {
			d.on(func() {
				d.WithdrawAll("cancel")
				got = nil
				p := &request{
					asked: session.PermissionRequest{Options: []session.PermissionOption{{ID: "y", Kind: "allow_once"}}}, call: session.ToolCall{Name: c.tool},
					answer: func(id, _ string) { got = append(got, id) }, stop: func() bool { return true },
				}
				p.asked.Call.ID = c.id
				d.queue.pending = append(d.queue.pending, p)
				d.decided(p, policy.Decision{Why: c.why})
			})
			if strings.Join(got, " ") != c.want || (d.open() != nil) != (c.want == "") {
				t.Errorf("%s: answered %q", name, got)
			}
		}
		d.on(func() { d.WithdrawAll("cancel") })
	})
}

// A turn's end withdraws its questions, but not those of what goes on beside it, and says what was made though it was
// refused.
func TestTheEndOfATurnOfQuestions(t *testing.T) {
	atDesk(t, func(d *desk) {
		f, hunks := hunksBetween(nine, nineBut("2", "two\n"))
		d.config.GoesOn = func(id string) bool { return id == "goes on" }
		got := map[string]string{}
		d.on(func() {
			for _, id := range []string{"ends", "goes on"} {
				d.Ask(session.PermissionRequest{
					Context: context.Background(), Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}},
					Call: session.ToolCallPatch{ID: id}, Reply: func(answer string) { got[id] = "answered " + answer },
				})
			}
			d.queue.unwanted = []unwanted{{"one", []*selection{{&f, hunks, []bool{true}}}, 1, 1}}
			d.queue.accepted = []accepted{{"/a", "", ""}}
			d.EndTurn()
		})
		d.settle()
		if !reflect.DeepEqual(got, map[string]string{"ends": "answered "}) || d.open() == nil || len(d.queue.accepted) != 0 {
			t.Errorf("answered are %v, accepted %v", got, d.queue.accepted)
		}
		d.says("with the 1 of 1 hunk that you refused")
	})
}

// Two requests about one call are told apart by what each shows.
func TestWhichRequestACallIsOf(t *testing.T) {
	atDesk(t, func(d *desk) {
		first, second := &request{id: 3}, &request{id: 5}
		first.asked.Call.ID, second.asked.Call.ID = "c", "c"
		d.on(func() {
			d.queue.pending = []*request{first, second}
			call := &session.ToolCall{ID: "c"}
			for want, of := range map[int]*session.ToolCall{3: call, 5: &second.call, 0: {ID: "other"}} {
				check.Equal(t, d.About(of), want, "of %+v it is %d", of)
			}
			check.Equal(t, d.About(&first.call), 3, "the first one is %d")
			d.queue.pending = nil
		})
	})
}

// A write that is reviewed is asked about though a rule allows it: the rule says that the agent may, not that nobody looks.
// What the agent's own requests are asked about for is no reason.
func TestRulesAllowNoUnreviewedWrite(t *testing.T) {
	for _, action := range []rules.Action{rules.Allow, rules.Ask} {
		atDesk(t, func(d *desk) {
			d.rules(nil, rules.Rule{Kinds: []string{"edit"}, Action: action})
			outside := must.Write(t, t.TempDir(), "o.txt", "")
			for _, path := range []string{filepath.Join(d.dir, "a.txt"), outside} {
				got := d.store(path, "new\n")
				d.waits(got)
				if p := d.open(); path != outside && p.decision.Why != "" {
					t.Errorf("it is asked about as %s", p.decision.Why)
				}
				d.answer("allow")
				d.is(got, "")
			}
		})
	}
}

func TestEditsAreKnownByTheGravestOfThem(t *testing.T) {
	text := "new"
	edit := edited{}
	edit.Text = &text
	move := edited{}
	move.To = "/b"
	gone := edited{}
	gone.Delete = true
	for _, c := range []struct {
		name string
		all  []edited
		want session.ToolKind
	}{
		{"edits", []edited{edit, edit}, session.KindEdit},
		{"a move", []edited{move}, session.KindMove},
		{"a move of the same text", []edited{{FileEdit: FileEdit{To: "/b", Text: &text}, before: new("new")}}, session.KindMove},
		{"a move with another text", []edited{{FileEdit: FileEdit{To: "/b", Text: &text}, before: new("old")}}, session.KindEdit},
		{"a move among edits", []edited{edit, move, edit}, session.KindMove},
		{"a deletion among edits", []edited{edit, gone, edit}, session.KindDelete},
		{"a deletion and a move", []edited{move, gone}, session.KindDelete},
	} {
		check.Equal(t, kindOf(c.all), c.want, "%s: kind %q", c.name)
	}
}

// Private files stand in no list that the agent gets, nor what is no file's path.
func TestListedFiles(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.rules([]string{"**/.env"})
		must.Do(t, os.Symlink("loop", filepath.Join(d.dir, "loop")))
		for name, want := range map[string]bool{"a.txt": true, "new": true, ".env": false, "loop": false} {
			path := filepath.Join(d.dir, name)
			check.Equal(t, !d.Private([]string{path}, nil)[path], want, "%s is listed: %v", name)
		}
	})
}
