package permission

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/answers"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A request says of each of its files whether it has changed since the agent has read it, for as long as that is so.
func TestFilesThatTheAgentKnowsOtherwise(t *testing.T) {
	d := newDesk(t)
	d.watch = d.base.Files.Watch(func(buffers.Written) {}, func(error) {})
	defer d.watch.Close()
	path := must.Write(t, d.dir, "b.txt", "b\nb\n")
	read := make(chan error)
	for _, r := range []session.ReadTextFile{{Path: must.Write(t, d.dir, "a.txt", nine)}, {Path: path, Limit: new(1)}} {
		r.Context, r.Reply = context.Background(), func(_ string, err error) { read <- err }
		d.Read(r)
		must.Do(t, <-read)
	}
	known := make(chan struct{})
	d.watch.Heard(func() { close(known) })
	<-known
	must.Write(t, d.dir, "a.txt", nineBut("9", "mine\n"))
	d.on(func() {
		d.Ask(session.PermissionRequest{
			Context: context.Background(), Reply: func(string) {},
			Call: session.ToolCallPatch{ID: "c", Kind: acp.Set(session.KindEdit), Content: acp.Set([]session.ToolCallContent{
				replacing("a.txt", "2\n", "two\n"), replacing("b.txt", "nowhere\n", "or\nelse\n"), replacing("c.txt", "1\n", "2\n"),
			})},
		})
	})
	var snap rpc.Permission // as Neovim was told last
	says := func(want string, brief ...string) {
		t.Helper()
		must.Become(t, want, func() (is bool) {
			d.on(func() {
				if d.due.Swap(false) {
					if list, changed := d.Take(); changed {
						snap = list[0]
					}
				}
				is = slices.Contains(snap.Lines, want) && strings.Count(strings.Join(snap.Lines, "\n"), "changed since") == 1 && slices.Equal(snap.Brief, brief)
			})
			return is
		})
	}
	a, b, c := "a.txt  +1 −1", []string{"b.txt  +2 −1", "⚠ not found in the file: as the agent sent it"}, []string{"c.txt  +1 −1", "⚠ no such file: as the agent sent it"}
	const changed = " changed since Puppet read it"
	says("⚠ a.txt"+changed, slices.Concat([]string{a, "⚠ a.txt" + changed}, b, c)...)
	d.before.Store(false)
	d.Write(session.WriteTextFile{Context: context.Background(), Path: filepath.Join(d.dir, "a.txt"), Text: nineBut("5", "five\n"), Reply: func(err error) { read <- err }})
	must.Do(t, <-read)
	must.Write(t, d.dir, "b.txt", "B\n")
	d.on(func() { d.HearUnsaved(nil) })
	says("⚠ b.txt"+changed, slices.Concat([]string{a}, b, []string{"⚠ b.txt" + changed}, c)...)

	// Of a request that says only later which file it is about, too.
	d.on(func() {
		d.WithdrawAll("cancel")
		d.Ask(session.PermissionRequest{Context: context.Background(), Call: session.ToolCallPatch{ID: "later", Kind: acp.Set(session.KindEdit)}, Reply: func(string) {}})
		d.update(session.ToolCallPatch{ID: "later", Locations: acp.Set([]session.Location{{Path: "b.txt"}})})
	})
	says("⚠ b.txt" + changed)
	d.on(func() { d.WithdrawAll("cancel") })
}

// What a read shows the agent, its calls and the editor's tools, it knows, and nothing else.
func TestWhatTheAgentKnowsOfAFile(t *testing.T) {
	ctx := context.Background()
	read := func(d *desk, path string, limit *int) string {
		read := make(chan error)
		d.Read(session.ReadTextFile{Context: ctx, Path: path, Limit: limit, Reply: func(_ string, err error) { read <- err }})
		<-read
		return path
	}
	large := func(d *desk, path string, limit *int) string {
		must.Do(t, os.Truncate(path, diff.LargestFile+1))
		return read(d, path, limit)
	}
	change := func(d *desk, e FileEdit) {
		d.rules(nil, rules.Rule{Action: rules.Allow})
		made := make(chan error)
		d.Change(ctx, "Rename x", []FileEdit{e}, func(_ []string, err error) { made <- err })
		must.Do(t, <-made)
		d.policy.Store(nil)
	}
	for name, c := range map[string]struct {
		learn func(d *desk, path string) (now string)
		knows bool
	}{
		"nothing":               {func(_ *desk, path string) string { return path }, false},
		"a read":                {func(d *desk, path string) string { return read(d, path, nil) }, true},
		"a read that fails":     {func(d *desk, path string) string { return large(d, path, nil) }, false},
		"a part of a long file": {func(d *desk, path string) string { return large(d, path, new(1)) }, true},
		"a read by a call": {func(d *desk, path string) string {
			d.on(func() {
				call := session.ToolCall{Kind: session.KindRead, Status: session.StatusCompleted, Locations: []session.Location{{Path: path}}}
				d.CallEnded(&call, session.StatusCompleted)
			})
			return path
		}, true},
		"an edit by a tool": {func(d *desk, path string) string { change(d, FileEdit{Path: path, Text: new("2\n")}); return path }, true},
		"a move by a tool":  {func(d *desk, path string) string { change(d, FileEdit{Path: path, To: path + "2"}); return path + "2" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.watch = d.base.Files.Watch(func(buffers.Written) {}, func(error) {})
			defer d.watch.Close()
			looked := func(path string) { // at the file, by whoever wanted to
				done := make(chan struct{})
				d.base.Files.Peek(ctx, path, func(string, error) { close(done) })
				<-done
			}
			d.on(func() { d.config.Known.Note("/other", "") })
			path := c.learn(d, must.Write(t, d.dir, "f.txt", "1\n"))
			looked(path)
			must.Write(t, d.dir, filepath.Base(path), "else\n")
			d.on(func() {
				d.Ask(session.PermissionRequest{
					Context: ctx, Reply: func(string) {},
					Call: session.ToolCallPatch{ID: "c", Kind: acp.Set(session.KindEdit), Content: acp.Set([]session.ToolCallContent{replacing(path, "else\n", "x\n")})},
				})
			})
			looked(path)
			d.on(func() {
				lines := d.snapshot(d.queue.pending[0]).Lines
				check.Equal(t, strings.Contains(strings.Join(lines, "\n"), "changed since Puppet read it"), c.knows, "that it has changed is said: %v")
				d.WithdrawAll("cancel")
			})
		})
	}
}

