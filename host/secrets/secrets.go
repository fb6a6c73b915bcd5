// Package secrets keeps what the user gives to log in with agents, and what their MCP servers are given, and blots it
// out of everything that is shown, logged or stored of an agent.
package secrets

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/host/traffic"
)

const blot = "***"

// Secrets are those of all agents of a host, by the names of the agents. Any goroutine may use them.
type Secrets struct {
	traffic *traffic.Traffic

	mu     sync.Mutex                   // guards the fields below
	login  map[string]map[string]string // variables of the environment, see [Secrets.Keep]
	hidden map[string][]string          // values, see [Secrets.Hide]
}

// New returns none. What is hidden stays out of the traffic, too.
func New(t *traffic.Traffic) *Secrets {
	return &Secrets{traffic: t, login: map[string]map[string]string{}, hidden: map[string][]string{}}
}

// Keep remembers what the user gave to log in with an agent, for the environment of its processes: in memory only, and
// told to nobody else. Nil forgets all of it.
func (s *Secrets) Keep(agent string, values map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if values == nil {
		delete(s.login, agent)
		return
	}
	all := maps.Clone(s.login[agent])
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, values)
	s.login[agent] = all
}

// Login is what was kept of an agent. It is not to be changed.
func (s *Secrets) Login(agent string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.login[agent]
}

// Blot blots the secrets out of a text of an agent's.
func (s *Secrets) Blot(agent, text string) string {
	s.mu.Lock()
	values := slices.AppendSeq(slices.Clone(s.hidden[agent]), maps.Values(s.login[agent]))
	s.mu.Unlock()
	longestFirst(values)
	for _, value := range values {
		if value != "" {
			text = strings.ReplaceAll(text, value, blot)
		}
	}
	return text
}

// longestFirst sorts secrets, as one may be in another.
func longestFirst(values []string) {
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
}

// Hide keeps the values that MCP servers of an agent's are given out of what is told of it. What is short may be any
// word: only where it is such a value the traffic leaves it out.
func (s *Secrets) Hide(agent string, values []string) {
	s.traffic.Agent(agent).Hide(values)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, value := range values {
		if len(value) >= acp.LeastHidden && !slices.Contains(s.hidden[agent], value) {
			s.hidden[agent] = append(s.hidden[agent], value)
		}
	}
}

// Unhide is for values that are no secrets any more.
func (s *Secrets) Unhide(agent string, values []string) {
	s.traffic.Agent(agent).Unhide(values)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden[agent] = slices.DeleteFunc(s.hidden[agent], func(value string) bool { return slices.Contains(values, value) })
}

// secretName is how variables are named whose values are secrets.
var secretName = regexp.MustCompile(`(?i)(key|token|secret|password|credential)s?$`)

// leastInEnvironment is the length of the shortest value of such a variable that is blotted out, in bytes.
const leastInEnvironment = 8

// Scrub blots out, in a line of JSON, what the user gave to log in with an agent, and the secrets of its environment.
func (s *Secrets) Scrub(agent string, environment map[string]string, line []byte) []byte {
	values := slices.Collect(maps.Values(s.Login(agent)))
	for name, value := range environment {
		if secretName.MatchString(name) && len(value) >= leastInEnvironment {
			values = append(values, value)
		}
	}
	longestFirst(values)
	for _, value := range values {
		var escaped bytes.Buffer
		e := json.NewEncoder(&escaped)
		e.SetEscapeHTML(false)
		if value == "" || e.Encode(value) != nil {
			continue
		}
		line = bytes.ReplaceAll(line, bytes.Trim(escaped.Bytes(), "\"\n"), []byte(blot))
	}
	return line
}
