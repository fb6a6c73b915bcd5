// Package remark adds lines of our own to the chat of a session: hints, warnings, errors.
package remark

import (
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
)

// Config is what the remarks of a session need of it. The functions are called on its goroutine.
type Config struct {
	Box     *mailbox.Mailbox
	Editor  *editor.Editor
	Apply   func(session.Update) // brings an update into the conversation
	Changed func()
	Visible func() bool // a window shows the chat
	Opened  func() bool // the agent has told what it tells of the session, or will not
}

// Remarks belong to the session's goroutine.
type Remarks struct {
	config   Config
	said     map[string]bool // by Once, in this turn
	reminder string          // what is to be said when the session is open
}

// New returns the remarks of a session; nothing is said.
func New(config Config) *Remarks { return &Remarks{config: config, said: map[string]bool{}} }

// Say says something in the chat: "info", "warning" or "error".
func (r *Remarks) Say(severity, text string) {
	r.config.Apply(session.Remark{Severity: severity, Text: text})
	r.config.Changed()
}

// Fail says a failure, with what is behind its sentence.
func (r *Remarks) Fail(severity string, f *failure.Failure) {
	r.config.Apply(session.Remark{Severity: severity, Text: f.Error(), Detail: f.Detail})
	r.config.Changed()
}

// Once is Say for what is said only once in a turn.
func (r *Remarks) Once(text string) {
	if !r.said[text] {
		r.said[text] = true
		r.Say("info", text)
	}
}

// BeginTurn says that a turn has begun.
func (r *Remarks) BeginTurn() { clear(r.said) }

// Alert is Say; where no window shows the chat it is a notice too, of so few words that Neovim does not wait for a key.
func (r *Remarks) Alert(severity, text, brief string) {
	r.Say(severity, text)
	if brief != "" && !r.config.Visible() {
		r.config.Editor.Notify(severity, brief)
	}
}

// Remind says something below what the agent tells of the session. Any goroutine.
func (r *Remarks) Remind(text string) {
	r.config.Box.Put(func() {
		r.reminder = text
		if r.config.Opened() {
			r.SayReminder()
		}
	})
}

// SayReminder says what was to be reminded of.
func (r *Remarks) SayReminder() {
	if text := r.reminder; text != "" {
		r.reminder = ""
		r.Say("info", text)
	}
}