// What cannot be done is not asked about: it fails.
func TestFilesThatCannotBeAccessed(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may access every file")
	}
	atDesk(t, func(d *desk) {
		outside := must.Write(t, t.TempDir(), "o.txt", "")
		must.Do(t, os.Chmod(outside, 0o400))
		for _, before := range []bool{false, true} {
			d.before.Store(before)
			d.is(d.store(outside, "x\n"), "permission denied")
		}
		d.Read(session.ReadTextFile{Context: context.Background(), Path: outside, Reply: func(string, error) {}})
		d.settle()
		check.Equal(t, len(d.asks), 1, "%d questions are open")
		d.on(func() { d.WithdrawAll("cancel") })
	})
}

// What leads to no file fails with its name, and is not asked about.
func TestFilesThatLeadNowhere(t *testing.T) {
	atDesk(t, func(d *desk) {
		loop := filepath.Join(d.dir, "loop")
		must.Do(t, os.Symlink("loop", loop))
		d.is(d.store("loop", "x\n"), "write "+loop+": ", "too many")
		var failed error
		d.Read(session.ReadTextFile{Context: context.Background(), Path: loop, Reply: func(_ string, err error) { failed = err }})
		d.settle()
		check.Contains(t, fmt.Sprint(failed), "read "+loop+": too many", "the agent hears %q")
		check.Equal(t, len(d.asks), 0, "%d questions are open")
	})
}

// Requests come before the user in their order, also behind a write that no rule decides about.
func TestRequestsInTheirOrder(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.rules(nil)
		d.on(func() { d.queue.busy++ })
		write := d.store("a.txt", nineBut("2", "two\n"))
		d.on(func() {
			d.Ask(session.PermissionRequest{Context: context.Background(), Title: "Last", Reply: func(string) {}})
			d.queue.busy--
			d.decideNext()
		})
		if d.shows(); len(d.asks) != 2 || d.asks[0].Title != "Write a.txt" || d.asks[1].Title != "Last" {
			t.Errorf("Neovim shows %+v", d.asks)
		}
		d.on(func() { d.WithdrawAll("cancel") })
		d.settle()
		d.is(write, "nothing was written")
	})
}

