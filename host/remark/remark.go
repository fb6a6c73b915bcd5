// Package remark adds our own lines to the chat of a session: hints, warnings, errors.
package remark

import (
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/mailbox"
)

// Config is what the remarks of a session need from it. The functions are called on its goroutine.
type Config struct {
	Box     *mailbox.Mailbox
	Editor  *editor.Editor
	Apply   func(session.Update) // applies an update to the conversation
	Changed func()
	Visible func() bool // a window shows the chat
	Opened  func() bool // the agent has replayed the session, or will not
}

// Remarks belong to the session's goroutine.
type Remarks struct {
	config   Config
	said     map[string]bool // by Once, in this turn
	reminder string          // what to say when the session is open
}

// New returns the remarks of a session.
func New(config Config) *Remarks { return &Remarks{config: config, said: map[string]bool{}} }

// Say says something in the chat: "info", "warning" or "error".
func (r *Remarks) Say(severity, text string) {
	r.config.Apply(session.Remark{Severity: severity, Text: text})
	r.config.Changed()
}

// Fail reports a failure, with its details.
func (r *Remarks) Fail(severity string, f *failure.Failure) {
	r.config.Apply(session.Remark{Severity: severity, Text: f.Error(), Detail: f.Detail})
	r.config.Changed()
}

// Once is Say, but only once in a turn.
func (r *Remarks) Once(text string) {
	if !r.said[text] {
		r.said[text] = true
		r.Say("info", text)
	}
}

// BeginTurn says that a turn has begun.
func (r *Remarks) BeginTurn() { clear(r.said) }

// Alert is Say; if no window shows the chat, it is a notice too, so short that Neovim does not wait for a key.
func (r *Remarks) Alert(severity, text, brief string) {
	r.Say(severity, text)
	if brief != "" && !r.config.Visible() {
		r.config.Editor.Notify(severity, brief)
	}
}

// Remind says something below the agent's replay of the session. Any goroutine.
func (r *Remarks) Remind(text string) {
	r.config.Box.Put(func() {
		r.reminder = text
		if r.config.Opened() {
			r.SayReminder()
		}
	})
}

// SayReminder says the reminder.
func (r *Remarks) SayReminder() {
	if text := r.reminder; text != "" {
		r.reminder = ""
		r.Say("info", text)
	}
}
