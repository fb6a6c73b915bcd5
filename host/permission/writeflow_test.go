package permission

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/policy"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

func TestPendingWriteIsAllowed(t *testing.T) {
	atDesk(t, func(d *desk) {
		text := nineBut("2", "two\n", "8", "eight\n")
		got := d.store("a.txt", text)
		d.waits(got)
		d.has("a.txt", nine)
		snap := d.shows()
		if snap.Title != "Write a.txt" || snap.Heading != "Puppet wants to write a.txt" || snap.Waited == 0 || snap.Waited > 60 || snap.Description != "" {
			t.Errorf("shown is %v", snap)
		}
		if !strings.Contains(d.text(), "a.txt  +2 −2") || strings.Contains(d.text(), "✗") {
			t.Errorf("the float has\n%s", d.text())
		}
		options := snap.Options
		if len(options) != 2 || snap.Allow != writeIt || snap.Reject != refuse {
			t.Errorf("the answers are %v", options)
		}
		check.Deep(t, snap.Selection, []rpc.HunkSelection{{Looked: 1, Refused: []int{}}}, "the selection is %v")
		if told := d.open().call.Content[0].(session.Diff); told.OldText == nil || *told.OldText != nine || *told.NewText != text {
			t.Errorf("it is told as %+v", told)
		}
		d.answer(writeIt)
		d.is(got, "")
		d.has("a.txt", text)
		if !d.reviewed[filepath.Join(d.dir, "a.txt")] {
			t.Error("the change does not count as reviewed")
		}
		if want := []string{"Request <nil> <nil>", "Resolved allow user"}; !slices.Equal(d.events, want) || len(d.asks) > 0 {
			t.Errorf("the events are %q, and %d wait", d.events, len(d.asks))
		}
		if d.open() != nil || d.noted() != "" || d.remarks() != "" {
			t.Errorf("something else is told: %q", d.remarks())
		}

		// Each question has a number of its own.
		first := snap.ID
		got = d.store("a.txt", nine)
		if d.shows().ID == first {
			t.Error("two questions have the same number")
		}
		d.answer(refuse)
		d.is(got, "nothing was written")

		// What the file has already is not asked about; a new file is.
		got = d.store("a.txt", text)
		d.is(got, "")
		got = d.store("new/b.txt", "b\n")
		d.waits(got)
		check.Equal(t, d.open().write.known, true, "what it makes is known: %v")
		check.Contains(t, d.text(), "new/b.txt (new)  +1", "the float has\n%s")
		check.Equal(t, d.diffs.Files(&d.open().call)[0].Operation, session.OperationAdd, "it is told as %q")
		check.Equal(t, d.open().call.Content[0].(session.Diff).Operation, session.OperationAdd, "its call tells %q")
		d.answer(writeIt)
		d.is(got, "")
		d.has("new/b.txt", "b\n")
		got = d.store("empty.txt", "")
		d.waits(got)
		d.answer(writeIt)
		d.is(got, "")
		d.has("empty.txt", "")
	})
}

