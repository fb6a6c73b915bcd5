package terminal

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// unit is an indivisible piece of a program's output.
type unit int

const (
	plain    unit = iota // text with its line ends, backspaces and the like
	sequence             // one escape sequence
	inside               // one that has only rows below the first scroll
	query                // one that has the terminal answer
)

const (
	// longestSequence and longestLink bound what counts as a control sequence and a hyperlink.
	longestSequence = 256
	longestLink     = 4096
	// mostParameters is how many parameters of a control sequence pass, counting those separated by colons, and
	// largestParameter the largest value: Neovim has room for 16 (0.10) or 32 and does not check.
	mostParameters   = 16
	largestParameter = 99_999
	// mostRepeated is the most characters that a repetition (REP) expands to. Neovim never gets one: with a zero-width
	// character it would never end.
	mostRepeated = 1000
)

// filter parses a program's output and drops what would have an effect beyond the window that shows it: the clipboard,
// notifications, titles and the working folder (OSC), device control, application and other strings (DCS, APC, PM,
// SOS), the size and place of the window, printing, bells, and modes that change what the mouse, the focus and pasting
// send. It passes only what is known to be harmless. Sequences may be cut anywhere.
//
// Queries are harmless only if nobody answers, and are passed separately; so is what is harmless to a Screen but
// crashes Neovim when its window shrinks.
type filter struct {
	alternate bool // the alternate page is shown
	last      byte // the character before, for REP, if it is ASCII; else 0

	state      filterState
	unfinished []byte // of an unfinished sequence or character, from its first byte on
	long       bool   // it is longer than anything that passes
}

type filterState int

const (
	ground     filterState = iota
	latin                  // after 0xc2, which begins U+0080 to U+00bf
	escape                 // after ESC
	control                // in a control sequence
	command                // in an operating system command
	other                  // in a string of any other kind
	commandEnd             // after ESC in the one
	otherEnd               // or in the other
)

// passes has the bytes that are plain by themselves.
var passes = func() (t [256]bool) {
	for b := range t {
		t[b] = b >= 0x20 && b != 0x7f && b != 0xc2
	}
	for _, b := range "\b\t\n\v\f\r\x0e\x0f" {
		t[b] = true
	}
	return t
}()

// feed passes the units of p to emit in order. They are valid until emit returns.
func (f *filter) feed(p []byte, emit func(unit, []byte)) {
	for i := 0; i < len(p); {
		b := p[i]
		if f.state == ground && passes[b] {
			start := i
			for i++; i < len(p) && passes[p[i]]; i++ {
			}
			f.remember(p[start:i])
			emit(plain, p[start:i])
			continue
		}
		i++
		switch f.state {
		case ground:
			f.unfinished = append(f.unfinished[:0], b)
			f.long = false
			switch b {
			case 0x1b:
				f.state = escape
			case 0xc2:
				f.state = latin
			}
		case latin:
			f.state, f.last = ground, 0
			switch {
			case b >= 0xa0 && b < 0xc0:
				emit(plain, append(f.unfinished, b))
			case b < 0x80 || b >= 0xa0: // a byte that was no beginning
				emit(plain, []byte("\ufffd"))
				i--
			}
		case escape:
			i -= f.escape(b, emit)
		case control:
			i -= f.control(b, emit)
		case command, other:
			switch {
			case b == 0x1b:
				f.state += commandEnd - command
			case b == 0x18 || b == 0x1a:
				f.state = ground
			case b == 0x07 && f.state == command:
				f.command(emit)
			default:
				f.hold(b, longestLink)
			}
		case commandEnd, otherEnd:
			switch {
			case b != '\\':
				f.unfinished = append(f.unfinished[:0], 0x1b)
				f.long = false
				f.state = escape
				i--
			case f.state == commandEnd:
				f.command(emit)
			default:
				f.string(emit)
			}
		}
	}
}

