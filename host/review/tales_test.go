package review

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/acp-nvim/acp-nvim/test/check"
)

// tale has a record live through a history that is told in words, as "abc a:aXc k:0": what the file "f" was, and then
// who makes it what, or decides what. A file is a word with a letter for each line, see contentIn.
//
//	a:abc, f:abc     the agent has changed it; the user has
//	k:, r:, undo:    all of it is kept or refused, or a hunk "0", or lines "1-2"; the last decision is undone
//	rm:              the user removes it
//	mv:, name:       the agent moves it to "g", or from there to "f"; the user does
//	back:abc         a change of the agent's is taken back, and it is so; mvback: of a move
//	recall:abc       see Recall
//	remade:abc       the other one, see Remade; at: from now on it is about that one
//	gone:, turn:     see Gone and NewTurn
//	save:            the record is saved and loaded
type tale struct {
	r    *Record
	path string
	now  map[string]Content
	last Plan
	said string // of decisions that changed nothing
}

func told(history string) *tale {
	first, then, _ := strings.Cut(history, " ")
	s := &tale{r: New(1 << 20), path: "f", now: map[string]Content{"f": contentIn(first)}}
	for word := range strings.FieldsSeq(then) {
		do, what, _ := strings.Cut(word, ":")
		s.step(do, what)
	}
	return s
}

// contentIn is a file told in a word: "-" for none, "#x" for bytes. A "+" makes its letter another version of itself, "_"
// is a blank line, "~" at the end is no newline there, "/dos" the form, "/x" the permissions.
func contentIn(word string) Content {
	word, style, _ := strings.Cut(word, "/")
	c := Content{Exists: true, Mode: 0o644}
	switch {
	case word == "-":
		return Content{}
	case strings.HasPrefix(word, "#"):
		c.Opaque, c.Text = true, word
	default:
		for _, r := range word {
			switch {
			case r == '+':
				c.Text = strings.TrimSuffix(c.Text, "\n") + "+\n"
			case r == '_':
				c.Text += "\n"
			case r == '~':
				c.Text = strings.TrimSuffix(c.Text, "\n")
			default:
				c.Text += string(r) + "\n"
			}
		}
	}
	switch style {
	case "dos":
		c.Form = "utf-8 dos"
	case "x":
		c.Mode = fs.FileMode(0o755)
	}
	return c
}

// wordOf is contentIn's word of a content.
func wordOf(c Content) string {
	if !c.Exists {
		return "-"
	}
	word := ""
	if c.Opaque {
		if word = c.Text; !strings.HasPrefix(word, "#") {
			word = "#sum"
		}
	} else {
		for line := range strings.Lines(c.Text) {
			if line == "\n" {
				line = "_"
			}
			if !strings.HasSuffix(line, "\n") && line != "_" {
				line += "~"
			}
			word += strings.TrimSuffix(line, "\n")
		}
	}
	if c.Form != "" {
		word += "/dos"
	}
	if c.Mode == 0o755 {
		word += "/x"
	}
	return word
}

func (s *tale) other() string { return map[string]string{"f": "g", "g": "f"}[s.path] }

func (s *tale) step(do, what string) {
	was, is := s.now[s.path], contentIn(what)
	moves := func() {
		s.now[s.path], s.now[s.other()] = Content{}, was
		s.path = s.other()
	}
	switch do {
	case "a":
		s.r.Changed(s.path, was, is)
	case "f":
		s.r.Now(s.path, is)
	case "k":
		s.decides(s.r.Plan(s.path, Keep, s.selected(what)))
		return
	case "r":
		s.decides(s.r.Plan(s.path, Reject, s.selected(what)))
		return
	case "undo":
		s.decides(s.r.Undo(s.last))
		return
	case "rm":
		s.r.Removed(s.path)
		is = Content{}
	case "mv":
		s.r.Moved(s.path, s.other(), was, was)
		moves()
		return
	case "name":
		s.r.Renamed(s.path, s.other())
		moves()
		return
	case "back":
		s.r.Retracted(s.path, was, is)
	case "mvback":
		s.r.MoveRetracted(s.path, s.other(), was, was)
		moves()
		return
	case "recall":
		s.r.Recall(s.path, is)
	case "at":
		s.path = s.other()
		return
	case "remade":
		s.path = s.other()
		s.r.Remade(s.path, is)
	case "gone":
		s.r.Gone(s.path)
		return
	case "turn":
		s.r.NewTurn()
		return
	case "save":
		data, err := savedAs(s.r)
		if err == nil {
			s.r, err = Load(data, s.r.limit, strconv.Unquote)
		}
		if err != nil {
			s.said += " " + err.Error()
		}
		return
	}
	s.now[s.path] = is
}

