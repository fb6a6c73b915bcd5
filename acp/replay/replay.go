// Package replay plays recorded traffic as an agent, for tests and to investigate what went wrong with a real one. The
// recording has one cursor: what the agent sent is sent again, and what the client sent is a barrier where the replay
// stops until the client has sent it too.
//
// A request or notification of the client passes the barrier that has its method, an answer the one that answers the
// same request. The client may number its requests as it likes and work in another folder: the recording's ids and
// paths are replaced by the client's. Session ids, and the ids of the agent's own requests, stay the recording's.
package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/acp-nvim/acp-nvim/acp"
	"github.com/acp-nvim/acp-nvim/acp/v1"
)

// maxGap is the longest pause between two messages, however long the recorded agent took.
const maxGap = 20 * time.Millisecond

// Serve plays the traffic to the client on stdin and stdout. After the recording's end it answers requests with an
// error, until stdin or ctx ends. It closes stdout. The goroutine that reads stdin ends with stdin.
func Serve(ctx context.Context, traffic, stdin io.Reader, stdout io.WriteCloser) error {
	defer stdout.Close()
	steps, err := load(traffic)
	if err != nil {
		return err
	}
	// A client that does not read must not keep the replay from ending.
	stop := context.AfterFunc(ctx, func() { _ = stdout.Close() })
	defer stop()
	done := make(chan struct{})
	defer close(done)
	p := &player{
		out: stdout, lines: readLines(stdin, done), steps: oneByOne(steps),
		asked: map[string]*asked{}, methods: map[string]bool{v1.MethodSessionPrompt: true},
	}
	for _, s := range steps {
		if s.dir == acp.ClientToAgent {
			p.methods[s.messages[0].method] = true
		}
	}
	err = p.play(ctx)
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// readLines sends the lines of r until it ends, when it closes the channel, or done is closed.
func readLines(r io.Reader, done <-chan struct{}) <-chan []byte {
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		for b := bufio.NewReader(r); ; {
			line, err := b.ReadBytes('\n')
			select {
			case lines <- line:
			case <-done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// player is a running replay. It belongs to the goroutine of Serve.
type player struct {
	out   io.Writer
	lines <-chan []byte
	steps []step // from the cursor on
	last  int64  // the time of the step before the cursor

	waiting []message         // of the client, for a barrier to come
	skipped []message         // of the recording: the client has not sent them and need not
	asked   map[string]*asked // the client's requests, by the recording's id
	methods map[string]bool   // what the client of the recording has sent
	paths   paths
}

// asked is a request of the client's in the recording.
type asked struct {
	id     json.RawMessage // the client's; nil until it has sent the request
	open   bool            // it has sent the request and waits for the answer
	answer message         // what the agent answered meanwhile
}

// play runs to the end of the input, which is io.EOF.
func (p *player) play(ctx context.Context) error {
	for len(p.steps) > 0 {
		s := p.steps[0]
		if s.dir == acp.ClientToAgent {
			if err := p.await(ctx, s.messages[0]); err != nil {
				return err
			}
		} else {
			if err := p.pause(ctx, s.t); err != nil {
				return err
			}
			if err := p.send(s); err != nil {
				return err
			}
		}
		p.last = s.t
		p.steps = p.steps[1:]
	}
	for {
		if _, err := p.receive(ctx, nil); err != nil {
			return err
		}
	}
}

// await waits at a barrier.
func (p *player) await(ctx context.Context, recorded message) error {
	for {
		if passed, err := p.pass(recorded); passed || err != nil {
			return err
		}
		if _, err := p.receive(ctx, nil); err != nil {
			return err
		}
	}
}

// pause waits as long as the agent did, up to maxGap, and receives what the client sends meanwhile.
func (p *player) pause(ctx context.Context, t int64) error {
	gap := min(time.Duration(t-p.last)*time.Millisecond, maxGap)
	if gap <= 0 {
		return nil
	}
	timer := time.NewTimer(gap)
	defer timer.Stop()
	for {
		if over, err := p.receive(ctx, timer.C); over || err != nil {
			return err
		}
	}
}

// receive takes one line from the client, unless the timer fires first.
func (p *player) receive(ctx context.Context, timer <-chan time.Time) (fired bool, err error) {
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-timer:
		return true, nil
	case line, ok := <-p.lines:
		if !ok {
			return false, io.EOF
		}
		for _, m := range split(line) {
			if err := p.take(m); err != nil {
				return false, err
			}
		}
		return false, nil
	}
}

// take keeps a message of the client for a barrier to come. One that no barrier waits for is
// answered if it is a request, and otherwise dropped.
func (p *player) take(m message) error {
	if i := slices.IndexFunc(p.skipped, m.matches); i >= 0 {
		recorded := p.skipped[i]
		p.skipped = slices.Delete(p.skipped, i, i+1)
		return p.arrived(recorded, m)
	}
	left := 0
	for _, s := range p.steps {
		if s.dir == acp.ClientToAgent && s.messages[0].matches(m) {
			left++
		}
	}
	for _, w := range p.waiting {
		if w.matches(m) {
			left--
		}
	}
	if left > 0 {
		p.waiting = append(p.waiting, m)
		return nil
	}
	return p.refuse(m)
}

// required are the messages that a conversation cannot go on without. Others, such as the choice of a mode, may be left
// out.
var required = []string{
	v1.MethodInitialize, v1.MethodSessionNew, v1.MethodSessionLoad, v1.MethodSessionResume, v1.MethodSessionPrompt,
	v1.MethodSessionCancel,
}

// pass reports whether the client has sent what it sent in the recording, or need not: it has gone on
// to a later message, or waits for an answer itself.
func (p *player) pass(recorded message) (bool, error) {
	if i := slices.IndexFunc(p.waiting, recorded.matches); i >= 0 {
		m := p.waiting[i]
		p.waiting = slices.Delete(p.waiting, i, i+1)
		return true, p.arrived(recorded, m)
	}
	if recorded.kind == response || slices.Contains(required, recorded.method) || len(p.waiting) == 0 && !p.awaited() {
		return false, nil
	}
	p.skipped = append(p.skipped, recorded)
	if recorded.kind == request {
		p.asked[recorded.key()] = &asked{}
	}
	return true, nil
}

// awaited reports whether the client is waiting for an answer.
func (p *player) awaited() bool {
	for _, a := range p.asked {
		if a.open {
			return true
		}
	}
	return false
}

// arrived notes that the client has sent a message of the recording.
func (p *player) arrived(recorded, m message) error {
	if m.kind != request {
		return nil
	}
	p.paths.add(recorded.cwd(), m.cwd())
	a := &asked{id: m.id, open: true}
	if before := p.asked[recorded.key()]; before != nil && before.answer.object != nil {
		a.open = false
		p.asked[recorded.key()] = a
		return p.write(p.paths.in(before.answer.withID(m.id)))
	}
	p.asked[recorded.key()] = a
	return nil
}

// refuse answers a request that the recording does not have.
func (p *player) refuse(m message) error {
	if m.kind != request {
		return nil
	}
	e := acp.ErrMethodNotFound(m.method)
	if p.methods[m.method] {
		e = &acp.Error{Code: acp.CodeInternalError, Message: "the recording has no further " + m.method}
		if len(p.steps) == 0 {
			e.Message = "the recording has ended"
		}
	}
	line, err := json.Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *acp.Error      `json:"error"`
	}{"2.0", m.id, e})
	if err != nil {
		return fmt.Errorf("answer %s: %w", m.method, err)
	}
	return p.write(line)
}

// send sends what the agent sent, in the client's terms.
func (p *player) send(s step) error {
	if s.junk != "" {
		return p.write([]byte(s.junk))
	}
	var objects [][]byte
	for _, m := range s.messages {
		object := m.object
		if a := p.asked[m.key()]; m.kind == response && a != nil {
			if a.id == nil {
				a.answer = m
				continue
			}
			a.open = false
			object = m.withID(a.id)
		}
		objects = append(objects, p.paths.in(object))
	}
	switch {
	case len(objects) == 0:
		return nil
	case s.batch:
		return p.write(slices.Concat([]byte("["), bytes.Join(objects, []byte(",")), []byte("]")))
	}
	return p.write(objects[0])
}

func (p *player) write(line []byte) error {
	if _, err := p.out.Write(append(slices.Clip(line), '\n')); err != nil {
		return fmt.Errorf("write to the client: %w", err)
	}
	return nil
}
