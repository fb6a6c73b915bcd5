package scene

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

	"github.com/acp-nvim/acp-nvim/test/must"
	"github.com/acp-nvim/acp-nvim/test/schema"
)

// This file has the agent that the test plays: its process, and the messages to and from it.

// puppetEnv names the socket at which a process of this test binary is to be an agent.
const puppetEnv = "ACP_SCENARIO_PUPPET"

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

// Stage is where agent processes meet the test.
type Stage struct {
	socket   string
	protocol int          // the version that the agents speak while the test has the words of version 1; 0 is for the test's own
	agents   chan *Puppet // in the order started, until the test takes them

	mu  sync.Mutex
	all []*Puppet // guarded by mu
}

// newStage listens for the agents of one Neovim. The end of the test validates all that the client has sent them.
func newStage(t *testing.T, dir string, protocol int) *Stage {
	t.Helper()
	schema.Validator(t) // before anything is started: without it the test cannot end well
	st := &Stage{socket: filepath.Join(dir, "agents.sock"), protocol: protocol, agents: make(chan *Puppet, 16)}
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
			p := &Puppet{
				T: t, orders: gob.NewEncoder(conn), asked: map[string]string{},
				changed: make(chan struct{}), Protocol: st.protocol,
			}
			if st.protocol == 2 {
				p.voice = newVoice()
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
			Validate(t, p.record, p.asked, p.Protocol)
			p.mu.Unlock()
		}
	})
	return st
}

// Agent waits for the next process of the agent `puppet`.
func (s *Scene) Agent() *Puppet {
	s.T.Helper()
	return s.AgentOf(s.stage)
}

// AgentOf is Agent for one that AddAgent has added.
func (s *Scene) AgentOf(st *Stage) *Puppet {
	s.T.Helper()
	var p *Puppet
	s.Await("an agent to be started", func() bool {
		if p == nil {
			select {
			case p = <-st.agents:
			default:
			}
		}
		return p != nil
	})
	p.Scene = s
	return p
}

// AgentsStarted is how many processes Agent has yet to take.
func (s *Scene) AgentsStarted() int { return len(s.stage.agents) }

// AddAgent configures one more agent that is what the test makes it.
func (s *Scene) AddAgent(name string) *Stage {
	s.T.Helper()
	dir := filepath.Join(s.Home, name)
	must.Do(s.T, os.Mkdir(dir, 0o700))
	st := newStage(s.T, dir, s.protocol)
	s.Lua(nil, `local name, self, socket, protocol = ...
		local c = vim.g.acp
		c.agents[name] = { title = name:sub(1, 1):upper() .. name:sub(2), command = { self }, env = { `+puppetEnv+` = socket },
			protocol = protocol }
		vim.g.acp = c`, name, Self, st.socket, max(1, s.protocol))
	return st
}

// Puppet is the test's end of one agent process. Its methods are for the test's goroutine.
type Puppet struct {
	T      *testing.T
	Scene  *Scene
	orders *gob.Encoder
	lastID int // of the agent's requests

	Protocol int // the version that the agent has answered; 0 stands for 1

	mu      sync.Mutex        // guards what follows
	heard   []Message         // requests and notifications of the client, not yet expected
	record  []Message         // all messages of the client
	answers []Message         // to the agent's requests, not yet taken
	asked   map[string]string // method by id of the agent's requests
	voice   *voice            // of an agent that translates what the test says
	closed  bool
	changed chan struct{} // closed and replaced whenever one of the above changes
}