// remember notes the last character of a text that is printed.
func (f *filter) remember(text []byte) {
	for _, b := range slices.Backward(text) {
		if b >= 0x80 {
			f.last = 0
			return
		} else if b >= 0x20 {
			f.last = b
			return
		}
	}
}

func (f *filter) hold(b byte, limit int) {
	if len(f.unfinished) >= limit {
		f.long = true
		return
	}
	f.unfinished = append(f.unfinished, b)
}

// misplaced handles a byte that belongs to no sequence, and returns how many bytes to read again.
func (f *filter) misplaced(b byte, emit func(unit, []byte)) int {
	switch {
	case b == 0x1b:
		f.unfinished = append(f.unfinished[:0], b)
		f.long = false
		f.state = escape
	case b == 0x18 || b == 0x1a:
		f.state = ground
	case b >= 0x80:
		f.state = ground
		return 1
	case passes[b]: // control characters take effect inside a sequence
		emit(plain, []byte{b})
	}
	return 0
}

// escape takes a byte after ESC.
func (f *filter) escape(b byte, emit func(unit, []byte)) int {
	if b < 0x20 || b >= 0x7f {
		return f.misplaced(b, emit)
	}
	f.hold(b, longestSequence)
	if b < 0x30 {
		return 0 // an intermediate byte
	}
	f.state = ground
	if len(f.unfinished) == 2 {
		switch b {
		case '[':
			f.state = control
			return 0
		case ']':
			f.state = command
			return 0
		case 'P', 'X', '^', '_':
			f.state = other
			return 0
		case 'Z': // DECID
			emit(query, f.unfinished)
		case 'c':
			f.alternate = false
			emit(sequence, f.unfinished)
		case '8':
			// Neovim may have fewer rows than when the cursor was saved, and still moves it there unless a control
			// sequence follows. This one changes nothing.
			emit(sequence, append(f.unfinished, "\x1b[10m"...))
		case '7', 'D', 'E', 'H', 'M', '=', '>':
			emit(sequence, f.unfinished)
		}
		return 0
	}
	// Character sets, and the test pattern. Others would change the encoding.
	if len(f.unfinished) == 3 && (bytes.IndexByte([]byte("()*+"), f.unfinished[1]) >= 0 || string(f.unfinished[1:]) == "#8") {
		emit(sequence, f.unfinished)
	}
	return 0
}

// control takes a byte of a control sequence.
func (f *filter) control(b byte, emit func(unit, []byte)) int {
	if b < 0x20 || b >= 0x7f {
		return f.misplaced(b, emit)
	}
	f.hold(b, longestSequence)
	if b < 0x40 {
		return 0
	}
	f.state = ground
	if f.long {
		return 0
	}
	begin, end := 2, len(f.unfinished)-1
	var prefix, middle byte
	if begin < end && f.unfinished[begin] >= '<' {
		prefix = f.unfinished[begin]
		begin++
	}
	if begin < end && f.unfinished[end-1] < 0x30 {
		middle = f.unfinished[end-1]
		end--
	}
	body, ok := bounded(f.unfinished[begin:end])
	if !ok {
		return 0
	}
	f.unfinished = f.unfinished[:begin+len(body)]
	if middle != 0 {
		f.unfinished = append(f.unfinished, middle)
	}
	f.unfinished = append(f.unfinished, b)
	switch {
	case prefix == 0 && middle == 0 && strings.IndexByte("@ABCDEFGHIJKLMPSTXZ`adefgmsu", b) >= 0,
		prefix == '?' && middle == 0 && (b == 'J' || b == 'K'),
		prefix == 0 && middle == '!' && b == 'p', // DECSTR
		prefix == 0 && middle == ' ' && b == 'q': // the cursor's shape
		emit(sequence, f.unfinished)
	case prefix == 0 && middle == 0 && b == 'r': // DECSTBM
		if top, _, _ := strings.Cut(string(body), ";"); top == "" || top == "0" || top == "1" {
			emit(sequence, f.unfinished)
		} else {
			emit(inside, f.unfinished)
		}
	case prefix == 0 && middle == 0 && b == 'b':
		if n, _ := strconv.Atoi(string(body)); f.last != 0 {
			emit(plain, bytes.Repeat([]byte{f.last}, min(max(n, 1), mostRepeated)))
		}
	case (prefix == 0 || prefix == '?') && middle == 0 && (b == 'h' || b == 'l'):
		f.modes(prefix, body, b, emit)
	case middle == 0 && (b == 'c' && prefix != '?' || b == 'n' && (prefix == 0 || prefix == '?')),
		prefix == 0 && middle == 0 && b == 'x',   // DECREQTPARM
		prefix == '>' && middle == 0 && b == 'q', // XTVERSION
		middle == '$' && b == 'p':                // DECRQM
		emit(query, f.unfinished)
	}
	return 0
}

