package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Styles describes how two contents that both exist differ apart from their texts.
func Styles(was, now Content) (list []string) {
	if !was.Exists || !now.Exists {
		return nil
	}
	if was.Form != now.Form && !was.formless(now.Form) && !now.formless(was.Form) {
		a, b := strings.Fields(cmp.Or(was.Form, "utf-8")), strings.Fields(cmp.Or(now.Form, "utf-8"))
		if a[0] != b[0] {
			list = append(list, fmt.Sprintf("encoding %s → %s", a[0], b[0]))
		}
		if x, y := lineEnds(a), lineEnds(b); x != y {
			list = append(list, fmt.Sprintf("line ends %s → %s", x, y))
		}
		switch had, has := slices.Contains(a, "noeol"), slices.Contains(b, "noeol"); {
		case has && !had:
			list = append(list, "without its last newline")
		case had && !has:
			list = append(list, "with a last newline")
		}
		switch had, has := slices.Contains(a, "bom"), slices.Contains(b, "bom"); {
		case has && !had:
			list = append(list, "with a byte order mark")
		case had && !has:
			list = append(list, "without its byte order mark")
		}
	}
	if was.Mode != now.Mode && was.Mode != 0 && now.Mode != 0 {
		list = append(list, fmt.Sprintf("permissions %o → %o", was.Mode, now.Mode))
	}
	return list
}

func lineEnds(form []string) string {
	if slices.Contains(form, "dos") {
		return "CRLF"
	}
	return "LF"
}

// reformed returns a form with what another one has changed, from was to now: its encoding, line ends, byte order mark or
// the end of its last line.
func reformed(form, was, now string) string {
	switch {
	case form == was:
		return now
	case was == now:
		return form
	}
	is, a, b := strings.Fields(cmp.Or(form, Plain)), strings.Fields(cmp.Or(was, Plain)), strings.Fields(cmp.Or(now, Plain))
	words := is[:1]
	if a[0] != b[0] {
		words = b[:1]
	}
	for _, word := range []string{"unix", "dos", "bom", "noeol"} {
		from := is
		if slices.Contains(a, word) != slices.Contains(b, word) {
			from = b
		}
		if slices.Contains(from, word) {
			words = append(slices.Clone(words), word)
		}
	}
	if to := strings.Join(words, " "); to != Plain {
		return to
	}
	return ""
}
