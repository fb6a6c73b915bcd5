package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/failure"
	"github.com/acp-nvim/acp-nvim/host/registry"
	"github.com/acp-nvim/acp-nvim/host/rpc"
	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// An agent that is installed stays in the list when the registry no longer has it.
func TestAnAgentThatTheRegistryHasLost(t *testing.T) {
	data := t.TempDir()
	must.Write(t, data, "agents/lost/current.json", `{"version":"1.0"}`)
	must.Write(t, data, "agents/lost/1.0/acp-launch.json", `{"title":"Lost","command":["bin"],"said":"Lost 1.0"}`)
	must.Write(t, data, "agents/broken/current.json", `{"version":"1.0"}`)
	must.Write(t, data, "agents/empty/1.0/acp-launch.json", `{"title":"Empty","command":["bin"]}`)
	must.Write(t, data, "agents/gemini/current.json", `{"version":"0.0"}`) // which the registry has
	must.Write(t, data, "agents/gemini/0.0/acp-launch.json", `{"title":"Gemini","command":["bin"]}`)
	w := newOutside(t, Options{Data: data})
	w.receive("list_agents", map[string]any{"callback": 7})
	w.hears()
	list := w.nvim.result.(rpc.AgentList).Agents
	last := list[len(list)-1]
	check.Deep(t, last, rpc.RegistryAgent{
		ID: "lost", Name: "Lost", Version: "1.0", Path: filepath.Join(data, "agents/lost/1.0/bin"), Said: "Lost 1.0",
	}, "the last one is %+v")
	seen := map[string]int{}
	for _, a := range list {
		if seen[a.ID]++; a.ID == "gemini" && (a.Version != "0.0" || a.Newest == "" || a.Newest == a.Version) {
			t.Errorf("an older one is listed as %+v", a)
		}
	}
	if len(seen) != len(list) || seen["broken"] > 0 || seen["empty"] > 0 {
		t.Errorf("listed are %v", seen)
	}
}

// Who keeps an agent at its version is told how it is by then, or why that is not possible.
func TestKeepingAnAgentAtItsVersion(t *testing.T) {
	data := t.TempDir()
	must.Write(t, data, "agents/lost/current.json", `{"version":"1.0"}`)
	must.Write(t, data, "agents/lost/1.0/acp-launch.json", `{"title":"Lost","command":["bin"]}`)
	w := newOutside(t, Options{Data: data})
	for _, pinned := range []bool{true, false} {
		w.receive("pin_agent", map[string]any{"callback": 7, "id": "lost", "pinned": pinned})
		w.hears()
		check.Deep(t, w.nvim.result, rpc.RegistryAgent{
			ID: "lost", Name: "Lost", Version: "1.0", Path: filepath.Join(data, "agents/lost/1.0/bin"), Pinned: pinned,
		}, "it is %+v")
	}
	w.receive("pin_agent", map[string]any{"callback": 7, "id": "none", "pinned": true})
	check.Equal(t, w.hears(), "7 <nil> none is not installed by :Acp agents. Install it there first.", "Neovim is told %q")
}

// Before an archive without a checksum is fetched, the user is asked.
func TestAnArchiveWithoutAChecksum(t *testing.T) {
	data := t.TempDir()
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	index, err := json.Marshal(map[string]any{
		"date": "2999-01-01T00:00:00Z",
		"agents": []registry.Entry{{ID: "tiny", Name: "Tiny", Version: "1", Distribution: registry.Distribution{
			Binary: map[string]registry.Binary{runtime.GOOS + "-" + arch: {Archive: "https://example.invalid/tiny.zip", Cmd: "tiny"}},
		}}},
	})
	must.Do(t, err)
	must.Write(t, data, "agents/index.json", string(index))
	w := newOutside(t, Options{Data: data})
	w.receive("install_agent", map[string]any{"callback": 7, "id": "tiny"})
	check.Equal(t, w.hears(),
		"7 {<nil> Tiny has no checksum in the registry: what example.invalid sends is run unchecked} ", "Neovim is told %q")
}