// Files of other places, and private ones, are asked about, where nothing is reviewed before too.
func TestFilesThatAreAskedAbout(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.before.Store(false)
		d.is(d.store("a.txt", "x\n"), "")
		check.Equal(t, d.open() == nil, true, "what is free is not asked about: %v")
		other, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		path := must.Write(t, other, "o.txt", "old\n")

		// Outside, before there are rules: with its change.
		got := d.store(path, "new\n")
		d.waits(got)
		snap := d.shows()
		if snap.Title != "Write "+path || snap.Description != "It is outside of the session's folder." || len(snap.Options) != 2 || snap.ToolCallID != "" || snap.Lines[0] != snap.Description {
			t.Errorf("shown is %v", snap)
		}
		if old := d.open().call.Content[0].(session.Diff).OldText; old == nil || *old != "old\n" {
			t.Errorf("it is told of %v", old)
		}
		if !strings.Contains(d.text(), "- old") || !strings.Contains(d.text(), "+ new") || snap.Waited != 0 {
			t.Errorf("the float has\n%s", d.text())
		}
		d.answer("allow")
		d.is(got, "")
		if data, _ := os.ReadFile(path); string(data) != "new\n" || d.remarks() != "" {
			t.Errorf("the file has %q, the chat %q", data, d.remarks())
		}
		clear(d.reviewed)
		got = d.store(path, "new\n")
		if d.answer("allow"); len(d.reviewed) > 0 {
			t.Errorf("of what has changed nothing the record hears %v", d.reviewed)
		}
		d.is(got, "")

		// A new file is told as one; refused, both hear it.
		d.rules([]string{"**/.env"}, rules.Rule{Paths: []string{"ask/*"}, Action: rules.Ask}, rules.Rule{Paths: []string{"no/*"}, Action: rules.Reject})
		got = d.store(other+"/n.txt", "new\n")
		if snap := d.shows(); len(snap.Options) != 4 || !strings.Contains(d.text(), "(new)  +1") {
			t.Errorf("the float has\n%s", d.text())
		}
		d.answer("reject")
		d.is(got, "the user did not allow it, as it is outside of the session's folder")
		d.says("You did not let Puppet write " + other + "/n.txt.")
		if _, err := os.Stat(other + "/n.txt"); err == nil {
			t.Error("it is written")
		}

		// A link, a private file, one that a rule asks about, and one that it rejects.
		must.Do(t, os.Symlink(path, filepath.Join(d.dir, "link")))
		got = d.store("link", "x\n")
		check.Equal(t, d.shows().Description, "It leads to "+path+", outside of the session's folder.", "it says %q")
		d.on(func() { d.WithdrawAll("cancel") })
		d.settle()
		d.is(got, "the user did not allow it, as it leads to "+path)
		d.says("Puppet was not allowed to write link: the question was not answered.")
		got = d.store(".env", "x\n")
		if d.shows().Description != "It is private." || len(d.shows().Options) != 2 {
			t.Errorf("shown is %v", d.shows())
		}
		d.answer("allow")
		d.is(got, "")
		got = d.store("ask/x", "x\n")
		if snap := d.shows(); snap.Description != "" || len(snap.Options) != 2 {
			t.Errorf("shown is %v", snap)
		}
		d.answer("reject")
		d.is(got, "the user did not allow it, as a rule asks about it")
		for range 2 {
			d.is(d.store("no/x", "x\n"), "the user did not allow it, as the user has decided before")
		}
		check.Equal(t, strings.Count(d.remarks(), "Write no/x: Rejected"), 1, "it is said %d times")

		// A read has no change, and is asked about with its own words.
		large := must.Write(t, other, "large", "")
		must.Do(t, os.Truncate(large, diff.LargestFile+1))
		got = d.store(large, "small\n")
		if f := d.diffs.Files(&d.open().call); len(f) != 1 || d.open().call.Content[0].(session.Diff).OldText != nil || f[0].Operation != session.OperationModify {
			t.Errorf("of what is too large to be compared: %+v", f)
		}
		d.answer("reject")
		d.is(got, "did not allow")
		allowed, text := 0, ""
		d.Read(session.ReadTextFile{Context: context.Background(), Path: path, Reply: func(s string, err error) {
			allowed++
			text = fmt.Sprint(s, err)
		}})
		d.settle()
		if snap := d.shows(); snap.Title != "Read "+path || snap.Heading != "Puppet wants to read "+path || snap.Files != 0 {
			t.Errorf("shown is %v", snap)
		}
		check.Equal(t, len(d.asks), 1, "%d questions are open")
		lines := d.shows().Lines
		check.Equal(t, lines[len(lines)-1], "It is outside of the session's folder.", "its last line is %q")
		check.Slice(t, d.reads, []string{"asks"}, "before the answer it is told %q")
		d.answer("reject_always")
		if allowed != 1 || !strings.Contains(text, "the user did not allow it") {
			t.Errorf("answered %d times, %q", allowed, text)
		}
		d.says("You did not let Puppet read " + path)
		d.Read(session.ReadTextFile{Context: context.Background(), Path: path, Reply: func(s string, err error) { text = fmt.Sprint(s, err) }})
		d.settle()
		check.Contains(t, text, "as the user has decided before", "answered %q")
		var failed []error
		d.Read(session.ReadTextFile{Context: context.Background(), Path: other, Reply: func(_ string, err error) { failed = append(failed, err) }})
		if d.settle(); len(failed) != 1 || failed[0] == nil || d.open() != nil {
			t.Errorf("of a folder the agent hears %v", failed)
		}
		d.on(func() { d.stopping = true })
		d.is(d.store(other+"/n.txt", "new\n"), "the user did not allow it")
		d.on(func() { d.ready, d.stopping = false, false })
		d.is(d.store(other+"/n.txt", "new\n"), "the user did not allow it")
		check.Equal(t, strings.Count(d.remarks(), "/n.txt: the question was not answered."), 2, "it is said %d times")
	})
}

