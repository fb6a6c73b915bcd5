package page

// Edit is one change of a buffer; edits are applied in order. Rows are 0-based. Lines [Row, EndRow) become
// Lines; with Append set, Lines[0] is instead added to the end of line Row-1 and the rest follows it.
type Edit struct {
	Seq         int // of the edit; see [Page.RowNow]
	Count       int // lines the buffer must have before, as a check; 0 for an empty buffer
	Row, EndRow int
	Append      bool
	Col         int // with Append: the length of line Row-1, in bytes
	Lines       []string
	// Highlights of the rows [MarkRow, MarkEnd) are replaced by Marks, four numbers each: row, column, end
	// column, group.
	MarkRow, MarkEnd int
	Marks            []int
	// Decor is what stands beside the text of a row.
	Decor []Decor
	// Code is what has been completed of fenced code, to be highlighted in its language.
	Code []Code
	// Prose are the rows of texts in markdown that are complete, each from its first to behind its last.
	Prose [][2]int
	// Images are the pictures to be shown below a row, where that can be.
	Images []Image
}

// Code is the lines [Row, EndRow) of a fenced block, or of the diff of a file.
type Code struct {
	Row, EndRow int
	Lang        string // what stands behind the fence; "" of a diff

	Col  int   // where the code begins in each line, in bytes
	Cols []int // that, for each line, where they differ

	// Of a diff: the file's name, and for each line which side of it it is of: '-' for the old one, '+'
	// for the new one, ' ' for both, '.' where it is no text of the file.
	File   string
	Sides  string
	Around []Around
}

// Around is text of a file that is not shown, but stands before a line that is, counted from the first of a
// [Code], or behind the last: it tells what those lines mean.
type Around struct {
	Line  int
	Lines []string
}

// Decor is a sign or a text at the right edge of a row.
type Decor struct {
	Row        int
	Right      string
	RightGroup int
	Sign       string
	SignGroup  int
}

// Image is the file of a picture that a row names.
type Image struct {
	Row  int
	Path string
}

// Added is by how many lines the edit lengthens the buffer.
func (e *Edit) Added() int {
	if e.Append {
		return len(e.Lines) - 1
	}
	return len(e.Lines) - (e.EndRow - e.Row)
}

// editCost is about what an edit costs Neovim, however little it changes, in bytes of plain text.
const editCost = 1 << 10

// cost is about what so many lines, marks and decor cost Neovim, in bytes of plain text.
func cost(lines []string, marks, decor int) int {
	n := 16*len(lines) + 2*marks + 64*decor
	for _, l := range lines {
		n += len(l)
	}
	return n
}

// join takes in the edit that comes next, where it changes the lines right below: many small edits cost
// Neovim more than one.
func (e *Edit) join(next *Edit) bool {
	end := e.Row + len(e.Lines)
	if e.Append || next.Append || e.MarkEnd != end || next.Row != end || next.MarkRow != end {
		return false
	}
	e.EndRow += next.EndRow - next.Row
	e.Lines = append(e.Lines, next.Lines...)
	e.MarkEnd = next.MarkEnd
	e.Marks = append(e.Marks, next.Marks...)
	e.Decor = append(e.Decor, next.Decor...)
	e.Code = append(e.Code, next.Code...)
	e.Prose = append(e.Prose, next.Prose...)
	e.Images = append(e.Images, next.Images...)
	e.Seq = next.Seq
	return true
}
