package buffers

// Change says that lines Start to End (0-based, exclusive) of an old text are replaced by Lines.
type Change struct {
	Start, End int
	Lines      []string
}

// Lines returns the lines of a text with their newlines; the last may have none.
func Lines(text string) []string {
	if text == "" {
		return nil
	}
	return splitLines(text)
}

// Diff returns the changes that make the lines text of old, in order, none touching the next.
func Diff(old, text []string) []Change {
	found := diffLines(old, text)
	changes := make([]Change, len(found))
	for i, c := range found {
		changes[i] = Change{c.start, c.end, c.lines}
	}
	return changes
}