// A write that waits is asked about once, whatever it is asked about for; what changes nothing only for its place.
func TestPlacesOfPendingWrites(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.rules([]string{"**/.env"})
		other := t.TempDir()
		path := must.Write(t, other, "o.txt", "old\n")
		got := d.store(path, "new\n")
		if d.shows().Description != "It is outside of the session's folder." || len(d.shows().Options) != 2 {
			t.Errorf("shown is %v", d.shows())
		}
		d.answer(writeIt)
		d.is(got, "")
		got = d.store(path, "new\n")
		d.waits(got)
		if len(d.shows().Options) != 4 || d.open().write != nil {
			t.Errorf("shown is %v", d.shows())
		}
		check.Equal(t, d.open().decision.Why, "", "beside its place it says %q")
		d.answer("allow")
		d.is(got, "")
		if len(d.queue.accepted) > 0 {
			t.Error("what was allowed for its place counts as reviewed")
		}
		must.Write(t, d.dir, ".env", "x\n")
		got = d.store(".env", "y\n")
		if d.shows().Description != "It is private." || d.open().decision.Why != "" { // said once
			t.Errorf("shown is %v", d.shows())
		}
		d.answer(refuse)
		d.is(got, "the user refused this write")
	})
}

// Answers that hold from now on answer the next question, those of a session there alone.
func TestLastingAnswers(t *testing.T) {
	atDesk(t, func(d *desk) {
		kept := d.rules(nil)
		var got []string
		ask := func(command string, options ...session.PermissionOption) {
			t.Helper()
			d.on(func() {
				d.Ask(session.PermissionRequest{
					Context: context.Background(), Options: options, Reply: func(id string) { got = append(got, id) },
					CancelsTurn: command == "five",
					Call:        session.ToolCallPatch{ID: "c" + command, Kind: acp.Set(session.KindExecute), RawInput: acp.Set(json.RawMessage(`{"command":"` + command + `"}`))},
				})
			})
			d.settle()
		}
		answered := func(want ...string) {
			t.Helper()
			d.settle()
			check.Deep(t, got, want, "answered %q")
			got = nil
		}
		once := session.PermissionOption{ID: "once", Name: "Once", Kind: "allow_once"}
		always := session.PermissionOption{ID: "always", Name: "Always", Kind: "allow_always"}
		never := session.PermissionOption{ID: "never", Name: "Never", Kind: "reject_always"}
		here := session.PermissionOption{ID: "here", Name: "Yes, in this session", Kind: "allow_always"}
		no := session.PermissionOption{ID: "no", Name: "No", Kind: "reject_once"}

		ask("one", once, always, no)
		d.answer("once")
		answered("once")
		ask("one", once, always, no)
		d.answer("always")
		answered("always")
		ask("one", once, always, no)
		answered("always")
		d.says("Allowed, as you answered \"Always\" on ")
		ask("one", once, no) // the same by another word
		answered("once")
		ask("one", session.PermissionOption{ID: "always", Name: "Else", Kind: "allow_always"}, once, no)
		answered("once")
		ask("one", session.PermissionOption{ID: "else", Name: "Always", Kind: "allow_always"}, once, no)
		answered("once")
		ask("one", session.PermissionOption{ID: "always", Name: "Always", Kind: "reject_always"}) // it says the opposite by now
		answered()
		if d.open() == nil {
			t.Error("an answer was found that allows")
		}
		d.answer("always")
		answered("always")

		ask("two", once, never)
		d.answer("never")
		answered("never")
		ask("two", once, never)
		answered("never")
		d.says("Rejected, as you answered \"Never\" on ")

		// Of files it is about the one, whether it allows or refuses.
		edits := func(name string) {
			t.Helper()
			d.on(func() {
				d.Ask(session.PermissionRequest{
					Context: context.Background(), Options: []session.PermissionOption{once, always, never}, Reply: func(id string) { got = append(got, id) },
					Call: session.ToolCallPatch{ID: name, Kind: acp.Set(session.KindEdit), Locations: acp.Set([]session.Location{{Path: name}})},
				})
			})
			d.settle()
		}
		edits("f")
		d.answer("never")
		edits("f")
		answered("never", "never")
		edits("g")
		d.answer("always")
		edits("g")
		edits("h")
		d.answer("once")
		edits("f")
		answered("always", "always", "once", "never")

		// For a session only, of which the option says so.
		ask("three", here, no)
		d.answer("here")
		answered("here")
		ask("three", here, no)
		answered("here")
		list, err := kept.List()
		if err != nil || len(list) != 5 || list[4].Session != 1 || list[0].Session != 0 {
			t.Errorf("kept are %+v, %v", list, err)
		}

		// Not kept: what an option means twice, and what is answered with hunks refused.
		ask("four", always, session.PermissionOption{ID: "always", Name: "No", Kind: "reject_always"})
		d.answer("always")
		answered("always")
		// Nor what is no answer to it.
		ask("five", once)
		p := d.open()
		d.answer("other")
		check.Equal(t, d.noted(), `warning: the request has no option "other"`, "the user is not told: %v")
		d.on(func() { d.Respond(p.id+7, "once") })
		check.Equal(t, d.noted(), "info: this request has already been answered", "the user is not told: %v")
		answered()
		d.answer("")
		answered("")
		check.Equal(t, d.cancels, 1, "a request that is cancelled does not cancel the turn, as :Acp cancel does: %v")
		ask("six", once)
		d.answer("")
		answered("")
		check.Equal(t, d.cancels, 1, "the turn is cancelled where that means no more than no: %v")
		if list, _ := kept.List(); len(list) != 5 {
			t.Errorf("%d are kept", len(list))
		}
		// What is asked while an answer is being kept is decided by it.
		request := func() {
			d.Ask(session.PermissionRequest{
				Context: context.Background(), Options: []session.PermissionOption{once, always}, Reply: func(id string) { got = append(got, id) },
				Call: session.ToolCallPatch{ID: "c", Kind: acp.Set(session.KindExecute), RawInput: acp.Set(json.RawMessage(`{"command":"six"}`))},
			})
		}
		d.on(request)
		d.settle()
		d.on(func() {
			d.Respond(d.queue.pending[0].id, "always")
			request()
		})
		answered("always", "always")

		// The file of answers cannot be used.
		must.Do(t, os.WriteFile(filepath.Join(d.t.TempDir(), "x"), nil, 0o666))
		d.policy.Store(policy.New(rules.List{}, answers.Open(filepath.Join(d.dir, "a.txt", "answers.json"))))
		ask("seven", once, always)
		if !strings.HasPrefix(d.noted(), "warning: your lasting answers cannot be used") || !strings.Contains(d.remarks(), "Your lasting answers: ") {
			t.Error("the user is not told")
		}
		d.answer("always")
		answered("always")
		brief := "warning: your answer was not saved: not a directory"
		folder := "so you will be asked again: " + d.dir + "/a.txt cannot be written (not a directory)."
		if noted, said := d.noted(), d.remarks(); noted != brief || !strings.Contains(said, folder) {
			t.Errorf("the user is told %q, and in the chat %q", noted, said)
		}
	})
}

