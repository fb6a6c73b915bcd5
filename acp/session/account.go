package session

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/draft"
)

// Agents may tell who is logged in, and to what. The schema has that as unstable; Claude and Codex tell it by a
// notification of their own, which reads the same here.

// methodVendorAuthStatus is that notification.
const methodVendorAuthStatus = "_auth/status_update"

// Login is what an agent tells of who is logged in. Accounts are in words for the user's eyes alone, "" where there are
// none to tell.
type Login struct {
	State    LoginState
	Accounts string
}

// LoginState says whether the user has to log in.
type LoginState string

// The states of a [Login].
const (
	LoginUnknown   LoginState = ""
	LoggedIn       LoginState = "authenticated"
	LoggedOut      LoginState = "unauthenticated"
	LoginNotNeeded LoginState = "not_required"
)

// loginOf is what a notification of these methods tells; ok is false for any other method.
func loginOf(method string, params json.RawMessage) (l Login, ok bool) {
	switch method {
	case draft.MethodAuthStatusUpdate:
		return loginIn(params), true
	case methodVendorAuthStatus:
		var n struct {
			AuthStatus struct{ Kind, Label, Detail, Email, Organization string } `json:"authStatus"`
		}
		_ = json.Unmarshal(params, &n) // what is malformed names nobody
		s := n.AuthStatus
		switch {
		case s.Kind == "none":
			return Login{State: LoggedOut}, true
		case s.Label == "":
			return Login{}, true
		}
		return Login{LoggedIn, accountWords(s.Label, s.Detail, s.Email, s.Organization)}, true
	}
	return Login{}, false
}

// loginIn is the answer to auth/status, and the notification that has the same fields.
func loginIn(raw json.RawMessage) Login {
	var r draft.AuthStatusResponse
	if decode(raw, nil, &r) != nil {
		return Login{}
	}
	var l Login
	if state := LoginState(r.State); slices.Contains([]LoginState{LoggedIn, LoggedOut, LoginNotNeeded}, state) {
		l.State = state
	}
	var words []string
	for _, a := range r.Accounts {
		if a.Label != "" && a.Active.Or(true) {
			words = append(words, accountWords(a.Label, cmp.Or(a.Name, a.Email), a.Organization))
		}
	}
	l.Accounts = strings.Join(words, ", ")
	return l
}

// accountWords is an account in one line.
func accountWords(label string, more ...string) string {
	more = slices.DeleteFunc(more, func(s string) bool { return s == "" })
	if len(more) > 0 {
		label += " (" + strings.Join(more, ", ") + ")"
	}
	return oneLine(label)
}
