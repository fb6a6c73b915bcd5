package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"testing"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/fakeagent"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// agreed is an agent that speaks a version of the protocol, with methods that may be in its unstable schema.
func agreed(t *testing.T, version int, script ...fakeagent.Step) *talk {
	t.Helper()
	answer := map[int]string{1: `{"protocolVersion":1}`, 2: answerV2}[version]
	p := negotiate(t, version, append([]fakeagent.Step{fakeagent.Expect("initialize"), fakeagent.Reply(answer)}, script...)...)
	must.Do(t, p.err)
	return p
}

// then is a function for the answer to a request that only its error is asked of.
func then[T any](done chan<- error) func(T, error) { return func(_ T, err error) { done <- err } }

// Each request that an agent has not answered can be withdrawn, in both versions.
func TestRequestsAreWithdrawn(t *testing.T) {
	at := Place{Cwd: "/a"}
	for _, c := range []struct {
		first, second string // its method in the versions, where those differ
		ask           func(p *talk, done chan<- error) (cancel func())
	}{
		{"session/new", "", func(p *talk, done chan<- error) func() { return p.NewSession(at, then[Setup](done)) }},
		{"session/load", "session/resume", func(p *talk, done chan<- error) func() {
			return p.LoadSession("s1", at, then[Setup](done))
		}},
		{"session/resume", "", func(p *talk, done chan<- error) func() { return p.ResumeSession("s1", at, then[Setup](done)) }},
		{"session/fork", "", func(p *talk, done chan<- error) func() { return p.ForkSession("s1", "m", at, then[Setup](done)) }},
		{"session/list", "", func(p *talk, done chan<- error) func() { return p.ListSessions(true, then[[]Stored](done)) }},
		{"session/set_title", "", func(p *talk, done chan<- error) func() { return p.SetTitle("s1", "T", then[string](done)) }},
		{"session/archive", "", func(p *talk, done chan<- error) func() { return p.Archive("s1", true, justThen(done)) }},
		{"session/unarchive", "", func(p *talk, done chan<- error) func() { return p.Archive("s1", false, justThen(done)) }},
		{"session/status", "", func(p *talk, done chan<- error) func() { return p.Status("s1", justThen(done)) }},
		{"session/delete", "", func(p *talk, done chan<- error) func() { return p.DeleteSession("s1", justThen(done)) }},
		{"session/set_config_option", "", func(p *talk, done chan<- error) func() {
			return p.SetOption("s1", Option{ID: "o", Type: "select", Via: ViaConfig}, "v", then[[]Option](done))
		}},
		{"providers/list", "", func(p *talk, done chan<- error) func() { return p.Providers(then[[]Provider](done)) }},
		{"providers/set", "", func(p *talk, done chan<- error) func() { return p.SetProvider(Provider{ID: "p"}, nil, justThen(done)) }},
		{"providers/disable", "", func(p *talk, done chan<- error) func() { return p.DisableProvider("p", justThen(done)) }},
		{"authenticate", "auth/login", func(p *talk, done chan<- error) func() { return p.Authenticate("m", justThen(done)) }},
		{"logout", "auth/logout", func(p *talk, done chan<- error) func() { return p.Logout(justThen(done)) }},
	} {
		for version, method := range map[int]string{1: c.first, 2: cmp.Or(c.second, c.first)} {
			p := agreed(t, version, fakeagent.Expect(method), fakeagent.Expect("$/cancel_request"),
				fakeagent.Step{Error: json.RawMessage(`{"code":-32800,"message":"Cancelled"}`), To: method})
			done := make(chan error, 1)
			c.ask(p, done)()
			if err := receive(t, done); !RequestCancelled(err) {
				t.Errorf("%s ends with %v", method, err)
			}
		}
	}
}

