package linediff

// Moved is where a line of the old text, counted from 1, is after edits; the nearest line where it was replaced.
func Moved(edits []Edit, line int) int {
	at := line - 1
	by := 0
	for _, e := range edits {
		switch {
		case e.A1 <= at:
			by = e.B1 - e.A1
		case e.A0 <= at:
			return max(1, min(e.B0+at-e.A0, max(e.B0, e.B1-1))+1)
		}
	}
	return max(1, at+by+1)
}
