package host

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
	"github.com/acp-nvim/acp-nvim/host/diff"
	"github.com/acp-nvim/acp-nvim/host/editor"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/host/styled"
)

// What Neovim is given of a diff is bounded, so that it is never busy for long.
const (
	// pieceLines is how many lines go to Neovim at once, which takes it a few milliseconds.
	pieceLines = 2000
	// mostLines is how many lines of one side are shown where only what changes is.
	mostLines = 100_000
	// wholeCost bounds the files that Neovim compares by itself. It looks through its list of
	// changes for each line, in one go: a file of 20,000 lines takes it 20 ms, and as long again
	// for each 300 changes.
	wholeCost    = 20_000
	wholeChanges = 300
	// wholeBlock is how many lines may become others in one place: Neovim looks for words in them.
	wholeBlock = 500
	// longLine, in bytes, is more than Neovim should look for changed words in.
	longLine = 5000
)

// tellDiff answers the question for a call's diff: what there is to tell of its
// files, and the text of one of them, in pieces that come before the answer. The
// answer is nil where there is no diff.
func (s *Session) tellDiff(m rpc.ShowDiff) {
	id := m.Callback
	call := s.diffCall(m)
	if call == nil {
		s.base.Editor.Answer(id, nil, "")
		return
	}
	call = s.permission.Subject(call)
	if m.Anew {
		s.permission.LookAgain(call, func() { s.tellDiffOf(call, m) })
		return
	}
	s.tellDiffOf(call, m)
}

// tellDiffOf answers the question for the diff of a call, once that is located.
func (s *Session) tellDiffOf(call *session.ToolCall, m rpc.ShowDiff) {
	id := m.Callback
	s.diffs.WhenLocated(call, func() {
		files := s.diffs.Files(call)
		if len(files) == 0 { // the agent has replaced it since
			s.base.Editor.Answer(id, nil, "")
			return
		}
		at := min(max(1, m.File), len(files))
		answer := rpc.Diff{Call: call.ID, At: at, Files: s.fileList(files)}
		answer.Permission = s.permission.About(call)
		done := call.Status == session.StatusCompleted && answer.Permission == 0
		f := files[at-1]
		answer.Before, answer.After = s.labels(f, done)
		answer.Path, _ = s.base.Absolute(f.Path)
		answer.Note, answer.Looked = f.Note, s.diffs.Changes(call)[at-1].Looked
		s.base.Background(func() {
			v := viewOf(f, m.Form)
			answer.Form, answer.First, answer.Hunks = v.form, v.first, v.hunks
			answer.OldLines, answer.NewLines = v.oldLines, v.newLines
			s.host.tellPieces(id, v.pieces, answer)
		})
	})
}

// diffCall is the call whose diff is meant: one by its id, that of an open
// request, the one at a row of the chat, or the last that has a diff.
func (s *Session) diffCall(m rpc.ShowDiff) *session.ToolCall {
	var call *session.ToolCall
	switch {
	case m.Call != "":
		call = s.conv.ToolCall(m.Call)
	case m.Permission != 0:
		call = s.permission.Call(m.Permission)
	case m.Row != nil:
		call, _ = s.chat.Entry(*m.Row).(*session.ToolCall)
	default:
		for _, c := range s.conv.Calls {
			if len(s.diffs.Of(c)) > 0 {
				call = c
			}
		}
	}
	if call == nil || len(s.diffs.Of(call)) == 0 {
		return nil
	}
	return call
}

func (s *Session) fileList(files []diff.File) []rpc.DiffFile {
	list := make([]rpc.DiffFile, len(files))
	for i, f := range files {
		list[i] = rpc.DiffFile{Name: s.base.Short(f.Path), Added: f.Added, Removed: f.Removed}
	}
	return list
}

// labels says what each side of a change is; done says that it was made already.
func (s *Session) labels(f diff.File, done bool) (before, after string) {
	before, after = "now", "proposed"
	if done {
		before, after = "before", "after"
	}
	if !f.Located {
		before, after = "old text", "new text"
	}
	switch f.Operation {
	case session.OperationAdd:
		before = "no file"
		after = "new file"
	case session.OperationDelete:
		after = "deleted"
	case session.OperationMove:
		after = "moved from " + s.base.Short(f.OldPath)
	case session.OperationCopy:
		after = "copied from " + s.base.Short(f.OldPath)
	}
	return before, after
}

// tellPieces sends the pieces of a diff one by one, each when Neovim is done with
// the one before, and the answer behind them. It ends early where Neovim has no
// use for them any more.
func (h *Host) tellPieces(id int, pieces []rpc.DiffPiece, answer rpc.Diff) {
	if len(pieces) == 0 {
		h.editor.Answer(id, answer, "")
		return
	}
	piece := pieces[0]
	piece.ID = id
	op := editor.Do(piece)
	op.Done = func(wanted any, err error) {
		switch wanted, _ := wanted.(bool); {
		case err != nil:
			h.log.Error("show a diff", "err", err)
			h.editor.Answer(id, nil, "")
		case !wanted:
			h.editor.Answer(id, nil, "")
		default:
			h.tellPieces(id, pieces[1:], answer)
		}
	}
	h.editor.Post(op)
}

