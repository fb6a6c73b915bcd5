package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"
)

// stream is the jsonrpc2.ObjectStream over an agent's pipes. It sits between the raw lines, which may be anything, and
// jsonrpc2.Conn, which ends the connection at anything unexpected and re-encodes everything else. So jsonrpc2 is only
// ever given a skeleton, a message without its content and with an id of our own making; the content travels beside it,
// untouched: inbound in current, outbound in next. Notifications and requests from the peer, which are nearly all of
// the traffic and to which jsonrpc2 has nothing to add, bypass it.
type stream struct {
	lines   *bufio.Reader
	out     *writer
	traffic *Traffic
	log     *slog.Logger

	ready   chan struct{} // closed when the Conn can take messages
	discard atomic.Bool   // the connection has ended: what still arrives is read and dropped

	// Called on the reader goroutine.
	onNotification func(message)
	onRequest      func(message)
	onEnd          func(error) // nothing more will be read

	// Of the reader goroutine.
	waiting []message // the rest of the line
	page    []byte    // holds lines that were read, with room for more
	current message   // what jsonrpc2 was given last
	longest int       // bytes of the last line that was larger than the buffer, see readLine
	skipped int       // how many times something was skipped

	// Of whoever holds jsonrpc2's send lock.
	next outgoing

	mu      sync.Mutex
	lastID  uint64            // guarded by mu
	origins map[uint64]origin // guarded by mu: unanswered requests of the peer
}

// outgoing is a message that jsonrpc2 is about to send.
type outgoing struct {
	req  *jsonrpc2.Request
	resp *jsonrpc2.Response
}

// origin says where the answer to a request of the peer goes.
type origin struct {
	id    json.RawMessage // as it came
	batch *batch          // nil when it came alone
}

// batch gathers the answers to the requests of one JSON-RPC batch.
type batch struct {
	unanswered int
	answers    [][]byte
}

type kind int

const (
	notification kind = iota
	request
	response
)

// message is one JSON-RPC message of the peer.
type message struct {
	kind   kind
	id     uint64          // request: ours for it; response: of the request it answers
	peerID json.RawMessage // request: as it came
	method string
	params json.RawMessage // as they came; nil when absent
	result json.RawMessage // response without error
	err    *Error          // response: the error answer; request: why it is invalid
}

const (
	readBuffer   = 64 << 10 // bytes
	pageSize     = 16 << 10 // bytes
	maxLongest   = 1 << 20  // bytes
	maxFailures  = 8        // to find a message in a junk line
	maxWarnings  = 100      // in the log; the traffic has everything
	messageStart = `{"jsonrpc"`
)

func newStream(r io.Reader, out *writer, traffic *Traffic, log *slog.Logger) *stream {
	return &stream{
		lines:   bufio.NewReaderSize(r, readBuffer),
		out:     out,
		traffic: traffic,
		log:     log,
		ready:   make(chan struct{}),
		origins: make(map[uint64]origin),
	}
}

// ReadObject returns the skeleton of the next answer to jsonrpc2. It returns an error only at the end of the input.
func (s *stream) ReadObject(v any) error {
	<-s.ready
	for {
		for len(s.waiting) > 0 {
			m := s.waiting[0]
			s.waiting[0] = message{} // releases what it holds
			s.waiting = s.waiting[1:]
			switch m.kind {
			case notification:
				s.onNotification(m)
				continue
			case request:
				s.onRequest(m)
				continue
			}
			s.current = m
			return json.Unmarshal(m.skeleton(), v)
		}
		s.current = message{}
		if s.discard.Load() {
			// Read on, or an agent that is still writing could never exit by itself.
			_, _ = io.Copy(io.Discard, s.lines)
			return io.EOF
		}
		line, err := s.readLine()
		s.waiting = s.split(line)
		if err != nil && len(s.waiting) == 0 {
			s.onEnd(err)
			return err
		}
	}
}

// skeleton returns the part of an answer that jsonrpc2 needs.
func (m *message) skeleton() []byte {
	return append(strconv.AppendUint([]byte(`{"result":null,"id":`), m.id, 10), '}')
}

// readLine returns the next line, in memory that is never reused. At the end it returns what is left together with the
// error.
func (s *stream) readLine() ([]byte, error) {
	part, err := s.lines.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return s.keep(part), err
	}
	line := make([]byte, 0, s.longest+readBuffer) // the next one is often a little longer, as where an output grows
	for errors.Is(err, bufio.ErrBufferFull) {
		line = append(line, part...)
		part, err = s.lines.ReadSlice('\n')
	}
	line = append(line, part...)
	s.longest = min(len(line), maxLongest)
	return line, err
}

