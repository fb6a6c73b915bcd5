package diff

import (
	"strings"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

// between sets the hunks that turn one text into the other; numbered says that the texts are whole, so that their lines
// have numbers and a missing last newline is meaningful.
func (f *FileDiff) between(numbered bool) {
	old, text := f.Old, f.New
	if !numbered {
		old, text = ended(old), ended(text)
	}
	a, b := linediff.Lines(old), linediff.Lines(text)
	h := hunks{a: a, b: b, numbered: numbered, words: len(old)+len(text) <= longText}
	edits := linediff.Compare(a, b)
	var ends []int // of the hunks, in old lines
	for i := 0; i < len(edits); {
		j := i + 1
		for j < len(edits) && edits[j].A0-edits[j-1].A1 <= 2*Context {
			j++
		}
		start, end := max(0, edits[i].A0-Context), min(len(a), edits[j-1].A1+Context)
		f.Hunks = append(f.Hunks, h.hunk(edits[i:j]))
		ends = append(ends, start, end)
		i = j
	}
	surround(f.Hunks, ends, a)
	for _, e := range edits {
		f.Added += e.B1 - e.B0
		f.Removed += e.A1 - e.A0
	}
}

// surround gives hunks the unchanged lines next to them; ends are the first and last lines of each, in the old text.
func surround(hunks []Hunk, ends []int, lines []string) {
	room := min(around, aroundAll/max(1, len(hunks)))
	bare := func(from, to int) []string {
		part := make([]string, to-from)
		for i := range part {
			part[i] = strings.TrimSuffix(lines[from+i], "\n")
		}
		return part
	}
	for i, free := 0, 0; i < len(hunks); i++ {
		start, end, next := ends[2*i], ends[2*i+1], len(lines)
		if i+1 < len(hunks) {
			next = ends[2*i+2]
		}
		hunks[i].Before = bare(max(free, start-room), start)
		free = min(next, end+room)
		hunks[i].After = bare(end, free)
	}
}

// ended returns a fragment with a newline at its end.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

type hunks struct {
	a, b     []string
	numbered bool
	words    bool // changed words are searched
}

// hunk makes one hunk of neighbouring edits, with what is between and around them.
func (h *hunks) hunk(edits []linediff.Edit) Hunk {
	first, last := edits[0], edits[len(edits)-1]
	before := min(Context, first.A0)
	after := min(Context, len(h.a)-last.A1)
	at, other := first.A0-before, first.B0-before
	hunk := Hunk{Lines: make([]Line, 0, last.A1-at+after)}
	if h.numbered {
		hunk.OldStart, hunk.NewStart = at+1, other+1
	}
	for _, e := range edits {
		hunk.equal(h, at, e.A0, other)
		from := len(hunk.Lines)
		for i := e.A0; i < e.A1; i++ {
			hunk.Lines = append(hunk.Lines, h.line(Delete, h.a[i], i+1, 0))
		}
		middle := len(hunk.Lines)
		for i := e.B0; i < e.B1; i++ {
			hunk.Lines = append(hunk.Lines, h.line(Insert, h.b[i], 0, i+1))
		}
		if h.words {
			MarkWords(hunk.Lines[from:middle], hunk.Lines[middle:])
		}
		at, other = e.A1, e.B1
	}
	hunk.equal(h, at, at+after, other)
	return hunk
}

func (k *Hunk) equal(h *hunks, from, to, other int) {
	for i := from; i < to; i++ {
		k.Lines = append(k.Lines, h.line(Equal, h.a[i], i+1, other+i-from+1))
	}
}

func (h *hunks) line(kind Kind, text string, old, number int) Line {
	bare, newline := strings.CutSuffix(text, "\n")
	l := Line{Kind: kind, Text: bare, NoNewline: !newline}
	if h.numbered {
		l.Old, l.New = old, number
	}
	return l
}