func TestPendingWriteIsRefused(t *testing.T) {
	atDesk(t, func(d *desk) {
		text := nineBut("2", "two\n", "8", "eight\n")
		got := d.store("a.txt", text)
		d.answer(refuse)
		d.is(got, "the user refused this write, so nothing was written")
		if !errors.Is(got.err, ErrNotAllowed) || errors.Is(got.err, context.Canceled) {
			t.Errorf("to the client it is %v", got.err)
		}
		d.has("a.txt", nine)
		d.says("You did not let Puppet write a.txt.")

		got = d.store("a.txt", text)
		d.selects(1, 2, true)
		d.answer(writeIt) // with all hunks refused
		d.is(got, "the user refused this write, so nothing was written")

		got = d.store("a.txt", text)
		got.withdraw()
		d.settle()
		d.is(got, "context canceled")
		d.says("Puppet has withdrawn its write of a.txt.")
		if d.open() != nil {
			t.Error("what was withdrawn is asked still")
		}

		got = d.store("a.txt", text)
		d.on(func() { d.WithdrawAll("cancel") })
		d.settle()
		d.is(got, "the user has not decided about this write, so nothing was written")
		d.says("Puppet was not allowed to write a.txt: the question was not answered.")
		d.has("a.txt", nine)
		got = d.store("a.txt", text)
		d.answer("")
		d.is(got, "the user has not decided about this write")
		check.Equal(t, d.cancels, 1, "the turn is cancelled %d times")

		d.on(func() { d.stopping = true })
		d.is(d.store("a.txt", text), "the user has not decided about this write")
		d.on(func() { d.stopping, d.ready = false, false })
		d.is(d.store("a.txt", text), "the user has not decided about this write")
		d.on(func() { d.ready = true })
		check.Equal(t, strings.Count(d.remarks(), "write a.txt: the question was not answered."), 4, "it is said %d times")

		// A rule that rejects has decided before; one that allows is no review.
		d.rules(nil, rules.Rule{Paths: []string{"*.no"}, Action: rules.Reject}, rules.Rule{Kinds: []string{"edit"}, Action: rules.Allow})
		d.is(d.store("x.no", "x\n"), "the user has decided before to refuse this write, so nothing was written")
		d.says("Write x.no: Rejected by your rule 1")
		got = d.store("a.txt", text)
		d.waits(got)
		d.answer(writeIt)
		d.is(got, "")
		must.Do(t, os.Mkdir(filepath.Join(d.dir, "folder"), 0o777))
		check.Equal(t, d.noted(), "", "what they have decided the user is told: %q")
		d.is(d.store("folder", "x"), "is a directory", "folder: ")
		check.Equal(t, d.noted(), "error: Puppet could not write folder: it is a directory", "the user is told %q")
	})
}

func TestPendingWriteIsTakenInPart(t *testing.T) {
	atDesk(t, func(d *desk) {
		text := nineBut("2", "two\n", "5", "five\n", "8", "eight\n")
		got := d.store("a.txt", text)
		if d.selects(1, 1, true, 7) != false {
			t.Error("hunks of another diff are refused")
		}
		if d.selects(0, 2, true) != true || !strings.Contains(d.text(), "✗ 2 of 3 hunks refused\n  they are not written") {
			t.Errorf("the float has\n%s", d.text())
		}
		d.selects(2, 2, false)
		d.selects(3, 9, true)
		check.Deep(t, d.shows().Selection, []rpc.HunkSelection{{Looked: 1, Refused: []int{1, 3}}}, "the selection is %v")
		d.answer(writeIt)
		d.is(got, "only the rest was written. Refused, by the lines of your text: line 2 (two) not written, the file has 1 line (2) there; line 8 (eight)")
		d.has("a.txt", nineBut("5", "five\n"))
		d.says("You refused 2 of 3 hunks of a.txt: the rest is written, and Puppet was told.")
		if !d.reviewed[filepath.Join(d.dir, "a.txt")] {
			t.Error("the change does not count as reviewed")
		}
	})
}