// A request that comes before an answer is kept waits for that, and is answered as it.
func TestTheSameIsAskedAsAnAnswerIsKept(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.rules(nil)
		var got []string
		ask := func(id string) {
			d.Ask(session.PermissionRequest{
				Context: context.Background(), Reply: func(option string) { got = append(got, id+" "+option) },
				Options: []session.PermissionOption{{ID: "once", Kind: "allow_once"}, {ID: "always", Name: "Always", Kind: "allow_always"}},
				Call: session.ToolCallPatch{
					ID: id, Kind: acp.Set(session.KindExecute), RawInput: acp.Set(json.RawMessage(`{"command":"make"}`)),
				},
			})
		}
		d.on(func() { ask("one") })
		d.settle()
		p := d.open()
		d.on(func() {
			d.Respond(p.id, "always")
			ask("two")
		})
		d.settle()
		check.Slice(t, got, []string{"one always", "two always"}, "answered are %q")
	})
}

// A rule that cannot be followed, as the agent has no such answer, has the user asked; what it rejects is said.
func TestRulesAnswer(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.rules(nil, rules.Rule{Commands: []string{"yes"}, Action: rules.Allow}, rules.Rule{Commands: []string{"no"}, Action: rules.Reject}, rules.Rule{Commands: []string{"ask"}, Action: rules.Ask})
		var got []string
		ask := func(command string, kinds ...string) string {
			t.Helper()
			got = nil
			var options []session.PermissionOption
			for _, k := range kinds {
				options = append(options, session.PermissionOption{ID: k, Kind: k, Name: k})
			}
			d.on(func() {
				d.Ask(session.PermissionRequest{Context: context.Background(), Command: command, Options: options, Reply: func(id string) { got = append(got, id) }})
			})
			d.settle()
			if d.open() != nil {
				d.on(func() { d.WithdrawAll("cancel") })
				return "asked"
			}
			return strings.Join(got, " ")
		}
		for _, c := range []struct {
			command string
			kinds   []string
			want    string
		}{
			{"yes", []string{"reject_once", "allow_always", "allow_once"}, "allow_once"},
			{"yes", []string{"reject_once", "allow_always"}, "allow_always"},
			{"yes", []string{"reject_once"}, "asked"},
			{"no", []string{"allow_once", "reject_always", "reject_once"}, "reject_once"},
			{"no", []string{"allow_once"}, "asked"},
			{"ask", []string{"allow_once", "reject_once"}, "asked"},
			{"other", []string{"allow_once", "reject_once"}, "asked"},
		} {
			check.Equal(t, ask(c.command, c.kinds...), c.want, "%s, with %q: %s", c.command, c.kinds)
		}
		// Asked are those that no rule could answer; the rest is told as answered.
		want := []string{"Resolved allow_once rule", "Resolved allow_always rule", "Request <nil> <nil>", "Resolved <nil> cancel", "Resolved reject_once rule"}
		if d.settle(); len(d.events) < 5 || !slices.Equal(d.events[:5], want) {
			t.Errorf("the events are %q", d.events)
		}
		for command, want := range map[string]session.ToolCallStatus{"yes": session.StatusInProgress, "no": session.StatusRejected} {
			d.on(func() {
				d.Ask(session.PermissionRequest{
					Context: context.Background(), Call: session.ToolCallPatch{ID: command, Title: acp.Set(command)}, Command: command, Reply: func(string) {},
					Options: []session.PermissionOption{{ID: "y", Kind: "allow_once"}, {ID: "n", Kind: "reject_once"}},
				})
			})
			d.settle()
			check.Equal(t, d.conv.ToolCall(command).Shown(), want, "of %q the chat shows %s", command)
		}
		d.says("Allowed by your rule 1")
		d.says("Rejected by your rule 2")
		// Answers kept before do not answer where a rule asks.
		d.on(func() {
			d.Ask(session.PermissionRequest{Context: context.Background(), Command: "no", Reply: func(string) {}})
		})
		d.settle()
		if why := d.open().decision.Why; !strings.Contains(why, "would reject it, but the agent offers no such answer") || !strings.Contains(d.text(), why) {
			t.Errorf("asked because %q", why)
		}
	})
}

