package scenario

import (
	"bufio"
	"cmp"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/acp-nvim/acp-nvim/test/schema"
)

// puppetEnv names the socket at which a process of this test binary is to be an agent.
const puppetEnv = "ACP_SCENARIO_PUPPET"

// obj is a JSON object of the protocol.
type obj = map[string]any

// order is what the test has its agent process do: write, or end.
type order struct {
	Stdout, Stderr []byte
	Exit           *int
}

// bePuppet is an agent process without a will of its own: what it reads goes to the test, and it
// does what the test says, until its input ends.
func bePuppet(socket string) int {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	exit := make(chan int, 2)
	go func() {
		_, _ = io.Copy(conn, os.Stdin)
		exit <- 0
	}()
	go func() {
		orders := gob.NewDecoder(conn)
		for {
			var o order
			if err := orders.Decode(&o); err != nil {
				exit <- 0
				return
			}
			_, _ = os.Stderr.Write(o.Stderr)
			_, _ = os.Stdout.Write(o.Stdout)
			if o.Exit != nil {
				exit <- *o.Exit
				return
			}
		}
	}()
	return <-exit
}

// stage is where agent processes meet the test.
type stage struct {
	socket string
	agents chan *puppet // in the order started, until the test takes them

	mu  sync.Mutex
	all []*puppet // guarded by mu
}

// newStage listens for the agents of one Neovim. The end of the test validates all that the client
// has sent them.
func newStage(t *testing.T, dir string) *stage {
	t.Helper()
	schema.Validator(t) // before anything is started: without it the test cannot end well
	st := &stage{socket: filepath.Join(dir, "agents.sock"), agents: make(chan *puppet, 16)}
	listener, err := net.Listen("unix", st.socket)
	if err != nil {
		t.Fatalf("listen for agents: %v", err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p := &puppet{
				t: t, orders: gob.NewEncoder(conn), asked: map[string]string{},
				changed: make(chan struct{}),
			}
			go p.read(conn)
			st.mu.Lock()
			st.all = append(st.all, p)
			st.mu.Unlock()
			st.agents <- p
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		st.mu.Lock()
		defer st.mu.Unlock()
		for _, p := range st.all {
			p.mu.Lock()
			validate(t, p.record, p.asked)
			p.mu.Unlock()
		}
	})
	return st
}

// puppet is the test's end of one agent process. Its methods are for the test's goroutine.
type puppet struct {
	t      *testing.T
	scene  *scene
	orders *gob.Encoder
	lastID int // of the agent's requests

	mu      sync.Mutex        // guards what follows
	heard   []message         // requests and notifications of the client, not yet expected
	record  []message         // all messages of the client
	answers []message         // to the agent's requests, not yet taken
	asked   map[string]string // method by id of the agent's requests
	closed  bool
	changed chan struct{} // closed and replaced whenever one of the above changes
}

// message is one of the client's messages.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`

	line []byte
}

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (m message) String() string { return string(m.line) }

// get is a value inside the params or the result, by the keys that lead to it.
func (m message) get(keys ...string) any {
	var v any
	if json.Unmarshal(slices.Concat(m.Params, m.Result), &v) != nil {
		return nil
	}
	for _, key := range keys {
		fields, _ := v.(obj)
		v = fields[key]
	}
	return v
}

// text is get for strings.
func (m message) text(keys ...string) string {
	s, _ := m.get(keys...).(string)
	return s
}

func (p *puppet) read(conn net.Conn) {
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadBytes('\n')
		p.mu.Lock()
		if err != nil {
			p.closed = true
		} else {
			m := message{line: line}
			if err := json.Unmarshal(line, &m); err != nil {
				p.t.Errorf("the client sent no JSON: %v: %s", err, line)
			}
			p.record = append(p.record, m)
			if m.Method != "" {
				p.heard = append(p.heard, m)
			} else {
				p.answers = append(p.answers, m)
			}
		}
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
		if err != nil {
			conn.Close()
			return
		}
	}
}