func TestPendingWriteOfAFileThatChanges(t *testing.T) {
	atDesk(t, func(d *desk) {
		text := nineBut("2", "two\n", "8", "eight\n")
		got := d.store("a.txt", text)
		d.selects(2, 2, true)
		must.Write(t, d.dir, "a.txt", nineBut("2", "mine\n"))
		d.answer(writeIt)
		d.waits(got)
		if want := "warning: a.txt has changed meanwhile: look at the hunks again, then answer"; d.noted() != want {
			t.Error("the user is not told")
		}
		if !strings.Contains(d.text(), "mine") || !strings.Contains(d.text(), "1 of 2 hunks refused") {
			t.Errorf("the float has\n%s", d.text())
		}
		check.Deep(t, d.shows().Selection, []rpc.HunkSelection{{Looked: 2, Refused: []int{2}}}, "the selection is %v")

		// It follows what the user types, of which Lua lists the buffers; and what they have saved of it.
		hear := func(list ...string) {
			d.on(func() { d.HearUnsaved(list) })
			d.settle()
		}
		must.Write(t, d.dir, "a.txt", nineBut("2", "typed\n"))
		hear(filepath.Join(d.dir, "b.txt"))
		if strings.Contains(d.text(), "typed") {
			t.Error("it is looked at again for another file")
		}
		hear(filepath.Join(d.dir, "a.txt"))
		check.Contains(t, d.text(), "typed", "the float has\n%s")
		looked := d.diffs.Changes(&d.open().call)[0].Looked
		hear(filepath.Join(d.dir, "a.txt"))
		check.Equal(t, d.diffs.Changes(&d.open().call)[0].Looked, looked, "the same is shown anew: %v")
		must.Write(t, d.dir, "a.txt", nineBut("2", "saved\n"))
		hear()
		check.Contains(t, d.text(), "saved", "the float has\n%s")
		must.Write(t, d.dir, "a.txt", nineBut("2", "later\n"))
		hear()
		if strings.Contains(d.text(), "later") {
			t.Error("it is looked at again for nothing")
		}
		// What is no text any more has no hunks.
		d.selects(1, 1, true)
		must.Write(t, d.dir, "a.txt", "\x00")
		d.answer(writeIt)
		if text := d.text(); strings.Contains(text, "refused") {
			t.Errorf("the float has\n%s", text)
		}
		must.Write(t, d.dir, "a.txt", nine)
		hear(filepath.Join(d.dir, "a.txt"))
		if text := d.text(); strings.Contains(text, "refused") {
			t.Errorf("a text again, the float has\n%s", text)
		}
		d.answer(refuse)
		d.is(got, "nothing was written")

		// A link is known by its own name and by that of its file.
		link := filepath.Join(d.dir, "link")
		must.Do(t, os.Symlink("a.txt", link))
		got = d.store("link", text)
		for i, name := range []string{link, filepath.Join(d.dir, "a.txt")} {
			typed := fmt.Sprintf("typed %d", i)
			must.Write(t, d.dir, "a.txt", nineBut("3", typed+"\n"))
			hear(name)
			check.Contains(t, d.text(), typed, "the float has\n%s")
			hear()
		}
		d.answer(refuse)
		d.is(got, "nothing was written")
	})
}

