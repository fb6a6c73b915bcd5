package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acp-nvim/acp-nvim/test/check"
	"github.com/acp-nvim/acp-nvim/test/must"
)

// never is so long that what waits for it waits in vain.
const never = must.Patience

// peer is the other end of a Conn: it sends raw text and gets raw lines.
type peer struct {
	t     *testing.T
	conn  *Conn
	out   *os.File // the agent's stdout
	in    *os.File // the agent's stdin
	lines chan string
}

// connect starts a Conn over real pipes.
func connect(t *testing.T, h Handler, opts ...Option) *peer {
	t.Helper()
	p := connectUnread(t, h, opts...)
	p.lines = make(chan string, 1000)
	go func() {
		defer close(p.lines)
		r := bufio.NewReader(p.in)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				p.lines <- strings.TrimSuffix(line, "\n")
			}
			if err != nil {
				return
			}
		}
	}()
	return p
}

func queueLimit(bytes int) Option { return func(c *Conn) { c.out.limit = bytes } }

func stallAfter(d time.Duration) Option { return func(c *Conn) { c.out.stallAfter = d } }

// connectUnread is connect with an agent that does not read.
func connectUnread(t *testing.T, h Handler, opts ...Option) *peer {
	t.Helper()
	outR, outW, err := os.Pipe()
	must.Do(t, err)
	inR, inW, err := os.Pipe()
	must.Do(t, err)
	p := &peer{t: t, out: outW, in: inR, conn: NewConn(outR, inW, h, opts...)}
	t.Cleanup(func() {
		p.conn.Close()
		must.Receive(t, "the end of the connection", p.conn.Done())
		outW.Close()
		inR.Close()
		outR.Close()
	})
	return p
}

func (p *peer) send(format string, args ...any) {
	p.t.Helper()
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	if _, err := io.WriteString(p.out, format+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// next returns the next line from the Conn.
func (p *peer) next() string {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.t.Fatal("stdin was closed, expected a line")
		}
		return line
	case <-time.After(never):
		p.t.Fatal("no line came")
	}
	return ""
}

func (p *peer) expect(want string) {
	p.t.Helper()
	if got := p.next(); got != want {
		p.t.Fatalf("sent\n%s\nwant\n%s", got, want)
	}
}

// events is a Handler that writes down everything it gets.
type events struct {
	log      chan string
	requests chan *Request
}

func newEvents() *events {
	return &events{log: make(chan string, 100_000), requests: make(chan *Request, 1000)}
}

func (e *events) HandleNotification(method string, params json.RawMessage) {
	e.log <- "notification " + method + " " + string(params)
}

func (e *events) HandleRequest(r *Request) {
	e.log <- "request " + r.Method + " " + string(r.Params)
	e.requests <- r
}

// done is a callback for Call that writes down what it gets.
func (e *events) done(name string) func(json.RawMessage, error) {
	return func(result json.RawMessage, err error) {
		if err != nil {
			e.log <- fmt.Sprintf("error %s %v", name, err)
		} else {
			e.log <- fmt.Sprintf("result %s %s", name, result)
		}
	}
}

func (e *events) expect(t *testing.T, want ...string) {
	t.Helper()
	for _, w := range want {
		if got := must.Receive(t, w, e.log); got != w {
			t.Fatalf("got %q, want %q", got, w)
		}
	}
}

// none fails when something has been handled: a marker is sent through first.
func (e *events) none(t *testing.T, p *peer) {
	t.Helper()
	p.send(`{"jsonrpc":"2.0","method":"marker"}`)
	e.expect(t, "notification marker ")
}