func (s *tale) decides(p Plan, err error) {
	switch {
	case err != nil:
		s.said += "; " + err.Error()
		return
	case !p.Decides():
		s.said += "; nothing"
	case !s.r.Commit(p):
		s.said += "; too late"
		return
	}
	if s.last = p; p.Back != "" {
		s.now[s.path] = Content{}
		s.path = p.Back
	}
	s.now[s.path] = p.Want
}

// selected is what a word selects of the file.
func (s *tale) selected(what string) Selection {
	f, _ := s.r.File(s.path)
	from, to, lines := strings.Cut(what, "-")
	n, err := strconv.Atoi(from)
	switch {
	case err != nil:
		return Selection{}
	case lines:
		last, _ := strconv.Atoi(to)
		which := f.Lines(n, last)
		which.Lines = true
		return which
	}
	return Selection{Hunks: []int{n}}
}

// String tells the files of the record: what the agent has done and the user decided, the baseline, the accepted and the
// present text, and each hunk: its state, its lines of the baseline and of the present text.
func (s *tale) String() string {
	var list []string
	for _, f := range s.r.Files() {
		at := f.Path
		if f.OldPath != "" {
			at += "<" + f.OldPath
		}
		one := fmt.Sprintf("%s %s %s %s>%s>%s", at, f.Status, f.State, wordOf(f.Baseline), wordOf(f.Accepted), wordOf(f.Present))
		if f.Typed {
			one += " typed"
		}
		for _, h := range f.Hunks {
			one += fmt.Sprintf(" %c%d,%d+%d,%d", unicode.ToLower(rune(h.State[0])), h.OldStart, h.OldCount, h.NewStart, h.NewCount)
		}
		list = append(list, one)
	}
	if bytes := textBytes(s.r); bytes != s.r.bytes {
		list = append(list, fmt.Sprintf("%d bytes, not %d", s.r.bytes, bytes))
	}
	return strings.Join(list, "; ") + s.said
}

