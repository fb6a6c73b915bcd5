package session

import "strings"

// Quirks are deviations of single agents that this client makes up for. They
// are keyed by the name the agent gives itself, not by the user's name for it.
type Quirks struct {
	// EmptyForMissing answers a read of a file that does not exist with an empty text: gemini-cli reads a file before
	// it creates it and takes any error as the end of the matter.
	EmptyForMissing bool
	// LateReplay takes a session as loaded only when all of its replay has come: gemini-cli answers session/load before
	// it tells what was said, and that would end up in the next turn.
	LateReplay bool
	// Markers reads what is told as words with a mark before them: gemini-cli says "[MODE_UPDATE] autoEdit" as the
	// agent, and in a replay it repeats as the user's words what itself has told the model.
	Markers bool
	// Instructions puts the client's own behind the agent's: claude-agent-acp
	// takes them in _meta, for which the protocol has no place.
	Instructions bool
}

// unmarked is what of a chunk with a mark is to be shown, if anything, and what
// else it says; told is false for one without a mark.
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

// quirksFor are an agent's quirks, with the user's overrides by name.
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
