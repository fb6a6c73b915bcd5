package control

import (
	"errors"
	"fmt"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/session"
	"github.com/acp-nvim/acp-nvim/host/failure"
)

// This file says what the user is told about failed requests.

// Refusal returns what the user is told about an error answer to a request that the session cannot do without.
func (r *Requests) Refusal(method string, err error) *failure.Failure {
	var told *failure.Failure
	if errors.As(err, &told) {
		return told
	}
	if errors.Is(err, ErrGivenUp) {
		return &failure.Failure{Sentence: method + " was cancelled.", Advice: ":Acp restart tries again."}
	}
	words, detail := failure.Explain(err)
	words, detail = r.blot(words), r.blot(detail)
	return &failure.Failure{
		Sentence: fmt.Sprintf("%s refused %s: %s.", r.base.Title, method, strings.TrimRight(words, ".")),
		Advice:   ":Acp restart tries again, :Acp traffic shows what was said.",
		Detail:   detail,
	}
}

// Failed returns the sentence about a failed request that no session depends on; agent is its name in the
// configuration, title its display name.
func Failed(agent, title, method string, err error) string {
	var told *failure.Failure
	switch {
	case errors.As(err, &told):
		return told.Error()
	case session.AuthRequired(err):
		return fmt.Sprintf("%s needs you to log in first: :Acp new %s, then :Acp auth.", title, agent)
	case errors.Is(err, acp.ErrClosed):
		return fmt.Sprintf("%s ended before it answered %s.", title, method)
	}
	return fmt.Sprintf("%s refused %s: %s.", title, method, strings.TrimRight(failure.Text(err), "."))
}