// What comes of histories that were found among many thousands made up by chance, as the shortest to tell apart what no
// other test does: of each "what happens => what the record then has".
const tales = `
- a:X k:4-4 => f added kept ->X>X k0,0+1,1
aabb a:a_a+bY a:aabb => f modified pending aabb>aabb>aabb p3,1+2,0 p4,0+4,1
abc a:- r:0 => f deleted rejected abc>abc>abc r1,3+1,3
- a:X k: a:- r:0 => f deleted kept ->X>X k0,0+1,1 r0,0+1,1
abc a:- k:0 => f deleted kept abc>->- k1,3+0,0
abc mv: remade: => f modified pending abc>abc> p1,3+0,0; g added pending ->->abc p0,0+1,3
abcdef a:abc/x r:0 => f modified rejected abcdef>abcdef>abcdef r4,3+4,3
aabb a:aabbXb f:ba+bbXb r: => f modified rejected ba+bb>ba+bb>ba+bb r4,0+4,0
abcd a:abcb f:abcd f:abXc+uX => f modified rejected abXc+uX>abXc+uX>abXc+uX r6,0+6,0
abc~ a:- f:X recall:XX => f modified pending abcX>abcX>X p1,3+0,0
abc~ a:abX/x r: k: => f modified rejected abc~>abc~>abc~ r3,1+3,1
#x a:#y r: f:#z undo: => f modified rejected #z>#z>#z; it has changed since that decision: decide again
- a:- f:ab a:Yaab~ f:awb => f modified rejected awb>awb>awb r0,0+0,0 r1,0+1,0 r3,1+3,1
a a: at: r:3-3 f:X => f modified pending a>a> p1,1+0,0; the agent has changed nothing there
aabb a:bb f: undo: recall:aabb => f modified pending aa>aa> p1,2+0,0; the agent has changed nothing there
abc a:bc a:b f:abc k: => f modified rejected abc>abc>abc r1,1+1,1 r3,1+3,1; nothing
abcde a:aXRcYe r:3-3 f:aXYe k:1 => f modified pending abde>abde>aXYe p2,2+2,2 r2,0+2,0; that change is gone
abcdef a:aXYdZf k: a:aXYdZfW back:abdZf => f modified pending abcdef>abcdZf>abdZf p3,1+2,0 k5,1+4,1
abcdef a:abcdefVW r:6-7 f:abcdefVW a:aYVefVWY => f modified pending abcdefV>abcdefV>aYVefVWY p2,3+2,2 p7,0+7,2
a a: mv: a:Z_b+X r:0 a:abb => g<f moved pending a>a>abb r1,1+1,1 p1,0+2,2
a a:a~ a:aaa~~ r:0 recall:aa r:1 => f modified pending a>a>aa p1,0+2,1; that change is gone
abc a:YaVcW f:YaVcW f:abc k:2 f:YaVcW => f modified pending abc>abcW>YaVcW p0,0+1,1 p2,1+3,1 k3,0+5,1
abc a:bc f:c k: f:cb back:cbbXa => f modified pending acb>acb>cbbXa p1,1+0,0 p3,0+3,3
abc_d a:abc mv: a:- undo: a:X => f deleted pending abc_d>abc_d>- p1,5+0,0; g added pending ->->X p0,0+1,1; the agent has changed nothing there
abcabc a:abcabbb mv: a:abcabbb k:0 k:2 => g<f moved pending abcabc>abcabbb>abcabbb k6,1+6,2; that change is gone
abc~ a:a+ba save: recall:a+Y a: at: => f modified pending aYc~>aYc~> p1,3+0,0
abc~ a:abc~ gone: mv: a:a_b+X f:abc~ => g added pending ->->abc~ p0,0+1,3
- a:- a:aXc r: f:X a:Xbb f:XX => f added pending ->->XX p0,0+1,1
abc a:XV a:WYV r:3 k:2-2 f:WYV f:WwVv => f modified pending abcwv>acwv>WwVv p1,3+1,1 p4,0+3,1; that change is gone
abc a:Y k:0 a:WYYY k:5-6 a:VYWYVW f:WYYY => f modified kept abc>WYYY>WYYY k1,3+1,4 r1,2+1,2 r3,0+3,0 r3,0+4,0
abcdef a:abcXadef turn: r:1-1 back:aabbdeX k:2 a:abcdef => f modified pending abcdef>abcXadef>abcdef p3,0+3,0
abcdef a:abcXef a:abX k: a: f:abcdef back:abX => f modified pending abcdef>abXcdef>abX k2,0+3,1 p3,4+3,0
ab~ a:Wb~XW k:5-6 a:W a:VVW r:5-6 back:ab~ => f modified rejected ab~>ab~>ab~ r0,0+0,0
- a:YZX recall:YZYY k: r:0 at: mv: name: => g deleted pending ->>- r0,0+0,0
a a:Xaa f:Xaa a:XX r:0 back:Xaa+~ a:Xaa recall:XaX => f modified pending a>a>Xaa p0,0+1,1 r1,1+2,1 p1,0+3,1
aabb a:aaXb mv: a:ZaXba mv: f:bXXb f:bXXb at: => f modified pending abXb>abXb>bXXb p1,1+0,0 p3,0+3,1 r4,0+4,0
abc a:abc a:- mv: a:_aX+ a:_XbX mvback: mvback: => f deleted pending abc>abc>- p1,3+0,0; g added pending ->->_XbX p0,0+1,4
abc a:abcZ mv: at: a:XY k:1-1 at: a:- => f modified pending abc>abc>XY p1,3+1,2
abc_d a:aYc_d back:aYc_bd f: a:__ a:___ a:- f:Xau/dos => f modified pending bXau>bXau>Xau/dos p1,1+0,0
abc_d a:ab_d back:#x k:2 r: rm: back:- at: => f deleted pending #sum>#x>-; nothing
abcabc a:Ya+bcbc a:Ya+bcYab f:Ya+bb+cuuab recall:abcabc undo: undo: a:abc_bc~ => f modified pending abcabc>abcabc>abc_bc~ p4,1+4,1 p6,1+6,1; the agent has changed nothing there; the agent has changed nothing there
abcabc a:abcab a:Vab f:abcab r: a:WabcXbcX a:WabcX back:abcab => f modified pending abcabc>abcabc>abcab r1,3+1,3 p6,1+5,0
abcabc a:abcabc a:aXb+abc r:1-1 a:aXab a:- save: undo: => f deleted pending abcabc>abcabc>- p1,6+0,0; the agent has changed nothing there
abcabc a:bc a:V r:2 f:bc recall:V f:V recall:bc => f modified pending abcabc>abcabc>bc p1,4+0,0; that change is gone
abcd a:- mv: mv: save: r: k: mv: => f deleted kept abcd>->- k1,4+0,0
abcdef a:- k:0 k: f:- a:X a: r:0 => f modified rejected abcdef>abcdef>abcdef r1,6+1,6; nothing
abcdef a:abcdef a:- rm: a:#x a:abZc back:a+ZX a:a+ZX => f modified pending abcdef>abcdef>a+ZX p1,6+1,3
abc~ a:ba+bc undo: f:ba+bcauva f:ba+bc remade:ba+bc a:ba+bY remade:ba+bc => f modified pending abc~>abc~>ba+bc p1,1+0,0 p3,1+2,3; g modified pending ba+bc>ba+bc>ba+bY p4,1+4,1; the agent has changed nothing there
ab~ a:aZb~ f:aZb~ r: f:ab~ a:ab~YY r: f:aZb~ => f modified rejected aZb~>aZb~>aZb~ r3,1+3,1
abcdef a:abeZW a:abeZWXZ a:YbZWXZ a:XYbZWXZ r:0 a:ZZZWX k: back:abZWXZ => f modified pending abcdef>abZWX>abZWXZ k3,4+3,3 p6,0+6,1
#x a:/dos => f modified pending #x>#x>#sum/dos
b a:#z r:0 => f modified rejected #sum>#sum>#sum
#x mv: f:/x => g<f moved pending #sum/x>#sum/x>#sum/x
b a:+/dos a: => f modified pending b>b>/dos p1,1+0,0
~ a:+/dos a: =>
b a:- a:/dos => f modified pending b>b>/dos p1,1+0,0
c f:vc a:c f:v =>
bc a:c back:cw => f modified pending bc>bc>cw p1,1+0,0 p2,0+2,1
bb a:WbW f:vvu => f modified pending vbvu>vbvu>vvu p2,1+1,0
c_ a:_ r:- f:c+ => f modified rejected c+>c+>c+ r1,1+1,1
~ a:X save: f:~ => f modified rejected >> r0,0+0,0
cc a:W f:- a:cc =>
- a: k:- mv: f:- => f deleted pending ->>-
c~ a: k:- f:w f: => f modified kept c~>> k1,1+0,0
~ a:_ a:#x save: => f modified pending #sum>#sum>#x
h f:wv a:v f:vwv => f modified rejected vwv>vwv>vwv r2,1+2,1
d f: a:- f:+/dos => f modified pending +>+>+/dos
a a:- r: f:av f:v => f deleted rejected v>v>v
d f:dvv a:dv f:vv => f modified rejected vv>vv>vv r2,1+2,1
- a:W k: a:- save: => f deleted pending ->W>- p0,0+0,0
c a:X r:- f:u f:uX => f modified pending u>u>uX p1,0+2,1
d a:- f:#y a:- a:X => f modified pending #sum>#sum>#sum
c f:ww a:Ww f:w r: => f modified rejected ww>ww>ww r1,1+1,1
a f:_ a:Y_ f:_ a:W_ => f modified pending _>_>W_ p0,0+1,1
- a:#y k: a:Z r: f:- => f added pending ->#y>-
aba a:ba a:b back:ba => f modified pending aba>aba>ba p1,1+0,0
#x mv: f:- f: back:w => g<f moved pending #x>#x>#sum typed
#x mv: save: remade:~ => f modified pending #x>#x>#sum typed; g added pending ->->#x
- a:V f:w mv: mvback: => f added pending ->->w
d a:~ r: a:cd r:- f:c => f modified pending d>d>c p1,1+1,1
d f:uwv a:uvu f:uvuwvu => f modified pending uwvwvu>uwvwvu>uvuwvu p2,1+1,0 p3,0+3,1
d a:V f:d f:~ f:d~ f:d =>
_ mv: a:~ k:1- remade:~ => f modified kept _>> k1,1+0,0; g added pending ->->
abc~ a:WYaXYb~ r:4-5 r: => f modified rejected abc~>abc~>abc~ r0,0+0,0 r3,1+3,1
a~ a:ZVaZX~ r:5-5 f:aZX~ => f modified pending a~>a~>aZX~ p1,1+1,3
c rm: a:V k: f:Vw back:- => f deleted pending ->Vw>- p1,1+0,0
- a:V k:- f:#x a:V back: => f added pending ->->#sum
b a:YW f:+bYWZu k:4-6 back:bYWZ => f modified pending +bZu>+bWZu>bYWZ p1,1+0,0 p2,0+2,1 k2,0+3,1 p4,1+4,0
bb a:- k: a:b f:aab a:a back:aab => f modified pending bbaa>->aab k1,2+0,0 p4,0+3,1
b~ a:_ f: f:v f: => f modified pending b~>b~> p1,1+0,0
c~ a:XY~ f:wvvXXY~ r:4-5 f:XXY~ => f modified pending XXc~>XXc~>XXY~ p3,1+3,1 r3,1+3,1
abcd a:aXYd k:0 a:XYd f:uvwXYd back:aXuvwaXYda r: => f modified kept uvwXYdabc>uvwXYda>uvwXYda r0,0+0,0 r3,0+3,0 k8,2+7,0
abcabcab a:XZXYabcab k: a:XZXabcab f:XZXuabcab back:XbXuuubcaab r: => f modified kept abcuabcab>XbXYuabcab>XbXYuabcab k1,1+1,1 k3,1+3,2 r3,0+4,1 r5,1+6,1 r8,0+9,0
`

func TestTales(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(strings.TrimSpace(tales)) {
		history, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		check.Equal(t, told(history).String(), want, "%s: there is %q", history)
	}
}
