package whose

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	utf16s "unicode/utf16"
	"unicode/utf8"
)

// A form is how a file's lines are bytes.
type form struct {
	encoding   string // "utf-8", "latin1", or "utf-16" (little endian)
	crlf       bool
	bom        bool // always in UTF-16
	unfinished bool // without an end of the last line
}

func (f form) encode(lines []string) []byte {
	end := "\n"
	if f.crlf {
		end = "\r\n"
	}
	text := strings.Join(lines, end)
	if len(lines) > 0 && !f.unfinished {
		text += end
	}
	switch {
	case f.encoding == "utf-16":
		var b []byte
		for _, unit := range utf16s.Encode([]rune("\ufeff" + text)) {
			b = binary.LittleEndian.AppendUint16(b, unit)
		}
		return b
	case f.encoding == "latin1":
		var b []byte
		for _, r := range text {
			b = append(b, byte(r))
		}
		return b
	case f.bom:
		text = "\ufeff" + text
	}
	return []byte(text)
}

// withoutEmpty are the bytes of a file in the form without its empty lines, of which nobody is the owner.
func (f form) withoutEmpty(data []byte) []byte {
	if f.encoding == "utf-16" {
		return data
	}
	end, mark := []byte("\n"), []byte(nil)
	if f.crlf {
		end = []byte("\r\n")
	}
	if f.bom {
		mark = []byte("\ufeff")
	}
	for twice := slices.Concat(end, end); bytes.Contains(data, twice); {
		data = bytes.ReplaceAll(data, twice, end)
	}
	data, marked := bytes.CutPrefix(data, mark)
	data = bytes.TrimPrefix(data, end)
	if marked {
		data = slices.Concat(mark, data)
	}
	return data
}

// decode tells the lines of a file and how they are bytes, as far as these show it.
func decode(data []byte) (form, []string) {
	f := form{encoding: "utf-8"}
	var text string
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		f.encoding, f.bom = "utf-16", true
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(data[2*i:])
		}
		text = strings.TrimPrefix(string(utf16s.Decode(units)), "\ufeff")
	case !utf8.Valid(data):
		f.encoding = "latin1"
		runes := make([]rune, len(data))
		for i, b := range data {
			runes[i] = rune(b)
		}
		text = string(runes)
	default:
		text = string(data)
		text, f.bom = strings.CutPrefix(text, "\ufeff")
	}
	f.crlf = strings.Contains(text, "\r\n") && !strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\n")
	f.unfinished = text != "" && !strings.HasSuffix(text, "\n")
	return f, linesOf(text)
}

