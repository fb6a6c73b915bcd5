// Package rules decides permission requests by the user's rules: which allow or reject them, and which ask the user. It
// reads no file and knows neither agents nor the editor.
//
// It only allows what it has understood: anything unclear in a command or a path leads to a question, never to a
// permission.
package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Action is what a rule does with a request.
type Action string

// The actions.
const (
	Allow  Action = "allow"
	Reject Action = "reject"
	Ask    Action = "ask"
)

// Rule is one entry of the configuration. For each given field, one of its values must match.
type Rule struct {
	Kinds    []string // of the tool call
	Paths    []string // globs, see [Request.Paths]
	Commands []string // patterns, see [matchWords]
	Agents   []string // names of the configuration
	Tools    []string // "server/tool" of MCP servers, with * for a part of either
	Action   Action
}

// String returns the rule in words: its fields, without the action.
func (r Rule) String() string {
	var parts []string
	for _, f := range []struct {
		name   string
		values []string
	}{{"agent", r.Agents}, {"kind", r.Kinds}, {"path", r.Paths}, {"command", r.Commands}, {"tool", r.Tools}} {
		if len(f.values) > 0 {
			parts = append(parts, f.name+" "+strings.Join(f.values, " or "))
		}
	}
	if len(parts) == 0 {
		return "everything"
	}
	return strings.Join(parts, ", ")
}

// Check returns what is wrong with a rule.
func (r Rule) Check() error {
	if !slices.Contains([]Action{Allow, Reject, Ask}, r.Action) {
		return fmt.Errorf("action: expected allow, reject or ask, got %q", r.Action)
	}
	for _, p := range r.Paths {
		if err := checkGlob(p); err != nil {
			return fmt.Errorf("path %q: %w", p, err)
		}
	}
	for _, c := range r.Commands {
		if err := checkPattern(c); err != nil {
			return fmt.Errorf("command %q: %w", c, err)
		}
	}
	for _, t := range r.Tools {
		server, tool, _ := strings.Cut(t, "/")
		if _, err := path.Match(t, ""); err != nil || server == "" || tool == "" {
			return fmt.Errorf("tool %q: expected server/tool", t)
		}
	}
	return nil
}

// List is rules in order: the first that matches decides. Private are globs of files that are never allowed by a rule.
type List struct {
	Rules   []Rule
	Private []string
}

// Check returns what is wrong with the rules. A list with a mistake must not be used: a later rule could allow what the
// wrong one should stop.
func (l List) Check() error {
	var all []error
	for i, r := range l.Rules {
		if err := r.Check(); err != nil {
			all = append(all, fmt.Errorf("permissions[%d].%w", i+1, err))
		}
	}
	return errors.Join(all...)
}

// Request is what an agent asks for.
type Request struct {
	Agent string
	Kind  string
	Cwd   string  // the session's folder, without symbolic links
	Home  string  // the user's
	Fold  bool    // the file system ignores case
	Paths []Path  // every file that the request names
	Run   Command // what it runs, if it does
	MCP   bool    // it is about an MCP server's tool
	Tool  string  // which one, as "server/tool", "" where that is not clear
	// Absolute returns the absolute path that a word of a command means as the name of a file, and false if it cannot
	// be one.
	Absolute func(string) (string, bool)
	// Resolve returns an absolute path without symbolic links and "..", "" if that fails. It may read the disk.
	Resolve func(string) string
	// List lists a folder, for the wildcards of a command. It may be nil.
	List func(string) ([]fs.DirEntry, error)

	looked *looked
}

// Path is a file as named, and as it is found on the disk. Both are absolute and without ".."; Real is "" if it cannot
// be determined, and then Given may be anything. No rule allows a request for such a file.
type Path struct{ Given, Real string }

// Verdict is the decision on a request. Rules are the numbers, from 1, of those that decided, in ascending order. For
// Ask, Why says what kept a rule from deciding, or is "" if none came near; for the others, what matched.
type Verdict struct {
	Action Action
	Rules  []int
	Why    string
}

