package linediff

import "strings"

// Ends returns how many bytes of whole lines two texts have in common at the beginning, and at the end of the rest:
// what differs is a[start:len(a)-end] and b[start:len(b)-end]. It does not look at single lines.
func Ends(a, b string) (start, end int) {
	start = strings.LastIndexByte(a[:alike(a, b)], '\n') + 1
	a, b = a[start:], b[start:]
	end = alikeBehind(a, b)
	begins := func(text string) bool { return end == len(text) || text[len(text)-end-1] == '\n' }
	if !begins(a) || !begins(b) {
		// Skip the rest of a line that differs further ahead.
		if next := strings.IndexByte(a[len(a)-end:], '\n') + 1; next > 0 {
			end -= next
		} else {
			end = 0
		}
	}
	return start, end
}

// Common returns how many bytes of two texts are the same at their beginnings, and at the ends of what is left.
func Common(a, b string) (start, end int) {
	start = alike(a, b)
	return start, alikeBehind(a[start:], b[start:])
}

// stride is how many bytes are compared at once.
const stride = 4096

// alike returns the length of the common prefix of a and b in bytes, alikeBehind that of the common suffix.
func alike(a, b string) int {
	n, short := 0, min(len(a), len(b))
	for n+stride <= short && a[n:n+stride] == b[n:n+stride] {
		n += stride
	}
	for n < short && a[n] == b[n] {
		n++
	}
	return n
}

func alikeBehind(a, b string) int {
	n, short := 0, min(len(a), len(b))
	for n+stride <= short && a[len(a)-n-stride:len(a)-n] == b[len(b)-n-stride:len(b)-n] {
		n += stride
	}
	for n < short && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
