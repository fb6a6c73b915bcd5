package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/buffers"
	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

const bom = "\ufeff"

// told is what an agent sent about a change, and the File made of it.
type told struct {
	FileDiff
	old, text *string    // nil if there is none, or none was sent
	raw       [2]*string // those two with their own line ends
	patch     *patch
	patchText string
	opaque    bool // there is no text to show
}

// read unifies the ways to report a change.
func read(d session.Diff) told {
	t := told{FileDiff: FileDiff{Path: d.Path, OldPath: d.OldPath, Operation: d.Operation}}
	if t.Operation == "" {
		t.Operation = session.OperationModify
	}
	if t.OldPath == t.Path {
		t.OldPath = ""
	}
	t.raw = [2]*string{d.OldText, d.NewText}
	var dos, wasDos bool
	if d.OldText != nil {
		old, crlf := bareLines(strings.TrimPrefix(*d.OldText, bom))
		t.old, wasDos = &old, crlf
	}
	if d.NewText != nil {
		text, crlf := bareLines(strings.TrimPrefix(*d.NewText, bom))
		t.text, dos = &text, crlf
	}
	switch {
	case d.FileType == "binary" || binary(t.old) || binary(t.text):
		t.nothing("binary file")
	case d.FileType == "directory":
		t.nothing("folder")
	case d.Patch != "":
		t.readPatch(d.Patch)
	case t.old == nil && t.text == nil && d.FileType == "symlink":
		t.nothing("symbolic link")
	case t.old != nil && t.text != nil && dos != wasDos && parted(*t.old) && parted(*t.text):
		ends := map[bool]string{true: "CRLF", false: "LF"}
		t.addNote("line ends change from " + ends[wasDos] + " to " + ends[dos])
	}
	return t
}

func (t *told) readPatch(text string) {
	p, err := parsePatch(text, true)
	switch {
	case err != nil:
		t.addNote(fmt.Sprintf("the agent's patch cannot be read: %v", err))
		t.unread(text)
		return
	case p.binary:
		t.nothing("binary file")
		return
	case p.mode != "":
		t.addNote(p.mode)
	}
	t.patch, t.patchText = &p, text
	old, now := p.sides()
	switch t.Operation {
	case session.OperationAdd:
		t.text = &now
	case session.OperationDelete:
		t.old = &old
	}
}

// unread shows a patch that cannot be parsed.
func (t *told) unread(text string) {
	t.opaque = true
	var h Hunk
	for _, l := range linediff.Lines(ended(text)) {
		h.Lines = append(h.Lines, Line{Text: strings.TrimSuffix(l, "\n")})
	}
	t.Hunks = []Hunk{h}
}

func (t *told) nothing(why string) {
	t.opaque = true
	t.addNote(why)
}

// addNote adds to the note.
func (f *FileDiff) addNote(note string) {
	if f.Note != "" {
		f.Note += "; "
	}
	f.Note += note
}

// bareLines returns a text with "\n" between its lines; crlf says that it had "\r\n" between all of them.
func bareLines(text string) (bare string, crlf bool) {
	n := strings.Count(text, "\n")
	if n == 0 || n != strings.Count(text, "\r\n") {
		return text, false
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), true
}

func binary(text *string) bool { return text != nil && strings.IndexByte(*text, 0) >= 0 }

func parted(text string) bool { return strings.Contains(text, "\n") }

// unlocated makes the hunks from only what the agent sent.
func (t *told) unlocated() {
	switch {
	case t.opaque:
	case t.patch != nil:
		t.Old, t.New = t.patch.sides()
		t.patch.hunks(&t.FileDiff)
	default:
		if t.old != nil {
			t.Old = *t.old
		}
		if t.text != nil {
			t.New = *t.text
		}
		t.between(false)
		if len(t.Hunks) == 0 && t.Old != t.New {
			t.addNote(newlineAlone)
		}
	}
}

