package review

import (
	"math"
	"strings"
)

// Undone returns the text that a replacement turned into now, if that can be told: old and text are both whole texts,
// or a fragment of each. Of several places that have the new fragment, the one nearest to line counts, from 1; 0 means
// the first.
func Undone(now, old, text string, line int) (string, bool) {
	if !strings.Contains(now, "\r\n") {
		old, text = strings.ReplaceAll(old, "\r\n", "\n"), strings.ReplaceAll(text, "\r\n", "\n")
	}
	switch {
	case old == text:
		return "", false
	case now == text, strings.TrimSuffix(now, "\n") == strings.TrimSuffix(text, "\n"):
		return old, true
	case text == "":
		return "", false // it could have been anywhere
	}
	best, distance := -1, math.MaxInt
	number := 1 // of the line at which a search goes on
	for at := 0; ; {
		i := strings.Index(now[at:], text)
		if i < 0 {
			break
		}
		number += strings.Count(now[at:at+i], "\n")
		if d := max(number-line, line-number); d < distance {
			best, distance = at+i, d
		}
		if now[at+i] == '\n' {
			number++
		}
		at += i + 1
	}
	if best < 0 {
		return "", false
	}
	return now[:best] + old + now[best+len(text):], true
}
