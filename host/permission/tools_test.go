package permission

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// A tool that reads a file does not wait for a write of it that waits for the user.
func TestToolsReadBesideWritesThatWait(t *testing.T) {
	atDesk(t, func(d *desk) {
		write := d.store("a.txt", nineBut("5", "five\n"))
		d.waits(write)
		var got []string
		d.Allow(context.Background(), filepath.Join(d.dir, "a.txt"), func(real string, err error) { got = append(got, real) })
		d.settle()
		if len(got) != 1 || got[0] != filepath.Join(d.dir, "a.txt") {
			t.Errorf("the read is answered with %q", got)
		}
		d.answer(d.open().asked.Options[0].ID)
		d.is(write, "")
	})
}

// A tool that may not see a file hears why, once.
func TestToolsMayNotSeeAFile(t *testing.T) {
	atDesk(t, func(d *desk) {
		outside := must.Write(t, t.TempDir(), "o.txt", "")
		var got []error
		d.Allow(context.Background(), outside, func(_ string, err error) { got = append(got, err) })
		d.settle()
		check.Equal(t, d.open().file.Given, outside, "asked about is %s")
		d.answer("reject")
		if len(got) != 1 || !errors.Is(got[0], ErrNotAllowed) || !strings.Contains(got[0].Error(), "outside of the session's folder") {
			t.Errorf("the tool hears %v", got)
		}
	})
}

// Where a write fails, the follower is told of no edit.
func TestFailedWritesAreNotFollowed(t *testing.T) {
	atDesk(t, func(d *desk) {
		d.before.Store(false)
		must.Do(t, os.Mkdir(filepath.Join(d.dir, "folder"), 0o755))
		if got := d.store("folder", "x\n"); got.answered != 1 || got.err == nil {
			t.Errorf("a folder is written: %+v", got)
		}
		if len(d.followed) > 0 {
			t.Errorf("followed are %q", d.followed)
		}
		d.is(d.store("b.txt", "x\n"), "")
		if len(d.followed) != 1 {
			t.Errorf("followed are %q", d.followed)
		}
	})
}

// However long an input is, each of its items that finds no room is counted, and none of them fails.
func TestLongListsOfInputs(t *testing.T) {
	atDesk(t, func(d *desk) {
		var items []string
		for range 3 {
			items = append(items, strings.Repeat("x", floatBytes/2))
		}
		items = append(items, "", "last")
		input, err := json.Marshal(map[string]any{"a": items, "b": []string{}})
		must.Do(t, err)
		got := d.asked(session.PermissionRequest{Call: session.ToolCallPatch{ID: "long", RawInput: acp.Set(json.RawMessage(input))}}).Lines
		if last := got[len(got)-1]; !strings.HasSuffix(last, "bytes more, which are not shown") {
			t.Errorf("the last line is %.80q", last)
		}
	})
}

// What a request has shown of a call is its change when the call goes on, after the answer too; unless the agent asks
// about another call by the same id.
func TestAnsweredRequestsLeaveTheirDiffs(t *testing.T) {
	atDesk(t, func(d *desk) {
		path := filepath.Join(d.dir, "a.txt")
		edit := session.ToolCallPatch{Title: acp.Set("Edit"), Kind: acp.Set(session.KindEdit), Content: acp.Set([]session.ToolCallContent{replacing(path, "5\n", "five\n")})}
		ask := func(id string, patch session.ToolCallPatch) {
			t.Helper()
			patch.ID = id
			d.on(func() {
				d.Ask(session.PermissionRequest{
					Context: context.Background(), Reply: func(string) {}, Call: patch,
					Options: []session.PermissionOption{{ID: "yes", Kind: "allow_once"}},
				})
			})
			d.settle()
			p := d.open()
			check.Equal(t, d.conv.ToolCall(id).Shown(), session.StatusWaiting, "in the chat it is %s")
			if d.answer("yes"); len(d.diffs.Changes(&p.call)) > 0 {
				t.Error("the answered request's own view of it is kept")
			}
		}
		ask("c", edit)
		d.on(func() {
			d.update(session.ToolCallPatch{ID: "c", Content: acp.Set([]session.ToolCallContent{})})
			call := d.conv.ToolCall("c")
			if files := d.diffs.Files(call); len(files) != 1 || files[0].Path != path {
				t.Errorf("the call shows %+v", files)
			}
		})
		ask("reused", edit)
		ask("reused", session.ToolCallPatch{Title: acp.Set("Fetch")})
		d.on(func() {
			if files := d.diffs.Files(d.conv.ToolCall("reused")); len(files) > 0 {
				t.Errorf("another call by its id shows %+v", files)
			}
		})
	})
}
