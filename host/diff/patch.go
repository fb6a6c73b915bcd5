package diff

import (
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// patch is what a patch in Git's format says about one file.
type patch struct {
	fragments []*gitdiff.TextFragment
	binary    bool
	mode      string // a change of the file's mode, in words
}

// parsePatch reads a patch; with bare set, lines that all end in "\r\n" lose the "\r".
func parsePatch(text string, bare bool) (patch, error) {
	files, _, err := gitdiff.Parse(strings.NewReader(ended(text)))
	if err != nil {
		return patch{}, err
	}
	if len(files) == 0 {
		return patch{}, fmt.Errorf("it changes no file")
	}
	f := files[0]
	p := patch{fragments: f.TextFragments, binary: f.IsBinary}
	if f.OldMode != 0 && f.NewMode != 0 && f.OldMode != f.NewMode {
		p.mode = fmt.Sprintf("mode %o → %o", f.OldMode.Perm(), f.NewMode.Perm())
	}
	for _, fragment := range p.fragments {
		for _, l := range fragment.Lines {
			bare = bare && (strings.HasSuffix(l.Line, "\r\n") || !strings.HasSuffix(l.Line, "\n"))
		}
	}
	for _, fragment := range p.fragments {
		for i := range fragment.Lines {
			if l := &fragment.Lines[i]; bare {
				l.Line = strings.Replace(l.Line, "\r\n", "\n", 1)
			}
		}
	}
	return p, nil
}

// hunks are the patch's own.
func (p patch) hunks(f *FileDiff) {
	for _, fragment := range p.fragments {
		k := Hunk{OldStart: int(fragment.OldPosition), NewStart: int(fragment.NewPosition)}
		if fragment.OldLines == 0 {
			k.OldStart++ // Git names the line before
		}
		if fragment.NewLines == 0 {
			k.NewStart++
		}
		old, number, from, middle := k.OldStart, k.NewStart, 0, 0
		words := func() {
			MarkWords(k.Lines[from:middle], k.Lines[middle:])
		}
		for _, l := range fragment.Lines {
			bare, newline := strings.CutSuffix(l.Line, "\n")
			line := Line{Text: bare, NoNewline: !newline}
			n := len(k.Lines)
			switch l.Op {
			case gitdiff.OpDelete:
				if n > 0 && k.Lines[n-1].Kind == Insert {
					words()
					from = n
				}
				line.Kind, line.Old = Delete, old
				middle = n + 1
				old++
				f.Removed++
			case gitdiff.OpAdd:
				line.Kind, line.New = Insert, number
				number++
				f.Added++
			default:
				words()
				from, middle = n+1, n+1
				line.Old, line.New = old, number
				old, number = old+1, number+1
			}
			k.Lines = append(k.Lines, line)
		}
		words()
		f.Hunks = append(f.Hunks, k)
	}
}

// sides returns the parts of the texts before and after that the patch contains.
func (p patch) sides() (old, text string) {
	var a, b strings.Builder
	for _, fragment := range p.fragments {
		for _, l := range fragment.Lines {
			if l.Old() {
				a.WriteString(l.Line)
			}
			if l.New() {
				b.WriteString(l.Line)
			}
		}
	}
	return a.String(), b.String()
}

// apply returns a text with the patch applied or, with reverse, undone. A fragment whose lines are not where it says is
// searched for nearby.
func (p patch) apply(text string, reverse bool) (string, bool) {
	lines := linediff.Lines(text)
	var out strings.Builder
	at, moved := 0, 0
	for _, fragment := range p.fragments {
		var had []string
		place, count := int(fragment.OldPosition), fragment.OldLines
		if reverse {
			place, count = int(fragment.NewPosition), fragment.NewLines
		}
		if count > 0 {
			place-- // 1-based, except for an empty range, which names the line before
		}
		for _, l := range fragment.Lines {
			if reverse && l.New() || !reverse && l.Old() {
				had = append(had, l.Line)
			}
		}
		start, found := nearest(lines, had, at, place+moved)
		if !found {
			return "", false
		}
		moved = start - place
		for ; at < start; at++ {
			out.WriteString(lines[at])
		}
		for _, l := range fragment.Lines {
			switch {
			case l.Op == gitdiff.OpContext:
				out.WriteString(lines[at]) // as the file has it
				at++
			case (l.Op == gitdiff.OpDelete) != reverse:
				at++
			default:
				out.WriteString(l.Line)
			}
		}
	}
	for ; at < len(lines); at++ {
		out.WriteString(lines[at])
	}
	return out.String(), true
}

// nearest returns where part occurs in lines from a line on, nearest to place.
func nearest(lines, part []string, from, place int) (int, bool) {
	last := len(lines) - len(part)
	place = max(from, min(place, last))
	for off := 0; place-off >= from || place+off <= last; off++ {
		for _, at := range []int{place - off, place + off} {
			if at >= from && at <= last && stand(lines[at:], part) {
				return at, true
			}
		}
	}
	return 0, false
}

// stand reports whether lines begin with part, ignoring trailing white space.
func stand(lines, part []string) bool {
	for i, l := range part {
		if strings.TrimRight(lines[i], " \t\r\n") != strings.TrimRight(l, " \t\r\n") {
			return false
		}
	}
	return true
}