// By names the rules that decided, such as "rule 2".
func (v Verdict) By() string {
	words := make([]string, len(v.Rules))
	for i, n := range v.Rules {
		words[i] = fmt.Sprint(n)
	}
	if len(words) == 1 {
		return "rule " + words[0]
	}
	return "rules " + strings.Join(words, ", ")
}

// match is how far a rule fits.
type match int

const (
	no match = iota
	maybe
	yes
)

// Decide finds the rules that decide. Each simple command of a compound one is decided by itself: all must be allowed,
// and one rejected is enough to reject.
func (l List) Decide(r Request) Verdict {
	r = r.looking()
	parts := r.Run.parts
	if !r.Run.Given() {
		parts = []part{{}}
	}
	var allowed, stuck []decision
	for _, p := range parts {
		d := l.decide(r, p)
		switch {
		case d.action == Reject:
			return Verdict{Action: Reject, Rules: []int{d.rule}, Why: l.Rules[d.rule-1].String()}
		case d.action == Allow && d.rule > 0:
			allowed = append(allowed, d)
		case d.action != Allow:
			stuck = append(stuck, d)
		}
	}
	if len(stuck) > 0 || len(allowed) == 0 {
		asking := slices.DeleteFunc(slices.Clone(stuck), func(d decision) bool { return d.rule == 0 })
		return Verdict{Action: Ask, Rules: numbers(asking), Why: l.why(r, allowed, stuck)}
	}
	for _, p := range r.Paths {
		if p.Real == "" {
			return Verdict{Action: Ask, Why: "it is not clear which file `" + p.Given + "` is"}
		}
	}
	if private := l.private(r, parts); private != "" {
		return Verdict{Action: Ask, Why: "`" + private + "` is private"}
	}
	if r.looked.over() {
		return Verdict{Action: Ask, Why: "it names too many files to look at"}
	}
	var reasons []string
	for _, n := range numbers(allowed) {
		reasons = append(reasons, l.Rules[n-1].String())
	}
	return Verdict{Action: Allow, Rules: numbers(allowed), Why: strings.Join(reasons, "; ")}
}