// What is asked of an agent goes out with all that it needs, the same in both versions.
func TestFieldsOfRequests(t *testing.T) {
	provider := Provider{ID: "p", Type: "openai", URL: "https://a"}
	for _, c := range []struct {
		ask            func(a Agent, done chan<- error)
		method, params string
	}{
		{func(a Agent, done chan<- error) { a.ListSessions(false, then[[]Stored](done)) }, "session/list", `{}`},
		{func(a Agent, done chan<- error) { a.ListSessions(true, then[[]Stored](done)) }, "session/list", `{"archived":"only"}`},
		{func(a Agent, done chan<- error) {
			a.SetTitle("s1", "t", func(title string, err error) {
				check.Equal(t, title, "T", "the title is %q")
				done <- err
			})
		}, "session/set_title", `{"sessionId":"s1","title":"t"}`},
		{func(a Agent, done chan<- error) { a.Archive("s1", true, justThen(done)) }, "session/archive", `{"sessionId":"s1"}`},
		{func(a Agent, done chan<- error) { a.Archive("s1", false, justThen(done)) }, "session/unarchive", `{"sessionId":"s1"}`},
		{func(a Agent, done chan<- error) { a.Status("s1", justThen(done)) }, "session/status", `{"sessionId":"s1"}`},
		{func(a Agent, done chan<- error) { a.DeleteSession("s1", justThen(done)) }, "session/delete", `{"sessionId":"s1"}`},
		{func(a Agent, done chan<- error) { a.SetProvider(provider, map[string]string{"A": "1"}, justThen(done)) },
			"providers/set", `{"apiType":"openai","baseUrl":"https://a","headers":{"A":"1"},"providerId":"p"}`},
		{func(a Agent, done chan<- error) { a.DisableProvider("p", justThen(done)) }, "providers/disable", `{"providerId":"p"}`},
	} {
		for _, version := range []int{1, 2} {
			p := agreed(t, version, fakeagent.Expect(c.method), fakeagent.Reply(`{"sessionId":"s1","title":"T","sessions":[]}`))
			done := make(chan error, 1)
			c.ask(p, done)
			must.Do(t, receive(t, done))
			check.Equal(t, sent(t, p.finish()[1].Params), c.params, "version %d, %s: sent is %s", version, c.method)
		}
	}
}

// What an agent tells of its providers is known: of each what it may be and what it is, if anything.
func TestProvidersOfAnAgent(t *testing.T) {
	const answer = `{"providers":[
		{"providerId":"a","supported":["openai","azure"],"required":true,"current":{"apiType":"azure","baseUrl":"https://a"}},
		{"providerId":"b","supported":["openai"],"required":false,"current":null}]}`
	want := []Provider{
		{ID: "a", Types: []string{"openai", "azure"}, Required: true, Type: "azure", URL: "https://a"},
		{ID: "b", Types: []string{"openai"}},
	}
	for _, version := range []int{1, 2} {
		p := agreed(t, version, fakeagent.Expect("providers/list"), fakeagent.Reply(answer))
		done := make(chan outcome[[]Provider], 1)
		p.Providers(func(list []Provider, err error) { done <- outcome[[]Provider]{list, err} })
		o := receive(t, done)
		must.Do(t, o.err)
		check.Deep(t, o.value, want, "version %d: %+v", version)
	}
}

// justThen is then for an answer that is nothing but an error.
func justThen(done chan<- error) func(error) { return func(err error) { done <- err } }