func TestCallOnTheWire(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	p.conn.Call("a", map[string]string{"x": "<&>\n"}, h.done("a"))
	p.expect(`{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"<&>\n"}}`)
	p.conn.Call("b\"", nil, h.done("b"))
	p.expect(`{"jsonrpc":"2.0","id":2,"method":"b\""}`)
	p.conn.Call("c", json.RawMessage("{\n \"z\": 1,\n \"a\": null}"), h.done("c"))
	p.expect(`{"jsonrpc":"2.0","id":3,"method":"c","params":{"z":1,"a":null}}`)
	must.Do(t, p.conn.Notify("n", []int{1}))
	p.expect(`{"jsonrpc":"2.0","method":"n","params":[1]}`)
	p.send(`{"jsonrpc":"2.0","id":2,"result":{"z":"<","a":1.50}}`)
	p.send(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"log in","data":{"k":1}}}`)
	h.expect(t, `result b {"z":"<","a":1.50}`, `error a log in (-32000)`)
}

func TestAnswersKeepTheirPlaceAmongNotifications(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	const calls, between = 20, 50
	var wire bytes.Buffer
	var want []string
	for i := range calls {
		name := fmt.Sprint(i)
		p.conn.Call("prompt", nil, h.done(name))
		for j := range between {
			fmt.Fprintf(&wire, `{"jsonrpc":"2.0","method":"update","params":[%d,%d]}`+"\n", i, j)
			want = append(want, fmt.Sprintf("notification update [%d,%d]", i, j))
		}
		fmt.Fprintf(&wire, `{"jsonrpc":"2.0","id":%d,"result":%d}`+"\n", i+1, i)
		fmt.Fprintf(&wire, `{"jsonrpc":"2.0","id":%d,"method":"ask"}`+"\n", i)
		want = append(want, fmt.Sprintf("result %s %s", name, name), "request ask ")
	}
	if _, err := p.out.Write(wire.Bytes()); err != nil {
		t.Fatal(err)
	}
	h.expect(t, want...)
}

func TestPeerIDsComeBackAsTheyWere(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	for _, id := range []string{
		`0`, `1`, `-1`, `1.5`, `-0.0`, `1e400`, `18446744073709551616`, `"x"`, `""`, `"1"`,
		`"\u00e9<"`, `null`, `true`, `{"a":[1, 2]}`, `[1]`,
	} {
		p.send(`{"jsonrpc":"2.0","method":"ask","params":{"b":1,"a":2},"id":%s}`, id)
		must.Receive(t, "a request", h.requests).Reply(struct{}{})
		p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id))
	}
	h.expect(t, `request ask {"b":1,"a":2}`)
}

func TestDuplicateIDIsAnsweredTwice(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	p.send(`{"jsonrpc":"2.0","id":7,"method":"a"}`)
	p.send(`{"jsonrpc":"2.0","id":7,"method":"b"}`)
	a, b := must.Receive(t, "a", h.requests), must.Receive(t, "b", h.requests)
	b.Reply("b")
	p.expect(`{"jsonrpc":"2.0","id":7,"result":"b"}`)
	a.Reply("a")
	p.expect(`{"jsonrpc":"2.0","id":7,"result":"a"}`)
}

func TestOddAnswersAreDropped(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	p.conn.Call("a", nil, h.done("a"))
	for _, odd := range []string{
		`{"jsonrpc":"2.0","id":99,"result":1}`,
		`{"jsonrpc":"2.0","id":0,"result":1}`,
		`{"jsonrpc":"2.0","id":-1,"result":1}`,
		`{"jsonrpc":"2.0","id":1.5,"result":1}`,
		`{"jsonrpc":"2.0","id":"one","result":1}`,
		`{"jsonrpc":"2.0","id":18446744073709551617,"result":1}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`,
		`{"jsonrpc":"2.0","id":[1],"result":1}`,
		`{"jsonrpc":"2.0","id":true,"result":1}`,
		`{"jsonrpc":"2.0","id":""}`,
		`{"jsonrpc":"2.0","result":1}`,
		`{"id":99}`,
		`{}`,
	} {
		p.send("%s", odd)
	}
	h.none(t, p)
	p.send(`{"jsonrpc":"2.0","id":1,"result":"first"}`)
	p.send(`{"jsonrpc":"2.0","id":1,"result":"second"}`)
	h.expect(t, `result a "first"`)
	h.none(t, p)
}

func TestAnswersReadTolerantly(t *testing.T) {
	for _, test := range []struct{ wire, want string }{
		{`{"id":1}`, `result a null`},
		{`{"jsonrpc":"2.0","id":1,"result":null}`, `result a null`},
		{`{"jsonrpc":"2.0","id":1,"result":null,"error":null}`, `result a null`},
		{`{"jsonrpc":"2.0","id":1,"result":5,"error":null}`, `result a 5`},
		{`{"jsonrpc":"2.0","id":"1","result":5}`, `result a 5`},
		{`{"jsonrpc":"2.0","id":1.0,"result":5}`, `result a 5`},
		{`{"result":5,"method":null,"id":1}`, `result a 5`},
		{`{"id":1,"error":{"code":-32000,"message":"m"},"result":5}`, `error a m (-32000)`},
		{`{"id":1,"error":{"code":400.0,"message":"m","data":null}}`, `error a m (400)`},
		{`{"id":1,"error":{"code":"400","message":"m"}}`, `error a m (-32603)`},
		{`{"id":1,"error":{"code":1.5,"message":["m"]}}`, `error a ["m"] (-32603)`},
		{`{"id":1,"error":{"message":null}}`, `error a Error without a message (-32603)`},
		{`{"id":1,"error":{"message":""}}`, `error a Error without a message (-32603)`},
		{`{"id":1,"error":{}}`, `error a Error without a message (-32603)`},
		{`{"id":1,"error":""}`, `error a Error without a message (-32603)`},
		{`{"id":1,"error":"broken"}`, `error a broken (-32603)`},
		{`{"id":1,"error":[1]}`, `error a [1] (-32603)`},
		{`{"id":1,"error":false}`, `error a false (-32603)`},
	} {
		t.Run(test.wire, func(t *testing.T) {
			h := newEvents()
			p := connect(t, h)
			p.conn.Call("a", nil, h.done("a"))
			p.send("%s", test.wire)
			h.expect(t, test.want)
		})
	}
}

func TestErrorDataIsKept(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	got := make(chan error, 1)
	p.conn.Call("a", nil, func(_ json.RawMessage, err error) { got <- err })
	p.send(`{"id":1,"error":{"code":-32000,"message":"m","data":{"authMethods":[]}}}`)
	var e *Error
	if err := must.Receive(t, "the answer", got); !errors.As(err, &e) || e.Code != CodeAuthRequired ||
		string(e.Data) != `{"authMethods":[]}` {
		t.Fatalf("got %#v", err)
	}
}

func TestRequestThatIsInvalid(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	p.send(`{"jsonrpc":"2.0","id":"q","method":5}`)
	p.expect(`{"jsonrpc":"2.0","id":"q","error":{"code":-32600,"message":"Invalid request: method must be a string"}}`)
	p.send(`{"jsonrpc":"2.0","method":{"a":1}}`)
	h.none(t, p)
}

func TestReplyError(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{ErrMethodNotFound("x/y"), `{"code":-32601,"message":"Method not found: x/y"}`},
		{fmt.Errorf("read: %w", &Error{Code: -32002, Message: "gone", Data: json.RawMessage(`{"uri":"<"}`)}),
			`{"code":-32002,"message":"gone","data":{"uri":"<"}}`},
		{&Error{Code: 1, Message: "m", Data: json.RawMessage("{")}, `{"code":1,"message":"m"}`},
		{context.Canceled, `{"code":-32800,"message":"Request cancelled"}`},
		{fmt.Errorf("wait: %w", context.Canceled), `{"code":-32800,"message":"Request cancelled"}`},
		{errors.New("plain"), `{"code":-32603,"message":"plain"}`},
		{nil, `{"code":-32603,"message":"Internal error"}`},
	} {
		h := newEvents()
		p := connect(t, h)
		p.send(`{"jsonrpc":"2.0","id":0,"method":"ask"}`)
		must.Receive(t, "a request", h.requests).ReplyError(test.err)
		p.expect(`{"jsonrpc":"2.0","id":0,"error":` + test.want + `}`)
	}
}

func TestReplyThatCannotBeEncoded(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	p.send(`{"jsonrpc":"2.0","id":0,"method":"ask"}`)
	must.Receive(t, "a request", h.requests).Reply(make(chan int))
	if line := p.next(); !strings.Contains(line, `"id":0,"error":{"code":-32603`) {
		t.Fatal(line)
	}
	p.conn.Call("a", make(chan int), h.done("a"))
	h.expect(t, "request ask ")
	if got := must.Receive(t, "the answer", h.log); !strings.Contains(got, "error a encode params") {
		t.Fatal(got)
	}
	if err := p.conn.Notify("n", make(chan int)); err == nil {
		t.Fatal("no error")
	}
}

func TestLateAnswerCountsOnce(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	p.send(`{"jsonrpc":"2.0","id":"early","method":"ask"}`)
	early := must.Receive(t, "a request", h.requests)
	for i := range 100 {
		p.send(`{"jsonrpc":"2.0","id":%d,"method":"ask"}`, i)
		must.Receive(t, "a request", h.requests).Reply(i)
		p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%d}`, i, i))
	}
	must.Do(t, early.Context().Err())
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { early.Reply("ok") })
	}
	all.Wait()
	early.ReplyError(errors.New("late"))
	p.expect(`{"jsonrpc":"2.0","id":"early","result":"ok"}`)
	if early.Context().Err() == nil {
		t.Fatal("the context of an answered request goes on")
	}
	must.Do(t, p.conn.Notify("marker", nil))
	p.expect(`{"jsonrpc":"2.0","method":"marker"}`)
}