// validate checks messages of the client against the schema; asked has the methods of the agent's
// requests by id.
func validate(t *testing.T, messages []message, asked map[string]string) {
	t.Helper()
	v := schema.Validator(t)
	for _, m := range messages {
		var err error
		switch {
		case m.Method == "session/set_model", strings.HasPrefix(m.Method, "_"): // the schema does not know it
		case m.Method != "" && m.ID != nil:
			err = v.Check(m.Method, schema.Request, schema.Agent, m.Params)
		case m.Method != "":
			err = v.Check(m.Method, schema.Notification, schema.Agent, m.Params)
		case m.Error != nil:
			raw, _ := json.Marshal(m.Error)
			err = v.CheckError(raw)
		default:
			if method := asked[string(m.ID)]; v.Has(method, schema.Response, schema.Client) {
				err = v.Check(method, schema.Response, schema.Client, m.Result)
			}
		}
		if err != nil {
			t.Errorf("the client sent what the schema does not allow: %v\n%s", err, m)
		}
	}
}

func (p *puppet) order(o order) {
	p.t.Helper()
	if err := p.orders.Encode(o); err != nil {
		p.t.Fatalf("tell the agent: %v", err)
	}
}

// write has the agent write bytes to its standard output.
func (p *puppet) write(text string) {
	p.t.Helper()
	p.order(order{Stdout: []byte(text)})
}

// exit ends the agent, with last words on its standard error.
func (p *puppet) exit(code int, words string) {
	p.t.Helper()
	p.order(order{Stderr: []byte(words), Exit: &code})
}

// tryToWrite is write for the background: the agent may end meanwhile.
func (p *puppet) tryToWrite(text string) { _ = p.orders.Encode(order{Stdout: []byte(text)}) }

func (p *puppet) send(m obj) {
	p.t.Helper()
	p.write(p.encode(m))
}

func (p *puppet) encode(m obj) (line string) {
	p.t.Helper()
	m["jsonrpc"] = "2.0"
	text, err := json.Marshal(m)
	if err != nil {
		p.t.Fatalf("encode %v: %v", m, err)
	}
	return string(text) + "\n"
}

// await waits until find, under the lock, gives something.
func (p *puppet) await(what string, find func() (message, bool)) message {
	p.t.Helper()
	var m message
	p.scene.Await(what, func() (ok bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		m, ok = find()
		return ok
	})
	return m
}

// expect waits for the client's next request or notification, which must be of that method.
func (p *puppet) expect(method string) message {
	p.t.Helper()
	m := p.await("the client's "+method, func() (message, bool) {
		if len(p.heard) == 0 {
			return message{}, false
		}
		m := p.heard[0]
		p.heard = p.heard[1:]
		return m, true
	})
	if m.Method != method {
		p.t.Fatalf("the client sent %s, expected %s: %s", cmp.Or(m.Method, "an answer"), method, m)
	}
	return m
}

// silent fails the test when the client has sent what the test has not expected.
func (p *puppet) silent() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.heard {
		p.t.Errorf("the client sent %s", m)
	}
	for _, m := range p.answers {
		p.t.Errorf("the client sent %s", m)
	}
}

// ended reports whether the client has closed the agent's input; awaitEnd waits for that while Neovim lives.
func (p *puppet) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// received are all messages of the client until now.
func (p *puppet) received() []message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.record)
}

// answersUntilNow are the answers that answer has not taken, and a channel that is closed when there is more.
func (p *puppet) answersUntilNow() (answers []message, more <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.answers), p.changed
}

// awaitEnd waits until the client has closed the agent's input.
func (p *puppet) awaitEnd() {
	p.t.Helper()
	p.scene.Await("the end of the agent", p.ended)
}

// reply answers a request of the client.
func (p *puppet) reply(m message, result any) {
	p.t.Helper()
	p.send(obj{"id": m.ID, "result": result})
}

func (p *puppet) refuse(m message, code int, text string, data any) {
	p.t.Helper()
	e := obj{"code": code, "message": text}
	if data != nil {
		e["data"] = data
	}
	p.send(obj{"id": m.ID, "error": e})
}

// call sends a request of the agent's; answer waits for what the client makes of it.
func (p *puppet) call(method string, params obj) (id int) {
	p.t.Helper()
	id, line := p.request(method, params)
	p.write(line)
	return id
}

