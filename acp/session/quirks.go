package session

// Quirks are deviations of single agents that this client makes up for. They
// are keyed by the name the agent gives itself, not by the user's name for it.
type Quirks struct {
	// EmptyForMissing answers a read of a file that does not exist with an
	// empty text: gemini-cli reads a file before it creates it and takes any
	// error as the end of the matter.
	EmptyForMissing bool
}

var quirksOf = map[string]Quirks{
	"gemini-cli": {EmptyForMissing: true},
}

// quirksFor are an agent's quirks, with the user's overrides by name.
func quirksFor(agentName string, overrides map[string]bool) Quirks {
	q := quirksOf[agentName]
	if on, given := overrides["empty_for_missing"]; given {
		q.EmptyForMissing = on
	}
	return q
}