// linesOf are the lines that have something in them.
func linesOf(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func setOf(lines []string) map[string]bool {
	set := map[string]bool{}
	for _, line := range lines {
		set[line] = true
	}
	return set
}

// presence is whether a line is where it is looked for.
type presence int

const (
	absent presence = iota
	present
	either // the rule does not say
)

// A userFile is a file as the user alone has made it: what it was when the turn began, with what the user has
// done to it since. What agents do is not in it, so it is what is there when all of that is refused. A line says
// in its first letter who has written it: "f" is of the file, "u" of the user, "a" of the agent. Those of the
// agent's that the user has accepted are the user's.
type userFile struct {
	exists presence // on the disk
	form   form
	formed bool        // it has that form, else any
	mode   fs.FileMode // 0 is any
	lines  map[string]*userLine
	// precedes has the pairs of lines of which one stood above the other when the user put it there.
	precedes map[[2]string]bool
	// meddled are lines of the agent's at which the user has changed something: undoing the turn leaves them.
	meddled map[string]bool
	// decided are lines that the user has accepted: where an undo takes some of them back, those beside them wait again.
	decided map[string]bool
	// unclear are lines that the user has taken out of which it was not clear whose they are.
	unclear map[string]bool
	// opaque tells that the user has changed what an agent had made no text: then nothing but what they have typed
	// is sure.
	opaque bool
	bytes  bool // an agent has made it no text
	// takenOut are lines that the user has taken out, and that may be another file's, which an agent had moved here.
	takenOut map[string]bool
	anyEnd   bool // the end of the last line may be there or not
	remade   bool // the user has saved it, or accepted that it is made, where an agent had removed it
}

// userLine is a line of the file's or the user's.
type userLine struct {
	buffer, disk presence
	overruled    bool // an agent has removed it
	back         bool // and the user has brought it back by an undo
	unsure       bool // the user has changed something where an agent had removed it: undoing the turn may not bring it back
}

func newUserFile(lines []string, f form, mode fs.FileMode) *userFile {
	u := &userFile{exists: present, form: f, formed: true, mode: mode, lines: map[string]*userLine{}, precedes: map[[2]string]bool{}, meddled: map[string]bool{}, decided: map[string]bool{}, unclear: map[string]bool{}, takenOut: map[string]bool{}}
	u.adopt(lines, lines)
	return u
}

// noUserFile is a file that the user does not have.
func noUserFile() *userFile {
	u := newUserFile(nil, form{encoding: "utf-8"}, 0)
	u.exists = absent
	return u
}

func (u *userFile) clone() *userFile {
	c := *u
	c.lines, c.precedes = map[string]*userLine{}, maps.Clone(u.precedes)
	c.meddled, c.decided, c.unclear, c.takenOut = maps.Clone(u.meddled), maps.Clone(u.decided), maps.Clone(u.unclear), maps.Clone(u.takenOut)
	for line, l := range u.lines {
		is := *l
		c.lines[line] = &is
	}
	return &c
}

// adopt takes what is there for the user's, whoever has written it.
func (u *userFile) adopt(buffer, disk []string) {
	inBuffer, onDisk := setOf(buffer), setOf(disk)
	for _, text := range [][]string{buffer, disk} {
		for _, line := range text {
			if u.lines[line] == nil {
				u.lines[line] = &userLine{}
				u.place(line, text)
			}
		}
	}
	for line, l := range u.lines {
		*l = userLine{buffer: presenceOf(inBuffer[line]), disk: presenceOf(onDisk[line])}
	}
	clear(u.meddled)
	clear(u.unclear)
	u.opaque, u.bytes, u.anyEnd, u.remade = false, false, false, false
}

// adoptFile is adopt for a file with all that it is; data is nil where there is none.
func (u *userFile) adoptFile(buffer []string, data []byte, mode fs.FileMode) {
	f, lines := decode(data)
	u.adopt(buffer, lines)
	u.exists, u.mode = presenceOf(data != nil), mode
	u.bytes = isBinary(lines) // should the user change what an agent makes of it
	if data == nil {
		for line, l := range u.lines { // what the buffer of no file shows is the user's only where they have typed it
			l.overruled = line[0] != 'u'
		}
	}
	if len(lines) > 0 {
		u.form = f
	} else {
		u.formed = false // an empty file has none
	}
}

// acceptedAll tells that the user has accepted all that an agent has made of the file as it was.
func (u *userFile) acceptedAll(was *userFile) {
	for line, l := range u.lines {
		had := was.lines[line]
		if had == nil || had.buffer != l.buffer || had.disk != l.disk {
			u.decided[line] = true
		}
		if u.exists == absent && had != nil && had.disk != absent { // the buffer of no file need not keep it
			l.overruled = true
		}
	}
}

// keptUnseen notes that the user has kept changes of a file that was gone by then, which they had not been told.
func (u *userFile) keptUnseen() {
	u.exists, u.formed, u.mode = either, false, 0
	for _, l := range u.lines {
		l.disk = either
	}
}

// parted tells that the user has refused a file that an agent had made where it has moved theirs away. What they have typed
// into it stays in the buffer; where that stands in theirs, should it come back, and what else they have done to the agent's
// file, the rule does not say.
func (u *userFile) parted() {
	maps.DeleteFunc(u.precedes, func(pair [2]string, _ bool) bool { return pair[0][0] == 'u' || pair[1][0] == 'u' })
	for _, l := range u.lines {
		if l.buffer == absent && l.disk != absent {
			l.buffer = either
		}
	}
}

func presenceOf(is bool) presence {
	if is {
		return present
	}
	return absent
}

// unsureOf tells that the rule does not say where a line is.
func (u *userFile) unsureOf(line string) {
	if l := u.lines[line]; l != nil {
		l.buffer, l.disk = either, either
	}
}

// place has a line stand where it is in a text, if it is there.
func (u *userFile) place(line string, text []string) {
	at := slices.Index(text, line)
	if at < 0 {
		return
	}
	for i, other := range text {
		switch {
		case u.lines[other] == nil || other == line:
		case i < at:
			u.order(other, line)
		default:
			u.order(line, other)
		}
	}
}

func (u *userFile) order(above, below string) {
	if u.precedes[[2]string{above, below}] {
		return
	}
	over, under := []string{above}, []string{below}
	for pair := range u.precedes {
		if pair[1] == above {
			over = append(over, pair[0])
		}
		if pair[0] == below {
			under = append(under, pair[1])
		}
	}
	for _, a := range over {
		for _, b := range under {
			u.precedes[[2]string{a, b}] = true
		}
	}
}

// edited takes what the user has made of a buffer's text. An undo or redo may do over again what an agent has
// done: then the rule does not say whose it is.
func (u *userFile) edited(before, after []string, undo bool) {
	if slices.Equal(before, after) {
		return
	}
	u.opaque = u.opaque || u.bytes || isBinary(before)
	had, has := setOf(before), setOf(after)
	isAgents := func(line string) bool { return line[0] != 'u' && u.lines[line] == nil }
	for _, line := range before {
		l := u.lines[line]
		switch {
		case has[line]:
		case l == nil:
			u.meddled[line], u.takenOut[line] = true, true
		case undo && l.overruled:
			l.buffer = either
		default:
			u.unclear[line] = l.buffer == either
			if l.buffer = absent; l.back { // both have removed it
				l.buffer, l.unsure = either, true
			}
		}
	}
	for _, line := range after {
		if undo && !had[line] && isAgents(line) {
			u.lines[line] = &userLine{buffer: either}
			u.place(line, after)
			continue
		}
		if had[line] || isAgents(line) {
			continue
		}
		if l := u.lines[line]; l != nil {
			l.back = l.back || undo && l.overruled
			if undo && (u.unclear[line] || l.buffer == either) {
				l.buffer = either
			} else {
				l.buffer = present
			}
			continue
		}
		u.lines[line] = &userLine{buffer: present}
		u.place(line, after)
	}

	for _, texts := range [][2][]string{{before, after}, {after, before}} {
		text := texts[0]
		from, to := changed(text, texts[1])
		for from > 0 && isAgents(text[from-1]) {
			from--
		}
		for to < len(text) && isAgents(text[to]) {
			to++
		}
		for _, line := range text[from:to] {
			if isAgents(line) {
				u.meddled[line] = true
			}
		}
		for _, l := range u.hidden(text, from, to, setOf(slices.Concat(before, after))) {
			l.unsure = true
		}
	}
}

// hidden are the lines that stood between two places of a text, but for those that are shown.
func (u *userFile) hidden(text []string, from, to int, shown map[string]bool) (list []*userLine) {
	for line, l := range u.lines {
		above := from == 0 || u.precedes[[2]string{text[from-1], line}]
		below := to == len(text) || u.precedes[[2]string{line, text[to]}]
		if above && below && !shown[line] && l.buffer != absent {
			list = append(list, l)
		}
	}
	return list
}

// editedOutside takes what another program of the user's has made of the disk's text. Unsaved text in the buffer
// may be in the way of that.
func (u *userFile) editedOutside(before, after []string, unsaved bool) {
	was := map[string]presence{}
	for line, l := range u.lines {
		was[line] = l.buffer
	}
	u.edited(before, after, false)
	for _, line := range less(before, after) {
		if l := u.lines[line]; l != nil {
			l.disk = absent
		}
	}
	for line, l := range u.lines {
		if had, known := was[line]; !known || had != l.buffer {
			l.disk = l.buffer
			if unsaved {
				l.buffer, l.disk = either, either
			}
		}
	}
}

// accepted tells that the user has accepted a write of the agent's, by which lines came and others went. buffer and
// disk have these texts now. What the agent had removed before, unasked, is not accepted by that.
func (u *userFile) accepted(came, gone, buffer, disk []string) {
	u.opaque = u.opaque || u.bytes || isBinary(buffer)
	inBuffer, onDisk := setOf(buffer), setOf(disk)
	for _, line := range slices.Concat(came, gone) {
		u.decided[line] = true
	}
	for _, line := range came {
		if l := u.lines[line]; l != nil && l.buffer == absent { // of theirs, from before
			l.buffer, l.disk = presenceOf(inBuffer[line]), presenceOf(onDisk[line])
		} else if l == nil && (inBuffer[line] || onDisk[line]) {
			u.lines[line] = &userLine{buffer: presenceOf(inBuffer[line]), disk: presenceOf(onDisk[line])}
			u.place(line, buffer)
			u.place(line, disk)
			if u.exists == absent {
				u.exists = either
			}
		}
	}
	for _, line := range gone {
		if l := u.lines[line]; l != nil {
			l.buffer, l.disk = presenceOf(inBuffer[line]), presenceOf(onDisk[line])
		} else {
			u.takenOut[line] = true
		}
	}
}

// writtenAnew tells that an agent writes a file that the user has not got, and of which the buffer has text: what of that
// was not saved has no other place when the write is taken back.
func (u *userFile) writtenAnew() {
	if u.exists == absent {
		u.exists = either
	}
}

// sawGo tells that the user has accepted a write by which these lines of the disk's go, as they were shown: also such of
// theirs that the agent did not know.
func (u *userFile) sawGo(lines []string) {
	for _, line := range lines {
		if l := u.lines[line]; l != nil && l.buffer == present {
			l.buffer, l.disk = either, either
		}
	}
}

// acceptedEnd tells that the user has accepted a write that changes the end of the last line, maybe that line too.
func (u *userFile) acceptedEnd(last string) {
	u.formed = false
	if u.lines[last] == nil {
		u.lines[last] = &userLine{buffer: either, disk: either}
	}
}

// changed is the part of a text that differs from another.
func changed(text, other []string) (from, to int) {
	short := min(len(text), len(other))
	for from < short && text[from] == other[from] {
		from++
	}
	rest := 0
	for rest < short-from && text[len(text)-1-rest] == other[len(other)-1-rest] {
		rest++
	}
	return from, len(text) - rest
}

// keptHere tells that the user has kept what the agent has made between two places of a text. If that was all that
// waited, permissions and form are kept too.
func (u *userFile) keptHere(text []string, from, to int) {
	u.mode, u.formed = 0, false
	shown := setOf(text)
	first, end := from, to
	for first > 0 && text[first-1][0] == 'u' { // whether what went was above or below what the user has typed there is not known
		first--
	}
	for end < len(text) && text[end][0] == 'u' {
		end++
	}
	for _, l := range u.hidden(text, first, end, shown) {
		l.buffer, l.disk = either, either
	}
	for line, l := range u.lines { // lines that went beside others which the user has accepted: where is not known
		if from == to && l.overruled && !shown[line] {
			l.buffer, l.disk = either, either
		}
	}
	for _, line := range text[from:to] {
		u.decided[line] = true
		if u.lines[line] == nil {
			u.lines[line] = &userLine{buffer: present, disk: either}
			u.place(line, text)
		}
	}
}

// renamed is what the user has under another name when the buffer, which shows a text, is written there.
func (u *userFile) renamed(text []string) *userFile {
	c := u.clone()
	for _, line := range text {
		if l := c.lines[line]; l == nil || line[0] == 'a' && l.buffer == absent { // the agent's in a file that the user has made
			c.lines[line] = &userLine{buffer: either}
			c.place(line, text)
		}
	}
	c.saved(text, false)
	shown := setOf(text)
	for line, l := range c.lines {
		if l.overruled && !shown[line] && l.buffer == present {
			l.buffer, l.disk = either, either
		}
	}
	c.exists, c.formed = present, false // as the agent has left it, or not
	return c
}

// saved tells that the user has written the buffer, which had a text, and whether there was a file.
func (u *userFile) saved(text []string, was bool) {
	for _, l := range u.lines {
		l.disk = l.buffer
	}
	u.form.unfinished = false // as 'fixendofline' wants it, if that is set
	u.anyEnd = true
	if u.exists != present {
		u.mode = 0
	}
	if !was { // what an agent had removed is made anew: undoing the turn leaves that
		u.mode, u.remade = 0, true
		for _, l := range u.lines {
			l.unsure = true
		}
		for _, line := range text {
			if u.lines[line] == nil {
				u.meddled[line] = true
			}
		}
	}
	if u.exists != present {
		u.exists = either
		for _, line := range text {
			if l := u.lines[line]; l != nil && l.buffer == present {
				u.exists = present
			}
		}
	}
}

// isAllIn reports whether a text has all lines that the file has on the disk.
func (u *userFile) isAllIn(text []string) bool {
	has := setOf(text)
	for line, l := range u.lines {
		if l.disk == present && !has[line] {
			return false
		}
	}
	return true
}

// removed tells that the user has removed the file, which no buffer shows.
func (u *userFile) removed(is presence) {
	u.exists = is
	for _, l := range u.lines {
		if l.disk != absent {
			l.buffer, l.disk = is, is
		}
	}
}

// reloaded tells that the user has given up what was not saved. What an agent has taken out too was: the buffer had
// what the disk has.
func (u *userFile) reloaded() {
	for _, l := range u.lines {
		if l.overruled && l.buffer == absent {
			l.disk = either
		}
		l.buffer = l.disk
	}
}

// struck tells that Neovim was killed: what was not saved may be known, or not.
func (u *userFile) struck() {
	for _, l := range u.lines {
		if l.buffer != l.disk {
			l.buffer, l.disk = either, either
		}
	}
}

// overrule tells that an agent has removed lines.
func (u *userFile) overrule(lines []string) {
	for _, line := range lines {
		if l := u.lines[line]; l != nil {
			l.overruled = true
		}
	}
}

// overruleAll tells that an agent has removed all lines.
func (u *userFile) overruleAll() { u.overrule(slices.Collect(maps.Keys(u.lines))) }

// leaked tells that an agent that knew a text, with lines in it that the user had not saved, has written another.
func (u *userFile) leaked(known, text []string) {
	has := setOf(slices.Concat(known, text))
	for line, l := range u.lines {
		if l.disk != l.buffer && has[line] == (l.buffer != absent) {
			l.disk = either
		}
	}
}

// or is a file as either of two are.
func (u *userFile) or(o *userFile) *userFile {
	c := u.clone()
	for line, l := range o.lines {
		is := c.lines[line]
		if is == nil {
			is = &userLine{}
			c.lines[line] = is
		}
		if is.buffer != l.buffer || l.unsure {
			is.buffer = either
		}
		if is.disk != l.disk || l.unsure {
			is.disk = either
		}
	}
	for line := range u.lines {
		if o.lines[line] == nil {
			c.lines[line].buffer, c.lines[line].disk = either, either
		}
	}
	for line := range o.meddled { // nothing tells after an undo that it has left them
		if c.lines[line] == nil {
			c.lines[line] = &userLine{buffer: either, disk: either}
		}
	}
	for line := range u.decided {
		c.unsureOf(line)
	}
	if c.exists != o.exists {
		c.exists = either
	}
	if c.mode != o.mode {
		c.mode = 0
	}
	c.formed, c.anyEnd = c.formed && c.form == o.form, c.anyEnd || o.anyEnd
	return c
}

// A whoseMoment is when a file is looked at.
type whoseMoment int

const (
	standing whoseMoment = iota // nothing is decided: what agents have not removed is there
	refused                     // all is refused
	undone                      // the turn is undone
)

// wrong tells what lines of a buffer, or of the disk, should not be as they are. Lines of the user's in kin may be
// here or there: the agent had moved the file.
func (u *userFile) wrong(got []string, disk bool, when whoseMoment, kin map[string]bool) (faults []string) {
	wanted := func(line string) presence {
		l := u.lines[line]
		switch {
		case kin[line], l == nil && (u.opaque || when == standing || when == undone && u.meddled[line]):
			return either
		case l == nil:
			return absent
		case u.opaque && (line[0] != 'u' || l.overruled), l.unsure && when == undone, (l.overruled || line[0] == 'a') && when == standing:
			return either
		case disk && l.overruled && l.buffer != l.disk, disk && l.overruled && l.buffer == absent:
			return either // both have taken it out, or it comes back as the text that the agent knew
		case disk:
			return l.disk
		}
		return l.buffer
	}
	seen := map[string]bool{}
	for i, line := range got {
		switch {
		case seen[line]:
			faults = append(faults, line+" is there twice")
		case wanted(line) == absent && when != standing:
			faults = append(faults, line+" is there")
		}
		seen[line] = true
		for _, above := range got[:i] {
			if u.precedes[[2]string{line, above}] {
				faults = append(faults, fmt.Sprintf("%s is below %s", line, above))
			}
		}
	}
	for _, line := range slices.Sorted(maps.Keys(u.lines)) {
		if wanted(line) == present && !seen[line] {
			faults = append(faults, line+" is missing")
		}
	}
	return faults
}

// ended is the file's form with the other end of the last line.
func (u *userFile) ended() form {
	f := u.form
	f.unfinished = !f.unfinished
	return f
}

// wrongFile tells what a file on the disk should not have as it is, nil being no file.
// Unsaved tells that the buffer has unsaved text: then the disk may keep lines of the agent's until that is saved.
func (u *userFile) wrongFile(data []byte, mode fs.FileMode, unsaved bool, when whoseMoment, kin map[string]bool) (faults []string) {
	switch {
	case data == nil && u.exists == present:
		return []string{"there is no file"}
	case data == nil:
		return nil
	case u.exists == absent && !unsaved:
		return []string{"there is a file"}
	}
	got, lines := decode(data)
	if unsaved {
		has := setOf(lines)
		for _, line := range slices.Sorted(maps.Keys(u.lines)) {
			if l := u.lines[line]; line[0] == 'u' && l.disk == present && !has[line] && !l.overruled && !l.unsure {
				faults = append(faults, line+" is missing")
			}
		}
		return faults
	}
	faults = u.wrong(lines, true, when, kin)
	if u.exists != present || u.opaque {
		return faults
	}
	if mode != u.mode && u.mode != 0 {
		faults = append(faults, fmt.Sprintf("its mode is %o, not %o", mode, u.mode))
	}
	data = u.form.withoutEmpty(data)
	if len(lines) > 0 && len(faults) == 0 && u.formed && !bytes.Equal(data, u.form.encode(lines)) && !(u.anyEnd && bytes.Equal(data, u.ended().encode(lines))) {
		faults = append(faults, fmt.Sprintf("its form is %+v, not %+v", got, u.form))
	}
	return faults
}