func TestBatch(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	p.conn.Call("ours", nil, h.done("ours"))
	p.next()
	p.send(` [{"jsonrpc":"2.0","id":1,"method":"a"}, 5, {"jsonrpc":"2.0","method":"n"},` +
		`{"jsonrpc":"2.0","id":1,"result":"yes"},{"jsonrpc":"2.0","id":"two","method":"b"},{}] `)
	h.expect(t, "request a ", "notification n ", `result ours "yes"`, "request b ")
	a, b := must.Receive(t, "a", h.requests), must.Receive(t, "b", h.requests)
	b.ReplyError(ErrMethodNotFound("b"))
	p.send(`[{"jsonrpc":"2.0","id":null,"method":"c"}]`)
	must.Receive(t, "c", h.requests).Reply(nil)
	p.expect(`[{"jsonrpc":"2.0","id":null,"result":null}]`) // and nothing of b yet
	a.Reply(true)
	p.expect(`[{"jsonrpc":"2.0","id":"two","error":{"code":-32601,"message":"Method not found: b"}},` +
		`{"jsonrpc":"2.0","id":1,"result":true}]`)
	for _, odd := range []string{`[]`, `[[]]`, `[null]`, `["a"]`, `[{"jsonrpc":"2.0","method":"n"}]`} {
		p.send("%s", odd)
	}
	h.expect(t, "request c ", "notification n ")
	h.none(t, p)
}

