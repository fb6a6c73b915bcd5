// This file puts a session together: each feature, and what it needs from the session and the others.

package host

import (
	"cmp"
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
	"github.com/acp-nvim/acp-nvim/host/login"
	"github.com/acp-nvim/acp-nvim/host/luastate"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
	"github.com/acp-nvim/acp-nvim/host/mcp"
	"github.com/acp-nvim/acp-nvim/host/opening"
	"github.com/acp-nvim/acp-nvim/host/options"
	"github.com/acp-nvim/acp-nvim/host/permission"
	"github.com/acp-nvim/acp-nvim/host/prompt"
	"github.com/acp-nvim/acp-nvim/host/providers"
	"github.com/acp-nvim/acp-nvim/host/remark"
	"github.com/acp-nvim/acp-nvim/host/review"
	"github.com/acp-nvim/acp-nvim/host/reviewui"
	"github.com/acp-nvim/acp-nvim/host/rules"
	"github.com/acp-nvim/acp-nvim/host/styled"
	"github.com/acp-nvim/acp-nvim/host/terminals"
	"github.com/acp-nvim/acp-nvim/host/transcript"
	"github.com/acp-nvim/acp-nvim/host/view"
)

func newSession(h *Host, id int, spec AgentSpec, cwd string, directories []string) *Session {
	s := &Session{id: id, host: h, spec: spec}
	box := mailbox.New()
	s.view = view.New(id, box, h.editor)
	s.remarks = remark.New(remark.Config{
		Box: box, Editor: h.editor, Apply: s.apply, Changed: s.view.Changed, Visible: s.view.Visible,
		Opened: func() bool { return s.phase == ready || s.phase == dead },
	})
	s.calls = luastate.NewCalls()
	s.events = newEvents(s)
	s.base = feature.Base{
		Session: id, Agent: spec.Name, Title: spec.Title, Folder: folder.Folder{Cwd: cwd, Roots: append([]string{cwd}, directories...)},
		Box: box, Editor: h.editor, Files: h.files, Log: h.log, Background: h.background,
		Remark: s.remarks.Say, Event: s.events.Add, Changed: s.view.Changed,
	}
	s.conv = session.NewConversation(time.Now)
	s.recorder = newRecorder(s)
	blot := func(text string) string { return h.secrets.Blot(spec.Name, text) }
	hide := func(values []string) { h.secrets.Hide(spec.Name, values) }
	s.requests = control.New(s.base, blot)
	s.login = newLogin(s)
	s.options = newOptions(s)
	s.providers = providers.New(s.base, providers.Config{
		Requests: s.requests, Agent: s.speaks, Info: func() session.Info { return s.info }, Hide: hide, Blot: blot,
	})
	s.terminals = newTerminals(s)
	s.tracer = newTracer(s)
	s.prompts = newPrompts(s)
	s.pages = draw.New(s.base, s.view.Mark)
	s.chat = chat.New(s.base, s.pages, s.conv, transcript.Config{
		Cwd: cwd, Now: time.Now, NerdFont: h.nerdFont, Terminal: s.terminals.Screenful,
		Output: terminals.Output, Resolve: terminals.OutputLines, Save: s.saveBlob, Files: func(call *session.ToolCall) []*diff.FileDiff { return s.diffs.Shared(call) },
	})
	s.ledger = newLedger(s)
	s.diffs = newDiffs(s)
	s.known = newFreshness(s)
	s.permission = newPermission(s)
	s.questions = elicitation.New(s.base, elicitation.Config{
		ID: h.nextRequestID, Apply: s.apply, GoesOn: s.conv.GoesOn, Stopping: func() bool { return s.prompts.Stopping() },
	})
	s.servers = mcp.New(s.base, mcp.Config{
		Configured: spec.MCPServers, Ask: s.questions.Ask, Policy: h.policy.Load, Lookup: os.LookupEnv, Hide: hide,
	})
	s.review = newReview(s)
	s.tools = newTools(s)
	s.opening = newOpening(s)
	s.view.Of(view.Parts{
		Chat: s.chat, Tab: s.review.Tab, Review: s.review, Terminals: s.terminals, Calls: s.calls, Questions: s.questions, Requests: s.permission,
		Events: s.events, State: s.lua,
		Waiting: func() []transcript.Waiting { return s.prompts.Waiting(s.closed) },
		Working: func() bool { return s.prompts.TurnOpen() },
	})
	return s
}

// newLogin returns the login of a session's agent.
func newLogin(s *Session) *login.Login {
	return login.New(s.base, login.Config{
		Command: s.spec.Command, Env: s.spec.Env, Cwd: cmp.Or(s.spec.Cwd, s.base.Cwd), Advice: s.spec.Login,
		Requests: s.requests,
		Remarks:  s.remarks,
		Agent:    s.speaks,
		Info:     func() session.Info { return s.info },
		Working:  func() bool { return s.prompts.Working() },
		Waits:    func() bool { return s.phase == authRequired },
		Wait:     func() { s.phase = authRequired },
		Failed:   func(why string) { s.failure = why },
		LoggedIn: func() {
			a := s.agent
			for _, user := range a.sessions() {
				user.base.Box.Put(func() { user.loggedIn(a) })
			}
		},
		Reconnect: s.reconnect,
		Keep:      func(values map[string]string) { s.host.secrets.Keep(s.spec.Name, values) },
	})
}

// newOptions returns the options of a session's agent.
func newOptions(s *Session) *options.Options {
	return options.New(s.base, options.Config{
		Conversation: s.conv,
		Requests:     s.requests,
		Remarks:      s.remarks,
		Configured:   s.spec.Options,
		Agent:        s.speaks,
		ID:           func() string { return s.opening.ID() },
		Ready:        func() bool { return s.phase == ready },
		AfterLogin:   s.login.After,
		Apply:        s.apply,
		Begun:        s.becomeReady,
	})
}