func TestPendingWriteIsEdited(t *testing.T) {
	atDesk(t, func(d *desk) {
		text := nineBut("2", "two\n", "8", "eight\n")
		edit := func(on bool) []any {
			t.Helper()
			d.on(func() {
				d.EditPending(rpc.EditPending{Asks: rpc.Asks{Callback: 5}, Permission: int(d.queue.pending[0].id), On: on})
			})
			return d.called(5)
		}
		save := func(text string) (failure string) {
			t.Helper()
			d.on(func() {
				id := int64(0)
				if len(d.queue.pending) > 0 {
					id = d.queue.pending[0].id
				}
				d.WriteEdited(rpc.WriteEdited{Asks: rpc.Asks{Callback: 6}, Permission: int(id), Text: text})
			})
			got := d.called(6)
			if got == nil {
				t.Fatal("it is not said what has become of it")
			}
			return got[1].(string)
		}
		got := d.store("a.txt", text)
		d.selects(2, 2, true)
		check.Slice(t, edit(true)[0].(rpc.EditedText).Lines, diff.TextLines(nineBut("2", "two\n")),
			"to be edited are %v")
		check.Contains(t, d.text(), "✎ you are editing the text: :w in its window writes it", "the float has\n%s")
		d.answer(writeIt)
		d.waits(got)
		if d.noted() != "info: you are editing the text: :w in its window writes it" {
			t.Error("the user is not told that they edit it")
		}
		// Not edited any more, it shows what the file has by now.
		must.Write(t, d.dir, "a.txt", nineBut("2", "mine\n"))
		d.on(func() { d.HearUnsaved([]string{filepath.Join(d.dir, "a.txt")}) })
		d.settle()
		check.Equal(t, d.open().write.Before, nine, "what is edited has changed: %v")
		if edit(false) != nil || strings.Contains(d.text(), "✎") || !strings.Contains(d.text(), "mine") {
			t.Errorf("the float has\n%s", d.text())
		}
		edit(true)
		check.Equal(t, save(nineBut("2", "both\n")), "", "not written: %s")
		d.is(got, "the user changed this text before it was written, and theirs was written", "line 2 (two) not written, the file has 1 line (both) there; line 8 (eight)")
		d.has("a.txt", nineBut("2", "both\n"))
		d.says("You changed Puppet's text of a.txt: yours is written, and Puppet was told.")
		check.Equal(t, save("x\n"), noLongerWaits, "of what waits no more it is said %q")

		// Changed in the same lines meanwhile: once more writes over that.
		must.Write(t, d.dir, "a.txt", nine)
		got = d.store("a.txt", text)
		edit(true)
		must.Write(t, d.dir, "a.txt", nineBut("2", "mine\n"))
		if failure := save(nineBut("2", "TWO\n")); failure != "a.txt has changed in the same lines meanwhile: another :w writes your text over that." {
			t.Errorf("it is said %q", failure)
		}
		d.waits(got)
		check.Equal(t, d.noted(), "", "the user is told %q")
		check.Equal(t, save(nineBut("2", "TWO\n")), "", "not written: %s")
		d.is(got, "the user changed this text")
		d.has("a.txt", nineBut("2", "TWO\n"))
		check.Equal(t, strings.Count(d.remarks(), "You changed Puppet's text of a.txt"), 2, "it is said %d times")

		// Changed in other lines meanwhile, and one hunk refused: both stay.
		must.Write(t, d.dir, "a.txt", nine)
		got = d.store("a.txt", text)
		edit(true)
		must.Write(t, d.dir, "a.txt", nineBut("5", "mine\n"))
		check.Equal(t, save(nineBut("2", "TWO\n")), "", "not written: %s")
		d.is(got, "the user changed this text")
		d.has("a.txt", nineBut("2", "TWO\n", "5", "mine\n"))
		must.Write(t, d.dir, "a.txt", nine)
		got = d.store("a.txt", text)
		d.selects(2, 2, true)
		d.answer(writeIt)
		d.is(got, "only the rest was written")
		d.has("a.txt", nineBut("2", "two\n"))

		// As it was, it is the agent's; what cannot be written is said.
		got = d.store("a.txt", text)
		edit(true)
		check.Equal(t, save(text), "", "not written: %s")
		d.is(got, "")
		d.has("a.txt", text)
		got = d.store("a.txt", "no newline")
		edit(true)
		check.Equal(t, save("no newline at all\n"), "", "not written: %s")
		d.has("a.txt", "no newline at all")
		d.is(got, "the user changed this text")

		// Of nothing the user makes a text, of a text what the file has anyway.
		got = d.store("a.txt", "")
		edit(true)
		check.Equal(t, save("x\n"), "", "not written: %s")
		d.has("a.txt", "x\n")
		d.is(got, "the user changed this text")
		clear(d.reviewed)
		got = d.store("a.txt", "y\n")
		edit(true)
		check.Equal(t, save("x\n"), "", "not written: %s")
		d.is(got, "the user changed this text")
		check.Equal(t, len(d.reviewed), 0, "of what has changed nothing the record hears %d times")
	})
}

// What is no write, or was answered, is not edited.
func TestWhatIsNotEdited(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.on(func() {
			d.Ask(session.PermissionRequest{Context: context.Background(), Title: "Use the network", Reply: func(string) {}})
		})
		d.settle()
		for _, id := range []int{int(d.open().id), 999} {
			for _, on := range []bool{true, false} {
				d.on(func() { d.EditPending(rpc.EditPending{Asks: rpc.Asks{Callback: 5}, Permission: id, On: on}) })
				if got := d.called(5); got == nil || got[0] != nil {
					t.Errorf("to be edited is %v", got)
				}
			}
			d.on(func() { d.WriteEdited(rpc.WriteEdited{Asks: rpc.Asks{Callback: 6}, Permission: id, Text: "x\n"}) })
			if got := d.called(6); got == nil || got[1] != noLongerWaits {
				t.Errorf("of what is edited nonetheless it is said %q", got)
			}
		}
		d.on(func() { d.WithdrawAll("cancel") })
	})
}

