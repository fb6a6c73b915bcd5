// Package acp connects to one agent: its process, JSON-RPC over its standard input and output however malformed, a
// record of the traffic, and decoding of the protocol's types. It knows nothing of an editor.
package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Handler receives what the peer sends of its own accord. Both methods are called on the reader goroutine in wire order
// and must not block; a panic ends neither the connection nor the program.
type Handler interface {
	// HandleRequest takes a request, to be answered at any time.
	HandleRequest(*Request)
	// HandleNotification takes a notification; params is nil when absent.
	HandleNotification(method string, params json.RawMessage)
}

// cancelRequest is handled here and never seen by a Handler (schema: CancelRequestNotification).
const cancelRequest = "$/cancel_request"

// Conn is a JSON-RPC connection to one agent over its standard input and output. All methods may be called from any
// goroutine, callbacks included, and none of them blocks on the peer.
type Conn struct {
	handler Handler
	log     *slog.Logger
	rpc     *jsonrpc2.Conn
	stream  *stream
	out     *writer
	done    chan struct{}

	// drainGrace is how long the output of a peer that no longer takes input is still read: it may have said something
	// before it died.
	drainGrace time.Duration

	// delivering is held while a callback of the Conn's user runs: there is never more than one.
	delivering sync.Mutex

	mu       sync.Mutex
	err      error               // guarded by mu: why the connection has ended, nil before
	lastID   uint64              // guarded by mu: of our calls, which start at 1
	calls    map[uint64]*call    // guarded by mu: pending ones; nil after the end
	requests map[uint64]*Request // guarded by mu: unanswered ones; nil after the end
	drain    *time.Timer         // guarded by mu
}

// call is one of our requests, waiting for its answer.
type call struct {
	done      func(json.RawMessage, error)
	cancelled bool // guarded by Conn.mu
}

// Option configures a Conn.
type Option func(*Conn)

// WithTraffic records all messages of the connection.
func WithTraffic(t *Traffic) Option {
	return func(c *Conn) { c.out.traffic = t }
}

// WithLogger logs what was skipped or dropped. By default nothing is logged.
func WithLogger(l *slog.Logger) Option {
	return func(c *Conn) { c.log = l }
}

