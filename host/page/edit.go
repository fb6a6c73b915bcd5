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
	// Decor is what is shown beside the text of a row.
	Decor []Decor
	// Code is fenced code that is now complete, to be highlighted in its language.
	Code []Code
	// Prose are the rows of complete markdown texts, each from its first to after its last.
	Prose [][2]int
	// Images are the pictures to show below a row, if possible.
	Images []Image
}

// Code is the lines [Row, EndRow) of a fenced block, or of the diff of a file.
type Code struct {
	Row, EndRow int
	Lang        string // what stands behind the fence; "" of a diff

	Col  int   // where the code begins in each line, in bytes
	Cols []int // the same for each line, if they differ

	// For a diff: the file's name, and for each line its side: '-' for the old one, '+' for the new one, ' ' for both,
	// '.' if it is not text of the file.
	File   string
	Sides  string
	Around []Around
}

// Around is text of a file that is not shown but comes before a shown line, counted from the first of a [Code], or
// after the last: a parser needs it.
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

// Added returns by how many lines the edit lengthens the buffer.
func (e *Edit) Added() int {
	if e.Append {
		return len(e.Lines) - 1
	}
	return len(e.Lines) - (e.EndRow - e.Row)
}

// editCost is about what any edit costs Neovim, in bytes of plain text.
const editCost = 1 << 10

// cost returns about what these lines, marks and decor cost Neovim, in bytes of plain text.
func cost(lines []string, marks, decor int) int {
	n := 16*len(lines) + 2*marks + 64*decor
	for _, l := range lines {
		n += len(l)
	}
	return n
}

// join merges the next edit if it changes the lines right below: many small edits cost Neovim more than one.
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