// answerAtOnce replies inside the callback.
type answerAtOnce struct{ *events }

func (a answerAtOnce) HandleRequest(r *Request) { r.Reply(r.Method) }

func TestBatchAnsweredAtOnce(t *testing.T) {
	p := connect(t, answerAtOnce{newEvents()})
	p.send(`[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b"}]`)
	p.expect(`[{"jsonrpc":"2.0","id":1,"result":"a"},{"jsonrpc":"2.0","id":2,"result":"b"}]`)
}

func TestCancelFromPeer(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	p.send(`{"jsonrpc":"2.0","id":5,"method":"a"}`)
	p.send(`{"jsonrpc":"2.0","id":"5","method":"b"}`)
	p.send(`{"jsonrpc":"2.0","id":"\u0078","method":"c"}`)
	a, b, c := must.Receive(t, "a", h.requests), must.Receive(t, "b", h.requests), must.Receive(t, "c", h.requests)
	h.expect(t, "request a ", "request b ", "request c ")
	for _, odd := range []string{``, `,"params":null`, `,"params":[]`, `,"params":{}`, `,"params":{"requestId":null}`,
		`,"params":{"requestId":6}`} {
		p.send(`{"jsonrpc":"2.0","method":"$/cancel_request"%s}`, odd)
	}
	p.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}`)
	must.Receive(t, "the cancellation", a.Context().Done())
	if b.Context().Err() != nil || c.Context().Err() != nil {
		t.Fatal("another request was cancelled too")
	}
	a.ReplyError(a.Context().Err())
	p.expect(`{"jsonrpc":"2.0","id":5,"error":{"code":-32800,"message":"Request cancelled"}}`)
	p.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"x"}}`)
	must.Receive(t, "the cancellation", c.Context().Done())
	p.send(`{"jsonrpc":"2.0","id":8,"method":"$/cancel_request","params":{"requestId":"5"}}`)
	p.expect(`{"jsonrpc":"2.0","id":8,"result":null}`)
	must.Receive(t, "the cancellation", b.Context().Done())
	h.none(t, p) // the handler saw none of it
}