// keep copies a line. Short ones share a page, as they come by the thousand and leave, with the traffic record, in
// about the order they came in.
func (s *stream) keep(line []byte) []byte {
	if len(line) > pageSize/8 {
		return bytes.Clone(line)
	}
	if len(line) > cap(s.page)-len(s.page) {
		s.page = make([]byte, 0, pageSize)
	}
	from := len(s.page)
	s.page = append(s.page, line...)
	return s.page[from:len(s.page):len(s.page)]
}

// split returns the messages of a line, and records it.
func (s *stream) split(line []byte) []message {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	if msgs, ok := s.parse(line); ok {
		return msgs
	}
	return s.salvage(line)
}

// salvage returns the messages that stand among junk in a line, as when the agent or one of its libraries printed text
// without a newline. The junk goes into the record.
func (s *stream) salvage(line []byte) []message {
	var msgs []message
	from, at := 0, 0
	for failures := 0; failures < maxFailures; {
		i := bytes.Index(line[at:], []byte(messageStart))
		if i < 0 {
			break
		}
		at += i
		dec := json.NewDecoder(bytes.NewReader(line[at:]))
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			failures++
			at += len(messageStart)
			continue
		}
		s.drop(line[from:at])
		found, _ := s.parse(raw)
		msgs = append(msgs, found...)
		at += int(dec.InputOffset())
		from = at
	}
	s.drop(line[from:])
	return msgs
}

// drop records and logs junk.
func (s *stream) drop(junk []byte) {
	junk = bytes.TrimSpace(junk)
	if len(junk) == 0 {
		return
	}
	s.traffic.recordJunk(AgentToClient, junk)
	s.warn("skipped output that is not a JSON-RPC message", "text", shorten(junk))
}

// warn logs what was skipped, up to maxWarnings: an agent that prints its own log would fill ours.
func (s *stream) warn(what string, args ...any) {
	if s.skipped++; s.skipped <= maxWarnings {
		s.log.Warn(what, args...)
	}
}

// parse returns the messages of a line, and whether the line is one JSON object or array.
func (s *stream) parse(line []byte) ([]message, bool) {
	if line[0] == '[' && valid(line) {
		s.traffic.record(AgentToClient, line)
		return s.parseBatch(line), true
	}
	e, ok := readEnvelope(line)
	if !ok {
		return nil, false
	}
	s.traffic.record(AgentToClient, line)
	m, ok := s.message(e)
	if !ok {
		return nil, true
	}
	if m.kind == request {
		m.id = s.receive(origin{id: m.peerID})
	}
	return []message{m}, true
}

func (s *stream) parseBatch(line []byte) []message {
	var msgs []message
	b := &batch{}
	items := &scanner{data: line}
	for first := true; items.nextItem(first); first = false {
		item := items.raw()
		if item[0] != '{' {
			s.warn("dropped a batch item that is not a message", "item", shorten(item))
			continue
		}
		e, _ := readEnvelope(item) // the batch is valid
		if m, ok := s.message(e); ok {
			msgs = append(msgs, m)
			if m.kind == request {
				b.unanswered++
			}
		}
	}
	for i := range msgs {
		if msgs[i].kind == request {
			msgs[i].id = s.receive(origin{id: msgs[i].peerID, batch: b})
		}
	}
	return msgs
}

// envelope is the outer shape of every JSON-RPC message; what is absent is nil.
type envelope struct{ id, method, params, result, err json.RawMessage }

// readEnvelope reads an object without copying it, and reports whether it is one JSON object.
func readEnvelope(object []byte) (envelope, bool) {
	var e envelope
	c := checker{object}
	c.space()
	ok := c.object(0, func(name, value []byte) {
		switch string((&scanner{data: name}).name()) {
		case "id":
			e.id = value
		case "method":
			e.method = value
		case "params":
			e.params = value
		case "result":
			e.result = value
		case "error":
			e.err = value
		}
	})
	return e, ok && c.ended()
}