// view is the change of one file as lua/acp/diff/view.lua shows it.
type view struct {
	// form is "whole": both texts, which Neovim compares; "changes": what changes,
	// its lines side by side already; "inline": what changes, for the file's own
	// window; "sentence": words in place of a text.
	form               string
	first              int // line of the first change, 1-based
	oldLines, newLines int // how many each text has
	// hunks are where each of [hunksOf] stands on both sides, in the lines that are
	// shown: old start and count, new start and count, and so on; where a side has
	// none, the line that follows.
	hunks  []int
	pieces []rpc.DiffPiece
}

// viewOf is a change in the form that is wanted, where it can be: "inline", or
// "rows": the whole texts side by side, as "changes" has them; else "".
func viewOf(f diff.File, wanted string) view {
	changes := diff.Runs(f.Hunks)
	oldLines, newLines := diff.TextLines(f.Old), diff.TextLines(f.New)
	v := view{first: 1, oldLines: len(oldLines), newLines: len(newLines)}
	for i := range max(len(oldLines), len(newLines)) {
		if i >= len(oldLines) || i >= len(newLines) || oldLines[i] != newLines[i] {
			v.first = i + 1
			break
		}
	}
	v.hunks = places(f, changes)
	switch {
	case len(changes) == 0 && f.Note != "" && f.Old == f.New:
		v.form = "sentence"
		v.pieces = []rpc.DiffPiece{{New: []string{sentence(f.Note)}}}
	case wanted == "inline" && f.Located && f.Operation != session.OperationAdd:
		v.form = "inline"
		v.pieces = inlinePieces(changes)
	case wanted != "rows" && (f.Old != "" || f.New != "") && neovimCompares(oldLines, newLines, changes):
		v.form = "whole"
		v.pieces = wholePieces(oldLines, newLines)
	default:
		hunks := f.Hunks
		if wanted == "rows" && f.Located {
			hunks = []diff.Hunk{f.WholeHunk()}
		}
		rows := sideBySide(hunks)
		v.form = "changes"
		v.first = 1 + max(0, slices.IndexFunc(rows, func(r row) bool { return r.kind != rowEqual }))
		v.pieces = rowPieces(rows)
		if len(changes) > 0 {
			v.hunks = rowPlaces(rows)
		}
	}
	return v
}

// places are where the hunks of a change stand in its two texts.
func places(f diff.File, changes []diff.Run) []int {
	list := []int{}
	if len(changes) == 0 {
		for range f.Parts() {
			list = append(list, 1, 1, 1, 1)
		}
		return list
	}
	if f.Located {
		for _, c := range changes {
			list = append(list, c.OldAt, len(c.Old), c.NewAt, len(c.New))
		}
		return list
	}
	edits := linediff.Compare(diff.TextLines(f.Old), diff.TextLines(f.New)) // the lines have no numbers
	if len(edits) != len(changes) {
		return list
	}
	for _, e := range edits {
		list = append(list, e.A0+1, e.A1-e.A0, e.B0+1, e.B1-e.B0)
	}
	return list
}

// rowPlaces is places where the lines stand side by side.
func rowPlaces(rows []row) []int {
	list := []int{}
	for i, r := range rows {
		switch {
		case r.kind == rowEqual || r.kind == rowBetween:
		case i > 0 && rows[i-1].kind != rowEqual && rows[i-1].kind != rowBetween:
			list[len(list)-3]++
			list[len(list)-1]++
		default:
			list = append(list, i+1, 1, i+1, 1)
		}
	}
	return list
}

// neovimCompares tells whether Neovim can compare two texts with such changes
// without being noticed.
func neovimCompares(old, text []string, changes []diff.Run) bool {
	if max(len(old), len(text))*(wholeChanges+len(changes))/wholeChanges > wholeCost {
		return false
	}
	large := func(r diff.Run) bool { return min(len(r.Old), len(r.New)) > wholeBlock }
	long := func(line string) bool { return len(line) > longLine }
	return !slices.ContainsFunc(changes, large) && !slices.ContainsFunc(old, long) && !slices.ContainsFunc(text, long)
}

func sentence(note string) string {
	r, size := utf8.DecodeRuneInString(note)
	return strings.ToUpper(string(r)) + note[size:] + "."
}

