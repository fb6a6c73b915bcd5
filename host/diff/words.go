package diff

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/acp-nvim/acp-nvim/buffers/linediff"
)

const (
	longLine  = 10_000 // bytes; the words of longer lines are not compared
	longText  = 2 << 20
	maxBlock  = 64 // lines; larger ones are paired in order
	maxSpans  = 12 // in a line; if there are more, the whole line changed
	inCommon  = 40 // percent of a line that two lines must have in common
	maxTokens = 4096
)

// MarkWords finds what differs in replaced lines, and sets their Words.
func MarkWords(removed, added []Line) {
	if len(removed) == 0 || len(added) == 0 {
		return
	}
	for _, p := range pairs(removed, added) {
		from, to := &removed[p[0]], &added[p[1]]
		from.Words, to.Words = changedWords(from.Text, to.Text)
	}
}

// pairs returns lines that probably became one another, by index, in order.
func pairs(removed, added []Line) [][2]int {
	n, m := len(removed), len(added)
	if n == m || n > maxBlock || m > maxBlock {
		list := make([][2]int, min(n, m))
		for i := range list {
			list[i] = [2]int{i, i}
		}
		return list
	}
	bags := func(lines []Line) []map[string]int {
		list := make([]map[string]int, len(lines))
		for i, l := range lines {
			list[i] = bag(l.Text)
		}
		return list
	}
	from, to := bags(removed), bags(added)
	likeness := make([][]int, n)
	for i := range likeness {
		likeness[i] = make([]int, m)
		for j := range likeness[i] {
			likeness[i][j] = alike(from[i], to[j])
		}
	}
	// best[i][j] is the greatest likeness of pairs of lines from i and j on.
	best := make([][]int, n+1)
	for i := range best {
		best[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1], best[i+1][j+1]+likeness[i][j])
		}
	}
	var list [][2]int
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case best[i][j] == best[i+1][j+1]+likeness[i][j] && likeness[i][j] > 0:
			list = append(list, [2]int{i, j})
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return list
}

// bag counts the words of a line.
func bag(text string) map[string]int {
	if len(text) > longLine {
		return nil
	}
	words := map[string]int{}
	for _, t := range tokens(text) {
		if !blank(t) {
			words[t]++
		}
	}
	return words
}

// alike returns how many bytes two lines have in common; 0 if that is little.
func alike(a, b map[string]int) int {
	same, inA, inB := 0, 0, 0
	for w, n := range a {
		same += min(n, b[w]) * len(w)
		inA += n * len(w)
	}
	for w, n := range b {
		inB += n * len(w)
	}
	if same*100 < inCommon*max(inA, inB) {
		return 0
	}
	return same
}

// changedWords returns the bytes of two lines that differ; nothing if most do.
func changedWords(old, text string) (from, to []Span) {
	if len(old) > longLine || len(text) > longLine {
		return changedPart(old, text)
	}
	a, b := tokens(strings.TrimSuffix(old, "\r")), tokens(strings.TrimSuffix(text, "\r"))
	if len(a) > maxTokens || len(b) > maxTokens {
		return nil, nil
	}
	edits := linediff.Compare(a, b)
	aAt, bAt := offsets(a), offsets(b)
	lostA := 0
	for _, e := range edits {
		lostA += inked(a[e.A0:e.A1])
		from = extend(from, old, Span{aAt[e.A0], aAt[e.A1]})
		to = extend(to, text, Span{bAt[e.B0], bAt[e.B1]})
	}
	inA, inB := inked(a), inked(b)
	if (inA-lostA)*100 < inCommon*max(inA, inB) || len(from) > maxSpans || len(to) > maxSpans {
		return nil, nil
	}
	return from, to
}

// changedPart returns two lines without their common beginning and end; nothing if that is most of them.
func changedPart(old, text string) (from, to []Span) {
	start, end, shorter := 0, 0, min(len(old), len(text))
	for start < shorter && old[start] == text[start] {
		start++
	}
	for start > 0 && start < shorter && !utf8.RuneStart(old[start]) {
		start--
	}
	for end < shorter-start && old[len(old)-1-end] == text[len(text)-1-end] {
		end++
	}
	for end > 0 && !utf8.RuneStart(old[len(old)-end]) {
		end--
	}
	if (start+end)*100 < inCommon*max(len(old), len(text)) {
		return nil, nil
	}
	return extend(nil, old, Span{start, len(old) - end}), extend(nil, text, Span{start, len(text) - end})
}

// extend adds a span, joined to the last one if only white space is in between.
func extend(spans []Span, text string, s Span) []Span {
	if s.Start == s.End {
		return spans
	}
	if n := len(spans); n > 0 && blank(text[spans[n-1].End:s.Start]) {
		spans[n-1].End = s.End
		return spans
	}
	return append(spans, s)
}

// inked returns how many bytes of tokens are not white space.
func inked(tokens []string) (n int) {
	for _, t := range tokens {
		if !blank(t) {
			n += len(t)
		}
	}
	return n
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func offsets(tokens []string) []int {
	at := make([]int, len(tokens)+1)
	for i, t := range tokens {
		at[i+1] = at[i] + len(t)
	}
	return at
}

// tokens cuts a line into words, white space, and single other characters, each with the marks that combine with it.
func tokens(text string) []string {
	list := make([]string, 0, len(text)/3+1)
	start, last := 0, other
	for at, r := range text {
		class := classOf(r)
		if class == combining {
			continue
		}
		if at > start && (class != last || class == other) {
			list = append(list, text[start:at])
			start = at
		}
		last = class
	}
	if start < len(text) {
		list = append(list, text[start:])
	}
	return list
}

type class int

const (
	other class = iota
	word
	space
	combining
)

func classOf(r rune) class {
	switch {
	case r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9':
		return word
	case r == ' ' || r == '\t':
		return space
	case r < utf8.RuneSelf:
		return other
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return other // no spaces separate its words
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		return word
	case unicode.IsSpace(r):
		return space
	case unicode.IsMark(r) || r == '\u200d':
		return combining
	}
	return other
}

// Words returns the bytes that differ in replaced lines, for each line on both sides; none if nearly all of a line
// differs.
func Words(old, text []string) (from, to [][]Span) {
	lines := func(texts []string) []Line {
		list := make([]Line, len(texts))
		for i, t := range texts {
			list[i].Text = t
		}
		return list
	}
	words := func(lines []Line) [][]Span {
		list := make([][]Span, len(lines))
		for i, l := range lines {
			list[i] = l.Words
		}
		return list
	}
	removed, added := lines(old), lines(text)
	MarkWords(removed, added)
	return words(removed), words(added)
}
