// Package fakeagent plays an agent from an ordered script, for tests: in their own process over pipes, or as a program.
//
// A script has no times. It does one step after the other, and a step that needs something of the client, a message not
// yet received, is a barrier. Between barriers nothing is read: an agent that waits for nothing does not read its
// input.
package fakeagent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Step is one thing that the agent does. One of the fields up to Exit says what it is, the others are its details. In a
// script file each step is a line of JSON.
type Step struct {
	// Expect waits for the oldest request or notification of this method that no step has waited for.
	Expect string `json:"expect,omitzero"`
	// Answer waits for the client's answer to the request with this id.
	Answer json.RawMessage `json:"answer,omitzero"`
	// Reply and Error answer the request that was expected last, or last of the method To.
	Reply json.RawMessage `json:"reply,omitzero"`
	Error json.RawMessage `json:"error,omitzero"`
	// Update is sent as a session/update.
	Update json.RawMessage `json:"update,omitzero"`
	// Request and Notify are methods, sent with Params.
	Request string `json:"request,omitzero"`
	Notify  string `json:"notify,omitzero"`
	// Line is sent as it is, with a newline; Text without one.
	Line string `json:"line,omitzero"`
	Text string `json:"text,omitzero"`
	// Stderr is written to the standard error output.
	Stderr string `json:"stderr,omitzero"`
	// Gate waits until somebody has opened this named pipe for writing and has closed it again.
	Gate string `json:"gate,omitzero"`
	// Close is "stdout".
	Close string `json:"close,omitzero"`
	// Ignore is "term": SIGTERM does nothing from here on.
	Ignore string `json:"ignore,omitzero"`
	// Hang does nothing for ever, not even read.
	Hang bool `json:"hang,omitzero"`
	// Exit ends the agent without reading what is left.
	Exit *int `json:"exit,omitzero"`

	To      string          `json:"to,omitzero"`
	ID      json.RawMessage `json:"id,omitzero"`
	Params  json.RawMessage `json:"params,omitzero"`
	Session string          `json:"session,omitzero"` // of Update; the one made last, or "s1"
	// Times repeats a step that sends; "${n}" in it counts from 1.
	Times int `json:"times,omitzero"`
}

// The steps, as Go writes them. Arguments named raw are JSON.

// Expect waits for a request or notification of the client.
func Expect(method string) Step { return Step{Expect: method} }

// Answer waits for the client's answer to the request id.
func Answer(id int) Step { return Step{Answer: json.RawMessage(strconv.Itoa(id))} }

// Reply answers the request expected last.
func Reply(raw string) Step { return Step{Reply: json.RawMessage(raw)} }

// Fail answers the request expected last with an error.
func Fail(code int, message string) Step {
	return Step{Error: fmt.Appendf(nil, `{"code":%d,"message":%s}`, code, quoted(message))}
}

// Update sends a session/update.
func Update(raw string) Step { return Step{Update: json.RawMessage(raw)} }

// Message sends a piece of the agent's message.
func Message(text string) Step {
	return Update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + quoted(text) + `}}`)
}

// Request sends a request of the agent.
func Request(id int, method, raw string) Step {
	return Step{Request: method, ID: json.RawMessage(strconv.Itoa(id)), Params: json.RawMessage(raw)}
}

// Notify sends a notification.
func Notify(method, raw string) Step { return Step{Notify: method, Params: json.RawMessage(raw)} }

// Line sends a line as it is.
func Line(text string) Step { return Step{Line: text} }

// Exit ends the agent.
func Exit(code int) Step { return Step{Exit: &code} }

// Start is how every session begins: initialize, with the agent's name, and session/new, which makes the session "s1".
func Start(name string) []Step {
	return []Step{
		Expect("initialize"),
		Reply(`{"protocolVersion":1,"agentInfo":{"name":` + quoted(name) + `,"version":"1"}}`),
		Expect("session/new"),
		Reply(`{"sessionId":"s1"}`),
	}
}

func quoted(s string) string {
	raw, _ := json.Marshal(s) // a string always encodes
	return string(raw)
}