// A write can be edited, and answered, before Neovim has been told of its hunks.
func TestPendingWriteIsAnsweredAtOnce(t *testing.T) {
	atDesk(t, func(d *desk) {
		text := nineBut("2", "two\n")
		write := func(then func(id int)) (errs []error) {
			d.Write(session.WriteTextFile{Context: context.Background(), Path: filepath.Join(d.dir, "a.txt"), Text: text, Reply: func(err error) { errs = append(errs, err) }})
			synctest.Wait()
			d.on(func() { then(int(d.queue.pending[0].id)) })
			d.settle()
			return errs
		}
		write(func(id int) {
			d.EditPending(rpc.EditPending{Asks: rpc.Asks{Callback: 5}, Permission: id, On: true})
			d.WithdrawAll("cancel")
		})
		check.Slice(t, d.called(5)[0].(rpc.EditedText).Lines, diff.TextLines(text), "to be edited are %v")
		if errs := write(func(id int) { d.Respond(int64(id), writeIt) }); len(errs) != 1 || errs[0] != nil {
			t.Errorf("answered %v", errs)
		}
		d.has("a.txt", text)
	})
}

// Two answers at once: the second comes while the file is being looked at for the first.
func TestPendingWriteIsAnsweredTwice(t *testing.T) {
	atDesk(t, func(d *desk) {
		got := d.store("a.txt", nineBut("2", "two\n"))
		d.on(func() {
			id := d.queue.pending[0].id
			d.Respond(id, writeIt)
			d.Respond(id, writeIt)
			d.WriteEdited(rpc.WriteEdited{Asks: rpc.Asks{Callback: 6}, Permission: int(id), Text: "x\n"})
		})
		check.Equal(t, d.called(6)[1], "a.txt is being written with the text of the :w before this one.",
			"it is said %q")
		d.is(got, "")
		d.has("a.txt", nineBut("2", "two\n"))

		got = d.store("a.txt", nine)
		d.on(func() { // withdrawn while it is looked at
			d.WriteEdited(rpc.WriteEdited{Asks: rpc.Asks{Callback: 6}, Permission: int(d.queue.pending[0].id), Text: "x\n"})
			d.WithdrawAll("cancel")
		})
		check.Equal(t, d.called(6)[1], noLongerWaits, "it is said %q")
		d.is(got, "nothing was written")

		got = d.store("a.txt", nine)
		d.on(func() { // when it was looked at, before that is heard
			d.WriteEdited(rpc.WriteEdited{Asks: rpc.Asks{Callback: 6}, Permission: int(d.queue.pending[0].id), Text: "x\n"})
			synctest.Wait()
			got.withdraw()
		})
		if said := d.called(6); said == nil || said[1] != noLongerWaits {
			t.Errorf("it is said %q", said)
		}
		d.is(got, "context canceled")

		got = d.store("a.txt", nine)
		must.Write(t, d.dir, "a.txt", nineBut("2", "mine\n"))
		d.noted()
		d.on(func() {
			d.Respond(d.queue.pending[0].id, writeIt)
			d.Respond(d.queue.pending[0].id, writeIt)
		})
		check.Equal(t, d.noted(), "warning: a.txt has changed meanwhile: look at the hunks again, then answer", "the user is told %q")
		d.waits(got)
		d.answer(refuse)
	})
}

