package review

// Remark is what the user has to say of lines of a file.
type Remark struct {
	ID          int
	First, Last int      // lines of the present text; Last is the one before which those stood that are gone
	Beside      string   // the last of lines that are not in the present text, else ""
	Quoted      []string // the lines, as they were
	Text        string
}