// locate finds the texts before and after the change, or says why it cannot.
func (t *told) locate(now Now) (why string) {
	switch {
	case t.opaque:
		return ""
	case binary(now.Text):
		t.nothing("binary file")
		return ""
	case t.Operation == session.OperationAdd && t.text != nil:
		t.create(*t.text, now)
		return ""
	case t.Operation == session.OperationDelete:
		return t.remove(now)
	case now.Text == nil && t.old != nil && *t.old == "" && t.text != nil:
		t.Operation = session.OperationAdd
		t.New = *t.text
		return ""
	case now.Text == nil && t.patch == nil && t.old == nil && t.text == nil:
		return "the agent says nothing more about it"
	case now.Text == nil:
		return "no such file: as the agent sent it"
	case t.patch != nil:
		return t.locatePatch(*now.Text, now.Done)
	case t.old != nil && t.text != nil:
		if strings.Contains(*now.Text, "\r\n") { // beside "\n", or it would have been bared
			return t.locateText(*t.raw[0], *t.raw[1], now)
		}
		return t.locateText(*t.old, *t.text, now)
	case t.text != nil:
		t.create(*t.text, now)
		return ""
	case t.Operation == session.OperationAdd:
		t.New = *now.Text
		return ""
	case t.Operation == session.OperationMove, t.Operation == session.OperationCopy:
		t.Old, t.New = *now.Text, *now.Text
		return ""
	}
	return "the agent says nothing more about it"
}

// create handles a file of which only the new text was sent: all of it.
func (t *told) create(text string, now Now) {
	t.New = text
	if now.Text == nil || now.Done || *now.Text == text {
		return // the present file is the result
	}
	t.Old, t.Operation = *now.Text, session.OperationModify
	if t.Old != "" {
		t.addNote("the file exists: all of its text is replaced")
	}
}

func (t *told) remove(now Now) (why string) {
	switch {
	case now.Text != nil && !now.Done:
		t.Old = *now.Text
	case t.old != nil:
		t.Old = *t.old
	default:
		return "the agent says nothing more about it"
	}
	return ""
}

const (
	nothingChanges = "nothing changes"
	newlineAlone   = "only the newline at its end changes"

	notThere = "not found in the file: as the agent sent it"
	anymore  = "not in the file any more: as the agent sent it"
	opposed  = "you have other unsaved lines there: as the agent sent it"
)

func missing(done bool) string {
	if done {
		return anymore
	}
	return notThere
}

// locateOnDisk locates the change in what the disk has, and computes its effect on the unsaved text; why is the reason
// if it is not there either.
func (t *told) locateOnDisk(now Now, why string) string {
	unsaved := *now.Text
	now.Text = now.Disk
	if t.locate(now) != "" {
		return why
	}
	old, text := t.Old, t.New
	after, conflicts := buffers.Merge(old, unsaved, text)
	before := unsaved
	if len(conflicts) == 0 && after == unsaved { // the buffer already has the change
		before, conflicts = buffers.Merge(text, unsaved, old)
	}
	if len(conflicts) > 0 {
		t.Old, t.New = "", ""
		return opposed
	}
	t.Old, t.New = before, after
	return ""
}

func (t *told) locatePatch(text string, done bool) (why string) {
	p := *t.patch
	if strings.Contains(text, "\r\n") { // beside "\n"
		p, _ = parsePatch(t.patchText, false) // it was parsed before
	}
	for _, reverse := range []bool{done, !done} {
		other, ok := p.apply(text, reverse)
		if !ok {
			continue
		}
		t.Old, t.New = text, other
		if reverse {
			t.Old, t.New = other, text
		}
		return ""
	}
	return missing(done)
}

// locateText finds the fragment before the change in the file's text, or the one after it if the change has already
// been made. If both are there, one is often a part of the other; then it does not count.
func (t *told) locateText(old, text string, now Now) (why string) {
	file := *now.Text
	switch {
	case file == "" && old == "": // it was written to since
		t.New = text
		return ""
	case file == "" && text == "":
		t.Old = old
		return ""
	case old == "" && !now.Done && !strings.Contains(file, text):
		t.create(text, now) // some agents write a file by editing nothing
		return ""
	case old == text:
		t.Old, t.New = file, file
		if !strings.Contains(file, old) {
			return missing(now.Done)
		}
		return ""
	}
	before, after := occurrences(file, old), occurrences(file, text)
	before, after = outside(before, len(old), after, len(text)), outside(after, len(text), before, len(old))
	if len(after) > 1 && !telling(text) {
		after = nil // too common
	}
	var at int
	switch {
	case len(before) > 0 && (len(after) == 0 || !now.Done):
		at = t.choose(file, before, now.Line)
		t.Old, t.New = file, file[:at]+text+file[at+len(old):]
		return ""
	case len(after) > 0:
		at = t.choose(file, after, now.Line)
		t.Old, t.New = file[:at]+old+file[at+len(text):], file
		return ""
	}
	for _, alike := range likenesses {
		for _, reverse := range []bool{now.Done, !now.Done} {
			from, to := old, text
			if reverse {
				from, to = text, old
				if !telling(text) {
					continue
				}
			}
			other, found := t.replaceLines(file, from, to, now.Line, alike.normal)
			if !found {
				continue
			}
			t.Old, t.New = file, other
			if reverse {
				t.Old, t.New = other, file
			}
			if alike.note != "" {
				t.addNote(alike.note)
			}
			return ""
		}
	}
	return missing(now.Done)
}