func TestPendingWriteOfWhatIsNoText(t *testing.T) {
	atDesk(t, func(d *desk) {
		must.Write(t, d.dir, "x.bin", "a\x00b\n")
		large := must.Write(t, d.dir, "large", "")
		must.Do(t, os.Truncate(large, diff.LargestFile+1))
		for _, name := range []string{"x.bin", "large"} {
			got := d.store(name, "text\n")
			d.waits(got)
			if d.selects(1, 1, true) != true || d.noted() != "info: this can only be written or refused as a whole" {
				t.Errorf("%s: its hunks are refused", name)
			}
			d.on(func() {
				d.EditPending(rpc.EditPending{Asks: rpc.Asks{Callback: 5}, Permission: int(d.queue.pending[0].id), On: true})
			})
			if got := d.called(5); got == nil || got[0] != nil {
				t.Errorf("%s: to be edited is %v", name, got)
			}
			if name == "large" { // it takes as long to write it
				d.answer(refuse)
				d.is(got, "nothing was written")
				continue
			}
			d.answer(writeIt)
			d.is(got, "")
			d.has(name, "text\n")
		}
		must.Do(t, os.Truncate(large, diff.LargestFile))
		must.Do(t, os.WriteFile(filepath.Join(d.dir, "small"), nil, 0o666))
		for _, name := range []string{"small", "none"} {
			got := d.store(name, strings.Repeat("x", diff.LargestFile+1))
			p := d.open()
			if p == nil || p.write.known || p.write.Exists != (name == "small") {
				t.Error("a text too large to be compared is")
			}
			if f := p.write.file; (f.Operation == session.OperationAdd) != (name == "none") {
				t.Errorf("%s is told as %q", name, f.Operation)
			}
			d.answer(refuse)
			d.is(got, "nothing was written")
		}
	})
}

// A write that fails after the user has allowed it is no success, of which both the agent and the user hear.
func TestAnAllowedWriteThatFails(t *testing.T) {
	atDesk(t, func(d *desk) {
		path := must.Write(t, d.dir, "x.bin", "a\x00b\n")
		got := d.store("x.bin", "text\n")
		must.Do(t, os.Remove(path), os.Mkdir(path, 0o755))
		d.answer(writeIt)
		d.is(got, "is a directory")
		check.Equal(t, d.noted(), "error: Puppet could not write x.bin: it is a directory", "the user is told %q")
		if len(d.reviewed)+len(d.followed) > 0 {
			t.Errorf("the record hears of %v, the follower of %q", d.reviewed, d.followed)
		}

		// Of the user's own text in its place the editor hears it too.
		failed, said := []error{}, ""
		own := &ownText{shown: foretold("a\n", "b\n", "b\n"), said: "It is written.", done: func(failure string) { said = failure }}
		d.writeOwn(&fileRequest{ctx: context.Background(), path: path, own: own}, path, func(err error) { failed = append(failed, err) })
		d.settle()
		if len(failed) != 1 || failed[0] == nil || said != "x.bin was not written: it is a directory" || strings.Contains(d.remarks(), own.said) {
			t.Errorf("the agent hears %v, the editor %q, the chat %q", failed, said, d.remarks())
		}
		check.Equal(t, d.noted(), "error: Puppet could not write x.bin: it is a directory", "the user is told %q")
	})
}

// The user's own text is what they have reviewed, also where something has come to other lines of the file since.
func TestOwnTextsAreReviewed(t *testing.T) {
	atDesk(t, func(d *desk) {
		path := must.Write(t, d.dir, "a.txt", "0\n"+nine)
		shown := foretold(nine, nineBut("2", "two\n"), nineBut("2", "two\n"))
		shown.After = nineBut("2", "mine\n")
		d.writeOwn(&fileRequest{ctx: context.Background(), path: path, own: &ownText{shown: shown, told: ErrNotAllowed}}, path, func(error) {})
		d.settle()
		d.has("a.txt", "0\n"+nineBut("2", "mine\n"))
		check.Deep(t, d.reviewed, map[string]bool{path: true}, "the record hears of %v")
	})
}

