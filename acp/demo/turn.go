package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
	"github.com/acp-nvim/acp-nvim/acp/wire"
)

// turn is the state that the steps of a script share. It lives on the turn's goroutine.
type turn struct {
	*agent
	session *session
	client  v1.ClientCapabilities
	prompt  string   // the text of the prompt
	files   []string // the files that the prompt names, absolute
	rest    string   // what follows the command, when it was given with a slash
	stop    v1.StopReason

	// What steps leave for later ones.
	file    file
	edited  outcome
	ran     outcome
	command string
	exit    string // how the command ended
}

// outcome is what became of something that needed permission.
type outcome int

const (
	notTried outcome = iota
	done
	rejected
	failed
)

// errCancelled ends a turn whose permission request was cancelled: the user meant the turn.
var errCancelled = errors.New("cancelled by the user")

// start begins a turn in a session that has none; it is cancelled when ctx ends. The agent's mu is held.
func (a *agent) start(ctx context.Context, r *acp.Request, s *session, prompt []wire.ContentBlock) {
	ctx, cancel := context.WithCancel(ctx)
	s.cancel = cancel
	t := &turn{agent: a, session: s, client: a.client, stop: v1.StopEndTurn}
	a.turns.Go(func() {
		defer cancel()
		t.run(ctx, r, prompt)
	})
}

// voice returns the voice for the turn's client.
func (t *turn) voice() voice {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.agent.voice
}

// run plays the script that the prompt chooses, and answers the prompt.
func (t *turn) run(ctx context.Context, r *acp.Request, prompt []wire.ContentBlock) {
	t.read(prompt)
	if !t.session.titled {
		t.session.titled = true
		t.update(t.session, &v1.SessionInfoUpdate{Title: acp.Set(title(t.prompt))})
	}
	name, script := t.choose()
	var err error
	for _, step := range script {
		if err = step(ctx, t); err != nil {
			break
		}
	}
	t.session.last = strings.Join(append([]string{"`" + name + "`"}, t.outcomes()...), "; ")
	t.update(t.session, usageOf(t.session))

	voice := t.voice()
	switch {
	case ctx.Err() != nil || errors.Is(err, errCancelled):
		voice.ended(r, t.session, v1.StopCancelled, nil)
	case err != nil:
		voice.ended(r, t.session, "", err)
	default:
		voice.ended(r, t.session, t.stop, nil)
	}
}

// title returns the beginning of the first line.
func title(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	const most = 50
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	if line == "" {
		return "Demo"
	}
	return line
}

// send tells what happens in the turn's session.
func (t *turn) send(u v1.SessionUpdate) { t.update(t.session, u) }

// stream sends a text piece by piece, as a model makes it.
func (t *turn) stream(ctx context.Context, text string, chunk func(v1.ContentChunk) v1.SessionUpdate) error {
	t.session.messages++
	id := wire.MessageID(fmt.Sprintf("message-%d", t.session.messages))
	for _, piece := range pieces(text) {
		if err := t.pace.pause(ctx); err != nil {
			return err
		}
		t.session.said += len(piece)
		t.send(chunk(v1.ContentChunk{Content: wire.Text(piece), MessageID: id}))
	}
	return nil
}

func answerChunk(c v1.ContentChunk) v1.SessionUpdate  { return (*v1.AgentMessageChunk)(&c) }
func thoughtChunk(c v1.ContentChunk) v1.SessionUpdate { return (*v1.AgentThoughtChunk)(&c) }

// pieces cuts a text after blanks, into pieces of a minimum size in bytes.
func pieces(text string) []string {
	const least = 8
	var all []string
	from := 0
	for i := range len(text) {
		if i-from >= least && (text[i] == ' ' || text[i] == '\n') {
			all = append(all, text[from:i+1])
			from = i + 1
		}
	}
	if from < len(text) {
		all = append(all, text[from:])
	}
	return all
}

func (t *turn) message(ctx context.Context, text string) error {
	return t.stream(ctx, text, answerChunk)
}

// call sends the client a request, and cancels it when ctx ends.
func (t *turn) call(ctx context.Context, method string, params, result any) error {
	type answer struct {
		result json.RawMessage
		err    error
	}
	answers := make(chan answer, 1)
	cancel := t.conn.Call(method, params, func(result json.RawMessage, err error) { answers <- answer{result, err} })
	select {
	case a := <-answers:
		if a.err != nil {
			return a.err
		}
		return acp.Decode(a.result, result)
	case <-ctx.Done():
		cancel()
		return ctx.Err()
	}
}

// notify sends a request and ignores the answer.
func (t *turn) notify(method string, params any) {
	t.conn.Call(method, params, func(json.RawMessage, error) {})
}

// begin announces a tool call.
func (t *turn) begin(call v1.ToolCall) wire.ToolCallID {
	t.session.calls++
	call.ToolCallID = wire.ToolCallID(fmt.Sprintf("call-%d", t.session.calls))
	t.send(&call)
	return call.ToolCallID
}

// finish ends a tool call, with a text to show if there is one.
func (t *turn) finish(id wire.ToolCallID, status v1.ToolCallStatus, text string) {
	u := &v1.ToolCallUpdate{ToolCallID: id, Status: acp.Set(status)}
	if text != "" {
		u.Content = acp.Set([]v1.ToolCallContent{&v1.Content{Content: wire.Text(text)}})
	}
	t.send(u)
}

// allowed asks for permission to make a tool call, unless the session's mode or an earlier answer decides.
func (t *turn) allowed(ctx context.Context, kind wire.ToolKind, call v1.ToolCallUpdate) (bool, error) {
	t.mu.Lock()
	auto := t.session.mode == modeAuto
	t.mu.Unlock()
	if auto {
		return true, nil
	}
	if answer, ok := t.session.answers[kind]; ok {
		return answer, nil
	}
	chosen, err := t.ask(ctx, kind, call)
	if err != nil {
		return false, err
	}
	yes := chosen == wire.PermissionAllowOnce || chosen == wire.PermissionAllowAlways
	if chosen == wire.PermissionAllowAlways || chosen == wire.PermissionRejectAlways {
		t.session.answers[kind] = yes
	}
	return yes, nil
}

// ask asks for permission and returns the kind of the option that the user chose. The options' ids are their kinds.
func (t *turn) ask(ctx context.Context, kind wire.ToolKind, call v1.ToolCallUpdate) (wire.PermissionOptionKind, error) {
	what := map[wire.ToolKind]string{wire.ToolEdit: "edits", wire.ToolExecute: "commands"}[kind]
	request := v1.RequestPermissionRequest{SessionID: t.session.id, ToolCall: call}
	for _, o := range []struct {
		kind wire.PermissionOptionKind
		name string
	}{
		{wire.PermissionAllowOnce, "Yes"},
		{wire.PermissionAllowAlways, "Yes, and all " + what + " in this session"},
		{wire.PermissionRejectOnce, "No"},
		{wire.PermissionRejectAlways, "No, and no " + what + " in this session"},
	} {
		request.Options = append(request.Options,
			wire.PermissionOption{OptionID: wire.PermissionOptionID(o.kind), Name: o.name, Kind: o.kind})
	}
	chosen, err := t.voice().permission(ctx, t, request)
	if err != nil {
		return "", fmt.Errorf("ask for permission: %w", err)
	}
	return wire.PermissionOptionKind(chosen), nil
}
