package editortools

import "time"

// This file says how long a call of a tool may take. One that runs a task, or asks the user, takes as long as that.

const (
	languageServerTimeout = 10 * time.Second // for an answer of a language server
	diagnosticsTimeout    = 30 * time.Second // for the diagnostics of a text, at most
)

// beat is how often an agent hears that a call goes on: some give up a call of which they hear nothing for a minute.
const beat = 15 * time.Second
