package policy

import (
	"slices"
	"strings"
	"unicode"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/answers"
)

// Choose finds the option that allows or rejects, for a rule or a user who says no more than that: the one that applies
// once, or else the only kind there is. An ambiguous id is never chosen.
func Choose(options []session.PermissionOption, allow bool) (session.PermissionOption, bool) {
	kinds := []string{"reject_once", "reject_always"}
	if allow {
		kinds = []string{"allow_once", "allow_always"}
	}
	for _, kind := range kinds {
		if o, ok := OfKind(options, kind); ok {
			return o, true
		}
	}
	return session.PermissionOption{}, false
}

// OfKind finds the first option of a kind.
func OfKind(options []session.PermissionOption, kind string) (session.PermissionOption, bool) {
	for _, o := range options {
		if o.Kind == kind && unambiguous(options, o) {
			return o, true
		}
	}
	return session.PermissionOption{}, false
}

// sameAnswer finds the option that the user chose before, or an equivalent one.
func sameAnswer(options []session.PermissionOption, a answers.Answer) (session.PermissionOption, bool) {
	for _, o := range options {
		if o.ID == a.OptionID && o.Name == a.Name && lasts(o) && o.Allows() == a.Allow && unambiguous(options, o) {
			return o, true
		}
	}
	return Choose(options, a.Allow)
}

func unambiguous(options []session.PermissionOption, o session.PermissionOption) bool {
	return o.ID != "" && !slices.ContainsFunc(options, func(p session.PermissionOption) bool {
		return p.ID == o.ID && p.Kind != o.Kind
	})
}

// lasts reports whether an option is lasting.
func lasts(o session.PermissionOption) bool {
	return o.Kind == "allow_always" || o.Kind == "reject_always"
}

// forSession reports whether an option itself says that it is for the session only.
func forSession(o session.PermissionOption) bool {
	words := strings.FieldsFunc(strings.ToLower(o.Name), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.Contains(words, "session")
}
