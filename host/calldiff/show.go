package calldiff

import (
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/diffview"
	"github.com/acp-nvim/acp-nvim/host/rpc"
)

// This file has what Lua's windows show of a call's changes.

// Requests are the open permission requests. Some are about changes of calls.
type Requests interface {
	// Call returns what a request is about, or nil if it has been answered.
	Call(id int) *session.ToolCall
	// Subject returns a call as the open request about it describes it, or the call itself.
	Subject(*session.ToolCall) *session.ToolCall
	// About returns the number of the open request about a call, 0 for none.
	About(*session.ToolCall) (id int)
	// LookAgain locates the changes of a request's call again; then is called when that has begun.
	LookAgain(call *session.ToolCall, then func())
}

// Show answers Lua's request for a call's diff: what is known of its files, and the text of one of them, in pieces sent
// before the answer. The answer is nil if there is no diff.
func (d *Diffs) Show(m rpc.ShowDiff) {
	call := d.meant(m)
	if call == nil {
		d.base.Editor.Answer(m.Callback, nil, "")
		return
	}
	requests := d.config.Requests()
	call = requests.Subject(call)
	show := func() { d.WhenLocated(call, func() { d.show(call, m, requests.About(call)) }) }
	if m.Anew {
		requests.LookAgain(call, show)
	} else {
		show()
	}
}

// show answers a request for the diff of a call that is located; request is the permission request about it, 0 for
// none.
func (d *Diffs) show(call *session.ToolCall, m rpc.ShowDiff, request int) {
	files := d.Files(call)
	if len(files) == 0 { // the agent has replaced it since
		d.base.Editor.Answer(m.Callback, nil, "")
		return
	}
	at := min(max(1, m.File), len(files))
	f := files[at-1]
	answer := rpc.Diff{Call: call.ID, At: at, Permission: request, Note: f.Note, Looked: d.Changes(call)[at-1].Looked}
	for _, f := range files {
		answer.Files = append(answer.Files, rpc.DiffFile{Name: d.base.Short(f.Path), Added: f.Added, Removed: f.Removed})
	}
	done := call.Status == session.StatusCompleted && request == 0
	answer.Before, answer.After = diffview.Labels(f, done, d.base.Short)
	answer.Path, _ = d.base.Absolute(f.Path)
	d.base.Background(func() { d.send(f, m, answer) })
}

// send renders a diff in the wanted form, and sends it. Any goroutine.
func (d *Diffs) send(f diff.FileDiff, m rpc.ShowDiff, answer rpc.Diff) {
	v := diffview.Of(f, m.Form)
	answer.Form, answer.First, answer.Hunks = v.Form, v.First, v.Hunks
	answer.OldLines, answer.NewLines = v.OldLines, v.NewLines
	diffview.Send(d.base.Editor, d.base.Log, m.Callback, v.Pieces, answer)
}

// meant returns the call whose diff is meant: by its id, of an open request, at a row of the chat, or the last that has
// a diff; nil if there is no diff.
func (d *Diffs) meant(m rpc.ShowDiff) (call *session.ToolCall) {
	switch {
	case m.Call != "":
		call = d.config.Conversation.ToolCall(m.Call)
	case m.Permission != 0:
		call = d.config.Requests().Call(m.Permission)
	case m.Row != nil:
		call = d.config.At(*m.Row)
	default:
		for _, c := range d.config.Conversation.Calls {
			if len(d.Of(c)) > 0 {
				call = c
			}
		}
	}
	if call == nil || len(d.Of(call)) == 0 {
		return nil
	}
	return call
}