// A write that waits is told as what it makes of the file, as far as that is known.
func TestWhatAWriteIsToldAs(t *testing.T) {
	pw := &pendingWrite{asked: &fileRequest{path: "/a", text: new("agent's\n")}, preview: foretold("mine\nold\n", "mine\nnew\n", "agent's\n")}
	s := New(feature.Base{}, Config{})
	check.Deep(t, s.toldOf(pw), session.Diff{Path: "/a", OldText: new("mine\nold\n"), NewText: new("mine\nnew\n")}, "a known one is told as %+v")
	pw.known = false
	check.Deep(t, s.toldOf(pw), session.Diff{Path: "/a", NewText: new("agent's\n")}, "an unknown one is told as %+v")
	pw.Exists = false
	check.Deep(t, s.toldOf(pw), session.Diff{Path: "/a", NewText: new("agent's\n"), Operation: session.OperationAdd}, "a new one is told as %+v")
}

// What the user accepted in a request is asked about nonetheless where a write conflicts with their text, or cannot be
// compared with it.
func TestWritesThatAreAskedAboutAgain(t *testing.T) {
	atDesk(t, func(d *desk) {
		path := filepath.Join(d.dir, "a.txt")
		for name, c := range map[string]struct {
			preview   preview
			conflicts int
			passes    bool
		}{
			"the same":                {foretold("x\n", "", ""), 0, true},
			"what conflicts":          {foretold("x\n", "", ""), 1, false},
			"what cannot be compared": {preview{Preview: buffers.Preview{Exists: true}}, 0, false},
		} {
			passed := 0
			pw := &pendingWrite{
				asked:   &fileRequest{ctx: context.Background(), path: path, text: new(""), decided: func(error) { passed++ }},
				preview: c.preview, at: rules.Path{Given: path, Real: path}, access: policy.Access{Free: true},
			}
			pw.Conflicts = c.conflicts
			d.on(func() {
				d.queue.accepted = []accepted{{path, "x\n", ""}}
				d.recall(pw)
			})
			d.settle()
			if (passed == 1) != c.passes || (d.open() == nil) != c.passes {
				t.Errorf("%s: passed %d times, asked about %v", name, passed, d.open() != nil)
			}
			d.on(func() { d.WithdrawAll("cancel") })
		}
	})
}

// A write is not asked about that does what was allowed in a request; and not more often than it was allowed.
func TestPendingWriteThatWasAllowed(t *testing.T) {
	atDesk(t, func(d *desk) {
		reply := ""
		request := func(option string, diffs ...session.ToolCallContent) {
			t.Helper()
			d.on(func() {
				d.Ask(session.PermissionRequest{
					Context: context.Background(), Call: session.ToolCallPatch{ID: "c", Kind: acp.Set(session.KindEdit), Content: acp.Set(diffs)},
					Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}, {ID: "no", Kind: "reject_once"}},
					Reply:   func(id string) { reply = id },
				})
			})
			d.settle()
			d.answer(option)
			check.Equal(t, reply, option, "the answer is %q")
		}
		written := func(text string) {
			t.Helper()
			d.is(d.store("a.txt", text), "")
			d.has("a.txt", text)
		}
		held := func(text string) {
			t.Helper()
			got := d.store("a.txt", text)
			d.waits(got)
			d.answer(refuse)
			d.is(got, "nothing was written")
		}
		path := filepath.Join(d.dir, "a.txt")
		request("yes", replacing(path, "2\n", "two\n"), replacing(path, "8\n", "eight\n"))
		held("two\n")
		held(nineBut("2", "two\n", "9", ""))
		written(nineBut("2", "two\n"))
		if !d.reviewed[filepath.Join(d.dir, "a.txt")] {
			t.Error("the change does not count as reviewed")
		}
		written(nineBut("2", "two\n", "8", "eight\n"))
		check.Equal(t, len(d.queue.accepted), 0, "%d changes are allowed still")
		held(nine)
		request("yes", replacing(path, "eight\n", "8\n"))
		request("no", replacing(path, "two\n", "2\n"))
		held(nineBut("2", "two\n"))

		// Another file of the same text, and one that was not found in its file.
		request("yes", replacing(must.Write(t, d.dir, "b.txt", nine), "3\n", "three\n"), replacing(path, "nowhere\n", "three\n"))
		held("three\n")
		held(nineBut("2", "two\n", "8", "eight\n", "3", "three\n"))

		// What another program has changed since the user allowed something was in no question: it stays, or is asked about.
		request("yes", replacing(path, "4\n", "four\n"))
		stale := nineBut("2", "two\n", "8", "eight\n", "4", "four\n")
		stale = strings.Replace(stale, "eight", "8", 1)
		must.Write(t, d.dir, "a.txt", nineBut("2", "two\n", "6", "mine\n"))
		held(stale)
		d.has("a.txt", nineBut("2", "two\n", "6", "mine\n"))
		written(nineBut("2", "two\n", "6", "mine\n", "4", "four\n"))

		// Where nothing is reviewed before, nothing is remembered.
		d.before.Store(false)
		request("yes", replacing(path, "3\n", "three\n"))
		if n := len(d.queue.accepted); n != 1 { // that of b.txt
			t.Errorf("%d changes are remembered", n)
		}
	})
}

