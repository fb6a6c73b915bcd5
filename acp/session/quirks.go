package session

import "strings"

// Quirks are deviations of single agents that this client compensates for. They are keyed by the name the agent gives
// itself, not by the user's name for it.
type Quirks struct {
	// EmptyForMissing answers a read of a file that does not exist with an empty text: gemini-cli reads a file before
	// it creates it, and gives up on any error.
	EmptyForMissing bool
	// LateReplay treats a session as loaded only when its whole replay has arrived: gemini-cli answers session/load
	// before it replays what was said, and that would end up in the next turn.
	LateReplay bool
	// Markers reads what is sent as words after a marker: gemini-cli says "[MODE_UPDATE] autoEdit" as the agent, and in
	// a replay it repeats as the user's words what it has told the model itself.
	Markers bool
	// Instructions appends the client's own to the agent's: claude-agent-acp takes them in _meta, as the protocol has
	// no field for them.
	Instructions bool
}

// unmarked returns what to show of a chunk with a marker, if anything, and what else it says; told is false for a chunk
// without a marker.
func unmarked(role Role, text string) (rest string, said Update, told bool) {
	const begin, end = "<session_context>", "</session_context>"
	text = strings.TrimSpace(text)
	mode, isMode := strings.CutPrefix(text, "[MODE_UPDATE] ")
	switch {
	case role == RoleAgent && isMode && !strings.ContainsAny(mode, " \n"):
		return "", ModeUpdate{ModeID: mode}, true
	case role == RoleUser && strings.HasPrefix(text, begin):
		_, rest, _ = strings.Cut(text, end)
		return strings.TrimSpace(rest), nil, true
	case role == RoleUser && strings.HasPrefix(text, "[Function Response: "):
		return "", nil, true
	}
	return text, nil, false
}

var quirksOf = map[string]Quirks{
	"gemini-cli":                            {EmptyForMissing: true, LateReplay: true, Markers: true},
	"@agentclientprotocol/claude-agent-acp": {Instructions: true},
}

// quirksFor returns an agent's quirks, with the user's overrides by name.
func quirksFor(agentName string, overrides map[string]bool) Quirks {
	q := quirksOf[agentName]
	for name, quirk := range map[string]*bool{
		"empty_for_missing": &q.EmptyForMissing, "late_replay": &q.LateReplay, "markers": &q.Markers,
		"instructions": &q.Instructions,
	} {
		if on, given := overrides[name]; given {
			*quirk = on
		}
	}
	return q
}