// What an agent can do beyond the least is said in words, and its name even if it gives none.
func TestWhatAnAgentSaysOfItself(t *testing.T) {
	for want, info := range map[string]session.Info{
		"Puppet":              {},
		"name 2 · protocol 1": {Name: "name", Version: "2", Protocol: 1},
		"Title · has a login": {Name: "name", Title: "Title", AuthMethods: []session.AuthMethod{{}}},
	} {
		check.Equal(t, introduction("Puppet", info), want, "it is %q")
	}
	for want, info := range map[string]session.Info{
		"":                              {},
		"lists its sessions":            {Lists: true},
		"resumes them":                  {Loads: true},
		"resumes them, forks them":      {Resumes: true, Forks: true},
		"deletes them":                  {Deletes: true},
		"can be steered in a turn":      {Steers: true},
		"works in several folders":      {Directories: true},
		"sees pictures, hears sounds":   {Images: true, Audio: true},
		"takes files in a prompt":       {EmbeddedContext: true},
		"takes a system prompt":         {SystemPrompt: true},
		"reaches MCP servers by http":   {SSEServers: true},
		"reports who is logged in":      {TellsLogin: true},
		"logs out, lists its providers": {LogsOut: true, Providers: true},
	} {
		check.Equal(t, strings.Join(abilities(info), ", "), want, "it can %q")
	}
}

// What an agent said of itself, and cannot be kept for :Acp agents, is in the log.
func TestAnIntroductionThatCannotBeKept(t *testing.T) {
	data := t.TempDir()
	must.Write(t, data, "agents", "")
	w := newOutside(t, Options{Data: data})
	a := &agent{host: w.Host, spec: puppet}
	a.hear(session.Info{})
	check.Contains(t, w.log.String(),
		`msg="keep the handshake of an agent" agent=puppet err="mkdir `+data+`/agents: not a directory"`, "the log says %s")
}

// The list of agents is fetched anew when the user wants that, or when it is old; if it cannot be, the old one is shown, and
// why.
func TestAListOfAgentsThatIsOld(t *testing.T) {
	const url = "http://here" // which is never asked
	const why = "http://here is not reached over https"
	for name, c := range map[string]struct {
		date    time.Time
		fields  map[string]any
		failure string
	}{
		"it is new":                    {time.Now(), map[string]any{"url": url}, ""},
		"it is new, the user wants it": {time.Now(), map[string]any{"url": url, "fetch": true}, why},
		"it is of yesterday":           {time.Now().Add(-25 * time.Hour), map[string]any{"url": url}, why},
		"there is no newer one":        {time.Now().Add(-25 * time.Hour), map[string]any{"fetch": true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			agents := []registry.Entry{{ID: "one", Name: "One", Version: "1"}}
			index, err := json.Marshal(map[string]any{"date": c.date.UTC(), "agents": agents})
			must.Do(t, err)
			must.Write(t, data, "agents/index.json", string(index))
			w := newOutside(t, Options{Data: data})
			c.fields["callback"] = 7
			w.receive("list_agents", c.fields)
			w.hears()
			list := w.nvim.result.(rpc.AgentList)
			check.Equal(t, list.Failure, c.failure, "it says %q")
			check.Equal(t, list.Date, c.date.UTC().Format(time.DateOnly), "it is of %q")
		})
	}
}

// The first agent of the list is known by it as the others are.
func TestAnAgentOfTheList(t *testing.T) {
	data := t.TempDir()
	must.Write(t, data, "agents/index.json", `{"date":"2999-01-01T00:00:00Z","agents":[{"id":"one","name":"One","version":"2.0"}]}`)
	must.Write(t, data, "agents/one/current.json", `{"version":"1.0"}`)
	must.Write(t, data, "agents/one/1.0/acp-launch.json", `{"title":"Old","command":["bin"]}`)
	w := newOutside(t, Options{Data: data})
	w.receive("pin_agent", map[string]any{"callback": 7, "id": "one", "pinned": true})
	w.hears()
	is := w.nvim.result.(rpc.RegistryAgent)
	check.Equal(t, is.Name+" "+is.Version+" "+is.Newest, "One 1.0 2.0", "it is %s")
}

// Who tries an agent gets no advice about a session of it.
func TestAFailureWithoutAdvice(t *testing.T) {
	plain := errors.New("no")
	check.Equal(t, withoutAdvice(plain), plain, "another error becomes %v")
	f := failure.Failure{Sentence: "It ended", Reason: "no", Detail: "much", Advice: "Restart it."}
	told := withoutAdvice(fmt.Errorf("try: %w", &f))
	check.Deep(t, told, error(&failure.Failure{Sentence: "It ended", Reason: "no", Detail: "much"}), "it becomes %#v")
}
