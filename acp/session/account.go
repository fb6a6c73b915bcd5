package session

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// Agents may report who is logged in, and to what. In the schema that is unstable; Claude and Codex use a notification
// of their own, which is read here in the same way.

// methodVendorAuthStatus is that notification.
const methodVendorAuthStatus = "_auth/status_update"

// Login is an agent's report of who is logged in. Accounts are words for the user's eyes only, "" if there are none.
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

// loginOf reads a notification about the login; ok is false for any other method.
func loginOf(method string, params json.RawMessage) (l Login, ok bool) {
	switch method {
	case wire.MethodAuthStatusUpdate:
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

// loginIn reads the answer to auth/status, or the notification with the same fields.
func loginIn(raw json.RawMessage) Login {
	var r wire.AuthStatusResponse
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

// accountWords describes an account in one line.
func accountWords(label string, more ...string) string {
	more = slices.DeleteFunc(more, func(s string) bool { return s == "" })
	if len(more) > 0 {
		label += " (" + strings.Join(more, ", ") + ")"
	}
	return oneLine(label)
}
