package host

import (
	"os"
	"slices"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/calldiff"
	"github.com/acp-nvim/acp-nvim/host/chat"
	"github.com/acp-nvim/acp-nvim/host/control"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/diffview"
	"github.com/acp-nvim/acp-nvim/host/draw"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/elicitation"
	"github.com/acp-nvim/acp-nvim/host/events"
	"github.com/acp-nvim/acp-nvim/host/feature"
	"github.com/acp-nvim/acp-nvim/host/folder"
	"github.com/acp-nvim/acp-nvim/host/follow"
	"github.com/acp-nvim/acp-nvim/host/freshness"
	"github.com/acp-nvim/acp-nvim/host/history"
	"github.com/acp-nvim/acp-nvim/host/ledger"
	"github.com/acp-nvim/acp-nvim/host/luastate"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/host/mcp"
	"github.com/acp-nvim/acp-nvim/host/permission"
	"github.com/acp-nvim/acp-nvim/host/prompt"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewui"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/terminals"
	"github.com/acp-nvim/acp-nvim/host/transcript"
)

// This file puts a session together: each feature, and what it needs of the session and of the others.

func newSession(h *Host, id int, spec AgentSpec, cwd string, directories []string) *Session {
	s := &Session{id: id, host: h, spec: spec, stale: true, remarked: map[string]bool{}}
	s.calls = luastate.NewCalls()
	s.events = newEvents(s)
	s.base = feature.Base{
		Session: id, Agent: spec.Name, Title: spec.Title, Folder: folder.Folder{Cwd: cwd, Roots: append([]string{cwd}, directories...)},
		Box: mailbox.New(), Editor: h.editor, Files: h.files, Log: h.log, Background: h.background,
		Remark: s.remark, Event: s.events.Add, Changed: s.changed,
	}
	s.conv = session.NewConversation(time.Now)
	s.recorder = newRecorder(s)
	s.requests = control.New(s.base)
	s.terminals = newTerminals(s)
	s.tracer = newTracer(s)
	s.prompts = newPrompts(s)
	s.pages = draw.New(s.base, s.mark)
	s.chat = chat.New(s.base, s.pages, s.conv, transcript.Config{
		Cwd: cwd, Now: time.Now, NerdFont: h.nerdFont, Terminal: s.terminals.Screenful,
		Output: terminals.Output, Resolve: terminals.OutputLines, Save: s.saveBlob, Files: func(call *session.ToolCall) []*diff.File { return s.diffs.Shared(call) },
	})
	s.ledger = newLedger(s)
	s.diffs = newDiffs(s)
	s.known = newFreshness(s)
	s.permission = newPermission(s)
	s.questions = elicitation.New(s.base, elicitation.Config{ID: h.nextRequestID, Apply: s.apply, GoesOn: s.conv.GoesOn})
	s.servers = mcp.New(s.base, mcp.Config{
		Configured: spec.MCPServers, Ask: s.questions.Ask, Policy: h.policy.Load, Lookup: os.LookupEnv,
		Hide: func(secrets []string) { h.hide(spec.Name, secrets) },
	})
	s.review = newReview(s)
	s.caller = newCaller(s)
	return s
}

// newRecorder keeps the conversation of a session.
func newRecorder(s *Session) *history.Recorder {
	h := s.host
	return history.NewRecorder(history.Config{
		Store: h.history, Background: h.background, Now: time.Now, Later: s.later,
		Scrub:    func(line []byte) []byte { return h.scrub(s.spec, line) },
		Terminal: func(id string) (session.TerminalPatch, bool) { return s.terminals.Shown(id) },
		Failed:   h.unkeptTranscript,
	})
}

// newPrompts opens the prompts of a session.
func newPrompts(s *Session) *prompt.Prompts {
	return prompt.New(prompt.Config{
		Base:  s.base,
		Ready: func() bool { return s.phase == ready },
		Dead:  func() (string, bool) { return s.failure, s.phase == dead },
		Agent: func() session.Info { return s.info },
		Knows: func(path, text string) { s.known.Note(path, freshness.Fingerprint(text)) },
		Shares: func(name, real string) bool {
			a := s.permission.FileAccess(session.KindRead, rules.Path{Given: name, Real: real})
			return !a.Outside && !a.Private
		},
		Private: func(name, real string) bool {
			return s.permission.FileAccess(session.KindRead, rules.Path{Given: name, Real: real}).Private
		},
		Begin:  s.begin,
		Again:  s.work,
		Steer:  s.steer,
		Cancel: s.cancel,
	})
}

// newFreshness knows what the agent of a session knows of files.
func newFreshness(s *Session) *freshness.Files { return freshness.New(s.base, s.host.watching) }

// newPermission has the permission requests of a session.
func newPermission(s *Session) *permission.Requests {
	h := s.host
	return permission.New(s.base, permission.Config{
		ID:           h.nextRequestID,
		Policy:       h.policy.Load,
		ReviewBefore: h.reviewBefore.Load,
		Diffs:        s.diffs,
		Known:        s.known,
		ToolCall:     s.conv.ToolCall,
		GoesOn:       s.conv.GoesOn,
		Apply:        s.apply,
		Ready:        func() bool { return s.phase == ready },
		Stopping:     func() bool { return s.prompts.Stopping() },
		Cancel:       s.cancel,
		Prompt:       func(text string) { s.prompts.First(text) },
		RemarkOnce:   s.remarkOnce,
		Ours:         s.isOurTool,
		Alert:        s.alert,
		Asks:         s.prompts.Unsaved.ReadByAgent,
		Reads:        s.tracer.Read,
		Took:         s.ledger.Took,
		Moved:        s.ledger.TookMove,
		Wrote:        s.wrote,
		Edits:        s.tracer.Wrote,
	})
}