// newOpening returns the opening of a session in its agent.
func newOpening(s *Session) *opening.Opening {
	return opening.New(s.base, opening.Config{
		Requests:     s.requests,
		Remarks:      s.remarks,
		Servers:      s.servers,
		Tools:        s.tools,
		SystemPrompt: s.spec.SystemPrompt,
		Agent:        s.member,
		Info:         func() session.Info { return s.info },
		Record:       s.record,
		Apply:        s.apply,
		Bring:        s.bring,
		New:          s.options.Begin,
		Ready:        s.becomeReady,
		Login:        s.login.Need,
		Die:          s.die,
	})
}

// newRecorder returns the recorder of a session's conversation.
func newRecorder(s *Session) *history.Recorder {
	h := s.host
	return history.NewRecorder(history.Config{
		Store: h.history, Background: h.background, Now: time.Now, Later: s.later,
		Scrub:    func(line []byte) []byte { return h.secrets.Scrub(s.spec.Name, s.spec.Env, line) },
		Terminal: func(id string) (session.TerminalPatch, bool) { return s.terminals.Shown(id) },
		Failed:   h.unkeptTranscript,
	})
}

// newPrompts returns the prompts of a session.
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

// newFreshness returns what a session's agent knows of files.
func newFreshness(s *Session) *freshness.Files { return freshness.New(s.base, s.host.watching) }

// newPermission returns the permission requests of a session.
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
		RemarkOnce:   s.remarks.Once,
		Ours:         func(call *session.ToolCall) bool { return s.tools.Ours(call) },
		Alert:        s.remarks.Alert,
		Asks:         s.prompts.Unsaved.ReadByAgent,
		Reads:        s.tracer.Read,
		Took:         s.ledger.Took,
		Noted:        s.ledger.Noted,
		Moved:        s.ledger.TookMove,
		Edits:        s.tracer.Wrote,
	})
}

func newDiffs(s *Session) *calldiff.Diffs {
	return calldiff.New(s.base, calldiff.Config{
		Mark:         s.view.Mark,
		Conversation: s.conv,
		Requests:     func() calldiff.Requests { return s.permission },
		At: func(row int) *session.ToolCall {
			call, _ := s.chat.Entry(row).(*session.ToolCall)
			return call
		},
		Found: func(call *session.ToolCall) {
			s.chat.TouchCall(call)
			if s.permission.Located(call) {
				s.view.Hurry()
			}
		},
		Idle: func() {
			if !s.prompts.TurnOpen() { // its end may have waited for the search
				s.view.Hurry()
			}
		},
	})
}

// locating reports whether the end of a turn waits for a search for changes.
func (s *Session) locating() bool { return s.phase != dead && s.diffs.Locating() }

// newReview returns the user's view of a session's record.
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
		DueKey: func() (key string, shown bool) {
			if key := s.host.keepKey.Load(); key != nil {
				return *key, s.host.reviews.Load()
			}
			return "", s.host.reviews.Load()
		},
		Hurry:    s.view.HurryUrgent,
		Edit:     s.pages.Edit,
		Draw:     func(of interface{ Reset() }, edit editor.Op) editor.Op { return s.pages.Op(of, edit) },
		Fill:     func(buf int, lines []styled.Line) { draw.Fill(s.base.Editor, buf, transcript.Given(lines...)) },
		TooLarge: diffview.TooLarge,
	})
}

// newMarks returns what the user's buffers show of the sessions' records.
func newMarks(h *Host) *reviewui.Marks {
	return reviewui.NewMarks(reviewui.MarksConfig{
		Editor: h.editor, Log: h.log, Background: h.background,
		Records: h.records,
	})
}

// records returns the sessions' records, the newest first: its marks cover those of an older one.
func (h *Host) records() (list []reviewui.MarkSource) {
	h.eachSession(func(s *Session) {
		list = append(list, reviewui.MarkSource{Session: s.id, Title: s.base.Title, File: s.ledger.File})
	})
	slices.SortFunc(list, func(a, b reviewui.MarkSource) int { return b.Session - a.Session })
	return list
}

// newTerminals returns the terminals of a session.
func newTerminals(s *Session) *terminals.Set {
	return terminals.New(terminals.Config{
		Base:   s.base,
		Ready:  func() bool { return s.phase == ready },
		Worked: func() { s.ledger.Worked() },
		Mark: func(urgent bool) {
			if urgent {
				s.view.MarkUrgent()
			} else {
				s.view.Mark()
			}
		},
	})
}

// newFollowWindow returns the window that follows the agents of all sessions.
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

// newTracer returns what reports where a session's agent works. A replay does not count.
func newTracer(s *Session) *follow.Tracer {
	return follow.NewTracer(s.base, s.host.follow, func() bool { return s.phase == ready && !s.opening.Repeats() })
}

func newEvents(s *Session) *events.Queue {
	return events.New(events.Config{
		Session:  s.id,
		Listed:   s.calls.Listed,
		Drawn:    func() bool { return !s.chat.Dirty() && !s.locating() },
		Recorded: func(end int) bool { return s.ledger.Told(end) },
	})
}

// newLedger returns the ledger of a session.
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
		Put:   s.base.Box.Put,
		Hurry: s.view.Hurry,
		Lacks: func(now ledger.Lack) {
			s.base.Box.Put(func() {
				s.lacks = now
				s.view.Changed()
			})
		},
		Changed: func(changed []review.File, gone []int, changes []ledger.Event) {
			update := reviewui.NewUpdate(changed, gone)
			s.base.Box.Put(func() { s.recordChanged(update, changes) })
		},
		Background: h.background,
		Over:       h.over,
		Log:        h.log,
	})
}