func TestCancelOfOurs(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	p.conn.Call("a", nil, h.done("a"))
	cancel := p.conn.Call("b", nil, h.done("b"))
	p.next()
	p.next()
	cancel()
	cancel()
	p.expect(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`)
	p.send(`{"jsonrpc":"2.0","id":2,"error":{"code":-32800,"message":"cancelled"}}`)
	h.expect(t, "error b cancelled (-32800)")
	cancel()
	p.conn.Call("c", nil, h.done("c"))
	p.expect(`{"jsonrpc":"2.0","id":3,"method":"c"}`)
}

func TestCloseEndsEverythingPending(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	for i := range 3 {
		p.conn.Call("a", nil, h.done(fmt.Sprint(i)))
		p.next()
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
	r := must.Receive(t, "a request", h.requests)
	h.expect(t, "request ask ")
	if p.conn.Err() != nil {
		t.Fatal(p.conn.Err())
	}
	p.conn.Close()
	must.Receive(t, "the context", r.Context().Done())
	must.Receive(t, "Done", p.conn.Done())
	for i := range 3 {
		h.expect(t, fmt.Sprintf("error %d the connection is closed", i))
	}
	if err := p.conn.Err(); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	p.conn.Close()
	r.Reply("too late")
	if err := p.conn.Notify("n", nil); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	p.conn.Call("b", nil, h.done("b"))()
	h.expect(t, "error b the connection is closed")
	if line, ok := <-p.lines; ok {
		t.Fatalf("sent %s", line)
	}
	p.send(`{"jsonrpc":"2.0","method":"late"}`) // still read, or an agent could not exit
	p.send("%s", strings.Repeat("x", 1<<20))
	if len(h.log) != 0 {
		t.Fatal(<-h.log)
	}
}

// closing closes the connection when it is told anything.
type closing struct {
	*events
	close func()
}

func (c closing) HandleNotification(method string, params json.RawMessage) {
	c.events.HandleNotification(method, params)
	c.close()
}

// An answer that has been read already when the connection is closed is not given beside the error that tells of that.
func TestAnswerBehindAClose(t *testing.T) {
	h := newEvents()
	var p *peer
	p = connect(t, closing{h, func() { p.conn.Close() }})
	p.conn.Call("a", nil, h.done("a"))
	p.next()
	p.send(`[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","method":"late"}]`)
	h.expect(t, "notification n ", "error a the connection is closed")
	must.Receive(t, "Done", p.conn.Done())
	if len(h.log) != 0 {
		t.Fatal(<-h.log)
	}
}

func TestCloseSendsWhatIsQueued(t *testing.T) {
	h := newEvents()
	p := connectUnread(t, h)
	big := strings.Repeat("x", 200<<10) // more than a pipe takes
	must.Do(t, p.conn.Notify("big", big))
	must.Do(t, p.conn.Notify("session/cancel", nil))
	p.conn.out.flushGrace = never
	p.conn.Close()
	sent := make([]byte, 100<<10)
	if _, err := io.ReadFull(p.in, sent); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.conn.Done():
		t.Fatal("ended with a message half written")
	default:
	}
	rest, err := io.ReadAll(p.in)
	must.Do(t, err)
	sent = append(sent, rest...)
	want := `{"jsonrpc":"2.0","method":"big","params":"` + big + "\"}\n" +
		`{"jsonrpc":"2.0","method":"session/cancel"}` + "\n"
	if string(sent) != want {
		t.Fatalf("%d bytes were sent, want %d", len(sent), len(want))
	}
	must.Receive(t, "Done", p.conn.Done())
}

func TestEndOfOutput(t *testing.T) {
	h := newEvents()
	p := connect(t, h)
	p.conn.Call("a", nil, h.done("a"))
	p.conn.Call("b", nil, h.done("b"))
	if _, err := io.WriteString(p.out, `{"method":"n"}`+"\n"+`{"jsonrpc":"2.0","id":1,"result":1}`); err != nil {
		t.Fatal(err)
	}
	p.out.Close() // alive, for all that the Conn can know
	h.expect(t, "notification n ", "result a 1", "error b the connection is closed: the agent closed its output")
	must.Receive(t, "Done", p.conn.Done())
	if err := p.conn.Err(); !errors.Is(err, ErrPeerClosed) || !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}

// TestDeathAtAnyPoint cuts the agent's output after every byte.
func TestDeathAtAnyPoint(t *testing.T) {
	const wire = `{"jsonrpc":"2.0","method":"n"}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":{"a":"b"}}` + "\n" +
		`[{"jsonrpc":"2.0","id":4,"method":"ask"}]` + "\n"
	for cut := range len(wire) + 1 {
		h := newEvents()
		p := connect(t, h)
		p.conn.Call("a", nil, h.done("a"))
		if _, err := io.WriteString(p.out, wire[:cut]); err != nil {
			t.Fatal(err)
		}
		p.out.Close()
		must.Receive(t, "Done", p.conn.Done())
		answered := strings.Index(wire, `}}`) + 2
		want := []string{}
		if cut >= strings.IndexByte(wire, '\n') {
			want = append(want, "notification n ")
		}
		if cut >= answered {
			want = append(want, `result a {"a":"b"}`)
		}
		if cut >= len(wire)-2 { // a whole message in half a batch
			want = append(want, "request ask ")
		}
		if cut < answered {
			want = append(want, "error a the connection is closed: the agent closed its output")
		}
		h.expect(t, want...)
		if len(h.log) != 0 {
			t.Fatalf("cut at %d: also %s", cut, <-h.log)
		}
	}
}

// panics panics in every method.
type panics struct{}

func (panics) HandleRequest(*Request)                     { panic("request") }
func (panics) HandleNotification(string, json.RawMessage) { panic("notification") }

func TestPanicsEndNothing(t *testing.T) {
	p := connect(t, panics{})
	p.conn.Call("a", nil, func(json.RawMessage, error) { panic("done") })
	p.next()
	p.send(`{"jsonrpc":"2.0","method":"n"}`)
	p.send(`{"jsonrpc":"2.0","id":1,"result":1}`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
	p.expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}`)
	p.conn.Call("b", nil, func(json.RawMessage, error) { panic("done at the end") })
	p.conn.Close()
	must.Receive(t, "Done", p.conn.Done())
}

// reentrant uses the connection from inside the callbacks.
type reentrant struct{ *events }

func (h reentrant) HandleRequest(r *Request) {
	r.conn.Call("inner", nil, func(json.RawMessage, error) {
		r.conn.Close()
		r.conn.Call("after", nil, h.done("after"))
		h.log <- "closed"
	})
	r.Reply(nil)
}

func TestCallbacksMayUseTheConnection(t *testing.T) {
	h := reentrant{newEvents()}
	p := connect(t, h)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
	p.expect(`{"jsonrpc":"2.0","id":1,"method":"inner"}`)
	p.expect(`{"jsonrpc":"2.0","id":1,"result":null}`)
	p.send(`{"jsonrpc":"2.0","id":1,"result":1}`)
	h.expect(t, "closed", "error after the connection is closed")
}

func TestPeerThatDoesNotRead(t *testing.T) {
	h := newEvents()
	p := connectUnread(t, h, queueLimit(1<<20), stallAfter(time.Millisecond))
	p.conn.Call("a", nil, h.done("a"))
	params := strings.Repeat("x", 10_000)
	var err error
	for err == nil { // a sender that blocked would hang the test
		err = p.conn.Notify("flood", params)
	}
	must.Receive(t, "Stalled", p.conn.Stalled())
	must.Receive(t, "Done", p.conn.Done())
	var full *QueueFullError
	if !errors.As(p.conn.Err(), &full) || full.Limit != 1<<20 || full.Queued < 1<<20 || full.Queued > 1<<20+20_000 {
		t.Fatal(p.conn.Err())
	}
	if got := must.Receive(t, "the end of the call", h.log); !strings.Contains(got, "the agent does not read its input") {
		t.Fatal(got)
	}
}

func TestMessageLargerThanTheQueue(t *testing.T) {
	p := connect(t, newEvents(), queueLimit(100))
	want := strings.Repeat("x", 1<<20)
	must.Do(t, p.conn.Notify("n", want))
	p.expect(`{"jsonrpc":"2.0","method":"n","params":"` + want + `"}`)
}

func TestWhatIsWrittenNoLongerCounts(t *testing.T) {
	p := connect(t, newEvents(), queueLimit(100))
	for i := range 100 {
		must.Do(t, p.conn.Notify("n", i))
		p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":%d}`, i))
	}
}

