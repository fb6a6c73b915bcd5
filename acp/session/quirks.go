package session

// Quirks are deviations of single agents that this client makes up for. They
// are keyed by the name the agent gives itself, not by the user's name for it.
type Quirks struct {
	// EmptyForMissing answers a read of a file that does not exist with an
	// empty text: gemini-cli reads a file before it creates it and takes any
	// error as the end of the matter.
	EmptyForMissing bool
	// LateReplay takes a session as loaded only when all of its replay has
	// come: gemini-cli answers session/load before it tells what was said, and
	// that would end up in the next turn.
	LateReplay bool
}

var quirksOf = map[string]Quirks{
	"gemini-cli": {EmptyForMissing: true, LateReplay: true},
}

// quirksFor are an agent's quirks, with the user's overrides by name.
func quirksFor(agentName string, overrides map[string]bool) Quirks {
	q := quirksOf[agentName]
	for name, quirk := range map[string]*bool{"empty_for_missing": &q.EmptyForMissing, "late_replay": &q.LateReplay} {
		if on, given := overrides[name]; given {
			*quirk = on
		}
	}
	return q
}
