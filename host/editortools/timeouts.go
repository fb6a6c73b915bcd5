package editortools

import "time"

// This file says how long a call of a tool may take. One that runs a task, or asks the user, may take as long as that
// does.

const (
	languageServerTimeout = 10 * time.Second // for an answer of a language server
	diagnosticsTimeout    = 30 * time.Second // for the diagnostics of a text, at most
)

// beat is how often an agent is told that a call is still running: some abandon a call after a silent minute.
const beat = 15 * time.Second