func newDiffs(s *Session) *calldiff.Diffs {
	return calldiff.New(s.base, calldiff.Config{
		Mark:         s.mark,
		Conversation: s.conv,
		Requests:     func() calldiff.Requests { return s.permission },
		At: func(row int) *session.ToolCall {
			call, _ := s.chat.Entry(row).(*session.ToolCall)
			return call
		},
		Found: func(call *session.ToolCall) {
			s.chat.TouchCall(call)
			if s.permission.Located(call) {
				s.base.Editor.Hurry(s)
			}
		},
		Idle: func() {
			if !s.prompts.TurnOpen() { // its end may have waited for the search
				s.base.Editor.Hurry(s)
			}
		},
	})
}

// locating reports whether the end of a turn waits for a search for changes.
func (s *Session) locating() bool { return s.phase != dead && s.diffs.Locating() }

// newReview opens what the user sees of a session's record.
func newReview(s *Session) *reviewui.Review {
	return reviewui.New(reviewui.Config{
		Base: s.base, Ledger: s.ledger, Overlaps: &s.host.overlaps, Marks: s.host.marks,
		ConversationTitle: func() string { return s.conv.Title },
		TurnOpen:          func() bool { return s.prompts.TurnOpen() },
		Unable: func() string {
			if s.phase == dead {
				return s.failure
			}
			return ""
		},
		Send: func(text string) (waits bool) {
			before := s.prompts.Attempt()
			s.prompts.Send(text)
			return s.prompts.Attempt() == before
		},
		Due: func(due transcript.Due, turn bool) { s.chat.SetDue(due, turn) },
		DueKey: func() (key string, say bool) {
			if key := s.host.keepKey.Load(); key != nil {
				return *key, s.host.reviews.Load()
			}
			return "", s.host.reviews.Load()
		},
		Hurry: func() {
			s.urgent.Store(true)
			s.base.Editor.Hurry(s)
		},
		Edit:     s.pages.Edit,
		Draw:     func(of interface{ Reset() }, edit editor.Op) editor.Op { return s.pages.Op(of, edit) },
		Fill:     func(buf int, lines []styled.Line) { draw.Fill(s.base.Editor, buf, transcript.Given(lines...)) },
		TooLarge: diffview.TooLarge,
	})
}

// newMarks opens what the user's buffers show of the sessions' records.
func newMarks(h *Host) *reviewui.Marks {
	return reviewui.NewMarks(reviewui.MarksConfig{
		Editor: h.editor, Log: h.log, Background: h.background,
		Records: func() (list []reviewui.MarkSource) {
			h.eachSession(func(s *Session) {
				list = append(list, reviewui.MarkSource{Session: s.id, Title: s.base.Title, File: s.ledger.File})
			})
			slices.SortFunc(list, func(a, b reviewui.MarkSource) int { return b.Session - a.Session })
			return list
		},
	})
}

// newTerminals opens the terminals of a session.
func newTerminals(s *Session) *terminals.Set {
	return terminals.New(terminals.Config{
		Base:   s.base,
		Ready:  func() bool { return s.phase == ready },
		Worked: func() { s.ledger.Worked() },
		Mark: func(urgent bool) {
			if urgent {
				s.urgent.Store(true)
			}
			s.mark()
		},
	})
}

// newFollowWindow makes the window that follows the agents of all sessions.
func newFollowWindow(h *Host) *follow.Window {
	return follow.NewWindow(follow.WindowConfig{
		Editor: h.editor, Files: h.files, Background: h.background,
		Title: func(session int) string {
			if s := h.session(session); s != nil {
				return s.base.Title
			}
			return ""
		},
	})
}

// newTracer has a session say where its agent works. A replay tells what was.
func newTracer(s *Session) *follow.Tracer {
	return follow.NewTracer(s.base, s.host.follow, func() bool { return s.phase == ready && !s.remote.skipping })
}

func newEvents(s *Session) *events.Queue {
	return events.New(events.Config{
		Session:  s.id,
		Listed:   s.calls.Listed,
		Drawn:    func() bool { return !s.chat.Dirty() && !s.locating() },
		Recorded: func(end int) bool { return s.ledger.Told(end) },
	})
}

// newLedger opens the ledger of a session.
func newLedger(s *Session) *ledger.Ledger {
	h := s.host
	return ledger.New(ledger.Config{
		Roots:    s.base.Roots,
		Inside:   func(path string) bool { return folder.Inside(path, s.base.Roots) },
		Absolute: s.base.Absolute,
		Short:    s.base.Short,
		Watch: func() ledger.Watch {
			if w := h.watching(); w != nil {
				return w
			}
			return nil
		},
		Files:   h.files,
		Store:   h.store,
		Saves:   h.saves,
		Claimed: func(path string) bool { return h.claimed(path, s) },
		Others: func(path string, is review.Content) {
			h.eachSession(func(other *Session) {
				if other != s {
					other.ledger.Elsewhere(path, is)
				}
			})
		},
		Put:        s.base.Box.Put,
		Hurry:      func() { h.editor.Hurry(s) },
		Lacks:      s.tellLacks,
		Changed:    s.tellChanges,
		Background: h.background,
		Over:       h.over,
		Log:        h.log,
	})
}