// maxPlaces is the most places of a fragment among which one is chosen.
const maxPlaces = 10_000

// occurrences returns the places of a text in another that do not overlap.
func occurrences(text, part string) []int {
	if part == "" {
		return nil
	}
	var places []int
	for from := 0; len(places) < maxPlaces; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			break
		}
		places = append(places, from+i)
		from += i + len(part)
	}
	return places
}

// outside returns the places, n bytes each, that are in none of others, m bytes each.
func outside(places []int, n int, others []int, m int) []int {
	var left []int
	for _, p := range places {
		for len(others) > 0 && others[0]+m < p+n {
			others = others[1:]
		}
		if len(others) == 0 || others[0] > p {
			left = append(left, p)
		}
	}
	return left
}

// telling reports whether a text is distinctive enough to locate.
func telling(text string) bool {
	n := 0
	for _, r := range text {
		if c := classOf(r); c == word || c == other && r >= 0x80 {
			n++
		}
	}
	return n >= 3
}

// choose returns the place nearest to a line, preferring below to above, or the first one.
func (f *FileDiff) choose(text string, places []int, line int) int {
	if len(places) == 1 {
		return places[0]
	}
	if line == 0 {
		f.addNote(fmt.Sprintf("the file has this text %d times: the first is shown", len(places)))
		return places[0]
	}
	best, least, at, number := places[0], len(text)+line, 0, 1
	for _, p := range places {
		number += strings.Count(text[at:p], "\n")
		at = p
		if distance := max(number-line, line-number); distance <= least {
			best, least = p, distance
		}
	}
	return best
}

// likenesses are ways to compare lines, the strictest first.
var likenesses = []struct {
	normal func(string) string
	note   string
}{
	{func(l string) string { return strings.TrimRight(l, "\r\n") }, ""},
	{func(l string) string { return strings.TrimRight(l, " \t\r\n") }, whiteSpace},
	{strings.TrimSpace, whiteSpace},
}

const whiteSpace = "its white space differs from the file's"

// replaceLines replaces whole lines that are alike. Those that stay are as the file has them.
func (f *FileDiff) replaceLines(file, from, to string, line int, normal func(string) string) (string, bool) {
	lines, part := linediff.Lines(file), linediff.Lines(from)
	plain := func(lines []string) string {
		var b strings.Builder
		b.WriteByte('\n')
		for _, l := range lines {
			b.WriteString(normal(l))
			b.WriteByte('\n')
		}
		return b.String()
	}
	whole, searched := plain(lines), plain(part)
	if strings.TrimSpace(searched) == "" {
		return "", false
	}
	var places []int
	for at := 0; len(places) < maxPlaces; {
		i := strings.Index(whole[at:], searched)
		if i < 0 {
			break
		}
		places = append(places, at+i)
		at += i + len(searched) - 1 // its last newline may be the next one's first
	}
	if len(places) == 0 {
		return "", false
	}
	first := strings.Count(whole[:f.choose(whole, places, line)], "\n")
	old := lines[first : first+len(part)]
	end := "\n"
	if strings.HasSuffix(old[0], "\r\n") {
		end = "\r\n"
	}
	result := slices.Clone(lines[:first])
	added := linediff.Lines(to)
	at := 0
	for _, e := range append(linediff.Compare(part, added), linediff.Edit{A0: len(part), A1: len(part), B0: len(added), B1: len(added)}) {
		result = append(result, old[at:e.A0]...)
		for _, l := range added[e.B0:e.B1] {
			result = append(result, strings.TrimRight(l, "\r\n")+end)
		}
		at = e.A1
	}
	result = append(result, lines[first+len(part):]...)
	for i, l := range result {
		if !strings.HasSuffix(l, "\n") {
			result[i] += end
		}
	}
	after := strings.Join(result, "")
	atEnd := first+len(part) == len(lines)
	if !strings.HasSuffix(file, "\n") && (!atEnd || !strings.HasSuffix(to, "\n")) {
		after = strings.TrimSuffix(after, end)
	}
	return after, true
}