// An agent without an answer that refuses makes what was refused too: it is told when the call has ended.
func TestWhatIsTakenOutAfterwards(t *testing.T) {
	atDesk(t, func(d *desk) {
		f, hunks := hunksBetween(nine, nineBut("2", "two\n", "5", "five\n", "8", "eight\n"))
		fragment := diff.Told(replacing("/elsewhere/b", "a\n1\n", "a\n2\n"))
		empty := diff.Whole(d.dir+"/empty", session.OperationAdd, "", "")
		many := diff.Whole(d.dir+"/many", session.OperationModify, strings.Repeat("a\nb\n", 12), strings.Repeat("A\nb\n", 12))
		every := make([]bool, 12)
		for i := range every {
			every[i] = true
		}
		d.on(func() {
			d.queue.unwanted = []unwanted{
				{"one", []*selection{{&f, hunks, []bool{true, false, true}}, {&fragment, fragment.Parts(), []bool{true}}, {&empty, empty.Parts(), []bool{true}}}, 4, 5},
				{"two", []*selection{{&many, many.Parts(), every}}, 12, 12},
				{"three", []*selection{{&f, hunks, []bool{true, false, true}}}, 2, 3},
			}
			d.warnUnwanted("none", false, true)
			d.CallEnded(&session.ToolCall{ID: "one"}, session.StatusCompleted)
		})
		if got, want := d.remarks(), "Puppet offered no answer that refuses, so all of it was allowed, with the 4 of 5 hunks that you refused: /p/a.lua:2, /p/a.lua:8, /elsewhere/b, empty.\n:Acp review is where you can take them out.\n"; got != want {
			t.Errorf("the chat has %q", got)
		}
		ten := diff.Whole(d.dir+"/ten", session.OperationModify, strings.Repeat("a\nb\n", 10), strings.Repeat("A\nb\n", 10))
		d.on(func() {
			d.queue.unwanted = append(d.queue.unwanted, unwanted{"four", []*selection{{&ten, ten.Parts(), every[:10]}}, 10, 10})
			d.warnUnwanted("four", false, true)
		})
		check.Contains(t, d.remarks(), "ten:19.\n", "the chat has %q")
		d.on(func() {
			d.CallEnded(&session.ToolCall{ID: "three"}, session.StatusFailed)
			d.warnUnwanted("", true, true)
		})
		if got := d.remarks(); strings.Count(got, "no answer that refuses") != 3 || !strings.Contains(got, "the 12 of 12 hunks that you refused: many:1, many:3") || !strings.Contains(got, "many:19, and 2 more.") {
			t.Errorf("the chat has %q", got)
		}
	})
}

