package session

import (
	"testing"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
)

// An agent that is asked who is logged in answers as it tells of that by itself; one that cannot say changes nothing.
func TestAskLogin(t *testing.T) {
	p := talkV1(t,
		fakeagent.Expect("auth/status"), fakeagent.Fail(-32603, "who knows"),
		fakeagent.Expect("auth/status"), fakeagent.Reply(`{"state":"authenticated","accounts":[{"label":"Max"}]}`))
	p.Agent.AskLogin()
	p.Agent.AskLogin()
	check.Equal[any](t, receive(t, p.events), Login{LoggedIn, "Max"}, "it says %q")
	receive(t, p.played)
}

// Who is logged in reads the same, however an agent tells it, in both versions.
func TestAccounts(t *testing.T) {
	for params, want := range map[string]Login{
		`"_auth/status_update" {"authStatus":{"kind":"api_key","label":"Anthropic API key","detail":"ANTHROPIC_API_KEY"}}`:                                                              {LoggedIn, "Anthropic API key (ANTHROPIC_API_KEY)"},
		`"_auth/status_update" {"authStatus":{"kind":"none","label":"Not logged in"}}`:                                                                                                  {State: LoggedOut},
		`"auth/status_update" {"state":"authenticated","accounts":[{"label":"Max","email":"a@b","organization":"Org","active":true},{"label":"Old","active":false},{"label":"Local"}]}`: {LoggedIn, "Max (a@b, Org), Local"},
		`"auth/status_update" {"state":"unauthenticated"}`:                                                                                                                              {State: LoggedOut},
		`"auth/status_update" {"state":"not_required"}`:                                                                                                                                 {State: LoginNotNeeded},
		`"auth/status_update" {"state":"_odd","accounts":[{"label":"Max"},7]}`:                                                                                                          {Accounts: "Max"},
		`"auth/status_update" {"state":"authenticated","accounts":[{"label":"","email":"a@b"},{"label":"Max"}]}`:                                                                        {LoggedIn, "Max"},
		`"_auth/status_update" {"authStatus":{"kind":"api_key","detail":"ANTHROPIC_API_KEY"}}`:                                                                                          {},
		`"auth/status_update" {"accounts":[]}`:                                                                                                                                          {},
		`"_auth/status_update" []`:                                                                                                                                                      {},
	} {
		var method, body string
		for i := 1; i < len(params); i++ {
			if params[i] == '"' {
				method, body = params[1:i], params[i+2:]
				break
			}
		}
		update := fakeagent.Notify(method, body)
		p := begun(t, update)
		check.Equal(t, next[Login](p), want, "%s is %q in version 1", params)
		check.Equal[any](t, receive(t, talkV2(t, update).events), want, "%s is %q in version 2", params)
	}
}