// numbers returns the rules of decisions, each once and in order.
func numbers(list []decision) []int {
	var rules []int
	for _, d := range list {
		rules = append(rules, d.rule)
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// decision is the decision on one simple command, or on a request that runs none. Without a rule it is undecided.
type decision struct {
	part   part
	action Action
	rule   int    // from 1
	why    string // of Ask
}

func (l List) decide(r Request, p part) decision {
	d := decision{part: p, action: Ask}
	for i, rule := range l.Rules {
		n := i + 1
		switch m := rule.match(r, p); {
		case m == no:
		case rule.Action == Allow && m == yes:
			return decision{part: p, action: Allow, rule: n}
		case rule.Action == Allow:
			if d.why == "" {
				d.why = p.why
			}
		case rule.Action == Reject && m == yes:
			return decision{part: p, action: Reject, rule: n}
		case m == maybe:
			what := "`" + p.text + "`"
			if r.MCP {
				what = "this tool"
			}
			return decision{part: p, action: Ask, rule: n, why: fmt.Sprintf("rule %d may be about %s", n, what)}
		default:
			return decision{part: p, action: Ask, rule: n, why: fmt.Sprintf("rule %d asks", n)}
		}
	}
	if p.outer {
		return decision{part: p, action: Allow} // what it runs is decided by itself
	}
	return d
}

// why says what kept rules from allowing a request.
func (l List) why(r Request, allowed, stuck []decision) string {
	if len(stuck) == 0 {
		return ""
	}
	first := stuck[0]
	for _, d := range stuck {
		if d.why != "" {
			first = d
			break
		}
	}
	switch {
	case !r.Run.Given():
		if first.why == "" && !r.MCP {
			return l.whyPaths(r)
		}
		return first.why
	case len(allowed) > 0 && first.why != "":
		return fmt.Sprintf("rule %d allows `%s`, but %s", allowed[0].rule, allowed[0].part.text, first.why)
	case len(allowed) > 0:
		return fmt.Sprintf("rule %d allows `%s`, but not `%s`", allowed[0].rule, allowed[0].part.text, first.part.text)
	case first.why != "":
		return first.why
	}
	return ""
}

// whyPaths says which file kept a rule from allowing a request that it fits otherwise.
func (l List) whyPaths(r Request) string {
	for i, rule := range l.Rules {
		if rule.Action != Allow || len(rule.Paths) == 0 || !rule.fits(r, part{}) {
			continue
		}
		if len(r.Paths) == 0 {
			return fmt.Sprintf("rule %d is about files, and the request names none", i+1)
		}
		in, out := "", ""
		for _, p := range r.Paths {
			if matchesAny(rule.Paths, r, p.Real) {
				in = p.Given
			} else {
				out = p.Given
			}
		}
		if in != "" && out != "" {
			return fmt.Sprintf("rule %d allows %s, but not %s", i+1, in, out)
		}
	}
	return ""
}

// fits matches the fields that need no care: agent and kind.
func (rule Rule) fits(r Request, p part) bool {
	if len(rule.Agents) > 0 && !slices.Contains(rule.Agents, r.Agent) {
		return false
	}
	kinds := rule.Kinds
	if len(kinds) == 0 {
		return true
	}
	// A command counts as one whatever kind the agent gives it.
	if r.Run.Given() && slices.Contains(kinds, "execute") && (rule.Action != Allow || !r.MCP) {
		return true
	}
	if rule.Action == Allow && r.Run.Given() && len(rule.Commands) == 0 {
		return false
	}
	return slices.Contains(kinds, r.Kind)
}

func (rule Rule) match(r Request, p part) match {
	if !rule.fits(r, p) || !rule.matchPaths(r, p) {
		return no
	}
	tool := rule.matchTool(r)
	if tool != yes {
		return tool
	}
	if len(rule.Commands) == 0 {
		// Files say nothing about what a command does.
		if rule.Action == Allow && r.Run.Given() && len(rule.Paths) > 0 && len(rule.Kinds) == 0 {
			return no
		}
		return yes
	}
	if !r.Run.Given() {
		return no
	}
	best := no
	for _, pattern := range rule.Commands {
		words := strings.Fields(pattern)
		if rule.Action == Allow {
			best = max(best, p.allowedBy(words))
		} else {
			best = max(best, p.stoppedBy(words, r))
		}
	}
	return best
}

// matchTool matches the tool of an MCP server. Paths and commands say nothing about what a tool does with them.
func (rule Rule) matchTool(r Request) match {
	switch {
	case rule.Action == Allow && r.MCP && (r.Tool == "" || len(rule.Paths) > 0 || len(rule.Commands) > 0):
		return no
	case len(rule.Tools) == 0:
		return yes
	case r.MCP && r.Tool == "":
		return maybe
	}
	for _, pattern := range rule.Tools {
		if matched, err := path.Match(pattern, r.Tool); err == nil && matched {
			return yes
		}
	}
	return no
}

func (rule Rule) matchPaths(r Request, p part) bool {
	if len(rule.Paths) == 0 {
		return true
	}
	if rule.Action == Allow {
		if len(r.Paths) == 0 {
			return false
		}
		for _, path := range r.Paths {
			if !matchesAny(rule.Paths, r, path.Real) {
				return false
			}
		}
		return true
	}
	for _, path := range append(slices.Clip(r.Paths), p.paths(r)...) {
		if matchesAny(rule.Paths, r, path.Real) || matchesAny(rule.Paths, r, path.Given) {
			return true
		}
	}
	return false
}

// private returns the first private file that a request is about, or "".
func (l List) private(r Request, parts []part) string {
	paths := slices.Clone(r.Paths)
	for _, p := range parts {
		paths = append(paths, p.paths(r)...)
	}
	if len(paths) == 0 {
		return ""
	}
	fits := l.FitsPrivate(r)
	for _, path := range paths {
		if fits(path.Real) || fits(path.Given) {
			return path.Given
		}
	}
	return ""
}

// IsPrivate reports whether a request is about a private file.
func (l List) IsPrivate(r Request) bool {
	r = r.looking()
	return l.private(r, r.Run.parts) != "" || r.looked.over()
}
