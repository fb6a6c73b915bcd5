package host

import (
	"errors"

	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/files"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// receive takes one message of Lua. It runs on go-client's only notification
// goroutine, so it does no more than put work where it belongs; and as an
// argument that does not decode would end the connection, it takes anything.
func (h *Host) receive(args ...any) {
	if len(args) == 0 {
		return
	}
	fields, ok := args[0].(map[string]any)
	if !ok {
		h.log.Error("message from Lua", "err", "no table", "got", args[0])
		return
	}
	m := message(fields)
	method := m.text("method")
	handle, known := handlers[method]
	if !known {
		h.log.Error("message from Lua", "err", "unknown method", "method", method)
		return
	}
	handle(h, m)
}

// handlers are the messages of Lua, by method.
var handlers = map[string]func(*Host, message){
	"new": func(h *Host, m message) {
		spec, cwd := m.agentSpec(), m.text("cwd")
		if m.flag("anywhere") {
			cwd = h.folderOf(spec.Name, m.text("agent_session_id"), cwd)
		}
		h.newSession(m.integer("session"), spec, cwd, takenUp{
			id: m.text("agent_session_id"), title: m.text("title"), retold: m.flag("retold"), queue: m.texts("queue"), along: m.integer("along"),
		})
	},
	"stored": func(h *Host, m message) {
		h.listStored(m.agentSpec(), m.text("cwd"), m.integer("callback"))
	},
	"list_saved": func(h *Host, m message) { h.background(func() { h.listSaved(m.integer("callback")) }) },
	"delete_stored": func(h *Host, m message) {
		h.deleteStored(m.agentSpec(), m.text("cwd"), m.text("agent_session_id"), m.integer("callback"))
	},
	"delete":       toSession(func(s *Session, m message) { s.remove(m.integer("callback")) }),
	"authenticate": toSession(func(s *Session, m message) { s.authenticate(m.text("method_id")) }),
	"login_ended":  toSession(func(s *Session, m message) { s.loginEnded(m.integer("code")) }),
	"secrets": toSession(func(s *Session, m message) {
		values := map[string]string{}
		for name := range m.table("values") {
			values[name] = m.table("values").text(name)
		}
		s.secrets(m.text("method_id"), values)
	}),
	"logout": toSession(func(s *Session, _ message) { s.logout() }),
	"prompt": toSession(func(s *Session, m message) {
		s.submit(newDraft(prompting, m.prompt("blocks")))
	}),
	"steer": toSession(func(s *Session, m message) {
		s.submit(newDraft(steering, m.prompt("blocks")))
	}),
	"cancel":  toSession(func(s *Session, _ message) { s.submitCancel() }),
	"close":   toSession(func(s *Session, _ message) { s.close() }),
	"restart": toSession(func(s *Session, m message) { s.restart() }),
	"respond": toSession(func(s *Session, m message) {
		s.respond(int64(m.integer("id")), m.text("option"))
	}),
	"rules":   func(h *Host, m message) { h.setRules(m) },
	"decided": func(h *Host, m message) { h.background(func() { h.showDecided(m.integer("callback")) }) },
	"revoke":  func(h *Host, m message) { h.background(func() { h.revoke(m.text("id"), m.integer("callback")) }) },
	"fold": toSession(func(s *Session, m message) {
		row, fold := s.row(m), transcript.Fold(m.text("fold"))
		if fold == transcript.Toggle && s.chat.IsDue(row) {
			s.host.editor.Post(editor.Op{Name: "review", Args: map[string]any{"session": s.id}})
			return
		}
		s.chat.Fold(row, fold)
		s.mark()
	}),
	"keep_due": toSession(func(s *Session, m message) {
		if !s.chat.IsDue(s.row(m)) {
			s.host.notify("warning", "this line counts no changes to review")
			return
		}
		s.decide(ledger.Decision{Do: review.Keep}, func(int, error) {})
	}),
	"next": toSession(func(s *Session, m message) {
		row, found := s.row(m), false
		for range m.integer("count") {
			next, ok := s.chat.Next(row, transcript.Kind(m.text("kind")), m.flag("forward"))
			if !ok {
				break
			}
			row, found = next, true
		}
		s.host.callback(m.integer("callback"), map[string]any{"row": row, "found": found}, "")
	}),
	"block": toSession(func(s *Session, m message) {
		row, end := s.chat.Block(s.row(m))
		s.host.callback(m.integer("callback"), map[string]any{"row": row, "end_row": end}, "")
	}),
	"location": toSession(func(s *Session, m message) {
		s.host.callback(m.integer("callback"), s.location(s.row(m)), "")
	}),
	"inspect": toSession(func(s *Session, m message) { s.inspect(s.row(m), m.integer("callback")) }),
	"whole": toSession(func(s *Session, m message) {
		s.whole(s.chat.Whole(s.row(m)), m.integer("buf"), m.integer("callback"))
	}),
	"output": toSession(func(s *Session, m message) {
		s.whole(s.chat.Output(s.row(m)), m.integer("buf"), m.integer("callback"))
	}),
	"width": toSession(func(s *Session, m message) {
		s.chat.SetWidth(m.integer("width"))
		s.mark()
	}),
	"terminals_at": toSession(func(s *Session, m message) {
		s.host.callback(m.integer("callback"), s.terminalsAt(m.integer("row")), "")
	}),
	"terminal_show": toTerminal(func(t *sessionTerminal, m message) {
		t.view.show(m.flag("anew"), m.integer("cols"), m.integer("rows"))
	}),
	"terminal_shut": toTerminal(func(t *sessionTerminal, _ message) { t.view.shut() }),
	"terminal_focus": toTerminal(func(t *sessionTerminal, m message) {
		t.display.Answering(t.own != nil && m.flag("focused"))
	}),
	"terminal_keys": toTerminal(func(t *sessionTerminal, m message) {
		if t.own != nil {
			t.own.Type([]byte(m.text("keys")))
		}
	}),
	"diff":         toSession(func(s *Session, m message) { s.tellDiff(m) }),
	"pick":         toSession(func(s *Session, m message) { s.pick(m) }),
	"edit_held":    toSession(func(s *Session, m message) { s.editHeld(m) }),
	"write_edited": toSession(func(s *Session, m message) { s.writeEdited(m) }),
	"queue": toSession(func(s *Session, m message) {
		var prompts []prompt
		for _, item := range m.list("prompts") {
			prompts = append(prompts, prompted(item))
		}
		s.submit(&draft{action: editing, was: m.texts("was"), prompts: prompts})
	}),
	"set_option":     toSession(func(s *Session, m message) { s.setOption(m.text("id"), m.text("value")) }),
	"redraw":         toSession(func(s *Session, m message) { s.redraw("redraw", s.chat, errors.New(m.text("why"))) }),
	"changes":        toSession(func(s *Session, m message) { s.listChanges(m.flag("all"), m.integer("callback")) }),
	"decide":         toSession(func(s *Session, m message) { s.tellDecision(m) }),
	"undo":           toSession(func(s *Session, m message) { s.tellUndo(m) }),
	"review":         toSession(func(s *Session, m message) { s.review.show(m) }),
	"review_close":   toSession(func(s *Session, _ message) { s.review.close() }),
	"review_fold":    toSession(func(s *Session, m message) { s.review.fold(m) }),
	"review_next":    toSession(func(s *Session, m message) { s.review.next(m) }),
	"review_place":   toSession(func(s *Session, m message) { s.review.place(m) }),
	"review_beside":  toSession(func(s *Session, m message) { s.review.beside(m) }),
	"review_decide":  toSession(func(s *Session, m message) { s.review.decide(m) }),
	"review_undo":    toSession(func(s *Session, m message) { s.review.undo() }),
	"review_send":    toSession(func(s *Session, m message) { s.sendReview(m) }),
	"comment_at":     toSession(func(s *Session, m message) { s.commentAt(m) }),
	"comment":        toSession(func(s *Session, m message) { s.comment(m) }),
	"open_conflicts": func(h *Host, m message) { h.hearConflicts(m) },
	"marks":          func(h *Host, m message) { h.marks.tell(m) },
	"decide_hunks":   toSession(func(s *Session, m message) { s.decideHunks(m) }),
	"visible": func(h *Host, m message) {
		if s := h.session(m.integer("session")); s != nil {
			s.visible.Store(m.flag("visible"))
			s.mark()
		}
	},
	"tool_call": toSession(func(s *Session, m message) {
		var result any
		if call := s.conv.ToolCall(m.text("id")); call != nil {
			result = mirrorCall(call, 0)
		}
		s.host.callback(m.integer("callback"), result, "")
	}),
	"files": toSession(func(s *Session, m message) {
		s.host.background(func() { s.host.findFiles(s.cwd, m) })
	}),
	"await_files": toSession(func(s *Session, m message) {
		s.host.background(func() {
			s.host.finder.Await(s.cwd)
			s.host.callback(m.integer("callback"), true, "")
		})
	}),
	"watch":        func(h *Host, m message) { h.trackFiles(m) },
	"unsaved":      func(h *Host, m message) { h.hearUnsaved(m) },
	"list_unsaved": toSession(func(s *Session, m message) { s.listUnsaved(m) }),
	"renamed":      func(h *Host, m message) { h.userRenamed(m.text("from"), m.text("to")) },
	"reread": func(h *Host, m message) {
		if w := h.watching(); w != nil {
			w.Reread(m.text("name"))
		}
	},
	"saved": func(h *Host, m message) {
		switch w := h.watching(); {
		case w == nil:
		case m.flag("other"):
			w.Overwritten(m.text("name"))
		default:
			w.Saved(m.text("name"))
		}
		h.userSaved(m.text("name"))
	},
	"compare": func(h *Host, m message) { h.compare(m.text("name")) },
	"refused": func(h *Host, m message) {
		h.background(func() { h.callback(m.integer("callback"), h.files.Refused(m.text("name")), "") })
	},
	"recover":  func(h *Host, m message) { h.background(func() { h.recoverFile(m.text("id"), m.text("which")) }) },
	"follow":   func(h *Host, m message) { h.follow.heard(m) },
	"check":    func(h *Host, m message) { h.checkDisk(m.text("name")) },
	"catch_up": func(h *Host, m message) { h.catchUp(m.text("name"), m.integer("callback")) },
	"traffic": func(h *Host, m message) {
		h.background(func() { h.showTraffic(m.text("agent"), m.text("file"), m.integer("callback")) })
	},
}

// toSession runs a handler on the goroutine of the session it is for.
func toSession(f func(*Session, message)) func(*Host, message) {
	return func(h *Host, m message) {
		s := h.session(m.integer("session"))
		if s != nil && s.box.Put(func() { f(s, m) }) {
			return
		}
		if id := m.integer("callback"); id != 0 {
			h.callback(id, nil, "The session is closed.")
		}
	}
}

// toTerminal runs a handler for a terminal on the goroutine of its session.
func toTerminal(f func(*sessionTerminal, message)) func(*Host, message) {
	return toSession(func(s *Session, m message) {
		if t := s.terminals.numbered(m.integer("terminal")); t != nil {
			f(t, m)
		}
	})
}

// callback hands a result to a Lua function that waits for it.
func (h *Host) callback(id int, result any, failure string) {
	args := map[string]any{"id": id, "result": result}
	if failure != "" {
		args["error"] = failure
	}
	h.editor.Post(editor.Op{Name: "callback", Args: args})
}

// findFiles answers a completion of a file's name.
func (h *Host) findFiles(cwd string, m message) {
	q := files.Query{Dir: cwd, Text: m.text("query"), Limit: 50}
	for _, path := range m.list("open") {
		if path, ok := path.(string); ok {
			q.Open = append(q.Open, path)
		}
	}
	found, partial := h.finder.Find(q)
	list := make([]any, len(found))
	for i, f := range found {
		list[i] = map[string]any{"path": f.Path, "open": f.Open}
	}
	h.callback(m.integer("callback"), map[string]any{"files": list, "partial": partial}, "")
}