// Received is a message of the client.
type Received struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`

	// Of is the method that a response answers.
	Of string `json:"-"`

	taken bool
}

// ExitError is the error of a script that ends with [Step.Exit].
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit %d", e.Code) }

// Run plays the script and then reads what is left, to the end of stdin. It returns all messages of the client. The
// context ends steps that hang and nothing else: what blocks on the pipes ends when they are closed.
func Run(ctx context.Context, script []Step, stdin io.Reader, stdout io.WriteCloser, stderr io.Writer) ([]*Received, error) {
	a := &agent{
		in: bufio.NewReader(stdin), stdout: stdout, out: bufio.NewWriter(stdout), stderr: stderr,
		session: "s1", asked: map[string]string{},
	}
	for i, s := range script {
		if err := a.do(ctx, s); err != nil {
			return a.received, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	for {
		if _, err := a.read(); errors.Is(err, io.EOF) {
			return a.received, nil
		} else if err != nil {
			return a.received, err
		}
	}
}

type agent struct {
	in       *bufio.Reader
	stdout   io.Closer
	out      *bufio.Writer
	stderr   io.Writer
	received []*Received
	expected []*Received       // requests that steps have waited for
	asked    map[string]string // methods of our requests, by id
	session  string
}

func (a *agent) do(ctx context.Context, s Step) error {
	switch {
	case s.Expect != "":
		m, err := a.await("a "+s.Expect, func(m *Received) bool { return m.Method == s.Expect })
		if err == nil && m.ID != nil {
			a.expected = append(a.expected, m)
		}
		return err
	case s.Answer != nil:
		_, err := a.await("the answer "+string(s.Answer), func(m *Received) bool {
			return m.Method == "" && bytes.Equal(m.ID, s.Answer)
		})
		return err
	case s.Stderr != "":
		_, err := io.WriteString(a.stderr, s.Stderr)
		return err
	case s.Gate != "":
		return pass(s.Gate)
	case s.Close != "":
		return a.stdout.Close()
	case s.Ignore != "":
		signal.Ignore(syscall.SIGTERM)
		return nil
	case s.Hang:
		<-ctx.Done()
		return ctx.Err()
	case s.Exit != nil:
		return &ExitError{Code: *s.Exit}
	}
	text, err := a.message(s)
	if err != nil {
		return err
	}
	if s.Line == "" && s.Text == "" {
		text = oneLine(text)
	}
	for n := range max(1, s.Times) {
		_, _ = a.out.WriteString(strings.ReplaceAll(text, "${n}", strconv.Itoa(n+1))) // told by Flush
	}
	return a.out.Flush()
}

// oneLine is a message as a frame: scripts may break it into lines.
func oneLine(message string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(message)) != nil {
		return message
	}
	return b.String() + "\n"
}

// message is what a step sends.
func (a *agent) message(s Step) (string, error) {
	switch {
	case s.Reply != nil:
		m, err := a.unanswered(s.To)
		if err != nil {
			return "", err
		}
		var made struct {
			SessionID string `json:"sessionId"`
		}
		if m.Method == "session/new" && json.Unmarshal(s.Reply, &made) == nil && made.SessionID != "" {
			a.session = made.SessionID
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, s.Reply), nil
	case s.Error != nil:
		m, err := a.unanswered(s.To)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", m.ID, s.Error), nil
	case s.Update != nil:
		session := s.Session
		if session == "" {
			session = a.session
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":%s}}`+"\n", quoted(session), s.Update), nil
	case s.Request != "":
		a.asked[string(s.ID)] = s.Request
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`+"\n", s.ID, quoted(s.Request), orEmpty(s.Params)), nil
	case s.Notify != "":
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":%s,"params":%s}`+"\n", quoted(s.Notify), orEmpty(s.Params)), nil
	case s.Text != "":
		return s.Text, nil
	}
	return s.Line + "\n", nil
}

func orEmpty(params json.RawMessage) json.RawMessage {
	if params == nil {
		return json.RawMessage("{}")
	}
	return params
}

// unanswered takes the request of this method that was expected last; "" is any method.
func (a *agent) unanswered(method string) (*Received, error) {
	for i, m := range slices.Backward(a.expected) {
		if method == "" || m.Method == method {
			a.expected = slices.Delete(a.expected, i, i+1)
			return m, nil
		}
	}
	return nil, fmt.Errorf("answer a request: none is expected of method %q", method)
}

// await takes the oldest message that fits and that no step has taken.
func (a *agent) await(what string, fits func(*Received) bool) (*Received, error) {
	for _, m := range a.received {
		if !m.taken && fits(m) {
			m.taken = true
			return m, nil
		}
	}
	for {
		m, err := a.read()
		if err != nil {
			return nil, fmt.Errorf("wait for %s: %w", what, err)
		}
		if fits(m) {
			m.taken = true
			return m, nil
		}
	}
}

func (a *agent) read() (*Received, error) {
	line, err := a.in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	m := &Received{}
	if err := json.Unmarshal(line, m); err != nil {
		return nil, fmt.Errorf("read a message of the client: %w: %q", err, line)
	}
	if m.Method == "" {
		m.Of = a.asked[string(m.ID)]
	}
	a.received = append(a.received, m)
	return m, nil
}

// pass waits at a named pipe: opening it blocks until it has a writer.
func pass(gate string) error {
	f, err := os.Open(gate)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, f)
	return errors.Join(err, f.Close())
}