// Hunks of a request are refused and kept, in the diff that is looked at; what that makes of the answers is said.
func TestHunkSelectionOfARequest(t *testing.T) {
	atDesk(t, func(d *desk) {
		path := filepath.Join(d.dir, "a.txt")
		ask := func(kinds ...string) {
			t.Helper()
			var options []session.PermissionOption
			for _, k := range kinds {
				options = append(options, session.PermissionOption{ID: k, Kind: k, Name: k})
			}
			d.on(func() {
				d.WithdrawAll("cancel")
				d.Ask(session.PermissionRequest{
					Context: context.Background(), Options: options, Reply: func(string) {},
					Call: session.ToolCallPatch{ID: "c", Kind: acp.Set(session.KindEdit), Content: acp.Set([]session.ToolCallContent{
						replacing(path, nine, nineBut("2", "two\n", "8", "eight\n")), replacing(path, "nowhere", "else"),
					})},
				})
			})
			d.settle()
		}
		ask("allow_once", "reject_once")
		if d.shows().Selection != nil || strings.Contains(d.text(), "refused") {
			t.Errorf("before anything is refused:\n%s", d.text())
		}
		d.selects(2, 2, true)
		if want := []rpc.HunkSelection{{Looked: 1, Refused: []int{2}}, {Looked: 1, Refused: []int{}}}; !reflect.DeepEqual(d.shows().Selection, want) {
			t.Errorf("the selection is %v", d.shows().Selection)
		}
		check.Contains(t, d.text(), "✗ 1 of 3 hunks refused\n  allowing asks for the rest", "the float has\n%s")
		p := d.open()
		for _, m := range []rpc.SelectHunks{{File: 0}, {File: 3}} {
			m.Permission, m.Callback, m.Looked = int(p.id), 98, 1
			d.on(func() { d.SelectHunks(m) })
			if d.called(98)[0] != false {
				t.Errorf("%v is refused", m)
			}
		}
		d.on(func() { d.SelectHunks(rpc.SelectHunks{Asks: rpc.Asks{Callback: 98}, Permission: int(p.id) + 9}) })
		if d.called(98)[0] != true {
			t.Error("what was answered is to be looked at again")
		}
		m := rpc.SelectHunks{Asks: rpc.Asks{Callback: 98}, Permission: int(p.id), Looked: 1, File: 2, First: 1, Last: 1, Refuse: true}
		d.on(func() { d.SelectHunks(m) })
		d.settle()
		d.selects(1, 1, true)
		check.Contains(t, d.text(), "✗ 3 of 3 hunks refused\n  allowing it refuses it", "the float has\n%s")
		// Looked for again, in a file that has changed above.
		must.Write(t, d.dir, "a.txt", nineBut("2", "two\n"))
		d.on(func() { d.diffs.LookAgain(&d.queue.pending[0].call) })
		d.settle()
		if d.selects(1, 1, false, 1) != false {
			t.Error("hunks of the look before are kept")
		}
		if got := d.shows().Selection[0]; got.Looked != 2 {
			t.Errorf("the selection is %v", got)
		}
		ask("allow_once")
		m.Permission = int(d.open().id)
		for _, which := range []int{1, 2} { // the first file, and all
			m.File, m.First, m.Last = which, 1, 9
			d.on(func() { d.SelectHunks(m) })
			if !strings.Contains(d.text(), fmt.Sprintf("✗ %d of 3 hunks refused\n  Puppet would make them too", which+1)) {
				t.Errorf("the float has\n%s", d.text())
			}
		}
		d.on(func() { d.WithdrawAll("cancel") })

		// Conflicts of a pending write, with and without something refused.
		for n, want := range map[int]string{0: "", 1: "⚠ 1 place conflicts with your text: yours stays", 2: "⚠ 2 places conflict with your text: yours stay"} {
			got := &pendingWrite{}
			got.Conflicts = n
			var lines []string
			d.on(func() {
				for _, l := range d.selectionLines(&request{write: got}) {
					lines = append(lines, l.Text)
				}
			})
			if strings.Join(lines, "\n") != want {
				t.Errorf("with %d conflicts it says %q", n, lines)
			}
		}
	})
}

// The agent is told of refused hunks where they are when the user answers.
func TestRefusedHunksOfAFileThatChanges(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.on(func() {
			d.Ask(session.PermissionRequest{
				Context: context.Background(), Reply: func(string) {},
				Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}, {ID: "no", Kind: "reject_once"}},
				Call: session.ToolCallPatch{ID: "c", Kind: acp.Set(session.KindEdit), Content: acp.Set([]session.ToolCallContent{
					replacing(filepath.Join(d.dir, "a.txt"), "2\n3\n4\n", "two\n3\nfour\n"),
				})},
			})
		})
		d.settle()
		d.selects(1, 1, true)
		must.Write(t, d.dir, "a.txt", "0\n"+nine)
		d.on(func() { d.diffs.LookAgain(&d.queue.pending[0].call) })
		d.settle()
		d.answer("yes")
		if len(d.prompts) != 1 || !strings.Contains(d.prompts[0], "- refused: line 3\n") || !strings.Contains(d.prompts[0], "- kept: line 5\n") {
			t.Errorf("the prompts are %q", d.prompts)
		}
	})
}

