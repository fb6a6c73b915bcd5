// Package secrets keeps the user's login secrets for agents, and those of their MCP servers, and masks them in
// everything that is shown, logged or stored about an agent.
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

// Secrets are the secrets of all agents of a host, by agent name. Any goroutine may use them.
type Secrets struct {
	traffic *traffic.Traffic

	mu     sync.Mutex                   // guards the fields below
	login  map[string]map[string]string // variables of the environment, see [Secrets.Keep]
	hidden map[string][]string          // values, see [Secrets.Hide]
}

// New returns Secrets without any. Hidden values are masked in the traffic, too.
func New(t *traffic.Traffic) *Secrets {
	return &Secrets{traffic: t, login: map[string]map[string]string{}, hidden: map[string][]string{}}
}

// Keep remembers what the user gave to log in with an agent, for the environment of its processes: in memory only, and
// never passed to anybody else. Nil forgets all of it.
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

// Login returns what was kept for an agent. It must not be changed.
func (s *Secrets) Login(agent string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.login[agent]
}

// Blot masks the secrets in an agent's text.
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

// longestFirst sorts secrets, as one may contain another.
func longestFirst(values []string) {
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
}

// Hide masks the values given to an agent's MCP servers. A short value may be any word: the traffic masks it only where
// it is such a value.
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

// Unhide is for values that are no longer secret.
func (s *Secrets) Unhide(agent string, values []string) {
	s.traffic.Agent(agent).Unhide(values)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden[agent] = slices.DeleteFunc(s.hidden[agent], func(value string) bool { return slices.Contains(values, value) })
}

// secretName matches names of variables whose values are secrets.
var secretName = regexp.MustCompile(`(?i)(key|token|secret|password|credential)s?$`)

// leastInEnvironment is the least length in bytes of such a variable's value to be masked.
const leastInEnvironment = 8

// Scrub masks, in a line of JSON, what the user gave to log in with an agent, and the secrets of its environment.
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