func TestReadingGoesOnWhileWritingIsStuck(t *testing.T) {
	h := newEvents()
	p := connectUnread(t, h, stallAfter(time.Millisecond))
	must.Do(t, p.conn.Notify("n", strings.Repeat("x", 1<<20)))
	must.Receive(t, "Stalled", p.conn.Stalled())
	for i := range 100 {
		p.send(`{"jsonrpc":"2.0","id":%d,"method":"ask"}`, i)
		h.expect(t, "request ask ")
		must.Receive(t, "a request", h.requests).Reply(nil)
	}
	p.conn.Close() // with the write still stuck
	must.Receive(t, "Done", p.conn.Done())
}

func TestSlowIsNotStuck(t *testing.T) {
	r, w := io.Pipe() // takes nothing by itself
	p := NewConn(strings.NewReader(""), discardCloser{}, newEvents())
	must.Receive(t, "Done", p.Done())
	out := &writer{w: w, limit: 1 << 30, stallAfter: never, flushGrace: never, onError: func(error) {}}
	out.start()
	must.Do(t, out.enqueue(frame{nil, bytes.Repeat([]byte("x"), 10*writeChunk), []byte("\n")}))
	buf := make([]byte, 20*writeChunk)
	n, err := r.Read(buf)
	if err != nil || n > writeChunk {
		t.Fatalf("one write of %d bytes: %v", n, err) // so each piece has its own time
	}
	out.close()
	go io.Copy(io.Discard, r)
	must.Receive(t, "the writer", out.done)
}