// Where a hunk is, in words.
func TestPlaceOfAHunk(t *testing.T) {
	file := func(op session.Operation, old, text string) *diff.FileDiff {
		f := diff.Whole("f", op, old, text)
		return &f
	}
	told := diff.Told(replacing("f", "a\n", "b\n"))
	for _, c := range []struct {
		f    *diff.FileDiff
		want string
	}{
		{file(session.OperationModify, "a\nb\nc\n", "a\nc\n"), "line 2"},
		{file(session.OperationModify, "a\nb\nc\n", "x\ny\nz\n"), "lines 1-3"},
		{file(session.OperationModify, "a\nb\nc\n", "x\ny\nc\n"), "lines 1-2"},
		{file(session.OperationModify, "a\nb\n", "a\nx\ny\nb\n"), "2 new lines before line 2"},
		{file(session.OperationAdd, "", "a\n"), "the new file"},
		{file(session.OperationModify, "\x00", "\x00\x01"), "all of it"},
		{&told, "in the text that you gave"},
	} {
		check.Equal(t, placeOf(c.f, c.f.Parts()[0]), c.want, "it is %q")
	}
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{"", "  ", " a  b "}, "(a b …)"}, {[]string{"a"}, "(a)"}, {[]string{""}, "(empty)"},
		{[]string{strings.Repeat("x", quotedWords)}, "(" + strings.Repeat("x", quotedWords) + ")"},
		{[]string{strings.Repeat("x", quotedWords+1)}, "(" + strings.Repeat("x", quotedWords) + " …)"},
	} {
		check.Equal(t, firstWords(c.lines), c.want, "%q begins %q", c.lines)
	}
	if bounded(strings.Repeat("x", quotedWidth)) != strings.Repeat("x", quotedWidth) || bounded(strings.Repeat("x", quotedWidth+1)) != strings.Repeat("x", quotedWidth)+"…" {
		t.Error("a line is cut elsewhere")
	}
}

// Each question has one answer, whatever comes after.
func TestQuestionsHaveOneAnswer(t *testing.T) {
	atDesk(t, func(d *desk) {
		var got []string
		ask := func() {
			d.Ask(session.PermissionRequest{
				Context: context.Background(), Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}},
				Call: session.ToolCallPatch{ID: "c", Title: acp.Set("c")}, Reply: func(id string) { got = append(got, id) },
			})
		}
		d.on(func() {
			ask()
			p := d.queue.pending[0]
			d.resolve(p, "yes", "user")
			d.resolve(p, "", "cancel")
			d.ready = false
			ask()
			d.ready = true
		})
		d.settle()
		if !slices.Equal(got, []string{"yes", ""}) || d.open() != nil {
			t.Errorf("answered %q", got)
		}
		// What is told of a call after its question is no question.
		d.on(func() { d.Observe(session.ToolCallPatch{}) })
		d.on(func() { d.Observe(session.ToolCallPatch{ID: "c"}) })
		// Nor is what is told of no call a question without one.
		d.on(func() {
			d.Ask(session.PermissionRequest{Context: context.Background(), Title: "Use the network", Reply: func(string) {}})
			d.Observe(session.Waiting{})
			d.WithdrawAll("cancel")
		})

		// Who reads may, with or without a question.
		passed, refused := 0, 0
		read := func(path string) {
			f := &fileRequest{ctx: context.Background(), kind: session.KindRead, path: path}
			d.decideAccess(f, path, func(err error) {
				if err == nil {
					passed++
				} else {
					refused++
				}
			})
			d.settle()
		}
		read(filepath.Join(d.dir, "a.txt"))
		if passed != 1 || refused != 0 {
			t.Errorf("passed %d times, refused %d", passed, refused)
		}
		outside := must.Write(t, t.TempDir(), "o.txt", "")
		read(outside)
		d.answer("reject")
		if passed != 1 || refused != 1 {
			t.Errorf("passed %d times, refused %d", passed, refused)
		}
		read(outside)
		d.answer("allow")
		if passed != 2 || refused != 1 {
			t.Errorf("passed %d times, refused %d", passed, refused)
		}
	})
}

// What the user has allowed is the file that they were asked about: a link that leads to another one by then is refused,
// whether it is read, written as it is, or written in part.
func TestALinkThatLeadsElsewhereByThen(t *testing.T) {
	for name, c := range map[string]struct {
		reads, reviewed, part bool
	}{
		"read": {reads: true}, "written": {}, "written after a review": {reviewed: true}, "written in part": {reviewed: true, part: true},
	} {
		t.Run(name, func(t *testing.T) {
			atDesk(t, func(d *desk) {
				d.before.Store(c.reviewed)
				other := t.TempDir()
				must.Write(t, other, "asked", nine)
				secret := must.Write(t, other, "secret", "secret\n")
				link := filepath.Join(d.dir, "link")
				must.Do(t, os.Symlink(filepath.Join(other, "asked"), link))
				var got *stored
				if c.reads {
					got = &stored{}
					d.Read(session.ReadTextFile{Context: context.Background(), Path: link, Reply: func(text string, err error) {
						got.answered++
						got.err = err
						check.Equal(t, text, "", "it reads %q")
					}})
				} else {
					got = d.store("link", nineBut("2", "two\n", "8", "eight\n"))
				}
				option := "allow"
				if c.reviewed {
					option = writeIt
				}
				d.shows()
				if c.part {
					d.selects(1, 1, true)
				}
				must.Do(t, os.Remove(link), os.Symlink(secret, link))
				d.answer(option)
				d.is(got, "the path now leads to another file")
				data, err := os.ReadFile(secret)
				must.Do(t, err)
				check.Equal(t, string(data), "secret\n", "the other file has %q")
			})
		})
	}
}
