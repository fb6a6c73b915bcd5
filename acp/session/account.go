package session

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Agents may tell who is logged in, and to what. The schema has that as unstable; Claude and Codex tell it by a
// notification of their own, which reads the same here.

// Methods by which an agent tells its accounts.
const (
	methodAuthStatus       = "auth/status_update"
	methodVendorAuthStatus = "_auth/status_update"
)

// accountsOf are the accounts of a notification of these methods, in words; ok is false for any other method.
func accountsOf(method string, params json.RawMessage) (accounts string, ok bool) {
	type account struct {
		Label        string `json:"label"`
		Detail       string `json:"detail"`
		Name         string `json:"name"`
		Email        string `json:"email"`
		Organization string `json:"organization"`
		Active       *bool  `json:"active"`
	}
	var n struct {
		AuthStatus *account  `json:"authStatus"`
		Accounts   []account `json:"accounts"`
	}
	if method != methodAuthStatus && method != methodVendorAuthStatus {
		return "", false
	}
	_ = json.Unmarshal(params, &n) // what is malformed names nobody
	if n.AuthStatus != nil {
		n.Accounts = append(n.Accounts, *n.AuthStatus)
	}
	var words []string
	for _, a := range n.Accounts {
		more := slices.DeleteFunc([]string{a.Detail, cmp.Or(a.Name, a.Email), a.Organization}, func(s string) bool { return s == "" })
		switch {
		case a.Label == "" || a.Active != nil && !*a.Active:
		case len(more) > 0:
			words = append(words, a.Label+" ("+strings.Join(more, ", ")+")")
		default:
			words = append(words, a.Label)
		}
	}
	return oneLine(strings.Join(words, ", ")), true
}