func (p *Puppet) read(conn net.Conn) {
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadBytes('\n')
		p.mu.Lock()
		if err != nil {
			p.closed = true
		} else {
			m := Message{Line: line}
			if err := json.Unmarshal(line, &m); err != nil {
				p.T.Errorf("the client sent no JSON: %v: %s", err, line)
			}
			p.record = append(p.record, m)
			if p.voice != nil {
				m = p.voice.hear(m)
			}
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

// Validate checks messages of the client against the schema of a version of the protocol, which is 1
// where it is 0; asked has the methods of the agent's requests by id.
func Validate(t *testing.T, messages []Message, asked map[string]string, protocol int) {
	t.Helper()
	stable, drafts := schema.Validator, schema.Drafts
	if protocol == 2 {
		stable, drafts = schema.ValidatorV2, schema.DraftsV2
	}
	for _, m := range messages {
		v := stable(t)
		if m.Method != "" && !v.Has(m.Method, schema.Request, schema.Agent) && !v.Has(m.Method, schema.Notification, schema.Agent) {
			v = drafts(t)
		}
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

func (p *Puppet) order(o order) {
	p.T.Helper()
	if err := p.orders.Encode(o); err != nil {
		p.T.Fatalf("tell the agent: %v", err)
	}
}

// Write has the agent write bytes to its standard output.
func (p *Puppet) Write(text string) {
	p.T.Helper()
	p.order(order{Stdout: []byte(text)})
}

// TryToWrite is Write for the background: the agent may end meanwhile.
func (p *Puppet) TryToWrite(text string) { _ = p.orders.Encode(order{Stdout: []byte(text)}) }

// Exit ends the agent, with last words on its standard error.
func (p *Puppet) Exit(code int, words string) {
	p.T.Helper()
	p.order(order{Stderr: []byte(words), Exit: &code})
}

func (p *Puppet) send(m obj) {
	p.T.Helper()
	p.Write(p.encode(m))
}

func (p *Puppet) encode(m obj) (line string) {
	p.T.Helper()
	m["jsonrpc"] = "2.0"
	said := []obj{m}
	if p.voice != nil {
		p.mu.Lock()
		said = p.voice.translate(m)
		p.mu.Unlock()
	}
	for _, m := range said {
		text, err := json.Marshal(m)
		if err != nil {
			p.T.Fatalf("encode %v: %v", m, err)
		}
		line += string(text) + "\n"
	}
	return line
}

// await waits until find, under the lock, gives something.
func (p *Puppet) await(what string, find func() (Message, bool)) Message {
	p.T.Helper()
	var m Message
	p.Scene.Await(what, func() (ok bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		m, ok = find()
		return ok
	})
	return m
}

// Expect waits for the client's next request or notification, which must be of that method.
func (p *Puppet) Expect(method string) Message {
	p.T.Helper()
	m := p.await("the client's "+method, func() (Message, bool) {
		if len(p.heard) == 0 {
			return Message{}, false
		}
		m := p.heard[0]
		p.heard = p.heard[1:]
		return m, true
	})
	if m.Method != method {
		p.T.Fatalf("the client sent %s, expected %s: %s", cmp.Or(m.Method, "an answer"), method, m)
	}
	return m
}

// ExpectLater is Expect that passes over what comes before.
func (p *Puppet) ExpectLater(method string) Message {
	p.T.Helper()
	return p.await("the client's "+method, func() (Message, bool) {
		for len(p.heard) > 0 {
			m := p.heard[0]
			p.heard = p.heard[1:]
			if m.Method == method {
				return m, true
			}
		}
		return Message{}, false
	})
}

// Silent fails the test when the client has sent what the test has not expected.
func (p *Puppet) Silent() {
	p.T.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.heard {
		p.T.Errorf("the client sent %s", m)
	}
	for _, m := range p.answers {
		p.T.Errorf("the client sent %s", m)
	}
}

// Ended reports whether the client has closed the agent's input; AwaitEnd waits for that while Neovim lives.
func (p *Puppet) Ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// AwaitEnd waits until the client has closed the agent's input.
func (p *Puppet) AwaitEnd() {
	p.T.Helper()
	p.Scene.Await("the end of the agent", p.Ended)
}

// Received are all messages of the client until now.
func (p *Puppet) Received() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.record)
}

// AnswersUntilNow are the answers that Answer has not taken, and a channel that is closed when there is more.
func (p *Puppet) AnswersUntilNow() (answers []Message, more <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.answers), p.changed
}

// Reply answers a request of the client.
func (p *Puppet) Reply(m Message, result any) {
	p.T.Helper()
	p.send(obj{"id": m.ID, "result": result})
}

// Refuse answers a request of the client with an error.
func (p *Puppet) Refuse(m Message, code int, text string, data any) {
	p.T.Helper()
	e := obj{"code": code, "message": text}
	if data != nil {
		e["data"] = data
	}
	p.send(obj{"id": m.ID, "error": e})
}

// Call sends a request of the agent's; Answer waits for what the client makes of it.
func (p *Puppet) Call(method string, params any) (id int) {
	p.T.Helper()
	id, line := p.Request(method, params)
	p.Write(line)
	return id
}

// Request is the line of a request that has yet to be written.
func (p *Puppet) Request(method string, params any) (id int, line string) {
	p.T.Helper()
	p.lastID++
	p.mu.Lock()
	p.asked[fmt.Sprint(p.lastID)] = method
	p.mu.Unlock()
	return p.lastID, p.encode(obj{"id": p.lastID, "method": method, "params": params})
}

// Answer waits for the answer to a call. A second one to the same call fails the test at Silent.
func (p *Puppet) Answer(id int) Message {
	p.T.Helper()
	return p.AnswerTo(fmt.Sprint(id))
}

// AnswerTo is Answer for any id, as JSON.
func (p *Puppet) AnswerTo(id string) Message {
	p.T.Helper()
	p.mu.Lock()
	method := p.asked[id]
	p.mu.Unlock()
	return p.await("the answer to "+method+" "+id, func() (Message, bool) {
		for i, m := range p.answers {
			if string(m.ID) == id {
				p.answers = slices.Delete(p.answers, i, i+1)
				return m, true
			}
		}
		return Message{}, false
	})
}

// Ask is Call and Answer.
func (p *Puppet) Ask(method string, params obj) Message {
	p.T.Helper()
	return p.Answer(p.Call(method, params))
}

// Answered reports whether the client has answered a call.
func (p *Puppet) Answered(id int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.answers, func(m Message) bool { return string(m.ID) == fmt.Sprint(id) })
}

// Notify sends a notification.
func (p *Puppet) Notify(method string, params any) {
	p.T.Helper()
	p.send(obj{"method": method, "params": params})
}