// What waits when the session ends is answered.
func TestPendingWriteOfAClosedSession(t *testing.T) {
	atDesk(t, func(d *desk) {
		outside := must.Write(t, t.TempDir(), "o.txt", "o\n")
		d.base.Box.Close()
		d.before.Store(false)
		d.is(d.store(outside, "x\n"), "the user did not allow it", "session")
		d.before.Store(true)
		d.is(d.store(outside, "o\n"), "the user did not allow it", "session")
		d.is(d.store("a.txt", "x\n"), "the user did not allow it", "session")
		d.has("a.txt", nine)
	})
}

// The agent hears that a write which the user has accepted is made when it is saved that they have; of others at once.
func TestAcceptedWritesAreSavedBeforeTheyAreAnswered(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.saves = make(chan struct{})
		got := d.store("a.txt", strings.Replace(nine, "2", "two", 1))
		d.answer(writeIt)
		d.has("a.txt", strings.Replace(nine, "2", "two", 1))
		d.waits(got)
		close(d.saves)
		d.settle()
		d.is(got, "")
		d.saves = make(chan struct{})
		d.before.Store(false)
		d.is(d.store("a.txt", nine), "")

		// What the user has typed must be known by then too.
		d.typed = filepath.Join(d.dir, "a.txt")
		got = d.store("a.txt", strings.Replace(nine, "2", "two", 1))
		d.waits(got)
		close(d.saves)
		d.settle()
		d.is(got, "")
	})
}

// The agent does not wait for autocommands that ask the user something, and hears no more when they have ended.
func TestWritesOfWhichTheSavingAsks(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.before.Store(false)
		d.typed, d.saving = filepath.Join(d.dir, "a.txt"), make(chan struct{})
		got := d.store("a.txt", nineBut("2", "two\n"))
		d.settle()
		d.settle()
		d.is(got, "")
		close(d.saving)
		d.settle()
		d.is(got, "")
	})
}

// A write is asked about of which the user's unsaved text lets nothing through.
func TestAPendingWriteThatConflicts(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.typed = filepath.Join(d.dir, "a.txt")
		got := d.store("a.txt", nineBut("2", "two\n"))
		d.waits(got)
		check.Contains(t, d.text(), "1 place conflicts with your text", "the float has\n%s")
		d.answer(refuse)
		d.is(got, "nothing was written")
	})
}

// What the user saves while a write is asked about stays.
func TestWhatIsSavedWhileAWriteIsAskedAbout(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.before.Store(false)
		outside := must.Write(t, t.TempDir(), "o.txt", "1\n2\n3\n")
		got := d.store(outside, "one\n2\n3\n")
		d.userWrote = must.Write(t, filepath.Dir(outside), "o.txt", "1\n2\n3\nmine\n")
		d.answer("allow")
		d.is(got, "")
		if data, err := os.ReadFile(outside); string(data) != "one\n2\n3\nmine\n" {
			t.Errorf("the file has %q, %v", data, err)
		}
	})
}