// NewConn starts reading messages from stdout, the agent's, and returns the connection. It closes stdin when the
// connection ends, but never stdout, which it reads to the end even then so that the agent can exit in its own way: the
// reader goroutine lives until stdout's owner has closed it.
func NewConn(stdout io.Reader, stdin io.WriteCloser, h Handler, opts ...Option) *Conn {
	c := &Conn{
		handler:    h,
		log:        slog.New(slog.DiscardHandler),
		done:       make(chan struct{}),
		drainGrace: time.Second,
		calls:      make(map[uint64]*call),
		requests:   make(map[uint64]*Request),
		out: &writer{
			w:          stdin,
			limit:      64 << 20, // the message that fills the queue still goes in, the next one ends the connection
			stallAfter: 10 * time.Second,
			flushGrace: 200 * time.Millisecond,
		},
	}
	for _, opt := range opts {
		opt(c)
	}
	c.out.onError = c.writeFailed
	c.out.start()
	c.stream = newStream(stdout, c.out, c.out.traffic, c.log)
	c.stream.onNotification = c.handleNotification
	c.stream.onRequest = c.handleRequest
	c.stream.onEnd = c.readEnded
	c.rpc = jsonrpc2.NewConn(context.Background(), c.stream, noRequests{},
		jsonrpc2.OnRecv(c.received),
		jsonrpc2.OnSend(c.stream.willSend),
		jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	close(c.stream.ready)
	return c
}

// Call sends a request. done is called exactly once, perhaps before Call has returned, but never by Call itself nor
// concurrently with another callback: with the result or an *Error, on the reader goroutine, in wire order with the
// messages around the answer; with an error that is ErrClosed if the connection has ended; or with an *Error if params
// cannot be encoded.
//
// cancel asks the peer to abandon the request, with $/cancel_request. The answer still comes, when the peer sends it.
func (c *Conn) Call(method string, params any, done func(result json.RawMessage, err error)) (cancel func()) {
	raw, err := encodeParams(params)
	if err != nil {
		err = &Error{Code: CodeInvalidParams, Message: fmt.Sprintf("encode params of %s: %v", method, err)}
		go c.deliver(func() { done(nil, err) })
		return func() {}
	}
	c.mu.Lock()
	if err := c.err; err != nil {
		c.mu.Unlock()
		go c.deliver(func() { done(nil, err) })
		return func() {}
	}
	c.lastID++
	id := c.lastID
	c.calls[id] = &call{done: done}
	c.mu.Unlock()

	// An error here means that the connection ends, which answers the call.
	_, _ = c.rpc.DispatchCall(context.Background(), method, nil,
		jsonrpc2.PickID(jsonrpc2.ID{Num: id}), jsonrpc2.ExtraField(paramsField, raw))
	return func() { c.cancelCall(id) }
}

func (c *Conn) cancelCall(id uint64) {
	c.mu.Lock()
	call := c.calls[id]
	if call == nil || call.cancelled {
		c.mu.Unlock()
		return
	}
	call.cancelled = true
	c.mu.Unlock()
	_ = c.Notify(cancelRequest, struct {
		RequestID uint64 `json:"requestId"`
	}{id})
}

// Notify sends a notification. The error is ErrClosed, a *QueueFullError, or says that params cannot be encoded.
func (c *Conn) Notify(method string, params any) error {
	raw, err := encodeParams(params)
	if err != nil {
		return fmt.Errorf("encode params of %s: %w", method, err)
	}
	if err := c.Err(); err != nil {
		return err
	}
	err = c.rpc.Notify(context.Background(), method, nil, jsonrpc2.ExtraField(paramsField, raw))
	if errors.Is(err, jsonrpc2.ErrClosed) {
		return ErrClosed
	}
	return err
}

// encodeParams returns nil for nil: then the message has no params.
func encodeParams(params any) (json.RawMessage, error) {
	if params == nil {
		return nil, nil
	}
	return encode(params)
}

// Done is closed when the connection has ended and everything pending has been notified.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err says why the connection has ended: an error that is ErrClosed, and is or
// wraps its cause, such as ErrPeerClosed or a *QueueFullError. It is nil before.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Stalled is closed once the peer has not taken a single byte for ten seconds although there was
// something to write.
func (c *Conn) Stalled() <-chan struct{} { return c.out.stalled }

// Close ends the connection: pending calls fail, the contexts of unanswered requests are cancelled, and what is queued
// gets a fifth of a second to be written before stdin is closed. It does not wait: see Done. It always returns nil.
func (c *Conn) Close() error {
	c.end(nil)
	return nil
}

// end ends the connection, once.
func (c *Conn) end(cause error) {
	err := &closedError{cause}
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	calls, requests := c.calls, c.requests
	c.calls, c.requests = nil, nil
	if c.drain != nil {
		c.drain.Stop()
	}
	c.mu.Unlock()

	for _, r := range requests {
		r.cancel(err)
	}
	_ = c.rpc.Close()
	go func() { // for end may itself be called by a callback
		for _, id := range slices.Sorted(maps.Keys(calls)) {
			c.deliver(func() { calls[id].done(nil, err) })
		}
		<-c.out.done
		close(c.done)
	}()
}

// readEnded is called on the reader goroutine when there is nothing more to read.
func (c *Conn) readEnded(err error) {
	if errors.Is(err, io.EOF) {
		c.end(ErrPeerClosed)
		return
	}
	c.end(fmt.Errorf("read from the agent: %w", err))
}

// writeFailed ends the connection: at once if the queue is full, otherwise when whatever the peer said before it
// stopped reading has been read.
func (c *Conn) writeFailed(err error) {
	var full *QueueFullError
	if errors.As(err, &full) {
		c.end(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.drain = time.AfterFunc(c.drainGrace, func() { c.end(err) })
	}
}

// deliver runs a callback of the Conn's user, after the one that is running.
func (c *Conn) deliver(f func()) (panicked bool) {
	c.delivering.Lock()
	defer c.delivering.Unlock()
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("panic in a handler", "panic", p, "stack", string(debug.Stack()))
			panicked = true
		}
	}()
	f()
	return false
}

// received is jsonrpc2's OnRecv: unlike jsonrpc2's own delivery of answers, it runs on the reader goroutine.
func (c *Conn) received(*jsonrpc2.Request, *jsonrpc2.Response) {
	m := c.stream.current
	// The call is looked up inside: then either this or end has it.
	c.deliver(func() {
		c.mu.Lock()
		call, ended := c.calls[m.id], c.err != nil
		delete(c.calls, m.id)
		c.mu.Unlock()
		switch {
		case call != nil && m.err != nil:
			call.done(nil, m.err)
		case call != nil:
			call.done(m.result, nil)
		case !ended:
			c.log.Warn("dropped an answer to no pending request", "id", m.id)
		}
	})
}