type discardCloser struct{}

func (discardCloser) Write(b []byte) (int, error) { return len(b), nil }
func (discardCloser) Close() error                { return nil }

func TestLastWordsOfAPeerThatClosedItsInput(t *testing.T) {
	h := newEvents()
	p := connectUnread(t, h)
	p.conn.drainGrace = never
	p.in.Close()
	p.conn.Call("a", nil, h.done("a"))
	must.Receive(t, "the writer", p.conn.out.done)
	for i := range 100 {
		p.send(`{"jsonrpc":"2.0","method":"n","params":[%d]}`, i)
		h.expect(t, fmt.Sprintf("notification n [%d]", i))
	}
	p.send(`{"jsonrpc":"2.0","id":1,"result":1}`)
	h.expect(t, "result a 1")
	p.out.Close()
	must.Receive(t, "Done", p.conn.Done())
}

func TestPeerThatClosedItsInputAndLives(t *testing.T) {
	h := newEvents()
	p := connectUnread(t, h)
	p.conn.drainGrace = time.Millisecond
	p.in.Close()
	p.conn.Call("a", nil, h.done("a"))
	must.Receive(t, "Done", p.conn.Done())
	if got := must.Receive(t, "the end of the call", h.log); !strings.Contains(got, "write to the agent") {
		t.Fatal(got)
	}
}

func TestReaderThatFails(t *testing.T) {
	r, w := io.Pipe()
	c := NewConn(r, discardCloser{}, newEvents())
	w.CloseWithError(errors.New("wires cut"))
	must.Receive(t, "Done", c.Done())
	if err := c.Err(); !strings.Contains(err.Error(), "read from the agent: wires cut") {
		t.Fatal(err)
	}
}

func TestHugeLine(t *testing.T) {
	h := newEvents()
	sizes := make(chan int, 1)
	p := connect(t, sizeHandler{h, sizes})
	head, tail := `{"jsonrpc":"2.0","method":"huge","params":"`, "\"}\n"
	const size = 100 << 20
	go func() {
		p.send(`{"jsonrpc":"2.0","method":"before"}`)
		io.WriteString(p.out, head)
		mib := bytes.Repeat([]byte("x"), 1<<20)
		for range size >> 20 {
			p.out.Write(mib)
		}
		io.WriteString(p.out, tail)
		p.send(`{"jsonrpc":"2.0","method":"after"}`)
	}()
	h.expect(t, "notification before ")
	if got := must.Receive(t, "the huge line", sizes); got != size+2 {
		t.Fatalf("%d bytes", got)
	}
	h.expect(t, "notification after ")
}

