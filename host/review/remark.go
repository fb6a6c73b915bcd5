package review

// Remark is a comment of the user on lines of a file.
type Remark struct {
	ID          int
	First, Last int      // lines of the present text; for lines that are gone, Last is the one that followed them
	Beside      string   // the last of lines that are not in the present text, else ""
	Quoted      []string // the lines, as they were
	Text        string
}
