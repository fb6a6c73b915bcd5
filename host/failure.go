package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp"
)

// Failure is an error in words for the user: what happened, what to do, and
// perhaps the agent's own last words.
type Failure struct {
	Sentence, Advice, Detail string
}

func (f *Failure) Error() string {
	if f.Advice == "" {
		return f.Sentence
	}
	return f.Sentence + " " + f.Advice
}

// startError says why a process could not be started, and what to do.
func startError(spec AgentSpec, err error) error {
	var missing *acp.NotFoundError
	if errors.As(err, &missing) {
		return &Failure{
			Sentence: fmt.Sprintf("%s is not installed: there is no %s on the PATH.", spec.Title, missing.Program),
			Advice:   spec.Install,
		}
	}
	return &Failure{Sentence: fmt.Sprintf("%s could not be started: %v.", spec.Title, err), Advice: "See :checkhealth acp."}
}

// refusal is the sentence for an error answer to a request of ours.
func (s *Session) refusal(method string, err error) *Failure {
	var told *Failure
	if errors.As(err, &told) {
		return told
	}
	if errors.Is(err, errGivenUp) {
		return &Failure{Sentence: method + " was cancelled.", Advice: ":Acp restart tries again."}
	}
	return &Failure{
		Sentence: fmt.Sprintf("%s refused %s: %s.", s.spec.Title, method, strings.TrimRight(errorText(err), ".")),
		Advice:   ":Acp restart tries again, :Acp traffic shows what was said.",
	}
}

// errorText is an agent's error in words. Many put the cause into data.
func errorText(err error) string {
	var e *acp.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := e.Message
	if detail := dataText(e.Data); detail != "" && !strings.Contains(text, detail) {
		text += ": " + detail
	}
	if text == "" {
		text = fmt.Sprintf("error %d", e.Code)
	}
	return text
}

// dataText finds the human words in an error's data.
func dataText(data json.RawMessage) string {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return text
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return ""
	}
	for _, key := range []string{"details", "message", "error", "reason"} {
		if t := dataText(fields[key]); t != "" {
			return t
		}
	}
	return ""
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