// A session is opened where the user works and with all that the user wants there, however it is opened, in both versions.
func TestPlacesOfSessions(t *testing.T) {
	at := Place{
		Cwd: "/a", Directories: []string{"/b"},
		Servers: []MCPServer{{Name: "s", Type: "http", URL: "https://s", Headers: []Pair{{"A", "1"}}}},
		Prompt:  SystemPrompt{Text: "be brief"}, Instructions: "prefer these",
	}
	const fields = `"additionalDirectories":["/b"],"cwd":"/a",` +
		`"mcpServers":[{"headers":[{"name":"A","value":"1"}],"name":"s","type":"http","url":"https://s"}]`
	const prompt = `,"systemPrompt":{"content":[{"text":"be brief","type":"text"}],"mode":"append"}`
	for name, open := range map[string]func(Agent, func(Setup, error)) func(){
		"new":    func(a Agent, f func(Setup, error)) func() { return a.NewSession(at, f) },
		"load":   func(a Agent, f func(Setup, error)) func() { return a.LoadSession("s1", at, f) },
		"resume": func(a Agent, f func(Setup, error)) func() { return a.ResumeSession("s1", at, f) },
		"fork":   func(a Agent, f func(Setup, error)) func() { return a.ForkSession("s1", "", at, f) },
	} {
		for _, version := range []int{1, 2} {
			method, more := "session/"+name, ""
			if name != "new" {
				more = `,"sessionId":"s1"`
			}
			if name == "load" && version == 2 {
				method, more = "session/resume", `,"replayFrom":{"type":"start"}`+more
			}
			p := agreed(t, version, fakeagent.Expect(method), fakeagent.Reply(`{"sessionId":"s1"}`))
			done := make(chan error, 1)
			open(p, then[Setup](done))
			must.Do(t, receive(t, done))
			want := `{"_meta":{"systemPrompt":{"append":"prefer these"}},` + fields + more + prompt + "}"
			check.Equal(t, sent(t, p.finish()[1].Params), want, "version %d, %s: %s", version, name)
		}
	}
}

// served is a client that serves what is not in the specification.
type served struct{ *recorder }

func (s served) Extend(r ExtensionRequest) bool {
	s.events <- r
	return true
}

// A request that is not in the specification comes to whoever serves it as it is, and its answer goes back, in both
// versions.
func TestExtensionsAreServed(t *testing.T) {
	for version, adapter := range map[int]func(Client) acp.Handler{
		1: func(c Client) acp.Handler { return NewV1(c, "1", nil) }, 2: func(c Client) acp.Handler { return NewV2(c) },
	} {
		r := newRecorder()
		_, finish := connect(t, adapter(served{r}), fakeagent.Request(7, "_my/own", `{"a":1}`), fakeagent.Answer(7),
			fakeagent.Request(8, "_my/own", `{"a":2}`), fakeagent.Notify("$/cancel_request", `{"requestId":8}`), fakeagent.Answer(8))
		first := receive(t, r.events).(ExtensionRequest)
		check.Equal(t, first.Method+string(first.Params), `_my/own{"a":1}`, "version %d: asked is %s", version)
		first.Reply(json.RawMessage(`{"b":1}`), nil)
		second := receive(t, r.events).(ExtensionRequest)
		receive(t, second.Context.Done())
		second.Reply(nil, errors.New("too late"))
		receive(t, r.played)
		var answers []string
		for _, m := range finish() {
			answers = append(answers, string(m.Result)+string(m.Error))
		}
		check.Slice(t, answers, []string{`{"b":1}`, `{"code":-32603,"message":"too late"}`}, "version %d: answered is %q", version)
	}
}

// What an agent asks about files is withdrawn with its request.
func TestFileRequestsAreWithdrawn(t *testing.T) {
	for method, params := range map[string]string{
		"fs/read_text_file": `{"sessionId":"s1","path":"/a"}`, "fs/write_text_file": `{"sessionId":"s1","path":"/a","content":"x"}`,
	} {
		withdrawn := fakeagent.Notify("$/cancel_request", `{"requestId":7}`)
		p := begun(t, fakeagent.Request(7, method, params), withdrawn, fakeagent.Answer(7))
		switch asked := receive(t, p.events).(type) {
		case ReadTextFile:
			receive(t, asked.Context.Done())
			asked.Reply("", asked.Context.Err())
		case WriteTextFile:
			receive(t, asked.Context.Done())
			asked.Reply(asked.Context.Err())
		}
		check.Contains(t, p.result("7"), `"code":-32800`, "%s is answered %s", method)
	}
}