// handleNotification runs on the reader goroutine.
func (c *Conn) handleNotification(m message) {
	if m.method == cancelRequest {
		c.cancelRequest(m.params)
		return
	}
	c.deliver(func() {
		if c.Err() == nil {
			c.handler.HandleNotification(m.method, m.params)
		}
	})
}

// noRequests is the handler that jsonrpc2 must have: the stream gives it no requests.
type noRequests struct{}

func (noRequests) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {}

// handleRequest runs on the reader goroutine.
func (c *Conn) handleRequest(m message) {
	req := &Request{Method: m.method, Params: m.params, conn: c, id: m.id, peerID: m.peerID}
	req.ctx, req.cancel = context.WithCancelCause(context.Background())
	c.mu.Lock()
	ended := c.err != nil
	if !ended {
		c.requests[m.id] = req
	}
	c.mu.Unlock()
	switch {
	case ended:
		req.cancel(ErrClosed)
	case m.err != nil:
		req.ReplyError(m.err)
	case m.method == cancelRequest: // a peer that wants it confirmed
		c.cancelRequest(m.params)
		req.Reply(nil)
	case c.deliver(func() {
		if c.Err() == nil {
			c.handler.HandleRequest(req)
		}
	}):
		req.ReplyError(&Error{Code: CodeInternalError, Message: "Internal error"})
	}
}

// cancelRequest cancels the contexts of the peer's unanswered requests with the given id: one, unless the peer used the
// id twice.
func (c *Conn) cancelRequest(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil || p.RequestID == nil {
		c.log.Warn("dropped a $/cancel_request without a request id", "params", shorten(params))
		return
	}
	var found []*Request
	c.mu.Lock()
	for _, r := range c.requests {
		if sameID(r.peerID, p.RequestID) {
			found = append(found, r)
		}
	}
	c.mu.Unlock()
	for _, r := range found {
		r.cancel(context.Canceled)
	}
}

// sameID compares ids by value: a string may be escaped in two ways.
func sameID(a, b json.RawMessage) bool {
	if string(a) == string(b) {
		return true
	}
	var x, y string
	return a[0] == '"' && b[0] == '"' &&
		json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && x == y
}

// Request is a request of the peer. It stays answerable, by any goroutine and at any time, until the connection ends.
type Request struct {
	Method string
	Params json.RawMessage // as they came; nil when absent

	conn     *Conn
	id       uint64          // the stream's
	peerID   json.RawMessage // as it came
	ctx      context.Context
	cancel   context.CancelCauseFunc
	answered atomic.Bool
}

// Context is cancelled when the peer withdraws the request with $/cancel_request, when the connection ends, and when
// the request has been answered. A cancelled request still needs an answer.
func (r *Request) Context() context.Context { return r.ctx }

// Reply answers with a result; nil is null. Only the first of Reply and ReplyError counts.
func (r *Request) Reply(result any) {
	if !r.claim() {
		return
	}
	raw, err := encode(result)
	if err != nil {
		r.conn.log.Error("cannot encode the answer to a request", "method", r.Method, "err", err)
		r.send(&jsonrpc2.Response{Error: rpcError(fmt.Errorf("encode result of %s: %w", r.Method, err))})
		return
	}
	r.send(&jsonrpc2.Response{Result: (*json.RawMessage)(&raw)})
}

// ReplyError answers with an error: an *Error that err is or wraps as it is, context.Canceled as CodeRequestCancelled,
// any other as CodeInternalError with its message. Only the first of Reply and ReplyError counts.
func (r *Request) ReplyError(err error) {
	if r.claim() {
		r.send(&jsonrpc2.Response{Error: rpcError(err)})
	}
}

// claim reports whether the caller is the one who may answer.
func (r *Request) claim() bool { return r.answered.CompareAndSwap(false, true) }

func (r *Request) send(resp *jsonrpc2.Response) {
	c := r.conn
	c.mu.Lock()
	delete(c.requests, r.id)
	c.mu.Unlock()
	resp.ID = jsonrpc2.ID{Num: r.id}
	// An error means that the connection has ended, or is ending because of this.
	_ = c.rpc.SendResponse(context.Background(), resp)
	r.cancel(context.Canceled)
}

func rpcError(err error) *jsonrpc2.Error {
	e := toWire(err)
	wire := &jsonrpc2.Error{Code: e.Code, Message: e.Message}
	if len(e.Data) > 0 {
		wire.Data = &e.Data
	}
	return wire
}
