package host

import (
	"errors"
	"slices"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/files"
	"github.com/acp-nvim/acp-nvim/host/luastate"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// receive handles one message from Lua. It runs on go-client's only notification goroutine, so it only passes work to
// where it belongs; and as an argument that does not decode would end the connection, it accepts anything.
func (h *Host) receive(name method, args ...any) {
	if name != "" {
		defer h.inbox.wasHandled()
	}
	handle, known := handlers[string(name)]
	if !known {
		h.log.Error("message from Lua", "err", "unknown method", "method", name)
		return
	}
	fields := map[string]any{} // an empty table of Lua's arrives as a list
	if len(args) > 0 {
		fields, _ = args[0].(map[string]any)
	}
	handle(h, fields)
}

// handlers are the handlers of Lua's messages, by name.
var handlers = handling(
	// sessions
	toHost((*Host).open),
	toHost((*Host).listStored),
	inBackground(func(h *Host, m rpc.ListSaved) { h.listSaved(m.Callback) }),
	toHost(func(h *Host, m rpc.DeleteStored) {
		h.deleteStored(AgentSpec(m.Agent), m.Cwd, m.AgentSessionID, m.Callback)
	}),
	toSession(func(s *Session, m rpc.Delete) { s.remove(m.Callback) }),
	toSession((*Session).rename),
	toSession(func(s *Session, m rpc.Archive) { s.archive(m.Callback) }),
	toHost((*Host).archiveStored),
	toSession(func(s *Session, _ rpc.Close) { s.close() }),
	toSession(func(s *Session, _ rpc.Restart) { s.restart() }),
	toSession(func(s *Session, m rpc.Authenticate) { s.login.Authenticate(m) }),
	toSession(func(s *Session, m rpc.LoginEnded) { s.login.Ended(m) }),
	toSession(func(s *Session, m rpc.Secrets) { s.login.Secrets(m) }),
	toSession(func(s *Session, _ rpc.Logout) { s.login.Logout() }),
	toSession(func(s *Session, m rpc.SetOption) { s.options.Set(m) }),
	toSession(func(s *Session, m rpc.ListProviders) { s.providers.List(m) }),
	toSession(func(s *Session, m rpc.SetProvider) { s.providers.Set(m) }),
	toSession(func(s *Session, m rpc.DisableProvider) { s.providers.Disable(m) }),
	inBackground(func(h *Host, m rpc.Traffic) {
		if entries, err := h.traffic.Entries(m.Agent, m.File); err != nil {
			h.editor.Answer(m.Callback, nil, err.Error())
		} else {
			h.editor.Answer(m.Callback, entries, "")
		}
	}),

	// agents to install
	inBackground((*Host).listAgents),
	inBackground((*Host).installAgent),
	inBackground((*Host).uninstallAgent),
	inBackground(func(h *Host, m rpc.RollbackAgent) { h.tellAgent(m.Callback)(h.registry.Rollback(m.ID)) }),
	inBackground(func(h *Host, m rpc.PinAgent) { h.tellAgent(m.Callback)(h.registry.Pin(m.ID, m.Pinned)) }),
	toHost(func(h *Host, m rpc.CancelInstall) { h.registry.Cancel(m.ID) }),

	// the history
	inBackground((*Host).searchHistory),
	inBackground(func(h *Host, m rpc.ListHistory) { h.listHistory(m.Callback) }),
	inBackground((*Host).showHistory),
	toSession((*Session).export),

	// prompts
	toSession(func(s *Session, m rpc.Prompt) { s.prompts.Prompt(m) }),
	toSession(func(s *Session, m rpc.Steer) { s.prompts.Steer(m) }),
	toSession(func(s *Session, _ rpc.Cancel) {
		if s.prompts.Working() || !s.review.StopUndo() {
			s.prompts.Cancel()
		}
	}),
	toSession(func(s *Session, m rpc.Queue) { s.prompts.Edit(m) }),
	toSession(func(s *Session, m rpc.PreviewDiff) { s.prompts.PreviewDiff(m) }),
	toSession(func(s *Session, m rpc.FindFiles) { s.base.Background(func() { s.host.findFiles(s.base.Roots, m) }) }),
	toSession(func(s *Session, m rpc.AwaitFiles) {
		s.base.Background(func() {
			s.host.finder.Await(s.base.Roots...)
			s.base.Editor.Answer(m.Callback, true, "")
		})
	}),
	toHost((*Host).hearUnsaved),
	toSession(func(s *Session, m rpc.ListUnsaved) { s.prompts.Unsaved.List(m) }),

	// the chat
	toHost(func(h *Host, m rpc.Visible) {
		if s := h.session(m.Session); s != nil {
			s.view.Show(m.Visible)
		}
	}),
	toSession(func(s *Session, m rpc.Width) {
		s.chat.SetWidth(m.Width)
		s.view.Mark()
	}),
	toSession(func(s *Session, m rpc.Fold) {
		row, fold := s.chat.Row(m.At), transcript.Fold(m.Fold)
		if fold == transcript.Toggle && s.chat.IsDue(row) {
			s.base.Editor.Post(editor.Do(rpc.OpenReview{In: m.In}))
			return
		}
		s.chat.Fold(row, fold)
		s.view.Mark()
	}),
	toSession(func(s *Session, m rpc.KeepDue) {
		if !s.chat.IsDue(s.chat.Row(m.At)) {
			s.base.Editor.Notify("warning", "this line has no changes to keep")
			return
		}
		s.review.KeepAll()
	}),
	toSession(func(s *Session, m rpc.CancelCall) { s.cancelCall(s.chat.Entry(s.chat.Row(m.At))) }),
	toSession(func(s *Session, m rpc.Next) { s.chat.Find(m) }),
	toSession(func(s *Session, m rpc.Block) { s.chat.Extent(m) }),
	toSession(func(s *Session, m rpc.Location) {
		s.base.Editor.Answer(m.Callback, s.chat.Location(s.chat.Row(m.At)), "")
	}),
	toSession(func(s *Session, m rpc.Inspect) { s.chat.TellCall(m) }),
	toSession(func(s *Session, m rpc.Whole) { s.chat.ShowWhole(m) }),
	toSession(func(s *Session, m rpc.Output) { s.chat.ShowOutput(m) }),
	toSession(func(s *Session, m rpc.EditPrompt) { s.chat.TellPrompt(m, s.conv.PromptNumber) }),
	toSession(func(s *Session, m rpc.Redraw) { s.chat.Redraw(errors.New(m.Why)) }),
	toSession(func(s *Session, m rpc.GetToolCall) {
		var result any
		if call := s.conv.ToolCall(m.ID); call != nil {
			result = luastate.ToolCall(call, 0)
		}
		s.base.Editor.Answer(m.Callback, result, "")
	}),

	// terminals
	toSession(func(s *Session, m rpc.TerminalsAt) {
		s.base.Editor.Answer(m.Callback, s.terminals.Numbers(s.chat.Entry(m.Row)), "")
	}),
	toSession(func(s *Session, m rpc.TerminalShow) { s.terminals.Show(m) }),
	toSession(func(s *Session, m rpc.TerminalShut) { s.terminals.Shut(m) }),
	toSession(func(s *Session, m rpc.TerminalFocus) { s.terminals.Focus(m) }),
	toSession(func(s *Session, m rpc.TerminalKeys) { s.terminals.Keys(m) }),

	// permissions
	toSession(func(s *Session, m rpc.ChooseAnswer) { s.questions.Choose(m) }),
	toSession(func(s *Session, m rpc.Answer) { s.questions.Answer(m) }),
	toSession(func(s *Session, m rpc.SubmitForm) { s.questions.Submit(m) }),
	toHost(func(h *Host, m rpc.ServeRequests) { h.extension.Serve(m) }),
	toHost(func(h *Host, m rpc.AnswerExtension) { h.extension.Answer(m) }),
	toSession(func(s *Session, m rpc.Respond) { s.permission.Respond(int64(m.ID), m.Option) }),
	toSession(func(s *Session, m rpc.ShowDiff) { s.diffs.Show(m) }),
	toSession(func(s *Session, m rpc.SelectHunks) { s.permission.SelectHunks(m) }),
	toSession(func(s *Session, m rpc.EditPending) { s.permission.EditPending(m) }),
	toSession(func(s *Session, m rpc.WriteEdited) { s.permission.WriteEdited(m) }),
	toHost((*Host).setRules),
	toHost(func(h *Host, m rpc.EditorTools) { h.tools.Offer(m) }),
	toHost(func(h *Host, m rpc.EditorToolDone) { h.tools.Done(m) }),
	inBackground((*Host).listDecided),
	inBackground((*Host).revoke),

	// the review
	toSession(func(s *Session, m rpc.ListChanges) { s.review.List(m) }),
	toSession(func(s *Session, m rpc.Decide) { s.review.Decide(m) }),
	toSession(func(s *Session, m rpc.DecideHunks) { s.review.DecideHunks(m) }),
	toHost(func(h *Host, m rpc.ShowMarks) { h.marks.Show(m) }),
	toSession(func(s *Session, m rpc.Undo) { s.review.Undo(m) }),
	toSession(func(s *Session, m rpc.ReviewOpen) { s.review.Tab.Open(m) }),
	toSession(func(s *Session, _ rpc.ReviewClose) { s.review.Tab.Close() }),
	toSession(func(s *Session, m rpc.ReviewFold) { s.review.Tab.Fold(m) }),
	toSession(func(s *Session, m rpc.ReviewNext) { s.review.Tab.Next(m) }),
	toSession(func(s *Session, m rpc.ReviewPlace) { s.review.Tab.Place(m) }),
	toSession(func(s *Session, m rpc.ReviewBeside) { s.review.Tab.Beside(m) }),
	toSession(func(s *Session, m rpc.ReviewDecide) { s.review.Tab.Decide(m) }),
	toSession(func(s *Session, _ rpc.ReviewUndo) { s.review.Tab.Undo() }),
	toSession(func(s *Session, m rpc.ReviewSend) { s.review.Comments.Send(m) }),
	toSession(func(s *Session, m rpc.CommentAt) { s.review.Comments.At(m) }),
	toSession(func(s *Session, m rpc.Comment) { s.review.Comments.Write(m) }),

	// files
	toHost((*Host).trackFiles),
	toHost(func(h *Host, m rpc.Passed) { h.files.Passed(m.Buf, m.Changes) }),
	toHost(func(h *Host, m rpc.Ahead) { h.files.Ahead(m.Path, func(into any) { rpc.Into(into, m.Info) }) }),
	toHost(func(h *Host, m rpc.FileRenamed) { h.userRenamed(m.From, m.To) }),
	toHost((*Host).fileSaved),
	toHost(func(h *Host, m rpc.Reread) {
		if w := h.watching(); w != nil {
			w.Reread(m.Name, diskState(m.Disk))
		}
	}),
	toHost(func(h *Host, m rpc.Check) { h.checkDisk(m.Name) }),
	toHost(func(h *Host, m rpc.CatchUp) { h.catchUp(m.Name, m.Callback) }),
	toHost(func(h *Host, m rpc.Compare) { h.compare(m.Name) }),
	toHost((*Host).hearConflicts),
	inBackground(func(h *Host, m rpc.ListRefused) { h.editor.Answer(m.Callback, h.files.Refused(m.Name), "") }),
	inBackground(func(h *Host, m rpc.Recover) { h.recoverFile(m.ID, m.Which) }),
	toHost(func(h *Host, m rpc.FollowState) { h.follow.Heard(m) }),
)

// handler handles one kind of message.
type handler struct {
	name string
	run  func(*Host, map[string]any)
}

func handling(list ...handler) map[string]func(*Host, map[string]any) {
	all := map[string]func(*Host, map[string]any){}
	for _, h := range list {
		if all[h.name] != nil {
			panic("two handlers of " + h.name)
		}
		all[h.name] = h.run
	}
	return all
}

// toHost handles a message on the goroutine that receives it, so f must not wait.
func toHost[M any](f func(*Host, M)) handler {
	var m M
	return handler{rpc.Name(m), func(h *Host, fields map[string]any) { f(h, rpc.Decode[M](fields)) }}
}

// inBackground handles a message whose answer takes time.
func inBackground[M any](f func(*Host, M)) handler {
	return toHost(func(h *Host, m M) { h.background(func() { f(h, m) }) })
}

// toSession handles a message on the goroutine of the session it is for.
func toSession[M interface{ InSession() int }](f func(*Session, M)) handler {
	return toHost(func(h *Host, m M) {
		s := h.session(m.InSession())
		if s != nil && s.base.Box.Put(func() { f(s, m) }) {
			return
		}
		if asks, ok := any(m).(interface{ Answers() int }); ok && asks.Answers() != 0 {
			h.editor.Answer(asks.Answers(), nil, "the session is closed")
		}
	})
}

// findFiles answers a completion of a file's name.
func (h *Host) findFiles(roots []string, m rpc.FindFiles) {
	found, partial := h.finder.Find(files.Query{Dir: roots[0], Further: roots[1:], Text: m.Query, Limit: 50, Open: slices.Clone(m.Open)})
	list := make([]rpc.FoundFile, len(found))
	for i, f := range found {
		list[i] = rpc.FoundFile(f)
	}
	h.editor.Answer(m.Callback, rpc.FoundFiles{Files: list, Partial: partial}, "")
}
