package host

import (
	"slices"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/diffview"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// tellDiff answers Lua's question for a call's diff: what is known of its files, and the text of one of them, in pieces
// that come before the answer. The answer is nil if there is no diff.
func (s *Session) tellDiff(m rpc.ShowDiff) {
	id := m.Callback
	call := s.diffCall(m)
	if call == nil {
		s.base.Editor.Answer(id, nil, "")
		return
	}
	// What is picked in the diff of a request is picked of what it is about.
	if p := s.permissions.about(call.ID); p != nil && call.ID != "" && s.permissions.of(call) == nil && len(s.diffs.Changes(&p.call)) > 0 {
		call = &p.call
	}
	if m.Anew && s.permissions.about(call.ID) != nil {
		if p := s.permissions.of(call); p != nil && p.held != nil {
			m.Anew = false
			s.refreshHeld(p, func() { s.tellDiff(m) })
			return
		}
		s.diffs.LookAgain(call) // the user may have typed there since
	}
	s.diffs.WhenLocated(call, func() {
		files := s.diffs.Files(call)
		if len(files) == 0 { // the agent has replaced it since
			s.base.Editor.Answer(id, nil, "")
			return
		}
		at := min(max(1, m.File), len(files))
		answer := rpc.Diff{Call: call.ID, At: at, Files: s.fileList(files)}
		done := call.Status == session.StatusCompleted
		for _, p := range slices.Backward(s.permissions.asked) { // the oldest, where several are about the call
			if &p.call == call || p.request.Call.ID == call.ID {
				answer.Permission = int(p.id)
				done = false
			}
			if &p.call == call {
				break
			}
		}
		f := files[at-1]
		answer.Before, answer.After = diffview.Labels(f, done, s.base.Short)
		answer.Path, _ = s.base.Absolute(f.Path)
		answer.Note, answer.Looked = f.Note, s.diffs.Changes(call)[at-1].Looked
		s.base.Background(func() {
			v := diffview.Of(f, m.Form)
			answer.Form, answer.First, answer.Hunks = v.Form, v.First, v.Hunks
			answer.OldLines, answer.NewLines = v.OldLines, v.NewLines
			diffview.Send(s.base.Editor, s.base.Log, id, v.Pieces, answer)
		})
	})
}

// diffCall is the call whose diff is meant: one by its id, that of an open
// request, the one at a row of the chat, or the last that has a diff.
func (s *Session) diffCall(m rpc.ShowDiff) *session.ToolCall {
	var call *session.ToolCall
	switch {
	case m.Call != "":
		call = s.conv.ToolCall(m.Call)
	case m.Permission != 0:
		for _, p := range s.permissions.asked {
			if p.id == int64(m.Permission) {
				call = &p.call
			}
		}
	case m.Row != nil:
		call, _ = s.chat.Entry(*m.Row).(*session.ToolCall)
	default:
		for _, c := range s.conv.Calls {
			if len(s.diffs.Of(c)) > 0 {
				call = c
			}
		}
	}
	if call == nil || len(s.diffs.Of(call)) == 0 {
		return nil
	}
	return call
}

func (s *Session) fileList(files []diff.File) []rpc.DiffFile {
	list := make([]rpc.DiffFile, len(files))
	for i, f := range files {
		list[i] = rpc.DiffFile{Name: s.base.Short(f.Path), Added: f.Added, Removed: f.Removed}
	}
	return list
}

// addFiles adds to a request what the float shows of it while its diff is open
// beside: what is said of it, the files, without what changes in them, and why
// it is asked.
func (s *Session) addFiles(to *rpc.Permission, p *permission, said, why []styled.Line) {
	files := s.diffs.Files(&p.call)
	if len(files) == 0 {
		return
	}
	body := slices.Concat(aside(&p.call, ""), said)
	for i := range files {
		f := &files[i]
		body = append(body, styled.FileHead(f.Name(s.base.Short), f.Added, f.Removed))
		if f.Note != "" {
			body = append(body, styled.Colored("⚠ "+f.Note, styled.ToolWaiting)...)
		}
		body = append(body, s.staleLines(p, f.Path)...)
	}
	to.Files = len(files)
	to.Brief, to.BriefMarks = styled.Flatten(append(capped(body, floatDiffLines), why...))
}