// bounded limits, in place, the number and size of a sequence's parameters, and reports whether they are parameters at
// all.
func bounded(params []byte) ([]byte, bool) {
	out, start := params[:0], 0 // of the last one
	number, count := 0, 1
	for _, b := range params {
		switch {
		case b >= '0' && b <= '9':
			number = min(number*10+int(b-'0'), largestParameter)
			out = strconv.AppendInt(out[:start], int64(number), 10)
		case b != ';' && b != ':':
			return nil, false
		case count == mostParameters:
			return out, true
		default:
			out = append(out, b)
			start, number = len(out), 0
			count++
		}
	}
	return out, true
}

// modes passes the modes that affect what is drawn, or what keys mean.
func (f *filter) modes(prefix byte, params []byte, final byte, emit func(unit, []byte)) {
	out := []byte("\x1b[")
	if prefix != 0 {
		out = append(out, prefix)
	}
	empty := len(out)
	for param := range bytes.SplitSeq(params, []byte{';'}) {
		name := string(prefix) + string(param)
		if prefix == 0 {
			name = string(param)
		}
		switch name {
		case "?47", "?1047", "?1049":
			f.alternate = final == 'h'
		case "4", "20", "?1", "?6", "?7", "?25", "?1048":
		default:
			continue
		}
		if len(out) > empty {
			out = append(out, ';')
		}
		out = append(out, param...)
	}
	if len(out) > empty {
		emit(sequence, append(out, final))
	}
}

// command ends an operating system command: links pass, and colours may be asked for.
func (f *filter) command(emit func(unit, []byte)) {
	f.state = ground
	if f.long {
		return
	}
	payload := f.unfinished[2:]
	number, rest, _ := bytes.Cut(payload, []byte{';'})
	switch string(number) {
	case "8":
		_, uri, found := bytes.Cut(rest, []byte{';'})
		if found && harmlessLink(uri) && printable(payload) {
			emit(sequence, append(f.unfinished, "\x1b\\"...))
		}
	case "10", "11", "12":
		if string(rest) == "?" {
			emit(query, append(f.unfinished, "\x1b\\"...))
		}
	}
}

// string ends a string of another kind: settings may be asked for (DECRQSS).
func (f *filter) string(emit func(unit, []byte)) {
	f.state = ground
	if !f.long && bytes.HasPrefix(f.unfinished, []byte("\x1bP$q")) && printable(f.unfinished[1:]) {
		emit(query, append(f.unfinished, "\x1b\\"...))
	}
}

func harmlessLink(uri []byte) bool {
	scheme, _, found := bytes.Cut(uri, []byte("://"))
	if len(uri) == 0 {
		return true // the end of a link
	}
	switch strings.ToLower(string(scheme)) {
	case "http", "https", "file":
		return found
	}
	return false
}

// printable reports whether all of p is printable ASCII.
func printable(p []byte) bool {
	for _, b := range p {
		if b < 0x20 || b >= 0x7f {
			return false
		}
	}
	return true
}