func wholePieces(oldLines, newLines []string) []rpc.DiffPiece {
	var pieces []rpc.DiffPiece
	for len(oldLines)+len(newLines) > 0 {
		o, n := min(len(oldLines), pieceLines), min(len(newLines), pieceLines)
		pieces = append(pieces, rpc.DiffPiece{Old: oldLines[:o], New: newLines[:n]})
		oldLines, newLines = oldLines[o:], newLines[n:]
	}
	return pieces
}

// inlinePieces are changes as lua/acp/diff/inline.lua takes them.
func inlinePieces(changes []diff.Run) []rpc.DiffPiece {
	var pieces []rpc.DiffPiece
	var list []rpc.InlineChange
	lines := 0
	flush := func() {
		if len(list) > 0 {
			pieces = append(pieces, rpc.DiffPiece{Changes: list})
			list, lines = nil, 0
		}
	}
	for _, c := range changes {
		oldLines, oldWords := linesAndWords(c.Old)
		newLines, newWords := linesAndWords(c.New)
		list = append(list, rpc.InlineChange{
			OldAt: c.OldAt, NewAt: c.NewAt, Old: oldLines, New: newLines, OldWords: oldWords, NewWords: newWords,
		})
		if lines += len(c.Old) + len(c.New); lines >= pieceLines/4 {
			flush()
		}
	}
	flush()
	return pieces
}

// linesAndWords are the texts of lines and their changed words, as index of the
// line, start and end, and so on.
func linesAndWords(lines []diff.Line) (texts []string, words []int) {
	texts, words = make([]string, len(lines)), []int{}
	for i, l := range lines {
		texts[i] = l.Text
		for _, w := range l.Words {
			words = append(words, i, w.Start, w.End)
		}
	}
	return texts, words
}

// Kinds of a row that has the old text left and the new one right.
const (
	rowEqual   = '='
	rowChange  = '~' // both sides have a line
	rowDelete  = '-' // the left one alone
	rowInsert  = '+' // the right one alone
	rowBetween = '.' // lines without a change are left out here
)

type row struct {
	kind     byte
	old, new diff.Line
}

// sideBySide puts the lines of hunks beside each other.
func sideBySide(hunks []diff.Hunk) []row {
	var rows []row
	for i, h := range hunks {
		if i > 0 {
			rows = append(rows, row{kind: rowBetween})
		}
		var old, text []diff.Line
		flush := func() {
			for i := range max(len(old), len(text)) {
				switch {
				case i >= len(old):
					rows = append(rows, row{kind: rowInsert, new: text[i]})
				case i >= len(text):
					rows = append(rows, row{kind: rowDelete, old: old[i]})
				default:
					rows = append(rows, row{rowChange, old[i], text[i]})
				}
			}
			old, text = nil, nil
		}
		for _, l := range h.Lines {
			switch l.Kind {
			case diff.Delete:
				old = append(old, l)
			case diff.Insert:
				text = append(text, l)
			default:
				flush()
				rows = append(rows, row{rowEqual, l, l})
			}
		}
		flush()
	}
	return rows
}

// rowPieces are rows as Lua takes them: the lines of both sides, their numbers, 0
// for none, their changed words, and the kinds, a byte each.
func rowPieces(rows []row) []rpc.DiffPiece {
	var pieces []rpc.DiffPiece
	left := len(rows) - mostLines
	rows = rows[:min(len(rows), mostLines)]
	for rest := range slices.Chunk(rows, pieceLines/2) {
		var oldLines, newLines []diff.Line
		kinds := make([]byte, len(rest))
		oldNumbers, newNumbers := make([]int, len(rest)), make([]int, len(rest))
		for i, r := range rest {
			kinds[i] = r.kind
			oldLines, newLines = append(oldLines, short(r.old)), append(newLines, short(r.new))
			oldNumbers[i], newNumbers[i] = r.old.Old, r.new.New
		}
		oldTexts, oldWords := linesAndWords(oldLines)
		newTexts, newWords := linesAndWords(newLines)
		pieces = append(pieces, rpc.DiffPiece{
			Old: oldTexts, New: newTexts, OldWords: oldWords, NewWords: newWords,
			OldNumbers: oldNumbers, NewNumbers: newNumbers, Kinds: string(kinds),
		})
	}
	if left > 0 {
		more := "… +" + styled.Many(left, "line")
		pieces = append(pieces, rpc.DiffPiece{
			Old: []string{more}, New: []string{more}, OldWords: []int{}, NewWords: []int{},
			OldNumbers: []int{0}, NewNumbers: []int{0}, Kinds: string(rowBetween),
		})
	}
	return pieces
}

// short cuts a line that Neovim would take long to draw.
func short(l diff.Line) diff.Line {
	if len(l.Text) <= longLine {
		return l
	}
	l.Text = styled.Cut(l.Text, longLine)
	l.Words = slices.DeleteFunc(slices.Clone(l.Words), func(w diff.Span) bool { return w.End > len(l.Text) })
	l.Text += "…"
	return l
}