// message reads an envelope; it returns false for one that can only be dropped.
func (s *stream) message(e envelope) (message, bool) {
	if e.method != nil && string(e.method) != "null" {
		m := message{kind: notification, peerID: e.id, params: e.params}
		if e.id != nil {
			m.kind = request
		}
		if e.method[0] == '"' {
			m.method = (&scanner{data: e.method}).text()
		} else {
			if m.kind == notification {
				s.warn("dropped a notification whose method is not a string", "method", shorten(e.method))
				return m, false
			}
			m.err = &Error{Code: CodeInvalidRequest, Message: "Invalid request: method must be a string"}
		}
		return m, true
	}
	id, ok := callID(e.id)
	if !ok {
		s.warn("dropped a message that is neither a request nor an answer to one", "id", shorten(e.id),
			"error", shorten(e.err))
		return message{}, false
	}
	m := message{kind: response, id: id, result: e.result}
	if e.err != nil && string(e.err) != "null" {
		m.err, m.result = parseError(e.err), nil
	} else if m.result == nil {
		m.result = json.RawMessage("null")
	}
	return m, true
}

// receive notes a request of the peer and returns the id that stands for the peer's own, which may be of any type, and
// not even unique.
func (s *stream) receive(o origin) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	s.origins[s.lastID] = o
	return s.lastID
}

// willSend is jsonrpc2's OnSend: it is called under the send lock just before WriteObject, whose own argument would
// take several passes over the whole message to encode.
func (s *stream) willSend(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	s.next = outgoing{req: req, resp: resp}
}

// paramsField carries encoded params through jsonrpc2 unchanged.
const paramsField = "-"

// WriteObject queues the message that willSend announced. It never blocks.
func (s *stream) WriteObject(any) error {
	next := s.next
	s.next = outgoing{}
	if next.req != nil {
		return s.out.enqueue(requestFrame(next.req))
	}
	return s.answer(next.resp)
}

func requestFrame(req *jsonrpc2.Request) frame {
	head := []byte(`{"jsonrpc":"2.0",`)
	if !req.Notif {
		head = append(strconv.AppendUint(append(head, `"id":`...), req.ID.Num, 10), ',')
	}
	method, _ := encode(req.Method) // a string always encodes
	head = append(append(head, `"method":`...), method...)
	for _, f := range req.ExtraFields {
		if params, _ := f.Value.(json.RawMessage); params != nil && f.Name == paramsField {
			return frame{append(head, `,"params":`...), params, []byte("}\n")}
		}
	}
	return frame{head, nil, []byte("}\n")}
}

// answer queues an answer under the peer's id, or keeps it until the whole batch is answered.
func (s *stream) answer(resp *jsonrpc2.Response) error {
	s.mu.Lock()
	o, ok := s.origins[resp.ID.Num]
	delete(s.origins, resp.ID.Num)
	s.mu.Unlock()
	if !ok {
		return nil
	}
	head := append([]byte(`{"jsonrpc":"2.0","id":`), o.id...)
	var body []byte
	if resp.Error != nil {
		head = append(head, `,"error":`...)
		e := Error{Code: resp.Error.Code, Message: resp.Error.Message}
		if resp.Error.Data != nil {
			e.Data = *resp.Error.Data
		}
		var err error
		if body, err = encode(e); err != nil {
			return err
		}
	} else {
		head = append(head, `,"result":`...)
		body = *resp.Result
	}
	if o.batch == nil {
		return s.out.enqueue(frame{head, body, []byte("}\n")})
	}
	// Still under jsonrpc2's send lock, which guards the batch too.
	b := o.batch
	b.answers = append(b.answers, slices.Concat(head, body, []byte("}")))
	if b.unanswered--; b.unanswered > 0 {
		return nil
	}
	return s.out.enqueue(frame{[]byte("["), bytes.Join(b.answers, []byte(",")), []byte("]\n")})
}

// Close lets the writer finish. Reading goes on until the input ends.
func (s *stream) Close() error {
	s.discard.Store(true)
	s.out.close()
	return nil
}

// callID reads the id of an answer as one of ours: a positive integer, which some peers return as a string or with a
// zero fraction.
func callID(raw json.RawMessage) (uint64, bool) {
	if len(raw) > 1 && raw[0] == '"' {
		var text string
		_ = json.Unmarshal(raw, &text) // it is valid
		raw = json.RawMessage(text)
	}
	id, ok := integer(raw)
	return uint64(id), ok && id > 0
}

// integer reads a JSON number without a fractional part.
func integer(raw json.RawMessage) (int64, bool) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// shorten cuts text to fit a log line.
func shorten(text []byte) string {
	const most = 200 // bytes
	if len(text) <= most {
		return string(bytes.ToValidUTF8(text, []byte("�")))
	}
	return string(bytes.ToValidUTF8(text[:most], nil)) + "…"
}