// sizeHandler tells the size of the params of "huge" only.
type sizeHandler struct {
	*events
	sizes chan int
}

func (h sizeHandler) HandleNotification(method string, params json.RawMessage) {
	if method == "huge" {
		h.sizes <- len(params)
		return
	}
	h.events.HandleNotification(method, params)
}

// TestConcurrentUse lets an echoing peer answer many callers.
func TestConcurrentUse(t *testing.T) {
	p := connect(t, answerAtOnce{newEvents()})
	var broken atomic.Pointer[string]
	go func() { // which may see the end of the connection in the middle of a line, after the test
		for line := range p.lines {
			var m struct {
				ID     json.RawMessage
				Params json.RawMessage
				Method string
			}
			if json.Unmarshal([]byte(line), &m) != nil {
				broken.Store(&line)
			} else if m.Method == "echo" {
				p.send(`{"jsonrpc":"2.0","id":%s,"method":"ask"}`, m.ID)
				p.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, m.Params)
			}
		}
	}()
	var all, answers sync.WaitGroup
	var running atomic.Int32
	for i := range 8 {
		all.Go(func() {
			for j := range 100 {
				want := fmt.Sprintf(`"%d-%d"`, i, j)
				answers.Add(1)
				cancel := p.conn.Call("echo", json.RawMessage(want), func(got json.RawMessage, err error) {
					defer answers.Done()
					check.Equal(t, running.Add(1), 1, "two callbacks at a time: %v")
					defer running.Add(-1)
					if err != nil || string(got) != want {
						t.Errorf("got %s %v, want %s", got, err, want)
					}
				})
				if j%10 == 0 {
					cancel()
				}
			}
		})
	}
	all.Wait()
	answered := make(chan struct{})
	go func() { answers.Wait(); close(answered) }()
	must.Receive(t, "the answers", answered)
	if line := broken.Load(); line != nil {
		t.Errorf("broken line %q", *line)
	}
}

func TestTrafficOfAConnection(t *testing.T) {
	traffic := NewTraffic(0)
	h := newEvents()
	p := connect(t, h, WithTraffic(traffic))
	p.conn.Call("a", map[string]int{"x": 1}, h.done("a"))
	p.next()
	p.send(`[{"jsonrpc":"2.0","id":5,"method":"ask"}]`)
	p.send(`oops`)
	p.send(`{"id":1}`)
	h.expect(t, "request ask ", "result a null")
	must.Receive(t, "a request", h.requests).Reply("<")
	p.next()
	var got []string
	for _, e := range traffic.Entries() {
		got = append(got, string(e.Dir)+" "+string(e.Msg))
	}
	want := []string{
		`c2a {"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1}}`,
		`a2c [{"jsonrpc":"2.0","id":5,"method":"ask"}]`,
		`a2c {"__not_json__":"oops"}`,
		`a2c {"id":1}`,
		`c2a [{"jsonrpc":"2.0","id":5,"result":"<"}]`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func BenchmarkNotifications(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":` +
		`"agent_message_chunk","content":{"type":"text","text":"forty bytes of markdown in a small chunk"}}}}` + "\n")
	r, w := io.Pipe()
	h := &counter{want: b.N, done: make(chan struct{})}
	c := NewConn(r, discardCloser{}, h, WithTraffic(NewTraffic(0)))
	many := bytes.Repeat(line, 300)
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += 300 {
		w.Write(many[:min(300, b.N-n)*len(line)])
	}
	<-h.done
	b.StopTimer()
	c.Close()
	w.Close()
	<-c.Done()
}

type counter struct {
	want int
	done chan struct{}
}

func (c *counter) HandleRequest(*Request) {}
func (c *counter) HandleNotification(string, json.RawMessage) {
	if c.want--; c.want == 0 {
		close(c.done)
	}
}