// request is the line of a request that has yet to be written.
func (p *puppet) request(method string, params obj) (id int, line string) {
	p.t.Helper()
	p.lastID++
	p.mu.Lock()
	p.asked[fmt.Sprint(p.lastID)] = method
	p.mu.Unlock()
	return p.lastID, p.encode(obj{"id": p.lastID, "method": method, "params": params})
}

// answer waits for the answer to a call. A second one to the same call fails the test at silent.
func (p *puppet) answer(id int) message {
	p.t.Helper()
	return p.answerTo(fmt.Sprint(id))
}

// answerTo is answer for any id, as JSON.
func (p *puppet) answerTo(id string) message {
	p.t.Helper()
	p.mu.Lock()
	method := p.asked[id]
	p.mu.Unlock()
	return p.await("the answer to "+method+" "+id, func() (message, bool) {
		for i, m := range p.answers {
			if string(m.ID) == id {
				p.answers = slices.Delete(p.answers, i, i+1)
				return m, true
			}
		}
		return message{}, false
	})
}

// ask is call and answer.
func (p *puppet) ask(method string, params obj) message {
	p.t.Helper()
	return p.answer(p.call(method, params))
}

// answered tells whether the client has answered a call.
func (p *puppet) answered(id int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.answers, func(m message) bool { return string(m.ID) == fmt.Sprint(id) })
}

// notify sends a notification.
func (p *puppet) notify(method string, params obj) {
	p.t.Helper()
	p.send(obj{"method": method, "params": params})
}

// remote is the id that a puppet gives its n-th session.
func remote(n int) string { return fmt.Sprintf("s-%d", n) }

// update sends a session/update of the first session.
func (p *puppet) update(kind string, fields obj) {
	p.t.Helper()
	p.updateIn(remote(1), kind, fields)
}

func (p *puppet) updateIn(session, kind string, fields obj) {
	p.t.Helper()
	u := obj{"sessionUpdate": kind}
	for k, v := range fields {
		u[k] = v
	}
	p.notify("session/update", obj{"sessionId": session, "update": u})
}

// say streams a text as one chunk.
func (p *puppet) say(text string) {
	p.t.Helper()
	p.update("agent_message_chunk", obj{"content": obj{"type": "text", "text": text}})
}

func (p *puppet) think(text string) {
	p.t.Helper()
	p.update("agent_thought_chunk", obj{"content": obj{"type": "text", "text": text}})
}

// begin answers initialize and session/new.
func (p *puppet) begin() {
	p.t.Helper()
	p.initialize(nil)
	p.newSession(1)
}

// initialize answers the first request; extra adds to the answer.
func (p *puppet) initialize(extra obj) {
	p.t.Helper()
	answer := obj{
		"protocolVersion":   1,
		"agentInfo":         obj{"name": "puppet", "version": "1"},
		"agentCapabilities": obj{"sessionCapabilities": obj{"close": obj{}}},
		"authMethods":       []any{},
	}
	for k, v := range extra {
		answer[k] = v
	}
	p.reply(p.expect("initialize"), answer)
}

// newSession answers session/new with the n-th session's id.
func (p *puppet) newSession(n int) {
	p.t.Helper()
	p.reply(p.expect("session/new"), obj{"sessionId": remote(n)})
}

// prompted waits for a prompt and gives it with its text.
func (p *puppet) prompted() (message, string) {
	p.t.Helper()
	m := p.expect("session/prompt")
	blocks, _ := m.get("prompt").([]any)
	var texts []string
	for _, b := range blocks {
		if block, _ := b.(obj); block["type"] == "text" {
			text, _ := block["text"].(string)
			texts = append(texts, text)
		}
	}
	return m, strings.Join(texts, "\n")
}

// stop ends a turn.
func (p *puppet) stop(prompt message, reason string) {
	p.t.Helper()
	p.reply(prompt, obj{"stopReason": reason})
}

// permission asks for permission for a call with options a, b, ... named so.
func (p *puppet) permission(call obj, options ...obj) (id int) {
	p.t.Helper()
	if options == nil {
		options = []obj{}
	}
	return p.call("session/request_permission", obj{"sessionId": remote(1), "toolCall": call, "options": options})
}

// yesNo are options as most agents have them.
var yesNo = []obj{
	{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
	{"optionId": "always", "name": "Yes, always", "kind": "allow_always"},
	{"optionId": "no", "name": "No", "kind": "reject_once"},
}
